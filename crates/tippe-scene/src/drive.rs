//! Limits, motors and springs along the free motions of a joint of the file.
//!
//! Reads: `format::Joint`.  Writes: `Problems`.
//! Called by: `joint`, `explain`.
//! Source: `docs/scene-format.md`, "Joints".

use crate::check::{HEAVY, LARGE, not_negative, positive};
use crate::diagnostics::{At, Problems};
use crate::format::{self, JointKind as Kind};
use crate::joint::word;
use crate::mate::free;
use tippe::{Freedom, Motor, Spring};

/// Time in which a position motor lessens the distance left to 1/e, unless the scene says otherwise [s].
const MOTOR_TIME: f64 = 0.1;

/// One of the two free motions along an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Along {
    Rotation,
    Translation,
}

/// What acts along rotation and translation.
pub(crate) fn freedoms(
    joint: &format::Joint,
    at: &At,
    problems: &mut Problems,
) -> (Freedom, Freedom) {
    let short = format::Freedom {
        limits: joint.limits,
        limits_deg: joint.limits_deg,
        motor: joint.motor.clone(),
        spring: joint.spring.clone(),
    };
    shorthand(joint, &short, at, problems);
    let mut read =
        |key: &str, along: Along, table: Option<&format::Freedom>, exists: bool, own: bool| {
            if let Some(table) = table {
                if !exists {
                    let reason = format!("a {} joint has no free {key}", word(joint.kind));
                    problems.error(&at.key(key), reason, "remove it");
                }
                freedom(table, along, &at.key(key), problems)
            } else if own {
                freedom(&short, along, at, problems)
            } else {
                Freedom::default()
            }
        };
    let (turns, slides) = free(joint.kind);
    (
        read(
            "rotation",
            Along::Rotation,
            joint.rotation.as_ref(),
            turns,
            turns && !slides,
        ),
        read(
            "translation",
            Along::Translation,
            joint.translation.as_ref(),
            slides,
            slides && !turns,
        ),
    )
}

/// Reports limits, motor and spring that stand beside the joint where they mean nothing.
fn shorthand(joint: &format::Joint, short: &format::Freedom, at: &At, problems: &mut Problems) {
    let table = match free(joint.kind) {
        (true, false) => joint.rotation.as_ref().map(|_| "rotation"),
        (false, true) => joint.translation.as_ref().map(|_| "translation"),
        _ => None,
    };
    for (key, given) in [
        ("limits", short.limits.is_some()),
        ("limits_deg", short.limits_deg.is_some()),
        ("motor", short.motor.is_some()),
        ("spring", short.spring.is_some()),
    ] {
        if !given {
            continue;
        }
        let at = at.key(key);
        match (free(joint.kind), table) {
            ((true, false) | (false, true), None) => {}
            (_, Some(table)) => {
                problems.error(
                    &at,
                    format!("{key} beside the table {table}"),
                    format!("move it into {table}"),
                );
            }
            ((true, true), _) => {
                let help =
                    format!("write rotation = {{ {key} = … }} or translation = {{ {key} = … }}");
                let reason = format!("a {} joint turns and slides: say which", word(joint.kind));
                problems.error(&at, reason, help);
            }
            ((false, false), None) => {
                let reason = format!(
                    "a {} joint has no free motion to limit or drive",
                    word(joint.kind)
                );
                problems.error(
                    &at,
                    reason,
                    "remove it; hinge, slider and cylindrical have one",
                );
            }
        }
    }
}

fn freedom(table: &format::Freedom, along: Along, at: &At, problems: &mut Problems) -> Freedom {
    degrees_of_translation(table, along, at, problems);
    let limits = match (table.limits, table.limits_deg) {
        (Some(_), Some(_)) => {
            problems.error(
                &at.key("limits_deg"),
                "both limits and limits_deg",
                "keep one of the two",
            );
            None
        }
        (Some(limits), None) => ordered(limits, 1.0, &at.key("limits"), problems),
        (None, Some(limits)) => ordered(limits, 1f64.to_radians(), &at.key("limits_deg"), problems),
        (None, None) => None,
    };
    Freedom {
        limits,
        motor: table
            .motor
            .as_ref()
            .and_then(|m| motor(m, along, &at.key("motor"), problems)),
        spring: table
            .spring
            .as_ref()
            .map(|s| spring(s, &at.key("spring"), problems)),
    }
}

/// A translation is not measured in degrees.
fn degrees_of_translation(table: &format::Freedom, along: Along, at: &At, problems: &mut Problems) {
    let given = [
        ("limits_deg", "limits", table.limits_deg.is_some()),
        (
            "motor.position_deg",
            "position",
            table
                .motor
                .as_ref()
                .is_some_and(|m| m.position_deg.is_some()),
        ),
        (
            "spring.rest_deg",
            "rest",
            table.spring.as_ref().is_some_and(|s| s.rest_deg.is_some()),
        ),
    ];
    for (path, metres, _) in given.iter().filter(|g| along == Along::Translation && g.2) {
        problems.error(
            &at.join(path),
            "a translation has no angle",
            format!("write {metres}, in metres"),
        );
    }
}

fn ordered(
    [min, max]: [f64; 2],
    unit: f64,
    at: &At,
    problems: &mut Problems,
) -> Option<(f64, f64)> {
    for (i, x) in [min, max]
        .into_iter()
        .enumerate()
        .filter(|(_, x)| x.abs() > LARGE)
    {
        problems.error(
            &at.index(i),
            format!("too large: {x:e}; limit {LARGE:e}"),
            "leave the limits out if there is none",
        );
    }
    if min > max {
        problems.error(
            at,
            format!("min ({min}) is above max ({max})"),
            format!("write the smaller first: [{max}, {min}]"),
        );
        return None;
    }
    Some((min * unit, max * unit))
}

fn motor(m: &format::Motor, along: Along, at: &At, problems: &mut Problems) -> Option<Motor> {
    let unit = if along == Along::Rotation {
        "torque in N·m"
    } else {
        "force in N"
    };
    let gains = m.kp.is_some() || m.kd.is_some();
    match m.max_force {
        // Gains bound the force themselves.
        None if gains => {}
        None => problems.error(
            &at.key("max_force"),
            "missing: without a force limit a motor pushes with whatever it takes, through any obstacle",
            format!("add max_force = 100, the largest {unit}; a kinematic body moves whatever is in the way"),
        ),
        Some(force) => {
            not_negative(force, HEAVY, &format!("write the largest {unit}"), &at.key("max_force"), problems);
        }
    }
    one_aim(m, at, problems);
    for (key, value) in [
        ("velocity", m.velocity),
        ("position", m.position),
        ("position_deg", m.position_deg),
    ] {
        if value.is_some_and(|x| x.abs() > LARGE) {
            problems.error(&at.key(key), "too large", format!("limit {LARGE:e}"));
        }
    }
    let unlimited = if gains { f64::INFINITY } else { 0.0 };
    let max_force = m.max_force.unwrap_or(unlimited);
    let target = m.position.or(m.position_deg.map(f64::to_radians));
    if gains {
        return servo(m, target, max_force, at, problems);
    }
    if let Some(time) = m.time {
        if m.velocity.is_some() {
            problems.error(
                &at.key("time"),
                "a motor that holds a velocity has no time",
                "remove it, or write position",
            );
        }
        positive(
            time,
            LARGE,
            "write a time in seconds, such as 0.1",
            &at.key("time"),
            problems,
        );
    }
    match (m.velocity, target) {
        (Some(target), _) => Some(Motor::Velocity { target, max_force }),
        (None, Some(target)) => Some(Motor::Position {
            target,
            time: m.time.unwrap_or(MOTOR_TIME),
            max_force,
        }),
        (None, None) => {
            problems.error(
                at,
                "neither velocity nor position",
                "add velocity = … (to hold) or position = … (to go to)",
            );
            None
        }
    }
}

/// A motor has one aim, or with gains a place and a speed there.
fn one_aim(m: &format::Motor, at: &At, problems: &mut Problems) {
    let gains = m.kp.is_some() || m.kd.is_some();
    let aims = [
        ("velocity", m.velocity.is_some() && !gains),
        ("position", m.position.is_some()),
        ("position_deg", m.position_deg.is_some()),
    ];
    let given: Vec<&str> = aims.iter().filter(|a| a.1).map(|a| a.0).collect();
    if let [first, second, ..] = given.as_slice() {
        problems.error(
            &at.key(second),
            format!("both {first} and {second}"),
            "a motor has one aim: keep one of the two",
        );
    }
}

/// A motor with gains.
fn servo(
    m: &format::Motor,
    position: Option<f64>,
    max_force: f64,
    at: &At,
    problems: &mut Problems,
) -> Option<Motor> {
    let gains = [("kp", m.kp), ("kd", m.kd)];
    for (key, gain) in gains.into_iter().filter_map(|(k, g)| Some((k, g?))) {
        let help = "write a force per distance (kp) or per speed (kd)";
        not_negative(gain, HEAVY, help, &at.key(key), problems);
    }
    if m.time.is_some() {
        let reason = "a motor with gains has no time";
        problems.error(&at.key("time"), reason, "remove it, or kp and kd");
    }
    if m.kp.is_some() && position.is_none() {
        let reason = "kp needs a place to push to";
        problems.error(&at.key("kp"), reason, "add position = …");
        return None;
    }
    Some(Motor::Servo {
        position: position.unwrap_or(0.0),
        velocity: m.velocity.unwrap_or(0.0),
        kp: m.kp.unwrap_or(0.0),
        kd: m.kd.unwrap_or(0.0),
        max_force,
    })
}

fn spring(s: &format::Spring, at: &At, problems: &mut Problems) -> Spring {
    let damping = s.damping.unwrap_or(0.0);
    not_negative(
        s.stiffness,
        HEAVY,
        "write the force per metre, or the torque per radian",
        &at.key("stiffness"),
        problems,
    );
    not_negative(
        damping,
        HEAVY,
        "write the force per speed, or the torque per angular speed",
        &at.key("damping"),
        problems,
    );
    if s.rest.is_some() && s.rest_deg.is_some() {
        problems.error(
            &at.key("rest_deg"),
            "both rest and rest_deg",
            "keep one of the two",
        );
    }
    let rest = s.rest.or(s.rest_deg.map(f64::to_radians)).unwrap_or(0.0);
    if rest.abs() > LARGE {
        problems.error(
            &at.key("rest"),
            format!("too large: {rest:e}"),
            format!("limit {LARGE:e}"),
        );
    }
    Spring {
        rest,
        stiffness: s.stiffness,
        damping,
    }
}

/// Kind, freedoms, strength and collision of a joint, with every default written out; angles in radians keep their bits.
pub(crate) fn written_out(
    kind: Kind,
    rotation: &Freedom,
    translation: &Freedom,
    strength: [f64; 2],
    collide: bool,
) -> format::Joint {
    let finite = |x: f64| Some(x).filter(|x| x.is_finite());
    format::Joint {
        kind,
        rotation: table(rotation),
        translation: table(translation),
        break_force: finite(strength[0]),
        break_torque: finite(strength[1]),
        collide: Some(collide),
        ..format::Joint::default()
    }
}

fn table(freedom: &Freedom) -> Option<format::Freedom> {
    if freedom.is_free() {
        return None;
    }
    Some(format::Freedom {
        limits: freedom.limits.map(|(min, max)| [min, max]),
        limits_deg: None,
        motor: freedom.motor.map(|m| match m {
            Motor::Velocity { target, max_force } => format::Motor {
                velocity: Some(target),
                max_force: Some(max_force),
                ..format::Motor::default()
            },
            Motor::Position {
                target,
                time,
                max_force,
            } => format::Motor {
                position: Some(target),
                time: Some(time),
                max_force: Some(max_force),
                ..format::Motor::default()
            },
            Motor::Servo {
                position,
                velocity,
                kp,
                kd,
                max_force,
            } => format::Motor {
                position: Some(position),
                velocity: Some(velocity),
                kp: Some(kp),
                kd: Some(kd),
                max_force: Some(max_force).filter(|f| f.is_finite()),
                ..format::Motor::default()
            },
        }),
        spring: freedom.spring.map(|s| format::Spring {
            stiffness: s.stiffness,
            damping: Some(s.damping),
            rest: Some(s.rest),
            rest_deg: None,
        }),
    })
}
