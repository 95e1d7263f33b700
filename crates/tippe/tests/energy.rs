//! Energy is not made: impacts, joints that do not fit, bodies that are crushed.

mod support;

use support::{G, add, cuboid, floor};
use tippe::{
    BodyDesc, BodyKind, JointDesc, JointKind, MassSpec, Method, Motion, Pose, Quat, Surface, Vec3,
    World,
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

/// An elastic box without friction, thrown onto the ground.
fn thrown_box(method: Method) -> World {
    let mut world = world(method, G, Surface::new(0.0, 1.0));
    add(&mut world, &floor());
    let mut body = BodyDesc::dynamic(cuboid(0.1, 0.15, 0.075), Vec3::Z);
    body.pose.rotation = Quat::from_xyzw(0.3015, -0.5025, 0.4020, 0.7035).normalize();
    body.mass = MassSpec::Mass(2.0);
    body.velocity = Vec3::new(0.3, 0.1, 0.0);
    body.angular_velocity = Vec3::new(3.0, -2.0, 1.0);
    add(&mut world, &body);
    world
}

#[test]
fn a_bouncing_box_keeps_its_energy_with_iterative() {
    for (dt, seconds) in [(1.0 / 60.0, 20.0), (1e-3, 4.0)] {
        let mut world = thrown_box(Method::from_name("iterative").expect("a method"));
        let start = world.energy();
        let (start, mut bounces) = (start.0 + start.1, 0);
        for _ in 0..(seconds / dt) as u32 {
            let report = world.step(dt).expect("a good step");
            bounces += report.collisions;
            let (k, p) = world.energy();
            let what = format!("dt {dt:.1e}, t {:.3}", report.time);
            support::near(&what, k + p, start, 1e-6 * start);
            assert_eq!(report.work.guarded, 0, "{what}: the guard acted");
        }
        assert!(bounces > 5, "only {bounces} bounces");
    }
}

#[test]
fn a_bouncing_box_gains_little_with_sequential() {
    // Restitution is a velocity ratio at each point there, which gains in eccentric impacts: eight times the energy without the guard.
    for (dt, seconds) in [(1.0 / 60.0, 20.0), (1e-3, 4.0)] {
        let mut world = thrown_box(Method::from_name("sequential").expect("a method"));
        let start = world.energy();
        let (start, mut most, mut guarded) = (start.0 + start.1, 0.0, 0);
        for _ in 0..(seconds / dt) as u32 {
            guarded += world.step(dt).expect("a good step").work.guarded;
            let (k, p) = world.energy();
            most = f64::max(most, (k + p) / start - 1.0);
        }
        support::below(&format!("dt {dt:.1e}: gain"), most, 0.01);
        assert!(guarded > 0, "the guard never acted: ask for 1e-3");
    }
}

#[test]
fn joints_that_do_not_fit_close_slowly() {
    let kinds = [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Fixed,
        JointKind::Slider,
    ];
    for method in methods() {
        for (i, kind) in kinds.into_iter().enumerate() {
            for (gap, turn) in [(0.3, 0.0), (0.0, 1.0), (0.2, 2.5)] {
                // Without gravity: a slider would fall along its axis.
                let mut world = world(method.clone(), 0.0, Surface::new(0.5, 0.0));
                let body = add(
                    &mut world,
                    &BodyDesc::dynamic(cuboid(0.1, 0.15, 0.2), Vec3::Z * 2.0),
                );
                let axis = Vec3::new(0.6, 0.48, 0.64);
                let frame_a = Pose::from_position(Vec3::new(0.3 + gap, 0.0, 2.0));
                let frame_b = Pose::new(Vec3::X * 0.3, Quat::from_axis_angle(axis, turn));
                let joint = JointDesc::new(kind, None, frame_a, body, frame_b);
                world.add_joint(&joint).expect("a joint");
                let what = format!("{}, {kind:?}, gap {gap}, turn {turn}", method.name());
                let mut last = f64::INFINITY;
                for _ in 0..1000 {
                    let report = world.step(2e-3).unwrap_or_else(|e| panic!("{what}: {e}"));
                    let speed = support::state(&world, body).velocity.length();
                    support::below(&format!("{what}: speed"), speed, 10.0);
                    last = report.residuals.joint_position;
                }
                support::below(&format!("{what}: left open ({i})"), last, 1e-6);
                let l = world.ledger();
                support::below(&format!("{what}: gained"), l.gained, 1e-6);
            }
        }
    }
}

#[test]
fn what_is_crushed_stays_slow_and_is_reported() {
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
                bodies.push(add(
                    &mut world,
                    &BodyDesc::dynamic(cuboid(0.12, 0.1, 0.15), at),
                ));
            }
            let mut squeezed: f64 = 0.0;
            for _ in 0..(0.8 / dt) as u32 {
                let report = world.step(dt).expect("a good step");
                squeezed = squeezed.max(report.squeezed);
                for &id in &bodies {
                    let speed = support::state(&world, id).velocity.length();
                    let what = format!("{}, dt {dt:.1e}, t {:.3}", method.name(), report.time);
                    support::below(&what, speed, 10.0);
                }
            }
            assert!(squeezed > 0.0, "nothing says that the boxes are crushed");
            // 1e-6 is the aim.
            let l = world.ledger();
            support::below("gained", l.gained, 1e-2 * world.energy_scale());
        }
    }
}
