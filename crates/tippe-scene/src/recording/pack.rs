//! Poses in 16 bytes: three coordinates of 24 bits inside the frame's bounding box, a quaternion in 56.
//!
//! Reads: poses.  Writes: bytes.
//! Called by: `recording::read`, `recording::write`.
//! Source: "smallest three": the largest component of a unit quaternion follows from the others, which are at most 1/√2.

use tippe::{Pose, Quat, Vec3};

/// Bytes of a packed pose.
pub const POSE_BYTES: usize = 16;
/// Largest angle between a stored orientation and the true one [rad].
///
/// Each of three components is off by at most q/2 with q = √2 / (2¹⁸ − 1); the fourth, which is at least ½ and the largest, by at most
/// three times that; the angle is twice the distance of the quaternions: 2 · (q/2) · √(3 + 9) < 1.87e-5.
pub const ANGLE_ERROR_MAX: f64 = 1.9e-5;

const COORDINATE_STEPS: f64 = ((1_u32 << 24) - 1) as f64;
const COMPONENT_BITS: u32 = 18;
const COMPONENT_STEPS: f64 = ((1_u32 << COMPONENT_BITS) - 1) as f64;
const COMPONENT_MAX: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The box that holds all positions of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) min: Vec3,
    pub(super) max: Vec3,
}

impl Bounds {
    /// The smallest box that holds all positions.
    pub(super) fn of(poses: impl Iterator<Item = Vec3>) -> Self {
        let empty = Self {
            min: Vec3::splat(f64::INFINITY),
            max: Vec3::splat(f64::NEG_INFINITY),
        };
        let all = poses.fold(empty, |b, p| Self {
            min: b.min.min(p),
            max: b.max.max(p),
        });
        if all.min.is_finite() && all.max.is_finite() {
            all
        } else {
            Self {
                min: Vec3::ZERO,
                max: Vec3::ZERO,
            }
        }
    }

    /// Largest rounding of a coordinate [m]: half a step, and the rounding of doubles.
    pub(super) fn error(&self) -> Vec3 {
        let rounding = self.min.abs().max(self.max.abs()) * (4.0 * f64::EPSILON);
        (self.max - self.min) / (2.0 * COORDINATE_STEPS) + rounding
    }
}

/// Packs a pose that lies inside the bounds.
pub(super) fn pack(pose: &Pose, bounds: &Bounds) -> [u8; POSE_BYTES] {
    let size = bounds.max - bounds.min;
    let mut bits: u128 = 0;
    for i in (0..3).rev() {
        let part = if size[i] > 0.0 {
            (pose.position[i] - bounds.min[i]) / size[i]
        } else {
            0.0
        };
        // Casting saturates, and takes NaN to zero.
        let steps = (part.clamp(0.0, 1.0) * COORDINATE_STEPS).round() as u32;
        bits = bits << 24 | u128::from(steps);
    }
    let q = pose.rotation.to_array();
    let largest = (0..4).fold(
        0,
        |best, i| if q[i].abs() > q[best].abs() { i } else { best },
    );
    let sign = if q[largest] < 0.0 { -1.0 } else { 1.0 };
    let mut turn: u128 = 0;
    for i in (0..4).rev().filter(|i| *i != largest) {
        let part = (sign * q[i] / COMPONENT_MAX).clamp(-1.0, 1.0) * 0.5 + 0.5;
        turn = turn << COMPONENT_BITS | u128::from((part * COMPONENT_STEPS).round() as u32);
    }
    turn = turn << 2 | largest as u128;
    (turn << 72 | bits).to_le_bytes()
}

/// Unpacks a pose.
pub(super) fn unpack(bytes: [u8; POSE_BYTES], bounds: &Bounds) -> Pose {
    let mut bits = u128::from_le_bytes(bytes);
    let mut take = |n: u32| {
        let value = (bits & ((1 << n) - 1)) as u32;
        bits >>= n;
        f64::from(value)
    };
    let size = bounds.max - bounds.min;
    let mut position = bounds.min;
    for i in 0..3 {
        position[i] += size[i] * (take(24) / COORDINATE_STEPS);
    }
    let largest = take(2) as usize;
    let mut q = [0.0; 4];
    for i in (0..4).filter(|i| *i != largest) {
        q[i] = (take(COMPONENT_BITS) / COMPONENT_STEPS * 2.0 - 1.0) * COMPONENT_MAX;
    }
    let rest = 1.0 - q.iter().map(|x| x * x).sum::<f64>();
    q[largest] = rest.max(0.0).sqrt();
    Pose::new(
        position,
        tippe::math::rotation::normalized(Quat::from_array(q)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn poses_come_back_within_the_stated_error() {
        let mut random = Random::new(3);
        let bounds = Bounds {
            min: Vec3::new(-30.0, 2.0, -1e5),
            max: Vec3::new(20.0, 2.0, 7.0),
        };
        let mut worst = 0.0_f64;
        for i in 0..20_000 {
            let mut rotation = random.rotation();
            if i % 10 == 0 {
                // Near ties of the largest component are the worst case.
                let half = |x: f64| 0.5 + 1e-3 * (x - 0.5);
                rotation = Quat::from_xyzw(
                    half(random.draw()),
                    -half(random.draw()),
                    half(random.draw()),
                    half(random.draw()),
                );
                rotation = tippe::math::rotation::normalized(rotation);
            }
            let pose = Pose::new(random.point(bounds.min, bounds.max), rotation);
            let back = unpack(pack(&pose, &bounds), &bounds);
            let off = (back.position - pose.position).abs();
            assert!(off.cmple(bounds.error()).all(), "{off} {}", bounds.error());
            let between = back.rotation * pose.rotation.conjugate();
            let sine = Vec3::new(between.x, between.y, between.z).length();
            worst = worst.max(2.0 * libm::asin(sine.min(1.0)));
        }
        assert!(worst < ANGLE_ERROR_MAX, "{worst}");
    }

    #[test]
    fn any_bytes_unpack_to_a_finite_pose() {
        let bounds = Bounds::of([Vec3::ZERO, Vec3::ONE].into_iter());
        for byte in 0..=255 {
            assert!(unpack([byte; POSE_BYTES], &bounds).is_finite());
        }
        assert_eq!(Bounds::of(std::iter::empty()).error(), Vec3::ZERO);
    }
}
