//! Half-space (always A) against any bounded convex shape (B): what the shape lays on the plane.
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`, for cylinders, cones and hulls.
//! Source: `collide::outline`; vertex–face contacts of [Lecture] "Contact Types".

use super::contact::ContactPoint;
use super::outline::Outline;
use super::pair_convex::{FacePair, push_patch};
use super::patch::{Patch, Reference};
use crate::math::{Mat3, Pose, Vec3};
use crate::shape::{Core, Shape};

/// Up to eight points of the face, line or point that looks most against the plane.
pub(super) fn half_space_convex(
    normal: Vec3,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let Some((core, radius)) = Core::of(b) else {
        return;
    };
    let turn = Mat3::from_quat(pose_a.rotation.conjugate() * pose_b.rotation);
    let shift = pose_a.vector_to_local(pose_b.position - pose_a.position);
    let down = -(turn.transpose() * normal);
    let lowest = core.support(down, u32::MAX).point;
    if normal.dot(turn * lowest + shift) - radius > margin {
        return;
    }
    let reference = Reference {
        normal,
        anchor: Vec3::ZERO,
        corners: &[],
        seams: 0,
        turn,
        shift,
        size: core.reach().max(radius),
    };
    let patch = Patch::new(&Outline::of(&core, down), &reference, margin + radius);
    let faces = FacePair {
        reference: pose_a,
        on_b: false,
        radius_own: 0.0,
        radius,
    };
    push_patch(&faces, &reference, &patch, out);
}
