//! Every algorithm of articulated bodies against another one, on random trees of all joints.

#![allow(clippy::unwrap_used)]

use crate::articulated_support;

use articulated_support::{Case, Random, relative, rods};
use tippe::articulated::{
    Load, Model, Touch, Work, aba, articulate, collision_matrix, coupling, crba, factor,
    impulse_response, jacobian, joint_response, kinematics, kinetic_energy, link_pose,
    link_velocity, momentum, point_velocity, rnea, solve,
};
use tippe::math::{Mat3, Vec3};

/// Trees of 1 to 24 links.
fn each_tree(mut check: impl FnMut(&Case, &mut Random)) {
    let count = if cfg!(debug_assertions) { 100 } else { 1000 };
    let mut random = Random(7);
    for i in 0..count {
        let c = random.tree(1 + i % 24);
        if c.model.freedom_count() > 0 {
            check(&c, &mut random);
        }
    }
}

/// How far rounding may go: the condition number of M, bounded by the ratio of the extreme entries of its factor, squared.
fn condition(c: &Case) -> f64 {
    let n = c.model.freedom_count();
    let mut m = vec![0.0; n * n];
    crba(&c.model, &c.q, &mut Work::new(&c.model), &mut m).unwrap();
    factor(&c.model, &mut m).unwrap();
    let d: Vec<f64> = (0..n).map(|i| m[i * n + i] * m[i * n + i]).collect();
    d.iter().fold(0.0_f64, |s, x| s.max(*x)) / d.iter().fold(f64::INFINITY, |s, x| s.min(*x))
}

#[test]
fn ab_09_accelerations_equal_the_solve_with_the_inertia_matrix() {
    each_tree(|c, _| {
        let n = c.model.freedom_count();
        let mut work = Work::new(&c.model);
        let (mut a, mut bias) = (vec![0.0; n], vec![0.0; n]);
        aba(&c.model, &c.q, &c.v, &c.tau, &[], &mut work, &mut a).unwrap();
        rnea(
            &c.model,
            &c.q,
            &c.v,
            &vec![0.0; n],
            &[],
            &mut work,
            &mut bias,
        )
        .unwrap();
        let mut m = vec![0.0; n * n];
        crba(&c.model, &c.q, &mut work, &mut m).unwrap();
        factor(&c.model, &mut m).unwrap();
        let mut x: Vec<f64> = c.tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
        solve(&c.model, &m, &mut x).unwrap();
        let e = relative(&a, &x);
        assert!(e < 1e-14 * condition(c).max(100.0), "{e:e}");
    });
}

#[test]
fn ab_30_inverse_dynamics_give_the_torques_back() {
    let mut worst = 0.0_f64;
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let mut work = Work::new(&c.model);
        let load = Load {
            torque: random.vec3(),
            ..Load::new(
                random.below(c.model.link_count()),
                random.vec3(),
                random.vec3(),
            )
        };
        let (mut a, mut tau) = (vec![0.0; n], vec![0.0; n]);
        aba(&c.model, &c.q, &c.v, &c.tau, &[load], &mut work, &mut a).unwrap();
        rnea(&c.model, &c.q, &c.v, &a, &[load], &mut work, &mut tau).unwrap();
        // Against the size of what is summed: M q̈ alone may be far larger than τ.
        let size = a.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
        let e = tau
            .iter()
            .zip(&c.tau)
            .fold(0.0_f64, |s, (x, y)| s.max((x - y).abs()));
        worst = worst.max(e / size);
    });
    assert!(worst < 1e-11, "{worst:e}");
}

#[test]
fn ab_12_jacobians_give_velocities_and_differences_of_positions() {
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let mut work = Work::new(&c.model);
        kinematics(&c.model, &c.q, &c.v, &mut work).unwrap();
        let link = random.below(c.model.link_count());
        let pose = link_pose(&c.model, &work, link).unwrap();
        let local = random.vec3();
        let point = pose.point(local);
        let mut j = vec![0.0; 6 * n];
        jacobian(&c.model, link, point, &work, &mut j).unwrap();
        let times = |row: usize| (0..n).map(|k| j[row * n + k] * c.v[k]).sum::<f64>();
        let by_jacobian = Vec3::new(times(3), times(4), times(5));
        let u = point_velocity(&c.model, &work, link, point).unwrap();
        assert!((u - by_jacobian).length() < 1e-12 * (1.0 + u.length()));
        let w = pose.rotation * link_velocity(&c.model, &work, link).unwrap().angular;
        let by_jacobian = Vec3::new(times(0), times(1), times(2));
        assert!((w - by_jacobian).length() < 1e-12 * (1.0 + w.length()));
        // Central difference of the position of the point along the motion.
        let h = 1e-5;
        let mut at = |h: f64| {
            let mut q = c.q.clone();
            tippe::articulated::advance(&c.model, &c.v, h, &mut q).unwrap();
            kinematics(&c.model, &q, &c.v, &mut work).unwrap();
            link_pose(&c.model, &work, link).unwrap().point(local)
        };
        let difference = (at(h) - at(-h)) / (2.0 * h);
        let size = 1.0 + u.length().powi(3);
        assert!((difference - u).length() < 1e-7 * size, "{difference} {u}");
    });
}

#[test]
fn ab_14_impulse_responses_equal_the_dense_ones() {
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let mut work = Work::new(&c.model);
        let link = random.below(c.model.link_count());
        let (point, p) = (random.vec3(), random.vec3());
        let mut m = vec![0.0; n * n];
        crba(&c.model, &c.q, &mut work, &mut m).unwrap();
        factor(&c.model, &mut m).unwrap();
        articulate(&c.model, &c.q, &mut work).unwrap();
        let mut j = vec![0.0; 6 * n];
        jacobian(&c.model, link, point, &work, &mut j).unwrap();
        let mut x: Vec<f64> = (0..n)
            .map(|k| (0..3).map(|i| j[(3 + i) * n + k] * p[i]).sum())
            .collect();
        let torque = x.clone();
        solve(&c.model, &m, &mut x).unwrap();
        let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
        let load = Load::new(link, point, p);
        impulse_response(&c.model, &[load], &mut work, &mut a).unwrap();
        joint_response(&c.model, &torque, &mut work, &mut b).unwrap();
        let tolerance = 1e-14 * condition(c).max(100.0);
        let size = x.iter().fold(0.0_f64, |s, y| s.max(y.abs()));
        if size > 1e-9 {
            assert!(relative(&a, &x) < tolerance, "{:e}", relative(&a, &x));
            assert!(relative(&b, &x) < tolerance, "{:e}", relative(&b, &x));
        }
    });
}

#[test]
fn ab_16_collision_matrices_equal_the_dense_ones() {
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let mut work = Work::new(&c.model);
        let mut m = vec![0.0; n * n];
        crba(&c.model, &c.q, &mut work, &mut m).unwrap();
        factor(&c.model, &mut m).unwrap();
        articulate(&c.model, &c.q, &mut work).unwrap();
        let touch = |random: &mut Random| {
            let mut link = || random.below(c.model.link_count());
            let (a, b) = (link(), link());
            Touch::two(a, b, random.vec3())
        };
        let (to, from) = (touch(random), touch(random));
        let rows = |t: &Touch, work: &Work| {
            let mut total = vec![0.0; 3 * n];
            for (end, sign) in [(t.b.unwrap(), 1.0), (t.a.unwrap(), -1.0)] {
                let mut j = vec![0.0; 6 * n];
                jacobian(&c.model, end.link, end.point, work, &mut j).unwrap();
                for k in 0..3 * n {
                    total[k] += sign * j[3 * n + k];
                }
            }
            total
        };
        let (j_to, j_from) = (rows(&to, &work), rows(&from, &work));
        let mut expected = Mat3::ZERO;
        for column in 0..3 {
            let mut x = j_from[column * n..(column + 1) * n].to_vec();
            solve(&c.model, &m, &mut x).unwrap();
            for row in 0..3 {
                expected.col_mut(column)[row] = (0..n).map(|k| j_to[row * n + k] * x[k]).sum();
            }
        }
        let found = coupling(&c.model, &to, &from, &mut work).unwrap();
        let own = collision_matrix(&c.model, &to, &mut work).unwrap();
        let size = own
            .to_cols_array()
            .iter()
            .fold(1.0_f64, |s, x| s.max(x.abs()));
        let error = (found - expected).to_cols_array();
        let worst = error.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        let tolerance = 1e-14 * condition(c).max(100.0) * size;
        assert!(worst < tolerance, "{worst:e}");
    });
}

#[test]
fn ab_11_energy_and_momentum_have_two_routes() {
    each_tree(|c, _| {
        // ½ q̇ᵀ M q̇ is the sum over the links.
        let n = c.model.freedom_count();
        let mut work = Work::new(&c.model);
        let mut m = vec![0.0; n * n];
        crba(&c.model, &c.q, &mut work, &mut m).unwrap();
        let quadratic: f64 = (0..n * n)
            .map(|k| 0.5 * m[k] * c.v[k / n] * c.v[k % n])
            .sum();
        kinematics(&c.model, &c.q, &c.v, &mut work).unwrap();
        let energy = kinetic_energy(&c.model, &work).unwrap();
        assert!((energy - quadratic).abs() < 1e-12 * energy.abs().max(1.0));
        // Momentum of the links one by one.
        let mut linear = Vec3::ZERO;
        for (i, desc) in c.model.links().iter().enumerate() {
            let pose = link_pose(&c.model, &work, i).unwrap();
            let center = pose.point(desc.mass.center);
            linear += point_velocity(&c.model, &work, i, center).unwrap() * desc.mass.mass;
        }
        let found = momentum(&c.model, &work).unwrap().force;
        assert!((found - linear).length() < 1e-12 * (1.0 + linear.length()));
    });
}

#[test]
fn ab_09_accelerations_visit_every_link_three_times_whatever_the_tree() {
    let mut random = Random(9);
    let chain = |n: usize| Model::new(&rods(n), Vec3::Z * -9.81).unwrap();
    let chains = (3..=12).map(|k| chain(1 << k));
    let trees: Vec<Model> = [8, 64, 512].map(|n| random.tree(n).model).into();
    for model in chains.chain(trees) {
        let n = model.freedom_count();
        let (q, zero, mut a) = (model.neutral(), vec![0.0; n], vec![0.0; n]);
        let mut work = Work::new(&model);
        aba(&model, &q, &zero, &zero, &[], &mut work, &mut a).unwrap();
        // A fixed joint costs nothing; one of several freedoms may be a few plain ones in a row.
        let moving = work.visited() as f64 / 3.0;
        let links = model.link_count() as f64;
        assert!(moving == moving.trunc() && moving <= 2.0 * links, "{links}");
        if n == model.link_count() {
            assert_eq!(moving, links);
        }
    }
}
