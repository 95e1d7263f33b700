//! Experiments of the specification in worlds with ten of a hundred joints moving: C3 (a limit), C4 (several contacts)
//! and the momentum of C10 (a ball hits a chain), by every method that steps articulations.

#![allow(clippy::unwrap_used)]

mod articulated_support;

use articulated_support::Random;
use std::f64::consts::FRAC_PI_2;
use tippe::articulated::{AdaptiveDesc, Joint, Limits, LinkDesc, Score};
use tippe::shape::MassProperties;
use tippe::{
    ArticulationDesc, ArticulationId, BodyDesc, LinkBodyDesc, MassSpec, Mat3, Method, Pose, Quat,
    Shape, ShapeDesc, StepReport, Surface, Vec3, World,
};

const G: f64 = 9.81;
const LINKS: usize = 100;

/// The methods that step articulations.
const METHODS: [&str; 4] = ["sequential", "iterative", "simultaneous", "events"];

fn world(method: &str, gravity: Vec3, surface: Surface) -> World {
    let mut world = World::new(Method::from_name(method).unwrap()).unwrap();
    world.set_gravity(gravity).unwrap();
    world.set_default_surface(surface).unwrap();
    world
}

/// Links in a row along x, each a uniform rod of `length` and `mass`, `thick` for its inertia about x.
fn row(length: f64, mass: f64, thick: f64, first: Joint, other: Joint) -> Vec<LinkBodyDesc> {
    let long = mass * length * length / 12.0;
    let across = mass * thick * thick / 12.0;
    let mass = MassProperties {
        mass,
        center: Vec3::X * (0.5 * length),
        inertia: Mat3::from_diagonal(Vec3::new(2.0 * across, long + across, long + across)),
    };
    let link = |i: usize| {
        let (joint, place) = match i {
            0 => (first, Vec3::ZERO),
            _ => (other, Vec3::X * length),
        };
        LinkBodyDesc::new(LinkDesc::new(
            i.checked_sub(1),
            joint,
            Pose::from_position(place),
            mass,
        ))
    };
    (0..LINKS).map(link).collect()
}

fn rate(world: &World, id: ArticulationId) -> f64 {
    world.articulation_state(id).unwrap().velocities[0]
}

fn angle(world: &World, id: ArticulationId) -> f64 {
    world.articulation_state(id).unwrap().positions[0]
}

#[test]
fn ab_36_a_rod_of_a_hundred_links_stops_at_its_limit_and_rests_there() {
    // C3: a rod of 1 m and 1 kg, cut into a hundred links that can roll about its axis, is released horizontal; its
    // hinge has a limit 30° below. Nine links roll, which the hinge does not feel.
    let limit = 30_f64.to_radians();
    for method in METHODS {
        let mut world = world(method, Vec3::Z * -G, Surface::new(0.0, 0.0));
        let hinge = Joint::Revolute { axis: Vec3::Y };
        let mut links = row(0.01, 0.01, 1e-3, hinge, Joint::Revolute { axis: Vec3::X });
        links[0].link.limits = Some(Limits {
            min: -1.0,
            max: limit,
            restitution: 0.0,
        });
        let mut velocities = vec![0.0; LINKS];
        for k in 1..10 {
            velocities[11 * k] = 0.5 * k as f64;
        }
        let id = world
            .add_articulation(&ArticulationDesc {
                links,
                velocities,
                adaptive: Some(AdaptiveDesc::joints(10)),
                ..ArticulationDesc::default()
            })
            .unwrap();
        let (mut shock, mut fastest, mut moving) = (0.0, 0.0_f64, Vec::new());
        for _ in 0..1000 {
            let report = world.step(1e-3).unwrap();
            shock += report.energy.shock;
            fastest = fastest.max(rate(&world, id));
            moving.push(report.adaptive.moving);
            assert!(angle(&world, id) < limit + 1e-9, "{method}");
        }
        let torque = world.joint_forces()[0].torque.length();
        println!(
            "{method}: shock {shock:.6} J, torque {torque:.6} N·m, fastest {fastest:.6} rad/s, angle {:e}, rate {:e}, moving {:?}..{:?}",
            angle(&world, id) - limit,
            rate(&world, id),
            moving.iter().min(),
            moving.iter().max()
        );
        assert!(moving.iter().all(|m| *m == 10), "{method}");
        // Arrives with q̇² = 3 g sin 30°/L; what it has then is lost, and its weight is borne.
        assert!(
            (fastest * fastest / (1.5 * G) - 1.0).abs() < 0.01,
            "{method}: {fastest}"
        );
        assert!((angle(&world, id) - limit).abs() < 1e-9, "{method}");
        assert!(rate(&world, id).abs() < 1e-9, "{method}");
        assert!((shock - 2.4525).abs() < 1e-5, "{method}: {shock}");
        assert!((torque - 4.24786).abs() < 1e-5, "{method}: {torque}");
        // Turned over, it leaves at once.
        world.set_gravity(Vec3::Z * G).unwrap();
        world.step(1e-3).unwrap();
        assert!(rate(&world, id) < -1e-3, "{method}: {}", rate(&world, id));
        assert!(
            world
                .joint_forces()
                .iter()
                .all(|f| f.torque.length() < 1e-9),
            "{method}"
        );
    }
}

/// A floating chain of a hundred plates, hinged about z, on four feet at `height` above the floor.
fn plates(world: &mut World, height: f64, velocity: Vec3) -> ArticulationId {
    let floor = BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO);
    world.add_body(&floor).unwrap();
    let hinge = Joint::Revolute { axis: Vec3::Z };
    let mut links = row(0.1, 1.0, 0.1, Joint::Free, hinge);
    for (link, y) in [(2, -0.3), (35, 0.3), (66, -0.3), (97, 0.3)] {
        links[link].shapes.push(ShapeDesc {
            pose: Pose::from_position(Vec3::new(0.05, y, -0.1)),
            ..Shape::Sphere { radius: 0.05 }.into()
        });
    }
    let mut positions = vec![0.0; 7 + LINKS - 1];
    (positions[2], positions[6]) = (0.15 + height, 1.0);
    let mut velocities = vec![0.0; 6 + LINKS - 1];
    velocities[3..6].copy_from_slice(&velocity.to_array());
    let desc = ArticulationDesc {
        links,
        positions,
        velocities,
        adaptive: Some(AdaptiveDesc::joints(10)),
        ..ArticulationDesc::default()
    };
    world.add_articulation(&desc).unwrap()
}

#[test]
fn ab_36_a_chain_of_a_hundred_plates_rests_on_four_feet_for_ten_seconds() {
    // C4: the feet bear the weight, and nothing moves.
    for method in METHODS {
        let mut world = world(method, Vec3::Z * -G, Surface::new(0.5, 0.0));
        let id = plates(&mut world, 0.0, Vec3::ZERO);
        let links = world.link_bodies(id).unwrap();
        let start: Vec<Pose> = links.iter().map(|l| world.pose(*l).unwrap()).collect();
        let (mut worst, mut moving) = (0.0_f64, 0);
        let steps = if cfg!(debug_assertions) { 100 } else { 1000 };
        for _ in 0..steps {
            let report = world.step(1e-2).unwrap();
            let weight: f64 = world.contacts().iter().map(|c| c.force().z).sum();
            worst = worst.max((weight / (G * LINKS as f64) - 1.0).abs());
            moving = moving.max(report.adaptive.moving);
        }
        let ends = links.iter().map(|l| world.pose(*l).unwrap());
        let drift = ends
            .zip(&start)
            .map(|(e, s)| e.position.distance(s.position));
        let drift = drift.fold(0.0, f64::max);
        println!(
            "{method}: weight {worst:.1e}, drift {drift:.1e} m, moving {moving}, contacts {}",
            world.contacts().len()
        );
        assert!(moving <= 10, "{method}");
        assert!(worst < 1e-8, "{method}: {worst:e}");
        assert!(drift < 1e-4, "{method}: {drift:e}");
    }
}

#[test]
fn ab_36_a_chain_of_a_hundred_plates_falls_flat_on_four_feet() {
    // C4, dropped: all contacts at once, none approaches afterwards.
    for method in METHODS {
        let mut world = world(method, Vec3::Z * -G, Surface::new(0.5, 0.0));
        let id = plates(&mut world, 0.0105, Vec3::Z * -1.0);
        let links = world.link_bodies(id).unwrap();
        let mut worst = 0.0_f64;
        for _ in 0..20 {
            world.step(1e-3).unwrap();
            for c in world
                .contacts()
                .iter()
                .filter(|c| c.impulse().length() > 0.0)
            {
                let body = if links.contains(&c.body_b) {
                    c.body_b
                } else {
                    c.body_a
                };
                let v = world.body_state(body).unwrap().point_velocity(c.point);
                worst = worst.min(v.z);
            }
        }
        println!(
            "{method}: {} contacts, slowest {worst:e} m/s",
            world.contacts().len()
        );
        assert_eq!(world.contacts().len(), 4, "{method}");
        assert!(worst > -1e-9, "{method}: {worst:e}");
    }
}

/// C10 without gravity and on a free joint, so that ball and chain have all the momentum: a ball of 1 kg at 5 m/s is
/// `gap` away from link 70. Largest change of momentum, and of angular momentum over the ball's arm, after each step.
fn momentum(
    method: &str,
    adaptive: Option<AdaptiveDesc>,
    dt: f64,
    steps: usize,
    gap: f64,
) -> (f64, StepReport) {
    let mut world = world(method, Vec3::ZERO, Surface::new(0.0, 0.5));
    let mut links = row(
        1.0,
        1.0,
        0.1,
        Joint::Free,
        Joint::Revolute { axis: Vec3::Y },
    );
    for link in &mut links {
        link.shapes.push(ShapeDesc {
            pose: Pose::new(Vec3::X * 0.5, Quat::from_rotation_y(FRAC_PI_2)),
            ..Shape::Capsule {
                half_length: 0.4,
                radius: 0.05,
            }
            .into()
        });
    }
    let mut positions = vec![0.0; 7 + LINKS - 1];
    positions[3..7].copy_from_slice(&Quat::from_rotation_y(FRAC_PI_2).to_array());
    let desc = ArticulationDesc {
        links,
        positions,
        adaptive,
        ..ArticulationDesc::default()
    };
    world.add_articulation(&desc).unwrap();
    let (at, p) = (Vec3::new(-0.25 - gap, 0.0, -69.5), Vec3::X * 5.0);
    let ball = BodyDesc {
        velocity: p,
        mass: MassSpec::Mass(1.0),
        ..BodyDesc::dynamic(Shape::Sphere { radius: 0.2 }, at)
    };
    world.add_body(&ball).unwrap();
    let (mut worst, mut impacts, mut last) = (0.0_f64, 0, StepReport::default());
    for _ in 0..steps {
        last = world.step(dt).unwrap();
        impacts += usize::from(world.contacts().iter().any(|c| c.impulse().length() > 1.0));
        let turn = (last.angular_momentum - at.cross(p)).length() / 69.5;
        worst = worst.max((last.momentum - p).length()).max(turn);
    }
    assert!(impacts > 0, "{method}: the ball missed");
    (worst, last)
}

#[test]
fn ab_35_the_impact_on_an_adaptive_chain_keeps_all_momenta() {
    for method in METHODS {
        let lean = || Some(AdaptiveDesc::joints(10));
        // The impact alone, joints chosen anew for it: steps so short that nothing else happens.
        let (impact, report) = momentum(method, lean(), 1e-7, 3, 2e-7);
        // The flight of chain and ball after it is integrated to fourth order, adaptive or not.
        let (coarse, _) = momentum(method, lean(), 1e-3, 8, 0.0052);
        let (fine, _) = momentum(method, lean(), 2.5e-4, 32, 0.0052);
        let (whole, _) = momentum(method, None, 1e-3, 8, 0.0052);
        println!(
            "{method}: impact {impact:.1e}, flight {coarse:.1e}, at a quarter of the step {fine:.1e}, whole {whole:.1e} ({} moving)",
            report.adaptive.moving
        );
        assert!(report.adaptive.moving < 20, "{method}");
        assert!(impact < 5.0 * 1e-12, "{method}: {impact:e}");
        assert!(coarse <= 1.1 * whole, "{method}: {coarse:e} {whole:e}");
        assert!(fine < coarse / 150.0, "{method}: {coarse:e} {fine:e}");
    }
}

/// A random tree on a free joint, in motion.
fn floating(random: &mut Random, count: usize, adaptive: AdaptiveDesc) -> ArticulationDesc {
    let links: Vec<LinkDesc> = (0..count)
        .map(|i| {
            let joint = if i == 0 { Joint::Free } else { random.joint() };
            let parent = i.checked_sub(1).map(|_| random.below(i));
            let place = Pose::new(random.vec3() * 0.4, random.quat());
            LinkDesc::new(parent, joint, place, random.mass())
        })
        .collect();
    let model = tippe::articulated::Model::new(&links, Vec3::ZERO).unwrap();
    let start = random.state(model);
    ArticulationDesc {
        links: links.into_iter().map(LinkBodyDesc::new).collect(),
        positions: start.q,
        velocities: start.v,
        adaptive: Some(adaptive),
        ..ArticulationDesc::default()
    }
}

#[test]
fn ab_33_locks_and_releases_of_a_world_keep_momenta_and_add_no_energy() {
    let mut random = Random(21);
    let (mut worst, mut book, mut locks, mut releases, mut taken) = (0.0_f64, 0.0_f64, 0, 0, 0.0);
    for i in 0..60 {
        let method = METHODS[i % METHODS.len()];
        let mut world = world(method, Vec3::ZERO, Surface::new(0.0, 0.0));
        // Locks whatever is not chosen, however fast, in each step anew.
        let adaptive = AdaptiveDesc {
            score: Score::Acceleration,
            lock_speed: f64::INFINITY,
            patience: 0,
            interval: 1,
            ..AdaptiveDesc::joints(1 + random.below(4 + i % 20))
        };
        let id = world
            .add_articulation(&floating(&mut random, 3 + i % 30, adaptive))
            .unwrap();
        let links = world.link_bodies(id).unwrap();
        // So short that nothing but choosing happens: first with nothing locked, then where pushes ask for other joints.
        let h = 1e-16;
        let (mut before, mut moving) = (world.step(h).unwrap(), Vec::new());
        for _ in 0..8 {
            let push = links[random.below(links.len())];
            let at = world.pose(push).unwrap().position;
            world.apply_force(push, random.vec3() * 100.0, at).unwrap();
            let now = world.step(h).unwrap();
            let size = before.momentum.length() + before.angular_momentum.length() + 1.0;
            let linear = (now.momentum - before.momentum).length() / size;
            let turn = (now.angular_momentum - before.angular_momentum).length() / size;
            worst = worst.max(linear).max(turn);
            let lost = before.energy.kinetic - now.energy.kinetic;
            assert!(
                lost > -1e-12 * before.energy.kinetic,
                "{method} {i}: {lost:e} J"
            );
            let unbooked = lost - now.energy.numerical_damping;
            book = book.max(unbooked.abs() / before.energy.kinetic);
            taken += now.energy.numerical_damping;
            let active = world.state().adaptive[id.index()]
                .clone()
                .unwrap()
                .joints
                .active;
            let pairs = || moving.iter().zip(&active);
            locks += pairs()
                .filter(|(b, a): &(&bool, &bool)| **b && !**a)
                .count();
            releases += pairs()
                .filter(|(b, a): &(&bool, &bool)| !**b && **a)
                .count();
            (before, moving) = (now, active);
        }
    }
    println!(
        "momenta {worst:.1e}, account {book:.1e}, {taken:.3} J taken by {locks} locks, {releases} releases"
    );
    assert!(locks > 50 && releases > 50, "{locks} {releases}");
    assert!(worst < 1e-12, "{worst:e}");
    assert!(book < 1e-11, "{book:e}");
}
