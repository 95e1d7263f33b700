//! What a picture must show: points around the moving bodies, what is near them, and the threads they hang on.
//!
//! Reads: the world as it is now.  Writes: points and lines [m].
//! Called by: `stage`.
//! Source: the page frames its scenes in the same way.

use tippe::shape::aabb::Aabb;
use tippe::{BodyId, BodyKind, JointDesc, JointKind, Shape, Vec3, World};

/// Fixed bodies farther away than this many sizes of the moving part are cut off.
const NEAR: f64 = 1.1;

/// Corners of the boxes of the moving bodies, and with `fixed` of near ones that do not move; the floor below, if it is near.
pub fn points(world: &World, fixed: bool) -> Vec<Vec3> {
    let mut all: Vec<Vec3> = boxes(world, false).flat_map(|b| corners(&b)).collect();
    for (a, b) in threads(world) {
        all.extend([a, b]);
    }
    if !fixed {
        return all;
    }
    let moving = bounds(&all);
    let (least, most, reach) = match moving {
        Some((low, high)) => {
            let reach = NEAR * (high - low).max_element();
            (low - reach, high + reach, reach)
        }
        None => (Vec3::NEG_INFINITY, Vec3::INFINITY, f64::INFINITY),
    };
    for b in boxes(world, true) {
        let cut = Aabb {
            min: b.min.max(least),
            max: b.max.min(most),
        };
        if cut.min.cmple(cut.max).all() {
            all.extend(corners(&cut));
        }
    }
    if let Some((low, high)) = bounds(&all) {
        let middle = (low + high) / 2.0;
        for (point, n) in floors(world) {
            let foot = middle - n * n.dot(middle - point);
            if (foot - middle).length() < 2.0 * reach {
                all.push(foot);
            }
        }
    }
    all
}

/// The box around points, if there are any.
pub fn bounds(points: &[Vec3]) -> Option<(Vec3, Vec3)> {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (low, high) = points
        .iter()
        .fold(start, |(l, h), p| (l.min(*p), h.max(*p)));
    (low.x <= high.x).then_some((low, high))
}

/// Half-spaces: a point of each and its normal.
pub fn floors(world: &World) -> impl Iterator<Item = (Vec3, Vec3)> {
    world
        .body_ids()
        .filter_map(|id| Some((world.body(id).ok()?, world.pose(id).ok()?)))
        .flat_map(|(body, pose)| {
            body.shapes.iter().filter_map(move |s| match s.shape {
                Shape::HalfSpace { normal } => {
                    let place = pose.compose(&s.pose);
                    Some((place.position, place.vector(normal)))
                }
                _ => None,
            })
        })
}

/// Rods, ropes and threads: joints that hold a distance, and bodies that hang on a point of the world outside of them.
pub fn threads(world: &World) -> Vec<(Vec3, Vec3)> {
    let joints = world.joint_ids().filter_map(|id| world.joint(id).ok());
    joints
        .filter_map(|j| {
            let a = end(world, j.desc.body_a, j.desc.frame_a.position);
            let b = end(world, Some(j.desc.body_b), j.desc.frame_b.position);
            match j.desc.kind {
                JointKind::Distance { .. } => Some((a, b)),
                JointKind::Ball => hanging(world, &j.desc).map(|center| (a, center)),
                _ => None,
            }
        })
        .collect()
}

/// The centre of a body that a ball joint holds from outside, where nothing else can be seen of what holds it.
fn hanging(world: &World, joint: &JointDesc) -> Option<Vec3> {
    if joint.body_a.is_some() {
        return None;
    }
    let pose = world.pose(joint.body_b).ok()?;
    let body = world.body(joint.body_b).ok()?;
    let at = pose.point(joint.frame_b.position);
    let inside = |b: Aabb| b.min.cmple(at).all() && at.cmple(b.max).all();
    let held = body
        .shapes
        .iter()
        .any(|s| inside(s.shape.bounds(&pose.compose(&s.pose))));
    (!held).then(|| pose.point(body.center))
}

fn end(world: &World, body: Option<BodyId>, local: Vec3) -> Vec3 {
    match body {
        Some(id) => world.pose(id).map_or(local, |p| p.point(local)),
        None => local,
    }
}

/// Boxes of the shapes of all bodies that are fixed, or of all that are not.
fn boxes(world: &World, still: bool) -> impl Iterator<Item = Aabb> {
    world
        .body_ids()
        .filter_map(|id| Some((world.body(id).ok()?, world.pose(id).ok()?)))
        .filter(move |(b, _)| (b.kind == BodyKind::Fixed) == still)
        .flat_map(|(b, pose)| {
            let solid = b
                .shapes
                .iter()
                .filter(|s| !matches!(s.shape, Shape::HalfSpace { .. }));
            solid.map(move |s| s.shape.bounds(&pose.compose(&s.pose)))
        })
        .filter(|b| b.min.is_finite() && b.max.is_finite())
}

fn corners(b: &Aabb) -> [Vec3; 8] {
    [0, 1, 2, 3, 4, 5, 6, 7].map(|k: u32| {
        let pick = |bit: u32, low: f64, high: f64| if k >> bit & 1 == 0 { low } else { high };
        Vec3::new(
            pick(0, b.min.x, b.max.x),
            pick(1, b.min.y, b.max.y),
            pick(2, b.min.z, b.max.z),
        )
    })
}
