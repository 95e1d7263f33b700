//! The end of a piece: works into the ledger, memory for the next one, records for those who tell.
//!
//! Reads: sums over the piece, impacts at its start, contacts.  Writes: State (memory), records, events, StepReport.
//! Called by: `method::forces`.
//! Source: docs/methods/contract.md, "The certificate".

use super::compliant::{Yielding, YieldingSum};
use super::smooth::{Active, ContactSum, Smooth};
use super::system::Mode;
use super::{Scratch, compliant};
use crate::collide::Detection;
use crate::dynamics::joint::unwrapped;
use crate::joint::JointKind;
use crate::model::Model;
use crate::output::balance::Balance;
use crate::output::record::{ContactRecord, JointRecord, Records};
use crate::output::{events, ledger};
use crate::report::StepReport;
use crate::state::{BOUNDED, ContactMemory, Impulse, JointMemory, PairKey, State};
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
        &mut work.events,
        report,
    );
    work.balance.sum_up(model, state, 0.0, report.dt);
    work.balance.close(&mut report.energy);
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
    for smooth in forces.parts() {
        book_part(model, smooth, detection, balance, report);
    }
    yielding(model, state, forces, detection, balance, report);
    // Bodies that flew: the user's force along their way.
    let e = &mut report.energy;
    let smooth = &forces.smooth;
    for (i, body) in model.present().filter(|(_, b)| b.is_free()) {
        let flew = smooth
            .node_of
            .get(i)
            .is_none_or(|n| *n == super::system::NO_NODE)
            && !forces.marks.get(i).copied().unwrap_or(false);
        if flew && state.loads[i].force != crate::Vec3::ZERO {
            let way = state.bodies[i].position - forces.start[i].position;
            let put_in = state.loads[i].force.dot(way);
            e.external += put_in;
            balance.put_in(i as u32, put_in);
        }
        let _ = body;
    }
}

/// Works of the contacts and joints of one part.
fn book_part(
    model: &Model,
    smooth: &Smooth,
    detection: &Detection,
    balance: &mut Balance,
    report: &mut StepReport,
) {
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
            balance.exchange_by_joint(model, ends, sum.prescribed + sum.driven, 0.0);
        }
    }
    for tree in &smooth.trees {
        let Some(articulation) = &model.articulations[tree.articulation as usize] else {
            continue;
        };
        let given = smooth.springs_of_tree(tree, articulation);
        e.elastic_work += given;
        e.joint_friction += tree.dissipated;
        e.external += tree.external;
        if let Some(slot) = articulation.root() {
            balance.put_in(slot, given + tree.external);
            balance.lose(model, [slot; 2], tree.dissipated);
        }
    }
    e.motors += smooth.motor_work;
    let springs = &smooth.spring_works;
    e.elastic_work += springs.given;
    e.joint_friction += springs.damped;
    e.prescribed += springs.prescribed;
    for (node, &slot) in smooth.slots.iter().enumerate() {
        e.external += smooth.external[node];
        e.drag += smooth.drag_loss[node];
        balance.put_in(slot, smooth.external[node]);
    }
}

/// Works of the contacts that give way, and the energy they hold.
fn yielding(
    model: &Model,
    state: &State,
    forces: &Scratch,
    detection: &Detection,
    balance: &mut Balance,
    report: &mut StepReport,
) {
    if !forces.yields {
        return;
    }
    let e = &mut report.energy;
    let smooth = &forces.compliant;
    for (y, sum) in smooth.yielding.iter().zip(&smooth.yielding_sums) {
        let c = &detection.contacts[y.contact as usize];
        let given = compliant::given_back(c, &forces.start, &state.bodies);
        e.elastic_work += given;
        e.contact_damping += sum.damping;
        e.friction += sum.friction;
        e.prescribed += sum.prescribed;
        let ends = [c.key.pair.body_a, c.key.pair.body_b];
        let taken = sum.damping + sum.friction;
        balance.exchange(model, ends, given + sum.prescribed, taken);
    }
    e.elastic = compliant::stored(&detection.contacts, &state.bodies);
}

/// Memory and records of the contacts.
fn contacts(model: &Model, state: &mut State, work: &mut Work, report: &mut StepReport) {
    let Work {
        forces,
        detection,
        records,
        ..
    } = work;
    let carried: Vec<(Active, ContactSum)> = forces.parts().flat_map(Smooth::carried).collect();
    let Scratch {
        impacts,
        places,
        struck,
        ..
    } = forces;
    places.clear();
    places.resize(detection.contacts.len(), (u32::MAX, u32::MAX));
    for (k, (active, _)) in carried.iter().enumerate() {
        places[active.contact as usize].0 = k as u32;
    }
    if *struck {
        for (k, near) in impacts.near.iter().enumerate() {
            places[near.contact as usize].1 = k as u32;
        }
    }
    let asleep = |p: &PairKey| !model.is_awake(p.body_a) && !model.is_awake(p.body_b);
    state.contacts.retain(|c| asleep(&c.key.pair));
    let yielded = yielded(
        forces.yields,
        &forces.compliant,
        detection,
        state,
        report.dt,
    );
    let mut yielded = yielded.into_iter();
    for (c, &(active, near)) in detection.contacts.iter().zip(places.iter()) {
        let (a, b) = c.bodies();
        let at = c.at(&state.bodies[a], &state.bodies[b]);
        if c.surface.compliance.gives_way() {
            records.contacts.extend(yielded.next());
            continue;
        }
        let active = carried.get(active as usize);
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

/// Records of the contacts that give way, in the order of the detection.
fn yielded(
    any: bool,
    smooth: &Smooth,
    detection: &Detection,
    state: &State,
    dt: f64,
) -> Vec<ContactRecord> {
    let one = |(y, sum): (&Yielding, &YieldingSum)| {
        let c = &detection.contacts[y.contact as usize];
        let (a, b) = c.bodies();
        let at = c.at(&state.bodies[a], &state.bodies[b]);
        let point = (at.point_a + at.point_b) * 0.5;
        let u = state.bodies[b].point_velocity(point) - state.bodies[a].point_velocity(point);
        ContactRecord {
            key: c.key,
            time: state.time,
            point,
            normal: at.normal,
            gap: at.gap,
            impulse: sum.impulse,
            velocity_before: u,
            velocity_after: u,
            duration: dt,
            sliding: true,
            impacts: [(0.0, y.hit), (0.0, 0.0)],
            impact_point: point,
            ..ContactRecord::default()
        }
    };
    if !any {
        return Vec::new();
    }
    smooth
        .yielding
        .iter()
        .zip(&smooth.yielding_sums)
        .map(one)
        .collect()
}

/// Memory, records and residuals of the joints.
fn joints(model: &Model, state: &mut State, work: &mut Work, report: &mut StepReport) {
    for smooth in work.forces.parts() {
        joints_of(model, smooth, state, &mut work.records, report);
    }
}

fn joints_of(
    model: &Model,
    smooth: &Smooth,
    state: &mut State,
    records: &mut Records,
    report: &mut StepReport,
) {
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
        let mut bounded = [0.0; BOUNDED];
        for d in smooth.drives.iter().filter(|d| d.owner as usize == k) {
            bounded[d.which as usize] = d.force * report.dt;
        }
        *memory = JointMemory {
            first: forces.map(|f| f * report.dt),
            bounded_first: bounded,
            angle,
            force: sum.impulse.length() / report.dt,
            ..JointMemory::default()
        };
        let kind = joint.desc.kind;
        let slides = kind.slides() || matches!(kind, JointKind::Distance { .. });
        records.joints.push(JointRecord {
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
