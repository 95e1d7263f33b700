//! Time programs: gravity, forces and targets of motors as functions of time.
//!
//! Reads: descriptions from the user.  Writes: nothing (pure functions).
//! Called by: `world::programs`.
//! Source: elementary; forces and gravity act in a step with their exact mean over it, so that impulses are exact.

use crate::error::BuildError;
use crate::joint::JointId;
use crate::math::Vec3;
use crate::model::BodyId;
use std::f64::consts::TAU;

/// A vector that changes with time; a number stands in x.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Signal {
    /// Holds each value from its time on; the first before that too.
    Steps {
        /// Strictly rising times [s].
        times: Vec<f64>,
        /// One for each time.
        values: Vec<Vec3>,
    },
    /// Straight from value to value; constant before the first and after the last.
    Table {
        /// Strictly rising times [s].
        times: Vec<f64>,
        /// One for each time.
        values: Vec<Vec3>,
    },
    /// `offset + amplitude · sin(2π f t + phase)`.
    Sine {
        /// Mean.
        offset: Vec3,
        /// Greatest distance from it.
        amplitude: Vec3,
        /// Frequency [Hz].
        frequency: f64,
        /// Phase at t = 0 [rad].
        phase: f64,
    },
}

impl Signal {
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        match self {
            Self::Steps { times, values } | Self::Table { times, values } => {
                if times.is_empty() || times.len() != values.len() {
                    let reason = "needs at least one time, and one value for each";
                    return Err(BuildError::new("times", reason));
                }
                if !times.iter().all(|t| t.is_finite()) || times.windows(2).any(|w| w[0] >= w[1]) {
                    return Err(BuildError::new("times", "must be finite and rise strictly"));
                }
                if values.iter().all(|v| v.is_finite()) {
                    return Ok(());
                }
                Err(BuildError::new("values", "must be finite"))
            }
            Self::Sine {
                offset,
                amplitude,
                frequency,
                phase,
            } => {
                for (field, good) in [
                    ("offset", offset.is_finite()),
                    ("amplitude", amplitude.is_finite()),
                    ("frequency", frequency.is_finite() && *frequency >= 0.0),
                    ("phase", phase.is_finite()),
                ] {
                    if !good {
                        let reason = "must be finite, and the frequency not negative";
                        return Err(BuildError::new(field, reason));
                    }
                }
                Ok(())
            }
        }
    }

    /// The value at a time [s].
    #[must_use]
    pub fn at(&self, t: f64) -> Vec3 {
        match self {
            Self::Steps { times, values } => values[times.partition_point(|x| *x <= t).max(1) - 1],
            Self::Table { times, values } => {
                let after = times.partition_point(|x| *x <= t);
                if after == 0 {
                    return values[0];
                }
                if after == times.len() {
                    return values[after - 1];
                }
                let s = (t - times[after - 1]) / (times[after] - times[after - 1]);
                values[after - 1] + (values[after] - values[after - 1]) * s
            }
            Self::Sine {
                offset,
                amplitude,
                frequency,
                phase,
            } => *offset + *amplitude * libm::sin(TAU * frequency * t + phase),
        }
    }

    /// The mean from time `t` on for a time `h` [s].
    #[must_use]
    pub fn mean(&self, t: f64, h: f64) -> Vec3 {
        let end = t + h;
        match self {
            Self::Steps { times, .. } | Self::Table { times, .. } => {
                let first = times.partition_point(|x| *x <= t);
                let inside = times[first..].iter().copied().take_while(|x| *x < end);
                let straight = matches!(self, Self::Table { .. });
                let (mut sum, mut from) = (Vec3::ZERO, t);
                for to in inside.chain([end]) {
                    // Between two times a table is straight and steps are constant.
                    let value = if straight {
                        self.at(0.5 * (from + to))
                    } else {
                        self.at(from)
                    };
                    sum += value * (to - from);
                    from = to;
                }
                sum / (end - t)
            }
            Self::Sine {
                offset,
                amplitude,
                frequency,
                phase,
            } => {
                // The mean of sin over h is sin at the middle times sinc of half the turn.
                let half = 0.5 * TAU * frequency * h;
                let sinc = if half.abs() < 1e-8 {
                    1.0
                } else {
                    libm::sin(half) / half
                };
                let middle = libm::sin(TAU * frequency * (t + 0.5 * h) + phase);
                *offset + *amplitude * (middle * sinc)
            }
        }
    }
}

/// What a program drives.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Driven {
    /// Gravity [m/s²].
    Gravity,
    /// A force on a body [N].
    Force {
        /// Which body.
        body: BodyId,
        /// Where it acts, in the frame of the body [m].
        point: Vec3,
        /// Whether it turns with the body.
        local: bool,
    },
    /// A torque on a body [N·m].
    Torque {
        /// Which body.
        body: BodyId,
        /// Whether it turns with the body.
        local: bool,
    },
    /// The target of a joint's motor: of its rotation, or of its translation where that has none.
    Motor {
        /// Which joint.
        joint: JointId,
    },
    /// The target of a link's motor.
    LinkMotor {
        /// The body of the link.
        link: BodyId,
    },
}

/// A time program.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Program {
    /// What it drives.
    pub driven: Driven,
    /// How.
    pub signal: Signal,
}

/// A force at the centre of mass of a body [N] and a torque [N·m], world axes, in every step until they are changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Steady {
    pub body: BodyId,
    pub force: Vec3,
    pub torque: Vec3,
}
