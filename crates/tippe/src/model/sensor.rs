//! Sensors: named quantities that a world reads after every step.
//!
//! Reads: descriptions from the user.  Writes: nothing.
//! Called by: `world::sensors`.
//! Source: docs/sensors.md.

use crate::error::BuildError;
use crate::joint::JointId;
use crate::math::{Pose, Vec3};
use crate::model::BodyId;
use crate::model::family::Family;

/// Longest range of a distance sensor [m].
const RANGE_MAX: f64 = 1e9;

/// Names a sensor of one world and its family. Ids of removed sensors never name another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SensorId {
    pub(crate) index: u32,
    pub(crate) family: Family,
}

/// A sensor as the user describes it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SensorDesc {
    /// Name, unique among the sensors of a world.
    pub name: String,
    /// What it reads.
    pub kind: SensorKind,
}

/// What a sensor reads.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SensorKind {
    /// Seven numbers: position [m] and orientation (w, x, y, z) of a place on a body.
    Pose {
        /// Whose.
        body: BodyId,
        /// The place, in the frame of the body.
        place: Pose,
    },
    /// Six numbers, in world axes: velocity of a point of a body [m/s], angular velocity of the body [rad/s].
    Velocity {
        /// Whose.
        body: BodyId,
        /// The point, in the frame of the body [m].
        point: Vec3,
    },
    /// Six numbers, in the axes of the sensor: specific force, that is acceleration less gravity [m/s²], and angular velocity [rad/s].
    Imu {
        /// Whose.
        body: BodyId,
        /// Place and axes of the sensor, in the frame of the body.
        place: Pose,
    },
    /// Angle [rad] and displacement [m] of a joint, as far as its kind has them.
    JointPosition {
        /// Which joint.
        joint: JointId,
    },
    /// Their rates [rad/s], [m/s].
    JointRate {
        /// Which joint.
        joint: JointId,
    },
    /// Six numbers, in world axes: mean force on B in the last step [N], mean torque on B about the joint's origin [N·m].
    JointForce {
        /// Which joint.
        joint: JointId,
    },
    /// Coordinates of the joint that carries a link; quaternions as (w, x, y, z).
    LinkPosition {
        /// The body of the link.
        link: BodyId,
    },
    /// Their rates.
    LinkRate {
        /// The body of the link.
        link: BodyId,
    },
    /// Five numbers: mean force on a body by its contacts in the last step, world axes [N]; the sum of its normal parts by size, and the
    /// size of the sum of its friction [N].
    ContactForce {
        /// On whom.
        body: BodyId,
        /// By whom; by all if not given.
        other: Option<BodyId>,
    },
    /// Distance along a ray to the nearest shape of another body [m]; the range where there is none.
    Distance {
        /// Who carries it.
        body: BodyId,
        /// Where the ray starts, in the frame of the body [m].
        origin: Vec3,
        /// Where it goes, in the frame of the body; of any length.
        direction: Vec3,
        /// How far it sees [m].
        range: f64,
    },
}

impl SensorKind {
    /// What its numbers are called; `positions` and `rates` are those of the link or joint.
    pub(crate) const fn names(&self) -> &'static [&'static str] {
        match self {
            Self::Pose { .. } => &[
                "position.x",
                "position.y",
                "position.z",
                "rotation.w",
                "rotation.x",
                "rotation.y",
                "rotation.z",
            ],
            Self::Velocity { .. } => &[
                "velocity.x",
                "velocity.y",
                "velocity.z",
                "angular_velocity.x",
                "angular_velocity.y",
                "angular_velocity.z",
            ],
            Self::Imu { .. } => &[
                "acceleration.x",
                "acceleration.y",
                "acceleration.z",
                "angular_velocity.x",
                "angular_velocity.y",
                "angular_velocity.z",
            ],
            Self::JointForce { .. } => &[
                "force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z",
            ],
            Self::ContactForce { .. } => &["force.x", "force.y", "force.z", "normal", "friction"],
            Self::Distance { .. } => &["distance"],
            Self::JointPosition { .. } | Self::LinkPosition { .. } => &["position"],
            Self::JointRate { .. } | Self::LinkRate { .. } => &["rate"],
        }
    }

    /// Checks what can be said without a world.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let finite = |field: &str, good: bool| {
            if good {
                Ok(())
            } else {
                Err(BuildError::new(field, "must be finite"))
            }
        };
        match self {
            Self::Pose { place, .. } | Self::Imu { place, .. } => {
                finite("place", place.is_finite())?;
                if (place.rotation.length_squared() - 1.0).abs() > 1e-6 {
                    return Err(BuildError::new("place", "must have a unit quaternion"));
                }
                Ok(())
            }
            Self::Velocity { point, .. } => finite("point", point.is_finite()),
            Self::Distance {
                origin,
                direction,
                range,
                ..
            } => {
                finite("origin", origin.is_finite())?;
                if !(direction.is_finite() && direction.length() > 0.0) {
                    return Err(BuildError::new("direction", "must be a direction"));
                }
                if !(*range > 0.0 && *range <= RANGE_MAX) {
                    let reason = format!("must be above 0 and at most {RANGE_MAX:e}, got {range}");
                    return Err(BuildError::new("range", reason));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A sensor in its slot, with its place among the readings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sensor {
    pub(crate) desc: SensorDesc,
    /// How many numbers it reads.
    pub(crate) count: u32,
}
