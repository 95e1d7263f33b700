//! Random worlds with `events`: which of them stop, gain energy or end loops at their limits.
//!
//! `cargo run --release -p tippe --example events_campaign -- [FIRST] [COUNT] [SECONDS]`, by default 0 1000 5.

#[path = "../tests/events_random/mod.rs"]
mod events_random;
#[path = "../tests/geometry_support/mod.rs"]
mod geometry_support;

use std::time::Instant;

fn main() {
    let args: Vec<f64> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let given = |i: usize, default: f64| args.get(i).copied().unwrap_or(default);
    let (first, count) = (given(0, 0.0) as u64, given(1, 1000.0) as u64);
    let seconds = given(2, 5.0);
    let (mut faults, mut steps, mut capped, mut slowest) = (0, 0, 0, (0.0, 0));
    let mut worst = [0.0_f64; 2];
    for seed in first..first + count {
        let start = Instant::now();
        let out = events_random::run(seed, seconds);
        let took = start.elapsed().as_secs_f64();
        if took > slowest.0 {
            slowest = (took, seed);
        }
        steps += out.steps;
        capped += out.capped;
        let kind = usize::from(!out.is_pure());
        worst[kind] = worst[kind].max(out.gained);
        if let Some(fault) = out.fault() {
            faults += 1;
            println!(
                "seed {seed}: {fault} ({} bodies, {} joints, {} impacts, {} promotions)",
                out.bodies, out.joints, out.impacts, out.promotions
            );
        }
    }
    println!(
        "{faults} of {count} worlds failed; gained at most {:.1e} of the turnover where nothing rests or is jointed, {:.1e} else; \
         {capped} of {steps} steps ended a loop at its limit; slowest {:.2} s (seed {})",
        worst[0], worst[1], slowest.0, slowest.1
    );
}
