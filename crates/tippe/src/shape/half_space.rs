//! A half-space, everything at or below a plane through the origin: checks and bounds. It has no mass.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`.
//! Source: closed forms.

use super::Aabb;
use crate::error::BuildError;
use crate::math::{Pose, Vec3};

/// Largest deviation of the normal's length from one [1].
const UNIT_TOLERANCE: f64 = 1e-9;

pub(super) fn check(normal: Vec3) -> Result<(), BuildError> {
    let length = normal.length();
    if (length - 1.0).abs() <= UNIT_TOLERANCE {
        Ok(())
    } else {
        Err(BuildError::new(
            "normal",
            format!("must be a unit vector, its length is {length}"),
        ))
    }
}

/// Everything, except that a normal exactly along an axis bounds its own side.
pub(super) fn bounds(normal: Vec3, pose: &Pose) -> Aabb {
    let n = pose.vector(normal);
    let mut b = Aabb::EVERYTHING;
    for k in 0..3 {
        if n[(k + 1) % 3] == 0.0 && n[(k + 2) % 3] == 0.0 {
            if n[k] > 0.0 {
                b.max[k] = pose.position[k];
            } else if n[k] < 0.0 {
                b.min[k] = pose.position[k];
            }
        }
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    #[test]
    fn floor_is_tight_and_slope_is_not() {
        let at = Vec3::new(1.0, 2.0, 3.0);
        let b = bounds(Vec3::Z, &Pose::from_position(at));
        assert_eq!(
            (b.max.z, b.min.z, b.max.x),
            (3.0, f64::NEG_INFINITY, f64::INFINITY)
        );
        let b = bounds(-Vec3::X, &Pose::from_position(at));
        assert_eq!(
            (b.min.x, b.max.x, b.min.z),
            (1.0, f64::INFINITY, f64::NEG_INFINITY)
        );
        let q = Quat::from_xyzw(0.1, 0.0, 0.0, 1.0).normalize();
        assert_eq!(bounds(Vec3::Z, &Pose::new(at, q)), Aabb::EVERYTHING);
        assert!(
            check(Vec3::splat(1.0)).is_err() && check(Vec3::NAN).is_err() && check(Vec3::Y).is_ok()
        );
    }
}
