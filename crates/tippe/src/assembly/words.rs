//! What the report says in words.
//!
//! Reads: Model (names), motions.  Writes: text.
//! Called by: `assembly`, `diagnosis`, `weaker`, `conflict`.
//! Source: docs/assembly.md, "`tippe assemble`".

use super::Parts;
use super::diagnosis::Motion;
use super::rows::Direction;
use crate::joint::JointKind;
use crate::math::{Pose, Vec3};
use crate::model::{Joint, Model};
use crate::state::State;

/// Rates below this part of the first are not mentioned [1].
const MENTIONED: f64 = 1e-7;
/// Mates that are mentioned with a motion.
const MENTIONED_MAX: usize = 4;

/// The word for a kind.
pub(crate) const fn kind(kind: JointKind) -> &'static str {
    match kind {
        JointKind::Ball => "ball",
        JointKind::Hinge => "hinge",
        JointKind::Slider => "slider",
        JointKind::Fixed => "fixed",
        JointKind::Cylindrical => "cylindrical",
        JointKind::Universal => "universal",
        JointKind::Distance { .. } => "distance",
        JointKind::Turn => "turn",
        JointKind::Slide => "slide",
        JointKind::Swing => "swing",
        JointKind::Twist => "twist",
        JointKind::PointOnLine => "point_on_line",
        JointKind::PointOnPlane => "point_on_plane",
        JointKind::Parallel => "parallel",
        JointKind::Perpendicular => "perpendicular",
        JointKind::Angle { .. } => "angle",
        JointKind::LineOnLine => "line_on_line",
        JointKind::Planar => "planar",
        JointKind::SphereOnPlane { .. } => "sphere_on_plane",
        JointKind::CylinderOnPlane { .. } => "cylinder_on_plane",
        JointKind::Orientation => "orientation",
        JointKind::Screw { .. } => "screw",
        JointKind::Gear { .. } => "gear",
        JointKind::Rack { .. } => "rack",
    }
}

fn name(joint: &Joint) -> String {
    format!("{} {:?}", kind(joint.desc.kind), joint.desc.name)
}

/// A direction of the world, rounded; without a sign on zero.
fn vector(v: Vec3) -> String {
    let [x, y, z] = v.to_array().map(|x| (x * 1e4).round() / 1e4 + 0.0);
    format!("({x}, {y}, {z})")
}

/// A row of a mate that holds nothing more.
pub(crate) fn surplus(joint: &Joint, direction: Direction, frame: &Pose) -> String {
    let axis = |k: u8| {
        let letter = ["x", "y", "z"][usize::from(k) % 3];
        let own = Vec3::AXES[usize::from(k) % 3];
        format!("its {letter} axis {}", vector(frame.vector(own)))
    };
    let what = match direction {
        Direction::Along(k) => format!("translation along {}", axis(k)),
        Direction::About(k) => format!("rotation about {}", axis(k)),
        Direction::Distance => "the distance".into(),
        Direction::Angle => "the angle between its axes".into(),
        Direction::Ratio => "the ratio of its motions".into(),
    };
    format!("{}: {what} is held already", name(joint))
}

/// A change that leaves every motion as it is.
pub(crate) fn proposal(joint: &Joint, weaker: Option<JointKind>, rows: usize) -> String {
    match weaker {
        None => format!("remove {}: all its {rows} rows are surplus", name(joint)),
        Some(other) => {
            let surplus = rows.saturating_sub(other.rank());
            format!(
                "make {} a {}: {surplus} of its {rows} rows are surplus",
                name(joint),
                kind(other)
            )
        }
    }
}

/// Mates that cannot hold together.
pub(crate) fn conflict(model: &Model, mates: &[u32]) -> String {
    let names = mates
        .iter()
        .filter_map(|&m| model.joints[m as usize].as_ref())
        .map(name);
    let names: Vec<String> = names.collect();
    match names.as_slice() {
        [one] => format!("{one} cannot hold by itself"),
        _ => format!(
            "{} cannot hold together; without any one of them the others can",
            names.join(", ")
        ),
    }
}

/// A free motion: the mate that it is named by, and those that move with it.
pub(crate) fn motion(model: &Model, parts: &Parts, motion: &Motion) -> String {
    let (mate, rate) = motion.named;
    let rate_of = |mate: usize, rate: usize| {
        let x = motion.rates[mate][rate];
        let letter = ["x", "y", "z"][rate % 3];
        if rate < 3 {
            format!("turns {} rad about its {letter}", number(x))
        } else {
            format!("slides {} m along its {letter}", number(x))
        }
    };
    let told = |m: usize| model.joints[parts.mates[m] as usize].as_ref().map(name);
    let Some(first) = parts.mates.get(mate).and_then(|_| told(mate)) else {
        return "moves freely".into();
    };
    let mut others: Vec<String> = Vec::new();
    let mut more = 0;
    for (m, rates) in motion.rates.iter().enumerate() {
        for (r, x) in rates.iter().enumerate() {
            if (m, r) == (mate, rate) || x.abs() <= MENTIONED {
                continue;
            }
            if others.len() < MENTIONED_MAX {
                others.extend(told(m).map(|n| format!("{n} {}", rate_of(m, r))));
            } else {
                more += 1;
            }
        }
    }
    let mut text = format!("{first} {}", rate_of(mate, rate));
    if !others.is_empty() {
        text = format!("{text}; with it {}", others.join(", "));
    }
    if more > 0 {
        text = format!("{text}, and {more} more");
    }
    text
}

/// Four digits, without needless zeros.
fn number(x: f64) -> String {
    let rounded = (x * 1e4).round() / 1e4 + 0.0;
    if rounded == 0.0 {
        format!("{x:.1e}")
    } else {
        format!("{rounded}")
    }
}

/// Which of two ways a mate was met.
pub(crate) fn branches(model: &Model, state: &State, out: &mut Vec<String>) {
    for (_, joint) in model.present_joints() {
        let place = joint.place(&state.bodies, &state.joints);
        let cosine = place.a.vector(Vec3::Z).dot(place.b.vector(Vec3::Z));
        let sense = if cosine > 0.0 {
            "the same sense"
        } else {
            "opposite senses"
        };
        match joint.desc.kind {
            JointKind::Parallel | JointKind::LineOnLine | JointKind::Planar => {
                out.push(format!(
                    "{}: the axes have {sense}, the nearer branch",
                    name(joint)
                ));
            }
            JointKind::SphereOnPlane { radius } | JointKind::CylinderOnPlane { radius } => {
                let side = if radius > 0.0 { "above" } else { "below" };
                out.push(format!(
                    "{}: {side} the plane, where it started",
                    name(joint)
                ));
            }
            JointKind::Angle { .. } => {
                let turn = if place.swing().1 > std::f64::consts::FRAC_PI_2 {
                    "obtuse"
                } else {
                    "acute"
                };
                out.push(format!(
                    "{}: the {turn} angle, on the nearer side",
                    name(joint)
                ));
            }
            _ => {}
        }
    }
}
