//! `simultaneous` in a world: impacts of clusters, stacks that close in one solve, friction, joints, and the paper's own step.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use crate::support;

use std::sync::Mutex;
use support::{G, add, below, cuboid, floor, near, near_vec, run, solid, sphere, stack, state};
use tippe::{
    BodyDesc, BodyId, JointDesc, JointKind, MassSpec, Method, Phase, Pose, SimultaneousParams,
    Surface, Vec3, World,
};

fn world(gravity: f64, surface: Surface) -> World {
    world_of(SimultaneousParams::default(), gravity, surface)
}

fn world_of(params: SimultaneousParams, gravity: f64, surface: Surface) -> World {
    let mut world = World::new(Method::Simultaneous(params)).unwrap();
    world.set_gravity(Vec3::Z * -gravity).unwrap();
    world.set_default_surface(surface).unwrap();
    world
}

fn literal() -> SimultaneousParams {
    SimultaneousParams {
        literal: true,
        ..SimultaneousParams::default()
    }
}

/// Three balls of 0.1 m; the first comes at 1 m/s towards the middle of the others, which touch.
fn trio(e: f64) -> (World, [BodyId; 3]) {
    let mut world = world(0.0, Surface::new(0.0, e));
    let mut ball = |x: f64, y: f64, v: f64| {
        let desc = solid(sphere(0.1), 1.0, Vec3::new(x, y, 0.0));
        add(
            &mut world,
            &BodyDesc {
                velocity: Vec3::X * v,
                ..desc
            },
        )
    };
    let cue = ball(-0.3 - 0.1 * 3.0_f64.sqrt(), 0.0, 1.0);
    let left = ball(0.0, 0.1, 0.0);
    let right = ball(0.0, -0.1, 0.0);
    (world, [cue, left, right])
}

#[test]
fn sr_13_billiard_trio_in_a_world() {
    for (e, cue, speed) in [(1.0, -0.2, 0.692_820_323), (0.0, 0.4, 0.346_410_162)] {
        for dt in [1e-3, 1.0 / 60.0] {
            let (mut world, balls) = trio(e);
            run(&mut world, dt, (0.6 / dt) as usize);
            let v = balls.map(|b| state(&world, b).velocity);
            near(&format!("cue, e = {e}, dt = {dt}"), v[0].x, cue, 1e-7);
            near("left", v[1].length(), speed, 1e-7);
            near_vec("symmetry", Vec3::new(v[1].x, -v[1].y, v[1].z), v[2], 1e-9);
        }
    }
}

#[test]
fn sr_10_cradle_in_a_world() {
    for moving in 1..4 {
        let mut world = world(0.0, Surface::new(0.0, 1.0));
        let balls: Vec<BodyId> = (0..5)
            .map(|i| {
                let (gap, v) = if i < moving { (0.05, 1.0) } else { (0.0, 0.0) };
                let desc = solid(sphere(0.1), 1.0, Vec3::X * (0.2 * f64::from(i) - gap));
                add(
                    &mut world,
                    &BodyDesc {
                        velocity: Vec3::X * v,
                        ..desc
                    },
                )
            })
            .collect();
        run(&mut world, 0.005, 40);
        for (i, &ball) in balls.iter().enumerate() {
            let wanted = if i >= 5 - moving as usize { 1.0 } else { 0.0 };
            near(
                &format!("ball {i} of {moving}"),
                state(&world, ball).velocity.x,
                wanted,
                1e-7,
            );
        }
    }
}

#[test]
fn sr_15_a_stack_of_16_boxes_closes_in_one_solve() {
    for dt in [1e-3, 1.0 / 60.0] {
        let mut world = world(G, Surface::new(0.5, 0.0));
        let boxes = stack(&mut world, 16);
        // The first step starts cold; then one factorisation in each of the two stages, none where the remembered impulses are right.
        world.step(dt).unwrap();
        let (mut solves, mut most) = (0, 0);
        for step in 1..100 {
            let report = world.step(dt).unwrap();
            assert_eq!(report.work.caps_hit, 0, "step {step}");
            solves += report.work.newton_steps;
            most = most.max(report.work.newton_steps);
        }
        println!("dt = {dt}: {solves} factorisations in 99 steps, {most} at most");
        assert!(solves <= 2 * 99, "{solves}, {most}");
        for (i, &b) in boxes.iter().enumerate() {
            let z = 0.1 + 0.2 * i as f64;
            near(&format!("box {i}"), state(&world, b).position.z, z, 1e-9);
        }
    }
}

#[test]
fn sr_15_a_stack_of_100_boxes_does_not_sag() {
    let mut world = world(G, Surface::new(0.5, 0.0));
    let boxes = stack(&mut world, 100);
    run(&mut world, 1e-3, 50);
    let top = state(&world, boxes[99]).position.z;
    println!("sag {:e} m a contact", (0.1 + 0.2 * 99.0 - top) / 100.0);
    below(
        "sag of one contact",
        (0.1 + 0.2 * 99.0 - top).abs() / 100.0,
        1e-6,
    );
}

#[test]
fn sr_15_a_falling_stack_without_restitution_closes_in_one_pass() {
    let mut world = world(G, Surface::new(0.5, 0.0));
    add(&mut world, &floor());
    let boxes: Vec<BodyId> = (0..16)
        .map(|i| {
            let desc = solid(
                cuboid(0.1, 0.1, 0.1),
                8.0,
                Vec3::Z * (0.101 + 0.2 * f64::from(i)),
            );
            add(
                &mut world,
                &BodyDesc {
                    velocity: Vec3::Z * -1.0,
                    ..desc
                },
            )
        })
        .collect();
    let report = run(&mut world, 1e-3, 50);
    assert_eq!(report.work.caps_hit, 0);
    for &b in &boxes {
        below(
            "speed after landing",
            state(&world, b).velocity.length(),
            1e-8,
        );
    }
}

#[test]
fn sr_19_a_block_stops_after_the_way_of_coulomb() {
    for mu in [0.2, 0.5] {
        let mut world = world(G, Surface::new(mu, 0.0));
        add(&mut world, &floor());
        let desc = solid(cuboid(0.2, 0.2, 0.05), 2.0, Vec3::Z * 0.05);
        let block = add(
            &mut world,
            &BodyDesc {
                velocity: Vec3::X * 2.0,
                ..desc
            },
        );
        run(&mut world, 1e-3, 1500);
        let wanted = 4.0 / (2.0 * mu * G);
        near(
            "way",
            state(&world, block).position.x,
            wanted,
            0.01 * wanted,
        );
        below("speed", state(&world, block).velocity.length(), 1e-9);
    }
}

/// A rod of 1 m and 1 kg, hinged by a ball at its left end.
fn pendulum(params: SimultaneousParams, gap: f64) -> (World, BodyId) {
    let mut world = world_of(params, G, Surface::new(0.0, 0.0));
    let rod = add(
        &mut world,
        &BodyDesc {
            mass: MassSpec::Mass(1.0),
            ..BodyDesc::dynamic(cuboid(0.5, 0.01, 0.01), Vec3::X * 0.5)
        },
    );
    let anchor = Pose::from_position(Vec3::X * -gap);
    let end = Pose::from_position(Vec3::X * -0.5);
    world
        .add_joint(&JointDesc::new(JointKind::Ball, None, anchor, rod, end))
        .unwrap();
    (world, rod)
}

fn anchor_error(world: &World, rod: BodyId, gap: f64) -> f64 {
    let s = state(world, rod);
    (s.position + s.rotation * (Vec3::X * -0.5) + Vec3::X * gap).length()
}

#[test]
fn sr_16_and_sr_17_a_pendulum_keeps_its_anchor() {
    let (mut world, rod) = pendulum(SimultaneousParams::default(), 0.0);
    let mut worst = [0.0_f64; 2];
    for _ in 0..500 {
        let report = world.step(0.01).unwrap();
        worst[0] = worst[0].max(anchor_error(&world, rod, 0.0));
        worst[1] = worst[1].max(report.residuals.joint_velocity);
    }
    below("anchor", worst[0], 1e-8);
    below("velocity along the rows", worst[1], 1e-8);
}

#[test]
fn sr_17_position_rows_of_the_papers_own_step() {
    // 20 s at 10 ms: an error of the second order, corrected by every next step.
    let (mut world, rod) = pendulum(literal(), 0.0);
    let mut worst = 0.0_f64;
    for _ in 0..2000 {
        world.step(0.01).unwrap();
        worst = worst.max(anchor_error(&world, rod, 0.0));
    }
    println!("anchor {worst:e} m");
    below("anchor", worst, 5e-3);
    // A gap of a centimetre closes.
    let (mut world, rod) = pendulum(literal(), 0.01);
    for (step, allowed) in [(1, 0.02), (2, 1e-3), (3, 1e-3)] {
        world.step(0.01).unwrap();
        below(
            &format!("gap after step {step}"),
            anchor_error(&world, rod, 0.01),
            allowed,
        );
    }
}

#[test]
fn sr_01_the_papers_scheme_is_of_first_order() {
    let error = |dt: f64| {
        let mut world = world_of(literal(), G, Surface::new(0.0, 0.0));
        let desc = solid(sphere(0.1), 1.0, Vec3::ZERO);
        let ball = add(
            &mut world,
            &BodyDesc {
                velocity: Vec3::new(3.0, 0.0, 4.0),
                ..desc
            },
        );
        run(&mut world, dt, (1.0 / dt).round() as usize);
        (state(&world, ball).position - Vec3::new(3.0, 0.0, 4.0 - 0.5 * G)).length()
    };
    for dt in [0.02, 0.01, 0.005] {
        let order = (error(dt) / error(0.5 * dt)).log2();
        near(&format!("order at {dt}"), order, 1.0, 0.1);
    }
}

static TOLD: Mutex<Vec<Phase>> = Mutex::new(Vec::new());

#[test]
fn sr_04_the_papers_step_moves_detects_and_resolves() {
    let mut world = world_of(literal(), G, Surface::new(0.0, 0.5));
    add(&mut world, &floor());
    add(&mut world, &solid(sphere(0.1), 1.0, Vec3::Z * 0.1));
    world.watch_phases(Some(|phase| TOLD.lock().unwrap().push(phase)));
    world.step(0.01).unwrap();
    world.watch_phases(None::<fn(Phase)>);
    let order = [Phase::Move, Phase::Detect, Phase::Collide, Phase::Finish];
    assert_eq!(*TOLD.lock().unwrap(), order);
}

#[test]
fn literal_bodies_at_rest_sink_as_the_scheme_says() {
    let mut world = world_of(literal(), G, Surface::new(0.0, 0.0));
    add(&mut world, &floor());
    let ball = add(&mut world, &solid(sphere(0.1), 1.0, Vec3::Z * 0.1));
    run(&mut world, 0.001, 200);
    // Every move goes g h² into the floor before it is resolved; the paper removes no overlap.
    let depth = 0.1 - state(&world, ball).position.z;
    near("depth", depth, 200.0 * G * 1e-6, 1e-9);
}

#[test]
fn a_squeeze_between_prescribed_bodies_is_reported() {
    use tippe::{BodyKind, Motion};
    let mut world = world(0.0, Surface::new(0.0, 0.0));
    let wall = |x: f64, v: f64| BodyDesc {
        kind: BodyKind::Kinematic(Motion::Constant {
            velocity: Vec3::X * v,
            angular_velocity: Vec3::ZERO,
        }),
        ..BodyDesc::fixed(cuboid(0.1, 1.0, 1.0), Vec3::X * x)
    };
    add(&mut world, &wall(-0.2, 0.1));
    add(&mut world, &wall(0.2, -0.1));
    let ball = add(&mut world, &solid(sphere(0.1), 1.0, Vec3::ZERO));
    let report = run(&mut world, 0.01, 3);
    assert!(!report.certified(), "{:?}", report.residuals);
    assert!(state(&world, ball).velocity.length() <= 0.1 + 1e-6);
}

/// Golden hashes of two scenes: they change only in a commit that says why.
#[test]
fn golden_hashes_of_two_scenes() {
    let (mut clustered, _) = trio(0.9);
    run(&mut clustered, 0.01, 60);
    let mut stacked = world(G, Surface::new(0.5, 0.3));
    add(&mut stacked, &floor());
    for i in 0..3 {
        let turn = tippe::math::rotation::exp(Vec3::new(0.1, 0.2, 0.3) * f64::from(i));
        let mut desc = solid(
            cuboid(0.1, 0.08, 0.12),
            1.0,
            Vec3::Z * (0.3 + 0.3 * f64::from(i)),
        );
        desc.pose.rotation = turn;
        add(&mut stacked, &desc);
    }
    run(&mut stacked, 0.01, 60);
    let found = [clustered.hash(), stacked.hash()].map(|h| format!("{h:016x}"));
    assert_eq!(
        found,
        ["00c927402c4a2d10", "a03d8f006720555e"],
        "results changed"
    );
    // The same after a restored snapshot.
    let mut again = World::restore(&stacked.snapshot()).unwrap();
    run(&mut again, 0.01, 10);
    run(&mut stacked, 0.01, 10);
    assert_eq!(again.hash(), stacked.hash());
}
