//! Parameters of `events`.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::events`, scene files.
//! Source: docs/methods/events.md has defaults and reasons.

use crate::error::BuildError;
use crate::method::SequentialParams;

/// Parameters of `events`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventsParams {
    /// Contact band ε_c relative to the smaller body of a pair [1]: contacts within it answer an impact together, and a body that falls
    /// through it is slow.
    pub band: f64,
    /// Length of the substeps of what is not ballistic, on the absolute clock [s].
    pub substep: f64,
    /// Length of the frames over which paths are bounded to find near pairs, on the absolute clock [s].
    pub sweep: f64,
    /// Let contacts that carry load at low speed rest, solved together in substeps; else they live by micro-collisions.
    pub promotion: bool,
    /// Most impacts of one pair in one frame before it rests all the same [1].
    pub impacts_max: u32,
    /// Most passes over the contacts of one impact before what still approaches stops without restitution [1].
    pub passes: u32,
    /// Distance [m] or angle [rad] to which joints are brought at the end of a substep.
    pub joint_tolerance: f64,
    /// Change of velocity in a sweep below which an island of resting contacts counts as solved [m/s].
    pub velocity_tolerance: f64,
}

impl Default for EventsParams {
    fn default() -> Self {
        let shared = SequentialParams::default();
        Self {
            band: 1e-4,
            substep: 1e-3,
            sweep: 1.0 / 30.0,
            promotion: true,
            impacts_max: 200,
            passes: 256,
            joint_tolerance: shared.joint_tolerance,
            velocity_tolerance: shared.velocity_tolerance,
        }
    }
}

impl EventsParams {
    /// Checks every parameter for sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        if !(self.band > 0.0 && self.band <= 0.1) {
            return Err(BuildError::new(
                "band",
                "must be above 0 and at most 0.1: a part of the size of a body",
            ));
        }
        for (field, value) in [
            ("substep", self.substep),
            ("sweep", self.sweep),
            ("joint_tolerance", self.joint_tolerance),
            ("velocity_tolerance", self.velocity_tolerance),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(BuildError::new(field, "must be finite and above 0"));
            }
        }
        for (field, value) in [("impacts_max", self.impacts_max), ("passes", self.passes)] {
            if value == 0 {
                return Err(BuildError::new(field, "must be at least 1"));
            }
        }
        Ok(())
    }

    /// The parameters of the solves of groups.
    pub(crate) fn solves(&self) -> SequentialParams {
        SequentialParams {
            joint_tolerance: self.joint_tolerance,
            velocity_tolerance: self.velocity_tolerance,
            ..SequentialParams::default()
        }
    }
}
