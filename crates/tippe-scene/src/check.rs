//! Checks of single numbers, each with the same words everywhere.
//!
//! Reads: values of the format.  Writes: `Problems`.
//! Called by: `build`, `body`, `generate`.
//! Source: the limits keep squares and products of scene values far from the ends of double precision.

use crate::diagnostics::{At, Problems};
use tippe::{Quat, Vec3};

/// Largest coordinate, size, speed or acceleration of a scene [SI].
pub(crate) const LARGE: f64 = 1e9;
/// Largest mass, density or inertia of a scene [SI].
pub(crate) const HEAVY: f64 = 1e18;
/// Smallest mass, density or inertia of a scene [SI].
pub(crate) const LIGHT: f64 = 1e-18;
/// Smallest size of a shape [m].
pub(crate) const SMALL: f64 = 1e-9;

/// A quaternion whose squared length is this near one is not touched, so that writing and reading it keeps its bits.
const UNIT_EXACT: f64 = 4e-15;
/// A quaternion farther than this from length one was not meant as a rotation.
const UNIT_TOLERANCE: f64 = 1e-3;

/// A number above zero and at most `limit`.
pub(crate) fn positive(
    value: f64,
    limit: f64,
    help: &str,
    at: &At,
    problems: &mut Problems,
) -> bool {
    if value <= 0.0 {
        problems.error(at, format!("must be positive, got {value}"), help);
    } else if value > limit {
        problems.error(at, format!("too large: {value:e}; limit {limit:e}"), help);
    }
    value > 0.0 && value <= limit
}

/// A mass or a density: from [`LIGHT`] to [`HEAVY`].
pub(crate) fn weight(value: f64, help: &str, at: &At, problems: &mut Problems) {
    if positive(value, HEAVY, help, at, problems) && value < LIGHT {
        problems.error(at, format!("too small: {value:e}; limit {LIGHT:e}"), help);
    }
}

/// A number from zero to `limit`.
pub(crate) fn not_negative(
    value: f64,
    limit: f64,
    help: &str,
    at: &At,
    problems: &mut Problems,
) -> bool {
    if value < 0.0 {
        problems.error(at, format!("must not be negative, got {value}"), help);
    } else if value > limit {
        problems.error(at, format!("too large: {value:e}; limit {limit:e}"), help);
    }
    (0.0..=limit).contains(&value)
}

/// A number between two others.
pub(crate) fn between(
    value: f64,
    low: f64,
    high: f64,
    help: &str,
    at: &At,
    problems: &mut Problems,
) {
    if !(low..=high).contains(&value) {
        problems.error(
            at,
            format!("must be between {low} and {high}, got {value}"),
            help,
        );
    }
}

/// A vector with no coordinate beyond [`LARGE`].
pub(crate) fn vector(v: [f64; 3], at: &At, problems: &mut Problems) -> Vec3 {
    for (i, x) in v.iter().enumerate() {
        if x.abs() > LARGE {
            problems.error(
                &at.index(i),
                format!("too large: {x:e}; limit {LARGE:e}"),
                "all values are in SI units: metres, seconds, kilograms",
            );
        }
    }
    Vec3::from_array(v)
}

/// The unit vector along a direction; z for a direction that is none, which is reported.
pub(crate) fn direction(v: [f64; 3], at: &At, problems: &mut Problems) -> Vec3 {
    let d = vector(v, at, problems);
    let length_squared = d.length_squared();
    if (length_squared - 1.0).abs() <= UNIT_EXACT {
        return d;
    }
    if length_squared < SMALL * SMALL {
        problems.error(
            at,
            "must not be zero: it is a direction",
            "write a direction, such as [0, 0, 1]",
        );
        return Vec3::Z;
    }
    d / length_squared.sqrt()
}

/// A rotation from a quaternion w, x, y, z that is nearly a unit one.
pub(crate) fn quaternion(q: [f64; 4], at: &At, problems: &mut Problems) -> Quat {
    let [w, x, y, z] = q;
    let quat = Quat::from_xyzw(x, y, z, w);
    let length_squared = w * w + x * x + y * y + z * z;
    if (length_squared - 1.0).abs() <= UNIT_EXACT {
        return quat;
    }
    let length = length_squared.sqrt();
    let near = (length - 1.0).abs() <= UNIT_TOLERANCE;
    if !near {
        let help = "write w, x, y, z with w² + x² + y² + z² = 1, or rotation_deg = { axis = [0, 0, 1], angle = 90 }";
        problems.error(
            at,
            format!("must be a unit quaternion, its length is {length}"),
            help,
        );
        return Quat::IDENTITY;
    }
    quat * (1.0 / length)
}

/// The rotation by an angle [degrees] about an axis.
pub(crate) fn axis_angle(axis: [f64; 3], degrees: f64, at: &At, problems: &mut Problems) -> Quat {
    let axis = direction(axis, &at.key("axis"), problems);
    if degrees.abs() > 1e6 {
        problems.error(
            &at.key("angle"),
            format!("too large: {degrees:e}"),
            "write an angle between -360 and 360 degrees",
        );
    }
    let half = degrees.to_radians() / 2.0;
    let s = libm::sin(half);
    let q = Quat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, libm::cos(half));
    q * (1.0 / q.length_squared().sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_keep_their_bits_when_written_and_read() {
        let mut problems = Problems::default();
        let at = At::root(0);
        for angle in [0.0, 15.0, 45.0, 90.0, 123.456, -77.7, 359.0] {
            let q = axis_angle([1.0, 2.0, 3.0], angle, &at, &mut problems);
            assert_eq!(quaternion([q.w, q.x, q.y, q.z], &at, &mut problems), q);
        }
        let rounded = quaternion([0.965_925_826, 0.0, 0.258_819_045, 0.0], &at, &mut problems);
        assert!((rounded.length_squared() - 1.0).abs() < 1e-15);
        assert!(problems.is_empty());
    }
}
