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
use common::page::{SIZE, flight, number};
use common::serve::Server;
use common::{code, folder, scene, stderr, tippe};

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
    let opened = "return [tippe.opened ?? 0, tippe.recording?.frames.length ?? 0]";
    let s = b.wait_for("all frames", opened, |s| number(&s[1]) > 3600.0);
    println!(
        "{:.1} MB, {} frames, open {:.2} s after the page was asked for",
        fs::metadata(&file).unwrap().len() as f64 / 1e6,
        s[1],
        number(&s[0]) / 1e3
    );
}

/// What the page does in a stretch of time while a run plays: drawings, frames that arrive, how far the shown time goes, cost of scripts.
const PLAY: &str = "
  const page = tippe, spent = { draw: 0, drawings: 0, take: 0, messages: 0 };
  const time = (object, name, into, count) => {
    const own = object[name].bind(object);
    object[name] = (...all) => { const t = performance.now(); own(...all); spent[into] += performance.now() - t; spent[count]++; };
  };
  time(page, 'draw', 'draw', 'drawings');
  time(page.main, 'take', 'take', 'messages');
  const [began, had, was] = [performance.now(), page.recording.frames.length, page.time];
  return new Promise((done) => setTimeout(() => {
    const s = (performance.now() - began) / 1e3;
    delete page.draw; delete page.main.take;
    done([spent.drawings / s, (page.recording.frames.length - had) / s, (page.time - was) / s, spent.draw / spent.drawings, spent.take / spent.messages, page.detailNow]);
  }, 8000));
";

/// How long it takes from an act of the user to the picture that answers it, in the graphics as well; the longest and the mean of five [ms].
fn answer(act: &str) -> String {
    format!(
        "
  const gl = tippe.main.renderer.gl, times = [];
  const once = () => new Promise((done) => {{
    const t = performance.now();
    {act};
    tippe.redraw();
    const own = tippe.draw;
    tippe.draw = (detail) => {{
      own.call(tippe, detail);
      delete tippe.draw;
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
      times.push(performance.now() - t);
      setTimeout(done, 100);
    }};
  }});
  return (async () => {{
    for (let i = 0; i < 5; i++) await once();
    return [Math.max(...times), times.reduce((a, b) => a + b) / times.length];
  }})();
"
    )
}

fn stream_thousands_of_bodies() {
    for bodies in [1000, 10_000] {
        if let Err(e) = stream(bodies) {
            println!("{bodies} bodies: not measured: {e}");
        }
    }
}

fn stream(bodies: u32) -> Result<(), String> {
    let Some(b) = browser::in_any_build("speed-stream", SIZE, &[]) else {
        return Ok(());
    };
    let dir = folder("page-speed-stream");
    let server = Server::start(&[&scene(&dir, &flight(bodies, 600.0))]);
    b.go(&server.address);
    // A little time to find out how many details can be drawn.
    let begun = "return Boolean(window.tippe?.recording && tippe.time > 0.5)";
    let start = std::time::Instant::now();
    while b.try_run(begun)? != true {
        if start.elapsed() > common::PATIENCE {
            return Err("the run does not begin".into());
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    std::thread::sleep(std::time::Duration::from_secs(5));
    let got = b.try_run(PLAY)?;
    println!(
        "{bodies} bodies, drawn in software with details {}: {:.1} messages a second, {:.2} of real time, {:.2} ms of script a message; {:.1} drawings a second, {:.1} ms of script a drawing",
        got[5],
        number(&got[1]),
        number(&got[2]),
        number(&got[4]),
        number(&got[0]),
        number(&got[3]),
    );
    let middle = "const box = tippe.canvas.getBoundingClientRect(); const hit = tippe.main.pick(box.width / 2, box.height / 2, true); tippe.main.chosen = hit && { body: hit.body }";
    for (what, act) in [
        (
            "turning the view while it runs",
            "tippe.camera.orbit(20, 5)",
        ),
        ("choosing a body while it runs", middle),
        ("pausing and going on", "tippe.toggle()"),
    ] {
        let took = b.try_run(&answer(act))?;
        println!(
            "{bodies} bodies, {what}: a picture after {:.0} ms, at most {:.0} ms",
            number(&took[1]),
            number(&took[0])
        );
    }
    Ok(())
}
