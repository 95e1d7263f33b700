//! How a part of a step begins: half a kick, a look ahead, detection; and where the part ends if a fast body has bounced by then.
//!
//! Reads: Model, State.  Writes: State (velocities), Work (predicted states, contacts), StepReport.
//! Called by: the methods that step in two stages.
//! Source: docs/methods/two-stage.md, "Fast bodies".

use super::{Scratch, springs};
use crate::collide::{Course, FEATURE_MOTION, detect_on_course};
use crate::dynamics::drag::Accelerations;
use crate::dynamics::{drag, energy, integrate};
use crate::model::Model;
use crate::output::balance::Balance;
use crate::report::{EnergyLedger, StepReport};
use crate::state::State;
use crate::work::Work;

/// Gives the first half of the kicks and finds the contacts of a part that is `h` long at most; returns its length [s].
///
/// If the part `may_stop`, it ends just after the first bounce of a body that goes on fast: the contacts on its new way are found
/// when the rest of the step begins.
pub(crate) fn begin(
    model: &Model,
    mut h: f64,
    may_stop: bool,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> f64 {
    work.stage.unkicked.clone_from(&state.bodies);
    work.balance.keep();
    look_ahead(model, h, state, work, &mut report.energy);
    // What rests is looked at again once something comes near; each time round holds less.
    while (work.detection.stop < h && work.resting.release_all())
        || work.resting.release_near(&work.detection.contacts)
    {
        state.bodies.clone_from(&work.stage.unkicked);
        report.energy = EnergyLedger::default();
        work.balance.take_back();
        look_ahead(model, h, state, work, &mut report.energy);
    }
    report.work.caps_hit += work.detection.unresolved;
    if work.detection.stop < h {
        if may_stop {
            h = work.detection.stop;
            state.bodies.clone_from(&work.stage.unkicked);
            report.energy = EnergyLedger::default();
            work.balance.take_back();
            look_ahead(model, h, state, work, &mut report.energy);
        } else {
            // A fast body that may not stop may go through something.
            report.work.caps_hit += 1;
        }
    }
    report.dt = h;
    h
}

/// Half a kick at t: torques and drag. Then the contacts on the way from here to where the bodies would go untouched.
fn look_ahead(
    model: &Model,
    h: f64,
    state: &mut State,
    work: &mut Work,
    ledger: &mut EnergyLedger,
) {
    kick(model, state, h, Kick::First, &mut work.balance, ledger);
    predict(model, state, state.time, h, work);
    let course = Course {
        time: state.time,
        h,
        loads: &state.loads,
        held: work.resting.held(),
        feature_motion: FEATURE_MOTION,
    };
    detect_on_course(
        &course,
        model,
        &state.bodies,
        &work.predicted,
        &mut work.detection,
    );
}

/// Which of the two half kicks of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kick {
    First,
    Second,
}

/// Torques of the user and drag, for half a step of length `h`, on every dynamic body.
pub(crate) fn kick(
    model: &Model,
    state: &mut State,
    h: f64,
    which: Kick,
    balance: &mut Balance,
    ledger: &mut EnergyLedger,
) {
    for (i, body) in model.present() {
        let load = &state.loads[i];
        let idle = load.torque == crate::Vec3::ZERO && body.drag.is_none();
        if idle || !body.is_free() {
            continue;
        }
        let s = &mut state.bodies[i];
        let start = energy::kinetic(body, s);
        let turned = integrate::torque_kick(body, s, load.torque, 0.5 * h);
        let mut driven = *s;
        driven.angular_velocity += turned;
        let driven = energy::kinetic(body, &driven);
        if body.drag.is_some() {
            let a = Accelerations {
                linear: integrate::acceleration(model, body, load),
                angular: integrate::torque_kick(body, s, load.torque, 1.0),
            };
            (s.velocity, s.angular_velocity) = match which {
                Kick::First => drag::first_kick(body, s, &a, h),
                Kick::Second => drag::second_kick(body, s, &a, h),
            };
        } else {
            s.angular_velocity += turned;
        }
        let slowed = energy::kinetic(body, s);
        ledger.external += driven - start;
        balance.put_in(i as u32, driven - start);
        ledger.drag += driven - slowed;
        balance.drag(model, i as u32, driven - slowed);
    }
    springs::kick(model, state, h);
}

/// In a medium an impulse at t moves a body less over the step than it would in a void: the first stage answers with what is left.
pub(crate) fn respond_in_media(model: &Model, h: f64, stage: &mut Scratch) {
    for (i, body) in model.present().filter(|(_, b)| b.drag.is_some()) {
        if body.is_free() {
            let (linear, angular) = drag::relaxations(body, stage.unkicked[i].velocity, h);
            stage.bodies[i].inverse_mass *= linear.mean;
            stage.bodies[i].inverse_inertia *= angular.mean;
        }
    }
}

/// What drag took of the work of the impulses at t, while the body moved: they are booked with all they did at first.
fn book_response(
    model: &Model,
    i: usize,
    [before, after]: [&crate::BodyState; 2],
    h: f64,
    work: &mut Work,
    ledger: &mut EnergyLedger,
) {
    let Some(body) = model.bodies[i].as_ref().filter(|b| b.drag.is_some()) else {
        return;
    };
    let (linear, angular) = drag::relaxations(body, work.stage.unkicked[i].velocity, h);
    let spun = |s: &crate::BodyState| {
        let turning = crate::BodyState {
            velocity: crate::Vec3::ZERO,
            ..*s
        };
        energy::kinetic(body, &turning)
    };
    let turned = spun(after) - spun(before);
    let moved = energy::kinetic(body, after) - energy::kinetic(body, before) - turned;
    let taken = moved * (1.0 / linear.mean - 1.0) + turned * (1.0 / angular.mean - 1.0);
    ledger.drag += taken;
    work.balance.drag(model, i as u32, taken);
}

/// Fills `predicted`: every body at t + h if nothing touched it.
pub(crate) fn predict(model: &Model, state: &State, t: f64, h: f64, work: &mut Work) {
    work.predicted.clone_from(&state.bodies);
    for (i, body) in model.present() {
        let a = integrate::acceleration(model, body, &state.loads[i]);
        work.predicted[i] = integrate::advance(body, &state.bodies[i], a, t, h);
    }
    work.stage
        .bodies
        .predict(model, state, h, &mut work.predicted);
}

/// Moves every body for `h` from the velocities that the first solve left; books the work of the user's forces.
pub(crate) fn advance(
    model: &Model,
    state: &mut State,
    h: f64,
    work: &mut Work,
    ledger: &mut EnergyLedger,
) {
    for (i, body) in model.present() {
        let a = integrate::acceleration(model, body, &state.loads[i]);
        let start = state.bodies[i];
        if body.is_free() && work.resting.holds(i as u32) {
            // It stays where it is.
        } else if body.is_free() {
            let solved = &work.stage.bodies[i];
            let flown = work.flights.from(i, solved.v, solved.w);
            let kicked = crate::BodyState {
                velocity: solved.v,
                angular_velocity: solved.w,
                ..flown.map_or(start, |f| f.0)
            };
            let end = flown.and_then(|f| f.1);
            let from = flown.map_or(start, |f| f.0);
            book_response(model, i, [&from, &kicked], h, work, ledger);
            state.bodies[i] = end.unwrap_or_else(|| integrate::fly(body, &kicked, a, h));
            let work_in = state.loads[i]
                .force
                .dot(state.bodies[i].position - start.position);
            ledger.external += work_in;
            work.balance.put_in(i as u32, work_in);
        } else if !body.is_awake() {
            state.bodies[i] = work.predicted[i];
        }
    }
    work.flights.clear();
    let Work { stage, balance, .. } = work;
    stage.bodies.advance(model, state, h, balance, ledger);
}
