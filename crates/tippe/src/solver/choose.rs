//! Every threshold of the solver and the decisions they make.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: the methods (settings of a solve), the files of this folder.
//! Source: docs/solver.md, "Choosing".

/// What a solve may cost and how exact it shall be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Most sweeps (forward and backward) of an island before it is solved directly or left as it is [1].
    pub sweeps: u32,
    /// Most sweeps after that, where an island could not be solved directly [1].
    pub sweeps_last: u32,
    /// Most rounds of a direct solve [1].
    pub direct_rounds: u32,
    /// Newton steps of a direct solve of a large island [1].
    pub newton_steps: u32,
    /// Direct solves that may end without an answer before a solve goes on without them [1].
    pub direct_tries: u32,
    /// Most rounds of a direct solve over whole friction cones, for large islands [1].
    pub cone_rounds: u32,
    /// Whether direct solves are made by the core instead of rounds.
    pub core: bool,
    /// Change of velocity in a sweep below which an island counts as solved [m/s].
    pub velocity_tolerance: f64,
    /// Visit the contacts of every sweep in an order drawn with this seed; `None` goes forward and backward in turn.
    pub shuffle_seed: Option<u64>,
}
