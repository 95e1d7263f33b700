//! Islands at rest: the short cut past them changes no bit, whatever happens to them, and says what a full step would say.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use crate::support;

use support::{cuboid, floor, near, near_vec, solid, sphere};
use tippe::{BodyDesc, BodyId, JointDesc, JointKind, MassSpec, Pose, Shape, Surface, Vec3, World};

const DT: f64 = 1.0 / 60.0;

/// Three towers, a pendulum at rest, a ball on its way to the first tower, another that rolls past the second.
fn scene() -> (World, Vec<BodyId>) {
    let mut world = World::default();
    world.add_body(&floor()).unwrap();
    let mut cubes = Vec::new();
    for tower in 0..3 {
        for i in 0..4 {
            let at = Vec3::new(3.0 * f64::from(tower), 0.0, 0.5 + f64::from(i));
            cubes.push(
                world
                    .add_body(&solid(cuboid(0.5, 0.5, 0.5), 1.0, at))
                    .unwrap(),
            );
        }
    }
    let bob = world
        .add_body(&solid(sphere(0.2), 1.0, Vec3::new(0.0, 5.0, 3.0)))
        .unwrap();
    let pivot = Pose::from_position(Vec3::new(0.0, 5.0, 4.0));
    let top = Pose::from_position(Vec3::Z);
    world
        .add_joint(&JointDesc::new(JointKind::Ball, None, pivot, bob, top))
        .unwrap();
    let thrown = BodyDesc {
        velocity: Vec3::new(0.0, 6.0, 5.0),
        ..solid(sphere(0.3), 2.0, Vec3::new(0.1, -7.0, 1.0))
    };
    world.add_body(&thrown).unwrap();
    let rolling = BodyDesc {
        velocity: Vec3::new(0.0, 2.0, 0.0),
        angular_velocity: Vec3::new(-10.0, 0.0, 0.0),
        ..solid(sphere(0.2), 1.0, Vec3::new(3.0 + 0.705, -3.0, 0.2))
    };
    world.add_body(&rolling).unwrap();
    (world, cubes)
}

/// Steps a world, and beside it one that remembers nothing from step to step, with edits between; returns the first.
fn beside_forgetful(
    mut world: World,
    steps: usize,
    mut edit: impl FnMut(usize, &mut World),
) -> World {
    let mut forgetful = world.clone();
    let mut saved = 0;
    for step in 0..steps {
        edit(step, &mut world);
        edit(step, &mut forgetful);
        forgetful = World::restore(&forgetful.snapshot()).unwrap();
        let (a, b) = (world.step(DT).unwrap(), forgetful.step(DT).unwrap());
        saved += b.work.rows_swept - a.work.rows_swept.min(b.work.rows_swept);
        assert_eq!(world.hash(), forgetful.hash(), "step {step}");
        assert_eq!(world.contacts(), forgetful.contacts(), "step {step}");
        assert_eq!(
            world.joint_forces(),
            forgetful.joint_forces(),
            "step {step}"
        );
        assert_eq!(world.events(), forgetful.events(), "step {step}");
        assert_eq!(
            (a.contacts, a.candidates),
            (b.contacts, b.candidates),
            "step {step}"
        );
        assert_eq!(
            (a.penetration, a.momentum),
            (b.penetration, b.momentum),
            "step {step}"
        );
        assert!(
            a.residuals.complementarity <= b.residuals.complementarity,
            "step {step}"
        );
    }
    assert!(saved > 1000, "the short cut was not taken");
    world
}

#[test]
fn the_short_cut_changes_no_bit() {
    let (world, cubes) = scene();
    let world = beside_forgetful(world, 150, |_, _| {});
    // The ball did hit a tower, so the test saw islands let go.
    let moved = |b: BodyId, from: Vec3| (world.body_state(b).unwrap().position - from).length();
    assert!(
        moved(cubes[3], Vec3::new(0.0, 0.0, 3.5)) > 0.1,
        "nothing was hit"
    );
    assert!(moved(cubes[11], Vec3::new(6.0, 0.0, 3.5)) < 1e-9);
}

#[test]
fn edits_are_seen_at_once() {
    let (world, cubes) = scene();
    let edit = |step: usize, world: &mut World| match step {
        20 => world
            .apply_force(
                cubes[9],
                Vec3::new(30.0, 0.0, 0.0),
                Vec3::new(6.0, 0.0, 1.5),
            )
            .unwrap(),
        30 => world.set_velocity(cubes[11], Vec3::X, Vec3::ZERO).unwrap(),
        40 => world
            .set_default_surface(Surface {
                friction_static: 0.1,
                friction_kinetic: 0.1,
                ..Surface::default()
            })
            .unwrap(),
        50 => world.remove_body(cubes[5]).unwrap(),
        60 => {
            let weight = BodyDesc {
                mass: MassSpec::Mass(50.0),
                ..BodyDesc::dynamic(sphere(0.2), Vec3::new(6.0, 0.0, 5.0))
            };
            world.add_body(&weight).unwrap();
        }
        70 => world.set_gravity(Vec3::new(0.0, 1.0, -9.81)).unwrap(),
        80 => {
            let wall = Shape::Cuboid {
                half: Vec3::splat(0.2),
            };
            world
                .add_body(&BodyDesc::fixed(wall, Vec3::new(6.5, 0.0, 0.5)))
                .unwrap();
        }
        _ => {}
    };
    beside_forgetful(world, 100, edit);
}

#[test]
fn another_step_length_lets_go() {
    let mut world = scene().0;
    for _ in 0..20 {
        world.step(DT).unwrap();
    }
    for dt in [0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 0.3, 1.0, 1.0, 1.0].map(|part| part * DT) {
        let mut forgetful = World::restore(&world.snapshot()).unwrap();
        world.step(dt).unwrap();
        forgetful.step(dt).unwrap();
        assert_eq!(world.hash(), forgetful.hash(), "{dt}");
        assert_eq!(world.contacts(), forgetful.contacts(), "{dt}");
    }
}

#[test]
fn what_rests_keeps_its_place_and_its_forces() {
    let mut world = World::default();
    world.add_body(&floor()).unwrap();
    let cube = world
        .add_body(&solid(cuboid(0.5, 0.5, 0.5), 2.0, Vec3::new(0.0, 0.0, 0.5)))
        .unwrap();
    for _ in 0..30 {
        world.step(DT).unwrap();
    }
    let before = *world.body_state(cube).unwrap();
    let report = world.step(DT).unwrap();
    assert_eq!(*world.body_state(cube).unwrap(), before);
    assert!(report.work.sweeps == 0, "it was solved again");
    let force: Vec3 = world.contacts().iter().map(|c| c.impulse() / c.dt).sum();
    near_vec(
        "the floor carries it",
        force,
        Vec3::new(0.0, 0.0, 2.0 * 9.81),
        1e-9,
    );
    near("energy", report.energy.unexplained, 0.0, 1e-12);
}

#[test]
fn slow_motion_is_motion() {
    let mut world = World::default();
    world
        .set_default_surface(Surface {
            friction_static: 0.0,
            friction_kinetic: 0.0,
            ..Surface::default()
        })
        .unwrap();
    world.add_body(&floor()).unwrap();
    let slow = BodyDesc {
        velocity: Vec3::new(1e-7, 0.0, 0.0),
        ..solid(cuboid(0.5, 0.5, 0.5), 1.0, Vec3::new(0.0, 0.0, 0.5))
    };
    let cube = world.add_body(&slow).unwrap();
    for _ in 0..600 {
        world.step(DT).unwrap();
    }
    near(
        "way",
        world.body_state(cube).unwrap().position.x,
        1e-6,
        1e-12,
    );
}
