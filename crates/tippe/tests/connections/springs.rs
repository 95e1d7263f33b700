//! Springs and dampers against closed forms: sag, frequency, decay, the ledger.

use crate::support;

use support::{G, add, below, cuboid, floor, near, solid, state};
use tippe::joint::{Freedom, JointDesc, JointKind, Spring};
use tippe::math::rotation;
use tippe::{BodyId, IterativeParams, Method, Pose, SequentialParams, Vec3, World};

fn methods() -> [(&'static str, Method); 2] {
    [
        (
            "sequential",
            Method::Sequential(SequentialParams::default()),
        ),
        ("iterative", Method::Iterative(IterativeParams::default())),
    ]
}

fn spring(stiffness: f64, damping: f64) -> Freedom {
    Freedom {
        spring: Some(Spring {
            rest: 0.0,
            stiffness,
            damping,
        }),
        ..Freedom::default()
    }
}

/// A rod of 1 m and 1 kg that a spring about its end holds level, against gravity.
fn arm(method: &Method, freedom: Freedom) -> (World, BodyId) {
    let mut w = World::new(method.clone()).expect("good parameters");
    let id = add(&mut w, &solid(cuboid(0.5, 0.02, 0.02), 1.0, Vec3::X * 0.5));
    // z of the joint along the world's y: a positive angle lowers the end.
    let turned = rotation::exp(Vec3::X * -std::f64::consts::FRAC_PI_2);
    let (a, b) = (
        Pose::new(Vec3::ZERO, turned),
        Pose::new(Vec3::X * -0.5, turned),
    );
    let mut desc = JointDesc::new(JointKind::Hinge, None, a, id, b);
    desc.rotation = freedom;
    w.add_joint(&desc).expect("a hinge");
    (w, id)
}

/// A mass of 1 kg on a slider along z.
fn hanging(method: &Method, gravity: f64, freedom: Freedom) -> (World, BodyId) {
    let mut w = World::new(method.clone()).expect("good parameters");
    w.set_gravity(Vec3::Z * -gravity).expect("gravity");
    let id = add(&mut w, &solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::ZERO));
    let here = Pose::from_position(Vec3::ZERO);
    let mut desc = JointDesc::new(JointKind::Slider, None, here, id, here);
    desc.translation = freedom;
    w.add_joint(&desc).expect("a slider");
    (w, id)
}

/// Angle by which the arm hangs below the level [rad].
fn sag(w: &World, id: BodyId) -> f64 {
    let x = state(w, id).rotation * Vec3::X;
    libm::atan2(-x.z, x.x)
}

/// 50 φ = ½ m g l cos φ: the arm comes to rest there with any damper, at any step.
#[test]
fn an_arm_on_a_damped_spring_sags_by_what_the_spring_says() {
    let mut wanted = 0.1;
    for _ in 0..50 {
        wanted = 0.5 * G * libm::cos(wanted) / 50.0;
    }
    near("closed form", wanted, 0.0976, 1e-4);
    for (name, method) in methods() {
        for damping in [2.0, 10.0, 100.0] {
            for h in [1e-3, 1e-2, 1.0 / 30.0] {
                let (mut w, id) = arm(&method, spring(50.0, damping));
                for _ in 0..(60.0_f64 / h) as usize {
                    w.step(h).expect("a step");
                }
                let what = format!("{name}, damping {damping}, h {h}");
                near(&what, sag(&w, id), wanted, 1e-6);
            }
        }
    }
}

/// k x = m g along a slider, with springs and dampers from soft to far too stiff for the step.
#[test]
fn a_mass_hangs_as_low_as_its_spring_says() {
    for (name, method) in methods() {
        for (stiffness, damping) in [
            (50.0, 10.0),
            (50.0, 100.0),
            (1e3, 1e3),
            (1e6, 10.0),
            (1e9, 1e6),
        ] {
            for h in [1e-3, 1e-2, 1.0 / 30.0] {
                let (mut w, id) = hanging(&method, G, spring(stiffness, damping));
                for _ in 0..(40.0_f64 / h) as usize {
                    w.step(h).expect("a step");
                }
                let what = format!("{name}, k {stiffness}, c {damping}, h {h}");
                let x = G / stiffness;
                near(&what, -state(&w, id).position.z, x, 1e-6 * x + 1e-12);
            }
        }
    }
}

/// x = e^(−δt) (cos ωt + (δ/ω) sin ωt), δ = c/2m: the error falls by four when the step is halved.
#[test]
fn a_damped_oscillator_converges_at_second_order() {
    let (stiffness, damping) = (40.0, 1.0);
    let delta: f64 = 0.5 * damping;
    let omega = libm::sqrt(stiffness - delta * delta);
    for (name, method) in methods() {
        let error = |n: usize| {
            let (mut w, id) = hanging(&method, 0.0, spring(stiffness, damping));
            w.set_pose(id, Pose::from_position(Vec3::Z * 0.1))
                .expect("a body");
            let (h, mut worst) = (2.0 / n as f64, 0.0_f64);
            for k in 1..=n {
                w.step(h).expect("a step");
                let t = h * k as f64;
                let (sin, cos) = libm::sincos(omega * t);
                let x = 0.1 * libm::exp(-delta * t) * (cos + delta / omega * sin);
                worst = worst.max((state(&w, id).position.z - x).abs());
            }
            worst
        };
        let errors = [200, 400, 800].map(error);
        for pair in errors.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!((3.8..4.2).contains(&ratio), "{name}: {errors:?}");
        }
        below(name, errors[0], 1e-3 * 0.1 * 20.0);
    }
}

/// 100 kg on a spring on a foot of 10 kg, in balance: nothing moves and nothing is booked.
#[test]
fn a_mass_at_rest_on_a_spring_books_nothing() {
    for (name, method) in methods() {
        for h in [1e-3, 1.0 / 240.0, 1.0 / 60.0] {
            let mut w = World::new(method.clone()).expect("good parameters");
            add(&mut w, &floor());
            let foot = add(&mut w, &solid(cuboid(0.2, 0.2, 0.05), 10.0, Vec3::Z * 0.05));
            let mass = add(
                &mut w,
                &solid(cuboid(0.15, 0.15, 0.15), 100.0, Vec3::Z * 0.5),
            );
            let at = |z: f64| Pose::from_position(Vec3::Z * z);
            let mut desc = JointDesc::new(JointKind::Slider, Some(foot), at(0.25), mass, at(-0.2));
            desc.translation.spring = Some(Spring {
                rest: 100.0 * G / 9810.0,
                stiffness: 9810.0,
                damping: 500.0,
            });
            w.add_joint(&desc).expect("a slider");
            for _ in 0..(5.0_f64 / h) as usize {
                w.step(h).expect("a step");
            }
            let e = w.ledger();
            let what = format!("{name}, h {h}: {e:?}");
            near(&what, state(&w, mass).position.z, 0.5, 1e-9);
            let booked = [
                e.motors,
                e.elastic_work,
                e.restitution,
                e.friction,
                e.joint_friction,
                e.numerical_damping,
                e.shock,
                e.gained,
                e.unexplained,
            ];
            for line in booked {
                below(&what, line.abs(), 1e-6);
            }
        }
    }
}

/// Elastic energy goes to and fro, the damper takes the rest: the account closes, and says how much.
#[test]
fn the_damper_takes_what_the_oscillator_loses() {
    for (name, method) in methods() {
        let (stiffness, damping, h) = (40.0, 1.0, 1e-3);
        let (mut w, id) = hanging(&method, 0.0, spring(stiffness, damping));
        w.set_pose(id, Pose::from_position(Vec3::Z * 0.1))
            .expect("a body");
        for _ in 0..3000 {
            w.step(h).expect("a step");
        }
        let (e, x) = (w.ledger(), state(&w, id).position.z);
        let elastic = 0.5 * stiffness * (0.01 - x * x);
        near(name, e.elastic_work, elastic, 1e-9 * elastic);
        near(name, e.elastic, 0.5 * stiffness * x * x, 1e-12);
        near(name, e.joint_friction, elastic - e.kinetic, 1e-4 * elastic);
        below(name, e.unexplained.abs() + e.gained, 1e-9);
        // A leapfrog keeps ½ m v² + ½ k x² (1 − (ω h)²/4), ω² = k/m.
        let swing = stiffness * h * h / 4.0;
        below(name, e.numerical_damping.abs(), swing * elastic);
    }
}

/// No stiffness, damping or step makes energy.
#[test]
fn springs_are_stable_at_any_gain() {
    for (name, method) in methods() {
        for stiffness in [0.0, 1.0, 1e3, 1e5, 1e7, 1e12] {
            for damping in [0.0, 1.0, 1e2, 1e4, 1e9] {
                for h in [1e-3, 1.0 / 30.0] {
                    let (mut w, id) = hanging(&method, 0.0, spring(stiffness, damping));
                    w.set_pose(id, Pose::from_position(Vec3::Z * 0.1))
                        .expect("a body");
                    w.set_velocity(id, Vec3::Z, Vec3::ZERO).expect("a body");
                    let start = 0.5 + 0.5 * stiffness * 0.01;
                    for _ in 0..300 {
                        w.step(h).expect("a step");
                        let s = state(&w, id);
                        let now = 0.5 * s.velocity.length_squared()
                            + 0.5 * stiffness * s.position.z * s.position.z;
                        // A resolved oscillator may borrow (ω h)²/8 of its energy.
                        let what = format!("{name}, k {stiffness}, c {damping}, h {h}");
                        below(&what, now, 1.4 * start + 1e-9);
                    }
                }
            }
        }
    }
}
