//! What can go wrong in the dynamics of a tree, as values a program can match on.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: the public functions of `articulated`.
//! Source: docs/conventions.md, "Failure". What is wrong with a description is a `BuildError`.

use std::fmt;

/// Why a function of a tree did not answer.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeError {
    /// A slice has the wrong length for this model.
    Length {
        /// Which argument.
        argument: &'static str,
        /// Length the model needs.
        expected: usize,
        /// Length given.
        found: usize,
    },
    /// A number given is infinite or not a number.
    NonFinite {
        /// Which argument.
        argument: &'static str,
    },
    /// A quaternion among the coordinates has no direction.
    BadQuaternion {
        /// Link whose joint it belongs to.
        link: usize,
    },
    /// There is no link, coordinate or constraint with this number.
    OutOfRange {
        /// Which argument.
        argument: &'static str,
        /// The number given.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// The work space was made for another model, or a function that fills it was not called before.
    NotPrepared {
        /// The function to call first.
        call: &'static str,
    },
    /// This function knows no inertia of drives.
    Armature,
    /// In this configuration a joint moves no mass: its acceleration has no answer.
    Singular {
        /// Link of the joint.
        link: usize,
    },
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length {
                argument,
                expected,
                found,
            } => write!(f, "`{argument}` needs {expected} numbers, got {found}"),
            Self::NonFinite { argument } => {
                write!(f, "`{argument}` holds a number that is not finite")
            }
            Self::BadQuaternion { link } => {
                write!(f, "the quaternion of link {link} has length zero")
            }
            Self::OutOfRange {
                argument,
                found,
                count,
            } => write!(f, "`{argument}` is {found}, but there are only {count}"),
            Self::NotPrepared { call } => {
                write!(
                    f,
                    "the work space is not ready: call `{call}` with this model first"
                )
            }
            Self::Armature => write!(f, "divide and conquer knows no armature: use `aba`"),
            Self::Singular { link } => write!(
                f,
                "the joint of link {link} moves no mass in this configuration"
            ),
        }
    }
}

impl std::error::Error for TreeError {}
