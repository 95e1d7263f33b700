//! Points that rub, with friction and load found together: the core's problem over whole cones, for clusters in which the one chases the other.
//!
//! Reads: a `Problem`, a pass.  Writes: impulses and velocities of the system.
//! Called by: `method::simultaneous::impact`.
//! Source: docs/methods/simultaneous.md, "Friction"; the core's law is Coulomb's with the slip against the friction, `solver::core`.

use super::components::Components;
use super::passes::Point;
use super::sets::Set;
use super::system::System;
use crate::solver::core::Core;
use crate::solver::problem::{Budget, Law, Problem};

/// Residual at which the core ends, and the part of it that Newton's method goes on to [1, relative to the largest velocity].
const CONES_EXACT: f64 = 1e-11;
const CONES_POLISH: f64 = 1e-3;

/// Scratch of these solves.
#[derive(Clone, Debug, Default)]
pub(super) struct Cones {
    core: Core,
    part: Problem,
    /// Groups of the whole problem that take part, in the order of `part`.
    groups: Vec<usize>,
}

impl Cones {
    /// Stops the points of a pass from the velocities at hand, with impulses added to those they have; connections that take part hold.
    /// Every addition lies in its cone, so that sums do. False, and nothing changed, if the core does not get there.
    pub(super) fn solve(
        &mut self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &mut System,
    ) -> bool {
        self.gather(problem, points, components, system);
        let budget = Budget {
            tolerance: CONES_EXACT * system.scale,
            tolerance_relative: 0.0,
            polish: CONES_POLISH,
            warm: false,
            ..Budget::default()
        };
        let found = self.core.solve(&self.part, &budget);
        system.matrix.work.factorisations += found.work.factorisations;
        if !found.met || found.contradiction > 0.0 {
            return false;
        }
        for (g, of) in self.part.groups.iter().zip(&self.groups) {
            let row = problem.groups[*of].row;
            let added = &found.impulses[g.row..g.row + g.rows];
            for (p, added) in system.p[row..row + g.rows].iter_mut().zip(added) {
                *p += added;
            }
        }
        system.velocities(problem);
        true
    }

    /// The groups that take part, relative to the velocities and impulses at hand.
    fn gather(
        &mut self,
        problem: &Problem,
        points: &[Point],
        components: &Components,
        system: &System,
    ) {
        self.part.take_nodes_of(problem);
        self.groups.clear();
        let mut target = Vec::new();
        let mut add = |groups: &mut Vec<usize>, group: usize, law: Law| {
            let g = &problem.groups[group];
            target.clear();
            target.extend(system.u[g.row..g.row + g.rows].iter().map(|u| -u));
            self.part.add_group_of(problem, group, law, &target);
            groups.push(group);
        };
        for (i, g) in problem.groups.iter().enumerate() {
            let law = match system.sets[g.row] {
                Set::Any => Law::Equality,
                Set::Between(low, high) => {
                    let (low, high) = (low - system.p[g.row], high - system.p[g.row]);
                    Law::Bounded { low, high }
                }
                Set::Held | Set::Disc(_) | Set::Second => continue,
            };
            if !components.is_point[i] {
                add(&mut self.groups, i, law);
            }
        }
        for &i in &components.several {
            let group = points[i as usize].group;
            let law = match problem.groups[group].law {
                Law::Cone(friction) => Law::Cone(friction),
                Law::Equality | Law::Bounded { .. } => Law::Bounded {
                    low: 0.0,
                    high: f64::INFINITY,
                },
            };
            add(&mut self.groups, group, law);
        }
    }
}
