//! Boxes of similar size in a sorted grid: pairs among them, found by walking along its rows.
//!
//! Reads: boxes.  Writes: its own arrays, reused from build to build; appends pairs.
//! Called by: `collide::broad`.
//! Source: [Lecture] "Broad Phase" (sweep), over the cells of a uniform grid; no table of cells, so empty space costs nothing.

use super::broad::PAIRS_MAX;
use super::radix::sort_by_key;
use super::tree::{Item, push_if};
use crate::math::glam::Vec4;
use crate::shape::Aabb;

/// Bits of a cell's number per axis.
const BITS: u32 = 21;
/// Cells are larger than the largest box by this factor, far more than rounding of a cell's number [1].
const ROOM: f64 = 1.001;

/// A box rounded outward to `f32`; the fourth lane always overlaps.
#[derive(Clone, Copy, Debug)]
struct Coarse {
    min: Vec4,
    max: Vec4,
}

impl Coarse {
    fn of(b: &Aabb) -> Self {
        // One step beyond the nearest `f32` is outside, whichever way the nearest was rounded.
        let low = |x: f64| (x as f32).next_down();
        let high = |x: f64| (x as f32).next_up();
        Self {
            min: Vec4::new(low(b.min.x), low(b.min.y), low(b.min.z), 0.0),
            max: Vec4::new(high(b.max.x), high(b.max.y), high(b.max.z), 0.0),
        }
    }

    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        (self.min.cmple(other.max) & other.min.cmple(self.max)).all()
    }
}

/// The grid: boxes in the order of the cells of their lowest corners, x fastest.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    pub items: Vec<Item>,
    coarse: Vec<Coarse>,
    cells: Vec<u64>,
    keys: Vec<(u64, u32)>,
    keys_other: Vec<(u64, u32)>,
}

impl Grid {
    /// Replaces the contents. All boxes must be finite, not empty, and not larger than `size` [m] along any axis.
    pub fn build(&mut self, items: &[Item], size: f64) {
        let per_meter = 1.0 / (ROOM * size).max(f64::MIN_POSITIVE);
        self.keys.clear();
        self.keys.extend(
            items
                .iter()
                .enumerate()
                .map(|(i, item)| (cell_key(&item.1, per_meter), i as u32)),
        );
        sort_by_key(&mut self.keys, &mut self.keys_other);
        self.items.clear();
        self.items
            .extend(self.keys.iter().map(|k| items[k.1 as usize]));
        self.cells.clear();
        self.cells.extend(self.keys.iter().map(|k| k.0));
        self.coarse.clear();
        self.coarse
            .extend(self.items.iter().map(|item| Coarse::of(&item.1)));
    }

    /// Appends all overlapping pairs, lower index first.
    ///
    /// Boxes that overlap have their lowest corners in the same or in neighbouring cells. Half of the 26 neighbours suffice: the
    /// next cell of the row, and three cells each of the four rows that come later. The boxes of a row stand in line, and as
    /// the walk goes on, so do the places to look at in those rows.
    pub fn pairs_within(&self, out: &mut Vec<(u32, u32)>) {
        const ROW: u64 = 1 << BITS;
        const LAYER: u64 = 1 << (2 * BITS);
        let later = [ROW, LAYER - ROW, LAYER, LAYER + ROW];
        let mut cursors = [0; 4];
        let cells = &self.cells[..];
        for (i, own) in self.coarse.iter().enumerate() {
            if out.len() >= PAIRS_MAX {
                return;
            }
            let cell = cells[i];
            let end = skip(cells, i + 1, cell + 2);
            self.meet(i, own, i + 1, end, out);
            for (cursor, offset) in cursors.iter_mut().zip(later) {
                let first = cell + offset - 1;
                *cursor = skip(cells, *cursor, first);
                let end = skip(cells, *cursor, first + 3);
                self.meet(i, own, *cursor, end, out);
            }
        }
    }

    /// Appends the pairs of box `i` with the boxes of a stretch.
    #[inline]
    fn meet(&self, i: usize, own: &Coarse, first: usize, end: usize, out: &mut Vec<(u32, u32)>) {
        const BATCH: usize = 16;
        let mut start = first;
        while start < end {
            let stop = end.min(start + BATCH);
            // Which ones overlap is hard to foretell: note them without a branch, then go through the notes.
            let mut hits = 0_u32;
            for (k, other) in self.coarse[start..stop].iter().enumerate() {
                hits |= u32::from(own.overlaps(other)) << k;
            }
            while hits != 0 {
                push_if(
                    &self.items[i],
                    &self.items[start + hits.trailing_zeros() as usize],
                    out,
                );
                hits &= hits - 1;
            }
            start = stop;
        }
    }
}

/// The first place from `at` on with a cell of at least `cell`.
#[inline]
fn skip(cells: &[u64], mut at: usize, cell: u64) -> usize {
    while at < cells.len() && cells[at] < cell {
        at += 1;
    }
    at
}

/// The number of the cell that holds the lowest corner of a box: layer, row, place in the row.
fn cell_key(b: &Aabb, per_meter: f64) -> u64 {
    // Far away all cells are one: neighbours stay neighbours. The outermost numbers are left free, so that a step never carries.
    let limit = f64::from((1_u32 << (BITS - 1)) - 2);
    let number = |x: f64| ((x * per_meter).floor().max(-limit).min(limit) + limit + 1.0) as u64;
    number(b.min.x) | (number(b.min.y) << BITS) | (number(b.min.z) << (2 * BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    #[test]
    fn cells_never_carry() {
        for x in [-1e300, -1e9, -1.0, 0.0, 1.0, 1e9, 1e300] {
            let key = cell_key(&Aabb::from_center(Vec3::splat(x), Vec3::ZERO), 1.0);
            for k in 0..3 {
                let number = (key >> (k * BITS)) & ((1 << BITS) - 1);
                assert!((1..(1 << BITS) - 1).contains(&number), "{x} {number}");
            }
        }
    }
}
