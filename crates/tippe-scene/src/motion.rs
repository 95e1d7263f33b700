//! Prescribed motion and drag of a body of the file.
//!
//! Reads: `format::Motion`, `format::Drag`.  Writes: `Problems`.
//! Called by: `body`.
//! Source: `docs/scene-format.md`, "Bodies".

use crate::check::{HEAVY, LARGE, not_negative, positive, quaternion, vector};
use crate::diagnostics::{At, Problems};
use crate::format;
use tippe::{Drag, Motion, Pose};

/// The motion of a kinematic body.
pub(crate) fn motion(
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

/// The resistance of the medium.
pub(crate) fn drag(drag: &format::Drag, at: &At, problems: &mut Problems) -> Drag {
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
