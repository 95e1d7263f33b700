//! The convex hull of points, as triangles. Every decision about sides is exact, so no input can tear the surface.
//!
//! Reads: points.  Writes: nothing (pure functions).
//! Called by: `shape::hull`.
//! Source: [Barber96]; we deviate: sides come from `math::orientation` instead of tolerances, so coplanar points need no merging here.

use crate::error::BuildError;
use crate::math::{Vec3, orientation::orientation};

/// Points closer than this part of the size are one point, and a solid thinner than this is none [1].
pub(super) const RESOLUTION: f64 = 1e-9;
/// Largest coordinate [m]: products of three differences stay far from overflow.
const COORDINATE_MAX: f64 = 1e50;
/// Smallest extent [m]: such products stay far from underflow.
const SIZE_MIN: f64 = 1e-50;

/// A triangle of the growing hull, counter-clockwise seen from outside.
struct Facet {
    v: [u32; 3],
    /// `across[k]` lies beyond the edge from `v[k]` to `v[(k + 1) % 3]`.
    across: [u32; 3],
    /// Points strictly above the plane that no other facet has taken.
    outside: Vec<u32>,
    alive: bool,
}

/// The hull's vertices (in the order of the input) and its triangles.
pub(super) fn quickhull(points: &[Vec3]) -> Result<(Vec<Vec3>, Vec<[u32; 3]>), BuildError> {
    let points = distinct(points)?;
    let mut hull = Growing::start(&points)?;
    let mut next = 0;
    // A facet is looked at once: it dies, or it has no points outside. Every pass adds a vertex, so there are at most as many as points.
    while next < hull.facets.len() {
        if hull.facets[next].alive && !hull.facets[next].outside.is_empty() {
            hull.grow(next as u32)?;
        }
        next += 1;
    }
    Ok(hull.finish())
}

/// The points without those that repeat another within the resolution.
fn distinct(points: &[Vec3]) -> Result<Vec<Vec3>, BuildError> {
    let bad = |reason: String| Err(BuildError::new("points", reason));
    if points.len() < 4 {
        return bad(format!(
            "a hull needs at least 4 points, got {}",
            points.len()
        ));
    }
    for (i, p) in points.iter().enumerate() {
        if !(p.is_finite() && p.abs().max_element() <= COORDINATE_MAX) {
            return Err(BuildError::new(
                format!("points[{i}]"),
                format!("must be finite and below {COORDINATE_MAX:e} m, got {p}"),
            ));
        }
    }
    let size = extent(points);
    if size < SIZE_MIN {
        return bad("all points are the same".into());
    }
    let near = RESOLUTION * size;
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    let at = |i: u32| points[i as usize];
    order.sort_by(|&i, &j| at(i).x.total_cmp(&at(j).x).then(i.cmp(&j)));
    let mut repeated = vec![false; points.len()];
    for (k, &i) in order.iter().enumerate() {
        if repeated[i as usize] {
            continue;
        }
        for &j in &order[k + 1..] {
            if at(j).x - at(i).x > near {
                break;
            }
            if (at(j) - at(i)).length_squared() <= near * near {
                repeated[j as usize] = true;
            }
        }
    }
    let kept = points.iter().zip(&repeated).filter(|(_, gone)| !**gone);
    Ok(kept.map(|(p, _)| *p).collect())
}

fn extent(points: &[Vec3]) -> f64 {
    let (low, high) = points
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| {
            (l.min(*p), h.max(*p))
        });
    (high - low).max_element()
}

/// The index of the largest value; the first of equals.
fn largest(points: &[Vec3], value: impl Fn(Vec3) -> f64) -> u32 {
    let mut best = (f64::NEG_INFINITY, 0);
    for (i, p) in points.iter().enumerate() {
        let x = value(*p);
        if x > best.0 {
            best = (x, i as u32);
        }
    }
    best.1
}

struct Growing<'a> {
    points: &'a [Vec3],
    facets: Vec<Facet>,
    /// Scratch: the new facet that leaves each vertex of the horizon.
    leaving: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<'a> Growing<'a> {
    fn at(&self, i: u32) -> Vec3 {
        self.points[i as usize]
    }

    /// Whether point `p` lies strictly above facet `f`.
    fn sees(&self, p: u32, f: u32) -> bool {
        let [a, b, c] = self.facets[f as usize].v;
        orientation(self.at(a), self.at(b), self.at(c), self.at(p)) > 0
    }

    /// A fat tetrahedron of the points.
    fn start(points: &'a [Vec3]) -> Result<Self, BuildError> {
        let flat = |reason: &str| Err(BuildError::new("points", reason));
        let size = extent(points);
        let mut ends = [0_u32; 6];
        for k in 0..3 {
            ends[2 * k] = largest(points, |p| -p[k]);
            ends[2 * k + 1] = largest(points, |p| p[k]);
        }
        let at = |i: u32| points[i as usize];
        let (mut a, mut b) = (ends[0], ends[1]);
        for &i in &ends {
            for &j in &ends {
                if (at(i) - at(j)).length_squared() > (at(a) - at(b)).length_squared() {
                    (a, b) = (i, j);
                }
            }
        }
        let along = (at(b) - at(a)).normalize();
        let from_line = |p: Vec3| along.cross(p - at(a)).length();
        let mut c = largest(points, from_line);
        if from_line(at(c)) <= RESOLUTION * size {
            return flat("all points lie on a line");
        }
        let normal = along.cross(at(c) - at(a)).normalize();
        let d = largest(points, |p| normal.dot(p - at(a)).abs());
        if normal.dot(at(d) - at(a)).abs() <= RESOLUTION * size {
            return flat("all points lie in a plane");
        }
        if orientation(at(a), at(b), at(c), at(d)) > 0 {
            std::mem::swap(&mut b, &mut c);
        }
        // Now d is below (a, b, c): that triangle and its like look outward.
        let facet = |v: [u32; 3], across: [u32; 3]| Facet {
            v,
            across,
            outside: Vec::new(),
            alive: true,
        };
        let mut hull = Self {
            points,
            facets: vec![
                facet([a, b, c], [1, 2, 3]),
                facet([b, a, d], [0, 3, 2]),
                facet([c, b, d], [0, 1, 3]),
                facet([a, c, d], [0, 2, 1]),
            ],
            leaving: vec![NONE; points.len()],
        };
        let rest: Vec<u32> = (0..points.len() as u32)
            .filter(|i| ![a, b, c, d].contains(i))
            .collect();
        hull.share_out(&rest, 0);
        Ok(hull)
    }

    /// Gives each point to the first facet from `first` on that it lies above; points above none are inside.
    fn share_out(&mut self, orphans: &[u32], first: usize) {
        for &p in orphans {
            let taker = (first..self.facets.len()).find(|f| self.sees(p, *f as u32));
            if let Some(f) = taker {
                self.facets[f].outside.push(p);
            }
        }
    }

    /// Adds the farthest point outside facet `f`: facets that see it die, a fan around it takes their place.
    fn grow(&mut self, f: u32) -> Result<(), BuildError> {
        let facet = &self.facets[f as usize];
        let [a, b, c] = facet.v.map(|i| self.at(i));
        let normal = (b - a).cross(c - a);
        let mut eye = facet.outside[0];
        for &p in &facet.outside {
            if normal.dot(self.at(p) - a) > normal.dot(self.at(eye) - a) {
                eye = p;
            }
        }
        // Edges (from, to, facet beyond) between what the eye sees and what it does not.
        let mut horizon: Vec<(u32, u32, u32)> = Vec::new();
        let mut seen = vec![f];
        self.facets[f as usize].alive = false;
        let mut k = 0;
        while k < seen.len() {
            let here = seen[k];
            for e in 0..3 {
                let there = self.facets[here as usize].across[e];
                if !self.facets[there as usize].alive {
                    continue;
                }
                if self.sees(eye, there) {
                    self.facets[there as usize].alive = false;
                    seen.push(there);
                } else {
                    let v = self.facets[here as usize].v;
                    horizon.push((v[e], v[(e + 1) % 3], there));
                }
            }
            k += 1;
        }
        let first = self.facets.len();
        for (i, &(from, to, beyond)) in horizon.iter().enumerate() {
            let new = (first + i) as u32;
            self.leaving[from as usize] = new;
            let g = &self.facets[beyond as usize];
            let edge = (0..3).find(|e| g.v[*e] == to && g.v[(e + 1) % 3] == from);
            let Some(edge) = edge else {
                return Err(torn());
            };
            self.facets[beyond as usize].across[edge] = new;
            self.facets.push(Facet {
                v: [from, to, eye],
                across: [beyond, NONE, NONE],
                outside: Vec::new(),
                alive: true,
            });
        }
        for i in first..self.facets.len() {
            let after = self.leaving[self.facets[i].v[1] as usize];
            let valid = after != NONE
                && after as usize >= first
                && self.facets[after as usize].v[0] == self.facets[i].v[1];
            if !valid {
                return Err(torn());
            }
            self.facets[i].across[1] = after;
            self.facets[after as usize].across[2] = i as u32;
        }
        let mut orphans: Vec<u32> = Vec::new();
        for &g in &seen {
            orphans.append(&mut self.facets[g as usize].outside);
        }
        orphans.retain(|p| *p != eye);
        self.share_out(&orphans, first);
        Ok(())
    }

    /// Vertices in use, renumbered, and the triangles that live.
    fn finish(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mut number = vec![NONE; self.points.len()];
        let alive = || self.facets.iter().filter(|f| f.alive);
        for i in alive().flat_map(|f| f.v) {
            number[i as usize] = 0;
        }
        let mut vertices = Vec::new();
        for (n, p) in number.iter_mut().zip(self.points) {
            if *n == 0 {
                *n = vertices.len() as u32;
                vertices.push(*p);
            }
        }
        let triangles = alive().map(|f| f.v.map(|i| number[i as usize])).collect();
        (vertices, triangles)
    }
}

/// Cannot happen with exact sides; said instead of a panic all the same.
fn torn() -> BuildError {
    BuildError::new("points", "the hull cannot be closed at this resolution")
}
