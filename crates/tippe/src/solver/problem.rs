//! The door of the solver: one island as nodes, rows and laws goes in, impulses and what they cost come out.
//!
//! Reads: nothing.  Writes: nothing (plain data).
//! Called by: whoever has an island to solve; `solver::core` reads it.
//! Source: the discrete contact problem of [Acary08] ch. 10. Letters: v velocities of the nodes, M their mass, J the rows, r impulses,
//! u = J v − target, v = free + M⁻¹ Jᵀ r.
//!
//! The unit of a velocity is the caller's: with accelerations in place of velocities the same problem gives forces in place of impulses.
//! A node is anything with a symmetric positive definite mass matrix: a rigid body (six freedoms), a body or tree that exposes only some of its
//! freedoms, or a whole tree by its joint velocities. Rows are Jacobians by those freedoms. Restitution is part of a contact's target.
//! Which of two friction coefficients a contact has (static or kinetic) is decided by the caller before the solve.

use super::matrix::Matrix;
use crate::math::block_cholesky::{Block, Block6, backward, cholesky, forward};
use crate::math::{Mat3, Vec3};
use std::ops::Range;

/// Rows of a contact with rolling or spinning resistance: force (normal, two tangents), then torque (two tangents, normal).
pub const ROWS_MAX: usize = 6;

/// Resistance of one contact, all per normal impulse.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Friction {
    /// Coulomb's coefficient μ: |tangential| ≤ μ · normal [1].
    pub sliding: f64,
    /// Bound of the torque about the tangents [m].
    pub rolling: f64,
    /// Bound of the torque about the normal [m].
    pub spinning: f64,
    /// Regularisation: the tangential impulse is −μ · normal · u/√(u² + `slip_speed`²) [unit of u]; 0 is Coulomb's law.
    pub slip_speed: f64,
}

impl Friction {
    /// Ideal Coulomb friction.
    #[must_use]
    pub const fn coulomb(sliding: f64) -> Self {
        Self {
            sliding,
            rolling: 0.0,
            spinning: 0.0,
            slip_speed: 0.0,
        }
    }

    /// Whether the contact has rows for torques.
    #[must_use]
    pub fn has_torque(&self) -> bool {
        self.rolling > 0.0 || self.spinning > 0.0
    }
}

/// What the impulses of a group of rows must satisfy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// u = 0, any impulse: one row of a joint.
    Equality,
    /// u = 0 while low < r < high, u ≥ 0 at r = low, u ≤ 0 at r = high: a limit, a motor of bounded force, one-sided without friction.
    Bounded {
        /// Least impulse, may be −∞.
        low: f64,
        /// Largest impulse, may be ∞.
        high: f64,
    },
    /// r in Coulomb's cone, u_n ≥ 0, and the slip against the friction.
    Cone(Friction),
}

/// Rows that share a law.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub law: Law,
    /// First row, and how many: 1, 3 or 6.
    pub row: usize,
    pub rows: usize,
    /// Its sides in `Problem::sides`.
    pub sides: Range<usize>,
    /// Place of its rows × rows block among the blocks of all groups.
    pub block: usize,
}

/// The Jacobian of one group at one block of six freedoms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub block: u32,
    /// First of the group's rows in `Problem::jacobian`.
    pub first: u32,
}

/// A node of more than six freedoms: its blocks, and where its matrices begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    pub first: usize,
    pub blocks: usize,
    pub matrix: usize,
}

/// A node as the caller knows it: its first block of six freedoms and its number of freedoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub(crate) block: u32,
    freedoms: u32,
}

impl Node {
    /// Number of its freedoms.
    #[must_use]
    pub const fn freedoms(self) -> usize {
        self.freedoms as usize
    }
}

/// One island. Buffers are kept by `clear`.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// By block: velocities without any of the impulses sought.
    pub(crate) free: Vec<Block6>,
    /// By block: mass and its inverse; of trees, the diagonal blocks of the mass only.
    pub(crate) mass: Vec<Block>,
    pub(crate) inverse: Vec<Block>,
    pub(crate) trees: Vec<Tree>,
    /// By block: its tree, or none.
    pub(crate) tree_of: Vec<u32>,
    /// Dense mass matrices of trees, and their Cholesky factors.
    pub(crate) tree_mass: Vec<f64>,
    pub(crate) tree_factor: Vec<f64>,
    pub(crate) groups: Vec<Group>,
    pub(crate) sides: Vec<Side>,
    pub(crate) jacobian: Vec<Block6>,
    /// By row: velocity to reach, and impulse to start from.
    pub(crate) target: Vec<f64>,
    pub(crate) start: Vec<f64>,
    /// Length of all groups' blocks.
    pub(crate) block_entries: usize,
    /// Scratch: velocities that the starting impulses gave.
    given: Vec<Block6>,
}

/// No tree.
pub(crate) const NONE: u32 = u32::MAX;

impl Problem {
    /// Removes everything.
    pub fn clear(&mut self) {
        self.free.clear();
        self.mass.clear();
        self.inverse.clear();
        self.trees.clear();
        self.tree_of.clear();
        self.tree_mass.clear();
        self.tree_factor.clear();
        self.groups.clear();
        self.sides.clear();
        self.jacobian.clear();
        self.target.clear();
        self.start.clear();
        self.block_entries = 0;
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.target.len()
    }

    /// Number of groups: contacts and single rows.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Number of blocks of six freedoms.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.free.len()
    }

    /// Rows of a group.
    #[must_use]
    pub fn group_rows(&self, group: usize) -> Range<usize> {
        let g = &self.groups[group];
        g.row..g.row + g.rows
    }

    /// Law of a group.
    #[must_use]
    pub fn law(&self, group: usize) -> Law {
        self.groups[group].law
    }

    /// Impulses to start from, by row.
    pub fn start_mut(&mut self) -> &mut [f64] {
        &mut self.start
    }

    /// Takes what the starting impulses gave out of the velocities: for a caller whose velocities contain them.
    pub fn remove_start(&mut self) {
        let mut f = std::mem::take(&mut self.given);
        f.clear();
        f.resize(self.blocks(), [0.0; 6]);
        let mut matrix = Matrix::default();
        matrix.transposed_times(self, &self.start, &mut f);
        matrix.inverse_times(self, &mut f);
        for (v, f) in self.free.iter_mut().flatten().zip(f.iter().flatten()) {
            *v -= f;
        }
        self.given = f;
    }

    /// Adds a rigid body by its inverse mass [1/kg], inverse inertia about its centre of mass in world axes [1/(kg·m²)] and velocities without the impulses
    /// sought. `None` if those are not positive and finite.
    pub fn add_body(
        &mut self,
        inverse_mass: f64,
        inverse_inertia: Mat3,
        v: Vec3,
        w: Vec3,
    ) -> Option<Node> {
        let mut inverse = [0.0; 36];
        let columns = inverse_inertia.to_cols_array_2d();
        for i in 0..3 {
            inverse[7 * i] = inverse_mass;
            for j in 0..3 {
                inverse[6 * (i + 3) + j + 3] = 0.5 * (columns[j][i] + columns[i][j]);
            }
        }
        let mass = inverted(&inverse)?;
        let free = [v.x, v.y, v.z, w.x, w.y, w.z];
        Some(self.push_block(mass, inverse, free, 6))
    }

    /// Adds a node of any number of freedoms by its mass matrix (row major, symmetric) and velocities. `None` if the matrix is not positive definite or
    /// the lengths do not agree.
    pub fn add_node(&mut self, mass: &[f64], free: &[f64]) -> Option<Node> {
        let k = free.len();
        if k == 0 || mass.len() != k * k || free.iter().any(|x| !x.is_finite()) {
            return None;
        }
        if k > 6 {
            return self.add_tree(mass, free);
        }
        // Freedoms that the node does not have: a mass of one that no row acts on.
        let mut block: Block = std::array::from_fn(|i| if i % 7 == 0 { 1.0 } else { 0.0 });
        let mut velocity = [0.0; 6];
        for i in 0..k {
            velocity[i] = free[i];
            for j in 0..k {
                block[6 * i + j] = mass[k * i + j];
            }
        }
        let inverse = inverted(&block)?;
        Some(self.push_block(block, inverse, velocity, k))
    }

    fn push_block(&mut self, mass: Block, inverse: Block, free: Block6, freedoms: usize) -> Node {
        let block = self.free.len() as u32;
        self.free.push(free);
        self.mass.push(mass);
        self.inverse.push(inverse);
        self.tree_of.push(NONE);
        Node {
            block,
            freedoms: freedoms as u32,
        }
    }

    fn add_tree(&mut self, mass: &[f64], free: &[f64]) -> Option<Node> {
        let k = free.len();
        let (first, blocks) = (self.free.len(), k.div_ceil(6));
        let (n, matrix) = (6 * blocks, self.tree_mass.len());
        self.tree_mass.resize(matrix + n * n, 0.0);
        for i in 0..n {
            self.tree_mass[matrix + i * n + i] = 1.0;
        }
        for i in 0..k {
            let from = &mass[k * i..k * i + k];
            self.tree_mass[matrix + n * i..matrix + n * i + k].copy_from_slice(from);
        }
        self.tree_factor.resize(matrix, 0.0);
        self.tree_factor
            .extend_from_slice(&self.tree_mass[matrix..]);
        if !dense_cholesky(&mut self.tree_factor[matrix..], n) {
            self.tree_mass.truncate(matrix);
            self.tree_factor.truncate(matrix);
            return None;
        }
        for b in 0..blocks {
            let entry = |i: usize, j: usize| self.tree_mass[matrix + n * (6 * b + i) + 6 * b + j];
            self.mass.push(std::array::from_fn(|e| entry(e / 6, e % 6)));
            self.inverse.push([0.0; 36]);
            let at = |c: usize| free.get(6 * b + c).copied().unwrap_or(0.0);
            self.free.push(std::array::from_fn(at));
            self.tree_of.push(self.trees.len() as u32);
        }
        self.trees.push(Tree {
            first,
            blocks,
            matrix,
        });
        Some(Node {
            block: first as u32,
            freedoms: k as u32,
        })
    }

    /// Adds a contact; its sides follow by `add_side`. Targets and starting impulses are in the order normal, first and second tangent, then, with
    /// rolling or spinning resistance, angular about first and second tangent and normal. Returns its group.
    pub fn add_contact(
        &mut self,
        friction: Friction,
        target: [f64; ROWS_MAX],
        start: [f64; ROWS_MAX],
    ) -> usize {
        let rows = if friction.has_torque() { 6 } else { 3 };
        self.target.extend_from_slice(&target[..rows]);
        self.start.extend_from_slice(&start[..rows]);
        self.push_group(Law::Cone(friction), rows)
    }

    /// Adds one row, an equality or bounded; its sides follow by `add_side`. Returns its group.
    pub fn add_row(&mut self, law: Law, target: f64, start: f64) -> usize {
        // Bounds that nothing reaches are none.
        let law = match law {
            Law::Bounded { low, high } if low == f64::NEG_INFINITY && high == f64::INFINITY => {
                Law::Equality
            }
            other => other,
        };
        self.target.push(target);
        self.start.push(start);
        self.push_group(law, 1)
    }

    /// The nodes of another problem, at rest and without any rows: some of its groups follow by `add_group_of`.
    pub(crate) fn take_nodes_of(&mut self, whole: &Self) {
        self.clear();
        self.free.resize(whole.blocks(), [0.0; 6]);
        self.mass.clone_from(&whole.mass);
        self.inverse.clone_from(&whole.inverse);
        self.trees.clone_from(&whole.trees);
        self.tree_of.clone_from(&whole.tree_of);
        self.tree_mass.clone_from(&whole.tree_mass);
        self.tree_factor.clone_from(&whole.tree_factor);
    }

    /// Adds the rows of a group of a problem with the same nodes, under a law and with targets of its own.
    pub(crate) fn add_group_of(&mut self, whole: &Self, group: usize, law: Law, target: &[f64]) {
        let g = &whole.groups[group];
        debug_assert_eq!(target.len(), g.rows);
        self.target.extend_from_slice(target);
        self.start.resize(self.target.len(), 0.0);
        self.push_group(law, g.rows);
        for side in &whole.sides[g.sides.clone()] {
            let first = side.first as usize;
            self.add_block_side(side.block, &whole.jacobian[first..first + g.rows]);
        }
    }

    fn push_group(&mut self, law: Law, rows: usize) -> usize {
        self.groups.push(Group {
            law,
            row: self.target.len() - rows,
            rows,
            sides: self.sides.len()..self.sides.len(),
            block: self.block_entries,
        });
        self.block_entries += rows * rows;
        self.groups.len() - 1
    }

    /// The last group acts on a node: its Jacobian there, row after row, each as long as the node has freedoms. Sides on one node add up.
    pub fn add_side(&mut self, node: Node, rows: &[f64]) {
        let k = node.freedoms as usize;
        let count = self.groups.last().map_or(0, |g| g.rows);
        debug_assert_eq!(rows.len(), k * count);
        for b in 0..k.div_ceil(6) {
            let width = (k - 6 * b).min(6);
            let mut part = [[0.0; 6]; ROWS_MAX];
            for i in 0..count {
                part[i][..width].copy_from_slice(&rows[k * i + 6 * b..k * i + 6 * b + width]);
            }
            if part.iter().flatten().any(|x| *x != 0.0) {
                self.add_block_side(node.block + b as u32, &part[..count]);
            }
        }
    }

    /// The last group, a contact, acts on a body through the point at `lever` from its centre of mass, with a sign: + on the body that the normal points into.
    pub fn add_contact_side(&mut self, node: Node, sign: f64, frame: [Vec3; 3], lever: Vec3) {
        let mut rows = [[0.0; 6]; ROWS_MAX];
        for (row, axis) in rows.iter_mut().zip(frame) {
            let (d, m) = (axis * sign, lever.cross(axis) * sign);
            *row = [d.x, d.y, d.z, m.x, m.y, m.z];
        }
        for (row, axis) in rows[3..].iter_mut().zip([frame[1], frame[2], frame[0]]) {
            let m = axis * sign;
            *row = [0.0, 0.0, 0.0, m.x, m.y, m.z];
        }
        let count = self.groups.last().map_or(0, |g| g.rows);
        self.add_block_side(node.block, &rows[..count]);
    }

    fn add_block_side(&mut self, block: u32, rows: &[Block6]) {
        let Some(group) = self.groups.last_mut() else {
            return;
        };
        for side in &self.sides[group.sides.clone()] {
            if side.block == block {
                let to = &mut self.jacobian[side.first as usize..side.first as usize + rows.len()];
                for (t, r) in to.iter_mut().flatten().zip(rows.iter().flatten()) {
                    *t += r;
                }
                return;
            }
        }
        self.sides.push(Side {
            block,
            first: self.jacobian.len() as u32,
        });
        self.jacobian.extend_from_slice(rows);
        group.sides.end = self.sides.len();
    }
}

/// What a solve may cost and how exact it must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Residual at which it ends [unit of u].
    pub tolerance: f64,
    /// The same relative to the largest |u| without impulses [1]; the larger of both counts.
    pub tolerance_relative: f64,
    /// Part of the tolerance that it goes on to while Newton's method converges [1]; 1 stops at the tolerance.
    pub polish: f64,
    /// Most factorisations.
    pub factorisations: u32,
    /// Most block products of one factorisation; a larger island is not tried.
    pub block_products: u64,
    /// Most multiply–adds, counted by blocks; the phase at hand ends its iteration first.
    pub operations: u64,
    /// Whether to start from the problem's impulses.
    pub warm: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            tolerance: 0.0,
            tolerance_relative: 1e-8,
            polish: 1.0,
            factorisations: 100,
            block_products: u64::MAX,
            operations: u64::MAX,
            warm: true,
        }
    }
}

/// Counted work. Never a time: the same problem always costs the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Matrices factored.
    pub factorisations: u32,
    /// Right-hand sides solved with a factor.
    pub substitutions: u32,
    /// Rows visited: products with J or Jᵀ and laws evaluated.
    pub rows: u64,
    /// Multiply–adds of all of it, counted by blocks.
    pub operations: u64,
}

/// The part of the solve that reached the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// The impulses it started from.
    #[default]
    Start,
    /// Newton's method from the warm start.
    Warm,
    /// The interior point.
    Interior,
    /// The interior point from its second start.
    Restart,
    /// Newton's method from the best impulses.
    Polish,
    /// Alternating directions.
    Splitting,
}

/// The answer, in buffers that the core keeps until the next solve.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// By row.
    pub impulses: &'a [f64],
    /// By block of six freedoms: free + M⁻¹ Jᵀ r.
    pub velocities: &'a [Block6],
    /// By group: natural map [unit of u].
    pub residuals: &'a [f64],
    /// Largest of them, and the scale it is compared with: the largest |u| without impulses.
    pub residual: f64,
    /// See `residual`.
    pub scale: f64,
    /// Largest change of an equality's target that was needed to make the equalities agree [unit of u]; 0 if they agree.
    pub contradiction: f64,
    /// Where the answer comes from.
    pub phase: Phase,
    /// Whether the impulses it started from are the answer, up to the rounding of their projection.
    pub unchanged: bool,
    /// Whether the residual is within the tolerance (with the targets that agree).
    pub met: bool,
    /// Whether a cap on work ended the solve.
    pub limit: bool,
    /// What it took.
    pub work: Work,
}

/// The inverse of a symmetric positive definite block.
pub(crate) fn inverted(a: &Block) -> Option<Block> {
    let mut factor = *a;
    if !cholesky(&mut factor) {
        return None;
    }
    let mut inverse = [0.0; 36];
    for j in 0..6 {
        let mut column: Block6 = std::array::from_fn(|i| if i == j { 1.0 } else { 0.0 });
        forward(&factor, &mut column);
        backward(&factor, &mut column);
        for i in 0..6 {
            inverse[6 * i + j] = column[i];
        }
    }
    inverse.iter().all(|x| x.is_finite()).then_some(inverse)
}

/// Lower Cholesky factor of a dense matrix in place; false if it is not positive definite.
pub(crate) fn dense_cholesky(a: &mut [f64], n: usize) -> bool {
    for j in 0..n {
        for i in j..n {
            let mut s = a[i * n + j];
            for k in 0..j {
                s -= a[i * n + k] * a[j * n + k];
            }
            if i > j {
                a[i * n + j] = s / a[j * n + j];
            } else if s > 0.0 && s.is_finite() {
                a[j * n + j] = s.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// `x ← (L Lᵀ)⁻¹ x`
pub(crate) fn dense_solve(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let mut s = x[i];
        for k in 0..i {
            s -= factor[i * n + k] * x[k];
        }
        x[i] = s / factor[i * n + i];
    }
    for i in (0..n).rev() {
        let mut s = x[i];
        for k in i + 1..n {
            s -= factor[k * n + i] * x[k];
        }
        x[i] = s / factor[i * n + i];
    }
}
