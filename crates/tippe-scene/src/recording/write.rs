//! Writing a recording, chunk by chunk, while the run goes on.
//!
//! Reads: the scene, the world after each step.  Writes: bytes, flushed after every frame.
//! Called by: the command's `run`.
//! Source: `docs/recording.md`.

use super::chunk::{BODY, CERT, CONT, DONE, EVNT, HEAD, POSE, Payload, SNAP, write_chunk};
use super::pack::{Bounds, pack};
use super::{
    Header, MAGIC, RecordedBody, RecordedContact, RecordedShape, Solid, VERSION, certificate,
};
use crate::load::Scene;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tippe::{BodyId, BodyKind, EventKind, Pose, Shape, StepReport, World};

/// Forgives rounding of the clock where it is compared with frame times [frames].
const CLOCK_SLACK: f64 = 1e-6;

type ContactKey = (u32, u32, u32, u32, u32);

/// Records a run.
///
/// What is written is readable at any time: a run that is killed leaves everything up to its last frame.
#[derive(Debug)]
pub struct RecordingWriter<W: Write> {
    out: W,
    rate: f64,
    with_contacts: bool,
    materials: Vec<String>,
    bodies: Vec<BodyId>,
    frames: u64,
    seconds: u64,
    certificates: Vec<u8>,
    events: Vec<u8>,
    contacts: BTreeMap<ContactKey, RecordedContact>,
}

impl<W: Write> RecordingWriter<W> {
    /// Begins a recording: header, bodies, the first frame and snapshot.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub fn new(mut out: W, scene: &Scene) -> io::Result<Self> {
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
            contacts: scene.record.contacts,
            gravity: scene.world.gravity().to_array(),
            certificate: certificate::names(),
        };
        write_chunk(&mut out, HEAD, &serde_json::to_vec(&header)?)?;
        let mut writer = Self {
            out,
            rate: scene.record.rate,
            with_contacts: scene.record.contacts,
            materials: scene.material_names.clone(),
            bodies: Vec::new(),
            frames: 0,
            seconds: 0,
            certificates: Vec::new(),
            events: Vec::new(),
            contacts: BTreeMap::new(),
        };
        writer.frame(&scene.world)?;
        writer.snapshot(&scene.world)?;
        Ok(writer)
    }

    /// Records a step that was just taken: its certificate, its events, and a frame when one is due.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub fn step(&mut self, world: &World, report: &StepReport) -> io::Result<()> {
        let mut row = Payload(std::mem::take(&mut self.certificates));
        certificate::to_numbers(report)
            .into_iter()
            .for_each(|x| row.f64(x));
        self.certificates = row.0;
        self.note_events(world);
        if self.with_contacts {
            self.note_contacts(world);
        }
        // Frame k is due at k / rate, snapshot k at k seconds.
        let due = |rate: f64| (world.time() * rate + CLOCK_SLACK).floor() as u64;
        if due(self.rate) >= self.frames {
            self.frames = due(self.rate);
            self.frame(world)?;
        }
        if due(1.0) >= self.seconds {
            self.seconds = due(1.0);
            self.snapshot(world)?;
        }
        Ok(())
    }

    /// Ends the recording; `stopped` says why a run ended early and is empty for a full one. Returns the writer's output.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub fn finish(mut self, world: &World, stopped: &str) -> io::Result<W> {
        if !self.certificates.is_empty() {
            self.frame(world)?;
        }
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
        for c in world.contacts() {
            let (a, b) = (c.body_a.index() as u32, c.body_b.index() as u32);
            let key = (a, b, c.shape_a, c.shape_b, c.feature_id);
            let known = self.contacts.get(&key);
            let sum = known.map_or([0.0; 3], |k| k.impulse);
            let impulse = c.impulse().to_array();
            let contact = RecordedContact {
                body_a: a,
                body_b: b,
                shape_a: c.shape_a,
                shape_b: c.shape_b,
                feature: c.feature_id,
                sliding: c.sliding,
                steps: known.map_or(0, |k| k.steps) + 1,
                point: c.point.to_array().map(|x| x as f32),
                normal: c.normal.to_array().map(|x| x as f32),
                impulse: [0, 1, 2].map(|i| sum[i] + impulse[i] as f32),
            };
            self.contacts.insert(key, contact);
        }
    }

    /// Writes what happened since the last frame, then the poses: a frame that is there has all that belongs to it.
    fn frame(&mut self, world: &World) -> io::Result<()> {
        self.list_bodies(world)?;
        if !self.certificates.is_empty() {
            write_chunk(&mut self.out, CERT, &std::mem::take(&mut self.certificates))?;
        }
        if !self.events.is_empty() {
            write_chunk(&mut self.out, EVNT, &std::mem::take(&mut self.events))?;
        }
        if self.with_contacts {
            let contacts = std::mem::take(&mut self.contacts);
            write_chunk(
                &mut self.out,
                CONT,
                &contact_payload(world.time(), contacts.values()),
            )?;
        }
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
        self.frames += 1;
        self.out.flush()
    }

    fn snapshot(&mut self, world: &World) -> io::Result<()> {
        let mut p = Payload::default();
        p.f64(world.time());
        p.u64(world.step_count());
        p.0.extend(world.snapshot());
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
            .filter_map(|id| self.describe(world, *id))
            .collect();
        write_chunk(&mut self.out, BODY, &serde_json::to_vec(&list)?)?;
        self.bodies = now;
        Ok(())
    }

    fn describe(&self, world: &World, id: BodyId) -> Option<RecordedBody> {
        let body = world.body(id).ok()?;
        let shapes = body.shapes.iter().map(|s| {
            let q = s.pose.rotation;
            RecordedShape {
                solid: solid(&s.shape),
                position: s.pose.position.to_array(),
                rotation: [q.w, q.x, q.y, q.z],
                sensor: s.sensor,
                material: self
                    .materials
                    .get(s.material.index())
                    .cloned()
                    .unwrap_or_default(),
            }
        });
        Some(RecordedBody {
            name: body.name.clone(),
            slot: id.index() as u32,
            kind: match body.kind {
                BodyKind::Dynamic => "dynamic",
                BodyKind::Fixed => "fixed",
                BodyKind::Kinematic(_) => "kinematic",
            }
            .into(),
            mass: body.mass,
            center: body.center.to_array(),
            shapes: shapes.collect(),
        })
    }
}

fn solid(shape: &Shape) -> Solid {
    match shape.clone() {
        Shape::Sphere { radius } => Solid::Sphere { radius },
        Shape::Cuboid { half } => Solid::Box {
            size: (half * 2.0).to_array(),
        },
        Shape::Capsule {
            half_length,
            radius,
        } => Solid::Capsule {
            radius,
            length: half_length * 2.0,
        },
        Shape::Cylinder {
            half_length,
            radius,
        } => Solid::Cylinder {
            radius,
            length: half_length * 2.0,
        },
        Shape::Cone {
            half_length,
            radius,
        } => Solid::Cone {
            radius,
            height: half_length * 2.0,
        },
        Shape::Hull(hull) => Solid::Hull {
            points: hull.vertices().iter().map(|v| v.to_array()).collect(),
            triangles: hull.triangles().to_vec(),
        },
        Shape::Mesh(mesh) => Solid::Mesh {
            points: mesh.vertices().iter().map(|v| v.to_array()).collect(),
            triangles: mesh.triangles().to_vec(),
        },
        Shape::HalfSpace { normal } => Solid::HalfSpace {
            normal: normal.to_array(),
        },
    }
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

fn contact_payload<'a>(time: f64, contacts: impl Iterator<Item = &'a RecordedContact>) -> Vec<u8> {
    let mut p = Payload::default();
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
