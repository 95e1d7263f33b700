//! The page, end to end, in a real browser: its own state and its pixels.
//!
//! Reads: the built binary, Chromium.  Writes: scenes and recordings in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: docs/page.md.

// Tests may fail loudly.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::browser::{self, Browser};
use common::serve::Server;
use common::{code, folder, scene, stderr, tippe};
use serde_json::Value;

const SIZE: (u32, u32) = (1000, 640);

/// A block of 2 kg at rest on the floor.
const BLOCK: &str = r#"
version = 1
name = "block"
[method]
dt = 0.002
seconds = 4.0
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
const RAMP: &str = r#"
version = 1
name = "ramp"
[method]
dt = 0.002
seconds = 4.0
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

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or(f64::NAN)
}

fn vector(v: &Value) -> [f64; 3] {
    [0, 1, 2].map(|k| number(&v[k]))
}

/// Opens a page on a scene and waits for its first frames.
fn open(browser: &Browser, server: &Server, query: &str) -> Value {
    browser.go(&format!("{}{query}", server.address));
    browser.wait("the first frames", |s| number(&s["frames"]) > 2.0)
}

/// Pauses at a time of at least so much [s].
fn pause_after(browser: &Browser, time: f64) -> Value {
    browser.wait("some time", |s| number(&s["time"]) >= time);
    browser.run("tippe.pause()");
    std::thread::sleep(std::time::Duration::from_millis(300));
    browser.state()
}

#[test]
fn gallery_shows_every_scene_and_opens_one() {
    let Some(b) = browser::start("gallery", SIZE) else {
        return;
    };
    let server = Server::start(&[]);
    b.go(&server.address);
    b.wait("the gallery", |s| s["show"] == "gallery");
    let scenes = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes"))
        .unwrap()
        .filter(|e| {
            e.as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|e| e == "toml")
        })
        .count();
    let loaded = "const all = [...document.querySelectorAll('.tp-card')]; all.forEach((c) => (c.querySelector('img').loading = 'eager')); \
        return all.filter((c) => c.querySelector('img').naturalWidth > 0 && c.innerText.length > 20).length";
    let mut count = 0;
    for _ in 0..400 {
        count = b.run(loaded).as_u64().unwrap() as usize;
        if count == scenes {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(count, scenes, "cards with a picture and a story");
    b.click("[data-scene='domino.toml']");
    let s = b.wait("the scene", |s| {
        s["show"] == "scene" && number(&s["frames"]) > 2.0
    });
    assert_eq!(s["name"], "Domino");
    // 42 bodies, drawn in many colours.
    assert_eq!(s["bodies"].as_array().unwrap().len(), 42);
    assert!(b.pixels().colours() > 60);
    b.click("#home");
    b.wait("the gallery again", |s| s["show"] == "gallery");
    b.no_errors();
}

#[test]
fn live_run_moves_pauses_steps_and_scrubs() {
    let Some(b) = browser::start("live", SIZE) else {
        return;
    };
    let server = Server::start(&["../../scenes/domino.toml"]);
    open(&b, &server, "");
    // Pauses, and stays there.
    let s = pause_after(&b, 0.25);
    assert_eq!(s["playing"], false);
    let time = number(&s["time"]);
    let later = b.pixels();
    assert_eq!(number(&b.state()["time"]), time);
    // The start, by the slider: everything is where it began.
    b.run("const t = document.querySelector('#time'); t.value = 0; t.dispatchEvent(new Event('input'))");
    let s = b.wait("the start", |s| number(&s["time"]) == 0.0);
    let ball = s["bodies"]
        .as_array()
        .unwrap()
        .iter()
        .position(|x| x["name"] == "ball")
        .unwrap();
    b.wait("the ball where it began", |s| {
        (vector(&s["bodies"][ball]["position"])[0] + 0.15).abs() < 1e-5
    });
    let first = b.pixels();
    assert!(
        first.change(&later) > 5e-4,
        "the picture moves: {}",
        first.change(&later)
    );
    // To and fro gives the same picture.
    b.run("tippe.seek(0.2)");
    b.wait("the ball on its way", |s| {
        (number(&s["time"]) - 0.2).abs() < 0.02
            && vector(&s["bodies"][ball]["position"])[0] > -0.15 + 0.6 * 0.15
    });
    b.run("tippe.seek(0)");
    assert!(first.change(&b.pixels()) < 1e-3);
    // At the edge, a step goes on by itself and stops again. That it is one step of the engine is not so yet: it is a few.
    b.press("\u{E010}"); // End
    let s = b.wait("the edge", |s| {
        (number(&s["time"]) - number(&s["edge"])).abs() < 1e-9
    });
    let (steps, edge) = (number(&s["steps"]), number(&s["edge"]));
    b.click("#step");
    let s = b.wait("one more step", |s| number(&s["edge"]) > edge);
    assert!(number(&s["steps"]) > steps && s["playing"] == false);
    // And on.
    b.run("document.querySelector('#scene').focus()");
    b.press(" ");
    b.wait("playing on", |s| number(&s["time"]) > edge + 0.1);
    b.no_errors();
}

/// Force arrows on the page: what they stand for, summed over all contacts, and drawn to scale.
fn arrow_sum(s: &Value) -> [f64; 3] {
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

#[test]
fn mc_30_mc_31_arrows_of_a_resting_block_sum_to_its_weight_and_a_contact_tells_its_force() {
    let Some(b) = browser::start("force", SIZE) else {
        return;
    };
    let dir = folder("page-force");
    let server = Server::start(&[&scene(&dir, BLOCK)]);
    open(&b, &server, "");
    let s = pause_after(&b, 0.4);
    let weight = 2.0 * 9.81;
    let sum = arrow_sum(&s);
    println!("arrows sum to {sum:?}, weight {weight}");
    assert!(
        (sum[2] - weight).abs() < 0.01 * weight && sum[0].abs() + sum[1].abs() < 0.01 * weight,
        "{sum:?}"
    );
    assert!(s["contacts"].as_array().unwrap().len() >= 3);
    // Click a contact that nothing hides: the one nearest to the eye.
    let place = b.run(
        "const p = tippe.main, box = p.canvas.getBoundingClientRect(); \
         const c = [...p.contacts].sort((a, b) => tippe.camera.metres(a.point, 1) - tippe.camera.metres(b.point, 1))[0]; \
         const [x, y] = tippe.camera.pixel(c.point, box.width, box.height); \
         return [box.left + x, box.top + y, c.pressing, c.key, x * p.canvas.width / box.width, y * p.canvas.height / box.height]",
    );
    // Its mark is there: a green disc, for it sticks.
    let green = b
        .pixels()
        .near((number(&place[4]), number(&place[5])), 10, [33, 158, 107]);
    assert!(green > 10, "{green} green pixels at the contact");
    b.click_at((number(&place[0]), number(&place[1])));
    let s = b.wait("the contact is chosen", |s| {
        !s["chosen"]["contact"].is_null()
    });
    assert_eq!(s["chosen"]["contact"], place[3]);
    b.run("tippe.draw()");
    let text = b.run("return document.querySelector('#chosen').innerText");
    let text = text.as_str().unwrap();
    assert!(
        text.contains("sticks") && text.contains("floor → block"),
        "{text}"
    );
    let said: f64 = text
        .lines()
        .find_map(|l| {
            l.strip_prefix("normal force")?
                .trim()
                .strip_suffix(" N")?
                .parse()
                .ok()
        })
        .unwrap();
    assert!(
        (said - number(&place[2])).abs() < 0.01 * said.abs(),
        "{said} {}",
        place[2]
    );
    // The mean over a window of all contacts is the weight, too (MC-30).
    let mean = b.run(
        "const r = tippe.recording, n = r.frames.length; let sum = 0; const from = n - 12; \
         for (let i = from; i < n; i++) for (const c of r.contacts(i)) sum += c.force[2]; return sum / (n - from)",
    );
    assert!((number(&mean) - weight).abs() < 0.01 * weight, "{mean}");
    b.no_errors();
}

#[test]
fn mc_30_mc_31_a_block_on_a_ramp_shows_its_normal_and_tangential_force() {
    let Some(b) = browser::start("ramp", SIZE) else {
        return;
    };
    let dir = folder("page-ramp");
    let server = Server::start(&[&scene(&dir, RAMP)]);
    open(&b, &server, "");
    let s = pause_after(&b, 0.4);
    let alpha = 20.0_f64.to_radians();
    let (sine, cosine) = (libm::sin(alpha), libm::cos(alpha));
    let sum = arrow_sum(&s);
    let normal = sum[0] * sine + sum[2] * cosine;
    let tangential = -sum[0] * cosine + sum[2] * sine;
    let weight = 2.0 * 9.81;
    println!(
        "normal {normal}, {}; tangential {tangential}, {}",
        weight * cosine,
        weight * sine
    );
    assert!(
        (normal - weight * cosine).abs() < 0.02 * weight * cosine,
        "{normal}"
    );
    assert!(
        (tangential - weight * sine).abs() < 0.02 * weight * sine,
        "{tangential}"
    );
    b.no_errors();
}

#[test]
fn mc_32_another_step_and_method_run_again_from_the_same_start() {
    let Some(b) = browser::start("ask", SIZE) else {
        return;
    };
    let dir = folder("page-ask");
    let server = Server::start(&[&scene(&dir, BLOCK)]);
    let before = open(&b, &server, "");
    b.run("document.querySelectorAll('.tp-panel').forEach((p) => (p.open = true)); document.querySelector('#dt').value = '1/250'; document.querySelector('#gravity').value = '-1.62'; document.querySelector('#rerun').click()");
    let s = b.wait("the new step", |s| {
        (number(&s["dt"]) - 0.004).abs() < 1e-12 && number(&s["frames"]) > 20.0
    });
    assert_eq!(s["name"], before["name"]);
    let s2 = pause_after(&b, 0.3);
    let sum = arrow_sum(&s2);
    assert!(
        (sum[2] - 2.0 * 1.62).abs() < 0.04,
        "the weight on the moon: {sum:?}"
    );
    // Every method of this version, or another parameter where there is only one.
    let methods = b.run("return Object.keys(tippe.askPanel.methods)");
    for method in methods.as_array().unwrap() {
        let m = method.as_str().unwrap();
        b.run(&format!("document.querySelector('#method').value = '{m}'; document.querySelector('#rerun').click()"));
        b.wait("that method", |s| {
            s["method"] == m && number(&s["frames"]) > 5.0 && number(&s["time"]) < 2.0
        });
    }
    // Side by side: two runs, one time.
    b.run("tippe.compare('dt/2')");
    let s = b.wait("two runs", |s| s["panes"] == 2 && number(&s["time"]) > 0.05);
    assert!(number(&s["time"]) <= number(&s["edge"]) + 1e-9);
    let captions = b.run("tippe.draw(); return [...document.querySelectorAll('.tp-caption')].map((c) => c.textContent)");
    assert!(
        captions[1].as_str().unwrap().contains("0.002"),
        "{captions}"
    );
    b.no_errors();
}

#[test]
fn a_body_is_dragged_by_a_spring() {
    let Some(b) = browser::start("drag", SIZE) else {
        return;
    };
    let dir = folder("page-drag");
    let server = Server::start(&[&scene(
        &dir,
        &BLOCK.replace("seconds = 4.0", "seconds = 60.0"),
    )]);
    open(&b, &server, "");
    b.wait("a little time", |s| number(&s["time"]) > 0.1);
    let place = b.run(
        "const p = tippe.main, box = p.canvas.getBoundingClientRect(); p.follow = null; \
         const at = Array.from(p.poses.subarray(7, 10)); at[2] += 0.05; const [x, y] = tippe.camera.pixel(at, box.width, box.height); return [box.left + x, box.top + y]",
    );
    let (x, y) = (number(&place[0]), number(&place[1]));
    let rest = b.pixels();
    b.drag(&[(x, y), (x, y - 60.0), (x, y - 160.0)], 300, false);
    let s = b.wait("the block hangs at the hand", |s| {
        vector(&s["bodies"][1]["position"])[2] > 0.16
    });
    assert!(!s["hand"].is_null());
    assert!(rest.change(&b.pixels()) > 0.01);
    b.release();
    let s = b.wait("the block falls back", |s| {
        s["hand"].is_null() && vector(&s["bodies"][1]["position"])[2] < 0.13
    });
    assert!(number(&s["time"]) > 0.2);
    b.no_errors();
}

#[test]
fn a_click_on_a_chart_goes_to_that_time_and_events_can_be_reached() {
    let Some(b) = browser::start("chart", SIZE) else {
        return;
    };
    let dir = folder("page-chart");
    let out = dir.join("out");
    let path = scene(&dir, common::DROP);
    assert_eq!(
        code(&tippe(&[
            "run",
            &path,
            "--out",
            out.to_str().unwrap(),
            "--seconds",
            "1"
        ])),
        0
    );
    let recording = out.join("recording.tippe");
    let server = Server::start(&[recording.to_str().unwrap()]);
    open(&b, &server, "");
    b.run("tippe.pause(); document.querySelector('#chart-energy').scrollIntoView()");
    let at = b.run("const r = document.querySelector('#chart-energy').getBoundingClientRect(); return [r.left + 0.75 * r.width, r.top + 0.5 * r.height]");
    b.click_at((number(&at[0]), number(&at[1])));
    let s = b.wait("three quarters", |s| {
        (number(&s["time"]) - 0.75).abs() < 0.03
    });
    assert_eq!(s["playing"], false);
    // The line is drawn: the canvas of the chart is not empty.
    let ink = b.run("tippe.draw(); const c = document.querySelector('#chart-energy'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v > 0).length");
    assert!(number(&ink) > 200.0, "{ink}");
    // The ball lands once: the impact is at √(2 · 0.01 / g).
    b.run("tippe.seek(0); tippe.event(1)");
    let s = b.state();
    assert!((number(&s["time"]) - 0.0452).abs() < 0.02, "{}", s["time"]);
    b.no_errors();
}

#[test]
fn a_bad_edit_is_refused_with_line_and_column_and_a_good_one_runs() {
    let Some(b) = browser::start("edit", SIZE) else {
        return;
    };
    let dir = folder("page-edit");
    let server = Server::start(&[&scene(&dir, BLOCK)]);
    open(&b, &server, "");
    b.run("document.querySelectorAll('.tp-panel').forEach((p) => (p.open = true)); const t = document.querySelector('#source'); t.value = t.value.replace('mass = 2.0', 'mass = -2.0'); document.querySelector('#run-text').click()");
    b.wait("the refusal", |s| {
        s["message"].as_str().unwrap_or("").contains("refused")
    });
    let faults = b.run("return document.querySelector('#faults').innerText");
    let faults = faults.as_str().unwrap();
    assert!(
        faults.contains("line 13, column 8") && faults.contains("mass"),
        "{faults}"
    );
    let marked = b.run("const t = document.querySelector('#source'); return t.value.slice(t.selectionStart, t.selectionEnd)");
    assert_eq!(marked, "-2.0");
    // The run that was there is still there.
    assert!(number(&b.state()["frames"]) > 2.0);
    b.run("const t = document.querySelector('#source'); t.value = t.value.replace('mass = -2.0', 'mass = 5.0'); document.querySelector('#run-text').click()");
    let s = b.wait("the edited scene", |s| {
        number(&s["bodies"][1]["mass"]) == 5.0 && number(&s["time"]) > 0.2
    });
    assert_eq!(s["message"], "");
    let s2 = pause_after(&b, 0.3);
    assert!(
        (arrow_sum(&s2)[2] - 5.0 * 9.81).abs() < 0.5,
        "{}",
        s["time"]
    );
    b.no_errors();
}

#[test]
fn a_server_that_dies_and_comes_back_is_found_again_and_the_view_stays() {
    let Some(b) = browser::start("reconnect", SIZE) else {
        return;
    };
    let dir = folder("page-reconnect");
    let path = scene(&dir, BLOCK);
    let token = "0123456789abcdef0123456789abcdef";
    let mut server = Server::start(&[&path, "--token", token]);
    let port = server.port.to_string();
    open(&b, &server, "");
    let s = pause_after(&b, 0.2);
    b.run("tippe.camera.yaw = 0.7; tippe.redraw()");
    let frames = number(&s["frames"]);
    let picture = b.pixels();
    server.stop();
    let s = b.wait("the loss is told", |s| {
        s["line"] == "lost" || s["line"] == "connecting"
    });
    assert!(
        s["message"].as_str().unwrap().contains("does not answer"),
        "{}",
        s["message"]
    );
    // What was received can still be looked at.
    b.run("tippe.seek(0)");
    assert_eq!(number(&b.state()["time"]), 0.0);
    let _again = Server::start(&[&path, "--token", token, "--port", &port]);
    let s = b.wait("the line is back", |s| {
        s["line"] == "open" && s["message"].as_str().unwrap().contains("anew")
    });
    assert_eq!(number(&s["frames"]), frames);
    assert_eq!(number(&b.run("return tippe.camera.yaw")), 0.7);
    b.run(&format!("tippe.seek({})", number(&s["edge"])));
    assert!(picture.change(&b.pixels()) < 2e-3);
    b.run("tippe.rerun()");
    b.wait("a new run", |s| {
        s["playing"] == true && number(&s["time"]) > 0.1
    });
    assert_eq!(number(&b.run("return tippe.camera.yaw")), 0.7);
}

#[test]
fn recordings_and_reports_replay_from_disk_also_when_cut_off() {
    let Some(b) = browser::start("replay", SIZE) else {
        return;
    };
    let dir = folder("page-replay");
    let out = dir.join("out");
    let run = tippe(&[
        "run",
        &scene(&dir, BLOCK),
        "--out",
        out.to_str().unwrap(),
        "--seconds",
        "1",
    ]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    // The report, straight from the disk, without any server.
    b.go(&format!("file://{}", out.join("report.html").display()));
    let s = b.wait("the replay plays", |s| {
        number(&s["frames"]) > 50.0 && number(&s["time"]) > 0.1
    });
    assert_eq!(s["name"], "block");
    assert!(b.pixels().colours() > 40);
    b.run("tippe.seek(0.5)");
    let sum = arrow_sum(&b.state());
    assert!((sum[2] - 2.0 * 9.81).abs() < 0.2, "{sum:?}");
    // A recording, whole.
    let recording = out.join("recording.tippe");
    let whole = Server::start(&[recording.to_str().unwrap()]);
    let s = open(&b, &whole, "");
    assert_eq!(
        (s["problem"].as_str(), s["message"].as_str()),
        (Some(""), Some(""))
    );
    assert!((number(&s["edge"]) - 1.0).abs() < 1e-6);
    // The same cut in the middle, and damaged in the middle.
    let bytes = fs::read(&recording).unwrap();
    let mut bent = bytes.clone();
    bent[bytes.len() * 2 / 3] ^= 1;
    for (bytes, word) in [
        (&bytes[..bytes.len() * 2 / 3], "cut off"),
        (&bent[..], "damaged"),
    ] {
        let path = dir.join("part.tippe");
        fs::write(&path, bytes).unwrap();
        let server = Server::start(&[path.to_str().unwrap()]);
        let s = open(&b, &server, "");
        assert!(
            s["message"].as_str().unwrap().contains(word),
            "{}",
            s["message"]
        );
        let edge = number(&s["edge"]);
        assert!(edge > 0.1 && edge < 1.0, "{edge}");
    }
}
