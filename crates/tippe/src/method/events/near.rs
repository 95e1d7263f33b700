//! Near pairs: which shapes may meet within the frame, each with the time of its next look, in an indexed heap.
//!
//! Reads: nothing.  Writes: itself; part of the State, since the times steer what follows.
//! Called by: `method::events`.
//! Source: [Mirtich94] §3.1 (heap of times of impact). A 4-ary heap by time, then by the name of the pair, so that ties have one order.

use crate::state::PairKey;
use std::collections::BTreeMap;

/// A pair of shapes that may meet within the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// Which shapes.
    pub key: PairKey,
    /// When to look at it next [s]; infinite if nothing can happen before the frame or the substep of its bodies ends.
    pub next: f64,
    /// Whether the shapes touch by then.
    pub arrives: bool,
    /// One of the shapes is a sensor.
    pub sensor: bool,
}

/// Where a pair is not in the heap.
const OUT: u32 = u32::MAX;

/// All near pairs.
#[derive(Clone, Debug, Default)]
pub struct Near {
    slab: Vec<Pair>,
    /// By number: place in the heap.
    place: Vec<u32>,
    free: Vec<u32>,
    heap: Vec<u32>,
    /// By body slot: numbers of its pairs.
    of_body: Vec<Vec<u32>>,
    /// Impacts of pairs since a whole frame could last begin, also of such as are not near any more.
    struck: BTreeMap<PairKey, u32>,
    /// Changes of the heap, for the report.
    pub operations: u64,
}

impl Near {
    /// Nothing is near, among so many slots.
    pub fn clear(&mut self, slots: usize) {
        self.slab.clear();
        self.place.clear();
        self.free.clear();
        self.heap.clear();
        self.of_body.iter_mut().for_each(Vec::clear);
        self.of_body.resize(slots, Vec::new());
        self.struck.clear();
    }

    /// All pairs, in no order that means anything.
    pub fn all(&self) -> impl Iterator<Item = (u32, &Pair)> {
        (0..self.slab.len() as u32)
            .filter(|&i| self.place[i as usize] != OUT)
            .map(|i| (i, &self.slab[i as usize]))
    }

    /// All pairs by name.
    pub fn sorted(&self) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = self.all().map(|(_, p)| *p).collect();
        pairs.sort_unstable_by_key(|p| p.key);
        pairs
    }

    /// Numbers of the pairs of a body.
    pub fn of(&self, slot: u32) -> &[u32] {
        &self.of_body[slot as usize]
    }

    /// A pair by its number.
    pub fn get(&self, number: u32) -> &Pair {
        &self.slab[number as usize]
    }

    /// The number of a pair of two bodies, if it is near.
    pub fn find(&self, key: &PairKey) -> Option<u32> {
        let (a, b) = (self.of(key.body_a), self.of(key.body_b));
        let shorter = if a.len() <= b.len() { a } else { b };
        shorter.iter().copied().find(|&i| self.get(i).key == *key)
    }

    /// Takes a pair in.
    pub fn insert(&mut self, pair: Pair) -> u32 {
        let number = match self.free.pop() {
            Some(number) => number,
            None => {
                self.slab.push(Pair::default());
                self.place.push(OUT);
                self.slab.len() as u32 - 1
            }
        };
        self.slab[number as usize] = pair;
        self.place[number as usize] = self.heap.len() as u32;
        self.heap.push(number);
        self.up(self.heap.len() - 1);
        self.of_body[pair.key.body_a as usize].push(number);
        self.of_body[pair.key.body_b as usize].push(number);
        number
    }

    /// Lets a pair go.
    pub fn remove(&mut self, number: u32) {
        let place = self.place[number as usize] as usize;
        let last = self.heap.len() - 1;
        self.heap.swap(place, last);
        self.place[self.heap[place] as usize] = place as u32;
        self.heap.pop();
        self.place[number as usize] = OUT;
        if place < self.heap.len() {
            self.down(place);
            self.up(place);
        }
        let key = self.slab[number as usize].key;
        for slot in [key.body_a, key.body_b] {
            self.of_body[slot as usize].retain(|&i| i != number);
        }
        self.free.push(number);
    }

    /// Sets when to look at a pair next, and whether it arrives then.
    pub fn schedule(&mut self, number: u32, next: f64, arrives: bool) {
        self.operations += 1;
        let pair = &mut self.slab[number as usize];
        pair.next = next;
        pair.arrives = arrives;
        let place = self.place[number as usize] as usize;
        self.down(place);
        self.up(self.place[number as usize] as usize);
    }

    /// Counts an impact of a pair.
    pub fn count(&mut self, key: PairKey) {
        *self.struck.entry(key).or_default() += 1;
    }

    /// Impacts of a pair in the whole frame under way.
    pub fn impacts(&self, key: &PairKey) -> u32 {
        self.struck.get(key).copied().unwrap_or_default()
    }

    /// All pairs with impacts in it, by name.
    pub fn struck(&self) -> Vec<(PairKey, u32)> {
        self.struck
            .iter()
            .map(|(key, count)| (*key, *count))
            .collect()
    }

    /// Takes over counts of impacts.
    pub fn strike(&mut self, counts: Vec<(PairKey, u32)>) {
        self.struck = counts.into_iter().collect();
    }

    /// A frame begins: everything is looked at again at `time`. Counts start anew if a `whole` frame may begin there.
    pub fn begin_frame(&mut self, time: f64, whole: bool) {
        if whole {
            self.struck.clear();
        }
        for pair in &mut self.slab {
            pair.next = time;
            pair.arrives = false;
        }
        self.heap
            .sort_unstable_by_key(|&i| self.slab[i as usize].key);
        for (place, &number) in self.heap.iter().enumerate() {
            self.place[number as usize] = place as u32;
        }
    }

    /// The pair to look at first.
    pub fn first(&self) -> Option<(u32, f64)> {
        let number = *self.heap.first()?;
        Some((number, self.get(number).next))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    fn before(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        a.next.total_cmp(&b.next).then(a.key.cmp(&b.key)).is_lt()
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.place[self.heap[a] as usize] = a as u32;
        self.place[self.heap[b] as usize] = b as u32;
    }

    fn up(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 4;
            if !self.before(self.heap[place], self.heap[parent]) {
                break;
            }
            self.swap(place, parent);
            place = parent;
        }
    }

    fn down(&mut self, mut place: usize) {
        loop {
            let children = (4 * place + 1)..(4 * place + 5).min(self.heap.len());
            let mut least = place;
            for child in children {
                if self.before(self.heap[child], self.heap[least]) {
                    least = child;
                }
            }
            if least == place {
                return;
            }
            self.swap(place, least);
            place = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(b: u32, next: f64) -> Pair {
        Pair {
            key: PairKey {
                body_b: b,
                ..PairKey::default()
            },
            next,
            ..Pair::default()
        }
    }

    #[test]
    fn mc_08_the_heap_gives_pairs_by_time_and_then_by_name() {
        let mut near = Near::default();
        near.clear(400);
        let mut seed = 7_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 40) as f64 % 50.0
        };
        let numbers: Vec<u32> = (1..300).map(|b| near.insert(pair(b, draw()))).collect();
        for &number in numbers.iter().step_by(3) {
            near.schedule(number, draw(), false);
        }
        for &number in numbers.iter().skip(1).step_by(5) {
            near.remove(number);
        }
        let mut expected = near.sorted();
        expected.sort_by(|x, y| x.next.total_cmp(&y.next).then(x.key.cmp(&y.key)));
        for want in expected {
            let (number, next) = near.first().unwrap();
            assert_eq!((near.get(number).key, next), (want.key, want.next));
            assert_eq!(near.find(&want.key), Some(number));
            near.remove(number);
        }
        assert_eq!(near.len(), 0);
        assert!(near.of(0).is_empty());
    }
}
