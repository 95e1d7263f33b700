//! A joint of the file to a joint of the engine.
//!
//! Reads: `format::Joint`, the planned bodies, their poses at the start.  Writes: `Problems`, joints of the world.
//! Called by: `build` (joints), `generate` (templates).
//! Source: `docs/scene-format.md`, "Joints".

use crate::body::rotation;
use crate::build::Planned;
use crate::check::{HEAVY, LARGE, direction, not_negative, positive, vector};
use crate::diagnostics::{At, Problems};
use crate::drive::freedoms;
use crate::format::{self, JointKind as Kind};
use crate::mate::{Numbers, Places, Start, add_coupling, engine, has_axis, has_second_axis};
use crate::mate::{is_reversed, numbers, only_joints, places};
use crate::suggest::nearest;
use std::collections::BTreeMap;
use tippe::{BodyId, Freedom, JointDesc, JointId, JointKind, Pose, Quat, Vec3, World};

/// The name of the world as an end of a joint.
pub(crate) const WORLD: &str = "world";
/// Two axes with a cosine below this are meant to be perpendicular, and made so.
const PERPENDICULAR: f64 = 1e-3;

/// What a joint is, without its ends.
pub(crate) struct Jointing {
    /// As the file gives it; may be empty.
    name: String,
    kind: Kind,
    axis: Vec3,
    axis_b: Vec3,
    /// Range of a distance joint, as far as the file gives it [m].
    min: Option<f64>,
    max: Option<f64>,
    numbers: Numbers,
    /// Whether the side of a tangent plane follows from the start.
    by_place: bool,
    rotation: Freedom,
    translation: Freedom,
    break_force: f64,
    break_torque: f64,
    collide: bool,
}

/// A body, or the world, and the joint's frame on it.
#[derive(Clone, Copy)]
pub(crate) struct End {
    /// Number of the body in the plan; `None` is the world.
    pub(crate) body: Option<usize>,
    pub(crate) frame: Frame,
}

#[derive(Clone, Copy)]
pub(crate) enum Frame {
    /// Where it is in the world at the start.
    World(Pose),
    /// Where it is on its body.
    Local(Pose),
    /// At the origin of its body, with these axes in the world at the start.
    Oriented(Quat),
}

/// A joint to be, before it is in the world.
pub(crate) struct PlannedJoint<'a> {
    pub(crate) name: String,
    pub(crate) what: &'a Jointing,
    /// None of a coupling.
    pub(crate) ends: Option<[End; 2]>,
    pub(crate) at: At,
}

/// The name of a kind in the file.
pub(crate) const fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Ball => "ball",
        Kind::Hinge => "hinge",
        Kind::Slider => "slider",
        Kind::Fixed => "fixed",
        Kind::Distance => "distance",
        Kind::Cylindrical => "cylindrical",
        Kind::Universal => "universal",
        Kind::Coaxial => "coaxial",
        Kind::PointOnLine => "point_on_line",
        Kind::PointOnPlane => "point_on_plane",
        Kind::Parallel => "parallel",
        Kind::Perpendicular => "perpendicular",
        Kind::Angle => "angle",
        Kind::LineOnLine => "line_on_line",
        Kind::Planar => "planar",
        Kind::SphereOnPlane => "sphere_on_plane",
        Kind::CylinderOnPlane => "cylinder_on_plane",
        Kind::Orientation => "orientation",
        Kind::Screw => "screw",
        Kind::Gear => "gear",
        Kind::Rack => "rack",
        Kind::Turn => "turn",
        Kind::Slide => "slide",
        Kind::Swing => "swing",
        Kind::Twist => "twist",
    }
}

/// Checks what a joint is; where it is comes after.
pub(crate) fn describe(
    joint: &format::Joint,
    at: &At,
    template: bool,
    problems: &mut Problems,
) -> Jointing {
    // Of an unknown kind nothing is known to be wrong.
    let known = !problems.knows(&at.key("kind"));
    let mut own = Numbers::default();
    if known {
        wrong_fields(joint, at, template, problems);
        own = numbers(joint, at, problems);
    }
    let (axis, axis_b) = axes(joint, at, problems);
    let (min, max) = range(joint, at, problems);
    let (rotation, translation) = if known {
        freedoms(joint, at, problems)
    } else {
        (Freedom::default(), Freedom::default())
    };
    let mut strength = |key: &str, value: Option<f64>| {
        let help = "write the load that breaks it, or leave it out: the joint then never breaks";
        if let Some(value) = value {
            positive(value, HEAVY, help, &at.key(key), problems);
        }
        value.unwrap_or(f64::INFINITY)
    };
    Jointing {
        name: joint.name.clone().unwrap_or_default(),
        kind: joint.kind,
        axis,
        axis_b,
        min,
        max,
        numbers: own,
        by_place: joint.frame_a.is_none(),
        rotation,
        translation,
        break_force: strength("break_force", joint.break_force),
        break_torque: strength("break_torque", joint.break_torque),
        collide: joint.collide.unwrap_or(false),
    }
}

/// Reports fields that the kind of joint, or a generator, has no use for.
fn wrong_fields(joint: &format::Joint, at: &At, template: bool, problems: &mut Problems) {
    let kind = joint.kind;
    let distance = kind == Kind::Distance;
    let where_ = places(kind);
    if where_ == Places::Joints {
        if template {
            problems.error(
                &at.key("kind"),
                "a generator makes no couplings",
                "write a [[joint]] that names two joints",
            );
        }
        only_joints(joint, at, problems);
    }
    let framed = joint.frame_a.is_some() || joint.frame_b.is_some();
    if template {
        for (key, given) in [
            ("bodies", joint.bodies.is_some()),
            ("at", joint.at.is_some()),
            ("at_a", joint.at_a.is_some()),
            ("at_b", joint.at_b.is_some()),
            ("frame_a", joint.frame_a.is_some()),
            ("frame_b", joint.frame_b.is_some()),
        ] {
            if given {
                problems.error(
                    &at.key(key),
                    "the generator says what its joints connect and where",
                    "remove it here",
                );
            }
        }
    }
    let mut refuse =
        |key: &str, reason: String, help: &str| problems.error(&at.key(key), reason, help);
    let here = word(kind);
    for (key, given) in [
        ("axis", joint.axis.is_some()),
        ("axis_b", joint.axis_b.is_some()),
    ] {
        let fits = if key == "axis" {
            has_axis(kind)
        } else {
            has_second_axis(kind).0
        };
        if given && !fits {
            let help = if key == "axis" {
                "remove it; hinge, slider, cylindrical and universal have one"
            } else {
                "remove it; this kind has one axis"
            };
            refuse(key, format!("a {here} joint has no such axis"), help);
        } else if given && framed {
            refuse(
                key,
                "both frames and an axis".into(),
                "keep one of the two: the axis of a frame is its z",
            );
        }
    }
    if joint.at.is_some() && where_ == Places::Two {
        let help = "write at_a and at_b, the two points it keeps apart";
        refuse("at", format!("a {here} joint has two points"), help);
    } else if joint.at.is_some() && framed {
        refuse(
            "at",
            "both frames and a place".into(),
            "keep one of the two",
        );
    }
    for (key, given) in [
        ("at_a", joint.at_a.is_some()),
        ("at_b", joint.at_b.is_some()),
    ] {
        if given && !matches!(where_, Places::Two | Places::Either | Places::Joints) {
            let help = "write at: the two bodies meet there";
            refuse(key, format!("a {here} joint is in one place"), help);
        } else if given && framed {
            refuse(key, "both frames and a place".into(), "keep one of the two");
        } else if given && joint.at.is_some() {
            refuse(
                key,
                format!("both at and {key}"),
                "keep at, or write at_a and at_b",
            );
        }
    }
    for (key, given) in [
        ("length", joint.length.is_some()),
        ("min", joint.min.is_some()),
        ("max", joint.max.is_some()),
    ] {
        if given && !distance {
            let help = "remove it; only a distance joint has one";
            refuse(key, format!("a {here} joint keeps no distance"), help);
        }
    }
}

fn axes(joint: &format::Joint, at: &At, problems: &mut Problems) -> (Vec3, Vec3) {
    let framed = joint.frame_a.is_some() || joint.frame_b.is_some();
    let mut read = |key: &str, given: Option<[f64; 3]>, needed: bool| match given {
        Some(axis) => direction(axis, &at.key(key), problems),
        None => {
            if needed && !framed {
                let reason = format!("missing: a {} joint needs an axis", word(joint.kind));
                let example = if key == "axis" {
                    "[0, 0, 1]"
                } else {
                    "[0, 1, 0]"
                };
                let help = format!("add {key} = {example}, in world axes");
                problems.error(&at.key(key), reason, help);
            }
            Vec3::Z
        }
    };
    let axis = read("axis", joint.axis, has_axis(joint.kind));
    let (_, needed) = has_second_axis(joint.kind);
    let mut axis_b = read("axis_b", joint.axis_b, needed);
    if joint.axis_b.is_none() && !needed {
        axis_b = axis;
    }
    if joint.kind != Kind::Universal {
        return (axis, axis_b);
    }
    if joint.axis.is_none() || joint.axis_b.is_none() {
        return (axis, axis_b);
    }
    let cosine = axis.dot(axis_b);
    if cosine.abs() > PERPENDICULAR {
        let degrees = libm::acos(cosine.clamp(-1.0, 1.0)).to_degrees();
        let reason = format!("must be perpendicular to axis; the angle is {degrees:.1}°");
        problems.error(
            &at.key("axis_b"),
            reason,
            "write two axes at right angles, such as [1, 0, 0] and [0, 1, 0]",
        );
        return (axis, axis_b);
    }
    if cosine == 0.0 {
        return (axis, axis_b);
    }
    let across = axis_b - axis * cosine;
    (axis, across / across.length())
}

/// Range of a distance joint; what the file leaves out is the distance at the start.
fn range(joint: &format::Joint, at: &At, problems: &mut Problems) -> (Option<f64>, Option<f64>) {
    if joint.kind != Kind::Distance {
        return (None, None);
    }
    if let Some(length) = joint.length {
        for (key, given) in [("min", joint.min), ("max", joint.max)] {
            if given.is_some() {
                problems.error(
                    &at.key(key),
                    format!("both length and {key}"),
                    "keep length, or write min and max",
                );
            }
        }
        positive(
            length,
            LARGE,
            "write the distance in metres; a ball joint holds two points together",
            &at.key("length"),
            problems,
        );
        return (Some(length), Some(length));
    }
    if let Some(min) = joint.min {
        not_negative(
            min,
            LARGE,
            "write the least distance in metres",
            &at.key("min"),
            problems,
        );
    }
    if let Some(max) = joint.max {
        let fine = positive(
            max,
            LARGE,
            "write the greatest distance in metres",
            &at.key("max"),
            problems,
        );
        if let Some(min) = joint.min.filter(|min| fine && *min > max) {
            problems.error(
                &at.key("min"),
                format!("min ({min}) is above max ({max})"),
                "exchange the two",
            );
        }
        return (Some(joint.min.unwrap_or(0.0)), Some(max));
    }
    (joint.min, None)
}

/// The bodies of a plan by their names.
pub(crate) struct Names<'a>(BTreeMap<&'a str, usize>);

impl<'a> Names<'a> {
    pub(crate) fn new(plan: &'a [Planned]) -> Self {
        Self(
            plan.iter()
                .enumerate()
                .map(|(i, p)| (p.desc.name.as_str(), i))
                .collect(),
        )
    }

    /// The body of a name, `None` inside for the world; nothing for a name that is unknown, which is reported.
    pub(crate) fn find(
        &self,
        name: &str,
        at: &At,
        problems: &mut Problems,
    ) -> Option<Option<usize>> {
        if name == WORLD {
            return Some(None);
        }
        if let Some(i) = self.0.get(name) {
            return Some(Some(*i));
        }
        if problems.is_full() {
            problems.error(at, "unknown body", "");
            return None;
        }
        let known = self.0.keys().copied().chain([WORLD]);
        let help = match nearest(name, known) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None => "write the name of a body, or \"world\"".into(),
        };
        problems.error(at, format!("unknown body {name:?}"), help);
        None
    }
}

/// The two ends of a joint of the file; `None` if they make no sense, which is reported.
pub(crate) fn ends(
    joint: &format::Joint,
    what: &Jointing,
    plan: &[Planned],
    names: &Names<'_>,
    at: &At,
    problems: &mut Problems,
) -> Option<[End; 2]> {
    let at_bodies = at.key("bodies");
    let Some(bodies) = &joint.bodies else {
        problems.error(
            &at_bodies,
            "missing",
            "add bodies = [\"one\", \"other\"]; \"world\" is the world",
        );
        return None;
    };
    let found = [0, 1].map(|i| names.find(&bodies[i], &at_bodies.index(i), problems));
    if problems.knows(&at.key("kind")) {
        return None;
    }
    let frames = frames(joint, what, at, problems);
    let (Some(a), Some(b), Some([frame_a, frame_b])) = (found[0], found[1], frames) else {
        return None;
    };
    if is_reversed(joint.kind) && a.is_none() {
        let reason = format!(
            "the line or plane of a {} joint is on the second body",
            word(joint.kind)
        );
        problems.error(
            &at_bodies.index(0),
            reason,
            "exchange the two, or make a fixed body for the point",
        );
        return None;
    }
    let moves =
        |end: Option<usize>| end.is_some_and(|i| plan[i].desc.kind == tippe::BodyKind::Dynamic);
    if a == b {
        let reason = format!("both ends are {:?}", bodies[0]);
        problems.error(&at_bodies, reason, "a joint connects two different bodies");
        return None;
    }
    if !moves(a) && !moves(b) {
        let reason = format!(
            "neither {:?} nor {:?} can be moved by a joint",
            bodies[0], bodies[1]
        );
        problems.error(
            &at_bodies,
            reason,
            "make one of them dynamic, or remove the joint",
        );
        return None;
    }
    // The world has no origin that would be meant.
    for (key, end, given) in [("at_a", a, joint.at_a), ("at_b", b, joint.at_b)] {
        if places(joint.kind) == Places::Two
            && end.is_none()
            && given.is_none()
            && joint.frame_a.is_none()
        {
            let help = format!("add {key} = [x, y, z]");
            problems.error(&at.key(key), "missing: say which point of the world", help);
        }
    }
    Some([
        End {
            body: a,
            frame: frame_a,
        },
        End {
            body: b,
            frame: frame_b,
        },
    ])
}

/// The two frames of a joint of the file.
fn frames(
    joint: &format::Joint,
    what: &Jointing,
    at: &At,
    problems: &mut Problems,
) -> Option<[Frame; 2]> {
    let mut local = |key: &str, f: &format::Frame| {
        let at = at.key(key);
        let position = vector(
            f.position.unwrap_or_default(),
            &at.key("position"),
            problems,
        );
        Frame::Local(Pose::new(
            position,
            rotation(f.rotation, f.rotation_deg.as_ref(), &at, problems),
        ))
    };
    match (&joint.frame_a, &joint.frame_b) {
        (Some(a), Some(b)) => return Some([local("frame_a", a), local("frame_b", b)]),
        (Some(_), None) | (None, Some(_)) => {
            let key = if joint.frame_a.is_some() {
                "frame_b"
            } else {
                "frame_a"
            };
            problems.error(
                &at.key(key),
                "missing: frames come in pairs",
                "add it, or write at in their place",
            );
            return None;
        }
        (None, None) => {}
    }
    let where_ = places(what.kind);
    if what.kind == Kind::Distance {
        let mut point = |key: &str, given: Option<[f64; 3]>| match given {
            Some(p) => Frame::World(Pose::from_position(vector(p, &at.key(key), problems))),
            None => Frame::Local(Pose::IDENTITY),
        };
        return Some([point("at_a", joint.at_a), point("at_b", joint.at_b)]);
    }
    if where_ == Places::Two
        || (where_ == Places::Either && (joint.at_a.is_some() || joint.at_b.is_some()))
    {
        let axes = what.axes();
        let mut point = |key: &str, given: Option<[f64; 3]>, z: Vec3| match given {
            Some(p) => Some(Frame::World(Pose::new(
                vector(p, &at.key(key), problems),
                along(z),
            ))),
            None if where_ == Places::Two => Some(Frame::Oriented(along(z))),
            None => {
                problems.error(
                    &at.key(key),
                    "missing: at_a and at_b come in pairs",
                    "add it, or write at in their place",
                );
                None
            }
        };
        let points = [
            point("at_a", joint.at_a, axes[0]),
            point("at_b", joint.at_b, axes[1]),
        ];
        let [Some(a), Some(b)] = points else {
            return None;
        };
        return Some([a, b]);
    }
    if where_ == Places::Anywhere && joint.at.is_none() {
        return Some(what.axes().map(|z| Frame::Oriented(along(z))));
    }
    let Some(place) = joint.at else {
        problems.error(
            &at.key("at"),
            "missing: where is the joint?",
            "add at = [x, y, z], in the world",
        );
        return None;
    };
    Some(what.frames_at(vector(place, &at.key("at"), problems)))
}

impl Jointing {
    /// Both frames at a point of the world; a distance joint of a generator holds the origins of its bodies.
    pub(crate) fn frames_at(&self, point: Vec3) -> [Frame; 2] {
        if self.kind == Kind::Distance {
            return [Frame::Local(Pose::IDENTITY); 2];
        }
        self.axes()
            .map(|z| Frame::World(Pose::new(point, along(z))))
    }

    /// Axes of the two frames.
    const fn axes(&self) -> [Vec3; 2] {
        match self.kind {
            // One axis, whatever the second would be.
            kind if !has_second_axis(kind).0 => [self.axis; 2],
            _ => [self.axis, self.axis_b],
        }
    }

    pub(crate) const fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    pub(crate) fn is_coupling(&self) -> bool {
        places(self.kind) == Places::Joints
    }

    pub(crate) fn is_rack(&self) -> bool {
        self.kind == Kind::Rack
    }

    /// Name of joint `n`, with this prefix if it has none of its own.
    pub(crate) fn numbered(&self, prefix: &str, n: usize) -> String {
        let prefix = if self.name.is_empty() {
            prefix
        } else {
            &self.name
        };
        format!("{prefix}{n}")
    }

    /// Name of a single joint, the n-th of the scene.
    pub(crate) fn own_name(&self, n: usize) -> String {
        if self.name.is_empty() {
            format!("joint{n}")
        } else {
            self.name.clone()
        }
    }

    fn kind(&self, start: &Start) -> JointKind {
        match self.kind {
            Kind::Ball => JointKind::Ball,
            Kind::Hinge => JointKind::Hinge,
            Kind::Slider => JointKind::Slider,
            Kind::Fixed => JointKind::Fixed,
            Kind::Cylindrical => JointKind::Cylindrical,
            Kind::Universal => JointKind::Universal,
            Kind::Distance => JointKind::Distance {
                min: self.min.unwrap_or(start.distance),
                max: self.max.unwrap_or(start.distance),
            },
            mate => {
                let number = self.numbers.number.unwrap_or(start.angle);
                engine(mate, number, start, self.by_place)
            }
        }
    }

    /// The template with every default written out.
    pub(crate) fn written_out(&self) -> format::Joint {
        format::Joint {
            name: Some(self.name.clone()).filter(|n| !n.is_empty()),
            axis: has_axis(self.kind).then(|| self.axis.to_array()),
            axis_b: has_second_axis(self.kind).0.then(|| self.axis_b.to_array()),
            radius: self
                .numbers
                .number
                .filter(|_| matches!(self.kind, Kind::SphereOnPlane | Kind::CylinderOnPlane)),
            pitch: self.numbers.number.filter(|_| self.kind == Kind::Screw),
            angle: self.numbers.number.filter(|_| self.kind == Kind::Angle),
            min: self.min,
            max: self.max,
            ..crate::drive::written_out(
                self.kind,
                &self.rotation,
                &self.translation,
                [self.break_force, self.break_torque],
                self.collide,
            )
        }
    }
}

/// The short turn that brings z to a direction.
fn along(z: Vec3) -> Quat {
    if z.z <= -1.0 + 1e-12 {
        return Quat::from_xyzw(1.0, 0.0, 0.0, 0.0);
    }
    // Half-way between no turn and twice the turn: (1 + cos, sin · axis), brought to length one.
    unit(Quat::from_xyzw(-z.y, z.x, 0.0, 1.0 + z.z))
}

fn unit(q: Quat) -> Quat {
    q * (1.0 / q.length_squared().sqrt())
}

/// How far a joint is from holding and the size of its larger body that moves, if that is less [m].
fn misfit(world: &World, id: JointId) -> Option<(f64, f64)> {
    let (joint, place) = (world.joint(id).ok()?, world.joint_place(id).ok()?);
    if place.coupled.is_some() {
        return None;
    }
    let desc = &joint.desc;
    let gap = if let JointKind::Distance { min, max } = desc.kind {
        let distance = (place.a.position - place.b.position).length();
        (min - distance).max(distance - max)
    } else {
        let held = place.held(desc.kind);
        let linear = |i: &usize| held.rows[*i].e != Vec3::ZERO;
        let squares = (0..held.count)
            .filter(linear)
            .map(|i| held.residuals[i] * held.residuals[i]);
        squares.sum::<f64>().sqrt()
    };
    let size = |id: BodyId| {
        let body = world
            .body(id)
            .ok()
            .filter(|b| b.mass > 0.0 && b.reach.is_finite());
        body.map_or(0.0, |b| 2.0 * b.reach)
    };
    let size = size(desc.body_b).max(desc.body_a.map_or(0.0, size));
    (size > 0.0 && gap > size).then_some((gap, size))
}

/// Adds the joints to the world; their names and ids.
pub(crate) fn add_joints(
    world: &mut World,
    bodies: &[(String, BodyId)],
    plan: &[PlannedJoint<'_>],
    allow_misfits: bool,
    problems: &mut Problems,
) -> Vec<(String, JointId)> {
    let mut names = vec![None; plan.len()];
    for (name, planned) in names.iter_mut().zip(plan) {
        let desc = planned.desc(world, bodies);
        match desc.map(|d| world.add_joint(&d)) {
            Some(Ok(id)) => {
                if !allow_misfits && let Some((gap, size)) = misfit(world, id) {
                    let what = format!(
                        "joint `{}` starts {gap:.3} m apart, more than the size of its bodies ({size:.3} m)",
                        planned.name
                    );
                    let help = "bring its bodies or frames together (`tippe assemble` may do it); smaller gaps close by themselves";
                    problems.error(&planned.at, what, help);
                }
                *name = Some((planned.name.clone(), id));
            }
            Some(Err(e)) => {
                let help = "the engine refuses this joint as it stands";
                problems.error(&planned.at.join(&e.field), e.reason, help);
            }
            None => {}
        }
    }
    for i in 0..plan.len() {
        if plan[i].what.is_coupling() {
            let id = add_coupling(world, &names, &plan[i], problems);
            names[i] = id.map(|id| (plan[i].name.clone(), id));
        }
    }
    names.into_iter().flatten().collect()
}

impl PlannedJoint<'_> {
    /// The joint as the engine wants it, the bodies being where they start.
    fn desc(&self, world: &World, bodies: &[(String, BodyId)]) -> Option<JointDesc> {
        let id = |end: &End| end.body.map(|i| bodies[i].1);
        let pose = |end: &End| {
            id(end)
                .and_then(|id| world.pose(id).ok())
                .unwrap_or(Pose::IDENTITY)
        };
        let local = |end: &End| match end.frame {
            Frame::Local(frame) => frame,
            Frame::Oriented(rotation) => {
                Pose::new(Vec3::ZERO, unit(pose(end).rotation.conjugate() * rotation))
            }
            Frame::World(frame) => {
                let body = pose(end);
                Pose::new(
                    body.point_to_local(frame.position),
                    unit(body.rotation.conjugate() * frame.rotation),
                )
            }
        };
        let [mut a, mut b] = self.ends?;
        let (mut frame_a, mut frame_b) = (local(&a), local(&b));
        if is_reversed(self.what.kind) {
            (a, b, frame_a, frame_b) = (b, a, frame_b, frame_a);
        } else if b.body.is_none() {
            // The engine has the world on side A. With both z axes turned round, angle and displacement keep their signs.
            let turn =
                |f: Pose| Pose::new(f.position, f.rotation * Quat::from_xyzw(1.0, 0.0, 0.0, 0.0));
            (a, b, frame_a, frame_b) = (b, a, turn(frame_b), turn(frame_a));
        }
        let start = Start::new(&pose(&a).compose(&frame_a), &pose(&b).compose(&frame_b));
        let what = self.what;
        Some(JointDesc {
            name: self.name.clone(),
            rotation: what.rotation,
            translation: what.translation,
            break_force: what.break_force,
            break_torque: what.break_torque,
            collide: what.collide,
            ..JointDesc::new(what.kind(&start), id(&a), frame_a, id(&b)?, frame_b)
        })
    }
}
