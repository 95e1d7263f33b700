//! Placing the bodies of one component: damped Gauss–Newton on the rows of its mates, then the least motion among the placements where
//! they hold.
//!
//! Reads: Model (joints), body states.  Writes: body states of its own.
//! Called by: `assembly`, `conflict`.
//! Source: docs/assembly.md, "Solving": Levenberg–Marquardt, and projection as in sequential quadratic programming with the metric of the
//! motion as its Hessian.

#![allow(non_snake_case)]

use super::rows::{self, Row};
use super::{Parts, TOLERANCE, moved};
use crate::dynamics::joint::rotation_vector;
use crate::math::Vec3;
use crate::math::block_cholesky::{Block, Block6, BlockCholesky};
use crate::model::Model;
use crate::state::{BodyState, JointMemory};

/// Iterations of one attempt.
const ITERATIONS_MAX: usize = 200;
/// Attempts from disturbed placements after the first.
const RESTARTS_MAX: usize = 6;
/// Damping at the start, its least and its greatest value, relative to the largest diagonal entry [1].
const DAMPING_START: f64 = 1e-6;
const DAMPING_MIN: f64 = 1e-13;
const DAMPING_MAX: f64 = 1e6;
/// Residual at which nothing more is to be gained [m].
const EXACT: f64 = 1e-14;
/// Part by which the cost must fall in `STALL` iterations to go on [1].
const PROGRESS: f64 = 1e-3;
const STALL: usize = 8;
/// Steps towards the least motion, and the damping of their projection, relative to the largest diagonal entry [1].
const LEAST_MAX: usize = 20;
const LEAST_DAMPING: f64 = 1e-9;
/// Iterations that bring a step of them back to where the mates hold.
const BACK_MAX: usize = 12;

/// What came of an attempt to place a component.
pub(crate) struct Attempt {
    pub solved: bool,
    pub states: Vec<BodyState>,
    pub iterations: usize,
    pub restarts: usize,
}

/// The rows of some mates of a component.
pub(crate) fn gather(
    model: &Model,
    parts: &Parts,
    mates: &[u32],
    states: &[BodyState],
    memory: &[JointMemory],
) -> Vec<Row> {
    let mut out = Vec::with_capacity(4 * mates.len());
    for &slot in mates {
        if let Some(joint) = &model.joints[slot as usize] {
            rows::push(parts, joint, joint.desc.kind, states, memory, &mut out);
        }
    }
    out
}

/// Worst residual [m] or [rad].
pub(crate) fn worst(rows: &[Row]) -> f64 {
    rows.iter().fold(0.0, |m, r| m.max(r.residual.abs()))
}

fn cost(rows: &[Row]) -> f64 {
    rows.iter().map(|r| r.scaled * r.scaled).sum()
}

/// Places the bodies so that the mates hold, from where they are and, if that fails, from disturbed placements; then as near to the start
/// as the mates allow.
pub(crate) fn solve(
    model: &Model,
    parts: &Parts,
    mates: &[u32],
    start: &[BodyState],
    memory: &[JointMemory],
) -> Attempt {
    let mut solver = Solver::new(model, parts, mates, memory);
    let mut best: Option<(f64, Vec<BodyState>)> = None;
    for attempt in 0..=RESTARTS_MAX {
        let mut states = start.to_vec();
        disturb(parts, &mut states, attempt);
        let left = solver.close(&mut states, ITERATIONS_MAX);
        if left <= TOLERANCE {
            solver.least_motion(start, &mut states);
            return Attempt {
                solved: true,
                states,
                iterations: solver.iterations,
                restarts: attempt,
            };
        }
        if best.as_ref().is_none_or(|(least, _)| left < *least) {
            best = Some((left, states));
        }
    }
    Attempt {
        solved: false,
        states: best.map_or_else(|| start.to_vec(), |(_, states)| states),
        iterations: solver.iterations,
        restarts: RESTARTS_MAX,
    }
}

/// Moves every body a little, by numbers that depend on body and attempt alone.
fn disturb(parts: &Parts, states: &mut [BodyState], attempt: usize) {
    if attempt == 0 {
        return;
    }
    for (n, &slot) in parts.slots.iter().enumerate() {
        let mut seed = (attempt as u64) << 32 | (n as u64 + 1);
        let mut number = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let size = parts.gyration[n] * 0.3 * attempt as f64;
        let xi = std::array::from_fn(|_| size * number());
        states[slot as usize] = moved(&states[slot as usize], &xi, parts.gyration[n]);
    }
}

/// Gauss–Newton on one set of mates.
struct Solver<'a> {
    model: &'a Model,
    parts: &'a Parts,
    mates: &'a [u32],
    memory: &'a [JointMemory],
    factor: BlockCholesky,
    iterations: usize,
}

impl<'a> Solver<'a> {
    fn new(
        model: &'a Model,
        parts: &'a Parts,
        mates: &'a [u32],
        memory: &'a [JointMemory],
    ) -> Self {
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for joint in mates
            .iter()
            .filter_map(|&m| model.joints[m as usize].as_ref())
        {
            let numbers: Vec<u32> = super::ends(joint).filter_map(|s| parts.number(s)).collect();
            for (i, &a) in numbers.iter().enumerate() {
                edges.extend(
                    numbers[..i]
                        .iter()
                        .filter(|&&b| b != a)
                        .map(|&b| (a.min(b), a.max(b))),
                );
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut factor = BlockCholesky::default();
        let kept = factor.analyse(parts.slots.len(), edges.into_iter(), u64::MAX);
        debug_assert!(kept, "without a limit");
        Self {
            model,
            parts,
            mates,
            memory,
            factor,
            iterations: 0,
        }
    }

    fn rows(&self, states: &[BodyState]) -> Vec<Row> {
        gather(self.model, self.parts, self.mates, states, self.memory)
    }

    /// Goes on until the mates hold as well as they can; the worst residual left.
    fn close(&mut self, states: &mut Vec<BodyState>, iterations: usize) -> f64 {
        let mut rows = self.rows(states);
        let mut damping = DAMPING_START;
        let mut now = cost(&rows);
        let mut since = (0, now);
        for _ in 0..iterations {
            self.iterations += 1;
            if !now.is_finite() || now <= EXACT * EXACT || damping > DAMPING_MAX {
                break;
            }
            let Some(step) = self.step(&rows, damping) else {
                damping = 100.0 * damping.max(DAMPING_MIN);
                continue;
            };
            let next = self.apply(states, &step, 1.0);
            let next_rows = self.rows(&next);
            let then = cost(&next_rows);
            if then < now {
                (*states, rows, now) = (next, next_rows, then);
                damping = (0.1 * damping).max(DAMPING_MIN);
            } else {
                damping *= 10.0;
                if worst(&rows) <= 1e-3 * TOLERANCE {
                    break;
                }
            }
            since.0 += 1;
            if since.0 == STALL {
                if now > (1.0 - PROGRESS) * since.1 && worst(&rows) > TOLERANCE && damping > 1.0 {
                    break;
                }
                if now > (1.0 - PROGRESS) * since.1 && damping <= DAMPING_START {
                    break;
                }
                since = (0, now);
            }
        }
        let left = worst(&rows);
        if left.is_finite() {
            left
        } else {
            f64::INFINITY
        }
    }

    /// ξ of (JᵀJ + μ) ξ = −Jᵀ r; none if that is singular.
    fn step(&mut self, rows: &[Row], damping: f64) -> Option<Vec<Block6>> {
        let mut x = vec![[0.0; 6]; self.parts.slots.len()];
        for row in rows {
            for (n, part) in &row.parts {
                let there = &mut x[*n as usize];
                there
                    .iter_mut()
                    .zip(part)
                    .for_each(|(x, j)| *x -= j * row.scaled);
            }
        }
        self.factorise(rows, damping)?;
        self.factor.solve(&mut x);
        x.iter().flatten().all(|x| x.is_finite()).then_some(x)
    }

    fn factorise(&mut self, rows: &[Row], damping: f64) -> Option<f64> {
        self.factor.clear();
        let mut trace: Vec<Block6> = vec![[0.0; 6]; self.parts.slots.len()];
        for row in rows {
            for (i, (n, p)) in row.parts.iter().enumerate() {
                let own: Block = std::array::from_fn(|k| p[k / 6] * p[k % 6]);
                self.factor.add_diagonal(*n, &own);
                for k in 0..6 {
                    trace[*n as usize][k] += p[k] * p[k];
                }
                for (m, q) in &row.parts[..i] {
                    let pair: Block = std::array::from_fn(|k| p[k / 6] * q[k % 6]);
                    self.factor.add_pair(*n, *m, &pair);
                }
            }
        }
        let largest = trace.iter().flatten().fold(1e-300, |m: f64, &x| m.max(x));
        let mu = damping * largest;
        let own: Block = std::array::from_fn(|k| if k % 7 == 0 { mu } else { 0.0 });
        for n in 0..self.parts.slots.len() as u32 {
            self.factor.add_diagonal(n, &own);
        }
        self.factor.factor().then_some(mu)
    }

    fn apply(&self, states: &[BodyState], step: &[Block6], part: f64) -> Vec<BodyState> {
        let mut out = states.to_vec();
        for (n, &slot) in self.parts.slots.iter().enumerate() {
            let xi = step[n].map(|x| part * x);
            out[slot as usize] = moved(&states[slot as usize], &xi, self.parts.gyration[n]);
        }
        out
    }

    /// Square of the motion from the start: Σ translation² + (radius of gyration × rotation)² [m²].
    fn motion(&self, start: &[BodyState], states: &[BodyState]) -> (f64, Vec<Block6>) {
        let mut back = Vec::with_capacity(self.parts.slots.len());
        for (n, &slot) in self.parts.slots.iter().enumerate() {
            let (a, b) = (&start[slot as usize], &states[slot as usize]);
            let shift = a.position - b.position;
            let turn: Vec3 =
                rotation_vector(a.rotation * b.rotation.conjugate()) * self.parts.gyration[n];
            back.push([shift.x, shift.y, shift.z, turn.x, turn.y, turn.z]);
        }
        (back.iter().flatten().map(|x| x * x).sum(), back)
    }

    /// Slides along the mates towards the start, as long as that shortens the motion.
    fn least_motion(&mut self, start: &[BodyState], states: &mut Vec<BodyState>) {
        let (mut now, mut back) = self.motion(start, states);
        for _ in 0..LEAST_MAX {
            let rows = self.rows(states);
            let Some(mu) = self.factorise(&rows, LEAST_DAMPING) else {
                return;
            };
            // μ (JᵀJ + μ)⁻¹ keeps what the rows do not see; once more for what is left of the rest.
            for _ in 0..2 {
                self.factor.solve(&mut back);
                back.iter_mut().flatten().for_each(|x| *x *= mu);
            }
            let size: f64 = back.iter().flatten().map(|x| x * x).sum();
            if !size.is_finite() || size <= 1e-16 * now || size <= EXACT * EXACT {
                return;
            }
            let mut part = 1.0;
            let mut nearer = false;
            for _ in 0..5 {
                let mut next = self.apply(states, &back, part);
                let left = self.close(&mut next, BACK_MAX);
                let (then, toward) = self.motion(start, &next);
                if left <= TOLERANCE && then < now * (1.0 - 1e-9) {
                    (*states, now, back) = (next, then, toward);
                    nearer = true;
                    break;
                }
                part *= 0.5;
            }
            if !nearer {
                return;
            }
        }
    }
}
