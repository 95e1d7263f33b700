//! Small dense complementarity problems whose rows are free, one-sided, boxed, or friction with a round cone.
//!
//! Reads: matrix, right-hand side, bounds.  Writes: the solution.
//! Called by: `articulated::constraint`, `dynamics::halves::dense`.
//! Source: projected Gauss–Seidel finds the states of the rows, elimination with full pivoting solves what is left
//! ([Golub13] §3.4); the friction step is that of `sequential`'s sweeps (docs/solver.md, "Sweeps"). Where that stalls,
//! `mixed_newton`. Letters: w = A f + b.

#![allow(non_snake_case)]

use super::mixed_newton::{Newton, newton};

/// What a row of the problem may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// w = 0, f as it must be.
    Free,
    /// 0 ≤ f ⊥ w ≥ 0.
    NotNegative,
    /// w = 0 with f inside, w ≥ 0 with f = `low`, w ≤ 0 with f = `high`.
    Box {
        /// Least f.
        low: f64,
        /// Greatest f.
        high: f64,
    },
    /// This row and the next one are the friction of the row `normal`: |f_t| ≤ μ f_n, and against the slip where it is at its bound.
    Friction {
        /// Row of the normal force, before this one.
        normal: usize,
        /// μ [1].
        coefficient: f64,
    },
    /// The second row of a `Friction`.
    FrictionSecond,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Worst distance of a row from its conditions, in the units of w.
    pub residual: f64,
    /// Rounds of sweeps and elimination.
    pub rounds: u32,
    /// Steps of Newton's method.
    pub newton_steps: u32,
    /// Whether the residual is below [`TOLERANCE`] of the largest |b|.
    pub converged: bool,
}

/// Residual at which a problem counts as solved, relative to the largest |b| [1].
pub const TOLERANCE: f64 = 1e-10;
/// Residual at which the rounds end early, relative to the largest |b| [1].
const EXACT: f64 = 1e-14;
/// Most rounds.
const ROUNDS_MAX: u32 = 200;
/// Sweeps of one round.
const SWEEPS: u32 = 10;
/// Round after which Newton's method is tried.
const NEWTON_AFTER: u32 = 2;
/// Most steps of Newton's method in one solve.
const NEWTON_STEPS: u32 = 24;
/// A pivot below this share of the largest entry marks a row that the others imply [1].
const REDUNDANT: f64 = 1e-11;

/// Finds f with the conditions of `bounds`, starting from the f given. `A` is symmetric and not negative, row by row. Rows without
/// response (A_ii = 0) keep f = 0.
///
/// # Panics
/// The lengths do not fit, or a `Friction` row has no second row or no normal row before it: the caller's mistake.
pub fn solve(A: &[f64], b: &[f64], bounds: &[Bound], f: &mut [f64]) -> Solved {
    let scale = b.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let scratch = &mut Scratch::default();
    solve_to(A, b, bounds, f, EXACT * scale, ROUNDS_MAX, scratch)
}

/// Memory of a solve, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    best: Vec<f64>,
    /// Rows whose w must vanish in the present states.
    on: Vec<usize>,
    /// By friction row: μ times the direction of sliding, zero where it does not slide.
    along: Vec<[f64; 2]>,
    G: Vec<f64>,
    x: Vec<f64>,
    gauss: Gauss,
    newton: Newton,
}

/// The same to a residual of the caller's choice, in at most so many rounds.
///
/// # Panics
/// As `solve`.
pub(crate) fn solve_to(
    A: &[f64],
    b: &[f64],
    bounds: &[Bound],
    f: &mut [f64],
    tolerance: f64,
    rounds_max: u32,
    s: &mut Scratch,
) -> Solved {
    let n = b.len();
    assert!(A.len() == n * n && bounds.len() == n && f.len() == n);
    for (i, bound) in bounds.iter().enumerate() {
        if let Bound::Friction { normal, .. } = *bound {
            assert!(normal < i && bounds.get(i + 1) == Some(&Bound::FrictionSecond));
        }
    }
    let problem = Problem { n, A, b, bounds };
    let scale = b.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    s.best.clear();
    s.best.extend_from_slice(f);
    let mut residual = f64::INFINITY;
    let (mut rounds, mut newton_steps) = (0, 0);
    while rounds < rounds_max && residual > tolerance {
        rounds += 1;
        for _ in 0..SWEEPS {
            problem.sweep(f);
        }
        keep(&problem, f, &mut s.best, &mut residual);
        problem.eliminate(f, s);
        keep(&problem, f, &mut s.best, &mut residual);
        if rounds == NEWTON_AFTER && residual > tolerance {
            f.copy_from_slice(&s.best);
            newton_steps = newton(&problem, f, tolerance, NEWTON_STEPS, &mut s.newton).1;
            keep(&problem, f, &mut s.best, &mut residual);
        }
        // A step that made things worse is taken back: the sweeps go on from the best so far.
        f.copy_from_slice(&s.best);
    }
    Solved {
        residual,
        rounds,
        newton_steps,
        converged: residual <= TOLERANCE * scale,
    }
}

fn keep(problem: &Problem<'_>, f: &[f64], best: &mut [f64], residual: &mut f64) {
    let found = problem.residual(f);
    // The latest of equals, so that rounds cannot circle around an old one.
    if found <= *residual {
        *residual = found;
        best.copy_from_slice(f);
    }
}

pub(super) struct Problem<'a> {
    pub n: usize,
    A: &'a [f64],
    b: &'a [f64],
    pub bounds: &'a [Bound],
}

impl Problem<'_> {
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.A[i * self.n + j]
    }

    pub fn row(&self, i: usize) -> &[f64] {
        &self.A[i * self.n..(i + 1) * self.n]
    }

    /// w_i.
    pub fn w(&self, i: usize, f: &[f64]) -> f64 {
        let row = self.row(i).iter().zip(f);
        row.fold(self.b[i], |s, (a, f)| s + a * f)
    }

    /// What a row wants to be, the others given: one number, or two for friction.
    fn wanted(&self, i: usize, f: &[f64]) -> [f64; 2] {
        let a = self.at(i, i);
        let free = |w: f64| if a > 0.0 { f[i] - w / a } else { 0.0 };
        match self.bounds[i] {
            Bound::Free => [free(self.w(i, f)), 0.0],
            Bound::NotNegative => [free(self.w(i, f)).max(0.0), 0.0],
            Bound::Box { low, high } => [free(self.w(i, f)).max(low).min(high), 0.0],
            Bound::Friction {
                normal,
                coefficient,
            } => self.friction(i, coefficient * f[normal].max(0.0), f),
            Bound::FrictionSecond => [f[i], 0.0],
        }
    }

    fn friction(&self, i: usize, bound: f64, f: &[f64]) -> [f64; 2] {
        let (p, q, r) = (self.at(i, i), self.at(i, i + 1), self.at(i + 1, i + 1));
        let largest = 0.5 * (p + r) + (0.25 * (p - r) * (p - r) + q * q).sqrt();
        if bound <= 0.0 || largest <= 0.0 {
            return [0.0; 2];
        }
        let w = [self.w(i, f), self.w(i + 1, f)];
        let det = p * r - q * q;
        if det > REDUNDANT * largest * largest {
            let stick = [
                f[i] - (r * w[0] - q * w[1]) / det,
                f[i + 1] - (p * w[1] - q * w[0]) / det,
            ];
            if length(stick) <= bound {
                return stick;
            }
        }
        // Projected gradient: at its fixed point friction is exactly against the slip.
        let z = [f[i] - w[0] / largest, f[i + 1] - w[1] / largest];
        let size = length(z);
        if size <= bound {
            z
        } else {
            [z[0] * (bound / size), z[1] * (bound / size)]
        }
    }

    fn sweep(&self, f: &mut [f64]) {
        for i in 0..self.n {
            let [x, y] = self.wanted(i, f);
            match self.bounds[i] {
                Bound::FrictionSecond => {}
                Bound::Friction { .. } => (f[i], f[i + 1]) = (x, y),
                _ => f[i] = x,
            }
        }
    }

    /// Worst change that a visit would make, as a velocity. A friction pair may be near to singular (a limb that can slide along one line
    /// alone), and a large impulse change nothing: what counts is the velocity of the pair itself.
    pub fn residual(&self, f: &[f64]) -> f64 {
        let mut worst = 0.0_f64;
        for i in 0..self.n {
            let [x, y] = self.wanted(i, f);
            let change = match self.bounds[i] {
                Bound::FrictionSecond => 0.0,
                Bound::Friction { .. } => {
                    let (p, q, r) = (self.at(i, i), self.at(i, i + 1), self.at(i + 1, i + 1));
                    let (x, y) = (x - f[i], y - f[i + 1]);
                    length([p * x + q * y, q * x + r * y])
                }
                _ => (x - f[i]).abs() * self.at(i, i),
            };
            worst = worst.max(change);
        }
        worst
    }

    /// Fills the rows whose w must vanish in the present states, and for sliding friction the direction it keeps.
    fn states(&self, f: &[f64], on: &mut Vec<usize>, along: &mut Vec<[f64; 2]>) {
        on.clear();
        along.clear();
        along.resize(self.n, [0.0; 2]);
        let mut holds = false;
        for i in 0..self.n {
            match self.bounds[i] {
                Bound::Free => on.push(i),
                Bound::NotNegative if f[i] > 0.0 => on.push(i),
                Bound::Box { low, high } if low < f[i] && f[i] < high => on.push(i),
                Bound::Friction {
                    normal,
                    coefficient,
                } => {
                    let size = length([f[i], f[i + 1]]);
                    let bound = coefficient * f[normal];
                    holds = bound > 0.0 && size < bound * (1.0 - 1e-12);
                    if holds {
                        on.push(i);
                    } else if bound > 0.0 && size > 0.0 {
                        along[i] = [coefficient * f[i] / size, coefficient * f[i + 1] / size];
                    }
                }
                Bound::FrictionSecond if holds => on.push(i),
                _ => {}
            }
        }
        on.retain(|&i| self.at(i, i) > 0.0);
    }

    /// Solves for the rows that are on, all states kept; then brings f back into its bounds.
    fn eliminate(&self, f: &mut [f64], s: &mut Scratch) {
        let Scratch {
            on,
            along,
            G,
            x,
            gauss,
            ..
        } = s;
        self.states(f, on, along);
        let m = on.len();
        G.clear();
        G.resize(m * m, 0.0);
        for (r, &i) in on.iter().enumerate() {
            for (c, &j) in on.iter().enumerate() {
                G[r * m + c] = self.at(i, j);
            }
        }
        // Sliding friction goes with its normal force.
        for k in 0..self.n {
            let Bound::Friction { normal, .. } = self.bounds[k] else {
                continue;
            };
            if along[k] == [0.0; 2] {
                continue;
            }
            let Some(c) = on.iter().position(|&j| j == normal) else {
                continue;
            };
            for (r, &i) in on.iter().enumerate() {
                G[r * m + c] += self.at(i, k) * along[k][0] + self.at(i, k + 1) * along[k][1];
            }
        }
        x.clear();
        x.extend(on.iter().map(|&i| -self.w(i, f)));
        gauss.solve(G, x, m);
        for (c, &j) in on.iter().enumerate() {
            f[j] += x[c];
        }
        for k in 0..self.n {
            match self.bounds[k] {
                Bound::NotNegative => f[k] = f[k].max(0.0),
                Bound::Box { low, high } => f[k] = f[k].max(low).min(high),
                Bound::Friction {
                    normal,
                    coefficient,
                } => {
                    let bound = coefficient * f[normal].max(0.0);
                    if along[k] != [0.0; 2] {
                        f[k] = along[k][0] * f[normal];
                        f[k + 1] = along[k][1] * f[normal];
                    }
                    let size = length([f[k], f[k + 1]]);
                    if size > bound {
                        f[k] *= bound / size;
                        f[k + 1] *= bound / size;
                    }
                }
                _ => {}
            }
        }
    }
}

/// Memory of an elimination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauss {
    columns: Vec<usize>,
    y: Vec<f64>,
}

impl Gauss {
    /// `x ← G⁻¹ x` by elimination with full pivoting; unknowns that the others imply stay zero.
    pub(crate) fn solve(&mut self, G: &mut [f64], x: &mut [f64], m: usize) {
        let size = G.iter().fold(0.0_f64, |s, g| s.max(g.abs()));
        let Self { columns, y } = self;
        columns.clear();
        columns.extend(0..m);
        let mut rank = 0;
        for k in 0..m {
            let (mut row, mut column, mut pivot) = (k, k, 0.0_f64);
            for i in k..m {
                for j in k..m {
                    if G[i * m + j].abs() > pivot {
                        (row, column, pivot) = (i, j, G[i * m + j].abs());
                    }
                }
            }
            if pivot <= REDUNDANT * size {
                break;
            }
            rank = k + 1;
            for j in 0..m {
                G.swap(k * m + j, row * m + j);
            }
            x.swap(k, row);
            for i in 0..m {
                G.swap(i * m + k, i * m + column);
            }
            columns.swap(k, column);
            for i in k + 1..m {
                let factor = G[i * m + k] / G[k * m + k];
                for j in k..m {
                    G[i * m + j] -= factor * G[k * m + j];
                }
                x[i] -= factor * x[k];
            }
        }
        y.clear();
        y.resize(m, 0.0);
        for k in (0..rank).rev() {
            let s = (k + 1..rank).fold(x[k], |s, j| s - G[k * m + j] * y[columns[j]]);
            y[columns[k]] = s / G[k * m + k];
        }
        x.copy_from_slice(y);
    }
}

pub(super) fn length(x: [f64; 2]) -> f64 {
    (x[0] * x[0] + x[1] * x[1]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(A: &[f64], b: &[f64], bounds: &[Bound]) -> Vec<f64> {
        let mut f = vec![0.0; b.len()];
        let s = solve(A, b, bounds, &mut f);
        assert!(s.converged, "{s:?}");
        f
    }

    #[test]
    fn small_problems_have_their_known_answers() {
        let A = [2.0, 1.0, 1.0, 2.0];
        let one_sided = [Bound::NotNegative; 2];
        let f = solved(&A, &[-5.0, -6.0], &one_sided);
        assert!((f[0] - 4.0 / 3.0).abs() < 1e-13 && (f[1] - 7.0 / 3.0).abs() < 1e-13);
        let f = solved(&A, &[-5.0, 6.0], &one_sided);
        assert!((f[0] - 2.5).abs() < 1e-13 && f[1] == 0.0);
        // Singular: any split of the load.
        let f = solved(&[1.0; 4], &[-1.0; 2], &one_sided);
        assert!((f[0] + f[1] - 1.0).abs() < 1e-13);
        // A motor that is too weak stands at its bound.
        let f = solved(
            &[2.0],
            &[-5.0],
            &[Bound::Box {
                low: -1.0,
                high: 1.0,
            }],
        );
        assert_eq!(f, [1.0]);
    }

    #[test]
    fn a_block_sticks_or_slides_by_its_friction() {
        // Unit mass pressed with 1, pulled along with 0.4 and 0.3 across.
        let A = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let b = [-1.0, 0.4, 0.3];
        let bounds = |mu| {
            [
                Bound::NotNegative,
                Bound::Friction {
                    normal: 0,
                    coefficient: mu,
                },
                Bound::FrictionSecond,
            ]
        };
        let f = solved(&A, &b, &bounds(0.6));
        assert!((f[1] + 0.4).abs() < 1e-13 && (f[2] + 0.3).abs() < 1e-13);
        let f = solved(&A, &b, &bounds(0.25));
        assert!((f[1] + 0.2).abs() < 1e-13 && (f[2] + 0.15).abs() < 1e-13);
    }
}
