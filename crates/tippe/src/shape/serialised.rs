//! Shapes with hidden parts as serde writes and reads them: what they are made of, checked like new ones.
//!
//! Reads: shapes or their data.  Writes: the other.
//! Called by: serde, with the feature of that name.
//! Source: —

use super::{ConvexHull, Profile, ProfilePath, Rounded, Shape, TriangleMesh};
use crate::error::BuildError;
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// A surface of triangles.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Surface {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

/// A solid thickened by a radius.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Thickened {
    core: Shape,
    radius: f64,
}

impl From<ConvexHull> for Surface {
    fn from(hull: ConvexHull) -> Self {
        Self {
            vertices: hull.vertices().to_vec(),
            triangles: hull.triangles().to_vec(),
        }
    }
}

impl TryFrom<Surface> for ConvexHull {
    type Error = BuildError;
    fn try_from(s: Surface) -> Result<Self, BuildError> {
        Self::new(&s.vertices)
    }
}

impl From<TriangleMesh> for Surface {
    fn from(mesh: TriangleMesh) -> Self {
        Self {
            vertices: mesh.vertices().to_vec(),
            triangles: mesh.triangles().to_vec(),
        }
    }
}

impl TryFrom<Surface> for TriangleMesh {
    type Error = BuildError;
    fn try_from(s: Surface) -> Result<Self, BuildError> {
        Self::new(&s.vertices, &s.triangles)
    }
}

/// A plane solid by its paths.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Outlined {
    paths: Vec<ProfilePath>,
    thickness: f64,
}

impl From<Profile> for Outlined {
    fn from(p: Profile) -> Self {
        Self {
            paths: p.paths().to_vec(),
            thickness: p.thickness(),
        }
    }
}

impl TryFrom<Outlined> for Profile {
    type Error = BuildError;
    fn try_from(p: Outlined) -> Result<Self, BuildError> {
        Self::new(&p.paths, p.thickness)
    }
}

impl From<Rounded> for Thickened {
    fn from(r: Rounded) -> Self {
        Self {
            core: r.core().clone(),
            radius: r.radius(),
        }
    }
}

impl TryFrom<Thickened> for Rounded {
    type Error = BuildError;
    fn try_from(t: Thickened) -> Result<Self, BuildError> {
        Self::new(t.core, t.radius)
    }
}
