//! The page of `tippe lab`: velocities over time, dispersion of chains.
//!
//! Reads: what the rows did.  Writes: HTML text.
//! Called by: `lab`.
//! Source: plots and style are those of the page of a run.

use std::fmt::Write as _;

use super::{GliderRow, Run, four};
use crate::report;
use crate::svg::escape;
use crate::svg::plot::{Across, Line, Plot, Scale};

/// Most points of a line.
const POINTS_MAX: usize = 400;

/// The whole page.
pub fn html(runs: &[Run], chains: &[GliderRow]) -> String {
    let mut out = report::head("The laboratory of elastic balls", "");
    out.push_str("<h1>The laboratory of elastic balls</h1>\n");
    if !runs.is_empty() {
        out.push_str("<section>\n<h2>Balls</h2>\n<p>Equal balls that just touch, with F = H ξʳ between them; mass, H and speed of arrival are 1.</p>\n");
        table(&mut out, runs);
        let plots: Vec<Plot> = runs.iter().enumerate().map(ball_plot).collect();
        report::plots(&mut out, &plots);
        out.push_str("</section>\n");
    }
    if !chains.is_empty() {
        out.push_str("<section>\n<h2>Gliders</h2>\n<p>A pulse keeps its shape if every frequency is a multiple of the lowest: a straight line.</p>\n");
        report::plots(&mut out, &[dispersion(chains)]);
        let plots: Vec<Plot> = chains.iter().enumerate().map(glider_plot).collect();
        report::plots(&mut out, &plots);
        out.push_str("</section>\n");
    }
    out.push_str(&report::foot());
    out
}

fn table(out: &mut String, runs: &[Run]) {
    out.push_str("<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>Speeds after the impact, and when the last ball has half of its own, in τ</caption>\n<thead><tr><th scope=\"col\"></th><th scope=\"col\">speeds</th><th scope=\"col\">time</th></tr></thead>\n<tbody>\n");
    for run in runs {
        let speeds: Vec<String> = run.passage.velocities.iter().map(|v| four(*v)).collect();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{:.3}</td></tr>",
            escape(&run.name),
            speeds.join(" "),
            run.passage.propagation
        );
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

fn ball_plot((i, run): (usize, &Run)) -> Plot {
    course(
        format!("plot-balls-{i}"),
        &run.name,
        "ball",
        &run.passage.course,
    )
}

fn glider_plot((i, row): (usize, &GliderRow)) -> Plot {
    let course_of = row.passages.first().map_or(&[][..], |p| &p.course);
    course(format!("plot-gliders-{i}"), &row.name, "glider", course_of)
}

/// Velocities over time, thinned out.
fn course(id: String, title: &str, what: &str, course: &[(f64, Vec<f64>)]) -> Plot {
    let every = course.len().div_ceil(POINTS_MAX).max(1);
    let count = course.first().map_or(0, |c| c.1.len());
    let line = |k: usize| Line {
        name: format!("{what} {}", k + 1),
        points: course
            .iter()
            .enumerate()
            .filter(|(i, _)| i % every == 0 || *i + 1 == course.len())
            .map(|(_, (t, v))| (*t, v[k]))
            .collect(),
    };
    Plot {
        id,
        title: title.into(),
        description: format!("Velocity of every {what} over time."),
        unit: "v".into(),
        scale: Scale::Linear,
        across: Across {
            label: "time [τ]".into(),
            scale: Scale::Linear,
        },
        lines: (0..count).map(line).collect(),
    }
}

/// Frequencies by their number, relative to the lowest.
fn dispersion(chains: &[GliderRow]) -> Plot {
    let line = |row: &GliderRow| {
        let lowest = row.frequencies.get(1).copied().unwrap_or(1.0);
        Line {
            name: row.name.clone(),
            points: row
                .frequencies
                .iter()
                .enumerate()
                .map(|(k, w)| (k as f64, w / lowest))
                .collect(),
        }
    };
    Plot {
        id: "plot-dispersion".into(),
        title: "Dispersion".into(),
        description: "Eigenfrequencies relative to the lowest, by their number.".into(),
        unit: "of the lowest".into(),
        scale: Scale::Linear,
        across: Across {
            label: "number of the mode".into(),
            scale: Scale::Linear,
        },
        lines: chains.iter().map(line).collect(),
    }
}
