//! Locked axes of bodies: world axes along which a body does not move and about which it does not turn.
//!
//! Reads: Model, State.  Writes: Model (joints to the world), velocities, never inside a step.
//! Called by: users.
//! Source: a locked axis is a joint to the world at the centre of mass, so that all methods hold it exactly.

use super::World;
use crate::dynamics::energy;
use crate::error::BuildError;
use crate::joint::{JointDesc, JointId, JointKind};
use crate::math::Vec3;
use crate::model::{BodyId, BodyKind, Joint};
use crate::state::JointMemory;

/// World axes of a body that are locked: x, y, z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LockedAxes {
    /// Along which its centre of mass does not move.
    pub translation: [bool; 3],
    /// About which it does not turn. One alone says nothing of where the body may be turned to: none, two or three.
    pub rotation: [bool; 3],
}

impl LockedAxes {
    /// Moves in the plane of x and y and turns about z: flat mechanics.
    pub const PLANE_XY: Self = Self {
        translation: [false, false, true],
        rotation: [true, true, false],
    };
    /// Moves in the plane of x and z and turns about y.
    pub const PLANE_XZ: Self = Self {
        translation: [false, true, false],
        rotation: [true, false, true],
    };
    /// Never turns.
    pub const UPRIGHT: Self = Self {
        translation: [false; 3],
        rotation: [true; 3],
    };

    fn to_bits(self) -> u32 {
        let all = self.translation.into_iter().chain(self.rotation);
        all.enumerate()
            .map(|(i, locked)| u32::from(locked) << i)
            .sum()
    }

    fn from_bits(bits: u32) -> Self {
        let at = |i: usize| bits >> i & 1 == 1;
        Self {
            translation: [0, 1, 2].map(at),
            rotation: [3, 4, 5].map(at),
        }
    }

    /// The joints that hold them, each with its axis.
    fn joints(self) -> Vec<(JointKind, Vec3)> {
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        let the = |marks: [bool; 3], wanted: bool| {
            let found = marks.iter().zip(axes).find(|(m, _)| **m == wanted);
            found.map_or(Vec3::Z, |(_, axis)| axis)
        };
        let count = |marks: [bool; 3]| marks.into_iter().filter(|m| *m).count();
        let mut out = Vec::new();
        match count(self.translation) {
            0 => {}
            1 => out.push((JointKind::PointOnPlane, the(self.translation, true))),
            2 => out.push((JointKind::PointOnLine, the(self.translation, false))),
            _ => out.push((JointKind::Ball, Vec3::Z)),
        }
        match count(self.rotation) {
            0 | 1 => {}
            2 => out.push((JointKind::Parallel, the(self.rotation, false))),
            _ => out.push((JointKind::Orientation, Vec3::Z)),
        }
        out
    }
}

/// A body whose axes are locked, and the joints that hold them.
#[derive(Clone, Debug)]
pub(crate) struct Lock {
    /// Its slot.
    pub body: u32,
    /// The axes as bits: translation x, y, z, then rotation.
    pub axes: u32,
    pub joints: Vec<JointId>,
}

impl World {
    /// Locks world axes of a dynamic body where it is now, in place of those that were locked before; velocities along and about them
    /// end. Joints to the world at its centre of mass hold them, in every method; they keep their ids where the axes are those of before,
    /// and all go if one of them is removed.
    ///
    /// # Errors
    /// The body does not exist or is not dynamic (field `body`); one axis of rotation alone (field `rotation`). What was locked before
    /// stays so then.
    pub fn lock_axes(&mut self, id: BodyId, axes: LockedAxes) -> Result<(), BuildError> {
        if self.known(id)?.kind != BodyKind::Dynamic {
            let reason = "only a dynamic body has axes to lock";
            return Err(BuildError::new("body", reason));
        }
        if axes.rotation.into_iter().filter(|m| *m).count() == 1 {
            let reason = "one axis alone does not say how the body may turn: lock two or three";
            return Err(BuildError::new("rotation", reason));
        }
        self.catch_up();
        // Everything that may be refused, before anything changes.
        let joints = self.lock_joints(id, axes)?;
        let slot = id.index() as u32;
        let old = self.model.locks.iter().position(|l| l.body == slot);
        let bits = axes.to_bits();
        self.stop_along(id, axes);
        if let Some(old) = old.filter(|&i| self.model.locks[i].axes == bits) {
            let ids = self.model.locks[old].joints.clone();
            for (id, joint) in ids.into_iter().zip(joints) {
                self.replace_joint(id, joint);
            }
            return Ok(());
        }
        if let Some(old) = old.map(|i| self.model.locks.remove(i)) {
            self.drop_joints(|i, _| old.joints.iter().any(|j| j.index() == i));
        }
        let insert = |joint| {
            let angle = self.angle_now(&joint);
            self.insert_joint(joint, angle)
        };
        let joints: Vec<_> = joints.into_iter().map(insert).collect();
        if !joints.is_empty() {
            self.model.locks.push(Lock {
                body: slot,
                axes: bits,
                joints,
            });
        }
        Ok(())
    }

    /// The joints that hold axes of a body where it is now.
    fn lock_joints(&self, id: BodyId, axes: LockedAxes) -> Result<Vec<Joint>, BuildError> {
        let anchor = self.state.bodies[id.index()].position;
        let name = &self.known(id)?.name;
        let joint = |(kind, axis)| {
            let mut desc = JointDesc::at(self, kind, None, id, anchor, axis)?;
            desc.name = format!("{name}: locked axes");
            desc.collide = true;
            self.model.joint_from(&desc)
        };
        axes.joints().into_iter().map(joint).collect()
    }

    /// Puts a joint between the same bodies in the place of another, which it forgets; the id stays.
    fn replace_joint(&mut self, id: JointId, mut joint: Joint) {
        joint.slot = id.index() as u32;
        self.state.joints[id.index()] = JointMemory {
            angle: self.angle_now(&joint),
            ..JointMemory::default()
        };
        self.wake_ends(&joint);
        self.model.joints[id.index()] = Some(joint);
    }

    fn angle_now(&self, joint: &Joint) -> f64 {
        let place = joint.place(&self.state.bodies, &[]);
        place.turn(joint.desc.kind).1
    }

    /// The axes of a body that are locked.
    ///
    /// # Errors
    /// The body does not exist (field `body`).
    pub fn locked_axes(&self, id: BodyId) -> Result<LockedAxes, BuildError> {
        self.known(id)?;
        let slot = id.index() as u32;
        let found = self.model.locks.iter().find(|l| l.body == slot);
        Ok(found.map_or_else(LockedAxes::default, |l| LockedAxes::from_bits(l.axes)))
    }

    /// Ends velocities along and about axes; what that does to the energy is the user's doing.
    fn stop_along(&mut self, id: BodyId, axes: LockedAxes) {
        let Some(body) = self.model.get(id) else {
            return;
        };
        let state = &mut self.state.bodies[id.index()];
        let before = energy::kinetic(body, state);
        for k in 0..3 {
            if axes.translation[k] {
                state.velocity[k] = 0.0;
            }
            if axes.rotation[k] {
                state.angular_velocity[k] = 0.0;
            }
        }
        self.ledger.external += energy::kinetic(body, state) - before;
    }

    /// Locks a body that was put elsewhere in its new place.
    pub(super) fn lock_again(&mut self, id: BodyId) -> Result<(), BuildError> {
        let axes = self.locked_axes(id)?;
        if axes == LockedAxes::default() {
            return Ok(());
        }
        self.lock_axes(id, axes)
    }

    /// Ends the locks of which a joint is gone: their other joints go too.
    pub(super) fn drop_locks(&mut self) {
        let Self { model, .. } = self;
        let there = |id: &JointId| model.get_joint(*id).is_some();
        let (kept, lost): (Vec<_>, Vec<_>) = model
            .locks
            .iter()
            .cloned()
            .partition(|l| l.joints.iter().all(there));
        let rest = lost.iter().flat_map(|l| &l.joints);
        let rest: Vec<_> = rest.filter(|id| there(id)).map(|id| id.index()).collect();
        model.locks = kept;
        if !rest.is_empty() {
            self.drop_joints(|i, _| rest.contains(&i));
        }
    }
}
