//! `tippe lab`: elastic balls, gliders and leaning bricks, as tables and as a page with plots.
//!
//! Reads: nothing.  Writes: tables, JSON lines, or report.html in a folder.
//! Called by: `main`.
//! Source: the functions are `tippe::laboratory`; docs/laboratory.md explains the tables.

mod methods;
mod page;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use tippe::compliance::ContactLaw;
use tippe::laboratory::balls::{Chain, Passage};
use tippe::laboratory::bricks::Bricks;
use tippe::laboratory::gliders::Gliders;
use tippe::math::lcp::Kernel;

use crate::Outcome;
use crate::output::{note, out};
use crate::results::Results;

/// Flags of `tippe lab`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tippe lab                       all tables
  tippe lab balls --balls 7 --coming 3 --exponent 1.5
  tippe lab gliders --out results/gliders")]
pub struct LabArgs {
    /// Which table; all if not given.
    #[arg(value_enum)]
    what: Option<What>,
    /// Balls or gliders of a row of your own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=200))]
    balls: Option<u16>,
    /// How many of them arrive, with speed 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    coming: u16,
    /// Exponents r of F = H ξʳ.
    #[arg(long, value_name = "R,…", value_delimiter = ',')]
    exponent: Vec<f64>,
    /// Shifts of the bricks [m].
    #[arg(long, value_name = "D,…", value_delimiter = ',')]
    shift: Vec<f64>,
    /// Folder for report.html with plots; made if missing, refused if it has one already.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrite a report in that folder.
    #[arg(long)]
    force: bool,
    /// Print one JSON object for each row, and nothing else on standard output.
    #[arg(long)]
    json: bool,
}

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Rows of elastic balls.
    Balls,
    /// Gliders with springs between them.
    Gliders,
    /// Leaning stacks of bricks.
    Bricks,
    /// A stack, a chain and a wedge by every method, as Markdown; takes a while and only runs if asked for.
    Methods,
}

/// One run of a row of balls or gliders.
pub struct Run {
    /// What it is called in tables and plots.
    name: String,
    /// Exponent of its contacts.
    exponent: f64,
    coming: usize,
    passage: Passage,
}

/// Runs the command.
pub fn lab(args: &LabArgs) -> Result<Outcome> {
    if args.what == Some(What::Methods) {
        out(&methods::markdown())?;
        return Ok(Outcome::Done);
    }
    let wanted = |what: What| args.what.is_none_or(|w| w == what);
    let mut text = String::new();
    let mut runs = Vec::new();
    let mut chains = Vec::new();
    let mut failed = None;
    if wanted(What::Balls) {
        match balls(args) {
            Ok(found) => {
                balls_table(&mut text, &found, args.json);
                runs = found;
            }
            Err(e) => failed = Some(e),
        }
    }
    if wanted(What::Gliders) && failed.is_none() {
        match gliders(args, &mut text) {
            Ok(found) => chains = found,
            Err(e) => failed = Some(e),
        }
    }
    if wanted(What::Bricks) && failed.is_none() {
        failed = bricks(args, &mut text).err();
    }
    if let Some(e) = failed {
        note(&format!("error: {}: {}", e.field, e.reason));
        return Ok(Outcome::BadInput);
    }
    out(&text)?;
    if let Some(dir) = &args.out {
        let folder = Results::open(dir, args.force)?;
        folder.write("report.html", &page::html(&runs, &chains))?;
        note(&format!(
            "wrote {}",
            folder.dir().join("report.html").display()
        ));
    }
    Ok(Outcome::Done)
}

/// The rows of balls: those of the lecture's table, or the one asked for.
fn balls(args: &LabArgs) -> Result<Vec<Run>, tippe::BuildError> {
    let lecture = [1.0, 1.5, 2.0, 3.0, 4.0];
    let exponents: &[f64] = if args.exponent.is_empty() {
        &lecture
    } else {
        &args.exponent
    };
    let rows: Vec<(usize, usize)> = match args.balls {
        Some(count) => vec![(count.into(), args.coming.into())],
        None => vec![(3, 1), (5, 1), (5, 2)],
    };
    let mut runs = Vec::new();
    for (count, coming) in rows {
        for &exponent in exponents {
            let law = ContactLaw {
                stiffness: 1.0,
                exponent,
            };
            let chain = Chain::equal(count, 1.0, law)?;
            runs.push(Run {
                name: format!("{count} balls, {coming} in, r = {exponent}"),
                exponent,
                coming,
                passage: chain.collide(&arriving(count, coming)?)?,
            });
        }
    }
    Ok(runs)
}

/// Speeds of a row of which the first few come with speed 1.
fn arriving(count: usize, coming: usize) -> Result<Vec<f64>, tippe::BuildError> {
    if coming == 0 || coming >= count {
        let reason = format!("must be between 1 and {}, got {coming}", count - 1);
        let field = "coming".into();
        return Err(tippe::BuildError { field, reason });
    }
    let speed = |i: usize| if i < coming { 1.0 } else { 0.0 };
    Ok((0..count).map(speed).collect())
}

fn balls_table(text: &mut String, runs: &[Run], json: bool) {
    if json {
        for run in runs {
            let row = json!({
                "table": "balls",
                "balls": run.passage.velocities.len(),
                "coming": run.coming,
                "exponent": run.exponent,
                "velocities": run.passage.velocities,
                "propagation": run.passage.propagation,
                "energy_error": run.passage.energy_error,
                "finished": run.passage.finished,
            });
            let _ = writeln!(text, "{row}");
        }
        return;
    }
    text.push_str("Elastic balls, F = H ξʳ, mass, H and speed 1: speeds after the impact, and when the last has half of its own\n\n");
    let _ = writeln!(
        text,
        "{:>5} {:>6} {:>6}  {:<44} {:>8} {:>9}",
        "balls", "in", "r", "speeds", "time", "energy"
    );
    for run in runs {
        let speeds: Vec<String> = run.passage.velocities.iter().map(|v| four(*v)).collect();
        let _ = writeln!(
            text,
            "{:>5} {:>6} {:>6}  {:<44} {:>8.3} {:>9.0e}",
            speeds.len(),
            run.coming,
            run.exponent,
            speeds.join(" "),
            run.passage.propagation,
            run.passage.energy_error.abs()
        );
    }
    text.push_str("\nTimes are in τ = (m/H)^(1/(r+1)) v^(−(r−1)/(r+1)).\n\n");
}

/// Four decimals without a minus before zero.
fn four(x: f64) -> String {
    let text = format!("{x:.4}");
    if text == "-0.0000" {
        "0.0000".into()
    } else {
        text
    }
}

/// A chain of gliders and what it does with one and with two.
pub struct GliderRow {
    name: String,
    gliders: Gliders,
    frequencies: Vec<f64>,
    passages: Vec<Passage>,
}

fn gliders(args: &LabArgs, text: &mut String) -> Result<Vec<GliderRow>, tippe::BuildError> {
    let counts: Vec<usize> = args.balls.map_or(vec![3, 4, 5], |n| vec![n.into()]);
    let mut rows = Vec::new();
    for count in counts {
        for (name, gliders) in [
            ("uniform", Gliders::uniform(count, 1.0, 1.0)),
            ("without dispersion", Gliders::without_dispersion(count)?),
        ] {
            let bumpers = gliders.bumpers();
            let coming = 1..=2.min(count - 1);
            let passages: Result<Vec<Passage>, _> = coming
                .map(|k| bumpers.collide(&arriving(count, k)?))
                .collect();
            rows.push(GliderRow {
                name: format!("{count}, {name}"),
                frequencies: gliders.frequencies()?,
                passages: passages?,
                gliders,
            });
        }
    }
    for row in &rows {
        write_gliders(text, row, args.json);
    }
    Ok(rows)
}

fn write_gliders(text: &mut String, row: &GliderRow, json: bool) {
    let list = |x: &[f64]| x.iter().map(|v| four(*v)).collect::<Vec<_>>().join(" ");
    if json {
        let velocities: Vec<&[f64]> = row.passages.iter().map(|p| &p.velocities[..]).collect();
        let line = json!({
            "table": "gliders",
            "chain": row.name,
            "masses": row.gliders.masses,
            "springs": row.gliders.springs,
            "frequencies": row.frequencies,
            "velocities": velocities,
        });
        let _ = writeln!(text, "{line}");
        return;
    }
    let _ = writeln!(text, "Gliders: {}", row.name);
    let _ = writeln!(text, "  masses       {}", list(&row.gliders.masses));
    let _ = writeln!(text, "  springs      {}", list(&row.gliders.springs));
    let _ = writeln!(text, "  frequencies  {}", list(&row.frequencies));
    let lowest = row.frequencies.get(1).copied().unwrap_or(1.0);
    let ratios: Vec<f64> = row.frequencies.iter().map(|w| w / lowest).collect();
    let _ = writeln!(text, "  by the first {}", list(&ratios));
    for (k, passage) in row.passages.iter().enumerate() {
        let _ = writeln!(text, "  {} in         {}", k + 1, list(&passage.velocities));
    }
    text.push('\n');
}

fn bricks(args: &LabArgs, text: &mut String) -> Result<(), tippe::BuildError> {
    let lecture = [0.3, 0.5, 0.6];
    let shifts: &[f64] = if args.shift.is_empty() {
        &lecture
    } else {
        &args.shift
    };
    if !args.json {
        text.push_str("Bricks, 2 m by 0.5 m, 1 kg, without friction, four on a fixed one: forces left and right, bottom to top\n\n");
    }
    for &shift in shifts {
        let moment = Bricks::lecture(shift).release(Kernel::Dantzig)?;
        if args.json {
            let row = json!({
                "table": "bricks",
                "shift": shift,
                "forces": moment.forces,
                "openings": moment.openings,
                "accelerations": moment.accelerations,
                "turns": moment.turns,
            });
            let _ = writeln!(text, "{row}");
            continue;
        }
        let pairs: Vec<String> = moment
            .forces
            .chunks(2)
            .map(|f| format!("{} {}", four(f[0]), four(f[1])))
            .collect();
        let list = |x: &[f64]| x.iter().map(|v| four(*v)).collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "  shift {shift} m");
        let _ = writeln!(text, "    forces [N]         {}", pairs.join(" | "));
        let _ = writeln!(text, "    openings [m/s²]    {}", list(&moment.openings));
        let _ = writeln!(
            text,
            "    upwards [m/s²]     {}",
            list(&moment.accelerations)
        );
        let _ = writeln!(text, "    turns [rad/s²]     {}", list(&moment.turns));
    }
    Ok(())
}
