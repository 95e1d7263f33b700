//! Using the page, in a real browser: layers, keys, dark, a phone, no graphics, two runs, a run that was killed.
//!
//! Reads: the built binary, Chromium.  Writes: scenes and recordings in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: docs/page.md.

// Tests may fail loudly.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::process::{Command, Stdio};

use common::browser::{self, Picture};
use common::page::{
    BLOCK, SIZE, at_rest, details, flight, number, open, pause_after, show_at, vector,
};
use common::serve::Server;
use common::{folder, scene, wait_until};
use serde_json::json;

/// A block that slides, one that rests, a pendulum, and a ball that lands after 0.1 s: something for every layer.
const SHOW: &str = r#"
version = 1
name = "show"
[method]
dt = 0.004
seconds = 600.0
[[material]]
name = "floor"
[[material]]
name = "ice"
[[pair]]
materials = ["floor", "ice"]
friction = 0.05
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
material = "floor"
[[body]]
name = "slider"
mass = 2.0
position = [-0.8, 0, 0.1]
velocity = [1.0, 0, 0]
shape.box = { size = [0.3, 0.3, 0.2] }
material = "ice"
[[body]]
name = "resting"
mass = 2.0
position = [0.8, 0.5, 0.1]
shape.box = { size = [0.3, 0.3, 0.2] }
material = "floor"
[[body]]
name = "bob"
mass = 1.0
position = [0.6, -0.4, 0.8]
shape.sphere = { radius = 0.1 }
material = "floor"
[[body]]
name = "dropped"
mass = 1.0
position = [0, 0.8, 0.15]
shape.sphere = { radius = 0.1 }
material = "floor"
[[joint]]
name = "thread"
kind = "ball"
bodies = ["world", "bob"]
at = [0.2, -0.4, 0.8]
"#;

#[test]
fn mc_31_every_layer_and_colour_can_be_seen() {
    let Some(b) = browser::start("layers", SIZE) else {
        return;
    };
    let dir = folder("page-layers");
    let server = Server::start(&[&scene(&dir, SHOW)]);
    open(&b, &server, "");
    // A tenth of a second after the ball has landed.
    let s = show_at(&b, 0.2);
    // One slips, the other sticks, and the two are marked by different shapes.
    let sliding = |s: &serde_json::Value, body: u64| {
        let all = s["contacts"].as_array().unwrap();
        all.iter()
            .filter(|c| c["b"] == body)
            .map(|c| c["sliding"] == true)
            .collect::<Vec<_>>()
    };
    assert!(!sliding(&s, 1).is_empty() && sliding(&s, 1).iter().all(|x| *x));
    assert!(!sliding(&s, 2).is_empty() && sliding(&s, 2).iter().all(|x| !x));
    let kinds = b.run("return [0, 1].map((k) => tippe.main.over.marks.filter((x, i) => i % 9 === 7 && x === k).length)");
    assert!(
        number(&kinds[0]) > 0.0 && number(&kinds[1]) > 0.0,
        "{kinds}"
    );
    // All layers off, then one after the other.
    let names = b.run("return [...document.querySelectorAll('[id^=layer-]')].map((e) => e.id)");
    let names: Vec<&str> = names
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|n| n.as_str())
        .collect();
    let set = |id: &str, on: bool| {
        b.run(&format!("document.querySelectorAll('details').forEach((d) => (d.open = true)); const e = document.getElementById('{id}'); if (e.checked !== {on}) e.click()"));
    };
    for name in &names {
        set(name, false);
    }
    let bare = b.pixels();
    assert!(names.len() >= 12, "{names:?}");
    for name in names.iter().copied().chain(["clear", "wire"]) {
        set(name, true);
        let change = bare.change(&b.pixels());
        println!("{name}: {change:.5} of the pixels");
        assert!(change > 2e-5, "{name}: {change}");
        set(name, false);
    }
    assert!(bare.change(&b.pixels()) < 1e-4);
    // Colours: each way paints otherwise, and the moving block is not coloured like the one at rest where it matters.
    let painted = |way: &str| {
        b.run(&format!("const c = document.getElementById('colour'); c.value = '{way}'; c.dispatchEvent(new Event('change')); tippe.draw()"));
        let at = b.run("const p = tippe.main, box = p.canvas, r = box.getBoundingClientRect(); return [1, 2].map((i) => tippe.camera.pixel([...p.poses.subarray(7 * i, 7 * i + 2), 0.2], r.width, r.height).map((x) => x * box.width / r.width))");
        let picture = b.pixels();
        [0, 1].map(|i: usize| picture.at((number(&at[i][0]), number(&at[i][1]))))
    };
    let differ = |a: [u8; 3], b: [u8; 3]| (0..3).any(|k| a[k].abs_diff(b[k]) > 40);
    for way in ["body", "material", "speed", "rest", "island"] {
        let [slider, resting] = painted(way);
        println!("{way}: {slider:?} {resting:?}");
        assert!(differ(slider, resting), "{way}");
    }
    // The eye follows a body: it stays in the middle while the run goes on from its edge.
    b.run("tippe.main.chosen = { body: 1 }; tippe.seek(tippe.edge); tippe.draw(); document.querySelector('#follow').click(); tippe.toggle()");
    let from = number(&b.state()["time"]);
    let s = pause_after(&b, from + 0.3);
    let target = vector(&b.run("return tippe.camera.target"));
    let block = vector(&s["bodies"][1]["position"]);
    assert!(
        (target[0] - block[0]).abs() < 1e-3 && block[0] > -0.6,
        "{target:?} {block:?}"
    );
    // The reaction of the thread carries the bob: its numbers are there.
    b.run("tippe.main.chosen = { body: 3 }; tippe.draw()");
    let text = b.run("return document.querySelector('#chosen').innerText");
    assert!(text.as_str().unwrap().contains("joint thread"), "{text}");
    b.no_errors();
}

#[test]
fn mc_31_sleepers_are_coloured() {
    let Some(b) = browser::start("sleepers", SIZE) else {
        return;
    };
    let dir = folder("page-sleepers");
    let text = SHOW.replace("[method]", "[world]\nsleeping = true\n[method]");
    let server = Server::start(&[&scene(&dir, &text)]);
    open(&b, &server, "");
    b.run("const c = document.getElementById('colour'); c.value = 'sleep'; c.dispatchEvent(new Event('change'))");
    let legend = "tippe.draw(); return document.querySelector('#colour-key').textContent";
    // The block that lies still (body 2) falls asleep after half a second; the bob (3) swings on.
    let colours =
        "return [2, 3].map((i) => Array.from(tippe.main.paint.rgb.subarray(3 * i, 3 * i + 3)))";
    pause_after(&b, 1.0);
    let look = |time: f64| {
        b.run(&format!("tippe.seek({time})"));
        [legend, colours].map(|script| b.run(script))
    };
    let [early, at_first] = look(0.2);
    assert_eq!(early, "orange: awake; grey blue: asleep, 0 now");
    assert_eq!(at_first[0], at_first[1]);
    let [late, then] = look(1.0);
    assert!(
        late.as_str().is_some_and(|t| !t.contains(", 0 now")),
        "{late}"
    );
    assert_eq!(then[1], at_first[1]);
    assert_ne!(then[0], at_first[0]);
    b.no_errors();
}

/// A chain of 24 links, let go from the horizontal, of which at most five may move at first.
const CHAIN: &str = r#"
version = 1
name = "chain"
[method]
dt = 0.004
seconds = 600.0
[[articulation]]
name = "chain"
adaptive = { joints = 5 }
[[articulation.link]]
name = "first"
axis = [0, 1, 0]
shapes = [{ capsule = { radius = 0.04, length = 0.1 }, position = [0.1, 0, 0], rotation_deg = { axis = [0, 1, 0], angle = 90 } }]
mass = 0.1
collision = { groups = [1], mask = [0] }
[[articulation.link]]
name = "link"
parent = "first"
axis = [0, 1, 0]
repeat = 23
position = [0.2, 0, 0]
shapes = [{ capsule = { radius = 0.04, length = 0.1 }, position = [0.1, 0, 0], rotation_deg = { axis = [0, 1, 0], angle = 90 } }]
mass = 0.1
collision = { groups = [1], mask = [0] }
"#;

#[test]
fn ab_33_moving_and_locked_links_are_coloured_and_the_residual_is_plotted() {
    let Some(b) = browser::start("adaptive", SIZE) else {
        return;
    };
    let dir = folder("page-adaptive");
    let server = Server::start(&[&scene(&dir, CHAIN)]);
    open(&b, &server, "");
    b.run("const c = document.getElementById('colour'); c.value = 'adaptive'; c.dispatchEvent(new Event('change'))");
    show_at(&b, 0.2);
    // Links of each colour, and what the certificate of the step says.
    let seen = b.run(
        "tippe.draw(); const p = tippe.main, r = p.recording, n = p.bodies.length, seen = {}; \
         for (let i = 0; i < n; i++) { const c = Array.from(p.paint.rgb.subarray(3 * i, 3 * i + 3)).join(' '); seen[c] = (seen[c] || 0) + 1 } \
         const k = Math.round(tippe.time / r.header.dt) - 1; \
         return { counts: Object.values(seen).sort((a, b) => a - b), moving: r.value(k, 'adaptive_moving'), locked: r.value(k, 'adaptive_locked'), \
         residual: r.value(k, 'adaptive_residual'), legend: document.querySelector('#colour-key').textContent, \
         chart: [...document.querySelectorAll('.tp-chart')].filter((f) => !f.hidden).some((f) => f.innerText.includes('residual R')) }",
    );
    println!("{seen}");
    let (moving, locked) = (number(&seen["moving"]), number(&seen["locked"]));
    assert!(moving >= 1.0 && locked >= 1.0 && moving + locked == 24.0);
    let counts: Vec<f64> = seen["counts"]
        .as_array()
        .unwrap()
        .iter()
        .map(number)
        .collect();
    assert_eq!(counts, [moving.min(locked), moving.max(locked)], "{seen}");
    let legend = seen["legend"].as_str().unwrap();
    assert!(
        legend.contains(&format!("it is locked, {locked} now")),
        "{legend}"
    );
    assert!(
        number(&seen["residual"]) > 0.0 && seen["chart"] == true,
        "{seen}"
    );
    b.no_errors();
}

#[test]
fn everything_can_be_done_by_keys_and_has_a_name() {
    let Some(b) = browser::start("keys", SIZE) else {
        return;
    };
    let dir = folder("page-keys");
    let server = Server::start(&[&scene(&dir, SHOW)]);
    open(&b, &server, "");
    // Tab reaches every control that is shown, each visibly: no focus without its ring.
    let wanted = b.run(
        "window.met = new Set(); window.bare = []; window.nameless = []; \
         document.addEventListener('focusin', ({ target: e }) => { met.add(e); \
         const style = getComputedStyle(e); if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2) bare.push(e.outerHTML.slice(0, 80)); \
         const name = e.getAttribute('aria-label') || e.title || e.labels?.[0]?.innerText || e.innerText; if (!name || !name.trim()) nameless.push(e.outerHTML.slice(0, 80)) }); \
         return [...document.querySelectorAll('#tippe button, #tippe select, #tippe input, #tippe summary, #tippe canvas[tabindex]')].filter((e) => e.checkVisibility() && !e.disabled).length",
    );
    let wanted = number(&wanted) as usize;
    b.press_often("\u{E004}", wanted + 5); // Tab
    let met = b.run("return [met.size, bare, nameless]");
    println!("{} of {wanted} controls by Tab", met[0]);
    assert_eq!(number(&met[0]) as usize, wanted);
    assert_eq!((&met[1], &met[2]), (&json!([]), &json!([])));
    // Space pauses, a full stop steps, keys turn and zoom the view, b and c choose, escape lets go.
    b.run("document.querySelector('#scene').focus(); tippe.playing = true");
    b.press(" ");
    let s = b.wait("a pause", |s| s["playing"] == false && at_rest(s));
    let step = number(&s["step"]);
    b.press(".");
    b.wait("one step", |s| number(&s["step"]) == step + 1.0);
    let before = b.pixels();
    b.press("\u{E012}"); // left
    b.press("\u{E013}"); // up
    assert!(before.change(&b.pixels()) > 0.01, "the view turns");
    let distance = number(&b.run("return tippe.camera.distance"));
    b.press("+");
    assert!(number(&b.run("return tippe.camera.distance")) < distance);
    b.press("b");
    let s = b.wait("a body", |s| !s["chosen"]["body"].is_null());
    b.press("b");
    b.wait("the next", |n| n["chosen"]["body"] != s["chosen"]["body"]);
    b.press("c");
    b.wait("a contact", |s| !s["chosen"]["contact"].is_null());
    b.press("\u{E00C}"); // escape
    b.wait("nothing", |s| s["chosen"].is_null());
    b.press("\u{E011}"); // Home
    b.wait("the start", |s| number(&s["time"]) == 0.0);
    b.no_errors();
}

#[test]
fn a_page_in_the_dark_is_dark_and_can_be_made_light() {
    let Some(b) = browser::start("dark", SIZE) else {
        return;
    };
    let dir = folder("page-dark");
    let server = Server::start(&[&scene(&dir, BLOCK)]);
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    b.devtools("Emulation.setEmulatedMedia", &dark);
    let s = open(&b, &server, "");
    assert_eq!(s["look"], "dark");
    pause_after(&b, 0.1);
    let (scene_dark, page_dark) = (b.pixels().brightness(), b.screen().brightness());
    b.click("#light");
    b.wait("light", |s| s["look"] == "light");
    // The window may be painted a moment later.
    wait_until("a light window", || b.screen().brightness() > 170.0);
    let (scene_light, page_light) = (b.pixels().brightness(), b.screen().brightness());
    println!(
        "brightness: scene {scene_dark:.0}, {scene_light:.0}; page {page_dark:.0}, {page_light:.0}"
    );
    assert!(scene_dark < 90.0 && page_dark < 90.0);
    assert!(scene_light > 170.0 && page_light > 170.0);
    b.no_errors();
}

#[test]
fn a_phone_shows_everything_without_scrolling_sideways() {
    let Some(b) = browser::start("phone", SIZE) else {
        return;
    };
    let server = Server::start(&[]);
    let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true});
    b.devtools("Emulation.setDeviceMetricsOverride", &phone);
    let fits = || {
        let widths = b.run("return [document.documentElement.scrollWidth, innerWidth]");
        assert!(number(&widths[0]) <= number(&widths[1]), "{widths}");
        assert!(number(&widths[1]) < 400.0, "{widths}");
    };
    b.go(&server.address);
    b.wait("the gallery", |s| s["show"] == "gallery");
    fits();
    b.go(&format!("{}?scene=domino.toml", server.address));
    b.wait("a run", |s| number(&s["time"]) > 0.1);
    b.run("document.querySelectorAll('details').forEach((d) => (d.open = true))");
    fits();
    // Scene and the bar of time are on the first screen, every control is inside the page and large enough for a finger.
    let bar = b.run(
        "return [document.querySelector('.tp-bar').getBoundingClientRect().bottom, innerHeight]",
    );
    assert!(number(&bar[0]) <= number(&bar[1]), "{bar}");
    let bad = b.run(
        "return [...document.querySelectorAll('#tippe button, #tippe select, #tippe input')].filter((e) => e.offsetParent).map((e) => [e.id || e.title, e.getBoundingClientRect()]) \
         .filter(([, r]) => r.left < 0 || r.right > innerWidth + 0.5 || r.width < 14 || r.height < 14).map(([n, r]) => [n, r.left, r.right, r.width, r.height])",
    );
    assert_eq!(bad, json!([]));
    assert!(b.pixels().colours() > 40);
    // A finger on the play button pauses.
    b.click("#play");
    b.wait("a pause", |s| s["playing"] == false);
    b.no_errors();
}

#[test]
fn a_browser_without_webgl2_is_told_what_is_missing() {
    let Some(b) = browser::start_with("no-webgl", SIZE, &["--disable-3d-apis"]) else {
        return;
    };
    let server = Server::start(&["../../scenes/domino.toml"]);
    b.go(&server.address);
    let text = "return document.querySelector('#message:not([hidden])')?.innerText ?? ''";
    let said = b.wait_for("a message", text, |said| said != "");
    let said = said.as_str().unwrap();
    assert!(
        said.contains("WebGL2") && said.contains("tippe render"),
        "{said}"
    );
    // It can be seen, and a screen reader says it.
    let seen = b.run("const m = document.querySelector('#message'); const r = m.getBoundingClientRect(); return [m.getAttribute('role'), r.width > 200 && r.height > 20 && r.top >= 0]");
    assert_eq!(seen, json!(["alert", true]));
}

/// Both runs of a page rest at one time, to less than a thousandth of a step.
fn one_time(s: &serde_json::Value) {
    let ends = &s["ends"];
    let apart = (number(&ends[0]) - number(&ends[1])).abs();
    assert!(s["paused"] == true && apart < 1e-6, "{ends}");
}

#[test]
fn mc_32_two_methods_and_two_steps_run_side_by_side() {
    let Some(b) = browser::start("two", SIZE) else {
        return;
    };
    let dir = folder("page-two");
    let server = Server::start(&[&scene(&dir, SHOW)]);
    let s = open(&b, &server, "");
    assert_eq!(s["method"], "sequential");
    let captions = "return [...document.querySelectorAll('.tp-caption')].map((c) => c.textContent)";
    let beside = |what: &str| {
        b.run(&format!("const o = document.querySelector('#other'); o.value = '{what}'; o.dispatchEvent(new Event('change')); tippe.playing = true"));
        // Both run from the start, whatever each of them costs; a pause brings the one that lags up to the other.
        b.wait("two runs", |s| s["panes"] == 2 && number(&s["edge"]) > 0.3);
        let s = pause_after(&b, 0.3);
        one_time(&s);
        b.run(captions)
    };
    let captions = beside("iterative");
    assert!(
        captions[0].as_str().unwrap().contains("sequential"),
        "{captions}"
    );
    assert!(
        captions[1].as_str().unwrap().contains("iterative"),
        "{captions}"
    );
    // Both are drawn: the slider is at the same place, about, in two pictures.
    show_at(&b, 0.3);
    let two = ".tp-view:nth-child(2) canvas";
    let (left, right) = (b.pixels(), b.pixels_of(two));
    assert!(left.colours() > 30 && right.colours() > 30);
    let place = |pane: usize| {
        vector(&b.run(&format!(
            "return Array.from(tippe.panes[{pane}].poses.subarray(7, 10))"
        )))
    };
    let (first, second) = (place(0), place(1));
    // Two methods, one mechanics: 0.3 s of sliding agree to a millimetre.
    assert!(
        (0..3).all(|k| (first[k] - second[k]).abs() < 1e-3),
        "{first:?} {second:?}"
    );
    assert!(first[0] > -0.6);
    // With half the step, the second run takes two where the first takes one.
    let captions = beside("dt/2");
    assert!(
        captions[1].as_str().unwrap().contains("0.002"),
        "{captions}"
    );
    let time = number(&b.state()["time"]);
    for clicks in 1..=4 {
        b.click("#step");
        let wanted = time + 0.004 * f64::from(clicks);
        let s = b.wait("one step of the longer", |s| {
            number(&s["time"]) > wanted - 1e-6 && at_rest(s)
        });
        one_time(&s);
        assert!((number(&s["time"]) - wanted).abs() < 1e-6, "{}", s["time"]);
    }
    // A run that was left far behind comes up to the other, too.
    b.run("tippe.main.halt(tippe.edge + 0.5)");
    let s = b.wait("the run ahead and the one behind it", |s| {
        number(&s["edge"]) > time + 0.5 && s["paused"] == true
    });
    one_time(&s);
    // One run again.
    b.run("const o = document.querySelector('#other'); o.value = ''; o.dispatchEvent(new Event('change'))");
    b.wait("one run", |s| s["panes"] == 1);
    b.no_errors();
}

/// A browser that gives the page no frame to draw gets the whole stream all the same, more than the server sends ahead; the next drawing shows
/// the newest state and not what was missed.
#[test]
fn the_stream_does_not_wait_for_drawings_and_they_show_the_newest_state() {
    let Some(b) = browser::start("stream", SIZE) else {
        return;
    };
    let dir = folder("page-stream");
    let server = Server::start(&[&scene(&dir, &flight(1000, 600.0))]);
    open(&b, &server, "");
    b.run("window.requestAnimationFrame = () => { window.still = true; return 0; }");
    b.wait_for("the last drawing", "return window.still === true", |v| {
        v == true
    });
    let seen =
        "return [tippe.main.index, tippe.recording.length, tippe.recording.frameAt(tippe.time)]";
    let before = b.run(seen);
    let after = b.wait_for("three windows of bytes", seen, |now| {
        number(&now[1]) > number(&before[1]) + 3.0 * f64::from(1 << 20)
    });
    assert_eq!(after[0], before[0], "nothing was drawn");
    let fresh = b.run("tippe.draw(); return [tippe.main.index, tippe.recording.frameAt(tippe.time), tippe.recording.frames.length]");
    assert_eq!(fresh[0], fresh[1]);
    assert!(
        number(&fresh[0]) > number(&before[0]) + 100.0,
        "{before} {fresh}"
    );
    // What is shown keeps up with what has come, and what has come with what is shown.
    assert!(number(&fresh[2]) < number(&fresh[0]) + 30.0, "{fresh}");
    b.no_errors();
}

#[test]
fn fewer_details_are_drawn_where_drawing_is_slow_and_the_page_says_so() {
    let Some(b) = browser::start("details", SIZE) else {
        return;
    };
    let dir = folder("page-details");
    let server = Server::start(&[&scene(&dir, SHOW)]);
    open(&b, &server, "");
    show_at(&b, 0.2);
    let all = b.pixels();
    // Drawings that take very long, one after the other, as told to the page by its graphics.
    details(&b, "auto");
    let said = b.run(
        "tippe.detail = 0; tippe.draw(0); return [0, 1, 2].map(() => { tippe.timed(1000); tippe.draw(tippe.detailNow); \
         return [tippe.detailNow, !document.querySelector('#less').hidden, tippe.canvas.width]; })",
    );
    let (width, half) = (all.size().0 as f64, (all.size().0 / 2) as f64);
    for (k, (detail, pixels)) in [(1, width), (2, half), (2, half)].into_iter().enumerate() {
        assert_eq!((&said[k][0], &said[k][1]), (&json!(detail), &json!(true)));
        assert!((number(&said[k][2]) - pixels).abs() < 1.5, "{}", said[k]);
    }
    let few = b.run("tippe.draw(2); return tippe.canvas.toDataURL('image/png').split(',')[1]");
    let few = Picture::from_base64(few.as_str().unwrap());
    assert!(few.size().0 < all.size().0 && few.colours() > 30);
    // Whoever wants all gets all, and the same picture as before.
    details(&b, "all");
    assert!(all.change(&b.pixels()) < 1e-3);
    assert_eq!(
        b.run("return [tippe.detailNow, document.querySelector('#less').hidden]"),
        json!([0, true])
    );
    b.no_errors();
}

/// A run that the system kills leaves a recording that opens up to there, and says so.
#[cfg(unix)]
#[test]
fn a_killed_run_opens_up_to_the_cut() {
    let dir = folder("page-killed");
    let out = dir.join("out");
    let path = scene(&dir, &BLOCK.replace("seconds = 600.0", "seconds = 1e6"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_tippe"))
        .args(["run", &path, "--out", out.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let recording = out.join("recording.tippe");
    wait_until("a recording", || {
        fs::metadata(&recording).map_or(0, |m| m.len()) > 60_000
    });
    // No warning, no time to tidy up.
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = tippe_scene::Recording::read(&fs::read(&recording).unwrap()).unwrap();
    assert!(!matches!(
        kept.completeness,
        tippe_scene::recording::Completeness::Finished(_)
    ));
    let last = kept.frames.last().unwrap().time;
    assert!(kept.frames.len() > 5, "{}", kept.frames.len());
    let Some(b) = browser::start("killed", SIZE) else {
        return;
    };
    let server = Server::start(&[recording.to_str().unwrap()]);
    let s = open(&b, &server, "");
    let said = s["message"].as_str().unwrap();
    assert!(
        said.contains("killed") || said.contains("cut off"),
        "{said}"
    );
    assert_eq!(number(&s["frames"]) as usize, kept.frames.len());
    assert!((number(&s["edge"]) - last).abs() < 1e-9);
    assert!(b.pixels().colours() > 30);
    b.no_errors();
}

/// Where a step takes long the page says so while it waits, and a pause ends that step.
#[test]
fn a_page_that_waits_says_what_it_waits_for() {
    let Some(b) = browser::start("computing", SIZE) else {
        return;
    };
    let dir = folder("page-computing");
    // Boxes put into each other: their first step takes long.
    let text = "version = 1\n[method]\ndt = 0.02\nseconds = 100\n[[grid]]\ncounts = [16, 16, 16]\npitch = [0.15, 0.15, 0.15]\norigin = [0, 0, 0]\n\
        [grid.body]\nname = \"box\"\nshape.box = { size = [0.2, 0.2, 0.2] }\n";
    let server = Server::start(&[&scene(&dir, text)]);
    b.go(&server.address);
    let told = "const c = document.querySelector('#computing'); return c && !c.hidden ? c.textContent : ''";
    wait_until("what is computed", || {
        let text = b.run(told);
        let text = text.as_str().unwrap_or_default();
        text.starts_with("computing") && text.contains("step")
    });
    b.run("tippe.pause()");
    b.wait("a run at rest", at_rest);
    wait_until("no more waiting", || b.run(told) == "");
}

#[test]
fn colours_of_the_scene_are_those_of_the_page() {
    let Some(b) = browser::start("colours", SIZE) else {
        return;
    };
    let text = "version = 1\nname = \"colours\"\n[method]\ndt = 0.01\nseconds = 600\n[world]\ngravity = [0, 0, 0]\n\
        [[body]]\nname = \"pillar\"\nkind = \"fixed\"\ncolour = [1, 0, 0]\nshape.box = { size = [1, 1, 1] }\n\
        [[body]]\nname = \"ball\"\nposition = [2, 0, 0]\ncolour = [0, 1, 0]\nshape.sphere = { radius = 0.5 }\n\
        [[body]]\nname = \"plain\"\nposition = [4, 0, 0]\nshape.sphere = { radius = 0.5 }\n";
    let dir = folder("page-colours");
    let server = Server::start(&[&scene(&dir, text)]);
    open(&b, &server, "");
    pause_after(&b, 0.05);
    let rgb = || b.run("tippe.draw(); return [...tippe.main.paint.rgb]");
    let found: Vec<f64> = rgb().as_array().unwrap().iter().map(number).collect();
    assert_eq!(found[..6], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    // A body without one is coloured by the page, and other ways of colouring tell what they tell.
    assert_ne!(found[6..], [0.0, 0.0, 0.0]);
    b.run("tippe.settings.colour = 'speed'");
    let found: Vec<f64> = rgb().as_array().unwrap().iter().map(number).collect();
    assert_ne!(found[..3], [1.0, 0.0, 0.0]);
    b.no_errors();
}
