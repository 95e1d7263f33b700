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
        /// Another name of `cylindrical`.
        Coaxial = "coaxial",
        /// A point of the first body stays on a line of the second.
        PointOnLine = "point_on_line",
        /// A point of the first body stays in a plane of the second.
        PointOnPlane = "point_on_plane",
        /// Two axes stay parallel, in the same or the opposite sense.
        Parallel = "parallel",
        /// Two axes stay at a right angle.
        Perpendicular = "perpendicular",
        /// Two axes keep an angle.
        Angle = "angle",
        /// Two axes are one line, in the same or the opposite sense.
        LineOnLine = "line_on_line",
        /// Two planes coincide.
        Planar = "planar",
        /// A sphere of the first body touches a plane of the second.
        SphereOnPlane = "sphere_on_plane",
        /// A cylinder of the first body touches a plane of the second along a line.
        CylinderOnPlane = "cylinder_on_plane",
        /// Nothing turns; translation is free.
        Orientation = "orientation",
        /// Turns about one axis and slides along it by a pitch for every turn.
        Screw = "screw",
        /// The angles of two joints keep a ratio.
        Gear = "gear",
        /// The displacement of a slider follows the angle of a hinge.
        Rack = "rack",
        /// Holds nothing: limits, motor and spring of a rotation that other joints leave free.
        Turn = "turn",
        /// Holds nothing: limits, motor and spring of a translation that other joints leave free.
        Slide = "slide",
        /// Holds nothing: limits of the angle between two axes.
        Swing = "swing",
        /// Holds nothing: limits of the turn about an axis that is left without the swing.
        Twist = "twist",
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
            /// Names of body A and body B; "world" is the world. Required, but for gears and racks; not in a generator.
            bodies: [String; 2],
            /// Names of the two joints that a gear or rack couples.
            joints: [String; 2],
            /// Where the joint is, world [m]; with `axis` it fixes both frames by the poses at the start. Not for distance joints, not in a generator.
            at: [f64; 3],
            /// Axis, world; need not have length one. Of line and plane, direction and normal; where there are two axes, that on A.
            axis: [f64; 3],
            /// Axis on B, world: of universal (perpendicular to `axis`), perpendicular, angle; of cylinder_on_plane, the normal. Else as `axis`.
            axis_b: [f64; 3],
            /// Point of A, world [m]; with `at_b` in place of `at`, where the bodies do not meet yet. Default for distance and tangents: the origin of A.
            at_a: [f64; 3],
            /// Point of B, world [m]. Default for distance and tangents: the origin of B.
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
            /// Angle that two axes keep [rad], between 0 and π. Default: the angle at the start.
            angle: f64,
            /// Angle that two axes keep, in degrees.
            angle_deg: f64,
            /// Radius of a sphere or cylinder on a plane [m], negative below the plane; displacement of a rack for an angle of one radian [m].
            radius: f64,
            /// Displacement of a screw for one turn [m]; negative for a left-hand thread.
            pitch: f64,
            /// Turn of the second joint of a gear for a turn of the first; negative for opposite senses.
            ratio: f64,
            /// Angle [rad] or displacement [m] of the second joint where the angle of the first is zero. Default: as at the start.
            phase: f64,
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
    /// A drive with a force limit: holds a velocity, goes to a position, or pushes by gains `kp` and `kd`.
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
            /// Torque per angle [N·m/rad] or force per distance [N/m] towards `position`, in place of `time`; may stand with `velocity`.
            kp: f64,
            /// Torque per angular speed [N·m·s/rad] or force per speed [N·s/m] towards `velocity` (0 if not given). Default 0.
            kd: f64,
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
