//! Small maths: glam's `f64` types under our names, rigid poses and rotations.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: everything.
//! Source: standard; rotations as in `docs/conventions.md`.

pub mod block_cholesky;
pub mod block_lu;
pub mod block_pattern;
pub mod dissection;
pub mod eigen;
pub mod front_cholesky;
mod front_dense;
mod front_solve;
pub mod jet;
pub(crate) mod lanes;
pub mod lcp;
pub mod lu;
pub mod mixed_lcp;
mod mixed_newton;
pub mod orientation;
pub mod pose;
pub mod rotation;

pub use glam;
pub use pose::Pose;

/// A 2-vector of `f64`: a point of the plane of a profile.
pub type Vec2 = glam::DVec2;
/// A 3-vector of `f64`.
pub type Vec3 = glam::DVec3;
/// A unit quaternion of `f64`. Files and output write it (w, x, y, z); in memory glam's order is (x, y, z, w).
pub type Quat = glam::DQuat;
/// A 3×3 matrix of `f64`, column major.
pub type Mat3 = glam::DMat3;

/// Builds a quaternion from the file order (w, x, y, z). Does not normalise.
#[must_use]
pub fn quat_wxyz(w: f64, x: f64, y: f64, z: f64) -> Quat {
    Quat::from_xyzw(x, y, z, w)
}

/// Two unit vectors that complete the unit vector `n` to a right-handed frame (t1, t2, n).
///
/// The choice is a fixed function of `n`, so the same normal always gets the same tangents.
#[must_use]
pub fn tangents(n: Vec3) -> (Vec3, Vec3) {
    // Take the coordinate axis farthest from n, so the cross product is never small.
    let a = n.abs();
    let axis = if a.x <= a.y && a.x <= a.z {
        Vec3::X
    } else if a.y <= a.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    let t1 = axis.cross(n);
    let t1 = t1 / t1.length();
    (t1, n.cross(t1))
}

/// The matrix `[r]ₓ` with `[r]ₓ v = r × v`.
#[must_use]
pub fn skew(r: Vec3) -> Mat3 {
    Mat3::from_cols(
        Vec3::new(0.0, r.z, -r.y),
        Vec3::new(-r.z, 0.0, r.x),
        Vec3::new(r.y, -r.x, 0.0),
    )
}
