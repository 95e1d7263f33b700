//! Triangle mesh (always A) against any bounded convex shape (B): triangle by triangle, without the seams between them.
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: `collide::pair_convex` for each triangle. A normal that a neighbour would not allow (across a flat or concave edge, or beyond
//! the neighbour's own normal) is replaced by that of the triangle; triangles are not felt from behind.

use super::contact::ContactPoint;
use super::gjk::ConvexPair;
use super::narrow::Placed;
use super::outline::Outline;
use super::pair_convex::{FacePair, Touching, push_patch, smaller};
use super::pass::{Drift, Side, leave_out_passed};
use super::patch::{Patch, Reference, both};
use crate::geometry;
use crate::math::{Pose, Vec3};
use crate::shape::triangle_mesh::{MeshEdge, TriangleMesh};
use crate::shape::{Core, Shape};

/// Cosine from which two normals are the same [1].
const SAME: f64 = 1.0 - 1e-9;
/// How far a normal may lean out of what an edge allows [1].
const LEAN: f64 = 1e-6;
/// Weight of a corner, of 1, below which a point lies on the opposite edge [1].
const ON_EDGE: f64 = 1e-6;
/// Most points of one body on a mesh.
const MESH_POINTS_MAX: usize = 16;

/// Appends the contacts of every triangle within the margin; with a drift, without those that B passes.
pub(super) fn mesh_convex(
    mesh: &TriangleMesh,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    drift: Option<&Drift>,
    out: &mut Vec<ContactPoint>,
) {
    let Some(core) = Core::of(b) else { return };
    let seen = pose_a.inverse().compose(pose_b);
    let bounds = b.bounds(&seen).grown(margin.max(0.0));
    let first = out.len();
    mesh.overlapping(bounds, |t| {
        triangle(mesh, t, pose_a, core, pose_b, margin, drift, first, out);
        None
    });
    thin_out(first, out);
}

/// One triangle, about its own middle: far from the mesh's origin no digits are lost.
#[allow(clippy::too_many_arguments)]
fn triangle(
    mesh: &TriangleMesh,
    t: u32,
    pose_a: &Pose,
    (core, radius): (Core<'_>, f64),
    pose_b: &Pose,
    margin: f64,
    drift: Option<&Drift>,
    first: usize,
    out: &mut Vec<ContactPoint>,
) {
    let corners = mesh.corners(t);
    let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    let corners = corners.map(|c| c - middle);
    let place = Pose::from_position(middle);
    let pose = pose_a.compose(&place);
    let own = Core::Triangle(corners);
    let mut pair = ConvexPair::new(own, &pose, core, pose_b);
    let n = mesh.normal(t);
    // From behind: what has passed the surface by more than half is let go.
    let center = pair.b_in_a(core.middle());
    if n.dot(center - corners[0]) < 0.0 {
        return;
    }
    let Some(found) = geometry::cores(&mut pair, margin + radius) else {
        return;
    };
    let touching = Touching {
        placed: Placed {
            pose_a: &pose,
            pose_b,
            radius_a: 0.0,
            radius_b: radius,
            rolling_radius: 0.0,
            margin,
        },
        size: smaller(&own, &core),
        found: &found,
    };
    let start = out.len();
    let (x, _) = found.simplex.witnesses();
    if found.normal.dot(n) < SAME && allowed(mesh, t, &corners, x, found.normal) {
        touching.collide(&mut pair, out);
        for c in &mut out[start..] {
            c.feature_id = both(c.feature_id, t);
        }
    } else {
        face(mesh, t, &touching, &pair, out);
    }
    if let Some(drift) = drift.filter(|_| out.len() > start) {
        let (a, b) = (
            Side::new((own, 0.0), &pose),
            Side::new((core, radius), pose_b),
        );
        leave_out_passed(&drift.of_part(&place), &a, &b, start, out);
    }
    // In place, and once: a corner over a seam belongs to both sides.
    let mut kept = start;
    for k in start..out.len() {
        let mut c = out[k];
        c.features = c.features.moved(&place, &Pose::IDENTITY);
        let twin =
            |o: &ContactPoint| o.feature_id == c.feature_id && o.normal.dot(c.normal) > 1.0 - LEAN;
        if out[first..kept].iter().any(twin) {
            continue;
        }
        while out[first..kept]
            .iter()
            .any(|o| o.feature_id == c.feature_id)
        {
            c.feature_id = c.feature_id.wrapping_add(1);
        }
        out[kept] = c;
        kept += 1;
    }
    out.truncate(kept);
}

/// What B lays on the triangle, along the triangle's own normal.
fn face(
    mesh: &TriangleMesh,
    t: u32,
    touching: &Touching<'_>,
    pair: &ConvexPair<'_>,
    out: &mut Vec<ContactPoint>,
) {
    let normal = mesh.normal(t);
    let outline = Outline::of(&pair.a, normal);
    let mut seams = 0;
    for (k, e) in mesh.edges(t).iter().enumerate() {
        seams |= u32::from(*e == MeshEdge::Flat) << k;
    }
    let reference = Reference {
        normal,
        anchor: outline.points()[0].x,
        corners: outline.points(),
        seams,
        turn: pair.turn,
        shift: pair.offset,
        size: touching.size,
    };
    let radius = touching.placed.radius_b;
    let incident = Outline::of(&pair.b, -(pair.turn.transpose() * normal));
    let patch = Patch::new(&incident, &reference, touching.placed.margin + radius);
    let faces = FacePair {
        reference: touching.placed.pose_a,
        on_b: false,
        radius_own: 0.0,
        radius,
    };
    let start = out.len();
    push_patch(&faces, &reference, &patch, out);
    for (c, p) in out[start..].iter_mut().zip(patch.points()) {
        // Corners of B keep their names from triangle to triangle.
        if !p.vertex {
            c.feature_id = both(c.feature_id, t);
        }
    }
}

/// Whether a contact at the point `x` of the triangle may have the normal `n`: across an edge it must lie between the two faces.
fn allowed(mesh: &TriangleMesh, t: u32, corners: &[Vec3; 3], x: Vec3, n: Vec3) -> bool {
    let own = mesh.normal(t);
    if n.dot(own) <= 0.0 {
        return false;
    }
    let area = |a: Vec3, b: Vec3, c: Vec3| own.dot((b - a).cross(c - a));
    let whole = area(corners[0], corners[1], corners[2]);
    for (k, edge) in mesh.edges(t).iter().enumerate() {
        let (a, b) = (corners[k], corners[(k + 1) % 3]);
        if area(a, b, x) > ON_EDGE * whole {
            continue;
        }
        // Away from the triangle, in its plane.
        let out = (b - a).cross(own).normalize_or_zero();
        let fits = match *edge {
            MeshEdge::Open => n.dot(out) >= -LEAN,
            MeshEdge::Flat | MeshEdge::Concave => false,
            MeshEdge::Convex(other) => {
                let back = mesh.normal(other).cross(b - a).normalize_or_zero();
                n.dot(out) >= -LEAN && n.dot(back) >= -LEAN
            }
        };
        if !fits {
            return false;
        }
    }
    true
}

/// Keeps the deepest point and then always the one farthest from those kept.
fn thin_out(first: usize, out: &mut Vec<ContactPoint>) {
    let points = &mut out[first..];
    if points.len() <= MESH_POINTS_MAX {
        return;
    }
    let mut deepest = 0;
    for k in 1..points.len() {
        if points[k].gap < points[deepest].gap {
            deepest = k;
        }
    }
    points.swap(0, deepest);
    for chosen in 1..MESH_POINTS_MAX {
        let mut best = (f64::NEG_INFINITY, chosen);
        for k in chosen..points.len() {
            let near = points[..chosen].iter().fold(f64::INFINITY, |d, p| {
                d.min((p.point_b - points[k].point_b).length_squared())
            });
            if near > best.0 {
                best = (near, k);
            }
        }
        points.swap(chosen, best.1);
    }
    out.truncate(first + MESH_POINTS_MAX);
}
