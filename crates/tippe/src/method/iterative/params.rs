//! Parameters of `iterative`: tolerances first, then what they may cost.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::iterative`, scene files.
//! Source: [Bender06] §4 (accuracy against speed); defaults and their reasons in
//! docs/methods/iterative.md, "Parameters".

use crate::collide::FEATURE_MOTION;
use crate::error::BuildError;
use crate::solver::choose;
use crate::two_stage::Settings;

/// Parameters of `iterative`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterativeParams {
    /// Depth at which a resting contact counts as solved at the end of the step [m].
    pub depth_tolerance: f64,
    /// Tangential distance to which sticking contacts are held in a step [m].
    pub drift_tolerance: f64,
    /// Velocity at which collisions and the velocities at the end of the step count as solved [m/s].
    pub velocity_tolerance: f64,
    /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
    pub joint_tolerance: f64,
    /// Depth ε of resting contacts [m]: one that bears load collides only above √(2 g ε).
    pub contact_depth: f64,
    /// Most passes of the collision phase, each over what collides then [1].
    pub passes: u32,
    /// Most times that the contact phase looks at the motion it has made and aims again [1].
    pub predictions: u32,
    /// Most times that a step stops at a time of impact [1]; 0 answers all impacts inside the step.
    pub impact_substeps: u32,
    /// Contacts of an island beyond which its impacts are answered inside the step [1].
    pub impact_contacts: u32,
    /// Sweeps (forward and backward) of an island before it is solved directly [1].
    pub sweeps: u32,
    /// Most sweeps of an island that cannot be solved directly [1].
    pub sweeps_max: u32,
    /// Most rounds of a direct solve [1].
    pub direct_rounds: u32,
    /// Block products that the direct solve of an island may cost [1].
    pub direct_cost: f64,
    /// Most rounds over whole friction cones where sweeps do not finish a large island [1]; 0 leaves it to the sweeps.
    pub cone_rounds: u32,
    /// Make direct solves by the core (interior point and Newton on one matrix) instead of rounds of Newton's method: on trial.
    pub core: bool,
    /// Motion of a pair in one step up to which the contact features of its start serve for all of it, relative to half the width of the
    /// thinner shape [1].
    pub feature_motion: f64,
    /// Sweeps after which the first solve ends with shock propagation, level by level; `None` goes on to the tolerance.
    pub shock_sweeps: Option<u32>,
    /// Start cold islands from a pass of shock propagation.
    pub shock_guess: bool,
    /// Part of the remaining depth that the pose-only pass removes in one step [1].
    pub depenetration: f64,
    /// Depth the pose-only pass leaves alone [m].
    pub slop: f64,
    /// Start each solve of resting contacts from the impulses of the last step.
    pub warm_start: bool,
    /// Visit the contacts of every sweep in an order drawn with this seed; `None` goes forward and backward in turn.
    pub shuffle_seed: Option<u64>,
}

impl Default for IterativeParams {
    fn default() -> Self {
        Self {
            depth_tolerance: 1e-9,
            drift_tolerance: 1e-10,
            velocity_tolerance: 1e-10,
            joint_tolerance: 1e-9,
            contact_depth: 1e-4,
            passes: 100,
            predictions: 12,
            impact_substeps: 64,
            impact_contacts: 64,
            sweeps: 10,
            sweeps_max: 200,
            direct_rounds: 30,
            direct_cost: 2e5,
            cone_rounds: 0,
            core: true,
            feature_motion: FEATURE_MOTION,
            shock_sweeps: None,
            shock_guess: false,
            depenetration: 0.2,
            slop: 0.0,
            warm_start: true,
            shuffle_seed: None,
        }
    }
}

impl IterativeParams {
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
            ("sweeps", self.sweeps),
        ] {
            if value == 0 {
                return Err(BuildError::new(field, "must be at least 1"));
            }
        }
        for (field, value) in [
            ("depenetration", self.depenetration),
            ("feature_motion", self.feature_motion),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return Err(BuildError::new(field, "must be between 0 and 1"));
            }
        }
        Ok(())
    }

    /// Whether an island has so many contacts that its impacts are answered inside the step.
    pub(crate) const fn is_dense(&self, contacts: usize) -> bool {
        contacts > self.impact_contacts as usize
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
                direct_rounds: self.direct_rounds,
                newton_steps: u32::MAX,
                direct_tries: u32::MAX,
                core: self.core,
                cone_rounds: self.cone_rounds,
                velocity_tolerance,
                shuffle_seed: self.shuffle_seed,
            },
            depenetration: self.depenetration,
            slop: self.slop,
            warm_start: self.warm_start,
        }
    }
}
