//! What the tests of the page share: scenes, opening a page, pausing it, and reading its force arrows.
//!
//! Reads: the state of the page.  Writes: nothing.
//! Called by: tests of the page.
//! Source: docs/page.md.

use serde_json::Value;

use super::browser::Browser;
use super::serve::Server;

/// Width and height of the window.
pub const SIZE: (u32, u32) = (1000, 640);

/// A block of 2 kg at rest on the floor, for longer than any test looks at it.
pub const BLOCK: &str = r#"
version = 1
name = "block"
[method]
dt = 0.002
seconds = 600.0
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "block"
mass = 2.0
position = [0, 0, 0.1]
shape.box = { size = [0.4, 0.3, 0.2] }
"#;

/// The same on a ramp of 20°, with friction enough.
pub const RAMP: &str = r#"
version = 1
name = "ramp"
[method]
dt = 0.002
seconds = 600.0
[[material]]
name = "default"
friction = 0.6
[[body]]
name = "ramp"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
rotation_deg = { axis = [0, 1, 0], angle = 20 }
[[body]]
name = "block"
mass = 2.0
position = [0.034202014332566873, 0, 0.093969262078590838]
rotation_deg = { axis = [0, 1, 0], angle = 20 }
shape.box = { size = [0.4, 0.3, 0.2] }
"#;

/// Bodies in free flight, turning: every frame is new, and nothing touches; 16 bytes of a frame for each.
pub fn flight(bodies: u32, seconds: f64) -> String {
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

/// A number of the state, not a number where there is none.
pub fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or(f64::NAN)
}

/// Three of them.
pub fn vector(v: &Value) -> [f64; 3] {
    [0, 1, 2].map(|k| number(&v[k]))
}

/// Opens a page on a scene and waits for its first frames. It is to draw all details, however slow that is here.
pub fn open(browser: &Browser, server: &Server, query: &str) -> Value {
    browser.go(&format!("{}{query}", server.address));
    let s = browser.wait("the first frames", |s| number(&s["frames"]) > 2.0);
    details(browser, "all");
    s
}

/// Chooses how much is drawn.
pub fn details(browser: &Browser, which: &str) {
    browser.run(&format!("const d = document.querySelector('#details'); d.value = '{which}'; d.dispatchEvent(new Event('change'))"));
}

/// Pauses a live run at a time of at least so much [s], and waits until it rests where the page shows it.
pub fn pause_after(browser: &Browser, time: f64) -> Value {
    browser.wait("some time", |s| number(&s["time"]) >= time);
    browser.run("tippe.pause()");
    browser.wait("a run at rest", at_rest);
    // Drawn, too: the state tells what was drawn last.
    browser.run("tippe.draw()");
    browser.state()
}

/// Pauses a live run at least so late [s], and shows the last frame up to that time: the same one on every machine.
pub fn show_at(browser: &Browser, time: f64) -> Value {
    pause_after(browser, time);
    browser.run(&format!("tippe.seek({time}); tippe.draw()"));
    browser.state()
}

/// Whether live runs rest, all at one time, and the page shows where.
pub fn at_rest(s: &Value) -> bool {
    s["paused"] == true && (number(&s["time"]) - number(&s["edge"])).abs() < 1e-9
}

/// Force arrows on the page: what they stand for, summed over all contacts, and drawn to scale.
pub fn arrow_sum(s: &Value) -> [f64; 3] {
    let mut sum = [0.0; 3];
    let scale = number(&s["arrowScale"]);
    for a in s["arrows"].as_array().unwrap() {
        let (force, along) = (vector(&a["force"]), vector(&a["along"]));
        for k in 0..3 {
            // The arrow is as long as its force says.
            assert!(
                (along[k] - scale * force[k]).abs() < 1e-4 * scale * 20.0,
                "{a}"
            );
            sum[k] += along[k] / scale;
        }
    }
    sum
}
