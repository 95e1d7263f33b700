//! The core: one island solved in phases, the best impulses kept throughout, every loop capped and counted.
//!
//! Reads: a `Problem`, a `Budget`.  Writes: an `Outcome`.
//! Called by: whoever has an island to solve.
//! Source: measured comparison in docs/solver.md.
//!
//! 1. Start: the problem's impulses, or none; good enough, they are the answer.
//! 2. Warm: a few proximal Newton iterations, if the start is near: targets changed a little, a scene nearly at rest.
//! 3. Contradicting targets of joints in loops are moved to the nearest that can be met, and reported.
//! 4. Interior: everything else. 5. Polish: proximal Newton from the best, where an interior point stalls at degenerate contacts. 6. Restart: the interior point from the best. 7. Splitting: a bounded answer for wedged piles.

mod contradiction;
mod interior;
mod island;
mod newton;
mod parts;
mod scaling;
mod splitting;

use super::law::residual;
use super::problem::{Budget, Law, Outcome, Phase, Problem};
use crate::math::block_cholesky::Block6;
use contradiction::Contradiction;
use interior::Interior;
use island::Island;
use newton::Newton;
use splitting::Splitting;

/// Relative residual of a start that Newton's method is tried on: from farther away it finds nothing.
const CORE_NEAR: f64 = 1e-2;
/// Part of the tolerance at which a start is accepted as it is, if more is aimed for: what a solve left at less is not solved again.
const START_RIGHT: f64 = 0.01;
/// Factorisations and rounds of Newton's method from a warm start and from the best impulses.
const WARM_FACTORISATIONS: u32 = 6;
const WARM_ROUNDS: u32 = 4;
const POLISH_FACTORISATIONS: u32 = 30;
const POLISH_ROUNDS: u32 = 25;
/// Iterations of the interior point (from no impulses: a warm start saves it three of a dozen iterations and fails more often), of its second start, from the best
/// impulses, and of alternating directions. With one factorisation for contradictions and one for the last phase at most 98 in all.
const INTERIOR_MAX: u32 = 40;
const RESTART_MAX: u32 = 20;
const SPLITTING_MAX: u32 = 150;

/// The solver with its scratch: reused from island to island, it allocates only while it grows.
#[derive(Clone, Debug, Default)]
pub struct Core {
    island: Island,
    interior: Interior,
    newton: Newton,
    splitting: Splitting,
    contradiction: Contradiction,
    /// Largest change of a target in the solve at hand.
    contradicted: f64,
    /// Whether the problem's own impulses were better than none.
    started: bool,
    velocities: Vec<Block6>,
    residuals: Vec<f64>,
}

impl Core {
    /// Solves an island within a budget. Never fails: the best impulses found are returned with their residual.
    pub fn solve(&mut self, problem: &Problem, budget: &Budget) -> Outcome<'_> {
        let fits = self.island.prepare(problem, budget);
        self.begin(problem, budget.warm);
        self.contradicted = 0.0;
        let mut phase = Phase::Start;
        let right = START_RIGHT * self.island.tolerance;
        if fits && self.island.residual > right.max(self.island.aim) {
            phase = self.phases(problem, budget);
        }
        self.finish(problem, phase, fits)
    }

    /// Whether a factorisation of the problem takes no more than so many block products.
    pub(crate) fn fits(&mut self, problem: &Problem, block_products: u64) -> bool {
        self.island.matrix.prepare(problem, block_products)
    }

    /// Offers no impulses and the problem's own.
    fn begin(&mut self, problem: &Problem, warm: bool) {
        let mut r = std::mem::take(&mut self.residuals);
        r.clear();
        r.resize(problem.rows(), 0.0);
        self.island.project(problem, &mut r);
        let none = self.island.offer(problem, &r);
        self.started = false;
        if warm && problem.start.iter().any(|x| *x != 0.0) {
            r.copy_from_slice(&problem.start);
            self.island.project(problem, &mut r);
            self.started = self.island.offer(problem, &r) < none;
        }
        self.residuals = r;
    }

    fn phases(&mut self, problem: &Problem, budget: &Budget) -> Phase {
        let mut phase = Phase::Start;
        // Equalities alone are linear: one factorisation from whatever impulses are best.
        let linear = problem.groups.iter().all(|g| g.law == Law::Equality);
        if linear {
            self.interior.run(problem, &mut self.island, true, 0);
            phase = Phase::Interior;
        } else if budget.warm && self.island.residual < CORE_NEAR * self.island.scale {
            let before = self.island.residual;
            self.newton
                .run(problem, &mut self.island, WARM_FACTORISATIONS, WARM_ROUNDS);
            if self.island.residual < before {
                phase = Phase::Warm;
            }
        }
        if !self.island.is_met() && !self.island.is_exhausted() {
            self.contradicted = self.contradiction.resolve(problem, &mut self.island);
        }
        let order = [
            Phase::Interior,
            Phase::Polish,
            Phase::Restart,
            Phase::Splitting,
        ];
        for next in order {
            if self.island.is_met() || self.island.is_exhausted() {
                break;
            }
            let before = self.island.residual;
            self.run(next, problem);
            if self.island.residual < before {
                phase = next;
            }
        }
        // What the interior point has met is near enough for Newton's method.
        if phase != Phase::Warm && self.island.is_met() && !self.island.is_polished() {
            self.newton
                .run(problem, &mut self.island, WARM_FACTORISATIONS, WARM_ROUNDS);
        }
        phase
    }

    fn run(&mut self, phase: Phase, problem: &Problem) {
        let island = &mut self.island;
        match phase {
            Phase::Interior => self.interior.run(problem, island, false, INTERIOR_MAX),
            Phase::Restart => self.interior.run(problem, island, true, RESTART_MAX),
            Phase::Splitting => self.splitting.run(problem, island, SPLITTING_MAX),
            Phase::Start | Phase::Warm | Phase::Polish => {
                self.newton
                    .run(problem, island, POLISH_FACTORISATIONS, POLISH_ROUNDS);
            }
        }
    }

    fn finish(&mut self, problem: &Problem, phase: Phase, fits: bool) -> Outcome<'_> {
        let island = &mut self.island;
        self.residuals.clear();
        for (g, scales) in problem.groups.iter().zip(&island.scales) {
            let rows = g.row..g.row + g.rows;
            let of = residual(
                &g.law,
                *scales,
                &island.best[rows.clone()],
                &island.best_u[rows],
            );
            self.residuals.push(of);
        }
        self.velocities.resize(problem.blocks(), [0.0; 6]);
        island
            .matrix
            .transposed_times(problem, &island.best, &mut self.velocities);
        island.matrix.inverse_times(problem, &mut self.velocities);
        for (v, free) in self
            .velocities
            .iter_mut()
            .flatten()
            .zip(problem.free.iter().flatten())
        {
            *v += free;
        }
        Outcome {
            impulses: &island.best,
            velocities: &self.velocities,
            residuals: &self.residuals,
            residual: island.residual,
            scale: island.scale,
            contradiction: self.contradicted,
            phase,
            unchanged: self.started && phase == Phase::Start,
            met: island.is_met(),
            limit: !fits || (!island.is_met() && island.is_exhausted()),
            work: island.matrix.work,
        }
    }
}
