//! `tippe run`: simulate a scene, watch it, sum it up, keep what was asked for.
//!
//! Reads: a scene file.  Writes: the summary, and with `--out` or `--picture` files.
//! Called by: `main`.
//! Source: the wall time of a step is taken around `World::step` alone.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use cpu_time::ProcessTime;
use tippe::{CERTIFIED, Interrupt, StepError};
use tippe_scene::recording::{Holds, RecordingWriter, Tables};
use tippe_scene::{LoadOptions, Recording, Scene};

use crate::Outcome;
use crate::args::RunArgs;
use crate::export;
use crate::film::Film;
use crate::format::{count, number};
use crate::islands::IslandFiles;
use crate::load;
use crate::output::{note, out};
use crate::progress;
use crate::replay::Replay;
use crate::report::{self, Page};
use crate::results::{Recorded, Results};
use crate::statistics::Statistics;
use crate::summary::Summary;
use crate::svg::scene::{Frame, Stage};
use crate::verdict::{Class, Verdict, Watch};

type Recorder = RecordingWriter<Recorded>;

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
}

impl End {
    /// What to tell the user; nothing if all went as planned.
    fn message(&self, time: f64) -> Option<String> {
        match self {
            Self::Finished => None,
            Self::Interrupted => Some(format!("interrupted at {} s", number(time))),
            Self::Stopped(e) => Some(format!("the simulation stopped at {} s: {e}", number(time))),
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
        set: args.set.clone(),
        ..LoadOptions::default()
    };
    let Some(mut scene) = load::load(&args.scene, &options) else {
        return Ok(Outcome::BadInput);
    };
    if args.csv.is_some() {
        (scene.record.exact, scene.record.contacts) = (true, true);
    }
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
    // From here on a signal ends the run, not the process.
    scene.world.set_interrupt(Some(watch_for_interrupt()?));
    // Find out now, not after the run, whether its files have a place.
    let (results, recorder, islands) = match open_files(args, &scene) {
        Ok(opened) => opened,
        Err(e) => {
            note(&format!("error: {e:#}"));
            return Ok(Outcome::BadInput);
        }
    };
    let explained = args.out.is_some().then(|| tippe_scene::explain(&scene));
    let mut simulation = Simulation::new(&scene, steps, args, recorder);
    simulation.islands = islands;
    let end = simulation.run(&mut scene, steps);
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
    // What cannot be written must not take the summary with it.
    let mut failed: Vec<String> = Vec::new();
    if let (Some(results), Some(explained)) = (&results, &explained) {
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
        let object = serde_json::to_string_pretty(&summary)? + "\n";
        for (name, text) in [("report.html", &html), ("summary.json", &object)] {
            failed.extend(results.write(name, text).err().map(|e| format!("{e:#}")));
        }
    }
    if let (Some(path), Some(frame)) = (&args.picture, &simulation.picture) {
        let written = fs::write(path, simulation.draw(frame, &scene));
        let what = |e| format!("cannot write {}: {e}", path.display());
        failed.extend(written.err().map(what));
    }
    let tables = simulation.table.take().map(|bytes| tables(&bytes, args));
    let exported = match tables {
        Some(Ok(names)) => Some(names),
        Some(Err(e)) => {
            failed.push(format!("{e:#}"));
            None
        }
        None => None,
    };
    for message in message.iter().chain(&failed) {
        note(&format!("error: {message}"));
    }
    if let Some(islands) = simulation.islands.take() {
        note(&islands.told());
    }
    if args.json {
        out(&(serde_json::to_string(&summary)? + "\n"))?;
    } else {
        out(&summary.text(&scene.world))?;
        if let Some(results) = results.as_ref().filter(|_| failed.is_empty()) {
            out(&format!(
                "\nwritten to {}: recording.tippe, summary.json, report.html\n",
                results.dir().display()
            ))?;
        }
        if let (Some(names), Some(dir)) = (exported, &args.csv) {
            out(&format!(
                "\nwritten to {}: {}\n",
                dir.display(),
                names.join(", ")
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
    let written = failed.is_empty() && simulation.unrecorded.is_none();
    Ok(
        if matches!(end, End::Finished) && gained <= GAINED_FAIL && written {
            Outcome::Done
        } else {
            Outcome::Failed
        },
    )
}

/// Writes the tables of a run that was recorded in memory.
fn tables(bytes: &[u8], args: &RunArgs) -> Result<Vec<&'static str>> {
    let recording = Recording::read(bytes).context("the run was not recorded")?;
    let dir = args.csv.as_deref().unwrap_or(std::path::Path::new("."));
    export::write(&Tables::of(&recording), dir)
}

/// The folder of the results, the recording in it, and the folder of recorded islands.
type Opened = (Option<Results>, Option<Recorder>, Option<IslandFiles>);

/// Makes the folder, begins the recording, and makes sure that the picture can be written.
fn open_files(args: &RunArgs, scene: &Scene) -> Result<Opened> {
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
        return Ok((None, None, islands));
    };
    let results = Results::open(dir, args.force)?;
    let recorder = results.record(scene)?;
    Ok((Some(results), Some(recorder), islands))
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
    /// Why and where the recording ended before the run.
    unrecorded: Option<String>,
    islands: Option<IslandFiles>,
    /// Recording in memory for the tables, under way and done.
    numbers: Option<RecordingWriter<Vec<u8>>>,
    table: Option<Vec<u8>>,
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
            unrecorded: None,
            islands: None,
            numbers: args.csv.as_ref().and_then(|_| numbers(scene).ok()),
            table: None,
            energy_start,
        }
    }

    /// The loop. Whatever ends it, film and recording are closed and whole.
    fn run(&mut self, scene: &mut Scene, steps: u64) -> End {
        let bar = progress::bar(steps, "steps");
        let end = self.steps(scene, steps, &bar);
        bar.finish_and_clear();
        self.film.finish(&scene.world);
        if self.picture_time.is_some() && self.picture.is_none() {
            self.picture = Some(Frame::of(&scene.world));
        }
        let stopped = end.message(scene.world.time()).unwrap_or_default();
        if let Some(recorder) = self.recorder.take() {
            let until = recorder.until();
            if let Err(e) = recorder.finish(&scene.world, &stopped) {
                self.recording_failed(until, &e);
            }
        }
        if let Some(numbers) = self.numbers.take() {
            self.table = numbers.finish(&scene.world, &stopped).ok();
        }
        end
    }

    fn steps(&mut self, scene: &mut Scene, steps: u64, bar: &progress::Bar) -> End {
        self.take_picture(scene);
        for step in 1..=steps {
            let clock = || ProcessTime::try_now().ok();
            let (start, began) = (Instant::now(), clock());
            let result = scene.world.step(scene.dt);
            let (wall, ended) = (start.elapsed(), clock());
            let report = match result {
                Ok(report) => report,
                Err(StepError::Interrupted) => return End::Interrupted,
                Err(e) => return End::Stopped(e),
            };
            self.statistics.add(&report, scene.world.ledger(), wall);
            let cpu = began.zip(ended).map(|(from, to)| to.duration_since(from));
            self.statistics.add_cpu(cpu);
            self.watch.step(&report, &scene.world);
            self.film.see(&scene.world, step);
            self.take_picture(scene);
            self.replay = self.replay.take().and_then(|mut replay| {
                let kept = replay.step(&scene.world, &report).is_ok();
                kept.then_some(replay)
            });
            if let Some(islands) = &mut self.islands
                && let Err(e) = islands.step(step)
            {
                self.islands = None;
                let until = number(scene.world.time());
                self.lost(format!(
                    "the islands stop at {until} s, they cannot be written on: {e}"
                ));
            }
            self.numbers = self.numbers.take().and_then(|mut numbers| {
                let kept = numbers.step(&scene.world, &report).is_ok();
                kept.then_some(numbers)
            });
            if let Some(recorder) = &mut self.recorder
                && let Err(e) = recorder.step(&scene.world, &report)
            {
                let until = recorder.until();
                if let Some(recorder) = self.recorder.take() {
                    recorder.give_up().cut();
                }
                self.recording_failed(until, &e);
            }
            bar.set_position(step);
        }
        End::Finished
    }

    /// The run goes on without its recording: the summary is worth having all the same.
    fn recording_failed(&mut self, until: f64, e: &io::Error) {
        let until = number(until);
        self.lost(format!(
            "the recording stopped at {until} s, it cannot be written on: {e}"
        ));
    }

    fn lost(&mut self, what: String) {
        note(&format!("error: {what}"));
        self.unrecorded = Some(what);
    }

    /// Of what was computed; a run that a step ended cannot be trusted.
    fn verdict(&self, scene: &Scene, end: &End) -> Verdict {
        let start = self.energy_start.0;
        let verdict = self.watch.verdict(start, &self.statistics, &scene.world);
        match end {
            End::Stopped(e) => verdict.stopped(format!("a step was refused: {e}")),
            _ => verdict,
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
        warnings.extend(self.unrecorded.clone());
        warnings.extend(scene.warnings.iter().map(|w| {
            format!(
                "{}:{}:{}: {}: {}",
                w.file, w.line, w.column, w.field, w.reason
            )
        }));
        // Loops that left nothing behind are no news.
        if s.caps_open > 0 && verdict.class != Class::Good {
            warnings.push(format!(
                "in {} of {} a solver loop ended at its limit instead of at its tolerance ({} in all): see the residuals",
                s.open_steps,
                count(s.steps, "step"),
                count(s.caps_open, "loop")
            ));
        }
        if s.squeezed_max > CERTIFIED.penetration {
            warnings.push(format!(
                "bodies are squeezed between prescribed surfaces that leave no room for them: up to {} m of overlap",
                number(s.squeezed_max)
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
        // Pairs without an entry of their own are common, and what the rule makes of them is documented.
        if s.fallbacks_max > 0 && verdict.class != Class::Good {
            warnings.push(format!(
                "in {} of {} touching pairs of different materials had no pair of their own and fell back to the general rule (up to {})",
                s.fallback_steps,
                count(s.steps, "step"),
                count(s.fallbacks_max as u64, "pair")
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

/// Begins a recording in memory that holds what tables need.
fn numbers(scene: &Scene) -> io::Result<RecordingWriter<Vec<u8>>> {
    let holds = Holds {
        contacts: true,
        snapshots: false,
        certificates: false,
    };
    RecordingWriter::holding(Vec::new(), scene, holds)
}

/// Asked for by Ctrl-C or a polite kill; the step under way ends at its next look. A second one ends the process at once; the recording
/// survives being cut off.
fn watch_for_interrupt() -> Result<Interrupt> {
    let interrupt = Interrupt::new();
    let inner = interrupt.clone();
    ctrlc::set_handler(move || {
        if inner.is_asked() {
            std::process::exit(1);
        }
        inner.ask();
    })
    .context("cannot watch for Ctrl-C")?;
    Ok(interrupt)
}
