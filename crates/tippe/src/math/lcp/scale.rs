//! Units in which every row answers a unit force with about one and the largest constant part is about one.
//!
//! Reads: a problem.  Writes: the same problem in those units.
//! Called by: `lcp`, `problem`.
//! Source: diagonal scaling ([Golub13] §3.5). All factors are powers of two, so that no bit is lost either way.
//! Letters: f = β D f′, w′ = D w / β, A′ = D A D, b′ = D b / β; the rows of one cone share their factor, or it would not stay round.

#![allow(non_snake_case)]

use super::problem::{Problem, Row};

/// Greatest power of two to scale by, small enough for products of three.
const EXPONENT_MAX: i32 = 320;

/// Factors of one problem.
pub(super) struct Scale {
    d: Vec<f64>,
    beta: f64,
}

impl Scale {
    pub fn of(problem: &Problem) -> Self {
        let n = problem.len();
        let mut d: Vec<f64> = (0..n)
            .map(|i| {
                let own = problem.at(i, i);
                let size = if own > 0.0 {
                    own
                } else {
                    let row = problem.row(i).iter();
                    row.fold(0.0_f64, |s, a| s.max(a.abs()))
                };
                power_of_two(size, 2)
            })
            .collect();
        for i in 0..n {
            if matches!(problem.rows()[i], Row::Cone { .. }) {
                d[i] = d[i].min(d[i + 1]);
                d[i + 1] = d[i];
            }
        }
        let largest = d.iter().zip(problem.b());
        let largest = largest.fold(0.0_f64, |s, (d, b)| s.max((d * b).abs()));
        Self {
            d,
            beta: 1.0 / power_of_two(largest, 1),
        }
    }

    /// The problem in these units; `None` if a number does not fit into them.
    pub fn apply(&self, problem: &Problem) -> Option<Problem> {
        let (n, d, beta) = (problem.len(), &self.d, self.beta);
        let mut A = Vec::with_capacity(n * n);
        for i in 0..n {
            A.extend(problem.row(i).iter().zip(d).map(|(a, dj)| d[i] * a * dj));
        }
        let b: Vec<f64> = problem
            .b()
            .iter()
            .zip(d)
            .map(|(b, d)| d * b / beta)
            .collect();
        let rows: Vec<Row> = (0..n)
            .map(|i| match problem.rows()[i] {
                Row::Box { low, high } => Row::Box {
                    low: low / (beta * d[i]),
                    high: high / (beta * d[i]),
                },
                Row::Planar {
                    normal,
                    coefficient,
                } => Row::Planar {
                    normal,
                    coefficient: coefficient * d[normal] / d[i],
                },
                Row::Sliding { normal, ratio } => Row::Sliding {
                    normal,
                    ratio: ratio * d[normal] / d[i],
                },
                Row::Cone {
                    normal,
                    coefficient,
                } => Row::Cone {
                    normal,
                    coefficient: coefficient * d[normal] / d[i],
                },
                other => other,
            })
            .collect();
        let finite = A.iter().chain(&b).all(|x| x.is_finite());
        finite.then(|| Problem::from_parts(A, b, rows, problem.symmetric()))
    }

    /// f in these units.
    pub fn down(&self, f: &[f64]) -> Vec<f64> {
        f.iter()
            .zip(&self.d)
            .map(|(f, d)| f / d / self.beta)
            .collect()
    }

    /// f in the units of the problem.
    pub fn up(&self, f: &[f64]) -> Vec<f64> {
        f.iter()
            .zip(&self.d)
            .map(|(f, d)| f * d * self.beta)
            .collect()
    }

    /// A direction in the units of the problem; its length is free, so the largest entry becomes one.
    pub fn direction_up(&self, v: &[f64]) -> Vec<f64> {
        let v: Vec<f64> = v.iter().zip(&self.d).map(|(v, d)| v * d).collect();
        let largest = v.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        let largest = if largest > 0.0 { largest } else { 1.0 };
        v.iter().map(|x| x / largest).collect()
    }
}

/// About size^(−1/root), one for zero.
fn power_of_two(size: f64, root: i32) -> f64 {
    if size > 0.0 && size.is_finite() {
        // Rounded down, so that problems in other units by powers of two become the same numbers.
        let exponent = -libm::ilogb(size).div_euclid(root);
        libm::scalbn(1.0, exponent.clamp(-EXPONENT_MAX, EXPONENT_MAX))
    } else {
        1.0
    }
}
