//! Motions with a closed form that probes once found wrong: each is held against its formula, by the two-stage methods, at several steps.

use crate::support;

use std::f64::consts::FRAC_PI_2;
use support::{G, add, cuboid, floor, solid, state};
use tippe::math::rotation;
use tippe::{
    BodyDesc, BodyId, IterativeParams, Method, Pose, SequentialParams, Shape, Surface, Vec3, World,
};

const STEPS: [f64; 3] = [1e-3, 5e-3, 1.0 / 60.0];

fn methods() -> [(&'static str, Method); 2] {
    [
        (
            "sequential",
            Method::Sequential(SequentialParams::default()),
        ),
        ("iterative", Method::Iterative(IterativeParams::default())),
    ]
}

fn world(method: &Method, surface: Surface) -> World {
    let mut w = World::new(method.clone()).expect("good parameters");
    w.set_default_surface(surface).expect("good surface");
    w
}

/// Kinetic and potential energy of the world [J].
fn energy(w: &World) -> f64 {
    let (kinetic, potential) = w.energy();
    kinetic + potential
}

/// Turn of the body's z axis away from the world's [rad].
fn tilt(w: &World, id: BodyId) -> f64 {
    let z = state(w, id).rotation * Vec3::Z;
    libm::atan2(libm::hypot(z.x, z.y), z.z)
}

/// How many steps make up a time.
fn steps(time: f64, h: f64) -> usize {
    (time / h).round() as usize
}

/// A column on its edge, 1e-8 rad off balance, falls as θ₀ cosh(p t), p² = 3 g / 4 R, with the rest rule and without. What follows the
/// growth by steps of h is off by p t (p h)²/24.
#[test]
fn column_off_balance_falls() {
    let half = Vec3::new(0.1, 0.1, 0.5);
    let (alpha, r) = (libm::atan(half.x / half.z), libm::hypot(half.x, half.z));
    let p = libm::sqrt(3.0 * G / (4.0 * r));
    let off = 1e-8;
    let bare = SequentialParams {
        rest_tolerance: Some(0.0),
        ..SequentialParams::default()
    };
    let bare = ("sequential without rest", Method::Sequential(bare));
    for (name, method) in methods().into_iter().chain([bare]) {
        for h in STEPS {
            let mut w = world(&method, Surface::new(1.0, 0.0));
            add(&mut w, &floor());
            let turn = rotation::exp(Vec3::Y * (alpha + off));
            let mut desc = solid(Shape::Cuboid { half }, 1.0, Vec3::ZERO);
            desc.pose = Pose::new(turn * Vec3::new(-half.x, 0.0, half.z), turn);
            let id = add(&mut w, &desc);
            let n = steps(3.0, h);
            for _ in 0..n {
                w.step(h).expect("a step");
            }
            let t = h * n as f64;
            let error = (tilt(&w, id) - alpha) / (off * libm::cosh(p * t)) - 1.0;
            let allowed = 1e-4 + p * t * (p * h) * (p * h) / 12.0;
            assert!(
                error.abs() <= allowed,
                "{name}, h {h}: {error:e} off, {allowed:e} allowed"
            );
        }
    }
}

/// A capsule that tips over the edge of a table keeps its energy, with friction and without: nothing hits anything, and the contact
/// passes from the face to the edge without a jump. Errors are of second order: (ω h)² with ω² = 6/s² at the end.
#[test]
fn capsule_tips_over_an_edge_and_keeps_its_energy() {
    for (name, method) in methods() {
        for h in STEPS {
            for (friction, beyond) in [(0.0, 0.02), (0.0, 0.1), (1.0, 0.02), (1.0, 0.1)] {
                let mut w = world(&method, Surface::new(friction, 0.0));
                let table = BodyDesc::fixed(cuboid(1.0, 1.0, 0.5), Vec3::new(-1.0, 0.0, -0.5));
                add(&mut w, &table);
                let shape = Shape::Capsule {
                    radius: 0.1,
                    half_length: 0.5,
                };
                let mut desc = solid(shape, 1.0, Vec3::ZERO);
                let lying = rotation::exp(Vec3::Y * FRAC_PI_2);
                desc.pose = Pose::new(Vec3::new(beyond, 0.0, 0.1), lying);
                let id = add(&mut w, &desc);
                let start = energy(&w);
                let mut worst: f64 = 0.0;
                for _ in 0..steps(2.0, h) {
                    w.step(h).expect("a step");
                    worst = worst.max((energy(&w) - start).abs());
                    if tilt(&w, id) > FRAC_PI_2 + 0.6 {
                        break;
                    }
                }
                let (kinetic, _) = w.energy();
                assert!(tilt(&w, id) > FRAC_PI_2 + 0.6, "{name}, h {h}: it stays");
                assert!(
                    worst <= 6.0 * h * h * kinetic,
                    "{name}, h {h}, friction {friction}: {worst:e} of {kinetic} J"
                );
            }
        }
    }
}
