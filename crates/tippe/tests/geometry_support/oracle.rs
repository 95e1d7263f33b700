//! Answers found the slow way: supports by looking at every vertex, depths by trying every axis.

#![allow(dead_code)]

use tippe::math::{Pose, Vec3, tangents};
use tippe::shape::Shape;

/// How far the shape at `pose` reaches along `n`.
pub fn reach_along(shape: &Shape, pose: &Pose, n: Vec3) -> f64 {
    let d = pose.vector_to_local(n);
    let across = (d.x * d.x + d.y * d.y).sqrt();
    n.dot(pose.position)
        + match shape {
            Shape::Sphere { radius } => radius * d.length(),
            Shape::Cuboid { half } => half.dot(d.abs()),
            Shape::Capsule {
                half_length,
                radius,
            } => half_length * d.z.abs() + radius * d.length(),
            Shape::Cylinder {
                half_length,
                radius,
            } => half_length * d.z.abs() + radius * across,
            Shape::Cone {
                half_length,
                radius,
            } => (half_length * d.z).max(radius * across - half_length * d.z),
            Shape::Hull(hull) => hull
                .vertices()
                .iter()
                .fold(f64::NEG_INFINITY, |h, v| h.max(d.dot(*v))),
            Shape::Rounded(r) => {
                return reach_along(r.core(), pose, n) + r.radius() * d.length();
            }
            Shape::Mesh(_) | Shape::Profile(_) => f64::INFINITY,
            Shape::HalfSpace { normal } => {
                if (d - *normal).length() < 1e-12 {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
        }
}

/// How far B must move along `n` to leave A: the depth is the least of these, a distance the greatest of their negatives.
pub fn overlap_along(a: &Shape, p: &Pose, b: &Shape, q: &Pose, n: Vec3) -> f64 {
    reach_along(a, p, n) + reach_along(b, q, -n)
}

/// Signed distance of a point from the surface, negative inside; outside exact only near faces.
pub fn height_over(shape: &Shape, pose: &Pose, x: Vec3) -> f64 {
    let x = pose.point_to_local(x);
    let across = (x.x * x.x + x.y * x.y).sqrt();
    match shape {
        Shape::Sphere { radius } => x.length() - radius,
        Shape::Cuboid { half } => (x.abs() - *half).max_element(),
        Shape::Capsule {
            half_length,
            radius,
        } => (x - Vec3::Z * x.z.clamp(-half_length, *half_length)).length() - radius,
        Shape::Cylinder {
            half_length,
            radius,
        } => (x.z.abs() - half_length).max(across - radius),
        Shape::Cone {
            half_length: h,
            radius: r,
        } => {
            // The slope through the apex (0, h) and the rim (r, −h).
            let slope = (2.0 * h * across + r * (x.z - h)) / (4.0 * h * h + r * r).sqrt();
            slope.max(-h - x.z)
        }
        Shape::Hull(hull) => hull
            .faces()
            .iter()
            .fold(f64::NEG_INFINITY, |s, f| s.max(f.normal.dot(x) - f.offset)),
        Shape::Rounded(r) => outside(r.core(), x) - r.radius(),
        Shape::Mesh(_) | Shape::Profile(_) => f64::NAN,
        Shape::HalfSpace { normal } => normal.dot(x),
    }
}

/// Distance of a point from the core of a rounded shape, negative inside, in its own frame.
fn outside(core: &Shape, x: Vec3) -> f64 {
    let over = match core {
        Shape::Cuboid { half } => x.abs() - *half,
        Shape::Cylinder {
            half_length,
            radius,
        } => {
            let across = (x.x * x.x + x.y * x.y).sqrt();
            Vec3::new(across - radius, x.z.abs() - half_length, f64::NEG_INFINITY)
        }
        _ => {
            // A hull: the nearest point of its triangles, or the least height over its faces.
            let Shape::Hull(hull) = core else {
                return f64::NAN;
            };
            let height = height_over(core, &Pose::IDENTITY, x);
            let at = |i: u32| hull.vertices()[i as usize];
            let near = |t: &[u32; 3]| distance_to_triangle(x, t.map(at));
            let least = hull
                .triangles()
                .iter()
                .map(near)
                .fold(f64::INFINITY, f64::min);
            return if height <= 0.0 { height } else { least };
        }
    };
    over.max(Vec3::ZERO).length() + over.max_element().min(0.0)
}

/// Distance of a point from a triangle: from its plane if the foot is inside, else from the nearest edge.
fn distance_to_triangle(x: Vec3, [a, b, c]: [Vec3; 3]) -> f64 {
    let n = (b - a).cross(c - a).normalize();
    let inside = [(a, b), (b, c), (c, a)]
        .iter()
        .all(|(p, q)| n.dot((*q - *p).cross(x - *p)) >= 0.0);
    if inside {
        return n.dot(x - a).abs();
    }
    let edge = |p: Vec3, q: Vec3| {
        let t = (x - p).dot(q - p) / (q - p).length_squared();
        (x - p - (q - p) * t.clamp(0.0, 1.0)).length()
    };
    edge(a, b).min(edge(b, c)).min(edge(c, a))
}

/// Axes that can be the shortest way out for flat shapes: face normals and edge directions. Empty for round ones.
fn features(shape: &Shape, pose: &Pose) -> Option<(Vec<Vec3>, Vec<Vec3>)> {
    let turn = |v: Vec3| pose.vector(v);
    match shape {
        Shape::Cuboid { .. } => {
            let axes: Vec<Vec3> = Vec3::AXES.into_iter().map(turn).collect();
            let both = axes.iter().flat_map(|a| [*a, -*a]).collect();
            Some((both, axes))
        }
        Shape::Hull(hull) => {
            let mut edges = Vec::new();
            for i in 0..hull.faces().len() {
                let v = hull.face_vertices(i);
                for k in 0..v.len() {
                    let (s, t) = (v[k], v[(k + 1) % v.len()]);
                    if s < t {
                        edges.push(turn(
                            hull.vertices()[t as usize] - hull.vertices()[s as usize],
                        ));
                    }
                }
            }
            Some((hull.faces().iter().map(|f| turn(f.normal)).collect(), edges))
        }
        Shape::HalfSpace { normal } => Some((vec![turn(*normal)], Vec::new())),
        Shape::Sphere { .. } => Some((Vec::new(), Vec::new())),
        Shape::Capsule { .. } => Some((Vec::new(), vec![turn(Vec3::Z)])),
        Shape::Cylinder { .. }
        | Shape::Cone { .. }
        | Shape::Rounded(_)
        | Shape::Mesh(_)
        | Shape::Profile(_) => None,
    }
}

/// The least overlap over all directions: every axis for flat shapes, many directions improved step by step for round ones.
pub fn least_overlap(a: &Shape, p: &Pose, b: &Shape, q: &Pose) -> f64 {
    let along = |n: Vec3| overlap_along(a, p, b, q, n);
    let mut best = f64::INFINITY;
    if let (Some((faces_a, edges_a)), Some((faces_b, edges_b))) = (features(a, p), features(b, q)) {
        for n in faces_a {
            best = best.min(along(n));
        }
        for n in faces_b {
            best = best.min(along(-n));
        }
        for e in &edges_a {
            for f in &edges_b {
                let c = e.cross(*f);
                if c.length_squared() > 1e-18 * e.length_squared() * f.length_squared() {
                    let n = c.normalize();
                    best = best.min(along(n)).min(along(-n));
                }
            }
        }
        return best;
    }
    let mut starts: Vec<(f64, Vec3)> = Vec::new();
    let count = 120;
    for i in 0..count {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
        let (s, c) = libm::sincos(f64::from(i) * 2.399_963_229_728_653);
        let r = (1.0 - z * z).sqrt();
        let n = Vec3::new(r * c, r * s, z);
        starts.push((along(n), n));
    }
    for (shape, pose) in [(a, p), (b, q)] {
        for n in Vec3::AXES {
            for n in [pose.vector(n), -pose.vector(n)] {
                starts.push((along(n), n));
            }
        }
        if let Some((faces, _)) = features(shape, pose) {
            for n in faces.iter().flat_map(|n| [*n, -*n]) {
                starts.push((along(n), n));
            }
        }
    }
    starts.sort_by(|x, y| x.0.total_cmp(&y.0));
    for &(mut value, mut n) in starts.iter().take(6) {
        // Compass search on the sphere.
        let mut step = 0.2;
        while step > 1e-7 {
            let (t1, t2) = tangents(n);
            let mut moved = false;
            for t in [t1, -t1, t2, -t2, t1 + t2, t1 - t2, t2 - t1, -t1 - t2] {
                let m = (n + t * step).normalize();
                let x = along(m);
                if x < value {
                    (value, n, moved) = (x, m, true);
                    break;
                }
            }
            if !moved {
                step *= 0.5;
            }
        }
        best = best.min(value);
    }
    best
}
