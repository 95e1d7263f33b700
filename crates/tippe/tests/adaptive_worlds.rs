//! Adaptive trees in worlds: every method that steps articulations, with part of the joints locked.

#![allow(clippy::unwrap_used)]

mod articulated_support;

use articulated_support::{read, reference, rods};
use std::f64::consts::FRAC_PI_2;
use tippe::articulated::{AdaptiveDesc, Joint, JointFriction, Limits, LinkDesc};
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

fn worst(a: &World, b: &World, id: ArticulationId) -> f64 {
    let (x, y) = (
        a.articulation_state(id).unwrap(),
        b.articulation_state(id).unwrap(),
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
            let (mut lean, _) = make(Some(AdaptiveDesc::joints(1000)));
            for _ in 0..1000 {
                whole.step(1e-3).unwrap();
                let report = lean.step(1e-3).unwrap();
                assert_eq!(report.adaptive.locked, 0);
            }
            let e = worst(&whole, &lean, id);
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
            let (full, _, _) = rebound(&method, restitution, None);
            let (lean, lost, report) =
                rebound(&method, restitution, Some(AdaptiveDesc::joints(10)));
            let error = ((lean - full) / full).abs();
            println!(
                "{} e = {restitution}: whole {full:.6}, adaptive {lean:.6}, error {error:.2e}, momentum {lost:.1e}",
                method.name()
            );
            assert!(error < 0.05, "{}: {full} {lean}", method.name());
            assert!(lost < 1e-12 * 5.0 * 100.0, "{}: {lost:e}", method.name());
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
    assert!(
        seen.compared > 50 && seen.contacts > 50 && seen.refused < 3,
        "{seen:?}"
    );
}
