//! Separating axes of two boxes: 3 + 3 face normals and 9 edge crossings.
//!
//! Reads: half extents, poses.  Writes: nothing (pure functions).
//! Called by: `collide::pair_cuboid_cuboid`.
//! Source: [Lecture] "SAT for OOBB"; [Gottschalk96] §5. Letters: a_i, b_j the axes of the boxes, h half extents, l a unit axis;
//! the separation along l is s = |D·l| − Σ h_Ai |l·a_i| − Σ h_Bj |l·b_j| (the lecture's overlap is o = −s).

use crate::math::{Mat3, Pose, Vec3};

/// Edges with sin² of their angle below this are parallel: their crossing has no direction left in `f64`. (The lecture skips below
/// 1e-6; long bars crossing at a milliradian are then seen as touching when they are a millimetre apart.)
const SAT_PARALLEL: f64 = 1e-14;
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
}

impl EdgeAxis {
    /// Unit normal from A to B, in A's frame.
    pub fn normal(&self, boxes: &Boxes) -> Vec3 {
        let l = crossing(boxes, self.i, self.j).normalize();
        if l.dot(boxes.t) < 0.0 { -l } else { l }
    }
}

/// The best axes of each family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    /// Largest separation along a face normal of A [m], and which.
    pub face_a: (f64, usize),
    /// Largest separation along a face normal of B [m], and which.
    pub face_b: (f64, usize),
    /// The edge crossing of largest separation, minus infinity if no edges cross.
    pub edge: EdgeAxis,
}

impl Axes {
    /// The largest separation of all: positive is a lower bound of the distance, negative the least depth [m].
    pub fn separation(&self) -> f64 {
        self.face_a.0.max(self.face_b.0).max(self.edge.separation)
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
    let rows = [
        edge_row::<0>(boxes, &abs),
        edge_row::<1>(boxes, &abs),
        edge_row::<2>(boxes, &abs),
    ];
    let mut edge = (f64::NEG_INFINITY, 0, 0);
    for i in 0..3 {
        for j in 0..3 {
            if rows[i][j] > edge.0 {
                edge = (rows[i][j], i, j);
            }
        }
    }
    let (separation, i, j) = edge;
    if separation > margin {
        return None;
    }
    Some(Axes {
        face_a,
        face_b,
        edge: EdgeAxis { separation, i, j },
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

/// Separations along `a_I × b_j` for the three j; minus infinity for parallel edges.
#[inline(always)]
fn edge_row<const I: usize>(boxes: &Boxes, abs: &[[f64; 3]; 3]) -> [f64; 3] {
    let (h, k, c, t) = (
        boxes.half_a.to_array(),
        boxes.half_b.to_array(),
        &boxes.c,
        boxes.t.to_array(),
    );
    let (i1, i2) = ((I + 1) % 3, (I + 2) % 3);
    let mut out = [f64::NEG_INFINITY; 3];
    for j in 0..3 {
        // l = a_I × b_j has the components −c[i2][j] along a_i1 and c[i1][j] along a_i2.
        let sin2 = c[i1][j] * c[i1][j] + c[i2][j] * c[i2][j];
        if sin2 < SAT_PARALLEL {
            continue;
        }
        let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
        let radius_a = h[i1] * abs[i2][j] + h[i2] * abs[i1][j];
        let radius_b = if sin2 > WELL_CROSSED {
            // |l · b_j1| = |a_I · b_j2| and the other way round: exact for orthonormal axes.
            k[j1] * abs[I][j2] + k[j2] * abs[I][j1]
        } else {
            // For nearly parallel edges the rounding of that identity, divided by the sine, would count.
            let along = |m: usize| (c[i1][j] * c[i2][m] - c[i2][j] * c[i1][m]).abs();
            k[j1] * along(j1) + k[j2] * along(j2)
        };
        let d = (t[i2] * c[i1][j] - t[i1] * c[i2][j]).abs();
        out[j] = (d - radius_a - radius_b) / sin2.sqrt();
    }
    out
}
