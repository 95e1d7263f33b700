//! Micro-collisions: contacts that rest or roll by many tiny impacts, when no pair is promoted.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `method::events::cluster`.
//! Source: [Mirtich94] §4.5, with the rule clipped to the friction cone where that fails (docs/methods/events.md, "Micro-collisions").
//! Letters: K with Δu = K P, n normal from A to B, u = u_B − u_A, P impulse on B.

#![allow(non_snake_case)]

use crate::math::{Mat3, Vec3};

/// The impulse that reverses `u`, `P = −2 K⁻¹ u`, which does no work; clipped to the cone of `friction` where it lies outside. A rebound slower than
/// `floor` [m/s] is raised to it. `None` where the law of impacts has to answer.
pub(super) fn reversal(K: Mat3, n: Vec3, u: Vec3, friction: f64, floor: f64) -> Option<Vec3> {
    let size = K
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |s, x| s.max(x.abs()));
    if K.determinant() <= 1e-12 * size * size * size {
        return None;
    }
    let u_n = u.dot(n);
    let mut P = K.inverse() * (u * -2.0);
    let p_n = P.dot(n);
    let along = P - n * p_n;
    let tangential = along.length();
    if p_n <= 0.0 || tangential > friction * p_n {
        // Clipped reversal: on the cone, along the friction that would reverse, with the normal velocity reversed.
        let d = along / tangential;
        let ray = n + d * friction;
        let gain = n.dot(K * ray);
        if gain <= 0.0 {
            return None;
        }
        P = ray * (-2.0 * u_n / gain);
        // P·u + ½ P·K P must not be above zero.
        let (work, square) = (P.dot(u), P.dot(K * P));
        if work + 0.5 * square > 0.0 && square > 0.0 {
            P *= (-2.0 * work / square).max(0.0);
        }
    }
    let rebound = u_n + n.dot(K * P);
    if rebound < floor {
        let gain = n.dot(K * P);
        if gain > 0.0 {
            P *= (floor - u_n) / gain;
        }
    }
    Some(P)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mc_19_a_slow_contact_within_its_cone_is_reversed_without_work() {
        let K = Mat3::from_diagonal(Vec3::new(3.5, 3.5, 1.0));
        let u = Vec3::new(1e-3, 0.0, -2e-3);
        let P = reversal(K, Vec3::Z, u, 0.5, 0.0).unwrap();
        assert!((u + K * P + u).length() < 1e-15);
        // Too steep for the cone: clipped, the normal velocity reversed, friction at its bound and no energy made.
        let steep = Vec3::new(1e-2, 0.0, -1e-3);
        let P = reversal(K, Vec3::Z, steep, 0.1, 0.0).unwrap();
        assert!((P.x.abs() - 0.1 * P.z).abs() < 1e-15);
        assert!(P.dot(steep) + 0.5 * P.dot(K * P) <= 0.0);
    }
}
