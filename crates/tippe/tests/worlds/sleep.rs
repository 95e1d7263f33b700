//! Sleep: who falls asleep, what wakes them, and that nothing but cost depends on it.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use crate::support;

use support::{cuboid, floor, near, near_vec, solid, sphere};
use tippe::{
    BodyDesc, BodyId, BodyKind, EventKind, IterativeParams, JointDesc, JointKind, Method, Motion,
    Pose, SequentialParams, Sleeping, Surface, Vec3, World,
};

const DT: f64 = 1.0 / 60.0;

fn methods() -> [Method; 2] {
    [
        Method::Sequential(SequentialParams::default()),
        Method::Iterative(IterativeParams::default()),
    ]
}

/// A floor and towers of `height` cubes of 1 m at the given places; bodies may sleep.
fn towers(method: Method, places: &[f64], height: usize) -> (World, Vec<Vec<BodyId>>) {
    let mut world = World::new(method).unwrap();
    world.add_body(&floor()).unwrap();
    let mut build = |x: f64| {
        (0..height)
            .map(|i| Vec3::new(x, 0.0, 0.5 + i as f64))
            .map(|at| {
                world
                    .add_body(&solid(cuboid(0.5, 0.5, 0.5), 1.0, at))
                    .unwrap()
            })
            .collect()
    };
    let towers = places.iter().map(|&x| build(x)).collect();
    world.set_sleeping(Some(Sleeping::default())).unwrap();
    (world, towers)
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / DT).round() as usize {
        world.step(DT).unwrap();
    }
}

fn asleep(world: &World, bodies: &[BodyId]) -> usize {
    bodies
        .iter()
        .filter(|&&b| world.is_asleep(b).unwrap())
        .count()
}

#[test]
fn off_unless_asked() {
    let (mut world, towers) = towers(Method::default(), &[0.0], 1);
    world.set_sleeping(None).unwrap();
    run(&mut world, 1.5);
    assert_eq!(asleep(&world, &towers[0]), 0);
    assert!(World::default().sleeping().is_none());
}

#[test]
fn a_resting_tower_falls_asleep_and_stands_exactly_still() {
    for method in methods() {
        let (mut world, towers) = towers(method, &[0.0], 3);
        run(&mut world, 0.4);
        assert_eq!(asleep(&world, &towers[0]), 0, "too early");
        run(&mut world, 0.6);
        assert_eq!(asleep(&world, &towers[0]), 3);
        let before: Vec<_> = towers[0]
            .iter()
            .map(|&b| *world.body_state(b).unwrap())
            .collect();
        let report = world.step(DT).unwrap();
        assert_eq!(
            (report.candidates, report.contacts),
            (0, 0),
            "sleepers are looked at"
        );
        for (&b, s) in towers[0].iter().zip(&before) {
            assert_eq!(world.body_state(b).unwrap(), s);
            assert_eq!(s.velocity, Vec3::ZERO);
        }
        assert!(world.events().is_empty(), "falling asleep is no event");
        near("energy", report.energy.unexplained, 0.0, 1e-12);
    }
}

#[test]
fn a_touch_wakes_the_whole_island_and_no_other_and_the_motion_is_that_of_bodies_awake() {
    for method in methods() {
        let (mut world, towers) = towers(method, &[0.0, 5.0], 3);
        run(&mut world, 1.0);
        assert_eq!(asleep(&world, &towers[0]) + asleep(&world, &towers[1]), 6);
        let ball = BodyDesc {
            velocity: Vec3::new(6.3, 0.0, 0.0),
            ..solid(sphere(0.3), 2.0, Vec3::new(-2.0, 0.05, 2.6))
        };
        let ball_id = world.add_body(&ball).unwrap();
        let mut awake = World::restore(&world.snapshot()).unwrap();
        awake.set_sleeping(None).unwrap();
        let mut woken = None;
        for step in 0..60 {
            world.step(DT).unwrap();
            awake.step(DT).unwrap();
            if woken.is_none() && asleep(&world, &towers[0]) < 3 {
                assert_eq!(asleep(&world, &towers[0]), 0, "an island wakes as a whole");
                let hit = world.events().iter().any(|e| e.kind == EventKind::Impact);
                assert!(hit, "woken in the step of the impact");
                let top = world.body_state(towers[0][2]).unwrap().velocity.x;
                assert!(top > 0.1, "the struck cube moves at once: {top} m/s");
                woken = Some(step);
            }
            // Later the two part: towers that topple forget nothing of the last digit.
            if woken.is_none_or(|w| step <= w + 3) {
                for &b in towers[0].iter().chain([&ball_id]) {
                    let (x, y) = (world.body_state(b).unwrap(), awake.body_state(b).unwrap());
                    near_vec("place", x.position, y.position, 1e-7);
                    near_vec("velocity", x.velocity, y.velocity, 1e-5);
                }
            }
        }
        assert!(woken.is_some(), "the ball hit nothing");
        assert_eq!(asleep(&world, &towers[1]), 3, "the other tower sleeps on");
    }
}

#[test]
fn a_sleeper_woken_by_its_neighbour_rests_as_before() {
    let (mut world, towers) = towers(Method::default(), &[0.0], 2);
    run(&mut world, 1.0);
    world.wake(towers[0][0]).unwrap();
    assert_eq!(asleep(&world, &towers[0]), 0);
    let report = world.step(DT).unwrap();
    assert!(world.events().is_empty(), "waking is no event");
    let load: f64 = world
        .contacts()
        .iter()
        .map(|c| c.normal_impulse / c.dt)
        .sum();
    near("forces of both layers", load, 3.0 * 9.81, 1e-9);
    assert!(report.penetration < 1e-9);
    run(&mut world, 0.6);
    assert_eq!(asleep(&world, &towers[0]), 2);
}

#[test]
fn what_loses_its_support_falls() {
    let (mut world, towers) = towers(Method::default(), &[0.0], 3);
    run(&mut world, 1.0);
    world.remove_body(towers[0][0]).unwrap();
    run(&mut world, 0.3);
    let z = world.body_state(towers[0][1]).unwrap().position.z;
    assert!(z < 1.2, "it hangs in the air at {z} m");

    // The ground itself.
    let (mut world, towers) = self::towers(Method::default(), &[0.0], 1);
    run(&mut world, 1.0);
    let ground = world.body_ids().next().unwrap();
    world.remove_body(ground).unwrap();
    run(&mut world, 0.3);
    let z = world.body_state(towers[0][0]).unwrap().position.z;
    assert!(z < 0.2, "it hangs in the air at {z} m");
}

/// Pins a point of a body to a place in the world.
fn pin(body: BodyId, place: Pose, point: Vec3) -> JointDesc {
    JointDesc::new(
        JointKind::Ball,
        None,
        place,
        body,
        Pose::from_position(point),
    )
}

type Edit = fn(&mut World, BodyId);

#[test]
fn every_edit_that_matters_wakes() {
    let edits: [(&str, Edit); 9] = [
        ("gravity", |w, _| w.set_gravity(Vec3::ZERO).unwrap()),
        ("surface", |w, _| {
            w.set_default_surface(Surface::default()).unwrap()
        }),
        ("pose", |w, b| {
            w.set_pose(b, Pose::from_position(Vec3::Z)).unwrap()
        }),
        ("velocity", |w, b| {
            w.set_velocity(b, Vec3::X, Vec3::ZERO).unwrap()
        }),
        ("force", |w, b| {
            w.apply_force(b, Vec3::X, Vec3::ZERO).unwrap()
        }),
        ("torque", |w, b| w.apply_torque(b, Vec3::X).unwrap()),
        ("impulse", |w, b| {
            w.apply_impulse(b, Vec3::X, Vec3::ZERO).unwrap()
        }),
        ("joint", |w, b| {
            let joint = pin(b, Pose::from_position(Vec3::new(0.0, 0.0, 0.5)), Vec3::ZERO);
            w.add_joint(&joint).map(drop).unwrap();
        }),
        ("sleeping", |w, _| w.set_sleeping(None).unwrap()),
    ];
    for (what, edit) in edits {
        let (mut world, towers) = towers(Method::default(), &[0.0], 1);
        run(&mut world, 1.0);
        assert_eq!(asleep(&world, &towers[0]), 1);
        edit(&mut world, towers[0][0]);
        assert_eq!(asleep(&world, &towers[0]), 0, "{what} does not wake");
    }
}

#[test]
fn a_constant_force_keeps_awake() {
    let (mut world, towers) = towers(Method::default(), &[0.0], 1);
    for _ in 0..90 {
        world
            .apply_force(towers[0][0], Vec3::new(0.1, 0.0, 0.0), Vec3::ZERO)
            .unwrap();
        world.step(DT).unwrap();
    }
    assert_eq!(asleep(&world, &towers[0]), 0);
}

#[test]
fn prescribed_bodies_wake_what_they_come_to_and_keep_it_awake() {
    for method in methods() {
        let (mut world, towers) = towers(method, &[0.0], 1);
        // A piston that comes from the left at 0.5 m/s and would reach the cube after 4 s.
        let piston = BodyDesc {
            kind: BodyKind::Kinematic(Motion::Constant {
                velocity: Vec3::new(0.5, 0.0, 0.0),
                angular_velocity: Vec3::ZERO,
            }),
            ..BodyDesc::dynamic(cuboid(0.2, 0.2, 0.2), Vec3::new(-2.7, 0.0, 0.5))
        };
        world.add_body(&piston).unwrap();
        run(&mut world, 2.0);
        assert_eq!(asleep(&world, &towers[0]), 1, "it is far away");
        run(&mut world, 4.0);
        assert_eq!(asleep(&world, &towers[0]), 0);
        let x = world.body_state(towers[0][0]).unwrap().position.x;
        near("pushed along", x, 1.0, 1e-3);
    }
}

#[test]
fn a_mechanism_at_rest_sleeps_and_one_that_swings_does_not() {
    let hang = |angle: f64| {
        let mut world = World::default();
        let at = Vec3::new(libm::sin(angle), 0.0, -libm::cos(angle));
        let bob = world.add_body(&solid(sphere(0.1), 1.0, at)).unwrap();
        let joint = pin(bob, Pose::IDENTITY, -at);
        world.add_joint(&joint).unwrap();
        world.set_sleeping(Some(Sleeping::default())).unwrap();
        (world, bob)
    };
    let (mut world, bob) = hang(0.0);
    run(&mut world, 1.0);
    assert!(world.is_asleep(bob).unwrap());
    world
        .apply_impulse(bob, Vec3::new(0.3, 0.0, 0.0), Vec3::new(0.0, 0.0, -1.0))
        .unwrap();
    run(&mut world, 0.2);
    assert!(
        world.body_state(bob).unwrap().position.x > 0.03,
        "it does not swing"
    );

    let (mut world, bob) = hang(0.01);
    run(&mut world, 5.0);
    assert!(!world.is_asleep(bob).unwrap());
}

#[test]
fn snapshots_and_threads_give_the_same_bits_with_sleepers() {
    let (mut world, towers) = towers(Method::default(), &[0.0, 3.0, 6.0], 3);
    run(&mut world, 1.0);
    assert_eq!(asleep(&world, &towers[1]), 3);
    let ball = BodyDesc {
        velocity: Vec3::new(5.0, 0.0, 0.0),
        ..solid(sphere(0.3), 2.0, Vec3::new(-2.0, 0.0, 2.5))
    };
    world.add_body(&ball).unwrap();
    let mut copy = World::restore(&world.snapshot()).unwrap();
    copy.set_threads(2).unwrap();
    for step in 0..90 {
        world.step(DT).unwrap();
        copy.step(DT).unwrap();
        assert_eq!(world.hash(), copy.hash(), "step {step}");
    }
    assert_eq!(asleep(&world, &towers[0]), asleep(&copy, &towers[0]));
}

#[test]
fn a_sleeper_in_a_sensor_stays_sensed() {
    let mut world = World::default();
    world.add_body(&floor()).unwrap();
    let mut zone = BodyDesc::fixed(cuboid(1.0, 1.0, 1.0), Vec3::Z);
    zone.shapes[0].sensor = true;
    world.add_body(&zone).unwrap();
    let cube = world
        .add_body(&solid(cuboid(0.5, 0.5, 0.5), 1.0, Vec3::new(0.0, 0.0, 0.5)))
        .unwrap();
    world.set_sleeping(Some(Sleeping::default())).unwrap();
    let mut events = Vec::new();
    for _ in 0..90 {
        world.step(DT).unwrap();
        events.extend(world.events().iter().map(|e| e.kind));
    }
    assert!(world.is_asleep(cube).unwrap());
    let sensed = [EventKind::SensorBegin, EventKind::SensorEnd];
    let counts = sensed.map(|kind| events.iter().filter(|&&e| e == kind).count());
    assert_eq!(counts, [1, 0]);
}

#[test]
fn sleepers_wake_with_the_impulses_of_the_step_they_wake_in() {
    for method in methods() {
        let (mut world, towers) = towers(method, &[0.0], 3);
        run(&mut world, 1.0);
        assert_eq!(asleep(&world, &towers[0]), 3);
        // Far away something else lives on in steps of other lengths.
        for dt in [1e-5, 1e-3, 1e-5] {
            world.step(dt).unwrap();
        }
        world.wake(towers[0][1]).unwrap();
        world.step(DT).unwrap();
        for &b in &towers[0] {
            near_vec(
                "velocity",
                world.body_state(b).unwrap().velocity,
                Vec3::ZERO,
                1e-7,
            );
        }
    }
}

#[test]
fn senseless_numbers_are_refused() {
    let mut world = World::default();
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        let speed = Sleeping {
            speed: bad,
            ..Sleeping::default()
        };
        let time = Sleeping {
            time: bad,
            ..Sleeping::default()
        };
        assert_eq!(world.set_sleeping(Some(speed)).unwrap_err().field, "speed");
        assert_eq!(world.set_sleeping(Some(time)).unwrap_err().field, "time");
    }
}
