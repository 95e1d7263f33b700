//! Complementarity kernels against problems whose answer, or whose lack of one, is known.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `cargo test`.
//! Source: spec articulated §6.2 and collisions §8.4 as docs/requirements.md lists them; [Cottle92] for the classes of matrices.

#![allow(non_snake_case)]

use crate::lcp_support;

use lcp_support::{
    Random, apart, constant, friction, friction_by_rows, gram, infeasible, jacobian, known,
};
use tippe::Vec3;
use tippe::dynamics::one_step::{ContactProblem, SolveParams};
use tippe::math::lcp::{End, Kernel, Params, Problem, Row, Solution, solve};
use tippe::solver::core::Core;
use tippe::solver::problem::{Budget, Friction};

const PIVOTING: [Kernel; 3] = [Kernel::Lemke, Kernel::Dantzig, Kernel::Principal];

fn by(kernel: Kernel, problem: &Problem) -> Solution {
    solve(kernel, problem, &Params::default(), None)
}

#[track_caller]
fn solved(kernel: Kernel, problem: &Problem) -> Solution {
    let found = by(kernel, problem);
    let (residual, n) = (found.residual, problem.len());
    assert_eq!(
        found.end,
        End::Solved,
        "{kernel:?}, {n} rows: residual {residual:e}"
    );
    finite(&found);
    found
}

#[track_caller]
fn finite(found: &Solution) {
    assert!(
        found.f.iter().chain(&found.w).all(|x| x.is_finite()),
        "{found:?}"
    );
    assert!(!found.residual.is_nan());
}

/// A matrix from rows of one width.
fn problem(A: &[&[f64]], b: &[f64]) -> Problem {
    Problem::one_sided(A.concat(), b.to_vec()).expect("a good problem")
}

#[test]
fn ab_05_small_problems_have_their_known_answers() {
    let A: [&[f64]; 2] = [&[2.0, 1.0], &[1.0, 2.0]];
    let ones: [&[f64]; 2] = [&[1.0, 1.0], &[1.0, 1.0]];
    for kernel in Kernel::ALL {
        let found = solved(kernel, &problem(&A, &[-5.0, -6.0]));
        assert!(
            apart(&found.f, &[4.0 / 3.0, 7.0 / 3.0]) < 1e-13,
            "{found:?}"
        );
        assert!(apart(&found.w, &[0.0; 2]) < 1e-13);
        let found = solved(kernel, &problem(&A, &[-5.0, 6.0]));
        assert!(apart(&found.f, &[2.5, 0.0]) < 1e-13 && apart(&found.w, &[0.0, 8.5]) < 1e-13);
        // Singular: any split.
        let found = solved(kernel, &problem(&ones, &[-1.0, -1.0]));
        assert!(
            (found.f[0] + found.f[1] - 1.0).abs() < 1e-13 && apart(&found.w, &[0.0; 2]) < 1e-13
        );
    }
}

#[test]
fn ab_05_four_legs_carry_the_table() {
    // Legs at the corners of a table, mass m, inertia 1 about both axes; the matrix has rank 3.
    let (m, g) = (2.0, 9.81);
    let feet = [[1.0, 0.7], [-1.0, 0.7], [-1.0, -0.7], [1.0, -0.7]];
    let A: Vec<f64> = feet
        .iter()
        .flat_map(|p| {
            feet.iter()
                .map(move |q| 1.0 / m + p[0] * q[0] + p[1] * q[1])
        })
        .collect();
    let problem = Problem::one_sided(A, vec![-g; 4]).unwrap();
    for kernel in Kernel::ALL {
        let f = solved(kernel, &problem).f;
        let sum = |k: fn(&[f64; 2]) -> f64| feet.iter().zip(&f).map(|(p, f)| k(p) * f).sum::<f64>();
        assert!(
            (sum(|_| 1.0) - m * g).abs() < 1e-12 * m * g,
            "{kernel:?} {f:?}"
        );
        assert!(
            sum(|p| p[0]).abs() < 1e-11 && sum(|p| p[1]).abs() < 1e-11,
            "{kernel:?} {f:?}"
        );
        assert!(f.iter().all(|f| *f >= 0.0));
    }
}

#[test]
fn ab_05_a_thousand_random_problems_of_any_rank_agree() {
    let mut random = Random(5);
    for case in 0..1000 {
        let n = random.count(1, 60);
        let (problem, w) = known(&mut random, n);
        for kernel in Kernel::ALL {
            let found = solved(kernel, &problem);
            let off = apart(&found.w, &w);
            assert!(off < 1e-8, "{case}: {kernel:?}, {n} rows: w off by {off:e}");
            assert!(found.f.iter().all(|f| *f >= 0.0));
        }
    }
}

/// Jᵀ f: what the forces do to the bodies, whatever their split.
fn motion(J: &[Vec<f64>], f: &[f64]) -> Vec<f64> {
    (0..J[0].len())
        .map(|c| J.iter().zip(f).map(|(row, f)| row[c] * f).sum())
        .collect()
}

#[test]
fn cl_36_kernels_agree_on_the_motion() {
    let mut random = Random(36);
    for case in 0..1000 {
        let n = random.count(1, 40);
        let rank = random.count(n.div_ceil(2), n);
        let J = jacobian(&mut random, n, rank);
        let (mut f, mut w) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            let load = if random.count(0, 1) == 0 {
                &mut f
            } else {
                &mut w
            };
            load[i] = random.unit();
        }
        let A = gram(&J);
        let b = constant(&A, &f, &w);
        let problem = Problem::one_sided(A, b).unwrap();
        for kernel in Kernel::ALL {
            let found = solved(kernel, &problem);
            let off = apart(&motion(&J, &found.f), &motion(&J, &f));
            assert!(
                off < 1e-8,
                "{case}: {kernel:?}, {n} rows: motion off by {off:e}"
            );
        }
    }
}

#[test]
fn ab_05_sweeps_that_are_stopped_early_give_forces_that_push() {
    let mut random = Random(6);
    for _ in 0..100 {
        let (problem, _) = known(&mut random, 40);
        let mut last = f64::INFINITY;
        let mut start: Option<Vec<f64>> = None;
        for sweeps in [1, 2, 5, 400] {
            let params = Params {
                sweeps,
                ..Params::default()
            };
            let found = solve(Kernel::GaussSeidel, &problem, &params, start.as_deref());
            assert!(found.sweeps <= sweeps && found.f.iter().all(|f| *f >= 0.0));
            assert!(
                matches!(found.end, End::Solved | End::Limit),
                "{:?}",
                found.end
            );
            assert!(found.residual <= last, "what was reached is kept");
            last = found.residual;
            start = Some(found.f);
        }
        assert!(last < 1e-9, "{last:e}");
    }
}

#[test]
fn problems_without_a_solution_are_told_with_a_proof() {
    let mut random = Random(7);
    for case in 0..200 {
        let n = random.count(1, 60);
        let problem = infeasible(&mut random, n);
        for kernel in Kernel::ALL {
            let found = by(kernel, &problem);
            finite(&found);
            match &found.end {
                End::Infeasible(ray) => assert!(problem.certifies(ray), "{case} {kernel:?}"),
                other => panic!("{case}: {kernel:?}, {n} rows: {other:?}"),
            }
        }
    }
}

#[test]
fn a_proof_is_no_proof_where_there_is_a_solution() {
    let mut random = Random(8);
    for _ in 0..200 {
        let (problem, _) = known(&mut random, 12);
        let ray: Vec<f64> = (0..12).map(|_| random.unit()).collect();
        assert!(!problem.certifies(&ray));
        assert!(!problem.certifies(&[0.0; 12]));
    }
}

/// The problem with round cones as `one_step` states it, an oracle with code of its own.
fn contacts(problem: &Problem) -> ContactProblem {
    let n = problem.len();
    let friction = problem.rows().iter().filter_map(|r| match r {
        Row::Cone { coefficient, .. } => Some(*coefficient),
        _ => None,
    });
    let q = problem.b().chunks_exact(3).map(Vec3::from_slice).collect();
    let entries = (0..n * n).map(|k| (k / n, k % n, problem.at(k / n, k % n)));
    ContactProblem::new(friction.collect(), q, entries).expect("a good problem")
}

/// The problem as the core of the engine takes it: one node of unit mass whose freedoms are the columns of J.
fn by_core(problem: &Problem, J: &[Vec<f64>]) -> (Vec<Vec3>, Vec<f64>) {
    let k = J[0].len();
    let mass: Vec<f64> = (0..k * k).map(|i| f64::from(i / k == i % k)).collect();
    let mut posed = tippe::solver::problem::Problem::default();
    let node = posed.add_node(&mass, &vec![0.0; k]).expect("a good mass");
    for (c, b) in problem.b().chunks_exact(3).enumerate() {
        let Row::Cone { coefficient, .. } = problem.rows()[3 * c + 1] else {
            panic!("a contact has a cone");
        };
        let target = [-b[0], -b[1], -b[2], 0.0, 0.0, 0.0];
        posed.add_contact(Friction::coulomb(coefficient), target, [0.0; 6]);
        posed.add_side(node, &J[3 * c..3 * c + 3].concat());
    }
    let budget = Budget {
        tolerance_relative: 1e-12,
        ..Budget::default()
    };
    let mut core = Core::default();
    let f = core.solve(&posed, &budget).impulses.to_vec();
    let n = problem.len();
    let w = (0..n)
        .map(|i| problem.b()[i] + (0..n).map(|j| problem.at(i, j) * f[j]).sum::<f64>())
        .collect();
    (f.chunks_exact(3).map(Vec3::from_slice).collect(), w)
}

#[test]
fn ab_06_two_hundred_problems_with_round_cones() {
    let mut random = Random(9);
    for case in 0..200 {
        let count = random.count(1, 20);
        let (problem, _, J) = friction_by_rows(&mut random, count, true, 1.0);
        let found = solved(Kernel::GaussSeidel, &problem);
        let swept: Vec<Vec3> = found.f.chunks_exact(3).map(Vec3::from_slice).collect();
        let (cored, _) = by_core(&problem, &J);
        for (name, r) in [("sweeps", &swept), ("core", &cored)] {
            let natural = contacts(&problem).residuals(r).natural;
            assert!(
                natural < 1e-8,
                "{case}: {name}, {count} contacts: natural map {natural:e}"
            );
        }
        for kernel in PIVOTING {
            assert!(matches!(by(kernel, &problem).end, End::NotApplicable(_)));
        }
    }
}

#[test]
fn ab_06_weak_friction_has_one_answer_by_sweeps_and_core() {
    let mut random = Random(10);
    for case in 0..200 {
        let count = random.count(1, 20);
        let (problem, w, J) = friction_by_rows(&mut random, count, true, 0.1);
        let swept = solved(Kernel::GaussSeidel, &problem).w;
        let (_, cored) = by_core(&problem, &J);
        for (name, u) in [("sweeps", &swept), ("core", &cored)] {
            let off = apart(u, &w);
            assert!(off < 1e-7, "{case}: {name}, {count} contacts: {off:e}");
        }
        assert!(apart(&swept, &cored) < 1e-7, "{case}: {count} contacts");
    }
}

#[test]
fn ab_06_weak_friction_has_one_answer_by_an_oracle_too() {
    let mut random = Random(10);
    for case in 0..50 {
        let count = random.count(1, 8);
        let (problem, w) = friction(&mut random, count, true, 0.1);
        let found = contacts(&problem).solve(&SolveParams::default());
        let u: Vec<f64> = found.velocities.iter().flat_map(|u| u.to_array()).collect();
        let off = apart(&u, &w);
        assert!(off < 1e-7, "{case}: {count} contacts: {off:e}");
    }
}

/// Worst violation of the conditions of a planar problem, written out.
fn planar_violation(problem: &Problem, s: &Solution) -> f64 {
    let mut worst = 0.0_f64;
    for (i, row) in problem.rows().iter().enumerate() {
        let (f, w) = (s.f[i], s.w[i]);
        let off = match *row {
            Row::OneSided => (-f).max(-w).max(f.min(w)),
            Row::Planar {
                normal,
                coefficient,
            } => {
                let bound = coefficient * s.f[normal];
                // Slip only against friction at its bound.
                let slip = if w > 0.0 {
                    (f + bound).min(w)
                } else {
                    (bound - f).min(-w)
                };
                (f.abs() - bound).max(slip)
            }
            _ => 0.0,
        };
        worst = worst.max(off);
    }
    worst
}

#[test]
fn two_hundred_planar_problems_by_all_kernels() {
    let mut random = Random(11);
    for case in 0..200 {
        let count = random.count(1, 20);
        let (problem, _) = friction(&mut random, count, false, 1.0);
        for kernel in Kernel::ALL {
            let found = solved(kernel, &problem);
            let off = planar_violation(&problem, &found);
            assert!(off < 1e-8, "{case}: {kernel:?}, {count} contacts: {off:e}");
        }
    }
}

#[test]
fn a_block_on_a_ramp_sticks_or_slides_in_every_kernel() {
    // Unit mass on a slope of 20°: w is the acceleration along (normal, down the slope).
    let (sin, cos) = (libm::sin(0.349), libm::cos(0.349));
    let g = 9.81;
    let rows = |coefficient| {
        vec![
            Row::OneSided,
            Row::Planar {
                normal: 0,
                coefficient,
            },
        ]
    };
    for kernel in Kernel::ALL {
        let with = |mu| {
            let b = vec![-g * cos, g * sin];
            let problem = Problem::new(vec![1.0, 0.0, 0.0, 1.0], b, rows(mu)).unwrap();
            solved(kernel, &problem).w[1]
        };
        assert!(with(0.4).abs() < 1e-13, "{kernel:?}");
        assert!(
            (with(0.2) - g * (sin - 0.2 * cos)).abs() < 1e-12,
            "{kernel:?}"
        );
    }
}

#[test]
fn joints_motors_and_sliding_contacts_are_rows_too() {
    let mut random = Random(12);
    for case in 0..200 {
        let n = random.count(4, 20);
        let mut rows = vec![Row::OneSided; n];
        rows[1] = Row::Free;
        rows[2] = Row::Box {
            low: -0.2,
            high: 0.3,
        };
        rows[3] = Row::Sliding {
            normal: 0,
            ratio: random.range(-0.1, 0.1),
        };
        let A = gram(&jacobian(&mut random, n, n + 4));
        let b = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
        let problem = Problem::new(A, b, rows).unwrap();
        let first = solved(Kernel::Lemke, &problem);
        for kernel in Kernel::ALL {
            let found = solved(kernel, &problem);
            assert!(apart(&found.w, &first.w) < 1e-8, "{case} {kernel:?}");
            assert!(found.w[1].abs() < 1e-10 && found.f[2] >= -0.2 && found.f[2] <= 0.3);
        }
    }
}

#[test]
fn joints_that_contradict_each_other_are_infeasible() {
    // The same joint twice, with different demands.
    let A = vec![1.0, 1.0, 1.0, 1.0];
    let rows = vec![Row::Free; 2];
    let problem = Problem::new(A.clone(), vec![1.0, 2.0], rows.clone()).unwrap();
    let twice = Problem::new(A, vec![1.0, 1.0], rows).unwrap();
    for kernel in Kernel::ALL {
        let found = by(kernel, &problem);
        assert!(
            matches!(&found.end, End::Infeasible(ray) if problem.certifies(ray)),
            "{kernel:?} {found:?}"
        );
        let found = solved(kernel, &twice);
        assert!((found.f[0] + found.f[1] + 1.0).abs() < 1e-12, "{kernel:?}");
    }
}

#[test]
fn degenerate_problems_end() {
    let none = Problem::one_sided(Vec::new(), Vec::new()).unwrap();
    let still = Problem::one_sided(vec![0.0; 9], vec![0.0; 3]).unwrap();
    let open = Problem::one_sided(vec![0.0; 4], vec![1.0, 0.0]).unwrap();
    for kernel in Kernel::ALL {
        assert!(solved(kernel, &none).f.is_empty());
        assert_eq!(solved(kernel, &still).f, [0.0; 3]);
        assert_eq!(solved(kernel, &open).f, [0.0; 2]);
        // Every row the same, and every ratio a tie.
        for n in [2, 7, 30] {
            let found = solved(
                kernel,
                &Problem::one_sided(vec![1.0; n * n], vec![-1.0; n]).unwrap(),
            );
            assert!(
                (found.f.iter().sum::<f64>() - 1.0).abs() < 1e-12,
                "{kernel:?} {n}"
            );
            let tied: Vec<f64> = (0..n * n)
                .map(|k| if k / n == k % n { 2.0 } else { 1.0 })
                .collect();
            let found = solved(kernel, &Problem::one_sided(tied, vec![-1.0; n]).unwrap());
            let share = 1.0 / (n as f64 + 1.0);
            assert!(
                found.f.iter().all(|f| (f - share).abs() < 1e-12),
                "{kernel:?} {n}"
            );
        }
    }
}

#[test]
fn rows_that_appear_twice_or_more_carry_any_split() {
    let mut random = Random(13);
    for _ in 0..50 {
        let n = random.count(2, 12);
        let J = jacobian(&mut random, n, n);
        let copies: Vec<Vec<f64>> = (0..3 * n).map(|i| J[i % n].clone()).collect();
        let b: Vec<f64> = (0..n).map(|_| random.range(-1.0, 0.5)).collect();
        let once = Problem::one_sided(gram(&J), b.clone()).unwrap();
        let many = Problem::one_sided(gram(&copies), b.repeat(3)).unwrap();
        let w = solved(Kernel::Lemke, &once).w;
        for kernel in Kernel::ALL {
            let found = solved(kernel, &many);
            assert!(apart(&found.w, &w.repeat(3)) < 1e-8, "{kernel:?}");
        }
    }
}

#[test]
fn scales_do_not_matter() {
    // Rows in units that differ by up to 10^16, and forces far from one: powers of two, so that the answer is the same to the bit.
    let mut random = Random(14);
    for _ in 0..50 {
        let n = random.count(1, 20);
        let (problem, _) = known(&mut random, n);
        let d: Vec<f64> = (0..n)
            .map(|_| libm::scalbn(1.0, random.count(0, 52) as i32 - 26))
            .collect();
        let scale = libm::scalbn(1.0, 60);
        let A = (0..n * n)
            .map(|k| d[k / n] * problem.at(k / n, k % n) * d[k % n])
            .collect();
        let b = (0..n).map(|i| scale * d[i] * problem.b()[i]).collect();
        let scaled = Problem::one_sided(A, b).unwrap();
        for kernel in Kernel::ALL {
            let (one, other) = (solved(kernel, &problem), solved(kernel, &scaled));
            for i in 0..n {
                assert_eq!(other.f[i], one.f[i] * scale / d[i], "{kernel:?}");
            }
        }
    }
}

#[test]
fn extreme_numbers_are_never_nan() {
    let huge = [
        1e300,
        -1e300,
        1e-300,
        0.0,
        f64::MAX,
        f64::MIN_POSITIVE,
        -1.0,
        5e-324,
    ];
    let mut random = Random(15);
    for _ in 0..2000 {
        let n = random.count(1, 4);
        let mut pick = || huge[random.count(0, huge.len() - 1)];
        let A: Vec<f64> = (0..n * n).map(|_| pick()).collect();
        let b: Vec<f64> = (0..n).map(|_| pick()).collect();
        let problem = Problem::one_sided(A, b).unwrap();
        for kernel in Kernel::ALL {
            let params = Params {
                sweeps: 200,
                ..Params::default()
            };
            let found = solve(kernel, &problem, &params, None);
            assert!(
                found.f.iter().all(|f| f.is_finite() && *f >= 0.0),
                "{kernel:?} {problem:?} {found:?}"
            );
            assert!(!found.residual.is_nan());
        }
    }
}

#[test]
fn random_matrices_without_any_structure_end() {
    // Indefinite and unsymmetric: kernels may fail, but say so, and what they call solved is solved.
    let mut random = Random(16);
    let mut counts = [0; 4];
    for _ in 0..500 {
        let n = random.count(1, 12);
        let A = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
        let b = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
        let problem = Problem::one_sided(A, b).unwrap();
        for (kernel, count) in Kernel::ALL.into_iter().zip(&mut counts) {
            let params = Params {
                sweeps: 500,
                ..Params::default()
            };
            let found = solve(kernel, &problem, &params, None);
            finite(&found);
            match &found.end {
                End::Solved => {
                    *count += 1;
                    let off = (0..n).fold(0.0_f64, |s, i| {
                        let (f, w) = (found.f[i], found.w[i]);
                        s.max(-f).max(-w).max(f.min(w))
                    });
                    assert!(off < 1e-8, "{kernel:?} {off:e}");
                }
                End::Infeasible(ray) => assert!(problem.certifies(ray)),
                _ => {}
            }
        }
    }
    assert!(counts.iter().all(|c| *c > 50), "{counts:?}");
}

#[test]
fn unsymmetric_p_matrices_have_one_answer() {
    // A positive definite part and a skew part: principal minors are positive, nothing is minimised.
    let mut random = Random(17);
    for case in 0..200 {
        let n = random.count(1, 30);
        let mut A = gram(&jacobian(&mut random, n, n));
        for i in 0..n {
            A[i * n + i] += 0.5;
            for j in 0..i {
                let skew = random.range(-2.0, 2.0);
                A[i * n + j] += skew;
                A[j * n + i] -= skew;
            }
        }
        let b = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
        let problem = Problem::one_sided(A, b).unwrap();
        assert!(n == 1 || !problem.symmetric());
        let f = solved(Kernel::Lemke, &problem).f;
        for kernel in [Kernel::Dantzig, Kernel::Principal] {
            let found = by(kernel, &problem);
            finite(&found);
            if kernel == Kernel::Principal || found.end == End::Solved {
                assert_eq!(found.end, End::Solved, "{case} {kernel:?}");
                assert!(apart(&found.f, &f) < 1e-8, "{case} {kernel:?}");
            }
        }
    }
}

#[test]
fn copositive_problems_end_by_lemke() {
    // Nonnegative entries with a positive diagonal are strictly copositive: Lemke solves them for every b.
    let mut random = Random(18);
    for _ in 0..200 {
        let n = random.count(1, 25);
        let A = (0..n * n)
            .map(|k| {
                if k / n == k % n {
                    random.range(0.5, 1.0)
                } else {
                    random.range(0.0, 3.0)
                }
            })
            .collect();
        let b = (0..n).map(|_| random.range(-1.0, 0.2)).collect();
        solved(Kernel::Lemke, &Problem::one_sided(A, b).unwrap());
    }
}

#[test]
fn a_search_that_leads_nowhere_says_so() {
    // Feasible, but no solution: f₂ = 0 would need w₁ < 0, f₂ > 0 needs w₂ = 0, which f₁ cannot bring about.
    let stuck = problem(&[&[0.0, 1.0], &[-1.0, 0.0]], &[-1.0, 1.0]);
    let none = problem(&[&[-1.0]], &[-1.0]);
    for kernel in Kernel::ALL {
        for p in [&stuck, &none] {
            let found = by(kernel, p);
            finite(&found);
            if found.end == End::Solved {
                assert!(p.residual(&found.f) < 1e-10, "{kernel:?}");
            }
        }
        assert_ne!(by(kernel, &none).end, End::Solved, "{kernel:?}");
    }
    // Budgets are kept and told.
    let mut random = Random(20);
    let (problem, _) = known(&mut random, 40);
    let params = Params {
        pivots: Some(3),
        sweeps: 1,
        ..Params::default()
    };
    for kernel in Kernel::ALL {
        let found = solve(kernel, &problem, &params, None);
        assert_eq!(found.end, End::Limit, "{kernel:?}");
        assert!(found.f.iter().all(|f| *f >= 0.0));
    }
}

#[test]
fn the_same_problem_gives_the_same_bits() {
    let mut random = Random(21);
    let (problem, _) = friction(&mut random, 9, false, 0.6);
    for kernel in Kernel::ALL {
        assert_eq!(by(kernel, &problem), by(kernel, &problem));
    }
}

#[test]
fn bad_problems_are_refused_with_field_and_reason() {
    let one = |A: Vec<f64>, b: Vec<f64>, rows: Vec<Row>| {
        Problem::new(A, b, rows).unwrap_err().to_string()
    };
    assert!(one(vec![1.0], vec![1.0, 2.0], vec![Row::OneSided; 2]).starts_with("A: has 1 numbers"));
    assert!(one(vec![1.0], vec![f64::NAN], vec![Row::OneSided]).starts_with("b[0]"));
    assert!(one(vec![f64::INFINITY], vec![1.0], vec![Row::OneSided]).starts_with("A[0, 0]"));
    assert!(one(vec![1.0], vec![1.0], Vec::new()).starts_with("rows: has 0"));
    let two = |row| one(vec![1.0; 4], vec![1.0; 2], vec![Row::OneSided, row]);
    let cone = Row::Cone {
        normal: 0,
        coefficient: 0.5,
    };
    let planar = |normal, coefficient| Row::Planar {
        normal,
        coefficient,
    };
    for row in [
        Row::Box {
            low: 1.0,
            high: 0.0,
        },
        Row::ConeSecond,
        cone,
        planar(1, 0.5),
        planar(7, 0.5),
        planar(0, -0.5),
        planar(0, f64::NAN),
        Row::Sliding {
            normal: 0,
            ratio: f64::INFINITY,
        },
    ] {
        assert!(two(row).starts_with("rows[1]: "), "{row:?}: {}", two(row));
    }
}

/// Bricks of length 2 and mass 1 on a fixed one, each shifted by d: A and b of the contacts at the ends of each overlap, bottom to top.
fn bricks(d: f64) -> Problem {
    let (L, H, m, g, count) = (2.0, 0.5, 1.0, 9.81, 4);
    let inertia = m * (L * L + H * H) / 12.0;
    // Contacts: point x, lower brick, upper brick; brick 0 is fixed, brick k has its centre at k d.
    let contacts: Vec<(f64, usize)> = (0..count)
        .flat_map(|k| {
            let left = (k + 1) as f64 * d - 0.5 * L;
            let right = k as f64 * d + 0.5 * L;
            [(left, k), (right, k)]
        })
        .collect();
    // Vertical forces alone: J over (y, angle) of each brick.
    let row = |&(x, k): &(f64, usize)| {
        let mut J = vec![0.0; 2 * (count + 1)];
        for (brick, sign) in [(k, -1.0), (k + 1, 1.0)] {
            if brick > 0 {
                J[2 * brick] = sign / f64::sqrt(m);
                J[2 * brick + 1] = sign * (x - brick as f64 * d) / f64::sqrt(inertia);
            }
        }
        J
    };
    let J: Vec<Vec<f64>> = contacts.iter().map(row).collect();
    let b = contacts
        .iter()
        .map(|c| if c.1 == 0 { -g } else { 0.0 })
        .collect();
    Problem::one_sided(gram(&J), b).expect("a good problem")
}

#[test]
fn cl_32_stack_of_bricks_has_the_forces_of_the_table() {
    let tables = [
        (
            0.3,
            [
                5.7706, 33.4694, 6.9247, 22.5053, 6.3476, 13.2724, 4.0394, 5.7706,
            ],
            0.0,
        ),
        (
            0.5,
            [
                0.0, 35.8766, 3.5036, 20.8813, 4.2977, 10.2771, 2.9430, 3.5036,
            ],
            5.0451,
        ),
        (
            0.6,
            [
                0.0, 29.9341, 3.3152, 14.9476, 3.6227, 5.7608, 2.1188, 1.1771,
            ],
            f64::NAN,
        ),
    ];
    for (d, f, w) in tables {
        let problem = bricks(d);
        for kernel in Kernel::ALL {
            let found = solved(kernel, &problem);
            assert!(apart(&found.f, &f) < 6e-5, "{d} {kernel:?} {:?}", found.f);
            if w.is_finite() {
                assert!(
                    (found.w[0] - w).abs() < 6e-5,
                    "{d} {kernel:?} {:?}",
                    found.w
                );
            }
            for (f, w) in found.f.iter().zip(&found.w) {
                assert!((-f).max(-w).max((f * w).abs()) < 1e-9);
            }
        }
    }
}
