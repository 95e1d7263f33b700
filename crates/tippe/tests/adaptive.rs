//! Adaptive bodies against the dense inertia matrix and against the articulated-body algorithm.

#![allow(clippy::unwrap_used)]

mod articulated_support;

use articulated_support::{Case, Random, relative};
use tippe::articulated::{
    AdaptiveBody, AdaptiveDesc, AdaptiveInput, AdaptiveState, Choice, Joint, LinkDesc, Load, Model,
    Score, Touch, Work, aba, articulate, collision_matrix, crba, jacobian, joint_freedoms,
    kinematics, link_pose, rnea,
};
use tippe::math::{Mat3, Pose, Vec3};
use tippe::shape::mass::MassProperties;

/// Judged by accelerations, velocity terms exact, everything lockable.
fn exact(choice: Choice) -> AdaptiveDesc {
    AdaptiveDesc {
        score: Score::Acceleration,
        slow_turn: 0.0,
        lock_speed: f64::INFINITY,
        patience: 0,
        ..match choice {
            Choice::Joints(m) => AdaptiveDesc::joints(m),
            Choice::Error(e) => AdaptiveDesc::error(e),
        }
    }
}

fn each_tree(mut check: impl FnMut(&Case, &mut Random)) {
    let count = if cfg!(debug_assertions) { 100 } else { 400 };
    let mut random = Random(21);
    for i in 0..count {
        let c = random.tree(1 + i % 40);
        if c.model.freedom_count() > 0 {
            check(&c, &mut random);
        }
    }
}

fn load(c: &Case, random: &mut Random) -> Load {
    let link = random.below(c.model.link_count());
    Load {
        torque: random.vec3(),
        ..Load::new(link, random.vec3(), random.vec3() * 5.0)
    }
}

fn joint_count(model: &Model) -> usize {
    AdaptiveState::new(model).active.len()
}

#[test]
fn ab_31_the_assembly_with_all_joints_moving_accelerates_like_the_articulated_body_algorithm() {
    let mut worst = 0.0_f64;
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let load = load(c, random);
        let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
        let mut work = Work::new(&c.model);
        aba(&c.model, &c.q, &c.v, &c.tau, &[load], &mut work, &mut a).unwrap();
        let mut body = AdaptiveBody::new(&c.model, exact(Choice::Joints(1)), 0).unwrap();
        let state = AdaptiveState::new(&c.model);
        let input = AdaptiveInput {
            tau: &c.tau,
            loads: &[load],
            pins: &[],
        };
        body.full_accelerations(&c.model, &state, &input, &c.q, &c.v, &mut b)
            .unwrap();
        let e = relative(&b, &a);
        worst = worst.max(e);
    });
    println!("worst {worst:e}");
    assert!(worst < 1e-9, "{worst:e}");
}

#[test]
fn ab_32_the_measure_of_every_piece_is_the_sum_over_its_joints() {
    let mut worst = 0.0_f64;
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let load = load(c, random);
        let mut a = vec![0.0; n];
        let mut work = Work::new(&c.model);
        aba(&c.model, &c.q, &c.v, &c.tau, &[load], &mut work, &mut a).unwrap();
        let weights: Vec<f64> = (0..n).map(|_| 1.5 + random.next()).collect();
        let desc = AdaptiveDesc {
            weights: Some(weights.clone()),
            score: if random.below(2) == 0 {
                Score::Acceleration
            } else {
                Score::Velocity
            },
            interval: 8,
            ..exact(Choice::Joints(1))
        };
        let score = desc.score;
        let mut body = AdaptiveBody::new(&c.model, desc, 0).unwrap();
        let state = AdaptiveState::new(&c.model);
        let input = AdaptiveInput {
            tau: &c.tau,
            loads: &[load],
            pins: &[],
        };
        let h = 0.01;
        let measures = body
            .measures(&c.model, &state, h, &input, &c.q, &c.v)
            .unwrap();
        let one = |joint: usize| -> f64 {
            joint_freedoms(&c.model, joint)
                .unwrap()
                .map(|i| {
                    let r = match score {
                        Score::Acceleration => a[i],
                        Score::Velocity => c.v[i] + 8.0 * h * a[i],
                    };
                    weights[i] * r * r
                })
                .sum()
        };
        let total: f64 = (0..joint_count(&c.model)).map(one).sum();
        let largest = measures.iter().map(|m| m.joints.len()).max();
        assert_eq!(largest, Some(joint_count(&c.model)));
        for m in &measures {
            let direct: f64 = m.joints.iter().map(|j| one(*j)).sum();
            worst = worst.max((m.measure - direct).abs() / total);
        }
    });
    println!("worst {worst:e}");
    assert!(worst < 1e-8, "{worst:e}");
}

/// M and the torques without acceleration.
fn dense(c: &Case, loads: &[Load]) -> (Vec<f64>, Vec<f64>) {
    let n = c.model.freedom_count();
    let mut work = Work::new(&c.model);
    let (mut m, mut b) = (vec![0.0; n * n], vec![0.0; n]);
    crba(&c.model, &c.q, &mut work, &mut m).unwrap();
    rnea(&c.model, &c.q, &c.v, &vec![0.0; n], loads, &mut work, &mut b).unwrap();
    (m, b)
}

/// Solves `A x = b` by elimination with row exchange.
fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for c in 0..n {
        let p = (c..n)
            .max_by(|i, j| a[i * n + c].abs().total_cmp(&a[j * n + c].abs()))
            .unwrap();
        for k in 0..n {
            a.swap(c * n + k, p * n + k);
        }
        b.swap(c, p);
        for i in c + 1..n {
            let t = a[i * n + c] / a[c * n + c];
            for k in c..n {
                a[i * n + k] -= t * a[c * n + k];
            }
            b[i] -= t * b[c];
        }
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] -= a[i * n + k] * b[k];
        }
        b[i] /= a[i * n + i];
    }
    b
}

fn moving_freedoms(model: &Model, state: &AdaptiveState) -> Vec<usize> {
    let joints = (0..state.active.len()).filter(|j| state.active[*j]);
    joints
        .flat_map(|j| joint_freedoms(model, j).unwrap())
        .collect()
}

#[test]
fn ab_31_locked_trees_accelerate_as_the_reduced_inertia_matrix_says() {
    let mut worst = 0.0_f64;
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let budget = 1 + random.below(joint_count(&c.model));
        let mut body = AdaptiveBody::new(&c.model, exact(Choice::Joints(budget)), 0).unwrap();
        let mut state = AdaptiveState::new(&c.model);
        let load = load(c, random);
        let input = AdaptiveInput {
            tau: &c.tau,
            loads: &[load],
            pins: &[],
        };
        let mut v = c.v.clone();
        body.select(&c.model, &mut state, 1e-3, &input, &c.q, &mut v)
            .unwrap();
        let locked = Case {
            model: c.model.clone(),
            q: c.q.clone(),
            v: v.clone(),
            tau: c.tau.clone(),
        };
        let at = moving_freedoms(&c.model, &state);
        let (m, b) = dense(&locked, &[load]);
        let reduced: Vec<f64> = at
            .iter()
            .flat_map(|i| at.iter().map(move |j| (*i, *j)))
            .map(|(i, j)| m[i * n + j])
            .collect();
        let expected = solve(reduced, at.iter().map(|i| c.tau[*i] - b[*i]).collect());
        let mut a = vec![0.0; n];
        body.accelerations(&c.model, &state, &input, &c.q, &v, &mut a)
            .unwrap();
        let found: Vec<f64> = at.iter().map(|i| a[*i]).collect();
        worst = worst.max(relative(&found, &expected));
        for i in 0..n {
            assert!(at.contains(&i) || (a[i] == 0.0 && v[i] == 0.0));
        }
    });
    println!("worst {worst:e}");
    assert!(worst < 1e-9, "{worst:e}");
}

#[test]
fn ab_33_the_residual_is_the_sum_over_the_joints_left_locked() {
    let mut worst = 0.0_f64;
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let joints = joint_count(&c.model);
        let load = load(c, random);
        let mut a = vec![0.0; n];
        let mut work = Work::new(&c.model);
        aba(&c.model, &c.q, &c.v, &c.tau, &[load], &mut work, &mut a).unwrap();
        let total: f64 = a.iter().map(|x| x * x).sum();
        let input = AdaptiveInput {
            tau: &c.tau,
            loads: &[load],
            pins: &[],
        };
        let mut last = f64::INFINITY;
        for budget in 1..=joints {
            let desc = AdaptiveDesc {
                weights: Some(vec![1.0; n]),
                ..exact(Choice::Joints(budget))
            };
            let mut body = AdaptiveBody::new(&c.model, desc, 0).unwrap();
            let mut state = AdaptiveState::new(&c.model);
            let mut v = c.v.clone();
            let s = body
                .select(&c.model, &mut state, 1e-3, &input, &c.q, &mut v)
                .unwrap();
            assert_eq!(s.active, state.active_count());
            assert!(s.active >= budget);
            let locked: f64 = (0..joints)
                .filter(|j| !state.active[*j])
                .flat_map(|j| joint_freedoms(&c.model, j).unwrap())
                .map(|i| a[i] * a[i])
                .sum();
            worst = worst.max((s.residual - locked).abs() / total);
            assert!(s.residual <= last * (1.0 + 1e-9) + 1e-9 * total);
            last = s.residual;
        }
        assert_eq!(last, 0.0);
        // By an error bound: the residual keeps to it.
        let bound = total * (0.5 + 0.4 * random.next());
        let desc = AdaptiveDesc {
            weights: Some(vec![1.0; n]),
            ..exact(Choice::Error(bound))
        };
        let mut body = AdaptiveBody::new(&c.model, desc, 0).unwrap();
        let mut state = AdaptiveState::new(&c.model);
        let mut v = c.v.clone();
        let s = body
            .select(&c.model, &mut state, 1e-3, &input, &c.q, &mut v)
            .unwrap();
        assert!(s.residual <= bound);
    });
    println!("worst {worst:e}");
    assert!(worst < 1e-8, "{worst:e}");
}
