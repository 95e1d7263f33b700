//! Articulations of a world: trees of links in reduced coordinates whose links are bodies that anything can touch or be joined to.
//!
//! Reads: descriptions from the user.  Writes: nothing.
//! Called by: `world` (adds and removes them), `two_stage::trees` (moves them).
//! Source: docs/methods/two-stage.md, "Articulated bodies". The tree itself is `articulated::Model`; each link also has
//! a body slot of its own, which carries its shapes, its name and its pose, so that detection, memory, read-out and
//! recordings know no difference.

use crate::articulated::{AdaptiveDesc, Integrator, Joint, LinkDesc, Model as Tree};
use crate::error::BuildError;
use crate::joint::{Freedom, JointDesc, JointKind, Motor};
use crate::math::{Mat3, Pose, Quat, Vec3, tangents};
use crate::model::family::Family;
use crate::model::{Body, BodyId, BodyKind, ShapeDesc};
use std::f64::consts::PI;

/// Names an articulation of one world: a slot, the generation of its tenant, and the family of the world: that of its clones and
/// snapshots. Worlds of other families refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArticulationId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
    pub(crate) family: Family,
}

impl ArticulationId {
    /// Slot of the articulation.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

/// One link as the user describes it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkBodyDesc {
    /// Used in messages; need not be unique.
    pub name: String,
    /// The joint that carries it, where, its mass, limits and joint friction.
    pub link: LinkDesc,
    /// What it is made of, in its own frame; for touching, not for mass.
    pub shapes: Vec<ShapeDesc>,
    /// Drives the joint (hinges and sliders).
    pub motor: Option<Motor>,
    /// Bounds of a spherical joint.
    pub cone: Option<ConeLimits>,
    /// Whether it may touch the link that carries it.
    pub collide: bool,
}

impl LinkBodyDesc {
    /// A link without shapes and motor.
    #[must_use]
    pub const fn new(link: LinkDesc) -> Self {
        Self {
            name: String::new(),
            link,
            shapes: Vec::new(),
            motor: None,
            cone: None,
            collide: false,
        }
    }
}

/// Bounds of a spherical joint: a direction of the link stays within a cone, and its turn about that direction within a range.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ConeLimits {
    /// Centre of the cone, in the joint frame.
    pub center: Vec3,
    /// Direction of the link that stays inside, in the frame of the link. The twist is zero where the shortest turn brings it to the centre.
    pub limb: Vec3,
    /// Greatest angle between the two [rad].
    pub swing: f64,
    /// Least and greatest twist [rad].
    pub twist: Option<(f64, f64)>,
}

impl ConeLimits {
    fn check(&self) -> Result<(), BuildError> {
        for (field, v) in [("center", self.center), ("limb", self.limb)] {
            if !(v.is_finite() && v.length() > 0.0 && v.length().is_finite()) {
                return Err(BuildError::new(field, "must be a direction"));
            }
        }
        if !(self.swing > 0.0 && self.swing <= PI) {
            let reason = format!("must be above 0 and at most π, got {}", self.swing);
            return Err(BuildError::new("swing", reason));
        }
        if let Some((min, max)) = self.twist
            && !(min <= max && min >= -PI && max <= PI)
        {
            let reason = format!("min {min} and max {max} must be in order, between −π and π");
            return Err(BuildError::new("twist", reason));
        }
        Ok(())
    }

    /// The joints that stand for swing and twist.
    fn drives(
        &self,
        name: &str,
        placement: &Pose,
        parent: Option<BodyId>,
        own: BodyId,
    ) -> Vec<JointDesc> {
        let z = self.center.normalize();
        let (x, y) = tangents(z);
        let axes = Quat::from_mat3(&Mat3::from_cols(x, y, z));
        let center = Pose::new(Vec3::ZERO, axes);
        // The shortest turn from the centre to the limb.
        let limb = Pose::new(Vec3::ZERO, shortest_turn(z, self.limb.normalize()) * axes);
        let place = placement.compose(&center);
        let joint = |kind: JointKind, limits: (f64, f64), what: &str| {
            let mut desc = JointDesc::new(kind, parent, place, own, limb);
            desc.name = format!("{name} {what}");
            desc.collide = true;
            desc.rotation.limits = Some(limits);
            desc
        };
        // No swing is below zero.
        let mut out = vec![joint(JointKind::Swing, (-1.0, self.swing), "cone")];
        out.extend(
            self.twist
                .map(|limits| joint(JointKind::Twist, limits, "twist")),
        );
        out
    }
}

/// The shortest rotation that takes one unit vector to another.
fn shortest_turn(from: Vec3, to: Vec3) -> Quat {
    let across = from.cross(to);
    let w = 1.0 + from.dot(to);
    if w < 1e-12 {
        let (t, _) = tangents(from);
        return Quat::from_xyzw(t.x, t.y, t.z, 0.0);
    }
    Quat::from_xyzw(across.x, across.y, across.z, w).normalize()
}

/// An articulation as the user describes it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArticulationDesc {
    /// Used in messages; need not be unique.
    pub name: String,
    /// Links, parents first.
    pub links: Vec<LinkBodyDesc>,
    /// Positions at the start; empty: all coordinates zero.
    pub positions: Vec<f64>,
    /// Velocities at the start; empty: at rest.
    pub velocities: Vec<f64>,
    /// How its free motion is followed.
    pub integrator: Integrator,
    /// Of an adaptive tree only the joints that matter move; `None`: all move.
    pub adaptive: Option<AdaptiveDesc>,
}

impl Default for ArticulationDesc {
    fn default() -> Self {
        Self {
            name: String::new(),
            links: Vec::new(),
            positions: Vec::new(),
            velocities: Vec::new(),
            integrator: Integrator::HighOrder,
            adaptive: None,
        }
    }
}

/// Where an articulation is and how it moves, in the order of its links (see [`crate::articulated`]).
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArticulationState {
    /// Positions: angles [rad], lengths [m], quaternions (x, y, z, w).
    pub positions: Vec<f64>,
    /// Velocities [rad/s, m/s].
    pub velocities: Vec<f64>,
}

impl Clone for ArticulationState {
    fn clone(&self) -> Self {
        Self {
            positions: self.positions.clone(),
            velocities: self.velocities.clone(),
        }
    }

    /// Into the memory that is there: a step copies states often.
    fn clone_from(&mut self, other: &Self) {
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
    }
}

/// An articulation as the phases see it.
#[derive(Clone, Debug)]
pub struct Articulation {
    /// As the user described it.
    pub desc: ArticulationDesc,
    /// The tree.
    pub tree: Tree,
    /// Body slot of each link.
    pub(crate) slots: Vec<u32>,
    /// Slots of the joints that stand for limits, motors and dry friction of its links.
    pub(crate) drives: Vec<u32>,
}

impl ArticulationDesc {
    /// Checks the description and makes the tree.
    pub(crate) fn build(&self, gravity: Vec3) -> Result<Tree, BuildError> {
        if self.links.is_empty() {
            return Err(BuildError::new("links", "an articulation needs a link"));
        }
        let links: Vec<LinkDesc> = self.links.iter().map(|l| l.link.clone()).collect();
        let tree = Tree::new(&links, gravity)?;
        for (i, link) in self.links.iter().enumerate() {
            link.check().map_err(|e| e.inside(&format!("links[{i}]")))?;
        }
        if let Some(adaptive) = &self.adaptive {
            adaptive.check(&tree, 0).map_err(|e| e.inside("adaptive"))?;
        }
        let lengths = [
            ("positions", &self.positions, tree.position_count()),
            ("velocities", &self.velocities, tree.freedom_count()),
        ];
        for (field, values, expected) in lengths {
            if !values.is_empty() && values.len() != expected {
                return Err(BuildError::new(
                    field,
                    format!("this tree has {expected} of them, got {}", values.len()),
                ));
            }
            if values.iter().any(|x| !x.is_finite()) {
                return Err(BuildError::new(field, "must be finite"));
            }
        }
        Ok(tree)
    }

    /// The state it starts in.
    pub(crate) fn start(&self, tree: &Tree) -> ArticulationState {
        let or = |given: &[f64], otherwise: Vec<f64>| {
            if given.is_empty() {
                otherwise
            } else {
                given.to_vec()
            }
        };
        ArticulationState {
            positions: or(&self.positions, tree.neutral()),
            velocities: or(&self.velocities, vec![0.0; tree.freedom_count()]),
        }
    }

    /// Whether a link can move at all: some joint between it and the world is not fixed.
    pub(crate) fn moves(&self, link: usize) -> bool {
        let mut at = Some(link);
        while let Some(i) = at {
            if self.links[i].link.joint != Joint::Fixed {
                return true;
            }
            at = self.links[i].link.parent;
        }
        false
    }
}

impl LinkBodyDesc {
    fn check(&self) -> Result<(), BuildError> {
        if let Some(cone) = &self.cone {
            if self.link.joint != Joint::Spherical {
                return Err(BuildError::new("cone", "only spherical joints have cones"));
            }
            cone.check().map_err(|e| e.inside("cone"))?;
        }
        let one = self.axis().is_some();
        if !one && self.motor.is_some() {
            return Err(BuildError::new(
                "motor",
                "only joints with one freedom have motors",
            ));
        }
        if !one && self.link.friction.coulomb > 0.0 {
            return Err(BuildError::new(
                "friction",
                "only joints with one freedom have dry friction",
            ));
        }
        if self.link.limits.is_some_and(|l| l.restitution > 0.0) {
            let reason = "the stops of a world's links take all speed: restitution must be 0";
            return Err(BuildError::new("limits.restitution", reason));
        }
        Ok(())
    }

    /// Axis of a joint with one freedom, and whether it turns about it.
    fn axis(&self) -> Option<(Vec3, bool)> {
        match self.link.joint {
            Joint::Revolute { axis } => Some((axis, true)),
            Joint::Prismatic { axis } => Some((axis, false)),
            _ => None,
        }
    }

    /// The body of the link, at the origin.
    pub(crate) fn body(&self, kind: BodyKind) -> Result<Body, BuildError> {
        Body::link(&self.name, kind, &self.shapes, &self.link.mass)
    }

    /// The joints that stand for what acts along the freedom of this link: limits and motor in one, dry friction in another; the cone.
    pub(crate) fn drives(&self, parent: Option<BodyId>, own: BodyId) -> Vec<JointDesc> {
        let Some((axis, turns)) = self.axis() else {
            return self.cone.map_or_else(Vec::new, |cone| {
                cone.drives(&self.name, &self.link.placement, parent, own)
            });
        };
        let z = axis.normalize();
        let (x, y) = tangents(z);
        let axes = Pose::new(Vec3::ZERO, Quat::from_mat3(&Mat3::from_cols(x, y, z)));
        let kind = if turns {
            JointKind::Turn
        } else {
            JointKind::Slide
        };
        let place = self.link.placement.compose(&axes);
        let joint = |freedom: Freedom, what: &str| {
            let mut desc = JointDesc::new(kind, parent, place, own, axes);
            desc.name = format!("{} {what}", self.name);
            desc.collide = true;
            if turns {
                desc.rotation = freedom;
            } else {
                desc.translation = freedom;
            }
            desc
        };
        let limits = self.link.limits.map(|l| (l.min, l.max));
        let mut out = Vec::new();
        if limits.is_some() || self.motor.is_some() {
            let freedom = Freedom {
                limits,
                motor: self.motor,
                spring: None,
            };
            out.push(joint(freedom, "drive"));
        }
        if self.link.friction.coulomb > 0.0 {
            let motor = Some(Motor::Velocity {
                target: 0.0,
                max_force: self.link.friction.coulomb,
            });
            let freedom = Freedom {
                motor,
                ..Freedom::default()
            };
            out.push(joint(freedom, "friction"));
        }
        out
    }
}

impl Articulation {
    /// Body slot of each link.
    #[must_use]
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Whether a free joint carries all of it.
    pub(crate) fn floats(&self) -> bool {
        let roots = self.desc.links.iter().filter(|l| l.link.parent.is_none());
        let mut roots = roots.map(|l| &l.link.joint);
        roots.all(|joint| *joint == Joint::Free)
    }

    /// Plain joints that motors drive.
    pub(crate) fn driven_joints(&self) -> Vec<usize> {
        let driven = |link: usize| self.desc.links[link].motor.is_some();
        self.tree.joints_of(driven)
    }

    /// The link that impulses anywhere on the tree are counted with: its first one that moves.
    pub(crate) fn root(&self) -> Option<u32> {
        (0..self.slots.len())
            .find(|&i| self.desc.moves(i))
            .map(|i| self.slots[i])
    }
}
