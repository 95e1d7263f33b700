//! `simultaneous`: all contacts and connections answered together, by one symmetric system.
//!
//! Reads: Model, State.  Writes: State, Work, StepReport.
//! Called by: `step`.
//! Source: [Ermolin], on the two stages of docs/methods/contract.md, "Time and velocity"; docs/methods/simultaneous.md says where we differ.

mod collision;
mod components;
mod cones;
mod contact;
mod impact;
mod literal;
mod params;
mod passes;
mod sets;
mod system;

pub(crate) use collision::Collisions;
pub use params::SimultaneousParams;
pub use passes::{Clusters, Limits, Point, Resolution};
pub use system::Solved;

use crate::collide::{Course, detect_on_course};
use crate::dynamics::energy;
use crate::error::StepError;
use crate::model::Model;
use crate::report::{Phase, StepReport};
use crate::state::State;
use crate::step::{check_finite, check_trees};
use crate::two_stage::predict::{Kick, advance, kick, predict};
use crate::two_stage::substeps::Verdict;
use crate::two_stage::{depenetrate, finish, gather, substeps, targets};
use crate::work::Work;

/// Most parts that joints may divide a step into.
const SUBSTEPS_MAX: u32 = 32;

/// Advances the state by `h`: in substeps where the joints need it, each from one time of impact to the next.
pub(crate) fn step(
    model: &Model,
    params: &SimultaneousParams,
    h: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    work.stage.net_cost = None;
    work.stage.unguarded = params.literal;
    work.stage.strict = false;
    if params.literal {
        return substeps::divide(model, h, 1, state, work, |_, state, work, report| {
            report.append(&literal::step(model, params, h, state, work)?);
            Ok(Verdict::Met)
        });
    }
    substeps::divide(
        model,
        h,
        SUBSTEPS_MAX,
        state,
        work,
        |part, state, work, report| {
            let end = work.backup.time + h * f64::from(part.index + 1) / f64::from(part.count);
            let mut stops = params.impact_substeps;
            loop {
                report.append(&substep(model, params, end, stops, state, work)?);
                if state.time >= end {
                    break;
                }
                stops -= 1;
            }
            let met = substeps::met(model, state, work, h, part.count);
            Ok(if met { Verdict::Met } else { Verdict::Missed })
        },
    )
}

/// Finds what touches or may touch on the way of the next `h` seconds, with the velocities of now.
fn look(model: &Model, state: &State, h: f64, work: &mut Work) {
    work.begins(Phase::Detect);
    predict(model, state, state.time, h, work);
    let course = Course {
        time: state.time,
        h,
        loads: &state.loads,
        held: &[],
        feature_motion: SimultaneousParams::feature_motion(),
    };
    let (now, then) = (&state.bodies, &work.predicted);
    detect_on_course(&course, model, now, then, &mut work.detection);
    gather::gather(model, state, work, h);
}

/// Advances the state to the next time of impact, or to `end` if nothing hits before or no more `stops` are left.
fn substep(
    model: &Model,
    params: &SimultaneousParams,
    end: f64,
    stops: u32,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let t = state.time;
    let mut report = StepReport {
        dt: end - t,
        ..StepReport::default()
    };
    report.work.substeps = 1;
    work.stage.met = true;
    let before = energy::total(model, state);
    work.balance.begin(model, state);

    // Detect, on the way from here to where the bodies would go untouched.
    look(model, state, report.dt, work);

    // Resolve: all points that approach, together, in passes until none does. What was hit goes elsewhere: look there too.
    work.begins(Phase::Collide);
    if collision::run(model, params, state, work, &mut report) {
        look(model, state, report.dt, work);
        collision::recall(work);
    }

    // Close: one system of all touching points and joints makes positions right at the end, which is the next time of impact.
    work.begins(Phase::Rest);
    let kicked = contact::until_impact(model, params, stops, state, work, &mut report);
    report.energy.add(&kicked);
    let h = report.dt;

    // Move along the free motion that starts with the new velocities.
    work.begins(Phase::Move);
    advance(model, state, h, work, &mut report.energy);
    check_trees(model, &work.stage.bodies)?;
    check_finite(model, state, "move")?;
    let settings = params.settings(params.velocity_tolerance);
    depenetrate::run(model, &settings, state, work, &mut report);

    // Half a kick at t + h, then close again: velocities right at t + h.
    kick(
        model,
        state,
        h,
        Kick::Second,
        &mut work.balance,
        &mut report.energy,
    );
    work.begins(Phase::Project);
    targets::second_rows(model, &settings, state, work, h);
    contact::project(model, params, state, work, &mut report);

    state.time = if report.dt == end - t { end } else { t + h };
    state.set_substep(model, h);
    work.begins(Phase::Finish);
    finish::run(model, before, state, work, &mut report);
    check_trees(model, &work.stage.bodies)?;
    Ok(report)
}
