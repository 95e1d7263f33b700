//! A body of the file to a body of the engine, and back with every default written out.
//!
//! Reads: `format::Body`, the materials of the scene.  Writes: `Problems`.
//! Called by: `build` (bodies), `generate` (templates).
//! Source: `docs/scene-format.md`, "Bodies".

use crate::build::MaterialTable;
use crate::check::{LARGE, axis_angle, quaternion, vector};
use crate::diagnostics::{At, Problems};
use crate::format::{self, Kind};
use crate::motion::{drag, motion};
use crate::solid::{mass, shapes};
use tippe::{BodyDesc, BodyKind, Motion, Pose, Quat};

/// What the place of a body comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A body of its own: has a name and a position.
    Single,
    /// A template: the generator gives the position.
    Template,
    /// A template whose rotation the generator gives as well.
    TemplateTurned,
}

/// Checks a body of the file and builds its description; what is wrong is reported and replaced by something harmless.
pub(crate) fn describe(
    body: &format::Body,
    at: &At,
    role: Role,
    materials: &MaterialTable,
    problems: &mut Problems,
) -> BodyDesc {
    placed_by_generator(body, at, role, problems);
    let pose = Pose::new(
        vector(
            body.position.unwrap_or_default(),
            &at.key("position"),
            problems,
        ),
        rotation(body.rotation, body.rotation_deg.as_ref(), at, problems),
    );
    let kind = kind(body, &pose, at, problems);
    let shapes = shapes(body, at, materials, problems);
    let mass = mass(body, &kind, &shapes, at, problems);
    if let Some(colour) = body.colour {
        if role != Role::Single {
            let reason = "bodies of a generator are coloured by the program";
            problems.error(&at.key("colour"), reason, "remove it");
        } else if colour.iter().any(|x| !(0.0..=1.0).contains(x)) {
            let help = "write red, green and blue: [1, 0.5, 0]";
            problems.error(&at.key("colour"), "must be between 0 and 1", help);
        }
    }
    if body.locked.is_some() && role != Role::Single {
        let help = "write these bodies one by one";
        problems.error(&at.key("locked"), "not in a generator", help);
    }
    if body.gravity_scale.is_some_and(|s| s.abs() > LARGE) {
        problems.error(
            &at.key("gravity_scale"),
            "too large",
            "1 is normal gravity, 0 none",
        );
    }
    BodyDesc {
        name: body.name.clone().unwrap_or_default(),
        kind,
        pose,
        velocity: vector(
            body.velocity.unwrap_or_default(),
            &at.key("velocity"),
            problems,
        ),
        angular_velocity: vector(
            body.angular_velocity.unwrap_or_default(),
            &at.key("angular_velocity"),
            problems,
        ),
        shapes,
        mass,
        drag: body
            .drag
            .as_ref()
            .map(|d| drag(d, &at.key("drag"), problems)),
        gravity_scale: body.gravity_scale.unwrap_or(1.0),
    }
}

fn placed_by_generator(body: &format::Body, at: &At, role: Role, problems: &mut Problems) {
    if role != Role::Single && body.position.is_some() {
        problems.error(
            &at.key("position"),
            "the generator says where its bodies are",
            "remove it here; use the generator's own fields",
        );
    }
    if role == Role::TemplateTurned {
        for (key, given) in [
            ("rotation", body.rotation.is_some()),
            ("rotation_deg", body.rotation_deg.is_some()),
        ] {
            if given {
                problems.error(
                    &at.key(key),
                    "random_rotation turns these bodies",
                    "remove this, or remove random_rotation",
                );
            }
        }
    }
}

/// Orientation from `rotation` or `rotation_deg`, whichever is given.
pub(crate) fn rotation(
    q: Option<[f64; 4]>,
    turns: Option<&format::OneOrMany<format::AxisAngle>>,
    at: &At,
    problems: &mut Problems,
) -> Quat {
    if q.is_some() && turns.is_some() {
        problems.error(
            &at.key("rotation_deg"),
            "two rotations for one thing",
            "keep either rotation or rotation_deg",
        );
    }
    if let Some(q) = q {
        return quaternion(q, &at.key("rotation"), problems);
    }
    let at = at.key("rotation_deg");
    match turns {
        None => Quat::IDENTITY,
        Some(format::OneOrMany::One(t)) => axis_angle(t.axis, t.angle, &at, problems),
        Some(format::OneOrMany::Many(list)) => {
            let mut total = Quat::IDENTITY;
            for (i, t) in list.iter().enumerate() {
                total = axis_angle(t.axis, t.angle, &at.index(i), problems) * total;
            }
            total * (1.0 / total.length_squared().sqrt())
        }
    }
}

fn kind(body: &format::Body, pose: &Pose, at: &At, problems: &mut Problems) -> BodyKind {
    let kind = body.kind.unwrap_or_default();
    let word = match kind {
        Kind::Dynamic => "dynamic",
        Kind::Fixed => "fixed",
        Kind::Kinematic => "kinematic",
    };
    if kind != Kind::Dynamic {
        let help = if kind == Kind::Fixed {
            "make it dynamic or kinematic, or remove this"
        } else {
            "give the velocity in `motion`"
        };
        for (key, given) in [
            ("velocity", body.velocity),
            ("angular_velocity", body.angular_velocity),
        ] {
            if given.is_some_and(|v| v != [0.0; 3]) {
                problems.error(
                    &at.key(key),
                    format!("a {word} body has no velocity of its own"),
                    help,
                );
            }
        }
        if body.drag.is_some() {
            problems.error(
                &at.key("drag"),
                format!("drag does nothing to a {word} body"),
                "remove it, or make the body dynamic",
            );
        }
    }
    match (kind, &body.motion) {
        (Kind::Dynamic, None) => BodyKind::Dynamic,
        (Kind::Fixed, None) => BodyKind::Fixed,
        (Kind::Kinematic, Some(m)) => BodyKind::Kinematic(motion(m, body, pose, at, problems)),
        (Kind::Kinematic, None) => {
            let help = "add motion = { kind = \"constant\", velocity = [0, 0, 0] }, or make the body fixed";
            problems.error(
                &at.key("motion"),
                "missing: a kinematic body needs a motion",
                help,
            );
            BodyKind::Kinematic(Motion::REST)
        }
        (_, Some(_)) => {
            problems.error(
                &at.key("motion"),
                format!("a {word} body follows no prescribed motion"),
                "add kind = \"kinematic\"",
            );
            BodyKind::Fixed
        }
    }
}
