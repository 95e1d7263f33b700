//! How fast the page is, in a real browser.
//!
//! Reads: the built binary, Chromium.  Writes: a recording of 58 MB in a temporary folder of the build.
//! Called by: `cargo bench -p tippe-cli --bench page_speed`.
//! Source: docs/page.md, "Speed". Times depend on the machine, so no test reads them.

// A measurement may fail loudly.
#![allow(clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::fs;

use common::browser;
use common::page::{SIZE, number};
use common::serve::Server;
use common::{code, folder, scene, stderr, tippe};

/// Bodies in free flight, turning: every frame is new, and nothing touches.
fn flight(bodies: u32, seconds: f64) -> String {
    let side = libm::cbrt(f64::from(bodies)).ceil() as u32;
    format!(
        r#"
version = 1
name = "flight"
world.gravity = [0, 0, 0]
[method]
dt = "1/60"
seconds = {seconds}
[record]
rate = 60
[[grid]]
counts = [{side}, {side}, {side}]
pitch = [0.5, 0.5, 0.5]
center = [0, 0, 0]
count = {bodies}
random_rotation = {{ seed = 1 }}
body = {{ name = "box", mass = 1, angular_velocity = [1, 2, 3], shape.box = {{ size = [0.2, 0.15, 0.1] }} }}
"#
    )
}

fn main() {
    open_a_minute_of_a_thousand_bodies();
    stream_thousands_of_bodies();
}

fn open_a_minute_of_a_thousand_bodies() {
    let Some(b) = browser::in_any_build("speed-open", SIZE, &[]) else {
        return;
    };
    let dir = folder("page-speed-open");
    let out = dir.join("out");
    let run = tippe(&[
        "run",
        &scene(&dir, &flight(1000, 60.0)),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let file = out.join("recording.tippe");
    let server = Server::start(&[file.to_str().unwrap()]);
    b.go(&server.address);
    let s = b.wait("all frames", |s| number(&s["frames"]) > 3600.0);
    println!(
        "{:.1} MB, {} frames, open {:.2} s after the page was asked for",
        fs::metadata(&file).unwrap().len() as f64 / 1e6,
        s["frames"],
        number(&s["opened"]) / 1e3
    );
}

fn stream_thousands_of_bodies() {
    for bodies in [1000, 10_000] {
        let Some(b) = browser::in_any_build("speed-stream", SIZE, &[]) else {
            return;
        };
        let dir = folder("page-speed-stream");
        let server = Server::start(&[&scene(&dir, &flight(bodies, 600.0))]);
        b.go(&server.address);
        b.wait("some time", |s| number(&s["time"]) > 1.0);
        // Drawings and messages of five seconds, and what the script of a drawing costs without the graphics it hands on.
        b.run("window.n = 0; const d = tippe.draw.bind(tippe); window.spent = 0; tippe.draw = () => { const t = performance.now(); d(); spent += performance.now() - t; n++; }; window.began = performance.now(); window.had = tippe.recording.frames.length; window.was = tippe.time");
        std::thread::sleep(std::time::Duration::from_secs(5));
        let got = b.run("const s = (performance.now() - began) / 1e3; return [n / s, (tippe.recording.frames.length - had) / s, (tippe.time - was) / s, spent / n]");
        println!(
            "{bodies} bodies: {:.0} drawings and {:.0} frames a second, {:.2} of real time, {:.1} ms a drawing (all in software)",
            number(&got[0]),
            number(&got[1]),
            number(&got[2]),
            number(&got[3])
        );
    }
}
