//! Nets of joints: too meshed for the direct solve by bodies, solved by their joints all at once.

use crate::joint_support;
use crate::support;

use joint_support::{FRAME, ball, join, join_at, lump, space, worst_misfit, z_along_x};
use support::{G, add, below, solid, sphere};
use tippe::{BodyDesc, BodyId, EnergyLedger, JointDesc, JointKind, Pose, Vec3, World};

/// A flat net of balls a metre apart, held at the two ends of its first row.
fn net(side: usize) -> World {
    let mut world = space(G);
    add_net(&mut world, side, Vec3::ZERO);
    world
}

/// Adds such a net with its first corner at `origin`; returns its balls.
fn add_net(world: &mut World, side: usize, origin: Vec3) -> Vec<BodyId> {
    let mut ids: Vec<BodyId> = Vec::new();
    for i in 0..side {
        for j in 0..side {
            let place = origin + Vec3::new(i as f64, -(j as f64), 0.0);
            let held = i == 0 && (j == 0 || j == side - 1);
            let mut desc = if held {
                BodyDesc::fixed(sphere(0.4), place)
            } else {
                solid(sphere(0.4), 268.0, place)
            };
            // The balls of a folded net do not touch.
            desc.shapes.iter_mut().for_each(|s| s.filter.mask = 0);
            ids.push(add(world, &desc));
        }
    }
    for i in 0..side {
        for j in 0..side {
            let k = i * side + j;
            let place = origin + Vec3::new(i as f64, -(j as f64), 0.0);
            if i + 1 < side {
                let point = place + Vec3::X * 0.5;
                ball(world, Some(ids[k]), ids[k + side], point);
            }
            if j + 1 < side {
                let point = place - Vec3::Y * 0.5;
                ball(world, Some(ids[k]), ids[k + 1], point);
            }
        }
    }
    ids
}

#[test]
fn cl_22_a_net_held_at_two_corners_holds_its_joints_and_gains_no_energy() {
    let mut world = net(20);
    let weight = 398.0 * 268.0 * G;
    let mut highest: f64 = 0.0;
    let mut ledger = EnergyLedger::default();
    for k in 0..150 {
        let report = world.step(FRAME).expect("a step");
        assert_eq!(report.work.caps_open(), 0, "step {k}");
        below("joint error", report.residuals.joint_position, 5e-3);
        assert!(report.work.sweeps < 4, "solved at once, not swept");
        highest = highest.max(report.energy.kinetic + report.energy.potential);
        ledger.add(&report.energy);
    }
    // What implicit stiffness takes is told; little else is lost.
    // It is the method's doing, not friction of joints.
    assert!(ledger.numerical_damping > 0.0 && ledger.joint_friction == 0.0);
    below(
        "energy lost otherwise",
        ledger.unexplained.abs(),
        0.5 * ledger.numerical_damping,
    );
    below("misfit", worst_misfit(&world), 5e-3);
    // What it gains on the way is nothing beside its weight over the millimetres that its joints open.
    below("energy gained", highest, 1e-3 * weight);
    // It has swung down: the free edge is below the held one.
    let last = world.body_ids().last().expect("a body");
    let z = world.body_state(last).expect("a living body").position.z;
    below("height of the free corner", z, -12.0);
}

#[test]
fn nets_have_the_same_bits_on_two_threads_and_after_a_snapshot() {
    // Two nets, so that there is one for each thread.
    let two_nets = || {
        let mut world = net(20);
        add_net(&mut world, 20, Vec3::new(0.0, 0.0, 30.0));
        world
    };
    let (mut one, mut two) = (two_nets(), two_nets());
    two.set_threads(2).expect("two threads");
    for _ in 0..80 {
        one.step(FRAME).expect("a step");
        two.step(FRAME).expect("a step");
    }
    assert_eq!(one.hash(), two.hash());
    // By then they are taut, and a factor and answers of stiff bodies are known that a restored world has to find again.
    let mut again = World::restore(&one.snapshot()).expect("a good snapshot");
    for _ in 0..10 {
        one.step(FRAME).expect("a step");
        again.step(FRAME).expect("a step");
    }
    assert_eq!(one.hash(), again.hash());
}

#[test]
fn a_net_of_ball_joints_hinges_and_rods_holds_too() {
    let mut world = space(G);
    let side = 20;
    let mut ids: Vec<BodyId> = Vec::new();
    for i in 0..side {
        for j in 0..side {
            let place = Vec3::new(i as f64, -(j as f64), 0.0);
            let mut desc = lump(3.0, Vec3::new(0.4, 0.5, 0.6), place);
            if i == 0 && (j == 0 || j == side - 1) {
                desc = BodyDesc::fixed(sphere(0.1), place);
            }
            ids.push(add(&mut world, &desc));
        }
    }
    let mut hinges = Vec::new();
    for i in 0..side {
        for j in 0..side {
            let (k, place) = (i * side + j, Vec3::new(i as f64, -(j as f64), 0.0));
            if i + 1 < side && j % 2 == 1 {
                ball(
                    &mut world,
                    Some(ids[k]),
                    ids[k + side],
                    place + Vec3::X * 0.5,
                );
            } else if i + 1 < side {
                // A rod from centre to centre.
                let rod = JointKind::Distance { min: 1.0, max: 1.0 };
                let desc = JointDesc::new(
                    rod,
                    Some(ids[k]),
                    Pose::IDENTITY,
                    ids[k + side],
                    Pose::IDENTITY,
                );
                join(&mut world, &desc);
            }
            if j + 1 < side {
                let frame = Pose::new(place - Vec3::Y * 0.5, z_along_x());
                hinges.push(join_at(
                    &mut world,
                    JointKind::Hinge,
                    Some(ids[k]),
                    ids[k + 1],
                    frame,
                ));
            }
        }
    }
    for k in 0..60 {
        let report = world.step(FRAME).expect("a step");
        assert_eq!(report.work.caps_open(), 0, "step {k}");
        assert_eq!(report.work.sweeps, 0, "solved at once, not swept");
        below("joint error", report.residuals.joint_position, 5e-3);
    }
    below("misfit", worst_misfit(&world), 5e-3);
    let z = world
        .body_state(ids[side * side - 1])
        .expect("a living body")
        .position
        .z;
    below("height of a free corner", z, -2.0);
    // The hinges turned, and tell by how much.
    let turned = world
        .joint_forces()
        .iter()
        .filter(|f| hinges.contains(&f.joint));
    let most = turned.map(|f| f.angle.abs()).fold(0.0, f64::max);
    assert!(most > 0.1, "{most}");
}

#[test]
fn a_net_that_rests_is_held_until_something_moves_it() {
    let mut world = space(0.0);
    let ids = add_net(&mut world, 20, Vec3::ZERO);
    let mut solves = 0;
    for _ in 0..4 {
        solves = world.step(FRAME).expect("a step").work.newton_steps;
    }
    assert_eq!(solves, 0, "held as it is");
    world
        .set_velocity(ids[20], Vec3::Z, Vec3::ZERO)
        .expect("a living body");
    let report = world.step(FRAME).expect("a step");
    assert!(report.work.newton_steps > 0);
    let next = world.body_state(ids[21]).expect("a living body").velocity.z;
    assert!(next != 0.0, "its neighbour follows");
}
