//! Distance, witness points and penetration depth of any two shapes: pure functions, nothing remembered.
//!
//! Reads: shapes, poses.  Writes: nothing.
//! Called by: users, queries, tests.
//! Source: `collide::gjk`, `collide::epa`. Signs as in `collide::contact`: the normal points from A to B.

pub use crate::collide::advance::{TimeOfImpact, time_of_impact, time_of_impact_bound};
pub use crate::collide::flight::Flight;

use crate::collide::contact::ContactPoint;
use crate::collide::descend::{Descent, descend};
use crate::collide::epa::{self, Depth};
use crate::collide::gjk::{ConvexPair, Found};
use crate::collide::level;
use crate::collide::loops::crossing_loops;
use crate::collide::pair_half_space_mesh::lowest;
use crate::collide::pair_profile::{half_space_profile, profile_profile};
use crate::collide::settle::{self, Start};
use crate::collide::simplex::Simplex;
use crate::math::{Pose, Vec3, tangents};
use crate::shape::triangle_distance::closest_of_triangles;
use crate::shape::{Aabb, Core, Shape, TriangleMesh};
use std::fmt;

/// How two shapes lie to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Signed distance [m]: above zero the shapes are apart by it, below zero they overlap and must move by as much to part.
    pub distance: f64,
    /// Unit normal from A to B, world: B moves along it to get away by the shortest way.
    pub normal: Vec3,
    /// The point on A that is nearest to B, or deepest in it, world [m].
    pub point_a: Vec3,
    /// The point on B that is nearest to A, or deepest in it, world [m].
    pub point_b: Vec3,
}

impl Separation {
    /// The same, with A and B exchanged.
    #[must_use]
    pub fn flipped(&self) -> Self {
        Self {
            distance: self.distance,
            normal: -self.normal,
            point_a: self.point_b,
            point_b: self.point_a,
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeometryError {
    /// A pose or a size is infinite or not a number.
    NotFinite,
    /// Two half-spaces, which have no distance from each other.
    Unbounded,
    /// Shapes that do not feel each other where they are: profiles in planes that are not parallel or share no thickness, a profile and a
    /// half-space that does not stand upright on its plane, a profile and another solid.
    Unrelated,
    /// A size outside 1e-50 … 1e50 m, or a place farther away than that: products of such numbers are not finite.
    OutOfRange,
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "a pose or a size is not finite",
            Self::Unbounded => "both shapes are half-spaces",
            Self::Unrelated => "the shapes do not feel each other where they are",
            Self::OutOfRange => "a size or a place is outside 1e-50 to 1e50 m",
        })
    }
}

impl std::error::Error for GeometryError {}

/// The closest points of two shapes, or those of deepest overlap.
///
/// Apart, `normal` joins the two points; overlapping, it is the direction of least depth, and `point_a` has passed `point_b` by
/// that depth. Distances are right to 1e-9 of the size of the shapes, depths to 1e-6 and mostly far better.
pub fn closest_points(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
) -> Result<Separation, GeometryError> {
    let found = separation_within(a, pose_a, b, pose_b, f64::INFINITY)?;
    // Without a limit there is always an answer, but for profiles.
    found.ok_or(GeometryError::Unrelated)
}

/// The same as [`closest_points`], but `None` as soon as it is clear that the shapes are farther apart than `limit` [m].
pub fn separation_within(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    limit: f64,
) -> Result<Option<Separation>, GeometryError> {
    if !(pose_a.is_finite() && pose_b.is_finite() && a.check().is_ok() && b.check().is_ok()) {
        return Err(GeometryError::NotFinite);
    }
    if !(in_range(a, pose_a) && in_range(b, pose_b)) {
        return Err(GeometryError::OutOfRange);
    }
    let found = match (a, b) {
        (Shape::HalfSpace { .. }, Shape::HalfSpace { .. }) => return Err(GeometryError::Unbounded),
        (Shape::Mesh(a), Shape::Mesh(b)) => meshes(a, pose_a, b, pose_b, limit),
        (Shape::Mesh(mesh), other) if Core::of(other).is_some() => {
            Core::of(other).and_then(|b| triangles(mesh, pose_a, b, pose_b, limit))
        }
        (other, Shape::Mesh(mesh)) if Core::of(other).is_some() => {
            let found = Core::of(other).and_then(|a| triangles(mesh, pose_b, a, pose_a, limit));
            found.map(|s| s.flipped())
        }
        (Shape::Profile(a), Shape::Profile(b)) => {
            nearest(|out| profile_profile(a, pose_a, b, pose_b, limit, out))
        }
        (Shape::HalfSpace { normal }, Shape::Profile(b)) => {
            nearest(|out| half_space_profile(*normal, pose_a, b, pose_b, limit, out))
        }
        (Shape::Profile(a), Shape::HalfSpace { normal }) => {
            nearest(|out| half_space_profile(*normal, pose_b, a, pose_a, limit, out))
                .map(|s| s.flipped())
        }
        (Shape::Profile(_), _) | (_, Shape::Profile(_)) => return Err(GeometryError::Unrelated),
        (Shape::HalfSpace { normal }, other) => half_space(*normal, pose_a, other, pose_b),
        (other, Shape::HalfSpace { normal }) => {
            half_space(*normal, pose_b, other, pose_a).map(|s| s.flipped())
        }
        _ => match (Core::of(a), Core::of(b)) {
            (Some(a), Some(b)) => convex(a, pose_a, b, pose_b, limit),
            _ => return Err(GeometryError::Unbounded),
        },
    };
    match found {
        Some(s) if !(s.distance.is_finite() && (s.normal.length_squared() - 1.0).abs() < 1e-6) => {
            Err(GeometryError::NotFinite)
        }
        found => Ok(found.filter(|s| s.distance <= limit)),
    }
}

/// Whether products of the lengths of a shape and its place are finite and not zero.
pub(crate) fn in_range(shape: &Shape, pose: &Pose) -> bool {
    const RANGE: f64 = 1e50;
    let thin = match *shape {
        Shape::Sphere { radius } => radius,
        Shape::Cuboid { half } => half.min_element(),
        Shape::Capsule {
            half_length,
            radius,
        }
        | Shape::Cylinder {
            half_length,
            radius,
        }
        | Shape::Cone {
            half_length,
            radius,
        } => half_length.min(radius),
        Shape::Rounded(ref r) => {
            return in_range(r.core(), pose)
                && in_range(&Shape::Sphere { radius: r.radius() }, pose);
        }
        _ => 1.0,
    };
    let wide = match shape {
        Shape::HalfSpace { .. } => 1.0,
        _ => shape.reach(),
    };
    let far = pose.position.abs().max_element();
    thin > 1.0 / RANGE && wide < RANGE && far < RANGE
}

/// Distance of two shapes [m], zero where they touch or overlap.
pub fn distance(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Result<f64, GeometryError> {
    Ok(closest_points(a, pose_a, b, pose_b)?.distance.max(0.0))
}

/// How to part two shapes that overlap by the shortest way; `None` if they are apart.
pub fn penetration(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
) -> Result<Option<Separation>, GeometryError> {
    Ok(separation_within(a, pose_a, b, pose_b, 0.0)?.filter(|s| s.distance <= 0.0))
}

/// The contact of least gap, as what lies between two shapes.
fn nearest(find: impl FnOnce(&mut Vec<ContactPoint>)) -> Option<Separation> {
    let mut points = Vec::new();
    find(&mut points);
    let least = points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap))?;
    Some(Separation {
        distance: least.gap,
        normal: least.normal,
        point_a: least.point_a,
        point_b: least.point_b,
    })
}

/// A half-space (A) against a bounded shape.
fn half_space(normal: Vec3, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Option<Separation> {
    let n = pose_a.vector(normal);
    let (low, radius) = match b {
        Shape::Mesh(mesh) => (lowest(mesh, pose_b.vector_to_local(n)), 0.0),
        _ => {
            let (core, radius) = Core::of(b)?;
            (
                core.support(pose_b.vector_to_local(-n), u32::MAX).point,
                radius,
            )
        }
    };
    let low = pose_b.point(low);
    let distance = n.dot(low - pose_a.position) - radius;
    let point_b = low - n * radius;
    Some(Separation {
        distance,
        normal: n,
        point_a: point_b - n * distance,
        point_b,
    })
}

/// A mesh (A) against a thickened core: the nearest of its triangles, or the one that is deepest in the shape.
pub(crate) fn triangles(
    mesh: &TriangleMesh,
    pose_a: &Pose,
    core: (Core<'_>, f64),
    pose_b: &Pose,
    limit: f64,
) -> Option<Separation> {
    // The ball around the core, in the mesh's frame.
    let reach = core.0.reach() + core.1;
    let around = Aabb::from_center(pose_a.point_to_local(pose_b.position), Vec3::splat(reach));
    let mut best: Option<Separation> = None;
    mesh.overlapping(around.grown(limit.max(0.0)), |t| {
        let corners = mesh.corners(t);
        // About its middle: far from the mesh's origin no digits are lost.
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let pose = pose_a.compose(&Pose::from_position(middle));
        let triangle = Core::Triangle(corners.map(|c| c - middle));
        let within = best.map_or(limit, |b| b.distance.max(0.0));
        let found = convex((triangle, 0.0), &pose, core, pose_b, within)?;
        if best.is_none_or(|b| found.distance < b.distance) {
            best = Some(found);
            return Some(around.grown(found.distance.max(0.0)));
        }
        None
    });
    best
}

/// Two meshes: their nearest triangles, or the deepest loop along which they cross. A mesh inside another that does not touch it is
/// apart from it.
fn meshes(
    a: &TriangleMesh,
    pose_a: &Pose,
    b: &TriangleMesh,
    pose_b: &Pose,
    limit: f64,
) -> Option<Separation> {
    let b_in_a = pose_a.inverse().compose(pose_b);
    let mut best: Option<(f64, Vec3, Vec3)> = None;
    descend(a, b, &b_in_a, limit, |t, s| {
        let there = b.corners(s).map(|x| b_in_a.point(x));
        let (x, y) = closest_of_triangles(&a.corners(t), &there);
        let distance = (y - x).length();
        if best.is_some_and(|b| distance >= b.0) {
            return Descent::On;
        }
        best = Some((distance, x, y));
        if distance > 0.0 {
            Descent::Within(distance)
        } else {
            Descent::Stop
        }
    });
    let (distance, x, y) = best?;
    let mut found = Separation {
        distance,
        normal: (y - x).normalize_or(Vec3::Z),
        point_a: x,
        point_b: y,
    };
    if found.distance <= 0.0 {
        let loops = crossing_loops(a, b, &b_in_a);
        let deepest = loops
            .iter()
            .reduce(|l, m| if m.depth > l.depth { m } else { l });
        if let Some(l) = deepest {
            let x = l.center();
            found = Separation {
                distance: -l.depth,
                normal: l.normal,
                point_a: x + l.normal * (0.5 * l.depth),
                point_b: x - l.normal * (0.5 * l.depth),
            };
        }
    }
    Some(Separation {
        distance: found.distance,
        normal: pose_a.vector(found.normal),
        point_a: pose_a.point(found.point_a),
        point_b: pose_a.point(found.point_b),
    })
}

/// Two thickened cores, up to `limit`.
pub(crate) fn convex(
    (a, radius_a): (Core<'_>, f64),
    pose_a: &Pose,
    (b, radius_b): (Core<'_>, f64),
    pose_b: &Pose,
    limit: f64,
) -> Option<Separation> {
    if let (Some(half_a), Some(half_b)) = (half_segment(&a), half_segment(&b)) {
        let s = segments(half_a, pose_a, half_b, pose_b);
        return Some(Separation {
            distance: s.distance - radius_a - radius_b,
            point_a: s.point_a + s.normal * radius_a,
            point_b: s.point_b - s.normal * radius_b,
            ..s
        });
    }
    let mut pair = ConvexPair::new(a, pose_a, b, pose_b);
    let found = cores(&mut pair, limit + radius_a + radius_b)?;
    let (x_a, x_b) = found.simplex.witnesses();
    let normal = pose_a.vector(found.normal);
    let (x_a, x_b) = (pose_a.point(x_a), pose_b.point(x_b));
    // Apart, the line that joins the cores leads to the surfaces; it may differ from the normal by a rounding.
    let across = if found.distance > TOUCH * pair.size() {
        (x_b - x_a).normalize_or(normal)
    } else {
        normal
    };
    Some(Separation {
        distance: found.distance - radius_a - radius_b,
        normal,
        point_a: x_a + across * radius_a,
        point_b: x_b - across * radius_b,
    })
}

/// Half the length of a core that is a point or a segment [m].
const fn half_segment(core: &Core<'_>) -> Option<f64> {
    match core {
        Core::Point => Some(0.0),
        Core::Segment { half_length } => Some(*half_length),
        _ => None,
    }
}

/// Two segments along their z axes: the difference of two is flat, so there is no polytope to grow in it.
fn segments(half_a: f64, pose_a: &Pose, half_b: f64, pose_b: &Pose) -> Separation {
    let (d, e) = (pose_a.vector(Vec3::Z), pose_b.vector(Vec3::Z));
    let (p, q) = (pose_a.position, pose_b.position);
    // Points p + s d and q + t e: the ends against the other segment, and the crossing of the lines.
    let r = q - p;
    let on_a = |t: f64| d.dot(r + e * t).clamp(-half_a, half_a);
    let on_b = |s: f64| e.dot(d * s - r).clamp(-half_b, half_b);
    let cross = d.cross(e);
    let sin_2 = cross.length_squared();
    let s = if sin_2 > 0.0 {
        (r.cross(e).dot(cross) / sin_2).clamp(-half_a, half_a)
    } else {
        0.0
    };
    let t = on_b(s);
    let candidates = [
        (on_a(t), t),
        (-half_a, on_b(-half_a)),
        (half_a, on_b(half_a)),
        (on_a(-half_b), -half_b),
        (on_a(half_b), half_b),
    ];
    let gap = |(s, t): (f64, f64)| r + e * t - d * s;
    let mut best = candidates[0];
    for c in &candidates[1..] {
        if gap(*c).length_squared() < gap(best).length_squared() {
            best = *c;
        }
    }
    let v = gap(best);
    let length = v.length();
    let (distance, normal) = if length > TOUCH * (half_a + half_b) && length > 0.0 {
        // Between the ends the gap is across the segment; of a short gap that is known better than its direction.
        let mut n = v / length;
        for (axis, inside) in [(d, best.0.abs() < half_a), (e, best.1.abs() < half_b)] {
            if inside {
                n = (n - axis * axis.dot(n)).normalize_or(v / length);
            }
        }
        (length, n)
    } else {
        // Crossing: the way out is across both; in line: any way across.
        // The rounding of a short cross product is no longer small once it has length one: it is taken out there.
        let across = cross.normalize_or(tangents(d).0);
        let across = (across - d * d.dot(across)).normalize_or(tangents(d).0);
        let side = if across.dot(v) < 0.0 { -across } else { across };
        (side.dot(v), side)
    };
    Separation {
        distance,
        normal,
        point_a: p + d * best.0,
        point_b: q + e * best.1,
    }
}

/// How two cores lie to each other, in A's frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoreSeparation {
    /// Signed distance [m].
    pub distance: f64,
    /// Unit normal from A to B.
    pub normal: Vec3,
    /// The points that are closest or deepest, as mixes of support points.
    pub simplex: Simplex,
    /// Vertices of two hulls that lie farthest along the normal, where the search ended with them.
    pub tops: [Option<u32>; 2],
}

/// Distance below which cores count as touching, relative to their sizes [1]: the difference of the points has no direction then.
const TOUCH: f64 = 1e-10;
/// A normal is good if the plane across it shows the distance to this part of the sizes [1].
const PROVEN: f64 = 1e-9;

/// How two cores lie to each other; `None` if farther apart than `limit` [m].
pub(crate) fn cores(pair: &mut ConvexPair<'_>, limit: f64) -> Option<CoreSeparation> {
    let mut out = CoreSeparation::default();
    cores_from(pair, limit, &mut Start::default(), &mut out).then_some(out)
}

/// The same, with where the last search ended: the answer is the same, only sooner. It is large, and written to `out` if there is one.
pub(crate) fn cores_from(
    pair: &mut ConvexPair<'_>,
    limit: f64,
    start: &mut Start,
    out: &mut CoreSeparation,
) -> bool {
    if let Some(hulls) = settle::hulls_of(pair) {
        return settle::hulls(pair, hulls, limit, start, out);
    }
    *out = match pair.distance(&Simplex::default(), limit) {
        Found::Beyond => return false,
        Found::Overlap { simplex } => {
            let depth = epa::penetration(pair, &simplex);
            overlapping(&level::agreeing(pair, depth))
        }
        Found::Apart { v, simplex } => apart(pair, v, simplex),
    };
    true
}

/// What a search found apart, with a normal that shows it.
pub(crate) fn apart(pair: &mut ConvexPair<'_>, v: Vec3, mut simplex: Simplex) -> CoreSeparation {
    let size = pair.size();
    // A point of A − B that exists bounds the distance; v is its projection, whose direction is the better one.
    let mut distance = simplex.point().length();
    if distance <= TOUCH * size {
        // The points are right, and so is a normal that shows about as much.
        let mut depth = epa::penetration(pair, &simplex);
        if depth.depth > TOUCH * size {
            (depth.normal, depth.depth) = level::levelled(pair, depth.normal, depth.depth, 0.0);
        }
        return CoreSeparation {
            simplex,
            ..overlapping(&depth)
        };
    }
    let mut normal = (-v).normalize_or(Vec3::Z);
    // Of close and nearly parallel faces the closest points are right long before their difference points across the gap:
    // a face normal may show more of the distance.
    let mut shown = -normal.dot(pair.support(normal).w);
    if distance - shown > PROVEN * size {
        let depth = epa::penetration(pair, &simplex);
        if -depth.depth > shown {
            (normal, shown) = (depth.normal, -depth.depth);
        }
        // Points that are closer to each other are better ones.
        let other = level::between(pair, &depth.simplex).length();
        if distance - shown > PROVEN * size && other < distance {
            (simplex, distance) = (depth.simplex, other);
        }
        if distance - shown > PROVEN * size {
            normal = level::levelled(pair, normal, -shown, -distance).0;
        }
    }
    CoreSeparation {
        distance,
        normal,
        simplex,
        tops: [None; 2],
    }
}

/// What a search found to overlap.
pub(crate) fn overlapping(depth: &Depth) -> CoreSeparation {
    CoreSeparation {
        // What rounding cannot tell from touching is not apart.
        distance: -depth.depth.max(0.0),
        normal: depth.normal,
        simplex: depth.simplex,
        tops: [None; 2],
    }
}
