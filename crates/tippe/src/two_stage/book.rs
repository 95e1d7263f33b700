//! What a solve left: residuals for the certificate, energy for the ledger and for the balance of its bodies.
//!
//! Reads: solved contact rows, joint blocks, step contacts.  Writes: residuals and ledger of the report, balance.
//! Called by: the solves of the methods that step in two stages, and their collision phases.
//! Source: docs/methods/contract.md, "The certificate".

use super::Scratch;
use super::gather::StepContact;
use crate::dynamics::joint::rotation_vector;
use crate::model::{Body, BodyKind, Model};
use crate::output::balance::Balance;
use crate::report::{CERTIFIED, StepReport};
use crate::solver::contact::ContactRow;
use crate::solver::ends::SolverBody;
use crate::solver::joint::JointBlock;
use crate::state::BodyState;

/// Most that a prescribed body turns beyond the mean of its angular velocities, as far as its poses tell [rad].
const STRAY_TURN: f64 = 1.0;

/// Finds by how much the mean velocity of every prescribed body over a substep differs from the mean of its velocities at both ends.
pub(crate) fn find_stray(
    model: &Model,
    now: &[BodyState],
    then: &[BodyState],
    h: f64,
    stray: &mut Vec<SolverBody>,
) {
    stray.clear();
    let moves = |b: &Body| matches!(b.kind, BodyKind::Kinematic(_));
    if h <= 0.0 || !model.present().any(|(_, b)| moves(b)) {
        return;
    }
    stray.resize(model.bodies.len() + 1, SolverBody::FIXED);
    for (i, _) in model.present().filter(|(_, b)| moves(b)) {
        let (s, t) = (&now[i], &then[i]);
        let turn = rotation_vector(t.rotation * s.rotation.conjugate());
        stray[i].v = (t.position - s.position) / h - 0.5 * (s.velocity + t.velocity);
        let turn = turn - 0.5 * h * (s.angular_velocity + t.angular_velocity);
        // A rotation vector does not tell full turns.
        if turn.length() <= STRAY_TURN {
            stray[i].w = turn / h;
        }
    }
}

/// Where energy is booked.
pub(crate) struct Books<'a> {
    pub model: &'a Model,
    pub report: &'a mut StepReport,
    pub balance: &'a mut Balance,
}

impl Books<'_> {
    /// Residuals and energy of a finished solve. `ΔE = Σ P · ½(u⁻ + u⁺)`, split into normal and tangential parts.
    pub(crate) fn solve(&mut self, scratch: &Scratch, active: impl Fn(&StepContact) -> bool) {
        let Scratch {
            bodies,
            step_contacts,
            rows,
            joint_blocks,
            stray,
            ..
        } = scratch;
        for (row, step_contact) in rows.iter().zip(step_contacts).filter(|(_, c)| active(c)) {
            self.contact(row, step_contact, bodies);
            self.stray_contact(row, stray);
        }
        for block in joint_blocks {
            self.joint(block, bodies);
            self.stray_joint(block, stray);
        }
    }

    /// Work of prescribed bodies that accelerate. A body that rides on one follows the parabola between its poses, with the mean velocity w
    /// over the substep and the change Δv of its velocity: its carrier's work is exact with the surface at w ∓ ½ Δv at both ends, which is
    /// its velocity there and w − ½ (v₀ + v₁) more. What the carrier did so is no loss at the contact.
    /// Across the normal friction aims at the mean of the velocities at both ends, and nothing strays.
    fn stray_contact(&mut self, row: &ContactRow, stray: &[SolverBody]) {
        if row.p_n == 0.0 || stray.is_empty() {
            return;
        }
        let work = -row.p_n * row.velocity(stray).dot(row.n);
        let e = &mut self.report.energy;
        e.prescribed += work;
        e.restitution += work;
        let ends = [row.a, row.b];
        self.balance.exchange(self.model, ends, work, work);
    }

    /// The same of a joint, whose rows take nothing.
    fn stray_joint(&mut self, block: &JointBlock, stray: &[SolverBody]) {
        if stray.is_empty() {
            return;
        }
        let work = block.prescribed_work(stray);
        self.report.energy.prescribed += work;
        let ends = [block.a, block.b];
        self.balance.exchange_by_joint(self.model, ends, work, 0.0);
    }

    /// Residuals and energy of one contact.
    pub(crate) fn contact(
        &mut self,
        row: &ContactRow,
        step_contact: &StepContact,
        bodies: &[SolverBody],
    ) {
        let [normal, cone, tangential] = row.residuals(bodies);
        let r = &mut self.report.residuals;
        r.complementarity = r.complementarity.max(normal);
        r.friction_cone = r.friction_cone.max(cone);
        r.stick_slip = r.stick_slip.max(tangential);
        if row.p_n == 0.0 {
            return;
        }
        let mean = 0.5 * (step_contact.velocity_before + row.velocity(bodies));
        let spin = 0.5 * (step_contact.spin_before + row.spin(bodies));
        let e = &mut self.report.energy;
        let restitution = -row.p_n * mean.dot(row.n);
        let friction = -(row.tangential_impulse().dot(mean) + row.angular_impulse().dot(spin));
        // The side with prescribed motion does the rest of the work: P · u of its surface.
        let prescribed = row.prescribed_work(bodies);
        e.restitution += restitution;
        e.friction += friction;
        e.prescribed += prescribed;
        let ends = [row.a, row.b];
        let put_in = if prescribed > 0.0 && normal > CERTIFIED.complementarity {
            self.balance.force(self.model, ends, prescribed);
            0.0
        } else {
            prescribed
        };
        self.balance
            .exchange(self.model, ends, put_in, restitution + friction);
    }

    /// Energy of one joint. Motors and springs do work, dampers take it; limits, and rows that hold a joint which started a substep in motion, take it by a shock.
    /// Otherwise rows that hold a joint do no work: what they leave is error, not account.
    pub(crate) fn joint(&mut self, block: &JointBlock, bodies: &[SolverBody]) {
        let (motors, limits) = block.bounded_work(bodies);
        let prescribed = block.prescribed_work(bodies);
        let e = &mut self.report.energy;
        e.motors += motors;
        let held = if block.shocked {
            block.held_work(bodies)
        } else {
            0.0
        };
        let soft = block.soft_work(bodies);
        self.balance.sprung += soft.spring;
        e.joint_friction += soft.damper;
        e.numerical_damping += soft.numerical;
        let shock = -limits - held;
        e.shock += shock;
        e.prescribed += prescribed;
        let ends = [block.a, block.b];
        self.balance
            .exchange_by_joint(self.model, ends, motors + soft.spring + prescribed, shock);
        let loss = soft.damper + soft.numerical;
        self.balance.lose(self.model, ends, loss);
    }
}
