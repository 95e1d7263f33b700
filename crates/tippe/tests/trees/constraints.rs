//! Impacts with friction, prescribed and bounded motions of trees, and divide and conquer.

#![allow(clippy::unwrap_used)]

use crate::articulated_support;

use articulated_support::{Random, numbers, read, reference, relative, rods, vec3};
use tippe::articulated::{
    ConstraintRow, Limits, LinkPoint, Load, Model, OtherSide, Touch, Work, aba,
    constrained_accelerations, constrained_impact, contact_rows, dca, dry_friction, kinematics,
    kinetic_energy, limit_rows, point_acceleration, point_velocity, row_velocities, strike,
};
use tippe::math::Vec3;
use tippe::math::mixed_lcp::Bound;
use tippe::{ImpactLaw, Surface};

#[test]
fn ab_10_halves_joined_accelerate_like_the_articulated_body_algorithm() {
    let count = if cfg!(debug_assertions) { 100 } else { 1000 };
    let mut random = Random(11);
    let mut compared = 0;
    for i in 0..count {
        let c = random.tree(1 + i % 24);
        let n = c.model.freedom_count();
        let mut work = Work::new(&c.model);
        let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
        let load = Load::new(
            random.below(c.model.link_count()),
            random.vec3(),
            random.vec3(),
        );
        aba(&c.model, &c.q, &c.v, &c.tau, &[load], &mut work, &mut a).unwrap();
        // The only trees refused are those with a link that branches without mass; the random ones have none.
        dca(&c.model, &c.q, &c.v, &c.tau, &[load], 1, &mut work, &mut b).unwrap();
        compared += 1;
        let e = relative(&b, &a);
        assert!(e < 1e-9, "tree {i}: {e:e}");
    }
    assert_eq!(compared, count);
}

#[test]
fn ab_10_depth_is_the_logarithm_of_the_links_and_threads_change_no_bit() {
    let mut n = 2;
    while n <= 1024 {
        // Thick rods: divide and conquer needs every link to resist all rotations.
        let mut links = rods(n);
        for link in &mut links {
            link.mass.inertia.x_axis.x = 0.01;
        }
        let model = Model::new(&links, Vec3::new(0.0, 0.0, -9.81)).unwrap();
        let mut random = Random(n as u64);
        let c = random.state(model);
        let mut work = Work::new(&c.model);
        let (mut a, mut b, mut t) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        aba(&c.model, &c.q, &c.v, &c.tau, &[], &mut work, &mut a).unwrap();
        let shape = dca(&c.model, &c.q, &c.v, &c.tau, &[], 1, &mut work, &mut b).unwrap();
        let e = relative(&b, &a);
        assert!(e < 1e-9, "{n} links: {e:e}");
        assert_eq!(shape.depth, n.next_power_of_two().trailing_zeros(), "{n}");
        assert_eq!(shape.chains, 1);
        dca(&c.model, &c.q, &c.v, &c.tau, &[], 4, &mut work, &mut t).unwrap();
        assert_eq!(b, t);
        n = n * 3 / 2;
    }
}

#[test]
fn ab_17_frictional_collisions_match_the_references() {
    let file = read("collisions");
    let mut count = 0;
    for case in file["cases"].as_array().unwrap() {
        let c = reference(&read(case["tree"].as_str().unwrap()));
        let point = vec3(&case["point_world"]);
        let link = case["link"].as_u64().unwrap() as usize;
        // The file's first link, which feels +p, is our B.
        let touch = match case["link_b"].as_u64() {
            Some(other) => Touch::two(other as usize, link, point),
            None => Touch::one(link, point),
        };
        let n = vec3(&case["n"]);
        for (law, key) in [
            (ImpactLaw::Poisson, "poisson"),
            (ImpactLaw::Stronge, "stronge"),
        ] {
            let Some(expected) = case.get(key) else {
                continue;
            };
            let mut surface =
                Surface::new(case["mu"].as_f64().unwrap(), case["e"].as_f64().unwrap());
            surface.impact_law = law;
            let mut work = Work::new(&c.model);
            let energy = |v: &[f64], work: &mut Work| {
                kinematics(&c.model, &c.q, v, work).unwrap();
                kinetic_energy(&c.model, work).unwrap()
            };
            let before = energy(&c.v, &mut work);
            let mut v = c.v.clone();
            // The reference gives the velocity of arrival: what the other side adds to that of the tree.
            let mut u = point_velocity(&c.model, &work, link, point).unwrap();
            if let Some(other) = &touch.a {
                u -= point_velocity(&c.model, &work, other.link, point).unwrap();
            }
            let given = vec3(&case["u0"]);
            let same = (u - given).length() < 1e-9;
            let other = OtherSide {
                velocity: u - given,
                ..OtherSide::GROUND
            };
            assert!(same || touch.a.is_none(), "a self-contact moves by itself");
            let (hit, _) = strike(
                &c.model, &c.q, &mut v, &touch, n, &other, &surface, &mut work,
            )
            .unwrap();
            let e = relative(&hit.impulse.to_array(), &numbers(&expected["p_world"]));
            assert!(e < 1e-7, "{key} impulse: {e:e}");
            let change: Vec<f64> = v.iter().zip(&c.v).map(|(a, b)| a - b).collect();
            let e = relative(&change, &numbers(&expected["delta_qd"]));
            assert!(e < 1e-7, "{key} change of velocity: {e:e}");
            let lost = expected["delta_energy"].as_f64().unwrap();
            assert!((hit.energy_change - lost).abs() < 1e-7 * lost.abs().max(1.0));
            if same {
                let gained = energy(&v, &mut work) - before;
                assert!((gained - lost).abs() < 1e-7 * lost.abs().max(1.0));
            }
            count += 1;
        }
    }
    assert_eq!(count, 44);
}

#[test]
fn ab_38_struck_tips_of_free_and_pinned_chains_answer_as_their_recursions_say() {
    // K of the tip of n hinged rods in line, struck across; pinned: 3, 24/7, 45/13, … → 2√3.
    for (n, expected) in [
        (1, 3.0),
        (2, 24.0 / 7.0),
        (3, 45.0 / 13.0),
        (40, 12_f64.sqrt()),
    ] {
        let model = Model::new(&rods(n), Vec3::ZERO).unwrap();
        let q = vec![0.0; n];
        let mut v = vec![0.0; n];
        let mut work = Work::new(&model);
        // Tip moving down with 2 m/s onto the ground below: p = (1 + e) 2 / K, and it leaves with +1.
        v[n - 1] = 2.0;
        let tip = Vec3::X * n as f64;
        let (hit, _) = strike(
            &model,
            &q,
            &mut v,
            &Touch::one(n - 1, tip),
            Vec3::Z,
            &OtherSide::GROUND,
            &Surface::new(0.0, 0.5),
            &mut work,
        )
        .unwrap();
        let p = 1.5 * 2.0 / expected;
        assert!(
            (hit.impulse - Vec3::Z * p).length() < 1e-12,
            "{n}: {}",
            hit.impulse
        );
        kinematics(&model, &q, &v, &mut work).unwrap();
        let u = point_velocity(&model, &work, n - 1, tip).unwrap();
        assert!((u.z - 1.0).abs() < 1e-12);
    }
}

#[test]
fn ab_19_several_contacts_are_solved_together() {
    // Two links of each reference tree touch the ground: no approach is left, no contact pulls, friction keeps its cone.
    for name in ["tree_a", "tree_b", "tree_c"] {
        let c = reference(&read(name));
        let mut work = Work::new(&c.model);
        kinematics(&c.model, &c.q, &c.v, &mut work).unwrap();
        let (mut rows, mut bounds) = (Vec::new(), Vec::new());
        for link in [c.model.link_count() - 1, c.model.link_count() / 2] {
            let pose = tippe::articulated::link_pose(&c.model, &work, link).unwrap();
            let point = pose.point(Vec3::new(0.1, -0.2, 0.15));
            let u = point_velocity(&c.model, &work, link, point).unwrap();
            let n = -u.normalize();
            rows.extend(contact_rows(Touch::one(link, point), n));
            bounds.extend([
                Bound::NotNegative,
                Bound::Friction {
                    normal: bounds.len(),
                    coefficient: 0.3,
                },
                Bound::FrictionSecond,
            ]);
        }
        let (mut v, mut p) = (c.v.clone(), vec![0.0; rows.len()]);
        let solved = constrained_impact(
            &c.model,
            &c.q,
            &rows,
            &bounds,
            &vec![0.0; rows.len()],
            &mut work,
            &mut v,
            &mut p,
        )
        .unwrap();
        assert!(solved.converged, "{name} {solved:?}");
        kinematics(&c.model, &c.q, &v, &mut work).unwrap();
        let mut u = vec![0.0; rows.len()];
        row_velocities(&c.model, &rows, &v, &work, &mut u).unwrap();
        for k in [0, 3] {
            assert!(u[k] > -1e-9 && p[k] >= 0.0 && (u[k] * p[k]).abs() < 1e-9);
            let size = |x: f64, y: f64| (x * x + y * y).sqrt();
            let (slip, bound) = (size(u[k + 1], u[k + 2]), 0.3 * p[k]);
            let pull = size(p[k + 1], p[k + 2]);
            assert!(pull <= bound * (1.0 + 1e-12));
            if slip > 1e-8 {
                let against = u[k + 1] * p[k + 1] + u[k + 2] * p[k + 2];
                assert!((against + slip * bound).abs() < 1e-8, "{name}");
            }
        }
    }
}

#[test]
fn ab_20_one_joint_or_point_is_given_its_acceleration() {
    let c = reference(&read("tree_a"));
    let n = c.model.freedom_count();
    let mut work = Work::new(&c.model);
    let (mut a, mut f) = (vec![0.0; n], [0.0]);
    for i in 0..n {
        f = [0.0];
        let rows = [ConstraintRow::Freedom(i)];
        constrained_accelerations(
            &c.model,
            &c.q,
            &c.v,
            &c.tau,
            &[],
            &rows,
            &[Bound::Free],
            &[1.5],
            &mut work,
            &mut a,
            &mut f,
        )
        .unwrap();
        assert!((a[i] - 1.5).abs() < 1e-10, "{i}: {}", a[i]);
        // The same torque through the whole dynamics.
        let mut tau = c.tau.clone();
        tau[i] += f[0];
        let mut b = vec![0.0; n];
        aba(&c.model, &c.q, &c.v, &tau, &[], &mut work, &mut b).unwrap();
        assert!(relative(&a, &b) < 1e-10);
    }
    assert!(f[0] != 0.0);
}

/// Joints that `m` prescribed accelerations of a chain of `n` rods carry impulses through.
fn work_of(n: usize, m: usize) -> u64 {
    let model = Model::new(&rods(n), Vec3::Z * -9.81).unwrap();
    let rows: Vec<_> = (0..m)
        .map(|k| ConstraintRow::Freedom((k + 1) * n / m - 1))
        .collect();
    let (q, zero) = (model.neutral(), vec![0.0; n]);
    let (mut a, mut f) = (vec![0.0; n], vec![0.0; m]);
    let mut work = Work::new(&model);
    let (bounds, targets) = (vec![Bound::Free; m], vec![0.1; m]);
    let before = work.visited();
    constrained_accelerations(
        &model,
        &q,
        &zero,
        &zero,
        &[],
        &rows,
        &bounds,
        &targets,
        &mut work,
        &mut a,
        &mut f,
    )
    .unwrap();
    for row in &rows {
        let ConstraintRow::Freedom(i) = *row else {
            continue;
        };
        assert!((a[i] - 0.1).abs() < 1e-6, "{n} {m}: {}", a[i]);
    }
    work.visited() - before
}

#[test]
fn ab_21_the_cost_is_linear_in_links_and_in_constraints() {
    // Fixed m = 8: the same work a link from 64 to 4096 links. Fixed n = 256: the same work a constraint from 1 to 64.
    let links = [64, 256, 1024, 4096].map(|n| work_of(n, 8) as f64 / n as f64);
    // The three passes of the dynamics are made whether or not something is prescribed.
    let rows = [1, 4, 16, 64].map(|m| (work_of(256, m) - 3 * 256) as f64 / (256.0 * m as f64));
    println!("visits a link: {links:?}; visits a link and constraint: {rows:?}");
    assert!(
        links.iter().all(|w| (w / links[3] - 1.0).abs() < 0.02),
        "{links:?}"
    );
    // Inwards and outwards for eight rows and the solution, and three passes of the dynamics.
    assert!(links[3] <= 2.0 * 9.0 + 3.0, "{links:?}");
    assert!(rows.iter().all(|w| *w <= 4.0), "{rows:?}");
}

#[test]
fn ab_21_eight_accelerations_are_held_at_once() {
    let c = reference(&read("tree_b"));
    let n = c.model.freedom_count();
    let mut work = Work::new(&c.model);
    kinematics(&c.model, &c.q, &c.v, &mut work).unwrap();
    let mut rows: Vec<ConstraintRow> = (6..10).map(ConstraintRow::Freedom).collect();
    let last = c.model.link_count() - 1;
    let point = tippe::articulated::link_pose(&c.model, &work, last)
        .unwrap()
        .origin;
    rows.extend(contact_rows(Touch::one(last, point), Vec3::Z));
    rows.push(ConstraintRow::Turn {
        a: Some(0),
        b: Some(last),
        direction: Vec3::Y,
    });
    let targets = [0.1, -0.2, 0.3, 0.4, 1.0, 2.0, -1.0, 0.5];
    let (mut a, mut f) = (vec![0.0; n], vec![0.0; 8]);
    let solved = constrained_accelerations(
        &c.model,
        &c.q,
        &c.v,
        &c.tau,
        &[],
        &rows,
        &[Bound::Free; 8],
        &targets,
        &mut work,
        &mut a,
        &mut f,
    )
    .unwrap();
    assert!(solved.residual < 1e-9, "{solved:?}");
    // By the whole dynamics with the forces found.
    let mut tau = c.tau.clone();
    let mut loads = Vec::new();
    for (row, &f) in rows.iter().zip(&f) {
        match *row {
            ConstraintRow::Freedom(i) => tau[i] += f,
            ConstraintRow::Point { touch, direction } => {
                let LinkPoint { link, point } = touch.b.unwrap();
                loads.push(Load::new(link, point, direction * f));
            }
            ConstraintRow::Turn { a, b, direction } => {
                for (link, sign) in [(b, 1.0), (a, -1.0)] {
                    loads.push(Load {
                        torque: direction * (f * sign),
                        ..Load::new(link.unwrap(), Vec3::ZERO, Vec3::ZERO)
                    });
                }
            }
        }
    }
    let mut b = vec![0.0; n];
    aba(&c.model, &c.q, &c.v, &tau, &loads, &mut work, &mut b).unwrap();
    assert!(relative(&a, &b) < 1e-10);
    for (k, i) in (6..10).enumerate() {
        assert!((b[i] - targets[k]).abs() < 1e-9);
    }
    let at = point_acceleration(&c.model, &work, last, point).unwrap();
    let (t1, t2) = tippe::math::tangents(Vec3::Z);
    for (d, k) in [(Vec3::Z, 4), (t1, 5), (t2, 6)] {
        assert!((at.dot(d) - targets[k]).abs() < 1e-9);
    }
}

#[test]
fn ab_22_a_point_is_given_its_velocity_by_the_impulse_that_does_it() {
    let c = reference(&read("tree_c"));
    let mut work = Work::new(&c.model);
    kinematics(&c.model, &c.q, &c.v, &mut work).unwrap();
    let last = c.model.link_count() - 1;
    let point = tippe::articulated::link_pose(&c.model, &work, last)
        .unwrap()
        .origin;
    let rows = contact_rows(Touch::one(last, point), Vec3::Z);
    let wanted = [0.3, -0.1, 0.7];
    let (mut v, mut p) = (c.v.clone(), vec![0.0; 3]);
    constrained_impact(
        &c.model,
        &c.q,
        &rows,
        &[Bound::Free; 3],
        &wanted,
        &mut work,
        &mut v,
        &mut p,
    )
    .unwrap();
    kinematics(&c.model, &c.q, &v, &mut work).unwrap();
    let mut u = [0.0; 3];
    row_velocities(&c.model, &rows, &v, &work, &mut u).unwrap();
    assert!(relative(&u, &wanted) < 1e-12, "{u:?}");
    // The same by the impulse itself.
    let (t1, t2) = tippe::math::tangents(Vec3::Z);
    let impulse = Vec3::Z * p[0] + t1 * p[1] + t2 * p[2];
    tippe::articulated::articulate(&c.model, &c.q, &mut work).unwrap();
    let mut change = vec![0.0; v.len()];
    let load = Load::new(last, point, impulse);
    tippe::articulated::impulse_response(&c.model, &[load], &mut work, &mut change).unwrap();
    let found: Vec<f64> = c.v.iter().zip(&change).map(|(v, d)| v + d).collect();
    assert!(relative(&found, &v) < 1e-12);
}

#[test]
fn ab_23_a_lifted_end_opens_in_the_step_in_which_its_force_changes_sign() {
    // C5: a rod on a hinge lies with its tip on the ground; a motor lifts with more and more torque.
    let model = Model::new(&rods(1), Vec3::new(0.0, 0.0, -9.81)).unwrap();
    let mut work = Work::new(&model);
    let rows = [ConstraintRow::Point {
        touch: Touch::one(0, Vec3::X),
        direction: Vec3::Z,
    }];
    let weight = 9.81 * 0.5;
    for (torque, force) in [(0.0, weight), (3.0, weight - 3.0), (5.0, 0.0)] {
        let (mut a, mut f) = ([0.0], [0.0]);
        // Positive angles turn x towards −z.
        constrained_accelerations(
            &model,
            &[0.0],
            &[0.0],
            &[-torque],
            &[],
            &rows,
            &[Bound::NotNegative],
            &[0.0],
            &mut work,
            &mut a,
            &mut f,
        )
        .unwrap();
        assert!((f[0] - force).abs() < 1e-12, "{torque}: {f:?}");
        let up = if torque > weight {
            (torque - weight) * 3.0
        } else {
            0.0
        };
        assert!((a[0] + up).abs() < 1e-12);
    }
}

#[test]
fn ab_24_a_limit_stops_holds_and_releases_a_joint() {
    // C3: a pinned rod released horizontal falls on a limit 30° below.
    let mut links = rods(1);
    let limit = 30_f64.to_radians();
    links[0].limits = Some(Limits {
        min: -1.0,
        max: limit,
        restitution: 0.0,
    });
    let model = Model::new(&links, Vec3::new(0.0, 0.0, -9.81)).unwrap();
    let mut work = Work::new(&model);
    // Arrives with q̇² = 3 g sin 30° / L.
    let arrival = (3.0 * 9.81 * 0.5_f64).sqrt();
    let q = [limit];
    let mut v = [arrival];
    let energy = |v: &[f64], work: &mut Work| {
        kinematics(&model, &q, v, work).unwrap();
        kinetic_energy(&model, work).unwrap()
    };
    let before = energy(&v, &mut work);
    let found = limit_rows(&model, &q, &v, 1e-6).unwrap();
    assert_eq!(found.len(), 1);
    let (row, bound, target) = found[0];
    constrained_impact(
        &model,
        &q,
        &[row],
        &[bound],
        &[target],
        &mut work,
        &mut v,
        &mut [0.0],
    )
    .unwrap();
    assert!(v[0].abs() < 1e-15);
    assert!((before - energy(&v, &mut work) - 2.4525).abs() < 1e-12);
    // Then the stop bears the rod; a load the other way releases it at once.
    for (torque, held) in [(0.0, true), (-10.0, false)] {
        let (mut a, mut f) = ([0.0], [0.0]);
        constrained_accelerations(
            &model,
            &q,
            &v,
            &[torque],
            &[],
            &[row],
            &[bound],
            &[0.0],
            &mut work,
            &mut a,
            &mut f,
        )
        .unwrap();
        if held {
            let expected = 9.81 * 0.5 * libm::cos(limit);
            assert!(
                (f[0] + expected).abs() < 1e-12 && a[0].abs() < 1e-12,
                "{f:?}"
            );
        } else {
            assert!(f[0] == 0.0 && a[0] < -1.0);
        }
    }
    // With restitution the joint leaves its stop.
    links[0].limits = Some(Limits {
        restitution: 0.5,
        ..links[0].limits.unwrap()
    });
    let model = Model::new(&links, Vec3::ZERO).unwrap();
    let mut v = [arrival];
    let (row, bound, target) = limit_rows(&model, &q, &v, 1e-6).unwrap()[0];
    constrained_impact(
        &model,
        &q,
        &[row],
        &[bound],
        &[target],
        &mut work,
        &mut v,
        &mut [0.0],
    )
    .unwrap();
    assert!((v[0] + 0.5 * arrival).abs() < 1e-14);
}

#[test]
fn ab_25_a_joint_follows_its_trajectory() {
    // The first of three hinged rods follows a sine; the others swing freely. RK4 at 1 ms.
    let model = Model::new(&rods(3), Vec3::new(0.0, 0.0, -9.81)).unwrap();
    let mut work = Work::new(&model);
    let wanted = |t: f64| {
        let (w, s) = (3.0, 0.4);
        (
            s * libm::sin(w * t),
            s * w * libm::cos(w * t),
            -s * w * w * libm::sin(w * t),
        )
    };
    let mut evaluate = |t: f64, x: &[f64; 6]| -> [f64; 6] {
        let (r, rv, ra) = wanted(t);
        // A little feedback keeps rounding from growing.
        let target = ra + 20.0 * (rv - x[3]) + 100.0 * (r - x[0]);
        let (mut a, mut f) = ([0.0; 3], [0.0]);
        constrained_accelerations(
            &model,
            &x[..3],
            &x[3..],
            &[0.0; 3],
            &[],
            &[ConstraintRow::Freedom(0)],
            &[Bound::Free],
            &[target],
            &mut work,
            &mut a,
            &mut f,
        )
        .unwrap();
        [x[3], x[4], x[5], a[0], a[1], a[2]]
    };
    let (h, mut t) = (1e-3, 0.0);
    let mut x = [0.0, 0.2, -0.1, wanted(0.0).1, 0.0, 0.0];
    let mut worst = 0.0_f64;
    for _ in 0..2000 {
        let moved = |k: &[f64; 6], s: f64| std::array::from_fn(|i| x[i] + s * k[i]);
        let k1 = evaluate(t, &x);
        let k2 = evaluate(t + 0.5 * h, &moved(&k1, 0.5 * h));
        let k3 = evaluate(t + 0.5 * h, &moved(&k2, 0.5 * h));
        let k4 = evaluate(t + h, &moved(&k3, h));
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        t += h;
        worst = worst.max((x[0] - wanted(t).0).abs());
    }
    assert!(worst < 1e-6, "{worst:e}");
}

#[test]
fn ab_27_dry_friction_holds_up_to_its_torque_and_slides_beyond() {
    // C7: 3 N·m hold a rod of 1 kg and 1 m up to 37.7° from hanging.
    let model = Model::new(&rods(1), Vec3::new(0.0, 0.0, -9.81)).unwrap();
    let mut work = Work::new(&model);
    for (degrees, holds) in [(37.0, true), (38.5, false)] {
        let angle: f64 = degrees;
        let q = [std::f64::consts::FRAC_PI_2 - angle.to_radians()];
        let (mut a, mut f) = ([0.0], [0.0]);
        constrained_accelerations(
            &model,
            &q,
            &[0.0],
            &[0.0],
            &[],
            &[ConstraintRow::Freedom(0)],
            &[dry_friction(3.0)],
            &[0.0],
            &mut work,
            &mut a,
            &mut f,
        )
        .unwrap();
        let load = 9.81 * 0.5 * libm::sin(angle.to_radians());
        if holds {
            assert!((f[0].abs() - load).abs() < 1e-12 && a[0].abs() < 1e-12);
        } else {
            assert!((f[0].abs() - 3.0).abs() < 1e-15);
            assert!((a[0] - 3.0 * (load - 3.0)).abs() < 1e-12, "{a:?}");
        }
    }
}
