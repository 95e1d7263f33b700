//! Proximal Newton: the stiffened law of every row, its balance found by Newton's method, the stiffness raised from round to round.
//!
//! Reads: the island's best impulses.  Writes: the island's best impulses.
//! Called by: `solver::core`, for warm starts and as the last polish.
//! Source: augmented Lagrangian with semi-smooth Newton steps, [AlartCurnier91]; equations in docs/solver.md.
//!
//! A round has the centre r with its velocities u and finds d with M d = Jᵀ(r⁺ − r), r⁺ = proj(r − ρ(u + J d + s n)), ρ = σ/K. Coupled: the shift s is that of
//! u + J d; the matrix is not symmetric; lengths are shortened on the size of what is unbalanced. Held: s is fixed, the balance is the least of a convex function, and
//! the length is where the slope along the direction vanishes. A round is balanced by its energy, |F| in M⁻¹, against a velocity: never below rounding.

use super::island::Island;
use crate::math::block_cholesky::Block6;
use crate::solver::law::{Scales, answer, answer_derivative, shift};
use crate::solver::problem::{Law, Problem};

/// Stiffness relative to a row's own mass, first and last [1].
const STIFFNESS_FIRST: f64 = 1e4;
const STIFFNESS_LAST: f64 = 1e6;
/// Newton iterations of a round, with the shift found together and with the shift held.
const COUPLED_MAX: u32 = 12;
const HELD_MAX: u32 = 40;
/// Lengths tried in one direction.
const LENGTHS_MAX: u32 = 12;
const SLOPES_MAX: u32 = 25;
/// How many of the last sizes count as lately: not every direction leads downhill at once.
const LATELY: usize = 3;
/// A round is balanced at this part of the tolerance [1], or where rounding ends it, relative to its start [1].
const BALANCED: f64 = 1e-2;
const NEWTON_ROUNDING: f64 = 1e-13;
/// Failed rounds after which it gives up.
const FAILED_MAX: u32 = 5;

/// Scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    /// By row: centre, its velocities; velocities at d, J Δ, where a search starts, r⁺.
    r: Vec<f64>,
    centre: Vec<f64>,
    u: Vec<f64>,
    along: Vec<f64>,
    from: Vec<f64>,
    wanted: Vec<f64>,
    change: Vec<f64>,
    /// By group: held shifts.
    shifts: Vec<f64>,
    weights: Vec<f64>,
    /// By block: d, where a search starts, −F, direction, scratch.
    d: Vec<Block6>,
    d_from: Vec<Block6>,
    force: Vec<Block6>,
    direction: Vec<Block6>,
    product: Vec<Block6>,
    stiffness: f64,
}

impl Newton {
    /// Rounds from the island's best impulses, with at most `factorisations` (a round at hand may end).
    pub(super) fn run(
        &mut self,
        problem: &Problem,
        island: &mut Island,
        factorisations: u32,
        rounds: u32,
    ) {
        self.resize(problem, island);
        let end = island.last_factorisation(factorisations);
        let mut residual = island.residual;
        self.stiffness = STIFFNESS_FIRST;
        let (mut coupled, mut failed, mut stalled) = (true, 0, false);
        for _ in 0..rounds {
            let enough = island.is_polished() || (island.is_met() && stalled);
            if enough || island.factorisations() >= end || island.is_exhausted() {
                return;
            }
            let most = end - island.factorisations();
            let balanced = if coupled {
                self.coupled(problem, island, most.min(COUPLED_MAX))
            } else {
                self.held(problem, island, most.min(HELD_MAX))
            };
            let found = island.offer(problem, &self.wanted);
            stalled = !balanced || found > 0.5 * residual;
            let take = found.is_finite() && (balanced || !coupled || found < 0.5 * residual);
            if coupled && balanced {
                self.stiffness = (10.0 * self.stiffness).min(STIFFNESS_LAST);
                failed += u32::from(found > 0.5 * residual);
                if failed >= 2 {
                    (coupled, failed, self.stiffness) = (false, 0, STIFFNESS_FIRST);
                }
            } else if coupled {
                (coupled, self.stiffness) = (false, STIFFNESS_FIRST);
            } else {
                coupled = true;
                failed = if balanced { 0 } else { failed + 1 };
                if failed > FAILED_MAX {
                    return;
                }
            }
            if take {
                residual = found;
                self.r.copy_from_slice(&self.wanted);
                island.velocities(problem, &self.r, &mut self.centre);
            }
        }
    }

    fn resize(&mut self, problem: &Problem, island: &Island) {
        let (rows, blocks) = (problem.rows(), problem.blocks());
        for list in [
            &mut self.u,
            &mut self.along,
            &mut self.from,
            &mut self.wanted,
            &mut self.change,
        ] {
            list.resize(rows, 0.0);
        }
        for list in [
            &mut self.d,
            &mut self.d_from,
            &mut self.force,
            &mut self.direction,
            &mut self.product,
        ] {
            list.resize(blocks, [0.0; 6]);
        }
        self.shifts.resize(problem.groups.len(), 0.0);
        self.weights.clear();
        self.weights.resize(problem.block_entries, 0.0);
        self.r.clone_from(&island.best);
        self.centre.clone_from(&island.best_u);
    }

    /// What a round may leave unbalanced, as the root of an energy.
    fn tolerance(island: &Island) -> f64 {
        let softest = island
            .lambda
            .iter()
            .fold(f64::INFINITY, |a: f64, l| a.min(*l));
        BALANCED * island.aim * softest
    }

    /// r⁺ at the present velocities, with the derivative if asked for.
    fn respond(&mut self, problem: &Problem, island: &mut Island, held: bool, derivative: bool) {
        island.matrix.work.rows += problem.rows() as u64;
        for (i, g) in problem.groups.iter().enumerate() {
            let rows = g.row..g.row + g.rows;
            let scales = Scales {
                rho: self.stiffness * island.scales[i].rho,
                ..island.scales[i]
            };
            let (r, u, out) = (
                &self.r[rows.clone()],
                &self.u[rows.clone()],
                &mut self.wanted[rows],
            );
            let s = held.then_some(self.shifts[i]);
            if derivative {
                let w = &mut self.weights[g.block..g.block + g.rows * g.rows];
                answer_derivative(&g.law, scales, r, u, s, out, w);
            } else {
                answer(&g.law, scales, r, u, s, out);
            }
        }
    }

    /// −F = Jᵀ(r⁺ − r) − M d; returns the root of its energy.
    fn balance(&mut self, problem: &Problem, island: &mut Island) -> f64 {
        for ((c, w), r) in self.change.iter_mut().zip(&self.wanted).zip(&self.r) {
            *c = w - r;
        }
        island
            .matrix
            .transposed_times(problem, &self.change, &mut self.force);
        island
            .matrix
            .mass_times(problem, &self.d, &mut self.product);
        for (f, m) in self
            .force
            .iter_mut()
            .flatten()
            .zip(self.product.iter().flatten())
        {
            *f -= m;
        }
        self.product.copy_from_slice(&self.force);
        island.matrix.inverse_times(problem, &mut self.product);
        dot(&self.product, &self.force).max(0.0).sqrt()
    }

    fn begin(&mut self) {
        self.d.fill([0.0; 6]);
        self.u.copy_from_slice(&self.centre);
    }

    /// Shift found together with the rest; whether it is balanced.
    fn coupled(&mut self, problem: &Problem, island: &mut Island, most: u32) -> bool {
        self.begin();
        let tolerance = Self::tolerance(island);
        self.respond(problem, island, false, true);
        let first = self.balance(problem, island);
        let mut size = first;
        let mut lately = [first; LATELY];
        for iteration in 0..most as usize {
            if size <= tolerance.max(NEWTON_ROUNDING * first) {
                return true;
            }
            if !island.matrix.factor_general(problem, &self.weights) {
                return false;
            }
            self.direction.copy_from_slice(&self.force);
            island.matrix.solve(&mut self.direction);
            if self.direction.iter().flatten().any(|x| !x.is_finite()) {
                return false;
            }
            let allowed = lately.iter().fold(0.0, |a: f64, b| a.max(*b));
            match self.shorten(problem, island, allowed) {
                Some(found) => size = found,
                None => return false,
            }
            lately[iteration % LATELY] = size;
        }
        size <= tolerance.max(NEWTON_ROUNDING * first)
    }

    /// The longest part of the direction that leaves less unbalanced than allowed.
    fn shorten(&mut self, problem: &Problem, island: &mut Island, allowed: f64) -> Option<f64> {
        island
            .matrix
            .rows_times(problem, &self.direction, &mut self.along);
        self.d_from.copy_from_slice(&self.d);
        self.from.copy_from_slice(&self.u);
        let mut length = 1.0;
        for _ in 0..LENGTHS_MAX {
            self.go(length);
            self.respond(problem, island, false, true);
            let size = self.balance(problem, island);
            if size < allowed * (1.0 - 1e-4 * length) {
                return Some(size);
            }
            length *= 0.5;
        }
        None
    }

    /// d and u at a length of the direction from where the search began.
    fn go(&mut self, length: f64) {
        let moves = self
            .d
            .iter_mut()
            .flatten()
            .zip(self.d_from.iter().flatten());
        for ((d, from), x) in moves.zip(self.direction.iter().flatten()) {
            *d = from + length * x;
        }
        for ((u, from), a) in self.u.iter_mut().zip(&self.from).zip(&self.along) {
            *u = from + length * a;
        }
    }

    /// Shift held at that of the centre; whether it is balanced.
    fn held(&mut self, problem: &Problem, island: &mut Island, most: u32) -> bool {
        self.begin();
        for (i, g) in problem.groups.iter().enumerate() {
            if let Law::Cone(f) = &g.law {
                self.shifts[i] = shift(f, &self.centre[g.row..g.row + g.rows]);
            }
        }
        let tolerance = Self::tolerance(island);
        let mut first = 0.0;
        for iteration in 0..=most {
            self.respond(problem, island, true, true);
            let size = self.balance(problem, island);
            if iteration == 0 {
                first = size;
            }
            if size <= tolerance.max(NEWTON_ROUNDING * first) {
                return true;
            }
            if iteration == most || !island.matrix.factor_symmetric(problem, 1.0, &self.weights) {
                return false;
            }
            self.direction.copy_from_slice(&self.force);
            island.matrix.solve(&mut self.direction);
            let slope = dot(&self.direction, &self.force);
            if slope.is_nan() || slope <= 0.0 {
                return size <= 1e3 * tolerance;
            }
            self.search(problem, island, slope);
        }
        false
    }

    /// Goes to where the slope along the direction vanishes, nearly.
    fn search(&mut self, problem: &Problem, island: &mut Island, slope: f64) {
        island
            .matrix
            .rows_times(problem, &self.direction, &mut self.along);
        island
            .matrix
            .mass_times(problem, &self.direction, &mut self.product);
        let (own, square) = (
            dot(&self.product, &self.d),
            dot(&self.product, &self.direction),
        );
        self.d_from.copy_from_slice(&self.d);
        self.from.copy_from_slice(&self.u);
        // Bracket [low, high] with its slopes; a secant with one side halved when it stays.
        let (mut low, mut slope_low, mut high, mut slope_high) = (0.0, slope, 0.0, 0.0);
        let mut length = 1.0;
        for trial in 0..SLOPES_MAX {
            self.go(length);
            self.respond(problem, island, true, false);
            let mut at = -own - length * square;
            for ((a, w), r) in self.along.iter().zip(&self.wanted).zip(&self.r) {
                at += a * (w - r);
            }
            if at.abs() <= 0.05 * slope || (trial == 0 && at > 0.0) || at.is_nan() {
                break;
            }
            if at > 0.0 {
                (low, slope_low) = (length, at);
                slope_high *= 0.5;
            } else {
                (high, slope_high) = (length, at);
                if trial > 0 {
                    slope_low *= 0.5;
                }
            }
            length = low + (high - low) * slope_low / (slope_low - slope_high);
        }
        self.go(length);
    }
}

fn dot(a: &[Block6], b: &[Block6]) -> f64 {
    a.iter()
        .flatten()
        .zip(b.iter().flatten())
        .map(|(x, y)| x * y)
        .sum()
}
