//! What follows when slip has stopped: sticking, or the one direction in which it sets in again.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `collision`, tests.
//! Source: [Mirtich94] §4.4 eq. 10. That there is exactly one outgoing ray where the cone does not hold is conjectured
//! there and shown in docs/methods/impact-law.md.
//! Letters: T the tangential 2×2 block of K, k its tangential column (K_xz, K_yz), μ friction, e the ray, λ the growth of slip along it.

#![allow(non_snake_case)]

use crate::math::glam::{DMat2, DVec2};

/// How a contact goes on from zero slip, per unit of normal impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AfterStop {
    /// The tangential impulse −T⁻¹ k holds the point, inside the static cone.
    Sticks {
        /// Tangential impulse per normal impulse [1].
        ratio: DVec2,
    },
    /// Slip grows along a straight ray, against the kinetic friction.
    Slides {
        /// Unit vector of the slip.
        direction: DVec2,
        /// Growth λ of the slip speed per normal impulse [1/kg].
        rate: f64,
    },
}

/// Share of the larger response below which a direction counts as immovable [1].
const STOP_SINGULAR: f64 = 1e-12;
/// Coupling into an immovable direction that is rounding, as a share of the larger response [1].
const NOISE: f64 = 1e-14;
/// Relative excess over the cone that is rounding [1].
const CONE_ROUNDING: f64 = 1e-14;
/// Newton steps for λ; the function is nearly straight, five are usual.
const STEPS_MAX: u32 = 60;

/// Sticking if the static cone holds the point, else the outgoing ray.
///
/// `T` is the tangential block of K and `k` its column (K_xz, K_yz) [1/kg].
#[must_use]
pub fn after_stop(T: DMat2, k: DVec2, friction_static: f64, friction_kinetic: f64) -> AfterStop {
    let (kappa, axes) = eigen(T);
    let c = [axes.x_axis.dot(k), axes.y_axis.dot(k)];
    let size = kappa[0].abs().max(kappa[1].abs()).max(k.length());
    // T⁻¹ k by eigenvectors; K is not negative, so that k has no part in a direction that T cannot move.
    let held: [f64; 2] = std::array::from_fn(|i| {
        if kappa[i] <= STOP_SINGULAR * size && c[i].abs() <= NOISE * size {
            0.0
        } else {
            c[i] / kappa[i].max(f64::MIN_POSITIVE.max(1e-16 * size))
        }
    });
    let needed = DVec2::from(held).length();
    if needed <= friction_static * (1.0 + CONE_ROUNDING) {
        return AfterStop::Sticks {
            ratio: -(axes * DVec2::from(held)),
        };
    }
    let lambda = growth(kappa, c, friction_kinetic);
    let e = DVec2::from(std::array::from_fn(|i| {
        c[i] / (friction_kinetic * kappa[i].max(0.0) + lambda)
    }));
    let e = axes * (e / e.length());
    AfterStop::Slides {
        direction: e,
        // g(e) = e·(k − μ T e)
        rate: e.dot(k - friction_kinetic * (T * e)),
    }
}

/// The root λ > 0 of ‖(μT + λ)⁻¹ k‖ = 1, by Newton on 1/‖·‖, which is concave: from the left it never oversteps.
fn growth(kappa: [f64; 2], c: [f64; 2], mu: f64) -> f64 {
    let m = kappa.map(|x| mu * x.max(0.0));
    let mut lambda = (c[0].abs() - m[0]).max(c[1].abs() - m[1]).max(0.0);
    for _ in 0..STEPS_MAX {
        // f = Σ (c/(m+λ))², f′ = −2 Σ c²/(m+λ)³
        let (mut f, mut slope) = (0.0, 0.0);
        for i in 0..2 {
            if c[i] != 0.0 {
                let x = c[i] / (m[i] + lambda);
                f += x * x;
                slope += x * x / (m[i] + lambda);
            }
        }
        // Newton for 1/√f = 1: λ += (√f − 1) f / (½ |f′|)
        let step = (f.sqrt() - 1.0) * f / slope;
        if step.is_nan() || step.abs() <= 1e-16 * lambda {
            break;
        }
        lambda += step;
    }
    lambda
}

/// Eigenvalues and unit eigenvectors (as columns) of a symmetric 2×2 matrix, in closed form.
fn eigen(T: DMat2) -> ([f64; 2], DMat2) {
    let (a, b, d) = (T.x_axis.x, 0.5 * (T.x_axis.y + T.y_axis.x), T.y_axis.y);
    let half = 0.5 * (a - d);
    let root = libm::hypot(half, b);
    if root == 0.0 {
        return ([a, d], DMat2::IDENTITY);
    }
    // The longer of two forms of the first eigenvector.
    let v = if half >= 0.0 {
        DVec2::new(half + root, b)
    } else {
        DVec2::new(b, root - half)
    };
    let v = v / v.length();
    let mean = 0.5 * (a + d);
    let large = mean + root;
    // The smaller one without cancellation: the determinant over the larger.
    let small = if large > 0.0 {
        (a * d - b * b) / large
    } else {
        mean - root
    };
    ([large, small], DMat2::from_cols(v, v.perp()))
}
