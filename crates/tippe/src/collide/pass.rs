//! Pairs that pass each other: contacts that would stop a motion which leads past are left out.
//!
//! Reads: cores, poses at both ends of the drift, contact points.  Writes: removes contact points.
//! Called by: `collide::narrow`, `collide::pair_mesh`.
//! Source: separating planes as in [Lecture] "SAT for OOBB", at both ends of a motion; ours.
//!
//! The features that are nearest now give one plane between two shapes. Where shapes lie corner to corner there are more: a box that slides
//! from one table to the next is in front of the second one's side, and it is above its top. Only the second plane will part them; a
//! contact with the side would stop the box. So: a contact that closes on the drift, i.e. with the velocities of now, is none
//! if the plane of a face that meets it parts the two shapes now and at the end of the drift, and hardly closes meanwhile.
//! Forces do not move the shapes in the drift: what weighs down on that plane is held by whatever has held it until now.

use super::contact::{ContactPoint, Features};
use crate::math::{Pose, Vec3};
use crate::shape::Core;

/// Depth, relative to the size of the smaller shape, up to which a plane still parts two shapes [1]: what narrow routines prefer a face by.
const PASS_GRAZE: f64 = 1e-4;
/// Motion, relative to that size, up to which a pair is at rest [1].
const PASS_STILL: f64 = 1e-9;
/// Part of a contact's closing up to which a plane does not close [1].
const ALONG: f64 = 0.1;

/// Cosine between normals from which on a sharp contact lies on a face [1]: 8°, as for boxes.
const PASS_FLAT: f64 = 0.99;

/// Two shapes on their way with the velocities of now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drift {
    /// Poses of the shapes now.
    pub now: (Pose, Pose),
    /// Poses that they would drift to.
    pub end: (Pose, Pose),
    /// Largest relative motion on the drift [m].
    pub motion: f64,
    /// How far forces move B against A beyond the drift [m].
    pub forced: Vec3,
}

impl Drift {
    /// The same with A and B exchanged.
    pub fn swapped(&self) -> Self {
        Self {
            now: (self.now.1, self.now.0),
            end: (self.end.1, self.end.0),
            motion: self.motion,
            forced: -self.forced,
        }
    }

    /// The same for a part of A that sits at `place` in it.
    pub fn of_part(&self, place: &Pose) -> Self {
        Self {
            now: (self.now.0.compose(place), self.now.1),
            end: (self.end.0.compose(place), self.end.1),
            ..*self
        }
    }
}

/// A core, its radius [m], and where the shape is at which a contact was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub core: Core<'a>,
    pub radius: f64,
    pub pose: &'a Pose,
}

impl<'a> Side<'a> {
    pub const fn new((core, radius): (Core<'a>, f64), pose: &'a Pose) -> Self {
        Self { core, radius, pose }
    }

    fn size(&self) -> f64 {
        self.core.reach() + self.radius
    }

    /// Height of the outermost point along the unit vector `d` of the shape frame [m].
    fn extent(&self, d: Vec3) -> f64 {
        d.dot(self.core.support(d, u32::MAX).point) + self.radius
    }
}

/// Removes the contact points from `first` on that close although the two pass each other.
pub(super) fn leave_out_passed(
    drift: &Drift,
    a: &Side<'_>,
    b: &Side<'_>,
    first: usize,
    points: &mut Vec<ContactPoint>,
) {
    let size = a.size().min(b.size());
    if drift.motion <= PASS_STILL * size {
        return;
    }
    let mut kept = first;
    for k in first..points.len() {
        let p = points[k];
        if !passed(drift, a, b, &p, size) {
            points[kept] = p;
            kept += 1;
        }
    }
    points.truncate(kept);
}

/// Whether a contact closes although some plane parts the two all the way.
fn passed(drift: &Drift, a: &Side<'_>, b: &Side<'_>, p: &ContactPoint, size: f64) -> bool {
    let gap_at = |at: &(Pose, Pose)| {
        let place = p
            .features
            .at(&at.0, &at.1, p.radius_a, p.radius_b, p.normal);
        (place.gap, place.normal)
    };
    let ((gap, normal_now), (gap_end, normal)) = (gap_at(&drift.now), gap_at(&drift.end));
    let forced = normal.dot(drift.forced).min(0.0);
    let tolerance = PASS_GRAZE * size;
    let (closing, with_forces) = (gap - gap_end, gap - gap_end - forced);
    // Found at a later pose, and no plane between the two now: it may part them only if nothing else does.
    let overlaps = gap < -tolerance;
    let closes = with_forces > PASS_STILL * size && gap_end + forced <= tolerance;
    if !overlaps && !closes {
        return false;
    }
    // How far a plane may close: hardly, as seen against the contact. That closes by the drift, or by forces along the plane.
    let way = |n: Vec3| {
        if overlaps {
            f64::INFINITY
        } else if closing > PASS_STILL * size && gap_end <= tolerance {
            closing
        } else if n.dot(p.normal).abs() <= ALONG {
            with_forces
        } else {
            0.0
        }
    };
    let round = matches!(
        p.features,
        Features::PointPoint { .. } | Features::PointEdge { .. }
    );
    // A round body that glides along a plane on which it lies comes to the edge of the plane's owner, and forces press it on the edge.
    let shift = (drift.end.1.position - drift.now.1.position)
        - (drift.end.0.position - drift.now.0.position);
    let gliding =
        round && normal_now.dot(shift) < -PASS_STILL * size && drift.motion > drift.forced.length();
    // Features of later poses are off by what forces do.
    let meets = tolerance + drift.forced.length();
    // A plane that the contact itself lies on is no other one. A round side on an edge lies on none.
    let same = if round { f64::INFINITY } else { PASS_FLAT };
    let parts = |own: &Side<'_>, other: &Side<'_>, x: Vec3, swapped: bool, n: Vec3, top: f64| {
        if own.pose.vector(n).dot(p.normal).abs() > same {
            return false;
        }
        // Only faces that meet the contact.
        let top = top + own.radius;
        if top - n.dot(own.pose.point_to_local(x)) > meets {
            return false;
        }
        let height = |at: &(Pose, Pose)| {
            let (pose, other_pose) = if swapped {
                (&at.1, &at.0)
            } else {
                (&at.0, &at.1)
            };
            let d = pose.vector(n);
            let lowest = other.extent(other_pose.vector_to_local(-d));
            d.dot(other_pose.position - pose.position) - lowest - top
        };
        let now = height(&drift.now);
        if now < -tolerance {
            return false;
        }
        let way = if gliding && now <= tolerance {
            f64::INFINITY
        } else {
            way(own.pose.vector(n))
        };
        if way <= 0.0 {
            return false;
        }
        let end = height(&drift.end);
        end >= -tolerance && now - end <= ALONG * way
    };
    any_face(&a.core, |n, top| parts(a, b, p.point_a, false, n, top))
        || any_face(&b.core, |n, top| parts(b, a, p.point_b, true, n, top))
}

/// Whether the test holds for the outward unit normal of a flat face and the height of its plane [m].
fn any_face(core: &Core<'_>, mut test: impl FnMut(Vec3, f64) -> bool) -> bool {
    match *core {
        Core::Cuboid { half } => {
            (0..3).any(|k| test(Vec3::AXES[k], half[k]) || test(-Vec3::AXES[k], half[k]))
        }
        Core::Cylinder { half_length, .. } => {
            test(Vec3::Z, half_length) || test(-Vec3::Z, half_length)
        }
        Core::Cone { half_length, .. } => test(-Vec3::Z, half_length),
        Core::Triangle([a, b, c]) => {
            let n = (b - a).cross(c - a).normalize_or_zero();
            test(n, n.dot(a))
        }
        Core::Hull(hull) => hull.faces().iter().any(|f| test(f.normal, f.offset)),
        Core::Point | Core::Segment { .. } => false,
    }
}
