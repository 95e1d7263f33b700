//! What users say about an adaptive body, its checks, and the state it carries from step to step.
//!
//! Reads: descriptions from the user, `Model`.  Writes: nothing.
//! Called by: users; `body`, `select`.
//! Source: [Redon05]; the numbers are our choices and say so.

use crate::articulated::joint::Plain;
use crate::articulated::model::{Model, WORLD};
use crate::error::BuildError;

/// How much may move.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Choice {
    /// At most this many joints move. Joints that must move (free ones, joints at a limit, joints too fast to be
    /// locked) come first.
    Joints(usize),
    /// As many joints move as it takes to keep the residual at or below this, in the units of the score.
    Error(f64),
}

/// What a joint is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Score {
    /// The acceleration it would have if everything moved, `Σ w q̈²`.
    Acceleration,
    /// The rate it would have at the next selection if everything moved, `Σ w (q̇ + Δt q̈)²`.
    Velocity,
}

/// How a tree adapts.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AdaptiveDesc {
    /// How much may move.
    pub choice: Choice,
    /// What a joint is judged by.
    pub score: Score,
    /// Weight of each freedom in the score, in the order of the velocities; `None` is 1 for turns and 1/ℓ² for travels,
    /// ℓ the length of the link.
    pub weights: Option<Vec<f64>>,
    /// Steps between two selections.
    pub interval: u32,
    /// A joint is locked only if √w |q̇| is at most this [rad/s].
    pub lock_speed: f64,
    /// A joint is locked only after it was not chosen in this many selections in a row.
    pub patience: u16,
    /// Velocity terms of a rigid piece are left out of the score if the piece turns slower than this [rad/s].
    pub slow_turn: f64,
}

impl AdaptiveDesc {
    /// At most `joints` moving joints, everything else at its default.
    #[must_use]
    pub const fn joints(joints: usize) -> Self {
        Self::new(Choice::Joints(joints))
    }

    /// A residual of at most `error`, everything else at its default.
    #[must_use]
    pub const fn error(error: f64) -> Self {
        Self::new(Choice::Error(error))
    }

    const fn new(choice: Choice) -> Self {
        Self {
            choice,
            score: Score::Velocity,
            weights: None,
            interval: 8,
            lock_speed: 0.02,
            patience: 2,
            slow_turn: 0.1,
        }
    }

    /// Refuses a budget of 0, a tolerance that is negative or not a number, weights that are not positive, and loops.
    ///
    /// `loop_joints` is the number of joints that close loops of this tree: their forces couple links that the assembly
    /// keeps apart.
    pub fn check(&self, model: &Model, loop_joints: usize) -> Result<(), BuildError> {
        let bad = |field: &str, reason: String| Err(BuildError::new(field, reason));
        if loop_joints > 0 {
            return bad(
                "adaptive",
                format!(
                    "the tree is closed to a loop by {loop_joints} joint(s); adaptive bodies must be open trees"
                ),
            );
        }
        if model.has_armature() {
            return bad("adaptive", "links with armature cannot be adaptive".into());
        }
        match self.choice {
            Choice::Joints(0) => return bad("joints", "must be at least 1".into()),
            Choice::Error(e) if !(e >= 0.0 && e.is_finite()) => {
                return bad("error", format!("must be finite and not negative, got {e}"));
            }
            _ => {}
        }
        if self.interval == 0 {
            return bad("interval", "must be at least 1".into());
        }
        for (field, x) in [
            ("lock_speed", self.lock_speed),
            ("slow_turn", self.slow_turn),
        ] {
            if x.is_nan() || x < 0.0 {
                return bad(field, format!("must not be negative, got {x}"));
            }
        }
        let Some(weights) = &self.weights else {
            return Ok(());
        };
        if weights.len() != model.freedom_count() {
            let (found, expected) = (weights.len(), model.freedom_count());
            return bad("weights", format!("needs {expected} numbers, got {found}"));
        }
        for (i, w) in weights.iter().enumerate() {
            if !(*w > 0.0 && w.is_finite()) {
                return bad(
                    &format!("weights[{i}]"),
                    format!("must be positive, got {w}"),
                );
            }
        }
        Ok(())
    }

    /// The weight of every freedom: as given, or the default.
    #[must_use]
    pub fn weights_of(&self, model: &Model) -> Vec<f64> {
        self.weights
            .clone()
            .unwrap_or_else(|| default_weights(model))
    }
}

/// 1 for turns, 1/ℓ² for travels.
fn default_weights(model: &Model) -> Vec<f64> {
    let lengths = lengths(model);
    let mut weights = vec![1.0; model.freedom_count()];
    for (node, length) in model.nodes.iter().zip(&lengths).skip(1) {
        let at = node.v as usize;
        let travels = match node.joint {
            Plain::Hinge | Plain::Ball => at..at,
            Plain::Slider => at..at + 1,
            Plain::Free => at + 3..at + 6,
        };
        weights[travels].fill(1.0 / (length * length));
    }
    weights
}

/// Length of each node's link [m]: to its farthest child or its centre of mass, twice; that of the tree's longest where
/// it has none.
fn lengths(model: &Model) -> Vec<f64> {
    let mut out = vec![0.0_f64; model.nodes.len()];
    for i in 1..model.nodes.len() {
        let node = &model.nodes[i];
        if node.inertia.mass > 0.0 {
            out[i] = out[i].max(2.0 * node.inertia.moment.length() / node.inertia.mass);
        }
        let parent = node.parent as usize;
        if parent != WORLD {
            out[parent] = out[parent].max(node.placement.origin.length());
        }
    }
    let longest = out.iter().fold(0.0_f64, |s, x| s.max(*x));
    let fallback = if longest > 0.0 { longest } else { 1.0 };
    for x in &mut out {
        // Lengths of rounding alone would give weights without meaning.
        if *x <= 1e-6 * fallback {
            *x = fallback;
        }
    }
    out
}

/// Everything about an adaptive body that the future depends on, besides positions and velocities.
///
/// A plain joint has one number here: combined joints (universal, cylindrical, planar) have one for each of their
/// parts, fixed joints none.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveState {
    /// By plain joint: whether it moves.
    pub active: Vec<bool>,
    /// By plain joint: selections in a row that did not choose it.
    pub idle: Vec<u16>,
    /// Steps since the last selection; 0 asks for one.
    pub clock: u32,
    /// Error estimate R of the last selection, in the units of the score.
    pub residual: f64,
}

impl AdaptiveState {
    /// Everything moves, and the next step selects; every joint may be locked at once, as if it had long been idle.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let joints = model.nodes.len() - 1;
        Self {
            active: vec![true; joints],
            idle: vec![u16::MAX; joints],
            clock: 0,
            residual: 0.0,
        }
    }

    /// All of it as numbers in a fixed order, for hashes and snapshots.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let joints = self.active.iter().zip(&self.idle);
        let joints = joints.map(|(a, i)| u64::from(*a) << 16 | u64::from(*i));
        joints.chain([u64::from(self.clock), self.residual.to_bits()])
    }

    /// Asks for a selection in the next step: after an impact, or when a force appears.
    pub const fn request(&mut self) {
        self.clock = 0;
    }

    /// Joints that move.
    #[must_use]
    pub fn active_count(&self) -> usize {
        self.active.iter().filter(|a| **a).count()
    }
}

/// Place of a plain joint's freedoms among the velocities.
#[must_use]
pub fn joint_freedoms(model: &Model, joint: usize) -> Option<std::ops::Range<usize>> {
    let node = model.nodes.get(joint + 1)?;
    let at = node.v as usize;
    Some(at..at + node.joint.freedom_count())
}
