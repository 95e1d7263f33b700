//! Requirements on rigid bodies, each shown by the experiment that its acceptance sentence names, with the figures it
//! names.
//!
//! Other tests show the same capabilities in other ways; `docs/requirements.md` lists both.

#![allow(non_snake_case)]

use crate::joint_support;
use crate::support;

use std::cell::RefCell;

use joint_support::join_at;
use support::{
    G, add, below, block_on_slope, cuboid, floor, near, near_vec, run, slope, solid, sphere, stack,
    state, tilt, world_with,
};
use tippe::collide::broad::BroadPhase;
use tippe::collide::narrow::collide_shapes;
use tippe::collide::{ContactPoint, Detection, detect};
use tippe::dynamics::impact::impact;
use tippe::dynamics::impulse::{self, contact_response, energy_change, point_response};
use tippe::dynamics::integrate;
use tippe::dynamics::receding::drop_receding;
use tippe::math::rotation;
use tippe::model::Model;
use tippe::report::Phase;
use tippe::state::Load;
use tippe::{
    BodyDesc, BodyId, BodyState, EventKind, ImpactLaw, IterativeParams, JointKind, METHOD_NAMES,
    MassSpec, Mat3, Method, Pose, SequentialParams, ShapeDesc, Surface, Vec3, World,
};

const FRAME: f64 = 1.0 / 60.0;

/// Fewer repetitions where tests are not optimised for speed.
const fn fewer(full: usize, quick: usize) -> usize {
    if cfg!(debug_assertions) { quick } else { full }
}

fn iterative_with(gravity: f64, surface: Surface, params: IterativeParams) -> World {
    world_of(Method::Iterative(params), gravity, surface)
}

fn iterative(gravity: f64, surface: Surface) -> World {
    iterative_with(gravity, surface, IterativeParams::default())
}

fn world_of(method: Method, gravity: f64, surface: Surface) -> World {
    let mut world = World::new(method).expect("good parameters");
    world
        .set_gravity(Vec3::Z * -gravity)
        .expect("finite gravity");
    world.set_default_surface(surface).expect("good surface");
    world
}

/// The methods of this version.
fn methods() -> Vec<Method> {
    METHOD_NAMES
        .into_iter()
        .filter_map(Method::from_name)
        .collect()
}

thread_local! {
    static TRACE: RefCell<Vec<Phase>> = const { RefCell::new(Vec::new()) };
}

/// The phases that one step goes through.
fn traced(world: &mut World, dt: f64) -> Vec<Phase> {
    TRACE.take();
    world.watch_phases(Some(|phase| {
        TRACE.with_borrow_mut(|trace| trace.push(phase))
    }));
    run(world, dt, 1);
    world.watch_phases(None::<fn(Phase)>);
    TRACE.take()
}

/// Order of the phases of a step that is not divided.
const ORDER: [Phase; 6] = [
    Phase::Detect,
    Phase::Collide,
    Phase::Rest,
    Phase::Move,
    Phase::Project,
    Phase::Finish,
];

/// The same of `iterative` where something collided: bodies have other velocities then, so contacts are looked for
/// again.
const AFTER_A_COLLISION: [Phase; 7] = [
    Phase::Detect,
    Phase::Collide,
    Phase::Detect,
    Phase::Rest,
    Phase::Move,
    Phase::Project,
    Phase::Finish,
];

/// A ball that touches the floor and approaches it, one that leaves it, and a block that rests on it.
fn ball_and_block(method: Method) -> (World, BodyId, BodyId) {
    let mut world = world_of(method, G, Surface::new(0.0, 0.5));
    add(&mut world, &floor());
    let block = cuboid(0.1, 0.1, 0.1);
    add(&mut world, &solid(block, 1.0, Vec3::new(1.0, 0.0, 0.1)));
    let ball = |x: f64, v: f64| BodyDesc {
        velocity: Vec3::Z * v,
        ..solid(sphere(0.1), 1.0, Vec3::new(x, 0.0, 0.1))
    };
    let down = add(&mut world, &ball(0.0, -2.0));
    let up = add(&mut world, &ball(-1.0, 1.0));
    (world, down, up)
}

/// Trace of phases logged and asserted: detect, collision loop, contact impulses, motion (and the projection after it).
#[test]
fn bs_05_the_trace_of_a_step_is_detect_collide_rest_move() {
    let (mut world, ..) = ball_and_block(Method::Iterative(IterativeParams::default()));
    assert_eq!(traced(&mut world, 0.01), AFTER_A_COLLISION);
    // Nothing collides now.
    assert_eq!(traced(&mut world, 0.01), ORDER);
}

/// The order of the sequential step, traced.
#[test]
fn cl_26_the_trace_of_a_step_is_detect_collide_impulses_move_project() {
    let (mut world, ..) = ball_and_block(Method::Sequential(SequentialParams::default()));
    assert_eq!(traced(&mut world, 0.01), ORDER);
}

/// All orders of four things.
fn orders() -> Vec<[usize; 4]> {
    let mut all = Vec::new();
    for code in 0..256_usize {
        let order = [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3];
        if (0..4).all(|k| order.contains(&k)) {
            all.push(order);
        }
    }
    all
}

/// Cube on four feet, u = −1, e = 0.5: all corners leave with +0.5 and ω = 0 to 1e-9, for all 24 orders of the
/// contacts.
#[test]
fn bs_08_four_corners_rise_alike_in_all_24_orders() {
    let corner = |k: usize| {
        let side = |bit: usize| if k >> bit & 1 == 0 { -0.5 } else { 0.5 };
        Vec3::new(side(0), side(1), -0.49)
    };
    assert_eq!(orders().len(), 24);
    for order in orders() {
        for effort in [0.0, IterativeParams::default().effort] {
            let params = IterativeParams {
                effort,
                ..IterativeParams::default()
            };
            let mut world = iterative_with(0.0, Surface::new(0.4, 0.5), params);
            add(&mut world, &floor());
            // A small foot in each corner: contacts come in the order of the shapes.
            let feet = order.map(|k| ShapeDesc {
                pose: Pose::from_position(corner(k)),
                ..ShapeDesc::from(sphere(0.01))
            });
            let cube = BodyDesc {
                shapes: feet.to_vec(),
                pose: Pose::from_position(Vec3::Z * 0.5),
                velocity: Vec3::Z * -1.0,
                mass: MassSpec::Explicit {
                    mass: 1.0,
                    center: Vec3::ZERO,
                    inertia: Mat3::IDENTITY / 6.0,
                },
                ..BodyDesc::default()
            };
            let id = add(&mut world, &cube);
            run(&mut world, 0.01, 1);
            let seen: Vec<Vec3> = world.contacts().iter().map(|c| c.point).collect();
            assert_eq!(seen.len(), 4);
            for (point, k) in seen.iter().zip(order) {
                assert_eq!(point.x > 0.0, corner(k).x > 0.0, "{order:?}");
                assert_eq!(point.y > 0.0, corner(k).y > 0.0, "{order:?}");
            }
            let s = state(&world, id);
            for k in 0..4 {
                let u = s.point_velocity(s.position + s.rotation * corner(k));
                near_vec("corner", u, Vec3::Z * 0.5, 1e-9);
            }
            below("spin", s.angular_velocity.length(), 1e-9);
        }
    }
}

/// Whether a ball of 0.1 m that arrives with this velocity sticks.
fn sticks(v: Vec3, surface: Surface) -> bool {
    let mut world = iterative(0.0, surface);
    add(&mut world, &floor());
    let mut ball = solid(sphere(0.1), 1.0, Vec3::Z * 0.105);
    ball.velocity = v;
    let id = add(&mut world, &ball);
    run(&mut world, 0.01, 2);
    let s = state(&world, id);
    (s.velocity.x - 0.1 * s.angular_velocity.y).abs() < 1e-9
}

/// Not as worded: with μ_s > μ_d the switch between sticking and sliding of a ball that arrives follows μ_d, not μ_s.
/// What arrives sliding has the kinetic coefficient until it stops, by the impact law of [Mirtich94].
#[test]
fn bs_11_switch_point_of_an_arriving_ball_follows_the_kinetic_cone() {
    let (e, v_n, v_x) = (0.6, 2.0, 3.0);
    let needed = v_x / (3.5 * (1.0 + e) * v_n);
    for ratio in [1.0, 0.5] {
        let (mut low, mut high) = (0.5 * needed, 4.0 * needed);
        for _ in 0..40 {
            let mu_s = 0.5 * (low + high);
            let surface = Surface {
                friction_kinetic: ratio * mu_s,
                ..Surface::new(mu_s, e)
            };
            if sticks(Vec3::new(v_x, 0.0, -v_n), surface) {
                high = mu_s;
            } else {
                low = mu_s;
            }
        }
        println!(
            "μ_d / μ_s = {ratio}: sticks from μ_s = {:.6}, worded {needed:.6}",
            high
        );
        near("switch", ratio * high, needed, 1e-6);
    }
}

/// 40 cubes, 20 sweeps and one pass of propagation: no contact above the tolerance; sweeps alone leave more.
#[test]
fn bs_17_twenty_sweeps_and_one_propagation_hold_forty_cubes() {
    let depth = |shock_sweeps: Option<u32>, tolerance: f64| {
        let params = IterativeParams {
            depth_tolerance: tolerance,
            drift_tolerance: tolerance,
            shock_sweeps,
            // Double sweeps.
            sweeps: 10,
            effort: 0.0,
            predictions: 1,
            sweeps_max: if shock_sweeps.is_some() { 200 } else { 0 },
            ..IterativeParams::default()
        };
        let mut world = iterative_with(G, Surface::new(0.5, 0.0), params);
        stack(&mut world, 40);
        let report = run(&mut world, FRAME, 1);
        println!(
            "tolerance {tolerance:e}, shock {shock_sweeps:?}: depth {:e}, {:?}",
            report.penetration, report.work
        );
        assert_eq!(report.work.newton_steps, 0);
        report
    };
    for tolerance in [1e-4, 1e-6, 1e-9] {
        let shock = depth(Some(10), tolerance);
        below("depth", shock.penetration, tolerance);
        // Without the propagation, more sweeps than that leave more than the largest of these.
        let plain = depth(None, tolerance);
        assert!(plain.penetration > 1e-4 && plain.work.sweeps >= 40);
    }
}

/// The top of the specification: R = 2 cm, 20 g, centre of mass 0.3 R below, spinning about an axis tilted by 0.1 rad.
fn tippe_top(mu: f64, slip_speed: f64, spin: f64) -> (World, BodyId) {
    let (r, m) = (0.02, 0.02);
    let surface = Surface {
        slip_speed,
        ..Surface::new(mu, 0.0)
    };
    let mut world = iterative(G, surface);
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
        angular_velocity: turn * Vec3::Z * spin,
        ..BodyDesc::dynamic(sphere(r), Vec3::ZERO)
    };
    let id = add(&mut world, &top);
    (world, id)
}

fn axis_tilt(world: &World, id: BodyId) -> f64 {
    libm::acos((state(world, id).rotation * Vec3::Z).z).to_degrees()
}

/// At ε = 0 the top stays below 10° for 8 s, whatever the friction; so it does at ε = 1 mm/s if it spins with 50 rad/s
/// only. At 155 rad/s it turns over, and spins then with (1 − α)/(1 + α) of what it had.
#[test]
fn bs_21_top_stays_up_with_ideal_friction_and_keeps_its_share_of_spin() {
    let highest = |mu: f64, slip_speed: f64, spin: f64| {
        let (mut world, id) = tippe_top(mu, slip_speed, spin);
        let mut most: f64 = 0.0;
        for _ in 0..8000 {
            run(&mut world, 1e-3, 1);
            most = most.max(axis_tilt(&world, id));
        }
        println!("μ = {mu}, ε = {slip_speed}, {spin} rad/s: {most:.3}°");
        most
    };
    for mu in [0.1, 0.2, 0.5] {
        if !cfg!(debug_assertions) || mu == 0.2 {
            below("tilt", highest(mu, 0.0, 155.0), 10.0);
        }
    }
    below("tilt at 50 rad/s", highest(0.2, 1e-3, 50.0), 10.0);
    let (mut world, id) = tippe_top(0.2, 1e-3, 155.0);
    while axis_tilt(&world, id) < 179.0 && world.time() < 8.0 {
        run(&mut world, 1e-3, 1);
    }
    let s = state(&world, id);
    let share = s.angular_velocity.z / 155.0;
    println!(
        "tilt {:.3}° at {:.3} s, share of spin {share:.4}",
        axis_tilt(&world, id),
        world.time()
    );
    near("share of spin", share, 0.7 / 1.3, 0.01 * 0.7 / 1.3);
}

/// Five balls of 0.1 kg on pendulums of 1 m, two released at 30°: 1.621 m/s in, two out within 1 %, the others below 1
/// % of it.
#[test]
fn bs_22_two_balls_of_the_toy_leave_within_one_per_cent() {
    let mut world = iterative(G, Surface::new(0.0, 1.0));
    let angle = 30f64.to_radians();
    let mut balls = Vec::new();
    for i in 0..5 {
        let pivot = Vec3::new(0.1 * f64::from(i), 0.0, 1.0);
        let turn = rotation::exp(Vec3::Y * if i < 2 { angle } else { 0.0 });
        let mut ball = solid(sphere(0.05), 0.1, Vec3::ZERO);
        ball.pose = Pose::new(pivot + turn * -Vec3::Z, turn);
        let id = add(&mut world, &ball);
        let frame = Pose::from_position(pivot);
        join_at(&mut world, JointKind::Ball, None, id, frame);
        balls.push(id);
    }
    let mut before = 0.0;
    let hit = |world: &World| world.events().iter().any(|e| e.kind == EventKind::Impact);
    while !hit(&world) && world.time() < 1.0 {
        before = state(&world, balls[1]).velocity.length();
        run(&mut world, 1e-3, 1);
    }
    near("speed of impact", before, 1.621, 0.01 * 1.621);
    run(&mut world, 1e-3, 2);
    for (i, &ball) in balls.iter().enumerate() {
        let speed = state(&world, ball).velocity.length();
        println!("ball {i}: {speed:.6} m/s");
        let wanted = if i < 3 { 0.0 } else { 1.621 };
        near("speed", speed, wanted, 0.01 * 1.621);
    }
}

/// Visits of a row by sweeps that a row of a factorisation counts for: some 1100 multiply-adds against 120.
const FACTORED: u64 = 9;

/// Work of a quarter of a second of a pyramid that falls into place with a tilted cube on it: rows swept, and rows factored
/// as often as they cost a sweep; and the deepest overlap.
fn pyramid_work(params: IterativeParams, dt: f64) -> (u64, f64, f64) {
    let mut world = iterative_with(G, Surface::new(0.5, 0.2), params);
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
    for _ in 0..(0.25 / dt) as usize {
        let report = run(&mut world, dt, 1);
        let factored = report.candidates as u64 * u64::from(report.work.newton_steps);
        swept += report.work.rows_swept + FACTORED * factored;
        depth = depth.max(report.penetration).max(report.penetration_found);
    }
    let lowest = |z: f64, &id: &BodyId| z.min(state(&world, id).position.z);
    (swept, depth, cubes.iter().fold(f64::INFINITY, lowest))
}

/// The same scene with h = 1/60 s, depth tolerance 1 mm and shock propagation, nothing else changed: 20 times less
/// work, no tunnelling.
#[test]
fn bs_23_three_dials_alone_make_it_twenty_times_cheaper() {
    let (fine, exact, _) = pyramid_work(IterativeParams::default(), 1e-3);
    let coarse = IterativeParams {
        depth_tolerance: 1e-3,
        shock_sweeps: Some(10),
        ..IterativeParams::default()
    };
    let (cheap, loose, lowest) = pyramid_work(coarse, FRAME);
    println!(
        "rows {fine} and {cheap}: {:.1} times; depths {exact:e} and {loose:e}, lowest cube at {lowest}",
        fine as f64 / cheap as f64
    );
    assert!(20 * cheap <= fine, "{cheap} rows against {fine}");
    near("height of the lowest cube", lowest, 0.1, 0.05);
}

/// Broad, narrow, filter receding points, resolve momenta, integrate: separate functions with public inputs and
/// outputs, which called by hand make the step of `iterative`.
#[test]
fn cl_02_five_public_phases_make_a_step() {
    let h = 0.01;
    let (mut world, down, up) = ball_and_block(Method::Iterative(IterativeParams::default()));
    let mut trace = Vec::new();
    let mut model = Model::default();
    model.gravity = world.gravity();
    model.materials = world.materials().clone();
    let ids: Vec<BodyId> = world.body_ids().collect();
    model.bodies = ids.iter().map(|&id| world.body(id).ok().cloned()).collect();
    let mut now: Vec<BodyState> = ids.iter().map(|&id| state(&world, id)).collect();
    let body = |i: usize| model.bodies[i].as_ref().expect("no free slot");

    trace.push("broad");
    let boxes: Vec<_> = (0..4)
        .map(|i| {
            let frame = now[i].frame(body(i));
            body(i).shapes[0].shape.bounds(&frame).grown(0.01)
        })
        .collect();
    let movable = [false, true, true, true];
    let mut broad = BroadPhase::default();
    let pairs: Vec<(u32, u32)> = broad.update(&boxes, &movable).to_vec();
    assert_eq!(pairs, [(0, 1), (0, 2), (0, 3)]);

    trace.push("narrow");
    let mut points: Vec<(usize, usize, ContactPoint)> = Vec::new();
    for &(a, b) in &pairs {
        let (a, b) = (a as usize, b as usize);
        let [(s, p), (t, q)] = [a, b].map(|i| (&body(i).shapes[0].shape, now[i].frame(body(i))));
        let mut found = Vec::new();
        collide_shapes(s, &p, t, &q, 1e-3, &mut found);
        points.extend(found.into_iter().map(|c| (a, b, c)));
    }
    assert_eq!(points.len(), 6);

    trace.push("filter");
    drop_receding(&mut points, &now, 0.0);
    assert_eq!(points.len(), 1, "the block rests, one ball recedes");

    trace.push("resolve");
    for (a, b, c) in &points {
        let u = now[*b].point_velocity(c.point_b) - now[*a].point_velocity(c.point_a);
        let K = contact_response((body(*a), &now[*a]), (body(*b), &now[*b]), c.point_b);
        let hit = impact(K, c.normal, u, &Surface::new(0.0, 0.5)).expect("good numbers");
        now[*a] = impulse::apply(body(*a), &now[*a], -hit.impulse, c.point_a);
        now[*b] = impulse::apply(body(*b), &now[*b], hit.impulse, c.point_b);
    }

    trace.push("integrate");
    for i in [2, 3] {
        let a = integrate::acceleration(&model, body(i), &Load::default());
        now[i] = integrate::advance(body(i), &now[i], a, 0.0, h);
    }

    assert_eq!(trace, ["broad", "narrow", "filter", "resolve", "integrate"]);
    assert_eq!(traced(&mut world, h), AFTER_A_COLLISION);
    for (i, id) in [(2, down), (3, up)] {
        let s = state(&world, id);
        near_vec("position", now[i].position, s.position, 1e-14);
        near_vec("velocity", now[i].velocity, s.velocity, 1e-14);
    }
}

/// K of the lower end of a rod of 1 kg and 1 m at this angle to the ground.
fn rod_response(angle: f64) -> Mat3 {
    let along = Vec3::new(libm::cos(angle), 0.0, libm::sin(angle));
    let across =
        Mat3::IDENTITY - Mat3::from_cols(along * along.x, along * along.y, along * along.z);
    point_response(1.0, across * 12.0, along * -0.5)
}

/// Rod at 45°, tip velocity (1, −1), e = 0.8, μ = 0.5. Uncoupled: u_n⁺ = 1.34 and +47 % energy. The coupled rule of the
/// lecture: 0.8 and −20 %. The impulse-space law that stands in its place: 0.8 too, and −30 %, since the tip stops and
/// slides back.
#[test]
fn cl_23_tall_rod_has_the_figures_of_the_lecture() {
    let K = rod_response(std::f64::consts::FRAC_PI_4);
    let (u, e, mu) = (Vec3::new(1.0, 0.0, -1.0), 0.8, 0.5);
    let energy = 0.5 * u.dot(K.inverse() * u);
    let gain = |P: Vec3| energy_change(K, u, P) / energy;
    let p_n = (1.0 + e) / K.z_axis.z;
    let apart = Vec3::new(-(1.0 / K.x_axis.x).min(mu * p_n), 0.0, p_n);
    near("uncoupled u_n⁺", (u + K * apart).z, 1.34, 5e-3);
    near("uncoupled energy", gain(apart), 0.47, 6e-3);
    let coupled = K.inverse() * (Vec3::Z * e - u);
    assert!(coupled.x.abs() <= mu * coupled.z, "it sticks: {coupled}");
    near("coupled u_n⁺", (u + K * coupled).z, 0.8, 1e-12);
    near("coupled energy", gain(coupled), -0.2, 1e-12);
    let surface = Surface {
        impact_law: ImpactLaw::Newton,
        ..Surface::new(mu, e)
    };
    let law = impact(K, Vec3::Z, u, &surface).expect("good numbers");
    println!("law: {:?}, energy {:.4}", law.velocity, gain(law.impulse));
    near("u_n⁺ by the law", law.velocity.z, 0.8, 1e-12);
    near("energy by the law", gain(law.impulse), -0.296, 1e-3);
}

/// Ten boxes, ten sweeps a solve: warm starts leave a fifth of the cold residual or less.
#[test]
fn cl_29_ten_single_sweeps_warm_and_cold() {
    let residual = |warm_start: bool| {
        let params = SequentialParams {
            // Double sweeps.
            sweeps: 5,
            effort: 0.0,
            warm_start,
            ..SequentialParams::default()
        };
        let mut world = world_with(G, Surface::new(0.5, 0.0), params);
        stack(&mut world, 10);
        run(&mut world, FRAME, 60);
        let worst = (0..60).map(|_| run(&mut world, FRAME, 1).residuals.complementarity);
        worst.fold(0.0, f64::max)
    };
    let (warm, cold) = (residual(true), residual(false));
    println!("residual {warm:e} m/s warm, {cold:e} m/s cold");
    assert!(5.0 * warm <= cold);
}

/// Points, normals, ordered pairs of bodies and a restitution per point; pairs may repeat, bodies may be fixed.
#[test]
fn sr_05_the_contact_record_has_what_a_solver_needs() {
    let mut world = iterative(G, Surface::new(0.3, 0.25));
    let steel = world
        .materials_mut()
        .add("steel", Surface::new(0.1, 0.75))
        .expect("a new name");
    add(&mut world, &floor());
    add(
        &mut world,
        &solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::Z * 0.1),
    );
    let mut top = solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::Z * 0.3);
    top.shapes[0].material = steel;
    add(&mut world, &top);
    let ids: Vec<BodyId> = world.body_ids().collect();
    let mut model = Model::default();
    model.materials = world.materials().clone();
    model.bodies = ids.iter().map(|&id| world.body(id).ok().cloned()).collect();
    let now: Vec<BodyState> = ids.iter().map(|&id| state(&world, id)).collect();
    let mut found = Detection::default();
    detect(&model, &now, &now, &mut found);
    // Four points of a pair with the fixed floor, four of a pair of cubes: pairs repeat.
    let pairs: Vec<_> = found.contacts.iter().map(|c| c.bodies()).collect();
    assert_eq!(pairs, [[(0, 1); 4], [(1, 2); 4]].concat());
    for c in &found.contacts {
        assert_eq!(c.point.normal, Vec3::Z, "from A to B");
        near("gap", c.point.gap, 0.0, 1e-15);
        near_vec("points", c.point.point_a, c.point.point_b, 1e-15);
        assert_eq!(
            c.surface.restitution, 0.25,
            "default, and the minimum of the two"
        );
    }
    assert!(model.bodies[0].as_ref().is_some_and(|b| !b.is_dynamic()));
    // A restitution of its own for one pair.
    let default = model.bodies[1].as_ref().expect("a body").shapes[0].material;
    let bouncy = Surface::new(0.1, 0.5);
    model
        .materials
        .set_pair(default, steel, bouncy)
        .expect("known materials");
    detect(&model, &now, &now, &mut found);
    let e: Vec<f64> = found
        .contacts
        .iter()
        .map(|c| c.surface.restitution)
        .collect();
    assert_eq!(e, [[0.25; 4], [0.5; 4]].concat());
}

/// Rod of 1 kg and 1 m pinned at its left end, its tip hits with ω = −1, e = 1: contact impulse 2/3, pin velocity 0,
/// tip +1, energy 1/6 J.
#[test]
fn sr_21_pinned_rod_has_the_figures_of_the_closed_form() {
    for method in methods() {
        let name = method.name();
        let mut world = world_of(method, 0.0, Surface::new(0.0, 1.0));
        add(&mut world, &floor());
        let radius = 1e-3;
        let spin = Vec3::Y;
        let rod = BodyDesc {
            shapes: vec![ShapeDesc {
                pose: Pose::from_position(Vec3::X * 0.5),
                ..ShapeDesc::from(sphere(radius))
            }],
            pose: Pose::from_position(Vec3::new(0.5, 0.0, radius)),
            velocity: spin.cross(Vec3::X * 0.5),
            angular_velocity: spin,
            mass: MassSpec::Explicit {
                mass: 1.0,
                center: Vec3::ZERO,
                inertia: Mat3::from_diagonal(Vec3::new(1e-3, 1.0 / 12.0, 1.0 / 12.0)),
            },
            ..BodyDesc::default()
        };
        let id = add(&mut world, &rod);
        let pin = Pose::new(
            Vec3::Z * radius,
            rotation::exp(Vec3::X * -0.5 * std::f64::consts::PI),
        );
        join_at(&mut world, JointKind::Hinge, None, id, pin);
        run(&mut world, 1e-5, 1);
        let p: f64 = world.contacts().iter().map(|c| c.normal_impulse).sum();
        let s = state(&world, id);
        let at = |x: f64| s.point_velocity(s.position + s.rotation * (Vec3::X * x));
        println!("{name}: impulse {p}, pin {}, tip {}", at(-0.5), at(0.5));
        // Within the step the rod turns by 1e-5 rad.
        near(&format!("{name}: impulse"), p, 2.0 / 3.0, 2e-5);
        below(&format!("{name}: pin"), at(-0.5).length(), 1e-9);
        near(&format!("{name}: tip"), at(0.5).z, 1.0, 2e-5);
        near(
            &format!("{name}: energy"),
            world.energy().0,
            1.0 / 6.0,
            2e-5,
        );
    }
}

/// One scene runs with every method of this version, each behind the same enum and with the same record of contacts.
#[test]
fn sr_22_one_scene_runs_with_every_method() {
    let mut loads = Vec::new();
    for method in methods() {
        let name = method.name();
        let mut world = World::new(method).expect("good parameters");
        let cubes = stack(&mut world, 3);
        run(&mut world, FRAME, 60);
        let below_all = world.contacts().iter().filter(|c| c.body_a.index() == 0);
        let load: f64 = below_all.map(|c| c.force().z).sum();
        near(&format!("{name}: load"), load, 24.0 * G, 1e-6);
        near(
            &format!("{name}: top"),
            state(&world, cubes[2]).position.z,
            0.5,
            1e-6,
        );
        let keys: Vec<_> = world
            .contacts()
            .iter()
            .map(|c| (c.body_a, c.body_b, c.shape_a, c.shape_b, c.feature_id))
            .collect();
        loads.push((name, keys));
    }
    assert!(loads.len() >= 2, "{loads:?}");
    assert!(loads.windows(2).all(|w| w[0].1 == w[1].1), "{loads:?}");
    // The methods to come are known by name only.
    for name in METHOD_NAMES {
        let known = loads.iter().any(|(n, _)| *n == name);
        assert_eq!(Method::from_name(name).is_some(), known, "{name}");
    }
}

/// Block of 0.2 × 0.2 × 0.1 m and 1 kg, e = 0.3: mean contact force over 5 s is (0, 9.81) N on the level and (3.3552,
/// 9.2184) N on a ramp of 20°.
#[test]
fn mc_30_mean_forces_over_five_seconds_on_the_level_and_on_a_ramp() {
    for method in methods() {
        for (degrees, tangential, normal) in [(0.0_f64, 0.0, 9.81), (20.0, 3.3552, 9.2184)] {
            let name = method.name();
            let angle = degrees.to_radians();
            let mut world = world_of(method.clone(), G, Surface::new(0.6, 0.3));
            add(&mut world, &slope(angle));
            let mut block = block_on_slope(angle);
            block.shapes = vec![ShapeDesc::from(cuboid(0.1, 0.1, 0.05))];
            block.pose.position = tilt(angle) * (Vec3::Z * 0.05);
            add(&mut world, &block);
            let dt = 0.005;
            let (mut force, mut impulse) = (Vec3::ZERO, Vec3::ZERO);
            for _ in 0..1000 {
                run(&mut world, dt, 1);
                let sum: Vec3 = world.contacts().iter().map(|c| c.force()).sum();
                force += sum / 1000.0;
                impulse += sum * dt;
            }
            let local = tilt(angle).conjugate() * force;
            println!("{name}, {degrees}°: {local} N, {impulse} N·s");
            near(
                &format!("{name}: tangential"),
                -local.x,
                tangential,
                0.02 * 9.81,
            );
            near(&format!("{name}: normal"), local.z, normal, 0.01 * 9.81);
            near_vec(
                "total impulse",
                impulse,
                Vec3::Z * (5.0 * G),
                0.01 * 5.0 * G,
            );
        }
    }
}

/// A cube lies for a minute with ‖ω‖ < 1e-9, by the method that this requirement comes from too.
#[test]
fn bs_03_cube_lies_still_for_a_minute_with_iterative() {
    let mut world = iterative(G, Surface::new(0.5, 0.0));
    add(&mut world, &floor());
    let cube = add(
        &mut world,
        &solid(cuboid(0.5, 0.5, 0.5), 1.0, Vec3::Z * 0.5),
    );
    for _ in 0..fewer(3600, 600) {
        let report = run(&mut world, FRAME, 1);
        assert_eq!(report.contacts, 4);
        let s = state(&world, cube);
        below("‖ω‖", s.angular_velocity.length(), 1e-9);
        below("speed", s.velocity.length(), 1e-9);
    }
}

/// Residuals at the exit of the collision loop, against the tolerance itself.
#[test]
fn bs_12_residuals_are_below_the_tolerance_itself() {
    let mut world = iterative(0.0, Surface::new(0.5, 0.3));
    add(&mut world, &floor());
    let mut cube = solid(cuboid(0.5, 0.3, 0.2), 1.0, Vec3::Z * 0.2);
    cube.velocity = Vec3::new(0.4, 0.1, -1.0);
    cube.angular_velocity = Vec3::new(0.3, 0.1, 0.5);
    add(&mut world, &cube);
    let report = run(&mut world, 1e-3, 1);
    println!("{:?}", report.residuals);
    let tolerance = IterativeParams::default().velocity_tolerance;
    assert!(report.residuals.complementarity <= tolerance);
    assert!(report.residuals.stick_slip <= tolerance);
    assert_eq!(report.work.caps_open(), 0);
}

/// Not as worded: ten boxes for a minute with accumulated impulses alone, 50 sweeps a solve. Visited forward and backward
/// they stand, displaced by 5 cm; in random order they lean, and some fall, not within 20 s.
#[test]
fn cl_28_ten_boxes_by_sweeps_alone() {
    for shuffle_seed in [None, Some(1), Some(2), Some(3)] {
        let params = SequentialParams {
            // Double sweeps.
            sweeps: 25,
            effort: 0.0,
            shuffle_seed,
            ..SequentialParams::default()
        };
        let mut world = world_with(G, Surface::new(0.5, 0.0), params);
        let cubes = stack(&mut world, 10);
        let displaced = |world: &World| {
            let off = |(k, &id): (usize, &BodyId)| {
                (state(world, id).position - Vec3::Z * (0.1 + 0.2 * k as f64)).length()
            };
            cubes.iter().enumerate().map(off).fold(0.0, f64::max)
        };
        let seconds = fewer(60, 5);
        let fell = (1..=seconds).find(|_| {
            run(&mut world, FRAME, 60);
            displaced(&world) > 0.1
        });
        println!(
            "order {shuffle_seed:?}: fell after {fell:?} s, displaced by {:e} m",
            displaced(&world)
        );
        if shuffle_seed.is_none() || cfg!(debug_assertions) {
            assert_eq!(fell, None, "{shuffle_seed:?}");
        } else {
            assert!(fell.is_none_or(|t| t > 20), "{shuffle_seed:?}: {fell:?}");
        }
    }
}
