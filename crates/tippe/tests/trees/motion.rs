//! Trees in motion: integrators, conservation, free flight.

#![allow(clippy::unwrap_used)]

use crate::articulated_support;

use articulated_support::{Random, rods};
use tippe::articulated::{
    Integrator, Joint, JointFriction, LinkDesc, Model, Work, aba, kinematics, kinetic_energy,
    link_pose, momentum, potential_energy, step,
};
use tippe::math::{Mat3, Pose, Vec3};
use tippe::shape::mass::MassProperties;

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

fn energy(model: &Model, q: &[f64], v: &[f64], work: &mut Work) -> f64 {
    kinematics(model, q, v, work).unwrap();
    kinetic_energy(model, work).unwrap() + potential_energy(model, work).unwrap()
}

/// Rods of the double pendulum: absolute angles from hanging, so the first hinge starts at π/2.
fn double_pendulum() -> (Model, [f64; 2], [f64; 2]) {
    let model = Model::new(&rods(2), DOWN).unwrap();
    // Our hinge turns about +y from +x towards −z; an angle θ from hanging towards +x is q = π/2 − θ.
    let (t1, t2, w1, w2) = (0.7, -0.4, 1.2, -0.8);
    let q = [std::f64::consts::FRAC_PI_2 - t1, t1 - t2];
    (model, q, [-w1, w1 - w2])
}

#[test]
fn ab_09_double_pendulum_accelerates_as_lagrange_says() {
    let (model, q, v) = double_pendulum();
    let mut a = [0.0; 2];
    aba(
        &model,
        &q,
        &v,
        &[0.0; 2],
        &[],
        &mut Work::new(&model),
        &mut a,
    )
    .unwrap();
    assert!((-a[0] - -9.754_749).abs() < 1e-6, "{a:?}");
    assert!((-a[1] - 24.047_123).abs() < 1e-6, "{a:?}");
}

#[test]
fn ab_09_double_pendulum_keeps_its_energy() {
    let (model, mut q, mut v) = double_pendulum();
    let mut work = Work::new(&model);
    let start = energy(&model, &q, &v, &mut work);
    let seconds = if cfg!(debug_assertions) { 2 } else { 10 };
    for _ in 0..seconds * 1000 {
        step(
            &model,
            Integrator::HighOrder,
            1e-3,
            &[0.0; 2],
            &[],
            &mut q,
            &mut v,
            &mut work,
        )
        .unwrap();
    }
    let drift = energy(&model, &q, &v, &mut work) - start;
    assert!(drift.abs() < 1e-8, "{drift:e}");
}

/// Error of a run over `t` against one with steps twenty times as fine, in the velocities.
fn error_of(integrator: Integrator, h: f64, floating: bool) -> f64 {
    let mut random = Random(5);
    let mut links = Vec::new();
    for i in 0..4_usize {
        let joint = match i {
            0 if floating => Joint::Free,
            0 | 2 => Joint::Spherical,
            1 => Joint::Revolute {
                axis: random.direction(),
            },
            _ => Joint::Prismatic {
                axis: random.direction(),
            },
        };
        let placement = Pose::new(random.vec3() * 0.3, random.quat());
        links.push(LinkDesc::new(
            i.checked_sub(1),
            joint,
            placement,
            random.mass(),
        ));
    }
    let c = random.state(Model::new(&links, DOWN).unwrap());
    let run = |h: f64, integrator: Integrator| {
        let (mut q, mut v) = (c.q.clone(), c.v.clone());
        let mut work = Work::new(&c.model);
        let zero = vec![0.0; v.len()];
        for _ in 0..(0.1 / h).round() as usize {
            step(
                &c.model,
                integrator,
                h,
                &zero,
                &[],
                &mut q,
                &mut v,
                &mut work,
            )
            .unwrap();
        }
        q.extend(v);
        q
    };
    let exact = run(1e-4, Integrator::HighOrder);
    let found = run(h, integrator);
    found
        .iter()
        .zip(&exact)
        .fold(0.0_f64, |s, (a, b)| s.max((a - b).abs()))
}

#[test]
fn ab_11_both_integrators_have_their_order_with_balls_and_free_links() {
    for floating in [false, true] {
        let e = [4e-3, 2e-3].map(|h| error_of(Integrator::HighOrder, h, floating));
        let order = (e[0] / e[1]).log2();
        assert!(order > 3.7 && e[1] < 1e-6, "{order} {e:?}");
        let e = [1e-3, 5e-4].map(|h| error_of(Integrator::OneEvaluation, h, floating));
        let order = (e[0] / e[1]).log2();
        assert!(order > 0.9 && e[1] < 2e-2, "{order} {e:?}");
    }
}

#[test]
fn ab_11_a_floating_tree_keeps_its_momentum() {
    let mut random = Random(9);
    let c = loop {
        let c = random.tree(8);
        if matches!(c.model.links()[0].joint, Joint::Free) {
            break c;
        }
    };
    let links = c.model.links().to_vec();
    let model = Model::new(&links, Vec3::ZERO).unwrap();
    let (mut q, mut v) = (c.q, c.v);
    let mut work = Work::new(&model);
    let zero = vec![0.0; v.len()];
    kinematics(&model, &q, &v, &mut work).unwrap();
    let start = momentum(&model, &work).unwrap();
    for _ in 0..200 {
        step(
            &model,
            Integrator::HighOrder,
            5e-4,
            &zero,
            &[],
            &mut q,
            &mut v,
            &mut work,
        )
        .unwrap();
    }
    kinematics(&model, &q, &v, &mut work).unwrap();
    let end = momentum(&model, &work).unwrap();
    let size = start.force.length() + start.torque.length();
    assert!((end.force - start.force).length() < 1e-7 * size);
    assert!((end.torque - start.torque).length() < 1e-7 * size);
}

#[test]
fn ab_11_a_free_ball_flies_along_its_parabola_with_one_evaluation() {
    let mass = MassProperties {
        mass: 2.0,
        center: Vec3::ZERO,
        inertia: Mat3::IDENTITY * 0.1,
    };
    let link = LinkDesc::new(None, Joint::Free, Pose::IDENTITY, mass);
    let model = Model::new(&[link], DOWN).unwrap();
    let mut work = Work::new(&model);
    let mut q = model.neutral();
    let mut v = [3.0, -20.0, 7.0, 1.0, 2.0, 5.0];
    for _ in 0..100 {
        step(
            &model,
            Integrator::OneEvaluation,
            0.01,
            &[0.0; 6],
            &[],
            &mut q,
            &mut v,
            &mut work,
        )
        .unwrap();
    }
    kinematics(&model, &q, &v, &mut work).unwrap();
    let found = link_pose(&model, &work, 0).unwrap().origin;
    let wanted = Vec3::new(1.0, 2.0, 5.0) + DOWN * 0.5;
    assert!((found - wanted).length() < 1e-12, "{found}");
}

#[test]
fn ab_27_viscous_friction_is_stable_whatever_its_size() {
    // A rod in syrup: with b → ∞ the one-evaluation step creeps with τ/b, it does not ring.
    let mut links = rods(3);
    for l in &mut links {
        l.friction = JointFriction {
            viscous: 1e6,
            coulomb: 0.0,
        };
    }
    let model = Model::new(&links, DOWN).unwrap();
    let mut work = Work::new(&model);
    let (mut q, mut v) = ([0.0; 3], [0.0; 3]);
    for _ in 0..50 {
        step(
            &model,
            Integrator::OneEvaluation,
            0.01,
            &[0.0; 3],
            &[],
            &mut q,
            &mut v,
            &mut work,
        )
        .unwrap();
    }
    // Torques of gravity on three horizontal rods: 3·1.5, 2·1, 1·0.5 times g.
    for (rate, torque) in v.into_iter().zip([4.5, 2.0, 0.5]) {
        let wanted = torque * 9.81 / 1e6;
        assert!((rate - wanted).abs() < 1e-3 * wanted, "{rate} {wanted}");
    }
}
