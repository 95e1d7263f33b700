//! Inverse dynamics by the recursive Newton–Euler algorithm: the torques that make a tree move as wanted.
//!
//! Reads: `Model`, positions, velocities, accelerations, loads.  Writes: `Work` (frames, flows, forces, accelerations), torques.
//! Called by: users.
//! Source: [Featherstone08] table 5.1.

use super::aba::{along, write, z_of};
use super::error::TreeError;
use super::joint::Plain;
use super::kinematics::{flow, place, poses, vector};
use super::load::Load;
use super::model::{Model, WORLD};
use super::spatial::{Force, Motion};
use super::work::Work;
use crate::math::Vec3;

/// Torques `τ = M q̈ + C − Σ Jᵀ F`. With zero accelerations this is the bias C, with zero velocities too the torques of gravity.
pub fn rnea(
    model: &Model,
    q: &[f64],
    v: &[f64],
    acceleration: &[f64],
    loads: &[Load],
    work: &mut Work,
    tau: &mut [f64],
) -> Result<(), TreeError> {
    model.check_positions(q)?;
    model.check_freedoms("v", v)?;
    model.check_freedoms("acceleration", acceleration)?;
    model.check_output("tau", tau.len(), model.freedom_count())?;
    work.check(model)?;
    work.reset();
    work.bodies[WORLD].force = Force::ZERO;
    work.accelerations[WORLD] = Motion::new(Vec3::ZERO, -model.gravity);
    for i in 1..model.nodes.len() {
        let node = &model.nodes[i];
        let parent = node.parent as usize;
        let frame = place(node, q)?;
        let f = flow(node, &frame, work.flows[parent].velocity, v);
        let mut a = frame.motion_to_child(work.accelerations[parent]) + f.drift;
        let at = node.v as usize;
        match node.joint {
            Plain::Hinge | Plain::Slider => *z_of(node.joint, &mut a) += acceleration[at],
            Plain::Ball => a.angular += vector(acceleration, at),
            Plain::Free => {
                a.angular += vector(acceleration, at);
                a.linear += vector(acceleration, at + 3);
            }
        }
        work.frames[i] = frame;
        work.flows[i] = f;
        work.accelerations[i] = a;
        work.bodies[i].force =
            node.inertia.times(a) + f.velocity.cross_force(node.inertia.times(f.velocity));
    }
    if !loads.is_empty() {
        poses(model, work);
        for load in loads {
            let (node, f) = load.on_node(model, work)?;
            work.bodies[node].force = work.bodies[node].force - f;
        }
    }
    for i in (1..model.nodes.len()).rev() {
        let node = &model.nodes[i];
        let (force, at) = (work.bodies[i].force, node.v as usize);
        match node.joint {
            Plain::Hinge | Plain::Slider => tau[at] = along(node.joint, force),
            Plain::Ball => write(tau, at, force.torque),
            Plain::Free => {
                write(tau, at, force.torque);
                write(tau, at + 3, force.force);
            }
        }
        let parent = &mut work.bodies[node.parent as usize].force;
        *parent = *parent + work.frames[i].force_to_parent(force);
    }
    let drives = tau.iter_mut().zip(&model.armature).zip(acceleration);
    for ((t, inertia), a) in drives.filter(|((_, inertia), _)| **inertia > 0.0) {
        *t += inertia * a;
    }
    work.ready.flows = true;
    work.ready.accelerations = true;
    Ok(())
}
