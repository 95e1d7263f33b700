//! Adaptive bodies in motion: what locking keeps, what a budget costs, impacts and limits on the hybrid body.

#![allow(clippy::unwrap_used)]

use crate::articulated_support;

use articulated_support::{Case, Random, read, reference, rod, rods};
use tippe::articulated::{
    AdaptiveBody, AdaptiveDesc, AdaptiveInput, AdaptiveState, ConstraintRow, Integrator, Joint,
    Limits, LinkDesc, Load, Model, OtherSide, Touch, Work, collision_matrix,
    constrained_accelerations, constrained_impact, kinematics, kinetic_energy, limit_rows,
    link_pose, momentum, point_velocity, step, strike,
};
use tippe::material::Surface;
use tippe::math::mixed_lcp::Bound;
use tippe::math::{Mat3, Pose, Vec3};

const G: Vec3 = Vec3::new(0.0, 0.0, -9.81);
const ONE: Integrator = Integrator::OneEvaluation;

const fn input(tau: &[f64]) -> AdaptiveInput<'_> {
    AdaptiveInput {
        tau,
        loads: &[],
        pins: &[],
    }
}

fn tip(model: &Model, q: &[f64], work: &mut Work) -> Vec3 {
    kinematics(model, q, &vec![0.0; model.freedom_count()], work).unwrap();
    let last = model.link_count() - 1;
    link_pose(model, work, last).unwrap().point(Vec3::X)
}

#[test]
fn ab_33_the_tip_of_a_long_pendulum_comes_nearer_with_every_joint_of_the_budget() {
    // C9: 300 rods released at rest from three nearly straight shapes.
    let n = 300;
    let model = Model::new(&rods(n), G).unwrap();
    let mut work = Work::new(&model);
    let (h, tau) = (1e-3, vec![0.0; n]);
    let shapes: [fn(usize) -> f64; 3] = [
        |i| 0.02 * libm::sin(0.7 * i as f64),
        |i| if i == 0 { 0.3 } else { 0.01 },
        |i| 0.05 * libm::sin(0.05 * i as f64),
    ];
    for shape in shapes {
        let start: Vec<f64> = (0..n).map(shape).collect();
        let (mut q, mut v) = (start.clone(), vec![0.0; n]);
        let mut path = Vec::new();
        for _ in 0..1000 {
            step(&model, ONE, h, &tau, &[], &mut q, &mut v, &mut work).unwrap();
            path.push(tip(&model, &q, &mut work));
        }
        let mut means = Vec::new();
        for budget in [1, 20, 50, 100, 300] {
            let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(budget), 0).unwrap();
            let mut state = AdaptiveState::new(&model);
            let (mut q, mut v) = (start.clone(), vec![0.0; n]);
            let mut sum = 0.0;
            for full in &path {
                body.step(&model, &mut state, ONE, h, &input(&tau), &mut q, &mut v)
                    .unwrap();
                assert!(state.active_count() <= budget);
                sum += (tip(&model, &q, &mut work) - *full).length();
            }
            means.push(sum / path.len() as f64);
        }
        println!("mean tip distance [m] for 1, 20, 50, 100, 300 joints: {means:?}");
        assert!(means.windows(2).all(|m| m[1] < m[0]), "{means:?}");
        assert!(means[4] < 1e-9);
    }
}

#[test]
fn ab_33_with_all_joints_the_motion_is_that_of_the_whole_tree() {
    let h = 1e-3;
    for name in ["tree_a", "tree_b", "tree_c"] {
        let c = reference(&read(name));
        let joints = AdaptiveState::new(&c.model).active.len();
        let mut body = AdaptiveBody::new(&c.model, AdaptiveDesc::joints(joints), 0).unwrap();
        let mut state = AdaptiveState::new(&c.model);
        let mut work = Work::new(&c.model);
        let (mut q, mut v) = (c.q.clone(), c.v.clone());
        let (mut aq, mut av) = (c.q.clone(), c.v.clone());
        for _ in 0..1000 {
            step(&c.model, ONE, h, &c.tau, &[], &mut q, &mut v, &mut work).unwrap();
            body.step(
                &c.model,
                &mut state,
                ONE,
                h,
                &input(&c.tau),
                &mut aq,
                &mut av,
            )
            .unwrap();
        }
        let worst = q.iter().zip(&aq).chain(v.iter().zip(&av));
        let worst = worst.fold(0.0_f64, |s, (x, y)| s.max((x - y).abs() / (1.0 + x.abs())));
        println!("{name}: {worst:e}");
        assert!(worst < 1e-9, "{name}: {worst:e}");
    }
}

/// Kinetic energy and momenta, about the origin.
fn measure(model: &Model, q: &[f64], v: &[f64], work: &mut Work) -> (f64, [f64; 6]) {
    kinematics(model, q, v, work).unwrap();
    let p = momentum(model, work).unwrap();
    let (n, f) = (p.torque, p.force);
    (
        kinetic_energy(model, work).unwrap(),
        [n.x, n.y, n.z, f.x, f.y, f.z],
    )
}

/// A random tree on a free joint.
fn floating(random: &mut Random, n: usize) -> Case {
    let links: Vec<LinkDesc> = (0..n)
        .map(|i| {
            let joint = if i == 0 { Joint::Free } else { random.joint() };
            let parent = i.checked_sub(1).map(|last| {
                if random.next() < 0.3 {
                    last
                } else {
                    random.below(i)
                }
            });
            let place = Pose::new(random.vec3() * 0.4, random.quat());
            LinkDesc::new(parent, joint, place, random.mass())
        })
        .collect();
    let model = Model::new(&links, Vec3::ZERO).unwrap();
    random.state(model)
}

#[test]
fn ab_33_locking_keeps_momenta_takes_energy_and_releasing_changes_nothing() {
    let mut random = Random(33);
    let (mut worst, mut loss, mut taken) = (0.0_f64, 0.0_f64, 0.0_f64);
    for i in 0..60 {
        let c = floating(&mut random, 3 + i % 30);
        let joints = AdaptiveState::new(&c.model).active.len();
        let desc = AdaptiveDesc {
            lock_speed: f64::INFINITY,
            patience: 0,
            interval: 1,
            ..AdaptiveDesc::joints(1 + random.below(joints))
        };
        let mut body = AdaptiveBody::new(&c.model, desc, 0).unwrap();
        let mut state = AdaptiveState::new(&c.model);
        let (q, mut v) = (c.q.clone(), c.v.clone());
        let mut work = Work::new(&c.model);
        // Torques that change from one selection to the next make it choose other joints.
        for _ in 0..6 {
            let tau: Vec<f64> = c.tau.iter().map(|t| t * 100.0 * random.next()).collect();
            let (energy, before) = measure(&c.model, &q, &v, &mut work);
            let s = body
                .select(&c.model, &mut state, 1e-2, &input(&tau), &q, &mut v)
                .unwrap();
            let (after_energy, after) = measure(&c.model, &q, &v, &mut work);
            let size = before.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
            for k in 0..6 {
                worst = worst.max((after[k] - before[k]).abs() / size);
            }
            assert!(after_energy <= energy * (1.0 + 1e-13), "{s:?}");
            assert!(s.energy_taken >= 0.0);
            loss = loss.max((energy - after_energy - s.energy_taken).abs() / energy);
            taken += s.energy_taken;
            if s.locked == 0 {
                assert_eq!(after_energy.to_bits(), energy.to_bits());
            }
        }
    }
    println!("momenta {worst:e}, energy account {loss:e}, taken {taken:.3} J");
    assert!(taken > 1.0 && worst < 1e-12, "{worst:e}");
    assert!(loss < 1e-11, "{loss:e}");
}

#[test]
fn ab_33_a_free_flight_keeps_its_momenta_as_well_as_the_whole_tree() {
    // Largest change of a momentum over 1 s, summed over ten trees: their motions differ, so that single trees say
    // little.
    let mut random = Random(8);
    let (mut full, mut adaptive) = (0.0, 0.0);
    for _ in 0..10 {
        let c = floating(&mut random, 12);
        full += drift(&c, None);
        adaptive += drift(&c, Some(6));
    }
    println!("drift of momenta in 1 s: whole {full:e}, adaptive {adaptive:e}");
    assert!(adaptive <= full, "{full:e} {adaptive:e}");
}

/// Largest change of a momentum in 1 s of free flight, with a budget or without.
fn drift(c: &Case, budget: Option<usize>) -> f64 {
    let (mut q, mut v) = (c.q.clone(), c.v.clone());
    let tau = vec![0.0; v.len()];
    let mut work = Work::new(&c.model);
    let (_, start) = measure(&c.model, &q, &v, &mut work);
    let desc = AdaptiveDesc {
        lock_speed: f64::INFINITY,
        ..AdaptiveDesc::joints(budget.unwrap_or(1))
    };
    let mut body = AdaptiveBody::new(&c.model, desc, 0).unwrap();
    let mut state = AdaptiveState::new(&c.model);
    let how = Integrator::HighOrder;
    for _ in 0..1000 {
        if budget.is_none() {
            step(&c.model, how, 1e-3, &tau, &[], &mut q, &mut v, &mut work).unwrap();
        } else {
            let all = input(&tau);
            body.step(&c.model, &mut state, how, 1e-3, &all, &mut q, &mut v)
                .unwrap();
        }
    }
    let (_, end) = measure(&c.model, &q, &v, &mut work);
    (0..6).fold(0.0_f64, |s, k| s.max((end[k] - start[k]).abs()))
}

fn surface(restitution: f64) -> Surface {
    Surface::new(0.0, restitution)
}

/// A chain of 100 rods that hangs at rest.
fn hanging() -> (Model, Vec<f64>) {
    let model = Model::new(&rods(100), G).unwrap();
    let mut q = model.neutral();
    q[0] = core::f64::consts::FRAC_PI_2;
    (model, q)
}

#[test]
fn ab_35_a_ball_rebounds_from_an_adaptive_chain_as_from_the_whole() {
    // C10: an elastic ball of 1 kg hits link 70 at 5 m/s; 10 of 100 joints move.
    let (model, q) = hanging();
    let (link, point, n) = (69, Vec3::new(0.0, 0.0, -69.5), Vec3::X);
    let touch = Touch::one(link, point);
    let ball = OtherSide {
        response: Mat3::IDENTITY,
        velocity: Vec3::X * 5.0,
    };
    let tau = vec![0.0; 100];
    let mut work = Work::new(&model);
    let mut v = vec![0.0; 100];
    let (full, _) = strike(
        &model,
        &q,
        &mut v,
        &touch,
        n,
        &ball,
        &surface(1.0),
        &mut work,
    )
    .unwrap();
    let rebound = |p: Vec3| 5.0 - p.x;
    let expected = rebound(full.impulse);
    let mut errors = Vec::new();
    for again in [true, false] {
        let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(10), 0).unwrap();
        let mut state = AdaptiveState::new(&model);
        let mut v = vec![0.0; 100];
        body.select(&model, &mut state, 1e-3, &input(&tau), &q, &mut v)
            .unwrap();
        if again {
            let contacts = [(touch, n)];
            let all = input(&tau);
            body.select_for_impact(&model, &mut state, 1e-3, &all, &contacts, &q, &mut v)
                .unwrap();
            assert_eq!(state.clock, 0);
        }
        assert_eq!(state.active_count(), 10);
        let (found, reaction) = body
            .strike(&model, &state, &touch, n, &ball, &surface(1.0), &q, &mut v)
            .unwrap();
        // What the ball loses, chain and world have.
        let (_, p) = measure(&model, &q, &v, &mut work);
        let gained = Vec3::new(p[3], p[4], p[5]);
        let kept = (gained - found.impulse - reaction.force).length();
        assert!(kept < 1e-12 * found.impulse.length(), "{kept:e}");
        // The contact leaves with the restitution asked for.
        kinematics(&model, &q, &v, &mut work).unwrap();
        let leaves = point_velocity(&model, &work, link, point).unwrap().x;
        let apart = leaves - rebound(found.impulse);
        assert!((apart - 5.0).abs() < 1e-11, "{apart}");
        errors.push((rebound(found.impulse) - expected).abs() / expected.abs());
    }
    println!("full rebound {expected:.4} m/s; errors with and without re-selection {errors:.4?}");
    assert!(errors[0] < 0.05 && errors[1] > errors[0], "{errors:?}");
}

#[test]
fn ab_36_a_limit_stops_a_chain_of_which_few_joints_move() {
    // C3 on a chain of 100: joint 40 arrives at its limit while joints below it move with it.
    let n = 100;
    let mut links = rods(n);
    links[40].limits = Some(Limits {
        min: -1.0,
        max: 0.5,
        restitution: 0.0,
    });
    let model = Model::new(&links, G).unwrap();
    let mut q: Vec<f64> = (0..n).map(|i| 0.03 * libm::sin(i as f64)).collect();
    q[40] = 0.5;
    let mut v = vec![0.0; n];
    v[40] = 2.0;
    let tau = vec![0.0; n];
    let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(10), 0).unwrap();
    let mut state = AdaptiveState::new(&model);
    body.select(&model, &mut state, 1e-3, &input(&tau), &q, &mut v)
        .unwrap();
    assert!(state.active[40] && state.active_count() == 10);
    let mut work = Work::new(&model);
    let (before, _) = measure(&model, &q, &v, &mut work);
    let view = body.hybrid(&model, &state, &q, &v).unwrap();
    let found = limit_rows(view.model, view.q, view.v, 1e-6).unwrap();
    assert_eq!(found.len(), 1);
    let (row, bound, target) = found[0];
    let ConstraintRow::Freedom(k) = row else {
        panic!("{row:?}")
    };
    assert_eq!(view.freedoms[k], 40);
    let mut impulse = [0.0];
    constrained_impact(
        view.model,
        view.q,
        &[row],
        &[bound],
        &[target],
        view.work,
        view.v,
        &mut impulse,
    )
    .unwrap();
    body.store(&model, &mut q, &mut v).unwrap();
    assert!(v[40].abs() < 1e-12 && impulse[0] < 0.0);
    // Lost is ½ q̇² / (M⁻¹)ᵢᵢ of the hybrid body: −½ q̇ times the impulse.
    let (after, _) = measure(&model, &q, &v, &mut work);
    assert!((before - after + impulse[0]).abs() < 1e-9 * before);
    bears_and_releases(&model, &mut body, &state, (&q, &v), (k, row, bound));
    // Later the joint at its limit stays active, whatever the score says.
    for _ in 0..5 {
        body.select(&model, &mut state, 1e-3, &input(&tau), &q, &mut v)
            .unwrap();
        assert!(state.active[40]);
    }
}

/// The stop bears what presses on it; a torque the other way releases the joint at once.
fn bears_and_releases(
    model: &Model,
    body: &mut AdaptiveBody,
    state: &AdaptiveState,
    (q, v): (&[f64], &[f64]),
    (k, row, bound): (usize, ConstraintRow, Bound),
) {
    for (torque, held) in [(1000.0, true), (-1e5, false)] {
        let view = body.hybrid(model, state, q, v).unwrap();
        let m = view.v.len();
        let mut torques = vec![0.0; m];
        torques[k] = torque;
        let (mut a, mut f) = (vec![0.0; m], [0.0]);
        constrained_accelerations(
            view.model,
            view.q,
            view.v,
            &torques,
            &[],
            &[row],
            &[bound],
            &[0.0],
            view.work,
            &mut a,
            &mut f,
        )
        .unwrap();
        assert_eq!(held, f[0] < 0.0, "{torque}: {f:?}");
        assert!(if held { a[k].abs() < 1e-9 } else { a[k] < 0.0 });
    }
}

#[test]
fn ab_36_several_contacts_of_a_chain_of_which_few_joints_move() {
    // C4: a floating chain of 100 rods lies along x on four points, and falls flat on them.
    let n = 100;
    let mut links = rods(n);
    links[0] = LinkDesc::new(None, Joint::Free, Pose::IDENTITY, {
        let mut mass = rod();
        mass.inertia.x_axis.x = 0.01;
        mass
    });
    let model = Model::new(&links, G).unwrap();
    let (q, tau) = (model.neutral(), vec![0.0; model.freedom_count()]);
    let mut v = vec![0.0; model.freedom_count()];
    // Falling with 1 m/s: velocities of the free link are in its own axes.
    v[5] = -1.0;
    let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(10), 0).unwrap();
    let mut state = AdaptiveState::new(&model);
    let touches: Vec<Touch> = [2, 35, 66, 97]
        .map(|l| Touch::one(l, Vec3::X * (l as f64 + 0.5)))
        .to_vec();
    let contacts: Vec<(Touch, Vec3)> = touches.iter().map(|t| (*t, Vec3::Z)).collect();
    body.select(&model, &mut state, 1e-3, &input(&tau), &q, &mut v)
        .unwrap();
    body.select_for_impact(
        &model,
        &mut state,
        1e-3,
        &input(&tau),
        &contacts,
        &q,
        &mut v,
    )
    .unwrap();
    assert!(state.active[0] && state.active_count() == 10);
    let mut rows = Vec::new();
    for t in &touches {
        rows.push(ConstraintRow::Point {
            touch: body.hybrid_touch(&model, t).unwrap(),
            direction: Vec3::Z,
        });
    }
    let bounds = [Bound::NotNegative; 4];
    let mut v_after = v.clone();
    let view = body.hybrid(&model, &state, &q, &v).unwrap();
    let mut p = [0.0; 4];
    let solved = constrained_impact(
        view.model, view.q, &rows, &bounds, &[0.0; 4], view.work, view.v, &mut p,
    )
    .unwrap();
    assert!(solved.converged);
    body.store(&model, &mut q.clone(), &mut v_after).unwrap();
    let mut work = Work::new(&model);
    let (_, momenta) = measure(&model, &q, &v_after, &mut work);
    for t in &touches {
        let end = t.b.unwrap();
        let u = point_velocity(&model, &work, end.link, end.point).unwrap();
        assert!(u.z > -1e-9, "{u}");
    }
    // What the ground gave is what the fall lost.
    let change = momenta[5] + n as f64;
    assert!((p.iter().sum::<f64>() - change).abs() < 1e-9);
    // At rest on the points: pushes only, and with the free joint alone the chain is rigid and they are its weight.
    let still = vec![0.0; v.len()];
    let few = forces(&model, &mut body, &state, &touches, &q);
    assert!(few.iter().all(|f| *f >= 0.0) && few.iter().sum::<f64>() > 0.1 * 981.0);
    let mut stiff = AdaptiveBody::new(&model, AdaptiveDesc::joints(1), 0).unwrap();
    let mut state = AdaptiveState::new(&model);
    stiff
        .select(
            &model,
            &mut state,
            1e-3,
            &input(&tau),
            &q,
            &mut still.clone(),
        )
        .unwrap();
    let all = forces(&model, &mut stiff, &state, &touches, &q);
    assert!(
        (all.iter().sum::<f64>() - 981.0).abs() < 1e-8 * 981.0,
        "{all:?}"
    );
}

/// Forces at the contacts of a tree at rest.
fn forces(
    model: &Model,
    body: &mut AdaptiveBody,
    state: &AdaptiveState,
    touches: &[Touch],
    q: &[f64],
) -> [f64; 4] {
    let rows: Vec<ConstraintRow> = touches
        .iter()
        .map(|t| ConstraintRow::Point {
            touch: body.hybrid_touch(model, t).unwrap(),
            direction: Vec3::Z,
        })
        .collect();
    let still = vec![0.0; model.freedom_count()];
    let view = body.hybrid(model, state, q, &still).unwrap();
    let m = view.v.len();
    let (mut a, mut f) = (vec![0.0; m], [0.0; 4]);
    constrained_accelerations(
        view.model,
        view.q,
        view.v,
        &vec![0.0; m],
        &[],
        &rows,
        &[Bound::NotNegative; 4],
        &[0.0; 4],
        view.work,
        &mut a,
        &mut f,
    )
    .unwrap();
    f
}

#[test]
fn ab_33_a_spring_holds_a_chain_where_the_choice_sees_it() {
    // The other half of C9: 50 rods without gravity, a spring force on link 30. Five joints chosen by the score come
    // nearer to where the whole chain goes than five chosen breadth first.
    let n = 50;
    let model = Model::new(&rods(n), Vec3::ZERO).unwrap();
    let tau = vec![0.0; n];
    let anchor = Vec3::new(30.5, 0.0, -1.0);
    let run = |desc: AdaptiveDesc, pins: Option<&[usize]>| {
        let mut body = AdaptiveBody::new(&model, desc, 0).unwrap();
        let mut state = AdaptiveState::new(&model);
        let (mut q, mut v) = (model.neutral(), vec![0.0; n]);
        let mut work = Work::new(&model);
        for _ in 0..400 {
            kinematics(&model, &q, &v, &mut work).unwrap();
            let at = link_pose(&model, &work, 30).unwrap().point(Vec3::X * 0.5);
            let loads = [Load::new(30, at, (anchor - at) * 5.0)];
            let input = AdaptiveInput {
                tau: &tau,
                loads: &loads,
                pins: pins.unwrap_or(&[]),
            };
            body.step(&model, &mut state, ONE, 5e-3, &input, &mut q, &mut v)
                .unwrap();
            assert!(state.active_count() == 5 || state.active_count() == n);
        }
        kinematics(&model, &q, &v, &mut work).unwrap();
        link_pose(&model, &work, 30).unwrap().point(Vec3::X * 0.5)
    };
    let whole = run(AdaptiveDesc::joints(n), None);
    let adaptive = run(AdaptiveDesc::joints(5), None);
    // The first five joins of the assembly: the base, and halves and quarters of the rest.
    let breadth = run(AdaptiveDesc::joints(5), Some(&[0, 25, 12, 37, 6]));
    let error = |x: Vec3| (x - whole).length();
    println!(
        "spring: adaptive {:.3e}, breadth first {:.3e}",
        error(adaptive),
        error(breadth)
    );
    assert!(error(adaptive) < error(breadth));
}

#[test]
fn ab_33_a_body_thrown_away_and_made_anew_goes_on_with_the_same_bits() {
    let mut random = Random(77);
    for _ in 0..10 {
        let c = random.tree(25);
        if c.model.freedom_count() < 3 {
            continue;
        }
        let mut state = AdaptiveState::new(&c.model);
        let mut body = AdaptiveBody::new(&c.model, AdaptiveDesc::joints(6), 0).unwrap();
        let (mut q, mut v) = (c.q.clone(), c.v.iter().map(|x| 0.1 * x).collect::<Vec<_>>());
        let (mut other, mut oq, mut ov) = (state.clone(), q.clone(), v.clone());
        for _ in 0..60 {
            body.step(
                &c.model,
                &mut state,
                ONE,
                2e-3,
                &input(&c.tau),
                &mut q,
                &mut v,
            )
            .unwrap();
            let mut anew = AdaptiveBody::new(&c.model, AdaptiveDesc::joints(6), 0).unwrap();
            anew.step(
                &c.model,
                &mut other,
                ONE,
                2e-3,
                &input(&c.tau),
                &mut oq,
                &mut ov,
            )
            .unwrap();
            assert!(state == other && state.words().eq(other.words()));
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!((bits(&q), bits(&v)), (bits(&oq), bits(&ov)));
        }
    }
}

#[test]
fn ab_35_locked_joints_make_a_chain_stiffer_and_the_choice_less_so() {
    let (model, q) = hanging();
    let touch = Touch::one(69, Vec3::new(0.0, 0.0, -69.5));
    let (tau, mut v) = (vec![0.0; 100], vec![0.0; 100]);
    let mut work = Work::new(&model);
    tippe::articulated::articulate(&model, &q, &mut work).unwrap();
    let full = collision_matrix(&model, &touch, &mut work)
        .unwrap()
        .x_axis
        .x;
    let mut last = 0.0;
    for budget in [1, 5, 10, 20, 50, 100] {
        let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(budget), 0).unwrap();
        let mut state = AdaptiveState::new(&model);
        let contacts = [(touch, Vec3::X)];
        body.select_for_impact(
            &model,
            &mut state,
            1e-3,
            &input(&tau),
            &contacts,
            &q,
            &mut v,
        )
        .unwrap();
        let k = body
            .collision_matrix(&model, &state, &touch, &q, &v)
            .unwrap();
        assert!(k.x_axis.x >= last && k.x_axis.x <= full * (1.0 + 1e-12));
        last = k.x_axis.x;
    }
    assert!((last - full).abs() < 1e-12 * full);
}

#[test]
fn ab_33_random_trees_with_random_budgets_stay_sound() {
    let worst = articulated_support::adaptive::random_trees(100, 2024);
    println!("{worst:?}");
    assert!(worst.residual < 1e-8, "{worst:?}");
    assert!(worst.collisions > 50 && worst.limits > 5, "{worst:?}");
}
