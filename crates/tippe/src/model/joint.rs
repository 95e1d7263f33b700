//! Joints as users describe them: which motions between two bodies stay free, and what drives or bounds those.
//!
//! Reads: descriptions from the user.  Writes: nothing.
//! Called by: `world` (checks), `dynamics::joint` (rows).
//! Source: [Ermolin] §4; the table of constraints in docs/methods/two-stage.md, "Joints".

use crate::error::BuildError;
use crate::math::Pose;
use crate::model::BodyId;
use crate::model::family::Family;

/// Sizes that ratios, pitches and radii may have [1] or [m].
const RATIO_MIN: f64 = 1e-9;
const RATIO_MAX: f64 = 1e9;
/// Nearest that a kept angle may be to 0 or π, where its row has no direction [rad].
const ANGLE_MARGIN: f64 = 1e-6;

/// Names a joint of one world: a slot, the generation of its tenant, and the family of the world: that of its clones and
/// snapshots. Worlds of other families refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
    pub(crate) family: Family,
}

impl JointId {
    /// Slot of the joint.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

/// Which relative motions a joint leaves free. The axis is z of the joint's frames.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JointKind {
    /// The two origins coincide; rotation is free.
    Ball,
    /// Ball, and the z axes coincide: rotation about z is free.
    Hinge,
    /// The origin of A stays on the z axis of B, without rotation: translation along z is free.
    Slider,
    /// The two frames coincide.
    Fixed,
    /// The origin of A stays on the z axis of B, and the z axes coincide: translation along and rotation about z are free.
    Cylindrical,
    /// Ball, and the z axis of A stays perpendicular to the z axis of B: rotation about both is free.
    Universal,
    /// The distance of the two origins stays between `min` and `max` [m]: a rod if they are equal, a rope if `min` is 0.
    Distance {
        /// Least distance [m].
        min: f64,
        /// Greatest distance [m].
        max: f64,
    },
    /// Nothing is held: a place for limits and motor of a rotation about z that something else keeps (the joint of a link).
    Turn,
    /// The same for a translation along z.
    Slide,
    /// Nothing is held: a place for limits of the angle between the two z axes, the cone of a spherical joint.
    Swing,
    /// The same for limits of the turn about z that is left when the shortest turn between the z axes is taken back.
    Twist,
    /// The origin of B stays on the z axis of A.
    PointOnLine,
    /// The origin of B stays in the plane z = 0 of A.
    PointOnPlane,
    /// The z axes stay parallel, in the same or the opposite sense: whichever is nearer.
    Parallel,
    /// The z axes stay at a right angle.
    Perpendicular,
    /// The z axes keep an angle.
    Angle {
        /// The angle, between 0 and π, both excluded [rad].
        angle: f64,
    },
    /// The z axes are one line, in the same or the opposite sense: translation along and rotation about it are free.
    LineOnLine,
    /// The planes z = 0 coincide, either side up: translation in the plane and rotation about z are free.
    Planar,
    /// A sphere about the origin of B touches the plane z = 0 of A.
    SphereOnPlane {
        /// Radius [m]; negative if the sphere is below the plane.
        radius: f64,
    },
    /// A cylinder about the z axis of B touches the plane z = 0 of A along a line.
    CylinderOnPlane {
        /// Radius [m]; negative if the cylinder is below the plane.
        radius: f64,
    },
    /// The axes of the two frames stay parallel each to each; translation is free.
    Orientation,
    /// Cylindrical, and B moves by `pitch` along z for every turn about z.
    Screw {
        /// Displacement for one turn [m]; negative for a left-hand thread.
        pitch: f64,
    },
    /// The angle of joint `second` is `ratio` times that of joint `first`, plus `phase`. Made by `World::add_coupling`.
    Gear {
        /// A hinge or cylindrical joint.
        first: JointId,
        /// Another one.
        second: JointId,
        /// Turn of the second for a turn of the first [1]; negative if they turn in opposite senses.
        ratio: f64,
        /// Angle of the second where that of the first is zero [rad].
        phase: f64,
    },
    /// The displacement of joint `second` is `radius` times the angle of joint `first`, plus `phase`. Made by `World::add_coupling`.
    Rack {
        /// A hinge or cylindrical joint: the pinion.
        first: JointId,
        /// A slider: the rack.
        second: JointId,
        /// Displacement for an angle of one radian [m]; negative for the opposite sense.
        radius: f64,
        /// Displacement where the angle is zero [m].
        phase: f64,
    },
}

impl JointKind {
    /// Whether rotation about z can have limits, motor and spring.
    #[must_use]
    pub const fn turns(self) -> bool {
        matches!(
            self,
            Self::Hinge
                | Self::Cylindrical
                | Self::Turn
                | Self::Swing
                | Self::Twist
                | Self::LineOnLine
                | Self::Planar
                | Self::Parallel
                | Self::Screw { .. }
        )
    }

    /// Whether translation along z can have limits, motor and spring.
    #[must_use]
    pub const fn slides(self) -> bool {
        matches!(
            self,
            Self::Slider
                | Self::Cylindrical
                | Self::Slide
                | Self::LineOnLine
                | Self::PointOnLine
                | Self::Screw { .. }
        )
    }

    /// How many rows hold the joint together.
    #[must_use]
    pub const fn rank(self) -> usize {
        match self {
            Self::Ball | Self::Planar | Self::Orientation => 3,
            Self::Hinge | Self::Slider | Self::Screw { .. } => 5,
            Self::Fixed => 6,
            Self::Cylindrical | Self::Universal | Self::LineOnLine => 4,
            Self::PointOnLine | Self::Parallel | Self::CylinderOnPlane { .. } => 2,
            Self::Distance { .. }
            | Self::PointOnPlane
            | Self::Perpendicular
            | Self::Angle { .. }
            | Self::SphereOnPlane { .. }
            | Self::Gear { .. }
            | Self::Rack { .. } => 1,
            Self::Turn | Self::Slide | Self::Swing | Self::Twist => 0,
        }
    }

    /// Whether its rows count full turns, which the poses of the bodies do not tell.
    #[must_use]
    pub const fn winds(self) -> bool {
        matches!(
            self,
            Self::Screw { .. } | Self::Gear { .. } | Self::Rack { .. }
        )
    }

    /// The two joints that a coupling names.
    #[must_use]
    pub const fn coupled(self) -> Option<[JointId; 2]> {
        match self {
            Self::Gear { first, second, .. } | Self::Rack { first, second, .. } => {
                Some([first, second])
            }
            _ => None,
        }
    }

    /// Checks the numbers of a kind that has some.
    fn check(self) -> Result<(), BuildError> {
        let wrong = |field: &str, reason: String| Err(BuildError::new(field, reason));
        let fits = |field: &str, value: f64| {
            if value.is_finite() && (RATIO_MIN..=RATIO_MAX).contains(&value.abs()) {
                return Ok(());
            }
            let reason = format!(
                "must be finite and not zero ({RATIO_MIN:e} to {RATIO_MAX:e} in size), got {value}"
            );
            Err(BuildError::new(field, reason))
        };
        match self {
            Self::Distance { min, max } => {
                if !(min.is_finite() && max.is_finite() && min >= 0.0) {
                    wrong("distance", "must be finite and not negative".into())
                } else if min > max {
                    wrong("distance", format!("min ({min}) is above max ({max})"))
                } else if max == 0.0 {
                    let reason =
                        "max must be positive: use a ball joint to hold two points together";
                    wrong("distance", reason.into())
                } else {
                    Ok(())
                }
            }
            Self::Angle { angle } => {
                if angle > ANGLE_MARGIN && angle < std::f64::consts::PI - ANGLE_MARGIN {
                    return Ok(());
                }
                let reason = format!(
                    "must be between 0 and π, both excluded, got {angle}: use parallel there"
                );
                wrong("angle", reason)
            }
            Self::SphereOnPlane { radius } | Self::CylinderOnPlane { radius } => {
                fits("radius", radius)
            }
            Self::Screw { pitch } => fits("pitch", pitch),
            Self::Gear { ratio, phase, .. } => {
                fits("ratio", ratio).and_then(|()| finite("phase", phase))
            }
            Self::Rack { radius, phase, .. } => {
                fits("radius", radius).and_then(|()| finite("phase", phase))
            }
            _ => Ok(()),
        }
    }
}

fn finite(field: &str, value: f64) -> Result<(), BuildError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(BuildError::new(
        field,
        format!("must be finite, got {value}"),
    ))
}

/// What drives a free motion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Motor {
    /// Holds a speed.
    Velocity {
        /// Speed of B relative to A [rad/s] or [m/s].
        target: f64,
        /// Largest torque [N·m] or force [N].
        max_force: f64,
    },
    /// Goes to a place with a speed in proportion to the distance left.
    Position {
        /// Angle [rad] or displacement [m].
        target: f64,
        /// Time in which the distance left falls to 1/e [s].
        time: f64,
        /// Largest torque [N·m] or force [N].
        max_force: f64,
    },
    /// Pushes in proportion to the errors of place and speed, `kp (position − x) + kd (velocity − u)` within ± `max_force`: a controller
    /// that the step solves together with everything else, stable at any gains.
    Servo {
        /// Angle [rad] or displacement [m] to be at.
        position: f64,
        /// Speed of B relative to A to be there with [rad/s] or [m/s].
        velocity: f64,
        /// Torque per angle [N·m/rad] or force per distance [N/m].
        kp: f64,
        /// Torque per angular speed [N·m·s/rad] or force per speed [N·s/m].
        kd: f64,
        /// Largest torque [N·m] or force [N]; infinite: no limit.
        max_force: f64,
    },
}

/// A spring with a damper along a free motion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Spring {
    /// Angle [rad] or displacement [m] without force.
    pub rest: f64,
    /// Stiffness [N·m/rad] or [N/m].
    pub stiffness: f64,
    /// Damping [N·m·s/rad] or [N·s/m].
    pub damping: f64,
}

impl Spring {
    /// Energy that it holds at a value [J].
    #[must_use]
    pub const fn energy(&self, value: f64) -> f64 {
        let x = value - self.rest;
        0.5 * self.stiffness * x * x
    }
}

/// What acts along one free motion of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Freedom {
    /// Least and greatest angle [rad] or displacement [m].
    pub limits: Option<(f64, f64)>,
    /// Drive.
    pub motor: Option<Motor>,
    /// Spring and damper.
    pub spring: Option<Spring>,
}

impl Freedom {
    /// Whether nothing acts.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }
}

/// A joint as the user describes it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointDesc {
    /// Used in messages; need not be unique.
    pub name: String,
    /// What stays free.
    pub kind: JointKind,
    /// Body A; `None` is the world.
    pub body_a: Option<BodyId>,
    /// Body B.
    pub body_b: BodyId,
    /// Joint frame in the frame of A (in the world if A is the world).
    pub frame_a: Pose,
    /// Joint frame in the frame of B.
    pub frame_b: Pose,
    /// Along the rotation about z, for kinds that have it.
    pub rotation: Freedom,
    /// Along the translation in z, for kinds that have it.
    pub translation: Freedom,
    /// Force above which the joint breaks [N].
    #[cfg_attr(feature = "serde", serde(with = "unbounded"))]
    pub break_force: f64,
    /// Torque above which the joint breaks [N·m].
    #[cfg_attr(feature = "serde", serde(with = "unbounded"))]
    pub break_torque: f64,
    /// Whether the two bodies may touch each other.
    pub collide: bool,
}

impl JointDesc {
    /// A joint of a kind between two bodies whose frames are given, with nothing else.
    #[must_use]
    pub const fn new(
        kind: JointKind,
        body_a: Option<BodyId>,
        frame_a: Pose,
        body_b: BodyId,
        frame_b: Pose,
    ) -> Self {
        let free = Freedom {
            limits: None,
            motor: None,
            spring: None,
        };
        Self {
            name: String::new(),
            kind,
            body_a,
            body_b,
            frame_a,
            frame_b,
            rotation: free,
            translation: free,
            break_force: f64::INFINITY,
            break_torque: f64::INFINITY,
            collide: false,
        }
    }

    /// Checks every number, and that what is asked for exists in the kind.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        for (field, pose) in [("frame_a", &self.frame_a), ("frame_b", &self.frame_b)] {
            if !pose.is_finite() || (pose.rotation.length_squared() - 1.0).abs() > 1e-6 {
                return Err(BuildError::new(
                    field,
                    "must be finite, with a unit quaternion",
                ));
            }
        }
        self.kind.check()?;
        for (field, value) in [
            ("break_force", self.break_force),
            ("break_torque", self.break_torque),
        ] {
            if value.is_nan() || value <= 0.0 {
                return Err(BuildError::new(
                    field,
                    format!("must be positive, got {value}"),
                ));
            }
        }
        let parts = [
            ("rotation", &self.rotation, self.kind.turns()),
            ("translation", &self.translation, self.kind.slides()),
        ];
        for (field, freedom, exists) in parts {
            if !exists && !freedom.is_free() {
                return Err(BuildError::new(
                    field,
                    "this kind of joint has no such free motion to limit or drive",
                ));
            }
            freedom.check().map_err(|e| e.inside(field))?;
        }
        let driven = self.rotation.motor.is_some() || self.rotation.spring.is_some();
        if driven && matches!(self.kind, JointKind::Swing | JointKind::Twist) {
            return Err(BuildError::new("rotation", "a cone has limits alone"));
        }
        Ok(())
    }
}

impl Freedom {
    fn check(&self) -> Result<(), BuildError> {
        if let Some((min, max)) = self.limits {
            if min.is_nan() || max.is_nan() {
                return Err(BuildError::new("limits", "must be numbers"));
            }
            if min > max {
                return Err(BuildError::new(
                    "limits",
                    format!("min ({min}) is above max ({max})"),
                ));
            }
        }
        if let Some(motor) = self.motor {
            motor.check(self.limits)?;
        }
        if let Some(spring) = self.spring {
            let numbers = [spring.stiffness, spring.damping];
            if !spring.rest.is_finite() || numbers.iter().any(|x| !x.is_finite() || *x < 0.0) {
                return Err(BuildError::new(
                    "spring",
                    "rest, stiffness and damping must be finite, the last two not negative",
                ));
            }
        }
        Ok(())
    }
}

impl Motor {
    /// Checks its numbers, and that its place is within the limits of its freedom.
    fn check(&self, limits: Option<(f64, f64)>) -> Result<(), BuildError> {
        let wrong = |field: &str, reason: String| Err(BuildError::new(field, reason));
        let not_negative = |field: &str, x: f64, most: f64| {
            if x >= 0.0 && x <= most {
                return Ok(());
            }
            let reason = format!("must be finite and not negative, got {x}");
            Err(BuildError::new(field, reason))
        };
        let (place, force) = match *self {
            Self::Velocity { target, max_force } => {
                finite("motor.target", target)?;
                (None, max_force)
            }
            Self::Position {
                target,
                time,
                max_force,
            } => {
                if !(time.is_finite() && time > 0.0) {
                    let reason = format!("must be positive and finite, got {time}");
                    return wrong("motor.time", reason);
                }
                finite("motor.target", target)?;
                (Some(("motor.target", target)), max_force)
            }
            Self::Servo {
                position,
                velocity,
                kp,
                kd,
                max_force,
            } => {
                finite("motor.position", position)?;
                finite("motor.velocity", velocity)?;
                not_negative("motor.kp", kp, f64::MAX)?;
                not_negative("motor.kd", kd, f64::MAX)?;
                not_negative("motor.max_force", max_force, f64::INFINITY)?;
                (Some(("motor.position", position)), 0.0)
            }
        };
        if !(force.is_finite() && force >= 0.0) {
            let reason = "a motor needs a finite force limit that is not negative";
            return wrong("motor.max_force", reason.into());
        }
        if let (Some((field, x)), Some((min, max))) = (place, limits)
            && !(min..=max).contains(&x)
        {
            let reason = format!("{x} is beyond the limits {min} to {max}");
            return wrong(field, reason);
        }
        Ok(())
    }

    /// The same motor aimed elsewhere: at a speed where it holds one, else at a place.
    #[must_use]
    pub const fn aimed(self, target: f64) -> Self {
        match self {
            Self::Velocity { max_force, .. } => Self::Velocity { target, max_force },
            Self::Position {
                time, max_force, ..
            } => Self::Position {
                target,
                time,
                max_force,
            },
            Self::Servo {
                velocity,
                kp,
                kd,
                max_force,
                ..
            } => Self::Servo {
                position: target,
                velocity,
                kp,
                kd,
                max_force,
            },
        }
    }
}

/// A number that may be infinite, for formats without infinity: none stands for it.
#[cfg(feature = "serde")]
mod unbounded {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub fn serialize<S: Serializer>(x: &f64, to: S) -> Result<S::Ok, S::Error> {
        Some(*x).filter(|x| x.is_finite()).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}
