//! Tippe: rigid-body dynamics whose contact physics is right, fast, and shows its own error.
//!
//! One step of the loop: `collide` finds the contacts at time t; the method of the world answers them with impulses on the
//! predicted motion, moves the bodies and projects their velocities at t + dt; `report` says what was done and how far from
//! right it is. `World` is the door to all of it.

pub mod collide;
pub mod dynamics;
pub mod error;
pub mod joint;
pub mod material;
pub mod math;
pub mod method;
pub mod model;
pub mod motion;
pub mod report;
pub mod shape;
mod snapshot;
pub mod state;
mod step;
pub mod work;
pub mod world;

pub use error::{BuildError, SnapshotError, StepError, UnknownBody, UnknownJoint};
pub use joint::{Freedom, JointDesc, JointId, JointKind, Motor, Spring};
pub use material::{ImpactLaw, MaterialId, Materials, Surface};
pub use math::{Mat3, Pose, Quat, Vec3};
pub use method::{METHOD_NAMES, Method, SequentialParams};
pub use model::{Body, BodyDesc, BodyId, BodyKind, Drag, Filter, MassSpec, ShapeDesc};
pub use motion::Motion;
pub use report::{
    ContactForce, EnergyLedger, Event, EventKind, JointForce, Residuals, SolverWork, StepReport,
};
pub use shape::Shape;
pub use state::BodyState;
pub use world::World;
