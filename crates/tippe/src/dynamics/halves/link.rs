//! Links: joints in the two solves of a step. Rows that hold a joint are one block; motors and limits are bounded rows beside it.
//!
//! Reads: Model (joints), State, predicted states.  Writes: links, solver bodies.
//! Called by: `joints` builds, `sweep` and `direct` visit, `finish` reads.
//! Source: [Bender06] §4 (predicted position), docs/methods.md, "Joints". Letters: λ impulse of a row, A = J M⁻¹ Jᵀ.

#![allow(non_snake_case)]

use super::row::SolverBody;
use super::trees::Bodies;
use crate::dynamics::joint::{Held, JointPlace, JointRow};
use crate::joint::{Freedom, JointKind, Motor};
use crate::math::Vec3;
use crate::model::Joint;
use crate::state::{BOUNDED, JointMemory};

/// A pivot below this part of the largest diagonal entry marks a redundant row [1].
const REDUNDANT: f64 = 1e-12;
/// Distance [m] or angle [rad] beyond which a joint that does not meet in a step is put together by the pose-only pass, little by little: it
/// contradicts another, and what can never meet must not become velocity.
pub(crate) const APART: f64 = 1e-4;
/// Fastest correction of a joint that starts apart [m/s] or [rad/s].
pub(crate) const CORRECTION_MAX: f64 = 100.0;

/// A row with bounds on its impulse: a motor or a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounded {
    pub row: JointRow,
    /// Velocity to reach.
    target: f64,
    /// Bounds of the impulse; both zero: the row does nothing.
    low: f64,
    high: f64,
    pub lambda: f64,
    /// 1 / (J M⁻¹ Jᵀ).
    mass: f64,
    /// Velocity along the row before the impulses of the solve; for the ledger.
    before: f64,
}

/// A joint in one of the two solves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Slot of the joint.
    pub joint: u32,
    /// Slots of the bodies; the world is the slot after the last body.
    pub a: u32,
    pub b: u32,
    pub held: Held,
    target: [f64; 6],
    pub lambda: [f64; 6],
    /// Lower Cholesky factor of A, rows that are redundant marked by a zero pivot.
    factor: [[f64; 6]; 6],
    /// Diagonal of A.
    diagonal: [f64; 6],
    pub bounded: [Bounded; BOUNDED],
    /// Angle and displacement at t, and the angle counted through full turns.
    values: [f64; 2],
    /// In the second half: impulses of the first, their sum, and the lever to the joint's origin on B then.
    before: JointMemory,
    before_wrench: JointRow,
    before_lever: Vec3,
    /// Lever from the centre of mass to the joint's origin on B.
    pub lever: Vec3,
    /// Whether a side is a link: its tree answers.
    pub linked: bool,
    /// Whether limits keep what is beyond them, since contacts may wedge the tree.
    pub keeps: bool,
}

impl JointRow {
    /// Velocity along the row.
    pub(crate) fn velocity(&self, a: &SolverBody, b: &SolverBody) -> f64 {
        self.e.dot(b.v - a.v) + self.ang_a.dot(a.w) + self.ang_b.dot(b.w)
    }
}

impl Link {
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
        let mut link = Self {
            joint: index as u32,
            a,
            b,
            held,
            target: [0.0; 6],
            lambda: [0.0; 6],
            factor: [[0.0; 6]; 6],
            diagonal: [0.0; 6],
            bounded: [Bounded::default(); BOUNDED],
            values: [0.0; 2],
            before: JointMemory::default(),
            before_wrench: JointRow::default(),
            before_lever: Vec3::ZERO,
            lever: place.b.position - place.center_b,
            linked: bodies.linked(a, b),
            keeps: false,
        };
        link.factorise(bodies);
        link
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
        let smallest = REDUNDANT * self.diagonal[..n].iter().fold(0.0, |x: f64, &y| x.max(y));
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

    /// Targets of the first half: residuals zero at t + h, as seen from where the bodies go with their present velocities.
    /// Returns how far from there they would be: the worst residual, and the worst distance beyond or short of a limit.
    pub(crate) fn aim_first(
        &mut self,
        joint: &Joint,
        then: &JointPlace,
        bodies: &[SolverBody],
        angle: f64,
        h: f64,
    ) -> f64 {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        let residuals = then.held(joint.desc.kind).residuals;
        let mut worst: f64 = 0.0;
        for i in 0..self.held.count {
            worst = worst.max(residuals[i].abs());
            let speed = (residuals[i] / h).clamp(-CORRECTION_MAX, CORRECTION_MAX);
            self.target[i] = self.held.rows[i].velocity(a, b) - speed;
        }
        let after = [
            unwrapped(then.turn(joint.desc.kind).1, angle),
            free_value(joint.desc.kind, then),
        ];
        for (k, bounded) in self.bounded.iter_mut().enumerate() {
            if bounded.mass == 0.0 {
                continue;
            }
            let (freedom, value, after) = if k < 2 {
                (joint.desc.rotation, self.values[0], after[0])
            } else {
                (translation(joint), self.values[1], after[1])
            };
            let u = bounded.row.velocity(a, b);
            if k % 2 == 0 {
                // Motor: mean velocity over the step.
                bounded.target = u + motor_speed(&freedom, value, h) - (after - value) / h;
            } else if let Some((goal, low, high)) =
                pressed(&kept(self.keeps, freedom, value), after, bounded.lambda)
            {
                (bounded.low, bounded.high) = (low, high);
                bounded.target = u + (goal - after) / h;
                worst = worst.max((goal - after).abs());
            } else {
                (bounded.low, bounded.high) = (0.0, 0.0);
            }
        }
        worst
    }

    /// Whether the joint was far from meeting at the start of the step, although closing it was `tried` in this one.
    pub(crate) fn is_apart(&self, tried: bool) -> bool {
        let mut residuals = self.held.residuals[..self.held.count].iter();
        tried && residuals.any(|r| r.abs() > APART)
    }

    /// Leaves a part of the residuals as they are instead of closing them in the first half: where only sweeps are affordable, what they
    /// cannot finish must not become velocity.
    pub(crate) fn keep_residuals(&mut self, part: f64, h: f64) {
        for i in 0..self.held.count {
            self.target[i] += part * self.held.residuals[i] / h;
        }
    }

    /// Aims at closing a part of the residuals: for displacements in place of velocities.
    pub(crate) fn aim_at_closing(&mut self, part: f64) {
        for i in 0..self.held.count {
            self.target[i] = -part * self.held.residuals[i];
        }
    }

    /// Motors and limits at t.
    pub(crate) fn add_bounded(
        &mut self,
        joint: &Joint,
        place: &JointPlace,
        bodies: &Bodies,
        angle: f64,
        h: f64,
    ) {
        let (turn, raw) = place.turn(joint.desc.kind);
        let slide = match joint.desc.kind {
            JointKind::Distance { .. } => place.distance().0,
            _ => place.slide().0,
        };
        self.values = [unwrapped(raw, angle), free_value(joint.desc.kind, place)];
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        for (k, bounded) in self.bounded.iter_mut().enumerate() {
            let (freedom, row) = if k < 2 {
                (joint.desc.rotation, turn)
            } else {
                (translation(joint), slide)
            };
            let force = match (k % 2, freedom.motor, freedom.limits) {
                (
                    0,
                    Some(Motor::Velocity { max_force, .. } | Motor::Position { max_force, .. }),
                    _,
                ) => max_force,
                (1, _, Some(_)) => 0.0,
                _ => continue,
            };
            let response = (a.inverse_mass + b.inverse_mass) * row.e.length_squared()
                + row.ang_a.dot(a.inverse_inertia * row.ang_a)
                + row.ang_b.dot(b.inverse_inertia * row.ang_b);
            let response = if self.linked {
                bodies.row_answer(self.a, self.b, &row, &row)
            } else {
                response
            };
            if response > 0.0 {
                // Each half of the step has half of the motor's impulse.
                let bound = 0.5 * h * force;
                *bounded = Bounded {
                    row,
                    low: -bound,
                    high: bound,
                    mass: 1.0 / response,
                    before: row.velocity(a, b),
                    ..Bounded::default()
                };
            }
        }
    }

    /// Targets of the second half: velocities along the rows at t + h.
    pub(crate) fn aim_second(&mut self, joint: &Joint, before: &Self, h: f64) {
        self.before.first = before.lambda;
        self.before_wrench = before.wrench();
        self.before_lever = before.lever;
        for k in 0..BOUNDED {
            self.before.bounded_first[k] = before.bounded[k].lambda;
            let pressed = before.bounded[k].lambda;
            let bounded = &mut self.bounded[k];
            if bounded.mass == 0.0 {
                continue;
            }
            let (freedom, value) = if k < 2 {
                (joint.desc.rotation, self.values[0])
            } else {
                (translation(joint), self.values[1])
            };
            if k % 2 == 0 {
                bounded.target = motor_speed(&freedom, value, h);
            } else {
                bounded.target = 0.0;
                (bounded.low, bounded.high) = match pressed {
                    p if p > 0.0 => (0.0, f64::INFINITY),
                    p if p < 0.0 => (f64::NEG_INFINITY, 0.0),
                    _ => (0.0, 0.0),
                };
            }
        }
    }

    /// Marks the limits that bore load in the last step; `warm_start` gives them their impulses.
    pub(crate) fn remember(&mut self, bounded: &[f64; BOUNDED]) {
        for (row, &lambda) in self.bounded.iter_mut().zip(bounded) {
            if row.mass != 0.0 {
                row.lambda = lambda;
            }
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
        change
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
        sum
    }

    /// Rows of the direct solve: Jacobian, target, bounds, impulse, and 1 / (J M⁻¹ Jᵀ).
    pub(crate) fn scalar_rows(&self) -> impl Iterator<Item = ScalarRow> + '_ {
        let held = (0..self.held.count)
            .filter(|&i| self.factor[i][i] > 0.0)
            .map(|i| ScalarRow {
                row: self.held.rows[i],
                target: self.target[i],
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
                lambda: self.lambda[i],
                mass: 1.0 / self.diagonal[i],
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
                mass: b.mass,
                place: 6 + k,
            });
        held.chain(bounded)
    }

    /// Changes the impulse of a row named by its place in `scalar_rows`, and the bodies with it.
    pub(crate) fn set(&mut self, place: usize, lambda: f64, bodies: &mut Bodies) {
        let (row, old) = if place < 6 {
            (
                self.held.rows[place],
                std::mem::replace(&mut self.lambda[place], lambda),
            )
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
        } else {
            self.bounded[place - 6].lambda
        };
        self.set(place, old + change, bodies);
    }

    /// Goes on by the given impulses of the held rows.
    pub(crate) fn extrapolate(&mut self, step: &[f64; 6], bodies: &mut Bodies) {
        let total = self.total(step);
        for i in 0..self.held.count {
            self.lambda[i] += step[i];
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
        (work[0], work[1])
    }

    /// Work of a side with prescribed motion, into the other body [J].
    pub(crate) fn prescribed_work(&self, bodies: &[SolverBody]) -> f64 {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        let wrench = self.wrench();
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

    /// What the next step needs to know, after the second half; the angle is left out.
    pub(crate) fn memory(&self) -> JointMemory {
        JointMemory {
            second: self.lambda,
            bounded_second: self.bounded.map(|b| b.lambda),
            ..self.before
        }
    }

    /// Mean force on B and torque about the joint's origin on B, from both halves of a step of length `h`.
    pub(crate) fn reaction(&self, lever: Vec3, h: f64) -> (Vec3, Vec3) {
        let (first, second) = (&self.before_wrench, self.wrench());
        let about = |w: &JointRow, r: Vec3| w.ang_b - r.cross(w.e);
        (
            (first.e + second.e) / h,
            (about(first, self.before_lever) + about(&second, lever)) / h,
        )
    }

    /// Worst distance of the joint from where it should be, given where it is, limits included.
    pub(crate) fn position_residual(&self, joint: &Joint, place: &JointPlace) -> f64 {
        let held = place.held(joint.desc.kind);
        held.residuals[..held.count]
            .iter()
            .fold(self.beyond_limits(joint), |w: f64, r| w.max(r.abs()))
    }

    /// How far angle, displacement or distance are beyond their limits.
    fn beyond_limits(&self, joint: &Joint) -> f64 {
        beyond(&joint.desc.rotation, self.values[0])
            .max(beyond(&translation(joint), self.values[1]))
    }

    /// Angle counted through full turns, and displacement or distance.
    pub(crate) const fn values(&self) -> [f64; 2] {
        self.values
    }
}

/// A row as the direct solve sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarRow {
    pub row: JointRow,
    pub target: f64,
    pub low: f64,
    pub high: f64,
    pub lambda: f64,
    pub mass: f64,
    pub place: usize,
}

/// The angle nearest to `before` among those that differ by full turns.
pub(crate) fn unwrapped(angle: f64, before: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    angle + turn * ((before - angle) / turn).round()
}

/// What acts along the translation: for a distance joint that is not a rod, its own range.
fn translation(joint: &Joint) -> Freedom {
    match joint.desc.kind {
        JointKind::Distance { min, max } if min < max => Freedom {
            limits: Some((min, max)),
            ..Freedom::default()
        },
        _ => joint.desc.translation,
    }
}

/// Displacement along z, or the distance.
pub(crate) fn free_value(kind: JointKind, place: &JointPlace) -> f64 {
    match kind {
        JointKind::Distance { .. } => place.distance().1,
        _ => place.slide().1,
    }
}

/// Speed that the motor of a freedom asks for at a value.
fn motor_speed(freedom: &Freedom, value: f64, h: f64) -> f64 {
    match freedom.motor {
        Some(Motor::Velocity { target, .. }) => target,
        // Not faster than to arrive in one step.
        Some(Motor::Position { target, time, .. }) => (target - value) / time.max(h),
        None => 0.0,
    }
}

/// Distance beyond its limits that a link keeps [rad or m]: a quarter of a degree.
const KEPT: f64 = 4e-3;

/// Limits that a link keeps, from where it is: a wedged tree cannot undo what a hard impact or rounding has left beyond them, and what it
/// undoes would be velocity. Anything that does not press leaves it.
fn kept(keeps: bool, freedom: Freedom, value: f64) -> Freedom {
    let limits = match freedom.limits {
        Some((min, max)) if keeps && min < max => Some((
            min.min(value.max(min - KEPT)),
            max.max(value.min(max + KEPT)),
        )),
        limits => limits,
    };
    Freedom { limits, ..freedom }
}

/// The limit that a value is at or beyond, or short of under a pressing impulse: its place and the bounds of the impulse.
fn pressed(freedom: &Freedom, value: f64, lambda: f64) -> Option<(f64, f64, f64)> {
    let (min, max) = freedom.limits?;
    if min == max {
        Some((min, f64::NEG_INFINITY, f64::INFINITY))
    } else if value <= min || lambda > 0.0 {
        Some((min, 0.0, f64::INFINITY))
    } else if value >= max || lambda < 0.0 {
        Some((max, f64::NEG_INFINITY, 0.0))
    } else {
        None
    }
}

/// How far a value is beyond the limits of a freedom.
fn beyond(freedom: &Freedom, value: f64) -> f64 {
    let (min, max) = freedom.limits.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    (min - value).max(value - max).max(0.0)
}

/// Impulse of a spring and damper for `half` a step [s], and the row it acts along.
///
/// Stiffness is explicit (Störmer–Verlet keeps the energy) up to what the step can resolve, the rest and the damping implicit in
/// the velocity they leave. With K = (h/2)² k r, a kick that divides by 1 + D is stable for K ≤ D + 2/(D + 2); D takes a quarter of
/// that margin, 4 (K − D) = 2/(D + 2), and is 0 for K ≤ 1/4.
pub(crate) fn spring_impulse(
    freedom: &Freedom,
    value: f64,
    u: f64,
    response: f64,
    half: f64,
) -> Option<f64> {
    let spring = freedom.spring.filter(|_| response > 0.0)?;
    let K = half * half * spring.stiffness * response;
    let D = if K > 0.25 {
        0.5 * (K - 2.0 + (K * K + 4.0 * K + 2.0).sqrt())
    } else {
        0.0
    };
    let D = D + half * spring.damping * response;
    // λ = (h/2) (k (x₀ − x) − c u) with c (h/2) r = D.
    let push = half * spring.stiffness * (spring.rest - value);
    Some((push - D * u / response) / (1.0 + D))
}

/// Applies the springs of a joint for half a step to two bodies.
pub(crate) fn spring_kick(
    joint: &Joint,
    place: &JointPlace,
    angle: f64,
    half: f64,
    a: &mut SolverBody,
    b: &mut SolverBody,
) {
    let (turn, raw) = place.angle();
    let slide = match joint.desc.kind {
        JointKind::Distance { .. } => place.distance().0,
        _ => place.slide().0,
    };
    let parts = [
        (joint.desc.rotation, turn, unwrapped(raw, angle)),
        (
            joint.desc.translation,
            slide,
            free_value(joint.desc.kind, place),
        ),
    ];
    for (freedom, row, value) in parts {
        let response = (a.inverse_mass + b.inverse_mass) * row.e.length_squared()
            + row.ang_a.dot(a.inverse_inertia * row.ang_a)
            + row.ang_b.dot(b.inverse_inertia * row.ang_b);
        if let Some(lambda) = spring_impulse(&freedom, value, row.velocity(a, b), response, half) {
            a.v -= row.e * (lambda * a.inverse_mass);
            a.w += a.inverse_inertia * (row.ang_a * lambda);
            b.v += row.e * (lambda * b.inverse_mass);
            b.w += b.inverse_inertia * (row.ang_b * lambda);
        }
    }
}
