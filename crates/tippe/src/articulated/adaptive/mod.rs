//! Adaptive bodies: trees of which only the joints that matter move, at a cost that follows those joints, with the
//! error known.
//!
//! Reads: `Model`, `AdaptiveState`, positions, velocities, torques, loads.  Writes: `AdaptiveState`, positions,
//! velocities.
//! Called by: users.
//! Source: [Redon05]; [Articulated] slides 44–46; [Featherstone99].
//!
//! The joints of a tree are joined in a balanced *assembly* of pieces. Each piece knows how it would answer and how
//! much it would move, as a function of what happens at its two ends. From the whole inwards, pieces that would move
//! most are opened: their joints move. What stays closed is rigid. The tree of rigid pieces and moving joints is the
//! *hybrid body*, an ordinary `Model`.
//!
//! ```
//! use tippe::articulated::{AdaptiveBody, AdaptiveDesc, AdaptiveInput, AdaptiveState};
//! use tippe::articulated::{Integrator, Joint, LinkDesc, Model};
//! use tippe::math::{Mat3, Pose, Vec3};
//! use tippe::shape::mass::MassProperties;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A chain of a hundred links of which four joints move.
//! let inertia = Mat3::from_diagonal(Vec3::new(0.01, 0.08, 0.08));
//! let mass = MassProperties { mass: 1.0, center: Vec3::X * 0.5, inertia };
//! let links: Vec<LinkDesc> = (0..100_usize)
//!     .map(|i| {
//!         let place = if i == 0 { Vec3::ZERO } else { Vec3::X };
//!         let hinge = Joint::Revolute { axis: Vec3::Y };
//!         LinkDesc::new(i.checked_sub(1), hinge, Pose::from_position(place), mass)
//!     })
//!     .collect();
//! let model = Model::new(&links, Vec3::Z * -9.81)?;
//! let mut body = AdaptiveBody::new(&model, AdaptiveDesc::joints(4), 0)?;
//! let mut state = AdaptiveState::new(&model);
//! let (mut q, mut v) = (model.neutral(), vec![0.0; 100]);
//! let input = AdaptiveInput { tau: &[0.0; 100], loads: &[], pins: &[] };
//! let how = Integrator::OneEvaluation;
//! let done = body.step(&model, &mut state, how, 1e-3, &input, &mut q, &mut v)?;
//! assert_eq!(state.active_count(), 4);
//! assert!(done.residual > 0.0);
//! # Ok(())
//! # }
//! ```

mod assembly;
mod body;
mod desc;
mod hybrid;
mod impact;
mod inspect;
mod join;
mod lock;
mod metric;
mod pieces;
mod plan;
mod select;

pub use body::{AdaptiveBody, AdaptiveInput, AdaptiveStep, Selection};
pub use desc::{AdaptiveDesc, AdaptiveState, Choice, Score, joint_freedoms};
pub use impact::HybridView;
pub use inspect::PieceMeasure;
