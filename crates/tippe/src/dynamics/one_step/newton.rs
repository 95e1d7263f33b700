//! Newton's method on the natural map of a one-step problem: quadratic at the end, where sweeps crawl.
//!
//! Reads: the problem.  Writes: impulses.
//! Called by: `one_step::solve`.
//! Source: \[AlartCurnier91] for the nonsmooth equations; \[Acary08] ch. 13.
//! Letters: F_i = r_i − P_K(r_i − ρ_i lifted(u_i)), zero exactly where r solves the problem, whatever ρ_i > 0.

use super::ContactProblem;
use super::cone::{lifted, lifted_derivative, nearest, nearest_derivative};
use crate::math::lu::Lu;
use crate::math::{Mat3, Vec3};

/// Halvings of a step that does not lower the residual.
const HALVINGS: u32 = 12;

/// How a Newton run ended.
pub(super) struct Ended {
    /// Root of the sum of |F_i/ρ_i|² [m/s].
    pub residual: f64,
    /// Steps taken, each with one factorisation.
    pub steps: u32,
}

/// Improves `r` until the residual is below `tolerance` [m/s], for at most `steps` steps. Leaves the best it saw.
pub(super) fn newton(
    problem: &ContactProblem,
    stiffening: f64,
    pull: &[Vec3],
    tolerance: f64,
    steps: u32,
    r: &mut Vec<Vec3>,
) -> Ended {
    let n = r.len();
    let rho: Vec<f64> = (0..n)
        .map(|i| {
            let own = problem.diagonal(i);
            let trace = own.col(0).x + own.col(1).y + own.col(2).z + 3.0 * stiffening;
            if trace > 0.0 { 3.0 / trace } else { 1.0 }
        })
        .collect();
    let system = System {
        problem,
        stiffening,
        pull,
        rho: &rho,
    };
    let mut x = r.clone();
    let mut residual = system.residual(&x);
    let mut best = residual;
    let mut taken = 0;
    while taken < steps && best > tolerance {
        taken += 1;
        let Some(step) = system.step(&x) else { break };
        let mut length = 1.0;
        let mut trial = x.clone();
        let mut found = residual;
        for _ in 0..HALVINGS {
            for i in 0..n {
                trial[i] = x[i] + length * step[i];
            }
            found = system.residual(&trial);
            if found < (1.0 - 1e-4 * length) * residual {
                break;
            }
            length *= 0.5;
        }
        // A step that helps at no length is taken short all the same: the equations have kinks.
        if !found.is_finite() {
            break;
        }
        std::mem::swap(&mut x, &mut trial);
        residual = found;
        if residual < best {
            best = residual;
            r.clone_from(&x);
        }
    }
    Ended {
        residual: best,
        steps: taken,
    }
}

/// The equations F = 0.
struct System<'a> {
    problem: &'a ContactProblem,
    stiffening: f64,
    pull: &'a [Vec3],
    rho: &'a [f64],
}

impl System<'_> {
    fn velocity(&self, i: usize, r: &[Vec3]) -> Vec3 {
        self.problem.velocity_at(i, r) + self.pull[i] + self.stiffening * r[i]
    }

    fn equation(&self, i: usize, r: &[Vec3]) -> Vec3 {
        let mu = self.problem.friction[i];
        let u = lifted(self.velocity(i, r), mu);
        r[i] - nearest(r[i] - self.rho[i] * u, mu)
    }

    fn residual(&self, r: &[Vec3]) -> f64 {
        let square = |i| (self.equation(i, r) / self.rho[i]).length_squared();
        (0..r.len()).map(square).sum::<f64>().sqrt()
    }

    /// The full Newton step, unless the matrix is singular.
    fn step(&self, r: &[Vec3]) -> Option<Vec<Vec3>> {
        let n = r.len();
        let width = 3 * n;
        let mut matrix = vec![0.0; width * width];
        let mut right = vec![0.0; width];
        let mut add = |i: usize, j: usize, block: Mat3| {
            for row in 0..3 {
                for column in 0..3 {
                    matrix[(3 * i + row) * width + 3 * j + column] += block.col(column)[row];
                }
            }
        };
        for i in 0..n {
            let mu = self.problem.friction[i];
            let u = self.velocity(i, r);
            let x = r[i] - self.rho[i] * lifted(u, mu);
            let p = nearest_derivative(x, mu);
            let b = self.rho[i] * (p * lifted_derivative(u, mu));
            add(i, i, Mat3::IDENTITY - p + self.stiffening * b);
            for (j, w) in self.problem.row(i) {
                add(i, j, b * w);
            }
            right[3 * i..3 * i + 3].copy_from_slice(&(nearest(x, mu) - r[i]).to_array());
        }
        Lu::factor(width, matrix)?.solve(&mut right);
        let step: Vec<Vec3> = right.chunks_exact(3).map(Vec3::from_slice).collect();
        step.iter().all(|d| d.is_finite()).then_some(step)
    }
}
