//! Carries out cases: every trial with every method in every form at every step, one row per part.
//!
//! Reads: cases.  Writes: rows.
//! Called by: the command line, tests.
//! Source: the rule of tolerances in `case::Tolerance`.

use std::path::Path;

use cpu_time::ThreadTime;

use crate::case::{Case, Form, Setup, Trial};
use crate::row::{Outcome, Row};
use crate::support;

/// Runs the cases with every method in every form at every step; `data` is the folder of measured data, if there is one. `progress` sees each row as it comes.
pub fn run(
    cases: &[Case],
    methods: &[&str],
    forms: &[Form],
    dts: &[f64],
    data: Option<&Path>,
    progress: &mut dyn FnMut(&Row),
) -> Vec<Row> {
    let mut rows = Vec::with_capacity(row_count(cases, methods, forms, dts));
    for case in cases {
        for setup in setups(methods, forms, dts, data) {
            rows.extend(run_case(case, &setup, progress));
        }
    }
    rows
}

/// Every combination of method, form and step, in this order.
#[must_use]
pub fn setups(methods: &[&str], forms: &[Form], dts: &[f64], data: Option<&Path>) -> Vec<Setup> {
    let mut all = Vec::with_capacity(methods.len() * forms.len() * dts.len());
    for &method in methods {
        for &form in forms {
            for &dt in dts {
                let mut setup = Setup::new(method, form, dt);
                setup.data = data.map(Path::to_owned);
                all.push(setup);
            }
        }
    }
    all
}

/// Runs all trials of one case with one setup.
pub fn run_case(case: &Case, setup: &Setup, progress: &mut dyn FnMut(&Row)) -> Vec<Row> {
    let mut rows = Vec::new();
    for trial in case.trials {
        let first = rows.len();
        run_trial(case, trial, setup, &mut rows);
        rows[first..].iter().for_each(&mut *progress);
    }
    rows
}

/// How many rows `run` will give.
#[must_use]
pub fn row_count(cases: &[Case], methods: &[&str], forms: &[Form], dts: &[f64]) -> usize {
    let parts: usize = cases.iter().map(|c| c.parts().count()).sum();
    parts * methods.len() * forms.len() * dts.len()
}

/// Runs one trial and appends a row for each of its parts.
pub fn run_trial(case: &Case, trial: &Trial, setup: &Setup, rows: &mut Vec<Row>) {
    let refused = support::refusal(setup, trial.needs);
    let start = ThreadTime::now();
    let values = match refused {
        Some(_) => Ok(Vec::new()),
        None => (trial.run)(setup),
    };
    let cpu = start.elapsed().as_secs_f64();
    for (i, part) in trial.parts.iter().enumerate() {
        let tolerance = part.tolerance.at(setup.dt);
        let value = values.as_ref().map(|v| v.get(i));
        let outcome = match (&refused, value) {
            (Some(reason), _) => Outcome::Refused {
                reason: reason.clone(),
            },
            (None, Ok(Some(v))) if v.error.is_finite() => Outcome::Measured {
                error: v.error,
                tolerance,
                peer_error: v.peer_error,
            },
            (None, Ok(Some(_))) => Outcome::Stopped {
                reason: "no finite error could be measured".to_owned(),
                tolerance,
            },
            (None, Ok(None)) => Outcome::Stopped {
                reason: "nothing was measured".to_owned(),
                tolerance,
            },
            (None, Err(stop)) => Outcome::Stopped {
                reason: stop.reason.clone(),
                tolerance,
            },
        };
        rows.push(Row {
            case: case.id,
            part: part.name,
            method: setup.method.clone(),
            form: setup.form,
            dt: setup.dt,
            outcome,
            cpu,
        });
    }
}
