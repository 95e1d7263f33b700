//! One measured scene: its times and its certificate, as a line of a table and as an object.
//!
//! Reads: StepReport and the time of each step.  Writes: JSON and text.
//! Called by: `bench`.
//! Source: docs/speed.md, "What is measured".

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;
use tippe::{StepReport, World};

use crate::format::number;

/// Simulated time at the end of a run whose worst depth counts [s].
const LAST: f64 = 1.0;

/// What the steps of one scene took and left, gathered step by step.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    cpu_ms: Vec<f64>,
    wall_ms: f64,
    contacts: u64,
    sweeps: u64,
    substeps: u64,
    caps_hit: u64,
    /// Time, depth and joint error of the steps of the last second.
    last: VecDeque<(f64, f64, f64)>,
}

/// What is printed of one scene.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the speed scene.
    pub name: String,
    /// Name of the method.
    pub method: String,
    /// Bodies, fixed ones included.
    pub bodies: usize,
    /// Step length [s].
    pub dt: f64,
    /// Steps taken.
    pub steps: usize,
    /// Threads that computed.
    pub threads: usize,
    /// Mean processor time of a step, all threads together [ms].
    pub cpu_ms_mean: f64,
    /// 99th percentile of the processor time of a step [ms].
    pub cpu_ms_p99: f64,
    /// Mean processor time of the first tenth of the steps [ms].
    pub cpu_ms_first_tenth: f64,
    /// Mean processor time of the last tenth of the steps [ms].
    pub cpu_ms_last_tenth: f64,
    /// Mean wall time of a step [ms]; other programs may have held the processor.
    pub wall_ms_mean: f64,
    /// Contact points that carried an impulse, per step.
    pub contacts_mean: f64,
    /// Sweeps per step.
    pub sweeps_mean: f64,
    /// Parts that a step was divided into, per step.
    pub substeps_mean: f64,
    /// Solver loops that ended at their limit instead of at their tolerance, in all steps.
    pub caps_hit: u64,
    /// Deepest penetration in the last simulated second [m].
    pub depth_last_second: f64,
    /// Worst joint error in the last simulated second [m].
    pub joint_error_last_second: f64,
    /// Hash of the final state, hexadecimal.
    pub hash: String,
}

impl Measured {
    /// Adds one step.
    pub fn add(&mut self, report: &StepReport, cpu: Duration, wall: Duration) {
        self.cpu_ms.push(cpu.as_secs_f64() * 1e3);
        self.wall_ms += wall.as_secs_f64() * 1e3;
        self.contacts += report.contacts as u64;
        self.sweeps += u64::from(report.work.sweeps);
        self.substeps += u64::from(report.work.substeps);
        self.caps_hit += u64::from(report.work.caps_hit);
        let depth = report.penetration.max(report.penetration_found);
        self.last
            .push_back((report.time, depth, report.residuals.joint_position));
        // Half a step of tolerance: sums of step lengths are not exact.
        let begin = report.time - LAST + 0.5 * report.dt;
        while self.last.front().is_some_and(|(time, ..)| *time < begin) {
            self.last.pop_front();
        }
    }

    /// Sums up.
    pub fn row(&self, name: &str, world: &World, dt: f64) -> Row {
        let steps = self.cpu_ms.len();
        let tenth = steps.div_ceil(10);
        let per_step = |sum: f64| if steps == 0 { 0.0 } else { sum / steps as f64 };
        let worst = |of: fn(&(f64, f64, f64)) -> f64| self.last.iter().map(of).fold(0.0, f64::max);
        Row {
            name: name.to_string(),
            method: world.method().name().to_string(),
            bodies: world.body_count(),
            dt,
            steps,
            threads: world.threads(),
            cpu_ms_mean: mean(&self.cpu_ms),
            cpu_ms_p99: percentile(&self.cpu_ms, 99),
            cpu_ms_first_tenth: mean(&self.cpu_ms[..tenth]),
            cpu_ms_last_tenth: mean(&self.cpu_ms[steps - tenth..]),
            wall_ms_mean: per_step(self.wall_ms),
            contacts_mean: per_step(self.contacts as f64),
            sweeps_mean: per_step(self.sweeps as f64),
            substeps_mean: per_step(self.substeps as f64),
            caps_hit: self.caps_hit,
            depth_last_second: worst(|l| l.1),
            joint_error_last_second: worst(|l| l.2),
            hash: format!("{:#018x}", world.hash()),
        }
    }
}

impl Row {
    /// The two lines above the rows: names, then units.
    pub fn head() -> String {
        line(&[
            "scene", "bodies", "steps", "mean", "p99", "first", "last", "contacts", "sweeps",
            "parts", "depth", "joints", "hash",
        ]) + &line(&[
            "", "", "", "[ms]", "[ms]", "[ms]", "[ms]", "a step", "a step", "a step", "[m]", "[m]",
            "",
        ])
    }

    /// The row.
    pub fn text(&self) -> String {
        line(&[
            &self.name,
            &self.bodies.to_string(),
            &self.steps.to_string(),
            &number(self.cpu_ms_mean),
            &number(self.cpu_ms_p99),
            &number(self.cpu_ms_first_tenth),
            &number(self.cpu_ms_last_tenth),
            &format!("{:.0}", self.contacts_mean),
            &format!("{:.1}", self.sweeps_mean),
            &format!("{:.1}", self.substeps_mean),
            &number(self.depth_last_second),
            &number(self.joint_error_last_second),
            &self.hash,
        ])
    }
}

/// Thirteen cells: the name to the left, the numbers to the right.
fn line(cells: &[&str; 13]) -> String {
    const WIDTHS: [usize; 12] = [6, 6, 7, 7, 7, 7, 8, 8, 6, 10, 10, 18];
    let mut text = format!("{:11}", cells[0]);
    for (cell, width) in cells[1..].iter().zip(WIDTHS) {
        text += &format!(" {cell:>width$}");
    }
    text.trim_end().to_string() + "\n"
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

/// The least value that at least `percent` of 100 do not exceed.
fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (sorted.len() * percent).div_ceil(100);
    rank.checked_sub(1)
        .and_then(|i| sorted.get(i))
        .copied()
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_summed_up_and_only_the_last_second_counts_for_depth() {
        let mut measured = Measured::default();
        for i in 1..=200u32 {
            let mut report = StepReport {
                time: f64::from(i) * 0.01,
                dt: 0.01,
                contacts: 5,
                penetration: if i == 100 { 1.0 } else { 1e-3 },
                penetration_found: if i == 101 { 0.25 } else { 0.0 },
                ..StepReport::default()
            };
            report.residuals.joint_position = if i == 200 { 0.5 } else { 0.0 };
            report.work.sweeps = 2;
            let ms = Duration::from_millis(u64::from(i));
            measured.add(&report, ms, 2 * ms);
        }
        let row = measured.row("test", &World::default(), 0.01);
        assert_eq!((row.steps, row.cpu_ms_p99), (200, 198.0));
        for (value, expected) in [
            (row.cpu_ms_mean, 100.5),
            (row.wall_ms_mean, 201.0),
            (row.cpu_ms_first_tenth, 10.5),
            (row.cpu_ms_last_tenth, 190.5),
            (row.contacts_mean, 5.0),
            (row.sweeps_mean, 2.0),
            (row.depth_last_second, 0.25),
            (row.joint_error_last_second, 0.5),
        ] {
            assert!((value - expected).abs() < 1e-9, "{value} {expected}");
        }
    }

    #[test]
    fn rows_stand_under_their_heads() {
        let row = Measured::default().row("funnel-1ms", &World::default(), 0.01);
        let ends = |line: &str| line.find(" steps").map(|i| i + 6);
        let head = Row::head();
        let steps_end = ends(head.lines().next().unwrap()).unwrap();
        assert_eq!(&row.text()[steps_end - 2..steps_end], " 0");
        assert_eq!(percentile(&[], 99), 0.0);
    }
}
