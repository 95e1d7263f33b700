//! Alternating directions (ADMM) on one factorisation: a bounded answer where nothing else arrives.
//!
//! Reads: the island's best impulses.  Writes: the island's best impulses.
//! Called by: `solver::core`.
//! Source: [Boyd11] §3.1, relaxed; Coulomb's shift follows the multiplier. Torques are projected exactly, regularised sliding as Coulomb's.
//!
//! In scaled rows, with s = y − z/ρ: y = proj(s), z = ρ(y − s), (Ŵ + ρ + η) x = z + (ρ + η) y − û₀ − shift(z), s ← s + (relaxed x) − y. The inverse is taken in node space:
//! (Ŵ + c)⁻¹ b = (b − Ĵ (c M + ĴᵀĴ)⁻¹ Ĵᵀ b)/c.

use super::island::Island;
use crate::math::block_cholesky::Block6;
use crate::solver::law::{project_scaled, shift};
use crate::solver::problem::{Friction, Law, Problem};

/// Penalty in scaled rows, its proximal part, and the relaxation [1].
const RHO: f64 = 0.1;
const ETA: f64 = 1e-6;
const RELAXATION: f64 = 1.6;
/// Iterations between two looks at the residual.
const SPLITTING_LOOK: u32 = 10;

/// Scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Splitting {
    s: Vec<f64>,
    y: Vec<f64>,
    b: Vec<f64>,
    scaled: Vec<f64>,
    weights: Vec<f64>,
    blocks: Vec<Block6>,
}

impl Splitting {
    /// At most `iterations` iterations from the island's best impulses.
    pub(super) fn run(&mut self, problem: &Problem, island: &mut Island, iterations: u32) {
        let rows = problem.rows();
        for list in [&mut self.s, &mut self.y, &mut self.b, &mut self.scaled] {
            list.resize(rows, 0.0);
        }
        self.blocks.resize(problem.blocks(), [0.0; 6]);
        self.begin(problem, island);
        if !island
            .matrix
            .factor_symmetric(problem, RHO + ETA, &self.weights)
        {
            return;
        }
        for iteration in 0..=iterations {
            self.project(problem, island);
            if iteration % SPLITTING_LOOK == 0 {
                self.look(problem, island);
                if island.is_met() || island.is_exhausted() && iteration > 0 {
                    return;
                }
            }
            self.iterate(problem, island);
        }
    }

    fn begin(&mut self, problem: &Problem, island: &Island) {
        self.weights.clear();
        self.weights.resize(problem.block_entries, 0.0);
        for (i, g) in problem.groups.iter().enumerate() {
            let u = &island.best_u[g.row..g.row + g.rows];
            let s = cone_shift(&g.law, u);
            for k in 0..g.rows {
                let l = island.row_scale(i, k);
                self.weights[g.block + (g.rows + 1) * k] = l * l;
                let z = l * (u[k] + if k == 0 { s } else { 0.0 });
                self.s[g.row + k] = island.best[g.row + k] / l - z / RHO;
            }
        }
    }

    fn project(&mut self, problem: &Problem, island: &Island) {
        self.y.copy_from_slice(&self.s);
        for (i, g) in problem.groups.iter().enumerate() {
            let y = &mut self.y[g.row..g.row + g.rows];
            project_scaled(&g.law, island.scales[i].kappa, island.lambda[i], y);
        }
    }

    fn look(&mut self, problem: &Problem, island: &mut Island) {
        for (i, g) in problem.groups.iter().enumerate() {
            for k in 0..g.rows {
                self.scaled[g.row + k] = self.y[g.row + k] * island.row_scale(i, k);
            }
        }
        island.offer(problem, &self.scaled);
    }

    fn iterate(&mut self, problem: &Problem, island: &mut Island) {
        let c = RHO + ETA;
        for (i, g) in problem.groups.iter().enumerate() {
            let mut z = [0.0; 6];
            for k in 0..g.rows {
                // The multiplier as a velocity, for the shift.
                z[k] = RHO * (self.y[g.row + k] - self.s[g.row + k]) / island.row_scale(i, k);
            }
            let s = cone_shift(&g.law, &z[..g.rows]);
            for k in 0..g.rows {
                let (row, l) = (g.row + k, island.row_scale(i, k));
                let u = island.base[row] + if k == 0 { s } else { 0.0 };
                self.b[row] = l * (z[k] - u) + c * self.y[row];
                self.scaled[row] = l * self.b[row];
            }
        }
        island
            .matrix
            .transposed_times(problem, &self.scaled, &mut self.blocks);
        island.matrix.solve(&mut self.blocks);
        island
            .matrix
            .rows_times(problem, &self.blocks, &mut self.scaled);
        for (i, g) in problem.groups.iter().enumerate() {
            for k in 0..g.rows {
                let row = g.row + k;
                let x = (self.b[row] - island.row_scale(i, k) * self.scaled[row]) / c;
                self.s[row] += RELAXATION * (x - self.y[row]);
            }
        }
    }
}

fn cone_shift(law: &Law, u: &[f64]) -> f64 {
    match law {
        Law::Cone(f) => shift(
            &Friction {
                slip_speed: 0.0,
                ..*f
            },
            u,
        ),
        _ => 0.0,
    }
}
