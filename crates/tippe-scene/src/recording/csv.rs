//! A recording as tables of comma-separated values.
//!
//! Reads: a recording.  Writes: text.
//! Called by: the command's `export` and `run`.
//! Source: docs/recording.md, "Tables". Numbers are written so that they read back unchanged; RFC 4180 quotes what needs it.

use super::{RecordedBody, Recording};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A recording as CSV texts, each empty where the recording has nothing of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// A row for each frame, with states of all bodies: exact ones if they were recorded, else the rounded poses.
    pub bodies: String,
    /// A row for each frame, with positions and rates of joints and articulations, if they were recorded.
    pub joints: String,
    /// A row for each frame, with the readings of sensors.
    pub sensors: String,
    /// A row for each contact point of each frame, if contacts were recorded.
    pub contacts: String,
}

impl Tables {
    /// Makes them.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let bodies = quantities(recording, &["body."]);
        Self {
            bodies: if bodies.is_empty() {
                poses(recording)
            } else {
                bodies
            },
            joints: quantities(recording, &["joint.", "articulation."]),
            sensors: quantities(recording, &["sensor."]),
            contacts: contacts(recording),
        }
    }

    /// File names and texts of those that are not empty.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("bodies.csv", self.bodies.as_str()),
            ("joints.csv", &self.joints),
            ("sensors.csv", &self.sensors),
            ("contacts.csv", &self.contacts),
        ];
        all.into_iter().filter(|(_, text)| !text.is_empty())
    }
}

/// A table of the quantities whose names begin so; a column that a list lacks is empty in its rows.
fn quantities(recording: &Recording, prefixes: &[&str]) -> String {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut columns: Vec<&str> = Vec::new();
    for name in recording.names.iter().flatten() {
        if prefixes.iter().any(|p| name.starts_with(p)) && !places.contains_key(name.as_str()) {
            places.insert(name, columns.len());
            columns.push(name);
        }
    }
    if columns.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&columns);
    for frame in &recording.quantities {
        let mut row = vec![None; columns.len()];
        for (name, value) in recording.names[frame.list].iter().zip(&frame.values) {
            if let Some(place) = places.get(name.as_str()) {
                row[*place] = Some(*value);
            }
        }
        table.row(frame.time, frame.step, &row);
    }
    table.0
}

/// A table of the rounded poses.
fn poses(recording: &Recording) -> String {
    let parts = [
        "position.x",
        "position.y",
        "position.z",
        "rotation.w",
        "rotation.x",
        "rotation.y",
        "rotation.z",
    ];
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut columns: Vec<String> = Vec::new();
    for RecordedBody { name, .. } in recording.bodies.iter().flatten() {
        if !places.contains_key(name.as_str()) {
            places.insert(name, columns.len());
            columns.extend(parts.map(|p| format!("body.{name}.{p}")));
        }
    }
    let mut table = Table::new(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    for frame in &recording.frames {
        let mut row = vec![None; columns.len()];
        for (body, pose) in recording.bodies[frame.list].iter().zip(&frame.poses) {
            let (p, q) = (pose.position, pose.rotation);
            let values = [p.x, p.y, p.z, q.w, q.x, q.y, q.z];
            let at = places[body.name.as_str()];
            row[at..at + 7]
                .iter_mut()
                .zip(values)
                .for_each(|(cell, x)| *cell = Some(x));
        }
        table.row(frame.time, frame.step, &row);
    }
    table.0
}

fn contacts(recording: &Recording) -> String {
    if recording.contacts.iter().all(|f| f.contacts.is_empty()) {
        return String::new();
    }
    let name = |slot: u32| {
        let mut all = recording.bodies.iter().rev().flatten();
        all.find(|b| b.slot == slot)
            .map_or_else(|| slot.to_string(), |b| quoted(&b.name))
    };
    let mut text = String::from(
        "time,body_a,body_b,shape_a,shape_b,feature,sliding,steps,\
         point.x,point.y,point.z,normal.x,normal.y,normal.z,impulse.x,impulse.y,impulse.z\n",
    );
    for frame in &recording.contacts {
        for c in &frame.contacts {
            let who = [name(c.body_a), name(c.body_b)].join(",");
            let (s, t) = (c.shape_a, c.shape_b);
            let _ = write!(
                text,
                "{:?},{who},{s},{t},{},{},{}",
                frame.time, c.feature, c.sliding, c.steps
            );
            for x in c.point.iter().chain(&c.normal).chain(&c.impulse) {
                let _ = write!(text, ",{x:?}");
            }
            text.push('\n');
        }
    }
    text
}

/// A text under way: time, step, columns.
struct Table(String);

impl Table {
    fn new(columns: &[&str]) -> Self {
        let mut text = String::from("time,step");
        for column in columns {
            text.push(',');
            text.push_str(&quoted(column));
        }
        text.push('\n');
        Self(text)
    }

    fn row(&mut self, time: f64, step: u64, values: &[Option<f64>]) {
        let _ = write!(self.0, "{time:?},{step}");
        for value in values {
            self.0.push(',');
            if let Some(x) = value {
                let _ = write!(self.0, "{x:?}");
            }
        }
        self.0.push('\n');
    }
}

/// A cell that may hold commas, quotes or line breaks.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
