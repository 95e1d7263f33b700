//! The pattern of a sparse factorisation by 6×6 blocks: in which order the nodes are eliminated, and which blocks fill.
//!
//! Reads: a graph.  Writes: order and pattern.
//! Called by: `math::block_cholesky`, `math::block_lu`.
//! Source: greedy minimum-degree ordering, [GeorgeLiu81] ch. 5. Ties go to the lowest node: same order everywhere.

const NONE: u32 = u32::MAX;

/// Elimination order and fill of one graph; buffers are kept between uses.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// Elimination position of each node.
    pub position: Vec<u32>,
    /// Node at each elimination position.
    pub node: Vec<u32>,
    /// Start of each column's rows below the diagonal, by position; one more entry than columns.
    pub starts: Vec<u32>,
    /// Positions of the rows below the diagonal, ascending within a column.
    pub rows: Vec<u32>,
    /// Scratch: neighbours of each node during the ordering.
    neighbours: Vec<Vec<u32>>,
    /// The graph that was analysed last, the limit it was given, and whether it kept to it.
    graph: Vec<(u32, u32)>,
    last: Option<(usize, u64, bool)>,
    /// Scratch: the graph at hand.
    edges: Vec<(u32, u32)>,
    /// Block products that the factorisation needs; those counted until it was given up, if it was.
    cost: u64,
}

impl Pattern {
    /// Orders the nodes and finds the pattern of the factor. Gives up (false) once it needs more than `cost_max` block products.
    ///
    /// `edges` may repeat and may come in any order.
    pub fn analyse(
        &mut self,
        nodes: usize,
        edges: impl Iterator<Item = (u32, u32)>,
        cost_max: u64,
    ) -> bool {
        self.edges.clear();
        for edge in edges {
            if self.edges.last() != Some(&edge) {
                self.edges.push(edge);
            }
        }
        // The same graph again: in a scene at rest, in the towers of a town.
        if let Some((count, limit, kept)) = self.last
            && count == nodes
            && self.edges == self.graph
            && (kept || cost_max <= limit)
        {
            return kept && self.cost <= cost_max;
        }
        std::mem::swap(&mut self.graph, &mut self.edges);
        for list in &mut self.neighbours {
            list.clear();
        }
        self.neighbours
            .resize(nodes.max(self.neighbours.len()), Vec::new());
        for &(i, j) in &self.graph {
            self.neighbours[i as usize].push(j);
            self.neighbours[j as usize].push(i);
        }
        for list in &mut self.neighbours[..nodes] {
            list.sort_unstable();
            list.dedup();
        }
        let kept = self.eliminate(nodes, cost_max);
        self.last = Some((nodes, cost_max, kept));
        kept
    }

    /// Greedy minimum degree: removes the node with fewest neighbours (the lowest on ties) and joins those neighbours.
    fn eliminate(&mut self, nodes: usize, cost_max: u64) -> bool {
        self.position.clear();
        self.position.resize(nodes, NONE);
        self.node.clear();
        self.starts.clear();
        self.rows.clear();
        // Nodes by degree; entries go stale when a degree changes and are skipped then.
        let mut queue: std::collections::BTreeSet<(u32, u32)> = (0..nodes)
            .map(|i| (self.neighbours[i].len() as u32, i as u32))
            .collect();
        self.cost = 0;
        let mut joined = Vec::new();
        while let Some((degree, i)) = queue.pop_first() {
            self.cost += u64::from(degree + 1) * u64::from(degree + 1);
            if self.cost > cost_max {
                return false;
            }
            self.position[i as usize] = self.node.len() as u32;
            self.node.push(i);
            self.starts.push(self.rows.len() as u32);
            let list = std::mem::take(&mut self.neighbours[i as usize]);
            self.rows.extend(&list);
            for &j in &list {
                queue.remove(&(self.neighbours[j as usize].len() as u32, j));
                merge_without(&list, &self.neighbours[j as usize], [i, j], &mut joined);
                std::mem::swap(&mut self.neighbours[j as usize], &mut joined);
                queue.insert((self.neighbours[j as usize].len() as u32, j));
            }
            self.neighbours[i as usize] = list;
        }
        self.starts.push(self.rows.len() as u32);
        // Rows were written as nodes: turn them into positions, ascending.
        for c in 0..nodes {
            let column = &mut self.rows[self.starts[c] as usize..self.starts[c + 1] as usize];
            for r in column.iter_mut() {
                *r = self.position[*r as usize];
            }
            column.sort_unstable();
        }
        true
    }

    /// Places of a column's blocks below the diagonal.
    #[must_use]
    pub fn column(&self, c: usize) -> std::ops::Range<usize> {
        self.starts[c] as usize..self.starts[c + 1] as usize
    }

    /// Place of the block at a row and a column, given by position, row after column. The pair must be an edge of the graph.
    #[must_use]
    pub fn place(&self, row: u32, column: u32) -> usize {
        let range = self.column(column as usize);
        let found = self.rows[range.clone()].binary_search(&row);
        range.start + found.expect("the pair is an edge of the analysed graph")
    }
}

/// Union of two ascending lists without the two given entries.
fn merge_without(a: &[u32], b: &[u32], without: [u32; 2], out: &mut Vec<u32>) {
    out.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) => x,
            (None, Some(&y)) => y,
            (None, None) => break,
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        if next != without[0] && next != without[1] {
            out.push(next);
        }
    }
}
