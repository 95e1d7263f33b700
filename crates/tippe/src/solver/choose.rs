//! The thresholds that choose how an island is solved. Limits inside one algorithm stand with it.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: the methods (settings of a solve), the files of this folder.
//! Source: docs/solver.md, "Effort".

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
    LARGE: usize = 256, "`iterative`: contacts from which an island is large: it is swept a little while it takes contacts in, and left to sweeps unless `effort` is above 1.";
    SLIP_ROUNDS: u32 = 4, "Rounds in which sticking contacts at their static bound are released, within one solve.";
    JOINT_SWEEPS: u32 = 1, "Double sweeps before the direct solve of an island that joints hold together: sweeps crawl along chains.";
    POLISH: f64 = 1e-4, "Part of the tolerance that the core goes on to while it converges: what is left wanders through towers, whose top is as fast as all of it together.";
    POLISHED: f64 = 1e-12, "Residual [m/s] that the core does not go beyond: rounding is near.";
    RIGHT: f64 = 1e-3, "Part of the tolerance at which remembered impulses are kept: forces are as much larger as a substep is short.";
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
    LAST_SHARE: f64 = 4.0, "`sequential`: multiple of the sweeps that an island gets besides where nothing hits and neither they nor the core arrive: a pile that settles creeps otherwise.";
    LAST_MAX: f64 = 1000.0, "`sequential`: most of those sweeps, whatever `effort` is.";
    JOINT_COST: f64 = 8.0, "`sequential`: contacts that one joint counts for in the cost of sweeps.";
    NET_COST: f64 = 64.0, "`sequential`: block products for each joint beyond which joints alone are solved as a network.";
    VISIT: f64 = 120.0, "Multiply–adds that one visit of a contact by a sweep counts for.";
    ATTEMPT: f64 = 24.0, "`sequential`: multiple of that cost that one attempt of the core may take.";
    ATTEMPT_MAX: f64 = 5e7, "`sequential`: most multiply–adds of the core in one island and substep, unless it is new.";
    SETBACKS_MAX: u32 = 6, "`sequential`: failed attempts in a row after which the pause before the next one is not doubled any more.";
    JOINTED_LEAST: u32 = 12, "`sequential`: factorisations that an island with joints keeps after any number of failed attempts.";
    FACTORISATIONS: u32 = 100, "Most factorisations of the core in one solve.";
    EXPECTED: u64 = 8, "Factorisations that a solve by the core is expected to take: an island is not tried if they do not fit.";
    COLD_PRODUCTS: f64 = 2e5, "Block products that a factorisation of a new island may take: a pyramid of 820 cubes qualifies.";
    SOLVE_OPERATIONS: f64 = 4e8, "`iterative`: most multiply–adds of the core in one solve.";
    ITERATIVE_MET: f64 = 1e3, "`iterative`: multiple of the joint tolerance up to which joints count as met.";
    MANY: usize = 32, "`iterative`: contacts from which a solve leaves out those that only come near.";
    LITTLE: u32 = 10, "`iterative`: double sweeps of a large island at a time, while it takes contacts in.";
    NEAR_ACCELERATION: f64 = 50.0, "`iterative`: speed apart over the length of the substep up to which a contact takes part from the start.";
    GROWTHS_MAX: u32 = 8, "Times that a solve takes in contacts it had left out, before it takes all.";
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
    /// Change of velocity in a sweep below which an island counts as solved [m/s].
    pub velocity_tolerance: f64,
    /// Visit the contacts of every sweep in an order drawn with this seed; `None` goes forward and backward in turn.
    pub shuffle_seed: Option<u64>,
}

/// What the core may cost in one solve, in counted operations: never a time, so that bits stay the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allowance {
    /// Block products of one factorisation [1].
    pub block_products: u64,
    /// Factorisations [1].
    pub factorisations: u32,
    /// Multiply–adds [1]; 0: it is not tried.
    pub operations: u64,
}

impl Allowance {
    /// Nothing.
    pub(crate) const NONE: Self = Self {
        block_products: 0,
        factorisations: 0,
        operations: 0,
    };

    /// Any number of operations, as long as one factorisation takes no more than so many block products.
    pub(crate) const fn of(block_products: u64) -> Self {
        Self {
            block_products,
            factorisations: FACTORISATIONS,
            operations: u64::MAX,
        }
    }

    /// Limits scaled by the parameter `effort`.
    pub(crate) fn scaled(effort: f64, block_products: f64, operations: f64) -> Self {
        Self {
            block_products: (effort * block_products) as u64,
            factorisations: FACTORISATIONS,
            operations: (effort * operations) as u64,
        }
    }

    /// Whether the core may be tried.
    pub(crate) const fn is_none(&self) -> bool {
        self.operations == 0
    }

    /// What is left after so many multiply–adds.
    pub(crate) const fn less(&self, operations: u64) -> Self {
        Self {
            operations: self.operations.saturating_sub(operations),
            ..*self
        }
    }
}
