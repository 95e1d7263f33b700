//! The watchdog of the campaigns: a thread of its own, so that it sees a hang while it lasts.
//!
//! Reads: which execution is under way, the times and the memory of the process.  Writes: nothing; ends the process.
//! Called by: the examples `campaign` and `fuzz`.
//! Source: docs/reliability.md.

use cpu_time::ProcessTime;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Longest time of one execution, of the processor [s].
const PATIENCE: f64 = 10.0;
/// Longest time of one execution that uses no processor, since it waits for something or the machine is busy [s].
const WAITING: Duration = Duration::from_secs(600);
/// Most memory of the process [bytes].
const MEMORY: u64 = 2 << 30;

/// Ends the process if an execution hangs or takes all memory, after `tell` was told which one and why.
pub fn watch(current: &Arc<AtomicU64>, tell: impl Fn(u64, &str) + Send + 'static) {
    let current = Arc::clone(current);
    std::thread::spawn(move || {
        let mut seen = u64::MAX;
        let (mut begun, mut used) = (Instant::now(), ProcessTime::now());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let now = current.load(Ordering::Relaxed);
            if now != seen {
                (seen, begun, used) = (now, Instant::now(), ProcessTime::now());
            }
            let what = if used.elapsed().as_secs_f64() > PATIENCE {
                format!("takes more than {PATIENCE} s of the processor")
            } else if begun.elapsed() > WAITING {
                format!("takes more than {} s", WAITING.as_secs())
            } else if memory().is_some_and(|m| m > MEMORY) {
                format!("takes more than {} MB", MEMORY >> 20)
            } else {
                continue;
            };
            tell(now, &what);
            std::process::exit(1);
        }
    });
}

/// Memory of this process, where the system tells it [bytes].
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.trim()
        .trim_end_matches(" kB")
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kb| kb << 10)
}
