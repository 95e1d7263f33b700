//! What contacts and joints did, as records that any method fills: one for each substep or event, several a step if it likes.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: the methods (fill), `forces` and `events` (read).
//! Source: docs/methods/contract.md, "The certificate".

use crate::math::Vec3;
use crate::state::ContactKey;

/// What one contact did at one moment or over one substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactRecord {
    /// Which contact.
    pub key: ContactKey,
    /// When: the end of the substep, or the moment of the event [s].
    pub time: f64,
    /// Where, world [m].
    pub point: Vec3,
    /// Unit normal from A to B.
    pub normal: Vec3,
    /// Gap then [m].
    pub gap: f64,
    /// Impulse on B [N·s].
    pub impulse: Vec3,
    /// Angular impulse on B: rolling and spinning resistance [N·m·s].
    pub angular_impulse: Vec3,
    /// Velocity of B relative to A before the impulses [m/s].
    pub velocity_before: Vec3,
    /// The same after them [m/s].
    pub velocity_after: Vec3,
    /// Length of the substep that the impulse belongs to [s]; 0 for an event.
    pub duration: f64,
    /// Whether it slid.
    pub sliding: bool,
    /// Impacts among what happened: after the start of the substep [s], and speed of approach [m/s]; 0 for none. At most two: one that
    /// was there at the start, and one that arrived.
    pub impacts: [(f64, f64); 2],
    /// Where they were, world [m].
    pub impact_point: Vec3,
}

impl ContactRecord {
    /// Whether it carried anything.
    #[must_use]
    pub fn pressed(&self) -> bool {
        self.impulse != Vec3::ZERO
    }
}

/// What one joint did over one substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointRecord {
    /// Slot of the joint.
    pub joint: u32,
    /// When: the end of the substep [s].
    pub time: f64,
    /// Impulse on B [N·s].
    pub impulse: Vec3,
    /// Angular impulse on B about the joint's origin on B [N·m·s].
    pub angular_impulse: Vec3,
    /// Length of the substep [s].
    pub duration: f64,
    /// Angle of the rotation about z, counted through full turns [rad]; 0 for kinds without.
    pub angle: f64,
    /// Displacement along z, or distance [m]; 0 for kinds without.
    pub displacement: f64,
}

/// The records of one step.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Of contacts, in key order within a substep.
    pub contacts: Vec<ContactRecord>,
    /// Of joints, in slot order within a substep.
    pub joints: Vec<JointRecord>,
    /// Where the records of the substep under way begin.
    pub(crate) substep: usize,
}

impl Records {
    /// A step begins, or begins again.
    pub(crate) fn clear(&mut self) {
        self.contacts.clear();
        self.joints.clear();
        self.substep = 0;
    }

    /// Orders the records by contact and joint, those of one by time. Records of a single substep are in order already.
    pub(crate) fn sort(&mut self) {
        if self.substep > 0 {
            self.contacts
                .sort_unstable_by(|x, y| x.key.cmp(&y.key).then(x.time.total_cmp(&y.time)));
        }
        self.joints
            .sort_unstable_by(|x, y| x.joint.cmp(&y.joint).then(x.time.total_cmp(&y.time)));
    }

    /// A substep begins.
    pub(crate) fn begin_substep(&mut self) {
        self.substep = self.contacts.len();
    }
}
