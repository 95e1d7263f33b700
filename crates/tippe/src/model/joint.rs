//! Joints as users describe them: which motions between two bodies stay free, and what drives or bounds those.
//!
//! Reads: descriptions from the user.  Writes: nothing.
//! Called by: `world` (checks), `dynamics::joint` (rows).
//! Source: [Ermolin] §4; the table of constraints in docs/methods/two-stage.md, "Joints".

use crate::error::BuildError;
use crate::math::Pose;
use crate::model::BodyId;

/// Names a joint of one world: a slot and the generation of its tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
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
}

impl JointKind {
    /// Whether rotation about z can have limits, motor and spring.
    #[must_use]
    pub const fn turns(self) -> bool {
        matches!(
            self,
            Self::Hinge | Self::Cylindrical | Self::Turn | Self::Swing | Self::Twist
        )
    }

    /// Whether translation along z can have limits, motor and spring.
    #[must_use]
    pub const fn slides(self) -> bool {
        matches!(self, Self::Slider | Self::Cylindrical | Self::Slide)
    }

    /// How many rows hold the joint together.
    #[must_use]
    pub const fn rank(self) -> usize {
        match self {
            Self::Ball => 3,
            Self::Hinge | Self::Slider => 5,
            Self::Fixed => 6,
            Self::Cylindrical | Self::Universal => 4,
            Self::Distance { .. } => 1,
            Self::Turn | Self::Slide | Self::Swing | Self::Twist => 0,
        }
    }
}

/// What drives a free motion.
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

/// A spring with a damper along a free motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Angle [rad] or displacement [m] without force.
    pub rest: f64,
    /// Stiffness [N·m/rad] or [N/m].
    pub stiffness: f64,
    /// Damping [N·m·s/rad] or [N·s/m].
    pub damping: f64,
}

/// What acts along one free motion of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    pub break_force: f64,
    /// Torque above which the joint breaks [N·m].
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
        if let JointKind::Distance { min, max } = self.kind {
            if !(min.is_finite() && max.is_finite() && min >= 0.0) {
                return Err(BuildError::new(
                    "distance",
                    "must be finite and not negative",
                ));
            }
            if min > max {
                return Err(BuildError::new(
                    "distance",
                    format!("min ({min}) is above max ({max})"),
                ));
            }
            if max == 0.0 {
                return Err(BuildError::new(
                    "distance",
                    "max must be positive: use a ball joint to hold two points together",
                ));
            }
        }
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
            let (target, force) = match motor {
                Motor::Velocity { target, max_force } => (target, max_force),
                Motor::Position {
                    target,
                    time,
                    max_force,
                } => {
                    if !(time.is_finite() && time > 0.0) {
                        return Err(BuildError::new(
                            "motor.time",
                            format!("must be positive and finite, got {time}"),
                        ));
                    }
                    (target, max_force)
                }
            };
            if !target.is_finite() {
                return Err(BuildError::new("motor.target", "must be finite"));
            }
            if !(force.is_finite() && force >= 0.0) {
                let reason = "a motor needs a finite force limit that is not negative";
                return Err(BuildError::new("motor.max_force", reason));
            }
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
