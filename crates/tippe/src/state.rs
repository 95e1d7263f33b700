//! State: all that the future depends on besides the model. Save it, restore it, and the run goes on bit for bit.
//!
//! Reads: nothing.  Writes: `World` between steps, the method within a step.
//! Called by: `world`, `step`, every phase.
//! Source: docs/conventions.md, "Same bits".

use crate::articulated::{AdaptiveState, Load as LinkLoad};
use crate::articulation::ArticulationState;
use crate::math::{Pose, Quat, Vec3};
use crate::method::events::Schedule;
use crate::model::{Body, Model};
use crate::solver::choose::SETBACKS_MAX;

/// Where a body is and how it moves: thirteen `f64` without gaps, in this order (position x y z, rotation x y z w, velocity x y z,
/// angular velocity x y z), 104 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyState {
    /// Centre of mass, world [m].
    pub position: Vec3,
    /// Orientation of the body frame.
    pub rotation: Quat,
    /// Velocity of the centre of mass [m/s], after the projection of the last step.
    pub velocity: Vec3,
    /// Angular velocity, world axes [rad/s], after the projection of the last step.
    pub angular_velocity: Vec3,
}

impl BodyState {
    /// At rest at the world origin: what free slots hold.
    pub const REST: Self = Self {
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
    };

    /// World pose of the body frame.
    #[must_use]
    pub fn frame(&self, body: &Body) -> Pose {
        Pose::new(self.position - self.rotation * body.center, self.rotation)
    }

    /// Velocity of the body's material at a world point [m/s].
    #[must_use]
    pub fn point_velocity(&self, point: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(point - self.position)
    }

    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite()
            && self.rotation.is_finite()
            && self.velocity.is_finite()
            && self.angular_velocity.is_finite()
    }
}

/// Forces the user applied for the next step; cleared by it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Force at the centre of mass [N].
    pub force: Vec3,
    /// Torque [N·m].
    pub torque: Vec3,
}

/// Names a contact from step to step: two shapes of two bodies (the lower slot first) and their touching features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContactKey {
    /// The two shapes.
    pub pair: PairKey,
    /// The touching features.
    pub feature: u32,
}

/// Names a pair of shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PairKey {
    /// Slot of body A.
    pub body_a: u32,
    /// Slot of body B.
    pub body_b: u32,
    /// Shape of A.
    pub shape_a: u32,
    /// Shape of B.
    pub shape_b: u32,
}

/// What one half of a step remembers of a contact for its warm start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulse {
    /// Normal part [N·s].
    pub normal: f64,
    /// Tangential part, world [N·s].
    pub tangential: Vec3,
    /// Rolling and spinning part, world [N·m·s].
    pub angular: Vec3,
}

impl Impulse {
    /// The impulse of the same force over a time `ratio` times as long.
    #[must_use]
    pub fn scaled(&self, ratio: f64) -> Self {
        Self {
            normal: self.normal * ratio,
            tangential: self.tangential * ratio,
            angular: self.angular * ratio,
        }
    }
}

/// What the next step needs to know of a contact of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactMemory {
    /// Which contact.
    pub key: ContactKey,
    /// Impulse at the start of the step, on predicted motion.
    pub first: Impulse,
    /// Impulse at the end of the step, by the projection.
    pub second: Impulse,
    /// Whether it slid.
    pub sliding: bool,
}

/// Rows that bound or drive the free motions of a joint: motor and limit of the rotation, motor and limit of the translation.
pub const BOUNDED: usize = 4;

/// What the next step needs to know of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointMemory {
    /// Impulses of the rows that hold it, at the start of the step.
    pub first: [f64; 6],
    /// The same at the end of the step.
    pub second: [f64; 6],
    /// Impulses of the bounded rows at the start of the step.
    pub bounded_first: [f64; BOUNDED],
    /// The same at the end of the step.
    pub bounded_second: [f64; BOUNDED],
    /// Angle of the rotation, counted through full turns [rad].
    pub angle: f64,
    /// Size of the force it carried [N]: tells how stiff the mechanism is.
    pub force: f64,
}

/// What the next step needs to know of the effort that the solver has made for an island.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EffortMemory {
    /// Lowest slot of its bodies; a tree counts as its first link.
    pub slot: u32,
    /// A hash of the slots of all its bodies: another set of bodies has another memory.
    pub set: u64,
    /// Substeps for which the core is not tried.
    pub pause: u32,
    /// Attempts of the core in a row that found no answer.
    pub failures: u32,
}

impl EffortMemory {
    /// Whether a solver can have left it: pauses are as long as failures make them.
    pub(crate) const fn is_sound(&self) -> bool {
        self.failures <= SETBACKS_MAX && self.pause <= 1 << SETBACKS_MAX
    }
}

/// What the next step needs to know of a compliant contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompliantContact {
    /// Which contact.
    pub key: ContactKey,
    /// Largest speed of approach since it touches [m/s], which its damping belongs to.
    pub speed: f64,
}

/// What the next step needs to know of compliant contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompliantMemory {
    /// Length of the next substep of their islands [s]; 0 before the first.
    pub step: f64,
    /// Those that touch, sorted by key.
    pub contacts: Vec<CompliantContact>,
}

/// Everything the future depends on besides the model.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Time [s]. Written by `step`.
    pub time: f64,
    /// Steps taken. Written by `step`.
    pub step_count: u64,
    /// By slot. Written by `World` and by the move and project phases, read by all.
    pub bodies: Vec<BodyState>,
    /// By slot. Written by `World`, read and cleared by the method.
    pub loads: Vec<Load>,
    /// Parts that the last step was divided into; 0 before the first. Written by the method, read by its next step.
    pub substeps: u32,
    /// Length of the last part [s], which the remembered impulses belong to; 0 before the first. Same writer and reader.
    pub substep: f64,
    /// By joint slot. Written at the end of a step, read by the next one's warm start.
    pub joints: Vec<JointMemory>,
    /// By articulation slot. Written by `World`, and as `bodies`; the states of links among `bodies` follow from it.
    pub articulations: Vec<ArticulationState>,
    /// Sorted by key. Written at the end of a step, read by the next one's warm start.
    pub contacts: Vec<ContactMemory>,
    /// Sorted by slot. Written at the end of a substep of `sequential`, read by the next one; islands without failures have no entry.
    pub efforts: Vec<EffortMemory>,
    /// Sorted pairs of shapes that touch. Written at the end of a step, read by the next one's begin and end events.
    pub touching: Vec<PairKey>,
    /// Sorted pairs of a shape and a sensor that overlap. Same writers and readers as `touching`.
    pub sensed: Vec<PairKey>,
    /// By slot: for how long a body has been still [s]. Written and read by `sleep`, only if bodies may sleep.
    pub quiet: Vec<f64>,
    /// By slot: the island that a body sleeps with, named by its lowest slot. Written and read by `sleep`, copied to the bodies' view of it.
    pub asleep: Vec<Option<u32>>,
    /// Flights, near pairs and clocks of `events`. Written and read by it alone.
    pub events: Schedule,
    /// Compliant contacts. Written and read by `forces` alone.
    pub compliant: CompliantMemory,
    /// By articulation slot, of adaptive trees: who moves. Written and read by `adaptive` alone.
    pub adaptive: Vec<Option<AdaptiveMemory>>,
    /// Whether the links of adaptive trees among `bodies` are behind their trees: they are placed when somebody looks.
    /// Written by `adaptive` and `World`.
    pub(crate) behind: bool,
}

/// What the next step needs to know of an adaptive tree.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveMemory {
    /// Which joints move, and when they are chosen again.
    pub joints: AdaptiveState,
    /// Forces that contacts and joints put on links in the last step.
    pub loads: Vec<LinkLoad>,
    /// Links with forces on them when joints were chosen last, sorted.
    pub loaded: Vec<u32>,
}

impl ContactMemory {
    /// The memory of the same forces in a part of another length.
    fn scale(&mut self, ratio: f64) {
        self.first = self.first.scaled(ratio);
        self.second = self.second.scaled(ratio);
    }
}

impl JointMemory {
    /// The memory of the same forces in a part of another length.
    fn scale(&mut self, ratio: f64) {
        let held = [&mut self.first, &mut self.second].into_iter().flatten();
        let bounded = [&mut self.bounded_first, &mut self.bounded_second];
        held.chain(bounded.into_iter().flatten())
            .for_each(|x| *x *= ratio);
    }
}

impl State {
    /// Sets the length of the part that was solved. What sleeps remembers its impulses for that length too.
    pub(crate) fn set_substep(&mut self, model: &Model, h: f64) {
        let ratio = self.stretch(h);
        self.substep = h;
        if ratio == 1.0 || model.sleepers == 0 {
            return;
        }
        let sleepers = &self.asleep;
        let asleep = |slot: u32| sleepers[slot as usize].is_some();
        for c in &mut self.contacts {
            if asleep(c.key.pair.body_a) || asleep(c.key.pair.body_b) {
                c.scale(ratio);
            }
        }
        for (i, joint) in model.present_joints() {
            if asleep(joint.b) || joint.a.is_some_and(asleep) {
                self.joints[i].scale(ratio);
            }
        }
    }

    /// Becomes like another state and keeps its memory, so that a steady step allocates nothing.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let Self {
            time,
            step_count,
            bodies,
            loads,
            substeps,
            substep,
            joints,
            articulations,
            contacts,
            efforts,
            touching,
            sensed,
            quiet,
            asleep,
            events,
            adaptive,
            behind,
            compliant,
        } = self;
        *time = other.time;
        *step_count = other.step_count;
        bodies.clone_from(&other.bodies);
        loads.clone_from(&other.loads);
        *substeps = other.substeps;
        *substep = other.substep;
        joints.clone_from(&other.joints);
        articulations.clone_from(&other.articulations);
        contacts.clone_from(&other.contacts);
        efforts.clone_from(&other.efforts);
        touching.clone_from(&other.touching);
        sensed.clone_from(&other.sensed);
        quiet.clone_from(&other.quiet);
        asleep.clone_from(&other.asleep);
        events.copy_from(&other.events);
        adaptive.clone_from(&other.adaptive);
        *behind = other.behind;
        compliant.step = other.compliant.step;
        compliant.contacts.clone_from(&other.compliant.contacts);
    }

    /// The effort made so far for the island with this lowest slot and set of bodies.
    pub(crate) fn effort(&self, slot: u32, set: u64) -> EffortMemory {
        let found = self.efforts.binary_search_by_key(&slot, |e| e.slot);
        let known = found.ok().map(|i| self.efforts[i]);
        known.filter(|e| e.set == set).unwrap_or(EffortMemory {
            slot,
            set,
            ..EffortMemory::default()
        })
    }

    /// Remembers the efforts made for the islands of a substep; of other islands only those that were left alone, by their lowest slot.
    pub(crate) fn remember(
        &mut self,
        efforts: impl Iterator<Item = EffortMemory>,
        left_alone: impl Fn(u32) -> bool,
    ) {
        self.efforts.retain(|e| left_alone(e.slot));
        self.efforts
            .extend(efforts.filter(|e| e.pause > 0 || e.failures > 0));
        self.efforts.sort_unstable_by_key(|e| e.slot);
    }

    /// How much longer a part of length `h` is than the one that the remembered impulses belong to [1].
    #[must_use]
    pub(crate) fn stretch(&self, h: f64) -> f64 {
        if self.substep > 0.0 {
            h / self.substep
        } else {
            1.0
        }
    }
}
