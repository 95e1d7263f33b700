//! The point of a mesh that is closest to a given one, and on which side of the surface that is.
//!
//! Reads: a mesh.  Writes: nothing (pure functions).
//! Called by: `collide::pair_mesh_mesh`, `geometry`, tests.
//! Source: [Ericson05] §5.1.5 (a triangle's regions), branch and bound over the mesh's tree; sides by [BaerentzenAanaes05].

use super::triangle_mesh::TriangleMesh;
use crate::math::Vec3;

/// A part of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrianglePart {
    /// Its inside.
    Face,
    /// The edge from corner k to the next.
    Edge(
        /// k
        u8,
    ),
    /// Corner k.
    Corner(
        /// k
        u8,
    ),
}

/// A point of a mesh as seen from another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshPoint {
    /// The point, in the shape frame [m].
    pub point: Vec3,
    /// Distance from the other point [m]; negative if that lies behind the surface.
    pub distance: f64,
    /// Its triangle.
    pub triangle: u32,
    /// Where on the triangle it lies.
    pub part: TrianglePart,
}

impl TriangleMesh {
    /// The point of the mesh closest to `x` (shape frame), if it is not farther away than `limit` [m].
    ///
    /// Of a closed mesh the distance is negative inside. Of an open one it tells front from back near the surface.
    #[must_use]
    pub fn closest(&self, x: Vec3, limit: f64) -> Option<MeshPoint> {
        let mut best: Option<(f64, MeshPoint)> = None;
        let mut bound = limit * limit;
        let mut stack = [(0_u32, 0.0_f64); 64];
        let mut height = usize::from(!self.nodes().is_empty());
        stack[0].1 = self
            .nodes()
            .first()
            .map_or(0.0, |n| n.bounds.squared_distance(x));
        while height > 0 {
            height -= 1;
            let (index, near) = stack[height];
            if near > bound {
                continue;
            }
            let node = &self.nodes()[index as usize];
            if node.count > 0 {
                for &t in self.leaf(node) {
                    let (point, part) = closest_on_triangle(x, &self.corners(t));
                    let squared = (x - point).length_squared();
                    if squared <= bound && best.is_none_or(|(d, _)| squared < d) {
                        bound = squared;
                        let found = MeshPoint {
                            point,
                            distance: 0.0,
                            triangle: t,
                            part,
                        };
                        best = Some((squared, found));
                    }
                }
                continue;
            }
            let children = [node.start, node.start + 1];
            let far = children.map(|c| self.nodes()[c as usize].bounds.squared_distance(x));
            // The nearer child is looked at first, so it is pushed last.
            let first = usize::from(far[1] < far[0]);
            stack[height] = (children[1 - first], far[1 - first]);
            stack[height + 1] = (children[first], far[first]);
            height += 2;
        }
        best.map(|(squared, found)| MeshPoint {
            distance: squared
                .sqrt()
                .copysign(self.outward(&found).dot(x - found.point)),
            ..found
        })
    }

    /// A vector out of the mesh at one of its points: of any length, and exact enough to tell the sides apart.
    fn outward(&self, at: &MeshPoint) -> Vec3 {
        let own = self.normal(at.triangle);
        match at.part {
            TrianglePart::Face => own,
            TrianglePart::Edge(k) => self
                .neighbour(at.triangle, k)
                .map_or(own, |t| own + self.normal(t)),
            TrianglePart::Corner(k) => {
                self.vertex_normal(self.triangles()[at.triangle as usize][k as usize])
            }
        }
    }
}

/// The point of a triangle closest to `x`.
pub(crate) fn closest_on_triangle(x: Vec3, [a, b, c]: &[Vec3; 3]) -> (Vec3, TrianglePart) {
    use TrianglePart::{Corner, Edge, Face};
    let (a, b, c) = (*a, *b, *c);
    let (ab, ac, ax) = (b - a, c - a, x - a);
    let (d1, d2) = (ab.dot(ax), ac.dot(ax));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Corner(0));
    }
    let bx = x - b;
    let (d3, d4) = (ab.dot(bx), ac.dot(bx));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Edge(0));
    }
    let cx = x - c;
    let (d5, d6) = (ab.dot(cx), ac.dot(cx));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return (b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), Edge(1));
    }
    let sum = va + vb + vc;
    (a + ab * (vb / sum) + ac * (vc / sum), Face)
}
