//! Parameters of `simultaneous`: tolerances first, then what they may cost.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::simultaneous`, scene files.
//! Source: defaults and their reasons in docs/methods/simultaneous.md, "Parameters".

use super::Limits;
use crate::collide::FEATURE_MOTION;
use crate::error::BuildError;
use crate::solver::choose;
use crate::two_stage::Settings;
use crate::two_stage::arrival::StopLimits;
use crate::two_stage::targets::RestLimits;

/// Load that counts as resting, relative to the weight that one step brings [1].
const RESTING: f64 = 1e-2;
/// Approach of an unloaded contact that is left to the closing solve, relative to the speed gained by falling for a step [1].
const SLOW: f64 = 1e-3;

/// Parameters of `simultaneous`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimultaneousParams {
    /// Depth at which a resting contact counts as solved at the end of the step [m].
    pub depth_tolerance: f64,
    /// Tangential distance to which sticking contacts are held in a step [m].
    pub drift_tolerance: f64,
    /// Velocity at which a closing solve counts as solved [m/s].
    pub velocity_tolerance: f64,
    /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
    pub joint_tolerance: f64,
    /// Depth ε of resting contacts [m]: one that bears load collides only above √(2 g ε).
    pub contact_depth: f64,
    /// Most passes over approaching points, after which one solve without restitution ends a cluster [1].
    pub passes: u32,
    /// Most times that the closing solve looks at the motion it has made and aims again [1].
    pub predictions: u32,
    /// Most times that a step stops at a time of impact [1]; 0 answers all impacts inside the step.
    pub impact_substeps: u32,
    /// Contacts of an island beyond which its impacts are answered inside the step [1].
    pub impact_contacts: u32,
    /// Block products that one factorisation may cost [1].
    pub direct_cost: f64,
    /// Most sweeps of an island that the one system does not solve within its budget [1].
    pub sweeps_max: u32,
    /// Part of the remaining depth that the pose-only pass removes in one step [1].
    pub depenetration: f64,
    /// Depth the pose-only pass leaves alone [m].
    pub slop: f64,
    /// Start each closing solve from the impulses of the last step.
    pub warm_start: bool,
    /// The paper's own step: move with a first-order scheme, detect, resolve; no closing solve, no rest.
    pub literal: bool,
}

impl Default for SimultaneousParams {
    fn default() -> Self {
        Self {
            depth_tolerance: 1e-9,
            drift_tolerance: 1e-10,
            velocity_tolerance: 1e-9,
            joint_tolerance: 1e-9,
            contact_depth: 1e-4,
            passes: 100,
            predictions: 12,
            impact_substeps: 64,
            impact_contacts: 64,
            direct_cost: 1e7,
            sweeps_max: 200,
            depenetration: 0.2,
            slop: 0.0,
            warm_start: true,
            literal: false,
        }
    }
}

impl SimultaneousParams {
    /// Checks every number for sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        let positive = [
            ("depth_tolerance", self.depth_tolerance),
            ("drift_tolerance", self.drift_tolerance),
            ("velocity_tolerance", self.velocity_tolerance),
            ("joint_tolerance", self.joint_tolerance),
        ];
        for (field, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(BuildError::new(field, "must be finite and above 0"));
            }
        }
        let not_negative = [
            ("contact_depth", self.contact_depth),
            ("direct_cost", self.direct_cost),
            ("slop", self.slop),
        ];
        for (field, value) in not_negative {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BuildError::new(field, "must be finite and not negative"));
            }
        }
        for (field, value) in [
            ("passes", self.passes),
            ("predictions", self.predictions),
            ("sweeps_max", self.sweeps_max),
        ] {
            if value == 0 {
                return Err(BuildError::new(field, "must be at least 1"));
            }
        }
        if !(0.0..=1.0).contains(&self.depenetration) {
            return Err(BuildError::new("depenetration", "must be between 0 and 1"));
        }
        Ok(())
    }

    /// What a resolution of clusters may cost.
    pub(crate) const fn limits(&self) -> Limits {
        Limits {
            passes: self.passes,
            block_products: self.direct_cost as u64,
            literal: self.literal,
        }
    }

    /// Which impacts a step stops at.
    pub(crate) const fn stop_limits(&self) -> StopLimits {
        StopLimits {
            depth_tolerance: self.depth_tolerance,
            velocity_tolerance: self.velocity_tolerance,
            substeps: self.impact_substeps,
            contacts: self.impact_contacts,
        }
    }

    /// When a contact that bore load is at rest, in a step of length `h`.
    pub(crate) fn rest_limits(&self, gravity: f64, h: f64) -> RestLimits {
        // [Mirtich94]: the speed gained by falling through the depth of a contact; not less than what a step of gravity brings.
        let speed = (2.0 * gravity * self.contact_depth).sqrt();
        // A rebound that does not rise above what counts as touching is none.
        let slow = (2.0 * gravity * self.depth_tolerance).sqrt();
        RestLimits {
            speed: speed.max(0.6 * gravity * h) + 10.0 * self.velocity_tolerance,
            load: RESTING * gravity * h,
            slow: slow.max(SLOW * gravity * h),
        }
    }

    /// Motion of a pair up to which the contact features of its start serve for the whole step.
    pub(crate) const fn feature_motion() -> f64 {
        FEATURE_MOTION
    }

    /// What the shared phases need of them, for a solve to a velocity [m/s].
    pub(crate) const fn settings(&self, velocity_tolerance: f64) -> Settings {
        Settings {
            solve: choose::Settings {
                sweeps: 10,
                sweeps_last: self.sweeps_max,
                direct_rounds: 1,
                newton_steps: u32::MAX,
                direct_tries: 1,
                core: true,
                cone_rounds: 0,
                velocity_tolerance,
                shuffle_seed: None,
            },
            depenetration: self.depenetration,
            slop: self.slop,
            warm_start: self.warm_start,
        }
    }
}
