//! Capsule (A) against cuboid (B): a thick segment against a box.
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: separating axes as in `collide::sat`, with a segment for a box. Letters: in the box's frame, m the middle of the segment,
//! d its unit direction, l its half length, h the half extents; s the parameter on the segment, measured from m.

use super::contact::{ContactPoint, Features};
use super::narrow::Placed;
use super::pair_sphere_cuboid::{NearCuboid, point_cuboid};
use crate::math::{Pose, Vec3};
use crate::shape::cuboid::vertex;

/// sin² of the angle below which the segment is parallel to an edge of the box.
const PARALLEL: f64 = 1e-6;
/// A point over a face may be farther than the closest one by this part: below 2.6° of tilt a capsule lies on the face [1].
const LIES_ON_FACE: f64 = 1.001;
/// Sine of the tilt below which a segment lies flat on a face, edges included [1]: there the gap differs by 5e-9 of the distance, and a
/// capsule slides onto a table that is a micrometre lower without feeling the edge.
const SEGMENT_FLAT: f64 = 1e-4;
/// An edge must be better than a face by this part of the depth, and by this part of the size, when the segment is inside [1].
const PREFER_RELATIVE: f64 = 0.05;
const PREFER_SIZE: f64 = 1e-4;
/// Cosine of the angle between normals of two points that belong together [1].
const SAME_NORMAL: f64 = 0.99;

const ID_END: u32 = 1 << 16;
const ID_VERTEX: u32 = 2 << 16;
const ID_EDGE: u32 = 3 << 16;

/// Lying on a face or along an edge gives two points, all else one.
pub(super) fn capsule_cuboid(
    (half_length, radius): (f64, f64),
    pose_a: &Pose,
    half: Vec3,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let pair = Pair {
        placed: Placed {
            pose_a,
            pose_b,
            radius_a: radius,
            radius_b: 0.0,
            rolling_radius: radius,
            margin,
        },
        m: pose_b.point_to_local(pose_a.position),
        d: pose_b.vector_to_local(pose_a.vector(Vec3::Z)),
        l: half_length,
        h: half,
        limit: radius + margin,
    };
    pair.collide(out);
}

struct Pair<'a> {
    placed: Placed<'a>,
    m: Vec3,
    d: Vec3,
    l: f64,
    h: Vec3,
    /// Core distance up to which contacts count [m].
    limit: f64,
}

/// An end of the stretch of the segment over a face.
#[derive(Clone, Copy)]
struct PatchEnd {
    /// Place on the segment [m].
    s: f64,
    /// The edge that cuts it there: the axis across it, and the side; none at the segment's own end.
    cut: Option<(usize, f64)>,
}

/// A crossing of the segment with an edge of the box.
#[derive(Clone, Copy)]
struct Crossing {
    separation: f64,
    /// Axis of the box along the edge.
    axis: usize,
    /// Unit normal from the box to the segment.
    normal: Vec3,
}

impl Pair<'_> {
    fn collide(&self, out: &mut Vec<ContactPoint>) {
        let Some((face, crossing)) = self.axes() else {
            return;
        };
        let separation = crossing.map_or(face.0, |c| face.0.max(c.separation));
        let patch = self.patch(face.1);
        let lowest = patch.map_or(f64::INFINITY, |[low, high]| {
            self.height(face.1, low.s).min(self.height(face.1, high.s))
        });
        if separation > 0.0 {
            if lowest <= LIES_ON_FACE * separation {
                self.push_patch(face.1, patch, out);
            } else {
                self.push_closest(crossing, lowest, face.1, patch, out);
            }
            return;
        }
        // The segment is inside the box: the shortest way out.
        let size = self.h.max_element().min(self.l);
        let bar = face.0 + PREFER_RELATIVE * face.0.abs() + PREFER_SIZE * size;
        if let Some(c) = crossing.filter(|c| c.separation > bar)
            && self.push_crossing(&c, out)
        {
            return;
        }
        if patch.is_some() {
            self.push_patch(face.1, patch, out);
        } else {
            let s = if self.height(face.1, -self.l) <= self.height(face.1, self.l) {
                -self.l
            } else {
                self.l
            };
            self.push_patch(face.1, Some([PatchEnd { s, cut: None }; 2]), out);
        }
    }

    /// The face axis and the edge crossing of largest separation; `None` if one of them separates beyond the limit.
    fn axes(&self) -> Option<((f64, usize), Option<Crossing>)> {
        let Self { m, d, l, h, .. } = *self;
        let mut face = (f64::NEG_INFINITY, 0);
        for k in 0..3 {
            let s = m[k].abs() - h[k] - l * d[k].abs();
            if s > self.limit {
                return None;
            }
            if s > face.0 {
                face = (s, k);
            }
        }
        let mut best: Option<Crossing> = None;
        for axis in 0..3 {
            let c = Vec3::AXES[axis].cross(d);
            let sin2 = c.length_squared();
            if sin2 < PARALLEL {
                continue;
            }
            let n = c / sin2.sqrt();
            let separation = m.dot(n).abs() - h.dot(n.abs());
            if separation > self.limit {
                return None;
            }
            if best.is_none_or(|b| separation > b.separation) {
                best = Some(Crossing {
                    separation,
                    axis,
                    normal: if m.dot(n) < 0.0 { -n } else { n },
                });
            }
        }
        Some((face, best))
    }

    /// Height of a point of the segment above the face of `axis` that looks to the capsule [m].
    fn height(&self, axis: usize, s: f64) -> f64 {
        let x = self.m[axis] + s * self.d[axis];
        if self.m[axis] < 0.0 {
            -x - self.h[axis]
        } else {
            x - self.h[axis]
        }
    }

    /// The stretch of the segment that lies over the face of `axis`: its ends on the segment, and the edges of the face that cut it there.
    fn patch(&self, axis: usize) -> Option<[PatchEnd; 2]> {
        let end = |s| PatchEnd { s, cut: None };
        let [mut low, mut high] = [end(-self.l), end(self.l)];
        for k in [(axis + 1) % 3, (axis + 2) % 3] {
            let (m, d, h) = (self.m[k], self.d[k], self.h[k]);
            if d.abs() * self.l <= f64::EPSILON * h {
                if m.abs() > h {
                    return None;
                }
                continue;
            }
            // The segment enters the face at one of its two edges across k, and leaves it at the other.
            for side in [-1.0, 1.0] {
                let s = (side * h - m) / d;
                let cut = Some((k, side));
                if side * d > 0.0 && s < high.s {
                    high = PatchEnd { s, cut };
                } else if side * d < 0.0 && s > low.s {
                    low = PatchEnd { s, cut };
                }
            }
        }
        (low.s <= high.s).then_some([low, high])
    }

    fn push_patch(&self, axis: usize, patch: Option<[PatchEnd; 2]>, out: &mut Vec<ContactPoint>) {
        let Some([low, high]) = patch else { return };
        let normal = if self.m[axis] < 0.0 {
            -Vec3::AXES[axis]
        } else {
            Vec3::AXES[axis]
        };
        let face = 2 * axis as u32 + u32::from(self.m[axis] >= 0.0);
        let single = high.s - low.s <= 1e-9 * self.l;
        for (which, end, outward) in [(0, low, -1.0), (1, high, 1.0)] {
            if which == 1 && single {
                continue;
            }
            // Where the segment leaves the face downwards, it lies on the edge: the nearest points are there, along another normal.
            if outward * self.d.dot(normal) < -SEGMENT_FLAT
                && self.height(axis, end.s) > 0.0
                && let Some((k, _)) = end.cut
                && self.push_edge(axis, normal, k, out)
            {
                continue;
            }
            let features = Features::PointFace {
                point: Vec3::Z * end.s,
                anchor: normal * self.h[axis],
                normal,
                face_on_b: true,
            };
            let id = match end.cut {
                Some((k, side)) => Self::edge_id(normal + Vec3::AXES[k] * side, 3 - axis - k),
                None => (face << 4) | which,
            };
            self.placed.push(features, self.to_world(-normal), id, out);
        }
    }

    /// A segment that leaves the face of `axis` over the edge across k, against that edge. Not where it runs along it.
    fn push_edge(&self, axis: usize, normal: Vec3, k: usize, out: &mut Vec<ContactPoint>) -> bool {
        let along = 3 - axis - k;
        let across = Vec3::AXES[along].cross(self.d);
        if across.length_squared() < PARALLEL {
            return false;
        }
        let n = across.normalize();
        let crossing = Crossing {
            separation: 0.0,
            axis: along,
            normal: if n.dot(normal) < 0.0 { -n } else { n },
        };
        self.push_crossing(&crossing, out)
    }

    /// Name of the edge along an axis of the box on which a point lies.
    fn edge_id(x: Vec3, along: usize) -> u32 {
        let bits = u32::from(x.x > 0.0) | (u32::from(x.y > 0.0) << 1) | (u32::from(x.z > 0.0) << 2);
        ID_EDGE | ((bits & !(1 << along)) << 2) | along as u32
    }

    /// The two supporting lines, if they cross within their ends.
    fn push_crossing(&self, c: &Crossing, out: &mut Vec<ContactPoint>) -> bool {
        let side = |k: usize| {
            if c.normal[k] < 0.0 {
                -self.h[k]
            } else {
                self.h[k]
            }
        };
        let mut x = Vec3::new(side(0), side(1), side(2));
        x[c.axis] = 0.0;
        // Lines m + s d and x + t e: s = (e·r c − d·r)/sin², t = (e·r − c d·r)/sin², with r = m − x, c = d·e.
        let r = self.m - x;
        let (e_r, d_r, cos) = (r[c.axis], self.d.dot(r), self.d[c.axis]);
        let sin2 = Vec3::AXES[c.axis].cross(self.d).length_squared();
        let (s, t) = ((e_r * cos - d_r) / sin2, (e_r - cos * d_r) / sin2);
        let within = s.abs() <= self.l && t.abs() <= self.h[c.axis];
        if within {
            let features = Features::EdgeEdge {
                anchor_a: Vec3::ZERO,
                direction_a: Vec3::Z,
                anchor_b: x,
                direction_b: Vec3::AXES[c.axis],
            };
            let id = Self::edge_id(x, c.axis);
            self.placed
                .push(features, self.to_world(-c.normal), id, out);
        }
        within
    }

    /// The segment is outside and not over the face: crossing edges, an end against the box, or a vertex of the box against the segment.
    fn push_closest(
        &self,
        crossing: Option<Crossing>,
        lowest: f64,
        face: usize,
        patch: Option<[PatchEnd; 2]>,
        out: &mut Vec<ContactPoint>,
    ) {
        let mut nearest = self.candidate(0);
        let mut best = 0;
        for k in 1..10 {
            let c = self.candidate(k);
            if c.distance < nearest.distance {
                (best, nearest) = (k, c);
            }
        }
        let bar = nearest.distance.min(lowest);
        if let Some(c) = crossing.filter(|c| c.separation > 0.0 && c.separation <= bar)
            && self.push_crossing(&c, out)
        {
            return;
        }
        if lowest < nearest.distance {
            self.push_patch(face, patch, out);
            return;
        }
        self.push_candidate(best, &nearest, out);
        // Side by side with an edge: the other end of the common stretch.
        let mut second: Option<(u32, Candidate)> = None;
        for k in 0..10 {
            let c = self.candidate(k);
            let away = (c.s - nearest.s).abs();
            let bar = second
                .as_ref()
                .map_or(0.01 * self.l, |(_, o)| (o.s - nearest.s).abs());
            if c.distance <= self.limit
                && c.along_edge
                && away > bar
                && c.normal.dot(nearest.normal) > SAME_NORMAL
            {
                second = Some((k, c));
            }
        }
        if let Some((k, c)) = second {
            self.push_candidate(k, &c, out);
        }
    }

    /// Candidates 0 and 1 are the ends of the segment against the box, 2 to 9 the vertices of the box against the segment.
    fn candidate(&self, k: u32) -> Candidate {
        if k < 2 {
            let s = if k == 0 { -self.l } else { self.l };
            let near = point_cuboid(self.m + self.d * s, self.h);
            let along_edge = near.outside == 2;
            Candidate {
                distance: near.distance,
                s,
                normal: near.normal,
                along_edge,
                near: Some(near),
            }
        } else {
            let v = vertex(self.h, k - 2);
            let s = self.d.dot(v - self.m);
            let r = self.m + self.d * s - v;
            let distance = r.length();
            let between = s.abs() < self.l && distance > 0.0;
            let normal = if between { r / distance } else { Vec3::ZERO };
            let distance = if between { distance } else { f64::INFINITY };
            Candidate {
                distance,
                s,
                normal,
                along_edge: between,
                near: None,
            }
        }
    }

    fn push_candidate(&self, k: u32, c: &Candidate, out: &mut Vec<ContactPoint>) {
        let normal = self.to_world(-c.normal);
        match &c.near {
            Some(near) => {
                let features = near.features(Vec3::Z * c.s, true);
                self.placed
                    .push(features, normal, ID_END | (k << 5) | near.feature, out);
            }
            None => {
                let features = Features::PointEdge {
                    point: vertex(self.h, k - 2),
                    anchor: Vec3::ZERO,
                    direction: Vec3::Z,
                    edge_on_b: false,
                };
                self.placed.push(features, normal, ID_VERTEX | (k - 2), out);
            }
        }
    }

    fn to_world(&self, v: Vec3) -> Vec3 {
        self.placed.pose_b.vector(v)
    }
}

/// One pair of a point and a feature that may be closest.
struct Candidate {
    /// Core distance [m].
    distance: f64,
    /// Place on the segment.
    s: f64,
    /// Unit normal from the box to the segment.
    normal: Vec3,
    /// A point against the inside of an edge or of the segment.
    along_edge: bool,
    /// The box's feature, for an end of the segment.
    near: Option<NearCuboid>,
}
