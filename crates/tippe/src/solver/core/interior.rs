//! Primal–dual interior point on all rows at once, with De Saxcé's shift inside the Newton matrix.
//!
//! Reads: the island, impulses to start from.  Writes: the island's best impulses.
//! Called by: `solver::core`.
//! Source: [NesterovTodd98] scaling, [Mehrotra92] predictor and corrector, [AcaryArmand23] for Coulomb's law by an interior point; equations in docs/solver.md.
//!
//! Letters: r̂ = r/λ, û = λ u, λ = 1/√K: all groups are of one size whatever the masses. A cone is made self-dual by T = diag(μ, 1, 1):
//! x = T r̂ and y = T⁻¹(û + ŝ n) are in the second-order cone, x ∘ y = m e on the central path. A bound has x = its distance, y = its multiplier.
//! Contacts with torques or regularised sliding are in `parts`.

use super::island::Island;
use super::parts::Parts;
use super::scaling::{Point, Scaling, determinant, dot, product, quotient, reach};
use crate::math::block_cholesky::Block6;
use crate::solver::law::{answer, shift, smooth_shift};
use crate::solver::problem::{Friction, Law, Problem, ROWS_MAX};

/// Proximal regularisation of inequalities, in scaled rows [1]: keeps the matrix definite where rows depend on each other.
const DELTA: f64 = 1e-8;
/// The same of equalities. Smaller, the rounding of the factor grows (1e-10 fails on half of the recorded chains); larger, joints take more iterations.
const DELTA_EQUAL: f64 = 1e-7;
/// Part of the way to the boundary that is taken [1].
const FRACTION: f64 = 0.95;
/// Least and typical reduction of the complementarity in one iteration [1].
const SIGMA_MIN: f64 = 0.05;
/// A way shorter than this [1] calls for centring, and for two iterations without the derivative of the shift.
const SHORT: f64 = 0.3;
/// The complementarity follows the residual of û − y: not below the square of this part of it.
const FOLLOW: f64 = 0.1;
/// Iterations without progress of residual or complementarity (10 %) after which it gives up.
const STALL_MAX: u32 = 12;
/// Part of the last residual that an iteration below the tolerance has to get under to be followed by another [1].
const GAINS: f64 = 0.1;
/// Least distance from the boundary at a warm start, relative to the velocities [1].
const INSIDE_MIN: f64 = 1e-4;
/// Substitutions of the proximal iteration where all rows are equalities.
const REFINEMENTS_MAX: u32 = 20;
/// A way without end.
const INTERIOR_FAR: f64 = 1e10;

/// How a group appears in the barrier.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Cone(f64),
    /// One-sided: the normal of a contact without friction, a row with a least or a largest impulse.
    Low(f64),
    High(f64),
    Both(f64, f64),
    Equal,
    /// Bounds without room between them.
    Still,
    /// A contact with torques or regularised sliding, by its place.
    Parts(usize),
}

impl Shape {
    fn of(law: &Law) -> Self {
        match *law {
            Law::Equality => Self::Equal,
            Law::Cone(f) if f.sliding > 0.0 => Self::Cone(f.sliding),
            Law::Cone(_) => Self::Low(0.0),
            Law::Bounded { low, high } if low >= high => Self::Still,
            Law::Bounded { low, high } => match (low.is_finite(), high.is_finite()) {
                (true, true) => Self::Both(low, high),
                (true, false) => Self::Low(low),
                (false, true) => Self::High(high),
                (false, false) => Self::Equal,
            },
        }
    }

    /// Number of complementarity conditions; `Parts` count their own.
    const fn degree(self) -> f64 {
        match self {
            Self::Equal | Self::Still | Self::Parts(_) => 0.0,
            Self::Both(..) => 2.0,
            _ => 1.0,
        }
    }
}

/// Unknowns and scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Interior {
    shapes: Vec<Shape>,
    degree: f64,
    cones: bool,
    /// Largest scaled velocity without impulses.
    size: f64,
    /// By group: impulse and velocity sides of the cone or of its bounds.
    x: Vec<Point>,
    y: Vec<Point>,
    /// By block: velocities relative to the free ones.
    d: Vec<Block6>,
    /// By row: impulses, velocities relative to the targets, J Δv, part of Δr that does not depend on Δv, impulses cut to their sets.
    r: Vec<f64>,
    u: Vec<f64>,
    along: Vec<f64>,
    fixed: Vec<f64>,
    cut: Vec<f64>,
    /// By group: residual of y, scaling, derivative of the shift, right-hand side of the complementarity.
    slack: Vec<Point>,
    scalings: Vec<Scaling>,
    slopes: Vec<[f64; 2]>,
    wanted: Vec<Point>,
    weights: Vec<f64>,
    skewed: Vec<f64>,
    /// Whether the matrix at hand has the derivative of the shift.
    general: bool,
    /// Unbalanced momentum, and the direction.
    unbalanced: Vec<Block6>,
    dv: Vec<Block6>,
    dx: Vec<Point>,
    dy: Vec<Point>,
    dr: Vec<f64>,
    /// The predictor's.
    first_dx: Vec<Point>,
    first_dy: Vec<Point>,
    /// Contacts with torques or regularised sliding.
    parts: Vec<Parts>,
}

impl Interior {
    /// At most `iterations` iterations, from the island's best impulses or from none.
    pub(super) fn run(
        &mut self,
        problem: &Problem,
        island: &mut Island,
        warm: bool,
        iterations: u32,
    ) {
        self.begin(problem, island, warm);
        if self.degree == 0.0 {
            self.equalities(problem, island);
            return;
        }
        let (mut stalled, mut plain, mut centre) = (0, 0, false);
        let (mut lowest, mut lowest_m) = (f64::INFINITY, f64::INFINITY);
        for iteration in 0..=iterations {
            let residual = self.look(problem, island);
            let m = self.complementarity(0.0, &self.x, &self.y);
            let better = residual < 0.9 * lowest || m < 0.9 * lowest_m;
            // Below the tolerance it goes on as long as every iteration gains a digit.
            let enough = island.is_polished() || (island.is_met() && residual > GAINS * lowest);
            stalled = if better { 0 } else { stalled + 1 };
            (lowest, lowest_m) = (lowest.min(residual), lowest_m.min(m));
            if enough
                || island.is_exhausted()
                || iteration == iterations
                || stalled > STALL_MAX
                || m.is_nan()
            {
                return;
            }
            self.prepare_rows(problem, island, m);
            if !self.factor(problem, island, plain == 0) {
                return;
            }
            let Some(alpha) = self.advance(problem, island, m, centre) else {
                return;
            };
            centre = alpha < SHORT && !centre;
            plain = if alpha < SHORT && self.general {
                2_u32
            } else {
                plain.saturating_sub(1)
            };
        }
    }

    fn resize(&mut self, problem: &Problem) {
        let (n, rows, blocks) = (problem.groups.len(), problem.rows(), problem.blocks());
        for list in [
            &mut self.x,
            &mut self.y,
            &mut self.slack,
            &mut self.wanted,
            &mut self.dx,
            &mut self.dy,
            &mut self.first_dx,
            &mut self.first_dy,
        ] {
            list.clear();
            list.resize(n, [0.0; 3]);
        }
        for list in [
            &mut self.r,
            &mut self.u,
            &mut self.along,
            &mut self.fixed,
            &mut self.cut,
            &mut self.dr,
        ] {
            list.clear();
            list.resize(rows, 0.0);
        }
        for list in [&mut self.d, &mut self.unbalanced, &mut self.dv] {
            list.clear();
            list.resize(blocks, [0.0; 6]);
        }
        self.scalings.clear();
        self.scalings.resize(n, Scaling::default());
        self.slopes.clear();
        self.slopes.resize(n, [0.0; 2]);
        self.weights.clear();
        self.weights.resize(problem.block_entries, 0.0);
        self.shapes.clear();
        self.parts.clear();
        let mut parts = 0;
        for g in &problem.groups {
            let shape = match g.law {
                Law::Cone(f) if g.rows == ROWS_MAX || f.slip_speed > 0.0 => {
                    parts += 1;
                    Shape::Parts(parts - 1)
                }
                _ => Shape::of(&g.law),
            };
            self.shapes.push(shape);
        }
        let skews = |s: &Shape| matches!(s, Shape::Cone(_) | Shape::Parts(_));
        self.cones = self.shapes.iter().any(skews);
    }

    /// Where it starts: strictly inside all sets.
    fn begin(&mut self, problem: &Problem, island: &mut Island, warm: bool) {
        self.resize(problem);
        if warm {
            self.r.copy_from_slice(&island.best);
        }
        for (i, g) in problem.groups.iter().enumerate() {
            if self.shapes[i] == Shape::Still
                && let Law::Bounded { low, .. } = g.law
            {
                self.r[g.row] = low;
            }
        }
        island
            .matrix
            .transposed_times(problem, &self.r, &mut self.d);
        island.matrix.inverse_times(problem, &mut self.d);
        self.relative_velocities(problem, island);
        self.size = Self::velocity_size(problem, island);
        let size = self.size;
        let inside = if warm {
            (island.residual / island.scale).clamp(INSIDE_MIN, 1.0) * size
        } else {
            size
        };
        for (i, g) in problem.groups.iter().enumerate() {
            let (r, u) = (
                &self.r[g.row..g.row + g.rows],
                &self.u[g.row..g.row + g.rows],
            );
            if let (Shape::Parts(_), Law::Cone(f)) = (self.shapes[i], &g.law) {
                let (r, u) = (scaled(island, i, r, true), scaled(island, i, u, false));
                let kappa = island.scales[i].kappa;
                let parts = Parts::new(f, kappa, &r[..g.rows], &u[..g.rows], inside);
                self.parts.push(parts);
                continue;
            }
            (self.x[i], self.y[i]) = start(self.shapes[i], &g.law, island.lambda[i], r, u, inside);
        }
        self.degree = self.shapes.iter().map(|s| s.degree()).sum::<f64>()
            + self.parts.iter().map(Parts::degree).sum::<f64>();
    }

    fn relative_velocities(&mut self, problem: &Problem, island: &mut Island) {
        island.matrix.rows_times(problem, &self.d, &mut self.u);
        for (u, base) in self.u.iter_mut().zip(&island.base) {
            *u += base;
        }
    }

    /// Impulses of x, velocities of d; offers what they would answer to each other. Returns its residual.
    fn look(&mut self, problem: &Problem, island: &mut Island) -> f64 {
        for (i, g) in problem.groups.iter().enumerate() {
            let (l, x) = (island.lambda[i], &self.x[i]);
            let r = &mut self.r[g.row..g.row + g.rows];
            match self.shapes[i] {
                Shape::Cone(mu) => (r[0], r[1], r[2]) = (x[0] * l / mu, x[1] * l, x[2] * l),
                Shape::Low(low) => r[0] = low + x[0] * l,
                Shape::High(high) => r[0] = high - x[0] * l,
                Shape::Both(low, _) => r[0] = low + x[0] * l,
                Shape::Parts(k) => {
                    let mut own = scaled(island, i, r, true);
                    self.parts[k].impulse(&mut own);
                    for (c, r) in r.iter_mut().enumerate() {
                        *r = own[c] * island.row_scale(i, c);
                    }
                }
                Shape::Equal | Shape::Still => {}
            }
        }
        for (i, g) in problem.groups.iter().enumerate() {
            let rows = g.row..g.row + g.rows;
            let (r, u, out) = (
                &self.r[rows.clone()],
                &self.u[rows.clone()],
                &mut self.cut[rows],
            );
            if self.shapes[i] == Shape::Equal {
                out.copy_from_slice(r);
            } else {
                answer(&g.law, island.scales[i], r, u, None, out);
            }
        }
        let cut = island.offer(problem, &self.cut);
        if island.is_met() {
            return cut;
        }
        cut.min(island.offer(problem, &self.r))
    }

    /// Mean of x·y after α of the direction.
    fn complementarity(&self, alpha: f64, dx: &[Point], dy: &[Point]) -> f64 {
        let mut sum: f64 = self.parts.iter().map(|p| p.complementarity(alpha)).sum();
        for i in 0..self.x.len() {
            if self.shapes[i].degree() > 0.0 {
                let (x, y) = (
                    after(&self.x[i], &dx[i], alpha),
                    after(&self.y[i], &dy[i], alpha),
                );
                sum += dot(&x, &y);
            }
        }
        sum / self.degree
    }

    /// Residuals, scalings and weights at the present point.
    fn prepare_rows(&mut self, problem: &Problem, island: &mut Island, m: f64) {
        island
            .matrix
            .mass_times(problem, &self.d, &mut self.unbalanced);
        island
            .matrix
            .transposed_times(problem, &self.r, &mut self.dv);
        for (f, j) in self
            .unbalanced
            .iter_mut()
            .flatten()
            .zip(self.dv.iter().flatten())
        {
            *f -= j;
        }
        let size = self.size;
        for (i, g) in problem.groups.iter().enumerate() {
            let l = island.lambda[i];
            let u = &self.u[g.row..g.row + g.rows];
            let (x, y) = (&self.x[i], &self.y[i]);
            let w = &mut self.weights[g.block..g.block + g.rows * g.rows];
            match self.shapes[i] {
                Shape::Cone(mu) => {
                    let (s, slope) = smooth_shift(mu, [u[1], u[2]], m / (size * l));
                    self.slopes[i] = slope;
                    self.slack[i] = [(u[0] + s) * l / mu - y[0], u[1] * l - y[1], u[2] * l - y[2]];
                    self.scalings[i] = Scaling::new(y, x, DELTA);
                    let d = self.scalings[i].matrix();
                    let t = [1.0 / mu, 1.0, 1.0];
                    for k in 0..9 {
                        w[g.rows * (k / 3) + k % 3] = l * l * t[k / 3] * d[k] * t[k % 3];
                    }
                }
                Shape::Low(_) => {
                    self.slack[i][0] = u[0] * l - y[0];
                    w[0] = l * l / (y[0] / x[0] + DELTA);
                }
                Shape::High(_) => {
                    self.slack[i][0] = -u[0] * l - y[0];
                    w[0] = l * l / (y[0] / x[0] + DELTA);
                }
                Shape::Both(..) => {
                    self.slack[i][0] = u[0] * l - y[0] + y[1];
                    w[0] = l * l / (y[0] / x[0] + y[1] / x[1]);
                }
                Shape::Equal => {
                    self.slack[i][0] = u[0] * l;
                    w[0] = l * l / DELTA_EQUAL;
                }
                Shape::Parts(k) => {
                    let (own, u) = (
                        scaled(island, i, &self.r[g.row..g.row + g.rows], true),
                        scaled(island, i, u, false),
                    );
                    let Law::Cone(f) = &g.law else { continue };
                    self.parts[k].prepare(&own, &u, m / size, l * f.slip_speed, DELTA);
                    let (d, _) = self.parts[k].weights(false);
                    for e in 0..w.len() {
                        let (a, b) = (e / g.rows, e % g.rows);
                        w[e] = island.row_scale(i, a) * d[6 * a + b] * island.row_scale(i, b);
                    }
                }
                Shape::Still => {}
            }
        }
    }

    /// Largest scaled velocity without impulses.
    fn velocity_size(problem: &Problem, island: &Island) -> f64 {
        let mut size = f64::MIN_POSITIVE;
        for (i, g) in problem.groups.iter().enumerate() {
            for u in &island.base[g.row..g.row + g.rows.min(3)] {
                size = size.max(u.abs() * island.lambda[i]);
            }
        }
        size
    }

    /// Factors the matrix, with the derivative of the shift if asked for and possible.
    fn factor(&mut self, problem: &Problem, island: &mut Island, general: bool) -> bool {
        self.general = general && self.cones;
        if self.general {
            self.skewed.clone_from(&self.weights);
            for (i, g) in problem.groups.iter().enumerate() {
                if let Shape::Parts(k) = self.shapes[i] {
                    let (d, slope) = self.parts[k].weights(true);
                    for e in 0..g.rows * g.rows {
                        let (a, b) = (e / g.rows, e % g.rows);
                        let value = d[6 * a + b] + d[6 * a] * slope[b];
                        self.skewed[g.block + e] =
                            island.row_scale(i, a) * value * island.row_scale(i, b);
                    }
                } else if matches!(self.shapes[i], Shape::Cone(_)) {
                    for k in 0..3 {
                        let n = self.weights[g.block + g.rows * k];
                        for c in 0..2 {
                            self.skewed[g.block + g.rows * k + 1 + c] += n * self.slopes[i][c];
                        }
                    }
                }
            }
            if island.matrix.factor_general(problem, &self.skewed) {
                return true;
            }
            self.general = false;
        }
        island.matrix.factor_symmetric(problem, 1.0, &self.weights)
    }

    /// Predictor, corrector and the way along it; none if the numbers are not finite.
    fn advance(
        &mut self,
        problem: &Problem,
        island: &mut Island,
        m: f64,
        centre: bool,
    ) -> Option<f64> {
        let follow = FOLLOW * self.slack_size();
        let least = |target: f64| target.max(follow * follow).min(10.0 * m);
        if centre {
            self.direction(problem, island, least(m), false);
        } else {
            self.direction(problem, island, 0.0, false);
            let alpha = self.longest(&self.dx, &self.dy).min(1.0);
            let ratio = (self.complementarity(alpha, &self.dx, &self.dy) / m).max(0.0);
            let rest = 1.0 - alpha;
            let sigma = (ratio * ratio * ratio)
                .max(SIGMA_MIN)
                .max(0.3 * rest * rest * rest)
                .min(1.0);
            std::mem::swap(&mut self.dx, &mut self.first_dx);
            std::mem::swap(&mut self.dy, &mut self.first_dy);
            self.parts.iter_mut().for_each(Parts::keep_first);
            self.direction(problem, island, least(sigma * m), true);
        }
        let mut alpha = (FRACTION * self.longest(&self.dx, &self.dy)).min(1.0);
        for _ in 0..5 {
            if self.stays_inside(alpha) {
                break;
            }
            alpha *= 0.8;
        }
        if !alpha.is_finite() || self.dv.iter().flatten().any(|x| !x.is_finite()) {
            return None;
        }
        for (d, dv) in self.d.iter_mut().flatten().zip(self.dv.iter().flatten()) {
            *d += alpha * dv;
        }
        for (u, along) in self.u.iter_mut().zip(&self.along) {
            *u += alpha * along;
        }
        for i in 0..self.x.len() {
            self.x[i] = after(&self.x[i], &self.dx[i], alpha);
            self.y[i] = after(&self.y[i], &self.dy[i], alpha);
        }
        for parts in &mut self.parts {
            parts.go(alpha);
        }
        for (r, dr) in self.r.iter_mut().zip(&self.dr) {
            *r += alpha * dr;
        }
        Some(alpha)
    }

    fn slack_size(&self) -> f64 {
        let mut size = self
            .parts
            .iter()
            .fold(0.0_f64, |a, p| a.max(p.slack_size()));
        for (s, shape) in self.slack.iter().zip(&self.shapes) {
            if shape.degree() > 0.0 {
                size = s.iter().fold(size, |a, x| a.max(x.abs()));
            }
        }
        size
    }

    /// The Newton direction towards x ∘ y = `target`, with the predictor's second-order term if asked for.
    fn direction(&mut self, problem: &Problem, island: &mut Island, target: f64, correct: bool) {
        for i in 0..problem.groups.len() {
            if let Shape::Parts(k) = self.shapes[i] {
                let own = self.parts[k].aim(target, correct, self.general);
                let g = &problem.groups[i];
                for c in 0..g.rows {
                    self.fixed[g.row + c] = island.row_scale(i, c) * own[c];
                }
                continue;
            }
            self.aim(problem, island.lambda[i], i, target, correct);
        }
        island
            .matrix
            .transposed_times(problem, &self.fixed, &mut self.dv);
        for (f, rest) in self
            .dv
            .iter_mut()
            .flatten()
            .zip(self.unbalanced.iter().flatten())
        {
            *f -= rest;
        }
        island.matrix.solve(&mut self.dv);
        island.matrix.rows_times(problem, &self.dv, &mut self.along);
        for i in 0..problem.groups.len() {
            if let Shape::Parts(k) = self.shapes[i] {
                let g = &problem.groups[i];
                let u = scaled(island, i, &self.along[g.row..g.row + g.rows], false);
                let own = self.parts[k].follow(&u, self.general);
                for c in 0..g.rows {
                    self.dr[g.row + c] = island.row_scale(i, c) * own[c];
                }
                continue;
            }
            self.follow(problem, island.lambda[i], i);
        }
    }

    /// Right-hand side of one group: what of Δr does not depend on Δv.
    fn aim(&mut self, problem: &Problem, l: f64, i: usize, target: f64, correct: bool) {
        let g = &problem.groups[i];
        let (x, y, slack) = (&self.x[i], &self.y[i], &self.slack[i]);
        let (dx, dy) = (&self.first_dx[i], &self.first_dy[i]);
        let second = |k: usize| if correct { dx[k] * dy[k] } else { 0.0 };
        let fixed = &mut self.fixed[g.row..g.row + g.rows];
        match self.shapes[i] {
            Shape::Cone(mu) => {
                let w = &self.scalings[i];
                let scaled = w.times(x);
                let squared = product(&scaled, &scaled);
                let mut rest = [target - squared[0], -squared[1], -squared[2]];
                if correct {
                    let c = product(&w.over(dy), &w.times(dx));
                    rest = after(&rest, &c, -1.0);
                }
                self.wanted[i] = quotient(&scaled, &rest);
                let (a, b) = (w.damped(&self.wanted[i]), w.soft(slack));
                fixed[0] = l * (a[0] - b[0]) / mu;
                fixed[1] = l * (a[1] - b[1]);
                fixed[2] = l * (a[2] - b[2]);
            }
            Shape::Low(_) | Shape::High(_) => {
                let sign = if matches!(self.shapes[i], Shape::High(_)) {
                    -1.0
                } else {
                    1.0
                };
                self.wanted[i][0] = (target - x[0] * y[0] - second(0)) / x[0];
                fixed[0] = sign * l * (self.wanted[i][0] - slack[0]) / (y[0] / x[0] + DELTA);
            }
            Shape::Both(..) => {
                let at = |k: usize| (target - x[k] * y[k] - second(k)) / x[k];
                self.wanted[i] = [at(0), at(1), 0.0];
                let stiffness = y[0] / x[0] + y[1] / x[1];
                fixed[0] = l * (self.wanted[i][0] - self.wanted[i][1] - slack[0]) / stiffness;
            }
            Shape::Equal => fixed[0] = -l * slack[0] / DELTA_EQUAL,
            Shape::Still | Shape::Parts(_) => {}
        }
    }

    /// Δx and Δy of one group from J Δv.
    fn follow(&mut self, problem: &Problem, l: f64, i: usize) {
        let g = &problem.groups[i];
        let (x, y, slack, wanted) = (&self.x[i], &self.y[i], &self.slack[i], &self.wanted[i]);
        let u = &self.along[g.row..g.row + g.rows];
        match self.shapes[i] {
            Shape::Cone(mu) => {
                let s = if self.general {
                    self.slopes[i][0] * u[1] + self.slopes[i][1] * u[2]
                } else {
                    0.0
                };
                let f = [
                    (u[0] + s) * l / mu + slack[0],
                    u[1] * l + slack[1],
                    u[2] * l + slack[2],
                ];
                // Two products, not the product of a difference: that would cancel.
                let (a, b) = (self.scalings[i].damped(wanted), self.scalings[i].soft(&f));
                self.dx[i] = after(&a, &b, -1.0);
                self.dy[i] = after(&f, &self.dx[i], DELTA);
            }
            Shape::Low(_) | Shape::High(_) => {
                let sign = if matches!(self.shapes[i], Shape::High(_)) {
                    -1.0
                } else {
                    1.0
                };
                let f = sign * u[0] * l + slack[0];
                self.dx[i][0] = (wanted[0] - f) / (y[0] / x[0] + DELTA);
                self.dy[i][0] = f + DELTA * self.dx[i][0];
            }
            Shape::Both(..) => {
                let (a, b) = (y[0] / x[0], y[1] / x[1]);
                let dx = (wanted[0] - wanted[1] - slack[0] - u[0] * l) / (a + b);
                self.dx[i] = [dx, -dx, 0.0];
                self.dy[i] = [wanted[0] - a * dx, wanted[1] + b * dx, 0.0];
            }
            Shape::Equal => self.dr[g.row] = -l * (u[0] * l + slack[0]) / DELTA_EQUAL,
            Shape::Still | Shape::Parts(_) => {}
        }
    }

    /// The way to the boundary.
    fn longest(&self, dx: &[Point], dy: &[Point]) -> f64 {
        let mut alpha = self
            .parts
            .iter()
            .fold(INTERIOR_FAR, |a: f64, p| a.min(p.longest(INTERIOR_FAR)));
        for i in 0..self.x.len() {
            for (x, d) in [(&self.x[i], &dx[i]), (&self.y[i], &dy[i])] {
                match self.shapes[i] {
                    Shape::Cone(_) => alpha = alpha.min(reach(x, d, INTERIOR_FAR)),
                    Shape::Equal | Shape::Still | Shape::Parts(_) => {}
                    shape => {
                        for k in 0..shape.degree() as usize {
                            if d[k] < 0.0 {
                                alpha = alpha.min(-x[k] / d[k]);
                            }
                        }
                    }
                }
            }
        }
        alpha
    }

    /// Whether rounding left all cones positive.
    fn stays_inside(&self, alpha: f64) -> bool {
        let fine = |x: &Point, d: &Point| determinant(&after(x, d, alpha)) > 1e-14 * determinant(x);
        self.parts.iter().all(|p| p.stays_inside(alpha))
            && (0..self.x.len()).all(|i| {
                !matches!(self.shapes[i], Shape::Cone(_))
                    || (fine(&self.x[i], &self.dx[i]) && fine(&self.y[i], &self.dy[i]))
            })
    }

    /// All rows are equalities: the matrix stays the same, and r ← r − û/δ converges to a multiplier.
    fn equalities(&mut self, problem: &Problem, island: &mut Island) {
        let mut last = self.look(problem, island);
        if island.is_polished() {
            return;
        }
        self.prepare_rows(problem, island, 0.0);
        if !self.factor(problem, island, false) {
            return;
        }
        for _ in 0..REFINEMENTS_MAX {
            self.direction(problem, island, 0.0, false);
            for (d, dv) in self.d.iter_mut().flatten().zip(self.dv.iter().flatten()) {
                *d += dv;
            }
            for (r, dr) in self.r.iter_mut().zip(&self.dr) {
                *r += dr;
            }
            for (u, along) in self.u.iter_mut().zip(&self.along) {
                *u += along;
            }
            let residual = self.look(problem, island);
            if island.is_polished() || residual > 0.9 * last || island.is_exhausted() {
                return;
            }
            last = residual;
            self.prepare_rows(problem, island, 0.0);
        }
    }
}

/// Impulses or velocities of a group, scaled; zero beyond its rows.
fn scaled(island: &Island, group: usize, from: &[f64], impulses: bool) -> [f64; 6] {
    let mut out = [0.0; 6];
    for (k, x) in from.iter().enumerate() {
        let l = island.row_scale(group, k);
        out[k] = if impulses { x / l } else { x * l };
    }
    out
}

/// x + α d
pub(super) fn after(x: &Point, d: &Point, alpha: f64) -> Point {
    [
        x[0] + alpha * d[0],
        x[1] + alpha * d[1],
        x[2] + alpha * d[2],
    ]
}

/// A point at least `inside` from the boundary, near the impulses and velocities of one group.
fn start(shape: Shape, law: &Law, l: f64, r: &[f64], u: &[f64], inside: f64) -> (Point, Point) {
    let lifted = |mut z: Point| {
        let lack = (z[1] * z[1] + z[2] * z[2]).sqrt() - z[0] + inside;
        z[0] += lack.max(0.0);
        z
    };
    let one = |r: f64, u: f64| {
        (
            [r.abs().max(inside), 0.0, 0.0],
            [u.abs().max(inside), 0.0, 0.0],
        )
    };
    match shape {
        Shape::Cone(mu) => {
            let s = match law {
                Law::Cone(f) => shift(
                    &Friction {
                        slip_speed: 0.0,
                        ..*f
                    },
                    u,
                ),
                _ => 0.0,
            };
            let x = [mu * r[0] / l, r[1] / l, r[2] / l];
            (lifted(x), lifted([(u[0] + s) * l / mu, u[1] * l, u[2] * l]))
        }
        Shape::Low(low) => one((r[0] - low) / l, u[0] * l),
        Shape::High(high) => one((high - r[0]) / l, u[0] * l),
        Shape::Both(low, high) => {
            let width = (high - low) / l;
            let a = ((r[0] - low) / l)
                .clamp(0.1 * width, 0.9 * width)
                .max(f64::MIN_POSITIVE);
            let z = u[0] * l;
            (
                [a, width - a, 0.0],
                [z.max(0.0) + inside, (-z).max(0.0) + inside, 0.0],
            )
        }
        Shape::Equal | Shape::Still | Shape::Parts(_) => ([0.0; 3], [0.0; 3]),
    }
}
