//! Motions with a closed form that probes once found wrong: each is held against its formula, by the two-stage methods, at several steps.

use crate::support;

use std::f64::consts::{FRAC_PI_2, PI};
use support::{G, add, cuboid, floor, solid, state};
use tippe::math::rotation;
use tippe::{
    BodyDesc, BodyId, Drag, IterativeParams, Method, Pose, SequentialParams, Shape, Surface, Vec3,
    World,
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

/// A ball in a viscous medium follows `v̇ = −g − k v` to rounding, at any `k h` (half of g h² a step went undamped where drag is stiff);
/// one that rests on a floor there presses with its weight, and the ledger closes.
#[test]
fn cl_09_stiff_stokes_drag_is_exact() {
    const RADIUS: f64 = 0.01;
    const MASS: f64 = 0.01;
    const PUSHED: f64 = 3.0;
    for (name, method) in methods() {
        for h in STEPS {
            for k in [1.0, 100.0, 1e5] {
                let mut w = world(&method, Surface::new(0.5, 0.0));
                let medium = Drag::Stokes {
                    radius: RADIUS,
                    viscosity: k * MASS / (6.0 * PI * RADIUS),
                };
                let mut desc = solid(Shape::Sphere { radius: RADIUS }, MASS, Vec3::Z * 10.0);
                desc.drag = Some(medium);
                desc.velocity = Vec3::X * PUSHED;
                let falls = add(&mut w, &desc);
                add(&mut w, &floor());
                desc.velocity = Vec3::ZERO;
                desc.pose = Pose::from_position(Vec3::new(5.0, 0.0, RADIUS));
                let rests = add(&mut w, &desc);
                for i in 1..=60 {
                    w.step(h).expect("a step");
                    let t = f64::from(i) * h;
                    let decay = libm::exp(-k * t);
                    let moved = (1.0 - decay) / k;
                    let s = state(&w, falls);
                    let position = Vec3::new(PUSHED * moved, 0.0, 10.0 - G / k * (t - moved));
                    let velocity = Vec3::new(PUSHED * decay, 0.0, -G * moved);
                    let off = (s.position - position).length() + (s.velocity - velocity).length();
                    assert!(off < 1e-12, "{name}, h {h}, k {k}, t {t}: {off:e} off");
                    let pressed: f64 = w
                        .contacts_of(rests)
                        .expect("a body")
                        .map(|c| c.normal_impulse / c.dt)
                        .sum();
                    let off = pressed / (MASS * G) - 1.0;
                    assert!(
                        off.abs() < 1e-9,
                        "{name}, h {h}, k {k}: weight off by {off:e}"
                    );
                }
                let ledger = w.ledger();
                let open = ledger.unexplained / (0.5 * MASS * PUSHED * PUSHED);
                let lent = ledger.restitution.abs() / ledger.drag;
                assert!(
                    open.abs() < 1e-11 && ledger.gained == 0.0 && lent < 1e-9,
                    "{name}, h {h}, k {k}: {ledger:?}"
                );
            }
        }
    }
}

/// A needle, 1 m long and 1 mm thick, that slaps down on a floor stays above it (its far end was driven 8 cm under it at 1/60 s) and ends
/// flat on it.
#[test]
fn needle_slaps_down_and_stays_above_the_floor() {
    const RADIUS: f64 = 5e-4;
    const HALF: f64 = 0.5;
    let shapes = [
        Shape::Capsule {
            radius: RADIUS,
            half_length: HALF,
        },
        Shape::Cylinder {
            radius: RADIUS,
            half_length: HALF,
        },
        cuboid(RADIUS, RADIUS, HALF),
    ];
    for (name, method) in methods() {
        for (shape, leaning) in shapes.iter().flat_map(|s| [0.3, 1.0, 1.5].map(|t| (s, t))) {
            let h = 1.0 / 60.0;
            let mut w = world(&method, Surface::new(0.5, 0.0));
            add(&mut w, &floor());
            let mut desc = solid(shape.clone(), 0.01, Vec3::ZERO);
            desc.pose = Pose::new(Vec3::Z, rotation::exp(Vec3::Y * leaning));
            let id = add(&mut w, &desc);
            let mut deepest: f64 = 0.0;
            for _ in 0..steps(2.0, h) {
                let report = w.step(h).expect("a step");
                deepest = deepest
                    .max(report.penetration)
                    .max(report.penetration_found);
            }
            let height = state(&w, id).position.z;
            assert!(
                deepest < RADIUS && height < 2.0 * RADIUS,
                "{name}, {shape:?} at {leaning}: {deepest:e} m deep, ends at {height:e} m"
            );
        }
    }
}

/// A block that is pulled below its static friction stays, and slides from the very step on in which the pull exceeds it, with the
/// kinetic coefficient; also where the pull tips it as well (a torque's half kick was taken for slip).
#[test]
fn slip_starts_when_static_friction_is_exceeded() {
    let surface = Surface {
        friction_kinetic: 0.3,
        ..Surface::new(0.5, 0.0)
    };
    for (name, method) in methods() {
        for (h, low) in [
            (1e-3, 0.0),
            (1e-3, 0.05),
            (5e-3, 0.0),
            (5e-3, 0.05),
            (1.0 / 60.0, 0.0),
        ] {
            let mut w = world(&method, surface);
            add(&mut w, &floor());
            let block = solid(cuboid(0.1, 0.1, 0.05), 1.0, Vec3::Z * 0.05);
            let id = add(&mut w, &block);
            for n in 1..=40_u32 {
                let pull = if n > 20 { 0.505 } else { 0.4 };
                let s = state(&w, id).position;
                w.apply_force(id, Vec3::X * pull * G, s - Vec3::Z * low)
                    .expect("a body");
                w.step(h).expect("a step");
                let wanted = 0.205 * G * h * f64::from(n.saturating_sub(20));
                let off = state(&w, id).velocity.x - wanted;
                assert!(
                    off.abs() < 1e-6 * G * h,
                    "{name}, h {h}, {low} m low, step {n}: {off:e} m/s off"
                );
            }
        }
    }
}
