//! Triangle mesh against triangle mesh.
//!
//! Reads: shapes, poses.  Writes: appends contact points.
//! Called by: `collide::narrow`.
//! Source: [Lecture] "Near Phase – Analyzing" (CL-16). Features that face each other (`collide::mesh_features`) hold bodies that are near or
//! overlap a little; where they overlap by more than the margin, the closed loops along which their surfaces cross say where to
//! (`collide::loops`).

use super::contact::{ContactPoint, Features};
use super::descend::{Descent, descend};
use super::loops::{CrossingLoop, crossing_loops};
use super::mesh_features::{Candidate, Facet, Facing, Sheet};
use super::narrow::Placed;
use super::patch::both;
use super::reduce::reduce;
use crate::math::{Pose, Vec3};
use crate::shape::TriangleMesh;
use std::collections::BTreeMap;

/// Most points of two meshes.
pub const MESH_PAIR_POINTS_MAX: usize = 24;
/// Most points of one loop.
const LOOP_POINTS_MAX: usize = 4;
/// Candidates at which nothing more is looked for; that is reported.
const CANDIDATES_MAX: usize = 1 << 15;
/// Part of the smaller reach up to which overlap is rounding and needs no proof [1].
const TOUCHING_MESHES: f64 = 1e-9;
/// Part of the smaller reach from which overlaps are answered by loops [1].
const DEEP: f64 = 0.01;
/// Vertices of a patch of which the deepest is looked for.
const DEEPEST_OF: usize = 1 << 10;
/// Part of a depth below which another way out is much shorter [1].
const SHORTER: f64 = 0.5;
/// Cosine from which two normals at one corner are the same [1].
const TWIN_NORMAL: f64 = 1.0 - 1e-6;

/// Appends at most [`MESH_PAIR_POINTS_MAX`] contact points of two meshes. Returns whether a search ended at its limit, so that a part of the
/// contact may be missing.
pub(super) fn mesh_mesh(
    a: &TriangleMesh,
    pose_a: &Pose,
    b: &TriangleMesh,
    pose_b: &Pose,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) -> bool {
    let b_in_a = pose_a.inverse().compose(pose_b);
    let size = a.size().min(b.size());
    let (tiny, deep) = (TOUCHING_MESHES * size, DEEP * size);
    let facing = Facing {
        a: Sheet {
            mesh: a,
            place: Pose::IDENTITY,
        },
        b: Sheet {
            mesh: b,
            place: b_in_a,
        },
        margin: margin.max(deep),
        tiny,
    };
    let (mut candidates, cross) = look_at_all(&facing, margin);
    let full = candidates.len() >= CANDIDATES_MAX;
    let loops = if cross {
        crossing_loops(a, b, &b_in_a)
    } else {
        Vec::new()
    };
    let deep_loops: Vec<(&CrossingLoop, f64)> = loops
        .iter()
        .map(|l| (l, depth_of(&facing, l)))
        .filter(|l| l.1 > deep)
        .collect();
    keep_valid(&facing, margin, !deep_loops.is_empty(), &mut candidates);
    let placed = Placed {
        pose_a,
        pose_b,
        radius_a: 0.0,
        radius_b: 0.0,
        rolling_radius: 0.0,
        margin,
    };
    let first = out.len();
    let mut known = BTreeMap::new();
    for c in &candidates {
        push(&placed, c, &mut known, out);
    }
    for (k, (l, depth)) in deep_loops.iter().enumerate() {
        push_loop(&placed, l, *depth, &b_in_a, k as u32, out);
    }
    reduce(first, MESH_PAIR_POINTS_MAX, size, margin, out);
    full || loops.iter().any(|l| l.cut_short)
}

/// Features that face each other, and whether the meshes may cross.
fn look_at_all(facing: &Facing<'_>, margin: f64) -> (Vec<Candidate>, bool) {
    let mut candidates = Vec::new();
    let mut cross = false;
    let mut last: Option<Facet> = None;
    let (a, b) = (&facing.a, &facing.b);
    descend(a.mesh, b.mesh, &b.place, margin.max(0.0), |t, s| {
        // The triangle of B stays the same for a leaf of A.
        let g = match &mut last {
            Some(g) if g.index == s => g,
            other => other.insert(b.facet(s)),
        };
        cross |= facing.look(&a.facet(t), g, &mut candidates);
        if candidates.len() < CANDIDATES_MAX {
            Descent::On
        } else {
            Descent::Stop
        }
    });
    (candidates, cross)
}

/// Leaves out candidates beyond the margin and overlaps that show no way out; all overlaps where bodies are `deep` in each other, since
/// features on the way out say nothing there.
fn keep_valid(facing: &Facing<'_>, margin: f64, deep: bool, candidates: &mut Vec<Candidate>) {
    let tiny = facing.tiny;
    let mut corners: BTreeMap<u32, Vec<Candidate>> = BTreeMap::new();
    for c in candidates
        .iter()
        .filter(|c| c.face.is_some() && c.gap < tiny)
    {
        corners.entry(c.id).or_default().push(*c);
    }
    candidates.retain(|c| {
        c.gap <= margin && (c.gap >= -tiny || !deep && is_way_out(facing, c, &corners))
    });
}

/// How deep what a loop cuts off one mesh is in the other, at most [m]. Along a curved contact this is far less than the loop's extent.
fn depth_of(facing: &Facing<'_>, l: &CrossingLoop) -> f64 {
    let deepest = |own: &Sheet<'_>, other: &Sheet<'_>, vertices: &[u32]| {
        let depth = |v: &u32| {
            let x = own.place.point(own.mesh.vertices()[*v as usize]);
            let found = other
                .mesh
                .closest(other.place.point_to_local(x), f64::INFINITY);
            found.map_or(0.0, |p| -p.distance)
        };
        // Of a large patch as many as that, from all over it.
        let stride = vertices.len().div_ceil(DEEPEST_OF).max(1);
        vertices
            .iter()
            .step_by(stride)
            .map(depth)
            .fold(0.0, f64::max)
    };
    let a = deepest(&facing.a, &facing.b, &l.enclosed.0);
    a.max(deepest(&facing.b, &facing.a, &l.enclosed.1))
        .min(l.depth)
}

/// Whether two overlapping features show a way out of the overlap, and no other of the same corner shows a much shorter one.
fn is_way_out(facing: &Facing<'_>, c: &Candidate, corners: &BTreeMap<u32, Vec<Candidate>>) -> bool {
    let (x, y) = c.points;
    let inside = |sheet: &Sheet<'_>, point: Vec3| {
        let found = sheet
            .mesh
            .closest(sheet.place.point_to_local(point), f64::INFINITY);
        found.is_some_and(|p| p.distance <= facing.tiny)
    };
    let Some(face) = c.face else {
        return inside(&facing.b, x) && inside(&facing.a, y);
    };
    let corner_on_a = matches!(
        c.features,
        Features::PointFace {
            face_on_b: true,
            ..
        }
    );
    let within = if corner_on_a {
        inside(&facing.b, x)
    } else {
        inside(&facing.a, y)
    };
    let corner = if corner_on_a { x } else { y };
    // A body is left through any of the faces around a ridge, but through all of those around a valley: there each is before the others.
    let shorter = |o: &Candidate| {
        o.gap > SHORTER * c.gap
            && o.face
                .is_some_and(|f| f.normal.dot(face.middle - corner) < -o.gap)
    };
    within
        && !corners
            .get(&c.id)
            .is_some_and(|all| all.iter().any(shorter))
}

/// Appends a candidate, once: a corner over a seam belongs to both sides. `known` holds the normals of those before, by name.
fn push(
    placed: &Placed<'_>,
    c: &Candidate,
    known: &mut BTreeMap<u32, Vec3>,
    out: &mut Vec<ContactPoint>,
) {
    let normal = placed.pose_a.vector(c.normal);
    let mut id = c.id;
    while let Some(twin) = known.get(&id) {
        if twin.dot(normal) > TWIN_NORMAL {
            return;
        }
        id = id.wrapping_add(1);
    }
    let before = out.len();
    placed.push(c.features, normal, id, out);
    // What is beyond the margin is not appended.
    if let Some(p) = out.get(before) {
        known.insert(id, p.normal);
    }
}

/// Some points around a loop that push the bodies apart along its normal.
fn push_loop(
    placed: &Placed<'_>,
    l: &CrossingLoop,
    depth: f64,
    b_in_a: &Pose,
    index: u32,
    out: &mut Vec<ContactPoint>,
) {
    let half = 0.5 * depth;
    for (k, x) in l.extreme_points(LOOP_POINTS_MAX).iter().enumerate() {
        let features = Features::PointFace {
            point: b_in_a.point_to_local(*x - l.normal * half),
            anchor: *x + l.normal * half,
            normal: l.normal,
            face_on_b: false,
        };
        let id = both(both(index, 7), k as u32);
        placed.push(features, placed.pose_a.vector(l.normal), id, out);
    }
}
