//! Sweeps over one island: Gauss–Seidel visits, accelerated by conjugate directions; the core where they stall.
//!
//! Reads: parameters.  Writes: impulses of rows and links, solver bodies, work counts.
//! Called by: the methods that step in two stages.
//! Source: [Lecture] "Impulse Update" (accumulated impulses, random order), [Silcowitz10].

use crate::fault::{self, Fault};
use crate::interrupt;
use crate::math::Vec3;
use crate::report::SolverWork;
use crate::solver::choose::{
    Allowance, FEW_CONTACTS, GROWTHS_MAX, JOINT_SWEEPS, RIGHT, SLIP_ROUNDS, Settings,
};
use crate::solver::contact::ContactRow;
use crate::solver::dense::{self, Dense};
use crate::solver::ends::Bodies;
use crate::solver::exchange::{Exchange, System};
use crate::solver::joint::JointBlock;
use crate::solver::packed::Packed;

/// Scratch of the sweeps over one island.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweeps {
    /// Rows to visit, in order.
    order: Vec<u32>,
    /// Sweeps that the solve under way may still make where the core does not help.
    left: u32,
    /// By place in `order`: the impulse before a sweep, then its change.
    before: Vec<Vec3>,
    /// By place in `order`: the conjugate direction.
    direction: Vec<Vec3>,
    /// By link: the impulses before a sweep, then their change.
    joint_before: Vec<[f64; 6]>,
    /// By link: the conjugate direction.
    joint_direction: Vec<[f64; 6]>,
    /// The same rows, those that press or are about to, and the others.
    pressing: Vec<u32>,
    idle: Vec<u32>,
    /// Rows that the core is asked about, and those that only come near.
    asked: Vec<u32>,
    spared: Vec<u32>,
    /// Whether the rows of the solve under way are packed.
    is_packed: bool,
    /// Scratch of sweeps over many contacts.
    pub packed: Packed,
    /// Scratch of the core.
    exchange: Exchange,
    /// Scratch of the solve of islands with trees.
    dense: Dense,
}

impl Sweeps {
    /// Whether an island can be solved by the core within an allowance.
    pub(crate) fn can_be_direct(
        &mut self,
        rows: &mut [ContactRow],
        joint_blocks: &mut [JointBlock],
        bodies: &Bodies,
        allowed: &Allowance,
    ) -> bool {
        self.order.clear();
        self.order.extend(0..rows.len() as u32);
        let system = System {
            rows,
            order: &self.order,
            joint_blocks,
        };
        self.exchange.fits(&system, bodies, allowed)
    }
}

/// What one solve of one island works on.
pub(crate) struct Job<'a> {
    pub settings: &'a Settings,
    /// What the core may cost, what it has cost so far [multiply–adds], and whether it ended without an answer.
    pub core: Allowance,
    pub spent: u64,
    pub failed: bool,
    /// Whether the impulses it starts from are nearly right.
    pub near: bool,
    pub rows: &'a mut [ContactRow],
    pub joint_blocks: &'a mut [JointBlock],
    pub bodies: &'a mut Bodies,
    pub work: &'a mut SolverWork,
}

impl Job<'_> {
    /// Solves the rows that are `active`, and all links; lets sticking contacts that slip at their bound go, and solves again.
    pub(crate) fn converge(&mut self, scratch: &mut Sweeps, active: impl Fn(usize) -> bool) {
        scratch.is_packed = false;
        self.converge_again(scratch, active);
    }

    /// The same for the rows that were solved last, of which only aims, bounds and impulses have changed.
    pub(crate) fn converge_again(&mut self, scratch: &mut Sweeps, active: impl Fn(usize) -> bool) {
        scratch.order.clear();
        scratch.order.extend(
            (0..self.rows.len())
                .filter(|&i| active(i) && !self.rows[i].is_immovable())
                .map(|i| i as u32),
        );
        if scratch.order.is_empty() && self.joint_blocks.is_empty() {
            return;
        }
        scratch.left = self.settings.sweeps_last;
        for _ in 0..SLIP_ROUNDS {
            let solved = self.solve(scratch);
            if !solved {
                self.work.cap_measured();
            }
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

    /// Nothing where the impulses it starts from are right; sweeps, then the core where they do not arrive. The core comes
    /// first where little has changed and it is cheap, and for joints, since sweeps crawl along chains and towers.
    fn solve(&mut self, scratch: &mut Sweeps) -> bool {
        if !self.has_trees(scratch) {
            return self.solve_sparse(true, scratch);
        }
        // Trees with few contacts, and those that stay in each other's way, are solved all at once.
        if scratch.order.len() > FEW_CONTACTS {
            return self.solve_sparse(true, scratch) || self.dense(scratch) == Some(true);
        }
        match self.dense(scratch) {
            Some(true) => true,
            // It has swept and stalled: a few sweeps more settle stick and slip, many would only crawl.
            Some(false) => {
                self.sweep(self.settings.sweeps, scratch) <= self.settings.velocity_tolerance
            }
            None => self.solve_sparse(false, scratch),
        }
    }

    /// Sweeps, and the direct solve if it is `allowed`.
    fn solve_sparse(&mut self, allowed: bool, scratch: &mut Sweeps) -> bool {
        let tolerance = self.settings.velocity_tolerance;
        let direct_first =
            self.near && self.settings.shuffle_seed.is_none() && !self.core.is_none();
        if direct_first {
            if self.single_sweep(&scratch.order) <= RIGHT * tolerance {
                return true;
            }
            if allowed && self.solve_core(scratch) {
                return true;
            }
        }
        if self.joint_blocks.is_empty() {
            return self.sweep(self.settings.sweeps, scratch) <= tolerance
                || (!direct_first && allowed && self.solve_core(scratch))
                || self.sweep_last(scratch) <= tolerance;
        }
        self.sweep(JOINT_SWEEPS, scratch) <= tolerance
            || (!direct_first && allowed && self.solve_core(scratch))
            || self.sweep(self.settings.sweeps, scratch) <= tolerance
            // Where the core has failed, sweeps would only crawl.
            || (!self.failed && self.sweep_last(scratch) <= tolerance)
    }

    /// The many sweeps where nothing else has helped: all rounds of letting contacts go share them.
    fn sweep_last(&mut self, scratch: &mut Sweeps) -> f64 {
        let before = self.work.sweeps;
        let change = self.sweep(scratch.left, scratch);
        scratch.left = scratch.left.saturating_sub((self.work.sweeps - before) / 2);
        change
    }

    /// Whether an articulation takes part.
    fn has_trees(&self, scratch: &Sweeps) -> bool {
        let linked = |&i: &u32| self.rows[i as usize].linked;
        self.joint_blocks.iter().any(|l| l.linked) || scratch.order.iter().any(linked)
    }

    /// All rows at once, where there are not too many; whether that met the tolerance.
    fn dense(&mut self, scratch: &mut Sweeps) -> Option<bool> {
        let tolerance = self.settings.velocity_tolerance;
        let missed = dense::solve(
            self.rows,
            &scratch.order,
            self.joint_blocks,
            self.bodies,
            tolerance,
            &mut scratch.dense,
        );
        self.work.newton_steps += u32::from(missed.is_some());
        if missed.is_some() {
            let held: usize = self.joint_blocks.iter().map(|l| l.held.count).sum();
            let n = (3 * scratch.order.len() + held) as u64;
            self.work.operations += n * n * n / 3;
        }
        missed.map(|missed| missed <= tolerance)
    }

    /// [Silcowitz10]: a sweep maps impulses to impulses; its change r is a preconditioned residual. The Fletcher–Reeves direction
    /// `p ← β p + r`, `β = |r|²/|r_before|²`, carries on what earlier sweeps were doing; where r grows, it starts again. Each sweep ends
    /// inside the cones, so the last one is the answer. Returns the change that the last one made.
    fn sweep(&mut self, limit: u32, scratch: &mut Sweeps) -> f64 {
        if self.joint_blocks.is_empty()
            && self.settings.shuffle_seed.is_none()
            && Packed::is_worth(self.rows, &scratch.order, limit)
        {
            return self.packed_sweep(limit, scratch);
        }
        scratch.direction.clear();
        scratch.direction.resize(scratch.order.len(), Vec3::ZERO);
        scratch.joint_direction.clear();
        scratch
            .joint_direction
            .resize(self.joint_blocks.len(), [0.0; 6]);
        let mut size_before = f64::INFINITY;
        let mut change = f64::INFINITY;
        for k in 0..limit {
            if interrupt::asked() {
                break;
            }
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
            scratch.joint_before.clear();
            scratch
                .joint_before
                .extend(self.joint_blocks.iter().map(|l| l.lambda));
            change = self.double_sweep(&scratch.order);
            if change <= self.settings.velocity_tolerance {
                break;
            }
            // The answer stays inside the cones: no extrapolation after the last sweep.
            if k + 1 < limit {
                let size = self.changes(scratch);
                self.extrapolate(size / size_before, scratch);
                size_before = size;
            }
        }
        change
    }

    /// The same, eight contacts at once.
    fn packed_sweep(&mut self, limit: u32, scratch: &mut Sweeps) -> f64 {
        let Sweeps {
            order,
            pressing,
            idle,
            is_packed,
            packed,
            ..
        } = scratch;
        if *is_packed {
            packed.pack_again(self.rows, self.bodies);
        } else {
            // Contacts that nothing presses together come last, so that they fill batches of their own, which sleep.
            pressing.clear();
            idle.clear();
            for &i in order.iter() {
                if self.rows[i as usize].is_apart(self.bodies) {
                    idle.push(i);
                } else {
                    pressing.push(i);
                }
            }
            let visits = pressing.iter().chain(idle.iter()).copied();
            packed.pack(self.rows, visits, self.bodies);
            *is_packed = true;
        }
        let (change, count) = packed.sweep::<true>(limit, self.settings.velocity_tolerance);
        packed.unpack(self.rows, self.bodies);
        self.work.sweeps += 2 * count;
        self.work.rows_swept += u64::from(2 * count) * order.len() as u64;
        change
    }

    /// Visits everything once; returns the largest change of velocity.
    fn single_sweep(&mut self, order: &[u32]) -> f64 {
        let mut change: f64 = 0.0;
        for block in self.joint_blocks.iter_mut() {
            change = change.max(block.visit(self.bodies));
        }
        for &i in order {
            change = change.max(self.rows[i as usize].visit(self.bodies));
        }
        self.work.sweeps += 1;
        self.work.rows_swept += (order.len() + self.joint_blocks.len()) as u64;
        change
    }

    /// Visits everything forward and backward; returns the largest change of velocity.
    fn double_sweep(&mut self, order: &[u32]) -> f64 {
        let mut change: f64 = 0.0;
        for block in self.joint_blocks.iter_mut() {
            change = change.max(block.visit(self.bodies));
        }
        for &i in order.iter().chain(order.iter().rev()) {
            change = change.max(self.rows[i as usize].visit(self.bodies));
        }
        for block in self.joint_blocks.iter_mut().rev() {
            change = change.max(block.visit(self.bodies));
        }
        self.work.sweeps += 2;
        self.work.rows_swept += 2 * (order.len() + self.joint_blocks.len()) as u64;
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
        for (before, block) in scratch
            .joint_before
            .iter_mut()
            .zip(self.joint_blocks.iter())
        {
            for i in 0..6 {
                before[i] = block.lambda[i] - before[i];
            }
            size += block.energy_norm(before);
        }
        size
    }

    /// Goes on along the conjugate direction by `beta`, or starts it anew where the change grew.
    fn extrapolate(&mut self, beta: f64, scratch: &mut Sweeps) {
        if beta.is_nan() || beta >= 1.0 {
            scratch.direction.clone_from(&scratch.before);
            scratch.joint_direction.clone_from(&scratch.joint_before);
            return;
        }
        for (k, &i) in scratch.order.iter().enumerate() {
            let stride = scratch.direction[k] * beta;
            self.rows[i as usize].extrapolate(stride, self.bodies);
            scratch.direction[k] = stride + scratch.before[k];
        }
        for (k, block) in self.joint_blocks.iter_mut().enumerate() {
            let stride = scratch.joint_direction[k].map(|x| x * beta);
            block.extrapolate(&stride, self.bodies);
            for i in 0..6 {
                scratch.joint_direction[k][i] = stride[i] + scratch.joint_before[k][i];
            }
        }
    }

    /// The core, where it may cost what it is expected to; whether it met the tolerance. What it did not meet it is not asked again.
    /// Most contacts only come near: it solves for those that press or may, and again with those that this makes approach, so that
    /// in the end every contact has been asked.
    fn solve_core(&mut self, scratch: &mut Sweeps) -> bool {
        // A fault of the law on purpose is one of the sweeps.
        if self.core.is_none() || fault::active(Fault::FrictionPyramid) {
            return false;
        }
        let tolerance = self.settings.velocity_tolerance;
        let mut asked = std::mem::take(&mut scratch.asked);
        let mut spared = std::mem::take(&mut scratch.spared);
        asked.clear();
        spared.clear();
        spared.extend_from_slice(&scratch.order);
        let mut met = true;
        for round in 0..=GROWTHS_MAX {
            if !self.take_in(round == GROWTHS_MAX, &mut asked, &mut spared) && round > 0 {
                break;
            }
            let mut system = System {
                rows: self.rows,
                order: &asked,
                joint_blocks: self.joint_blocks,
            };
            let exchange = &mut scratch.exchange;
            let Some(solved) = exchange.solve(&mut system, self.bodies, tolerance, &self.core)
            else {
                // It does not fit: an attempt that was begun has failed.
                if round > 0 {
                    (self.core, self.failed) = (Allowance::NONE, true);
                }
                met = false;
                break;
            };
            self.work.newton_steps += solved.factorisations;
            self.work.operations += solved.operations;
            self.spent += solved.operations;
            self.core = self.core.less(solved.operations);
            if !solved.met {
                (self.core, self.failed) = (Allowance::NONE, true);
                met = false;
                break;
            }
        }
        (scratch.asked, scratch.spared) = (asked, spared);
        met
    }

    /// Takes in rows that press, approach faster than their aims allow, or would if they changed by as much as the fastest of those;
    /// all of them in the `last` round. False if none of them asks.
    fn take_in(&self, last: bool, asked: &mut Vec<u32>, spared: &mut Vec<u32>) -> bool {
        let apart = |i: u32| self.rows[i as usize].missed(self.bodies, true).x;
        let tolerance = self.settings.velocity_tolerance;
        let fastest = spared.iter().map(|&i| -apart(i)).fold(0.0, f64::max);
        let reach = fastest.max(tolerance);
        let comes = |i: u32| last || !self.rows[i as usize].is_idle() || apart(i) < reach;
        spared.retain(|&i| {
            let comes = comes(i);
            if comes {
                asked.push(i);
            }
            !comes
        });
        asked.sort_unstable();
        fastest > tolerance
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
