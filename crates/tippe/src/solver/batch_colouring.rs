//! Which contacts are visited at once: every contact of a packed sweep gets a batch and a lane in it.
//!
//! Reads: the bodies of each contact, numbered within the island.  Writes: seats.
//! Called by: `packed`.
//! A batch holds contacts that share no body of finite mass; contacts that share one keep their order. Seats depend on the bodies of the
//! contacts and their order alone, and are kept while these stay the same.

use crate::math::lanes::LANES;

/// Batches that a body is left alone for after a visit, so that the processor can work on several at once.
const SPREAD: u32 = 2;

/// Seats of contacts in batches.
#[derive(Clone, Debug, Default)]
pub(super) struct Seats {
    /// By contact: its bodies, numbered in the order in which they come.
    ends: Vec<[u32; 2]>,
    /// By body: whether it can move.
    moves: Vec<bool>,
    /// By contact: batch and lane.
    seats: Vec<(u32, u8)>,
    /// By body: the first batch that is free of it.
    free: Vec<u32>,
    /// By batch: itself if it has a lane left, else a later one to ask.
    open: Vec<u32>,
    /// By batch: lanes taken.
    taken: Vec<u8>,
}

impl Seats {
    /// By contact: batch and lane.
    pub(super) fn list(&self) -> &[(u32, u8)] {
        &self.seats
    }

    /// Bodies of contact `k`.
    pub(super) fn ends(&self, k: usize) -> [u32; 2] {
        self.ends[k]
    }

    /// By batch: lanes taken.
    pub(super) fn taken(&self) -> &[u8] {
        &self.taken
    }

    /// Number of batches.
    pub(super) fn batches(&self) -> usize {
        self.taken.len()
    }

    /// Seats contacts with these ends; returns whether they have new seats. Of a body is told whether it moves.
    pub(super) fn assign(
        &mut self,
        ends: impl Iterator<Item = [u32; 2]> + Clone,
        moves: impl Iterator<Item = bool> + Clone,
    ) -> bool {
        if moves.clone().eq(self.moves.iter().copied())
            && ends.clone().eq(self.ends.iter().copied())
        {
            return false;
        }
        self.ends.clear();
        self.ends.extend(ends);
        self.moves.clear();
        self.moves.extend(moves);
        self.open.clear();
        self.taken.clear();
        self.free.clear();
        self.free.resize(self.moves.len(), 0);
        self.seats.clear();
        for k in 0..self.ends.len() {
            let seat = self.seat(self.ends[k]);
            self.seats.push(seat);
        }
        true
    }

    /// The first batch with a lane left after all that share a body with these ends, and that lane.
    fn seat(&mut self, [a, b]: [u32; 2]) -> (u32, u8) {
        let first = self.free[a as usize].max(self.free[b as usize]) as usize;
        // Batches may be skipped: those have all their lanes left.
        while self.open.len() < first {
            self.push_batch();
        }
        let mut batch = first;
        while batch < self.open.len() && self.open[batch] as usize != batch {
            batch = self.open[batch] as usize;
        }
        // Shorten the way for those who ask next.
        let mut on_the_way = first;
        while on_the_way < batch {
            on_the_way = std::mem::replace(&mut self.open[on_the_way], batch as u32) as usize;
        }
        while batch >= self.open.len() {
            self.push_batch();
        }
        let lane = self.taken[batch];
        self.taken[batch] += 1;
        if usize::from(self.taken[batch]) == LANES {
            self.open[batch] = batch as u32 + 1;
        }
        for x in [a, b] {
            if self.moves[x as usize] {
                self.free[x as usize] = batch as u32 + SPREAD;
            }
        }
        (batch as u32, lane)
    }

    fn push_batch(&mut self) {
        self.open.push(self.open.len() as u32);
        self.taken.push(0);
    }
}
