//! Meshes of solids for tests: turned, threaded, and boxes of triangles.
#![allow(dead_code, clippy::too_many_arguments)]

use std::f64::consts::TAU;
use tippe::math::Vec3;
use tippe::shape::TriangleMesh;

/// Vertices and triangles.
pub type Parts = (Vec<Vec3>, Vec<[u32; 3]>);

/// A closed outline of `stations` points (r, z), counter-clockwise with r to the right, carried around z in `n` steps; the outline may
/// depend on the angle.
pub fn turned(n: u32, stations: u32, outline: impl Fn(f64, u32) -> (f64, f64)) -> Parts {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..n {
        let angle = TAU * f64::from(i) / f64::from(n);
        for k in 0..stations {
            let (r, z) = outline(angle, k);
            vertices.push(Vec3::new(r * libm::cos(angle), r * libm::sin(angle), z));
            let at = |i: u32, k: u32| (i % n) * stations + k % stations;
            let (a, b, c, d) = (at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (vertices, triangles)
}

pub fn torus(ring: f64, tube: f64, n: u32, m: u32) -> Parts {
    turned(n, m, |_, k| {
        let a = TAU * f64::from(k) / f64::from(m);
        (ring + tube * libm::cos(a), tube * libm::sin(a))
    })
}

/// Open at the top, its bottom at z = 0.
pub fn cup(radius: f64, height: f64, wall: f64, n: u32) -> Parts {
    let outline = [
        (0.0, 0.0),
        (radius, 0.0),
        (radius, height),
        (radius - wall, height),
        (radius - wall, wall),
        (0.0, wall),
    ];
    turned(n, 6, |_, k| outline[k as usize])
}

/// A spherical bowl, its lowest inner point at the origin.
pub fn bowl(radius: f64, rim: f64, wall: f64, n: u32, m: u32) -> Parts {
    turned(n, 2 * m, |_, k| {
        let (r, j) = if k < m {
            (radius + wall, k)
        } else {
            (radius, 2 * m - 1 - k)
        };
        let a = rim * f64::from(j) / f64::from(m - 1);
        (r * libm::sin(a), radius - r * libm::cos(a))
    })
}

pub fn ball(radius: f64, n: u32, m: u32) -> Parts {
    turned(n, m + 1, |_, k| {
        let a = std::f64::consts::PI * f64::from(k) / f64::from(m);
        (
            if k % m == 0 {
                0.0
            } else {
                radius * libm::sin(a)
            },
            -radius * libm::cos(a),
        )
    })
}

/// Depth of a thread of lead `p` under its crest at an angle and height, of 1.
fn thread(angle: f64, z: f64, p: f64) -> f64 {
    let phase = (z / p - angle / TAU).rem_euclid(1.0);
    // Flat crests and roots, flanks of an eighth of the lead.
    (4.0 * ((2.0 * phase - 1.0).abs() - 0.5) + 0.5).clamp(0.0, 1.0)
}

/// A threaded rod from z = 0 to `length`; `per` stations a turn of lead `p`.
pub fn bolt(radius: f64, depth: f64, p: f64, length: f64, n: u32, per: u32) -> Parts {
    let stations = (length / p * f64::from(per)).round() as u32;
    turned(n, stations + 3, |angle, k| {
        if k == 0 {
            (0.0, 0.0)
        } else if k == stations + 2 {
            (0.0, length)
        } else {
            let z = length * f64::from(k - 1) / f64::from(stations);
            (radius - depth * thread(angle, z, p), z)
        }
    })
}

/// A ring with the thread of a bolt inside, `play` wider.
pub fn nut(
    outer: f64,
    radius: f64,
    depth: f64,
    play: f64,
    p: f64,
    length: f64,
    n: u32,
    per: u32,
) -> Parts {
    let stations = (length / p * f64::from(per)).round() as u32;
    turned(n, stations + 3, |angle, k| {
        if k <= stations {
            let z = length * (1.0 - f64::from(k) / f64::from(stations));
            (radius + play - depth * thread(angle, z, p), z)
        } else if k == stations + 1 {
            (outer, 0.0)
        } else {
            (outer, length)
        }
    })
}

/// A box of edges 2 `half`, each face of `n` × `n` cells.
pub fn brick(half: Vec3, n: u32) -> Parts {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let start = vertices.len() as u32;
            for i in 0..=n {
                for j in 0..=n {
                    let at = |k: u32| 2.0 * f64::from(k) / f64::from(n) - 1.0;
                    let mut x = [0.0; 3];
                    x[axis] = sign;
                    x[(axis + 1) % 3] = at(i);
                    x[(axis + 2) % 3] = at(j);
                    vertices.push(Vec3::from_array(x) * half);
                    if i > 0 && j > 0 {
                        let name = |i: u32, j: u32| start + (n + 1) * i + j;
                        let (a, b) = (name(i - 1, j - 1), name(i, j - 1));
                        let (c, d) = (name(i, j), name(i - 1, j));
                        if sign > 0.0 {
                            triangles.extend([[a, b, c], [a, c, d]]);
                        } else {
                            triangles.extend([[a, c, b], [a, d, c]]);
                        }
                    }
                }
            }
        }
    }
    (vertices, triangles)
}

pub fn moved(parts: Parts, by: Vec3) -> Parts {
    (parts.0.into_iter().map(|v| v + by).collect(), parts.1)
}

pub fn joined(all: impl IntoIterator<Item = Parts>) -> Parts {
    let mut out = Parts::default();
    for (v, t) in all {
        let start = out.0.len() as u32;
        out.0.extend(v);
        out.1.extend(t.into_iter().map(|t| t.map(|i| i + start)));
    }
    out
}

pub fn mesh(parts: &Parts) -> TriangleMesh {
    TriangleMesh::new(&parts.0, &parts.1).expect("a good mesh")
}
