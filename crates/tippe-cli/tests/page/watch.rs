//! The page, end to end, in a real browser: its own state and its pixels.
//!
//! Reads: the built binary, Chromium.  Writes: scenes and recordings in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: docs/page.md.

// Tests may fail loudly.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;

use common::browser;
use common::page::{BLOCK, SIZE, arrow_sum, at_rest, number, open, pause_after, show_at, vector};
use common::serve::Server;
use common::{code, folder, scene, stderr, tippe};

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
    let loaded = "const all = [...document.querySelectorAll('.tp-card')]; all.slice(0, 8).forEach((c) => (c.querySelector('img').loading = 'eager')); \
        return [all.filter((c) => c.innerText.length > 20).length, all.slice(0, 8).filter((c) => c.querySelector('img').naturalWidth > 0).length]";
    // Pictures are drawn when they come into view: eight of them here.
    let said = b.wait_for("eight pictures", loaded, |said| said[1] == 8);
    assert_eq!(number(&said[0]) as usize, scenes, "cards with a story");
    // They are pictures of something.
    let colours = b.run(
        "const img = document.querySelector('.tp-card img'); const c = document.createElement('canvas'); [c.width, c.height] = [img.naturalWidth, img.naturalHeight]; \
         const g = c.getContext('2d'); g.drawImage(img, 0, 0); const d = g.getImageData(0, 0, c.width, c.height).data; \
         const seen = new Set(); for (let i = 0; i < d.length; i += 4) seen.add((d[i] >> 4) * 256 + (d[i + 1] >> 4) * 16 + (d[i + 2] >> 4)); return seen.size",
    );
    assert!(number(&colours) > 60.0, "{colours}");
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
    // The domino run, longer than anyone looks at it here.
    let text = include_str!("../../../../scenes/domino.toml");
    assert!(text.contains("\nseconds = 3.0\n"));
    let text = text.replace("\nseconds = 3.0\n", "\nseconds = 600.0\n");
    let dir = folder("page-live");
    let server = Server::start(&[&scene(&dir, &text)]);
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
    // At the edge, a step is one step of the engine, and three are three.
    b.press("\u{E010}"); // End
    let s = b.wait("the edge", at_rest);
    let (step, edge, dt) = (number(&s["step"]), number(&s["edge"]), number(&s["dt"]));
    assert_eq!(step, number(&s["steps"]));
    let mut taken = 0.0;
    for clicks in [1, 3] {
        for _ in 0..clicks {
            b.click("#step");
            taken += 1.0;
        }
        let s = b.wait("these steps", |s| {
            number(&s["step"]) >= step + taken && at_rest(s)
        });
        assert_eq!(
            (number(&s["step"]), number(&s["steps"])),
            (step + taken, step + taken)
        );
        assert!((number(&s["time"]) - edge - taken * dt).abs() < 1e-9);
        assert_eq!(s["playing"], false);
    }
    // Back goes to the frame before, which is a step before.
    b.press(",");
    let s = b.wait("one back", |s| number(&s["step"]) == step + taken - 1.0);
    assert_eq!(number(&s["steps"]), step + taken);
    // And on.
    b.run("document.querySelector('#scene').focus()");
    b.press(" ");
    b.wait("playing on", |s| number(&s["time"]) > edge + 0.1);
    b.no_errors();
}

#[test]
fn a_body_is_dragged_by_a_spring() {
    let Some(b) = browser::start("drag", SIZE) else {
        return;
    };
    let dir = folder("page-drag");
    let server = Server::start(&[&scene(&dir, BLOCK)]);
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
    let lifted = number(&s["time"]);
    assert!(rest.change(&b.pixels()) > 0.01);
    b.release();
    let s = b.wait("the block falls back", |s| {
        s["hand"].is_null() && vector(&s["bodies"][1]["position"])[2] < 0.13
    });
    assert!(number(&s["time"]) > lifted);
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
    let sum = arrow_sum(&show_at(&b, 0.3));
    assert!((sum[2] - 5.0 * 9.81).abs() < 0.5, "{sum:?}");
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
    let port = Server::free_port().to_string();
    let mut server = Server::start(&[&path, "--token", token, "--port", &port]);
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
    b.run("tippe.seek(0.5); tippe.draw()");
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
