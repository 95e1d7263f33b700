//! Any two bounded convex shapes: the closest or deepest points.
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: `geometry`.

use super::contact::{ContactPoint, Features};
use super::narrow::Placed;
use crate::geometry;
use crate::math::{Pose, Vec3};
use crate::shape::Shape;

/// One point: the tangent plane of A's surface there, against B's point.
pub(super) fn convex_convex(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let Ok(Some(s)) = geometry::separation_within(a, pose_a, b, pose_b, margin) else {
        return;
    };
    let placed = Placed {
        pose_a,
        pose_b,
        radius_a: 0.0,
        radius_b: 0.0,
        rolling_radius: 0.0,
        margin,
    };
    let features = Features::PointFace {
        point: pose_b.point_to_local(s.point_b),
        anchor: pose_a.point_to_local(s.point_a),
        normal: pose_a.vector_to_local(s.normal),
        face_on_b: false,
    };
    placed.push(features, Vec3::Z, 0, out);
}
