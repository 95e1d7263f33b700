//! Links: joints in the two solves of a step. Rows that hold a joint are one block; motors and limits are bounded rows beside it.
//!
//! Reads: Model (joints), State, predicted states.  Writes: links, solver bodies.
//! Called by: `joints` builds, `sweep` and `direct` visit, `finish` reads.
//! Source: [Bender06] §4 (predicted position), docs/methods/two-stage.md, "Joints". Letters: λ impulse of a row, A = J
//! M⁻¹ Jᵀ.

#![allow(non_snake_case)]

use crate::dynamics::joint::{JointPlace, JointRow, JointRows};
use crate::math::{Pose, Vec3};
use crate::model::Joint;
use crate::solver::ends::Bodies;
use crate::solver::ends::SolverBody;
use crate::solver::soft::{Soft, SoftWork};
use crate::state::{BOUNDED, JointMemory};

/// A pivot below this part of the largest diagonal entry marks a redundant row [1].
const JOINT_REDUNDANT: f64 = 1e-12;
/// Place of the first soft row in `scalar_rows`.
const SOFT: usize = 6 + BOUNDED;
/// Place of the servos among the soft rows, behind the two springs.
pub(crate) const SERVOS: usize = 2;
/// A row with bounds on its impulse: a motor or a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounded {
    pub row: JointRow,
    /// Velocity to reach.
    pub(crate) target: f64,
    /// Bounds of the impulse; both zero: the row does nothing.
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub lambda: f64,
    /// 1 / (J M⁻¹ Jᵀ).
    pub(crate) mass: f64,
    /// Velocity along the row before the impulses of the solve; for the ledger.
    pub(crate) before: f64,
}

/// How a joint that does not fit is held as it was found: with a shifted frame on A, and residuals that stay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Misfit {
    /// Shift of the frame on A, given in that frame.
    pub shift: Pose,
    /// Residuals of the shifted joint, to be kept.
    pub kept: [f64; 6],
}

/// A joint in one of the two solves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointBlock {
    /// Slot of the joint.
    pub joint: u32,
    /// Slots of the bodies; the world is the slot after the last body.
    pub a: u32,
    pub b: u32,
    pub held: JointRows,
    pub(crate) target: [f64; 6],
    pub lambda: [f64; 6],
    /// Lower Cholesky factor of A, rows that are redundant marked by a zero pivot.
    pub(crate) factor: [[f64; 6]; 6],
    /// Diagonal of A.
    pub(crate) diagonal: [f64; 6],
    pub bounded: [Bounded; BOUNDED],
    /// Springs and dampers about and along z, then servos about and along z.
    pub soft: [Soft; 2 * SERVOS],
    /// Angle and displacement at t, and the angle counted through full turns.
    pub(crate) values: [f64; 2],
    /// In the second half: impulses of the first, their sum, and the lever to the joint's origin on B then.
    pub(crate) before: JointMemory,
    pub(crate) before_wrench: JointRow,
    pub(crate) before_lever: Vec3,
    /// Lever from the centre of mass to the joint's origin on B.
    pub lever: Vec3,
    /// Whether a side is a link: its tree answers.
    pub linked: bool,
    /// Whether limits keep what is beyond them, since contacts may wedge the tree.
    pub keeps: bool,
    /// Velocity along the rows that hold, before the impulses of the solve; for the ledger.
    held_before: [f64; 6],
    /// Whether those rows started in motion, so that bringing them to rest is a shock.
    pub shocked: bool,
    /// How it is held if it does not fit. The rows are those of the shifted joint.
    pub misfit: Option<Misfit>,
}

impl JointRow {
    /// Velocity along the row.
    pub(crate) fn velocity(&self, a: &SolverBody, b: &SolverBody) -> f64 {
        self.e.dot(b.v - a.v) + self.ang_a.dot(a.w) + self.ang_b.dot(b.w)
    }
}

impl JointBlock {
    /// A joint at its place, with the masses of its bodies; targets are set by the two halves.
    pub(crate) fn new(
        index: usize,
        joint: &Joint,
        world: u32,
        place: &JointPlace,
        bodies: &Bodies,
    ) -> Self {
        let (a, b) = (joint.a.unwrap_or(world), joint.b);
        let held = place.held(joint.desc.kind);
        let mut block = Self {
            joint: index as u32,
            a,
            b,
            held,
            target: [0.0; 6],
            lambda: [0.0; 6],
            factor: [[0.0; 6]; 6],
            diagonal: [0.0; 6],
            bounded: [Bounded::default(); BOUNDED],
            soft: [Soft::default(); 2 * SERVOS],
            values: [0.0; 2],
            before: JointMemory::default(),
            before_wrench: JointRow::default(),
            before_lever: Vec3::ZERO,
            lever: place.b.position - place.center_b,
            linked: bodies.linked(a, b),
            keeps: false,
            held_before: [0.0; 6],
            shocked: false,
            misfit: None,
        };
        block.note_velocity(bodies);
        block.factorise(bodies);
        block
    }

    /// Notes the velocities along the rows that hold, before a solve.
    pub(crate) fn note_velocity(&mut self, bodies: &[SolverBody]) {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        for i in 0..self.held.count {
            self.held_before[i] = self.held.rows[i].velocity(a, b);
        }
    }

    /// Work of the rows that hold, in the solve [J].
    pub(crate) fn held_work(&self, bodies: &[SolverBody]) -> f64 {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        (0..self.held.count)
            .map(|i| {
                self.lambda[i] * 0.5 * (self.held_before[i] + self.held.rows[i].velocity(a, b))
            })
            .sum()
    }

    /// `A = J M⁻¹ Jᵀ` and its Cholesky factor; a redundant row gets no impulse of its own.
    fn factorise(&mut self, bodies: &Bodies) {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        let n = self.held.count;
        let rows = &self.held.rows;
        let mut A = [[0.0; 6]; 6];
        for i in 0..n {
            let (j_a, j_b) = (
                a.inverse_inertia * rows[i].ang_a,
                b.inverse_inertia * rows[i].ang_b,
            );
            for j in 0..=i {
                A[i][j] = (a.inverse_mass + b.inverse_mass) * rows[i].e.dot(rows[j].e)
                    + j_a.dot(rows[j].ang_a)
                    + j_b.dot(rows[j].ang_b);
                if self.linked {
                    A[i][j] = bodies.row_answer(self.a, self.b, &rows[j], &rows[i]);
                }
            }
            self.diagonal[i] = A[i][i];
        }
        let smallest = JOINT_REDUNDANT * self.diagonal[..n].iter().fold(0.0, |x: f64, &y| x.max(y));
        let L = &mut self.factor;
        for i in 0..n {
            for j in 0..=i {
                let mut s = A[i][j];
                for k in 0..j {
                    s -= L[i][k] * L[j][k];
                }
                L[i][j] = if i == j {
                    if s > smallest { s.sqrt() } else { 0.0 }
                } else if L[j][j] > 0.0 {
                    s / L[j][j]
                } else {
                    0.0
                };
            }
        }
    }

    /// `A⁻¹ x` by the factor.
    fn solve(&self, x: &mut [f64; 6]) {
        let (n, L) = (self.held.count, &self.factor);
        for i in 0..n {
            let mut s = x[i];
            for k in 0..i {
                s -= L[i][k] * x[k];
            }
            x[i] = if L[i][i] > 0.0 { s / L[i][i] } else { 0.0 };
        }
        for i in (0..n).rev() {
            let mut s = x[i];
            for k in i + 1..n {
                s -= L[k][i] * x[k];
            }
            x[i] = if L[i][i] > 0.0 { s / L[i][i] } else { 0.0 };
        }
    }

    /// Starts from remembered impulses and applies them.
    pub(crate) fn warm_start(
        &mut self,
        held: &[f64; 6],
        bounded: &[f64; BOUNDED],
        bodies: &mut Bodies,
    ) {
        for i in 0..self.held.count {
            self.lambda[i] = held[i];
            self.push(&self.held.rows[i], held[i], bodies);
        }
        for k in 0..BOUNDED {
            let row = &mut self.bounded[k];
            row.lambda = bounded[k].clamp(row.low, row.high);
            let (row, lambda) = (self.bounded[k].row, self.bounded[k].lambda);
            self.push(&row, lambda, bodies);
        }
    }

    /// Takes a part of all impulses back, from the bodies too.
    pub(crate) fn take_back(&mut self, part: f64, bodies: &mut Bodies) {
        let left = 1.0 - part;
        for i in 0..self.held.count {
            self.push(&self.held.rows[i], -part * self.lambda[i], bodies);
            self.lambda[i] *= left;
        }
        for k in 0..BOUNDED {
            let row = self.bounded[k];
            self.push(&row.row, -part * row.lambda, bodies);
            self.bounded[k].lambda *= left;
        }
        for k in 0..self.soft.len() {
            let soft = self.soft[k];
            self.push(&soft.row, -part * soft.lambda, bodies);
            self.soft[k].lambda *= left;
        }
    }

    /// Forgets all impulses; bodies stay as they are.
    pub(crate) fn forget(&mut self) {
        self.lambda = [0.0; 6];
        self.bounded.iter_mut().for_each(|b| b.lambda = 0.0);
        self.soft.iter_mut().for_each(|s| s.lambda = 0.0);
    }

    fn push(&self, row: &JointRow, lambda: f64, bodies: &mut Bodies) {
        if lambda != 0.0 && self.linked {
            bodies.push(self.a, -row.e * lambda, row.ang_a * lambda);
            bodies.push(self.b, row.e * lambda, row.ang_b * lambda);
        } else if lambda != 0.0 {
            let bodies = &mut bodies.flat;
            let a = &mut bodies[self.a as usize];
            a.v -= row.e * (lambda * a.inverse_mass);
            a.w += a.inverse_inertia * (row.ang_a * lambda);
            let b = &mut bodies[self.b as usize];
            b.v += row.e * (lambda * b.inverse_mass);
            b.w += b.inverse_inertia * (row.ang_b * lambda);
        }
    }

    /// One Gauss–Seidel visit: the block, then the bounded rows. Returns the change of velocity it made.
    pub(crate) fn visit(&mut self, bodies: &mut Bodies) -> f64 {
        let n = self.held.count;
        let mut d = [0.0; 6];
        let mut change: f64 = 0.0;
        {
            let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
            for i in 0..n {
                d[i] = self.target[i] - self.held.rows[i].velocity(a, b);
                change = change.max(d[i].abs());
            }
        }
        self.solve(&mut d);
        let total = self.total(&d);
        for i in 0..n {
            self.lambda[i] += d[i];
        }
        self.push(&total, 1.0, bodies);
        for k in 0..BOUNDED {
            let row = self.bounded[k];
            if row.low == row.high {
                continue;
            }
            let u = row
                .row
                .velocity(&bodies[self.a as usize], &bodies[self.b as usize]);
            let lambda = (row.lambda + (row.target - u) * row.mass).clamp(row.low, row.high);
            self.push(&row.row, lambda - row.lambda, bodies);
            change = change.max((lambda - row.lambda).abs() / row.mass);
            self.bounded[k].lambda = lambda;
        }
        for k in 0..self.soft.len() {
            change = change.max(self.visit_soft(k, bodies));
        }
        change
    }

    /// One visit of a soft row. Returns the change of velocity it made.
    pub(crate) fn visit_soft(&mut self, k: usize, bodies: &mut Bodies) -> f64 {
        let soft = self.soft[k];
        if !soft.acts() {
            return 0.0;
        }
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        let lambda = soft.visited(soft.row.velocity(a, b));
        self.push(&soft.row, lambda - soft.lambda, bodies);
        self.soft[k].lambda = lambda;
        (lambda - soft.lambda).abs() / soft.mass
    }

    /// The held rows weighted by impulses, as one row.
    fn total(&self, lambda: &[f64; 6]) -> JointRow {
        let mut sum = JointRow::default();
        for (row, &l) in self.held.rows[..self.held.count].iter().zip(lambda) {
            sum.e += row.e * l;
            sum.ang_a += row.ang_a * l;
            sum.ang_b += row.ang_b * l;
        }
        sum
    }

    /// All impulses of the solve as one row: what the joint gave A and B.
    pub(crate) fn wrench(&self) -> JointRow {
        let mut sum = self.total(&self.lambda);
        for row in &self.bounded {
            sum.e += row.row.e * row.lambda;
            sum.ang_a += row.row.ang_a * row.lambda;
            sum.ang_b += row.row.ang_b * row.lambda;
        }
        for servo in &self.soft[SERVOS..] {
            sum.e += servo.row.e * servo.lambda;
            sum.ang_a += servo.row.ang_a * servo.lambda;
            sum.ang_b += servo.row.ang_b * servo.lambda;
        }
        sum
    }

    /// Rows as the core takes them: Jacobian, target, bounds and impulse.
    pub(crate) fn scalar_rows(&self) -> impl Iterator<Item = ScalarRow> + '_ {
        let held = (0..self.held.count)
            .filter(|&i| self.factor[i][i] > 0.0)
            .map(|i| ScalarRow {
                row: self.held.rows[i],
                target: self.target[i],
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
                lambda: self.lambda[i],
                soft: None,
                place: i,
            });
        let bounded = self
            .bounded
            .iter()
            .enumerate()
            .filter(|(_, b)| b.low < b.high)
            .map(|(k, b)| ScalarRow {
                row: b.row,
                target: b.target,
                low: b.low,
                high: b.high,
                lambda: b.lambda,
                soft: None,
                place: 6 + k,
            });
        // A row without gain has its impulse from the start.
        let soft = self
            .soft
            .iter()
            .enumerate()
            .filter(|(_, s)| s.acts() && s.gain > 0.0)
            .map(|(k, s)| ScalarRow {
                row: s.row,
                target: s.target + s.bias / s.gain,
                low: s.low,
                high: s.high,
                lambda: s.lambda,
                soft: Some(s.gain),
                place: SOFT + k,
            });
        held.chain(bounded).chain(soft)
    }

    /// Changes the impulse of a row named by its place in `scalar_rows`, and the bodies with it.
    pub(crate) fn set(&mut self, place: usize, lambda: f64, bodies: &mut Bodies) {
        let (row, old) = if place < 6 {
            (
                self.held.rows[place],
                std::mem::replace(&mut self.lambda[place], lambda),
            )
        } else if place >= SOFT {
            let soft = &mut self.soft[place - SOFT];
            (soft.row, std::mem::replace(&mut soft.lambda, lambda))
        } else {
            let bounded = &mut self.bounded[place - 6];
            (bounded.row, std::mem::replace(&mut bounded.lambda, lambda))
        };
        self.push(&row, lambda - old, bodies);
    }

    /// Adds to the impulse of a row named by its place in `scalar_rows`.
    pub(crate) fn add(&mut self, place: usize, change: f64, bodies: &mut Bodies) {
        let old = if place < 6 {
            self.lambda[place]
        } else if place >= SOFT {
            self.soft[place - SOFT].lambda
        } else {
            self.bounded[place - 6].lambda
        };
        self.set(place, old + change, bodies);
    }

    /// Goes on by the given impulses of the held rows.
    pub(crate) fn extrapolate(&mut self, stride: &[f64; 6], bodies: &mut Bodies) {
        let total = self.total(stride);
        for i in 0..self.held.count {
            self.lambda[i] += stride[i];
        }
        self.push(&total, 1.0, bodies);
    }

    /// Size of impulses of the held rows as energy: their squares times the diagonal of A [J].
    pub(crate) fn energy_norm(&self, d: &[f64; 6]) -> f64 {
        (0..self.held.count)
            .map(|i| d[i] * d[i] * self.diagonal[i])
            .sum()
    }

    /// Work of the motors, and of the limits, in the solve [J].
    pub(crate) fn bounded_work(&self, bodies: &[SolverBody]) -> (f64, f64) {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        let mut work = [0.0; 2];
        for (k, row) in self.bounded.iter().enumerate() {
            if row.lambda != 0.0 {
                work[k % 2] += row.lambda * 0.5 * (row.before + row.row.velocity(a, b));
            }
        }
        for servo in &self.soft[SERVOS..] {
            work[0] += servo.lambda * 0.5 * (servo.before + servo.row.velocity(a, b));
        }
        (work[0], work[1])
    }

    /// Works of the springs and dampers in the solve [J].
    pub(crate) fn soft_work(&self, bodies: &[SolverBody]) -> SoftWork {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        let mut sum = SoftWork::default();
        for soft in self.soft[..SERVOS].iter().filter(|s| s.mass > 0.0) {
            let work = soft.work(a, b);
            sum.spring += work.spring;
            sum.damper += work.damper;
            sum.numerical += work.numerical;
        }
        sum
    }

    /// Work of a side with prescribed motion, into the other body [J].
    pub(crate) fn prescribed_work(&self, bodies: &[SolverBody]) -> f64 {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        let mut wrench = self.wrench();
        for soft in &self.soft[..SERVOS] {
            let lambda = soft.kick + soft.lambda;
            wrench.e += soft.row.e * lambda;
            wrench.ang_a += soft.row.ang_a * lambda;
            wrench.ang_b += soft.row.ang_b * lambda;
        }
        let mut work = 0.0;
        if a.inverse_mass == 0.0 {
            work += wrench.e.dot(a.v) - wrench.ang_a.dot(a.w);
        }
        if b.inverse_mass == 0.0 {
            work -= wrench.e.dot(b.v) + wrench.ang_b.dot(b.w);
        }
        work
    }

    /// Worst velocity left in the rows that hold the joint.
    pub(crate) fn velocity_residual(&self, bodies: &[SolverBody]) -> f64 {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        (0..self.held.count)
            .map(|i| (self.held.rows[i].velocity(a, b) - self.target[i]).abs())
            .fold(0.0, f64::max)
    }

    /// Angle counted through full turns, and displacement or distance.
    pub(crate) const fn values(&self) -> [f64; 2] {
        self.values
    }
}

/// A row as the core sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarRow {
    pub row: JointRow,
    pub target: f64,
    pub low: f64,
    pub high: f64,
    pub lambda: f64,
    /// Gain of a soft row: λ = g (target − u).
    pub soft: Option<f64>,
    pub place: usize,
}
