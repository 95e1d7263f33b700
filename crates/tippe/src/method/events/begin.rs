//! How a step of `events` begins: it goes on where the last one ended, or makes a new schedule if the world was changed.
//!
//! Reads: Model, State, Work.  Writes: Schedule and scratch.
//! Called by: `method::events`.
//! Source: docs/methods/events.md, "Time".

use super::schedule::{Schedule, Start};
use super::{EventsParams, Run, Scratch};
use crate::error::StepError;
use crate::math::Vec3;
use crate::model::{Body, BodyKind, Model};
use crate::motion::Motion;
use crate::report::StepReport;
use crate::shape::Shape;
use crate::state::{BodyState, Load, State};
use crate::work::Work;

/// Part of a substep by which the end of a step may be off a tick and still is that tick [1].
const SNAP: f64 = 1e-9;

impl<'a> Run<'a> {
    /// Takes up the schedule of the state, or makes one.
    pub(super) fn begin(
        model: &'a Model,
        params: &'a EventsParams,
        nobody: &'a Body,
        state: &mut State,
        work: &'a mut Work,
    ) -> Result<Self, StepError> {
        check(model)?;
        let s = std::mem::take(&mut state.events);
        let scratch = std::mem::take(&mut work.schedule);
        work.records.clear();
        work.events.clear();
        let fresh = scratch.valid && scratch.time == state.time && s.started;
        let Scratch {
            masked,
            rules,
            driven,
            ties,
            tie_of,
            ahead,
            ahead_report,
            ahead_records,
            ahead_events,
            search,
            items,
            first_item,
            memory,
            cluster,
            ..
        } = scratch;
        let mut run = Self {
            model,
            params,
            work,
            s,
            began: state.time,
            report: StepReport::default(),
            records: crate::output::record::Records::default(),
            events: Vec::new(),
            nobody,
            started_from: state.bodies.clone(),
            masked,
            rules,
            driven,
            ties,
            tie_of,
            ahead,
            ahead_report,
            ahead_records,
            ahead_events,
            shown: State::default(),
            group_changed: false,
            search,
            items,
            first_item,
            memory,
            cluster,
            found: Vec::new(),
            numbers: Vec::new(),
            held: Vec::new(),
            looks: 0,
        };
        let loaded = state.loads.iter().any(|l| *l != Load::default());
        let goes_on = run.s.started
            && run.s.edits == model.edits
            && run.s.now == state.time
            && !run.s.loaded
            && !loaded
            && model.sleeping.is_none();
        if goes_on {
            if !fresh {
                run.prepare(state);
                for item in 0..run.items.len() as u32 {
                    run.search.set(item, run.s.boxes[item as usize]);
                }
                run.look_ahead()?;
            }
        } else {
            run.start(state, loaded)?;
        }
        Ok(run)
    }

    /// Scratch that follows from model and schedule.
    fn prepare(&mut self, state: &State) {
        self.masked = self.model.clone();
        self.find_kinds(state);
        self.items.clear();
        self.first_item.clear();
        for (slot, body) in self.model.bodies.iter().enumerate() {
            self.first_item.push(self.items.len() as u32);
            let shapes = body.as_ref().map_or(0, |b| b.shapes.len());
            self.items
                .extend((0..shapes as u32).map(|shape| (slot as u32, shape)));
        }
        self.first_item.push(self.items.len() as u32);
        self.search.clear();
        self.memory.clear();
        self.memory
            .resize(self.model.bodies.len(), (f64::NAN, BodyState::REST));
    }

    /// Which bodies joints or trees hold, and which drag or torques drive.
    fn find_kinds(&mut self, state: &State) {
        let slots = self.model.bodies.len();
        self.ties = super::tied::find(self.model, &mut self.tie_of);
        for marks in [&mut self.rules.handed, &mut self.driven] {
            marks.clear();
            marks.resize(slots, false);
        }
        for (slot, body) in self.model.present() {
            self.rules.handed[slot] =
                self.is_tied(slot as u32) && !self.ties[self.tie_of[slot] as usize].answers();
            self.driven[slot] = body.drag.is_some() || state.loads[slot] != Load::default();
        }
    }

    /// Makes a new schedule from the states of the bodies: the user has changed the world, or forces act in this step or did in the last.
    fn start(&mut self, state: &State, loaded: bool) -> Result<(), StepError> {
        let t = state.time;
        self.prepare(state);
        let slots = self.model.bodies.len();
        let start = |s: &BodyState| Start { time: t, state: *s };
        self.s = Schedule {
            started: true,
            edits: self.model.edits,
            frame: libm::floor(t / self.part()) as u64,
            flights: state.bodies.iter().map(start).collect(),
            grouped: (0..slots)
                .map(|i| {
                    self.model.is_awake(i as u32) && (self.is_tied(i as u32) || self.driven[i])
                })
                .collect(),
            boxes: vec![crate::shape::Aabb::EMPTY; self.items.len()],
            resting: std::mem::take(&mut self.s.resting),
            loaded,
            carry: self.s.carry,
            ..Schedule::default()
        };
        // Pairs that rested go on resting if the solver of groups remembers a force of theirs.
        let known = |r: &super::schedule::RestingPair| {
            let found = state.contacts.iter().any(|c| c.key.pair == r.key);
            let there = |slot: u32| {
                self.model
                    .bodies
                    .get(slot as usize)
                    .is_some_and(Option::is_some)
            };
            found && there(r.key.body_a) && there(r.key.body_b) && !r.handed
        };
        self.s.resting.retain(known);
        for i in 0..self.s.resting.len() {
            let key = self.s.resting[i].key;
            for slot in [key.body_a, key.body_b] {
                self.s.grouped[slot as usize] |= self.model.is_awake(slot);
            }
        }
        self.s.near.clear(slots);
        if self.s.grouped.contains(&true) {
            let mut group = State::default();
            group.copy_from(state);
            group.time = t;
            self.s.group = Some(Box::new(group));
            self.look_ahead()?;
        }
        self.begin_frame(t);
        Ok(())
    }

    /// The end of a step of length `h` that begins at `t` [s]. Lengths are summed without rounding, and an end that is a tick to rounding
    /// is that tick: however a time is cut into steps, they end together.
    pub(super) fn end_of(&mut self, h: f64, t: f64) -> f64 {
        let h = h + self.s.carry;
        let sum = t + h;
        // Two-sum: what rounding kept.
        let back = sum - t;
        self.s.carry = (t - (sum - back)) + (h - back);
        let tick = libm::round(sum / self.params.substep) * self.params.substep;
        if (sum - tick).abs() <= SNAP * self.params.substep && tick > t {
            self.s.carry += sum - tick;
            return tick;
        }
        sum
    }
}

/// Scenes that the method cannot follow are refused with the reason.
fn check(model: &Model) -> Result<(), StepError> {
    for (slot, body) in model.present() {
        let BodyKind::Kinematic(motion) = &body.kind else {
            continue;
        };
        let turns = match motion {
            // About its own normal it may turn.
            Motion::Constant {
                angular_velocity, ..
            }
            | Motion::Steered {
                angular_velocity, ..
            } => body.shapes.iter().any(|s| {
                let Shape::HalfSpace { normal } = s.shape else {
                    return false;
                };
                let n = body.pose_start.vector(s.pose.vector(normal));
                n.cross(*angular_velocity).length() > 1e-12 * angular_velocity.length()
            }),
            Motion::Sine {
                rotation_amplitude, ..
            } => *rotation_amplitude != Vec3::ZERO,
            Motion::Table { poses, .. } => poses.iter().any(|p| p.rotation != poses[0].rotation),
        };
        let flat = |s: &crate::model::ShapeDesc| matches!(s.shape, Shape::HalfSpace { .. });
        if turns && body.shapes.iter().any(flat) {
            let name = model.name(slot);
            return Err(StepError::Refused {
                reason: format!(
                    "body `{name}`: `events` cannot bound when a half-space that turns meets anything: use a box"
                ),
            });
        }
    }
    Ok(())
}
