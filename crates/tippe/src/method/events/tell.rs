//! How a step of `events` ends: flights are evaluated, and what happened is told.
//!
//! Reads: Schedule, groups, records.  Writes: State, StepReport, forces and events.
//! Called by: `method::events`.
//! Source: docs/methods/contract.md, "The certificate".

use super::{Run, Scratch};
use crate::dynamics::energy;
use crate::error::StepError;
use crate::output::ledger;
use crate::report::StepReport;
use crate::state::State;
use crate::step::check_finite;
use crate::work::Work;

/// The report of a step of a world without bodies.
pub(super) fn nothing(h: f64, state: &mut State, work: &mut Work) -> StepReport {
    work.records.clear();
    work.events.clear();
    work.contact_forces.clear();
    work.joint_forces.clear();
    state.time += h;
    state.step_count += 1;
    StepReport {
        time: state.time,
        dt: h,
        ..StepReport::default()
    }
}

impl Run<'_> {
    /// Adds the report of a part of the step: counts and transfers; the account of the whole is closed at its end.
    pub(super) fn take_report(&mut self, part: &StepReport) {
        let r = &mut self.report;
        r.contacts = r.contacts.max(part.contacts);
        r.collisions += part.collisions;
        r.penetration = part.penetration;
        r.penetration_found = r.penetration_found.max(part.penetration_found);
        r.residuals = r.residuals.max(part.residuals);
        r.material_fallbacks = r.material_fallbacks.max(part.material_fallbacks);
        r.work.add(&part.work);
        r.energy.add(&part.energy);
    }

    /// Ends the step at `end`: nothing is reset, only looked at.
    pub(super) fn finish(
        mut self,
        end: f64,
        h: f64,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        let before = energy::total(self.model, state);
        self.show_groups(end)?;
        for (i, _) in self.model.present() {
            state.bodies[i] = if self.s.grouped[i] {
                self.shown.bodies[i]
            } else {
                self.at(i as u32, end)
            };
        }
        if self.s.group.is_some() {
            state.contacts.clone_from(&self.shown.contacts);
            state.joints.clone_from(&self.shown.joints);
            state.articulations.clone_from(&self.shown.articulations);
            state.touching.clone_from(&self.shown.touching);
            state.substep = self.shown.substep;
            state.substeps = self.shown.substeps;
        } else {
            state.contacts.clear();
            state.touching.clear();
        }
        state.time = end;
        state.step_count += 1;
        self.s.now = end;
        check_finite(self.model, state, "move")?;
        let mut report = self.report;
        report.dt = h;
        report.time = end;
        report.candidates = self.s.near.len();
        report.work.looks += self.looks;
        report.work.heap_operations += std::mem::take(&mut self.s.near.operations);
        ledger::close(self.model, before, state, &mut report);
        self.leave(end, h, state);
        Ok(report)
    }

    /// Leaves schedule, scratch, records and events to whoever comes next.
    fn leave(self, end: f64, h: f64, state: &mut State) {
        let Self {
            model,
            work,
            s,
            mut records,
            events,
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
        } = self;
        state.events = s;
        // Records of many moments: they are put in order.
        records.substep = records.contacts.len().max(1);
        work.records = records;
        work.events = events;
        work.tell(model, h);
        work.schedule = Scratch {
            valid: true,
            time: end,
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
        };
    }
}
