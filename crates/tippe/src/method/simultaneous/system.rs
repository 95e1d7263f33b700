//! The one symmetric system A p = b over contacts and connections, with every row in its set: 0 ≤ p ⊥ u ≥ 0 at contacts.
//!
//! Reads: a `Problem`, sets of its rows.  Writes: impulses p of the rows and their velocities u.
//! Called by: `method::simultaneous::passes`.
//! Source: [Ermolin] eq. 3–8 with the corrections of docs/methods/simultaneous.md; factored by `solver::matrix` in the space of the bodies.
//! Letters: A = J M⁻¹ Jᵀ, u = u⁰ + A p relative to targets, D = 1/ε stiffness of the rows.
//!
//! A is never formed. (A + ε) p = b is the same as (M + Jᵀ D J) d = −Jᵀ D u⁰ with p = −D (u⁰ + J d), which the sparse factorisation of the solver takes in
//! O(bodies) for chains. ε is uniform over the contacts, so that p is the solution of least norm where contacts are redundant; rounds about the
//! last p remove ε. The first Newton iteration is the paper's equality solve; rows that would pull leave it, rows that approach come back, and
//! since all of them descend one convex function, they end.

use super::sets::{Answer, Set};
use crate::math::block_cholesky::Block6;
use crate::solver::matrix::Matrix;
use crate::solver::problem::Problem;

/// 1/ε relative to the least response of a contact [1], what it grows by where rounds shrink the error slowly, how slowly, and how often: long chains
/// have small eigenvalues. The softer the first round, the less rounding goes into impulses that cancel each other.
const STIFFNESS: f64 = 1e6;
const GROWTH: f64 = 1e3;
const SLOWLY: f64 = 0.05;
const GROWTHS_MAX: u32 = 1;
/// Spread of responses within which ε is uniform [1]; beyond it, stiffness follows the response, or rounding would be all that is left.
const SPREAD: f64 = 1e4;
/// Rounds, Newton iterations of a round, trials of a length.
const ROUNDS_MAX: u32 = 40;
const NEWTON_MAX: u32 = 60;
const LENGTHS_MAX: u32 = 40;
/// Slope at which a length is accepted, relative to its start [1].
const SLOPE: f64 = 0.1;
/// Newton's decrement that ends a round, relative to its first [1].
const DECREMENT: f64 = 1e-18;
/// Residual that counts as rounding, and one that does while friction bounds are still being found, relative to the largest velocity [1].
pub(super) const EXACT: f64 = 1e-14;
pub(super) const ROUGH: f64 = 1e-9;
/// Residual that a softer matrix removes soon enough, relative to the largest velocity [1].
const NEARLY: f64 = 1e-11;
/// Part of the residual before that a round must get under, and rounds in vain that are allowed.
const STALLED: f64 = 0.5;
const STALLS_MAX: u32 = 2;
/// Residual of a system that has no solution, relative to the largest velocity [1].
const INCONSISTENT: f64 = 1e-8;

/// What one solve came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solved {
    /// Worst natural map that is left [m/s or rad/s].
    pub residual: f64,
    /// Largest velocity that no impulses can remove: a squeeze between bodies of prescribed motion [m/s].
    pub contradiction: f64,
    /// Whether the rounds ended at their limit.
    pub capped: bool,
}

/// The system with its scratch; buffers are kept between solves.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    pub matrix: Matrix,
    /// By row: its set, its impulse, its velocity relative to its target.
    pub sets: Vec<Set>,
    pub p: Vec<f64>,
    pub u: Vec<f64>,
    /// By row: u without any impulse, the response A_ll and the stiffness D.
    pub base: Vec<f64>,
    pub response: Vec<f64>,
    stiffness: Vec<f64>,
    /// How often it has grown.
    growths: u32,
    /// Largest |u| without any impulse, and the residual relative to it that a solve ends at.
    pub scale: f64,
    pub exact: f64,
    /// Whether the factor at hand belongs to the states at hand.
    states: Vec<u8>,
    factored: Vec<u8>,
    weights: Vec<f64>,
    /// By row: projected impulses, velocities at d, J Δ, where a search starts, impulses before the solve.
    wanted: Vec<f64>,
    at: Vec<f64>,
    along: Vec<f64>,
    change: Vec<f64>,
    start: Vec<f64>,
    /// By block: d, direction, scratch.
    d: Vec<Block6>,
    direction: Vec<Block6>,
    product: Vec<Block6>,
    moved: Vec<Block6>,
}

impl System {
    /// Orders the elimination, with no impulses; false if a factorisation takes more than `cost_max` block products.
    pub(super) fn prepare(&mut self, problem: &Problem, cost_max: u64) -> bool {
        let (n, blocks) = (problem.rows(), problem.blocks());
        for rows in [
            &mut self.p,
            &mut self.wanted,
            &mut self.at,
            &mut self.along,
            &mut self.change,
            &mut self.start,
            &mut self.response,
            &mut self.stiffness,
            &mut self.base,
            &mut self.u,
        ] {
            rows.clear();
            rows.resize(n, 0.0);
        }
        for of_blocks in [
            &mut self.d,
            &mut self.direction,
            &mut self.product,
            &mut self.moved,
        ] {
            of_blocks.clear();
            of_blocks.resize(blocks, [0.0; 6]);
        }
        self.exact = EXACT;
        self.sets.clear();
        self.sets.resize(n, Set::Held);
        self.states.clear();
        self.states.resize(n, 0);
        self.factored.clear();
        self.weights.clear();
        self.weights.resize(problem.block_entries, 0.0);
        self.matrix.work = crate::solver::problem::Work::default();
        for g in &problem.groups {
            for row in 0..g.rows {
                let k = self.matrix.response(problem, g, row, &mut self.moved);
                self.response[g.row + row] = if k > 0.0 { k } else { 0.0 };
            }
        }
        self.matrix
            .rows_times(problem, &problem.free, &mut self.base);
        for (u, target) in self.base.iter_mut().zip(&problem.target) {
            *u -= target;
        }
        self.u.copy_from_slice(&self.base);
        self.scale = self.base.iter().fold(0.0, |a: f64, u| a.max(u.abs()));
        self.matrix.prepare(problem, cost_max)
    }

    /// Stiffness of every row: uniform over groups of several rows and rows that only push, by their response for connections.
    pub(super) fn stiffen(&mut self, problem: &Problem, is_contact: impl Fn(usize) -> bool) {
        let mut least = f64::INFINITY;
        for (i, g) in problem.groups.iter().enumerate() {
            if is_contact(i) && self.response[g.row] > 0.0 {
                least = least.min(self.response[g.row]);
            }
        }
        for (i, g) in problem.groups.iter().enumerate() {
            for k in g.row..g.row + g.rows {
                let own = self.response[k];
                // Torques have another unit.
                let like = if is_contact(i) && k - g.row < 3 {
                    least.max(self.response[g.row] / SPREAD)
                } else {
                    own
                };
                self.stiffness[k] = if own > 0.0 { STIFFNESS / like } else { 0.0 };
            }
        }
        self.growths = 0;
        self.factored.clear();
    }

    /// Brings every row into its set, from the impulses at hand. What no impulses can remove is reported and left.
    pub(super) fn solve(&mut self, problem: &Problem) -> Solved {
        self.start.copy_from_slice(&self.p);
        let mut solved = self.rounds(problem);
        if solved.residual <= INCONSISTENT * self.scale {
            return solved;
        }
        // Impulses that grew against each other are taken back; the targets move by what they could not remove.
        let left = self.unmet();
        for (base, left) in self.base.iter_mut().zip(&left) {
            *base -= left;
        }
        self.p.copy_from_slice(&self.start);
        self.velocities(problem);
        let again = self.rounds(problem);
        for (base, left) in self.base.iter_mut().zip(&left) {
            *base += left;
        }
        self.velocities(problem);
        solved.contradiction = left.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        solved.residual = again.residual;
        solved.capped = again.capped;
        solved
    }

    /// By row that takes part: the velocity that its set does not allow.
    fn unmet(&self) -> Vec<f64> {
        let mut left = vec![0.0; self.u.len()];
        for (k, set) in self.sets.iter().enumerate() {
            let missed = match set {
                Set::Any => self.u[k],
                Set::Between(low, high) if self.p[k] > *low && self.p[k] < *high => self.u[k],
                _ => 0.0,
            };
            left[k] = missed;
        }
        left
    }

    /// u = u⁰ + J M⁻¹ Jᵀ p
    pub(super) fn velocities(&mut self, problem: &Problem) {
        let matrix = &mut self.matrix;
        matrix.transposed_times(problem, &self.p, &mut self.moved);
        matrix.inverse_times(problem, &mut self.moved);
        matrix.rows_times(problem, &self.moved, &mut self.u);
        for (u, base) in self.u.iter_mut().zip(&self.base) {
            *u += base;
        }
    }

    /// Rounds about the last impulses, each of which shrinks the error by ε over the least eigenvalue that counts.
    fn rounds(&mut self, problem: &Problem) -> Solved {
        let mut residual = self.residual();
        let mut stalls = 0;
        for _ in 0..ROUNDS_MAX {
            if residual <= self.exact * self.scale || stalls > STALLS_MAX {
                return Solved {
                    residual,
                    ..Solved::default()
                };
            }
            self.round(problem);
            self.velocities(problem);
            let now = self.residual();
            let slow = now > SLOWLY * residual && now > NEARLY * self.scale;
            if slow && self.growths < GROWTHS_MAX {
                self.growths += 1;
                self.stiffness.iter_mut().for_each(|d| *d *= GROWTH);
                self.factored.clear();
            } else {
                stalls += u32::from(now > STALLED * residual);
            }
            residual = now;
        }
        Solved {
            residual,
            capped: residual > INCONSISTENT * self.scale,
            ..Solved::default()
        }
    }

    /// Finds d with M d = Jᵀ(p⁺ − p), p⁺ = proj(p − D (u + J d)); p becomes p⁺.
    fn round(&mut self, problem: &Problem) {
        self.d.fill([0.0; 6]);
        self.at.copy_from_slice(&self.u);
        let mut first = 0.0;
        for iteration in 0..NEWTON_MAX {
            let rim = self.evaluate(0.0);
            for (change, (w, p)) in self.change.iter_mut().zip(self.wanted.iter().zip(&self.p)) {
                *change = w - p;
            }
            let settled = iteration > 0 && !rim && self.states == self.factored;
            if settled || !self.newton(problem, rim) {
                break;
            }
            let (to_d, own) = self.inertial(problem);
            let decrement = dot(&self.along, &self.change) - to_d;
            if iteration == 0 {
                first = decrement;
            } else if decrement <= DECREMENT * first {
                break;
            }
            let length = self.length(decrement, to_d, own);
            for (d, step) in self
                .d
                .iter_mut()
                .flatten()
                .zip(self.direction.iter().flatten())
            {
                *d += length * step;
            }
            for (at, along) in self.at.iter_mut().zip(&self.along) {
                *at += length * along;
            }
        }
        self.evaluate(0.0);
        self.p.copy_from_slice(&self.wanted);
    }

    /// Projects at a length along the direction; fills what is wanted and, for no length, states. Says whether one is on a rim.
    fn evaluate(&mut self, length: f64) -> bool {
        let mut rim = false;
        let mut k = 0;
        while k < self.sets.len() {
            let set = self.sets[k];
            if matches!(set, Set::Held | Set::Second) || self.stiffness[k] == 0.0 {
                self.wanted[k] = self.p[k];
                self.states[k] = 0;
                k += 1;
                continue;
            }
            let answer = self.answer(k, length);
            rim |= answer.state == 2;
            for i in 0..set.rows() {
                self.wanted[k + i] = answer.p[i];
                self.states[k + i] = answer.state;
            }
            k += set.rows();
        }
        rim
    }

    /// What the set at a row answers at a length along the direction.
    fn answer(&self, k: usize, length: f64) -> Answer {
        let z = |k: usize| self.p[k] - self.stiffness[k] * (self.at[k] + length * self.along[k]);
        let second = if self.sets[k].rows() == 2 {
            z(k + 1)
        } else {
            0.0
        };
        self.sets[k].project([z(k), second])
    }

    /// Newton's direction: (M + Jᵀ W J) Δ = Jᵀ(p⁺ − p) − M d. False if the matrix cannot be factored.
    fn newton(&mut self, problem: &Problem, rim: bool) -> bool {
        if rim || self.states != self.factored {
            self.weigh(problem);
            if !self.matrix.factor_symmetric(problem, 1.0, &self.weights) {
                self.factored.clear();
                return false;
            }
            self.factored.clone_from(&self.states);
        }
        let matrix = &mut self.matrix;
        matrix.transposed_times(problem, &self.change, &mut self.direction);
        matrix.mass_times(problem, &self.d, &mut self.product);
        for (f, m) in self
            .direction
            .iter_mut()
            .flatten()
            .zip(self.product.iter().flatten())
        {
            *f -= m;
        }
        matrix.solve(&mut self.direction);
        matrix.rows_times(problem, &self.direction, &mut self.along);
        true
    }

    /// D times the slopes of the projections, by group.
    fn weigh(&mut self, problem: &Problem) {
        self.weights.fill(0.0);
        for g in &problem.groups {
            let n = g.rows;
            let mut i = 0;
            while i < n {
                let k = g.row + i;
                let rows = self.sets[k].rows();
                if self.states[k] != 0 {
                    let s = self.answer(k, 0.0).slope;
                    let w = &mut self.weights[g.block..g.block + n * n];
                    w[n * i + i] = self.stiffness[k] * s[0];
                    if rows == 2 {
                        let j = i + 1;
                        w[n * i + j] = self.stiffness[k] * s[1];
                        w[n * j + i] = self.stiffness[k] * s[1];
                        w[n * j + j] = self.stiffness[k] * s[2];
                    }
                }
                i += rows;
            }
        }
    }

    /// Δᵀ M d and Δᵀ M Δ.
    fn inertial(&mut self, problem: &Problem) -> (f64, f64) {
        let flat = |a: &[Block6], b: &[Block6]| -> f64 {
            a.iter()
                .flatten()
                .zip(b.iter().flatten())
                .map(|(x, y)| x * y)
                .sum()
        };
        self.matrix
            .mass_times(problem, &self.direction, &mut self.product);
        (
            flat(&self.product, &self.d),
            flat(&self.product, &self.direction),
        )
    }

    /// The length where the slope Δᵀ(Jᵀ(p⁺ − p) − M d) of the convex function along the direction is nearly zero, from its value at the start;
    /// 1 where a whole step does not overshoot.
    fn length(&mut self, start: f64, to_d: f64, own: f64) -> f64 {
        let slope = |length: f64, s: &mut Self| {
            s.evaluate(length);
            let mut sum = -to_d - length * own;
            for k in 0..s.p.len() {
                sum += s.along[k] * (s.wanted[k] - s.p[k]);
            }
            sum
        };
        if slope(1.0, self) >= -SLOPE * start {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..LENGTHS_MAX {
            let middle = 0.5 * (low + high);
            let at = slope(middle, self);
            if at.abs() <= SLOPE * start {
                return middle;
            }
            if at > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Worst natural map |p − proj(p − u/A_ll)| A_ll of the rows that take part.
    pub(super) fn residual(&self) -> f64 {
        let mut worst = 0.0_f64;
        let mut k = 0;
        while k < self.sets.len() {
            let (set, a) = (self.sets[k], self.response[k]);
            if matches!(set, Set::Held | Set::Second) || a == 0.0 {
                k += 1;
                continue;
            }
            let rows = set.rows();
            let mut z = [0.0; 2];
            for i in 0..rows {
                z[i] = self.p[k + i] - self.u[k + i] / a;
            }
            let p = set.project(z).p;
            for i in 0..rows {
                worst = worst.max((self.p[k + i] - p[i]).abs() * a);
            }
            k += rows;
        }
        worst
    }
}

/// Σ a b
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
