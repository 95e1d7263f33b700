//! A replay inside the report: a recording thin enough for one page, and the page's own script beside it.
//!
//! Reads: the scene, the world after each step.  Writes: HTML text.
//! Called by: `run`, `report`.
//! Source: the same recording and the same script as `tippe view`; base64 as RFC 4648 has it.

use std::fmt::Write as _;
use std::io;

use tippe::{StepReport, World};
use tippe_scene::Scene;
use tippe_scene::recording::{Holds, RecordingWriter};

use crate::view::bundle;

/// Bytes of poses that a report may hold, about; longer runs get fewer frames.
const POSES_MAX: f64 = 6e6;
/// Bytes of certificates that a report may hold; longer runs go without, their plots are in the report anyway.
const CERTIFICATES_MAX: f64 = 3e6;
/// Bytes of one certificate, about.
const CERTIFICATE: f64 = 300.0;
/// Frames a second, at most [Hz].
const RATE_MAX: f64 = 60.0;
/// More bodies than this are replayed without contacts.
const CONTACTS_BODIES_MAX: usize = 100;

/// A recording for the report.
pub struct Replay {
    writer: RecordingWriter<Vec<u8>>,
}

impl Replay {
    /// Begins it.
    ///
    /// # Errors
    /// The scene cannot be written, which would be a bug.
    pub fn new(scene: &Scene) -> io::Result<Self> {
        let bodies = scene.world.body_count();
        let frames = POSES_MAX / (16.0 * bodies.max(1) as f64);
        let rate = (frames / scene.seconds.max(1e-9))
            .min(RATE_MAX)
            .min(scene.record.rate);
        let mut thin = scene.clone();
        thin.record.rate = rate.max(1e-6);
        let holds = Holds {
            contacts: bodies <= CONTACTS_BODIES_MAX,
            snapshots: false,
            certificates: scene.step_count() as f64 * CERTIFICATE < CERTIFICATES_MAX,
        };
        let writer = RecordingWriter::holding(Vec::new(), &thin, holds)?;
        Ok(Self { writer })
    }

    /// Takes in a step.
    ///
    /// # Errors
    /// Never in practice: it is written to memory.
    pub fn step(&mut self, world: &World, report: &StepReport) -> io::Result<()> {
        self.writer.step(world, report)
    }

    /// The part of the report that replays the run.
    ///
    /// # Errors
    /// As for `step`.
    pub fn html(self, world: &World, stopped: &str) -> io::Result<String> {
        let bytes = self.writer.finish(world, stopped)?;
        let (style, script) = bundle();
        let mut out = String::with_capacity(bytes.len() * 4 / 3 + style.len() + script.len() + 500);
        let _ = writeln!(out, "<style>\n{style}</style>");
        out.push_str("<div id=\"tippe\" class=\"tp-embedded\"></div>\n<noscript><p class=\"note\">The replay needs scripts; the pictures below do not.</p></noscript>\n");
        out.push_str("<script type=\"text/plain\" id=\"tippe-recording\">\n");
        base64(&bytes, &mut out);
        let _ = writeln!(
            out,
            "\n</script>\n<script type=\"module\">\n{script}</script>"
        );
        Ok(out)
    }
}

fn base64(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for three in bytes.chunks(3) {
        let word =
            three.iter().fold(0_u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for k in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * k) & 63) as usize];
            out.push(if k > three.len() { '=' } else { digit as char });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_the_usual_one() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = String::new();
            base64(bytes.as_bytes(), &mut out);
            assert_eq!(out, text);
        }
    }
}
