//! Sphere against sphere.
//!
//! Reads: radii, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: closed form.

use super::contact::{ContactPoint, Features};
use super::narrow::{Placed, direction_or, rolling_radius};
use crate::math::{Pose, Vec3};

/// The normal joins the centres; coincident centres get the fixed normal z.
pub(super) fn sphere_sphere(
    radius_a: f64,
    pose_a: &Pose,
    radius_b: f64,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let d = pose_b.position - pose_a.position;
    let reach = radius_a + radius_b + margin;
    // Most candidates are apart: no square root for them. The slack leaves the last word to the gap itself.
    if d.length_squared() > reach * reach.abs() * (1.0 + 1e-9) {
        return;
    }
    let features = Features::PointPoint {
        a: Vec3::ZERO,
        b: Vec3::ZERO,
    };
    let rolling_radius = rolling_radius(radius_a, radius_b);
    let normal = direction_or(d, Vec3::Z);
    Placed {
        pose_a,
        pose_b,
        radius_a,
        radius_b,
        rolling_radius,
        margin,
    }
    .push(features, normal, 0, out);
}
