//! A convex hull: vertices, flat faces, neighbours, and the vertex farthest along a direction.
//!
//! Reads: points.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`, `shape::support`, the polyhedral pairs of `collide`.
//! Source: [Barber96] for the hull; mass by `shape::mesh`.

use super::climb::Climb;
use super::quickhull::{RESOLUTION, quickhull};
use super::{Aabb, MassProperties, mesh_mass_properties};
use crate::error::BuildError;
use crate::math::{Mat3, Pose, Vec3};

/// Most vertices of a hull: its features must fit their names.
pub const HULL_VERTICES_MAX: usize = 60_000;
/// Most points a hull is made of.
const POINTS_MAX: usize = 4_000_000;

/// A flat face: a convex polygon, counter-clockwise seen from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullFace {
    /// Unit outward normal.
    pub normal: Vec3,
    /// Height of the plane along the normal [m].
    pub offset: f64,
    /// Twice its area [m²].
    pub(crate) area: f64,
    /// Its first vertex [m], kept here because it is asked for before the others.
    pub(crate) first: Vec3,
    /// First of its vertices in the list of loops.
    start: u32,
    /// Number of its vertices.
    count: u32,
}

/// A face seen from one of its vertices.
#[derive(Clone, Copy, Debug)]
struct Around {
    normal: Vec3,
    face: u32,
}

/// The smallest convex solid that holds a set of points.
///
/// Points closer than 1e-9 of the extent count as one; solids thinner than that are refused. Faces that are flat within 1e-9 of
/// the extent are one polygon.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(
        try_from = "super::serialised::Surface",
        into = "super::serialised::Surface"
    )
)]
pub struct ConvexHull {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    faces: Vec<HullFace>,
    /// Vertices of all faces.
    loops: Vec<u32>,
    /// Faces around vertex i, with their normals, are `around[first_face[i] .. first_face[i + 1]]`.
    around: Vec<Around>,
    first_face: Vec<u32>,
    climb: Climb,
    /// Mass properties at density 1.
    unit: MassProperties,
    reach: f64,
    /// Radius of a ball about the centre of mass that lies inside [m].
    inner: f64,
}

impl PartialEq for ConvexHull {
    fn eq(&self, other: &Self) -> bool {
        self.vertices == other.vertices && self.triangles == other.triangles
    }
}

impl ConvexHull {
    /// The hull of `points` [m]; refuses fewer than four, and points that all lie in a plane.
    pub fn new(points: &[Vec3]) -> Result<Self, BuildError> {
        if points.len() > POINTS_MAX {
            return Err(BuildError::new(
                "points",
                format!("{} points, more than {POINTS_MAX}", points.len()),
            ));
        }
        let (vertices, triangles) = quickhull(points)?;
        Self::from_surface(vertices, triangles)
    }

    /// A hull from its own vertices and triangles, as [`ConvexHull::triangles`] gives them. Convexity is the caller's word.
    pub(crate) fn from_surface(
        vertices: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Self, BuildError> {
        if vertices.len() > HULL_VERTICES_MAX {
            return Err(BuildError::new(
                "points",
                format!(
                    "the hull has {} vertices, more than {HULL_VERTICES_MAX}",
                    vertices.len()
                ),
            ));
        }
        let unit = mesh_mass_properties(&vertices, &triangles, 1.0)?;
        let reach = vertices.iter().map(|v| v.length()).fold(0.0, f64::max);
        let (neighbours, first) = adjacency(vertices.len(), &triangles);
        let (faces, loops) = flat_faces(&vertices, &triangles);
        let (around, first_face) = faces_around(vertices.len(), &faces, &loops);
        let climb = Climb::new(&vertices, &neighbours, &first);
        let height = |f: &HullFace| f.offset - f.normal.dot(unit.center);
        let inner = faces.iter().map(height).fold(f64::INFINITY, f64::min);
        Ok(Self {
            vertices,
            triangles,
            faces,
            loops,
            around,
            first_face,
            climb,
            unit,
            reach,
            // Vertices may lie lower than the plane of their face by the resolution.
            inner: inner - 4.0 * RESOLUTION * reach,
        })
    }

    /// Vertices in the shape frame [m].
    #[must_use]
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Triangles of the surface, counter-clockwise seen from outside; faces with more corners are cut into several.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Flat faces.
    #[must_use]
    pub fn faces(&self) -> &[HullFace] {
        &self.faces
    }

    /// Vertices of face `i` in order.
    #[must_use]
    pub fn face_vertices(&self, i: usize) -> &[u32] {
        let f = &self.faces[i];
        &self.loops[f.start as usize..(f.start + f.count) as usize]
    }

    /// Faces that meet in vertex `i`.
    pub fn faces_of_vertex(&self, i: usize) -> impl Iterator<Item = u32> + '_ {
        self.fan(i).iter().map(|a| a.face)
    }

    fn fan(&self, i: usize) -> &[Around] {
        &self.around[self.first_face[i] as usize..self.first_face[i + 1] as usize]
    }

    /// The vertex farthest along `d`, climbing from vertex `hint` if it is one.
    #[must_use]
    pub fn support(&self, d: Vec3, hint: u32) -> u32 {
        self.climb.support(d, hint).0
    }

    /// The same with its place [m].
    #[inline(always)]
    pub(super) fn support_point(&self, d: Vec3, hint: u32) -> (u32, Vec3) {
        self.climb.support(d, hint)
    }

    /// Whether all vertices but `names`, which differ and are neighbours of each other, lie below `height` along `d` [m].
    pub(crate) fn stand_out(&self, d: Vec3, names: &[u32], height: f64) -> bool {
        self.climb.stand_out(d, names, height)
    }

    /// Vertex `i`, from where the search for the farthest one has it at hand [m].
    #[inline]
    pub(crate) fn vertex(&self, i: u32) -> Vec3 {
        self.climb.at(i)
    }

    /// The face whose normal is nearest to `d`, among those around `vertex`.
    #[must_use]
    pub fn face_along(&self, d: Vec3, vertex: u32) -> usize {
        let (mut best, mut value) = (0, f64::NEG_INFINITY);
        for a in self.fan(vertex as usize) {
            // No branch: nothing could foretell it.
            let x = d.dot(a.normal);
            let higher = x > value;
            best = if higher { a.face } else { best };
            value = if higher { x } else { value };
        }
        best as usize
    }

    pub(super) fn reach(&self) -> f64 {
        self.reach
    }

    /// Radius of a ball about the centre of mass that lies inside [m].
    pub(crate) fn inner(&self) -> f64 {
        self.inner
    }

    pub(crate) fn center(&self) -> Vec3 {
        self.unit.center
    }

    pub(super) fn volume(&self) -> f64 {
        self.unit.mass
    }

    pub(super) fn mass_properties(&self, density: f64) -> MassProperties {
        self.unit.scaled(density)
    }

    pub(super) fn bounds(&self, pose: &Pose) -> Aabb {
        let r = Mat3::from_quat(pose.rotation).transpose();
        let (mut min, mut max) = (Vec3::ZERO, Vec3::ZERO);
        for k in 0..3 {
            // Row k of the rotation: world coordinate k of a point x is row · x.
            let row = r.col(k);
            max[k] = row.dot(self.support_point(row, u32::MAX).1);
            min[k] = row.dot(self.support_point(-row, u32::MAX).1);
        }
        Aabb {
            min: pose.position + min,
            max: pose.position + max,
        }
    }
}

/// Lists by vertex: turns (vertex, item) pairs into one array and the first place of each vertex.
fn by_vertex(count: usize, mut pairs: Vec<(u32, u32)>) -> (Vec<u32>, Vec<u32>) {
    pairs.sort_unstable();
    pairs.dedup();
    let mut first = vec![0; count + 1];
    for (v, _) in &pairs {
        first[*v as usize + 1] += 1;
    }
    for i in 0..count {
        first[i + 1] += first[i];
    }
    (pairs.into_iter().map(|(_, x)| x).collect(), first)
}

fn adjacency(count: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let edges = triangles
        .iter()
        .flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]);
    by_vertex(count, edges.flat_map(|(u, v)| [(u, v), (v, u)]).collect())
}

fn faces_around(count: usize, faces: &[HullFace], loops: &[u32]) -> (Vec<Around>, Vec<u32>) {
    let mut pairs = Vec::with_capacity(loops.len());
    for (i, f) in faces.iter().enumerate() {
        for v in &loops[f.start as usize..(f.start + f.count) as usize] {
            pairs.push((*v, i as u32));
        }
    }
    let (around, first) = by_vertex(count, pairs);
    let seen = |face: u32| Around {
        normal: faces[face as usize].normal,
        face,
    };
    (around.into_iter().map(seen).collect(), first)
}

/// Merges triangles of one plane into polygons, from the largest triangle on.
fn flat_faces(vertices: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<HullFace>, Vec<u32>) {
    let at = |i: u32| vertices[i as usize];
    let size = vertices
        .iter()
        .fold(0.0_f64, |s, v| s.max((*v - vertices[0]).length()));
    let tolerance = RESOLUTION * size;
    let area = |t: &[u32; 3]| (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0]));
    // Directed edge -> triangle, sorted for search.
    let mut edges: Vec<(u32, u32, u32)> = Vec::with_capacity(3 * triangles.len());
    for (i, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            edges.push((t[k], t[(k + 1) % 3], i as u32));
        }
    }
    edges.sort_unstable();
    let across = |u: u32, v: u32| {
        let i = edges.partition_point(|e| (e.0, e.1) < (v, u));
        edges.get(i).filter(|e| (e.0, e.1) == (v, u)).map(|e| e.2)
    };
    let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
    let areas: Vec<f64> = triangles.iter().map(|t| area(t).length_squared()).collect();
    order.sort_by(|&i, &j| {
        areas[j as usize]
            .total_cmp(&areas[i as usize])
            .then(i.cmp(&j))
    });
    let mut face_of = vec![u32::MAX; triangles.len()];
    let (mut faces, mut loops) = (Vec::new(), Vec::new());
    for &seed in &order {
        if face_of[seed as usize] != u32::MAX {
            continue;
        }
        let name = faces.len() as u32;
        let t = &triangles[seed as usize];
        let normal = area(t).try_normalize().unwrap_or(Vec3::Z);
        let offset = normal.dot(at(t[0]));
        let in_plane = |t: &[u32; 3]| {
            t.iter()
                .all(|&v| (normal.dot(at(v)) - offset).abs() <= tolerance)
        };
        face_of[seed as usize] = name;
        let mut members = vec![seed];
        let mut k = 0;
        while k < members.len() {
            let t = triangles[members[k] as usize];
            for e in 0..3 {
                let Some(there) = across(t[e], t[(e + 1) % 3]) else {
                    continue;
                };
                let other = &triangles[there as usize];
                // Slivers have no normal of their own worth asking; the others must not look the other way.
                if face_of[there as usize] == u32::MAX
                    && in_plane(other)
                    && area(other).dot(normal) >= -tolerance * size
                {
                    face_of[there as usize] = name;
                    members.push(there);
                }
            }
            k += 1;
        }
        let rim = rim(&members, triangles, &face_of, name, &across);
        let rim = rim.unwrap_or_else(|| {
            // No simple polygon: keep the seed alone, its fellows will seed their own.
            for &m in &members[1..] {
                face_of[m as usize] = u32::MAX;
            }
            triangles[seed as usize].to_vec()
        });
        faces.push(polygon(vertices, &rim, normal, loops.len()));
        loops.extend(rim);
    }
    (faces, loops)
}

/// The boundary of a set of triangles as one loop.
fn rim(
    members: &[u32],
    triangles: &[[u32; 3]],
    face_of: &[u32],
    name: u32,
    across: &dyn Fn(u32, u32) -> Option<u32>,
) -> Option<Vec<u32>> {
    let mut steps: Vec<(u32, u32)> = Vec::new();
    for &m in members {
        let t = triangles[m as usize];
        for e in 0..3 {
            let (u, v) = (t[e], t[(e + 1) % 3]);
            if across(u, v).is_none_or(|there| face_of[there as usize] != name) {
                steps.push((u, v));
            }
        }
    }
    steps.sort_unstable();
    if steps.len() < 3 || steps.windows(2).any(|w| w[0].0 == w[1].0) {
        return None;
    }
    let mut out = vec![steps[0].0];
    for _ in 0..steps.len() {
        let here = *out.last()?;
        let i = steps.binary_search_by_key(&here, |s| s.0).ok()?;
        let next = steps[i].1;
        if next == out[0] {
            return (out.len() == steps.len()).then_some(out);
        }
        out.push(next);
    }
    None
}

/// A face from its loop: Newell's normal, and the plane through its highest vertex.
fn polygon(vertices: &[Vec3], rim: &[u32], otherwise: Vec3, start: usize) -> HullFace {
    let at = |i: u32| vertices[i as usize];
    let o = at(rim[0]);
    let mut sum = Vec3::ZERO;
    for k in 1..rim.len() {
        sum += (at(rim[k]) - o).cross(at(rim[(k + 1) % rim.len()]) - o);
    }
    let normal = sum.try_normalize().unwrap_or(otherwise);
    let offset = rim
        .iter()
        .fold(f64::NEG_INFINITY, |h, &v| h.max(normal.dot(at(v))));
    let area = (2..rim.len())
        .map(|k| normal.dot((at(rim[k - 1]) - o).cross(at(rim[k]) - o)))
        .sum();
    HullFace {
        normal,
        offset,
        area,
        first: o,
        start: start as u32,
        count: rim.len() as u32,
    }
}
