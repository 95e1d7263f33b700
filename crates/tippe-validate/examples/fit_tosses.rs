//! Fits friction and restitution of the cube tosses (F26): a grid of both, with the mean errors of each point.
//!
//! `cargo run --release -p tippe-validate --example fit_tosses -- DATA METHOD [DT]`

use std::process::ExitCode;

use tippe_validate::cases::cube_toss::{Touch, mean_score, read};
use tippe_validate::{Form, Setup};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(data), Some(method)) = (words.next(), words.next()) else {
        eprintln!("usage: fit_tosses DATA METHOD [DT in seconds]");
        return ExitCode::from(2);
    };
    let dt = words.next().and_then(|w| w.parse().ok()).unwrap_or(1e-3);
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
    println!("friction restitution position [widths] rotation [deg]");
    for restitution in [0.0, 0.05, 0.1, 0.15, 0.2, 0.3] {
        for friction in [0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.24, 0.28] {
            let touch = Touch {
                friction,
                restitution,
            };
            match mean_score(&tosses, &setup, touch) {
                Ok(s) => println!(
                    "{friction:>8} {restitution:>11} {:>17.4} {:>14.2}",
                    s.position, s.rotation
                ),
                Err(stop) => println!("{friction:>8} {restitution:>11}  {}", stop.reason),
            }
        }
    }
    ExitCode::SUCCESS
}
