//! Targets of joints in the two solves of a substep: rows that hold close their residuals, motors and limits get bounds.
//!
//! Reads: Model (joints), predicted states.  Writes: targets and bounds of joint blocks.
//! Called by: `joints`, `relinearise`, `depenetrate`.
//! Source: [Bender06] §4 (predicted position), docs/methods/two-stage.md, "Joints". Letters: λ impulse of a row.

#![allow(non_snake_case)]

use super::misfit::JOINT_APART;
use crate::dynamics::joint::{JointPlace, JointRow, unwrapped};
use crate::joint::{Freedom, JointKind, Motor};
use crate::math::Vec3;
use crate::model::Joint;
use crate::solver::ends::{Bodies, SolverBody};
use crate::solver::joint::{Bounded, JointBlock};
use crate::state::{BOUNDED, JointMemory};

/// Fastest correction of a joint [m/s] or [rad/s].
pub(crate) const CORRECTION_MAX: f64 = 100.0;

impl JointBlock {
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
        let (place, stays) = match &self.misfit {
            Some(misfit) => (then.shifted(&misfit.shift), misfit.kept),
            None => (*then, [0.0; 6]),
        };
        let residuals = place.held(joint.desc.kind).residuals;
        let mut worst: f64 = 0.0;
        for i in 0..self.held.count {
            let left = residuals[i] - stays[i];
            worst = worst.max(left.abs());
            let speed = (left / h).clamp(-CORRECTION_MAX, CORRECTION_MAX);
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

    /// Leaves a part of the residuals as they are instead of closing them in the first half: where only sweeps are affordable, what they
    /// cannot finish must not become velocity. A joint that does not fit does so anyway.
    pub(crate) fn keep_residuals(&mut self, part: f64, h: f64) {
        if self.misfit.is_some() {
            return;
        }
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
        let slide = place.translation(joint.desc.kind).0;
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

    /// The fastest that its motors ask for, and that its springs give [m/s] or [rad/s].
    pub(crate) fn drive_speed(&self, joint: &Joint, h: f64) -> f64 {
        let motors = motor_speed(&joint.desc.rotation, self.values[0], h)
            .abs()
            .max(motor_speed(&translation(joint), self.values[1], h).abs());
        let springs = self.soft.iter().filter(|s| s.acts());
        springs.fold(motors, |x: f64, s| x.max(s.bias.abs() / s.mass))
    }

    /// Marks the limits that bore load in the last step; `warm_start` gives them their impulses.
    pub(crate) fn remember(&mut self, bounded: &[f64; BOUNDED]) {
        for (row, &lambda) in self.bounded.iter_mut().zip(bounded) {
            if row.mass != 0.0 {
                row.lambda = lambda;
            }
        }
    }

    /// What the next step needs to know, after the second half; the angle is left out.
    pub(crate) fn memory(&self) -> JointMemory {
        JointMemory {
            second: self.lambda,
            bounded_second: self.bounded.map(|b| b.lambda),
            ..self.before
        }
    }

    /// Impulse on B and angular impulse about the joint's origin on B, from both halves of a substep.
    pub(crate) fn reaction(&self, lever: Vec3) -> (Vec3, Vec3) {
        let (first, second) = (&self.before_wrench, self.wrench());
        let about = |w: &JointRow, r: Vec3| w.ang_b - r.cross(w.e);
        (
            first.e + second.e,
            about(first, self.before_lever) + about(&second, lever),
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
    pub(super) fn beyond_limits(&self, joint: &Joint) -> f64 {
        beyond(&joint.desc.rotation, self.values[0])
            .max(beyond(&translation(joint), self.values[1]))
    }
}

/// What acts along the translation: for a distance joint that is not a rod, its own range.
pub(crate) fn translation(joint: &Joint) -> Freedom {
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
    place.translation(kind).1
}

/// Speed that the motor of a freedom asks for at a value.
fn motor_speed(freedom: &Freedom, value: f64, h: f64) -> f64 {
    match freedom.motor {
        Some(Motor::Velocity { target, .. }) => target,
        // Not faster than to arrive in one step.
        Some(Motor::Position { target, time, .. }) => (target - value) / time.max(h),
        // A servo is a soft row: `servos`.
        Some(Motor::Servo { .. }) | None => 0.0,
    }
}

/// Distance beyond its limits that a link keeps [rad or m]: a quarter of a degree.
const JOINT_TARGETS_KEPT: f64 = 4e-3;

/// Limits that a link keeps, from where it is: a wedged tree cannot undo what a hard impact or rounding has left beyond them, and what it
/// undoes would be velocity. Anything that does not press leaves it. What is farther beyond than a step leaves it does not fit: it stays, and
/// the pose-only pass brings it back.
fn kept(keeps: bool, freedom: Freedom, value: f64) -> Freedom {
    let limits = match freedom.limits {
        Some((min, max)) if min == max && (value - min).abs() > JOINT_APART => Some((value, value)),
        Some((min, max)) if beyond(&freedom, value) > JOINT_APART => {
            Some((min.min(value), max.max(value)))
        }
        Some((min, max)) if keeps && min < max => Some((
            min.min(value.max(min - JOINT_TARGETS_KEPT)),
            max.max(value.min(max + JOINT_TARGETS_KEPT)),
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
pub(super) fn beyond(freedom: &Freedom, value: f64) -> f64 {
    let (min, max) = freedom.limits.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    (min - value).max(value - max).max(0.0)
}
