//! Gliders on an air track with springs between them: eigenfrequencies, dispersion, and chains without it.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: users, `tippe lab`.
//! Source: [Lecture] "Analyzing Newton's Cradle". A free chain moves by ω² M x = K x. Its pulse keeps its shape if ω_k = k ω_1: then after half
//! a period of the lowest mode everything is mirrored. The mirror-symmetric chain with such frequencies is unique, and found from its spectrum by
//! Lanczos' recursion with the weights 1/|Π(λ_k − λ_j)| of symmetric Jacobi matrices ([deBoor78]).

#![allow(non_snake_case)]

use super::balls::Chain;
use crate::compliance::ContactLaw;
use crate::error::BuildError;

/// Masses and springs of a chain of gliders.
#[derive(Clone, Debug, PartialEq)]
pub struct Gliders {
    /// Mass of each glider [kg].
    pub masses: Vec<f64>,
    /// Stiffness of each spring, one less than gliders [N/m].
    pub springs: Vec<f64>,
}

/// Most gliders of a chain without dispersion: beyond, the weights of its spectrum are lost in rounding.
pub const GLIDERS_MAX: usize = 30;
/// Most sweeps of the eigenvalue iteration.
const SWEEPS_MAX: usize = 60;

impl Gliders {
    /// Equal gliders and springs.
    #[must_use]
    pub fn uniform(count: usize, mass: f64, spring: f64) -> Self {
        Self {
            masses: vec![mass; count],
            springs: vec![spring; count.saturating_sub(1)],
        }
    }

    /// The mirror-symmetric chain without dispersion, with first mass and first spring 1.
    ///
    /// # Errors
    /// Fewer than two gliders, or more than [`GLIDERS_MAX`].
    pub fn without_dispersion(count: usize) -> Result<Self, BuildError> {
        if !(2..=GLIDERS_MAX).contains(&count) {
            let reason = format!("must be between 2 and {GLIDERS_MAX}, got {count}");
            return Err(BuildError::new("count", reason));
        }
        let (a, b) = jacobi(count);
        // The free motion has frequency 0: J p = 0 with p_i = √m_i, which gives the masses row by row.
        let mut p = vec![1.0; count];
        p[1] = a[0] / b[0];
        for i in 1..count - 1 {
            p[i + 1] = (a[i] * p[i] - b[i - 1] * p[i - 1]) / b[i];
        }
        let masses: Vec<f64> = p.iter().map(|p| p * p).collect();
        let first = b[0] * p[0] * p[1];
        let springs = (0..count - 1).map(|i| b[i] * p[i] * p[i + 1] / first);
        Ok(Self {
            springs: springs.collect(),
            masses,
        })
    }

    /// The same gliders with springs that push and do not pull.
    #[must_use]
    pub fn bumpers(&self) -> Chain {
        let law = |c: &f64| ContactLaw {
            stiffness: *c,
            exponent: 1.0,
        };
        Chain {
            masses: self.masses.clone(),
            laws: self.springs.iter().map(law).collect(),
        }
    }

    /// Eigenfrequencies, the free motion first [rad/s].
    ///
    /// # Errors
    /// Masses and springs that are not positive and finite, or do not fit each other.
    pub fn frequencies(&self) -> Result<Vec<f64>, BuildError> {
        self.bumpers().check()?;
        let n = self.masses.len();
        let mut A = vec![0.0; n * n];
        for (i, c) in self.springs.iter().enumerate() {
            for (j, k, sign) in [
                (i, i, 1.0),
                (i + 1, i + 1, 1.0),
                (i, i + 1, -1.0),
                (i + 1, i, -1.0),
            ] {
                A[j * n + k] += sign * c / (self.masses[j] * self.masses[k]).sqrt();
            }
        }
        let mut squares = eigenvalues(&mut A, n);
        squares.sort_unstable_by(f64::total_cmp);
        Ok(squares.into_iter().map(|x| x.max(0.0).sqrt()).collect())
    }
}

/// ω_k = 2 √(C/m) sin(k π/2N) of a free uniform chain, k = 0 … N − 1 [rad/s].
#[must_use]
pub fn uniform_frequencies(count: usize, mass: f64, spring: f64) -> Vec<f64> {
    let one = |k: usize| {
        let turn = k as f64 * std::f64::consts::PI / (2.0 * count as f64);
        2.0 * (spring / mass).sqrt() * libm::sin(turn)
    };
    (0..count).map(one).collect()
}

/// Diagonal, and minus the off-diagonal, of the mirror-symmetric Jacobi matrix with eigenvalues 0, 1, 4, 9 …
fn jacobi(count: usize) -> (Vec<f64>, Vec<f64>) {
    let spectrum: Vec<f64> = (0..count).map(|k| (k * k) as f64).collect();
    let weight = |k: usize| {
        let others = (0..count).filter(|j| *j != k);
        1.0 / others
            .map(|j| (spectrum[k] - spectrum[j]).abs())
            .product::<f64>()
    };
    let mut q: Vec<f64> = (0..count).map(|k| weight(k).sqrt()).collect();
    let scale = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.iter_mut().for_each(|x| *x /= scale);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for i in 0..count {
        let mut r: Vec<f64> = q.iter().zip(&spectrum).map(|(q, l)| q * l).collect();
        a.push(r.iter().zip(&q).map(|(x, y)| x * y).sum::<f64>());
        basis.push(q.clone());
        // Against rounding, orthogonal to all vectors so far, twice.
        for _ in 0..2 {
            for v in &basis {
                let along: f64 = r.iter().zip(v).map(|(x, y)| x * y).sum();
                r.iter_mut().zip(v).for_each(|(x, y)| *x -= along * y);
            }
        }
        if i + 1 < count {
            let length = r.iter().map(|x| x * x).sum::<f64>().sqrt();
            b.push(length);
            q = r.iter().map(|x| x / length).collect();
        }
    }
    (a, b)
}

/// Eigenvalues of a symmetric matrix by Jacobi's rotations, which leave them on its diagonal.
fn eigenvalues(A: &mut [f64], n: usize) -> Vec<f64> {
    for _ in 0..SWEEPS_MAX {
        let mut off = 0.0;
        for p in 0..n {
            for q in p + 1..n {
                let x = A[p * n + q];
                off += x * x;
                if x != 0.0 {
                    rotate(A, n, p, q);
                }
            }
        }
        if off == 0.0 {
            break;
        }
    }
    (0..n).map(|i| A[i * n + i]).collect()
}

/// One rotation that makes the entry (p, q) zero.
fn rotate(A: &mut [f64], n: usize, p: usize, q: usize) {
    let theta = (A[q * n + q] - A[p * n + p]) / (2.0 * A[p * n + q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (A[k * n + p], A[k * n + q]);
        A[k * n + p] = c * x - s * y;
        A[k * n + q] = s * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (A[p * n + k], A[q * n + k]);
        A[p * n + k] = c * x - s * y;
        A[q * n + k] = s * x + c * y;
    }
    (A[p * n + q], A[q * n + p]) = (0.0, 0.0);
}
