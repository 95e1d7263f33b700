//! Separating axes of two boxes: 3 + 3 face normals and 9 edge crossings.
//!
//! Reads: half extents, poses.  Writes: nothing (pure functions).
//! Called by: `collide::pair_cuboid_cuboid`.
//! Source: [Lecture] "SAT for OOBB"; [Gottschalk96] §5. Letters: a_i, b_j the axes of the boxes, h half extents, l a unit axis;
//! the separation along l is s = |D·l| − Σ h_Ai |l·a_i| − Σ h_Bj |l·b_j| (the lecture's overlap is o = −s).

use crate::math::{Mat3, Pose, Vec3};

/// Edges with sin² of their angle below this are parallel: their crossing has no direction left in `f64`. (The lecture skips below
/// 1e-6; long bars crossing at a milliradian are then seen as touching when they are a millimetre apart.)
const PARALLEL: f64 = 1e-14;
/// Above this sin² the short formula for the radii loses no more than three digits.
const WELL_CROSSED: f64 = 1e-6;

/// Two boxes seen from A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Boxes {
    pub half_a: Vec3,
    pub half_b: Vec3,
    /// Axes of A, world.
    pub axes_a: Mat3,
    /// Axes of B, world.
    pub axes_b: Mat3,
    /// `c[i][j] = a_i · b_j`.
    pub c: [[f64; 3]; 3],
    /// Centre of B in A's frame [m].
    pub t: Vec3,
}

impl Boxes {
    pub fn new(half_a: Vec3, pose_a: &Pose, half_b: Vec3, pose_b: &Pose) -> Self {
        let axes_a = Mat3::from_quat(pose_a.rotation);
        let axes_b = Mat3::from_quat(pose_b.rotation);
        let row = |a: Vec3| {
            [
                a.dot(axes_b.x_axis),
                a.dot(axes_b.y_axis),
                a.dot(axes_b.z_axis),
            ]
        };
        let d = pose_b.position - pose_a.position;
        Self {
            half_a,
            half_b,
            axes_a,
            axes_b,
            c: [row(axes_a.x_axis), row(axes_a.y_axis), row(axes_a.z_axis)],
            t: Vec3::new(
                axes_a.x_axis.dot(d),
                axes_a.y_axis.dot(d),
                axes_a.z_axis.dot(d),
            ),
        }
    }

    /// Axis j of B in A's frame.
    pub fn b_in_a(&self, j: usize) -> Vec3 {
        Vec3::new(self.c[0][j], self.c[1][j], self.c[2][j])
    }

    /// A vector of A's frame in B's frame.
    pub fn seen_from_b(&self, v: Vec3) -> Vec3 {
        Vec3::from(self.c[0]) * v.x + Vec3::from(self.c[1]) * v.y + Vec3::from(self.c[2]) * v.z
    }
}

/// A crossing of an edge of A with an edge of B.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeAxis {
    pub separation: f64,
    /// Axis of A along the edge.
    pub i: usize,
    /// Axis of B along the edge.
    pub j: usize,
    /// Unit normal from A to B, in A's frame.
    pub normal: Vec3,
}

/// The best axes of each family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    /// Largest separation along a face normal of A [m], and which.
    pub face_a: (f64, usize),
    /// Largest separation along a face normal of B [m], and which.
    pub face_b: (f64, usize),
    /// The edge crossing of largest separation, if any edges cross.
    pub edge: Option<EdgeAxis>,
}

impl Axes {
    /// The largest separation of all: positive is a lower bound of the distance, negative the least depth [m].
    pub fn separation(&self) -> f64 {
        let face = self.face_a.0.max(self.face_b.0);
        self.edge.map_or(face, |e| face.max(e.separation))
    }
}

/// The best axis of each family; `None` as soon as one separates by more than `margin` [m].
pub(super) fn separating_axes(boxes: &Boxes, margin: f64) -> Option<Axes> {
    let Boxes {
        half_a: h,
        half_b: k,
        c,
        t,
        ..
    } = *boxes;
    let abs = c.map(|row| row.map(f64::abs));

    let mut face_a = (f64::NEG_INFINITY, 0);
    for i in 0..3 {
        let s = t[i].abs() - h[i] - (k.x * abs[i][0] + k.y * abs[i][1] + k.z * abs[i][2]);
        if s > margin {
            return None;
        }
        if s > face_a.0 {
            face_a = (s, i);
        }
    }
    let mut face_b = (f64::NEG_INFINITY, 0);
    for j in 0..3 {
        let d = t.x * c[0][j] + t.y * c[1][j] + t.z * c[2][j];
        let s = d.abs() - k[j] - (h.x * abs[0][j] + h.y * abs[1][j] + h.z * abs[2][j]);
        if s > margin {
            return None;
        }
        if s > face_b.0 {
            face_b = (s, j);
        }
    }
    let mut edge: Option<(f64, usize, usize)> = None;
    for i in 0..3 {
        for j in 0..3 {
            let Some(s) = edge_separation(boxes, &abs, i, j) else {
                continue;
            };
            if s > margin {
                return None;
            }
            if edge.is_none_or(|(best, ..)| s > best) {
                edge = Some((s, i, j));
            }
        }
    }
    let edge = edge.map(|(separation, i, j)| {
        let l = crossing(boxes, i, j).normalize();
        EdgeAxis {
            separation,
            i,
            j,
            normal: if l.dot(t) < 0.0 { -l } else { l },
        }
    });
    Some(Axes {
        face_a,
        face_b,
        edge,
    })
}

/// `a_i × b_j` in A's frame, not normalised.
#[inline]
pub(super) fn crossing(boxes: &Boxes, i: usize, j: usize) -> Vec3 {
    let c = &boxes.c;
    match i {
        0 => Vec3::new(0.0, -c[2][j], c[1][j]),
        1 => Vec3::new(c[2][j], 0.0, -c[0][j]),
        _ => Vec3::new(-c[1][j], c[0][j], 0.0),
    }
}

/// Separation along `a_i × b_j`; `None` for parallel edges.
#[inline]
fn edge_separation(boxes: &Boxes, abs: &[[f64; 3]; 3], i: usize, j: usize) -> Option<f64> {
    let l = crossing(boxes, i, j);
    let sin2 = l.length_squared();
    if sin2 < PARALLEL {
        return None;
    }
    let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
    let radius_a = boxes.half_a.dot(l.abs());
    let radius_b = if sin2 > WELL_CROSSED {
        // |l · b_j1| = |a_i · b_j2| and the other way round: exact for orthonormal axes.
        boxes.half_b[j1] * abs[i][j2] + boxes.half_b[j2] * abs[i][j1]
    } else {
        // For nearly parallel edges the rounding of that identity, divided by the sine, would count.
        boxes.half_b[j1] * l.dot(boxes.b_in_a(j1)).abs()
            + boxes.half_b[j2] * l.dot(boxes.b_in_a(j2)).abs()
    };
    Some((boxes.t.dot(l).abs() - radius_a - radius_b) / sin2.sqrt())
}
