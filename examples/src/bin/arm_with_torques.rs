//! A two-link arm with drives is held by computed torques and goes where it is told: articulations, armature, inverse dynamics.

use tippe::articulated::{Joint, LinkDesc};
use tippe::shape::MassProperties;
use tippe::{ArticulationDesc, Error, LinkBodyDesc, Mat3, Pose, Vec3, World};

fn main() -> Result<(), Error> {
    let rod = MassProperties {
        mass: 2.0,
        center: Vec3::X * 0.25,
        inertia: Mat3::from_diagonal(Vec3::new(0.001, 0.042, 0.042)),
    };
    let hinge = Joint::Revolute { axis: Vec3::Y };
    let mut upper = LinkDesc::new(None, hinge, Pose::IDENTITY, rod);
    let mut fore = LinkDesc::new(Some(0), hinge, Pose::from_position(Vec3::X * 0.5), rod);
    // A rotor of 1e-4 kg·m² behind a gear of 50.
    (upper.armature, fore.armature) = (0.25, 0.25);
    let mut world = World::default();
    let arm = world.add_articulation(&ArticulationDesc {
        name: "arm".into(),
        links: vec![LinkBodyDesc::new(upper), LinkBodyDesc::new(fore)],
        ..ArticulationDesc::default()
    })?;
    let links = world.link_bodies(arm)?;
    let goal = [-0.8, 1.2];
    for _ in 0..2000 {
        // Computed torque: the accelerations of a critically damped spring, and the torques that make them.
        let state = world.articulation_state(arm)?;
        let wanted = |i: usize| 100.0 * (goal[i] - state.positions[i]) - 20.0 * state.velocities[i];
        let torques = world.inverse_dynamics(arm, &[wanted(0), wanted(1)])?;
        world.apply_link_force(links[0], &torques[..1])?;
        world.apply_link_force(links[1], &torques[1..])?;
        world.step(0.001)?;
    }
    let found = &world.articulation_state(arm)?.positions;
    println!("told to go to {goal:?}, the arm is at {found:?}");
    assert!((found[0] - goal[0]).abs() < 1e-6 && (found[1] - goal[1]).abs() < 1e-6);
    // (1 + 10 t) e^(-10 t) of the way is left after t: the closed form of what was asked for.
    Ok(())
}
