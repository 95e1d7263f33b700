//! What can go wrong, as values a program can match on.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `world`, `model`, `step`, `state`.
//! Source: docs/conventions.md, "Failure".

use std::fmt;

/// Why a part of the model was refused. Names the field and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildError {
    /// Path of the field inside the description, such as `shapes[0].radius`.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

impl BuildError {
    pub(crate) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            reason: reason.into(),
        }
    }

    /// The same error, seen from one level further out.
    pub(crate) fn inside(self, parent: &str) -> Self {
        Self {
            field: format!("{parent}.{}", self.field),
            reason: self.reason,
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)
    }
}

impl std::error::Error for BuildError {}

/// Why a step did not happen. The world keeps its last good state.
#[derive(Clone, Debug, PartialEq)]
pub enum StepError {
    /// The step length is not a positive finite number.
    BadStep {
        /// The value given [s].
        dt: f64,
    },
    /// A number of the state became infinite or not a number.
    NonFinite {
        /// Name of the first body it was seen on.
        body: String,
        /// The phase after which it was seen.
        phase: &'static str,
    },
    /// The dynamics of an articulation have no answer.
    Articulation {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadStep { dt } => write!(f, "step length must be positive and finite, got {dt}"),
            Self::Articulation { name, reason } => {
                write!(
                    f,
                    "articulation `{name}`: {reason}; the last good state is kept"
                )
            }
            Self::NonFinite { body, phase } => {
                write!(
                    f,
                    "body `{body}` became non-finite in phase `{phase}`; the last good state is kept"
                )
            }
        }
    }
}

impl std::error::Error for StepError {}

/// Why a snapshot was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum SnapshotError {
    /// The bytes are no snapshot.
    NotASnapshot,
    /// The snapshot was written by another version.
    Version {
        /// Version found in the bytes.
        found: u32,
        /// Version this library writes and reads.
        expected: u32,
    },
    /// The snapshot's method has other parameters in this version.
    Parameters {
        /// Name of the method.
        method: &'static str,
    },
    /// The bytes end early or hold impossible values.
    Corrupt {
        /// Byte offset at which reading failed.
        offset: usize,
    },
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASnapshot => write!(f, "these bytes are not a tippe snapshot"),
            Self::Version { found, expected } => {
                write!(f, "snapshot version {found}, this library reads {expected}")
            }
            Self::Parameters { method } => {
                write!(
                    f,
                    "snapshot of a version whose method `{method}` has other parameters"
                )
            }
            Self::Corrupt { offset } => {
                write!(f, "snapshot is cut off or damaged at byte {offset}")
            }
        }
    }
}

impl std::error::Error for SnapshotError {}

/// An id that names no body: removed, or from another world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownBody;

impl fmt::Display for UnknownBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no such body: it was removed, or the id belongs to another world"
        )
    }
}

impl std::error::Error for UnknownBody {}

/// An id that names no joint: removed, broken, or from another world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownJoint;

impl fmt::Display for UnknownJoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no such joint: it was removed or broke, or the id belongs to another world"
        )
    }
}

impl std::error::Error for UnknownJoint {}

/// An id whose articulation was removed, or that belongs to another world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownArticulation;

impl fmt::Display for UnknownArticulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no such articulation: it was removed, or the id belongs to another world"
        )
    }
}

impl std::error::Error for UnknownArticulation {}
