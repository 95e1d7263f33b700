//! Adaptive trees in worlds: every method that steps articulations, with part of the joints locked.

#![allow(clippy::unwrap_used)]

use crate::articulated_support;

use articulated_support::{read, reference, rods};
use std::f64::consts::FRAC_PI_2;
use tippe::articulated::{AdaptiveDesc, Joint, JointFriction, Limits, LinkDesc, Score};
use tippe::{
    ArticulationDesc, ArticulationId, BodyDesc, BodyId, JointDesc, JointKind, LinkBodyDesc,
    MassSpec, Method, Motor, Pose, Quat, Shape, StepReport, Surface, Vec3, World,
};

/// The methods that step articulations.
fn methods() -> [Method; 4] {
    [
        Method::Sequential(tippe::SequentialParams::default()),
        Method::Iterative(tippe::IterativeParams::default()),
        Method::Simultaneous(tippe::SimultaneousParams::default()),
        Method::Events(tippe::EventsParams::default()),
    ]
}

fn desc(links: &[LinkDesc], adaptive: Option<AdaptiveDesc>) -> ArticulationDesc {
    ArticulationDesc {
        name: "tree".into(),
        links: links.iter().cloned().map(LinkBodyDesc::new).collect(),
        adaptive,
        ..ArticulationDesc::default()
    }
}

fn world(method: &Method, gravity: Vec3) -> World {
    let mut world = World::new(method.clone()).unwrap();
    world.set_gravity(gravity).unwrap();
    world
}

fn worst(a: (&World, ArticulationId), b: (&World, ArticulationId)) -> f64 {
    let (x, y) = (
        a.0.articulation_state(a.1).unwrap(),
        b.0.articulation_state(b.1).unwrap(),
    );
    let pairs = x.positions.iter().zip(&y.positions);
    let pairs = pairs.chain(x.velocities.iter().zip(&y.velocities));
    pairs.fold(0.0, |s: f64, (x, y)| s.max((x - y).abs() / (1.0 + x.abs())))
}

#[test]
fn ab_33_a_budget_of_all_joints_moves_a_world_like_no_budget() {
    for method in methods() {
        for name in ["tree_a", "tree_b", "tree_c"] {
            let c = reference(&read(name));
            let make = |adaptive| {
                let mut w = world(&method, c.model.gravity());
                let mut d = desc(c.model.links(), adaptive);
                (d.positions, d.velocities) = (c.q.clone(), c.v.clone());
                let id = w.add_articulation(&d).unwrap();
                (w, id)
            };
            let (mut whole, id) = make(None);
            let (mut lean, other) = make(Some(AdaptiveDesc::joints(1000)));
            for _ in 0..1000 {
                whole.step(1e-3).unwrap();
                let report = lean.step(1e-3).unwrap();
                assert_eq!(report.adaptive.locked, 0);
            }
            let e = worst((&whole, id), (&lean, other));
            println!("{} {name}: {e:e}", method.name());
            assert!(e < 1e-9, "{} {name}: {e:e}", method.name());
        }
    }
}

/// Rods of 1 m with capsules, hanging down from the origin.
fn hanging(n: usize, adaptive: Option<AdaptiveDesc>) -> ArticulationDesc {
    let mut d = desc(&rods(n), adaptive);
    for link in &mut d.links {
        link.shapes.push(tippe::ShapeDesc {
            pose: Pose::new(Vec3::X * 0.5, Quat::from_rotation_y(FRAC_PI_2)),
            ..Shape::Capsule {
                half_length: 0.4,
                radius: 0.05,
            }
            .into()
        });
    }
    d.positions = vec![0.0; n];
    d.positions[0] = FRAC_PI_2;
    d
}

fn ball(world: &mut World, position: Vec3, velocity: Vec3) -> BodyId {
    let body = BodyDesc {
        velocity,
        mass: MassSpec::Mass(1.0),
        ..BodyDesc::dynamic(Shape::Sphere { radius: 0.2 }, position)
    };
    world.add_body(&body).unwrap()
}

/// C10: a ball of 1 kg hits link 70 of 100; how fast it leaves, and the momentum that nobody has.
fn rebound(
    method: &Method,
    restitution: f64,
    adaptive: Option<AdaptiveDesc>,
) -> (f64, f64, StepReport) {
    let mut w = world(method, Vec3::ZERO);
    w.set_default_surface(Surface::new(0.0, restitution))
        .unwrap();
    // Floating, so that all momentum is that of ball and chain.
    let mut d = hanging(100, adaptive);
    d.links[0].link.joint = Joint::Free;
    d.links[0].link.mass.inertia.x_axis.x = 0.01;
    d.positions = vec![0.0; 3 + 4 + 99];
    let down = Quat::from_rotation_y(FRAC_PI_2);
    d.positions[3..7].copy_from_slice(&down.to_array());
    w.add_articulation(&d).unwrap();
    let b = ball(&mut w, Vec3::new(-0.26, 0.0, -69.5), Vec3::X * 5.0);
    let mut last = StepReport::default();
    let mut taken = 0.0;
    for _ in 0..40 {
        last = w.step(1e-3).unwrap();
        taken += last.energy.numerical_damping;
    }
    println!("  taken {taken:e}, moving {}", last.adaptive.moving);
    let p = (last.momentum - Vec3::X * 5.0).length();
    (w.body_state(b).unwrap().velocity.x, p, last)
}

#[test]
fn ab_35_a_ball_rebounds_from_an_adaptive_chain_in_every_method() {
    for method in methods() {
        for restitution in [1.0, 0.5] {
            let (full, drift, _) = rebound(&method, restitution, None);
            let (lean, lost, report) =
                rebound(&method, restitution, Some(AdaptiveDesc::joints(10)));
            let error = ((lean - full) / full).abs();
            println!(
                "{} e = {restitution}: whole {full:.6}, adaptive {lean:.6}, error {error:.2e}, momentum {lost:.1e} ({drift:.1e})",
                method.name()
            );
            assert!(error < 0.05, "{}: {full} {lean}", method.name());
            // What the impulse gives it takes; the rest is the error of the motion after it, as of the whole chain.
            assert!(
                lost <= 1.5 * drift + 1e-12,
                "{}: {lost:e} {drift:e}",
                method.name()
            );
            assert!(report.adaptive.moving < 40, "{:?}", report.adaptive);
        }
    }
}

#[test]
fn ab_36_a_limit_stops_a_joint_of_a_chain_of_which_few_move() {
    // C3 in a world: a chain of 100 short rods swings down; joint 0 is stopped at 30 degrees.
    for method in methods() {
        let make = |adaptive| {
            let mut w = world(&method, Vec3::Z * -9.81);
            let mut d = desc(&rods(100), adaptive);
            for l in &mut d.links {
                l.link.friction = JointFriction {
                    viscous: 2000.0,
                    coulomb: 0.0,
                };
            }
            d.links[0].link.friction.viscous = 0.0;
            d.links[0].link.limits = Some(Limits {
                min: -1.0,
                max: 0.2,
                restitution: 0.0,
            });
            let id = w.add_articulation(&d).unwrap();
            (w, id)
        };
        let (mut w, id) = make(Some(AdaptiveDesc::joints(10)));
        let mut stopped = false;
        for _ in 0..2000 {
            let r = w.step(2e-3).unwrap();
            let q = w.articulation_state(id).unwrap().positions[0];
            assert!(q < 0.2 + 1e-3, "{}: {q}", method.name());
            stopped |= q > 0.2 - 1e-3;
            assert!(r.is_finite());
        }
        assert!(stopped, "{}", method.name());
    }
}

#[test]
fn ab_36_a_chain_of_which_few_joints_move_rests_on_the_floor() {
    // C4: a floating chain of 100 links lies on the floor with ten joints at most.
    for method in methods() {
        let mut w = world(&method, Vec3::Z * -9.81);
        w.set_default_surface(Surface::new(0.5, 0.0)).unwrap();
        w.add_body(&BodyDesc::fixed(
            Shape::HalfSpace { normal: Vec3::Z },
            Vec3::ZERO,
        ))
        .unwrap();
        let mut d = hanging(100, Some(AdaptiveDesc::joints(10)));
        d.links[0].link.joint = Joint::Free;
        d.links[0].link.mass.inertia.x_axis.x = 0.01;
        d.positions = vec![0.0; 3 + 4 + 99];
        (d.positions[2], d.positions[6]) = (0.05, 1.0);
        let id = w.add_articulation(&d).unwrap();
        let links = w.link_bodies(id).unwrap();
        let mut weight = 0.0;
        for _ in 0..50 {
            w.step(1e-3).unwrap();
            weight = w.contacts().iter().map(|c| c.force().z).sum::<f64>();
        }
        let low = links.iter().map(|b| w.pose(*b).unwrap().position.z);
        let low = low.fold(f64::INFINITY, f64::min);
        println!("{}: {weight} N, lowest {low}", method.name());
        assert!(
            (weight - 981.0).abs() < 1e-3 * 981.0,
            "{}: {weight}",
            method.name()
        );
        assert!((low - 0.05).abs() < 1e-4, "{}: {low}", method.name());
    }
}

#[test]
fn ab_33_snapshots_hashes_and_threads_of_adaptive_worlds_are_the_same_bits() {
    for method in methods() {
        let mut w = world(&method, Vec3::Z * -9.81);
        let mut d = hanging(30, Some(AdaptiveDesc::joints(5)));
        d.positions[0] = 0.3;
        let id = w.add_articulation(&d).unwrap();
        w.add_body(&BodyDesc::fixed(
            Shape::HalfSpace { normal: Vec3::Z },
            Vec3::Z * -12.0,
        ))
        .unwrap();
        let b = ball(&mut w, Vec3::new(8.0, 0.0, 1.0), Vec3::Z * -2.0);
        // Rises from below and meets the chain near its root.
        let motion = tippe::Motion::Constant {
            velocity: Vec3::Z * 2.0,
            angular_velocity: Vec3::ZERO,
        };
        let prescribed = BodyDesc {
            kind: tippe::BodyKind::Kinematic(motion),
            ..BodyDesc::fixed(Shape::Sphere { radius: 0.1 }, Vec3::new(2.4, 0.0, -1.2))
        };
        w.add_body(&prescribed).unwrap();
        let links = w.link_bodies(id).unwrap();
        let mut twin = World::restore(&w.snapshot()).unwrap();
        twin.set_threads(2).unwrap();
        for k in 0..120 {
            // Whether somebody looks, or the world goes through a snapshot, must not matter.
            if k % 7 == 0 {
                let _ = twin.pose(links[20]).unwrap();
            }
            if k % 11 == 3 {
                twin = World::restore(&twin.snapshot()).unwrap();
            }
            if k % 40 > 30 {
                w.apply_force(links[10], Vec3::X * 50.0, Vec3::Z).unwrap();
                twin.apply_force(links[10], Vec3::X * 50.0, Vec3::Z)
                    .unwrap();
            }
            let (x, y) = (w.step(4e-3).unwrap(), twin.step(4e-3).unwrap());
            assert_eq!(x, y, "{} {k}", method.name());
            assert_eq!(w.hash(), twin.hash(), "{} {k}", method.name());
            assert_eq!(w.contacts(), twin.contacts());
        }
        assert!(w.body_state(b).unwrap().position.z < 1.0);
    }
}

#[test]
fn ab_33_loops_and_senseless_descriptions_are_refused_by_worlds() {
    let bad = [
        (AdaptiveDesc::joints(0), "adaptive.joints"),
        (AdaptiveDesc::error(-1.0), "adaptive.error"),
        (AdaptiveDesc::error(f64::NAN), "adaptive.error"),
        (
            AdaptiveDesc {
                weights: Some(vec![0.0; 4]),
                ..AdaptiveDesc::joints(1)
            },
            "adaptive.weights[0]",
        ),
    ];
    for (adaptive, field) in bad {
        let found = World::default().add_articulation(&desc(&rods(4), Some(adaptive)));
        assert_eq!(found.unwrap_err().field, field);
    }
    let mut w = World::default();
    let id = w
        .add_articulation(&desc(&rods(4), Some(AdaptiveDesc::joints(1))))
        .unwrap();
    let links = w.link_bodies(id).unwrap();
    let joint = |a: Option<BodyId>| {
        JointDesc::new(JointKind::Ball, a, Pose::IDENTITY, links[3], Pose::IDENTITY)
    };
    for other in [None, Some(links[1])] {
        let found = w.add_joint(&joint(other)).unwrap_err();
        assert_eq!(found.field, "body_b");
        assert!(found.reason.contains("loop"), "{}", found.reason);
    }
    // A body that hangs on a link is no loop; a second joint to the world makes one.
    let b = ball(&mut w, Vec3::X * 3.0, Vec3::ZERO);
    w.add_joint(&joint(Some(b))).unwrap();
    let hold = JointDesc::new(
        JointKind::Ball,
        None,
        Pose::from_position(Vec3::X * 3.0),
        b,
        Pose::IDENTITY,
    );
    w.add_joint(&hold).unwrap();
    assert!(w.step(1e-3).unwrap_err().to_string().contains("loop"));
}

#[test]
fn ab_33_motors_limits_and_loads_move_their_joints() {
    let mut w = world(&methods()[0], Vec3::ZERO);
    let mut d = desc(&rods(40), Some(AdaptiveDesc::joints(3)));
    d.links[20].motor = Some(Motor::Velocity {
        target: 0.5,
        max_force: 1e6,
    });
    let id = w.add_articulation(&d).unwrap();
    for _ in 0..50 {
        let r = w.step(1e-2).unwrap();
        let s = w.articulation_state(id).unwrap();
        assert!(
            (s.velocities[20] - 0.5).abs() < 1e-6,
            "{}",
            s.velocities[20]
        );
        assert!(r.adaptive.moving <= 6);
    }
}

#[test]
fn ab_33_random_worlds_with_random_budgets_stay_sound() {
    let seen = articulated_support::adaptive::random_worlds(100, 11);
    println!("{seen:?}");
    assert!(seen.residual < 1e-8, "{seen:?}");
    assert!(seen.compared > 50 && seen.contacts > 50, "{seen:?}");
    assert!(seen.again > 10 && seen.refused <= 2, "{seen:?}");
}

/// The end of the last rod.
fn tip(world: &World, id: ArticulationId) -> Vec3 {
    let last = *world.link_bodies(id).unwrap().last().unwrap();
    world.pose(last).unwrap().point(Vec3::X)
}

#[test]
fn ab_33_the_tip_of_a_pendulum_of_a_world_comes_nearer_with_every_joint_of_the_budget() {
    // C9: 300 rods released at rest, nearly straight.
    let run = |adaptive| {
        let mut w = world(&methods()[0], Vec3::Z * -9.81);
        let mut d = desc(&rods(300), adaptive);
        d.integrator = tippe::articulated::Integrator::OneEvaluation;
        d.positions = (0..300)
            .map(|i| 0.02 * libm::sin(0.7 * f64::from(i)))
            .collect();
        let id = w.add_articulation(&d).unwrap();
        let path = (0..1000).map(|_| {
            let report = w.step(1e-3).unwrap();
            assert!(report.energy.unexplained.abs() < 1e-3 * report.energy_scale);
            tip(&w, id)
        });
        path.collect::<Vec<Vec3>>()
    };
    let whole = run(None);
    let means = [1, 20, 50, 100, 300].map(|budget| {
        let lean = run(Some(AdaptiveDesc::joints(budget)));
        let apart = whole.iter().zip(&lean).map(|(x, y)| (*x - *y).length());
        apart.sum::<f64>() / whole.len() as f64
    });
    println!("mean tip distance [m] for 1, 20, 50, 100, 300 joints: {means:?}");
    assert!(means.windows(2).all(|m| m[1] < m[0]), "{means:?}");
    assert!(means[4] < 1e-9);
}

#[test]
fn ab_33_a_free_flight_of_a_world_keeps_its_momenta_and_the_account_of_what_locking_takes() {
    for method in methods() {
        let run = |adaptive| {
            let mut w = world(&method, Vec3::ZERO);
            let mut d = desc(&rods(30), adaptive);
            d.links[0].link.joint = Joint::Free;
            d.links[0].link.mass.inertia.x_axis.x = 0.01;
            d.velocities = (0..35).map(|i| 0.3 * libm::sin(f64::from(i))).collect();
            w.add_articulation(&d).unwrap();
            let mut first: Option<StepReport> = None;
            let (mut drift, mut taken, mut unexplained) = (0.0_f64, 0.0, 0.0_f64);
            for _ in 0..1000 {
                let r = w.step(1e-3).unwrap();
                let start = first.get_or_insert(r);
                let turn = (r.angular_momentum - start.angular_momentum).length();
                drift = drift.max((r.momentum - start.momentum).length()).max(turn);
                taken += r.energy.numerical_damping;
                unexplained += r.energy.unexplained.abs();
                assert!(r.energy.numerical_damping >= 0.0);
            }
            (drift, taken, unexplained, w.energy().0)
        };
        let (whole, _, _, _) = run(None);
        let (lean, taken, unexplained, left) = run(Some(AdaptiveDesc::joints(8)));
        println!(
            "{}: drift whole {whole:.1e}, adaptive {lean:.1e}; taken {taken:.3e} J of {left:.3e}, unexplained {unexplained:.1e}",
            method.name()
        );
        assert!(
            lean <= whole.max(1e-9),
            "{}: {lean:e} {whole:e}",
            method.name()
        );
        assert!(unexplained < 1e-4 * left, "{unexplained:e} {left:e}");
    }
}

#[test]
fn ab_33_the_moving_joints_of_a_world_follow_a_moving_load() {
    let mut w = world(&methods()[0], Vec3::ZERO);
    // By accelerations alone, so that what moved before and moves on by itself does not count.
    let adaptive = AdaptiveDesc {
        score: Score::Acceleration,
        patience: 0,
        ..AdaptiveDesc::joints(12)
    };
    let id = w.add_articulation(&hanging(200, Some(adaptive))).unwrap();
    let links = w.link_bodies(id).unwrap();
    for at in [20, 60, 100, 140, 180] {
        for _ in 0..24 {
            let place = w.pose(links[at]).unwrap().position;
            w.apply_force(links[at], Vec3::X, place).unwrap();
            w.step(1e-4).unwrap();
        }
        let memory = w.state().adaptive[id.index()].clone().unwrap();
        let near = (0..200).filter(|j| memory.joints.active[*j] && j.abs_diff(at) <= 8);
        let near = near.count();
        assert!(near >= 6, "{at}: {near}");
        assert!(w.is_locked(links[if at > 100 { 5 } else { 195 }]).unwrap());
        assert!(!w.is_locked(links[at]).unwrap());
    }
}

#[test]
fn ab_33_a_prescribed_body_moves_links_that_were_locked_to_the_world() {
    // A chain hangs at rest, most of it locked to the world, when a ball that nothing stops comes along.
    for method in methods() {
        let run = |adaptive| {
            let mut w = world(&method, Vec3::Z * -9.81);
            w.set_default_surface(Surface::new(0.0, 0.0)).unwrap();
            let id = w.add_articulation(&hanging(20, adaptive)).unwrap();
            let motion = tippe::Motion::Constant {
                velocity: Vec3::X,
                angular_velocity: Vec3::ZERO,
            };
            let ball = BodyDesc {
                kind: tippe::BodyKind::Kinematic(motion),
                // They meet in the middle of a step.
                ..BodyDesc::fixed(
                    Shape::Sphere { radius: 0.2 },
                    Vec3::new(-0.4005, 0.0, -10.4),
                )
            };
            w.add_body(&ball).unwrap();
            let (mut deepest, mut first) = (0.0_f64, None);
            for k in 0..800 {
                let report = w.step(1e-3).unwrap();
                deepest = deepest.max(report.penetration);
                if first.is_none() && !w.contacts().is_empty() {
                    first = Some(k);
                }
            }
            let link = w.link_bodies(id).unwrap()[10];
            (first, deepest, w.pose(link).unwrap().position)
        };
        let (touched, _, whole) = run(None);
        let (met, deepest, lean) = run(Some(AdaptiveDesc::joints(5)));
        let error = (whole - lean).length();
        println!(
            "{}: first contact {touched:?} {met:?}, deepest {deepest:.1e}, {whole:.3} against {lean:.3}",
            method.name()
        );
        assert!(touched.is_some() && touched == met, "{}", method.name());
        assert!(deepest < 1e-3, "{}: {deepest:e}", method.name());
        assert!(error < 0.1, "{}: {error}", method.name());
    }
}
