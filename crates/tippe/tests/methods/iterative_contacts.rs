//! The contact phase of `iterative`: predicted depth, stacks, friction at rest, joints, shock propagation, the dials.

use crate::joint_support;
use crate::support;

use joint_support::{chain, join_at};
use support::{
    G, add, below, block_on_slope, cuboid, floor, near, run, slope, solid, sphere, stack, state,
    tilt,
};
use tippe::math::rotation;
use tippe::{
    BodyDesc, BodyId, IterativeParams, JointKind, MassSpec, Mat3, Method, Pose, SequentialParams,
    Surface, Vec3, World,
};

const FRAME: f64 = 1.0 / 60.0;

fn world_with(surface: Surface, params: IterativeParams) -> World {
    let mut world = World::new(Method::Iterative(params)).expect("good parameters");
    world.set_gravity(Vec3::Z * -G).expect("finite gravity");
    world.set_default_surface(surface).expect("good surface");
    world
}

fn world(surface: Surface) -> World {
    world_with(surface, IterativeParams::default())
}

/// Fewer repetitions where tests are not optimised for speed.
const fn fewer(full: usize, quick: usize) -> usize {
    if cfg!(debug_assertions) { quick } else { full }
}

/// Numbers from −1 to 1 that look random and are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

#[test]
fn bs_13_body_on_one_vertex_is_predicted_in_four_looks() {
    let (mut numbers, mut measured) = (Numbers(7), 0);
    for spin in [0.5, 2.0, 5.0, 10.0] {
        for _ in 0..fewer(500, 50) {
            let params = IterativeParams {
                depth_tolerance: 1e-6,
                drift_tolerance: 1e-6,
                predictions: 4,
                ..IterativeParams::default()
            };
            let mut world = world_with(Surface::new(0.0, 0.0), params);
            add(&mut world, &floor());
            let half = Vec3::new(0.3, 0.2, 0.15);
            // Turned so that one vertex is lowest, with nothing else near.
            let turn = rotation::exp(Vec3::new(0.6, 0.5, 0.0) + 0.2 * numbers.vector());
            let vertex = (0..8)
                .map(|k| {
                    let side = |bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                    turn * (half * Vec3::new(side(0), side(1), side(2)))
                })
                .min_by(|p, q| p.z.total_cmp(&q.z))
                .expect("eight vertices");
            let mut body = solid(cuboid(half.x, half.y, half.z), 1.0, Vec3::ZERO);
            body.pose = Pose::new(Vec3::Z * -vertex.z, turn);
            let axis = numbers.vector().normalize();
            body.angular_velocity = axis * spin;
            // The vertex itself is at rest.
            body.velocity = -body.angular_velocity.cross(vertex);
            add(&mut world, &body);
            let report = run(&mut world, 0.04, 1);
            if report.work.substeps > 1 {
                // Another vertex landed.
                continue;
            }
            measured += 1;
            for c in world.contacts() {
                near("gap at the end", c.gap, 0.0, 1e-6);
            }
            below("depth", report.penetration, 1e-6);
        }
    }
    assert!(measured > 4 * fewer(400, 40), "{measured}");
}

#[test]
fn bs_14_ten_cubes_stay_within_the_depth_tolerance() {
    let params = IterativeParams {
        depth_tolerance: 1e-4,
        ..IterativeParams::default()
    };
    let mut world = world_with(Surface::new(0.5, 0.0), params);
    let cubes = stack(&mut world, 10);
    let start: Vec<Vec3> = cubes.iter().map(|&c| state(&world, c).position).collect();
    for _ in 0..fewer(10_000, 2000) {
        let report = run(&mut world, 1e-3, 1);
        below(
            "depth",
            report.penetration.max(report.penetration_found),
            1e-4,
        );
    }
    for (&cube, start) in cubes.iter().zip(start) {
        below(
            "drift",
            (state(&world, cube).position - start).length(),
            1e-3,
        );
    }
}

#[test]
fn bs_15_block_on_a_slope_does_not_creep() {
    let angle = 20f64.to_radians();
    for (mu, dt) in [
        (0.5, 0.01),
        (libm::tan(angle) / 0.95, 1e-3),
        (libm::tan(angle) / 0.95, FRAME),
    ] {
        let mut world = world(Surface::new(mu, 0.0));
        add(&mut world, &slope(angle));
        let id = add(&mut world, &block_on_slope(angle));
        let seconds = if dt < 0.005 { fewer(60, 6) } else { 60 } as f64;
        run(&mut world, dt, (1.0 / dt) as usize);
        let early = state(&world, id).position;
        run(&mut world, dt, ((seconds - 1.0) / dt) as usize);
        let creep = (state(&world, id).position - early).length();
        below(
            &format!("creep at μ = {mu}, dt = {dt}"),
            creep,
            1e-9 * (seconds - 1.0),
        );
    }
}

/// How far a block goes on a slope of 20° with 2 m/s downhill, and how far after it has stopped.
fn stopping(mu: f64, dt: f64, rest: f64) -> (f64, f64) {
    let angle = 20f64.to_radians();
    let mut world = world(Surface::new(mu, 0.0));
    add(&mut world, &slope(angle));
    let mut block = block_on_slope(angle);
    block.velocity = tilt(angle) * Vec3::X * 2.0;
    let id = add(&mut world, &block);
    let start = state(&world, id).position;
    let time = 2.0 / (G * (mu * libm::cos(angle) - libm::sin(angle)));
    run(&mut world, dt, ((time + 0.1) / dt) as usize);
    let stopped = state(&world, id).position;
    run(&mut world, dt, (rest / dt) as usize);
    (
        (stopped - start).length(),
        (state(&world, id).position - stopped).length(),
    )
}

#[test]
fn bs_16_sliding_block_stops_where_coulomb_says() {
    for dt in [0.005, FRAME] {
        let (distance, _) = stopping(0.5, dt, 0.0);
        near("distance", distance, 1.59493, 5e-5);
    }
}

#[test]
fn bs_17_shock_propagation_settles_forty_cubes() {
    // Twenty plain sweeps, then one propagation: no contact is deeper than the tolerance.
    let params = IterativeParams {
        depth_tolerance: 1e-6,
        drift_tolerance: 1e-6,
        shock_sweeps: Some(10),
        effort: 0.0,
        ..IterativeParams::default()
    };
    let mut world = world_with(Surface::new(0.5, 0.0), params);
    stack(&mut world, 40);
    let report = run(&mut world, FRAME, 1);
    below("depth", report.penetration, 1e-6);
    assert_eq!(report.work.newton_steps, 0);
    // The same without it, as many sweeps: far too deep.
    let sweeps = |shock_sweeps, sweeps| {
        let params = IterativeParams {
            shock_sweeps,
            sweeps,
            sweeps_max: 0,
            predictions: 1,
            ..params
        };
        let mut world = world_with(Surface::new(0.5, 0.0), params);
        stack(&mut world, 40);
        run(&mut world, FRAME, 1).penetration
    };
    assert!(sweeps(None, 10) > 1e-4, "{}", sweeps(None, 10));
    // As a first guess from the top down it is the answer for a column: sweeps alone then find nothing left to do.
    let guess = |shock_guess| {
        let params = IterativeParams {
            shock_guess,
            ..IterativeParams::default()
        };
        let mut world = world_with(Surface::new(0.5, 0.0), params);
        stack(&mut world, 40);
        run(&mut world, FRAME, 1).work
    };
    let (with, without) = (guess(true), guess(false));
    assert!(
        with.newton_steps < without.newton_steps,
        "{with:?} {without:?}"
    );
}

/// Balls of radius 5 cm and 0.1 kg that touch, each hung 1 m below a ball joint; the first `lifted` by 30°.
fn office_toy(count: usize, lifted: usize) -> (World, Vec<BodyId>) {
    let mut world = world(Surface::new(0.0, 1.0));
    let angle = 30f64.to_radians();
    let balls = (0..count)
        .map(|i| {
            let pivot = Vec3::new(0.1 * i as f64, 0.0, 1.0);
            let turn = if i < lifted {
                rotation::exp(Vec3::Y * angle)
            } else {
                rotation::exp(Vec3::ZERO)
            };
            let mut ball = solid(sphere(0.05), 0.1, Vec3::ZERO);
            ball.pose = Pose::new(pivot + turn * -Vec3::Z, turn);
            let id = add(&mut world, &ball);
            join_at(
                &mut world,
                JointKind::Ball,
                None,
                id,
                Pose::from_position(pivot),
            );
            id
        })
        .collect();
    (world, balls)
}

#[test]
fn bs_18_joints_meet_while_contacts_are_answered() {
    // One pendulum of the toy alone, at 10 ms: its joint meets to 1e-9 m in three looks.
    let (mut world, balls) = office_toy(1, 1);
    world
        .set_method(Method::Iterative(IterativeParams {
            predictions: 3,
            ..IterativeParams::default()
        }))
        .unwrap();
    let mut worst: f64 = 0.0;
    for _ in 0..fewer(1000, 200) {
        worst = worst.max(run(&mut world, 0.01, 1).residuals.joint_position);
    }
    below("joint", worst, 1e-9);
    assert!(state(&world, balls[0]).is_finite());
    // A ball on a rod that swings into a block: joint and contact in one loop.
    let (mut world, balls) = office_toy(1, 1);
    add(
        &mut world,
        &solid(cuboid(0.1, 0.1, 0.1), 0.5, Vec3::new(0.15, 0.0, 0.0)),
    );
    add(
        &mut world,
        &BodyDesc::fixed(cuboid(2.0, 2.0, 0.1), Vec3::Z * -0.2),
    );
    let mut worst: f64 = 0.0;
    for _ in 0..fewer(2000, 800) {
        let report = run(&mut world, 1e-3, 1);
        worst = worst.max(report.residuals.joint_position);
        below("depth", report.penetration, 1e-6);
    }
    below("joint", worst, 1e-6);
    assert!(world.energy().0.is_finite() && !balls.is_empty());
}

#[test]
fn bs_22_office_toy_with_joints_keeps_its_energy_and_its_count() {
    for lifted in 1..5 {
        let (mut world, balls) = office_toy(5, lifted);
        let energy = |w: &World| w.energy().0 + w.energy().1;
        // What is lifted may fall: the energy above rest.
        let scale = lifted as f64 * 0.1 * G * (1.0 - libm::cos(30f64.to_radians()));
        let start = energy(&world);
        let swing = 1.621;
        // A quarter of a swing later the lifted balls have hit; look just after.
        let period = 2.0 * std::f64::consts::PI * (1.0 / G).sqrt() * 1.0174;
        run(&mut world, 1e-3, (period / 4.0 * 1000.0) as usize + 30);
        for (i, &ball) in balls.iter().enumerate() {
            let speed = state(&world, ball).velocity.length();
            if i < 5 - lifted {
                below(&format!("{lifted} in: ball {i}"), speed, 0.01 * swing);
            } else {
                near(
                    &format!("{lifted} in: ball {i}"),
                    speed,
                    swing,
                    0.02 * swing,
                );
            }
        }
        let (mut drift, mut joint) = (0f64, 0f64);
        for _ in 0..fewer(9500, if lifted == 2 { 2000 } else { 100 }) {
            let report = run(&mut world, 1e-3, 1);
            drift = drift.max((energy(&world) - start).abs() / scale);
            joint = joint.max(report.residuals.joint_position);
        }
        below(&format!("{lifted} in: energy drift in 10 s"), drift, 1e-3);
        below("joint", joint, 1e-6);
    }
}

#[test]
fn bs_19_blocks_on_an_incline_hold_or_slide() {
    for (mu, distance) in [(0.5, 1.59493), (0.8, 0.49758)] {
        let (stopped, after) = stopping(mu, 0.005, fewer(60, 10) as f64);
        near("stops", stopped, distance, 1e-4);
        below("holds", after, 1e-6);
    }
    // Dropped flat from 0.2 m without restitution: it lands with √(2gH)(sin θ − μ cos θ), or at rest where that is negative.
    let angle = 20f64.to_radians();
    for mu in [0.1, 0.2, 0.5, 0.8] {
        let mut world = world(Surface::new(mu, 0.0));
        add(&mut world, &slope(angle));
        let mut block = block_on_slope(angle);
        // Along the vertical, so that it falls onto its place on the plane.
        block.pose.position += Vec3::Z * 0.2;
        let id = add(&mut world, &block);
        let fall = (2.0 * 0.2 / G).sqrt();
        let dt = 1e-3;
        let steps = (fall / dt) as usize + 1;
        run(&mut world, dt, steps);
        let landed = steps as f64 * dt - fall;
        let down = tilt(angle) * Vec3::X;
        let kept = (2.0 * G * 0.2).sqrt() * (libm::sin(angle) - mu * libm::cos(angle));
        let wanted = if kept > 0.0 {
            kept + G * (libm::sin(angle) - mu * libm::cos(angle)) * landed
        } else {
            0.0
        };
        near(
            &format!("slip after landing, μ = {mu}"),
            state(&world, id).velocity.dot(down),
            wanted,
            1e-4,
        );
    }
}

#[test]
fn heavy_box_stands_on_a_light_one() {
    for ratio in [1.0, 100.0, 1000.0, 10_000.0] {
        let mut world = world(Surface::new(0.5, 0.0));
        add(&mut world, &floor());
        add(
            &mut world,
            &solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::Z * 0.1),
        );
        let top = add(
            &mut world,
            &solid(cuboid(0.1, 0.1, 0.1), ratio, Vec3::Z * 0.3),
        );
        let mut depth: f64 = 0.0;
        for _ in 0..600 {
            depth = depth.max(run(&mut world, FRAME, 1).penetration);
        }
        below(&format!("{ratio} : 1, depth"), depth, 1e-4);
        near("height", state(&world, top).position.z, 0.3, 1e-6);
    }
}

#[test]
fn a_hundred_cubes_stand_without_sagging() {
    let mut world = world(Surface::new(0.5, 0.0));
    let cubes = stack(&mut world, 100);
    run(&mut world, FRAME, fewer(600, 60));
    for (k, &id) in cubes.iter().enumerate() {
        let sag = 0.1 + 0.2 * k as f64 - state(&world, id).position.z;
        below(
            &format!("sag of cube {k}"),
            sag.abs(),
            1e-5 * (k + 1) as f64,
        );
    }
}

#[test]
fn chain_with_a_heavy_end_stretches_less_than_a_millimetre() {
    // Nineteen links of 1 kg and a lump of a tonne on twenty ball joints, hanging still and swinging, for ten seconds.
    for push in [0.0, 1.0] {
        let mut world = world(Surface::new(0.0, 0.0));
        let (bodies, _) = chain(&mut world, 20, 1000.0);
        let end = bodies[19];
        let spin = Vec3::Y * (push / 19.5);
        for &id in &bodies {
            let v = spin.cross(state(&world, id).position);
            world.set_velocity(id, v, spin).expect("a living body");
        }
        let (mut joint, mut longest) = (0f64, 0f64);
        for _ in 0..fewer(600, 60) {
            joint = joint.max(run(&mut world, FRAME, 1).residuals.joint_position);
            longest = longest.max(state(&world, end).position.length());
        }
        below(&format!("push {push}: joints"), joint, 1e-6);
        below(&format!("push {push}: stretch"), longest - 19.5, 1e-3);
    }
}

/// The top of the specification: R = 2 cm, 20 g, centre of mass 0.3 R below, spinning at 155 rad/s about an axis tilted by 0.1 rad.
fn tippe_top(mu: f64, slip_speed: f64) -> (World, BodyId) {
    let (r, m) = (0.02, 0.02);
    let surface = Surface {
        slip_speed,
        ..Surface::new(mu, 0.0)
    };
    let mut world = world(surface);
    add(&mut world, &floor());
    let turn = rotation::exp(Vec3::Y * 0.1);
    let (across, along) = (131.0 / 350.0 * m * r * r, 0.4 * m * r * r);
    let top = BodyDesc {
        mass: MassSpec::Explicit {
            mass: m,
            center: Vec3::Z * (-0.3 * r),
            inertia: Mat3::from_diagonal(Vec3::new(across, across, along)),
        },
        pose: Pose::new(Vec3::Z * r, turn),
        angular_velocity: turn * Vec3::Z * 155.0,
        ..BodyDesc::dynamic(sphere(r), Vec3::ZERO)
    };
    let id = add(&mut world, &top);
    (world, id)
}

#[test]
fn bs_21_tippe_top_follows_the_ode_and_keeps_jelletts_integral() {
    let jellett = |world: &World, id: BodyId| {
        let (body, s) = (world.body(id).expect("a living body"), state(world, id));
        let axis = s.rotation * Vec3::Z;
        let (across, along) = (body.moments.x, body.moments.z);
        let w = s.angular_velocity;
        let l = w * across + axis * ((along - across) * w.dot(axis));
        l.dot(Vec3::Z * 0.02 - axis * (0.3 * 0.02))
    };
    let tilt = |world: &World, id: BodyId| {
        libm::acos((state(world, id).rotation * Vec3::Z).z).to_degrees()
    };
    // Times to 90° by the reference ODE at a slip speed of 1 mm/s.
    for (mu, time) in [(0.1, 2.67), (0.2, 1.76), (0.3, 2.98), (0.5, 2.04)] {
        if cfg!(debug_assertions) && mu != 0.2 {
            continue;
        }
        let (mut world, id) = tippe_top(mu, 1e-3);
        let j = jellett(&world, id);
        let (mut reached, mut drift, mut highest) = (f64::INFINITY, 0f64, 0f64);
        for _ in 0..8000 {
            run(&mut world, 1e-3, 1);
            let angle = tilt(&world, id);
            if angle > 90.0 {
                reached = reached.min(world.time());
            }
            highest = highest.max(angle);
            drift = drift.max((jellett(&world, id) / j - 1.0).abs());
        }
        near(
            &format!("time to 90°, μ = {mu}"),
            reached,
            time,
            0.05 * time,
        );
        assert!(highest > 150.0, "μ = {mu}: only {highest}°");
        below("Jellett", drift, 1e-3);
    }
    // Ideal Coulomb friction locks into rolling, which cannot turn it over.
    let (mut world, id) = tippe_top(0.3, 0.0);
    let (j, mut highest, mut drift) = (jellett(&world, id), 0f64, 0f64);
    for _ in 0..fewer(8000, 3000) {
        run(&mut world, 1e-3, 1);
        highest = highest.max(tilt(&world, id));
        drift = drift.max((jellett(&world, id) / j - 1.0).abs());
    }
    below("tilt", highest, 10.0);
    below("Jellett", drift, 1e-3);
}

#[test]
fn bs_23_dials_trade_accuracy_for_work() {
    // A pyramid of ten cubes falls into place from a millimetre, row by row, and a tilted cube lands on its top: fine and exact against
    // coarse, loose and propagated. Newton steps count for the rows that they factor.
    let seconds = if cfg!(debug_assertions) { 0.15 } else { 0.25 };
    let work = |params, dt: f64| {
        let mut world = world_with(Surface::new(0.5, 0.2), params);
        add(&mut world, &floor());
        let mut place = |x: f64, z: f64, turn: Vec3| {
            let mut cube = solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::ZERO);
            cube.pose = Pose::new(Vec3::new(x, 0.0, z), rotation::exp(turn));
            add(&mut world, &cube)
        };
        let mut cubes = Vec::new();
        for row in 0..4 {
            for k in 0..4 - row {
                let x = 0.205 * (f64::from(k) - 0.5 * f64::from(3 - row));
                cubes.push(place(x, 0.101 + 0.201 * f64::from(row), Vec3::ZERO));
            }
        }
        cubes.push(place(0.0, 1.02, Vec3::new(0.3, 0.4, 0.1)));
        let (mut swept, mut depth) = (0, 0f64);
        for _ in 0..(seconds / dt) as usize {
            let report = run(&mut world, dt, 1);
            swept += report.work.rows_swept
                + report.candidates as u64 * u64::from(report.work.newton_steps);
            depth = depth.max(report.penetration).max(report.penetration_found);
        }
        let lowest = |z: f64, &id: &BodyId| z.min(state(&world, id).position.z);
        (swept, depth, cubes.iter().fold(f64::INFINITY, lowest))
    };
    let (fine, exact, _) = work(IterativeParams::default(), 1e-3);
    let coarse = IterativeParams {
        depth_tolerance: 1e-3,
        drift_tolerance: 1e-3,
        velocity_tolerance: 1e-2,
        shock_sweeps: Some(2),
        effort: 0.0,
        sweeps: 2,
        sweeps_max: 4,
        predictions: 1,
        ..IterativeParams::default()
    };
    let (cheap, loose, lowest) = work(coarse, FRAME);
    assert!(20 * cheap <= fine, "{cheap} rows against {fine}");
    below("depth, fine", exact, 1e-6);
    below("depth, coarse", loose, 0.02);
    near("height of the lowest, coarse", lowest, 0.1, 0.01);
}

#[test]
fn agrees_with_sequential_where_both_are_right() {
    // A block thrown onto the floor and sliding to rest: two methods, one answer.
    let end = |method| {
        let mut world = World::new(method).unwrap();
        world.set_gravity(Vec3::Z * -G).expect("finite gravity");
        world
            .set_default_surface(Surface::new(0.4, 0.0))
            .expect("good surface");
        add(&mut world, &floor());
        let mut block = solid(cuboid(0.3, 0.2, 0.1), 1.0, Vec3::Z * 0.1);
        block.velocity = Vec3::new(1.5, 0.5, 0.0);
        let id = add(&mut world, &block);
        run(&mut world, 1e-3, 600);
        state(&world, id).position
    };
    let one = end(Method::Iterative(IterativeParams::default()));
    let other = end(Method::Sequential(SequentialParams::default()));
    support::near_vec("end", one, other, 1e-6);
}
