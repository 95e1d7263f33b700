//! Requirements on articulated bodies, each shown by the experiment that its acceptance sentence names, with the
//! figures it names.
//!
//! Other tests show the same capabilities in other ways; `docs/requirements.md` lists both.

#![allow(clippy::unwrap_used, non_snake_case)]

use crate::articulated_support;

use articulated_support::rods;
use tippe::articulated::{
    Joint, LinkDesc, Load, Model, Touch, Work, aba, advance, collision_matrix, dca, kinematics,
    link_pose, point_velocity,
};
use tippe::shape::mass::MassProperties;
use tippe::{
    ArticulationDesc, ArticulationId, BodyDesc, BodyId, EventKind, LinkBodyDesc, Mat3, Method,
    Pose, SequentialParams, Shape, ShapeDesc, Surface, Vec3, World,
};

const G: f64 = 9.81;

/// Every method that knows links.
fn methods() -> [Method; 2] {
    ["sequential", "iterative"].map(|name| Method::from_name(name).unwrap())
}

fn over_ground(method: Method, gravity: f64, surface: Surface) -> World {
    let mut world = World::new(method).unwrap();
    world.set_gravity(Vec3::Z * -gravity).unwrap();
    world.set_default_surface(surface).unwrap();
    let ground = Shape::HalfSpace { normal: Vec3::Z };
    world
        .add_body(&BodyDesc::fixed(ground, Vec3::ZERO))
        .unwrap();
    world
}

/// Radius of the ball at a tip [m].
const TIP: f64 = 1e-3;

/// A free chain of uniform rods of 1 kg and 1 m in line along x, hinged about y, `height` above the ground, with a
/// small ball at its far tip. Every link moves with `speed` along z and the last one turns so that its tip has
/// `tip_speed`.
fn free_chain(world: &mut World, n: usize, height: f64, speed: f64) -> (ArticulationId, BodyId) {
    // Thin, but with a moment about its own line, since it may turn freely about it.
    let mass = MassProperties {
        mass: 1.0,
        center: Vec3::X * 0.5,
        inertia: Mat3::from_diagonal(Vec3::new(1e-4, 1.0 / 12.0, 1.0 / 12.0)),
    };
    let links: Vec<LinkBodyDesc> = (0..n)
        .map(|i| {
            let (joint, place) = if i == 0 {
                (Joint::Free, Pose::IDENTITY)
            } else {
                let hinge = Joint::Revolute { axis: Vec3::Y };
                (hinge, Pose::from_position(Vec3::X))
            };
            let link = LinkDesc::new(i.checked_sub(1), joint, place, mass);
            let mut link = LinkBodyDesc::new(link);
            if i + 1 == n {
                let mut ball = ShapeDesc::from(Shape::Sphere { radius: TIP });
                ball.pose = Pose::from_position(Vec3::X);
                link.shapes.push(ball);
            }
            link
        })
        .collect();
    let mut positions = vec![0.0, 0.0, height + TIP, 0.0, 0.0, 0.0, 1.0];
    positions.resize(7 + n - 1, 0.0);
    let mut velocities = vec![0.0, 0.0, 0.0, 0.0, 0.0, speed];
    velocities.resize(6 + n - 1, 0.0);
    let desc = ArticulationDesc {
        links,
        positions,
        velocities,
        ..ArticulationDesc::default()
    };
    let id = world.add_articulation(&desc).unwrap();
    let last = *world.link_bodies(id).unwrap().last().unwrap();
    (id, last)
}

fn tip_velocity(world: &World, last: BodyId) -> Vec3 {
    let pose = world.pose(last).unwrap();
    let s = world.body_state(last).unwrap();
    s.point_velocity(pose.point(Vec3::X))
}

/// Table of classes by v_n against the threshold: colliding, resting, separating. The threshold is the method's; a
/// contact without load collides at any speed. After an impact the motion starts anew: what was left of the step is
/// flown from there.
#[test]
fn ab_01_classes_by_speed_and_restart_after_the_impact() {
    let ball = |world: &mut World, gap: f64| {
        let ball = Shape::Sphere { radius: 0.1 };
        let mass = ball.mass_properties(1000.0);
        let mut link = LinkBodyDesc::new(LinkDesc::new(None, Joint::Free, Pose::IDENTITY, mass));
        link.shapes.push(ball.into());
        let desc = ArticulationDesc {
            links: vec![link],
            positions: vec![0.0, 0.0, 0.1 + gap, 0.0, 0.0, 0.0, 1.0],
            ..ArticulationDesc::default()
        };
        world.add_articulation(&desc).unwrap()
    };
    let h = 1e-3;
    // A loaded contact of `iterative`: √(2 g ε) with ε = 1e-4 m, 0.0443 m/s.
    let threshold = (2.0 * G * 1e-4_f64).sqrt();
    for (speed, collides) in [
        (1e-3, false),
        (0.0, false),
        (-0.9 * threshold, false),
        (-1.1 * threshold, true),
    ] {
        let mut world = over_ground(
            Method::from_name("iterative").unwrap(),
            G,
            Surface::new(0.0, 0.5),
        );
        let id = ball(&mut world, 0.0);
        for _ in 0..10 {
            world.step(h).unwrap();
        }
        let mut state = world.articulation_state(id).unwrap().clone();
        state.velocities[5] = speed;
        world.set_articulation_state(id, &state).unwrap();
        let report = world.step(h).unwrap();
        assert_eq!(report.collisions > 0, collides, "{speed}");
    }
    // Dropped from 1 cm, met in the middle of a step: e times the speed of arrival, then the parabola from there.
    for method in methods() {
        let name = method.name();
        let mut world = over_ground(method, G, Surface::new(0.0, 0.5));
        let id = ball(&mut world, 0.01);
        let h = 0.06;
        let arrival = (2.0 * 0.01 / G).sqrt();
        let report = world.step(h).unwrap();
        assert_eq!(report.collisions, 1, "{name}");
        let left = h - arrival;
        let up = 0.5 * G * arrival;
        let state = world.articulation_state(id).unwrap();
        let expected = (up * left - 0.5 * G * left * left, up - G * left);
        let (z, v) = (state.positions[2] - 0.1, state.velocities[5]);
        println!(
            "{name}: off by {:e} m, {:e} m/s",
            z - expected.0,
            v - expected.1
        );
        // The time of impact is known to the depth tolerance over the speed of arrival, 1e-9/0.44 s: 1.5 times that
        // speed and 1.5 g in it.
        assert!((z - expected.0).abs() < 2e-9, "{name}");
        assert!((v - expected.1).abs() < 4e-8, "{name}");
    }
}

/// Accelerations by divide and conquer for 2 to 1024 links, and what two threads bring: printed, since it depends on
/// the machine.
#[test]
fn ab_10_speed_up_with_threads_is_reported() {
    for n in [2, 64, 1024] {
        let mut links = rods(n);
        for link in &mut links {
            link.mass.inertia.x_axis.x = 0.01;
        }
        let model = Model::new(&links, Vec3::NEG_Z * G).unwrap();
        let q: Vec<f64> = (0..n).map(|i| 0.01 * (i % 7) as f64).collect();
        let zero = vec![0.0; n];
        let mut work = Work::new(&model);
        let mut wanted = vec![0.0; n];
        aba(&model, &q, &zero, &zero, &[], &mut work, &mut wanted).unwrap();
        let mut times = Vec::new();
        for threads in [1, 2] {
            let mut found = vec![0.0; n];
            let mut least = f64::INFINITY;
            for _ in 0..5 {
                let start = std::time::Instant::now();
                dca(
                    &model,
                    &q,
                    &zero,
                    &zero,
                    &[],
                    threads,
                    &mut work,
                    &mut found,
                )
                .unwrap();
                least = least.min(start.elapsed().as_secs_f64());
            }
            times.push(least);
            let size = wanted.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            for (a, b) in found.iter().zip(&wanted) {
                assert!((a - b).abs() < 1e-9 * size, "{n} links: {a} {b}");
            }
        }
        println!(
            "{n} links: {:.1} µs, two threads {:.1} µs, {:.2} times as fast",
            1e6 * times[0],
            1e6 * times[1],
            times[0] / times[1]
        );
    }
}

/// C4, dropped flat: five hinged plates land on all their corners at once; no point approaches afterwards.
#[test]
fn ab_19_a_plate_chain_that_lands_flat_has_no_approach_left() {
    for method in methods() {
        let name = method.name();
        let mut world = over_ground(method, G, Surface::new(0.5, 0.0));
        let half = Vec3::new(0.1, 0.1, 0.02);
        let plate = Shape::Cuboid { half };
        let mass = plate.mass_properties(1000.0);
        let links: Vec<LinkBodyDesc> = (0..5_usize)
            .map(|i| {
                let (place, joint) = if i == 0 {
                    (Vec3::Z * 0.03, Joint::Free)
                } else {
                    (Vec3::X * 0.21, Joint::Revolute { axis: Vec3::Y })
                };
                let place = Pose::from_position(place);
                let link = LinkDesc::new(i.checked_sub(1), joint, place, mass);
                let mut link = LinkBodyDesc::new(link);
                link.shapes.push(plate.clone().into());
                link
            })
            .collect();
        let desc = ArticulationDesc {
            links,
            ..ArticulationDesc::default()
        };
        let id = world.add_articulation(&desc).unwrap();
        let bodies = world.link_bodies(id).unwrap().to_vec();
        let mut hit = 0;
        while hit == 0 && world.time() < 1.0 {
            hit = world.step(1e-3).unwrap().collisions;
        }
        let mut worst = f64::INFINITY;
        for &body in &bodies {
            let (pose, s) = (world.pose(body).unwrap(), world.body_state(body).unwrap());
            for k in 0..4 {
                let side = |bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                let corner = pose.point(half * Vec3::new(side(0), side(1), -1.0));
                worst = worst.min(s.point_velocity(corner).z);
            }
        }
        println!("{name}: {hit} contacts hit, least v_n {worst:e} m/s");
        assert!(hit >= 20 && worst > -1e-9, "{name}: {hit} {worst:e}");
    }
}

/// C1 in a world: free chains of one, two, three rods fall flat, and their tip meets the ground at 2 m/s with e = 0.5
/// and no friction. K of the tip is 4, 7/2, 52/15: p = (1 + e) 2/K, and the tip leaves with 1 m/s.
#[test]
fn ab_38_free_chains_hit_the_ground_with_their_tip() {
    for method in methods() {
        for (n, K) in [(1, 4.0), (2, 3.5), (3, 52.0 / 15.0), (4, 97.0 / 28.0)] {
            let name = method.name();
            let mut world = over_ground(method.clone(), 0.0, Surface::new(0.0, 0.5));
            let (_, last) = free_chain(&mut world, n, 0.0, -2.0);
            let report = world.step(1e-6).unwrap();
            assert_eq!(report.collisions, 1, "{name}");
            let p: f64 = world.contacts().iter().map(|c| c.normal_impulse).sum();
            let up = tip_velocity(&world, last).z;
            println!("{name}, {n} rods: p = {p}, tip {up}");
            assert!((p - 3.0 / K).abs() < 1e-5, "{name}, {n}: {p}");
            assert!((up - 1.0).abs() < 1e-5, "{name}, {n}: {up}");
        }
    }
}

/// C1 with a step that goes back: a chain falls flat, its tip arrives after √(2 d/g) to 2⁻²⁰ of a step, and no state
/// overlaps.
#[test]
fn ab_28_a_chain_is_stopped_at_the_impact_of_its_tip() {
    let (gap, h) = (0.0123, 1.0 / 60.0);
    for n in [1, 3] {
        let method = Method::from_name("iterative").unwrap();
        let mut world = over_ground(method, G, Surface::new(0.0, 0.5));
        free_chain(&mut world, n, gap, 0.0);
        let mut hit = None;
        for _ in 0..10 {
            let report = world.step(h).unwrap();
            assert!(report.penetration <= 1e-9, "{:e}", report.penetration);
            let impact = world.events().iter().find(|e| e.kind == EventKind::Impact);
            hit = hit.or(impact.map(|e| e.time));
        }
        let error = (hit.unwrap() - (2.0 * gap / G).sqrt()).abs();
        println!("{n} rods: {error:e} s");
        assert!(error < h / f64::from(1 << 20), "{n}: {error:e}");
    }
}

/// Impulse on the tip of a pinned chain by an explicit contact: a spring of 1e8 N/m that gives back e² of its work,
/// friction μ F_n against the slip, steps of 1e-7 s.
fn stiff_impact(model: &Model, q: &[f64], v: &[f64], mu: f64, e: f64) -> (Vec3, Vec<f64>) {
    let n = model.freedom_count();
    let (k, h, slow) = (1e8, 1e-7, 1e-3);
    let (mut q, mut v) = (q.to_vec(), v.to_vec());
    let mut work = Work::new(model);
    let tip = |q: &[f64], v: &[f64], work: &mut Work| {
        kinematics(model, q, v, work).unwrap();
        let point = link_pose(model, work, n - 1).unwrap().point(Vec3::X);
        let u = point_velocity(model, work, n - 1, point).unwrap();
        (point, u)
    };
    let ground = tip(&q, &v, &mut work).0.z;
    let (mut deepest, mut impulse) = (0.0_f64, Vec3::ZERO);
    let zero = vec![0.0; n];
    for _ in 0..100_000 {
        let (point, u) = tip(&q, &v, &mut work);
        let depth = ground - point.z;
        deepest = deepest.max(depth);
        // Unloading is stiffer by 1/e²: the same force at the turn, e² of the work.
        let force = if depth < deepest {
            (k * deepest - k / (e * e) * (deepest - depth)).max(0.0)
        } else {
            k * depth
        };
        if force <= 0.0 && u.z > 0.0 {
            break;
        }
        let slip = Vec3::new(u.x, u.y, 0.0);
        let friction = slip * (-mu * force / (slip.length_squared() + slow * slow).sqrt());
        let pushed = Vec3::Z * force + friction;
        impulse += pushed * h;
        let mut a = vec![0.0; n];
        let load = Load::new(n - 1, point, pushed);
        aba(model, &q, &v, &zero, &[load], &mut work, &mut a).unwrap();
        for (v, a) in v.iter_mut().zip(&a) {
            *v += h * a;
        }
        advance(model, &v, h, &mut q).unwrap();
    }
    (impulse, v)
}

/// C2: pinned chains at 45°, μ = 0.5: K of the tree into the impact law, energy never rises, and the impulse is that of
/// a stiff spring contact within 2 %.
#[test]
fn ab_26_tip_impacts_with_friction_agree_with_a_stiff_spring() {
    for (n, spin) in [(1, 2.0), (2, 2.0), (3, -1.0)] {
        let model = Model::new(&rods(n), Vec3::ZERO).unwrap();
        let mut q = vec![0.0; n];
        q[0] = std::f64::consts::FRAC_PI_4;
        let mut v = vec![0.0; n];
        v[0] = 1.0;
        v[n - 1] += spin;
        let mut work = Work::new(&model);
        kinematics(&model, &q, &v, &mut work).unwrap();
        let tip = link_pose(&model, &work, n - 1).unwrap().point(Vec3::X);
        let mut u = point_velocity(&model, &work, n - 1, tip).unwrap();
        if u.z > 0.0 {
            v.iter_mut().for_each(|v| *v = -*v);
            u = -u;
        }
        tippe::articulated::articulate(&model, &q, &mut work).unwrap();
        let K = collision_matrix(&model, &Touch::one(n - 1, tip), &mut work).unwrap();
        let surface = Surface::new(0.5, 0.5);
        let law = tippe::dynamics::impact::impact(K, Vec3::Z, u, &surface).unwrap();
        assert!(law.energy_change <= 0.0);
        let (stiff, _) = stiff_impact(&model, &q, &v, 0.5, 0.5);
        let off = (law.impulse - stiff).length() / law.impulse.length();
        println!(
            "{n} rods, u = {u}: law {}, spring {stiff}, {:.3} %, {:?}",
            law.impulse,
            100.0 * off,
            law.slip
        );
        assert!(off < 0.02, "{n} rods: {off}");
    }
}

/// One stack of ten cubes by sweeps alone and by the direct solve: penetration, drift and work, printed and bounded.
#[test]
fn ab_39_penetration_drift_and_work_of_both_ways() {
    let run = |direct: bool| {
        let params = SequentialParams {
            effort: if direct { 1.0 } else { 0.0 },
            ..SequentialParams::default()
        };
        let mut world = over_ground(Method::Sequential(params), G, Surface::new(0.5, 0.0));
        let half = Vec3::splat(0.1);
        let cubes: Vec<(BodyId, Vec3)> = (0..10)
            .map(|i| {
                let place = Vec3::Z * (0.1 + 0.2 * f64::from(i));
                let cube = BodyDesc::dynamic(Shape::Cuboid { half }, place);
                (world.add_body(&cube).unwrap(), place)
            })
            .collect();
        let (mut depth, mut rows, mut newton) = (0.0_f64, 0, 0);
        for _ in 0..60 {
            let report = world.step(1.0 / 60.0).unwrap();
            depth = depth.max(report.penetration).max(report.penetration_found);
            rows += report.work.rows_swept;
            newton += report.work.newton_steps;
        }
        let drift = cubes
            .iter()
            .map(|(id, place)| (world.pose(*id).unwrap().position - *place).length())
            .fold(0.0, f64::max);
        println!(
            "direct {direct}: depth {depth:e} m, drift {drift:e} m, {rows} rows swept, {newton} Newton steps"
        );
        (depth, drift, rows, newton)
    };
    let (sweeps, direct) = (run(false), run(true));
    assert!(sweeps.3 == 0 && direct.3 > 0);
    // Local and cheap a step, against global and exact.
    assert!(direct.0 < 1e-8 && direct.1 < 1e-8, "{direct:?}");
    assert!(sweeps.0 > 10.0 * direct.0 && sweeps.0 < 1e-2, "{sweeps:?}");
    assert!(sweeps.1 > 10.0 * direct.1 && sweeps.1 < 1e-2, "{sweeps:?}");
}
