//! What `tippe lcp` prints, for people and for machines.
//!
//! Reads: what the kernels found.  Writes: strings.
//! Called by: `lcp`.
//! Source: none; docs/lcp.md tells the columns.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tippe::math::lcp::{End, Problem};

use super::Line;
use super::read::File;

/// Largest difference in w between kernels that solved the problem; `None` if fewer than two did.
fn apart(lines: &[Line]) -> Option<f64> {
    let solved: Vec<&Line> = lines
        .iter()
        .filter(|l| l.solution.end == End::Solved)
        .collect();
    let (first, others) = solved.split_first()?;
    let difference = |l: &&Line| {
        let pairs = l.solution.w.iter().zip(&first.solution.w);
        pairs.fold(0.0_f64, |s, (a, b)| s.max((a - b).abs()))
    };
    others.iter().map(difference).reduce(f64::max)
}

fn format_name(file: &File) -> &'static str {
    if file.contacts.is_some() {
        "contacts"
    } else {
        "plain"
    }
}

/// The table.
pub fn text(path: &Path, problem: &Problem, lines: &[Line]) -> String {
    let mut text = format!(
        "{}: {} rows, {} matrix\n\n",
        path.display(),
        problem.len(),
        if problem.symmetric() {
            "symmetric"
        } else {
            "unsymmetric"
        },
    );
    let contact = lines.iter().any(|l| l.contact.is_some());
    let natural = if contact { "  natural map" } else { "" };
    let _ = writeln!(
        text,
        "kernel        outcome          residual{natural}   pivots   sweeps    time [ms]"
    );
    for l in lines {
        let s = &l.solution;
        if let End::NotApplicable(reason) = s.end {
            let _ = writeln!(text, "{:<13} {:<14} {reason}", l.kernel, s.end.name());
            continue;
        }
        let natural = l
            .contact
            .map_or(String::new(), |c| format!(" {:>12.2e}", c.natural));
        let _ = writeln!(
            text,
            "{:<13} {:<14} {:>10.2e}{natural} {:>8} {:>8} {:>12.3}",
            l.kernel,
            s.end.name(),
            s.residual,
            s.pivots,
            s.sweeps,
            1e3 * l.seconds
        );
    }
    if let Some(apart) = apart(lines) {
        let _ = writeln!(
            text,
            "\nlargest difference in w between the solved: {apart:.2e}"
        );
    }
    if let Some(ray) = lines.iter().find_map(|l| match &l.solution.end {
        End::Infeasible(ray) => Some(ray),
        _ => None,
    }) {
        let parts: Vec<String> = (0..ray.len())
            .filter(|&i| ray[i].abs() > 1e-9)
            .take(12)
            .map(|i| format!("{i}: {:.6}", ray[i]))
            .collect();
        let _ = writeln!(
            text,
            "\nno solution: forces along these rows change no w, and b opposes them: {}",
            parts.join(", ")
        );
    }
    if problem.len() <= 12
        && let Some(l) = lines.iter().find(|l| l.solution.end == End::Solved)
    {
        let _ = writeln!(text, "\nby {}:\n row             f             w", l.kernel);
        for i in 0..problem.len() {
            let _ = writeln!(
                text,
                "{i:>4} {:>13.6e} {:>13.6e}",
                l.solution.f[i], l.solution.w[i]
            );
        }
    }
    text
}

/// One object.
pub fn json(path: &Path, file: &File, problem: &Problem, lines: &[Line]) -> String {
    let kernels: Vec<Value> = lines
        .iter()
        .map(|l| {
            let s = &l.solution;
            let mut value = json!({
                "kernel": l.kernel, "outcome": s.end.name(), "residual": s.residual, "pivots": s.pivots,
                "sweeps": s.sweeps, "seconds": l.seconds, "f": s.f, "w": s.w,
            });
            match &s.end {
                End::Infeasible(ray) => value["ray"] = json!(ray),
                End::NotApplicable(reason) => {
                    value = json!({"kernel": l.kernel, "outcome": s.end.name(), "reason": reason});
                }
                _ => {}
            }
            if let Some(c) = l.contact.filter(|_| !matches!(s.end, End::NotApplicable(_))) {
                value["natural"] = json!(c.natural);
            }
            value
        })
        .collect();
    let object = json!({
        "file": path.display().to_string(), "format": format_name(file), "rows": problem.len(),
        "symmetric": problem.symmetric(), "apart": apart(lines), "kernels": kernels,
    });
    format!("{object}\n")
}
