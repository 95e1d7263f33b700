//! Interrupts: a step that is no longer wanted ends at the next look, and the world stays as it was before it.
//!
//! Reads: the flag of the step that runs on this thread.  Writes: nothing.
//! Called by: `step` (sets the flag), `world`, and every loop of phases and solvers between counted operations.
//! Source: docs/conventions.md, "Failure".
//!
//! Loops look by `asked` and end early; what they leave is of no use and `check` sees that nobody uses it: an interrupt that was
//! asked for stays so, and the step fails with [`StepError::Interrupted`]. A step that nobody interrupts is the same with or
//! without a flag, bit for bit.

use crate::error::StepError;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Ends the step of a world from another thread. Copies are the same flag; once asked for, it stays.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Flag>);

#[derive(Debug)]
struct Flag {
    asked: AtomicBool,
    /// Looks left until it asks by itself; [`NEVER`] counts none.
    left: AtomicU64,
}

const NEVER: u64 = u64::MAX;

impl Default for Flag {
    fn default() -> Self {
        Self {
            asked: AtomicBool::new(false),
            left: AtomicU64::new(NEVER),
        }
    }
}

impl Interrupt {
    /// A flag that nobody has asked for yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that asks by itself once steps have looked at it so many times: to try every place where a step can end.
    #[must_use]
    pub fn after_looks(count: u64) -> Self {
        let flag = Self::default();
        flag.0.left.store(count.min(NEVER - 1), Ordering::Relaxed);
        flag
    }

    /// Ends the step under way at its next look, and every later one before it begins.
    pub fn ask(&self) {
        self.0.asked.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// Whether a loop should end.
    fn look(&self) -> bool {
        let left = self.0.left.load(Ordering::Relaxed);
        if left == 0 {
            self.ask();
        } else if left != NEVER {
            self.0.left.store(left - 1, Ordering::Relaxed);
        }
        self.is_asked()
    }
}

thread_local! {
    /// The flag of the step that runs on this thread.
    static CURRENT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// While it lives, loops on this thread look at a flag.
pub(crate) struct Watched(Option<Interrupt>);

impl Drop for Watched {
    fn drop(&mut self) {
        let before = self.0.take();
        CURRENT.with_borrow_mut(|current| *current = before);
    }
}

/// Lets loops on this thread look at a flag from now on, or at none.
pub(crate) fn watch(interrupt: Option<Interrupt>) -> Watched {
    CURRENT.with_borrow_mut(|current| Watched(std::mem::replace(current, interrupt)))
}

/// The flag that loops on this thread look at.
pub(crate) fn current() -> Option<Interrupt> {
    CURRENT.with_borrow(Clone::clone)
}

/// Whether the step on this thread should end: loops between counted operations ask this and leave.
#[inline]
pub(crate) fn asked() -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(Interrupt::look))
}

/// The same as an error.
pub(crate) fn check() -> Result<(), StepError> {
    if asked() {
        Err(StepError::Interrupted)
    } else {
        Ok(())
    }
}
