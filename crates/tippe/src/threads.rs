//! Threads that a world may use. Results never depend on their number.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `world`, and the phases that work on islands.
//! Source: docs/conventions.md, "Same bits".

use crate::error::BuildError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// Most threads of a world.
pub(crate) const THREADS_MAX: usize = 1024;

/// The threads of a world: none of its own, or a pool that copies of the world share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads(Option<Arc<ThreadPool>>);

impl Threads {
    /// A pool of so many threads; with one, the caller's thread does everything.
    pub(crate) fn new(count: usize) -> Result<Self, BuildError> {
        if count == 0 || count > THREADS_MAX {
            return Err(BuildError::new("threads", "must be between 1 and 1024"));
        }
        if count == 1 {
            return Ok(Self(None));
        }
        ThreadPoolBuilder::new()
            .num_threads(count)
            .build()
            .map(|pool| Self(Some(Arc::new(pool))))
            .map_err(|_| BuildError::new("threads", "the machine does not give so many"))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    pub(crate) fn pool(&self) -> Option<&ThreadPool> {
        self.0.as_deref()
    }
}
