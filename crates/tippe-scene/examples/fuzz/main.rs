//! Seeded fuzzing of scene text, shapes and queries: nothing may panic, hang or answer with NaN.
//!
//! Reads: up to three numbers from the command line: how many executions, the seed, the first of them.  Writes: a line each tenth of the way, the failing case.
//! Called by: `cargo run --release -p tippe-scene --example fuzz -- 1000000 [SEED [FIRST]]`; a small count runs with the tests.
//! Source: own mutations (`cases`), since coverage-guided fuzzers need a nightly compiler.

mod cases;
#[path = "../campaign/watch.rs"]
mod watch;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut word = |otherwise: u64| match words.next() {
        None => Ok(otherwise),
        Some(w) => w.parse::<u64>().map_err(|_| w),
    };
    let (count, seed, first) = match (word(100_000), word(1), word(0)) {
        (Ok(count), Ok(seed), Ok(first)) => (count, seed, first),
        (Err(w), ..) | (_, Err(w), _) | (.., Err(w)) => {
            eprintln!("`{w}` is no number; usage: fuzz [COUNT [SEED [FIRST]]]");
            return ExitCode::from(2);
        }
    };
    let mut tally = cases::Tally::default();
    let current = Arc::new(AtomicU64::new(first));
    watch::watch(&current, move |i, why| {
        eprintln!("execution {i} of seed {seed} {why}");
    });
    for i in first..first.saturating_add(count) {
        current.store(i, Ordering::Relaxed);
        let result = std::panic::catch_unwind(|| cases::execute(seed, i));
        match result {
            Ok(Ok(kind)) => tally.add(kind),
            Ok(Err(what)) => {
                eprintln!("execution {i} of seed {seed}: {what}");
                return ExitCode::from(1);
            }
            Err(_) => {
                eprintln!("execution {i} of seed {seed} panicked");
                return ExitCode::from(1);
            }
        }
        if (i + 1 - first) % (count / 10).max(1) == 0 {
            println!("{} executions: {tally:?}", i + 1 - first);
        }
    }
    ExitCode::SUCCESS
}
