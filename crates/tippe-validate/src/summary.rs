//! What the rows come to: which cases hold with some method, which method to take for each, and every miss with its reason.
//!
//! Reads: rows.  Writes: text.
//! Called by: the command line, `doc`.
//! Source: a case holds with a setup when every part of it was measured and passes.

use std::fmt::Write as _;

use crate::case::{Case, DT_FINE, Form};
use crate::misses;
use crate::row::{Outcome, Row, step_name};

/// Scores below this count as equally good when setups are compared: then the cheaper one is recommended.
pub const SCORE_SAME: f64 = 0.01;

/// How one case fared with one method in one form at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Name of the method.
    pub method: String,
    /// How joints were held.
    pub form: Form,
    /// Worst score of its parts; infinite if one stopped.
    pub score: f64,
    /// Name of the worst part.
    pub worst: &'static str,
    /// Time of the processor for the whole case [s].
    pub cpu: f64,
}

impl Standing {
    /// Whether the whole case passes.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.score <= 1.0
    }

    /// Method and form in words; the form only where there is a choice to tell apart.
    #[must_use]
    pub fn name(&self) -> String {
        setup_name(&self.method, self.form)
    }
}

/// Method and form as people say it.
#[must_use]
pub fn setup_name(method: &str, form: Form) -> String {
    match form {
        Form::Maximal => method.to_owned(),
        Form::Articulated => format!("{method}, articulated"),
        Form::Adaptive => format!("{method}, adaptive"),
    }
}

/// Every setup that measured the whole case at a step, the recommended one first: those that pass before those that do not, by worst
/// score, scores below [`SCORE_SAME`] by cost.
#[must_use]
pub fn standings(case: &Case, rows: &[Row], dt: f64) -> Vec<Standing> {
    let of_case: Vec<&Row> = rows
        .iter()
        .filter(|r| r.case == case.id && r.dt == dt)
        .collect();
    let mut all: Vec<Standing> = Vec::new();
    for group in of_case.chunk_by(|a, b| a.method == b.method && a.form == b.form) {
        if group.iter().any(|r| r.pass().is_none()) {
            continue;
        }
        let score = |r: &Row| r.score().unwrap_or(f64::INFINITY);
        let Some(worst) = group.iter().max_by(|a, b| score(a).total_cmp(&score(b))) else {
            continue;
        };
        all.push(Standing {
            method: worst.method.clone(),
            form: worst.form,
            score: score(worst),
            worst: worst.part,
            cpu: case_cpu(case, group),
        });
    }
    let rank = |s: &Standing| s.score.max(SCORE_SAME);
    all.sort_by(|a, b| {
        let by_score = rank(a).total_cmp(&rank(b));
        by_score.then(a.cpu.total_cmp(&b.cpu))
    });
    all
}

/// Time of the processor over the trials of a case [s]; the parts of one trial share theirs.
fn case_cpu(case: &Case, rows: &[&Row]) -> f64 {
    let first_of_trial = |t: &crate::case::Trial| {
        let name = t.parts.first().map(|p| p.name);
        rows.iter().find(|r| Some(r.part) == name).map(|r| r.cpu)
    };
    case.trials.iter().filter_map(first_of_trial).sum()
}

/// Whether a case is one of those with an exact answer, F00 to F25.
#[must_use]
pub fn is_exact(case: &Case) -> bool {
    case.id <= "F25"
}

/// Of F00 to F25 at 1 ms: how many hold with some setup, of how many that were measured.
#[must_use]
pub fn held(cases: &[Case], rows: &[Row]) -> (usize, usize) {
    let measured: Vec<Vec<Standing>> = cases
        .iter()
        .filter(|c| is_exact(c))
        .map(|c| standings(c, rows, DT_FINE))
        .filter(|s| !s.is_empty())
        .collect();
    let held = measured.iter().filter(|s| s[0].holds()).count();
    (held, measured.len())
}

/// The rows that failed.
pub fn failures(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|r| r.pass() == Some(false))
}

/// A failed row in one line: where, by how much, and why.
#[must_use]
pub fn failure_line(row: &Row) -> String {
    let figure = match &row.outcome {
        Outcome::Measured {
            error, tolerance, ..
        } => format!(
            "{error:.2e}, {} times the tolerance",
            times(error / tolerance)
        ),
        Outcome::Stopped { reason, .. } => format!("stopped: {reason}"),
        Outcome::Refused { reason } => format!("refused: {reason}"),
    };
    let reason = misses::reason(row).unwrap_or("NEW: no reason is known yet");
    format!(
        "{} {}, {} at {}: {figure}; {reason}",
        row.case,
        row.part,
        setup_name(&row.method, row.form),
        step_name(row.dt),
    )
}

/// A factor in few digits.
#[must_use]
pub fn times(x: f64) -> String {
    if x < 100.0 {
        format!("{x:.2}")
    } else if x < 1e5 {
        format!("{x:.0}")
    } else {
        format!("{x:.0e}")
    }
}

/// The summary for people: cases that hold, what to take for each, and every miss.
#[must_use]
pub fn text(cases: &[Case], rows: &[Row]) -> String {
    let mut out = String::new();
    let (held, measured) = held(cases, rows);
    if measured > 0 {
        let _ = writeln!(
            out,
            "\n{held} of the {measured} exact cases measured at 1 ms hold with some method and form; the recommended one for each:"
        );
    }
    for case in cases {
        if let Some(best) = standings(case, rows, DT_FINE).first() {
            let verdict = if best.holds() { "holds" } else { "MISSES" };
            let _ = writeln!(
                out,
                "  {:<4} {:<15} {:<24} {verdict}, worst score {} ({}), {:.2} s of CPU time",
                case.id,
                case.name,
                best.name(),
                score_text(best.score),
                best.worst,
                best.cpu
            );
        }
    }
    let failures: Vec<&Row> = failures(rows).collect();
    if !failures.is_empty() {
        let _ = writeln!(out, "\nmisses, each with its figure and the reason:");
    }
    for row in failures {
        let _ = writeln!(out, "  {}", failure_line(row));
    }
    out
}

/// A score in few digits.
#[must_use]
pub fn score_text(score: f64) -> String {
    if score == 0.0 {
        "0".to_owned()
    } else if score < 0.01 {
        format!("{score:.0e}")
    } else {
        times(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::all_cases;

    fn row(part: &'static str, method: &str, error: f64, cpu: f64) -> Row {
        Row {
            case: "F01",
            part,
            method: method.to_owned(),
            form: Form::Maximal,
            dt: DT_FINE,
            outcome: Outcome::Measured {
                error,
                tolerance: 1.0,
                peer_error: None,
            },
            cpu,
        }
    }

    #[test]
    fn the_recommended_setup_passes_and_is_cheap_among_equals() {
        let f01 = &all_cases()[1];
        let rows = [
            row("distance", "sequential", 1e-4, 3.0),
            row("creep", "sequential", 1e-5, 3.0),
            row("distance", "iterative", 1e-3, 1.0),
            row("creep", "iterative", 1e-9, 1.0),
        ];
        // Both scores are far below the tolerance: the cheaper one.
        let all = standings(f01, &rows, DT_FINE);
        assert_eq!((all[0].method.as_str(), all[0].cpu), ("iterative", 1.0));
        assert_eq!(held(&all_cases()[..3], &rows), (1, 1));
        // A clear difference in score outweighs cost.
        let mut worse = rows.clone();
        worse[2] = row("distance", "iterative", 0.5, 1.0);
        assert_eq!(standings(f01, &worse, DT_FINE)[0].method, "sequential");
        // Refused in part: no standing.
        let mut refused = rows;
        refused[3].outcome = Outcome::Refused {
            reason: String::new(),
        };
        assert_eq!(standings(f01, &refused, DT_FINE).len(), 1);
    }

    #[test]
    fn a_miss_is_told_with_its_figure() {
        let line = failure_line(&row("distance", "sequential", 2.5, 0.0));
        assert!(
            line.contains("F01 distance, sequential at 1 ms: 2.50e0, 2.50 times"),
            "{line}"
        );
        assert!(line.contains("NEW"), "{line}");
    }
}
