//! Gathering a substep: contacts and joints grouped by island, each contact with what the last substep remembers of it.
//!
//! Reads: Model, State (memory), Detection.  Writes: step contacts, islands, solver bodies.
//! Called by: the methods that step in two stages.
//! Source: docs/methods/two-stage.md. Letters: u = u_B − u_A, n from A to B.

use super::bounce::Bounce;
use super::joint_network::JOINTS_MIN;
use super::{Island, Scratch, misfit};
use crate::collide::Contact;
use crate::dynamics::impulse::inverse_inertia;
use crate::math::Vec3;
use crate::model::{Joint, Model};
use crate::solver::choose::Allowance;
use crate::solver::contact::ContactRow;
use crate::solver::effort::Effort;
use crate::solver::ends::{Bodies, SolverBody};
use crate::state::{ContactMemory, State};
use crate::work::Work;

/// Distance [m] or angle [rad] from which on a joint of a net does not fit: ten times what its step is divided for.
const MISFIT_OF_NETS: f64 = 0.05;
/// What a step knows of one contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepContact {
    /// Position in the list of contacts.
    pub contact: u32,
    /// What the last step remembers of it; zeros if it is new.
    pub memory: ContactMemory,
    /// Whether the last step knew it.
    pub known: bool,
    /// Whether it carried load in the last step.
    pub loaded: bool,
    /// Gap at t [m].
    pub gap_start: f64,
    /// Depth at t as a negative number, 0 if apart: the gap that a resting contact keeps [m].
    pub base: f64,
    /// Gap that the first solve aims at [m].
    pub goal: f64,
    /// The bounce of a contact that arrives in this step.
    pub bounce: Option<Bounce>,
    /// Whether it arrives faster than a fall of two steps' length: an impact, not a cold start.
    pub hit: bool,
    /// Whether the first solve confirmed the arrival by pressing.
    pub struck: bool,
    /// Impulse on B of impacts that were answered before the first solve [N·s].
    pub impact: Vec3,
    /// What the guard took by it: impulse and moment on B.
    pub braking: (Vec3, Vec3),
    /// Speed of approach of the fastest of them [m/s]; 0 if there was none.
    pub impact_speed: f64,
    /// When that impact was, after the start of the substep [s].
    pub impact_time: f64,
    /// Whether the bodies have gone on since, to where it is no contact any more.
    pub gone: bool,
    /// Whether the step ends before it arrives, so that the solves have no row for it.
    pub awaited: bool,
    /// Whether the second solve has a row for it.
    pub projected: bool,
    /// Mean slip over the step that friction cannot answer: what there was before the contact arrived [m/s].
    pub slip_before: Vec3,
    /// Velocity of B relative to A at the start of the substep [m/s]; for the record.
    pub velocity_start: Vec3,
    /// Velocity of B relative to A before the impulses of the solve under way [m/s]; for the ledger.
    pub velocity_before: Vec3,
    /// Angular velocity of B relative to A before those impulses [rad/s]; for the ledger.
    pub spin_before: Vec3,
    /// Impulse of the first solve on B [N·s].
    pub first: Vec3,
    /// Gap at t + h after the pose-only pass [m]. Written by `second_rows`.
    pub gap_end: f64,
    /// Middle between its two points there [m].
    pub point_end: Vec3,
}
/// Gap that a contact of a link which bore load keeps [m].
const KEPT: f64 = 1e-7;
/// No memory.
const NONE: u32 = u32::MAX;
/// Makes one touch for each contact, grouped by island, with the memory of the last step.
pub(crate) fn gather(model: &Model, state: &State, work: &mut Work, h: f64) {
    let contacts = &work.detection.contacts;
    let world = model.bodies.len() as u32;
    let dynamic = |slot: u32| model.is_awake(slot);
    let joints = &mut work.stage.joints;
    joints.clear();
    let resting = &work.resting;
    let moves = |slot: u32| dynamic(slot) && !resting.holds(slot);
    let stirs = |j: &Joint| moves(j.b) || j.a.is_some_and(moves);
    let present = model.present_joints().filter(|(_, j)| stirs(j));
    joints.extend(present.map(|(i, _)| i as u32));
    let ends = |&i: &u32| {
        model.joints[i as usize]
            .as_ref()
            .map_or((world, world), |j| (j.a.unwrap_or(world), j.b))
    };
    let pairs = contacts
        .iter()
        .map(|c| (c.key.pair.body_a, c.key.pair.body_b))
        .chain(joints.iter().map(ends));
    // A tree is one node: its links stand for the first of them.
    let pairs = pairs.map(|(a, b)| (model.node_of(a), model.node_of(b)));
    work.islands.build(model.bodies.len() + 1, dynamic, pairs);

    // Both lists are sorted by key: one pass matches them.
    let scratch = &mut work.stage;
    scratch.supported.clear();
    scratch.supported.resize(model.bodies.len(), false);
    for (_, joint) in model.present_joints() {
        if joint.desc.kind.rank() == 0 {
            continue;
        }
        scratch.supported[joint.b as usize] = true;
        if let Some(a) = joint.a {
            scratch.supported[a as usize] = true;
        }
    }
    scratch.remembered.clear();
    let mut at = 0;
    for c in contacts {
        while state.contacts.get(at).is_some_and(|m| m.key < c.key) {
            at += 1;
        }
        let known = state.contacts.get(at).filter(|m| m.key == c.key);
        scratch.remembered.push(known.map_or(NONE, |_| at as u32));
        if known.is_some_and(is_loaded) {
            // A floor is held up by nobody: what rests on it says nothing about what else falls on it.
            for slot in [c.key.pair.body_a, c.key.pair.body_b] {
                scratch.supported[slot as usize] |= dynamic(slot);
            }
        }
    }
    group(model, state, work, h);
}
/// Whether the last step left a contact with load.
fn is_loaded(m: &ContactMemory) -> bool {
    m.first.normal + m.second.normal > 0.0
}
/// Makes the touches, and puts them and the joints into the order of the islands. Within an island contacts come before joints, as they
/// were numbered; the joints of a net are with it.
fn group(model: &Model, state: &State, work: &mut Work, h: f64) {
    let contacts = &work.detection.contacts;
    let count = contacts.len() as u32;
    let stretch = state.stretch(h);
    let Scratch {
        step_contacts,
        joints,
        islands,
        remembered,
        ungrouped,
        nets,
        net_cost,
        ..
    } = &mut work.stage;
    std::mem::swap(joints, ungrouped);
    step_contacts.clear();
    joints.clear();
    // Nets are handed out in the order they came, so that each finds its own.
    nets.extend(islands.drain(..).rev().filter_map(|p| p.net));
    for island in 0..work.islands.count() {
        let start = (step_contacts.len(), joints.len());
        let name = work.islands.name(island);
        for &item in &work.islands.order[work.islands.range(island)] {
            if item < count {
                let memory = state.contacts.get(remembered[item as usize] as usize);
                let c = &contacts[item as usize];
                step_contacts.push(StepContact::of(model, c, item, memory, stretch));
            } else {
                joints.push(ungrouped[(item - count) as usize]);
            }
        }
        let count = joints.len() - start.1;
        let meshed = step_contacts.len() == start.0 && count >= JOINTS_MIN;
        let mut net = None;
        let mut netted = false;
        if let (true, Some(cost)) = (meshed, *net_cost) {
            let mut it = nets.pop().unwrap_or_default();
            // A net closes by velocity what it has opened; what does not fit is for the pose-only pass.
            let fits = |&slot: &u32| !misfit::is_open(model, state, slot, MISFIT_OF_NETS);
            netted = it.takes(model, &joints[start.1..], cost * count as f64)
                && joints[start.1..].iter().all(fits);
            net = Some(it);
        }
        if netted {
            joints.truncate(start.1);
        }
        islands.push(Island {
            rows: start.0..step_contacts.len(),
            joint_blocks: start.1..joints.len(),
            direct: true,
            kept: 1.0,
            old: false,
            effort: Effort::new(state.effort(name.0, name.1)),
            allowed: Allowance::NONE,
            trees: false,
            net,
            netted,
        });
    }
}
impl StepContact {
    fn new(contact: u32) -> Self {
        Self {
            contact,
            memory: ContactMemory::default(),
            known: false,
            loaded: false,
            gap_start: 0.0,
            base: 0.0,
            goal: 0.0,
            bounce: None,
            hit: false,
            struck: false,
            impact: Vec3::ZERO,
            braking: (Vec3::ZERO, Vec3::ZERO),
            impact_speed: 0.0,
            impact_time: 0.0,
            gone: false,
            awaited: false,
            projected: false,
            slip_before: Vec3::ZERO,
            velocity_start: Vec3::ZERO,
            velocity_before: Vec3::ZERO,
            spin_before: Vec3::ZERO,
            first: Vec3::ZERO,
            gap_end: 0.0,
            point_end: Vec3::ZERO,
        }
    }

    /// The touch of a contact, with what the last step remembers of it.
    pub(super) fn of(
        model: &Model,
        c: &Contact,
        number: u32,
        memory: Option<&ContactMemory>,
        stretch: f64,
    ) -> Self {
        let mut step_contact = Self::new(number);
        step_contact.gap_start = c.point.gap;
        step_contact.base = c.point.gap.min(0.0);
        if let Some(m) = memory {
            step_contact.memory = *m;
            step_contact.memory.first = m.first.scaled(stretch);
            step_contact.memory.second = m.second.scaled(stretch);
            step_contact.known = true;
            step_contact.loaded = is_loaded(m);
            // What rounding has left open at a link stays so: a wedged tree cannot close it.
            let ends = [c.key.pair.body_a, c.key.pair.body_b];
            if step_contact.loaded
                && c.point.gap > 0.0
                && c.point.gap < KEPT
                && ends.iter().any(|&s| model.is_link(s))
            {
                step_contact.base = c.point.gap;
            }
        }
        step_contact
    }

    /// Whether it is apart, or known and not struck: nothing new.
    pub(crate) fn is_old(&self) -> bool {
        !self.hit && (self.known || self.gap_start > 0.0)
    }

    /// Aims the first solve's row at the bounce of a confirmed arrival instead of at touching.
    pub(crate) fn aim_at_bounce(&mut self, row: &mut ContactRow, h: f64) {
        if let Some(b) = self.bounce {
            self.struck = true;
            row.target_n += b.gap_end / h;
            self.goal += b.gap_end;
        }
    }
}
/// Fills the solver bodies from the state.
pub(crate) fn load_bodies(model: &Model, state: &State, contacts: &[Contact], out: &mut Bodies) {
    out.flat.clear();
    out.flat.extend(
        state
            .bodies
            .iter()
            .zip(&model.bodies)
            .map(|(s, body)| match body {
                Some(body) => SolverBody {
                    v: s.velocity,
                    w: s.angular_velocity,
                    inverse_mass: body.inverse_mass,
                    inverse_inertia: inverse_inertia(body, s),
                },
                None => SolverBody::FIXED,
            }),
    );
    // The world, as a side of joints.
    out.flat.push(SolverBody::FIXED);
    let touched = contacts
        .iter()
        .flat_map(|c| [c.key.pair.body_a, c.key.pair.body_b]);
    let joined = model
        .present_joints()
        .flat_map(|(_, j)| [j.a.unwrap_or(u32::MAX), j.b]);
    out.load_trees(model, state, touched.chain(joined));
}
