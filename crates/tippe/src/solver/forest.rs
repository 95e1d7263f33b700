//! Trees in the direct solve: the joint velocities of a tree, six to a node, and how its links go with them.
//!
//! Reads: inertia matrices and Jacobians of the trees among the solver bodies.  Writes: its own tables, parts of the linear system.
//! Called by: `dynamics::halves::direct`.
//! Source: [Featherstone08] §4.5 and ch. 6. Letters: H the joint-space inertia matrix, B the rows of a link's Jacobian (velocity of the
//! centre of mass, angular velocity) by nodes, so that v = Σ B q̇ over the nodes of its tree. What is left of a tree's last node stands
//! still: it has a mass of one and nothing moves it. A body that is no link is one node with B = 1.

#![allow(non_snake_case)]

use crate::math::block_cholesky::{Block, Block6};
use crate::solver::ends::Bodies;
use std::ops::Range;

const NONE: u32 = u32::MAX;

/// The trees of one island, as nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forest {
    /// By slot: tree in `trees` and its first block in `jacobians`. Empty without trees.
    places: Vec<(u32, u32)>,
    trees: Vec<Planted>,
    /// Blocks of B, one for each node of the tree, link after link.
    jacobians: Vec<Block>,
    /// Blocks of H by rows, tree after tree.
    inertias: Vec<Block>,
    /// Scratch: the nodes that a row acts on, and its Jacobian there, row by row.
    acting: Vec<(u32, [Block6; 3])>,
}

#[derive(Clone, Copy, Debug)]
struct Planted {
    /// Which tree of the solver bodies.
    tree: u32,
    first: u32,
    count: u32,
    /// First block in `inertias`.
    inertia: u32,
}

impl Planted {
    fn nodes(&self) -> Range<u32> {
        self.first..self.first + self.count
    }
}

impl Forest {
    /// Forgets all trees.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.trees.clear();
        self.jacobians.clear();
        self.inertias.clear();
    }

    /// Takes a link in, and its tree if it is the first link of it; its nodes begin at `next`. Returns how many were added.
    pub(crate) fn plant(&mut self, slot: u32, bodies: &Bodies, next: u32) -> u32 {
        let Some(view) = bodies.view(slot) else {
            return 0;
        };
        if self.places.is_empty() {
            self.places.resize(bodies.len(), (NONE, NONE));
        }
        if self.places[slot as usize].0 != NONE {
            return 0;
        }
        let n = view.freedoms;
        let count = n.div_ceil(6);
        let known = self.trees.iter().position(|t| t.tree == view.tree);
        let k = known.unwrap_or_else(|| {
            self.trees.push(Planted {
                tree: view.tree,
                first: next,
                count: count as u32,
                inertia: self.inertias.len() as u32,
            });
            for i in 0..count {
                for j in 0..count {
                    let block = cut(view.inertia, n, 6 * i, 6 * j, n);
                    self.inertias.push(block);
                }
            }
            // Past the last freedom.
            if let Some(last) = self.inertias.last_mut() {
                for i in n + 6 - 6 * count..6 {
                    last[7 * i] = 1.0;
                }
            }
            self.trees.len() - 1
        });
        self.places[slot as usize] = (k as u32, self.jacobians.len() as u32);
        for j in 0..count {
            self.jacobians.push(cut(view.jacobian, n, 0, 6 * j, 6));
        }
        if known.is_none() { count as u32 } else { 0 }
    }

    /// The nodes that a slot moves with; none if it is no link.
    pub(crate) fn nodes(&self, slot: u32) -> Range<u32> {
        match self.places.get(slot as usize) {
            Some(&(tree, _)) if tree != NONE => self.trees[tree as usize].nodes(),
            _ => 0..0,
        }
    }

    /// Pairs of nodes of one tree.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let of = |t: &Planted| {
            let nodes = t.nodes();
            nodes
                .clone()
                .flat_map(move |i| (i + 1..nodes.end).map(move |j| (i, j)))
        };
        self.trees.iter().flat_map(of)
    }

    /// The nodes of a slot, each with its block of B.
    fn parts(&self, slot: u32) -> impl Iterator<Item = (u32, &Block)> {
        let start = match self.places.get(slot as usize) {
            Some(&(tree, start)) if tree != NONE => start as usize,
            _ => 0,
        };
        self.nodes(slot).zip(&self.jacobians[start..])
    }

    /// Velocity that a step gives a link; `None` if the slot is none, or cannot move.
    pub(crate) fn velocity(&self, motion: &[Block6], slot: u32) -> Option<Block6> {
        if self.nodes(slot).is_empty() {
            return None;
        }
        let mut v = [0.0; 6];
        for (node, B) in self.parts(slot) {
            let x = &motion[node as usize];
            for i in 0..6 {
                for j in 0..6 {
                    v[i] += B[6 * i + j] * x[j];
                }
            }
        }
        Some(v)
    }

    /// Adds `Bᵀ P` of an impulse on a link to the right-hand side.
    pub(crate) fn push(&self, P: &Block6, slot: u32, to: &mut [Block6]) {
        for (node, B) in self.parts(slot) {
            let x = &mut to[node as usize];
            for i in 0..6 {
                for j in 0..6 {
                    x[j] += B[6 * i + j] * P[i];
                }
            }
        }
    }

    /// Takes `H d` of all trees from the right-hand side.
    pub(crate) fn subtract_momentum(&self, motion: &[Block6], from: &mut [Block6]) {
        self.each_inertia(|p, q, H| {
            for i in 0..6 {
                for j in 0..6 {
                    from[p as usize][i] -= H[6 * i + j] * motion[q as usize][j];
                }
            }
        });
    }

    /// `xᵀ H y` over all trees.
    pub(crate) fn product(&self, x: &[Block6], y: &[Block6]) -> f64 {
        let mut sum = 0.0;
        self.each_inertia(|p, q, H| {
            for i in 0..6 {
                for j in 0..6 {
                    sum += x[p as usize][i] * H[6 * i + j] * y[q as usize][j];
                }
            }
        });
        sum
    }

    /// Every block of H with the nodes of its row and column.
    pub(crate) fn each_inertia(&self, mut act: impl FnMut(u32, u32, &Block)) {
        for t in &self.trees {
            for i in 0..t.count {
                for j in 0..t.count {
                    let H = &self.inertias[(t.inertia + i * t.count + j) as usize];
                    act(t.first + i, t.first + j, H);
                }
            }
        }
    }

    /// Gathers the Jacobian of up to three rows that two slots share, by node: `ends` are slot, node if it is no link, and the rows' shares
    /// in the slot's velocity.
    pub(crate) fn gather(&mut self, ends: [(u32, u32, [Block6; 3]); 2]) {
        let mut acting = std::mem::take(&mut self.acting);
        acting.clear();
        for (slot, node, rows) in ends {
            if node != NONE {
                acting.push((node, rows));
                continue;
            }
            for (node, B) in self.parts(slot) {
                let through = rows.map(|row| {
                    let mut x = [0.0; 6];
                    for i in 0..6 {
                        for j in 0..6 {
                            x[j] += row[i] * B[6 * i + j];
                        }
                    }
                    x
                });
                // Joints that are not between the link and the root do not move it.
                if through.iter().flatten().all(|x| *x == 0.0) {
                    continue;
                }
                // Both ends on one tree share its nodes.
                match acting.iter_mut().find(|(n, _)| *n == node) {
                    Some((_, sum)) => {
                        for (s, x) in sum.iter_mut().flatten().zip(through.iter().flatten()) {
                            *s += x;
                        }
                    }
                    None => acting.push((node, through)),
                }
            }
        }
        self.acting = acting;
    }

    /// `Jᵀ W J` of what was gathered, by pairs of nodes; W by rows. Each pair in both orders if `both`, else the lower node first.
    pub(crate) fn each_product(
        &self,
        W: &[[f64; 3]; 3],
        both: bool,
        mut act: impl FnMut(u32, u32, &Block),
    ) {
        for (q, J_q) in &self.acting {
            let mut WJ = [[0.0; 6]; 3];
            for r in 0..3 {
                for c in (0..3).filter(|&c| W[r][c] != 0.0) {
                    for j in 0..6 {
                        WJ[r][j] += W[r][c] * J_q[c][j];
                    }
                }
            }
            for (p, J_p) in self.acting.iter().filter(|(p, _)| both || p <= q) {
                let mut block = [0.0; 36];
                for r in 0..3 {
                    for i in 0..6 {
                        for j in 0..6 {
                            block[6 * i + j] += J_p[r][i] * WJ[r][j];
                        }
                    }
                }
                act(*p, *q, &block);
            }
        }
    }
}

/// The 6×6 block at (`row`, `column`) of a matrix with `n` columns and `rows` rows; zero beyond its edge.
fn cut(from: &[f64], n: usize, row: usize, column: usize, rows: usize) -> Block {
    let mut block = [0.0; 36];
    for i in row..rows.min(row + 6) {
        for j in column..n.min(column + 6) {
            block[6 * (i - row) + j - column] = from[i * n + j];
        }
    }
    block
}
