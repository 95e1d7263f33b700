//! Which contacts vanish, stick or slide: the complementarity problem of one moment.
//!
//! Reads: the system with its last modes and forces.  Writes: modes and forces.
//! Called by: `smooth`, `impacts`.
//! Source: [Lecture] "Constructing the LCP" (three conditions); friction inside the problem by its exact cone. The warm path solves the linear
//! system of the last modes and verifies it ([Lecture] last LCP slide); else the solver's core finds modes and forces, and the linear system
//! makes them exact.

use super::system::{Bound, Hold, Mode, NO_NODE, System, Touch};
use crate::math::Vec3;
use crate::solver::core::Core;
use crate::solver::law::length;
use crate::solver::problem::{Budget, Friction, Law, Node as ProblemNode, Problem};

/// Violation of a condition that counts as rounding, relative to the largest |u| without forces [1].
const VERIFIED: f64 = 1e-9;
/// Slip above which a contact of the core's answer slides, relative to the same [1].
const SLIPS: f64 = 1e-6;
/// Size of the slip that stands for a known direction, relative to the same [1].
const KNOWN: f64 = 1e3;
/// Exactness asked of the core, relative to the same [1].
const CORE: f64 = 1e-11;
/// Most rounds of core and verification: contacts that begin to slip get their kinetic coefficient in the second.
const ROUNDS: u32 = 4;

/// Scratch of the core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solver {
    problem: Problem,
    core: Core,
    nodes: Vec<Option<ProblemNode>>,
    /// By node of the system: its block of the problem.
    blocks: Vec<u32>,
    groups: Vec<usize>,
}

/// How a moment was solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Solved {
    /// Worst violation of a condition [unit of u].
    pub violation: f64,
    /// Factorisations of the core.
    pub newton_steps: u32,
    /// Whether the conditions hold to rounding, or to what the core promises.
    pub met: bool,
}

/// Solves with the modes as they are and says whether that is the answer.
pub(crate) fn warm(system: &mut System) -> bool {
    system.solve() && violation(system) <= VERIFIED * system.scale
}

/// Whether the solved system keeps all conditions.
pub(crate) fn holds(system: &System) -> bool {
    violation(system) <= VERIFIED * system.scale
}

/// Finds modes and forces of all contacts; those that slide keep their direction.
pub(crate) fn find(system: &mut System, solver: &mut Solver) -> Solved {
    let mut solved = Solved::default();
    for _ in 0..ROUNDS {
        let changed = solver.run(system, &mut solved);
        let forces: Vec<[f64; 3]> = system.touches.iter().map(|t| t.force).collect();
        let held: Vec<f64> = system.holds.iter().map(|h| h.force).collect();
        if !changed && warm(system) {
            solved.met = true;
            break;
        }
        if !changed {
            // The linear system has no better answer than the core's: keep that.
            for (t, f) in system.touches.iter_mut().zip(forces) {
                t.force = f;
            }
            for (h, f) in system.holds.iter_mut().zip(held) {
                h.force = f;
            }
            system.apply_forces();
            solved.met &= violation(system) <= SLIPS * system.scale;
            break;
        }
    }
    solved.violation = violation(system);
    solved
}

/// Worst violation of the conditions by the forces and accelerations that are there [unit of u].
pub(crate) fn violation(system: &System) -> f64 {
    let mut worst: f64 = 0.0;
    for t in &system.touches {
        let u = system.contact_rate(t, &system.result);
        let k = system.normal_response(t);
        let slip = length(t.force[1], t.force[2]);
        let bad = match t.mode {
            Mode::Open => -u[0],
            Mode::Stick => (-t.force[0] * k).max((slip - t.friction_static * t.force[0]) * k),
            Mode::Slide(_) => -t.force[0] * k,
        };
        worst = worst.max(bad);
    }
    for h in system.holds.iter().filter(|h| h.is_bounded()) {
        let u = system.hold_rate(h, &system.result);
        let bad = match h.bound {
            Bound::Held => (h.low - h.force).max(h.force - h.high) * system.hold_response(h),
            Bound::Low => -u,
            Bound::High => u,
            Bound::Slips => 0.0,
        };
        worst = worst.max(bad);
    }
    worst
}

/// Where the force of a bounded row of the core's answer is.
fn bound_of(h: &Hold, u: f64, response: f64) -> Bound {
    if h.bound == Bound::Slips {
        return Bound::Slips;
    }
    if h.force <= h.low || (h.force - h.low) * response < u {
        Bound::Low
    } else if h.force >= h.high || (h.high - h.force) * response < -u {
        Bound::High
    } else {
        Bound::Held
    }
}

impl Solver {
    /// One call of the core. True if a contact began to slip whose kinetic coefficient differs from its static one.
    pub(crate) fn run(&mut self, system: &mut System, solved: &mut Solved) -> bool {
        self.pose(system);
        let budget = Budget {
            tolerance_relative: CORE,
            ..Budget::default()
        };
        let outcome = self.core.solve(&self.problem, &budget);
        solved.met = outcome.met;
        solved.newton_steps += outcome.work.factorisations;
        for (h, impulse) in system.holds.iter_mut().zip(outcome.impulses) {
            h.force = *impulse;
        }
        system.result.clear();
        for block in &self.blocks {
            system.result.push(outcome.velocities[*block as usize]);
        }
        for i in 0..system.holds.len() {
            let h = system.holds[i];
            if h.is_bounded() {
                let u = system.hold_rate(&h, &system.result);
                system.holds[i].bound = bound_of(&h, u, system.hold_response(&h));
            }
        }
        let mut changed = false;
        for i in 0..system.touches.len() {
            let mut t = system.touches[i];
            let range = self.problem.group_rows(self.groups[i]);
            t.force.copy_from_slice(&outcome.impulses[range]);
            let u = system.contact_rate(&t, &system.result);
            let mode = mode_of(&t, u, system.normal_response(&t), system.scale);
            let begins = matches!(mode, Mode::Slide(_)) && !matches!(t.mode, Mode::Slide(_));
            changed |= begins && t.friction != t.friction_static;
            t.mode = mode;
            system.touches[i] = t;
        }
        changed
    }

    /// The system as a problem of the core.
    fn pose(&mut self, system: &mut System) {
        let p = &mut self.problem;
        p.clear();
        self.nodes.clear();
        self.blocks.clear();
        for n in &system.nodes[..system.bodies()] {
            let [x, y, z, a, b, c] = n.free;
            let (v, w) = (Vec3::new(x, y, z), Vec3::new(a, b, c));
            let node = p.add_body(n.inverse_mass, n.inverse_inertia, v, w);
            self.nodes.push(node);
            self.blocks.push(node.map_or(0, |n| n.block));
        }
        for tree in &system.trees {
            let (first, blocks) = (tree.first as usize, tree.blocks as usize);
            let nodes = &system.nodes[first..first + blocks];
            let free: Vec<f64> = nodes.iter().flat_map(|n| n.free).collect();
            let node = p.add_node(system.mass_of(tree), &free);
            self.nodes.push(node);
            self.nodes.resize(first + blocks, None);
            let block = node.map_or(0, |n| n.block);
            self.blocks.extend((0..tree.blocks).map(|b| block + b));
        }
        system.measure();
        let scale = system.scale;
        for h in &system.holds {
            let (low, high) = match h.bound {
                Bound::Slips => (h.force, h.force),
                _ => (h.low, h.high),
            };
            p.add_row(Law::Bounded { low, high }, -h.bias, h.force);
            for side in 0..2 {
                if let Some((first, row)) = system.on_tree(h.nodes[side], &h.jacobians[side]) {
                    if let Some(Some(node)) = self.nodes.get(first as usize) {
                        p.add_side(*node, &row);
                    }
                } else if let Some(Some(node)) = self.nodes.get(h.nodes[side] as usize) {
                    p.add_side(*node, &h.jacobians[side]);
                }
            }
        }
        self.groups.clear();
        for t in &system.touches {
            let mut target = [-t.bias[0], -t.bias[1], -t.bias[2], 0.0, 0.0, 0.0];
            let mut friction = t.friction_static;
            if let Mode::Slide(d) = t.mode {
                let along = t.along(d * (KNOWN * scale));
                target[1] -= along[1];
                target[2] -= along[2];
                // A regularised direction is shorter than one, and its friction smaller.
                friction = t.friction * d.length().min(1.0);
            }
            let start = [t.force[0], t.force[1], t.force[2], 0.0, 0.0, 0.0];
            let group = p.add_contact(Friction::coulomb(friction), target, start);
            self.groups.push(group);
            for side in 0..2 {
                if t.nodes[side] == NO_NODE {
                    continue;
                }
                let rows = t.frame.map(|e| t.rows(e)[side]);
                let on_tree = rows.map(|row| system.on_tree(t.nodes[side], &row));
                if let [Some((first, n)), Some((_, t1)), Some((_, t2))] = on_tree {
                    if let Some(Some(node)) = self.nodes.get(first as usize) {
                        p.add_side(*node, &[n, t1, t2].concat());
                    }
                } else if let Some(Some(node)) = self.nodes.get(t.nodes[side] as usize) {
                    let sign = if side == 0 { -1.0 } else { 1.0 };
                    p.add_contact_side(*node, sign, t.frame, t.levers[side]);
                }
            }
        }
    }
}

/// The mode that a contact's force and rate belong to.
fn mode_of(t: &Touch, u: [f64; 3], response: f64, scale: f64) -> Mode {
    if t.force[0] * response <= u[0] || t.force[0] <= 0.0 {
        return Mode::Open;
    }
    if let Mode::Slide(d) = t.mode {
        return Mode::Slide(d);
    }
    let slip = t.frame[1] * u[1] + t.frame[2] * u[2];
    let size = slip.length();
    let bound = t.friction_static * t.force[0];
    if t.friction_static == 0.0 {
        return Mode::Slide(Vec3::ZERO);
    }
    if size > SLIPS * scale && length(t.force[1], t.force[2]) > (1.0 - 1e-3) * bound {
        Mode::Slide(slip / size)
    } else {
        Mode::Stick
    }
}
