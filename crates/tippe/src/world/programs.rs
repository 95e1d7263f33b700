//! Time programs of a world: what they drive is set before every step.
//!
//! Reads: Model, time.  Writes: gravity, loads and targets of motors, before a step.
//! Called by: users; `World::step` runs them.
//! Source: docs/conventions.md, "Control".

use super::World;
use crate::error::{BuildError, UnknownJoint};
use crate::joint::Freedom;
use crate::math::Vec3;
use crate::model::BodyId;
use crate::model::program::{Driven, Program, Steady};
use crate::state::Load;

impl World {
    /// Adds a time program. Forces and gravity act with their mean over each step, so that their impulse is exact; motors aim at the value
    /// at the end of the step. The work of changing gravity is booked as external.
    ///
    /// # Errors
    /// The field that makes no sense, and why; a motor that is not there.
    pub fn add_program(&mut self, program: Program) -> Result<(), BuildError> {
        program.signal.check()?;
        match program.driven {
            Driven::Gravity => {}
            Driven::Force { body, point, .. } => {
                self.pushable(body)?;
                if !point.is_finite() {
                    return Err(BuildError::new("point", "must be finite"));
                }
            }
            Driven::Torque { body, .. } => self.pushable(body).map(drop)?,
            Driven::Motor { joint } => {
                let unknown = |e: UnknownJoint| BuildError::new("joint", e.to_string());
                let desc = &self.joint(joint).map_err(unknown)?.desc;
                if desc.rotation.motor.is_none() && desc.translation.motor.is_none() {
                    return Err(BuildError::new("joint", "this joint has no motor to drive"));
                }
            }
            Driven::LinkMotor { link } => {
                let (tree, i) = self.link_of(link)?;
                let tree = self.model.articulations[tree].as_ref();
                if tree.is_none_or(|t| t.desc.links[i].motor.is_none()) {
                    return Err(BuildError::new("link", "this link has no motor to drive"));
                }
            }
        }
        self.model.programs.push(program);
        Ok(())
    }

    /// All time programs, in the order they were added.
    #[must_use]
    pub fn programs(&self) -> &[Program] {
        &self.model.programs
    }

    /// Takes all time programs away; what they set last stays.
    pub fn clear_programs(&mut self) {
        self.model.programs.clear();
    }

    /// Lets a force at the centre of mass of a body [N] and a torque [N·m], world axes, act in every step from now on, beside those of
    /// single steps and in place of what this call set before; zero for both ends it.
    ///
    /// # Errors
    /// The body does not exist or is moved by no force (field `body`), or a number is not finite.
    pub fn set_steady_load(
        &mut self,
        id: BodyId,
        force: Vec3,
        torque: Vec3,
    ) -> Result<(), BuildError> {
        self.pushable(id)?;
        for (field, value) in [("force", force), ("torque", torque)] {
            if !value.is_finite() {
                return Err(BuildError::new(field, "must be finite"));
            }
        }
        let list = &mut self.model.steady;
        list.retain(|s| s.body.index != id.index);
        if (force, torque) != (Vec3::ZERO, Vec3::ZERO) {
            let place = list.partition_point(|s| s.body.index < id.index);
            let body = id;
            list.insert(
                place,
                Steady {
                    body,
                    force,
                    torque,
                },
            );
        }
        Ok(())
    }

    /// Force [N] and torque [N·m] that act on a body in every step, as `set_steady_load` left them.
    ///
    /// # Errors
    /// The body does not exist (field `body`).
    pub fn steady_load(&self, id: BodyId) -> Result<(Vec3, Vec3), BuildError> {
        self.known(id)?;
        let found = self.model.steady.iter().find(|s| s.body == id);
        Ok(found.map_or((Vec3::ZERO, Vec3::ZERO), |s| (s.force, s.torque)))
    }

    /// Sets what the programs drive for a step of length `dt`; the loads as they were before, for a step that fails.
    pub(crate) fn run_programs(&mut self, dt: f64) -> Option<Vec<Load>> {
        let none = self.model.programs.is_empty() && self.model.steady.is_empty();
        if none || !(dt.is_finite() && dt > 0.0) {
            return None;
        }
        let loads = self.state.loads.clone();
        let programs = std::mem::take(&mut self.model.programs);
        for program in &programs {
            self.run_program(program, dt);
        }
        self.model.programs = programs;
        for i in 0..self.model.steady.len() {
            let Steady {
                body,
                force,
                torque,
            } = self.model.steady[i];
            let center = self.position_of(body.index());
            // A body that is no longer moved by forces ignores them.
            if self.apply_force(body, force, center).is_ok() {
                let _ = self.apply_torque(body, torque);
            }
        }
        Some(loads)
    }

    /// What a program drives may have been removed: then it drives nothing.
    fn run_program(&mut self, program: &Program, dt: f64) {
        let (t, signal) = (self.state.time, &program.signal);
        match program.driven {
            Driven::Gravity => self.drive_gravity(signal.mean(t, dt)),
            Driven::Force { body, point, local } => {
                let Ok(pose) = self.pose(body) else { return };
                let force = signal.mean(t, dt);
                let force = if local { pose.rotation * force } else { force };
                if force != Vec3::ZERO {
                    let _ = self.apply_force(body, force, pose.point(point));
                }
            }
            Driven::Torque { body, local } => {
                let Ok(pose) = self.pose(body) else { return };
                let torque = signal.mean(t, dt);
                let torque = if local {
                    pose.rotation * torque
                } else {
                    torque
                };
                if torque != Vec3::ZERO {
                    let _ = self.apply_torque(body, torque);
                }
            }
            Driven::Motor { joint } => {
                let Ok(found) = self.joint(joint) else { return };
                let (mut rotation, mut translation) = (found.desc.rotation, found.desc.translation);
                aim(&mut rotation, &mut translation, signal.at(t + dt).x);
                if (rotation, translation) != (found.desc.rotation, found.desc.translation) {
                    let _ = self.set_joint_freedom(joint, rotation, translation);
                }
            }
            Driven::LinkMotor { link } => {
                let target = signal.at(t + dt).x;
                let _ = self.edit_link(link, |desc| {
                    desc.motor = desc.motor.map(|m| m.aimed(target));
                });
            }
        }
    }

    fn drive_gravity(&mut self, gravity: Vec3) {
        if gravity == self.model.gravity {
            return;
        }
        let before = self.energy().1;
        if self.set_gravity(gravity).is_ok() {
            self.ledger.external += self.energy().1 - before;
        }
    }
}

/// Sets the target of the first motor there is.
fn aim(rotation: &mut Freedom, translation: &mut Freedom, target: f64) {
    let motor = match (&mut rotation.motor, &mut translation.motor) {
        (Some(motor), _) | (None, Some(motor)) => motor,
        (None, None) => return,
    };
    *motor = motor.aimed(target);
}
