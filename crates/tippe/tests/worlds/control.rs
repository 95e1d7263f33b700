//! Control: torques on joints, steered bodies, changed bodies, and reading by name and by pair, against closed forms.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use tippe::{
    BodyDesc, BodyId, BodyKind, Filter, Freedom, IterativeParams, JointDesc, JointId, JointKind,
    MassSpec, Mat3, Method, Motion, Pose, Quat, SequentialParams, Shape, Surface, Vec3, World,
};

fn methods() -> [Method; 2] {
    [
        Method::Sequential(SequentialParams::default()),
        Method::Iterative(IterativeParams::default()),
    ]
}

fn space(method: Method, gravity: Vec3) -> World {
    let mut world = World::new(method).unwrap();
    world.set_gravity(gravity).unwrap();
    world
}

/// A body without shapes: mass 2 kg, moments 1, 2 and 3 kg m².
fn plain(position: Vec3) -> BodyDesc {
    BodyDesc {
        pose: Pose::from_position(position),
        mass: MassSpec::Explicit {
            mass: 2.0,
            center: Vec3::ZERO,
            inertia: Mat3::from_diagonal(Vec3::new(1.0, 2.0, 3.0)),
        },
        ..BodyDesc::default()
    }
}

/// Joined to the world at its centre, the joint's axis being the world's z.
fn joined(world: &mut World, kind: JointKind, rotation: Freedom) -> (BodyId, JointId) {
    let body = world.add_body(&plain(Vec3::ZERO)).unwrap();
    let desc = JointDesc {
        name: "axle".into(),
        rotation,
        ..JointDesc::new(kind, None, Pose::IDENTITY, body, Pose::IDENTITY)
    };
    (body, world.add_joint(&desc).unwrap())
}

#[test]
fn a_torque_on_a_hinge_and_a_force_on_a_slider_give_what_newton_says() {
    let dt = 1.0 / 64.0;
    for method in methods() {
        let mut world = space(method.clone(), Vec3::ZERO);
        let (body, hinge) = joined(&mut world, JointKind::Hinge, Freedom::default());
        for _ in 0..64 {
            world.apply_joint_force(hinge, 1.5, 0.0).unwrap();
            let report = world.step(dt).unwrap();
            assert!(report.energy.unexplained.abs() < 1e-9);
        }
        // I = 3 kg m²: half a radian a second after 1 s, work I ω²/2.
        let turn = world.body_state(body).unwrap().angular_velocity;
        assert!((turn - Vec3::Z * 0.5).length() < 1e-9, "{turn}");
        assert!((world.ledger().external - 0.375).abs() < 1e-9);

        let mut world = space(method, Vec3::ZERO);
        let (body, slider) = joined(&mut world, JointKind::Slider, Freedom::default());
        for _ in 0..64 {
            world.apply_joint_force(slider, 0.0, 3.0).unwrap();
            world.step(dt).unwrap();
        }
        let state = world.body_state(body).unwrap();
        assert!((state.velocity.z.abs() - 1.5).abs() < 1e-9, "{state:?}");
        // The coordinate of the joint grows with a positive force.
        let place = world
            .joint(slider)
            .unwrap()
            .place(&world.state().bodies, &world.state().joints);
        assert!((place.slide().1 - 0.75).abs() < 1e-6, "{}", place.slide().1);
    }
}

#[test]
fn a_torque_between_two_bodies_keeps_angular_momentum() {
    let mut world = space(Method::default(), Vec3::ZERO);
    let [a, b] = [Vec3::ZERO, Vec3::X * 0.7].map(|p| world.add_body(&plain(p)).unwrap());
    let frame = Pose::from_position(Vec3::X * 0.35);
    let back = Pose::from_position(-Vec3::X * 0.35);
    let hinge = JointDesc::new(JointKind::Hinge, Some(a), frame, b, back);
    let hinge = world.add_joint(&hinge).unwrap();
    for _ in 0..200 {
        world.apply_joint_force(hinge, 2.0, 0.0).unwrap();
        world.step(0.005).unwrap();
    }
    let states: Vec<_> = world.bodies().map(|(_, _, s)| *s).collect();
    let momentum: Vec3 = states.iter().map(|s| s.velocity * 2.0).sum();
    let spin =
        |s: &tippe::BodyState| s.position.cross(s.velocity * 2.0).z + 3.0 * s.angular_velocity.z;
    let total: f64 = states.iter().map(spin).sum();
    assert!(
        momentum.length() < 1e-9 && total.abs() < 1e-8,
        "{momentum} {total}"
    );
    assert!(states[1].angular_velocity.z > 0.3 && states[0].angular_velocity.z < -0.3);
}

#[test]
fn bad_torques_are_refused_by_field() {
    let mut world = space(Method::default(), Vec3::ZERO);
    let (_, hinge) = joined(&mut world, JointKind::Hinge, Freedom::default());
    let locked = Freedom {
        limits: Some((0.0, 0.0)),
        ..Freedom::default()
    };
    let (_, locked) = joined(&mut world, JointKind::Hinge, locked);
    let refused = |world: &mut World, id, torque, force| {
        let error = world.apply_joint_force(id, torque, force).unwrap_err();
        (error.field, error.reason)
    };
    assert_eq!(refused(&mut world, hinge, f64::NAN, 0.0).0, "torque");
    assert_eq!(refused(&mut world, hinge, 0.0, 1.0).0, "force");
    assert!(refused(&mut world, locked, 1.0, 0.0).1.contains("lock"));
    world.remove_joint(hinge).unwrap();
    assert_eq!(refused(&mut world, hinge, 1.0, 0.0).0, "joint");
    assert_eq!(
        world
            .state()
            .loads
            .iter()
            .filter(|l| l.torque != Vec3::ZERO)
            .count(),
        0
    );
}

/// A kinematic disc under a ball, and the ball.
fn turntable(method: &Method, motion: Motion) -> (World, BodyId, BodyId) {
    let mut world = World::new(method.clone()).unwrap();
    world.set_default_surface(Surface::new(0.5, 0.0)).unwrap();
    let disc = Shape::Cuboid {
        half: Vec3::new(2.0, 2.0, 0.1),
    };
    let table = BodyDesc {
        name: "table".into(),
        kind: BodyKind::Kinematic(motion),
        ..BodyDesc::dynamic(disc, Vec3::new(0.1, 0.2, -0.1))
    };
    let table = world.add_body(&table).unwrap();
    let ball = BodyDesc::dynamic(Shape::Sphere { radius: 0.2 }, Vec3::new(0.9, 0.0, 0.2));
    let ball = world.add_body(&ball).unwrap();
    (world, table, ball)
}

#[test]
fn a_body_steered_along_a_circle_is_the_same_motion_prescribed() {
    let (v, w) = (Vec3::new(0.1, 0.0, 0.0), Vec3::Z * 0.8);
    for method in methods() {
        let prescribed = Motion::Constant {
            velocity: v,
            angular_velocity: w,
        };
        let (mut one, ..) = turntable(&method, prescribed);
        let (mut other, table, _) = turntable(&method, Motion::REST);
        other.steer(table, v, w).unwrap();
        for _ in 0..200 {
            one.step(0.005).unwrap();
            other.step(0.005).unwrap();
            assert_eq!(one.hash(), other.hash());
        }
        // A snapshot remembers how it is steered.
        let mut back = World::restore(&other.snapshot()).unwrap();
        back.step(0.005).unwrap();
        other.step(0.005).unwrap();
        assert_eq!(back.hash(), other.hash());
    }
}

#[test]
fn a_steered_body_arrives_at_every_pose_and_carries_what_lies_on_it() {
    let (mut world, table, ball) = turntable(&Method::default(), Motion::REST);
    let start = world.pose(table).unwrap();
    let dt = 0.005;
    for i in 1..=200 {
        // A circle of 0.3 m, slowly, with a turn.
        let angle = 0.01 * f64::from(i);
        let circle = Vec3::new(libm::cos(angle) - 1.0, libm::sin(angle), 0.0) * 0.3;
        let goal = Pose::new(start.position + circle, Quat::from_rotation_z(0.2 * angle));
        world.steer_to(table, goal, dt).unwrap();
        let report = world.step(dt).unwrap();
        let pose = world.pose(table).unwrap();
        assert!((pose.position - goal.position).length() < 1e-12);
        assert!(pose.rotation.dot(goal.rotation).abs() > 1.0 - 1e-12);
        assert!(report.energy.unexplained.abs() < 1e-9);
    }
    // μ g dt per step is far more than what the circle asks: the ball's contact point follows without slip.
    let under = world.body_state(table).unwrap();
    let state = world.body_state(ball).unwrap();
    let point = state.position - Vec3::Z * 0.2;
    let slip = state.point_velocity(point) - under.point_velocity(point);
    assert!(slip.length() < 1e-6, "{slip}");
    assert!(state.velocity.length() > 0.01);
    let pair = world.contact_between(table, ball).unwrap().unwrap();
    let weight = world.body(ball).unwrap().mass * 9.81;
    assert!((pair.force.z - weight).abs() < 1e-6 * weight && pair.points == 1);
    let back = world.contact_between(ball, table).unwrap().unwrap();
    assert_eq!(back.impulse, -pair.impulse);
    assert_eq!(world.contacts_of(ball).unwrap().count(), 1);
    assert_eq!(world.body_named("table"), Some(table));
    assert_eq!(world.body_named("chair"), None);

    for (id, pose, dt, field) in [
        (ball, start, 0.1, "body"),
        (table, start, 0.0, "dt"),
        (table, Pose::from_position(Vec3::NAN), 0.1, "pose"),
    ] {
        assert_eq!(world.steer_to(id, pose, dt).unwrap_err().field, field);
    }
    let nan = world.steer(table, Vec3::NAN, Vec3::ZERO).unwrap_err();
    assert_eq!(nan.field, "velocity");
}

#[test]
fn an_edit_that_changes_nothing_changes_no_bit() {
    let build = || {
        let (mut world, _, ball) = turntable(&Method::default(), Motion::REST);
        let tilted = BodyDesc {
            pose: Pose::new(Vec3::new(-0.8, 0.0, 1.0), Quat::from_rotation_x(0.4)),
            ..BodyDesc::dynamic(
                Shape::Cuboid {
                    half: Vec3::new(0.1, 0.2, 0.3),
                },
                Vec3::ZERO,
            )
        };
        let brick = world.add_body(&tilted).unwrap();
        (world, ball, brick)
    };
    let (mut one, ..) = build();
    let (mut other, ball, brick) = build();
    for i in 0..150 {
        if i % 10 == 0 {
            other.edit_body(ball, |_| ()).unwrap();
            other.edit_body(brick, |d| d.name = "brick".into()).unwrap();
        }
        one.step(0.005).unwrap();
        other.step(0.005).unwrap();
        assert_eq!(one.hash(), other.hash(), "step {i}");
    }
}

#[test]
fn bodies_change_mass_gravity_filter_kind_and_shape_under_their_id() {
    let (mut world, table, ball) = turntable(&Method::default(), Motion::REST);
    world.step(0.01).unwrap();
    // Mass: the contact bears the new weight.
    world
        .edit_body(ball, |d| d.mass = MassSpec::Mass(7.0))
        .unwrap();
    for _ in 0..5 {
        world.step(0.01).unwrap();
    }
    let force = world.contact_between(table, ball).unwrap().unwrap().force;
    assert!((force.z - 7.0 * 9.81).abs() < 1e-6, "{force}");
    // Gravity scale: it falls upwards.
    world.edit_body(ball, |d| d.gravity_scale = -1.0).unwrap();
    for _ in 0..10 {
        world.step(0.01).unwrap();
    }
    assert!((world.body_state(ball).unwrap().velocity.z - 0.981).abs() < 1e-9);
    // Kind: fixed in mid-air, then dynamic again.
    let place = world.pose(ball).unwrap();
    world
        .edit_body(ball, |d| {
            d.kind = BodyKind::Fixed;
            (d.velocity, d.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
        })
        .unwrap();
    world.step(0.01).unwrap();
    assert_eq!(world.pose(ball).unwrap(), place);
    world
        .edit_body(ball, |d| {
            d.kind = BodyKind::Dynamic;
            d.gravity_scale = 1.0;
            d.shapes[0].filter = Filter { groups: 1, mask: 0 };
        })
        .unwrap();
    // Filter: nothing holds it.
    for _ in 0..100 {
        world.step(0.01).unwrap();
    }
    assert!(world.pose(ball).unwrap().position.z < -1.0);
    assert_eq!(world.contact_between(table, ball).unwrap(), None);

    // Nonsense is refused and changes nothing.
    let before = world.snapshot();
    let nan = world
        .edit_body(ball, |d| d.gravity_scale = f64::NAN)
        .unwrap_err();
    assert_eq!(nan.field, "gravity_scale");
    let idle = world
        .edit_body(table, |d| d.velocity = Vec3::X)
        .unwrap_err();
    assert_eq!(idle.field, "velocity");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn a_new_centre_of_mass_keeps_the_motion_and_the_joints() {
    let mut world = space(Method::default(), Vec3::ZERO);
    let (body, hinge) = joined(&mut world, JointKind::Hinge, Freedom::default());
    world.set_velocity(body, Vec3::ZERO, Vec3::Z).unwrap();
    world
        .edit_body(body, |d| {
            d.mass = MassSpec::Explicit {
                mass: 2.0,
                center: Vec3::X * 0.5,
                inertia: Mat3::from_diagonal(Vec3::ONE),
            };
        })
        .unwrap();
    let state = world.body_state(body).unwrap();
    assert!((state.position - Vec3::X * 0.5).length() < 1e-12);
    assert!((state.velocity - Vec3::Y * 0.5).length() < 1e-12);
    let start = world.energy().0;
    for _ in 0..100 {
        world.step(0.01).unwrap();
    }
    let place = world
        .joint(hinge)
        .unwrap()
        .place(&world.state().bodies, &world.state().joints);
    assert!((place.a.position - place.b.position).length() < 1e-8);
    assert!((world.energy().0 - start).abs() < 1e-6 * start);
    // What would leave the joint without anything that moves is refused.
    let fixed = world.edit_body(body, |d| d.kind = BodyKind::Fixed);
    assert!(fixed.unwrap_err().reason.contains("axle"));
    assert_eq!(world.joint_named("axle"), Some(hinge));
}
