//! Rectangles that overlap, by a sweep with an interval tree.
//!
//! Reads: rectangles.  Writes: nothing (pure functions).
//! Called by: tests, as a second opinion on the other pair searches, and planar scenes of users.
//! Source: [Lecture] "Broad Phase" (CL-14); interval trees as in [Edelsbrunner83]: the tree is made over all ends beforehand, each node keeps
//! the active intervals that hold its value, by lower and by upper end. n rectangles with k overlaps cost O((n + k) log n): each step in
//! an ordered set is a logarithm.

use std::collections::BTreeSet;

/// A closed rectangle: least and largest x and y. One that is not finite or has its ends exchanged overlaps nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// Least x and y.
    pub min: [f64; 2],
    /// Largest x and y.
    pub max: [f64; 2],
}

/// All pairs of rectangles that overlap or touch, lower index first, in ascending order.
#[must_use]
pub fn overlapping_rectangles(all: &[Rectangle]) -> Vec<(u32, u32)> {
    overlapping_rectangles_counted(all).0
}

/// The same, and how many nodes of the tree and intervals in them were looked at.
#[must_use]
pub fn overlapping_rectangles_counted(all: &[Rectangle]) -> (Vec<(u32, u32)>, u64) {
    let sound =
        |r: &Rectangle| (0..2).all(|k| r.min[k] <= r.max[k] && (r.max[k] - r.min[k]).is_finite());
    let present: Vec<u32> = (0..all.len() as u32)
        .filter(|i| sound(&all[*i as usize]))
        .collect();
    // (x, leaves?, rectangle): at the same place what begins comes first, so that touching ones meet.
    let mut events: Vec<(f64, bool, u32)> = Vec::with_capacity(2 * present.len());
    let mut ends = Vec::with_capacity(2 * present.len());
    for &i in &present {
        let r = &all[i as usize];
        // −0 is 0, here as in `key`.
        events.extend([(r.min[0] + 0.0, false, i), (r.max[0] + 0.0, true, i)]);
        ends.extend([r.min[1], r.max[1]]);
    }
    events.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut tree = IntervalTree::new(ends);
    let mut out = Vec::new();
    for (_, leaves, i) in events {
        let r = &all[i as usize];
        let (low, high) = (r.min[1] + 0.0, r.max[1] + 0.0);
        if leaves {
            tree.take(low, high, i);
        } else {
            tree.overlapping(low, high, &mut |j| out.push((i.min(j), i.max(j))));
            tree.put(low, high, i);
        }
    }
    out.sort_unstable();
    (out, tree.looks)
}

/// Bits of a number in the order of numbers; −0 is 0.
fn key(x: f64) -> i64 {
    let bits = (x + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// Intervals that are active, in a tree over all values that an end can have.
struct IntervalTree {
    values: Vec<i64>,
    /// The active intervals by the node whose value they hold, then by lower and by upper end. One set for all nodes: few intervals are
    /// active at a time, and so few places of memory are touched.
    lows: BTreeSet<(usize, i64, u32)>,
    highs: BTreeSet<(usize, i64, u32)>,
    /// By node: active intervals in its subtree.
    below: Vec<u32>,
    /// Nodes and intervals looked at so far.
    looks: u64,
}

impl IntervalTree {
    fn new(ends: Vec<f64>) -> Self {
        let mut values: Vec<i64> = ends.into_iter().map(key).collect();
        values.sort_unstable();
        values.dedup();
        let count = values.len();
        Self {
            values,
            lows: BTreeSet::new(),
            highs: BTreeSet::new(),
            below: vec![0; count],
            looks: 0,
        }
    }

    /// Walks down to the node whose value an interval holds first; `count` is added to all on the way.
    fn find(&mut self, low: i64, high: i64, count: i32) -> usize {
        let (mut from, mut to) = (0, self.values.len());
        loop {
            // The root of a range is its middle.
            let node = usize::midpoint(from, to);
            self.looks += 1;
            self.below[node] = self.below[node].wrapping_add_signed(count);
            if high < self.values[node] {
                to = node;
            } else if low > self.values[node] {
                from = node + 1;
            } else {
                return node;
            }
        }
    }

    fn put(&mut self, low: f64, high: f64, i: u32) {
        let node = self.find(key(low), key(high), 1);
        self.lows.insert((node, key(low), i));
        self.highs.insert((node, key(high), i));
    }

    fn take(&mut self, low: f64, high: f64, i: u32) {
        let node = self.find(key(low), key(high), -1);
        self.lows.remove(&(node, key(low), i));
        self.highs.remove(&(node, key(high), i));
    }

    /// Calls `visit` with every active interval that overlaps or touches this one.
    fn overlapping(&mut self, low: f64, high: f64, visit: &mut impl FnMut(u32)) {
        let (low, high) = (key(low), key(high));
        let mut open = vec![(0, self.values.len())];
        while let Some((from, to)) = open.pop() {
            if from >= to {
                continue;
            }
            let node = usize::midpoint(from, to);
            self.looks += 1;
            if self.below[node] == 0 {
                continue;
            }
            let value = self.values[node];
            let mut found = 0;
            let mut tell = |i: u32| {
                found += 1;
                visit(i);
            };
            if low > value {
                let from = (node, low, 0)..=(node, i64::MAX, u32::MAX);
                self.highs.range(from).for_each(|h| tell(h.2));
            } else {
                let to = (node, i64::MIN, 0)..=(node, high, u32::MAX);
                self.lows.range(to).for_each(|l| tell(l.2));
            }
            self.looks += found;
            if high > value {
                open.push((node + 1, to));
            }
            if low < value {
                open.push((from, node));
            }
        }
    }
}
