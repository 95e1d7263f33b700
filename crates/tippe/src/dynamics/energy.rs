//! Energies and momenta of bodies.
//!
//! Reads: Model (masses), State.  Writes: nothing (pure functions).
//! Called by: `world`, the methods' ledgers.
//! Source: elementary mechanics.

use crate::math::Vec3;
use crate::model::{Body, BodyKind, Model};
use crate::state::{BodyState, State};

/// Angular momentum of a body about its centre of mass [kg·m²/s].
#[must_use]
pub fn spin_momentum(body: &Body, state: &BodyState) -> Vec3 {
    let axes = state.rotation * body.axes;
    axes * (body.moments * (axes.conjugate() * state.angular_velocity))
}

/// Kinetic energy of a body [J]; 0 for fixed and kinematic ones.
#[must_use]
pub fn kinetic(body: &Body, state: &BodyState) -> f64 {
    let w = (state.rotation * body.axes).conjugate() * state.angular_velocity;
    0.5 * (body.mass * state.velocity.length_squared() + w.dot(body.moments * w))
}

/// Kinetic energy of the body of a slot, with that of the drives of a link's joint [J].
#[must_use]
pub fn kinetic_of(model: &Model, state: &State, slot: usize, body: &Body) -> f64 {
    let own = kinetic(body, &state.bodies[slot]);
    match drive_energy(model, state, body) {
        Some(drives) => own + drives,
        None => own,
    }
}

/// Kinetic energy of the drives of a link's joint [J]; `None` where they have no inertia.
fn drive_energy(model: &Model, state: &State, body: &Body) -> Option<f64> {
    let BodyKind::Link { articulation, link } = body.kind else {
        return None;
    };
    let tree = &model
        .articulations
        .get(articulation as usize)?
        .as_ref()?
        .tree;
    let inertia = tree.links().get(link as usize)?.armature;
    if inertia == 0.0 {
        return None;
    }
    let rates = &state.articulations.get(articulation as usize)?.velocities;
    let own = rates.get(tree.freedoms_of(link as usize)?)?;
    Some(own.iter().map(|v| 0.5 * inertia * v * v).sum())
}

/// Potential energy of a body in the gravity field, zero at the origin [J].
#[must_use]
pub fn potential(body: &Body, state: &BodyState, gravity: Vec3) -> f64 {
    -body.mass * body.gravity_scale * gravity.dot(state.position)
}

/// Kinetic and potential energy of all bodies, summed in slot order [J].
#[must_use]
pub fn total(model: &Model, state: &State) -> (f64, f64) {
    let mut sum = (0.0, 0.0);
    for (i, body) in model.present() {
        sum.0 += kinetic_of(model, state, i, body);
        sum.1 += potential(body, &state.bodies[i], model.gravity);
    }
    sum
}

/// Energy that the springs of joints and links hold [J].
#[must_use]
pub fn sprung(model: &Model, state: &State) -> f64 {
    let mut sum = 0.0;
    for (i, joint) in model.present_joints() {
        let (turn, slide) = (joint.desc.rotation.spring, joint.desc.translation.spring);
        if turn.is_none() && slide.is_none() {
            continue;
        }
        let place = joint.place(&state.bodies, &state.joints);
        let angle = super::joint::unwrapped(place.angle().1, state.joints[i].angle);
        sum += turn.map_or(0.0, |s| s.energy(angle));
        sum += slide.map_or(0.0, |s| s.energy(place.translation(joint.desc.kind).1));
    }
    for (i, articulation) in model.present_articulations() {
        let positions = &state.articulations[i].positions;
        sum += crate::articulated::spring_energy(&articulation.tree, positions);
    }
    sum
}

/// Weight times size, summed over the bodies that move [J]: what energy errors are measured by where nothing moves yet.
#[must_use]
pub fn weight_times_size(model: &Model) -> f64 {
    let one = |(_, b): (usize, &Body)| {
        let size = if b.is_awake() && b.reach.is_finite() {
            b.reach
        } else {
            0.0
        };
        b.mass * b.gravity_scale.abs() * size
    };
    model.gravity.length() * model.present().map(one).sum::<f64>()
}

/// Momentum [kg·m/s] and angular momentum about the world origin [kg·m²/s] of all dynamic bodies.
#[must_use]
pub fn momenta(model: &Model, state: &State) -> (Vec3, Vec3) {
    let (mut p, mut l) = (Vec3::ZERO, Vec3::ZERO);
    for (i, body) in model.present() {
        let s = &state.bodies[i];
        let linear = s.velocity * body.mass;
        p += linear;
        l += s.position.cross(linear) + spin_momentum(body, s);
    }
    (p, l)
}
