//! Events of a substep: what began and ended to touch, what hit. Who entered or left a sensor is told by `crossings`.
//!
//! Reads: Records of the substep, pairs that touched before.  Writes: events, State (touching pairs), counts.
//! Called by: the methods, at the end of a substep; `sort` at the end of a step.
//! Source: docs/methods/contract.md, "The certificate".

use super::record::Records;
use crate::math::Vec3;
use crate::model::Model;
use crate::report::{Event, EventKind, StepReport};
use crate::state::{PairKey, State};

/// Approach speed under which an arrival is no event and no collision [m/s].
const IMPACT_SPEED: f64 = 1e-6;

/// Makes the events of the substep that ends now. Pairs for which `idle` holds were not looked at: what they touch stays as
/// it was. `touching` is scratch.
pub(crate) fn of_substep(
    model: &Model,
    idle: impl Fn(&PairKey) -> bool,
    records: &Records,
    state: &mut State,
    touching: &mut Vec<PairKey>,
    events: &mut Vec<Event>,
    report: &mut StepReport,
) {
    let start = state.time - report.dt;
    touching.clear();
    for r in &records.contacts[records.substep..] {
        if touching.last() != Some(&r.key.pair) {
            touching.push(r.key.pair);
        }
        report.contacts += usize::from(r.pressed());
        for (time, speed) in r.impacts.into_iter().filter(|i| i.1 > IMPACT_SPEED) {
            report.collisions += 1;
            events.push(Event {
                kind: EventKind::Impact,
                time: start + time,
                speed,
                point: r.impact_point,
                ..event(model, &r.key.pair)
            });
        }
    }
    keep_idle(idle, touching, state);
    changes(model, &state.touching, touching, state.time, events);
    std::mem::swap(&mut state.touching, touching);
}

/// Puts the events of all substeps into their fixed order.
pub(crate) fn sort(events: &mut [Event]) {
    events.sort_unstable_by(|x, y| {
        let key = |e: &Event| (e.kind, e.body_a, e.body_b, e.shape_a, e.shape_b);
        let numbers = |e: &Event| [e.time, e.speed, e.point.x, e.point.y, e.point.z];
        let pairs = numbers(x).into_iter().zip(numbers(y));
        let order = pairs.map(|(a, b)| a.total_cmp(&b));
        order.fold(key(x).cmp(&key(y)), |sum, next| sum.then(next))
    });
}

/// What sleeps or rests is not looked at: what it touches stays as it was.
fn keep_idle(idle: impl Fn(&PairKey) -> bool, touching: &mut Vec<PairKey>, state: &State) {
    let found = touching.len();
    touching.extend(state.touching.iter().filter(|p| idle(p)));
    if touching.len() > found {
        touching.sort_unstable();
    }
}

/// An event of a pair, with what all kinds have in common.
pub(super) fn event(model: &Model, pair: &PairKey) -> Event {
    Event {
        kind: EventKind::Begin,
        time: 0.0,
        body_a: model.id(pair.body_a as usize),
        body_b: model.id(pair.body_b as usize),
        shape_a: pair.shape_a,
        shape_b: pair.shape_b,
        point: Vec3::ZERO,
        speed: 0.0,
    }
}

/// Pairs that are in one sorted list and not in the other.
fn changes(model: &Model, old: &[PairKey], new: &[PairKey], time: f64, out: &mut Vec<Event>) {
    let mut missing = |from: &[PairKey], other: &[PairKey], kind| {
        let mut at = 0;
        for pair in from {
            while other.get(at).is_some_and(|o| o < pair) {
                at += 1;
            }
            if other.get(at) == Some(pair) {
                continue;
            }
            out.push(Event {
                kind,
                time,
                ..event(model, pair)
            });
        }
    };
    missing(new, old, EventKind::Begin);
    missing(old, new, EventKind::End);
}
