//! Pictures of bodies: shaded solids, far ones first; ground and fixed bodies as light outlines.
//!
//! Reads: World (shapes), frames of poses.  Writes: SVG text.
//! Called by: `report` (frames of the motion), `run` (the picture flag).
//! Source: painter's algorithm over shapes by depth of their centres; right for solids of similar size, good enough for a look.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tippe::{BodyId, BodyKind, Pose, Shape, Vec3, World};

use super::camera::{Camera, Window};
use super::{Colour, coordinate};

/// Poses of all bodies at one time.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Time [s].
    pub time: f64,
    poses: BTreeMap<BodyId, Pose>,
}

impl Frame {
    /// The world as it is now.
    pub fn of(world: &World) -> Self {
        let poses = world
            .body_ids()
            .filter_map(|id| Some((id, world.pose(id).ok()?)))
            .collect();
        Self {
            time: world.time(),
            poses,
        }
    }
}

/// Width of a picture in its own units.
const WIDTH: f64 = 480.0;
/// Towards the lamp (need not be of unit length).
const LAMP: Vec3 = Vec3::new(-0.35, -0.6, 1.0);
/// A fixed body or a plane may widen the picture by at most this part of the moving bodies' extent.
const FIXED_REACH: f64 = 0.6;

/// What all pictures of one run share: eye, window, colours.
pub struct Stage<'a> {
    world: &'a World,
    camera: Camera,
    window: Window,
    scale: f64,
    colours: BTreeMap<BodyId, Colour>,
    /// Middle and half extent of the moving bodies.
    middle: Vec3,
    extent: f64,
}

/// A shape with its place in the world.
struct Item<'a> {
    shape: &'a Shape,
    pose: Pose,
    sensor: bool,
    colour: Option<Colour>,
}

impl<'a> Stage<'a> {
    /// A stage on which all the given frames fit. Colours go by height in the frame `first`.
    pub fn new(world: &'a World, first: &Frame, frames: &[&Frame]) -> Self {
        let camera = Camera::default();
        let moving = |id: &BodyId| world.body(*id).is_ok_and(|b| b.kind != BodyKind::Fixed);
        let circle = |id: &BodyId, pose: &Pose| -> Vec<(f64, f64, f64)> {
            world.body(*id).map_or_else(
                |_| Vec::new(),
                |b| {
                    b.shapes
                        .iter()
                        .filter_map(|s| shadow(&camera, &s.shape, &pose.compose(&s.pose)))
                        .flatten()
                        .collect()
                },
            )
        };
        let gather = |wanted: &dyn Fn(&BodyId) -> bool| -> Vec<(f64, f64, f64)> {
            frames
                .iter()
                .flat_map(|f| f.poses.iter())
                .filter(|(id, _)| wanted(id))
                .flat_map(|(id, p)| circle(id, p))
                .collect()
        };
        let fixed = Window::around(&gather(&|id| !moving(id)));
        let window = match (Window::around(&gather(&moving)), &fixed) {
            (Some(window), Some(fixed)) => window.reach_for(fixed, FIXED_REACH),
            (Some(window), None) => window,
            (None, Some(fixed)) => *fixed,
            (None, None) => Window {
                edges: [-1.0, -1.0, 1.0, 1.0],
            },
        }
        .padded();
        let (middle, extent) = ball(
            frames
                .iter()
                .flat_map(|f| f.poses.iter())
                .filter(|(id, _)| moving(id))
                .map(|(_, p)| p.position),
            &window,
        );
        Self {
            world,
            camera,
            window,
            scale: WIDTH / window.size().0,
            colours: colours(world, first),
            middle,
            extent,
        }
    }

    /// Height of the pictures in their own units.
    fn height(&self) -> f64 {
        self.window.size().1 * self.scale
    }

    fn project(&self, p: Vec3) -> (f64, f64) {
        let (x, y, _) = self.camera.see(p);
        (
            (x - self.window.edges[0]) * self.scale,
            (self.window.edges[3] - y) * self.scale,
        )
    }

    /// A picture for the report: an inline SVG without a name space.
    pub fn inline(&self, frame: &Frame, trails: &[Vec<Vec3>], id: &str, title: &str) -> String {
        self.svg(frame, trails, "", "", id, title)
    }

    /// A picture as a file of its own, for light and dark pages.
    pub fn file(&self, frame: &Frame, title: &str) -> String {
        let style = "<style>svg{color:#24292f}@media(prefers-color-scheme:dark){svg{color:#c9d1d9}}</style>\n";
        self.svg(
            frame,
            &[],
            " xmlns=\"http://www.w3.org/2000/svg\"",
            style,
            "picture",
            title,
        )
    }

    fn svg(
        &self,
        frame: &Frame,
        trails: &[Vec<Vec3>],
        attributes: &str,
        head: &str,
        id: &str,
        title: &str,
    ) -> String {
        let (w, h) = (coordinate(WIDTH), coordinate(self.height()));
        let mut out = format!(
            "<svg{attributes} viewBox=\"0 0 {w} {h}\" role=\"img\" aria-labelledby=\"{id}-t\"><title id=\"{id}-t\">{}</title>\n{head}\
             <g stroke=\"currentColor\" stroke-linejoin=\"round\">\n",
            super::escape(title)
        );
        let (mut still, mut moving) = (Vec::new(), Vec::new());
        for (id, pose) in &frame.poses {
            let Ok(body) = self.world.body(*id) else {
                continue;
            };
            let colour = match body.kind {
                BodyKind::Fixed => None,
                BodyKind::Kinematic(_) => Some(Colour::GREY),
                BodyKind::Dynamic => Some(self.colours.get(id).copied().unwrap_or(Colour::GREY)),
            };
            let list = if colour.is_none() {
                &mut still
            } else {
                &mut moving
            };
            list.extend(body.shapes.iter().map(|s| Item {
                shape: &s.shape,
                pose: pose.compose(&s.pose),
                sensor: s.sensor,
                colour,
            }));
        }
        // Far ones first; fixed bodies behind everything, and those in front once more as outlines.
        let depth = |i: &Item| self.camera.see(i.pose.position).2;
        still.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
        moving.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
        out.push_str("<g stroke-opacity=\".25\" stroke-width=\".6\" fill=\"currentColor\" fill-opacity=\".06\">\n");
        still.iter().for_each(|i| self.item(&mut out, i));
        out.push_str("</g>\n<g stroke-opacity=\".45\" stroke-width=\".5\">\n");
        moving.iter().for_each(|i| self.item(&mut out, i));
        out.push_str("</g>\n<g stroke-opacity=\".3\" stroke-width=\".6\" fill=\"none\">\n");
        still
            .iter()
            .filter(|i| self.in_front(i))
            .for_each(|i| self.item(&mut out, i));
        out.push_str("</g>\n");
        self.trails(&mut out, trails);
        out.push_str("</g>\n</svg>\n");
        out
    }

    /// Whether a fixed box hides the middle of the moving bodies rather than standing behind it.
    fn in_front(&self, item: &Item) -> bool {
        let Shape::Cuboid { half } = item.shape else {
            return false;
        };
        // A solid is behind a point that lies before one of the faces we see.
        let p = item.pose.point_to_local(self.middle);
        let eye = item.pose.vector_to_local(self.camera.toward);
        !(0..3).any(|k| p[k] * eye[k].signum() > half[k] && eye[k] != 0.0)
    }

    fn trails(&self, out: &mut String, trails: &[Vec<Vec3>]) {
        for trail in trails.iter().filter(|t| t.len() > 1) {
            let mut d = String::new();
            for (k, p) in trail.iter().enumerate() {
                let (x, y) = self.project(*p);
                let _ = write!(
                    d,
                    "{}{} {}",
                    if k == 0 { 'M' } else { 'L' },
                    coordinate(x),
                    coordinate(y)
                );
            }
            let _ = writeln!(
                out,
                "<path d=\"{d}\" fill=\"none\" stroke-opacity=\".6\" stroke-width=\".8\" stroke-dasharray=\"3 2\"/>"
            );
        }
    }

    fn item(&self, out: &mut String, item: &Item) {
        let dash = if item.sensor {
            " stroke-dasharray=\"3 2\" fill-opacity=\".1\""
        } else {
            ""
        };
        match item.shape {
            Shape::Sphere { radius } => self.sphere(out, item, *radius, dash),
            Shape::Cuboid { half } => self.cuboid(out, item, *half, dash),
            Shape::Capsule {
                half_length,
                radius,
            } => self.capsule(out, item, *half_length, *radius, dash),
            Shape::HalfSpace { normal } => self.half_space(out, item, *normal),
        }
    }

    /// The faces turned to us, each in its own light. Faces of one box never hide each other.
    fn cuboid(&self, out: &mut String, item: &Item, half: Vec3, dash: &str) {
        let eye = item.pose.vector_to_local(self.camera.toward);
        for k in 0..3 {
            let sign = if eye[k] > 0.0 { 1.0 } else { -1.0 };
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let corner = |a: f64, b: f64| {
                let mut p = half;
                (p[k], p[i], p[j]) = (sign * half[k], a * half[i], b * half[j]);
                self.project(item.pose.point(p))
            };
            let corners = [
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ];
            if let Some(d) = polygon(&corners, self.height()) {
                let mut normal = Vec3::ZERO;
                normal[k] = sign;
                let fill = item.colour.map_or_else(String::new, |c| {
                    format!(" fill=\"{}\"", c.lit(light(item.pose.vector(normal))))
                });
                let _ = writeln!(out, "<path{fill}{dash} d=\"{d}\"/>");
            }
        }
    }

    /// A disc, lighter where the lamp shines, with the half of the equator that we see: it shows the spin.
    fn sphere(&self, out: &mut String, item: &Item, radius: f64, dash: &str) {
        let (x, y) = self.project(item.pose.position);
        let r = radius * self.scale;
        if outside(x, y, r, self.height()) {
            return;
        }
        let [cx, cy, cr] = [x, y, r].map(coordinate);
        let fill = item
            .colour
            .map_or_else(String::new, |c| format!(" fill=\"{}\"", c.lit(0.82)));
        let _ = write!(
            out,
            "<circle{fill}{dash} cx=\"{cx}\" cy=\"{cy}\" r=\"{cr}\"/>"
        );
        if let Some(c) = item.colour {
            let _ = write!(
                out,
                "<circle fill=\"{}\" stroke=\"none\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                c.lit(1.0),
                coordinate(x - 0.12 * r),
                coordinate(y - 0.18 * r),
                coordinate(0.72 * r)
            );
            let (ax, ay, toward) = self.camera.see(item.pose.vector(Vec3::Z));
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
    fn capsule(&self, out: &mut String, item: &Item, half_length: f64, radius: f64, dash: &str) {
        let (x1, y1) = self.project(item.pose.point(Vec3::Z * half_length));
        let (x2, y2) = self.project(item.pose.point(Vec3::Z * -half_length));
        let r = radius * self.scale;
        if outside(
            (x1 + x2) / 2.0,
            (y1 + y2) / 2.0,
            r + half_length * self.scale,
            self.height(),
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
        match item.colour {
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
    fn half_space(&self, out: &mut String, item: &Item, normal: Vec3) {
        let n = item.pose.vector(normal);
        let center = self.middle - n * n.dot(self.middle - item.pose.position);
        let along = if n.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
        let u = (along - n * n.dot(along)).normalize();
        let v = n.cross(u);
        let size = 1.2 * self.extent;
        let at = |a: f64, b: f64| self.project(center + (u * a + v * b) * size);
        if let Some(d) = polygon(
            &[at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)],
            self.height(),
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

/// Circles that cover a shape in the view; `None` for what is infinite.
fn shadow(camera: &Camera, shape: &Shape, pose: &Pose) -> Option<Vec<(f64, f64, f64)>> {
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
        Shape::HalfSpace { .. } => return None,
    })
}

/// Middle of some points and a distance that covers them and the window.
fn ball(points: impl Iterator<Item = Vec3>, window: &Window) -> (Vec3, f64) {
    let (w, h) = window.size();
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for p in points.filter(|p| p.is_finite()) {
        (low, high) = (low.min(p), high.max(p));
    }
    let middle = if low.x <= high.x {
        (low + high) / 2.0
    } else {
        Vec3::ZERO
    };
    (middle, 0.5 * w.max(h))
}

/// Dynamic bodies get their colour by rank of height (ties by slot), so that layers and their mixing show.
fn colours(world: &World, frame: &Frame) -> BTreeMap<BodyId, Colour> {
    let mut bodies: Vec<(f64, BodyId)> = frame
        .poses
        .iter()
        .filter(|(id, _)| world.body(**id).is_ok_and(tippe::Body::is_dynamic))
        .map(|(id, pose)| ((pose.position.z * 1e3).round() / 1e3, *id))
        .collect();
    bodies.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let last = bodies.len().saturating_sub(1).max(1) as f64;
    bodies
        .iter()
        .enumerate()
        .map(|(rank, (_, id))| (*id, Colour::ramp(rank as f64 / last)))
        .collect()
}

/// Light on a face with this outward normal, in eight steps so that equal faces share a colour.
fn light(normal: Vec3) -> f64 {
    let lit = 0.55 + 0.45 * normal.dot(LAMP.normalize()).max(0.0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use tippe::BodyDesc;

    fn world() -> World {
        let mut world = World::default();
        for body in [
            BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO),
            BodyDesc::fixed(
                Shape::Cuboid {
                    half: Vec3::new(9.0, 1.0, 9.0),
                },
                Vec3::new(0.0, -20.0, 0.0),
            ),
            BodyDesc::dynamic(Shape::Sphere { radius: 0.5 }, Vec3::new(0.0, 0.0, 1.0)),
            BodyDesc::dynamic(Shape::Cuboid { half: Vec3::ONE }, Vec3::new(3.0, 0.0, 2.0)),
            BodyDesc::dynamic(
                Shape::Capsule {
                    half_length: 1.0,
                    radius: 0.3,
                },
                Vec3::new(-3.0, 0.0, 3.0),
            ),
        ] {
            world.add_body(&body).unwrap();
        }
        world
    }

    #[test]
    fn every_shape_is_drawn_and_titles_are_harmless() {
        let world = world();
        let frame = Frame::of(&world);
        let text = Stage::new(&world, &frame, &[&frame]).file(&frame, "<script>");
        assert!(
            text.contains("<circle")
                && text.contains("stroke-linecap=\"round\"")
                && text.contains("#cc4f4d"),
            "{text}"
        );
        assert!(
            text.contains("&lt;script&gt;") && !text.contains("NaN") && !text.contains("inf"),
            "{text}"
        );
        // A page already knows what SVG is.
        assert!(
            !Stage::new(&world, &frame, &[&frame])
                .inline(&frame, &[], "a", "b")
                .contains("http")
        );
    }

    #[test]
    fn a_wall_before_the_bodies_is_in_front_and_one_behind_is_not() {
        let world = world();
        let frame = Frame::of(&world);
        let stage = Stage::new(&world, &frame, &[&frame]);
        let wall = Shape::Cuboid {
            half: Vec3::new(9.0, 1.0, 9.0),
        };
        let item = |y: f64| Item {
            shape: &wall,
            pose: Pose::from_position(Vec3::new(0.0, y, 2.0)),
            sensor: false,
            colour: None,
        };
        assert!(stage.in_front(&item(-20.0)));
        assert!(!stage.in_front(&item(20.0)));
    }

    #[test]
    fn an_empty_world_and_lost_bodies_do_no_harm() {
        let empty = World::default();
        let frame = Frame::of(&empty);
        assert!(
            Stage::new(&empty, &frame, &[&frame])
                .file(&frame, "nothing")
                .contains("</svg>")
        );
        let mut world = world();
        world
            .add_body(&BodyDesc::dynamic(
                Shape::Sphere { radius: 1.0 },
                Vec3::splat(1e300),
            ))
            .unwrap();
        let frame = Frame::of(&world);
        let text = Stage::new(&world, &frame, &[&frame]).file(&frame, "far");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
