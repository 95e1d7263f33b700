//! Scratch of the algorithms on one tree. Made once for a model, then reused: no call allocates.
//!
//! Reads: `Model` (sizes).  Writes: nothing.
//! Called by: users, who hold it; every algorithm of `articulated`.
//! Source: [Featherstone08] tables 7.1 and 5.1. Letters: S joint axis, U = I^A S, D = Sᵀ U, u as in `aba`.

use super::error::TreeError;
use super::inertia::{ArticulatedInertia, RigidInertia};
use super::integrate::Stages;
use super::model::Model;
use super::spatial::{Force, Frame, Motion, Sym3};
use crate::math::block_cholesky::Block;
use crate::math::{Mat3, Vec3};

/// Velocity of a node and its velocity-product acceleration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// Spatial velocity in the node's own axes.
    pub velocity: Motion,
    /// `c = v × S q̇`.
    pub drift: Motion,
}

/// What a node's subtree weighs, and the force that holds it without acceleration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    /// Articulated inertia I^A.
    pub inertia: ArticulatedInertia,
    /// Bias force p^A.
    pub force: Force,
}

impl Body {
    pub const ZERO: Self = Self {
        inertia: ArticulatedInertia::ZERO,
        force: Force::ZERO,
    };
}

/// Factor of a joint with one freedom.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Single {
    /// U.
    pub column: Force,
    /// D⁻¹.
    pub d_inverse: f64,
    /// u − Uᵀ c.
    pub u: f64,
}

/// Factor of a spherical joint: U = [A; Bᵀ].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ball {
    pub angular: Sym3,
    pub coupling: Mat3,
    pub d_inverse: Sym3,
    pub u: Vec3,
}

/// Factor of a free joint: U = D = I^A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floating {
    /// Cholesky factor of I^A.
    pub factor: Block,
    pub inertia: ArticulatedInertia,
    pub u: Force,
}

/// Which parts of the scratch belong to the present state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ready {
    /// Frames and poses.
    pub poses: bool,
    /// Velocities.
    pub flows: bool,
    /// Accelerations.
    pub accelerations: bool,
    /// U and D.
    pub factors: bool,
}

/// Scratch for one model.
#[derive(Clone, Debug)]
pub struct Work {
    /// By node: its frame in its parent. Written by `kinematics::place`, read by all.
    pub(super) frames: Vec<Frame>,
    /// By node: its frame in the world. Written by `kinematics::poses`, read by whatever speaks of world points.
    pub(super) poses: Vec<Frame>,
    /// By node. Written by `kinematics::flow`, read by `aba`, `rnea`, energies, point velocities.
    pub(super) flows: Vec<Flow>,
    /// By node. Written by `aba` (inward pass).
    pub(super) bodies: Vec<Body>,
    /// By node; unused for balls and free joints. Written by `aba` (inward pass), read by `response`, `spread`.
    pub(super) singles: Vec<Single>,
    /// By slot, as `singles`.
    pub(super) balls: Vec<Ball>,
    /// By slot, as `singles`.
    pub(super) floatings: Vec<Floating>,
    /// By node: spatial acceleration, gravity as −g of the world. Written by `aba`, `rnea`; read by point accelerations.
    pub(super) accelerations: Vec<Motion>,
    /// By node: inertia of everything it carries, all joints locked. Written by `crba`.
    pub(super) composites: Vec<RigidInertia>,
    /// By freedom: added to D, armature and forces that grow with the rate to come (implicit damping) [kg·m² or kg]. Written by the
    /// integrators.
    pub(super) added: Vec<f64>,
    /// By freedom: −Sᵀ y. Written and read by `response`.
    pub(super) drive: Vec<f64>,
    /// By node: change of velocity. Written and read by `response`.
    pub(super) changes: Vec<Motion>,
    /// Nodes from a link to the world. Written and read by `response`.
    pub(super) path: Vec<u32>,
    /// Loss to viscous joint friction in the last step [J]. Written by `integrate`.
    pub(super) dissipated: f64,
    /// Nodes that dynamics and impulse responses have visited. Written by `aba` and `response`, read by those who count work.
    pub(super) visited: u64,
    /// Stages of a step. Written and read by `integrate`.
    pub(super) stages: Stages,
    /// Parts of chains. Written and read by `dca`.
    pub(super) halves: super::dca::Halves,
    pub(super) ready: Ready,
}

impl Work {
    /// Scratch for this model.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let n = model.nodes.len();
        Self {
            frames: vec![Frame::IDENTITY; n],
            poses: vec![Frame::IDENTITY; n],
            flows: vec![Flow::default(); n],
            bodies: vec![Body::ZERO; n],
            singles: vec![Single::default(); n],
            balls: vec![Ball::default(); model.ball_count],
            floatings: vec![
                Floating {
                    factor: [0.0; 36],
                    inertia: ArticulatedInertia::ZERO,
                    u: Force::ZERO,
                };
                model.free_count
            ],
            accelerations: vec![Motion::ZERO; n],
            composites: vec![RigidInertia::default(); n],
            added: vec![0.0; model.freedom_count()],
            drive: vec![0.0; model.freedom_count()],
            changes: vec![Motion::ZERO; n],
            path: Vec::with_capacity(n),
            dissipated: 0.0,
            visited: 0,
            stages: Stages::new(model),
            halves: super::dca::Halves::default(),
            ready: Ready::default(),
        }
    }

    /// Loss to viscous joint friction in the last `step` [J], integrated like the motion itself.
    #[must_use]
    pub const fn dissipated(&self) -> f64 {
        self.dissipated
    }

    /// Links that accelerations and impulses have been carried through, inwards and outwards, since this scratch was made:
    /// the cost of dynamics and constraints in work, whatever the machine.
    #[must_use]
    pub const fn visited(&self) -> u64 {
        self.visited
    }

    /// Whether it was made for a model of this size.
    pub(crate) fn fits(&self, model: &Model) -> bool {
        self.check(model).is_ok()
    }

    /// After `impulse_response`: change of the velocity of a link's point at a world point, and of its angular velocity, in world axes.
    pub(crate) fn change_at(
        &self,
        model: &Model,
        link: usize,
        point: Vec3,
    ) -> Result<(Vec3, Vec3), TreeError> {
        let node = model.link("link", link)?.node as usize;
        let (pose, d) = (&self.poses[node], &self.changes[node]);
        Ok((
            pose.rotation * d.at(pose.point_to_child(point)),
            pose.rotation * d.angular,
        ))
    }

    /// Refuses scratch that was made for another model.
    pub(super) fn check(&self, model: &Model) -> Result<(), TreeError> {
        let fits = self.frames.len() == model.nodes.len()
            && self.added.len() == model.freedom_count()
            && self.balls.len() == model.ball_count
            && self.floatings.len() == model.free_count;
        if fits {
            Ok(())
        } else {
            Err(TreeError::NotPrepared { call: "Work::new" })
        }
    }

    /// Forgets what belonged to another state.
    pub(super) fn reset(&mut self) {
        self.ready = Ready::default();
    }
}

/// The answer to "was this filled?".
pub(super) const fn needs(ready: bool, call: &'static str) -> Result<(), TreeError> {
    if ready {
        Ok(())
    } else {
        Err(TreeError::NotPrepared { call })
    }
}
