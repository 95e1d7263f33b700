//! Nets of joints: too meshed for the direct solve by bodies, solved by their joints all at once.

mod joint_support;
mod support;

use joint_support::{FRAME, ball, space, worst_misfit};
use support::{G, add, below, solid, sphere};
use tippe::{BodyDesc, BodyId, Vec3, World};

/// A flat net of balls a metre apart, held at the two ends of its first row.
fn net(side: usize) -> World {
    let mut world = space(G);
    let mut ids: Vec<BodyId> = Vec::new();
    for i in 0..side {
        for j in 0..side {
            let place = Vec3::new(i as f64, -(j as f64), 0.0);
            let held = i == 0 && (j == 0 || j == side - 1);
            let mut desc = if held {
                BodyDesc::fixed(sphere(0.4), place)
            } else {
                solid(sphere(0.4), 268.0, place)
            };
            // The balls of a folded net do not touch.
            desc.shapes.iter_mut().for_each(|s| s.filter.mask = 0);
            ids.push(add(&mut world, &desc));
        }
    }
    for i in 0..side {
        for j in 0..side {
            let (k, place) = (i * side + j, Vec3::new(i as f64, -(j as f64), 0.0));
            if i + 1 < side {
                let point = place + Vec3::X * 0.5;
                ball(&mut world, Some(ids[k]), ids[k + side], point);
            }
            if j + 1 < side {
                let point = place - Vec3::Y * 0.5;
                ball(&mut world, Some(ids[k]), ids[k + 1], point);
            }
        }
    }
    world
}

#[test]
fn cl_22_a_net_held_at_two_corners_holds_its_joints_and_gains_no_energy() {
    let mut world = net(20);
    let weight = 398.0 * 268.0 * G;
    let mut highest: f64 = 0.0;
    for k in 0..150 {
        let report = world.step(FRAME).expect("a step");
        assert_eq!(report.work.caps_hit, 0, "step {k}");
        below("joint error", report.residuals.joint_position, 5e-3);
        assert!(report.work.sweeps < 4, "solved at once, not swept");
        highest = highest.max(report.energy.kinetic + report.energy.potential);
    }
    below("misfit", worst_misfit(&world), 5e-3);
    // What it gains on the way is nothing beside its weight over the millimetres that its joints open.
    below("energy gained", highest, 1e-3 * weight);
    // It has swung down: the free edge is below the held one.
    let last = world.body_ids().last().expect("a body");
    let z = world.body_state(last).expect("a living body").position.z;
    below("height of the free corner", z, -12.0);
}

#[test]
fn a_net_has_the_same_bits_on_two_threads_and_after_a_snapshot() {
    let mut one = net(20);
    let mut two = net(20);
    two.set_threads(2).expect("two threads");
    for _ in 0..20 {
        one.step(FRAME).expect("a step");
        two.step(FRAME).expect("a step");
    }
    assert_eq!(one.hash(), two.hash());
    let mut again = World::restore(&one.snapshot()).expect("a good snapshot");
    for _ in 0..10 {
        one.step(FRAME).expect("a step");
        again.step(FRAME).expect("a step");
    }
    assert_eq!(one.hash(), again.hash());
}
