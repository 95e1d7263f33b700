//! `tippe run`: simulate a scene, watch it, sum it up, keep what was asked for.
//!
//! Reads: a scene file.  Writes: the summary, and with `--out` or `--picture` files.
//! Called by: `main`.
//! Source: the wall time of a step is taken around `World::step` alone.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use tippe::StepError;
use tippe_scene::recording::RecordingWriter;
use tippe_scene::{LoadOptions, Scene};

use crate::Outcome;
use crate::args::RunArgs;
use crate::film::Film;
use crate::format::number;
use crate::islands::IslandFiles;
use crate::load;
use crate::output::{note, out};
use crate::progress;
use crate::replay::Replay;
use crate::report::{self, Page};
use crate::statistics::Statistics;
use crate::summary::Summary;
use crate::svg::scene::{Frame, Stage};
use crate::verdict::{Class, Verdict, Watch};

/// Straight to the file: a run that is killed leaves every whole chunk behind.
type Recorder = RecordingWriter<File>;

/// Energy made from nothing, relative to what was put in, above which a run warns, and above which it fails [1].
const GAINED_WARN: f64 = 1e-6;
const GAINED_FAIL: f64 = 1e-2;

/// Why the loop ended.
enum End {
    /// All steps taken.
    Finished,
    /// The user asked to stop.
    Interrupted,
    /// A step was refused; the world is as before it.
    Stopped(StepError),
    /// The recording could not be written on.
    RecordingFailed(io::Error),
}

impl End {
    /// What to tell the user; nothing if all went as planned.
    fn message(&self, time: f64) -> Option<String> {
        match self {
            Self::Finished => None,
            Self::Interrupted => Some(format!("interrupted at {} s", number(time))),
            Self::Stopped(e) => Some(format!("the simulation stopped at {} s: {e}", number(time))),
            Self::RecordingFailed(e) => Some(format!(
                "stopped at {} s: the recording cannot be written: {e}",
                number(time)
            )),
        }
    }
}

/// Simulates.
///
/// # Errors
/// Files cannot be written, or the reader of our output went away.
pub fn run(args: &RunArgs) -> Result<Outcome> {
    let options = LoadOptions {
        method: args.method.clone(),
        dt: args.dt,
        seconds: args.seconds,
        allow_outside: args.allow_outside,
        ..LoadOptions::default()
    };
    let Some(mut scene) = load::load(&args.scene, &options) else {
        return Ok(Outcome::BadInput);
    };
    if args.explain {
        out(&tippe_scene::explain(&scene))?;
        return Ok(Outcome::Done);
    }
    let steps = scene.step_count();
    let threads = usize::from(args.threads.unwrap_or(1));
    if let Err(e) = scene.world.set_threads(threads) {
        note(&format!("error: {e}"));
        return Ok(Outcome::BadInput);
    }
    // Find out now, not after the run, whether its files have a place.
    let (recorder, islands) = match open_files(args, &scene) {
        Ok(opened) => opened,
        Err(e) => {
            note(&format!("error: {e:#}"));
            return Ok(Outcome::BadInput);
        }
    };
    let explained = args.out.is_some().then(|| tippe_scene::explain(&scene));
    let mut simulation = Simulation::new(&scene, steps, args, recorder);
    simulation.islands = islands;
    let end = simulation.run(&mut scene, steps)?;
    let message = end.message(scene.world.time());
    let verdict = simulation.verdict(&scene, &end);
    let warnings = simulation.warnings(&scene, message.as_deref(), &verdict, args);
    let summary = Summary::new(
        &scene.name,
        &scene.world,
        scene.dt,
        simulation.energy_start,
        &simulation.statistics,
        warnings,
    )
    .with_verdict(verdict);
    if let (Some(dir), Some(explained)) = (&args.out, &explained) {
        let page = Page {
            description: &scene.description,
            explained,
            ended: message.as_deref(),
            replay: &simulation
                .replay
                .take()
                .and_then(|r| {
                    r.html(&scene.world, message.as_deref().unwrap_or_default())
                        .ok()
                })
                .unwrap_or_default(),
        };
        let html = report::html(
            &page,
            &summary,
            &simulation.statistics,
            &simulation.film,
            &scene.world,
        );
        write(&dir.join("report.html"), &html)?;
        write(
            &dir.join("summary.json"),
            &(serde_json::to_string_pretty(&summary)? + "\n"),
        )?;
    }
    if let (Some(path), Some(frame)) = (&args.picture, &simulation.picture) {
        write(path, &simulation.draw(frame, &scene))?;
    }
    if let Some(message) = &message {
        note(&format!("error: {message}"));
    }
    if let Some(islands) = simulation.islands.take() {
        note(&islands.told());
    }
    if args.json {
        out(&(serde_json::to_string(&summary)? + "\n"))?;
    } else {
        out(&summary.text(&scene.world))?;
        if let Some(dir) = &args.out {
            out(&format!(
                "\nwritten to {}: recording.tippe, summary.json, report.html\n",
                dir.display()
            ))?;
        }
    }
    let gained = simulation.gained_share(&scene);
    if gained > GAINED_FAIL {
        note(&format!(
            "error: the run made {} of its energy from nothing: do not trust it",
            number(gained)
        ));
    }
    Ok(if matches!(end, End::Finished) && gained <= GAINED_FAIL {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

/// Makes the folder, begins the recording, and makes sure that the picture can be written.
fn open_files(args: &RunArgs, scene: &Scene) -> Result<(Option<Recorder>, Option<IslandFiles>)> {
    let open = |dir: &PathBuf| {
        IslandFiles::open(dir, &args.scene, args.slower_than)
            .with_context(|| format!("cannot make the folder {}", dir.display()))
    };
    let islands = args.record_islands.as_ref().map(open).transpose()?;
    if let Some(path) = &args.picture {
        // Appending nothing keeps an old picture until the new one is there.
        File::options()
            .create(true)
            .append(true)
            .open(path)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let Some(dir) = &args.out else {
        return Ok((None, islands));
    };
    fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let path = dir.join("recording.tippe");
    let recorder = File::create(&path)
        .and_then(|file| RecordingWriter::new(file, scene))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok((Some(recorder), islands))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// What the loop gathers.
struct Simulation {
    statistics: Statistics,
    watch: Watch,
    film: Film,
    first: Frame,
    picture_time: Option<f64>,
    picture: Option<Frame>,
    recorder: Option<Recorder>,
    islands: Option<IslandFiles>,
    /// For the report.
    replay: Option<Replay>,
    energy_start: (f64, f64),
}

impl Simulation {
    fn new(scene: &Scene, steps: u64, args: &RunArgs, recorder: Option<Recorder>) -> Self {
        let energy_start = scene.world.energy();
        let mut statistics = Statistics::default();
        statistics.start(scene.world.time(), energy_start);
        statistics.weight_times_size = scene.world.energy_scale();
        Self {
            statistics,
            watch: Watch::new(&scene.world),
            film: Film::new(&scene.world, steps),
            first: Frame::of(&scene.world),
            picture_time: args
                .picture
                .as_ref()
                .map(|_| args.picture_time.unwrap_or(f64::INFINITY)),
            picture: None,
            replay: recorder.as_ref().and_then(|_| Replay::new(scene).ok()),
            recorder,
            islands: None,
            energy_start,
        }
    }

    /// The loop. Whatever ends it, film and recording are closed and whole.
    fn run(&mut self, scene: &mut Scene, steps: u64) -> Result<End> {
        let interrupted = watch_for_interrupt()?;
        let bar = progress::bar(steps, "steps");
        let mut end = self.steps(scene, steps, &interrupted, &bar);
        bar.finish_and_clear();
        self.film.finish(&scene.world);
        if self.picture_time.is_some() && self.picture.is_none() {
            self.picture = Some(Frame::of(&scene.world));
        }
        let stopped = end.message(scene.world.time()).unwrap_or_default();
        if let Some(recorder) = self.recorder.take()
            && let Err(e) = recorder.finish(&scene.world, &stopped)
            && matches!(end, End::Finished)
        {
            end = End::RecordingFailed(e);
        }
        Ok(end)
    }

    fn steps(
        &mut self,
        scene: &mut Scene,
        steps: u64,
        interrupted: &AtomicBool,
        bar: &ProgressBar,
    ) -> End {
        self.take_picture(scene);
        for step in 1..=steps {
            if interrupted.load(Ordering::Relaxed) {
                return End::Interrupted;
            }
            let start = Instant::now();
            let result = scene.world.step(scene.dt);
            let wall = start.elapsed();
            let report = match result {
                Ok(report) => report,
                Err(e) => return End::Stopped(e),
            };
            self.statistics.add(&report, scene.world.ledger(), wall);
            self.watch.step(&report, &scene.world);
            self.film.see(&scene.world, step);
            self.take_picture(scene);
            if let Some(islands) = &mut self.islands
                && let Err(e) = islands.step(step)
            {
                return End::RecordingFailed(e);
            }
            if let Some(replay) = &mut self.replay
                && let Err(e) = replay.step(&scene.world, &report)
            {
                return End::RecordingFailed(e);
            }
            if let Some(recorder) = &mut self.recorder
                && let Err(e) = recorder.step(&scene.world, &report)
            {
                return End::RecordingFailed(e);
            }
            bar.set_position(step);
        }
        End::Finished
    }

    /// Of what was computed; a run that a step ended cannot be trusted.
    fn verdict(&self, scene: &Scene, end: &End) -> Verdict {
        let start = self.energy_start.0;
        let verdict = self.watch.verdict(start, &self.statistics, &scene.world);
        if matches!(end, End::Stopped(_)) {
            verdict.stopped()
        } else {
            verdict
        }
    }

    /// Energy made from nothing, relative to what it is measured by [1].
    fn gained_share(&self, scene: &Scene) -> f64 {
        let scale = self.statistics.energy_scale(self.energy_start.0);
        let gained = scene.world.ledger().gained;
        if gained == 0.0 { 0.0 } else { gained / scale }
    }

    fn take_picture(&mut self, scene: &Scene) {
        if self.picture.is_none()
            && self
                .picture_time
                .is_some_and(|t| scene.world.time() >= t - 1e-9)
        {
            self.picture = Some(Frame::of(&scene.world));
        }
    }

    fn draw(&self, frame: &Frame, scene: &Scene) -> String {
        let title = format!("{} at {} s", scene.name, number(frame.time));
        Stage::new(&scene.world, &self.first, &[frame]).file(frame, &title)
    }

    fn warnings(
        &self,
        scene: &Scene,
        message: Option<&str>,
        verdict: &Verdict,
        args: &RunArgs,
    ) -> Vec<String> {
        let s = &self.statistics;
        let mut warnings: Vec<String> = message.map(String::from).into_iter().collect();
        warnings.extend(scene.warnings.iter().map(|w| {
            format!(
                "{}:{}:{}: {}: {}",
                w.file, w.line, w.column, w.field, w.reason
            )
        }));
        // Loops that left nothing behind are no news.
        if s.caps_open > 0 && verdict.class != Class::Good {
            warnings.push(format!(
                "in {} of {} steps a solver loop ended at its limit instead of at its tolerance ({} loops in all): see the residuals",
                s.open_steps, s.steps, s.caps_open
            ));
        }
        let gained = self.gained_share(scene);
        if gained > GAINED_WARN {
            warnings.push(format!(
                "{} J were made from nothing, {} of what was put in: the motion cannot be trusted to that degree; try a shorter step",
                number(scene.world.ledger().gained),
                number(gained)
            ));
        }
        if s.fallbacks_max > 0 {
            warnings.push(format!(
                "in {} of {} steps touching pairs of different materials had no pair of their own and fell back to the general rule (up to {} pairs)",
                s.fallback_steps, s.steps, s.fallbacks_max
            ));
        }
        if let Some(t) = args.picture_time.filter(|t| scene.world.time() < t - 1e-9) {
            warnings.push(format!(
                "the run ended before {} s: the picture shows {} s",
                number(t),
                number(scene.world.time())
            ));
        }
        warnings
    }
}

/// Set by Ctrl-C or a polite kill. A second one ends the process at once; the recording survives being cut off.
fn watch_for_interrupt() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let inner = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if inner.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
    })
    .context("cannot watch for Ctrl-C")?;
    Ok(flag)
}
