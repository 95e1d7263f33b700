//! Sensors, time programs and camera of the file to those of the engine.
//!
//! Reads: `format::Sensor`, `format::Program`, names of bodies and joints.  Writes: `Problems`, the world.
//! Called by: `build`.
//! Source: `docs/scene-format.md`, "Sensors" and "Time programs".

use crate::body::rotation;
use crate::build::Item;
use crate::check::{LARGE, positive, vector};
use crate::diagnostics::{At, Problems};
use crate::format::{self, Drives, Quantity, SensorKind as Kind};
use crate::suggest::nearest;
use tippe::{
    BodyId, BodyKind, BuildError, Driven, JointId, LockedAxes, Pose, Program, SensorDesc,
    SensorKind, Signal, Vec3, World,
};

/// How far a distance sensor sees unless the scene says otherwise [m].
const RANGE: f64 = 100.0;

/// Names of the scene.
pub(crate) struct Known<'a> {
    pub(crate) bodies: &'a [(String, BodyId)],
    pub(crate) joints: &'a [(String, JointId)],
}

impl Known<'_> {
    fn find<T: Copy>(
        list: &[(String, T)],
        name: &str,
        what: &str,
        at: &At,
        problems: &mut Problems,
    ) -> Option<T> {
        if let Some((_, id)) = list.iter().find(|(n, _)| n == name) {
            return Some(*id);
        }
        let names = || list.iter().map(|(n, _)| n.as_str());
        let help = match nearest(name, names()) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None if list.is_empty() => format!("this scene has no {what}"),
            None if list.len() <= 12 => {
                format!("there are {}", names().collect::<Vec<_>>().join(", "))
            }
            None => format!("name one of the {} of this scene", list.len()),
        };
        problems.error(at, format!("no {what} {name:?}"), help);
        None
    }

    fn body(&self, name: Option<&String>, at: &At, problems: &mut Problems) -> Option<BodyId> {
        let Some(name) = name else {
            problems.error(at, "missing", "add body = \"name of the body\"");
            return None;
        };
        Self::find(self.bodies, name, "body", at, problems)
    }

    fn joint(&self, name: &str, at: &At, problems: &mut Problems) -> Option<JointId> {
        Self::find(self.joints, name, "joint", at, problems)
    }
}

/// Locks axes of the bodies of the file, which come first among all.
pub(crate) fn lock_axes(
    world: &mut World,
    known: &Known<'_>,
    bodies: &[Item<format::Body>],
    problems: &mut Problems,
) {
    for (item, (_, id)) in bodies.iter().zip(known.bodies) {
        let Some(locked) = &item.value.locked else {
            continue;
        };
        let marks = |list: &Option<Vec<format::Axis>>| {
            let all = [format::Axis::X, format::Axis::Y, format::Axis::Z];
            all.map(|axis| list.as_ref().is_some_and(|l| l.contains(&axis)))
        };
        let axes = LockedAxes {
            translation: marks(&locked.translation),
            rotation: marks(&locked.rotation),
        };
        if let Err(error) = world.lock_axes(*id, axes) {
            let at = item.at.key("locked");
            let (at, help) = match error.field.as_str() {
                "rotation" => (at.key("rotation"), "such as rotation = [\"x\", \"z\"]"),
                _ => (at, "remove it, or write kind = \"dynamic\""),
            };
            problems.error(&at, error.reason, help);
        }
    }
}

/// Adds the sensors.
pub(crate) fn add_sensors(
    world: &mut World,
    known: &Known<'_>,
    list: &[Item<format::Sensor>],
    problems: &mut Problems,
) {
    for Item { value, at } in list {
        let Some(kind) = sensor(world, known, value, at, problems) else {
            continue;
        };
        let name = value.name.clone();
        if let Err(e) = world.add_sensor(SensorDesc { name, kind }) {
            refused(&e, at, problems);
        }
    }
}

fn refused(e: &BuildError, at: &At, problems: &mut Problems) {
    let key = match e.field.as_str() {
        "origin" | "place" => "position",
        "link" => "body",
        field => field,
    };
    problems.error(
        &at.key(key),
        e.reason.clone(),
        "the engine refuses it as it stands",
    );
}

fn sensor(
    world: &World,
    known: &Known<'_>,
    s: &format::Sensor,
    at: &At,
    problems: &mut Problems,
) -> Option<SensorKind> {
    unused_fields(s, at, problems);
    let joint = match (&s.joint, s.kind) {
        (Some(name), _) => Some(known.joint(name, &at.key("joint"), problems)?),
        (None, Kind::JointForce) => {
            problems.error(
                &at.key("joint"),
                "missing",
                "add joint = \"name of the joint\"",
            );
            return None;
        }
        (None, _) => None,
    };
    if let Some(joint) = joint {
        return Some(match s.kind {
            Kind::JointRate => SensorKind::JointRate { joint },
            Kind::JointForce => SensorKind::JointForce { joint },
            _ => SensorKind::JointPosition { joint },
        });
    }
    let body = known.body(s.body.as_ref(), &at.key("body"), problems)?;
    let position = vector(
        s.position.unwrap_or_default(),
        &at.key("position"),
        problems,
    );
    let place = Pose::new(
        position,
        rotation(s.rotation, s.rotation_deg.as_ref(), at, problems),
    );
    Some(match s.kind {
        Kind::Pose => SensorKind::Pose { body, place },
        Kind::Velocity => SensorKind::Velocity {
            body,
            point: position,
        },
        Kind::Imu => SensorKind::Imu { body, place },
        Kind::JointPosition | Kind::JointRate | Kind::JointForce => {
            let link = world
                .body(body)
                .is_ok_and(|b| matches!(b.kind, BodyKind::Link { .. }));
            if !link {
                let help = "write joint = \"name of the joint\", or the name of a link";
                problems.error(
                    &at.key("body"),
                    "this body is no link of an articulation",
                    help,
                );
                return None;
            }
            if s.kind == Kind::JointRate {
                SensorKind::LinkRate { link: body }
            } else {
                SensorKind::LinkPosition { link: body }
            }
        }
        Kind::ContactForce => SensorKind::ContactForce {
            body,
            other: match &s.other {
                Some(name) => Some(known.body(Some(name), &at.key("other"), problems)?),
                None => None,
            },
        },
        Kind::Distance => {
            let Some(direction) = s.direction else {
                problems.error(
                    &at.key("direction"),
                    "missing",
                    "add direction = [0, 0, -1], in the frame of the body",
                );
                return None;
            };
            let range = s.range.unwrap_or(RANGE);
            positive(
                range,
                LARGE,
                "write how far it sees, in metres",
                &at.key("range"),
                problems,
            );
            SensorKind::Distance {
                body,
                origin: position,
                direction: vector(direction, &at.key("direction"), problems),
                range,
            }
        }
    })
}

/// Reports fields that a kind of sensor does not read.
fn unused_fields(s: &format::Sensor, at: &At, problems: &mut Problems) {
    let of_joint = matches!(
        s.kind,
        Kind::JointPosition | Kind::JointRate | Kind::JointForce
    );
    let turned = matches!(s.kind, Kind::Pose | Kind::Imu);
    let placed = turned || matches!(s.kind, Kind::Velocity | Kind::Distance);
    for (key, given, read) in [
        ("joint", s.joint.is_some(), of_joint),
        ("body", s.body.is_some(), s.joint.is_none()),
        ("other", s.other.is_some(), s.kind == Kind::ContactForce),
        ("position", s.position.is_some(), placed),
        ("rotation", s.rotation.is_some(), turned),
        ("rotation_deg", s.rotation_deg.is_some(), turned),
        ("direction", s.direction.is_some(), s.kind == Kind::Distance),
        ("range", s.range.is_some(), s.kind == Kind::Distance),
    ] {
        if given && !read {
            problems.error(&at.key(key), "this sensor does not read it", "remove it");
        }
    }
}

/// Adds the time programs.
pub(crate) fn add_programs(
    world: &mut World,
    known: &Known<'_>,
    list: &[Item<format::Program>],
    problems: &mut Problems,
) {
    for Item { value, at } in list {
        let scalar = value.drives == Drives::Motor;
        let signal = signal(value, scalar, at, problems);
        let driven = driven(known, value, at, problems);
        let (Some(signal), Some(driven)) = (signal, driven) else {
            continue;
        };
        if let Err(e) = world.add_program(Program { driven, signal }) {
            refused(&e, at, problems);
        }
    }
}

fn driven(
    known: &Known<'_>,
    p: &format::Program,
    at: &At,
    problems: &mut Problems,
) -> Option<Driven> {
    let pushes = matches!(p.drives, Drives::Force | Drives::Torque);
    for (key, given, read) in [
        (
            "body",
            p.body.is_some(),
            pushes || (p.drives == Drives::Motor && p.joint.is_none()),
        ),
        ("joint", p.joint.is_some(), p.drives == Drives::Motor),
        ("point", p.point.is_some(), p.drives == Drives::Force),
        ("local", p.local.is_some(), pushes),
    ] {
        if given && !read {
            problems.error(&at.key(key), "this program does not read it", "remove it");
        }
    }
    let local = p.local.unwrap_or(false);
    let mut body = || known.body(p.body.as_ref(), &at.key("body"), problems);
    Some(match (p.drives, &p.joint) {
        (Drives::Gravity, _) => Driven::Gravity,
        (Drives::Force, _) => {
            let body = body()?;
            let point = vector(p.point.unwrap_or_default(), &at.key("point"), problems);
            Driven::Force { body, point, local }
        }
        (Drives::Torque, _) => Driven::Torque {
            body: body()?,
            local,
        },
        (Drives::Motor, Some(name)) => Driven::Motor {
            joint: known.joint(name, &at.key("joint"), problems)?,
        },
        (Drives::Motor, None) => Driven::LinkMotor { link: body()? },
    })
}

fn signal(p: &format::Program, scalar: bool, at: &At, problems: &mut Problems) -> Option<Signal> {
    let given = [
        ("piecewise", p.piecewise.is_some()),
        ("table", p.table.is_some()),
        ("sine", p.sine.is_some()),
    ];
    let mut given = given.iter().filter(|g| g.1).map(|g| g.0);
    let (Some(first), second) = (given.next(), given.next()) else {
        problems.error(
            at,
            "has no function of time",
            "add piecewise, table or sine",
        );
        return None;
    };
    if let Some(second) = second {
        problems.error(
            &at.key(second),
            format!("both {first} and {second}"),
            "keep one of them",
        );
        return None;
    }
    let at = at.key(first);
    if let Some(keys) = p.piecewise.as_ref().or(p.table.as_ref()) {
        let all = keys.values.iter().enumerate();
        let values = all
            .map(|(i, q)| quantity(*q, scalar, &at.key("values").index(i), problems))
            .collect();
        let times = keys.times.clone();
        let signal = if p.table.is_some() {
            Signal::Table { times, values }
        } else {
            Signal::Steps { times, values }
        };
        return rising(keys, &at, problems).then_some(signal);
    }
    let sine = p.sine.as_ref()?;
    if sine.phase.is_some() && sine.phase_deg.is_some() {
        problems.error(
            &at.key("phase_deg"),
            "given twice, in radians and in degrees",
            "keep one of the two",
        );
    }
    crate::check::not_negative(
        sine.frequency,
        LARGE,
        "write a frequency in hertz",
        &at.key("frequency"),
        problems,
    );
    let zero = if scalar {
        Quantity::Number(0.0)
    } else {
        Quantity::Vector([0.0; 3])
    };
    Some(Signal::Sine {
        offset: quantity(
            sine.offset.unwrap_or(zero),
            scalar,
            &at.key("offset"),
            problems,
        ),
        amplitude: quantity(sine.amplitude, scalar, &at.key("amplitude"), problems),
        frequency: sine.frequency,
        phase: sine
            .phase
            .or(sine.phase_deg.map(f64::to_radians))
            .unwrap_or(0.0),
    })
}

/// Whether times and values make a function.
fn rising(keys: &format::Keys, at: &At, problems: &mut Problems) -> bool {
    if keys.times.is_empty() || keys.times.len() != keys.values.len() {
        let reason = format!(
            "{} times and {} values",
            keys.times.len(),
            keys.values.len()
        );
        problems.error(
            &at.key("values"),
            reason,
            "write one value for each time, one at least",
        );
        return false;
    }
    if let Some(i) = keys.times.windows(2).position(|w| w[0] >= w[1]) {
        let reason = format!(
            "times must rise: {} comes after {}",
            keys.times[i + 1],
            keys.times[i]
        );
        problems.error(
            &at.key("times").index(i + 1),
            reason,
            "sort the values by time",
        );
        return false;
    }
    true
}

/// A number in x, or a vector, as what is driven needs it.
fn quantity(q: Quantity, scalar: bool, at: &At, problems: &mut Problems) -> Vec3 {
    match (q, scalar) {
        (Quantity::Number(x), true) => vector([x, 0.0, 0.0], at, problems),
        (Quantity::Vector(v), false) => vector(v, at, problems),
        (Quantity::Number(_), false) => {
            problems.error(at, "must be a vector", "write three numbers: [0, 0, 1]");
            Vec3::ZERO
        }
        (Quantity::Vector(_), true) => {
            problems.error(at, "a motor aims at one number", "write a number");
            Vec3::ZERO
        }
    }
}

/// Checks the camera.
pub(crate) fn camera(
    file: Option<&format::Camera>,
    at: &At,
    problems: &mut Problems,
) -> Option<crate::load::Camera> {
    let file = file?;
    let at = at.key("camera");
    let (yaw, up) = (file.yaw_deg.unwrap_or(-63.0), file.up_deg.unwrap_or(24.0));
    if up.abs() > 89.0 {
        problems.error(
            &at.key("up_deg"),
            format!("must be between -89 and 89, got {up}"),
            "write the angle above the ground",
        );
    }
    if yaw.abs() > 360.0 {
        problems.error(
            &at.key("yaw_deg"),
            format!("must be between -360 and 360, got {yaw}"),
            "write the angle about z",
        );
    }
    let zoom = file.zoom.unwrap_or(1.0);
    positive(
        zoom,
        1e6,
        "write 2 to be twice as near",
        &at.key("zoom"),
        problems,
    );
    Some(crate::load::Camera {
        yaw_deg: yaw,
        up_deg: up,
        zoom,
    })
}
