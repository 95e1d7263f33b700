//! Tippe: rigid-body dynamics whose contact physics is right, fast, and shows its own error.
//!
//! One step of the loop: `collide` finds the contacts at time t; the method of the world answers them with impulses on the
//! predicted motion, moves the bodies and projects their velocities at t + dt; `report` says what was done and how far from
//! right it is. `World` is the door to all of it.
//!
//! ```
//! use tippe::{BodyDesc, Shape, Surface, Vec3, World};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut world = World::default();
//! world.set_default_surface(Surface::new(0.5, 0.9))?; // friction, restitution
//! world.add_body(&BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO))?;
//! let ball = world.add_body(&BodyDesc::dynamic(Shape::Sphere { radius: 0.1 }, Vec3::Z * 1.1))?;
//! for _ in 0..60 {
//!     let report = world.step(1.0 / 60.0)?;
//!     assert!(report.energy.unexplained.abs() < 1e-9 * report.energy.total());
//! }
//! // Dropped 1 m with e = 0.9: after 1 s it falls from the top of its first bounce, 0.81 m.
//! assert!((world.pose(ball)?.position.z - 0.1 - 0.710_949).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! | to | see |
//! |---|---|
//! | put bodies, joints and articulations into a world | [`BodyDesc`], [`JointDesc`], [`ArticulationDesc`], [`World::add_body`] |
//! | say what they are made of | [`Surface`], [`Materials`], [`Drag`], [`Filter`] |
//! | step, and know how far from right it was | [`World::step`], [`StepReport::certified`], [`EnergyLedger`] |
//! | act | [`World::add_program`], [`World::apply_link_force`], [`World::edit_link`], [`World::keep`], [`World::reset`], [`World::apply_force`], [`World::apply_joint_force`], [`World::set_joint_freedom`] (motors, springs), [`World::steer`], [`World::edit_body`] |
//! | read | [`World::add_sensor`], [`World::readings`], [`World::mass_matrix`], [`World::link_jacobian`], [`World::bodies`], [`World::state`], [`World::body_named`], [`World::contacts_of`], [`World::contact_between`], [`World::events`] |
//! | ask | [`World::queries`] (rays, casts, overlaps), [`geometry`] |
//! | choose a method and its parameters | [`Method`], [`Method::TABLES`] |
//! | step many worlds together | [`batch::Batch`] |
//! | save and compare | [`World::snapshot`], [`World::restore`], [`World::hash`] |
//!
//! Units are SI, z is up in scenes, worlds are `Send + Sync`, and the same input gives the same bits on every machine.

mod adaptive;
pub mod articulated;
pub mod assembly;
pub mod batch;
#[doc(hidden)]
pub mod collide;
pub mod dynamics;
pub mod error;
#[cfg(feature = "fault-injection")]
pub mod fault;
#[cfg(not(feature = "fault-injection"))]
mod fault;
pub mod geometry;
pub mod interrupt;
pub mod laboratory;
pub mod math;
pub mod method;
pub mod model;
mod output;
pub mod report;
pub mod shape;
mod snapshot;
#[doc(hidden)]
pub mod solver;
pub mod state;
mod step;
mod threads;
mod two_stage;
#[doc(hidden)]
pub mod work;
pub mod world;

pub use articulation::{
    Articulation, ArticulationDesc, ArticulationId, ArticulationState, ConeLimits, LinkBodyDesc,
};
pub use compliance::Compliance;
pub use dynamics::sleep::Sleeping;
pub use error::{
    BuildError, Error, SnapshotError, StepError, UnknownArticulation, UnknownBody, UnknownJoint,
};
pub use interrupt::Interrupt;
pub use joint::{Freedom, JointDesc, JointId, JointKind, Motor, Spring};
pub use material::{ImpactLaw, MaterialId, Materials, Surface};
pub use math::{Mat3, Pose, Quat, Vec2, Vec3};
pub use method::{
    EventsParams, ForcesParams, IterativeParams, METHOD_NAMES, Method, ParamTable, ParamValue,
    SequentialParams, SimultaneousParams,
};
pub use model::coupling::Coupling;
pub use model::program::{Driven, Program, Signal};
pub use model::sensor::{SensorDesc, SensorId, SensorKind};
pub use model::{Body, BodyDesc, BodyId, BodyKind, Drag, Filter, MassSpec, ShapeDesc};
pub use model::{articulation, compliance, joint, material, motion};
pub use motion::Motion;
pub use report::{
    AdaptiveReport, CERTIFIED, ContactForce, EnergyLedger, Event, EventKind, JointForce, Phase,
    Residuals, SolverWork, StepReport,
};
pub use shape::{ConvexHull, Profile, ProfileEdge, ProfilePath, Rounded, Shape, TriangleMesh};
pub use solver::choose::THRESHOLDS;
pub use state::BodyState;
pub use world::query;
pub use world::{LockedAxes, MotorPlace, PairContact, World};
