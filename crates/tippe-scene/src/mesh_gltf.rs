//! Meshes from glTF 2.0 files: `.glb`, and `.gltf` with buffers inside or beside it.
//!
//! Reads: bytes of a file, and of the buffers that it names.  Writes: nothing.
//! Called by: `mesh_file`.
//! Source: Khronos, *glTF 2.0 specification*. All triangles of the default scene, its nodes in their places; positions in metres, y up, as the
//! file has them. Names of buffers beside it are URIs: `%20` is a space. Materials, animations, skins and extensions are passed over; compressed and sparse data are refused.

use crate::mesh_file::{MESH_FILE_MAX, MeshFile, TRIANGLES_MAX, fan};
use serde_json::Value;
use tippe::math::glam::{DMat4, DQuat, DVec3};

/// Deepest tree of nodes, and most nodes in it.
const DEPTH_MAX: usize = 64;
const NODES_MAX: usize = 100_000;
/// Most primitives in all nodes: a mesh counts with each node that shows it.
const PRIMITIVES_MAX: usize = 1_000_000;
/// Most buffers; in all they hold at most `MESH_FILE_MAX` bytes.
const BUFFERS_MAX: usize = 10_000;
const GLB_MAGIC: u32 = 0x4654_6c67;
const GLB_JSON: u32 = 0x4e4f_534a;
const GLB_BINARY: u32 = 0x004e_4942;

/// Reads a file that is named beside the glTF file.
pub(crate) type Beside<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// Reads a glTF file; the error names the entry that is wrong.
pub(crate) fn gltf(
    bytes: &[u8],
    binary: bool,
    beside: &mut Beside<'_>,
) -> Result<MeshFile, String> {
    let (json, chunk) = if binary { glb(bytes)? } else { (bytes, None) };
    let json: Value =
        serde_json::from_slice(json).map_err(|e| format!("line {}: {e}", e.line()))?;
    let version = json["asset"]["version"].as_str().unwrap_or("");
    if !version.starts_with("2.") {
        return Err(format!("asset.version is {version:?}; glTF 2.0 is read"));
    }
    if let Some(needed) = json["extensionsRequired"]
        .as_array()
        .filter(|e| !e.is_empty())
    {
        return Err(format!("extensionsRequired: {} is not read", needed[0]));
    }
    let buffers = buffers(&json, chunk, beside)?;
    let file = File {
        json: &json,
        buffers,
    };
    let mut mesh = MeshFile::default();
    let mut visited = Visited::default();
    for (root, place) in file.roots()? {
        file.node(root, place, 0, &mut visited, &mut mesh)?;
    }
    Ok(mesh)
}

/// The bytes of all buffers.
fn buffers(
    json: &Value,
    chunk: Option<&[u8]>,
    beside: &mut Beside<'_>,
) -> Result<Vec<Vec<u8>>, String> {
    let mut out = Vec::new();
    let mut total = 0;
    for (i, b) in list(json, "buffers").iter().enumerate() {
        let found = match b["uri"].as_str() {
            Some(uri) => match uri.strip_prefix("data:") {
                Some(data) => base64(data).map_err(|e| format!("buffers[{i}].uri: {e}"))?,
                None => file_name(uri)
                    .and_then(|name| beside(&name))
                    .map_err(|e| format!("buffers[{i}].uri: {uri:?} {e}"))?,
            },
            None if i == 0 => chunk.unwrap_or_default().to_vec(),
            None => return Err(format!("buffers[{i}] has no uri")),
        };
        total += found.len() as u64;
        if i >= BUFFERS_MAX || total > MESH_FILE_MAX {
            return Err(format!(
                "buffers[{i}]: more than {BUFFERS_MAX} buffers, or {MESH_FILE_MAX} bytes in all"
            ));
        }
        out.push(found);
    }
    Ok(out)
}

/// The name that a relative URI stands for: two hexadecimal digits after each `%` are a byte of it.
fn file_name(uri: &str) -> Result<String, String> {
    let mut out = Vec::with_capacity(uri.len());
    let mut rest = uri.bytes();
    while let Some(b) = rest.next() {
        out.push(if b == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = digit()
                .zip(digit())
                .ok_or("has a % without two hexadecimal digits")?;
            (16 * high + low) as u8
        } else {
            b
        });
    }
    String::from_utf8(out).map_err(|_| "is not UTF-8 behind its %".into())
}

fn list<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    json[key].as_array().map_or(&[], Vec::as_slice)
}

/// The JSON of a `.glb`, and its binary chunk.
fn glb(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    let word = |at: usize| {
        let found = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
        found
            .map(u32::from_le_bytes)
            .ok_or(format!("byte {at}: the file ends here, in the middle"))
    };
    if word(0)? != GLB_MAGIC || word(4)? != 2 {
        return Err("byte 0: is no binary glTF of version 2".into());
    }
    let (mut json, mut binary) = (None, None);
    let mut at = 12;
    while at < bytes.len() {
        let (length, kind) = (word(at)? as usize, word(at + 4)?);
        let start = at + 8;
        let Some(chunk) = start
            .checked_add(length)
            .and_then(|end| bytes.get(start..end))
        else {
            return Err(format!(
                "byte {at}: a chunk of {length} bytes is longer than the file"
            ));
        };
        match kind {
            GLB_JSON if json.is_none() => json = Some(chunk),
            GLB_BINARY if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at = start + length;
    }
    Ok((json.ok_or("byte 12: no JSON chunk")?, binary))
}

/// The bytes of `…;base64,…`.
fn base64(data: &str) -> Result<Vec<u8>, String> {
    let (_, text) = data
        .split_once(";base64,")
        .ok_or("data that is not base64")?;
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for (i, b) in text.trim_end_matches('=').bytes().enumerate() {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(format!("byte {i} is no base64")),
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Ok(out)
}

/// How an accessor lies in its buffer.
struct Block<'a> {
    bytes: &'a [u8],
    count: usize,
    stride: usize,
    kind: u64,
}

struct File<'a> {
    json: &'a Value,
    buffers: Vec<Vec<u8>>,
}

impl File<'_> {
    /// Nodes to begin with: those of the default scene, or all that are nobody's child; without nodes, all meshes.
    fn roots(&self) -> Result<Vec<(Root, DMat4)>, String> {
        let nodes = list(self.json, "nodes");
        if nodes.is_empty() {
            let meshes = 0..list(self.json, "meshes").len();
            return Ok(meshes.map(|m| (Root::Mesh(m), DMat4::IDENTITY)).collect());
        }
        let scene = self.json["scene"].as_u64().unwrap_or(0) as usize;
        let named: Vec<usize> = match list(self.json, "scenes").get(scene) {
            Some(s) => list(s, "nodes")
                .iter()
                .map(|n| n.as_u64().unwrap_or(u64::MAX) as usize)
                .collect(),
            None => {
                let children: std::collections::BTreeSet<u64> = nodes
                    .iter()
                    .flat_map(|n| list(n, "children"))
                    .filter_map(Value::as_u64)
                    .collect();
                (0..nodes.len())
                    .filter(|i| !children.contains(&(*i as u64)))
                    .collect()
            }
        };
        Ok(named
            .into_iter()
            .map(|n| (Root::Node(n), DMat4::IDENTITY))
            .collect())
    }

    fn node(
        &self,
        root: Root,
        place: DMat4,
        depth: usize,
        visited: &mut Visited,
        out: &mut MeshFile,
    ) -> Result<(), String> {
        let index = match root {
            Root::Mesh(m) => return self.mesh(m, place, visited, out),
            Root::Node(n) => n,
        };
        visited.nodes += 1;
        if depth > DEPTH_MAX || visited.nodes > NODES_MAX {
            return Err(format!(
                "nodes[{index}]: the tree of nodes is too deep, too large or a circle"
            ));
        }
        let Some(node) = list(self.json, "nodes").get(index) else {
            return Err(format!("nodes[{index}] is named and not there"));
        };
        let place = place
            * transform(node).ok_or(format!(
                "nodes[{index}]: a matrix, rotation, translation or scale is wrong"
            ))?;
        if let Some(m) = node["mesh"].as_u64() {
            self.mesh(m as usize, place, visited, out)?;
        }
        for child in list(node, "children") {
            let child = child.as_u64().unwrap_or(u64::MAX) as usize;
            self.node(Root::Node(child), place, depth + 1, visited, out)?;
        }
        Ok(())
    }

    fn mesh(
        &self,
        index: usize,
        place: DMat4,
        visited: &mut Visited,
        out: &mut MeshFile,
    ) -> Result<(), String> {
        let Some(mesh) = list(self.json, "meshes").get(index) else {
            return Err(format!("meshes[{index}] is named and not there"));
        };
        for (k, p) in list(mesh, "primitives").iter().enumerate() {
            let at = |e: String| format!("meshes[{index}].primitives[{k}]: {e}");
            visited.primitives += 1;
            if visited.primitives > PRIMITIVES_MAX {
                return Err(at(format!("more than {PRIMITIVES_MAX} in all nodes")));
            }
            // Points and lines have no surface.
            let mode = p["mode"].as_u64().unwrap_or(4);
            if !(4..=6).contains(&mode) {
                continue;
            }
            let first = out.vertices.len();
            let count = self.positions(p, place, out).map_err(at)?;
            let corners = self.indices(p, count).map_err(at)?;
            let mirrored = place.determinant() < 0.0;
            for mut t in triangles(mode, &corners) {
                if mirrored {
                    t.swap(1, 2);
                }
                let t = t.map(|i| i + first as u32);
                fan(&t, out).map_err(at)?;
            }
        }
        Ok(())
    }

    fn positions(&self, p: &Value, place: DMat4, out: &mut MeshFile) -> Result<usize, String> {
        let accessor = p["attributes"]["POSITION"]
            .as_u64()
            .ok_or("has no POSITION")?;
        let block = self.block(accessor as usize, 3)?;
        if block.kind != 5126 {
            return Err("POSITION is not of floats".into());
        }
        if out.vertices.len() + block.count > 3 * TRIANGLES_MAX {
            return Err(format!("more than {} vertices", 3 * TRIANGLES_MAX));
        }
        for i in 0..block.count {
            let x = [0, 1, 2].map(|k| {
                let at = i * block.stride + 4 * k;
                let b = &block.bytes[at..at + 4];
                f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            });
            let x = place.transform_point3(DVec3::from_array(x));
            out.vertices.push(x.to_array());
        }
        Ok(block.count)
    }

    fn indices(&self, p: &Value, vertices: usize) -> Result<Vec<u32>, String> {
        let Some(accessor) = p["indices"].as_u64() else {
            return Ok((0..vertices as u32).collect());
        };
        let block = self.block(accessor as usize, 1)?;
        if block.count > 3 * TRIANGLES_MAX {
            return Err(format!("more than {} indices", 3 * TRIANGLES_MAX));
        }
        let mut out = Vec::with_capacity(block.count);
        for i in 0..block.count {
            let b = &block.bytes[i * block.stride..];
            let v = match block.kind {
                5121 => u32::from(b[0]),
                5123 => u32::from(u16::from_le_bytes([b[0], b[1]])),
                5125 => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
                other => return Err(format!("indices of kind {other}")),
            };
            if v as usize >= vertices {
                return Err(format!("index {i} names vertex {v}, there are {vertices}"));
            }
            out.push(v);
        }
        Ok(out)
    }

    /// The bytes of an accessor of `parts` numbers each, all there.
    fn block(&self, index: usize, parts: usize) -> Result<Block<'_>, String> {
        let bad = |what: &str| format!("accessors[{index}]: {what}");
        let a = list(self.json, "accessors")
            .get(index)
            .ok_or(bad("is named and not there"))?;
        let kind = a["componentType"].as_u64().unwrap_or(0);
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            _ => return Err(bad("unknown componentType")),
        };
        if a["type"].as_str() != Some(if parts == 3 { "VEC3" } else { "SCALAR" })
            || !a["sparse"].is_null()
        {
            return Err(bad("is sparse, or of a type that does not fit"));
        }
        let view = a["bufferView"].as_u64().ok_or(bad("has no bufferView"))? as usize;
        let view = list(self.json, "bufferViews")
            .get(view)
            .ok_or(bad("its bufferView is not there"))?;
        let buffer = self
            .buffers
            .get(view["buffer"].as_u64().unwrap_or(u64::MAX) as usize);
        let number = |v: &Value| {
            v.as_u64()
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or(0)
        };
        let stride = match number(&view["byteStride"]) {
            0 => size * parts,
            n => n,
        };
        let count = number(&a["count"]);
        let start = number(&view["byteOffset"]).checked_add(number(&a["byteOffset"]));
        let length = count.checked_sub(1).map_or(Some(0), |n| {
            n.checked_mul(stride)?.checked_add(size * parts)
        });
        let range = start
            .zip(length)
            .and_then(|(s, l)| Some(s..s.checked_add(l)?));
        let bytes = buffer.zip(range).and_then(|(b, r)| b.get(r));
        let bytes = bytes.ok_or(bad("reaches beyond its buffer"))?;
        Ok(Block {
            bytes,
            count,
            stride,
            kind,
        })
    }
}

/// What was looked at so far.
#[derive(Default)]
struct Visited {
    nodes: usize,
    primitives: usize,
}

/// Where to begin.
#[derive(Clone, Copy)]
enum Root {
    Node(usize),
    Mesh(usize),
}

/// The matrix of a node, from itself or from its parts.
fn transform(node: &Value) -> Option<DMat4> {
    let numbers = |key: &str, count: usize, otherwise: &[f64]| -> Option<Vec<f64>> {
        if node[key].is_null() {
            return Some(otherwise.to_vec());
        }
        let found: Option<Vec<f64>> = node[key].as_array()?.iter().map(Value::as_f64).collect();
        found.filter(|f| f.len() == count)
    };
    if !node["matrix"].is_null() {
        let m: [f64; 16] = numbers("matrix", 16, &[])?.try_into().ok()?;
        return Some(DMat4::from_cols_array(&m));
    }
    let t = numbers("translation", 3, &[0.0; 3])?;
    let r = numbers("rotation", 4, &[0.0, 0.0, 0.0, 1.0])?;
    let s = numbers("scale", 3, &[1.0; 3])?;
    let turn = DQuat::from_xyzw(r[0], r[1], r[2], r[3]);
    if turn.length_squared().is_nan() || turn.length_squared() <= 1e-12 {
        return None;
    }
    Some(DMat4::from_scale_rotation_translation(
        DVec3::from_slice(&s),
        turn.normalize(),
        DVec3::from_slice(&t),
    ))
}

/// Triangles of a list, strip or fan.
fn triangles(mode: u64, corners: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        4 => corners
            .chunks_exact(3)
            .map(|c| [c[0], c[1], c[2]])
            .collect(),
        5 => corners
            .windows(3)
            .enumerate()
            .map(|(i, c)| {
                if i % 2 == 0 {
                    [c[0], c[1], c[2]]
                } else {
                    [c[1], c[0], c[2]]
                }
            })
            .collect(),
        _ => (2..corners.len())
            .map(|k| [corners[0], corners[k - 1], corners[k]])
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One triangle (0 0 0, 1 0 0, 0 1 0) with 16-bit indices 0 1 2.
    fn buffer() -> Vec<u8> {
        let mut out = Vec::new();
        for x in [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
            out.extend(x.to_le_bytes());
        }
        for i in [0_u16, 1, 2, 0] {
            out.extend(i.to_le_bytes());
        }
        out
    }

    fn json(uri: &str, node: &str) -> String {
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0{node}}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}},{{"bufferView":1,"componentType":5123,"count":3,"type":"SCALAR"}}],
"bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":6}}],"buffers":[{{{uri}"byteLength":44}}]}}"#
        )
    }

    fn read(text: &str) -> Result<MeshFile, String> {
        gltf(text.as_bytes(), false, &mut |name| {
            if name == "a.bin" {
                Ok(buffer())
            } else {
                Err("is not there".into())
            }
        })
    }

    #[test]
    fn beside_inside_and_binary() {
        let beside = read(&json("\"uri\":\"a.bin\",", "")).unwrap();
        assert_eq!(beside.triangles, [[0, 1, 2]]);
        assert_eq!(beside.vertices[1], [1.0, 0.0, 0.0]);
        // 44 bytes as base64.
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for c in buffer().chunks(3) {
            let bits = c.iter().fold(0_u32, |b, x| b << 8 | u32::from(*x)) << (8 * (3 - c.len()));
            for k in 0..=c.len() {
                text.push(digits[(bits >> (18 - 6 * k) & 63) as usize] as char);
            }
        }
        let uri = format!("\"uri\":\"data:application/octet-stream;base64,{text}=\",");
        assert_eq!(read(&json(&uri, "")).unwrap(), beside);
        let mut text = json("", "");
        while !text.len().is_multiple_of(4) {
            text.push(' ');
        }
        let mut glb = Vec::new();
        for w in [GLB_MAGIC, 2, 0, text.len() as u32, GLB_JSON] {
            glb.extend(w.to_le_bytes());
        }
        glb.extend(text.bytes());
        glb.extend(44_u32.to_le_bytes());
        glb.extend(GLB_BINARY.to_le_bytes());
        glb.extend(buffer());
        let none = &mut |_: &str| Err("none".to_string());
        assert_eq!(gltf(&glb, true, none).unwrap(), beside);
        for length in 0..glb.len() {
            assert!(gltf(&glb[..length], true, none).is_err());
        }
    }

    #[test]
    fn nodes_place_and_mirror() {
        let moved = read(&json(
            "\"uri\":\"a.bin\",",
            ",\"translation\":[0,0,2],\"scale\":[1,-1,1]",
        ))
        .unwrap();
        assert_eq!(moved.vertices[2], [0.0, -1.0, 2.0]);
        assert_eq!(moved.triangles, [[0, 2, 1]]);
    }

    #[test]
    fn buffers_and_primitives_have_limits_in_all() {
        // A file of a tenth of all bytes, named again and again.
        let many = json("\"uri\":\"a.bin\",", "").replace(
            "\"buffers\":[",
            &format!("\"buffers\":[{}", "{\"uri\":\"a.bin\"},".repeat(1000)),
        );
        let mut reads = 0;
        let error = gltf(many.as_bytes(), false, &mut |_| {
            reads += 1;
            Ok(vec![0; MESH_FILE_MAX as usize / 10])
        })
        .unwrap_err();
        assert!(error.contains("buffers[10]"), "{error}");
        assert_eq!(reads, 11);
        // Primitives without a vertex, shown by many nodes.
        let nodes = vec!["{\"mesh\":0}"; 2000].join(",");
        let names: Vec<String> = (0..2000).map(|n| n.to_string()).collect();
        let primitives = vec!["{\"attributes\":{\"POSITION\":0}}"; 1000].join(",");
        let empty = format!(
            r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[{}]}}],"nodes":[{nodes}],"meshes":[{{"primitives":[{primitives}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":0,"type":"VEC3"}}],"bufferViews":[{{"buffer":0}}],"buffers":[{{"uri":"a.bin"}}]}}"#,
            names.join(",")
        );
        let error = read(&empty).unwrap_err();
        assert!(error.contains("in all nodes"), "{error}");
    }

    #[test]
    fn names_of_buffers_are_uris() {
        let plain = read(&json("\"uri\":\"a.bin\",", "")).unwrap();
        assert_eq!(read(&json("\"uri\":\"%61.b%69n\",", "")).unwrap(), plain);
        for (uri, word) in [
            ("a%2", "hexadecimal"),
            ("a%+1", "hexadecimal"),
            ("%ff.bin", "UTF-8"),
        ] {
            let error = read(&json(&format!("\"uri\":\"{uri}\","), "")).unwrap_err();
            assert!(error.contains(word) && error.contains(uri), "{error}");
        }
    }

    #[test]
    fn refusals_name_the_entry() {
        let good = json("\"uri\":\"a.bin\",", "");
        for (from, to, word) in [
            ("2.0", "1.0", "asset.version"),
            ("a.bin", "b.bin", "buffers[0].uri"),
            (
                "\"count\":3,\"type\":\"VEC3\"",
                "\"count\":4000000000,\"type\":\"VEC3\"",
                "beyond its buffer",
            ),
            ("VEC3", "VEC2", "accessors[0]"),
            ("\"mesh\":0", "\"mesh\":7", "meshes[7]"),
            ("\"mesh\":0", "\"mesh\":0,\"children\":[0]", "circle"),
            (
                "\"mesh\":0",
                "\"mesh\":0,\"rotation\":[0,0,0,0]",
                "nodes[0]",
            ),
            ("\"POSITION\"", "\"NORMAL\"", "primitives[0]"),
            (
                "\"byteOffset\":36",
                "\"byteOffset\":18446744073709551615",
                "beyond its buffer",
            ),
            ("{\"asset\"", "[\"asset\"", "line 1"),
        ] {
            assert!(good.contains(from), "{from}");
            let error = read(&good.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(word), "{from} {to}: {error}");
        }
    }
}
