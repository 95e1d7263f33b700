//! The contact phase: impulses at t that make gaps and joints right at the end of the step; then the projection of velocities there.
//!
//! Reads: Model, State, touches, predicted states.  Writes: rows, links, solver bodies, length of the step, residuals and ledger.
//! Called by: `method::iterative::step`.
//! Source: [Bender06] §3.2 (impulses from predicted depth, eq. 7–8), §4 (joints in the same loop).

use super::IterativeParams;
use super::shock;
use super::{arrival, collision};
use crate::dynamics::halves::book::book;
use crate::dynamics::halves::joints::{LIKE, Missed, Sight, aim_again};
use crate::dynamics::halves::lane::with_island;
use crate::dynamics::halves::link::Link;
use crate::dynamics::halves::row::Row;
use crate::dynamics::halves::sweep::Job;
use crate::dynamics::halves::touch::Touch;
use crate::dynamics::halves::{Scratch, Settings, kick, predict, touch};
use crate::model::Model;
use crate::report::{EnergyLedger, StepReport};
use crate::state::State;
use crate::work::Work;

/// Multiple of the joint tolerance up to which a step counts as met [1].
const MET: f64 = 1e3;
/// Distance [m] or angle [rad] to which a tree that no other joint holds is brought to its aims.
const TREE_TOLERANCE: f64 = 1e-8;
/// Part of the distance before that an aim of a tree must leave it within, or better aims gain nothing [1].
const STALLED: f64 = 0.5;
/// Contacts of an island from which on a solve leaves out those that only come near.
const MANY: usize = 32;
/// Speed apart up to which a contact takes part from the start, per length of the step: what bodies at rest gain several times over [m/s²].
const NEAR: f64 = 50.0;
/// Times that a solve takes in contacts it had left out; after that it takes all.
const GROWTHS_MAX: u32 = 8;
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
    work.halves.unkicked.clone_from(&state.bodies);
    for cut in 0.. {
        let h = report.dt;
        // Half a kick at t: torques, drag and springs.
        let mut kicked = EnergyLedger::default();
        kick(model, state, 0.5 * h, &mut kicked);
        predict(model, state, t, h, work);
        let settings = params.settings(params.drift_tolerance.min(params.depth_tolerance) / h);
        let resting = collision::resting(model.gravity.length(), params, h);
        touch::first_rows(model, &settings, &resting, state, work, h);
        let watched = stops > 0 && cut < CUTS_MAX && arrival::watch(model, params, work, h);
        solve(model, params, &settings, state, work, report);
        if watched && let Some(time) = arrival::first(model, params, state, work, h) {
            report.dt = time;
            state.bodies.clone_from(&work.halves.unkicked);
            continue;
        }
        book(&work.halves, report, |t| !t.awaited);
        return kicked;
    }
    unreachable!("the last cut watches nothing");
}

/// Impulses at t, island by island: as if nothing bounced, then with the bounce of what presses, then aimed again until the predicted
/// depth, drift and joints are within tolerance.
fn solve(
    model: &Model,
    params: &IterativeParams,
    settings: &Settings,
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let h = report.dt;
    for island in 0..work.halves.parts.len() {
        can_be_direct(params, island, work, h);
        let part = work.halves.parts[island].plain();
        let touches = &work.halves.touches[part.rows.clone()];
        // Shock propagation knows no trees.
        let jointed = !part.links.is_empty() || part.trees;
        if let (false, Some(sweeps)) = (jointed, params.shock_sweeps) {
            shock::settle(params, settings, sweeps, island, work, report);
            continue;
        }
        if !jointed && params.shock_guess && touches.iter().all(|t| !t.known) {
            shock::guess(model, state, settings, island, work, report);
        }
        let cost_max = params.direct_cost as u64;
        let caps = report.work.caps_hit;
        // The aims of a tree at rest agree where its remembered impulses lead, not where it would fall.
        let touches = &work.halves.touches[part.rows.clone()];
        let like = params.warm_start && state.stretch(h) <= LIKE;
        if part.trees && like && touches.iter().all(Touch::is_old) {
            look(model, state, island, work, h);
        }
        if !converge(settings, cost_max, island, work, report) {
            continue;
        }
        bounce(settings, cost_max, island, work, report);
        if !part.direct {
            continue;
        }
        let mut missed = Missed::default();
        let mut before = f64::INFINITY;
        let held = |l: &Link| l.held.count > 0;
        let is_held = work.halves.links[part.links.clone()].iter().any(held);
        let limits = report.work.caps_hit;
        for _ in 0..params.predictions {
            keep_aims(island, &mut work.halves);
            missed = look(model, state, island, work, h);
            // Joints of trees hold by construction: limits and contacts alone need no more than this.
            let least = if part.trees && !is_held && !part.rows.is_empty() {
                TREE_TOLERANCE
            } else {
                0.0
            };
            // A solve that ended at its limit gains nothing from better aims, unless it is that of a wedged tree, whose aims agree
            // only where they are met.
            if (report.work.caps_hit > limits && !part.trees)
                || (missed.depth <= params.depth_tolerance.max(least)
                    && missed.drift <= params.drift_tolerance.max(least)
                    && missed.joints <= params.joint_tolerance.max(least))
            {
                // What was solved stays the aim: residuals tell how well, depth how true it was.
                give_aims_back(island, &mut work.halves);
                break;
            }
            let worst = missed.depth.max(missed.drift).max(missed.joints);
            if part.trees && worst > STALLED * before {
                break;
            }
            before = worst;
            if part.trees {
                report.work.caps_hit = caps;
            }
            converge(settings, cost_max, island, work, report);
        }
        // Only joints that hold something ask for a division of the step.
        if is_held {
            work.halves.met &= missed.joints <= MET * params.joint_tolerance;
        }
    }
}

/// Notes what the rows of an island aim at.
fn keep_aims(island: usize, halves: &mut Scratch) {
    let rows = &halves.rows[halves.parts[island].rows.clone()];
    halves.aims.clear();
    let aim = |r: &Row| (r.target_n, r.target_t);
    halves.aims.extend(rows.iter().map(aim));
}

/// Takes aims back to what was noted; joints keep their new ones.
fn give_aims_back(island: usize, halves: &mut Scratch) {
    let rows = &mut halves.rows[halves.parts[island].rows.clone()];
    for (row, &aim) in rows.iter_mut().zip(&halves.aims) {
        (row.target_n, row.target_t) = aim;
    }
}

/// Aims an island again from where its bodies go with the velocities found so far.
fn look(model: &Model, state: &State, island: usize, work: &mut Work, h: f64) -> Missed {
    let sight = Sight {
        model,
        state,
        contacts: &work.detection.contacts,
        h,
        tried: work.halves.tried,
    };
    let (halves, predicted) = (&mut work.halves, &mut work.predicted);
    with_island(halves, predicted, island, |lane, island| {
        aim_again(&sight, lane, island, true)
    })
}

/// Where joints are too meshed for a direct solve they keep their residuals: what sweeps cannot finish must not become velocity.
fn can_be_direct(params: &IterativeParams, island: usize, work: &mut Work, h: f64) {
    let Scratch {
        bodies,
        rows,
        links,
        parts,
        sweeps,
        tried,
        ..
    } = &mut work.halves;
    let part = &mut parts[island];
    part.trees = rows[part.rows.clone()].iter().any(|r| r.linked)
        || links[part.links.clone()].iter().any(|l| l.linked);
    if part.links.is_empty() {
        return;
    }
    let (rows, links) = (&mut rows[part.rows.clone()], &mut links[part.links.clone()]);
    part.direct = part.trees
        || (!links.iter().any(|l| l.is_apart(*tried))
            && sweeps.can_be_direct(rows, links, bodies, params.direct_cost as u64));
    if !part.direct {
        links
            .iter_mut()
            .for_each(|link| link.keep_residuals(1.0, h));
    }
}

/// One solve of an island; false if it has nothing to solve. Where there are many contacts, most of them only come near: those are left out
/// at first and taken in when the solve makes them approach too fast, so that in the end every contact has been asked.
pub(super) fn converge(
    settings: &Settings,
    cost_max: u64,
    island: usize,
    work: &mut Work,
    report: &mut StepReport,
) -> bool {
    let Scratch {
        bodies,
        touches,
        rows,
        links,
        parts,
        sweeps,
        visited,
        grown,
        ..
    } = &mut work.halves;
    let part = parts[island].plain();
    let touches = &touches[part.rows.clone()];
    let mut job = Job {
        settings,
        cost_max,
        near: false,
        rows: &mut rows[part.rows.clone()],
        links: &mut links[part.links.clone()],
        bodies,
        work: &mut report.work,
    };
    if job.links.is_empty() && touches.iter().all(|t| t.awaited) {
        return false;
    }
    if !job.links.is_empty() || job.rows.len() < MANY {
        job.converge(sweeps, |i| !touches[i].awaited);
        return true;
    }
    visited.clear();
    visited.resize(job.rows.len(), false);
    let caps = job.work.caps_hit;
    for round in 0..=GROWTHS_MAX {
        let apart = |row: &Row| row.missed(job.bodies, true).x;
        let rest = || (0..job.rows.len()).filter(|&i| !visited[i] && !touches[i].awaited);
        let asks = |i: usize| apart(&job.rows[i]) < -settings.velocity_tolerance;
        if round > 0 && !rest().any(asks) {
            break;
        }
        let near = |i: &usize| {
            let row = &job.rows[*i];
            round == GROWTHS_MAX || row.p_n > 0.0 || apart(row) < NEAR * report.dt
        };
        grown.clear();
        grown.extend(rest().filter(near).map(|i| i as u32));
        grown.iter().for_each(|&i| visited[i as usize] = true);
        // What counts is how the last solve ends.
        job.work.caps_hit = caps;
        job.converge(sweeps, |i| visited[i]);
    }
    true
}

/// Contacts that arrive inside the step and press are given their bounce.
fn bounce(
    settings: &Settings,
    cost_max: u64,
    island: usize,
    work: &mut Work,
    report: &mut StepReport,
) {
    let part = work.halves.parts[island].plain();
    let Scratch { touches, rows, .. } = &mut work.halves;
    let mut arrivals = false;
    for (row, touch) in rows[part.rows.clone()]
        .iter_mut()
        .zip(&mut touches[part.rows])
    {
        if row.p_n > 0.0 && !touch.awaited && touch.bounce.is_some() {
            arrivals |= touch.bounce.is_some_and(|b| b.gap_end > 0.0);
            touch.aim_at_bounce(row, report.dt);
        }
    }
    if arrivals {
        converge(settings, cost_max, island, work, report);
    }
}

/// Impulses at t + h over the projected contacts and all joints: no velocity into contacts that bore load, none along joints.
pub(crate) fn project(params: &IterativeParams, work: &mut Work, report: &mut StepReport) {
    let settings = params.settings(params.velocity_tolerance);
    let Scratch {
        bodies,
        touches,
        rows,
        links,
        parts,
        sweeps,
        ..
    } = &mut work.halves;
    for part in parts.iter() {
        let touches = &touches[part.rows.clone()];
        let mut job = Job {
            settings: &settings,
            cost_max: params.direct_cost as u64,
            near: false,
            rows: &mut rows[part.rows.clone()],
            links: &mut links[part.links.clone()],
            bodies,
            work: &mut report.work,
        };
        job.converge(sweeps, |i| touches[i].projected);
    }
    book(&work.halves, report, |t| t.projected);
    for link in &work.halves.links {
        let left = link.velocity_residual(&work.halves.bodies);
        report.residuals.joint_velocity = report.residuals.joint_velocity.max(left);
    }
}
