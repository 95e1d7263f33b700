//! `tippe lab methods`: one stack, one chain and one wedge by every method, as a table for docs/methods.
//!
//! Reads: nothing.  Writes: Markdown text.
//! Called by: `lab`.
//! Source: [Articulated] slide 4 (impulse methods local and fast, constraint methods global and stable).

use std::fmt::Write as _;

use cpu_time::ThreadTime;
use tippe::{BodyId, METHOD_NAMES, Method, Vec3, World};
use tippe_scene::{Format, LoadOptions, load_str};

use crate::format::number;

/// What a scene is measured by.
type Drift = fn(&World, &[(BodyId, Vec3)], f64) -> f64;

/// A scene of the study.
struct Study {
    name: &'static str,
    what: &'static str,
    /// What its drift is.
    drift: &'static str,
    text: &'static str,
    seconds: f64,
    measure: Drift,
}

const STACK: &str = r#"
version = 1
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[stack]]
count = 10
[stack.body]
name = "box"
mass = 1.0
shape.box = { size = [0.2, 0.2, 0.2] }
"#;

const CHAIN: &str = r#"
version = 1
[[chain]]
count = 10
pitch = 0.5
origin = [0, 0, 6]
along = [1, 0, -1]
from = "world"
joint = { kind = "ball", name = "pin" }
[chain.body]
name = "link"
mass = 1.0
shape.capsule = { radius = 0.05, length = 0.35 }
"#;

/// Base of two metres, 30°; the block starts 0.4 m below the top.
const WEDGE: &str = r#"
version = 1
[[material]]
name = "default"
friction = 0.0
restitution = 0.0
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "wedge"
mass = 2.0
shape.hull = { points = [[0, -0.2, 0], [0, 0.2, 0], [2, -0.2, 0], [2, 0.2, 0], [0, -0.2, 1.1547005383792515], [0, 0.2, 1.1547005383792515]] }
[[body]]
name = "block"
mass = 1.0
position = [0.37141016151377546, 0, 0.9980018085684737]
rotation_deg = { axis = [0, 1, 0], angle = 30 }
shape.box = { size = [0.1, 0.1, 0.1] }
"#;

const STUDIES: [Study; 3] = [
    Study {
        name: "stack",
        what: "ten boxes of 0.2 m on each other",
        drift: "farthest way of a box",
        text: STACK,
        seconds: 10.0,
        measure: |world, start, _| farthest(world, start),
    },
    Study {
        name: "chain",
        what: "ten links on ball joints, let go at 45°",
        drift: "largest joint error at the end",
        text: CHAIN,
        seconds: 2.0,
        measure: |_, _, joints| joints,
    },
    Study {
        name: "wedge",
        what: "a block slides down a wedge that slides away, without friction",
        drift: "distance of the wedge from Lagrange's answer",
        text: WEDGE,
        seconds: 0.5,
        measure: |world, start, _| wedge_error(world, start),
    },
];

/// Step of the study [s].
const STEP: f64 = 1e-3;

/// The whole table.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Impulse methods and constraint methods\n\nOne stack, one chain and one wedge by every method, at 1 ms. This page is made by `tippe lab methods`; times are of the\nprocessor and depend on the machine, everything else does not.\n",
    );
    for study in &STUDIES {
        let _ = write!(
            out,
            "\n## {}\n\n{}, {} s. Drift: {}.\n\n| method | penetration [m] | drift [m] | energy gained [J] | energy unexplained [J] | time a step [ms] | limits hit |\n|---|---|---|---|---|---|---|\n",
            capital(study.name),
            capital(study.what),
            study.seconds,
            study.drift
        );
        for name in METHOD_NAMES {
            if Method::from_name(name).is_some() {
                let row = row(study, name);
                let _ = writeln!(out, "| `{name}` | {row} |");
            }
        }
    }
    out.push_str("\nThe lecture's claim is that impulse methods are local and fast and constraint methods global and stable. What the tables\nshow is below it: a step that solves its island to a residual is stable whatever its unknowns are called, and what differs is\nthe order of the motion between impacts, which is where `forces` is exact and the others are of order two.\n");
    out
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// One method on one scene: the cells of its row.
fn row(study: &Study, method: &str) -> String {
    let options = LoadOptions {
        method: Some(method.to_owned()),
        dt: Some(STEP),
        ..LoadOptions::default()
    };
    let mut scene = match load_str(study.text, study.name, Format::Toml, &options) {
        Ok(scene) => scene,
        Err(e) => return format!("refused: {} | | | | |", e.to_string().replace('\n', " ")),
    };
    let world = &mut scene.world;
    let start: Vec<(BodyId, Vec3)> = world
        .bodies()
        .map(|(id, _, state)| (id, state.position))
        .collect();
    let (mut depth, mut joints, mut limits): (f64, f64, u32) = (0.0, 0.0, 0);
    let steps = (study.seconds / STEP).round() as u32;
    let clock = ThreadTime::now();
    for _ in 0..steps {
        match world.step(STEP) {
            Ok(report) => {
                depth = depth.max(report.penetration);
                joints = report.residuals.joint_position;
                limits += report.work.caps_open();
            }
            Err(e) => return format!("stopped: {e} | | | | |"),
        }
    }
    let time = 1e3 * clock.elapsed().as_secs_f64() / f64::from(steps);
    let ledger = *world.ledger();
    let cells = [
        depth,
        (study.measure)(world, &start, joints),
        ledger.gained,
        ledger.unexplained.abs(),
        time,
    ];
    let cells: Vec<String> = cells.iter().map(|x| number(*x)).collect();
    format!("{} | {limits}", cells.join(" | "))
}

/// Farthest way of a body from its start [m].
fn farthest(world: &World, start: &[(BodyId, Vec3)]) -> f64 {
    let way = |(id, x): &(BodyId, Vec3)| {
        let now = world.body_state(*id).map_or(*x, |s| s.position);
        (now - *x).length()
    };
    start.iter().map(way).fold(0.0, f64::max)
}

/// How far the wedge is from −½ t² m g sin α cos α/(M + m sin² α), α = 30°, m = 1 kg, M = 2 kg [m].
fn wedge_error(world: &World, start: &[(BodyId, Vec3)]) -> f64 {
    let t = world.time();
    let (sine, cosine) = (0.5, 0.75_f64.sqrt());
    let back = 9.81 * sine * cosine / (2.0 + sine * sine);
    let Some((id, x)) = start.get(1) else {
        return f64::NAN;
    };
    let now = world.body_state(*id).map_or(*x, |s| s.position);
    (now.x - x.x + 0.5 * back * t * t).abs()
}
