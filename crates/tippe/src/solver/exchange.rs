//! The engine's island as a problem of the core, and the core's impulses back on its rows.
//!
//! Reads: contact rows, joint blocks, ends.  Writes: a `Problem`; impulses of rows and joints, velocities of ends.
//! Called by: `solver::sweep`, `method::simultaneous::collision`.
//! Source: docs/solver.md, "The core". Letters: B the Jacobian of a link's velocity by its tree's joint velocities.
//!
//! The problem is relative to the present velocities, which contain the present impulses: targets are what is missing, nodes start from rest less what those impulses
//! gave them. So prescribed ends need no node, trees need no joint velocities, and large velocities cost no digits.

#![allow(non_snake_case)]

use super::choose::{Allowance, EXPECTED, POLISH, POLISHED};
use super::contact::ContactRow;
use super::core::Core;
use super::ends::{Bodies, NONE};
use super::joint::JointBlock;
use super::matrix::PRODUCT;
use super::problem::{Budget, Law, Node, Problem};
use crate::dynamics::joint::JointRow;
use crate::math::Vec3;

/// The island as a problem; buffers are kept between solves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    problem: Problem,
    core: Core,
    /// Node of each slot; links have that of their tree.
    nodes: Vec<Option<Node>>,
    /// By tree of the ends: its node.
    trees: Vec<(u32, Node)>,
    /// Scratch: a row by a tree's freedoms, velocities at rest.
    row: Vec<f64>,
    rest: Vec<f64>,
}

/// What a solve by the core came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solved {
    /// Whether the tolerance was met.
    pub met: bool,
    /// Factorisations and multiply–adds it took.
    pub factorisations: u32,
    pub operations: u64,
}

/// Everything one island is solved for.
pub(crate) struct System<'a> {
    pub rows: &'a mut [ContactRow],
    /// Rows that take part.
    pub order: &'a [u32],
    pub joint_blocks: &'a mut [JointBlock],
}

impl System<'_> {
    fn contacts(&self) -> impl Iterator<Item = &ContactRow> + Clone {
        self.order.iter().map(|&i| &self.rows[i as usize])
    }
}

impl Exchange {
    /// Solves an island to a tolerance [m/s] and gives its rows and ends the impulses found; `None` (and nothing changed) if it has rows or trees that the core does not
    /// take, or it is expected to cost more than allowed.
    pub(crate) fn solve(
        &mut self,
        system: &mut System<'_>,
        bodies: &mut Bodies,
        tolerance: f64,
        allowed: &Allowance,
    ) -> Option<Solved> {
        if !self.build(system, bodies) {
            return None;
        }
        let budget = Budget {
            tolerance,
            tolerance_relative: 0.0,
            polish: POLISH.max(POLISHED / tolerance),
            block_products: most_products(allowed),
            factorisations: allowed.factorisations,
            operations: allowed.operations,
            ..Budget::default()
        };
        let outcome = self.core.solve(&self.problem, &budget);
        let solved = Solved {
            met: outcome.met,
            factorisations: outcome.work.factorisations,
            operations: outcome.work.operations,
        };
        if outcome.limit && outcome.work.factorisations == 0 {
            return None;
        }
        super::recorder::offer(&self.problem, outcome.work.operations);
        // What is right already keeps its bits. What was not met is left to the sweeps, unless joints hold it together: the least of the largest residuals is no
        // balance, and kicks a pile that is nearly at rest.
        let better = outcome.met || !system.joint_blocks.is_empty();
        if better && !(outcome.met && outcome.unchanged) {
            give_back(outcome.impulses, system, bodies);
        }
        Some(solved)
    }

    /// The problem that was built last.
    pub(crate) const fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Whether an island can be solved within an allowance.
    pub(crate) fn fits(
        &mut self,
        system: &System<'_>,
        bodies: &Bodies,
        allowed: &Allowance,
    ) -> bool {
        self.build(system, bodies) && self.core.fits(&self.problem, most_products(allowed))
    }

    /// Makes the problem; false if a row or a tree does not fit.
    pub(crate) fn build(&mut self, system: &System<'_>, bodies: &Bodies) -> bool {
        self.problem.clear();
        self.trees.clear();
        self.nodes.clear();
        self.nodes.resize(bodies.len(), None);
        let contacts = system.contacts().map(|row| (row.a, row.b));
        let pairs = contacts.chain(system.joint_blocks.iter().map(|l| (l.a, l.b)));
        for slot in pairs.flat_map(|(a, b)| [a, b]) {
            if !self.add_node(slot, bodies) {
                return false;
            }
        }
        for row in system.contacts() {
            self.add_contact(row, bodies);
        }
        for block in system.joint_blocks.iter() {
            for row in block.scalar_rows() {
                let (a, b) = (&bodies[block.a as usize], &bodies[block.b as usize]);
                let law = Law::Bounded {
                    low: row.low,
                    high: row.high,
                };
                // A soft row, u + λ/g = target, pushes a node of its own with the mass g besides, which moves with λ/g.
                let yielded = row.soft.map_or(0.0, |gain| row.lambda / gain);
                let missing = row.target - row.row.velocity(a, b) - yielded;
                let own = row.soft.map(|gain| self.problem.add_node(&[gain], &[0.0]));
                if own == Some(None) {
                    return false;
                }
                self.problem.add_row(law, missing, row.lambda);
                let (on_a, on_b) = both(&row.row);
                self.add_sides([(block.a, &[on_a]), (block.b, &[on_b])], bodies);
                if let Some(node) = own.flatten() {
                    self.problem.add_side(node, &[1.0]);
                }
            }
        }
        self.problem.remove_start();
        true
    }

    /// A contact relative to the present velocities, and its torques if it has any.
    fn add_contact(&mut self, row: &ContactRow, bodies: &Bodies) {
        let (u, w) = (row.velocity(bodies), row.spin(bodies));
        let resistance = row.resistance();
        let target = [
            row.target_n - u.dot(row.n),
            row.target_t[0] - u.dot(row.t1),
            row.target_t[1] - u.dot(row.t2),
            -w.dot(row.t1),
            -w.dot(row.t2),
            -w.dot(row.n),
        ];
        let (p, m) = (row.frame_impulse(), row.frame_torque());
        let start = [p.x, p.y, p.z, m.x, m.y, m.z];
        let count = if resistance.has_torque() { 6 } else { 3 };
        self.problem.add_contact(resistance, target, start);
        let mut sides = [[[0.0; 6]; 6]; 2];
        for (side, (sign, lever)) in sides.iter_mut().zip([(-1.0, row.r_a), (1.0, row.r_b)]) {
            for (k, d) in [row.n, row.t1, row.t2].into_iter().enumerate() {
                side[k] = flat(d * sign, lever.cross(d) * sign);
            }
            for (k, d) in [row.t1, row.t2, row.n].into_iter().enumerate() {
                side[3 + k] = flat(Vec3::ZERO, d * sign);
            }
        }
        self.add_sides(
            [(row.a, &sides[0][..count]), (row.b, &sides[1][..count])],
            bodies,
        );
    }

    /// The node of a slot; false if it is a link of a tree without a view.
    fn add_node(&mut self, slot: u32, bodies: &Bodies) -> bool {
        if self.nodes[slot as usize].is_some() {
            return true;
        }
        if !bodies.is_link(slot) {
            let body = &bodies[slot as usize];
            if body.inverse_mass > 0.0 {
                let (m, i) = (body.inverse_mass, body.inverse_inertia);
                self.nodes[slot as usize] = self.problem.add_body(m, i, Vec3::ZERO, Vec3::ZERO);
                return self.nodes[slot as usize].is_some();
            }
            return true;
        }
        let Some(view) = bodies.view(slot) else {
            return false;
        };
        let known = self.trees.iter().find(|t| t.0 == view.tree).map(|t| t.1);
        let node = known.or_else(|| {
            self.rest.clear();
            self.rest.resize(view.freedoms, 0.0);
            let node = self.problem.add_node(view.inertia, &self.rest)?;
            self.trees.push((view.tree, node));
            Some(node)
        });
        self.nodes[slot as usize] = node;
        node.is_some()
    }

    /// The last group acts on two slots with the given rows of velocity and angular velocity.
    fn add_sides(&mut self, sides: [(u32, &[[f64; 6]]); 2], bodies: &Bodies) {
        for (slot, rows) in sides {
            let Some(node) = self.nodes[slot as usize] else {
                continue;
            };
            let Some(view) = bodies.view(slot).filter(|v| v.tree != NONE) else {
                self.problem.add_side(node, rows.as_flattened());
                continue;
            };
            // Through the tree: Bᵀ of every row.
            let n = view.freedoms;
            self.row.clear();
            self.row.resize(rows.len() * n, 0.0);
            for (k, row) in rows.iter().enumerate() {
                for i in 0..6 {
                    for j in 0..n {
                        self.row[n * k + j] += row[i] * view.jacobian[n * i + j];
                    }
                }
            }
            self.problem.add_side(node, &self.row);
        }
    }
}

/// Block products that one factorisation may take, so that as many as are expected fit.
fn most_products(allowed: &Allowance) -> u64 {
    allowed
        .block_products
        .min(allowed.operations / (EXPECTED * PRODUCT))
}

/// Gives rows, joints and ends the impulses of the problem that was built of them, by row.
pub(crate) fn give_back(impulses: &[f64], system: &mut System<'_>, bodies: &mut Bodies) {
    let mut next = 0;
    for &i in system.order {
        let row = &mut system.rows[i as usize];
        let at = |k: usize| impulses[next + k];
        let p = Vec3::new(at(0), at(1), at(2));
        let torque = if row.resistance().has_torque() {
            Vec3::new(at(3), at(4), at(5))
        } else {
            Vec3::ZERO
        };
        next += if row.resistance().has_torque() { 6 } else { 3 };
        row.exchange(p, torque, bodies);
    }
    for block in system.joint_blocks.iter_mut() {
        // The same rows in the same order as they were taken.
        let mut places = [0; 16];
        let mut count = 0;
        for row in block.scalar_rows() {
            places[count] = row.place;
            count += 1;
        }
        for &place in &places[..count] {
            block.set(place, impulses[next], bodies);
            next += 1;
        }
    }
}

/// A joint row on its two sides.
fn both(row: &JointRow) -> ([f64; 6], [f64; 6]) {
    (flat(-row.e, row.ang_a), flat(row.e, row.ang_b))
}

fn flat(v: Vec3, w: Vec3) -> [f64; 6] {
    [v.x, v.y, v.z, w.x, w.y, w.z]
}
