//! `tippe bench`: the standard speed scenes, timing and certificate together.
//!
//! Reads: the built-in scenes.  Writes: a table, or JSON lines.
//! Called by: `main`.
//! Source: processor time is taken around `World::step` alone; docs/speed.md says what is measured.

mod row;
mod scenes;

use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use cpu_time::ProcessTime;
use serde_json::json;
use tippe::StepError;
use tippe_scene::Scene;

use crate::Outcome;
use crate::output::{note, out};
use crate::progress;
use row::{Measured, Row};
use scenes::Standard;

/// Flags of `tippe bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Scenes: funnel, funnel-1ms, pyramid, pile, joint-grid, towers; all if not given.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Steps of each scene, instead of its own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Threads to use, 1 if not given; results never depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print one JSON object per scene and nothing else on standard output.
    #[arg(long)]
    json: bool,
}

/// Measures.
///
/// # Errors
/// There is no clock of processor time, or the reader of our output went away.
pub fn bench(args: &BenchArgs) -> Result<Outcome> {
    let chosen = match scenes::chosen(&args.names) {
        Ok(chosen) => chosen,
        Err(reason) => {
            note(&format!("error: {reason}"));
            return Ok(Outcome::BadInput);
        }
    };
    if !args.json {
        out(&Row::head())?;
    }
    let mut outcome = Outcome::Done;
    for standard in &chosen {
        match measure(standard, args)? {
            Ok(row) if args.json => out(&(serde_json::to_string(&row)? + "\n"))?,
            Ok(row) => out(&row.text())?,
            Err(Trouble::Skipped(reason)) => {
                tell(standard, "skipped", &reason, args.json)?;
            }
            Err(Trouble::Stopped(reason)) => {
                tell(standard, "stopped", &reason, args.json)?;
                outcome = Outcome::Failed;
            }
        }
    }
    Ok(outcome)
}

/// Why a scene has no row.
enum Trouble {
    /// It does not load.
    Skipped(String),
    /// A step was refused.
    Stopped(String),
}

/// Says why a scene has no row.
fn tell(standard: &Standard, how: &str, reason: &str, json: bool) -> Result<()> {
    if json {
        out(&(json!({"name": standard.name, how: reason}).to_string() + "\n"))?;
    } else {
        note(&format!("{}: {how}: {reason}", standard.name));
    }
    Ok(())
}

/// Runs one scene; the outer error is of this machine, the inner of the scene.
fn measure(standard: &Standard, args: &BenchArgs) -> Result<Result<Row, Trouble>> {
    let mut scene = match standard.load() {
        Ok(scene) => scene,
        Err(reason) => return Ok(Err(Trouble::Skipped(reason))),
    };
    let threads = usize::from(args.threads.unwrap_or(1));
    if let Err(e) = scene.world.set_threads(threads) {
        return Ok(Err(Trouble::Skipped(e.to_string())));
    }
    let steps = standard.steps(&scene, args.steps);
    let bar = progress::bar(steps, "steps").with_message(standard.name);
    let mut measured = Measured::default();
    let end = (0..steps).try_for_each(|_| {
        let end = one_step(&mut scene, &mut measured);
        bar.inc(1);
        end
    });
    bar.finish_and_clear();
    match end {
        Ok(()) => Ok(Ok(measured.row(standard.name, &scene.world, scene.dt))),
        Err(StepTrouble::Refused(e)) => Ok(Err(Trouble::Stopped(format!(
            "at {} s: {e}",
            scene.world.time()
        )))),
        Err(StepTrouble::NoClock(e)) => {
            Err(e).context("this machine has no clock of processor time")
        }
    }
}

/// What can go wrong around a step.
enum StepTrouble {
    Refused(StepError),
    NoClock(std::io::Error),
}

fn one_step(scene: &mut Scene, measured: &mut Measured) -> Result<(), StepTrouble> {
    let (wall_start, start) = (Instant::now(), clock()?);
    let result = scene.world.step(scene.dt);
    let (end, wall) = (clock()?, wall_start.elapsed());
    let report = result.map_err(StepTrouble::Refused)?;
    measured.add(&report, end.duration_since(start), wall);
    Ok(())
}

/// Processor time of this process so far, all its threads together.
fn clock() -> Result<ProcessTime, StepTrouble> {
    ProcessTime::try_now().map_err(StepTrouble::NoClock)
}
