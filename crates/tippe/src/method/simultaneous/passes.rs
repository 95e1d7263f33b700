//! The paper's loop: all points that approach are answered together, in passes, until none approaches.
//!
//! Reads: a `Problem`, its contact points.  Writes: impulses, velocities, what it took.
//! Called by: `method::simultaneous::collision`, tests.
//! Source: [Ermolin] §3.2, with the corrections of docs/methods/simultaneous.md: approach is u·n < 0, restitution cannot make energy, a set of points that
//! comes back again and again ends in one solve without restitution.

use super::components::Components;
use super::impact::Impacts;
use super::sets::Set;
use super::system::{Solved, System};
use crate::material::Surface;
use crate::math::block_cholesky::Block6;
use crate::solver::problem::{Law, Problem};

/// Times that a set of points may come back while it approaches hardly slower, before the cluster counts as cycling.
const RETURNS_MAX: u32 = 3;
/// Passes in which friction and load may chase each other to the limit, before the cluster counts as cycling too.
const CHASES_MAX: u32 = 3;
/// Part of the earlier speed of approach under which a set that comes back makes progress [1].
const PROGRESS: f64 = 0.95;

/// One contact point of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its group in the problem: the first row is the normal, tangents and torques follow if it has friction.
    pub group: usize,
    /// Restitution and impact law.
    pub surface: Surface,
    /// Speed of approach above which it collides [m/s].
    pub threshold: f64,
}

/// What a resolution may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Most passes [1].
    pub passes: u32,
    /// Most block products of one factorisation [1].
    pub block_products: u64,
    /// The paper's own loop: only approaching points, no closure for points without restitution, no end of cycles but the cap.
    pub literal: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            passes: 1000,
            block_products: u64::MAX,
            literal: false,
        }
    }
}

/// What a resolution came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resolution {
    /// Passes over approaching points.
    pub passes: u32,
    /// Points of the first pass.
    pub first: usize,
    /// Whether passes came back to where they were, so that one solve without restitution ended them.
    pub cycled: bool,
    /// Whether they ended at their limit, the same way.
    pub capped: bool,
    /// Least factor on restitution that keeps energy from being made [1].
    pub guard: f64,
    /// Worst of all solves.
    pub solved: Solved,
    /// Matrices factored.
    pub factorisations: u32,
}

/// The resolution of clusters with its scratch; buffers are kept.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    pub(super) system: System,
    pub(super) components: Components,
    pub(super) impacts: Impacts,
    /// By row: impulses of all passes so far.
    total: Vec<f64>,
    /// Points that approach, by place in the list of points.
    approaching: Vec<u32>,
    /// Points that no impulse can stop.
    squeezed: Vec<bool>,
    /// Sets of points answered so far: their mark, how often, fastest approach at first.
    seen: Vec<(u64, u32, f64)>,
    /// Passes in which friction and load chased each other to the limit.
    chases: u32,
    velocities: Vec<Block6>,
}

impl Clusters {
    /// Answers the points of a problem until none approaches. `None`, and no impulses, if a factorisation costs too much.
    pub fn resolve(
        &mut self,
        problem: &Problem,
        points: &[Point],
        limits: &Limits,
    ) -> Option<Resolution> {
        if !self.begin(problem, points, limits) {
            return None;
        }
        let mut found = Resolution {
            guard: 1.0,
            ..Resolution::default()
        };
        if limits.literal {
            self.connect(problem, points, &mut found);
        }
        loop {
            let speed = self.find(problem, points);
            if self.approaching.is_empty() {
                break;
            }
            if found.passes == 0 {
                found.first = self.approaching.len();
            }
            found.cycled = !limits.literal && (self.returns(speed) || self.chases >= CHASES_MAX);
            found.capped = found.passes >= limits.passes;
            if found.cycled || found.capped {
                self.close(problem, points, &mut found);
                break;
            }
            found.passes += 1;
            self.pass(problem, points, limits.literal, &mut found);
            self.chases += u32::from(self.impacts.worst.capped);
        }
        self.end(problem, &mut found);
        Some(found)
    }

    /// By row: impulses of the last resolution [N·s], [N·m·s].
    #[must_use]
    pub fn impulses(&self) -> &[f64] {
        &self.total
    }

    /// By row: velocities relative to targets after the last resolution [m/s], [rad/s].
    #[must_use]
    pub fn relative_velocities(&self) -> &[f64] {
        &self.system.u
    }

    /// By block of six freedoms: velocities after the last resolution.
    #[must_use]
    pub fn velocities(&self) -> &[Block6] {
        &self.velocities
    }

    fn begin(&mut self, problem: &Problem, points: &[Point], limits: &Limits) -> bool {
        self.total.clear();
        self.total.resize(problem.rows(), 0.0);
        self.squeezed.clear();
        self.squeezed.resize(points.len(), false);
        self.seen.clear();
        self.chases = 0;
        if !self.system.prepare(problem, limits.block_products) {
            return false;
        }
        self.components.begin(problem, points);
        let contacts = &self.components.is_point;
        self.system.stiffen(problem, |g| contacts[g]);
        true
    }

    /// A clean start: connections alone, before any point.
    fn connect(&mut self, problem: &Problem, points: &[Point], found: &mut Resolution) {
        self.approaching.clear();
        self.components.group_all(problem, &[]);
        let (system, impacts) = (&mut self.system, &mut self.impacts);
        impacts.begin(system);
        impacts.compress(problem, points, &self.components, system);
        self.book(problem, points, found);
    }

    /// SR-6: lists the points that approach; returns the largest speed.
    fn find(&mut self, problem: &Problem, points: &[Point]) -> f64 {
        self.approaching.clear();
        let mut speed = 0.0_f64;
        for (i, point) in points.iter().enumerate() {
            let row = problem.groups[point.group].row;
            let u = self.system.u[row];
            if u < -point.threshold && self.system.response[row] > 0.0 && !self.squeezed[i] {
                self.approaching.push(i as u32);
                speed = speed.max(-u);
            }
        }
        speed
    }

    /// Whether the set at hand has come back too often without getting slower.
    fn returns(&mut self, speed: f64) -> bool {
        let mark = self
            .approaching
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, &i| {
                (h ^ u64::from(i)).wrapping_mul(0x0100_0000_01b3)
            });
        let Some(seen) = self.seen.iter_mut().find(|s| s.0 == mark) else {
            self.seen.push((mark, 1, speed));
            return false;
        };
        if speed < PROGRESS * seen.2 {
            *seen = (mark, 1, speed);
            return false;
        }
        seen.1 += 1;
        seen.1 > RETURNS_MAX
    }

    /// One pass: lone points by the impact law of their pair, all others together in two phases.
    fn pass(&mut self, problem: &Problem, points: &[Point], literal: bool, found: &mut Resolution) {
        let e = |i: u32| points[i as usize].surface.restitution;
        // Nothing rebounds: whatever else has no restitution closes with it, at once instead of in a geometric tail.
        if !literal && self.approaching.iter().all(|&i| e(i) == 0.0) {
            self.approaching.clear();
            let closes = |&i: &u32| e(i) == 0.0 && !self.squeezed[i as usize];
            self.approaching
                .extend((0..points.len() as u32).filter(closes));
        }
        self.components.group(problem, points, &self.approaching);
        let Self {
            system,
            components,
            impacts,
            ..
        } = self;
        impacts.begin(system);
        if !literal {
            impacts.alone(problem, points, components, system);
        }
        impacts.compress(problem, points, components, system);
        impacts.restitute(problem, points, components, system, literal);
        if !literal {
            impacts.close(problem, points, components, system);
            impacts.shorten(problem, components, system);
        }
        self.book(problem, points, found);
    }

    /// SR-15: one solve without restitution over all points and connections.
    fn close(&mut self, problem: &Problem, points: &[Point], found: &mut Resolution) {
        self.approaching.clear();
        self.approaching.extend(0..points.len() as u32);
        self.components.group_all(problem, points);
        let (system, impacts) = (&mut self.system, &mut self.impacts);
        impacts.begin(system);
        impacts.compress(problem, points, &self.components, system);
        impacts.shorten(problem, &self.components, system);
        self.book(problem, points, found);
    }

    /// Adds the impulses of the pass to the total; the next one starts from its velocities.
    fn book(&mut self, problem: &Problem, points: &[Point], found: &mut Resolution) {
        let worst = self.impacts.worst;
        found.guard = found.guard.min(self.impacts.guard);
        found.solved.residual = found.solved.residual.max(worst.residual);
        found.solved.contradiction = found.solved.contradiction.max(worst.contradiction);
        found.solved.capped |= worst.capped;
        let system = &mut self.system;
        for (total, p) in self.total.iter_mut().zip(&system.p) {
            *total += p;
        }
        if worst.contradiction > 0.0 {
            for &i in &self.approaching {
                let row = problem.groups[points[i as usize].group].row;
                self.squeezed[i as usize] |= system.u[row] < -points[i as usize].threshold;
            }
        }
        system.base.copy_from_slice(&system.u);
        system.p.fill(0.0);
    }

    /// Velocities of the nodes with all impulses.
    fn end(&mut self, problem: &Problem, found: &mut Resolution) {
        let matrix = &mut self.system.matrix;
        self.velocities.clear();
        self.velocities.resize(problem.blocks(), [0.0; 6]);
        matrix.transposed_times(problem, &self.total, &mut self.velocities);
        matrix.inverse_times(problem, &mut self.velocities);
        for (v, free) in self
            .velocities
            .iter_mut()
            .flatten()
            .zip(problem.free.iter().flatten())
        {
            *v += free;
        }
        found.factorisations = matrix.work.factorisations;
    }
}

/// The set of a connection's row.
pub(super) const fn connection(law: &Law) -> Set {
    match *law {
        Law::Bounded { low, high } => Set::Between(low, high),
        Law::Equality | Law::Cone(_) => Set::Any,
    }
}
