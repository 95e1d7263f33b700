//! The scene file, version 1: its tables as types, every field as it is written.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `load` (reads them), `build` (gives them meaning), `explain` (writes them), `schema` (describes them).
//! Source: `docs/scene-format.md`, which tells the same in words.

mod articulation;
mod body;
mod control;
mod generator;
mod joint;

pub use crate::params::{Entries, MethodTable, Written, WrittenValue};
pub use articulation::{Adaptive, Articulation, Link, LinkJoint, TreeIntegrator};
pub use body::{
    All, Axis, AxisAngle, Bits, Body, BoxShape, Capsule, Collision, Cone, ConstantMotion, Cylinder,
    Drag, DragAutomatic, DragQuadratic, DragStokes, HalfSpace, Hull, Kind, Locked, Mesh, Motion,
    Profile, ProfileEdge, ProfilePath, Shape, ShapeEntry, ShapePlace, SineMotion, Sphere,
    TableMotion,
};
pub use control::{Camera, Drives, Keys, Program, Quantity, Sensor, SensorKind, Sine};
pub use generator::{Chain, Fill, Grid, OneOrMany, Pyramid, RandomRotation, Region, Stack};
pub use joint::{Frame, Freedom, Joint, JointKind, Motor, Spring};

use crate::diagnostics::{At, Problems};
use crate::read::{Fields, Read, record, words, wrong_type};
use crate::tree::{Node, Value};
use serde::Serialize;

/// The version of the format that this crate reads and writes.
pub const VERSION: u64 = 1;

record! {
    /// A scene of Tippe: bodies, what they are made of, and how to simulate them. SI units, z up.
    SceneFile {
        required {
            /// Version of the format; this is version 1.
            version: u64,
        }
        optional {
            /// Title of the scene. Default: the file name.
            name: String,
            /// What the scene shows, in a line or two.
            description: String,
            /// Scene files whose materials, pairs, bodies, joints and generators come before those of this one; paths relative to this file.
            include: Vec<String>,
            /// Values by name, for expressions such as "=2 * radius" in the place of values.
            parameters: Parameters,
            /// Other scene files whose bodies, joints and articulations are placed and named anew.
            assembly: Vec<Assembly>,
            /// Gravity and limits.
            world: WorldTable,
            /// How contacts are answered, the step and the length of the run.
            method: MethodTable,
            /// What is recorded.
            record: RecordTable,
            /// Materials.
            material: Vec<Material>,
            /// How two materials answer each other.
            pair: Vec<Pair>,
            /// Bodies.
            body: Vec<Body>,
            /// Bodies in rows, columns and layers.
            grid: Vec<Grid>,
            /// Bodies one upon another.
            stack: Vec<Stack>,
            /// Rows of bodies, each one shorter than the row below.
            pyramid: Vec<Pyramid>,
            /// Bodies at random places without overlap.
            fill: Vec<Fill>,
            /// Links in a row, each joined to the next.
            chain: Vec<Chain>,
            /// Joints.
            joint: Vec<Joint>,
            /// Trees of links in reduced coordinates.
            articulation: Vec<Articulation>,
            /// Quantities that are read after every step.
            sensor: Vec<Sensor>,
            /// Gravity, forces and motors as functions of time.
            program: Vec<Program>,
            /// Where pictures are looked at from.
            camera: Camera,
        }
    }
}

record! {
    /// Gravity and limits.
    WorldTable {
        required {}
        optional {
            /// Acceleration of free fall [m/s²]. Default [0, 0, -9.81].
            gravity: [f64; 3],
            /// Most bodies the scene may make; guards against a slip in a generator. Default 100000.
            body_limit: u64,
            /// Whether islands that have been still for a while are left out of the steps until something reaches them. Default false.
            sleeping: bool,
            /// Speed that no point of a body may exceed before its island falls asleep [m/s]. Default 0.001.
            sleep_speed: f64,
            /// For how long it must be still [s]. Default 0.5.
            sleep_time: f64,
        }
    }
}

record! {
    /// What is recorded.
    RecordTable {
        required {}
        optional {
            /// Frames a simulated second [Hz]. Default 60.
            rate: f64,
            /// Record contact points and impulses too. Default false.
            contacts: bool,
            /// Record states of bodies, joints and articulations as they are, in double precision. Default false.
            exact: bool,
            /// Quantities to record by name, such as "body.block.position.z"; a part of a name stands for all that begin with it. Default: the sensors.
            quantities: Vec<String>,
        }
    }
}

record! {
    /// A sub-assembly: the bodies, joints and articulations of another file, placed and named anew.
    Assembly {
        required {
            /// Name; those of its bodies, joints and articulations begin with it and a point.
            name: String,
            /// Scene file, relative to this one.
            file: String,
        }
        optional {
            /// Where the origin of that file stands [m]. Default [0, 0, 0].
            position: [f64; 3],
            /// Orientation, a unit quaternion w, x, y, z. Default [1, 0, 0, 0].
            rotation: [f64; 4],
            /// Orientation as turns about axes, in degrees.
            rotation_deg: OneOrMany<AxisAngle>,
            /// Values of that file's parameters, in place of its own.
            parameters: Parameters,
        }
    }
}

/// Values by name: numbers, texts, lists, or expressions of other parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Parameters(pub std::collections::BTreeMap<String, serde_json::Value>);

impl Read for Parameters {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        // Their values are worked out before the tree is typed: `parameters`.
        if !matches!(node.value, Value::Table(_)) {
            wrong_type(node, at, "a table", "write { radius = 0.1 }", problems);
        }
        Self::default()
    }
}

words! {
    /// What restitution is a ratio of.
    Law {
        /// Energy of restitution over energy of compression, squared; never gains energy.
        #[default]
        Stronge = "stronge",
        /// Impulse of restitution over impulse of compression.
        Poisson = "poisson",
        /// Normal velocity after over normal velocity before.
        Newton = "newton",
    }
}

record! {
    /// A material: how it answers its own kind, and partners for which no pair is given.
    Material {
        required {
            /// Name, unique; "default" changes what bodies without a material are made of.
            name: String,
        }
        optional {
            /// Coulomb coefficient, sticking and sliding alike.
            friction: f64,
            /// Coulomb coefficient while sticking. Default 0.5, or as `friction_kinetic` if only that is given.
            friction_static: f64,
            /// Coulomb coefficient while sliding, at most `friction_static`. Default as `friction_static`.
            friction_kinetic: f64,
            /// Rolling resistance: torque per normal force and radius. Default 0.
            friction_rolling: f64,
            /// Spinning resistance about the normal: torque per normal force and radius. Default 0.
            friction_spinning: f64,
            /// Coefficient of restitution, 0 to 1. Default 0.
            restitution: f64,
            /// What restitution is a ratio of. Default "stronge".
            impact_law: Law,
            /// Slip speed at which friction reaches 1/√2 of its sliding value [m/s]; 0 is ideal Coulomb friction. Default 0.
            slip_speed: f64,
            /// Stiffness k of compliant contact, F = k depth^exponent at every point of touch [N/m^exponent]. Method `forces` alone.
            stiffness: f64,
            /// Exponent of compliant contact, 1 to 10; with `stiffness`. Default 1.
            exponent: f64,
            /// Shear modulus [Pa] for Hertz' law between round surfaces; with `poisson_ratio`. Method `forces` alone.
            shear_modulus: f64,
            /// Poisson's ratio, above -1 and at most 0.5; with `shear_modulus`.
            poisson_ratio: f64,
            /// Hertz' law by its modulus E* = shear_modulus/(1 - poisson_ratio) instead [Pa].
            contact_modulus: f64,
        }
    }
}

record! {
    /// How two materials answer each other; fields left out come from the two materials by the fallback rule.
    Pair {
        required {
            /// Names of the two materials, in either order.
            materials: [String; 2],
        }
        optional {
            /// Coulomb coefficient, sticking and sliding alike.
            friction: f64,
            /// Coulomb coefficient while sticking.
            friction_static: f64,
            /// Coulomb coefficient while sliding, at most `friction_static`.
            friction_kinetic: f64,
            /// Rolling resistance: torque per normal force and radius.
            friction_rolling: f64,
            /// Spinning resistance about the normal: torque per normal force and radius.
            friction_spinning: f64,
            /// Coefficient of restitution, 0 to 1.
            restitution: f64,
            /// What restitution is a ratio of.
            impact_law: Law,
            /// Slip speed at which friction reaches 1/√2 of its sliding value [m/s].
            slip_speed: f64,
            /// Stiffness k of compliant contact, F = k depth^exponent at every point of touch [N/m^exponent]. Method `forces` alone.
            stiffness: f64,
            /// Exponent of compliant contact, 1 to 10; with `stiffness`. Default 1.
            exponent: f64,
            /// Shear modulus [Pa] for Hertz' law between round surfaces; with `poisson_ratio`. Method `forces` alone.
            shear_modulus: f64,
            /// Poisson's ratio, above -1 and at most 0.5; with `shear_modulus`.
            poisson_ratio: f64,
            /// Hertz' law by its modulus E* = shear_modulus/(1 - poisson_ratio) instead [Pa].
            contact_modulus: f64,
        }
    }
}

impl Read for [String; 2] {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        // The lists of two names: `pair.materials`, `joint.bodies` and `joint.joints`.
        let help = if at.path.to_string().ends_with("bodies") {
            "write the names of two bodies: [\"world\", \"pendulum\"]"
        } else if at.path.to_string().ends_with("joints") {
            "write the names of two joints: [\"pinion\", \"wheel\"]"
        } else {
            "write the names of two materials: [\"wood\", \"ice\"]"
        };
        match &node.value {
            Value::List(items) if items.len() == 2 => {
                let mut name = |i: usize| String::read(&items[i], &at.index(i), problems);
                return [name(0), name(1)];
            }
            Value::List(items) => {
                problems.error(at, format!("must be two names, got {}", items.len()), help)
            }
            _ => wrong_type(node, at, "a list of two names", help, problems),
        }
        Self::default()
    }
}

/// A length of time: a number, or a fraction written as text, such as "1/60".
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Ratio {
    /// A number.
    Number(f64),
    /// A fraction, such as "1/60".
    Fraction(String),
}

impl Default for Ratio {
    fn default() -> Self {
        Self::Number(0.0)
    }
}

impl Ratio {
    /// Its value, or why it has none.
    ///
    /// # Errors
    /// The text is no number and no fraction of two, or the lower one is zero.
    pub fn value(&self) -> Result<f64, String> {
        match self {
            Self::Number(value) => Ok(*value),
            Self::Fraction(text) => parse_ratio(text),
        }
    }
}

/// Reads a number or a fraction, such as `0.001` or `1/60`.
///
/// # Errors
/// Why the text is neither.
pub fn parse_ratio(text: &str) -> Result<f64, String> {
    let number = |s: &str| s.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let value = match text.split_once('/') {
        None => number(text),
        Some((upper, lower)) => match (number(upper), number(lower)) {
            (_, Some(0.0)) => return Err(format!("{text:?} divides by zero")),
            (Some(upper), Some(lower)) => Some(upper / lower),
            _ => None,
        },
    };
    value
        .filter(|x| x.is_finite())
        .ok_or_else(|| format!("{text:?} is neither a number nor a fraction such as \"1/60\""))
}

impl Read for Ratio {
    fn read(node: &Node, at: &At, problems: &mut Problems) -> Self {
        match &node.value {
            Value::Text(text) => {
                if let Err(reason) = parse_ratio(text) {
                    problems.error(at, reason, "write 0.001 or \"1/60\"");
                }
                Self::Fraction(text.clone())
            }
            Value::Number { .. } => Self::Number(f64::read(node, at, problems)),
            _ => {
                wrong_type(
                    node,
                    at,
                    "a number or a fraction",
                    "write 0.001 or \"1/60\"",
                    problems,
                );
                Self::default()
            }
        }
    }
}
