//! Impacts at one instant: all contacts that approach are answered together, in passes, until none does.
//!
//! Reads: Model, contacts that touch, velocities.  Writes: velocities, impulses of contacts and joints, ledger.
//! Called by: `method::forces`.
//! Source: [Lecture] "Contact Force Approach" (graph of impacts), "Sequence of impacts". One rule: what collides now and is connected through
//! bodies of finite mass is one cluster; a contact alone in its cluster follows the impact law, several are solved at once; what their answer
//! makes collide is the next pass. So k balls in give k balls out, and a ball between two others parts them evenly. Contacts that touch and do
//! not bounce belong to the cluster of their bodies: a stack takes a blow as a whole.

#![allow(non_snake_case)]

use super::ForcesParams;
use super::drives::{DRIVES, Kind};
use super::modes;
use super::smooth::{Scene, Smooth};
use super::system::{Bound, Hold, Mode, NO_NODE, System, Touch, dot};
use crate::collide::Contact;
use crate::dynamics::impact::impact;
use crate::dynamics::integrate;
use crate::dynamics::island::Islands;
use crate::math::block_cholesky::Block6;
use crate::math::{Mat3, Vec3};
use crate::model::BodyKind;
use crate::output::balance::Balance;
use crate::report::StepReport;
use crate::solver::law::length;
use crate::state::{BodyState, ContactKey, ContactMemory, JointMemory};

/// Trials of a common factor on restitution where several contacts together would gain energy.
const TRIALS_MAX: u32 = 40;
/// Energy gained by several contacts that counts as rounding, relative to what their impulses turn over [1].
const GAIN: f64 = 1e-12;
/// Approach that stands for none where friction jams a contact, relative to its slip [1].
const JAMMED: f64 = 1e-9;

/// A contact that touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    /// Its place among the contacts of the detection.
    pub contact: u32,
    key: ContactKey,
    touch: Touch,
    restitution: f64,
    /// Acceleration that closes its gap again after a bounce [m/s²].
    pull: f64,
    /// Friction jams it: no force can answer, an impact does.
    jammed: bool,
    /// Impulse on B [N·s], and largest speed of approach [m/s].
    pub impulse: Vec3,
    pub speed: f64,
    pub point: Vec3,
}

/// Scratch of the phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Impacts {
    pub near: Vec<Near>,
    /// By node: velocities.
    V: Vec<Block6>,
    colliding: Vec<bool>,
    /// By row that holds: whether a limit is run into, or a motor has to have its speed at once.
    driven: Vec<bool>,
    clusters: Islands,
    system: System,
    /// By node of the world: its node in the cluster.
    local: Vec<u32>,
    nodes: Vec<u32>,
    members: Vec<u32>,
    held: Vec<u32>,
    before: Vec<[f64; 3]>,
    held_before: Vec<f64>,
}

/// The phase under way.
pub(crate) struct Phase<'a> {
    pub params: &'a ForcesParams,
    pub scene: Scene<'a>,
    pub bodies: &'a mut [BodyState],
    pub smooth: &'a mut Smooth,
    pub report: &'a mut StepReport,
    pub balance: &'a mut Balance,
    /// Memory of the joints.
    pub joints: &'a [JointMemory],
    /// Gaps that the last piece closed, by key: how fast the approach has grown over it [m/s²].
    pub closed: &'a [(ContactKey, f64)],
    /// Memory of the contacts that carried in the last piece, and its length [s].
    pub carried: (&'a [ContactMemory], f64),
    pub h: f64,
}

impl Impacts {
    /// Answers what approaches now; `jammed` names active contacts that friction jams. Says whether something was answered.
    pub(crate) fn run(
        &mut self,
        phase: &mut Phase<'_>,
        touching: &[u32],
        jammed: &[u32],
        t: f64,
    ) -> bool {
        self.gather(phase, touching, jammed, t);
        if !self.find(phase.smooth, phase.params.velocity_tolerance) {
            return false;
        }
        let flight = phase.params.bounce_time * phase.h;
        let mut passes = 0;
        while passes < phase.params.passes {
            self.pass(phase, 1.0);
            for near in &mut self.near {
                near.jammed = false;
            }
            if !self.find(phase.smooth, phase.params.velocity_tolerance) {
                break;
            }
            self.settle(phase.smooth, flight);
            passes += 1;
        }
        phase.report.work.sweeps += passes;
        if passes == phase.params.passes {
            // What still collides stops: everything that touches at once, without restitution.
            phase.report.work.caps_hit += 1;
            self.colliding.fill(true);
            self.driven.fill(true);
            self.pass(phase, 0.0);
        }
        for (node, &slot) in phase.smooth.slots.iter().enumerate() {
            let [x, y, z, a, b, c] = self.V[node];
            phase.bodies[slot as usize].velocity = Vec3::new(x, y, z);
            phase.bodies[slot as usize].angular_velocity = Vec3::new(a, b, c);
        }
        let Phase { smooth, bodies, .. } = phase;
        smooth.trees_take_velocities(phase.scene.model, &self.V, bodies);
        true
    }

    /// Contacts were found anew: keeps what is still there, at its new place.
    pub(crate) fn recall(&mut self, place: impl Fn(&ContactKey) -> Option<usize>) {
        self.near.retain_mut(|near| match place(&near.key) {
            Some(i) => {
                near.contact = i as u32;
                true
            }
            None => false,
        });
    }

    /// Rows of all contacts that touch, in terms of velocities.
    fn gather(&mut self, phase: &mut Phase<'_>, touching: &[u32], jammed: &[u32], t: f64) {
        let Phase { smooth, scene, .. } = phase;
        smooth.active.clear();
        smooth
            .active
            .extend(touching.iter().map(|&contact| super::smooth::Active {
                contact,
                mode: Mode::Stick,
                force: Vec3::ZERO,
                frozen: false,
                lifted: false,
                parts: 0.0,
            }));
        smooth.joint_forces.clear();
        smooth.number(scene);
        let memory = (phase.joints, 0.0, false);
        smooth.gather_drives(phase.params, scene, phase.bodies, memory, phase.h);
        smooth.drives_for_impacts();
        smooth.pose(scene, phase.bodies, t);
        velocities(smooth, scene, phase.bodies);
        self.V.clear();
        self.V.extend(smooth.system.nodes.iter().map(|n| n.free));
        self.near.clear();
        for (touch, &contact) in smooth.system.touches.iter().zip(touching) {
            let c = &scene.contacts[contact as usize];
            let u = smooth.system.contact_rate(touch, &self.V);
            let mut touch = *touch;
            touch.force = [0.0; 3];
            // A pair that slips has its kinetic coefficient, also where it stops in the impact.
            if length(u[1], u[2]) > phase.params.velocity_tolerance {
                touch.friction_static = touch.friction;
            }
            let together = together(scene, phase.closed, c, touch.frame[0]);
            let pressed = pressed(phase.carried, &c.key) * smooth.system.normal_response(&touch);
            let e = c.surface.restitution;
            let flight = 2.0 * e * -u[0];
            let bounces = together <= 0.0 || flight > together * phase.params.bounce_time * phase.h;
            self.near.push(Near {
                contact,
                key: c.key,
                touch,
                restitution: if bounces { e } else { 0.0 },
                pull: together.max(pressed),
                jammed: jammed.contains(&contact),
                impulse: Vec3::ZERO,
                speed: 0.0,
                point: phase.bodies[c.bodies().1].position + touch.levers[1],
            });
        }
    }

    /// Marks what collides now.
    fn find(&mut self, smooth: &Smooth, tolerance: f64) -> bool {
        let world = &smooth.system;
        self.colliding.clear();
        for near in &self.near {
            let u = world.contact_rate(&near.touch, &self.V);
            self.colliding.push(u[0] < -tolerance || near.jammed);
        }
        self.driven.clear();
        for h in &world.holds {
            let drive = |h: &Hold| &smooth.drives[(h.row - DRIVES) as usize];
            let moves = h.row >= DRIVES && {
                let u = world.hold_rate(h, &self.V);
                match drive(h).kind {
                    Kind::Limit { sign, .. } if sign != 0.0 => sign * u < -tolerance,
                    _ => u.abs() > tolerance,
                }
            };
            self.driven.push(moves);
        }
        self.colliding.iter().chain(&self.driven).any(|c| *c)
    }

    /// What loaded contacts pass to and fro between them ends where a bounce would be shorter than `flight`.
    fn settle(&mut self, smooth: &Smooth, flight: f64) {
        for (near, colliding) in self.near.iter_mut().zip(&self.colliding) {
            let speed = -smooth.system.contact_rate(&near.touch, &self.V)[0];
            if *colliding && 2.0 * near.restitution * speed <= near.pull * flight {
                near.restitution = 0.0;
            }
        }
    }

    /// One pass over all clusters.
    fn pass(&mut self, phase: &mut Phase<'_>, factor: f64) {
        let outside = self.V.len() as u32;
        let world = &phase.smooth.system;
        let inside = |n: u32| match world.node_of_end(n) {
            NO_NODE => outside,
            node => node,
        };
        let holds = &phase.smooth.system.holds;
        let takes_part: Vec<bool> = (0..self.near.len())
            .map(|i| self.colliding[i] || self.near[i].restitution == 0.0)
            .collect();
        let contacts = self.near.iter().map(|n| n.touch.nodes);
        let pairs: Vec<(u32, u32)> = contacts
            .zip(&takes_part)
            .map(|([a, b], part)| {
                if *part {
                    (inside(a), inside(b))
                } else {
                    (outside, outside)
                }
            })
            .chain(
                holds
                    .iter()
                    .map(|h| (inside(h.nodes[0]), inside(h.nodes[1]))),
            )
            .collect();
        let mut clusters = std::mem::take(&mut self.clusters);
        clusters.build(outside as usize + 1, |s| s < outside, pairs.iter().copied());
        for cluster in 0..clusters.count() {
            let items = &clusters.order[clusters.range(cluster)];
            let contacts = self.near.len() as u32;
            self.members.clear();
            self.held.clear();
            for &item in items {
                if item < contacts {
                    if takes_part[item as usize] {
                        self.members.push(item);
                    }
                } else {
                    self.held.push(item - contacts);
                }
            }
            let struck = self.members.iter().any(|&i| self.colliding[i as usize]);
            if struck || self.held.iter().any(|&i| self.driven[i as usize]) {
                self.answer(phase, factor);
            }
        }
        self.clusters = clusters;
    }

    /// Answers the cluster at hand.
    fn answer(&mut self, phase: &mut Phase<'_>, factor: f64) {
        self.take(&phase.smooth.system);
        let bounded = self.system.holds.iter().any(Hold::is_bounded);
        if self.members.len() == 1 && factor > 0.0 && !bounded && self.alone(phase) {
            // The impact law has answered.
        } else {
            self.guarded(phase, factor);
        }
        self.give(phase);
    }

    /// The cluster as a system of its own.
    fn take(&mut self, world: &System) {
        let sub = &mut self.system;
        sub.clear();
        self.nodes.clear();
        self.local.clear();
        self.local.resize(self.V.len(), NO_NODE);
        let touches = self.members.iter().map(|&i| self.near[i as usize].touch);
        sub.touches.extend(touches);
        let holds = self.held.iter().map(|&i| Hold {
            force: 0.0,
            ..world.holds[i as usize]
        });
        sub.holds.extend(holds);
        let of_touches = sub.touches.iter().map(|t| t.nodes);
        for end in of_touches
            .chain(sub.holds.iter().map(|h| h.nodes))
            .flatten()
        {
            let n = world.node_of_end(end);
            if n != NO_NODE && self.local[n as usize] == NO_NODE {
                // All nodes of a tree come together.
                for n in n..n + world.blocks_at(n) {
                    self.local[n as usize] = 0;
                    self.nodes.push(n);
                }
            }
        }
        // As in the world: bodies as they come, then the trees in their order.
        let bodies = world.bodies() as u32;
        self.nodes
            .sort_by_key(|&n| if n < bodies { 0 } else { n + 1 });
        for (k, &n) in self.nodes.iter().enumerate() {
            self.local[n as usize] = k as u32;
        }
        let local = &self.local;
        let place = |end: u32| {
            let is_body = end != NO_NODE && world.node_of_end(end) == end;
            if is_body { local[end as usize] } else { end }
        };
        for touch in &mut sub.touches {
            touch.nodes = touch.nodes.map(place);
        }
        for hold in &mut sub.holds {
            hold.nodes = hold.nodes.map(place);
        }
        for &n in &self.nodes {
            let mut node = world.nodes[n as usize];
            node.free = self.V[n as usize];
            sub.nodes.push(node);
        }
        sub.take_trees(world, |first| local[first as usize]);
        self.before.clear();
        let free: Vec<Block6> = sub.nodes.iter().map(|n| n.free).collect();
        for t in &sub.touches {
            self.before.push(sub.contact_rate(t, &free));
        }
        self.held_before.clear();
        self.held_before
            .extend(sub.holds.iter().map(|h| sub.hold_rate(h, &free)));
    }

    /// A contact alone: the impact law, on the response that the joints leave it. False if it has no answer.
    fn alone(&mut self, phase: &mut Phase<'_>) -> bool {
        let near = self.near[self.members[0] as usize];
        let touch = self.system.touches[0];
        let (K, ok) = self.held_response(&touch);
        let [n, t1, t2] = touch.frame;
        let F = Mat3::from_cols(n, t1, t2);
        let mut u = Vec3::from_array(self.before[0]);
        if near.jammed {
            u.x = u.x.min(-JAMMED * length(u.y, u.z));
        }
        let mut surface = phase.scene.contacts[near.contact as usize].surface;
        surface.restitution = near.restitution;
        let K = F * K * F.transpose();
        let K = (K + K.transpose()) * 0.5;
        let Ok(found) = impact(K, n, F * u, &surface) else {
            return false;
        };
        if !ok || found.locked {
            return false;
        }
        phase.report.work.caps_hit += u32::from(found.capped);
        let f = F.transpose() * found.impulse;
        let touch = &mut self.system.touches[0];
        touch.force = f.to_array();
        self.system.apply_forces();
        self.hold()
    }

    /// The joints answer what the contacts have given: no velocity along the rows that hold.
    fn hold(&mut self) -> bool {
        if self.system.holds.is_empty() {
            return true;
        }
        let touches = std::mem::take(&mut self.system.touches);
        let kept: Vec<Block6> = self.system.nodes.iter().map(|n| n.free).collect();
        for (node, v) in self.system.nodes.iter_mut().zip(&self.system.result) {
            node.free = *v;
        }
        let ok = self.system.solve();
        for (node, v) in self.system.nodes.iter_mut().zip(kept) {
            node.free = v;
        }
        self.system.touches = touches;
        ok
    }

    /// Response of a contact along its frame once the joints have answered.
    fn held_response(&mut self, touch: &Touch) -> (Mat3, bool) {
        if self.system.holds.is_empty() {
            return (self.system.response(touch), true);
        }
        let kept = self.system.clone();
        let mut columns = [Vec3::ZERO; 3];
        let mut ok = true;
        for node in &mut self.system.nodes {
            node.free = [0.0; 6];
        }
        for hold in &mut self.system.holds {
            hold.bias = 0.0;
        }
        for (k, column) in columns.iter_mut().enumerate() {
            for hold in &mut self.system.holds {
                hold.force = 0.0;
            }
            let mut one = *touch;
            one.force = [0.0; 3];
            one.force[k] = 1.0;
            one.bias = [0.0; 3];
            self.system.touches[0] = one;
            self.system.apply_forces();
            ok &= self.hold();
            *column = Vec3::from_array(self.system.contact_rate(&one, &self.system.result));
        }
        self.system = kept;
        let K = Mat3::from_cols(columns[0], columns[1], columns[2]);
        ((K + K.transpose()) * 0.5, ok)
    }

    /// Several contacts at once; their restitution is scaled down by a common factor where they would gain energy.
    fn guarded(&mut self, phase: &mut Phase<'_>, factor: f64) {
        self.together(phase, factor);
        let (gain, turnover) = self.gain();
        if gain <= GAIN * turnover {
            return;
        }
        let (mut low, mut high) = (0.0, factor);
        for _ in 0..TRIALS_MAX {
            let middle = 0.5 * (low + high);
            self.together(phase, middle);
            if self.gain().0 > 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.together(phase, low);
    }

    /// Every contact to its rebound u_n ≥ −e u_n⁻, friction to no slip within its cone, joints to no velocity.
    fn together(&mut self, phase: &mut Phase<'_>, factor: f64) {
        for (k, &i) in self.members.iter().enumerate() {
            let near = &self.near[i as usize];
            let touch = &mut self.system.touches[k];
            touch.bias = near.touch.bias;
            let e = factor * near.restitution;
            touch.bias[0] += e * self.before[k][0].min(0.0);
            touch.mode = Mode::Stick;
            touch.force = [0.0; 3];
        }
        for hold in &mut self.system.holds {
            hold.force = 0.0;
            hold.bound = Bound::Held;
        }
        let solved = modes::find(&mut self.system, &mut phase.smooth.solver);
        phase.report.work.newton_steps += solved.newton_steps;
        phase.report.work.caps_hit += u32::from(!solved.met);
        // Rates are velocities again, without the restitution asked for.
        for (k, &i) in self.members.iter().enumerate() {
            self.system.touches[k].bias = self.near[i as usize].touch.bias;
        }
    }

    /// Work of the impulses on the contacts, Σ P·½(u⁻ + u⁺), and the sum of its sizes [J].
    fn gain(&self) -> (f64, f64) {
        let mut sum = (0.0, 0.0);
        for (t, before) in self.system.touches.iter().zip(&self.before) {
            let after = self.system.contact_rate(t, &self.system.result);
            for k in 0..3 {
                let work = t.force[k] * 0.5 * (before[k] + after[k]);
                sum.0 += work;
                sum.1 += (t.force[k] * before[k]).abs();
            }
        }
        sum
    }

    /// Books what the cluster did, and keeps its velocities.
    fn give(&mut self, phase: &mut Phase<'_>) {
        let model = phase.scene.model;
        for (k, &i) in self.members.iter().enumerate() {
            let t = &self.system.touches[k];
            let after = self.system.contact_rate(t, &self.system.result);
            let before = self.before[k];
            let near = &mut self.near[i as usize];
            near.impulse += t.vector();
            if self.colliding[i as usize] {
                near.speed = near.speed.max(-before[0]);
            }
            let mean: [f64; 3] = std::array::from_fn(|j| 0.5 * (before[j] + after[j]));
            let restitution = -t.force[0] * mean[0];
            let friction = -(t.force[1] * mean[1] + t.force[2] * mean[2]);
            // Work of sides with prescribed motion: their part of u is the bias.
            let surface = near.touch.bias;
            let prescribed = -(0..3).map(|j| t.force[j] * surface[j]).sum::<f64>();
            let e = &mut phase.report.energy;
            e.restitution += restitution;
            e.friction += friction;
            e.prescribed += prescribed;
            let (a, b) = phase.scene.contacts[near.contact as usize].bodies();
            let ends = [a as u32, b as u32];
            phase
                .balance
                .exchange(model, ends, prescribed, restitution + friction);
        }
        for (h, before) in self.system.holds.iter().zip(&self.held_before) {
            let after = self.system.hold_rate(h, &self.system.result);
            let shock = -h.force * 0.5 * (before + after);
            let prescribed = -h.force * h.bias;
            phase.report.energy.shock += shock;
            if h.row < DRIVES {
                phase.report.energy.prescribed += prescribed;
            } else {
                phase.report.energy.motors += prescribed;
            }
            let slot = phase.smooth.joints[h.owner as usize];
            if let Some(joint) = &model.joints[slot as usize] {
                let ends = [joint.a.unwrap_or(joint.b), joint.b];
                phase
                    .balance
                    .exchange_by_joint(model, ends, prescribed, shock);
            }
        }
        for (k, &n) in self.nodes.iter().enumerate() {
            self.V[n as usize] = self.system.result[k];
        }
    }
}

/// Turns the posed system from accelerations to velocities: free motions are velocities, biases those of prescribed sides.
pub(crate) fn velocities(smooth: &mut Smooth, scene: &Scene<'_>, bodies: &[BodyState]) {
    for (node, &slot) in smooth.system.nodes.iter_mut().zip(&smooth.slots) {
        let s = &bodies[slot as usize];
        let (v, w) = (s.velocity, s.angular_velocity);
        node.free = [v.x, v.y, v.z, w.x, w.y, w.z];
    }
    smooth.tree_velocities();
    for (touch, active) in smooth.system.touches.iter_mut().zip(&smooth.active) {
        let (a, b) = scene.contacts[active.contact as usize].bodies();
        let mut u = Vec3::ZERO;
        let sides = [(a, -1.0, 0), (b, 1.0, 1)];
        for (slot, sign, side) in sides {
            if touch.nodes[side] == NO_NODE {
                let s = &bodies[slot];
                u += (s.velocity + s.angular_velocity.cross(touch.levers[side])) * sign;
            }
        }
        touch.bias = touch.along(u);
    }
    for k in 0..smooth.system.holds.len() {
        let mut hold = smooth.system.holds[k];
        hold.bias = 0.0;
        let slot = smooth.joints[hold.owner as usize];
        let Some(joint) = &scene.model.joints[slot as usize] else {
            continue;
        };
        if hold.row >= DRIVES {
            hold.bias -= smooth.drive_speed((hold.row - DRIVES) as usize, joint, bodies);
        }
        for (slot, side) in [(joint.a, 0), (Some(joint.b), 1)] {
            if let (Some(slot), NO_NODE) = (slot, hold.nodes[side]) {
                let s = &bodies[slot as usize];
                let (v, w) = (s.velocity, s.angular_velocity);
                hold.bias += dot(&hold.jacobians[side], &[v.x, v.y, v.z, w.x, w.y, w.z]);
            }
        }
        smooth.system.holds[k].bias = hold.bias;
    }
}

/// Normal force of a contact in the last piece [N].
fn pressed((memory, length): (&[ContactMemory], f64), key: &ContactKey) -> f64 {
    match memory.binary_search_by_key(key, |m| m.key) {
        Ok(i) if length > 0.0 => memory[i].first.normal / length,
        _ => 0.0,
    }
}

/// Acceleration that closes a gap after a bounce [m/s²]: what gravity and loads pull, or, where that is more, what has just closed it. The latter
/// knows joints and what else carries the bodies.
fn together(scene: &Scene<'_>, closed: &[(ContactKey, f64)], c: &Contact, normal: Vec3) -> f64 {
    let (a, b) = c.bodies();
    let pulled = |slot: usize| {
        let body = scene.model.bodies[slot].as_ref();
        body.map_or(Vec3::ZERO, |x| match x.kind {
            BodyKind::Link { .. } => scene.model.gravity,
            _ => integrate::acceleration(scene.model, x, &scene.loads[slot]),
        })
    };
    let free = -(pulled(b) - pulled(a)).dot(normal);
    let found = closed.binary_search_by_key(&c.key, |x| x.0);
    found.map_or(free, |i| free.max(closed[i].1))
}
