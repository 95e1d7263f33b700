//! The results: a table to read and to put into docs/speed.md, and a file of comma-separated values.
//!
//! Reads: `Row`.  Writes: text.
//! Called by: `main`.
//! Source: none.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::measure::Row;
use crate::phases::NAMES;

/// The engine the others are compared with.
const YARDSTICK: &str = "Rapier";

/// Lines above the rows.
pub fn head() -> String {
    "\
| scene | steps | engine | mean [ms] | p99 [ms] | worst/mean | first tenth | last tenth | × Rapier | deepest [m] | p99 depth [m] | joint error [m] | escaped | height [m] |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"
    .to_string()
}

/// The rows of one scene.
pub fn text(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        let f = &row.findings;
        let name = if row.stopped.is_empty() {
            row.engine.to_string()
        } else {
            format!("{} (stopped at {})", row.engine, row.stopped)
        };
        let _ = writeln!(
            out,
            "| {} | {} | {name} | {:.3} | {:.3} | {:.1} | {:.3} | {:.2} | {} | {} | {} | {} | {} | {:.3} |",
            row.scene,
            row.steps,
            row.mean,
            row.p99,
            row.peak,
            row.first,
            row.last,
            ratio(row, rows).map_or_else(|| "-".into(), |r| format!("{r:.2}")),
            depth(f.deepest),
            depth(f.p99),
            depth(f.joint_error),
            f.escaped,
            f.height,
        );
    }
    out
}

/// Lines above the rows of phases.
pub fn phase_head() -> String {
    let names = NAMES.map(|n| format!("{n} [ms]")).join(" | ");
    format!(
        "\n| scene | {names} | substeps | sweeps | factorisations |\n|{}\n",
        "---|".repeat(NAMES.len() + 4)
    )
}

/// Means a step by phase, of those engines that tell them.
pub fn phases(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        let Some(times) = &row.phases else { continue };
        let steps = f64::from(times.steps.max(1));
        let ms = times.ms.map(|t| format!("{:.4}", t / steps)).join(" | ");
        let counts = times.counts.map(|c| format!("{:.1}", c as f64 / steps));
        let _ = writeln!(out, "| {} | {ms} | {} |", row.scene, counts.join(" | "));
    }
    out
}

/// Heads of the columns of the file.
pub const CSV_HEAD: &str = "date,machine,load_before,scene,engine,bodies,dt_s,steps,cpu_ms_mean,cpu_ms_p99,worst_over_mean,cpu_ms_first_tenth,cpu_ms_last_tenth,times_rapier,deepest_m,p99_depth_m,overlapping_pairs,joint_error_m,escaped,mean_height_m,stopped\n";

/// The rows of one scene as lines of the file.
pub fn csv(rows: &[Row], date: &str, machine: &str, load: &str) -> String {
    let mut out = String::new();
    for row in rows {
        let f = &row.findings;
        let _ = writeln!(
            out,
            "{date},{machine},{load},{},{},{},{},{},{:.4},{:.4},{:.4},{:.4},{:.4},{},{:e},{:e},{},{:e},{},{:.6},{}",
            row.scene,
            row.engine,
            row.bodies,
            row.dt,
            row.steps,
            row.mean,
            row.p99,
            row.peak,
            row.first,
            row.last,
            ratio(row, rows).map_or_else(String::new, |r| format!("{r:.4}")),
            f.deepest,
            f.p99,
            f.overlapping,
            f.joint_error,
            f.escaped,
            f.height,
            row.stopped.replace([',', '\n'], ";"),
        );
    }
    out
}

/// Time of a row over the time of the yardstick on the same scene.
fn ratio(row: &Row, rows: &[Row]) -> Option<f64> {
    let yardstick = rows.iter().find(|r| r.engine.starts_with(YARDSTICK))?;
    Some(row.mean / yardstick.mean)
}

/// A length: three digits, zero as such.
fn depth(x: f64) -> String {
    if x == 0.0 {
        "0".into()
    } else if x >= 1e-3 {
        format!("{x:.4}")
    } else {
        format!("{x:.1e}")
    }
}

/// Today, as year-month-day, in universal time.
pub fn today() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a day counted from 1970-01-01.
fn civil(mut days: u64) -> (u64, usize, u64) {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_772), (2026, 11, 15));
    }
}
