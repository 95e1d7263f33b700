//! Fits friction and restitution of the cube tosses (F26), one set for all tosses: coordinate search for the least sum of both errors
//! over their tolerances, from several starts. Prints every set it tried, then those that no other beats in both errors.
//!
//! `cargo run --release -p tippe-validate --example fit_tosses -- DATA METHOD [LAW [DT]]`

use std::process::ExitCode;

use tippe_validate::analytic::impact::Law;
use tippe_validate::cases::cube_toss::{Score, Touch, mean_score, read};
use tippe_validate::{Form, Setup};

/// Starts: friction, restitution.
const STARTS: [[f64; 2]; 3] = [[0.18, 0.2], [0.12, 0.05], [0.26, 0.3]];
/// Rounds over both parameters, each with half the stride of the last.
const ROUNDS: u32 = 4;
/// First strides.
const STRIDE: [f64; 2] = [0.04, 0.1];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(data), Some(method)) = (words.next(), words.next()) else {
        eprintln!("usage: fit_tosses DATA METHOD [stronge|poisson|newton [DT]]");
        return ExitCode::from(2);
    };
    let law = words.next().unwrap_or_else(|| "stronge".to_owned());
    let Some(law) = Law::ALL.into_iter().find(|l| l.name() == law) else {
        eprintln!("no law `{law}`: stronge, poisson or newton");
        return ExitCode::from(2);
    };
    let dt = words.next().and_then(|w| w.parse().ok()).unwrap_or(1e-3);
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
    println!("friction  restitution  position [widths]  rotation [deg]");
    let mut tried: Vec<([f64; 2], Score)> = Vec::new();
    let mut try_out = |p: [f64; 2]| {
        let known = tried.iter().find(|t| t.0 == p).map(|t| t.1);
        let score = known.or_else(|| mean_score(&tosses, &setup, Touch::new(p[0], p[1], law)).ok());
        let Some(s) = score else { return f64::INFINITY };
        if known.is_none() {
            print_line(p, s);
            tried.push((p, s));
        }
        s.position / 0.140 + s.rotation / 16.0
    };
    for start in STARTS {
        let (mut best, mut least, mut stride) = (start, try_out(start), STRIDE);
        for _ in 0..ROUNDS {
            for i in 0..2 {
                for sign in [1.0, -1.0] {
                    let mut next = best;
                    next[i] = (next[i] + sign * stride[i]).clamp(0.0, 1.0);
                    let score = try_out(next);
                    if score < least {
                        (least, best) = (score, next);
                    }
                }
            }
            stride = stride.map(|s| 0.5 * s);
        }
        println!("best from {start:?}: {best:?}, {least:.4} (2 would be both tolerances)");
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

fn print_line(p: [f64; 2], s: Score) {
    println!(
        "{:>8.4} {:>12.4} {:>18.4} {:>15.2}",
        p[0], p[1], s.position, s.rotation
    );
}
