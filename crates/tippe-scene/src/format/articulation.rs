//! Articulations of the scene file: trees of links in reduced coordinates.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `format` (the whole file).
//! Source: `docs/scene-format.md`, "Articulations".

use super::{AxisAngle, Collision, Motor, OneOrMany, Shape, ShapeEntry, Spring, record, words};

words! {
    /// How a link moves relative to what carries it.
    LinkJoint {
        /// Turns about one axis: one angle.
        #[default]
        Revolute = "revolute",
        /// Slides along one axis: one length.
        Prismatic = "prismatic",
        /// Turns about a point: a quaternion.
        Spherical = "spherical",
        /// Nothing moves.
        Fixed = "fixed",
        /// Everything moves: a position and a quaternion.
        Free = "free",
        /// Turns about an axis, then about a second one carried along: two angles.
        Universal = "universal",
        /// Slides along and turns about one axis: a length and an angle.
        Cylindrical = "cylindrical",
        /// Slides in a plane and turns about its normal: two lengths and an angle.
        Planar = "planar",
    }
}

words! {
    /// How the free motion of an articulation is followed.
    TreeIntegrator {
        /// Four evaluations of its dynamics a step, order four.
        #[default]
        HighOrder = "high_order",
        /// One evaluation a step, order two.
        OneEvaluation = "one_evaluation",
    }
}

record! {
    /// A tree of links in reduced coordinates: its joints hold exactly, at a cost linear in the links.
    Articulation {
        required {
            /// Name, unique among the articulations; its links are bodies called "name.link".
            name: String,
            /// Links that the world carries, and those they carry in turn.
            link: Vec<Link>,
        }
        optional {
            /// Where its base is [m]. Default [0, 0, 0].
            position: [f64; 3],
            /// Orientation of the base, a unit quaternion w, x, y, z. Default [1, 0, 0, 0].
            rotation: [f64; 4],
            /// Orientation of the base as turns about axes, in degrees.
            rotation_deg: OneOrMany<AxisAngle>,
            /// How its free motion is followed. Default "high_order".
            integrator: TreeIntegrator,
            /// Lets only the joints move that matter, at a cost that follows them. Default: all move.
            adaptive: Adaptive,
        }
    }
}

record! {
    /// How many joints of an articulation move: a budget, or as many as an error takes. One of `joints` and `error` is needed.
    Adaptive {
        required {}
        optional {
            /// Most joints that move; those that must (free joints, motors, joints at a limit or too fast to lock) come first.
            joints: u64,
            /// Greatest residual R: the sum of (rate + interval · step · acceleration)² over the locked joints [rad²/s²].
            error: f64,
            /// Steps between two choices. Default 8.
            interval: u64,
            /// Fastest rate at which a joint may be locked [rad/s]. Default 0.02.
            lock_speed: f64,
            /// Weight of each freedom in R, in the order of the links. Default 1 for turns, 1/length² for travels.
            weights: Vec<f64>,
        }
    }
}

record! {
    /// Bounds of a spherical joint: a direction of the link stays within a cone, and its turn about that direction within a range.
    Cone {
        required {
            /// Greatest angle between the direction and the centre of the cone, in degrees.
            swing_deg: f64,
        }
        optional {
            /// Centre of the cone, in the frame of the joint. Default [0, 0, 1].
            center: [f64; 3],
            /// The direction, in the frame of the link. Default: the centre, so that the link starts in the middle.
            limb: [f64; 3],
            /// Least and greatest turn about the direction, in degrees. Default: any.
            twist_deg: [f64; 2],
        }
    }
}

record! {
    /// A link and the joint that carries it.
    Link {
        required {}
        optional {
            /// Name, unique in the articulation. Default: "link" and a number.
            name: String,
            /// Name of the link that carries it, given before; instead of standing inside that link. Default: what it stands in.
            parent: String,
            /// How it moves relative to what carries it. Default "revolute".
            joint: LinkJoint,
            /// Axis of the joint in its frame; normal of a planar joint. Default [0, 0, 1].
            axis: [f64; 3],
            /// Second axis of a universal joint.
            axis_b: [f64; 3],
            /// Origin of the joint in the frame of what carries the link [m]. Default [0, 0, 0].
            position: [f64; 3],
            /// Orientation of the joint frame, a unit quaternion w, x, y, z. Default [1, 0, 0, 0].
            rotation: [f64; 4],
            /// Orientation of the joint frame as turns about axes, in degrees.
            rotation_deg: OneOrMany<AxisAngle>,
            /// Coordinates at the start: angles [rad] and lengths [m]; quaternions as w, x, y, z. Default: all zero.
            start: Vec<f64>,
            /// Angle at the start of a revolute joint, in degrees.
            start_deg: f64,
            /// Rates at the start: [rad/s] and [m/s], in the link's axes; a free link has its spin first. Default: at rest.
            rates: Vec<f64>,
            /// Least and greatest coordinate of a revolute [rad] or prismatic [m] joint.
            limits: [f64; 2],
            /// Least and greatest angle of a revolute joint, in degrees.
            limits_deg: [f64; 2],
            /// Bounds of a spherical joint.
            cone: Cone,
            /// Drive of a revolute or prismatic joint.
            motor: Motor,
            /// Spring and damper of a revolute or prismatic joint.
            spring: Spring,
            /// Viscous friction of the joint [N·m·s/rad] or [N·s/m]. Default 0.
            viscous: f64,
            /// Dry friction of a revolute [N·m] or prismatic [N] joint. Default 0.
            dry_friction: f64,
            /// Inertia of the drive seen at the joint, rotor inertia times gear ratio squared, of each freedom [kg·m²] or [kg]. Default 0.
            armature: f64,
            /// The one shape of the link, in its own frame.
            shape: Shape,
            /// Several shapes, instead of `shape`.
            shapes: Vec<ShapeEntry>,
            /// Density [kg/m³]. Default 1000, if neither density nor mass is given and there are shapes.
            density: f64,
            /// Mass [kg], spread evenly over the shapes unless `inertia` is given. 0: a link without mass that carries another.
            mass: f64,
            /// Inertia about the centre of mass, link axes [kg·m²]: xx, yy, zz, or xx, yy, zz, xy, xz, yz.
            inertia: Vec<f64>,
            /// Centre of mass in the link frame [m], with `inertia`. Default [0, 0, 0].
            center: [f64; 3],
            /// Name of the material of all shapes that do not say otherwise. Default "default".
            material: String,
            /// What the shapes are and what they touch.
            collision: Collision,
            /// Whether it may touch the link that carries it. Default false.
            collide: bool,
            /// Makes so many links of this one, each carried by the one before; their names get numbers. Default 1.
            repeat: u64,
            /// Links that this one (the last, if repeated) carries.
            link: Vec<Link>,
        }
    }
}
