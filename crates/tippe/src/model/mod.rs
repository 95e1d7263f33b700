//! Model: what does not change within a step. Bodies, their shapes and masses, materials, gravity.
//!
//! Reads: descriptions from the user.  Writes: `Model`, through `World` only.
//! Called by: `world` (edits between steps), every phase (reads).
//! Source: docs/conventions.md, "Bodies".

pub mod articulation;
pub mod compliance;
pub mod coupling;
pub(crate) mod family;
pub mod joint;
pub mod material;
pub mod motion;
pub mod program;
pub mod sensor;

use crate::articulation::{Articulation, ArticulationId};
use crate::dynamics::coupling::Coupled;
use crate::dynamics::joint::JointPlace;
use crate::dynamics::sleep::Sleeping;
use crate::error::BuildError;
use crate::joint::{JointDesc, JointId};
use crate::material::{MaterialId, Materials};
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::model::coupling::Mesh;
use crate::model::family::Family;
use crate::motion::Motion;
use crate::shape::{MassProperties, Shape, TriangleMesh};
use crate::state::{BodyState, JointMemory, PairKey};
use std::collections::BTreeSet;

/// Names a body of one world: a slot, the generation of its tenant, and the family of the world: that of its clones and
/// snapshots. Worlds of other families refuse it; every world refuses the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
    pub(crate) family: Family,
}

impl BodyId {
    /// Slot of the body; small, dense and reused after removal.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

/// How a body comes to move.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BodyKind {
    /// Never moves.
    Fixed,
    /// Follows a prescribed motion, whatever touches it. The motion is relative to the body's pose in the description.
    Kinematic(Motion),
    /// Moves by forces and impulses.
    #[default]
    Dynamic,
    /// A link of an articulation: impulses move it together with its tree. Made by `World::add_articulation` alone.
    Link {
        /// Slot of the articulation.
        articulation: u32,
        /// Number of the link.
        link: u32,
    },
}

/// Where mass and inertia of a body come from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MassSpec {
    /// From the shapes and this density [kg/m³].
    Density(f64),
    /// From the shapes, filled evenly to this mass [kg].
    Mass(f64),
    /// Given outright.
    Explicit {
        /// Mass [kg].
        mass: f64,
        /// Centre of mass in the body frame [m].
        center: Vec3,
        /// Inertia about the centre of mass, body axes [kg·m²].
        inertia: Mat3,
    },
}

impl Default for MassSpec {
    /// The density of water.
    fn default() -> Self {
        Self::Density(1000.0)
    }
}

/// Which shapes may touch: two shapes do if each one's mask has a bit of the other's groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Filter {
    /// What this shape is.
    pub groups: u32,
    /// What this shape touches.
    pub mask: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            groups: 1,
            mask: u32::MAX,
        }
    }
}

impl Filter {
    /// Whether two shapes with these filters may touch.
    #[must_use]
    pub const fn allows(self, other: Self) -> bool {
        self.mask & other.groups != 0 && other.mask & self.groups != 0
    }

    /// Whether there is no shape that this one may touch.
    pub(crate) const fn allows_none(self) -> bool {
        self.mask == 0 || self.groups == 0
    }
}

/// A shape on a body.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ShapeDesc {
    /// The solid.
    pub shape: Shape,
    /// Where it sits in the body frame.
    pub pose: Pose,
    /// What it is made of.
    pub material: MaterialId,
    /// What it may touch.
    pub filter: Filter,
    /// Reports overlaps, answers none, weighs nothing.
    pub sensor: bool,
}

impl From<Shape> for ShapeDesc {
    fn from(shape: Shape) -> Self {
        Self {
            shape,
            pose: Pose::IDENTITY,
            material: MaterialId::DEFAULT,
            filter: Filter::default(),
            sensor: false,
        }
    }
}

/// Resistance of a medium against a body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Drag {
    /// Laminar: force −6πηr v, torque −8πηr³ ω.
    Stokes {
        /// Radius of the equivalent sphere [m].
        radius: f64,
        /// Dynamic viscosity η of the medium [Pa·s].
        viscosity: f64,
    },
    /// Turbulent: force −½ c A ρ |v| v.
    Quadratic {
        /// Drag coefficient c [1].
        coefficient: f64,
        /// Cross-section A [m²].
        area: f64,
        /// Density ρ of the medium [kg/m³].
        density: f64,
    },
    /// A sphere that goes by its Reynolds number 2ρr|v|/η: Stokes below 1, quadratic above 1000, their sum between.
    Automatic {
        /// Radius [m].
        radius: f64,
        /// Drag coefficient of the turbulent part [1].
        coefficient: f64,
        /// Dynamic viscosity of the medium [Pa·s].
        viscosity: f64,
        /// Density of the medium [kg/m³].
        density: f64,
    },
}

/// A body as the user describes it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyDesc {
    /// Used in messages; need not be unique.
    pub name: String,
    /// Fixed, kinematic or dynamic.
    pub kind: BodyKind,
    /// Pose of the body frame (not of the centre of mass).
    pub pose: Pose,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity, world axes [rad/s].
    pub angular_velocity: Vec3,
    /// What the body is made of; may be empty for a dynamic body with explicit mass.
    pub shapes: Vec<ShapeDesc>,
    /// Mass and inertia (dynamic bodies).
    pub mass: MassSpec,
    /// Resistance of the medium.
    pub drag: Option<Drag>,
    /// Factor on gravity for this body [1].
    pub gravity_scale: f64,
}

impl Default for BodyDesc {
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: BodyKind::Dynamic,
            pose: Pose::IDENTITY,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            shapes: Vec::new(),
            mass: MassSpec::default(),
            drag: None,
            gravity_scale: 1.0,
        }
    }
}

impl BodyDesc {
    /// Mass, centre of mass and inertia that the description comes to, in the body frame.
    ///
    /// # Errors
    /// The field that makes no sense, and why.
    pub fn mass_properties(&self) -> Result<MassProperties, BuildError> {
        mass_properties(self)
    }

    /// A dynamic body of one shape at a place, with the density of water.
    #[must_use]
    pub fn dynamic(shape: Shape, position: Vec3) -> Self {
        Self {
            pose: Pose::from_position(position),
            shapes: vec![shape.into()],
            ..Self::default()
        }
    }

    /// A kinematic body of one shape at a place, at rest until it is steered.
    #[must_use]
    pub fn kinematic(shape: Shape, position: Vec3) -> Self {
        Self {
            kind: BodyKind::Kinematic(Motion::REST),
            ..Self::dynamic(shape, position)
        }
    }

    /// With a name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// With a mass [kg], spread evenly over its shapes.
    #[must_use]
    pub fn with_mass(mut self, mass: f64) -> Self {
        self.mass = MassSpec::Mass(mass);
        self
    }

    /// With an orientation.
    #[must_use]
    pub fn turned(mut self, rotation: Quat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// With velocities at the start [m/s], [rad/s].
    #[must_use]
    pub fn moving(mut self, velocity: Vec3, angular_velocity: Vec3) -> Self {
        (self.velocity, self.angular_velocity) = (velocity, angular_velocity);
        self
    }

    /// Of a material, all its shapes.
    #[must_use]
    pub fn of(mut self, material: MaterialId) -> Self {
        self.shapes.iter_mut().for_each(|s| s.material = material);
        self
    }

    /// A fixed body of one shape at a place.
    #[must_use]
    pub fn fixed(shape: Shape, position: Vec3) -> Self {
        Self {
            kind: BodyKind::Fixed,
            ..Self::dynamic(shape, position)
        }
    }
}

/// A body as the phases see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name for messages.
    pub name: String,
    /// Fixed, kinematic or dynamic.
    pub kind: BodyKind,
    /// Pose of the body frame in the description; prescribed motion starts here.
    pub pose_start: Pose,
    /// Shapes, their poses relative to the body frame.
    pub shapes: Vec<ShapeDesc>,
    /// Resistance of the medium.
    pub drag: Option<Drag>,
    /// Factor on gravity.
    pub gravity_scale: f64,
    /// Mass [kg]; 0 for fixed and kinematic bodies.
    pub mass: f64,
    /// 1/mass [1/kg]; 0 for fixed and kinematic bodies.
    pub inverse_mass: f64,
    /// Centre of mass in the body frame [m].
    pub center: Vec3,
    /// Principal axes in the body frame.
    pub axes: Quat,
    /// Principal moments about the centre of mass [kg·m²].
    pub moments: Vec3,
    /// Their inverses [1/(kg·m²)]; 0 for fixed and kinematic bodies.
    pub inverse_moments: Vec3,
    /// Largest distance of a point of the shapes from the centre of mass [m]; infinite for half-spaces.
    pub reach: f64,
    /// Whether it sleeps: a view of `State::asleep`, kept by `sleep`. A sleeper's inverse mass and moments are 0.
    pub(crate) asleep: bool,
    /// The user's own number; it changes nothing and is not part of the hash.
    pub user_data: u64,
}

/// Most bodies of one world: guards against a scene that asks for a million by accident.
pub const BODIES_MAX: usize = 1_000_000;

impl Body {
    /// Checks a description and computes what the phases need.
    pub(crate) fn build(desc: &BodyDesc) -> Result<Self, BuildError> {
        check_numbers(desc)?;
        for (i, s) in desc.shapes.iter().enumerate() {
            s.shape
                .check()
                .map_err(|e| e.inside(&format!("shapes[{i}]")))?;
            if matches!(s.shape, Shape::HalfSpace { .. }) && desc.kind == BodyKind::Dynamic {
                return Err(BuildError::new(
                    format!("shapes[{i}]"),
                    "a half-space is infinite: only a fixed or kinematic body can have it",
                ));
            }
            if let (Shape::Mesh(mesh), BodyKind::Dynamic) = (&s.shape, &desc.kind) {
                check_moving_mesh(mesh, &desc.mass)
                    .map_err(|e| e.inside(&format!("shapes[{i}]")))?;
            }
            if !s.pose.is_finite() || !unit(s.pose.rotation) {
                return Err(BuildError::new(
                    format!("shapes[{i}].pose"),
                    "must be finite, with a unit quaternion",
                ));
            }
        }
        let mut body = Self {
            name: desc.name.clone(),
            kind: desc.kind.clone(),
            pose_start: desc.pose,
            shapes: desc.shapes.clone(),
            drag: desc.drag,
            gravity_scale: desc.gravity_scale,
            mass: 0.0,
            inverse_mass: 0.0,
            center: Vec3::ZERO,
            axes: Quat::IDENTITY,
            moments: Vec3::ZERO,
            inverse_moments: Vec3::ZERO,
            reach: 0.0,
            asleep: false,
            user_data: 0,
        };
        match &desc.kind {
            BodyKind::Dynamic => body.set_mass(&mass_properties(desc)?)?,
            BodyKind::Kinematic(motion) => motion.check().map_err(|e| e.inside("motion"))?,
            BodyKind::Fixed => {}
            BodyKind::Link { .. } => {
                let reason = "links come with their articulation: use `add_articulation`";
                return Err(BuildError::new("kind", reason));
            }
        }
        body.reach = body.reach_about(body.center);
        Ok(body)
    }

    /// Largest distance of a point of the shapes from a point of the body frame [m].
    pub(crate) fn reach_about(&self, center: Vec3) -> f64 {
        let reach = |s: &ShapeDesc| (s.pose.position - center).length() + s.shape.reach();
        self.shapes.iter().map(reach).fold(0.0, f64::max)
    }

    fn set_mass(&mut self, m: &MassProperties) -> Result<(), BuildError> {
        let (axes, moments) = m.principal()?;
        self.mass = m.mass;
        self.inverse_mass = 1.0 / m.mass;
        self.center = m.center;
        self.axes = axes;
        self.moments = moments;
        self.inverse_moments = moments.recip();
        Ok(())
    }

    /// A link's body: shapes and mass as given; how it answers impulses is its tree's.
    pub(crate) fn link(
        name: &str,
        kind: BodyKind,
        shapes: &[ShapeDesc],
        mass: &MassProperties,
    ) -> Result<Self, BuildError> {
        let desc = BodyDesc {
            name: name.to_string(),
            kind: BodyKind::Fixed,
            shapes: shapes.to_vec(),
            ..BodyDesc::default()
        };
        let mut body = Self::build(&desc)?;
        let infinite = |s: &ShapeDesc| matches!(s.shape, Shape::HalfSpace { .. });
        if let Some(i) = shapes.iter().position(infinite) {
            let reason = "a half-space is infinite: a link cannot have it";
            return Err(BuildError::new(format!("shapes[{i}]"), reason));
        }
        let (axes, moments) = mass.moments()?;
        body.kind = kind;
        body.mass = mass.mass;
        body.center = mass.center;
        body.axes = Quat::from_mat3(&axes).normalize();
        // Rods have a moment of zero, which rounding may leave below it.
        body.moments = moments.max(Vec3::ZERO);
        body.reach = body.reach_about(body.center);
        Ok(body)
    }

    /// Whether impulses move the body, by itself or with its tree.
    #[must_use]
    pub const fn is_dynamic(&self) -> bool {
        matches!(self.kind, BodyKind::Dynamic | BodyKind::Link { .. })
    }

    /// Whether impulses move the body now: dynamic, and not asleep.
    #[must_use]
    pub const fn is_awake(&self) -> bool {
        self.is_dynamic() && !self.asleep
    }

    /// Whether the body moves by itself now: dynamic, no link, and not asleep.
    #[must_use]
    pub const fn is_free(&self) -> bool {
        matches!(self.kind, BodyKind::Dynamic) && !self.asleep
    }

    /// Lets the body answer no impulse until it is woken.
    pub(crate) const fn fall_asleep(&mut self) {
        self.asleep = true;
        self.inverse_mass = 0.0;
        self.inverse_moments = Vec3::ZERO;
    }

    /// Lets a sleeper answer impulses again.
    pub(crate) fn wake(&mut self) {
        self.asleep = false;
        self.inverse_mass = 1.0 / self.mass;
        self.inverse_moments = self.moments.recip();
    }
}

/// A mesh that moves needs an outside; its mass, if nobody gives it, needs a volume.
fn check_moving_mesh(mesh: &TriangleMesh, mass: &MassSpec) -> Result<(), BuildError> {
    if let Some(defect) = mesh.defect().filter(|_| mesh.is_inside_out()) {
        return Err(defect.clone());
    }
    if matches!(mass, MassSpec::Explicit { .. }) || mesh.mass_properties(1.0).is_some() {
        return Ok(());
    }
    let reason = "the mesh is flat and has no mass of its own: give mass and inertia, or thickness";
    Err(BuildError::new("triangles", reason))
}

fn unit(q: Quat) -> bool {
    (q.length_squared() - 1.0).abs() < 1e-6
}

fn check_numbers(desc: &BodyDesc) -> Result<(), BuildError> {
    let finite = |field: &str, ok: bool| {
        if ok {
            Ok(())
        } else {
            Err(BuildError::new(field, "must be finite"))
        }
    };
    finite("pose", desc.pose.is_finite())?;
    finite("velocity", desc.velocity.is_finite())?;
    finite("angular_velocity", desc.angular_velocity.is_finite())?;
    finite("gravity_scale", desc.gravity_scale.is_finite())?;
    if !unit(desc.pose.rotation) {
        return Err(BuildError::new(
            "pose.rotation",
            "must be a unit quaternion",
        ));
    }
    let positive = |field: &str, value: f64| {
        if value.is_finite() && value > 0.0 {
            Ok(())
        } else {
            Err(BuildError::new(
                field,
                format!("must be positive and finite, got {value}"),
            ))
        }
    };
    match desc.drag {
        None => Ok(()),
        Some(Drag::Stokes { radius, viscosity }) => {
            positive("drag.radius", radius).and(positive("drag.viscosity", viscosity))
        }
        Some(Drag::Quadratic {
            coefficient,
            area,
            density,
        }) => positive("drag.coefficient", coefficient)
            .and(positive("drag.area", area))
            .and(positive("drag.density", density)),
        Some(Drag::Automatic {
            radius,
            coefficient,
            viscosity,
            density,
        }) => positive("drag.radius", radius)
            .and(positive("drag.coefficient", coefficient))
            .and(positive("drag.viscosity", viscosity))
            .and(positive("drag.density", density)),
    }
}

/// Mass properties of a description in the body frame.
fn mass_properties(desc: &BodyDesc) -> Result<MassProperties, BuildError> {
    let positive = |field: &str, value: f64| {
        if value.is_finite() && value > 0.0 {
            Ok(value)
        } else {
            Err(BuildError::new(
                field,
                format!("must be positive and finite, got {value}"),
            ))
        }
    };
    let filled = |density: f64| {
        let solids = desc.shapes.iter().filter(|s| !s.sensor);
        MassProperties::sum(solids.map(|s| s.shape.mass_properties(density).moved(&s.pose)))
    };
    let needs_volume = || {
        BuildError::new(
            "mass",
            "a dynamic body without solid shapes needs explicit mass, centre and inertia",
        )
    };
    match desc.mass {
        MassSpec::Density(density) => {
            filled(positive("density", density)?).ok_or_else(needs_volume)
        }
        MassSpec::Mass(mass) => {
            let unit = filled(1.0).ok_or_else(needs_volume)?;
            Ok(unit.scaled(positive("mass", mass)? / unit.mass))
        }
        MassSpec::Explicit {
            mass,
            center,
            inertia,
        } => {
            positive("mass", mass)?;
            if !center.is_finite() || !inertia.is_finite() {
                return Err(BuildError::new(
                    "inertia",
                    "mass, centre and inertia must be finite",
                ));
            }
            Ok(MassProperties {
                mass,
                center,
                inertia,
            })
        }
    }
}

/// A joint as the phases see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// As the user described it.
    pub desc: JointDesc,
    /// Its own slot.
    pub slot: u32,
    /// Slot of A; `None` is the world.
    pub a: Option<u32>,
    /// Slot of B.
    pub b: u32,
    /// Joint frame relative to A's centre of mass, in A's axes (the world frame if A is the world).
    pub local_a: Pose,
    /// Joint frame relative to B's centre of mass, in B's axes.
    pub local_b: Pose,
    /// What a coupling knows of the joints it names.
    pub mesh: Option<Mesh>,
}

impl Joint {
    /// Where the joint is when the bodies are in the given states. Full turns are counted from what the joints remember; without
    /// memory, from zero.
    #[must_use]
    pub fn place(&self, states: &[BodyState], joints: &[JointMemory]) -> JointPlace {
        let pose = |slot: Option<u32>, local: &Pose| match slot {
            Some(slot) => {
                let s = &states[slot as usize];
                Pose::new(s.position, s.rotation).compose(local)
            }
            None => *local,
        };
        let center = |slot: Option<u32>| slot.map_or(Vec3::ZERO, |i| states[i as usize].position);
        let winding = |slot: u32| joints.get(slot as usize).map_or(0.0, |memory| memory.angle);
        JointPlace {
            a: pose(self.a, &self.local_a),
            b: pose(Some(self.b), &self.local_b),
            center_a: center(self.a),
            center_b: center(Some(self.b)),
            winding: winding(self.slot),
            coupled: self.mesh.as_ref().map(|mesh| Coupled {
                carriers: [0, 1].map(|k| pose(mesh.carriers[k], &mesh.locals[k])),
                windings: mesh.joints.map(winding),
                grounded: mesh.grounded,
            }),
        }
    }
}

/// Everything that is constant within a step.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Tells the ids of this world, its clones and its snapshots from those of others.
    pub(crate) family: Family,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Bodies by slot; `None` is a free slot.
    pub bodies: Vec<Option<Body>>,
    /// Generation of each slot, raised when its body is removed.
    pub(crate) generations: Vec<u32>,
    /// Free slots; the lowest is taken first.
    pub(crate) free: BTreeSet<u32>,
    /// Materials and pairs.
    pub materials: Materials,
    /// Joints by slot; `None` is a free slot.
    pub joints: Vec<Option<Joint>>,
    /// Generation of each joint slot.
    pub(crate) joint_generations: Vec<u32>,
    /// Free joint slots; the lowest is taken first.
    pub(crate) joint_free: BTreeSet<u32>,
    /// Articulations by slot; `None` is a free slot.
    pub articulations: Vec<Option<Articulation>>,
    /// Generation of each articulation slot.
    pub(crate) articulation_generations: Vec<u32>,
    /// Free articulation slots; the lowest is taken first.
    pub(crate) articulation_free: BTreeSet<u32>,
    /// Sorted pairs of body slots (the lower first) that a joint keeps from touching.
    pub(crate) jointed: Vec<(u32, u32)>,
    /// When islands fall asleep; `None` is never.
    pub(crate) sleeping: Option<Sleeping>,
    /// How many bodies are asleep.
    pub(crate) sleepers: usize,
    /// How often users have changed the world, for methods that plan ahead.
    pub(crate) edits: u64,
    /// Sensors by slot; `None` where one was removed.
    pub(crate) sensors: Vec<Option<sensor::Sensor>>,
    /// Time programs, in the order they were added.
    pub(crate) programs: Vec<program::Program>,
    /// Forces and torques that act in every step, by rising slot.
    pub(crate) steady: Vec<program::Steady>,
    /// Bodies with locked axes.
    pub(crate) locks: Vec<crate::world::Lock>,
    /// How many of these were pushes alone: forces, torques; how many changed the tree of an articulation.
    pub(crate) pushes: u64,
    pub(crate) tree_edits: u64,
    /// By slot: whose shapes a body has, where bodies stand for several; else empty. `jointed` has the slots of owners.
    pub(crate) owners: Vec<Owner>,
}

/// What a body of a lean model stands for: a body of the world, or a rigid piece of an adaptive tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owner {
    /// Its slot in the world, or that of the first link of a piece.
    pub slot: u32,
    /// Of each shape of a piece: slot of the link and number of the shape there.
    pub shapes: Vec<(u32, u32)>,
}

impl Model {
    /// The bodies that exist, with their slots, in slot order.
    pub fn present(&self) -> impl Iterator<Item = (usize, &Body)> {
        self.bodies
            .iter()
            .enumerate()
            .filter_map(|(i, b)| b.as_ref().map(|b| (i, b)))
    }

    /// Whether impulses move the body of a slot now.
    #[must_use]
    pub(crate) fn is_awake(&self, slot: u32) -> bool {
        let body = self.bodies.get(slot as usize).and_then(Option::as_ref);
        body.is_some_and(Body::is_awake)
    }

    /// Whether two shapes are of materials that nobody said anything about as a pair.
    #[must_use]
    pub(crate) fn falls_back(&self, pair: &PairKey) -> bool {
        let material = |body: u32, shape: u32| {
            let body = self.bodies.get(body as usize).and_then(Option::as_ref);
            body.map_or(MaterialId::DEFAULT, |b| b.shapes[shape as usize].material)
        };
        let (a, b) = (
            material(pair.body_a, pair.shape_a),
            material(pair.body_b, pair.shape_b),
        );
        self.materials.lookup(a, b).1
    }

    /// The joints that exist, with their slots, in slot order.
    pub fn present_joints(&self) -> impl Iterator<Item = (usize, &Joint)> {
        self.joints
            .iter()
            .enumerate()
            .filter_map(|(i, j)| j.as_ref().map(|j| (i, j)))
    }

    /// The joint of a description, if it makes sense among the bodies that there are.
    pub(crate) fn joint_from(&self, desc: &JointDesc) -> Result<Joint, BuildError> {
        desc.check()?;
        if desc.kind.coupled().is_some() {
            return Err(BuildError::new(
                "kind",
                "add_coupling makes gears and racks",
            ));
        }
        let slot = |field: &str, id: BodyId| {
            let missing = || {
                BuildError::new(
                    field,
                    "no such body: it was removed, or the id belongs to another world",
                )
            };
            self.get(id)
                .map(|body| (id.index, body))
                .ok_or_else(missing)
        };
        let (b, body_b) = slot("body_b", desc.body_b)?;
        let a = desc.body_a.map(|id| slot("body_a", id)).transpose()?;
        if a.is_some_and(|(a, _)| a == b) {
            return Err(BuildError::new(
                "body_b",
                "a joint needs two different bodies",
            ));
        }
        if !body_b.is_dynamic() && !a.is_some_and(|(_, body)| body.is_dynamic()) {
            return Err(BuildError::new(
                "body_b",
                "at least one of the two bodies must be dynamic: nothing could move otherwise",
            ));
        }
        let link = |body: &Body| matches!(body.kind, BodyKind::Link { .. });
        let springs = desc.rotation.spring.is_some() || desc.translation.spring.is_some();
        if springs && (link(body_b) || a.is_some_and(|(_, body)| link(body))) {
            let reason = "springs on links of an articulation are not in this version";
            return Err(BuildError::new("spring", reason));
        }
        let local = |frame: &Pose, center: Vec3| Pose::new(frame.position - center, frame.rotation);
        Ok(Joint {
            desc: desc.clone(),
            a: a.map(|(a, _)| a),
            b,
            local_a: local(&desc.frame_a, a.map_or(Vec3::ZERO, |(_, body)| body.center)),
            local_b: local(&desc.frame_b, body_b.center),
            slot: 0,
            mesh: None,
        })
    }

    /// The id of the joint now in a slot.
    #[must_use]
    pub(crate) fn joint_id(&self, index: usize) -> JointId {
        JointId {
            index: index as u32,
            generation: self.joint_generations[index],
            family: self.family,
        }
    }

    /// The joint of an id, if it is still there.
    #[must_use]
    pub fn get_joint(&self, id: JointId) -> Option<&Joint> {
        let same = id.family.is(self.family);
        if same && self.joint_generations.get(id.index()) == Some(&id.generation) {
            self.joints[id.index()].as_ref()
        } else {
            None
        }
    }

    /// The articulations that exist, with their slots, in slot order.
    pub fn present_articulations(&self) -> impl Iterator<Item = (usize, &Articulation)> {
        self.articulations
            .iter()
            .enumerate()
            .filter_map(|(i, a)| a.as_ref().map(|a| (i, a)))
    }

    /// The id of the articulation now in a slot.
    #[must_use]
    pub(crate) fn articulation_id(&self, index: usize) -> ArticulationId {
        ArticulationId {
            index: index as u32,
            generation: self.articulation_generations[index],
            family: self.family,
        }
    }

    /// The articulation of an id, if it is still there.
    #[must_use]
    pub fn get_articulation(&self, id: ArticulationId) -> Option<&Articulation> {
        let same = id.family.is(self.family);
        if same && self.articulation_generations.get(id.index()) == Some(&id.generation) {
            self.articulations[id.index()].as_ref()
        } else {
            None
        }
    }

    /// Whether a side of a joint is a link.
    #[must_use]
    pub(crate) fn is_linked(&self, joint: &Joint) -> bool {
        joint.a.is_some_and(|a| self.is_link(a)) || self.is_link(joint.b)
    }

    /// Whether a body is a link that moves.
    #[must_use]
    pub(crate) fn is_link(&self, slot: u32) -> bool {
        let body = self.bodies.get(slot as usize).and_then(Option::as_ref);
        body.is_some_and(|b| matches!(b.kind, BodyKind::Link { .. }))
    }

    /// The slot that stands for a body in the graph of islands: its own, or for a link that of its tree.
    #[must_use]
    pub(crate) fn node_of(&self, slot: u32) -> u32 {
        if self.articulations.is_empty() {
            return slot;
        }
        match self.bodies.get(slot as usize) {
            Some(Some(Body {
                kind: BodyKind::Link { articulation, .. },
                ..
            })) => self.articulations[*articulation as usize]
                .as_ref()
                .and_then(Articulation::root)
                .unwrap_or(slot),
            _ => slot,
        }
    }

    /// Whether a joint keeps two shapes from touching.
    pub(crate) fn are_jointed(&self, a: (u32, u32), b: (u32, u32)) -> bool {
        let owner = |(body, shape): (u32, u32)| match self.owners.get(body as usize) {
            None => body,
            Some(o) => o.shapes.get(shape as usize).map_or(o.slot, |s| s.0),
        };
        let (a, b) = (owner(a), owner(b));
        self.jointed.binary_search(&(a.min(b), a.max(b))).is_ok()
    }

    /// Adds the pair of bodies that a new joint keeps from touching.
    pub(crate) fn note_jointed(&mut self, joint: &Joint) {
        if let Some(a) = joint.a.filter(|_| !joint.desc.collide) {
            self.note_pair(a, joint.b);
        }
    }

    /// Adds a pair of bodies that do not touch each other.
    pub(crate) fn note_pair(&mut self, a: u32, b: u32) {
        let pair = (a.min(b), a.max(b));
        if let Err(place) = self.jointed.binary_search(&pair) {
            self.jointed.insert(place, pair);
        }
    }

    /// Finds anew which pairs of bodies a joint keeps from touching.
    pub(crate) fn update_jointed(&mut self) {
        self.jointed = self.jointed_pairs();
    }

    /// Sorted pairs of body slots (the lower first) that a joint keeps from touching.
    pub(crate) fn jointed_pairs(&self) -> Vec<(u32, u32)> {
        let mut pairs: Vec<(u32, u32)> = self
            .present_joints()
            .filter(|(_, j)| !j.desc.collide)
            .filter_map(|(_, j)| j.a.map(|a| (a.min(j.b), a.max(j.b))))
            .collect();
        for (_, articulation) in self.present_articulations() {
            for (i, link) in articulation.desc.links.iter().enumerate() {
                if let (Some(parent), false) = (link.link.parent, link.collide) {
                    let (a, b) = (articulation.slots[parent], articulation.slots[i]);
                    pairs.push((a.min(b), a.max(b)));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// The id of the body now in a slot.
    #[must_use]
    pub(crate) fn id(&self, index: usize) -> BodyId {
        BodyId {
            index: index as u32,
            generation: self.generations[index],
            family: self.family,
        }
    }

    /// The body of an id, if it is still there.
    #[must_use]
    pub fn get(&self, id: BodyId) -> Option<&Body> {
        let same = id.family.is(self.family);
        if same && self.generations.get(id.index()) == Some(&id.generation) {
            self.bodies[id.index()].as_ref()
        } else {
            None
        }
    }

    /// The name of an articulation for messages.
    #[must_use]
    pub(crate) fn articulation_name(&self, index: usize) -> String {
        match &self.articulations[index] {
            Some(a) if !a.desc.name.is_empty() => a.desc.name.clone(),
            _ => format!("#{index}"),
        }
    }

    /// The name of a body for messages.
    #[must_use]
    pub fn name(&self, index: usize) -> String {
        match &self.bodies[index] {
            Some(b) if !b.name.is_empty() => b.name.clone(),
            _ => format!("#{index}"),
        }
    }
}
