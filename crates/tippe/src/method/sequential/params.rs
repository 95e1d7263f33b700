//! Parameters of `sequential`.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::sequential`; by their table: scene files, snapshots, docs/methods/sequential.md.
//! Source: own; the reasons stand in the table.

use crate::params;
use crate::solver::choose;
use crate::two_stage::Settings;
use crate::two_stage::arrival::StopLimits;
use crate::two_stage::impacts::ImpactSettings;

params! {
    /// Parameters of `sequential`.
    SequentialParams of "sequential" {
        /// Most sweeps, forward and backward, of an island before it is solved directly or left as it is.
        sweeps: u32 = 10, "1", AtLeast(1.0), "a pile moves on anyway; more makes piles stiffer and steps slower";
        /// What the core may cost, relative to the default: a multiple of what the sweeps of an island cost, in counted operations.
        effort: f64 = 1.0, "1", NotNegative, "0 sweeps alone; more solves larger islands to the tolerance and more often";
        /// Change of velocity in a sweep below which an island counts as solved.
        velocity_tolerance: f64 = 1e-8, "m/s", NotNegative, "no slower motion is told from rest";
        /// Part of the remaining depth that the pose-only pass removes in one step.
        depenetration: f64 = 0.2, "1", Between(0.0, 1.0), "deep overlaps of a bad start come apart over some steps, without a jump";
        /// Depth the pose-only pass leaves alone.
        slop: f64 = 0.0, "m", NotNegative, "contacts need no overlap to persist";
        /// Start each solve from the impulses of the last step.
        warm_start: bool = true, "", Any, "the two stages apart";
        /// Visit the contacts of every sweep in an order drawn with this seed; left out, sweeps go forward and backward in turn.
        shuffle_seed: Option<u64> = None, "", Any, "a fixed order serves; a random one shows what depends on it";
        /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
        joint_tolerance: f64 = 1e-10, "m, rad", NotNegative, "far below what is measured on a machine";
        /// Most substeps that a step is divided into where joints need it.
        substeps_max: u32 = 32, "1", Between(1.0, 1024.0), "a step that needs more says so in the report; with fewer, joints give way or swing wrongly where they pull hard";
        /// Speed below which an island at rest is left as it is; 0 never does, left out it is the velocity tolerance or what gravity
        /// brings in a ten-millionth of the step, whichever is less.
        rest_tolerance: Option<f64> = None, "m/s", NotNegative, "the rule of \"Islands at rest\"";
    }
    renamed { parts_max => substeps_max; }
    dropped {
        direct_rounds: "the core has fixed caps; `effort` scales what it may cost";
        direct_cost: "`effort` scales what the core may cost";
        direct_cost_cold: "`effort` scales what the core may cost";
        core: "every direct solve is one of the core";
    }
}

/// Impacts: the values of `iterative`, whose parameters say what they mean.
const IMPACT_SWEEPS: u32 = 200;
const IMPACT_VELOCITY: f64 = 1e-10;
const IMPACT_GAP: f64 = 1e-9;
const IMPACT_DEPTH: f64 = 1e-4;
const IMPACT_PASSES: u32 = 100;
const IMPACT_STOPS: u32 = 64;
const IMPACT_CONTACTS: u32 = 64;

impl SequentialParams {
    /// What impacts need of them: answered like those of `iterative`.
    pub(crate) fn impacts(&self) -> ImpactSettings {
        ImpactSettings {
            solve: choose::Settings {
                sweeps_last: IMPACT_SWEEPS,
                velocity_tolerance: IMPACT_VELOCITY,
                ..self.settings().solve
            },
            core: choose::Allowance::scaled(
                self.effort,
                choose::COLD_PRODUCTS,
                choose::SOLVE_OPERATIONS,
            ),
            contact_depth: IMPACT_DEPTH,
            passes: IMPACT_PASSES,
            dies_out: true,
            stops: StopLimits {
                depth_tolerance: IMPACT_GAP,
                velocity_tolerance: IMPACT_VELOCITY,
                substeps: IMPACT_STOPS,
                contacts: IMPACT_CONTACTS,
            },
        }
    }

    /// What the shared phases need of them.
    pub(crate) const fn settings(&self) -> Settings {
        Settings {
            solve: choose::Settings {
                sweeps: self.sweeps,
                sweeps_last: 0,
                velocity_tolerance: self.velocity_tolerance,
                shuffle_seed: self.shuffle_seed,
            },
            depenetration: self.depenetration,
            slop: self.slop,
            warm_start: self.warm_start,
        }
    }
}
