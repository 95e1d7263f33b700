//! Joints of the scene file: what two bodies may do relative to each other, and what drives it.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `format` (the whole file), `format::generator` (templates).
//! Source: `docs/scene-format.md`, "Joints".

use super::{OneOrMany, record, words};
use crate::format::AxisAngle;

words! {
    /// What a joint leaves free.
    JointKind {
        /// A point of A stays on a point of B.
        #[default]
        Ball = "ball",
        /// Turns about one axis.
        Hinge = "hinge",
        /// Slides along one axis.
        Slider = "slider",
        /// Nothing moves.
        Fixed = "fixed",
        /// Two points stay within a range of distance.
        Distance = "distance",
        /// Turns about and slides along one axis.
        Cylindrical = "cylindrical",
        /// Turns about an axis of A and an axis of B that stay perpendicular.
        Universal = "universal",
    }
}

record! {
    /// A joint between two bodies, or a body and the world.
    Joint {
        required {
            /// What stays free.
            kind: JointKind,
        }
        optional {
            /// Name, unique among the joints; in a generator the prefix of its joints' names. Default: "joint" and a number.
            name: String,
            /// Names of body A and body B; "world" is the world. Required; not in a generator.
            bodies: [String; 2],
            /// Where the joint is, world [m]; with `axis` it fixes both frames by the poses at the start. Not for distance joints, not in a generator.
            at: [f64; 3],
            /// Axis, world; need not have length one. For hinge, slider and cylindrical; of universal, the axis on A.
            axis: [f64; 3],
            /// Axis on B of a universal joint, world, perpendicular to `axis`.
            axis_b: [f64; 3],
            /// Point of A that a distance joint holds, world [m]. Default: the origin of A.
            at_a: [f64; 3],
            /// Point of B that a distance joint holds, world [m]. Default: the origin of B.
            at_b: [f64; 3],
            /// Joint frame in the frame of A, instead of `at` and axes; the axis is z.
            frame_a: Frame,
            /// Joint frame in the frame of B, instead of `at` and axes; the axis is z.
            frame_b: Frame,
            /// Distance that a distance joint holds [m]. Default: the distance at the start.
            length: f64,
            /// Least distance of a distance joint [m], instead of `length`. Default 0.
            min: f64,
            /// Greatest distance of a distance joint [m], instead of `length`. Default: the distance at the start.
            max: f64,
            /// Least and greatest value of the free motion of a hinge [rad] or slider [m], from the start.
            limits: [f64; 2],
            /// Least and greatest angle of a hinge, in degrees.
            limits_deg: [f64; 2],
            /// Drive of a hinge or slider.
            motor: Motor,
            /// Spring and damper of a hinge or slider.
            spring: Spring,
            /// What acts along the rotation of a hinge or cylindrical joint.
            rotation: Freedom,
            /// What acts along the translation of a slider or cylindrical joint.
            translation: Freedom,
            /// Force above which the joint breaks [N]. Default: never.
            break_force: f64,
            /// Torque above which the joint breaks [N·m]. Default: never.
            break_torque: f64,
            /// Whether the two bodies may touch each other. Default false.
            collide: bool,
        }
    }
}

record! {
    /// A joint frame in the frame of a body.
    Frame {
        required {}
        optional {
            /// Origin [m]. Default [0, 0, 0].
            position: [f64; 3],
            /// Orientation, a unit quaternion w, x, y, z. Default [1, 0, 0, 0].
            rotation: [f64; 4],
            /// Orientation as turns about axes, in degrees.
            rotation_deg: OneOrMany<AxisAngle>,
        }
    }
}

record! {
    /// What bounds and drives one free motion of a joint.
    Freedom {
        required {}
        optional {
            /// Least and greatest angle [rad] or displacement [m].
            limits: [f64; 2],
            /// Least and greatest angle, in degrees.
            limits_deg: [f64; 2],
            /// Drive.
            motor: Motor,
            /// Spring and damper.
            spring: Spring,
        }
    }
}

record! {
    /// A drive with a force limit: holds a velocity, or goes to a position.
    Motor {
        required {}
        optional {
            /// Speed of B relative to A to hold [rad/s] or [m/s].
            velocity: f64,
            /// Angle [rad] or displacement [m] to go to, instead of `velocity`.
            position: f64,
            /// Angle to go to, in degrees, instead of `velocity`.
            position_deg: f64,
            /// Time in which the distance to the position falls to 1/e [s]. Default 0.1.
            time: f64,
            /// Largest torque [N·m] or force [N]. Required.
            max_force: f64,
        }
    }
}

record! {
    /// A spring with a damper.
    Spring {
        required {
            /// Stiffness [N·m/rad] or [N/m].
            stiffness: f64,
        }
        optional {
            /// Damping [N·m·s/rad] or [N·s/m]. Default 0.
            damping: f64,
            /// Angle [rad] or displacement [m] without force. Default 0.
            rest: f64,
            /// Angle without force, in degrees.
            rest_deg: f64,
        }
    }
}
