//! `events`: every impact at its own time, by the impact law; bodies fly freely in between, and what rests is solved in groups.
//!
//! Reads: Model, State.  Writes: State, Work, StepReport.
//! Called by: `step`.
//! Source: [Mirtich94]; docs/methods/events.md says where we differ.

mod begin;
mod cluster;
mod groups;
mod look;
mod micro;
pub(crate) mod near;
mod params;
mod paths;
mod promote;
pub(crate) mod schedule;
mod sweep;
mod tell;
mod tied;

pub use params::EventsParams;
pub use schedule::Schedule;

use crate::collide::pairs::Boxes;
use crate::error::StepError;
use crate::model::{Body, Model};
use crate::output::record::Records;
use crate::report::{Event, StepReport};
use crate::state::{BodyState, State};
use crate::work::Work;
use cluster::Cluster;
use groups::Rules;

/// Scratch that a step leaves to the next; thrown away it is made anew with the same bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Whether it belongs to the schedule of the state, and the time at which it did.
    valid: bool,
    time: f64,
    masked: Model,
    rules: Rules,
    driven: Vec<bool>,
    ties: Vec<tied::Tie>,
    tie_of: Vec<u32>,
    ahead: State,
    ahead_report: StepReport,
    ahead_records: Records,
    ahead_events: Vec<Event>,
    search: Boxes,
    items: Vec<(u32, u32)>,
    first_item: Vec<u32>,
    memory: Vec<(f64, BodyState)>,
    cluster: Cluster,
}

/// A step under way.
struct Run<'a> {
    model: &'a Model,
    params: &'a EventsParams,
    work: &'a mut Work,
    s: Schedule,
    /// Time at its start [s].
    began: f64,
    report: StepReport,
    records: Records,
    events: Vec<Event>,
    /// Some body of the model, for slots that are never asked for.
    nobody: &'a Body,
    /// States at the start of the step.
    started_from: Vec<BodyState>,
    /// The model of groups: without ballistic bodies. Which contacts they answer.
    masked: Model,
    rules: Rules,
    /// By slot: bodies that drag or torques keep from flying freely.
    driven: Vec<bool>,
    /// Bodies that joints or trees hold together; by slot: which of them, if any.
    ties: Vec<tied::Tie>,
    tie_of: Vec<u32>,
    /// The groups at the end of their substep under way, and what they did in it.
    ahead: State,
    ahead_report: StepReport,
    ahead_records: Records,
    ahead_events: Vec<Event>,
    /// The groups at the end of the step.
    shown: State,
    /// Whether groups have changed and must look ahead again.
    group_changed: bool,
    /// Shapes by number: body and shape; where the shapes of a body begin.
    search: Boxes,
    items: Vec<(u32, u32)>,
    first_item: Vec<u32>,
    /// By slot: the last state asked for, and its time.
    memory: Vec<(f64, BodyState)>,
    cluster: Cluster,
    found: Vec<u32>,
    numbers: Vec<u32>,
    held: Vec<bool>,
    looks: u64,
}

/// Advances the state by `h`: event after event until nothing is due before the end.
pub(crate) fn step(
    model: &Model,
    params: &EventsParams,
    h: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let Some(nobody) = model.present().map(|(_, b)| b).next() else {
        return Ok(tell::nothing(h, state, work));
    };
    let mut run = Run::begin(model, params, nobody, state, work)?;
    let end = run.end_of(h, state.time);
    while run.go_on(end)? {}
    run.finish(end, h, state)
}

impl Run<'_> {
    /// Answers what is due first; says whether anything was before `end`.
    fn go_on(&mut self, end: f64) -> Result<bool, StepError> {
        let pair = self.s.near.first();
        let due = pair.map_or(f64::INFINITY, |p| p.1);
        let tick = self.tick();
        let frame = self.frame_end();
        if due.min(tick).min(frame) > end || crate::interrupt::asked() {
            return Ok(false);
        }
        match pair {
            Some((number, t)) if t <= tick && t <= frame => self.meet(number, t)?,
            _ if tick <= frame => self.end_substep(tick)?,
            _ => self.begin_frame(frame),
        }
        self.renew_groups()?;
        Ok(true)
    }

    /// The end of the groups' substep under way [s].
    fn tick(&self) -> f64 {
        if self.s.group.is_some() {
            self.ahead.time
        } else {
            f64::INFINITY
        }
    }

    /// A pair is due: apart still, or touching; then it parts, rests or collides.
    fn meet(&mut self, number: u32, t: f64) -> Result<(), StepError> {
        let pair = *self.s.near.get(number);
        if pair.sensor || self.is_left_out(&pair.key) {
            self.s.near.schedule(number, f64::INFINITY, false);
            return Ok(());
        }
        if !pair.arrives && !self.look(number, t) {
            return Ok(());
        }
        let handed = |slot: u32| self.rules.handed[slot as usize];
        if handed(pair.key.body_a) || handed(pair.key.body_b) {
            return self.promote(pair.key, t, true);
        }
        let (speed, normal) = self.approach(number, t);
        if speed <= 0.0 {
            self.let_part(number, t, normal);
            return Ok(());
        }
        let point = self
            .cluster
            .points
            .first()
            .map_or(normal, |p| p.place.point_b);
        let slow = speed < self.slow(&pair.key);
        let often = self.s.near.impacts(&pair.key) >= self.params.impacts_max;
        let rests = self.params.promotion && slow && self.presses(&pair.key, t, normal, point);
        if rests || often {
            self.report.work.caps_hit += u32::from(often && !rests);
            return self.promote(pair.key, t, false);
        }
        self.s.near.count(pair.key);
        self.strike(number, t)
    }

    /// Whether joints or a tree hold a body.
    fn is_tied(&self, slot: u32) -> bool {
        self.tie_of[slot as usize] != tied::NONE
    }

    /// The groups' substep ends: what carries nothing leaves them.
    fn end_substep(&mut self, t: f64) -> Result<(), StepError> {
        self.commit(t)?;
        self.demote(t);
        self.group_changed = self.s.group.is_some();
        Ok(())
    }

    /// Groups that have changed look ahead again, and their pairs are looked at on the new way.
    fn renew_groups(&mut self) -> Result<(), StepError> {
        if !std::mem::take(&mut self.group_changed) {
            return Ok(());
        }
        self.look_ahead()?;
        let t = self.s.group.as_ref().map_or(0.0, |g| g.time);
        for slot in 0..self.s.grouped.len() as u32 {
            if !self.s.grouped[slot as usize] {
                continue;
            }
            self.keep_in_box(slot, t);
            for k in 0..self.s.near.of(slot).len() {
                let number = self.s.near.of(slot)[k];
                self.s.near.schedule(number, t, false);
            }
        }
        Ok(())
    }
}
