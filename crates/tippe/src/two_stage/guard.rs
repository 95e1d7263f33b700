//! The guard: what a group of bodies gained in a substep, beyond every work put in, does not stay in its motion.
//!
//! Solves that end at their limit, look-aheads round sharp edges and rows that contradict each other can all make energy. Whatever made it,
//! it is taken back: by resistance at the contacts that bore load, and where that does not do, by slowing the group down, relative to its own
//! rigid motion if it leans on nothing, so that momentum and angular momentum stay, else relative to what carries it.
//!
//! Reads: Model, balance of the substep.  Writes: velocities of the state, ledger and counts of the report.
//! Called by: the methods that step in two stages, after their solves; `finish`.
//! Source: docs/methods/two-stage.md, "The guard".

#![allow(non_snake_case)]

use crate::articulated::Joint;
use crate::dynamics::energy;
use crate::material::ImpactLaw;
use crate::math::{Mat3, Vec3};
use crate::model::{Body, BodyKind, Model};
use crate::output::balance::{Balance, Support};
use crate::report::StepReport;
use crate::solver::contact::ContactRow;
use crate::solver::ends::{Bodies, matrix};
use crate::solver::joint::JointBlock;
use crate::state::{BodyState, State};
use crate::two_stage::Scratch;
use crate::two_stage::misfit::CLOSING_VELOCITY;
use crate::work::Work;
use std::collections::BTreeMap;

/// Part of a group's energy below which a gain is left to the report [1]: rounding of long sums, and of what oscillates about zero.
const GUARD_LEAST: f64 = 1e-9;
/// The same where nothing hit and every loop arrived [1]: there gains are errors of second order in the step, which later steps take back; to
/// take them away would be damping.
const SMOOTH_MOST: f64 = 2e-3;
/// The same for joints: at coarse steps a mechanism lends itself much more than contacts do.
const SMOOTH_MOST_JOINED: f64 = 0.25;
/// Velocity left in a row that counts as met [m/s].
const ARRIVED: f64 = 1e-6;
/// Part of it that is worth slowing a group down, beyond what its contacts can take [1]; with joints, which hide what contacts do, less is.
const SLOWED_LEAST: f64 = 1e-4;
const SLOWED_LEAST_JOINED: f64 = 1e-6;

/// Growth of the fastest speed of an island in one solve that is not believed [1]: a light body between heavy ones may be thrown at several
/// times their speed, and not at this many.
const ABSURD: f64 = 16.0;
/// Growth that is left of it [1], and that is believed where rows are not met.
const BELIEVED: f64 = 2.0;
/// Part of the fastest speed by which a row may miss its target and count as met [1].
const MISSED: f64 = 0.1;

/// A rigid motion: velocity at the origin and spin.
#[derive(Clone, Copy, Debug, Default)]
struct Rigid {
    v: Vec3,
    w: Vec3,
}

impl Rigid {
    fn at(&self, x: Vec3) -> Vec3 {
        self.v + self.w.cross(x)
    }
}

/// Scratch of the guard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// Those that have gained are first.
    found: Vec<Group>,
    /// By slot of a root: the place of its group.
    places: Vec<usize>,
}

/// Bodies that exchanged impulses in the substep and gained energy: their slots, contact rows and joint blocks.
#[derive(Clone, Debug, Default)]
struct Group {
    root: usize,
    slots: Vec<u32>,
    rows: Vec<usize>,
    blocks: Vec<usize>,
    /// Whether links are part of it.
    linked: bool,
}

impl Group {
    fn begin(&mut self, root: usize) {
        self.root = root;
        self.slots.clear();
        self.rows.clear();
        self.blocks.clear();
        self.linked = false;
    }

    /// Whether joints hold it, or links are part of it.
    fn is_joined(&self) -> bool {
        self.linked || !self.blocks.is_empty()
    }
}

impl Groups {
    /// Finds the groups that have gained, by their roots, each with its rows and blocks: one walk over bodies, rows and blocks. Returns how
    /// many there are.
    fn find(&mut self, model: &Model, balance: &mut Balance, stage: &Scratch) -> usize {
        const NONE: usize = usize::MAX;
        let Self { found, places } = self;
        places.clear();
        places.resize(balance.slots(), NONE);
        let mut count = 0;
        for root in 0..balance.slots() {
            if balance.gain(root).0 > 0.0 {
                if found.len() == count {
                    found.push(Group::default());
                }
                found[count].begin(root);
                places[root] = count;
                count += 1;
            }
        }
        let mut of = |slot: u32| {
            let body = model.bodies.get(slot as usize).and_then(Option::as_ref);
            let moves = body.is_some_and(Body::is_awake);
            let place = moves.then(|| places[balance.root(slot) as usize]);
            place.filter(|&place| place != NONE)
        };
        for slot in 0..model.bodies.len() as u32 {
            if let Some(group) = of(slot) {
                found[group].slots.push(slot);
                found[group].linked |= stage.bodies.is_link(slot);
            }
        }
        for (i, row) in stage.rows.iter().enumerate() {
            if let Some(group) = of(row.a).or_else(|| of(row.b)) {
                found[group].rows.push(i);
            }
        }
        for (i, block) in stage.joint_blocks.iter().enumerate() {
            if let Some(group) = of(block.a).or_else(|| of(block.b)) {
                found[group].blocks.push(i);
            }
        }
        count
    }
}

/// Takes from every group what it has gained; counts them. `turn` as in `Balance::sum_up`.
pub(crate) fn settle(
    model: &Model,
    turn: f64,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) {
    if !work.balance.sum_up(model, state, turn, report.dt) {
        return;
    }
    let mut groups = std::mem::take(&mut work.groups);
    let count = groups.find(model, &mut work.balance, &work.stage);
    for group in &groups.found[..count] {
        settle_group(model, group, state, work, report);
    }
    work.groups = groups;
}

/// Takes from one group what it has gained.
fn settle_group(
    model: &Model,
    group: &Group,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let (gain, support) = work.balance.gain(group.root);
    let moving = kinetic(model, &group.slots, state);
    let scale = moving + weight_times_size(model, &group.slots);
    // Mechanisms that touch nothing swing on what they lend themselves, whoever asks.
    let strict = work.stage.strict && !group.rows.is_empty();
    let least = match (is_smooth(work, group), group.is_joined()) {
        _ if strict => GUARD_LEAST,
        (true, true) => SMOOTH_MOST_JOINED,
        (true, false) => SMOOTH_MOST,
        (false, _) => GUARD_LEAST,
    };
    if gain <= least * scale || obeys_newton(work, group) {
        return;
    }
    // Resistance at contacts would pull at joints.
    let (mut taken, slowed) = if group.is_joined() {
        (0.0, SLOWED_LEAST_JOINED)
    } else {
        let taken = resist(model, group, gain, state, work, report);
        (taken, SLOWED_LEAST)
    };
    // What is crushed has no motion of its own to keep.
    let slowed = if strict || work.balance.is_forced(group.root) {
        GUARD_LEAST
    } else {
        slowed
    };
    let mut carried = false;
    if gain - taken > slowed * scale
        && let Some(reference) = reference(model, state, &group.slots, support)
    {
        let bodies = &mut work.stage.bodies;
        let left = gain - taken;
        taken += slow_down(model, &group.slots, reference, left, state, bodies, report);
        carried = true;
    }
    work.balance.relieve(group.root, taken, &mut report.energy);
    if carried {
        work.balance.admit(group.root);
    }
    report.work.guarded += u32::from(taken > 0.0);
}

/// Whether nothing hit a group, all its joints fit, and its rows were met.
fn is_smooth(work: &Work, group: &Group) -> bool {
    let stage = &work.stage;
    let mut rows = group
        .rows
        .iter()
        .map(|&i| (&stage.rows[i], &stage.step_contacts[i]));
    let hit = rows.any(|(row, t)| {
        let struck = t.hit || t.struck || t.impact != Vec3::ZERO || t.bounce.is_some();
        struck || (row.p_n > 0.0 && row.residuals(&stage.bodies)[0] > ARRIVED)
    });
    let mut blocks = group.blocks.iter().map(|&i| &stage.joint_blocks[i]);
    !hit && !blocks
        .any(|l| l.misfit.is_some() || l.shocked || l.velocity_residual(&stage.bodies) > ARRIVED)
}

/// Weight times size of the bodies of a group [J].
fn weight_times_size(model: &Model, slots: &[u32]) -> f64 {
    let one = |&slot: &u32| {
        let body = model.bodies[slot as usize].as_ref();
        body.filter(|b| b.reach.is_finite())
            .map_or(0.0, |b| b.mass * b.gravity_scale.abs() * b.reach)
    };
    model.gravity.length() * slots.iter().map(one).sum::<f64>()
}

/// Whether a group was struck by Newton's law, which may make energy; who asks for it gets that, reported.
fn obeys_newton(work: &Work, group: &Group) -> bool {
    group.rows.iter().any(|&i| {
        let t = &work.stage.step_contacts[i];
        let contact = &work.detection.contacts[t.contact as usize];
        let struck = t.impact != Vec3::ZERO || t.struck;
        struck && contact.surface.impact_law == ImpactLaw::Newton
    })
}

/// Takes energy by resistance at the contacts that bore load, against slip, relative spin and parting, so that every change of momentum is
/// an impulse of a contact. Returns how much was taken [J].
fn resist(
    model: &Model,
    group: &Group,
    gain: f64,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> f64 {
    let stage = &mut work.stage;
    let bore = |i: usize| {
        let (row, t) = (&stage.rows[i], &stage.step_contacts[i]);
        row.p_n > 0.0 || t.first != Vec3::ZERO || t.impact != Vec3::ZERO
    };
    let pressed: Vec<usize> = group.rows.iter().copied().filter(|&i| bore(i)).collect();
    // Changes of velocity by a unit of resistance, by slot; what that does to the energy, in the first and the second order.
    let mut change: BTreeMap<u32, (Vec3, Vec3)> = BTreeMap::new();
    let (mut first, mut worked) = (0.0, 0.0);
    let mut wrenches = Vec::with_capacity(pressed.len());
    for &i in &pressed {
        let row = &stage.rows[i];
        let t = &stage.step_contacts[i];
        let pushed = row.p_n + (t.first + t.impact).dot(row.n);
        let (P, W) = row.brake(pushed, &stage.bodies);
        first += P.dot(row.velocity(&stage.bodies)) + W.dot(row.spin(&stage.bodies));
        worked += row.braking_work(P, W, &stage.bodies);
        for (slot, r, sign) in [(row.a, row.r_a, -1.0), (row.b, row.r_b, 1.0)] {
            let body = &stage.bodies[slot as usize];
            let d = change.entry(slot).or_default();
            d.0 += P * (sign * body.inverse_mass);
            d.1 += body.inverse_inertia * ((r.cross(P) + W) * sign);
        }
        wrenches.push((P, W));
    }
    let mut second = 0.0;
    for (&slot, &(v, w)) in &change {
        if let Some(Some(body)) = model.bodies.get(slot as usize) {
            let moved = BodyState {
                velocity: v,
                angular_velocity: w,
                ..state.bodies[slot as usize]
            };
            second += energy::kinetic(body, &moved);
        }
    }
    if !(first < 0.0 && second > 0.0) {
        return 0.0;
    }
    // gain + c first + c² second = 0, or the least there is.
    let inside = first * first - 4.0 * second * gain;
    let c = if inside > 0.0 {
        2.0 * gain / (-first + inside.sqrt())
    } else {
        -0.5 * first / second
    };
    let c = c.min(1.0);
    for (&i, (P, W)) in pressed.iter().zip(wrenches) {
        stage.step_contacts[i].braking = (P * c, W * c);
    }
    for (&slot, &(v, w)) in &change {
        if group.slots.binary_search(&slot).is_ok() {
            let s = &mut state.bodies[slot as usize];
            s.velocity += v * c;
            s.angular_velocity += w * c;
            let body = &mut stage.bodies[slot as usize];
            (body.v, body.w) = (s.velocity, s.angular_velocity);
        }
    }
    report.energy.prescribed += c * worked;
    -(c * first + c * c * second)
}

/// After a solve, before it is booked: takes impulses back, all of an island alike, where they make its bodies absurdly fast beside every speed
/// that they were given. So ends what is crushed between a prescribed body and another, or pushed along a direction that its joints
/// hardly allow. What it leaves open is taken away by pose, or stays and is reported.
pub(crate) fn restrain(model: &Model, state: &State, stage: &mut Scratch, report: &mut StepReport) {
    let Scratch {
        bodies,
        rows,
        joint_blocks,
        islands,
        ends: slots,
        free_speeds,
        ..
    } = stage;
    // Joints may be closed at that speed from rest.
    let slow = CLOSING_VELOCITY;
    for island in islands.iter() {
        let rows = &mut rows[island.rows.clone()];
        let blocks = &mut joint_blocks[island.joint_blocks.clone()];
        slots.clear();
        slots.extend(rows.iter().flat_map(|r| [r.a, r.b]));
        slots.extend(blocks.iter().flat_map(|l| [l.a, l.b]));
        let (mut before, mut after) = (slow.max(model.gravity.length() * report.dt), 0.0_f64);
        let mut finite = true;
        for &slot in slots.iter() {
            let Some(Some(body)) = model.bodies.get(slot as usize) else {
                continue;
            };
            before = before.max(free_speeds.get(slot as usize).copied().unwrap_or(0.0));
            let reach = if body.reach.is_finite() {
                body.reach
            } else {
                0.0
            };
            let speed = |v: Vec3, w: Vec3| v.length() + reach * w.length();
            let (s, solved) = (&state.bodies[slot as usize], &bodies[slot as usize]);
            before = before.max(speed(s.velocity, s.angular_velocity));
            after = after.max(speed(solved.v, solved.w));
            finite &= solved.v.is_finite() && solved.w.is_finite();
        }
        for block in blocks.iter() {
            let joint = model.joints[block.joint as usize].as_ref();
            before = before.max(joint.map_or(0.0, |j| block.drive_speed(j, report.dt)));
        }
        let missed = |r: &ContactRow| r.p_n > 0.0 && r.residuals(bodies)[0] > MISSED * before;
        let is_missed = rows.iter().any(missed);
        if is_missed || after > BELIEVED * before {
            // Links that nothing touches may be thrown all the same.
            let fastest = try_trees(model, state, slots, bodies, report.dt);
            finite &= fastest.is_finite();
            after = after.max(fastest);
        }
        let most = if after > BELIEVED * before && is_missed {
            BELIEVED
        } else {
            ABSURD
        };
        if finite && after <= most * before {
            continue;
        }
        report.work.guarded += 1;
        report.work.caps_hit += 1;
        if finite {
            let part = 1.0 - BELIEVED * before / after;
            rows.iter_mut().for_each(|r| r.take_back(part, bodies));
            blocks.iter_mut().for_each(|l| l.take_back(part, bodies));
        } else {
            rows.iter_mut().for_each(ContactRow::clear);
            blocks.iter_mut().for_each(JointBlock::forget);
            slots.retain(|&s| (s as usize) < state.bodies.len());
            bodies.scale(slots, 0.0);
            for &slot in slots.iter() {
                let s = &state.bodies[slot as usize];
                let body = &mut bodies[slot as usize];
                (body.v, body.w) = (s.velocity, s.angular_velocity);
            }
        }
    }
}

/// The fastest that the impulses of an island make the links of its trees, touched or not [m/s]; infinite where no motion follows from them.
fn try_trees(model: &Model, state: &State, slots: &[u32], bodies: &mut Bodies, h: f64) -> f64 {
    let mut tried = Vec::new();
    let mut fastest: f64 = 0.0;
    for &slot in slots {
        if let Some(BodyKind::Link { articulation, .. }) = kind(model, slot)
            && bodies.is_link(slot)
            && !tried.contains(&articulation)
        {
            tried.push(articulation);
            fastest = fastest.max(bodies.try_out(model, slot, state, h));
        }
    }
    fastest
}

/// What a group is slowed down to; nothing if that cannot be said.
fn reference(model: &Model, state: &State, slots: &[u32], support: Support) -> Option<Rigid> {
    let mut trees = false;
    for &slot in slots {
        if let Some(BodyKind::Link { articulation, .. }) = kind(model, slot) {
            let found = model.articulations.get(articulation as usize)?.as_ref()?;
            // A tree on a base of its own leans on the world; one that floats has a momentum that its joints share.
            let floats = found.tree.links().iter().any(|l| l.joint == Joint::Free);
            if floats && support == Support::Nothing {
                return None;
            }
            trees = true;
        }
    }
    match support {
        Support::Nothing if !trees => rigid_motion(model, state, slots),
        Support::One(slot) if !trees => {
            let s = &state.bodies[slot as usize];
            Some(Rigid {
                v: s.velocity - s.angular_velocity.cross(s.position),
                w: s.angular_velocity,
            })
        }
        _ => Some(Rigid::default()),
    }
}

fn kind(model: &Model, slot: u32) -> Option<BodyKind> {
    let body = model.bodies.get(slot as usize)?.as_ref()?;
    Some(body.kind.clone())
}

/// The rigid motion with the momentum and angular momentum of a group.
fn rigid_motion(model: &Model, state: &State, slots: &[u32]) -> Option<Rigid> {
    let bodies = || {
        slots.iter().filter_map(|&i| {
            let body = model.bodies[i as usize].as_ref()?;
            Some((body, &state.bodies[i as usize]))
        })
    };
    let mass: f64 = bodies().map(|(b, _)| b.mass).sum();
    if mass <= 0.0 {
        return None;
    }
    let center = bodies().map(|(b, s)| s.position * b.mass).sum::<Vec3>() / mass;
    let v = bodies().map(|(b, s)| s.velocity * b.mass).sum::<Vec3>() / mass;
    let spin = |(b, s): (&Body, &BodyState)| {
        (s.position - center).cross((s.velocity - v) * b.mass) + energy::spin_momentum(b, s)
    };
    let momentum: Vec3 = bodies().map(spin).sum();
    let inertia: Mat3 = matrix(|w| {
        let one = |(b, s): (&Body, &BodyState)| {
            let r = s.position - center;
            let turning = BodyState {
                angular_velocity: w,
                ..*s
            };
            r.cross(w.cross(r)) * b.mass + energy::spin_momentum(b, &turning)
        };
        bodies().map(one).sum()
    });
    let w = inertia.inverse() * momentum;
    let w = if w.is_finite() { w } else { Vec3::ZERO };
    Some(Rigid {
        v: v - w.cross(center),
        w,
    })
}

/// Scales the motion of a group relative to a rigid one until it has `gain` less energy there, or none. Returns how much was taken [J].
fn slow_down(
    model: &Model,
    slots: &[u32],
    reference: Rigid,
    gain: f64,
    state: &mut State,
    bodies: &mut Bodies,
    report: &mut StepReport,
) -> f64 {
    let relative = |s: &BodyState| BodyState {
        velocity: s.velocity - reference.at(s.position),
        angular_velocity: s.angular_velocity - reference.w,
        ..*s
    };
    let rests = reference.v == Vec3::ZERO && reference.w == Vec3::ZERO;
    let mut moving = 0.0;
    for &slot in slots {
        if let Some(body) = &model.bodies[slot as usize] {
            // Drives turn with the joints of links, which are slowed down as a whole.
            moving += if rests {
                energy::kinetic_of(model, state, slot as usize, body)
            } else {
                energy::kinetic(body, &relative(&state.bodies[slot as usize]))
            };
        }
    }
    let taken = gain.min(moving);
    if taken.is_nan() || taken <= 0.0 {
        return 0.0;
    }
    let part = ((moving - taken) / moving).max(0.0).sqrt();
    let before = kinetic(model, slots, state);
    let mut trees: Vec<u32> = Vec::new();
    for &slot in slots {
        let s = &mut state.bodies[slot as usize];
        if let Some(BodyKind::Link { articulation, .. }) = kind(model, slot) {
            trees.push(articulation);
            s.velocity *= part;
            s.angular_velocity *= part;
        } else {
            let own = relative(s);
            s.velocity = reference.at(s.position) + own.velocity * part;
            s.angular_velocity = reference.w + own.angular_velocity * part;
        }
        let solved = &mut bodies[slot as usize];
        (solved.v, solved.w) = (s.velocity, s.angular_velocity);
    }
    trees.sort_unstable();
    trees.dedup();
    for tree in trees {
        let rates = &mut state.articulations[tree as usize].velocities;
        rates.iter_mut().for_each(|v| *v *= part);
    }
    // What carries a group is its partner in this: the work it does or takes is its own.
    let worked = kinetic(model, slots, state) - before + taken;
    report.energy.prescribed += worked;
    taken
}

fn kinetic(model: &Model, slots: &[u32], state: &State) -> f64 {
    let one = |&slot: &u32| {
        let body = model.bodies[slot as usize].as_ref();
        body.map_or(0.0, |b| energy::kinetic_of(model, state, slot as usize, b))
    };
    slots.iter().map(one).sum()
}
