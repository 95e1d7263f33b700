//! Writing a recording, chunk by chunk, while the run goes on.
//!
//! Reads: the scene, the world after each step.  Writes: bytes, flushed after every frame.
//! Called by: the command's `run`.
//! Source: `docs/recording.md`.

use super::chunk::{
    BODY, CERT, CONT, DONE, DOZE, EVNT, HEAD, JOIN, LOCK, POSE, Payload, QNAM, QVAL, REAC, SNAP,
    TREE, WALL, write_chunk,
};
use super::pack::{Bounds, pack};
use super::{Header, MAGIC, RecordedBody, RecordedContact, VERSION, certificate, describe};
use crate::load::{Record, Scene};
use crate::quantities::Quantities;
use std::io::{self, Write};
use tippe::{BodyId, EventKind, JointId, Pose, StepReport, World};

/// Forgives rounding of the clock where it is compared with frame times [frames].
const CLOCK_SLACK: f64 = 1e-6;

/// What a recording holds besides poses, events and certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holds {
    /// Contacts and joint reactions.
    pub contacts: bool,
    /// The whole world once a second.
    pub snapshots: bool,
    /// The certificate of every step.
    pub certificates: bool,
}

/// Records a run.
///
/// What is written is readable at any time: a run that is killed leaves everything up to its last frame.
#[derive(Debug)]
pub struct RecordingWriter<W: Write> {
    out: W,
    rate: f64,
    holds: Holds,
    materials: Vec<String>,
    bodies: Vec<BodyId>,
    joints: Vec<JointId>,
    /// Who slept at the last frame, by place in the list of bodies.
    asleep: Vec<bool>,
    locked: Vec<bool>,
    frames: u64,
    seconds: u64,
    certificates: Vec<u8>,
    events: Vec<u8>,
    /// One entry for each contact and step since the last frame; joined when the frame is written.
    contacts: Vec<RecordedContact>,
    /// Force and torque of each joint, summed over the steps since the last frame.
    reactions: Vec<[f64; 6]>,
    reaction_steps: u32,
    /// Wall time of each step since the last frame, where the caller tells it.
    wall_times: Vec<u8>,
    /// What is recorded by name, and what of it there is now.
    record: Record,
    quantities: Quantities,
    /// Bodies and joints that the quantities were chosen for.
    chosen_for: Option<(Vec<BodyId>, Vec<JointId>)>,
    /// Whether a step was taken since the last frame.
    stepped: bool,
    /// Time of the last whole frame [s].
    until: f64,
}

impl<W: Write> RecordingWriter<W> {
    /// Begins a recording: header, bodies, the first frame and snapshot.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub fn new(out: W, scene: &Scene) -> io::Result<Self> {
        let holds = Holds {
            contacts: scene.record.contacts,
            snapshots: true,
            certificates: true,
        };
        Self::holding(out, scene, holds)
    }

    /// Begins a recording that holds what the caller says, whatever the scene asks for.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub fn holding(mut out: W, scene: &Scene, holds: Holds) -> io::Result<Self> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        let header = Header {
            name: scene.name.clone(),
            description: scene.description.clone(),
            source: scene.source.clone(),
            scene: serde_json::to_value(&scene.resolved)?,
            method: scene.world.method().name().into(),
            dt: scene.dt,
            seconds: scene.seconds,
            rate: scene.record.rate,
            contacts: holds.contacts,
            gravity: scene.world.gravity().to_array(),
            certificate: certificate::names(),
            surfaces: describe::surfaces(scene),
        };
        write_chunk(&mut out, HEAD, &serde_json::to_vec(&header)?)?;
        let mut writer = Self {
            out,
            rate: scene.record.rate,
            holds,
            materials: scene.material_names.clone(),
            bodies: Vec::new(),
            joints: Vec::new(),
            asleep: Vec::new(),
            locked: Vec::new(),
            frames: 0,
            seconds: 0,
            certificates: Vec::new(),
            events: Vec::new(),
            contacts: Vec::new(),
            reactions: Vec::new(),
            reaction_steps: 0,
            wall_times: Vec::new(),
            record: scene.record.clone(),
            quantities: Quantities::default(),
            chosen_for: None,
            stepped: false,
            until: scene.world.time(),
        };
        writer.frame(&scene.world)?;
        writer.frames = 1;
        writer.snapshot(&scene.world)?;
        Ok(writer)
    }

    /// Writes a frame now, unless the last step made one; those that are due come all the same.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub fn frame_now(&mut self, world: &World) -> io::Result<()> {
        if self.stepped {
            self.frame(world)?;
        }
        Ok(())
    }

    /// Begins or ends the recording of contacts and joint reactions.
    pub fn hold_contacts(&mut self, contacts: bool) {
        self.holds.contacts = contacts;
        self.contacts.clear();
        self.reactions.clear();
        self.reaction_steps = 0;
    }

    /// Notes how long the step took that `step` is told next. Recordings without it are the same for the same run, bit for bit.
    pub fn note_wall_time(&mut self, time: std::time::Duration) {
        let ms = 1e3 * time.as_secs_f32();
        self.wall_times.extend(ms.to_le_bytes());
    }

    /// Records a step that was just taken: its certificate, its events, and a frame when one is due.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub fn step(&mut self, world: &World, report: &StepReport) -> io::Result<()> {
        self.stepped = true;
        if self.holds.certificates {
            let mut row = Payload(std::mem::take(&mut self.certificates));
            certificate::to_numbers(report)
                .into_iter()
                .for_each(|x| row.f64(x));
            self.certificates = row.0;
        }
        self.note_events(world);
        if self.holds.contacts {
            self.note_contacts(world);
            self.note_reactions(world);
        }
        // Frame k is due at k / rate, snapshot k at k seconds.
        let due = |rate: f64| (world.time() * rate + CLOCK_SLACK).floor() as u64;
        if due(self.rate) >= self.frames {
            self.frames = due(self.rate) + 1;
            self.frame(world)?;
        }
        if self.holds.snapshots && due(1.0) >= self.seconds {
            self.seconds = due(1.0);
            self.snapshot(world)?;
        }
        Ok(())
    }

    /// Time of the last frame that was written whole [s].
    pub const fn until(&self) -> f64 {
        self.until
    }

    /// Gives up a recording that cannot be written on; returns the writer's output as it is.
    pub fn give_up(self) -> W {
        self.out
    }

    /// Ends the recording; `stopped` says why a run ended early and is empty for a full one. Returns the writer's output.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub fn finish(mut self, world: &World, stopped: &str) -> io::Result<W> {
        self.frame_now(world)?;
        self.snapshot(world)?;
        let mut p = Payload::default();
        p.f64(world.time());
        p.u64(world.step_count());
        p.u64(world.hash());
        p.0.extend(stopped.as_bytes());
        write_chunk(&mut self.out, DONE, &p.0)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn note_events(&mut self, world: &World) {
        let mut p = Payload(std::mem::take(&mut self.events));
        for e in world.events() {
            p.f64(e.time);
            p.u8(kind_code(e.kind));
            p.u32(e.body_a.index() as u32);
            p.u32(e.body_b.index() as u32);
            p.u32(e.shape_a);
            p.u32(e.shape_b);
            e.point.to_array().into_iter().for_each(|x| p.f64(x));
            p.f64(e.speed);
        }
        self.events = p.0;
    }

    fn note_contacts(&mut self, world: &World) {
        self.contacts
            .extend(world.contacts().iter().map(|c| RecordedContact {
                body_a: c.body_a.index() as u32,
                body_b: c.body_b.index() as u32,
                shape_a: c.shape_a,
                shape_b: c.shape_b,
                feature: c.feature_id,
                sliding: c.sliding,
                steps: 1,
                point: c.point.to_array().map(|x| x as f32),
                normal: c.normal.to_array().map(|x| x as f32),
                impulse: c.impulse().to_array().map(|x| x as f32),
            }));
        // Slow recordings of short steps: join what is there, so that memory stays that of one step or two.
        if self.contacts.len() > 2 * world.contacts().len() + CONTACTS_KEPT {
            join_contacts(&mut self.contacts);
        }
    }

    fn note_reactions(&mut self, world: &World) {
        if self.reactions.len() != self.joints.len() {
            self.reactions = vec![[0.0; 6]; self.joints.len()];
            self.reaction_steps = 0;
        }
        // Both lists are in slot order.
        let mut sums = self.joints.iter().zip(&mut self.reactions);
        for f in world.joint_forces() {
            if let Some((_, sum)) = sums.find(|(id, _)| **id == f.joint) {
                let more = f.force.to_array().into_iter().chain(f.torque.to_array());
                sum.iter_mut().zip(more).for_each(|(s, x)| *s += x);
            }
        }
        self.reaction_steps += 1;
    }

    /// Writes what happened since the last frame, then the poses: a frame that is there has all that belongs to it.
    fn frame(&mut self, world: &World) -> io::Result<()> {
        self.stepped = false;
        self.list_bodies(world)?;
        self.write_reactions(world.time())?;
        self.list_joints(world)?;
        if !self.certificates.is_empty() {
            write_chunk(&mut self.out, CERT, &std::mem::take(&mut self.certificates))?;
        }
        if !self.wall_times.is_empty() {
            write_chunk(&mut self.out, WALL, &std::mem::take(&mut self.wall_times))?;
        }
        if !self.events.is_empty() {
            write_chunk(&mut self.out, EVNT, &std::mem::take(&mut self.events))?;
        }
        if self.holds.contacts {
            join_contacts(&mut self.contacts);
            let payload = contact_payload(world.time(), &self.contacts);
            self.contacts.clear();
            write_chunk(&mut self.out, CONT, &payload)?;
        }
        self.list_sleepers(world)?;
        self.list_locked(world)?;
        self.write_quantities(world)?;
        let poses: Vec<Pose> = self
            .bodies
            .iter()
            .filter_map(|id| world.pose(*id).ok())
            .collect();
        let bounds = Bounds::of(poses.iter().map(|p| p.position));
        let mut p = Payload::default();
        p.f64(world.time());
        p.u64(world.step_count());
        bounds
            .min
            .to_array()
            .into_iter()
            .chain(bounds.max.to_array())
            .for_each(|x| p.f64(x));
        poses
            .iter()
            .for_each(|pose| p.0.extend(pack(pose, &bounds)));
        write_chunk(&mut self.out, POSE, &p.0)?;
        self.out.flush()?;
        self.until = world.time();
        Ok(())
    }

    /// Writes the quantities asked for, and their names where they changed.
    fn write_quantities(&mut self, world: &World) -> io::Result<()> {
        let here = (self.bodies.clone(), world.joint_ids().collect::<Vec<_>>());
        if self.chosen_for.as_ref() != Some(&here) {
            let Record {
                exact, quantities, ..
            } = &self.record;
            let chosen = if *exact {
                Quantities::all(world)
            } else {
                // What broke is no longer there: the rest goes on.
                let sensors = [String::from("sensor")];
                let names = if quantities.is_empty() {
                    &sensors[..]
                } else {
                    quantities
                };
                let one = |n: &String| Quantities::choose(world, std::slice::from_ref(n)).is_ok();
                let there: Vec<String> = names.iter().filter(|n| one(n)).cloned().collect();
                Quantities::choose(world, &there).unwrap_or_default()
            };
            if chosen.names() != self.quantities.names() {
                write_chunk(&mut self.out, QNAM, &serde_json::to_vec(chosen.names())?)?;
            }
            self.quantities = chosen;
            self.chosen_for = Some(here);
        }
        if self.quantities.names().is_empty() {
            return Ok(());
        }
        let mut p = Payload::default();
        p.f64(world.time());
        p.u64(world.step_count());
        let values = self.quantities.values(world);
        values.into_iter().for_each(|x| p.f64(x));
        write_chunk(&mut self.out, QVAL, &p.0)
    }

    fn snapshot(&mut self, world: &World) -> io::Result<()> {
        if !self.holds.snapshots {
            return Ok(());
        }
        let mut p = Payload::default();
        p.f64(world.time());
        p.u64(world.step_count());
        p.0.extend(world.bare_snapshot());
        write_chunk(&mut self.out, SNAP, &p.0)?;
        self.seconds += 1;
        self.out.flush()
    }

    /// Writes the list of bodies if it is not the one the last frame had.
    fn list_bodies(&mut self, world: &World) -> io::Result<()> {
        let now: Vec<BodyId> = world.body_ids().collect();
        if now == self.bodies {
            return Ok(());
        }
        let list: Vec<RecordedBody> = now
            .iter()
            .filter_map(|id| describe::body(world, *id, &self.materials))
            .collect();
        write_chunk(&mut self.out, BODY, &serde_json::to_vec(&list)?)?;
        self.bodies = now;
        self.asleep.clear();
        self.locked.clear();
        let trees = describe::tree_joints(world);
        if !trees.is_empty() {
            write_chunk(&mut self.out, TREE, &serde_json::to_vec(&trees)?)?;
        }
        Ok(())
    }

    /// Writes who sleeps if that is not what the last frame had: one bit for each body of the list, the lowest first.
    fn list_sleepers(&mut self, world: &World) -> io::Result<()> {
        let now: Vec<bool> = self
            .bodies
            .iter()
            .map(|id| world.is_asleep(*id).unwrap_or(false))
            .collect();
        // Nobody sleeps before a list says so.
        let same = if self.asleep.is_empty() {
            !now.contains(&true)
        } else {
            now == self.asleep
        };
        if same {
            return Ok(());
        }
        let bytes = bits(&now);
        self.asleep = now;
        write_chunk(&mut self.out, DOZE, &bytes)
    }

    /// Writes which links of adaptive trees are locked, if that is not what the last frame had, in the same form.
    fn list_locked(&mut self, world: &World) -> io::Result<()> {
        let now: Vec<bool> = self
            .bodies
            .iter()
            .map(|id| world.is_locked(*id).unwrap_or(false))
            .collect();
        let same = if self.locked.is_empty() {
            !now.contains(&true)
        } else {
            now == self.locked
        };
        if same {
            return Ok(());
        }
        let bytes = bits(&now);
        self.locked = now;
        write_chunk(&mut self.out, LOCK, &bytes)
    }

    /// Writes the list of joints if it is not the one of the last frame.
    fn list_joints(&mut self, world: &World) -> io::Result<()> {
        let now: Vec<JointId> = world.joint_ids().collect();
        if now == self.joints {
            return Ok(());
        }
        let list: Vec<_> = now
            .iter()
            .filter_map(|id| describe::joint(world, *id))
            .collect();
        write_chunk(&mut self.out, JOIN, &serde_json::to_vec(&list)?)?;
        self.joints = now;
        Ok(())
    }

    /// Writes the mean reactions since the last frame; they belong to the list before it.
    fn write_reactions(&mut self, time: f64) -> io::Result<()> {
        if self.joints.is_empty() || self.reaction_steps == 0 {
            return Ok(());
        }
        let mut p = Payload::default();
        p.f64(time);
        for sum in &self.reactions {
            sum.iter()
                .for_each(|x| p.f32((x / f64::from(self.reaction_steps)) as f32));
        }
        self.reactions.clear();
        self.reaction_steps = 0;
        write_chunk(&mut self.out, REAC, &p.0)
    }
}

/// Contacts kept before they are joined, at least.
const CONTACTS_KEPT: usize = 4096;

/// One bit for each, the lowest of the first byte first.
fn bits(all: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| {
        let bits = eight.iter().enumerate();
        bits.fold(0_u8, |sum, (k, x)| sum | (u8::from(*x) << k))
    };
    all.chunks(8).map(byte).collect()
}

/// Sorts, and makes one of those that are the same contact in several steps: impulses add up, the rest is that of the last step.
fn join_contacts(contacts: &mut Vec<RecordedContact>) {
    let key = |c: &RecordedContact| (c.body_a, c.body_b, c.shape_a, c.shape_b, c.feature);
    if contacts.windows(2).all(|w| key(&w[0]) < key(&w[1])) {
        return;
    }
    // Stable: the steps of one contact stay in their order.
    contacts.sort_by_key(key);
    contacts.dedup_by(|later, first| {
        if key(later) != key(first) {
            return false;
        }
        let sum = [0, 1, 2].map(|i| first.impulse[i] + later.impulse[i]);
        *first = RecordedContact {
            impulse: sum,
            steps: first.steps + later.steps,
            ..*later
        };
        true
    });
}

const fn kind_code(kind: EventKind) -> u8 {
    match kind {
        EventKind::Begin => 0,
        EventKind::End => 1,
        EventKind::Impact => 2,
        EventKind::SensorBegin => 3,
        EventKind::SensorEnd => 4,
        EventKind::JointBreak => 5,
    }
}

fn contact_payload(time: f64, contacts: &[RecordedContact]) -> Vec<u8> {
    let mut p = Payload(Vec::with_capacity(8 + 61 * contacts.len()));
    p.f64(time);
    for c in contacts {
        for x in [c.body_a, c.body_b, c.shape_a, c.shape_b, c.feature, c.steps] {
            p.u32(x);
        }
        p.u8(u8::from(c.sliding));
        for x in c.point.into_iter().chain(c.normal).chain(c.impulse) {
            p.f32(x);
        }
    }
    p.0
}
