//! Projected Gauss–Seidel: each row in turn is solved for itself and brought into its bounds; exact round cones; interruptible.
//!
//! Reads: a scaled problem, a start.  Writes: f, inside its bounds after every sweep.
//! Called by: `lcp::solve`.
//! Source: [Cottle92] §5.2, \[Acary08] ch. 13; the two accelerations are in `acceleration`.
//! Letters: a contact with a round cone visits its normal row, then both tangents at once on the disc of radius μ f_n.

#![allow(non_snake_case)]

use super::acceleration::{Faces, Mixing};
use super::problem::{Problem, Row, length};
use super::{End, Found, Params};

/// Residual at which sweeps end early [1]: w follows f only as well as A lets it, so the sweeps aim beyond the tolerance.
const EXACT: f64 = 1e-14;
/// Sweeps between two accelerated steps over the faces of the bounds.
const GAUSS_SEIDEL_SWEEPS: u32 = 3;
/// Rounds without a better residual after which a search that has met its tolerance ends.
const GAUSS_SEIDEL_STALLED: u32 = 6;
/// Sweeps without a better residual after which another remedy is tried, on the first pass; more on each later one.
const STUCK: u32 = 200;
/// Pull in units of the response, and part of each change that is taken [1]; the first is the sweep as it is.
const REMEDIES: [(f64, f64); 8] = [
    (0.0, 1.0),
    (0.01, 1.0),
    (0.04, 1.0),
    (0.16, 1.0),
    (0.64, 1.0),
    (2.56, 1.0),
    (0.0, 0.5),
    (0.0, 0.25),
];
/// Part of the way from the anchor below which a change is small [1].
const ARRIVED: f64 = 0.01;
/// Steps to find the force on the rim of a disc.
const RIM_STEPS: u32 = 60;

/// Solves, from `start` if there is one.
pub(super) fn solve(problem: &Problem, params: &Params, start: Option<Vec<f64>>) -> Found {
    let mut f = start.unwrap_or_else(|| vec![0.0; problem.len()]);
    problem.clamp(&mut f);
    if let Some(ray) = idle_proof(problem) {
        return Best::new(problem, &f).found(End::Infeasible(ray), 0);
    }
    let friction = problem.rows().iter().any(|r| r.normal().is_some());
    if problem.symmetric() && !friction {
        faces(problem, params, f)
    } else {
        mixing(problem, params, f)
    }
}

/// A row that answers no force, its own included, and whose condition b breaks: sweeps would pass over it for ever.
fn idle_proof(problem: &Problem) -> Option<Vec<f64>> {
    let idle = (0..problem.len()).filter(|&i| problem.at(i, i) <= 0.0);
    idle.map(|i| {
        let mut ray = vec![0.0; problem.len()];
        ray[i] = if problem.b()[i] < 0.0 { 1.0 } else { -1.0 };
        ray
    })
    .find(|ray| problem.proves(ray))
}

/// The best f so far, and for how long it has been the best.
struct Best {
    f: Vec<f64>,
    residual: f64,
    rounds: u32,
}

impl Best {
    fn new(problem: &Problem, f: &[f64]) -> Self {
        Self {
            f: f.to_vec(),
            residual: problem.natural(f),
            rounds: 0,
        }
    }

    fn offer(&mut self, problem: &Problem, f: &[f64]) -> f64 {
        let residual = problem.natural(f);
        self.rounds += 1;
        if residual < self.residual {
            // A gain of less than a part in ten is no reason to go on.
            if residual < 0.9 * self.residual {
                self.rounds = 0;
            }
            self.residual = residual;
            self.f.copy_from_slice(f);
        }
        residual
    }

    /// Whether more sweeps are of use.
    fn done(&self, params: &Params) -> bool {
        self.residual <= EXACT
            || (self.residual <= params.tolerance && self.rounds >= GAUSS_SEIDEL_STALLED)
    }

    fn found(self, end: End, sweeps: u32) -> Found {
        Found {
            f: self.f,
            end,
            pivots: 0,
            sweeps,
        }
    }
}

/// Symmetric rows without friction minimise ½ fᵀA f + bᵀf inside their bounds: sweeps find the face, conjugate gradients its minimum.
fn faces(problem: &Problem, params: &Params, mut f: Vec<f64>) -> Found {
    let mut best = Best::new(problem, &f);
    let mut faces = Faces::new(problem.len());
    let pull = Pull {
        alpha: 0.0,
        anchor: vec![0.0; problem.len()],
    };
    let mut sweeps = 0;
    while sweeps < params.sweeps && !best.done(params) {
        for _ in 0..GAUSS_SEIDEL_SWEEPS.min(params.sweeps - sweeps) {
            sweep(problem, &pull, &mut f);
            sweeps += 1;
        }
        let spent = faces.minimise(problem, &mut f, params.sweeps - sweeps);
        sweeps += spent;
        if let Some(ray) = faces.proof(problem, &f) {
            return best.found(End::Infeasible(ray), sweeps);
        }
        best.offer(problem, &f);
    }
    best.found(End::Limit, sweeps)
}

/// Other problems minimise nothing: the sweep is a map whose fixed point is sought, with directions mixed from the last changes.
fn mixing(problem: &Problem, params: &Params, mut f: Vec<f64>) -> Found {
    let mut best = Best::new(problem, &f);
    let mut mixing = Mixing::new(problem.len());
    let mut pull = Pull {
        alpha: 0.0,
        anchor: f.clone(),
    };
    let (mut sweeps, mut tried, mut remedy) = (0, 0, 0);
    while sweeps < params.sweeps && !best.done(params) {
        let from = f.clone();
        sweep(problem, &pull, &mut f);
        sweeps += 1;
        for (f, from) in f.iter_mut().zip(&from) {
            *f = from + REMEDIES[remedy].1 * (*f - from);
        }
        best.offer(problem, &f);
        if best.rounds >= STUCK * (1 + tried / REMEDIES.len() as u32) {
            // Around in circles, which strong friction and redundant rows allow: hold on to the best, with another memory.
            tried += 1;
            remedy = tried as usize % REMEDIES.len();
            pull.alpha = REMEDIES[remedy].0;
            pull.anchor.copy_from_slice(&best.f);
            mixing = Mixing::new(problem.len());
            f.copy_from_slice(&best.f);
            best.rounds = 0;
            continue;
        }
        if pull.alpha > 0.0 && arrived(&f, &from, &pull.anchor) {
            pull.anchor.copy_from_slice(&f);
            mixing = Mixing::new(problem.len());
            continue;
        }
        if let Some(ray) = mixing.proof(problem, &from, &f, sweeps) {
            return best.found(End::Infeasible(ray), sweeps);
        }
        mixing.next(problem, &from, &mut f);
    }
    best.found(End::Limit, sweeps)
}

/// Proximal point: A + α with b pulled towards an anchor has the same fixed point once the anchor is the answer, and no redundant rows.
struct Pull {
    alpha: f64,
    anchor: Vec<f64>,
}

/// Whether the last change is small against the way from the anchor.
fn arrived(f: &[f64], from: &[f64], anchor: &[f64]) -> bool {
    let apart = |a: &[f64], b: &[f64]| {
        let pairs = a.iter().zip(b);
        pairs.fold(0.0_f64, |s, (a, b)| s.max((a - b).abs()))
    };
    apart(f, from) <= ARRIVED * apart(f, anchor)
}

/// Visits all rows once. Rows without response keep their f.
fn sweep(problem: &Problem, pull: &Pull, f: &mut [f64]) {
    let Pull { alpha, anchor } = pull;
    for i in 0..problem.len() {
        let own = problem.at(i, i);
        let w = |f: &[f64]| problem.w_at(i, f) + alpha * (f[i] - anchor[i]);
        let free = |f: &[f64]| f[i] - w(f) / (own + alpha);
        match problem.rows()[i] {
            Row::Cone {
                normal,
                coefficient,
            } => {
                let bound = coefficient * f[normal];
                [f[i], f[i + 1]] = disc(problem, pull, i, bound, f);
            }
            Row::Sliding { normal, ratio } => f[i] = ratio * f[normal],
            Row::ConeSecond => {}
            _ if own <= 0.0 => {}
            Row::OneSided => f[i] = free(f).max(0.0),
            Row::Free => f[i] = free(f),
            Row::Box { low, high } => f[i] = free(f).max(low).min(high),
            Row::Planar {
                normal,
                coefficient,
            } => {
                let bound = coefficient * f[normal];
                f[i] = free(f).max(-bound).min(bound);
            }
        }
        // Friction that the new normal force no longer covers is cut at its own visit; without one there is none.
    }
    problem.clamp(f);
}

/// Friction in a plane with all other rows held: w = 0 inside the disc, else on its rim against the slip.
fn disc(problem: &Problem, pull: &Pull, i: usize, bound: f64, f: &[f64]) -> [f64; 2] {
    let (p, q, r) = (
        problem.at(i, i),
        problem.at(i, i + 1),
        problem.at(i + 1, i + 1),
    );
    let q = 0.5 * (q + problem.at(i + 1, i));
    let (p, r) = (p + pull.alpha, r + pull.alpha);
    let largest = 0.5 * (p + r) + (0.25 * (p - r) * (p - r) + q * q).sqrt();
    if !(bound > 0.0 && largest > 0.0) {
        return [0.0; 2];
    }
    // w without this pair: solve (K + λ) x = −c with the least λ ≥ 0 for which |x| ≤ bound.
    let w = |i: usize| problem.w_at(i, f) + pull.alpha * (f[i] - pull.anchor[i]);
    let w = [w(i), w(i + 1)];
    let c = [
        w[0] - p * f[i] - q * f[i + 1],
        w[1] - q * f[i] - r * f[i + 1],
    ];
    let at = |lambda: f64| {
        let (p, r) = (p + lambda, r + lambda);
        let det = p * r - q * q;
        [(q * c[1] - r * c[0]) / det, (q * c[0] - p * c[1]) / det]
    };
    let regular = p * r - q * q > 1e-14 * largest * largest;
    if regular && length(at(0.0)) <= bound {
        return at(0.0);
    }
    // |x(λ)| falls from above the bound to below |c|/λ; Newton on 1/|x| from the left is monotone, bisection guards it.
    let size = length(c);
    if size <= 0.0 {
        return [0.0; 2];
    }
    let (mut low, mut high) = ((size / bound - largest).max(0.0), size / bound);
    let mut lambda = high;
    for _ in 0..RIM_STEPS {
        let x = at(lambda);
        let reach = length(x);
        if (reach - bound).abs() <= 2.0 * f64::EPSILON * bound {
            break;
        }
        if reach > bound {
            low = lambda
        } else {
            high = lambda
        }
        let (p, r) = (p + lambda, r + lambda);
        let slope = (r * x[0] * x[0] - 2.0 * q * x[0] * x[1] + p * x[1] * x[1]) / (p * r - q * q);
        let newton = lambda + (reach - bound) / bound * reach * reach / slope;
        lambda = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        if !(lambda > low && lambda < high) {
            break;
        }
    }
    super::problem::on_disc(at(lambda), bound)
}
