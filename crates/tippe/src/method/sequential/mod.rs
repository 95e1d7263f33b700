//! `sequential`: accumulated impulses with warm start, on predicted motion, then a velocity projection.
//!
//! Reads: Model, State.  Writes: State, Work, StepReport.
//! Called by: `step`.
//! Source: [Lecture] "Sequential Impulses", [Catto05]; the two stages of docs/methods/contract.md, "Time and velocity".

mod params;
pub(crate) mod solve;

pub use params::SequentialParams;

use crate::dynamics::energy;
use crate::error::StepError;
use crate::model::Model;
use crate::output::ledger;
use crate::report::{Phase, StepReport};
use crate::solver::choose::NET_COST;
use crate::state::State;
use crate::step::{check_finite, check_trees};
use crate::two_stage::joint_network::OPEN_MAX;
use crate::two_stage::predict::{Kick, advance, kick};
use crate::two_stage::rest::Resting;
use crate::two_stage::substeps::{Part, Verdict};
use crate::two_stage::{Island, depenetrate, finish, flights, gather, predict, substeps, targets};
use crate::work::Work;

/// Most parts that a step is divided into where a net opens too far.
const STRETCH_SUBSTEPS: u32 = 8;
/// Most parts of a step that end where a fast body has bounced.
const BOUNCES_MAX: u32 = 64;

/// Advances the state by `h`, in substeps where the joints need it; islands at rest stay as they are.
pub(crate) fn step(
    model: &Model,
    params: &SequentialParams,
    h: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    work.stage.net_cost = Some(NET_COST);
    work.stage.unguarded = false;
    work.stage.strict = false;
    work.resting.begin(model, state, h);
    let mut bounces = 0;
    let mut report = substeps::divide(
        model,
        h,
        params.substeps_max,
        state,
        work,
        |part, state, work, report| {
            if part.count > 1 || params.shuffle_seed.is_some() {
                work.resting.release_all();
            }
            if part.index == 0 {
                bounces = 0;
            }
            advance_part(model, params, h, part, &mut bounces, state, work, report)
        },
    )?;
    Resting::report(work, &mut report);
    if report.work.substeps == 1 && params.shuffle_seed.is_none() {
        let (velocity, rest) = (params.velocity_tolerance, params.rest_tolerance);
        Resting::keep(model, velocity, rest, state, work);
        ledger::close_again(model, state, &mut report);
    }
    Ok(report)
}

/// One part of a step of length `h`. A substep ends early where a body has bounced and goes on fast; the rest of the part follows.
fn advance_part(
    model: &Model,
    params: &SequentialParams,
    h: f64,
    part: Part,
    bounces: &mut u32,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> Result<Verdict, StepError> {
    let may_divide = part.count < STRETCH_SUBSTEPS.min(params.substeps_max);
    let may_open = if may_divide { OPEN_MAX } else { f64::INFINITY };
    let mut left = h / f64::from(part.count);
    let mut verdict = Verdict::Met;
    while left > 0.0 {
        let may_stop = *bounces < BOUNCES_MAX;
        let done = substep(model, params, left, may_stop, may_open, state, work)?;
        if work.stage.stretch > OPEN_MAX {
            if may_divide {
                report.work.add(&done.work);
                return Ok(Verdict::Stretched);
            }
            verdict = Verdict::StretchedMost;
        }
        left = if done.dt < left { left - done.dt } else { 0.0 };
        *bounces += u32::from(left > 0.0);
        report.append(&done);
        if !substeps::met(model, state, work, h, part.count) {
            verdict = Verdict::Missed;
            if part.count < part.count_max {
                break;
            }
        }
    }
    Ok(verdict)
}

/// Advances the state in one go, by `h` or, if it `may_stop`, by less where a fast body has bounced; the report says by how much. It is given up after
/// the first half if a net is seen to open by more than `may_open`; the stretch among the scratch says so, and the state is of no use.
fn substep(
    model: &Model,
    params: &SequentialParams,
    h: f64,
    may_stop: bool,
    may_open: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let mut report = StepReport::default();
    report.work.substeps = 1;
    work.stage.met = true;
    let settings = &params.settings();
    let before = energy::total(model, state);
    work.balance.begin(model, state);
    let t = state.time;

    work.begins(Phase::Detect);
    // Half a kick at t, then detect, on the way from here to where the bodies would go untouched.
    let h = predict::begin(model, h, may_stop, state, work, &mut report);

    // Collide and rest: impulses at t that make positions right at t + h.
    work.begins(Phase::Collide);
    gather::gather(model, state, work, h);
    flights::run(model, &params.impacts(), h, state, work, &mut report);
    let resting = targets::RestLimits {
        speed: 0.5 * model.gravity.length() * h + params.velocity_tolerance,
        load: 0.0,
        slow: 0.0,
        fall: model.gravity.length() * h,
    };
    targets::first_rows(model, settings, &resting, state, work, h);
    work.begins(Phase::Rest);
    solve::first(model, params, state, work, &mut report);
    let nets = work.stage.islands.iter().filter_map(Island::as_net);
    let foreseen = nets.map(|n| n.left.foreseen).fold(0.0, f64::max);
    if foreseen > may_open {
        work.stage.stretch = foreseen;
        work.flights.clear();
        return Ok(report);
    }

    work.begins(Phase::Move);
    // Move along the free motion that starts with the new velocities.
    advance(model, state, h, work, &mut report.energy);
    check_trees(model, &work.stage.bodies)?;
    check_finite(model, state, "move")?;
    depenetrate::run(model, settings, state, work, &mut report);

    work.begins(Phase::Project);
    // Half a kick at t + h, then project: velocities right at t + h.
    kick(
        model,
        state,
        h,
        Kick::Second,
        &mut work.balance,
        &mut report.energy,
    );
    targets::second_rows(model, settings, state, work, h);
    solve::second(model, params, state, work, &mut report);
    remember_efforts(model, state, work);

    work.begins(Phase::Finish);
    state.time = t + h;
    state.set_substep(model, h);
    finish::run(model, before, state, work, &mut report);
    check_trees(model, &work.stage.bodies)?;
    Ok(report)
}

/// Keeps what the solves learned about each island, but for bodies that sleep or rest: theirs stays as it is.
fn remember_efforts(model: &Model, state: &mut State, work: &Work) {
    let efforts = work.stage.islands.iter().map(|i| i.effort.memory);
    let asleep = |slot: u32| {
        let body = model.bodies.get(slot as usize).and_then(Option::as_ref);
        body.is_some_and(|b| b.asleep)
    };
    let alone = |slot: u32| asleep(slot) || work.resting.holds(slot);
    state.remember(efforts, alone);
}
