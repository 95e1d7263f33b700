//! The core: one island solved by four phases, the best impulses kept throughout, every loop capped and counted.
//!
//! Reads: a `Problem`, a `Budget`.  Writes: an `Outcome`.
//! Called by: whoever has an island to solve.
//! Source: measured comparison in docs/solver.md. Phases: proximal Newton from the warm start, interior point, proximal Newton from the best, alternating directions.

mod interior;
mod island;
mod newton;
mod scaling;
mod splitting;

use super::law::residual;
use super::problem::{Budget, Outcome, Phase, Problem};
use crate::math::block_cholesky::Block6;
use interior::Interior;
use island::Island;
use newton::Newton;
use splitting::Splitting;

/// Relative residual of a start that Newton's method is tried on: from farther away it finds nothing.
const NEAR: f64 = 1e-2;
/// Factorisations and rounds of Newton's method from a warm start and from the best impulses.
const WARM_FACTORISATIONS: u32 = 6;
const WARM_ROUNDS: u32 = 4;
const POLISH_FACTORISATIONS: u32 = 40;
const POLISH_ROUNDS: u32 = 25;
/// Iterations of the interior point and of alternating directions.
const INTERIOR_MAX: u32 = 40;
const SPLITTING_MAX: u32 = 150;

/// The solver with its scratch: reused from island to island, it allocates only while it grows.
#[derive(Clone, Debug, Default)]
pub struct Core {
    island: Island,
    interior: Interior,
    newton: Newton,
    splitting: Splitting,
    velocities: Vec<Block6>,
    residuals: Vec<f64>,
}

impl Core {
    /// Solves an island within a budget. Never fails: the best impulses found are returned with their residual.
    pub fn solve(&mut self, problem: &Problem, budget: &Budget) -> Outcome<'_> {
        let fits = self.island.prepare(problem, budget);
        self.begin(problem, budget.warm);
        let mut phase = Phase::Start;
        if fits && !self.island.is_met() {
            phase = self.phases(problem, budget);
        }
        self.finish(problem, phase, fits)
    }

    /// Offers no impulses and the problem's own.
    fn begin(&mut self, problem: &Problem, warm: bool) {
        let mut r = std::mem::take(&mut self.residuals);
        r.clear();
        r.resize(problem.rows(), 0.0);
        self.island.project(problem, &mut r);
        self.island.offer(problem, &r);
        if warm && problem.start.iter().any(|x| *x != 0.0) {
            r.copy_from_slice(&problem.start);
            self.island.project(problem, &mut r);
            self.island.offer(problem, &r);
        }
        self.residuals = r;
    }

    fn phases(&mut self, problem: &Problem, budget: &Budget) -> Phase {
        let mut phase = Phase::Start;
        let warm = budget.warm;
        let mut before = self.island.residual;
        let mut note = |island: &Island, now: Phase| {
            if island.residual < before {
                (before, phase) = (island.residual, now);
            }
        };
        if warm && self.island.residual < NEAR * self.island.scale {
            self.newton
                .run(problem, &mut self.island, WARM_FACTORISATIONS, WARM_ROUNDS);
            note(&self.island, Phase::Warm);
        }
        if self.goes_on() {
            self.interior
                .run(problem, &mut self.island, warm, INTERIOR_MAX);
            note(&self.island, Phase::Interior);
        }
        if self.goes_on() {
            self.newton.run(
                problem,
                &mut self.island,
                POLISH_FACTORISATIONS,
                POLISH_ROUNDS,
            );
            note(&self.island, Phase::Polish);
        }
        if self.goes_on() {
            self.splitting.run(problem, &mut self.island, SPLITTING_MAX);
            note(&self.island, Phase::Splitting);
        }
        phase
    }

    fn goes_on(&self) -> bool {
        !self.island.is_met() && !self.island.is_exhausted()
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
            contradiction: 0.0,
            phase,
            met: island.is_met(),
            limit: !fits || (!island.is_met() && island.is_exhausted()),
            work: island.matrix.work,
        }
    }
}
