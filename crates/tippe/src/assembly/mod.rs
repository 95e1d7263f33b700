//! Assembling: from a rough placement to one where all mates hold, what is left free, what is surplus, what contradicts.
//!
//! Reads: World (bodies, joints).  Writes: poses of dynamic bodies, once all mates hold; a report.
//! Called by: users, `tippe assemble`.
//! Source: docs/assembly.md.

mod conflict;
mod diagnosis;
mod echelon;
mod rows;
mod solve;
mod weaker;
mod words;

pub use rows::Direction;

use crate::dynamics::joint::{rotation_vector, unwrapped};
use crate::joint::{JointId, JointKind};
use crate::math::{Pose, Vec3};
use crate::model::{BodyId, BodyKind, Joint, Model};
use crate::state::{BodyState, JointMemory};
use crate::world::World;

/// Residual up to which a mate holds [m] or [rad].
pub const TOLERANCE: f64 = 1e-9;

/// The bodies that may move, and the mates between them; by connected component.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    /// By number: slot of the body.
    pub slots: Vec<u32>,
    /// By slot: the number, if the body moves.
    numbers: Vec<Option<u32>>,
    /// By number: radius of gyration [m].
    pub gyration: Vec<f64>,
    /// Slots of the mates.
    pub mates: Vec<u32>,
    /// Whether a mate ties the component to something that does not move.
    pub grounded: bool,
}

impl Parts {
    fn number(&self, slot: u32) -> Option<u32> {
        self.numbers[slot as usize]
    }

    /// Length that turns the angles of a mate into metres: the largest radius of gyration of what it moves [m].
    fn length(&self, joint: &Joint) -> f64 {
        let slots = [joint.a, Some(joint.b)].into_iter().flatten();
        let lengths = slots
            .filter_map(|s| self.number(s))
            .map(|n| self.gyration[n as usize]);
        let longest = lengths.fold(0.0, f64::max);
        if longest > 0.0 { longest } else { 1.0 }
    }
}

/// Slots of the bodies that a mate acts on.
fn ends(joint: &Joint) -> impl Iterator<Item = u32> + '_ {
    let carriers = joint.mesh.iter().flat_map(|m| m.carriers);
    [joint.a, Some(joint.b)]
        .into_iter()
        .chain(carriers)
        .flatten()
}

/// Connected components of the bodies that move, in order of their lowest slot.
pub(crate) fn components(model: &Model) -> Vec<Parts> {
    let moves = |slot: u32| {
        let body = model.bodies[slot as usize].as_ref();
        body.is_some_and(|b| b.kind == BodyKind::Dynamic)
    };
    let mut root: Vec<u32> = (0..model.bodies.len() as u32).collect();
    fn find(root: &mut [u32], mut i: u32) -> u32 {
        while root[i as usize] != i {
            root[i as usize] = root[root[i as usize] as usize];
            i = root[i as usize];
        }
        i
    }
    for (_, joint) in model.present_joints() {
        let mut first = None;
        for slot in ends(joint).filter(|&s| moves(s)) {
            let here = find(&mut root, slot);
            match first {
                None => first = Some(here),
                Some(there) => {
                    let (low, high) = (here.min(there), here.max(there));
                    root[high as usize] = low;
                    first = Some(low);
                }
            }
        }
    }
    let mut which = vec![None; model.bodies.len()];
    let mut out: Vec<Parts> = Vec::new();
    for (i, body) in model.present() {
        if body.kind != BodyKind::Dynamic {
            continue;
        }
        let top = find(&mut root, i as u32) as usize;
        let k = *which[top].get_or_insert_with(|| {
            out.push(Parts {
                numbers: vec![None; model.bodies.len()],
                ..Parts::default()
            });
            out.len() - 1
        });
        let parts: &mut Parts = &mut out[k];
        parts.numbers[i] = Some(parts.slots.len() as u32);
        parts.slots.push(i as u32);
        let mean = (body.moments.x + body.moments.y + body.moments.z) / (3.0 * body.mass);
        parts.gyration.push(if mean > 0.0 && mean.is_finite() {
            mean.sqrt()
        } else {
            1.0
        });
    }
    for (i, joint) in model.present_joints() {
        let moving = ends(joint).find(|&s| moves(s));
        let Some(k) = moving.and_then(|s| which[find(&mut root, s) as usize]) else {
            continue;
        };
        out[k].mates.push(i as u32);
        let rows = joint.desc.kind.rank() > 0;
        out[k].grounded |= rows && (joint.a.is_none_or(|a| !moves(a)) || !moves(joint.b));
    }
    out
}

/// How a body moves in a free motion: velocity of its centre of mass, and angular velocity, world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist {
    /// The body.
    pub body: BodyId,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity [rad/s].
    pub angular_velocity: Vec3,
}

/// A motion that the mates leave free.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeMotion {
    /// In words.
    pub text: String,
    /// A sample: how every body that takes part moves, per unit of the first mate's motion.
    pub twists: Vec<Twist>,
}

/// A row that holds nothing that others do not hold already.
#[derive(Clone, Debug, PartialEq)]
pub struct SurplusRow {
    /// The mate.
    pub mate: JointId,
    /// What it would keep from moving.
    pub direction: Direction,
    /// In words.
    pub text: String,
}

/// A change that takes surplus rows away and leaves every motion as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The mate.
    pub mate: JointId,
    /// What it may be in place of what it is; `None`: it may go.
    pub weaker: Option<JointKind>,
    /// In words.
    pub text: String,
}

/// A set of mates that cannot hold together, though any of them can be left out and the others hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The mates.
    pub mates: Vec<JointId>,
    /// In words.
    pub text: String,
}

/// What came of assembling.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// Whether all mates hold.
    pub solved: bool,
    /// Bodies that may move, and mates.
    pub bodies: usize,
    /// Mates.
    pub mates: usize,
    /// Rows of the mates, and how many of them are independent.
    pub rows: usize,
    /// Rank of the rows.
    pub rank: usize,
    /// Worst residual before and after [m] or [rad].
    pub residuals: [f64; 2],
    /// Iterations of the solver, over all components and attempts.
    pub iterations: usize,
    /// Times that it had to start again from a disturbed placement.
    pub restarts: usize,
    /// How far bodies were moved: translation [m] and turn [rad], for those that were.
    pub moved: Vec<(BodyId, f64, f64)>,
    /// Degrees of freedom left.
    pub freedoms: usize,
    /// Motions that are left free, apart from components that move as a whole.
    pub motions: Vec<FreeMotion>,
    /// Names of components that nothing ties to what does not move, by a body of each: six more freedoms each.
    pub floating: Vec<BodyId>,
    /// Surplus rows.
    pub surplus: Vec<SurplusRow>,
    /// Changes that take them away.
    pub proposals: Vec<Proposal>,
    /// Sets of mates that contradict each other.
    pub conflicts: Vec<Conflict>,
    /// Branches that were taken where a mate allows two.
    pub branches: Vec<String>,
    /// Contradictions that were not looked for, since there were too many.
    pub limits: Vec<String>,
    /// What else was left out because it would take too long.
    pub notes: Vec<String>,
}

impl World {
    /// Moves the dynamic bodies so that all mates hold, by as little as possible; if they cannot, nothing moves and the report says which
    /// mates contradict each other. Links of articulations stay where they are.
    pub fn assemble(&mut self) -> Assembly {
        let start = self.state.bodies.clone();
        let mut placed = start.clone();
        let mut report = Assembly::default();
        let all = components(&self.model);
        for parts in &all {
            self.begin(parts, &start, &mut report);
            let attempt =
                solve::solve(&self.model, parts, &parts.mates, &start, &self.state.joints);
            report.iterations += attempt.iterations;
            report.restarts += attempt.restarts;
            if attempt.solved {
                for &slot in &parts.slots {
                    placed[slot as usize] = attempt.states[slot as usize];
                }
            } else {
                conflict::find(&self.model, parts, &start, &self.state.joints, &mut report);
            }
        }
        report.solved = report.conflicts.is_empty() && report.limits.is_empty();
        if report.solved {
            self.take_over(&start, &placed, &mut report);
            self.examine(&all, &mut report);
        } else {
            report.residuals[1] = report.residuals[0];
        }
        report
    }

    /// What the mates leave free and what is surplus, where the bodies are.
    #[must_use]
    pub fn diagnose(&self) -> Assembly {
        let mut report = Assembly::default();
        let all = components(&self.model);
        for parts in &all {
            self.begin(parts, &self.state.bodies, &mut report);
        }
        report.residuals[1] = report.residuals[0];
        report.solved = report.residuals[0] <= TOLERANCE;
        self.examine(&all, &mut report);
        report
    }

    fn begin(&self, parts: &Parts, states: &[BodyState], report: &mut Assembly) {
        report.bodies += parts.slots.len();
        report.mates += parts.mates.len();
        let rows = solve::gather(&self.model, parts, &parts.mates, states, &self.state.joints);
        report.residuals[0] = report.residuals[0].max(solve::worst(&rows));
    }

    fn examine(&self, all: &[Parts], report: &mut Assembly) {
        for parts in all {
            diagnosis::examine(
                &self.model,
                parts,
                &self.state.bodies,
                &self.state.joints,
                report,
            );
        }
    }

    /// Puts the bodies where they belong; angles count on from where they were.
    fn take_over(&mut self, start: &[BodyState], placed: &[BodyState], report: &mut Assembly) {
        for i in 0..placed.len() {
            let Some(body) = &self.model.bodies[i] else {
                continue;
            };
            if placed[i] == start[i] {
                continue;
            }
            let id = self.model.id(i);
            let pose = placed[i].frame(body);
            let turn = rotation_vector(placed[i].rotation * start[i].rotation.conjugate());
            report.moved.push((
                id,
                (placed[i].position - start[i].position).length(),
                turn.length(),
            ));
            if self.set_pose(id, pose).is_ok() {
                // To the bit what was solved.
                self.state.bodies[i].position = placed[i].position;
                self.state.bodies[i].rotation = placed[i].rotation;
            }
        }
        let rows = components(&self.model);
        for parts in &rows {
            let rows = solve::gather(
                &self.model,
                parts,
                &parts.mates,
                &self.state.bodies,
                &self.state.joints,
            );
            report.residuals[1] = report.residuals[1].max(solve::worst(&rows));
        }
        let angles: Vec<(usize, f64)> = self
            .model
            .present_joints()
            .map(|(i, j)| {
                let place = j.place(&self.state.bodies, &self.state.joints);
                (
                    i,
                    unwrapped(place.turn(j.desc.kind).1, self.state.joints[i].angle),
                )
            })
            .collect();
        for (i, angle) in angles {
            self.state.joints[i] = JointMemory {
                angle,
                ..JointMemory::default()
            };
        }
        words::branches(&self.model, &self.state, &mut report.branches);
    }
}

/// Pose of a body moved by ξ = (translation, radius of gyration × rotation).
pub(crate) fn moved(state: &BodyState, xi: &[f64; 6], gyration: f64) -> BodyState {
    let turn = Vec3::new(xi[3], xi[4], xi[5]) / gyration;
    BodyState {
        position: state.position + Vec3::new(xi[0], xi[1], xi[2]),
        rotation: crate::math::rotation::normalized(
            crate::math::rotation::exp(turn) * state.rotation,
        ),
        ..*state
    }
}

/// The frame that a mate is described in: that on B.
pub(crate) fn frame(joint: &Joint, states: &[BodyState]) -> Pose {
    joint.place(states, &[]).b
}
