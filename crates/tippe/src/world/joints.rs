//! Joints from an anchor and an axis in the world, as the bodies stand now.
//!
//! Reads: poses of bodies.  Writes: nothing.
//! Called by: users.
//! Source: own.

use super::World;
use crate::error::{BuildError, UnknownBody};
use crate::joint::{JointDesc, JointKind};
use crate::math::{Mat3, Pose, Quat, Vec3, tangents};
use crate::model::BodyId;

impl JointDesc {
    /// A joint whose two frames are both at `anchor` [m] with z along `axis` (of any length), in the world, as the bodies stand now; `None`
    /// is the world itself.
    ///
    /// # Errors
    /// A body does not exist (fields `a`, `b`), the anchor is not finite, or the axis is no direction.
    pub fn at(
        world: &World,
        kind: JointKind,
        a: Option<BodyId>,
        b: BodyId,
        anchor: Vec3,
        axis: Vec3,
    ) -> Result<Self, BuildError> {
        if !anchor.is_finite() {
            return Err(BuildError::new("anchor", "must be finite"));
        }
        let length = axis.length();
        if !(length.is_finite() && length > 0.0) {
            return Err(BuildError::new("axis", "must be a direction"));
        }
        let z = axis / length;
        let (x, y) = tangents(z);
        let axes = Quat::from_mat3(&Mat3::from_cols(x, y, z));
        let local = |field: &str, id: Option<BodyId>| {
            let Some(id) = id else {
                return Ok(Pose::new(anchor, axes));
            };
            let unknown = |e: UnknownBody| BuildError::new(field, e.to_string());
            let pose = world.pose(id).map_err(unknown)?;
            let turned = crate::math::rotation::normalized(pose.rotation.conjugate() * axes);
            Ok(Pose::new(pose.point_to_local(anchor), turned))
        };
        Ok(Self::new(kind, a, local("a", a)?, b, local("b", Some(b))?))
    }

    /// Turns about an axis through a point of the world.
    ///
    /// # Errors
    /// As [`JointDesc::at`].
    pub fn hinge(
        world: &World,
        a: Option<BodyId>,
        b: BodyId,
        anchor: Vec3,
        axis: Vec3,
    ) -> Result<Self, BuildError> {
        Self::at(world, JointKind::Hinge, a, b, anchor, axis)
    }

    /// Slides along an axis through a point of the world.
    ///
    /// # Errors
    /// As [`JointDesc::at`].
    pub fn slider(
        world: &World,
        a: Option<BodyId>,
        b: BodyId,
        anchor: Vec3,
        axis: Vec3,
    ) -> Result<Self, BuildError> {
        Self::at(world, JointKind::Slider, a, b, anchor, axis)
    }

    /// Turns about a point of the world.
    ///
    /// # Errors
    /// As [`JointDesc::at`].
    pub fn ball(
        world: &World,
        a: Option<BodyId>,
        b: BodyId,
        anchor: Vec3,
    ) -> Result<Self, BuildError> {
        Self::at(world, JointKind::Ball, a, b, anchor, Vec3::Z)
    }

    /// Holds two bodies as they stand.
    ///
    /// # Errors
    /// As [`JointDesc::at`].
    pub fn weld(
        world: &World,
        a: Option<BodyId>,
        b: BodyId,
        anchor: Vec3,
    ) -> Result<Self, BuildError> {
        Self::at(world, JointKind::Fixed, a, b, anchor, Vec3::Z)
    }

    /// With a name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// With limits of its free motion, as one of its kind has it: the rotation, or else the translation.
    #[must_use]
    pub const fn limited(mut self, min: f64, max: f64) -> Self {
        if self.kind.turns() {
            self.rotation.limits = Some((min, max));
        } else {
            self.translation.limits = Some((min, max));
        }
        self
    }

    /// With a motor of its free motion: the rotation, or else the translation.
    #[must_use]
    pub const fn driven(mut self, motor: crate::Motor) -> Self {
        if self.kind.turns() {
            self.rotation.motor = Some(motor);
        } else {
            self.translation.motor = Some(motor);
        }
        self
    }

    /// With a spring along its free motion: the rotation, or else the translation.
    #[must_use]
    pub const fn sprung(mut self, spring: crate::Spring) -> Self {
        if self.kind.turns() {
            self.rotation.spring = Some(spring);
        } else {
            self.translation.spring = Some(spring);
        }
        self
    }
}
