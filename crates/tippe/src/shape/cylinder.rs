//! A cylinder along z about the origin: checks, volume, mass properties, bounds.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`.
//! Source: closed forms.

use super::{Aabb, MassProperties, check_positive};
use crate::error::BuildError;
use crate::math::{Mat3, Pose, Vec3};
use std::f64::consts::PI;

pub(super) fn check(half_length: f64, radius: f64) -> Result<(), BuildError> {
    check_positive("half_length", half_length)?;
    check_positive("radius", radius)
}

pub(super) fn volume(half_length: f64, radius: f64) -> f64 {
    2.0 * PI * radius * radius * half_length
}

pub(super) fn mass_properties(half_length: f64, radius: f64, density: f64) -> MassProperties {
    let (h, r) = (half_length, radius);
    let mass = density * volume(h, r);
    let across = mass * (h * h / 3.0 + 0.25 * r * r);
    MassProperties {
        mass,
        center: Vec3::ZERO,
        inertia: Mat3::from_diagonal(Vec3::new(across, across, mass * (0.5 * r * r))),
    }
}

pub(super) fn bounds(half_length: f64, radius: f64, pose: &Pose) -> Aabb {
    let axis = pose.vector(Vec3::Z);
    Aabb::from_center(
        pose.position,
        axis.abs() * half_length + disc_extent(axis) * radius,
    )
}

/// How far a unit disc with the unit normal `axis` reaches along x, y and z.
pub(super) fn disc_extent(axis: Vec3) -> Vec3 {
    // Along e the rim reaches |e − (e·a) a| = √(1 − a_e²); written with the two other components it loses no digits.
    let s = axis * axis;
    Vec3::new((s.y + s.z).sqrt(), (s.z + s.x).sqrt(), (s.x + s.y).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rotation;

    #[test]
    fn coin_and_rod() {
        let coin = mass_properties(1e-9, 0.5, 1e9);
        assert!((coin.inertia.z_axis.z / (2.0 * coin.inertia.x_axis.x) - 1.0).abs() < 1e-12);
        let rod = mass_properties(1.0, 1e-9, 1.0);
        assert!((rod.inertia.x_axis.x / rod.mass - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(check(0.0, 1.0).unwrap_err().field, "half_length");
        assert_eq!(check(1.0, f64::NAN).unwrap_err().field, "radius");
    }

    #[test]
    fn bounds_touch_the_rim() {
        let pose = Pose::new(
            Vec3::new(1.0, 2.0, 3.0),
            rotation::exp(Vec3::new(0.3, -0.8, 0.1)),
        );
        let (h, r) = (0.7, 0.4);
        let b = bounds(h, r, &pose);
        let mut tight = Aabb::EMPTY;
        for i in 0..100_000 {
            let (s, c) = libm::sincos(f64::from(i) * 2e-5 * PI);
            for z in [-h, h] {
                let p = pose.point(Vec3::new(r * c, r * s, z));
                tight = tight.merged(&Aabb { min: p, max: p });
            }
        }
        assert!(b.grown(1e-12).contains(&tight) && tight.grown(1e-8).contains(&b));
    }
}
