//! Sweeps over one island: Gauss–Seidel visits, accelerated by conjugate directions; the direct solve where they stall.
//!
//! Reads: parameters.  Writes: impulses of rows and links, solver bodies, work counts.
//! Called by: the methods that step in two halves.
//! Source: [Lecture] "Impulse Update" (accumulated impulses, random order), [Silcowitz10].

use super::Settings;
use super::dense::{self, Dense};
use super::direct::{Direct, System};
use super::link::Link;
use super::row::{Row, SolverBody};
use super::trees::Bodies;
use crate::math::Vec3;
use crate::report::SolverWork;

/// Scratch of the sweeps over one island.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweeps {
    /// Rows to visit, in order.
    order: Vec<u32>,
    /// By place in `order`: the impulse before a sweep, then its change.
    before: Vec<Vec3>,
    /// By place in `order`: the conjugate direction.
    direction: Vec<Vec3>,
    /// By link: the impulses before a sweep, then their change.
    link_before: Vec<[f64; 6]>,
    /// By link: the conjugate direction.
    link_direction: Vec<[f64; 6]>,
    /// Scratch of the direct solve.
    direct: Direct,
    /// Scratch of the solve of islands with trees.
    dense: Dense,
}

impl Sweeps {
    /// Whether an island can be solved directly within a budget.
    pub(crate) fn can_be_direct(
        &mut self,
        rows: &mut [Row],
        links: &mut [Link],
        bodies: &[SolverBody],
        cost_max: u64,
    ) -> bool {
        self.order.clear();
        self.order.extend(0..rows.len() as u32);
        self.direct.prepare(
            &System {
                rows,
                order: &self.order,
                links,
            },
            bodies,
            cost_max,
        )
    }
}

/// Double sweeps after each round of the direct solve: they settle stick, slip and separation.
const SETTLING_SWEEPS: u32 = 2;
/// Double sweeps before the direct solve of an island that is held together by joints.
const LINK_SWEEPS: u32 = 1;
/// Rounds in which sticking contacts at their static bound are let go, within one solve.
const SLIP_ROUNDS: u32 = 4;

/// What one solve of one island works on.
pub(crate) struct Job<'a> {
    pub settings: &'a Settings,
    /// Block products that the direct solve may cost.
    pub cost_max: u64,
    pub rows: &'a mut [Row],
    pub links: &'a mut [Link],
    pub bodies: &'a mut Bodies,
    pub work: &'a mut SolverWork,
}

impl Job<'_> {
    /// Solves the rows that are `active`, and all links; lets sticking contacts that slip at their bound go, and solves again.
    pub(crate) fn converge(&mut self, scratch: &mut Sweeps, active: impl Fn(usize) -> bool) {
        scratch.order.clear();
        scratch.order.extend(
            (0..self.rows.len())
                .filter(|&i| active(i))
                .map(|i| i as u32),
        );
        if scratch.order.is_empty() && self.links.is_empty() {
            return;
        }
        for _ in 0..SLIP_ROUNDS {
            let solved = self.solve(scratch);
            self.work.caps_hit += u32::from(!solved);
            let mut slipped = false;
            for &i in &scratch.order {
                let row = &mut self.rows[i as usize];
                if row.slips(self.bodies) {
                    row.sliding = true;
                    slipped = true;
                }
            }
            if !slipped {
                return;
            }
        }
    }

    /// Sweeps, then the direct solve where they do not arrive; joints go to it at once, since sweeps crawl along chains.
    fn solve(&mut self, scratch: &mut Sweeps) -> bool {
        if self.has_trees(scratch) && self.dense(scratch) {
            return true;
        }
        if self.links.is_empty() {
            return self.sweep(self.settings.sweeps, scratch)
                || self.newton(scratch)
                || self.sweep(self.settings.sweeps_last, scratch);
        }
        self.sweep(LINK_SWEEPS, scratch)
            || self.newton(scratch)
            || self.sweep(self.settings.sweeps, scratch)
            || self.sweep(self.settings.sweeps_last, scratch)
    }

    /// Whether an articulation takes part.
    fn has_trees(&self, scratch: &Sweeps) -> bool {
        let linked = |&i: &u32| self.rows[i as usize].linked;
        self.links.iter().any(|l| l.linked) || scratch.order.iter().any(linked)
    }

    /// All rows at once, where there are not too many.
    fn dense(&mut self, scratch: &mut Sweeps) -> bool {
        let tolerance = self.settings.velocity_tolerance;
        let missed = dense::solve(
            self.rows,
            &scratch.order,
            self.links,
            self.bodies,
            tolerance,
            &mut scratch.dense,
        );
        self.work.newton_steps += u32::from(missed.is_some());
        missed.is_some_and(|missed| missed <= tolerance)
    }

    /// [Silcowitz10]: a sweep maps impulses to impulses; its change r is a preconditioned residual. The Fletcher–Reeves direction
    /// `p ← β p + r`, `β = |r|²/|r_before|²`, carries on what earlier sweeps were doing; where r grows, it starts again. Each sweep ends
    /// inside the cones, so the last one is the answer. Returns whether the tolerance was met.
    fn sweep(&mut self, limit: u32, scratch: &mut Sweeps) -> bool {
        scratch.direction.clear();
        scratch.direction.resize(scratch.order.len(), Vec3::ZERO);
        scratch.link_direction.clear();
        scratch.link_direction.resize(self.links.len(), [0.0; 6]);
        let mut size_before = f64::INFINITY;
        for k in 0..limit {
            if let Some(seed) = self.settings.shuffle_seed {
                Lcg(seed ^ self.work.rows_swept).shuffle(&mut scratch.order);
                scratch.direction.fill(Vec3::ZERO);
            }
            scratch.before.clear();
            scratch.before.extend(
                scratch
                    .order
                    .iter()
                    .map(|&i| self.rows[i as usize].frame_impulse()),
            );
            scratch.link_before.clear();
            scratch
                .link_before
                .extend(self.links.iter().map(|l| l.lambda));
            if self.double_sweep(&scratch.order) <= self.settings.velocity_tolerance {
                return true;
            }
            // The answer stays inside the cones: no extrapolation after the last sweep.
            if k + 1 < limit {
                let size = self.changes(scratch);
                self.extrapolate(size / size_before, scratch);
                size_before = size;
            }
        }
        false
    }

    /// Visits everything forward and backward; returns the largest change of velocity.
    fn double_sweep(&mut self, order: &[u32]) -> f64 {
        let mut change: f64 = 0.0;
        for link in self.links.iter_mut() {
            change = change.max(link.visit(self.bodies));
        }
        for &i in order.iter().chain(order.iter().rev()) {
            change = change.max(self.rows[i as usize].visit(self.bodies));
        }
        for link in self.links.iter_mut().rev() {
            change = change.max(link.visit(self.bodies));
        }
        self.work.sweeps += 2;
        self.work.rows_swept += 2 * (order.len() + self.links.len()) as u64;
        change
    }

    /// Turns the impulses before a sweep into its change; returns the size of that change as energy.
    fn changes(&self, scratch: &mut Sweeps) -> f64 {
        let mut size = 0.0;
        for (before, &i) in scratch.before.iter_mut().zip(&scratch.order) {
            let row = &self.rows[i as usize];
            *before = row.frame_impulse() - *before;
            size += row.energy_norm(*before);
        }
        for (before, link) in scratch.link_before.iter_mut().zip(self.links.iter()) {
            for i in 0..6 {
                before[i] = link.lambda[i] - before[i];
            }
            size += link.energy_norm(before);
        }
        size
    }

    /// Goes on along the conjugate direction by `beta`, or starts it anew where the change grew.
    fn extrapolate(&mut self, beta: f64, scratch: &mut Sweeps) {
        if beta.is_nan() || beta >= 1.0 {
            scratch.direction.clone_from(&scratch.before);
            scratch.link_direction.clone_from(&scratch.link_before);
            return;
        }
        for (k, &i) in scratch.order.iter().enumerate() {
            let step = scratch.direction[k] * beta;
            self.rows[i as usize].extrapolate(step, self.bodies);
            scratch.direction[k] = step + scratch.before[k];
        }
        for (k, link) in self.links.iter_mut().enumerate() {
            let step = scratch.link_direction[k].map(|x| x * beta);
            link.extrapolate(&step, self.bodies);
            for i in 0..6 {
                scratch.link_direction[k][i] = step[i] + scratch.link_before[k][i];
            }
        }
    }

    /// Rounds of the direct solve, each followed by a few sweeps. Returns whether the tolerance was met.
    fn newton(&mut self, scratch: &mut Sweeps) -> bool {
        let order = std::mem::take(&mut scratch.order);
        let mut direct = std::mem::take(&mut scratch.direct);
        let system = System {
            rows: self.rows,
            order: &order,
            links: self.links,
        };
        let mut going = direct.prepare(&system, self.bodies, self.cost_max);
        scratch.order = order;
        let mut solved = false;
        for round in 0..self.settings.direct_rounds {
            if !going || solved {
                break;
            }
            let mut system = System {
                rows: self.rows,
                order: &scratch.order,
                links: self.links,
            };
            going = direct.round(round, &mut system, self.bodies, &mut self.work.newton_steps);
            solved = going && self.sweep(SETTLING_SWEEPS, scratch);
        }
        scratch.direct = direct;
        solved
    }
}

/// The generator of the shuffled order: Knuth's 64-bit multiplier, top bits. Seeded anew for each sweep by the work done so far.
struct Lcg(u64);

impl Lcg {
    fn shuffle(&mut self, order: &mut [u32]) {
        for i in (1..order.len()).rev() {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, ((self.0 >> 33) % (i as u64 + 1)) as usize);
        }
    }
}
