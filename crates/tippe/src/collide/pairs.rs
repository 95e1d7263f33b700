//! Pair search that is asked body by body: boxes in a hash of several levels, taken out and put in one at a time.
//!
//! Reads: boxes.  Writes: itself.
//! Called by: `method::events`, which moves two boxes after every impact and all of them once a frame.
//! Source: [Mirtich94] §3.2 (Overmars' hierarchical hash). A box lives on the lowest level whose cells are as large as its longest edge, so
//! that it lies in at most eight of them; it is looked up on every level that holds something.

use crate::math::Vec3;
use crate::shape::Aabb;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// A cell: level and place.
type Cell = (i32, [i64; 3]);

/// Mixes the numbers of a cell; the same on every machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CellHasher(u64);

impl Hasher for CellHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_i32(&mut self, x: i32) {
        self.write_u64(x as u64);
    }
    fn write_i64(&mut self, x: i64) {
        self.write_u64(x as u64);
    }
    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(23) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }
}

/// Boxes by number, found by overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boxes {
    boxes: Vec<Aabb>,
    /// By number: its level; none for boxes that are empty.
    levels: Vec<Option<i32>>,
    cells: HashMap<Cell, Vec<u32>, BuildHasherDefault<CellHasher>>,
    /// What lies on each level.
    members: BTreeMap<i32, BTreeSet<u32>>,
}

/// The level of boxes without bounds: they are compared with all.
const UNBOUNDED: i32 = i32::MAX;
/// Levels are kept within this: boxes below 2⁻¹⁰⁰ m share one, and so do those beyond 2¹⁰⁰ m.
const LEVEL_MOST: i32 = 100;
/// Coordinates, in cells, beyond which a box counts as without bounds.
const CELLS_MOST: f64 = 1e15;

impl Boxes {
    /// Holds nothing.
    pub fn clear(&mut self) {
        self.boxes.clear();
        self.levels.clear();
        self.cells.clear();
        self.members.clear();
    }

    /// Puts the box of a number in, instead of the one it had.
    pub fn set(&mut self, number: u32, bounds: Aabb) {
        self.take_out(number);
        let slot = number as usize;
        if self.boxes.len() <= slot {
            self.boxes.resize(slot + 1, Aabb::EMPTY);
            self.levels.resize(slot + 1, None);
        }
        self.boxes[slot] = bounds;
        if bounds.is_empty() {
            return;
        }
        let level = level_of(&bounds);
        self.levels[slot] = Some(level);
        self.members.entry(level).or_default().insert(number);
        for cell in cells_of(level, &bounds) {
            self.cells.entry((level, cell)).or_default().push(number);
        }
    }

    fn take_out(&mut self, number: u32) {
        let slot = number as usize;
        let Some(Some(level)) = self.levels.get(slot).copied() else {
            return;
        };
        self.levels[slot] = None;
        if let Some(members) = self.members.get_mut(&level) {
            members.remove(&number);
            if members.is_empty() {
                self.members.remove(&level);
            }
        }
        let bounds = self.boxes[slot];
        for cell in cells_of(level, &bounds) {
            if let Some(list) = self.cells.get_mut(&(level, cell)) {
                list.retain(|&n| n != number);
                if list.is_empty() {
                    self.cells.remove(&(level, cell));
                }
            }
        }
    }

    /// The numbers of all boxes that overlap `bounds`, ascending.
    pub fn overlapping(&self, bounds: &Aabb, out: &mut Vec<u32>) {
        out.clear();
        if bounds.is_empty() {
            return;
        }
        for (&level, members) in &self.members {
            let cells = cells_of(level, bounds);
            if level == UNBOUNDED || cells.size() > members.len() as u64 {
                out.extend(members.iter().filter(|&&n| self.meets(n, bounds)));
                continue;
            }
            for cell in cells {
                if let Some(list) = self.cells.get(&(level, cell)) {
                    out.extend(list.iter().filter(|&&n| self.meets(n, bounds)));
                }
            }
        }
        out.sort_unstable();
        out.dedup();
    }

    fn meets(&self, number: u32, bounds: &Aabb) -> bool {
        self.boxes[number as usize].overlaps(bounds)
    }
}

/// The level of a box: cells are 2^level m wide.
fn level_of(bounds: &Aabb) -> i32 {
    let edge = (bounds.max - bounds.min).max_element();
    let far = bounds.min.abs().max(bounds.max.abs()).max_element();
    if !(edge.is_finite() && far.is_finite()) {
        return UNBOUNDED;
    }
    let level =
        (libm::ceil(libm::log2(edge.max(f64::MIN_POSITIVE))) as i32).clamp(-LEVEL_MOST, LEVEL_MOST);
    if far > CELLS_MOST * width(level) {
        UNBOUNDED
    } else {
        level
    }
}

fn width(level: i32) -> f64 {
    libm::exp2(f64::from(level))
}

/// A block of cells.
#[derive(Clone, Copy, Debug)]
struct Cells {
    low: [i64; 3],
    high: [i64; 3],
    next: Option<[i64; 3]>,
}

/// The cells of a level that a box lies in; none for boxes that the level cannot count.
fn cells_of(level: i32, bounds: &Aabb) -> Cells {
    let none = Cells {
        low: [0; 3],
        high: [0; 3],
        next: None,
    };
    if level == UNBOUNDED {
        return none;
    }
    let at = |v: Vec3| {
        let v = v * (1.0 / width(level));
        [v.x, v.y, v.z].map(|x| libm::floor(x.clamp(-2.0 * CELLS_MOST, 2.0 * CELLS_MOST)) as i64)
    };
    let (low, high) = (at(bounds.min), at(bounds.max));
    if (0..3).any(|k| low[k] > high[k]) {
        return none;
    }
    Cells {
        low,
        high,
        next: Some(low),
    }
}

impl Cells {
    fn size(&self) -> u64 {
        let side = |k: usize| (self.high[k] - self.low[k] + 1) as u64;
        side(0).saturating_mul(side(1)).saturating_mul(side(2))
    }
}

impl Iterator for Cells {
    type Item = [i64; 3];
    fn next(&mut self) -> Option<[i64; 3]> {
        let now = self.next?;
        let mut then = now;
        for k in 0..3 {
            if then[k] < self.high[k] {
                then[k] += 1;
                self.next = Some(then);
                return Some(now);
            }
            then[k] = self.low[k];
        }
        self.next = None;
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mc_10_pairs_are_those_of_all_against_all_also_after_moves() {
        let mut seed = 11_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut boxes = Boxes::default();
        let mut kept: Vec<Aabb> = Vec::new();
        for i in 0..400 {
            let size = libm::exp2(10.0 * draw() - 8.0);
            let half = Vec3::new(size * draw(), size, size * draw());
            let center = Vec3::new(draw(), draw(), draw()) * 10.0 - 5.0;
            kept.push(match i {
                7 => Aabb::EVERYTHING,
                8 => Aabb::EMPTY,
                9 => Aabb {
                    max: Vec3::new(f64::INFINITY, f64::INFINITY, 0.0),
                    ..Aabb::EVERYTHING
                },
                _ => Aabb::from_center(center, half),
            });
            boxes.set(i, kept[i as usize]);
        }
        let mut found = Vec::new();
        for round in 0..3 {
            for (i, bounds) in kept.iter().enumerate() {
                boxes.overlapping(bounds, &mut found);
                let want: Vec<u32> = (0..kept.len() as u32)
                    .filter(|&j| *bounds != Aabb::EMPTY && kept[j as usize] != Aabb::EMPTY)
                    .filter(|&j| kept[j as usize].overlaps(bounds))
                    .collect();
                assert_eq!(found, want, "{round} {i}");
            }
            for i in (round..400).step_by(7) {
                kept[i] = Aabb::from_center(Vec3::splat(8.0 * draw() - 4.0), Vec3::splat(draw()));
                boxes.set(i as u32, kept[i]);
            }
        }
    }
}
