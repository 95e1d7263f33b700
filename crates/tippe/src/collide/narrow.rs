//! The shape × shape table: contact points of two shapes at two poses.
//!
//! Reads: shapes, poses.  Writes: appends to a list of contact points.
//! Called by: `collide::detect`, queries, tests.
//! Source: [Lecture] "Contact Types"; the sign convention of `collide::contact`.

use super::contact::{ContactPoint, Features};
use super::pair_capsule_capsule::capsule_capsule;
use super::pair_capsule_cuboid::capsule_cuboid;
use super::pair_convex::convex_convex;
use super::pair_cuboid_cuboid::cuboid_cuboid;
pub use super::pair_cuboid_cuboid::cuboid_separation;
use super::pair_half_space_any::{half_space_capsule, half_space_cuboid, half_space_sphere};
use super::pair_half_space_convex::half_space_convex;
use super::pair_half_space_mesh::half_space_mesh;
use super::pair_mesh::mesh_convex;
use super::pair_mesh_mesh::mesh_mesh;
use super::pair_profile::{half_space_profile, profile_profile};
use super::pair_sphere_capsule::sphere_capsule;
use super::pair_sphere_cuboid::sphere_cuboid;
use super::pair_sphere_sphere::sphere_sphere;
use super::pass::{Drift, Side, leave_out_passed};
pub use super::settle::Start;
use crate::math::{Pose, Vec3};
use crate::shape::{Core, Shape};

/// What touches what, for two boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactKind {
    /// A vertex on a face.
    VertexFace,
    /// An edge on a face.
    EdgeFace,
    /// A face on a face.
    FaceFace,
    /// An edge across an edge.
    EdgeEdge,
}

/// All contact points of two boxes and what touches what.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold {
    /// `None` if no point is within the margin.
    pub kind: Option<ContactKind>,
    /// Up to four points of a face contact; that of two edges, and up to four of a face that one of them nearly lies on; see [`collide_shapes`].
    pub points: Vec<ContactPoint>,
}

/// The contact points of two boxes of half extents `half_a`, `half_b` [m], with their kind.
#[must_use]
pub fn cuboid_manifold(
    half_a: Vec3,
    pose_a: &Pose,
    half_b: Vec3,
    pose_b: &Pose,
    margin: f64,
) -> Manifold {
    let mut points = Vec::new();
    let mut kind = None;
    if finite(pose_a, pose_b) {
        kind = cuboid_cuboid(half_a, pose_a, half_b, pose_b, margin, &mut points);
    }
    Manifold { kind, points }
}

/// Appends the contact points of two shapes with a gap of at most `margin` [m] (which may be zero or negative).
///
/// Features are in the frames of the shapes. Poses with a number that is not finite touch nothing.
pub fn collide_shapes(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    collide_shapes_from(a, pose_a, b, pose_b, margin, &mut Start::default(), out);
}

/// The same for two shapes that drift: without contacts that would stop them although they pass each other. Returns whether a search ended
/// at its limit.
pub(super) fn collide_shapes_on(
    drift: Option<&Drift>,
    (a, pose_a): (&Shape, &Pose),
    (b, pose_b): (&Shape, &Pose),
    margin: f64,
    start: &mut Start,
    out: &mut Vec<ContactPoint>,
) -> bool {
    let first = out.len();
    if !finite(pose_a, pose_b) || margin.is_nan() {
        return false;
    }
    match (drift, a, b) {
        (Some(drift), Shape::Mesh(mesh), _) if Core::of(b).is_some() => {
            mesh_convex(mesh, pose_a, b, pose_b, margin, Some(drift), out);
            false
        }
        (Some(drift), _, Shape::Mesh(mesh)) if Core::of(a).is_some() => {
            let drift = drift.swapped();
            mesh_convex(mesh, pose_b, a, pose_a, margin, Some(&drift), out);
            flip_all(&mut out[first..]);
            false
        }
        _ => {
            let limited = collide_shapes_from(a, pose_a, b, pose_b, margin, start, out);
            if let (Some(drift), Some(core_a), Some(core_b)) = (drift, Core::of(a), Core::of(b))
                && out.len() > first
            {
                let (side_a, side_b) = (Side::new(core_a, pose_a), Side::new(core_b, pose_b));
                leave_out_passed(drift, &side_a, &side_b, first, out);
            }
            limited
        }
    }
}

/// The same with where the last search for these two shapes ended, which is renewed. The points do not depend on it: it saves time.
/// Returns whether a search ended at its limit, so that points may be missing: two meshes with very many features that face each other.
pub fn collide_shapes_from(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    start: &mut Start,
    out: &mut Vec<ContactPoint>,
) -> bool {
    use Shape::{Capsule, Cuboid, HalfSpace, Mesh, Profile, Sphere};
    if !finite(pose_a, pose_b) || margin.is_nan() {
        return false;
    }
    let (p, q, first, mut limited) = (pose_a, pose_b, out.len(), false);
    // Row: shape of A; column: shape of B. Below the diagonal the pair is called the other way round and then mirrored.
    let mirrored = match (a, b) {
        (Sphere { radius: r }, Sphere { radius: s }) => {
            sphere_sphere(*r, p, *s, q, margin, out);
            false
        }
        (Sphere { radius: r }, Cuboid { half }) => {
            sphere_cuboid(*r, p, *half, q, margin, out);
            false
        }
        (
            Sphere { radius: r },
            Capsule {
                half_length: l,
                radius: s,
            },
        ) => {
            sphere_capsule(*r, p, (*l, *s), q, margin, out);
            false
        }
        (Sphere { radius: r }, HalfSpace { normal }) => {
            half_space_sphere(*normal, q, *r, p, margin, out);
            true
        }

        (Cuboid { half }, Sphere { radius: s }) => {
            sphere_cuboid(*s, q, *half, p, margin, out);
            true
        }
        (Cuboid { half: h }, Cuboid { half: k }) => {
            cuboid_cuboid(*h, p, *k, q, margin, out);
            false
        }
        (
            Cuboid { half },
            Capsule {
                half_length: l,
                radius: s,
            },
        ) => {
            capsule_cuboid((*l, *s), q, *half, p, margin, out);
            true
        }
        (Cuboid { half }, HalfSpace { normal }) => {
            half_space_cuboid(*normal, q, *half, p, margin, out);
            true
        }

        (
            Capsule {
                half_length: l,
                radius: r,
            },
            Sphere { radius: s },
        ) => {
            sphere_capsule(*s, q, (*l, *r), p, margin, out);
            true
        }
        (
            Capsule {
                half_length: l,
                radius: r,
            },
            Cuboid { half },
        ) => {
            capsule_cuboid((*l, *r), p, *half, q, margin, out);
            false
        }
        (
            Capsule {
                half_length: l,
                radius: r,
            },
            Capsule {
                half_length: m,
                radius: s,
            },
        ) => {
            capsule_capsule((*l, *r), p, (*m, *s), q, margin, out);
            false
        }
        (
            Capsule {
                half_length: l,
                radius: r,
            },
            HalfSpace { normal },
        ) => {
            half_space_capsule(*normal, q, (*l, *r), p, margin, out);
            true
        }

        (HalfSpace { normal }, Sphere { radius: s }) => {
            half_space_sphere(*normal, p, *s, q, margin, out);
            false
        }
        (HalfSpace { normal }, Cuboid { half }) => {
            half_space_cuboid(*normal, p, *half, q, margin, out);
            false
        }
        (
            HalfSpace { normal },
            Capsule {
                half_length: l,
                radius: s,
            },
        ) => {
            half_space_capsule(*normal, p, (*l, *s), q, margin, out);
            false
        }
        (Profile(_), _) | (_, Profile(_)) => profiles((a, p), (b, q), margin, out),
        (HalfSpace { .. } | Mesh(_), HalfSpace { .. } | Mesh(_)) => {
            grounds((a, p), (b, q), margin, &mut limited, out)
        }
        (Mesh(mesh), _) => {
            mesh_convex(mesh, p, b, q, margin, None, out);
            false
        }
        (_, Mesh(mesh)) => {
            mesh_convex(mesh, q, a, p, margin, None, out);
            true
        }
        // All else through the outlines of convex cores.
        (HalfSpace { normal }, _) => {
            half_space_convex(*normal, p, b, q, margin, out);
            false
        }
        (_, HalfSpace { normal }) => {
            half_space_convex(*normal, q, a, p, margin, out);
            true
        }
        _ if rank(a) <= rank(b) => {
            convex_convex(a, p, b, q, margin, start, out);
            false
        }
        _ => {
            convex_convex(b, q, a, p, margin, start, out);
            true
        }
    };
    if mirrored {
        flip_all(&mut out[first..]);
    }
    limited
}

/// Half-spaces and meshes with each other; whether the points are to be mirrored, and `limited` as above. Two half-spaces do not touch.
fn grounds(
    (a, p): (&Shape, &Pose),
    (b, q): (&Shape, &Pose),
    margin: f64,
    limited: &mut bool,
    out: &mut Vec<ContactPoint>,
) -> bool {
    use Shape::{HalfSpace, Mesh};
    match (a, b) {
        (HalfSpace { normal }, Mesh(mesh)) => half_space_mesh(*normal, p, mesh, q, margin, out),
        (Mesh(mesh), HalfSpace { normal }) => {
            half_space_mesh(*normal, q, mesh, p, margin, out);
            return true;
        }
        (Mesh(m), Mesh(n)) => *limited = mesh_mesh(m, p, n, q, margin, out),
        _ => {}
    }
    false
}

/// Profiles with each other and with half-spaces; whether the points are to be mirrored. They touch nothing else.
fn profiles(
    (a, p): (&Shape, &Pose),
    (b, q): (&Shape, &Pose),
    margin: f64,
    out: &mut Vec<ContactPoint>,
) -> bool {
    use Shape::{HalfSpace, Profile};
    match (a, b) {
        (Profile(a), Profile(b)) => profile_profile(a, p, b, q, margin, out),
        (HalfSpace { normal }, Profile(b)) => half_space_profile(*normal, p, b, q, margin, out),
        (Profile(a), HalfSpace { normal }) => {
            half_space_profile(*normal, q, a, p, margin, out);
            return true;
        }
        _ => {}
    }
    false
}

fn flip_all(points: &mut [ContactPoint]) {
    for point in points {
        *point = flipped(point);
    }
}

/// Which shape comes first where two different ones meet by a routine for both orders.
const fn rank(shape: &Shape) -> u32 {
    match shape {
        Shape::HalfSpace { .. } | Shape::Mesh(_) | Shape::Profile(_) => 0,
        Shape::Sphere { .. } => 1,
        Shape::Capsule { .. } => 2,
        Shape::Cuboid { .. } => 3,
        Shape::Cylinder { .. } => 4,
        Shape::Cone { .. } => 5,
        Shape::Hull(_) => 6,
        Shape::Rounded(_) => 7,
    }
}

/// The same contact with A and B exchanged.
#[must_use]
pub fn flipped(c: &ContactPoint) -> ContactPoint {
    let features = match c.features {
        Features::PointPoint { a, b } => Features::PointPoint { a: b, b: a },
        Features::Tangent { a, b, normal } => Features::Tangent {
            a: b,
            b: a,
            normal: -normal,
        },
        Features::PointFace {
            point,
            anchor,
            normal,
            face_on_b,
        } => Features::PointFace {
            point,
            anchor,
            normal,
            face_on_b: !face_on_b,
        },
        Features::PointEdge {
            point,
            anchor,
            direction,
            edge_on_b,
        } => Features::PointEdge {
            point,
            anchor,
            direction,
            edge_on_b: !edge_on_b,
        },
        Features::EdgeEdge {
            anchor_a,
            direction_a,
            anchor_b,
            direction_b,
        } => Features::EdgeEdge {
            anchor_a: anchor_b,
            direction_a: direction_b,
            anchor_b: anchor_a,
            direction_b: direction_a,
        },
        Features::RimFace {
            center,
            axis,
            radius,
            anchor,
            normal,
            face_on_b,
        } => Features::RimFace {
            center,
            axis,
            radius,
            anchor,
            normal,
            face_on_b: !face_on_b,
        },
    };
    ContactPoint {
        point_a: c.point_b,
        point_b: c.point_a,
        normal: -c.normal,
        gap: c.gap,
        features,
        radius_a: c.radius_b,
        radius_b: c.radius_a,
        rolling_radius: c.rolling_radius,
        feature_id: c.feature_id,
    }
}

/// Two poses with what is needed to turn features into contact points.
pub(super) struct Placed<'a> {
    pub pose_a: &'a Pose,
    pub pose_b: &'a Pose,
    pub radius_a: f64,
    pub radius_b: f64,
    pub rolling_radius: f64,
    pub margin: f64,
}

impl Placed<'_> {
    /// Appends the contact of `features` if its gap is within the margin.
    ///
    /// The unit vector `normal` orients the contact and is its normal where the features define none.
    pub fn push(
        &self,
        features: Features,
        normal: Vec3,
        feature_id: u32,
        out: &mut Vec<ContactPoint>,
    ) {
        let at = features.at(
            self.pose_a,
            self.pose_b,
            self.radius_a,
            self.radius_b,
            normal,
        );
        if at.gap <= self.margin {
            let features = if self.radius_a + self.radius_b > 0.0 {
                features
            } else {
                features.held(self.pose_a, self.pose_b, &at)
            };
            out.push(ContactPoint {
                point_a: at.point_a,
                point_b: at.point_b,
                normal: at.normal,
                gap: at.gap,
                features,
                radius_a: self.radius_a,
                radius_b: self.radius_b,
                rolling_radius: self.rolling_radius,
                feature_id,
            });
        }
    }
}

/// The unit vector along `d`, or `otherwise` (a unit vector) where `d` is too short to have a direction.
pub(super) fn direction_or(d: Vec3, otherwise: Vec3) -> Vec3 {
    let length = d.length();
    if length > DIRECTION_MIN {
        d / length
    } else {
        otherwise
    }
}

/// Length below which a difference of points has no direction [m], as in `collide::contact`.
const DIRECTION_MIN: f64 = 1e-12;

/// Effective radius of two curved surfaces [m]: `1/(1/R_A + 1/R_B)`.
pub(super) fn rolling_radius(a: f64, b: f64) -> f64 {
    if a + b > 0.0 { a * (b / (a + b)) } else { 0.0 }
}

fn finite(a: &Pose, b: &Pose) -> bool {
    let p = a.position + b.position;
    let q = a.rotation + b.rotation;
    // One test for all: a sum is finite only if all its terms are.
    (p.x + p.y + p.z + q.x + q.y + q.z + q.w).is_finite()
}
