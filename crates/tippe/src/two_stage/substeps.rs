//! How a step is divided: into as many substeps as its stiffest joint needs to be followed, and twice as many where joints did not meet.
//!
//! Reads: Model (joints), State (joint forces of the last step).  Writes: State, records, StepReport of the whole step.
//! Called by: the methods that step in two stages.
//! Source: docs/methods/two-stage.md, "Substeps".

use crate::error::StepError;
use crate::interrupt;
use crate::joint::JointKind;
use crate::math::{Vec3, tangents};
use crate::model::{Body, Model};
use crate::report::{SolverWork, StepReport};
use crate::state::{JointMemory, State};
use crate::work::Work;
/// Turn of the stiffest mode of a mechanism that one part of a step may take [rad]; beyond 2 the motion would be unstable.
pub(crate) const TURN_MAX: f64 = 0.7;
/// A division into parts is taken back when this many times fewer would do: a step length that changes often costs energy.
const SUBSTEPS_SLACK: f64 = 64.0;
/// Where bodies touch, energy is lost anyway, and impacts ask for parts that the rest that follows does not: there a division is halved
/// when so many times fewer would do, in one of so many steps.
const SUBSTEPS_SLACK_TOUCHING: f64 = 4.0;
const SUBSTEPS_PATIENCE: u64 = 4;
/// Of a net that was divided because it opened, in one of so many: to try and fail costs as much as a part.
const NET_PATIENCE: u64 = 2;
/// One part of a divided step: the how-manieth of how many, and how many there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub index: u32,
    pub count: u32,
    pub count_max: u32,
}

/// How a part of a divided step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Joints met.
    Met,
    /// They did not: a finer division may help.
    Missed,
    /// A joint network opened so far that a finer division is wanted.
    Stretched,
    /// It did, and a finer division is not allowed for that.
    StretchedMost,
}

/// Advances the state by `h`, part by part, until a division is fine enough or the finest. What the step started from is in
/// `work.backup`; `advance` takes the state through one part.
pub(crate) fn divide(
    model: &Model,
    h: f64,
    count_max: u32,
    state: &mut State,
    work: &mut Work,
    mut advance: impl FnMut(Part, &mut State, &mut Work, &mut StepReport) -> Result<Verdict, StepError>,
) -> Result<StepReport, StepError> {
    let mut count = substeps(model, state, h).min(count_max);
    // Work of attempts that were given up counts too.
    let mut spent = SolverWork::default();
    loop {
        let mut report = StepReport::default();
        work.records.clear();
        work.events.clear();
        let mut missed = false;
        let (mut stretched, mut divides) = (false, false);
        for index in 0..count {
            let part = Part {
                index,
                count,
                count_max,
            };
            interrupt::check()?;
            let verdict = advance(part, state, work, &mut report)?;
            missed |= verdict == Verdict::Missed;
            divides |= verdict == Verdict::Stretched;
            stretched |= verdict == Verdict::StretchedMost;
            if divides || (missed && count < count_max) {
                break;
            }
        }
        interrupt::check()?;
        if (!missed || count >= count_max) && !divides {
            report.dt = h;
            state.time = work.backup.time + h;
            report.time = state.time;
            state.step_count = work.backup.step_count + 1;
            state.substeps = count;
            spent.caps_hit += u32::from(missed) + u32::from(stretched);
            report.work.add(&spent);
            work.tell(model, h);
            return Ok(report);
        }
        spent.add(&report.work.given_up());
        let loads = std::mem::take(&mut state.loads);
        state.copy_from(&work.backup);
        state.loads = loads;
        count *= 2;
    }
}

/// Whether the joints met in the last substep, and the guess of their stiffness was right.
pub(crate) fn met(model: &Model, state: &State, work: &Work, h: f64, count: u32) -> bool {
    work.stage.met && turns(model, state, h) <= 2.0 * f64::from(count)
}

/// How many parts a step of length `h` is divided into: one, or a power of two with a margin, changed seldom.
fn substeps(model: &Model, state: &State, h: f64) -> u32 {
    let needed = turns(model, state, h);
    let last = state.substeps.max(1);
    // Nets do not ask: they are divided where they stretched, and that is taken back little by little.
    let netted = |m: &JointMemory| m.force == 0.0 && m.first != [0.0; 6];
    if 2.0 * needed <= f64::from(last) && last > 1 && state.joints.iter().any(netted) {
        return if state.step_count.is_multiple_of(NET_PATIENCE) {
            last / 2
        } else {
            last
        };
    }
    if needed > f64::from(last) || needed * SUBSTEPS_SLACK < f64::from(last) {
        if needed > 1.0 {
            (2.0 * needed.min(1e6)).ceil() as u32
        } else {
            1
        }
        .next_power_of_two()
    } else if !state.contacts.is_empty()
        && needed * SUBSTEPS_SLACK_TOUCHING < f64::from(last)
        && state.step_count.is_multiple_of(SUBSTEPS_PATIENCE)
    {
        (last / 2).max(1)
    } else {
        last
    }
}
/// Length of the step in units of what one part may take: a joint under the force F on a lever r lets its bodies swing like
/// pendulums, with ω² ≤ F K / r, and the two halves of a step follow that like a leapfrog.
pub(crate) fn turns(model: &Model, state: &State, h: f64) -> f64 {
    let mut fastest: f64 = 0.0;
    for (i, joint) in model.present_joints() {
        let force = state.joints[i].force;
        if force == 0.0 {
            continue;
        }
        for (slot, local) in [(joint.a, &joint.local_a), (Some(joint.b), &joint.local_b)] {
            let Some(Some(body)) = slot.map(|slot| &model.bodies[slot as usize]) else {
                continue;
            };
            let r = local.position.length();
            if !body.is_free() || r == 0.0 {
                continue;
            }
            let squared = |swing: f64| force * (body.inverse_mass + r * r * swing) / r;
            let alone = swing(body, local.position / r);
            if squared(alone) > fastest {
                // Where it cannot turn without others, it swings as slowly as they do.
                let others = slot.map_or(0.0, |slot| turned_along(model, slot));
                let shared = if others < f64::INFINITY {
                    alone / (1.0 + alone * others)
                } else {
                    0.0
                };
                fastest = fastest.max(squared(shared));
            }
        }
    }
    h * fastest.sqrt() / TURN_MAX
}
/// Least moment of inertia of the bodies that turn with one because joints keep their axes parallel [kg·m²]; infinite if one cannot turn.
fn turned_along(model: &Model, slot: u32) -> f64 {
    let mut moment = 0.0;
    for (_, joint) in model.present_joints() {
        let rigid = matches!(
            joint.desc.kind,
            JointKind::Slider | JointKind::Fixed | JointKind::Orientation
        );
        let other = if joint.b == slot {
            joint.a
        } else if joint.a == Some(slot) {
            Some(joint.b)
        } else {
            continue;
        };
        if rigid {
            let body = other.and_then(|o| model.bodies[o as usize].as_ref());
            moment += match body {
                Some(body) if body.is_free() => 1.0 / body.inverse_moments.max_element(),
                _ => f64::INFINITY,
            };
        }
    }
    moment
}
/// Largest inverse moment of a body about an axis across the direction `d` (body axes) [1/(kg·m²)].
fn swing(body: &Body, d: Vec3) -> f64 {
    let (t1, t2) = tangents(body.axes.conjugate() * d);
    let j = body.inverse_moments;
    let (p, q, r) = (t1.dot(j * t1), t1.dot(j * t2), t2.dot(j * t2));
    0.5 * (p + r) + (0.25 * (p - r) * (p - r) + q * q).sqrt()
}
