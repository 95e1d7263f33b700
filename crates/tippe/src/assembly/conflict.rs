//! Mates that cannot hold together: irreducible sets of them.
//!
//! Reads: Model (joints), body states.  Writes: the report.
//! Called by: `assembly`, where a component could not be placed.
//! Source: deletion filter for irreducible infeasible sets, [Chinneck91], with the residuals of the failed placement as the first guess:
//! where Jᵀr = 0 only mates with r ≠ 0 hold each other open.

use super::solve::{self, Attempt};
use super::{Assembly, Conflict, Parts, words};
use crate::model::Model;
use crate::state::{BodyState, JointMemory};

/// Sets that are named for one component.
const SETS_MAX: usize = 64;
/// Part of the worst residual below which a mate counts as holding [1].
const HOLDS: f64 = 1e-5;

/// A component that could not be placed.
struct Search<'a> {
    model: &'a Model,
    parts: &'a Parts,
    start: &'a [BodyState],
    memory: &'a [JointMemory],
    iterations: usize,
}

/// Names the contradictory sets of a component, one after the other: of each set found, its last mate is left out before the search for
/// the next.
pub(crate) fn find(
    model: &Model,
    parts: &Parts,
    start: &[BodyState],
    memory: &[JointMemory],
    report: &mut Assembly,
) {
    let mut search = Search {
        model,
        parts,
        start,
        memory,
        iterations: 0,
    };
    let mut mates = parts.mates.clone();
    let mut found = 0;
    while let Some(open) = search.fails(&mates) {
        if found == SETS_MAX {
            report.limits.push(format!(
                "more than {SETS_MAX} contradictory sets: the others are not named"
            ));
            break;
        }
        let set = search.reduce(&mates, open);
        let Some(&last) = set.last() else { break };
        mates.retain(|m| *m != last);
        let ids: Vec<_> = set.iter().map(|&m| model.joint_id(m as usize)).collect();
        report.conflicts.push(Conflict {
            text: words::conflict(model, &set),
            mates: ids,
        });
        found += 1;
    }
    report.iterations += search.iterations;
}

impl Search<'_> {
    /// The mates that stay open, if these cannot hold together.
    fn fails(&mut self, mates: &[u32]) -> Option<Vec<u32>> {
        let Attempt {
            solved,
            states,
            iterations,
            ..
        } = solve::solve(self.model, self.parts, mates, self.start, self.memory);
        self.iterations += iterations;
        if solved {
            return None;
        }
        let rows = solve::gather(self.model, self.parts, mates, &states, self.memory);
        let least = HOLDS * solve::worst(&rows);
        let is_open = |mate: u32| {
            rows.iter()
                .any(|r| r.mate == mate && r.residual.abs() > least)
        };
        Some(mates.iter().copied().filter(|&m| is_open(m)).collect())
    }

    /// An irreducible set among mates that fail: parts that it fails without are left out, large parts first.
    fn reduce(&mut self, mates: &[u32], open: Vec<u32>) -> Vec<u32> {
        let mut set = mates.to_vec();
        let mut guess = open;
        // The open ones alone, as long as that is fewer.
        while guess.len() < set.len() {
            match self.fails(&guess) {
                Some(next) => {
                    set = std::mem::replace(&mut guess, next);
                }
                None => break,
            }
        }
        let mut size = set.len().div_ceil(2).max(1);
        loop {
            let mut at = 0;
            while at < set.len() && set.len() > 1 {
                let end = (at + size).min(set.len());
                let without: Vec<u32> = [&set[..at], &set[end..]].concat();
                match self.fails(&without) {
                    Some(_) if !without.is_empty() => set = without,
                    _ => at = end,
                }
            }
            if size == 1 {
                return set;
            }
            size = size.div_ceil(2);
        }
    }
}
