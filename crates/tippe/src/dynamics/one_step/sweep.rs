//! Sweeps over the contacts of a one-step problem: each is solved with the others held.
//!
//! Reads: the problem.  Writes: impulses.
//! Called by: `one_step::solve`.
//! Source: \[Acary08] ch. 13 (nonsmooth Gauss–Seidel with projections on the cone).

use super::ContactProblem;
use super::cone::{lifted, nearest};
use crate::math::Vec3;

/// Most projections for one visit of one contact.
const PROJECTIONS: u32 = 20;

/// Visits all contacts once, in order; `stiffening` is added to the diagonal and `pull` to the free velocities.
pub(super) fn sweep(problem: &ContactProblem, stiffening: f64, pull: &[Vec3], r: &mut [Vec3]) {
    for i in 0..r.len() {
        let mu = problem.friction[i];
        let own = problem.diagonal(i);
        let trace = own.col(0).x + own.col(1).y + own.col(2).z + 3.0 * stiffening;
        if trace <= 0.0 {
            continue;
        }
        let rest = problem.velocity_at(i, r) + pull[i] - own * r[i];
        let mut x = r[i];
        for _ in 0..PROJECTIONS {
            let u = own * x + stiffening * x + rest;
            let y = nearest(x - lifted(u, mu) / trace, mu);
            let change = (y - x).abs().max_element();
            x = y;
            if change <= 1e-15 * x.abs().max_element() {
                break;
            }
        }
        r[i] = x;
    }
}
