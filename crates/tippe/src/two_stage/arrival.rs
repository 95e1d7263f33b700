//! Times of impact: which contacts will hit in the step under way, and when the first of them does.
//!
//! Reads: Model, State, touches, solver bodies.  Writes: marks on touches.
//! Called by: the methods that stop at times of impact.
//! Source: [Bender06] §3 (the detector stops the step at the time of impact); regula falsi with halved ends.

use crate::collide::Contact;
use crate::dynamics::integrate;
use crate::model::{BodyKind, Model};
use crate::report::StepReport;
use crate::state::{BodyState, State};
use crate::two_stage::Scratch;
use crate::work::Work;

/// Which impacts a step stops at, and how exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopLimits {
    /// Gap that counts as touching [m].
    pub depth_tolerance: f64,
    /// Velocity that counts as none [m/s].
    pub velocity_tolerance: f64,
    /// Most stops of a step [1]; 0 answers all impacts inside the step.
    pub substeps: u32,
    /// Contacts of an island beyond which its impacts are answered inside the step [1].
    pub contacts: u32,
}

impl StopLimits {
    /// Whether an island has so many contacts that its impacts are answered inside the step.
    pub(crate) const fn is_dense(&self, contacts: usize) -> bool {
        contacts > self.contacts as usize
    }
}

/// Trials of a time of impact.
const ARRIVAL_TRIALS_MAX: u32 = 80;

/// Whether one more stop for an impact costs no more than stops may. Each of them solves dense islands anew, which await nothing: together
/// they may be asked for as many contacts as the stops of an island of few.
pub(crate) fn is_affordable(limits: &StopLimits, stops: u32, work: &Work) -> bool {
    let sizes = work.stage.islands.iter().map(|p| p.rows.len());
    let dense: usize = sizes.filter(|&n| limits.is_dense(n)).sum();
    let made = u64::from(limits.substeps.saturating_sub(stops));
    made * dense as u64 <= u64::from(limits.substeps) * u64::from(limits.contacts)
}

/// Marks the contacts whose impact is worth a stop: not touching yet, faster than what a resting body gains in the step, and in an island of
/// few contacts. Says whether there is one. If the step may not stop any more it marks none, and the report counts the limit.
pub(crate) fn watch(
    model: &Model,
    limits: &StopLimits,
    may_stop: bool,
    work: &mut Work,
    report: &mut StepReport,
) -> bool {
    let Scratch {
        step_contacts,
        islands,
        ..
    } = &mut work.stage;
    let slow = 0.5 * model.gravity.length() * report.dt + limits.velocity_tolerance;
    let mut any = false;
    for island in islands.iter() {
        let dense = limits.is_dense(island.rows.len());
        for step_contact in &mut step_contacts[island.rows.clone()] {
            let worth = !dense
                && step_contact.gap_start > limits.depth_tolerance
                && step_contact.bounce.is_some_and(|b| b.speed > slow);
            any |= worth;
            step_contact.awaited = worth && may_stop;
        }
    }
    let barred = any && !may_stop && limits.substeps > 0;
    report.work.caps_hit += u32::from(barred);
    any && may_stop
}

/// The first time in the step at which a marked contact touches, with the velocities just found [s].
pub(crate) fn first(
    model: &Model,
    limits: &StopLimits,
    state: &State,
    work: &mut Work,
    h: f64,
) -> Option<f64> {
    let mut first: Option<f64> = None;
    for i in 0..work.stage.step_contacts.len() {
        let step_contact = work.stage.step_contacts[i];
        if !step_contact.awaited {
            continue;
        }
        let c = work.detection.contacts[step_contact.contact as usize];
        let mut at = |time: f64| gap(&c, model, state, work, time);
        let end = first.unwrap_or(h);
        // What a fast pair was seen with is a feature from then on, not before.
        let mut start = (0.0, step_contact.gap_start);
        if c.seen > 0.0 {
            if c.seen >= end {
                continue;
            }
            start = (c.seen, at(c.seen));
            if start.1 <= 0.0 {
                first = Some(c.seen);
                continue;
            }
        }
        if let Some(time) = reach(at, start, end, limits.depth_tolerance) {
            first = Some(time);
        }
    }
    // What touches at the very end belongs to the next step.
    first.filter(|&time| time < h * (1.0 - 1e-12))
}

/// The gap of a contact at a time in the step.
fn gap(c: &Contact, model: &Model, state: &State, work: &mut Work, time: f64) -> f64 {
    let (a, b) = c.bodies();
    let mut then = |slot: usize| -> BodyState {
        let s = &state.bodies[slot];
        let Some(body) = &model.bodies[slot] else {
            return *s;
        };
        if let BodyKind::Link { articulation, .. } = body.kind {
            let Work {
                stage, predicted, ..
            } = &mut *work;
            stage
                .bodies
                .look_ahead(model, articulation, state, time, predicted);
            return predicted[slot];
        }
        let solved = &work.stage.bodies[slot];
        let start = BodyState {
            velocity: solved.v,
            angular_velocity: solved.w,
            ..*s
        };
        let a = integrate::acceleration(model, body, &state.loads[slot]);
        integrate::advance(body, &start, a, state.time, time)
    };
    let (then_a, then_b) = (then(a), then(b));
    c.at(&then_a, &then_b).gap
}

/// A time between a start with an open gap and `end` at which the gap is within half the tolerance above zero; `None` if it is open at the end.
pub(super) fn reach(
    mut gap: impl FnMut(f64) -> f64,
    start: (f64, f64),
    end: f64,
    tolerance: f64,
) -> Option<f64> {
    let ((mut low, mut at_low), mut high) = (start, end);
    let mut at_high = gap(end);
    if at_high > 0.0 {
        return None;
    }
    let mut last_side = 0;
    for _ in 0..ARRIVAL_TRIALS_MAX {
        // Aim a quarter of the tolerance above the surface, so that the side with an open gap is found.
        let (f_low, f_high) = (at_low - 0.25 * tolerance, at_high - 0.25 * tolerance);
        let time = low + (high - low) * (f_low / (f_low - f_high));
        if !(time > low && time < high) {
            break;
        }
        let at = gap(time);
        if (0.0..=0.5 * tolerance).contains(&at) {
            return Some(time);
        }
        if at > 0.0 {
            (low, at_low) = (time, at);
            if last_side == 1 {
                at_high = 0.5 * (at_high - 0.25 * tolerance) + 0.25 * tolerance;
            }
            last_side = 1;
        } else {
            (high, at_high) = (time, at);
            if last_side == -1 {
                at_low = 0.5 * (at_low - 0.25 * tolerance) + 0.25 * tolerance;
            }
            last_side = -1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_touch_of_a_parabola_from_above() {
        let fall = |t: f64| 0.003 - 0.2 * t - 4.905 * t * t;
        let time = reach(fall, (0.0, 0.003), 1.0 / 60.0, 1e-9).unwrap();
        assert!((0.0..=0.5e-9).contains(&fall(time)), "{}", fall(time));
        assert_eq!(reach(fall, (0.0, 0.003), 1e-3, 1e-9), None);
    }
}
