//! Energies and momenta of trees.
//!
//! Reads: `Model`, `Work` (poses, velocities).  Writes: nothing.
//! Called by: users, tests, integrators' tests.
//! Source: standard.

use super::error::TreeError;
use super::model::{Model, Sprung};
use super::spatial::Force;
use super::work::{Work, needs};
use crate::math::Vec3;

/// `½ Σ vᵀ I v` [J]. Needs `kinematics`.
pub fn kinetic_energy(model: &Model, work: &Work) -> Result<f64, TreeError> {
    work.check(model)?;
    needs(work.ready.flows, "kinematics")?;
    Ok(model.nodes[1..]
        .iter()
        .zip(&work.flows[1..])
        .map(|(node, f)| 0.5 * f.velocity.dot(node.inertia.times(f.velocity)))
        .sum())
}

/// Kinetic energy of the drives at the rates `v`, `½ Σ armature v²` [J]; `kinetic_energy` is that of the links alone.
#[must_use]
pub fn armature_energy(model: &Model, v: &[f64]) -> f64 {
    let one = |(inertia, v): (&f64, &f64)| 0.5 * inertia * v * v;
    model.armature.iter().zip(v).map(one).sum()
}

/// `−Σ m g·x` [J], zero at the origin of the world. Needs `kinematics`.
pub fn potential_energy(model: &Model, work: &Work) -> Result<f64, TreeError> {
    work.check(model)?;
    needs(work.ready.poses, "kinematics")?;
    Ok(model
        .nodes
        .iter()
        .zip(&work.poses)
        .map(|(node, pose)| {
            let first_moment =
                pose.rotation * node.inertia.moment + pose.origin * node.inertia.mass;
            -model.gravity.dot(first_moment)
        })
        .sum())
}

/// Angular momentum about the origin of the world [kg·m²/s] and linear momentum [kg·m/s], in world axes. Needs `kinematics`.
pub fn momentum(model: &Model, work: &Work) -> Result<Force, TreeError> {
    work.check(model)?;
    needs(work.ready.flows && work.ready.poses, "kinematics")?;
    let mut total = Force::ZERO;
    for i in 1..model.nodes.len() {
        let own = model.nodes[i].inertia.times(work.flows[i].velocity);
        total = total + work.poses[i].force_to_parent(own);
    }
    Ok(total)
}

/// Mass [kg] and centre of mass [m] of all links, also those fixed to the world. Needs poses; `None` without mass.
pub fn center_of_mass(model: &Model, work: &Work) -> Result<Option<(f64, Vec3)>, TreeError> {
    work.check(model)?;
    needs(work.ready.poses, "kinematics")?;
    let (mut mass, mut moment) = (0.0, Vec3::ZERO);
    for (node, pose) in model.nodes.iter().zip(&work.poses) {
        mass += node.inertia.mass;
        moment += pose.rotation * node.inertia.moment + pose.origin * node.inertia.mass;
    }
    Ok((mass > 0.0).then(|| (mass, moment / mass)))
}

/// Energy stored in the springs of the joints at the positions `q` [J].
#[must_use]
pub fn spring_energy(model: &Model, q: &[f64]) -> f64 {
    let one = |x: f64, k: f64| 0.5 * k * x * x;
    let stretched = |s: &Sprung| Some((q.get(s.q as usize)? - s.rest, s.stiffness));
    let found = model.springs.iter().filter_map(stretched);
    found.map(|(x, k)| one(x, k)).sum()
}
