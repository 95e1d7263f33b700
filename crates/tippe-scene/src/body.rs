//! A body of the file to a body of the engine, and back with every default written out.
//!
//! Reads: `format::Body`, the materials of the scene.  Writes: `Problems`.
//! Called by: `build` (bodies), `generate` (templates).
//! Source: `docs/scene-format.md`, "Bodies".

use crate::build::MaterialTable;
use crate::check::{
    HEAVY, LARGE, SMALL, axis_angle, direction, not_negative, positive, quaternion, vector,
};
use crate::diagnostics::{At, Problems};
use crate::format::{self, Kind};
use crate::inertia;
use tippe::{
    BodyDesc, BodyKind, Drag, Filter, MassSpec, Motion, Pose, Quat, Shape, ShapeDesc, Vec3,
};

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
fn rotation(
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

fn motion(
    motion: &format::Motion,
    body: &format::Body,
    pose: &Pose,
    at: &At,
    problems: &mut Problems,
) -> Motion {
    let here = at.key("motion");
    match motion {
        format::Motion::Constant(m) => Motion::Constant {
            velocity: vector(
                m.velocity.unwrap_or_default(),
                &here.key("velocity"),
                problems,
            ),
            angular_velocity: vector(
                m.angular_velocity.unwrap_or_default(),
                &here.key("angular_velocity"),
                problems,
            ),
        },
        format::Motion::Sine(m) => {
            not_negative(
                m.frequency,
                LARGE,
                "write a frequency in hertz",
                &here.key("frequency"),
                problems,
            );
            for (a, b, key) in [
                (
                    m.rotation_amplitude.is_some(),
                    m.rotation_amplitude_deg.is_some(),
                    "rotation_amplitude_deg",
                ),
                (m.phase.is_some(), m.phase_deg.is_some(), "phase_deg"),
            ] {
                if a && b {
                    problems.error(
                        &here.key(key),
                        "given twice, in radians and in degrees",
                        "keep one of the two",
                    );
                }
            }
            let degrees = |d: f64| d.to_radians();
            let turn = m
                .rotation_amplitude
                .or(m.rotation_amplitude_deg.map(|d| d.map(degrees)))
                .unwrap_or_default();
            Motion::Sine {
                amplitude: vector(
                    m.amplitude.unwrap_or_default(),
                    &here.key("amplitude"),
                    problems,
                ),
                rotation_amplitude: vector(turn, &here.key("rotation_amplitude"), problems),
                frequency: m.frequency,
                phase: m.phase.or(m.phase_deg.map(degrees)).unwrap_or(0.0),
            }
        }
        format::Motion::Table(m) => table_motion(m, body, pose, at, problems),
    }
}

fn table_motion(
    m: &format::TableMotion,
    body: &format::Body,
    pose: &Pose,
    at: &At,
    problems: &mut Problems,
) -> Motion {
    let here = at.key("motion");
    if body.position.is_some() {
        problems.error(
            &at.key("position"),
            "the table says where the body is",
            "remove the body's position",
        );
    }
    if m.times.is_empty() && !problems.touches(&here.key("times")) {
        problems.error(
            &here.key("times"),
            "must not be empty",
            "write at least one time and one position",
        );
    }
    if let Some(i) = m.times.windows(2).position(|w| w[0] >= w[1]) {
        let reason = format!(
            "times must rise: {} comes after {}",
            m.times[i + 1],
            m.times[i]
        );
        problems.error(
            &here.key("times").index(i + 1),
            reason,
            "sort the keys by time",
        );
    }
    let lengths = [
        ("positions", Some(m.positions.len())),
        ("rotations", m.rotations.as_ref().map(Vec::len)),
    ];
    for (key, n) in lengths {
        if n.is_some_and(|n| n != m.times.len()) && !problems.touches(&here.key("times")) {
            let reason = format!("{} entries for {} times", n.unwrap_or(0), m.times.len());
            problems.error(&here.key(key), reason, "write one for each time");
        }
    }
    let poses = m.positions.iter().enumerate().map(|(i, p)| {
        let rotation = m.rotations.as_ref().and_then(|list| list.get(i));
        let rotation = rotation.map(|q| quaternion(*q, &here.key("rotations").index(i), problems));
        Pose::new(
            vector(*p, &here.key("positions").index(i), problems),
            rotation.unwrap_or(pose.rotation),
        )
    });
    Motion::Table {
        times: m.times.clone(),
        poses: poses.collect(),
    }
}

fn drag(drag: &format::Drag, at: &At, problems: &mut Problems) -> Drag {
    let mut check = |key: &str, value: f64| {
        positive(
            value,
            HEAVY,
            "drag needs positive numbers; leave `drag` out for none",
            &at.key(key),
            problems,
        );
        value
    };
    match drag {
        format::Drag::Stokes(d) => Drag::Stokes {
            radius: check("radius", d.radius),
            viscosity: check("viscosity", d.viscosity),
        },
        format::Drag::Quadratic(d) => Drag::Quadratic {
            coefficient: check("coefficient", d.coefficient),
            area: check("area", d.area),
            density: check("density", d.density),
        },
        format::Drag::Automatic(d) => Drag::Automatic {
            radius: check("radius", d.radius),
            coefficient: check("coefficient", d.coefficient),
            viscosity: check("viscosity", d.viscosity),
            density: check("density", d.density),
        },
    }
}

fn shapes(
    body: &format::Body,
    at: &At,
    materials: &MaterialTable,
    problems: &mut Problems,
) -> Vec<ShapeDesc> {
    let (one, many) = (at.key("shape"), at.key("shapes"));
    let dynamic = body.kind.unwrap_or_default() == Kind::Dynamic;
    let filter = Filter {
        groups: body
            .collision
            .as_ref()
            .and_then(|c| c.groups.as_ref())
            .map_or(1, format::Bits::to_mask),
        mask: body
            .collision
            .as_ref()
            .and_then(|c| c.mask.as_ref())
            .map_or(u32::MAX, format::Bits::to_mask),
    };
    let material = body
        .material
        .as_ref()
        .map(|m| materials.find(m, &at.key("material"), problems));
    let material = material.unwrap_or(tippe::MaterialId::DEFAULT);
    let sensor = body.sensor.unwrap_or(false);
    let plain = |shape: Shape| ShapeDesc {
        shape,
        pose: Pose::IDENTITY,
        material,
        filter,
        sensor,
    };
    match (&body.shape, &body.shapes) {
        (Some(_), Some(_)) => {
            problems.error(
                &many,
                "both `shape` and `shapes`",
                "put all shapes into `shapes`, or keep one in `shape`",
            );
            Vec::new()
        }
        (Some(s), None) => vec![plain(shape(s, dynamic, &one, problems))],
        (None, Some(list)) => {
            if list.is_empty() && !problems.touches(&many) {
                problems.error(
                    &many,
                    "must not be empty",
                    "write at least one shape, such as { box = { size = [1, 1, 1] } }",
                );
            }
            let entries = list.iter().enumerate().map(|(i, entry)| {
                let at = many.index(i);
                let place = &entry.place;
                ShapeDesc {
                    shape: shape(&entry.shape, dynamic, &at, problems),
                    pose: Pose::new(
                        vector(
                            place.position.unwrap_or_default(),
                            &at.key("position"),
                            problems,
                        ),
                        rotation(place.rotation, place.rotation_deg.as_ref(), &at, problems),
                    ),
                    material: place.material.as_ref().map_or(material, |m| {
                        materials.find(m, &at.key("material"), problems)
                    }),
                    filter: Filter {
                        groups: place
                            .groups
                            .as_ref()
                            .map_or(filter.groups, format::Bits::to_mask),
                        mask: place
                            .mask
                            .as_ref()
                            .map_or(filter.mask, format::Bits::to_mask),
                    },
                    sensor: place.sensor.unwrap_or(sensor),
                }
            });
            entries.collect()
        }
        (None, None) => {
            if !dynamic || body.inertia.is_none() {
                let help = "add one, such as shape.box = { size = [1, 1, 1] } or shape.sphere = { radius = 0.5 }";
                problems.error(&one, "missing", help);
            }
            Vec::new()
        }
    }
}

fn shape(shape: &format::Shape, dynamic: bool, at: &At, problems: &mut Problems) -> Shape {
    let at = at.key(shape.name());
    let mut size = |value: f64, at: &At| {
        if positive(value, LARGE, "sizes are in metres", at, problems) && value < SMALL {
            problems.error(
                at,
                format!("too small: {value:e}; at least {SMALL:e}"),
                "sizes are in metres",
            );
        }
        value
    };
    match shape {
        format::Shape::Box(b) => {
            let edge = |i: usize| size(b.size[i], &at.key("size").index(i)) * 0.5;
            Shape::Cuboid {
                half: Vec3::from_array([0, 1, 2].map(edge)),
            }
        }
        format::Shape::Sphere(s) => Shape::Sphere {
            radius: size(s.radius, &at.key("radius")),
        },
        format::Shape::Capsule(c) => Shape::Capsule {
            radius: size(c.radius, &at.key("radius")),
            half_length: size(c.length, &at.key("length")) * 0.5,
        },
        format::Shape::HalfSpace(h) => {
            if dynamic {
                let help = "add kind = \"fixed\" (or \"kinematic\"), or use a box";
                problems.error(
                    &at,
                    "a dynamic body cannot be a half-space, which has no end and no mass",
                    help,
                );
            }
            Shape::HalfSpace {
                normal: direction(h.normal, &at.key("normal"), problems),
            }
        }
    }
}

fn mass(
    body: &format::Body,
    kind: &BodyKind,
    shapes: &[ShapeDesc],
    at: &At,
    problems: &mut Problems,
) -> MassSpec {
    let given = [
        ("density", body.density.is_some()),
        ("mass", body.mass.is_some()),
        ("inertia", body.inertia.is_some()),
    ];
    if *kind != BodyKind::Dynamic
        && let Some((key, _)) = given.iter().find(|(_, given)| *given)
    {
        problems.warning(
            &at.key(key),
            "has no effect: only dynamic bodies have mass",
            "remove it, or make the body dynamic",
        );
    }
    if let Some(density) = body.density {
        positive(
            density,
            HEAVY,
            "density is in kg/m³: water 1000, steel 7850",
            &at.key("density"),
            problems,
        );
        if body.mass.is_some() {
            problems.error(
                &at.key("density"),
                "both density and mass",
                "keep one of the two",
            );
        }
    }
    if let Some(mass) = body.mass {
        positive(
            mass,
            HEAVY,
            "write the mass in kilograms, such as mass = 1.0",
            &at.key("mass"),
            problems,
        );
    }
    if body.center.is_some() && body.inertia.is_none() {
        let help = "add mass and inertia, or remove it: the centre then follows from the shapes";
        problems.error(
            &at.key("center"),
            "a given centre of mass needs a given inertia",
            help,
        );
    }
    if let Some(inertia) = &body.inertia {
        let tensor = inertia::tensor(inertia, &at.key("inertia"), problems);
        let center = vector(body.center.unwrap_or_default(), &at.key("center"), problems);
        if body.mass.is_none() {
            problems.error(
                &at.key("mass"),
                "missing: inertia alone does not make a mass",
                "add mass = … in kilograms",
            );
        }
        return MassSpec::Explicit {
            mass: body.mass.unwrap_or(1.0),
            center,
            inertia: tensor,
        };
    }
    if *kind == BodyKind::Dynamic && !shapes.is_empty() && shapes.iter().all(|s| s.sensor) {
        let help = "add mass and inertia, or a shape that is no sensor";
        problems.error(at, "a dynamic body of sensors alone has no mass", help);
    }
    body.mass.map_or(
        MassSpec::Density(body.density.unwrap_or(1000.0)),
        MassSpec::Mass,
    )
}
