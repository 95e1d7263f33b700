//! Cuboid against cuboid: choose an axis, then clip faces, cross edges or join corners.
//!
//! Reads: half extents, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: [Lecture] "SAT for OOBB", "Near Phase with SAT". We deviate: the preference for faces is relative to the size of the
//! boxes, and boxes apart whose faces do not overlap touch by their true closest corners, not by the deepest vertex.

use super::clip::{FaceView, PatchPoint};
use super::contact::{ContactPoint, Features};
use super::narrow::{ContactKind, Placed};
use super::pair_sphere_cuboid::{NearCuboid, point_cuboid};
use super::sat::{Axes, Boxes, EdgeAxis, crossing, separating_axes};
use crate::math::{Pose, Vec3};
use crate::shape::cuboid::vertex;

/// An axis must be better than the preferred one by this part of its depth … [1]
const PREFER_RELATIVE: f64 = 0.05;
/// … plus this part of the size of the smaller box [1].
const PREFER_SIZE: f64 = 1e-4;
/// Ratio of areas above which a face is the larger one [1].
const LARGER: f64 = 1.5;
/// Separation, relative to the size, above which boxes are truly apart [1].
const CUBOID_CUBOID_APART: f64 = 1e-9;
/// Cosine of the angle between normals of corner contacts that belong together [1].
const SAME_NORMAL: f64 = 0.99;

/// Cosine of the angle between the normal of crossing edges and that of a face up to which one edge lies on the face [1]: 8°.
const CUBOID_CUBOID_FLAT: f64 = 0.99;
/// Distance from the crossing, relative to the size, from which on a point of the patch is another one [1].
const BESIDE: f64 = 0.1;

const ID_EDGES: u32 = 1 << 16;
const ID_CORNERS: u32 = 2 << 16;

/// Appends up to five points and says what touches what; `None` if nothing is within the margin.
pub(super) fn cuboid_cuboid(
    half_a: Vec3,
    pose_a: &Pose,
    half_b: Vec3,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) -> Option<ContactKind> {
    let boxes = Boxes::new(half_a, pose_a, half_b, pose_b);
    let axes = separating_axes(&boxes, margin)?;
    let pair = Pair {
        boxes: &boxes,
        placed: Placed {
            pose_a,
            pose_b,
            radius_a: 0.0,
            radius_b: 0.0,
            rolling_radius: 0.0,
            margin,
        },
        size: half_a.max_element().min(half_b.max_element()),
    };
    pair.collide(&axes, out)
}

/// The largest separation of two boxes over all axes [m]: negative is minus the least depth, positive a bound of the distance.
#[must_use]
pub fn cuboid_separation(half_a: Vec3, pose_a: &Pose, half_b: Vec3, pose_b: &Pose) -> f64 {
    let boxes = Boxes::new(half_a, pose_a, half_b, pose_b);
    separating_axes(&boxes, f64::INFINITY).map_or(f64::INFINITY, |axes| axes.separation())
}

struct Pair<'a> {
    boxes: &'a Boxes,
    placed: Placed<'a>,
    size: f64,
}

impl Pair<'_> {
    fn collide(&self, axes: &Axes, out: &mut Vec<ContactPoint>) -> Option<ContactKind> {
        let better = |s: f64, than: f64| {
            s > than + PREFER_RELATIVE * (-than).max(0.0) + PREFER_SIZE * self.size
        };
        // A's face unless B's is clearly better, a face unless the edges are clearly better: no flicker between equals.
        // Of a small box on a large one the large face is preferred: it stays the better one when the small box tilts.
        let (area_a, area_b) = (
            area(self.boxes.half_a, axes.face_a.1),
            area(self.boxes.half_b, axes.face_b.1),
        );
        let on_b = if area_b > LARGER * area_a {
            !better(axes.face_a.0, axes.face_b.0)
        } else {
            better(axes.face_b.0, axes.face_a.0)
        };
        let face = if on_b { axes.face_b } else { axes.face_a };
        let separation = axes.separation();
        let apart = separation > CUBOID_CUBOID_APART * self.size;
        if better(axes.edge.separation, face.0) && self.cross_edges(&axes.edge, out) {
            self.add_ends(&axes.edge, out);
            return Some(ContactKind::EdgeEdge);
        }
        let view = self.view(face.1, on_b);
        let patch = view.patch(self.placed.margin);
        let mut lowest = f64::INFINITY;
        for p in &patch.points[..patch.count] {
            lowest = lowest.min(p.w);
            self.push_face_point(&view, on_b, p, out);
        }
        let mut kind = (patch.count > 0).then_some(patch.kind);
        if apart {
            // A supporting feature beside the face is nearer than anything above it.
            if better(lowest, separation) {
                let corners = self.join_corners(lowest, out);
                kind = kind.or(corners);
            }
        } else if patch.count == 0 {
            kind = self.fall_back(axes, &view, on_b, out);
        }
        kind
    }

    /// Where one of the crossing edges lies nearly flat on a face, the other points of the patch there. Such an edge touches at two ends; kept apart
    /// at the crossing alone, it would sink in at the other. (The axis of that face says little of this: a long box reaches deep under its
    /// plane beside the face. What is over the face counts.)
    fn add_ends(&self, edge: &EdgeAxis, out: &mut Vec<ContactPoint>) {
        let n = edge.normal(self.boxes);
        let of_b = self.boxes.seen_from_b(n);
        let flattest = |n: Vec3| (0..3).fold(0, |k, i| if n[i].abs() > n[k].abs() { i } else { k });
        let (i, j) = (flattest(n), flattest(of_b));
        let on_b = of_b[j].abs() > n[i].abs();
        // The normal of the crossing along that of the face, away from its box.
        let (axis, along) = if on_b { (j, -of_b[j]) } else { (i, n[i]) };
        let view = self.view(axis, on_b);
        let Some(crossing) = out.last().map(|p| p.point_b) else {
            return;
        };
        if along.abs() < CUBOID_CUBOID_FLAT || view.positive != (along > 0.0) {
            return;
        }
        let first = out.len();
        let patch = view.patch(self.placed.margin);
        for p in &patch.points[..patch.count] {
            self.push_face_point(&view, on_b, p, out);
        }
        let beside = |p: &ContactPoint| (p.point_b - crossing).length() > BESIDE * self.size;
        let mut place = first;
        for k in first..out.len() {
            if beside(&out[k]) {
                out.swap(place, k);
                place += 1;
            }
        }
        out.truncate(place);
    }

    /// The face of `axis` of A (or of B) that looks to the other box.
    fn view(&self, axis: usize, on_b: bool) -> FaceView {
        let b = self.boxes;
        if on_b {
            let c = &b.c;
            let turned = [
                [c[0][0], c[1][0], c[2][0]],
                [c[0][1], c[1][1], c[2][1]],
                [c[0][2], c[1][2], c[2][2]],
            ];
            FaceView::new(
                b.half_b,
                axis,
                b.half_a,
                &turned,
                -b.seen_from_b(b.t),
                self.size,
            )
        } else {
            FaceView::new(b.half_a, axis, b.half_b, &b.c, b.t, self.size)
        }
    }

    fn push_face_point(
        &self,
        view: &FaceView,
        on_b: bool,
        p: &PatchPoint,
        out: &mut Vec<ContactPoint>,
    ) {
        let (owner, axes) = if on_b {
            (self.placed.pose_b, &self.boxes.axes_b)
        } else {
            (self.placed.pose_a, &self.boxes.axes_a)
        };
        let side = if view.positive { 1.0 } else { -1.0 };
        let normal = Vec3::AXES[view.axis] * side;
        let n = axes.col(view.axis) * side;
        let (u, v) = (axes.col((view.axis + 1) % 3), axes.col((view.axis + 2) % 3));
        let on_face = owner.position + u * p.u + v * p.v + n * view.h[2];
        let on_incident = on_face + n * p.w;
        let face = (2 * view.axis + usize::from(view.positive)) as u32;
        out.push(ContactPoint {
            point_a: if on_b { on_incident } else { on_face },
            point_b: if on_b { on_face } else { on_incident },
            normal: if on_b { -n } else { n },
            gap: p.w,
            features: Features::PointFace {
                point: view.on_other(p),
                anchor: normal * view.h[2],
                normal,
                face_on_b: on_b,
            },
            radius_a: 0.0,
            radius_b: 0.0,
            rolling_radius: 0.0,
            feature_id: p.name | (face << 12) | (u32::from(on_b) << 15),
        });
    }

    /// The closest points of the two supporting edges; false if they lie beyond an end.
    fn cross_edges(&self, edge: &EdgeAxis, out: &mut Vec<ContactPoint>) -> bool {
        let b = self.boxes;
        let (i, j) = (edge.i, edge.j);
        let normal = edge.normal(b);
        let mut x_a = support(b.half_a, normal);
        let mut x_b = support(b.half_b, -b.seen_from_b(normal));
        let name = (edge_name(x_a, i) << 5) | edge_name(x_b, j);
        x_a[i] = 0.0;
        x_b[j] = 0.0;
        let r = b.t + b.b_in_a(0) * x_b.x + b.b_in_a(1) * x_b.y + b.b_in_a(2) * x_b.z - x_a;
        let (p, q, c) = (r[i], b.b_in_a(j).dot(r), b.c[i][j]);
        let det = crossing(b, i, j).length_squared();
        let slack = CUBOID_CUBOID_APART * self.size;
        let within = ((p - c * q) / det).abs() <= b.half_a[i] + slack
            && ((c * p - q) / det).abs() <= b.half_b[j] + slack;
        if within {
            let features = Features::EdgeEdge {
                anchor_a: x_a,
                direction_a: Vec3::AXES[i],
                anchor_b: x_b,
                direction_b: Vec3::AXES[j],
            };
            self.placed
                .push(features, b.axes_a * normal, ID_EDGES | name, out);
        }
        within
    }

    /// Boxes apart, corner to corner, corner to edge or parallel edge to edge: the closest vertex of one to the other, if nearer
    /// than `limit`, and for edges side by side a second one. (Crossing edges and faces have been looked at before.)
    fn join_corners(&self, limit: f64, out: &mut Vec<ContactPoint>) -> Option<ContactKind> {
        // Vertices 0 to 7 are A's, 8 to 15 B's.
        let mut distance_2 = [0.0; 16];
        let mut best = 0;
        for k in 0..16 {
            let (x, half) = self.corner(k);
            distance_2[k] = (x - x.max(-half).min(half)).length_squared();
            if distance_2[k] < distance_2[best] {
                best = k;
            }
        }
        let within = limit.min(self.placed.margin);
        if distance_2[best] > within * within {
            return None;
        }
        let first = Corner::new(self, best);
        let mut second: Option<(Corner, f64)> = None;
        let margin_2 = self.placed.margin * self.placed.margin;
        for k in (0..16).filter(|k| *k != best && distance_2[*k] <= margin_2) {
            let c = Corner::new(self, k);
            let away = (c.place - first.place).length();
            let least = second
                .as_ref()
                .map_or(first.near.distance + 0.01 * self.size, |s| s.1);
            if c.near.outside == 2 && away > least && c.normal.dot(first.normal) > SAME_NORMAL {
                second = Some((c, away));
            }
        }
        let beside = second.is_some() || first.near.outside > 1;
        for c in [Some(first), second.map(|s| s.0)].into_iter().flatten() {
            let features = c.near.features(c.vertex, c.index < 8);
            let id = ID_CORNERS | ((c.index as u32) << 5) | c.near.feature;
            self.placed.push(features, c.normal, id, out);
        }
        Some(if beside {
            ContactKind::EdgeEdge
        } else {
            ContactKind::VertexFace
        })
    }

    /// Vertex `k` of 16 in the frame of the other box, and that box's half extents.
    fn corner(&self, k: usize) -> (Vec3, Vec3) {
        let b = self.boxes;
        if k < 8 {
            (b.seen_from_b(vertex(b.half_a, k as u32) - b.t), b.half_b)
        } else {
            let x = vertex(b.half_b, k as u32 & 7);
            (
                b.t + b.b_in_a(0) * x.x + b.b_in_a(1) * x.y + b.b_in_a(2) * x.z,
                b.half_a,
            )
        }
    }

    /// Touching, but rounding left no polygon: edges if they cross, else the lowest vertex against the face.
    fn fall_back(
        &self,
        axes: &Axes,
        view: &FaceView,
        on_b: bool,
        out: &mut Vec<ContactPoint>,
    ) -> Option<ContactKind> {
        let edges = axes.edge.separation;
        if edges.is_finite()
            && edges >= axes.face_a.0.max(axes.face_b.0)
            && self.cross_edges(&axes.edge, out)
        {
            return Some(ContactKind::EdgeEdge);
        }
        let low = view.lowest();
        if low.w > self.placed.margin {
            return None;
        }
        self.push_face_point(view, on_b, &low, out);
        Some(ContactKind::VertexFace)
    }
}

/// A vertex of one box near the other.
struct Corner {
    /// 0 to 7 for A, 8 to 15 for B.
    index: usize,
    /// In its own frame [m].
    vertex: Vec3,
    /// In the world [m].
    place: Vec3,
    near: NearCuboid,
    /// Unit normal from A to B, world.
    normal: Vec3,
}

impl Corner {
    fn new(pair: &Pair<'_>, index: usize) -> Self {
        let b = pair.boxes;
        let of_a = index < 8;
        let (x, half) = pair.corner(index);
        let near = point_cuboid(x, half);
        let vertex = vertex(if of_a { b.half_a } else { b.half_b }, index as u32 & 7);
        let place = if of_a {
            pair.placed.pose_a.point(vertex)
        } else {
            pair.placed.pose_b.point(vertex)
        };
        let normal = if of_a {
            -(b.axes_b * near.normal)
        } else {
            b.axes_a * near.normal
        };
        Self {
            index,
            vertex,
            place,
            near,
            normal,
        }
    }
}

/// A quarter of the area of a face [m²].
fn area(half: Vec3, axis: usize) -> f64 {
    half[(axis + 1) % 3] * half[(axis + 2) % 3]
}

/// The vertex farthest along `n`.
fn support(half: Vec3, n: Vec3) -> Vec3 {
    let side = |n: f64, h: f64| if n < 0.0 { -h } else { h };
    Vec3::new(side(n.x, half.x), side(n.y, half.y), side(n.z, half.z))
}

/// Names the edge along `axis` through the vertex `x`, by its lower vertex.
fn edge_name(x: Vec3, axis: usize) -> u32 {
    let bits = u32::from(x.x > 0.0) | (u32::from(x.y > 0.0) << 1) | (u32::from(x.z > 0.0) << 2);
    ((bits & !(1 << axis)) << 2) | axis as u32
}
