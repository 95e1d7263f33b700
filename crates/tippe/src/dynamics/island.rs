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
    /// By island: its lowest slot, and a hash of all its slots.
    names: Vec<(u32, u64)>,
    /// Items grouped by island, in their given order within each.
    pub order: Vec<u32>,
    /// Where each island's items start in `order`; one more entry than islands.
    pub starts: Vec<u32>,
}

const NONE: u32 = u32::MAX;
/// Constants of the FNV-1a hash of 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

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
        self.name_all(slots, &dynamic);
    }

    /// Lowest slot of an island, and a hash of the slots of all its bodies.
    #[must_use]
    pub fn name(&self, island: usize) -> (u32, u64) {
        self.names[island]
    }

    /// Hashes the slots of each island, ascending [FNV-1a over 64-bit words].
    fn name_all(&mut self, slots: usize, dynamic: &impl Fn(u32) -> bool) {
        self.names.clear();
        self.names
            .resize(self.starts.len().saturating_sub(1), (NONE, FNV_OFFSET));
        for slot in 0..slots as u32 {
            let root = self.root(slot);
            let island = self.island_of_root[root as usize];
            if island != NONE && dynamic(slot) {
                let (lowest, hash) = &mut self.names[island as usize];
                *lowest = slot.min(*lowest);
                *hash = (*hash ^ u64::from(slot)).wrapping_mul(FNV_PRIME);
            }
        }
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
