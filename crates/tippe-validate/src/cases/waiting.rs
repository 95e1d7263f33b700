//! Cases whose scenes need data or a feature that is not there yet: their parts and tolerances are fixed, their runs refused.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: F26 \[Acosta22]; F28 \[FCLIB].

use crate::case::Tolerance::Constant;
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::support::Feature;

/// The run of a trial whose features do not exist; the support table refuses it before it is called.
///
/// # Errors
/// Always.
pub fn not_built(_: &Setup) -> Result<Vec<Value>, Stopped> {
    Err(Stopped::new("this trial is not built yet"))
}

const fn part(
    name: &'static str,
    measure: &'static str,
    tolerance: Tolerance,
    reason: &'static str,
) -> Part {
    Part {
        name,
        measure,
        tolerance,
        reason,
    }
}

const fn case(
    id: &'static str,
    name: &'static str,
    source: &'static str,
    trials: &'static [Trial],
) -> Case {
    Case {
        id,
        name,
        source,
        trials,
    }
}

const fn trial(parts: &'static [Part], needs: &'static [Feature]) -> Trial {
    Trial {
        parts,
        needs,
        run: not_built,
    }
}

/// Measured tosses of a cube.
pub const F26: Case = case(
    "F26",
    "cube-toss",
    "[Acosta22]",
    &[trial(
        &[
            part(
                "position",
                "mean position error [widths of the cube]",
                Constant(0.140),
                "below the best engine measured, 0.142",
            ),
            part(
                "rotation",
                "mean rotation error [°]",
                Constant(16.0),
                "below the best engine measured, 16.6",
            ),
        ],
        &[Feature::CubeTosses],
    )],
);

/// One-step contact problems.
pub const F28: Case = case(
    "F28",
    "one-step solve",
    "[FCLIB]",
    &[trial(
        &[part(
            "residual",
            "natural-map residual, worst file [1]",
            Constant(1e-8),
            "a solver's answer, not a step's",
        )],
        &[Feature::ContactProblems],
    )],
);
