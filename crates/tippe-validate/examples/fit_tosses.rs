//! Fits friction, restitution and slip speed of the cube tosses (F26): coordinate search for the least sum of both errors over
//! their tolerances, one set for all tosses. Prints every better set as it is found.
//!
//! `cargo run --release -p tippe-validate --example fit_tosses -- DATA METHOD [DT [kinetic sticking restitution slip_speed]]`

use std::process::ExitCode;

use tippe_validate::cases::cube_toss::{Touch, mean_score, read};
use tippe_validate::{Form, Setup};

/// Rounds over all parameters, each with half the stride of the last.
const ROUNDS: u32 = 5;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(data), Some(method)) = (words.next(), words.next()) else {
        eprintln!("usage: fit_tosses DATA METHOD [DT [kinetic sticking restitution slip_speed]]");
        return ExitCode::from(2);
    };
    let mut number = |default: f64| words.next().and_then(|w| w.parse().ok()).unwrap_or(default);
    let dt = number(1e-3);
    let mut best = [number(0.18), number(0.18), number(0.2), number(0.0)];
    let setup = Setup {
        method,
        form: Form::Maximal,
        dt,
        data: Some(data.clone().into()),
    };
    let tosses = match read(data.as_ref()) {
        Ok(tosses) => tosses,
        Err(stop) => {
            eprintln!("{}", stop.reason);
            return ExitCode::FAILURE;
        }
    };
    println!("{} tosses, {} at {dt} s", tosses.len(), setup.method);
    println!("kinetic  sticking  restitution  slip speed   position [widths]  rotation [deg]");
    let try_out = |p: [f64; 4]| {
        let [kinetic, sticking, restitution, slip_speed] = p;
        let touch = Touch {
            kinetic,
            sticking,
            restitution,
            slip_speed,
        };
        mean_score(&tosses, &setup, touch).map_or(f64::INFINITY, |s| {
            println!(
                "{kinetic:>7.4} {sticking:>9.4} {restitution:>12.4} {slip_speed:>11.4} {:>19.4} {:>15.2}",
                s.position, s.rotation
            );
            s.position / 0.140 + s.rotation / 16.0
        })
    };
    let mut least = try_out(best);
    let mut stride = [0.02, 0.08, 0.1, 0.02];
    for _ in 0..ROUNDS {
        for i in 0..4 {
            for sign in [1.0, -1.0] {
                let mut next = best;
                next[i] = (next[i] + sign * stride[i]).max(0.0);
                if next == best || next[2] > 1.0 || next[1] < next[0] {
                    continue;
                }
                let score = try_out(next);
                if score < least {
                    (least, best) = (score, next);
                }
            }
        }
        stride = stride.map(|s| 0.5 * s);
    }
    println!("best {best:?}: {least:.4} (2 would be both tolerances)");
    ExitCode::SUCCESS
}
