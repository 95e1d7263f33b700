//! `tippe validate`: fidelity cases against their answers, one row per case, part, method, form and step.
//!
//! Reads: the cases, measured data.  Writes: a table, or JSON lines as they come; pages if asked for.
//! Called by: `main`.
//! Source: rows and verdicts are those of the validation crate.

mod exhibit;
mod markdown;
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use tippe::{METHOD_NAMES, Method};
use tippe_validate::cases::cube_toss;
use tippe_validate::doc::{self, Results};
use tippe_validate::watch::Watch;
use tippe_validate::{
    Case, DT_COARSE, Form, Row, Setup, all_cases, all_pass, convergence, cost, json_line, misses,
    print_table, row_count, run_case, setups, sim_benchmark, summary,
};

use self::exhibit::Exhibit;
use self::page::Shown;
use crate::Outcome;
use crate::args::{FormArg, StudyArg, ValidateArgs};
use crate::output::{note, out};
use crate::progress;
use crate::svg::plot;

/// Where measured data is looked for if no flag says it: beside the repository.
const DATA_BESIDE: [&str; 3] = ["..", "shared", "data"];

/// Validates.
///
/// # Errors
/// A page cannot be written, or the reader of our output went away.
pub fn validate(args: &ValidateArgs) -> Result<Outcome> {
    let (cases, methods) = match (cases(&args.cases), methods(&args.methods)) {
        (Ok(cases), Ok(methods)) => (cases, methods),
        (cases, methods) => {
            cases
                .err()
                .into_iter()
                .chain(methods.err())
                .for_each(|e| note(&format!("error: {e}")));
            return Ok(Outcome::BadInput);
        }
    };
    if let Some(dir) = args.data.as_ref().filter(|dir| !dir.is_dir()) {
        note(&format!("error: --data {}: no such folder", dir.display()));
        return Ok(Outcome::BadInput);
    }
    let beside = Some(DATA_BESIDE.iter().collect::<PathBuf>()).filter(|dir| dir.is_dir());
    let data = args.data.as_deref().or(beside.as_deref());
    if let Err(e) = places(args) {
        note(&format!("error: {e:#}"));
        return Ok(Outcome::BadInput);
    }
    let (rows, shown) = measure(args, &cases, &methods, data)?;
    if !args.json {
        let mut text = Vec::new();
        print_table(&rows, &mut text)?;
        out(&String::from_utf8_lossy(&text))?;
        out(&summary::text(&cases, &rows))?;
    }
    let good = all_pass(&rows) || (args.allow_known && misses::all_known(&rows));
    let results = studies(args, rows, &methods, data)?;
    if let Some(dir) = &args.out {
        write(
            &dir.join("report.html"),
            &page::html(&cases, &results, &shown),
        )?;
    }
    if let Some(file) = &args.doc {
        write_doc(file, &cases, &results)?;
    }
    Ok(if good { Outcome::Done } else { Outcome::Failed })
}

/// Finds out now, not after minutes, whether the pages have a place.
fn places(args: &ValidateArgs) -> Result<()> {
    if let Some(dir) = &args.out {
        fs::create_dir_all(dir)
            .with_context(|| format!("cannot make the folder {}", dir.display()))?;
    }
    if let Some(file) = &args.doc {
        // Appending nothing keeps the old page until the new one is there.
        fs::File::options()
            .create(true)
            .append(true)
            .open(file)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The page as Markdown, and the plots it shows in a folder `pictures` beside it.
fn write_doc(file: &Path, cases: &[Case], results: &Results) -> Result<()> {
    write(file, &doc::markdown(cases, results))?;
    let pictures = file.parent().unwrap_or(Path::new("")).join("pictures");
    let plots = page::cost_plots(&results.cost);
    if !plots.is_empty() {
        fs::create_dir_all(&pictures)
            .with_context(|| format!("cannot make the folder {}", pictures.display()))?;
    }
    for p in plots {
        write(&pictures.join(format!("{}.svg", p.id)), &plot::file(&p))?;
    }
    Ok(())
}

/// The forms and steps asked for.
fn forms_and_steps(args: &ValidateArgs) -> (&[Form], &[f64]) {
    let forms: &[Form] = match args.form {
        FormArg::All => &Form::ALL,
        FormArg::Maximal => &[Form::Maximal],
        FormArg::Articulated => &[Form::Articulated],
        FormArg::Adaptive => &[Form::Adaptive],
    };
    let dts: &[f64] = if args.quick { &[DT_COARSE] } else { &args.dt };
    (forms, dts)
}

/// Runs the cases; machines get rows as they come, and if they leave, so do we.
fn measure(
    args: &ValidateArgs,
    cases: &[Case],
    methods: &[&str],
    data: Option<&Path>,
) -> Result<(Vec<Row>, Vec<Shown>)> {
    let (forms, dts) = forms_and_steps(args);
    let bar = progress::bar(row_count(cases, methods, forms, dts) as u64, "rows");
    let finest = dts.iter().copied().fold(f64::INFINITY, f64::min);
    let (mut rows, mut shown) = (Vec::new(), Vec::new());
    for case in cases {
        bar.set_message(format!("{} {}", case.id, case.name));
        let mut all = setups(methods, forms, dts, data);
        // The page of all results has F22 at the step it is stated for.
        if args.doc.is_some() && case.id == "F22" {
            all.extend(setups(methods, forms, &[F22_STEP], data));
        }
        for setup in all {
            let watched = args.out.is_some() && setup.dt == finest;
            let (new, seen) = run_one(case, setup, watched, &mut |_| bar.inc(1));
            if args.json {
                out(&new
                    .iter()
                    .map(|row| json_line(row) + "\n")
                    .collect::<String>())?;
            }
            rows.extend(new);
            shown.extend(seen);
        }
    }
    bar.finish_and_clear();
    Ok((rows, shown))
}

/// Step at which F22 is stated [s].
const F22_STEP: f64 = 0.01;

/// Runs one case with one setup, and looks on if the page wants it.
fn run_one(
    case: &Case,
    mut setup: Setup,
    watched: bool,
    progress: &mut dyn FnMut(&Row),
) -> (Vec<Row>, Option<Shown>) {
    if !watched {
        return (run_case(case, &setup, progress), None);
    }
    let exhibit = Arc::new(Mutex::new(Exhibit::default()));
    setup.watch = Some(Watch::new(exhibit.clone()));
    let rows = run_case(case, &setup, progress);
    setup.watch = None;
    let exhibit = exhibit.lock().map(|mut e| std::mem::take(&mut *e));
    let shown = exhibit.ok().map(|exhibit| Shown {
        case: case.id,
        setup,
        exhibit,
    });
    (rows, shown)
}

/// Carries out the studies asked for; the page of all results has all of them if none is named.
fn studies(
    args: &ValidateArgs,
    rows: Vec<Row>,
    methods: &[&str],
    data: Option<&Path>,
) -> Result<Results> {
    let wanted = |s| args.study.contains(&s) || (args.doc.is_some() && args.study.is_empty());
    let mut results = Results {
        rows,
        ..Results::default()
    };
    let bar = progress::bar(0, "studies");
    if wanted(StudyArg::Convergence) {
        bar.set_message("convergence");
        results.convergence = convergence::measure(methods, &mut |_| bar.inc(1));
    }
    if wanted(StudyArg::Simbenchmark) {
        bar.set_message("SimBenchmark");
        results.sim_benchmark = sim_benchmark::measure(methods, &mut |_| bar.inc(1));
    }
    if wanted(StudyArg::Cost) {
        bar.set_message("cost");
        results.cost = cost::measure(methods, &mut |_| bar.inc(1));
    }
    if let Some(data) = data.filter(|d| wanted(StudyArg::Tosses) && cube_toss::present(d)) {
        bar.set_message("cube tosses");
        results.tosses = cube_toss::measure_fits(data).map_err(|s| anyhow::anyhow!(s.reason))?;
    }
    bar.finish_and_clear();
    if !args.json {
        out(&doc::studies_text(&results))?;
    }
    Ok(results)
}

/// The cases asked for, in their own order; all if none is named.
fn cases(wanted: &[String]) -> Result<Vec<Case>, String> {
    let all = all_cases();
    let unknown: Vec<&str> = wanted
        .iter()
        .map(|w| w.trim())
        .filter(|w| *w != "none" && !all.iter().any(|c| c.id.eq_ignore_ascii_case(w)))
        .collect();
    if !unknown.is_empty() {
        let known: Vec<String> = all
            .iter()
            .map(|c| format!("  {}  {}", c.id, c.name))
            .collect();
        return Err(format!(
            "no case {}; the cases are\n{}",
            unknown.join(", "),
            known.join("\n")
        ));
    }
    Ok(all
        .iter()
        .copied()
        .filter(|c| wanted.is_empty() || wanted.iter().any(|w| c.id.eq_ignore_ascii_case(w.trim())))
        .collect())
}

/// The methods asked for; all of this version if none is named.
fn methods(wanted: &[String]) -> Result<Vec<&str>, String> {
    if wanted.is_empty() {
        return Ok(METHOD_NAMES
            .into_iter()
            .filter(|name| Method::from_name(name).is_some())
            .collect());
    }
    let unknown: Vec<&str> = wanted
        .iter()
        .map(|w| w.trim())
        .filter(|w| !METHOD_NAMES.contains(w))
        .collect();
    if unknown.is_empty() {
        Ok(wanted.iter().map(|w| w.trim()).collect())
    } else {
        Err(format!(
            "no method {}; the methods are {}",
            unknown.join(", "),
            METHOD_NAMES.join(", ")
        ))
    }
}
