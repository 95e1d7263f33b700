//! Parameters of `simultaneous`: tolerances first, then what they may cost.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::simultaneous`; by their table: scene files, snapshots, docs/methods/simultaneous.md.
//! Source: docs/methods/simultaneous.md; the reasons stand in the table.

use super::Limits;
use crate::collide::FEATURE_MOTION;
use crate::params;
use crate::solver::choose;
use crate::two_stage::Settings;
use crate::two_stage::arrival::StopLimits;
use crate::two_stage::targets::RestLimits;

/// Load that counts as resting, relative to the weight that one step brings [1].
const RESTING: f64 = 1e-2;
/// Approach of an unloaded contact that is left to the closing solve, relative to the speed gained by falling for a step [1].
const SLOW: f64 = 1e-3;
/// Cost of a factorisation in a resolution, which needs a few of them, beside one of a closing solve, which may need a hundred [1].
const RESOLUTION_COST: f64 = 50.0;

params! {
    /// Parameters of `simultaneous`.
    SimultaneousParams of "simultaneous" {
        /// Depth at which a resting contact counts as solved at the end of the step.
        depth_tolerance: f64 = 1e-9, "m", Positive, "also what counts as touching";
        /// Tangential distance to which sticking contacts are held in a step.
        drift_tolerance: f64 = 1e-10, "m", Positive, "nothing creeps";
        /// Velocity at which a closing solve counts as solved.
        velocity_tolerance: f64 = 1e-9, "m/s", Positive, "what one factorisation reaches from a warm start";
        /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
        joint_tolerance: f64 = 1e-9, "m, rad", Positive, "as exact as the depths";
        /// Depth ε of resting contacts: one that bears load collides only above √(2 g ε).
        contact_depth: f64 = 1e-4, "m", NotNegative, "0.044 m/s on earth";
        /// Most passes over approaching points, after which one solve without restitution ends a cluster.
        passes: u32 = 100, "1", AtLeast(1.0), "five touching balls need four";
        /// Most times that the closing solve looks at the motion it has made and aims again.
        predictions: u32 = 12, "1", AtLeast(1.0), "two are usual";
        /// Most times that a step stops at a time of impact; 0 answers all impacts inside the step.
        impact_substeps: u32 = 64, "1", Any, "many more impacts than a handful of bodies have in a step";
        /// Contacts of an island beyond which its impacts are answered inside the step.
        impact_contacts: u32 = 64, "1", Any, "a larger island would stop too often";
        /// Block products that one factorisation of a closing solve may cost; a resolution of clusters, which needs few, may take fifty times as many.
        direct_cost: f64 = 2e5, "1", NotNegative, "the 40-row pyramid qualifies, a pile of a thousand does not";
        /// Most sweeps of an island that the one system does not solve within its budget.
        sweeps_max: u32 = 200, "1", AtLeast(1.0), "wedged piles and islands too large for one system";
        /// Part of the remaining depth that the pose-only pass removes in one step.
        depenetration: f64 = 0.2, "1", Between(0.0, 1.0), "deep overlaps of a bad start come apart over some steps, without a jump";
        /// Depth the pose-only pass leaves alone.
        slop: f64 = 0.0, "m", NotNegative, "contacts need no overlap to persist";
        /// Start each closing solve from the impulses of the last step.
        warm_start: bool = true, "", Any, "a stack at rest then takes no factorisation";
        /// The paper's own step: move with a first-order scheme, detect, resolve; no closing solve, no rest.
        literal: bool = false, "", Any, "for comparison: bodies at rest sink by g h² a step, since overlap is never removed";
    }
    renamed {}
    dropped {}
}

impl SimultaneousParams {
    /// What a resolution of clusters may cost.
    pub(crate) const fn limits(&self) -> Limits {
        Limits {
            passes: self.passes,
            block_products: (RESOLUTION_COST * self.direct_cost) as u64,
            literal: self.literal,
        }
    }

    /// What the core may cost in one solve.
    pub(crate) const fn allowance(&self) -> choose::Allowance {
        choose::Allowance::of(self.direct_cost as u64)
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
            fall: 0.0,
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
                velocity_tolerance,
                shuffle_seed: None,
            },
            depenetration: self.depenetration,
            slop: self.slop,
            warm_start: self.warm_start,
        }
    }
}
