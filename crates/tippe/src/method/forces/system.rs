//! The system A f + b of one moment: bodies, rows that hold, contacts with their modes; and its solution once the modes are known.
//!
//! Reads: masses, rows, free accelerations (or velocities).  Writes: forces (or impulses) and the accelerations they leave.
//! Called by: `smooth` (accelerations and forces), `impacts` (velocities and impulses), `project` (displacements).
//! Source: [Lecture] "Constructing the LCP"; with the modes known it is a linear system ([Lecture] last LCP slide). A is singular wherever
//! contacts are redundant, so it is never formed: (M + Dᵀ ε⁻¹ J) a = …, by bodies, and steps of the proximal point method until J a + b = 0.
//! Letters: V velocities (v, ω) of a body, J row, D direction of its force (not J where a contact slides), u = J V + bias.

#![allow(non_snake_case)]

use crate::math::block_cholesky::{Block, Block6};
use crate::math::block_lu::BlockLu;
use crate::math::block_pattern::Pattern;
use crate::math::{Mat3, Vec3};

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

/// A body of finite mass.
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

/// A row that holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub nodes: [u32; 2],
    pub jacobians: [Block6; 2],
    pub bias: f64,
    pub force: f64,
    /// Whose row it is, and which of its rows.
    pub owner: u32,
    pub row: u32,
}

/// One scalar row of the linear system.
#[derive(Clone, Copy, Debug)]
struct Row {
    nodes: [u32; 2],
    J: [Block6; 2],
    D: [Block6; 2],
    bias: f64,
    force: f64,
    /// 1/ε
    stiffness: f64,
}

/// One moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    pub nodes: Vec<Node>,
    pub holds: Vec<Hold>,
    pub touches: Vec<Touch>,
    /// By node: accelerations with the forces. Written by `solve`.
    pub result: Vec<Block6>,
    /// Largest |u| of the rows without forces: what residuals are measured by. Written by `solve`.
    pub scale: f64,
    /// Factorisations so far.
    pub factorisations: u32,
    rows: Vec<Row>,
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

/// u of a contact at given motions of the nodes.
pub(crate) fn contact_rate(touch: &Touch, V: &[Block6]) -> [f64; 3] {
    let mut u = touch.bias;
    for (u, e) in u.iter_mut().zip(touch.frame) {
        let rows = touch.rows(e);
        for side in 0..2 {
            if let Some(v) = V.get(touch.nodes[side] as usize) {
                *u += dot(&rows[side], v);
            }
        }
    }
    u
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
    fn rows(&self, e: Vec3) -> [Block6; 2] {
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
    }

    /// u of a contact at given motions of the nodes.
    pub(crate) fn contact_rate(&self, touch: &Touch, V: &[Block6]) -> [f64; 3] {
        contact_rate(touch, V)
    }

    /// Response of a contact along its normal, u_n for a unit force [1/kg].
    pub(crate) fn normal_response(&self, touch: &Touch) -> f64 {
        let rows = touch.rows(touch.frame[0]);
        let one = |side: usize| {
            let node = self.nodes.get(touch.nodes[side] as usize);
            node.map_or(0.0, |n| dot(&rows[side], &n.response(&rows[side])))
        };
        one(0) + one(1)
    }

    /// Response matrix of a contact along its frame, [n, t1, t2].
    pub(crate) fn response(&self, touch: &Touch) -> Mat3 {
        let rows = touch.frame.map(|e| touch.rows(e));
        let entry = |i: usize, j: usize| -> f64 {
            let one = |side: usize| {
                let node = self.nodes.get(touch.nodes[side] as usize);
                node.map_or(0.0, |n| dot(&rows[i][side], &n.response(&rows[j][side])))
            };
            one(0) + one(1)
        };
        let column = |j: usize| Vec3::new(entry(0, j), entry(1, j), entry(2, j));
        Mat3::from_cols(column(0), column(1), column(2))
    }

    /// Measures the largest |u| without forces, over all rows of all contacts.
    pub(crate) fn measure(&mut self) {
        let mut scale: f64 = 0.0;
        for h in &self.holds {
            let mut u = h.bias;
            for side in 0..2 {
                if let Some(n) = self.nodes.get(h.nodes[side] as usize) {
                    u += dot(&h.jacobians[side], &n.free);
                }
            }
            scale = scale.max(u.abs());
        }
        let free: Vec<Block6> = self.nodes.iter().map(|n| n.free).collect();
        for t in &self.touches {
            let u = self.contact_rate(t, &free);
            scale = u.iter().fold(scale, |s, u| s.max(u.abs()));
        }
        self.scale = scale;
    }

    /// Motion that the forces of holds and contacts leave, whatever their modes.
    pub(crate) fn apply_forces(&mut self) {
        let mut sums = vec![[0.0; 6]; self.nodes.len()];
        let mut push = |node: u32, row: &Block6, f: f64| {
            if let Some(sum) = sums.get_mut(node as usize) {
                for (s, r) in sum.iter_mut().zip(row) {
                    *s += r * f;
                }
            }
        };
        for h in &self.holds {
            for side in 0..2 {
                push(h.nodes[side], &h.jacobians[side], h.force);
            }
        }
        for t in &self.touches {
            let rows = t.rows(t.vector());
            for side in 0..2 {
                push(t.nodes[side], &rows[side], 1.0);
            }
        }
        self.result.clear();
        for (node, f) in self.nodes.iter().zip(&sums) {
            let a = node.response(f);
            self.result
                .push(std::array::from_fn(|k| node.free[k] + a[k]));
        }
    }

    /// Solves for the forces with the modes as they are, starting from the forces that are there. False if there is no answer.
    pub(crate) fn solve(&mut self) -> bool {
        self.make_rows();
        if !self.factor() {
            return false;
        }
        let mut last = f64::INFINITY;
        for _ in 0..PROXIMAL_MAX {
            self.apply();
            let worst = self.residual();
            if worst <= SOLVED * self.scale {
                break;
            }
            if worst.is_nan() || worst >= 0.5 * last {
                if worst <= STALLED_SOLVED * self.scale {
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
        self.residual() <= STALLED_SOLVED * self.scale
    }

    /// Rows of everything that carries force.
    fn make_rows(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        for h in &self.holds {
            rows.push(Row {
                nodes: h.nodes,
                J: h.jacobians,
                D: h.jacobians,
                bias: h.bias,
                force: h.force,
                stiffness: 0.0,
            });
        }
        for t in &self.touches {
            let [n, t1, t2] = t.frame;
            let row = |e: Vec3, d: Vec3, k: usize| Row {
                nodes: t.nodes,
                J: t.rows(e),
                D: t.rows(d),
                bias: t.bias[k],
                force: t.force[k],
                stiffness: 0.0,
            };
            match t.mode {
                Mode::Open => {}
                Mode::Stick => rows.extend([row(n, n, 0), row(t1, t1, 1), row(t2, t2, 2)]),
                Mode::Slide(d) => rows.push(row(n, n - d * t.friction, 0)),
            }
        }
        self.scale = 0.0;
        for row in &mut rows {
            let (mut response, mut u) = (0.0, row.bias);
            for side in 0..2 {
                if let Some(node) = self.nodes.get(row.nodes[side] as usize) {
                    response += dot(&row.J[side], &node.response(&row.J[side]));
                    u += dot(&row.J[side], &node.free);
                }
            }
            row.stiffness = if response > 0.0 {
                1.0 / (PROXIMAL * response)
            } else {
                0.0
            };
            self.scale = self.scale.max(u.abs()).max(response * row.force.abs());
        }
        self.rows = rows;
    }

    /// Factors M + Dᵀ ε⁻¹ J.
    fn factor(&mut self) -> bool {
        let edges = self.rows.iter().map(|r| (r.nodes[0], r.nodes[1]));
        let edges = edges.filter(|e| e.0 != NO_NODE && e.1 != NO_NODE && e.0 != e.1);
        self.pattern.analyse(self.nodes.len(), edges, u64::MAX);
        self.lu.clear(&self.pattern);
        self.factorisations += 1;
        for (i, node) in self.nodes.iter().enumerate() {
            let i = i as u32;
            self.lu.add(&self.pattern, i, i, &node.mass_block());
        }
        for row in &self.rows {
            for p in 0..2 {
                for q in 0..2 {
                    let (i, j) = (row.nodes[p], row.nodes[q]);
                    if i == NO_NODE || j == NO_NODE {
                        continue;
                    }
                    let block: Block = std::array::from_fn(|k| {
                        row.D[p][k / 6] * (row.stiffness * row.J[q][k % 6])
                    });
                    self.lu.add(&self.pattern, i, j, &block);
                }
            }
        }
        self.lu.factor(&self.pattern)
    }

    /// Accelerations that the forces of the rows leave.
    fn apply(&mut self) {
        self.change.clear();
        self.change.resize(self.nodes.len(), [0.0; 6]);
        for row in &self.rows {
            for side in 0..2 {
                if let Some(f) = self.change.get_mut(row.nodes[side] as usize) {
                    for (f, d) in f.iter_mut().zip(row.D[side]) {
                        *f += d * row.force;
                    }
                }
            }
        }
        self.result.clear();
        for (node, f) in self.nodes.iter().zip(&self.change) {
            let a = node.response(f);
            self.result
                .push(std::array::from_fn(|k| node.free[k] + a[k]));
        }
    }

    /// Largest |J a + bias|.
    fn residual(&mut self) -> f64 {
        self.residuals.clear();
        let mut worst: f64 = 0.0;
        for row in &self.rows {
            let mut u = row.bias;
            for side in 0..2 {
                if let Some(a) = self.result.get(row.nodes[side] as usize) {
                    u += dot(&row.J[side], a);
                }
            }
            // Rows that move nothing cannot be met, and need not be.
            if row.stiffness == 0.0 {
                u = 0.0;
            }
            worst = worst.max(u.abs());
            self.residuals.push(u);
        }
        worst
    }

    /// One proximal step: H δa = −Dᵀ r/ε, δf = −(r + J δa)/ε.
    fn improve(&mut self) {
        for f in &mut self.change {
            *f = [0.0; 6];
        }
        for (row, r) in self.rows.iter().zip(&self.residuals) {
            for side in 0..2 {
                if let Some(f) = self.change.get_mut(row.nodes[side] as usize) {
                    for (f, d) in f.iter_mut().zip(row.D[side]) {
                        *f -= d * (row.stiffness * r);
                    }
                }
            }
        }
        self.lu.solve(&self.pattern, &mut self.change);
        for (row, r) in self.rows.iter_mut().zip(&self.residuals) {
            let mut u = *r;
            for side in 0..2 {
                if let Some(a) = self.change.get(row.nodes[side] as usize) {
                    u += dot(&row.J[side], a);
                }
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
