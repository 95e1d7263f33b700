//! Lemke's complementary pivoting with a lexicographic ratio test: no cycling, and a ray that tells why there is no solution.
//!
//! Reads: a scaled problem.  Writes: f, or the ray.
//! Called by: `lcp::solve`.
//! Source: [Lemke65], [Cottle92] §4.4 and §4.9; friction as in [Stewart96].
//! Letters: z and w of the standard problem w = M z + q, 0 ≤ z ⊥ w ≥ 0, to which the rows are brought by f = T z + f₀; z₀ the artificial
//! variable. Free rows become the difference of two variables, friction two of them and one for the slip that they share.

#![allow(non_snake_case)]

use super::problem::{Problem, Row, axpy};
use super::states::{self, State};
use super::{End, Found, Params};

/// Entries below this part of the largest of a column are rounding, not pivots [1].
const PIVOT: f64 = 1e-10;
/// Ratios that differ by less than this are equal, and the next column decides [1].
const TIE: f64 = 1e-12;

/// Solves.
pub(super) fn solve(problem: &Problem, params: &Params) -> Found {
    let standard = Standard::of(problem);
    let pivots_max = params.pivots.unwrap_or(50 * standard.q.len() as u32 + 100);
    let mut tableau = Tableau::new(&standard);
    let (end, pivots) = tableau.run(pivots_max);
    let z = tableau.z();
    let mut f = standard.forces(&z);
    let end = match end {
        Run::Done => {
            states::polish(problem, &standard.states(problem, &z), &mut f);
            End::Solved
        }
        Run::Limit => End::Limit,
        Run::Ray(direction) => {
            let mut ray = standard.direction(&direction);
            clean(problem, &mut ray);
            if problem.proves(&ray) {
                End::Infeasible(ray)
            } else {
                End::Ray
            }
        }
    };
    Found {
        f,
        end,
        pivots,
        sweeps: 0,
    }
}

/// Takes from a ray what cannot be part of a proof: friction, and signs that are rounding.
fn clean(problem: &Problem, ray: &mut [f64]) {
    for (v, row) in ray.iter_mut().zip(problem.rows()) {
        match row {
            Row::OneSided => *v = v.max(0.0),
            Row::Free => {}
            _ => *v = 0.0,
        }
    }
}

/// What a variable of the standard problem stands for.
#[derive(Clone, Copy, Debug)]
enum Variable {
    /// f of a row is this variable times the sign, plus a constant for boxes.
    Force { row: usize, sign: f64 },
    /// What w of a row at its upper bound falls short of zero; `row` is that row.
    Upper { row: usize },
}

/// The problem in standard form.
struct Standard {
    variables: Vec<Variable>,
    /// Row-major.
    M: Vec<f64>,
    q: Vec<f64>,
    /// Sliding rows: (row, normal, ratio).
    ties: Vec<(usize, usize, f64)>,
    f0: Vec<f64>,
}

impl Standard {
    fn of(problem: &Problem) -> Self {
        let rows = problem.rows();
        let (mut variables, mut ties) = (Vec::new(), Vec::new());
        let mut f0 = vec![0.0; rows.len()];
        let force = |row, sign| Variable::Force { row, sign };
        for (row, kind) in rows.iter().enumerate() {
            match *kind {
                Row::OneSided => variables.push(force(row, 1.0)),
                Row::Free => variables.extend([force(row, 1.0), force(row, -1.0)]),
                Row::Box { low, .. } => {
                    f0[row] = low;
                    variables.extend([force(row, 1.0), Variable::Upper { row }]);
                }
                Row::Planar { .. } => {
                    variables.extend([force(row, 1.0), force(row, -1.0), Variable::Upper { row }]);
                }
                Row::Sliding { normal, ratio } => ties.push((row, normal, ratio)),
                Row::Cone { .. } | Row::ConeSecond => {}
            }
        }
        let N = variables.len();
        let mut standard = Self {
            variables,
            M: vec![0.0; N * N],
            q: vec![0.0; N],
            ties,
            f0,
        };
        standard.fill(problem);
        standard
    }

    fn fill(&mut self, problem: &Problem) {
        let N = self.variables.len();
        let w0 = problem.w(&self.f0);
        for r in 0..N {
            match self.variables[r] {
                // ± w of the row, plus the slack of its upper bound.
                Variable::Force { row, sign } => {
                    self.q[r] = sign * w0[row];
                    for c in 0..N {
                        self.M[r * N + c] = match self.variables[c] {
                            Variable::Force { row: j, sign: s } => {
                                sign * s * self.column(problem, row, j)
                            }
                            Variable::Upper { row: j } => f64::from(u8::from(j == row)),
                        };
                    }
                }
                // high − low − p, or μ f_n − (β⁺ + β⁻).
                Variable::Upper { row } => {
                    let normal = match problem.rows()[row] {
                        Row::Box { low, high } => {
                            self.q[r] = high - low;
                            None
                        }
                        Row::Planar {
                            normal,
                            coefficient,
                        } => Some((normal, coefficient)),
                        _ => None,
                    };
                    for c in 0..N {
                        if let Variable::Force { row: j, .. } = self.variables[c] {
                            let bound = normal.filter(|n| n.0 == j).map_or(0.0, |n| n.1);
                            self.M[r * N + c] = bound - f64::from(u8::from(j == row));
                        }
                    }
                }
            }
        }
    }

    /// Response of row i to f_j and to what slides with it.
    fn column(&self, problem: &Problem, i: usize, j: usize) -> f64 {
        let with = self.ties.iter().filter(|t| t.1 == j);
        with.fold(problem.at(i, j), |s, t| s + t.2 * problem.at(i, t.0))
    }

    /// T z.
    fn direction(&self, z: &[f64]) -> Vec<f64> {
        let mut f = vec![0.0; self.f0.len()];
        for (v, z) in self.variables.iter().zip(z) {
            if let Variable::Force { row, sign } = *v {
                f[row] += sign * z;
            }
        }
        for &(row, normal, ratio) in &self.ties {
            f[row] = ratio * f[normal];
        }
        f
    }

    /// f = T z + f₀.
    fn forces(&self, z: &[f64]) -> Vec<f64> {
        let mut f = self.direction(z);
        axpy(&mut f, 1.0, &self.f0);
        f
    }

    /// States of the rows at a solution z.
    fn states(&self, problem: &Problem, z: &[f64]) -> Vec<State> {
        let mut found: Vec<State> = problem.rows().iter().map(|r| states::initial(*r)).collect();
        for (v, &z) in self.variables.iter().zip(z) {
            if let Variable::Force { row, .. } = *v
                && z > 0.0
            {
                found[row] = State::On;
            }
        }
        for (v, &z) in self.variables.iter().zip(z) {
            if let Variable::Upper { row } = *v
                && z > 0.0
            {
                found[row] = State::High;
            }
        }
        // Friction that stands at the side to which its force points; without a normal force it has no side.
        let f = self.forces(z);
        for (row, kind) in problem.rows().iter().enumerate() {
            if matches!(kind, Row::Planar { .. }) && found[row] == State::High && f[row] < 0.0 {
                found[row] = State::Low;
            }
            if kind.normal().is_some_and(|n| found[n] != State::On) && found[row] == State::On {
                found[row] = State::Low;
            }
        }
        found
    }
}

/// How the pivoting ended.
enum Run {
    Done,
    Limit,
    /// Direction of z in which w + z₀ stays feasible for ever.
    Ray(Vec<f64>),
}

/// All rows and columns: w, z, z₀, right-hand side. The columns of w are the inverse of the basis, which orders rows lexicographically.
struct Tableau {
    N: usize,
    width: usize,
    T: Vec<f64>,
    /// Column that is basic in each row.
    basis: Vec<usize>,
}

impl Tableau {
    fn new(standard: &Standard) -> Self {
        let N = standard.q.len();
        let width = 2 * N + 2;
        let mut T = vec![0.0; N * width];
        for (r, row) in T.chunks_exact_mut(width).enumerate() {
            row[r] = 1.0;
            for c in 0..N {
                row[N + c] = -standard.M[r * N + c];
            }
            row[2 * N] = -1.0;
            row[2 * N + 1] = standard.q[r];
        }
        Self {
            N,
            width,
            T,
            basis: (0..N).collect(),
        }
    }

    fn at(&self, r: usize, c: usize) -> f64 {
        self.T[r * self.width + c]
    }

    fn right(&self, r: usize) -> f64 {
        self.at(r, 2 * self.N + 1)
    }

    fn run(&mut self, pivots_max: u32) -> (Run, u32) {
        let N = self.N;
        // The most negative row, the last of equals: then all others are lexicographically positive.
        let mut row = N;
        for r in 0..N {
            if self.right(r) < 0.0 && (row == N || self.right(r) <= self.right(row)) {
                row = r;
            }
        }
        if row == N {
            return (Run::Done, 0);
        }
        let mut entering = 2 * N;
        let mut pivots = 0;
        loop {
            let leaving = self.basis[row];
            self.pivot(row, entering);
            pivots += 1;
            if leaving == 2 * N {
                return (Run::Done, pivots);
            }
            if pivots >= pivots_max {
                return (Run::Limit, pivots);
            }
            entering = if leaving < N {
                leaving + N
            } else {
                leaving - N
            };
            match self.leaving_row(entering) {
                Some(r) => row = r,
                None => return (Run::Ray(self.ray(entering)), pivots),
            }
        }
    }

    /// The row that blocks the entering column first, z₀ before its equals; `None` if no row does.
    fn leaving_row(&self, entering: usize) -> Option<usize> {
        let N = self.N;
        let largest = (0..N).fold(0.0_f64, |s, r| s.max(self.at(r, entering).abs()));
        let least = PIVOT * largest.max(1.0);
        let mut best: Option<usize> = None;
        for r in 0..N {
            if self.at(r, entering) <= least {
                continue;
            }
            best = Some(match best {
                Some(b) if !self.before(r, b, entering) => b,
                _ => r,
            });
        }
        let best = best?;
        let ratio = |r: usize| self.right(r).max(0.0) / self.at(r, entering);
        let z0 = (0..N).find(|&r| self.basis[r] == 2 * N && self.at(r, entering) > least);
        Some(
            z0.filter(|&r| ratio(r) <= ratio(best) + TIE)
                .unwrap_or(best),
        )
    }

    /// Whether row r is lexicographically before row b when column c enters.
    fn before(&self, r: usize, b: usize, c: usize) -> bool {
        let (pr, pb) = (self.at(r, c), self.at(b, c));
        let columns = std::iter::once(2 * self.N + 1).chain(0..self.N);
        for k in columns {
            let difference = self.at(r, k) / pr - self.at(b, k) / pb;
            if difference.abs() > TIE {
                return difference < 0.0;
            }
        }
        false
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let width = self.width;
        let (above, rest) = self.T.split_at_mut(row * width);
        let (own, below) = rest.split_at_mut(width);
        let p = own[column];
        own.iter_mut().for_each(|x| *x /= p);
        own[column] = 1.0;
        for other in above
            .chunks_exact_mut(width)
            .chain(below.chunks_exact_mut(width))
        {
            let factor = other[column];
            if factor != 0.0 {
                axpy(other, -factor, own);
                other[column] = 0.0;
            }
        }
        self.basis[row] = column;
    }

    /// Values of z in the present basis.
    fn z(&self) -> Vec<f64> {
        let mut z = vec![0.0; self.N];
        for (r, &c) in self.basis.iter().enumerate() {
            if (self.N..2 * self.N).contains(&c) {
                z[c - self.N] = self.right(r).max(0.0);
            }
        }
        z
    }

    /// Change of z as the entering column grows.
    fn ray(&self, entering: usize) -> Vec<f64> {
        let mut z = vec![0.0; self.N];
        if (self.N..2 * self.N).contains(&entering) {
            z[entering - self.N] = 1.0;
        }
        for (r, &c) in self.basis.iter().enumerate() {
            if (self.N..2 * self.N).contains(&c) {
                z[c - self.N] = -self.at(r, entering);
            }
        }
        z
    }
}
