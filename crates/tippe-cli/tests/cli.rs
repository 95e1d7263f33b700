//! The command as a user meets it: exit codes, what goes to which stream, files that are written.
//!
//! Reads: the built binary.  Writes: scenes and results in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: the help text of `tippe` and docs/scene-format.md.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tippe_scene::recording::{Completeness, Recording};

/// A ball dropped on the floor: 0.2 s, 12 steps.
const DROP: &str = r#"
version = 1
name = "drop"
description = "A ball & a floor"

[method]
name = "sequential"
dt = "1/60"
seconds = 0.2

[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }

[[body]]
name = "ball"
position = [0, 0, 0.51]
shape.sphere = { radius = 0.5 }
"#;

/// A ball so light that its inverse inertia is infinite: it falls well, but cannot answer the floor.
const STOPS: &str = r#"
version = 1
[method]
dt = 0.01
seconds = 1
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "mote"
position = [0, 0, 0.5]
velocity = [1, 0, 0]
mass = 1e-304
shape.sphere = { radius = 0.01 }
"#;

fn tippe(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tippe"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A fresh folder of one test.
fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn scene(dir: &Path, text: &str) -> String {
    let path = dir.join("scene.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

fn recording(out: &Path) -> Recording {
    Recording::read(&fs::read(out.join("recording.tippe")).unwrap()).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn usage_errors_end_with_2_and_help_with_0() {
    for args in [
        &[][..],
        &["dance"],
        &["run"],
        &["compare", "a.toml"],
        &["run", "a.toml", "--dt", "0"],
        &["run", "a.toml", "--threads", "0"],
    ] {
        let output = tippe(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{args:?}"
        );
    }
    for args in [&["--help"][..], &["--version"], &["run", "--help"]] {
        assert_eq!(code(&tippe(args)), 0, "{args:?}");
    }
    // Commands to come are not offered.
    let help = stdout(&tippe(&["--help"]));
    for absent in ["compare", "bench", "view", "query", "render"] {
        assert!(!help.contains(&format!("\n  {absent}")), "{help}");
    }
}

#[test]
fn json_is_one_object_with_exactly_the_promised_keys() {
    let dir = folder("json");
    let output = tippe(&["run", &scene(&dir, DROP), "--json", "--threads", "2"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    let summary: Value = serde_json::from_str(&text).unwrap();
    let mut expected = vec![
        "scene",
        "method",
        "dt",
        "steps",
        "time",
        "bodies",
        "contacts_mean",
        "collisions_mean",
        "max_depth",
        "residuals",
        "energy",
        "ms_per_step",
        "p99_ms",
        "threads",
        "hash",
        "warnings",
    ];
    expected.sort_unstable();
    let mut found = keys(&summary);
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(summary["scene"], "drop");
    assert_eq!(
        (summary["steps"].as_u64(), summary["bodies"].as_u64()),
        (Some(12), Some(2))
    );
    assert!(summary["hash"].as_str().unwrap().starts_with("0x"));
    assert!(
        keys(&summary["residuals"]).contains(&"complementarity")
            && keys(&summary["energy"]).contains(&"unexplained")
    );
    assert!(summary["contacts_mean"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_same_scene_gives_the_same_hash_twice_and_flags_override_it() {
    let dir = folder("hash");
    let path = scene(&dir, DROP);
    let hash = |args: &[&str]| {
        let output = tippe(&[&["run", &path, "--json"], args].concat());
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let (a, b) = (hash(&[]), hash(&["--threads", "2"]));
    assert_eq!(a["hash"], b["hash"]);
    let c = hash(&[
        "--dt",
        "1/240",
        "--seconds",
        "0.1",
        "--method",
        "sequential",
    ]);
    assert_eq!(
        (c["steps"].as_u64(), c["dt"].as_f64()),
        (Some(24), Some(1.0 / 240.0))
    );
    assert_ne!(a["hash"], c["hash"]);
}

#[test]
fn people_get_a_table_with_the_ledger() {
    let dir = folder("table");
    let text = stdout(&tippe(&["run", &scene(&dir, DROP)]));
    for word in [
        "scene",
        "drop",
        "1/60 s",
        "12 steps",
        "position correction",
        "unexplained",
        "hash",
        "0x",
    ] {
        assert!(text.contains(word), "{word}:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "colour codes in a pipe");
}

#[test]
fn bad_scenes_end_with_2_and_say_where() {
    let dir = folder("bad");
    let path = scene(
        &dir,
        &DROP
            .replace("radius = 0.5", "radius = -0.5")
            .replace("kind = \"fixed\"", "kind = \"fixd\""),
    );
    for command in ["run", "check"] {
        let output = tippe(&[command, &path]);
        assert_eq!(code(&output), 2);
        assert!(output.stdout.is_empty());
        let text = stderr(&output);
        assert!(
            text.contains("scene.toml:13:")
                && text.contains("scene.toml:19:")
                && text.contains("radius"),
            "{text}"
        );
    }
    assert_eq!(
        code(&tippe(&["run", dir.join("none.toml").to_str().unwrap()])),
        2
    );
    let good = scene(&dir, DROP);
    for method in ["events", "magic"] {
        let output = tippe(&["run", &good, "--method", method, "--json"]);
        assert_eq!((code(&output), output.stdout.len()), (2, 0));
        assert!(
            stderr(&output).contains(method) && stderr(&output).contains("sequential"),
            "{}",
            stderr(&output)
        );
    }
    let output = tippe(&["run", &good, "--seconds", "1e300"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
}

#[test]
fn check_counts_and_explain_is_a_scene_again() {
    let dir = folder("check");
    let path = scene(&dir, DROP);
    let output = tippe(&["check", &path]);
    assert_eq!(code(&output), 0);
    assert!(
        stdout(&output).starts_with("ok: ") && stdout(&output).contains("2 (1 dynamic, 1 fixed)"),
        "{}",
        stdout(&output)
    );
    let explained = tippe(&["run", &path, "--explain"]);
    assert_eq!(code(&explained), 0);
    let again = dir.join("explained.toml");
    fs::write(&again, &explained.stdout).unwrap();
    let hash = |path: &str| {
        serde_json::from_str::<Value>(&stdout(&tippe(&["run", path, "--json"]))).unwrap()["hash"]
            .clone()
    };
    assert_eq!(hash(&path), hash(again.to_str().unwrap()));
}

#[test]
fn out_gets_recording_summary_and_a_page_that_needs_nothing_else() {
    let dir = folder("out");
    let out = dir.join("a/b");
    let picture = dir.join("p.svg");
    let (out_text, picture_text) = (out.to_str().unwrap(), picture.to_str().unwrap());
    let output = tippe(&[
        "run",
        &scene(&dir, DROP),
        "--out",
        out_text,
        "--picture",
        picture_text,
        "--picture-time",
        "0.1",
        "--json",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(
        summary,
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    );
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    let plots = [
        "energy",
        "ledger",
        "ledger-error",
        "contacts",
        "penetration",
        "residuals",
        "speed",
    ];
    for id in plots
        .map(|p| format!("id=\"plot-{p}\""))
        .iter()
        .chain(&["id=\"shot-0-t\"".to_string(), "id=\"shot-3-t\"".to_string()])
    {
        assert!(page.contains(id.as_str()), "{id}");
    }
    assert!(
        page.contains("A ball &amp; a floor")
            && page.contains("prefers-color-scheme: dark")
            && page.contains("<caption>")
    );
    for reference in ["http://", "https://", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    let recording = recording(&out);
    assert_eq!(recording.header.name, "drop");
    let Completeness::Finished(end) = &recording.completeness else {
        panic!("{:?}", recording.completeness)
    };
    assert_eq!((end.step, end.stopped.as_str()), (12, ""));
    assert_eq!(summary["hash"], format!("{:#018x}", end.hash));
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(
        svg.contains("drop at 0.1 s") && svg.contains("<circle"),
        "{svg}"
    );
    assert_eq!(svg.matches("http").count(), 1);
}

#[test]
fn a_folder_that_cannot_be_made_is_bad_usage_before_the_run() {
    let dir = folder("nofolder");
    let path = scene(&dir, DROP);
    let output = tippe(&["run", &path, "--out", &path]);
    assert_eq!(
        (code(&output), output.stdout.len()),
        (2, 0),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("scene.toml"));
}

#[test]
fn a_simulation_that_stops_keeps_what_was_recorded() {
    let dir = folder("stopped");
    let out = dir.join("out");
    let output = tippe(&[
        "run",
        &scene(&dir, STOPS),
        "--out",
        out.to_str().unwrap(),
        "--json",
    ]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("mote") && stderr(&output).contains("phase"),
        "{}",
        stderr(&output)
    );
    let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(summary["steps"].as_u64(), Some(31));
    assert!(summary["warnings"][0].as_str().unwrap().contains("mote"));
    assert!(
        fs::read_to_string(out.join("report.html"))
            .unwrap()
            .contains("Not finished")
    );
    let recording = recording(&out);
    let Completeness::Finished(end) = &recording.completeness else {
        panic!("{:?}", recording.completeness)
    };
    assert!(end.step == 31 && end.stopped.contains("mote"), "{end:?}");
    assert!(recording.frames.last().is_some_and(|f| f.step == 31));
}

#[test]
fn nobody_listening_is_no_reason_to_panic() {
    let dir = folder("pipe");
    for args in [
        &["run", &scene(&dir, DROP)][..],
        &["--help"],
        &["check", &scene(&dir, DROP)],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tippe"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(
            !stderr(&output).contains("panicked"),
            "{args:?}: {}",
            stderr(&output)
        );
        assert_eq!(code(&output), 0, "{args:?}");
    }
}

#[test]
fn validate_knows_its_cases() {
    let output = tippe(&["validate", "--case", "F99"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("F99") && stderr(&output).contains("F00"),
        "{}",
        stderr(&output)
    );
    assert_eq!(code(&tippe(&["validate", "--method", "magic"])), 2);
    assert_eq!(
        code(&tippe(&[
            "validate",
            "--case",
            "F00",
            "--data",
            "/no/such/folder"
        ])),
        2
    );
    let output = tippe(&["validate", "--case", "f00", "--dt", "1/60", "--json"]);
    let rows: Vec<Value> = stdout(&output)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert!(!rows.is_empty());
    for row in &rows {
        assert_eq!(row["case"], "F00");
        for key in ["part", "method", "form", "dt"] {
            assert!(row.get(key).is_some(), "{row}");
        }
    }
    let failed = rows.iter().any(|row| row["pass"] == false);
    assert_eq!(code(&output), i32::from(failed));
}
