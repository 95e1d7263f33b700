//! Rigid poses: a rotation followed by a translation.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: everything that moves.
//! Source: standard.

use super::{Quat, Vec3};

/// Where a frame is: `x_world = rotation · x_local + position`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// Origin of the frame [m].
    pub position: Vec3,
    /// Orientation of the frame, a unit quaternion.
    pub rotation: Quat,
}

impl Pose {
    /// The world frame itself.
    pub const IDENTITY: Self = Self {
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
    };

    /// A pose from its two parts.
    #[must_use]
    pub const fn new(position: Vec3, rotation: Quat) -> Self {
        Self { position, rotation }
    }

    /// A pure translation.
    #[must_use]
    pub const fn from_position(position: Vec3) -> Self {
        Self {
            position,
            rotation: Quat::IDENTITY,
        }
    }

    /// A point of this frame in the parent frame.
    #[must_use]
    pub fn point(&self, local: Vec3) -> Vec3 {
        self.rotation * local + self.position
    }

    /// A direction of this frame in the parent frame.
    #[must_use]
    pub fn vector(&self, local: Vec3) -> Vec3 {
        self.rotation * local
    }

    /// A point of the parent frame in this frame.
    #[must_use]
    pub fn point_to_local(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * (world - self.position)
    }

    /// A direction of the parent frame in this frame.
    #[must_use]
    pub fn vector_to_local(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * world
    }

    /// The pose of `child`, given in this frame, in the parent frame.
    #[must_use]
    pub fn compose(&self, child: &Self) -> Self {
        Self {
            position: self.point(child.position),
            rotation: self.rotation * child.rotation,
        }
    }

    /// The pose that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self {
            position: -(rotation * self.position),
            rotation,
        }
    }

    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite()
    }
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}
