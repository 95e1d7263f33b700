//! The direct solve of an island where sweeps stall: Newton steps on all its contacts at once, by sparse factorisation.
//!
//! Reads: rows.  Writes: rows' impulses, solver bodies.
//! Called by: `sweep`.
//! Source: augmented Lagrangian with a semi-smooth Newton step, [AlartCurnier91]; derivation in
//! docs/solver.md, "The direct solve".
//!
//! The velocities v contain the impulses P. The step d from v minimises the convex
//! `½ dᵀ M d + Σ ψ(u + J d)`, where −∇ψ = Jᵀ (P⁺ − P) and each row asks for `P⁺ = proj(P − ρ (u + J d − target))` with its friction
//! bound held: Newton steps `(M + Σ Jᵀ W J) Δ = Jᵀ (P⁺ − P) − M d`, W the derivative of the projection, each as long as the
//! slope along it is downhill. Then `P ← P⁺`, `v ← v + M⁻¹ Jᵀ ΔP`, and again with new bounds. Each round shrinks the error by about
//! 1/ρ, whatever the mass ratio.

#![allow(non_snake_case)]

use crate::dynamics::joint::JointRow;
use crate::interrupt;
use crate::math::block_cholesky::{Block, Block6, BlockCholesky};
use crate::math::block_lu::BlockLu;
use crate::math::{Mat3, Vec3, skew};
use crate::solver::contact::ContactRow;
use crate::solver::ends::Bodies;
use crate::solver::ends::SolverBody;
use crate::solver::forest::Forest;
use crate::solver::joint::{JointBlock, ScalarRow};

/// Stiffness of the augmentation relative to a row's own mass [1] in the first round: soft, so that stick, slip and separation are
/// found; then ten times as much from round to round, for few rounds; small against 1/ε of rounding in the end.
const STIFFNESS_FIRST: f64 = 1e2;
const STIFFNESS_LAST: f64 = 1e7;
/// The same where friction bounds are found together with the load.
const STIFFNESS_COUPLED: f64 = 1e3;
/// Newton steps of one round.
const STEPS_MAX: u32 = 100;
/// Newton steps of one round without held bounds, the least part of one that is tried, and how many count as lately.
const COUPLED_STEPS_MAX: u32 = 30;
const NEAR_STEPS_MAX: u32 = 10;
const LENGTH_MIN: f64 = 1e-3;
const LATELY: usize = 4;
/// Trials of the length of a Newton step that overshoots.
const TRIALS_MAX: u32 = 30;
/// Slope at which a length is accepted, relative to the slope at the start [1].
const SLOPE: f64 = 1e-2;
/// Unbalanced impulse at which a round ends, relative to the impulses that act [1].
const BALANCED: f64 = 1e-9;
/// The same where bounds and load are found together, for a stiffness of one [1].
const FINE: f64 = 1e-15;

/// What a round holds, and its number among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// Friction bounds are held; they follow from round to round.
    Bound(u32),
    /// Nothing is held: bounds and load are found together, where they would chase each other.
    Coupled(u32),
    /// The same, from impulses that are nearly right.
    Near(u32),
}

/// Scratch of the direct solve.
#[derive(Clone, Debug, Default)]
pub(crate) struct Direct {
    pub(super) factor: BlockCholesky,
    /// The matrix of rounds without held bounds.
    general: BlockLu,
    /// Whether the round holds no bounds, and whether its matrix is not symmetric for that.
    pub(super) coupled: bool,
    skewed: bool,
    /// By place in the order: P⁺ and its derivative at the present step.
    answers: Vec<(Vec3, Mat3)>,
    /// By joint row: the derivative of P⁺ at the present step.
    scalar_answers: Vec<f64>,
    /// Node of each slot in the island at hand.
    nodes: Vec<u32>,
    /// Slot of each node; none if it belongs to a tree.
    pub(super) slots: Vec<u32>,
    /// The nodes of trees.
    forest: Forest,
    /// By node: the step d from the present velocities.
    pub(super) moved: Vec<Block6>,
    /// By node: right-hand side, then Newton step.
    pub(super) newton: Vec<Block6>,
    /// By node: the right-hand side of the Newton step.
    pub(super) downhill: Vec<Block6>,
    /// By node: where a line search starts.
    from: Vec<Block6>,
    /// Square of the impulse that the first Newton step of the round answered.
    pushed: f64,
    /// Joint rows: place in their link, and P⁺.
    wanted_scalar: Vec<(usize, f64)>,
    /// Stiffness of the round.
    pub(super) stiffness: f64,
    /// By place in the order: friction bound of the round; the shift, where it goes over whole cones.
    pub(super) bounds: Vec<f64>,
    /// By place in the order: P⁺.
    wanted: Vec<Vec3>,
    /// By place in the order, of a round over cones: velocity where a search starts, and its change along the step.
    pub(super) ways: Vec<(Vec3, Vec3)>,
}

/// What a contact answers to a velocity, for a stiffness and a friction bound: P⁺, and its derivative by −u.
type Law = fn(&ContactRow, Vec3, f64, f64) -> (Vec3, Mat3);

const NONE: u32 = u32::MAX;

/// Most pairs of nodes that the rows of an island may act on, all rows together: some 10 ms for one matrix. A pile of fifty thousand
/// contacts of bodies has a fifth of it.
const ASSEMBLY_MAX: u64 = 1 << 20;

impl Direct {
    /// Numbers the island's bodies and orders the elimination; false if the rows do not fit a direct solve or it would cost too much.
    pub(crate) fn prepare(&mut self, system: &System<'_>, bodies: &Bodies, cost_max: u64) -> bool {
        if cost_max == 0 || system.contacts().any(|row| !row.is_plain()) {
            return false;
        }
        self.nodes.clear();
        self.nodes.resize(bodies.len(), NONE);
        self.slots.clear();
        self.forest.clear();
        let pairs = system
            .contacts()
            .map(|row| (row.a, row.b))
            .chain(system.joint_blocks.iter().map(|l| (l.a, l.b)));
        for (a, b) in pairs.clone() {
            for slot in [a, b] {
                if bodies.is_link(slot) {
                    if !bodies.has_view(slot) {
                        return false;
                    }
                    let added = self.forest.plant(slot, bodies, self.slots.len() as u32);
                    self.slots.resize(self.slots.len() + added as usize, NONE);
                } else if bodies[slot as usize].inverse_mass > 0.0
                    && self.nodes[slot as usize] == NONE
                {
                    self.nodes[slot as usize] = self.slots.len() as u32;
                    self.slots.push(slot);
                }
            }
        }
        let nodes = |slot: u32| match self.nodes[slot as usize] {
            NONE => self.forest.nodes(slot),
            node => node..node + 1,
        };
        // What it takes to put the matrix together counts too: the rows of a link act on all joints on its way to the root.
        let acting = |(a, b): (u32, u32)| (nodes(a).len() + nodes(b).len()) as u64;
        if pairs.clone().map(acting).map(|n| n * n).sum::<u64>() > ASSEMBLY_MAX {
            return false;
        }
        let edges = pairs
            .flat_map(|(a, b)| nodes(a).flat_map(move |i| nodes(b).map(move |j| (i, j))))
            .filter(|(i, j)| i != j)
            .chain(self.forest.pairs());
        self.factor.analyse(self.slots.len(), edges, cost_max)
    }

    /// One round of at most `limit` Newton steps; false (and nothing changed) if it found no balance. Counts its steps.
    pub(crate) fn round(
        &mut self,
        round: Round,
        limit: u32,
        system: &mut System<'_>,
        bodies: &mut Bodies,
        steps: &mut u32,
    ) -> bool {
        self.stiffness = match round {
            // Joints alone have no states to find.
            _ if system.order.is_empty() => STIFFNESS_LAST,
            Round::Bound(n) => STIFFNESS_FIRST * tenfold(n),
            Round::Coupled(n) | Round::Near(n) => STIFFNESS_COUPLED * tenfold(2 * n.min(2)),
        }
        .min(STIFFNESS_LAST);
        self.moved.clear();
        self.moved.resize(self.slots.len(), [0.0; 6]);
        self.coupled = !matches!(round, Round::Bound(_)) && !system.order.is_empty();
        // The first round finds the normal load; until it is known, what does not slide yet sticks.
        let bound = |row: &ContactRow| {
            if round == Round::Bound(0) && !row.sliding {
                f64::INFINITY
            } else {
                row.friction_bound()
            }
        };
        self.bounds.clear();
        self.bounds.extend(system.contacts().map(bound));
        let found = if self.coupled {
            let most = match round {
                Round::Near(_) => NEAR_STEPS_MAX,
                _ => COUPLED_STEPS_MAX,
            };
            self.find_together(limit.min(most), system, bodies, steps)
        } else {
            self.find_bound(limit.min(STEPS_MAX), system, bodies, steps)
        };
        // Without balance the projected impulses mean nothing: leave the rows as they are.
        if found {
            let law = if self.coupled {
                |row: &ContactRow, u: Vec3, stiffness: f64, bound: f64| {
                    row.coupled(u, stiffness, bound).0
                }
            } else {
                |row: &ContactRow, u: Vec3, stiffness: f64, bound: f64| {
                    row.projected(u, stiffness, bound).0
                }
            };
            self.take(system, bodies, law);
        }
        found
    }

    /// Newton steps with the friction bounds held, along which a convex function falls; false if they do not arrive.
    fn find_bound(
        &mut self,
        limit: u32,
        system: &System<'_>,
        bodies: &[SolverBody],
        steps: &mut u32,
    ) -> bool {
        let scale = system.impulse_squared();
        for iteration in 0.. {
            // The first step trusts the contact states of the impulses it starts from: right in a stack at rest.
            let law = if iteration == 0 {
                ContactRow::continued
            } else {
                ContactRow::projected
            };
            self.balance(system, bodies, law);
            let unbalanced: f64 = self.newton.iter().flatten().map(|x| x * x).sum();
            if iteration > 0 && unbalanced <= BALANCED * BALANCED * scale.max(self.pushed) {
                return true;
            }
            self.assemble(system, bodies);
            if iteration == limit || interrupt::asked() || !self.factor.factor() {
                return false;
            }
            self.downhill.clone_from(&self.newton);
            self.factor.solve(&mut self.newton);
            *steps += 1;
            if iteration == 0 {
                self.moved.clone_from(&self.newton);
                self.pushed = self.downhill.iter().flatten().map(|x| x * x).sum();
            } else {
                self.line_search(system, bodies);
            }
        }
        false
    }

    /// Newton steps without held bounds, each shortened until the impulses are nearer to balance than in one of the last few; false if
    /// they do not arrive. Those few let a step through that leaves one state of contact for another.
    fn find_together(
        &mut self,
        limit: u32,
        system: &System<'_>,
        bodies: &[SolverBody],
        steps: &mut u32,
    ) -> bool {
        self.balance(system, bodies, ContactRow::coupled);
        let mut left: f64 = dot(&self.newton, &self.newton);
        let mut lately = [left; LATELY];
        let scale = system.impulse_squared().max(left);
        // Rounding of velocities times the stiffness is as far as it goes; good enough is good enough all the same.
        let fine = (FINE * self.stiffness).clamp(1e-3 * BALANCED, BALANCED);
        for iteration in 0..limit {
            if left <= fine * fine * scale {
                return true;
            }
            self.assemble(system, bodies);
            if interrupt::asked() || !self.divide() {
                return false;
            }
            *steps += 1;
            self.from.clone_from(&self.moved);
            self.downhill.clone_from(&self.newton);
            let allowed = lately.iter().fold(0.0, |x: f64, &y| x.max(y));
            let mut length = 1.0;
            loop {
                for (m, (f, n)) in self
                    .moved
                    .iter_mut()
                    .zip(self.from.iter().zip(&self.downhill))
                {
                    for k in 0..6 {
                        m[k] = f[k] + length * n[k];
                    }
                }
                self.balance(system, bodies, ContactRow::coupled);
                left = dot(&self.newton, &self.newton);
                if left < allowed {
                    break;
                }
                length *= 0.5;
                if length < LENGTH_MIN {
                    return left.min(allowed) <= BALANCED * BALANCED * scale;
                }
            }
            lately[iteration as usize % LATELY] = left;
        }
        left <= BALANCED * BALANCED * scale
    }

    /// Turns the right-hand side into the Newton step; false if the matrix is singular.
    fn divide(&mut self) -> bool {
        if self.skewed {
            let pattern = self.factor.pattern();
            self.general.factor(pattern) && {
                self.general.solve(pattern, &mut self.newton);
                true
            }
        } else {
            self.factor.factor() && {
                self.factor.solve(&mut self.newton);
                true
            }
        }
    }

    /// Gives every row its P⁺ at the present step.
    pub(super) fn take(
        &mut self,
        system: &mut System<'_>,
        bodies: &mut Bodies,
        answer: fn(&ContactRow, Vec3, f64, f64) -> Vec3,
    ) {
        self.wanted.clear();
        for (k, row) in system.contacts().enumerate() {
            let u = self.velocity(row, bodies);
            self.wanted
                .push(answer(row, u, self.stiffness, self.bounds[k]));
        }
        self.wanted_scalar.clear();
        for block in system.joint_blocks.iter() {
            for row in block.scalar_rows() {
                let z = row.projected(self.scalar_velocity(block, &row, bodies), self.stiffness);
                self.wanted_scalar.push((row.place, z));
            }
        }
        for (k, &i) in system.order.iter().enumerate() {
            let row = &mut system.rows[i as usize];
            row.extrapolate(self.wanted[k] - row.frame_impulse(), bodies);
        }
        let mut wanted = self.wanted_scalar.iter();
        for block in system.joint_blocks.iter_mut() {
            for _ in 0..block.scalar_rows().count() {
                if let Some(&(place, lambda)) = wanted.next() {
                    block.set(place, lambda, bodies);
                }
            }
        }
    }

    /// What every row answers at the present step, and the right-hand side `Jᵀ (P⁺ − P) − M d`.
    pub(super) fn balance(&mut self, system: &System<'_>, bodies: &[SolverBody], law: Law) {
        self.newton.clear();
        for (node, &slot) in self.slots.iter().enumerate() {
            if slot == NONE {
                self.newton.push([0.0; 6]);
                continue;
            }
            let (mass, inertia) = masses(&bodies[slot as usize]);
            self.newton
                .push(momentum(&self.moved[node], -mass, inertia * -1.0));
        }
        self.forest.subtract_momentum(&self.moved, &mut self.newton);
        self.answers.clear();
        for (k, row) in system.contacts().enumerate() {
            let u = self.velocity(row, bodies);
            let (wanted, weight) = law(row, u, self.stiffness, self.bounds[k]);
            self.answers.push((wanted, weight));
            let impulse = row.world(wanted - row.frame_impulse());
            if impulse != Vec3::ZERO {
                self.push(row.a, -impulse, -row.lever_a().cross(impulse));
                self.push(row.b, impulse, row.lever_b().cross(impulse));
            }
        }
        self.scalar_answers.clear();
        for block in system.joint_blocks.iter() {
            for row in block.scalar_rows() {
                let z = row.projected(self.scalar_velocity(block, &row, bodies), self.stiffness);
                let weight = if row.low < z && z < row.high {
                    row.soft.unwrap_or(self.stiffness * row.mass)
                } else {
                    0.0
                };
                self.scalar_answers.push(weight);
                let impulse = z - row.lambda;
                self.push(block.a, -row.row.e * impulse, row.row.ang_a * impulse);
                self.push(block.b, row.row.e * impulse, row.row.ang_b * impulse);
            }
        }
    }

    /// The matrix `M + Σ Jᵀ W J` of the answers found by `balance`.
    pub(super) fn assemble(&mut self, system: &System<'_>, bodies: &[SolverBody]) {
        self.skewed = self.coupled && self.answers.iter().any(|(_, W)| *W != W.transpose());
        if self.skewed {
            self.general.clear(self.factor.pattern());
        } else {
            self.factor.clear();
        }
        for node in 0..self.slots.len() {
            if self.slots[node] == NONE {
                continue;
            }
            let (mass, inertia) = masses(&bodies[self.slots[node] as usize]);
            let mass = Mat3::from_diagonal(Vec3::splat(mass));
            self.add_diagonal(node as u32, &block(mass, Mat3::ZERO, Mat3::ZERO, inertia));
        }
        let forest = std::mem::take(&mut self.forest);
        forest.each_inertia(|p, q, H| self.add_block(p, q, H));
        self.forest = forest;
        for (k, row) in system.contacts().enumerate() {
            let weight = self.answers[k].1;
            if weight != Mat3::ZERO {
                self.add_row(row, weight);
            }
        }
        let mut k = 0;
        for block in system.joint_blocks.iter() {
            for row in block.scalar_rows() {
                let weight = self.scalar_answers[k];
                k += 1;
                if weight != 0.0 {
                    self.add_scalar(block, &row.row, weight);
                }
            }
        }
    }

    /// Adds an impulse and its moment on a body to the right-hand side.
    fn push(&mut self, slot: u32, P: Vec3, turn: Vec3) {
        let node = self.nodes[slot as usize];
        if node != NONE {
            for (x, d) in self.newton[node as usize].iter_mut().zip(flat(P, turn)) {
                *x += d;
            }
        } else {
            self.forest.push(&flat(P, turn), slot, &mut self.newton);
        }
    }

    /// Takes the Newton step, or the part of it at which the slope along it vanishes (regula falsi with halved ends, since the slope is
    /// monotone but kinked).
    fn line_search(&mut self, system: &System<'_>, bodies: &[SolverBody]) {
        let start: f64 = dot(&self.newton, &self.downhill);
        if start.is_nan() || start <= 0.0 {
            return;
        }
        self.from.clone_from(&self.moved);
        let (mut low, mut at_low, mut high, mut at_high) = (0.0, start, 1.0, 0.0);
        let mut length = 1.0;
        for trial in 0..TRIALS_MAX {
            for (m, (f, n)) in self
                .moved
                .iter_mut()
                .zip(self.from.iter().zip(&self.newton))
            {
                for k in 0..6 {
                    m[k] = f[k] + length * n[k];
                }
            }
            let force = self.force_along(system, bodies);
            if force.abs() <= SLOPE * start || (trial == 0 && force > 0.0) {
                return;
            }
            if force > 0.0 {
                (low, at_low) = (length, force);
                at_high *= 0.5;
            } else {
                (high, at_high) = (length, force);
                if trial > 0 {
                    at_low *= 0.5;
                }
            }
            length = low + (high - low) * at_low / (at_low - at_high);
        }
    }

    /// `Δ · (Jᵀ (P⁺ − P) − M d)` at the present step d.
    fn force_along(&self, system: &System<'_>, bodies: &[SolverBody]) -> f64 {
        let mut sum = -self.forest.product(&self.newton, &self.moved);
        for (node, &slot) in self.slots.iter().enumerate() {
            if slot == NONE {
                continue;
            }
            let body = &bodies[slot as usize];
            let held = momentum(
                &self.moved[node],
                1.0 / body.inverse_mass,
                body.inverse_inertia.inverse(),
            );
            for k in 0..6 {
                sum -= held[k] * self.newton[node][k];
            }
        }
        for (k, row) in system.contacts().enumerate() {
            let (wanted, _) =
                row.projected(self.velocity(row, bodies), self.stiffness, self.bounds[k]);
            let along = self.change(&self.newton, row.b, row.lever_b())
                - self.change(&self.newton, row.a, row.lever_a());
            sum += row.world(wanted - row.frame_impulse()).dot(along);
        }
        for block in system.joint_blocks.iter() {
            for row in block.scalar_rows() {
                let z = row.projected(self.scalar_velocity(block, &row, bodies), self.stiffness);
                sum += (z - row.lambda) * self.scalar_change(block, &row.row, &self.newton);
            }
        }
        sum
    }

    /// Relative velocity of a contact at the present step.
    pub(super) fn velocity(&self, row: &ContactRow, bodies: &[SolverBody]) -> Vec3 {
        row.velocity(bodies) + self.change(&self.moved, row.b, row.lever_b())
            - self.change(&self.moved, row.a, row.lever_a())
    }

    /// Velocity of a joint's row at the present step.
    fn scalar_velocity(&self, block: &JointBlock, row: &ScalarRow, bodies: &[SolverBody]) -> f64 {
        row.row
            .velocity(&bodies[block.a as usize], &bodies[block.b as usize])
            + self.scalar_change(block, &row.row, &self.moved)
    }

    /// Velocity that a step gives a joint's row.
    fn scalar_change(&self, block: &JointBlock, row: &JointRow, motion: &[Block6]) -> f64 {
        let part = |slot: u32, e: Vec3, ang: Vec3| {
            self.motion_of(motion, slot)
                .map_or(0.0, |[a, b, c, d, f, g]| {
                    e.dot(Vec3::new(a, b, c)) + ang.dot(Vec3::new(d, f, g))
                })
        };
        part(block.b, row.e, row.ang_b) + part(block.a, -row.e, row.ang_a)
    }

    /// Velocity that a step gives a point of a body.
    pub(super) fn change(&self, motion: &[Block6], slot: u32, r: Vec3) -> Vec3 {
        self.motion_of(motion, slot)
            .map_or(Vec3::ZERO, |[a, b, c, d, e, f]| {
                Vec3::new(a, b, c) + Vec3::new(d, e, f).cross(r)
            })
    }

    /// What a step gives a body: velocity and angular velocity; nothing if it does not answer.
    fn motion_of(&self, motion: &[Block6], slot: u32) -> Option<Block6> {
        match self.nodes[slot as usize] {
            NONE => self.forest.velocity(motion, slot),
            node => Some(motion[node as usize]),
        }
    }

    /// Adds one block; of two that mirror each other in a symmetric matrix the one is left out.
    fn add_block(&mut self, i: u32, j: u32, block: &Block) {
        if self.skewed {
            self.general.add(self.factor.pattern(), i, j, block);
        } else if i == j {
            self.factor.add_diagonal(i, block);
        } else if i < j {
            self.factor.add_pair(i, j, block);
        }
    }

    /// Adds `Jᵀ W J` of rows with an end on a tree: W and the rows' shares in the velocities of both ends.
    fn add_linked(&mut self, [a, b]: [u32; 2], J: [[Block6; 3]; 2], W: &[[f64; 3]; 3]) {
        let mut forest = std::mem::take(&mut self.forest);
        let node = |slot: u32| self.nodes[slot as usize];
        forest.gather([(a, node(a), J[0]), (b, node(b), J[1])]);
        forest.each_product(W, self.skewed, |p, q, block| self.add_block(p, q, block));
        self.forest = forest;
    }

    fn add_diagonal(&mut self, node: u32, block: &Block) {
        if self.skewed {
            self.general.add(self.factor.pattern(), node, node, block);
        } else {
            self.factor.add_diagonal(node, block);
        }
    }

    /// Adds the block of a pair and its mirror image, which is its transpose where the matrix is symmetric.
    fn add_pair(&mut self, a: u32, b: u32, block: &Block, mirror: impl Fn() -> Block) {
        if self.skewed {
            let pattern = self.factor.pattern();
            self.general.add(pattern, a, b, block);
            self.general.add(pattern, b, a, &mirror());
        } else {
            self.factor.add_pair(a, b, block);
        }
    }

    /// Adds `Jᵀ W J` of a contact to the matrix.
    fn add_row(&mut self, row: &ContactRow, W: Mat3) {
        if row.linked {
            let J =
                |r: Vec3, sign: f64| Vec3::AXES.map(|axis| flat(axis * sign, r.cross(axis) * sign));
            let W = [0, 1, 2].map(|i| W.row(i).to_array());
            let J = [J(row.lever_a(), -1.0), J(row.lever_b(), 1.0)];
            return self.add_linked([row.a, row.b], J, &W);
        }
        let (a, b) = (self.nodes[row.a as usize], self.nodes[row.b as usize]);
        let (S_a, S_b) = (skew(row.lever_a()), skew(row.lever_b()));
        // u = (v_b − S_b ω_b) − (v_a − S_a ω_a): the blocks of Jᵀ W J are [W, −W S; S W, −S W S].
        let product = |S_i: Mat3, S_j: Mat3, sign: f64| {
            let (W, WS) = (W * sign, W * S_j * sign);
            block(W, -WS, S_i * W, -(S_i * WS))
        };
        if a != NONE {
            self.add_diagonal(a, &product(S_a, S_a, 1.0));
        }
        if b != NONE {
            self.add_diagonal(b, &product(S_b, S_b, 1.0));
        }
        if a != NONE && b != NONE {
            let mirror = || product(S_b, S_a, -1.0);
            self.add_pair(a, b, &product(S_a, S_b, -1.0), mirror);
        }
    }

    /// The same for one row of a joint: an outer product.
    fn add_scalar(&mut self, block: &JointBlock, row: &JointRow, weight: f64) {
        let (a, b) = (self.nodes[block.a as usize], self.nodes[block.b as usize]);
        let (j_a, j_b) = (flat(-row.e, row.ang_a), flat(row.e, row.ang_b));
        if block.linked {
            let J = [j_a, j_b].map(|j| [j, [0.0; 6], [0.0; 6]]);
            let W = [[weight, 0.0, 0.0], [0.0; 3], [0.0; 3]];
            return self.add_linked([block.a, block.b], J, &W);
        }
        let outer = |x: &Block6, y: &Block6| {
            let mut out = [0.0; 36];
            for i in 0..6 {
                for j in 0..6 {
                    out[6 * i + j] = weight * x[i] * y[j];
                }
            }
            out
        };
        if a != NONE {
            self.add_diagonal(a, &outer(&j_a, &j_a));
        }
        if b != NONE {
            self.add_diagonal(b, &outer(&j_b, &j_b));
        }
        if a != NONE && b != NONE {
            self.add_pair(a, b, &outer(&j_a, &j_b), || outer(&j_b, &j_a));
        }
    }
}

impl ScalarRow {
    /// `proj(λ − ρ (u − target))` for ρ of the given stiffness; a soft row answers `proj(g (target − u))`.
    fn projected(&self, u: f64, stiffness: f64) -> f64 {
        let free = match self.soft {
            Some(gain) => gain * (self.target - u),
            None => self.lambda - stiffness * self.mass * (u - self.target),
        };
        free.clamp(self.low, self.high)
    }
}

/// Everything one island is solved for.
pub(crate) struct System<'a> {
    pub rows: &'a mut [ContactRow],
    /// Rows that take part.
    pub order: &'a [u32],
    pub joint_blocks: &'a mut [JointBlock],
}

impl System<'_> {
    pub(super) fn contacts(&self) -> impl Iterator<Item = &ContactRow> + Clone {
        self.order.iter().map(|&i| &self.rows[i as usize])
    }

    pub(super) fn impulse_squared(&self) -> f64 {
        let contacts: f64 = self
            .contacts()
            .map(|row| row.frame_impulse().length_squared())
            .sum();
        let joint_blocks: f64 = self
            .joint_blocks
            .iter()
            .map(|l| l.lambda.iter().map(|x| x * x).sum::<f64>())
            .sum();
        contacts + joint_blocks
    }
}

fn tenfold(n: u32) -> f64 {
    (0..n.min(9)).fold(1.0, |x, _| 10.0 * x)
}

fn flat(x: Vec3, y: Vec3) -> Block6 {
    [x.x, x.y, x.z, y.x, y.y, y.z]
}

fn dot(x: &[Block6], y: &[Block6]) -> f64 {
    x.iter()
        .flatten()
        .zip(y.iter().flatten())
        .map(|(x, y)| x * y)
        .sum()
}

/// `M d` of one body.
pub(super) fn momentum(d: &Block6, mass: f64, inertia: Mat3) -> Block6 {
    let l = inertia * Vec3::new(d[3], d[4], d[5]);
    [mass * d[0], mass * d[1], mass * d[2], l.x, l.y, l.z]
}

pub(super) fn masses(body: &SolverBody) -> (f64, Mat3) {
    (1.0 / body.inverse_mass, body.inverse_inertia.inverse())
}

/// The block [p, q; r, s] of four 3×3 matrices.
fn block(p: Mat3, q: Mat3, r: Mat3, s: Mat3) -> Block {
    let mut out = [0.0; 36];
    for (m, i0, j0) in [(p, 0, 0), (q, 0, 3), (r, 3, 0), (s, 3, 3)] {
        for j in 0..3 {
            let c = m.col(j);
            for i in 0..3 {
                out[6 * (i0 + i) + j0 + j] = c[i];
            }
        }
    }
    out
}
