//! Parameters of `forces`: tolerances first, then what they may cost.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::forces`, scene files.
//! Source: [Lecture] "Contact Force Approach"; defaults and their reasons in docs/methods/forces.md, "Parameters".

use crate::error::BuildError;

/// Parameters of `forces`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForcesParams {
    /// Gap up to which two shapes touch, and depth to which an impact is located [m].
    pub touch_tolerance: f64,
    /// Approach speed above which a contact that touches is an impact [m/s].
    pub velocity_tolerance: f64,
    /// Slip below which a contact may stick, relative to the speed that gravity gives in a step [1].
    pub slip_tolerance: f64,
    /// Flight after a bounce below which the bounce is none, relative to the step [1]: a ball comes to rest in finite time.
    pub bounce_time: f64,
    /// Most passes over impacts at one instant [1].
    pub passes: u32,
    /// Most pieces that events divide a step into [1].
    pub pieces: u32,
    /// Part of a depth beyond rounding that one step removes [1].
    pub depenetration: f64,
    /// Start from the forces and modes of the last step: the steady step of a stack is then one verified linear solve.
    pub warm_start: bool,
    /// Contact forces as impulses of the step: no slip and no approach at its end, instead of accelerations of the moment.
    pub impulse_level: bool,
}

impl Default for ForcesParams {
    fn default() -> Self {
        Self {
            touch_tolerance: 1e-9,
            velocity_tolerance: 1e-9,
            slip_tolerance: 1e-4,
            bounce_time: 0.05,
            passes: 200,
            pieces: 400,
            depenetration: 0.2,
            warm_start: true,
            impulse_level: false,
        }
    }
}

impl ForcesParams {
    /// Checks every number for sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        let positive = [
            ("touch_tolerance", self.touch_tolerance),
            ("velocity_tolerance", self.velocity_tolerance),
            ("slip_tolerance", self.slip_tolerance),
        ];
        for (field, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(BuildError::new(field, "must be finite and above 0"));
            }
        }
        for (field, value) in [
            ("bounce_time", self.bounce_time),
            ("depenetration", self.depenetration),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return Err(BuildError::new(field, "must be between 0 and 1"));
            }
        }
        for (field, value) in [("passes", self.passes), ("pieces", self.pieces)] {
            if value == 0 {
                return Err(BuildError::new(field, "must be at least 1"));
            }
        }
        Ok(())
    }
}
