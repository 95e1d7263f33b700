//! Support mapping: the point of a convex shape that lies farthest along a direction.
//!
//! Reads: shapes.  Writes: nothing (pure functions).
//! Called by: `collide::gjk`, `collide::epa`, `geometry`, queries.
//! Source: [Gilbert88]; closed forms for round shapes. A shape is a *core* thickened by a radius, so that balls and capsules are
//! exact: their cores are a point and a segment.

use super::cuboid;
use super::{ConvexHull, Shape};
use crate::math::Vec3;

/// A convex shape without its rounding.
#[derive(Clone, Copy, Debug)]
pub enum Core<'a> {
    /// The origin.
    Point,
    /// From −z to +z.
    Segment {
        /// Half its length [m].
        half_length: f64,
    },
    /// A box.
    Cuboid {
        /// Half the edge lengths [m].
        half: Vec3,
    },
    /// A cylinder along z.
    Cylinder {
        /// Half its length [m].
        half_length: f64,
        /// Radius [m].
        radius: f64,
    },
    /// A cone along z, apex up.
    Cone {
        /// Half its height [m].
        half_length: f64,
        /// Radius of the base [m].
        radius: f64,
    },
    /// A convex polyhedron.
    Hull(&'a ConvexHull),
    /// A triangle.
    Triangle(
        /// Its corners [m].
        [Vec3; 3],
    ),
}

/// The farthest point and the feature it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportPoint {
    /// In the shape frame [m].
    pub point: Vec3,
    /// Which vertex; for round rims and ends, which of them.
    pub feature: u32,
}

impl<'a> Core<'a> {
    /// Core and radius [m] of a bounded convex shape; `None` for half-spaces, meshes and profiles.
    #[must_use]
    pub fn of(shape: &'a Shape) -> Option<(Self, f64)> {
        Some(match shape {
            Shape::Sphere { radius } => (Self::Point, *radius),
            Shape::Capsule {
                half_length,
                radius,
            } => (
                Self::Segment {
                    half_length: *half_length,
                },
                *radius,
            ),
            Shape::Cuboid { half } => (Self::Cuboid { half: *half }, 0.0),
            Shape::Cylinder {
                half_length,
                radius,
            } => (
                Self::Cylinder {
                    half_length: *half_length,
                    radius: *radius,
                },
                0.0,
            ),
            Shape::Cone {
                half_length,
                radius,
            } => (
                Self::Cone {
                    half_length: *half_length,
                    radius: *radius,
                },
                0.0,
            ),
            Shape::Hull(hull) => (Self::Hull(hull), 0.0),
            Shape::Rounded(r) => (Self::of(r.core())?.0, r.radius()),
            Shape::Mesh(_) | Shape::Profile(_) | Shape::HalfSpace { .. } => return None,
        })
    }

    /// The point of the core farthest along `d` (of any length). `hint` is a feature to start from, such as the last answer's.
    #[must_use]
    #[inline(always)]
    pub fn support(&self, d: Vec3, hint: u32) -> SupportPoint {
        if let Self::Hull(hull) = *self {
            let (feature, point) = hull.support_point(d, hint);
            SupportPoint { point, feature }
        } else {
            self.support_of_few(d)
        }
    }

    /// The same for cores that need no search.
    fn support_of_few(&self, d: Vec3) -> SupportPoint {
        match *self {
            Self::Point => SupportPoint {
                point: Vec3::ZERO,
                feature: 0,
            },
            Self::Segment { half_length } => {
                let up = d.z >= 0.0;
                SupportPoint {
                    point: Vec3::new(0.0, 0.0, if up { half_length } else { -half_length }),
                    feature: u32::from(up),
                }
            }
            Self::Cuboid { half } => {
                let feature = u32::from(d.x >= 0.0)
                    | (u32::from(d.y >= 0.0) << 1)
                    | (u32::from(d.z >= 0.0) << 2);
                SupportPoint {
                    point: cuboid::vertex(half, feature),
                    feature,
                }
            }
            Self::Cylinder {
                half_length,
                radius,
            } => {
                let up = d.z >= 0.0;
                let z = if up { half_length } else { -half_length };
                SupportPoint {
                    point: on_rim(d, radius, z),
                    feature: u32::from(up),
                }
            }
            Self::Cone {
                half_length: h,
                radius,
            } => {
                // Apex: d_z h. Rim: r |d_xy| − d_z h.
                let across = (d.x * d.x + d.y * d.y).sqrt();
                let apex = 2.0 * h * d.z >= radius * across;
                SupportPoint {
                    point: if apex {
                        Vec3::new(0.0, 0.0, h)
                    } else {
                        on_rim(d, radius, -h)
                    },
                    feature: u32::from(apex),
                }
            }
            Self::Hull(hull) => {
                let (feature, point) = hull.support_point(d, u32::MAX);
                SupportPoint { point, feature }
            }
            Self::Triangle(corners) => {
                let x = corners.map(|c| c.dot(d));
                let feature = if x[0] >= x[1] && x[0] >= x[2] {
                    0
                } else if x[1] >= x[2] {
                    1
                } else {
                    2
                };
                SupportPoint {
                    point: corners[feature],
                    feature: feature as u32,
                }
            }
        }
    }

    /// Whether every point of the surface is a mix of finitely many: then searches end exactly.
    #[must_use]
    pub const fn is_polyhedral(&self) -> bool {
        !matches!(self, Self::Cylinder { .. } | Self::Cone { .. })
    }

    /// Radius of a ball about the origin that holds the core [m].
    #[must_use]
    pub fn reach(&self) -> f64 {
        match *self {
            Self::Point => 0.0,
            Self::Segment { half_length } => half_length,
            Self::Cuboid { half } => half.length(),
            Self::Cylinder {
                half_length: h,
                radius: r,
            }
            | Self::Cone {
                half_length: h,
                radius: r,
            } => (h * h + r * r).sqrt(),
            Self::Hull(hull) => hull.reach(),
            Self::Triangle(corners) => corners.iter().fold(0.0, |s: f64, c| s.max(c.length())),
        }
    }

    /// A point well inside, in the shape frame [m].
    #[must_use]
    pub fn middle(&self) -> Vec3 {
        match *self {
            Self::Hull(hull) => hull.center(),
            Self::Triangle([a, b, c]) => (a + b + c) / 3.0,
            Self::Cone { half_length, .. } => Vec3::new(0.0, 0.0, -0.5 * half_length),
            _ => Vec3::ZERO,
        }
    }
}

/// The point of a circle about z, at height `z`, farthest along `d`; for `d` along the axis, its centre.
#[inline]
fn on_rim(d: Vec3, radius: f64, z: f64) -> Vec3 {
    let across = d.x * d.x + d.y * d.y;
    if across > 0.0 && across.is_finite() {
        let s = radius / across.sqrt();
        Vec3::new(d.x * s, d.y * s, z)
    } else {
        Vec3::new(0.0, 0.0, z)
    }
}
