//! A cone along z, its base at −h and its apex at +h: checks, volume, mass properties, bounds.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`.
//! Source: closed forms.

use super::cylinder::disc_extent;
use super::{Aabb, MassProperties, check_positive};
use crate::error::BuildError;
use crate::math::{Mat3, Pose, Vec3};
use std::f64::consts::PI;

pub(super) fn check(half_length: f64, radius: f64) -> Result<(), BuildError> {
    check_positive("half_length", half_length)?;
    check_positive("radius", radius)
}

pub(super) fn volume(half_length: f64, radius: f64) -> f64 {
    2.0 / 3.0 * PI * radius * radius * half_length
}

pub(super) fn mass_properties(half_length: f64, radius: f64, density: f64) -> MassProperties {
    let (h, r) = (half_length, radius);
    let mass = density * volume(h, r);
    // About the centre, a quarter of the height 2h above the base: 3/20 m r² + 3/80 m (2h)² across, 3/10 m r² along.
    let across = mass * 0.15 * (r * r + h * h);
    MassProperties {
        mass,
        center: Vec3::Z * (-0.5 * h),
        inertia: Mat3::from_diagonal(Vec3::new(across, across, mass * (0.3 * r * r))),
    }
}

pub(super) fn bounds(half_length: f64, radius: f64, pose: &Pose) -> Aabb {
    let axis = pose.vector(Vec3::Z);
    let apex = pose.position + axis * half_length;
    let base = Aabb::from_center(
        pose.position - axis * half_length,
        disc_extent(axis) * radius,
    );
    base.merged(&Aabb {
        min: apex,
        max: apex,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rotation;

    #[test]
    fn matches_slices() {
        let (h, r, slices) = (0.8, 0.3, 100_000);
        let exact = mass_properties(h, r, 5.0);
        let dz = 2.0 * h / f64::from(slices);
        let (mut mass, mut center, mut across, mut along) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..slices {
            let z = -h + (f64::from(i) + 0.5) * dz;
            let rho = r * (h - z) / (2.0 * h);
            let dm = 5.0 * PI * rho * rho * dz;
            mass += dm;
            center += dm * z;
            across += dm * (0.25 * rho * rho + (z - exact.center.z) * (z - exact.center.z));
            along += 0.5 * dm * rho * rho;
        }
        assert!((mass / exact.mass - 1.0).abs() < 1e-9);
        assert!((center / mass - exact.center.z).abs() < 1e-9);
        assert!((across / exact.inertia.x_axis.x - 1.0).abs() < 1e-9);
        assert!((along / exact.inertia.z_axis.z - 1.0).abs() < 1e-9);
    }

    #[test]
    fn bounds_touch_rim_and_apex() {
        let pose = Pose::new(Vec3::ONE, rotation::exp(Vec3::new(0.9, -0.4, 0.1)));
        let (h, r) = (0.7, 0.4);
        let b = bounds(h, r, &pose);
        let apex = pose.point(Vec3::Z * h);
        let mut tight = Aabb {
            min: apex,
            max: apex,
        };
        for i in 0..100_000 {
            let (s, c) = libm::sincos(f64::from(i) * 2e-5 * PI);
            let p = pose.point(Vec3::new(r * c, r * s, -h));
            tight = tight.merged(&Aabb { min: p, max: p });
        }
        assert!(b.grown(1e-12).contains(&tight) && tight.grown(1e-8).contains(&b));
    }
}
