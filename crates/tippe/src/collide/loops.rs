//! The closed loops along which the surfaces of two meshes cross, with the direction and depth of the overlap that each bounds.
//!
//! Reads: two meshes, how one lies in the frame of the other.  Writes: nothing (pure functions).
//! Called by: `collide::pair_mesh_mesh`, `geometry`.
//! Source: [Lecture] "Near Phase – Analyzing" (CL-16). Two triangles cross in a segment; its ends are edges of one mesh through faces of the
//! other and name what comes next. Signs are exact (`math::orientation`). Where points, edges or faces of both meshes touch exactly, B
//! counts as shifted by an infinitesimal (ε, ε², ε³): coplanar triangles and edges through edges then are no special cases.

use super::descend::{Descent, descend};
use crate::math::orientation::{cross_sign, orientation};
use crate::math::{Pose, Vec3};
use crate::shape::TriangleMesh;
use std::collections::{BTreeMap, BTreeSet};

/// Vertices of one enclosed patch that are looked at.
const ENCLOSED_MAX: usize = 1 << 20;

/// An edge of one mesh through a face of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    /// Whether the edge is B's.
    edge_on_b: bool,
    /// Lower and higher vertex of the edge.
    edge: (u32, u32),
    face: u32,
}

/// How often each edge goes through the other mesh; by whether it is B's, lower and higher vertex.
type CrossedEdges = BTreeMap<(bool, (u32, u32)), u32>;

/// A loop along which two surfaces cross; in A's frame.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossingLoop {
    /// Corners in order [m]; the last is joined to the first if the loop is closed.
    pub points: Vec<Vec3>,
    /// Loops are open only at the border of an open mesh.
    pub closed: bool,
    /// Unit normal from A to B: the direction of the loop's vector area.
    pub normal: Vec3,
    /// Extent along the normal of what the loop bounds on both meshes [m].
    pub depth: f64,
    /// Vertices of A that it cuts off, which are in B, and of B in A; ascending.
    pub enclosed: (Vec<u32>, Vec<u32>),
    /// Whether it cuts off more vertices than are looked at: `enclosed` lacks some, and `depth` may be too small.
    pub cut_short: bool,
}

impl CrossingLoop {
    /// Mean of the corners, weighted by the segments beside them [m].
    #[must_use]
    pub fn center(&self) -> Vec3 {
        let (mut sum, mut total) = (Vec3::ZERO, 0.0);
        for (x, y) in segments(&self.points, self.closed) {
            let length = (y - x).length();
            sum += (x + y) * (0.5 * length);
            total += length;
        }
        if total > 0.0 {
            sum / total
        } else {
            self.points.first().copied().unwrap_or_default()
        }
    }

    /// At most `most` corners, far from each other.
    #[must_use]
    pub fn extreme_points(&self, most: usize) -> Vec<Vec3> {
        let center = self.center();
        let flat = |d: Vec3| (d - self.normal * self.normal.dot(d)).length_squared();
        let mut out: Vec<Vec3> = Vec::new();
        while out.len() < most.min(self.points.len()) {
            let mut best = (0.0, None);
            for x in &self.points {
                let far = out
                    .iter()
                    .map(|y| flat(*x - *y))
                    .fold(f64::INFINITY, f64::min);
                let far = if out.is_empty() {
                    flat(*x - center)
                } else {
                    far
                };
                if far > best.0 {
                    best = (far, Some(*x));
                }
            }
            let Some(x) = best.1 else { break };
            out.push(x);
        }
        out
    }
}

/// All loops along which the surfaces of two meshes cross, in A's frame; `b_in_a` leads from B's frame to it. The order is fixed.
#[must_use]
pub fn crossing_loops(a: &TriangleMesh, b: &TriangleMesh, b_in_a: &Pose) -> Vec<CrossingLoop> {
    loops_with(a, b, b_in_a, ENCLOSED_MAX)
}

/// The same with at most so many vertices of one patch.
fn loops_with(
    a: &TriangleMesh,
    b: &TriangleMesh,
    b_in_a: &Pose,
    enclosed_max: usize,
) -> Vec<CrossingLoop> {
    let pair = Pair {
        a,
        b,
        b_in_a,
        enclosed_max,
    };
    // Ends of segments, with the triangle pairs that they join.
    let mut links: BTreeMap<Crossing, Vec<Crossing>> = BTreeMap::new();
    let mut turn: BTreeMap<(Crossing, Crossing), Vec3> = BTreeMap::new();
    descend(a, b, b_in_a, 0.0, |t, s| {
        if let Some([x, y]) = pair.segment(t, s) {
            links.entry(x).or_default().push(y);
            links.entry(y).or_default().push(x);
            let along = a.normal(t).cross(b_in_a.vector(b.normal(s)));
            turn.insert((x, y), along);
        }
        Descent::On
    });
    let mut crossed = CrossedEdges::new();
    for c in links.keys() {
        *crossed.entry((c.edge_on_b, c.edge)).or_default() += 1;
    }
    let mut done: BTreeSet<Crossing> = BTreeSet::new();
    let mut out = Vec::new();
    // Open chains first, from their ends.
    let ends = links.iter().filter(|(_, l)| l.len() == 1).map(|(c, _)| *c);
    let starts: Vec<Crossing> = ends.chain(links.keys().copied()).collect();
    for start in starts {
        if done.contains(&start) {
            continue;
        }
        let (chain, closed) = walk(start, &links, &mut done);
        out.extend(pair.measure(&chain, closed, &turn, &crossed));
    }
    out
}

/// Follows links from `start` until they end or come back.
fn walk(
    start: Crossing,
    links: &BTreeMap<Crossing, Vec<Crossing>>,
    done: &mut BTreeSet<Crossing>,
) -> (Vec<Crossing>, bool) {
    let mut chain = vec![start];
    done.insert(start);
    let mut at = start;
    loop {
        let next = links
            .get(&at)
            .and_then(|l| l.iter().find(|c| !done.contains(c)));
        let Some(next) = next else { break };
        done.insert(*next);
        chain.push(*next);
        at = *next;
    }
    let closed = chain.len() > 2 && links.get(&at).is_some_and(|l| l.contains(&start));
    (chain, closed)
}

fn segments(points: &[Vec3], closed: bool) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
    let count = if closed {
        points.len()
    } else {
        points.len().saturating_sub(1)
    };
    (0..count).map(move |k| (points[k], points[(k + 1) % points.len()]))
}

struct Pair<'a> {
    a: &'a TriangleMesh,
    b: &'a TriangleMesh,
    b_in_a: &'a Pose,
    enclosed_max: usize,
}

impl Pair<'_> {
    fn vertex(&self, on_b: bool, v: u32) -> Vec3 {
        if on_b {
            self.b_in_a.point(self.b.vertices()[v as usize])
        } else {
            self.a.vertices()[v as usize]
        }
    }

    fn triangle(&self, on_b: bool, t: u32) -> [u32; 3] {
        if on_b {
            self.b.triangles()[t as usize]
        } else {
            self.a.triangles()[t as usize]
        }
    }

    fn corners(&self, on_b: bool, t: u32) -> [Vec3; 3] {
        self.triangle(on_b, t).map(|v| self.vertex(on_b, v))
    }

    /// The two ends of the segment in which two triangles cross.
    fn segment(&self, t: u32, s: u32) -> Option<[Crossing; 2]> {
        let mut found = [None; 2];
        let mut count = 0;
        for edge_on_b in [false, true] {
            let (own, face) = if edge_on_b { (s, t) } else { (t, s) };
            let vertices = self.triangle(edge_on_b, own);
            let plane = self.corners(!edge_on_b, face);
            let sides = vertices.map(|v| side(self.vertex(edge_on_b, v), &plane, edge_on_b));
            if sides[0] == sides[1] && sides[1] == sides[2] {
                return None;
            }
            for k in 0..3 {
                let l = (k + 1) % 3;
                if sides[k] == sides[l] {
                    continue;
                }
                let edge = (vertices[k].min(vertices[l]), vertices[k].max(vertices[l]));
                let (p, q) = (
                    self.vertex(edge_on_b, edge.0),
                    self.vertex(edge_on_b, edge.1),
                );
                if through(p, q, &plane, edge_on_b) {
                    if count < 2 {
                        found[count] = Some(Crossing {
                            edge_on_b,
                            edge,
                            face,
                        });
                    }
                    count += 1;
                }
            }
        }
        match found {
            [Some(x), Some(y)] if count == 2 => Some([x, y]),
            _ => None,
        }
    }

    /// Where an edge goes through its face [m].
    fn place(&self, c: &Crossing) -> Vec3 {
        let (p, q) = (
            self.vertex(c.edge_on_b, c.edge.0),
            self.vertex(c.edge_on_b, c.edge.1),
        );
        let [x, y, z] = self.corners(!c.edge_on_b, c.face);
        let n = (y - x).cross(z - x);
        let (above, below) = (n.dot(p - x), n.dot(q - x));
        let part = above / (above - below);
        p + (q - p)
            * if part.is_finite() {
                part.clamp(0.0, 1.0)
            } else {
                0.5
            }
    }

    fn measure(
        &self,
        chain: &[Crossing],
        closed: bool,
        turn: &BTreeMap<(Crossing, Crossing), Vec3>,
        crossed: &CrossedEdges,
    ) -> Option<CrossingLoop> {
        let points: Vec<Vec3> = chain.iter().map(|c| self.place(c)).collect();
        if points.len() < 2 {
            return None;
        }
        // About the first corner, so that far loops lose no digits.
        let o = points[0];
        let area: Vec3 = segments(&points, closed)
            .map(|(x, y)| (x - o).cross(y - o))
            .sum();
        // Along n_A × n_B the part of A inside B lies on the left: the area looks out of A.
        let mut sense = 0.0;
        for k in 0..chain.len() {
            let (c, d) = (chain[k], chain[(k + 1) % chain.len()]);
            let way = points[(k + 1) % chain.len()] - points[k];
            sense += turn.get(&(c, d)).map_or(0.0, |t| t.dot(way));
            sense += turn.get(&(d, c)).map_or(0.0, |t| t.dot(way));
        }
        let normal = (if sense < 0.0 { -area } else { area }).normalize_or_zero();
        if normal == Vec3::ZERO {
            return None;
        }
        let (cut_a, cut_b) = (
            self.cut(false, chain, crossed),
            self.cut(true, chain, crossed),
        );
        let mut found = CrossingLoop {
            points,
            closed,
            normal,
            depth: 0.0,
            enclosed: (cut_a.vertices, cut_b.vertices),
            cut_short: cut_a.cut_short || cut_b.cut_short,
        };
        let middle = normal.dot(found.center());
        let height = |on_b: bool, v: &u32| normal.dot(self.vertex(on_b, *v));
        let ends = |points: &[Vec3]| points.iter().map(|x| normal.dot(*x)).collect::<Vec<_>>();
        let top = found.enclosed.0.iter().map(|v| height(false, v));
        let low = found.enclosed.1.iter().map(|v| height(true, v));
        found.depth = top.chain(ends(&cut_a.points)).fold(middle, f64::max)
            - low.chain(ends(&cut_b.points)).fold(middle, f64::min);
        Some(found)
    }

    /// What the loop cuts off one mesh.
    fn cut(&self, on_b: bool, chain: &[Crossing], crossed: &CrossedEdges) -> Cut {
        let mesh = if on_b { self.b } else { self.a };
        let mut inside: BTreeSet<u32> = BTreeSet::new();
        let mut open: Vec<u32> = Vec::new();
        let mut points = Vec::new();
        for c in chain.iter().filter(|c| c.edge_on_b == on_b) {
            // An edge that goes in and out again has no end inside: as much of it is cut off as lies between.
            if crossed.get(&(on_b, c.edge)) != Some(&1) {
                points.push(self.place(c));
                continue;
            }
            let plane = self.corners(!on_b, c.face);
            for v in [c.edge.0, c.edge.1] {
                if side(self.vertex(on_b, v), &plane, on_b) < 0 && inside.insert(v) {
                    open.push(v);
                }
            }
        }
        let mut cut_short = false;
        while let Some(v) = open.pop() {
            for &w in mesh.ring(v) {
                if crossed.contains_key(&(on_b, (v.min(w), v.max(w)))) || inside.contains(&w) {
                    continue;
                }
                if inside.len() >= self.enclosed_max {
                    cut_short = true;
                    continue;
                }
                inside.insert(w);
                open.push(w);
            }
        }
        Cut {
            vertices: inside.into_iter().collect(),
            points,
            cut_short,
        }
    }
}

/// The part of one mesh that a loop cuts off: its vertices, and where edges without an end in it go through the other mesh.
struct Cut {
    vertices: Vec<u32>,
    points: Vec<Vec3>,
    cut_short: bool,
}

/// On which side of a triangle of the other mesh a point lies, never in its plane; `on_b` tells whose the point is.
fn side(p: Vec3, [a, b, c]: &[Vec3; 3], on_b: bool) -> i32 {
    let exact = orientation(*a, *b, *c, p);
    if exact != 0 {
        return exact;
    }
    let shifted = cross_sign(*a, *b, *a, *c);
    if on_b { shifted } else { -shifted }
}

/// Whether the line from `p` to `q`, which ends on either side of the plane of a triangle, passes inside the triangle.
fn through(p: Vec3, q: Vec3, corners: &[Vec3; 3], edge_on_b: bool) -> bool {
    let turn = |k: usize| {
        let (a, b) = (corners[k], corners[(k + 1) % 3]);
        let exact = orientation(p, q, a, b);
        if exact != 0 {
            return exact;
        }
        // d/dt of ((q − p) × (a − p)) · (b − p) is ± (q − p) × (b − a).
        let shifted = cross_sign(p, q, a, b);
        if edge_on_b { shifted } else { -shifted }
    };
    let first = turn(0);
    first == turn(1) && first == turn(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed square tower about the z axis with corners at these heights.
    fn tower(half: f64, heights: &[f64]) -> TriangleMesh {
        let around = [(-half, -half), (half, -half), (half, half), (-half, half)];
        let (mut vertices, mut triangles) = (Vec::new(), vec![[0, 2, 1], [0, 3, 2]]);
        for (i, z) in heights.iter().enumerate() {
            vertices.extend(around.map(|(x, y)| Vec3::new(x, y, *z)));
            for k in 0..if i > 0 { 4 } else { 0 } {
                let (c, d) = (4 * i as u32 + k, 4 * i as u32 + (k + 1) % 4);
                triangles.extend([[c - 4, d - 4, d], [c - 4, d, c]]);
            }
        }
        let top = vertices.len() as u32 - 4;
        triangles.extend([[top, top + 1, top + 2], [top, top + 2, top + 3]]);
        TriangleMesh::new(&vertices, &triangles).unwrap()
    }

    #[test]
    fn a_patch_that_is_too_large_is_said_to_be_cut_short() {
        let block = tower(1.0, &[-1.0, 0.0]);
        let pile = tower(0.1, &[-0.9, -0.6, -0.3, 0.3]);
        let at = Pose::from_position(Vec3::new(0.02, 0.03, 0.0));
        let all = loops_with(&block, &pile, &at, ENCLOSED_MAX);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].enclosed.1.len(), all[0].cut_short), (12, false));
        assert!(!loops_with(&block, &pile, &at, 12)[0].cut_short);
        let few = loops_with(&block, &pile, &at, 11);
        assert_eq!((few[0].enclosed.1.len(), few[0].cut_short), (11, true));
    }
}
