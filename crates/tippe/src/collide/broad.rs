//! Broad phase: which boxes overlap.
//!
//! Reads: boxes.  Writes: its own scratch and the list of pairs.
//! Called by: `collide::detect`.
//! Source: all pairs, for now.

use crate::shape::Aabb;

/// Finds overlapping boxes. Holds scratch only: the pairs depend on the boxes alone, not on earlier calls.
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    pairs: Vec<(u32, u32)>,
}

impl BroadPhase {
    /// All pairs `(i, j)`, `i < j`, of overlapping closed boxes of which one is movable, ascending. Empty boxes are absent slots.
    pub fn update(&mut self, boxes: &[Aabb], movable: &[bool]) -> &[(u32, u32)] {
        self.pairs.clear();
        for (i, a) in boxes.iter().enumerate().filter(|(_, a)| !a.is_empty()) {
            for (j, b) in boxes.iter().enumerate().skip(i + 1) {
                if (movable[i] || movable[j]) && a.overlaps(b) && !b.is_empty() {
                    self.pairs.push((i as u32, j as u32));
                }
            }
        }
        &self.pairs
    }
}
