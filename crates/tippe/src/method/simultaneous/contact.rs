//! The closing solves: one system of every island at t that makes gaps and joints right at the end of the step, one at its end for velocities.
//!
//! Reads: Model, State, step contacts, predicted states.  Writes: rows, joint blocks, solver bodies, length of the step, residuals and ledger.
//! Called by: `method::simultaneous::step`.
//! Source: docs/methods/simultaneous.md, "Closure": all touching points and all connections at position level, with friction, without restitution.

use super::{SimultaneousParams, collision, look};
use crate::model::Model;
use crate::report::{EnergyLedger, Phase, StepReport};
use crate::solver::choose::{ITERATIVE_MET, RELINEARISE_STALLED, Settings, TREE_TOLERANCE};
use crate::solver::joint::JointBlock;
use crate::solver::sweep::Job;
use crate::state::State;
use crate::two_stage::book::Books;
use crate::two_stage::gather::StepContact;
use crate::two_stage::joints::LIKE;
use crate::two_stage::parallel::{self, IslandView, Worker};
use crate::two_stage::predict::{Kick, kick, predict};
use crate::two_stage::relinearise::{Lookahead, Missed, relinearise};
use crate::two_stage::{arrival, guard, targets};
use crate::work::Work;

/// Part of the tolerated distances that the solve may leave, so that what it finds is not looked at again for rounding [1].
const AIM: f64 = 0.1;
/// Times that a step is shortened to the same impact, since what rests moves a little otherwise in a shorter step.
const CUTS_MAX: u32 = 8;

/// Solves the step up to the first impact of a contact that does not touch yet: with the whole rest first, then again to the time of impact
/// found. `report.dt` becomes the length. Returns what the half kicks at t did.
pub(crate) fn until_impact(
    model: &Model,
    params: &SimultaneousParams,
    stops: u32,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> EnergyLedger {
    let (t, limits) = (state.time, params.stop_limits());
    work.stage.unkicked.clone_from(&state.bodies);
    work.balance.keep();
    let mut cut = 0;
    loop {
        let h = report.dt;
        let open = report.work.caps_open();
        // Half a kick at t: torques, drag and springs.
        let mut kicked = EnergyLedger::default();
        work.balance.take_back();
        kick(model, state, h, Kick::First, &mut work.balance, &mut kicked);
        predict(model, state, t, h, work);
        let settings =
            params.settings(AIM * params.drift_tolerance.min(params.depth_tolerance) / h);
        let resting = params.rest_limits(model.gravity.length(), h);
        targets::first_rows(model, &settings, &resting, state, work, h);
        let may_stop = stops > 0 && cut < CUTS_MAX;
        let may_await = may_stop && arrival::is_affordable(&limits, stops, work);
        // Only islands that await something tell when the step ends; the others are solved once that is known.
        let mut end = None;
        if arrival::watch(model, &limits, may_await, work, report) {
            solve(model, params, &settings.solve, true, state, work, report);
            end = arrival::first(model, &limits, state, work, h);
        }
        // A body that bounced has left the region this detection covered.
        let fast = Some(work.detection.stop).filter(|&stop| stop < h);
        let first = end.into_iter().chain(fast).reduce(f64::min);
        if let Some(time) = first.filter(|_| may_stop) {
            report.dt = time;
            cut += 1;
            report.work.mend_to(open);
            state.bodies.clone_from(&work.stage.unkicked);
            look(model, state, time, work);
            collision::recall(work);
            work.begins(Phase::Rest);
            continue;
        }
        solve(model, params, &settings.solve, false, state, work, report);
        report.work.caps_hit += work.detection.unresolved + u32::from(fast.is_some());
        guard::restrain(model, state, &mut work.stage, report);
        let Work { stage, balance, .. } = work;
        Books {
            model,
            report,
            balance,
        }
        .solve(stage, |t| !t.awaited);
        return kicked;
    }
}

/// Impulses at t of the islands that await an impact, or of the others.
fn solve(
    model: &Model,
    params: &SimultaneousParams,
    settings: &Settings,
    awaits: bool,
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let ahead = Lookahead {
        model,
        state,
        contacts: &work.detection.contacts,
        h: report.dt,
    };
    parallel::run(
        work.threads.pool(),
        &mut work.stage,
        &mut work.predicted,
        &mut report.work,
        |worker, view| {
            if view.step_contacts.iter().any(|t| t.awaited) == awaits {
                close(params, settings, &ahead, worker, view);
            }
        },
    );
}

/// The closing solve of one island: as if nothing bounced, then with the bounce of what presses, then aimed again until predicted depth, drift and
/// joints are within tolerance.
fn close(
    params: &SimultaneousParams,
    settings: &Settings,
    ahead: &Lookahead<'_>,
    worker: &mut Worker,
    view: &mut IslandView<'_>,
) {
    let trees = view.rows.iter().any(|r| r.linked) || view.joint_blocks.iter().any(|l| l.linked);
    view.island.trees = trees;
    // Where joints are too meshed for one system they keep their residuals: what sweeps cannot finish must not become velocity.
    let allowed = params.allowance();
    let fits = view.joint_blocks.is_empty()
        || worker
            .sweeps
            .can_be_direct(view.rows, view.joint_blocks, &worker.bodies, &allowed);
    view.island.direct = trees || fits;
    if !view.island.direct {
        for block in view.joint_blocks.iter_mut() {
            block.keep_residuals(1.0, ahead.h);
        }
    }
    if view.joint_blocks.is_empty() && view.step_contacts.iter().all(|t| t.awaited) {
        return;
    }
    let caps = worker.work.caps_open();
    // The aims of a tree at rest agree where its remembered impulses lead, not where it would fall.
    let like = params.warm_start && ahead.state.stretch(ahead.h) <= LIKE;
    if trees && like && view.step_contacts.iter().all(StepContact::is_old) {
        relinearise(ahead, worker, view, true);
    }
    one_system(params, settings, worker, view, |t| !t.awaited);
    if bounce(view, ahead.h) {
        worker.work.mend_to(caps);
        one_system(params, settings, worker, view, |t| !t.awaited);
    }
    if view.island.direct {
        meet(params, settings, ahead, caps, worker, view);
    }
}

/// Aims again from where the island goes, until it goes where it should; says so if joints could not be made to.
fn meet(
    params: &SimultaneousParams,
    settings: &Settings,
    ahead: &Lookahead<'_>,
    caps: u32,
    worker: &mut Worker,
    view: &mut IslandView<'_>,
) {
    let trees = view.island.trees;
    let held = view
        .joint_blocks
        .iter()
        .any(|l: &JointBlock| l.held.count > 0);
    // Joints of trees hold by construction: limits and contacts alone need no more than this.
    let least = if trees && !held && !view.rows.is_empty() {
        TREE_TOLERANCE
    } else {
        0.0
    };
    let limits = worker.work.caps_open();
    let (mut missed, mut before) = (Missed::default(), f64::INFINITY);
    for _ in 0..params.predictions {
        let aims: Vec<_> = view.rows.iter().map(|r| (r.target_n, r.target_t)).collect();
        missed = relinearise(ahead, worker, view, true);
        let met = missed.depth <= params.depth_tolerance.max(least)
            && missed.drift <= params.drift_tolerance.max(least)
            && missed.joints <= params.joint_tolerance.max(least);
        // A solve that ended at its limit gains nothing from better aims, unless it is that of a wedged tree.
        if met || (worker.work.caps_open() > limits && !trees) {
            // What was solved stays the aim: residuals tell how well, depth how true it was.
            for (row, aim) in view.rows.iter_mut().zip(aims) {
                (row.target_n, row.target_t) = aim;
            }
            break;
        }
        let worst = missed.depth.max(missed.drift).max(missed.joints);
        if trees && worst > RELINEARISE_STALLED * before {
            break;
        }
        before = worst;
        if trees {
            worker.work.mend_to(caps);
        }
        one_system(params, settings, worker, view, |t| !t.awaited);
    }
    // Only joints that hold something ask for a division of the step.
    if held {
        worker.met &= missed.joints <= ITERATIVE_MET * params.joint_tolerance;
    }
}

/// Contacts that arrive inside the step and press are given their bounce. Says whether one leaves again.
fn bounce(view: &mut IslandView<'_>, h: f64) -> bool {
    let mut arrivals = false;
    for (row, step_contact) in view.rows.iter_mut().zip(view.step_contacts.iter_mut()) {
        if let (true, false, Some(b)) = (row.p_n > 0.0, step_contact.awaited, step_contact.bounce) {
            arrivals |= b.gap_end > 0.0;
            step_contact.aim_at_bounce(row, h);
        }
    }
    arrivals
}

/// All rows of an island that are `active`, and its joints, as one system of the solver's core.
fn one_system(
    params: &SimultaneousParams,
    settings: &Settings,
    worker: &mut Worker,
    view: &mut IslandView<'_>,
    active: impl Fn(&StepContact) -> bool,
) {
    let step_contacts = &*view.step_contacts;
    let mut job = Job {
        settings,
        core: params.allowance(),
        spent: 0,
        failed: false,
        near: true,
        rows: view.rows,
        joint_blocks: view.joint_blocks,
        bodies: &mut worker.bodies,
        work: &mut worker.work,
    };
    job.converge(&mut worker.sweeps, |i| active(&step_contacts[i]));
}

/// Impulses at t + h over the projected contacts and all joints: no velocity into contacts that bore load, none along joints.
pub(crate) fn project(
    model: &Model,
    params: &SimultaneousParams,
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let settings = params.settings(params.velocity_tolerance).solve;
    parallel::run(
        work.threads.pool(),
        &mut work.stage,
        &mut work.predicted,
        &mut report.work,
        |worker, view| one_system(params, &settings, worker, view, |t| t.projected),
    );
    guard::restrain(model, state, &mut work.stage, report);
    let Work { stage, balance, .. } = &mut *work;
    Books {
        model,
        report,
        balance,
    }
    .solve(stage, |t| t.projected);
    for block in &work.stage.joint_blocks {
        let left = block.velocity_residual(&work.stage.bodies);
        report.residuals.joint_velocity = report.residuals.joint_velocity.max(left);
    }
}
