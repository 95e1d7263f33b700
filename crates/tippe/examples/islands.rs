//! Runs the core over recorded islands: `cargo run --release -p tippe --example islands -- [--each] [--repeat N] FILES|FOLDERS`.
//!
//! Reads: islands as text (`tippe::solver::recorded`).  Writes: a table on standard output.
//! Called by: people; docs/solver.md quotes it.
//! Source: none. Times are of this thread's processor; the counts are the same on every machine.

use cpu_time::ThreadTime;
use std::path::PathBuf;
use tippe::solver::core::Core;
use tippe::solver::problem::{Budget, Phase, Problem};
use tippe::solver::recorded;

struct Line {
    name: String,
    relative: f64,
    factorisations: u32,
    operations: u64,
    milliseconds: f64,
}

fn main() {
    let mut files: Vec<PathBuf> = Vec::new();
    let (mut each, mut repeat) = (false, 1_u32);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--each" => each = true,
            "--repeat" => repeat = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            path => add(path.into(), &mut files),
        }
    }
    files.sort();
    let mut core = Core::default();
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let name = file
            .file_stem()
            .map_or(String::new(), |s| s.to_string_lossy().into());
        match recorded::read(&text) {
            Ok(problem) => {
                cold.push(run(&mut core, &problem, &name, false, each, repeat));
                warm.push(run(&mut core, &problem, &name, true, each, repeat));
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
    println!("start  islands  ok  worst     median    factorisations median/most  Mop    ms");
    summary("cold", &cold);
    summary("warm", &warm);
}

fn add(path: PathBuf, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        files.extend(
            entries
                .map(|e| e.path())
                .filter(|p| p.extension().is_some_and(|e| e == "txt")),
        );
    } else {
        files.push(path);
    }
}

fn run(
    core: &mut Core,
    problem: &Problem,
    name: &str,
    warm: bool,
    each: bool,
    repeat: u32,
) -> Line {
    let budget = Budget {
        warm,
        ..Budget::default()
    };
    let start = ThreadTime::now();
    for _ in 1..repeat {
        core.solve(problem, &budget);
    }
    let outcome = core.solve(problem, &budget);
    let milliseconds = start.elapsed().as_secs_f64() * 1e3 / f64::from(repeat);
    let relative = outcome.residual / outcome.scale;
    if each {
        let phase = match outcome.phase {
            Phase::Start => "start",
            Phase::Warm => "warm",
            Phase::Interior => "interior",
            Phase::Restart => "restart",
            Phase::Polish => "polish",
            Phase::Splitting => "splitting",
        };
        println!(
            "{name:20} {} {relative:.1e} {:3} factorisations {:8} kop {milliseconds:9.3} ms  {phase}{}{}",
            if warm { "warm" } else { "cold" },
            outcome.work.factorisations,
            outcome.work.operations / 1000,
            if outcome.limit { " limit" } else { "" },
            if outcome.contradiction > 0.0 {
                format!(" contradiction {:.1e}", outcome.contradiction)
            } else {
                String::new()
            },
        );
    }
    Line {
        name: name.into(),
        relative,
        factorisations: outcome.work.factorisations,
        operations: outcome.work.operations,
        milliseconds,
    }
}

fn summary(start: &str, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    let ok = lines.iter().filter(|l| l.relative <= 1e-8).count();
    let mut residuals: Vec<f64> = lines.iter().map(|l| l.relative).collect();
    residuals.sort_by(f64::total_cmp);
    let mut factorisations: Vec<u32> = lines.iter().map(|l| l.factorisations).collect();
    factorisations.sort_unstable();
    let middle = lines.len() / 2;
    println!(
        "{start:6} {:7} {ok:3}  {:8.1e}  {:8.1e}  {:8} / {:<17} {:6} {:8.2}",
        lines.len(),
        residuals[lines.len() - 1],
        residuals[middle],
        factorisations[middle],
        factorisations[lines.len() - 1],
        lines.iter().map(|l| l.operations).sum::<u64>() / 1_000_000,
        lines.iter().map(|l| l.milliseconds).sum::<f64>(),
    );
    for l in lines.iter().filter(|l| l.relative > 1e-8) {
        println!("  missed {} at {:.1e}", l.name, l.relative);
    }
}
