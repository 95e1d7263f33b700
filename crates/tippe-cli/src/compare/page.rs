//! The page of `tippe compare`: a table of the methods, and their courses laid over each other.
//!
//! Reads: what the methods did.  Writes: HTML text.
//! Called by: `compare`.
//! Source: plots and style are those of the page of a run.

use std::fmt::Write as _;

use super::{Contestant, lines};
use crate::report::{self, plots};
use crate::series::Series;
use crate::statistics::AllSeries;
use crate::summary::Summary;
use crate::svg::escape;
use crate::svg::plot::{Across, Line, Plot, Scale};

/// The whole page.
pub fn html(contestants: &[Contestant], summaries: &[Summary]) -> String {
    let name = escape(summaries.first().map_or("", |s| s.scene.as_str()));
    let mut out = report::head(&format!("{name}: methods compared"), "");
    let _ = writeln!(out, "<h1>{name}: methods compared</h1>");
    for (c, s) in contestants.iter().zip(summaries) {
        if let Some(reason) = &c.stopped {
            let _ = writeln!(
                out,
                "<p class=\"warning\" role=\"alert\"><strong>{}</strong> {}</p>",
                escape(&s.method),
                escape(reason)
            );
        }
    }
    out.push_str("<section>\n<h2>Side by side</h2>\n");
    table(&mut out, contestants, summaries);
    out.push_str("</section>\n<section>\n<h2>Difference of motion</h2>\n");
    plots(&mut out, &difference(contestants, summaries));
    out.push_str("<p class=\"note\">Methods differ in what they do with several impacts at once, and small differences grow where the motion is chaotic: a distance alone does not say who is right. The certificates below do.</p>\n");
    out.push_str("</section>\n<section>\n<h2>Energy</h2>\n");
    plots(&mut out, &energy(contestants, summaries));
    out.push_str("</section>\n<section>\n<h2>Certificates and speed</h2>\n");
    plots(&mut out, &certificates(contestants, summaries));
    out.push_str("</section>\n<section>\n<h2>Where the bodies are</h2>\n");
    for (i, (c, s)) in contestants.iter().zip(summaries).enumerate() {
        let _ = writeln!(out, "<h3>{}</h3>", escape(&s.method));
        report::motion(&mut out, &c.film, &c.scene.world, &format!("m{i}"));
    }
    out.push_str("</section>\n");
    out.push_str(&report::foot());
    out
}

fn table(out: &mut String, contestants: &[Contestant], summaries: &[Summary]) {
    out.push_str("<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>What each method computed, and how far from right it is; shares are of the energy that moved at all</caption>\n<thead><tr><th scope=\"col\"></th>");
    for s in summaries {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(&s.method));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (label, values) in lines(contestants, summaries) {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(&label));
        for value in values {
            let _ = write!(out, "<td>{}</td>", escape(&value));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

fn difference(contestants: &[Contestant], summaries: &[Summary]) -> [Plot; 1] {
    let mut lines = Vec::new();
    for (c, s) in contestants.iter().zip(summaries).skip(1) {
        for (what, series) in [
            ("farthest body", &c.difference.largest),
            ("root mean square", &c.difference.rms),
        ] {
            lines.push(Line {
                name: format!("{}, {what}", s.method),
                points: series.points(),
            });
        }
    }
    let against = summaries.first().map_or("", |s| s.method.as_str());
    [Plot {
        id: "plot-difference".into(),
        title: format!("Distance from {against}"),
        description: format!(
            "Distance between the centres of mass of the same body by {against} and by the other methods."
        ),
        unit: "m".into(),
        scale: Scale::Log,
        across: Across::time(),
        lines,
    }]
}

/// One plot with a line for each method.
fn overlay(
    contestants: &[Contestant],
    summaries: &[Summary],
    (id, title, unit): (&str, &str, &str),
    scale: Scale,
    description: &str,
    pick: fn(&AllSeries) -> &Series,
) -> Plot {
    let line = |(c, s): (&Contestant, &Summary)| Line {
        name: s.method.clone(),
        points: pick(&c.statistics.series).points(),
    };
    Plot {
        id: format!("plot-{id}"),
        title: title.into(),
        description: description.into(),
        unit: unit.into(),
        scale,
        across: Across::time(),
        lines: contestants.iter().zip(summaries).map(line).collect(),
    }
}

#[rustfmt::skip]
fn energy(c: &[Contestant], s: &[Summary]) -> [Plot; 5] {
    use Scale::{Linear, Log};
    [
        overlay(c, s, ("kinetic", "Kinetic energy", "J"), Linear, "Kinetic energy over time.", |a| &a.kinetic),
        overlay(c, s, ("potential", "Potential energy", "J"), Linear, "Potential energy over time.", |a| &a.potential),
        overlay(c, s, ("friction", "Lost to friction", "J"), Linear, "Energy that friction has taken since the start.", |a| &a.friction),
        overlay(c, s, ("restitution", "Lost to restitution", "J"), Linear, "Energy that impacts have taken since the start.", |a| &a.restitution),
        overlay(c, s, ("unexplained", "Unexplained energy", "J"), Log, "What the ledger cannot explain since the start, by size: numerical error.", |a| &a.unexplained),
    ]
}

#[rustfmt::skip]
fn certificates(c: &[Contestant], s: &[Summary]) -> [Plot; 6] {
    use Scale::{Linear, Log};
    [
        overlay(c, s, ("contacts", "Contacts", "per step"), Linear, "Contact points that carried an impulse.", |a| &a.contacts),
        overlay(c, s, ("penetration", "Penetration", "m"), Log, "Deepest penetration that detection found at the start of each step.", |a| &a.penetration_found),
        overlay(c, s, ("normal", "Normal residual", "m/s"), Log, "How far the worst contact is from its normal condition.", |a| &a.complementarity),
        overlay(c, s, ("stick", "Stick and slip residual", "m/s"), Log, "How far the worst contact is from sticking or sliding as it should.", |a| &a.stick_slip),
        overlay(c, s, ("joint", "Joint position residual", "m"), Log, "Distance of the anchors of the worst joint.", |a| &a.joint_position),
        overlay(c, s, ("ms", "Wall time", "ms"), Linear, "Wall time of each step on the machine that ran it; the methods took turns.", |a| &a.step_ms),
    ]
}
