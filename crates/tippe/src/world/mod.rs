//! World: what users hold. Owns model, state and scratch; edits happen here, between steps.
//!
//! Reads: everything.  Writes: everything, never inside a step.
//! Called by: users.
//! Source: docs/conventions.md, "Bodies".

mod articulations;
mod control;
mod couplings;
mod joints;
mod keyframes;
mod links;
mod locks;
mod motors;
mod programs;
pub mod query;
mod read;
mod sensors;
mod sleeping;

pub use keyframes::START;
pub(crate) use locks::Lock;
pub use locks::LockedAxes;
pub use motors::MotorPlace;
pub use read::PairContact;

use crate::dynamics::joint::unwrapped;
use crate::dynamics::sleep;
use crate::error::{BuildError, SnapshotError, StepError, UnknownBody, UnknownJoint};
use crate::interrupt::Interrupt;
use crate::joint::{Freedom, JointDesc, JointId, JointKind};
use crate::material::{MaterialId, Materials, Surface};
use crate::math::{Pose, Vec3};
use crate::method::Method;
use crate::model::family::Family;
use crate::model::{BODIES_MAX, Body, BodyDesc, BodyId, BodyKind, Joint, Model};
use crate::report::{ContactForce, EnergyLedger, Event, EventKind, JointForce, Phase, StepReport};
use crate::state::{BodyState, JointMemory, Load, PairKey, State};
use crate::threads::Threads;
use crate::work::{Watch, Work};
use crate::{snapshot, step};
use std::sync::{Arc, OnceLock};

/// Standard gravity, z up [m/s²].
pub const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.81);

/// Sine of the smallest angle between the axes of a universal joint at its start [1].
const UNIVERSAL_CROSSING_MIN: f64 = 0.1;

/// A simulated world.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) model: Model,
    pub(crate) state: State,
    pub(crate) method: Method,
    pub(crate) work: Work,
    pub(crate) ledger: EnergyLedger,
    /// What the user kept to go back to.
    pub(crate) keyframes: Vec<keyframes::Keyframe>,
    /// The state with all links in their places, where somebody looked at it since the last step left some behind.
    pub(crate) placed: OnceLock<Box<State>>,
}

impl Default for World {
    fn default() -> Self {
        Self::empty(Method::default())
    }
}

impl World {
    /// An empty world under standard gravity.
    ///
    /// # Errors
    /// The parameter of the method that makes no sense, and why.
    pub fn new(method: Method) -> Result<Self, BuildError> {
        method.check()?;
        Ok(Self::empty(method))
    }

    fn empty(method: Method) -> Self {
        Self {
            model: Model {
                family: Family::new(),
                gravity: GRAVITY,
                ..Model::default()
            },
            state: State::default(),
            method,
            work: Work::default(),
            ledger: EnergyLedger::default(),
            keyframes: Vec::new(),
            placed: OnceLock::new(),
        }
    }

    /// Advances the world by exactly `dt` [s].
    ///
    /// # Errors
    /// The step length makes no sense, or a number became non-finite; the world is then as it was before the call, but for
    /// sleepers that it woke. A step that was interrupted leaves the world exactly as it was.
    pub fn step(&mut self, dt: f64) -> Result<StepReport, StepError> {
        if self.model.sleeping.is_some() {
            self.catch_up();
        }
        self.placed.take();
        let loads = self.run_programs(dt);
        let slept = sleep::Slept::keep(&self.model, &self.state, self.work.interrupt.is_some());
        sleep::prepare(&mut self.model, &mut self.state, dt, &mut self.work.sleep);
        let report = loop {
            let stepped = step::step(
                &self.model,
                &self.method,
                dt,
                &mut self.state,
                &mut self.work,
            );
            let report = match stepped {
                Ok(report) => report,
                Err(error) => {
                    if error == StepError::Interrupted {
                        slept.give_back(&mut self.model, &mut self.state);
                    }
                    self.work.resting.release_all();
                    self.work.events.clear();
                    if let Some(loads) = loads {
                        self.state.loads = loads;
                    }
                    return Err(error);
                }
            };
            // Each time round wakes at least one body.
            let Work {
                backup,
                contact_forces,
                sleep,
                ..
            } = &mut self.work;
            let (model, state) = (&mut self.model, &mut self.state);
            if !sleep::wake_reached(model, state, backup, contact_forces, sleep) {
                break report;
            }
            self.work.resting.release_all();
        };
        let report = self.settle(report);
        self.ledger.add(&report.energy);
        self.break_joints();
        if !self.model.sensors.is_empty() {
            self.sense(dt);
        }
        Ok(report)
    }

    /// Advances the world by `count` steps of `dt` [s]; the report of the last one.
    ///
    /// # Errors
    /// As [`World::step`]: the world is then where the last good step left it. No steps at all is an error too.
    pub fn step_many(&mut self, dt: f64, count: usize) -> Result<StepReport, StepError> {
        let mut last = Err(StepError::Refused {
            reason: "no steps to take".into(),
        });
        for _ in 0..count {
            last = Ok(self.step(dt)?);
        }
        last
    }

    /// Time [s].
    #[must_use]
    pub const fn time(&self) -> f64 {
        self.state.time
    }

    /// Steps taken.
    #[must_use]
    pub const fn step_count(&self) -> u64 {
        self.state.step_count
    }

    /// Gravity [m/s²].
    #[must_use]
    pub const fn gravity(&self) -> Vec3 {
        self.model.gravity
    }

    /// Changes gravity [m/s²].
    ///
    /// # Errors
    /// The vector is not finite.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), BuildError> {
        if !gravity.is_finite() {
            return Err(BuildError::new("gravity", "must be finite"));
        }
        self.wake_all();
        self.model.gravity = gravity;
        for articulation in self.model.articulations.iter_mut().flatten() {
            articulation.tree.set_gravity(gravity);
        }
        Ok(())
    }

    /// Weight times size, summed over the bodies that move [J]: what errors of energy are measured by where little moves.
    #[must_use]
    pub fn energy_scale(&self) -> f64 {
        crate::dynamics::energy::weight_times_size(&self.model)
    }

    /// The method that answers contacts.
    #[must_use]
    pub const fn method(&self) -> &Method {
        &self.method
    }

    /// Changes the method; the state goes on.
    ///
    /// # Errors
    /// The parameter of the method that makes no sense, and why; the world keeps the method it has.
    pub fn set_method(&mut self, method: Method) -> Result<(), BuildError> {
        method.check()?;
        self.work.resting.release_all();
        // What the solver tried for islands is the old method's.
        self.state.efforts.clear();
        self.model.edits += 1;
        self.method = method;
        Ok(())
    }

    /// Lets steps use so many threads, 1 at first. Results never depend on it.
    ///
    /// # Errors
    /// There are none, more than 1024, or the machine does not give them.
    pub fn set_threads(&mut self, count: usize) -> Result<(), BuildError> {
        self.work.threads = Threads::new(count)?;
        Ok(())
    }

    /// Lets another thread end a step early by this flag; `None` takes it away. Results never depend on it: a step is taken
    /// whole or not at all. Copies of the world look at the same flag.
    pub fn set_interrupt(&mut self, interrupt: Option<Interrupt>) {
        self.work.interrupt = interrupt;
    }

    /// Calls `tell` whenever a phase of a step begins, so that the caller can time them: the physics has no clock. Results
    /// never depend on it. Copies of the world call it too. `None::<fn(Phase)>` ends it.
    pub fn watch_phases(&mut self, tell: Option<impl Fn(Phase) + Send + Sync + 'static>) {
        self.work.watch = tell.map(|tell| Watch(Arc::new(tell)));
    }

    /// Threads that steps may use.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.work.threads.count()
    }

    /// Materials and their pairs.
    #[must_use]
    pub const fn materials(&self) -> &Materials {
        &self.model.materials
    }

    /// Materials and their pairs, to change.
    pub fn materials_mut(&mut self) -> &mut Materials {
        self.wake_all();
        &mut self.model.materials
    }

    /// Sets how every pair of shapes of the default material answers each other.
    ///
    /// # Errors
    /// The field of `surface` that makes no sense.
    pub fn set_default_surface(&mut self, surface: Surface) -> Result<(), BuildError> {
        self.materials_mut().set(MaterialId::DEFAULT, surface)
    }

    /// Adds a body; takes the lowest free slot.
    ///
    /// # Errors
    /// The field of the description that makes no sense, and why.
    pub fn add_body(&mut self, desc: &BodyDesc) -> Result<BodyId, BuildError> {
        self.check_materials(desc)?;
        let body = Body::build(desc)?;
        let index = self.free_slot()?;
        self.state.bodies[index] = start_state(desc, &body, self.state.time);
        self.state.loads[index] = Load::default();
        self.model.bodies[index] = Some(body);
        // What is put among sleepers is found by the next step, if it moves.
        self.wake_around(index);
        Ok(self.model.id(index))
    }

    fn check_materials(&self, desc: &BodyDesc) -> Result<(), BuildError> {
        let known = self.model.materials.names.len();
        match desc.shapes.iter().position(|s| s.material.index() >= known) {
            None => Ok(()),
            Some(i) => Err(BuildError::new(
                format!("shapes[{i}].material"),
                "no such material in this world",
            )),
        }
    }

    pub(crate) fn free_slot(&mut self) -> Result<usize, BuildError> {
        match self.model.free.pop_first() {
            Some(free) => Ok(free as usize),
            None => self.new_slot(),
        }
    }

    /// Counts an edit that is a push alone.
    pub(crate) fn push(&mut self, index: usize) {
        self.placed.take();
        let before = self.model.edits;
        sleep::wake(&mut self.model, &mut self.state, index);
        self.model.pushes += self.model.edits - before;
    }

    fn new_slot(&mut self) -> Result<usize, BuildError> {
        let index = self.model.bodies.len();
        if index >= BODIES_MAX {
            return Err(BuildError::new(
                "bodies",
                format!("a world holds at most {BODIES_MAX} bodies"),
            ));
        }
        self.model.bodies.push(None);
        self.model.generations.push(0);
        self.state.bodies.push(BodyState::REST);
        self.state.loads.push(Load::default());
        self.state.quiet.push(0.0);
        self.state.asleep.push(None);
        Ok(index)
    }

    /// Removes a body; its id never names another one.
    ///
    /// # Errors
    /// The body does not exist, or is a link: links go with their articulation.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), UnknownBody> {
        let index = self.index(id)?;
        let links = |(_, a): (usize, &crate::Articulation)| a.slots.contains(&(index as u32));
        if self.model.present_articulations().any(links) {
            return Err(UnknownBody);
        }
        self.clear_slot(index);
        Ok(())
    }

    pub(crate) fn clear_slot(&mut self, index: usize) {
        self.wake_around(index);
        self.work.resting.release_all();
        self.state.quiet[index] = 0.0;
        self.state.asleep[index] = None;
        self.model.bodies[index] = None;
        self.model.generations[index] = self.model.generations[index].wrapping_add(1);
        self.state.bodies[index] = BodyState::REST;
        self.state.loads[index] = Load::default();
        let slot = index as u32;
        self.forget_contacts(slot);
        // A body that takes the slot is another: it inherits no pause.
        self.state.efforts.retain(|e| e.slot != slot);
        self.model.steady.retain(|s| s.body.index != slot);
        self.model.free.insert(slot);
        self.drop_joints(|_, j| j.b == slot || j.a == Some(slot));
    }

    /// Forgets impulses and touches of a body's shapes.
    fn forget_contacts(&mut self, slot: u32) {
        let other = |p: &PairKey| p.body_a != slot && p.body_b != slot;
        self.state.contacts.retain(|c| other(&c.key.pair));
        self.state.touching.retain(other);
        self.state.sensed.retain(other);
    }

    /// Ids of all bodies, in slot order.
    pub fn body_ids(&self) -> impl Iterator<Item = BodyId> {
        self.model.present().map(|(i, _)| self.model.id(i))
    }

    /// How many bodies there are.
    #[must_use]
    pub fn body_count(&self) -> usize {
        self.model.present().count()
    }

    /// The constant part of a body.
    ///
    /// # Errors
    /// The body does not exist.
    pub fn body(&self, id: BodyId) -> Result<&Body, UnknownBody> {
        self.model.get(id).ok_or(UnknownBody)
    }

    /// Position of the centre of mass, orientation and velocities of a body.
    ///
    /// # Errors
    /// The body does not exist.
    pub fn body_state(&self, id: BodyId) -> Result<&BodyState, UnknownBody> {
        Ok(&self.state().bodies[self.index(id)?])
    }

    /// Sets the user's own number of a body: it changes nothing, goes with clones and snapshots, and is not part of the hash.
    ///
    /// # Errors
    /// The body does not exist.
    pub fn set_user_data(&mut self, id: BodyId, data: u64) -> Result<(), UnknownBody> {
        let index = self.index(id)?;
        let body = self.model.bodies[index].as_mut().ok_or(UnknownBody)?;
        body.user_data = data;
        Ok(())
    }

    /// World pose of a body's frame.
    ///
    /// # Errors
    /// The body does not exist.
    pub fn pose(&self, id: BodyId) -> Result<Pose, UnknownBody> {
        Ok(self.body_state(id)?.frame(self.body(id)?))
    }

    /// Moves the frame of a dynamic or fixed body; its velocities stay.
    ///
    /// # Errors
    /// The body does not exist or is moved by something else, a kinematic one by its motion, a link by its tree (field `body`); the pose is
    /// not finite (field `pose`).
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), BuildError> {
        let body = self.known(id)?;
        match body.kind {
            BodyKind::Dynamic | BodyKind::Fixed => {}
            BodyKind::Kinematic(_) => {
                let reason = "its motion says where a kinematic body is: steer it";
                return Err(BuildError::new("body", reason));
            }
            BodyKind::Link { .. } => {
                let reason = "its tree says where a link is: set the state of the articulation";
                return Err(BuildError::new("body", reason));
            }
        }
        if !(pose.is_finite() && pose.rotation.length_squared() > 1e-12) {
            return Err(BuildError::new("pose", "must be finite, with a rotation"));
        }
        let index = id.index();
        let rotation = crate::math::rotation::normalized(pose.rotation);
        let position = pose.position + rotation * body.center;
        if !position.is_finite() {
            let reason = "the centre of mass would be too far away for a number";
            return Err(BuildError::new("pose", reason));
        }
        self.catch_up();
        self.wake_around(index);
        let state = &mut self.state.bodies[index];
        (state.position, state.rotation) = (position, rotation);
        self.lock_again(id)
    }

    /// Sets velocity of the centre of mass [m/s] and angular velocity [rad/s] of a dynamic body.
    ///
    /// # Errors
    /// The body does not exist or is not dynamic (field `body`), or a number is not finite.
    pub fn set_velocity(
        &mut self,
        id: BodyId,
        velocity: Vec3,
        angular_velocity: Vec3,
    ) -> Result<(), BuildError> {
        if self.known(id)?.kind != BodyKind::Dynamic {
            let reason = "only a dynamic body has a velocity of its own: steer a kinematic one, set the state of an articulation";
            return Err(BuildError::new("body", reason));
        }
        finite("velocity", velocity)?;
        finite("angular_velocity", angular_velocity)?;
        let index = id.index();
        self.catch_up();
        sleep::wake(&mut self.model, &mut self.state, index);
        self.state.bodies[index].velocity = velocity;
        self.state.bodies[index].angular_velocity = angular_velocity;
        Ok(())
    }

    /// Sets centre of mass, orientation and velocities of a dynamic body, bit for bit.
    ///
    /// # Errors
    /// The body does not exist or is not dynamic (field `body`), or the numbers are no state (field `state`).
    pub fn set_body_state(&mut self, id: BodyId, state: BodyState) -> Result<(), BuildError> {
        if self.known(id)?.kind != BodyKind::Dynamic {
            return Err(BuildError::new(
                "body",
                "only a dynamic body has a state of its own",
            ));
        }
        let unit = (state.rotation.length_squared() - 1.0).abs() < 1e-6;
        if !(state.is_finite() && unit) {
            let reason = "must be finite, with a unit quaternion";
            return Err(BuildError::new("state", reason));
        }
        self.catch_up();
        self.wake_around(id.index());
        self.state.bodies[id.index()] = state;
        self.lock_again(id)
    }

    /// A body that forces move.
    fn pushable(&self, id: BodyId) -> Result<usize, BuildError> {
        if self.known(id)?.is_dynamic() {
            return Ok(id.index());
        }
        let reason = "forces move only dynamic bodies and links";
        Err(BuildError::new("body", reason))
    }

    /// Applies a force [N] at a world point during the next step.
    ///
    /// # Errors
    /// The body does not exist or is one that forces do not move (field `body`), or a number is not finite.
    pub fn apply_force(&mut self, id: BodyId, force: Vec3, point: Vec3) -> Result<(), BuildError> {
        let index = self.pushable(id)?;
        finite("force", force)?;
        finite("point", point)?;
        self.push(index);
        let arm = point - self.position_of(index);
        let load = &mut self.state.loads[index];
        load.force += force;
        load.torque += arm.cross(force);
        Ok(())
    }

    /// Applies a torque [N·m] during the next step.
    ///
    /// # Errors
    /// The body does not exist or is one that forces do not move (field `body`), or a number is not finite.
    pub fn apply_torque(&mut self, id: BodyId, torque: Vec3) -> Result<(), BuildError> {
        let index = self.pushable(id)?;
        finite("torque", torque)?;
        self.push(index);
        self.state.loads[index].torque += torque;
        Ok(())
    }

    /// Applies an impulse [N·s] at a world point, at once; the ledger books its work as external.
    ///
    /// # Errors
    /// The body does not exist or is one that impulses do not move (field `body`), a number is not finite, or the energy afterwards
    /// is not (field `impulse`); then no velocity has changed.
    pub fn apply_impulse(
        &mut self,
        id: BodyId,
        impulse: Vec3,
        point: Vec3,
    ) -> Result<(), BuildError> {
        let index = self.pushable(id)?;
        finite("impulse", impulse)?;
        finite("point", point)?;
        self.catch_up();
        sleep::wake(&mut self.model, &mut self.state, index);
        let missing = || BuildError::new("body", UnknownBody.to_string());
        let body = self.model.get(id).ok_or_else(missing)?;
        if matches!(body.kind, BodyKind::Link { .. }) {
            self.strike_link(index, impulse, point)?;
        } else if body.is_dynamic() {
            let mut state = self.state.bodies[index];
            let before = crate::dynamics::energy::kinetic(body, &state);
            let arm = point - state.position;
            state.velocity += impulse * body.inverse_mass;
            state.angular_velocity += crate::math::rotation::spin(
                state.rotation * body.axes,
                body.inverse_moments,
                arm.cross(impulse),
            );
            let work = crate::dynamics::energy::kinetic(body, &state) - before;
            self.ledger.external = booked(self.ledger.external, work)?;
            self.state.bodies[index] = state;
        }
        Ok(())
    }

    /// Joins two bodies, or a body and the world; takes the lowest free slot.
    ///
    /// # Errors
    /// The field of the description that makes no sense, and why.
    pub fn add_joint(&mut self, desc: &JointDesc) -> Result<JointId, BuildError> {
        self.catch_up();
        let joint = self.model.joint_from(desc)?;
        if let Some(i) = crate::adaptive::loops::looped(&self.model, &joint) {
            let reason = format!(
                "it closes a loop through the adaptive articulation `{}`: adaptive bodies must be open trees",
                self.model.articulation_name(i)
            );
            return Err(BuildError::new("body_b", reason));
        }
        self.add_open_joint(desc)
    }

    /// Adds a joint that closes no loop through an adaptive tree.
    pub(crate) fn add_open_joint(&mut self, desc: &JointDesc) -> Result<JointId, BuildError> {
        let joint = self.model.joint_from(desc)?;
        let place = joint.place(&self.state.bodies, &[]);
        let crossing = place
            .a
            .vector(Vec3::Z)
            .cross(place.b.vector(Vec3::Z))
            .length();
        if desc.kind == JointKind::Universal && crossing < UNIVERSAL_CROSSING_MIN {
            let reason = "the axes of a universal joint (z of both frames) must cross: start them at a right angle";
            return Err(BuildError::new("frame_b", reason));
        }
        let raw = place.turn(desc.kind).1;
        let angle = match desc.kind {
            // The turn that fits the displacement.
            JointKind::Screw { pitch } => {
                unwrapped(raw, std::f64::consts::TAU * place.slide().1 / pitch)
            }
            _ => raw,
        };
        Ok(self.insert_joint(joint, angle))
    }

    /// Puts a joint that makes sense into the lowest free slot.
    fn insert_joint(&mut self, mut joint: Joint, angle: f64) -> JointId {
        let index = match self.model.joint_free.pop_first() {
            Some(free) => free as usize,
            None => {
                self.model.joints.push(None);
                self.model.joint_generations.push(0);
                self.state.joints.push(JointMemory::default());
                self.model.joints.len() - 1
            }
        };
        joint.slot = index as u32;
        self.state.joints[index] = JointMemory {
            angle,
            ..JointMemory::default()
        };
        self.wake_ends(&joint);
        self.model.note_jointed(&joint);
        self.model.joints[index] = Some(joint);
        self.model.joint_id(index)
    }

    /// Removes a joint; its id never names another one. Without one of the joints that lock axes of a body it is not locked any more.
    ///
    /// # Errors
    /// The joint does not exist.
    pub fn remove_joint(&mut self, id: JointId) -> Result<(), UnknownJoint> {
        self.model.get_joint(id).ok_or(UnknownJoint)?;
        self.drop_joints(|i, _| i == id.index());
        Ok(())
    }

    pub(crate) fn drop_joints(&mut self, mut goes: impl FnMut(usize, &Joint) -> bool) {
        for i in 0..self.model.joints.len() {
            if let Some(joint) = self.model.joints[i].take_if(|j| goes(i, j)) {
                self.wake_ends(&joint);
                self.model.joint_generations[i] = self.model.joint_generations[i].wrapping_add(1);
                self.model.joint_free.insert(i as u32);
                self.state.joints[i] = JointMemory::default();
            }
        }
        self.model.update_jointed();
        self.drop_locks();
        self.drop_couplings();
    }

    /// Ids of all joints, in slot order.
    pub fn joint_ids(&self) -> impl Iterator<Item = JointId> {
        self.model
            .present_joints()
            .map(|(i, _)| self.model.joint_id(i))
    }

    /// A joint.
    ///
    /// # Errors
    /// The joint does not exist.
    pub fn joint(&self, id: JointId) -> Result<&Joint, UnknownJoint> {
        self.model.get_joint(id).ok_or(UnknownJoint)
    }

    /// Changes what drives or bounds the free motions of a joint.
    ///
    /// # Errors
    /// The joint does not exist (field `joint`), or a value makes no sense.
    pub fn set_joint_freedom(
        &mut self,
        id: JointId,
        rotation: Freedom,
        translation: Freedom,
    ) -> Result<(), BuildError> {
        let joint = self
            .model
            .get_joint(id)
            .ok_or_else(|| BuildError::new("joint", UnknownJoint.to_string()))?;
        let desc = JointDesc {
            rotation,
            translation,
            ..joint.desc.clone()
        };
        desc.check()?;
        if let Some(mut joint) = self.model.joints[id.index()].take() {
            self.wake_ends(&joint);
            joint.desc = desc;
            self.model.joints[id.index()] = Some(joint);
        }
        Ok(())
    }

    /// What every joint carried in the last step, in slot order.
    #[must_use]
    pub fn joint_forces(&self) -> &[JointForce] {
        &self.work.joint_forces
    }

    /// Takes out the joints that bore more than they can, and says so.
    fn break_joints(&mut self) {
        let limits = |f: &JointForce| {
            let joint = self.model.get_joint(f.joint)?;
            let over = f.force.length() > joint.desc.break_force
                || f.torque.length() > joint.desc.break_torque;
            over.then_some((f.joint, joint.a.unwrap_or(joint.b), joint.b))
        };
        let broken: Vec<_> = self.work.joint_forces.iter().filter_map(limits).collect();
        let mut gone: Vec<u32> = Vec::new();
        for (id, a, b) in broken {
            self.work.events.push(Event {
                kind: EventKind::JointBreak,
                time: self.state.time,
                body_a: self.model.id(a as usize),
                body_b: self.model.id(b as usize),
                shape_a: 0,
                shape_b: 0,
                point: Vec3::ZERO,
                speed: 0.0,
            });
            gone.push(id.index);
        }
        if !gone.is_empty() {
            gone.sort_unstable();
            self.drop_joints(|i, _| gone.binary_search(&(i as u32)).is_ok());
        }
    }

    /// Contact points that carried an impulse in the last step, in a fixed order.
    #[must_use]
    pub fn contacts(&self) -> &[ContactForce] {
        &self.work.contact_forces
    }

    /// What began, ended and hit in the last step, in a fixed order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.work.events
    }

    /// The running energy account: values now, transfers since the start.
    #[must_use]
    pub const fn ledger(&self) -> &EnergyLedger {
        &self.ledger
    }

    /// Kinetic and potential energy now [J].
    #[must_use]
    pub fn energy(&self) -> (f64, f64) {
        crate::dynamics::energy::total(&self.model, self.state())
    }

    /// The world as bytes: model and state, versioned. What it restores knows the ids of this world.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        snapshot::write(self, self.model.family)
    }

    /// A snapshot for files: worlds that were made alike give the same bytes, and what it restores is a family of its own,
    /// with new ids.
    #[must_use]
    pub fn bare_snapshot(&self) -> Vec<u8> {
        snapshot::write(self, Family::NONE)
    }

    /// The world of a snapshot; stepping it gives the same bits as stepping the original.
    ///
    /// # Errors
    /// The bytes are no snapshot, of another version, or damaged.
    pub fn restore(bytes: &[u8]) -> Result<Self, SnapshotError> {
        snapshot::read(bytes)
    }

    /// A number over poses, velocities, time, warm-start data and slot order: equal bits give equal hashes.
    #[must_use]
    pub fn hash(&self) -> u64 {
        snapshot::hash(&self.model, self.state())
    }

    pub(crate) fn index(&self, id: BodyId) -> Result<usize, UnknownBody> {
        self.model.get(id).map(|_| id.index()).ok_or(UnknownBody)
    }
}

/// Refuses a vector that is not finite.
fn finite(field: &str, v: Vec3) -> Result<(), BuildError> {
    if v.is_finite() {
        Ok(())
    } else {
        Err(BuildError::new(field, "must be finite"))
    }
}

/// The external work after an impulse did some more.
fn booked(external: f64, work: f64) -> Result<f64, BuildError> {
    let sum = external + work;
    if sum.is_finite() {
        Ok(sum)
    } else {
        let reason = "the energy afterwards would not be finite";
        Err(BuildError::new("impulse", reason))
    }
}

/// The state a description asks for; kinematic bodies start where their motion is at that time.
fn start_state(desc: &BodyDesc, body: &Body, time: f64) -> BodyState {
    let (pose, velocity, angular_velocity) = match &desc.kind {
        BodyKind::Dynamic => (desc.pose, desc.velocity, desc.angular_velocity),
        BodyKind::Fixed | BodyKind::Link { .. } => (desc.pose, Vec3::ZERO, Vec3::ZERO),
        BodyKind::Kinematic(motion) => {
            let m = motion.at(&desc.pose, time);
            (m.pose, m.velocity, m.angular_velocity)
        }
    };
    let rotation = crate::math::rotation::normalized(pose.rotation);
    BodyState {
        position: pose.position + rotation * body.center,
        rotation,
        velocity,
        angular_velocity,
    }
}
