//! Half-space (always A) against triangle mesh (B): the corners that are lowest around them.
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: vertex–face contacts of [Lecture] "Contact Types".

use super::contact::{ContactPoint, Features};
use super::narrow::Placed;
use super::reduce::reduce;
use crate::math::{Pose, Vec3};
use crate::shape::{Aabb, TriangleMesh};

/// Most points of a mesh on a plane.
const PLANE_POINTS_MAX: usize = 16;
/// How far a neighbour may lie below a corner that stands on the plane, of their distance [1].
const STANDING: f64 = 0.1;

/// At most 16 points.
pub(super) fn half_space_mesh(
    normal: Vec3,
    pose_a: &Pose,
    mesh: &TriangleMesh,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let placed = Placed {
        pose_a,
        pose_b,
        radius_a: 0.0,
        radius_b: 0.0,
        rolling_radius: 0.0,
        margin,
    };
    // The plane up · x = height in the mesh's frame.
    let up = pose_b.vector_to_local(pose_a.vector(normal));
    let height = up.dot(pose_b.point_to_local(pose_a.position));
    let first = out.len();
    below(mesh, up, height + margin, |vertex| {
        let x = mesh.vertices()[vertex as usize];
        let stands = mesh.ring(vertex).iter().all(|&w| {
            let d = mesh.vertices()[w as usize] - x;
            d.dot(up) >= -STANDING * d.length()
        });
        if stands {
            let features = Features::PointFace {
                point: x,
                anchor: Vec3::ZERO,
                normal,
                face_on_b: false,
            };
            placed.push(features, pose_a.vector(normal), vertex, out);
        }
    });
    reduce(first, PLANE_POINTS_MAX, mesh.size(), margin, out);
}

/// The lowest vertex of a mesh along `up` (shape frame).
pub(crate) fn lowest(mesh: &TriangleMesh, up: Vec3) -> Vec3 {
    let mut best = (f64::INFINITY, Vec3::ZERO);
    let mut stack = vec![0_u32];
    while let Some(index) = stack.pop() {
        let node = &mesh.nodes()[index as usize];
        if floor(&node.bounds, up) >= best.0 {
            continue;
        }
        if node.count == 0 {
            stack.extend([node.start + 1, node.start]);
            continue;
        }
        for x in mesh.leaf(node).iter().flat_map(|&t| mesh.corners(t)) {
            if up.dot(x) < best.0 {
                best = (up.dot(x), x);
            }
        }
    }
    best.1
}

/// Calls `visit` once with every vertex at or below `up · x = height`, in a fixed order.
fn below(mesh: &TriangleMesh, up: Vec3, height: f64, mut visit: impl FnMut(u32)) {
    let mut stack = vec![0_u32];
    while let Some(index) = stack.pop() {
        let node = &mesh.nodes()[index as usize];
        if floor(&node.bounds, up) > height {
            continue;
        }
        if node.count == 0 {
            stack.extend([node.start + 1, node.start]);
            continue;
        }
        for &t in mesh.leaf(node) {
            for (k, &v) in mesh.triangles()[t as usize].iter().enumerate() {
                if mesh.owned(t) >> k & 1 == 1 && up.dot(mesh.vertices()[v as usize]) <= height {
                    visit(v);
                }
            }
        }
    }
}

/// Lowest height of a box along `up` [m].
fn floor(bounds: &Aabb, up: Vec3) -> f64 {
    let (center, half) = (
        0.5 * (bounds.min + bounds.max),
        0.5 * (bounds.max - bounds.min),
    );
    up.dot(center) - up.abs().dot(half)
}
