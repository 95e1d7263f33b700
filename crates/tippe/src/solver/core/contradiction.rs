//! Targets of equalities that no velocity can meet: found, and moved to the nearest that can be met.
//!
//! Reads: the island's best velocities.  Writes: the island's velocities without impulses.
//! Called by: `solver::core`.
//! Source: least squares; derivation in docs/solver.md. Closed chains of joints have such targets to second order: their rows depend on each other, and the
//! closure holds for positions, not for its linearisation.
//!
//! In scaled rows, e = û at the equalities, without impulses. Its part outside the range of Ĵ, e ← e − Ĵ (ε M + Ĵᵀ Ĵ)⁻¹ Ĵᵀ e repeated, is what no velocity can meet; if that is
//! above the tolerance it is taken from the targets. Joints that form no loop have independent rows: then there is nothing to do.

use super::island::Island;
use crate::math::block_cholesky::Block6;
use crate::solver::problem::{Law, Problem};

/// Regularisation ε of the least squares [1]: rows count as dependent where less than its root of one is left of the others. And how often it is repeated.
const EPSILON: f64 = 1e-10;
const REPEATS: u32 = 3;

/// Scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Contradiction {
    e: Vec<f64>,
    back: Vec<f64>,
    weights: Vec<f64>,
    blocks: Vec<Block6>,
    best: Vec<f64>,
    /// By block: a block it is joined with, nearer to the root.
    joined: Vec<u32>,
}

impl Contradiction {
    /// Moves contradicting targets; returns the largest change [unit of u], 0 if none contradict.
    pub(super) fn resolve(&mut self, problem: &Problem, island: &mut Island) -> f64 {
        if !self.has_loop(problem) || !self.factor(problem, island) {
            return 0.0;
        }
        self.e.clear();
        self.e.resize(problem.rows(), 0.0);
        self.back.resize(problem.rows(), 0.0);
        self.blocks.resize(problem.blocks(), [0.0; 6]);
        each_equality(problem, |i, row| {
            self.e[row] = island.lambda[i] * island.base[row]
        });
        for _ in 0..REPEATS {
            self.back.fill(0.0);
            each_equality(problem, |i, row| {
                self.back[row] = island.lambda[i] * self.e[row]
            });
            let matrix = &mut island.matrix;
            matrix.transposed_times(problem, &self.back, &mut self.blocks);
            matrix.solve(&mut self.blocks);
            matrix.rows_times(problem, &self.blocks, &mut self.back);
            each_equality(problem, |i, row| {
                self.e[row] -= island.lambda[i] * self.back[row]
            });
        }
        let mut largest = 0.0_f64;
        each_equality(problem, |i, row| {
            largest = largest.max((self.e[row] / island.lambda[i]).abs())
        });
        if largest.is_nan() || largest <= island.tolerance {
            return 0.0;
        }
        each_equality(problem, |i, row| {
            island.base[row] -= self.e[row] / island.lambda[i]
        });
        // The best impulses again, by the new targets.
        self.best.clone_from(&island.best);
        island.residual = f64::INFINITY;
        island.offer(problem, &self.best);
        largest
    }

    /// ε M + Ĵᵀ Ĵ over the equalities.
    fn factor(&mut self, problem: &Problem, island: &mut Island) -> bool {
        self.weights.clear();
        self.weights.resize(problem.block_entries, 0.0);
        for (i, g) in problem.groups.iter().enumerate() {
            if g.law == Law::Equality {
                self.weights[g.block] = island.lambda[i] * island.lambda[i];
            }
        }
        island
            .matrix
            .factor_symmetric(problem, EPSILON, &self.weights)
    }

    /// Whether equalities join nodes, or nodes and what does not move, in a loop. Rows with the same sides as the row before belong to one joint.
    fn has_loop(&mut self, problem: &Problem) -> bool {
        // Union by the lowest; the last entry stands for all that does not move.
        let ground = problem.blocks() as u32;
        self.joined.clear();
        self.joined.extend(0..=ground);
        let mut last = (ground, ground);
        for g in problem.groups.iter().filter(|g| g.law == Law::Equality) {
            let sides = &problem.sides[g.sides.clone()];
            let first = sides.first().map_or(ground, |s| s.block);
            let pair = (first, sides.get(1).map_or(ground, |s| s.block));
            if sides.len() > 2 {
                return true;
            }
            if pair == last {
                continue;
            }
            last = pair;
            let (a, b) = (self.root(pair.0), self.root(pair.1));
            if a == b {
                return true;
            }
            self.joined[a.max(b) as usize] = a.min(b);
        }
        false
    }

    fn root(&self, mut i: u32) -> u32 {
        while self.joined[i as usize] != i {
            i = self.joined[i as usize];
        }
        i
    }
}

/// Group and row of each equality.
fn each_equality(problem: &Problem, mut act: impl FnMut(usize, usize)) {
    for (i, g) in problem.groups.iter().enumerate() {
        if g.law == Law::Equality {
            act(i, g.row);
        }
    }
}
