//! What can go wrong, as values a program can match on.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `world`, `model`, `step`, `state`.
//! Source: docs/conventions.md, "Failure".

use std::fmt;

/// Anything that can go wrong, for programs that want one type. `field`, `reason` and `place` say the same for every kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A part of the model was refused.
    Build(BuildError),
    /// A step did not happen.
    Step(StepError),
    /// A snapshot was refused.
    Snapshot(SnapshotError),
    /// An id names nothing: removed, or from another world.
    UnknownId {
        /// `body`, `joint` or `articulation`.
        what: &'static str,
    },
    /// A scene was refused.
    Scene {
        /// Path of the first field at fault, such as `body[3].mass`.
        field: String,
        /// What is wrong with it.
        reason: String,
        /// File, line and column.
        place: String,
    },
    /// The dynamics of a tree have no answer.
    Robot(crate::articulated::TreeError),
}

impl Error {
    /// The field or argument at fault; empty where there is none.
    #[must_use]
    pub fn field(&self) -> &str {
        match self {
            Self::Build(e) => &e.field,
            Self::Step(StepError::BadStep { .. }) => "dt",
            Self::Snapshot(SnapshotError::Impossible { field, .. }) | Self::Scene { field, .. } => {
                field
            }
            Self::UnknownId { what } => what,
            _ => "",
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Build(e) => e.reason.clone(),
            Self::Scene { reason, .. } => reason.clone(),
            other => other.to_string(),
        }
    }

    /// File, line and column; empty for what comes from no file.
    #[must_use]
    pub fn place(&self) -> &str {
        match self {
            Self::Scene { place, .. } => place,
            _ => "",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(e) => e.fmt(f),
            Self::Step(e) => e.fmt(f),
            Self::Snapshot(e) => e.fmt(f),
            Self::Robot(e) => e.fmt(f),
            Self::UnknownId { what: "joint" } => UnknownJoint.fmt(f),
            Self::UnknownId { what: "body" } => UnknownBody.fmt(f),
            Self::UnknownId { .. } => UnknownArticulation.fmt(f),
            Self::Scene {
                field,
                reason,
                place,
            } => write!(f, "{place}: {field}: {reason}"),
        }
    }
}

impl std::error::Error for Error {}

macro_rules! from {
    ($($source:ty => |$e:pat_param| $value:expr;)*) => { $(
        impl From<$source> for Error {
            fn from($e: $source) -> Self {
                $value
            }
        }
    )* };
}
from! {
    BuildError => |e| Self::Build(e);
    StepError => |e| Self::Step(e);
    SnapshotError => |e| Self::Snapshot(e);
    crate::articulated::TreeError => |e| Self::Robot(e);
    UnknownBody => |_| Self::UnknownId { what: "body" };
    UnknownJoint => |_| Self::UnknownId { what: "joint" };
    UnknownArticulation => |_| Self::UnknownId { what: "articulation" };
}

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
    /// The method cannot step such a model.
    Refused {
        /// What it does not support.
        reason: String,
    },
    /// The dynamics of an articulation have no answer.
    Articulation {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// The caller interrupted it.
    Interrupted,
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => write!(f, "interrupted; the last good state is kept"),
            Self::BadStep { dt } => write!(f, "step length must be positive and finite, got {dt}"),
            Self::Refused { reason } => write!(f, "{reason}"),
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
    /// The checksum does not fit the bytes: something changed them after they were written.
    Checksum,
    /// The bytes are whole, but no world could have written this value.
    Impossible {
        /// Path of the field.
        field: String,
        /// What is wrong with it.
        reason: String,
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
            Self::Checksum => write!(f, "snapshot is damaged: its checksum does not fit"),
            Self::Impossible { field, reason } => {
                write!(f, "snapshot holds what no world has: {field}: {reason}")
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
