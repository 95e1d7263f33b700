//! Solids as triangles with normals, in the shape frame. A new shape is one arm here.
//!
//! Reads: shapes.  Writes: triangles.
//! Called by: `stage`.
//! Source: regular nets; round surfaces get the true normals at their vertices.

use tippe::{Shape, Vec3};

/// Facets around a round surface.
const ROUND: u32 = 32;
/// Rings of a ball from pole to pole.
const RINGS: u32 = 16;

/// Three corners, each with its normal, counter-clockwise from outside.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// Corners [m].
    pub corners: [Vec3; 3],
    /// Unit normals there.
    pub normals: [Vec3; 3],
}

/// How a surface is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// In one colour.
    Plain,
    /// With dark edges; half sizes of a box.
    Edges,
    /// By octants, so that one sees a ball turn.
    Octants,
    /// In stripes along z.
    Stripes,
}

/// The surface of a solid; empty for a half-space, which is drawn as ground.
pub fn triangles(shape: &Shape) -> (Vec<Triangle>, Pattern) {
    match shape {
        Shape::Cuboid { half } => (cuboid(*half), Pattern::Edges),
        Shape::Sphere { radius } => (ball(*radius, 0.0), Pattern::Octants),
        Shape::Capsule {
            half_length,
            radius,
        } => (ball(*radius, *half_length), Pattern::Stripes),
        Shape::Cylinder {
            half_length,
            radius,
        } => (lathe(*radius, *radius, *half_length), Pattern::Stripes),
        Shape::Cone {
            half_length,
            radius,
        } => (lathe(*radius, 0.0, *half_length), Pattern::Stripes),
        Shape::Hull(hull) => (faces(hull.vertices(), hull.triangles()), Pattern::Plain),
        Shape::Rounded(rounded) => match rounded.polyhedron() {
            Some(hull) => (faces(hull.vertices(), hull.triangles()), Pattern::Plain),
            None => triangles(rounded.core()),
        },
        Shape::Mesh(mesh) => (faces(mesh.vertices(), mesh.triangles()), Pattern::Plain),
        Shape::Profile(profile) => {
            let (points, triangles) = profile.drawn();
            (faces(&points, &triangles), Pattern::Plain)
        }
        Shape::HalfSpace { .. } => (Vec::new(), Pattern::Plain),
    }
}

fn faces(points: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Triangle> {
    let flat = |t: &[u32; 3]| face(t.map(|i| points[i as usize]));
    triangles.iter().map(flat).collect()
}

fn face(corners: [Vec3; 3]) -> Triangle {
    let normal = (corners[1] - corners[0])
        .cross(corners[2] - corners[0])
        .normalize_or(Vec3::Z);
    Triangle {
        corners,
        normals: [normal; 3],
    }
}

fn cuboid(half: Vec3) -> Vec<Triangle> {
    let mut out = Vec::with_capacity(12);
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let at = |u: f64, v: f64| {
                let mut p = Vec3::ZERO;
                p[axis] = side;
                p[(axis + 1) % 3] = u * side;
                p[(axis + 2) % 3] = v;
                p * half
            };
            let c = [at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)];
            out.push(face([c[0], c[1], c[2]]));
            out.push(face([c[0], c[2], c[3]]));
        }
    }
    out
}

fn rim(k: u32) -> Vec3 {
    let (s, c) = libm::sincos(f64::from(k) * std::f64::consts::TAU / f64::from(ROUND));
    Vec3::new(c, s, 0.0)
}

/// A ball, or with a half length a capsule along z.
fn ball(radius: f64, half_length: f64) -> Vec<Triangle> {
    // Directions of the rings and how far along z they are moved; the equator of a capsule is there twice.
    let mut rings = Vec::new();
    for i in 0..=RINGS {
        let (s, c) = libm::sincos(f64::from(i) * std::f64::consts::PI / f64::from(RINGS));
        if i <= RINGS / 2 {
            rings.push((s, c, half_length));
        }
        if i > RINGS / 2 || (i == RINGS / 2 && half_length > 0.0) {
            rings.push((s, c, -half_length));
        }
    }
    let point = |ring: (f64, f64, f64), k: u32| {
        let normal = rim(k) * ring.0 + Vec3::Z * ring.1;
        (normal * radius + Vec3::Z * ring.2, normal)
    };
    let mut out = Vec::new();
    for pair in rings.windows(2) {
        for k in 0..ROUND {
            let [a, b, c, d] = [
                point(pair[0], k),
                point(pair[1], k),
                point(pair[1], k + 1),
                point(pair[0], k + 1),
            ];
            for t in [[a, b, c], [a, c, d]] {
                out.push(Triangle {
                    corners: t.map(|p| p.0),
                    normals: t.map(|p| p.1),
                });
            }
        }
    }
    out
}

/// A cylinder or cone along z: radius below, radius above, half the length.
fn lathe(low: f64, high: f64, half: f64) -> Vec<Triangle> {
    let mut out = Vec::new();
    let normal = |k: f64| {
        let (s, c) = libm::sincos(k * std::f64::consts::TAU / f64::from(ROUND));
        Vec3::new(2.0 * half * c, 2.0 * half * s, low - high).normalize()
    };
    for k in 0..ROUND {
        let [a, b] = [
            rim(k) * low - Vec3::Z * half,
            rim(k + 1) * low - Vec3::Z * half,
        ];
        let [c, d] = [
            rim(k + 1) * high + Vec3::Z * half,
            rim(k) * high + Vec3::Z * half,
        ];
        let (n0, n1) = (normal(f64::from(k)), normal(f64::from(k) + 1.0));
        out.push(Triangle {
            corners: [a, b, c],
            normals: [
                n0,
                n1,
                if high > 0.0 {
                    n1
                } else {
                    normal(f64::from(k) + 0.5)
                },
            ],
        });
        out.push(face([-Vec3::Z * half, b, a]));
        if high > 0.0 {
            out.push(Triangle {
                corners: [a, c, d],
                normals: [n0, n1, n0],
            });
            out.push(face([Vec3::Z * half, d, c]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by the divergence theorem: right only if every triangle is there, once, and turned outward.
    fn volume(shape: &Shape) -> f64 {
        let six = |t: &Triangle| t.corners[0].dot(t.corners[1].cross(t.corners[2]));
        triangles(shape).0.iter().map(six).sum::<f64>() / 6.0
    }

    #[test]
    fn surfaces_are_closed_and_face_outward() {
        let hull = tippe::ConvexHull::new(&[Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]).unwrap();
        for shape in [
            Shape::Cuboid {
                half: Vec3::new(0.5, 1.0, 2.0),
            },
            Shape::Sphere { radius: 1.3 },
            Shape::Capsule {
                half_length: 0.7,
                radius: 0.4,
            },
            Shape::Cylinder {
                half_length: 0.7,
                radius: 0.4,
            },
            Shape::Cone {
                half_length: 0.7,
                radius: 0.4,
            },
            Shape::Hull(hull.into()),
            Shape::Rounded(
                tippe::Rounded::cuboid(Vec3::new(0.5, 1.0, 2.0), 0.1)
                    .unwrap()
                    .into(),
            ),
            Shape::Rounded(tippe::Rounded::cylinder(0.7, 0.4, 0.1).unwrap().into()),
        ] {
            let (drawn, true_one) = (volume(&shape), shape.volume());
            // Round nets lie inside by about (π/16)²/2 … of the radius.
            assert!(drawn > 0.96 * true_one, "{shape:?}: {drawn} {true_one}");
            assert!(
                drawn <= true_one * (1.0 + 1e-12),
                "{shape:?}: {drawn} {true_one}"
            );
            for t in triangles(&shape).0 {
                let out = (t.corners[1] - t.corners[0]).cross(t.corners[2] - t.corners[0]);
                assert!(t.normals.iter().all(|n| n.dot(out) >= -1e-12), "{shape:?}");
            }
        }
    }
}
