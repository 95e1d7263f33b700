//! Articulated bodies against the reference files: 1e-12 relative, accelerations 1e-11.

#![allow(clippy::unwrap_used)]

use crate::articulated_support;

use articulated_support::{Case, mat3, matrix, numbers, read, reference, relative, vec3};
use serde_json::Value;
use tippe::articulated::{
    Load, Touch, Work, aba, articulate, collision_matrix, coupling, crba, factor, impulse_response,
    jacobian, kinematics, kinetic_energy, link_pose, link_velocity, point_velocity,
    potential_energy, rnea, solve,
};
use tippe::math::{Mat3, Vec3};

const TREES: [&str; 3] = ["tree_a", "tree_b", "tree_c"];
const TOLERANCE: f64 = 1e-12;
const TOLERANCE_ACCELERATION: f64 = 1e-11;

fn each(check: impl Fn(&str, &Case, &Value)) {
    for name in TREES {
        let file = read(name);
        check(name, &reference(&file), &file["reference"]);
    }
}

fn cases<'a>(reference: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    reference["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(move |c| c["case"]["type"] == kind)
}

fn assert_mat3(found: Mat3, expected: &Value, what: &str) {
    let e = relative(&found.to_cols_array(), &mat3(expected).to_cols_array());
    assert!(e < TOLERANCE, "{what}: {e:e}");
}

fn link(case: &Value, name: &str) -> usize {
    case["case"][name].as_u64().unwrap() as usize
}

#[test]
fn ab_07_inertia_matrix_matches_the_references() {
    each(|name, c, r| {
        let n = c.model.freedom_count();
        let mut m = vec![0.0; n * n];
        crba(&c.model, &c.q, &mut Work::new(&c.model), &mut m).unwrap();
        let e = relative(&m, &matrix(&r["M"]));
        assert!(e < TOLERANCE, "{name}: {e:e}");
        // The same accelerations through the sparse factor.
        let bias = numbers(&r["bias_C_with_gravity"]);
        let mut x: Vec<f64> = c.tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
        factor(&c.model, &mut m).unwrap();
        solve(&c.model, &m, &mut x).unwrap();
        let e = relative(&x, &numbers(&r["qdd"]));
        assert!(e < TOLERANCE_ACCELERATION, "{name}: {e:e}");
    });
}

#[test]
fn ab_09_accelerations_match_the_references() {
    each(|name, c, r| {
        let mut a = vec![0.0; c.model.freedom_count()];
        aba(
            &c.model,
            &c.q,
            &c.v,
            &c.tau,
            &[],
            &mut Work::new(&c.model),
            &mut a,
        )
        .unwrap();
        let e = relative(&a, &numbers(&r["qdd"]));
        assert!(e < TOLERANCE_ACCELERATION, "{name}: {e:e}");
    });
}

#[test]
fn ab_11_trees_of_all_joints_have_the_energies_of_the_references() {
    each(|name, c, r| {
        let mut work = Work::new(&c.model);
        kinematics(&c.model, &c.q, &c.v, &mut work).unwrap();
        let found = [
            kinetic_energy(&c.model, &work).unwrap(),
            potential_energy(&c.model, &work).unwrap(),
        ];
        for (e, key) in found
            .into_iter()
            .zip(["kinetic_energy", "potential_energy"])
        {
            let e = relative(&[e], &[r[key].as_f64().unwrap()]);
            assert!(e < TOLERANCE, "{name} {key}: {e:e}");
        }
    });
}

#[test]
fn ab_12_link_poses_and_velocities_match_the_references() {
    each(|name, c, r| {
        let mut work = Work::new(&c.model);
        kinematics(&c.model, &c.q, &c.v, &mut work).unwrap();
        for i in 0..c.model.link_count() {
            let pose = link_pose(&c.model, &work, i).unwrap();
            let expected = &r["link_pose_world"][i];
            assert_mat3(pose.rotation, &expected["R"], name);
            let e = relative(&pose.origin.to_array(), &numbers(&expected["p"]));
            assert!(e < TOLERANCE, "{name} origin {i}: {e:e}");
            let v = link_velocity(&c.model, &work, i).unwrap();
            let found = [v.angular.to_array(), v.linear.to_array()].concat();
            let e = relative(&found, &numbers(&r["link_velocity_body_wv"][i]));
            assert!(e < TOLERANCE, "{name} velocity {i}: {e:e}");
        }
    });
}

#[test]
fn ab_13_forces_on_links_match_the_references_by_both_routes() {
    each(|name, c, r| {
        let n = c.model.freedom_count();
        for case in cases(r, "external_force") {
            let link = link(case, "link");
            let (point, force) = (
                vec3(&case["point_world"]),
                vec3(&case["case"]["force_world"]),
            );
            let mut work = Work::new(&c.model);
            let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
            let load = Load::new(link, point, force);
            aba(&c.model, &c.q, &c.v, &c.tau, &[load], &mut work, &mut a).unwrap();
            let e = relative(&a, &numbers(&case["qdd"]));
            assert!(e < TOLERANCE_ACCELERATION, "{name}: {e:e}");
            // τ + Jᵀ F instead of a force on the link.
            let mut j = vec![0.0; 6 * n];
            jacobian(&c.model, link, point, &work, &mut j).unwrap();
            let tau: Vec<f64> = (0..n)
                .map(|k| c.tau[k] + (0..3).map(|i| j[(3 + i) * n + k] * force[i]).sum::<f64>())
                .collect();
            aba(&c.model, &c.q, &c.v, &tau, &[], &mut work, &mut b).unwrap();
            let e = relative(&b, &a);
            assert!(e < TOLERANCE, "{name}, two routes: {e:e}");
        }
    });
}

#[test]
fn ab_14_impulses_on_links_match_the_references() {
    each(|name, c, r| {
        for case in cases(r, "impulse") {
            let link = link(case, "link");
            let (point, p) = (
                vec3(&case["point_world"]),
                vec3(&case["case"]["impulse_world"]),
            );
            let mut work = Work::new(&c.model);
            kinematics(&c.model, &c.q, &c.v, &mut work).unwrap();
            let u = point_velocity(&c.model, &work, link, point).unwrap();
            let e = relative(&u.to_array(), &numbers(&case["contact_velocity"]));
            assert!(e < TOLERANCE, "{name} velocity: {e:e}");
            let mut change = vec![0.0; c.model.freedom_count()];
            articulate(&c.model, &c.q, &mut work).unwrap();
            impulse_response(
                &c.model,
                &[Load::new(link, point, p)],
                &mut work,
                &mut change,
            )
            .unwrap();
            let e = relative(&change, &numbers(&case["delta_qd"]));
            assert!(e < TOLERANCE, "{name}: {e:e}");
            let k = collision_matrix(&c.model, &Touch::one(link, point), &mut work).unwrap();
            let e = relative(
                &(k * p).to_array(),
                &numbers(&case["delta_contact_velocity"]),
            );
            assert!(e < TOLERANCE, "{name} change of velocity: {e:e}");
        }
    });
}

#[test]
fn ab_15_collision_matrices_of_links_match_the_references() {
    each(|name, c, r| {
        let mut work = Work::new(&c.model);
        articulate(&c.model, &c.q, &mut work).unwrap();
        for case in cases(r, "impulse") {
            let touch = Touch::one(link(case, "link"), vec3(&case["point_world"]));
            let k = collision_matrix(&c.model, &touch, &mut work).unwrap();
            assert_mat3(k, &case["K"], name);
            assert_not_negative(k);
        }
    });
}

/// Symmetric, and no impulse meets a velocity change against it.
fn assert_not_negative(k: Mat3) {
    let size = k
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |s, x| s.max(x.abs()));
    let skew = (k - k.transpose()).to_cols_array();
    assert!(skew.iter().all(|x| x.abs() <= 1e-13 * size));
    let (_, moments) = tippe::math::eigen::symmetric_eigen(k);
    assert!(moments.min_element() >= -1e-13 * size, "{moments}");
}

#[test]
fn ab_16_two_links_of_one_tree_are_struck_together() {
    each(|name, c, r| {
        let mut work = Work::new(&c.model);
        for case in cases(r, "self_contact") {
            let (a, b) = (link(case, "link_a"), link(case, "link_b"));
            let point = vec3(&case["point_world"]);
            let p = vec3(&case["case"]["impulse_world_on_a"]);
            kinematics(&c.model, &c.q, &c.v, &mut work).unwrap();
            let velocity = |l| point_velocity(&c.model, &work, l, point).unwrap();
            let u = velocity(a) - velocity(b);
            let e = relative(
                &u.to_array(),
                &numbers(&case["relative_velocity_a_minus_b"]),
            );
            assert!(e < TOLERANCE, "{name} velocity: {e:e}");
            articulate(&c.model, &c.q, &mut work).unwrap();
            // The file's a, which feels +p, is our B.
            let k = collision_matrix(&c.model, &Touch::two(b, a, point), &mut work).unwrap();
            assert_mat3(k, &case["K"], name);
            assert_not_negative(k);
            let mut change = vec![0.0; c.model.freedom_count()];
            let pair = [Load::new(a, point, p), Load::new(b, point, -p)];
            impulse_response(&c.model, &pair, &mut work, &mut change).unwrap();
            let e = relative(&change, &numbers(&case["delta_qd"]));
            assert!(e < TOLERANCE, "{name}: {e:e}");
        }
    });
}

#[test]
fn ab_16_two_trees_add_their_matrices() {
    let file = read("cross_body");
    for case in file["cases"].as_array().unwrap() {
        let tree = |key: &str| reference(&read(case[key].as_str().unwrap()));
        let (a, b) = (tree("body_a"), tree("body_b"));
        let point = vec3(&case["point_world"]);
        let p = vec3(&case["impulse_world_on_a"]);
        let mut total = Mat3::ZERO;
        for (c, sign, link, k_key, change_key) in [
            (&a, 1.0, "link_a", "K_a", "delta_qd_a"),
            (&b, -1.0, "link_b", "K_b", "delta_qd_b"),
        ] {
            let link = case[link].as_u64().unwrap() as usize;
            let mut work = Work::new(&c.model);
            articulate(&c.model, &c.q, &mut work).unwrap();
            let k = collision_matrix(&c.model, &Touch::one(link, point), &mut work).unwrap();
            assert_mat3(k, &case[k_key], k_key);
            total += k;
            let mut change = vec![0.0; c.model.freedom_count()];
            let load = Load::new(link, point, p * sign);
            impulse_response(&c.model, &[load], &mut work, &mut change).unwrap();
            let e = relative(&change, &numbers(&case[change_key]));
            assert!(e < TOLERANCE, "{change_key}: {e:e}");
        }
        assert_mat3(total, &case["K"], "K");
    }
}

#[test]
fn ab_18_an_impulse_reaches_all_links_and_its_energy_adds_up() {
    each(|name, c, r| {
        for case in cases(r, "impulse") {
            let link = link(case, "link");
            let (point, p) = (
                vec3(&case["point_world"]),
                vec3(&case["case"]["impulse_world"]),
            );
            let mut work = Work::new(&c.model);
            let energy = |v: &[f64], work: &mut Work| {
                kinematics(&c.model, &c.q, v, work).unwrap();
                kinetic_energy(&c.model, work).unwrap()
            };
            let before = energy(&c.v, &mut work);
            let u = point_velocity(&c.model, &work, link, point).unwrap();
            let mut change = vec![0.0; c.model.freedom_count()];
            articulate(&c.model, &c.q, &mut work).unwrap();
            let k = collision_matrix(&c.model, &Touch::one(link, point), &mut work).unwrap();
            impulse_response(
                &c.model,
                &[Load::new(link, point, p)],
                &mut work,
                &mut change,
            )
            .unwrap();
            let after: Vec<f64> = c.v.iter().zip(&change).map(|(v, d)| v + d).collect();
            let gained = energy(&after, &mut work) - before;
            let expected = u.dot(p) + 0.5 * p.dot(k * p);
            assert!(
                (gained - expected).abs() < TOLERANCE * before.max(expected.abs()),
                "{name}: {gained} against {expected}"
            );
        }
    });
}

#[test]
fn ab_19_two_contacts_share_one_matrix() {
    each(|name, c, r| {
        let mut work = Work::new(&c.model);
        articulate(&c.model, &c.q, &mut work).unwrap();
        for case in cases(r, "two_contacts") {
            let touch = |l: &str, p: &str| Touch::one(link(case, l), vec3(&case[p]));
            let touches = [
                touch("link_1", "point_world_1"),
                touch("link_2", "point_world_2"),
            ];
            let mut k6 = vec![0.0; 36];
            for (i, to) in touches.iter().enumerate() {
                for (j, from) in touches.iter().enumerate() {
                    let block = coupling(&c.model, to, from, &mut work).unwrap();
                    for row in 0..3 {
                        for column in 0..3 {
                            k6[(3 * i + row) * 6 + 3 * j + column] = block.col(column)[row];
                        }
                    }
                }
            }
            let e = relative(&k6, &matrix(&case["K6"]));
            assert!(e < TOLERANCE, "{name}: {e:e}");
        }
    });
}

#[test]
fn ab_30_inverse_dynamics_match_the_references() {
    each(|name, c, r| {
        let n = c.model.freedom_count();
        let mut work = Work::new(&c.model);
        let mut tau = vec![0.0; n];
        let zero = vec![0.0; n];
        for (v, a, key) in [
            (&c.v, &zero, "bias_C_with_gravity"),
            (&zero, &zero, "gravity_torque"),
        ] {
            rnea(&c.model, &c.q, v, a, &[], &mut work, &mut tau).unwrap();
            let e = relative(&tau, &numbers(&r[key]));
            assert!(e < TOLERANCE, "{name} {key}: {e:e}");
        }
        rnea(
            &c.model,
            &c.q,
            &c.v,
            &numbers(&r["qdd"]),
            &[],
            &mut work,
            &mut tau,
        )
        .unwrap();
        let e = relative(&tau, &c.tau);
        assert!(e < 1e-11, "{name} round trip: {e:e}");
    });
}

#[test]
fn ab_18_a_fixed_base_takes_up_what_the_joints_do_not() {
    // Centre of percussion: a pinned rod struck at 2/3 of its length loads its pin with nothing.
    let model = tippe::articulated::Model::new(&articulated_support::rods(1), Vec3::ZERO).unwrap();
    let mut work = Work::new(&model);
    articulate(&model, &[0.0], &mut work).unwrap();
    let mut change = [0.0];
    let mut reaction = |x: f64| {
        let load = Load::new(0, Vec3::X * x, Vec3::Z);
        impulse_response(&model, &[load], &mut work, &mut change).unwrap()
    };
    assert!(reaction(2.0 / 3.0).force.length() < 1e-15);
    // At the tip the rod turns with 3 rad/s, its centre moves with 1.5 m/s: the pin gives 0.5 N·s.
    assert!((reaction(1.0).force - Vec3::Z * 0.5).length() < 1e-15);
}
