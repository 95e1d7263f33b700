//! Bodies of the scene file: shapes, mass, drag, prescribed motion.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `format` (the whole file), `format::generator` (templates).
//! Source: `docs/scene-format.md`, "Bodies".

use super::{At, Fields, Node, Problems, Read, Serialize, Value, record, words};
use crate::format::OneOrMany;

words! {
    /// How a body comes to move.
    Kind {
        /// By forces and impulses.
        #[default]
        Dynamic = "dynamic",
        /// Never.
        Fixed = "fixed",
        /// By a prescribed motion, whatever touches it.
        Kinematic = "kinematic",
    }
}

record! {
    /// A body.
    Body {
        required {}
        optional {
            /// Name, unique in the scene; in a generator the prefix of its bodies' names.
            name: String,
            /// How it comes to move. Default "dynamic".
            kind: Kind,
            /// Origin of the body frame [m]. Default [0, 0, 0]; not in a generator.
            position: [f64; 3],
            /// Orientation, a unit quaternion w, x, y, z. Default [1, 0, 0, 0].
            rotation: [f64; 4],
            /// Orientation as turns about axes, in degrees; several are applied one after the other, about fixed axes.
            rotation_deg: OneOrMany<AxisAngle>,
            /// Velocity of the centre of mass [m/s]. Default 0.
            velocity: [f64; 3],
            /// Angular velocity, world axes [rad/s]. Default 0.
            angular_velocity: [f64; 3],
            /// The one shape of the body.
            shape: Shape,
            /// Several shapes, instead of `shape`.
            shapes: Vec<ShapeEntry>,
            /// Density [kg/m³]. Default 1000, if neither density nor mass is given.
            density: f64,
            /// Mass [kg], spread evenly over the shapes unless `inertia` is given.
            mass: f64,
            /// Inertia about the centre of mass, body axes [kg·m²]: xx, yy, zz, or xx, yy, zz, xy, xz, yz.
            inertia: Vec<f64>,
            /// Centre of mass in the body frame [m], with `inertia`. Default [0, 0, 0].
            center: [f64; 3],
            /// Name of the material of all shapes that do not say otherwise. Default "default".
            material: String,
            /// Reports overlaps, answers none, weighs nothing. Default false.
            sensor: bool,
            /// What the shapes are and what they touch.
            collision: Collision,
            /// Colour in pictures: red, green and blue from 0 to 1. Default: chosen by the program; not in a generator.
            colour: [f64; 3],
            /// Factor on gravity. Default 1.
            gravity_scale: f64,
            /// World axes along which and about which the body does not move; not in a generator.
            locked: Locked,
            /// Resistance of the medium.
            drag: Drag,
            /// Motion of a kinematic body.
            motion: Motion,
        }
    }
}

words! {
    /// An axis of the world.
    Axis {
        /// The first.
        #[default]
        X = "x",
        /// The second.
        Y = "y",
        /// The third, upwards.
        Z = "z",
    }
}

record! {
    /// Axes of the world that are locked.
    Locked {
        required {}
        optional {
            /// Along which the centre of mass does not move. Default none.
            translation: Vec<Axis>,
            /// About which the body does not turn: none, two or three. Default none.
            rotation: Vec<Axis>,
        }
    }
}

record! {
    /// A turn about an axis.
    AxisAngle {
        required {
            /// Axis; need not have length one.
            axis: [f64; 3],
            /// Angle in degrees, right-handed.
            angle: f64,
        }
        optional {}
    }
}

record! {
    /// Collision filter: two shapes may touch if each one's mask has a number of the other's groups.
    Collision {
        required {}
        optional {
            /// What the shape is: numbers from 0 to 31. Default `[0]`.
            groups: Bits,
            /// What the shape touches: numbers from 0 to 31. Default "all".
            mask: Bits,
        }
    }
}

/// A set of the numbers 0 to 31.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Bits {
    /// The word "all".
    All(All),
    /// These numbers.
    List(Vec<u32>),
}

words! {
    /// All 32.
    All {
        /// All 32.
        #[default]
        All = "all",
    }
}

impl Default for Bits {
    fn default() -> Self {
        Self::All(All::All)
    }
}

impl Bits {
    /// As a bit set; numbers above 31 are left out.
    #[must_use]
    pub fn to_mask(&self) -> u32 {
        match self {
            Self::All(_) => u32::MAX,
            Self::List(list) => list
                .iter()
                .filter(|n| **n < 32)
                .fold(0, |mask, n| mask | 1 << n),
        }
    }

    /// From a bit set.
    #[must_use]
    pub fn from_mask(mask: u32) -> Self {
        if mask == u32::MAX {
            Self::All(All::All)
        } else {
            Self::List((0..32).filter(|n| mask >> n & 1 == 1).collect())
        }
    }
}

impl Read for Bits {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        if matches!(node.value, Value::Text(_)) {
            return Self::All(All::read(node, at, problems));
        }
        let list = Vec::<u32>::read(node, at, problems);
        for (i, n) in list.iter().enumerate().filter(|(_, n)| **n > 31) {
            problems.error(
                &at.index(i),
                format!("must be between 0 and 31, got {n}"),
                "there are 32 groups",
            );
        }
        Self::List(list)
    }
}

/// A solid in its own frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A box about the origin.
    Box(BoxShape),
    /// A ball about the origin.
    Sphere(Sphere),
    /// A thick segment along z about the origin.
    Capsule(Capsule),
    /// A cylinder along z about the origin.
    Cylinder(Cylinder),
    /// A cone along z, its middle height at the origin, its apex up.
    Cone(Cone),
    /// The smallest convex solid that holds some points.
    Hull(Hull),
    /// A surface of triangles, felt from its front; for fixed and kinematic bodies.
    Mesh(Mesh),
    /// A plane solid of segments and circular arcs.
    Profile(Profile),
    /// Everything behind a plane through the origin; for fixed and kinematic bodies.
    HalfSpace(HalfSpace),
}

/// Names of the shapes.
pub(crate) const SHAPES: [&str; 9] = [
    "box",
    "sphere",
    "capsule",
    "cylinder",
    "cone",
    "hull",
    "mesh",
    "profile",
    "half_space",
];

record! {
    /// A box.
    BoxShape { required {
        /// Edge lengths along x, y, z [m].
        size: [f64; 3],
    } optional {
        /// Radius that edges and corners are rounded off with [m]; the size stays. Default: sharp.
        rounding: f64,
    } }
}

record! {
    /// A ball.
    Sphere { required {
        /// Radius [m].
        radius: f64,
    } optional {} }
}

record! {
    /// A capsule.
    Capsule { required {
        /// Radius [m].
        radius: f64,
        /// Length of the inner segment [m]; the capsule is two radii longer.
        length: f64,
    } optional {} }
}

record! {
    /// A cylinder.
    Cylinder { required {
        /// Radius [m].
        radius: f64,
        /// Length along the axis [m].
        length: f64,
    } optional {
        /// Radius that the rims are rounded off with [m]; the size stays. Default: sharp.
        rounding: f64,
    } }
}

record! {
    /// A cone.
    Cone { required {
        /// Radius of the base [m].
        radius: f64,
        /// Height from base to apex [m].
        height: f64,
    } optional {} }
}

record! {
    /// A convex hull.
    Hull { required {} optional {
        /// Points in the shape frame [m]; those inside do not matter.
        points: Vec<[f64; 3]>,
        /// Path of an STL, OBJ, PLY or glTF file whose vertices are the points, instead of `points`.
        file: String,
        /// Unit of the file: `m` (default), `cm`, `mm`, `in` or `ft`.
        unit: String,
        /// Factor on the coordinates of the file, besides its unit. Default 1.
        scale: f64,
        /// Radius that the hull is thickened by in all directions [m]; it grows by that much. Default: sharp.
        rounding: f64,
    } }
}

record! {
    /// A triangle mesh.
    Mesh { required {} optional {
        /// Vertices in the shape frame [m].
        vertices: Vec<[f64; 3]>,
        /// Triangles by vertex, counter-clockwise seen from the front.
        triangles: Vec<[u32; 3]>,
        /// Path of an STL, OBJ, PLY or glTF file, instead of `vertices` and `triangles`.
        file: String,
        /// Unit of the file: `m` (default), `cm`, `mm`, `in` or `ft`.
        unit: String,
        /// Factor on the coordinates of the file, besides its unit. Default 1.
        scale: f64,
        /// Distance up to which vertices of the file are one [m]. Default: only equal ones.
        merge: f64,
    } }
}

record! {
    /// A plane solid of segments and circular arcs, with holes, in the plane of x and y of the shape frame. It touches other profiles in parallel
    /// planes and half-spaces that stand upright on its plane, nothing else.
    Profile { required {
        /// Extent along z, half to each side [m].
        thickness: f64,
        /// The outline.
        outline: ProfilePath,
    } optional {
        /// Holes, none inside another.
        holes: Vec<ProfilePath>,
    } }
}

record! {
    /// A closed path; either sense of turn will do.
    ProfilePath { required {
        /// Where the first edge begins [m].
        start: [f64; 2],
        /// Edges, each from the end of the one before; the last one ends at the start.
        edges: Vec<ProfileEdge>,
    } optional {} }
}

record! {
    /// An edge of a path: straight, or along a circle.
    ProfileEdge { required {
        /// Where it ends [m].
        to: [f64; 2],
    } optional {
        /// A point on its way, which makes it an arc of the circle through its three points [m].
        through: [f64; 2],
    } }
}

record! {
    /// A half-space.
    HalfSpace { required {
        /// Outward normal; need not have length one.
        normal: [f64; 3],
    } optional {} }
}

impl Default for Shape {
    fn default() -> Self {
        // Stands in for what could not be read, and must not cause errors of its own.
        Self::Sphere(Sphere { radius: 1.0 })
    }
}

impl Shape {
    /// Name of the shape in the file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Box(_) => "box",
            Self::Sphere(_) => "sphere",
            Self::Capsule(_) => "capsule",
            Self::Cylinder(_) => "cylinder",
            Self::Cone(_) => "cone",
            Self::Hull(_) => "hull",
            Self::Mesh(_) => "mesh",
            Self::Profile(_) => "profile",
            Self::HalfSpace(_) => "half_space",
        }
    }

    /// Reads the one field of a table that names a shape.
    fn from_table(node: &Node, at: &At, problems: &mut Problems) -> Self {
        let named: Vec<&str> = SHAPES
            .into_iter()
            .filter(|name| node.get(name).is_some())
            .collect();
        let (Some(name), None) = (named.first(), named.get(1)) else {
            let (reason, help) = match named.as_slice() {
                [] => (
                    "no shape".to_owned(),
                    "write one, such as box = { size = [1, 1, 1] }".to_owned(),
                ),
                several => (
                    format!(
                        "{} shapes in one place: {}",
                        several.len(),
                        several.join(", ")
                    ),
                    SEVERAL.to_owned(),
                ),
            };
            if !problems.touches(at) {
                problems.error(at, reason, help);
            }
            return Self::default();
        };
        let at = &at.key(name);
        match node.get(name).map(|e| &e.node) {
            Some(n) if *name == "box" => Self::Box(BoxShape::read(n, at, problems)),
            Some(n) if *name == "sphere" => Self::Sphere(Sphere::read(n, at, problems)),
            Some(n) if *name == "capsule" => Self::Capsule(Capsule::read(n, at, problems)),
            Some(n) if *name == "cylinder" => Self::Cylinder(Cylinder::read(n, at, problems)),
            Some(n) if *name == "cone" => Self::Cone(Cone::read(n, at, problems)),
            Some(n) if *name == "hull" => Self::Hull(Hull::read(n, at, problems)),
            Some(n) if *name == "mesh" => Self::Mesh(Mesh::read(n, at, problems)),
            Some(n) if *name == "profile" => Self::Profile(Profile::read(n, at, problems)),
            Some(n) => Self::HalfSpace(HalfSpace::read(n, at, problems)),
            None => Self::default(),
        }
    }
}

const SEVERAL: &str = "a body of several shapes has shapes = [ { box = … }, { sphere = … } ]";

impl Read for Shape {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        match Fields::open_as("shape", node, at, &SHAPES, problems) {
            Some(_) => Self::from_table(node, at, problems),
            None => Self::default(),
        }
    }
}

/// One of several shapes of a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ShapeEntry {
    /// The solid.
    #[serde(flatten)]
    pub shape: Shape,
    /// Where it sits and what is special about it.
    #[serde(flatten)]
    pub place: ShapePlace,
}

record! {
    /// Where a shape sits on its body and what is special about it.
    ShapePlace {
        required {}
        optional {
            /// Origin of the shape in the body frame [m]. Default [0, 0, 0].
            position: [f64; 3],
            /// Orientation in the body frame, a unit quaternion w, x, y, z. Default [1, 0, 0, 0].
            rotation: [f64; 4],
            /// Orientation in the body frame as turns about axes, in degrees.
            rotation_deg: OneOrMany<AxisAngle>,
            /// Name of its material. Default: the body's.
            material: String,
            /// Reports overlaps, answers none, weighs nothing. Default: the body's.
            sensor: bool,
            /// What the shape is: numbers from 0 to 31. Default: the body's.
            groups: Bits,
            /// What the shape touches: numbers from 0 to 31. Default: the body's.
            mask: Bits,
        }
    }
}

impl Read for ShapeEntry {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        let known: Vec<&str> = SHAPES.iter().chain(ShapePlace::FIELDS).copied().collect();
        match Fields::open(node, at, &known, problems) {
            Some(fields) => Self {
                shape: Shape::from_table(node, at, problems),
                place: ShapePlace::from_fields(&fields, problems),
            },
            None => Self::default(),
        }
    }
}

/// Declares an enum of tables that are told apart by their field `kind`.
macro_rules! tagged {
    ($(#[$meta:meta])* $name:ident { $($(#[$v_meta:meta])* $variant:ident($type:ident) = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "kind")]
        pub enum $name {
            $($(#[$v_meta])* #[serde(rename = $word)] $variant($type),)*
        }

        impl Read for $name {
            fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
                let kind = Fields::tag(node, at, "kind", &[$($word,)*], problems);
                match kind.as_deref() {
                    $(Some($word) => {
                        let known: Vec<&str> = ["kind"].iter().chain($type::FIELDS).copied().collect();
                        match Fields::open(node, at, &known, problems) {
                            Some(fields) => Self::$variant($type::from_fields(&fields, problems)),
                            None => Self::default(),
                        }
                    })*
                    _ => Self::default(),
                }
            }
        }
    };
}

tagged! {
    /// Resistance of the medium.
    Drag {
        /// Laminar: force −6πηr v, torque −8πηr³ ω.
        Stokes(DragStokes) = "stokes",
        /// Turbulent: force −½ c A ρ |v| v.
        Quadratic(DragQuadratic) = "quadratic",
        /// A sphere that goes by its Reynolds number.
        Automatic(DragAutomatic) = "automatic",
    }
}

impl Default for Drag {
    fn default() -> Self {
        // Stands in for what could not be read, and must not cause errors of its own.
        Self::Stokes(DragStokes {
            radius: 1.0,
            viscosity: 1.0,
        })
    }
}

record! {
    /// Laminar drag.
    DragStokes { required {
        /// Radius of the equivalent sphere [m].
        radius: f64,
        /// Dynamic viscosity of the medium [Pa·s].
        viscosity: f64,
    } optional {} }
}

record! {
    /// Turbulent drag.
    DragQuadratic { required {
        /// Drag coefficient.
        coefficient: f64,
        /// Cross-section [m²].
        area: f64,
        /// Density of the medium [kg/m³].
        density: f64,
    } optional {} }
}

record! {
    /// Drag by the Reynolds number.
    DragAutomatic { required {
        /// Radius [m].
        radius: f64,
        /// Drag coefficient of the turbulent part.
        coefficient: f64,
        /// Dynamic viscosity of the medium [Pa·s].
        viscosity: f64,
        /// Density of the medium [kg/m³].
        density: f64,
    } optional {} }
}

tagged! {
    /// Prescribed motion of a kinematic body.
    Motion {
        /// Constant velocity and spin.
        Constant(ConstantMotion) = "constant",
        /// Shaking.
        Sine(SineMotion) = "sine",
        /// Straight from key to key.
        Table(TableMotion) = "table",
    }
}

impl Default for Motion {
    fn default() -> Self {
        Self::Constant(ConstantMotion::default())
    }
}

record! {
    /// Constant velocity and spin.
    ConstantMotion { required {} optional {
        /// Velocity of the body frame's origin [m/s]. Default 0.
        velocity: [f64; 3],
        /// Angular velocity about the body frame's origin, world axes [rad/s]. Default 0.
        angular_velocity: [f64; 3],
    } }
}

record! {
    /// Shaking: amplitude · sin(2π · frequency · t + phase).
    SineMotion {
        required {
            /// Frequency [Hz].
            frequency: f64,
        }
        optional {
            /// Translation amplitude [m]. Default 0.
            amplitude: [f64; 3],
            /// Rotation vector amplitude, world axes [rad]. Default 0.
            rotation_amplitude: [f64; 3],
            /// Rotation vector amplitude in degrees, world axes.
            rotation_amplitude_deg: [f64; 3],
            /// Phase at t = 0 [rad]. Default 0.
            phase: f64,
            /// Phase at t = 0, in degrees.
            phase_deg: f64,
        }
    }
}

record! {
    /// Straight from key to key; constant before the first and after the last. The body has no position of its own.
    TableMotion {
        required {
            /// Strictly rising times [s].
            times: Vec<f64>,
            /// World position of the body frame at these times [m].
            positions: Vec<[f64; 3]>,
        }
        optional {
            /// Orientation of the body frame at these times, unit quaternions w, x, y, z. Default: the body's.
            rotations: Vec<[f64; 4]>,
        }
    }
}
