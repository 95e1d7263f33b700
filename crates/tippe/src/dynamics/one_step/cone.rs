//! The friction cone K = {|r_T| ≤ μ r_N}: the nearest point of it, and how that point moves.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `one_step`, `one_step::sweep`, `one_step::newton`.
//! Source: \[Acary08] ch. 13; normal first, then the two tangents.

use crate::math::{Mat3, Vec3};

/// Length of the tangential part.
pub(super) fn tangential(v: Vec3) -> f64 {
    (v.y * v.y + v.z * v.z).sqrt()
}

/// u + μ |u_T| n: the velocity that is dual to the impulse (De Saxcé).
pub(super) fn lifted(u: Vec3, mu: f64) -> Vec3 {
    Vec3::new(u.x + mu * tangential(u), u.y, u.z)
}

/// Derivative of `lifted`; where there is no slip, one of its generalised derivatives.
pub(super) fn lifted_derivative(u: Vec3, mu: f64) -> Mat3 {
    let t = tangential(u);
    let (y, z) = if t > 0.0 {
        (mu * u.y / t, mu * u.z / t)
    } else {
        (0.0, 0.0)
    };
    Mat3::from_cols(Vec3::X, Vec3::new(y, 1.0, 0.0), Vec3::new(z, 0.0, 1.0))
}

/// The point of the cone nearest to `x`.
pub(super) fn nearest(x: Vec3, mu: f64) -> Vec3 {
    let t = tangential(x);
    if t <= mu * x.x && x.x >= 0.0 {
        x
    } else if mu * t <= -x.x {
        Vec3::ZERO
    } else {
        let a = (x.x + mu * t) / (1.0 + mu * mu);
        Vec3::new(a, mu * a * x.y / t, mu * a * x.z / t)
    }
}

/// Derivative of `nearest`.
pub(super) fn nearest_derivative(x: Vec3, mu: f64) -> Mat3 {
    if mu == 0.0 {
        let along = f64::from(u8::from(x.x > 0.0));
        return Mat3::from_diagonal(Vec3::X * along);
    }
    let t = tangential(x);
    if t <= mu * x.x {
        return Mat3::IDENTITY;
    }
    if mu * t <= -x.x {
        return Mat3::ZERO;
    }
    let share = 1.0 / (1.0 + mu * mu);
    let a = (x.x + mu * t) * share;
    let (ey, ez) = (x.y / t, x.z / t);
    // Along the slip direction e the point stays on the side of the cone; across it the circle turns.
    let (along, across) = (mu * mu * share, mu * a / t);
    let mixed = (along - across) * ey * ez;
    Mat3::from_cols(
        Vec3::new(share, mu * share * ey, mu * share * ez),
        Vec3::new(mu * share * ey, along * ey * ey + across * ez * ez, mixed),
        Vec3::new(mu * share * ez, mixed, along * ez * ez + across * ey * ey),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_differences() {
        let h = 1e-6;
        for (mu, x) in [
            (0.3, Vec3::new(0.2, 1.0, -2.0)),
            (0.8, Vec3::new(-0.1, 0.4, 0.3)),
            (0.5, Vec3::new(2.0, 0.1, 0.2)),
            (0.5, Vec3::new(-2.0, 0.1, 0.2)),
        ] {
            let (near, lift) = (nearest_derivative(x, mu), lifted_derivative(x, mu));
            for (axis, j) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().zip(0..) {
                let d = (nearest(x + h * axis, mu) - nearest(x - h * axis, mu)) / (2.0 * h);
                assert!((d - near.col(j)).length() < 1e-9, "{mu} {x}: {d}");
                let d = (lifted(x + h * axis, mu) - lifted(x - h * axis, mu)) / (2.0 * h);
                assert!((d - lift.col(j)).length() < 1e-9, "{mu} {x}: {d}");
            }
        }
    }

    #[test]
    fn nearest_points_are_in_the_cone_and_at_right_angles() {
        for (mu, x) in [
            (0.3, Vec3::new(0.2, 1.0, -2.0)),
            (0.0, Vec3::new(0.4, 1.0, 0.0)),
            (0.0, Vec3::new(-0.4, 0.0, 0.0)),
            (0.9, Vec3::new(-0.3, 1.0, 0.5)),
        ] {
            let p = nearest(x, mu);
            assert!(tangential(p) <= mu * p.x * (1.0 + 1e-14) && p.x >= 0.0);
            assert!(p.dot(x - p).abs() < 1e-14);
        }
    }
}
