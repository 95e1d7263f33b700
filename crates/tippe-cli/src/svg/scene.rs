//! Pictures of bodies: shaded solids, far ones first; ground and fixed bodies as light outlines.
//!
//! Reads: World (shapes), frames of poses.  Writes: SVG text.
//! Called by: `report` (frames of the motion), `run` (the picture flag).
//! Source: painter's algorithm over shapes by depth of their centres; right for solids of similar size, good enough for a look.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tippe::{BodyId, BodyKind, Pose, Shape, Vec3, World};

use super::camera::{Camera, View, WIDTH, Window};
use super::solid::{Item, shadow};
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

/// A fixed body or a plane may widen the picture by at most this part of the moving bodies' extent.
const FIXED_REACH: f64 = 0.6;

/// What all pictures of one run share: eye, window, colours.
pub struct Stage<'a> {
    world: &'a World,
    view: View,
    colours: BTreeMap<BodyId, Colour>,
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
        let positions = frames
            .iter()
            .flat_map(|f| &f.poses)
            .filter(|(id, _)| moving(id))
            .map(|(_, p)| p.position);
        Self {
            world,
            view: View::new(camera, window, middle(positions)),
            colours: colours(world, first),
        }
    }

    /// Whether the pictures are much wider than high.
    pub fn is_wide(&self) -> bool {
        let (w, h) = self.view.window.size();
        w > 1.7 * h
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
        let (w, h) = (coordinate(WIDTH), coordinate(self.view.height()));
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
                BodyKind::Dynamic | BodyKind::Link { .. } => {
                    Some(self.colours.get(id).copied().unwrap_or(Colour::GREY))
                }
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
        let depth = |i: &Item| self.view.camera.see(i.pose.position).2;
        still.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
        moving.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
        out.push_str("<g stroke-opacity=\".25\" stroke-width=\".6\" fill=\"currentColor\" fill-opacity=\".06\">\n");
        still.iter().for_each(|i| i.draw(&mut out, &self.view));
        out.push_str("</g>\n<g stroke-opacity=\".45\" stroke-width=\".5\">\n");
        moving.iter().for_each(|i| i.draw(&mut out, &self.view));
        out.push_str("</g>\n<g stroke-opacity=\".3\" stroke-width=\".6\" fill=\"none\">\n");
        still
            .iter()
            .filter(|i| self.in_front(i))
            .for_each(|i| i.draw(&mut out, &self.view));
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
        let p = item.pose.point_to_local(self.view.middle);
        let eye = item.pose.vector_to_local(self.view.camera.toward);
        !(0..3).any(|k| p[k] * eye[k].signum() > half[k] && eye[k] != 0.0)
    }

    fn trails(&self, out: &mut String, trails: &[Vec<Vec3>]) {
        for trail in trails.iter().filter(|t| t.len() > 1) {
            let mut d = String::new();
            for (k, p) in trail.iter().enumerate() {
                let (x, y) = self.view.project(*p);
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
}

/// Middle of the box around some points.
fn middle(points: impl Iterator<Item = Vec3>) -> Vec3 {
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for p in points.filter(|p| p.is_finite()) {
        (low, high) = (low.min(p), high.max(p));
    }
    if low.x <= high.x {
        (low + high) / 2.0
    } else {
        Vec3::ZERO
    }
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
