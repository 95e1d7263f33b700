//! Two profiles, or a half-space and a profile: contacts of segments, arcs and corners in the plane they share.
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`, `geometry`.
//! Source: [Ermolin] §5, bodies of segments and circular arcs. An arc is its axis thickened by its radius, by minus its radius where it is
//! hollow, so that the contact record holds its normal exactly as the bodies move.
//!
//! A point of nearest approach lies inside two edges, or at a corner that sticks out. An overlap counts at the edge that is nearest to the point
//! that is deepest in it; the far wall of a body is not one. Both planes must be parallel: profiles are felt in their plane alone, at the middle of
//! the thickness that they share.

use super::contact::{ContactPoint, Features};
use crate::math::{Pose, Vec2, Vec3};
use crate::shape::profile::Profile;
use crate::shape::profile_curve::{ArcOf, Corner, Curve};

/// 1 − |cosine| of the angle of two planes up to which they count as parallel [1]: a thousandth of a radian.
const PLANES_PARALLEL: f64 = 5e-7;
/// Part of the size by which a nearer wall counts as the same, and by which contacts are one [1].
const ONE_CONTACT: f64 = 1e-9;

/// One of the two features that touch: what it is, seen from the profile it belongs to.
#[derive(Clone, Copy, Debug)]
struct Core {
    /// Centre of the arc, or the corner; in its own frame and in that of A.
    own: Vec2,
    at: Vec2,
    /// Radius: above zero bulging, below zero hollow, zero for a corner.
    radius: f64,
    id: u32,
}

/// A profile's features in the frame of A.
#[derive(Clone, Debug)]
struct Placed<'a> {
    profile: &'a Profile,
    curves: Vec<Curve>,
    corners: Vec<Corner>,
    /// Height of the contacts in its own frame [m].
    z: f64,
}

impl<'a> Placed<'a> {
    fn here(profile: &'a Profile, z: f64) -> Self {
        Self {
            profile,
            curves: profile.curves().to_vec(),
            corners: profile.corners().to_vec(),
            z,
        }
    }

    fn moved(profile: &'a Profile, z: f64, plane: &Plane) -> Self {
        let curve = |c: &Curve| Curve {
            from: plane.point(c.from),
            to: plane.point(c.to),
            normal: plane.vector(c.normal),
            arc: c.arc.map(|a| ArcOf {
                center: plane.point(a.center),
                middle: plane.vector(a.middle),
                ..a
            }),
        };
        let corner = |c: &Corner| Corner {
            point: plane.point(c.point),
            middle: plane.vector(c.middle),
            ..*c
        };
        Self {
            profile,
            curves: profile.curves().iter().map(curve).collect(),
            corners: profile.corners().iter().map(corner).collect(),
            z,
        }
    }

    fn own(&self, p: Vec2) -> Vec3 {
        p.extend(self.z)
    }

    fn corner(&self, i: usize) -> Core {
        Core {
            own: self.profile.corners()[i].point,
            at: self.corners[i].point,
            radius: 0.0,
            id: 2 * i as u32 + 1,
        }
    }

    fn arc(&self, i: usize, arc: &ArcOf) -> Core {
        let own = self.profile.curves()[i]
            .arc
            .map_or(Vec2::ZERO, |a| a.center);
        let radius = if arc.is_convex() {
            arc.radius
        } else {
            -arc.radius
        };
        Core {
            own,
            at: arc.center,
            radius,
            id: 2 * i as u32,
        }
    }
}

/// How the plane of B lies in that of A.
#[derive(Clone, Copy, Debug)]
struct Plane {
    x: Vec2,
    y: Vec2,
    origin: Vec2,
}

impl Plane {
    fn point(&self, p: Vec2) -> Vec2 {
        self.origin + self.vector(p)
    }
    fn vector(&self, v: Vec2) -> Vec2 {
        self.x * v.x + self.y * v.y
    }
    fn back(&self, p: Vec2) -> Vec2 {
        let d = p - self.origin;
        Vec2::new(self.x.dot(d), self.y.dot(d))
    }
}

/// Two profiles under way.
struct Pair<'a> {
    a: Placed<'a>,
    b: Placed<'a>,
    plane: Plane,
    pose_a: &'a Pose,
    pose_b: &'a Pose,
    margin: f64,
    /// Distance that counts as none [m].
    same: f64,
}

/// Contacts of two profiles within `margin`.
pub(crate) fn profile_profile(
    a: &Profile,
    pose_a: &Pose,
    b: &Profile,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let axis = |v: Vec3| pose_a.vector_to_local(pose_b.vector(v));
    let (x, y, z) = (axis(Vec3::X), axis(Vec3::Y), axis(Vec3::Z));
    if z.z.abs() < 1.0 - PLANES_PARALLEL {
        return;
    }
    let offset = pose_a.point_to_local(pose_b.position);
    let low = (-a.half_thickness()).max(offset.z - b.half_thickness());
    let high = a.half_thickness().min(offset.z + b.half_thickness());
    if low > high {
        return;
    }
    let middle = 0.5 * (low + high);
    let plane = Plane {
        x: x.truncate().normalize_or_zero(),
        y: y.truncate().normalize_or_zero(),
        origin: offset.truncate(),
    };
    let pair = Pair {
        a: Placed::here(a, middle),
        b: Placed::moved(b, (middle - offset.z) * z.z.signum(), &plane),
        plane,
        pose_a,
        pose_b,
        margin,
        same: ONE_CONTACT * (a.size() + b.size()),
    };
    let first = out.len();
    pair.edges(first, out);
    pair.corners(first, out);
}

impl Pair<'_> {
    /// Edges with edges, inside both.
    fn edges(&self, first: usize, out: &mut Vec<ContactPoint>) {
        for (i, e) in self.a.curves.iter().enumerate() {
            let (low, high) = e.bounds();
            for (k, f) in self.b.curves.iter().enumerate() {
                let (min, max) = f.bounds();
                if (min - high).max(low - max).max_element() > self.margin {
                    continue;
                }
                match (&e.arc, &f.arc) {
                    // Two segments touch at corners.
                    (None, None) => {}
                    (None, Some(arc)) => {
                        if let Some((n, gap)) = arc_over(arc, e) {
                            let deepest = arc.center - n * arc.radius;
                            self.face_a(i, self.b.arc(k, arc), n, gap, deepest, first, out);
                        }
                    }
                    (Some(arc), None) => {
                        if let Some((n, gap)) = arc_over(arc, f) {
                            let deepest = arc.center - n * arc.radius;
                            self.face_b(k, self.a.arc(i, arc), n, gap, deepest, first, out);
                        }
                    }
                    (Some(a), Some(b)) => {
                        let cores = (self.a.arc(i, a), self.b.arc(k, b));
                        if let Some((n, gap)) = arcs(a, b, self.same) {
                            self.round(cores, n, gap, first, out);
                        }
                    }
                }
            }
        }
    }

    /// Corners that stick out, with edges and with each other.
    fn corners(&self, first: usize, out: &mut Vec<ContactPoint>) {
        for (k, c) in self.b.corners.iter().enumerate() {
            if !c.is_convex() {
                continue;
            }
            for (i, e) in self.a.curves.iter().enumerate() {
                if let Some((n, gap)) = corner_over(c, e, self.margin) {
                    let core = self.b.corner(k);
                    match &e.arc {
                        None => self.face_a(i, core, n, gap, c.point, first, out),
                        Some(arc) => self.round((self.a.arc(i, arc), core), n, gap, first, out),
                    }
                }
            }
        }
        for (i, c) in self.a.corners.iter().enumerate() {
            if !c.is_convex() {
                continue;
            }
            for (k, f) in self.b.curves.iter().enumerate() {
                if let Some((n, gap)) = corner_over(c, f, self.margin) {
                    let core = self.a.corner(i);
                    match &f.arc {
                        None => self.face_b(k, core, n, gap, c.point, first, out),
                        Some(arc) => self.round((core, self.b.arc(k, arc)), -n, gap, first, out),
                    }
                }
            }
            for (k, d) in self.b.corners.iter().enumerate() {
                let v = d.point - c.point;
                let gap = v.length();
                if !d.is_convex() || gap > self.margin || gap <= self.same {
                    continue;
                }
                let n = v / gap;
                if c.has(n) && d.has(-n) {
                    self.round((self.a.corner(i), self.b.corner(k)), n, gap, first, out);
                }
            }
        }
    }

    /// A round feature or corner of B over a segment of A with normal `n`.
    #[allow(clippy::too_many_arguments, reason = "one contact, by its parts")]
    fn face_a(
        &self,
        edge: usize,
        core: Core,
        n: Vec2,
        gap: f64,
        deepest: Vec2,
        first: usize,
        out: &mut Vec<ContactPoint>,
    ) {
        if gap > self.margin || !self.is_nearest(&self.a, deepest, gap) {
            return;
        }
        let own = &self.a.profile.curves()[edge];
        let features = Features::PointFace {
            point: self.b.own(core.own),
            anchor: self.a.own(own.from),
            normal: own.normal.extend(0.0),
            face_on_b: false,
        };
        let ids = (2 * edge as u32, core.id);
        self.push(features, (0.0, core.radius), n, ids, first, out);
    }

    /// A round feature or corner of A over a segment of B whose normal is `n`.
    #[allow(clippy::too_many_arguments, reason = "one contact, by its parts")]
    fn face_b(
        &self,
        edge: usize,
        core: Core,
        n: Vec2,
        gap: f64,
        deepest: Vec2,
        first: usize,
        out: &mut Vec<ContactPoint>,
    ) {
        if gap > self.margin || !self.is_nearest(&self.b, self.plane.back(deepest), gap) {
            return;
        }
        let own = &self.b.profile.curves()[edge];
        let features = Features::PointFace {
            point: self.a.own(core.own),
            anchor: self.b.own(own.from),
            normal: own.normal.extend(0.0),
            face_on_b: true,
        };
        let ids = (core.id, 2 * edge as u32);
        self.push(features, (core.radius, 0.0), -n, ids, first, out);
    }

    /// Two arcs, an arc and a corner, or two corners: `n` from A to B.
    fn round(
        &self,
        (a, b): (Core, Core),
        n: Vec2,
        gap: f64,
        first: usize,
        out: &mut Vec<ContactPoint>,
    ) {
        if gap > self.margin {
            return;
        }
        // The deepest point of what is inside: a corner, or a bulge, in the other.
        let nearest = if a.radius == 0.0 || b.radius < 0.0 {
            self.is_nearest(&self.b, self.plane.back(a.at + n * a.radius), gap)
        } else {
            self.is_nearest(&self.a, b.at - n * b.radius, gap)
        };
        if !nearest {
            return;
        }
        let features = Features::PointEdge {
            point: self.b.own(b.own),
            anchor: self.a.own(a.own),
            direction: Vec3::Z,
            edge_on_b: false,
        };
        self.push(features, (a.radius, b.radius), n, (a.id, b.id), first, out);
    }

    /// Whether no other wall is nearer to a point that lies so deep; `p` in the frame of the profile.
    fn is_nearest(&self, of: &Placed<'_>, p: Vec2, gap: f64) -> bool {
        gap >= 0.0 || of.profile.distance(p) <= gap + self.same
    }

    fn push(
        &self,
        features: Features,
        (radius_a, radius_b): (f64, f64),
        n: Vec2,
        ids: (u32, u32),
        first: usize,
        out: &mut Vec<ContactPoint>,
    ) {
        let before = self.pose_a.vector(n.extend(0.0));
        let contact = made(
            features,
            (self.pose_a, self.pose_b),
            (radius_a, radius_b),
            before,
            ids.0 << 16 | ids.1,
        );
        // At the joint of two edges that follow each other smoothly both see the same point.
        let known = out[first..].iter().any(|c| {
            (c.point_a - contact.point_a).length() <= self.same
                && (c.point_b - contact.point_b).length() <= self.same
                && c.normal.dot(contact.normal) > 1.0 - ONE_CONTACT
        });
        if !known && contact.gap.is_finite() {
            out.push(contact);
        }
    }
}

/// The contact of features at these poses.
fn made(
    features: Features,
    (pose_a, pose_b): (&Pose, &Pose),
    (radius_a, radius_b): (f64, f64),
    normal: Vec3,
    feature_id: u32,
) -> ContactPoint {
    let at = features.at(pose_a, pose_b, radius_a, radius_b, normal);
    // Two curves roll like a ball of this radius on a plane; a corner does not.
    let rolls = |r: f64| if r == 0.0 { 0.0 } else { 1.0 / r };
    let curvature = rolls(radius_a) + rolls(radius_b);
    let corner = matches!(features, Features::PointEdge { .. }) && radius_a * radius_b == 0.0;
    let rolling = if curvature > 0.0 && !corner {
        1.0 / curvature
    } else {
        0.0
    };
    ContactPoint {
        point_a: at.point_a,
        point_b: at.point_b,
        normal: at.normal,
        gap: at.gap,
        features,
        radius_a,
        radius_b,
        rolling_radius: rolling,
        feature_id,
    }
}

/// A bulging arc over a segment: the segment's normal and the gap.
fn arc_over(arc: &ArcOf, segment: &Curve) -> Option<(Vec2, f64)> {
    let n = segment.normal;
    let touches = arc.is_convex() && arc.has(-n) && segment.is_over(arc.center);
    touches.then(|| (n, (arc.center - segment.from).dot(n) - arc.radius))
}

/// Two arcs of which at most one is hollow: normal from A to B and gap. Radii that differ by no more than `same` count as equal.
fn arcs(a: &ArcOf, b: &ArcOf, same: f64) -> Option<(Vec2, f64)> {
    let v = b.center - a.center;
    let distance = v.length();
    // B inside the hollow of A, nearest where B's centre is off A's; about one centre it is as near everywhere, and the middle stands for all.
    let inside = |hollow: &ArcOf, bulge: &ArcOf, v: Vec2| {
        if bulge.radius > hollow.radius + same {
            return None;
        }
        let both = |d: &Vec2| hollow.has(*d) && bulge.has(*d);
        let d = if distance == 0.0 {
            let ends = hollow.ends().into_iter().chain(bulge.ends());
            [hollow.middle, bulge.middle]
                .into_iter()
                .chain(ends)
                .find(both)
        } else {
            Some(v / distance).filter(both)
        }?;
        Some((d, hollow.radius - distance - bulge.radius))
    };
    match (a.is_convex(), b.is_convex()) {
        // Two bulges about one centre are as deep in each other as can be: no way out is the shortest.
        (true, true) if distance > 0.0 => {
            let d = v / distance;
            (a.has(d) && b.has(-d)).then_some((d, distance - a.radius - b.radius))
        }
        (false, true) => inside(a, b, v).map(|(d, gap)| (-d, gap)),
        (true, false) => inside(b, a, -v),
        _ => None,
    }
}

/// A corner over an edge: the edge's normal there and the gap, if it is within `margin` and the corner points that way.
fn corner_over(corner: &Corner, edge: &Curve, margin: f64) -> Option<(Vec2, f64)> {
    let p = corner.point;
    let (n, gap) = match &edge.arc {
        None => {
            if !edge.is_over(p) {
                return None;
            }
            (edge.normal, (p - edge.from).dot(edge.normal))
        }
        Some(arc) => {
            let v = p - arc.center;
            let r = v.length();
            let d = if r > 0.0 {
                Some(v / r).filter(|d| arc.has(*d))
            } else {
                // At the centre of a hollow every part of it is as near.
                let [first, last] = arc.ends();
                [arc.middle, corner.middle, first, last]
                    .into_iter()
                    .find(|d| !arc.is_convex() && arc.has(*d) && corner.has_wide(*d))
            }?;
            if arc.is_convex() {
                (d, r - arc.radius)
            } else {
                (-d, arc.radius - r)
            }
        }
    };
    (gap <= margin && corner.has_wide(-n)).then_some((n, gap))
}

/// Contacts of a half-space (A) and a profile (B) within `margin`; the plane must stand upright on that of the profile.
pub(crate) fn half_space_profile(
    normal: Vec3,
    pose_a: &Pose,
    b: &Profile,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let n = pose_a.vector(normal);
    let up = pose_b.vector_to_local(n);
    if up.z.abs() > (2.0 * PLANES_PARALLEL).sqrt() {
        return;
    }
    let flat = up.truncate().normalize_or_zero();
    let height = |p: Vec2| n.dot(pose_b.point(p.extend(0.0)) - pose_a.position);
    let first = out.len();
    let mut push = |p: Vec2, radius: f64, id: u32| {
        if height(p) - radius > margin {
            return;
        }
        let features = Features::PointFace {
            point: p.extend(0.0),
            anchor: Vec3::ZERO,
            normal,
            face_on_b: false,
        };
        let contact = made(features, (pose_a, pose_b), (0.0, radius), n, id);
        let known = out[first..]
            .iter()
            .any(|c| (c.point_b - contact.point_b).length() <= ONE_CONTACT * b.size());
        if !known {
            out.push(contact);
        }
    };
    for (i, c) in b.curves().iter().enumerate() {
        if let Some(arc) = c.arc.filter(|a| a.is_convex() && a.has(-flat)) {
            push(arc.center, arc.radius, 2 * i as u32);
        }
    }
    for (i, c) in b.corners().iter().enumerate() {
        if c.is_convex() && c.has_wide(-flat) {
            push(c.point, 0.0, 2 * i as u32 + 1);
        }
    }
}
