//! `tippe compare`: one scene by several methods, step by step beside each other.
//!
//! Reads: a scene file.  Writes: a table, or JSON lines; with `--out` the page that overlays them.
//! Called by: `main`.
//! Source: the difference of motion is the distance of the same body's centre of mass in two runs; the first method is the reference.

mod page;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use tippe::{BodyId, METHOD_NAMES, Method, World};
use tippe_scene::{LoadOptions, Scene};

use crate::Outcome;
use crate::args::parse_time;
use crate::film::Film;
use crate::format::{number, parse_seconds, share};
use crate::load;
use crate::output::{note, out};
use crate::progress;
use crate::series::Series;
use crate::statistics::Statistics;
use crate::summary::Summary;

/// Flags of `tippe compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Scene file, TOML or JSON.
    pub scene: PathBuf,
    /// Methods to compare, the first is what the others are compared with; all of this version if not given.
    #[arg(long, value_name = "M,…", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Time to simulate [s], instead of the scene's.
    #[arg(long, value_name = "T", value_parser = parse_time, allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// Step length [s], such as 0.001 or 1/60, instead of the scene's.
    #[arg(long, value_name = "H", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub dt: Option<f64>,
    /// Folder for compare.html, one page that lays the methods over each other; made if missing.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object per method and nothing else on standard output.
    #[arg(long)]
    pub json: bool,
    /// Put a value into the scene by path, in place of the file's: body.block.mass=2, parameters.radius=0.1, method.name=iterative.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Let the scene include files outside its own folder.
    #[arg(long)]
    pub allow_outside: bool,
}

/// One method on its way.
pub struct Contestant {
    scene: Scene,
    statistics: Statistics,
    film: Film,
    energy_start: (f64, f64),
    stopped: Option<String>,
    bodies: Vec<BodyId>,
    difference: Difference,
}

/// How far the bodies are from where the reference has them.
#[derive(Clone, Debug, Default)]
struct Difference {
    /// Farthest body, and root mean square over all [m].
    largest: Series,
    rms: Series,
    worst: f64,
    /// Time of the worst [s], and the name of the body.
    worst_time: f64,
    worst_body: String,
    rms_end: f64,
}

/// What `--json` prints for one method: the summary of `tippe run`, and the difference.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    difference: DifferenceLine<'a>,
}

#[derive(Serialize)]
struct DifferenceLine<'a> {
    /// The method compared with.
    against: &'a str,
    /// Largest distance of a body between the two runs [m], when [s], and which body.
    largest: f64,
    largest_time: f64,
    largest_body: &'a str,
    /// Root mean square over the bodies at the end [m].
    rms_end: f64,
    /// Why the run ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'a str>,
}

/// Compares.
///
/// # Errors
/// The page cannot be written, or the reader of our output went away.
pub fn compare(args: &CompareArgs) -> Result<Outcome> {
    let methods = match methods(&args.methods) {
        Ok(methods) => methods,
        Err(message) => {
            note(&format!("error: {message}"));
            return Ok(Outcome::BadInput);
        }
    };
    let mut contestants = Vec::new();
    for method in methods {
        let options = LoadOptions {
            method: Some(method.to_owned()),
            dt: args.dt,
            seconds: args.seconds,
            allow_outside: args.allow_outside,
            set: args.set.clone(),
            ..LoadOptions::default()
        };
        let Some(scene) = load::load(&args.scene, &options) else {
            return Ok(Outcome::BadInput);
        };
        contestants.push(Contestant::new(scene));
    }
    if let Some(dir) = &args.out
        && let Err(e) = fs::create_dir_all(dir)
    {
        note(&format!(
            "error: cannot make the folder {}: {e}",
            dir.display()
        ));
        return Ok(Outcome::BadInput);
    }
    run(&mut contestants);
    let summaries: Vec<Summary> = contestants.iter().map(Contestant::summary).collect();
    if args.json {
        for (c, summary) in contestants.iter().zip(&summaries) {
            out(&(serde_json::to_string(&c.line(summary, &summaries[0].method))? + "\n"))?;
        }
    } else {
        out(&table(&contestants, &summaries))?;
    }
    if let Some(dir) = &args.out {
        write(
            &dir.join("compare.html"),
            &page::html(&contestants, &summaries),
        )?;
        if !args.json {
            out(&format!("\nwritten to {}: compare.html\n", dir.display()))?;
        }
    }
    let mut failed = false;
    for (c, summary) in contestants.iter().zip(&summaries) {
        if let Some(reason) = &c.stopped {
            failed = true;
            note(&format!("error: {}: {reason}", summary.method));
        }
    }
    Ok(if failed {
        Outcome::Failed
    } else {
        Outcome::Done
    })
}

/// The methods asked for, at least two; all of this version if none is named.
fn methods(wanted: &[String]) -> Result<Vec<&str>, String> {
    let built = || {
        METHOD_NAMES
            .into_iter()
            .filter(|name| Method::from_name(name).is_some())
    };
    if wanted.is_empty() {
        return Ok(built().collect());
    }
    let names: Vec<&str> = wanted.iter().map(|w| w.trim()).collect();
    if let Some(unknown) = names.iter().find(|w| Method::from_name(w).is_none()) {
        let known: Vec<&str> = built().collect();
        return Err(format!(
            "--methods: this version has no method `{unknown}`; it has {}",
            known.join(", ")
        ));
    }
    Ok(names)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Steps all of them together, so that one look at each time compares them; one that stops stays where it is.
fn run(contestants: &mut [Contestant]) {
    let steps = contestants.first().map_or(0, |c| c.scene.step_count());
    let bar = progress::bar(steps, "steps");
    for step in 1..=steps {
        for c in contestants.iter_mut() {
            c.step(step);
        }
        if let Some((reference, others)) = contestants.split_first_mut() {
            for other in others {
                other.look(&reference.scene.world, &reference.bodies);
            }
        }
        bar.set_position(step);
        if contestants.iter().all(|c| c.stopped.is_some()) {
            break;
        }
    }
    bar.finish_and_clear();
    for c in contestants {
        c.film.finish(&c.scene.world);
    }
}

impl Contestant {
    fn new(scene: Scene) -> Self {
        let world = &scene.world;
        let energy_start = world.energy();
        let mut statistics = Statistics::default();
        statistics.start(world.time(), energy_start);
        let moves = |id: &BodyId| {
            let body = world.body(*id);
            body.is_ok_and(|b| b.is_dynamic())
        };
        Self {
            film: Film::new(world, scene.step_count()),
            bodies: world.body_ids().filter(moves).collect(),
            statistics,
            energy_start,
            stopped: None,
            difference: Difference::default(),
            scene,
        }
    }

    fn step(&mut self, step: u64) {
        if self.stopped.is_some() {
            return;
        }
        let start = Instant::now();
        let result = self.scene.world.step(self.scene.dt);
        let wall = start.elapsed();
        match result {
            Ok(report) => {
                self.statistics
                    .add(&report, self.scene.world.ledger(), wall);
                self.film.see(&self.scene.world, step);
            }
            Err(e) => {
                let time = number(self.scene.world.time());
                self.stopped = Some(format!("the simulation stopped at {time} s: {e}"));
            }
        }
    }

    /// Notes how far the bodies are from those of the reference; bodies correspond by their order.
    fn look(&mut self, reference: &World, theirs: &[BodyId]) {
        let world = &self.scene.world;
        if self.stopped.is_some() || world.time() != reference.time() {
            return;
        }
        let (mut largest, mut square, mut which) = (0f64, 0f64, None);
        for (mine, other) in self.bodies.iter().zip(theirs) {
            let (Ok(a), Ok(b)) = (world.body_state(*mine), reference.body_state(*other)) else {
                continue;
            };
            let distance = (a.position - b.position).length();
            square += distance * distance;
            if distance > largest {
                (largest, which) = (distance, Some(*mine));
            }
        }
        let rms = (square / self.bodies.len().max(1) as f64).sqrt();
        let d = &mut self.difference;
        d.largest.push(world.time(), largest);
        d.rms.push(world.time(), rms);
        d.rms_end = rms;
        if largest > d.worst {
            (d.worst, d.worst_time) = (largest, world.time());
            d.worst_body = which
                .and_then(|id| world.body(id).ok())
                .map_or_else(String::new, |b| b.name.clone());
        }
    }

    fn summary(&self) -> Summary {
        let warnings = self.stopped.iter().cloned().collect();
        Summary::new(
            &self.scene.name,
            &self.scene.world,
            self.scene.dt,
            self.energy_start,
            &self.statistics,
            warnings,
        )
    }

    fn line<'a>(&'a self, summary: &'a Summary, against: &'a str) -> Line<'a> {
        let d = &self.difference;
        Line {
            summary,
            difference: DifferenceLine {
                against,
                largest: d.worst,
                largest_time: d.worst_time,
                largest_body: &d.worst_body,
                rms_end: d.rms_end,
                stopped: self.stopped.as_deref(),
            },
        }
    }
}

/// Label, and the value of each method.
fn lines(contestants: &[Contestant], summaries: &[Summary]) -> Vec<(String, Vec<String>)> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    let all: Vec<Vec<(String, String)>> = contestants
        .iter()
        .zip(summaries)
        .map(|(c, s)| s.lines(&c.scene.world))
        .collect();
    let first = all.first().map_or(&[][..], Vec::as_slice);
    for (label, _) in first {
        let value = |of: &Vec<(String, String)>| {
            of.iter()
                .find(|(l, _)| l == label)
                .map_or_else(String::new, |(_, v)| v.clone())
        };
        lines.push((label.clone(), all.iter().map(value).collect()));
    }
    // Entries of the ledger that some method has.
    let count = summaries.first().map_or(0, |s| s.energy.transfers().len());
    for k in 0..count {
        let entry = |s: &Summary| s.energy.transfers()[k];
        if summaries.iter().any(|s| entry(s).1 != 0.0) {
            let values = summaries.iter().map(|s| {
                let (_, value) = entry(s);
                format!("{} J ({})", number(value), share(value, s.energy.turnover))
            });
            let label = summaries.first().map_or("", |s| entry(s).0);
            lines.push((format!("into motion: {label}"), values.collect()));
        }
    }
    let against = summaries.first().map_or("", |s| s.method.as_str());
    let values = contestants.iter().enumerate().map(|(i, c)| {
        let d = &c.difference;
        if i == 0 {
            "the reference".to_owned()
        } else if d.worst == 0.0 {
            "0".to_owned()
        } else {
            let (far, at) = (number(d.worst), number(d.worst_time));
            format!("{far} m ({}, at {at} s)", d.worst_body)
        }
    });
    lines.push((format!("farthest from {against}"), values.collect()));
    let values = contestants.iter().enumerate().map(|(i, c)| {
        if i == 0 {
            "-".to_owned()
        } else {
            format!("{} m", number(c.difference.rms_end))
        }
    });
    lines.push(("rms distance at the end".to_owned(), values.collect()));
    lines
}

/// The methods side by side.
fn table(contestants: &[Contestant], summaries: &[Summary]) -> String {
    let lines = lines(contestants, summaries);
    let width = |text: &str| text.chars().count();
    // What is the same for all is said once.
    let same = |values: &[String]| values.windows(2).all(|w| w[0] == w[1]);
    let labels = lines.iter().map(|(l, _)| width(l)).max().unwrap_or(0);
    let apart = || lines.iter().filter(|(_, v)| !same(v));
    let room = WIDTH.saturating_sub(labels) / contestants.len().max(1);
    let columns: Vec<usize> = (0..contestants.len())
        .map(|i| {
            let cells = apart().flat_map(|(_, v)| wrapped(&v[i], room.saturating_sub(2)));
            cells.map(|cell| width(&cell)).max().unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for (label, values) in &lines {
        let alone = same(values);
        let shown = if alone { &values[..1] } else { values };
        let room = if alone {
            WIDTH.saturating_sub(labels)
        } else {
            room
        };
        let cells: Vec<Vec<String>> = shown
            .iter()
            .map(|v| wrapped(v, room.saturating_sub(2)))
            .collect();
        let rows = cells.iter().map(Vec::len).max().unwrap_or(0);
        for row in 0..rows {
            let head = if row == 0 { label.as_str() } else { "" };
            let _ = write!(out, "{head:labels$}");
            for (cell, column) in cells.iter().zip(&columns) {
                let part = cell.get(row).map_or("", String::as_str);
                let _ = write!(out, "  {part:column$}");
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
    }
    out
}

/// Columns of a terminal that tables keep within.
const WIDTH: usize = 120;

/// A text in lines of at most so many characters, broken between words where that can be.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        loop {
            let last = lines.len() - 1;
            let used = lines[last].chars().count();
            let gap = usize::from(used > 0);
            if used + gap + rest.len() <= width {
                lines[last].extend(std::iter::repeat_n(' ', gap));
                lines[last].extend(rest);
                break;
            }
            if used > 0 {
                lines.push(String::new());
            } else {
                lines[last].extend(rest.drain(..width));
                lines.push(String::new());
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_wrap_between_words_and_never_run_over() {
        assert_eq!(
            wrapped("3 m (wheel, at 2 s)", 12),
            ["3 m (wheel,", "at 2 s)"]
        );
        assert_eq!(wrapped("short", 20), ["short"]);
        assert!(wrapped(&"x".repeat(50), 9).iter().all(|l| l.len() <= 9));
    }
}
