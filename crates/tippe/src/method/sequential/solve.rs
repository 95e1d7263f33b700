//! The two solves of a step, island by island, and what they cost in energy.
//!
//! Reads: rows, links, islands; Model and State to look ahead.  Writes: impulses, solver bodies, residuals and ledger of the report.
//! Called by: `method::sequential::step`.
//! Source: docs/methods/contract.md, "Time and velocity".

use super::SequentialParams;
use crate::model::Model;
use crate::report::{SolverWork, StepReport};
use crate::solver::choose::{
    COLD, CONTACT_SHARE, GUESS_SHARE, LAST_MAX, LAST_SHARE, RELINEARISATIONS, RELINEARISE_STALLED,
    SEQUENTIAL_MET, TREE_TOLERANCE,
};
use crate::solver::effort::Circumstances;
use crate::solver::joint::JointBlock;
use crate::solver::sweep::Job;
use crate::state::State;
use crate::two_stage::book::Books;
use crate::two_stage::gather::StepContact;
use crate::two_stage::joints::LIKE;
use crate::two_stage::parallel::{self, IslandView, Worker};
use crate::two_stage::relinearise::{Lookahead, relinearise};
use crate::two_stage::{Island, guard, joint_network};
use crate::work::Work;

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
    };
    parallel::run(
        work.threads.pool(),
        &mut work.stage,
        &mut work.predicted,
        &mut report.work,
        |worker, view| first_of_island(params, &ahead, worker, view),
    );
    guard::restrain(model, state, &mut work.stage, report);
    book(model, work, report, |t| !t.gone);
}

/// Residuals and energy of the half that was solved.
fn book(
    model: &Model,
    work: &mut Work,
    report: &mut StepReport,
    active: impl Fn(&StepContact) -> bool,
) {
    let Work { stage, balance, .. } = work;
    let mut books = Books {
        model,
        report,
        balance,
    };
    books.solve(stage, active);
    for net in stage.islands.iter().filter_map(Island::as_net) {
        net.book(&mut books);
    }
}

fn first_of_island(
    params: &SequentialParams,
    ahead: &Lookahead<'_>,
    worker: &mut Worker,
    view: &mut IslandView<'_>,
) {
    if view.island.netted {
        return joint_network::first(ahead, worker, view);
    }
    let caps = worker.work.caps_open();
    let jointed = !view.joint_blocks.is_empty();
    let island = circumstances(params, view);
    view.island.allowed = view.island.effort.begin(params.effort, &island);
    if jointed {
        let fits = view.island.trees
            || worker.sweeps.can_be_direct(
                view.rows,
                view.joint_blocks,
                &worker.bodies,
                &view.island.allowed,
            );
        view.island.direct = view.island.trees || fits;
        if !view.island.direct {
            view.joint_blocks
                .iter_mut()
                .for_each(|block| block.keep_residuals(1.0, ahead.h));
        }
    }
    let near = params.warm_start && view.step_contacts.iter().all(StepContact::is_old);
    // The aims of a tree at rest agree where its remembered impulses lead, not where it would fall.
    if near && view.island.trees && ahead.state.stretch(ahead.h) <= LIKE {
        relinearise(ahead, worker, view, false);
    }
    // Where something may bounce, a part of the sweeps only has to tell who presses.
    let bounces = |t: &StepContact| t.bounce.is_some_and(|b| b.gap_end > 0.0);
    let sweeps = if view.step_contacts.iter().any(bounces) {
        params.sweeps.div_ceil(GUESS_SHARE)
    } else {
        params.sweeps
    };
    let of = |sweeps: u32| SequentialParams { sweeps, ..*params };
    converge(&of(sweeps), near, worker, view, false, |t| !t.gone);
    let mut arrivals = false;
    for (row, step_contact) in view.rows.iter_mut().zip(view.step_contacts.iter_mut()) {
        if row.p_n > 0.0 && step_contact.bounce.is_some() {
            arrivals |= step_contact.bounce.is_some_and(|b| b.gap_end > 0.0);
            step_contact.aim_at_bounce(row, ahead.h);
        }
    }
    let left = params.sweeps - sweeps;
    if arrivals || left > 0 {
        let left = if left > 0 { left } else { params.sweeps };
        // The guess only had to tell who presses.
        worker.work.mend_to(caps);
        converge(&of(left), near, worker, view, true, |t| !t.gone);
    }
    if view.island.trees || (jointed && view.island.direct) {
        meet(params, ahead, caps, worker, view);
    }
}

/// Solves an island; `again` if it was the last to be solved, and only aims have changed since.
fn converge(
    params: &SequentialParams,
    near: bool,
    worker: &mut Worker,
    view: &mut IslandView<'_>,
    again: bool,
    active: impl Fn(&StepContact) -> bool,
) {
    let step_contacts = &*view.step_contacts;
    // Counted by island, so that an order drawn at random does not depend on who solves it.
    let mut work = SolverWork::default();
    let mut settings = params.settings().solve;
    // What sweeps leave of an island that comes to rest becomes creep; where something hits it is overtaken by the next step.
    if !step_contacts.iter().any(|t| t.hit) {
        let last = LAST_SHARE * params.effort * f64::from(params.sweeps);
        settings.sweeps_last = last.min(LAST_MAX) as u32;
    }
    let mut job = Job {
        settings: &settings,
        core: view.island.effort.left(view.island.allowed),
        spent: 0,
        failed: false,
        near,
        rows: view.rows,
        joint_blocks: view.joint_blocks,
        bodies: &mut worker.bodies,
        work: &mut work,
    };
    if again {
        job.converge_again(&mut worker.sweeps, |i| active(&step_contacts[i]));
    } else {
        job.converge(&mut worker.sweeps, |i| active(&step_contacts[i]));
    }
    view.island.effort.book(job.spent, job.failed);
    worker.work.add(&work);
}

/// Aims the joints of an island again and again until they meet; says so if a direct solve could not make them. `caps` is the count of
/// limits before the first solve of the island.
fn meet(
    params: &SequentialParams,
    ahead: &Lookahead<'_>,
    caps: u32,
    worker: &mut Worker,
    view: &mut IslandView<'_>,
) {
    let missed = |worker: &mut Worker, view: &mut IslandView<'_>| {
        let missed = relinearise(ahead, worker, view, false);
        let across = missed.joints.max(missed.drift);
        across.max(CONTACT_SHARE * missed.depth)
    };
    let held = |l: &JointBlock| l.held.count > 0;
    let jointed = view.joint_blocks.iter().any(held);
    // Joints of trees hold by construction: limits and contacts alone need no more than this.
    let tolerance = if jointed || view.rows.is_empty() {
        params.joint_tolerance
    } else {
        params.joint_tolerance.max(TREE_TOLERANCE)
    };
    let mut worst = missed(worker, view);
    for _ in 0..RELINEARISATIONS {
        if worst <= tolerance {
            return;
        }
        // Aims of a wedged tree agree only where they are met: solves on the way there may end at their limit.
        if view.island.trees {
            worker.work.mend_to(caps);
        }
        let caps = worker.work.caps_open();
        converge(params, true, worker, view, false, |t| !t.gone);
        let before = std::mem::replace(&mut worst, missed(worker, view));
        // What a solve could not do is not done by the next one either.
        let failed = worker.work.caps_open() > caps;
        if (view.island.trees || failed) && worst > RELINEARISE_STALLED * before {
            break;
        }
    }
    // Only joints that hold something ask for a division of the step.
    if jointed {
        worker.met &= worst <= SEQUENTIAL_MET * params.joint_tolerance;
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
        |worker, view| {
            if view.island.netted {
                return joint_network::second(model, state, h, worker, view);
            }
            let near = params.warm_start && view.step_contacts.iter().all(StepContact::is_old);
            view.island.effort.again();
            converge(params, near, worker, view, false, |t| t.projected);
            view.island.effort.end();
        },
    );
    guard::restrain(model, state, &mut work.stage, report);
    book(model, work, report, |t| t.projected);
    for block in &work.stage.joint_blocks {
        let left = block.velocity_residual(&work.stage.bodies);
        report.residuals.joint_velocity = report.residuals.joint_velocity.max(left);
    }
}

/// What decides how much the core may cost an island: a cold start is what makes stacks sag; where something hits, the next step is
/// another problem anyway.
fn circumstances(params: &SequentialParams, view: &IslandView<'_>) -> Circumstances {
    Circumstances {
        contacts: view.step_contacts.len(),
        joints: view.joint_blocks.len(),
        sweeps: params.sweeps,
        trees: view.island.trees,
        new: new_share(view.step_contacts) > COLD,
        hit: view.step_contacts.iter().any(|t| t.hit),
    }
}

/// Share of the contacts that touch which are new.
fn new_share(step_contacts: &[StepContact]) -> f64 {
    let near = step_contacts
        .iter()
        .filter(|t| t.loaded || t.gap_start <= 0.0);
    let (mut count, mut new) = (0.0, 0.0);
    for step_contact in near {
        count += 1.0;
        new += f64::from(u8::from(!step_contact.known));
    }
    new / f64::max(count, 1.0)
}
