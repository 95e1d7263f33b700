//! Where the time of Tippe's steps goes: processor time between the phases that it tells, and what it counts.
//!
//! Reads: the clock.  Writes: its own sums.
//! Called by: `engine`, `table`.
//! Source: `World::watch_phases`.

use std::cell::RefCell;

use cpu_time::ProcessTime;
use tippe::{Phase, StepReport, World};

/// Phases in the order of a step.
pub const NAMES: [&str; 6] = [
    "detect",
    "gather",
    "first half",
    "move",
    "second half",
    "output",
];

/// Sums since `watch`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// By phase [ms].
    pub ms: [f64; 6],
    /// Steps taken.
    pub steps: u32,
    /// Substeps, sweeps and factorisations.
    pub counts: [u64; 3],
}

thread_local! {
    static SUMS: RefCell<(Times, Option<(usize, ProcessTime)>)> = RefCell::default();
}

/// Starts the sums at zero, for one world at a time.
pub fn watch(world: &mut World) {
    SUMS.with_borrow_mut(|sums| *sums = Default::default());
    world.watch_phases(Some(|phase| turn(Some(number(phase)))));
}

/// A step begins.
pub fn begin() {
    turn(Some(0));
}

/// A step has ended.
pub fn end(report: &StepReport) {
    turn(None);
    SUMS.with_borrow_mut(|(times, _)| {
        times.steps += 1;
        let w = &report.work;
        let counts = [w.substeps, w.sweeps, w.newton_steps];
        for (sum, count) in times.counts.iter_mut().zip(counts) {
            *sum += u64::from(count);
        }
    });
}

/// The sums so far.
pub fn times() -> Times {
    SUMS.with_borrow(|sums| sums.0)
}

fn turn(next: Option<usize>) {
    let Ok(now) = ProcessTime::try_now() else {
        return;
    };
    SUMS.with_borrow_mut(|(times, since)| {
        if let Some((phase, start)) = *since {
            times.ms[phase] += now.duration_since(start).as_secs_f64() * 1e3;
        }
        *since = next.map(|phase| (phase, now));
    });
}

const fn number(phase: Phase) -> usize {
    match phase {
        Phase::Detect => 0,
        Phase::Collide => 1,
        Phase::Rest => 2,
        Phase::Move => 3,
        Phase::Project => 4,
        Phase::Finish => 5,
    }
}
