//! How rows couple through nodes: J v, Jᵀ r, M v, M⁻¹ f, and the matrix M + Jᵀ D J over blocks of six freedoms with its factorisations.
//!
//! Reads: a `Problem`, weights D by group.  Writes: products, factors, solutions; counts its work.
//! Called by: `solver::core` and its phases.
//! Source: block factorisations of `math::block_cholesky`, `math::block_lu`. A tree is a node of several blocks whose mass couples them all.

use super::problem::{Group, NONE, Problem, Work, dense_solve};
use crate::math::block_cholesky::{Block, Block6, BlockCholesky};
use crate::math::block_lu::BlockLu;

/// Multiply–adds of a product of two blocks and of a block and a vector.
pub(crate) const PRODUCT: u64 = 216;
const TIMES: u64 = 36;

/// Two sides of one group on different blocks: which is eliminated later, and the place of their block.
#[derive(Clone, Copy, Debug)]
struct Pair {
    late: u32,
    early: u32,
    place: u32,
}

/// The matrix of one island; buffers are kept between solves.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    symmetric: BlockCholesky,
    general: BlockLu,
    /// By group: where its pairs begin; one more entry than groups.
    starts: Vec<u32>,
    pairs: Vec<Pair>,
    /// Off-diagonal blocks of trees: block of the row, of the column, tree.
    couplings: Vec<(u32, u32, u32)>,
    edges: Vec<(u32, u32)>,
    /// Whether the general matrix was factored last.
    skewed: bool,
    /// Multiply–adds of one assembly.
    assembly: u64,
    /// What all products and solves took since it was last set.
    pub work: Work,
    /// Scratch of trees.
    dense: Vec<f64>,
}

impl Matrix {
    /// Orders the elimination; false if a factorisation takes more than `cost_max` block products.
    pub fn prepare(&mut self, problem: &Problem, cost_max: u64) -> bool {
        self.edges.clear();
        self.couplings.clear();
        for g in &problem.groups {
            let sides = &problem.sides[g.sides.clone()];
            for (q, b) in sides.iter().enumerate() {
                for a in &sides[..q] {
                    self.edges.push((a.block, b.block));
                }
            }
        }
        for (t, tree) in problem.trees.iter().enumerate() {
            for i in tree.first..tree.first + tree.blocks {
                for j in i + 1..tree.first + tree.blocks {
                    self.couplings.push((i as u32, j as u32, t as u32));
                    self.edges.push((i as u32, j as u32));
                }
            }
        }
        let kept = &mut self.symmetric;
        if !kept.analyse_kept(problem.blocks(), &self.edges, cost_max) {
            return false;
        }
        self.place_pairs(problem);
        true
    }

    fn place_pairs(&mut self, problem: &Problem) {
        self.starts.clear();
        self.pairs.clear();
        self.assembly = TIMES * problem.blocks() as u64;
        let pattern = self.symmetric.pattern();
        for g in &problem.groups {
            self.starts.push(self.pairs.len() as u32);
            for q in g.sides.clone() {
                for p in g.sides.start..q {
                    let at = |s: usize| pattern.position[problem.sides[s].block as usize];
                    let (late, early) = if at(p) > at(q) { (p, q) } else { (q, p) };
                    self.pairs.push(Pair {
                        late: late as u32,
                        early: early as u32,
                        place: pattern.place(at(late), at(early)) as u32,
                    });
                }
            }
            let sides = g.sides.len() as u64;
            self.assembly += TIMES * g.rows as u64 * sides * (sides + 1);
        }
        self.starts.push(self.pairs.len() as u32);
    }

    /// Block products of one symmetric factorisation.
    #[must_use]
    pub const fn cost(&self) -> u64 {
        self.symmetric.pattern().cost()
    }

    /// Assembles `mass · M + Jᵀ D J` for symmetric D and factors it; false if it is not positive definite.
    pub fn factor_symmetric(&mut self, problem: &Problem, mass: f64, weights: &[f64]) -> bool {
        self.skewed = false;
        self.symmetric.clear();
        for (i, block) in problem.mass.iter().enumerate() {
            let position = self.symmetric.pattern().position[i];
            for (t, m) in self.symmetric.diagonal_mut(position).iter_mut().zip(block) {
                *t = mass * m;
            }
        }
        for k in 0..self.couplings.len() {
            let (i, j, tree) = self.couplings[k];
            let block = tree_block(problem, tree, i, j).map(|m| mass * m);
            self.symmetric.add_pair(i, j, &block);
        }
        for (k, g) in problem.groups.iter().enumerate() {
            match g.rows {
                1 => self.add_symmetric::<1>(problem, k, g, weights),
                3 => self.add_symmetric::<3>(problem, k, g, weights),
                _ => self.add_symmetric::<6>(problem, k, g, weights),
            }
        }
        self.work.factorisations += 1;
        self.work.operations += self.assembly + PRODUCT * self.cost() / 2;
        self.symmetric.factor()
    }

    fn add_symmetric<const N: usize>(
        &mut self,
        problem: &Problem,
        k: usize,
        g: &Group,
        weights: &[f64],
    ) {
        let d = &weights[g.block..g.block + N * N];
        if d.iter().all(|x| *x == 0.0) {
            return;
        }
        for side in &problem.sides[g.sides.clone()] {
            let rows = jacobian::<N>(problem, side.first);
            let position = self.symmetric.pattern().position[side.block as usize];
            add_product(
                self.symmetric.diagonal_mut(position),
                rows,
                &weighted(d, rows),
            );
        }
        for pair in &self.pairs[self.starts[k] as usize..self.starts[k + 1] as usize] {
            let side = |s: u32| jacobian::<N>(problem, problem.sides[s as usize].first);
            let right = weighted(d, side(pair.early));
            add_product(
                self.symmetric.below_mut(pair.place),
                side(pair.late),
                &right,
            );
        }
    }

    /// Assembles `M + Jᵀ D J` for any D and factors it; false if a block to eliminate is singular.
    pub fn factor_general(&mut self, problem: &Problem, weights: &[f64]) -> bool {
        self.skewed = true;
        let pattern = self.symmetric.pattern();
        self.general.clear(pattern);
        for (i, block) in problem.mass.iter().enumerate() {
            *self.general.diagonal_mut(pattern.position[i]) = *block;
        }
        for &(i, j, tree) in &self.couplings {
            for (p, q) in [(i, j), (j, i)] {
                self.general
                    .add(pattern, p, q, &tree_block(problem, tree, p, q));
            }
        }
        for (k, g) in problem.groups.iter().enumerate() {
            match g.rows {
                1 => self.add_general::<1>(problem, k, g, weights),
                3 => self.add_general::<3>(problem, k, g, weights),
                _ => self.add_general::<6>(problem, k, g, weights),
            }
        }
        self.work.factorisations += 1;
        self.work.operations += 2 * self.assembly + PRODUCT * self.cost();
        self.general.factor(self.symmetric.pattern())
    }

    fn add_general<const N: usize>(
        &mut self,
        problem: &Problem,
        k: usize,
        g: &Group,
        weights: &[f64],
    ) {
        let d = &weights[g.block..g.block + N * N];
        if d.iter().all(|x| *x == 0.0) {
            return;
        }
        let pattern = self.symmetric.pattern();
        let side = |s: u32| jacobian::<N>(problem, problem.sides[s as usize].first);
        let position = |s: u32| pattern.position[problem.sides[s as usize].block as usize];
        let pairs = &self.pairs[self.starts[k] as usize..self.starts[k + 1] as usize];
        if let [pair] = pairs {
            // Two bodies: each weighted Jacobian serves twice.
            let (late, early) = (side(pair.late), side(pair.early));
            let (late_d, early_d) = (weighted(d, late), weighted(d, early));
            add_product(
                self.general.diagonal_mut(position(pair.late)),
                late,
                &late_d,
            );
            add_product(
                self.general.diagonal_mut(position(pair.early)),
                early,
                &early_d,
            );
            let (below, above) = self.general.pair_mut(pair.place);
            add_product(below, late, &early_d);
            add_product(above, early, &late_d);
            return;
        }
        for s in g.sides.clone() {
            let rows = side(s as u32);
            let to = self.general.diagonal_mut(position(s as u32));
            add_product(to, rows, &weighted(d, rows));
        }
        for pair in pairs {
            let (late, early) = (side(pair.late), side(pair.early));
            let (below, above) = self.general.pair_mut(pair.place);
            add_product(below, late, &weighted(d, early));
            add_product(above, early, &weighted(d, late));
        }
    }

    /// Solves with the matrix factored last, in place.
    pub fn solve(&mut self, x: &mut [Block6]) {
        let pattern = self.symmetric.pattern();
        self.work.substitutions += 1;
        self.work.operations += TIMES * (x.len() + 2 * pattern.rows.len()) as u64;
        if self.skewed {
            self.general.solve(self.symmetric.pattern(), x);
        } else {
            self.symmetric.solve(x);
        }
    }

    fn count_rows(&mut self, problem: &Problem) {
        self.work.rows += problem.rows() as u64;
        self.work.operations += 6 * problem.jacobian.len() as u64;
    }

    /// `u ← J v`
    pub fn rows_times(&mut self, problem: &Problem, v: &[Block6], u: &mut [f64]) {
        self.count_rows(problem);
        for g in &problem.groups {
            match g.rows {
                1 => group_times::<1>(problem, g, v, u),
                3 => group_times::<3>(problem, g, v, u),
                _ => group_times::<6>(problem, g, v, u),
            }
        }
    }

    /// `f ← Jᵀ r`
    pub fn transposed_times(&mut self, problem: &Problem, r: &[f64], f: &mut [Block6]) {
        self.count_rows(problem);
        f.fill([0.0; 6]);
        for g in &problem.groups {
            match g.rows {
                1 => group_transposed::<1>(problem, g, r, f),
                3 => group_transposed::<3>(problem, g, r, f),
                _ => group_transposed::<6>(problem, g, r, f),
            }
        }
    }

    /// `f ← M v`
    pub fn mass_times(&mut self, problem: &Problem, v: &[Block6], f: &mut [Block6]) {
        self.work.operations += TIMES * problem.blocks() as u64;
        for (i, f) in f.iter_mut().enumerate() {
            *f = times(&problem.mass[i], &v[i]);
        }
        for &(i, j, tree) in &self.couplings {
            for (p, q) in [(i, j), (j, i)] {
                let y = times(&tree_block(problem, tree, p, q), &v[q as usize]);
                for c in 0..6 {
                    f[p as usize][c] += y[c];
                }
            }
        }
    }

    /// `f ← M⁻¹ f`
    pub fn inverse_times(&mut self, problem: &Problem, f: &mut [Block6]) {
        self.work.operations += TIMES * problem.blocks() as u64;
        for (i, f) in f.iter_mut().enumerate() {
            if problem.tree_of[i] == NONE {
                *f = times(&problem.inverse[i], f);
            }
        }
        for tree in &problem.trees {
            let blocks = tree.first..tree.first + tree.blocks;
            self.dense.clear();
            self.dense.extend(f[blocks.clone()].iter().flatten());
            let n = self.dense.len();
            dense_solve(
                &problem.tree_factor[tree.matrix..tree.matrix + n * n],
                &mut self.dense,
            );
            for (to, from) in f[blocks].iter_mut().flatten().zip(&self.dense) {
                *to = *from;
            }
        }
    }

    /// Diagonal of J M⁻¹ Jᵀ at one row of a group, `scratch` by block and zero.
    pub(crate) fn response(
        &mut self,
        problem: &Problem,
        g: &Group,
        row: usize,
        scratch: &mut [Block6],
    ) -> f64 {
        let sides = &problem.sides[g.sides.clone()];
        let mut sum = 0.0;
        let mut last = NONE;
        for side in sides {
            let (x, tree) = (
                &problem.jacobian[side.first as usize + row],
                problem.tree_of[side.block as usize],
            );
            if tree == NONE {
                sum += dot(x, &times(&problem.inverse[side.block as usize], x));
            } else if tree != last {
                // Sides on one tree follow each other or are found again: all of them answer at once.
                last = tree;
                if sides
                    .iter()
                    .take_while(|s| !std::ptr::eq(*s, side))
                    .any(|s| problem.tree_of[s.block as usize] == tree)
                {
                    continue;
                }
                sum += self.tree_response(problem, g, row, tree, scratch);
            }
        }
        sum
    }

    fn tree_response(
        &mut self,
        problem: &Problem,
        g: &Group,
        row: usize,
        tree: u32,
        scratch: &mut [Block6],
    ) -> f64 {
        let tree_at = problem.trees[tree as usize];
        let blocks = tree_at.first..tree_at.first + tree_at.blocks;
        for side in &problem.sides[g.sides.clone()] {
            if problem.tree_of[side.block as usize] == tree {
                scratch[side.block as usize] = problem.jacobian[side.first as usize + row];
            }
        }
        self.dense.clear();
        self.dense.extend(scratch[blocks.clone()].iter().flatten());
        let n = self.dense.len();
        dense_solve(
            &problem.tree_factor[tree_at.matrix..tree_at.matrix + n * n],
            &mut self.dense,
        );
        let sum = scratch[blocks.clone()]
            .iter()
            .flatten()
            .zip(&self.dense)
            .map(|(a, b)| a * b)
            .sum();
        scratch[blocks].fill([0.0; 6]);
        sum
    }
}

fn group_times<const N: usize>(problem: &Problem, g: &Group, v: &[Block6], u: &mut [f64]) {
    let mut sum = [0.0; N];
    for side in &problem.sides[g.sides.clone()] {
        let (x, rows) = (&v[side.block as usize], jacobian::<N>(problem, side.first));
        for i in 0..N {
            sum[i] += dot(&rows[i], x);
        }
    }
    u[g.row..g.row + N].copy_from_slice(&sum);
}

fn group_transposed<const N: usize>(problem: &Problem, g: &Group, r: &[f64], f: &mut [Block6]) {
    let r = &r[g.row..g.row + N];
    for side in &problem.sides[g.sides.clone()] {
        let (f, rows) = (
            &mut f[side.block as usize],
            jacobian::<N>(problem, side.first),
        );
        for i in 0..N {
            for c in 0..6 {
                f[c] += rows[i][c] * r[i];
            }
        }
    }
}

fn jacobian<const N: usize>(problem: &Problem, first: u32) -> &[Block6; N] {
    let rows = &problem.jacobian[first as usize..first as usize + N];
    rows.try_into().expect("N rows were taken")
}

/// `D J`
fn weighted<const N: usize>(d: &[f64], rows: &[Block6; N]) -> [Block6; N] {
    let mut out = [[0.0; 6]; N];
    for i in 0..N {
        for k in 0..N {
            for c in 0..6 {
                out[i][c] += d[N * i + k] * rows[k][c];
            }
        }
    }
    out
}

/// `A ← A + Lᵀ R`
fn add_product<const N: usize>(to: &mut Block, left: &[Block6; N], right: &[Block6; N]) {
    for i in 0..6 {
        let mut sum = [0.0; 6];
        for k in 0..N {
            for c in 0..6 {
                sum[c] += left[k][i] * right[k][c];
            }
        }
        for c in 0..6 {
            to[6 * i + c] += sum[c];
        }
    }
}

/// The block of a tree's mass between two of its blocks.
fn tree_block(problem: &Problem, tree: u32, i: u32, j: u32) -> Block {
    let t = &problem.trees[tree as usize];
    let n = 6 * t.blocks;
    let (row, column) = (6 * (i as usize - t.first), 6 * (j as usize - t.first));
    std::array::from_fn(|e| problem.tree_mass[t.matrix + n * (row + e / 6) + column + e % 6])
}

/// In three sums that do not wait for each other.
fn dot(a: &Block6, b: &Block6) -> f64 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])
}

fn times(a: &Block, x: &Block6) -> Block6 {
    let mut y = [0.0; 6];
    for i in 0..6 {
        for k in 0..6 {
            y[i] += a[6 * i + k] * x[k];
        }
    }
    y
}
