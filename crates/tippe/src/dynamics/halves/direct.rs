//! The direct solve of an island where sweeps stall: Newton steps on all its contacts at once, by sparse factorisation.
//!
//! Reads: rows.  Writes: rows' impulses, solver bodies.
//! Called by: `sweep`.
//! Source: augmented Lagrangian with a semi-smooth Newton step, [AlartCurnier91]; derivation in docs/methods.md, "The direct solve".
//!
//! The velocities v contain the impulses P. The step d from v minimises the convex
//! `½ dᵀ M d + Σ ψ(u + J d)`, where −∇ψ = Jᵀ (P⁺ − P) and each row asks for `P⁺ = proj(P − ρ (u + J d − target))` with its friction
//! bound held: Newton steps `(M + Σ Jᵀ W J) Δ = Jᵀ (P⁺ − P) − M d`, W the derivative of the projection, each as long as the
//! slope along it is downhill. Then `P ← P⁺`, `v ← v + M⁻¹ Jᵀ ΔP`, and again with new bounds. Each round shrinks the error by about
//! 1/ρ, whatever the mass ratio.

#![allow(non_snake_case)]

use super::link::{Link, ScalarRow};
use super::row::{Row, SolverBody};
use super::trees::Bodies;
use crate::dynamics::joint::JointRow;
use crate::math::block_cholesky::{Block, Block6, BlockCholesky};
use crate::math::{Mat3, Vec3, skew};

/// Stiffness of the augmentation relative to a row's own mass [1] in the first round: soft, so that stick, slip and separation are
/// found; then ten times as much from round to round, for few rounds; small against 1/ε of rounding in the end.
const STIFFNESS_FIRST: f64 = 1e2;
const STIFFNESS_LAST: f64 = 1e7;
/// Newton steps of one round.
const STEPS_MAX: u32 = 100;
/// Trials of the length of a Newton step that overshoots.
const TRIALS_MAX: u32 = 30;
/// Slope at which a length is accepted, relative to the slope at the start [1].
const SLOPE: f64 = 1e-2;
/// Unbalanced impulse at which a round ends, relative to the impulses that act [1].
const BALANCED: f64 = 1e-9;

/// Scratch of the direct solve.
#[derive(Clone, Debug, Default)]
pub(crate) struct Direct {
    factor: BlockCholesky,
    /// Node of each slot in the island at hand.
    nodes: Vec<u32>,
    /// Slot of each node.
    slots: Vec<u32>,
    /// By node: the step d from the present velocities.
    moved: Vec<Block6>,
    /// By node: right-hand side, then Newton step.
    newton: Vec<Block6>,
    /// By node: the right-hand side of the Newton step.
    downhill: Vec<Block6>,
    /// By node: where a line search starts.
    from: Vec<Block6>,
    /// Square of the impulse that the first Newton step of the round answered.
    pushed: f64,
    /// Joint rows: place in their link, and P⁺.
    wanted_scalar: Vec<(usize, f64)>,
    /// Stiffness of the round.
    stiffness: f64,
    /// By place in the order: friction bound of the round.
    bounds: Vec<f64>,
    /// By place in the order: P⁺.
    wanted: Vec<Vec3>,
}

const NONE: u32 = u32::MAX;

impl Direct {
    /// Numbers the island's bodies and orders the elimination; false if the rows do not fit a direct solve or it would cost too much.
    pub(crate) fn prepare(
        &mut self,
        system: &System<'_>,
        bodies: &[SolverBody],
        cost_max: u64,
    ) -> bool {
        if cost_max == 0 || system.contacts().any(|row| !row.is_plain()) || system.linked() {
            return false;
        }
        self.nodes.clear();
        self.nodes.resize(bodies.len(), NONE);
        self.slots.clear();
        let pairs = system
            .contacts()
            .map(|row| (row.a, row.b))
            .chain(system.links.iter().map(|l| (l.a, l.b)));
        for (a, b) in pairs.clone() {
            for slot in [a, b] {
                if bodies[slot as usize].inverse_mass > 0.0 && self.nodes[slot as usize] == NONE {
                    self.nodes[slot as usize] = self.slots.len() as u32;
                    self.slots.push(slot);
                }
            }
        }
        let edges = pairs.filter_map(|(a, b)| {
            let (a, b) = (self.nodes[a as usize], self.nodes[b as usize]);
            (a != NONE && b != NONE).then_some((a, b))
        });
        self.factor.analyse(self.slots.len(), edges, cost_max)
    }

    /// One round; false (and nothing changed) if it found no balance. Counts its Newton steps.
    pub(crate) fn round(
        &mut self,
        round: u32,
        system: &mut System<'_>,
        bodies: &mut Bodies,
        steps: &mut u32,
    ) -> bool {
        // Joints alone have no states to find.
        let first = if system.order.is_empty() {
            STIFFNESS_LAST
        } else {
            STIFFNESS_FIRST
        };
        self.stiffness = if round == 0 {
            first
        } else {
            (10.0 * self.stiffness).min(STIFFNESS_LAST)
        };
        self.moved.clear();
        self.moved.resize(self.slots.len(), [0.0; 6]);
        // The first round finds the normal load; until it is known, what does not slide yet sticks.
        let bound = |row: &Row| {
            if round == 0 && !row.sliding {
                f64::INFINITY
            } else {
                row.friction_bound()
            }
        };
        self.bounds.clear();
        self.bounds.extend(system.contacts().map(bound));
        let scale = system.impulse_squared();
        for step in 0.. {
            // The first step trusts the contact states of the impulses it starts from: right in a stack at rest.
            let law = if step == 0 {
                Row::continued
            } else {
                Row::projected
            };
            self.assemble(system, bodies, law);
            let unbalanced: f64 = self.newton.iter().flatten().map(|x| x * x).sum();
            if step > 0 && unbalanced <= BALANCED * BALANCED * scale.max(self.pushed) {
                break;
            }
            // Without balance the projected impulses mean nothing: leave the rows as they are.
            if step == STEPS_MAX || !self.factor.factor() {
                return false;
            }
            self.downhill.clone_from(&self.newton);
            self.factor.solve(&mut self.newton);
            *steps += 1;
            if step == 0 {
                self.moved.clone_from(&self.newton);
                self.pushed = self.downhill.iter().flatten().map(|x| x * x).sum();
            } else {
                self.line_search(system, bodies);
            }
        }
        self.take(system, bodies);
        true
    }

    /// Gives every row its P⁺ at the present step.
    fn take(&mut self, system: &mut System<'_>, bodies: &mut Bodies) {
        self.wanted.clear();
        for (k, row) in system.contacts().enumerate() {
            let u = self.velocity(row, bodies);
            self.wanted
                .push(row.projected(u, self.stiffness, self.bounds[k]).0);
        }
        self.wanted_scalar.clear();
        for link in system.links.iter() {
            for row in link.scalar_rows() {
                let z = row.projected(self.scalar_velocity(link, &row, bodies), self.stiffness);
                self.wanted_scalar.push((row.place, z));
            }
        }
        for (k, &i) in system.order.iter().enumerate() {
            let row = &mut system.rows[i as usize];
            row.extrapolate(self.wanted[k] - row.frame_impulse(), bodies);
        }
        let mut wanted = self.wanted_scalar.iter();
        for link in system.links.iter_mut() {
            for _ in 0..link.scalar_rows().count() {
                if let Some(&(place, lambda)) = wanted.next() {
                    link.set(place, lambda, bodies);
                }
            }
        }
    }

    /// Matrix and right-hand side `Jᵀ (P⁺ − P) − M d` at the present step.
    fn assemble(
        &mut self,
        system: &System<'_>,
        bodies: &[SolverBody],
        law: impl Fn(&Row, Vec3, f64, f64) -> (Vec3, Mat3),
    ) {
        self.factor.clear();
        self.newton.clear();
        for (node, &slot) in self.slots.iter().enumerate() {
            let body = &bodies[slot as usize];
            let (mass, inertia) = (1.0 / body.inverse_mass, body.inverse_inertia.inverse());
            self.newton
                .push(momentum(&self.moved[node], -mass, inertia * -1.0));
            let mass = Mat3::from_diagonal(Vec3::splat(mass));
            self.factor
                .add_diagonal(node as u32, &block(mass, Mat3::ZERO, Mat3::ZERO, inertia));
        }
        for (k, row) in system.contacts().enumerate() {
            let (wanted, weight) = law(
                row,
                self.velocity(row, bodies),
                self.stiffness,
                self.bounds[k],
            );
            self.add_row(row, row.world(wanted - row.frame_impulse()), weight);
        }
        for link in system.links.iter() {
            for row in link.scalar_rows() {
                let z = row.projected(self.scalar_velocity(link, &row, bodies), self.stiffness);
                let weight = if row.low < z && z < row.high {
                    self.stiffness * row.mass
                } else {
                    0.0
                };
                self.add_scalar(link, &row.row, z - row.lambda, weight);
            }
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
        let mut sum = 0.0;
        for (node, &slot) in self.slots.iter().enumerate() {
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
        for link in system.links.iter() {
            for row in link.scalar_rows() {
                let z = row.projected(self.scalar_velocity(link, &row, bodies), self.stiffness);
                sum += (z - row.lambda) * self.scalar_change(link, &row.row, &self.newton);
            }
        }
        sum
    }

    /// Relative velocity of a contact at the present step.
    fn velocity(&self, row: &Row, bodies: &[SolverBody]) -> Vec3 {
        row.velocity(bodies) + self.change(&self.moved, row.b, row.lever_b())
            - self.change(&self.moved, row.a, row.lever_a())
    }

    /// Velocity of a joint's row at the present step.
    fn scalar_velocity(&self, link: &Link, row: &ScalarRow, bodies: &[SolverBody]) -> f64 {
        row.row
            .velocity(&bodies[link.a as usize], &bodies[link.b as usize])
            + self.scalar_change(link, &row.row, &self.moved)
    }

    /// Velocity that a step gives a joint's row.
    fn scalar_change(&self, link: &Link, row: &JointRow, step: &[Block6]) -> f64 {
        let part = |slot: u32, e: Vec3, ang: Vec3| match self.nodes[slot as usize] {
            NONE => 0.0,
            node => {
                let [a, b, c, d, f, g] = step[node as usize];
                e.dot(Vec3::new(a, b, c)) + ang.dot(Vec3::new(d, f, g))
            }
        };
        part(link.b, row.e, row.ang_b) + part(link.a, -row.e, row.ang_a)
    }

    /// Velocity that a step gives a point of a body.
    fn change(&self, step: &[Block6], slot: u32, r: Vec3) -> Vec3 {
        match self.nodes[slot as usize] {
            NONE => Vec3::ZERO,
            node => {
                let [a, b, c, d, e, f] = step[node as usize];
                Vec3::new(a, b, c) + Vec3::new(d, e, f).cross(r)
            }
        }
    }

    /// Adds `Jᵀ W J` to the matrix and `Jᵀ ΔP` to the right-hand side.
    fn add_row(&mut self, row: &Row, impulse: Vec3, W: Mat3) {
        let (a, b) = (self.nodes[row.a as usize], self.nodes[row.b as usize]);
        let (S_a, S_b) = (skew(row.lever_a()), skew(row.lever_b()));
        // u = (v_b − S_b ω_b) − (v_a − S_a ω_a): the blocks of Jᵀ W J are [W, −W S; S W, −S W S].
        let product = |S_i: Mat3, S_j: Mat3, sign: f64| {
            let (W, WS) = (W * sign, W * S_j * sign);
            block(W, -WS, S_i * W, -(S_i * WS))
        };
        if a != NONE {
            self.factor.add_diagonal(a, &product(S_a, S_a, 1.0));
            push(
                &mut self.newton[a as usize],
                -impulse,
                -row.lever_a().cross(impulse),
            );
        }
        if b != NONE {
            self.factor.add_diagonal(b, &product(S_b, S_b, 1.0));
            push(
                &mut self.newton[b as usize],
                impulse,
                row.lever_b().cross(impulse),
            );
        }
        if a != NONE && b != NONE {
            self.factor.add_pair(a, b, &product(S_a, S_b, -1.0));
        }
    }

    /// The same for one row of a joint: an outer product.
    fn add_scalar(&mut self, link: &Link, row: &JointRow, impulse: f64, weight: f64) {
        let (a, b) = (self.nodes[link.a as usize], self.nodes[link.b as usize]);
        let (j_a, j_b) = (flat(-row.e, row.ang_a), flat(row.e, row.ang_b));
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
            self.factor.add_diagonal(a, &outer(&j_a, &j_a));
            push(
                &mut self.newton[a as usize],
                -row.e * impulse,
                row.ang_a * impulse,
            );
        }
        if b != NONE {
            self.factor.add_diagonal(b, &outer(&j_b, &j_b));
            push(
                &mut self.newton[b as usize],
                row.e * impulse,
                row.ang_b * impulse,
            );
        }
        if a != NONE && b != NONE {
            self.factor.add_pair(a, b, &outer(&j_a, &j_b));
        }
    }
}

impl ScalarRow {
    /// `proj(λ − ρ (u − target))` for ρ of the given stiffness.
    fn projected(&self, u: f64, stiffness: f64) -> f64 {
        (self.lambda - stiffness * self.mass * (u - self.target)).clamp(self.low, self.high)
    }
}

/// Everything one island is solved for.
pub(crate) struct System<'a> {
    pub rows: &'a mut [Row],
    /// Rows that take part.
    pub order: &'a [u32],
    pub links: &'a mut [Link],
}

impl System<'_> {
    /// Whether a tree takes part.
    fn linked(&self) -> bool {
        self.contacts().any(|row| row.linked) || self.links.iter().any(|link| link.linked)
    }

    fn contacts(&self) -> impl Iterator<Item = &Row> + Clone {
        self.order.iter().map(|&i| &self.rows[i as usize])
    }

    fn impulse_squared(&self) -> f64 {
        let contacts: f64 = self
            .contacts()
            .map(|row| row.frame_impulse().length_squared())
            .sum();
        let links: f64 = self
            .links
            .iter()
            .map(|l| l.lambda.iter().map(|x| x * x).sum::<f64>())
            .sum();
        contacts + links
    }
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
fn momentum(d: &Block6, mass: f64, inertia: Mat3) -> Block6 {
    let l = inertia * Vec3::new(d[3], d[4], d[5]);
    [mass * d[0], mass * d[1], mass * d[2], l.x, l.y, l.z]
}

fn push(to: &mut Block6, P: Vec3, turn: Vec3) {
    for (x, d) in to.iter_mut().zip(flat(P, turn)) {
        *x += d;
    }
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
