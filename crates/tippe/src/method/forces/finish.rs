//! The end of a piece: works into the ledger, memory for the next one, records for those who tell.
//!
//! Reads: sums over the piece, impacts at its start, contacts.  Writes: State (memory), records, events, StepReport.
//! Called by: `method::forces`.
//! Source: docs/methods/contract.md, "The certificate".

use super::Scratch;
use super::system::Mode;
use crate::dynamics::joint::unwrapped;
use crate::joint::JointKind;
use crate::model::Model;
use crate::output::record::{ContactRecord, JointRecord};
use crate::output::{events, ledger};
use crate::report::StepReport;
use crate::state::{ContactMemory, Impulse, JointMemory, PairKey, State};
use crate::two_stage::joint_targets::free_value;
use crate::work::Work;

/// Ends a piece that started with the kinetic and potential energies `before`.
pub(crate) fn run(
    model: &Model,
    before: (f64, f64),
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) {
    book(model, state, work, report);
    work.records.begin_substep();
    contacts(model, state, work, report);
    joints(model, state, work, report);
    let idle = |p: &PairKey| !model.is_awake(p.body_a) && !model.is_awake(p.body_b);
    events::of_substep(
        model,
        idle,
        &work.records,
        state,
        &mut work.stage.touching,
        &mut work.detection.sensed,
        &mut work.events,
        report,
    );
    work.balance.close(model, state, 0.0, &mut report.energy);
    ledger::close(model, before, state, report);
    report.time = state.time;
    report.candidates = work.detection.contacts.len();
    report.material_fallbacks = work.detection.material_fallbacks;
}

/// Works of the piece.
fn book(model: &Model, state: &State, work: &mut Work, report: &mut StepReport) {
    let Work {
        forces,
        detection,
        balance,
        backup: _,
        ..
    } = work;
    let smooth = &forces.smooth;
    let e = &mut report.energy;
    for (sum, active) in smooth.contact_sums.iter().zip(&smooth.active) {
        e.friction += sum.friction;
        e.prescribed += sum.prescribed;
        let (a, b) = detection.contacts[active.contact as usize].bodies();
        balance.exchange(model, [a as u32, b as u32], sum.prescribed, sum.friction);
    }
    for (sum, &slot) in smooth.joint_sums.iter().zip(&smooth.joints) {
        e.prescribed += sum.prescribed;
        if let Some(joint) = &model.joints[slot as usize] {
            let ends = [joint.a.unwrap_or(joint.b), joint.b];
            balance.exchange_by_joint(model, ends, sum.prescribed, 0.0);
        }
    }
    e.motors += smooth.spring_work;
    if let Some(&slot) = smooth.slots.first() {
        balance.put_in(slot, smooth.spring_work);
    }
    for (node, &slot) in smooth.slots.iter().enumerate() {
        e.external += smooth.external[node];
        e.drag += smooth.drag_loss[node];
        balance.put_in(slot, smooth.external[node]);
    }
    // Bodies that flew: the user's force along their way.
    for (i, body) in model.present().filter(|(_, b)| b.is_free()) {
        let flew = smooth
            .node_of
            .get(i)
            .is_none_or(|n| *n == super::system::NO_NODE);
        if flew && state.loads[i].force != crate::Vec3::ZERO {
            let way = state.bodies[i].position - forces.start[i].position;
            let put_in = state.loads[i].force.dot(way);
            e.external += put_in;
            balance.put_in(i as u32, put_in);
        }
        let _ = body;
    }
}

/// Memory and records of the contacts.
fn contacts(model: &Model, state: &mut State, work: &mut Work, report: &mut StepReport) {
    let Work {
        forces,
        detection,
        records,
        ..
    } = work;
    let Scratch {
        smooth,
        impacts,
        places,
        struck,
        ..
    } = forces;
    places.clear();
    places.resize(detection.contacts.len(), (u32::MAX, u32::MAX));
    for (k, active) in smooth.active.iter().enumerate() {
        places[active.contact as usize].0 = k as u32;
    }
    if *struck {
        for (k, near) in impacts.near.iter().enumerate() {
            places[near.contact as usize].1 = k as u32;
        }
    }
    let asleep = |p: &PairKey| !model.is_awake(p.body_a) && !model.is_awake(p.body_b);
    state.contacts.retain(|c| asleep(&c.key.pair));
    for (c, &(active, near)) in detection.contacts.iter().zip(places.iter()) {
        let (a, b) = c.bodies();
        let at = c.at(&state.bodies[a], &state.bodies[b]);
        let active = smooth
            .active
            .get(active as usize)
            .zip(smooth.contact_sums.get(active as usize));
        let near = impacts.near.get(near as usize);
        report.penetration_found = report.penetration_found.max(-c.point.gap);
        let carries = active.is_some_and(|(x, _)| x.mode != Mode::Open);
        if carries || near.is_some_and(|n| n.speed > 0.0) {
            report.penetration = report.penetration.max(-at.gap);
        }
        if active.is_none() && near.is_none_or(|n| n.impulse == crate::Vec3::ZERO) {
            continue;
        }
        let impulse = active.map_or(crate::Vec3::ZERO, |(_, s)| s.impulse)
            + near.map_or(crate::Vec3::ZERO, |n| n.impulse);
        let point = (at.point_a + at.point_b) * 0.5;
        let sliding = active.is_some_and(|(x, _)| matches!(x.mode, Mode::Slide(_)));
        let u = state.bodies[b].point_velocity(point) - state.bodies[a].point_velocity(point);
        records.contacts.push(ContactRecord {
            key: c.key,
            time: state.time,
            point,
            normal: at.normal,
            gap: at.gap,
            impulse,
            velocity_before: u,
            velocity_after: u,
            duration: report.dt,
            sliding,
            impacts: [(0.0, near.map_or(0.0, |n| n.speed)), (0.0, 0.0)],
            impact_point: near.map_or(point, |n| n.point),
            ..ContactRecord::default()
        });
        if let Some((x, _)) = active.filter(|(x, _)| x.mode != Mode::Open) {
            let p = x.force * report.dt;
            let normal = p.dot(at.normal);
            state.contacts.push(ContactMemory {
                key: c.key,
                first: Impulse {
                    normal,
                    tangential: p - at.normal * normal,
                    ..Impulse::default()
                },
                sliding,
                ..ContactMemory::default()
            });
        }
    }
    state.contacts.sort_unstable_by_key(|c| c.key);
}

/// Memory, records and residuals of the joints.
fn joints(model: &Model, state: &mut State, work: &mut Work, report: &mut StepReport) {
    let smooth = &work.forces.smooth;
    for (k, &slot) in smooth.joints.iter().enumerate() {
        let Some(joint) = &model.joints[slot as usize] else {
            continue;
        };
        let place = joint.place(&state.bodies, &state.joints);
        let held = place.held(joint.desc.kind);
        let worst = held.residuals[..held.count]
            .iter()
            .fold(0.0, |w: f64, r| w.max(r.abs()));
        report.residuals.joint_position = report.residuals.joint_position.max(worst);
        let sum = smooth.joint_sums.get(k).copied().unwrap_or_default();
        let forces = smooth.joint_forces.get(k).copied().unwrap_or_default();
        let memory = &mut state.joints[slot as usize];
        let angle = unwrapped(place.turn(joint.desc.kind).1, memory.angle);
        *memory = JointMemory {
            first: forces.map(|f| f * report.dt),
            angle,
            force: sum.impulse.length() / report.dt,
            ..JointMemory::default()
        };
        let kind = joint.desc.kind;
        let slides = kind.slides() || matches!(kind, JointKind::Distance { .. });
        work.records.joints.push(JointRecord {
            joint: slot,
            time: state.time,
            impulse: sum.impulse,
            angular_impulse: sum.angular,
            duration: report.dt,
            angle: if kind.turns() { angle } else { 0.0 },
            displacement: if slides {
                free_value(kind, &place)
            } else {
                0.0
            },
        });
    }
}
