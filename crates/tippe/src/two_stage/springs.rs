//! Springs and dampers in a substep: the part that the step resolves as half a kick at t and at t + h, the rest as soft rows.
//!
//! Reads: Model (joints), State, predicted states.  Writes: body velocities, soft rows of joint blocks, velocities before the kicks.
//! Called by: `predict` (kicks), `joints` (rows), `targets` (velocities for the ledger).
//! Source: docs/methods/two-stage.md, "Springs". Letters: x value, u velocity along the row, r its response, s = ½ h² k r, z = ½ h c r,
//! w = (x₁ − x₀)/h.
//!
//! At t: λ = −(h/2) [k ((1 − θ) x₀ + θ x₁) + c w]; at t + h: λ = −(h/2) [k (x₁ + θ h u₁) + c ((1 − φ) w + φ u₁)].
//! With θ = 0 and φ = 0 that is Störmer–Verlet with a damper at the mean velocity, of order two, which keeps the energy of an
//! oscillator. θ = 1 − 1/2s and φ = 1 − 1/2z, where positive, make it stable at any stiffness and damping: they are 0 up to ω h = 1 and
//! c h r = 1. Where nothing moves both impulses are half of k x h, whatever the step.

use super::Scratch;
use crate::dynamics::impulse::inverse_inertia;
use crate::dynamics::joint::{JointPlace, JointRow, unwrapped};
use crate::joint::{Freedom, Motor, Spring};
use crate::model::{Joint, Model};
use crate::report::StepReport;
use crate::solver::ends::{Bodies, SolverBody};
use crate::solver::joint::{JointBlock, SERVOS};
use crate::solver::soft::Soft;
use crate::state::State;
use crate::two_stage::joint_targets::free_value;
use crate::work::Work;

/// Stiffness s and damping z of a row beyond which a spring or a damper is implicit [1].
const RESOLVED: f64 = 0.5;

/// The part of something that is implicit, from how stiff it is in the step.
pub(super) fn implicit(stiffness: f64) -> f64 {
    (1.0 - RESOLVED / stiffness).max(0.0)
}

/// How much of a spring is implicit for a row of this response in a step of length h: θ, φ.
fn split(spring: &Spring, response: f64, h: f64) -> (f64, f64) {
    (
        implicit(0.5 * h * h * spring.stiffness * response),
        implicit(0.5 * h * spring.damping * response),
    )
}

/// The springs of a joint that is somewhere: each with its row and value, rotation first.
fn springs(joint: &Joint, place: &JointPlace, angle: f64) -> [Option<(Spring, JointRow, f64)>; 2] {
    let (turn, raw) = place.angle();
    let (slide, _) = place.translation(joint.desc.kind);
    let of = |f: &Freedom, row, value| f.spring.map(|spring| (spring, row, value));
    [
        of(&joint.desc.rotation, turn, unwrapped(raw, angle)),
        of(
            &joint.desc.translation,
            slide,
            free_value(joint.desc.kind, place),
        ),
    ]
}

/// J M⁻¹ Jᵀ of a row between two bodies.
pub(super) fn response(row: &JointRow, a: &SolverBody, b: &SolverBody) -> f64 {
    (a.inverse_mass + b.inverse_mass) * row.e.length_squared()
        + row.ang_a.dot(a.inverse_inertia * row.ang_a)
        + row.ang_b.dot(b.inverse_inertia * row.ang_b)
}

/// Half a kick of all springs at one end of a substep of length `h`.
pub(crate) fn kick(model: &Model, state: &mut State, h: f64) {
    for (i, joint) in model.present_joints() {
        if joint.desc.rotation.spring.is_none() && joint.desc.translation.spring.is_none() {
            continue;
        }
        debug_assert!(!model.is_linked(joint), "refused by the world");
        if !model.is_awake(joint.b) && !joint.a.is_some_and(|a| model.is_awake(a)) {
            continue;
        }
        let place = joint.place(&state.bodies, &state.joints);
        let slots = [joint.a, Some(joint.b)];
        let [mut a, mut b] = slots
            .map(|slot| slot.map_or(SolverBody::FIXED, |slot| solver_body(model, state, slot)));
        for (spring, row, value) in springs(joint, &place, state.joints[i].angle)
            .into_iter()
            .flatten()
        {
            let response = response(&row, &a, &b);
            if response > 0.0 {
                push(&row, kicked(&spring, value, response, h), &mut a, &mut b);
            }
        }
        for (slot, side) in slots.into_iter().zip([a, b]) {
            if let Some(slot) = slot
                && side.inverse_mass > 0.0
            {
                let s = &mut state.bodies[slot as usize];
                (s.velocity, s.angular_velocity) = (side.v, side.w);
            }
        }
    }
}

/// Impulse of a spring's kick.
fn kicked(spring: &Spring, value: f64, response: f64, h: f64) -> f64 {
    let explicit = 1.0 - split(spring, response, h).0;
    0.5 * h * spring.stiffness * explicit * (spring.rest - value)
}

fn push(row: &JointRow, lambda: f64, a: &mut SolverBody, b: &mut SolverBody) {
    a.v -= row.e * (lambda * a.inverse_mass);
    a.w += a.inverse_inertia * (row.ang_a * lambda);
    b.v += row.e * (lambda * b.inverse_mass);
    b.w += b.inverse_inertia * (row.ang_b * lambda);
}

fn solver_body(model: &Model, state: &State, slot: u32) -> SolverBody {
    let s = &state.bodies[slot as usize];
    match &model.bodies[slot as usize] {
        Some(body) => SolverBody {
            v: s.velocity,
            w: s.angular_velocity,
            inverse_mass: body.inverse_mass,
            inverse_inertia: inverse_inertia(body, s),
        },
        None => SolverBody::FIXED,
    }
}

impl JointBlock {
    /// The soft rows of a joint's springs where it is, with the kicks they gave there.
    pub(crate) fn add_springs(
        &mut self,
        joint: &Joint,
        place: &JointPlace,
        bodies: &Bodies,
        angle: f64,
        h: f64,
    ) {
        let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
        for (soft, spring) in self.soft.iter_mut().zip(springs(joint, place, angle)) {
            let Some((spring, row, value)) = spring else {
                continue;
            };
            let response = response(&row, a, b);
            if response > 0.0 {
                *soft = Soft {
                    row,
                    mass: 1.0 / response,
                    kick: kicked(&spring, value, response, h),
                    value,
                    before: row.velocity(a, b),
                    ..Soft::default()
                };
            }
        }
    }

    /// Aims the springs at t, as seen from where the bodies go with their present velocities; those
    /// that resolve their motion have nothing to add.
    pub(crate) fn aim_springs_first(
        &mut self,
        joint: &Joint,
        then: &JointPlace,
        bodies: &[SolverBody],
        angle: f64,
        h: f64,
    ) {
        let after = springs(joint, then, angle);
        for k in 0..SERVOS {
            let (Some((spring, _, x_1)), true) = (after[k], self.soft[k].mass > 0.0) else {
                continue;
            };
            let (a, b) = (&bodies[self.a as usize], &bodies[self.b as usize]);
            let soft = &mut self.soft[k];
            let (theta, _) = split(&spring, 1.0 / soft.mass, h);
            let (stiff, damping) = (0.5 * h * spring.stiffness * theta, 0.5 * h * spring.damping);
            soft.target = soft.row.velocity(a, b);
            soft.damper = (-damping * (x_1 - soft.value) / h, damping);
            soft.numerical = (-stiff * (x_1 - soft.value), stiff * h);
            soft.bias = soft.damper.0 - stiff * (x_1 - spring.rest);
            soft.gain = damping + stiff * h;
            soft.open();
        }
    }

    /// Aims the springs at t + h.
    pub(crate) fn aim_springs_second(&mut self, joint: &Joint, h: f64) {
        let freedoms = [joint.desc.rotation.spring, joint.desc.translation.spring];
        for k in 0..SERVOS {
            let (Some(spring), true) = (freedoms[k], self.soft[k].mass > 0.0) else {
                continue;
            };
            let soft = &mut self.soft[k];
            let mean = (soft.value - soft.start) / h;
            let (theta, phi) = split(&spring, 1.0 / soft.mass, h);
            let (stiff, damping) = (0.5 * h * spring.stiffness * theta, 0.5 * h * spring.damping);
            soft.target = 0.0;
            soft.damper = (-damping * (1.0 - phi) * mean, damping * phi);
            soft.numerical = (0.0, stiff * h);
            soft.bias = soft.damper.0 - stiff * (soft.value - spring.rest);
            soft.gain = soft.damper.1 + soft.numerical.1;
            soft.open();
        }
    }

    /// Visits the springs for the first time: those without gain have their impulse for good.
    pub(crate) fn answer_springs(&mut self, bodies: &mut Bodies) {
        for k in 0..SERVOS {
            self.visit_soft(k, bodies);
        }
    }
}

/// Springs act together with the impulses of the solve that follows their kick: for the ledger, velocities before that are those before
/// the kick. (`P · ½(u⁻ + u⁺)` is exact for impulses that act together.)
pub(crate) fn note_before(scratch: &mut Scratch) {
    let Scratch {
        bodies,
        step_contacts,
        rows,
        joint_blocks,
        unsprung,
        ..
    } = scratch;
    let acts = |block: &JointBlock| block.soft.iter().any(|s| s.mass > 0.0);
    if !joint_blocks.iter().any(acts) {
        return;
    }
    unsprung.clear();
    unsprung.extend_from_slice(bodies);
    for block in joint_blocks.iter() {
        for soft in block.soft.iter().filter(|s| s.mass > 0.0) {
            let (mut a, mut b) = (unsprung[block.a as usize], unsprung[block.b as usize]);
            // The kick, and the answer that the row has given already.
            push(&soft.row, -(soft.kick + soft.lambda), &mut a, &mut b);
            (unsprung[block.a as usize], unsprung[block.b as usize]) = (a, b);
        }
    }
    for (step_contact, row) in step_contacts.iter_mut().zip(rows.iter()) {
        step_contact.velocity_before = row.velocity(unsprung);
        step_contact.spin_before = row.spin(unsprung);
    }
    for block in joint_blocks.iter_mut() {
        block.note_velocity(unsprung);
        let (a, b) = (&unsprung[block.a as usize], &unsprung[block.b as usize]);
        for bounded in block.bounded.iter_mut().filter(|r| r.mass > 0.0) {
            bounded.before = bounded.row.velocity(a, b);
        }
        for soft in block.soft.iter_mut().filter(|s| s.mass > 0.0) {
            soft.before = soft.row.velocity(a, b);
        }
    }
}

/// Springs store what they take: books the change of what they hold as their work. What their impulses did beyond that, an error of second
/// order in the step, is the method's own doing. After the second solve.
pub(crate) fn settle(model: &Model, work: &mut Work, report: &mut StepReport) {
    let mut given = 0.0;
    for block in &work.stage.joint_blocks {
        let Some(joint) = &model.joints[block.joint as usize] else {
            continue;
        };
        let freedoms = [joint.desc.rotation.spring, joint.desc.translation.spring];
        for (soft, spring) in block.soft.iter().zip(freedoms) {
            if let (Some(spring), true) = (spring, soft.mass > 0.0) {
                given += spring.energy(soft.start) - spring.energy(soft.value);
            }
        }
    }
    report.energy.elastic_work += given;
    report.energy.numerical_damping += given - work.balance.sprung;
}

/// Square of how far the stiffest spring, damper or servo turns in a substep [rad²].
pub(crate) fn stiffest(model: &Model, blocks: &[JointBlock], h: f64) -> f64 {
    let mut most: f64 = 0.0;
    for block in blocks {
        let Some(joint) = &model.joints[block.joint as usize] else {
            continue;
        };
        let freedoms = [&joint.desc.rotation, &joint.desc.translation];
        for (k, soft) in block.soft.iter().enumerate().filter(|(_, s)| s.mass > 0.0) {
            let freedom = freedoms[k % SERVOS];
            let (stiffness, damping) = match (freedom.spring, freedom.motor) {
                (Some(spring), _) if k < SERVOS => (spring.stiffness, spring.damping),
                (_, Some(Motor::Servo { kp, kd, .. })) if k >= SERVOS => (kp, kd),
                _ => continue,
            };
            let damped = h * damping / soft.mass;
            most = most.max(h * h * stiffness / soft.mass + damped * damped);
        }
    }
    most
}
