//! Runs all engines on one scene, in turns of a few steps, and measures each.
//!
//! Reads: `Input`.  Writes: `Row`.
//! Called by: `main`.
//! Source: docs/speed.md, "What is measured".

use anyhow::{Context, Result};
use cpu_time::ProcessTime;

use crate::engine::Engine;
use crate::input::Input;
use crate::phases::Times;
use crate::referee::{Findings, Referee};

/// Steps an engine takes before the next one has its turn: long enough that caches are its own, short enough that all
/// engines meet the same load of the machine.
const TURN: u64 = 20;
/// Samples for the referee, a tenth of a second apart, the last at the end.
const SAMPLES: u64 = 10;
/// Time between two samples [s].
const SAMPLE_TIME: f64 = 0.1;

/// What one engine did on one scene.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the scene.
    pub scene: String,
    /// Name of the engine.
    pub engine: &'static str,
    /// Bodies, fixed ones included.
    pub bodies: usize,
    /// Step length [s].
    pub dt: f64,
    /// Steps taken.
    pub steps: usize,
    /// Mean processor time of a step [ms].
    pub mean: f64,
    /// 99th percentile [ms].
    pub p99: f64,
    /// Longest step after the first ten over the mean of the steps in which something moves [1].
    pub peak: f64,
    /// Times by phase, where the engine tells them.
    pub phases: Option<Times>,
    /// Mean of the first tenth of the steps [ms].
    pub first: f64,
    /// Mean of the last tenth of the steps [ms].
    pub last: f64,
    /// What the referee found.
    pub findings: Findings,
    /// Why the engine stopped early; empty if it did not.
    pub stopped: String,
}

/// One engine on its way.
struct Runner {
    engine: Box<dyn Engine>,
    step_ms: Vec<f64>,
    /// Times of the steps in which something moved.
    moving_ms: Vec<f64>,
    findings: Findings,
    stopped: String,
}

/// Measures all engines on one scene.
pub fn measure(scene: &str, input: &Input, engines: Vec<Box<dyn Engine>>) -> Result<Vec<Row>> {
    let referee = Referee::new(input)?;
    let mut runners: Vec<Runner> = engines
        .into_iter()
        .map(|engine| Runner {
            engine,
            step_ms: Vec::new(),
            moving_ms: Vec::new(),
            findings: Findings::default(),
            stopped: String::new(),
        })
        .collect();
    for begin in (0..input.steps).step_by(TURN as usize) {
        let turn = begin..(begin + TURN).min(input.steps);
        for runner in &mut runners {
            for step in turn.clone() {
                runner.step(input, step + 1, &referee)?;
            }
        }
    }
    Ok(runners.into_iter().map(|r| r.row(scene, input)).collect())
}

impl Runner {
    fn step(&mut self, input: &Input, step: u64, referee: &Referee) -> Result<()> {
        if !self.stopped.is_empty() {
            return Ok(());
        }
        let start = clock()?;
        let result = self.engine.step();
        let time = clock()?.duration_since(start);
        match result {
            Ok(()) => {
                let ms = time.as_secs_f64() * 1e3;
                self.step_ms.push(ms);
                if self.engine.moves() {
                    self.moving_ms.push(ms);
                }
            }
            Err(e) => self.stopped = format!("step {step}: {e}"),
        }
        if is_sample(input, step) && self.stopped.is_empty() {
            let poses = self.engine.poses()?;
            if let Err(e) = referee.look(&poses, &mut self.findings) {
                self.stopped = format!("step {step}: {e}");
            }
        }
        Ok(())
    }

    fn row(self, scene: &str, input: &Input) -> Row {
        let (times, steps) = (&self.step_ms, self.step_ms.len());
        let tenth = steps.div_ceil(10);
        let mut sorted = times.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let rank = (steps * 99).div_ceil(100);
        Row {
            scene: scene.to_string(),
            engine: self.engine.name(),
            bodies: input.bodies.len(),
            dt: input.dt,
            steps,
            mean: mean(times),
            p99: rank.checked_sub(1).map_or(0.0, |i| sorted[i]),
            peak: peak(times, &self.moving_ms),
            phases: self.engine.phases(),
            first: mean(&times[..tenth]),
            last: mean(&times[steps - tenth..]),
            findings: self.findings,
            stopped: self.stopped,
        }
    }
}

/// Longest step after the first ten over the mean of the moving ones; 0 where there are none.
fn peak(times: &[f64], moving: &[f64]) -> f64 {
    let longest = times.iter().skip(10).copied().fold(0.0, f64::max);
    let mean = mean(moving);
    if mean > 0.0 { longest / mean } else { 0.0 }
}

/// Whether the referee looks after this step, counted from 1.
fn is_sample(input: &Input, step: u64) -> bool {
    (0..SAMPLES).any(|k| {
        let back = (k as f64 * SAMPLE_TIME / input.dt).round() as u64;
        input.steps.checked_sub(back) == Some(step)
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn clock() -> Result<ProcessTime> {
    ProcessTime::try_now().context("this machine has no clock of processor time")
}
