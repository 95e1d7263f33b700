//! Adaptive bodies against the dense inertia matrix and against the articulated-body algorithm.

#![allow(clippy::unwrap_used)]

use crate::articulated_support;

use articulated_support::{Case, Random, relative, solve};
use tippe::articulated::{
    AdaptiveBody, AdaptiveDesc, AdaptiveInput, AdaptiveState, Choice, Joint, LinkDesc, Load, Model,
    Score, Touch, Work, aba, articulate, collision_matrix, crba, dca, jacobian, joint_freedoms,
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
            let inside = m.joints.iter();
            let inside = inside.flat_map(|j| joint_freedoms(&c.model, *j).unwrap());
            let speed: f64 = inside.map(|i| weights[i] * c.v[i] * c.v[i]).sum();
            assert!((m.speed - speed).abs() <= 1e-12 * speed);
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
    rnea(
        &c.model,
        &c.q,
        &c.v,
        &vec![0.0; n],
        loads,
        &mut work,
        &mut b,
    )
    .unwrap();
    (m, b)
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

/// A tree with a random choice of moving joints, its state, and the velocities after locking.
fn hybrid(c: &Case, random: &mut Random) -> (AdaptiveBody, AdaptiveState, Vec<f64>) {
    let budget = 1 + random.below(joint_count(&c.model));
    let mut body = AdaptiveBody::new(&c.model, exact(Choice::Joints(budget)), 0).unwrap();
    let mut state = AdaptiveState::new(&c.model);
    let input = AdaptiveInput {
        tau: &c.tau,
        loads: &[],
        pins: &[],
    };
    let mut v = c.v.clone();
    body.select(&c.model, &mut state, 1e-3, &input, &c.q, &mut v)
        .unwrap();
    (body, state, v)
}

#[test]
fn ab_34_the_jacobian_over_the_moving_joints_has_the_columns_of_the_whole() {
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let (mut body, state, v) = hybrid(c, random);
        let link = random.below(c.model.link_count());
        let point = random.vec3();
        let (found, columns) = body
            .jacobian(&c.model, &state, link, point, &c.q, &v)
            .unwrap();
        assert_eq!(columns, moving_freedoms(&c.model, &state));
        let mut work = Work::new(&c.model);
        kinematics(&c.model, &c.q, &v, &mut work).unwrap();
        let mut whole = vec![0.0; 6 * n];
        jacobian(&c.model, link, point, &work, &mut whole).unwrap();
        for row in 0..6 {
            for (k, i) in columns.iter().enumerate() {
                let (x, y) = (found[row * columns.len() + k], whole[row * n + i]);
                assert!((x - y).abs() < 1e-12, "{x} {y}");
            }
        }
        // Links inside rigid pieces are where the whole tree has them.
        body.place(&c.model, &state, &c.q, &v).unwrap();
        let (a, b) = (
            body.link_pose(&c.model, link).unwrap(),
            link_pose(&c.model, &work, link).unwrap(),
        );
        assert!((a.origin - b.origin).length() < 1e-12);
    });
}

#[test]
fn ab_35_impulses_on_locked_trees_act_as_the_reduced_inertia_matrix_says() {
    let mut worst = 0.0_f64;
    each_tree(|c, random| {
        let n = c.model.freedom_count();
        let (mut body, state, v) = hybrid(c, random);
        let at = moving_freedoms(&c.model, &state);
        let link = random.below(c.model.link_count());
        let (point, p) = (random.vec3(), random.vec3());
        let (m, _) = dense(c, &[]);
        let mut work = Work::new(&c.model);
        articulate(&c.model, &c.q, &mut work).unwrap();
        let mut j = vec![0.0; 6 * n];
        jacobian(&c.model, link, point, &work, &mut j).unwrap();
        let reduced: Vec<f64> = at
            .iter()
            .flat_map(|i| at.iter().map(move |j| (*i, *j)))
            .map(|(i, j)| m[i * n + j])
            .collect();
        let push = |i: usize| (0..3).map(|r| j[(3 + r) * n + i] * p[r]).sum::<f64>();
        let expected = solve(reduced, at.iter().map(|i| push(*i)).collect());
        let mut change = vec![0.0; n];
        let load = Load::new(link, point, p);
        body.impulse_response(&c.model, &state, &[load], &c.q, &v, &mut change)
            .unwrap();
        let found: Vec<f64> = at.iter().map(|i| change[*i]).collect();
        let size = expected.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        if size > 1e-9 {
            worst = worst.max(relative(&found, &expected));
        }
        // 0 ⪯ K_hybrid ⪯ K_full, along many directions.
        let other = random.below(c.model.link_count());
        for touch in [
            Touch::one(link, point),
            Touch::two(other, link, random.vec3()),
        ] {
            let small = body
                .collision_matrix(&c.model, &state, &touch, &c.q, &v)
                .unwrap();
            let full = collision_matrix(&c.model, &touch, &mut work).unwrap();
            let scale = 1e-9 * (1.0 + full.x_axis.x + full.y_axis.y + full.z_axis.z);
            for _ in 0..20 {
                let d = random.direction();
                let (s, f) = (d.dot(small * d), d.dot(full * d));
                assert!(s >= -scale && s <= f + scale, "{s} {f}");
            }
        }
    });
    println!("worst {worst:e}");
    assert!(worst < 1e-9, "{worst:e}");
}

/// `n` rods of 1 kg and 1 m along x, hinged about y.
fn rods(n: usize) -> Model {
    Model::new(&articulated_support::rods(n), Vec3::Z * -9.81).unwrap()
}

#[test]
fn ab_10_the_assembly_keeps_its_digits_over_ten_thousand_links() {
    let n = 10_000;
    let model = rods(n);
    let q: Vec<f64> = (0..n).map(|i| 0.3 * libm::sin(i as f64)).collect();
    let v: Vec<f64> = (0..n).map(|i| 0.1 * libm::cos(i as f64)).collect();
    let tau = vec![0.0; n];
    let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
    aba(&model, &q, &v, &tau, &[], &mut Work::new(&model), &mut a).unwrap();
    let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(16), 0).unwrap();
    assert_eq!(body.depth(), 15);
    let state = AdaptiveState::new(&model);
    let input = AdaptiveInput {
        tau: &tau,
        loads: &[],
        pins: &[],
    };
    body.full_accelerations(&model, &state, &input, &q, &v, &mut b)
        .unwrap();
    let e = relative(&b, &a);
    println!("10000 links: {e:e}");
    assert!(e < 1e-7, "{e:e}");
    // Divide and conquer by itself, whose links need inertia in all directions.
    let thick: Vec<_> = articulated_support::rods(n)
        .into_iter()
        .map(|mut link| {
            link.mass.inertia.x_axis.x = 0.01;
            link
        })
        .collect();
    let model = Model::new(&thick, model.gravity()).unwrap();
    let mut work = Work::new(&model);
    aba(&model, &q, &v, &tau, &[], &mut work, &mut a).unwrap();
    dca(&model, &q, &v, &tau, &[], 2, &mut work, &mut b).unwrap();
    let e = relative(&b, &a);
    println!("10000 links, in halves: {e:e}");
    assert!(e < 1e-7, "{e:e}");
}

#[test]
fn ab_33_the_moving_joints_follow_a_moving_load() {
    // 64 rods without gravity; the same sideways force at the tip, then in the middle.
    let n = 64;
    let model = Model::new(&articulated_support::rods(n), Vec3::ZERO).unwrap();
    let (q, mut v, tau) = (model.neutral(), vec![0.0; n], vec![0.0; n]);
    let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(12), 0).unwrap();
    let mut state = AdaptiveState::new(&model);
    for link in [n - 1, 20, 44] {
        let point = Vec3::X * (link as f64 + 0.5);
        let loads = [Load::new(link, point, Vec3::Z)];
        let input = AdaptiveInput {
            tau: &tau,
            loads: &loads,
            pins: &[],
        };
        let mut last = None;
        for _ in 0..3 {
            last = Some(
                body.select(&model, &mut state, 1e-3, &input, &q, &mut v)
                    .unwrap(),
            );
        }
        let near = (0..n).filter(|j| state.active[*j] && j.abs_diff(link) <= 8);
        assert!(near.count() >= 6, "{link}: {:?}", state.active);
        assert_eq!(state.active_count(), 12);
        let s = last.unwrap();
        assert!(s.residual < 0.1 * s.total, "{link}: {s:?}");
    }
}

#[test]
fn ab_37_work_follows_the_moving_joints_and_a_refresh_only_what_changed() {
    for n in [100, 1000, 10_000] {
        let model = rods(n);
        let (mut q, mut v) = (model.neutral(), vec![0.0; n]);
        let mut tau = vec![0.0; n];
        let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(16), 0).unwrap();
        let mut state = AdaptiveState::new(&model);
        let mut select = |tau: &[f64], body: &mut AdaptiveBody, state: &mut AdaptiveState| {
            let input = AdaptiveInput {
                tau,
                loads: &[],
                pins: &[],
            };
            body.select(&model, state, 1e-3, &input, &q, &mut v)
                .unwrap()
        };
        let first = select(&tau, &mut body, &mut state);
        // Every link and every joint, once.
        assert_eq!(first.refreshed, 2 * n + 1);
        // Nothing changed: nothing is computed.
        assert_eq!(select(&tau, &mut body, &mut state).refreshed, 0);
        // One torque: the way from its joint to the whole.
        tau[n / 2 + 1] = 1.0;
        let one = select(&tau, &mut body, &mut state);
        assert!(one.refreshed <= body.depth() as usize + 1, "{one:?}");
        // Two choices of 16 joints, each at the end of a way from the whole, with both parts of what is opened there.
        assert!(one.visited <= 2 * 2 * 16 * body.depth() as usize, "{one:?}");
        // A step of the moving joints: those, the ways to the whole, and no locked piece.
        let input = AdaptiveInput {
            tau: &tau,
            loads: &[],
            pins: &[],
        };
        state.clock = 1;
        let one = tippe::articulated::Integrator::OneEvaluation;
        body.step(&model, &mut state, one, 1e-3, &input, &mut q, &mut v)
            .unwrap();
        let view = body.hybrid(&model, &state, &q, &v).unwrap();
        assert_eq!(view.model.link_count(), 17);
        let moved = body
            .select(&model, &mut state, 1e-3, &input, &q, &mut v)
            .unwrap();
        assert!(moved.refreshed <= 16 * body.depth() as usize, "{moved:?}");
    }
}

#[test]
fn ab_33_bad_descriptions_are_refused_with_field_and_reason() {
    let model = rods(3);
    let field = |desc: AdaptiveDesc, loops: usize| {
        AdaptiveBody::new(&model, desc, loops).unwrap_err().field
    };
    assert_eq!(field(AdaptiveDesc::joints(0), 0), "joints");
    for e in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(field(AdaptiveDesc::error(e), 0), "error");
    }
    for (w, at) in [(0.0, 1), (-1.0, 2), (f64::NAN, 0), (f64::INFINITY, 0)] {
        let mut weights = vec![1.0; 3];
        weights[at] = w;
        let desc = AdaptiveDesc {
            weights: Some(weights),
            ..AdaptiveDesc::joints(1)
        };
        assert_eq!(field(desc, 0), format!("weights[{at}]"));
    }
    let short = AdaptiveDesc {
        weights: Some(vec![1.0]),
        ..AdaptiveDesc::joints(1)
    };
    assert_eq!(field(short, 0), "weights");
    let never = AdaptiveDesc {
        interval: 0,
        ..AdaptiveDesc::joints(1)
    };
    assert_eq!(field(never, 0), "interval");
    let backwards = AdaptiveDesc {
        lock_speed: -1.0,
        ..AdaptiveDesc::joints(1)
    };
    assert_eq!(field(backwards, 0), "lock_speed");
    let closed = AdaptiveBody::new(&model, AdaptiveDesc::joints(1), 1).unwrap_err();
    assert_eq!(closed.field, "adaptive");
    assert!(closed.reason.contains("loop"), "{closed}");
    // Slices of the wrong length and numbers that are not finite.
    let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(1), 0).unwrap();
    let mut state = AdaptiveState::new(&model);
    let mut v = [0.0; 3];
    let mut input = AdaptiveInput {
        tau: &[0.0; 3],
        loads: &[],
        pins: &[7],
    };
    assert!(
        body.select(&model, &mut state, 1e-3, &input, &[0.0; 3], &mut v)
            .is_err()
    );
    input.pins = &[];
    for q in [&[0.0; 2][..], &[f64::NAN; 3][..]] {
        assert!(
            body.select(&model, &mut state, 1e-3, &input, q, &mut v)
                .is_err()
        );
    }
    body.select(&model, &mut state, 1e-3, &input, &[0.0; 3], &mut v)
        .unwrap();
}

#[test]
fn ab_31_stars_and_massless_links_have_shallow_assemblies() {
    // A hub on a free joint with 200 arms of two links, universal joints without mass between their hinges.
    let mass = MassProperties {
        mass: 1.0,
        center: Vec3::X * 0.5,
        inertia: Mat3::from_diagonal(Vec3::new(0.01, 0.1, 0.1)),
    };
    let mut links = vec![LinkDesc::new(None, Joint::Free, Pose::IDENTITY, mass)];
    for arm in 0..200_usize {
        let place = Vec3::new(0.0, 0.01 * arm as f64, 0.0);
        let joint = Joint::Universal {
            first: Vec3::Y,
            second: Vec3::Z,
        };
        let upper = links.len();
        links.push(LinkDesc::new(
            Some(0),
            joint,
            Pose::from_position(place),
            mass,
        ));
        let hinge = Joint::Revolute { axis: Vec3::Y };
        let elbow = Pose::from_position(Vec3::X);
        links.push(LinkDesc::new(Some(upper), hinge, elbow, mass));
    }
    let model = Model::new(&links, Vec3::ZERO).unwrap();
    let n = model.freedom_count();
    let mut random = Random(5);
    let c = random.state(model);
    let mut body = AdaptiveBody::new(&c.model, exact(Choice::Joints(6)), 0).unwrap();
    // Two balanced levels for each halving of the 603 joints: one of copies, one of arms.
    assert!(body.depth() <= 20, "{}", body.depth());
    let mut state = AdaptiveState::new(&c.model);
    let input = AdaptiveInput {
        tau: &c.tau,
        loads: &[],
        pins: &[],
    };
    let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
    let mut work = Work::new(&c.model);
    aba(&c.model, &c.q, &c.v, &c.tau, &[], &mut work, &mut a).unwrap();
    body.full_accelerations(&c.model, &state, &input, &c.q, &c.v, &mut b)
        .unwrap();
    assert!(relative(&b, &a) < 1e-10, "{:e}", relative(&b, &a));
    let mut v = c.v.clone();
    body.select(&c.model, &mut state, 1e-3, &input, &c.q, &mut v)
        .unwrap();
    // The free joint always moves; arms are reached without opening the others.
    assert!(state.active[0] && state.active_count() == 6);
}
