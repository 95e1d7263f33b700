//! `tippe validate`: fidelity cases against their answers, one row per case, part, method and step.
//!
//! Reads: the cases.  Writes: a table, or JSON lines as they come.
//! Called by: `main`.
//! Source: rows and verdicts are those of the validation crate.

use std::path::PathBuf;

use anyhow::Result;
use tippe::{METHOD_NAMES, Method};
use tippe_validate::{
    Case, Form, Row, all_cases, all_pass, json_line, print_table, row_count, run,
};

use crate::Outcome;
use crate::args::{FormArg, ValidateArgs};
use crate::output::{note, out};
use crate::progress;

/// Where measured data is looked for if no flag says it: beside the repository.
const DATA_BESIDE: [&str; 3] = ["..", "shared", "data"];

/// Validates.
///
/// # Errors
/// The reader of our output went away.
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
    let form = match args.form {
        FormArg::Maximal => Form::Maximal,
        FormArg::Articulated => Form::Articulated,
    };
    let bar = progress::bar(row_count(&cases, &methods, &args.dt) as u64, "rows");
    let mut rows: Vec<Row> = Vec::new();
    for case in &cases {
        bar.set_message(format!("{} {}", case.id, case.name));
        let new = run(
            std::slice::from_ref(case),
            &methods,
            form,
            &args.dt,
            data,
            &mut |_| bar.inc(1),
        );
        // Machines get rows as they come; if they leave, so do we.
        if args.json {
            out(&new
                .iter()
                .map(|row| json_line(row) + "\n")
                .collect::<String>())?;
        }
        rows.extend(new);
    }
    bar.finish_and_clear();
    if !args.json {
        let mut text = Vec::new();
        print_table(&rows, &mut text)?;
        out(&String::from_utf8_lossy(&text))?;
    }
    Ok(if all_pass(&rows) {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

/// The cases asked for, in their own order; all if none is named.
fn cases(wanted: &[String]) -> Result<Vec<Case>, String> {
    let all = all_cases();
    let unknown: Vec<&str> = wanted
        .iter()
        .map(|w| w.trim())
        .filter(|w| !all.iter().any(|c| c.id.eq_ignore_ascii_case(w)))
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
