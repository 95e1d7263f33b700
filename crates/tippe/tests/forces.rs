//! The method `forces`: contact forces by complementarity, impacts over the graph, order of the smooth motion, rest.

mod support;

use support::{
    G, add, below, cuboid, floor, near, near_vec, rough, run, slope, solid, sphere, state, tilt,
};
use tippe::{
    BodyDesc, BodyKind, EventKind, ForcesParams, JointDesc, JointKind, MassSpec, Mat3, Method,
    Motion, Pose, Shape, ShapeDesc, Surface, Vec3, World,
};

fn world_with(gravity: f64, surface: Surface, params: ForcesParams) -> World {
    let mut world = World::new(Method::Forces(params)).expect("good parameters");
    world
        .set_gravity(Vec3::Z * -gravity)
        .expect("finite gravity");
    world.set_default_surface(surface).expect("good surface");
    world
}

fn world(gravity: f64, surface: Surface) -> World {
    world_with(gravity, surface, ForcesParams::default())
}

/// A ball on a table drops, bounces and comes to rest; then the table carries its weight.
#[test]
fn cl_31_a_ball_drops_bounces_and_rests_with_force_mg() {
    let mut world = world(G, Surface::new(0.5, 0.5));
    add(&mut world, &floor());
    let ball = add(&mut world, &solid(sphere(0.1), 2.0, Vec3::Z * 1.1));
    let t = (2.0 / G).sqrt();
    let mut hits = Vec::new();
    for _ in 0..300 {
        let report = run(&mut world, 0.01, 1);
        below("depth", report.penetration, 2e-9);
        below("gained", report.energy.gained, 1e-12);
        let impacts = world
            .events()
            .iter()
            .filter(|e| e.kind == EventKind::Impact);
        hits.extend(impacts.map(|e| (e.time, e.speed)));
    }
    near("first impact", hits[0].0, t, 1e-8);
    near("its speed", hits[0].1, G * t, 1e-7);
    near("second impact", hits[1].0, 2.0 * t, 1e-8);
    near("height at rest", state(&world, ball).position.z, 0.1, 1e-8);
    assert_eq!(world.contacts().len(), 1);
    near(
        "force at rest",
        world.contacts()[0].force().z,
        2.0 * G,
        1e-9,
    );
}

/// k balls in, k balls out, for k from 1 to 4 of 5, and a ball between two others parts them evenly: one rule.
#[test]
fn cl_31_k_in_k_out_and_the_symmetric_break() {
    for k in 1..5 {
        let mut world = world(0.0, Surface::new(0.0, 1.0));
        let mut balls = Vec::new();
        for i in 0..5 {
            let gap = if i < k { -0.05 } else { 0.0 };
            let mut ball = solid(sphere(0.1), 1.0, Vec3::X * (0.2 * f64::from(i) + gap));
            ball.velocity = if i < k { Vec3::X } else { Vec3::ZERO };
            balls.push(add(&mut world, &ball));
        }
        run(&mut world, 0.01, 20);
        for (i, ball) in balls.iter().enumerate() {
            let wanted = if i >= 5 - k as usize { 1.0 } else { 0.0 };
            near_vec(
                &format!("k = {k}, ball {i}"),
                state(&world, *ball).velocity,
                Vec3::X * wanted,
                1e-12,
            );
        }
    }
    let mut world = world(0.0, Surface::new(0.0, 1.0));
    let (c, s) = (libm::cos(std::f64::consts::FRAC_PI_6), 0.5);
    let mut first = solid(sphere(0.1), 1.0, Vec3::X * -0.3);
    first.velocity = Vec3::X;
    let ball = add(&mut world, &first);
    let touch = Vec3::new(0.2 * c - 0.2, 0.0, 0.0);
    let left = add(
        &mut world,
        &solid(sphere(0.1), 1.0, touch + Vec3::Y * (0.2 * s)),
    );
    let right = add(
        &mut world,
        &solid(sphere(0.1), 1.0, touch - Vec3::Y * (0.2 * s)),
    );
    run(&mut world, 0.01, 30);
    near_vec("ball", state(&world, ball).velocity, Vec3::X * -0.2, 1e-8);
    let v = 0.6 * s / c;
    near_vec(
        "left",
        state(&world, left).velocity,
        Vec3::new(0.6, v, 0.0),
        1e-8,
    );
    near_vec(
        "right",
        state(&world, right).velocity,
        Vec3::new(0.6, -v, 0.0),
        1e-8,
    );
}

/// A bead slides along a rail that turns: the rail pushes it with the Coriolis force 2 m ω v, not with half of it.
#[test]
fn cl_34_coriolis_bead_on_a_turning_plate() {
    let (m, omega, v, r) = (0.3, 2.0, 1.5, 0.05);
    let mut world = world(0.0, Surface::new(0.0, 0.0));
    // The face x = 0 of the plate goes through the axis; the bead is a ball beside it that slides along −y.
    let shape = ShapeDesc {
        pose: Pose::new(Vec3::new(-1.0, 0.0, 0.0), tippe::Quat::IDENTITY),
        ..ShapeDesc::from(cuboid(1.0, 3.0, 1.0))
    };
    let plate = BodyDesc {
        kind: BodyKind::Kinematic(Motion::Constant {
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::Z * omega,
        }),
        shapes: vec![shape],
        ..BodyDesc::fixed(cuboid(1.0, 3.0, 1.0), Vec3::ZERO)
    };
    add(&mut world, &plate);
    let bead = BodyDesc {
        mass: MassSpec::Explicit {
            mass: m,
            center: Vec3::ZERO,
            inertia: Mat3::from_diagonal(Vec3::splat(1e-4)),
        },
        velocity: Vec3::new(0.0, omega * r - v, 0.0),
        ..BodyDesc::dynamic(sphere(r), Vec3::new(r, 0.0, 0.0))
    };
    let bead = add(&mut world, &bead);
    let dt = 1e-5;
    for k in 0..300 {
        run(&mut world, dt, 1);
        // Along the plate y'' = ω² y, y = −(v/ω) sinh ωt. Across it f = m (2 ω |y'| − ω² r): its mean over the step.
        let (t0, t1) = (dt * f64::from(k), dt * f64::from(k + 1));
        let rise = libm::sinh(omega * t1) - libm::sinh(omega * t0);
        let wanted = m * (2.0 * v * rise / dt - omega * omega * r);
        near(
            "force",
            world.contacts()[0].force().length(),
            wanted,
            1e-9 * wanted,
        );
    }
    let t = 3e-3;
    let turned = tippe::math::rotation::exp(Vec3::Z * (-omega * t)) * state(&world, bead).position;
    near("on the face", turned.x, r, 1e-12);
    near(
        "along the plate",
        turned.y,
        -v / omega * libm::sinh(omega * t),
        1e-10,
    );
}

/// A point on an incline: f = m g cos θ; a block on two supports: half of its weight each.
#[test]
fn cl_37_worked_examples() {
    let angle = 0.4;
    let mut incline = world(G, Surface::new(0.0, 0.0));
    add(&mut incline, &slope(angle));
    let n = tilt(angle) * Vec3::Z;
    add(&mut incline, &solid(sphere(0.01), 0.5, n * 0.01));
    run(&mut incline, 1e-3, 10);
    near(
        "incline",
        incline.contacts()[0].force().length(),
        0.5 * G * libm::cos(angle),
        1e-9,
    );
    let mut block = world(G, Surface::new(0.3, 0.0));
    for x in [-0.5, 0.5] {
        add(
            &mut block,
            &BodyDesc::fixed(sphere(0.1), Vec3::new(x, 0.0, -0.1)),
        );
    }
    add(
        &mut block,
        &solid(cuboid(0.5001, 0.5, 0.5), 1.0, Vec3::Z * 0.5),
    );
    let report = run(&mut block, 1e-3, 10);
    assert_eq!(block.contacts().len(), 2);
    for contact in block.contacts() {
        near(
            "support",
            contact.normal_impulse / contact.dt,
            0.5 * G,
            1e-9,
        );
    }
    below("complementarity", report.residuals.complementarity, 1e-10);
}

/// Four legs: the forces sum up to the weight, whatever the split; nothing moves.
#[test]
fn ab_04_four_legged_table_carries_its_weight() {
    for impulse_level in [false, true] {
        let params = ForcesParams {
            impulse_level,
            ..ForcesParams::default()
        };
        let mut world = world_with(G, Surface::new(0.5, 0.0), params);
        add(&mut world, &floor());
        let leg = |x: f64, y: f64| ShapeDesc {
            pose: Pose::new(Vec3::new(x, y, -0.4), tippe::Quat::IDENTITY),
            ..BodyDesc::fixed(sphere(0.05), Vec3::ZERO).shapes[0].clone()
        };
        let table = BodyDesc {
            mass: MassSpec::Explicit {
                mass: 10.0,
                center: Vec3::ZERO,
                inertia: Mat3::from_diagonal(Vec3::new(1.0, 2.0, 2.5)),
            },
            shapes: vec![
                leg(-0.5, -0.3),
                leg(0.5, -0.3),
                leg(0.5, 0.3),
                leg(-0.5, 0.3),
            ],
            ..BodyDesc::dynamic(sphere(0.05), Vec3::Z * 0.45)
        };
        let id = add(&mut world, &table);
        let report = run(&mut world, 1e-3, 200);
        let sum: f64 = world
            .contacts()
            .iter()
            .map(|c| c.normal_impulse / c.dt)
            .sum();
        near("sum", sum, 10.0 * G, 1e-12 * 10.0 * G);
        assert_eq!(world.contacts().len(), 4);
        below("residual", report.residuals.complementarity, 1e-10);
        below(
            "motion",
            (state(&world, id).position - Vec3::Z * 0.45).length(),
            1e-12,
        );
    }
}

/// A block on a ramp sticks for μ > tan α and slides with g (sin α − μ cos α) else.
#[test]
fn ab_06_block_on_a_ramp_sticks_or_slides() {
    let angle: f64 = 20.0_f64.to_radians();
    for (mu, sticks) in [
        (0.5, true),
        (1.05 * libm::tan(angle), true),
        (0.95 * libm::tan(angle), false),
    ] {
        let mut world = world(G, Surface::new(mu, 0.0));
        add(&mut world, &slope(angle));
        let n = tilt(angle) * Vec3::Z;
        let mut block = solid(cuboid(0.1, 0.1, 0.05), 1.0, n * 0.05);
        block.pose.rotation = tilt(angle);
        let id = add(&mut world, &block);
        run(&mut world, 1e-3, 1000);
        let moved = state(&world, id).position - n * 0.05;
        let way = moved.length();
        if sticks {
            below("creep", way, 1e-11);
        } else {
            let a = G * (libm::sin(angle) - mu * libm::cos(angle));
            near("slide", way, 0.5 * a, 1e-9);
        }
    }
}

/// A hanging chain: every joint carries the weight below it.
#[test]
fn cl_35_hanging_chain_and_sliding_block() {
    let mut chain = world(G, Surface::new(0.5, 0.0));
    let mut above = None;
    let mut joints = Vec::new();
    for i in 0..6 {
        let z = -0.1 - 0.2 * f64::from(i);
        let link = add(
            &mut chain,
            &solid(
                Shape::Capsule {
                    half_length: 0.08,
                    radius: 0.01,
                },
                0.5,
                Vec3::Z * z,
            ),
        );
        let top = Pose::new(Vec3::Z * 0.1, tippe::Quat::IDENTITY);
        let frame = match above {
            None => Pose::IDENTITY,
            Some(_) => Pose::new(Vec3::Z * -0.1, tippe::Quat::IDENTITY),
        };
        joints.push(
            chain
                .add_joint(&JointDesc::new(JointKind::Ball, above, frame, link, top))
                .unwrap(),
        );
        above = Some(link);
    }
    run(&mut chain, 1e-3, 5);
    for (i, f) in chain.joint_forces().iter().enumerate() {
        near_vec(
            "reaction",
            f.force,
            Vec3::Z * (0.5 * G * (6 - i) as f64),
            1e-9,
        );
    }
    // A block that slides: μ_k g, and it stops for good.
    let mut block = world(G, rough(0.6, 0.3));
    add(&mut block, &floor());
    let mut desc = solid(cuboid(0.1, 0.1, 0.05), 1.0, Vec3::Z * 0.05);
    desc.velocity = Vec3::X * 2.0;
    let id = add(&mut block, &desc);
    run(&mut block, 1e-3, 100);
    near(
        "speed",
        state(&block, id).velocity.x,
        2.0 - 0.3 * G * 0.1,
        1e-9,
    );
    run(&mut block, 1e-3, 900);
    near("way", state(&block, id).position.x, 2.0 / (0.3 * G), 1e-8);
    assert!(block.ledger().friction > 1.999 && block.ledger().gained < 1e-9);
}

/// The smooth motion is of order four: a heavy ball joint pendulum at two step lengths.
#[test]
fn forces_follow_smooth_motion_at_order_four() {
    let error = |dt: f64, steps: usize| {
        let mut world = world(G, Surface::new(0.0, 0.0));
        let rod = solid(
            Shape::Capsule {
                half_length: 0.45,
                radius: 0.05,
            },
            1.0,
            Vec3::ZERO,
        );
        let turned = tippe::math::rotation::exp(Vec3::Y * 1.2);
        let desc = BodyDesc {
            pose: Pose::new(turned * (Vec3::Z * -0.5), turned),
            angular_velocity: Vec3::new(0.3, 0.2, 4.0),
            velocity: Vec3::new(0.3, 0.2, 4.0).cross(turned * (Vec3::Z * -0.5)),
            ..rod
        };
        let rod = add(&mut world, &desc);
        let joint = JointDesc::new(
            JointKind::Ball,
            None,
            Pose::IDENTITY,
            rod,
            Pose::new(Vec3::Z * 0.5, tippe::Quat::IDENTITY),
        );
        world.add_joint(&joint).unwrap();
        run(&mut world, dt, steps);
        state(&world, rod).position
    };
    let exact = error(0.5e-3, 2000);
    let (coarse, fine) = (
        (error(0.02, 50) - exact).length(),
        (error(0.01, 100) - exact).length(),
    );
    assert!(coarse / fine > 11.0, "{coarse:e} to {fine:e}");
}
