//! The smooth motion between two events: bodies under the forces of contacts and joints, whose modes stay, at order four.
//!
//! Reads: Model, states, contacts with modes.  Writes: states at the end of the piece, sums of forces and powers over it.
//! Called by: `method::forces`.
//! Source: [Lecture] "Contact Force Approach", "Vector b"; classical Runge–Kutta with rotations as in [MuntheKaas99]. Momenta (v, L) are
//! integrated, so that torque-free motion keeps L. Letters: φ rotation vector since the start of the piece.

use super::compliant::{Yielding, YieldingSum};
use super::drives::{DRIVES, Drive};
use super::modes::Solver;
use super::piece::Stage;
use super::system::{Bound, Hold, LINKS, Mode, NO_NODE, Node, System, Touch};
use super::trees::Tree;
use crate::articulated::TreeError;
use crate::collide::Contact;
use crate::dynamics::contact_rates::rates;
use crate::dynamics::impulse::inverse_inertia;
use crate::dynamics::joint::JointRow;
use crate::dynamics::{drag, integrate, joint_rates};
use crate::joint::JointKind;
use crate::math::block_cholesky::Block6;
use crate::math::jet::{FrameJet, VecJet};
use crate::math::{Pose, Vec3, rotation, tangents};
use crate::model::{Body, BodyKind, Joint, Model};
use crate::state::{BodyState, Load};

/// Slip below which its direction is the one it begins with [m/s].
const SLIP_DIRECTION: f64 = 1e-12;
/// Time over which drag is measured as a force, relative to a second [s].
pub(crate) const DRAG_PROBE: f64 = 1e-7;

/// A contact that carries load or may: it touches and does not approach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    /// Its place among the contacts of the detection.
    pub contact: u32,
    pub mode: Mode,
    /// Force on B, world [N].
    pub force: Vec3,
    /// Whether friction keeps its direction over the piece.
    pub frozen: bool,
    /// Whether an impact has lifted it; the speed at which it parts, if it is not sure to be back at once [m/s].
    pub lifted: bool,
    pub parts: f64,
}

/// The solved system at the start of a piece, which may be run again.
#[derive(Clone, Debug, Default)]
struct First {
    nodes: Vec<Node>,
    holds: Vec<Hold>,
    touches: Vec<Touch>,
    result: Vec<Block6>,
}

/// Which bodies, contacts and joints take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    /// Those of islands in which no contact gives way.
    Rigid,
    /// Those of islands in which one does.
    Compliant,
}

/// What acts in the piece under way.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub part: Part,
    /// By slot: whether a body belongs to an island in which a contact gives way.
    pub marks: &'a [bool],
    pub model: &'a Model,
    pub loads: &'a [Load],
    pub contacts: &'a [Contact],
}

impl Scene<'_> {
    /// Whether a body takes part.
    fn takes(&self, slot: u32) -> bool {
        let marked = self.marks.get(slot as usize).copied().unwrap_or(false);
        match self.part {
            Part::All => true,
            Part::Rigid => !marked,
            Part::Compliant => marked,
        }
    }

    /// Whether a contact takes part: one end that does is enough, and all that can move do or do not together.
    pub(crate) fn has(&self, c: &Contact) -> bool {
        self.joins(Some(c.key.pair.body_a), c.key.pair.body_b)
    }

    /// Whether a joint takes part.
    pub(crate) fn holds(&self, joint: &Joint) -> bool {
        self.joins(joint.a, joint.b)
    }

    fn joins(&self, a: Option<u32>, b: u32) -> bool {
        match self.part {
            Part::All => true,
            Part::Rigid => self.takes(b) && a.is_none_or(|a| self.takes(a)),
            Part::Compliant => self.takes(b) || a.is_some_and(|a| self.takes(a)),
        }
    }
}

/// What a contact did over a piece.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactSum {
    /// Impulse on B [N·s].
    pub impulse: Vec3,
    /// Loss to friction [J], and work that prescribed sides put in [J].
    pub friction: f64,
    pub prescribed: f64,
}

/// What a joint did over a piece: impulse on B, about its origin, work of prescribed sides, and what its motors and springs put into the
/// bodies [J].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JointSum {
    pub impulse: Vec3,
    pub angular: Vec3,
    pub prescribed: f64,
    pub driven: f64,
}

/// Bodies, contacts and joints of the piece under way, and its scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Smooth {
    pub system: System,
    /// Contacts that touch and do not approach.
    pub active: Vec<Active>,
    /// Contacts that give way.
    pub yielding: Vec<Yielding>,
    pub yielding_sums: Vec<YieldingSum>,
    /// Joint slots, and the forces of their rows.
    pub joints: Vec<u32>,
    pub joint_forces: Vec<[f64; 6]>,
    /// By slot: its node; by node: its slot.
    pub node_of: Vec<u32>,
    pub slots: Vec<u32>,
    /// Bounded rows of the joints, by joint the angle from which turns are counted, length of the step, work of motors over the piece [J].
    pub drives: Vec<Drive>,
    pub angles: Vec<f64>,
    pub step: f64,
    pub motor_work: f64,
    /// Articulations, after the bodies; by link that rows end on: its acceleration where no joint accelerates; the first that has no answer.
    pub trees: Vec<Tree>,
    pub drifts: Vec<(Vec3, Vec3)>,
    pub tree_error: Option<(u32, TreeError)>,
    pub contact_sums: Vec<ContactSum>,
    pub joint_sums: Vec<JointSum>,
    /// By node: work of drag over the piece [J], counted as a loss; by node: work of the user's loads [J]; works of springs.
    pub drag_loss: Vec<f64>,
    pub external: Vec<f64>,
    pub spring_works: SpringSum,
    pub stage: Stage,
    pub solver: Solver,
    /// Whether contact forces are impulses of the piece; solves of that form that did not meet their conditions.
    pub impulse_level: bool,
    pub open: u32,
    /// Whether nothing prescribed takes part, so that forces do not depend on time.
    pub fixed_in_time: bool,
    first: First,
}

impl Smooth {
    /// Gives every body that contacts, joints or its own forces bind a node; the others fly.
    pub(crate) fn number(&mut self, scene: &Scene<'_>) {
        let model = scene.model;
        self.node_of.clear();
        self.node_of.resize(model.bodies.len(), NO_NODE);
        self.slots.clear();
        self.joints.clear();
        self.clear_links();
        let bind = |slot: u32, node_of: &mut Vec<u32>, slots: &mut Vec<u32>| {
            let free = model.bodies[slot as usize]
                .as_ref()
                .is_some_and(Body::is_free);
            if free && node_of[slot as usize] == NO_NODE {
                node_of[slot as usize] = slots.len() as u32;
                slots.push(slot);
            }
        };
        for active in &self.active {
            let (a, b) = scene.contacts[active.contact as usize].bodies();
            bind(a as u32, &mut self.node_of, &mut self.slots);
            bind(b as u32, &mut self.node_of, &mut self.slots);
        }
        self.bind_links(scene);
        for (i, joint) in model.present_joints().filter(|(_, j)| scene.holds(j)) {
            self.joints.push(i as u32);
            if let Some(a) = joint.a {
                bind(a, &mut self.node_of, &mut self.slots);
            }
            bind(joint.b, &mut self.node_of, &mut self.slots);
        }
        let prescribed = |slot: usize| {
            let body = model.bodies[slot].as_ref();
            body.is_some_and(|b| matches!(b.kind, BodyKind::Kinematic(_)))
        };
        let touching = self.active.iter().any(|x| {
            let (a, b) = scene.contacts[x.contact as usize].bodies();
            prescribed(a) || prescribed(b)
        });
        let jointed = model
            .present_joints()
            .any(|(_, j)| prescribed(j.b as usize) || j.a.is_some_and(|a| prescribed(a as usize)));
        self.fixed_in_time = !touching && !jointed && !self.presses_prescribed(scene);
        for (i, body) in model.present().filter(|(i, _)| scene.takes(*i as u32)) {
            let flies = body.drag.is_none() && scene.loads[i].torque == Vec3::ZERO;
            if !flies || scene.part == Part::Compliant {
                bind(i as u32, &mut self.node_of, &mut self.slots);
            }
        }
        self.number_trees();
    }

    /// Makes every link that contacts and joints act on an end.
    fn bind_links(&mut self, scene: &Scene<'_>) {
        if self.trees.is_empty() {
            return;
        }
        for k in 0..self.active.len() {
            let (a, b) = scene.contacts[self.active[k].contact as usize].bodies();
            self.bind_link(scene.model, a as u32);
            self.bind_link(scene.model, b as u32);
        }
        for (_, joint) in scene.model.present_joints().filter(|(_, j)| scene.holds(j)) {
            if let Some(a) = joint.a {
                self.bind_link(scene.model, a);
            }
            self.bind_link(scene.model, joint.b);
        }
    }

    /// Contacts that carry, with what they did over the piece.
    pub(crate) fn carried(&self) -> impl Iterator<Item = (Active, ContactSum)> {
        self.active
            .iter()
            .copied()
            .zip(self.contact_sums.iter().copied())
    }

    /// Keeps the solved system, and comes back to it.
    pub(crate) fn keep_first(&mut self) {
        self.first.nodes.clone_from(&self.system.nodes);
        self.first.holds.clone_from(&self.system.holds);
        self.first.touches.clone_from(&self.system.touches);
        self.first.result.clone_from(&self.system.result);
        self.keep_trees();
    }

    pub(crate) fn come_back(&mut self) {
        self.system.nodes.clone_from(&self.first.nodes);
        self.system.holds.clone_from(&self.first.holds);
        self.system.touches.clone_from(&self.first.touches);
        self.system.result.clone_from(&self.first.result);
        self.trees_come_back();
        self.keep_forces();
    }

    /// The system A f + b of one moment, with the modes and forces of now.
    pub(crate) fn pose(&mut self, scene: &Scene<'_>, bodies: &[BodyState], t: f64) {
        let mut system = std::mem::take(&mut self.system);
        system.clear();
        for &slot in &self.slots {
            let (body, s) = self.body(scene.model, slot, bodies);
            let load = &scene.loads[slot as usize];
            system.nodes.push(node(scene.model, body, s, load));
        }
        self.pose_trees(scene, bodies, &mut system);
        self.springs(scene.model, bodies, &mut system);
        self.press(scene, bodies, &mut system.nodes);
        for (k, &slot) in self.joints.iter().enumerate() {
            if let Some(joint) = &scene.model.joints[slot as usize] {
                self.hold(scene.model, joint, k, bodies, t, &mut system.holds);
            }
        }
        for active in &self.active {
            let c = &scene.contacts[active.contact as usize];
            let touch = self.touch(scene.model, c, active, bodies, t);
            system.touches.push(touch);
        }
        self.system = system;
    }

    fn body<'a>(
        &self,
        model: &'a Model,
        slot: u32,
        bodies: &'a [BodyState],
    ) -> (&'a Body, &'a BodyState) {
        let body = model.bodies[slot as usize].as_ref();
        (
            body.expect("nodes are bodies that exist"),
            &bodies[slot as usize],
        )
    }

    /// Rows of a joint.
    fn hold(
        &self,
        model: &Model,
        joint: &Joint,
        owner: usize,
        bodies: &[BodyState],
        t: f64,
        out: &mut Vec<Hold>,
    ) {
        let place = joint.place(bodies, &[]);
        let held = place.held(joint.desc.kind);
        let frame_a = match joint.a {
            Some(slot) => self.joint_frame(model, slot, &joint.local_a, bodies, t),
            None => FrameJet {
                origin: VecJet::fixed(joint.local_a.position),
                rotation: joint.local_a.rotation,
                ..FrameJet::default()
            },
        };
        let frame_b = self.joint_frame(model, joint.b, &joint.local_b, bodies, t);
        let biases = joint_rates::biases(joint.desc.kind, &frame_a, &frame_b);
        let node = |slot: u32| self.node_of[slot as usize];
        let forces = self.joint_forces.get(owner).copied().unwrap_or_default();
        let nodes = [joint.a.map_or(NO_NODE, node), node(joint.b)];
        for k in 0..held.count {
            let row = &held.rows[k];
            let side = |e: Vec3, m: Vec3| [e.x, e.y, e.z, m.x, m.y, m.z];
            out.push(Hold {
                nodes,
                jacobians: [side(-row.e, row.ang_a), side(row.e, row.ang_b)],
                bias: biases[k],
                force: forces[k],
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
                bound: Bound::Held,
                owner: owner as u32,
                row: k as u32,
            });
        }
        self.hold_drives(joint, owner, bodies, [&frame_a, &frame_b], out);
    }

    /// A contact of the system, its mode as it is; a direction of slip follows the velocity.
    fn touch(
        &self,
        model: &Model,
        c: &Contact,
        active: &Active,
        bodies: &[BodyState],
        t: f64,
    ) -> Touch {
        let (a, b) = c.bodies();
        let frames = [a, b].map(|slot| self.body_frame(model, slot as u32, bodies, t));
        let radii = (c.point.radius_a, c.point.radius_b);
        let r = rates(
            &c.point.features,
            &frames[0],
            &frames[1],
            radii,
            c.point.normal,
        );
        let n = r.normal.x;
        let (t1, t2) = tangents(n);
        // u̇ = a + α × r + ω × (ẋ − v) of each side; the bodies' own accelerations come with the nodes.
        let carried = |f: &FrameJet| {
            let lever = r.point.x - f.origin.x;
            f.origin.a + f.alpha.cross(lever) + f.w.cross(r.point.v - f.origin.v)
        };
        let slip = carried(&frames[1]) - carried(&frames[0]);
        let touch = Touch {
            nodes: [self.node_of[a], self.node_of[b]],
            frame: [n, t1, t2],
            levers: [
                r.point.x - bodies[a].position,
                r.point.x - bodies[b].position,
            ],
            bias: [r.gap.a, slip.dot(t1), slip.dot(t2)],
            friction: c.surface.friction_kinetic,
            friction_static: c.surface.friction_static,
            mode: active.mode,
            force: [n, t1, t2].map(|e| e.dot(active.force)),
        };
        let u = bodies[b].point_velocity(r.point.x) - bodies[a].point_velocity(r.point.x);
        let u_t = u - n * n.dot(u);
        if active.frozen {
            return touch;
        }
        Touch {
            mode: directed(active.mode, u_t, c.surface.slip_speed),
            ..touch
        }
    }

    /// Springs and dampers along free motions of joints, as forces.
    fn springs(&self, model: &Model, bodies: &[BodyState], system: &mut System) {
        let mut sums = Vec::new();
        self.push_servos(model, bodies, system, &mut sums);
        for &slot in &self.joints {
            let Some(joint) = &model.joints[slot as usize] else {
                continue;
            };
            for (row, force, _) in spring_forces(joint, bodies) {
                let sides = [
                    (joint.a, [-row.e, row.ang_a]),
                    (Some(joint.b), [row.e, row.ang_b]),
                ];
                sums.resize(system.nodes.len(), [0.0; 6]);
                for (slot, [e, m]) in sides {
                    let end = slot.map_or(NO_NODE, |s| self.node_of[s as usize]);
                    system.push(end, &[e.x, e.y, e.z, m.x, m.y, m.z], force, &mut sums);
                }
            }
        }
        if !sums.is_empty() {
            system.respond(&mut sums);
            for (node, a) in system.nodes.iter_mut().zip(sums) {
                for (f, a) in node.free.iter_mut().zip(a) {
                    *f += a;
                }
            }
        }
    }

    /// Takes the forces of the solved system as the ones to start from next.
    pub(crate) fn keep_forces(&mut self) {
        for (active, touch) in self.active.iter_mut().zip(&self.system.touches) {
            active.force = touch.vector();
        }
        self.joint_forces.clear();
        self.joint_forces.resize(self.joints.len(), [0.0; 6]);
        for h in &self.system.holds {
            if h.row >= DRIVES {
                self.drives[(h.row - DRIVES) as usize].force = h.force;
            } else {
                self.joint_forces[h.owner as usize][h.row as usize] = h.force;
            }
        }
    }

    /// Takes the modes as well.
    pub(crate) fn keep_modes(&mut self) {
        for (active, touch) in self.active.iter_mut().zip(&self.system.touches) {
            active.mode = touch.mode;
        }
        for h in self.system.holds.iter().filter(|h| h.row >= DRIVES) {
            self.drives[(h.row - DRIVES) as usize].bound = h.bound;
        }
    }
}

/// A body of finite mass with the acceleration that gravity, loads, drag and its spin give it.
fn node(model: &Model, body: &Body, s: &BodyState, load: &Load) -> Node {
    let axes = s.rotation * body.axes;
    let inverse_inertia = inverse_inertia(body, s);
    let inertia = rotation::world_tensor(axes, body.moments);
    let (drag_v, drag_w) = drag_rate(body, s);
    let a = integrate::acceleration(model, body, load) + drag_v;
    // ω̇ = I⁻¹ (τ + L × ω)
    let w = s.angular_velocity;
    let alpha = inverse_inertia * (load.torque + (inertia * w).cross(w)) + drag_w;
    Node {
        inverse_mass: body.inverse_mass,
        inverse_inertia,
        mass: body.mass,
        inertia,
        free: [a.x, a.y, a.z, alpha.x, alpha.y, alpha.z],
    }
}

/// Acceleration by drag, measured over a time in which it changes nothing else.
fn drag_rate(body: &Body, s: &BodyState) -> (Vec3, Vec3) {
    if body.drag.is_none() {
        return (Vec3::ZERO, Vec3::ZERO);
    }
    let (v, w) = drag::kick(body, s, DRAG_PROBE);
    (
        (v - s.velocity) / DRAG_PROBE,
        (w - s.angular_velocity) / DRAG_PROBE,
    )
}

impl Smooth {
    /// The frame of a body at its centre of mass, with the acceleration of prescribed motion, or of a link whose joints do not accelerate.
    fn body_frame(&self, model: &Model, slot: u32, bodies: &[BodyState], t: f64) -> FrameJet {
        let s = &bodies[slot as usize];
        let kind = model.bodies[slot as usize].as_ref().map(|b| &b.kind);
        let link = self.node_of[slot as usize].wrapping_sub(LINKS) as usize;
        let (a, alpha) = match kind {
            Some(BodyKind::Kinematic(motion)) => motion.acceleration(t),
            Some(BodyKind::Link { .. }) => self.drifts.get(link).copied().unwrap_or_default(),
            _ => (Vec3::ZERO, Vec3::ZERO),
        };
        FrameJet {
            origin: VecJet {
                x: s.position,
                v: s.velocity,
                a,
            },
            rotation: s.rotation,
            w: s.angular_velocity,
            alpha,
        }
    }

    /// The frame of a joint on a body.
    fn joint_frame(
        &self,
        model: &Model,
        slot: u32,
        local: &Pose,
        bodies: &[BodyState],
        t: f64,
    ) -> FrameJet {
        let body = self.body_frame(model, slot, bodies, t);
        FrameJet {
            origin: body.point(local.position),
            rotation: body.rotation * local.rotation,
            ..body
        }
    }
}

/// A sliding mode along the slip of now; where there is none yet, along the direction in which it begins.
fn directed(mode: Mode, slip: Vec3, slip_speed: f64) -> Mode {
    let Mode::Slide(begins) = mode else {
        return mode;
    };
    if slip_speed > 0.0 {
        return Mode::Slide(slip / (slip.length_squared() + slip_speed * slip_speed).sqrt());
    }
    let size = slip.length();
    // A slip that has turned back within a piece goes on as it was: where it stops is an event, found on the smooth continuation.
    Mode::Slide(if size > SLIP_DIRECTION && slip.dot(begins) > 0.0 {
        slip / size
    } else {
        begins
    })
}

/// Works of springs over a piece [J].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpringSum {
    /// Given back by what they hold.
    pub given: f64,
    /// Taken by their dampers.
    pub damped: f64,
    /// Done by ends with prescribed motion.
    pub prescribed: f64,
}

impl SpringSum {
    /// Adds another sum.
    pub(crate) fn add(&mut self, other: &Self) {
        self.given += other.given;
        self.damped += other.damped;
        self.prescribed += other.prescribed;
    }
}

/// Rows and forces of the springs of a joint, and what of each force is the damper's.
pub(crate) fn spring_forces(
    joint: &Joint,
    bodies: &[BodyState],
) -> impl Iterator<Item = (JointRow, f64, f64)> {
    let place = joint.place(bodies, &[]);
    let slide = match joint.desc.kind {
        JointKind::Distance { .. } => place.distance(),
        _ => place.slide(),
    };
    let parts = [
        (joint.desc.rotation.spring, place.angle()),
        (joint.desc.translation.spring, slide),
    ];
    let still = BodyState::REST;
    let a = joint.a.map_or(still, |slot| bodies[slot as usize]);
    let b = bodies[joint.b as usize];
    parts.into_iter().filter_map(move |(spring, (row, value))| {
        let spring = spring?;
        let u = row.e.dot(b.velocity - a.velocity)
            + row.ang_a.dot(a.angular_velocity)
            + row.ang_b.dot(b.angular_velocity);
        let damper = -spring.damping * u;
        let force = spring.stiffness * (spring.rest - value) + damper;
        Some((row, force, damper))
    })
}
