//! Order of convergence: how the error of a part falls with the step, where that says something.
//!
//! Reads: cases.  Writes: nothing.
//! Called by: the command line, `doc`.
//! Source: the order is the slope of log error over log step, by least squares over the errors that are above rounding.

use crate::case::{Case, Form, Setup, Trial};
use crate::cases::all_cases;
use crate::run::run_trial;

/// The steps measured [s], each half the last.
pub const STEPS: [f64; 4] = [8e-3, 4e-3, 2e-3, 1e-3];

/// Parts whose error comes from the step and nothing else. Parts that are exact at any step have no order; chaotic ones none that means anything.
const PARTS: [(&str, &str); 8] = [
    ("F07", "return"),
    ("F12", "b-J"),
    ("F13", "a-angle"),
    ("F14", "a-tilt"),
    ("F15", "time"),
    ("F15", "energy"),
    ("F22", "b-energy"),
    ("F23", "energy"),
];

/// Errors of parts that joints cause are measured in both forms, the others in the maximal one.
const JOINTED: [&str; 3] = ["F14", "F15", "F22"];

/// Below this an error is rounding [1].
const ROUNDING: f64 = 1e-12;

/// The errors of one part with one method in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Case.
    pub case: &'static str,
    /// Part.
    pub part: &'static str,
    /// Name of the method.
    pub method: String,
    /// How joints were held.
    pub form: Form,
    /// Error at each of [`STEPS`]; `None` where the run stopped.
    pub errors: [Option<f64>; STEPS.len()],
}

impl Line {
    /// The observed order; `None` with fewer than two errors above rounding.
    #[must_use]
    pub fn order(&self) -> Option<f64> {
        let points: Vec<(f64, f64)> = STEPS
            .iter()
            .zip(self.errors)
            .filter_map(|(dt, e)| Some((*dt, e.filter(|e| *e > ROUNDING)?)))
            .map(|(dt, e)| (libm::log(dt), libm::log(e)))
            .collect();
        let n = points.len() as f64;
        if n < 2.0 {
            return None;
        }
        let (x, y) = points
            .iter()
            .fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
        let (top, bottom) = points.iter().fold((0.0, 0.0), |s, p| {
            (s.0 + (p.0 - x) * (p.1 - y), s.1 + (p.0 - x) * (p.0 - x))
        });
        Some(top / bottom)
    }
}

/// Measures all parts with these methods; `progress` hears of each line.
pub fn measure(methods: &[&str], progress: &mut dyn FnMut(&Line)) -> Vec<Line> {
    let mut lines = Vec::new();
    for (id, name) in PARTS {
        let found = all_cases().iter().find_map(|case| {
            let has = |t: &&Trial| t.parts.iter().any(|p| p.name == name);
            (case.id == id)
                .then(|| case.trials.iter().find(has))
                .flatten()
                .map(|trial| (case, trial))
        });
        let Some((case, trial)) = found else { continue };
        let forms: &[Form] = if JOINTED.contains(&id) {
            &Form::ALL
        } else {
            &[Form::Maximal]
        };
        for &method in methods {
            for &form in forms {
                let errors =
                    STEPS.map(|dt| error(case, trial, name, &Setup::new(method, form, dt)));
                let line = Line {
                    case: case.id,
                    part: name,
                    method: method.to_owned(),
                    form,
                    errors,
                };
                progress(&line);
                lines.push(line);
            }
        }
    }
    lines
}

fn error(case: &Case, trial: &Trial, part: &str, setup: &Setup) -> Option<f64> {
    let mut rows = Vec::new();
    run_trial(case, trial, setup, &mut rows);
    let row = rows.iter().find(|r| r.part == part)?;
    // Error, not score: tolerances depend on the step too.
    match row.outcome {
        crate::row::Outcome::Measured { error, .. } => Some(error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(errors: [Option<f64>; 4]) -> Line {
        Line {
            case: "F07",
            part: "return",
            method: "sequential".to_owned(),
            form: Form::Maximal,
            errors,
        }
    }

    #[test]
    fn the_order_is_the_slope() {
        let second = STEPS.map(|dt| Some(3.0 * dt * dt));
        assert!((line(second).order().unwrap() - 2.0).abs() < 1e-12);
        // Rounding and stopped runs do not count.
        let mut some = second;
        some[3] = Some(1e-15);
        some[0] = None;
        assert!((line(some).order().unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(line([None, None, None, Some(1.0)]).order(), None);
    }

    #[test]
    fn every_part_exists() {
        for (id, name) in PARTS {
            let case = all_cases().iter().find(|c| c.id == id).unwrap();
            assert!(case.parts().any(|p| p.name == name), "{id} {name}");
        }
    }
}
