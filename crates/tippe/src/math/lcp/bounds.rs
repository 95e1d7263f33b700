//! Friction by rounds: boxes from the normal forces of the round before, then all states at once with friction tied to its normal.
//!
//! Reads: a scaled problem with planar friction, and a kernel for boxes.  Writes: f.
//! Called by: `dantzig`, `principal`, where friction inside their own pivoting does not end.
//! Source: [Panagiotopoulos75]; the tied solve makes the last round exact.

use super::acceleration::Mixing;
use super::problem::{Problem, Row};
use super::states::{self, State};

/// Rounds with mixing of the last changes, and with averages after them.
const ROUNDS_MIXED: u32 = 60;
const BOUNDS_ROUNDS_MAX: u32 = 360;

/// What a kernel finds for a problem with boxes.
pub(super) struct Boxed {
    pub f: Vec<f64>,
    pub states: Vec<State>,
    pub pivots: u32,
}

/// Solves by rounds; gives the best f found, and the pivots spent. `solve` finds forces and states of a problem without friction rows.
pub(super) fn rounds(
    problem: &Problem,
    tolerance: f64,
    mut solve: impl FnMut(&Problem) -> Option<Boxed>,
) -> (Vec<f64>, u32) {
    let n = problem.len();
    let mut best = vec![0.0; n];
    problem.clamp(&mut best);
    let mut residual = problem.natural(&best);
    let mut f = best.clone();
    let mut pivots = 0;
    let mut mixing = Mixing::new(n);
    for round in 0..BOUNDS_ROUNDS_MAX {
        let from = f.clone();
        let Some(found) = solve(&boxed(problem, &f)) else {
            break;
        };
        pivots += found.pivots;
        f = found.f;
        let mut states = found.states;
        for (i, row) in problem.rows().iter().enumerate() {
            // A box of no width has no inside.
            if row.normal().is_some_and(|n| f[n] <= 0.0) && states[i] == State::On {
                states[i] = State::Low;
            }
        }
        let mut tied = states::forces(problem, &states);
        problem.clamp(&mut tied);
        for candidate in [&tied, &f] {
            let mut candidate = candidate.clone();
            problem.clamp(&mut candidate);
            let found = problem.natural(&candidate);
            if found < residual {
                residual = found;
                best = candidate;
            }
        }
        if residual <= tolerance {
            break;
        }
        if round < ROUNDS_MIXED {
            mixing.next(problem, &from, &mut f);
        } else {
            f.iter_mut()
                .zip(&from)
                .for_each(|(f, from)| *f = 0.5 * (*f + from));
        }
    }
    (best, pivots)
}

/// The problem with friction as boxes of the widths that the normal forces in `f` give.
fn boxed(problem: &Problem, f: &[f64]) -> Problem {
    let rows = problem.rows().iter().map(|row| match *row {
        Row::Planar {
            normal,
            coefficient,
        } => {
            let bound = coefficient * f[normal].max(0.0);
            Row::Box {
                low: -bound,
                high: bound,
            }
        }
        Row::Sliding { normal, ratio } => {
            let value = ratio * f[normal].max(0.0);
            Row::Box {
                low: value,
                high: value,
            }
        }
        other => other,
    });
    problem.with_rows(rows.collect())
}
