//! The two solves of a step, island by island, and what they cost in energy.
//!
//! Reads: rows, links, islands; Model and State to look ahead.  Writes: impulses, solver bodies, residuals and ledger of the report.
//! Called by: `method::sequential::step`.
//! Source: docs/methods.md, "Time and velocity".

use super::SequentialParams;
use crate::dynamics::halves::book::book;
use crate::dynamics::halves::joints::aim_again;
use crate::dynamics::halves::link::Link;
use crate::dynamics::halves::sweep::Job;
use crate::dynamics::halves::touch::Touch;
use crate::dynamics::halves::{Part, Scratch};
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use crate::work::Work;

/// Times that an island with joints is aimed again after a look ahead with the velocities just found.
const AIMS_MAX: u32 = 6;
/// Multiple of the joint tolerance up to which a step counts as met [1].
const MET: f64 = 1e4;
/// Contacts that one joint counts for in the budget of the direct solve.
const LINK_COST: f64 = 8.0;

/// Impulses at t: first as if nothing bounced, then with the bounce of the contacts that really press; joints until they meet.
pub(crate) fn first(
    model: &Model,
    params: &SequentialParams,
    state: &State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let h = report.dt;
    for island in 0..work.halves.parts.len() {
        let Scratch {
            bodies,
            touches,
            rows,
            links,
            parts,
            sweeps,
            ..
        } = &mut work.halves;
        let part = parts[island].clone();
        let touches = &mut touches[part.rows.clone()];
        let cost_max = cost_limit(params, touches, part.links.len());
        let mut part = part;
        part.trees = rows[part.rows.clone()].iter().any(|r| r.linked)
            || links[part.links.clone()].iter().any(|l| l.linked);
        if !part.links.is_empty() {
            let (rows, links) = (&mut rows[part.rows.clone()], &mut links[part.links.clone()]);
            part.direct = part.trees || sweeps.can_be_direct(rows, links, bodies, cost_max);
            parts[island].direct = part.direct;
            if !part.direct {
                links.iter_mut().for_each(|link| link.keep_residuals(h));
            }
        }
        let mut job = Job {
            settings: &params.settings(),
            cost_max,
            rows: &mut rows[part.rows.clone()],
            links: &mut links[part.links.clone()],
            bodies,
            work: &mut report.work,
        };
        job.converge(sweeps, |_| true);
        let mut arrivals = false;
        for (row, touch) in job.rows.iter_mut().zip(touches.iter_mut()) {
            if row.p_n > 0.0 && touch.bounce.is_some() {
                arrivals |= touch.bounce.is_some_and(|b| b.gap_end > 0.0);
                touch.aim_at_bounce(row, h);
            }
        }
        if arrivals {
            job.converge(sweeps, |_| true);
        }
        if part.trees || (!part.links.is_empty() && part.direct) {
            meet(model, params, state, work, &part, cost_max, report);
        }
    }
    book(&work.halves, report, |_| true);
}

/// Aims the joints of an island again and again until they meet; says so if a direct solve could not make them.
fn meet(
    model: &Model,
    params: &SequentialParams,
    state: &State,
    work: &mut Work,
    part: &Part,
    cost_max: u64,
    report: &mut StepReport,
) {
    let missed = |work: &mut Work| {
        let missed = aim_again(model, state, work, part, report.dt, false);
        missed.joints.max(missed.depth)
    };
    let mut worst = missed(work);
    for _ in 0..AIMS_MAX {
        if worst <= params.joint_tolerance {
            return;
        }
        let Scratch {
            bodies,
            rows,
            links,
            sweeps,
            ..
        } = &mut work.halves;
        let mut job = Job {
            settings: &params.settings(),
            cost_max,
            rows: &mut rows[part.rows.clone()],
            links: &mut links[part.links.clone()],
            bodies,
            work: &mut report.work,
        };
        job.converge(sweeps, |_| true);
        worst = missed(work);
    }
    // Only joints that hold something ask for a division of the step.
    let held = |l: &Link| l.held.count > 0;
    if work.halves.links[part.links.clone()].iter().any(held) {
        work.halves.met &= worst <= MET * params.joint_tolerance;
    }
}

/// Impulses at t + h over the projected contacts and all joints.
pub(crate) fn second(params: &SequentialParams, work: &mut Work, report: &mut StepReport) {
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
            settings: &params.settings(),
            cost_max: cost_limit(params, touches, part.links.len()),
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

/// Block products that a direct solve of an island may cost: `direct_cost` for each contact, and up to `direct_cost_cold` where
/// contacts are new, for a cold start is what makes stacks sag. The share of new ones enters squared, since a few new contacts among
/// many old ones disturb only their neighbours. Where something hits, only joints count: the next step is another problem anyway.
fn cost_limit(params: &SequentialParams, touches: &[Touch], links: usize) -> u64 {
    let held = params.direct_cost * LINK_COST * links as f64;
    if touches.iter().any(|t| t.hit) {
        return held as u64;
    }
    let near = touches.iter().filter(|t| t.loaded || t.gap_start <= 0.0);
    let (mut count, mut new) = (0.0, 0.0);
    for touch in near {
        count += 1.0;
        new += f64::from(u8::from(!touch.known));
    }
    let share = new / f64::max(count, 1.0);
    (held + params.direct_cost * count + share * share * params.direct_cost_cold) as u64
}
