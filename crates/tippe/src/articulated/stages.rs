//! What a method needs that follows trees with forces of its own: passive torques, stages of a step, accelerations of links at rest.
//!
//! Reads: `Model`, positions, velocities.  Writes: the caller's slices; `Work`.
//! Called by: `method::forces`.
//! Source: the stages are those of `integrate`, [MuntheKaas99]; accelerations without q̈ are the velocity products of [Featherstone08] §5.1.

use super::error::TreeError;
use super::integrate::{move_by, pull_back};
use super::model::Model;
use super::point_acceleration;
use super::rnea::rnea;
use super::work::Work;
use crate::math::Vec3;

/// Torques of viscous friction and springs at a state; returns the power that friction takes [W].
pub(crate) fn passive(model: &Model, q: &[f64], v: &[f64], tau: &mut [f64]) -> f64 {
    let mut power = 0.0;
    for (i, t) in tau.iter_mut().enumerate() {
        *t = -model.viscous[i] * v[i];
        power -= *t * v[i];
    }
    for spring in &model.springs {
        tau[spring.v as usize] += spring.torque(q);
    }
    power
}

/// κ of a stage at `t` after the start of the step; `rate` is κ of the stage before on entry.
pub(crate) fn stage_rate(model: &Model, t: f64, q: &[f64], v: &[f64], rate: &mut [f64]) {
    pull_back(model, t, q, v, rate);
}

/// The position reached from `q` by κ for the time `t`.
pub(crate) fn stage_place(model: &Model, q: &[f64], rate: &[f64], t: f64, out: &mut [f64]) {
    move_by(model, q, rate, t, out);
}

/// Prepares `link_drift`: what links accelerate with where no joint does. `tau` is scratch.
pub(crate) fn drifts(
    model: &Model,
    q: &[f64],
    v: &[f64],
    still: &[f64],
    work: &mut Work,
    tau: &mut [f64],
) -> Result<(), TreeError> {
    rnea(model, q, v, still, &[], work, tau)?;
    super::kinematics::poses(model, work);
    Ok(())
}

/// Acceleration of the point of a link at a world point, and angular acceleration of the link, where no joint accelerates.
pub(crate) fn link_drift(
    model: &Model,
    work: &Work,
    link: usize,
    point: Vec3,
) -> Result<(Vec3, Vec3), TreeError> {
    let node = model.link("link", link)?.node as usize;
    if node == super::model::WORLD {
        return Ok((Vec3::ZERO, Vec3::ZERO));
    }
    let a = point_acceleration(model, work, link, point)?;
    Ok((
        a,
        work.poses[node].rotation * work.accelerations[node].angular,
    ))
}

/// Longest step that four evaluations follow without a joint that turns more than a tenth of a radian [s].
pub(crate) fn longest_turn(model: &Model, v: &[f64]) -> f64 {
    TURN / model.fastest_turn(v).max(f64::MIN_POSITIVE)
}

/// What viscous friction answers velocities with.
pub(crate) fn damped(model: &Model, v: &[f64], out: &mut [f64]) {
    for ((out, b), v) in out.iter_mut().zip(&model.viscous).zip(v) {
        *out = b * v;
    }
}

/// What springs answer displacements with.
pub(crate) fn sprung(model: &Model, x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for spring in &model.springs {
        let i = spring.v as usize;
        out[i] += spring.stiffness * x[i];
    }
}

/// Turn of a joint that one step may take [rad].
const TURN: f64 = 0.1;
