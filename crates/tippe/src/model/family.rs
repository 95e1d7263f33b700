//! Families of worlds: a number that tells the ids of one world, its clones and its snapshots from those of others.
//!
//! Reads: a counter of the process.  Writes: the counter.
//! Called by: `World::new`, `World::restore`; ids of bodies, joints, articulations and sensors hold one.
//! Source: —

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{self, AtomicU32};

/// The family that the next new world gets. No part of any state: it is not hashed and changes no motion.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// The family of a world. A guard and no part of an id's name: ids of the same slot and generation are equal whatever their families,
/// so that the events of two runs can be compared. [`Family::is`] tells families apart.
#[derive(Clone, Copy, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Family(u32);

impl Family {
    /// No family: of what is restored from it, a new one is made.
    pub(crate) const NONE: Self = Self(0);

    /// The family of a new world.
    pub(crate) fn new() -> Self {
        match NEXT.fetch_add(1, atomic::Ordering::Relaxed) {
            0 => Self::new(),
            number => Self(number),
        }
    }

    /// The family of a world that is restored: the one written, or a new one where none was. Worlds made from here on are of
    /// other families.
    pub(crate) fn restored(number: u32) -> Self {
        if number == 0 {
            return Self::new();
        }
        NEXT.fetch_max(number.saturating_add(1), atomic::Ordering::Relaxed);
        Self(number)
    }

    /// Whether two families are the same.
    pub(crate) const fn is(self, other: Self) -> bool {
        self.0 == other.0
    }

    /// Its number, for snapshots.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

impl PartialEq for Family {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Family {}

impl PartialOrd for Family {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Family {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Family {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}
