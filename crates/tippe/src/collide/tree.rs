//! A tree of boxes in Morton order, built anew at each use: four children to a node, four boxes to a leaf.
//!
//! Reads: boxes.  Writes: its own arrays, reused from build to build; appends pairs.
//! Called by: `collide::broad`.
//! Source: [Lecture] "BVH collision test" (pair descent); [Lauterbach09] (Morton order). The tree compares boxes rounded outward to
//! `f32`, four at a time; what it lets through is compared exactly.

use super::broad::PAIRS_MAX;
use super::radix::sort_by_key;
use crate::math::Vec3;
use crate::math::glam::Vec4;
use crate::shape::Aabb;

/// A box and the index its owner knows it by.
pub(super) type Item = (u32, Aabb);

/// Bits of a Morton code per axis.
const BITS: u32 = 21;
/// Centres looked at to find the extent of the crowd.
const SAMPLES: usize = 256;

/// A box rounded outward.
#[derive(Clone, Copy, Debug)]
struct Coarse {
    min: [f32; 3],
    max: [f32; 3],
}

impl Coarse {
    fn of(b: &Aabb) -> Self {
        // One step beyond the nearest `f32` is outside, whichever way the nearest was rounded.
        // Never infinite: a box without end would meet the places in a node that hold none.
        let low = |x: f64| (x as f32).next_down().max(f32::MIN);
        let high = |x: f64| (x as f32).next_up().min(f32::MAX);
        Self {
            min: [low(b.min.x), low(b.min.y), low(b.min.z)],
            max: [high(b.max.x), high(b.max.y), high(b.max.z)],
        }
    }
}

/// Four boxes side by side, so that one comparison serves all.
#[derive(Clone, Copy, Debug)]
struct Quad {
    min: [Vec4; 3],
    max: [Vec4; 3],
}

impl Quad {
    const EMPTY: Self = Self {
        min: [Vec4::INFINITY; 3],
        max: [Vec4::NEG_INFINITY; 3],
    };

    fn set(&mut self, lane: usize, b: &Coarse) {
        for k in 0..3 {
            self.min[k][lane] = b.min[k];
            self.max[k][lane] = b.max[k];
        }
    }

    /// One of the four boxes.
    #[inline]
    fn lane(&self, lane: usize) -> Coarse {
        let Self { min, max } = self;
        Coarse {
            min: [
                min[0].to_array()[lane],
                min[1].to_array()[lane],
                min[2].to_array()[lane],
            ],
            max: [
                max[0].to_array()[lane],
                max[1].to_array()[lane],
                max[2].to_array()[lane],
            ],
        }
    }

    fn bounds(&self) -> Coarse {
        let Self { min, max } = self;
        Coarse {
            min: [
                min[0].min_element(),
                min[1].min_element(),
                min[2].min_element(),
            ],
            max: [
                max[0].max_element(),
                max[1].max_element(),
                max[2].max_element(),
            ],
        }
    }

    /// Which of the four boxes overlap `b`, a bit each.
    #[inline]
    fn hits(&self, b: &Coarse) -> u32 {
        let below = |k: usize| self.min[k].cmple(Vec4::splat(b.max[k]));
        let above = |k: usize| self.max[k].cmpge(Vec4::splat(b.min[k]));
        (below(0) & above(0) & below(1) & above(1) & below(2) & above(2)).bitmask()
    }
}

/// A node under comparison: level, node of the first tree, node of the second.
pub(super) type Descent = (u32, u32, u32);

/// The tree. Level 0 holds the boxes, four to a node; lane k of node q on a level bounds node 4q + k of the level below.
#[derive(Clone, Debug, Default)]
pub(super) struct BoxTree {
    items: Vec<Item>,
    levels: Vec<Vec<Quad>>,
    /// Number of levels in use; the vectors of the others are kept for later.
    height: usize,
    keys: Vec<(u64, u32)>,
    keys_other: Vec<(u64, u32)>,
}

impl BoxTree {
    /// Replaces the contents. All boxes must be finite and not empty.
    pub fn build(&mut self, items: &[Item]) {
        self.items.clear();
        self.height = 0;
        if items.is_empty() {
            return;
        }
        let crowd = Crowd::of(items);
        self.keys.clear();
        self.keys.extend(
            items
                .iter()
                .enumerate()
                .map(|(i, item)| (crowd.code(center(&item.1)), i as u32)),
        );
        sort_by_key(&mut self.keys, &mut self.keys_other);
        self.items
            .extend(self.keys.iter().map(|k| items[k.1 as usize]));
        fill(
            level(&mut self.levels, 0),
            self.items.iter().map(|item| Coarse::of(&item.1)),
        );
        self.height = 1;
        while self.levels[self.height - 1].len() > 1 {
            let below = std::mem::take(&mut self.levels[self.height - 1]);
            fill(
                level(&mut self.levels, self.height),
                below.iter().map(Quad::bounds),
            );
            self.levels[self.height - 1] = below;
            self.height += 1;
        }
    }

    /// Appends all overlapping pairs of boxes of this tree, lower index first.
    pub fn pairs_within(&self, stack: &mut Vec<Descent>, out: &mut Vec<(u32, u32)>) {
        if self.items.is_empty() {
            return;
        }
        stack.clear();
        stack.push((self.height as u32 - 1, 0, 0));
        while let Some((level, a, b)) = stack.pop() {
            if out.len() >= PAIRS_MAX {
                return;
            }
            let quads = &self.levels[level as usize];
            let (quad_a, quad_b) = (&quads[a as usize], &quads[b as usize]);
            for i in 0..4 {
                let mut hits = quad_b.hits(&quad_a.lane(i));
                if a == b {
                    // A node meets itself once on the way down; a box never does.
                    hits &= if level == 0 { 0b1110 << i } else { 0b1111 << i };
                }
                let i = 4 * a + i as u32;
                while hits != 0 {
                    let j = 4 * b + hits.trailing_zeros();
                    hits &= hits - 1;
                    if level == 0 {
                        push_if(&self.items[i as usize], &self.items[j as usize], out);
                    } else {
                        stack.push((level - 1, i, j));
                    }
                }
            }
        }
    }

    /// Appends all overlapping pairs of a box of this tree and one of `others`, lower index first.
    ///
    /// The others go down the tree four at a time: neighbours should stand together.
    pub fn pairs_with(&self, others: &[Item], stack: &mut Vec<Descent>, out: &mut Vec<(u32, u32)>) {
        if self.items.is_empty() {
            return;
        }
        for group in others.chunks(4) {
            if out.len() >= PAIRS_MAX {
                return;
            }
            let bounds = Coarse::of(&group.iter().fold(Aabb::EMPTY, |b, item| b.merged(&item.1)));
            stack.clear();
            stack.push((self.height as u32 - 1, 0, 0));
            while let Some((level, q, _)) = stack.pop() {
                let mut hits = self.levels[level as usize][q as usize].hits(&bounds);
                while hits != 0 {
                    let i = 4 * q + hits.trailing_zeros();
                    hits &= hits - 1;
                    if level > 0 {
                        stack.push((level - 1, i, 0));
                    } else {
                        for y in group {
                            push_if(&self.items[i as usize], y, out);
                        }
                    }
                }
            }
        }
    }

    /// The boxes, neighbours together.
    pub fn items(&self) -> &[Item] {
        &self.items
    }
}

/// The vector of one level, made if it is not there yet.
fn level(levels: &mut Vec<Vec<Quad>>, k: usize) -> &mut Vec<Quad> {
    if levels.len() <= k {
        levels.push(Vec::new());
    }
    &mut levels[k]
}

/// Packs boxes four by four; empty boxes, which overlap nothing, fill the last node.
fn fill(quads: &mut Vec<Quad>, boxes: impl Iterator<Item = Coarse>) {
    quads.clear();
    for (i, b) in boxes.enumerate() {
        if i % 4 == 0 {
            quads.push(Quad::EMPTY);
        }
        quads[i / 4].set(i % 4, &b);
    }
}

/// Appends the pair if its boxes overlap.
#[inline]
pub(super) fn push_if(x: &Item, y: &Item, out: &mut Vec<(u32, u32)>) {
    if x.1.overlaps(&y.1) {
        out.push((x.0.min(y.0), x.0.max(y.0)));
    }
}

fn center(b: &Aabb) -> Vec3 {
    0.5 * b.min + 0.5 * b.max
}

/// Where most of the boxes are. A few far away must not spoil the order of the others, so the ends of a sample are cut off.
struct Crowd {
    low: Vec3,
    scale: Vec3,
}

impl Crowd {
    fn of(items: &[Item]) -> Self {
        let step = items.len().div_ceil(SAMPLES);
        let mut sample = [0.0; SAMPLES];
        let (mut low, mut scale) = (Vec3::ZERO, Vec3::ZERO);
        for k in 0..3 {
            let mut count = 0;
            for item in items.iter().step_by(step).take(SAMPLES) {
                sample[count] = center(&item.1)[k];
                count += 1;
            }
            let values = &mut sample[..count];
            values.sort_unstable_by(f64::total_cmp);
            let cut = count / 32;
            let (first, last) = (values[cut], values[count - 1 - cut]);
            // Room on either side for what the sample did not see.
            let width = last - first;
            low[k] = first - width;
            let wide = 3.0 * width;
            let cells = f64::from(1_u32 << BITS);
            scale[k] = if wide > 0.0 && wide.is_finite() {
                cells / wide
            } else {
                0.0
            };
        }
        Self { low, scale }
    }

    /// The place of a point on the Morton curve.
    fn code(&self, x: Vec3) -> u64 {
        let cell = (x - self.low) * self.scale;
        // The cast saturates, so points outside land in the outermost cells.
        let place = |c: f64| spread(u64::from(c as u32).min((1 << BITS) - 1));
        place(cell.x) | (place(cell.y) << 1) | (place(cell.z) << 2)
    }
}

/// Puts two zero bits between the lower 21 bits.
fn spread(x: u64) -> u64 {
    let x = (x | (x << 32)) & 0x001f_0000_0000_ffff;
    let x = (x | (x << 16)) & 0x001f_0000_ff00_00ff;
    let x = (x | (x << 8)) & 0x100f_00f0_0f00_f00f;
    let x = (x | (x << 4)) & 0x10c3_0c30_c30c_30c3;
    (x | (x << 2)) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_beyond_single_precision_meet_each_other_and_nothing_else() {
        let huge = |x: f64| Aabb {
            min: Vec3::splat(-x),
            max: Vec3::splat(x),
        };
        let items: Vec<Item> = (0..5).map(|i| (i, huge(1e60 + f64::from(i)))).collect();
        let mut tree = BoxTree::default();
        tree.build(&items);
        let mut pairs = Vec::new();
        tree.pairs_within(&mut Vec::new(), &mut pairs);
        assert_eq!(pairs.len(), 10);
        pairs.clear();
        tree.pairs_with(&items[..1], &mut Vec::new(), &mut pairs);
        assert_eq!(pairs.len(), 5);
    }

    #[test]
    fn bits_are_spread() {
        assert_eq!(spread(0b1011), 0b1_000_001_001);
        assert_eq!(spread(0x1f_ffff).count_ones(), 21);
    }
}
