//! What a whole run did: sums, worst values and series over its step reports.
//!
//! Reads: StepReport and the running ledger of each step, its wall time.  Writes: nothing outside.
//! Called by: `run`, then `summary` and `report`.
//! Source: docs/methods/contract.md, "The certificate".

use std::time::Duration;

use tippe::{EnergyLedger, Residuals, StepReport};

use crate::series::Series;

/// Sums and worst values of a run so far.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Steps taken.
    pub steps: u64,
    /// Sum over steps of contact points that carried an impulse.
    pub contacts: u64,
    /// Sum over steps of impacts.
    pub collisions: u64,
    /// Largest penetration, as left by a step or found by the next detection [m].
    pub depth_max: f64,
    /// Largest overlap of bodies that prescribed surfaces press together [m].
    pub squeezed_max: f64,
    /// Worst residuals.
    pub residuals: Residuals,
    /// Adaptive trees: sums over steps of moving and of locked joints, most joints beyond the budget and steps with any, and
    /// of the residual R the sum and the largest [rad²/s²].
    pub moving: u64,
    pub locked: u64,
    pub over_budget_max: usize,
    pub over_budget_steps: u64,
    pub locked_residual: (f64, f64),
    /// Steps in which a loop ended at its limit.
    pub capped_steps: u64,
    /// Loops that ended at their limit.
    pub caps_hit: u64,
    /// Steps in which such a loop was not made good, and how many loops.
    pub open_steps: u64,
    /// Loops that ended at their limit and were not made good.
    pub caps_open: u64,
    /// Steps that are certified.
    pub certified_steps: u64,
    /// What kept steps from being certified, with the number of steps.
    pub missed: std::collections::BTreeMap<&'static str, u64>,
    /// Potential energy at the start [J].
    pub potential_start: f64,
    /// Works put in so far, but that of gravity [J].
    pub works: f64,
    /// Weight times size of the bodies [J].
    pub weight_times_size: f64,
    /// Steps with a pair of materials that no pair was given for.
    pub fallback_steps: u64,
    /// Most such pairs in one step.
    pub fallbacks_max: usize,
    /// Highest kinetic energy [J].
    pub kinetic_max: f64,
    /// Largest sum of kinetic and potential energy, by size [J].
    pub total_max: f64,
    /// Lowest and highest potential energy [J].
    pub potential_range: Option<(f64, f64)>,
    /// The series for the plots.
    pub series: AllSeries,
    step_ms: Vec<f32>,
    /// Processor time of the steps, all threads together; nothing where the machine has no clock of it.
    cpu: Option<Duration>,
}

/// One series per line of the plots.
#[derive(Clone, Debug, Default)]
pub struct AllSeries {
    /// Kinetic energy [J].
    pub kinetic: Series,
    /// Potential energy [J].
    pub potential: Series,
    /// Energy stored in compliant contacts [J].
    pub elastic: Series,
    /// Work of gravity aside, the transfers since the start [J]: works positive into the bodies, losses positive out of them.
    pub external: Series,
    /// Work of motors.
    pub motors: Series,
    /// Work of bodies with prescribed motion.
    pub prescribed: Series,
    /// Loss to friction.
    pub friction: Series,
    /// Loss in normal direction.
    pub restitution: Series,
    /// Loss to drag.
    pub drag: Series,
    /// Loss in joints.
    pub joint_friction: Series,
    /// Loss to the damping of compliant contacts.
    pub contact_damping: Series,
    /// Plastic loss of joints, limits and prescribed bodies.
    pub shock: Series,
    /// Loss to the numerical method itself.
    pub numerical_damping: Series,
    /// Energy made from nothing.
    pub gained: Series,
    /// Energy brought in by position correction.
    pub position_correction: Series,
    /// Numerical error.
    pub unexplained: Series,
    /// Contact points that carried an impulse.
    pub contacts: Series,
    /// Impacts.
    pub collisions: Series,
    /// Penetration left by the step [m].
    pub penetration: Series,
    /// Penetration found by the detection [m].
    pub penetration_found: Series,
    /// Normal conditions [m/s].
    pub complementarity: Series,
    /// Friction cone [1].
    pub friction_cone: Series,
    /// Stick and slip [m/s].
    pub stick_slip: Series,
    /// Joint positions [m].
    pub joint_position: Series,
    /// Joint velocities [m/s].
    pub joint_velocity: Series,
    /// Wall time of a step [ms].
    pub step_ms: Series,
}

impl Statistics {
    /// Notes the energies a run starts with [J].
    pub fn start(&mut self, time: f64, (kinetic, potential): (f64, f64)) {
        self.potential_start = potential;
        self.note_energies(kinetic, potential);
        self.series.kinetic.push(time, kinetic);
        self.series.potential.push(time, potential);
    }

    /// Adds one step.
    pub fn add(&mut self, report: &StepReport, ledger: &EnergyLedger, wall: Duration) {
        let ms = wall.as_secs_f64() * 1e3;
        self.steps += 1;
        self.contacts += report.contacts as u64;
        self.collisions += report.collisions as u64;
        let a = &report.adaptive;
        self.moving += a.moving as u64;
        self.locked += a.locked as u64;
        self.over_budget_max = self.over_budget_max.max(a.over_budget);
        self.over_budget_steps += u64::from(a.over_budget > 0);
        let (sum, most) = self.locked_residual;
        self.locked_residual = (sum + a.residual, most.max(a.residual));
        self.depth_max = self
            .depth_max
            .max(report.penetration)
            .max(report.penetration_found);
        self.squeezed_max = self.squeezed_max.max(report.squeezed);
        self.residuals = self.residuals.max(report.residuals);
        self.capped_steps += u64::from(report.work.caps_hit > 0);
        self.caps_hit += u64::from(report.work.caps_hit);
        self.open_steps += u64::from(report.work.caps_open() > 0);
        self.caps_open += u64::from(report.work.caps_open());
        let missed = report.missed();
        self.certified_steps += u64::from(missed.is_empty());
        for name in missed {
            *self.missed.entry(name).or_default() += 1;
        }
        let e = &report.energy;
        self.works += e.external.max(0.0)
            + e.motors.max(0.0)
            + e.prescribed.max(0.0)
            + e.elastic_work.max(0.0);
        self.fallback_steps += u64::from(report.material_fallbacks > 0);
        self.fallbacks_max = self.fallbacks_max.max(report.material_fallbacks);
        self.note_energies(ledger.kinetic, ledger.potential);
        self.step_ms.push(ms as f32);
        self.series.add(report, ledger, ms);
    }

    fn note_energies(&mut self, kinetic: f64, potential: f64) {
        self.kinetic_max = self.kinetic_max.max(kinetic);
        self.total_max = self.total_max.max((kinetic + potential).abs());
        let (low, high) = self.potential_range.unwrap_or((potential, potential));
        self.potential_range = Some((low.min(potential), high.max(potential)));
    }

    /// Energy that moved at all [J]: what shares of the ledger refer to.
    ///
    /// Highest kinetic energy or span of potential energy or sum of all transfers but gravity's, whichever is greatest; unlike kinetic plus
    /// potential energy it does not depend on where the origin is.
    pub fn turnover(&self, ledger: &EnergyLedger) -> f64 {
        let span = self.potential_range.map_or(0.0, |(low, high)| high - low);
        let works = ledger.external.abs()
            + ledger.motors.abs()
            + ledger.prescribed.abs()
            + ledger.elastic_work.abs();
        let losses = ledger.friction.abs()
            + ledger.restitution.abs()
            + ledger.drag.abs()
            + ledger.joint_friction.abs()
            + ledger.contact_damping.abs()
            + ledger.shock.abs()
            + ledger.numerical_damping.abs();
        self.kinetic_max.max(span).max(works).max(losses)
    }

    /// What energy made from nothing is measured by [J]: kinetic energy at the start plus works put in, that of gravity by the deepest
    /// fall of the potential energy, not less than weight times size.
    pub fn energy_scale(&self, kinetic_start: f64) -> f64 {
        let lowest = self.potential_range.map_or(self.potential_start, |r| r.0);
        let fallen = (self.potential_start - lowest).max(0.0);
        (kinetic_start + self.works + fallen).max(self.weight_times_size)
    }

    /// Adds the processor time of a step.
    pub fn add_cpu(&mut self, time: Option<Duration>) {
        if let Some(time) = time {
            *self.cpu.get_or_insert_default() += time;
        }
    }

    /// Mean processor time of a step [ms], where it was measured.
    pub fn cpu_per_step(&self) -> Option<f64> {
        let ms = self.cpu?.as_secs_f64() * 1e3;
        (self.steps > 0).then(|| ms / self.steps as f64)
    }

    /// Mean over steps of a sum.
    pub fn per_step(&self, sum: u64) -> f64 {
        if self.steps == 0 {
            0.0
        } else {
            sum as f64 / self.steps as f64
        }
    }

    /// Mean and 99th percentile of the wall time of a step [ms].
    pub fn step_times(&self) -> (f64, f64) {
        let mut sorted = self.step_ms.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else {
            return (0.0, 0.0);
        };
        let mean = sorted.iter().map(|ms| f64::from(*ms)).sum::<f64>() / sorted.len() as f64;
        // The least time that at least 99 of 100 steps did not exceed.
        let rank = (sorted.len() * 99)
            .div_ceil(100)
            .saturating_sub(1)
            .min(last);
        (mean, f64::from(sorted[rank]))
    }
}

impl AllSeries {
    fn add(&mut self, report: &StepReport, ledger: &EnergyLedger, ms: f64) {
        let (r, e, t) = (&report.residuals, ledger, report.time);
        for (series, value) in [
            (&mut self.kinetic, e.kinetic),
            (&mut self.potential, e.potential),
            (&mut self.elastic, e.elastic),
            (&mut self.external, e.external),
            (&mut self.motors, e.motors),
            (&mut self.prescribed, e.prescribed),
            (&mut self.friction, e.friction),
            (&mut self.restitution, e.restitution),
            (&mut self.drag, e.drag),
            (&mut self.joint_friction, e.joint_friction),
            (&mut self.contact_damping, e.contact_damping),
            (&mut self.shock, e.shock),
            (&mut self.numerical_damping, e.numerical_damping),
            (&mut self.gained, e.gained),
            (&mut self.position_correction, e.position_correction),
            (&mut self.unexplained, e.unexplained),
            (&mut self.contacts, report.contacts as f64),
            (&mut self.collisions, report.collisions as f64),
            (&mut self.penetration, report.penetration),
            (&mut self.penetration_found, report.penetration_found),
            (&mut self.complementarity, r.complementarity),
            (&mut self.friction_cone, r.friction_cone),
            (&mut self.stick_slip, r.stick_slip),
            (&mut self.joint_position, r.joint_position),
            (&mut self.joint_velocity, r.joint_velocity),
            (&mut self.step_ms, ms),
        ] {
            series.push(t, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_worst_values_and_percentile() {
        let mut s = Statistics::default();
        s.start(0.0, (0.0, 10.0));
        for i in 1..=200u32 {
            let mut report = StepReport {
                time: f64::from(i),
                contacts: 3,
                penetration: 1e-3 / f64::from(i),
                ..StepReport::default()
            };
            report.work.caps_hit = u32::from(i % 100 == 0) * 2;
            let ledger = EnergyLedger {
                kinetic: f64::from(i),
                potential: 10.0 - f64::from(i),
                ..EnergyLedger::default()
            };
            s.add(&report, &ledger, Duration::from_millis(u64::from(i)));
        }
        assert_eq!(
            (s.steps, s.per_step(s.contacts), s.depth_max),
            (200, 3.0, 1e-3)
        );
        assert_eq!((s.capped_steps, s.caps_hit), (2, 4));
        let (mean, p99) = s.step_times();
        assert!(
            (mean - 100.5).abs() < 1e-4 && (p99 - 198.0).abs() < 1e-4,
            "{mean} {p99}"
        );
        assert_eq!(s.turnover(&EnergyLedger::default()), 200.0);
        assert_eq!(
            s.turnover(&EnergyLedger {
                friction: 300.0,
                ..EnergyLedger::default()
            }),
            300.0
        );
    }

    #[test]
    fn an_empty_run_has_no_times() {
        assert_eq!(Statistics::default().step_times(), (0.0, 0.0));
    }
}
