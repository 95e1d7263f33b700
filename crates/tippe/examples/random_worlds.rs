//! Runs random worlds that no one would build on purpose and says which of them made energy, failed or ran away.
//!
//! `cargo run --release -p tippe --example random_worlds -- METHOD FIRST COUNT [SECONDS] [REFINE]`

#[path = "../tests/geometry_support/mod.rs"]
mod geometry_support;
#[path = "../tests/random_world/mod.rs"]
mod random_world;

use std::time::Instant;
use tippe::Method;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |i: usize, default: f64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let name = args.first().map_or("sequential", String::as_str);
    let Some(method) = Method::from_name(name) else {
        eprintln!("no method `{name}`");
        std::process::exit(2);
    };
    let (first, count) = (number(1, 0.0) as u64, number(2, 100.0) as u64);
    let (seconds, refine) = (number(3, 1.0), number(4, 1.0));
    let (mut faults, mut slowest) = (0, (0.0, 0));
    for seed in first..first + count {
        let start = Instant::now();
        let out = random_world::run(seed, method.clone(), seconds, 1_000_000, refine, count == 1);
        let took = start.elapsed().as_secs_f64() / f64::from(out.steps.max(1));
        if took > slowest.0 {
            slowest = (took, seed);
        }
        if let Some(fault) = &out.fault {
            faults += 1;
            println!(
                "seed {seed}: {fault} (gained {:.1e}, excess {:.1e}/s, dt {:.2e}, {} bodies, {} joints, fastest {:.1} m/s)",
                out.gained, out.excess, out.dt, out.bodies, out.joints, out.fastest
            );
        }
    }
    println!(
        "{faults} of {count} worlds failed; slowest mean step {:.2} ms (seed {})",
        1e3 * slowest.0,
        slowest.1
    );
}
