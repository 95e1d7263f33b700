//! The method `events`: exact times of impact, nothing missed, energy kept, the same bits however time is cut into steps.

use tippe::{
    BodyDesc, BodyId, BodyKind, EventKind, EventsParams, JointDesc, JointKind, Method, Motion,
    Pose, Shape, Surface, Vec3, World,
};

const G: f64 = 9.81;

fn world(surface: Surface) -> World {
    let mut world = World::new(Method::Events(EventsParams::default())).expect("a value");
    world.set_default_surface(surface).expect("a value");
    world
}

fn floor(world: &mut World) -> BodyId {
    let half_space = Shape::HalfSpace { normal: Vec3::Z };
    world
        .add_body(&BodyDesc::fixed(half_space, Vec3::ZERO))
        .expect("a value")
}

fn sphere(world: &mut World, radius: f64, at: Vec3, velocity: Vec3) -> BodyId {
    let desc = BodyDesc {
        velocity,
        ..BodyDesc::dynamic(Shape::Sphere { radius }, at)
    };
    world.add_body(&desc).expect("a value")
}

fn cuboid(world: &mut World, half: Vec3, at: Vec3, velocity: Vec3, spin: Vec3) -> BodyId {
    let desc = BodyDesc {
        velocity,
        angular_velocity: spin,
        ..BodyDesc::dynamic(Shape::Cuboid { half }, at)
    };
    world.add_body(&desc).expect("a value")
}

fn run(world: &mut World, seconds: f64, steps: u32) {
    for _ in 0..steps {
        world.step(seconds / f64::from(steps)).expect("a value");
    }
}

/// Whether tests run as long as the source asks: in release, or with `TIPPE_LONG` set.
fn is_long() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("TIPPE_LONG").is_some()
}

/// A stream of numbers between −1 and 1.
fn stream(mut seed: u64) -> impl FnMut() -> f64 {
    move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[test]
fn mc_02_a_free_box_keeps_momenta_energy_and_its_parabola() {
    let mut world = world(Surface::default());
    let v = Vec3::new(1.0, 2.0, 30.0);
    let half = Vec3::new(0.1, 0.2, 0.3);
    let b = cuboid(&mut world, half, Vec3::ZERO, v, Vec3::new(0.1, 6.0, 0.2));
    let first = world.step(1e-9).expect("a value");
    let start = *world.body_state(b).expect("a value");
    run(&mut world, 10.0, 7);
    let end = *world.body_state(b).expect("a value");
    let t = world.time() - 1e-9;
    let at = start.position + start.velocity * t - Vec3::Z * (0.5 * G * t * t);
    assert!(
        (end.position - at).length() < 1e-12 * 500.0,
        "{}",
        (end.position - at).length()
    );
    let last = world.step(1e-9).expect("a value");
    // About the moving centre of mass, spin alone: compare through the energies and the report.
    let spin = |report: &tippe::StepReport| report.angular_momentum;
    let orbital =
        |s: &tippe::BodyState| s.position.cross(s.velocity) * world.body(b).expect("a value").mass;
    let l0 = spin(&first) - orbital(&start);
    let l1 = spin(&last) - orbital(world.body_state(b).expect("a value"));
    assert!(
        (l1 - l0).length() < 1e-9 * l0.length().max(1.0),
        "{l0} {l1}"
    );
    assert!(world.ledger().unexplained.abs() < 1e-8 * first.energy.kinetic);
}

#[test]
fn mc_15_bounces_happen_at_their_times_with_their_ratios() {
    // Dropped by 1 m at e = 0.5: t₁ = √(2/g), then flights of 2 e^k v / g; at rest after 1.35457 s (E12).
    let mut world = world(Surface::new(0.3, 0.5));
    floor(&mut world);
    let ball = sphere(&mut world, 0.1, Vec3::Z * 1.1, Vec3::ZERO);
    let mut times = Vec::new();
    for _ in 0..200 {
        world.step(0.01).expect("a value");
        let impacts = world
            .events()
            .iter()
            .filter(|e| e.kind == EventKind::Impact);
        times.extend(impacts.map(|e| (e.time, e.speed)));
    }
    let v = (2.0 * G).sqrt();
    let mut t = v / G;
    for (k, &(time, speed)) in times.iter().take(5).enumerate() {
        let e = 0.5_f64.powi(k as i32);
        assert!((time - t).abs() < 1e-9, "impact {k}: {time} {t}");
        assert!((speed - e * v).abs() < 1e-7, "impact {k}: {speed}");
        t += e * v / G;
    }
    assert!(times.len() < 40, "{}", times.len());
    let s = world.body_state(ball).expect("a value");
    assert!(
        (s.position.z - 0.1).abs() < 1e-6 && s.velocity.length() < 1e-6,
        "{s:?}"
    );
    assert!(world.ledger().gained <= 1e-9);
}

#[test]
fn mc_09_no_bullet_passes_a_plate() {
    // r = 5 mm at 1000 m/s against 1 mm.
    let mut draw = stream(3);
    for shot in 0..if is_long() { 1000 } else { 200 } {
        let mut world = world(Surface::new(0.2, 0.3));
        world.set_gravity(Vec3::ZERO).expect("a value");
        let plate = Shape::Cuboid {
            half: Vec3::new(1.0, 1.0, 0.0005),
        };
        world
            .add_body(&BodyDesc::fixed(plate, Vec3::ZERO))
            .expect("a value");
        let aim = Vec3::new(0.8 * draw(), 0.8 * draw(), 0.0);
        let from = Vec3::new(draw(), draw(), 2.0 + draw());
        let bullet = sphere(&mut world, 0.005, from, (aim - from).normalize() * 1000.0);
        world.step(0.02).expect("a value");
        assert!(
            world.body_state(bullet).expect("a value").position.z > 0.0,
            "shot {shot}"
        );
        assert!(world.events().iter().any(|e| e.kind == EventKind::Impact));
    }
}

/// Boxes 1 : 2 : 3 that fly in a room.
fn gas(count: i32, surface: Surface) -> World {
    let mut world = world(surface);
    world.set_gravity(Vec3::ZERO).expect("a value");
    let size = 0.4 * f64::from(count);
    for (at, normal) in [(-0.3, 1.0), (size, -1.0)] {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let wall = Shape::HalfSpace {
                normal: axis * normal,
            };
            world
                .add_body(&BodyDesc::fixed(wall, axis * at))
                .expect("a value");
        }
    }
    let mut draw = stream(5);
    for i in 0..count.pow(3) {
        let at = Vec3::new(
            f64::from(i % count),
            f64::from(i / count % count),
            f64::from(i / count / count),
        ) * 0.4;
        let v = Vec3::new(draw(), draw(), draw()) * 4.0;
        let w = Vec3::new(draw(), draw(), draw()) * 6.0;
        cuboid(&mut world, Vec3::new(0.05, 0.1, 0.15), at, v, w);
    }
    world
}

#[test]
fn mc_09_a_gas_of_boxes_keeps_its_energy_and_never_overlaps() {
    // The full length, 10⁵ impacts of 216 boxes, is for those who ask: it takes minutes.
    let (count, seconds) = match (std::env::var_os("TIPPE_LONG"), cfg!(debug_assertions)) {
        (Some(_), _) => (6, 60),
        (None, false) => (3, 10),
        (None, true) => (3, 2),
    };
    let mut world = gas(count, Surface::new(0.0, 1.0));
    let start = world.energy().0;
    let (mut impacts, mut depth) = (0, 0.0_f64);
    for _ in 0..10 * seconds {
        let report = world.step(0.1).expect("a value");
        impacts += report.collisions;
        depth = depth.max(report.penetration_found);
    }
    let drift = world.energy().0 / start - 1.0;
    println!(
        "{impacts} impacts in {seconds} s: energy off by {drift:.1e}, deepest overlap {depth:.1e} m"
    );
    assert!(impacts > 150 * seconds, "{impacts}");
    assert!(drift.abs() < 1e-9, "{drift:e} after {impacts} impacts");
    assert!(depth < 0.1 * 1e-4 * 0.187, "{depth:e}");
    assert!(world.ledger().gained < 1e-9 * start);
}

/// Bits of everything that moves.
fn bits(world: &World) -> Vec<u64> {
    let states = world
        .body_ids()
        .map(|id| *world.body_state(id).expect("a value"));
    states
        .flat_map(|s| {
            let q = s.rotation;
            let vectors = [s.position, s.velocity, s.angular_velocity];
            let numbers = vectors.into_iter().flat_map(|v| [v.x, v.y, v.z]);
            let all: Vec<f64> = numbers.chain([q.x, q.y, q.z, q.w]).collect();
            all.into_iter().map(f64::to_bits)
        })
        .collect()
}

/// Boxes that fall onto each other and come to rest, and a pendulum that swings into them.
fn pile() -> World {
    let mut world = world(Surface::new(0.4, 0.4));
    floor(&mut world);
    for i in 0..4 {
        let at = Vec3::new(0.03 * f64::from(i), 0.0, 0.3 + 0.35 * f64::from(i));
        let half = Vec3::new(0.1, 0.12, 0.15);
        cuboid(&mut world, half, at, Vec3::ZERO, Vec3::new(1.0, 2.0, 3.0));
    }
    let bob = sphere(&mut world, 0.1, Vec3::new(-1.0, 0.0, 1.3), Vec3::ZERO);
    let pivot = Pose::from_position(Vec3::Z * 1.3);
    let arm = Pose::from_position(Vec3::X);
    let joint = JointDesc::new(JointKind::Ball, None, pivot, bob, arm);
    world.add_joint(&joint).expect("a value");
    world
}

#[test]
fn one_second_gives_the_same_bits_in_any_number_of_steps() {
    let all: Vec<Vec<u64>> = [1, 60, 1000]
        .into_iter()
        .map(|steps| {
            let mut world = pile();
            run(&mut world, 1.0, steps);
            bits(&world)
        })
        .collect();
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
}

#[test]
fn a_snapshot_in_the_middle_of_a_substep_goes_on_with_the_same_bits() {
    let mut world = pile();
    run(&mut world, 0.51234, 9);
    let mut restored = World::restore(&world.snapshot()).expect("a value");
    assert_eq!(world.hash(), restored.hash());
    for _ in 0..7 {
        world.step(0.0213).expect("a value");
        restored.step(0.0213).expect("a value");
        assert_eq!(world.hash(), restored.hash());
    }
}

#[test]
fn cl_25_as_many_balls_leave_a_row_as_have_come() {
    for come in 1..=4 {
        let mut world = world(Surface::new(0.0, 1.0));
        world.set_gravity(Vec3::ZERO).expect("a value");
        let balls: Vec<BodyId> = (0..5)
            .map(|i| {
                let (gap, v) = if i < come {
                    (-0.05, Vec3::X)
                } else {
                    (0.0, Vec3::ZERO)
                };
                sphere(&mut world, 0.1, Vec3::X * (0.2 * f64::from(i) + gap), v)
            })
            .collect();
        run(&mut world, 0.2, 3);
        for (i, ball) in balls.iter().enumerate() {
            let v = world.body_state(*ball).expect("a value").velocity.x;
            let want = if i >= 5 - come as usize { 1.0 } else { 0.0 };
            assert!((v - want).abs() < 1e-12, "{come} come, ball {i}: {v}");
        }
    }
}

#[test]
fn a_break_of_three_balls_is_symmetric() {
    let mut world = world(Surface::new(0.0, 1.0));
    world.set_gravity(Vec3::ZERO).expect("a value");
    let cue = sphere(&mut world, 0.1, Vec3::X * -0.5, Vec3::X);
    let a = sphere(&mut world, 0.1, Vec3::new(0.0, 0.1, 0.0), Vec3::ZERO);
    let b = sphere(&mut world, 0.1, Vec3::new(0.0, -0.1, 0.0), Vec3::ZERO);
    let start = world.energy().0;
    run(&mut world, 0.6, 2);
    let of = |id: BodyId| world.body_state(id).expect("a value").velocity;
    // Both take the same at 30°: v = 2√3/5, and the cue comes back with 1/5.
    assert!((of(a) - of(b) * Vec3::new(1.0, -1.0, 1.0)).length() < 1e-9);
    assert!((of(cue).x + 0.2).abs() < 1e-9, "{}", of(cue));
    assert!(
        (of(a).length() - 2.0 * 3.0_f64.sqrt() / 5.0).abs() < 1e-9,
        "{}",
        of(a)
    );
    assert!((world.energy().0 / start - 1.0).abs() < 1e-12);
}

#[test]
fn mc_19_a_block_on_a_ramp_stays_or_slides_as_coulomb_says() {
    // 20°: tan = 0.364. E5 and E8, with promotion.
    let angle = 20.0_f64.to_radians();
    for (friction, slides) in [(0.75, false), (0.4, false), (0.3, true)] {
        let mut world = world(Surface::new(friction, 0.3));
        let (s, c) = libm::sincos(angle);
        world
            .set_gravity(Vec3::new(G * s, 0.0, -G * c))
            .expect("a value");
        floor(&mut world);
        let half = Vec3::new(0.1, 0.1, 0.05);
        let block = cuboid(&mut world, half, Vec3::Z * 0.05, Vec3::ZERO, Vec3::ZERO);
        run(&mut world, 1.0, 20);
        let x = world.body_state(block).expect("a value").position.x;
        if slides {
            let want = 0.5 * G * (s - friction * c);
            assert!((x / want - 1.0).abs() < 2e-3, "{x} {want}");
        } else {
            assert!(x.abs() < 1e-7, "μ = {friction}: {x:e}");
        }
    }
}

#[test]
fn mc_33_a_stack_of_ten_comes_to_rest_with_bounded_work() {
    // E9: unit boxes dropped 1 cm apart.
    let mut world = world(Surface::new(0.5, 0.3));
    floor(&mut world);
    let boxes: Vec<BodyId> = (0..10)
        .map(|i| {
            let at = Vec3::Z * (0.51 + 1.01 * f64::from(i));
            cuboid(&mut world, Vec3::splat(0.5), at, Vec3::ZERO, Vec3::ZERO)
        })
        .collect();
    let mut impacts = 0;
    for _ in 0..40 {
        impacts += world.step(0.05).expect("a value").collisions;
    }
    assert!(impacts < 20_000, "{impacts}");
    for (i, id) in boxes.iter().enumerate() {
        let s = world.body_state(*id).expect("a value");
        assert!(
            (s.position - Vec3::Z * (0.5 + i as f64)).length() < 1e-3,
            "{i} {}",
            s.position
        );
        assert!(s.velocity.length() < 1e-4, "{i} {}", s.velocity);
    }
    let scale = world.energy_scale();
    assert!(
        world.ledger().gained < 1e-6 * scale,
        "{:e}",
        world.ledger().gained
    );
}

#[test]
fn mc_20_a_moving_wall_hits_with_its_own_speed() {
    let mut world = world(Surface::new(0.0, 1.0));
    world.set_gravity(Vec3::ZERO).expect("a value");
    let mut wall = BodyDesc::fixed(
        Shape::Cuboid {
            half: Vec3::new(0.1, 1.0, 1.0),
        },
        Vec3::ZERO,
    );
    wall.kind = BodyKind::Kinematic(Motion::Constant {
        velocity: Vec3::X * 2.0,
        angular_velocity: Vec3::ZERO,
    });
    world.add_body(&wall).expect("a value");
    let ball = sphere(&mut world, 0.1, Vec3::X, -Vec3::X);
    run(&mut world, 1.0, 3);
    let v = world.body_state(ball).expect("a value").velocity;
    assert!((v - Vec3::X * 5.0).length() < 1e-9, "{v}");
    // ½ m (25 − 1) came from the wall.
    let mass = world.body(ball).expect("a value").mass;
    assert!((world.ledger().prescribed - 12.0 * mass).abs() < 1e-9 * mass);
    assert!(world.ledger().unexplained.abs() < 1e-9 * mass);
}

#[test]
fn mc_08_a_pair_far_apart_costs_nothing() {
    let mut world = world(Surface::default());
    world.set_gravity(Vec3::ZERO).expect("a value");
    sphere(&mut world, 0.1, Vec3::ZERO, Vec3::ZERO);
    sphere(&mut world, 0.1, Vec3::X * 100.0, Vec3::ZERO);
    assert_eq!(world.step(1.0).expect("a value").candidates, 0);
}

#[test]
fn mc_35_distant_pieces_of_ground_are_no_candidates() {
    let mut world = world(Surface::default());
    floor(&mut world);
    for i in 0..2000 {
        let at = Vec3::new(50.0 + f64::from(i % 50), f64::from(i / 50), 0.0);
        let piece = Shape::Cuboid {
            half: Vec3::splat(0.4),
        };
        world
            .add_body(&BodyDesc::fixed(piece, at))
            .expect("a value");
    }
    // Above the floor it comes down to within the frame: the one candidate.
    sphere(&mut world, 0.1, Vec3::Z * 0.102, Vec3::ZERO);
    assert_eq!(world.step(0.01).expect("a value").candidates, 1);
}

#[test]
fn edits_between_steps_are_honoured() {
    let mut world = world(Surface::new(0.3, 0.5));
    floor(&mut world);
    let ball = sphere(&mut world, 0.1, Vec3::Z * 2.0, Vec3::ZERO);
    world.step(0.1).expect("a value");
    world
        .set_velocity(ball, Vec3::Z * 3.0, Vec3::ZERO)
        .expect("a value");
    let z = world.body_state(ball).expect("a value").position.z;
    world.step(0.1).expect("a value");
    let s = world.body_state(ball).expect("a value");
    assert!((s.position.z - (z + 0.3 - 0.005 * G)).abs() < 1e-12);
    // A force for one step, and none afterwards.
    let mass = world.body(ball).expect("a value").mass;
    world
        .apply_force(ball, Vec3::X * mass, s.position)
        .expect("a value");
    world.step(0.1).expect("a value");
    world.step(0.1).expect("a value");
    let v = world.body_state(ball).expect("a value").velocity;
    assert!((v.x - 0.1).abs() < 1e-12, "{v}");
}

#[test]
fn a_half_space_that_turns_is_refused() {
    let mut world = world(Surface::default());
    let mut desc = BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO);
    desc.kind = BodyKind::Kinematic(Motion::Constant {
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::X,
    });
    world.add_body(&desc).expect("a value");
    sphere(&mut world, 0.1, Vec3::Z, Vec3::ZERO);
    let error = world.step(0.01).unwrap_err().to_string();
    assert!(error.contains("half-space"), "{error}");
    assert!(
        World::new(Method::Events(EventsParams {
            band: 0.0,
            ..EventsParams::default()
        }))
        .is_err()
    );
}
