//! Motors with gains: static error and step response of a PD arm in closed form, any gains, links as bodies, the ledger.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use crate::joint_support;
use crate::support;

use joint_support::{FRAME, at, join, lump, rod, z_along_x, z_along_y};
use support::{G, add, below, near};
use tippe::articulated::{Joint, LinkDesc};
use tippe::shape::MassProperties;
use tippe::{
    ArticulationDesc, EventsParams, IterativeParams, JointDesc, JointKind, LinkBodyDesc, Mat3,
    Method, Motor, MotorPlace, Pose, SequentialParams, SimultaneousParams, Vec3, World,
};

/// The methods that have motors.
fn methods() -> [Method; 4] {
    [
        Method::Sequential(SequentialParams::default()),
        Method::Iterative(IterativeParams::default()),
        Method::Simultaneous(SimultaneousParams::default()),
        Method::Events(EventsParams::default()),
    ]
}

fn servo(position: f64, kp: f64, kd: f64, max_force: f64) -> Motor {
    Motor::Servo {
        position,
        velocity: 0.0,
        kp,
        kd,
        max_force,
    }
}

/// A rod of 1 kg and 1 m on a horizontal hinge at the origin, level at the start, positive downwards: as a body, or as a link.
fn arm(method: &Method, gravity: f64, link: bool, motor: Motor) -> (World, MotorPlace) {
    let mut world = World::new(method.clone()).unwrap();
    world.set_gravity(Vec3::Z * -gravity).unwrap();
    if !link {
        let body = add(&mut world, &rod(Vec3::X * 0.5));
        let frame = Pose::new(Vec3::ZERO, z_along_y());
        let desc = at(&world, JointKind::Hinge, None, body, frame).driven(motor);
        let joint = join(&mut world, &desc.named("shoulder"));
        return (world, joint.into());
    }
    let across = 1.0 / 12.0;
    let mass = MassProperties {
        mass: 1.0,
        center: Vec3::X * 0.5,
        inertia: Mat3::from_diagonal(Vec3::new(1e-3, across, across)),
    };
    let hinge = Joint::Revolute { axis: Vec3::Y };
    let mut desc = LinkBodyDesc::new(LinkDesc::new(None, hinge, Pose::IDENTITY, mass));
    desc.name = "shoulder".into();
    desc.motor = Some(motor);
    let tree = ArticulationDesc {
        links: vec![desc],
        ..ArticulationDesc::default()
    };
    let id = world.add_articulation(&tree).unwrap();
    let body = world.link_bodies(id).unwrap()[0];
    (world, body.into())
}

/// Angle of the arm, positive downwards [rad].
fn angle(world: &World) -> f64 {
    let id = world.body_ids().next().unwrap();
    let x = world.pose(id).unwrap().rotation * Vec3::X;
    libm::atan2(-x.z, x.x)
}

#[test]
fn a_pd_arm_holds_its_load_with_the_static_error_of_its_gain() {
    // kp (x* − x) + ½ m g l cos x = 0.
    for method in methods() {
        for link in [false, true] {
            for dt in [1e-3, 1e-2, FRAME] {
                for (kp, kd) in [(20.0, 4.0), (400.0, 30.0), (1e6, 2e3)] {
                    let goal = -0.4;
                    let (mut world, _) = arm(&method, G, link, servo(goal, kp, kd, 1e9));
                    world.step_many(dt, (6.0 / dt) as usize).unwrap();
                    let x = angle(&world);
                    let torque = kp * (goal - x) + 0.5 * G * libm::cos(x);
                    let what = format!("{} link {link} dt {dt} kp {kp}", method.name());
                    // A tree falls between the two pushes of a step: its error is of second order in the step.
                    let allowed = if link { 0.5 * dt * dt } else { 1e-6 };
                    near(&what, torque, 0.0, allowed.max(1e-6) * G);
                }
            }
        }
    }
}

/// Where I ẍ = kp (1 − x) − kd ẋ is at a time, from rest at 0.
fn response(inertia: f64, kp: f64, kd: f64, t: f64) -> f64 {
    let (d, w) = (0.5 * kd / inertia, kp / inertia);
    if w > d * d {
        let f = libm::sqrt(w - d * d);
        return 1.0 - libm::exp(-d * t) * (libm::cos(f * t) + d / f * libm::sin(f * t));
    }
    let f = libm::sqrt(d * d - w);
    let (a, b) = (d - f, d + f);
    1.0 - (b * libm::exp(-a * t) - a * libm::exp(-b * t)) / (b - a)
}

/// Worst distance from the closed form over one second, without gravity.
fn step_error(method: &Method, link: bool, dt: f64, kp: f64, kd: f64) -> f64 {
    let (mut world, _) = arm(method, 0.0, link, servo(1.0, kp, kd, 1e9));
    let mut worst: f64 = 0.0;
    for i in 1..=(1.0 / dt).round() as usize {
        world.step(dt).unwrap();
        let wanted = response(1.0 / 3.0, kp, kd, i as f64 * dt);
        worst = worst.max((angle(&world) - wanted).abs());
    }
    worst
}

#[test]
fn the_step_response_of_a_pd_arm_is_the_closed_form_to_second_order() {
    for method in &methods() {
        for link in [false, true] {
            for (kp, kd) in [(30.0, 2.0), (30.0, 6.0), (10.0, 8.0), (30.0, 0.0)] {
                let [coarse, fine] = [4e-3, 1e-3].map(|dt| step_error(method, link, dt, kp, kd));
                let what = format!("{} link {link} kp {kp} kd {kd}", method.name());
                below(&what, fine, 1e-4);
                // `events` has a clock of its own, finer than both steps.
                if method.name() != "events" {
                    below(&format!("{what}: order"), fine, coarse / 10.0 + 1e-9);
                }
            }
        }
    }
}

#[test]
fn no_gain_makes_an_arm_unstable() {
    for method in &methods() {
        for link in [false, true] {
            for kp in [0.0, 1.0, 1e3, 1e6, 1e9, 1e12] {
                for kd in [0.0, 1.0, 1e3, 1e6, 1e9, 1e12] {
                    let dt = 1.0 / 30.0;
                    let (mut world, _) = arm(method, G, link, servo(0.2, kp, kd, f64::INFINITY));
                    let what = format!("{} link {link} kp {kp} kd {kd}", method.name());
                    for _ in 0..90 {
                        let report = world.step(dt).unwrap();
                        // Falling from level gives G/2, the pull of an undamped servo kp 0.02.
                        let most = 1.01 * (G + 0.02 * kp) + 1e-9;
                        below(&what, report.energy.kinetic, most.min(2.0 * G + 60.0));
                    }
                }
            }
        }
    }
}

#[test]
fn a_servo_pushes_with_no_more_than_its_greatest_force() {
    // 2 kg on a slider, far from its goal: a constant force until it is near.
    for method in &methods() {
        let mut world = World::new(method.clone()).unwrap();
        let body = add(&mut world, &lump(2.0, Vec3::splat(0.1), Vec3::ZERO));
        let frame = Pose::new(Vec3::ZERO, z_along_x());
        let desc = at(&world, JointKind::Slider, None, body, frame);
        let joint = join(&mut world, &desc.driven(servo(100.0, 50.0, 1.0, 4.0)));
        for i in 1..=100 {
            world.step(0.01).unwrap();
            let t = f64::from(i) * 0.01;
            let found = world.joint_positions(joint).unwrap()[0];
            near(method.name(), found, 0.5 * 2.0 * t * t, 1e-9);
        }
    }
}

#[test]
fn a_servo_follows_a_place_and_a_speed() {
    // Started on the ramp, gains keep it there; aimed elsewhere, it goes there.
    let method = &methods()[0];
    let mut world = World::new(method.clone()).unwrap();
    let body = add(&mut world, &lump(2.0, Vec3::splat(0.1), Vec3::ZERO));
    let frame = Pose::new(Vec3::ZERO, z_along_x());
    let desc = at(&world, JointKind::Slider, None, body, frame).named("rail");
    join(&mut world, &desc.driven(servo(0.0, 0.0, 1e5, 1e6)));
    let rail = world.motor_named("rail").unwrap();
    let speed = Motor::Servo {
        position: 0.0,
        velocity: 0.7,
        kp: 0.0,
        kd: 1e5,
        max_force: 1e6,
    };
    world.set_motor(rail, Some(speed)).unwrap();
    world.step_many(0.01, 100).unwrap();
    let v = world.body_state(body).unwrap().velocity.x;
    near("speed", v, 0.7, 1e-9);
    world
        .set_motor(rail, Some(servo(0.0, 800.0, 80.0, 1e6)))
        .unwrap();
    world.aim_motor(rail, 0.3).unwrap();
    world.step_many(0.01, 300).unwrap();
    near("place", world.pose(body).unwrap().position.x, 0.3, 1e-6);
    world.set_motor(rail, None).unwrap();
    assert_eq!(world.motor(rail).unwrap(), None);
}

#[test]
fn the_ledger_books_what_a_servo_does_as_the_work_of_motors() {
    for method in &methods() {
        for link in [false, true] {
            let (mut world, _) = arm(method, G, link, servo(-0.4, 60.0, 8.0, 1e9));
            let before = world.energy();
            world.step_many(2e-3, 2000).unwrap();
            let (kinetic, potential) = world.energy();
            let lifted = kinetic + potential - before.0 - before.1;
            let e = world.ledger();
            let what = format!("{} link {link}", method.name());
            near(&what, e.motors - e.shock, lifted, 1e-4 * lifted.abs());
            below(&format!("{what}: gained"), e.gained, 1e-6 * lifted.abs());
        }
    }
}

#[test]
fn gains_that_make_no_sense_are_refused_and_a_snapshot_keeps_servos() {
    let method = &methods()[0];
    for link in [false, true] {
        let (mut world, place) = arm(method, G, link, servo(0.1, 50.0, 5.0, 20.0));
        assert_eq!(world.motor_named("shoulder").unwrap(), place);
        let again = World::restore(&world.snapshot()).unwrap();
        assert_eq!(again.hash(), world.hash());
        assert_eq!(again.motor(place).unwrap(), world.motor(place).unwrap());
        let field = |world: &mut World, motor: Motor| {
            let error = world.set_motor(place, Some(motor)).unwrap_err();
            error.field.rsplit('.').next().unwrap().to_owned()
        };
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        assert_eq!(field(&mut world, servo(nan, 1.0, 1.0, 1.0)), "position");
        assert_eq!(field(&mut world, servo(0.0, -1.0, 1.0, 1.0)), "kp");
        assert_eq!(field(&mut world, servo(0.0, inf, 1.0, 1.0)), "kp");
        assert_eq!(field(&mut world, servo(0.0, 1.0, nan, 1.0)), "kd");
        assert_eq!(field(&mut world, servo(0.0, 1.0, 1.0, -1.0)), "max_force");
        assert_eq!(world.motor_named("elbow").unwrap_err().field, "name");
        assert_eq!(world.hash(), again.hash());
    }
    // A place beyond the limits.
    let mut world = World::new(method.clone()).unwrap();
    let body = add(&mut world, &rod(Vec3::X * 0.5));
    let desc = JointDesc::hinge(&world, None, body, Vec3::ZERO, Vec3::Y).unwrap();
    let desc = desc.limited(-0.5, 0.5).driven(servo(0.7, 1.0, 1.0, 1.0));
    let error = world.add_joint(&desc).unwrap_err();
    assert_eq!(error.field, "rotation.motor.position");
}
