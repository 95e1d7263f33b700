//! The end of a step: velocities back into the state, memory for the next step, events, forces, the account.
//!
//! Reads: solved rows, touches, contacts.  Writes: State (velocities, memory), Work (events, forces), StepReport.
//! Called by: the methods that step in two halves.
//! Source: docs/methods.md, "The certificate".

use crate::collide::Contact;
use crate::dynamics::energy;
use crate::joint::JointKind;
use crate::math::Vec3;
use crate::model::Model;
use crate::report::{ContactForce, Event, EventKind, JointForce, StepReport};
use crate::solver::contact::ContactRow;
use crate::state::{PairKey, State};
use crate::two_stage::gather::StepContact;
use crate::two_stage::rest::Resting;
use crate::two_stage::{Part, Scratch};
use crate::work::Work;

/// Gap under which two shapes count as touching [m].
const TOUCHING: f64 = 1e-9;
/// Growth of a joint's force that is believed in a step with impacts [1].
const FORCE_GROWTH: f64 = 1.5;
/// Approach speed under which an arrival is no event and no collision [m/s].
const IMPACT_SPEED: f64 = 1e-6;

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
    let time_before = state.time - report.dt;
    remember(model, state, work, report, time_before);
    let touching = &mut work.stage.touching;
    let idle = |p: &PairKey| is_idle(model, &work.hold, p);
    keep_idle(idle, touching, &mut work.detection.sensed, state);
    let events = &mut work.events;
    changes(
        model,
        &state.touching,
        touching,
        [EventKind::Begin, EventKind::End],
        state.time,
        events,
    );
    changes(
        model,
        &state.sensed,
        &work.detection.sensed,
        [EventKind::SensorBegin, EventKind::SensorEnd],
        state.time,
        events,
    );
    std::mem::swap(&mut state.touching, touching);
    state.sensed.clone_from(&work.detection.sensed);
    react(model, state, work, report);
    account(model, before, state, report);
    report.time = state.time;
    report.candidates = work.detection.contacts.len();
    report.material_fallbacks = work.detection.material_fallbacks;
}

/// Walks the contacts in key order: forces for users, memory for the next step, impacts, touching pairs.
fn remember(model: &Model, state: &mut State, work: &mut Work, report: &mut StepReport, t: f64) {
    let Scratch {
        bodies,
        step_contacts,
        rows,
        places,
        touching,
        ..
    } = &mut work.stage;
    places.clear();
    places.resize(step_contacts.len(), 0);
    for (place, step_contact) in step_contacts.iter().enumerate() {
        places[step_contact.contact as usize] = place as u32;
    }
    let hold = &work.hold;
    state.contacts.retain(|c| is_idle(model, hold, &c.key.pair));
    work.contact_forces.clear();
    work.events.clear();
    touching.clear();
    for (c, &place) in work.detection.contacts.iter().zip(places.iter()) {
        let (step_contact, row) = (&mut step_contacts[place as usize], &rows[place as usize]);
        report.penetration_found = report.penetration_found.max(-c.point.gap);
        report.penetration = report.penetration.max(-step_contact.gap_end);
        let pressed =
            step_contact.first != Vec3::ZERO || row.p_n > 0.0 || step_contact.impact != Vec3::ZERO;
        step_contact.memory.key = c.key;
        step_contact.memory.second = row.memory();
        if row.p_n > 0.0 {
            step_contact.memory.sliding = row.slides(bodies);
        }
        if pressed || step_contact.gap_end <= TOUCHING {
            state.contacts.push(step_contact.memory);
            if touching.last() != Some(&c.key.pair) {
                touching.push(c.key.pair);
            }
        }
        if pressed {
            report.contacts += 1;
            work.contact_forces
                .push(force(model, c, step_contact, row, report.dt));
        }
        let bounced = step_contact.bounce.filter(|_| step_contact.struck);
        let impacts = [
            (0.0, step_contact.impact_speed),
            bounced.map_or((0.0, 0.0), |b| (b.time, b.speed)),
        ];
        for (time, speed) in impacts {
            if speed <= IMPACT_SPEED {
                continue;
            }
            report.collisions += 1;
            work.events.push(Event {
                kind: EventKind::Impact,
                time: t + time,
                speed,
                point: c.point.point_b,
                ..event(model, &c.key.pair)
            });
        }
    }
}

/// Whether nothing happens between two shapes, since neither body moves in this step.
fn is_idle(model: &Model, hold: &Resting, pair: &PairKey) -> bool {
    let moves = |slot: u32| model.is_awake(slot) && !hold.holds(slot);
    !moves(pair.body_a) && !moves(pair.body_b)
}

/// What sleeps or is held is not looked at: what it touches and is sensed by stays as it was.
fn keep_idle(
    idle: impl Fn(&PairKey) -> bool,
    touching: &mut Vec<PairKey>,
    sensed: &mut Vec<PairKey>,
    state: &mut State,
) {
    let found = (touching.len(), sensed.len());
    touching.extend(state.touching.iter().filter(|p| idle(p)));
    sensed.extend(state.sensed.iter().filter(|p| idle(p)));
    if touching.len() > found.0 {
        touching.sort_unstable();
        state.contacts.sort_unstable_by_key(|c| c.key);
    }
    if sensed.len() > found.1 {
        sensed.sort_unstable();
    }
}

fn force(
    model: &Model,
    c: &Contact,
    step_contact: &StepContact,
    row: &ContactRow,
    dt: f64,
) -> ContactForce {
    let (a, b) = c.bodies();
    // All impulses of the step together, split by the normal at its end.
    let impulse = step_contact.impact + step_contact.first + row.impulse();
    let normal_impulse = impulse.dot(row.n);
    ContactForce {
        body_a: model.id(a),
        body_b: model.id(b),
        shape_a: c.key.pair.shape_a,
        shape_b: c.key.pair.shape_b,
        feature_id: c.key.feature,
        point: step_contact.point_end,
        normal: row.n,
        gap: step_contact.gap_end,
        normal_impulse,
        tangential_impulse: impulse - row.n * normal_impulse,
        sliding: step_contact.memory.sliding,
        dt,
    }
}

fn event(model: &Model, pair: &PairKey) -> Event {
    Event {
        kind: EventKind::Begin,
        time: 0.0,
        body_a: model.id(pair.body_a as usize),
        body_b: model.id(pair.body_b as usize),
        shape_a: pair.shape_a,
        shape_b: pair.shape_b,
        point: Vec3::ZERO,
        speed: 0.0,
    }
}

/// Pairs that are in one sorted list and not in the other.
fn changes(
    model: &Model,
    old: &[PairKey],
    new: &[PairKey],
    kinds: [EventKind; 2],
    time: f64,
    out: &mut Vec<Event>,
) {
    let [begin, end] = kinds;
    let mut missing = |from: &[PairKey], other: &[PairKey], kind| {
        let mut at = 0;
        for pair in from {
            while other.get(at).is_some_and(|o| o < pair) {
                at += 1;
            }
            if other.get(at) == Some(pair) {
                continue;
            }
            out.push(Event {
                kind,
                time,
                ..event(model, pair)
            });
        }
    };
    missing(new, old, begin);
    missing(old, new, end);
}

/// Memory, reactions and residuals of the joints.
fn react(model: &Model, state: &mut State, work: &mut Work, report: &mut StepReport) {
    work.joint_forces.clear();
    // The force of an impact acts for a moment: it tells little of how stiff the mechanism is.
    let struck = work.stage.step_contacts.iter().any(|t| t.hit && t.struck);
    let Scratch {
        links,
        by_joint,
        stretch,
        parts,
        ..
    } = &mut work.stage;
    *stretch = 0.0;
    by_joint.clear();
    by_joint.extend(0..links.len() as u32);
    by_joint.sort_unstable_by_key(|&i| links[i as usize].joint);
    for &i in by_joint.iter() {
        let link = &links[i as usize];
        let Some(joint) = &model.joints[link.joint as usize] else {
            continue;
        };
        let place = joint.place(&state.bodies);
        let worst = link.position_residual(joint, &place);
        report.residuals.joint_position = report.residuals.joint_position.max(worst);
        let [angle, displacement] = link.values();
        let memory = &mut state.joints[link.joint as usize];
        let known = memory.force;
        *memory = link.memory();
        memory.angle = angle;
        let (force, torque) = link.reaction(place.b.position - place.center_b, report.dt);
        memory.force = force.length();
        if struck && known > 0.0 {
            memory.force = memory.force.min(FORCE_GROWTH * known);
        }
        work.joint_forces.push(JointForce {
            joint: model.joint_id(link.joint as usize),
            force,
            torque,
            angle: if joint.desc.kind.turns() { angle } else { 0.0 },
            displacement: if joint.desc.kind.slides()
                || matches!(joint.desc.kind, JointKind::Distance { .. })
            {
                displacement
            } else {
                0.0
            },
        });
    }
    let mut netted = false;
    for net in parts.iter().filter_map(Part::as_net) {
        netted = true;
        *stretch = stretch.max(net.left.position);
        report.residuals = report.residuals.max(net.residuals());
        net.react(model, state, report.dt, &mut work.joint_forces);
    }
    if netted {
        work.joint_forces.sort_unstable_by_key(|f| f.joint);
    }
}

/// Closes the account again after what rests was given back its state.
pub(crate) fn account_again(model: &Model, state: &State, report: &mut StepReport) {
    (report.momentum, report.angular_momentum) = energy::momenta(model, state);
    let e = &mut report.energy;
    let (kinetic, potential) = energy::total(model, state);
    let (gained, fell) = (kinetic - e.kinetic, e.potential - potential);
    e.gravity += fell;
    e.unexplained += gained - fell;
    (e.kinetic, e.potential) = (kinetic, potential);
}

/// Closes the energy account of the step.
fn account(
    model: &Model,
    (kinetic, potential): (f64, f64),
    state: &State,
    report: &mut StepReport,
) {
    (report.momentum, report.angular_momentum) = energy::momenta(model, state);
    let e = &mut report.energy;
    (e.kinetic, e.potential) = energy::total(model, state);
    e.gravity = potential - e.potential;
    let explained = e.gravity + e.external + e.motors + e.prescribed
        - e.friction
        - e.restitution
        - e.drag
        - e.joint_friction
        + e.position_correction;
    e.unexplained = e.kinetic - kinetic - explained;
}
