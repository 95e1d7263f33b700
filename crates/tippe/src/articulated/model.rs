//! Trees of links: what users describe, its checks, and the nodes the algorithms walk over.
//!
//! Reads: descriptions from the user.  Writes: `Model`.
//! Called by: users; every algorithm of `articulated` reads the model.
//! Source: [Featherstone08] §4.1–4.3: parents come before children; [Articulated] slides 9–12.
//! A *link* is what the user named. A *node* is one plain joint and the mass that moves with it: fixed joints are merged into the
//! node of their parent, combined joints are several nodes. Node 0 is the world.

use super::aba;
use super::error::TreeError;
use super::inertia::RigidInertia;
use super::joint::{Joint, Plain, plain_joints, turned};
use super::spatial::Frame;
use crate::error::BuildError;
use crate::joint::Spring;
use crate::math::{Mat3, Pose, Vec3};
use crate::shape::mass::MassProperties;

/// The node of the world, which carries every tree.
pub(super) const WORLD: usize = 0;
/// Stands for "no earlier degree of freedom".
pub(super) const NONE: u32 = u32::MAX;

/// One link of a tree and the joint that carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDesc {
    /// Link that carries this one, given before it; `None` is the world.
    pub parent: Option<usize>,
    /// How the link moves relative to its parent.
    pub joint: Joint,
    /// The joint frame in the frame of the parent link. The frame of the link is the joint frame carried along by the joint.
    pub placement: Pose,
    /// Mass, centre of mass and inertia about it, in the frame of the link. May be zero where a heavier link follows.
    pub mass: MassProperties,
    /// Bounds of the coordinate (joints with one freedom only).
    pub limits: Option<Limits>,
    /// Resistance of the joint (not for free joints).
    pub friction: JointFriction,
    /// Spring and damper along the coordinate (joints with one freedom only).
    pub spring: Option<Spring>,
    /// Inertia of the drive, seen at the joint: rotor inertia times gear ratio squared, for each freedom [kg·m² or kg] (not for free
    /// and fixed joints). It resists the rate of the joint alone and feels neither gravity nor the motion of the carrier.
    pub armature: f64,
}

/// Bounds of a joint coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Least value [rad or m].
    pub min: f64,
    /// Greatest value [rad or m].
    pub max: f64,
    /// Restitution of the stops [1].
    pub restitution: f64,
}

/// Resistance of a joint, the same for each of its freedoms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointFriction {
    /// Viscous torque or force per speed [N·m·s or N·s/m].
    pub viscous: f64,
    /// Dry torque or force, at rest and in motion [N·m or N].
    pub coulomb: f64,
}

impl LinkDesc {
    /// A link without limits, friction and spring.
    #[must_use]
    pub const fn new(
        parent: Option<usize>,
        joint: Joint,
        placement: Pose,
        mass: MassProperties,
    ) -> Self {
        Self {
            parent,
            joint,
            placement,
            mass,
            limits: None,
            friction: JointFriction {
                viscous: 0.0,
                coulomb: 0.0,
            },
            spring: None,
            armature: 0.0,
        }
    }
}

/// One plain joint and what moves rigidly with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Node that carries this one.
    pub parent: u32,
    pub joint: Plain,
    /// Place of its numbers among the positions.
    pub q: u32,
    /// Place of its freedoms among the velocities.
    pub v: u32,
    /// Place among the balls or the free joints.
    pub slot: u32,
    /// Link it belongs to, for messages.
    pub link: u32,
    /// Its frame in the parent node when the coordinate is zero.
    pub placement: Frame,
    pub inertia: RigidInertia,
}

/// Where a link is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub node: u32,
    /// Frame of the link in its node.
    pub frame: Frame,
    /// Start of its positions and of its freedoms.
    pub q: u32,
    pub v: u32,
}

/// A spring along one coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sprung {
    /// Its place among the positions and among the velocities.
    pub q: u32,
    pub v: u32,
    /// [N·m/rad or N/m]
    pub stiffness: f64,
    /// Coordinate without force [rad or m].
    pub rest: f64,
}

impl Sprung {
    /// Torque or force at the positions `q`.
    pub fn torque(&self, q: &[f64]) -> f64 {
        self.stiffness * (self.rest - q[self.q as usize])
    }
}

/// A tree of links on a fixed or floating base, checked and ready for the algorithms.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) descs: Vec<LinkDesc>,
    pub(super) gravity: Vec3,
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    /// For each freedom the freedom next to it towards the world.
    pub(super) freedom_parents: Vec<u32>,
    /// Node of each freedom.
    pub(super) freedom_nodes: Vec<u32>,
    /// Viscous friction of each freedom, with the damper of its spring [N·m·s or N·s/m].
    pub(super) viscous: Vec<f64>,
    /// Inertia of the drive of each freedom [kg·m² or kg].
    pub(super) armature: Vec<f64>,
    /// Joints with springs.
    pub(super) springs: Vec<Sprung>,
    pub(super) position_count: usize,
    pub(super) ball_count: usize,
    pub(super) free_count: usize,
}

impl Model {
    /// Checks the links and builds the tree.
    ///
    /// Refuses parents that do not come before their children, directions of length zero, limits with `min` above `max`, inertias
    /// no solid has, and joints that move no mass.
    pub fn new(links: &[LinkDesc], gravity: Vec3) -> Result<Self, BuildError> {
        if !gravity.is_finite() {
            return Err(BuildError::new("gravity", "must be finite"));
        }
        if links.len() > LINKS_MAX {
            return Err(BuildError::new(
                "links",
                format!("at most {LINKS_MAX} links, got {}", links.len()),
            ));
        }
        let mut model = Self {
            descs: links.to_vec(),
            gravity,
            nodes: vec![Node {
                parent: 0,
                joint: Plain::Free,
                q: 0,
                v: 0,
                slot: 0,
                link: 0,
                placement: Frame::IDENTITY,
                inertia: RigidInertia::default(),
            }],
            links: Vec::with_capacity(links.len()),
            freedom_parents: Vec::new(),
            freedom_nodes: Vec::new(),
            viscous: Vec::new(),
            armature: Vec::new(),
            springs: Vec::new(),
            position_count: 0,
            ball_count: 0,
            free_count: 0,
        };
        for (i, desc) in links.iter().enumerate() {
            model
                .add(i, desc)
                .map_err(|e| e.inside(&format!("links[{i}]")))?;
        }
        model.check_mass()?;
        Ok(model)
    }

    fn add(&mut self, i: usize, desc: &LinkDesc) -> Result<(), BuildError> {
        check_parent(&self.descs, i)?;
        check_link(desc)?;
        let base = match desc.parent {
            None => Link {
                node: WORLD as u32,
                frame: Frame::IDENTITY,
                q: 0,
                v: 0,
            },
            Some(p) => self.links[p],
        };
        let joint_frame = Frame {
            rotation: Mat3::from_quat(desc.placement.rotation.normalize()),
            origin: desc.placement.position,
        };
        let (q, v) = (self.position_count, self.freedom_parents.len());
        // `to_joint` is the joint frame, carried along so far, in the current node.
        let (mut node, mut to_joint) = (base.node, base.frame.compose(&joint_frame));
        let parts = plain_joints(&desc.joint).map_err(|e| e.inside("joint"))?;
        for (joint, axes) in parts {
            node = self.add_node(i, node, joint, to_joint.compose(&turned(axes)));
            to_joint = turned(axes.transpose());
        }
        let m = &desc.mass;
        let inertia = RigidInertia::new(m.mass, m.center, m.inertia).carried(&to_joint);
        let carrier = &mut self.nodes[node as usize];
        carrier.inertia = carrier.inertia.plus(&inertia);
        self.links.push(Link {
            node,
            frame: to_joint,
            q: q as u32,
            v: v as u32,
        });
        Ok(())
    }

    fn add_node(&mut self, link: usize, parent: u32, joint: Plain, placement: Frame) -> u32 {
        let id = self.nodes.len() as u32;
        let v = self.freedom_parents.len();
        let slot = match joint {
            Plain::Hinge | Plain::Slider => 0,
            Plain::Ball => self.ball_count,
            Plain::Free => self.free_count,
        };
        self.ball_count += usize::from(joint == Plain::Ball);
        self.free_count += usize::from(joint == Plain::Free);
        let up = &self.nodes[parent as usize];
        // Every node but the world's has freedoms, so the last one of the parent is the next towards the world.
        let mut before = if parent as usize == WORLD {
            NONE
        } else {
            up.v + up.joint.freedom_count() as u32 - 1
        };
        for d in v..v + joint.freedom_count() {
            self.freedom_parents.push(before);
            self.freedom_nodes.push(id);
            let desc = &self.descs[link];
            let damping = desc.spring.map_or(0.0, |s| s.damping);
            self.viscous.push(desc.friction.viscous + damping);
            self.armature.push(desc.armature);
            if let Some(s) = desc.spring.filter(|s| s.stiffness > 0.0) {
                self.springs.push(Sprung {
                    q: self.position_count as u32,
                    v: d as u32,
                    stiffness: s.stiffness,
                    rest: s.rest,
                });
            }
            before = d as u32;
        }
        self.nodes.push(Node {
            parent,
            joint,
            q: self.position_count as u32,
            v: v as u32,
            slot: slot as u32,
            link: link as u32,
            placement,
            inertia: RigidInertia::default(),
        });
        self.position_count += joint.position_count();
        id
    }

    /// Every joint moves mass. Looked at in a configuration without symmetry, so that only what is wrong in all of them is refused.
    fn check_mass(&self) -> Result<(), BuildError> {
        let massless = |link: usize, what: &str| {
            Err(BuildError::new(
                format!("links[{link}].mass"),
                format!("{what}: give this link, or one that it carries, mass and inertia"),
            ))
        };
        let mut carried: Vec<f64> = self.nodes.iter().map(|n| n.inertia.mass).collect();
        for i in (1..self.nodes.len()).rev() {
            if carried[i] <= 0.0 {
                return massless(self.nodes[i].link as usize, "the joint moves no mass");
            }
            carried[self.nodes[i].parent as usize] += carried[i];
        }
        let mut q = self.neutral();
        let mut angle = 0.0;
        for node in &self.nodes[1..] {
            let at = node.q as usize;
            angle = (angle + GOLDEN) % 1.0;
            match node.joint {
                Plain::Hinge | Plain::Slider => q[at] = angle,
                Plain::Ball => q[at..at + 4].copy_from_slice(&[0.8 * angle, 0.3, 0.2, 0.5]),
                Plain::Free => {}
            }
        }
        match aba::check_mass(self, &q) {
            Err(TreeError::Singular { link }) => {
                massless(link, "the joint has a direction that moves no mass")
            }
            _ => Ok(()),
        }
    }

    /// Plain joints that carry links of a kind.
    pub(crate) fn joints_of(&self, link: impl Fn(usize) -> bool) -> Vec<usize> {
        let nodes = self.nodes.iter().enumerate().skip(1);
        let found = nodes.filter(|(_, n)| link(n.link as usize));
        found.map(|(k, _)| k - 1).collect()
    }

    /// The plain joints between a link and what carries it; `None` if the two are one.
    pub(crate) fn joints_of_link(&self, link: usize) -> Option<std::ops::Range<usize>> {
        let own = self.freedoms_of(link).filter(|at| !at.is_empty())?;
        let (first, last) = (
            self.freedom_nodes[own.start],
            self.freedom_nodes[own.end - 1],
        );
        Some(first as usize - 1..last as usize)
    }

    /// The fastest turn of a joint among velocities `v` [rad/s].
    pub(crate) fn fastest_turn(&self, v: &[f64]) -> f64 {
        let turn = |node: &Node| {
            let at = node.v as usize;
            match node.joint {
                Plain::Hinge => v[at].abs(),
                Plain::Slider => 0.0,
                Plain::Ball | Plain::Free => Vec3::new(v[at], v[at + 1], v[at + 2]).length(),
            }
        };
        self.nodes[1..].iter().map(turn).fold(0.0, f64::max)
    }

    /// Changes gravity [m/s²].
    pub(crate) const fn set_gravity(&mut self, gravity: Vec3) {
        self.gravity = gravity;
    }

    /// Whether a drive of some joint has inertia of its own.
    #[must_use]
    pub(crate) fn has_armature(&self) -> bool {
        self.armature.iter().any(|a| *a > 0.0)
    }

    /// Links of the tree.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Numbers that say where the tree is (angles, lengths, quaternions).
    #[must_use]
    pub const fn position_count(&self) -> usize {
        self.position_count
    }

    /// Degrees of freedom: numbers that say how the tree moves.
    #[must_use]
    pub fn freedom_count(&self) -> usize {
        self.freedom_parents.len()
    }

    /// As the user described them.
    #[must_use]
    pub fn links(&self) -> &[LinkDesc] {
        &self.descs
    }

    /// Gravity [m/s²].
    #[must_use]
    pub const fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// Place of a link's numbers among the positions; empty for fixed joints.
    #[must_use]
    pub fn positions_of(&self, link: usize) -> Option<std::ops::Range<usize>> {
        let start = self.links.get(link)?.q as usize;
        let end = self
            .links
            .get(link + 1)
            .map_or(self.position_count, |l| l.q as usize);
        Some(start..end)
    }

    /// Place of a link's freedoms among the velocities; empty for fixed joints.
    #[must_use]
    pub fn freedoms_of(&self, link: usize) -> Option<std::ops::Range<usize>> {
        let start = self.links.get(link)?.v as usize;
        let end = self
            .links
            .get(link + 1)
            .map_or(self.freedom_count(), |l| l.v as usize);
        Some(start..end)
    }

    /// The position with all coordinates zero and all quaternions one.
    #[must_use]
    pub fn neutral(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.position_count];
        for node in &self.nodes[1..] {
            match node.joint {
                Plain::Hinge | Plain::Slider => {}
                Plain::Ball => q[node.q as usize + 3] = 1.0,
                Plain::Free => q[node.q as usize + 6] = 1.0,
            }
        }
        q
    }

    pub(super) fn link(&self, argument: &'static str, link: usize) -> Result<&Link, TreeError> {
        self.links.get(link).ok_or(TreeError::OutOfRange {
            argument,
            found: link,
            count: self.links.len(),
        })
    }

    /// Refuses positions of the wrong length or with numbers that are not finite.
    pub(super) fn check_positions(&self, q: &[f64]) -> Result<(), TreeError> {
        check_slice("q", q, self.position_count)
    }

    /// Refuses a vector over the freedoms of the wrong length or with numbers that are not finite.
    pub(super) fn check_freedoms(
        &self,
        argument: &'static str,
        v: &[f64],
    ) -> Result<(), TreeError> {
        check_slice(argument, v, self.freedom_count())
    }

    /// Refuses an output over the freedoms of the wrong length.
    pub(super) fn check_output(
        &self,
        argument: &'static str,
        found: usize,
        expected: usize,
    ) -> Result<(), TreeError> {
        if found == expected {
            return Ok(());
        }
        Err(TreeError::Length {
            argument,
            expected,
            found,
        })
    }
}

/// Most links of one tree: their numbers must fit 32 bits.
const LINKS_MAX: usize = 1 << 26;
/// Fraction of the golden ratio: its multiples never repeat and fill the unit interval evenly [1].
const GOLDEN: f64 = 0.618_033_988_749_894_9;

pub(super) fn check_slice(
    argument: &'static str,
    values: &[f64],
    expected: usize,
) -> Result<(), TreeError> {
    if values.len() != expected {
        return Err(TreeError::Length {
            argument,
            expected,
            found: values.len(),
        });
    }
    // A sum of products with zero is NaN exactly when one of the numbers is not finite; it needs no branches.
    if values.iter().fold(0.0, |s, x| s + x * 0.0) == 0.0 {
        Ok(())
    } else {
        Err(TreeError::NonFinite { argument })
    }
}

/// The parent comes before the link.
fn check_parent(links: &[LinkDesc], i: usize) -> Result<(), BuildError> {
    let Some(parent) = links[i].parent else {
        return Ok(());
    };
    if parent < i {
        return Ok(());
    }
    if parent >= links.len() {
        return Err(BuildError::new(
            "parent",
            format!("there is no link {parent}; there are {}", links.len()),
        ));
    }
    // Later in the list: either out of order, or a loop that comes back to this link.
    let mut at = Some(parent);
    for _ in 0..links.len() {
        match at {
            Some(p) if p == i => {
                return Err(BuildError::new(
                    "parent",
                    format!("link {i} carries itself, through link {parent}"),
                ));
            }
            Some(p) => at = links.get(p).and_then(|l| l.parent),
            None => break,
        }
    }
    Err(BuildError::new(
        "parent",
        format!("link {parent} must come before the links it carries"),
    ))
}

/// What can be said of a link alone.
fn check_link(desc: &LinkDesc) -> Result<(), BuildError> {
    let bad = |field: &str, reason: String| Err(BuildError::new(field, reason));
    if !(desc.placement.is_finite() && desc.placement.rotation.length_squared() > 1e-12) {
        return bad("placement", "must be a pose with finite numbers".into());
    }
    let m = &desc.mass;
    if !(m.mass >= 0.0 && m.mass.is_finite()) {
        return bad("mass", format!("must not be negative, got {}", m.mass));
    }
    if !m.center.is_finite() {
        return bad("center", "must be finite".into());
    }
    m.moments()?;
    if m.mass == 0.0 && m.inertia != Mat3::ZERO {
        return bad("inertia", "a link without mass has no inertia".into());
    }
    if let Some(l) = desc.limits {
        let one = matches!(desc.joint, Joint::Revolute { .. } | Joint::Prismatic { .. });
        if !one {
            return bad("limits", "only joints with one freedom have limits".into());
        }
        if !(l.min <= l.max && l.min > f64::NEG_INFINITY && l.max < f64::INFINITY) {
            return bad(
                "limits",
                format!("min {} must not be above max {}", l.min, l.max),
            );
        }
        if !(0.0..=1.0).contains(&l.restitution) {
            return bad("limits", "restitution must be between 0 and 1".into());
        }
    }
    let f = &desc.friction;
    let positive = |x: f64| x >= 0.0 && x.is_finite();
    if !(positive(f.viscous) && positive(f.coulomb)) {
        return bad("friction", "must be finite and not negative".into());
    }
    let none = f.viscous == 0.0 && f.coulomb == 0.0;
    if !none && matches!(desc.joint, Joint::Free | Joint::Fixed) {
        return bad("friction", "free and fixed joints have none".into());
    }
    if !positive(desc.armature) {
        let reason = format!("must be finite and not negative, got {}", desc.armature);
        return bad("armature", reason);
    }
    if desc.armature > 0.0 && matches!(desc.joint, Joint::Free | Joint::Fixed) {
        return bad("armature", "free and fixed joints have no drive".into());
    }
    if let Some(s) = desc.spring {
        if !matches!(desc.joint, Joint::Revolute { .. } | Joint::Prismatic { .. }) {
            return bad("spring", "only joints with one freedom have springs".into());
        }
        if !(s.rest.is_finite() && positive(s.stiffness) && positive(s.damping)) {
            let reason = "rest, stiffness and damping must be finite, the last two not negative";
            return bad("spring", reason.into());
        }
    }
    Ok(())
}
