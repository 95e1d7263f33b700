//! A capsule, a segment along z thickened by a radius: checks, volume, mass properties, bounds.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`.
//! Source: closed forms; a cylinder and two half balls.

use super::{Aabb, MassProperties, check_positive, sphere};
use crate::error::BuildError;
use crate::math::{Mat3, Pose, Vec3};
use std::f64::consts::PI;

pub(super) fn check(half_length: f64, radius: f64) -> Result<(), BuildError> {
    check_positive("half_length", half_length)?;
    check_positive("radius", radius)
}

pub(super) fn volume(half_length: f64, radius: f64) -> f64 {
    cylinder(half_length, radius) + sphere::volume(radius)
}

fn cylinder(half_length: f64, radius: f64) -> f64 {
    2.0 * PI * radius * radius * half_length
}

pub(super) fn mass_properties(half_length: f64, radius: f64, density: f64) -> MassProperties {
    let (h, r) = (half_length, radius);
    let barrel = density * cylinder(h, r);
    let caps = density * sphere::volume(r);
    // Along z: ½ m r² for the cylinder, 2/5 m r² for the caps.
    let along = barrel * (0.5 * r * r) + caps * (0.4 * r * r);
    // Across: m (h²/3 + r²/4) for the cylinder; a half ball has its centre 3r/8 above its base, which sits at h:
    // 2/5 m r² − m (3r/8)² + m (h + 3r/8)² = m (2/5 r² + h² + 3/4 h r).
    let across =
        barrel * (h * h / 3.0 + 0.25 * r * r) + caps * (0.4 * r * r + h * h + 0.75 * h * r);
    MassProperties {
        mass: barrel + caps,
        center: Vec3::ZERO,
        inertia: Mat3::from_diagonal(Vec3::new(across, across, along)),
    }
}

pub(super) fn bounds(half_length: f64, radius: f64, pose: &Pose) -> Aabb {
    let axis = pose.vector(Vec3::Z * half_length).abs();
    Aabb::from_center(pose.position, axis + radius)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn becomes_a_ball_and_a_rod() {
        let ball = mass_properties(1e-300, 0.7, 2.0);
        let exact = sphere::mass_properties(0.7, 2.0);
        assert!((ball.mass - exact.mass).abs() < 1e-15);
        assert!((ball.inertia.x_axis.x - exact.inertia.x_axis.x).abs() < 1e-15);
        let rod = mass_properties(1.0, 1e-8, 1.0);
        assert!((rod.inertia.x_axis.x / rod.mass - 1.0 / 3.0).abs() < 1e-7);
    }

    #[test]
    fn matches_slices() {
        // Midpoint rule over discs of thickness dz: I_x of a disc = dm (ρ²/4 + z²).
        let (h, r, slices) = (0.8, 0.3, 200_000);
        let exact = mass_properties(h, r, 5.0);
        let dz = 2.0 * (h + r) / f64::from(slices);
        let (mut mass, mut across, mut along) = (0.0, 0.0, 0.0);
        for i in 0..slices {
            let z = -(h + r) + (f64::from(i) + 0.5) * dz;
            let over = (z.abs() - h).max(0.0);
            let rho2 = r * r - over * over;
            let dm = 5.0 * PI * rho2 * dz;
            mass += dm;
            across += dm * (0.25 * rho2 + z * z);
            along += 0.5 * dm * rho2;
        }
        assert!((mass / exact.mass - 1.0).abs() < 1e-9);
        assert!((across / exact.inertia.x_axis.x - 1.0).abs() < 1e-9);
        assert!((along / exact.inertia.z_axis.z - 1.0).abs() < 1e-9);
    }
}
