//! One piece of smooth motion: classical Runge–Kutta with the forces solved again at every stage, modes as they are.
//!
//! Reads: `Smooth` (nodes, contacts, modes), states at its start.  Writes: states at its end, sums over it.
//! Called by: `method::forces`, `locate`.
//! Source: order four by the classical tableau; rotations by [MuntheKaas99], φ' = dexp⁻¹_φ ω. Impulses and works are integrated by the same
//! weights, so that they are of the same order.

use super::compliant::YieldingSum;
use super::drives::row_speed;
use super::modes;
use super::smooth::{ContactSum, DRAG_PROBE, JointSum, Scene, Smooth, SpringSum, spring_forces};
use super::system::Mode;
use crate::dynamics::{drag, integrate};
use crate::math::{Vec3, rotation};
use crate::model::{Body, BodyKind, Model};
use crate::state::BodyState;

/// Rates of one node at one stage.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    v: Vec3,
    a: Vec3,
    phi: Vec3,
    torque: Vec3,
}

/// Scratch of a piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stage {
    pub bodies: Vec<BodyState>,
    rates: [Vec<Rate>; 4],
    /// By node: angular momentum at the start [kg·m²/s], rotation vector since then at the stage [rad].
    momenta: Vec<Vec3>,
    turned: Vec<Vec3>,
}

/// Where the stages are, and their weights.
const PLACES: [f64; 4] = [0.0, 0.5, 0.5, 1.0];
const WEIGHTS: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
/// Way within a step under which a stage is no other place [m]: its forces are those of the start.
const STILL: f64 = 1e-14;

/// Number of steps hL up to which the error is that of a smooth motion: where the domain of stability of the tableau ends on either axis [1].
const STABLE: f64 = 2.78;
/// Error of the end, relative to (hL)² times what the middle stages differ by: (hL)⁴/120 of the first rate beside (hL)²/4 of it [1].
const ERROR_OF_STAGES: f64 = 1.0 / 30.0;

/// How a piece went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// The forces of its last stage keep all conditions.
    Valid,
    /// They do not: a contact pulls, or one that sticks would have to slip.
    Broken,
    /// A stage had no forces.
    Lost,
}

impl Smooth {
    /// Goes on for `h` from `start` at time `t`; the end is in `end`. The system must be posed and solved at the start.
    pub(crate) fn run(
        &mut self,
        scene: &Scene<'_>,
        start: &[BodyState],
        t: f64,
        h: f64,
        end: &mut Vec<BodyState>,
    ) -> Course {
        self.fly(scene, start, t, h, end);
        self.begin(scene, start);
        if self.impulse_level {
            return self.run_impulses(scene, start, h, end);
        }
        let mut course = Course::Valid;
        for s in 0..4 {
            let c = PLACES[s];
            if s > 0 && !self.is_still(h) {
                self.place(scene.model, start, t, c * h, s);
                self.place_trees(scene.model, c * h, s);
                let stage = std::mem::take(&mut self.stage.bodies);
                self.pose(scene, &stage, t + c * h);
                self.stage.bodies = stage;
                if !self.system.solve() {
                    // Their links have not left the start either.
                    self.trees_come_back();
                    return Course::Lost;
                }
                if s == 3 && !modes::holds(&self.system) {
                    course = Course::Broken;
                }
                self.keep_forces();
            }
            self.rate(scene.model, start, s);
            self.rate_trees(scene.model, c * h, s);
            self.add_up(scene, WEIGHTS[s] * h);
            self.sum_trees(scene, WEIGHTS[s] * h);
            self.sum_drives(scene.model, WEIGHTS[s] * h);
        }
        self.arrive(scene.model, start, h, end);
        self.trees_arrive(scene.model, h, WEIGHTS, end);
        course
    }

    /// Estimated error of the velocities at the end of the last piece of length `h`, relative to the speeds at hand; the largest of all bodies.
    ///
    /// For y' = f(y) with the rate L of f the middle stages differ by k₃ − k₂ = (hL)²/4 k₁ and k₂ − k₁ = hL/2 k₁: their quotient measures hL,
    /// and the first term that the tableau leaves out is (hL)⁴/120 h k₁.
    pub(crate) fn error(&self, model: &Model, start: &[BodyState], h: f64, still: f64) -> f64 {
        let [first, second, third, _] = &self.stage.rates;
        let mut worst: f64 = 0.0;
        if self.impulse_level || second.len() != first.len() || third.len() != first.len() {
            return worst;
        }
        let fall = model.gravity.length() * self.step + still;
        for (i, (node, &slot)) in self.system.nodes.iter().zip(&self.slots).enumerate() {
            // Twice the kinetic energy of a change, by mass: one speed for all directions.
            let size = |x: &Rate, y: &Rate| {
                let torque = x.torque - y.torque;
                let turn = torque.dot(node.inverse_inertia * torque) * node.inverse_mass;
                ((x.a - y.a).length_squared() + turn).sqrt()
            };
            let (early, middle) = (size(&second[i], &first[i]), size(&third[i], &second[i]));
            if middle == 0.0 {
                continue;
            }
            let stiffness = (2.0 * middle / early).min(STABLE);
            let error = ERROR_OF_STAGES * stiffness * stiffness * middle * h;
            let from = &start[slot as usize];
            let turn = self.stage.momenta[i].dot(from.angular_velocity) * node.inverse_mass;
            let speed = (from.velocity.length_squared() + turn).sqrt();
            worst = worst.max(error / (speed + fall));
        }
        worst
    }

    /// Bodies that nothing binds, and prescribed ones, at the end.
    fn fly(
        &self,
        scene: &Scene<'_>,
        start: &[BodyState],
        t: f64,
        h: f64,
        end: &mut Vec<BodyState>,
    ) {
        end.clear();
        end.extend_from_slice(start);
        for (i, body) in scene.model.present() {
            let a = integrate::acceleration(scene.model, body, &scene.loads[i]);
            // Links go where their trees do.
            if !matches!(body.kind, BodyKind::Link { .. }) {
                end[i] = integrate::advance(body, &start[i], a, t, h);
            }
        }
    }

    fn begin(&mut self, scene: &Scene<'_>, start: &[BodyState]) {
        let nodes = self.slots.len();
        self.contact_sums.clear();
        self.contact_sums
            .resize(self.active.len(), ContactSum::default());
        self.joint_sums.clear();
        self.joint_sums
            .resize(self.joints.len(), JointSum::default());
        self.yielding_sums.clear();
        self.yielding_sums
            .resize(self.yielding.len(), YieldingSum::default());
        for list in [&mut self.drag_loss, &mut self.external] {
            list.clear();
            list.resize(nodes, 0.0);
        }
        self.spring_works = SpringSum::default();
        self.motor_work = 0.0;
        self.begin_trees();
        let stage = &mut self.stage;
        stage.bodies.clear();
        stage.bodies.extend_from_slice(start);
        stage.turned.clear();
        stage.turned.resize(nodes, Vec3::ZERO);
        stage.momenta.clear();
        for &slot in &self.slots {
            if let Some(body) = &scene.model.bodies[slot as usize] {
                let s = &start[slot as usize];
                stage
                    .momenta
                    .push(crate::dynamics::energy::spin_momentum(body, s));
            }
        }
    }

    /// Whether nothing that is bound moves in `h`: every stage is where the first is.
    fn is_still(&self, h: f64) -> bool {
        let still = |r: &Rate| {
            let speed = r.v.abs().max_element().max(r.phi.abs().max_element());
            let gain = r.a.abs().max_element();
            speed * h <= STILL && gain * h * h <= STILL
        };
        let torque = |r: &Rate, w: &super::system::Node| {
            (w.inverse_inertia * r.torque).abs().max_element() * h * h <= STILL
        };
        let first = &self.stage.rates[0];
        let pairs = first.iter().zip(&self.system.nodes);
        first.iter().all(still)
            && pairs.into_iter().all(|(r, n)| torque(r, n))
            && self.trees_are_still(h, STILL)
            && self.fixed_in_time
    }

    /// States at a stage.
    fn place(&mut self, model: &Model, start: &[BodyState], t: f64, dt: f64, s: usize) {
        let stage = &mut self.stage;
        for (node, &slot) in self.slots.iter().enumerate() {
            let Some(body) = &model.bodies[slot as usize] else {
                continue;
            };
            let (from, k) = (&start[slot as usize], &stage.rates[s - 1][node]);
            let phi = k.phi * dt;
            stage.turned[node] = phi;
            let rotation = rotation::normalized(rotation::exp(phi) * from.rotation);
            let l = stage.momenta[node] + k.torque * dt;
            stage.bodies[slot as usize] = BodyState {
                position: from.position + k.v * dt,
                rotation,
                velocity: from.velocity + k.a * dt,
                angular_velocity: rotation::spin(rotation * body.axes, body.inverse_moments, l),
            };
        }
        let stays = |b: &Body| !b.is_awake() && !matches!(b.kind, BodyKind::Link { .. });
        for (i, body) in model.present().filter(|(_, b)| stays(b)) {
            stage.bodies[i] = integrate::advance(body, &start[i], Vec3::ZERO, t, dt);
        }
    }

    /// Rates of every node, from the solved system.
    fn rate(&mut self, model: &Model, start: &[BodyState], s: usize) {
        let stage = &mut self.stage;
        let mut rates = std::mem::take(&mut stage.rates[s]);
        rates.clear();
        rates.resize(self.slots.len(), Rate::default());
        for (node, &slot) in self.slots.iter().enumerate() {
            if model.bodies[slot as usize].is_none() {
                continue;
            }
            let body = if s == 0 {
                &start[slot as usize]
            } else {
                &stage.bodies[slot as usize]
            };
            let [x, y, z, a, b, c] = self.system.result[node];
            let (w, phi) = (body.angular_velocity, stage.turned[node]);
            let inertia = self.system.nodes[node].inertia;
            // L̇ = I ω̇ + ω × I ω
            let torque = inertia * Vec3::new(a, b, c) + w.cross(inertia * w);
            let turn = phi.cross(w);
            rates[node] = Rate {
                v: body.velocity,
                a: Vec3::new(x, y, z),
                phi: w - turn * 0.5 + phi.cross(turn) / 12.0,
                torque,
            };
        }
        stage.rates[s] = rates;
    }

    /// Impulses and works of a stage with its weight [s].
    fn add_up(&mut self, scene: &Scene<'_>, weight: f64) {
        self.sum_yielding(scene, weight);
        let bodies = &self.stage.bodies;
        for (k, touch) in self.system.touches.iter().enumerate() {
            let (a, b) = scene.contacts[self.active[k].contact as usize].bodies();
            let point = bodies[b].position + touch.levers[1];
            let force = touch.vector();
            let (u_a, u_b) = (
                bodies[a].point_velocity(point),
                bodies[b].point_velocity(point),
            );
            let sum = &mut self.contact_sums[k];
            sum.impulse += force * weight;
            let tangential = force - touch.frame[0] * touch.force[0];
            if matches!(touch.mode, Mode::Slide(_)) {
                sum.friction -= tangential.dot(u_b - u_a) * weight;
            }
            for (slot, work) in [(a, force.dot(u_a)), (b, -force.dot(u_b))] {
                if !scene.model.is_awake(slot as u32) {
                    sum.prescribed += work * weight;
                }
            }
        }
        for h in &self.system.holds {
            let slot = self.joints[h.owner as usize];
            if let Some(joint) = &scene.model.joints[slot as usize] {
                let sum = &mut self.joint_sums[h.owner as usize];
                sum.add(joint, h, bodies, scene.model, weight);
            }
        }
        for (owner, &slot) in self.joints.iter().enumerate() {
            if let Some(joint) = &scene.model.joints[slot as usize] {
                for (row, force, damper) in spring_forces(joint, bodies) {
                    let speed = row_speed(&row, joint, bodies) * weight;
                    let prescribed = force * driven(scene.model, &row, joint, bodies) * weight;
                    let sum = &mut self.spring_works;
                    sum.given += (force - damper) * speed;
                    sum.damped -= damper * speed;
                    sum.prescribed += prescribed;
                    self.joint_sums[owner].driven += force * speed + prescribed;
                }
            }
        }
        for (node, &slot) in self.slots.iter().enumerate() {
            let (load, s) = (&scene.loads[slot as usize], &bodies[slot as usize]);
            self.external[node] +=
                (load.force.dot(s.velocity) + load.torque.dot(s.angular_velocity)) * weight;
            if let Some(body) = scene.model.bodies[slot as usize]
                .as_ref()
                .filter(|b| b.drag.is_some())
            {
                self.drag_loss[node] += drag_power(body, s) * weight;
            }
        }
    }

    /// States at the end.
    fn arrive(&self, model: &Model, start: &[BodyState], h: f64, end: &mut [BodyState]) {
        for (node, &slot) in self.slots.iter().enumerate() {
            let Some(body) = &model.bodies[slot as usize] else {
                continue;
            };
            let mut k = Rate::default();
            for (rates, weight) in self.stage.rates.iter().zip(WEIGHTS) {
                let r = &rates[node];
                k.v += r.v * weight;
                k.a += r.a * weight;
                k.phi += r.phi * weight;
                k.torque += r.torque * weight;
            }
            let from = &start[slot as usize];
            let rotation = rotation::normalized(rotation::exp(k.phi * h) * from.rotation);
            let l = self.stage.momenta[node] + k.torque * h;
            end[slot as usize] = BodyState {
                position: from.position + k.v * h,
                rotation,
                velocity: from.velocity + k.a * h,
                angular_velocity: rotation::spin(rotation * body.axes, body.inverse_moments, l),
            };
        }
    }
}

impl JointSum {
    /// One row of a joint over a weight [s].
    pub(crate) fn add(
        &mut self,
        joint: &crate::model::Joint,
        h: &super::system::Hold,
        bodies: &[BodyState],
        model: &Model,
        weight: f64,
    ) {
        let [x, y, z, a, b, c] = h.jacobians[1].map(|j| j * h.force);
        let (force, torque) = (Vec3::new(x, y, z), Vec3::new(a, b, c));
        let body = &bodies[joint.b as usize];
        let lever = body.rotation * joint.local_b.position;
        self.impulse += force * weight;
        self.angular += (torque - lever.cross(force)) * weight;
        let sides = [(joint.a, 0), (Some(joint.b), 1)];
        for (slot, side) in sides {
            let Some(slot) = slot.filter(|&s| !model.is_awake(s)) else {
                continue;
            };
            let s = &bodies[slot as usize];
            let [x, y, z, a, b, c] = h.jacobians[side].map(|j| j * h.force);
            let power =
                Vec3::new(x, y, z).dot(s.velocity) + Vec3::new(a, b, c).dot(s.angular_velocity);
            self.prescribed -= power * weight;
        }
    }
}

/// How fast ends with prescribed motion move against a row.
pub(super) fn driven(
    model: &Model,
    row: &crate::dynamics::joint::JointRow,
    joint: &crate::model::Joint,
    bodies: &[BodyState],
) -> f64 {
    let mut speed = 0.0;
    if let Some(slot) = joint.a.filter(|a| !model.is_awake(*a)) {
        let s = &bodies[slot as usize];
        speed += row.e.dot(s.velocity) - row.ang_a.dot(s.angular_velocity);
    }
    if !model.is_awake(joint.b) {
        let s = &bodies[joint.b as usize];
        speed -= row.e.dot(s.velocity) + row.ang_b.dot(s.angular_velocity);
    }
    speed
}

/// Power that drag takes from a body [W].
fn drag_power(body: &Body, s: &BodyState) -> f64 {
    let probe = DRAG_PROBE;
    let (v, w) = drag::kick(body, s, probe);
    let slowed = BodyState {
        velocity: v,
        angular_velocity: w,
        ..*s
    };
    let energy = crate::dynamics::energy::kinetic;
    (energy(body, s) - energy(body, &slowed)) / probe
}
