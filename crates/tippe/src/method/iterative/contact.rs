//! The contact phase: impulses at t that make gaps and joints right at the end of the step; then the projection of velocities there.
//!
//! Reads: Model, State, touches, predicted states.  Writes: rows, links, solver bodies, length of the step, residuals and ledger.
//! Called by: `method::iterative::step`.
//! Source: [Bender06] §3.2 (impulses from predicted depth, eq. 7–8), §4 (joints in the same loop).

use super::IterativeParams;
use super::look;
use super::shock;
use crate::model::Model;
use crate::report::{EnergyLedger, Phase, StepReport};
use crate::solver::choose::{
    Allowance, GROWTHS_MAX, ITERATIVE_MET, LARGE, LITTLE, MANY, NEAR_ACCELERATION,
    RELINEARISE_STALLED, SOLVE_OPERATIONS, Settings, TREE_TOLERANCE,
};
use crate::solver::contact::ContactRow;
use crate::solver::joint::JointBlock;
use crate::solver::sweep::Job;
use crate::state::State;
use crate::two_stage::book::Books;
use crate::two_stage::gather::StepContact;
use crate::two_stage::joints::LIKE;
use crate::two_stage::parallel::with_island;
use crate::two_stage::predict::{Kick, kick, predict};
use crate::two_stage::relinearise::{Lookahead, Missed, relinearise};
use crate::two_stage::{Scratch, arrival, guard, impacts, targets};
use crate::work::Work;

/// Times that a step is shortened to the same impact, since what rests moves a little otherwise in a shorter step.
const CUTS_MAX: u32 = 8;

/// Solves the step up to the first impact of a contact that is not yet touching: with the whole rest first, then again and again to the
/// time of impact found. `report.dt` becomes the length. Returns what the half kicks at t did.
pub(crate) fn until_impact(
    model: &Model,
    params: &IterativeParams,
    stops: u32,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> EnergyLedger {
    let t = state.time;
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
        let settings = params.settings(params.drift_tolerance.min(params.depth_tolerance) / h);
        let resting = impacts::resting(model.gravity.length(), &params.impacts(), h);
        targets::first_rows(model, &settings, &resting, state, work, h);
        let may_stop = stops > 0 && cut < CUTS_MAX;
        let may_await = may_stop && arrival::is_affordable(&params.stop_limits(), stops, work);
        let watched = arrival::watch(model, &params.stop_limits(), may_await, work, report);
        // Only islands that await something tell when the step ends; the others are solved once that is known.
        let mut end = None;
        if watched {
            solve(model, params, &settings.solve, true, state, work, report);
            end = arrival::first(model, &params.stop_limits(), state, work, h);
        }
        // What has bounced and goes on fast is on a way that nobody has looked at.
        let fast = Some(work.detection.stop).filter(|&stop| stop < h);
        let first = end.into_iter().chain(fast).reduce(f64::min);
        if let Some(time) = first.filter(|_| may_stop) {
            report.dt = time;
            cut += 1;
            // What was solved up to there is solved anew.
            report.work.mend_to(open);
            state.bodies.clone_from(&work.stage.unkicked);
            // What rests remembers its impulses for the whole step.
            work.resting.release_all();
            // Contacts are those of a way: features of the end of a longer one need not be features of here.
            look(model, params, state, time, work);
            impacts::recall(work);
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

/// Impulses at t, island by island, of those that await an impact or of the others: as if nothing bounced, then with the bounce of what presses, then aimed again until the predicted
/// depth, drift and joints are within tolerance.
fn solve(
    model: &Model,
    params: &IterativeParams,
    settings: &Settings,
    awaits: bool,
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let h = report.dt;
    for number in 0..work.stage.islands.len() {
        let rows = work.stage.islands[number].rows.clone();
        if work.stage.step_contacts[rows].iter().any(|t| t.awaited) != awaits {
            continue;
        }
        can_be_direct(params, number, work, h);
        let island = work.stage.islands[number].plain();
        let step_contacts = &work.stage.step_contacts[island.rows.clone()];
        // Shock propagation knows no trees.
        let jointed = !island.joint_blocks.is_empty() || island.trees;
        if let (false, Some(sweeps)) = (jointed, params.shock_sweeps) {
            shock::settle(params, settings, sweeps, number, work, report);
            continue;
        }
        if !jointed && params.shock_guess && step_contacts.iter().all(|t| !t.known) {
            shock::guess(model, params, state, settings, number, work, report);
        }
        let allowed = params.allowance();
        let caps = report.work.caps_open();
        // The aims of a tree at rest agree where its remembered impulses lead, not where it would fall.
        let step_contacts = &work.stage.step_contacts[island.rows.clone()];
        let like = params.warm_start && state.stretch(h) <= LIKE;
        if island.trees && like && step_contacts.iter().all(StepContact::is_old) {
            relinearise_island(model, state, number, work, h);
        }
        // Where something may bounce, the first solve of a large island only has to tell who presses.
        let large = island.joint_blocks.is_empty() && island.rows.len() >= LARGE;
        let guess = large
            && work.stage.step_contacts[island.rows.clone()]
                .iter()
                .any(may_bounce);
        if !converge(settings, allowed, guess, number, work, report) {
            continue;
        }
        if bounce(work, number, h) || guess {
            converge(settings, allowed, false, number, work, report);
        }
        if !island.direct {
            continue;
        }
        let mut missed = Missed::default();
        let mut before = f64::INFINITY;
        let held = |l: &JointBlock| l.held.count > 0;
        let is_held = work.stage.joint_blocks[island.joint_blocks.clone()]
            .iter()
            .any(held);
        let limits = report.work.caps_open();
        for _ in 0..params.predictions {
            keep_aims(number, &mut work.stage);
            missed = relinearise_island(model, state, number, work, h);
            // Joints of trees hold by construction: limits and contacts alone need no more than this.
            let least = if island.trees && !is_held && !island.rows.is_empty() {
                TREE_TOLERANCE
            } else {
                0.0
            };
            // A solve that ended at its limit gains nothing from better aims, unless it is that of a wedged tree, whose aims agree
            // only where they are met.
            if (report.work.caps_open() > limits && !island.trees)
                || (missed.depth <= params.depth_tolerance.max(least)
                    && missed.drift <= params.drift_tolerance.max(least)
                    && missed.joints <= params.joint_tolerance.max(least))
            {
                // What was solved stays the aim: residuals tell how well, depth how true it was.
                give_aims_back(number, &mut work.stage);
                break;
            }
            let worst = missed.depth.max(missed.drift).max(missed.joints);
            if island.trees && worst > RELINEARISE_STALLED * before {
                break;
            }
            // Aims of contacts that do not come twice as near each time lead away: a contact runs round an edge faster than a step can
            // follow, and more impulse does not help. Those before are kept, and the pose-only pass has the rest.
            let contracts = if island.joint_blocks.is_empty() {
                RELINEARISE_STALLED * before
            } else {
                before
            };
            if !island.trees && worst > contracts {
                let stage = &mut work.stage;
                std::mem::swap(&mut stage.aims, &mut stage.aims_before);
                give_aims_back(number, stage);
                converge(settings, allowed, false, number, work, report);
                break;
            }
            before = worst;
            if island.trees {
                report.work.mend_to(caps);
            }
            converge(settings, allowed, false, number, work, report);
        }
        // Only joints that hold something ask for a division of the step.
        if is_held {
            work.stage.met &= missed.joints <= ITERATIVE_MET * params.joint_tolerance;
        }
    }
}

/// Notes what the rows of an island aim at, and what was noted before.
fn keep_aims(number: usize, stage: &mut Scratch) {
    std::mem::swap(&mut stage.aims, &mut stage.aims_before);
    let rows = &stage.rows[stage.islands[number].rows.clone()];
    stage.aims.clear();
    let aim = |r: &ContactRow| (r.target_n, r.target_t);
    stage.aims.extend(rows.iter().map(aim));
}

/// Takes aims back to what was noted; joints keep their new ones.
fn give_aims_back(number: usize, stage: &mut Scratch) {
    let rows = &mut stage.rows[stage.islands[number].rows.clone()];
    for (row, &aim) in rows.iter_mut().zip(&stage.aims) {
        (row.target_n, row.target_t) = aim;
    }
}

/// Aims an island again from where its bodies go with the velocities found so far.
fn relinearise_island(
    model: &Model,
    state: &State,
    number: usize,
    work: &mut Work,
    h: f64,
) -> Missed {
    let ahead = Lookahead {
        model,
        state,
        contacts: &work.detection.contacts,
        h,
    };
    let (stage, predicted) = (&mut work.stage, &mut work.predicted);
    with_island(stage, predicted, number, |worker, number| {
        relinearise(&ahead, worker, number, true)
    })
}

/// Where joints are too meshed for a direct solve they keep their residuals: what sweeps cannot finish must not become velocity.
fn can_be_direct(params: &IterativeParams, number: usize, work: &mut Work, h: f64) {
    let Scratch {
        bodies,
        rows,
        joint_blocks,
        islands,
        sweeps,
        ..
    } = &mut work.stage;
    let island = &mut islands[number];
    island.trees = rows[island.rows.clone()].iter().any(|r| r.linked)
        || joint_blocks[island.joint_blocks.clone()]
            .iter()
            .any(|l| l.linked);
    if island.joint_blocks.is_empty() {
        return;
    }
    let (rows, joint_blocks) = (
        &mut rows[island.rows.clone()],
        &mut joint_blocks[island.joint_blocks.clone()],
    );
    island.direct =
        island.trees || sweeps.can_be_direct(rows, joint_blocks, bodies, &params.allowance());
    if !island.direct {
        joint_blocks
            .iter_mut()
            .for_each(|block| block.keep_residuals(1.0, h));
    }
}

/// One solve of an island; false if it has nothing to solve. Where there are many contacts, most of them only come near: those are left out
/// at first and taken in when the solve makes them approach too fast, so that in the end every contact has been asked.
pub(super) fn converge(
    settings: &Settings,
    allowed: Allowance,
    guess: bool,
    number: usize,
    work: &mut Work,
    report: &mut StepReport,
) -> bool {
    let Scratch {
        bodies,
        step_contacts,
        rows,
        joint_blocks,
        islands,
        sweeps,
        visited,
        grown,
        ..
    } = &mut work.stage;
    let island = islands[number].plain();
    let step_contacts = &step_contacts[island.rows.clone()];
    let mut job = Job {
        settings,
        core: allowed,
        spent: 0,
        failed: false,
        near: true,
        rows: &mut rows[island.rows.clone()],
        joint_blocks: &mut joint_blocks[island.joint_blocks.clone()],
        bodies,
        work: &mut report.work,
    };
    if job.joint_blocks.is_empty() && step_contacts.iter().all(|t| t.awaited) {
        return false;
    }
    if !job.joint_blocks.is_empty() || job.rows.len() < MANY {
        job.converge(sweeps, |i| !step_contacts[i].awaited);
        return true;
    }
    // An impact in a large island leaves no state that the core could start from, unless it may cost more than usual.
    let large = job.rows.len() >= LARGE;
    let generous = allowed.operations > SOLVE_OPERATIONS as u64 && !island.trees;
    let struck = large && (generous || step_contacts.iter().any(|t| t.hit));
    // A large island is swept a little while it takes contacts in, and to the tolerance once nothing asks any more.
    let little = Settings {
        sweeps: settings.sweeps.min(LITTLE),
        sweeps_last: 0,
        ..*settings
    };
    let first = if struck { Allowance::NONE } else { allowed };
    let last = if generous { allowed } else { Allowance::NONE };
    let courses = match (large, guess) {
        (false, _) => [Some((settings, allowed, GROWTHS_MAX)), None],
        (true, true) => [Some((&little, first, GROWTHS_MAX)), None],
        (true, false) => [
            Some((&little, first, GROWTHS_MAX)),
            Some((settings, last, if generous { GROWTHS_MAX } else { 1 })),
        ],
    };
    visited.clear();
    visited.resize(job.rows.len(), false);
    let caps = job.work.caps_open();
    for (course, &(settings, core, growths)) in courses.iter().flatten().enumerate() {
        if course > 0 && job.work.caps_open() == caps {
            break;
        }
        (job.settings, job.core) = (settings, core);
        for round in 0..=growths {
            let apart = |row: &ContactRow| row.missed(job.bodies, true).x;
            let rest = || (0..job.rows.len()).filter(|&i| !visited[i] && !step_contacts[i].awaited);
            let asks = |i: usize| apart(&job.rows[i]) < -settings.velocity_tolerance;
            if round > 0 && !rest().any(asks) {
                break;
            }
            let near = |i: &usize| {
                let row = &job.rows[*i];
                round == growths || row.p_n > 0.0 || apart(row) < NEAR_ACCELERATION * report.dt
            };
            grown.clear();
            grown.extend(rest().filter(near).map(|i| i as u32));
            grown.iter().for_each(|&i| visited[i as usize] = true);
            // What counts is how the last solve ends.
            job.work.mend_to(caps);
            job.converge(sweeps, |i| visited[i]);
        }
    }
    if guess {
        job.work.mend_to(caps);
    }
    true
}

/// Whether a contact arrives in the step and would leave again.
fn may_bounce(step_contact: &StepContact) -> bool {
    !step_contact.awaited && step_contact.bounce.is_some_and(|b| b.gap_end > 0.0)
}

/// Contacts that arrive inside the step and press are given their bounce. Says whether one leaves again.
fn bounce(work: &mut Work, number: usize, h: f64) -> bool {
    let island = work.stage.islands[number].plain();
    let Scratch {
        step_contacts,
        rows,
        ..
    } = &mut work.stage;
    let mut arrivals = false;
    for (row, step_contact) in rows[island.rows.clone()]
        .iter_mut()
        .zip(&mut step_contacts[island.rows])
    {
        if row.p_n > 0.0 && !step_contact.awaited && step_contact.bounce.is_some() {
            arrivals |= may_bounce(step_contact);
            step_contact.aim_at_bounce(row, h);
        }
    }
    arrivals
}

/// Impulses at t + h over the projected contacts and all joints: no velocity into contacts that bore load, none along joints.
pub(crate) fn project(
    model: &Model,
    params: &IterativeParams,
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let settings = params.solve_settings();
    let generous = params.effort > 1.0;
    let measured = report.work.caps_measured;
    let Scratch {
        bodies,
        step_contacts,
        rows,
        joint_blocks,
        islands,
        sweeps,
        ..
    } = &mut work.stage;
    for island in islands.iter() {
        let step_contacts = &step_contacts[island.rows.clone()];
        let large = island.rows.len() >= LARGE && island.joint_blocks.is_empty();
        let struck = large && step_contacts.iter().any(|t| t.hit);
        let mut job = Job {
            settings: &settings,
            core: if struck && !generous {
                Allowance::NONE
            } else {
                params.allowance()
            },
            spent: 0,
            failed: false,
            near: true,
            rows: &mut rows[island.rows.clone()],
            joint_blocks: &mut joint_blocks[island.joint_blocks.clone()],
            bodies,
            work: &mut report.work,
        };
        job.converge(sweeps, |i| step_contacts[i].projected);
    }
    // Residuals of contacts are those of the solve before.
    report.work.blind_since(measured);
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
