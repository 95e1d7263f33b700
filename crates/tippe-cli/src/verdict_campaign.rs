//! How often the verdict errs: every scene, as it is and with every injected fault, judged and compared with what is right.
//!
//! Reads: scenes/ and the folders of TIPPE_CAMPAIGN (separated by colons).  Writes: stdout.
//! Called by: `cargo test`, by name (docs/verdict.md, "How often it errs").
//! Source: what is right is the same scene with a quarter of the step (or without the fault); a perturbation of 1e-9 tells chaos.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tippe::fault::{Fault, inject};
use tippe::{Body, BodyKind, Pose, Shape, Vec3, World};
use tippe_scene::{LoadOptions, load_file};

use crate::statistics::Statistics;
use crate::verdict::{Class, Watch};

/// Steps of each run.
const STEPS: usize = 60;
/// Finer steps that tell what is right.
const FINER: usize = 4;
/// Size of the perturbation [m/s].
const PERTURBATION: f64 = 1e-9;
/// Part of the thinnest body beyond which a run is wrong [1].
const WRONG: f64 = 0.1;
/// Distance beside that of the perturbed run beyond which it is no chaos: what an error of a millionth would have grown to [1].
const NO_CHAOS: f64 = 1e3;
/// Part of the right runs that may be alarms [1].
const ALARMS: f64 = 0.02;
/// Wrong runs that are judged good today. A coefficient of restitution of another sign is a softer material: the run is right for that, and
/// nothing in it tells that the user asked for another. The ragdoll of links is off by its step of 1/120 s while every measure is good:
/// not understood.
const KNOWN_GOOD: [&str; 3] = [
    "billiard-trio with RestitutionSign",
    "break-3 with RestitutionSign",
    "tree-ragdoll",
];
const FAULTS: [Fault; 5] = [
    Fault::RestitutionSign,
    Fault::NoGyroscopicTerm,
    Fault::FrictionPyramid,
    Fault::HalfImpulse,
    Fault::NotANumber,
];

/// How a run went: where everything is at its end, and its verdict.
struct Run {
    places: Vec<Vec3>,
    class: Class,
    worst: String,
}

/// What is known of a run besides its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    Right,
    Wrong,
    Unknown,
}

/// Points on every body that show how it turned as well: its origin and one a thickness away.
fn places(world: &World, thickness: f64) -> Vec<Vec3> {
    let reach = if thickness.is_finite() {
        thickness
    } else {
        1.0
    };
    let both = world.bodies().flat_map(|(_, body, state)| {
        let frame = state.frame(body);
        [frame.position, frame.point(Vec3::new(reach, reach, 0.0))]
    });
    both.collect()
}

fn thickness(world: &World) -> f64 {
    let of = |body: &Body| {
        let sides = body.shapes.iter().filter_map(|s| match s.shape {
            Shape::HalfSpace { .. } | Shape::Mesh(_) => None,
            _ => {
                let b = s.shape.bounds(&Pose::IDENTITY);
                Some((b.max - b.min).min_element())
            }
        });
        sides.fold(f64::INFINITY, f64::min)
    };
    let moving = world.bodies().filter(|b| b.1.is_dynamic());
    moving.map(|b| of(b.1)).fold(f64::INFINITY, f64::min)
}

/// Runs a scene for the time of `STEPS` of its steps, each divided by `finer`. `None` if it is refused before the first step.
fn run(path: &Path, fault: Option<Fault>, finer: usize, perturbed: bool) -> Option<Run> {
    let mut scene = load_file(path, &LoadOptions::default()).ok()?;
    let world = &mut scene.world;
    if perturbed {
        let dynamic = |b: &(tippe::BodyId, &Body, &tippe::BodyState)| b.1.kind == BodyKind::Dynamic;
        let found: Vec<_> = world
            .bodies()
            .filter(dynamic)
            .map(|b| (b.0, *b.2))
            .collect();
        for (i, (id, state)) in found.into_iter().enumerate() {
            let push = Vec3::new(1.0, 0.7, 0.4) * (PERTURBATION * (1.0 + (i % 7) as f64));
            let turn = Vec3::new(-0.3, 0.9, 0.6) * PERTURBATION;
            let (v, w) = (state.velocity + push, state.angular_velocity + turn);
            world.set_velocity(id, v, w).ok()?;
        }
    }
    if perturbed {
        let trees: Vec<_> = world.articulation_ids().collect();
        for id in trees {
            let mut state = world.articulation_state(id).ok()?.clone();
            for (i, v) in state.velocities.iter_mut().enumerate() {
                *v += PERTURBATION * (1.0 + (i % 5) as f64);
            }
            world.set_articulation_state(id, &state).ok()?;
        }
    }
    let (start, thin) = (world.energy(), thickness(world));
    let mut watch = Watch::new(world);
    let mut statistics = Statistics::default();
    statistics.start(world.time(), start);
    statistics.weight_times_size = world.energy_scale();
    inject(fault);
    let mut refused = None;
    for _ in 0..STEPS * finer {
        match world.step(scene.dt / finer as f64) {
            Ok(report) => {
                statistics.add(&report, world.ledger(), Duration::ZERO);
                watch.step(&report, world);
            }
            Err(e) => {
                refused = Some(e.to_string());
                break;
            }
        }
    }
    inject(None);
    let mut verdict = watch.verdict(start.0, &statistics, world);
    if let Some(reason) = refused {
        verdict = verdict.stopped(reason);
    }
    Some(Run {
        places: places(world, thin),
        class: verdict.class,
        worst: verdict.lines().get(1).cloned().unwrap_or_default(),
    })
}

fn distance(a: &Run, b: &Run) -> f64 {
    let pairs = a.places.iter().zip(&b.places);
    pairs.map(|(x, y)| (*x - *y).length()).fold(0.0, f64::max)
}

/// Whether a run is where it should be.
fn judge(run: &Run, right: &Run, chaos: f64, thin: f64) -> Truth {
    let off = distance(run, right);
    if off.is_nan() || run.places.iter().any(|p| !p.is_finite()) {
        return Truth::Wrong;
    }
    if off <= WRONG * thin {
        Truth::Right
    } else if off > NO_CHAOS * chaos {
        Truth::Wrong
    } else {
        Truth::Unknown
    }
}

fn scenes() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let more = std::env::var("TIPPE_CAMPAIGN").unwrap_or_default();
    let folders =
        std::iter::once(own).chain(more.split(':').filter(|s| !s.is_empty()).map(PathBuf::from));
    let mut found = Vec::new();
    for folder in folders {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        found.extend(files.map(|f| f.path()));
    }
    found.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    let only = std::env::var("TIPPE_CAMPAIGN_ONLY").unwrap_or_default();
    found.retain(|p| p.to_string_lossy().contains(&only));
    found.sort();
    found
}

/// Runs by truth and whether they were judged good.
#[derive(Default)]
struct Counts {
    right: usize,
    wrong: usize,
    unknown: usize,
    hidden: usize,
    false_good: Vec<String>,
    false_alarm: Vec<String>,
}

impl Counts {
    fn add(&mut self, what: &str, truth: Truth, run: &Run, faulty: bool) {
        println!("{what}: {truth:?}, {}; {}", run.class.word(), run.worst);
        match (truth, run.class) {
            // A fault was at work and shows in forces or energies, not yet in places: an alarm is no error, nor is none.
            (Truth::Right, _) if faulty => self.hidden += 1,
            (Truth::Right, Class::Good) => self.right += 1,
            (Truth::Right, _) => {
                self.right += 1;
                self.false_alarm.push(what.to_owned());
            }
            (Truth::Wrong, Class::Good) => {
                self.wrong += 1;
                self.false_good.push(what.to_owned());
            }
            (Truth::Wrong, _) => self.wrong += 1,
            (Truth::Unknown, _) => self.unknown += 1,
        }
    }
}

#[test]
fn verdict_campaign() {
    let mut counts = Counts::default();
    for path in scenes() {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some(plain) = run(&path, None, 1, false) else {
            println!("{name}: refused before its first step");
            continue;
        };
        let (Some(fine), Some(perturbed)) =
            (run(&path, None, FINER, false), run(&path, None, 1, true))
        else {
            continue;
        };
        let thin = load_file(&path, &LoadOptions::default()).map_or(1.0, |s| thickness(&s.world));
        let thin = if thin.is_finite() { thin } else { 1.0 };
        let chaos = distance(&plain, &perturbed);
        counts.add(&name, judge(&plain, &fine, chaos, thin), &plain, false);
        for fault in FAULTS {
            let Some(faulty) = run(&path, Some(fault), 1, false) else {
                continue;
            };
            let truth = if fault == Fault::NotANumber {
                Truth::Wrong
            } else if distance(&faulty, &plain) == 0.0 {
                // The fault has nothing to act on: the run is the one above.
                continue;
            } else {
                judge(&faulty, &plain, chaos, thin)
            };
            counts.add(&format!("{name} with {fault:?}"), truth, &faulty, true);
        }
    }
    let Counts {
        right,
        wrong,
        unknown,
        hidden,
        ..
    } = counts;
    println!(
        "{right} right, {wrong} wrong, {unknown} that chaos hides, {hidden} with a fault that does not show in places"
    );
    println!(
        "wrong and judged good: {} of {wrong}: {:?}",
        counts.false_good.len(),
        counts.false_good
    );
    println!(
        "right and judged otherwise: {} of {right}: {:?}",
        counts.false_alarm.len(),
        counts.false_alarm
    );
    let known = |what: &String| KNOWN_GOOD.contains(&what.as_str());
    assert!(counts.false_good.iter().all(known));
    assert!(counts.false_alarm.len() as f64 <= ALARMS * right as f64);
}
