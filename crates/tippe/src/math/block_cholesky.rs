//! Sparse Cholesky factorisation of symmetric positive definite matrices made of 6×6 blocks, one block row for each body.
//!
//! Reads: a graph, blocks, a right-hand side.  Writes: the solution.
//! Called by: `dynamics::halves::direct`.
//! Source: right-looking block Cholesky, [GeorgeLiu81] ch. 5. Fixed order of all sums: same bits everywhere.

use super::block_pattern::Pattern;

/// A 6×6 block, row major.
pub type Block = [f64; 36];
/// A block of a vector.
pub type Block6 = [f64; 6];

/// Factorisation of one matrix pattern; buffers are kept between uses.
#[derive(Clone, Debug, Default)]
pub struct BlockCholesky {
    pattern: Pattern,
    /// Diagonal blocks by position: A, then its Cholesky factor.
    diagonal: Vec<Block>,
    /// Blocks below the diagonal, by place in `rows`: A, then L.
    below: Vec<Block>,
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
        self.pattern.analyse(nodes, edges, cost_max)
    }

    /// Order and fill.
    #[must_use]
    pub const fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Sets the matrix to zero.
    pub fn clear(&mut self) {
        self.diagonal.clear();
        self.diagonal.resize(self.pattern.node.len(), [0.0; 36]);
        self.below.clear();
        self.below.resize(self.pattern.rows.len(), [0.0; 36]);
    }

    /// Adds to the diagonal block of a node.
    pub fn add_diagonal(&mut self, node: u32, block: &Block) {
        add(
            &mut self.diagonal[self.pattern.position[node as usize] as usize],
            block,
        );
    }

    /// Adds the block (row `i`, column `j`) and its mirror image. The pair must be an edge of the analysed graph.
    pub fn add_pair(&mut self, i: u32, j: u32, block: &Block) {
        let (p, q) = (self.pattern.position[i as usize], self.pattern.position[j as usize]);
        // Stored below the diagonal: the later position is the row.
        let (row, column, block) = if p > q {
            (p, q, *block)
        } else {
            (q, p, transposed(block))
        };
        add(&mut self.below[self.pattern.place(row, column)], &block);
    }

    /// Factors the matrix in place; false if it is not positive definite.
    pub fn factor(&mut self) -> bool {
        for c in 0..self.pattern.node.len() {
            if !cholesky(&mut self.diagonal[c]) {
                return false;
            }
            let (start, end) = (self.pattern.starts[c] as usize, self.pattern.starts[c + 1] as usize);
            // L_rc = A_rc L_cc⁻ᵀ
            for k in start..end {
                right_solve(&self.diagonal[c], &mut self.below[k]);
            }
            // A_rs −= L_rc L_scᵀ for every pair of rows r ≥ s of this column.
            for s in start..end {
                let column = self.pattern.rows[s] as usize;
                subtract_product(
                    &self.below[s].clone(),
                    &self.below[s].clone(),
                    &mut self.diagonal[column],
                );
                let mut at = self.pattern.starts[column] as usize;
                for r in s + 1..end {
                    while self.pattern.rows[at] != self.pattern.rows[r] {
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
        let n = self.pattern.node.len();
        self.vector.clear();
        self.vector.extend(self.pattern.node.iter().map(|&i| x[i as usize]));
        for c in 0..n {
            forward(&self.diagonal[c], &mut self.vector[c]);
            let value = self.vector[c];
            for k in self.pattern.starts[c] as usize..self.pattern.starts[c + 1] as usize {
                subtract_times(
                    &self.below[k],
                    &value,
                    &mut self.vector[self.pattern.rows[k] as usize],
                );
            }
        }
        for c in (0..n).rev() {
            let mut value = self.vector[c];
            for k in self.pattern.starts[c] as usize..self.pattern.starts[c + 1] as usize {
                subtract_transposed_times(
                    &self.below[k],
                    &self.vector[self.pattern.rows[k] as usize],
                    &mut value,
                );
            }
            backward(&self.diagonal[c], &mut value);
            self.vector[c] = value;
        }
        for (c, &i) in self.pattern.node.iter().enumerate() {
            x[i as usize] = self.vector[c];
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
