//! Pairs of shapes in places that are hard: touching, deep, far, tiny next to huge, thin, nearly parallel, in the same pose.

use super::geometry_support::Random;
use std::sync::Arc;
use tippe::geometry::closest_points;
use tippe::math::{Pose, Vec3, rotation};
use tippe::shape::{ConvexHull, Rounded, Shape};

/// Number of kinds of shapes that `Random::shape` draws.
pub const KINDS: usize = 8;

/// Two shapes and their poses.
#[derive(Debug)]
pub struct Place {
    pub a: Shape,
    pub p: Pose,
    pub b: Shape,
    pub q: Pose,
    /// What is hard about it.
    #[allow(dead_code)]
    pub hard: &'static str,
}

impl Place {
    /// Size of the larger shape [m]; of the other one for half-spaces.
    pub fn size(&self) -> f64 {
        let (a, b) = (self.a.reach(), self.b.reach());
        if a.is_finite() && b.is_finite() {
            a.max(b)
        } else {
            a.min(b)
        }
    }
}

/// The shape multiplied by a size along each axis (round ones by two of them).
fn stretched(shape: &Shape, s: Vec3) -> Shape {
    match shape {
        Shape::Sphere { radius } => Shape::Sphere {
            radius: radius * s.x,
        },
        Shape::Cuboid { half } => Shape::Cuboid { half: *half * s },
        Shape::Capsule {
            half_length,
            radius,
        } => Shape::Capsule {
            half_length: half_length * s.z,
            radius: radius * s.x,
        },
        Shape::Cylinder {
            half_length,
            radius,
        } => Shape::Cylinder {
            half_length: half_length * s.z,
            radius: radius * s.x,
        },
        Shape::Cone {
            half_length,
            radius,
        } => Shape::Cone {
            half_length: half_length * s.z,
            radius: radius * s.x,
        },
        Shape::Hull(hull) => {
            let points: Vec<Vec3> = hull.vertices().iter().map(|v| *v * s).collect();
            ConvexHull::new(&points).map_or_else(|_| shape.clone(), |h| Shape::Hull(Arc::new(h)))
        }
        Shape::Rounded(r) => Rounded::new(stretched(r.core(), s), r.radius() * s.min_element())
            .map_or_else(|_| shape.clone(), |r| Shape::Rounded(Arc::new(r))),
        Shape::Mesh(_) | Shape::Profile(_) | Shape::HalfSpace { .. } => shape.clone(),
    }
}

/// A random pair of two kinds.
pub fn place(random: &mut Random, i: usize, j: usize) -> Place {
    let (mut a, mut b) = (random.shape(i), random.shape(j));
    let p = random.pose(1.0);
    let mut q = random.pose(1.0);
    let mut touching = None;
    let hard = match random.next() % 9 {
        0 => "anywhere",
        1 => {
            touching = Some(0.0);
            "touching"
        }
        2 => {
            touching = Some(random.range(-1.0, 1.0) * 1e-6);
            "nearly touching"
        }
        3 => {
            q = Pose::new(p.position + random.vector(0.02), q.rotation);
            "deep"
        }
        4 => {
            q.position *= 1e4;
            "far"
        }
        5 => {
            let s = if random.unit() < 0.5 { 1e-3 } else { 1e-2 };
            b = stretched(&b, Vec3::splat(s));
            touching = Some(random.range(-1.0, 1.0) * s);
            "tiny next to huge"
        }
        6 => {
            let thin = |r: &mut Random| {
                let s = 1e-3 + 1e-2 * r.unit();
                if r.unit() < 0.5 {
                    Vec3::new(1.0, 1.0, s)
                } else {
                    Vec3::new(s, s, 1.0)
                }
            };
            a = stretched(&a, thin(random));
            b = stretched(&b, thin(random));
            touching = Some(random.range(-0.01, 0.01));
            "thin"
        }
        7 => {
            // Turned by a tiny angle against each other, or about a common axis.
            let angle = [0.0, 1e-12, 1e-9, 1e-6, 1e-3][(random.next() % 5) as usize];
            q.rotation = (rotation::exp(random.vector(angle)) * p.rotation).normalize();
            if random.unit() < 0.5 {
                let axis = Vec3::AXES[(random.next() % 3) as usize];
                q.position = p.position + p.vector(axis) * random.range(-2.0, 2.0);
            }
            if random.unit() < 0.5 {
                touching = Some(0.0);
            }
            "nearly parallel"
        }
        _ => {
            q = p;
            "same pose"
        }
    };
    let mut place = Place { a, p, b, q, hard };
    if let Some(gap) = touching {
        // Along the normal found, so that the distance becomes the gap.
        for _ in 0..2 {
            if let Ok(s) = closest_points(&place.a, &place.p, &place.b, &place.q) {
                place.q.position += s.normal * (gap - s.distance);
            }
        }
    }
    place
}
