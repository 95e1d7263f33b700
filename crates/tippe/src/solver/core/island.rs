//! What all phases of the core share: the scaled problem, velocities relative to targets, and the best impulses found so far.
//!
//! Reads: a `Problem`, a `Budget`.  Writes: scales, velocities, the best impulses, counted work.
//! Called by: `solver::core` and its phases.
//! Source: natural map as in `solver::law`. u at r = 0 is formed once, relative to the targets; all else adds J d to it, so that large targets cost no digits.

use crate::math::block_cholesky::Block6;
use crate::solver::law::{Scales, project_scaled, residual};
use crate::solver::matrix::{Matrix, PRODUCT};
use crate::solver::problem::{Budget, Law, Problem};

/// The island at hand; buffers are kept between solves.
#[derive(Clone, Debug, Default)]
pub(super) struct Island {
    pub matrix: Matrix,
    /// By row: u at r = 0.
    pub base: Vec<f64>,
    /// By group: ρ = 1/K, κ, and λ = 1/√K.
    pub scales: Vec<Scales>,
    pub lambda: Vec<f64>,
    /// Largest |u| at r = 0, and the residual that is good enough [unit of u].
    pub scale: f64,
    pub tolerance: f64,
    /// The residual that Newton's method goes on to while it converges.
    pub aim: f64,
    /// Best impulses so far, their velocities relative to the targets, and their residual.
    pub best: Vec<f64>,
    pub best_u: Vec<f64>,
    pub residual: f64,
    /// Caps.
    budget: Budget,
    /// Scratch: change of the velocities, velocities of an offer.
    moved: Vec<Block6>,
    offered: Vec<f64>,
}

impl Island {
    /// Scales and velocities of a problem; false if its matrix would cost more than the budget.
    pub(super) fn prepare(&mut self, problem: &Problem, budget: &Budget) -> bool {
        self.budget = *budget;
        self.matrix.work = crate::solver::problem::Work::default();
        self.moved.clear();
        self.moved.resize(problem.blocks(), [0.0; 6]);
        self.base.resize(problem.rows(), 0.0);
        self.offered.resize(problem.rows(), 0.0);
        self.best_u.resize(problem.rows(), 0.0);
        self.scales.clear();
        self.lambda.clear();
        for g in &problem.groups {
            let mut k = [0.0_f64; 2];
            for row in 0..g.rows {
                let k = &mut k[row / 3];
                *k = k.max(self.matrix.response(problem, g, row, &mut self.moved));
            }
            let of = |k: f64| if k > 0.0 { k } else { 1.0 };
            let kappa = if g.rows == 6 {
                (of(k[0]) / of(k[1])).sqrt()
            } else {
                1.0
            };
            self.scales.push(Scales {
                rho: 1.0 / of(k[0]),
                kappa,
            });
            self.lambda.push(1.0 / of(k[0]).sqrt());
        }
        self.matrix
            .rows_times(problem, &problem.free, &mut self.base);
        for (u, target) in self.base.iter_mut().zip(&problem.target) {
            *u -= target;
        }
        self.scale = self.base.iter().fold(0.0, |a: f64, u| a.max(u.abs()));
        self.tolerance = budget.tolerance.max(budget.tolerance_relative * self.scale);
        self.aim = budget.polish.min(1.0) * self.tolerance;
        self.best.clear();
        self.best.resize(problem.rows(), 0.0);
        self.residual = f64::INFINITY;
        let affordable = budget.operations / PRODUCT;
        self.matrix
            .prepare(problem, budget.block_products.min(affordable))
    }

    /// Whether the best impulses are good enough.
    pub(super) fn is_met(&self) -> bool {
        self.residual <= self.tolerance
    }

    /// Whether they are as good as is aimed for.
    pub(super) fn is_polished(&self) -> bool {
        self.residual <= self.aim
    }

    /// Whether the budget is used up.
    pub(super) fn is_exhausted(&self) -> bool {
        let work = &self.matrix.work;
        work.factorisations >= self.budget.factorisations
            || work.operations >= self.budget.operations
    }

    /// Factorisations so far.
    pub(super) fn factorisations(&self) -> u32 {
        self.matrix.work.factorisations
    }

    /// Number of the last of so many more factorisations that the budget allows.
    pub(super) fn last_factorisation(&self, more: u32) -> u32 {
        (self.factorisations() + more).min(self.budget.factorisations)
    }

    /// Velocities relative to the targets of given impulses.
    pub(super) fn velocities(&mut self, problem: &Problem, r: &[f64], u: &mut [f64]) {
        self.matrix.transposed_times(problem, r, &mut self.moved);
        self.matrix.inverse_times(problem, &mut self.moved);
        self.matrix.rows_times(problem, &self.moved, u);
        for (u, base) in u.iter_mut().zip(&self.base) {
            *u += base;
        }
    }

    /// Residual of impulses with their velocities.
    pub(super) fn residual_of(&self, problem: &Problem, r: &[f64], u: &[f64]) -> f64 {
        let mut worst = 0.0_f64;
        for (g, scales) in problem.groups.iter().zip(&self.scales) {
            let rows = g.row..g.row + g.rows;
            worst = worst.max(residual(&g.law, *scales, &r[rows.clone()], &u[rows]));
        }
        worst
    }

    /// Keeps impulses if they are the best so far; returns their residual.
    pub(super) fn offer(&mut self, problem: &Problem, r: &[f64]) -> f64 {
        let mut u = std::mem::take(&mut self.offered);
        self.velocities(problem, r, &mut u);
        let residual = self.residual_of(problem, r, &u);
        if residual < self.residual {
            self.residual = residual;
            self.best.copy_from_slice(r);
            self.best_u.copy_from_slice(&u);
        }
        self.offered = u;
        residual
    }

    /// Scale of one row: λ, for torques λ κ.
    pub(super) fn row_scale(&self, group: usize, row: usize) -> f64 {
        if row < 3 {
            self.lambda[group]
        } else {
            self.lambda[group] * self.scales[group].kappa
        }
    }

    /// Moves impulses into their sets.
    pub(super) fn project(&self, problem: &Problem, r: &mut [f64]) {
        for (i, g) in problem.groups.iter().enumerate() {
            let r = &mut r[g.row..g.row + g.rows];
            for (k, x) in r.iter_mut().enumerate() {
                *x /= self.row_scale(i, k);
            }
            project_scaled(&g.law, self.scales[i].kappa, self.lambda[i], r);
            for (k, x) in r.iter_mut().enumerate() {
                *x *= self.row_scale(i, k);
            }
            if let Law::Bounded { low, high } = g.law {
                r[0] = r[0].max(low).min(high);
            }
        }
    }
}
