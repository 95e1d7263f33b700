//! Recordings: what a run did, in a chunk file that survives being cut off.
//!
//! Reads: the world after each step.  Writes: bytes.
//! Called by: users; the page and the report read the same file.
//! Source: `docs/recording.md`, which gives every byte.

mod certificate;
mod chunk;
mod csv;
mod describe;
mod pack;
mod read;
mod write;

pub use certificate::{from_numbers as report_from_numbers, names as certificate_names};
pub use csv::Tables;
pub use pack::{ANGLE_ERROR_MAX, POSE_BYTES};
pub use read::{Recording, RecordingError};
pub use write::{Holds, RecordingWriter};

use serde::{Deserialize, Serialize};
use tippe::{EventKind, Pose, Vec3};

/// First bytes of every recording.
pub const MAGIC: [u8; 8] = *b"TIPPEREC";
/// Version of the file format that this crate writes and reads.
pub const VERSION: u32 = 1;

/// What was run. The chunk `HEAD`, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Title of the scene.
    pub name: String,
    /// What the scene shows.
    pub description: String,
    /// Text of the scene file.
    pub source: String,
    /// The scene with every default written out, as JSON of the scene format.
    pub scene: serde_json::Value,
    /// Name of the method.
    pub method: String,
    /// Length of a step [s].
    pub dt: f64,
    /// Simulated time asked for [s].
    pub seconds: f64,
    /// Frames a simulated second [Hz].
    pub rate: f64,
    /// Whether contacts are recorded.
    pub contacts: bool,
    /// Gravity [m/s²].
    pub gravity: [f64; 3],
    /// Names of the numbers of a step's certificate, in their order.
    pub certificate: Vec<String>,
    /// What every pair of materials does when it touches.
    #[serde(default)]
    pub surfaces: Vec<RecordedSurface>,
}

/// How two materials answer each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedSurface {
    /// Names of the two materials.
    pub materials: [String; 2],
    /// Coulomb coefficient while sticking [1].
    pub friction_static: f64,
    /// Coulomb coefficient while sliding [1].
    pub friction_kinetic: f64,
    /// Coefficient of restitution [1].
    pub restitution: f64,
}

/// A joint as the page draws it. The chunk `JOIN` is the list of all, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedJoint {
    /// Name.
    pub name: String,
    /// `ball`, `hinge`, `slider`, `fixed`, `cylindrical`, `universal` or `distance`.
    pub kind: String,
    /// Slot of body A; none is the world.
    pub body_a: Option<u32>,
    /// Slot of body B.
    pub body_b: u32,
    /// Origin of the joint in the frame of A [m].
    pub at_a: [f64; 3],
    /// Origin of the joint in the frame of B [m].
    pub at_b: [f64; 3],
    /// Axis (z of the joint's frame) in the frame of B.
    pub axis_b: [f64; 3],
}

/// What a joint carried since the last frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecordedReaction {
    /// Mean force on B [N].
    pub force: [f32; 3],
    /// Mean torque on B about the joint's origin [N·m].
    pub torque: [f32; 3],
}

/// The reactions of one frame. The chunk `REAC`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReactionFrame {
    /// Time of the frame [s].
    pub time: f64,
    /// Which list of joints they belong to.
    pub list: usize,
    /// In the order of the list.
    pub reactions: Vec<RecordedReaction>,
}

/// A body as the page draws it. The chunk `BODY` is the list of all, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedBody {
    /// Name.
    pub name: String,
    /// Slot in the world; contacts and events name bodies by it.
    pub slot: u32,
    /// `dynamic`, `fixed` or `kinematic`.
    pub kind: String,
    /// Mass [kg]; 0 for fixed and kinematic bodies.
    pub mass: f64,
    /// Centre of mass in the body frame [m].
    pub center: [f64; 3],
    /// Shapes in the body frame.
    pub shapes: Vec<RecordedShape>,
}

/// A shape of a recorded body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedShape {
    /// The solid.
    pub solid: Solid,
    /// Origin of the shape in the body frame [m].
    pub position: [f64; 3],
    /// Orientation in the body frame, w, x, y, z.
    pub rotation: [f64; 4],
    /// Whether it is a sensor.
    pub sensor: bool,
    /// Name of its material.
    pub material: String,
}

/// A solid in its own frame, as in the scene format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Solid {
    /// A box.
    Box {
        /// Edge lengths [m].
        size: [f64; 3],
    },
    /// A ball.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A capsule along z.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Length of the inner segment [m].
        length: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Length [m].
        length: f64,
    },
    /// A cone along z, its apex up.
    Cone {
        /// Radius of the base [m].
        radius: f64,
        /// Height [m].
        height: f64,
    },
    /// A convex polyhedron.
    Hull {
        /// Its vertices [m].
        points: Vec<[f64; 3]>,
        /// Triangles of its surface, by vertex, counter-clockwise seen from outside.
        triangles: Vec<[u32; 3]>,
    },
    /// A surface of triangles.
    Mesh {
        /// Its vertices [m].
        points: Vec<[f64; 3]>,
        /// Triangles by vertex, counter-clockwise seen from the front.
        triangles: Vec<[u32; 3]>,
    },
    /// A half-space.
    HalfSpace {
        /// Outward normal.
        normal: [f64; 3],
    },
}

/// The poses of all bodies at one time. The chunk `POSE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Time [s].
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// Which list of bodies the poses belong to.
    pub list: usize,
    /// Largest distance of a stored coordinate from the true one along x, y, z [m].
    pub error: Vec3,
    /// Pose of each body's frame, in the order of the list.
    pub poses: Vec<Pose>,
}

/// Who sleeps from a frame on. The chunk `DOZE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sleepers {
    /// The first frame it holds for, by place.
    pub frame: usize,
    /// Which list of bodies it belongs to.
    pub list: usize,
    /// In the order of the list.
    pub asleep: Vec<bool>,
}

/// A contact point since the last frame. The chunk `CONT` holds those of one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedContact {
    /// Slot of body A; the normal points from A to B.
    pub body_a: u32,
    /// Slot of body B.
    pub body_b: u32,
    /// Shape of A.
    pub shape_a: u32,
    /// Shape of B.
    pub shape_b: u32,
    /// Names the touching features.
    pub feature: u32,
    /// Whether it slid when last seen.
    pub sliding: bool,
    /// Steps since the last frame in which it carried an impulse.
    pub steps: u32,
    /// Last seen at, world [m].
    pub point: [f32; 3],
    /// Unit normal when last seen.
    pub normal: [f32; 3],
    /// Impulse on B, summed since the last frame [N·s].
    pub impulse: [f32; 3],
}

/// The contacts of one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactFrame {
    /// Time of the frame [s].
    pub time: f64,
    /// Sorted by bodies, shapes, feature.
    pub contacts: Vec<RecordedContact>,
}

/// Something that began, ended or hit. The chunk `EVNT` holds those since the last frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedEvent {
    /// Exact time [s].
    pub time: f64,
    /// What happened.
    pub kind: EventKind,
    /// Slot of body A.
    pub body_a: u32,
    /// Slot of body B.
    pub body_b: u32,
    /// Shape of A.
    pub shape_a: u32,
    /// Shape of B.
    pub shape_b: u32,
    /// Where, world [m].
    pub point: Vec3,
    /// Speed of approach [m/s].
    pub speed: f64,
}

/// Quantities by name at one time. The chunk `QVAL`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantityFrame {
    /// Time [s].
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// Which list of names the values belong to.
    pub list: usize,
    /// In the order of the names.
    pub values: Vec<f64>,
}

/// The whole world at one time. The chunk `SNAP`.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSnapshot {
    /// Time [s].
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// `World::bare_snapshot()`.
    pub bytes: Vec<u8>,
}

/// How a run ended. The chunk `DONE`, the last one.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// Time [s].
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// `World::hash()`.
    pub hash: u64,
    /// Why it stopped early; empty for a full run.
    pub stopped: String,
}

/// Whether a recording is whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Completeness {
    /// The run was recorded to its end.
    Finished(Ending),
    /// Whole chunks, but no end: the run still goes on, or was killed between two frames.
    Unfinished,
    /// The file ends inside a chunk; everything before is here.
    CutOff {
        /// Byte at which the cut chunk begins.
        offset: usize,
    },
    /// A chunk is damaged; everything before is here.
    Damaged {
        /// Byte at which the damaged chunk begins.
        offset: usize,
        /// What is wrong with it.
        reason: String,
    },
}
