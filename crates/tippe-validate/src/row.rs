//! Result rows: one per case, part, method, form and step; as JSON lines and as a table.
//!
//! Reads: rows.  Writes: text.
//! Called by: `run` (makes rows), the command line (prints them).
//! Source: docs/fidelity.md (what the columns mean).

use crate::case::Form;
use crate::summary::score_text;
use std::fmt::Write as _;

/// One measured (or refused) part.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `F00` … `F28`.
    pub case: &'static str,
    /// Name of the part within the case.
    pub part: &'static str,
    /// Name of the method.
    pub method: String,
    /// How joints were held.
    pub form: Form,
    /// Step [s].
    pub dt: f64,
    /// What came out.
    pub outcome: Outcome,
    /// Time of the processor that its trial took, all parts together [s].
    pub cpu: f64,
}

/// What came out of one part.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A number.
    Measured {
        /// In the measure of the part.
        error: f64,
        /// What it may be at this step.
        tolerance: f64,
        /// The error in the measure of the other engines' figures, where that differs.
        peer_error: Option<f64>,
    },
    /// The run ended early or went non-finite.
    Stopped {
        /// Why.
        reason: String,
        /// What the error may be at this step.
        tolerance: f64,
    },
    /// The method lacks a feature the part needs, or data is missing.
    Refused {
        /// Which.
        reason: String,
    },
}

impl Row {
    /// Error over tolerance; at most 1 passes. `None` where nothing was measured.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Measured {
                error, tolerance, ..
            } => Some(error / tolerance),
            _ => None,
        }
    }

    /// Whether it passed; `None` if refused.
    #[must_use]
    pub fn pass(&self) -> Option<bool> {
        match self.outcome {
            Outcome::Measured {
                error, tolerance, ..
            } => Some(error <= tolerance),
            Outcome::Stopped { .. } => Some(false),
            Outcome::Refused { .. } => None,
        }
    }

    /// The error in the measure of the other engines' figures.
    #[must_use]
    pub fn peer_error(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Measured {
                error, peer_error, ..
            } => Some(peer_error.unwrap_or(error)),
            _ => None,
        }
    }
}

/// Whether no row failed; refused rows do not count.
#[must_use]
pub fn all_pass(rows: &[Row]) -> bool {
    rows.iter().all(|r| r.pass() != Some(false))
}

/// The row as one line of JSON, without the line end.
#[must_use]
pub fn json_line(row: &Row) -> String {
    let mut line = format!(
        "{{\"case\":{},\"part\":{},\"method\":{},\"form\":{},\"dt\":{:?}",
        quoted(row.case),
        quoted(row.part),
        quoted(&row.method),
        quoted(row.form.name()),
        row.dt
    );
    let rest = match &row.outcome {
        Outcome::Measured {
            error, tolerance, ..
        } => format!(
            ",\"error\":{error:?},\"tolerance\":{tolerance:?},\"score\":{:?},\"pass\":{}",
            error / tolerance,
            error <= tolerance
        ),
        Outcome::Stopped { reason, tolerance } => format!(
            ",\"error\":null,\"tolerance\":{tolerance:?},\"score\":null,\"pass\":false,\"stopped\":{}",
            quoted(reason)
        ),
        Outcome::Refused { reason } => format!(",\"refused\":{}", quoted(reason)),
    };
    line.push_str(&rest);
    line.push('}');
    line
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The rows as a table for people: case, part, method, form, step, error, tolerance, score, verdict.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut out = format!(
        "{:<5} {:<14} {:<11} {:<12} {:<9} {:>10} {:>10} {:>9}  {}\n",
        "case", "part", "method", "form", "dt", "error", "tolerance", "score", "verdict"
    );
    for row in rows {
        let _ = write!(
            out,
            "{:<5} {:<14} {:<11} {:<12} {:<9} ",
            row.case,
            row.part,
            row.method,
            row.form.name(),
            step_name(row.dt)
        );
        let _ = match &row.outcome {
            Outcome::Measured {
                error, tolerance, ..
            } => {
                let verdict = if error <= tolerance { "pass" } else { "FAIL" };
                writeln!(
                    out,
                    "{error:>10.2e} {tolerance:>10.1e} {:>9}  {verdict}",
                    score_text(error / tolerance)
                )
            }
            Outcome::Stopped { reason, tolerance } => {
                writeln!(
                    out,
                    "{:>10} {tolerance:>10.1e} {:>9}  FAIL: stopped: {reason}",
                    "-", "-"
                )
            }
            Outcome::Refused { reason } => {
                writeln!(out, "{:>10} {:>10} {:>9}  refused: {reason}", "-", "-", "-")
            }
        };
    }
    out
}

/// Writes the table and a line of counts.
///
/// # Errors
/// Those of the writer.
pub fn print_table(rows: &[Row], out: &mut dyn std::io::Write) -> std::io::Result<()> {
    out.write_all(table(rows).as_bytes())?;
    let count = |verdict: Option<bool>| rows.iter().filter(|r| r.pass() == verdict).count();
    writeln!(
        out,
        "{} passed, {} failed, {} refused",
        count(Some(true)),
        count(Some(false)),
        count(None)
    )
}

/// A step as people write it.
#[must_use]
pub fn step_name(dt: f64) -> String {
    let rate = (1.0 / dt).round();
    if dt < 2e-3 || (1.0 / dt - rate).abs() > 1e-6 * rate {
        let ms = format!("{:.6}", dt * 1e3);
        format!("{} ms", ms.trim_end_matches('0').trim_end_matches('.'))
    } else {
        format!("1/{rate} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(outcome: Outcome) -> Row {
        Row {
            case: "F01",
            part: "creep",
            method: "sequential".to_owned(),
            form: Form::Maximal,
            dt: 0.001,
            outcome,
            cpu: 0.0,
        }
    }

    #[test]
    fn json_has_the_promised_keys() {
        let measured = row(Outcome::Measured {
            error: 5e-7,
            tolerance: 1e-6,
            peer_error: None,
        });
        assert_eq!(
            json_line(&measured),
            r#"{"case":"F01","part":"creep","method":"sequential","form":"maximal","dt":0.001,"error":5e-7,"tolerance":1e-6,"score":0.5,"pass":true}"#
        );
        let stopped = row(Outcome::Stopped {
            reason: "body \"b\" went".to_owned(),
            tolerance: 1e-6,
        });
        assert_eq!(
            json_line(&stopped),
            r#"{"case":"F01","part":"creep","method":"sequential","form":"maximal","dt":0.001,"error":null,"tolerance":1e-6,"score":null,"pass":false,"stopped":"body \"b\" went"}"#
        );
        let refused = row(Outcome::Refused {
            reason: "no disc shape yet".to_owned(),
        });
        assert_eq!(
            json_line(&refused),
            r#"{"case":"F01","part":"creep","method":"sequential","form":"maximal","dt":0.001,"refused":"no disc shape yet"}"#
        );
        assert!(all_pass(&[measured, refused]));
        assert!(!all_pass(&[stopped]));
    }

    #[test]
    fn steps_are_named_as_people_write_them() {
        assert_eq!(step_name(0.001), "1 ms");
        assert_eq!(step_name(1.0 / 60.0), "1/60 s");
        assert_eq!(step_name(0.0005), "0.5 ms");
        assert_eq!(step_name(0.003), "3 ms");
    }
}
