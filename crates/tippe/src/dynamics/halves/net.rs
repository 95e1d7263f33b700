//! Islands of joints too meshed for the direct solve by bodies: all joints at once, row by row of the joints instead.
//!
//! Reads: links, Model and State to look ahead.  Writes: links' impulses, solver bodies.
//! Called by: the solves of `sequential`.
//! Source: docs/methods.md, "Nets of joints"; the stiffness of stressed joints [Tournier15].
//!
//! Impulses λ of the rows change their velocities by A λ, A = J M⁻¹ Jᵀ, which is factored with nested dissection (`front_cholesky.rs`). A net that is
//! stretched flat has more rows than freedoms: A is singular there, so A + ε diag(A) is factored, and λ goes on from the impulses it has.
//!
//! A joint under the force f on the lever r of a body turns it back with the stiffness K = (f·r) 1 − ½ (r fᵀ + f rᵀ). Other islands are
//! divided in time until they follow that; a net is not. Where (h/2)² K is more than a quarter of the body's inertia, the excess acts as inertia on the velocity that
//! the half step leaves, as for stiff springs (`link::spring_impulse`), which takes energy.

#![allow(non_snake_case)]

use super::joints::Sight;
use super::lane::{Island, Lane};
use super::link::Link;
use super::trees::Bodies;
use crate::dynamics::joint::JointRow;
use crate::math::dissection::NONE;
use crate::math::eigen::symmetric_eigen;
use crate::math::front_cholesky::FrontCholesky;
use crate::math::{Mat3, Vec3};
use crate::report::SolverWork;

/// Joints from which an island counts as a net.
pub(crate) const JOINTS_MIN: usize = 32;
/// Multiplications that a factorisation may take for each row [1].
const COST_ROW: u64 = 10_000;
/// Softness of the rows, relative to their own response [1].
const SOFT: f64 = 1e-5;
/// Part of what the joints are open at the start that a part of a step closes [1].
const CLOSED: f64 = 0.2;
/// Share of its inertia up to which the stiffness of a body is followed as it is [1].
const FOLLOWED: f64 = 0.25;

/// Scratch of one net.
#[derive(Clone, Debug, Default)]
pub(crate) struct Net {
    factor: FrontCholesky,
    /// By slot: the number of the body in the net.
    numbers: Vec<u32>,
    /// By number: the slot, and the stiffness.
    slots: Vec<u32>,
    stiffness: Vec<Mat3>,
    /// By row in the order of elimination: what is missing, then the impulse.
    x: Vec<f64>,
}

/// Solves the first half of a net: impulses at t that bring its joints together at t + h. False (and nothing changed) if the island is no net.
pub(crate) fn first(sight: &Sight<'_>, lane: &mut Lane, island: &mut Island<'_>) -> bool {
    let Some(mut net) = island.part.net.take() else {
        return false;
    };
    let (links, bodies) = (&mut *island.links, &mut lane.bodies);
    island.part.netted = island.rows.is_empty() && net.prepare(links, bodies);
    if island.part.netted {
        // Remembered impulses would add up to a stress that no motion needs.
        links.iter_mut().for_each(|link| link.lambda = [0.0; 6]);
        // What is open already closes little by little: at once it would be velocity.
        for link in links.iter_mut() {
            link.keep_residuals(1.0 - CLOSED, sight.h);
        }
        for &slot in &net.slots {
            let (body, s) = (
                &mut bodies[slot as usize],
                &sight.state.bodies[slot as usize],
            );
            (body.v, body.w) = (s.velocity, s.angular_velocity);
        }
        let last = sight.state.part;
        let per_impulse = if last > 0.0 { 2.0 / last } else { 0.0 };
        net.stiffen(sight.h, links, bodies, |link| {
            link.force_of(&sight.state.joints[link.joint as usize].first) * per_impulse
        });
        net.solve(links, bodies, &mut lane.work);
    }
    island.part.net = Some(net);
    island.part.netted
}

/// Solves the second half: impulses at t + h that leave no velocity along the rows.
pub(crate) fn second(h: f64, lane: &mut Lane, island: &mut Island<'_>) {
    let Some(mut net) = island.part.net.take() else {
        return;
    };
    let (links, bodies) = (&mut *island.links, &mut lane.bodies);
    net.stiffen(h, links, bodies, |link| {
        link.force_of(link.first_impulses()) * (2.0 / h)
    });
    net.solve(links, bodies, &mut lane.work);
    links.iter_mut().for_each(|link| link.netted = true);
    island.part.net = Some(net);
}

impl Net {
    /// Numbers the bodies and orders the joints; false if they do not fit.
    fn prepare(&mut self, links: &[Link], bodies: &Bodies) -> bool {
        if !links.iter().all(Link::is_plain) {
            return false;
        }
        self.numbers.clear();
        self.numbers.resize(bodies.len(), NONE);
        self.slots.clear();
        let mut rows = 0;
        for link in links {
            rows += link.held.count as u64;
            for slot in [link.a, link.b] {
                let number = &mut self.numbers[slot as usize];
                if bodies[slot as usize].inverse_mass > 0.0 && *number == NONE {
                    *number = self.slots.len() as u32;
                    self.slots.push(slot);
                }
            }
        }
        let numbers = &self.numbers;
        let joints = links.iter().map(|link| {
            let ends = [link.a, link.b].map(|slot| numbers[slot as usize]);
            (ends, link.held.count as u32)
        });
        self.factor
            .analyse(self.slots.len(), joints, COST_ROW * rows)
    }

    /// Gives the bodies the inertia that keeps them from swinging faster than the step follows, and takes the velocity that it costs.
    /// `force` is that of a joint on its second body.
    fn stiffen(
        &mut self,
        h: f64,
        links: &[Link],
        bodies: &mut Bodies,
        force: impl Fn(&Link) -> Vec3,
    ) {
        self.stiffness.clear();
        self.stiffness.resize(self.slots.len(), Mat3::ZERO);
        for link in links {
            let f = force(link);
            let ends = [(link.a, link.lever_a, -f), (link.b, link.lever, f)];
            for (slot, r, f) in ends {
                let number = self.numbers[slot as usize];
                if number != NONE {
                    self.stiffness[number as usize] += stiffness(r, f);
                }
            }
        }
        for (&slot, &K) in self.slots.iter().zip(&self.stiffness) {
            let body = &mut bodies[slot as usize];
            if let Some((inverse, w)) = stiffened(body.inverse_inertia, K * (0.25 * h * h), body.w)
            {
                (body.inverse_inertia, body.w) = (inverse, w);
            }
        }
    }

    /// The matrix A + ε diag(A), factored; false if it is not positive definite.
    fn assemble(&mut self, links: &[Link], bodies: &Bodies) -> bool {
        let mut values = self.factor.values.iter_mut();
        for entry in &self.factor.entries {
            let slot = self.slots[entry.body as usize];
            let body = &bodies[slot as usize];
            let (first, second) = (&links[entry.row as usize], &links[entry.column as usize]);
            for (i, p) in first.held.rows[..first.held.count].iter().enumerate() {
                let (e, turn) = side(first, p, slot);
                let e = e * body.inverse_mass;
                let turn = body.inverse_inertia * turn;
                for (j, q) in second.held.rows[..second.held.count].iter().enumerate() {
                    let (e_q, turn_q) = side(second, q, slot);
                    let x = e.dot(e_q) + turn.dot(turn_q);
                    let own = entry.row == entry.column && i == j;
                    if let Some(value) = values.next() {
                        *value = if own { x * (1.0 + SOFT) } else { x };
                    }
                }
            }
        }
        self.factor.factor()
    }

    /// Changes the impulses so that the rows reach their targets.
    fn solve(&mut self, links: &mut [Link], bodies: &mut Bodies, work: &mut SolverWork) {
        if !self.assemble(links, bodies) {
            work.caps_hit += 1;
            return;
        }
        work.newton_steps += 1;
        self.x.clear();
        self.x.resize(self.factor.rows(), 0.0);
        for (link, &at) in links.iter().zip(&self.factor.place) {
            let n = link.held.count;
            self.x[at as usize..][..n].copy_from_slice(&link.missing(bodies)[..n]);
        }
        self.factor.solve(&mut self.x);
        for (link, &at) in links.iter_mut().zip(&self.factor.place) {
            let n = link.held.count;
            let mut step = [0.0; 6];
            step[..n].copy_from_slice(&self.x[at as usize..][..n]);
            link.extrapolate(&step, bodies);
        }
    }
}

/// What a row does to one of its bodies: its share in velocity and angular velocity.
fn side(link: &Link, row: &JointRow, slot: u32) -> (Vec3, Vec3) {
    if link.a == slot {
        (-row.e, row.ang_a)
    } else {
        (row.e, row.ang_b)
    }
}

/// `(f·r) 1 − ½ (r fᵀ + f rᵀ)`: how a force on a lever turns a body back [N·m].
fn stiffness(r: Vec3, f: Vec3) -> Mat3 {
    let outer = Mat3::from_cols(r * f.x, r * f.y, r * f.z);
    Mat3::from_diagonal(Vec3::splat(f.dot(r))) - (outer + outer.transpose()) * 0.5
}

/// Inverse inertia and angular velocity of a body whose stiffness times (h/2)² is `K`; nothing if the step follows it as it is.
///
/// In the axes in which the inertia is 1 and K diagonal with κ, the kick leaves ω/(1 + d), 4 (κ − d) = 2/(d + 2) beyond κ = ¼.
fn stiffened(inverse: Mat3, K: Mat3, w: Vec3) -> Option<(Mat3, Vec3)> {
    // No eigenvalue is larger than the trace of a product of positive matrices, or of their sizes.
    let size = |m: &Mat3| m.x_axis.length() + m.y_axis.length() + m.z_axis.length();
    if size(&inverse) * size(&K) <= FOLLOWED {
        return None;
    }
    let (V, m) = symmetric_eigen(inverse);
    let root = m.map(|m| m.max(0.0).sqrt());
    let S = V * Mat3::from_diagonal(root) * V.transpose();
    let (W, k) = symmetric_eigen(S * K * S);
    if k.max_element() <= FOLLOWED {
        return None;
    }
    let share = k.map(|k| {
        if k > FOLLOWED {
            1.0 / (1.0 + 0.5 * (k - 2.0 + (k * k + 4.0 * k + 2.0).sqrt()))
        } else {
            1.0
        }
    });
    let SW = S * W;
    // S⁻¹ of what turns; what does not turn has no velocity.
    let unroot = root.map(|r| if r > 0.0 { 1.0 / r } else { 0.0 });
    let back = W.transpose() * (V * (unroot * (V.transpose() * w)));
    let scaled = Mat3::from_cols(
        SW.x_axis * share.x,
        SW.y_axis * share.y,
        SW.z_axis * share.z,
    );
    Some((scaled * SW.transpose(), SW * (share * back)))
}
