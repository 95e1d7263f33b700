//! The two solves of a step, island by island, and what they cost in energy.
//!
//! Reads: rows, links, islands; Model and State to look ahead.  Writes: impulses, solver bodies, residuals and ledger of the report.
//! Called by: `method::sequential::step`.
//! Source: docs/methods.md, "Time and velocity".

use super::SequentialParams;
use crate::model::Model;
use crate::output::ledger::book;
use crate::report::{SolverWork, StepReport};
use crate::solver::joint::JointBlock;
use crate::solver::sweep::{Job, LARGE};
use crate::state::State;
use crate::two_stage::gather::StepContact;
use crate::two_stage::joints::LIKE;
use crate::two_stage::parallel::{self, Island, Worker};
use crate::two_stage::relinearise::{Lookahead, relinearise};
use crate::two_stage::{Part, joint_network};
use crate::work::Work;

/// Times that an island with joints is aimed again after a look ahead with the velocities just found.
const AIMS_MAX: u32 = 6;
/// Multiple of the joint tolerance up to which a step counts as met [1].
const MET: f64 = 1e4;
/// What the gap of a contact that is off counts against a joint that is: less, since the pose-only pass closes it [1].
const CONTACT_SHARE: f64 = 0.01;
/// Distance [m] or angle [rad] to which a tree that no other joint holds is brought to its aims.
const TREE_TOLERANCE: f64 = 1e-8;
/// Part of the distance before that an aim of a tree, or after a solve that ended at its limit, must leave it within, or better aims gain nothing [1].
const STALLED: f64 = 0.5;
/// Share of new contacts beyond which an island starts cold [1].
const COLD: f64 = 0.5;
/// One of so many sweeps finds out who presses, where something may bounce.
const GUESS_SHARE: u32 = 3;
/// Contacts that one joint counts for in the budget of the direct solve.
pub(super) const LINK_COST: f64 = 8.0;

/// Impulses at t: first as if nothing bounced, then with the bounce of the contacts that really press; joints until they meet.
pub(crate) fn first(
    model: &Model,
    params: &SequentialParams,
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let ahead = Lookahead {
        model,
        state,
        contacts: &work.detection.contacts,
        h: report.dt,
        tried: work.stage.tried,
    };
    parallel::run(
        work.threads.pool(),
        &mut work.stage,
        &mut work.predicted,
        &mut report.work,
        |worker, island| first_of_island(params, &ahead, worker, island),
    );
    book(&work.stage, report, |_| true);
    book_nets(work, report);
}

/// Energy of the nets in the half that was solved.
fn book_nets(work: &Work, report: &mut StepReport) {
    for net in work.stage.parts.iter().filter_map(Part::as_net) {
        net.left.book(&mut report.energy);
    }
}

fn first_of_island(
    params: &SequentialParams,
    ahead: &Lookahead<'_>,
    worker: &mut Worker,
    island: &mut Island<'_>,
) {
    if island.part.netted {
        return joint_network::first(ahead, worker, island);
    }
    let cost_max = cost_limit(params, island.step_contacts, island.links.len());
    let caps = worker.work.caps_hit;
    let jointed = !island.links.is_empty();
    if jointed {
        let fits = island.part.trees
            || worker
                .sweeps
                .can_be_direct(island.rows, island.links, &worker.bodies, cost_max);
        let apart = island.links.iter().any(|l| l.is_apart(ahead.tried));
        island.part.direct = island.part.trees || (fits && !apart);
        if !island.part.direct {
            island
                .links
                .iter_mut()
                .for_each(|link| link.keep_residuals(1.0, ahead.h));
        }
    }
    let near = params.warm_start && island.step_contacts.iter().all(StepContact::is_old);
    // The aims of a tree at rest agree where its remembered impulses lead, not where it would fall.
    if near && island.part.trees && ahead.state.stretch(ahead.h) <= LIKE {
        relinearise(ahead, worker, island, false);
    }
    // Where something may bounce, a part of the sweeps only has to tell who presses.
    let bounces = |t: &StepContact| t.bounce.is_some_and(|b| b.gap_end > 0.0);
    let sweeps = if island.step_contacts.iter().any(bounces) {
        params.sweeps.div_ceil(GUESS_SHARE)
    } else {
        params.sweeps
    };
    let of = |sweeps: u32| SequentialParams { sweeps, ..*params };
    converge(&of(sweeps), cost_max, near, worker, island, false, |_| true);
    let mut arrivals = false;
    for (row, step_contact) in island.rows.iter_mut().zip(island.step_contacts.iter_mut()) {
        if row.p_n > 0.0 && step_contact.bounce.is_some() {
            arrivals |= step_contact.bounce.is_some_and(|b| b.gap_end > 0.0);
            step_contact.aim_at_bounce(row, ahead.h);
        }
    }
    let left = params.sweeps - sweeps;
    let mut before = caps;
    if arrivals || left > 0 {
        let left = if left > 0 { left } else { params.sweeps };
        before = worker.work.caps_hit;
        converge(&of(left), cost_max, near, worker, island, true, |_| true);
    }
    island.part.stuck = worker.work.caps_hit > before;
    if island.part.trees || (jointed && island.part.direct) {
        meet(params, ahead, cost_max, caps, worker, island);
    }
}

/// Solves an island; `again` if it was the last to be solved, and only aims have changed since.
fn converge(
    params: &SequentialParams,
    cost_max: u64,
    near: bool,
    worker: &mut Worker,
    island: &mut Island<'_>,
    again: bool,
    active: impl Fn(&StepContact) -> bool,
) {
    let step_contacts = &*island.step_contacts;
    // Counted by island, so that an order drawn at random does not depend on who solves it.
    let mut work = SolverWork::default();
    let mut settings = params.settings().solve;
    // A cold start is worth any number of steps, once.
    if new_share(step_contacts).1 > COLD && !step_contacts.iter().any(|t| t.hit) {
        settings.newton_steps = u32::MAX;
    }
    let mut job = Job {
        settings: &settings,
        cost_max,
        near,
        rows: island.rows,
        links: island.links,
        bodies: &mut worker.bodies,
        work: &mut work,
    };
    if again {
        job.converge_again(&mut worker.sweeps, |i| active(&step_contacts[i]));
    } else {
        job.converge(&mut worker.sweeps, |i| active(&step_contacts[i]));
    }
    worker.work.add(&work);
}

/// Aims the joints of an island again and again until they meet; says so if a direct solve could not make them. `caps` is the count of
/// limits before the first solve of the island.
fn meet(
    params: &SequentialParams,
    ahead: &Lookahead<'_>,
    cost_max: u64,
    caps: u32,
    worker: &mut Worker,
    island: &mut Island<'_>,
) {
    let missed = |worker: &mut Worker, island: &mut Island<'_>| {
        let missed = relinearise(ahead, worker, island, false);
        let across = missed.joints.max(missed.drift);
        across.max(CONTACT_SHARE * missed.depth)
    };
    let held = |l: &JointBlock| l.held.count > 0;
    let jointed = island.links.iter().any(held);
    // Joints of trees hold by construction: limits and contacts alone need no more than this.
    let tolerance = if jointed || island.rows.is_empty() {
        params.joint_tolerance
    } else {
        params.joint_tolerance.max(TREE_TOLERANCE)
    };
    let mut worst = missed(worker, island);
    for _ in 0..AIMS_MAX {
        if worst <= tolerance {
            return;
        }
        // Aims of a wedged tree agree only where they are met: solves on the way there may end at their limit.
        if island.part.trees {
            worker.work.caps_hit = caps;
        }
        let caps = worker.work.caps_hit;
        converge(params, cost_max, true, worker, island, false, |_| true);
        let before = std::mem::replace(&mut worst, missed(worker, island));
        // What a solve could not do is not done by the next one either.
        let failed = worker.work.caps_hit > caps;
        if (island.part.trees || failed) && worst > STALLED * before {
            break;
        }
    }
    // Only joints that hold something ask for a division of the step.
    if jointed {
        worker.met &= worst <= MET * params.joint_tolerance;
    }
}

/// Impulses at t + h over the projected contacts and all joints.
pub(crate) fn second(
    model: &Model,
    params: &SequentialParams,
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let h = report.dt;
    parallel::run(
        work.threads.pool(),
        &mut work.stage,
        &mut work.predicted,
        &mut report.work,
        |worker, island| {
            if island.part.netted {
                return joint_network::second(model, state, h, worker, island);
            }
            let cost_max = cost_limit(params, island.step_contacts, island.links.len());
            let near = params.warm_start && island.step_contacts.iter().all(StepContact::is_old);
            // A large island that could not be solved at the start of the step rarely can at its end: sweeps have to do.
            let large = island.rows.len() >= LARGE && island.links.is_empty();
            let swept = island.part.stuck && large && !island.part.trees;
            let params = if swept {
                &SequentialParams {
                    direct_rounds: 0,
                    ..*params
                }
            } else {
                params
            };
            converge(params, cost_max, near, worker, island, false, |t| {
                t.projected
            });
        },
    );
    book(&work.stage, report, |t| t.projected);
    book_nets(work, report);
    for link in &work.stage.links {
        let left = link.velocity_residual(&work.stage.bodies);
        report.residuals.joint_velocity = report.residuals.joint_velocity.max(left);
    }
}

/// Block products that a direct solve of an island may cost: `direct_cost` for each contact, and up to `direct_cost_cold` where
/// contacts are new, for a cold start is what makes stacks sag. The share of new ones enters squared, since a few new contacts among
/// many old ones disturb only their neighbours. Where something hits, only joints count: the next step is another problem anyway.
fn cost_limit(params: &SequentialParams, step_contacts: &[StepContact], links: usize) -> u64 {
    let held = params.direct_cost * LINK_COST * links as f64;
    if step_contacts.iter().any(|t| t.hit) {
        return held as u64;
    }
    let (count, share) = new_share(step_contacts);
    (held + params.direct_cost * count + share * share * params.direct_cost_cold) as u64
}

/// Contacts that touch, and the share of them that is new.
fn new_share(step_contacts: &[StepContact]) -> (f64, f64) {
    let near = step_contacts
        .iter()
        .filter(|t| t.loaded || t.gap_start <= 0.0);
    let (mut count, mut new) = (0.0, 0.0);
    for step_contact in near {
        count += 1.0;
        new += f64::from(u8::from(!step_contact.known));
    }
    (count, new / f64::max(count, 1.0))
}
