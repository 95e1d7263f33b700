//! One-step contact problems: closed forms, redundant random ones, bad input.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use tippe::dynamics::one_step::{ContactProblem, SolveParams};
use tippe::math::skew;
use tippe::{Mat3, Vec3};

/// Contacts of a rigid body of mass 1 and inertia `inertia` with the world, at `arms` from its centre, all with normal z.
/// Order of a contact: normal, tangents x and y.
fn on_the_floor(arms: &[Vec3], inertia: f64, v: Vec3, w: Vec3, mu: f64) -> ContactProblem {
    let turn = Mat3::from_cols(Vec3::Y, Vec3::Z, Vec3::X);
    let mut entries = Vec::new();
    for (i, a) in arms.iter().enumerate() {
        for (j, b) in arms.iter().enumerate() {
            let k = Mat3::IDENTITY - skew(*a) * skew(*b) * (1.0 / inertia);
            let block = turn * k * turn.transpose();
            for row in 0..3 {
                for column in 0..3 {
                    entries.push((3 * i + row, 3 * j + column, block.col(column)[row]));
                }
            }
        }
    }
    let q = arms.iter().map(|a| turn * (v + w.cross(*a))).collect();
    ContactProblem::new(vec![mu; arms.len()], q, entries).unwrap()
}

fn corners(half: f64) -> Vec<Vec3> {
    [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
        .map(|(x, y)| Vec3::new(half * x, half * y, -half))
        .to_vec()
}

#[test]
fn a_block_slides_or_sticks_as_coulomb_says() {
    for (mu, speed) in [(0.2, 3.0), (0.2, 0.1), (0.0, 1.0)] {
        // Falls at 1 m/s, slides at `speed`: the impulse m·1 upwards takes at most μ·1 off the speed.
        let v = Vec3::new(speed, 0.0, -1.0);
        let problem = on_the_floor(&corners(0.5), 1.0 / 6.0, v, Vec3::ZERO, mu);
        let found = problem.solve(&SolveParams::default());
        assert!(!found.capped && found.residuals.natural < 1e-10);
        let total: Vec3 = found.impulses.iter().copied().sum();
        let friction = speed.min(mu);
        assert!(
            (total - Vec3::new(1.0, -friction, 0.0)).length() < 1e-9,
            "{total}"
        );
    }
}

#[test]
fn what_recedes_gets_no_impulse() {
    let problem = on_the_floor(&corners(0.5), 0.2, Vec3::Z, Vec3::ZERO, 0.5);
    let found = problem.solve(&SolveParams::default());
    assert!(found.impulses.iter().all(|r| *r == Vec3::ZERO) && !found.capped);
}

#[test]
fn redundant_contacts_of_random_bodies_are_solved_to_rounding() {
    // Up to twelve contacts on six degrees of freedom: W is singular, the impulses are not unique, the motion is.
    let mut seed = 7u64;
    let mut draw = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    for k in 0..60 {
        let n = 1 + k % 12;
        let mut vector = || Vec3::new(draw(), draw(), draw());
        let arms: Vec<Vec3> = (0..n).map(|_| vector()).collect();
        let (v, w) = (vector() - Vec3::Z, vector());
        let mu = 0.1 * (k % 10) as f64;
        let found = on_the_floor(&arms, 0.3, v, w, mu).solve(&SolveParams::default());
        let r = found.residuals;
        assert!(!found.capped && r.natural < 1e-10, "problem {k}: {r:?}");
        assert!(r.approach < 1e-9 && r.cone < 1e-9 && r.dissipation < 1e-9 && r.pull < 1e-12);
        // Friction and restitution-free contact only take energy.
        let gain: f64 = found
            .impulses
            .iter()
            .zip(&found.velocities)
            .map(|(p, u)| p.dot(*u))
            .sum();
        assert!(gain <= 1e-9, "problem {k} gains {gain}");
    }
}

#[test]
fn residuals_of_wrong_answers_are_not_small() {
    let problem = on_the_floor(
        &corners(0.5),
        0.2,
        Vec3::new(2.0, 0.0, -1.0),
        Vec3::ZERO,
        0.3,
    );
    let mut wrong = problem.solve(&SolveParams::default()).impulses;
    wrong[1].x *= 1.01;
    let r = problem.residuals(&wrong);
    assert!(r.natural > 1e-4 && r.signorini > 1e-4);
    let few = SolveParams {
        sweeps: 1,
        rounds: 0,
        ..SolveParams::default()
    };
    let tilted = on_the_floor(&corners(0.5), 0.2, Vec3::new(2.0, 0.4, -1.0), Vec3::X, 0.3);
    assert!(tilted.solve(&few).capped);
}

#[test]
fn bad_problems_are_refused_with_the_field() {
    let new =
        |mu: f64, q: Vec<Vec3>, entry| ContactProblem::new(vec![mu], q, [entry]).unwrap_err().field;
    let one = vec![Vec3::X];
    assert_eq!(new(-1.0, one.clone(), (0, 0, 1.0)), "friction[0]");
    assert_eq!(new(0.1, vec![], (0, 0, 1.0)), "q");
    assert_eq!(new(0.1, vec![Vec3::NAN], (0, 0, 1.0)), "q[0]");
    assert_eq!(new(0.1, one.clone(), (0, 3, 1.0)), "W[0, 3]");
    assert_eq!(new(0.1, one.clone(), (1, 1, f64::INFINITY)), "W[1, 1]");
    assert_eq!(new(0.1, one.clone(), (1, 1, -1.0)), "W[1, 1]");
    // Nothing answers: approach cannot be stopped, and that is said.
    let dead = ContactProblem::new(vec![0.1], vec![-Vec3::X], [(0, 0, 0.0)]).unwrap();
    assert!(dead.solve(&SolveParams::default()).capped);
    let empty = ContactProblem::new(vec![], vec![], []).unwrap();
    assert!(!empty.solve(&SolveParams::default()).capped);
}
