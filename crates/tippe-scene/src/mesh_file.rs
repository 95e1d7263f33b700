//! Meshes from files: STL (binary and text), OBJ, PLY and glTF.
//!
//! Reads: bytes of a file.  Writes: nothing.
//! Called by: `load`.
//! Source: STL and OBJ as they are found (PLY and glTF have files of their own); of OBJ only vertices and faces. Faces with more than three corners are cut into a fan.

use crate::mesh_gltf::{Beside, gltf};
use crate::mesh_ply::ply;
use std::path::Path;

/// Most triangles of a file.
pub(crate) const TRIANGLES_MAX: usize = tippe::shape::triangle_mesh::MESH_TRIANGLES_MAX;

/// Largest mesh file, in bytes.
pub(crate) const MESH_FILE_MAX: u64 = 512 << 20;
/// Bytes of the header of a binary STL, and of each of its triangles.
const STL_HEADER: usize = 84;
const STL_TRIANGLE: usize = 50;

/// Least distance up to which vertices are one, of the largest coordinate [1].
const MERGE_MIN: f64 = 1e-12;

/// Endings that are read.
pub(crate) const ENDINGS: &str = ".stl, .obj, .ply, .gltf and .glb";

/// Vertices and triangles as the file has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MeshFile {
    /// Points [m].
    pub vertices: Vec<[f64; 3]>,
    /// Triangles by vertex.
    pub triangles: Vec<[u32; 3]>,
}

/// Reads a mesh by the ending of its path; the error says what is wrong and in which line.
/// `beside` reads other files that it names.
pub(crate) fn parse(
    path: &Path,
    bytes: &[u8],
    beside: &mut Beside<'_>,
) -> Result<MeshFile, String> {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let mesh = if ending.eq_ignore_ascii_case("stl") {
        stl(bytes)?
    } else if ending.eq_ignore_ascii_case("obj") {
        obj(text(bytes)?)?
    } else if ending.eq_ignore_ascii_case("ply") {
        ply(bytes)?
    } else if ending.eq_ignore_ascii_case("gltf") || ending.eq_ignore_ascii_case("glb") {
        gltf(bytes, ending.eq_ignore_ascii_case("glb"), beside)?
    } else {
        return Err(format!(
            "ends in {ending:?}; meshes are read from {ENDINGS}"
        ));
    };
    if mesh.triangles.is_empty() {
        return Err("holds no triangle".into());
    }
    if let Some(v) = mesh
        .vertices
        .iter()
        .find(|v| !v.iter().all(|x| x.is_finite()))
    {
        return Err(format!("holds a vertex that is not finite: {v:?}"));
    }
    Ok(mesh)
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|e| format!("is not text: byte {}", e.valid_up_to()))
}

/// A binary file says how long it is; everything else is text.
fn stl(bytes: &[u8]) -> Result<MeshFile, String> {
    if bytes.len() >= STL_HEADER {
        let count = u32::from_le_bytes([bytes[80], bytes[81], bytes[82], bytes[83]]) as usize;
        let wanted = STL_TRIANGLE
            .checked_mul(count)
            .and_then(|n| n.checked_add(STL_HEADER));
        if wanted == Some(bytes.len()) {
            return Ok(stl_binary(&bytes[STL_HEADER..]));
        }
        if !bytes.starts_with(b"solid") {
            return Err(format!(
                "says {count} triangles, but has {} bytes after its header",
                bytes.len() - STL_HEADER
            ));
        }
    }
    stl_text(text(bytes)?)
}

fn stl_binary(bytes: &[u8]) -> MeshFile {
    let mut mesh = MeshFile::default();
    for record in bytes.chunks_exact(STL_TRIANGLE) {
        // A normal, which follows from the corners, then three corners.
        for corner in record[12..48].chunks_exact(12) {
            let mut x = [0.0; 3];
            for (x, b) in x.iter_mut().zip(corner.chunks_exact(4)) {
                *x = f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            }
            mesh.vertices.push(x);
        }
        let last = mesh.vertices.len() as u32;
        mesh.triangles.push([last - 3, last - 2, last - 1]);
    }
    mesh
}

fn stl_text(text: &str) -> Result<MeshFile, String> {
    let mut mesh = MeshFile::default();
    let mut open = 0;
    if !text.trim_start().starts_with("solid") {
        return Err("is neither a binary STL nor one that begins with `solid`".into());
    }
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("facet" | "endloop" | "endsolid" | "solid") => {}
            Some("outer") => open = mesh.vertices.len(),
            Some("vertex") => mesh.vertices.push(point(&mut words, i)?),
            Some("endfacet") => {
                if mesh.vertices.len() != open + 3 {
                    return Err(format!(
                        "line {}: a facet of {} corners instead of 3",
                        i + 1,
                        mesh.vertices.len() - open
                    ));
                }
                let first = open as u32;
                mesh.triangles.push([first, first + 1, first + 2]);
                open = mesh.vertices.len();
            }
            None => {}
            Some(other) => return Err(format!("line {}: unknown word {other:?}", i + 1)),
        }
    }
    Ok(mesh)
}

fn obj(text: &str) -> Result<MeshFile, String> {
    let mut mesh = MeshFile::default();
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => mesh.vertices.push(point(&mut words, i)?),
            Some("f") => {
                let count = mesh.vertices.len();
                let mut corners = Vec::new();
                for word in words {
                    corners.push(index(word, count).ok_or_else(|| {
                        format!(
                            "line {}: {word:?} names none of the {count} vertices so far",
                            i + 1
                        )
                    })?);
                }
                fan(&corners, &mut mesh).map_err(|e| format!("line {}: {e}", i + 1))?;
            }
            // Normals, textures, names, materials, comments.
            _ => {}
        }
    }
    Ok(mesh)
}

/// Cuts a face into triangles from its first corner.
pub(crate) fn fan(corners: &[u32], mesh: &mut MeshFile) -> Result<(), String> {
    if corners.len() < 3 {
        return Err(format!("a face of {} corners", corners.len()));
    }
    if mesh.triangles.len() + corners.len() - 2 > TRIANGLES_MAX {
        return Err(format!("more than {TRIANGLES_MAX} triangles"));
    }
    for k in 2..corners.len() {
        mesh.triangles
            .push([corners[0], corners[k - 1], corners[k]]);
    }
    Ok(())
}

/// Makes vertices one that share a cell of a grid of `width`, in order of first mention: those of a file that writes a corner several times
/// with different roundings. The error says that `width` is too small for the numbers of the mesh.
pub(crate) fn merge(mesh: &mut MeshFile, width: f64) -> Result<(), String> {
    let far = mesh
        .vertices
        .iter()
        .flatten()
        .fold(0.0_f64, |m, x| m.max(x.abs()));
    // Below this, cells are finer than the numbers and then not countable any more: all vertices would share the last one.
    if width < MERGE_MIN * far {
        return Err(format!(
            "{width} m is too small for coordinates of up to {far} m: less than {MERGE_MIN} of them"
        ));
    }
    let mut cells: std::collections::BTreeMap<[i64; 3], Vec<u32>> =
        std::collections::BTreeMap::new();
    let mut kept: Vec<[f64; 3]> = Vec::new();
    let mut place = Vec::with_capacity(mesh.vertices.len());
    for v in &mesh.vertices {
        let cell = v.map(|x| libm::floor(x / width) as i64);
        let near = |w: &[f64; 3]| {
            (0..3).map(|k| (v[k] - w[k]) * (v[k] - w[k])).sum::<f64>() <= width * width
        };
        // A neighbour within the width may lie in any of the cells around.
        let around = (0..27_i64).map(|n| [n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1]);
        let found = around
            .filter_map(|d| cells.get(&[0, 1, 2].map(|k| cell[k].saturating_add(d[k]))))
            .flatten()
            .copied()
            .filter(|w| near(&kept[*w as usize]))
            .min();
        place.push(found.unwrap_or_else(|| {
            let name = kept.len() as u32;
            kept.push(*v);
            cells.entry(cell).or_default().push(name);
            name
        }));
    }
    mesh.vertices = kept;
    for t in &mut mesh.triangles {
        *t = t.map(|v| place[v as usize]);
    }
    Ok(())
}

/// `7`, `7/1`, `7/1/3` or `-2` (counted from the end), from one on.
fn index(word: &str, count: usize) -> Option<u32> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    let count = i64::try_from(count).ok()?;
    let place = if number < 0 {
        count + number
    } else {
        number - 1
    };
    (0..count).contains(&place).then_some(place as u32)
}

fn point<'a>(words: &mut impl Iterator<Item = &'a str>, line: usize) -> Result<[f64; 3], String> {
    let mut x = [0.0; 3];
    for x in &mut x {
        let word = words.next().unwrap_or("");
        *x = word
            .parse()
            .map_err(|_| format!("line {}: {word:?} is no coordinate", line + 1))?;
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNER: &str = "solid s\nfacet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1e0 0\n endloop\nendfacet\nendsolid s\n";

    fn read(name: &str, text: &str) -> Result<MeshFile, String> {
        parse(
            Path::new(name),
            text.as_bytes(),
            &mut |_| Err(String::new()),
        )
    }

    #[test]
    fn the_same_triangle_in_three_formats() {
        let ascii = read("a.STL", CORNER).unwrap();
        assert_eq!(ascii.triangles, [[0, 1, 2]]);
        assert_eq!(ascii.vertices[2], [0.0, 1.0, 0.0]);
        let mut binary = vec![0_u8; 80];
        binary.extend(1_u32.to_le_bytes());
        binary.extend([0; 12]);
        for x in [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
            binary.extend(x.to_le_bytes());
        }
        binary.extend([0; 2]);
        assert_eq!(
            parse(Path::new("b.stl"), &binary, &mut |_| Err(String::new())).unwrap(),
            ascii
        );
        let obj = read(
            "c.obj",
            "# x\nv 0 0 0\nv 1 0 0\nvn 0 0 1\nv 0 1 0\nf 1//1 2//1 -1//1\n",
        )
        .unwrap();
        assert_eq!(obj, ascii);
        let fan = read("d.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n").unwrap();
        assert_eq!(fan.triangles, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn near_vertices_become_one() {
        let mut mesh = MeshFile {
            vertices: vec![
                [0.0; 3],
                [1.0, 0.0, 0.0],
                [1.0, 1e-7, 0.0],
                [-1e-7, 0.0, 0.0],
                [0.0, 1.0, 0.0],
            ],
            triangles: vec![[0, 1, 4], [3, 2, 4]],
        };
        let before = mesh.clone();
        let error = merge(&mut mesh, 1e-20).unwrap_err();
        assert!(error.contains("too small"), "{error}");
        assert_eq!(mesh, before);
        merge(&mut mesh, 1e-6).unwrap();
        assert_eq!(mesh.vertices.len(), 3);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 1, 2]]);
    }

    #[test]
    fn as_many_triangles_as_there_may_be() {
        let mut mesh = MeshFile {
            vertices: vec![[0.0; 3]; 4],
            triangles: vec![[0, 1, 2]; TRIANGLES_MAX - 2],
        };
        fan(&[0, 1, 2, 3], &mut mesh).unwrap();
        assert_eq!(mesh.triangles.len(), TRIANGLES_MAX);
        assert!(fan(&[0, 1, 2], &mut mesh).is_err());
    }

    #[test]
    fn refusals_name_the_line() {
        for (name, text, word) in [
            ("a.obj", "v 0 0\n", "line 1"),
            ("a.obj", "v 0 0 0\nf 1 2 3\n", "line 2"),
            ("a.obj", "v 0 0 0\nf 1 1\n", "2 corners"),
            ("a.obj", "v 0 0 0\nf 0 1 1\n", "line 2"),
            ("a.obj", "", "no triangle"),
            ("a.obj", "v nan 0 0\nf 1 1 1\n", "not finite"),
            ("a.stl", "hello", "neither"),
            (
                "a.stl",
                "solid\nfacet\nouter loop\nvertex 1 2 3\nendloop\nendfacet\n",
                "1 corners",
            ),
            ("a.stl", "solid\nvertex a b c\n", "line 2"),
            ("a.dae", "", ".ply"),
            ("a.ply", "", "line 1"),
            ("a.gltf", "", "line 1"),
            ("a.glb", "", "byte 0"),
        ] {
            let error = read(name, text).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
        let mut cut = vec![7_u8; 80];
        cut.extend(u32::MAX.to_le_bytes());
        assert!(
            parse(Path::new("a.stl"), &cut, &mut |_| Err(String::new()))
                .unwrap_err()
                .contains("says")
        );
    }
}
