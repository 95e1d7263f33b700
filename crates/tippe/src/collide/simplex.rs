//! The point of a simplex closest to the origin, and the smallest part of the simplex that holds it.
//!
//! Reads: nothing.  Writes: the simplex.
//! Called by: `collide::gjk`, `collide::epa`.
//! Source: [Montanari17]: signed volumes instead of cancelling sub-determinants. We deviate: a triangle or tetrahedron too flat to
//! have a side is searched along all its edges or faces.

use crate::math::Vec3;

/// A point of the difference A − B and where it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vertex {
    /// a − b, in A's frame [m].
    pub w: Vec3,
    /// Point of A's core, in A's frame [m].
    pub a: Vec3,
    /// Point of B's core, in B's frame [m].
    pub b: Vec3,
    /// Features of A and B that these points are.
    pub names: [u32; 2],
}

/// Up to four points, and weights that make the closest point of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Simplex {
    pub vertices: [Vertex; 4],
    pub weights: [f64; 4],
    pub count: usize,
}

/// A triangle whose doubled area is below this part of its squared edge has no plane, a tetrahedron likewise no volume [1].
const FLAT: f64 = 1e-14;

/// The closest point of some vertices of a simplex.
#[derive(Clone, Copy)]
struct Part {
    point: Vec3,
    /// Which vertices, and their weights.
    index: [u8; 3],
    weights: [f64; 3],
    count: usize,
}

impl Simplex {
    /// Adds a vertex; the caller keeps the count below four.
    pub fn push(&mut self, v: Vertex) {
        self.vertices[self.count] = v;
        self.count += 1;
    }

    /// Whether some vertex is this very point.
    pub fn has(&self, w: Vec3) -> bool {
        self.vertices[..self.count].iter().any(|v| v.w == w)
    }

    /// Shrinks to the part closest to the origin and returns that point; `None` if the tetrahedron holds the origin.
    pub fn reduce(&mut self) -> Option<Vec3> {
        let w = [0, 1, 2, 3].map(|k| self.vertices[k].w);
        let part = match self.count {
            0 | 1 => corner(&w, 0),
            2 => segment(&w, [0, 1]),
            3 => triangle(&w, [0, 1, 2]),
            _ => tetrahedron(&w)?,
        };
        self.weights[..3].copy_from_slice(&part.weights);
        self.count = part.count;
        let index = &part.index[..part.count];
        // Mostly all stay where they are, or later ones move up; else they change places.
        if index.windows(2).all(|i| i[0] < i[1]) {
            for (k, i) in index.iter().enumerate() {
                if *i as usize != k {
                    self.vertices[k] = self.vertices[*i as usize];
                }
            }
        } else {
            let old = self.vertices;
            for (k, i) in index.iter().enumerate() {
                self.vertices[k] = old[*i as usize];
            }
        }
        Some(part.point)
    }

    /// The unit direction of the closest point `v`: across the segment or triangle, which is known better than the direction of a short `v`.
    pub fn direction(&self, v: Vec3) -> Vec3 {
        let w = |k: usize| self.vertices[k].w;
        let u = v.normalize_or(Vec3::X);
        let across = |u: Vec3, e: Vec3| u - e * (u.dot(e) / e.length_squared());
        match self.count {
            2 => across(u, w(1) - w(0)).normalize_or(u),
            3 => {
                let n = (w(1) - w(0)).cross(w(2) - w(0)).normalize_or(u);
                // A sliver has no normal worth the name.
                let n = if n.dot(u) < 0.0 { -n } else { n };
                if n.dot(u) > 0.99 { n } else { u }
            }
            _ => u,
        }
    }

    /// Unit direction and length of the closest point `v`, for one that is not short: then its own direction will do.
    pub fn toward(&self, v: Vec3) -> (Vec3, f64) {
        let length = v.length();
        if length > 0.0 && length < f64::INFINITY {
            (v / length, length)
        } else {
            (Vec3::X, length)
        }
    }

    /// Improves the weights of a triangle until they make `point`: of a sliver the projection is exact long before the areas are.
    pub fn refine(&mut self, point: Vec3) {
        if self.count != 3 {
            return;
        }
        let [p, q, r] = [0, 1, 2].map(|k| self.vertices[k].w);
        let n = (q - p).cross(r - p);
        let n_2 = n.length_squared();
        for _ in 0..2 {
            let made = p * self.weights[0] + q * self.weights[1] + r * self.weights[2];
            // Derivative of the areas: δλ_p = n · (e × (q − r))/n², and so on around.
            let e = (point - made) / n_2;
            let change = [
                n.dot(e.cross(q - r)),
                n.dot(e.cross(r - p)),
                n.dot(e.cross(p - q)),
            ];
            if !change.iter().all(|x| x.abs() <= 1e-3) {
                return;
            }
            for k in 0..3 {
                self.weights[k] = (self.weights[k] + change[k]).clamp(0.0, 1.0);
            }
        }
    }

    /// The point of A − B that the weights make.
    pub fn point(&self) -> Vec3 {
        let mut w = Vec3::ZERO;
        for k in 0..self.count {
            w += self.vertices[k].w * self.weights[k];
        }
        w
    }

    /// The two points, of A in A's frame and of B in B's, that the weights make.
    pub fn witnesses(&self) -> (Vec3, Vec3) {
        let (mut a, mut b) = (Vec3::ZERO, Vec3::ZERO);
        for k in 0..self.count {
            a += self.vertices[k].a * self.weights[k];
            b += self.vertices[k].b * self.weights[k];
        }
        (a, b)
    }
}

fn corner(w: &[Vec3; 4], i: u8) -> Part {
    Part {
        point: w[i as usize],
        index: [i, 0, 0],
        weights: [1.0, 0.0, 0.0],
        count: 1,
    }
}

fn segment(w: &[Vec3; 4], [i, j]: [u8; 2]) -> Part {
    let (p, q) = (w[i as usize], w[j as usize]);
    let d = q - p;
    let (s, length_2) = (-p.dot(d), d.length_squared());
    if s <= 0.0 || length_2 <= 0.0 {
        // Rounding of a very short segment must not lose its nearer end.
        return if q.length_squared() < p.length_squared() {
            corner(w, j)
        } else {
            corner(w, i)
        };
    }
    if s >= length_2 {
        return corner(w, j);
    }
    let t = s / length_2;
    Part {
        point: p + d * t,
        index: [i, j, 0],
        weights: [1.0 - t, t, 0.0],
        count: 2,
    }
}

fn nearest(parts: impl IntoIterator<Item = Part>) -> Option<Part> {
    parts.into_iter().reduce(|a, b| {
        if b.point.length_squared() < a.point.length_squared() {
            b
        } else {
            a
        }
    })
}

fn triangle(w: &[Vec3; 4], t: [u8; 3]) -> Part {
    let [p, q, r] = t.map(|i| w[i as usize]);
    let (d, e) = (q - p, r - p);
    let n = d.cross(e);
    let n_2 = n.length_squared();
    let edge_2 = d.length_squared().max(e.length_squared());
    let edges = [[t[1], t[2]], [t[2], t[0]], [t[0], t[1]]];
    let any = || nearest(edges.map(|e| segment(w, e))).unwrap_or_else(|| corner(w, t[0]));
    if n_2 <= (FLAT * edge_2) * (FLAT * edge_2) {
        return any();
    }
    // The origin's projection onto the plane, and its three signed areas.
    let foot = n * (n.dot(p) / n_2);
    let (a, b, c) = (p - foot, q - foot, r - foot);
    let areas = [n.dot(b.cross(c)), n.dot(c.cross(a)), n.dot(a.cross(b))];
    if areas.iter().all(|x| *x >= 0.0) {
        let sum = areas[0] + areas[1] + areas[2];
        if sum > 0.0 {
            return Part {
                point: foot,
                index: t,
                weights: areas.map(|x| x / sum),
                count: 3,
            };
        }
        return any();
    }
    let mut best: Option<Part> = None;
    for k in 0..3 {
        if areas[k] < 0.0 {
            let part = segment(w, edges[k]);
            if best.is_none_or(|b| part.point.length_squared() < b.point.length_squared()) {
                best = Some(part);
            }
        }
    }
    best.unwrap_or_else(any)
}

/// `None` if the origin is inside.
fn tetrahedron(w: &[Vec3; 4]) -> Option<Part> {
    const FACES: [[u8; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
    let (d, e, f) = (w[1] - w[0], w[2] - w[0], w[3] - w[0]);
    let volume = d.dot(e.cross(f));
    let edge_2 = d
        .length_squared()
        .max(e.length_squared())
        .max(f.length_squared());
    let flat = volume.abs() <= FLAT * edge_2 * edge_2.sqrt();
    let mut beyond = [true; 4];
    if !flat {
        for (k, t) in FACES.iter().enumerate() {
            let [p, q, r] = t.map(|i| w[i as usize]);
            // Volume of the face with the origin, of the sign of the whole if the origin is on the inner side.
            let part = -p.dot((q - p).cross(r - p));
            beyond[k] = part * volume > 0.0;
        }
        if beyond == [false; 4] {
            return None;
        }
    }
    nearest((0..4).filter(|k| beyond[*k]).map(|k| triangle(w, FACES[k])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(points: &[[f64; 3]]) -> Simplex {
        let mut s = Simplex::default();
        for p in points {
            s.push(Vertex {
                w: Vec3::from(*p),
                ..Vertex::default()
            });
        }
        s
    }

    #[test]
    fn regions() {
        let mut s = of(&[[1.0, -1.0, 0.0], [1.0, 1.0, 0.0]]);
        assert_eq!((s.reduce(), s.count), (Some(Vec3::X), 2));
        let mut s = of(&[[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]);
        assert_eq!(s.reduce(), Some(Vec3::new(1.0, 1.0, 0.0)));
        assert_eq!(s.count, 1);
        let mut s = of(&[[-1.0, -1.0, 2.0], [3.0, -1.0, 2.0], [-1.0, 3.0, 2.0]]);
        assert_eq!((s.reduce(), s.count), (Some(Vec3::Z * 2.0), 3));
        let mut s = of(&[[1.0, -1.0, 2.0], [3.0, -1.0, 2.0], [1.0, 3.0, 2.0]]);
        assert_eq!(s.reduce(), Some(Vec3::new(1.0, 0.0, 2.0)));
        let inside = [
            [1.0, 1.0, 1.0],
            [1.0, -1.0, -1.0],
            [-1.0, 1.0, -1.0],
            [-1.0, -1.0, 1.0],
        ];
        assert_eq!(of(&inside).reduce(), None);
        let mut s = of(&inside.map(|p| [p[0] + 4.0, p[1], p[2]]));
        assert_eq!(s.reduce(), Some(Vec3::X * 3.0));
        assert_eq!(s.count, 2);
        // A flat one: the origin is beside it, not in it.
        let flat = [
            [1.0, 0.0, 1.0],
            [1.0, 1.0, 1.0],
            [-1.0, 1.0, 1.0],
            [0.0, -3.0, 1.0],
        ];
        assert_eq!(of(&flat).reduce(), Some(Vec3::Z));
    }
}
