//! A ball: checks, volume, mass properties, bounds.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`.
//! Source: closed forms.

use super::{Aabb, MassProperties, check_positive};
use crate::error::BuildError;
use crate::math::{Mat3, Pose, Vec3};
use std::f64::consts::PI;

pub(super) fn check(radius: f64) -> Result<(), BuildError> {
    check_positive("radius", radius)
}

pub(super) fn volume(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius * radius * radius
}

pub(super) fn mass_properties(radius: f64, density: f64) -> MassProperties {
    let mass = density * volume(radius);
    // I = 2/5 m r²
    let moment = 0.4 * mass * radius * radius;
    MassProperties {
        mass,
        center: Vec3::ZERO,
        inertia: Mat3::from_diagonal(Vec3::splat(moment)),
    }
}

pub(super) fn bounds(radius: f64, pose: &Pose) -> Aabb {
    Aabb::from_center(pose.position, Vec3::splat(radius))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_ball() {
        let m = mass_properties(2.0, 3.0);
        assert!((m.mass - 32.0 * PI).abs() < 1e-12);
        assert!((m.inertia.x_axis.x - 0.4 * 32.0 * PI * 4.0).abs() < 1e-11);
        assert!(check(0.0).is_err() && check(f64::NAN).is_err() && check(-1.0).is_err());
        assert!(check(f64::INFINITY).is_err() && check(1.0).is_ok());
        let b = bounds(0.5, &Pose::from_position(Vec3::X));
        assert_eq!(
            (b.min, b.max),
            (Vec3::new(0.5, -0.5, -0.5), Vec3::new(1.5, 0.5, 0.5))
        );
    }
}
