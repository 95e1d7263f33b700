//! Energy is not made: joints that do not fit, bodies that are crushed, random worlds; and what the guard must leave alone.

use crate::geometry_support;
use crate::random_world;
use crate::support;

use geometry_support::Random;
use support::{G, add, below, cuboid, floor};
use tippe::{
    BodyDesc, BodyKind, JointDesc, JointKind, Method, Motion, Pose, Quat, Surface, Vec3, World,
};

fn methods() -> [Method; 2] {
    ["sequential", "iterative"].map(|name| Method::from_name(name).expect("a method"))
}

fn world(method: Method, gravity: f64, surface: Surface) -> World {
    let mut world = World::new(method).expect("good parameters");
    world
        .set_gravity(Vec3::Z * -gravity)
        .expect("finite gravity");
    world.set_default_surface(surface).expect("good surface");
    world
}

#[test]
fn joints_that_do_not_fit_close_by_pose_alone() {
    let kinds = [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Fixed,
        JointKind::Slider,
        JointKind::Cylindrical,
    ];
    let mut r = Random(7);
    for method in methods() {
        for kind in kinds {
            for (gap, turn) in [(0.3, 0.0), (0.0, 1.0), (0.2, 2.5), (0.1, 3.0)] {
                // Without gravity: a slider would fall along its axis.
                let mut world = world(method.clone(), 0.0, Surface::new(0.5, 0.0));
                let body = add(
                    &mut world,
                    &BodyDesc::dynamic(cuboid(0.1, 0.15, 0.2), Vec3::Z * 2.0),
                );
                let axis = r.vector(1.0).normalize_or(Vec3::X);
                let apart = r.vector(1.0).normalize_or(Vec3::X) * gap;
                let frame_a = Pose::from_position(Vec3::new(0.3, 0.0, 2.0) + apart);
                let frame_b = Pose::new(Vec3::X * 0.3, Quat::from_axis_angle(axis, turn));
                let joint = JointDesc::new(kind, None, frame_a, body, frame_b);
                world.add_joint(&joint).expect("a joint");
                let what = format!("{}, {kind:?}, gap {gap}, turn {turn}", method.name());
                let mut last = f64::INFINITY;
                for _ in 0..1000 {
                    let report = world.step(2e-3).unwrap_or_else(|e| panic!("{what}: {e}"));
                    let speed = support::state(&world, body).velocity.length();
                    below(&format!("{what}: speed"), speed, 1e-3);
                    last = report.residuals.joint_position;
                }
                below(&format!("{what}: left open"), last, 1e-6);
                below(&format!("{what}: gained"), world.ledger().gained, 1e-6);
            }
        }
    }
}

/// Two joints that cannot both hold: nothing runs away, and the report says how far they are apart.
#[test]
fn joints_that_contradict_each_other_stay_slow_and_are_reported() {
    for method in methods() {
        for dt in [1e-3, 1.0 / 60.0] {
            let mut world = world(method.clone(), G, Surface::new(0.5, 0.0));
            let body = add(
                &mut world,
                &BodyDesc::dynamic(cuboid(0.1, 0.1, 0.1), Vec3::Z),
            );
            for x in [-0.3, 0.3] {
                let anchor = Pose::from_position(Vec3::new(x, 0.0, 1.0));
                let joint = JointDesc::new(JointKind::Fixed, None, anchor, body, Pose::IDENTITY);
                world.add_joint(&joint).expect("a joint");
            }
            let what = format!("{}, dt {dt:.1e}", method.name());
            for _ in 0..(2.0 / dt) as u32 {
                let report = world.step(dt).expect("a good step");
                let s = support::state(&world, body);
                below(&format!("{what}: speed"), s.velocity.length(), 0.5);
                let apart = (0.3 + s.position.x.abs()) * (1.0 - 1e-9);
                assert!(
                    report.residuals.joint_position >= apart,
                    "{what}: not reported"
                );
                assert!(!report.certified(), "{what}: certified");
            }
            below(
                &format!("{what}: away"),
                support::state(&world, body).position.x.abs(),
                0.301,
            );
            below(&format!("{what}: gained"), world.ledger().gained, 1e-6);
        }
    }
}

/// A slider that starts far beyond its limit is brought back without becoming fast.
#[test]
fn what_starts_beyond_a_limit_comes_back_slowly() {
    for method in methods() {
        let mut world = world(method.clone(), 0.0, Surface::new(0.5, 0.0));
        let body = add(
            &mut world,
            &BodyDesc::dynamic(cuboid(0.1, 0.1, 0.1), Vec3::Z),
        );
        let mut joint = JointDesc::new(
            JointKind::Slider,
            None,
            Pose::IDENTITY,
            body,
            Pose::IDENTITY,
        );
        joint.translation.limits = Some((-0.2, 0.5));
        world.add_joint(&joint).expect("a joint");
        for _ in 0..1000 {
            world.step(1e-3).expect("a good step");
            let speed = support::state(&world, body).velocity.length();
            below(&format!("{}: speed", method.name()), speed, 1e-3);
        }
        let z = support::state(&world, body).position.z;
        support::near("place", z, 0.5, 2e-4);
    }
}

/// Boxes crushed between a wall and a plate that does not stop: fast is nobody, and the ledger knows of no gain.
#[test]
fn what_is_crushed_stays_slow() {
    for method in methods() {
        for dt in [4e-3, 1.0 / 60.0] {
            let mut world = world(method.clone(), G, Surface::new(0.5, 0.2));
            add(&mut world, &floor());
            add(
                &mut world,
                &BodyDesc::fixed(cuboid(0.1, 1.0, 1.0), Vec3::new(1.0, 0.0, 1.0)),
            );
            let mut plate = BodyDesc::fixed(cuboid(0.1, 1.0, 1.0), Vec3::new(-0.5, 0.0, 1.0));
            plate.kind = BodyKind::Kinematic(Motion::Constant {
                velocity: Vec3::X * 1.5,
                angular_velocity: Vec3::ZERO,
            });
            add(&mut world, &plate);
            let mut bodies = Vec::new();
            for i in 0..2 {
                let at = Vec3::new(0.1 * f64::from(i % 2), 0.3 * f64::from(i) - 0.4, 0.2);
                let desc = BodyDesc::dynamic(cuboid(0.12, 0.1, 0.15), at);
                bodies.push(add(&mut world, &desc));
            }
            let mut squeezed: f64 = 0.0;
            for _ in 0..(0.8 / dt) as u32 {
                let report = world.step(dt).expect("a good step");
                squeezed = squeezed.max(report.squeezed);
                if report.squeezed > 1e-4 {
                    assert!(report.missed().contains(&"squeezed"), "{report:?}");
                }
                for &id in &bodies {
                    let speed = support::state(&world, id).velocity.length();
                    let what = format!("{}, dt {dt:.1e}, t {:.3}", method.name(), report.time);
                    below(&what, speed, 10.0);
                }
            }
            below("gained", world.ledger().gained, 1e-3 * world.energy_scale());
            assert!(
                squeezed > 1e-3,
                "{}, dt {dt:.1e}: {squeezed:e}",
                method.name()
            );
        }
    }
}

/// Trees that start inside walls or are crushed by prescribed bodies go on (these stopped with a motion that is not finite).
#[test]
fn crushed_trees_do_not_stop_a_run() {
    for method in methods() {
        for seed in [0, 5, 31, 79] {
            let out = random_world::run(seed, method.clone(), 0.3, 5000, 1.0, false);
            assert_eq!(out.stopped, None, "{}, seed {seed}", method.name());
        }
    }
}

/// The guard is not damping: it leaves alone what keeps its energy by itself.
#[test]
fn the_guard_leaves_sound_motion_alone() {
    for method in methods() {
        // A ball that bounces without loss, a box at rest on a slope's foot, a pendulum: 2 s each at 1 ms.
        let mut world = world(method.clone(), G, Surface::new(0.3, 1.0));
        add(&mut world, &floor());
        let ball = tippe::Shape::Sphere { radius: 0.1 };
        add(&mut world, &BodyDesc::dynamic(ball, Vec3::Z));
        add(
            &mut world,
            &BodyDesc::dynamic(cuboid(0.1, 0.1, 0.1), Vec3::new(2.0, 0.0, 0.1)),
        );
        let rod = add(
            &mut world,
            &BodyDesc::dynamic(cuboid(0.5, 0.02, 0.02), Vec3::new(-2.0, 0.0, 3.0)),
        );
        let anchor = Pose::from_position(Vec3::new(-2.5, 0.0, 3.0));
        let joint = JointDesc::new(
            JointKind::Ball,
            None,
            anchor,
            rod,
            Pose::from_position(Vec3::X * -0.5),
        );
        world.add_joint(&joint).expect("a joint");
        let mut guarded = 0;
        for _ in 0..2000 {
            guarded += world.step(1e-3).expect("a good step").work.guarded;
        }
        assert_eq!(guarded, 0, "{}: the guard acted", method.name());
    }
}

/// Random worlds: none stops but trees that start inside other bodies or are crushed by prescribed ones, and none ends with more energy than it
/// had and was given. (`gained` counts errors of second order that later steps take back, and is not held to 1e-6 yet.)
#[test]
fn random_worlds_do_not_run_away() {
    let (count, seconds) = (12, 0.2);
    for method in methods() {
        let mut stopped = 0;
        for seed in 1000..1000 + count {
            let out = random_world::run(seed, method.clone(), seconds, 5000, 1.0, false);
            let what = format!("{}, seed {seed}", method.name());
            if let Some(error) = &out.stopped {
                assert!(error.contains("articulation"), "{what}: {error}");
                stopped += 1;
                continue;
            }
            below(&format!("{what}: gained"), out.gained, 1.0);
            if out.dt <= 1.0 / 60.0 {
                below(&format!("{what}: excess a second"), out.excess, 0.01);
            }
        }
        assert!(stopped * 20 <= count, "{stopped} of {count} worlds stopped");
    }
}
