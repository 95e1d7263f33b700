//! Methods: interchangeable ways to answer contacts. A method advances the state by exactly dt and reports.
//!
//! Reads: Model.  Writes: State, Work, StepReport.
//! Called by: `step`.
//! Source: docs/methods/README.md, "What each method honours".

pub mod events;
pub mod iterative;
pub mod sequential;

pub use events::EventsParams;
pub use iterative::IterativeParams;
pub use sequential::SequentialParams;

/// The methods, each with its own parameters. A closed list, chosen at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Accumulated impulses with warm start, on predicted motion, then a velocity projection.
    Sequential(SequentialParams),
    /// Collisions, then resting contacts, each by impulses to a tolerance; lone impacts by the impact law.
    Iterative(IterativeParams),
    /// Every impact at its own time by the impact law; free flight in between; what rests is solved in groups.
    Events(EventsParams),
}

/// Every method Tippe knows by name, whether or not this version has it.
pub const METHOD_NAMES: [&str; 5] = [
    "sequential",
    "iterative",
    "simultaneous",
    "forces",
    "events",
];

impl Default for Method {
    fn default() -> Self {
        Self::Sequential(SequentialParams::default())
    }
}

impl Method {
    /// The name used in scene files and flags.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sequential(_) => "sequential",
            Self::Iterative(_) => "iterative",
            Self::Events(_) => "events",
        }
    }

    /// Checks every parameter for sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), crate::BuildError> {
        match self {
            Self::Sequential(params) => params.check(),
            Self::Iterative(params) => params.check(),
            Self::Events(params) => params.check(),
        }
    }

    /// The method of that name with its default parameters; `None` if this version does not have it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "sequential" => Some(Self::Sequential(SequentialParams::default())),
            "iterative" => Some(Self::Iterative(IterativeParams::default())),
            "events" => Some(Self::Events(EventsParams::default())),
            _ => None,
        }
    }
}
