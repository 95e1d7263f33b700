//! Shapes: what a body is made of. One file per shape; this file is the closed list.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `model` (mass properties, checks), `collide` (bounds, features).
//! Source: closed forms; meshes [Mirtich96].

pub mod aabb;
pub mod capsule;
mod climb;
pub mod cone;
pub mod cuboid;
pub mod cylinder;
pub mod half_space;
pub mod hull;
pub mod mass;
pub mod mesh;
pub mod mesh_closest;
mod mesh_topology;
pub mod profile;
mod profile_check;
pub(crate) mod profile_curve;
mod profile_drawn;
mod quickhull;
pub mod rounded;
#[cfg(feature = "serde")]
mod serialised;
pub mod sphere;
pub mod support;
pub(crate) mod triangle_distance;
pub mod triangle_mesh;

pub use aabb::Aabb;
pub use hull::ConvexHull;
pub use mass::MassProperties;
pub use mesh::mesh_mass_properties;
pub use mesh_closest::{MeshPoint, TrianglePart};
pub use profile::{Profile, ProfileEdge, ProfilePath};
pub use rounded::Rounded;
pub use support::{Core, SupportPoint};
pub use triangle_mesh::TriangleMesh;

use crate::error::BuildError;
use crate::math::{Pose, Vec3};
use std::sync::Arc;

/// A solid in its own frame.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// A cylinder along z about the origin.
    Cylinder {
        /// Half the length [m].
        half_length: f64,
        /// Radius [m].
        radius: f64,
    },
    /// A cone along z: its base at −half_length, its apex at +half_length.
    Cone {
        /// Half the height [m].
        half_length: f64,
        /// Radius of the base [m].
        radius: f64,
    },
    /// A convex polyhedron; bodies may share it.
    Hull(Arc<ConvexHull>),
    /// A box, cylinder or hull with rounded edges; bodies may share it.
    Rounded(Arc<Rounded>),
    /// A surface of triangles, felt from its front: ground, or the skin of a solid. Bodies may share it.
    Mesh(Arc<TriangleMesh>),
    /// A plane solid of segments and circular arcs, with holes, in the plane of x and y. It touches profiles in parallel planes and half-spaces
    /// that stand upright on its own, and nothing else: keep its body in its plane. Bodies may share it.
    Profile(Arc<Profile>),
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
            Self::Cylinder {
                half_length,
                radius,
            } => cylinder::check(half_length, radius),
            Self::Cone {
                half_length,
                radius,
            } => cone::check(half_length, radius),
            // Checked when it was made.
            Self::Hull(_) | Self::Mesh(_) | Self::Rounded(_) | Self::Profile(_) => Ok(()),
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
            Self::Cylinder {
                half_length: h,
                radius: r,
            }
            | Self::Cone {
                half_length: h,
                radius: r,
            } => (h * h + r * r).sqrt(),
            Self::Hull(ref hull) => hull.reach(),
            Self::Rounded(ref r) => r.core().reach() + r.radius(),
            Self::Mesh(ref mesh) => mesh.reach(),
            Self::Profile(ref profile) => profile.reach(),
            Self::HalfSpace { .. } => f64::INFINITY,
        }
    }

    /// Volume [m³]; infinite for a half-space; of a mesh that is not closed, that of its convex hull.
    #[must_use]
    pub fn volume(&self) -> f64 {
        match *self {
            Self::Sphere { radius } => sphere::volume(radius),
            Self::Cuboid { half } => cuboid::volume(half),
            Self::Capsule {
                half_length,
                radius,
            } => capsule::volume(half_length, radius),
            Self::Cylinder {
                half_length,
                radius,
            } => cylinder::volume(half_length, radius),
            Self::Cone {
                half_length,
                radius,
            } => cone::volume(half_length, radius),
            Self::Hull(ref hull) => hull.volume(),
            Self::Rounded(ref r) => r.volume(),
            Self::Mesh(ref mesh) => mesh.mass_properties(1.0).map_or(0.0, |m| m.mass),
            Self::Profile(ref profile) => profile.volume(),
            Self::HalfSpace { .. } => f64::INFINITY,
        }
    }

    /// Mass, centre and inertia of the solid filled with `density` [kg/m³], in the shape frame; of a mesh that is not closed, those
    /// of its convex hull. Flat meshes and half-spaces have none.
    #[must_use]
    pub fn mass_properties(&self, density: f64) -> MassProperties {
        match *self {
            Self::Sphere { radius } => sphere::mass_properties(radius, density),
            Self::Cuboid { half } => cuboid::mass_properties(half, density),
            Self::Capsule {
                half_length,
                radius,
            } => capsule::mass_properties(half_length, radius, density),
            Self::Cylinder {
                half_length,
                radius,
            } => cylinder::mass_properties(half_length, radius, density),
            Self::Cone {
                half_length,
                radius,
            } => cone::mass_properties(half_length, radius, density),
            Self::Hull(ref hull) => hull.mass_properties(density),
            Self::Rounded(ref r) => r.mass_properties(density),
            Self::Mesh(ref mesh) => mesh
                .mass_properties(density)
                .unwrap_or(MassProperties::NONE),
            Self::Profile(ref profile) => profile.mass_properties(density),
            Self::HalfSpace { .. } => MassProperties::NONE,
        }
    }

    /// The smallest axis-aligned box that holds the shape at `pose`; of a mesh, one that holds its box.
    #[must_use]
    pub fn bounds(&self, pose: &Pose) -> Aabb {
        match *self {
            Self::Sphere { radius } => sphere::bounds(radius, pose),
            Self::Cuboid { half } => cuboid::bounds(half, pose),
            Self::Capsule {
                half_length,
                radius,
            } => capsule::bounds(half_length, radius, pose),
            Self::Cylinder {
                half_length,
                radius,
            } => cylinder::bounds(half_length, radius, pose),
            Self::Cone {
                half_length,
                radius,
            } => cone::bounds(half_length, radius, pose),
            Self::Hull(ref hull) => hull.bounds(pose),
            Self::Rounded(ref r) => r.core().bounds(pose).grown(r.radius()),
            Self::Mesh(ref mesh) => mesh.bounds(pose),
            Self::Profile(ref profile) => profile.bounds(pose),
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
