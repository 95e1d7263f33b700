//! What the core may cost an island from step to step: a small multiple of its sweeps, and less often where it fails.
//!
//! Reads: the island's memory, counts of its rows.  Writes: the memory for the next substep.
//! Called by: `method::sequential`.
//! Source: own; docs/solver.md, "Effort".
//!
//! An attempt of the core may take ATTEMPT times the counted operations of the island's sweeps; it is not begun where a solve is expected to take more. After the n-th failure
//! in a row there is no attempt for 2ⁿ⁻¹ substeps; success ends that. Only failures count: what was solved has to stay solved, or a tower that was expensive once is swept
//! until it falls. A new island (more than half of what touches has no memory, and nothing hits) may take any number of operations, within the core's caps: it has to be
//! right before it can rest. Sweeps crawl along mechanisms: islands whose joints count for more than their contacts always have the core, with fewer
//! factorisations after failures.

use super::choose::{
    ATTEMPT, ATTEMPT_MAX, Allowance, COLD_PRODUCTS, FACTORISATIONS, JOINT_COST, JOINTED_LEAST,
    SETBACKS_MAX, VISIT,
};
use crate::state::EffortMemory;

/// What an island is like in the substep at hand, as far as it decides what the core may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    pub contacts: usize,
    pub joints: usize,
    /// Double sweeps of one solve.
    pub sweeps: u32,
    /// Whether trees take part, whether most contacts are new, and whether one is hit.
    pub trees: bool,
    pub new: bool,
    pub hit: bool,
}

impl Circumstances {
    /// Whether joints are what holds it together, more than contacts: a mechanism, along which sweeps crawl.
    fn is_mechanism(&self) -> bool {
        self.trees || (self.joints > 0 && JOINT_COST * self.joints as f64 >= self.contacts as f64)
    }

    /// Multiply–adds of the island's sweeps in one solve.
    fn sweeps_cost(&self) -> f64 {
        let visits = self.contacts as f64 + JOINT_COST * self.joints as f64;
        2.0 * f64::from(self.sweeps) * VISIT * visits
    }
}

/// The effort of one island in the substep at hand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effort {
    /// What the last substep left, then what is left for the next.
    pub memory: EffortMemory,
    /// Multiply–adds that the core has taken in this half of the substep.
    spent: u64,
    /// Whether it was tried in this substep, and whether it failed.
    tried: bool,
    failed: bool,
    /// Whether it is a mechanism.
    jointed: bool,
}

impl Effort {
    /// Starts with the memory of an island.
    pub(crate) const fn new(memory: EffortMemory) -> Self {
        Self {
            memory,
            spent: 0,
            tried: false,
            failed: false,
            jointed: false,
        }
    }

    /// Begins a substep. Returns what the core may cost in it.
    pub(crate) fn begin(&mut self, effort: f64, island: &Circumstances) -> Allowance {
        self.jointed = island.is_mechanism();
        let waits = self.memory.pause > 0;
        self.memory.pause = self.memory.pause.saturating_sub(1);
        if effort == 0.0 {
            Allowance::NONE
        } else if self.jointed {
            let few = FACTORISATIONS >> self.memory.failures.min(SETBACKS_MAX);
            Allowance {
                factorisations: few.max(JOINTED_LEAST),
                ..Allowance::scaled(effort, COLD_PRODUCTS, ATTEMPT_MAX)
            }
        } else if island.hit || waits {
            Allowance::NONE
        } else if island.new {
            Allowance::of((effort * COLD_PRODUCTS) as u64)
        } else {
            let operations = (ATTEMPT * island.sweeps_cost()).min(ATTEMPT_MAX);
            Allowance::scaled(effort, COLD_PRODUCTS, operations)
        }
    }

    /// Begins the second half of a substep, which may cost as much as the first.
    pub(crate) const fn again(&mut self) {
        self.spent = 0;
    }

    /// What is left of an allowance in the next solve of the same half: nothing, if the core failed and sweeps can do without it.
    pub(crate) const fn left(&self, allowed: Allowance) -> Allowance {
        if self.failed && !self.jointed {
            Allowance::NONE
        } else {
            allowed.less(self.spent)
        }
    }

    /// Books a solve.
    pub(crate) const fn book(&mut self, spent: u64, failed: bool) {
        self.spent = self.spent.saturating_add(spent);
        self.tried |= spent > 0;
        self.failed |= failed;
    }

    /// Ends a substep: what the attempt leaves for the next.
    pub(crate) fn end(&mut self) {
        if self.failed {
            self.memory.pause = 1 << self.memory.failures.min(SETBACKS_MAX);
            self.memory.failures = (self.memory.failures + 1).min(SETBACKS_MAX);
        } else if self.tried {
            (self.memory.pause, self.memory.failures) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISLAND: Circumstances = Circumstances {
        contacts: 100,
        joints: 0,
        sweeps: 10,
        trees: false,
        new: false,
        hit: false,
    };

    #[test]
    fn an_attempt_takes_no_more_than_a_multiple_of_the_sweeps() {
        for contacts in [1, 10, 100, 1000, 10_000] {
            let island = Circumstances { contacts, ..ISLAND };
            let allowed = Effort::default().begin(1.0, &island);
            assert!(allowed.operations as f64 <= ATTEMPT * island.sweeps_cost());
            assert!(allowed.operations as f64 <= ATTEMPT_MAX);
        }
        let twice = Effort::default().begin(2.0, &ISLAND).operations;
        assert_eq!(twice, 2 * Effort::default().begin(1.0, &ISLAND).operations);
    }

    #[test]
    fn failures_in_a_row_double_the_pause_and_success_ends_it() {
        let mut effort = Effort::default();
        let mut pauses = Vec::new();
        for _ in 0..4 {
            let allowed = effort.begin(1.0, &ISLAND);
            effort.book(allowed.operations, true);
            assert!(effort.left(allowed).is_none());
            effort.end();
            let mut pause = 0;
            loop {
                effort = Effort::new(effort.memory);
                let mut next = effort;
                if !next.begin(1.0, &ISLAND).is_none() {
                    break;
                }
                next.end();
                effort = Effort::new(next.memory);
                pause += 1;
            }
            pauses.push(pause);
        }
        assert_eq!(pauses, [1, 2, 4, 8]);
        let allowed = effort.begin(1.0, &ISLAND);
        effort.book(allowed.operations, false);
        effort.end();
        assert_eq!((effort.memory.pause, effort.memory.failures), (0, 0));
    }

    #[test]
    fn joints_do_not_wait_and_hits_do() {
        let memory = EffortMemory {
            pause: 3,
            failures: 3,
            ..EffortMemory::default()
        };
        let ask = |island: Circumstances| Effort::new(memory).begin(1.0, &island);
        assert!(ask(ISLAND).is_none());
        let new = Circumstances {
            new: true,
            ..ISLAND
        };
        assert!(ask(new).is_none());
        assert_eq!(Effort::default().begin(1.0, &new).operations, u64::MAX);
        let jointed = Circumstances {
            joints: 20,
            ..ISLAND
        };
        assert_eq!(ask(jointed).factorisations, JOINTED_LEAST);
        let hit = Circumstances { hit: true, ..new };
        assert!(Effort::default().begin(1.0, &hit).is_none());
        assert!(Effort::default().begin(0.0, &ISLAND).is_none());
    }
}
