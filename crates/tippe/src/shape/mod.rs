//! Shapes: what a body is made of. One file per shape; this file is the closed list.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `model` (mass properties, checks), `collide` (bounds, features).
//! Source: closed forms; meshes [Mirtich96].

use crate::math::Vec3;

/// A solid in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A ball about the origin.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A box about the origin, edges along the axes.
    Cuboid {
        /// Half the edge lengths [m].
        half: Vec3,
    },
    /// A segment along z about the origin, thickened by a radius.
    Capsule {
        /// Half the length of the inner segment [m].
        half_length: f64,
        /// Radius [m].
        radius: f64,
    },
    /// Everything at or below the plane `normal · x = 0`. Only for fixed and kinematic bodies.
    HalfSpace {
        /// Unit outward normal.
        normal: Vec3,
    },
}
