//! The page of `tippe validate`: the text of the results with plots and pictures beside each case.
//!
//! Reads: results, exhibits.  Writes: HTML text, and the plots of cost as SVG.
//! Called by: `validate`.
//! Source: the text is that of `docs/fidelity.md`, see `tippe_validate::doc`.

use std::fmt::Write as _;

use tippe_validate::cost::{self, Point};
use tippe_validate::doc::{self, Results, Section};
use tippe_validate::doc_studies::loosen_text;
use tippe_validate::summary::{setup_name, standings};
use tippe_validate::{Case, Form, Setup};

use super::exhibit::{Exhibit, Note};
use super::markdown;
use crate::report::{self, ledger_plot, plots};
use crate::svg::escape;
use crate::svg::plot::{Across, Line, Plot, Scale};

/// Many small pictures rather than few large ones.
const STYLE: &str =
    ".pictures svg { max-height: 16rem; } nav a { display: inline-block; margin-right: .6rem; }\n";

/// What was seen of a case with a setup.
pub struct Shown {
    /// Case.
    pub case: &'static str,
    /// With what it was run.
    pub setup: Setup,
    /// What was seen.
    pub exhibit: Exhibit,
}

/// The whole page.
pub fn html(cases: &[Case], results: &Results, shown: &[Shown]) -> String {
    let mut out = report::head("Tippe against truth", STYLE);
    out.push_str("<h1>Tippe against truth</h1>\n<nav><p>");
    for case in cases {
        let _ = write!(
            out,
            "<a href=\"#{0}\">{0}&nbsp;{1}</a> ",
            case.id,
            escape(case.name)
        );
    }
    out.push_str("</p></nav>\n");
    for section in doc::sections(cases, results) {
        match section {
            Section::Text(text) => {
                let _ = writeln!(out, "<section>\n{}</section>", markdown::html(&text));
            }
            Section::Cost(text) => {
                let _ = writeln!(out, "<section>\n{}", markdown::html(&text));
                plots(&mut out, &cost_plots(&results.cost));
                out.push_str("</section>\n");
            }
            Section::Case(case, text) => {
                let _ = writeln!(
                    out,
                    "<section id=\"{}\">\n{}",
                    case.id,
                    markdown::html(&text)
                );
                exhibits(&mut out, case, results, shown);
                out.push_str("</section>\n");
            }
        }
    }
    out.push_str(&report::foot());
    out
}

/// Pictures and ledger of the recommended setup, and every quantity with all setups over each other.
fn exhibits(out: &mut String, case: &Case, results: &Results, shown: &[Shown]) {
    let of_case: Vec<&Shown> = shown.iter().filter(|s| s.case == case.id).collect();
    let Some(first) = of_case.first() else { return };
    let best = standings(case, &results.rows, first.setup.dt);
    let best = best.first().and_then(|b| {
        let same = |s: &&&Shown| s.setup.method == b.method && s.setup.form == b.form;
        of_case.iter().find(same)
    });
    let best = best.copied().unwrap_or(first);
    let name = setup_name(&best.setup.method, best.setup.form);
    let seen = &best.exhibit;
    if let Some((world, film)) = &seen.film {
        let _ = writeln!(out, "<h3>First run, {}</h3>", escape(&name));
        if has_shapes(world) {
            report::motion(out, film, world, &format!("{}-shot", case.id));
        }
    }
    let mut drawn = Vec::new();
    for note in &seen.notes {
        drawn.extend(note_plots(case, note, &of_case));
    }
    if seen.statistics.steps > 0 {
        drawn.push(ledger_plot(
            &format!("{}-ledger", case.id),
            &seen.statistics.series,
        ));
    }
    plots(out, &drawn);
}

/// Whether there is anything to see.
fn has_shapes(world: &tippe::World) -> bool {
    let moving = |id: &tippe::BodyId| {
        let body = world.body(*id);
        body.is_ok_and(|b| b.is_dynamic() && !b.shapes.is_empty())
    };
    world.body_ids().any(|id| moving(&id))
}

/// The quantity beside its truth, and the size of the difference, with every setup.
fn note_plots(case: &Case, note: &Note, of_case: &[&Shown]) -> [Plot; 2] {
    let (title, unit) = match note.what.rsplit_once(" [") {
        Some((title, unit)) => (title, unit.trim_end_matches(']')),
        None => (note.what, "1"),
    };
    let mut capital = title.to_owned();
    if let Some(first) = capital.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    let mut course = vec![Line {
        name: "exact".into(),
        points: note.exact.points(),
    }];
    let mut error = Vec::new();
    for s in of_case {
        let name = setup_name(&s.setup.method, s.setup.form);
        if let Some(n) = s.exhibit.notes.iter().find(|n| n.what == note.what) {
            course.push(Line {
                name: name.clone(),
                points: n.ours.points(),
            });
            error.push(Line {
                name,
                points: n.error.points(),
            });
        }
    }
    let id: String = note
        .what
        .chars()
        .filter(char::is_ascii_alphabetic)
        .collect();
    let plot = |kind: &str, title: String, description: &str, scale, lines| Plot {
        id: format!("{}-{kind}-{id}", case.id),
        title,
        description: description.into(),
        unit: unit.into(),
        scale,
        across: Across::time(),
        lines,
    };
    [
        plot(
            "course",
            capital.clone(),
            "As computed, and as it should be.",
            Scale::Linear,
            course,
        ),
        plot(
            "error",
            format!("{capital}: error"),
            "Size of the difference from what it should be.",
            Scale::Log,
            error,
        ),
    ]
}

/// Error over CPU time of every scene of the study.
pub fn cost_plots(points: &[Point]) -> Vec<Plot> {
    let mut all = Vec::new();
    for scene in cost::SCENES {
        let of_scene: Vec<&Point> = points.iter().filter(|p| p.scene == scene.name).collect();
        let mut lines: Vec<Line> = Vec::new();
        for group in of_scene.chunk_by(|a, b| a.method == b.method && a.loosen == b.loosen) {
            lines.push(Line {
                name: format!(
                    "{}, {} tolerances",
                    setup_name(&group[0].method, Form::Maximal),
                    loosen_text(group[0].loosen)
                ),
                points: group
                    .iter()
                    .filter_map(|p| Some((p.cpu, p.error?)))
                    .collect(),
            });
        }
        if lines.iter().any(|l| !l.points.is_empty()) {
            all.push(Plot {
                id: format!("cost-{}", scene.name),
                title: format!("Error against cost: {}", scene.name),
                description: scene.measure.into(),
                unit: "error".into(),
                scale: Scale::Log,
                across: Across {
                    label: "CPU time [s]".into(),
                    scale: Scale::Log,
                },
                lines,
            });
        }
    }
    all
}
