//! The funnel at the settings of [Bender06] (`scenes/funnel-paper.toml`): how many steps are certified, what a step meets and what its phases cost, beside the paper.
//!
//! `cargo run --release -p tippe-scene --example funnel_paper [STEPS]`; all 6000 steps take some minutes.

use cpu_time::ProcessTime;
use std::cell::RefCell;
use std::error::Error;
use std::path::Path;
use std::time::Duration;
use tippe::{Phase, StepReport};
use tippe_scene::{LoadOptions, load_file};

/// Phases in the order of [`Phase`].
const NAMES: [&str; 6] = ["detect", "collide", "rest", "move", "project", "finish"];

/// Processor time of each phase, and which one runs since when.
struct Clock {
    spent: [Duration; 6],
    running: Option<(Phase, ProcessTime)>,
}

thread_local! {
    static CLOCK: RefCell<Clock> = const { RefCell::new(Clock { spent: [Duration::ZERO; 6], running: None }) };
}

/// The phase that runs is over; another may begin.
fn turn(next: Option<Phase>) {
    CLOCK.with_borrow_mut(|clock| {
        let now = ProcessTime::now();
        if let Some((phase, start)) = clock.running.take() {
            clock.spent[phase as usize] += now.duration_since(start);
        }
        clock.running = next.map(|phase| (phase, now));
    });
}

/// What the acceptance asks of a step and the step misses, with the depth that the next detection found: depth at its end,
/// complementarity, that depth.
fn misses(step: &StepReport, found: f64) -> [bool; 3] {
    [
        step.penetration > 1e-4,
        step.residuals.complementarity > 1e-3,
        found > 1e-3,
    ]
}

/// Steps that are certified, and those that miss each of the three.
#[derive(Default)]
struct Tally {
    certified: u64,
    missed: [u64; 3],
    /// Steps that miss one of them and did not end at a limit.
    unnamed: u64,
}

impl Tally {
    fn count(&mut self, step: &StepReport, found: f64) {
        let misses = misses(step, found);
        self.unnamed += u64::from(misses != [false; 3] && step.work.caps_hit == 0);
        self.certified += u64::from(misses == [false; 3]);
        for (count, missed) in self.missed.iter_mut().zip(misses) {
            *count += u64::from(missed);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/funnel-paper.toml");
    let mut scene = load_file(&scene, &LoadOptions::default())?;
    let steps = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => scene.step_count(),
    };
    scene.world.watch_phases(Some(|phase| turn(Some(phase))));
    let (mut tally, mut capped, mut collisions, mut contacts) = (Tally::default(), 0_u64, 0, 0);
    let (mut deepest, mut worst) = (0_f64, 0_f64);
    let mut last: Option<StepReport> = None;
    for k in 0..steps {
        let report = scene.world.step(scene.dt)?;
        turn(None);
        if let Some(last) = last {
            tally.count(&last, report.penetration_found);
        }
        capped += u64::from(report.work.caps_hit > 0);
        collisions += report.collisions;
        contacts += report.contacts.saturating_sub(report.collisions);
        deepest = deepest.max(report.penetration_found);
        worst = worst.max(report.residuals.complementarity);
        last = Some(report);
        if (k + 1) % 500 == 0 {
            println!(
                "{:6.3} s: {} of {} steps certified; missed: depth {}, complementarity {}, depth found {}",
                report.time,
                tally.certified,
                k + 1,
                tally.missed[0],
                tally.missed[1],
                tally.missed[2]
            );
        }
    }
    // The last step has no detection after it: its own depth has to do.
    if let Some(last) = last {
        tally.count(&last, last.penetration);
    }
    let count = steps.max(1) as f64;
    println!(
        "certified {:.2} % of {steps} steps; the rest, {}, are counted as capped, {} of them without that a loop ended at its limit ({capped} in all)",
        100.0 * tally.certified as f64 / count,
        steps - tally.certified,
        tally.unnamed
    );
    println!("deepest found {deepest:.1e} m, worst complementarity {worst:.1e} m/s");
    println!("                     here     paper");
    println!(
        "collisions       {:8.1}        41",
        collisions as f64 / count
    );
    println!("resting contacts {:8.1}       426", contacts as f64 / count);
    let spent = CLOCK.with_borrow(|clock| clock.spent.map(|t| t.as_secs_f64() * 1e3 / count));
    println!("collide    [ms]  {:8.2}      3.09", spent[1]);
    println!("rest       [ms]  {:8.2}      6.30", spent[2] + spent[4]);
    for (name, ms) in NAMES.iter().zip(spent) {
        println!("  {name:8} {ms:8.2} ms a step");
    }
    println!(
        "a step {:.2} ms; other engines on the same scene: docs/speed.md",
        spent.iter().sum::<f64>()
    );
    Ok(())
}
