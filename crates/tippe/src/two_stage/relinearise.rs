//! Relinearising: predict where an island goes with the velocities just found, and aim its rows again from there.
//!
//! Reads: Model, State, contacts.  Writes: targets of contact rows and joint blocks, predicted states.
//! Called by: the first solve of the methods that step in two stages.
//! Source: docs/methods/two-stage.md, "Joints".

use super::parallel::{IslandView, Worker};
use super::targets::{acting_points, link_slip};
use crate::collide::Contact;
use crate::dynamics::integrate;
use crate::model::{BodyKind, Model};
use crate::state::{BodyState, State};

/// Looks where an island's bodies go with the velocities just found and aims joints and pressing contacts again from there.
///
/// The rows are linear, the motion is not: one solve leaves an error of second order in the turn of a step. Returns the
/// worst distance that is left. With `slip`, friction is aimed again too; that of links always is.
pub(crate) fn relinearise(
    ahead: &Lookahead<'_>,
    worker: &mut Worker,
    view: &mut IslandView<'_>,
    slip: bool,
) -> Missed {
    let Lookahead {
        model,
        state,
        contacts,
        h,
        ..
    } = *ahead;
    let Worker {
        bodies,
        predicted,
        looked,
        look,
        ..
    } = worker;
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
    for block in view.joint_blocks.iter() {
        fly(block.a);
        fly(block.b);
    }
    for row in view.rows.iter() {
        fly(row.a);
        fly(row.b);
    }
    let mut missed = Missed::default();
    for block in view.joint_blocks.iter_mut() {
        let Some(joint) = &model.joints[block.joint as usize] else {
            continue;
        };
        let then = joint.place(predicted, &state.joints);
        let angle = state.joints[block.joint as usize].angle;
        let worst = block.aim_first(joint, &then, bodies, angle, h);
        block.aim_springs_first(joint, &then, bodies, angle, h);
        block.aim_servos_first(joint, &then, bodies, angle, h);
        missed.joints = missed.joints.max(worst);
    }
    for (row, step_contact) in view.rows.iter_mut().zip(view.step_contacts.iter()) {
        let c = &contacts[step_contact.contact as usize];
        if step_contact.awaited {
            continue;
        }
        let (a, b) = c.bodies();
        let then = c.at(&predicted[a], &predicted[b]);
        if row.p_n > 0.0 || then.gap < step_contact.goal {
            missed.depth = missed.depth.max((then.gap - step_contact.goal).abs());
            let u = row.velocity(bodies);
            let points = acting_points(c, bodies, &then);
            row.target_n = u.dot(row.n) + (step_contact.goal - then.gap) / h;
            if row.linked {
                let mean = link_slip(
                    model,
                    row,
                    [a, b],
                    bodies,
                    &state.bodies,
                    predicted,
                    points,
                    h,
                );
                let (goal, before) = (
                    row.tangential(u - mean),
                    row.tangential(step_contact.slip_before),
                );
                for k in 0..2 {
                    let target = goal[k] + before[k];
                    missed.drift = missed.drift.max(h * (target - row.target_t[k]).abs());
                    row.target_t[k] = target;
                }
            } else if slip {
                // ½ [u_t(t⁺) + u_t(t+h)⁻] = slip before the impact, seen from the motion just found.
                let u_then =
                    predicted[b].point_velocity(points.1) - predicted[a].point_velocity(points.0);
                let (u_t, u_t_then) = (row.tangential(u), row.tangential(u_then));
                let before = row.tangential(step_contact.slip_before);
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
pub(crate) struct Lookahead<'a> {
    pub model: &'a Model,
    pub state: &'a State,
    pub contacts: &'a [Contact],
    /// Length of the step [s].
    pub h: f64,
}
