//! What the core may cost an island from step to step: as much in the mean as a small multiple of its sweeps, whatever its luck.
//!
//! Reads: the island's memory, counts of its rows.  Writes: the memory for the next substep.
//! Called by: `method::sequential`.
//! Source: own; docs/solver.md, "Effort".
//!
//! Every attempt of the core leaves a debt of the operations it took; each substep pays off SHARE times the cost of the island's sweeps, and there is no attempt while
//! something is owed. A failed attempt owes twice as much as the one before, so that attempts that fail again and again become rare. A new island (more than half of what
//! touches has no memory, and nothing hits) is solved whatever it owes, and owes nothing for that if it succeeds. Sweeps crawl along
//! mechanisms: islands whose joints count for more than their contacts always have the core, with fewer factorisations after failures.

use super::choose::{
    ATTEMPT, ATTEMPT_MAX, Allowance, COLD_PRODUCTS, FACTORISATIONS, JOINT_COST, JOINTED_LEAST,
    SETBACKS_MAX, SHARE, VISIT,
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
    /// Multiply–adds that the core has taken in this substep, and whether it failed.
    spent: u64,
    failed: bool,
    /// Whether it is a mechanism, and whether it is new.
    jointed: bool,
    new: bool,
}

impl Effort {
    /// Starts with the memory of an island.
    pub(crate) const fn new(memory: EffortMemory) -> Self {
        Self {
            memory,
            spent: 0,
            failed: false,
            jointed: false,
            new: false,
        }
    }

    /// Begins a substep: pays off what its sweeps allow. Returns what the core may cost in it.
    pub(crate) fn begin(&mut self, effort: f64, island: &Circumstances) -> Allowance {
        let cost = effort * island.sweeps_cost();
        (self.jointed, self.new) = (island.is_mechanism(), island.new);
        self.memory.debt = self.memory.debt.saturating_sub((SHARE * cost) as u64);
        if effort == 0.0 {
            Allowance::NONE
        } else if island.new && !island.hit {
            Allowance {
                block_products: (effort * COLD_PRODUCTS) as u64,
                factorisations: FACTORISATIONS,
                operations: u64::MAX,
            }
        } else if self.jointed {
            let few = FACTORISATIONS >> self.memory.failures.min(SETBACKS_MAX);
            Allowance {
                factorisations: few.max(JOINTED_LEAST),
                ..Allowance::scaled(effort, COLD_PRODUCTS, ATTEMPT_MAX)
            }
        } else if island.hit || self.memory.debt > 0 {
            Allowance::NONE
        } else {
            let operations = (ATTEMPT * cost).min(effort * ATTEMPT_MAX);
            Allowance {
                operations: operations as u64,
                ..Allowance::scaled(effort, COLD_PRODUCTS, 0.0)
            }
        }
    }

    /// What is left of an allowance in the next solve of the same substep: nothing, if the core failed and sweeps can do without it.
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
        self.failed |= failed;
    }

    /// Ends a substep: what the attempt leaves for the next.
    pub(crate) fn end(&mut self) {
        if self.spent == 0 {
            return;
        }
        if self.failed {
            self.memory.failures = (self.memory.failures + 1).min(SETBACKS_MAX);
            self.memory.debt = self.spent.saturating_mul(1 << self.memory.failures);
        } else {
            // What a new island took is not held against it: it has to be right before it can rest.
            self.memory.failures = 0;
            self.memory.debt = if self.new { 0 } else { self.spent };
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
    fn the_mean_cost_of_attempts_is_bounded_whatever_they_cost() {
        // Attempts that take all they may: all fail, all succeed.
        for fails in [true, false] {
            let mut effort = Effort::default();
            let mut total = 0.0;
            for _ in 0..1000 {
                let allowed = effort.begin(1.0, &ISLAND);
                if !allowed.is_none() {
                    effort.book(allowed.operations, fails);
                    total += allowed.operations as f64;
                }
                effort.end();
                effort = Effort::new(effort.memory);
            }
            let most = SHARE * ISLAND.sweeps_cost() * 1000.0 + ATTEMPT * ISLAND.sweeps_cost();
            assert!(total <= most, "{total} {most}");
            assert!(total > 0.0);
        }
    }

    #[test]
    fn failures_in_a_row_double_the_pause_and_success_ends_it() {
        let mut effort = Effort::default();
        let mut pauses = Vec::new();
        for _ in 0..4 {
            let allowed = effort.begin(1.0, &ISLAND);
            effort.book(allowed.operations, true);
            effort.end();
            let mut pause = 0;
            loop {
                effort = Effort::new(effort.memory);
                let mut next = effort;
                if !next.begin(1.0, &ISLAND).is_none() {
                    break;
                }
                effort = Effort::new(next.memory);
                pause += 1;
            }
            pauses.push(pause);
        }
        assert!(pauses.windows(2).all(|p| p[1] > p[0] && p[1] <= 2 * p[0] + 2), "{pauses:?}");
        let allowed = effort.begin(1.0, &ISLAND);
        effort.book(allowed.operations / 100, false);
        effort.end();
        effort = Effort::new(effort.memory);
        assert!(!effort.begin(1.0, &ISLAND).is_none());
    }

    #[test]
    fn new_islands_and_joints_do_not_wait_and_hits_do() {
        let memory = EffortMemory {
            debt: u64::MAX,
            failures: 3,
            ..EffortMemory::default()
        };
        let ask = |island: Circumstances| Effort::new(memory).begin(1.0, &island);
        assert!(ask(ISLAND).is_none());
        assert_eq!(ask(Circumstances { new: true, ..ISLAND }).factorisations, FACTORISATIONS);
        let jointed = Circumstances { joints: 20, ..ISLAND };
        assert_eq!(ask(jointed).factorisations, JOINTED_LEAST);
        let hit = Circumstances { new: true, hit: true, ..ISLAND };
        assert!(ask(hit).is_none());
        assert!(Effort::default().begin(0.0, &ISLAND).is_none());
    }
}
