//! Motors of joints and links set and aimed between steps, by id or name.
//!
//! Reads: Model.  Writes: Model, never inside a step.
//! Called by: users.
//! Source: docs/conventions.md, "Control".

use super::World;
use crate::error::{BuildError, UnknownArticulation, UnknownJoint};
use crate::joint::{Freedom, JointId, Motor};
use crate::model::BodyId;

/// What a motor drives: the free motion of a joint (its rotation, or else its translation), or that of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MotorPlace {
    /// A joint between bodies.
    Joint(JointId),
    /// The joint of a link, named by the link's body.
    Link(BodyId),
}

impl From<JointId> for MotorPlace {
    fn from(id: JointId) -> Self {
        Self::Joint(id)
    }
}

impl From<BodyId> for MotorPlace {
    fn from(id: BodyId) -> Self {
        Self::Link(id)
    }
}

impl World {
    /// The place of a motor by name: the first joint of that name, or else the first link.
    ///
    /// # Errors
    /// No joint and no link has that name (field `name`).
    pub fn motor_named(&self, name: &str) -> Result<MotorPlace, BuildError> {
        if let Some(joint) = self.joint_named(name) {
            return Ok(MotorPlace::Joint(joint));
        }
        let link = self.body_named(name).filter(|id| self.link_of(*id).is_ok());
        link.map(MotorPlace::Link).ok_or_else(|| {
            let reason = format!("no joint and no link is called {name:?}");
            BuildError::new("name", reason)
        })
    }

    /// The motor there.
    ///
    /// # Errors
    /// The joint does not exist (field `joint`), or the body is no link that moves (field `link`).
    pub fn motor(&self, place: impl Into<MotorPlace>) -> Result<Option<Motor>, BuildError> {
        match place.into() {
            MotorPlace::Joint(id) => {
                let (turns, freedoms) = self.freedoms(id)?;
                Ok(freedoms[usize::from(!turns)].motor)
            }
            MotorPlace::Link(id) => {
                let (tree, i) = self.link_of(id)?;
                let found = self.model.articulations[tree].as_ref();
                found
                    .map(|a| a.desc.links[i].motor)
                    .ok_or_else(|| BuildError::new("link", UnknownArticulation.to_string()))
            }
        }
    }

    /// Puts a motor there, or takes it away. What is cylindrical has two free motions: `set_joint_freedom` sets both.
    ///
    /// # Errors
    /// The joint does not exist (field `joint`), the body is no link that moves (field `link`), there is no free motion to drive, or a value
    /// of the motor makes no sense; then all is as it was.
    pub fn set_motor(
        &mut self,
        place: impl Into<MotorPlace>,
        motor: Option<Motor>,
    ) -> Result<(), BuildError> {
        match place.into() {
            MotorPlace::Joint(id) => {
                let (turns, mut freedoms) = self.freedoms(id)?;
                freedoms[usize::from(!turns)].motor = motor;
                self.set_joint_freedom(id, freedoms[0], freedoms[1])
            }
            MotorPlace::Link(id) => self.edit_link(id, |link| link.motor = motor),
        }
    }

    /// Aims the motor there: at a speed where it holds one, else at a place.
    ///
    /// # Errors
    /// As [`World::set_motor`]; no motor is there (field `motor`).
    pub fn aim_motor(
        &mut self,
        place: impl Into<MotorPlace>,
        target: f64,
    ) -> Result<(), BuildError> {
        let place = place.into();
        let motor = self.motor(place)?;
        let motor = motor.ok_or_else(|| BuildError::new("motor", "there is none to aim"))?;
        self.set_motor(place, Some(motor.aimed(target)))
    }

    /// Whether a joint's motor turns it, and what acts along its rotation and translation.
    fn freedoms(&self, id: JointId) -> Result<(bool, [Freedom; 2]), BuildError> {
        let joint = self.model.get_joint(id);
        let joint = joint.ok_or_else(|| BuildError::new("joint", UnknownJoint.to_string()))?;
        let desc = &joint.desc;
        let turns = desc.kind.turns() || !desc.kind.slides();
        Ok((turns, [desc.rotation, desc.translation]))
    }
}
