//! Prescribed motion of kinematic bodies: exact pose and velocity at any time.
//!
//! Reads: the motion of the model.  Writes: nothing (pure functions).
//! Called by: `dynamics::integrate`.
//! Source: elementary; table interpolation is piecewise linear in position and in rotation angle.

use crate::error::BuildError;
use crate::math::{Pose, Vec3, rotation};

/// A motion relative to the start pose of its body: translation in world axes, rotation about the body frame's origin in world axes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Motion {
    /// Constant velocity [m/s] and spin [rad/s].
    Constant {
        /// Velocity of the body frame's origin [m/s].
        velocity: Vec3,
        /// Angular velocity, world axes [rad/s].
        angular_velocity: Vec3,
    },
    /// Shaking: translation `amplitude · sin(2π f t + phase)` and rotation by `rotation_amplitude · sin(…)`.
    Sine {
        /// Translation amplitude [m].
        amplitude: Vec3,
        /// Rotation vector amplitude [rad].
        rotation_amplitude: Vec3,
        /// Frequency [Hz].
        frequency: f64,
        /// Phase at t = 0 [rad].
        phase: f64,
    },
    /// Straight from key to key; constant before the first and after the last.
    Table {
        /// Strictly rising times [s].
        times: Vec<f64>,
        /// World poses of the body frame at these times.
        poses: Vec<Pose>,
    },
    /// Constant velocity from the start pose on, which the body has at the time `since`: what `World::steer` makes.
    Steered {
        /// When it was steered [s].
        since: f64,
        /// Velocity of the body frame's origin [m/s].
        velocity: Vec3,
        /// Angular velocity, world axes [rad/s].
        angular_velocity: Vec3,
    },
}

/// Pose and velocity of a kinematic body's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// World pose of the body frame.
    pub pose: Pose,
    /// Velocity of the body frame's origin [m/s].
    pub velocity: Vec3,
    /// Angular velocity, world axes [rad/s].
    pub angular_velocity: Vec3,
}

impl Motion {
    /// Rests where it is.
    pub const REST: Self = Self::Constant {
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
    };

    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let finite = |field: &str, ok: bool| {
            if ok {
                Ok(())
            } else {
                Err(BuildError::new(field, "must be finite"))
            }
        };
        match self {
            Self::Constant {
                velocity,
                angular_velocity,
            }
            | Self::Steered {
                velocity,
                angular_velocity,
                ..
            } => {
                finite("velocity", velocity.is_finite())?;
                finite("angular_velocity", angular_velocity.is_finite())
            }
            Self::Sine {
                amplitude,
                rotation_amplitude,
                frequency,
                phase,
            } => {
                finite("amplitude", amplitude.is_finite())?;
                finite("rotation_amplitude", rotation_amplitude.is_finite())?;
                finite("frequency", frequency.is_finite())?;
                finite("phase", phase.is_finite())
            }
            Self::Table { times, poses } => {
                if times.is_empty() || times.len() != poses.len() {
                    return Err(BuildError::new(
                        "times",
                        "needs at least one key, and one pose for each time",
                    ));
                }
                if !times.iter().all(|t| t.is_finite()) || times.windows(2).any(|w| w[0] >= w[1]) {
                    return Err(BuildError::new("times", "must be finite and rise strictly"));
                }
                finite("poses", poses.iter().all(Pose::is_finite))
            }
        }
    }

    /// Pose and velocity at time `t` [s] of a body whose frame starts at `start`.
    ///
    /// At a key of a table the velocity is that of the segment that begins there.
    #[must_use]
    pub fn at(&self, start: &Pose, t: f64) -> Moved {
        match self {
            Self::Constant {
                velocity,
                angular_velocity,
            } => Moved {
                pose: turned(start, *velocity * t, *angular_velocity * t),
                velocity: *velocity,
                angular_velocity: *angular_velocity,
            },
            Self::Sine {
                amplitude,
                rotation_amplitude,
                frequency,
                phase,
            } => {
                let rate = std::f64::consts::TAU * frequency;
                let (s, c) = (libm::sin(rate * t + phase), libm::cos(rate * t + phase));
                Moved {
                    pose: turned(start, *amplitude * s, *rotation_amplitude * s),
                    velocity: *amplitude * (rate * c),
                    angular_velocity: *rotation_amplitude * (rate * c),
                }
            }
            Self::Table { times, poses } => table_at(times, poses, t),
            Self::Steered {
                since,
                velocity,
                angular_velocity,
            } => Self::Constant {
                velocity: *velocity,
                angular_velocity: *angular_velocity,
            }
            .at(start, t - since),
        }
    }

    /// Acceleration [m/s²] and angular acceleration [rad/s²] of the frame at time `t` [s]; tables go straight from key to key.
    #[must_use]
    pub fn acceleration(&self, t: f64) -> (Vec3, Vec3) {
        match self {
            Self::Sine {
                amplitude,
                rotation_amplitude,
                frequency,
                phase,
            } => {
                let rate = std::f64::consts::TAU * frequency;
                let k = -rate * rate * libm::sin(rate * t + phase);
                (*amplitude * k, *rotation_amplitude * k)
            }
            Self::Constant { .. } | Self::Table { .. } | Self::Steered { .. } => {
                (Vec3::ZERO, Vec3::ZERO)
            }
        }
    }
}

fn turned(start: &Pose, shift: Vec3, turn: Vec3) -> Pose {
    Pose::new(
        start.position + shift,
        rotation::normalized(rotation::exp(turn) * start.rotation),
    )
}

fn table_at(times: &[f64], poses: &[Pose], t: f64) -> Moved {
    let resting = |pose: Pose| Moved {
        pose,
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
    };
    // Segment i runs from key i to key i + 1.
    let after = times.partition_point(|&key| key <= t);
    if after == 0 {
        return resting(poses[0]);
    }
    if after == times.len() {
        return resting(poses[after - 1]);
    }
    let (p, q) = (poses[after - 1], poses[after]);
    let span = times[after] - times[after - 1];
    let s = (t - times[after - 1]) / span;
    let velocity = (q.position - p.position) / span;
    let turn = crate::dynamics::joint::rotation_vector(q.rotation * p.rotation.conjugate());
    Moved {
        pose: Pose::new(
            p.position + (q.position - p.position) * s,
            rotation::normalized(rotation::exp(turn * s) * p.rotation),
        ),
        velocity,
        angular_velocity: turn / span,
    }
}
