//! Half-space (always A) against sphere, capsule and cuboid (B).
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: closed form; vertex–face contacts of [Lecture] "Contact Types".

use super::contact::{ContactPoint, Features};
use super::narrow::Placed;
use crate::math::{Pose, Vec3};
use crate::shape::cuboid;

/// One point below the centre.
pub(super) fn half_space_sphere(
    normal: Vec3,
    pose_a: &Pose,
    radius: f64,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let placed = Placed {
        pose_a,
        pose_b,
        radius_a: 0.0,
        radius_b: radius,
        rolling_radius: radius,
        margin,
    };
    placed.push(over_plane(normal, Vec3::ZERO), normal, 0, out);
}

/// One point below each end of the segment.
pub(super) fn half_space_capsule(
    normal: Vec3,
    pose_a: &Pose,
    (half_length, radius): (f64, f64),
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let placed = Placed {
        pose_a,
        pose_b,
        radius_a: 0.0,
        radius_b: radius,
        rolling_radius: radius,
        margin,
    };
    placed.push(over_plane(normal, Vec3::Z * -half_length), normal, 0, out);
    placed.push(over_plane(normal, Vec3::Z * half_length), normal, 1, out);
}

/// Up to four points: the vertices of the face that looks most against the plane.
///
/// That face holds the lowest vertex. Vertices of other faces would only matter once they are lower than its own, and by then
/// the box has turned and their face is the chosen one. The id is the vertex, so it survives such a change.
pub(super) fn half_space_cuboid(
    normal: Vec3,
    pose_a: &Pose,
    half: Vec3,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let n_world = pose_a.vector(normal);
    let n = pose_b.vector_to_local(n_world);
    // Gap of a point x of the box: n · x + height.
    let height = n_world.dot(pose_b.position - pose_a.position);
    if height - n.abs().dot(half) > margin {
        return;
    }
    let size = n.abs();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let low_side = n[axis] < 0.0;
    for i in 0..8 {
        if ((i >> axis) & 1 == 1) != low_side {
            continue;
        }
        let x = cuboid::vertex(half, i);
        let gap = n.dot(x) + height;
        if gap <= margin {
            let point_b = pose_b.point(x);
            out.push(ContactPoint {
                point_a: point_b - n_world * gap,
                point_b,
                normal: n_world,
                gap,
                features: over_plane(normal, x),
                radius_a: 0.0,
                radius_b: 0.0,
                rolling_radius: 0.0,
                feature_id: i,
            });
        }
    }
}

fn over_plane(normal: Vec3, point: Vec3) -> Features {
    Features::PointFace {
        point,
        anchor: Vec3::ZERO,
        normal,
        face_on_b: false,
    }
}
