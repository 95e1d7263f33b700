//! Sparse LU factorisation of matrices made of 6×6 blocks whose pattern is symmetric and whose values are not.
//!
//! Reads: a pattern, blocks, a right-hand side.  Writes: the solution.
//! Called by: `dynamics::halves::direct`.
//! Source: right-looking block elimination, [GeorgeLiu81] ch. 5, with pivots inside the diagonal blocks only. Fixed order of all sums.

use super::block_cholesky::{Block, Block6};
use super::block_pattern::Pattern;

/// A pivot below this part of its block's largest entry makes the matrix singular [1].
const PIVOT_MIN: f64 = 1e-14;

/// Factorisation of one matrix; buffers are kept between uses.
#[derive(Clone, Debug, Default)]
pub struct BlockLu {
    /// By position: A, then the inverse of the eliminated block.
    diagonal: Vec<Block>,
    /// By place in the pattern: the block below the diagonal, A, then L.
    below: Vec<Block>,
    /// By place in the pattern: its mirror place above the diagonal, A, then U.
    above: Vec<Block>,
    /// Scratch: right-hand side by position.
    vector: Vec<Block6>,
}

impl BlockLu {
    /// Sets the matrix to zero.
    pub fn clear(&mut self, pattern: &Pattern) {
        self.diagonal.clear();
        self.diagonal.resize(pattern.node.len(), [0.0; 36]);
        for list in [&mut self.below, &mut self.above] {
            list.clear();
            list.resize(pattern.rows.len(), [0.0; 36]);
        }
    }

    /// Adds a block at the row of node `i` and the column of node `j`, the same or neighbours.
    pub fn add(&mut self, pattern: &Pattern, i: u32, j: u32, block: &Block) {
        let (p, q) = (pattern.position[i as usize], pattern.position[j as usize]);
        let to = match p.cmp(&q) {
            std::cmp::Ordering::Equal => &mut self.diagonal[p as usize],
            std::cmp::Ordering::Greater => &mut self.below[pattern.place(p, q)],
            std::cmp::Ordering::Less => &mut self.above[pattern.place(q, p)],
        };
        for (t, b) in to.iter_mut().zip(block) {
            *t += b;
        }
    }

    /// Factors the matrix in place; false if a block to eliminate is singular.
    pub fn factor(&mut self, pattern: &Pattern) -> bool {
        for c in 0..pattern.node.len() {
            let Some(inverse) = inverted(self.diagonal[c]) else {
                return false;
            };
            self.diagonal[c] = inverse;
            let column = pattern.column(c);
            // L_rc = A_rc D_c⁻¹
            for k in column.clone() {
                self.below[k] = product(&self.below[k], &inverse);
            }
            // A_rs −= L_rc U_cs for all pairs of rows r and columns s of this elimination.
            for s in column.clone() {
                let (at_s, upper) = (pattern.rows[s], self.above[s]);
                subtract_product(&self.below[s], &upper, &mut self.diagonal[at_s as usize]);
                let mut at = pattern.column(at_s as usize).start;
                for r in s + 1..column.end {
                    while pattern.rows[at] != pattern.rows[r] {
                        at += 1;
                    }
                    subtract_product(&self.below[r].clone(), &upper, &mut self.below[at]);
                    let (lower, other) = (self.below[s], self.above[r]);
                    subtract_product(&lower, &other, &mut self.above[at]);
                }
            }
        }
        true
    }

    /// Solves for one right-hand side given and returned by node.
    pub fn solve(&mut self, pattern: &Pattern, x: &mut [Block6]) {
        let n = pattern.node.len();
        self.vector.clear();
        self.vector
            .extend(pattern.node.iter().map(|&i| x[i as usize]));
        for c in 0..n {
            let value = self.vector[c];
            for k in pattern.column(c) {
                let below = times(&self.below[k], &value);
                subtract(&mut self.vector[pattern.rows[k] as usize], &below);
            }
        }
        for c in (0..n).rev() {
            let mut value = self.vector[c];
            for k in pattern.column(c) {
                let right = times(&self.above[k], &self.vector[pattern.rows[k] as usize]);
                subtract(&mut value, &right);
            }
            self.vector[c] = times(&self.diagonal[c], &value);
        }
        for (c, &i) in pattern.node.iter().enumerate() {
            x[i as usize] = self.vector[c];
        }
    }
}

/// The inverse by Gauss–Jordan elimination with row pivots.
fn inverted(mut a: Block) -> Option<Block> {
    let mut inverse: Block = std::array::from_fn(|k| if k % 7 == 0 { 1.0 } else { 0.0 });
    let smallest = PIVOT_MIN * a.iter().fold(0.0, |x: f64, y| x.max(y.abs()));
    for c in 0..6 {
        let mut pivot = c;
        for r in c + 1..6 {
            if a[6 * r + c].abs() > a[6 * pivot + c].abs() {
                pivot = r;
            }
        }
        let value = a[6 * pivot + c];
        if value.is_nan() || value.abs() <= smallest {
            return None;
        }
        for k in 0..6 {
            a.swap(6 * c + k, 6 * pivot + k);
            inverse.swap(6 * c + k, 6 * pivot + k);
        }
        for k in 0..6 {
            a[6 * c + k] /= value;
            inverse[6 * c + k] /= value;
        }
        for r in 0..6 {
            let factor = a[6 * r + c];
            if r != c && factor != 0.0 {
                for k in 0..6 {
                    a[6 * r + k] -= factor * a[6 * c + k];
                    inverse[6 * r + k] -= factor * inverse[6 * c + k];
                }
            }
        }
    }
    Some(inverse)
}

/// `A B`
fn product(a: &Block, b: &Block) -> Block {
    let mut c = [0.0; 36];
    for i in 0..6 {
        for k in 0..6 {
            for j in 0..6 {
                c[6 * i + j] += a[6 * i + k] * b[6 * k + j];
            }
        }
    }
    c
}

/// `C ← C − A B`
fn subtract_product(a: &Block, b: &Block, c: &mut Block) {
    for (c, p) in c.iter_mut().zip(product(a, b)) {
        *c -= p;
    }
}

/// `A x`
fn times(a: &Block, x: &Block6) -> Block6 {
    std::array::from_fn(|i| (0..6).map(|k| a[6 * i + k] * x[k]).sum())
}

fn subtract(y: &mut Block6, x: &Block6) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid graph with random couplings, not symmetric, and a dominant diagonal, solved and multiplied back.
    #[test]
    fn solves_a_grid_that_is_not_symmetric_to_rounding() {
        let (w, h) = (6_u32, 4_u32);
        let n = (w * h) as usize;
        let mut seed = 7_u64;
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut edges = Vec::new();
        for i in 0..w * h {
            if i % w + 1 < w {
                edges.push((i, i + 1));
            }
            if i + w < w * h {
                edges.push((i + w, i));
            }
        }
        let mut pattern = Pattern::default();
        assert!(pattern.analyse(n, edges.iter().copied(), u64::MAX));
        let mut lu = BlockLu::default();
        lu.clear(&pattern);
        let mut blocks = Vec::new();
        for &(i, j) in &edges {
            blocks.push((i, j, std::array::from_fn(|_| random())));
            blocks.push((j, i, std::array::from_fn(|_| random())));
        }
        for i in 0..w * h {
            let dominant = |k: usize| if k % 7 == 0 { 15.0 } else { random() };
            blocks.push((i, i, std::array::from_fn(dominant)));
        }
        let x: Vec<Block6> = (0..n).map(|_| std::array::from_fn(|_| random())).collect();
        let mut b = vec![[0.0; 6]; n];
        for (i, j, block) in &blocks {
            lu.add(&pattern, *i, *j, block);
            for (b, p) in b[*i as usize].iter_mut().zip(times(block, &x[*j as usize])) {
                *b += p;
            }
        }
        assert!(lu.factor(&pattern));
        lu.solve(&pattern, &mut b);
        let errors = x.iter().flatten().zip(b.iter().flatten());
        let worst = errors.map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-13, "{worst}");
    }

    #[test]
    fn refuses_a_singular_block() {
        let mut pattern = Pattern::default();
        assert!(pattern.analyse(1, std::iter::empty(), 10));
        let mut lu = BlockLu::default();
        lu.clear(&pattern);
        lu.add(&pattern, 0, 0, &[1.0; 36]);
        assert!(!lu.factor(&pattern));
    }
}
