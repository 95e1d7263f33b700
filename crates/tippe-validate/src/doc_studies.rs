//! The sections of `docs/fidelity.md` that are no cases: convergence, SimBenchmark, cost, the fits of the cube tosses.
//!
//! Reads: results of the studies.  Writes: markdown.
//! Called by: `doc`.
//! Source: the studies.

use std::fmt::Write as _;

use crate::cases::cube_toss::{self, Fit};
use crate::convergence;
use crate::cost;
use crate::peers;
use crate::row::step_name;
use crate::sim_benchmark::{self, Benched};
use crate::summary::setup_name;

pub(crate) fn convergence_section(lines: &[convergence::Line]) -> String {
    let mut out = String::new();
    if lines.is_empty() {
        return out;
    }
    out.push_str(
        "\n## Order of convergence\n\nError at steps that halve, and the slope of log error over log step: 2 means a quarter of the error at half the step. Only parts whose error comes\n\
         from the step are listed; impacts, free flight, rolling on a plane and resting are exact at any step, and chaotic motions have no order.\n\n| part | setup |",
    );
    for dt in convergence::STEPS {
        let _ = write!(out, " {} |", step_name(dt));
    }
    out.push_str(" order |\n|---|---|---|---|---|---|---|\n");
    for line in lines {
        let _ = write!(
            out,
            "| {} {} | {} |",
            line.case,
            line.part,
            setup_name(&line.method, line.form)
        );
        for error in line.errors {
            let _ = write!(
                out,
                " {} |",
                error.map_or("stopped".to_owned(), |e| format!("{e:.1e}"))
            );
        }
        let order = line
            .order()
            .map_or("rounding".to_owned(), |o| format!("{o:.1}"));
        let _ = writeln!(out, " {order} |");
    }
    out
}

pub(crate) fn sim_benchmark_section(benched: &[Benched]) -> String {
    let mut out = String::new();
    if benched.is_empty() {
        return out;
    }
    let _ = writeln!(
        out,
        "\n## The scenes of SimBenchmark\n\nScenes, measures and figures of [SimBenchmark] ({}). Every error is a mean of squares over all steps of 1 ms. The noise of\n\
         the 666 scenes is of the same size, not the same numbers. The original has no chain; ours is there in the same measure.\n",
        sim_benchmark::PUBLISHED
    );
    for scene in sim_benchmark::SCENES {
        let _ = writeln!(
            out,
            "- **{}**: {}. {}.",
            scene.name, scene.what, scene.measure
        );
    }
    let mut methods: Vec<&str> = Vec::new();
    for b in benched {
        if !methods.contains(&b.method.as_str()) {
            methods.push(&b.method);
        }
    }
    let _ = writeln!(
        out,
        "\n| scene | {} | {} |\n|---|{}",
        methods.join(" | "),
        sim_benchmark::ENGINES.join(" | "),
        "---|".repeat(methods.len() + sim_benchmark::ENGINES.len())
    );
    for scene in sim_benchmark::SCENES {
        let _ = write!(out, "| {} |", scene.name);
        for method in &methods {
            let found = benched
                .iter()
                .find(|b| b.scene == scene.name && b.method == *method);
            let text = match found.map(|b| &b.error) {
                None => "-".to_owned(),
                Some(Ok(e)) => format!("{e:.1e}"),
                Some(Err(reason)) => format!("**stopped**: {reason}"),
            };
            let _ = write!(out, " {text} |");
        }
        for figure in scene.published {
            let _ = write!(out, " {} |", peers::figure(figure));
        }
        out.push('\n');
    }
    out
}

pub(crate) fn cost_section(points: &[cost::Point]) -> String {
    let mut out = String::new();
    if points.is_empty() {
        return out;
    }
    out.push_str(
        "\n## Error against cost\n\nFive scenes by each method at several steps, with its solver tolerances as they are, a hundred and ten thousand times as loose. CPU time of one thread on the\n\
         machine that made this page: compare points with each other, not with other machines. Below and to the left is better.\n",
    );
    for scene in cost::SCENES {
        let _ = writeln!(
            out,
            "\n![Error against CPU time of the scene {0}](pictures/cost-{0}.svg)\n\n{0}: {1}\n\n| method | tolerances | step | error | CPU time [s] |\n|---|---|---|---|---|",
            scene.name, scene.measure
        );
        for p in points.iter().filter(|p| p.scene == scene.name) {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {:.2} |",
                p.method,
                loosen_text(p.loosen),
                step_name(p.dt),
                p.error.map_or("stopped".to_owned(), |e| format!("{e:.1e}")),
                p.cpu
            );
        }
    }
    out
}

/// A factor on tolerances in words.
#[must_use]
pub fn loosen_text(factor: f64) -> String {
    if factor == 1.0 {
        "default".to_owned()
    } else {
        format!("{factor:.0} × default")
    }
}

/// The study of MC-34, measured by its test in the physics crate.
pub(crate) const SINGLE_PRECISION: &str = "
## Poses in single precision

MC-34: `events` with a band of 1e-3 of the body, the poses of all bodies rounded to single precision after every hundredth of a second (test
`mc_34_poses_rounded_to_single_precision_still_hook_and_hold`). Errors are beside the closed form; in brackets without rounding.

| experiment | error | asked |
|---|---|---|
| hook at the pins, 18.3 m down the lane | along 1.6e-6 (1.3e-6), across 6e-6 (6e-6), speed 1e-13 | 1e-2 |
| block on a ramp of 20°, μ = 0.75, 0.6, 0.4 | 3e-11 m (2e-10 m) after 3 s | 1e-4 m |
| the same, μ = 0.3, slides 2.65 m in 3 s | 1e-6 (1e-6) | 2e-2 |
";

pub(crate) fn tosses_section(tosses: &[(Fit, Option<cube_toss::Score>)]) -> String {
    let mut out = String::new();
    if tosses.is_empty() {
        return out;
    }
    let _ = writeln!(
        out,
        "\n## Cube tosses: the best of rigid contact\n\nOne set of friction and restitution for all tosses, found by `cargo run --release -p tippe-validate --example fit_tosses -- DATA METHOD LAW 1e-3 wide`,\n\
         measured again here at 1 ms. `sequential` restores a ratio of velocities whatever the law. Asked are 0.140 widths and 16.0° at once.\n\n\
         | method, law | sought | friction | static friction | slip speed [m/s] | restitution | position [widths] | rotation [°] |\n|---|---|---|---|---|---|---|---|"
    );
    for (fit, score) in tosses {
        let (position, rotation) = score.map_or(("stopped".to_owned(), String::new()), |s| {
            (format!("{:.3}", s.position), format!("{:.1}", s.rotation))
        });
        let _ = writeln!(
            out,
            "| {}, {} | {} | {} | {} | {} | {} | {position} | {rotation} |",
            fit.method,
            fit.touch.law.name(),
            fit.sought,
            fit.touch.kinetic,
            fit.touch.sticking,
            fit.touch.slip_speed,
            fit.touch.restitution
        );
    }
    for (name, position, rotation) in peers::TOSSES {
        let _ = writeln!(out, "| {name} | | | | | | {position:.3} | {rotation:.1} |");
    }
    let _ = writeln!(out, "\n{}", cube_toss::EVIDENCE);
    out
}
