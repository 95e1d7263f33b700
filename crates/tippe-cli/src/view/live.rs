//! A live run: a thread that simulates as far as it is asked to, and its recording, which all its watchers read.
//!
//! Reads: orders.  Writes: the bytes of a recording, in memory.
//! Called by: `view::socket`.
//! Source: the stream is the recording of `docs/recording.md`: what is watched can be kept, scrubbed and replayed.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use tippe::{BodyId, Interrupt, StepError, Vec3, World};
use tippe_scene::Scene;
use tippe_scene::recording::{Holds, RecordingWriter};
use tokio::sync::watch;

use super::drag::{Drag, STRENGTH_MAX};
use crate::format::number;

/// Most bytes kept of one run, and of all runs together; a run then stops and says so.
const LOG_MAX: usize = 256 << 20;
const LOGS_MAX: usize = 384 << 20;
/// More bodies than this are streamed without contacts until a page asks for them.
pub const CONTACTS_BODIES_MAX: usize = 3000;
/// Most single steps of one order.
const STEPS_MAX: u32 = 10_000;
/// Frames a simulated second [Hz], at least: what is watched should move smoothly.
const RATE_MIN: f64 = 60.0;

/// What a run can be told.
#[derive(Clone, Debug)]
pub enum Command {
    /// Simulate up to a time [s].
    Until(f64),
    /// Rest on a frame: where it is, or at a later time [s]. The number is given back when it rests.
    Pause(Option<f64>, u64),
    /// Take single steps, with a frame before the first and after each, and rest. The number is given back then.
    Steps(u32, u64),
    /// Pull at a body (its slot), or let go.
    Drag(Option<(u32, Vec3, Vec3, f64)>),
    /// Send contacts or not.
    Contacts(bool),
    /// Stop at once and give the memory back that steps worked in: nobody looks. It goes on from there when asked to.
    /// What comes with it is held until that is done: others see by the count of its holders whether it is.
    Leave(Arc<()>),
}

/// A run as its watchers see it.
pub struct Run {
    /// Its number.
    pub id: u64,
    shared: Arc<Shared>,
    commands: Sender<Command>,
    watchers: AtomicUsize,
}

struct Shared {
    log: Mutex<Log>,
    /// Counts changes of the log.
    changed: watch::Sender<u64>,
    /// Ends the step under way.
    interrupt: Mutex<Interrupt>,
    /// Bytes of the logs of all runs.
    held: Arc<AtomicUsize>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let own = self.log().bytes.len();
        self.held.fetch_sub(own, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Log {
    bytes: Vec<u8>,
    standing: Standing,
}

/// How a run stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// Time simulated [s].
    pub time: f64,
    /// Why the run cannot go on, or nothing.
    pub stopped: String,
    /// Whether it rests as it was asked to, and its last frame shows where.
    pub paused: bool,
    /// The number of the order that it rests by.
    pub order: u64,
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn interrupt(&self) -> MutexGuard<'_, Interrupt> {
        self.interrupt.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A flag that nobody has asked for yet, in the place of the old one.
    fn renew_interrupt(&self) -> Interrupt {
        let fresh = Interrupt::new();
        self.interrupt().clone_from(&fresh);
        fresh
    }

    fn tell(&self) {
        self.changed.send_modify(|n| *n += 1);
    }
}

impl Run {
    /// Begins a run; its thread ends when nobody can give it orders any more.
    pub fn start(id: u64, mut scene: Scene, held: &Arc<AtomicUsize>) -> Arc<Self> {
        let shared = Arc::new(Shared {
            log: Mutex::default(),
            changed: watch::Sender::new(0),
            interrupt: Mutex::default(),
            held: Arc::clone(held),
        });
        let (commands, orders) = channel();
        let inner = Arc::clone(&shared);
        scene.record.rate = scene.record.rate.max(RATE_MIN);
        let spawned = std::thread::Builder::new()
            .name(format!("run {id}"))
            .spawn(move || simulate(scene, &orders, &inner));
        if let Err(e) = spawned {
            shared.log().standing.stopped = format!("the system gives no thread: {e}");
        }
        Arc::new(Self {
            id,
            shared,
            commands,
            watchers: AtomicUsize::new(0),
        })
    }

    /// Gives an order; a run that has ended passes over it. To rest at once or to be left ends the step under way,
    /// which is taken again later.
    pub fn order(&self, command: Command) {
        let at_once = matches!(command, Command::Pause(None, _) | Command::Leave(_));
        let _ = self.commands.send(command);
        if at_once {
            self.shared.interrupt().ask();
        }
    }

    /// How many pages watch.
    pub fn watchers(&self) -> usize {
        self.watchers.load(Ordering::Relaxed)
    }

    /// Counts a page in or out.
    pub fn watch(&self, come: bool) {
        if come {
            self.watchers.fetch_add(1, Ordering::Relaxed);
        } else {
            self.watchers.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Tells when there is more to read.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changed.subscribe()
    }

    /// How many bytes there are.
    pub fn length(&self) -> usize {
        self.shared.log().bytes.len()
    }

    /// Bytes from an offset on, at most `most`; how the run stands.
    pub fn read(&self, offset: usize, most: usize) -> (Vec<u8>, Standing) {
        let log = self.shared.log();
        let end = log.bytes.len().min(offset.saturating_add(most));
        let bytes = log.bytes.get(offset..end).unwrap_or_default().to_vec();
        (bytes, log.standing.clone())
    }
}

/// The writer's end of the log: whole frames appear at once.
struct Tap {
    shared: Arc<Shared>,
    pending: Vec<u8>,
}

impl Write for Tap {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut log = self.shared.log();
        let more = self.pending.len();
        let full = |most: usize, who: &str| {
            let reason = format!("{who} {} MB; start it again", most >> 20);
            Err(io::Error::new(io::ErrorKind::StorageFull, reason))
        };
        if log.bytes.len() + more > LOG_MAX {
            return full(LOG_MAX, "this run has filled");
        }
        if self.shared.held.load(Ordering::Relaxed) + more > LOGS_MAX {
            return full(LOGS_MAX, "all runs together have filled");
        }
        self.shared.held.fetch_add(more, Ordering::Relaxed);
        log.bytes.append(&mut self.pending);
        drop(log);
        self.shared.tell();
        Ok(())
    }
}

/// The thread of a run.
fn simulate(mut scene: Scene, orders: &Receiver<Command>, shared: &Arc<Shared>) {
    let tap = Tap {
        shared: Arc::clone(shared),
        pending: Vec::new(),
    };
    let holds = Holds {
        contacts: scene.world.body_count() <= CONTACTS_BODIES_MAX,
        snapshots: false,
        certificates: true,
    };
    let mut writer = match RecordingWriter::holding(tap, &scene, holds) {
        Ok(writer) => writer,
        Err(e) => return stop(shared, &e.to_string()),
    };
    scene.world.set_interrupt(Some(shared.renew_interrupt()));
    let (mut until, mut steps, mut drag) = (0.0_f64, 0_u32, None);
    // Whether watchers know all, and the order by which the run is to rest on a frame.
    let (mut told, mut pausing) = (true, None);
    loop {
        // A small part of a step: times are sums of steps.
        let behind = scene.world.time() < until - 1e-6 * scene.dt;
        let order = if behind || steps > 0 {
            match orders.try_recv() {
                Ok(order) => Some(order),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => return,
            }
        } else {
            if !told || pausing.is_some() {
                // The end of the run and a run at rest have a frame of their own, whatever the rate.
                let over = scene.world.time() >= scene.seconds - 1e-6 * scene.dt;
                if (over || pausing.is_some())
                    && let Err(e) = writer.frame_now(&scene.world)
                {
                    return stop(shared, &e.to_string());
                }
                if let Some(order) = pausing.take() {
                    let standing = &mut shared.log().standing;
                    (standing.paused, standing.order) = (true, order);
                }
                shared.tell();
                told = true;
            }
            match orders.recv() {
                Ok(order) => Some(order),
                Err(_) => return,
            }
        };
        match order {
            // Who lets it run on does not wait for its rest any more.
            Some(Command::Until(time)) => (until, pausing) = (time, None),
            Some(Command::Pause(at, order)) => {
                let now = scene.world.time();
                (until, steps, pausing) = (at.unwrap_or(now).max(now), 0, Some(order));
            }
            Some(Command::Steps(count, order)) => {
                // Where they begin is a frame: what comes after it is one step, and not the rest of a frame.
                if let Err(e) = writer.frame_now(&scene.world) {
                    return stop(shared, &e.to_string());
                }
                steps = steps.saturating_add(count).min(STEPS_MAX);
                (until, pausing) = (scene.world.time(), Some(order));
            }
            Some(Command::Drag(held)) => drag = held.and_then(|d| hold(&scene, d)),
            Some(Command::Contacts(on)) => writer.hold_contacts(on),
            Some(Command::Leave(held)) => {
                (until, steps, pausing, drag) = (0.0, 0, None, None);
                shed(&mut scene.world);
                scene.world.set_interrupt(Some(shared.renew_interrupt()));
                drop(held);
            }
            None => {
                if let Some(drag) = &drag {
                    drag.pull(&mut scene.world, scene.dt);
                }
                let start = Instant::now();
                let result = scene.world.step(scene.dt);
                let wall = start.elapsed();
                let written = match result {
                    Ok(report) => {
                        writer.note_wall_time(wall);
                        writer.step(&scene.world, &report).and_then(|()| {
                            if steps > 0 {
                                writer.frame_now(&scene.world)
                            } else {
                                Ok(())
                            }
                        })
                    }
                    Err(StepError::Interrupted) => {
                        scene.world.set_interrupt(Some(shared.renew_interrupt()));
                        continue;
                    }
                    Err(e) => {
                        let time = number(scene.world.time());
                        return stop(shared, &format!("the simulation stopped at {time} s: {e}"));
                    }
                };
                if let Err(e) = written {
                    return stop(shared, &e.to_string());
                }
                // After the frame: whoever is told of a time has what was recorded up to it.
                let standing = &mut shared.log().standing;
                (standing.time, standing.paused) = (scene.world.time(), false);
                steps = steps.saturating_sub(1);
                told = false;
            }
        }
    }
}

/// Gives the memory back that steps worked in, in a crowd far more than the world itself. Bits stay the same.
fn shed(world: &mut World) {
    let threads = world.threads();
    if let Ok(mut bare) = World::restore(&world.snapshot())
        && bare.set_threads(threads).is_ok()
    {
        *world = bare;
    }
}

fn stop(shared: &Arc<Shared>, reason: &str) {
    shared.log().standing.stopped = reason.to_owned();
    shared.tell();
}

/// A hand on a body, if the body exists and the numbers make sense.
fn hold(scene: &Scene, (slot, at, to, strength): (u32, Vec3, Vec3, f64)) -> Option<Drag> {
    let body: BodyId = scene
        .world
        .body_ids()
        .find(|id| id.index() == slot as usize)?;
    let sensible = at.is_finite() && to.is_finite() && strength >= 0.0;
    sensible.then_some(Drag {
        body,
        at,
        to,
        strength: strength.min(STRENGTH_MAX),
    })
}
