//! Motions with a closed form that probes once found wrong: each is held against its formula, by the two-stage methods, at several steps.

mod support;

use support::{G, add, floor, solid, state};
use tippe::math::rotation;
use tippe::{BodyId, IterativeParams, Method, Pose, SequentialParams, Shape, Surface, Vec3, World};

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
