//! The frictional contact problem of one step, as the literature states it, with a solver and its true residuals.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: users, validation (F28).
//! Source: \[Acary08] ch. 13, \[FCLIB]; the solver: proximal point (Rockafellar) over sweeps and Newton's method \[AlartCurnier91].
//! Letters: u = W r + q, per contact normal first, then two tangents; r impulse, u relative velocity after the step. A solution has
//! r in K = {|r_T| ≤ μ r_N}, u + μ|u_T| n in the dual cone, and the two at right angles.

mod cone;
mod newton;
mod sweep;

use crate::error::BuildError;
use crate::math::{Mat3, Vec3};
use cone::{lifted, nearest, tangential};

/// A frictional contact problem: friction, free velocities q, and W by blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactProblem {
    friction: Vec<f64>,
    q: Vec<Vec3>,
    /// Blocks of row i are `blocks[starts[i]..starts[i + 1]]`, by column.
    starts: Vec<usize>,
    blocks: Vec<(usize, Mat3)>,
    /// Place of the diagonal block of each row.
    diagonals: Vec<Option<usize>>,
}

/// When and how hard to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveParams {
    /// Natural-map residual at which to stop, relative to |q| [1].
    pub tolerance: f64,
    /// Most sweeps over all contacts [1].
    pub sweeps: u32,
    /// Most rounds of the proximal point method [1].
    pub rounds: u32,
    /// Most Newton steps in a round [1].
    pub newton_steps: u32,
}

impl Default for SolveParams {
    fn default() -> Self {
        Self {
            tolerance: 1e-11,
            sweeps: 1000,
            rounds: 60,
            newton_steps: 40,
        }
    }
}

/// How far impulses are from solving a problem. All zero for a solution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residuals {
    /// √Σ|r − P_K(r − (u + μ|u_T| n))|² over |q| [1].
    pub natural: f64,
    /// Largest |r_N u_N| [J].
    pub signorini: f64,
    /// Largest speed of approach left [m/s].
    pub approach: f64,
    /// Largest pull [N·s].
    pub pull: f64,
    /// Largest |r_T| − μ r_N [N·s].
    pub cone: f64,
    /// Largest |r_T · u_T + μ r_N |u_T|| [J].
    pub dissipation: f64,
    /// Largest |r · (u + μ|u_T| n)| [J].
    pub complementarity: f64,
}

/// What the solver found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Impulses r [N·s].
    pub impulses: Vec<Vec3>,
    /// Velocities u = W r + q [m/s].
    pub velocities: Vec<Vec3>,
    /// How right they are, computed from the problem as given.
    pub residuals: Residuals,
    /// Sweeps over all contacts.
    pub sweeps: u32,
    /// Newton steps, each with one factorisation.
    pub newton_steps: u32,
    /// Whether a limit ended the search before the tolerance was met.
    pub capped: bool,
}

/// Most contacts: beyond it the dense Newton matrix would not fit into memory.
pub const CONTACTS_MAX: usize = 4000;

impl ContactProblem {
    /// A problem of `friction.len()` contacts from free velocities `q` and the entries (row, column, value) of W, which add up.
    ///
    /// W need not be symmetric to the last bit; its symmetric part should be positive semidefinite.
    ///
    /// # Errors
    /// Lengths that do not fit, numbers that are not finite, negative friction, entries outside the matrix, a negative diagonal.
    pub fn new(
        friction: Vec<f64>,
        q: Vec<Vec3>,
        entries: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, BuildError> {
        let n = friction.len();
        if n > CONTACTS_MAX {
            return Err(BuildError::new(
                "friction",
                format!("{n} contacts; at most {CONTACTS_MAX} are solved"),
            ));
        }
        if q.len() != n {
            return Err(BuildError::new(
                "q",
                format!("has {} contacts, friction has {n}", q.len()),
            ));
        }
        if let Some(i) = friction.iter().position(|m| !(m.is_finite() && *m >= 0.0)) {
            return Err(BuildError::new(
                format!("friction[{i}]"),
                "must be finite and not negative",
            ));
        }
        if let Some(i) = q.iter().position(|v| !v.is_finite()) {
            return Err(BuildError::new(format!("q[{i}]"), "must be finite"));
        }
        let mut list: Vec<(usize, usize, usize, f64)> = Vec::new();
        for (row, column, value) in entries {
            if row >= 3 * n || column >= 3 * n {
                return Err(BuildError::new(
                    format!("W[{row}, {column}]"),
                    format!("is outside a matrix of {} rows", 3 * n),
                ));
            }
            if !value.is_finite() {
                return Err(BuildError::new(
                    format!("W[{row}, {column}]"),
                    "must be finite",
                ));
            }
            list.push((row / 3, column / 3, 3 * (column % 3) + row % 3, value));
        }
        list.sort_by_key(|e| (e.0, e.1));
        let mut problem = Self {
            friction,
            q,
            starts: vec![0],
            blocks: Vec::new(),
            diagonals: vec![None; n],
        };
        let mut entries = list.into_iter().peekable();
        for i in 0..n {
            while let Some((_, j, _, _)) = entries.peek().copied().filter(|e| e.0 == i) {
                let mut block = [0.0; 9];
                while let Some((_, _, place, value)) = entries.next_if(|e| (e.0, e.1) == (i, j)) {
                    block[place] += value;
                }
                if i == j {
                    problem.diagonals[i] = Some(problem.blocks.len());
                    if let Some(k) = (0..3).find(|k| block[4 * k] < 0.0) {
                        let place = 3 * i + k;
                        return Err(BuildError::new(
                            format!("W[{place}, {place}]"),
                            "a diagonal entry must not be negative",
                        ));
                    }
                }
                problem.blocks.push((j, Mat3::from_cols_array(&block)));
            }
            problem.starts.push(problem.blocks.len());
        }
        Ok(problem)
    }

    /// Number of contacts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.q.len()
    }

    /// Whether there is no contact.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.q.is_empty()
    }

    /// How far `impulses` are from a solution.
    ///
    /// # Panics
    /// There is not one impulse for each contact.
    #[must_use]
    pub fn residuals(&self, impulses: &[Vec3]) -> Residuals {
        assert_eq!(impulses.len(), self.len(), "one impulse for each contact");
        let mut found = Residuals::default();
        let mut natural = 0.0;
        for (i, &r) in impulses.iter().enumerate() {
            let mu = self.friction[i];
            let u = self.velocity_at(i, impulses);
            let (dual, slip) = (lifted(u, mu), tangential(u));
            natural += (r - nearest(r - dual, mu)).length_squared();
            let grow = |x: &mut f64, value: f64| *x = x.max(value);
            grow(&mut found.signorini, (r.x * u.x).abs());
            grow(&mut found.approach, -u.x);
            grow(&mut found.pull, -r.x);
            grow(&mut found.cone, tangential(r) - mu * r.x);
            grow(
                &mut found.dissipation,
                (r.y * u.y + r.z * u.z + mu * r.x * slip).abs(),
            );
            grow(&mut found.complementarity, r.dot(dual).abs());
        }
        found.natural = natural.sqrt() / self.scale().max(f64::MIN_POSITIVE);
        found
    }

    /// Solves the problem, or gives the best it found and says that it was capped.
    #[must_use]
    pub fn solve(&self, params: &SolveParams) -> Solution {
        let n = self.len();
        let mut r = vec![Vec3::ZERO; n];
        let mut best = (self.residuals(&r).natural, r.clone());
        let (mut sweeps, mut newton_steps) = (0, 0);
        let none = vec![Vec3::ZERO; n];
        let mut sweep = |r: &mut [Vec3], count: u32, stiffening: f64, pull: &[Vec3]| {
            for _ in 0..count.min(params.sweeps.saturating_sub(sweeps)) {
                sweep::sweep(self, stiffening, pull, r);
                sweeps += 1;
            }
        };
        sweep(&mut r, 30, 0.0, &none);
        keep_better(self, &r, &mut best);
        // Proximal point: redundant contacts leave W singular, and W + αI with the pull −α r towards the last answer has the
        // same fixed point. Smaller α, larger strides, until Newton's method no longer follows.
        let (mean, scale) = (self.mean_diagonal(), self.scale());
        let mut alpha = 0.03 * mean;
        for _ in 0..params.rounds {
            if best.0 <= params.tolerance || alpha <= 0.0 {
                break;
            }
            let pull: Vec<Vec3> = r.iter().map(|x| -alpha * *x).collect();
            let mut x = r.clone();
            sweep(&mut x, 5, alpha, &pull);
            let goal = 1e-13 * scale;
            let ended = newton::newton(self, alpha, &pull, goal, params.newton_steps, &mut x);
            newton_steps += ended.steps;
            keep_better(self, &x, &mut best);
            r = x;
            alpha = if ended.residual < 1e-9 * scale {
                (0.3 * alpha).max(1e-7 * mean)
            } else {
                3.0 * alpha
            };
        }
        let (natural, impulses) = best;
        Solution {
            velocities: (0..n).map(|i| self.velocity_at(i, &impulses)).collect(),
            residuals: self.residuals(&impulses),
            impulses,
            sweeps,
            newton_steps,
            capped: natural > params.tolerance,
        }
    }

    /// Relative velocity of contact i [m/s].
    fn velocity_at(&self, i: usize, r: &[Vec3]) -> Vec3 {
        self.row(i).fold(self.q[i], |u, (j, w)| u + w * r[j])
    }

    /// Blocks of row i with their columns.
    fn row(&self, i: usize) -> impl Iterator<Item = (usize, Mat3)> + '_ {
        self.blocks[self.starts[i]..self.starts[i + 1]]
            .iter()
            .copied()
    }

    /// Block (i, i).
    fn diagonal(&self, i: usize) -> Mat3 {
        self.diagonals[i].map_or(Mat3::ZERO, |k| self.blocks[k].1)
    }

    /// Mean of the diagonal of W.
    fn mean_diagonal(&self) -> f64 {
        let trace = |w: Mat3| w.col(0).x + w.col(1).y + w.col(2).z;
        let sum: f64 = (0..self.len()).map(|i| trace(self.diagonal(i))).sum();
        sum / (3 * self.len()).max(1) as f64
    }

    /// |q| [m/s].
    fn scale(&self) -> f64 {
        let square: f64 = self.q.iter().map(|q| q.length_squared()).sum();
        square.sqrt()
    }
}

/// Keeps `r` if its residual is the smallest so far.
fn keep_better(problem: &ContactProblem, r: &[Vec3], best: &mut (f64, Vec<Vec3>)) {
    let natural = problem.residuals(r).natural;
    if natural < best.0 {
        *best = (natural, r.to_vec());
    }
}
