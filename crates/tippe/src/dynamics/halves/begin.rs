//! How a part of a step begins: half a kick, a look ahead, detection; and where the part ends if a fast body has bounced by then.
//!
//! Reads: Model, State.  Writes: State (velocities), Work (predicted states, contacts), StepReport.
//! Called by: the methods that step in two halves.
//! Source: docs/methods.md, "Fast bodies".

use super::{kick, predict};
use crate::collide::{Course, FEATURE_MOTION, detect_on_course};
use crate::model::Model;
use crate::report::{EnergyLedger, StepReport};
use crate::state::State;
use crate::work::Work;

/// Gives the first half of the kicks and finds the contacts of a part that is `h` long at most; returns its length [s].
///
/// If the part `may_stop`, it ends just after the first bounce of a body that goes on fast: the contacts on its new way are found
/// when the rest of the step begins.
pub(crate) fn run(
    model: &Model,
    mut h: f64,
    may_stop: bool,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> f64 {
    work.halves.unkicked.clone_from(&state.bodies);
    look_ahead(model, h, state, work, &mut report.energy);
    // What rests is looked at again once something comes near; each time round holds less.
    while (work.detection.stop < h && work.hold.release_all())
        || work.hold.release_near(&work.detection.contacts)
    {
        state.bodies.clone_from(&work.halves.unkicked);
        report.energy = EnergyLedger::default();
        look_ahead(model, h, state, work, &mut report.energy);
    }
    report.work.caps_hit += work.detection.unresolved;
    if work.detection.stop < h {
        if may_stop {
            h = work.detection.stop;
            state.bodies.clone_from(&work.halves.unkicked);
            report.energy = EnergyLedger::default();
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
    kick(model, state, 0.5 * h, ledger);
    predict(model, state, state.time, h, work);
    let course = Course {
        time: state.time,
        h,
        loads: &state.loads,
        held: work.hold.held(),
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
