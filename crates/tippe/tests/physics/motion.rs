//! Free motion: parabolas, tops, rotations and drag against their closed forms.

use crate::geometry_support;
use crate::support;

use geometry_support::Random;
use std::f64::consts::PI;
use support::{
    G, add, alone, below, cuboid, floor, near, near_vec, run, solid, sphere, state, world,
};
use tippe::dynamics::{energy, impulse, integrate};
use tippe::math::{rotation, skew};
use tippe::{BodyDesc, BodyState, Drag, MassSpec, Mat3, Pose, Quat, Surface, Vec3};

/// A body without shape, spinning freely.
fn top(inertia: Mat3, angular_velocity: Vec3) -> BodyDesc {
    BodyDesc {
        mass: MassSpec::Explicit {
            mass: 2.0,
            center: Vec3::ZERO,
            inertia,
        },
        angular_velocity,
        ..BodyDesc::default()
    }
}

fn entries(m: Mat3) -> impl Iterator<Item = f64> {
    m.to_cols_array().into_iter()
}

fn largest(m: Mat3) -> f64 {
    entries(m).fold(0.0, |s, x| s.max(x.abs()))
}

#[test]
fn bs_01_fixed_floor_never_moves_and_answers_nothing() {
    let mut world = world(G, Surface::new(0.5, 0.3));
    let mut random = Random(1);
    let plane = add(&mut world, &floor());
    let slab = add(
        &mut world,
        &BodyDesc {
            pose: Pose::new(Vec3::new(0.3, -0.2, 0.7), random.rotation()),
            ..BodyDesc::fixed(cuboid(1.0, 0.7, 0.1), Vec3::ZERO)
        },
    );
    for i in 0..8 {
        let shape = random.shape(i % 3);
        let pose = Pose::new(Vec3::new(0.0, 0.0, 2.5 + 2.0 * i as f64), random.rotation());
        add(
            &mut world,
            &BodyDesc {
                pose,
                velocity: Vec3::Z * -3.0,
                ..BodyDesc::dynamic(shape, Vec3::ZERO)
            },
        );
    }
    let before = [state(&world, plane), state(&world, slab)];
    let mut touched = 0;
    for _ in 0..200 {
        touched += run(&mut world, 0.01, 1).contacts;
        assert_eq!([state(&world, plane), state(&world, slab)], before);
    }
    assert!(touched > 0, "nothing ever touched the fixed bodies");
    let bits = |s: &BodyState| s.position.to_array().map(f64::to_bits);
    assert_eq!(bits(&state(&world, slab)), bits(&before[1]));

    // K of a fixed body is zero.
    let (body, s) = alone(&floor());
    let k = impulse::contact_response((&body, &s), (&body, &s), Vec3::ONE);
    assert_eq!(k, Mat3::ZERO);
}

#[test]
fn bs_01_free_box_near_its_unstable_axis_keeps_momentum_and_energy() {
    let mut world = world(0.0, Surface::default());
    let inertia = Mat3::from_diagonal(Vec3::new(1.0, 2.0, 3.0));
    let id = add(&mut world, &top(inertia, Vec3::new(0.1, 5.0, 0.1)));
    let body = world.body(id).unwrap().clone();
    let (l, e) = (
        energy::spin_momentum(&body, &state(&world, id)).length(),
        energy::kinetic(&body, &state(&world, id)),
    );
    let mut turned: f64 = 0.0;
    for _ in 0..10_000 {
        run(&mut world, 1e-3, 1);
        let s = state(&world, id);
        let drift = energy::spin_momentum(&body, &s).length() / l - 1.0;
        below("‖L‖", drift.abs(), 1e-4);
        below("E", (energy::kinetic(&body, &s) / e - 1.0).abs(), 1e-4);
        below("‖q‖ − 1", (s.rotation.length() - 1.0).abs(), 1e-12);
        turned = turned.max((s.rotation * Vec3::Y - Vec3::Y).length());
    }
    // It really tumbles: the middle axis turns over.
    assert!(turned > 1.5, "the box only wobbled by {turned}");
}

#[test]
fn cl_24_asymmetric_top_keeps_both_momenta() {
    let mut random = Random(3);
    for case in 0..3 {
        let axes = Mat3::from_quat(random.rotation());
        let inertia = axes * Mat3::from_diagonal(Vec3::new(1.0, 1.7, 2.3)) * axes.transpose();
        let mut world = world(0.0, Surface::default());
        let id = add(
            &mut world,
            &BodyDesc {
                pose: Pose::new(random.vector(1.0), random.rotation()),
                velocity: random.vector(2.0),
                ..top(inertia, random.vector(5.0))
            },
        );
        let body = world.body(id).unwrap().clone();
        let s = state(&world, id);
        let (p, e) = (s.velocity * body.mass, energy::kinetic(&body, &s));
        let l = energy::spin_momentum(&body, &s);
        for _ in 0..5_000 {
            let report = run(&mut world, 2e-3, 1);
            let s = state(&world, id);
            let what = format!("case {case}, t = {:.3}", report.time);
            near_vec(&what, report.momentum, p, 1e-12 * p.length());
            let spin = energy::spin_momentum(&body, &s);
            near_vec(&what, spin, l, 1e-12 * l.length());
            let whole = s.position.cross(p) + spin;
            near_vec(
                &what,
                report.angular_momentum,
                whole,
                1e-12 * whole.length(),
            );
            below(&what, (report.energy.kinetic / e - 1.0).abs(), 1e-4);
        }
        // The inertia turned along: I⁻¹ = R I₀⁻¹ Rᵀ.
        let (b, s) = (world.body(id).unwrap(), state(&world, id));
        let r = Mat3::from_quat(s.rotation);
        let turned = r * inertia.inverse() * r.transpose();
        below(
            "I⁻¹",
            largest(impulse::inverse_inertia(b, &s) - turned),
            1e-12,
        );
        // ω̇ = I⁻¹ (L × ω), by central differences of the free motion.
        let h = 1e-4;
        let [w0, w1] = [-h, h].map(|h| integrate::fly(b, &s, Vec3::ZERO, h).angular_velocity);
        let wanted = turned * energy::spin_momentum(b, &s).cross(s.angular_velocity);
        near_vec("ω̇", (w1 - w0) / (2.0 * h), wanted, 1e-5);
    }
}

#[test]
fn mc_02_thrown_box_flies_the_exact_parabola_and_keeps_its_spin() {
    let mut world = world(G, Surface::default());
    let start = Vec3::new(0.3, -0.7, 1.1);
    let thrown = BodyDesc {
        velocity: Vec3::new(3.0, -1.0, 40.0),
        angular_velocity: Vec3::new(2.0, 5.0, -3.0),
        ..BodyDesc::dynamic(cuboid(0.1, 0.2, 0.3), start)
    };
    let id = add(&mut world, &thrown);
    let body = world.body(id).unwrap().clone();
    let s = state(&world, id);
    let l = energy::spin_momentum(&body, &s);
    let spin_energy =
        |s: &BodyState| energy::kinetic(&body, s) - 0.5 * body.mass * s.velocity.length_squared();
    let e = spin_energy(&s);
    let mut reach: f64 = 1.0;
    for k in 1..=1000 {
        let report = run(&mut world, 0.01, 1);
        let t = 0.01 * f64::from(k);
        let s = state(&world, id);
        let x = start + thrown.velocity * t - Vec3::Z * (0.5 * G * t * t);
        reach = reach.max((x - start).length());
        near_vec("parabola", s.position, x, 1e-12 * reach);
        let p = (thrown.velocity - Vec3::Z * (G * t)) * body.mass;
        near_vec(
            "momentum",
            report.momentum,
            p,
            1e-12 * report.momentum.length(),
        );
        near_vec("L", energy::spin_momentum(&body, &s), l, 1e-12 * l.length());
        near("spin energy", spin_energy(&s) / e, 1.0, 1e-8);
    }
}

#[test]
fn mc_02_box_without_gravity_keeps_everything() {
    let mut world = world(0.0, Surface::default());
    let start = Vec3::new(0.5, -0.5, 0.25);
    let v = Vec3::new(0.5, -0.3, 0.2);
    let id = add(
        &mut world,
        &BodyDesc {
            velocity: v,
            angular_velocity: Vec3::new(-1.0, 4.0, 2.0),
            ..BodyDesc::dynamic(cuboid(0.3, 0.1, 0.2), start)
        },
    );
    let first = run(&mut world, 1.0 / 64.0, 1);
    for k in 2..=640 {
        let report = run(&mut world, 1.0 / 64.0, 1);
        assert_eq!(report.momentum, first.momentum);
        let l = first.angular_momentum;
        near_vec("L", report.angular_momentum, l, 1e-12 * l.length());
        near("E", report.energy.kinetic / first.energy.kinetic, 1.0, 1e-8);
        let x = start + v * (f64::from(k) / 64.0);
        near_vec("line", state(&world, id).position, x, 1e-12);
    }
}

#[test]
fn sr_02_a_million_rotation_updates_stay_orthogonal() {
    let (body, mut s) = alone(&solid(sphere(1.0), 1.0, Vec3::ZERO));
    let mut random = Random(5);
    let mut worst: f64 = 0.0;
    for k in 0..1_000_000 {
        if k % 1000 == 0 {
            s.angular_velocity = random.vector(20.0);
        }
        s = integrate::fly(&body, &s, Vec3::ZERO, 0.01);
        if k % 1000 == 999 {
            let r = Mat3::from_quat(s.rotation);
            worst = worst.max(largest(r.transpose() * r - Mat3::IDENTITY));
        }
    }
    below("‖RᵀR − 1‖", worst, 1e-12);
}

#[test]
fn sr_02_exponential_equals_rodrigues() {
    let mut random = Random(6);
    let mut worst: f64 = 0.0;
    for k in 0..10_000 {
        // Angles from 1e-9 to half a turn.
        let size = PI * libm::pow(10.0, -f64::from(k % 10));
        let axis = random.rotation() * Vec3::X;
        let phi = axis * (size * random.unit());
        worst = worst.max(largest(
            Mat3::from_quat(rotation::exp(phi)) - rodrigues(phi),
        ));
    }
    below("Q", worst, 1e-15);
    assert_eq!(rotation::exp(Vec3::ZERO), Quat::IDENTITY);
}

/// `Q = 1 + sinφ [n]ₓ + (1 − cosφ) [n]ₓ²`, with 1 − cosφ = 2 sin²(φ/2).
fn rodrigues(phi: Vec3) -> Mat3 {
    let angle = phi.length();
    if angle == 0.0 {
        return Mat3::IDENTITY;
    }
    let n = skew(phi / angle);
    let half = libm::sin(0.5 * angle);
    Mat3::IDENTITY + n * libm::sin(angle) + n * n * (2.0 * half * half)
}

/// Steel [kg/m³] and the medium of the Stokes experiment.
const STEEL: f64 = 7800.0;
const ETA: f64 = 1.0;
const MEDIUM: f64 = 1260.0;

fn steel_ball(gravity_scale: f64) -> BodyDesc {
    BodyDesc {
        mass: MassSpec::Density(STEEL),
        drag: Some(Drag::Stokes {
            radius: 0.002,
            viscosity: ETA,
        }),
        gravity_scale,
        ..BodyDesc::dynamic(sphere(0.002), Vec3::ZERO)
    }
}

#[test]
fn cl_09_stokes_terminal_speed_time_constant_and_buoyancy() {
    let mut world = world(G, Surface::default());
    let dry = add(&mut world, &steel_ball(1.0));
    let wet = add(
        &mut world,
        &BodyDesc {
            pose: Pose::from_position(Vec3::X),
            ..steel_ball(1.0 - MEDIUM / STEEL)
        },
    );
    let mass = world.body(dry).unwrap().mass;
    let tau = mass / (6.0 * PI * ETA * 0.002);
    near("τ", tau, 6.93e-3, 5e-6);
    // Rises as v_t (1 − e^(−t/τ)).
    let dt = tau / 100.0;
    run(&mut world, dt, 100);
    let v_t = G * tau;
    let after = v_t * (1.0 - libm::exp(-1.0));
    near("v(τ)", -state(&world, dry).velocity.z, after, 1e-4 * v_t);
    run(&mut world, dt, 2900);
    let [v_dry, v_wet] = [dry, wet].map(|id| -state(&world, id).velocity.z);
    near("v_t", v_dry, 0.0680, 5e-5);
    near("v_t with buoyancy", v_wet, 0.0570, 5e-5);
    near("v_t against closed form", v_dry / v_t, 1.0, 1e-5);
    near("Re", 2.0 * MEDIUM * 0.002 * v_dry / ETA, 0.34, 5e-3);
    let e = world.ledger();
    near("ledger", e.unexplained / e.gravity, 0.0, 1e-9);
}

#[test]
fn cl_09_quadratic_drag_speed_and_distance() {
    let r: f64 = 0.05;
    let mut world = world(G, Surface::default());
    let id = add(
        &mut world,
        &BodyDesc {
            drag: Some(Drag::Quadratic {
                coefficient: 0.47,
                area: PI * r * r,
                density: 1.2,
            }),
            ..solid(sphere(r), 0.1, Vec3::ZERO)
        },
    );
    let v_t = (2.0 * 0.1 * G / (0.47 * PI * r * r * 1.2)).sqrt();
    near("v_t", v_t, 21.046, 5e-4);
    run(&mut world, 1e-3, 2000);
    let s = state(&world, id);
    near("v(2 s)", -s.velocity.z, 15.398, 5e-4);
    near("fallen", -s.position.z, 17.301, 5e-4);
    let x = G * 2.0 / v_t;
    let (v, d) = (
        v_t * libm::tanh(x),
        v_t * v_t / G * libm::log(libm::cosh(x)),
    );
    near("v closed form", -s.velocity.z, v, 1e-5);
    near("distance closed form", -s.position.z, d, 1e-5);
    run(&mut world, 1e-2, 2000);
    near("terminal", -state(&world, id).velocity.z, v_t, 1e-3);
}

#[test]
fn cl_09_no_step_length_reverses_a_velocity() {
    let laws = [
        Drag::Stokes {
            radius: 0.05,
            viscosity: 10.0,
        },
        Drag::Quadratic {
            coefficient: 1.0,
            area: 1.0,
            density: 1000.0,
        },
        Drag::Automatic {
            radius: 0.05,
            coefficient: 0.47,
            viscosity: 1.0,
            density: 1000.0,
        },
    ];
    let v = Vec3::new(3.0, -4.0, 12.0);
    let w = Vec3::new(1.0, 2.0, -2.0);
    for drag in laws {
        for dt in [1e-3, 0.1, 1.0, 10.0, 1e4] {
            let mut world = world(0.0, Surface::default());
            let id = add(
                &mut world,
                &BodyDesc {
                    velocity: v,
                    angular_velocity: w,
                    drag: Some(drag),
                    ..solid(sphere(0.05), 0.01, Vec3::ZERO)
                },
            );
            for _ in 0..3 {
                let before = state(&world, id);
                let report = run(&mut world, dt, 1);
                let s = state(&world, id);
                let what = format!("{drag:?}, dt = {dt}");
                assert!(
                    s.velocity.dot(v) >= 0.0,
                    "{what}: reversed to {}",
                    s.velocity
                );
                assert!(s.velocity.length() <= before.velocity.length(), "{what}");
                assert!(s.angular_velocity.dot(w) >= 0.0, "{what}");
                assert!(report.energy.drag >= 0.0, "{what}");
                near(&what, report.energy.unexplained, 0.0, 1e-12);
            }
        }
    }
}

#[test]
fn cl_09_automatic_drag_goes_by_the_reynolds_number() {
    let (radius, coefficient, viscosity, density) = (0.01, 0.47, 1.0, 1000.0);
    let automatic = Drag::Automatic {
        radius,
        coefficient,
        viscosity,
        density,
    };
    let stokes = Drag::Stokes { radius, viscosity };
    let quadratic = Drag::Quadratic {
        coefficient,
        area: PI * radius * radius,
        density,
    };
    let after = |drag: Drag, speed: f64| {
        let mut world = world(0.0, Surface::default());
        let id = add(
            &mut world,
            &BodyDesc {
                velocity: Vec3::X * speed,
                drag: Some(drag),
                ..solid(sphere(radius), 1.0, Vec3::ZERO)
            },
        );
        run(&mut world, 1e-3, 1);
        state(&world, id).velocity.x
    };
    // Re = 2ρrv/η = 20 v: laminar below 0.05 m/s, turbulent above 50 m/s, both between.
    near("laminar", after(automatic, 0.04), after(stokes, 0.04), 0.0);
    near(
        "turbulent",
        after(automatic, 60.0),
        after(quadratic, 60.0),
        0.0,
    );
    let loss = |drag| 1.0 - after(drag, 1.0);
    near(
        "between",
        loss(automatic),
        loss(stokes) + loss(quadratic),
        1e-7,
    );
}
