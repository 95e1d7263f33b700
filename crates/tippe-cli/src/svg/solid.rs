//! Solids as SVG: boxes by their faces, balls and capsules as shaded discs, half-spaces as a grid.
//!
//! Reads: a shape and its place.  Writes: SVG text.
//! Called by: `svg::scene`.
//! Source: orthographic outlines are exact: a ball is a disc, a capsule a thick line with round ends, a box its faces turned to us.

use std::fmt::Write as _;

use tippe::{Pose, Shape, Vec3};

use super::camera::{Camera, View, WIDTH};
use super::{Colour, coordinate};

/// Towards the lamp (need not be of unit length).
const LAMP: Vec3 = Vec3::new(-0.35, -0.6, 1.0);

/// A shape with its place in the world.
pub struct Item<'a> {
    /// The solid.
    pub shape: &'a Shape,
    /// Its place.
    pub pose: Pose,
    /// Only reports overlaps.
    pub sensor: bool,
    /// `None` for what is fixed: drawn in the style around it.
    pub colour: Option<Colour>,
}

impl Item<'_> {
    /// Draws the solid.
    pub fn draw(&self, out: &mut String, view: &View) {
        let dash = if self.sensor {
            " stroke-dasharray=\"3 2\" fill-opacity=\".1\""
        } else {
            ""
        };
        match self.shape {
            Shape::Sphere { radius } => self.sphere(out, view, *radius, dash),
            Shape::Cuboid { half } => self.cuboid(out, view, *half, dash),
            Shape::Capsule {
                half_length,
                radius,
            } => self.capsule(out, view, *half_length, *radius, dash),
            Shape::Cylinder { .. }
            | Shape::Cone { .. }
            | Shape::Hull(_)
            | Shape::Rounded(_)
            | Shape::Profile(_)
            | Shape::Mesh(_) => {
                for face in faces(self.shape) {
                    self.face(out, view, &face, dash);
                }
            }
            Shape::HalfSpace { normal } => self.half_space(out, view, *normal),
        }
    }

    /// The faces turned to us, each in its own light. Faces of one box never hide each other.
    fn cuboid(&self, out: &mut String, view: &View, half: Vec3, dash: &str) {
        let eye = self.pose.vector_to_local(view.camera.toward);
        for k in 0..3 {
            let sign = if eye[k] > 0.0 { 1.0 } else { -1.0 };
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let corner = |a: f64, b: f64| {
                let mut p = half;
                (p[k], p[i], p[j]) = (sign * half[k], a * half[i], b * half[j]);
                view.project(self.pose.point(p))
            };
            let corners = [
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ];
            if let Some(d) = polygon(&corners, view.height()) {
                let mut normal = Vec3::ZERO;
                normal[k] = sign;
                let fill = self.colour.map_or_else(String::new, |c| {
                    format!(" fill=\"{}\"", c.lit(light(self.pose.vector(normal))))
                });
                let _ = writeln!(out, "<path{fill}{dash} d=\"{d}\"/>");
            }
        }
    }

    /// A face of a convex solid if it is turned to us; a round side is many faces without seams.
    fn face(&self, out: &mut String, view: &View, face: &Face, dash: &str) {
        let normal = self.pose.vector(face.normal);
        if normal.dot(view.camera.toward) <= 0.0 {
            return;
        }
        let corners: Vec<(f64, f64)> = face
            .corners
            .iter()
            .map(|c| view.project(self.pose.point(*c)))
            .collect();
        let Some(d) = polygon(&corners, view.height()) else {
            return;
        };
        let fill = self.colour.map(|c| c.lit(light(normal)));
        let paint = fill.as_ref().map_or_else(String::new, |f| {
            let seam = if face.round {
                format!(" stroke=\"{f}\"")
            } else {
                String::new()
            };
            format!(" fill=\"{f}\"{seam}")
        });
        let _ = writeln!(out, "<path{paint}{dash} d=\"{d}\"/>");
    }

    /// A disc, lighter where the lamp shines, with the half of the equator that we see: it shows the spin.
    fn sphere(&self, out: &mut String, view: &View, radius: f64, dash: &str) {
        let (x, y) = view.project(self.pose.position);
        let r = radius * view.scale;
        if outside(x, y, r, view.height()) {
            return;
        }
        let [cx, cy, cr] = [x, y, r].map(coordinate);
        let fill = self
            .colour
            .map_or_else(String::new, |c| format!(" fill=\"{}\"", c.lit(0.82)));
        let _ = write!(
            out,
            "<circle{fill}{dash} cx=\"{cx}\" cy=\"{cy}\" r=\"{cr}\"/>"
        );
        if let Some(c) = self.colour {
            let _ = write!(
                out,
                "<circle fill=\"{}\" stroke=\"none\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                c.lit(1.0),
                coordinate(x - 0.12 * r),
                coordinate(y - 0.18 * r),
                coordinate(0.72 * r)
            );
            let (ax, ay, toward) = view.camera.see(self.pose.vector(Vec3::Z));
            let flat = (ax * ax + ay * ay).sqrt();
            if flat > 1e-6 && r > 2.0 {
                // Ends of the visible half: across the projected axis, on the rim.
                let (ex, ey) = (-ay / flat * r, -ax / flat * r);
                let turn = libm::atan2(ey, ex).to_degrees();
                let _ = write!(
                    out,
                    "<path fill=\"none\" stroke-opacity=\".7\" stroke-width=\".8\" d=\"M{} {}A{cr} {} {} 0 {} {} {}\"/>",
                    coordinate(x - ex),
                    coordinate(y - ey),
                    coordinate(r * toward.abs()),
                    coordinate(turn),
                    i32::from(toward > 0.0),
                    coordinate(x + ex),
                    coordinate(y + ey)
                );
            }
        }
        out.push('\n');
    }

    /// The outline of a capsule is that of a thick line with round ends: rim, body and lit stripe.
    fn capsule(&self, out: &mut String, view: &View, half_length: f64, radius: f64, dash: &str) {
        let (x1, y1) = view.project(self.pose.point(Vec3::Z * half_length));
        let (x2, y2) = view.project(self.pose.point(Vec3::Z * -half_length));
        let r = radius * view.scale;
        if outside(
            (x1 + x2) / 2.0,
            (y1 + y2) / 2.0,
            r + half_length * view.scale,
            view.height(),
        ) {
            return;
        }
        let d = format!(
            "M{} {}L{} {}",
            coordinate(x1),
            coordinate(y1),
            coordinate(x2),
            coordinate(y2)
        );
        let mut stroke = |colour: &str, opacity: f64, width: f64, shift: f64| {
            let shift = if shift == 0.0 {
                String::new()
            } else {
                format!(
                    " transform=\"translate({} {})\"",
                    coordinate(-0.7 * shift),
                    coordinate(-shift)
                )
            };
            let _ = write!(
                out,
                "<path fill=\"none\" stroke=\"{colour}\" stroke-opacity=\"{opacity}\"{dash} stroke-width=\"{}\" stroke-linecap=\"round\"{shift} d=\"{d}\"/>",
                coordinate(width)
            );
        };
        match self.colour {
            Some(c) => {
                stroke("currentColor", 0.45, 2.0 * r + 0.5, 0.0);
                stroke(&c.lit(0.78), 1.0, 2.0 * r, 0.0);
                stroke(&c.lit(1.0), 1.0, 1.1 * r, 0.25 * r);
            }
            None => stroke("currentColor", 0.1, 2.0 * r, 0.0),
        }
        out.push('\n');
    }

    /// A patch of the plane under the moving bodies, as a grid.
    fn half_space(&self, out: &mut String, view: &View, normal: Vec3) {
        let n = self.pose.vector(normal);
        let center = view.middle - n * n.dot(view.middle - self.pose.position);
        let along = if n.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
        let u = (along - n * n.dot(along)).normalize();
        let v = n.cross(u);
        let size = 1.2 * view.extent;
        let at = |a: f64, b: f64| view.project(center + (u * a + v * b) * size);
        if let Some(d) = polygon(
            &[at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)],
            view.height(),
        ) {
            let _ = writeln!(out, "<path d=\"{d}\"/>");
        }
        const LINES: i32 = 8;
        for k in 1 - LINES..LINES {
            let a = f64::from(k) / f64::from(LINES);
            for (p, q) in [(at(a, -1.0), at(a, 1.0)), (at(-1.0, a), at(1.0, a))] {
                let [x1, y1, x2, y2] = [p.0, p.1, q.0, q.1].map(coordinate);
                let _ = writeln!(
                    out,
                    "<path stroke-opacity=\".12\" d=\"M{x1} {y1}L{x2} {y2}\"/>"
                );
            }
        }
    }
}

/// A flat piece of a surface in the shape frame.
struct Face {
    normal: Vec3,
    corners: Vec<Vec3>,
    /// One of many that stand for a round side.
    round: bool,
}

/// Facets that stand for a round side.
const FACETS: u32 = 24;

/// The surface of a solid in flat pieces; none for those with an outline of their own.
fn faces(shape: &Shape) -> Vec<Face> {
    let rim = |k: u32, radius: f64, z: f64| {
        let (s, c) = libm::sincos(f64::from(k) * std::f64::consts::TAU / f64::from(FACETS));
        Vec3::new(radius * c, radius * s, z)
    };
    let flat = |normal: Vec3, corners: Vec<Vec3>| Face {
        normal,
        corners,
        round: false,
    };
    match shape {
        Shape::Cylinder {
            half_length: h,
            radius: r,
        } => {
            let mut out = vec![
                flat(Vec3::Z, (0..FACETS).map(|k| rim(k, *r, *h)).collect()),
                flat(-Vec3::Z, (0..FACETS).map(|k| rim(k, *r, -h)).collect()),
            ];
            for k in 0..FACETS {
                let corners = vec![
                    rim(k, *r, -h),
                    rim(k + 1, *r, -h),
                    rim(k + 1, *r, *h),
                    rim(k, *r, *h),
                ];
                let normal = (rim(k, 1.0, 0.0) + rim(k + 1, 1.0, 0.0)).normalize();
                out.push(Face {
                    normal,
                    corners,
                    round: true,
                });
            }
            out
        }
        Shape::Cone {
            half_length: h,
            radius: r,
        } => {
            let mut out = vec![flat(
                -Vec3::Z,
                (0..FACETS).map(|k| rim(k, *r, -h)).collect(),
            )];
            for k in 0..FACETS {
                let corners = vec![rim(k, *r, -h), rim(k + 1, *r, -h), Vec3::Z * *h];
                let normal = (corners[1] - corners[0])
                    .cross(corners[2] - corners[0])
                    .normalize();
                out.push(Face {
                    normal,
                    corners,
                    round: true,
                });
            }
            out
        }
        Shape::Hull(hull) => hull
            .faces()
            .iter()
            .enumerate()
            .map(|(i, f)| {
                let corners = hull.face_vertices(i).iter();
                flat(
                    f.normal,
                    corners.map(|v| hull.vertices()[*v as usize]).collect(),
                )
            })
            .collect(),
        Shape::Rounded(rounded) => match rounded.polyhedron() {
            Some(hull) => {
                let mut all = faces(&Shape::Hull(hull.into()));
                all.iter_mut().for_each(|f| f.round = true);
                all
            }
            None => faces(rounded.core()),
        },
        Shape::Profile(profile) => {
            let (points, triangles) = profile.drawn();
            let corners = |t: &[u32; 3]| t.map(|i| points[i as usize]);
            let face = |[a, b, c]: [Vec3; 3]| {
                let normal = (b - a).cross(c - a).normalize_or(Vec3::Z);
                flat(normal, vec![a, b, c])
            };
            triangles.iter().map(|t| face(corners(t))).collect()
        }
        Shape::Mesh(mesh) => (0..mesh.triangles().len() as u32)
            .map(|t| flat(mesh.normal(t), mesh.corners(t).to_vec()))
            .collect(),
        _ => Vec::new(),
    }
}

/// Circles that cover a shape in the view; `None` for what is infinite.
pub fn shadow(camera: &Camera, shape: &Shape, pose: &Pose) -> Option<Vec<(f64, f64, f64)>> {
    let circle = |p: Vec3, r: f64| {
        let (x, y, _) = camera.see(p);
        (x, y, r)
    };
    Some(match shape {
        Shape::Sphere { radius } => vec![circle(pose.position, *radius)],
        Shape::Capsule {
            half_length,
            radius,
        } => [1.0, -1.0]
            .map(|s| circle(pose.point(Vec3::Z * (s * half_length)), *radius))
            .to_vec(),
        Shape::Cuboid { half } => (0..8)
            .map(|i| {
                let side = |bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
                circle(
                    pose.point(*half * Vec3::new(side(0), side(1), side(2))),
                    0.0,
                )
            })
            .collect(),
        Shape::Cylinder { .. }
        | Shape::Cone { .. }
        | Shape::Hull(_)
        | Shape::Rounded(_)
        | Shape::Profile(_)
        | Shape::Mesh(_) => faces(shape)
            .into_iter()
            .flat_map(|f| f.corners)
            .map(|c| circle(pose.point(c), 0.0))
            .collect(),
        Shape::HalfSpace { .. } => return None,
    })
}

/// Light on a face with this outward normal, in eight steps so that equal faces share a colour.
fn light(normal: Vec3) -> f64 {
    let lit = 0.62 + 0.38 * normal.dot(LAMP.normalize()).max(0.0);
    (lit * 16.0).round() / 16.0
}

fn outside(x: f64, y: f64, r: f64, height: f64) -> bool {
    !(x + r > 0.0 && x - r < WIDTH && y + r > 0.0 && y - r < height)
}

/// A closed path; `None` if no part of it can be in the picture.
fn polygon(corners: &[(f64, f64)], height: f64) -> Option<String> {
    let over = |f: fn(f64, f64) -> f64, g: fn(&(f64, f64)) -> f64, start: f64| {
        corners.iter().map(g).fold(start, f)
    };
    let (left, right) = (
        over(f64::min, |c| c.0, f64::INFINITY),
        over(f64::max, |c| c.0, f64::NEG_INFINITY),
    );
    let (top, bottom) = (
        over(f64::min, |c| c.1, f64::INFINITY),
        over(f64::max, |c| c.1, f64::NEG_INFINITY),
    );
    if right < 0.0
        || left > WIDTH
        || bottom < 0.0
        || top > height
        || !(right - left).is_finite()
        || !(bottom - top).is_finite()
    {
        return None;
    }
    let mut d = String::new();
    for (k, (x, y)) in corners.iter().enumerate() {
        let _ = write!(
            d,
            "{}{} {}",
            if k == 0 { 'M' } else { 'L' },
            coordinate(*x),
            coordinate(*y)
        );
    }
    d.push('z');
    Some(d)
}
