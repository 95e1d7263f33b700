//! Joints in a substep: joint blocks for the two solves, loops that hold themselves.
//!
//! Reads: Model (joints), State (memory), predicted states.  Writes: joint blocks.
//! Called by: the methods that step in two stages, `targets`.
//! Source: docs/methods/two-stage.md, "Joints".

use super::gather::StepContact;
use super::{Scratch, misfit};
use crate::model::Model;
use crate::solver::ends::SolverBody;
use crate::solver::joint::JointBlock;
use crate::state::{BOUNDED, BodyState, JointMemory, State};
/// Step beside the last one up to which remembered impulses tell where an island goes [1].
pub(crate) const LIKE: f64 = 2.0;
/// Part of the impulses that joints in a loop start from again.
const LOOP_MEMORY: f64 = 0.75;
/// Links at t, aimed at where the bodies would go untouched. With `warm`, and where nothing new touches, a limit that bore load has a row
/// although untouched bodies may leave it: the load it remembers is what holds them there.
pub(crate) fn first_blocks(
    model: &Model,
    state: &State,
    predicted: &[BodyState],
    scratch: &mut Scratch,
    h: f64,
    warm: bool,
) {
    let Scratch {
        bodies,
        joint_blocks,
        joints,
        islands,
        step_contacts,
        unkicked,
        allowances,
        free_speeds,
        ..
    } = scratch;
    let world = model.bodies.len() as u32;
    free_speeds.clear();
    free_speeds.extend(model.bodies.iter().zip(predicted).map(|(body, s)| {
        let reach = body.as_ref().map_or(0.0, |b| b.reach);
        let reach = if reach.is_finite() { reach } else { 0.0 };
        s.velocity.length() + reach * s.angular_velocity.length()
    }));
    joint_blocks.clear();
    let warm = warm && state.stretch(h) <= LIKE;
    for island in islands.iter_mut() {
        island.old = warm
            && step_contacts[island.rows.clone()]
                .iter()
                .all(StepContact::is_old);
    }
    let of_blocks = islands.iter().flat_map(|p| {
        let flags = (!p.rows.is_empty(), p.old);
        p.joint_blocks.clone().map(move |_| flags)
    });
    misfit::allowances(model, state, islands, joints, h, allowances);
    for ((&slot, (touched, old)), &most) in joints.iter().zip(of_blocks).zip(allowances.iter()) {
        let Some(joint) = &model.joints[slot as usize] else {
            continue;
        };
        let place = joint.place(&state.bodies, &state.joints);
        let angle = state.joints[slot as usize].angle;
        let mut block = JointBlock::as_found(slot as usize, joint, world, &place, most, bodies);
        block.keeps = touched && joint.desc.kind.rank() == 0;
        block.add_bounded(joint, &place, bodies, angle, h);
        block.add_springs(joint, &place, bodies, angle, h);
        block.add_servos(joint, &place, bodies);
        block.shocked = starts_in_motion(&block, unkicked);
        if old {
            block.remember(&state.joints[slot as usize].bounded_first);
        }
        let then = joint.place(predicted, &state.joints);
        block.aim_first(joint, &then, bodies, angle, h);
        block.aim_springs_first(joint, &then, bodies, angle, h);
        block.aim_servos_first(joint, &then, bodies, angle, h);
        joint_blocks.push(block);
    }
    // All rows are aimed before the first spring answers.
    for block in joint_blocks.iter_mut() {
        block.answer_springs(bodies);
    }
    find_loops(scratch);
}
/// Velocity along a row that holds, at the start of a substep, beyond which bringing it to rest is a shock [m/s]. A projection ends the
/// substep before; what it leaves is far below.
const SHOCK_SPEED: f64 = 1e-3;

/// Whether the rows that hold a joint are in motion at the start of a substep, before kicks and impulses.
fn starts_in_motion(block: &JointBlock, states: &[BodyState]) -> bool {
    let side = |slot: u32| {
        states
            .get(slot as usize)
            .map_or(SolverBody::FIXED, |s| SolverBody {
                v: s.velocity,
                w: s.angular_velocity,
                ..SolverBody::FIXED
            })
    };
    let (a, b) = (side(block.a), side(block.b));
    let mut rows = block.held.rows[..block.held.count].iter();
    rows.any(|r| r.velocity(&a, &b).abs() > SHOCK_SPEED)
}

/// Finds islands whose joints make loops: more joints that hold than bodies on them. A loop may hold itself under stress that no motion
/// needs (a bridge of hinges pulled sideways); a remembered stress would stay for ever, so part of it is forgotten in each step. Limits
/// and friction of a tree's joints, which hold nothing together, do so after an impact alone: what they bear where nothing new touches is
/// their right answer.
fn find_loops(scratch: &mut Scratch) {
    scratch.looked.resize(scratch.bodies.len(), 0);
    for island in &mut scratch.islands {
        scratch.look = scratch.look.wrapping_add(1);
        let (mut joints, mut count) = (0, 0);
        let counts = |block: &&JointBlock| block.held.count > 0 || !island.old;
        for block in scratch.joint_blocks[island.joint_blocks.clone()]
            .iter()
            .filter(counts)
        {
            joints += 1;
            for slot in [block.a as usize, block.b as usize] {
                if scratch.bodies[slot].inverse_mass > 0.0 && scratch.looked[slot] != scratch.look {
                    scratch.looked[slot] = scratch.look;
                    count += 1;
                }
            }
        }
        island.kept = if joints > count { LOOP_MEMORY } else { 1.0 };
    }
}
/// Links at t + h, aimed at no velocity along the rows that hold.
pub(crate) fn second_blocks(model: &Model, state: &State, scratch: &mut Scratch, h: f64) {
    let Scratch {
        bodies,
        joint_blocks,
        joints,
        islands,
        allowances,
        ..
    } = scratch;
    let world = model.bodies.len() as u32;
    misfit::allowances(model, state, islands, joints, h, allowances);
    for (block, &most) in joint_blocks.iter_mut().zip(allowances.iter()) {
        let slot = block.joint as usize;
        let Some(joint) = &model.joints[slot] else {
            continue;
        };
        let place = joint.place(&state.bodies, &state.joints);
        let mut next = JointBlock::as_found(slot, joint, world, &place, most, bodies);
        let angle = state.joints[slot].angle;
        next.add_bounded(joint, &place, bodies, angle, h);
        next.add_springs(joint, &place, bodies, angle, h);
        next.add_servos(joint, &place, bodies);
        for (soft, first) in next.soft.iter_mut().zip(&block.soft) {
            soft.start = first.value;
        }
        next.aim_second(joint, block, h);
        next.aim_springs_second(joint, h);
        next.aim_servos_second(joint, h);
        next.shocked = block.shocked;
        *block = next;
    }
    for block in joint_blocks.iter_mut() {
        block.answer_springs(bodies);
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
    for island in &scratch.islands {
        let stretch = state.stretch(h) * island.kept;
        for block in &mut scratch.joint_blocks[island.joint_blocks.clone()] {
            let (held, bounded) = of(&state.joints[block.joint as usize]);
            block.warm_start(
                &held.map(|x| x * stretch),
                &bounded.map(|x| x * stretch),
                &mut scratch.bodies,
            );
        }
    }
}
