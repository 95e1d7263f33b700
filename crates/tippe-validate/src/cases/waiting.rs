//! Cases whose scenes need a feature or data that is not there yet: their parts and tolerances are fixed, their runs refused.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: F14 Lagrange (1788); F23 Moffatt (2000); F26 \[Acosta22]; F27 \[Fazeli17]; F28 \[FCLIB].

use crate::case::Tolerance::{Between, Constant, Scaled};
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

/// A top on a fixed point.
pub const F14: Case = case(
    "F14",
    "heavy-top",
    "Lagrange (1788)",
    &[
        trial(
            &[
                part(
                    "a-precession",
                    "relative error of the precession angle at 10 s [1]",
                    Scaled(1e-3),
                    "0.1 %",
                ),
                part(
                    "a-tilt",
                    "largest |θ − 60°| in 10 s [°]",
                    Scaled(0.06),
                    "steady precession is exact: 0.1 % of 60°",
                ),
            ],
            &[Feature::Joints],
        ),
        trial(
            &[part(
                "b",
                "error of the lower bound of nutation in 10 s [°]",
                Scaled(0.08),
                "0.1 % of 76°",
            )],
            &[Feature::Joints],
        ),
    ],
);

/// A rod on a hinge.
pub const F15: Case = case(
    "F15",
    "pendulum",
    "Abramowitz and Stegun §17",
    &[trial(
        &[
            part(
                "time",
                "relative error of the 20th crossing of the vertical [1]",
                Scaled(1e-4),
                "period by K(k)",
            ),
            part(
                "energy",
                "energy drift over 60 s, of m g L/2 [1]",
                Scaled(1e-4),
                "constant in truth",
            ),
        ],
        &[Feature::Joints],
    )],
);

/// Two rods.
pub const F16: Case = case(
    "F16",
    "double-pendulum",
    "energy",
    &[trial(
        &[part(
            "energy",
            "largest |E − E₀| in 60 s, of m g L [1]",
            Scaled(1e-3),
            "chaotic: only the energy counts",
        )],
        &[Feature::Joints],
    )],
);

/// Ten links.
pub const F17: Case = case(
    "F17",
    "chain-10",
    "energy",
    &[trial(
        &[
            part(
                "energy",
                "largest |E − E₀| in 10 s, of 10 m g [1]",
                Between(1e-2, 5e-2),
                "the whip end turns too fast for 1/60 s: there only no blow-up is asked",
            ),
            part("gap", "largest anchor gap [m]", Between(1e-5, 1e-3), "same"),
        ],
        &[Feature::Joints],
    )],
);

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

/// Joints held for 20 s.
pub const F22: Case = case(
    "F22",
    "joint-drift",
    "[Bender06]",
    &[
        trial(
            &[
                part(
                    "a-gap",
                    "largest anchor gap in 20 s [m]",
                    Constant(1e-6),
                    "stated for 10 ms, kept at every step",
                ),
                part(
                    "a-energy",
                    "energy drift, of m g L [1]",
                    Constant(2e-3),
                    "stated for 10 ms, kept at every step",
                ),
            ],
            &[Feature::Joints],
        ),
        trial(
            &[
                part(
                    "b-gap",
                    "largest anchor gap in 20 s [m]",
                    Constant(1e-6),
                    "stated for 10 ms, kept at every step",
                ),
                part(
                    "b-axis",
                    "largest angle between the axes [rad]",
                    Constant(1e-6),
                    "stated for 10 ms, kept at every step",
                ),
                part(
                    "b-energy",
                    "energy drift, of m g L [1]",
                    Constant(2e-3),
                    "stated for 10 ms, kept at every step",
                ),
            ],
            &[Feature::Joints],
        ),
    ],
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

/// Measured impacts of an ellipse.
pub const F27: Case = case(
    "F27",
    "ellipse-impact",
    "[Fazeli17]",
    &[trial(
        &[part(
            "velocity",
            "mean error of the best law [1]",
            Constant(0.105),
            "what the best fitted law leaves is 0.1045",
        )],
        &[Feature::EllipseImpacts],
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
