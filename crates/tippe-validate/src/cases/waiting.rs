//! Cases whose scenes need a feature or data that is not there yet: their parts and tolerances are fixed, their runs refused.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: F20 Lagrange (1788); F23 Moffatt (2000).

use crate::case::Tolerance::Scaled;
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

/// A block on a wedge that slides.
pub const F20: Case = case(
    "F20",
    "wedge",
    "Lagrange (1788)",
    &[trial(
        &[
            part(
                "displacement",
                "relative error of wedge and block at 0.5 s, worse [1]",
                Scaled(1e-3),
                "constant accelerations",
            ),
            part(
                "momentum",
                "horizontal momentum over m g t [1]",
                Scaled(1e-9),
                "no horizontal force: only rounding",
            ),
        ],
        &[Feature::Hull],
    )],
);

/// A disc rolling on its rim.
pub const F23: Case = case(
    "F23",
    "euler-disk",
    "Moffatt (2000)",
    &[trial(
        &[
            part(
                "angle",
                "relative distance outside the band of a 1 mm disc over 2 s [1]",
                Scaled(1e-2),
                "lossless motion is steady",
            ),
            part(
                "energy",
                "relative drift of energy over 2 s [1]",
                Scaled(1e-2),
                "lossless motion is steady",
            ),
        ],
        &[Feature::Disc],
    )],
);
