//! A triangle mesh: a surface that stops what comes from its front. If it is closed it is the skin of a solid.
//!
//! Reads: vertices, triangles.  Writes: nothing (pure functions).
//! Called by: `shape::Shape`, `collide::pair_mesh`, `collide::pair_mesh_mesh`, `geometry`.
//! Source: a tree of boxes halved at the median, as in [Ericson05] §6.2. Neighbours tell flat, convex and concave edges apart, so that
//! bodies slide over the seams of a flat ground.

use super::mass::MassProperties;
use super::mesh::mesh_mass_properties;
use super::mesh_topology::{NO_TRIANGLE, Topology};
use super::{Aabb, ConvexHull};
use crate::error::BuildError;
use crate::math::{Mat3, Pose, Vec3};

/// Most triangles of a mesh.
pub const MESH_TRIANGLES_MAX: usize = 4_000_000;
/// Triangles of a leaf of the tree.
const LEAF: usize = 4;
/// Doubled area over the squared longest edge at or below which a triangle has no plane [1].
const SLIVER: f64 = 1e-12;
/// Largest coordinate of a vertex [m].
const FAR: f64 = 1e9;

/// What lies beyond an edge of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshEdge {
    /// Nothing, or something that does not fit.
    Open,
    /// A neighbour in the same plane.
    Flat,
    /// A neighbour that falls away.
    Convex(
        /// The neighbour.
        u32,
    ),
    /// A neighbour that rises.
    Concave,
}

/// A node of the tree: a leaf has `count` triangles from `start` on, others have their children at `start` and `start + 1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub bounds: Aabb,
    pub start: u32,
    pub count: u32,
}

/// Triangles, counter-clockwise seen from the front.
///
/// Vertices at the same place are one. Triangles without area are left out.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(
        try_from = "super::serialised::Surface",
        into = "super::serialised::Surface"
    )
)]
pub struct TriangleMesh {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    normals: Vec<Vec3>,
    topology: Topology,
    nodes: Vec<Node>,
    /// Triangles in the order of the leaves.
    order: Vec<u32>,
    reach: f64,
    /// Mass, centre and inertia at 1 kg/m³ of the solid that the mesh bounds, or why it bounds none.
    solid: Result<MassProperties, BuildError>,
    inside_out: bool,
    half_width: f64,
}

impl PartialEq for TriangleMesh {
    fn eq(&self, other: &Self) -> bool {
        self.vertices == other.vertices && self.triangles == other.triangles
    }
}

impl TriangleMesh {
    /// A mesh of `vertices` [m] and triangles that name them; refuses indices out of range, coordinates that are not finite or beyond
    /// 1e9 m, and meshes without a triangle that has an area.
    pub fn new(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, BuildError> {
        if triangles.len() > MESH_TRIANGLES_MAX || vertices.len() > 3 * MESH_TRIANGLES_MAX {
            return Err(BuildError::new(
                "triangles",
                format!(
                    "{} triangles, more than {MESH_TRIANGLES_MAX}",
                    triangles.len()
                ),
            ));
        }
        for (i, v) in vertices.iter().enumerate() {
            if !(v.is_finite() && v.abs().max_element() <= FAR) {
                let reason = format!("must be finite and at most {FAR:e} m, got {v}");
                return Err(BuildError::new(format!("vertices[{i}]"), reason));
            }
        }
        for (i, t) in triangles.iter().enumerate() {
            if let Some(v) = t.iter().find(|v| **v as usize >= vertices.len()) {
                let reason = format!("vertex {v} is out of range, there are {}", vertices.len());
                return Err(BuildError::new(format!("triangles[{i}]"), reason));
            }
        }
        let (vertices, place) = weld(vertices);
        let mut kept = Vec::with_capacity(triangles.len());
        let mut normals = Vec::with_capacity(triangles.len());
        for t in triangles {
            let t = t.map(|i| place[i as usize]);
            let [a, b, c] = t.map(|i| vertices[i as usize]);
            let cross = (b - a).cross(c - a);
            let edge = (b - a).length().max((c - a).length());
            if cross.length() > SLIVER * edge * edge {
                kept.push(t);
                normals.push(cross.normalize());
            }
        }
        if kept.is_empty() {
            return Err(BuildError::new("triangles", "none has an area"));
        }
        let topology = Topology::new(&vertices, &kept, &normals);
        let reach = vertices.iter().map(|v| v.length()).fold(0.0, f64::max);
        let (solid, inside_out) = solid(&vertices, triangles, &place);
        let mut mesh = Self {
            vertices,
            triangles: kept,
            normals,
            topology,
            nodes: Vec::new(),
            order: Vec::new(),
            reach,
            solid,
            inside_out,
            half_width: 0.0,
        };
        mesh.grow_tree();
        mesh.half_width = mesh.measure_half_width();
        Ok(mesh)
    }

    /// Vertices in the shape frame [m].
    #[must_use]
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Triangles by vertex, counter-clockwise seen from the front.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Corners of triangle `i` [m].
    #[must_use]
    pub fn corners(&self, i: u32) -> [Vec3; 3] {
        self.triangles[i as usize].map(|v| self.vertices[v as usize])
    }

    /// Unit normal of triangle `i`.
    #[must_use]
    pub fn normal(&self, i: u32) -> Vec3 {
        self.normals[i as usize]
    }

    /// What lies beyond the edges of triangle `i`; edge k runs from corner k to the next.
    #[must_use]
    pub fn edges(&self, i: u32) -> [MeshEdge; 3] {
        self.topology.edges[i as usize]
    }

    /// The triangle across edge `k` of triangle `i`, if exactly one fits there.
    #[must_use]
    pub fn neighbour(&self, i: u32, k: u8) -> Option<u32> {
        let t = self.topology.across[i as usize][k as usize];
        (t != NO_TRIANGLE).then_some(t)
    }

    /// Unit mean normal at a vertex; zero at vertices of no triangle.
    #[must_use]
    pub fn vertex_normal(&self, vertex: u32) -> Vec3 {
        self.topology.vertex_normals[vertex as usize]
    }

    /// Vertices that share an edge with a vertex.
    #[must_use]
    pub fn ring(&self, vertex: u32) -> &[u32] {
        let start = &self.topology.ring_start;
        &self.topology.ring[start[vertex as usize] as usize..start[vertex as usize + 1] as usize]
    }

    /// What triangle `i` answers for, of what it shares: bits 0 to 2 for its corners that have an edge which is not flat, bits 3 to 5 for its edges that are convex or open.
    pub(crate) fn owned(&self, i: u32) -> u8 {
        self.topology.owned[i as usize]
    }

    /// Why the mesh does not bound a solid (it is open, or its triangles do not agree on what is outside); none for a closed one.
    #[must_use]
    pub fn defect(&self) -> Option<&BuildError> {
        self.solid.as_ref().err()
    }

    /// Whether the mesh is closed and its front is inside: [`TriangleMesh::defect`] says so too.
    #[must_use]
    pub const fn is_inside_out(&self) -> bool {
        self.inside_out
    }

    /// Mass, centre and inertia at `density` [kg/m³]: exact for a closed mesh; of one that is not, those of its convex hull. Flat meshes
    /// have none.
    #[must_use]
    pub fn mass_properties(&self, density: f64) -> Option<MassProperties> {
        match &self.solid {
            Ok(m) => Some(m.scaled(density)),
            Err(_) => ConvexHull::new(&self.vertices)
                .ok()
                .map(|h| h.mass_properties(density)),
        }
    }

    fn measure_half_width(&self) -> f64 {
        let local = self.local_bounds();
        let narrow = 0.5 * (local.max - local.min).min_element();
        let area = |t: u32| {
            let [a, b, c] = self.corners(t);
            0.5 * (b - a).cross(c - a).length()
        };
        let surface: f64 = (0..self.triangles.len() as u32).map(area).sum();
        self.solid
            .as_ref()
            .map_or(narrow, |m| (m.mass / surface).min(narrow))
    }

    /// Half the mean thickness of the solid [m]: volume over surface, exact for plates and walls. Of an open mesh, half the smallest edge
    /// of its box.
    pub(crate) const fn half_width(&self) -> f64 {
        self.half_width
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Triangles of a leaf.
    pub(crate) fn leaf(&self, node: &Node) -> &[u32] {
        &self.order[node.start as usize..(node.start + node.count) as usize]
    }

    pub(super) const fn reach(&self) -> f64 {
        self.reach
    }

    /// Half the longest edge of the mesh's box [m].
    pub(crate) fn size(&self) -> f64 {
        let local = self.local_bounds();
        0.5 * (local.max - local.min).max_element()
    }

    /// Bounds in the shape frame.
    #[must_use]
    pub fn local_bounds(&self) -> Aabb {
        self.nodes.first().map_or(Aabb::EMPTY, |n| n.bounds)
    }

    pub(super) fn bounds(&self, pose: &Pose) -> Aabb {
        let local = self.local_bounds();
        let r = Mat3::from_quat(pose.rotation);
        let (center, half) = (0.5 * (local.min + local.max), 0.5 * (local.max - local.min));
        let extent = r.x_axis.abs() * half.x + r.y_axis.abs() * half.y + r.z_axis.abs() * half.z;
        Aabb::from_center(pose.point(center), extent)
    }

    /// Calls `visit` with every triangle whose box overlaps `bounds` (shape frame), always in the same order. `visit` may return
    /// narrower bounds to go on with.
    pub fn overlapping(&self, mut bounds: Aabb, mut visit: impl FnMut(u32) -> Option<Aabb>) {
        // Halving at the median keeps the depth below 2 + log₂ of the triangles.
        let mut stack = [0_u32; 64];
        let mut height = usize::from(!self.nodes.is_empty());
        while height > 0 {
            height -= 1;
            let node = &self.nodes[stack[height] as usize];
            if !node.bounds.overlaps(&bounds) {
                continue;
            }
            if node.count > 0 {
                for &t in self.leaf(node) {
                    if self.box_of(t).overlaps(&bounds)
                        && let Some(narrower) = visit(t)
                    {
                        bounds = narrower;
                    }
                }
            } else {
                stack[height] = node.start + 1;
                stack[height + 1] = node.start;
                height += 2;
            }
        }
    }

    fn box_of(&self, t: u32) -> Aabb {
        let [a, b, c] = self.corners(t);
        Aabb {
            min: a.min(b).min(c),
            max: a.max(b).max(c),
        }
    }

    fn grow_tree(&mut self) {
        let mut order: Vec<u32> = (0..self.triangles.len() as u32).collect();
        let centers: Vec<Vec3> = order
            .iter()
            .map(|&t| {
                let b = self.box_of(t);
                0.5 * (b.min + b.max)
            })
            .collect();
        let mut nodes = vec![Node {
            bounds: Aabb::EMPTY,
            start: 0,
            count: 0,
        }];
        // Ranges of triangles still to be made into nodes.
        let mut open = vec![(0_usize, 0_usize, order.len())];
        while let Some((node, first, last)) = open.pop() {
            let part = &mut order[first..last];
            let mut bounds = Aabb::EMPTY;
            let mut middle = Aabb::EMPTY;
            for &t in part.iter() {
                bounds = bounds.merged(&self.box_of(t));
                let c = centers[t as usize];
                middle = middle.merged(&Aabb { min: c, max: c });
            }
            nodes[node].bounds = bounds;
            if part.len() <= LEAF {
                (nodes[node].start, nodes[node].count) = (first as u32, part.len() as u32);
                continue;
            }
            let extent = middle.max - middle.min;
            let axis = if extent.x >= extent.y && extent.x >= extent.z {
                0
            } else if extent.y >= extent.z {
                1
            } else {
                2
            };
            let half = part.len() / 2;
            part.select_nth_unstable_by(half, |&s, &t| {
                let (x, y) = (centers[s as usize][axis], centers[t as usize][axis]);
                x.total_cmp(&y).then(s.cmp(&t))
            });
            let left = nodes.len();
            nodes[node].start = left as u32;
            let empty = Node {
                bounds: Aabb::EMPTY,
                start: 0,
                count: 0,
            };
            nodes.extend([empty, empty]);
            open.push((left + 1, first + half, last));
            open.push((left, first, first + half));
        }
        // The selection leaves each part in an order of its own: the order within a leaf is made the natural one.
        for n in nodes.iter().filter(|n| n.count > 0) {
            order[n.start as usize..(n.start + n.count) as usize].sort_unstable();
        }
        self.nodes = nodes;
        self.order = order;
    }
}

/// One vertex for each place, in order of first mention, and where each old vertex went.
fn weld(vertices: &[Vec3]) -> (Vec<Vec3>, Vec<u32>) {
    // −0 and 0 are the same place.
    let key = |v: Vec3| (v + Vec3::ZERO).to_array().map(f64::to_bits);
    let mut by_place: Vec<u32> = (0..vertices.len() as u32).collect();
    by_place.sort_unstable_by(|&i, &j| {
        let (x, y) = (key(vertices[i as usize]), key(vertices[j as usize]));
        x.cmp(&y).then(i.cmp(&j))
    });
    // First of each run of equals.
    let mut first = vec![0_u32; vertices.len()];
    for run in by_place.chunk_by(|&i, &j| key(vertices[i as usize]) == key(vertices[j as usize])) {
        for &i in run {
            first[i as usize] = run[0];
        }
    }
    let mut out = Vec::new();
    let mut place = vec![0_u32; vertices.len()];
    for i in 0..vertices.len() {
        if first[i] as usize == i {
            place[i] = out.len() as u32;
            out.push(vertices[i]);
        } else {
            place[i] = place[first[i] as usize];
        }
    }
    (out, place)
}

/// What the mesh bounds, at 1 kg/m³, or what is wrong with it; and whether turning all its triangles would mend that.
fn solid(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    place: &[u32],
) -> (Result<MassProperties, BuildError>, bool) {
    // Triangles without area still close a mesh; those that shrank to an edge do not count.
    let mut welded: Vec<[u32; 3]> = triangles
        .iter()
        .map(|t| t.map(|i| place[i as usize]))
        .filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0])
        .collect();
    let solid = mesh_mass_properties(vertices, &welded, 1.0);
    if solid.is_ok() {
        return (solid, false);
    }
    welded.iter_mut().for_each(|t| t.swap(1, 2));
    (solid, mesh_mass_properties(vertices, &welded, 1.0).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_a_roof() {
        // Two slopes meet in a ridge along y; a flat pair makes one of them.
        let v = [
            Vec3::new(-1.0, 0.0, 0.0),
            Vec3::new(-1.0, 1.0, 0.0),
            Vec3::new(0.0, 0.0, 1.0),
            Vec3::new(0.0, 1.0, 1.0),
            Vec3::new(1.0, 0.0, 0.0),
        ];
        let up = [[0, 2, 1], [2, 3, 1], [2, 4, 3]];
        let mesh = TriangleMesh::new(&v, &up).unwrap();
        assert_eq!(mesh.edges(0)[1], MeshEdge::Flat);
        assert_eq!(mesh.edges(1)[0], MeshEdge::Convex(2));
        assert_eq!(mesh.edges(2)[2], MeshEdge::Convex(1));
        assert_eq!(mesh.edges(2)[0], MeshEdge::Open);
        let down = up.map(|[a, b, c]| [a, c, b]);
        let mesh = TriangleMesh::new(&v, &down).unwrap();
        assert!(mesh.edges(1).contains(&MeshEdge::Concave));
    }

    #[test]
    fn tree_finds_what_a_scan_finds() {
        let mut vertices = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..40_u32 {
            for j in 0..40_u32 {
                let z = f64::from((i * 7 + j * 13) % 5);
                vertices.push(Vec3::new(f64::from(i), f64::from(j), z));
                if i > 0 && j > 0 {
                    let at = |i: u32, j: u32| 40 * i + j;
                    triangles.push([at(i - 1, j - 1), at(i, j - 1), at(i, j)]);
                    triangles.push([at(i - 1, j - 1), at(i, j), at(i - 1, j)]);
                }
            }
        }
        let mesh = TriangleMesh::new(&vertices, &triangles).unwrap();
        for k in 0..50 {
            let c = Vec3::new(f64::from(k), f64::from((k * 17) % 40), 2.0);
            let bounds = Aabb::from_center(c, Vec3::splat(1.7));
            let mut found = Vec::new();
            mesh.overlapping(bounds, |t| {
                found.push(t);
                None
            });
            found.sort_unstable();
            let all: Vec<u32> = (0..mesh.triangles().len() as u32)
                .filter(|&t| mesh.box_of(t).overlaps(&bounds))
                .collect();
            assert_eq!(found, all);
        }
    }

    #[test]
    fn refusals_and_repairs() {
        let v = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X];
        assert_eq!(
            TriangleMesh::new(&v, &[[0, 1, 9]]).unwrap_err().field,
            "triangles[0]"
        );
        assert_eq!(
            TriangleMesh::new(&[Vec3::NAN], &[]).unwrap_err().field,
            "vertices[0]"
        );
        assert_eq!(
            TriangleMesh::new(&[Vec3::splat(1e12)], &[])
                .unwrap_err()
                .field,
            "vertices[0]"
        );
        assert!(TriangleMesh::new(&v, &[]).is_err());
        assert!(TriangleMesh::new(&v, &[[0, 1, 3], [0, 0, 1]]).is_err());
        let mesh = TriangleMesh::new(&v, &[[0, 1, 2], [0, 3, 1]]).unwrap();
        assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (3, 1));
    }
}
