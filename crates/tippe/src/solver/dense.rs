//! The solve of an island with trees as one dense problem: every row answers every other through the trees, which no sparse pattern shows.
//!
//! Reads: rows, links, solver bodies.  Writes: their impulses, solver bodies.
//! Called by: `solver::sweep`.
//! Source: [Articulated] slides 31 and 40 (several contacts at once); `math::mixed_lcp`. Letters: w = u − target = A P + b.

#![allow(non_snake_case)]

use crate::math::Vec3;
use crate::math::mixed_lcp::{self, Bound, solve_to};
use crate::solver::choose::DENSE_ROWS;
use crate::solver::contact::ContactRow;
use crate::solver::ends::{Bodies, Kept};
use crate::solver::joint::JointBlock;

/// Most rounds of the complementarity solver.
const ROUNDS: u32 = 4;

/// Scratch of the dense solve.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dense {
    kept: Kept,
    A: Vec<f64>,
    b: Vec<f64>,
    bounds: Vec<Bound>,
    P: Vec<f64>,
    before: Vec<f64>,
    column: Vec<f64>,
    places: Vec<Place>,
    lcp: mixed_lcp::Scratch,
}

/// What one row of the problem is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Component of a contact's impulse in its frame (n, t1, t2).
    Contact(usize, usize),
    /// Row of a link by its place in `scalar_rows`.
    Joint(usize, usize),
}

/// Solves an island; `None` if it does not fit, else the velocity by which its worst row misses [m/s].
pub(crate) fn solve(
    rows: &mut [ContactRow],
    order: &[u32],
    joint_blocks: &mut [JointBlock],
    bodies: &mut Bodies,
    tolerance: f64,
    scratch: &mut Dense,
) -> Option<f64> {
    let Dense {
        kept,
        A,
        b,
        bounds,
        P,
        before,
        column,
        places,
        lcp,
    } = scratch;
    places.clear();
    bounds.clear();
    P.clear();
    for &i in order {
        let row = &rows[i as usize];
        if !row.is_plain() {
            return None;
        }
        let normal = places.len();
        let p = row.frame_impulse();
        for k in 0..3 {
            places.push(Place::Contact(i as usize, k));
            P.push(p[k]);
        }
        bounds.extend([
            Bound::NotNegative,
            Bound::Friction {
                normal,
                coefficient: row.friction(),
            },
            Bound::FrictionSecond,
        ]);
    }
    for (i, block) in joint_blocks.iter().enumerate() {
        for row in block.scalar_rows() {
            places.push(Place::Joint(i, row.place));
            P.push(row.lambda);
            bounds.push(Bound::Box {
                low: row.low,
                high: row.high,
            });
        }
    }
    let m = places.len();
    if m > DENSE_ROWS {
        return None;
    }
    // Columns by unit impulses on bodies at rest.
    for (v, size) in [(&mut *b, m), (&mut *A, m * m), (&mut *column, m)] {
        v.clear();
        v.resize(size, 0.0);
    }
    velocities(places, rows, joint_blocks, bodies, true, b);
    bodies.keep(kept);
    for (j, place) in places.iter().enumerate() {
        for body in bodies.iter_mut() {
            (body.v, body.w) = (Vec3::ZERO, Vec3::ZERO);
        }
        match *place {
            Place::Contact(i, k) => {
                let mut d = Vec3::ZERO;
                d[k] = 1.0;
                let mut trial = rows[i];
                trial.extrapolate(d, bodies);
            }
            Place::Joint(i, place) => {
                let mut trial = joint_blocks[i];
                trial.add(place, 1.0, bodies);
            }
        }
        velocities(places, rows, joint_blocks, bodies, false, column);
        for i in 0..m {
            A[i * m + j] = column[i];
        }
    }
    bodies.give_back(kept);
    for i in 0..m {
        for j in 0..i {
            let mean = 0.5 * (A[i * m + j] + A[j * m + i]);
            (A[i * m + j], A[j * m + i]) = (mean, mean);
        }
    }
    for i in 0..m {
        b[i] -= (0..m).fold(0.0, |s, j| s + A[i * m + j] * P[j]);
    }
    // Soft rows: u + λ/g = target.
    let joints = joint_blocks.iter().flat_map(JointBlock::scalar_rows);
    let first = m - joint_blocks
        .iter()
        .flat_map(JointBlock::scalar_rows)
        .count();
    for (j, row) in (first..m).zip(joints) {
        A[j * m + j] += row.soft.map_or(0.0, |gain| 1.0 / gain);
    }
    before.clone_from(P);
    let solved = solve_to(A, b, bounds, P, 0.1 * tolerance, ROUNDS, lcp);
    let mut j = 0;
    while j < m {
        match places[j] {
            Place::Contact(i, _) => {
                let d = Vec3::new(
                    P[j] - before[j],
                    P[j + 1] - before[j + 1],
                    P[j + 2] - before[j + 2],
                );
                rows[i].extrapolate(d, bodies);
                j += 3;
            }
            Place::Joint(i, place) => {
                joint_blocks[i].add(place, P[j] - before[j], bodies);
                j += 1;
            }
        }
    }
    Some(solved.residual)
}

/// Velocities of all rows, less their targets if `aimed`.
fn velocities(
    places: &[Place],
    rows: &[ContactRow],
    joint_blocks: &[JointBlock],
    bodies: &Bodies,
    aimed: bool,
    out: &mut [f64],
) {
    let mut j = 0;
    while j < places.len() {
        match places[j] {
            Place::Contact(i, _) => {
                let w = rows[i].missed(bodies, aimed);
                out[j..j + 3].copy_from_slice(&w.to_array());
                j += 3;
            }
            Place::Joint(i, _) => {
                let block = &joint_blocks[i];
                let (a, b) = (&bodies[block.a as usize], &bodies[block.b as usize]);
                for row in block.scalar_rows() {
                    let target = if aimed { row.target } else { 0.0 };
                    out[j] = row.row.velocity(a, b) - target;
                    j += 1;
                }
            }
        }
    }
}
