//! What a method must have to be measured, and why it is refused where it has it not.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `run`.
//! Source: docs/methods/README.md, "What each method honours".

use crate::case::Setup;
use crate::cases::{cube_toss, ellipse, one_step};

/// Something of the support table that a case needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The measured cube tosses.
    CubeTosses,
    /// The measured ellipse impacts.
    EllipseImpacts,
    /// The recorded one-step contact problems.
    ContactProblems,
}

impl Feature {
    /// Why a method without it cannot be measured.
    #[must_use]
    pub const fn refusal(self) -> &'static str {
        match self {
            Self::CubeTosses => {
                "not run: no cube-tosses/tosses.csv and starts.csv in a folder given by --data; made from the tosses of [Acosta22] in DAIRLab/dairlib"
            }
            Self::EllipseImpacts => {
                "not run: no ellipse-impacts/impacts.csv in a folder given by --data; made from the measurements of [Fazeli17] in DAIRLab/ImpactModeling"
            }
            Self::ContactProblems => {
                "not run: no fclib/*.txt in a folder given by --data; made from the problems of [FCLIB] in siconos/siconos and Simple-Robotics/ContactBench"
            }
        }
    }
}

/// Why this setup cannot carry out a trial that needs these features; `None` if it can.
#[must_use]
pub fn refusal(setup: &Setup, needs: &[Feature]) -> Option<String> {
    if tippe::Method::from_name(&setup.method).is_none() {
        return Some(if tippe::METHOD_NAMES.contains(&setup.method.as_str()) {
            format!("method `{}` is not built yet", setup.method)
        } else {
            format!(
                "no method `{}`; the methods are {}",
                setup.method,
                tippe::METHOD_NAMES.join(", ")
            )
        });
    }
    let missing = needs.iter().find(|f| !present(setup, **f));
    missing.map(|f| f.refusal().to_owned())
}

/// Whether the version, or the folder of data, has what is needed.
fn present(setup: &Setup, feature: Feature) -> bool {
    match feature {
        Feature::EllipseImpacts => {
            let data = setup.data.as_deref();
            data.is_some_and(|data| ellipse::file(data).is_file())
        }
        Feature::CubeTosses => {
            let data = setup.data.as_deref();
            data.is_some_and(cube_toss::present)
        }
        Feature::ContactProblems => {
            let data = setup.data.as_deref();
            data.is_some_and(|data| !one_step::files(data).is_empty())
        }
    }
}
