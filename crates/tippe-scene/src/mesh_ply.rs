//! Meshes from PLY files: text, and binary of either byte order.
//!
//! Reads: bytes of a file.  Writes: nothing.
//! Called by: `mesh_file`.
//! Source: G. Turk, *The PLY polygon file format*, 1994. Of the elements only `vertex` (x, y, z) and `face` (its list of vertices) are
//! used; others are passed over.

use crate::mesh_file::{MeshFile, TRIANGLES_MAX, fan};

/// Longest header, in bytes.
const HEADER_MAX: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Text,
    Little,
    Big,
}

/// A kind of number.
#[derive(Clone, Copy, Debug)]
struct Number {
    bytes: usize,
    float: bool,
    signed: bool,
}

#[derive(Clone, Debug)]
struct Property {
    name: String,
    /// How the count of a list is written.
    list: Option<Number>,
    number: Number,
}

#[derive(Clone, Debug)]
struct Element {
    name: String,
    count: usize,
    properties: Vec<Property>,
}

/// Reads a PLY file; the error says what is wrong and where.
pub(crate) fn ply(bytes: &[u8]) -> Result<MeshFile, String> {
    let (coding, elements, start) = header(bytes)?;
    let mut body = Body {
        bytes,
        at: start,
        line: 1 + bytes[..start].iter().filter(|b| **b == b'\n').count(),
        coding,
    };
    let mut mesh = MeshFile::default();
    for element in &elements {
        for _ in 0..element.count {
            row(element, &mut body, &mut mesh)?;
        }
    }
    let count = mesh.vertices.len();
    match mesh
        .triangles
        .iter()
        .flatten()
        .find(|v| **v as usize >= count)
    {
        Some(v) => Err(format!("a face names vertex {v}, there are {count}")),
        None => Ok(mesh),
    }
}

fn row(element: &Element, body: &mut Body<'_>, mesh: &mut MeshFile) -> Result<(), String> {
    let (vertex, face) = (element.name == "vertex", element.name == "face");
    let mut point = [0.0; 3];
    for p in &element.properties {
        let Some(length) = p.list else {
            let x = body.number(p.number)?;
            if let (true, Some(axis)) = (vertex, ["x", "y", "z"].iter().position(|n| *n == p.name))
            {
                point[axis] = x;
            }
            continue;
        };
        let count = body.number(length)?;
        let named = p.name == "vertex_indices" || p.name == "vertex_index";
        if !(0.0..=f64::from(u32::MAX)).contains(&count) {
            return Err(format!("{}: a list of {count} numbers", body.place()));
        }
        let mut corners = Vec::new();
        for _ in 0..count as u32 {
            let x = body.number(p.number)?;
            if face && named {
                if !(0.0..f64::from(u32::MAX)).contains(&x) || x.fract() != 0.0 {
                    return Err(format!("{}: {x} names no vertex", body.place()));
                }
                corners.push(x as u32);
            }
        }
        if face && named {
            fan(&corners, mesh).map_err(|e| format!("{}: {e}", body.place()))?;
        }
    }
    if vertex {
        mesh.vertices.push(point);
    }
    body.end_row();
    Ok(())
}

fn header(bytes: &[u8]) -> Result<(Coding, Vec<Element>, usize), String> {
    let (mut coding, mut elements) = (None, Vec::<Element>::new());
    let mut at = 0;
    for line in 1.. {
        let rest = &bytes[at.min(HEADER_MAX)..bytes.len().min(HEADER_MAX)];
        let Some(length) = rest.iter().position(|b| *b == b'\n') else {
            return Err(format!("line {line}: the header does not end"));
        };
        let text = String::from_utf8_lossy(&rest[..length]);
        let words: Vec<&str> = text.split_whitespace().collect();
        at += length + 1;
        let bad = |what: &str| Err(format!("line {line}: {what}"));
        match words[..] {
            ["ply"] if line == 1 => {}
            _ if line == 1 => return bad("a PLY file begins with `ply`"),
            ["format", name, _] => match name {
                "ascii" => coding = Some(Coding::Text),
                "binary_little_endian" => coding = Some(Coding::Little),
                "binary_big_endian" => coding = Some(Coding::Big),
                _ => return bad("unknown format"),
            },
            ["element", name, count] => {
                if elements.iter().any(|e| e.name == name) {
                    return bad(&format!("a second element {name:?}"));
                }
                let most = 3 * TRIANGLES_MAX;
                match count.parse::<usize>() {
                    Ok(count) if count <= most => elements.push(Element {
                        name: name.into(),
                        count,
                        properties: Vec::new(),
                    }),
                    _ => return bad(&format!("{count:?} is no count up to {most}")),
                }
            }
            ["property", "list", count, kind, name] => {
                let (Some(count), Some(kind), Some(last)) =
                    (number(count), number(kind), elements.last_mut())
                else {
                    return bad("a list of an unknown kind, or of no element");
                };
                let name = name.into();
                last.properties.push(Property {
                    name,
                    list: Some(count),
                    number: kind,
                });
            }
            ["property", kind, name] => {
                let (Some(kind), Some(last)) = (number(kind), elements.last_mut()) else {
                    return bad("a property of an unknown kind, or of no element");
                };
                let name = name.into();
                last.properties.push(Property {
                    name,
                    list: None,
                    number: kind,
                });
            }
            ["end_header"] => break,
            ["comment" | "obj_info", ..] | [] => {}
            _ => return bad(&format!("unknown word {:?}", words[0])),
        }
    }
    check(&elements)?;
    Ok((coding.ok_or("the header names no format")?, elements, at))
}

/// Every row must hold something, so that a file is as long as its header says, and vertices their coordinates.
fn check(elements: &[Element]) -> Result<(), String> {
    let empty = |e: &&Element| e.count > 0 && e.properties.is_empty();
    if let Some(e) = elements.iter().find(empty) {
        return Err(format!("element {:?} without a property", e.name));
    }
    let points = elements.iter().find(|e| e.name == "vertex");
    for axis in ["x", "y", "z"] {
        if !points.is_some_and(|e| {
            e.properties
                .iter()
                .any(|p| p.name == axis && p.list.is_none())
        }) {
            return Err(format!("vertices without {axis}"));
        }
    }
    Ok(())
}

fn number(kind: &str) -> Option<Number> {
    let (bytes, float, signed) = match kind {
        "char" | "int8" => (1, false, true),
        "uchar" | "uint8" => (1, false, false),
        "short" | "int16" => (2, false, true),
        "ushort" | "uint16" => (2, false, false),
        "int" | "int32" => (4, false, true),
        "uint" | "uint32" => (4, false, false),
        "float" | "float32" => (4, true, true),
        "double" | "float64" => (8, true, true),
        _ => return None,
    };
    Some(Number {
        bytes,
        float,
        signed,
    })
}

/// What follows the header, read number by number.
struct Body<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    coding: Coding,
}

impl Body<'_> {
    fn place(&self) -> String {
        match self.coding {
            Coding::Text => format!("line {}", self.line),
            _ => format!("byte {}", self.at),
        }
    }

    fn number(&mut self, kind: Number) -> Result<f64, String> {
        if self.coding == Coding::Text {
            let place = self.place();
            let word = self.word()?;
            return word
                .parse()
                .map_err(|_| format!("{place}: {word:?} is no number"));
        }
        let Some(found) = self.bytes.get(self.at..self.at + kind.bytes) else {
            return Err(format!(
                "byte {}: the file ends here, in the middle",
                self.bytes.len()
            ));
        };
        self.at += kind.bytes;
        let mut low = [0_u8; 8];
        for (k, b) in found.iter().enumerate() {
            let place = if self.coding == Coding::Big {
                kind.bytes - 1 - k
            } else {
                k
            };
            low[place] = *b;
        }
        let bits = u64::from_le_bytes(low);
        Ok(match (kind.float, kind.bytes) {
            (true, 4) => f64::from(f32::from_bits(bits as u32)),
            (true, _) => f64::from_bits(bits),
            (false, bytes) if kind.signed => {
                let shift = 64 - 8 * bytes as u32;
                ((bits << shift) as i64 >> shift) as f64
            }
            _ => bits as f64,
        })
    }

    fn word(&mut self) -> Result<String, String> {
        while let Some(b) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*b == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        if length == 0 {
            return Err(format!(
                "line {}: the file ends here, in the middle",
                self.line
            ));
        }
        self.at += length;
        Ok(String::from_utf8_lossy(&rest[..length.min(64)]).into_owned())
    }

    /// Elements are one to a line in text; what else stands there is passed over.
    fn end_row(&mut self) {
        if self.coding == Coding::Text {
            let rest = &self.bytes[self.at..];
            self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ply\nformat ascii 1.0\ncomment a square\nelement vertex 4\nproperty float x\nproperty float y\nproperty double z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0 9\n1 0 0 9\n1 1 -2.5 9\n0 1 0 9\n4 0 1 2 3\n";

    fn binary(big: bool) -> Vec<u8> {
        let name = if big {
            "binary_big_endian"
        } else {
            "binary_little_endian"
        };
        let end = TEXT.find("end_header\n").unwrap() + 11;
        let mut out = TEXT[..end].replace("ascii", name).into_bytes();
        for (x, y, z) in [
            (0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0),
            (1.0, 1.0, -2.5),
            (0.0, 1.0, 0.0),
        ] {
            for v in [x, y] {
                let v = v as f32;
                out.extend(if big {
                    v.to_be_bytes()
                } else {
                    v.to_le_bytes()
                });
            }
            let z: f64 = z;
            out.extend(if big {
                z.to_be_bytes()
            } else {
                z.to_le_bytes()
            });
            out.push(9);
        }
        out.push(4);
        for k in 0..4_i32 {
            out.extend(if big {
                k.to_be_bytes()
            } else {
                k.to_le_bytes()
            });
        }
        out
    }

    #[test]
    fn one_square_in_three_codings() {
        let text = ply(TEXT.as_bytes()).unwrap();
        assert_eq!(text.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(text.vertices[2], [1.0, 1.0, -2.5]);
        assert_eq!(ply(&binary(false)).unwrap(), text);
        assert_eq!(ply(&binary(true)).unwrap(), text);
    }

    #[test]
    fn refusals_name_line_or_byte() {
        for (from, to, word) in [
            ("ply\n", "plx\n", "line 1"),
            ("ascii", "utf8", "line 2"),
            ("vertex 4", "vertex -4", "line 4"),
            ("vertex 4", "vertex 99999999999", "line 4"),
            ("vertex 4", "vertex 12000001", "line 4"),
            ("float y", "float w", "without y"),
            (
                "element face",
                "element vertex 1\nelement face",
                "line 9: a second",
            ),
            (
                "element face",
                "element empty 1\nelement face",
                "\"empty\" without",
            ),
            ("float x", "vector x", "line 5"),
            ("4 0 1 2 3", "4 0 1 2 4", "vertex 4"),
            ("4 0 1 2 3", "4 0 1 2.5 3", "line 16"),
            ("4 0 1 2 3", "2 0 1", "line 16"),
            ("4 0 1 2 3", "4 0 1", "ends here"),
            ("1 1 -2.5", "1 one -2.5", "line 14"),
            ("end_header", "", "line 12"),
        ] {
            let error = ply(TEXT.replace(from, to).as_bytes()).unwrap_err();
            assert!(error.contains(word), "{from} {to}: {error}");
        }
        // An element without properties takes no byte of a binary file: its count would be free.
        let empty = "ply\nformat binary_little_endian 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\nelement none 0\nend_header\n";
        assert_eq!(ply(empty.as_bytes()).unwrap(), MeshFile::default());
        let rows = empty.replace("none 0", "none 12000000");
        assert!(
            ply(rows.as_bytes())
                .unwrap_err()
                .contains("without a property")
        );
        let whole = binary(false);
        for length in 0..whole.len() {
            assert!(ply(&whole[..length]).is_err());
        }
        assert!(ply(&whole[..whole.len() - 1]).unwrap_err().contains("byte"));
    }
}
