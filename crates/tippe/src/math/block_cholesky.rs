//! Sparse Cholesky factorisation of symmetric positive definite matrices made of 6×6 blocks, one block row for each body.
//!
//! Reads: a graph, blocks, a right-hand side.  Writes: the solution.
//! Called by: `dynamics::halves::direct`.
//! Source: right-looking block Cholesky with greedy minimum-degree ordering, [GeorgeLiu81] ch. 5. Fixed order of all sums: same bits
//! everywhere.

/// A 6×6 block, row major.
pub type Block = [f64; 36];
/// A block of a vector.
pub type Block6 = [f64; 6];

const NONE: u32 = u32::MAX;

/// Factorisation of one matrix pattern; buffers are kept between uses.
#[derive(Clone, Debug, Default)]
pub struct BlockCholesky {
    /// Elimination position of each node.
    position: Vec<u32>,
    /// Node at each elimination position.
    node: Vec<u32>,
    /// Start of each column's rows below the diagonal, by position; one more entry than columns.
    starts: Vec<u32>,
    /// Positions of the rows below the diagonal, ascending within a column.
    rows: Vec<u32>,
    /// Diagonal blocks by position: A, then its Cholesky factor.
    diagonal: Vec<Block>,
    /// Blocks below the diagonal, by place in `rows`: A, then L.
    below: Vec<Block>,
    /// Scratch: neighbours of each node during the ordering.
    neighbours: Vec<Vec<u32>>,
    /// Scratch: right-hand side by position.
    vector: Vec<Block6>,
}

impl BlockCholesky {
    /// Orders the nodes and finds the pattern of the factor. Gives up (false) once it needs more than `cost_max` block products.
    ///
    /// `edges` may repeat and may come in any order.
    pub fn analyse(
        &mut self,
        nodes: usize,
        edges: impl Iterator<Item = (u32, u32)>,
        cost_max: u64,
    ) -> bool {
        for list in &mut self.neighbours {
            list.clear();
        }
        self.neighbours
            .resize(nodes.max(self.neighbours.len()), Vec::new());
        for (i, j) in edges {
            self.neighbours[i as usize].push(j);
            self.neighbours[j as usize].push(i);
        }
        for list in &mut self.neighbours[..nodes] {
            list.sort_unstable();
            list.dedup();
        }
        self.eliminate(nodes, cost_max)
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
        let mut cost = 0;
        let mut joined = Vec::new();
        while let Some((degree, i)) = queue.pop_first() {
            cost += u64::from(degree + 1) * u64::from(degree + 1);
            if cost > cost_max {
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

    /// Sets the matrix to zero.
    pub fn clear(&mut self) {
        self.diagonal.clear();
        self.diagonal.resize(self.node.len(), [0.0; 36]);
        self.below.clear();
        self.below.resize(self.rows.len(), [0.0; 36]);
    }

    /// Adds to the diagonal block of a node.
    pub fn add_diagonal(&mut self, node: u32, block: &Block) {
        add(
            &mut self.diagonal[self.position[node as usize] as usize],
            block,
        );
    }

    /// Adds the block (row `i`, column `j`) and its mirror image. The pair must be an edge of the analysed graph.
    pub fn add_pair(&mut self, i: u32, j: u32, block: &Block) {
        let (p, q) = (self.position[i as usize], self.position[j as usize]);
        // Stored below the diagonal: the later position is the row.
        let (row, column, block) = if p > q {
            (p, q, *block)
        } else {
            (q, p, transposed(block))
        };
        let start = self.starts[column as usize] as usize;
        let rows = &self.rows[start..self.starts[column as usize + 1] as usize];
        let place = rows
            .binary_search(&row)
            .expect("the pair is an edge of the analysed graph");
        add(&mut self.below[start + place], &block);
    }

    /// Factors the matrix in place; false if it is not positive definite.
    pub fn factor(&mut self) -> bool {
        for c in 0..self.node.len() {
            if !cholesky(&mut self.diagonal[c]) {
                return false;
            }
            let (start, end) = (self.starts[c] as usize, self.starts[c + 1] as usize);
            // L_rc = A_rc L_cc⁻ᵀ
            for k in start..end {
                right_solve(&self.diagonal[c], &mut self.below[k]);
            }
            // A_rs −= L_rc L_scᵀ for every pair of rows r ≥ s of this column.
            for s in start..end {
                let column = self.rows[s] as usize;
                subtract_product(
                    &self.below[s].clone(),
                    &self.below[s].clone(),
                    &mut self.diagonal[column],
                );
                let mut at = self.starts[column] as usize;
                for r in s + 1..end {
                    while self.rows[at] != self.rows[r] {
                        at += 1;
                    }
                    let (l_r, l_s) = (self.below[r], self.below[s]);
                    subtract_product(&l_r, &l_s, &mut self.below[at]);
                }
            }
        }
        true
    }

    /// Solves for one right-hand side given and returned by node.
    pub fn solve(&mut self, x: &mut [Block6]) {
        let n = self.node.len();
        self.vector.clear();
        self.vector.extend(self.node.iter().map(|&i| x[i as usize]));
        for c in 0..n {
            forward(&self.diagonal[c], &mut self.vector[c]);
            let value = self.vector[c];
            for k in self.starts[c] as usize..self.starts[c + 1] as usize {
                subtract_times(
                    &self.below[k],
                    &value,
                    &mut self.vector[self.rows[k] as usize],
                );
            }
        }
        for c in (0..n).rev() {
            let mut value = self.vector[c];
            for k in self.starts[c] as usize..self.starts[c + 1] as usize {
                subtract_transposed_times(
                    &self.below[k],
                    &self.vector[self.rows[k] as usize],
                    &mut value,
                );
            }
            backward(&self.diagonal[c], &mut value);
            self.vector[c] = value;
        }
        for (c, &i) in self.node.iter().enumerate() {
            x[i as usize] = self.vector[c];
        }
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

fn add(to: &mut Block, block: &Block) {
    for (t, b) in to.iter_mut().zip(block) {
        *t += b;
    }
}

fn transposed(a: &Block) -> Block {
    let mut t = [0.0; 36];
    for i in 0..6 {
        for j in 0..6 {
            t[6 * j + i] = a[6 * i + j];
        }
    }
    t
}

/// Lower Cholesky factor of one block, in place (the upper part is left alone).
pub(crate) fn cholesky(a: &mut Block) -> bool {
    for j in 0..6 {
        let mut d = a[7 * j];
        for k in 0..j {
            d -= a[6 * j + k] * a[6 * j + k];
        }
        if d.is_nan() || d <= 0.0 {
            return false;
        }
        let d = d.sqrt();
        a[7 * j] = d;
        for i in j + 1..6 {
            let mut s = a[6 * i + j];
            for k in 0..j {
                s -= a[6 * i + k] * a[6 * j + k];
            }
            a[6 * i + j] = s / d;
        }
    }
    true
}

/// `X ← X L⁻ᵀ`
fn right_solve(l: &Block, x: &mut Block) {
    for i in 0..6 {
        for j in 0..6 {
            let mut s = x[6 * i + j];
            for k in 0..j {
                s -= x[6 * i + k] * l[6 * j + k];
            }
            x[6 * i + j] = s / l[7 * j];
        }
    }
}

/// `C ← C − A Bᵀ`
fn subtract_product(a: &Block, b: &Block, c: &mut Block) {
    for i in 0..6 {
        for j in 0..6 {
            let mut s = 0.0;
            for k in 0..6 {
                s += a[6 * i + k] * b[6 * j + k];
            }
            c[6 * i + j] -= s;
        }
    }
}

/// `x ← L⁻¹ x`
pub(crate) fn forward(l: &Block, x: &mut Block6) {
    for i in 0..6 {
        let mut s = x[i];
        for k in 0..i {
            s -= l[6 * i + k] * x[k];
        }
        x[i] = s / l[7 * i];
    }
}

/// `x ← L⁻ᵀ x`
pub(crate) fn backward(l: &Block, x: &mut Block6) {
    for i in (0..6).rev() {
        let mut s = x[i];
        for k in i + 1..6 {
            s -= l[6 * k + i] * x[k];
        }
        x[i] = s / l[7 * i];
    }
}

/// `y ← y − A x`
fn subtract_times(a: &Block, x: &Block6, y: &mut Block6) {
    for i in 0..6 {
        let mut s = 0.0;
        for k in 0..6 {
            s += a[6 * i + k] * x[k];
        }
        y[i] -= s;
    }
}

/// `y ← y − Aᵀ x`
fn subtract_transposed_times(a: &Block, x: &Block6, y: &mut Block6) {
    for i in 0..6 {
        let mut s = 0.0;
        for k in 0..6 {
            s += a[6 * k + i] * x[k];
        }
        y[i] -= s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid graph with random couplings and a dominant diagonal, solved and multiplied back.
    #[test]
    fn solves_a_grid_to_rounding() {
        let (w, h) = (7, 5);
        let n = w * h;
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut edges = Vec::new();
        for i in 0..n {
            if i % w + 1 < w {
                edges.push((i as u32, i as u32 + 1));
            }
            if i + w < n {
                edges.push((i as u32 + w as u32, i as u32));
            }
        }
        let mut dense = vec![vec![0.0; 6 * n]; 6 * n];
        let mut f = BlockCholesky::default();
        assert!(f.analyse(n, edges.iter().copied(), u64::MAX));
        f.clear();
        for &(i, j) in &edges {
            let block: Block = std::array::from_fn(|_| random());
            f.add_pair(i, j, &block);
            for r in 0..6 {
                for c in 0..6 {
                    dense[6 * i as usize + r][6 * j as usize + c] += block[6 * r + c];
                    dense[6 * j as usize + c][6 * i as usize + r] += block[6 * r + c];
                }
            }
        }
        for i in 0..n {
            let block: Block = std::array::from_fn(|k| if k % 7 == 0 { 20.0 } else { 0.0 });
            f.add_diagonal(i as u32, &block);
            for r in 0..6 {
                dense[6 * i + r][6 * i + r] += 20.0;
            }
        }
        let x: Vec<Block6> = (0..n).map(|_| std::array::from_fn(|_| random())).collect();
        let mut b: Vec<Block6> = (0..n)
            .map(|i| {
                std::array::from_fn(|r| {
                    (0..6 * n)
                        .map(|c| dense[6 * i + r][c] * x[c / 6][c % 6])
                        .sum()
                })
            })
            .collect();
        assert!(f.factor());
        f.solve(&mut b);
        let error = x
            .iter()
            .flatten()
            .zip(b.iter().flatten())
            .map(|(p, q)| (p - q).abs())
            .fold(0.0, f64::max);
        assert!(error < 1e-13, "{error}");
    }

    #[test]
    fn refuses_a_matrix_that_is_not_positive_and_a_cost_beyond_the_limit() {
        let mut f = BlockCholesky::default();
        assert!(f.analyse(1, std::iter::empty(), 10));
        f.clear();
        assert!(!f.factor());
        assert!(!f.analyse(3, [(0, 1), (1, 2), (0, 2)].into_iter(), 2));
    }
}
