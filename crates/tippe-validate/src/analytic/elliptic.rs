//! Elliptic integrals and Jacobi's elliptic functions, for pendulum and free top.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `analytic::spinning`.
//! Source: Abramowitz and Stegun §16.4, §17.6 (arithmetic-geometric mean), Carlson's duplication (1979). m = k² is the parameter.

use std::f64::consts::{FRAC_PI_2, PI};

/// Most halvings of the arithmetic-geometric mean: it converges quadratically, six reach rounding.
const MEAN_STEPS: usize = 12;

/// Complete elliptic integral of the first kind, K(m), for m < 1.
#[must_use]
pub fn complete_first(m: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - m).sqrt());
    for _ in 0..MEAN_STEPS {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    PI / (2.0 * a)
}

/// Incomplete elliptic integral of the first kind, F(φ, m), for |φ| ≤ π.
#[must_use]
pub fn incomplete_first(phi: f64, m: f64) -> f64 {
    if phi.abs() > FRAC_PI_2 {
        // F(π − φ) = 2K − F(φ)
        let sign = phi.signum();
        return sign * (2.0 * complete_first(m) - incomplete_first(PI - phi.abs(), m));
    }
    let (s, c) = (libm::sin(phi), libm::cos(phi));
    s * carlson_first(c * c, 1.0 - m * s * s, 1.0)
}

/// Carlson's symmetric integral R_F(x, y, z).
fn carlson_first(x: f64, y: f64, z: f64) -> f64 {
    let (mut x, mut y, mut z) = (x, y, z);
    // Each duplication divides the spread by four; thirty reach rounding from anywhere.
    for _ in 0..30 {
        let lambda = (x * y).sqrt() + (y * z).sqrt() + (z * x).sqrt();
        (x, y, z) = (
            0.25 * (x + lambda),
            0.25 * (y + lambda),
            0.25 * (z + lambda),
        );
    }
    1.0 / ((x + y + z) / 3.0).sqrt()
}

/// Jacobi's sn(u, m), cn(u, m), dn(u, m) for 0 ≤ m < 1.
#[must_use]
pub fn jacobi(u: f64, m: f64) -> (f64, f64, f64) {
    // Abramowitz and Stegun §16.4: the mean downwards, then the amplitude back up: sin(2φₙ₋₁ − φₙ) = (cₙ/aₙ) sin φₙ.
    let (mut a, mut b) = (1.0, (1.0 - m).sqrt());
    let mut ratios = [0.0; MEAN_STEPS];
    for ratio in &mut ratios {
        let c = 0.5 * (a - b);
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        *ratio = c / a;
    }
    let mut phi = a * u * f64::from(1u32 << MEAN_STEPS);
    for ratio in ratios.iter().rev() {
        phi = 0.5 * (phi + libm::asin(ratio * libm::sin(phi)));
    }
    let (s, c) = (libm::sin(phi), libm::cos(phi));
    (s, c, (1.0 - m * s * s).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_integral_at_known_points() {
        assert!((complete_first(0.0) - FRAC_PI_2).abs() < 1e-15);
        // K(1/2) = Γ(1/4)² / (4 √π)
        assert!((complete_first(0.5) - 1.854_074_677_301_372).abs() < 1e-14);
    }

    #[test]
    fn jacobi_inverts_the_incomplete_integral() {
        for m in [0.0, 0.3, 0.9, 0.999] {
            for phi in [-1.2, -0.1, 0.0, 0.4, 1.5, 2.5] {
                let u = incomplete_first(phi, m);
                let (s, c, d) = jacobi(u, m);
                assert!((s - libm::sin(phi)).abs() < 1e-12, "m {m} φ {phi}: {s}");
                assert!((c - libm::cos(phi)).abs() < 1e-12, "m {m} φ {phi}: {c}");
                assert!((d * d + m * s * s - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn jacobi_has_the_quarter_period_k() {
        let (s, c, d) = jacobi(complete_first(0.7), 0.7);
        assert!((s - 1.0).abs() < 1e-14 && c.abs() < 1e-13 && (d - 0.3f64.sqrt()).abs() < 1e-13);
    }
}
