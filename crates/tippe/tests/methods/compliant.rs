//! Compliant contact of `forces`: penalty springs and Hertz' law, restitution by damping, its own substeps, memory and ledger lines.

use tippe::compliance::{ContactLaw, loss};
use tippe::{
    BodyDesc, BodyId, BuildError, Compliance, ForcesParams, JointDesc, JointKind, MassSpec, Method,
    Motor, Pose, Shape, StepError, Surface, Vec3, World,
};

const G: f64 = 9.81;
/// [Lecture]: steel balls, R = 31.85 mm (31.8 mm are four digits less), G = 79.3 GPa, ν = 0.29: H = 1.879e10 N/m^1.5.
const RADIUS: f64 = 0.031_85;

fn steel() -> Compliance {
    Compliance::hertz(79.3e9, 0.29).expect("steel")
}

fn surface(compliance: Compliance, restitution: f64) -> Surface {
    Surface {
        compliance,
        ..Surface::new(0.0, restitution)
    }
}

fn world(surface: Surface) -> World {
    let mut world = World::new(Method::Forces(ForcesParams::default())).expect("parameters");
    world.set_default_surface(surface).expect("surface");
    world
}

fn ball(world: &mut World, radius: f64, mass: f64, x: Vec3, v: Vec3) -> BodyId {
    let mut desc = BodyDesc::dynamic(Shape::Sphere { radius }, x);
    desc.mass = MassSpec::Mass(mass);
    desc.velocity = v;
    world.add_body(&desc).expect("ball")
}

fn floor(world: &mut World) {
    let plane = Shape::HalfSpace { normal: Vec3::Z };
    world
        .add_body(&BodyDesc::fixed(plane, Vec3::ZERO))
        .expect("floor");
}

/// Two balls of 1 kg that meet at `v`; gravity off.
fn pair(surface: Surface, v: f64) -> (World, [BodyId; 2]) {
    let mut world = world(surface);
    world.set_gravity(Vec3::ZERO).expect("gravity");
    let apart = Vec3::X * (RADIUS + 1e-4);
    let a = ball(&mut world, RADIUS, 1.0, -apart, Vec3::X * (0.5 * v));
    let b = ball(&mut world, RADIUS, 1.0, apart, Vec3::X * (-0.5 * v));
    (world, [a, b])
}

fn speed(world: &World, id: BodyId) -> f64 {
    world.body_state(id).expect("known body").velocity.x
}

fn speed_apart(world: &World, [a, b]: [BodyId; 2]) -> f64 {
    speed(world, b) - speed(world, a)
}

#[test]
fn cl_04_two_hertz_balls_meet_their_closed_form() {
    let law: ContactLaw = steel().at(0.5 * RADIUS).unwrap();
    assert!((law.stiffness / 1.879e10 - 1.0).abs() < 3e-4);
    let v = 1.0;
    // ξ_max = (5 m* v²/(4 H))^(2/5) with m* = m/2.
    let closed = libm::pow(5.0 * 0.5 * v * v / (4.0 * law.stiffness), 0.4);
    assert!((law.deepest(0.5, v) / closed - 1.0).abs() < 1e-12);
    for dt in [1e-6, 1e-3] {
        let (mut world, ends) = pair(surface(steel(), 1.0), v);
        let mut deepest: f64 = 0.0;
        for _ in 0..(4e-4_f64 / dt).ceil() as usize {
            world.step(dt).unwrap();
            let [a, b] = ends.map(|e| world.pose(e).unwrap().position.x);
            deepest = deepest.max(2.0 * RADIUS - (b - a));
        }
        let back = speed_apart(&world, ends);
        println!("{dt:e}: e {back:.9}, depth {deepest:e} of {closed:e}");
        assert!((back / v - 1.0).abs() < 1e-6, "{dt}: {back}");
        if dt < 1e-5 {
            // The deepest of the samples: within ½ (π/2 · dt/T)² of the deepest of all.
            assert!((deepest / closed - 1.0).abs() < 3e-5, "{deepest}");
        }
        let e = world.ledger();
        assert!(e.unexplained.abs() < 1e-8 && e.gained.abs() < 1e-8, "{e:?}");
        assert!(e.elastic.abs() < 1e-12 && e.contact_damping.abs() < 1e-12);
    }
}

/// Deepest point of an elastic impact, at the time that the law of energy gives: u = 0 there.
#[test]
fn cl_04_the_deepest_point_is_exact() {
    let law: ContactLaw = steel().at(0.5 * RADIUS).unwrap();
    let closed = law.deepest(0.5, 1.0);
    // T_c = ∫ dξ/√(v² − …) = (ξ_max/v) √π Γ(1 + 1/2.5)/Γ(1/2 + 1/2.5).
    let tau = closed * std::f64::consts::PI.sqrt() * libm::tgamma(1.4) / libm::tgamma(0.9);
    let (mut world, ends) = pair(surface(steel(), 1.0), 1.0);
    world.step(2e-4 + tau).unwrap();
    let [a, b] = ends.map(|e| world.pose(e).unwrap().position.x);
    let depth = 2.0 * RADIUS - (b - a);
    assert!((depth / closed - 1.0).abs() < 1e-6, "{depth:e} {closed:e}");
    assert!(speed_apart(&world, ends).abs() < 1e-6);
    // Half of the energy of motion of each ball is stored: all of it, ½ m* v².
    assert!((world.ledger().elastic / 0.25 - 1.0).abs() < 1e-6);
}

#[test]
fn damping_gives_the_restitution_that_was_asked_for() {
    let spring = |stiffness: f64, exponent: f64| Compliance::Power {
        stiffness,
        exponent,
    };
    let laws = [steel(), spring(1e6, 1.0), spring(1e9, 2.0)];
    for law in laws {
        for e in [0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.8, 0.9, 0.97, 1.0] {
            for v in [0.01, 3.0] {
                let (mut world, ends) = pair(surface(law, e), v);
                let mut steps = 0;
                while speed_apart(&world, ends) < 0.0 || world.ledger().elastic > 0.0 {
                    world.step(1e-3).unwrap();
                    steps += 1;
                    assert!(steps < 2000, "{law:?} {e} {v}");
                }
                let back = speed_apart(&world, ends) / v;
                assert!((back - e).abs() < 1e-3, "{law:?}: {e} gave {back}");
                let lost = 0.25 * v * v * (1.0 - e * e);
                let booked = world.ledger().contact_damping;
                assert!(
                    (booked - lost).abs() < 1e-3 * 0.25 * v * v,
                    "{booked} {lost}"
                );
            }
        }
    }
}

#[test]
fn ab_03_a_penalty_ball_rests_at_its_depth() {
    let k = 1e4;
    let law = Compliance::Power {
        stiffness: k,
        exponent: 1.0,
    };
    let mut world = world(surface(law, 0.3));
    floor(&mut world);
    let id = ball(&mut world, 0.1, 1.0, Vec3::Z * 0.15, Vec3::ZERO);
    for _ in 0..3000 {
        let report = world.step(1e-3).unwrap();
        assert!(report.energy.gained < 1e-9, "{report:?}");
    }
    let depth = 0.1 - world.pose(id).unwrap().position.z;
    assert!((depth / (G / k) - 1.0).abs() < 1e-6, "{depth:e}");
    let force = world.contacts()[0].force().z;
    assert!((force / G - 1.0).abs() < 1e-6, "{force}");
    // The limit of explicit steps is known: 2√(m/k).
    let limit = law.at(0.0).unwrap().explicit_limit(1.0, depth);
    assert!((limit - 0.02).abs() < 1e-12);
    let e = world.ledger();
    assert!((e.elastic - 0.5 * k * depth * depth).abs() < 1e-9, "{e:?}");
    assert!(e.unexplained.abs() < 1e-6 * e.gravity, "{e:?}");
}

/// The step of the user does not matter: the islands choose their own.
#[test]
fn a_bouncing_hertz_ball_is_the_same_at_any_step() {
    let run = |dt: f64| {
        let mut world = world(surface(steel(), 0.8));
        floor(&mut world);
        let id = ball(&mut world, RADIUS, 1.0, Vec3::Z * 0.1, Vec3::ZERO);
        let steps = (0.5 / dt).round() as usize;
        for _ in 0..steps {
            world.step(dt).unwrap();
        }
        world.pose(id).unwrap().position.z
    };
    let (fine, coarse) = (run(1e-3), run(0.01));
    assert!((fine - coarse).abs() < 1e-6, "{fine} {coarse}");
}

/// Regularised Coulomb friction: a ball that slides comes to roll at 5/7 of its speed.
#[test]
fn a_compliant_ball_comes_to_roll() {
    let law = Compliance::Power {
        stiffness: 1e5,
        exponent: 1.0,
    };
    let mut rough = surface(law, 0.2);
    (rough.friction_static, rough.friction_kinetic) = (0.4, 0.4);
    let mut world = world(rough);
    floor(&mut world);
    let start = Vec3::Z * (0.1 - G / 1e5);
    let id = ball(&mut world, 0.1, 1.0, start, Vec3::X * 2.0);
    for _ in 0..1000 {
        world.step(1e-3).unwrap();
    }
    let v = speed(&world, id);
    // 5/7 of the speed for a lever of the radius; the contact is deeper by half of the depth, 5e-5 m of 0.1 m.
    assert!((v / (2.0 * 5.0 / 7.0) - 1.0).abs() < 1e-3, "{v}");
    let e = world.ledger();
    assert!((e.friction - 2.0 * 2.0 / 7.0).abs() < 2e-3, "{e:?}");
}

/// Only the island that gives way is divided: a rigid stack beside it takes the steps it takes alone.
#[test]
fn the_rest_of_the_world_is_not_divided() {
    let stack = |soft: bool| {
        let mut world = World::new(Method::Forces(ForcesParams::default())).unwrap();
        let rubber = world
            .materials_mut()
            .add("rubber", surface(steel(), 1.0))
            .unwrap();
        floor(&mut world);
        let mut ids = Vec::new();
        for k in 0..3 {
            let half = Vec3::splat(0.1);
            let at = Vec3::new(1.0, 0.0, 0.1 + 0.2 * f64::from(k));
            let desc = BodyDesc::dynamic(Shape::Cuboid { half }, at);
            ids.push(world.add_body(&desc).unwrap());
        }
        if soft {
            let mut desc = BodyDesc::dynamic(Shape::Sphere { radius: RADIUS }, Vec3::Z * 0.04);
            desc.shapes[0].material = rubber;
            world.add_body(&desc).unwrap();
        }
        let mut work = Vec::new();
        for _ in 0..100 {
            let report = world.step(1e-3).unwrap();
            work.push(report.work.substeps);
        }
        let poses: Vec<_> = ids.iter().map(|i| world.pose(*i).unwrap()).collect();
        (poses, work)
    };
    let (alone, _) = stack(false);
    let (beside, work) = stack(true);
    for (a, b) in alone.iter().zip(&beside) {
        assert!((a.position - b.position).length() < 1e-12);
    }
    // An impact of the ball takes hundreds of substeps of its island, but few pieces of the step.
    assert!(*work.iter().max().unwrap() < 6, "{work:?}");
}

#[test]
fn snapshots_in_the_middle_of_an_impact_go_on_bit_for_bit() {
    let (mut world, _) = pair(surface(steel(), 0.5), 1.0);
    for _ in 0..12 {
        world.step(2e-5).unwrap();
    }
    assert!(world.ledger().elastic > 0.0);
    let mut twin = World::restore(&world.snapshot()).unwrap();
    assert_eq!(world.hash(), twin.hash());
    for _ in 0..50 {
        world.step(2e-5).unwrap();
        twin.step(2e-5).unwrap();
        assert_eq!(world.hash(), twin.hash());
    }
}

#[test]
fn the_step_memory_is_part_of_the_hash() {
    let run = |v: f64| {
        let (mut world, _) = pair(surface(steel(), 1.0), v);
        world.step(1.5e-4).unwrap();
        world
    };
    let world = run(1.0);
    let mut bytes_differ = world.bare_snapshot() != run(1.0 + 1e-9).bare_snapshot();
    bytes_differ &= world.hash() != run(1.0 + 1e-9).hash();
    assert!(bytes_differ);
    assert_eq!(world.hash(), run(1.0).hash());
}

#[test]
fn other_methods_refuse_with_the_reason() {
    for name in ["sequential", "iterative", "simultaneous", "events"] {
        let mut world = World::new(Method::from_name(name).unwrap()).unwrap();
        world.set_default_surface(surface(steel(), 1.0)).unwrap();
        floor(&mut world);
        ball(&mut world, RADIUS, 1.0, Vec3::Z, Vec3::ZERO);
        let Err(StepError::Refused { reason }) = world.step(1e-3) else {
            panic!("{name} stepped");
        };
        assert!(
            reason.contains("compliant") && reason.contains(name),
            "{reason}"
        );
    }
}

#[test]
fn hertz_between_flat_faces_is_refused() {
    let mut world = world(surface(steel(), 1.0));
    floor(&mut world);
    let half = Vec3::splat(0.1);
    let desc = BodyDesc::dynamic(Shape::Cuboid { half }, Vec3::Z * 0.1);
    world.add_body(&desc).unwrap();
    let error = world.step(1e-3).unwrap_err().to_string();
    assert!(error.contains("round"), "{error}");
}

#[test]
fn a_stiffness_that_nobody_can_follow_is_told() {
    let law = Compliance::Power {
        stiffness: 1e22,
        exponent: 1.0,
    };
    let mut world = world(surface(law, 0.5));
    floor(&mut world);
    ball(&mut world, 0.1, 1.0, Vec3::Z * (0.1 - 1e-15), Vec3::ZERO);
    let before = world.hash();
    let error = world.step(1e-3).unwrap_err().to_string();
    assert!(error.contains("2√(m/k)"), "{error}");
    assert_eq!(world.hash(), before);
}

#[test]
fn numbers_without_sense_are_refused_by_field() {
    let field = |c: Result<Compliance, BuildError>| {
        let error = c.and_then(|c| c.check().map(|()| c)).unwrap_err();
        error.field
    };
    let power = |stiffness: f64, exponent: f64| {
        Ok(Compliance::Power {
            stiffness,
            exponent,
        })
    };
    for k in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(field(power(k, 1.0)), "stiffness");
        assert_eq!(field(Compliance::hertz(k, 0.3)), "shear_modulus");
    }
    for r in [0.5, 0.999, f64::NAN, 1e3] {
        assert_eq!(field(power(1e4, r)), "exponent");
    }
    for nu in [-1.0, 0.51, f64::NAN] {
        assert_eq!(field(Compliance::hertz(1e9, nu)), "poisson_ratio");
    }
    // d(0.05) is 20 to seven digits, d(1) is 0.
    assert!((loss(0.05) - 20.0).abs() < 1e-5 && loss(1.0) == 0.0);
}

/// A compliant chain holds its energy: five balls, one in, and what comes out is row 1.5 of the lecture's table.
#[test]
fn cl_05_a_world_of_balls_disperses_like_the_table() {
    let mut world = world(surface(steel(), 1.0));
    world.set_gravity(Vec3::ZERO).unwrap();
    let mut ids = Vec::new();
    for k in 0..5 {
        let gap = if k == 0 { 1e-5 } else { 0.0 };
        let x = Vec3::X * (2.0 * RADIUS * f64::from(k) - gap);
        let v = if k == 0 { Vec3::X } else { Vec3::ZERO };
        ids.push(ball(&mut world, RADIUS, 1.0, x, v));
    }
    for _ in 0..20 {
        world.step(1e-4).unwrap();
    }
    let table = [-0.0711, -0.0303, -0.0145, 0.1270, 0.9888];
    for (id, want) in ids.iter().zip(table) {
        let v = speed(&world, *id);
        assert!((v - want).abs() < 6e-5, "{v} {want}");
    }
    let e = world.ledger();
    assert!(e.unexplained.abs() < 1e-7 && e.gained < 1e-9, "{e:?}");
}

/// A ball above a floor that gives way is pushed along a slide by a motor and by a servo: the ledger has their work over all substeps.
#[test]
fn work_of_motors_is_booked_over_all_substeps() {
    let motor = Motor::Velocity {
        target: 10.0,
        max_force: 0.5,
    };
    let servo = Motor::Servo {
        position: 1.0,
        velocity: 0.0,
        kp: 10.0,
        kd: 0.0,
        max_force: 0.5,
    };
    for motor in [motor, servo] {
        let mut world = world(surface(steel(), 0.5));
        world.set_gravity(Vec3::ZERO).expect("gravity");
        floor(&mut world);
        let at = Vec3::Z * (RADIUS + 1e-4);
        let id = ball(&mut world, RADIUS, 1.0, at, Vec3::ZERO);
        let turn = tippe::math::rotation::exp(Vec3::Y * std::f64::consts::FRAC_PI_2);
        let along = |position| Pose::new(position, turn);
        let (a, b) = (along(at), along(Vec3::ZERO));
        let mut slide = JointDesc::new(JointKind::Slider, None, a, id, b);
        slide.translation.motor = Some(motor);
        world.add_joint(&slide).expect("a joint");
        for _ in 0..10 {
            world.step(0.01).expect("a step");
        }
        let e = world.ledger();
        let driven = 0.5 * (0.5 * 0.1) * (0.5 * 0.1);
        assert!(
            (speed(&world, id) - 0.05).abs() < 1e-9,
            "{}",
            speed(&world, id)
        );
        assert!((e.motors - driven).abs() < 1e-9 * driven, "{e:?}");
        assert!(
            e.gained < 1e-12 && e.unexplained.abs() < 1e-9 * driven,
            "{e:?}"
        );
    }
}
