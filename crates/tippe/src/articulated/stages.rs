//! What a method needs that follows trees with forces of its own: passive torques, stages of a step, accelerations of links at rest.
//!
//! Reads: `Model`, positions, velocities.  Writes: the caller's slices; `Work`.
//! Called by: `method::forces`.
//! Source: the stages are those of `integrate`, [MuntheKaas99]; accelerations without q̈ are the velocity products of [Featherstone08] §5.1.

use super::error::TreeError;
use super::integrate::{move_by, pull_back};
use super::joint::Plain;
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

/// Longest step that four evaluations follow: a turn of a tenth of a radian, and no decay or swing of a joint that is too fast [s].
pub(crate) fn longest_step(model: &Model, v: &[f64], work: &Work) -> f64 {
    let mut longest = TURN / model.fastest_turn(v).max(f64::MIN_POSITIVE);
    let single = |i: usize| work.singles[model.freedom_nodes[i] as usize].d_inverse;
    for (i, &b) in model.viscous.iter().enumerate() {
        let node = &model.nodes[model.freedom_nodes[i] as usize];
        let response = match node.joint {
            Plain::Hinge | Plain::Slider => single(i),
            Plain::Ball => {
                let d = &work.balls[node.slot as usize].d_inverse;
                d.xx + d.yy + d.zz
            }
            Plain::Free => 0.0,
        };
        if b * response > 0.0 {
            longest = longest.min(STIFF / (b * response));
        }
    }
    for s in &model.springs {
        let square = s.stiffness * single(s.v as usize);
        if square > 0.0 {
            longest = longest.min((STIFF / square).sqrt());
        }
    }
    longest
}

/// Turn of a joint that one step may take [rad].
const TURN: f64 = 0.1;
/// Product of step and rate of decay, or square of step and frequency, that four evaluations follow [1].
const STIFF: f64 = 0.5;
