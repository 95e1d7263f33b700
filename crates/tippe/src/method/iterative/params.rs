//! Parameters of `iterative`: tolerances first, then what they may cost.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::iterative`; by their table: scene files, snapshots, docs/methods/iterative.md.
//! Source: [Bender06] §4 (accuracy against speed); the reasons stand in the table.

use crate::collide::FEATURE_MOTION;
use crate::params;
use crate::solver::choose;
use crate::two_stage::Settings;
use crate::two_stage::arrival::StopLimits;
use crate::two_stage::impacts::ImpactSettings;

params! {
    /// Parameters of `iterative`.
    IterativeParams of "iterative" {
        /// Depth at which a resting contact counts as solved at the end of the step.
        depth_tolerance: f64 = 1e-9, "m", Positive, "also what counts as touching";
        /// Tangential distance to which sticking contacts are held in a step.
        drift_tolerance: f64 = 1e-10, "m", Positive, "nothing creeps";
        /// Velocity at which collisions and the velocities at the end of the step count as solved.
        velocity_tolerance: f64 = 1e-10, "m/s", Positive, "as exact as the depths";
        /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
        joint_tolerance: f64 = 1e-9, "m, rad", Positive, "as exact as the depths";
        /// Depth ε of resting contacts: one that bears load collides only above √(2 g ε).
        contact_depth: f64 = 1e-4, "m", NotNegative, "0.044 m/s on earth";
        /// Most passes of the collision phase, each over what collides then.
        passes: u32 = 100, "1", AtLeast(1.0), "five touching balls need four";
        /// Most times that the contact phase looks at the motion it has made and aims again.
        predictions: u32 = 12, "1", AtLeast(1.0), "two are usual";
        /// Most times that a step stops at a time of impact; 0 answers all impacts inside the step.
        impact_substeps: u32 = 64, "1", Any, "many more impacts than a handful of bodies have in a step";
        /// Contacts of an island beyond which its impacts are answered inside the step.
        impact_contacts: u32 = 64, "1", Any, "a larger island would stop too often";
        /// Sweeps, forward and backward, of an island before it is solved directly.
        sweeps: u32 = 10, "1", AtLeast(1.0), "small islands are done by then";
        /// Most sweeps of an island that cannot be solved directly.
        sweeps_max: u32 = 200, "1", Any, "for islands whose direct solve is too expensive";
        /// What the core may cost, relative to the default, in counted operations.
        effort: f64 = 1.0, "1", NotNegative, "0 sweeps alone; more solves larger islands to the tolerance, above 1 those of 256 contacts and more too";
        /// Motion of a pair in one step up to which the contact features of its start serve for all of it, relative to half the width of
        /// the thinner shape.
        feature_motion: f64 = FEATURE_MOTION, "1", Between(0.0, 1.0), "if smaller, corners that turn into reach within a step are seen, at the price of more contacts";
        /// End the first solve with shock propagation, level by level, after this many sweeps; left out, it goes on to the tolerance.
        shock_sweeps: Option<u32> = None, "1", Any, "shock propagation does not conserve momentum: for games, never for measurements";
        /// Start cold islands from a pass of shock propagation.
        shock_guess: bool = false, "", Any, "pays for tall columns alone";
        /// Part of the remaining depth that the pose-only pass removes in one step.
        depenetration: f64 = 0.2, "1", Between(0.0, 1.0), "deep overlaps of a bad start come apart over some steps, without a jump";
        /// Depth the pose-only pass leaves alone.
        slop: f64 = 0.0, "m", NotNegative, "contacts need no overlap to persist";
        /// Start each solve of resting contacts from the impulses of the last step.
        warm_start: bool = true, "", Any, "collisions never do";
        /// Visit the contacts of every sweep in an order drawn with this seed; left out, sweeps go forward and backward in turn.
        shuffle_seed: Option<u64> = None, "", Any, "a fixed order serves; a random one shows what depends on it";
        /// Speed below which an island at rest is left as it is; 0 never does, left out it is the velocity tolerance or what gravity
        /// brings in a ten-millionth of the step, whichever is less.
        rest_tolerance: Option<f64> = None, "m/s", NotNegative, "the rule of \"Islands at rest\"";
    }
    renamed {}
    dropped {
        direct_rounds: "the core has fixed caps; `effort` scales what it may cost";
        direct_cost: "`effort` scales what the core may cost";
        cone_rounds: "the core solves whole friction cones; `effort` above 1 lets it have large islands";
        core: "every direct solve is one of the core";
    }
}

impl IterativeParams {
    /// What impacts need of them.
    pub(crate) fn impacts(&self) -> ImpactSettings {
        ImpactSettings {
            solve: self.solve_settings(),
            core: self.allowance(),
            contact_depth: self.contact_depth,
            passes: self.passes,
            dies_out: false,
            stops: self.stop_limits(),
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

    /// What the core may cost in one solve.
    pub(crate) fn allowance(&self) -> choose::Allowance {
        choose::Allowance::scaled(self.effort, choose::COLD_PRODUCTS, choose::SOLVE_OPERATIONS)
    }

    /// Settings of a solve to the velocity tolerance.
    pub(crate) const fn solve_settings(&self) -> choose::Settings {
        self.settings(self.velocity_tolerance).solve
    }

    /// What the shared phases need of them, for a solve to a velocity [m/s].
    pub(crate) const fn settings(&self, velocity_tolerance: f64) -> Settings {
        Settings {
            solve: choose::Settings {
                sweeps: self.sweeps,
                sweeps_last: self.sweeps_max,
                velocity_tolerance,
                shuffle_seed: self.shuffle_seed,
            },
            depenetration: self.depenetration,
            slop: self.slop,
            warm_start: self.warm_start,
        }
    }
}
