//! The end of a substep: velocities back into the state, memory for the next one, records for those who tell.
//!
//! Reads: solved rows, step contacts, contacts.  Writes: State (velocities, memory), records, StepReport.
//! Called by: the methods that step in two stages.
//! Source: docs/methods/contract.md, "The certificate".

use super::gather::StepContact;
use super::rest::Resting;
use super::{Island, Scratch, guard, springs, substeps};
use crate::collide::Contact;
use crate::joint::JointKind;
use crate::math::Vec3;
use crate::model::{BodyKind, Model};
use crate::output::record::{ContactRecord, JointRecord};
use crate::output::{events, ledger};
use crate::report::StepReport;
use crate::solver::contact::ContactRow;
use crate::state::{PairKey, State};
use crate::work::Work;

/// Gap under which two shapes count as touching [m].
pub(super) const TOUCHING: f64 = 1e-9;
/// Part of the speed of prescribed surfaces that a row may miss and count as met [1].
const OPEN: f64 = 1e-3;
/// Growth of a joint's force that is believed in a step with impacts [1].
const FORCE_GROWTH: f64 = 1.5;

/// Ends a substep that started with the kinetic and potential energies `before`.
pub(crate) fn run(
    model: &Model,
    before: (f64, f64),
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) {
    for (i, body) in model.present() {
        if body.is_free() {
            let solved = &work.stage.bodies[i];
            state.bodies[i].velocity = solved.v;
            state.bodies[i].angular_velocity = solved.w;
        }
    }
    work.stage.bodies.finish(model, state);
    work.records.begin_substep();
    react(model, state, work, report);
    springs::settle(model, work, report);
    let swing = substeps::TURN_MAX * substeps::turns(model, state, report.dt);
    let soft = springs::stiffest(model, &work.stage.joint_blocks, report.dt);
    let turn = libm::sqrt(swing * swing + soft);
    if work.stage.unguarded {
        work.balance.sum_up(model, state, turn, report.dt);
    } else {
        guard::settle(model, turn, state, work, report);
    }
    remember(model, state, work, report);
    report.squeezed = squeezed(model, state, &work.stage);
    let given_up = work.stage.bodies.given_up();
    report.work.guarded += given_up;
    report.work.caps_hit += given_up;
    let idle = |p: &PairKey| is_idle(model, &work.resting, p);
    events::of_substep(
        model,
        idle,
        &work.records,
        state,
        &mut work.stage.touching,
        &mut work.events,
        report,
    );
    work.balance.close(&mut report.energy);
    ledger::close(model, before, state, report);
    report.time = state.time;
    report.candidates = work.detection.contacts.len();
    report.material_fallbacks = work.detection.material_fallbacks;
}

/// Walks the contacts in key order: memory for the next substep, records.
fn remember(model: &Model, state: &mut State, work: &mut Work, report: &mut StepReport) {
    let Scratch {
        bodies,
        step_contacts,
        rows,
        places,
        ..
    } = &mut work.stage;
    places.clear();
    places.resize(step_contacts.len(), 0);
    for (place, step_contact) in step_contacts.iter().enumerate() {
        places[step_contact.contact as usize] = place as u32;
    }
    let resting = &work.resting;
    state
        .contacts
        .retain(|c| is_idle(model, resting, &c.key.pair));
    let kept = state.contacts.len();
    for (c, &place) in work.detection.contacts.iter().zip(places.iter()) {
        let place = place as usize;
        let (step_contact, row) = (&mut step_contacts[place], &rows[place]);
        report.penetration_found = report.penetration_found.max(-c.point.gap);
        report.penetration = report.penetration.max(-step_contact.gap_end);
        step_contact.memory.key = c.key;
        step_contact.memory.second = row.memory();
        if row.p_n > 0.0 {
            step_contact.memory.sliding = row.slides(bodies);
        }
        let pressed =
            step_contact.first != Vec3::ZERO || row.p_n > 0.0 || step_contact.impact != Vec3::ZERO;
        if pressed || step_contact.gap_end <= TOUCHING {
            state.contacts.push(step_contact.memory);
            let mut record = record(c, step_contact, row, state.time, report.dt);
            record.velocity_after = row.velocity(bodies);
            work.records.contacts.push(record);
        }
    }
    if kept > 0 {
        state.contacts.sort_unstable_by_key(|c| c.key);
    }
}

/// Deepest overlap of islands that a moving prescribed body pushes at while one of their rows cannot be met [m].
fn squeezed(model: &Model, state: &State, stage: &Scratch) -> f64 {
    let prescribed = |slot: u32| {
        let body = model.bodies.get(slot as usize).and_then(Option::as_ref);
        body.filter(|b| matches!(b.kind, BodyKind::Kinematic(_)))
            .map_or(0.0, |b| {
                let s = &state.bodies[slot as usize];
                let reach = if b.reach.is_finite() { b.reach } else { 0.0 };
                s.velocity.length() + reach * s.angular_velocity.length()
            })
    };
    let mut deepest: f64 = 0.0;
    for island in &stage.islands {
        let rows = &stage.rows[island.rows.clone()];
        let pushing = |r: &ContactRow| prescribed(r.a).max(prescribed(r.b));
        let fastest = rows.iter().map(pushing).fold(0.0, f64::max);
        let open = |r: &ContactRow| r.p_n > 0.0 && r.residuals(&stage.bodies)[0] > OPEN * fastest;
        if fastest > 0.0 && rows.iter().any(open) {
            let contacts = &stage.step_contacts[island.rows.clone()];
            let depth =
                |(r, c): (&ContactRow, &StepContact)| if r.p_n > 0.0 { -c.gap_end } else { 0.0 };
            deepest = rows.iter().zip(contacts).map(depth).fold(deepest, f64::max);
        }
    }
    deepest
}

/// Whether nothing happens between two shapes, since neither body moves in this step.
fn is_idle(model: &Model, resting: &Resting, pair: &PairKey) -> bool {
    let moves = |slot: u32| model.is_awake(slot) && !resting.holds(slot);
    !moves(pair.body_a) && !moves(pair.body_b)
}

/// What a contact did in the substep: all its impulses together.
fn record(
    c: &Contact,
    step_contact: &StepContact,
    row: &ContactRow,
    time: f64,
    duration: f64,
) -> ContactRecord {
    let bounced = step_contact.bounce.filter(|_| step_contact.struck);
    ContactRecord {
        key: c.key,
        time,
        point: step_contact.point_end,
        normal: row.n,
        gap: step_contact.gap_end,
        impulse: step_contact.impact + step_contact.first + row.impulse() + step_contact.braking.0,
        angular_impulse: row.angular_impulse()
            + step_contact.memory.first.angular
            + step_contact.braking.1,
        velocity_before: step_contact.velocity_start,
        velocity_after: Vec3::ZERO,
        duration,
        sliding: step_contact.memory.sliding,
        impacts: [
            (step_contact.impact_time, step_contact.impact_speed),
            bounced.map_or((0.0, 0.0), |b| (b.time, b.speed)),
        ],
        impact_point: c.point.point_b,
    }
}

/// Memory, reactions and residuals of the joints.
fn react(model: &Model, state: &mut State, work: &mut Work, report: &mut StepReport) {
    // The force of an impact acts for a moment: it tells little of how stiff the mechanism is.
    let struck = work.stage.step_contacts.iter().any(|t| t.hit && t.struck);
    let Scratch {
        joint_blocks,
        by_joint,
        stretch,
        islands,
        ..
    } = &mut work.stage;
    *stretch = 0.0;
    by_joint.clear();
    by_joint.extend(0..joint_blocks.len() as u32);
    by_joint.sort_unstable_by_key(|&i| joint_blocks[i as usize].joint);
    for &i in by_joint.iter() {
        let block = &joint_blocks[i as usize];
        let Some(joint) = &model.joints[block.joint as usize] else {
            continue;
        };
        let place = joint.place(&state.bodies, &state.joints);
        let worst = block.position_residual(joint, &place);
        report.residuals.joint_position = report.residuals.joint_position.max(worst);
        let [angle, displacement] = block.values();
        let memory = &mut state.joints[block.joint as usize];
        let known = memory.force;
        *memory = block.memory();
        memory.angle = angle;
        let (impulse, angular_impulse) = block.reaction(place.b.position - place.center_b);
        memory.force = (impulse / report.dt).length();
        if struck && known > 0.0 {
            memory.force = memory.force.min(FORCE_GROWTH * known);
        }
        let slides =
            joint.desc.kind.slides() || matches!(joint.desc.kind, JointKind::Distance { .. });
        work.records.joints.push(JointRecord {
            joint: block.joint,
            time: state.time,
            impulse,
            angular_impulse,
            duration: report.dt,
            angle: if joint.desc.kind.turns() { angle } else { 0.0 },
            displacement: if slides { displacement } else { 0.0 },
        });
    }
    for net in islands.iter().filter_map(Island::as_net) {
        *stretch = stretch.max(net.left.position);
        report.residuals = report.residuals.max(net.residuals());
        net.react(model, state, report.dt, &mut work.records.joints);
    }
}
