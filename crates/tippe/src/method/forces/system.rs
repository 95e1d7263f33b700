//! The system A f + b of one moment: bodies, rows that hold, contacts with their modes; and its solution once the modes are known.
//!
//! Reads: masses, rows, free accelerations (or velocities).  Writes: forces (or impulses) and the accelerations they leave.
//! Called by: `smooth` (accelerations and forces), `impacts` (velocities and impulses), `project` (displacements).
//! Source: [Lecture] "Constructing the LCP"; with the modes known it is a linear system ([Lecture] last LCP slide). A is singular wherever
//! contacts are redundant, so it is never formed: (M + Dᵀ ε⁻¹ J) a = …, by bodies, and steps of the proximal point method until J a + b = 0.
//! A tree of links is several nodes, six freedoms each, with a dense mass matrix; a link is an end that its Jacobian leads to them.
//! Letters: V velocities (v, ω) of a body, J row, D direction of its force (not J where a contact slides), u = J V + bias.

#![allow(non_snake_case)]

use crate::math::block_cholesky::{Block, Block6};
use crate::math::block_lu::BlockLu;
use crate::math::block_pattern::Pattern;
use crate::math::{Mat3, Vec3};
use crate::solver::problem::{dense_cholesky, dense_solve};

/// No node: a side that does not move, or whose motion is in the bias.
pub(crate) const NO_NODE: u32 = u32::MAX;
/// Regularisation ε of one proximal step, relative to the response of a row [1].
const PROXIMAL: f64 = 1e-6;
/// Most proximal steps.
const PROXIMAL_MAX: u32 = 40;
/// Residual at which they end, relative to the largest |u| without forces [1].
const SOLVED: f64 = 1e-13;
/// Residual at which a solve that no longer improves counts as solved, relative to the same [1].
const STALLED_SOLVED: f64 = 1e-9;

/// Residual of a row that is rounding, relative to what it adds up [1].
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// How many times that a solve that no longer improves may leave: the factor of a tree's mass matrix has rounding of its own.
const STALLED_ROUNDING: f64 = 512.0;
/// Ends from this number on are links: their places in `System::links` follow.
pub(crate) const LINKS: u32 = 1 << 30;

/// A body of finite mass, or six freedoms of a tree (whose masses are in `System::trees`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub inverse_mass: f64,
    pub inverse_inertia: Mat3,
    pub mass: f64,
    pub inertia: Mat3,
    /// Acceleration (or velocity) without the forces sought.
    pub free: Block6,
}

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    /// It carries nothing and opens.
    Open,
    /// It carries load and does not slip.
    Stick,
    /// It carries load and slips: friction is μ f_n against this vector, of length one (less if regularised), across the normal.
    Slide(Vec3),
}

/// A contact of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub nodes: [u32; 2],
    /// Normal and two tangents.
    pub frame: [Vec3; 3],
    /// From the centres of mass to the common point.
    pub levers: [Vec3; 2],
    /// Part of u that does not come from the nodes, along the frame.
    pub bias: [f64; 3],
    /// Coefficients while it slides and while it sticks.
    pub friction: f64,
    pub friction_static: f64,
    pub mode: Mode,
    /// Force on B, along the frame.
    pub force: [f64; 3],
}

/// A tree of links: its nodes, and where its matrices begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    pub first: u32,
    pub blocks: u32,
    pub matrix: usize,
}

/// A link as an end of rows: its tree's nodes, and where its Jacobian begins (six rows: velocity of the centre of mass, angular velocity).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkEnd {
    pub first: u32,
    pub blocks: u32,
    pub jacobian: usize,
}

/// Where the force of a bounded row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Between its bounds: the row holds.
    #[default]
    Held,
    /// At the lower one: the row may only grow.
    Low,
    /// At the upper one: the row may only fall.
    High,
    /// At one of its bounds, wherever the row goes: a motor that is not at its speed.
    Slips,
}

/// A row that holds, by a force within its bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub nodes: [u32; 2],
    pub jacobians: [Block6; 2],
    pub bias: f64,
    pub force: f64,
    /// Least and greatest force; infinite where it holds whatever it takes.
    pub low: f64,
    pub high: f64,
    pub bound: Bound,
    /// Whose row it is, and which of its rows.
    pub owner: u32,
    pub row: u32,
}

impl Hold {
    /// Whether it may let go.
    pub(crate) fn is_bounded(&self) -> bool {
        self.low > f64::NEG_INFINITY || self.high < f64::INFINITY
    }
}

/// One scalar row of the linear system.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Its sides in `System::sides`.
    sides: (u32, u32),
    bias: f64,
    force: f64,
    /// 1/ε; zero where the force is given.
    stiffness: f64,
    /// Residual that is rounding.
    floor: f64,
}

/// A row as it is posed, with the size of what it answers.
struct Posed {
    sides: (u32, u32),
    bias: f64,
    force: f64,
    stiffness: f64,
    floor: f64,
    scale: f64,
}

impl Posed {
    fn row(&self) -> Row {
        Row {
            sides: self.sides,
            bias: self.bias,
            force: self.force,
            stiffness: self.stiffness,
            floor: self.floor,
        }
    }
}

/// A row at one node.
#[derive(Clone, Copy, Debug)]
struct Side {
    node: u32,
    J: Block6,
    D: Block6,
}

/// One moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    pub nodes: Vec<Node>,
    pub holds: Vec<Hold>,
    pub touches: Vec<Touch>,
    /// Trees, the last of the nodes; by node: its tree. Mass matrices and their Cholesky factors.
    pub trees: Vec<Tree>,
    tree_of: Vec<u32>,
    tree_mass: Vec<f64>,
    tree_factor: Vec<f64>,
    /// Links that rows end on, and their Jacobians.
    pub links: Vec<LinkEnd>,
    pub jacobians: Vec<f64>,
    /// By node: accelerations with the forces. Written by `solve`.
    pub result: Vec<Block6>,
    /// Largest |u| of the rows without forces: what residuals are measured by. Written by `solve`.
    pub scale: f64,
    /// Factorisations so far.
    pub factorisations: u32,
    rows: Vec<Row>,
    sides: Vec<Side>,
    pattern: Pattern,
    lu: BlockLu,
    residuals: Vec<f64>,
    change: Vec<Block6>,
}

/// Row of a force along `e` at the lever `r`.
pub(crate) fn wrench(sign: f64, e: Vec3, r: Vec3) -> Block6 {
    let (f, m) = (e * sign, r.cross(e) * sign);
    [f.x, f.y, f.z, m.x, m.y, m.z]
}

pub(crate) fn dot(a: &Block6, b: &Block6) -> f64 {
    (0..6).map(|i| a[i] * b[i]).sum()
}

impl Node {
    /// `M⁻¹ f`
    pub(crate) fn response(&self, f: &Block6) -> Block6 {
        let v = Vec3::new(f[0], f[1], f[2]) * self.inverse_mass;
        let w = self.inverse_inertia * Vec3::new(f[3], f[4], f[5]);
        [v.x, v.y, v.z, w.x, w.y, w.z]
    }

    fn mass_block(&self) -> Block {
        let mut m = [0.0; 36];
        let columns = self.inertia.to_cols_array_2d();
        for i in 0..3 {
            m[7 * i] = self.mass;
            for j in 0..3 {
                m[6 * (i + 3) + j + 3] = columns[j][i];
            }
        }
        m
    }
}

impl Touch {
    /// Row of an axis on both sides.
    pub(crate) fn rows(&self, e: Vec3) -> [Block6; 2] {
        [
            wrench(-1.0, e, self.levers[0]),
            wrench(1.0, e, self.levers[1]),
        ]
    }

    /// The force as a vector.
    pub(crate) fn vector(&self) -> Vec3 {
        let [n, t, s] = self.frame;
        n * self.force[0] + t * self.force[1] + s * self.force[2]
    }

    /// A vector along the frame.
    pub(crate) fn along(&self, v: Vec3) -> [f64; 3] {
        self.frame.map(|e| e.dot(v))
    }
}

impl System {
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.holds.clear();
        self.touches.clear();
        self.trees.clear();
        self.tree_of.clear();
        self.tree_mass.clear();
        self.tree_factor.clear();
        self.links.clear();
        self.jacobians.clear();
    }

    /// Adds a tree of `n` freedoms with its mass matrix and accelerations; its links are added after it. False if the matrix has no factor.
    pub(crate) fn add_tree(&mut self, n: usize, mass: &[f64], free: &[f64]) -> bool {
        let blocks = n.div_ceil(6);
        let (first, size, matrix) = (self.nodes.len() as u32, 6 * blocks, self.tree_mass.len());
        // Freedoms that the tree does not have: a mass of one that no row acts on.
        self.tree_mass.resize(matrix + size * size, 0.0);
        for i in 0..size {
            self.tree_mass[matrix + i * size + i] = 1.0;
        }
        for i in 0..n {
            let to = matrix + i * size;
            self.tree_mass[to..to + n].copy_from_slice(&mass[i * n..(i + 1) * n]);
        }
        self.tree_factor
            .extend_from_slice(&self.tree_mass[matrix..]);
        self.tree_of.resize(first as usize, NO_NODE);
        for b in 0..blocks {
            self.tree_of.push(self.trees.len() as u32);
            let at = |k: usize| free.get(6 * b + k).copied().unwrap_or(0.0);
            self.nodes.push(Node {
                inverse_mass: 0.0,
                inverse_inertia: Mat3::ZERO,
                mass: 0.0,
                inertia: Mat3::ZERO,
                free: std::array::from_fn(at),
            });
        }
        let blocks = blocks as u32;
        self.trees.push(Tree {
            first,
            blocks,
            matrix,
        });
        dense_cholesky(&mut self.tree_factor[matrix..], size)
    }

    /// Adds a link of the last tree as an end, by its Jacobian of six rows.
    pub(crate) fn add_link(&mut self, n: usize, J: &[f64]) {
        let Some(tree) = self.trees.last() else {
            return;
        };
        let (size, jacobian) = (6 * tree.blocks as usize, self.jacobians.len());
        for row in 0..6 {
            self.jacobians.extend_from_slice(&J[row * n..(row + 1) * n]);
            self.jacobians.resize(jacobian + (row + 1) * size, 0.0);
        }
        self.links.push(LinkEnd {
            first: tree.first,
            blocks: tree.blocks,
            jacobian,
        });
    }

    /// Takes trees and links over from another system; `place` says where the nodes of a tree begin here. Nodes must be there already.
    pub(crate) fn take_trees(&mut self, from: &Self, place: impl Fn(u32) -> u32) {
        self.tree_mass.clone_from(&from.tree_mass);
        self.tree_factor.clone_from(&from.tree_factor);
        self.jacobians.clone_from(&from.jacobians);
        self.tree_of.clear();
        self.tree_of.resize(self.nodes.len(), NO_NODE);
        self.trees.clear();
        for tree in &from.trees {
            let first = place(tree.first);
            if first == NO_NODE {
                continue;
            }
            for b in 0..tree.blocks {
                self.tree_of[(first + b) as usize] = self.trees.len() as u32;
            }
            self.trees.push(Tree { first, ..*tree });
        }
        let links = from.links.iter().map(|link| LinkEnd {
            first: place(link.first),
            ..*link
        });
        self.links.clear();
        self.links.extend(links);
    }

    /// The link that an end is.
    fn link(&self, end: u32) -> Option<&LinkEnd> {
        if end == NO_NODE || end < LINKS {
            return None;
        }
        self.links.get((end - LINKS) as usize)
    }

    /// How many of the nodes are bodies: they come before those of the trees.
    pub(crate) fn bodies(&self) -> usize {
        let first = self.trees.first();
        first.map_or(self.nodes.len(), |t| t.first as usize)
    }

    /// How many nodes belong together from this one on: those of a tree, or one.
    pub(crate) fn blocks_at(&self, node: u32) -> u32 {
        let tree = self.trees.iter().find(|t| t.first == node);
        tree.map_or(1, |t| t.blocks)
    }

    /// A row on a link as a row on all freedoms of its tree; nothing for other ends.
    pub(crate) fn on_tree(&self, end: u32, row: &Block6) -> Option<(u32, Vec<f64>)> {
        let link = self.link(end)?;
        let parts = (0..link.blocks).flat_map(|b| self.part(link, row, b));
        Some((link.first, parts.collect()))
    }

    /// The mass matrix of a tree, as large as its nodes.
    pub(crate) fn mass_of(&self, tree: &Tree) -> &[f64] {
        let size = 6 * tree.blocks as usize;
        &self.tree_mass[tree.matrix..tree.matrix + size * size]
    }

    /// The first node that an end moves; the end itself where that is none.
    pub(crate) fn node_of_end(&self, end: u32) -> u32 {
        self.link(end).map_or(end, |l| l.first)
    }

    /// Motion (v, ω) of an end at given motions of the nodes.
    pub(crate) fn motion(&self, end: u32, V: &[Block6]) -> Option<Block6> {
        let Some(link) = self.link(end) else {
            return V.get(end as usize).copied();
        };
        let size = 6 * link.blocks as usize;
        Some(std::array::from_fn(|i| {
            let J = &self.jacobians[link.jacobian + i * size..link.jacobian + (i + 1) * size];
            let motions = V[link.first as usize..].iter().flatten();
            J.iter().zip(motions).map(|(j, v)| j * v).sum()
        }))
    }

    /// Lets an end feel a force along a row: adds it to the sums by node.
    pub(crate) fn push(&self, end: u32, row: &Block6, f: f64, sums: &mut [Block6]) {
        let Some(link) = self.link(end) else {
            if let Some(sum) = sums.get_mut(end as usize) {
                for (s, r) in sum.iter_mut().zip(row) {
                    *s += r * f;
                }
            }
            return;
        };
        for b in 0..link.blocks {
            let part = self.part(link, row, b);
            for (s, r) in sums[(link.first + b) as usize].iter_mut().zip(part) {
                *s += r * f;
            }
        }
    }

    /// A row on a link as a row on one of its tree's nodes, `Jᵀ` times it.
    fn part(&self, link: &LinkEnd, row: &Block6, block: u32) -> Block6 {
        let (size, at) = (6 * link.blocks as usize, 6 * block as usize);
        std::array::from_fn(|k| {
            let entry = |i: usize| self.jacobians[link.jacobian + i * size + at + k];
            (0..6).map(|i| entry(i) * row[i]).sum()
        })
    }

    /// Sums of forces by node become changes of motion, `M⁻¹` times them.
    pub(crate) fn respond(&self, sums: &mut [Block6]) {
        if self.trees.is_empty() {
            for (sum, node) in sums.iter_mut().zip(&self.nodes) {
                *sum = node.response(sum);
            }
            return;
        }
        for (i, sum) in sums.iter_mut().enumerate() {
            if self.tree_of.get(i).is_none_or(|t| *t == NO_NODE) {
                *sum = self.nodes[i].response(sum);
            }
        }
        for tree in &self.trees {
            let (first, size) = (tree.first as usize, 6 * tree.blocks as usize);
            let mut x: Vec<f64> = sums[first..first + tree.blocks as usize]
                .iter()
                .flatten()
                .copied()
                .collect();
            dense_solve(
                &self.tree_factor[tree.matrix..tree.matrix + size * size],
                &mut x,
            );
            for (k, x) in x.into_iter().enumerate() {
                sums[first + k / 6][k % 6] = x;
            }
        }
    }

    /// `J M⁻¹ Dᵀ` of two rows on the same ends.
    fn coupling(&self, ends: [u32; 2], J: &[Block6; 2], D: &[Block6; 2]) -> f64 {
        let links = ends.map(|end| self.link(end));
        let mut sum = 0.0;
        for side in 0..2 {
            if let (None, Some(node)) = (links[side], self.nodes.get(ends[side] as usize)) {
                sum += dot(&J[side], &node.response(&D[side]));
            }
        }
        match links {
            [Some(a), Some(b)] if a.first == b.first => {
                sum + self.through(&[(a, &J[0], &D[0]), (b, &J[1], &D[1])])
            }
            _ => {
                for side in 0..2 {
                    if let Some(link) = links[side] {
                        sum += self.through(&[(link, &J[side], &D[side])]);
                    }
                }
                sum
            }
        }
    }

    /// The same through links of one tree.
    fn through(&self, sides: &[(&LinkEnd, &Block6, &Block6)]) -> f64 {
        let Some((link, ..)) = sides.first() else {
            return 0.0;
        };
        let Some(tree) = self.trees.iter().find(|t| t.first == link.first) else {
            return 0.0;
        };
        let size = 6 * tree.blocks as usize;
        let (mut J, mut D) = (vec![0.0; size], vec![0.0; size]);
        for (link, row, force) in sides {
            for b in 0..link.blocks {
                let parts = [self.part(link, row, b), self.part(link, force, b)];
                for k in 0..6 {
                    J[6 * b as usize + k] += parts[0][k];
                    D[6 * b as usize + k] += parts[1][k];
                }
            }
        }
        dense_solve(
            &self.tree_factor[tree.matrix..tree.matrix + size * size],
            &mut D,
        );
        J.iter().zip(&D).map(|(j, d)| j * d).sum()
    }

    /// u of a contact at given motions of the nodes.
    pub(crate) fn contact_rate(&self, touch: &Touch, V: &[Block6]) -> [f64; 3] {
        let mut u = touch.bias;
        let motions = touch.nodes.map(|end| self.motion(end, V));
        for (u, e) in u.iter_mut().zip(touch.frame) {
            let rows = touch.rows(e);
            for (row, motion) in rows.iter().zip(&motions) {
                *u += motion.map_or(0.0, |v| dot(row, &v));
            }
        }
        u
    }

    /// u of a row that holds at given motions of the nodes.
    pub(crate) fn hold_rate(&self, hold: &Hold, V: &[Block6]) -> f64 {
        let side = |k: usize| {
            let v = self.motion(hold.nodes[k], V);
            v.map_or(0.0, |v| dot(&hold.jacobians[k], &v))
        };
        hold.bias + side(0) + side(1)
    }

    /// Response of a row on two ends, u for a unit force.
    pub(crate) fn row_response(&self, ends: [u32; 2], row: &[Block6; 2]) -> f64 {
        self.coupling(ends, row, row)
    }

    /// Response of a row that holds, u for a unit force.
    pub(crate) fn hold_response(&self, hold: &Hold) -> f64 {
        self.coupling(hold.nodes, &hold.jacobians, &hold.jacobians)
    }

    /// Response of a contact along its normal, u_n for a unit force [1/kg].
    pub(crate) fn normal_response(&self, touch: &Touch) -> f64 {
        let rows = touch.rows(touch.frame[0]);
        self.coupling(touch.nodes, &rows, &rows)
    }

    /// Response matrix of a contact along its frame, [n, t1, t2].
    pub(crate) fn response(&self, touch: &Touch) -> Mat3 {
        let rows = touch.frame.map(|e| touch.rows(e));
        let entry = |i: usize, j: usize| self.coupling(touch.nodes, &rows[i], &rows[j]);
        let column = |j: usize| Vec3::new(entry(0, j), entry(1, j), entry(2, j));
        Mat3::from_cols(column(0), column(1), column(2))
    }

    /// Measures the largest |u| without forces, over all rows of all contacts.
    pub(crate) fn measure(&mut self) {
        let mut scale: f64 = 0.0;
        let free: Vec<Block6> = self.nodes.iter().map(|n| n.free).collect();
        for h in &self.holds {
            scale = scale.max(self.hold_rate(h, &free).abs());
        }
        for t in &self.touches {
            let u = self.contact_rate(t, &free);
            scale = u.iter().fold(scale, |s, u| s.max(u.abs()));
        }
        self.scale = scale;
    }

    /// Motion that the forces of holds and contacts leave, whatever their modes.
    pub(crate) fn apply_forces(&mut self) {
        let mut sums = vec![[0.0; 6]; self.nodes.len()];
        for h in &self.holds {
            for side in 0..2 {
                self.push(h.nodes[side], &h.jacobians[side], h.force, &mut sums);
            }
        }
        for t in &self.touches {
            let rows = t.rows(t.vector());
            for side in 0..2 {
                self.push(t.nodes[side], &rows[side], 1.0, &mut sums);
            }
        }
        self.respond(&mut sums);
        self.result.clear();
        for (node, a) in self.nodes.iter().zip(&sums) {
            self.result
                .push(std::array::from_fn(|k| node.free[k] + a[k]));
        }
    }

    /// Solves for the forces with the modes as they are, starting from the forces that are there. False if there is no answer.
    pub(crate) fn solve(&mut self) -> bool {
        self.make_rows();
        let mut last = f64::INFINITY;
        for round in 0..PROXIMAL_MAX {
            self.apply();
            let worst = self.residual();
            if worst <= SOLVED * self.scale {
                break;
            }
            // Where the forces that are there answer already, as those of the last step do at rest, nothing is factored.
            if round == 0 && !self.factor() {
                return false;
            }
            if worst.is_nan() || worst >= 0.5 * last {
                if worst <= STALLED_SOLVED * self.scale || self.is_rounding() {
                    break;
                }
                if !worst.is_finite() || worst > 1e3 * last {
                    return false;
                }
            }
            last = worst.min(last);
            self.improve();
        }
        self.give();
        let worst = self.residual();
        worst <= STALLED_SOLVED * self.scale || self.is_rounding()
    }

    /// Rows of everything that carries force.
    fn make_rows(&mut self) {
        let (mut rows, mut sides) = (
            std::mem::take(&mut self.rows),
            std::mem::take(&mut self.sides),
        );
        rows.clear();
        sides.clear();
        self.scale = 0.0;
        for h in &self.holds {
            let (force, given) = match h.bound {
                Bound::Held => (h.force, false),
                Bound::Low => (h.low, true),
                Bound::High => (h.high, true),
                Bound::Slips => (h.force, true),
            };
            let mut row = self.row(
                h.nodes,
                &h.jacobians,
                &h.jacobians,
                h.bias,
                force,
                &mut sides,
            );
            if given {
                row.stiffness = 0.0;
            }
            self.scale = self.scale.max(row.scale);
            rows.push(row.row());
        }
        for t in &self.touches {
            let [n, t1, t2] = t.frame;
            let mut push = |e: Vec3, d: Vec3, k: usize| {
                let (J, D) = (t.rows(e), t.rows(d));
                let row = self.row(t.nodes, &J, &D, t.bias[k], t.force[k], &mut sides);
                rows.push(row.row());
                row.scale
            };
            let scale = match t.mode {
                Mode::Open => 0.0,
                Mode::Stick => push(n, n, 0).max(push(t1, t1, 1)).max(push(t2, t2, 2)),
                Mode::Slide(d) => push(n, n - d * t.friction, 0),
            };
            self.scale = self.scale.max(scale);
        }
        (self.rows, self.sides) = (rows, sides);
    }

    /// One row; its sides go to the list.
    fn row(
        &self,
        ends: [u32; 2],
        J: &[Block6; 2],
        D: &[Block6; 2],
        bias: f64,
        force: f64,
        sides: &mut Vec<Side>,
    ) -> Posed {
        let start = sides.len() as u32;
        let (mut u, mut terms) = (bias, bias.abs());
        for side in 0..2 {
            if let Some(link) = self.link(ends[side]) {
                for b in 0..link.blocks {
                    let node = link.first + b;
                    sides.push(Side {
                        node,
                        J: self.part(link, &J[side], b),
                        D: self.part(link, &D[side], b),
                    });
                }
            } else if (ends[side] as usize) < self.nodes.len() {
                sides.push(Side {
                    node: ends[side],
                    J: J[side],
                    D: D[side],
                });
            }
        }
        for side in &sides[start as usize..] {
            // A solve mixes the components of a node: each is as exact as the largest.
            let (free, mut size) = (&self.nodes[side.node as usize].free, 0.0);
            for (j, v) in side.J.iter().zip(free) {
                u += j * v;
                size += j.abs();
            }
            terms += size * free.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        }
        let response = self.coupling(ends, J, J);
        let stiffness = if response > 0.0 {
            1.0 / (PROXIMAL * response)
        } else {
            0.0
        };
        Posed {
            sides: (start, sides.len() as u32),
            bias,
            force,
            stiffness,
            floor: ROUNDING * terms,
            scale: u.abs().max(response * force.abs()),
        }
    }

    /// Factors M + Dᵀ ε⁻¹ J.
    fn factor(&mut self) -> bool {
        let Self {
            rows,
            sides,
            trees,
            tree_mass,
            nodes,
            pattern,
            lu,
            tree_of,
            ..
        } = self;
        let of_rows = rows.iter().filter(|r| r.stiffness > 0.0).flat_map(|r| {
            let sides = &sides[r.sides.0 as usize..r.sides.1 as usize];
            let pairs = move |(k, s): (usize, &Side)| {
                let node = s.node;
                sides[k + 1..].iter().map(move |t| (node, t.node))
            };
            sides.iter().enumerate().flat_map(pairs)
        });
        let of_trees = trees.iter().flat_map(|t| {
            let nodes = t.first..t.first + t.blocks;
            nodes.flat_map(move |i| (i + 1..t.first + t.blocks).map(move |j| (i, j)))
        });
        let edges = of_rows.chain(of_trees).filter(|e| e.0 != e.1);
        pattern.analyse(nodes.len(), edges, u64::MAX);
        lu.clear(pattern);
        self.factorisations += 1;
        for (i, node) in nodes.iter().enumerate() {
            if tree_of.get(i).is_none_or(|t| *t == NO_NODE) {
                lu.add(pattern, i as u32, i as u32, &node.mass_block());
            }
        }
        for tree in trees.iter() {
            let size = 6 * tree.blocks as usize;
            for p in 0..tree.blocks {
                for q in 0..tree.blocks {
                    let at = tree.matrix + 6 * p as usize * size + 6 * q as usize;
                    let block: Block =
                        std::array::from_fn(|k| tree_mass[at + k / 6 * size + k % 6]);
                    lu.add(pattern, tree.first + p, tree.first + q, &block);
                }
            }
        }
        for row in rows.iter().filter(|r| r.stiffness > 0.0) {
            let sides = &sides[row.sides.0 as usize..row.sides.1 as usize];
            for p in sides {
                for q in sides {
                    let block: Block =
                        std::array::from_fn(|k| p.D[k / 6] * (row.stiffness * q.J[k % 6]));
                    lu.add(pattern, p.node, q.node, &block);
                }
            }
        }
        lu.factor(pattern)
    }

    /// Accelerations that the forces of the rows leave.
    fn apply(&mut self) {
        let mut sums = std::mem::take(&mut self.change);
        sums.clear();
        sums.resize(self.nodes.len(), [0.0; 6]);
        for row in &self.rows {
            for side in &self.sides[row.sides.0 as usize..row.sides.1 as usize] {
                for (f, d) in sums[side.node as usize].iter_mut().zip(side.D) {
                    *f += d * row.force;
                }
            }
        }
        self.respond(&mut sums);
        self.result.clear();
        for (node, a) in self.nodes.iter().zip(&sums) {
            self.result
                .push(std::array::from_fn(|k| node.free[k] + a[k]));
        }
        self.change = sums;
    }

    /// Largest |J a + bias| beyond rounding.
    fn residual(&mut self) -> f64 {
        self.residuals.clear();
        let (mut worst, mut wrong): (f64, bool) = (0.0, false);
        for row in &self.rows {
            let mut u = row.bias;
            for side in &self.sides[row.sides.0 as usize..row.sides.1 as usize] {
                u += dot(&side.J, &self.result[side.node as usize]);
            }
            // Rows that move nothing cannot be met, and need not be; nor need those whose force is given.
            if row.stiffness == 0.0 {
                u = 0.0;
            }
            if u.abs() > row.floor {
                worst = worst.max(u.abs());
            }
            wrong |= u.is_nan();
            self.residuals.push(u);
        }
        if wrong { f64::NAN } else { worst }
    }

    /// Whether all residuals are rounding, of factors as well.
    fn is_rounding(&self) -> bool {
        let mut rows = self.rows.iter().zip(&self.residuals);
        rows.all(|(row, u)| u.abs() <= STALLED_ROUNDING * row.floor)
    }

    /// One proximal step: H δa = −Dᵀ r/ε, δf = −(r + J δa)/ε.
    fn improve(&mut self) {
        for f in &mut self.change {
            *f = [0.0; 6];
        }
        for (row, r) in self.rows.iter().zip(&self.residuals) {
            for side in &self.sides[row.sides.0 as usize..row.sides.1 as usize] {
                let f = &mut self.change[side.node as usize];
                for (f, d) in f.iter_mut().zip(side.D) {
                    *f -= d * (row.stiffness * r);
                }
            }
        }
        self.lu.solve(&self.pattern, &mut self.change);
        for (row, r) in self.rows.iter_mut().zip(&self.residuals) {
            let mut u = *r;
            for side in &self.sides[row.sides.0 as usize..row.sides.1 as usize] {
                u += dot(&side.J, &self.change[side.node as usize]);
            }
            row.force -= row.stiffness * u;
        }
    }

    /// Forces of the rows back to what they belong to.
    fn give(&mut self) {
        let mut rows = self.rows.iter();
        let mut next = || rows.next().map_or(0.0, |r| r.force);
        for h in &mut self.holds {
            h.force = next();
        }
        for t in &mut self.touches {
            t.force = match t.mode {
                Mode::Open => [0.0; 3],
                Mode::Stick => [next(), next(), next()],
                Mode::Slide(d) => {
                    let n = next();
                    let [_, t1, t2] = t.frame;
                    let f = -d * (t.friction * n);
                    [n, f.dot(t1), f.dot(t2)]
                }
            };
        }
    }
}
