//! Servos: motors with gains as soft rows of joint blocks, for bodies and links alike.
//!
//! Reads: Model (joints), predicted states.  Writes: soft rows of joint blocks, solver bodies.
//! Called by: `joints` and `relinearise` (rows), `targets` (first answers).
//! Source: docs/methods/two-stage.md, "Springs", whose scheme this is, without kicks: a bound on the force bounds each half. Letters: x
//! value, x* and u* where and how fast it shall be, r response, w = (x₁ − x₀)/h.
//!
//! At t: λ = −(h/2) [kp ((1 − θ) x₀ + θ x₁ − x*) + kd (w − u*)]; at t + h: λ = −(h/2) [kp (x₁ + θ h u₁ − x*) + kd ((1 − φ) w + φ u₁ − u*)],
//! both within ± (h/2) times the greatest force. Where nothing moves both are half of kp (x* − x) h, whatever step and gains.

use super::Scratch;
use super::springs::{implicit, response};
use crate::dynamics::joint::{JointPlace, unwrapped};
use crate::joint::{Freedom, Motor};
use crate::model::Joint;
use crate::solver::ends::{Bodies, SolverBody};
use crate::solver::joint::{JointBlock, SERVOS};
use crate::solver::soft::Soft;
use crate::two_stage::joint_targets::free_value;

/// A servo in a substep.
#[derive(Clone, Copy)]
struct Servo {
    position: f64,
    velocity: f64,
    kp: f64,
    kd: f64,
    max_force: f64,
}

impl Servo {
    fn of(freedom: &Freedom) -> Option<Self> {
        match freedom.motor {
            Some(Motor::Servo {
                position,
                velocity,
                kp,
                kd,
                max_force,
            }) => Some(Self {
                position,
                velocity,
                kp,
                kd,
                max_force,
            }),
            _ => None,
        }
    }

    /// What of its stiffness and damping is implicit: θ, φ.
    fn split(&self, response: f64, h: f64) -> (f64, f64) {
        (
            implicit(0.5 * h * h * self.kp * response),
            implicit(0.5 * h * self.kd * response),
        )
    }

    /// Lets its row act within the bounds of half a step.
    fn open(&self, soft: &mut Soft, h: f64) {
        let bound = 0.5 * h * self.max_force;
        soft.open();
        if soft.acts() {
            (soft.low, soft.high) = (-bound, bound);
        }
    }
}

fn servos(joint: &Joint) -> [Option<Servo>; SERVOS] {
    [
        Servo::of(&joint.desc.rotation),
        Servo::of(&joint.desc.translation),
    ]
}

impl JointBlock {
    /// The soft rows of a joint's servos where it is; after `add_bounded`, which finds its values.
    pub(crate) fn add_servos(&mut self, joint: &Joint, place: &JointPlace, bodies: &Bodies) {
        let kind = joint.desc.kind;
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        for (k, servo) in servos(joint).into_iter().enumerate() {
            if servo.is_none() {
                continue;
            }
            let row = [place.turn(kind).0, place.translation(kind).0][k];
            let response = if self.linked {
                bodies.row_answer(self.a, self.b, &row, &row)
            } else {
                response(&row, a, b)
            };
            if response > 0.0 {
                self.soft[SERVOS + k] = Soft {
                    row,
                    mass: 1.0 / response,
                    value: self.values[k],
                    before: row.velocity(a, b),
                    ..Soft::default()
                };
            }
        }
    }

    /// Aims the servos at t, as seen from where the bodies go with their present velocities.
    pub(crate) fn aim_servos_first(
        &mut self,
        joint: &Joint,
        then: &JointPlace,
        bodies: &[SolverBody],
        angle: f64,
        h: f64,
    ) {
        let kind = joint.desc.kind;
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        for (k, servo) in servos(joint).into_iter().enumerate() {
            let soft = &mut self.soft[SERVOS + k];
            let (Some(servo), true) = (servo, soft.mass > 0.0) else {
                continue;
            };
            let x_1 = match k {
                0 => unwrapped(then.turn(kind).1, angle),
                _ => free_value(kind, then),
            };
            let (theta, _) = servo.split(1.0 / soft.mass, h);
            let mean = (x_1 - soft.value) / h;
            let off = (1.0 - theta) * soft.value + theta * x_1 - servo.position;
            soft.target = soft.row.velocity(a, b);
            soft.bias = -0.5 * h * (servo.kp * off + servo.kd * (mean - servo.velocity));
            soft.gain = 0.5 * h * (servo.kp * theta * h + servo.kd);
            servo.open(soft, h);
        }
    }

    /// Aims the servos at t + h.
    pub(crate) fn aim_servos_second(&mut self, joint: &Joint, h: f64) {
        for (k, servo) in servos(joint).into_iter().enumerate() {
            let soft = &mut self.soft[SERVOS + k];
            let (Some(servo), true) = (servo, soft.mass > 0.0) else {
                continue;
            };
            let mean = (soft.value - soft.start) / h;
            let (theta, phi) = servo.split(1.0 / soft.mass, h);
            let off = soft.value - servo.position;
            let fast = (1.0 - phi) * mean - servo.velocity;
            soft.target = 0.0;
            soft.bias = -0.5 * h * (servo.kp * off + servo.kd * fast);
            soft.gain = 0.5 * h * (servo.kp * theta * h + servo.kd * phi);
            servo.open(soft, h);
        }
    }
}

/// Visits the servos for the first time, when all velocities before are noted: those without gain have their impulse for good.
pub(crate) fn answer(scratch: &mut Scratch) {
    for block in &mut scratch.joint_blocks {
        for k in SERVOS..block.soft.len() {
            block.visit_soft(k, &mut scratch.bodies);
        }
    }
}
