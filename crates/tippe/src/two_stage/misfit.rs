//! Joints that do not fit: held as they were found, so that nothing of the misfit becomes velocity, and closed by pose at a bounded speed.
//!
//! A joint apart is held with its frame on A shifted to where B has its own. Its rows are then those of a joint that fits: exact, acting at
//! one point, and at rest with the bodies. The pose-only pass takes the misfit away little by little.
//!
//! Reads: joints and their places.  Writes: joint blocks, displacements of the pose-only pass.
//! Called by: `joints`, `depenetrate`, `rest`.
//! Source: docs/methods/two-stage.md, "Joints that do not fit".

use super::joint_targets::translation;
use crate::dynamics::joint::JointPlace;
use crate::joint::{Freedom, JointKind};
use crate::model::{Joint, Model};
use crate::solver::contact::ContactRow;
use crate::solver::ends::Bodies;
use crate::solver::joint::{JointBlock, Misfit};
use crate::state::{BOUNDED, State};
use crate::two_stage::Island;

/// Distance [m] or angle [rad] beyond which a joint does not fit. What a step leaves of a joint that it holds is far below.
pub(crate) const JOINT_APART: f64 = 1e-4;
/// Fastest that a joint is closed by its velocity [m/s] or [rad/s]: what would need more does not fit either.
pub(crate) const CLOSING_VELOCITY: f64 = 0.1;
/// Distance [m] or angle [rad] below which a joint counts as closed.
const CLOSED: f64 = 1e-11;
/// Least of the highest speeds at which a joint that does not fit is closed [m/s].
const CLOSING_SPEED: f64 = 1.0;
/// Time in which a body may be moved by its own size for that [s].
const CLOSING_TIME: f64 = 0.1;

impl JointBlock {
    /// A joint at its place, held as it is there if it is farther apart than `most`.
    pub(crate) fn as_found(
        index: usize,
        joint: &Joint,
        world: u32,
        place: &JointPlace,
        most: f64,
        bodies: &Bodies,
    ) -> Self {
        let kind = joint.desc.kind;
        let held = place.held(kind);
        if held.residuals[..held.count].iter().all(|r| r.abs() <= most) {
            return Self::new(index, joint, world, place, bodies);
        }
        let shift = place.misfit(kind);
        let shifted = place.shifted(&shift);
        let mut block = Self::new(index, joint, world, &shifted, bodies);
        block.misfit = Some(Misfit {
            shift,
            kept: block.held.residuals,
        });
        block
    }

    /// Whether the joint does not fit, or is beyond its limits.
    pub(crate) fn is_apart(&self, joint: &Joint) -> bool {
        self.misfit.is_some() || self.beyond_limits(joint) > JOINT_APART
    }

    /// Whether the pass has something to close beyond rounding.
    pub(crate) fn has_to_close(&self) -> bool {
        let mut held = self.target[..self.held.count].iter();
        let mut limits = self.bounded.iter().filter(|b| b.low < b.high);
        held.any(|t| t.abs() > CLOSED) || limits.any(|b| b.target.abs() > CLOSED)
    }

    /// Aims at closing a part of residuals and of what is beyond limits, as displacements; motors stand still.
    pub(crate) fn aim_at_fitting(&mut self, joint: &Joint, place: &JointPlace, part: f64) {
        self.aim_at_closing(part);
        self.turn_axes_back(joint.desc.kind, place, part);
        for k in 0..BOUNDED {
            let bounded = &mut self.bounded[k];
            (bounded.low, bounded.high) = (0.0, 0.0);
            if bounded.mass == 0.0 || k % 2 == 0 {
                continue;
            }
            let (freedom, value): (Freedom, f64) = if k < 2 {
                (joint.desc.rotation, self.values[0])
            } else {
                (translation(joint), self.values[1])
            };
            let Some((min, max)) = freedom.limits else {
                continue;
            };
            if value < min {
                (bounded.low, bounded.high) = (0.0, f64::INFINITY);
                bounded.target = part * (min - value);
            } else if value > max {
                (bounded.low, bounded.high) = (f64::NEG_INFINITY, 0.0);
                bounded.target = part * (max - value);
            }
        }
    }

    /// The rows of axes that should be parallel measure the sine of their angle; where it is obtuse the way back is the angle.
    fn turn_axes_back(&mut self, kind: JointKind, place: &JointPlace, part: f64) {
        let first = match kind {
            JointKind::Hinge => 3,
            JointKind::Cylindrical | JointKind::Screw { .. } => 2,
            _ => return,
        };
        let (z_a, z_b) = (place.axis_a(), place.axis_b());
        let (sine, cosine) = (z_a.cross(z_b).length(), z_a.dot(z_b));
        if cosine < 0.0 && sine > 0.0 {
            let scale = libm::atan2(sine, cosine) / sine;
            for i in first..first + 2 {
                self.target[i] = -part * scale * self.held.residuals[i];
            }
        }
    }
}

/// How far a joint may be apart and still fit, in a substep of length `h`.
pub(crate) fn allowance(h: f64) -> f64 {
    JOINT_APART.min(CLOSING_VELOCITY * h)
}

/// Whether a joint is farther apart than `most`.
pub(crate) fn is_open(model: &Model, state: &State, slot: u32, most: f64) -> bool {
    model.joints[slot as usize].as_ref().is_some_and(|joint| {
        let place = joint.place(&state.bodies, &state.joints);
        let held = place.held(joint.desc.kind);
        held.residuals[..held.count].iter().any(|r| r.abs() > most)
    })
}

/// How far each joint may be apart and still fit, by its place among the joints of the islands. Where one does not fit, closing it opens its
/// neighbours, and none of them is closed by velocity.
pub(crate) fn allowances(
    model: &Model,
    state: &State,
    islands: &[Island],
    joints: &[u32],
    h: f64,
    out: &mut Vec<f64>,
) {
    let most = allowance(h);
    out.clear();
    out.resize(joints.len(), most);
    for island in islands {
        let range = island.joint_blocks.clone();
        let mut of_island = joints[range.clone()].iter();
        if of_island.any(|&slot| is_open(model, state, slot, most)) {
            out[range].fill(0.0);
        }
    }
}

/// Shortens the displacements of the bodies of an island, all alike, to what closing may move a body in `h`: one metre a second, or its own
/// size in a tenth of one, if that is more; and no faster about its centre than that moves its surface. Says whether nothing had to be shortened.
pub(crate) fn bound_closing(
    model: &Model,
    h: f64,
    pulls: &[JointBlock],
    rows: &[ContactRow],
    slots: &mut Vec<u32>,
    bodies: &mut Bodies,
) -> bool {
    slots.clear();
    slots.extend(pulls.iter().flat_map(|l| [l.a, l.b]));
    slots.extend(rows.iter().flat_map(|r| [r.a, r.b]));
    slots.retain(|&s| bodies[s as usize].inverse_mass > 0.0 || bodies.is_link(s));
    slots.sort_unstable();
    slots.dedup();
    let mut part: f64 = 1.0;
    for &slot in slots.iter() {
        let Some(Some(body)) = model.bodies.get(slot as usize) else {
            continue;
        };
        let reach = if body.reach.is_finite() {
            body.reach
        } else {
            0.0
        };
        let speed = CLOSING_SPEED.max(2.0 * reach / CLOSING_TIME);
        let spin = if reach > 0.0 {
            speed / reach
        } else {
            2.0 / CLOSING_TIME
        };
        let (moved, turned) = (
            bodies[slot as usize].v.length(),
            bodies[slot as usize].w.length(),
        );
        let fits = |x: f64, most: f64| if x > most { most / x } else { 1.0 };
        part = part.min(fits(moved, speed * h)).min(fits(turned, spin * h));
    }
    // What is no number is nothing.
    let part = if part.is_finite() { part } else { 0.0 };
    if part < 1.0 {
        bodies.scale(slots, part);
    }
    part == 1.0
}
