//! Joints of trees as users describe them, and the plain joints they are made of.
//!
//! Reads: descriptions from the user.  Writes: nothing.
//! Called by: `model`.
//! Source: [Featherstone08] §4.4, table 4.1. Combined joints are chains of plain ones without mass between them.

use super::spatial::Frame;
use crate::error::BuildError;
use crate::math::{Mat3, Vec3, tangents};

/// How a link moves relative to its parent. Axes are in the joint frame and need not have length one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Joint {
    /// Rotation about an axis: one angle [rad].
    Revolute {
        /// Axis of rotation.
        axis: Vec3,
    },
    /// Translation along an axis: one length [m].
    Prismatic {
        /// Direction of translation.
        axis: Vec3,
    },
    /// Rotation about a point: a unit quaternion (x, y, z, w); its rate is the relative angular velocity in the link's axes [rad/s].
    Spherical,
    /// No motion at all.
    Fixed,
    /// No constraint: position [m] and unit quaternion (x, y, z, w) in the joint frame; its rate is [ω; v] in the link's axes.
    Free,
    /// Rotation about an axis, then about a second one carried along: two angles [rad].
    Universal {
        /// Axis in the parent's side of the joint.
        first: Vec3,
        /// Axis in the link's side of the joint.
        second: Vec3,
    },
    /// Translation along and rotation about one axis: a length [m], then an angle [rad].
    Cylindrical {
        /// The axis.
        axis: Vec3,
    },
    /// Two translations in a plane, then rotation about its normal: two lengths [m] along the tangents of the normal, an angle [rad].
    Planar {
        /// Normal of the plane.
        normal: Vec3,
    },
}

/// The joints the algorithms know. Those of one freedom move about or along z of their node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Hinge,
    Slider,
    Ball,
    Free,
}

impl Plain {
    /// Numbers of the position.
    pub const fn position_count(self) -> usize {
        match self {
            Self::Hinge | Self::Slider => 1,
            Self::Ball => 4,
            Self::Free => 7,
        }
    }

    /// Degrees of freedom.
    pub const fn freedom_count(self) -> usize {
        match self {
            Self::Hinge | Self::Slider => 1,
            Self::Ball => 3,
            Self::Free => 6,
        }
    }
}

/// At most this many plain joints make one joint.
pub(super) const PLAIN_MAX: usize = 3;

/// The plain joints in order, each with the axes its node has in the joint frame (z is the axis of the joint).
pub(super) fn plain_joints(
    joint: &Joint,
) -> Result<impl Iterator<Item = (Plain, Mat3)> + use<>, BuildError> {
    let mut parts = [None; PLAIN_MAX];
    match *joint {
        Joint::Revolute { axis } => parts[0] = Some((Plain::Hinge, axes("axis", axis)?)),
        Joint::Prismatic { axis } => parts[0] = Some((Plain::Slider, axes("axis", axis)?)),
        Joint::Spherical => parts[0] = Some((Plain::Ball, Mat3::IDENTITY)),
        Joint::Fixed => {}
        Joint::Free => parts[0] = Some((Plain::Free, Mat3::IDENTITY)),
        Joint::Universal { first, second } => {
            let (a, b) = (axes("first", first)?, axes("second", second)?);
            if a.z_axis.cross(b.z_axis).length() < PARALLEL {
                return Err(BuildError::new(
                    "second",
                    "must not be parallel to the first axis",
                ));
            }
            parts[0] = Some((Plain::Hinge, a));
            parts[1] = Some((Plain::Hinge, b));
        }
        Joint::Cylindrical { axis } => {
            let a = axes("axis", axis)?;
            parts[0] = Some((Plain::Slider, a));
            parts[1] = Some((Plain::Hinge, a));
        }
        Joint::Planar { normal } => {
            let a = axes("normal", normal)?;
            parts[0] = Some((Plain::Slider, axes("normal", a.x_axis)?));
            parts[1] = Some((Plain::Slider, axes("normal", a.y_axis)?));
            parts[2] = Some((Plain::Hinge, a));
        }
    }
    Ok(parts.into_iter().flatten())
}

/// Sine of the angle below which two axes count as parallel [1].
const PARALLEL: f64 = 1e-6;

/// Axes of a node whose z is the given direction.
fn axes(field: &str, direction: Vec3) -> Result<Mat3, BuildError> {
    let size = direction.abs().max_element();
    if !(direction.is_finite() && size > 0.0) {
        return Err(BuildError::new(
            field,
            format!("must be a direction, got {direction}"),
        ));
    }
    // Scaled first, so that neither tiny nor huge vectors over- or underflow.
    let scaled = direction / size;
    let z = scaled / scaled.length();
    let (x, y) = tangents(z);
    Ok(Mat3::from_cols(x, y, z))
}

/// The frame of a rotation alone.
pub(super) const fn turned(rotation: Mat3) -> Frame {
    Frame {
        rotation,
        origin: Vec3::ZERO,
    }
}
