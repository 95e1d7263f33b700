//! Descent of two trees of boxes: the pairs of triangles of two meshes that are near each other.
//!
//! Reads: two meshes, how one lies in the frame of the other.  Writes: nothing (calls a visitor).
//! Called by: `collide::pair_mesh_mesh`, `collide::loops`, `geometry`.
//! Source: [Lecture] "BVH collision test" (CL-15): the larger volume is opened first. Boxes of B are carried into the frame of A, where they
//! grow to boxes along A's axes.

use crate::math::{Mat3, Pose, Vec3};
use crate::shape::{Aabb, TriangleMesh};

/// Rounding of carried boxes, of the size of everything [1].
const CARRIED: f64 = 1e-14;
/// Nodes that can wait: each pair opened leaves one behind, and a tree of 2³² leaves has 33 levels.
const WAITING: usize = 128;

/// What to do after a pair of triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Descent {
    /// Go on.
    On,
    /// Go on, but only with what is within this distance [m].
    Within(f64),
    /// Stop here.
    Stop,
}

/// Work of one descent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DescentWork {
    /// Pairs of boxes looked at.
    pub boxes: usize,
    /// Pairs of triangles visited.
    pub triangles: usize,
}

/// Calls `visit` with pairs of triangles (of A, of B) whose boxes in A's frame are at most `margin` [m] apart, always in the same order:
/// every such pair, unless `visit` narrows the margin or stops. `b_in_a` leads from B's frame to A's.
pub fn descend(
    a: &TriangleMesh,
    b: &TriangleMesh,
    b_in_a: &Pose,
    margin: f64,
    mut visit: impl FnMut(u32, u32) -> Descent,
) -> DescentWork {
    let mut work = DescentWork::default();
    if a.nodes().is_empty() || b.nodes().is_empty() || !b_in_a.is_finite() || margin.is_nan() {
        return work;
    }
    let carry = Carry::new(b_in_a);
    let far = b_in_a.position.length() + carry.bounds(&b.nodes()[0].bounds).max.abs().max_element();
    let slack = CARRIED * (far + a.nodes()[0].bounds.max.abs().max_element());
    // Squares of boxes that overlap are 0: a margin below zero asks for those.
    let square = |margin: f64| (margin.max(0.0) + slack) * (margin.max(0.0) + slack);
    let mut limit = square(margin);
    let mut stack = [(0_u32, 0_u32, 0.0_f64); WAITING];
    let mut height = 1;
    stack[0].2 = apart(&a.nodes()[0].bounds, &carry.bounds(&b.nodes()[0].bounds));
    while height > 0 {
        height -= 1;
        let (i, j, near) = stack[height];
        work.boxes += 1;
        if near > limit {
            continue;
        }
        let (m, n) = (&a.nodes()[i as usize], &b.nodes()[j as usize]);
        if m.count > 0 && n.count > 0 {
            for &s in b.leaf(n) {
                let there = box_of(b.corners(s).map(|x| b_in_a.point(x)));
                for &t in a.leaf(m) {
                    if apart(&box_of(a.corners(t)), &there) > limit {
                        continue;
                    }
                    work.triangles += 1;
                    match visit(t, s) {
                        Descent::On => {}
                        Descent::Within(d) => limit = limit.min(square(d)),
                        Descent::Stop => return work,
                    }
                }
            }
            continue;
        }
        let open_a = n.count > 0 || (m.count == 0 && larger(&m.bounds, &n.bounds));
        let pairs = if open_a {
            [(m.start, j), (m.start + 1, j)]
        } else {
            [(i, n.start), (i, n.start + 1)]
        };
        let gaps = pairs.map(|(i, j)| {
            let there = carry.bounds(&b.nodes()[j as usize].bounds);
            apart(&a.nodes()[i as usize].bounds, &there)
        });
        // The nearer pair is looked at first, so it is pushed last.
        let first = usize::from(gaps[1] < gaps[0]);
        for k in [1 - first, first] {
            if gaps[k] <= limit && height < WAITING {
                stack[height] = (pairs[k].0, pairs[k].1, gaps[k]);
                height += 1;
            }
        }
    }
    work
}

/// All pairs of triangles whose boxes, in A's frame, are at most `margin` [m] apart, in ascending order.
#[must_use]
pub fn triangle_pairs(
    (a, pose_a): (&TriangleMesh, &Pose),
    (b, pose_b): (&TriangleMesh, &Pose),
    margin: f64,
) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    descend(a, b, &pose_a.inverse().compose(pose_b), margin, |t, s| {
        out.push((t, s));
        Descent::On
    });
    out.sort_unstable();
    out
}

/// Boxes of B in the frame of A.
struct Carry {
    turn: Mat3,
    size: Mat3,
    shift: Vec3,
}

impl Carry {
    fn new(b_in_a: &Pose) -> Self {
        let turn = Mat3::from_quat(b_in_a.rotation);
        Self {
            size: Mat3::from_cols(turn.x_axis.abs(), turn.y_axis.abs(), turn.z_axis.abs()),
            turn,
            shift: b_in_a.position,
        }
    }

    fn bounds(&self, local: &Aabb) -> Aabb {
        let (center, half) = (0.5 * (local.min + local.max), 0.5 * (local.max - local.min));
        Aabb::from_center(self.turn * center + self.shift, self.size * half)
    }
}

/// By volume; boxes without one by their diagonals.
fn larger(a: &Aabb, b: &Aabb) -> bool {
    let (x, y) = (a.max - a.min, b.max - b.min);
    let (v, w) = (x.x * x.y * x.z, y.x * y.y * y.z);
    if v == w {
        x.length_squared() > y.length_squared()
    } else {
        v > w
    }
}

/// Squared distance of two boxes [m²].
fn apart(a: &Aabb, b: &Aabb) -> f64 {
    (a.min - b.max)
        .max(b.min - a.max)
        .max(Vec3::ZERO)
        .length_squared()
}

fn box_of([a, b, c]: [Vec3; 3]) -> Aabb {
    Aabb {
        min: a.min(b).min(c),
        max: a.max(b).max(c),
    }
}
