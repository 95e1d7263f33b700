//! Touches: what a step knows of each contact, and the rows it makes of them for its two solves.
//!
//! Reads: Model, State (memory of the last step), Detection, predicted states.  Writes: touches, rows, solver bodies.
//! Called by: the methods that step in two halves.
//! Source: docs/methods.md, "Time and velocity" and "Impact time inside the step". Letters: u = u_B − u_A, n from A to B.

use super::bounce::{Bounce, bounce};
use super::net::JOINTS_MIN;
use super::row::{Row, SolverBody};
use super::trees::Bodies;
use super::{Part, Scratch, Settings, joints};
use crate::collide::{Contact, Placement};
use crate::dynamics::impulse::inverse_inertia;
use crate::dynamics::integrate;
use crate::dynamics::joint::rotation_vector;
use crate::math::Vec3;
use crate::model::{BodyKind, Joint, Model};
use crate::state::{BodyState, ContactMemory, State};
use crate::work::Work;

/// What a step knows of one contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// Position in the list of contacts.
    pub contact: u32,
    /// What the last step remembers of it; zeros if it is new.
    pub memory: ContactMemory,
    /// Whether the last step knew it.
    pub known: bool,
    /// Whether it carried load in the last step.
    pub loaded: bool,
    /// Gap at t [m].
    pub gap_start: f64,
    /// Depth at t as a negative number, 0 if apart: the gap that a resting contact keeps [m].
    pub base: f64,
    /// Gap that the first solve aims at [m].
    pub goal: f64,
    /// The bounce of a contact that arrives in this step.
    pub bounce: Option<Bounce>,
    /// Whether it arrives faster than a fall of two steps' length: an impact, not a cold start.
    pub hit: bool,
    /// Whether the first solve confirmed the arrival by pressing.
    pub struck: bool,
    /// Impulse on B of an impact at the start of the step, answered before the first solve [N·s].
    pub impact: Vec3,
    /// Speed of approach of that impact [m/s]; 0 if there was none.
    pub impact_speed: f64,
    /// Whether the step ends before it arrives, so that the solves have no row for it.
    pub awaited: bool,
    /// Whether the second solve has a row for it.
    pub projected: bool,
    /// Mean slip over the step that friction cannot answer: what there was before the contact arrived [m/s].
    pub slip_before: Vec3,
    /// Velocity of B relative to A before the impulses of the solve under way [m/s]; for the ledger.
    pub velocity_before: Vec3,
    /// Angular velocity of B relative to A before those impulses [rad/s]; for the ledger.
    pub spin_before: Vec3,
    /// Impulse of the first solve on B [N·s].
    pub first: Vec3,
    /// Gap at t + h after the pose-only pass [m]. Written by `second_rows`.
    pub gap_end: f64,
    /// Middle between its two points there [m].
    pub point_end: Vec3,
}

/// Gap at the end of the step under which a contact that bore load still counts as touching, relative to the bodies' reach [1].
const TOUCHING: f64 = 1e-8;
/// Gap that a contact of a link which bore load keeps [m].
const KEPT: f64 = 1e-7;
/// Part of the way of a fast pair in the step that rounding may show as acceleration [1].
const ROUNDING: f64 = 1e-11;
/// Slip above which a new contact starts as sliding, relative to 1 m/s [m/s].
const SLIDING: f64 = 1e-9;

/// No memory.
const NONE: u32 = u32::MAX;

/// Makes one touch for each contact, grouped by island, with the memory of the last step.
pub(crate) fn gather(model: &Model, state: &State, work: &mut Work, h: f64) {
    let contacts = &work.detection.contacts;
    let world = model.bodies.len() as u32;
    let dynamic = |slot: u32| model.is_awake(slot);
    let joints = &mut work.halves.joints;
    joints.clear();
    let hold = &work.hold;
    let moves = |slot: u32| dynamic(slot) && !hold.holds(slot);
    let stirs = |j: &Joint| moves(j.b) || j.a.is_some_and(moves);
    let present = model.present_joints().filter(|(_, j)| stirs(j));
    joints.extend(present.map(|(i, _)| i as u32));
    let ends = |&i: &u32| {
        model.joints[i as usize]
            .as_ref()
            .map_or((world, world), |j| (j.a.unwrap_or(world), j.b))
    };
    let pairs = contacts
        .iter()
        .map(|c| (c.key.pair.body_a, c.key.pair.body_b))
        .chain(joints.iter().map(ends));
    // A tree is one node: its links stand for the first of them.
    let pairs = pairs.map(|(a, b)| (model.node_of(a), model.node_of(b)));
    work.islands.build(model.bodies.len() + 1, dynamic, pairs);

    // Both lists are sorted by key: one pass matches them.
    let scratch = &mut work.halves;
    scratch.supported.clear();
    scratch.supported.resize(model.bodies.len(), false);
    for (_, joint) in model.present_joints() {
        if joint.desc.kind.rank() == 0 {
            continue;
        }
        scratch.supported[joint.b as usize] = true;
        if let Some(a) = joint.a {
            scratch.supported[a as usize] = true;
        }
    }
    scratch.remembered.clear();
    let mut at = 0;
    for c in contacts {
        while state.contacts.get(at).is_some_and(|m| m.key < c.key) {
            at += 1;
        }
        let known = state.contacts.get(at).filter(|m| m.key == c.key);
        scratch.remembered.push(known.map_or(NONE, |_| at as u32));
        if known.is_some_and(is_loaded) {
            // A floor is held up by nobody: what rests on it says nothing about what else falls on it.
            for slot in [c.key.pair.body_a, c.key.pair.body_b] {
                scratch.supported[slot as usize] |= dynamic(slot);
            }
        }
    }
    group(model, state, work, h);
}

/// Whether the last step left a contact with load.
fn is_loaded(m: &ContactMemory) -> bool {
    m.first.normal + m.second.normal > 0.0
}

/// Makes the touches, and puts them and the joints into the order of the islands. Within an island contacts come before joints, as they
/// were numbered; the joints of a net are with it.
fn group(model: &Model, state: &State, work: &mut Work, h: f64) {
    let contacts = &work.detection.contacts;
    let count = contacts.len() as u32;
    let stretch = state.stretch(h);
    let Scratch {
        touches,
        joints,
        parts,
        remembered,
        ungrouped,
        nets,
        net_cost,
        ..
    } = &mut work.halves;
    std::mem::swap(joints, ungrouped);
    touches.clear();
    joints.clear();
    // Nets are handed out in the order they came, so that each finds its own.
    nets.extend(parts.drain(..).rev().filter_map(|p| p.net));
    for island in 0..work.islands.count() {
        let start = (touches.len(), joints.len());
        for &item in &work.islands.order[work.islands.range(island)] {
            if item < count {
                let memory = state.contacts.get(remembered[item as usize] as usize);
                let c = &contacts[item as usize];
                touches.push(Touch::of(model, c, item, memory, stretch));
            } else {
                joints.push(ungrouped[(item - count) as usize]);
            }
        }
        let count = joints.len() - start.1;
        let meshed = touches.len() == start.0 && count >= JOINTS_MIN;
        let mut net = None;
        let mut netted = false;
        if let (true, Some(cost)) = (meshed, *net_cost) {
            let mut it = nets.pop().unwrap_or_default();
            netted = it.takes(model, &joints[start.1..], cost * count as f64);
            net = Some(it);
        }
        if netted {
            joints.truncate(start.1);
        }
        parts.push(Part {
            rows: start.0..touches.len(),
            links: start.1..joints.len(),
            direct: true,
            kept: 1.0,
            old: false,
            stuck: false,
            trees: false,
            net,
            netted,
        });
    }
}

impl Touch {
    fn new(contact: u32) -> Self {
        Self {
            contact,
            memory: ContactMemory::default(),
            known: false,
            loaded: false,
            gap_start: 0.0,
            base: 0.0,
            goal: 0.0,
            bounce: None,
            hit: false,
            struck: false,
            impact: Vec3::ZERO,
            impact_speed: 0.0,
            awaited: false,
            projected: false,
            slip_before: Vec3::ZERO,
            velocity_before: Vec3::ZERO,
            spin_before: Vec3::ZERO,
            first: Vec3::ZERO,
            gap_end: 0.0,
            point_end: Vec3::ZERO,
        }
    }

    /// The touch of a contact, with what the last step remembers of it.
    fn of(
        model: &Model,
        c: &Contact,
        number: u32,
        memory: Option<&ContactMemory>,
        stretch: f64,
    ) -> Self {
        let mut touch = Self::new(number);
        touch.gap_start = c.point.gap;
        touch.base = c.point.gap.min(0.0);
        if let Some(m) = memory {
            touch.memory = *m;
            touch.memory.first = m.first.scaled(stretch);
            touch.memory.second = m.second.scaled(stretch);
            touch.known = true;
            touch.loaded = is_loaded(m);
            // What rounding has left open at a link stays so: a wedged tree cannot close it.
            let ends = [c.key.pair.body_a, c.key.pair.body_b];
            if touch.loaded
                && c.point.gap > 0.0
                && c.point.gap < KEPT
                && ends.iter().any(|&s| model.is_link(s))
            {
                touch.base = c.point.gap;
            }
        }
        touch
    }

    /// Whether it is apart, or known and not struck: nothing new.
    pub(crate) fn is_old(&self) -> bool {
        !self.hit && (self.known || self.gap_start > 0.0)
    }

    /// Aims the first solve's row at the bounce of a confirmed arrival instead of at touching.
    pub(crate) fn aim_at_bounce(&mut self, row: &mut Row, h: f64) {
        if let Some(b) = self.bounce {
            self.struck = true;
            row.target_n += b.gap_end / h;
            self.goal += b.gap_end;
        }
    }
}

/// Fills the solver bodies from the state.
pub(crate) fn load_bodies(model: &Model, state: &State, contacts: &[Contact], out: &mut Bodies) {
    out.flat.clear();
    out.flat.extend(
        state
            .bodies
            .iter()
            .zip(&model.bodies)
            .map(|(s, body)| match body {
                Some(body) => SolverBody {
                    v: s.velocity,
                    w: s.angular_velocity,
                    inverse_mass: body.inverse_mass,
                    inverse_inertia: inverse_inertia(body, s),
                },
                None => SolverBody::FIXED,
            }),
    );
    // The world, as a side of joints.
    out.flat.push(SolverBody::FIXED);
    let touched = contacts
        .iter()
        .flat_map(|c| [c.key.pair.body_a, c.key.pair.body_b]);
    let joined = model
        .present_joints()
        .flat_map(|(_, j)| [j.a.unwrap_or(u32::MAX), j.b]);
    out.load_trees(model, state, touched.chain(joined));
}

/// When a contact that bore load is at rest, so that restitution plays no part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resting {
    /// Fastest it may approach or part [m/s].
    pub speed: f64,
    /// Least load it must have borne in the first half, as a change of velocity [m/s].
    pub load: f64,
    /// Speed of arrival below which no contact bounces, whatever it bore [m/s].
    pub slow: f64,
}

impl Resting {
    /// Whether a contact with this row and normal velocity is at rest.
    pub(crate) fn holds(&self, touch: &Touch, row: &Row, u_n: f64) -> bool {
        touch.loaded
            && u_n.abs() <= self.speed
            && touch.memory.first.normal * row.response_n() >= self.load
    }
}

/// Rows at t: aim at positions at t + h, and at zero mean slip over the step.
pub(crate) fn first_rows(
    model: &Model,
    settings: &Settings,
    resting: &Resting,
    state: &State,
    work: &mut Work,
    h: f64,
) {
    let Scratch {
        bodies,
        touches,
        rows,
        supported,
        ..
    } = &mut work.halves;
    load_bodies(model, state, &work.detection.contacts, bodies);
    rows.clear();
    let gravity = model.gravity.length();
    for touch in touches.iter_mut() {
        let c = &work.detection.contacts[touch.contact as usize];
        let (a, b) = c.bodies();
        let mut row = new_row(c, &placement(c), &state.bodies, bodies);
        let u = row.velocity(bodies);
        touch.velocity_before = u;
        touch.spin_before = row.spin(bodies);
        let u_n = u.dot(row.n);

        // Where the contact would be, untouched.
        let (then_a, then_b) = (&work.predicted[a], &work.predicted[b]);
        let then = c.at(then_a, then_b);
        let u_then = then_b.point_velocity(then.point_b) - then_a.point_velocity(then.point_a);

        // Normal: gap(t+h) = gap_free(t+h) + h (u_n⁺ − u_n) ≥ base.
        touch.goal = touch.base;
        row.target_n = u_n + (touch.base - then.gap) / h;

        // Tangential: ½ [u_t(t⁺) + u_t(t+h)⁻] = 0, or the slip before the impact of a contact that arrives.
        if !resting.holds(touch, &row, u_n) {
            // A fast pair is followed from where it was seen, all others from the start of the step.
            let (gap, u_n, left) = if c.seen > 0.0 {
                let (gap, u_n) = seen(model, state, c);
                (gap.max(0.0), u_n, h - c.seen)
            } else {
                (c.point.gap - touch.base, u_n, h)
            };
            // Free bodies fall during the step; bodies that others hold up do not. In the short rest after a fast arrival rounding is no fall.
            let fall = then.gap - touch.base - gap - u_n * left;
            let rounding = c.seen > 0.0 && fall.abs() <= ROUNDING * u_n.abs() * h;
            let falling = if supported[a] || supported[b] || left <= 0.0 || rounding {
                0.0
            } else {
                2.0 * fall / (left * left)
            };
            touch.bounce = bounce(gap, u_n, falling, c.surface.restitution, left)
                .filter(|b| b.speed >= resting.slow)
                .map(|b| Bounce {
                    time: b.time + c.seen,
                    ..b
                });
        }
        touch.hit = touch
            .bounce
            .is_some_and(|b| b.speed > 2.0 * gravity * h + settings.velocity_tolerance);
        let before_impact = touch.bounce.map_or(0.0, |b| b.time / h);
        let (u_t, u_t_then) = (row.tangential(u), row.tangential(u_then));
        touch.slip_before = (u - row.n * u_n) * before_impact;
        for k in 0..2 {
            row.target_t[k] = 0.5 * (u_t[k] - u_t_then[k]) + before_impact * u_t[k];
        }
        if row.linked {
            let mean = link_slip(
                model,
                &row,
                [a, b],
                bodies,
                &state.bodies,
                &work.predicted,
                &then,
                h,
            );
            let slip = row.tangential(u - mean);
            row.target_t = [0, 1].map(|k| slip[k] + before_impact * u_t[k]);
        }
        row.sliding = if touch.known {
            touch.memory.sliding
        } else {
            u_t[0] * u_t[0] + u_t[1] * u_t[1] > SLIDING * SLIDING
        };
        rows.push(row);
    }
    let warm = settings.warm_start;
    joints::first_links(model, state, &work.predicted, &mut work.halves, h, warm);
    let Scratch {
        bodies,
        touches,
        rows,
        ..
    } = &mut work.halves;
    if settings.warm_start {
        for (row, touch) in rows.iter_mut().zip(touches.iter()) {
            row.warm_start(&touch.memory.first, bodies);
        }
        joints::warm_first(state, &mut work.halves, h);
    }
}

/// Turn in a step beyond which its rotation vector says too little of its course [rad].
const TURN_MAX: f64 = 2.0;

/// Mean velocity of B relative to A at a contact with an end on a link, by the way that the touching points make in the step. Forces
/// that fade within the step (joint friction) make the ends of the step a poor mean; and what is counted like the gaps and the limits
/// agrees with them where links are wedged between more of them than they have freedoms. The way of a point is that of the centre of
/// mass and the turn on the mean of its levers at both ends of the step, ∫ω × r dt to third order in h: a disk that rolls on its rim
/// touches with another point at the end. An end that is no link counts by its velocities at both ends of the step, as everywhere else.
pub(crate) fn link_slip(
    model: &Model,
    row: &Row,
    [a, b]: [usize; 2],
    bodies: &[SolverBody],
    now: &[BodyState],
    then: &[BodyState],
    place: &Placement,
    h: f64,
) -> Vec3 {
    let way = |i: usize, lever: Vec3, point: Vec3| {
        let (s, e) = (&now[i], &then[i]);
        let body = model.bodies[i].as_ref();
        if !body.is_some_and(|b| matches!(b.kind, BodyKind::Link { .. })) {
            let u = bodies[i].v + bodies[i].w.cross(lever);
            return 0.5 * (u + e.point_velocity(point)) * h;
        }
        let mean = 0.5 * (bodies[i].w + e.angular_velocity) * h;
        let turn = if mean.length() < TURN_MAX {
            rotation_vector(e.rotation * s.rotation.conjugate())
        } else {
            mean
        };
        let then = point - e.position;
        e.position - s.position + turn.cross(0.5 * (lever + then))
    };
    (way(b, row.lever_b(), place.point_b) - way(a, row.lever_a(), place.point_a)) / h
}

/// Gap and normal velocity of a contact at the time at which its fast pair was seen.
fn seen(model: &Model, state: &State, c: &Contact) -> (f64, f64) {
    let at = |slot: usize| match &model.bodies[slot] {
        Some(body) => {
            let a = integrate::acceleration(model, body, &state.loads[slot]);
            integrate::advance(body, &state.bodies[slot], a, state.time, c.seen)
        }
        None => BodyState::REST,
    };
    let (i, j) = c.bodies();
    let (a, b) = (at(i), at(j));
    let place = c.at(&a, &b);
    let u = b.point_velocity(place.point_b) - a.point_velocity(place.point_a);
    (place.gap, u.dot(place.normal))
}

/// Rows at t + h over contacts that rested or bore load in this step: no normal velocity into the contact, no slip.
pub(crate) fn second_rows(
    model: &Model,
    settings: &Settings,
    state: &State,
    work: &mut Work,
    h: f64,
) {
    let Scratch {
        bodies,
        touches,
        rows,
        ..
    } = &mut work.halves;
    load_bodies(model, state, &work.detection.contacts, bodies);
    for (touch, row) in touches.iter_mut().zip(rows.iter_mut()) {
        let c = &work.detection.contacts[touch.contact as usize];
        let (a, b) = c.bodies();
        let place = c.at(&state.bodies[a], &state.bodies[b]);
        touch.gap_end = place.gap;
        touch.point_end = 0.5 * (place.point_a + place.point_b);
        touch.first = row.impulse();
        touch.memory.first = row.memory();
        let size = reach(model, a).min(reach(model, b));
        touch.projected =
            row.p_n > 0.0 || (touch.loaded && place.gap <= touch.base + TOUCHING * size);
        if !touch.projected && touch.impact == Vec3::ZERO {
            row.clear();
            continue;
        }
        let sliding = row.sliding;
        *row = new_row(c, &place, &state.bodies, bodies);
        row.sliding = sliding;
        if let (true, Some(b)) = (touch.struck, touch.bounce) {
            row.target_n = b.velocity_end;
        }
        // At rest each half bears half the load: what a new contact bore in the first is the best guess for the second.
        if !touch.known && !touch.hit {
            touch.memory.second = touch.memory.first;
        }
        touch.velocity_before = row.velocity(bodies);
        touch.spin_before = row.spin(bodies);
    }
    joints::second_links(model, state, &mut work.halves, h);
    let Scratch {
        bodies,
        touches,
        rows,
        ..
    } = &mut work.halves;
    if settings.warm_start {
        for (row, touch) in rows.iter_mut().zip(touches.iter()) {
            if touch.projected {
                row.warm_start(&touch.memory.second, bodies);
            }
        }
        joints::warm_second(state, &mut work.halves, h);
    }
}

/// The row of a contact at a placement.
pub(crate) fn new_row(
    c: &Contact,
    place: &Placement,
    states: &[BodyState],
    bodies: &Bodies,
) -> Row {
    let (a, b) = c.bodies();
    let centers = (states[a].position, states[b].position);
    Row::new(
        (a as u32, b as u32),
        place,
        centers,
        bodies,
        &c.surface,
        c.point.rolling_radius,
    )
}

/// Where detection found a contact.
pub(crate) fn placement(c: &Contact) -> Placement {
    let p = &c.point;
    Placement {
        normal: p.normal,
        point_a: p.point_a,
        point_b: p.point_b,
        gap: p.gap,
    }
}

fn reach(model: &Model, slot: usize) -> f64 {
    model.bodies[slot].as_ref().map_or(f64::INFINITY, |b| {
        if b.is_awake() { b.reach } else { f64::INFINITY }
    })
}
