//! Sphere (A) against capsule (B).
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: closest point of a segment.

use super::contact::{ContactPoint, Features};
use super::narrow::{Placed, direction_or, rolling_radius};
use crate::math::{Pose, Vec3};

/// One point: against the side of the capsule, or against the cap of the nearer end.
pub(super) fn sphere_capsule(
    radius_a: f64,
    pose_a: &Pose,
    (half_length, radius_b): (f64, f64),
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let c = pose_b.point_to_local(pose_a.position);
    let on_axis = Vec3::Z * c.z.max(-half_length).min(half_length);
    let placed = Placed {
        pose_a,
        pose_b,
        radius_a,
        radius_b,
        rolling_radius: rolling_radius(radius_a, radius_b),
        margin,
    };
    // A centre exactly on the axis is pushed out sideways.
    let normal = pose_b.vector(direction_or(on_axis - c, Vec3::X));
    if c.z.abs() < half_length {
        let features = Features::PointEdge {
            point: Vec3::ZERO,
            anchor: Vec3::ZERO,
            direction: Vec3::Z,
            edge_on_b: true,
        };
        placed.push(features, normal, 1, out);
    } else {
        let features = Features::PointPoint {
            a: Vec3::ZERO,
            b: on_axis,
        };
        placed.push(features, normal, if c.z < 0.0 { 0 } else { 2 }, out);
    }
}
