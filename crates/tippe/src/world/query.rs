//! Queries: what lies on a ray or in the way of a shape, what overlaps it, what is nearest. They change nothing.
//!
//! Reads: a world as it is.  Writes: nothing of it; scratch of the broad phase.
//! Called by: users, `tippe query`.
//! Source: `geometry`, `collide::advance` (a shape cast is a time of impact with speed one), `collide::broad`.

use crate::collide::advance::{TimeOfImpact, time_of_impact};
use crate::collide::broad::BroadPhase;
use crate::collide::flight::Flight;
use crate::error::BuildError;
use crate::geometry::{Separation, convex, in_range, separation_within, triangles};
use crate::math::{Pose, Quat, Vec3};
use crate::model::{BodyId, Filter, ShapeDesc};
use crate::shape::{Aabb, Core, Shape, TriangleMesh};
use crate::world::World;

/// Which shapes a query sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryFilter {
    /// Shapes that would touch a shape of these groups and this mask; all of them by default.
    pub filter: Filter,
    /// Bodies that are not seen.
    pub without: Vec<BodyId>,
    /// Whether sensors are seen too.
    pub sensors: bool,
}

impl Default for QueryFilter {
    fn default() -> Self {
        Self {
            filter: Filter {
                groups: u32::MAX,
                mask: u32::MAX,
            },
            without: Vec::new(),
            sensors: false,
        }
    }
}

impl QueryFilter {
    fn sees(&self, body: BodyId, shape: &ShapeDesc) -> bool {
        (self.sensors || !shape.sensor)
            && self.filter.allows(shape.filter)
            && !self.without.contains(&body)
    }
}

/// One shape that a query found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Whose shape.
    pub body: BodyId,
    /// Which of its shapes.
    pub shape: u32,
    /// How far [m]: along the ray, along the cast, between the shapes; below zero it is the depth of an overlap.
    pub distance: f64,
    /// Where, on the surface of the shape that was found, world [m].
    pub point: Vec3,
    /// Unit normal of that surface there, towards the asker; against the direction where a ray starts inside.
    pub normal: Vec3,
}

/// A world ready to be asked. Make it once for many questions: only the first sorts the shapes.
#[derive(Clone, Debug)]
pub struct Queries<'a> {
    world: &'a World,
    items: Vec<(BodyId, u32, Pose)>,
    /// Bounds of the items, and of the question at the end.
    boxes: Vec<Aabb>,
    movable: Vec<bool>,
    broad: BroadPhase,
}

impl World {
    /// The world as it is now, ready to be asked.
    #[must_use]
    pub fn queries(&self) -> Queries<'_> {
        let mut items = Vec::new();
        let mut boxes = Vec::new();
        for id in self.body_ids() {
            let (Ok(body), Ok(frame)) = (self.body(id), self.pose(id)) else {
                continue;
            };
            for (i, s) in body.shapes.iter().enumerate() {
                let pose = frame.compose(&s.pose);
                boxes.push(s.shape.bounds(&pose));
                items.push((id, i as u32, pose));
            }
        }
        boxes.push(Aabb::EMPTY);
        let mut movable = vec![false; boxes.len()];
        movable[items.len()] = true;
        Queries {
            world: self,
            items,
            boxes,
            movable,
            broad: BroadPhase::default(),
        }
    }
}

/// Distance at which a ray has arrived, relative to the lengths that enter it [1].
const QUERY_ARRIVED: f64 = 1e-13;
/// Looks of a ray at one shape.
const LOOKS_MAX: u32 = 256;
/// Distance at which a cast shape touches, relative to its reach [1].
const TOUCH: f64 = 1e-10;
/// Farthest point that may be asked with [m].
const FAR_MAX: f64 = 1e40;
/// Longest ray or cast [m]: beyond it positions have no digits left for the shapes.
const QUERY_LENGTH_MAX: f64 = 1e12;

impl Queries<'_> {
    /// Everything on the ray from `origin` along `direction` (of any length) up to `length` [m], nearest first.
    ///
    /// Each shape counts once, where the ray enters it; at distance 0 where the ray starts inside.
    ///
    /// # Errors
    /// The field that makes no sense, and why.
    pub fn ray(
        &mut self,
        origin: Vec3,
        direction: Vec3,
        length: f64,
        filter: &QueryFilter,
    ) -> Result<Vec<Hit>, BuildError> {
        let d = unit(direction)?;
        finite("origin", origin)?;
        let length = checked_length("length", length)?;
        let bounds = Aabb {
            min: origin,
            max: origin,
        };
        let way = Aabb {
            min: origin + d * length,
            max: origin + d * length,
        };
        let mut hits = Vec::new();
        for (body, index, shape, pose) in self.near(&bounds.merged(&way), filter) {
            if let Some((distance, normal)) = enter(shape, &pose, origin, d, length) {
                hits.push(Hit {
                    body,
                    shape: index,
                    distance,
                    point: origin + d * distance,
                    normal,
                });
            }
        }
        Ok(sorted(hits))
    }

    /// Everything that `shape` meets when it moves from `pose` along `direction` (of any length) by up to `length` [m], nearest first.
    ///
    /// What it overlaps at the start has distance 0.
    ///
    /// # Errors
    /// The field that makes no sense, and why.
    pub fn cast(
        &mut self,
        shape: &Shape,
        pose: &Pose,
        direction: Vec3,
        length: f64,
        filter: &QueryFilter,
    ) -> Result<Vec<Hit>, BuildError> {
        let d = unit(direction)?;
        probe(shape, pose)?;
        let length = checked_length("length", length)?;
        let start = shape.bounds(pose);
        let end = shape.bounds(&Pose::new(pose.position + d * length, pose.rotation));
        let flight = Flight::uniform(*pose, d, Vec3::ZERO);
        let mut hits = Vec::new();
        for (body, index, other, place) in self.near(&start.merged(&end), filter) {
            let rest = Flight::rest(place);
            // As near as a ray has to come, of which next to nothing is left of a tiny shape's own size.
            let scale = bounded_reach(other) + (place.position - pose.position).length();
            let tolerance = (TOUCH * shape.reach()).max(QUERY_ARRIVED * scale);
            let found = time_of_impact((other, &rest), (shape, &flight), length, tolerance);
            let (distance, s) = match found {
                Ok(TimeOfImpact::At { time, separation }) => (time, separation),
                // A cast that only just misses or grazes: where it is by then is the answer it has.
                Ok(TimeOfImpact::Unresolved { time }) => {
                    let there = flight.at(time);
                    let graze = (GRAZE * shape.reach()).max(10.0 * tolerance);
                    match separation_within(other, &place, shape, &there, graze) {
                        Ok(Some(s)) => (time, s),
                        _ => continue,
                    }
                }
                _ => continue,
            };
            hits.push(Hit {
                body,
                shape: index,
                distance,
                point: s.point_a,
                normal: s.normal,
            });
        }
        Ok(sorted(hits))
    }

    /// Everything that `shape` at `pose` touches or overlaps, deepest first; `distance` is below zero by the depth.
    ///
    /// # Errors
    /// The field that makes no sense, and why.
    pub fn overlaps(
        &mut self,
        shape: &Shape,
        pose: &Pose,
        filter: &QueryFilter,
    ) -> Result<Vec<Hit>, BuildError> {
        self.within(shape, pose, 0.0, filter)
    }

    /// Everything within `limit` [m] of `shape` at `pose`, nearest (or deepest) first.
    ///
    /// # Errors
    /// The field that makes no sense, and why.
    pub fn within(
        &mut self,
        shape: &Shape,
        pose: &Pose,
        limit: f64,
        filter: &QueryFilter,
    ) -> Result<Vec<Hit>, BuildError> {
        probe(shape, pose)?;
        let limit = checked_length("limit", limit)?;
        let bounds = shape.bounds(pose).grown(limit);
        let mut hits = Vec::new();
        for (body, index, other, place) in self.near(&bounds, filter) {
            if let Ok(Some(s)) = separation_within(other, &place, shape, pose, limit) {
                hits.push(hit(body, index, &s));
            }
        }
        Ok(sorted(hits))
    }

    /// Everything within `limit` [m] of a point, nearest first; `distance` is below zero by the depth of a point inside.
    ///
    /// # Errors
    /// The field that makes no sense, and why.
    pub fn within_of_point(
        &mut self,
        point: Vec3,
        limit: f64,
        filter: &QueryFilter,
    ) -> Result<Vec<Hit>, BuildError> {
        finite("point", point)?;
        let limit = checked_length("limit", limit)?;
        let bounds = Aabb {
            min: point,
            max: point,
        };
        let mut hits = Vec::new();
        for (body, index, other, place) in self.near(&bounds.grown(limit), filter) {
            if let Some(s) = from_point(other, &place, point, limit) {
                hits.push(hit(body, index, &s));
            }
        }
        Ok(sorted(hits))
    }

    /// Shapes that the filter sees and whose bounds overlap `bounds`, in order of body and shape. Those of absurd sizes are no shapes.
    fn near(
        &mut self,
        bounds: &Aabb,
        filter: &QueryFilter,
    ) -> impl Iterator<Item = (BodyId, u32, &Shape, Pose)> {
        let last = self.items.len();
        self.boxes[last] = *bounds;
        let world = self.world;
        let items = &self.items;
        let pairs = self.broad.update(&self.boxes, &self.movable);
        pairs.iter().filter_map(move |&(i, _)| {
            let (id, index, pose) = *items.get(i as usize)?;
            let shape = world.body(id).ok()?.shapes.get(index as usize)?;
            let seen = filter.sees(id, shape) && in_range(&shape.shape, &pose);
            seen.then_some((id, index, &shape.shape, pose))
        })
    }
}

/// Radius of a ball about its origin that holds a shape, none for half-spaces [m].
fn bounded_reach(shape: &Shape) -> f64 {
    match shape {
        Shape::HalfSpace { .. } => 0.0,
        _ => shape.reach(),
    }
}

/// Gap at which a cast whose search ended at its limit still counts as a touch, relative to the shape's reach [1].
const GRAZE: f64 = 1e-6;

fn hit(body: BodyId, shape: u32, s: &Separation) -> Hit {
    Hit {
        body,
        shape,
        distance: s.distance,
        point: s.point_a,
        normal: s.normal,
    }
}

/// By distance, then in the order in which they came: body and shape.
fn sorted(mut hits: Vec<Hit>) -> Vec<Hit> {
    // Numbers at the edge of their range may give no answer.
    let unit = |n: Vec3| (n.length_squared() - 1.0).abs() < 1e-6;
    hits.retain(|h| h.distance.is_finite() && h.point.is_finite() && unit(h.normal));
    hits.sort_by(|x, y| x.distance.total_cmp(&y.distance));
    hits
}

/// Where a ray enters a shape: distance and the normal of the surface there.
fn enter(shape: &Shape, pose: &Pose, origin: Vec3, d: Vec3, length: f64) -> Option<(f64, Vec3)> {
    if let Shape::HalfSpace { normal } = shape {
        let n = pose.vector(*normal);
        let height = n.dot(origin - pose.position);
        if height <= 0.0 {
            return Some((0.0, -d));
        }
        let t = -height / n.dot(d);
        return (t >= 0.0 && t <= length).then_some((t, n));
    }
    if let Shape::Mesh(mesh) = shape {
        return enter_mesh(mesh, pose, origin, d, length);
    }
    let (core, radius) = Core::of(shape)?;
    // From plane to plane: the point moves up to the plane that parts it from the shape, and is looked at again.
    let mut t = 0.0;
    let mut normal = -d;
    for _ in 0..LOOKS_MAX {
        let x = origin + d * t;
        let point = Pose::new(x, Quat::IDENTITY);
        let s = convex(
            (core, radius),
            pose,
            (Core::Point, 0.0),
            &point,
            f64::INFINITY,
        )?;
        let scale = core.reach() + radius + (x - pose.position).length();
        if s.distance <= QUERY_ARRIVED * scale {
            return Some((t, normal));
        }
        normal = s.normal;
        let closing = -d.dot(normal);
        let step = s.distance / closing;
        if closing <= 0.0 || t + step > length {
            return None;
        }
        if t + step <= t {
            break;
        }
        t += step;
    }
    // Along a surface that it grazes a ray comes closer by ever less.
    Some((t, normal))
}

/// Where a ray first meets the front of a mesh.
fn enter_mesh(
    mesh: &TriangleMesh,
    pose: &Pose,
    origin: Vec3,
    d: Vec3,
    length: f64,
) -> Option<(f64, Vec3)> {
    let (o, d) = (pose.point_to_local(origin), pose.vector_to_local(d));
    let end = o + d * length.min(FAR_MAX);
    let bounds = Aabb {
        min: o.min(end),
        max: o.max(end),
    };
    let mut best: Option<(f64, Vec3)> = None;
    mesh.overlapping(bounds, |i| {
        let [a, b, c] = mesh.corners(i);
        let n = mesh.normal(i);
        let closing = -n.dot(d);
        let t = n.dot(o - a) / closing;
        let x = o + d * t;
        // Inside all three edges, seen along the normal.
        let inside = |p: Vec3, q: Vec3| n.dot((q - p).cross(x - p)) >= 0.0;
        let hit = closing > 0.0 && t >= 0.0 && t <= length;
        if hit && inside(a, b) && inside(b, c) && inside(c, a) && best.is_none_or(|b| t < b.0) {
            best = Some((t, pose.vector(n)));
        }
        None
    });
    best
}

/// How a shape (A) and a point lie to each other.
fn from_point(shape: &Shape, pose: &Pose, x: Vec3, limit: f64) -> Option<Separation> {
    let point = Pose::new(x, Quat::IDENTITY);
    let s = match shape {
        Shape::HalfSpace { normal } => {
            let n = pose.vector(*normal);
            let distance = n.dot(x - pose.position);
            Separation {
                distance,
                normal: n,
                point_a: x - n * distance,
                point_b: x,
            }
        }
        Shape::Mesh(mesh) => triangles(mesh, pose, (Core::Point, 0.0), &point, limit)?,
        _ => convex(Core::of(shape)?, pose, (Core::Point, 0.0), &point, limit)?,
    };
    (s.distance <= limit).then_some(s)
}

fn finite(field: &str, v: Vec3) -> Result<(), BuildError> {
    if v.abs().max_element() <= FAR_MAX && v.is_finite() {
        Ok(())
    } else {
        let reason = format!("must be finite, and no farther away than {FAR_MAX:e} m");
        Err(BuildError::new(field, reason))
    }
}

fn unit(direction: Vec3) -> Result<Vec3, BuildError> {
    // Scaled first: the square of a long or short vector may be out of range.
    let size = direction.abs().max_element();
    let scaled = direction / size;
    if size.is_finite() && size > 0.0 && scaled.is_finite() {
        Ok(scaled / scaled.length())
    } else {
        Err(BuildError::new("direction", "must be finite and not zero"))
    }
}

fn checked_length(field: &str, length: f64) -> Result<f64, BuildError> {
    if (0.0..=QUERY_LENGTH_MAX).contains(&length) {
        Ok(length)
    } else {
        let reason = format!("must be between 0 and {QUERY_LENGTH_MAX:e} m, got {length}");
        Err(BuildError::new(field, reason))
    }
}

fn probe(shape: &Shape, pose: &Pose) -> Result<(), BuildError> {
    shape.check().map_err(|e| e.inside("shape"))?;
    if matches!(shape, Shape::HalfSpace { .. }) {
        return Err(BuildError::new("shape", "must be bounded to be asked with"));
    }
    if !pose.is_finite() || (pose.rotation.length_squared() - 1.0).abs() > 1e-6 {
        return Err(BuildError::new(
            "pose",
            "must be finite, with a unit quaternion",
        ));
    }
    if !in_range(shape, pose) {
        let reason = "a size or a place is outside 1e-50 to 1e50 m";
        return Err(BuildError::new("shape", reason));
    }
    Ok(())
}
