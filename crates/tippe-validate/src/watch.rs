//! A look over the shoulder of a case: its worlds, step by step, and what it compares with truth on the way.
//!
//! Reads: what `sim` shows it.  Writes: whatever the watcher keeps.
//! Called by: `sim`; the command implements it for its pages.
//! Source: none; a watcher changes nothing, and without one nothing is computed for it.

use std::sync::{Arc, Mutex};

use tippe::{StepReport, World};

/// Who looks.
pub trait Watcher: Send {
    /// A run begins with this world.
    fn begin(&mut self, world: &World, dt: f64);
    /// The world after one more step.
    fn step(&mut self, world: &World, report: &StepReport);
    /// A quantity of the run at a time [s], and what it should be then.
    fn note(&mut self, time: f64, what: &'static str, ours: f64, exact: f64);
    /// The run is over.
    fn end(&mut self, world: &World);
}

/// A watcher that all runs of a setup share.
#[derive(Clone)]
pub struct Watch(Arc<Mutex<dyn Watcher>>);

impl Watch {
    /// Shares this watcher.
    #[must_use]
    pub fn new(watcher: Arc<Mutex<dyn Watcher>>) -> Self {
        Self(watcher)
    }

    /// Shows something to the watcher; one that has panicked sees no more.
    pub(crate) fn show(&self, look: impl FnOnce(&mut dyn Watcher)) {
        if let Ok(mut watcher) = self.0.lock() {
            look(&mut *watcher);
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl PartialEq for Watch {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
