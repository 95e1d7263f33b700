//! The guard: no answer of contacts and joints makes energy. What would is answered again by impulses none of which can.
//!
//! Reads: rows, joint blocks, balance of the substep.  Writes: solver bodies, rows, joint blocks, velocities of the state, counts.
//! Called by: the methods that step in two stages, after each of their solves and at the end of a substep.
//! Source: docs/methods/two-stage.md, "The guard".

use super::gather::StepContact;
use super::{Scratch, book, substeps};
use crate::dynamics::{energy, integrate};
use crate::math::{Mat3, Vec3};
use crate::model::{Body, BodyKind, Model};
use crate::output::balance::{Balance, energies};
use crate::report::StepReport;
use crate::solver::contact::ContactRow;
use crate::solver::ends::{Bodies, NONE};
use crate::solver::joint::JointBlock;
use crate::state::{BodyState, State};
use crate::work::Work;

/// Most passes of impulses that stop what approaches.
const PASSES_MAX: u32 = 40;
/// Speed that such passes leave [m/s].
const STOPPED: f64 = 1e-7;
/// Growth of the fastest speed in an island that is believed where its rows are not met [1].
const GROWTH: f64 = 2.0;
/// Part of the fastest speed by which rows may miss and still count as met [1].
const MET: f64 = 0.1;

/// Scratch of the guard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Accounts before the half under way was booked.
    balance: Balance,
    /// By slot: the island of a body that takes part in a solve.
    island_of: Vec<u32>,
    /// By island: whether it is answered again.
    again: Vec<bool>,
    /// By slot of a root: what its group gained [J].
    gains: Vec<f64>,
    /// By slot: kinetic and potential energy after the solve [J].
    after: Vec<(f64, f64)>,
    /// Slots of the bodies whose answers were replaced in this step, sorted.
    pub bodies: Vec<u32>,
}

/// Which half of a substep is answered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// After the first solve: an answer that is absurd beside the velocities of its island is not carried out.
pub(crate) fn first(model: &Model, state: &State, work: &mut Work, report: &mut StepReport) {
    for number in 0..work.stage.islands.len() {
        if let Some(net) = broken_net(number, &mut work.stage) {
            for slot in net {
                restore(state, slot, &mut work.stage.bodies);
                work.guard.bodies.push(slot);
            }
            report.work.guarded += 1;
        }
        if is_absurd(model, state, report.dt, number, &work.stage)
            || lends_too_much(model, state, report.dt, number, &work.stage)
        {
            stop_island(Half::First, state, report.dt, number, &mut work.stage);
            report.work.guarded += 1;
            name_bodies(number, work);
        }
    }
}

/// The bodies of a joint network whose answer is no number; its impulses are forgotten.
fn broken_net(number: usize, stage: &mut Scratch) -> Option<Vec<u32>> {
    let Scratch {
        islands, bodies, ..
    } = stage;
    let island = &mut islands[number];
    let slots = island.as_net()?.bodies().to_vec();
    let finite = |slot: &u32| {
        let body = &bodies[*slot as usize];
        body.v.is_finite() && body.w.is_finite()
    };
    if slots.iter().all(finite) {
        return None;
    }
    if let Some(net) = &mut island.net {
        net.let_go();
    }
    Some(slots)
}

/// Books the second half. Groups of bodies that gained energy over the substep get another answer, with all targets zero.
pub(crate) fn second(model: &Model, state: &State, work: &mut Work, report: &mut StepReport) {
    work.guard.balance.clone_from(&work.balance);
    let before = (report.energy, report.residuals, report.squeezed);
    book::half(model, work, report, |t| t.projected);
    let turn = substeps::TURN_MAX * substeps::turns(model, state, report.dt);
    if !find(model, state, turn, work) {
        return;
    }
    (report.energy, report.residuals, report.squeezed) = before;
    work.balance.clone_from(&work.guard.balance);
    for number in 0..work.guard.again.len() {
        if work.guard.again[number] {
            stop_island(Half::Second, state, report.dt, number, &mut work.stage);
            report.work.guarded += 1;
            name_bodies(number, work);
        }
    }
    book::half(model, work, report, |t| t.projected);
}

/// At the end of a substep, with its velocities in the state: what a group has gained all the same is taken from the motion of its bodies
/// relative to each other, so that momentum and angular momentum stay; or from all of it where the group leans on something.
pub(crate) fn settle(
    model: &Model,
    turn: f64,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let Work { guard, balance, .. } = work;
    let now = |i: usize, body: &Body| energies(model, state, i, body);
    if !balance.gains(model, turn, now, &mut guard.gains) {
        return;
    }
    for root in 0..guard.gains.len() {
        let gain = guard.gains[root];
        if gain == 0.0 {
            continue;
        }
        let taken = slow_down(model, root as u32, gain, balance, state);
        balance.relieve(root, taken, &mut report.energy);
        report.work.guarded += 1;
        for (i, _) in model.present() {
            if model.is_awake(i as u32) && balance.root(i as u32) == root as u32 {
                guard.bodies.push(i as u32);
            }
        }
    }
    guard.bodies.sort_unstable();
    guard.bodies.dedup();
}

/// Finds the islands of groups that gained.
fn find(model: &Model, state: &State, turn: f64, work: &mut Work) -> bool {
    let Work {
        guard,
        balance,
        stage,
        ..
    } = work;
    guard.after.clear();
    guard.after.resize(state.bodies.len(), (0.0, 0.0));
    for (i, body) in model.present().filter(|(_, b)| b.is_awake()) {
        guard.after[i] = energies(model, state, i, body);
        if body.is_free() {
            let solved = &stage.bodies[i];
            let s = BodyState {
                velocity: solved.v,
                angular_velocity: solved.w,
                ..state.bodies[i]
            };
            guard.after[i].0 = energy::kinetic(body, &s);
        }
    }
    add_trees(state, &stage.bodies, &mut guard.after);
    let after = &guard.after;
    if !balance.gains(model, turn, |i, _| after[i], &mut guard.gains) {
        return false;
    }
    guard.island_of.clear();
    guard.island_of.resize(stage.bodies.len(), NONE);
    for (number, island) in stage.islands.iter().enumerate() {
        for slot in ends(stage, number) {
            guard.island_of[slot as usize] = number as u32;
        }
        debug_assert!(island.rows.end <= stage.rows.len(), "rows of the island");
    }
    guard.again.clear();
    guard.again.resize(stage.islands.len(), false);
    for (i, _) in model.present().filter(|(_, b)| b.is_awake()) {
        let number = guard.island_of[i];
        if number != NONE && guard.gains[balance.root(i as u32) as usize] != 0.0 {
            guard.again[number as usize] = true;
        }
    }
    guard.again.contains(&true)
}

/// Impulses on trees do work on their links: `Σ P · ½(v⁻ + v⁺) + M · ½(ω⁻ + ω⁺)` over the links that were pushed.
fn add_trees(state: &State, bodies: &Bodies, after: &mut [(f64, f64)]) {
    for tree in &bodies.trees {
        for (k, &(_, slot)) in tree.links.iter().enumerate() {
            let Some(p) = tree.impulse.get(6 * k..6 * k + 6) else {
                continue;
            };
            let (s, solved) = (&state.bodies[slot as usize], &bodies[slot as usize]);
            let (v, w) = (s.velocity + solved.v, s.angular_velocity + solved.w);
            after[slot as usize].0 +=
                0.5 * (Vec3::new(p[0], p[1], p[2]).dot(v) + Vec3::new(p[3], p[4], p[5]).dot(w));
        }
    }
}

/// Slots of the bodies of finite mass that the rows and joints of an island end at.
fn ends(stage: &Scratch, number: usize) -> impl Iterator<Item = u32> + '_ {
    let island = &stage.islands[number];
    let rows = stage.rows[island.rows.clone()].iter().map(|r| [r.a, r.b]);
    let blocks = stage.joint_blocks[island.joint_blocks.clone()].iter();
    rows.chain(blocks.map(|l| [l.a, l.b]))
        .flatten()
        .filter(|&slot| stage.bodies[slot as usize].inverse_mass > 0.0)
}

fn name_bodies(number: usize, work: &mut Work) {
    let Work { guard, stage, .. } = work;
    guard.bodies.extend(ends(stage, number));
    guard.bodies.sort_unstable();
    guard.bodies.dedup();
}

/// Energy that the first half of a substep may lend an island, relative to what it has and to weight times size of its bodies [1]. What
/// rests borrows a small part of the latter.
const LOAN: f64 = 3.0;

/// Whether the impulses of an island bring in far more energy than it had and prescribed bodies and motors put in.
fn lends_too_much(model: &Model, state: &State, h: f64, number: usize, stage: &Scratch) -> bool {
    let island = &stage.islands[number];
    let bodies = &stage.bodies;
    let g = model.gravity.length();
    let mut own = 0.0;
    for slot in ends(stage, number) {
        if let Some(body) = &model.bodies[slot as usize] {
            let reach = if body.reach.is_finite() {
                body.reach
            } else {
                0.0
            };
            // What rests, with no reach of its own, borrows m (a h)²/8 in every step.
            let fall = integrate::acceleration(model, body, &state.loads[slot as usize]) * h;
            own += energy::kinetic(body, &state.bodies[slot as usize])
                + body.mass * (body.gravity_scale.abs() * g * reach + fall.length_squared());
        }
    }
    let motion = |slot: u32| (bodies[slot as usize].v, bodies[slot as usize].w);
    let mut lent = 0.0;
    let contacts = &stage.step_contacts[island.rows.clone()];
    for (row, t) in stage.rows[island.rows.clone()].iter().zip(contacts) {
        let mean = 0.5 * (t.velocity_before + row.velocity(bodies));
        lent += row.impulse().dot(mean);
        own += row.prescribed_work(bodies, motion).abs();
    }
    for block in &stage.joint_blocks[island.joint_blocks.clone()] {
        let (motors, limits) = block.bounded_work(bodies);
        lent += block.held_work(bodies) + limits;
        // What closes a small gap goes there and stops.
        let closes = |i: usize| {
            let speed = block.closing[i] / h;
            if block.diagonal[i] > 0.0 {
                speed * speed / block.diagonal[i]
            } else {
                0.0
            }
        };
        own += (0..block.held.count).map(closes).sum::<f64>();
        own += motors.abs() + block.prescribed_work(bodies, motion).abs();
    }
    // What is not a number is too much.
    !(lent <= LOAN * own)
}

/// Whether rows of an island miss by much of a speed that is far above every speed they were given.
fn is_absurd(model: &Model, state: &State, h: f64, number: usize, stage: &Scratch) -> bool {
    let reach = |slot: u32| {
        let body = model.bodies.get(slot as usize).and_then(|b| b.as_ref());
        body.map_or(0.0, |b| if b.reach.is_finite() { b.reach } else { 0.0 })
    };
    let (mut before, mut after) = (model.gravity.length() * h, 0.0_f64);
    let mut finite = true;
    for slot in ends(stage, number) {
        let (s, solved) = (&state.bodies[slot as usize], &stage.bodies[slot as usize]);
        before = before.max(s.velocity.length() + s.angular_velocity.length() * reach(slot));
        after = after.max(solved.v.length() + solved.w.length() * reach(slot));
        finite &= solved.v.is_finite() && solved.w.is_finite();
    }
    if !finite {
        return true;
    }
    if after <= GROWTH * before {
        return false;
    }
    let island = &stage.islands[number];
    let (rows, blocks) = (
        &stage.rows[island.rows.clone()],
        &stage.joint_blocks[island.joint_blocks.clone()],
    );
    let contacts = &stage.step_contacts[island.rows.clone()];
    let mut missed: f64 = 0.0;
    for (row, _) in rows.iter().zip(contacts).filter(|(_, t)| !t.awaited) {
        let [normal, _, tangential] = row.residuals(&stage.bodies);
        missed = missed.max(normal).max(tangential);
        before = before.max(given_speed(row, &stage.bodies));
    }
    for block in blocks {
        missed = missed.max(block.velocity_residual(&stage.bodies));
        let lever = reach(block.a).max(reach(block.b)).max(1.0);
        for target in block.target {
            before = before.max(target.abs() * lever);
        }
        for row in block.bounded.iter().filter(|b| b.low < b.high) {
            before = before.max(row.target.abs() * lever);
        }
    }
    after > GROWTH * before && missed > MET * after
}

/// The speed that a row was given by a prescribed side or by its target [m/s].
fn given_speed(row: &ContactRow, bodies: &Bodies) -> f64 {
    let side = |slot: u32, r: Vec3| {
        let body = &bodies[slot as usize];
        if body.inverse_mass == 0.0 {
            body.at(r).length()
        } else {
            0.0
        }
    };
    let given = side(row.a, row.lever_a()).max(side(row.b, row.lever_b()));
    given.max(row.target_n)
}

/// Answers a half of an island again, from the velocities before its solve: what approaches is stopped, impulse after impulse, until
/// nothing does or the limit on passes is met. Bounces, motors and positions have no part in it.
fn stop_island(half: Half, state: &State, h: f64, number: usize, stage: &mut Scratch) {
    let slots: Vec<u32> = ends(stage, number).collect();
    let Scratch {
        bodies,
        step_contacts,
        rows,
        joint_blocks,
        islands,
        ..
    } = stage;
    for slot in slots {
        restore(state, slot, bodies);
    }
    let island = &islands[number];
    let (rows, contacts) = (
        &mut rows[island.rows.clone()],
        &mut step_contacts[island.rows.clone()],
    );
    let blocks = &mut joint_blocks[island.joint_blocks.clone()];
    for (row, contact) in rows.iter_mut().zip(contacts.iter_mut()) {
        row.clear();
        row.target_t = [0.0; 2];
        row.target_n = match half {
            Half::First => -contact.gap_start.max(0.0) / h,
            Half::Second => 0.0,
        };
        (contact.bounce, contact.struck) = (None, false);
    }
    blocks.iter_mut().for_each(JointBlock::let_go);
    let takes_part = |t: &StepContact| match half {
        Half::First => !t.awaited,
        Half::Second => t.projected,
    };
    stop(rows, blocks, bodies, |k| takes_part(&contacts[k]));
}

/// Stops what approaches beyond its target, joints and the rows that take part, impulse after impulse.
pub(crate) fn stop(
    rows: &mut [ContactRow],
    blocks: &mut [JointBlock],
    bodies: &mut Bodies,
    takes_part: impl Fn(usize) -> bool,
) {
    for pass in 0..PASSES_MAX {
        let mut missed: f64 = 0.0;
        for block in blocks.iter_mut() {
            missed = missed.max(block.stop(bodies));
        }
        let count = rows.len();
        for k in 0..count {
            let k = if pass % 2 == 0 { k } else { count - 1 - k };
            if takes_part(k) {
                missed = missed.max(rows[k].stop(bodies));
            }
        }
        if missed <= STOPPED {
            break;
        }
    }
}

/// Takes a body or a whole tree back to its velocities before the solve.
fn restore(state: &State, slot: u32, bodies: &mut Bodies) {
    let one = |slot: u32, bodies: &mut Bodies| {
        let s = &state.bodies[slot as usize];
        let body = &mut bodies.flat[slot as usize];
        (body.v, body.w) = (s.velocity, s.angular_velocity);
    };
    if !bodies.is_link(slot) {
        return one(slot, bodies);
    }
    let tree = bodies.ports[slot as usize].tree as usize;
    bodies.trees[tree].impulse.fill(0.0);
    bodies.trees[tree].error = None;
    for k in 0..bodies.trees[tree].links.len() {
        let slot = bodies.trees[tree].links[k].1;
        one(slot, bodies);
    }
}

/// Takes energy out of a group's motion; returns how much there was to take [J].
fn slow_down(model: &Model, root: u32, gain: f64, balance: &mut Balance, state: &mut State) -> f64 {
    let slots: Vec<usize> = model
        .present()
        .filter(|(i, b)| b.is_awake() && balance.root(*i as u32) == root)
        .map(|(i, _)| i)
        .collect();
    let linked = slots.iter().any(|&i| model.is_link(i as u32));
    let still = linked || balance.is_anchored(root as usize);
    let common = if still {
        Rigid::default()
    } else {
        Rigid::of(model, &slots, state)
    };
    let mut relative = 0.0;
    for &i in &slots {
        if let Some(body) = &model.bodies[i] {
            relative += energy::kinetic(body, &common.without(&state.bodies[i]));
        }
    }
    let kept = (1.0 - gain / relative).max(0.0).sqrt();
    if !kept.is_finite() {
        return 0.0;
    }
    for &i in &slots {
        let s = &mut state.bodies[i];
        let rest = common.without(s);
        s.velocity += rest.velocity * (kept - 1.0);
        s.angular_velocity += rest.angular_velocity * (kept - 1.0);
        let Some(body) = &model.bodies[i] else {
            continue;
        };
        if let BodyKind::Link {
            articulation,
            link: 0,
        } = body.kind
        {
            let tree = &mut state.articulations[articulation as usize];
            tree.velocities.iter_mut().for_each(|q| *q *= kept);
        }
    }
    // What the motion relative to each other did not have came from impulses that left a moment over: all motion pays for it.
    let mut taken = gain.min(relative);
    if gain > relative && !still {
        let all = |state: &State| -> f64 {
            let kinetic = |&i: &usize| {
                let body = model.bodies[i].as_ref();
                body.map_or(0.0, |b| energy::kinetic(b, &state.bodies[i]))
            };
            slots.iter().map(kinetic).sum()
        };
        let (left, rest) = (gain - relative, all(state));
        let kept = (1.0 - left / rest).max(0.0).sqrt();
        if kept.is_finite() {
            for &i in &slots {
                state.bodies[i].velocity *= kept;
                state.bodies[i].angular_velocity *= kept;
            }
            taken += left.min(rest);
        }
    }
    taken
}

/// The motion that a group would have as one rigid body with its momenta.
#[derive(Clone, Copy, Debug, Default)]
struct Rigid {
    x: Vec3,
    v: Vec3,
    w: Vec3,
}

impl Rigid {
    fn of(model: &Model, slots: &[usize], state: &State) -> Self {
        let (mut mass, mut x, mut p) = (0.0, Vec3::ZERO, Vec3::ZERO);
        let bodies = || {
            let one = |&i: &usize| model.bodies[i].as_ref().map(|b| (b, &state.bodies[i]));
            slots.iter().filter_map(one)
        };
        for (body, s) in bodies() {
            mass += body.mass;
            x += s.position * body.mass;
            p += s.velocity * body.mass;
        }
        let (x, v) = (x / mass, p / mass);
        let (mut l, mut inertia) = (Vec3::ZERO, Mat3::ZERO);
        for (body, s) in bodies() {
            let r = s.position - x;
            l += r.cross(s.velocity - v) * body.mass + energy::spin_momentum(body, s);
            let axes = Mat3::from_quat(s.rotation * body.axes);
            let outer = Mat3::from_cols(r * r.x, r * r.y, r * r.z);
            inertia += axes * Mat3::from_diagonal(body.moments) * axes.transpose()
                + (Mat3::from_diagonal(Vec3::splat(r.length_squared())) - outer) * body.mass;
        }
        let w = inertia.inverse() * l;
        let w = if w.is_finite() { w } else { Vec3::ZERO };
        Self { x, v, w }
    }

    /// What a body does beyond it.
    fn without(&self, s: &BodyState) -> BodyState {
        BodyState {
            velocity: s.velocity - self.v - self.w.cross(s.position - self.x),
            angular_velocity: s.angular_velocity - self.w,
            ..*s
        }
    }
}
