//! States of the rows, and the forces that follow from them: one linear system, solved afresh and judged by the whole problem.
//!
//! Reads: a scaled problem.  Writes: f.
//! Called by: the pivoting kernels, for their last step and for friction.
//! Source: elimination with full pivoting ([Golub13] §3.4), which leaves out rows that the others imply.

#![allow(non_snake_case)]

use super::problem::{Problem, Row};
use crate::math::mixed_lcp::Gauss;

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// w = 0; f is what that takes.
    On,
    /// f at its least: zero, the low end of a box, −μ f_n.
    Low,
    /// f at its greatest: the high end of a box, μ f_n, or the ratio of a sliding row.
    High,
}

/// Residual below which nothing is to be gained by solving again [1].
const STATES_EXACT: f64 = 64.0 * f64::EPSILON;

/// f at a bound as a multiple of its normal force; `None` if the row has no normal or is not at its bound.
pub(super) fn tie(row: Row, state: State) -> Option<(usize, f64)> {
    match (row, state) {
        (
            Row::Planar {
                normal,
                coefficient,
            },
            State::Low,
        ) => Some((normal, -coefficient)),
        (
            Row::Planar {
                normal,
                coefficient,
            },
            State::High,
        ) => Some((normal, coefficient)),
        (Row::Sliding { normal, ratio }, _) => Some((normal, ratio)),
        // Only cones without friction come here.
        (Row::Cone { normal, .. }, _) => Some((normal, 0.0)),
        _ => None,
    }
}

/// f at a bound that no normal force moves.
pub(super) fn fixed(row: Row, state: State) -> f64 {
    match (row, state) {
        (Row::Box { low, .. }, State::Low) => low,
        (Row::Box { high, .. }, State::High) => high,
        _ => 0.0,
    }
}

/// State of a row before anything is known: free rows hold, boxes stand where they are nearest to zero.
pub(super) fn initial(row: Row) -> State {
    match row {
        Row::Free => State::On,
        Row::Sliding { .. } => State::High,
        _ => State::Low,
    }
}

/// Forces for given states.
pub(super) fn forces(problem: &Problem, states: &[State]) -> Vec<f64> {
    let rows = problem.rows();
    let on: Vec<usize> = (0..rows.len())
        .filter(|&i| states[i] == State::On)
        .collect();
    let m = on.len();
    let mut place = vec![usize::MAX; rows.len()];
    for (c, &j) in on.iter().enumerate() {
        place[j] = c;
    }
    let mut G = vec![0.0; m * m];
    for (r, &i) in on.iter().enumerate() {
        for (c, &j) in on.iter().enumerate() {
            G[r * m + c] = problem.at(i, j);
        }
    }
    let mut ties = Vec::new();
    let mut f = vec![0.0; rows.len()];
    for j in 0..rows.len() {
        if let Some((normal, ratio)) = tie(rows[j], states[j]) {
            if place[normal] < m {
                ties.push((j, normal, ratio));
                for (r, &i) in on.iter().enumerate() {
                    G[r * m + place[normal]] += ratio * problem.at(i, j);
                }
            }
        } else {
            f[j] = fixed(rows[j], states[j]);
        }
    }
    // The second pass is one step of iterative refinement.
    let mut gauss = Gauss::default();
    for _ in 0..2 {
        let mut x: Vec<f64> = on.iter().map(|&i| -problem.w_at(i, &f)).collect();
        if x.iter().all(|x| x.abs() <= STATES_EXACT) {
            break;
        }
        gauss.solve(&mut G.clone(), &mut x, m);
        for (c, &j) in on.iter().enumerate() {
            f[j] += x[c];
        }
        for &(j, normal, ratio) in &ties {
            f[j] = ratio * f[normal];
        }
    }
    f
}

/// Solves for `states` afresh and keeps the answer if it is better than `f`.
pub(super) fn polish(problem: &Problem, states: &[State], f: &mut Vec<f64>) {
    problem.clamp(f);
    let before = problem.natural(f);
    if before <= STATES_EXACT {
        return;
    }
    let mut fresh = forces(problem, states);
    problem.clamp(&mut fresh);
    if problem.natural(&fresh) < before {
        *f = fresh;
    }
}
