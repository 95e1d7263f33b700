//! Profiles of the file: plane solids of segments and arcs, and what they may share a scene with.
//!
//! Reads: `format::Profile`, the world as built.  Writes: `Problems`.
//! Called by: `solid`, `explain`, `build`.
//! Source: `docs/scene-format.md`, "Profiles".

use crate::build::Planned;
use crate::check::positive;
use crate::diagnostics::{At, Problems};
use crate::format;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tippe::{
    BodyId, Filter, Pose, Profile, ProfileEdge, ProfilePath, Shape, ShapeDesc, Vec2, Vec3, World,
};

/// Largest thickness [m]; coordinates are checked by the profile itself.
const THICK_MAX: f64 = 1e6;

/// The solid of the file; a ball stands in for what could not be made.
pub(crate) fn shape(profile: &format::Profile, at: &At, problems: &mut Problems) -> Shape {
    let stand_in = Shape::Sphere { radius: 1.0 };
    let (thick, help) = (at.key("thickness"), "a length in metres, such as 0.1");
    if problems.touches(at) || !positive(profile.thickness, THICK_MAX, help, &thick, problems) {
        return stand_in;
    }
    let holes = profile.holes.iter().flatten();
    let paths: Vec<ProfilePath> = [&profile.outline]
        .into_iter()
        .chain(holes)
        .map(path)
        .collect();
    match Profile::new(&paths, profile.thickness) {
        Ok(profile) => Shape::Profile(Arc::new(profile)),
        Err(e) => {
            let help = "edges follow each other, meet nowhere else, and end where the path starts";
            problems.error(&place(&e.field, at), e.reason, help);
            stand_in
        }
    }
}

fn path(path: &format::ProfilePath) -> ProfilePath {
    let edge = |e: &format::ProfileEdge| {
        let to = Vec2::from_array(e.to);
        match e.through {
            Some(through) => ProfileEdge::Arc {
                through: Vec2::from_array(through),
                to,
            },
            None => ProfileEdge::Line { to },
        }
    };
    ProfilePath {
        start: Vec2::from_array(path.start),
        edges: path.edges.iter().map(edge).collect(),
    }
}

/// Where the file says what a refusal calls `paths[1].edges[2]`.
fn place(field: &str, at: &At) -> At {
    let number = |part: &str, name: &str| -> Option<usize> {
        let inner = part.strip_prefix(name)?.strip_prefix('[')?;
        inner.strip_suffix(']')?.parse().ok()
    };
    let mut found = at.clone();
    for part in field.split('.') {
        if let Some(i) = number(part, "paths") {
            found = match i {
                0 => at.key("outline"),
                _ => at.key("holes").index(i - 1),
            };
        } else if let Some(k) = number(part, "edges") {
            found = found.key("edges").index(k);
        } else if part == "edges" {
            found = found.key("edges");
        }
    }
    found
}

/// A profile as the file says it.
pub(crate) fn explained(profile: &Profile) -> format::Profile {
    let path = |p: &ProfilePath| format::ProfilePath {
        start: p.start.to_array(),
        edges: p
            .edges
            .iter()
            .map(|e| format::ProfileEdge {
                to: e.to().to_array(),
                through: match e {
                    ProfileEdge::Arc { through, .. } => Some(through.to_array()),
                    ProfileEdge::Line { .. } => None,
                },
            })
            .collect(),
    };
    let mut paths = profile.paths().iter().map(path);
    format::Profile {
        thickness: profile.thickness(),
        outline: paths.next().unwrap_or_default(),
        holes: Some(paths.collect::<Vec<_>>()).filter(|h| !h.is_empty()),
    }
}

/// Sine of the angle up to which a half-space stands upright on the plane of a profile [1], as the pair's detection has it.
const UPRIGHT: f64 = 1e-3;

/// Profiles of one filter in planes of one direction, by the bodies they are on.
type Kinds = BTreeMap<(u32, u32, [u64; 3]), Vec<BodyId>>;

/// Profiles feel each other and half-spaces that stand upright on their plane: a scene in which one could pass through another solid is
/// refused. Bodies of the world, links among them, are those of the plan in order.
pub(crate) fn check_company(world: &World, plan: &[Planned], problems: &mut Problems) {
    let mut profiles = Kinds::new();
    for (id, shape, pose) in solids(world) {
        if matches!(shape.shape, Shape::Profile(_)) {
            let axis = pose.vector(Vec3::Z).to_array().map(f64::to_bits);
            let Filter { groups, mask } = shape.filter;
            let bodies = profiles.entry((groups, mask, axis)).or_default();
            bodies.push(id);
        }
    }
    if profiles.is_empty() {
        return;
    }
    let places: BTreeMap<BodyId, &At> = world.body_ids().zip(plan.iter().map(|p| &p.at)).collect();
    let mut told = BTreeSet::new();
    for (id, shape, pose) in solids(world) {
        let normal = match shape.shape {
            Shape::Profile(_) => continue,
            Shape::HalfSpace { normal } => Some(pose.vector(normal)),
            _ => None,
        };
        let passed = profiles.iter().any(|(&(groups, mask, axis), bodies)| {
            let axis = Vec3::from_array(axis.map(f64::from_bits));
            shape.filter.allows(Filter { groups, mask })
                && normal.is_none_or(|n| n.dot(axis).abs() > UPRIGHT)
                && bodies.iter().any(|b| world.may_touch(id, *b) == Ok(true))
        });
        let Some(at) = places.get(&id).filter(|_| passed && told.insert(id)) else {
            continue;
        };
        let (reason, help) = if normal.is_some() {
            (
                "a profile would pass through this half-space: it does not stand upright on the profile's plane",
                "turn the profile: rotation_deg = { axis = [1, 0, 0], angle = 90 } stands it up on normal = [0, 0, 1]",
            )
        } else {
            (
                "a profile would pass through this body: profiles touch profiles and half-spaces alone",
                "make it a profile, or keep the two apart with collision = { groups, mask }",
            )
        };
        problems.error(at, reason, help);
    }
}

/// All shapes that are no sensors, with their bodies and where they are in the world.
fn solids(world: &World) -> impl Iterator<Item = (BodyId, &ShapeDesc, Pose)> {
    world.bodies().flat_map(|(id, body, _)| {
        let pose = world.pose(id).unwrap_or(body.pose_start);
        let solid = body.shapes.iter().filter(|s| !s.sensor);
        solid.map(move |s| (id, s, pose.compose(&s.pose)))
    })
}
