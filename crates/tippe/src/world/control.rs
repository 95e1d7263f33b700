//! Acting on a world between steps: torques on joints, kinematic bodies steered by code, bodies changed without losing their id.
//!
//! Reads: Model, State.  Writes: Model, State, never inside a step.
//! Called by: users.
//! Source: docs/conventions.md, "Control".

use super::World;
use crate::error::{BuildError, UnknownBody, UnknownJoint};
use crate::joint::{JointId, JointKind};
use crate::math::{Mat3, Pose, Vec3, rotation};
use crate::model::{Body, BodyDesc, BodyId, BodyKind, MassSpec, ShapeDesc};
use crate::motion::Motion;
use crate::state::BodyState;

impl World {
    /// Applies a torque about the axis of a joint [N·m] and a force along it [N] during the next step: on body B, and the opposite on A. The
    /// axis is that of the present pose; the ledger books the work as external.
    ///
    /// # Errors
    /// The joint does not exist (field `joint`), has no such free motion or one that its limits lock, or a number is not finite.
    pub fn apply_joint_force(
        &mut self,
        id: JointId,
        torque: f64,
        force: f64,
    ) -> Result<(), BuildError> {
        let joint = self
            .model
            .get_joint(id)
            .ok_or_else(|| BuildError::new("joint", UnknownJoint.to_string()))?
            .clone();
        let kind = joint.desc.kind;
        let cone = matches!(kind, JointKind::Swing | JointKind::Twist);
        for (field, value, exists, freedom) in [
            (
                "torque",
                torque,
                kind.turns() && !cone,
                &joint.desc.rotation,
            ),
            ("force", force, kind.slides(), &joint.desc.translation),
        ] {
            if !value.is_finite() {
                return Err(BuildError::new(field, "must be finite"));
            }
            if value != 0.0 && !exists {
                let reason = "this kind of joint has no such free motion to act along";
                return Err(BuildError::new(field, reason));
            }
            if value != 0.0 && freedom.limits.is_some_and(|(min, max)| min == max) {
                return Err(BuildError::new(field, "the limits lock this motion"));
            }
        }
        self.wake_ends(&joint);
        let place = joint.place(&self.state.bodies, &self.state.joints);
        for (row, size) in [
            (place.turn(kind).0, torque),
            (place.translation(kind).0, force),
        ] {
            if size == 0.0 {
                continue;
            }
            self.add_load(Some(joint.b), row.e * size, row.ang_b * size);
            self.add_load(joint.a, -row.e * size, row.ang_a * size);
        }
        Ok(())
    }

    /// Adds to what acts on a body in the next step, if forces move it.
    pub(crate) fn add_load(&mut self, slot: Option<u32>, force: Vec3, torque: Vec3) {
        let Some(slot) = slot.map(|s| s as usize) else {
            return;
        };
        if self.model.bodies[slot]
            .as_ref()
            .is_some_and(Body::is_dynamic)
        {
            self.placed.take();
            self.model.edits += 1;
            self.model.pushes += 1;
            self.state.loads[slot].force += force;
            self.state.loads[slot].torque += torque;
        }
    }

    /// Steers a kinematic body: from now on its frame moves with this velocity [m/s] and angular velocity [rad/s, world axes], until it is
    /// steered again.
    ///
    /// # Errors
    /// The body does not exist or is not kinematic (field `body`), or a number is not finite.
    pub fn steer(
        &mut self,
        id: BodyId,
        velocity: Vec3,
        angular_velocity: Vec3,
    ) -> Result<(), BuildError> {
        let motion = Motion::Steered {
            since: self.state.time,
            velocity,
            angular_velocity,
        };
        motion.check()?;
        let pose = self.kinematic_pose(id)?;
        self.wake_all();
        if let Some(body) = self.model.bodies[id.index()].as_mut() {
            body.kind = BodyKind::Kinematic(motion);
            body.pose_start = pose;
        }
        let state = &mut self.state.bodies[id.index()];
        (state.velocity, state.angular_velocity) = (velocity, angular_velocity);
        Ok(())
    }

    /// Steers a kinematic body so that its frame is at `pose` after `dt` [s], on the straight way and the shortest turn. It goes on with that
    /// velocity until it is steered again.
    ///
    /// # Errors
    /// The body does not exist or is not kinematic (field `body`), or a number makes no sense.
    pub fn steer_to(&mut self, id: BodyId, pose: Pose, dt: f64) -> Result<(), BuildError> {
        if !(dt.is_finite() && dt > 0.0) {
            let reason = format!("must be positive and finite, got {dt}");
            return Err(BuildError::new("dt", reason));
        }
        if !pose.is_finite() || (pose.rotation.length_squared() - 1.0).abs() > 1e-6 {
            let reason = "must be finite, with a unit quaternion";
            return Err(BuildError::new("pose", reason));
        }
        let now = self.kinematic_pose(id)?;
        let turn = rotation::normalized(pose.rotation) * now.rotation.conjugate();
        let turn = crate::dynamics::joint::rotation_vector(turn);
        self.steer(id, (pose.position - now.position) / dt, turn / dt)
    }

    /// Where the frame of a kinematic body is.
    fn kinematic_pose(&self, id: BodyId) -> Result<Pose, BuildError> {
        let body = self.known(id)?;
        if !matches!(body.kind, BodyKind::Kinematic(_)) {
            return Err(BuildError::new(
                "body",
                "only a kinematic body can be steered",
            ));
        }
        Ok(self.state.bodies[id.index()].frame(body))
    }

    pub(super) fn known(&self, id: BodyId) -> Result<&Body, BuildError> {
        let missing = || BuildError::new("body", UnknownBody.to_string());
        self.model.get(id).ok_or_else(missing)
    }

    /// Changes a body without changing its id: `edit` gets the description that would make the body as it is now, and what it makes of it
    /// is checked like a new body. Mass is given as it is (`MassSpec::Explicit`); other shapes change it only if `edit` says how.
    ///
    /// Remembered contact impulses of the body are forgotten if its shapes change, and joints keep their places on its frame. Axes that are
    /// locked are locked in its new place.
    ///
    /// # Errors
    /// The body does not exist or is a link (field `body`), the field that makes no sense and why, or a joint that nothing could move
    /// any more; the body is then as it was.
    pub fn edit_body(
        &mut self,
        id: BodyId,
        edit: impl FnOnce(&mut BodyDesc),
    ) -> Result<(), BuildError> {
        let index = id.index();
        if matches!(self.known(id)?.kind, BodyKind::Link { .. }) {
            let reason = "links are changed with their articulation";
            return Err(BuildError::new("body", reason));
        }
        self.wake_around(index);
        let old = self.known(id)?.clone();
        let before = described(&old, &self.state.bodies[index]);
        let mut desc = before.clone();
        edit(&mut desc);
        self.check_materials(&desc)?;
        let still = desc.velocity == Vec3::ZERO && desc.angular_velocity == Vec3::ZERO;
        if desc.kind != BodyKind::Dynamic && is_pushed(&desc, &before) && !still {
            let reason = "only a dynamic body has a velocity of its own; steer a kinematic one";
            return Err(BuildError::new("velocity", reason));
        }
        let mut body = Body::build(&desc)?;
        body.user_data = old.user_data;
        if desc.mass == before.mass && old.is_dynamic() && body.is_dynamic() {
            // Principal axes found anew would differ in their last bits.
            (body.center, body.axes) = (old.center, old.axes);
            (body.mass, body.inverse_mass) = (old.mass, old.inverse_mass);
            (body.moments, body.inverse_moments) = (old.moments, old.inverse_moments);
        }
        if desc.kind == before.kind && desc.pose == before.pose {
            // A prescribed motion stays relative to where it began.
            body.pose_start = old.pose_start;
        } else {
            self.check_joints(index, &body)?;
        }
        let was = self.state.bodies[index];
        self.put(index, &desc, &before, body);
        let now = &self.state.bodies[index];
        if (now.position, now.rotation) != (was.position, was.rotation) {
            self.lock_again(id)?;
        }
        Ok(())
    }

    /// A body that forces no longer move must not be held by others of its kind.
    fn check_joints(&self, index: usize, body: &Body) -> Result<(), BuildError> {
        let moves = |slot: Option<u32>| match slot.map(|s| s as usize) {
            Some(s) if s == index => body.is_dynamic(),
            Some(s) => self.model.bodies[s].as_ref().is_some_and(Body::is_dynamic),
            None => false,
        };
        let touched = |j: &crate::model::Joint| j.b as usize == index || j.a == Some(index as u32);
        let mut joints = self.model.present_joints().filter(|(_, j)| touched(j));
        match joints.find(|(_, j)| !moves(j.a) && !moves(Some(j.b))) {
            None => Ok(()),
            Some((_, joint)) => Err(BuildError::new(
                "kind",
                format!(
                    "nothing could move in the joint {:?} any more: remove it first",
                    joint.desc.name
                ),
            )),
        }
    }

    /// Puts a changed body in the place of the old one.
    fn put(&mut self, index: usize, desc: &BodyDesc, before: &BodyDesc, body: Body) {
        self.work.resting.release_all();
        self.state.quiet[index] = 0.0;
        let old_center = self.model.bodies[index]
            .as_ref()
            .map_or(Vec3::ZERO, |b| b.center);
        let moved = desc.kind != before.kind || desc.pose != before.pose;
        let pushed = is_pushed(desc, before);
        if moved || pushed || body.center != old_center {
            let mut state = super::start_state(desc, &body, self.state.time);
            if !pushed && body.is_dynamic() {
                // The same motion, seen from the new centre of mass.
                let shift = state.rotation * (body.center - old_center);
                state.velocity += state.angular_velocity.cross(shift);
            }
            self.state.bodies[index] = state;
        }
        let reshaped = |(a, b): (&ShapeDesc, &ShapeDesc)| a.shape != b.shape || a.pose != b.pose;
        let mut shapes = desc.shapes.iter().zip(&before.shapes);
        if desc.shapes.len() != before.shapes.len() || shapes.any(reshaped) {
            self.forget_contacts(index as u32);
        }
        for joint in self.model.joints.iter_mut().flatten() {
            if joint.b as usize == index {
                joint.local_b.position = joint.desc.frame_b.position - body.center;
            }
            if joint.a == Some(index as u32) {
                joint.local_a.position = joint.desc.frame_a.position - body.center;
            }
        }
        self.refresh_couplings();
        self.model.bodies[index] = Some(body);
        self.wake_around(index);
    }
}

/// Whether a description asks for other velocities than another.
fn is_pushed(desc: &BodyDesc, before: &BodyDesc) -> bool {
    desc.velocity != before.velocity || desc.angular_velocity != before.angular_velocity
}

/// The description that makes a body as it is now.
fn described(body: &Body, state: &BodyState) -> BodyDesc {
    let mass = if body.is_dynamic() {
        let axes = Mat3::from_quat(body.axes);
        MassSpec::Explicit {
            mass: body.mass,
            center: body.center,
            inertia: axes * Mat3::from_diagonal(body.moments) * axes.transpose(),
        }
    } else {
        MassSpec::default()
    };
    BodyDesc {
        name: body.name.clone(),
        kind: body.kind.clone(),
        pose: state.frame(body),
        velocity: state.velocity,
        angular_velocity: state.angular_velocity,
        shapes: body.shapes.clone(),
        mass,
        drag: body.drag,
        gravity_scale: body.gravity_scale,
    }
}
