//! Placeholder until the method lands.

/// Parameters of `sequential`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequentialParams {
    /// Sweeps over the contacts in each of the two solves of a step, once every contact has a history [1].
    pub sweeps: u32,
    /// Most sweeps of a solve in which contacts without history must be brought to the tolerance [1].
    pub sweeps_cold: u32,
    /// Velocity below which a row counts as solved [m/s].
    pub velocity_tolerance: f64,
    /// Part of the remaining depth that the pose-only pass removes in one step [1].
    pub depenetration: f64,
    /// Depth the pose-only pass leaves alone [m].
    pub slop: f64,
    /// Shuffle the contact order of every sweep with this seed; `None` alternates forward and backward.
    pub shuffle_seed: Option<u64>,
    /// Start each solve from the impulses of the last step.
    pub warm_start: bool,
}

impl Default for SequentialParams {
    fn default() -> Self {
        Self {
            sweeps: 20,
            sweeps_cold: 20_000,
            velocity_tolerance: 1e-9,
            depenetration: 0.2,
            slop: 0.0,
            shuffle_seed: None,
            warm_start: true,
        }
    }
}
