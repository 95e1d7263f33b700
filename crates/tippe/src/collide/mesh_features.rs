//! Which features of two triangles of two meshes face each other: corner over face, corner before edge or corner, edge across edge.
//!
//! Reads: two meshes, how one lies in the frame of the other.  Writes: appends candidates for contacts.
//! Called by: `collide::pair_mesh_mesh`.
//! Source: local minima of the distance of two surfaces, [Johnson04]: two features face each other where the normal of either lies in the
//! normal cone of the other. Features that triangles share are looked at with the triangle that owns them, [Curtis08].
//!
//! The gap of a corner over a face, and of two edges, is signed and goes through zero without a jump, so that shallow overlaps are
//! contacts like others. Corners before edges and corners have a direction only while they are apart; once they are not, the faces
//! beside the edge take over.

use super::contact::Features;
use super::patch::both;
use crate::math::{Pose, Vec3};
use crate::shape::TriangleMesh;
use crate::shape::triangle_mesh::MeshEdge;

/// How far a normal may lean out of a normal cone [1]: bodies that turn a little keep the corners that they are about to stand on.
const CONE_LEAN: f64 = 0.1;
/// The same where one feature must be the nearest of its mesh [1].
const NEAREST_LEAN: f64 = 1e-9;
/// Weight of a corner, of 1, down to which a point beside a triangle is still over it [1].
const OVER_EDGE: f64 = 1e-9;
/// Sine of the angle of two edges below which they do not cross [1].
const CROSSING: f64 = 1e-3;

/// How many times deeper two edges may overlap across both than below either face beside them [1]; 4 for wedges of 30°.
const WEDGE: f64 = 4.0;

/// Two features that face each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// In the frames of the shapes.
    pub features: Features,
    /// Unit normal from A to B, in A's frame.
    pub normal: Vec3,
    /// [m]
    pub gap: f64,
    /// Point on A and on B, in A's frame [m].
    pub points: (Vec3, Vec3),
    pub id: u32,
    /// The face below a corner, in A's frame.
    pub face: Option<Plane>,
}

/// The plane of a face, and the middle of the face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    pub normal: Vec3,
    pub middle: Vec3,
}

/// A mesh and how its frame lies in that of A.
#[derive(Clone, Copy)]
pub(super) struct Sheet<'a> {
    pub mesh: &'a TriangleMesh,
    pub place: Pose,
}

/// A triangle of a sheet, in A's frame.
pub(super) struct Facet {
    pub index: u32,
    pub corners: [Vec3; 3],
    pub normal: Vec3,
    /// As `TriangleMesh::owned`.
    pub owned: u8,
}

impl Facet {
    const fn owns_corner(&self, k: usize) -> bool {
        self.owned >> k & 1 == 1
    }

    const fn owns_edge(&self, k: usize) -> bool {
        self.owned >> (3 + k) & 1 == 1
    }
}

/// A corner or edge that looks for what it faces, by vertex of the triangle.
type Found = Option<Candidate>;

impl Sheet<'_> {
    pub fn facet(&self, index: u32) -> Facet {
        Facet {
            index,
            corners: self.mesh.corners(index).map(|x| self.place.point(x)),
            normal: self.place.vector(self.mesh.normal(index)),
            owned: self.mesh.owned(index),
        }
    }

    fn vertex(&self, facet: &Facet, k: usize) -> u32 {
        self.mesh.triangles()[facet.index as usize][k]
    }

    /// Whether all that hangs on a vertex lies on the side of it that `up` (A's frame) points to, but for a `lean`.
    fn is_lowest(&self, vertex: u32, up: Vec3, lean: f64) -> bool {
        let up = self.place.vector_to_local(up);
        let x = self.mesh.vertices()[vertex as usize];
        self.mesh.ring(vertex).iter().all(|&w| {
            let d = self.mesh.vertices()[w as usize] - x;
            d.dot(up) >= -lean * d.length()
        })
    }

    /// The same for the edge `k` of a facet: of the two triangles beside it.
    fn edge_is_lowest(&self, facet: &Facet, k: usize, up: Vec3, lean: f64) -> bool {
        let x = facet.corners[k];
        let across = self.mesh.neighbour(facet.index, k as u8).map(|t| {
            // The corner of the neighbour that is not on the edge: the sum of all less the two.
            let [a, b, c] = self.mesh.corners(t).map(|x| self.place.point(x));
            a + b + c - facet.corners[k] - facet.corners[(k + 1) % 3]
        });
        let along = (facet.corners[(k + 1) % 3] - x).normalize_or_zero();
        let fits = |corner: Vec3| {
            let d = corner - x;
            let d = d - along * along.dot(d);
            d.dot(up) >= -lean * d.length()
        };
        fits(facet.corners[(k + 2) % 3]) && across.is_none_or(fits)
    }

    /// Sum of the normals beside an edge.
    fn edge_out(&self, facet: &Facet, k: usize) -> Vec3 {
        let across = self.mesh.neighbour(facet.index, k as u8);
        facet.normal + across.map_or(Vec3::ZERO, |t| self.place.vector(self.mesh.normal(t)))
    }
}

/// Two sheets and how near features must be.
pub(super) struct Facing<'a> {
    pub a: Sheet<'a>,
    pub b: Sheet<'a>,
    /// Largest gap and largest overlap [m].
    pub margin: f64,
    /// Distance below which two points have no direction [m].
    pub tiny: f64,
}

impl Facing<'_> {
    /// Appends the candidates of two triangles. Returns whether the triangles may cross each other.
    pub fn look(&self, f: &Facet, g: &Facet, out: &mut Vec<Candidate>) -> bool {
        let over_f = g.corners.map(|x| f.normal.dot(x - f.corners[0]));
        let over_g = f.corners.map(|x| g.normal.dot(x - g.corners[0]));
        let low = |h: &[f64; 3]| h[0].min(h[1]).min(h[2]);
        if low(&over_f) > self.margin || low(&over_g) > self.margin {
            return false;
        }
        for k in 0..3 {
            if f.owns_corner(k) {
                out.extend(self.corner((&self.a, f, k), (&self.b, g), over_g[k], true));
                self.corner_sharp((&self.a, f, k), (&self.b, g), true, out);
            }
            if g.owns_corner(k) {
                out.extend(self.corner((&self.b, g, k), (&self.a, f), over_f[k], false));
                self.corner_sharp((&self.b, g, k), (&self.a, f), false, out);
            }
            for l in (0..3).filter(|l| f.owns_edge(k) && g.owns_edge(*l)) {
                out.extend(self.edges(f, k, g, l));
            }
        }
        let high = |h: &[f64; 3]| h[0].max(h[1]).max(h[2]);
        let cross = |h: &[f64; 3]| low(h) < -self.tiny && high(h) > self.tiny;
        cross(&over_f) && cross(&over_g)
    }

    /// A corner over a face, `gap` above its plane.
    fn corner(
        &self,
        (own, f, k): (&Sheet<'_>, &Facet, usize),
        (other, g): (&Sheet<'_>, &Facet),
        gap: f64,
        corner_on_a: bool,
    ) -> Found {
        if gap.abs() > self.margin || !self.is_over(other, g, f.corners[k], gap) {
            return None;
        }
        let vertex = own.vertex(f, k);
        if !own.is_lowest(vertex, g.normal, CONE_LEAN) {
            return None;
        }
        let x = f.corners[k];
        let foot = x - g.normal * gap;
        Some(Candidate {
            features: Features::PointFace {
                point: own.mesh.vertices()[vertex as usize],
                anchor: other.mesh.corners(g.index)[0],
                normal: other.mesh.normal(g.index),
                face_on_b: corner_on_a,
            },
            normal: if corner_on_a { -g.normal } else { g.normal },
            gap,
            points: if corner_on_a { (x, foot) } else { (foot, x) },
            // Corners keep their names from triangle to triangle.
            id: both(u32::from(corner_on_a), vertex + 2),
            face: Some(Plane {
                normal: g.normal,
                middle: (g.corners[0] + g.corners[1] + g.corners[2]) / 3.0,
            }),
        })
    }

    /// Whether a point lies over a triangle; what overlaps may be beyond an edge where the surface rises, since both sides of it push.
    fn is_over(&self, other: &Sheet<'_>, g: &Facet, x: Vec3, gap: f64) -> bool {
        let c = &g.corners;
        let area = |a: Vec3, b: Vec3| g.normal.dot((b - a).cross(x - a));
        let whole = g.normal.dot((c[1] - c[0]).cross(c[2] - c[0]));
        (0..3).all(|k| {
            let (a, b) = (c[k], c[(k + 1) % 3]);
            let inside = area(a, b);
            let valley = gap < 0.0 && other.mesh.edges(g.index)[k] == MeshEdge::Concave;
            inside >= -OVER_EDGE * whole || (valley && inside >= -self.margin * (b - a).length())
        })
    }

    /// A corner before a sharp edge or corner of a triangle, as long as they are apart.
    fn corner_sharp(
        &self,
        (own, f, k): (&Sheet<'_>, &Facet, usize),
        (other, g): (&Sheet<'_>, &Facet),
        corner_on_a: bool,
        out: &mut Vec<Candidate>,
    ) {
        let x = f.corners[k];
        let vertex = own.vertex(f, k);
        let point = own.mesh.vertices()[vertex as usize];
        for l in 0..3 {
            if g.owns_corner(l) {
                let there = other.vertex(g, l);
                let p = other.mesh.vertices()[there as usize];
                let features = if corner_on_a {
                    Features::PointPoint { a: point, b: p }
                } else {
                    Features::PointPoint { a: p, b: point }
                };
                let faces = |up: Vec3| {
                    other.is_lowest(there, -up, NEAREST_LEAN)
                        && own.is_lowest(vertex, up, CONE_LEAN)
                        || other.is_lowest(there, -up, CONE_LEAN)
                            && own.is_lowest(vertex, up, NEAREST_LEAN)
                };
                let id = if corner_on_a {
                    both(vertex, there)
                } else {
                    both(there, vertex)
                };
                // Pairs of corners are met from both sides, and count once.
                if corner_on_a {
                    out.extend(self.apart(
                        x,
                        g.corners[l],
                        corner_on_a,
                        features,
                        both(id, 1),
                        faces,
                    ));
                }
            }
            if !g.owns_edge(l) {
                continue;
            }
            let (from, along) = (g.corners[l], g.corners[(l + 1) % 3] - g.corners[l]);
            let at = along.dot(x - from) / along.length_squared();
            if !(0.0..=1.0).contains(&at) {
                continue;
            }
            let local = other.mesh.corners(g.index);
            let features = Features::PointEdge {
                point,
                anchor: local[l],
                direction: (local[(l + 1) % 3] - local[l]).normalize_or_zero(),
                edge_on_b: corner_on_a,
            };
            let faces = |up: Vec3| {
                other.edge_is_lowest(g, l, -up, NEAREST_LEAN)
                    && up.dot(other.edge_out(g, l)) > 0.0
                    && own.is_lowest(vertex, up, CONE_LEAN)
            };
            let id = both(
                both(vertex, 3 * g.index + l as u32),
                2 + u32::from(corner_on_a),
            );
            out.extend(self.apart(x, from + along * at, corner_on_a, features, id, faces));
        }
    }

    /// A corner at `x` and a point `p` of the other mesh that are apart, if their line `faces` both.
    fn apart(
        &self,
        x: Vec3,
        p: Vec3,
        corner_on_a: bool,
        features: Features,
        id: u32,
        faces: impl Fn(Vec3) -> bool,
    ) -> Found {
        let d = x - p;
        let gap = d.length();
        if gap <= self.tiny || gap > self.margin || !faces(d / gap) {
            return None;
        }
        Some(Candidate {
            features,
            normal: if corner_on_a { -d / gap } else { d / gap },
            gap,
            points: if corner_on_a { (x, p) } else { (p, x) },
            id,
            face: None,
        })
    }

    /// Two sharp edges that cross.
    fn edges(&self, f: &Facet, k: usize, g: &Facet, l: usize) -> Found {
        let (a, b) = (&self.a, &self.b);
        let (p, q) = (f.corners[k], g.corners[l]);
        let (u, v) = (f.corners[(k + 1) % 3] - p, g.corners[(l + 1) % 3] - q);
        let cross = u.cross(v);
        let (lu, lv) = (u.length(), v.length());
        if cross.length() <= CROSSING * lu * lv {
            return None;
        }
        let square = cross.length_squared();
        let (s, t) = (
            (q - p).cross(v).dot(cross) / square,
            (q - p).cross(u).dot(cross) / square,
        );
        if !((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)) {
            return None;
        }
        let (x, y) = (p + u * s, q + v * t);
        let n = cross.normalize_or_zero();
        let n = if n.dot(a.edge_out(f, k) - b.edge_out(g, l)) < 0.0 {
            -n
        } else {
            n
        };
        let gap = n.dot(y - x);
        let fits = gap.abs() <= self.margin
            && a.edge_is_lowest(f, k, -n, CONE_LEAN)
            && b.edge_is_lowest(g, l, n, CONE_LEAN);
        let parts = gap >= -self.tiny
            || self.parts(-gap, (p, u), (b, g, l)) && self.parts(-gap, (q, v), (a, f, k));
        if !fits || !parts {
            return None;
        }
        let (m, o) = (a.mesh.corners(f.index), b.mesh.corners(g.index));
        Some(Candidate {
            features: Features::EdgeEdge {
                anchor_a: m[k],
                direction_a: (m[(k + 1) % 3] - m[k]).normalize_or_zero(),
                anchor_b: o[l],
                direction_b: (o[(l + 1) % 3] - o[l]).normalize_or_zero(),
            },
            normal: n,
            gap,
            points: (x, y),
            id: both(both(3 * f.index + k as u32, 5), 3 * g.index + l as u32),
            face: None,
        })
    }

    /// Whether an edge from `p` along `u` is in the wedge beside another edge by about the `depth` that the two have across both. If it is
    /// far less deep below a face of the wedge, that face is the way out, and a corner on it says so.
    fn parts(
        &self,
        depth: f64,
        (p, u): (Vec3, Vec3),
        (other, g, l): (&Sheet<'_>, &Facet, usize),
    ) -> bool {
        let across = other.mesh.neighbour(g.index, l as u8);
        let beside = across.map_or(g.normal, |t| other.place.vector(other.mesh.normal(t)));
        let ends = |n: Vec3| {
            let h = n.dot(p - g.corners[l]);
            (h, h + n.dot(u))
        };
        let heights = [ends(g.normal), ends(beside)];
        // The part of the edge that is below both faces.
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        for (h0, h1) in heights {
            let zero = h0 / (h0 - h1);
            if h0 > 0.0 && h1 > 0.0 {
                return false;
            }
            if h0 > 0.0 {
                from = from.max(zero);
            }
            if h1 > 0.0 {
                to = to.min(zero);
            }
        }
        let below = |(h0, h1): (f64, f64)| {
            let at = |t: f64| -(h0 + (h1 - h0) * t);
            at(from).max(at(to))
        };
        from <= to && depth <= WEDGE * below(heights[0]).min(below(heights[1])) + self.tiny
    }
}
