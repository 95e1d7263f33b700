//! What `events` remembers from call to call: flights, near pairs, resting pairs and clocks, all on absolute time.
//!
//! Reads: nothing.  Writes: nothing by itself; part of the State.
//! Called by: `method::events`, `state`, `snapshot`.
//! Source: docs/methods/events.md, "Time".

use super::near::Near;
use crate::report::EnergyLedger;
use crate::shape::Aabb;
use crate::state::{BodyState, PairKey, State};

/// Where a flight begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// When [s].
    pub time: f64,
    /// The body then.
    pub state: BodyState,
}

/// A pair of shapes whose contacts the solver of groups answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RestingPair {
    /// Which shapes.
    pub key: PairKey,
    /// Substeps in a row without a force.
    pub idle: u32,
    /// Whether a joint takes part: then impacts are the solver's too.
    pub handed: bool,
}

/// Everything that `events` carries from one call to the next.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// Whether it belongs to the world as it is; if not it is made anew from the states of the bodies.
    pub started: bool,
    /// Number of edits of the model that it knows of.
    pub edits: u64,
    /// Time of the world at the end of the last step [s].
    pub now: f64,
    /// What rounding has kept from the time of the world [s].
    pub carry: f64,
    /// The end of the frame under way, in parts of the longest.
    pub frame: u64,
    /// By slot: where flights of ballistic bodies begin.
    pub flights: Vec<Start>,
    /// By slot: whether a body moves in a group, on the clock of substeps.
    pub grouped: Vec<bool>,
    /// By shape, in the order of the slots: where it stays until the frame ends.
    pub boxes: Vec<Aabb>,
    /// Near pairs and their heap.
    pub near: Near,
    /// Sorted by key.
    pub resting: Vec<RestingPair>,
    /// Bodies of groups with their memory, at the end of their last substep.
    pub group: Option<Box<State>>,
    /// What was told of the substep under way before it was over.
    pub told: EnergyLedger,
    /// Whether the user's forces act in the substep under way.
    pub loaded: bool,
}

impl Schedule {
    /// Becomes like another one and keeps its memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        if !other.started {
            self.started = false;
            return;
        }
        self.clone_from(other);
    }

    /// Whether a pair rests, and how.
    pub(crate) fn resting(&self, key: &PairKey) -> Option<&RestingPair> {
        let found = self.resting.binary_search_by_key(key, |r| r.key);
        found.ok().map(|i| &self.resting[i])
    }
}
