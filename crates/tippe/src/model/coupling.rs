//! Couplings as users describe them: gears and racks tie the free motions of two joints that exist.
//!
//! Reads: descriptions from the user.  Writes: nothing.
//! Called by: `world` (checks), `model` (where a coupling is).
//! Source: docs/assembly.md, "Couplings".

use crate::joint::JointId;
use crate::math::Pose;

/// How two joints move together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coupling {
    /// angle of `second` = `ratio` · angle of `first` + `phase`.
    Gear {
        /// A hinge or cylindrical joint.
        first: JointId,
        /// Another one.
        second: JointId,
        /// Turn of the second for a turn of the first [1]; negative if they turn in opposite senses.
        ratio: f64,
        /// Angle of the second where that of the first is zero [rad]; `None`: as they are now.
        phase: Option<f64>,
    },
    /// displacement of `second` = `radius` · angle of `first` + `phase`.
    Rack {
        /// A hinge or cylindrical joint: the pinion.
        first: JointId,
        /// A slider: the rack.
        second: JointId,
        /// Displacement for an angle of one radian [m]; negative for the opposite sense.
        radius: f64,
        /// Displacement where the angle is zero [m]; `None`: as they are now.
        phase: Option<f64>,
    },
}

/// What a coupling keeps of the joints it names, with both joints turned so that the carrier is their side A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mesh {
    /// Their slots.
    pub joints: [u32; 2],
    /// Slots of the carriers; `None` is the world.
    pub carriers: [Option<u32>; 2],
    /// Joint frames on the carriers, from their centres of mass.
    pub locals: [Pose; 2],
    /// Whether both carriers are fixed.
    pub grounded: bool,
}
