//! Forces on links, given at points of the world.
//!
//! Reads: `Work` (poses).  Writes: `Work` (bias forces).
//! Called by: `aba`, `rnea`.
//! Source: [Articulated] slide 41: a force on a link is one spatial force, or Jᵀ F among the joint torques; never both.

use super::error::TreeError;
use super::model::Model;
use super::spatial::{Force, transposed_times};
use super::work::Work;
use crate::math::Vec3;

/// A force, or an impulse, on one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Link it acts on.
    pub link: usize,
    /// Where it acts, in the world [m].
    pub point: Vec3,
    /// Force [N] or impulse [N·s], in world axes.
    pub force: Vec3,
    /// Free moment [N·m] or [N·m·s], in world axes.
    pub torque: Vec3,
}

impl Load {
    /// A force at a point, without free moment.
    #[must_use]
    pub const fn new(link: usize, point: Vec3, force: Vec3) -> Self {
        Self {
            link,
            point,
            force,
            torque: Vec3::ZERO,
        }
    }

    /// The node it acts on and the spatial force there. Needs poses.
    pub(super) fn on_node(&self, model: &Model, work: &Work) -> Result<(usize, Force), TreeError> {
        let node = model.link("load.link", self.link)?.node as usize;
        if !(self.point.is_finite() && self.force.is_finite() && self.torque.is_finite()) {
            return Err(TreeError::NonFinite { argument: "load" });
        }
        let pose = &work.poses[node];
        let turned = |x: Vec3| transposed_times(&pose.rotation, x);
        let mut f = Force::at(pose.point_to_child(self.point), turned(self.force));
        f.torque += turned(self.torque);
        Ok((node, f))
    }
}
