//! Reading a recording: everything that is whole, and whether that is all.
//!
//! Reads: bytes.  Writes: nothing.
//! Called by: the command's `view` and report, tests.
//! Source: `docs/recording.md`.

use super::chunk::{
    BODY, CERT, CONT, Cursor, DONE, DOZE, EVNT, Found, HEAD, JOIN, POSE, QNAM, QVAL, REAC, SNAP,
    TREE, find_chunk,
};
use super::pack::{Bounds, POSE_BYTES, unpack};
use super::{
    Completeness, ContactFrame, Ending, Frame, Header, MAGIC, QuantityFrame, ReactionFrame,
    RecordedBody, RecordedContact, RecordedEvent, RecordedJoint, RecordedReaction,
    RecordedSnapshot, Sleepers, VERSION, certificate,
};
use std::fmt;
use tippe::{EventKind, StepReport, Vec3};

/// Why bytes are no recording at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingError {
    /// The first bytes are not those of a recording.
    NotARecording,
    /// Written by another version.
    Version {
        /// Version found.
        found: u32,
    },
    /// Cut off or damaged before the end of the header.
    NoHeader,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotARecording => write!(f, "these bytes are not a tippe recording"),
            Self::Version { found } => {
                write!(f, "recording version {found}, this program reads {VERSION}")
            }
            Self::NoHeader => write!(
                f,
                "the recording ends before its header, or the header is damaged"
            ),
        }
    }
}

impl std::error::Error for RecordingError {}

/// A recording in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// What was run.
    pub header: Header,
    /// Lists of bodies; a run that adds or removes bodies has several.
    pub bodies: Vec<Vec<RecordedBody>>,
    /// Lists of joints; a run in which joints break has several.
    pub joints: Vec<Vec<RecordedJoint>>,
    /// Joints inside articulations, one list for each list of bodies that has any.
    pub trees: Vec<Vec<RecordedJoint>>,
    /// Poses at the record rate.
    pub frames: Vec<Frame>,
    /// Who slept, whenever that changed.
    pub sleepers: Vec<Sleepers>,
    /// Contacts at the record rate, if they were recorded.
    pub contacts: Vec<ContactFrame>,
    /// Joint reactions at the record rate, if contacts were recorded and there are joints.
    pub reactions: Vec<ReactionFrame>,
    /// Events of all steps.
    pub events: Vec<RecordedEvent>,
    /// Certificate of each step.
    pub reports: Vec<StepReport>,
    /// Names of quantities; a run in which bodies or joints come and go has several lists.
    pub names: Vec<Vec<String>>,
    /// Quantities at the record rate.
    pub quantities: Vec<QuantityFrame>,
    /// The whole world, once a second.
    pub snapshots: Vec<RecordedSnapshot>,
    /// Whether this is all.
    pub completeness: Completeness,
}

impl Recording {
    /// Reads a recording: all whole chunks up to the end, a cut or damage.
    ///
    /// # Errors
    /// The bytes are no recording, or not even its header is whole.
    pub fn read(bytes: &[u8]) -> Result<Self, RecordingError> {
        let mut start = Cursor(bytes);
        match start.bytes(MAGIC.len()) {
            Some(magic) if magic == MAGIC => {}
            None if MAGIC.starts_with(bytes) => return Err(RecordingError::NoHeader),
            _ => return Err(RecordingError::NotARecording),
        }
        let found = start.u32().ok_or(RecordingError::NoHeader)?;
        if found != VERSION {
            return Err(RecordingError::Version { found });
        }
        let Found::Chunk {
            tag: HEAD,
            payload,
            end,
        } = find_chunk(bytes, MAGIC.len() + 4)
        else {
            return Err(RecordingError::NoHeader);
        };
        let header = serde_json::from_slice(payload).map_err(|_| RecordingError::NoHeader)?;
        let mut recording = Self {
            header,
            bodies: Vec::new(),
            joints: Vec::new(),
            reactions: Vec::new(),
            trees: Vec::new(),
            frames: Vec::new(),
            sleepers: Vec::new(),
            contacts: Vec::new(),
            events: Vec::new(),
            reports: Vec::new(),
            names: Vec::new(),
            quantities: Vec::new(),
            snapshots: Vec::new(),
            completeness: Completeness::Unfinished,
        };
        recording.read_chunks(bytes, end);
        Ok(recording)
    }

    fn read_chunks(&mut self, bytes: &[u8], mut offset: usize) {
        let damaged = |offset, reason: &str| Completeness::Damaged {
            offset,
            reason: reason.into(),
        };
        self.completeness = loop {
            match find_chunk(bytes, offset) {
                Found::End => break Completeness::Unfinished,
                Found::CutOff => break Completeness::CutOff { offset },
                Found::Damaged => break damaged(offset, "the checksum is wrong"),
                Found::Chunk {
                    tag: DONE, payload, ..
                } => {
                    break ending(payload).map_or_else(
                        || damaged(offset, "the end makes no sense"),
                        Completeness::Finished,
                    );
                }
                Found::Chunk { tag, payload, end } => {
                    if self.take(tag, payload).is_none() {
                        break damaged(offset, "the content makes no sense");
                    }
                    offset = end;
                }
            }
        };
    }

    /// Adds a chunk; `None` if its payload does not have the form of its tag. Unknown tags are passed over.
    fn take(&mut self, tag: [u8; 4], payload: &[u8]) -> Option<()> {
        let mut c = Cursor(payload);
        match tag {
            BODY => self.bodies.push(serde_json::from_slice(payload).ok()?),
            JOIN => self.joints.push(serde_json::from_slice(payload).ok()?),
            TREE => self.trees.push(serde_json::from_slice(payload).ok()?),
            DOZE => {
                let count = self.bodies.last()?.len();
                if payload.len() != count.div_ceil(8) {
                    return None;
                }
                self.sleepers.push(Sleepers {
                    frame: self.frames.len(),
                    list: self.bodies.len() - 1,
                    asleep: (0..count)
                        .map(|i| payload[i / 8] >> (i % 8) & 1 == 1)
                        .collect(),
                });
            }
            REAC => {
                let list = self.joints.len().checked_sub(1)?;
                let frame = reactions(&mut c, list)?;
                if frame.reactions.len() != self.joints[list].len() {
                    return None;
                }
                self.reactions.push(frame);
            }
            POSE => {
                let frame = frame(&mut c, self.bodies.len().checked_sub(1)?)?;
                if frame.poses.len() != self.bodies[frame.list].len() {
                    return None;
                }
                self.frames.push(frame);
            }
            CONT => {
                let mut frame = ContactFrame {
                    time: c.f64()?,
                    contacts: Vec::new(),
                };
                while !c.is_empty() {
                    frame.contacts.push(contact(&mut c)?);
                }
                self.contacts.push(frame);
            }
            EVNT => {
                let mut events = Vec::new();
                while !c.is_empty() {
                    events.push(event(&mut c)?);
                }
                self.events.extend(events);
            }
            CERT => {
                let names = &self.header.certificate;
                let mut reports = Vec::new();
                while !c.is_empty() {
                    let row: Option<Vec<f64>> = names.iter().map(|_| c.f64()).collect();
                    if names.is_empty() {
                        return None;
                    }
                    reports.push(certificate::from_numbers(names, &row?));
                }
                self.reports.extend(reports);
            }
            QNAM => self.names.push(serde_json::from_slice(payload).ok()?),
            QVAL => {
                let list = self.names.len().checked_sub(1)?;
                let (time, step) = (c.f64()?, c.u64()?);
                let mut values = Vec::with_capacity(c.0.len() / 8);
                while !c.is_empty() {
                    values.push(c.f64()?);
                }
                if values.len() != self.names[list].len() {
                    return None;
                }
                self.quantities.push(QuantityFrame {
                    time,
                    step,
                    list,
                    values,
                });
            }
            SNAP => {
                let (time, step) = (c.f64()?, c.u64()?);
                self.snapshots.push(RecordedSnapshot {
                    time,
                    step,
                    bytes: c.0.to_vec(),
                });
            }
            _ => {}
        }
        Some(())
    }

    /// Whether a body slept in a frame, both by place.
    #[must_use]
    pub fn is_asleep(&self, frame: usize, body: usize) -> bool {
        let after = self.sleepers.partition_point(|s| s.frame <= frame);
        let Some((known, at)) = after
            .checked_sub(1)
            .map(|k| &self.sleepers[k])
            .zip(self.frames.get(frame))
        else {
            return false;
        };
        known.list == at.list && known.asleep.get(body).copied().unwrap_or(false)
    }

    /// The frame at or before a time, or the first one [s].
    #[must_use]
    pub fn frame_at(&self, time: f64) -> Option<&Frame> {
        let after = self.frames.partition_point(|f| f.time <= time);
        self.frames.get(after.saturating_sub(1))
    }
}

fn ending(payload: &[u8]) -> Option<Ending> {
    let mut c = Cursor(payload);
    let (time, step, hash) = (c.f64()?, c.u64()?, c.u64()?);
    Some(Ending {
        time,
        step,
        hash,
        stopped: String::from_utf8(c.0.to_vec()).ok()?,
    })
}

fn vec3(c: &mut Cursor<'_>) -> Option<Vec3> {
    Some(Vec3::new(c.f64()?, c.f64()?, c.f64()?))
}

fn frame(c: &mut Cursor<'_>, list: usize) -> Option<Frame> {
    let (time, step) = (c.f64()?, c.u64()?);
    let bounds = Bounds {
        min: vec3(c)?,
        max: vec3(c)?,
    };
    let mut poses = Vec::with_capacity(c.0.len() / POSE_BYTES);
    while !c.is_empty() {
        poses.push(unpack(c.bytes(POSE_BYTES)?.try_into().ok()?, &bounds));
    }
    Some(Frame {
        time,
        step,
        list,
        error: bounds.error(),
        poses,
    })
}

fn reactions(c: &mut Cursor<'_>, list: usize) -> Option<ReactionFrame> {
    let mut frame = ReactionFrame {
        time: c.f64()?,
        list,
        reactions: Vec::new(),
    };
    while !c.is_empty() {
        let mut triple = || Some([c.f32()?, c.f32()?, c.f32()?]);
        frame.reactions.push(RecordedReaction {
            force: triple()?,
            torque: triple()?,
        });
    }
    Some(frame)
}

fn contact(c: &mut Cursor<'_>) -> Option<RecordedContact> {
    let mut word = || c.u32();
    let (body_a, body_b, shape_a, shape_b) = (word()?, word()?, word()?, word()?);
    let (feature, steps) = (word()?, word()?);
    let sliding = c.u8()? != 0;
    let mut triple = || Some([c.f32()?, c.f32()?, c.f32()?]);
    let (point, normal, impulse) = (triple()?, triple()?, triple()?);
    Some(RecordedContact {
        body_a,
        body_b,
        shape_a,
        shape_b,
        feature,
        sliding,
        steps,
        point,
        normal,
        impulse,
    })
}

fn event(c: &mut Cursor<'_>) -> Option<RecordedEvent> {
    let time = c.f64()?;
    let kind = match c.u8()? {
        0 => EventKind::Begin,
        1 => EventKind::End,
        2 => EventKind::Impact,
        3 => EventKind::SensorBegin,
        4 => EventKind::SensorEnd,
        5 => EventKind::JointBreak,
        _ => return None,
    };
    let (body_a, body_b, shape_a, shape_b) = (c.u32()?, c.u32()?, c.u32()?, c.u32()?);
    Some(RecordedEvent {
        time,
        kind,
        body_a,
        body_b,
        shape_a,
        shape_b,
        point: vec3(c)?,
        speed: c.f64()?,
    })
}
