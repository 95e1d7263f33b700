//! The method `forces`: contact forces by complementarity, impacts over the graph, order of the smooth motion, rest.

use crate::support;

use support::{
    G, add, below, cuboid, floor, near, near_vec, rough, run, slope, solid, sphere, state, tilt,
};
use tippe::{
    BodyDesc, BodyKind, EventKind, ForcesParams, JointDesc, JointKind, MassSpec, Mat3, Method,
    Motion, Motor, Pose, Shape, ShapeDesc, Spring, Surface, Vec3, World,
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

/// Four bricks of 2 × 0.5 m on a fixed one, each shifted by `d`, without friction: the scene of [Lecture], in space.
fn bricks(d: f64) -> (World, Vec<tippe::BodyId>) {
    let mut world = world(G, Surface::new(0.0, 0.0));
    let shape = cuboid(1.0, 0.5, 0.25);
    add(&mut world, &BodyDesc::fixed(shape.clone(), Vec3::ZERO));
    let place = |i: i32| Vec3::new(d * f64::from(i), 0.0, 0.5 * f64::from(i));
    let ids = (1..5)
        .map(|i| add(&mut world, &solid(shape.clone(), 1.0, place(i))))
        .collect();
    (world, ids)
}

/// Forces of the interfaces from bottom to top, left and right.
fn supports(world: &World, d: f64) -> Vec<f64> {
    let mut sums = vec![0.0; 8];
    for c in world.contacts() {
        let level = ((c.point.z - 0.25) / 0.5).round() as usize;
        let middle = d * (level as f64 + 0.5);
        sums[2 * level + usize::from(c.point.x > middle)] += c.normal_impulse / c.dt;
    }
    sums
}

#[test]
fn cl_32_bricks_stand_with_the_forces_of_the_table() {
    let (mut world, ids) = bricks(0.3);
    let report = run(&mut world, 1e-3, 3);
    below("complementarity", report.residuals.complementarity, 1e-9);
    let table = [
        5.7706, 33.4694, 6.9247, 22.5053, 6.3476, 13.2724, 4.0394, 5.7706,
    ];
    for (found, wanted) in supports(&world, 0.3).into_iter().zip(table) {
        near("support", found, wanted, 5e-5);
    }
    for id in ids {
        below("speed", state(&world, id).velocity.length(), 1e-12);
    }
}

/// Overbalanced: the lowest left contact vanishes, all bricks turn together.
#[test]
fn cl_33_overbalanced_bricks_lose_their_lowest_left_contact() {
    let (mut world, ids) = bricks(0.5);
    let dt = 1e-6;
    run(&mut world, dt, 1);
    let table = [
        0.0, 35.8766, 3.5036, 20.8813, 4.2977, 10.2771, 2.9430, 3.5036,
    ];
    for (found, wanted) in supports(&world, 0.5).into_iter().zip(table) {
        near("support", found, wanted, 2e-4);
    }
    for (id, a) in ids.iter().zip([1.6817, 0.0, -1.6817, -3.3634]) {
        let s = state(&world, *id);
        near("turn", -s.angular_velocity.y / dt, -3.3634, 1e-3);
        near("fall", s.velocity.z / dt, a, 1e-3);
    }
}

/// A ladder slides down a wall without friction and leaves it where sin φ = ⅔ sin φ₀.
#[test]
fn forces_let_the_ladder_leave_the_wall_in_time() {
    let (length, r, start): (f64, f64, f64) = (1.0, 0.02, 1.2);
    let mut world = world(G, Surface::new(0.0, 0.0));
    add(&mut world, &floor());
    add(
        &mut world,
        &BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::X }, Vec3::ZERO),
    );
    let (c, s) = (libm::cos(start), libm::sin(start));
    // The capsule's axis is z: turned towards −x, so that its upper end leans on the wall.
    let lean = tippe::math::rotation::exp(Vec3::Y * (start - std::f64::consts::FRAC_PI_2));
    let inertia = Vec3::new(1.0 / 12.0, 1.0 / 12.0, 1e-4);
    let ladder = BodyDesc {
        mass: MassSpec::Explicit {
            mass: 1.0,
            center: Vec3::ZERO,
            inertia: Mat3::from_diagonal(inertia),
        },
        pose: Pose::new(
            Vec3::new(r + 0.5 * length * c, 0.0, r + 0.5 * length * s),
            lean,
        ),
        ..BodyDesc::dynamic(
            Shape::Capsule {
                half_length: 0.5 * length,
                radius: r,
            },
            Vec3::ZERO,
        )
    };
    let id = add(&mut world, &ladder);
    // φ'' = −(3 g/2 L) cos φ from rest, in small steps.
    let k = 1.5 * G / length;
    let (mut phi, mut rate, mut t, h) = (start, 0.0, 0.0, 1e-6);
    while libm::sin(phi) > 2.0 / 3.0 * s {
        rate -= 0.5 * h * k * libm::cos(phi);
        phi += h * rate;
        rate -= 0.5 * h * k * libm::cos(phi);
        t += h;
    }
    let on_wall = |world: &World| world.contacts().iter().any(|c| c.normal.x.abs() > 0.5);
    let mut time = 0.0;
    while time < t - 2e-3 {
        run(&mut world, 1e-3, 1);
        time += 1e-3;
        assert!(on_wall(&world), "left at {time}, should at {t}");
    }
    while on_wall(&world) && time < t + 1e-2 {
        run(&mut world, 1e-5, 1);
        time += 1e-5;
    }
    near("time of leaving", time, t, 1e-4);
    let axis = state(&world, id).rotation * Vec3::Z;
    near("angle of leaving", libm::asin(axis.z.abs()), phi, 1e-4);
}

/// Ten boxes and a block on a slope of 20° stay where they are, without a rule of rest.
#[test]
fn forces_hold_stacks_and_blocks_without_creep() {
    let mut stack = world(G, Surface::new(0.5, 0.0));
    add(&mut stack, &floor());
    let place = |i: i32| Vec3::Z * (0.1 + 0.2 * f64::from(i));
    let boxes: Vec<_> = (0..10)
        .map(|i| add(&mut stack, &solid(cuboid(0.1, 0.1, 0.1), 1.0, place(i))))
        .collect();
    let report = run(&mut stack, 0.01, 100);
    for (i, id) in boxes.iter().enumerate() {
        below(
            "creep",
            (state(&stack, *id).position - place(i as i32)).length(),
            1e-11,
        );
    }
    // One verified linear solve, and one for the projection.
    assert!(report.work.newton_steps <= 2, "{:?}", report.work);
}

/// Farthest way of any body in `seconds` at 50 ms, of a stack of ten, a block on 20° with μ = 0.5, and a table on four legs. Nothing sleeps and
/// nothing is frozen: this method has no such rule.
fn creep(seconds: f64) -> [f64; 3] {
    let mut stack = world(G, Surface::new(0.5, 0.0));
    add(&mut stack, &floor());
    for k in 0..10 {
        let z = 0.1 + 0.2 * f64::from(k);
        add(&mut stack, &solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::Z * z));
    }
    let angle = 20.0_f64.to_radians();
    let mut incline = world(G, Surface::new(0.5, 0.0));
    add(&mut incline, &slope(angle));
    add(&mut incline, &support::block_on_slope(angle));
    let mut table = world(G, Surface::new(0.5, 0.0));
    add(&mut table, &floor());
    let mut shapes = vec![ShapeDesc {
        pose: Pose::new(Vec3::Z * 0.725, tippe::Quat::IDENTITY),
        ..ShapeDesc::from(cuboid(0.6, 0.4, 0.025))
    }];
    for (x, y) in [(-0.55, -0.35), (-0.55, 0.35), (0.55, -0.35), (0.55, 0.35)] {
        shapes.push(ShapeDesc {
            pose: Pose::new(Vec3::new(x, y, 0.35), tippe::Quat::IDENTITY),
            ..ShapeDesc::from(cuboid(0.025, 0.025, 0.35))
        });
    }
    let desc = BodyDesc {
        shapes,
        ..solid(cuboid(0.1, 0.1, 0.1), 10.0, Vec3::ZERO)
    };
    add(&mut table, &desc);
    [stack, incline, table].map(|mut world| {
        let start: Vec<_> = world.bodies().map(|(id, _, s)| (id, s.position)).collect();
        run(&mut world, 0.05, (seconds / 0.05).round() as usize);
        let way = |(id, x): &(tippe::BodyId, Vec3)| (state(&world, *id).position - *x).length();
        start.iter().map(way).fold(0.0, f64::max)
    })
}

#[test]
fn what_rests_moves_by_less_than_a_nanometre_in_ten_minutes() {
    for way in creep(600.0) {
        below("way", way, 1e-9);
    }
}

/// Wheels on hinges to the world, the second with a motor, the third on a spring: what each puts in goes to its own bodies, so that nothing
/// counts as made.
#[test]
fn work_of_motors_and_springs_is_put_into_their_own_bodies() {
    let mut world = world(0.0, Surface::new(0.0, 0.0));
    for i in 0..3 {
        let at = Pose::from_position(Vec3::X * f64::from(i));
        let wheel = add(&mut world, &solid(sphere(0.1), 1.0, at.position));
        let mut hinge = JointDesc::new(JointKind::Hinge, None, at, wheel, Pose::IDENTITY);
        hinge.rotation.motor = (i == 1).then_some(Motor::Velocity {
            target: 10.0,
            max_force: 0.1,
        });
        hinge.rotation.spring = (i == 2).then_some(Spring {
            rest: 0.5,
            stiffness: 0.1,
            damping: 0.0,
        });
        world.add_joint(&hinge).expect("a joint");
    }
    for _ in 0..20 {
        run(&mut world, 1e-3, 1);
    }
    let e = world.ledger();
    // Half the moment of inertia times the square of the speed: the torque is all that turns the wheel.
    let moment = 0.4 * 0.1 * 0.1;
    let driven = 0.5 * (0.1 * 0.02) * (0.1 * 0.02) / moment;
    near("motors", e.motors, driven, 1e-9 * driven);
    assert!(e.elastic_work > 0.1 * driven, "{e:?}");
    below("gained", e.gained, 1e-9 * driven);
    below("unexplained", e.unexplained.abs(), 1e-9 * driven);
}

/// Pieces follow what is faster than the step: a heavy weight makes a light chain stiff.
#[test]
fn cl_31_pieces_are_as_short_as_the_motion_needs() {
    // Six links of 1 kg and 0.2 m carry a tonne: they swing at more than 400 rad/s.
    let mut chain = world(G, Surface::new(0.5, 0.0));
    let mut above = None;
    for i in 0..7 {
        let z = -0.1 - 0.2 * f64::from(i);
        let mass = if i == 6 { 1000.0 } else { 1.0 };
        let mut link = solid(sphere(0.05), mass, Vec3::Z * z);
        link.velocity = Vec3::X * if i == 6 { 0.3 } else { 0.0 };
        let link = add(&mut chain, &link);
        let top = Pose::new(Vec3::Z * 0.1, tippe::Quat::IDENTITY);
        let frame = match above {
            None => Pose::IDENTITY,
            Some(_) => Pose::new(Vec3::Z * -0.1, tippe::Quat::IDENTITY),
        };
        let joint = JointDesc::new(JointKind::Ball, above, frame, link, top);
        chain.add_joint(&joint).expect("a good joint");
        above = Some(link);
    }
    run(&mut chain, 1.0 / 60.0, 30);
    below("gained by the chain", chain.ledger().gained, 0.1);
}

/// Bounces that what lies above ends within `bounce_time` are none: boxes that fall on each other spend no step's pieces on them.
#[test]
fn cl_31_bounces_under_load_end_before_the_pieces_do() {
    let mut world = world(G, Surface::new(0.4, 0.5));
    add(&mut world, &floor());
    for i in 0..4 {
        let z = 0.05 + 0.11 * f64::from(i);
        add(
            &mut world,
            &solid(cuboid(0.05, 0.05, 0.05), 1.0, Vec3::Z * z),
        );
    }
    // A domino row beside them, the first of it falling.
    for i in 0..4 {
        let place = Vec3::new(1.0 + 0.03 * f64::from(i), 0.0, 0.05);
        let mut domino = solid(cuboid(0.005, 0.02, 0.05), 0.02, place);
        if i == 0 {
            domino.angular_velocity = Vec3::Y * 3.0;
        }
        add(&mut world, &domino);
    }
    for step in 0..150 {
        let report = run(&mut world, 0.01, 1);
        assert_eq!(report.work.caps_hit, 0, "step {step}");
    }
}
