//! Articulated bodies: trees of links in reduced coordinates, joints exact by construction, at a cost linear in the links.
//!
//! Reads: descriptions, positions and velocities as plain slices.  Writes: the caller's slices and `Work`.
//! Called by: users, who want the dynamics of one model.
//! Source: [Featherstone08]; [Articulated]; [MirtichThesis96] ch. 4; letters in docs/conventions.md.
//!
//! A position `q` has one number for each hinge or slider, four (a unit quaternion x, y, z, w) for a ball, seven (origin, then
//! quaternion) for a free link, in the order of the links. A velocity `v` has one, three and six: angular velocity relative to the parent
//! in the link's own axes, then the velocity of its origin. Torques are dual to velocities.
//!
//! ```
//! use tippe::articulated::{Joint, LinkDesc, Model, Work, aba};
//! use tippe::math::{Mat3, Pose, Vec3};
//! use tippe::shape::mass::MassProperties;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A pendulum: a point of 2 kg on an arm of 0.5 m, horizontal, hinged about y.
//! let bob = MassProperties { mass: 2.0, center: Vec3::X * 0.5, inertia: Mat3::ZERO };
//! let hinge = Joint::Revolute { axis: Vec3::Y };
//! let model = Model::new(&[LinkDesc::new(None, hinge, Pose::IDENTITY, bob)], Vec3::Z * -9.81)?;
//! let mut acceleration = [0.0];
//! aba(&model, &[0.0], &[0.0], &[0.0], &[], &mut Work::new(&model), &mut acceleration)?;
//! assert!((acceleration[0] - 9.81 / 0.5).abs() < 1e-12);
//! # Ok(())
//! # }
//! ```

#![allow(non_snake_case)]

mod aba;
mod adaptive;
mod collision;
mod constraint;
mod crba;
mod dca;
pub(crate) mod ends;
mod energy;
mod error;
mod factor;
mod inertia;
mod integrate;
mod jacobian;
mod joint;
mod kinematics;
mod load;
mod model;
mod response;
mod rnea;
mod six;
mod sparse;
mod spatial;
pub(crate) mod stages;
mod work;

pub use aba::{aba, articulate};
pub use adaptive::{
    AdaptiveBody, AdaptiveDesc, AdaptiveInput, AdaptiveState, AdaptiveStep, Choice, HybridView,
    PieceMeasure, Score, Selection, joint_freedoms,
};
pub use collision::{LinkPoint, OtherSide, Touch, collision_matrix, coupling, strike};
pub use constraint::{
    ConstraintRow, constrained_accelerations, constrained_impact, contact_rows, dry_friction,
    limit_rows, respond, row_responses, row_velocities,
};
pub use crba::crba;
pub use dca::{Assembly, dca};
pub use energy::{
    armature_energy, center_of_mass, kinetic_energy, momentum, potential_energy, spring_energy,
};
pub use error::TreeError;
pub use inertia::{ArticulatedInertia, RigidInertia};
pub use integrate::{Integrator, advance, step};
pub use jacobian::jacobian;
pub use joint::Joint;
pub(crate) use kinematics::frame_of;
pub use kinematics::{kinematics, link_pose, link_velocity, point_acceleration, point_velocity};
pub use load::Load;
pub use model::{JointFriction, Limits, LinkDesc, Model};
pub use response::{impulse_response, joint_response};
pub use rnea::rnea;
pub use sparse::{factor, solve};
pub use spatial::{Force, Frame, Motion, Sym3};
pub use work::Work;
