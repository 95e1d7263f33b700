//! Into how many substeps a step is divided: as many as the stiffest joint needs to be followed.
//!
//! Reads: Model (joints), State (joint forces of the last step).  Writes: nothing.
//! Called by: the methods that step in two stages.
//! Source: docs/methods/contract.md, "Joints".

use super::joint_targets::APART;
use crate::math::{Vec3, tangents};
use crate::model::{Body, Model};
use crate::state::{JointMemory, State};
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
