//! Newton's method for the problems of `mixed_lcp`: quadratic at the end, where sweeps crawl.
//!
//! Reads: matrix, right-hand side, bounds.  Writes: the solution.
//! Called by: `mixed_lcp`.
//! Source: \[AlartCurnier91] for the nonsmooth equations, \[Rockafellar76] for the pull towards the last answer.
//! Letters: w = A f + b + α (f − f₀), z = f − ρ w; F = f − P(z) vanishes exactly where f solves the problem with that pull. Redundant
//! rows make A singular; the pull makes the equations regular and has the same fixed point, so that f₀ ← f repeats until it is gone.

#![allow(non_snake_case)]

use super::lu::Lu;
use super::mixed_lcp::{Bound, Problem, length};

/// Pulls as parts of the diagonal of A: the first, the least and the greatest [1].
const PULL: f64 = 1e-3;
const PULL_MIN: f64 = 1e-10;
const PULL_MAX: f64 = 0.3;
/// Factors on the pull after a Newton run that arrived, and one that did not [1].
const EASED: f64 = 0.1;
const STIFFENED: f64 = 10.0;
/// Most steps with one pull.
const STEPS: u32 = 12;
/// Steps in which a run must halve its residual, or another pull is tried.
const PATIENCE: u32 = 4;
/// Halvings of a step that does not lower the residual.
const HALVINGS: u32 = 8;
/// Part of the tolerance to which each run goes [1].
const INNER: f64 = 0.1;

/// Scratch, kept from solve to solve.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newton {
    lu: Lu,
    /// By row: ρ and α.
    rho: Vec<f64>,
    alpha: Vec<f64>,
    anchor: Vec<f64>,
    x: Vec<f64>,
    trial: Vec<f64>,
    w: Vec<f64>,
    F: Vec<f64>,
    step: Vec<f64>,
    best: Vec<f64>,
}

/// Improves `f` until the residual of the problem is below `tolerance`, for at most `steps` Newton steps. Leaves the best it saw;
/// returns its residual and the steps taken.
pub(super) fn newton(
    problem: &Problem<'_>,
    f: &mut [f64],
    tolerance: f64,
    steps: u32,
    s: &mut Newton,
) -> (f64, u32) {
    let mut residual = problem.residual(f);
    s.best.clear();
    s.best.extend_from_slice(f);
    let mut pull = PULL;
    let mut taken = 0;
    while residual > tolerance && taken < steps {
        s.prepare(problem, pull, f);
        let (arrived, used) = s.run(problem, INNER * tolerance, STEPS.min(steps - taken));
        taken += used;
        let found = problem.residual(&s.x);
        if found < residual {
            residual = found;
            s.best.copy_from_slice(&s.x);
        }
        // Equations that hold without a step leave nothing to do, whatever the pull.
        if used == 0 {
            break;
        }
        if arrived {
            f.copy_from_slice(&s.x);
            pull = (pull * EASED).max(PULL_MIN);
        } else if pull >= PULL_MAX {
            break;
        } else {
            pull = (pull * STIFFENED).min(PULL_MAX);
        }
    }
    f.copy_from_slice(&s.best);
    (residual, taken)
}

impl Newton {
    /// Scales of the rows and the answer to be pulled to.
    fn prepare(&mut self, problem: &Problem<'_>, pull: f64, f: &[f64]) {
        let n = problem.n;
        for v in [
            &mut self.rho,
            &mut self.alpha,
            &mut self.w,
            &mut self.F,
            &mut self.step,
            &mut self.trial,
        ] {
            v.clear();
            v.resize(n, 0.0);
        }
        for v in [&mut self.anchor, &mut self.x] {
            v.clear();
            v.extend_from_slice(f);
        }
        for i in 0..n {
            // The two rows of friction share their scale, or the cone would not be round.
            let own = match problem.bounds[i] {
                Bound::Friction { .. } => problem.at(i, i).max(problem.at(i + 1, i + 1)),
                Bound::FrictionSecond => problem.at(i, i).max(problem.at(i - 1, i - 1)),
                _ => problem.at(i, i),
            };
            if own > 0.0 {
                self.alpha[i] = pull * own;
                self.rho[i] = 1.0 / (own + self.alpha[i]);
            }
        }
    }

    /// Newton steps with one pull from `x`. Says whether the residual came below `tolerance`, and the steps it took.
    fn run(&mut self, problem: &Problem<'_>, tolerance: f64, steps: u32) -> (bool, u32) {
        let mut x = std::mem::take(&mut self.x);
        let mut trial = std::mem::take(&mut self.trial);
        let mut size = self.equations(problem, &x);
        let (mut taken, mut before) = (0, f64::INFINITY);
        while size > tolerance && taken < steps && self.direction(problem, &x) {
            if taken % PATIENCE == 0 {
                if size > 0.5 * before {
                    break;
                }
                before = size;
            }
            taken += 1;
            let mut part = 1.0;
            let mut found = size;
            for _ in 0..HALVINGS {
                for i in 0..problem.n {
                    trial[i] = x[i] + part * self.step[i];
                }
                found = self.equations(problem, &trial);
                if found < (1.0 - 1e-4 * part) * size {
                    break;
                }
                part *= 0.5;
            }
            // A step that helps at no length is taken short all the same: the equations have kinks.
            if !found.is_finite() {
                break;
            }
            std::mem::swap(&mut x, &mut trial);
            size = found;
        }
        self.x = x;
        self.trial = trial;
        (size <= tolerance, taken)
    }

    /// Fills w and F at `f`; the largest |F/ρ|, in the units of w.
    fn equations(&mut self, problem: &Problem<'_>, f: &[f64]) -> f64 {
        for i in 0..problem.n {
            self.w[i] = problem.w(i, f) + self.alpha[i] * (f[i] - self.anchor[i]);
        }
        let mut size = 0.0_f64;
        for i in 0..problem.n {
            let z = f[i] - self.rho[i] * self.w[i];
            match problem.bounds[i] {
                _ if self.rho[i] == 0.0 => self.F[i] = f[i],
                Bound::Free => self.F[i] = self.rho[i] * self.w[i],
                Bound::NotNegative => self.F[i] = f[i] - z.max(0.0),
                Bound::Box { low, high } => self.F[i] = f[i] - z.max(low).min(high),
                Bound::Friction { .. } => {
                    let (z, bound) = self.slide(problem, i, f);
                    let reach = length(z);
                    let part = if reach <= bound { 1.0 } else { bound / reach };
                    self.F[i] = f[i] - part * z[0];
                    self.F[i + 1] = f[i + 1] - part * z[1];
                }
                Bound::FrictionSecond => {}
            }
            let scale = if self.rho[i] > 0.0 { self.rho[i] } else { 1.0 };
            let miss = self.F[i].abs() / scale;
            // NaN is no small residual.
            if miss > size || miss.is_nan() {
                size = miss;
            }
        }
        size
    }

    /// z of the friction pair at `i`, and the bound that goes with its normal row.
    fn slide(&self, problem: &Problem<'_>, i: usize, f: &[f64]) -> ([f64; 2], f64) {
        let z = |i: usize| f[i] - self.rho[i] * self.w[i];
        let Bound::Friction {
            normal,
            coefficient,
        } = problem.bounds[i]
        else {
            return ([0.0; 2], 0.0);
        };
        ([z(i), z(i + 1)], coefficient * z(normal).max(0.0))
    }

    /// The Newton step at `f`, whose w and F must be those of `f`; false if there is none.
    fn direction(&mut self, problem: &Problem<'_>, f: &[f64]) -> bool {
        self.equations(problem, f);
        let n = problem.n;
        let mut lu = std::mem::take(&mut self.lu);
        let matrix = lu.matrix(n);
        for i in 0..n {
            let z = f[i] - self.rho[i] * self.w[i];
            let inside = match problem.bounds[i] {
                Bound::Free => true,
                Bound::NotNegative => z > 0.0,
                Bound::Box { low, high } => low < z && z < high,
                Bound::Friction { .. } => {
                    self.friction_rows(problem, i, f, matrix);
                    continue;
                }
                Bound::FrictionSecond => continue,
            };
            if inside && self.rho[i] > 0.0 {
                self.add(problem, i, i, self.rho[i], matrix);
            } else {
                matrix[i * n + i] += 1.0;
            }
        }
        for i in 0..n {
            self.step[i] = -self.F[i];
        }
        let found = lu.factor_in_place();
        if found {
            lu.solve(&mut self.step);
        }
        self.lu = lu;
        found && self.step.iter().all(|d| d.is_finite())
    }

    /// `row[to] += factor · ∂w_of/∂f`.
    fn add(&self, problem: &Problem<'_>, to: usize, of: usize, factor: f64, matrix: &mut [f64]) {
        let n = problem.n;
        let (row, A) = (&mut matrix[to * n..(to + 1) * n], problem.row(of));
        for (x, a) in row.iter_mut().zip(A) {
            *x += factor * a;
        }
        row[of] += factor * self.alpha[of];
    }

    /// Derivative of the two friction equations at `i`.
    fn friction_rows(&self, problem: &Problem<'_>, i: usize, f: &[f64], matrix: &mut [f64]) {
        let n = problem.n;
        let (z, bound) = self.slide(problem, i, f);
        let Bound::Friction {
            normal,
            coefficient,
        } = problem.bounds[i]
        else {
            return;
        };
        let reach = length(z);
        if bound <= 0.0 || self.rho[i] == 0.0 {
            for k in [i, i + 1] {
                matrix[k * n + k] += 1.0;
            }
            return;
        }
        if reach <= bound {
            for k in [i, i + 1] {
                self.add(problem, k, k, self.rho[i], matrix);
            }
            return;
        }
        // dF = df − (bound/|z|)(1 − e eᵀ) dz − e μ dz_n with e = z/|z| and dz = df − ρ dw.
        let e = [z[0] / reach, z[1] / reach];
        let part = bound / reach;
        for r in 0..2 {
            let row = i + r;
            matrix[row * n + row] += 1.0;
            for c in 0..2 {
                let one = f64::from(u8::from(r == c));
                let d = part * (one - e[r] * e[c]);
                matrix[row * n + i + c] -= d;
                self.add(problem, row, i + c, d * self.rho[i + c], matrix);
            }
            matrix[row * n + normal] -= e[r] * coefficient;
            self.add(
                problem,
                row,
                normal,
                e[r] * coefficient * self.rho[normal],
                matrix,
            );
        }
    }
}
