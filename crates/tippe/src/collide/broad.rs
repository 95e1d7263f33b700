//! Broad phase: which boxes overlap.
//!
//! Reads: boxes.  Writes: its own scratch and the list of pairs.
//! Called by: `collide::detect`.
//! Source: [Lecture] "Broad Phase". Movable boxes of ordinary size meet in a sorted grid; large ones and those that stand still are
//! looked up in trees; unbounded ones are compared with all.

use super::grid::Grid;
use super::radix::sort_pairs;
use super::tree::{BoxTree, Descent, Item, push_if};
use crate::shape::Aabb;

/// A movable box this many times larger than the median one is large [1]. Cells of the grid are as large as its largest box.
const BROAD_LARGE: f64 = 2.0;
/// A fixed box this many times larger than the median one is large [1].
const LARGE_FIXED: f64 = 8.0;

/// Most pairs that are listed: memory must not grow with the square of what is put into one place.
pub(super) const PAIRS_MAX: usize = 1 << 24;

/// Finds overlapping boxes. Holds scratch only: the pairs depend on the boxes alone, not on earlier calls.
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    movers: Movers,
    fixed: Fixed,
    scratch: Scratch,
    pairs: Vec<(u32, u32)>,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    members: Vec<Item>,
    part: Vec<Item>,
    sizes: Vec<f64>,
    stack: Vec<Descent>,
    pairs: Vec<(u32, u32)>,
    starts: Vec<u32>,
}

/// Boxes of which one must be in every pair.
#[derive(Clone, Debug, Default)]
struct Movers {
    ordinary: Grid,
    large: BoxTree,
    unbounded: Vec<Item>,
}

/// Boxes that do not pair among themselves.
#[derive(Clone, Debug, Default)]
struct Fixed {
    /// All of them, by index: if they are the same as before, so are the trees.
    members: Vec<Item>,
    ordinary: BoxTree,
    large: BoxTree,
    unbounded: Vec<Item>,
}

impl BroadPhase {
    /// All pairs `(i, j)`, `i < j`, of overlapping closed boxes of which at least one is movable, ascending.
    ///
    /// Some are left out if there are more than [`PAIRS_MAX`]. Empty boxes are absent slots. Costs O(n) for boxes of similar size; boxes that do not move are sorted only when they change.
    pub fn update(&mut self, boxes: &[Aabb], movable: &[bool]) -> &[(u32, u32)] {
        let Self {
            movers,
            fixed,
            scratch,
            pairs,
        } = self;
        select(boxes, movable, true, &mut scratch.members);
        movers.build(scratch);
        select(boxes, movable, false, &mut scratch.members);
        if fixed.members != scratch.members {
            fixed.build(scratch);
        }
        pairs.clear();
        movers.pairs_within(&mut scratch.stack, pairs);
        movers.pairs_with(fixed, &mut scratch.stack, pairs);
        pairs.truncate(PAIRS_MAX);
        sort_pairs(pairs, &mut scratch.pairs, &mut scratch.starts, boxes.len());
        pairs
    }
}

impl Movers {
    fn build(&mut self, scratch: &mut Scratch) {
        let limit = BROAD_LARGE * divide(scratch, &mut self.unbounded);
        let largest = keep(scratch, |s| s <= limit);
        self.ordinary.build(&scratch.part, largest);
        keep(scratch, |s| s > limit);
        self.large.build(&scratch.part);
    }

    fn pairs_within(&self, stack: &mut Vec<Descent>, out: &mut Vec<(u32, u32)>) {
        self.ordinary.pairs_within(out);
        self.large.pairs_within(stack, out);
        self.large.pairs_with(&self.ordinary.items, stack, out);
        for (i, wide) in self.unbounded.iter().enumerate() {
            let bounded = self.ordinary.items.iter().chain(self.large.items());
            for item in bounded.chain(&self.unbounded[i + 1..]) {
                push_if(wide, item, out);
            }
        }
    }

    fn pairs_with(&self, fixed: &Fixed, stack: &mut Vec<Descent>, out: &mut Vec<(u32, u32)>) {
        for tree in [&fixed.ordinary, &fixed.large] {
            tree.pairs_with(&self.ordinary.items, stack, out);
            tree.pairs_with(self.large.items(), stack, out);
        }
        for item in &self.unbounded {
            for other in &fixed.members {
                push_if(item, other, out);
            }
        }
        for wide in &fixed.unbounded {
            for item in self.ordinary.items.iter().chain(self.large.items()) {
                push_if(wide, item, out);
            }
        }
    }
}

impl Fixed {
    fn build(&mut self, scratch: &mut Scratch) {
        let limit = LARGE_FIXED * divide(scratch, &mut self.unbounded);
        keep(scratch, |s| s <= limit);
        self.ordinary.build(&scratch.part);
        keep(scratch, |s| s > limit);
        self.large.build(&scratch.part);
        std::mem::swap(&mut self.members, &mut scratch.members);
    }
}

/// The boxes of one kind of mobility that are there.
fn select(boxes: &[Aabb], movable: &[bool], wanted: bool, out: &mut Vec<Item>) {
    out.clear();
    for (i, (b, m)) in boxes.iter().zip(movable).enumerate() {
        if *m == wanted && !b.is_empty() {
            out.push((i as u32, *b));
        }
    }
}

/// Collects the unbounded members and returns the median size of the others [m].
fn divide(scratch: &mut Scratch, unbounded: &mut Vec<Item>) -> f64 {
    unbounded.clear();
    scratch.sizes.clear();
    for item in &scratch.members {
        let s = size(&item.1);
        if s.is_finite() {
            scratch.sizes.push(s);
        } else {
            unbounded.push(*item);
        }
    }
    if scratch.sizes.is_empty() {
        return 0.0;
    }
    let middle = scratch.sizes.len() / 2;
    *scratch
        .sizes
        .select_nth_unstable_by(middle, f64::total_cmp)
        .1
}

/// Puts the bounded members of certain sizes into `part`; returns the largest of those sizes [m].
fn keep(scratch: &mut Scratch, wanted: impl Fn(f64) -> bool) -> f64 {
    scratch.part.clear();
    let mut largest = 0.0_f64;
    for item in &scratch.members {
        let s = size(&item.1);
        if s.is_finite() && wanted(s) {
            scratch.part.push(*item);
            largest = largest.max(s);
        }
    }
    largest
}

/// The longest edge of a box [m]; infinite for a box without end, or with ends too far to compute with.
fn size(b: &Aabb) -> f64 {
    (b.max - b.min).max_element()
}
