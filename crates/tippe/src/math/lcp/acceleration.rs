//! What makes sweeps fast: the minimum over one face of the bounds by conjugate gradients, and mixing of the last changes.
//!
//! Reads: a scaled problem, f.  Writes: f.
//! Called by: `gauss_seidel`.
//! Source: [Polyak69] for faces (sweeps release rows, steps along a face stop at its border), as in [Silcowitz10b] for contacts;
//! [Anderson65] for the mixing.

#![allow(non_snake_case)]

use super::problem::{Problem, Row, axpy, dot};
use crate::math::mixed_lcp::Gauss;

/// A direction whose curvature is below this has none [1].
const ACCELERATION_FLAT: f64 = 1e-13;
/// A direction whose curvature is below this may be a proof [1].
const NEARLY_FLAT: f64 = 1e-7;
/// Parts of a direction below this share of the largest are rounding [1].
const ROUNDING: f64 = 1e-14;
/// Forces beyond this may run off to infinity [1].
const LARGE: f64 = 1e4;
/// Residual on a face at which its minimum is reached [1].
const REACHED: f64 = 1e-16;
/// Changes that are mixed, and sweeps between two looks for a proof.
const WINDOW: usize = 20;
const LOOK: u32 = 16;
/// Growth of the change by which a mixture has failed [1].
const FAILED: f64 = 100.0;

/// v as far as it can be part of a proof.
fn provable(problem: &Problem, v: impl Iterator<Item = f64>) -> Vec<f64> {
    v.zip(problem.rows())
        .map(|(v, row)| match row {
            Row::OneSided => v.max(0.0),
            Row::Free => v,
            _ => 0.0,
        })
        .collect()
}

fn largest(f: &[f64]) -> f64 {
    f.iter().fold(0.0_f64, |s, x| s.max(x.abs()))
}

/// Conjugate gradients on faces.
pub(super) struct Faces {
    /// Rows strictly inside their bounds.
    inside: Vec<usize>,
    r: Vec<f64>,
    p: Vec<f64>,
    Ap: Vec<f64>,
    ray: Option<Vec<f64>>,
}

/// How the search over one face ended.
enum Face {
    Minimum,
    Border,
    Ray,
}

impl Faces {
    pub fn new(n: usize) -> Self {
        Self {
            inside: Vec::with_capacity(n),
            r: vec![0.0; n],
            p: vec![0.0; n],
            Ap: vec![0.0; n],
            ray: None,
        }
    }

    /// Goes to the minimum of the face of `f`, and of smaller ones where that lies outside; returns the steps taken, at most `budget`.
    pub fn minimise(&mut self, problem: &Problem, f: &mut [f64], budget: u32) -> u32 {
        let mut spent = 0;
        // Every border takes a row out of the face, so there are at most as many as rows.
        for _ in 0..=problem.len() {
            match self.face(problem, f, budget, &mut spent) {
                Face::Border if spent < budget => {}
                _ => break,
            }
        }
        spent
    }

    fn face(&mut self, problem: &Problem, f: &mut [f64], budget: u32, spent: &mut u32) -> Face {
        let rows = problem.rows();
        self.inside.clear();
        self.inside.extend((0..f.len()).filter(|&i| {
            let (low, high) = bounds(rows[i]);
            low < f[i] && f[i] < high && problem.at(i, i) > 0.0
        }));
        self.p.fill(0.0);
        let mut rr = 0.0;
        for &i in &self.inside {
            self.r[i] = -problem.w_at(i, f);
            self.p[i] = self.r[i];
            rr += self.r[i] * self.r[i];
        }
        for _ in 0..2 * self.inside.len() + 10 {
            if rr <= REACHED * REACHED || *spent >= budget {
                break;
            }
            *spent += 1;
            let (mut curvature, mut pp) = (0.0, 0.0);
            for &i in &self.inside {
                self.Ap[i] = dot(problem.row(i), &self.p);
                curvature += self.p[i] * self.Ap[i];
                pp += self.p[i] * self.p[i];
            }
            let border = self.border(rows, f);
            if border.is_none() && curvature <= NEARLY_FLAT * pp {
                let ray = provable(problem, self.p.iter().copied());
                if problem.proves(&ray) {
                    self.ray = Some(ray);
                    return Face::Ray;
                }
            }
            let full = if curvature > ACCELERATION_FLAT * pp {
                rr / curvature
            } else {
                f64::INFINITY
            };
            if let Some((t, i, bound)) = border.filter(|b| b.0 <= full) {
                axpy(f, t, &self.p);
                f[i] = bound;
                problem.clamp(f);
                return Face::Border;
            }
            if !full.is_finite() {
                break;
            }
            axpy(f, full, &self.p);
            let mut next = 0.0;
            for &i in &self.inside {
                self.r[i] -= full * self.Ap[i];
                next += self.r[i] * self.r[i];
            }
            for &i in &self.inside {
                self.p[i] = self.r[i] + next / rr * self.p[i];
            }
            rr = next;
        }
        Face::Minimum
    }

    /// The first bound on the way along p: step, row, bound.
    fn border(&self, rows: &[Row], f: &[f64]) -> Option<(f64, usize, f64)> {
        let mut first: Option<(f64, usize, f64)> = None;
        let least = ROUNDING * largest(&self.p);
        for &i in self.inside.iter().filter(|&&i| self.p[i].abs() > least) {
            let (low, high) = bounds(rows[i]);
            let bound = if self.p[i] < 0.0 { low } else { high };
            let t = (bound - f[i]) / self.p[i];
            if t.is_finite() && first.is_none_or(|b| t < b.0) {
                first = Some((t, i, bound));
            }
        }
        first
    }

    /// A proof that there is no solution, if the search has met one.
    pub fn proof(&mut self, problem: &Problem, f: &[f64]) -> Option<Vec<f64>> {
        self.ray.take().or_else(|| running_off(problem, f))
    }
}

/// The forces themselves as a proof, once they are large.
fn running_off(problem: &Problem, f: &[f64]) -> Option<Vec<f64>> {
    if largest(f) < LARGE {
        return None;
    }
    let ray = provable(problem, f.iter().copied());
    problem.proves(&ray).then_some(ray)
}

fn bounds(row: Row) -> (f64, f64) {
    match row {
        Row::OneSided => (0.0, f64::INFINITY),
        Row::Free => (f64::NEG_INFINITY, f64::INFINITY),
        Row::Box { low, high } => (low, high),
        _ => (0.0, 0.0),
    }
}

/// Anderson's mixing: the combination of the last sweeps whose change would be least, if the sweep were linear.
pub(super) struct Mixing {
    /// Differences of change and of result from one sweep to the next, newest last.
    changes: Vec<Vec<f64>>,
    results: Vec<Vec<f64>>,
    /// Change and result of the last sweep.
    last: Option<(Vec<f64>, Vec<f64>)>,
    /// Least change so far, and the f after it.
    least: f64,
    best: Vec<f64>,
    gauss: Gauss,
}

impl Mixing {
    pub fn new(n: usize) -> Self {
        Self {
            changes: Vec::new(),
            results: Vec::new(),
            last: None,
            least: f64::INFINITY,
            best: vec![0.0; n],
            gauss: Gauss::default(),
        }
    }

    /// Replaces `f`, the result of a sweep that began at `from`, by what to sweep next.
    pub fn next(&mut self, problem: &Problem, from: &[f64], f: &mut [f64]) {
        let change: Vec<f64> = f.iter().zip(from).map(|(a, b)| a - b).collect();
        let size = dot(&change, &change).sqrt();
        if size < self.least {
            self.least = size;
            self.best.copy_from_slice(f);
        } else if size.is_nan() || size > FAILED * self.least {
            // The mixture led away: back to the best, without the memory that led here.
            f.copy_from_slice(&self.best);
            self.changes.clear();
            self.results.clear();
            self.last = None;
            self.least = f64::INFINITY;
            return;
        }
        if let Some((old_change, old_result)) = self.last.take() {
            if self.changes.len() == WINDOW {
                self.changes.remove(0);
                self.results.remove(0);
            }
            let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
            self.changes.push(minus(&change, &old_change));
            self.results.push(minus(f, &old_result));
        }
        self.last = Some((change, f.to_vec()));
        self.mix(f);
        problem.clamp(f);
    }

    fn mix(&mut self, f: &mut [f64]) {
        let m = self.changes.len();
        let Some((change, _)) = &self.last else {
            return;
        };
        let mut G = vec![0.0; m * m];
        let mut gamma = vec![0.0; m];
        for r in 0..m {
            for c in 0..m {
                G[r * m + c] = dot(&self.changes[r], &self.changes[c]);
            }
            gamma[r] = dot(&self.changes[r], change);
        }
        // Changes shrink by powers of ten: bring all to one size.
        let size: Vec<f64> = (0..m).map(|k| G[k * m + k].sqrt()).collect();
        if size.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
            self.changes.clear();
            self.results.clear();
            return;
        }
        for r in 0..m {
            gamma[r] /= size[r];
            for c in 0..m {
                G[r * m + c] /= size[r] * size[c];
            }
        }
        self.gauss.solve(&mut G, &mut gamma, m);
        for k in 0..m {
            axpy(f, -gamma[k] / size[k], &self.results[k]);
        }
    }

    /// A proof that there is no solution, if the sweeps run off along one.
    pub fn proof(
        &mut self,
        problem: &Problem,
        from: &[f64],
        f: &[f64],
        sweeps: u32,
    ) -> Option<Vec<f64>> {
        if !sweeps.is_multiple_of(LOOK) {
            return None;
        }
        let ray = provable(problem, f.iter().zip(from).map(|(a, b)| a - b));
        if problem.proves(&ray) {
            return Some(ray);
        }
        running_off(problem, f)
    }
}
