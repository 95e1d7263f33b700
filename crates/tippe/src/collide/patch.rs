//! The patch of two outlines in face contact: the incident outline clipped to the reference face, named, and thinned out.
//!
//! Reads: outlines.  Writes: nothing (pure functions, fixed arrays).
//! Called by: `collide::pair_convex`, `collide::pair_half_space_convex`.
//! Source: clipping after [Sutherland74]. As `collide::clip` does for boxes, for any convex polygon, segment or point.

use super::outline::{OUTLINE_MAX, Outline, OutlinePoint};
use crate::math::{Mat3, Vec3};
use std::mem::swap;

/// Distance to a side, relative to the size, within which a point lies on it [1].
const ON_SIDE: f64 = 1e-9;
/// Distance from the line of its neighbours, relative to the size, below which a point of a large polygon is dropped [1].
const STRAIGHT: f64 = 2e-3;
/// Distance, relative to the size, within which a clipped point inherits the name of a vertex [1].
const PATCH_NAME_NEAR: f64 = 0.01;
/// Depths closer than this, relative to the size, are the same depth when points are chosen [1].
const SAME_DEPTH: f64 = 1e-5;
/// A candidate must be better by this factor to displace an earlier one, so that rounding does not choose [1].
const BETTER: f64 = 1.0 + 1e-6;
/// Most points of a patch.
pub(super) const PATCH_MAX: usize = 8;
/// Most points of a polygon on the way: two triangles or boxes need few, and filling room for all would take longer than the rest.
const POLYGON_FEW: usize = 16;
const POLYGON_MAX: usize = 2 * OUTLINE_MAX;
/// Points that rounding may add beyond those of both outlines.
const SLACK: usize = 4;

/// Marks an edge that runs along a side of the reference face.
const SIDE: u32 = 1 << 31;

/// One point of the patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatchPoint {
    /// In the frame of the reference shape [m].
    pub x: Vec3,
    /// Centre and radius of its circle, in the frame of the incident shape [m].
    pub center: Vec3,
    pub radius: f64,
    /// Height of the core point above the reference face [m].
    pub w: f64,
    /// Names the point within the pair.
    pub name: u32,
    /// Names the edge that follows it.
    edge: u32,
    /// Whether it is a vertex of the incident outline.
    pub vertex: bool,
    /// Whether the edge that follows runs along a seam, and whether seams alone made the point.
    seam: bool,
    spare: bool,
}

impl PatchPoint {
    const NONE: Self = Self {
        x: Vec3::ZERO,
        center: Vec3::ZERO,
        radius: 0.0,
        w: 0.0,
        name: 0,
        edge: 0,
        vertex: false,
        seam: false,
        spare: false,
    };
}

/// The face that the incident outline is clipped to.
pub(super) struct Reference<'a> {
    /// Unit outward normal, in the frame of its shape.
    pub normal: Vec3,
    /// Any point of its plane [m].
    pub anchor: Vec3,
    /// Its corners, counter-clockwise; none if it has no end.
    pub corners: &'a [OutlinePoint],
    /// Sides, a bit each, beyond which a neighbour goes on in the same plane: points that are only cut off there are left out.
    pub seams: u32,
    /// Turn and shift from the frame of the incident shape.
    pub turn: Mat3,
    pub shift: Vec3,
    /// Size of the smaller shape [m], for tolerances.
    pub size: f64,
}

/// Up to eight points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    points: [PatchPoint; PATCH_MAX],
    count: usize,
}

impl Patch {
    pub fn points(&self) -> &[PatchPoint] {
        &self.points[..self.count]
    }

    /// The points of `incident` over the reference face with a height of at most `limit` [m].
    pub fn new(incident: &Outline, reference: &Reference<'_>, limit: f64) -> Self {
        if incident.points().len() + reference.corners.len() + SLACK <= POLYGON_FEW {
            clipped::<POLYGON_FEW>(incident, reference, limit)
        } else {
            clipped::<POLYGON_MAX>(incident, reference, limit)
        }
    }
}

/// The same with room for `N` points on the way.
fn clipped<const N: usize>(incident: &Outline, reference: &Reference<'_>, limit: f64) -> Patch {
    let (mut one, mut two) = (Polygon::<N>::EMPTY, Polygon::<N>::EMPTY);
    let (mut polygon, mut spare) = (&mut one, &mut two);
    let all = incident.points();
    for (k, p) in all.iter().enumerate() {
        let x = reference.turn * p.x + reference.shift;
        let next = &all[if k + 1 == all.len() { 0 } else { k + 1 }];
        let (center, radius) = incident.circle(p);
        polygon.push(PatchPoint {
            x,
            center,
            radius,
            w: reference.normal.dot(x - reference.anchor),
            name: p.name,
            edge: both(p.name, next.name),
            vertex: true,
            seam: false,
            spare: false,
        });
    }
    let n = reference.corners.len();
    for i in 0..n {
        let (p, q) = (
            &reference.corners[i],
            &reference.corners[if i + 1 == n { 0 } else { i + 1 }],
        );
        let inward = reference.normal.cross(q.x - p.x).normalize_or_zero();
        let seam = reference.seams >> i & 1 == 1;
        let side = (both(p.name, q.name), seam);
        if polygon.clip(p.x, inward, side, reference, spare) {
            swap(&mut polygon, &mut spare);
        }
    }
    polygon.keep(|p| p.w <= limit && !p.spare);
    polygon.straighten(STRAIGHT * reference.size, reference.normal);
    polygon.thin_out(SAME_DEPTH * reference.size);
    polygon.rename(incident, reference);
    let mut patch = Patch {
        points: [PatchPoint::NONE; PATCH_MAX],
        count: polygon.count,
    };
    patch.points[..polygon.count].copy_from_slice(polygon.points());
    patch
}

/// A convex polygon, a segment or a point.
struct Polygon<const N: usize> {
    points: [PatchPoint; N],
    count: usize,
}

impl<const N: usize> Polygon<N> {
    const EMPTY: Self = Self {
        points: [PatchPoint::NONE; N],
        count: 0,
    };

    fn points(&self) -> &[PatchPoint] {
        &self.points[..self.count]
    }

    fn push(&mut self, p: PatchPoint) {
        if self.count < N {
            self.points[self.count] = p;
            self.count += 1;
        }
    }

    fn keep(&mut self, wanted: impl Fn(&PatchPoint) -> bool) {
        let mut kept = 0;
        for k in 0..self.count {
            if wanted(&self.points[k]) {
                self.points[kept] = self.points[k];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Writes to `out` what does not lie beyond the side through `corner` with the unit inward normal `inward`; false, and nothing
    /// written, if that is all.
    fn clip(
        &self,
        corner: Vec3,
        inward: Vec3,
        (side, seam): (u32, bool),
        reference: &Reference<'_>,
        out: &mut Self,
    ) -> bool {
        let tolerance = ON_SIDE * reference.size;
        let mut beyond = [0.0; N];
        let mut any = false;
        for (d, p) in beyond.iter_mut().zip(&self.points[..self.count]) {
            *d = inward.dot(corner - p.x);
            any |= *d > tolerance;
        }
        if !any {
            return false;
        }
        let old = self;
        out.count = 0;
        // A segment is walked once, a polygon around.
        let steps = if old.count == 2 { 1 } else { old.count };
        for k in 0..old.count {
            let next = if k + 1 == old.count { 0 } else { k + 1 };
            let (p, q) = (&old.points[k], &old.points[next]);
            let (d_p, d_q) = (beyond[k], beyond[next]);
            let (p_in, q_in) = (d_p <= tolerance, d_q <= tolerance);
            if p_in {
                let mut p = *p;
                if !q_in && d_p >= -tolerance {
                    p.edge = SIDE | side;
                    p.seam = seam;
                }
                out.push(p);
            }
            if k < steps && p_in != q_in {
                // From the inner point, so that both ways along an edge make the same crossing.
                let (inner, outer, d_i, d_o) = if p_in {
                    (p, q, d_p, d_q)
                } else {
                    (q, p, d_q, d_p)
                };
                if d_i < -tolerance {
                    let t = d_i / (d_i - d_o);
                    let x = inner.x + (outer.x - inner.x) * t;
                    out.push(PatchPoint {
                        x,
                        center: inner.center + (outer.center - inner.center) * t,
                        radius: inner.radius + (outer.radius - inner.radius) * t,
                        w: reference.normal.dot(x - reference.anchor),
                        name: both(p.edge, side) | SIDE,
                        edge: if p_in && old.count > 2 {
                            SIDE | side
                        } else {
                            p.edge
                        },
                        vertex: false,
                        seam: if p_in { seam } else { p.seam },
                        spare: seam && (p.edge & SIDE == 0 || p.seam),
                    });
                }
            }
        }
        true
    }

    /// Drops points that are nearly in line with their neighbours, the straightest first, down to four.
    fn straighten(&mut self, tolerance: f64, normal: Vec3) {
        while self.count > 4 {
            let n = self.count;
            let mut straightest: Option<(f64, usize)> = None;
            for k in 0..n {
                let o = self.points[if k == 0 { n - 1 } else { k - 1 }].x;
                let q = self.points[if k + 1 == n { 0 } else { k + 1 }].x;
                let chord = q - o;
                let area = normal.dot(chord.cross(self.points[k].x - o));
                let chord_2 = chord.length_squared();
                if area * area <= tolerance * tolerance * chord_2 {
                    let bulge = if chord_2 > 0.0 {
                        area * area / chord_2
                    } else {
                        0.0
                    };
                    // The moving point of a rim is the one that matters there.
                    if self.points[k].radius == 0.0 && straightest.is_none_or(|s| bulge < s.0) {
                        straightest = Some((bulge, k));
                    }
                }
            }
            let Some((_, k)) = straightest else { return };
            self.points.copy_within(k + 1..n, k);
            self.count -= 1;
        }
    }

    /// Chooses eight of more points: the deepest, then always the one farthest from those chosen.
    fn thin_out(&mut self, same_depth: f64) {
        if self.count <= PATCH_MAX {
            return;
        }
        let lowest = self.points().iter().fold(f64::INFINITY, |w, p| w.min(p.w));
        let first = self
            .points()
            .iter()
            .position(|p| p.w <= lowest + same_depth)
            .unwrap_or(0);
        self.points.swap(0, first);
        for chosen in 1..PATCH_MAX {
            let mut best = (f64::NEG_INFINITY, chosen);
            for k in chosen..self.count {
                let x = self.points[k].x;
                let near = self.points[..chosen]
                    .iter()
                    .fold(f64::INFINITY, |d, p| d.min((p.x - x).length_squared()));
                if near > best.0 * BETTER {
                    best = (near, k);
                }
            }
            self.points.swap(chosen, best.1);
        }
        self.count = PATCH_MAX;
    }

    /// Gives clipped points near a vertex of the incident outline its name: whether a vertex lies inside the face or is clipped away
    /// may change from step to step, but the point stays where it is and keeps its name for the warm start.
    fn rename(&mut self, incident: &Outline, reference: &Reference<'_>) {
        let near = PATCH_NAME_NEAR * reference.size;
        for k in 0..self.count {
            if self.points[k].vertex {
                continue;
            }
            let x = self.points[k].x;
            let close = |v: &&OutlinePoint| {
                let place = reference.turn * v.x + reference.shift;
                (place - x).length_squared() <= near * near
            };
            if let Some(v) = incident.points().iter().find(close)
                && self.points().iter().all(|p| p.name != v.name)
            {
                self.points[k].name = v.name;
            }
        }
    }
}

/// A name for two things, the same in both orders; rarely shared with another two.
pub(super) fn both(a: u32, b: u32) -> u32 {
    let (low, high) = (u64::from(a.min(b)), u64::from(a.max(b)));
    let mixed =
        (low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    // The upper bits are the well mixed ones; the top two stay free for marks.
    (mixed >> 34) as u32
}
