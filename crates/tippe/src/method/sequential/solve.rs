//! The two solves of a step, island by island, and what they cost in energy.
//!
//! Reads: rows, links, islands; Model and State to look ahead.  Writes: impulses, solver bodies, residuals and ledger of the report.
//! Called by: `method::sequential::step`.
//! Source: docs/methods.md, "Time and velocity".

use super::SequentialParams;
use crate::dynamics::halves::book::book;
use crate::dynamics::halves::joints::{LIKE, Sight, aim_again};
use crate::dynamics::halves::lane::{self, Island, Lane};
use crate::dynamics::halves::link::Link;
use crate::dynamics::halves::sweep::{Job, LARGE};
use crate::dynamics::halves::touch::Touch;
use crate::dynamics::halves::{Part, net};
use crate::model::Model;
use crate::report::{SolverWork, StepReport};
use crate::state::State;
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
    let sight = Sight {
        model,
        state,
        contacts: &work.detection.contacts,
        h: report.dt,
        tried: work.halves.tried,
    };
    lane::run(
        work.threads.pool(),
        &mut work.halves,
        &mut work.predicted,
        &mut report.work,
        |lane, island| first_of_island(params, &sight, lane, island),
    );
    book(&work.halves, report, |_| true);
    book_nets(work, report);
}

/// Energy of the nets in the half that was solved.
fn book_nets(work: &Work, report: &mut StepReport) {
    for net in work.halves.parts.iter().filter_map(Part::as_net) {
        net.left.book(&mut report.energy);
    }
}

fn first_of_island(
    params: &SequentialParams,
    sight: &Sight<'_>,
    lane: &mut Lane,
    island: &mut Island<'_>,
) {
    if island.part.netted {
        return net::first(sight, lane, island);
    }
    let cost_max = cost_limit(params, island.touches, island.links.len());
    let caps = lane.work.caps_hit;
    let jointed = !island.links.is_empty();
    if jointed {
        let fits = island.part.trees
            || lane
                .sweeps
                .can_be_direct(island.rows, island.links, &lane.bodies, cost_max);
        let apart = island.links.iter().any(|l| l.is_apart(sight.tried));
        island.part.direct = island.part.trees || (fits && !apart);
        if !island.part.direct {
            island
                .links
                .iter_mut()
                .for_each(|link| link.keep_residuals(1.0, sight.h));
        }
    }
    let near = params.warm_start && island.touches.iter().all(Touch::is_old);
    // The aims of a tree at rest agree where its remembered impulses lead, not where it would fall.
    if near && island.part.trees && sight.state.stretch(sight.h) <= LIKE {
        aim_again(sight, lane, island, false);
    }
    // Where something may bounce, a part of the sweeps only has to tell who presses.
    let bounces = |t: &Touch| t.bounce.is_some_and(|b| b.gap_end > 0.0);
    let sweeps = if island.touches.iter().any(bounces) {
        params.sweeps.div_ceil(GUESS_SHARE)
    } else {
        params.sweeps
    };
    let of = |sweeps: u32| SequentialParams { sweeps, ..*params };
    converge(&of(sweeps), cost_max, near, lane, island, false, |_| true);
    let mut arrivals = false;
    for (row, touch) in island.rows.iter_mut().zip(island.touches.iter_mut()) {
        if row.p_n > 0.0 && touch.bounce.is_some() {
            arrivals |= touch.bounce.is_some_and(|b| b.gap_end > 0.0);
            touch.aim_at_bounce(row, sight.h);
        }
    }
    let left = params.sweeps - sweeps;
    let mut before = caps;
    if arrivals || left > 0 {
        let left = if left > 0 { left } else { params.sweeps };
        before = lane.work.caps_hit;
        converge(&of(left), cost_max, near, lane, island, true, |_| true);
    }
    island.part.stuck = lane.work.caps_hit > before;
    if island.part.trees || (jointed && island.part.direct) {
        meet(params, sight, cost_max, caps, lane, island);
    }
}

/// Solves an island; `again` if it was the last to be solved, and only aims have changed since.
fn converge(
    params: &SequentialParams,
    cost_max: u64,
    near: bool,
    lane: &mut Lane,
    island: &mut Island<'_>,
    again: bool,
    active: impl Fn(&Touch) -> bool,
) {
    let touches = &*island.touches;
    // Counted by island, so that an order drawn at random does not depend on who solves it.
    let mut work = SolverWork::default();
    let mut settings = params.settings();
    // A cold start is worth any number of steps, once.
    if new_share(touches).1 > COLD && !touches.iter().any(|t| t.hit) {
        settings.newton_steps = u32::MAX;
    }
    let mut job = Job {
        settings: &settings,
        cost_max,
        near,
        rows: island.rows,
        links: island.links,
        bodies: &mut lane.bodies,
        work: &mut work,
    };
    if again {
        job.converge_again(&mut lane.sweeps, |i| active(&touches[i]));
    } else {
        job.converge(&mut lane.sweeps, |i| active(&touches[i]));
    }
    lane.work.add(&work);
}

/// Aims the joints of an island again and again until they meet; says so if a direct solve could not make them. `caps` is the count of
/// limits before the first solve of the island.
fn meet(
    params: &SequentialParams,
    sight: &Sight<'_>,
    cost_max: u64,
    caps: u32,
    lane: &mut Lane,
    island: &mut Island<'_>,
) {
    let missed = |lane: &mut Lane, island: &mut Island<'_>| {
        let missed = aim_again(sight, lane, island, false);
        let across = missed.joints.max(missed.drift);
        across.max(CONTACT_SHARE * missed.depth)
    };
    let held = |l: &Link| l.held.count > 0;
    let jointed = island.links.iter().any(held);
    // Joints of trees hold by construction: limits and contacts alone need no more than this.
    let tolerance = if jointed || island.rows.is_empty() {
        params.joint_tolerance
    } else {
        params.joint_tolerance.max(TREE_TOLERANCE)
    };
    let mut worst = missed(lane, island);
    for _ in 0..AIMS_MAX {
        if worst <= tolerance {
            return;
        }
        // Aims of a wedged tree agree only where they are met: solves on the way there may end at their limit.
        if island.part.trees {
            lane.work.caps_hit = caps;
        }
        let caps = lane.work.caps_hit;
        converge(params, cost_max, true, lane, island, false, |_| true);
        let before = std::mem::replace(&mut worst, missed(lane, island));
        // What a solve could not do is not done by the next one either.
        let failed = lane.work.caps_hit > caps;
        if (island.part.trees || failed) && worst > STALLED * before {
            break;
        }
    }
    // Only joints that hold something ask for a division of the step.
    if jointed {
        lane.met &= worst <= MET * params.joint_tolerance;
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
    lane::run(
        work.threads.pool(),
        &mut work.halves,
        &mut work.predicted,
        &mut report.work,
        |lane, island| {
            if island.part.netted {
                return net::second(model, state, h, lane, island);
            }
            let cost_max = cost_limit(params, island.touches, island.links.len());
            let near = params.warm_start && island.touches.iter().all(Touch::is_old);
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
            converge(params, cost_max, near, lane, island, false, |t| t.projected);
        },
    );
    book(&work.halves, report, |t| t.projected);
    book_nets(work, report);
    for link in &work.halves.links {
        let left = link.velocity_residual(&work.halves.bodies);
        report.residuals.joint_velocity = report.residuals.joint_velocity.max(left);
    }
}

/// Block products that a direct solve of an island may cost: `direct_cost` for each contact, and up to `direct_cost_cold` where
/// contacts are new, for a cold start is what makes stacks sag. The share of new ones enters squared, since a few new contacts among
/// many old ones disturb only their neighbours. Where something hits, only joints count: the next step is another problem anyway.
fn cost_limit(params: &SequentialParams, touches: &[Touch], links: usize) -> u64 {
    let held = params.direct_cost * LINK_COST * links as f64;
    if touches.iter().any(|t| t.hit) {
        return held as u64;
    }
    let (count, share) = new_share(touches);
    (held + params.direct_cost * count + share * share * params.direct_cost_cold) as u64
}

/// Contacts that touch, and the share of them that is new.
fn new_share(touches: &[Touch]) -> (f64, f64) {
    let near = touches.iter().filter(|t| t.loaded || t.gap_start <= 0.0);
    let (mut count, mut new) = (0.0, 0.0);
    for touch in near {
        count += 1.0;
        new += f64::from(u8::from(!touch.known));
    }
    (count, new / f64::max(count, 1.0))
}
