//! Shapes: what a body is made of. One file per shape; this file is the closed list.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `model` (mass properties, checks), `collide` (bounds, features).
//! Source: closed forms; meshes [Mirtich96].

pub mod aabb;
pub mod capsule;
pub mod cuboid;
pub mod half_space;
pub mod mass;
pub mod mesh;
pub mod sphere;

pub use aabb::Aabb;
pub use mass::MassProperties;
pub use mesh::mesh_mass_properties;

use crate::error::BuildError;
use crate::math::{Pose, Vec3};

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

impl Shape {
    /// Whether the sizes make sense; the error names the size.
    pub fn check(&self) -> Result<(), BuildError> {
        match *self {
            Self::Sphere { radius } => sphere::check(radius),
            Self::Cuboid { half } => cuboid::check(half),
            Self::Capsule {
                half_length,
                radius,
            } => capsule::check(half_length, radius),
            Self::HalfSpace { normal } => half_space::check(normal),
        }
    }

    /// Radius of the smallest ball about the shape's origin that holds it [m]; infinite for a half-space.
    #[must_use]
    pub fn reach(&self) -> f64 {
        match *self {
            Self::Sphere { radius } => radius,
            Self::Cuboid { half } => half.length(),
            Self::Capsule {
                half_length,
                radius,
            } => half_length + radius,
            Self::HalfSpace { .. } => f64::INFINITY,
        }
    }

    /// Volume [m³]; infinite for a half-space.
    #[must_use]
    pub fn volume(&self) -> f64 {
        match *self {
            Self::Sphere { radius } => sphere::volume(radius),
            Self::Cuboid { half } => cuboid::volume(half),
            Self::Capsule {
                half_length,
                radius,
            } => capsule::volume(half_length, radius),
            Self::HalfSpace { .. } => f64::INFINITY,
        }
    }

    /// Mass, centre and inertia of the solid filled with `density` [kg/m³], in the shape frame. A half-space has none.
    #[must_use]
    pub fn mass_properties(&self, density: f64) -> MassProperties {
        match *self {
            Self::Sphere { radius } => sphere::mass_properties(radius, density),
            Self::Cuboid { half } => cuboid::mass_properties(half, density),
            Self::Capsule {
                half_length,
                radius,
            } => capsule::mass_properties(half_length, radius, density),
            Self::HalfSpace { .. } => MassProperties::NONE,
        }
    }

    /// The smallest axis-aligned box that holds the shape at `pose`.
    #[must_use]
    pub fn bounds(&self, pose: &Pose) -> Aabb {
        match *self {
            Self::Sphere { radius } => sphere::bounds(radius, pose),
            Self::Cuboid { half } => cuboid::bounds(half, pose),
            Self::Capsule {
                half_length,
                radius,
            } => capsule::bounds(half_length, radius, pose),
            Self::HalfSpace { normal } => half_space::bounds(normal, pose),
        }
    }
}

/// The error of a size that is not positive and finite.
fn check_positive(field: &str, value: f64) -> Result<(), BuildError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(BuildError::new(
            field,
            format!("must be positive and finite, got {value}"),
        ))
    }
}
