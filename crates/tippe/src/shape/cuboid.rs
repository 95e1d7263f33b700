//! A box: checks, volume, mass properties, bounds, and the numbering of its vertices.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`, the cuboid pairs of `collide`.
//! Source: closed forms.

use super::{Aabb, MassProperties, check_positive};
use crate::error::BuildError;
use crate::math::{Mat3, Pose, Vec3};

pub(super) fn check(half: Vec3) -> Result<(), BuildError> {
    check_positive("half.x", half.x)?;
    check_positive("half.y", half.y)?;
    check_positive("half.z", half.z)
}

pub(super) fn volume(half: Vec3) -> f64 {
    8.0 * half.x * half.y * half.z
}

pub(super) fn mass_properties(half: Vec3, density: f64) -> MassProperties {
    let mass = density * volume(half);
    // I_x = m/12 ((2h_y)² + (2h_z)²) = m/3 (h_y² + h_z²)
    let s = half * half;
    let moments = mass / 3.0 * Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y);
    MassProperties {
        mass,
        center: Vec3::ZERO,
        inertia: Mat3::from_diagonal(moments),
    }
}

pub(super) fn bounds(half: Vec3, pose: &Pose) -> Aabb {
    let r = Mat3::from_quat(pose.rotation);
    let extent = r.x_axis.abs() * half.x + r.y_axis.abs() * half.y + r.z_axis.abs() * half.z;
    Aabb::from_center(pose.position, extent)
}

/// Vertex `i` of 8 in the shape frame [m]: bit 0, 1, 2 of `i` set means the positive side of x, y, z.
#[must_use]
pub fn vertex(half: Vec3, i: u32) -> Vec3 {
    let side = |bit: u32, h: f64| if i & bit != 0 { h } else { -h };
    Vec3::new(side(1, half.x), side(2, half.y), side(4, half.z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    #[test]
    fn brick() {
        let half = Vec3::new(0.5, 1.0, 1.5);
        let m = mass_properties(half, 2.0);
        assert_eq!(m.mass, 12.0);
        assert_eq!(m.inertia, Mat3::from_diagonal(Vec3::new(13.0, 10.0, 5.0)));
        assert_eq!(check(Vec3::new(1.0, 0.0, 1.0)).unwrap_err().field, "half.y");
        assert_eq!(
            check(Vec3::new(1.0, 1.0, f64::NAN)).unwrap_err().field,
            "half.z"
        );
    }

    #[test]
    fn bounds_hold_every_vertex_tightly() {
        let half = Vec3::new(0.5, 1.0, 1.5);
        let pose = Pose::new(
            Vec3::new(3.0, 2.0, 1.0),
            Quat::from_xyzw(0.1, 0.5, -0.3, 0.8).normalize(),
        );
        let b = bounds(half, &pose);
        let mut tight = Aabb::EMPTY;
        for i in 0..8 {
            let p = pose.point(vertex(half, i));
            assert!(b.grown(1e-14).contains_point(p));
            tight = tight.merged(&Aabb { min: p, max: p });
        }
        assert!((tight.min - b.min).length() < 1e-14 && (tight.max - b.max).length() < 1e-14);
    }
}
