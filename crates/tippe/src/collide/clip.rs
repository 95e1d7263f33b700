//! The patch of two boxes in face contact: the incident face clipped to the reference face.
//!
//! Reads: half extents, relative pose.  Writes: nothing (pure functions, fixed arrays).
//! Called by: `collide::pair_cuboid_cuboid`.
//! Source: [Lecture] "Near Phase with SAT"; clipping after [Sutherland74]. Letters: u, v coordinates in the reference face, w height above it.

use super::narrow::ContactKind;
use super::thin::{NAME_CUT, corner_name, rename, straighten, thin_out};
use crate::math::Vec3;

/// Distance to a side plane, relative to the boxes, within which a point lies on it [1].
const ON_PLANE: f64 = 1e-9;
/// Distance from the line of its neighbours, relative to the smallest half edge, below which a point of a large polygon is dropped [1].
const CLIP_STRAIGHT: f64 = 0.005;
/// Depths closer than this, relative to the boxes, are the same depth when points are chosen [1].
const SAME_DEPTH: f64 = 1e-5;

/// The reference face and the other box, in coordinates (u, v, w) of the face: u, v from its centre, w up from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaceView {
    /// Normal axis of the face, and whether it is the positive side.
    pub axis: usize,
    pub positive: bool,
    /// Half extents of the owner along u, v, w [m].
    pub h: [f64; 3],
    /// Half extents of the other box along its own axes [m].
    other_half: [f64; 3],
    /// Axes of the other box.
    axes: [Vec3; 3],
    /// Centre of the other box [m].
    center: Vec3,
    /// Size of the smaller box [m], for tolerances.
    size: f64,
}

/// One point of the patch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PatchPoint {
    /// Place in the reference face [m].
    pub u: f64,
    pub v: f64,
    /// Height above the reference face [m]: the gap.
    pub w: f64,
    /// Names the point among those of the same two faces.
    pub name: u32,
    /// Edge that follows the point around the polygon: an edge of the incident face, or `CLIP_SIDE` + a side plane.
    edge: u32,
}

/// Up to four points of the face patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    pub points: [PatchPoint; 4],
    pub count: usize,
    pub kind: ContactKind,
}

/// Most points of a quadrilateral clipped by four planes.
const CLIP_POLYGON_MAX: usize = 8;
const CLIP_SIDE: u32 = 32;

#[derive(Clone, Copy)]
pub(super) struct Polygon {
    pub points: [PatchPoint; CLIP_POLYGON_MAX],
    pub count: usize,
}

impl Polygon {
    fn push(&mut self, p: PatchPoint) {
        // Rounding cannot make a ninth point of a convex polygon; if it did, the last is the one to lose.
        if self.count < CLIP_POLYGON_MAX {
            self.points[self.count] = p;
            self.count += 1;
        }
    }

    /// Keeps the points with a gap of at most `margin`.
    fn drop_above(&mut self, margin: f64) {
        let all = self.count;
        self.count = 0;
        for k in 0..all {
            let p = self.points[k];
            if p.w <= margin {
                self.push(p);
            }
        }
    }
}

impl FaceView {
    /// The face of `axis` on the side of the other box, whose centre is at `t`; `c[i][j]` = own axis i · other axis j.
    pub fn new(
        half: Vec3,
        axis: usize,
        other_half: Vec3,
        c: &[[f64; 3]; 3],
        t: Vec3,
        size: f64,
    ) -> Self {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let (half, t) = (half.to_array(), t.to_array());
        let positive = t[axis] >= 0.0;
        let up = if positive { 1.0 } else { -1.0 };
        let column = |j: usize| Vec3::new(c[u][j], c[v][j], c[axis][j] * up);
        Self {
            axis,
            positive,
            h: [half[u], half[v], half[axis]],
            other_half: other_half.to_array(),
            axes: [column(0), column(1), column(2)],
            center: Vec3::new(t[u], t[v], t[axis] * up - half[axis]),
            size,
        }
    }

    /// A patch point in the frame of the other box.
    pub fn on_other(&self, p: &PatchPoint) -> Vec3 {
        let r = Vec3::new(p.u, p.v, p.w) - self.center;
        Vec3::new(
            self.axes[0].dot(r),
            self.axes[1].dot(r),
            self.axes[2].dot(r),
        )
    }

    /// The face of the other box that looks most against this one: its four vertices in order, and its smaller half edge.
    fn incident(&self) -> ([PatchPoint; 4], f64) {
        let size = [
            self.axes[0].z.abs(),
            self.axes[1].z.abs(),
            self.axes[2].z.abs(),
        ];
        let j = if size[0] >= size[1] && size[0] >= size[2] {
            0
        } else if size[1] >= size[2] {
            1
        } else {
            2
        };
        let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
        let high = self.axes[j].z < 0.0;
        let h = self.other_half;
        let middle = self.center + self.axes[j] * if high { h[j] } else { -h[j] };
        let (e1, e2) = (self.axes[j1] * h[j1], self.axes[j2] * h[j2]);
        let base = u32::from(high) << j;
        let (b1, b2) = (1_u32 << j1, 1_u32 << j2);
        // An edge is named by its lower vertex and its axis.
        let edge = |vertex: u32, axis: usize| (vertex << 2) | axis as u32;
        let point = |x: Vec3, name: u32, edge: u32| PatchPoint {
            u: x.x,
            v: x.y,
            w: x.z,
            name,
            edge,
        };
        let points = [
            point(middle - e1 - e2, base, edge(base, j1)),
            point(middle + e1 - e2, base | b1, edge(base | b1, j2)),
            point(middle + e1 + e2, base | b1 | b2, edge(base | b2, j1)),
            point(middle - e1 + e2, base | b2, edge(base, j2)),
        ];
        (points, h[j1].min(h[j2]))
    }

    /// The contact patch: points of the incident face over the reference face with a gap of at most `margin` [m].
    pub fn patch(&self, margin: f64) -> Patch {
        let (vertices, smallest) = self.incident();
        let kind = self.kind(&vertices);
        let mut polygon = Polygon {
            points: [PatchPoint::default(); CLIP_POLYGON_MAX],
            count: 4,
        };
        polygon.points[..4].copy_from_slice(&vertices);
        for side in 0..4 {
            clip(
                &mut polygon,
                side,
                self.h[side as usize / 2],
                ON_PLANE * self.size,
            );
        }
        polygon.drop_above(margin);
        let least = smallest.min(self.h[0]).min(self.h[1]);
        straighten(&mut polygon, CLIP_STRAIGHT * least);
        let mut patch = Patch {
            points: [PatchPoint::default(); 4],
            count: polygon.count.min(4),
            kind,
        };
        if polygon.count <= 4 {
            patch.points.copy_from_slice(&polygon.points[..4]);
        } else {
            patch.count = thin_out(&polygon, SAME_DEPTH * self.size, &mut patch.points);
        }
        rename(
            &mut patch.points[..patch.count],
            &vertices,
            [self.h[0], self.h[1]],
            least,
        );
        patch
    }

    /// The lowest vertex of the incident face, wherever it lies.
    pub fn lowest(&self) -> PatchPoint {
        let (vertices, _) = self.incident();
        let mut low = vertices[0];
        for p in &vertices[1..] {
            if p.w < low.w {
                low = *p;
            }
        }
        low
    }

    /// The lecture's classes: how many vertices of the incident face are in the slab of the reference face.
    fn kind(&self, vertices: &[PatchPoint; 4]) -> ContactKind {
        let tolerance = ON_PLANE * self.size;
        let lowest = vertices.iter().fold(f64::INFINITY, |w, p| w.min(p.w));
        let (top, bottom) = (lowest.max(0.0) + tolerance, -2.0 * self.h[2] - tolerance);
        match vertices
            .iter()
            .filter(|p| p.w <= top && p.w >= bottom)
            .count()
        {
            1 => ContactKind::VertexFace,
            2 => ContactKind::EdgeFace,
            _ => ContactKind::FaceFace,
        }
    }
}

/// Cuts away what lies beyond one side plane: side 0, 1 are +u, −u; 2, 3 are +v, −v, at the distance `h`.
fn clip(polygon: &mut Polygon, side: u32, h: f64, tolerance: f64) {
    let sign = if side.is_multiple_of(2) { 1.0 } else { -1.0 };
    let along_u = side < 2;
    let beyond = |p: &PatchPoint| sign * (if along_u { p.u } else { p.v }) - h;
    let mut d = [0.0; CLIP_POLYGON_MAX];
    let mut any = false;
    for (d, p) in d.iter_mut().zip(&polygon.points[..polygon.count]) {
        *d = beyond(p);
        any |= *d > 0.0;
    }
    if !any {
        return;
    }
    let old = *polygon;
    polygon.count = 0;
    for k in 0..old.count {
        let next = if k + 1 == old.count { 0 } else { k + 1 };
        let (mut p, q) = (old.points[k], old.points[next]);
        let (dp, dq) = (d[k], d[next]);
        let leaves = dp <= tolerance && dq > tolerance;
        if dp <= tolerance {
            // On the plane: exactly on it. A point that the polygon leaves from is followed by the side plane.
            if dp > 0.0 {
                set(&mut p, along_u, sign * h);
            }
            if leaves && dp >= -tolerance {
                p.edge = CLIP_SIDE + side;
            }
            polygon.push(p);
        }
        let enters = dp > tolerance && dq <= tolerance;
        if (leaves && dp < -tolerance) || (enters && dq < -tolerance) {
            let f = dp / (dp - dq);
            let edge = old.points[k].edge;
            let name = if edge < CLIP_SIDE {
                NAME_CUT | (edge << 2) | side
            } else {
                corner_name(edge - CLIP_SIDE, side)
            };
            let mut cut = PatchPoint {
                u: p.u + (q.u - p.u) * f,
                v: p.v + (q.v - p.v) * f,
                w: p.w + (q.w - p.w) * f,
                name,
                edge: if leaves { CLIP_SIDE + side } else { edge },
            };
            set(&mut cut, along_u, sign * h);
            polygon.push(cut);
        }
    }
}

fn set(p: &mut PatchPoint, along_u: bool, x: f64) {
    if along_u {
        p.u = x;
    } else {
        p.v = x;
    }
}
