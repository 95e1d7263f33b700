//! Encoding of what `events` carries from step to step.
//!
//! Reads: values or bytes.  Writes: bytes or values.
//! Called by: `snapshot`.
//! Source: the heap is written as its pairs in the order of their names; any order of the heap gives the same motion.

use super::codec::{Code, Input, Output, code_struct};
use crate::error::SnapshotError;
use crate::math::Vec3;
use crate::method::events::near::{Near, Pair};
use crate::method::events::schedule::{RestingPair, Schedule, Start};
use crate::model::Model;
use crate::shape::Aabb;
use crate::state::{PairKey, State};

code_struct!(Start { time, state });
code_struct!(RestingPair { key, idle, handed });
code_struct!(Pair {
    key,
    next,
    arrives,
    sensor
});
code_struct!(Aabb { min, max });

/// Writes the schedule, unless the user has changed the world since: then the next step makes a new one anyway.
pub(super) fn write(model: &Model, state: &State, out: &mut Output) {
    let s = &state.events;
    let lasts = s.started && s.edits == model.edits;
    lasts.write(out);
    if !lasts {
        return;
    }
    s.now.write(out);
    s.carry.write(out);
    s.frame.write(out);
    s.flights.write(out);
    s.grouped.write(out);
    s.boxes.write(out);
    s.near.sorted().write(out);
    s.near.struck().write(out);
    s.resting.write(out);
    s.told.write(out);
    s.loaded.write(out);
    s.group.is_some().write(out);
    if let Some(group) = &s.group {
        group.write(out);
        group.articulations.write(out);
    }
}

/// Reads it back.
pub(super) fn read(
    input: &mut Input<'_>,
    model: &Model,
    state: &mut State,
) -> Result<(), SnapshotError> {
    if !bool::read(input)? {
        return Ok(());
    }
    let mut s = Schedule {
        started: true,
        edits: model.edits,
        now: Code::read(input)?,
        carry: Code::read(input)?,
        frame: Code::read(input)?,
        flights: Code::read(input)?,
        grouped: Code::read(input)?,
        boxes: Code::read(input)?,
        ..Schedule::default()
    };
    let pairs: Vec<Pair> = Code::read(input)?;
    let struck: Vec<(PairKey, u32)> = Code::read(input)?;
    s.resting = Code::read(input)?;
    s.told = Code::read(input)?;
    s.loaded = Code::read(input)?;
    if bool::read(input)? {
        let mut group: State = Code::read(input)?;
        group.articulations = Code::read(input)?;
        group.quiet = vec![0.0; group.bodies.len()];
        s.group = Some(Box::new(group));
    }
    if !consistent(model, state, &s, &pairs) {
        return input.corrupt();
    }
    s.near = Near::default();
    s.near.clear(model.bodies.len());
    for pair in pairs {
        s.near.insert(pair);
    }
    s.near.strike(struck);
    state.events = s;
    Ok(())
}

/// Whether arrays by slot agree in length and every name exists.
fn consistent(model: &Model, state: &State, s: &Schedule, pairs: &[Pair]) -> bool {
    let slots = model.bodies.len();
    let shapes: usize = model.present().map(|(_, b)| b.shapes.len()).sum();
    let exists = |p: &PairKey| {
        let has = |slot: u32, shape: u32| {
            let body = model.bodies.get(slot as usize).and_then(Option::as_ref);
            body.is_some_and(|b| (shape as usize) < b.shapes.len())
        };
        has(p.body_a, p.shape_a) && has(p.body_b, p.shape_b)
    };
    let group = s.group.as_ref().is_none_or(|g| {
        g.bodies.len() == slots
            && g.loads.len() == slots
            && g.joints.len() == state.joints.len()
            && g.articulations.len() == state.articulations.len()
            && g.contacts.iter().all(|c| exists(&c.key.pair))
            && g.touching.iter().chain(&g.sensed).all(exists)
    });
    let finite = |v: Vec3| v.is_finite();
    group
        && s.flights.len() == slots
        && s.grouped.len() == slots
        && (s.group.is_some() || !s.grouped.contains(&true))
        && s.boxes.len() == shapes
        && s.flights
            .iter()
            .all(|f| f.state.is_finite() && finite(f.state.position))
        && s.now.is_finite()
        && s.carry.is_finite()
        && pairs.iter().all(|p| exists(&p.key))
        && s.resting.iter().all(|r| exists(&r.key))
}
