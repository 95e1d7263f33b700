//! Parameters of `sequential`.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `method::sequential`, scene files.
//! Source: docs/methods/sequential.md has defaults and reasons.

use crate::solver::choose;
use crate::solver::choose::NEWTON_ITERATIONS;
use crate::two_stage::Settings;

/// Parameters of `sequential`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequentialParams {
    /// Most sweeps (forward and backward) of an island before it is solved directly or left as it is [1]. More: stiffer piles, slower.
    pub sweeps: u32,
    /// Most rounds of a direct solve [1].
    pub direct_rounds: u32,
    /// Block products that the direct solve of an island may cost for each of its contacts [1].
    pub direct_cost: f64,
    /// Block products that the direct solve of an island may cost when all its contacts are new [1].
    pub direct_cost_cold: f64,
    /// Make direct solves by the core (interior point and Newton on one matrix) instead of rounds of Newton's method: on trial.
    pub core: bool,
    /// Change of velocity in a sweep below which an island counts as solved [m/s].
    pub velocity_tolerance: f64,
    /// Part of the remaining depth that the pose-only pass removes in one step [1].
    pub depenetration: f64,
    /// Depth the pose-only pass leaves alone [m].
    pub slop: f64,
    /// Start each solve from the impulses of the last step.
    pub warm_start: bool,
    /// Visit the contacts of every sweep in an order drawn with this seed; `None` goes forward and backward in turn.
    pub shuffle_seed: Option<u64>,
    /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
    pub joint_tolerance: f64,
    /// Most substeps that a step is divided into where joints need it [1]. Fewer: faster, and joints give way or swing wrongly where they pull hard.
    pub substeps_max: u32,
    /// Speed below which an island at rest is left as it is [m/s]; 0 never does, `None` is the velocity tolerance or what gravity brings in
    /// a ten-millionth of the step, whichever is less.
    pub rest_tolerance: Option<f64>,
}

impl Default for SequentialParams {
    fn default() -> Self {
        Self {
            sweeps: 10,
            direct_rounds: 30,
            direct_cost: 8.0,
            direct_cost_cold: 2e5,
            core: true,
            velocity_tolerance: 1e-8,
            depenetration: 0.2,
            slop: 0.0,
            warm_start: true,
            shuffle_seed: None,
            joint_tolerance: 1e-10,
            substeps_max: 32,
            rest_tolerance: None,
        }
    }
}

impl SequentialParams {
    /// Checks every number for sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), crate::BuildError> {
        use crate::BuildError;
        if self.sweeps == 0 {
            return Err(BuildError::new("sweeps", "must be at least 1"));
        }
        if !(1..=1024).contains(&self.substeps_max) {
            return Err(BuildError::new(
                "substeps_max",
                "must be between 1 and 1024",
            ));
        }
        if !(self.velocity_tolerance.is_finite() && self.velocity_tolerance >= 0.0) {
            return Err(BuildError::new(
                "velocity_tolerance",
                "must be finite and not negative",
            ));
        }
        if !(0.0..=1.0).contains(&self.depenetration) {
            return Err(BuildError::new("depenetration", "must be between 0 and 1"));
        }
        let not_negative = [
            ("joint_tolerance", self.joint_tolerance),
            ("direct_cost", self.direct_cost),
            ("direct_cost_cold", self.direct_cost_cold),
        ];
        for (field, value) in not_negative {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BuildError::new(field, "must be finite and not negative"));
            }
        }
        if !self
            .rest_tolerance
            .is_none_or(|x| x.is_finite() && x >= 0.0)
        {
            return Err(BuildError::new(
                "rest_tolerance",
                "must be finite and not negative",
            ));
        }
        if !(self.slop.is_finite() && self.slop >= 0.0) {
            return Err(BuildError::new("slop", "must be finite and not negative"));
        }
        Ok(())
    }

    /// What the shared phases need of them.
    pub(crate) const fn settings(&self) -> Settings {
        Settings {
            solve: choose::Settings {
                sweeps: self.sweeps,
                sweeps_last: 0,
                direct_rounds: self.direct_rounds,
                newton_steps: NEWTON_ITERATIONS,
                direct_tries: u32::MAX,
                core: self.core,
                cone_rounds: 0,
                velocity_tolerance: self.velocity_tolerance,
                shuffle_seed: self.shuffle_seed,
            },
            depenetration: self.depenetration,
            slop: self.slop,
            warm_start: self.warm_start,
        }
    }
}
