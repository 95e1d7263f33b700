//! Threads that a world may use. Results never depend on their number.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `world`, and the phases that work on islands.
//! Source: docs/conventions.md, "Same bits".

use crate::error::BuildError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Most threads of a world.
pub(crate) const THREADS_MAX: usize = 1024;

/// The pools in use, by their number of threads: a thousand worlds of four threads use four threads.
static POOLS: Mutex<BTreeMap<usize, Weak<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// The threads of a world: the caller's alone, or a pool that all worlds with as many threads share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads(Option<Arc<ThreadPool>>);

impl Threads {
    /// The pool of so many threads; with one, the caller's thread does everything.
    pub(crate) fn new(count: usize) -> Result<Self, BuildError> {
        if count == 0 || count > THREADS_MAX {
            return Err(BuildError::new("threads", "must be between 1 and 1024"));
        }
        if count == 1 {
            return Ok(Self(None));
        }
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&count).and_then(Weak::upgrade) {
            return Ok(Self(Some(pool)));
        }
        let pool = ThreadPoolBuilder::new().num_threads(count).build();
        let pool =
            pool.map_err(|_| BuildError::new("threads", "the machine does not give so many"))?;
        let pool = Arc::new(pool);
        pools.insert(count, Arc::downgrade(&pool));
        Ok(Self(Some(pool)))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    pub(crate) fn pool(&self) -> Option<&ThreadPool> {
        self.0.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worlds_with_as_many_threads_share_them() {
        let [a, b] = [3, 3].map(|n| Threads::new(n).expect("three threads"));
        let same = |a: &Threads, b: &Threads| match (&a.0, &b.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        assert!(same(&a, &b));
        let other = Threads::new(2).expect("two threads");
        assert!(!same(&a, &other));
        assert_eq!((a.count(), other.count()), (3, 2));
    }
}
