//! Sensors, time programs and the camera of the scene file.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `format` (the whole file).
//! Source: `docs/scene-format.md`, "Sensors" and "Time programs".

use super::{At, AxisAngle, Node, OneOrMany, Problems, Read, Serialize, Value, record, words};
use crate::read::wrong_type;

words! {
    /// What a sensor reads.
    SensorKind {
        /// Position and orientation of a place on a body.
        #[default]
        Pose = "pose",
        /// Velocity of a point of a body and its angular velocity.
        Velocity = "velocity",
        /// Acceleration less gravity and angular velocity, in the axes of the sensor.
        Imu = "imu",
        /// Angle and displacement of a joint, or the coordinates of a link.
        JointPosition = "joint_position",
        /// Their rates.
        JointRate = "joint_rate",
        /// Force and torque of a joint.
        JointForce = "joint_force",
        /// Force of contacts on a body.
        ContactForce = "contact_force",
        /// Distance along a ray.
        Distance = "distance",
    }
}

record! {
    /// A quantity that is read after every step.
    Sensor {
        required {
            /// Name, unique among the sensors.
            name: String,
            /// What it reads.
            kind: SensorKind,
        }
        optional {
            /// Name of the body or link that carries it. Required, but for sensors of joints.
            body: String,
            /// Name of the joint.
            joint: String,
            /// Of a contact force: the body it comes from. Default: all.
            other: String,
            /// Place in the frame of the body [m]. Default [0, 0, 0].
            position: [f64; 3],
            /// Orientation in the frame of the body, a unit quaternion w, x, y, z. Default [1, 0, 0, 0].
            rotation: [f64; 4],
            /// Orientation as turns about axes, in degrees.
            rotation_deg: OneOrMany<AxisAngle>,
            /// Direction of a distance sensor, in the frame of the body.
            direction: [f64; 3],
            /// How far a distance sensor sees [m]. Default 100.
            range: f64,
        }
    }
}

words! {
    /// What a time program drives.
    Drives {
        /// Gravity [m/s²].
        #[default]
        Gravity = "gravity",
        /// A force on a body [N].
        Force = "force",
        /// A torque on a body [N·m].
        Torque = "torque",
        /// The target of the motor of a joint or link.
        Motor = "motor",
    }
}

record! {
    /// Something as a function of time: one of `piecewise`, `table` and `sine`.
    Program {
        required {
            /// What it drives.
            drives: Drives,
        }
        optional {
            /// Name of the body that is pushed, or of the link whose motor is driven.
            body: String,
            /// Name of the joint whose motor is driven.
            joint: String,
            /// Where a force acts, in the frame of the body [m]. Default [0, 0, 0].
            point: [f64; 3],
            /// Whether force or torque turn with the body. Default false.
            local: bool,
            /// Holds each value from its time on.
            piecewise: Keys,
            /// Straight from value to value.
            table: Keys,
            /// offset + amplitude sin(2π f t + phase).
            sine: Sine,
        }
    }
}

record! {
    /// Values at times.
    Keys {
        required {
            /// Rising times [s].
            times: Vec<f64>,
            /// One for each time: a vector, or a number for a motor.
            values: Vec<Quantity>,
        }
        optional {}
    }
}

record! {
    /// A sine of time.
    Sine {
        required {
            /// Greatest distance from the offset: a vector, or a number for a motor.
            amplitude: Quantity,
            /// Frequency [Hz].
            frequency: f64,
        }
        optional {
            /// Mean. Default 0.
            offset: Quantity,
            /// Phase at t = 0 [rad]. Default 0.
            phase: f64,
            /// Phase at t = 0, in degrees.
            phase_deg: f64,
        }
    }
}

/// A number, or a vector.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Quantity {
    /// A number.
    Number(f64),
    /// A vector.
    Vector([f64; 3]),
}

impl Default for Quantity {
    fn default() -> Self {
        Self::Number(0.0)
    }
}

impl Read for Quantity {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        match &node.value {
            Value::Number { .. } => Self::Number(f64::read(node, at, problems)),
            Value::List(_) => Self::Vector(<[f64; 3]>::read(node, at, problems)),
            _ => {
                let help = "write a number, or three in brackets: [0, 0, 1]";
                wrong_type(node, at, "a number or a vector", help, problems);
                Self::default()
            }
        }
    }
}

record! {
    /// Where pictures of the scene are looked at from.
    Camera {
        required {}
        optional {
            /// Angle about z from x, in degrees. Default -63.
            yaw_deg: f64,
            /// Angle above the ground, in degrees, below 89. Default 24.
            up_deg: f64,
            /// How much nearer than to see everything. Default 1.
            zoom: f64,
        }
    }
}
