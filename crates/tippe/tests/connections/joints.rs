//! Joints in the world: they hold, carry, break, follow, and stay bounded where they cannot be right.

use crate::joint_support;
use crate::support;

use joint_support::{
    FRAME, at, ball, carried, chain, hinged_rod, join, join_at, lump, misfit, place,
    relative_velocity, rod, sliding_mass, space, space_with, tie, watch, worst_misfit, z_along_y,
};
use support::{G, add, below, cuboid, near, near_vec, run, solid, sphere, state, world};
use tippe::math::rotation;
use tippe::{
    BodyDesc, BodyId, BodyKind, EventKind, Freedom, JointDesc, JointKind, Mat3, Motion, Motor,
    Pose, Quat, SequentialParams, Spring, Surface, Vec3, World,
};

// ---- the impulse of a joint ------------------------------------------------------------------------------------------------------

/// Solved as far as rounding goes.
fn tight() -> SequentialParams {
    SequentialParams {
        velocity_tolerance: 1e-14,
        joint_tolerance: 1e-14,
        ..SequentialParams::default()
    }
}

/// Two unlike bodies joined at the origin, whose velocities do not fit.
fn misfitting_pair() -> World {
    let mut world = space_with(0.0, tight());
    let a = BodyDesc {
        velocity: Vec3::new(0.3, -0.2, 0.5),
        angular_velocity: Vec3::new(1.0, 0.4, -0.7),
        ..lump(2.0, Vec3::new(0.1, 0.2, 0.25), Vec3::new(-0.5, 0.1, 0.2))
    };
    let b = BodyDesc {
        velocity: Vec3::new(-0.6, 0.1, 0.2),
        angular_velocity: Vec3::new(-0.2, 0.9, 0.3),
        ..lump(0.7, Vec3::new(0.03, 0.05, 0.04), Vec3::new(0.3, 0.2, -0.4))
    };
    let (a, b) = (add(&mut world, &a), add(&mut world, &b));
    ball(&mut world, Some(a), b, Vec3::ZERO);
    world
}

/// `K = (1/m) 1 − [r]ₓ I⁻¹ [r]ₓ` of a body: response of its point at `r` to an impulse there.
fn response(world: &World, id: BodyId, point: Vec3) -> Mat3 {
    let (body, s) = (world.body(id).expect("a living body"), state(world, id));
    let r = point - s.position;
    let cross = Mat3::from_cols(r.cross(Vec3::X), r.cross(Vec3::Y), r.cross(Vec3::Z));
    let inverse_inertia = rotation::world_tensor(s.rotation * body.axes, body.inverse_moments);
    Mat3::from_diagonal(Vec3::splat(body.inverse_mass)) - cross * inverse_inertia * cross
}

#[test]
fn cl_22_joint_impulse_leaves_no_relative_velocity_and_keeps_momentum() {
    let mut world = misfitting_pair();
    let joint = world.joint_ids().next().expect("one joint");
    let before = run(&mut world.clone(), 1e-12, 1);
    let report = run(&mut world, 0.01, 1);
    below(
        "relative velocity",
        relative_velocity(&world, joint).length(),
        1e-12,
    );
    near_vec("momentum", report.momentum, before.momentum, 1e-14);
    near_vec(
        "angular momentum",
        report.angular_momentum,
        before.angular_momentum,
        1e-12,
    );
}

#[test]
fn cl_22_joint_impulse_is_minus_k_inverse_times_relative_velocity() {
    let mut world = misfitting_pair();
    let joint = world.joint_ids().next().expect("one joint");
    let ids: Vec<BodyId> = world.body_ids().collect();
    #[allow(non_snake_case)]
    let K = response(&world, ids[0], Vec3::ZERO) + response(&world, ids[1], Vec3::ZERO);
    let wanted = -(K.inverse() * relative_velocity(&world, joint));
    // In so short a step the bodies turn by 1e-7 rad: the two halves of the step act in one place.
    let dt = 1e-7;
    run(&mut world, dt, 1);
    near_vec(
        "impulse",
        carried(&world, joint).force * dt,
        wanted,
        1e-6 * wanted.length(),
    );
}

#[test]
fn sr_16_point_held_to_point_has_no_relative_velocity_after_a_step() {
    for dt in [1e-3, 0.01, FRAME] {
        let mut world = misfitting_pair();
        let joint = world.joint_ids().next().expect("one joint");
        run(&mut world, dt, 1);
        let u = relative_velocity(&world, joint).length();
        below(&format!("relative velocity, dt = {dt}"), u, 1e-10);
    }
    let (mut world, _, joint) = pendulum(Vec3::ZERO);
    let mut worst: f64 = 0.0;
    watch(&mut world, 0.01, 100, |w| {
        worst = worst.max(relative_velocity(w, joint).length());
    });
    below("relative velocity of a pendulum's anchor", worst, 1e-10);
}

/// A level rod whose left end, at the origin, is to be held at `anchor`.
fn pendulum(anchor: Vec3) -> (World, BodyId, tippe::JointId) {
    let mut world = space(G);
    let body = add(&mut world, &rod(Vec3::X * 0.5));
    let joint = join(
        &mut world,
        &JointDesc::new(
            JointKind::Ball,
            None,
            Pose::from_position(anchor),
            body,
            Pose::from_position(Vec3::X * -0.5),
        ),
    );
    (world, body, joint)
}

#[test]
fn sr_17_rod_pendulum_keeps_its_anchor_for_20_s() {
    let (mut world, _, _) = pendulum(Vec3::ZERO);
    let worst = watch(&mut world, 0.01, 2000, |_| {});
    // Required: 7.3e-4 m. The joint tolerance is 1e-10 m; the residual is taken row by row.
    below("anchor error", worst, 1e-9);
}

#[test]
fn sr_17_gap_of_a_centimetre_closes_in_two_steps() {
    for anchor in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(0.48, -0.6, 0.64)] {
        let (mut world, _, joint) = pendulum(anchor * -0.01);
        near("gap", place(&world, joint).distance().1, 0.01, 1e-15);
        run(&mut world, 0.01, 1);
        let gap = place(&world, joint).distance().1;
        below(&format!("gap along {anchor} after one step"), gap, 3e-5);
        run(&mut world, 0.01, 1);
        let gap = place(&world, joint).distance().1;
        below(&format!("gap along {anchor} after two steps"), gap, 2e-6);
    }
}

#[test]
fn sr_21_pinned_rod_hits_a_stop_and_bounces_while_its_pin_holds() {
    let dt = 1e-3;
    for e in [0.0, 0.5, 1.0] {
        let mut world = world(0.0, Surface::new(0.0, e));
        let spin = Vec3::Y * 2.0;
        let bar = BodyDesc {
            velocity: spin.cross(Vec3::X * 0.5),
            angular_velocity: spin,
            ..solid(cuboid(0.5, 0.05, 0.05), 1.0, Vec3::X * 0.5)
        };
        let bar = add(&mut world, &bar);
        add(
            &mut world,
            &BodyDesc::fixed(sphere(0.1), Vec3::new(0.8, 0.0, -0.17)),
        );
        let pin = Pose::new(Vec3::ZERO, z_along_y());
        let joint = join_at(&mut world, JointKind::Hinge, None, bar, pin);
        let mut pin_speed: f64 = 0.0;
        let worst = watch(&mut world, dt, 100, |w| {
            pin_speed = pin_speed.max(relative_velocity(w, joint).length());
        });
        below(&format!("e = {e}: anchor error"), worst, 1e-9);
        below(&format!("e = {e}: pin speed"), pin_speed, 1e-7);
        let after = state(&world, bar).angular_velocity;
        // Within the step of the impact the rod turns by ω h = 2e-3, which moves the contact, 0.05 m beside the rod's middle, by that
        // part of 0.05/0.8.
        near_vec(&format!("e = {e}: spin"), after, -e * spin, 2.5e-4);
    }
}

// ---- every kind holds --------------------------------------------------------------------------------------------------------------

#[test]
fn every_kind_holds_a_tumbling_pair_under_gravity() {
    let kinds = [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Slider,
        JointKind::Fixed,
        JointKind::Cylindrical,
        JointKind::Universal,
        JointKind::Distance { min: 0.6, max: 0.6 },
    ];
    for kind in kinds {
        let mut world = space(G);
        let spin = Vec3::new(1.0, -2.0, 0.5);
        let a = BodyDesc {
            angular_velocity: spin,
            ..lump(2.0, Vec3::new(0.1, 0.2, 0.25), Vec3::ZERO)
        };
        let center = Vec3::new(0.5, 0.3, -0.4);
        let b = BodyDesc {
            angular_velocity: spin,
            velocity: spin.cross(center),
            ..lump(0.7, Vec3::new(0.03, 0.05, 0.04), center)
        };
        let (a, b) = (add(&mut world, &a), add(&mut world, &b));
        let frame = Pose::new(Vec3::new(0.2, 0.1, -0.1), z_along_y());
        let mut desc = at(&world, kind, Some(a), b, frame);
        match kind {
            JointKind::Universal => {
                desc.frame_b.rotation *= rotation::exp(Vec3::X * std::f64::consts::FRAC_PI_2);
            }
            JointKind::Distance { .. } => {
                desc.frame_a.position = Vec3::ZERO;
                desc.frame_b.position = Vec3::new(0.48, 0.0, -0.36) - center;
            }
            _ => {}
        }
        join(&mut world, &desc);
        let (kinetic, potential) = world.energy();
        let worst = watch(&mut world, 0.01, 200, |_| {});
        below(&format!("{kind:?}: misfit"), worst, 1e-9);
        let after = world.energy();
        let drift = (after.0 + after.1 - kinetic - potential).abs() / kinetic;
        below(&format!("{kind:?}: energy"), drift, 2e-3);
    }
}

// ---- reactions ---------------------------------------------------------------------------------------------------------------------

#[test]
fn hanging_body_pulls_with_its_weight() {
    let mut world = space(G);
    let body = add(&mut world, &lump(3.0, Vec3::splat(0.2), Vec3::Z * -0.7));
    let joint = ball(&mut world, None, body, Vec3::ZERO);
    for step in 0..60 {
        run(&mut world, FRAME, 1);
        let force = carried(&world, joint).force;
        near_vec(&format!("step {step}"), force, Vec3::Z * 3.0 * G, 1e-8);
    }
}

#[test]
fn cantilever_carries_weight_and_moment() {
    let mut world = space(G);
    let body = add(&mut world, &lump(3.0, Vec3::splat(0.2), Vec3::X * 0.8));
    let joint = join_at(&mut world, JointKind::Fixed, None, body, Pose::IDENTITY);
    for step in 0..60 {
        run(&mut world, FRAME, 1);
        let f = carried(&world, joint);
        near_vec(
            &format!("step {step}, force"),
            f.force,
            Vec3::Z * 3.0 * G,
            1e-8,
        );
        let moment = Vec3::Y * -(3.0 * G * 0.8);
        near_vec(&format!("step {step}, torque"), f.torque, moment, 1e-8);
    }
    below("misfit", misfit(&world, joint), 1e-10);
}

#[test]
fn every_joint_of_a_chain_carries_the_weight_below_it() {
    let mut world = space(G);
    let (_, joints) = chain(&mut world, 5, 1.0);
    run(&mut world, FRAME, 60);
    for (k, &joint) in joints.iter().enumerate() {
        let weight = Vec3::Z * (5 - k) as f64 * G;
        near_vec(
            &format!("joint {k}"),
            carried(&world, joint).force,
            weight,
            1e-8,
        );
    }
}

#[test]
fn force_of_a_swinging_mass_is_weight_plus_centripetal_force() {
    let mut world = space(G);
    let bob = BodyDesc {
        velocity: Vec3::X * 2.0,
        ..lump(1.0, Vec3::splat(1e-3), Vec3::Z * -1.0)
    };
    let bob = add(&mut world, &bob);
    let joint = tie(&mut world, bob, Vec3::ZERO, 1.0, 1.0);
    run(&mut world, 1e-3, 1);
    // m g + m v²/l; the mean over the first millisecond is off by less than the change in it, of order (v h)².
    near(
        "tension",
        carried(&world, joint).force.length(),
        G + 4.0,
        1e-4,
    );
}

// ---- breaking ----------------------------------------------------------------------------------------------------------------------

#[test]
fn joint_breaks_above_its_force_and_the_body_falls_freely() {
    for (strength, breaks) in [(0.99 * G, true), (1.01 * G, false)] {
        let mut world = space(G);
        let body = add(&mut world, &lump(1.0, Vec3::splat(0.1), Vec3::Z * -1.0));
        let mut desc = at(&world, JointKind::Ball, None, body, Pose::IDENTITY);
        desc.break_force = strength;
        let joint = join(&mut world, &desc);
        run(&mut world, 0.01, 1);
        let broken: Vec<_> = world
            .events()
            .iter()
            .filter(|e| e.kind == EventKind::JointBreak)
            .collect();
        assert_eq!(broken.len(), usize::from(breaks), "strength {strength}");
        assert!(broken.iter().all(|e| e.body_b == body && e.body_a == body));
        assert_eq!(world.joint(joint).is_err(), breaks);
        run(&mut world, 0.01, 100);
        let fallen = if breaks { 0.5 * G } else { 0.0 };
        let z = state(&world, body).position.z;
        near(
            &format!("strength {strength}: height"),
            z,
            -1.0 - fallen,
            1e-10,
        );
        assert!(world.events().is_empty(), "it breaks once");
    }
}

#[test]
fn joint_breaks_above_its_torque() {
    for (strength, breaks) in [(0.99 * G, true), (1.01 * G, false)] {
        let mut world = space(G);
        let body = add(&mut world, &lump(1.0, Vec3::splat(0.1), Vec3::X));
        let mut desc = at(&world, JointKind::Fixed, None, body, Pose::IDENTITY);
        desc.break_torque = strength;
        let joint = join(&mut world, &desc);
        run(&mut world, 0.01, 5);
        assert_eq!(world.joint(joint).is_err(), breaks, "strength {strength}");
    }
}

// ---- prescribed motion ---------------------------------------------------------------------------------------------------------------

#[test]
fn turning_arm_carries_a_rod_fixed_to_it() {
    let spin = 3.0;
    let mut world = space(0.0);
    let arm = add(&mut world, &arm(Vec3::Z * spin));
    let carried_rod = BodyDesc {
        velocity: Vec3::Y * spin * 0.5,
        angular_velocity: Vec3::Z * spin,
        ..rod(Vec3::X * 0.5)
    };
    let body = add(&mut world, &carried_rod);
    let frame = Pose::from_position(Vec3::X);
    let joint = join_at(&mut world, JointKind::Fixed, Some(arm), body, frame);
    let worst = watch(&mut world, 0.01, 200, |_| {});
    below("misfit", worst, 1e-9);
    let angle = spin * 2.0;
    let along = Vec3::new(libm::cos(angle), libm::sin(angle), 0.0);
    near_vec("centre", state(&world, body).position, along * 0.5, 1e-9);
    // m ω² r towards the middle; chords instead of arcs: (ω h)²/12 of it.
    let force = carried(&world, joint).force;
    below("along the arm", force.cross(along).length(), 0.05 * 4.5);
    near("centripetal force", force.length(), 4.5, 4.5 * 1e-3);
}

fn arm(angular_velocity: Vec3) -> BodyDesc {
    BodyDesc {
        kind: BodyKind::Kinematic(Motion::Constant {
            velocity: Vec3::ZERO,
            angular_velocity,
        }),
        ..BodyDesc::default()
    }
}

#[test]
fn slider_crank_follows_its_closed_form() {
    // Crank of 0.3 m that turns about y, rod of 1 m, block on the x axis: x = r cos θ + √(l² − r² sin² θ).
    // In space such a loop holds twice what it needs to hold: the rows depend on each other.
    let (r, spin) = (0.3, 4.0);
    let mut world = space(G);
    let crank = add(&mut world, &arm(Vec3::Y * -spin));
    let rod = add(&mut world, &rod(Vec3::X * (r + 0.5)));
    let block = add(
        &mut world,
        &lump(2.0, Vec3::splat(0.1), Vec3::X * (r + 1.0)),
    );
    let hinge = |x: f64| Pose::new(Vec3::X * x, z_along_y());
    join_at(&mut world, JointKind::Hinge, Some(crank), rod, hinge(r));
    join_at(
        &mut world,
        JointKind::Hinge,
        Some(rod),
        block,
        hinge(r + 1.0),
    );
    let rail = Pose::new(Vec3::ZERO, joint_support::z_along_x());
    join_at(&mut world, JointKind::Slider, None, block, rail);
    let mut off: f64 = 0.0;
    let worst = watch(&mut world, 0.005, 400, |w| {
        let (sin, cos) = libm::sincos(spin * w.time());
        let x = r * cos + (1.0 - r * r * sin * sin).sqrt();
        off = off.max((state(w, block).position.x - x).abs());
    });
    below("misfit", worst, 1e-9);
    below("block", off, 1e-8);
}

// ---- bookkeeping ---------------------------------------------------------------------------------------------------------------------

#[test]
fn joined_bodies_do_not_touch_unless_they_may() {
    for collide in [false, true] {
        let mut world = world(0.0, Surface::new(0.5, 0.0));
        let a = add(&mut world, &solid(cuboid(0.5, 0.1, 0.1), 1.0, Vec3::ZERO));
        let b = add(
            &mut world,
            &solid(cuboid(0.5, 0.1, 0.1), 1.0, Vec3::X * 0.95),
        );
        let frame = Pose::from_position(Vec3::X * 0.475);
        let mut desc = at(&world, JointKind::Ball, Some(a), b, frame);
        desc.collide = collide;
        let joint = join(&mut world, &desc);
        let report = run(&mut world, FRAME, 1);
        assert_eq!(report.candidates > 0, collide, "with collide = {collide}");
        if !collide {
            world.remove_joint(joint).expect("a living joint");
            let report = run(&mut world, FRAME, 1);
            assert!(report.candidates > 0, "without the joint they may touch");
        }
    }
}

#[test]
fn bodies_two_joints_apart_still_touch() {
    let mut world = world(0.0, Surface::new(0.5, 0.0));
    let ids: Vec<BodyId> = (0..3)
        .map(|i| {
            let x = 0.15 * f64::from(i);
            add(&mut world, &solid(sphere(0.2), 1.0, Vec3::X * x))
        })
        .collect();
    for pair in ids.windows(2) {
        ball(&mut world, Some(pair[0]), pair[1], Vec3::ZERO);
    }
    assert_eq!(run(&mut world, FRAME, 1).candidates, 1);
}

#[test]
fn removal_of_a_body_takes_its_joints_and_leaves_the_others() {
    let mut world = space(G);
    let (bodies, joints) = chain(&mut world, 4, 1.0);
    world.remove_body(bodies[1]).expect("a living body");
    let left: Vec<_> = world.joint_ids().collect();
    assert_eq!(left, [joints[0], joints[3]]);
    assert!(world.joint(joints[1]).is_err() && world.joint(joints[2]).is_err());
    let before = state(&world, bodies[3]).position.z;
    run(&mut world, 0.01, 100);
    assert_eq!(world.joint_forces().len(), 2);
    near(
        "the lower part falls",
        state(&world, bodies[3]).position.z - before,
        -0.5 * G,
        1e-9,
    );
    near(
        "the upper one hangs",
        state(&world, bodies[0]).position.z,
        -0.5,
        1e-9,
    );
}

#[test]
fn stale_ids_are_refused() {
    let mut world = space(G);
    let body = add(&mut world, &rod(Vec3::ZERO));
    let old = ball(&mut world, None, body, Vec3::ZERO);
    world.remove_joint(old).expect("a living joint");
    assert!(world.joint(old).is_err());
    assert!(world.remove_joint(old).is_err());
    let new = ball(&mut world, None, body, Vec3::ZERO);
    assert_eq!(new.index(), old.index(), "the slot is used again");
    assert!(
        world.joint(old).is_err(),
        "the old id does not name the new joint"
    );
    assert!(world.remove_joint(old).is_err());
    let error = world
        .set_joint_freedom(old, Freedom::default(), Freedom::default())
        .expect_err("a stale id");
    assert_eq!(error.field, "joint");
    assert!(world.joint(new).is_ok());
    world.remove_body(body).expect("a living body");
    let desc = JointDesc::new(JointKind::Ball, None, Pose::IDENTITY, body, Pose::IDENTITY);
    assert_eq!(world.add_joint(&desc).expect_err("no body").field, "body_b");
}

#[test]
fn joint_without_memory_starts_where_another_was_removed() {
    let mut world = space(G);
    let body = add(&mut world, &lump(1.0, Vec3::splat(0.1), Vec3::Z * -1.0));
    let desc = at(&world, JointKind::Ball, None, body, Pose::IDENTITY);
    let fresh = world.clone();
    let joint = join(&mut world, &desc);
    run(&mut world, FRAME, 30);
    world.remove_joint(joint).expect("a living joint");
    world
        .set_pose(body, Pose::from_position(Vec3::Z * -1.0))
        .expect("a living body");
    world
        .set_velocity(body, Vec3::ZERO, Vec3::ZERO)
        .expect("a living body");
    join(&mut world, &desc);
    let mut twin = fresh;
    join(&mut twin, &desc);
    run(&mut world, FRAME, 1);
    run(&mut twin, FRAME, 1);
    assert_eq!(state(&world, body), state(&twin, body));
}

/// One joint of every kind, with limit, motor and spring.
fn menagerie() -> World {
    let mut world = space(G);
    let (bodies, _) = chain(&mut world, 4, 10.0);
    let spin = Freedom {
        motor: Some(Motor::Velocity {
            target: 2.0,
            max_force: 1.0,
        }),
        ..Freedom::default()
    };
    let bounded = Freedom {
        limits: Some((-0.2, 0.1)),
        spring: Some(Spring {
            rest: 0.3,
            stiffness: 40.0,
            damping: 0.5,
        }),
        ..Freedom::default()
    };
    let kinds = [
        (JointKind::Hinge, spin, Freedom::default()),
        (JointKind::Slider, Freedom::default(), bounded),
        (JointKind::Cylindrical, spin, bounded),
        (JointKind::Universal, Freedom::default(), Freedom::default()),
        (JointKind::Fixed, Freedom::default(), Freedom::default()),
        (
            JointKind::Distance { min: 0.0, max: 0.3 },
            Freedom::default(),
            Freedom::default(),
        ),
    ];
    for (i, (kind, rotation, translation)) in kinds.into_iter().enumerate() {
        let side = Vec3::new(0.5, 0.3 * i as f64, -1.0 - 0.3 * i as f64);
        let body = add(&mut world, &lump(1.0, Vec3::new(0.1, 0.2, 0.15), side));
        let frame = Pose::new(side * 0.5, z_along_y());
        let mut desc = JointDesc {
            rotation,
            translation,
            ..at(&world, kind, Some(bodies[i % 3]), body, frame)
        };
        if kind == JointKind::Universal {
            desc.frame_b.rotation *= rotation::exp(Vec3::X * std::f64::consts::FRAC_PI_2);
        }
        join(&mut world, &desc);
    }
    world
}

#[test]
fn snapshots_with_joints_go_on_bit_for_bit() {
    let mut world = menagerie();
    run(&mut world, FRAME, 30);
    let mut twin = World::restore(&world.snapshot()).expect("a good snapshot");
    assert_eq!(twin.hash(), world.hash());
    run(&mut world, FRAME, 30);
    run(&mut twin, FRAME, 30);
    assert_eq!(twin.hash(), world.hash());
    let mut other = menagerie();
    run(&mut other, FRAME, 60);
    assert_eq!(other.hash(), world.hash(), "and so does a second run");
    below("misfit", worst_misfit(&world), 1e-9);
}

// ---- what cannot be right, and what is held twice ------------------------------------------------------------------------------------

/// Steps a world that cannot meet its joints for 0.75 s; asserts that it stays finite, that the report names the misfit and that the
/// misfit is in a range [m]. Returns the largest speed, and spin at 1 m, that a body reached [m/s].
fn contradict(what: &str, mut world: World, misfit: (f64, f64)) -> f64 {
    let mut fastest: f64 = 0.0;
    for step in 0..45 {
        let report = world.step(FRAME).expect("a finite step");
        let (named, found) = (report.residuals.joint_position, worst_misfit(&world));
        // Where a step is divided, the report names the worst of its parts.
        let what = format!("{what}, step {step}");
        below(&format!("{what}: the report"), found - named, 1e-12);
        assert!(
            misfit.0 <= named && named <= misfit.1,
            "{what}: misfit {named} is not in {misfit:?}"
        );
        for id in world.body_ids() {
            let s = state(&world, id);
            fastest = fastest.max(s.velocity.length() + s.angular_velocity.length());
        }
    }
    fastest
}

#[test]
fn two_ball_joints_a_centimetre_apart_name_their_misfit() {
    let mut world = space(G);
    let a = add(&mut world, &rod(Vec3::X * 0.5));
    let b = add(&mut world, &rod(Vec3::X * 1.5));
    ball(&mut world, None, a, Vec3::ZERO);
    ball(&mut world, Some(a), b, Vec3::X);
    let frame = Pose::from_position(Vec3::X);
    let mut second = at(&world, JointKind::Ball, Some(a), b, frame);
    second.frame_a.position += Vec3::Z * 0.01;
    join(&mut world, &second);
    let fastest = contradict("two anchors", world, (0.002, 0.0101));
    // No faster than the fall: two rods of 1 m from level to upright reach √(3 g l) at the end of the second, counted as speed and spin.
    below("speed", fastest, 15.0);
}

#[test]
fn rod_pinned_to_two_points_too_far_apart_ends_bounded() {
    let mut world = space(G);
    let body = add(&mut world, &rod(Vec3::X * 0.5));
    ball(&mut world, None, body, Vec3::ZERO);
    let far = JointDesc::new(
        JointKind::Ball,
        None,
        Pose::from_position(Vec3::X * 1.2),
        body,
        Pose::from_position(Vec3::X * 0.5),
    );
    join(&mut world, &far);
    below(
        "speed",
        contradict("a rod too short", world, (0.05, 0.201)),
        1.0,
    );
}

#[test]
fn door_on_two_hinges_swings_and_hangs() {
    let mut world = space(G);
    let spin = Vec3::Z * 1.5;
    let door = BodyDesc {
        velocity: spin.cross(Vec3::X * 0.5),
        angular_velocity: spin,
        ..solid(cuboid(0.5, 0.02, 1.0), 20.0, Vec3::X * 0.5)
    };
    let door = add(&mut world, &door);
    let hinges = [0.7, -0.7].map(|z| {
        let frame = Pose::from_position(Vec3::Z * z);
        join_at(&mut world, JointKind::Hinge, None, door, frame)
    });
    let worst = watch(&mut world, FRAME, 300, |w| {
        let carried = hinges.map(|h| carried(w, h).force.z);
        near("weight", carried[0] + carried[1], 20.0 * G, 1e-6);
    });
    below("misfit", worst, 1e-9);
    // Nothing slows it.
    near_vec("spin", state(&world, door).angular_velocity, spin, 1e-6);
}

// ---- the heavy end ---------------------------------------------------------------------------------------------------------------------

/// Largest anchor error of 20 ball joints with 1000 links' mass at the end, that start to turn about the top with a spin [rad/s].
fn heavy_chain(spin: f64) -> f64 {
    let mut world = space(G);
    let (bodies, _) = chain(&mut world, 20, 1000.0);
    for id in bodies {
        let w = Vec3::Y * spin;
        let v = w.cross(state(&world, id).position);
        world.set_velocity(id, v, w).expect("a living body");
    }
    let mut worst: f64 = 0.0;
    for _ in 0..120 {
        run(&mut world, FRAME, 1);
        for id in world.joint_ids() {
            worst = worst.max(place(&world, id).distance().1);
        }
    }
    worst
}

#[test]
fn chain_with_a_heavy_end_hangs_without_stretching() {
    below("anchor error", heavy_chain(0.0), 5e-3);
}

#[test]
fn chain_with_a_heavy_end_swings_without_stretching() {
    below("anchor error", heavy_chain(0.5), 5e-3);
}

// ---- bad descriptions --------------------------------------------------------------------------------------------------------------------

/// Asserts that a description is refused, and at which field.
#[track_caller]
fn refused(world: &mut World, field: &str, desc: &JointDesc) {
    match world.add_joint(desc) {
        Err(error) => assert_eq!(error.field, field, "{error}"),
        Ok(_) => panic!("accepted, though {field} makes no sense"),
    }
    assert_eq!(world.joint_ids().count(), 0);
}

#[test]
fn bodies_that_cannot_be_joined_are_refused() {
    let mut world = space(G);
    let body = add(&mut world, &rod(Vec3::ZERO));
    let fixed: Vec<BodyId> = (0..2)
        .map(|_| {
            let desc = BodyDesc::fixed(sphere(0.1), Vec3::ZERO);
            add(&mut world, &desc)
        })
        .collect();
    let kinematic = add(&mut world, &arm(Vec3::Z));
    let new = |a: Option<BodyId>, b: BodyId| {
        JointDesc::new(JointKind::Ball, a, Pose::IDENTITY, b, Pose::IDENTITY)
    };
    refused(&mut world, "body_b", &new(Some(body), body));
    refused(&mut world, "body_b", &new(Some(fixed[0]), fixed[1]));
    refused(&mut world, "body_b", &new(Some(fixed[0]), kinematic));
    refused(&mut world, "body_b", &new(None, fixed[0]));
    refused(&mut world, "body_b", &new(None, kinematic));
    let gone = add(&mut world, &rod(Vec3::ZERO));
    world.remove_body(gone).expect("a living body");
    refused(&mut world, "body_a", &new(Some(gone), body));
    refused(&mut world, "body_b", &new(Some(body), gone));
    assert!(world.add_joint(&new(Some(fixed[0]), body)).is_ok());
    assert!(world.add_joint(&new(Some(body), kinematic)).is_ok());
}

#[test]
fn frames_distances_and_strengths_that_make_no_sense_are_refused() {
    let mut world = space(G);
    let body = add(&mut world, &rod(Vec3::ZERO));
    let good = JointDesc::new(JointKind::Ball, None, Pose::IDENTITY, body, Pose::IDENTITY);
    let mut bad = |field: &str, change: &dyn Fn(&mut JointDesc)| {
        let mut desc = good.clone();
        change(&mut desc);
        refused(&mut world, field, &desc);
    };
    bad("frame_a", &|d| d.frame_a.position.x = f64::NAN);
    bad("frame_a", &|d| {
        d.frame_a.rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)
    });
    bad("frame_b", &|d| {
        d.frame_b.rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)
    });
    for (min, max) in [
        (2.0, 1.0),
        (-1.0, 1.0),
        (0.0, 0.0),
        (0.0, f64::INFINITY),
        (f64::NAN, 1.0),
    ] {
        bad("distance", &|d| d.kind = JointKind::Distance { min, max });
    }
    for strength in [0.0, -1.0, f64::NAN] {
        bad("break_force", &|d| d.break_force = strength);
        bad("break_torque", &|d| d.break_torque = strength);
    }
}

#[test]
fn limits_motors_and_springs_that_make_no_sense_are_refused() {
    let limits = |min, max| Freedom {
        limits: Some((min, max)),
        ..Freedom::default()
    };
    let motor = |motor| Freedom {
        motor: Some(motor),
        ..Freedom::default()
    };
    let velocity = |target, max_force| motor(Motor::Velocity { target, max_force });
    let position = |time, max_force| {
        motor(Motor::Position {
            target: 1.0,
            time,
            max_force,
        })
    };
    let spring = |rest, stiffness, damping| Freedom {
        spring: Some(Spring {
            rest,
            stiffness,
            damping,
        }),
        ..Freedom::default()
    };
    let bad = [
        ("limits", limits(1.0, -1.0)),
        ("limits", limits(f64::NAN, 1.0)),
        ("motor.max_force", velocity(1.0, f64::INFINITY)),
        ("motor.max_force", velocity(1.0, -1.0)),
        ("motor.max_force", position(0.1, f64::INFINITY)),
        ("motor.max_force", position(0.1, f64::NAN)),
        ("motor.target", velocity(f64::INFINITY, 1.0)),
        ("motor.time", position(0.0, 1.0)),
        ("motor.time", position(f64::INFINITY, 1.0)),
        ("spring", spring(0.0, -1.0, 0.0)),
        ("spring", spring(0.0, 1.0, f64::INFINITY)),
        ("spring", spring(f64::NAN, 1.0, 0.0)),
    ];
    let mut world = space(G);
    let body = add(&mut world, &rod(Vec3::ZERO));
    for (field, freedom) in bad {
        let new = |kind| JointDesc::new(kind, None, Pose::IDENTITY, body, Pose::IDENTITY);
        let turned = JointDesc {
            rotation: freedom,
            ..new(JointKind::Hinge)
        };
        refused(&mut world, &format!("rotation.{field}"), &turned);
        let slid = JointDesc {
            translation: freedom,
            ..new(JointKind::Slider)
        };
        refused(&mut world, &format!("translation.{field}"), &slid);
        let (mut hinged, _, joint) = hinged_rod(G, Freedom::default());
        let change = hinged.set_joint_freedom(joint, freedom, Freedom::default());
        assert!(change.is_err(), "{field}: refused later too");
        assert!(
            hinged
                .joint(joint)
                .expect("still there")
                .desc
                .rotation
                .is_free()
        );
    }
}

#[test]
fn limits_of_a_motion_that_the_kind_does_not_leave_free_are_refused() {
    let some = Freedom {
        limits: Some((-1.0, 1.0)),
        ..Freedom::default()
    };
    let table = [
        (JointKind::Ball, true, true),
        (JointKind::Hinge, false, true),
        (JointKind::Slider, true, false),
        (JointKind::Fixed, true, true),
        (JointKind::Cylindrical, false, false),
        (JointKind::Universal, true, true),
        (JointKind::Distance { min: 0.0, max: 1.0 }, true, true),
    ];
    let (mut world, body, joint) = sliding_mass(G, Freedom::default());
    world.remove_joint(joint).expect("a living joint");
    for (kind, no_rotation, no_translation) in table {
        let new = JointDesc::new(kind, None, Pose::IDENTITY, body, Pose::IDENTITY);
        let turned = JointDesc {
            rotation: some,
            ..new.clone()
        };
        let slid = JointDesc {
            translation: some,
            ..new
        };
        for (field, bad, desc) in [
            ("rotation", no_rotation, turned),
            ("translation", no_translation, slid),
        ] {
            if bad {
                refused(&mut world, field, &desc);
            } else {
                assert!(desc.check().is_ok(), "{kind:?} has {field}");
            }
        }
    }
}
