//! Campaigns against the door of the engine: scene texts from the grammar, worlds, snapshots, recordings, meshes. Nothing may panic,
//! hang, grow without bound, or give a number that is none.
//!
//! Reads: the kind, how many executions, the seed, the first of them.  Writes: what became of them; the case of a failure.
//! Called by: `cargo run --release -p tippe-scene --example campaign -- KIND [COUNT [SEED [FIRST]]]`; a short run is a test.
//! Source: docs/reliability.md. The watchdog is a thread of its own, so that it sees a hang while it lasts.

mod calls;
mod grammar;
mod kinds;
mod random;
mod watch;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, otherwise: u64| words.get(k).map_or(Ok(otherwise), |w| w.parse());
    let (Some(kind), Ok(count), Ok(seed), Ok(first)) =
        (words.first(), number(1, 1000), number(2, 1), number(3, 0))
    else {
        eprintln!(
            "usage: campaign KIND [COUNT [SEED [FIRST]]], with KIND one of {}",
            kinds::KINDS.join(", ")
        );
        return ExitCode::from(2);
    };
    let case: kinds::Case = Arc::new(Mutex::new((Vec::new(), "bin")));
    let current = Arc::new(AtomicU64::new(first));
    let (what, in_hand) = (kind.clone(), Arc::clone(&case));
    watch::watch(&current, move |i, why| save(&what, seed, i, &in_hand, why));
    let mut tally: BTreeMap<&str, u64> = BTreeMap::new();
    let mut failures = 0;
    for i in first..first.saturating_add(count) {
        current.store(i, Ordering::Relaxed);
        let result = std::panic::catch_unwind(|| kinds::execute(kind, seed, i, &case));
        let what = match result {
            Ok(Ok(outcome)) => {
                *tally.entry(outcome).or_default() += 1;
                continue;
            }
            Ok(Err(what)) => what,
            Err(_) => "panicked".into(),
        };
        failures += 1;
        save(kind, seed, i, &case, &what);
    }
    println!(
        "{kind}: {count} executions of seed {seed} from {first}: {tally:?}, {failures} failures"
    );
    ExitCode::from(u8::from(failures > 0))
}

/// Says which execution failed, and keeps what it was about.
fn save(kind: &str, seed: u64, i: u64, case: &kinds::Case, what: &str) {
    let case = case.lock().unwrap_or_else(|e| e.into_inner());
    let name = format!("{kind}-{seed}-{i}.{}", case.1);
    let kept = match std::fs::write(&name, &case.0) {
        Ok(()) => format!("its case is {name}"),
        Err(e) => format!("its case cannot be written: {e}"),
    };
    eprintln!("execution {i} of seed {seed}: {what}; {kept}");
}
