//! What drives and bounds the free motions of joints: limits, ropes, motors, springs.

use crate::joint_support;
use crate::support;

use joint_support::{
    FRAME, at, carried, hinged_rod, join, lump, misfit, place, rod, sliding_mass, space, tie,
    watch, z_along_x, z_along_y,
};
use support::{G, add, below, near, near_vec, run, state};
use tippe::{
    BodyDesc, BodyId, Freedom, JointDesc, JointId, JointKind, Motor, Pose, Spring, Vec3, World,
};

fn limits(min: f64, max: f64) -> Freedom {
    Freedom {
        limits: Some((min, max)),
        ..Freedom::default()
    }
}

fn speed_motor(target: f64, max_force: f64) -> Freedom {
    Freedom {
        motor: Some(Motor::Velocity { target, max_force }),
        ..Freedom::default()
    }
}

fn spring(rest: f64, stiffness: f64, damping: f64) -> Freedom {
    Freedom {
        spring: Some(Spring {
            rest,
            stiffness,
            damping,
        }),
        ..Freedom::default()
    }
}

fn angle(world: &World, joint: JointId) -> f64 {
    carried(world, joint).angle
}

// ---- limits ----------------------------------------------------------------------------------------------------------------------------

#[test]
fn pendulum_stops_at_its_limit_without_bounce_and_stays() {
    for dt in [0.001, FRAME] {
        for end in [1.0, 0.3] {
            let (mut world, body, joint) = hinged_rod(G, limits(-0.1, end));
            let mut before: f64 = 0.0;
            let worst = watch(&mut world, dt, (2.0 / dt) as usize, |w| {
                let now = angle(w, joint);
                below("angle past the limit", now - end, 1e-9);
                below("angle given back", before - now, 1e-9);
                before = now;
            });
            let what = format!("dt = {dt}, limit {end}");
            below(&format!("{what}: misfit"), worst, 1e-9);
            near(&format!("{what}: angle"), before, end, 1e-9);
            let spin = state(&world, body).angular_velocity;
            below(&format!("{what}: spin"), spin.length(), 1e-9);
            // The limit carries the moment of the weight about the hinge.
            let moment = Vec3::Y * -(G * 0.5 * libm::cos(end));
            near_vec(
                &format!("{what}: moment"),
                carried(&world, joint).torque,
                moment,
                1e-6,
            );
            // The work of the hinge during the step of the stop, of order ω h, is booked as error.
            let (lost, fallen) = (world.ledger().shock, G * 0.5 * libm::sin(end));
            near(&format!("{what}: loss"), lost, fallen, 4.0 * dt * fallen);
        }
    }
}

#[test]
fn pendulum_leaves_a_limit_that_does_not_press() {
    // The rod rises against gravity, meets the lower limit, and falls back.
    let (mut world, body, joint) = hinged_rod(G, limits(-0.5, 3.0));
    let spin = Vec3::Y * -6.0;
    world
        .set_velocity(body, spin.cross(Vec3::X * 0.5), spin)
        .expect("a living body");
    let mut least: f64 = 0.0;
    watch(&mut world, FRAME, 40, |w| {
        least = least.min(angle(w, joint))
    });
    near("least angle", least, -0.5, 1e-9);
    assert!(
        angle(&world, joint) > 0.5,
        "it falls back: {}",
        angle(&world, joint)
    );
}

#[test]
fn hinge_with_equal_limits_is_fixed() {
    let (mut world, _, joint) = hinged_rod(G, limits(0.0, 0.0));
    run(&mut world, FRAME, 60);
    near("angle", angle(&world, joint), 0.0, 1e-10);
}

#[test]
fn slider_stops_at_both_ends() {
    for (speed, end) in [(2.0, 0.3), (-2.0, -0.2)] {
        let (mut world, body, joint) = sliding_mass(G, limits(-0.2, 0.3));
        world
            .set_velocity(body, Vec3::X * speed, Vec3::ZERO)
            .expect("a living body");
        let worst = watch(&mut world, FRAME, 60, |w| {
            let x = carried(w, joint).displacement;
            assert!((-0.2 - 1e-9..=0.3 + 1e-9).contains(&x), "x = {x}");
        });
        below("misfit", worst, 1e-9);
        near_vec("place", state(&world, body).position, Vec3::X * end, 1e-9);
        below("speed", state(&world, body).velocity.length(), 1e-9);
    }
}

#[test]
fn limit_between_two_free_bodies_keeps_momentum() {
    let mut world = space(0.0);
    let a = add(&mut world, &lump(2.0, Vec3::splat(0.1), Vec3::ZERO));
    let b = BodyDesc {
        velocity: Vec3::X * 3.0,
        ..lump(1.0, Vec3::splat(0.1), Vec3::X * 0.5)
    };
    let b = add(&mut world, &b);
    let frame = Pose::new(Vec3::ZERO, z_along_x());
    let desc = JointDesc {
        translation: limits(-1.0, 0.4),
        ..at(&world, JointKind::Slider, Some(a), b, frame)
    };
    join(&mut world, &desc);
    run(&mut world, FRAME, 60);
    near_vec("velocity of A", state(&world, a).velocity, Vec3::X, 1e-8);
    near_vec("velocity of B", state(&world, b).velocity, Vec3::X, 1e-8);
    let apart = state(&world, b).position.x - state(&world, a).position.x;
    near("distance", apart, 0.9, 1e-9);
}

#[test]
fn rope_is_slack_then_taut() {
    let mut world = space(G);
    let body = add(&mut world, &lump(1.0, Vec3::splat(0.1), Vec3::Z * -0.5));
    let rope = tie(&mut world, body, Vec3::ZERO, 0.0, 1.0);
    let mut steps = 0;
    watch(&mut world, 0.01, 100, |w| {
        let (s, t) = (state(w, body), w.time());
        let fall = 0.5 + 0.5 * G * t * t;
        if fall < 1.0 {
            steps += 1;
            near("slack: height", s.position.z, -fall, 1e-12);
            near("slack: speed", s.velocity.z, -G * t, 1e-12);
            near("slack: tension", carried(w, rope).force.length(), 0.0, 0.0);
        } else {
            near("taut: length", -s.position.z, 1.0, 1e-9);
            below("taut: speed", s.velocity.length(), 1e-9);
        }
    });
    assert_eq!(steps, 31, "½ g t² < 0.5 m");
    near_vec("tension", carried(&world, rope).force, Vec3::Z * G, 1e-8);
}

#[test]
fn taut_rope_swings_like_a_rod_and_goes_slack_at_the_top() {
    let swing = |min: f64, speed: f64| {
        let mut world = space(G);
        let bob = BodyDesc {
            velocity: Vec3::X * speed,
            ..lump(1.0, Vec3::splat(1e-2), Vec3::Z * -1.0)
        };
        let bob = add(&mut world, &bob);
        let rope = tie(&mut world, bob, Vec3::ZERO, min, 1.0);
        (world, bob, rope)
    };
    // Below the level of the anchor the rope stays taut: as the rod.
    let (mut rope_world, bob, rope) = swing(0.0, 3.0);
    let (mut rod_world, rod_bob, _) = swing(1.0, 3.0);
    let mut longest: f64 = 0.0;
    watch(&mut rope_world, FRAME, 240, |w| {
        longest = longest.max(place(w, rope).distance().1)
    });
    run(&mut rod_world, FRAME, 240);
    below("stretch", longest - 1.0, 1e-6);
    let apart = state(&rope_world, bob).position - state(&rod_world, rod_bob).position;
    below("rope against rod", apart.length(), 1e-3);
    // Fast enough to pass the level of the anchor, too slow for the top: v² between 2gl and 5gl.
    let (mut world, _, rope) = swing(0.0, 6.0);
    let (mut shortest, mut longest): (f64, f64) = (1.0, 0.0);
    watch(&mut world, FRAME, 90, |w| {
        let length = place(w, rope).distance().1;
        (shortest, longest) = (shortest.min(length), longest.max(length));
    });
    assert!(shortest < 0.9, "it goes slack: {shortest}");
    below("stretch", longest - 1.0, 1e-6);
}

#[test]
fn distance_has_a_least_value_too() {
    let mut world = space(G);
    let body = add(&mut world, &lump(1.0, Vec3::splat(0.1), Vec3::Z * 2.0));
    let strut = tie(&mut world, body, Vec3::ZERO, 1.5, 3.0);
    run(&mut world, FRAME, 120);
    near("distance", place(&world, strut).distance().1, 1.5, 1e-9);
    near_vec("force", carried(&world, strut).force, Vec3::Z * G, 1e-8);
}

// ---- motors ----------------------------------------------------------------------------------------------------------------------------

/// A flywheel of 0.4 kg m² on a vertical hinge.
fn flywheel(rotation: Freedom) -> (World, BodyId, JointId) {
    let mut world = space(G);
    let wheel = add(&mut world, &lump(1.0, Vec3::new(0.2, 0.2, 0.4), Vec3::ZERO));
    let desc = JointDesc {
        rotation,
        ..at(&world, JointKind::Hinge, None, wheel, Pose::IDENTITY)
    };
    let joint = join(&mut world, &desc);
    (world, wheel, joint)
}

#[test]
fn velocity_motor_reaches_its_speed_as_fast_as_its_torque_allows() {
    // ω = M t / I: 3 rad/s after 3 · 0.4 / 1.5 = 0.8 s.
    for dt in [0.001, 0.01] {
        let (mut world, wheel, joint) = flywheel(speed_motor(3.0, 1.5));
        let steps = (1.0 / dt) as usize;
        watch(&mut world, dt, steps, |w| {
            let wanted = (1.5 * w.time() / 0.4).min(3.0);
            let found = state(w, wheel).angular_velocity.z;
            near(&format!("dt = {dt}, t = {}", w.time()), found, wanted, 1e-3);
            let torque = carried(w, joint).torque.z;
            below("torque above its limit", torque.abs() - 1.5, 1e-9);
        });
        near(
            "torque at speed",
            carried(&world, joint).torque.z,
            0.0,
            1e-6,
        );
    }
}

#[test]
fn motors_turn_and_push_b_against_a() {
    let (mut world, wheel, _) = flywheel(speed_motor(-2.0, 5.0));
    run(&mut world, FRAME, 60);
    near("spin", state(&world, wheel).angular_velocity.z, -2.0, 1e-8);
    let (mut world, body, joint) = sliding_mass(G, speed_motor(0.5, 10.0));
    run(&mut world, FRAME, 60);
    near("speed", state(&world, body).velocity.x, 0.5, 1e-8);
    let moved = carried(&world, joint).displacement;
    assert!(moved > 0.4 && moved <= 0.5, "moved {moved}");
}

#[test]
fn work_of_motors_is_the_kinetic_energy_gained() {
    let mut world = space(0.0);
    let a = add(&mut world, &lump(2.0, Vec3::new(0.2, 0.3, 0.2), Vec3::ZERO));
    let b = add(
        &mut world,
        &lump(1.0, Vec3::new(0.25, 0.2, 0.4), Vec3::Z * 0.3),
    );
    let desc = JointDesc {
        rotation: speed_motor(3.0, 1.5),
        translation: speed_motor(0.2, 0.4),
        ..at(&world, JointKind::Cylindrical, Some(a), b, Pose::IDENTITY)
    };
    join(&mut world, &desc);
    run(&mut world, 0.01, 150);
    let (kinetic, _) = world.energy();
    let ledger = world.ledger();
    assert!(kinetic > 0.5, "it gained {kinetic} J");
    near("motors", ledger.motors, kinetic, 1e-6 * kinetic);
    below("unexplained", ledger.unexplained.abs(), 1e-6 * kinetic);
}

#[test]
fn motor_holds_a_load_below_its_limit_and_yields_above() {
    // The moment of the level rod is m g l/2.
    let load = 0.5 * G;
    for (strength, holds) in [(1.02, true), (0.98, false)] {
        let (mut world, body, joint) = hinged_rod(G, speed_motor(0.0, strength * load));
        run(&mut world, FRAME, 300);
        let turned = angle(&world, joint);
        if holds {
            near("angle", turned, 0.0, 1e-9);
            below("spin", state(&world, body).angular_velocity.length(), 1e-9);
            near("torque", carried(&world, joint).torque.y, -load, 1e-6);
        } else {
            // Moment and torque balance at cos φ = 0.98; the rod goes past it and comes to rest beyond.
            assert!(turned > 0.2, "it gives way: {turned}");
        }
    }
}

#[test]
fn slider_motor_holds_a_weight() {
    for (strength, holds) in [(1.01, true), (0.99, false)] {
        let mut world = space(G);
        let body = add(&mut world, &lump(2.0, Vec3::splat(0.1), Vec3::ZERO));
        let desc = JointDesc {
            translation: speed_motor(0.0, strength * 2.0 * G),
            ..at(&world, JointKind::Slider, None, body, Pose::IDENTITY)
        };
        join(&mut world, &desc);
        run(&mut world, 0.01, 100);
        let wanted = if holds { 0.0 } else { -0.5 * 0.01 * G };
        near("height", state(&world, body).position.z, wanted, 1e-6);
    }
}

#[test]
fn position_motor_arrives() {
    let rotation = Freedom {
        motor: Some(Motor::Position {
            target: 4.0,
            time: 0.1,
            max_force: 1e5,
        }),
        ..Freedom::default()
    };
    for dt in [0.001, FRAME] {
        let (mut world, wheel, joint) = flywheel(rotation);
        run(&mut world, dt, (0.1 / dt).round() as usize);
        // 1/e is left after its time, give or take the step.
        let left = 4.0 - angle(&world, joint);
        near(
            &format!("dt = {dt}: left"),
            left / 4.0,
            libm::exp(-1.0),
            1.5 * dt / 0.1 * libm::exp(-1.0) + 1e-3,
        );
        run(&mut world, dt, (2.0 / dt) as usize);
        near(
            &format!("dt = {dt}: angle"),
            angle(&world, joint),
            4.0,
            1e-7,
        );
        below("spin", state(&world, wheel).angular_velocity.length(), 1e-6);
    }
}

#[test]
fn position_motor_holds_against_weight() {
    let rotation = Freedom {
        motor: Some(Motor::Position {
            target: -0.4,
            time: 0.1,
            max_force: 10.0,
        }),
        ..Freedom::default()
    };
    let (mut world, _, joint) = hinged_rod(G, rotation);
    run(&mut world, FRAME, 300);
    near("angle", angle(&world, joint), -0.4, 1e-6);
}

#[test]
fn motor_runs_into_its_limit_and_stays_there() {
    let rotation = Freedom {
        limits: Some((-1.0, 1.0)),
        ..speed_motor(3.0, 1.5)
    };
    let (mut world, wheel, joint) = flywheel(rotation);
    watch(&mut world, FRAME, 120, |w| {
        below("angle past the limit", angle(w, joint) - 1.0, 1e-9);
    });
    near("angle", angle(&world, joint), 1.0, 1e-9);
    below("spin", state(&world, wheel).angular_velocity.length(), 1e-9);
}

#[test]
fn angle_counts_full_turns() {
    for (target, dt) in [(7.0, FRAME), (-7.0, FRAME), (7.0, 0.1)] {
        let (mut world, wheel, joint) = flywheel(speed_motor(target, 100.0));
        world
            .set_velocity(wheel, Vec3::ZERO, Vec3::Z * target)
            .expect("a living body");
        let steps = (10.0 / dt).round();
        run(&mut world, dt, steps as usize);
        near("angle", angle(&world, joint), target * dt * steps, 1e-6);
    }
}

#[test]
fn motor_can_be_changed_between_steps() {
    let (mut world, wheel, joint) = flywheel(speed_motor(2.0, 10.0));
    run(&mut world, FRAME, 60);
    world
        .set_joint_freedom(joint, speed_motor(-1.0, 10.0), Freedom::default())
        .expect("a good motor");
    run(&mut world, FRAME, 60);
    near("spin", state(&world, wheel).angular_velocity.z, -1.0, 1e-8);
    world
        .set_joint_freedom(joint, Freedom::default(), Freedom::default())
        .expect("nothing");
    run(&mut world, FRAME, 60);
    near(
        "coasting",
        state(&world, wheel).angular_velocity.z,
        -1.0,
        1e-8,
    );
}

// ---- springs ---------------------------------------------------------------------------------------------------------------------------

/// Stiffness with which 2 kg swing once a second [N/m].
const STIFFNESS: f64 = 8.0 * std::f64::consts::PI * std::f64::consts::PI;

/// The sliding mass on a spring, let go at 0.1 m.
fn stretched(freedom: Freedom) -> (World, BodyId, JointId) {
    let (mut world, body, joint) = sliding_mass(0.0, freedom);
    world
        .set_pose(body, Pose::from_position(Vec3::X * 0.1))
        .expect("a living body");
    (world, body, joint)
}

#[test]
fn mass_on_a_spring_keeps_period_and_energy_for_100_periods() {
    let (mut world, body, _) = stretched(spring(0.0, STIFFNESS, 0.0));
    let energy = |w: &World| {
        let x = state(w, body).position.x;
        w.energy().0 + 0.5 * STIFFNESS * x * x
    };
    let start = energy(&world);
    let (mut drift, mut crossings): (f64, Vec<f64>) = (0.0, Vec::new());
    let mut before = state(&world, body);
    let dt = 0.001;
    for _ in 0..100_000 {
        run(&mut world, dt, 1);
        drift = drift.max((energy(&world) / start - 1.0).abs());
        let now = state(&world, body);
        if before.position.x < 0.0 && now.position.x >= 0.0 {
            let part = before.position.x / (before.position.x - now.position.x);
            crossings.push(world.time() - dt + part * dt);
        }
        before = now;
    }
    let turns = (crossings.len() - 1) as f64;
    let period = (crossings[crossings.len() - 1] - crossings[0]) / turns;
    assert!(crossings.len() >= 99, "{} crossings", crossings.len());
    near("period", period, 1.0, 1e-4);
    below("energy", drift, 1e-4);
    // The ledger books what the spring gave of what it held, and the error of the method beside it.
    let (kinetic, e) = (world.energy().0, world.ledger());
    let given = e.elastic_work - e.numerical_damping;
    near("elastic", given, kinetic, 1e-9);
}

#[test]
fn torsion_spring_has_its_period() {
    // A quarter of a period after it is let go it passes its rest.
    let stiffness = 0.4 * 4.0 * std::f64::consts::PI * std::f64::consts::PI;
    let (mut world, wheel, joint) = flywheel(spring(0.5, stiffness, 0.0));
    run(&mut world, 0.001, 250);
    near("angle", angle(&world, joint), 0.5, 1e-4);
    let speed = 0.5 * std::f64::consts::TAU;
    near(
        "spin",
        state(&world, wheel).angular_velocity.z,
        speed,
        1e-4 * speed,
    );
}

#[test]
fn torsion_spring_wound_through_full_turns_pulls_back_all_the_way() {
    let (mut world, wheel, joint) = flywheel(spring(0.0, 1.0, 0.0));
    world
        .set_velocity(wheel, Vec3::ZERO, Vec3::Z * 20.0)
        .expect("a living body");
    // ω₀ = √(k/I); the amplitude is 20/ω₀ = 12.6 rad, two full turns.
    let rate = (1.0f64 / 0.4).sqrt();
    let quarter = std::f64::consts::FRAC_PI_2 / rate;
    let steps = 1000;
    run(&mut world, quarter / f64::from(steps), steps as usize);
    near("angle", angle(&world, joint), 20.0 / rate, 1e-3);
    below("spin", state(&world, wheel).angular_velocity.length(), 1e-3);
}

#[test]
fn damped_spring_decays_as_the_closed_form() {
    // x = x₀ e^(−δt) (cos ωt + (δ/ω) sin ωt), δ = c/2m, ω² = k/m − δ².
    let damping = 2.0;
    let (mut world, body, _) = stretched(spring(0.0, STIFFNESS, damping));
    let delta = damping / 4.0;
    let omega = (STIFFNESS / 2.0 - delta * delta).sqrt();
    watch(&mut world, 0.001, 5000, |w| {
        let t = w.time();
        let (sin, cos) = libm::sincos(omega * t);
        let envelope = 0.1 * libm::exp(-delta * t);
        let wanted = envelope * (cos + delta / omega * sin);
        near("x", state(w, body).position.x, wanted, 0.01 * envelope);
    });
    let (kinetic, _) = world.energy();
    let x = state(&world, body).position.x;
    let taken = 0.5 * STIFFNESS * (0.01 - x * x) - kinetic;
    assert!(taken > 0.0, "the damper took {taken} J");
}

#[test]
fn overdamped_spring_creeps_home() {
    let (mut world, body, _) = stretched(spring(0.0, STIFFNESS, 200.0));
    watch(&mut world, FRAME, 600, |w| {
        let x = state(w, body).position.x;
        assert!((-1e-9..=0.1).contains(&x), "x = {x}");
    });
    below("x", state(&world, body).position.x, 0.1 * libm::exp(-3.5));
}

#[test]
fn spring_far_too_stiff_for_the_step_does_not_blow_up() {
    // (h/2)² k / m from 0.03 to 3e7; the kick's margin is smallest around 10.
    for stiffness in [1e3, 1e4, 3e4, 1e5, 2e5, 4e5, 1e6, 1e8, 1e12] {
        for damping in [0.0, 10.0, 1e9] {
            let (mut world, body, _) = stretched(spring(0.0, stiffness, damping));
            let what = format!("stiffness {stiffness}, damping {damping}");
            watch(&mut world, FRAME, 600, |w| {
                let x = state(w, body).position.x;
                below(&what, x.abs(), 0.1 + 1e-9);
            });
        }
        let (mut world, _, joint) = hinged_rod(G, spring(0.0, stiffness, 0.0));
        let what = format!("torsion, stiffness {stiffness}");
        // The weight turns the rod in one step by (g h²/2)/(2/3 m) and bends the spring by 4.9 N m / stiffness; it swings to twice
        // the second and does not grow beyond a small multiple of the first.
        let free = 0.5 * G * FRAME * FRAME * 1.5 + G / stiffness;
        watch(&mut world, FRAME, 600, |w| {
            below(&what, angle(w, joint).abs(), 3.0 * free);
        });
    }
}

/// Masses of 1 kg in a row on sliders, one of 10 g among them, each held to the one before by a spring stretched by 0.1 m.
fn springs_in_series(stiffness: f64) -> (World, BodyId) {
    let mut world = space(0.0);
    let mut last = None;
    for i in 0..6 {
        let x = Vec3::X * f64::from(i);
        let mass = if i == 3 { 0.01 } else { 1.0 };
        let body = add(&mut world, &lump(mass, Vec3::splat(0.1), x));
        let frame = Pose::new(x, z_along_x());
        let desc = JointDesc {
            translation: spring(0.1, stiffness, 0.0),
            ..at(&world, JointKind::Slider, last, body, frame)
        };
        join(&mut world, &desc);
        last = Some(body);
    }
    (world, last.expect("six bodies"))
}

/// Largest displacement of the last mass within 5 s; infinite where a step failed. The springs reach 0.6 m, and as much again.
fn reach_of_springs_in_series(stiffness: f64) -> f64 {
    let (mut world, end) = springs_in_series(stiffness);
    let mut reach: f64 = 0.0;
    for _ in 0..300 {
        if world.step(FRAME).is_err() {
            return f64::INFINITY;
        }
        reach = reach.max((state(&world, end).position.x - 5.0).abs());
    }
    reach
}

#[test]
fn springs_in_series_that_the_step_resolves_stay_bounded() {
    below("reach", reach_of_springs_in_series(10.0), 1.2);
    below("reach", reach_of_springs_in_series(100.0), 1.2);
}

#[test]
fn springs_in_series_far_too_stiff_for_the_step_stay_bounded() {
    for stiffness in [1e3, 2e4, 3e4, 1e6, 1e9] {
        below("reach", reach_of_springs_in_series(stiffness), 1.2);
    }
}

#[test]
fn spring_between_two_free_bodies_keeps_momentum() {
    let mut world = space(0.0);
    let a = add(&mut world, &lump(2.0, Vec3::splat(0.1), Vec3::ZERO));
    let b = add(&mut world, &lump(1.0, Vec3::splat(0.1), Vec3::X * 0.5));
    let frame = Pose::new(Vec3::ZERO, z_along_x());
    let desc = JointDesc {
        translation: spring(0.2, 50.0, 0.0),
        ..at(&world, JointKind::Slider, Some(a), b, frame)
    };
    join(&mut world, &desc);
    watch(&mut world, 0.001, 1000, |w| {
        let p = 2.0 * state(w, a).velocity.x + state(w, b).velocity.x;
        near("momentum", p, 0.0, 1e-12);
    });
    // Reduced mass 2/3: ω = √75; the distance is 0.7 − 0.2 cos ωt.
    let wanted = 0.7 - 0.2 * libm::cos(75.0f64.sqrt());
    let apart = state(&world, b).position.x - state(&world, a).position.x;
    near("distance", apart, wanted, 1e-4);
}

#[test]
fn cylindrical_joint_turns_and_slides_at_once() {
    let mut world = space(G);
    let body = add(&mut world, &rod(Vec3::new(0.5, 0.0, 0.2)));
    let desc = JointDesc {
        rotation: speed_motor(2.0, 50.0),
        translation: limits(-0.3, 1.0),
        ..at(&world, JointKind::Cylindrical, None, body, Pose::IDENTITY)
    };
    let joint = join(&mut world, &desc);
    let worst = watch(&mut world, FRAME, 120, |_| {});
    below("misfit", worst, 1e-9);
    near("spin", state(&world, body).angular_velocity.z, 2.0, 1e-8);
    near("slide", carried(&world, joint).displacement, -0.3, 1e-9);
    assert!(angle(&world, joint) > 3.8, "{}", angle(&world, joint));
    below("misfit at the end", misfit(&world, joint), 1e-9);
}

#[test]
fn hinge_frames_turned_against_each_other_start_at_their_angle() {
    let mut world = space(0.0);
    let body = add(&mut world, &rod(Vec3::ZERO));
    let frame = Pose::new(Vec3::ZERO, z_along_y());
    let turned = frame.rotation * tippe::math::rotation::exp(Vec3::Z * 0.8);
    let joint = JointDesc::new(
        JointKind::Hinge,
        None,
        frame,
        body,
        Pose::new(Vec3::ZERO, turned),
    );
    let joint = join(&mut world, &joint);
    run(&mut world, FRAME, 1);
    near("angle", angle(&world, joint), 0.8, 1e-12);
}
