//! Groups: what is not ballistic moves in substeps on the absolute clock, by the two-stage motion and the shared solver.
//!
//! Reads: Model, Schedule (groups, resting pairs), State of the groups.  Writes: that State, records, the account.
//! Called by: `method::events`.
//! Source: [Mirtich94] §5.2 (the hybrid system); docs/methods/events.md, "Resting and groups". The model of a group's substep holds no ballistic
//! bodies, and only pairs that rest, or that touch a joint's body, have contacts in it: all others meet by events.

use super::{EventsParams, Run};
use crate::collide::{Course, FEATURE_MOTION, detect_on_course};
use crate::dynamics::energy;
use crate::error::StepError;
use crate::method::sequential::solve;
use crate::model::Model;
use crate::report::{EnergyLedger, StepReport};
use crate::solver::choose::NET_COST;
use crate::state::State;
use crate::step::{check_finite, check_trees};
use crate::two_stage::joint_network::OPEN_MAX;
use crate::two_stage::predict::{Kick, advance, kick, predict};
use crate::two_stage::substeps::{Part, Verdict};
use crate::two_stage::{Island, depenetrate, finish, gather, substeps, targets};
use crate::work::Work;

/// Most parts that joints may divide a substep into.
const GROUP_SUBSTEPS_MAX: u32 = 32;
/// Most parts that a substep is divided into where a net of joints opens too far.
const GROUP_STRETCH_MAX: u32 = 8;

/// What decides which contacts a group's substep has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    /// Sorted: pairs that rest, and whether they keep their restitution.
    pub resting: Vec<(crate::state::PairKey, bool)>,
    /// By slot: bodies of joints and trees whose impacts are left to the solver of groups.
    pub handed: Vec<bool>,
}

impl Rules {
    /// Keeps the contacts that the solver of groups answers; what rests does not bounce.
    fn apply(&self, work: &mut Work) {
        work.detection.contacts.retain_mut(|c| {
            let (a, b) = c.bodies();
            if self.handed[a] || self.handed[b] {
                return true;
            }
            let found = self.resting.binary_search_by_key(&c.key.pair, |r| r.0);
            let Ok(i) = found else {
                return false;
            };
            if !self.resting[i].1 {
                c.surface.restitution = 0.0;
            }
            true
        });
    }
}

/// Advances the groups' state to the time `end`.
pub(super) fn advance_to(
    model: &Model,
    rules: &Rules,
    params: &EventsParams,
    end: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let h = end - state.time;
    let mut kept = std::mem::take(&mut work.backup);
    work.backup.copy_from(state);
    work.stage.net_cost = Some(NET_COST);
    work.stage.unguarded = false;
    work.stage.strict = true;
    work.resting.release_all();
    let result = substeps::divide(
        model,
        h,
        GROUP_SUBSTEPS_MAX,
        state,
        work,
        |part, state, work, report| {
            advance_part(model, rules, params, h, part, state, work, report)
        },
    );
    std::mem::swap(&mut kept, &mut work.backup);
    state.time = end;
    result
}

fn advance_part(
    model: &Model,
    rules: &Rules,
    params: &EventsParams,
    h: f64,
    part: Part,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> Result<Verdict, StepError> {
    let may_divide = part.count < GROUP_STRETCH_MAX;
    let done = substep(model, rules, params, h / f64::from(part.count), state, work)?;
    let stretched = work.stage.stretch > OPEN_MAX;
    if stretched && may_divide {
        report.work.add(&done.work);
        return Ok(Verdict::Stretched);
    }
    report.append(&done);
    Ok(if !substeps::met(model, state, work, h, part.count) {
        Verdict::Missed
    } else if stretched {
        Verdict::StretchedMost
    } else {
        Verdict::Met
    })
}

/// One substep in two stages.
fn substep(
    model: &Model,
    rules: &Rules,
    params: &EventsParams,
    h: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let mut report = StepReport {
        dt: h,
        ..StepReport::default()
    };
    report.work.substeps = 1;
    work.stage.met = true;
    let params = &params.solves();
    let settings = &params.settings();
    let before = energy::total(model, state);
    work.balance.begin(model, state);
    let t = state.time;

    work.stage.unkicked.clone_from(&state.bodies);
    // Half a kick at t, then the contacts of pairs that rest, on the way from here to where the bodies would go untouched.
    kick(
        model,
        state,
        h,
        Kick::First,
        &mut work.balance,
        &mut report.energy,
    );
    predict(model, state, t, h, work);
    let course = Course {
        time: t,
        h,
        loads: &state.loads,
        held: &[],
        feature_motion: FEATURE_MOTION,
    };
    let (now, then) = (&state.bodies, &work.predicted);
    detect_on_course(&course, model, now, then, &mut work.detection);
    rules.apply(work);

    // Impulses at t that make positions right at t + h.
    gather::gather(model, state, work, h);
    let resting = targets::RestLimits {
        speed: 0.5 * model.gravity.length() * h + params.velocity_tolerance,
        load: 0.0,
        slow: 0.0,
        fall: 0.0,
    };
    targets::first_rows(model, settings, &resting, state, work, h);
    solve::first(model, params, state, work, &mut report);
    let nets = work.stage.islands.iter().filter_map(Island::as_net);
    work.stage.stretch = nets.map(|n| n.left.foreseen).fold(0.0, f64::max);

    // Move along the free motion that starts with the new velocities.
    advance(model, state, h, work, &mut report.energy);
    check_trees(model, &work.stage.bodies)?;
    check_finite(model, state, "move")?;
    depenetrate::run(model, settings, state, work, &mut report);

    // Half a kick at t + h, then velocities right there.
    kick(
        model,
        state,
        h,
        Kick::Second,
        &mut work.balance,
        &mut report.energy,
    );
    targets::second_rows(model, settings, state, work, h);
    solve::second(model, params, state, work, &mut report);
    state.time = t + h;
    state.set_substep(model, h);
    finish::run(model, before, state, work, &mut report);
    check_trees(model, &work.stage.bodies)?;
    Ok(report)
}

/// The transfers of one account less those of another, energies left out.
pub(super) fn less(a: &EnergyLedger, b: &EnergyLedger) -> EnergyLedger {
    EnergyLedger {
        kinetic: 0.0,
        potential: 0.0,
        elastic: 0.0,
        gravity: 0.0,
        external: a.external - b.external,
        motors: a.motors - b.motors,
        prescribed: a.prescribed - b.prescribed,
        elastic_work: a.elastic_work - b.elastic_work,
        friction: a.friction - b.friction,
        restitution: a.restitution - b.restitution,
        drag: a.drag - b.drag,
        joint_friction: a.joint_friction - b.joint_friction,
        contact_damping: a.contact_damping - b.contact_damping,
        shock: a.shock - b.shock,
        numerical_damping: a.numerical_damping - b.numerical_damping,
        gained: a.gained - b.gained,
        hops: a.hops - b.hops,
        position_correction: a.position_correction - b.position_correction,
        unexplained: 0.0,
    }
}

impl Run<'_> {
    /// The end of the substep that begins at `t` [s]: the next tick of the clock that is not too near.
    fn tick_after(&self, t: f64) -> f64 {
        let h = self.params.substep;
        let mut tick = libm::floor(t / h) + 1.0;
        if tick * h - t < SHORTEST * h {
            tick += 1.0;
        }
        tick * h
    }

    /// Looks one substep ahead with the groups as they are.
    pub(super) fn look_ahead(&mut self) -> Result<(), StepError> {
        let Some(group) = self.s.group.take() else {
            return Ok(());
        };
        self.mask();
        let end = self.tick_after(group.time);
        self.ahead.copy_from(&group);
        let done = advance_to(
            &self.masked,
            &self.rules,
            self.params,
            end,
            &mut self.ahead,
            self.work,
        );
        self.s.group = Some(group);
        self.ahead_report = done?;
        self.ahead_records = std::mem::take(&mut self.work.records);
        self.ahead_events = std::mem::take(&mut self.work.events);
        self.forget_groups();
        Ok(())
    }

    /// States of groups were asked for on a path that is no longer theirs.
    fn forget_groups(&mut self) {
        for (slot, grouped) in self.s.grouped.iter().enumerate() {
            if *grouped {
                self.memory[slot].0 = f64::NAN;
            }
        }
    }

    /// Brings the groups to the time `t`, at which their substep ends or is cut.
    pub(super) fn commit(&mut self, t: f64) -> Result<(), StepError> {
        let Some(mut group) = self.s.group.take() else {
            return Ok(());
        };
        if t <= group.time {
            self.s.group = Some(group);
            return Ok(());
        }
        let begun = group.time;
        let result = if t == self.ahead.time {
            group.copy_from(&self.ahead);
            Ok(())
        } else {
            let (masked, rules) = (&self.masked, &self.rules);
            advance_to(masked, rules, self.params, t, &mut group, self.work).map(|report| {
                self.ahead_report = report;
                self.ahead_records = std::mem::take(&mut self.work.records);
                self.ahead_events = std::mem::take(&mut self.work.events);
            })
        };
        self.s.group = Some(group);
        result?;
        self.book_substep(begun, t);
        self.forget_groups();
        Ok(())
    }

    /// Takes the report and the records of a substep from `begun` to `t` into those of the call.
    fn book_substep(&mut self, begun: f64, t: f64) {
        let told = std::mem::take(&mut self.s.told);
        let mut part = self.ahead_report;
        part.energy = less(&part.energy, &told);
        self.take_report(&part);
        // What was told of its beginning by the call before is not told again.
        let share = ((t - begun.max(self.began)) / (t - begun)).clamp(0.0, 1.0);
        for mut record in self.ahead_records.contacts.drain(..) {
            record.impulse *= share;
            record.angular_impulse *= share;
            record.duration *= share;
            self.records.contacts.push(record);
        }
        for mut record in self.ahead_records.joints.drain(..) {
            record.impulse *= share;
            record.angular_impulse *= share;
            record.duration *= share;
            self.records.joints.push(record);
        }
        self.events.append(&mut self.ahead_events);
    }

    /// The groups' part of the visible state at the end `t` of a call, inside their substep: as far as they will have come if nothing
    /// happens. It is told and forgotten; the substep goes on from where it began.
    pub(super) fn show_groups(&mut self, t: f64) -> Result<(), StepError> {
        let Some(group) = self.s.group.take() else {
            return Ok(());
        };
        let passed = t - group.time;
        let mut shown = State::default();
        shown.copy_from(&group);
        let begun = group.time;
        self.s.group = Some(group);
        if passed > UNSEEN * self.params.substep {
            if t == self.ahead.time {
                shown.copy_from(&self.ahead);
            } else {
                let (masked, rules) = (&self.masked, &self.rules);
                let report = advance_to(masked, rules, self.params, t, &mut shown, self.work)?;
                let told = std::mem::take(&mut self.s.told);
                let energy = less(&report.energy, &EnergyLedger::default());
                self.take_report(&StepReport {
                    energy: less(&energy, &told),
                    ..report
                });
                self.s.told = energy;
                let share = ((t - begun.max(self.began)) / passed).clamp(0.0, 1.0);
                for mut record in self.work.records.contacts.drain(..) {
                    record.impulse *= share;
                    record.angular_impulse *= share;
                    self.records.contacts.push(record);
                }
                for mut record in self.work.records.joints.drain(..) {
                    record.impulse *= share;
                    record.angular_impulse *= share;
                    self.records.joints.push(record);
                }
                self.work.events.clear();
            }
        }
        self.shown = shown;
        Ok(())
    }

    /// Brings the model of the groups' substeps and the rules of their contacts up to date.
    fn mask(&mut self) {
        self.rules.resting.clear();
        let resting = self.s.resting.iter().map(|r| (r.key, r.handed));
        self.rules.resting.extend(resting);
        for (slot, body) in self.model.bodies.iter().enumerate() {
            let here = match body {
                Some(body) => !body.is_awake() || self.s.grouped[slot],
                None => false,
            };
            if here != self.masked.bodies[slot].is_some() {
                self.masked.bodies[slot] = if here { body.clone() } else { None };
            }
        }
    }
}

/// Part of a substep below which one is not begun: the tick after the next ends it [1].
const SHORTEST: f64 = 0.05;
/// Part of a substep in which nothing is seen to happen [1].
const UNSEEN: f64 = 1e-6;
