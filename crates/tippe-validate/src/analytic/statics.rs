//! What stands, what tips and what jams: overhangs, blocks on slopes, Painlevé's rod.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `cases::{overhang, tipping, painleve}`.
//! Source: elementary statics; \[Painleve1895] (sliding rod), Génot and Brogliato (1999) (its critical friction).

/// Largest overhang of `n` equal bricks of length 1, one on the other: ½ Σ 1/k.
#[must_use]
pub fn overhang(n: u32) -> f64 {
    (1..=n).map(|k| 0.5 / f64::from(k)).sum()
}

/// The slope at which a block of width `w` and height `h` tips instead of standing: tan α = w/h [rad].
#[must_use]
pub fn tipping_angle(w: f64, h: f64) -> f64 {
    libm::atan2(w, h)
}

/// Friction above which a thin uniform rod sliding on its lower end at tilt θ has no consistent contact force.
#[must_use]
pub fn painleve_friction(theta: f64) -> f64 {
    let (s, c) = (libm::sin(theta), libm::cos(theta));
    // The normal response 1/m + r_x²/I − μ |r_x r_z|/I vanishes, with I = m L²/12 and r = L/2 (cos θ, sin θ).
    (1.0 + 3.0 * c * c) / (3.0 * s * c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytic::radians;

    #[test]
    fn overhang_is_the_harmonic_series() {
        assert!((overhang(4) - 1.041_666_7).abs() < 6e-8);
        assert_eq!(overhang(1), 0.5);
    }

    #[test]
    fn tipping_angle_matches_the_table() {
        assert!((tipping_angle(0.1, 0.2) - radians(26.565)).abs() < 1e-5);
    }

    #[test]
    fn painleve_friction_matches_the_table() {
        assert!((painleve_friction(radians(45.0)) - 1.6667).abs() < 5e-5);
        assert!((painleve_friction(radians(60.0)) - 1.3472).abs() < 5e-5);
        assert!((painleve_friction(radians(63.434_948_822_922_01)) - 4.0 / 3.0).abs() < 1e-12);
    }
}
