//! The collision phase of `iterative`: order, restitution, many contacts at once, friction, propagation, times of impact.

use crate::support;

use support::{G, add, below, cuboid, floor, near, near_vec, run, solid, sphere, state};
use tippe::{
    BodyDesc, BodyId, BodyKind, EventKind, ImpactLaw, IterativeParams, MassSpec, Mat3, Method,
    Motion, Pose, ShapeDesc, StepError, Surface, Vec3, World,
};

fn world_with(gravity: f64, surface: Surface, params: IterativeParams) -> World {
    let mut world = World::new(Method::Iterative(params)).expect("good parameters");
    world
        .set_gravity(Vec3::Z * -gravity)
        .expect("finite gravity");
    world.set_default_surface(surface).expect("good surface");
    world
}

fn world(gravity: f64, surface: Surface) -> World {
    world_with(gravity, surface, IterativeParams::default())
}

#[test]
fn bs_02_step_stops_at_the_time_of_impact() {
    // R = 0.5 dropped with its centre at 1.5 m: √(2·1/g).
    let mut world = world(G, Surface::new(0.0, 0.5));
    add(&mut world, &floor());
    add(&mut world, &solid(sphere(0.5), 1.0, Vec3::Z * 1.5));
    let t = (2.0 / G).sqrt();
    let mut hit = Vec::new();
    for _ in 0..100 {
        let report = run(&mut world, 0.01, 1);
        below("depth", report.penetration, 1e-9);
        below("depth found", report.penetration_found, 1e-9);
        hit.extend(
            world
                .events()
                .iter()
                .filter(|e| e.kind == EventKind::Impact)
                .copied(),
        );
    }
    // Within the depth tolerance divided by the speed of arrival.
    near("time of impact", hit[0].time, t, 1e-9 / (G * t));
    near("speed of impact", hit[0].speed, G * t, 1e-8);
    near("time of the next", hit[1].time, 2.0 * t, 1e-9);
    assert_eq!(hit.len(), 2);
}

#[test]
fn bs_04_loaded_contact_rests_below_the_threshold_and_bounces_above() {
    let threshold = (2.0 * G * 1e-4).sqrt();
    for (share, bounces) in [(0.9, false), (1.1, true)] {
        let mut world = world(G, Surface::new(0.0, 0.5));
        add(&mut world, &floor());
        let id = add(&mut world, &solid(sphere(0.1), 1.0, Vec3::Z * 0.1));
        run(&mut world, 1e-3, 100);
        world
            .set_velocity(id, Vec3::Z * (-share * threshold), Vec3::ZERO)
            .expect("a living body");
        run(&mut world, 1e-3, 1);
        let v = state(&world, id).velocity.z;
        if bounces {
            // It flies for the step that follows.
            near("rebound", v, 0.5 * share * threshold - G * 1e-3, 1e-9);
        } else {
            near("rest", v, 0.0, 1e-9);
        }
    }
}

/// A ball that touches and approaches, and a block at rest beside it.
fn ball_and_block() -> (World, BodyId, BodyId) {
    let mut world = world(G, Surface::new(0.0, 0.5));
    add(&mut world, &floor());
    let block = add(
        &mut world,
        &solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::new(1.0, 0.0, 0.1)),
    );
    let mut ball = solid(sphere(0.1), 1.0, Vec3::Z * 0.1);
    ball.velocity = Vec3::Z * -2.0;
    let ball = add(&mut world, &ball);
    (world, ball, block)
}

#[test]
fn bs_05_detects_collides_rests_moves_projects() {
    let h = 0.01;
    let (mut world, ball, block) = ball_and_block();
    let report = run(&mut world, h, 1);
    // Detected before all: both contacts, where they are at t. Collided at t, before the motion: the event has the time of the start.
    assert_eq!((report.candidates, report.penetration_found), (5, 0.0));
    let impact = world.events().iter().find(|e| e.kind == EventKind::Impact);
    near("time", impact.expect("an impact").time, 0.0, 0.0);
    // Moved after the collision, with the velocity it gave: the exact parabola from −e u.
    let s = state(&world, ball);
    near("ball", s.position.z, 0.1 + 1.0 * h - 0.5 * G * h * h, 1e-14);
    near("its speed", s.velocity.z, 1.0 - G * h, 1e-14);
    // Impulses of the contact phase come before the motion (or the block would have sunk by ½ g h²), the projection after it (or it
    // would leave with −½ g h).
    let s = state(&world, block);
    near("block", s.position.z, 0.1, 1e-9);
    below("its speed", s.velocity.length(), 1e-9);
}

#[test]
fn bs_06_newtons_restitution_of_a_dropped_ball() {
    for dt in [1e-3, 1.0 / 60.0] {
        let surface = Surface {
            impact_law: ImpactLaw::Newton,
            ..Surface::new(0.0, 0.48)
        };
        let mut world = world(G, surface);
        add(&mut world, &floor());
        let id = add(&mut world, &solid(sphere(0.1), 1.0, Vec3::Z * 1.1));
        let fall = (2.0 / G).sqrt();
        run(&mut world, dt, ((fall + 0.05) / dt) as usize);
        let s = state(&world, id);
        let peak = s.position.z - 0.1 + s.velocity.z * s.velocity.z / (2.0 * G);
        near("rebound", peak, 0.48 * 0.48, 1e-8);
    }
}

#[test]
fn bs_08_cube_landing_flat_rises_flat_in_any_order() {
    for seed in std::iter::once(None).chain((0..24).map(Some)) {
        let params = IterativeParams {
            shuffle_seed: seed,
            ..IterativeParams::default()
        };
        let mut world = world_with(0.0, Surface::new(0.4, 0.5), params);
        add(&mut world, &floor());
        let mut cube = solid(cuboid(0.5, 0.5, 0.5), 1.0, Vec3::Z * 0.503);
        cube.velocity = Vec3::Z * -1.0;
        let id = add(&mut world, &cube);
        run(&mut world, 0.01, 1);
        let s = state(&world, id);
        near_vec("velocity", s.velocity, Vec3::Z * 0.5, 1e-9);
        below("spin", s.angular_velocity.length(), 1e-9);
    }
}

/// A rod of 1 kg along x with feet at two places, turning so that they approach the floor.
fn rod(world: &mut World, feet: [f64; 2], spin: f64) -> BodyId {
    let shapes = feet
        .iter()
        .map(|&x| ShapeDesc {
            pose: Pose::from_position(Vec3::X * x),
            ..ShapeDesc::from(sphere(0.01))
        })
        .collect();
    let desc = BodyDesc {
        shapes,
        pose: Pose::from_position(Vec3::Z * 0.01),
        angular_velocity: Vec3::Y * spin,
        mass: MassSpec::Explicit {
            mass: 1.0,
            center: Vec3::ZERO,
            inertia: Mat3::from_diagonal(Vec3::splat(1.0 / 3.0)),
        },
        ..BodyDesc::default()
    };
    add(world, &desc)
}

#[test]
fn bs_09_contacts_push_and_never_pull() {
    let mut world = world(0.0, Surface::new(0.0, 0.0));
    add(&mut world, &floor());
    let id = rod(&mut world, [1.0, 0.5], 1.0);
    run(&mut world, 1e-3, 1);
    // A single contact can take back what it gave, its sum cannot pull: (0.25, 0) and not (0.667, −0.667).
    let impulses: Vec<f64> = world.contacts().iter().map(|c| c.normal_impulse).collect();
    let sum: f64 = impulses.iter().sum();
    near("impulse", sum, 0.25, 1e-9);
    assert!(impulses.iter().all(|&p| p >= 0.0), "{impulses:?}");
    let s = state(&world, id);
    near("at the end", s.velocity.z - s.angular_velocity.y, 0.0, 1e-6);
    near(
        "half way",
        s.velocity.z - 0.5 * s.angular_velocity.y,
        0.125,
        1e-6,
    );
}

/// Velocity and spin of a ball of radius 0.1 after an oblique impact.
fn oblique(v: Vec3, surface: Surface) -> (Vec3, Vec3) {
    let mut world = world(0.0, surface);
    add(&mut world, &floor());
    let mut ball = solid(sphere(0.1), 1.0, Vec3::Z * 0.105);
    ball.velocity = v;
    let id = add(&mut world, &ball);
    run(&mut world, 0.01, 2);
    let s = state(&world, id);
    (s.velocity, s.angular_velocity)
}

#[test]
fn bs_10_sliding_friction_is_the_cone_times_the_normal_impulse() {
    let (mu, e, v) = (0.1, 0.6, Vec3::new(3.0, 0.0, -2.0));
    let (out, spin) = oblique(v, Surface::new(mu, e));
    near("v_x", out.x, v.x + mu * (1.0 + e) * v.z, 1e-9);
    near("v_z", out.z, -e * v.z, 1e-9);
    near("spin", spin.y, -2.5 * (out.x - v.x) / 0.1, 1e-9);
    // Friction never turns slip around: whatever it could do, the ball rolls at most.
    let (out, spin) = oblique(v, Surface::new(5.0, e));
    near("rolling", out.x - 0.1 * spin.y, 0.0, 1e-9);
}

#[test]
fn bs_11_sticking_follows_the_static_cone() {
    // Sticks if v_x / 3.5 ≤ μ_s (1 + e) v_n, whatever the kinetic coefficient.
    let (e, v) = (0.6, Vec3::new(3.0, 0.0, -2.0));
    let limit = v.x / (3.5 * (1.0 + e) * 2.0);
    for (share, sticks) in [(1.01, true), (0.99, false)] {
        let (out, spin) = oblique(v, Surface::new(share * limit, e));
        let slip = out.x - 0.1 * spin.y;
        if sticks {
            near("v_x", out.x, 5.0 / 7.0 * v.x, 1e-9);
            near("ω R", 0.1 * spin.y, out.x, 1e-9);
        } else {
            assert!(slip > 1e-3, "{slip}: sticks below the cone");
        }
    }
    // A block at rest: pushed below the static cone it holds, above it slides with the kinetic coefficient.
    let (mu_s, mu_k, h) = (0.6, 0.3, 0.01);
    for (share, holds) in [(0.98, true), (1.02, false)] {
        let mut world = world(G, support::rough(mu_s, mu_k));
        add(&mut world, &floor());
        let id = add(
            &mut world,
            &solid(cuboid(0.2, 0.2, 0.1), 1.0, Vec3::Z * 0.1),
        );
        run(&mut world, h, 10);
        let start = state(&world, id).position.x;
        let force = share * mu_s * G;
        for _ in 0..100 {
            let center = state(&world, id).position;
            world
                .apply_force(id, Vec3::X * force, center)
                .expect("a living body");
            run(&mut world, h, 1);
        }
        let moved = state(&world, id).position.x - start;
        let wanted = if holds { 0.0 } else { 0.5 * (force - mu_k * G) };
        near("moved", moved, wanted, 1e-6 + 0.02 * wanted);
    }
}

#[test]
fn bs_12_loop_ends_at_its_residuals_or_says_so() {
    let throw = |params: IterativeParams| {
        let mut world = world_with(0.0, Surface::new(0.5, 0.3), params);
        add(&mut world, &floor());
        let mut cube = solid(cuboid(0.5, 0.3, 0.2), 1.0, Vec3::Z * 0.2);
        cube.velocity = Vec3::new(0.4, 0.1, -1.0);
        cube.angular_velocity = Vec3::new(0.3, 0.1, 0.5);
        add(&mut world, &cube);
        run(&mut world, 1e-3, 1)
    };
    let report = throw(IterativeParams::default());
    below("normal", report.residuals.complementarity, 1e-9);
    below("tangential", report.residuals.stick_slip, 1e-9);
    assert_eq!(report.work.caps_open(), 0);
    let report = throw(IterativeParams {
        sweeps: 1,
        sweeps_max: 0,
        effort: 0.0,
        ..IterativeParams::default()
    });
    assert!(report.work.caps_open() > 0);
}

/// Balls of radius 0.1 in a row, the first `moving` at 1 m/s, `gap` between neighbours of a group.
fn row_of_balls(count: usize, moving: usize, gap: f64) -> (World, Vec<BodyId>) {
    let mut world = world(0.0, Surface::new(0.0, 1.0));
    let balls = (0..count)
        .map(|i| {
            let between = if i >= moving { 0.05 } else { 0.0 };
            let mut ball = solid(
                sphere(0.1),
                1.0,
                Vec3::X * (i as f64 * (0.2 + gap) + between),
            );
            if i < moving {
                ball.velocity = Vec3::X;
            }
            add(&mut world, &ball)
        })
        .collect();
    (world, balls)
}

#[test]
fn cl_25_as_many_balls_leave_as_came() {
    for moving in 1..5 {
        for (gap, dt) in [(0.0, 1e-3), (0.0, 1.0 / 60.0), (0.002, 1.0 / 60.0)] {
            let (mut world, balls) = row_of_balls(5, moving, gap);
            run(&mut world, dt, (0.2 / dt) as usize);
            for (i, &ball) in balls.iter().enumerate() {
                let wanted = if i >= 5 - moving { 1.0 } else { 0.0 };
                near(
                    &format!("{moving} in, ball {i}"),
                    state(&world, ball).velocity.x,
                    wanted,
                    1e-9,
                );
            }
        }
    }
}

#[test]
fn bs_22_impact_runs_through_touching_balls_without_loss() {
    let (mut world, balls) = row_of_balls(5, 2, 0.0);
    let before = world.energy().0;
    run(&mut world, 0.01, 20);
    let speeds: Vec<f64> = balls.iter().map(|&b| state(&world, b).velocity.x).collect();
    for (speed, wanted) in speeds.iter().zip([0.0, 0.0, 0.0, 1.0, 1.0]) {
        near("speed", *speed, wanted, 1e-9);
    }
    near("energy", world.energy().0, before, 1e-12);
    // Different masses: a heavy ball into a row of light ones leaves with most of its speed, and nothing is lost.
    let mut world = self::world(0.0, Surface::new(0.0, 1.0));
    for (i, mass) in [5.0, 1.0, 1.0, 2.0].into_iter().enumerate() {
        let mut ball = solid(sphere(0.1), mass, Vec3::X * (0.2 * i as f64));
        if i == 0 {
            ball.pose = Pose::from_position(Vec3::X * -0.03);
            ball.velocity = Vec3::X;
        }
        add(&mut world, &ball);
    }
    let before = world.energy().0;
    let report = run(&mut world, 0.01, 50);
    near("energy", world.energy().0, before, 1e-12);
    near("momentum", report.momentum.x, 5.0, 1e-12);
}

#[test]
fn several_contacts_together_gain_no_energy() {
    // Tilted boxes with much friction and restitution, thrown at the floor so that an edge or a face lands: Newton's targets for several
    // contacts at once could gain.
    for k in 0..40 {
        let mut world = world(0.0, Surface::new(0.8, 0.9));
        add(&mut world, &floor());
        let angle = f64::from(k) * 0.04;
        let rotation = support::tilt(angle);
        let reach = (0.3 * libm::sin(angle)).abs() + (0.1 * libm::cos(angle)).abs();
        let mut block = solid(cuboid(0.3, 0.2, 0.1), 1.0, Vec3::ZERO);
        block.pose = Pose::new(Vec3::Z * (reach + 1e-3), rotation);
        block.velocity = Vec3::new(1.5, 0.0, -1.0);
        block.angular_velocity = Vec3::Y * (2.0 - 0.1 * f64::from(k));
        add(&mut world, &block);
        let before = world.energy().0;
        run(&mut world, 1e-3, 60);
        let after = world.energy().0;
        assert!(
            after <= before * (1.0 + 1e-9),
            "{angle}: {before} became {after}"
        );
    }
}

#[test]
fn impact_law_of_the_pair_decides() {
    // A rod on its end, the trap of F11 E: Newton's law gains energy, the others do not.
    let energy = |impact_law| {
        let surface = Surface {
            impact_law,
            ..Surface::new(0.8, 0.8)
        };
        let mut world = world(0.0, surface);
        add(&mut world, &floor());
        let capsule = tippe::Shape::Capsule {
            radius: 0.02,
            half_length: 0.5,
        };
        let rotation = tippe::math::rotation::exp(Vec3::Y * std::f64::consts::FRAC_PI_4);
        let mut desc = BodyDesc {
            mass: MassSpec::Explicit {
                mass: 1.0,
                center: Vec3::ZERO,
                inertia: Mat3::from_diagonal(Vec3::new(1.0 / 12.0, 1.0 / 12.0, 1e-3)),
            },
            ..BodyDesc::dynamic(capsule, Vec3::ZERO)
        };
        let low = 0.5 * libm::cos(std::f64::consts::FRAC_PI_4) + 0.02;
        desc.pose = Pose::new(Vec3::Z * (low + 0.003), rotation);
        desc.velocity = Vec3::new(0.6, 0.0, -1.0);
        add(&mut world, &desc);
        let before = world.energy().0;
        run(&mut world, 0.01, 1);
        world.energy().0 - before
    };
    near("Newton", energy(ImpactLaw::Newton), 0.004671, 1e-6);
    near("Poisson", energy(ImpactLaw::Poisson), -0.115198, 1e-6);
    near("Stronge", energy(ImpactLaw::Stronge), -0.096869, 1e-6);
}

#[test]
fn bad_input_ends_in_an_error_or_bounded() {
    // Steps and surfaces without sense.
    let mut ball_world = world(G, Surface::new(0.5, 0.5));
    assert!(matches!(
        ball_world.step(0.0),
        Err(StepError::BadStep { .. })
    ));
    assert!(matches!(
        ball_world.step(f64::NAN),
        Err(StepError::BadStep { .. })
    ));
    for surface in [
        Surface::new(0.5, 1.2),
        Surface::new(0.5, -0.1),
        Surface::new(f64::INFINITY, 0.0),
    ] {
        assert!(ball_world.set_default_surface(surface).is_err());
    }
    for params in [
        IterativeParams {
            depth_tolerance: 0.0,
            ..IterativeParams::default()
        },
        IterativeParams {
            velocity_tolerance: f64::NAN,
            ..IterativeParams::default()
        },
        IterativeParams {
            passes: 0,
            ..IterativeParams::default()
        },
        IterativeParams {
            depenetration: 2.0,
            ..IterativeParams::default()
        },
    ] {
        assert!(params.check().is_err(), "{params:?}");
    }
    // Two walls that close on a ball: it cannot give way, and the report says how far they overlap.
    let mut world = world(0.0, Surface::new(0.5, 0.0));
    for side in [-1.0, 1.0] {
        let wall = BodyDesc {
            kind: BodyKind::Kinematic(Motion::Constant {
                velocity: Vec3::X * (-0.1 * side),
                angular_velocity: Vec3::ZERO,
            }),
            ..BodyDesc::fixed(cuboid(0.1, 1.0, 1.0), Vec3::X * (0.25 * side))
        };
        add(&mut world, &wall);
    }
    let ball = add(&mut world, &solid(sphere(0.1), 1.0, Vec3::ZERO));
    let mut report = tippe::StepReport::default();
    for _ in 0..100 {
        report = run(&mut world, 0.01, 1);
        let s = state(&world, ball);
        below("speed", s.velocity.length(), 1.0);
        below("place", s.position.length(), 0.1);
    }
    assert!(report.penetration > 0.01, "{report:?}");
}
