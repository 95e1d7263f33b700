//! What the triangles of a mesh are to each other: neighbours, rings of vertices, normals at corners, owners of shared features.
//!
//! Reads: vertices, triangles, normals.  Writes: nothing (pure functions).
//! Called by: `shape::triangle_mesh`.
//! Source: normals weighted by angle tell inside from outside at corners, [BaerentzenAanaes05]; each vertex and edge has one triangle that
//! owns it, so that pairs of features are met once however triangles share them, [Curtis08].

use super::triangle_mesh::MeshEdge;
use crate::math::Vec3;

/// Sine of the angle between neighbours up to which their edge is flat [1].
const TRIANGLE_MESH_FLAT: f64 = 1e-6;
/// No triangle.
pub(crate) const NO_TRIANGLE: u32 = u32::MAX;

/// Neighbourhood of triangles and vertices.
#[derive(Clone, Debug, Default)]
pub(super) struct Topology {
    /// By triangle: what lies beyond its edges.
    pub edges: Vec<[MeshEdge; 3]>,
    /// By triangle: the neighbour across each edge, or [`NO_TRIANGLE`].
    pub across: Vec<[u32; 3]>,
    /// By triangle: bits 0 to 2 for corners it owns that are not in the middle of a plane, bits 3 to 5 for edges that it owns and that are convex or open.
    pub owned: Vec<u8>,
    /// By vertex: where its ring starts; one more at the end.
    pub ring_start: Vec<u32>,
    /// Vertices that share an edge with a vertex, in ascending order.
    pub ring: Vec<u32>,
    /// By vertex: mean normal of its triangles, weighted by their angles there; zero for vertices of no triangle.
    pub vertex_normals: Vec<Vec3>,
}

impl Topology {
    pub fn new(vertices: &[Vec3], triangles: &[[u32; 3]], normals: &[Vec3]) -> Self {
        let (edges, across) = neighbours(vertices, triangles, normals);
        let (ring_start, ring) = rings(vertices.len(), triangles);
        Self {
            owned: owners(vertices.len(), triangles, &edges, &across),
            edges,
            across,
            ring_start,
            ring,
            vertex_normals: vertex_normals(vertices, triangles, normals),
        }
    }
}

fn neighbours(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    normals: &[Vec3],
) -> (Vec<[MeshEdge; 3]>, Vec<[u32; 3]>) {
    // (from, to, triangle, edge)
    let mut walks: Vec<(u32, u32, u32, u8)> = Vec::with_capacity(3 * triangles.len());
    for (i, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            walks.push((t[k], t[(k + 1) % 3], i as u32, k as u8));
        }
    }
    walks.sort_unstable();
    let of = |from: u32, to: u32| {
        let start = walks.partition_point(|w| (w.0, w.1) < (from, to));
        let end = walks.partition_point(|w| (w.0, w.1) <= (from, to));
        &walks[start..end]
    };
    let mut edges = vec![[MeshEdge::Open; 3]; triangles.len()];
    let mut across = vec![[NO_TRIANGLE; 3]; triangles.len()];
    for &(from, to, t, k) in &walks {
        // One triangle on either side, oriented alike; all else is open.
        let ([_], [other]) = (of(from, to), of(to, from)) else {
            continue;
        };
        let (n, m) = (normals[t as usize], normals[other.2 as usize]);
        let along = vertices[to as usize] - vertices[from as usize];
        // Sine of the turn about the edge: positive where the neighbour falls away.
        let turn = n.cross(m).dot(along.normalize_or_zero());
        edges[t as usize][k as usize] = if turn.abs() <= TRIANGLE_MESH_FLAT && n.dot(m) > 0.0 {
            MeshEdge::Flat
        } else if turn > 0.0 {
            MeshEdge::Convex(other.2)
        } else {
            MeshEdge::Concave
        };
        across[t as usize][k as usize] = other.2;
    }
    (edges, across)
}

/// Each vertex belongs to the first triangle that names it, each edge to the lower of its two. A vertex whose edges are all flat belongs to
/// none: it is never nearer to anything than what is around it.
fn owners(
    vertices: usize,
    triangles: &[[u32; 3]],
    edges: &[[MeshEdge; 3]],
    across: &[[u32; 3]],
) -> Vec<u8> {
    let mut seen = vec![true; vertices];
    for (t, e) in triangles.iter().zip(edges) {
        for k in (0..3).filter(|k| e[*k] != MeshEdge::Flat) {
            seen[t[k] as usize] = false;
            seen[t[(k + 1) % 3] as usize] = false;
        }
    }
    let mut owned = vec![0_u8; triangles.len()];
    for (i, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            if !std::mem::replace(&mut seen[t[k] as usize], true) {
                owned[i] |= 1 << k;
            }
            // No neighbour is higher than any.
            let sharp = matches!(edges[i][k], MeshEdge::Open | MeshEdge::Convex(_));
            if sharp && across[i][k] > i as u32 {
                owned[i] |= 8 << k;
            }
        }
    }
    owned
}

fn rings(vertices: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(6 * triangles.len());
    for t in triangles {
        for k in 0..3 {
            let (u, v) = (t[k], t[(k + 1) % 3]);
            pairs.extend([(u, v), (v, u)]);
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut start = vec![0_u32; vertices + 1];
    for &(u, _) in &pairs {
        start[u as usize + 1] += 1;
    }
    for v in 0..vertices {
        start[v + 1] += start[v];
    }
    (start, pairs.into_iter().map(|p| p.1).collect())
}

fn vertex_normals(vertices: &[Vec3], triangles: &[[u32; 3]], normals: &[Vec3]) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; vertices.len()];
    for (t, n) in triangles.iter().zip(normals) {
        let x = t.map(|v| vertices[v as usize]);
        for k in 0..3 {
            let (u, v) = (x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]);
            let angle = libm::atan2(u.cross(v).length(), u.dot(v));
            out[t[k] as usize] += *n * angle;
        }
    }
    out.iter_mut().for_each(|n| *n = n.normalize_or_zero());
    out
}
