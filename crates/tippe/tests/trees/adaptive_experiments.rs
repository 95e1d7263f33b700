//! Experiments of the specification in worlds with ten of a hundred joints moving: C3 (a limit), C4 (several contacts)
//! and the momentum of C10 (a ball hits a chain), by every method that steps articulations.

#![allow(clippy::unwrap_used)]

use crate::articulated_support;

use articulated_support::{Random, solve};
use std::f64::consts::FRAC_PI_2;
use tippe::articulated::{AdaptiveDesc, Joint, Limits, LinkDesc, Model, Score, Work, crba, rnea};
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

/// C3 where the other joints bend, so that the hinge feels all ten: a rod of a hundred links whose hinge is at `angle` and
/// turns at `rate`, straight; the limit is 30° below.
fn bending(method: &str, angle: f64, rate: f64) -> (World, ArticulationId) {
    let mut world = world(method, Vec3::Z * -G, Surface::new(0.0, 0.0));
    let hinge = Joint::Revolute { axis: Vec3::Y };
    let mut links = row(0.01, 0.01, 1e-3, hinge, hinge);
    links[0].link.limits = Some(Limits {
        min: -1.0,
        max: LIMIT,
        restitution: 0.0,
    });
    let (mut positions, mut velocities) = (vec![0.0; LINKS], vec![0.0; LINKS]);
    (positions[0], velocities[0]) = (angle, rate);
    // Nine joints all along the rod turn just too fast to be locked; else those next to the hinge would move.
    for k in 1..10 {
        velocities[11 * k] = 0.03;
    }
    let id = world
        .add_articulation(&ArticulationDesc {
            links,
            positions,
            velocities,
            adaptive: Some(AdaptiveDesc::joints(10)),
            ..ArticulationDesc::default()
        })
        .unwrap();
    (world, id)
}

const LIMIT: f64 = std::f64::consts::FRAC_PI_6;

/// The tree of an articulation, and the joints of it that move.
fn whole(world: &World, id: ArticulationId) -> (Model, Vec<usize>) {
    let links = &world.articulation(id).unwrap().desc.links;
    let links: Vec<LinkDesc> = links.iter().map(|l| l.link.clone()).collect();
    let active = &world.state().adaptive[id.index()];
    let active = &active.as_ref().unwrap().joints.active;
    let moving = (0..LINKS).filter(|j| active[*j]).collect();
    (Model::new(&links, world.gravity()).unwrap(), moving)
}

/// Of the joints that move: who they are, the first column of the inverse of their inertia matrix, and their accelerations if
/// no limit acts, for positions `q` and velocities `v` of the whole tree.
fn reduced(world: &World, id: ArticulationId, q: &[f64], v: &[f64]) -> (Vec<usize>, [Vec<f64>; 2]) {
    let (model, at) = whole(world, id);
    let mut work = Work::new(&model);
    let (mut m, mut b) = (vec![0.0; LINKS * LINKS], vec![0.0; LINKS]);
    crba(&model, q, &mut work, &mut m).unwrap();
    let still = vec![0.0; LINKS];
    rnea(&model, q, v, &still, &[], &mut work, &mut b).unwrap();
    let pairs = at.iter().flat_map(|i| at.iter().map(move |j| (*i, *j)));
    let matrix: Vec<f64> = pairs.map(|(i, j)| m[i * LINKS + j]).collect();
    let mut unit = vec![0.0; at.len()];
    unit[0] = 1.0;
    let column = solve(matrix.clone(), unit);
    let free = solve(matrix, at.iter().map(|i| -b[*i]).collect());
    (at, [column, free])
}

#[test]
fn ab_36_a_limit_of_a_rod_that_bends_acts_as_the_reduced_inertia_matrix_says() {
    for method in METHODS {
        // It arrives as the stiff rod does, with q̇² = 3 g sin 30°/L. Steps so short that nothing but the impact matters.
        let (h, arrives) = (1e-8, (1.5 * G).sqrt());
        let (mut world, id) = bending(method, LIMIT - 2.5 * h * arrives, arrives);
        let mut shock = 0.0;
        let mut before = world.articulation_state(id).unwrap().clone();
        for _ in 0..8 {
            before = world.articulation_state(id).unwrap().clone();
            let report = world.step(h).unwrap();
            assert_eq!(report.adaptive.moving, 10, "{method}");
            shock = report.energy.shock;
            if shock > 0.0 {
                break;
            }
        }
        let (at, [column, _]) = reduced(&world, id, &before.positions, &before.velocities);
        let after = world.articulation_state(id).unwrap();
        assert_eq!(at[0], 0, "{method}");
        let (arrived, mut worst, mut fastest) = (before.velocities[0], 0.0_f64, 0.0_f64);
        for (k, j) in at.iter().enumerate() {
            let expected = before.velocities[*j] - arrived * column[k] / column[0];
            worst = worst.max((after.velocities[*j] - expected).abs());
            fastest = fastest.max(expected.abs());
        }
        let lost = 0.5 * arrived * arrived / column[0];
        println!(
            "{method}: lost {shock:.9} J of {lost:.9}, rates within {worst:.1e} of {fastest:.3} rad/s, (M⁻¹)₁₁ {:.3}",
            column[0]
        );
        // The stiff rod has (M⁻¹)₁₁ = 3: the others take part, and go on when the hinge is stopped.
        assert!(column[0] > 6.0 && fastest > 4.0, "{method}: {column:?}");
        assert!(after.velocities[0].abs() < 1e-9, "{method}");
        assert!(worst < 1e-4 * fastest, "{method}: {worst:e}");
        assert!(
            (shock / lost - 1.0).abs() < 1e-4,
            "{method}: {shock} {lost}"
        );
    }
}

#[test]
fn ab_36_a_rod_that_bends_rests_on_its_limit_and_leaves_it_at_once() {
    for method in METHODS {
        let (mut world, id) = bending(method, LIMIT, 0.0);
        let start = world.articulation_state(id).unwrap().clone();
        let h = 1e-5;
        let report = world.step(h).unwrap();
        let (at, [column, free]) = reduced(&world, id, &start.positions, &start.velocities);
        assert_eq!((at[0], report.adaptive.moving), (0, 10), "{method}");
        // What takes away the acceleration of the hinge, by the inertia that it feels.
        let expected = free[0] / column[0];
        let torque = world.joint_forces()[0].torque.length();
        println!(
            "{method}: torque {torque:.6} N·m of {expected:.6}, free acceleration {:.3} rad/s²",
            free[0]
        );
        assert!(free[0] > 1.0, "{method}: {}", free[0]);
        assert!((torque / expected - 1.0).abs() < 1e-3, "{method}: {torque}");
        assert!(rate(&world, id).abs() < 1e-9, "{method}");
        // Turned over, it leaves in the same step.
        world.set_gravity(Vec3::Z * G).unwrap();
        world.step(h).unwrap();
        assert!(rate(&world, id) < -0.5 * h * free[0], "{method}");
        let mut torques = world.joint_forces().iter().map(|f| f.torque.length());
        assert!(torques.all(|t| t < 1e-9), "{method}");
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

/// Gives a rod of 1 m along x its shape.
fn add_capsule(link: &mut LinkBodyDesc) {
    link.shapes.push(ShapeDesc {
        pose: Pose::new(Vec3::X * 0.5, Quat::from_rotation_y(FRAC_PI_2)),
        ..Shape::Capsule {
            half_length: 0.4,
            radius: 0.05,
        }
        .into()
    });
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
    links.iter_mut().for_each(add_capsule);
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

#[test]
fn ab_35_the_impact_on_a_hanging_chain_keeps_the_momentum_about_every_moving_joint() {
    // C10 as it is worded: the chain hangs, and what holds it takes momentum. About the axis of a joint that moves nothing but
    // the ball acts on what the joint carries, so there the impact gives what the ball loses. Steps are so short that nothing
    // else happens.
    for method in METHODS {
        let mut world = world(method, Vec3::Z * -G, Surface::new(0.0, 0.5));
        let hinge = Joint::Revolute { axis: Vec3::Y };
        let mut links = row(1.0, 1.0, 0.1, hinge, hinge);
        links.iter_mut().for_each(add_capsule);
        let mut positions = vec![0.0; LINKS];
        positions[0] = FRAC_PI_2;
        let id = world
            .add_articulation(&ArticulationDesc {
                links,
                positions,
                adaptive: Some(AdaptiveDesc::joints(10)),
                ..ArticulationDesc::default()
            })
            .unwrap();
        let (at, p) = (Vec3::new(-0.25 - 2e-7, 0.0, -69.5), Vec3::X * 5.0);
        let ball = BodyDesc {
            velocity: p,
            mass: MassSpec::Mass(1.0),
            ..BodyDesc::dynamic(Shape::Sphere { radius: 0.2 }, at)
        };
        let ball = world.add_body(&ball).unwrap();
        let mut before = world.articulation_state(id).unwrap().clone();
        for _ in 0..4 {
            before = world.articulation_state(id).unwrap().clone();
            world.step(1e-7).unwrap();
            if !world.contacts().is_empty() {
                break;
            }
        }
        let contact = world.contacts()[0];
        let onto_ball = contact.impulse() * if contact.body_b == ball { 1.0 } else { -1.0 };
        let ball_error = (world.body_state(ball).unwrap().velocity.x - 5.0 - onto_ball.x).abs();
        // Momenta along the moving joints, less those that the ball lost.
        let (model, moving) = whole(&world, id);
        let mut m = vec![0.0; LINKS * LINKS];
        let mut work = Work::new(&model);
        crba(&model, &before.positions, &mut work, &mut m).unwrap();
        let after = &world.articulation_state(id).unwrap().velocities;
        let worst = moving.iter().map(|i| {
            let gained = moving.iter().map(|j| m[i * LINKS + j] * after[*j]);
            let arm = contact.point - Vec3::Z * -(*i as f64);
            let given = if *i < 70 {
                -arm.cross(onto_ball).y
            } else {
                0.0
            };
            (gained.sum::<f64>() - given).abs() / 69.5
        });
        let worst = worst.fold(0.0, f64::max);
        println!(
            "{method}: impulse {:.6} N·s, {} joints, ball {ball_error:.1e}, joints {worst:.1e} kg·m/s",
            onto_ball.length(),
            moving.len()
        );
        assert!(onto_ball.length() > 4.0 && moving.len() == 10, "{method}");
        assert!(ball_error.max(worst) < 5.0 * 1e-12, "{method}: {worst:e}");
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
    let model = Model::new(&links, Vec3::ZERO).unwrap();
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
