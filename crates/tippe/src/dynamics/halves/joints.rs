//! Joints in a step: springs as kicks, links for the two solves, and the look ahead that makes them meet.
//!
//! Reads: Model (joints), State (memory), predicted states.  Writes: links, targets, body velocities (springs).
//! Called by: the methods that step in two halves, `touch`.
//! Source: docs/methods.md, "Joints".

use super::Scratch;
use super::lane::{Island, Lane};
use super::link::{APART, Link, spring_kick};
use super::row::SolverBody;
use super::touch::{Touch, link_slip};
use crate::collide::Contact;
use crate::dynamics::impulse::inverse_inertia;
use crate::dynamics::{energy, integrate};
use crate::math::{Vec3, tangents};
use crate::model::{Body, BodyKind, Model};
use crate::report::EnergyLedger;
use crate::state::{BOUNDED, BodyState, JointMemory, State};

/// Turn of the stiffest mode of a mechanism that one part of a step may take [rad]; beyond 2 the motion would be unstable.
const TURN_MAX: f64 = 0.7;
/// A division into parts is taken back when this many times fewer would do: a step length that changes often costs energy.
const PARTS_SLACK: f64 = 64.0;
/// Where bodies touch, energy is lost anyway, and impacts ask for parts that the rest that follows does not: there a division is halved
/// when so many times fewer would do, in one of so many steps.
const PARTS_SLACK_TOUCHING: f64 = 4.0;
const PARTS_PATIENCE: u64 = 4;
/// Of a net that was divided because it opened, in one of so many: to try and fail costs as much as a part.
const NET_PATIENCE: u64 = 2;
/// Step beside the last one up to which remembered impulses tell where an island goes [1].
pub(crate) const LIKE: f64 = 2.0;
/// Part of the impulses that joints in a loop start from again.
const LOOP_MEMORY: f64 = 0.75;

/// How many parts a step of length `h` is divided into: one, or a power of two with a margin, changed seldom.
pub(crate) fn substeps(model: &Model, state: &State, h: f64) -> u32 {
    let needed = turns(model, state, h);
    let last = state.substeps.max(1);
    // Nets do not ask: they are divided where they stretched, and that is taken back little by little.
    let netted = |m: &JointMemory| m.force == 0.0 && m.first != [0.0; 6];
    if 2.0 * needed <= f64::from(last) && last > 1 && state.joints.iter().any(netted) {
        return if state.step_count.is_multiple_of(NET_PATIENCE) {
            last / 2
        } else {
            last
        };
    }
    if needed > f64::from(last) || needed * PARTS_SLACK < f64::from(last) {
        if needed > 1.0 {
            (2.0 * needed.min(1e6)).ceil() as u32
        } else {
            1
        }
        .next_power_of_two()
    } else if !state.contacts.is_empty()
        && needed * PARTS_SLACK_TOUCHING < f64::from(last)
        && state.step_count.is_multiple_of(PARTS_PATIENCE)
    {
        (last / 2).max(1)
    } else {
        last
    }
}

/// Length of the step in units of what one part may take: a joint under the force F on a lever r lets its bodies swing like
/// pendulums, with ω² ≤ F K / r, and the two halves of a step follow that like a leapfrog.
pub(crate) fn turns(model: &Model, state: &State, h: f64) -> f64 {
    let mut fastest: f64 = 0.0;
    for (i, joint) in model.present_joints() {
        let force = state.joints[i].force;
        if force == 0.0 {
            continue;
        }
        for (slot, local) in [(joint.a, &joint.local_a), (Some(joint.b), &joint.local_b)] {
            let Some(Some(body)) = slot.map(|slot| &model.bodies[slot as usize]) else {
                continue;
            };
            let r = local.position.length();
            if body.is_free() && r > 0.0 {
                fastest = fastest
                    .max(force * (body.inverse_mass + r * r * swing(body, local.position / r)) / r);
            }
        }
    }
    h * fastest.sqrt() / TURN_MAX
}

/// Largest inverse moment of a body about an axis across the direction `d` (body axes) [1/(kg·m²)].
fn swing(body: &Body, d: Vec3) -> f64 {
    let (t1, t2) = tangents(body.axes.conjugate() * d);
    let j = body.inverse_moments;
    let (p, q, r) = (t1.dot(j * t1), t1.dot(j * t2), t2.dot(j * t2));
    0.5 * (p + r) + (0.25 * (p - r) * (p - r) + q * q).sqrt()
}

/// Whether a joint is far from meeting at the start of the step.
pub(crate) fn start_apart(model: &Model, state: &State) -> bool {
    model.present_joints().any(|(_, joint)| {
        let held = joint.place(&state.bodies).held(joint.desc.kind);
        held.residuals[..held.count].iter().any(|r| r.abs() > APART)
    })
}

/// Springs and dampers for half a step; their work is booked with the motors.
pub(crate) fn kick_springs(model: &Model, state: &mut State, half: f64, ledger: &mut EnergyLedger) {
    for (i, joint) in model.present_joints() {
        if joint.desc.rotation.spring.is_none() && joint.desc.translation.spring.is_none() {
            continue;
        }
        debug_assert!(!model.is_linked(joint), "refused by the world");
        if !model.is_awake(joint.b) && !joint.a.is_some_and(|a| model.is_awake(a)) {
            continue;
        }
        let place = joint.place(&state.bodies);
        let slots = [joint.a, Some(joint.b)];
        let mut sides = slots
            .map(|slot| slot.map_or(SolverBody::FIXED, |slot| solver_body(model, state, slot)));
        let kinetic = |state: &State| -> f64 {
            let one = |slot: u32| {
                model.bodies[slot as usize]
                    .as_ref()
                    .map_or(0.0, |b| energy::kinetic(b, &state.bodies[slot as usize]))
            };
            slots.iter().flatten().map(|&slot| one(slot)).sum()
        };
        let before = kinetic(state);
        let [a, b] = &mut sides;
        spring_kick(joint, &place, state.joints[i].angle, half, a, b);
        for (slot, side) in slots.iter().zip(&sides) {
            if let Some(slot) = slot
                && side.inverse_mass > 0.0
            {
                let s = &mut state.bodies[*slot as usize];
                (s.velocity, s.angular_velocity) = (side.v, side.w);
            }
        }
        ledger.motors += kinetic(state) - before;
    }
}

fn solver_body(model: &Model, state: &State, slot: u32) -> SolverBody {
    let s = &state.bodies[slot as usize];
    match &model.bodies[slot as usize] {
        Some(body) => SolverBody {
            v: s.velocity,
            w: s.angular_velocity,
            inverse_mass: body.inverse_mass,
            inverse_inertia: inverse_inertia(body, s),
        },
        None => SolverBody::FIXED,
    }
}

/// Links at t, aimed at where the bodies would go untouched. With `warm`, and where nothing new touches, a limit that bore load has a row
/// although untouched bodies may leave it: the load it remembers is what holds them there.
pub(crate) fn first_links(
    model: &Model,
    state: &State,
    predicted: &[BodyState],
    scratch: &mut Scratch,
    h: f64,
    warm: bool,
) {
    let Scratch {
        bodies,
        links,
        joints,
        parts,
        touches,
        ..
    } = scratch;
    let world = model.bodies.len() as u32;
    links.clear();
    let warm = warm && state.stretch(h) <= LIKE;
    for part in parts.iter_mut() {
        part.old = warm && touches[part.rows.clone()].iter().all(Touch::is_old);
    }
    let of_links = parts.iter().flat_map(|p| {
        let flags = (!p.rows.is_empty(), p.old);
        p.links.clone().map(move |_| flags)
    });
    for (&slot, (touched, old)) in joints.iter().zip(of_links) {
        let Some(joint) = &model.joints[slot as usize] else {
            continue;
        };
        let place = joint.place(&state.bodies);
        let angle = state.joints[slot as usize].angle;
        let mut link = Link::new(slot as usize, joint, world, &place, bodies);
        link.keeps = touched && joint.desc.kind.rank() == 0;
        link.add_bounded(joint, &place, bodies, angle, h);
        if old {
            link.remember(&state.joints[slot as usize].bounded_first);
        }
        link.aim_first(joint, &joint.place(predicted), bodies, angle, h);
        links.push(link);
    }
    find_loops(scratch);
}

/// Finds islands whose joints make loops: more joints that hold than bodies on them. A loop may hold itself under stress that no motion
/// needs (a bridge of hinges pulled sideways); a remembered stress would stay for ever, so part of it is forgotten in each step. Limits
/// and friction of a tree's joints, which hold nothing together, do so after an impact alone: what they bear where nothing new touches is
/// their right answer.
fn find_loops(scratch: &mut Scratch) {
    scratch.looked.resize(scratch.bodies.len(), 0);
    for part in &mut scratch.parts {
        scratch.look = scratch.look.wrapping_add(1);
        let (mut joints, mut count) = (0, 0);
        let counts = |link: &&Link| link.held.count > 0 || !part.old;
        for link in scratch.links[part.links.clone()].iter().filter(counts) {
            joints += 1;
            for slot in [link.a as usize, link.b as usize] {
                if scratch.bodies[slot].inverse_mass > 0.0 && scratch.looked[slot] != scratch.look {
                    scratch.looked[slot] = scratch.look;
                    count += 1;
                }
            }
        }
        part.kept = if joints > count { LOOP_MEMORY } else { 1.0 };
    }
}

/// Links at t + h, aimed at no velocity along the rows that hold.
pub(crate) fn second_links(model: &Model, state: &State, scratch: &mut Scratch, h: f64) {
    let Scratch { bodies, links, .. } = scratch;
    let world = model.bodies.len() as u32;
    for link in links.iter_mut() {
        let slot = link.joint as usize;
        let Some(joint) = &model.joints[slot] else {
            continue;
        };
        let place = joint.place(&state.bodies);
        let mut next = Link::new(slot, joint, world, &place, bodies);
        next.add_bounded(joint, &place, bodies, state.joints[slot].angle, h);
        next.aim_second(joint, link, h);
        *link = next;
    }
}

/// Starts the first solve from the last step's impulses.
pub(crate) fn warm_first(state: &State, scratch: &mut Scratch, h: f64) {
    warm(state, scratch, h, |m| (&m.first, &m.bounded_first));
}

/// Starts the second solve from the last step's impulses.
pub(crate) fn warm_second(state: &State, scratch: &mut Scratch, h: f64) {
    warm(state, scratch, h, |m| (&m.second, &m.bounded_second));
}

fn warm(
    state: &State,
    scratch: &mut Scratch,
    h: f64,
    of: impl Fn(&JointMemory) -> (&[f64; 6], &[f64; BOUNDED]),
) {
    for part in &scratch.parts {
        let stretch = state.stretch(h) * part.kept;
        for link in &mut scratch.links[part.links.clone()] {
            let (held, bounded) = of(&state.joints[link.joint as usize]);
            link.warm_start(
                &held.map(|x| x * stretch),
                &bounded.map(|x| x * stretch),
                &mut scratch.bodies,
            );
        }
    }
}

/// Looks where an island's bodies go with the velocities just found and aims joints and pressing contacts again from there.
///
/// The rows are linear, the motion is not: one solve leaves an error of second order in the turn of a step. Returns the
/// worst distance that is left. With `slip`, friction is aimed again too; that of links always is.
pub(crate) fn aim_again(
    sight: &Sight<'_>,
    lane: &mut Lane,
    island: &mut Island<'_>,
    slip: bool,
) -> Missed {
    let Sight {
        model,
        state,
        contacts,
        h,
        ..
    } = *sight;
    let Lane {
        bodies,
        predicted,
        looked,
        look,
        ..
    } = lane;
    *look = look.wrapping_add(1);
    looked.resize(bodies.len(), 0);
    let mut fly = |slot: u32| {
        let i = slot as usize;
        let Some(Some(body)) = model.bodies.get(i) else {
            return;
        };
        if let BodyKind::Link { articulation, .. } = body.kind {
            // The whole tree at once; its first link is marked.
            let node = model.node_of(slot) as usize;
            if looked[node] != *look {
                looked[node] = *look;
                bodies.look_ahead(model, articulation, state, h, predicted);
            }
        } else if body.is_free() && looked[i] != *look {
            looked[i] = *look;
            let start = BodyState {
                velocity: bodies[i].v,
                angular_velocity: bodies[i].w,
                ..state.bodies[i]
            };
            predicted[i] = integrate::fly(
                body,
                &start,
                integrate::acceleration(model, body, &state.loads[i]),
                h,
            );
        }
    };
    for link in island.links.iter() {
        fly(link.a);
        fly(link.b);
    }
    for row in island.rows.iter() {
        fly(row.a);
        fly(row.b);
    }
    let mut missed = Missed::default();
    for link in island.links.iter_mut() {
        let Some(joint) = &model.joints[link.joint as usize] else {
            continue;
        };
        let then = joint.place(predicted);
        let angle = state.joints[link.joint as usize].angle;
        let worst = link.aim_first(joint, &then, bodies, angle, h);
        missed.joints = missed.joints.max(worst);
    }
    for (row, touch) in island.rows.iter_mut().zip(island.touches.iter()) {
        let c = &contacts[touch.contact as usize];
        if touch.awaited {
            continue;
        }
        let (a, b) = c.bodies();
        let then = c.at(&predicted[a], &predicted[b]);
        if row.p_n > 0.0 || then.gap < touch.goal {
            missed.depth = missed.depth.max((then.gap - touch.goal).abs());
            let u = row.velocity(bodies);
            row.target_n = u.dot(row.n) + (touch.goal - then.gap) / h;
            if row.linked {
                let mean = link_slip(
                    model,
                    row,
                    [a, b],
                    bodies,
                    &state.bodies,
                    predicted,
                    &then,
                    h,
                );
                let (goal, before) = (row.tangential(u - mean), row.tangential(touch.slip_before));
                for k in 0..2 {
                    let target = goal[k] + before[k];
                    missed.drift = missed.drift.max(h * (target - row.target_t[k]).abs());
                    row.target_t[k] = target;
                }
            } else if slip {
                // ½ [u_t(t⁺) + u_t(t+h)⁻] = slip before the impact, seen from the motion just found.
                let u_then = predicted[b].point_velocity(then.point_b)
                    - predicted[a].point_velocity(then.point_a);
                let (u_t, u_t_then) = (row.tangential(u), row.tangential(u_then));
                let before = row.tangential(touch.slip_before);
                for k in 0..2 {
                    let target = 0.5 * (u_t[k] - u_t_then[k]) + before[k];
                    missed.drift = missed.drift.max(h * (target - row.target_t[k]).abs());
                    row.target_t[k] = target;
                }
            }
        }
    }
    missed
}

/// How far from their aims things would be at the end of the step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Missed {
    /// Joints [m] or [rad].
    pub joints: f64,
    /// Gaps of pressing contacts, and depth of others [m].
    pub depth: f64,
    /// Change of the aim of friction since the last look, as a distance [m].
    pub drift: f64,
}

/// What a look ahead reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight<'a> {
    pub model: &'a Model,
    pub state: &'a State,
    pub contacts: &'a [Contact],
    /// Length of the step [s].
    pub h: f64,
    /// Whether closing the joints that start apart has been tried in this step, in vain.
    pub tried: bool,
}
