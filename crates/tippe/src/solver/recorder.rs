//! Keeps islands that were expensive to solve, as text, for whoever wants to study them.
//!
//! Reads: problems of the core with what they cost.  Writes: a list of the process that `take` empties.
//! Called by: `solver::exchange` (offers), `tippe run --record-islands` (switches on, takes).
//! Source: own. Off unless switched on; it never changes a result. One list for all worlds of the process: a tool for one run.

use super::problem::Problem;
use super::recorded;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Most islands that are kept until they are taken; the others are counted.
pub const KEPT_MAX: usize = 64;

/// Multiply–adds above which an island is kept; the largest number keeps none.
static ABOVE: AtomicU64 = AtomicU64::new(u64::MAX);
static KEPT: Mutex<Taken> = Mutex::new(Taken {
    islands: Vec::new(),
    left_out: 0,
});

/// An island that was kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Island {
    /// Multiply–adds that its solve took.
    pub operations: u64,
    /// The island, as [`recorded::read`] reads it.
    pub text: String,
}

/// What was kept since the last time.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// The islands, the most expensive first, whatever thread they came from.
    pub islands: Vec<Island>,
    /// Islands that there was no room for.
    pub left_out: u64,
}

/// Keeps islands whose solve takes more multiply–adds than this from now on; `None` keeps none.
pub fn keep_above(operations: Option<u64>) {
    ABOVE.store(operations.unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Takes what was kept.
#[must_use]
pub fn take() -> Taken {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut taken = std::mem::take(&mut *kept);
    taken.islands.sort_by(|a, b| b.cmp(a));
    taken
}

/// Keeps a problem if it was expensive enough.
pub(crate) fn offer(problem: &Problem, operations: u64) {
    if operations <= ABOVE.load(Ordering::Relaxed) {
        return;
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.islands.len() < KEPT_MAX {
        let text = recorded::write(problem);
        kept.islands.push(Island { operations, text });
    } else {
        kept.left_out += 1;
    }
}
