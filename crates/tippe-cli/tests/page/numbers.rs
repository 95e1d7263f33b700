//! Numbers of the page, in a real browser: forces, statistics, charts, exports, questions.
//!
//! Reads: the built binary, Chromium.  Writes: scenes and recordings in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: docs/page.md.

// Tests may fail loudly.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::browser::{self, Picture};
use common::page::{BLOCK, RAMP, SIZE, arrow_sum, number, open, pause_after, show_at, vector};
use common::serve::Server;
use common::{code, folder, scene, tippe};

#[test]
fn mc_30_arrows_of_a_resting_block_sum_to_its_weight_and_a_contact_tells_its_force() {
    let Some(b) = browser::start("force", SIZE) else {
        return;
    };
    let dir = folder("page-force");
    let server = Server::start(&[&scene(&dir, BLOCK)]);
    open(&b, &server, "");
    let s = show_at(&b, 0.4);
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
        "const r = tippe.recording, n = tippe.main.index + 1; let sum = 0; const from = n - 12; \
         for (let i = from; i < n; i++) for (const c of r.contacts(i)) sum += c.force[2]; return sum / (n - from)",
    );
    assert!((number(&mean) - weight).abs() < 0.01 * weight, "{mean}");
    b.no_errors();
}

#[test]
fn mc_31_a_block_on_a_ramp_shows_its_normal_and_tangential_force() {
    let Some(b) = browser::start("ramp", SIZE) else {
        return;
    };
    let dir = folder("page-ramp");
    let server = Server::start(&[&scene(&dir, RAMP)]);
    open(&b, &server, "");
    let s = show_at(&b, 0.4);
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
    assert!(s["run"] != before["run"]);
    let sum = arrow_sum(&show_at(&b, 0.3));
    assert!(
        (sum[2] - 2.0 * 1.62).abs() < 0.04,
        "the weight on the moon: {sum:?}"
    );
    // Every method of this version, or another parameter where there is only one.
    let methods = b.run("return Object.keys(tippe.askPanel.methods)");
    for method in methods.as_array().unwrap() {
        let m = method.as_str().unwrap();
        let run = b.state()["run"].clone();
        b.run(&format!("document.querySelector('#method').value = '{m}'; document.querySelector('#rerun').click()"));
        b.wait("that method, anew", |s| {
            s["method"] == m && !s["run"].is_null() && s["run"] != run && number(&s["frames"]) > 5.0
        });
    }
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
    b.run("tippe.pause(); tippe.draw(); document.querySelector('#chart-energy').scrollIntoView()");
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
fn mc_30_forces_and_impulses_over_a_window_are_those_of_mechanics() {
    let Some(b) = browser::start("window", SIZE) else {
        return;
    };
    let dir = folder("page-window");
    let server = Server::start(&[&scene(&dir, RAMP)]);
    open(&b, &server, "");
    show_at(&b, 0.6);
    let weight = 2.0 * 9.81;
    let near = |got: [f64; 3], want: [f64; 3], part: f64| {
        assert!(
            (0..3).all(|k| (got[k] - want[k]).abs() < part * weight),
            "{got:?} {want:?}"
        );
    };
    // The whole scene, then the block: what carries it is its weight, whatever the window.
    for (chosen, window) in [("null", 0.25), ("{ body: 1 }", 0.1), ("{ body: 1 }", 0.02)] {
        b.run(&format!("const w = document.querySelector('#window'); w.value = {window}; w.dispatchEvent(new Event('change')); tippe.main.chosen = {chosen}; tippe.draw()"));
        let s = b.state();
        let n = &s["statistics"];
        let span = number(&n["span"]);
        assert!(span > 0.0 && span < window + 1e-6, "{span}");
        near(vector(&n["force"]), [0.0, 0.0, weight], 0.01);
        let impulse = vector(&n["impulse"]).map(|p| p / span);
        near(impulse, [0.0, 0.0, weight], 0.01);
        // The normal sum is that of the ramp; the tangential one is at least that, and within the friction of the pair.
        let alpha = 20.0_f64.to_radians();
        let normal = number(&n["normal"]) / span;
        let tangential = number(&n["tangential"]) / span;
        assert!(
            (normal - weight * libm::cos(alpha)).abs() < 0.02 * weight,
            "{normal}"
        );
        let (least, most) = (weight * libm::sin(alpha), 0.6 * normal);
        assert!(
            tangential > 0.98 * least && tangential < 1.001 * most,
            "{tangential}"
        );
        assert_eq!(number(&n["sliding"]), 0.0);
    }
    // The centre of pressure lies under the centre of mass, where the line of the weight meets the ramp.
    let s = b.state();
    let center = vector(&s["statistics"]["center"]);
    let block = vector(&s["bodies"][1]["position"]);
    assert!(
        (center[0] - block[0]).abs() < 0.01 && center[1].abs() < 0.01,
        "{center:?}"
    );
    let text = b.run("return document.querySelector('#statistics').innerText");
    assert!(
        text.as_str().unwrap().contains("mean contact force"),
        "{text}"
    );
    // Arrows of the window's mean sum to the weight, too; impulses to what the weight gives in a frame.
    let show = |of: &str| {
        b.run(&format!("const a = document.querySelector('#arrows-of'); a.value = '{of}'; a.dispatchEvent(new Event('change')); tippe.draw()"));
        let state = b.state();
        assert!(!state["arrows"].as_array().unwrap().is_empty());
        arrow_sum(&state)
    };
    near(show("window"), [0.0, 0.0, weight], 0.01);
    let span = b.run(
        "const f = tippe.recording.frames, i = tippe.main.index; return f[i].time - f[i - 1].time",
    );
    near(
        show("impulse").map(|p| p / number(&span)),
        [0.0, 0.0, weight],
        0.01,
    );
    b.no_errors();
}

/// The rows of a table, without its head.
fn table(bytes: &[u8]) -> (Vec<String>, Vec<Vec<String>>) {
    let text = std::str::from_utf8(bytes).unwrap();
    let cells = |l: &str| l.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut lines = text.lines().map(cells);
    (lines.next().unwrap(), lines.collect())
}

#[test]
fn mc_31_tables_and_pictures_are_saved_as_shown() {
    let Some(b) = browser::start("export", SIZE) else {
        return;
    };
    let dir = folder("page-export");
    let server = Server::start(&[&scene(&dir, BLOCK)]);
    open(&b, &server, "");
    let s = pause_after(&b, 0.3);
    let value = |cell: &String| cell.parse::<f64>().unwrap();
    // Certificates: a row for each step, times as steps say.
    let (head, rows) = table(&b.saved("#save-steps", "certificates.csv"));
    assert_eq!(rows.len() as f64, number(&s["steps"]));
    let column = |name: &str| head.iter().position(|n| n == name).unwrap();
    assert!((value(&rows.last().unwrap()[column("time")]) - number(&s["edge"])).abs() < 1e-9);
    assert!(rows.iter().all(|r| r.len() == head.len()));
    // Contacts: the forces of the last frame sum to the weight.
    let (head, rows) = table(&b.saved("#save-contacts", "contacts.csv"));
    let column = |name: &str| head.iter().position(|n| n == name).unwrap();
    let (time, force) = (column("time"), column("force_z"));
    let last = rows.last().unwrap()[time].clone();
    let sum: f64 = rows
        .iter()
        .filter(|r| r[time] == last)
        .map(|r| value(&r[force]))
        .sum();
    assert!((sum - 2.0 * 9.81).abs() < 0.01 * sum, "{sum}");
    assert_eq!(rows[0][column("body_b")], "block");
    // The plot of a body, and of a contact.
    b.run("tippe.main.chosen = { body: 1 }; tippe.draw()");
    let (head, rows) = table(&b.saved("#save-plot", "chosen.csv"));
    assert_eq!(head, ["time", "height [m]", "speed [m/s]"]);
    assert_eq!(rows.len() as f64, number(&s["frames"]));
    assert!(rows.iter().all(|r| (value(&r[1]) - 0.1).abs() < 1e-3));
    let plot = Picture::read(&b.saved("#save-plot-picture", "chosen.png"));
    assert!(plot.colours() > 5, "{}", plot.colours());
    b.press("c");
    b.wait("a contact by key", |s| !s["chosen"]["contact"].is_null());
    b.run("tippe.draw()");
    // Charts and scene: what is on the page.
    let charts = Picture::read(&b.saved("#save-charts", "charts.png"));
    assert!(
        charts.size().1 > 300 && charts.colours() > 20,
        "{:?}",
        charts.size()
    );
    let saved = Picture::read(&b.saved("#save-scene", "scene.png"));
    assert!(saved.change(&b.pixels()) < 1e-3);
    // The recording is one that replays.
    let bytes = b.saved("#save-recording", "recording.tippe");
    let recording = tippe_scene::Recording::read(&bytes).unwrap();
    assert_eq!(recording.frames.len() as f64, number(&s["frames"]));
    b.no_errors();
}
