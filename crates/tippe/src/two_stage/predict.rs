//! How a part of a step begins: half a kick, a look ahead, detection; and where the part ends if a fast body has bounced by then.
//!
//! Reads: Model, State.  Writes: State (velocities), Work (predicted states, contacts), StepReport.
//! Called by: the methods that step in two stages.
//! Source: docs/methods/two-stage.md, "Fast bodies".

use super::springs;
use crate::collide::{Course, FEATURE_MOTION, detect_on_course};
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
    kick(model, state, 0.5 * h, &mut work.balance, ledger);
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

/// Torques of the user and drag, for half a step, on every dynamic body.
pub(crate) fn kick(
    model: &Model,
    state: &mut State,
    half: f64,
    balance: &mut Balance,
    ledger: &mut EnergyLedger,
) {
    for (i, body) in model.present() {
        let torque = state.loads[i].torque;
        let s = &mut state.bodies[i];
        let idle = torque == crate::Vec3::ZERO && body.drag.is_none();
        if idle || !body.is_free() {
            continue;
        }
        let start = energy::kinetic(body, s);
        s.angular_velocity += integrate::torque_kick(body, s, torque, half);
        let driven = energy::kinetic(body, s);
        (s.velocity, s.angular_velocity) = drag::kick(body, s, half);
        let slowed = energy::kinetic(body, s);
        ledger.external += driven - start;
        balance.put_in(i as u32, driven - start);
        ledger.drag += driven - slowed;
        balance.lose(model, [i as u32; 2], driven - slowed);
    }
    springs::kick(model, state, 2.0 * half);
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
