//! Methods: interchangeable ways to answer contacts. A method advances the state by exactly dt and reports.
//!
//! Reads: Model.  Writes: State, Work, StepReport.
//! Called by: `step`.
//! Source: docs/methods/README.md, "What each method honours"; ARCHITECTURE.md, "A new method".

pub mod iterative;
mod params;
pub mod sequential;
#[cfg(test)]
mod toy;

pub use iterative::IterativeParams;
pub use params::{Former, Param, ParamKind, ParamRange, ParamTable, ParamType, ParamValue, Params};
pub use sequential::SequentialParams;

use crate::error::{BuildError, StepError};
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use crate::work::Work;

/// Every method Tippe knows by name, whether or not this version has it.
pub const METHOD_NAMES: [&str; 5] = [
    "sequential",
    "iterative",
    "simultaneous",
    "forces",
    "events",
];

/// Declares the closed list of methods: the byte that snapshots store, the variant, its parameters, the module with its `step`.
macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $(#[cfg($cfg:meta)])? $tag:literal => $variant:ident($params:ty) in $room:ident,)+) => {
        /// The methods, each with its own parameters. A closed list, chosen at run time.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Method {
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $variant($params),)+
        }

        impl Method {
            /// The parameters of every method of this version.
            pub const TABLES: &[&ParamTable] = &[$($(#[cfg($cfg)])? &<$params>::TABLE,)+];

            /// The name used in scene files and flags.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $($(#[cfg($cfg)])? Self::$variant(_) => <$params>::TABLE.method,)+ }
            }

            /// The method of that name with its default parameters; `None` if this version does not have it.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                $($(#[cfg($cfg)])? if name == <$params>::TABLE.method {
                    return Some(Self::$variant(<$params>::default()));
                })+
                None
            }

            /// Its parameters, by their table.
            #[must_use]
            pub fn params(&self) -> &dyn Params {
                match self { $($(#[cfg($cfg)])? Self::$variant(params) => params,)+ }
            }

            /// Its parameters, to be set by name.
            pub fn params_mut(&mut self) -> &mut dyn Params {
                match self { $($(#[cfg($cfg)])? Self::$variant(params) => params,)+ }
            }

            /// The byte that stands for it in snapshots.
            pub(crate) const fn tag(&self) -> u8 {
                match self { $($(#[cfg($cfg)])? Self::$variant(_) => $tag,)+ }
            }

            /// The method of that byte with its default parameters.
            pub(crate) fn from_tag(tag: u8) -> Option<Self> {
                match tag {
                    $($(#[cfg($cfg)])? $tag => Some(Self::$variant(<$params>::default())),)+
                    _ => None,
                }
            }

            /// Advances `state` by exactly `dt`.
            pub(crate) fn step(
                &self,
                model: &Model,
                dt: f64,
                state: &mut State,
                work: &mut Work,
            ) -> Result<StepReport, StepError> {
                match self { $($(#[cfg($cfg)])? Self::$variant(params) => $room::step(model, params, dt, state, work),)+ }
            }
        }
    };
}

methods! {
    /// Accumulated impulses with warm start, on predicted motion, then a velocity projection.
    0 => Sequential(SequentialParams) in sequential,
    /// Collisions, then resting contacts, each by impulses to a tolerance; lone impacts by the impact law.
    1 => Iterative(IterativeParams) in iterative,
    /// Free flight with uniform drag, for the tests of this list.
    #[cfg(test)]
    255 => Toy(toy::ToyParams) in toy,
}

impl Default for Method {
    fn default() -> Self {
        Self::Sequential(SequentialParams::default())
    }
}

impl Method {
    /// Checks every parameter for sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        self.params().check()
    }
}
