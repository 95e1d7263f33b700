//! What a solve left: residuals for the certificate, energy for the ledger and for the balance of its bodies.
//!
//! Reads: solved contact rows, joint blocks, step contacts.  Writes: residuals and ledger of the report, balance.
//! Called by: the solves of the methods that step in two stages, and their collision phases.
//! Source: docs/methods/contract.md, "The certificate".

use super::gather::StepContact;
use super::{Island, Scratch};
use crate::math::Vec3;
use crate::model::Model;
use crate::output::balance::Balance;
use crate::report::StepReport;
use crate::solver::contact::ContactRow;
use crate::solver::ends::SolverBody;
use crate::solver::joint::JointBlock;
use crate::work::Work;

/// Part of the speed of a prescribed surface by which a row may miss its target, and the work of that surface still count as such [1]: what
/// misses by more is crushed, not driven.
const DRIVEN: f64 = 0.25;

/// Where energy is booked.
pub(crate) struct Books<'a> {
    pub model: &'a Model,
    pub report: &'a mut StepReport,
    pub balance: &'a mut Balance,
    /// Whether impulses are those of one moment; else prescribed bodies count with their mean motion over the substep.
    pub at_once: bool,
}

/// Books what a half of a substep did: contacts that took part, joints, nets.
pub(crate) fn half(
    model: &Model,
    work: &mut Work,
    report: &mut StepReport,
    active: impl Fn(&StepContact) -> bool,
) {
    let Work { stage, balance, .. } = work;
    let mut books = Books {
        model,
        report,
        balance,
        at_once: false,
    };
    books.solve(stage, active);
    for net in stage.islands.iter().filter_map(Island::as_net) {
        net.book(&mut books);
    }
}

impl Books<'_> {
    /// How a prescribed body moves, for the work it does.
    fn motion(&self, slot: u32, bodies: &[SolverBody]) -> (Vec3, Vec3) {
        if self.at_once {
            let body = &bodies[slot as usize];
            return (body.v, body.w);
        }
        let mean = self.balance.mean_motion(slot);
        (mean.v, mean.w)
    }

    /// What an impulse on a prescribed body may lend [J]: its motion is no straight line.
    fn lend(&mut self, ends: [u32; 2], r: Vec3, impulse: Vec3) {
        let one = |slot: u32| {
            let mean = self.balance.mean_motion(slot);
            impulse.length() * (mean.bend + mean.arc * mean.w.cross(r).length())
        };
        let amount = one(ends[0]) + one(ends[1]);
        if amount > 0.0 && !self.at_once {
            self.balance.lend(self.model, ends, amount);
        }
    }

    /// Residuals and energy of a finished solve. `ΔE = Σ P · ½(u⁻ + u⁺)`, split into normal and tangential parts.
    pub(crate) fn solve(&mut self, scratch: &Scratch, active: impl Fn(&StepContact) -> bool) {
        let Scratch {
            bodies,
            step_contacts,
            rows,
            joint_blocks,
            ..
        } = scratch;
        for (row, step_contact) in rows.iter().zip(step_contacts).filter(|(_, c)| active(c)) {
            self.contact(row, step_contact, bodies);
        }
        for block in joint_blocks {
            self.joint(block, bodies);
        }
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
        let restitution = -row.p_n * mean.dot(row.n);
        let friction = -(row.tangential_impulse().dot(mean) + row.angular_impulse().dot(spin));
        // The side with prescribed motion does the rest of the work: P · u of its surface.
        let mut prescribed = row.prescribed_work(bodies, |slot| self.motion(slot, bodies));
        let mut restitution = restitution;
        if prescribed != 0.0 && is_crushed(row, bodies) {
            restitution -= prescribed;
            prescribed = 0.0;
            let depth = -step_contact.gap_end.min(step_contact.gap_start);
            self.report.squeezed = self.report.squeezed.max(depth);
        }
        let e = &mut self.report.energy;
        e.restitution += restitution;
        e.friction += friction;
        e.prescribed += prescribed;
        let ends = [row.a, row.b];
        self.balance
            .exchange(self.model, ends, prescribed, restitution + friction);
        let lever = if bodies[row.a as usize].inverse_mass == 0.0 {
            row.lever_a()
        } else {
            row.lever_b()
        };
        self.lend(ends, lever, row.impulse());
    }

    /// Energy of one joint. Motors and springs do work, dampers take it; limits, and rows that hold a joint which started a substep in motion, take it by a shock.
    /// Otherwise rows that hold a joint do no work: what they leave is error, not account.
    pub(crate) fn joint(&mut self, block: &JointBlock, bodies: &[SolverBody]) {
        let (mut motors, limits) = block.bounded_work(bodies);
        let mut held = if block.shocked || block.apart {
            block.held_work(bodies)
        } else {
            0.0
        };
        // What a motor does against joints that contradict it is no work put in.
        let missed = block.velocity_residual(bodies);
        if block.apart || !(missed <= WORK_ROUNDING) {
            self.balance.roughen([block.a, block.b]);
        }
        if motors != 0.0 && !(missed <= DRIVEN * block.motor_speed() + WORK_ROUNDING) {
            held += motors;
            motors = 0.0;
        }
        let prescribed = block.prescribed_work(bodies, |slot| self.motion(slot, bodies));
        let e = &mut self.report.energy;
        e.motors += motors;
        let soft = block.soft_work(bodies);
        e.motors += soft.spring;
        e.joint_friction += soft.damper;
        e.numerical_damping += soft.numerical;
        let shock = -limits - held;
        e.shock += shock;
        e.prescribed += prescribed;
        let ends = [block.a, block.b];
        self.balance
            .exchange_by_joint(self.model, ends, motors + soft.spring + prescribed, shock);
        let wrench = block.wrench();
        self.lend(ends, block.lever, wrench.e);
    }
}

/// Miss of a row that counts as rounding [m/s].
const WORK_ROUNDING: f64 = 1e-3;

/// Whether a row misses its target by much of the speed of its prescribed side: then the work of that side does not count as put in.
fn is_crushed(row: &ContactRow, bodies: &[SolverBody]) -> bool {
    !is_met(row, bodies, surface_speed(row, bodies))
}

/// Whether a row meets its target to a part of the speed of a prescribed surface [m/s].
fn is_met(row: &ContactRow, bodies: &[SolverBody], surface: f64) -> bool {
    let [normal, _, tangential] = row.residuals(bodies);
    normal.max(tangential) <= DRIVEN * surface + WORK_ROUNDING
}

/// Speed of the side of a row that has prescribed motion [m/s].
fn surface_speed(row: &ContactRow, bodies: &[SolverBody]) -> f64 {
    let one = |slot: u32, r: Vec3| {
        let body = &bodies[slot as usize];
        if body.inverse_mass == 0.0 {
            body.at(r).length()
        } else {
            0.0
        }
    };
    one(row.a, row.lever_a()).max(one(row.b, row.lever_b()))
}
