//! Processor time of the complementarity kernels: `cargo run --release -p tippe --example lcp_speed`.
//!
//! Reads: nothing.  Writes: tables on standard output.
//! Called by: people; docs/lcp.md quotes it.
//! Source: none. The problems are those of the tests.

#![allow(clippy::unwrap_used, non_snake_case)]

#[path = "../tests/lcp_support/mod.rs"]
mod lcp_support;

use cpu_time::ThreadTime;
use lcp_support::{Random, apart, friction, gram, infeasible, jacobian, known};
use tippe::math::lcp::{End, Kernel, Params, Problem, Solution, solve};

/// A problem and the w of its solution, where it was built from one.
type Known = (Problem, Option<Vec<f64>>);

fn main() {
    println!(
        "set          kernel        solved  infeasible  other   time [ms]  worst residual  worst |w - w*|  mean steps"
    );
    let seed = std::env::args()
        .filter_map(|a| a.parse().ok())
        .next()
        .unwrap_or(19);
    let mut random = Random(seed);
    let sets: [(&str, Vec<Known>); 4] = [
        (
            "known",
            (0..1000)
                .map(|_| {
                    let n = random.count(1, 60);
                    let (p, w) = known(&mut random, n);
                    (p, Some(w))
                })
                .collect(),
        ),
        (
            "infeasible",
            (0..200)
                .map(|_| {
                    let n = random.count(1, 60);
                    (infeasible(&mut random, n), None)
                })
                .collect(),
        ),
        (
            "planar",
            (0..200)
                .map(|_| {
                    let n = random.count(1, 20);
                    let (p, w) = friction(&mut random, n, false, 1.0);
                    (p, Some(w))
                })
                .collect(),
        ),
        (
            "cones",
            (0..200)
                .map(|_| {
                    let n = random.count(1, 20);
                    let (p, w) = friction(&mut random, n, true, 1.0);
                    (p, Some(w))
                })
                .collect(),
        ),
    ];
    for (name, set) in &sets {
        for kernel in Kernel::ALL {
            if kernel.refuses(&set[0].0).is_none() {
                row(name, kernel, set);
            }
        }
    }
    cold();
}

fn row(name: &str, kernel: Kernel, set: &[(Problem, Option<Vec<f64>>)]) {
    let params = Params::default();
    let start = ThreadTime::now();
    let found: Vec<Solution> = set
        .iter()
        .map(|(p, _)| solve(kernel, p, &params, None))
        .collect();
    let time = start.elapsed().as_secs_f64() * 1e3;
    let count = |wanted: fn(&End) -> bool| found.iter().filter(|s| wanted(&s.end)).count();
    let solved = count(|e| *e == End::Solved);
    let proved = count(|e| matches!(e, End::Infeasible(_)));
    let residual = found
        .iter()
        .filter(|s| s.end == End::Solved)
        .fold(0.0, |m: f64, s| m.max(s.residual));
    let off = found
        .iter()
        .zip(set)
        .fold(0.0, |m: f64, (s, (_, w))| match w {
            Some(w) => m.max(apart(&s.w, w)),
            None => m,
        });
    let steps: f64 = found
        .iter()
        .map(|s| f64::from(s.pivots + s.sweeps))
        .sum::<f64>()
        / set.len() as f64;
    println!(
        "{name:<12} {:<13} {solved:>6} {proved:>11} {:>6} {time:>11.1} {residual:>15.1e} {off:>15.1e} {steps:>11.1}",
        kernel.name(),
        set.len() - solved - proved
    );
    if std::env::args().any(|a| a == "--each") {
        for (i, s) in found.iter().enumerate() {
            if !matches!(s.end, End::Solved | End::Infeasible(_)) {
                println!(
                    "    {i}: n {} {} residual {:.1e} steps {}",
                    set[i].0.len(),
                    s.end.name(),
                    s.residual,
                    s.pivots + s.sweeps
                );
            }
        }
    }
}

/// One problem of 60 rows with a positive definite matrix, without a start.
fn cold() {
    let mut random = Random(60);
    let problems: Vec<Problem> = (0..50)
        .map(|_| {
            let J = jacobian(&mut random, 60, 90);
            let b = (0..60).map(|_| random.range(-1.0, 1.0)).collect();
            Problem::one_sided(gram(&J), b).unwrap()
        })
        .collect();
    println!("\n60 rows, positive definite, cold: µs a solve, best of rounds");
    for kernel in Kernel::ALL {
        let mut best = f64::INFINITY;
        for _ in 0..10 {
            let start = ThreadTime::now();
            for p in &problems {
                assert_eq!(solve(kernel, p, &Params::default(), None).end, End::Solved);
            }
            best = best.min(start.elapsed().as_secs_f64() * 1e6 / problems.len() as f64);
        }
        let steps: u32 = problems
            .iter()
            .map(|p| {
                let s = solve(kernel, p, &Params::default(), None);
                s.pivots + s.sweeps
            })
            .sum();
        println!(
            "{:<13} {best:>8.1} {:>8.1} steps",
            kernel.name(),
            f64::from(steps) / problems.len() as f64
        );
    }
}
