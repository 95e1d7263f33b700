//! Profiles of the file: plane solids of segments and arcs, and what they may share a scene with.
//!
//! Reads: `format::Profile`, planned bodies.  Writes: `Problems`.
//! Called by: `solid`, `explain`, `build`.
//! Source: `docs/scene-format.md`, "Profiles".

use crate::build::Planned;
use crate::check::positive;
use crate::diagnostics::{At, Problems};
use crate::format;
use std::sync::Arc;
use tippe::{Profile, ProfileEdge, ProfilePath, Shape, ShapeDesc, Vec2};

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

/// Profiles feel each other and half-spaces alone: a scene in which one could pass through another solid is refused.
pub(crate) fn check_company(plan: &[Planned], problems: &mut Problems) {
    let profiles: Vec<&ShapeDesc> = plan
        .iter()
        .flat_map(|b| &b.desc.shapes)
        .filter(|s| matches!(s.shape, Shape::Profile(_)) && !s.sensor)
        .collect();
    // What could not be made is stood in for by another solid.
    if profiles.is_empty() || !problems.is_empty() {
        return;
    }
    for body in plan {
        let other = body.desc.shapes.iter().find(|s| {
            let flat = matches!(s.shape, Shape::Profile(_) | Shape::HalfSpace { .. });
            !flat && !s.sensor && profiles.iter().any(|p| p.filter.allows(s.filter))
        });
        if other.is_some() {
            let reason = "a profile would pass through this body: profiles touch profiles and half-spaces alone";
            let help = "make it a profile, or keep the two apart with collision = { groups, mask }";
            problems.error(&body.at, reason, help);
        }
    }
}
