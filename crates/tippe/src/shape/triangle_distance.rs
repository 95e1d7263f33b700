//! Closest points of two triangles.
//!
//! Reads: corners.  Writes: nothing (pure functions).
//! Called by: `geometry`.
//! Source: [Ericson05] §5.1.9, §5.1.10: the closest points are of a corner and a face, of two edges, or where an edge goes through a face.

use super::mesh_closest::closest_on_triangle;
use crate::math::Vec3;

/// A point of the first triangle and one of the second that are closest to each other; the same point twice where the two cross.
pub(crate) fn closest_of_triangles(x: &[Vec3; 3], y: &[Vec3; 3]) -> (Vec3, Vec3) {
    let mut best = (f64::INFINITY, (x[0], y[0]));
    let mut keep = |p: Vec3, q: Vec3| {
        let d = (q - p).length_squared();
        if d < best.0 {
            best = (d, (p, q));
        }
    };
    for k in 0..3 {
        keep(x[k], closest_on_triangle(x[k], y).0);
        keep(closest_on_triangle(y[k], x).0, y[k]);
        let u = x[(k + 1) % 3] - x[k];
        for l in 0..3 {
            let v = y[(l + 1) % 3] - y[l];
            let (p, q) = closest_of_segments(x[k], u, y[l], v);
            keep(p, q);
        }
        if let Some(p) = through(x[k], u, y) {
            keep(p, p);
        }
        if let Some(p) = through(y[k], y[(k + 1) % 3] - y[k], x) {
            keep(p, p);
        }
    }
    best.1
}

/// Closest points of p + s u and q + t v, s and t between 0 and 1.
fn closest_of_segments(p: Vec3, u: Vec3, q: Vec3, v: Vec3) -> (Vec3, Vec3) {
    let r = p - q;
    let (a, b, e) = (u.length_squared(), u.dot(v), v.length_squared());
    let (c, f) = (u.dot(r), v.dot(r));
    let det = a * e - b * b;
    let clamp = |x: f64| {
        if x.is_finite() {
            x.clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let s = if det > 0.0 {
        clamp((b * f - c * e) / det)
    } else {
        0.0
    };
    let t = (b * s + f) / e;
    let (s, t) = if t < 0.0 {
        (clamp(-c / a), 0.0)
    } else if t > 1.0 {
        (clamp((b - c) / a), 1.0)
    } else {
        (s, clamp(t))
    };
    (p + u * s, q + v * t)
}

/// Where the segment from `p` along `u` goes through a triangle.
fn through(p: Vec3, u: Vec3, [a, b, c]: &[Vec3; 3]) -> Option<Vec3> {
    let n = (*b - *a).cross(*c - *a);
    let (from, along) = (n.dot(p - *a), n.dot(u));
    if from * (from + along) > 0.0 || along == 0.0 {
        return None;
    }
    let x = p - u * (from / along);
    let inside = |p: Vec3, q: Vec3| n.dot((q - p).cross(x - p)) >= 0.0;
    (inside(*a, *b) && inside(*b, *c) && inside(*c, *a)).then_some(x)
}
