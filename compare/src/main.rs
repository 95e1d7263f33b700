//! Tippe and other engines on the same speed scenes, in one run: time, and what a neutral referee finds wrong with the result.
//!
//! Reads: the scenes of the repository.  Writes: a table, and a file in `bench-results`.
//! Called by: the user.
//! Source: docs/speed.md.

#[cfg(feature = "box3d")]
mod box3d;
mod engine;
mod input;
mod measure;
mod phases;
mod rapier;
mod referee;
mod table;

use std::fs;

use anyhow::{Context, Result};
use clap::Parser;
use tippe_scene::Scene;

use engine::{Engine, Tippe};
use input::{Case, Input};
use measure::{Row, measure};
use rapier::Rapier;

/// Tippe and other engines on the same speed scenes.
#[derive(Debug, Parser)]
struct Args {
    /// Scenes: `speed`, `everyday`, one of these by name, or scene files; `speed` if not given.
    scenes: Vec<String>,
    /// Steps of each scene, instead of its own number.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Runs from scratch; for each engine the one with the least mean counts.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Name of the run: results go to `bench-results/<NAME>.csv`.
    #[arg(long, default_value = "latest")]
    name: String,
    /// Method of Tippe, whatever the files say.
    #[arg(long, default_value = "sequential")]
    method: String,
    /// Times Tippe's phases too, in a second table; costs it up to a microsecond a phase.
    #[arg(long)]
    phases: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let cases = chosen(&args.scenes)?;
    let (date, machine) = (table::today(), machine());
    let mut csv = String::from(table::CSV_HEAD);
    let mut phases = table::phase_head();
    print!("{}", table::head());
    for case in cases {
        let load = load_average();
        let rows = match best_of(&case, &args) {
            Ok(rows) => rows,
            Err(e) => {
                eprintln!("{}: skipped: {e:#}", case.name);
                continue;
            }
        };
        print!("{}", table::text(&rows));
        phases += &table::phases(&rows);
        csv += &table::csv(&rows, &date, &machine, &load);
    }
    if args.phases {
        print!("{phases}");
    }
    let folder = input::repository().join("bench-results");
    let file = folder.join(format!("{}.csv", args.name));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&file, csv))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// The scenes of these names.
fn chosen(names: &[String]) -> Result<Vec<Case>> {
    if names.is_empty() {
        return input::cases("speed");
    }
    let mut all = Vec::new();
    for name in names {
        all.extend(input::cases(name)?);
    }
    Ok(all)
}

/// Runs a scene as often as asked; keeps each engine's fastest run.
fn best_of(case: &Case, args: &Args) -> Result<Vec<Row>> {
    let mut best: Vec<Row> = Vec::new();
    for _ in 0..args.runs {
        let (scene, input) = case.load(args.steps, &args.method)?;
        let rows = measure(&case.name, &input, engines(scene, &input, args)?)?;
        if best.is_empty() {
            best = rows;
        } else {
            for (old, new) in best.iter_mut().zip(rows) {
                if new.mean < old.mean {
                    *old = new;
                }
            }
        }
    }
    Ok(best)
}

/// Tippe, Rapier, and Box3D where it takes the scene.
fn engines(scene: Scene, input: &Input, args: &Args) -> Result<Vec<Box<dyn Engine>>> {
    #[cfg_attr(not(feature = "box3d"), allow(unused_mut))]
    let mut all: Vec<Box<dyn Engine>> = vec![
        Box::new(Tippe::new(scene.world, input.dt, args.phases)),
        Box::new(Rapier::new(input)?),
    ];
    #[cfg(feature = "box3d")]
    if let Ok(engine) = box3d::Box3d::new(input) {
        all.push(Box::new(engine));
    }
    Ok(all)
}

/// The processor, where the system says it.
fn machine() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    text.lines()
        .find(|line| line.starts_with("model name"))
        .and_then(|line| line.split(": ").nth(1))
        .unwrap_or("unknown")
        .replace(',', ";")
}

/// Load average of the last minute, where the system says it.
fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_string()
}
