//! What page and server say to each other, besides the bytes of a recording.
//!
//! Reads: JSON text of the page.  Writes: JSON text for it.
//! Called by: `view::socket`, `view::ask`.
//! Source: `docs/page.md`, "Protocol".

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tippe_scene::{Diagnostic, Diagnostics};

/// What a page may ask for.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Run a scene of the gallery, the scene of the command line (no name), or a text.
    Open {
        /// File name in the gallery.
        scene: Option<String>,
        /// Text of a scene.
        text: Option<String>,
        /// Whether the text is JSON; else it is TOML.
        #[serde(default)]
        json: bool,
        /// What to change.
        #[serde(default)]
        ask: Ask,
    },
    /// Go on with a run after a lost connection.
    Resume {
        /// Which run.
        run: u64,
        /// Bytes of its recording that the page has.
        offset: usize,
    },
    /// Bytes of the recording have arrived and are read: more may be sent.
    Took {
        /// Of which run.
        run: u64,
        /// How many, from its beginning.
        offset: usize,
    },
    /// Simulate up to a time [s].
    Until {
        /// That time.
        time: f64,
    },
    /// Rest on a frame; the status that follows says that the run is at rest.
    Pause {
        /// At this time [s], if the run has not come so far yet; else where it is.
        at: Option<f64>,
        /// Number of this order, given back with the status.
        #[serde(default)]
        order: u64,
    },
    /// Take single steps, with a frame after each, and rest.
    Step {
        /// How many.
        count: u32,
        /// Number of this order, given back with the status.
        #[serde(default)]
        order: u64,
    },
    /// Pull a body by a spring.
    Drag {
        /// Slot of the body.
        body: u32,
        /// Where it is held, in its frame [m].
        at: [f64; 3],
        /// Where to, in the world [m].
        to: [f64; 3],
        /// Largest force, in weights of the body under standard gravity [1].
        strength: f64,
    },
    /// Let go.
    Release,
    /// Send contacts and joint reactions, or not.
    Contacts {
        /// Whether.
        on: bool,
    },
}

/// What to change about a scene before it runs.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    /// Another method.
    pub method: Option<String>,
    /// Another step [s].
    pub dt: Option<f64>,
    /// Another length of the run [s].
    pub seconds: Option<f64>,
    /// Another gravity [m/s²].
    pub gravity: Option<[f64; 3]>,
    /// The same friction for all pairs [1].
    pub friction: Option<f64>,
    /// The same restitution for all pairs [1].
    pub restitution: Option<f64>,
    /// Parameters of the method.
    pub params: BTreeMap<String, serde_json::Value>,
}

/// What the server answers.
#[derive(Debug, Serialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum Answer {
    /// A run has begun, or goes on; binary messages are its recording.
    Opened {
        /// Its number.
        run: u64,
        /// Where in the recording the bytes that follow belong.
        offset: usize,
        /// Methods of this version, each with its parameters and their values.
        methods: BTreeMap<String, serde_json::Value>,
        /// What loads but is probably not meant.
        warnings: Vec<Fault>,
    },
    /// The run to go on with is gone.
    Gone,
    /// How the run stands.
    Status {
        /// Time simulated [s].
        time: f64,
        /// Why it cannot go on; empty if it can.
        stopped: String,
        /// Whether it rests, as the page asked, on a frame that the page has.
        paused: bool,
        /// The number of the order that it rests by.
        order: u64,
    },
    /// The scene makes no sense.
    Faults {
        /// Everything wrong with it.
        faults: Vec<Fault>,
        /// How many more there are.
        more: usize,
    },
    /// The order made no sense or cannot be met.
    Refused {
        /// Why.
        reason: String,
    },
}

/// One thing wrong with a scene.
#[derive(Debug, Serialize)]
pub struct Fault {
    line: usize,
    column: usize,
    field: String,
    reason: String,
    help: String,
}

impl From<&Diagnostic> for Fault {
    fn from(d: &Diagnostic) -> Self {
        Self {
            line: d.line,
            column: d.column,
            field: d.field.clone(),
            reason: d.reason.clone(),
            help: d.help.clone(),
        }
    }
}

impl From<Diagnostics> for Answer {
    fn from(d: Diagnostics) -> Self {
        Self::Faults {
            faults: d.errors.iter().map(Fault::from).collect(),
            more: d.more,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_strictly() {
        let read = |text: &str| serde_json::from_str::<Order>(text);
        assert_eq!(
            read(r#"{"do":"until","time":1.5}"#).unwrap(),
            Order::Until { time: 1.5 }
        );
        assert_eq!(read(r#"{"do":"release"}"#).unwrap(), Order::Release);
        assert_eq!(
            read(r#"{"do":"pause","at":2,"order":7}"#).unwrap(),
            Order::Pause {
                at: Some(2.0),
                order: 7
            }
        );
        assert!(read(r#"{"do":"pause"}"#).is_ok());
        assert!(read(r#"{"do":"open","scene":"a","ask":{"dt":0.1}}"#).is_ok());
        for bad in [
            "",
            "[]",
            "1",
            r#"{"do":"fly"}"#,
            r#"{"do":"until"}"#,
            r#"{"do":"until","time":"x"}"#,
            r#"{"do":"until","time":1,"more":2}"#,
            r#"{"do":"open","ask":{"x":1}}"#,
            r#"{"do":"step","count":-1}"#,
            r#"{"do":"drag","body":0,"at":[1],"to":[0,0,0],"strength":1}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
