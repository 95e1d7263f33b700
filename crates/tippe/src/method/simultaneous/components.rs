//! Which approaching points and connections act on each other: connected through nodes of finite mass.
//!
//! Reads: a `Problem`, points that approach.  Writes: components; whether a point is alone in its component.
//! Called by: `method::simultaneous::passes`.
//! Source: docs/methods/contract.md: a contact alone in its cluster follows the impact law.

use super::passes::Point;
use crate::solver::problem::{NONE, Problem};

/// No component.
pub(super) const APART: u32 = u32::MAX;

/// Components of one pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Components {
    /// By group: whether it is a contact point.
    pub is_point: Vec<bool>,
    /// By group: its component in this pass, or `APART` if it takes no part.
    pub of_group: Vec<u32>,
    /// By component: its points, and whether connections belong to it.
    pub points: Vec<u32>,
    pub jointed: Vec<bool>,
    /// Points of this pass that are alone, and those that are not.
    pub lone: Vec<u32>,
    pub several: Vec<u32>,
    /// By block: parent in the forest of connected blocks; by root: its component.
    parent: Vec<u32>,
    number: Vec<u32>,
}

impl Components {
    /// Marks which groups are points.
    pub(super) fn begin(&mut self, problem: &Problem, points: &[Point]) {
        self.is_point.clear();
        self.is_point.resize(problem.groups(), false);
        for point in points {
            self.is_point[point.group] = true;
        }
    }

    /// All points and connections as one component.
    pub(super) fn group_all(&mut self, problem: &Problem, points: &[Point]) {
        self.of_group.clear();
        self.of_group.resize(problem.groups(), 0);
        self.points.clear();
        self.points.push(points.len() as u32);
        self.jointed.clear();
        self.jointed.push(self.is_point.iter().any(|p| !p));
        self.lone.clear();
        self.several.clear();
        self.several.extend(0..points.len() as u32);
    }

    /// Groups the points of a pass and all connections.
    pub(super) fn group(&mut self, problem: &Problem, points: &[Point], pass: &[u32]) {
        self.parent.clear();
        self.parent.extend(0..problem.blocks() as u32);
        for tree in &problem.trees {
            for block in tree.first + 1..tree.first + tree.blocks {
                self.join(tree.first as u32, block as u32);
            }
        }
        self.of_group.clear();
        self.of_group.resize(problem.groups(), APART);
        for &i in pass {
            self.join_sides(problem, points[i as usize].group);
        }
        for g in 0..problem.groups() {
            if !self.is_point[g] {
                self.join_sides(problem, g);
            }
        }
        self.number.clear();
        self.number.resize(problem.blocks(), NONE);
        self.points.clear();
        for &i in pass {
            let g = points[i as usize].group;
            let Some(component) = self.component(problem, g, true) else {
                continue;
            };
            self.points[component as usize] += 1;
            self.of_group[g] = component;
        }
        self.jointed.clear();
        self.jointed.resize(self.points.len(), false);
        for g in 0..problem.groups() {
            if self.is_point[g] {
                continue;
            }
            if let Some(component) = self.component(problem, g, false) {
                self.of_group[g] = component;
                self.jointed[component as usize] = true;
            }
        }
        self.lone.clear();
        self.several.clear();
        for &i in pass {
            match self.of_group[points[i as usize].group] {
                APART => {}
                c if self.points[c as usize] == 1 => self.lone.push(i),
                _ => self.several.push(i),
            }
        }
    }

    /// A lone point that has no impact law joins the others.
    pub(super) fn unlone(&mut self, point: u32) {
        self.several.push(point);
    }

    /// The component of a group by its first side; a new one if allowed.
    fn component(&mut self, problem: &Problem, group: usize, new: bool) -> Option<u32> {
        let side = problem.sides[problem.groups[group].sides.clone()].first()?;
        let root = self.root(side.block);
        if self.number[root as usize] == NONE && new {
            self.number[root as usize] = self.points.len() as u32;
            self.points.push(0);
        }
        Some(self.number[root as usize]).filter(|&c| c != NONE)
    }

    fn join_sides(&mut self, problem: &Problem, group: usize) {
        let sides = &problem.sides[problem.groups[group].sides.clone()];
        for pair in sides.windows(2) {
            self.join(pair[0].block, pair[1].block);
        }
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    fn root(&mut self, mut block: u32) -> u32 {
        while self.parent[block as usize] != block {
            let up = self.parent[self.parent[block as usize] as usize];
            self.parent[block as usize] = up;
            block = up;
        }
        block
    }
}
