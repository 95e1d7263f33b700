//! Islands: bodies connected through contacts. Bodies of infinite mass do not connect.
//!
//! Reads: pairs of slots, which slots are dynamic.  Writes: the order of the contacts, grouped by island.
//! Called by: the methods, once a step.
//! Source: union–find by path halving; [Bender06] §9 of the spec's notes on islands.

/// Scratch for finding islands; kept between steps so that a steady step allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    parent: Vec<u32>,
    island_of_root: Vec<u32>,
    island_of_item: Vec<u32>,
    /// Items grouped by island, in their given order within each.
    pub order: Vec<u32>,
    /// Where each island's items start in `order`; one more entry than islands.
    pub starts: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Islands {
    /// Groups `items` (pairs of slots) by island. Islands are numbered by their first item.
    pub fn build(
        &mut self,
        slots: usize,
        dynamic: impl Fn(u32) -> bool,
        items: impl Iterator<Item = (u32, u32)> + Clone,
    ) {
        self.parent.clear();
        self.parent.extend(0..slots as u32);
        for (a, b) in items.clone() {
            if dynamic(a) && dynamic(b) {
                let (a, b) = (self.root(a), self.root(b));
                // The lower slot becomes the root: the same roots whatever the order of the unions.
                let (low, high) = if a < b { (a, b) } else { (b, a) };
                self.parent[high as usize] = low;
            }
        }
        self.number(slots, &dynamic, items);
        self.group();
    }

    /// One item, which is an island of its own.
    pub(crate) fn one_item(&mut self) {
        self.order.clear();
        self.order.push(0);
        self.starts.clear();
        self.starts.extend([0, 1]);
    }

    /// Islands found.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Positions in `order` of one island's items.
    #[must_use]
    pub fn range(&self, island: usize) -> std::ops::Range<usize> {
        self.starts[island] as usize..self.starts[island + 1] as usize
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let up = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = up;
            i = up;
        }
        i
    }

    fn number(
        &mut self,
        slots: usize,
        dynamic: &impl Fn(u32) -> bool,
        items: impl Iterator<Item = (u32, u32)>,
    ) {
        self.island_of_root.clear();
        self.island_of_root.resize(slots, NONE);
        self.island_of_item.clear();
        let mut count = 0;
        for (a, b) in items {
            let root = self.root(if dynamic(b) { b } else { a }) as usize;
            if self.island_of_root[root] == NONE {
                self.island_of_root[root] = count;
                count += 1;
            }
            self.island_of_item.push(self.island_of_root[root]);
        }
        self.starts.clear();
        self.starts.resize(count as usize + 1, 0);
    }

    /// Counting sort of the items by island.
    fn group(&mut self) {
        for &island in &self.island_of_item {
            self.starts[island as usize + 1] += 1;
        }
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        self.order.clear();
        self.order.resize(self.island_of_item.len(), 0);
        for (item, &island) in self.island_of_item.iter().enumerate() {
            let place = &mut self.starts[island as usize];
            self.order[*place as usize] = item as u32;
            *place += 1;
        }
        // Each start has moved to the next island's start: shift back.
        for i in (1..self.starts.len()).rev() {
            self.starts[i] = self.starts[i - 1];
        }
        if let Some(first) = self.starts.first_mut() {
            *first = 0;
        }
    }
}
