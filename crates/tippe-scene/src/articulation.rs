//! An articulation of the file to one of the engine, and back with its defaults written out.
//!
//! Reads: `format::Articulation`, the materials of the scene.  Writes: `Problems`.
//! Called by: `build`.
//! Source: `docs/scene-format.md`, "Articulations".

use crate::body::rotation;
use crate::build::{Item, MaterialTable, Planned};
use crate::check::{HEAVY, LARGE, direction, not_negative, vector};
use crate::diagnostics::{At, Problems};
use crate::format::{self, LinkJoint, TreeIntegrator};
use crate::solid;
use crate::suggest::nearest;
use std::collections::BTreeMap;
use tippe::articulated::{AdaptiveDesc, Integrator, Joint, JointFriction, Limits, LinkDesc};
use tippe::shape::MassProperties;
use tippe::{
    ArticulationDesc, ArticulationId, BodyDesc, BodyId, BodyKind, ConeLimits, LinkBodyDesc, Mat3,
    Pose, Vec3, World,
};

/// Most links that `repeat` makes of one.
const REPEAT_MAX: u64 = 100_000;

/// An articulation to be, with the place of each of its links in the file.
pub(crate) struct PlannedArticulation {
    pub(crate) desc: ArticulationDesc,
    places: Vec<At>,
    at: At,
}

/// Checks an articulation of the file and builds its description.
pub(crate) fn describe(
    item: &Item<format::Articulation>,
    materials: &MaterialTable,
    problems: &mut Problems,
) -> PlannedArticulation {
    let (file, at) = (&item.value, &item.at);
    if file.name.trim().is_empty() && !problems.knows(&at.key("name")) {
        let help = "give the articulation a name of its own: name = \"arm\"";
        problems.error(&at.key("name"), "must not be empty", help);
    }
    let base = Pose::new(
        vector(
            file.position.unwrap_or_default(),
            &at.key("position"),
            problems,
        ),
        rotation(file.rotation, file.rotation_deg.as_ref(), at, problems),
    );
    let mut tree = Growing {
        file,
        base,
        materials,
        desc: ArticulationDesc {
            name: file.name.clone(),
            integrator: match file.integrator.unwrap_or_default() {
                TreeIntegrator::HighOrder => Integrator::HighOrder,
                TreeIntegrator::OneEvaluation => Integrator::OneEvaluation,
            },
            adaptive: file
                .adaptive
                .as_ref()
                .and_then(|a| adaptive(a, &at.key("adaptive"), problems)),
            ..ArticulationDesc::default()
        },
        names: Vec::new(),
        numbers: BTreeMap::new(),
        places: Vec::new(),
    };
    if file.link.is_empty() && !problems.touches(&at.key("link")) {
        let help = "add [[articulation.link]]";
        problems.error(&at.key("link"), "an articulation needs a link", help);
    }
    for (i, link) in file.link.iter().enumerate() {
        tree.add(link, None, &at.key("link").index(i), problems);
    }
    PlannedArticulation {
        desc: tree.desc,
        places: tree.places,
        at: at.clone(),
    }
}

/// How a tree adapts; `None` if that makes no sense.
fn adaptive(file: &format::Adaptive, at: &At, problems: &mut Problems) -> Option<AdaptiveDesc> {
    let mut desc = match (file.joints, file.error) {
        (Some(joints), None) => AdaptiveDesc::joints(usize::try_from(joints).unwrap_or(usize::MAX)),
        (None, Some(error)) => AdaptiveDesc::error(error),
        (both, _) => {
            let reason = if both.is_some() {
                "has joints and error: only one of them can say how much moves"
            } else {
                "does not say how much moves"
            };
            let help = "write adaptive = { joints = 16 } or adaptive = { error = 1e-3 }";
            problems.error(at, reason, help);
            return None;
        }
    };
    if file.joints == Some(0) {
        problems.error(
            &at.key("joints"),
            "must be at least 1",
            "write how many joints may move",
        );
        return None;
    }
    let help = "write a number that is not negative";
    if let Some(error) = file.error {
        not_negative(error, LARGE, help, &at.key("error"), problems);
    }
    if let Some(speed) = file.lock_speed {
        not_negative(speed, LARGE, help, &at.key("lock_speed"), problems);
        desc.lock_speed = speed;
    }
    if let Some(interval) = file.interval {
        if interval == 0 || interval > u64::from(u32::MAX) {
            let help = "write the number of steps between two choices";
            problems.error(&at.key("interval"), "must be at least 1", help);
            return None;
        }
        desc.interval = interval as u32;
    }
    for (i, w) in file.weights.iter().flatten().enumerate() {
        if !(*w > 0.0 && w.is_finite()) {
            let at = at.key("weights").index(i);
            let help = "write a positive number for each freedom";
            problems.error(&at, format!("must be positive, got {w}"), help);
        }
    }
    desc.weights.clone_from(&file.weights);
    Some(desc)
}

/// A tree under way.
struct Growing<'a> {
    file: &'a format::Articulation,
    base: Pose,
    materials: &'a MaterialTable,
    desc: ArticulationDesc,
    /// Names of the links within the articulation.
    names: Vec<String>,
    /// Their numbers, by name.
    numbers: BTreeMap<String, usize>,
    places: Vec<At>,
}

impl Growing<'_> {
    fn add(
        &mut self,
        link: &format::Link,
        carrier: Option<usize>,
        at: &At,
        problems: &mut Problems,
    ) {
        let parent = match &link.parent {
            None => carrier,
            Some(name) => self.find(name, carrier, &at.key("parent"), problems),
        };
        let count = link.repeat.unwrap_or(1);
        if count == 0 || count > REPEAT_MAX {
            let reason = format!("must be between 1 and {REPEAT_MAX}, got {count}");
            problems.error(&at.key("repeat"), reason, "write how many links to make");
            return;
        }
        let desc = self.link(link, at, problems);
        let (start, rates) = self.coordinates(link, at, problems);
        let mut before = parent;
        for n in 0..count {
            let number = self.desc.links.len();
            let own = match (&link.name, count) {
                (Some(name), 1) => name.clone(),
                (Some(name), _) => format!("{name}{n}"),
                (None, _) => format!("link{number}"),
            };
            if self.numbers.contains_key(&own) || own.trim().is_empty() {
                let reason = format!("link {own:?} exists already");
                let help = "give each link a name of its own";
                problems.error(&at.key("name"), reason, help);
            }
            let mut desc = desc.clone();
            desc.name = format!("{}.{own}", self.file.name);
            desc.link.parent = before;
            if before.is_none() {
                desc.link.placement = self.base.compose(&desc.link.placement);
            }
            before = Some(number);
            self.numbers.entry(own.clone()).or_insert(number);
            self.names.push(own);
            self.desc.links.push(desc);
            self.desc.positions.extend(&start);
            self.desc.velocities.extend(&rates);
            self.places.push(at.clone());
        }
        for (i, inner) in link.link.iter().flatten().enumerate() {
            self.add(inner, before, &at.key("link").index(i), problems);
        }
    }

    fn find(
        &self,
        name: &str,
        carrier: Option<usize>,
        at: &At,
        problems: &mut Problems,
    ) -> Option<usize> {
        if carrier.is_some() {
            let reason = "this link stands inside the one that carries it";
            problems.error(at, reason, "remove parent, or move the link out");
            return carrier;
        }
        let found = self.numbers.get(name).copied();
        if found.is_none() {
            let help = match nearest(name, self.names.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean {meant:?}?"),
                None => "a link comes after the one that carries it".into(),
            };
            problems.error(at, format!("no link {name:?} before this one"), help);
        }
        found
    }

    /// What can be said of a link alone.
    fn link(&self, link: &format::Link, at: &At, problems: &mut Problems) -> LinkBodyDesc {
        let kind = link.joint.unwrap_or_default();
        let joint = joint_of(link, kind, at, problems);
        let placement = Pose::new(
            vector(
                link.position.unwrap_or_default(),
                &at.key("position"),
                problems,
            ),
            rotation(link.rotation, link.rotation_deg.as_ref(), at, problems),
        );
        let (shapes, mass) = self.solid(link, at, problems);
        let (limits, motor, spring) = drive(link, kind, at, problems);
        let cone = cone(link, kind, at, problems);
        let rotor = link.armature.unwrap_or(0.0);
        let help = "write rotor inertia times gear ratio squared";
        not_negative(rotor, HEAVY, help, &at.key("armature"), problems);
        let mut friction = |key: &str, value: Option<f64>| {
            let value = value.unwrap_or(0.0);
            let help = "write the resistance, or leave it out";
            not_negative(value, HEAVY, help, &at.key(key), problems);
            value
        };
        LinkBodyDesc {
            name: String::new(),
            link: LinkDesc {
                parent: None,
                joint,
                placement,
                mass,
                limits,
                friction: JointFriction {
                    viscous: friction("viscous", link.viscous),
                    coulomb: friction("dry_friction", link.dry_friction),
                },
                spring,
                armature: rotor,
            },
            shapes,
            motor,
            cone,
            collide: link.collide.unwrap_or(false),
        }
    }

    /// Shapes and mass, as of a body.
    fn solid(
        &self,
        link: &format::Link,
        at: &At,
        problems: &mut Problems,
    ) -> (Vec<tippe::ShapeDesc>, MassProperties) {
        const NONE: MassProperties = MassProperties {
            mass: 0.0,
            center: Vec3::ZERO,
            inertia: Mat3::ZERO,
        };
        let body = format::Body {
            shape: link.shape.clone(),
            shapes: link.shapes.clone(),
            density: link.density,
            mass: link.mass,
            inertia: link.inertia.clone(),
            center: link.center,
            material: link.material.clone(),
            collision: link.collision.clone(),
            ..format::Body::default()
        };
        let shapeless = link.shape.is_none() && link.shapes.is_none();
        let massless = link.mass.unwrap_or(0.0) == 0.0;
        let shapes = if shapeless && (link.inertia.is_some() || massless) {
            Vec::new()
        } else {
            solid::shapes(&body, at, self.materials, problems)
        };
        if massless && (link.mass.is_some() || (shapeless && link.inertia.is_none())) {
            return (shapes, NONE);
        }
        let spec = solid::mass(&body, &BodyKind::Dynamic, &shapes, at, problems);
        let desc = BodyDesc {
            shapes: shapes.clone(),
            mass: spec,
            ..BodyDesc::default()
        };
        let mass = match desc.mass_properties() {
            Ok(mass) => mass,
            Err(e) => {
                if !problems.touches(at) {
                    problems.error(&at.join(&e.field), e.reason, "see the mass of bodies");
                }
                NONE
            }
        };
        (shapes, mass)
    }

    /// Coordinates and rates at the start, in the order of the engine.
    fn coordinates(
        &self,
        link: &format::Link,
        at: &At,
        problems: &mut Problems,
    ) -> (Vec<f64>, Vec<f64>) {
        let kind = link.joint.unwrap_or_default();
        let (positions, freedoms) = match kind {
            LinkJoint::Revolute | LinkJoint::Prismatic => (1, 1),
            LinkJoint::Spherical => (4, 3),
            LinkJoint::Fixed => (0, 0),
            LinkJoint::Free => (7, 6),
            LinkJoint::Universal | LinkJoint::Cylindrical => (2, 2),
            LinkJoint::Planar => (3, 3),
        };
        let mut start = vec![0.0; positions];
        if matches!(kind, LinkJoint::Spherical | LinkJoint::Free) {
            start[positions - 4] = 1.0;
        }
        let mut rates = vec![0.0; freedoms];
        let mut take = |key: &str, given: Option<&Vec<f64>>, out: &mut Vec<f64>| {
            let Some(given) = given else { return };
            if given.len() != out.len() {
                let reason = format!("this joint has {} of them, got {}", out.len(), given.len());
                problems.error(&at.key(key), reason, "write one number for each");
            } else if given.iter().any(|x| x.abs() > LARGE) {
                problems.error(&at.key(key), "too large", "write angles [rad], lengths [m]");
            } else {
                out.clone_from(given);
            }
        };
        take("start", link.start.as_ref(), &mut start);
        take("rates", link.rates.as_ref(), &mut rates);
        if let Some(degrees) = link.start_deg {
            if kind != LinkJoint::Revolute || link.start.is_some() {
                let help = "only a revolute joint starts at one angle; keep start or start_deg";
                problems.error(&at.key("start_deg"), "not here", help);
            } else {
                start[0] = degrees.to_radians();
            }
        }
        // Files have quaternions as w, x, y, z; the engine has x, y, z, w.
        if matches!(kind, LinkJoint::Spherical | LinkJoint::Free) {
            start[positions - 4..].rotate_left(1);
        }
        (start, rates)
    }
}

fn joint_of(link: &format::Link, kind: LinkJoint, at: &At, problems: &mut Problems) -> Joint {
    let mut along = |key: &str, given: Option<[f64; 3]>, otherwise: Vec3| match given {
        Some(v) => direction(v, &at.key(key), problems),
        None => otherwise,
    };
    let axis = along("axis", link.axis, Vec3::Z);
    let axis_b = along("axis_b", link.axis_b, Vec3::X);
    let wrong = [
        (
            "axis",
            link.axis.is_some()
                && matches!(
                    kind,
                    LinkJoint::Spherical | LinkJoint::Fixed | LinkJoint::Free
                ),
        ),
        (
            "axis_b",
            link.axis_b.is_some() && kind != LinkJoint::Universal,
        ),
    ];
    for (key, given) in wrong {
        if given {
            problems.error(&at.key(key), "this joint has no such axis", "remove it");
        }
    }
    match kind {
        LinkJoint::Revolute => Joint::Revolute { axis },
        LinkJoint::Prismatic => Joint::Prismatic { axis },
        LinkJoint::Spherical => Joint::Spherical,
        LinkJoint::Fixed => Joint::Fixed,
        LinkJoint::Free => Joint::Free,
        LinkJoint::Universal => Joint::Universal {
            first: axis,
            second: axis_b,
        },
        LinkJoint::Cylindrical => Joint::Cylindrical { axis },
        LinkJoint::Planar => Joint::Planar { normal: axis },
    }
}

/// Limits, motor and spring, read like those of a joint between bodies.
fn drive(
    link: &format::Link,
    kind: LinkJoint,
    at: &At,
    problems: &mut Problems,
) -> (Option<Limits>, Option<tippe::Motor>, Option<tippe::Spring>) {
    let kind = match kind {
        LinkJoint::Revolute => format::JointKind::Hinge,
        LinkJoint::Prismatic => format::JointKind::Slider,
        _ => {
            for (key, given) in [
                ("limits", link.limits.is_some()),
                ("limits_deg", link.limits_deg.is_some()),
                ("motor", link.motor.is_some()),
                ("spring", link.spring.is_some()),
            ] {
                if given {
                    let reason = "only revolute and prismatic joints have it";
                    problems.error(&at.key(key), reason, "remove it");
                }
            }
            return (None, None, None);
        }
    };
    let joint = format::Joint {
        kind,
        limits: link.limits,
        limits_deg: link.limits_deg,
        motor: link.motor.clone(),
        spring: link.spring.clone(),
        ..format::Joint::default()
    };
    let (rotation, translation) = crate::drive::freedoms(&joint, at, problems);
    let freedom = if kind == format::JointKind::Hinge {
        rotation
    } else {
        translation
    };
    let limits = freedom.limits.map(|(min, max)| Limits {
        min,
        max,
        restitution: 0.0,
    });
    (limits, freedom.motor, freedom.spring)
}

/// Bounds of a spherical joint.
fn cone(
    link: &format::Link,
    kind: LinkJoint,
    at: &At,
    problems: &mut Problems,
) -> Option<ConeLimits> {
    let (cone, at) = (link.cone.as_ref()?, at.key("cone"));
    if kind != LinkJoint::Spherical {
        problems.error(&at, "only spherical joints have it", "remove it");
        return None;
    }
    let center = cone
        .center
        .map_or(Vec3::Z, |v| direction(v, &at.key("center"), problems));
    let limb = cone
        .limb
        .map_or(center, |v| direction(v, &at.key("limb"), problems));
    if !(cone.swing_deg > 0.0 && cone.swing_deg <= 180.0) {
        let reason = format!("must be above 0 and at most 180, got {}", cone.swing_deg);
        problems.error(
            &at.key("swing_deg"),
            reason,
            "write the half angle of the cone",
        );
        return None;
    }
    let twist = cone
        .twist_deg
        .map(|[min, max]| (min.to_radians(), max.to_radians()));
    if let Some([min, max]) = cone.twist_deg
        && !(min <= max && min >= -180.0 && max <= 180.0)
    {
        let reason = format!("min {min} and max {max} must be in order, between -180 and 180");
        problems.error(&at.key("twist_deg"), reason, "write [least, greatest]");
        return None;
    }
    Some(ConeLimits {
        center,
        limb,
        swing: cone.swing_deg.to_radians(),
        twist,
    })
}

impl PlannedArticulation {
    /// Its links as bodies that joints can name.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = Planned> {
        self.desc.links.iter().zip(&self.places).map(|(link, at)| {
            let desc = BodyDesc {
                name: link.name.clone(),
                kind: BodyKind::Dynamic,
                ..BodyDesc::default()
            };
            Planned {
                desc,
                at: at.clone(),
            }
        })
    }

    /// Puts it into the world; names and ids of its links.
    pub(crate) fn add(
        &self,
        world: &mut World,
        names: &mut Vec<(String, BodyId)>,
        problems: &mut Problems,
    ) -> Option<ArticulationId> {
        match world.add_articulation(&self.desc) {
            Ok(id) => {
                let bodies = world.link_bodies(id).unwrap_or_default();
                let own = self.desc.links.iter().map(|l| l.name.clone());
                names.extend(own.zip(bodies));
                Some(id)
            }
            Err(e) => {
                // links[3].joint.axis belongs to the table that the fourth link came from.
                let mut place = self.at.join(&e.field);
                if let Some((number, field)) = e
                    .field
                    .strip_prefix("links[")
                    .and_then(|rest| rest.split_once("]."))
                    && let Some(at) = number.parse().ok().and_then(|i: usize| self.places.get(i))
                {
                    let field = field.replace("joint.", "").replace("friction", "viscous");
                    place = at.join(&field);
                }
                problems.error(
                    &place,
                    e.reason,
                    "the engine refuses this link as it stands",
                );
                None
            }
        }
    }
}

/// The table with its defaults written out.
pub(crate) fn written_out(file: &format::Articulation) -> format::Articulation {
    fn link(l: &format::Link) -> format::Link {
        format::Link {
            joint: Some(l.joint.unwrap_or_default()),
            position: Some(l.position.unwrap_or_default()),
            viscous: Some(l.viscous.unwrap_or(0.0)),
            dry_friction: l.dry_friction,
            armature: l.armature,
            collide: Some(l.collide.unwrap_or(false)),
            material: Some(l.material.clone().unwrap_or_else(|| "default".into())),
            link: l.link.as_ref().map(|list| list.iter().map(link).collect()),
            ..l.clone()
        }
    }
    format::Articulation {
        position: Some(file.position.unwrap_or_default()),
        integrator: Some(file.integrator.unwrap_or_default()),
        link: file.link.iter().map(link).collect(),
        ..file.clone()
    }
}
