//! Mass properties of a closed triangle mesh, exact for polyhedra.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `tippe-scene` (mesh bodies), tests.
//! Source: [Mirtich96] gives the integrals face by face; here they are summed over signed tetrahedra, which is shorter.
//! Letters: a, b, c the corners of a triangle seen from the reference point o, d = a · (b × c) six times a volume.

use super::{MassProperties, check_positive, mass::spread};
use crate::error::BuildError;
use crate::math::{Mat3, Vec3};

/// Volume over the cube of the mesh's size below which a mesh counts as flat [1].
const FLAT: f64 = 1e-14;

/// Mass, centre and inertia of the solid inside a closed, outward oriented mesh of `density` [kg/m³].
///
/// Triangles are counter-clockwise seen from outside. Refuses meshes that are open, inconsistently oriented, turned inside
/// out, flat, or that name vertices which are not there; the error names the triangle or the edge.
pub fn mesh_mass_properties(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    density: f64,
) -> Result<MassProperties, BuildError> {
    check_positive("density", density)?;
    check_indices(vertices, triangles)?;
    check_edges(triangles)?;
    let (low, high) = vertices
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), v| {
            (l.min(*v), h.max(*v))
        });
    // The reference point is near the solid, so that far meshes lose no digits.
    let o = 0.5 * (low + high);
    let size = (high - low).length();
    let (mut six_volume, mut moment, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
    for t in triangles {
        let [a, b, c] = t.map(|i| vertices[i as usize] - o);
        let d = a.dot(b.cross(c));
        let s = a + b + c;
        // Over the tetrahedron (0, a, b, c): ∫1 = d/6, ∫x = d/24 s, ∫x xᵀ = d/120 (a aᵀ + b bᵀ + c cᵀ + s sᵀ).
        six_volume += d;
        moment += s * d;
        second += (outer(a) + outer(b) + outer(c) + outer(s)) * d;
    }
    let volume = six_volume / 6.0;
    if !(volume.is_finite() && size.is_finite()) {
        return Err(BuildError::new(
            "vertices",
            "the mesh is too large to integrate",
        ));
    }
    if volume.abs() <= FLAT * size * size * size {
        return Err(BuildError::new(
            "triangles",
            format!("the mesh encloses no volume ({volume} m³)"),
        ));
    }
    if volume < 0.0 {
        let reason = format!(
            "the mesh is inside out (volume {volume} m³): turn every triangle, from triangles[0] on"
        );
        return Err(BuildError::new("triangles", reason));
    }
    let center = moment / (24.0 * volume);
    // About o: I = tr(C) 1 − C; then to the centre of mass.
    let second = second * (density / 120.0);
    let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
    let about_o = Mat3::from_diagonal(Vec3::splat(trace)) - second;
    let mass = density * volume;
    Ok(MassProperties {
        mass,
        center: center + o,
        inertia: about_o - spread(center) * mass,
    })
}

fn outer(v: Vec3) -> Mat3 {
    Mat3::from_cols(v * v.x, v * v.y, v * v.z)
}

fn check_indices(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), BuildError> {
    if triangles.is_empty() {
        return Err(BuildError::new("triangles", "there are none"));
    }
    if let Some(i) = vertices.iter().position(|v| !v.is_finite()) {
        return Err(BuildError::new(format!("vertices[{i}]"), "must be finite"));
    }
    for (i, t) in triangles.iter().enumerate() {
        let bad = |reason: String| Err(BuildError::new(format!("triangles[{i}]"), reason));
        if let Some(v) = t.iter().find(|v| **v as usize >= vertices.len()) {
            return bad(format!(
                "vertex {v} is out of range, there are {}",
                vertices.len()
            ));
        }
        if t[0] == t[1] || t[1] == t[2] || t[2] == t[0] {
            return bad("names a vertex twice".into());
        }
    }
    Ok(())
}

/// Every edge must be walked as often one way as the other.
fn check_edges(triangles: &[[u32; 3]]) -> Result<(), BuildError> {
    // (lower vertex, higher vertex, walked upward?, triangle)
    let mut edges: Vec<(u32, u32, bool, usize)> = Vec::with_capacity(3 * triangles.len());
    for (i, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (u, v) = (t[k], t[(k + 1) % 3]);
            edges.push((u.min(v), u.max(v), u < v, i));
        }
    }
    edges.sort_unstable();
    for run in edges.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        let (u, v, _, triangle) = run[0];
        let up = run.iter().filter(|e| e.2).count();
        if run.len() == 1 {
            let reason = format!("the mesh is open: edge ({u}, {v}) belongs to this triangle only");
            return Err(BuildError::new(format!("triangles[{triangle}]"), reason));
        }
        if 2 * up != run.len() {
            let reason = format!(
                "edge ({u}, {v}) is walked the same way here and in triangles[{}]: orient them alike",
                run[run.len() - 1].3
            );
            return Err(BuildError::new(format!("triangles[{triangle}]"), reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Vec3; 4] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    fn refusal(vertices: &[Vec3], triangles: &[[u32; 3]]) -> BuildError {
        mesh_mass_properties(vertices, triangles, 1.0).unwrap_err()
    }

    #[test]
    fn corner_tetrahedron() {
        let m = mesh_mass_properties(&CORNERS, &FACES, 6.0).unwrap();
        assert!((m.mass - 1.0).abs() < 1e-15);
        assert!((m.center - Vec3::splat(0.25)).length() < 1e-15);
        // About the centre: 2·(1/10 − 1/16) on the diagonal, −(1/20 − 1/16) beside it.
        assert!((m.inertia.x_axis.x - 0.075).abs() < 1e-15);
        assert!((m.inertia.x_axis.y - 0.0125).abs() < 1e-15);
    }

    #[test]
    fn refusals_name_the_place() {
        let open = refusal(&CORNERS, &FACES[..3]);
        assert_eq!(open.field, "triangles[0]");
        assert!(open.reason.contains("edge (1, 2)"), "{open}");
        let turned = refusal(&CORNERS, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 3, 2]]);
        assert!(
            turned.field.starts_with("triangles[") && turned.reason.contains("same way"),
            "{turned}"
        );
        let inside_out = refusal(&CORNERS, &FACES.map(|[a, b, c]| [a, c, b]));
        assert!(inside_out.reason.contains("inside out"), "{inside_out}");
        let range = refusal(&CORNERS, &[[0, 2, 1], [0, 1, 9], [0, 3, 2], [1, 2, 3]]);
        assert_eq!(range.field, "triangles[1]");
        let flat = refusal(
            &[Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE.with_z(0.0)],
            &FACES,
        );
        assert!(flat.reason.contains("no volume"), "{flat}");
        let twice = refusal(&CORNERS, &[[0, 0, 1]]);
        assert_eq!(twice.field, "triangles[0]");
        assert_eq!(refusal(&[Vec3::NAN], &FACES).field, "vertices[0]");
        assert_eq!(refusal(&CORNERS, &[]).field, "triangles");
        assert_eq!(
            mesh_mass_properties(&CORNERS, &FACES, -1.0)
                .unwrap_err()
                .field,
            "density"
        );
    }
}
