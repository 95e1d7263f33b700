//! Fits friction and restitution of the cube tosses (F26), one set for all tosses: coordinate search for the least sum of both errors
//! over their tolerances, from several starts. With `wide` it goes on from the best of each start over static above kinetic friction and a
//! slip speed too. Prints every set it tried, then those that no other beats in both errors.
//!
//! `cargo run --release -p tippe-validate --example fit_tosses -- DATA METHOD [LAW [DT [wide]]]`

use std::process::ExitCode;

use tippe_validate::analytic::impact::Law;
use tippe_validate::cases::cube_toss::{Score, Touch, mean_score, read};
use tippe_validate::{Form, Setup};

/// Kinetic friction, restitution, static over kinetic friction less one, slip speed [m/s].
type Set = [f64; 4];

/// Starts.
const STARTS: [Set; 3] = [
    [0.18, 0.2, 0.0, 0.0],
    [0.12, 0.05, 0.0, 0.0],
    [0.26, 0.3, 0.0, 0.0],
];
/// Rounds over the parameters, each with half the stride of the last.
const ROUNDS: u32 = 4;
/// First strides, and those of the wide search.
const STRIDE: Set = [0.04, 0.1, 0.0, 0.0];
const STRIDE_WIDE: Set = [0.01, 0.05, 0.4, 0.04];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(data), Some(method)) = (words.next(), words.next()) else {
        eprintln!("usage: fit_tosses DATA METHOD [stronge|poisson|newton [DT [wide]]]");
        return ExitCode::from(2);
    };
    let law = words.next().unwrap_or_else(|| "stronge".to_owned());
    let Some(law) = Law::ALL.into_iter().find(|l| l.name() == law) else {
        eprintln!("no law `{law}`: stronge, poisson or newton");
        return ExitCode::from(2);
    };
    let dt = words.next().and_then(|w| w.parse().ok()).unwrap_or(1e-3);
    let wide = words.next().is_some_and(|w| w == "wide");
    let setup = Setup::new(&method, Form::Maximal, dt);
    let tosses = match read(data.as_ref()) {
        Ok(tosses) => tosses,
        Err(stop) => {
            eprintln!("{}", stop.reason);
            return ExitCode::FAILURE;
        }
    };
    println!(
        "{} tosses, {method}, {} at {dt} s",
        tosses.len(),
        law.name()
    );
    println!(
        "friction  restitution  static/kinetic  slip [m/s]  position [widths]  rotation [deg]"
    );
    let mut tried: Vec<(Set, Score)> = Vec::new();
    let mut try_out = |p: Set| {
        let known = tried.iter().find(|t| t.0 == p).map(|t| t.1);
        let score = known.or_else(|| mean_score(&tosses, &setup, touch(p, law)).ok());
        let Some(s) = score else { return f64::INFINITY };
        if known.is_none() {
            print_line(p, s);
            tried.push((p, s));
        }
        s.position / 0.140 + s.rotation / 16.0
    };
    for start in STARTS {
        let mut best = (start, try_out(start));
        search(STRIDE, &mut best, &mut try_out);
        println!("best from {start:?}: {best:?} (2 would be both tolerances)");
        if wide {
            search(STRIDE_WIDE, &mut best, &mut try_out);
            println!("with static friction and slip speed: {best:?}");
        }
    }
    println!("no other set is better in both:");
    tried.sort_by(|a, b| a.1.position.total_cmp(&b.1.position));
    let mut lowest = f64::INFINITY;
    for (p, s) in tried {
        if s.rotation < lowest {
            lowest = s.rotation;
            print_line(p, s);
        }
    }
    ExitCode::SUCCESS
}

/// Coordinate search from the best set so far.
fn search(mut stride: Set, best: &mut (Set, f64), try_out: &mut impl FnMut(Set) -> f64) {
    for _ in 0..ROUNDS {
        for i in (0..4).filter(|&i| stride[i] > 0.0) {
            for sign in [1.0, -1.0] {
                let mut next = best.0;
                next[i] = (next[i] + sign * stride[i]).clamp(0.0, 1.0);
                let score = try_out(next);
                if score < best.1 {
                    *best = (next, score);
                }
            }
        }
        stride = stride.map(|s| 0.5 * s);
    }
}

fn touch(p: Set, law: Law) -> Touch {
    Touch {
        sticking: p[0] * (1.0 + p[2]),
        slip_speed: p[3],
        ..Touch::new(p[0], p[1], law)
    }
}

fn print_line(p: Set, s: Score) {
    println!(
        "{:>8.4} {:>12.4} {:>15.3} {:>11.4} {:>18.4} {:>15.2}",
        p[0],
        p[1],
        1.0 + p[2],
        p[3],
        s.position,
        s.rotation
    );
}
