//! What each kind of joint of the file needs: axes, places, numbers, the joints it couples.
//!
//! Reads: `format::Joint`.  Writes: `Problems`.
//! Called by: `joint`, `drive`, `explain`.
//! Source: `docs/scene-format.md`, "Joints".

use crate::check::LARGE;
use crate::diagnostics::{At, Problems};
use crate::format::{self, JointKind as Kind};
use crate::joint::{PlannedJoint, word};
use crate::suggest::nearest;
use tippe::{Coupling, JointId, JointKind, Pose, Vec3, World};

/// How a kind says where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    /// `at`: the two bodies meet there.
    One,
    /// `at`, or `at_a` and `at_b` for bodies that do not meet yet.
    Either,
    /// `at_a` and `at_b`, by default the bodies' origins.
    Two,
    /// Anywhere: only directions count.
    Anywhere,
    /// It names joints in place of bodies.
    Joints,
}

pub(crate) const fn places(kind: Kind) -> Places {
    match kind {
        Kind::Ball
        | Kind::Hinge
        | Kind::Slider
        | Kind::Fixed
        | Kind::Cylindrical
        | Kind::Universal => Places::One,
        Kind::Distance | Kind::SphereOnPlane | Kind::CylinderOnPlane => Places::Two,
        Kind::Coaxial | Kind::PointOnLine | Kind::PointOnPlane | Kind::LineOnLine => Places::Either,
        Kind::Planar | Kind::Screw | Kind::Slide => Places::Either,
        Kind::Parallel | Kind::Perpendicular | Kind::Angle | Kind::Orientation => Places::Anywhere,
        Kind::Turn | Kind::Swing | Kind::Twist => Places::Anywhere,
        Kind::Gear | Kind::Rack => Places::Joints,
    }
}

/// Whether the kind has an axis in the world.
pub(crate) const fn has_axis(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Ball | Kind::Fixed | Kind::Distance | Kind::Orientation | Kind::Gear | Kind::Rack
    )
}

/// Whether the axis on B may differ from that on A, and whether it must be given.
pub(crate) const fn has_second_axis(kind: Kind) -> (bool, bool) {
    match kind {
        Kind::Universal | Kind::Perpendicular | Kind::Angle | Kind::CylinderOnPlane => (true, true),
        Kind::Parallel | Kind::Coaxial | Kind::LineOnLine | Kind::Planar | Kind::Screw => {
            (true, false)
        }
        Kind::Turn | Kind::Swing | Kind::Twist => (true, false),
        _ => (false, false),
    }
}

/// Whether the first body has the point, sphere or cylinder, and the second, which may be the world, the line or plane. The engine has
/// the line or plane on side A.
pub(crate) const fn is_reversed(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::PointOnLine | Kind::PointOnPlane | Kind::SphereOnPlane | Kind::CylinderOnPlane
    )
}

/// Free motions along which limits, motor and spring may act: rotation, translation.
pub(crate) const fn free(kind: Kind) -> (bool, bool) {
    match kind {
        Kind::Cylindrical | Kind::Coaxial | Kind::LineOnLine | Kind::Screw => (true, true),
        Kind::Hinge | Kind::Planar | Kind::Parallel | Kind::Turn | Kind::Swing | Kind::Twist => {
            (true, false)
        }
        Kind::Slider | Kind::Slide | Kind::PointOnLine => (false, true),
        _ => (false, false),
    }
}

/// Numbers of a kind besides places and axes.
#[derive(Clone, Default)]
pub(crate) struct Numbers {
    /// Angle, radius, pitch or ratio.
    pub(crate) number: Option<f64>,
    /// Phase of a coupling.
    pub(crate) phase: Option<f64>,
    /// Names of the joints that a coupling ties.
    pub(crate) joints: Option<[String; 2]>,
}

/// The fields of a kind's own number: the one it must have, if any.
const fn own_field(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::SphereOnPlane | Kind::CylinderOnPlane | Kind::Rack => Some("radius"),
        Kind::Screw => Some("pitch"),
        Kind::Gear => Some("ratio"),
        _ => None,
    }
}

/// Reads the numbers of a kind, and reports those that it has no use for.
pub(crate) fn numbers(joint: &format::Joint, at: &At, problems: &mut Problems) -> Numbers {
    let kind = joint.kind;
    let coupling = places(kind) == Places::Joints;
    let own = own_field(kind);
    let degrees = joint.angle_deg.map(f64::to_radians);
    for (key, given, fits) in [
        ("radius", joint.radius.is_some(), own == Some("radius")),
        ("pitch", joint.pitch.is_some(), own == Some("pitch")),
        ("ratio", joint.ratio.is_some(), own == Some("ratio")),
        ("angle", joint.angle.is_some(), kind == Kind::Angle),
        ("angle_deg", joint.angle_deg.is_some(), kind == Kind::Angle),
        ("phase", joint.phase.is_some(), coupling),
        ("joints", joint.joints.is_some(), coupling),
    ] {
        if given && !fits {
            let reason = format!("a {} joint has no such number", word(kind));
            problems.error(&at.key(key), reason, "remove it");
        }
    }
    if joint.angle.is_some() && joint.angle_deg.is_some() {
        problems.error(
            &at.key("angle_deg"),
            "both angle and angle_deg",
            "keep one of the two",
        );
    }
    let number = match own {
        Some("radius") => joint.radius,
        Some("pitch") => joint.pitch,
        Some(_) => joint.ratio,
        None => joint.angle.or(degrees),
    };
    match (own, number) {
        (Some(field), None) => {
            let reason = format!("missing: a {} joint needs it", word(kind));
            problems.error(&at.key(field), reason, format!("add {field} = 0.1"));
        }
        (Some(field), Some(x)) if !x.is_finite() || x.abs() < 1e-9 || x.abs() > LARGE => {
            let reason = format!("must be finite and not zero, got {x}");
            problems.error(
                &at.key(field),
                reason,
                format!("write a number between 1e-9 and {LARGE:e} in size"),
            );
        }
        _ => {}
    }
    if joint.phase.is_some_and(|x| x.abs() > LARGE) {
        problems.error(&at.key("phase"), "too large", format!("limit {LARGE:e}"));
    }
    if coupling && joint.joints.is_none() {
        let help = "add joints = [\"one\", \"other\"], the names of two joints";
        problems.error(
            &at.key("joints"),
            "missing: which joints does it couple?",
            help,
        );
    }
    Numbers {
        number,
        phase: joint.phase,
        joints: joint.joints.clone(),
    }
}

/// Reports fields of a coupling that only a joint between bodies has.
pub(crate) fn only_joints(joint: &format::Joint, at: &At, problems: &mut Problems) {
    for (key, given) in [
        ("bodies", joint.bodies.is_some()),
        ("at", joint.at.is_some()),
        ("at_a", joint.at_a.is_some()),
        ("at_b", joint.at_b.is_some()),
        ("frame_a", joint.frame_a.is_some()),
        ("frame_b", joint.frame_b.is_some()),
        ("break_force", joint.break_force.is_some()),
        ("break_torque", joint.break_torque.is_some()),
        ("collide", joint.collide.is_some()),
    ] {
        if given {
            let reason = format!(
                "a {} joint couples two joints: it has no place of its own",
                word(joint.kind)
            );
            problems.error(
                &at.key(key),
                reason,
                "remove it; joints = […] says what it couples",
            );
        }
    }
}

/// How the two frames are at the start: what numbers left out follow from.
pub(crate) struct Start {
    pub(crate) distance: f64,
    /// Angle between the z axes.
    pub(crate) angle: f64,
    /// Height of the origin of B above the plane z = 0 of A.
    pub(crate) height: f64,
}

impl Start {
    pub(crate) fn new(a: &Pose, b: &Pose) -> Self {
        let delta = b.position - a.position;
        let (z_a, z_b) = (a.vector(Vec3::Z), b.vector(Vec3::Z));
        Self {
            distance: delta.length(),
            angle: libm::atan2(z_a.cross(z_b).length(), z_a.dot(z_b)),
            height: delta.dot(z_a),
        }
    }
}

/// The kind of a mate as the engine has it; `by_place` says that the side of a tangent plane follows from the start.
pub(crate) fn engine(kind: Kind, number: f64, start: &Start, by_place: bool) -> JointKind {
    let radius = if by_place && start.height < 0.0 {
        -number
    } else {
        number
    };
    match kind {
        Kind::PointOnLine => JointKind::PointOnLine,
        Kind::PointOnPlane => JointKind::PointOnPlane,
        Kind::Parallel => JointKind::Parallel,
        Kind::Perpendicular => JointKind::Perpendicular,
        Kind::Angle => JointKind::Angle { angle: number },
        Kind::LineOnLine => JointKind::LineOnLine,
        Kind::Planar => JointKind::Planar,
        Kind::SphereOnPlane => JointKind::SphereOnPlane { radius },
        Kind::CylinderOnPlane => JointKind::CylinderOnPlane { radius },
        Kind::Orientation => JointKind::Orientation,
        Kind::Screw => JointKind::Screw { pitch: number },
        Kind::Turn => JointKind::Turn,
        Kind::Slide => JointKind::Slide,
        Kind::Swing => JointKind::Swing,
        Kind::Twist => JointKind::Twist,
        _ => JointKind::Cylindrical,
    }
}

/// The kind as the file has it, and the numbers that its fields hold; couplings apart.
pub(crate) fn written(kind: JointKind) -> format::Joint {
    let mut out = format::Joint::default();
    out.kind = match kind {
        JointKind::Ball => Kind::Ball,
        JointKind::Hinge => Kind::Hinge,
        JointKind::Slider => Kind::Slider,
        JointKind::Fixed => Kind::Fixed,
        JointKind::Cylindrical => Kind::Cylindrical,
        JointKind::Universal => Kind::Universal,
        JointKind::Distance { min, max } => {
            (out.min, out.max) = (Some(min), Some(max));
            Kind::Distance
        }
        JointKind::Turn => Kind::Turn,
        JointKind::Slide => Kind::Slide,
        JointKind::Swing => Kind::Swing,
        JointKind::Twist => Kind::Twist,
        JointKind::PointOnLine => Kind::PointOnLine,
        JointKind::PointOnPlane => Kind::PointOnPlane,
        JointKind::Parallel => Kind::Parallel,
        JointKind::Perpendicular => Kind::Perpendicular,
        JointKind::Angle { angle } => {
            out.angle = Some(angle);
            Kind::Angle
        }
        JointKind::LineOnLine => Kind::LineOnLine,
        JointKind::Planar => Kind::Planar,
        JointKind::SphereOnPlane { radius } => {
            out.radius = Some(radius);
            Kind::SphereOnPlane
        }
        JointKind::CylinderOnPlane { radius } => {
            out.radius = Some(radius);
            Kind::CylinderOnPlane
        }
        JointKind::Orientation => Kind::Orientation,
        JointKind::Screw { pitch } => {
            out.pitch = Some(pitch);
            Kind::Screw
        }
        JointKind::Gear { ratio, phase, .. } => {
            (out.ratio, out.phase) = (Some(ratio), Some(phase));
            Kind::Gear
        }
        JointKind::Rack { radius, phase, .. } => {
            (out.radius, out.phase) = (Some(radius), Some(phase));
            Kind::Rack
        }
    };
    out
}

/// Adds a coupling to the world, the joints it names being there.
pub(crate) fn add_coupling(
    world: &mut World,
    known: &[Option<(String, JointId)>],
    planned: &PlannedJoint<'_>,
    problems: &mut Problems,
) -> Option<JointId> {
    let numbers = planned.what.numbers();
    let names = numbers.joints.as_ref()?;
    let mut ids = [None; 2];
    for (i, name) in names.iter().enumerate() {
        let all = known.iter().flatten();
        ids[i] = all.clone().find(|(n, _)| n == name).map(|(_, id)| *id);
        if ids[i].is_none() {
            let at = planned.at.key("joints").index(i);
            let help = match nearest(name, all.map(|(n, _)| n.as_str())) {
                Some(meant) => format!("did you mean {meant:?}?"),
                None => "write the name of a joint between bodies".into(),
            };
            problems.error(&at, format!("unknown joint {name:?}"), help);
        }
    }
    let [Some(first), Some(second)] = ids else {
        return None;
    };
    let (number, phase) = (numbers.number.unwrap_or(1.0), numbers.phase);
    let coupling = if planned.what.is_rack() {
        Coupling::Rack {
            first,
            second,
            radius: number,
            phase,
        }
    } else {
        Coupling::Gear {
            first,
            second,
            ratio: number,
            phase,
        }
    };
    match world.add_coupling(&planned.name, coupling) {
        Ok(id) => Some(id),
        Err(e) => {
            let at = match e.field.as_str() {
                "first" => planned.at.key("joints").index(0),
                "second" => planned.at.key("joints").index(1),
                field => planned.at.join(field),
            };
            problems.error(
                &at,
                e.reason,
                "couple two joints that share a body, or that are on fixed ones",
            );
            None
        }
    }
}
