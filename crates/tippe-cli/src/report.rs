//! The page of a run, `report.html`: tables, pictures and plots in one file that needs nothing else.
//!
//! Reads: Summary, Statistics, Film, World.  Writes: HTML text.
//! Called by: `run`; `compare` and `validate` use its parts.
//! Source: plain HTML and inline SVG; light and dark follow the reader's system.

use std::fmt::Write as _;

use tippe::{BodyKind, World};

use crate::film::Film;
use crate::format::{number, share};
use crate::statistics::{AllSeries, Statistics};
use crate::summary::Summary;
use crate::svg::escape;
use crate::svg::plot::{self, Across, Line, Plot, Scale};
use crate::svg::scene::Stage;

const STYLE: &str = include_str!("report.css");

/// What the page says besides numbers.
pub struct Page<'a> {
    /// What the scene is about; may be empty.
    pub description: &'a str,
    /// The scene with all defaults written out.
    pub explained: &'a str,
    /// The replay, or nothing.
    pub replay: &'a str,
    /// How the run ended, if not as planned.
    pub ended: Option<&'a str>,
}

/// The whole page.
pub fn html(
    page: &Page,
    summary: &Summary,
    statistics: &Statistics,
    film: &Film,
    world: &World,
) -> String {
    let name = escape(&summary.scene);
    let mut out = head(&format!("{name}: a Tippe run"), "");
    let _ = writeln!(out, "<h1>{name}</h1>");
    if !page.description.trim().is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escape(page.description.trim()));
    }
    if let Some(ended) = page.ended {
        let _ = writeln!(
            out,
            "<p class=\"warning\" role=\"alert\"><strong>Not finished.</strong> {}</p>",
            escape(ended)
        );
    }
    out.push_str("<section>\n<h2>Summary</h2>\n");
    summary_table(&mut out, summary, world);
    warnings(&mut out, summary);
    out.push_str("</section>\n<section>\n<h2>Motion</h2>\n");
    out.push_str(page.replay);
    motion(&mut out, film, world, "shot");
    out.push_str("</section>\n<section>\n<h2>Energy</h2>\n");
    ledger_table(&mut out, summary);
    plots(
        &mut out,
        &energy_plots(&statistics.series, summary.energy.turnover),
    );
    out.push_str("</section>\n<section>\n<h2>Contacts and accuracy</h2>\n");
    plots(&mut out, &accuracy_plots(&statistics.series));
    out.push_str("</section>\n<section>\n<h2>Speed</h2>\n");
    plots(&mut out, &[speed_plot(&statistics.series)]);
    out.push_str("</section>\n<section>\n<h2>Settings</h2>\n");
    let _ = writeln!(
        out,
        "<details>\n<summary>The scene with all defaults written out</summary>\n<pre tabindex=\"0\">{}</pre>\n</details>\n</section>",
        escape(page.explained)
    );
    out.push_str(&foot());
    out
}

/// What a page begins with, up to its first heading; the title is escaped already.
pub fn head(title: &str, more_style: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{more_style}</style>\n</head>\n<body>\n<main>\n"
    )
}

/// What a page ends with.
pub fn foot() -> String {
    format!(
        "</main>\n<footer><p>Written by tippe {}. Lines of more than 600 values show the least and the greatest of each stretch.</p></footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn summary_table(out: &mut String, summary: &Summary, world: &World) {
    out.push_str(
        "<table>\n<caption>What was computed, and how far from right it is</caption>\n<tbody>\n",
    );
    for (label, value) in summary.lines(world) {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
            escape(&label),
            escape(&value)
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

fn warnings(out: &mut String, summary: &Summary) {
    if summary.warnings.is_empty() {
        out.push_str("<p>No warnings.</p>\n");
        return;
    }
    out.push_str("<h3>Warnings</h3>\n<ul class=\"warning\">\n");
    for warning in &summary.warnings {
        let _ = writeln!(out, "<li>{}</li>", escape(warning));
    }
    out.push_str("</ul>\n");
}

fn ledger_table(out: &mut String, summary: &Summary) {
    let e = &summary.energy;
    out.push_str(
        "<div class=\"tables\">\n<table>\n<caption>Energy [J]; potential energy is zero at the world origin</caption>\n\
         <thead><tr><th scope=\"col\"></th><th scope=\"col\">start</th><th scope=\"col\">end</th><th scope=\"col\">change</th></tr></thead>\n<tbody>\n",
    );
    for (name, start, end) in [
        ("kinetic", e.kinetic_start, e.kinetic),
        ("potential", e.potential_start, e.potential),
        (
            "sum",
            e.kinetic_start + e.potential_start,
            e.kinetic + e.potential,
        ),
    ] {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{name}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            number(start),
            number(end),
            number(end - start)
        );
    }
    let _ = writeln!(
        out,
        "</tbody>\n</table>\n<table>\n<caption>Where kinetic energy came from and went [J]; shares are of the turnover, {} J (the energy that moved at all), and of the total, {} J (kinetic and potential at most)</caption>\n\
         <thead><tr><th scope=\"col\"></th><th scope=\"col\">into motion</th><th scope=\"col\">of turnover</th><th scope=\"col\">of total</th></tr></thead>\n<tbody>",
        number(e.turnover),
        number(e.total)
    );
    for (name, value) in e.transfers() {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{name}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            number(value),
            share(value, e.turnover),
            share(value, e.total)
        );
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// Pictures side by side; their bodies keep their colours.
pub fn motion(out: &mut String, film: &Film, world: &World, id: &str) {
    let frames = film.frames();
    let Some(first) = frames.first() else { return };
    let stage = Stage::new(world, first, &frames);
    // Long low scenes get fewer, wider pictures in a row.
    let class = if stage.is_wide() {
        "pictures wide"
    } else {
        "pictures"
    };
    let _ = writeln!(out, "<div class=\"{class}\">");
    for (i, (frame, trails)) in film.shots().enumerate() {
        let title = format!("The bodies at {} s", number(frame.time));
        let _ = writeln!(
            out,
            "<figure>{}<figcaption>{} s</figcaption></figure>",
            stage.inline(frame, trails, &format!("{id}-{i}"), &title),
            number(frame.time)
        );
    }
    out.push_str("</div>\n");
    let prescribed = world.body_ids().any(|id| {
        world
            .body(id)
            .is_ok_and(|b| matches!(b.kind, BodyKind::Kinematic(_)))
    });
    let grey = if prescribed {
        " Grey bodies follow a prescribed motion."
    } else {
        ""
    };
    let trails = if film.has_trails() {
        " Dashed lines are the paths of the bodies so far."
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<p class=\"note\">Colours go by height at the start, blue low and red high, and by order among equals. Fixed bodies are drawn as light outlines.{grey}{trails}</p>"
    );
}

/// Plots side by side.
pub fn plots(out: &mut String, plots: &[Plot]) {
    out.push_str("<div class=\"plots\">\n");
    plots.iter().for_each(|p| out.push_str(&plot::draw(p)));
    out.push_str("</div>\n");
}

fn energy_plots(s: &AllSeries, turnover: f64) -> [Plot; 3] {
    let line = |name: &str, series: &crate::series::Series| Line {
        name: name.into(),
        points: series.points(),
    };
    let share = |name: &str, series: &crate::series::Series| Line {
        name: name.into(),
        points: series
            .points()
            .into_iter()
            .map(|(t, v)| (t, if turnover > 0.0 { v / turnover } else { 0.0 }))
            .collect(),
    };
    [
        Plot {
            id: "plot-energy".into(),
            title: "Energy".into(),
            description: "Kinetic and potential energy over time.".into(),
            unit: "J".into(),
            scale: Scale::Linear,
            across: Across::time(),
            lines: vec![line("kinetic", &s.kinetic), line("potential", &s.potential)],
        },
        ledger_plot("plot-ledger", s),
        Plot {
            id: "plot-ledger-error".into(),
            title: "Energy errors".into(),
            description: "Position correction and the unexplained part since the start, as a share of the turnover; size only.".into(),
            unit: "share".into(),
            scale: Scale::Log,
            across: Across::time(),
            lines: vec![share("position correction", &s.position_correction), share("unexplained", &s.unexplained)],
        },
    ]
}

/// What the ledger has booked since the start.
pub fn ledger_plot(id: &str, s: &AllSeries) -> Plot {
    let line = |name: &str, series: &crate::series::Series| Line {
        name: name.into(),
        points: series.points(),
    };
    Plot {
        id: id.into(),
        title: "Energy ledger".into(),
        description: "Transfers since the start: works into the bodies, losses out of them, all counted positive in that direction.".into(),
        unit: "J".into(),
        scale: Scale::Linear,
        across: Across::time(),
        lines: vec![
            line("friction", &s.friction),
            line("restitution", &s.restitution),
            line("drag", &s.drag),
            line("joints", &s.joint_friction),
            line("contact damping", &s.contact_damping),
            line("applied forces", &s.external),
            line("motors", &s.motors),
            line("prescribed bodies", &s.prescribed),
            line("shocks", &s.shock),
            line("numerical damping", &s.numerical_damping),
            line("gained", &s.gained),
            line("position correction", &s.position_correction),
            line("unexplained", &s.unexplained),
        ],
    }
}

fn accuracy_plots(s: &AllSeries) -> [Plot; 4] {
    let line = |name: &str, series: &crate::series::Series| Line {
        name: name.into(),
        points: series.points(),
    };
    [
        Plot {
            id: "plot-contacts".into(),
            title: "Contacts".into(),
            description: "Contact points that carried an impulse, and those of them that were impacts, in each step.".into(),
            unit: "per step".into(),
            scale: Scale::Linear,
            across: Across::time(),
            lines: vec![line("contacts", &s.contacts), line("collisions", &s.collisions)],
        },
        Plot {
            id: "plot-penetration".into(),
            title: "Penetration".into(),
            description: "Deepest penetration in each step: left by the step, and found by the detection at its start.".into(),
            unit: "m".into(),
            scale: Scale::Log,
            across: Across::time(),
            lines: vec![line("left by the step", &s.penetration), line("found by detection", &s.penetration_found)],
        },
        Plot {
            id: "plot-residuals".into(),
            title: "Residual velocities".into(),
            description: "How far each step's solution is from the conditions it should meet, the worst contact or joint.".into(),
            unit: "m/s".into(),
            scale: Scale::Log,
            across: Across::time(),
            lines: vec![
                line("normal", &s.complementarity),
                line("stick and slip", &s.stick_slip),
                line("joint velocity", &s.joint_velocity),
            ],
        },
        Plot {
            id: "plot-residuals-other".into(),
            title: "Other residuals".into(),
            description: "Tangential impulse beyond the friction cone, relative to its bound [1], and distance of joint anchors [m].".into(),
            unit: "1, m".into(),
            scale: Scale::Log,
            across: Across::time(),
            lines: vec![line("friction cone", &s.friction_cone), line("joint position", &s.joint_position)],
        },
    ]
}

fn speed_plot(s: &AllSeries) -> Plot {
    Plot {
        id: "plot-speed".into(),
        title: "Wall time".into(),
        description: "Wall time of each step on the machine that ran it.".into(),
        unit: "ms".into(),
        scale: Scale::Linear,
        across: Across::time(),
        lines: vec![Line {
            name: "wall time of a step".into(),
            points: s.step_ms.points(),
        }],
    }
}
