//! The thresholds that choose how an island is solved. Limits inside one algorithm stand with it.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: the methods (settings of a solve), the files of this folder.
//! Source: docs/solver.md, "Choosing".

/// Declares thresholds as constants and as a table that users can read.
macro_rules! thresholds {
    ($($name:ident: $kind:ty = $value:expr, $reason:literal;)*) => {
        $(#[doc = $reason] pub(crate) const $name: $kind = $value;)*

        /// Name, value and reason of every threshold.
        #[allow(clippy::unnecessary_cast, reason = "counts and parts alike are printed as numbers")]
        pub const THRESHOLDS: &[(&str, f64, &str)] = &[$((stringify!($name), $value as f64, $reason),)*];
    };
}

thresholds! {
    LARGE: usize = 256, "Contacts from which an island is large: direct solves end sooner, and rounds over cones may replace those that hold friction bounds.";
    SLIP_ROUNDS: u32 = 4, "Rounds in which sticking contacts at their static bound are released, within one solve.";
    JOINT_SWEEPS: u32 = 1, "Double sweeps before the direct solve of an island that joints hold together: sweeps crawl along chains.";
    SETTLING_SWEEPS: u32 = 2, "Double sweeps after each round of the direct solve: they settle stick, slip and separation.";
    NEAR_ROUNDS: u32 = 3, "Rounds of the direct solve from impulses that are nearly right.";
    BOUND_ROUNDS: u32 = 1, "Rounds that hold friction bounds before bounds and load are found together.";
    POLISH: f64 = 1e-2, "Part of the tolerance that the direct solve goes on to while it converges: what is left wanders through towers.";
    RIGHT: f64 = 1e-3, "Part of the tolerance at which remembered impulses are kept: forces are as much larger as a substep is short.";
    STALLS_MAX: u32 = 2, "Most stalled rounds while polishing.";
    STALL: f64 = 0.3, "Part of the change before a round that the round must get under, or its bounds are not converging.";
    CONE_SWEEPS: u32 = 50, "Double sweeps after a round over cones that has not converged: they cost as much as a Newton iteration or two.";
    PACKED_CONTACTS: usize = 32, "Contacts from which visiting eight at once is worth packing them.";
    PACKED_SWEEPS: u32 = 2, "Double sweeps from which packing is worth it.";
    MOMENTUM_SWEEPS: u32 = 50, "Sweeps from which they carry momentum instead of conjugate directions, which restart too often among many contacts.";
    FEW_CONTACTS: usize = 24, "Contacts up to which an island with trees is solved densely before a sparse solve is tried.";
    DENSE_ROWS: usize = 240, "Most rows of a dense solve: more cost too much.";
    RELINEARISATIONS: u32 = 6, "`sequential`: times that an island with joints is relinearised.";
    SEQUENTIAL_MET: f64 = 1e4, "`sequential`: multiple of the joint tolerance up to which joints count as met.";
    CONTACT_SHARE: f64 = 0.01, "`sequential`: weight of a gap beside a joint residual, since the pose-only pass closes gaps.";
    COLD: f64 = 0.5, "`sequential`: share of new contacts beyond which an island starts cold and may take any number of Newton iterations.";
    GUESS_SHARE: u32 = 3, "`sequential`: one of so many sweeps finds out which contacts press, where something may bounce.";
    JOINT_COST: f64 = 8.0, "`sequential`: contacts that one joint counts for in the budget of the direct solve.";
    NEWTON_ITERATIONS: u32 = 20, "`sequential`: Newton iterations of the direct solve of a large island: one that has not converged by then rarely does.";
    ITERATIVE_MET: f64 = 1e3, "`iterative`: multiple of the joint tolerance up to which joints count as met.";
    MANY: usize = 32, "`iterative`: contacts from which a solve leaves out those that only come near.";
    LITTLE: u32 = 10, "`iterative`: double sweeps of a large island at a time, while it takes contacts in.";
    BEFORE_CONES: u32 = 200, "`iterative`: double sweeps of a large island before rounds over cones; most islands converge with that.";
    NEAR_ACCELERATION: f64 = 50.0, "`iterative`: speed apart over the length of the substep up to which a contact takes part from the start.";
    GROWTHS_MAX: u32 = 8, "`iterative`: times that a solve takes in contacts it had left out, before it takes all.";
    TREE_TOLERANCE: f64 = 1e-8, "Distance [m] or angle [rad] to which a tree that no other joint holds is brought: rounding of wedged trees is of that size.";
    RELINEARISE_STALLED: f64 = 0.5, "Part of the distance before that a relinearised solve must get under, or more of them gain nothing.";
}

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
