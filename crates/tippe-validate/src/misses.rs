//! The known misses: which parts of which cases a method does not hold, and why.
//!
//! Reads: rows.  Writes: nothing.
//! Called by: `summary`, `doc`, the command line, tests.
//! Source: docs/methods explains each; the figures are measured, never kept here.

use crate::case::Form;
use crate::row::Row;

/// Parts that are known to fail, and the reason.
struct Miss {
    case: &'static str,
    /// Parts; none means all of the case.
    parts: &'static [&'static str],
    /// Method; empty means all.
    method: &'static str,
    form: Option<Form>,
    /// Steps longer than this [s].
    above: f64,
    reason: &'static str,
}

const fn miss(
    case: &'static str,
    parts: &'static [&'static str],
    method: &'static str,
    above: f64,
    reason: &'static str,
) -> Miss {
    Miss {
        case,
        parts,
        method,
        form: None,
        above,
        reason,
    }
}

/// The same for bodies that are links of articulations.
const fn miss_of_links(
    case: &'static str,
    parts: &'static [&'static str],
    method: &'static str,
    above: f64,
    reason: &'static str,
) -> Miss {
    Miss {
        form: Some(Form::Articulated),
        ..miss(case, parts, method, above, reason)
    }
}

/// Steps of 1 ms are not longer than this, steps of 1/60 s are [s].
const COARSE: f64 = 5e-3;

const ONE_SOLVE: &str = "one solve answers all contacts at once: impulses do not travel through touching balls one after the other (CL-25); `iterative` does it";
const VELOCITY_RATIO: &str = "restitution is a ratio of normal velocities, friction and normal impulse are not integrated along the impact; `iterative` does it";
const SQUARE: &str = "the error of joints grows with the square of the step, 278 times from 1 ms to 1/60 s; the tolerance grows ten times";

/// All known misses.
const MISSES: &[Miss] = &[
    miss_of_links(
        "F08",
        &["a-velocity", "a-energy"],
        "sequential",
        0.0,
        ONE_SOLVE,
    ),
    miss_of_links(
        "F08",
        &["b-velocity", "b-energy"],
        "sequential",
        COARSE,
        "several of the 2 mm gaps close within one step of 1/60 s and are answered by one solve; `iterative` stops at each impact",
    ),
    miss_of_links(
        "F09",
        &["velocity", "energy"],
        "sequential",
        COARSE,
        ONE_SOLVE,
    ),
    miss_of_links("F11", &[], "sequential", 0.0, VELOCITY_RATIO),
    miss(
        "F12",
        &["a-energy", "b-energy"],
        "",
        COARSE,
        "at 150 rad/s the top turns by 2.5 rad in a step of 1/60 s",
    ),
    miss("F15", &["energy"], "", COARSE, SQUARE),
    miss("F16", &["energy"], "", COARSE, SQUARE),
    miss(
        "F17",
        &["energy"],
        "iterative",
        0.0,
        "the whip of the chain is chaotic: at steps from 0.9 to 1.1 ms the error is 0.4 to 1.2 % with a middle of 0.5 %, and at 1 ms it is 1.2 %",
    ),
    miss("F22", &["a-energy", "b-energy"], "", COARSE, SQUARE),
    miss(
        "F23",
        &["angle", "energy"],
        "",
        COARSE,
        "the contact runs round by 44° to 74° in a step of 1/60 s",
    ),
    miss(
        "F26",
        &["position", "rotation"],
        "",
        0.0,
        "rigid contact with one friction and one restitution does not reach both figures at once; the best found for each method and law are listed below",
    ),
];

/// Why this failed row was expected to fail; `None` if it was not.
#[must_use]
pub fn reason(row: &Row) -> Option<&'static str> {
    MISSES
        .iter()
        .find(|m| {
            m.case == row.case
                && (m.parts.is_empty() || m.parts.contains(&row.part))
                && (m.method.is_empty() || m.method == row.method)
                && m.form.is_none_or(|f| f == row.form)
                && row.dt > m.above
        })
        .map(|m| m.reason)
}

/// Whether every failed row is a known miss.
#[must_use]
pub fn all_known(rows: &[Row]) -> bool {
    rows.iter()
        .all(|r| r.pass() != Some(false) || reason(r).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_miss_names_parts_and_methods_that_exist() {
        for m in MISSES {
            let case = crate::cases::all_cases()
                .iter()
                .find(|c| c.id == m.case)
                .unwrap();
            for part in m.parts {
                assert!(case.parts().any(|p| p.name == *part), "{} {part}", m.case);
            }
            assert!(m.method.is_empty() || tippe::METHOD_NAMES.contains(&m.method));
        }
    }
}
