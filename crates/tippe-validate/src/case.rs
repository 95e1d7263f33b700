//! A case is data plus oracle: scenes, what is measured on them, and how large the error may be.
//!
//! Reads: nothing.  Writes: nothing (types).
//! Called by: `cases` (each makes one), `run` (carries them out), `report` and command line (show them).
//! Source: the cases and tolerances name their own.

use std::path::PathBuf;

use crate::support::Feature;
use crate::watch::Watch;

/// One fidelity case: a situation whose answer is known.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// `F00` … `F28`.
    pub id: &'static str,
    /// Short name.
    pub name: &'static str,
    /// Where the answer comes from.
    pub source: &'static str,
    /// The runs it is made of; each measures one or more parts.
    pub trials: &'static [Trial],
}

impl Case {
    /// All parts of the case, in order.
    pub fn parts(&self) -> impl Iterator<Item = &'static Part> + use<> {
        self.trials.iter().flat_map(|t| t.parts)
    }
}

/// One or a few runs that are measured together; if one of them stops, all its parts did.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// What is measured.
    pub parts: &'static [Part],
    /// What a method must have for it.
    pub needs: &'static [Feature],
    /// Carries it out: one value for each part, in the same order.
    pub run: fn(&Setup) -> Result<Vec<Value>, Stopped>,
}

/// One measured error and what it may be.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Name within the case, as in the table of parts.
    pub name: &'static str,
    /// What the error is, with its unit.
    pub measure: &'static str,
    /// How large it may be.
    pub tolerance: Tolerance,
    /// Why this much.
    pub reason: &'static str,
}

/// How large an error may be at which step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// This much at 1 ms and below, ten times as much at 1/60 s and above, log-linear in dt between.
    Scaled(f64),
    /// The first at 1 ms and below, the second at 1/60 s and above, log-linear in dt between.
    Between(f64, f64),
    /// The same at every step.
    Constant(f64),
    /// Right or wrong: the error is 0 or 1.
    Verdict,
}

/// Step at and below which the tolerances are as stated [s].
pub const DT_FINE: f64 = 1e-3;
/// Step at and above which they are ten times as much [s].
pub const DT_COARSE: f64 = 1.0 / 60.0;

impl Tolerance {
    /// The tolerance at step `dt` [s].
    #[must_use]
    pub fn at(self, dt: f64) -> f64 {
        match self {
            Self::Scaled(fine) => Self::Between(fine, 10.0 * fine).at(dt),
            Self::Between(fine, coarse) => {
                let s = libm::log(dt / DT_FINE) / libm::log(DT_COARSE / DT_FINE);
                if s <= 0.0 {
                    fine
                } else if s >= 1.0 {
                    coarse
                } else {
                    fine * libm::pow(coarse / fine, s)
                }
            }
            Self::Constant(value) => value,
            Self::Verdict => 0.5,
        }
    }
}

/// What a trial measured for one part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The error in the measure of the part.
    pub error: f64,
    /// The error in the measure of the other engines' figures, where it differs.
    pub peer_error: Option<f64>,
}

impl Value {
    /// Right (0) or wrong (1).
    #[must_use]
    pub fn verdict(right: bool) -> Self {
        Self::from(if right { 0.0 } else { 1.0 })
    }

    /// With the error in the measure of the other engines' figures.
    #[must_use]
    pub fn with_peer(error: f64, peer_error: f64) -> Self {
        Self {
            error,
            peer_error: Some(peer_error),
        }
    }
}

impl From<f64> for Value {
    fn from(error: f64) -> Self {
        Self {
            error,
            peer_error: None,
        }
    }
}

/// With what a case is run: the one thing it does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Name of the method.
    pub method: String,
    /// How joints are held.
    pub form: Form,
    /// Step [s].
    pub dt: f64,
    /// Folder of data measured by others, for the cases that need it.
    pub data: Option<PathBuf>,
    /// Factor on the solver tolerances of the method; 1 leaves its defaults.
    pub loosen: f64,
    /// Who looks at the runs; nobody as a rule.
    pub watch: Option<Watch>,
}

impl Setup {
    /// A method in a form at a step [s], without data, as it comes.
    #[must_use]
    pub fn new(method: &str, form: Form, dt: f64) -> Self {
        Self {
            method: method.to_owned(),
            form,
            dt,
            data: None,
            loosen: 1.0,
            watch: None,
        }
    }
}

/// How joints are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Every body with its six coordinates, joints by impulses.
    #[default]
    Maximal,
    /// Trees of bodies in joint coordinates.
    Articulated,
    /// The same trees, adaptive with a budget of all their joints.
    Adaptive,
}

impl Form {
    /// All forms that differ; an adaptive tree of which all joints move does what the whole tree does.
    pub const ALL: [Self; 2] = [Self::Maximal, Self::Articulated];

    /// The name used by flags and output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Maximal => "maximal",
            Self::Articulated => "articulated",
            Self::Adaptive => "adaptive",
        }
    }

    /// The form of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "maximal" => Some(Self::Maximal),
            "articulated" => Some(Self::Articulated),
            "adaptive" => Some(Self::Adaptive),
            _ => None,
        }
    }
}

/// Why a run gave no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// In words, with body and phase where known.
    pub reason: String,
}

impl Stopped {
    /// A stop for this reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerance_follows_the_rule() {
        let t = Tolerance::Scaled(1e-3);
        assert_eq!(t.at(1e-3), 1e-3);
        assert_eq!(t.at(1e-5), 1e-3);
        assert!((t.at(1.0 / 60.0) - 1e-2).abs() < 1e-15);
        assert!((t.at(0.1) - 1e-2).abs() < 1e-15);
        // Halfway in log dt is a factor √10.
        let middle = (DT_FINE * DT_COARSE).sqrt();
        assert!((t.at(middle) / 1e-3 - 10f64.sqrt()).abs() < 1e-12);
        assert_eq!(Tolerance::Verdict.at(0.01), 0.5);
        assert_eq!(Tolerance::Constant(1e-6).at(0.01), 1e-6);
    }
}
