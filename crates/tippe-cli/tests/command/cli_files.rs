//! The files of a run: recording, summary, page and picture; also of runs that end early.
//!
//! Reads: the built binary.  Writes: scenes and results in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: the help text of `tippe run`.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{DROP, code, folder, scene, stderr, stdout, tippe, wait_until};
use serde_json::Value;
use tippe_scene::recording::{Completeness, Recording};

/// Three hinges about z, y, z without mass between them, stretched: no acceleration answers gravity, and the engine says so.
const STOPS: &str = r#"
version = 1
[method]
dt = 0.01
seconds = 1
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[articulation]]
name = "wrist"
position = [0, 0, 2]
[[articulation.link]]
name = "first"
axis = [0, 0, 1]
[[articulation.link.link]]
name = "second"
axis = [0, 1, 0]
[[articulation.link.link.link]]
name = "third"
axis = [0, 0, 1]
shape.box = { size = [0.1, 0.2, 0.3] }
"#;

fn recording(out: &Path) -> Recording {
    Recording::read(&fs::read(out.join("recording.tippe")).unwrap()).unwrap()
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
    let nowhere = dir.join("none/p.svg");
    let output = tippe(&["run", &path, "--picture", nowhere.to_str().unwrap()]);
    assert_eq!((code(&output), output.stdout.len()), (2, 0));
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
        stderr(&output).contains("wrist") && stderr(&output).contains("stopped at 0 s"),
        "{}",
        stderr(&output)
    );
    let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(summary["steps"].as_u64(), Some(0));
    assert!(summary["warnings"][0].as_str().unwrap().contains("wrist"));
    assert!(
        fs::read_to_string(out.join("report.html"))
            .unwrap()
            .contains("Not finished")
    );
    let recording = recording(&out);
    let Completeness::Finished(end) = &recording.completeness else {
        panic!("{:?}", recording.completeness)
    };
    assert!(end.step == 0 && end.stopped.contains("wrist"), "{end:?}");
    assert!(recording.frames.last().is_some_and(|f| f.step == 0));
}

/// Ctrl-C: the step is finished, everything is written, the exit code says that it is not all.
#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let dir = folder("interrupted");
    let out = dir.join("out");
    let (path, out_text) = (scene(&dir, DROP), out.to_str().unwrap());
    let child = Command::new(env!("CARGO_BIN_EXE_tippe"))
        .args([
            "run",
            &path,
            "--seconds",
            "1e6",
            "--json",
            "--out",
            out_text,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Steps are being taken once the recording grows.
    let size = || fs::metadata(out.join("recording.tippe")).map_or(0, |m| m.len());
    wait_until("a recording that grows", || size() > 20_000);
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(
        summary["warnings"][0]
            .as_str()
            .unwrap()
            .contains("interrupted")
    );
    let recording = recording(&out);
    assert!(
        matches!(&recording.completeness, Completeness::Finished(end) if end.stopped.contains("interrupted"))
    );
    assert_eq!(
        recording.reports.len() as u64,
        summary["steps"].as_u64().unwrap()
    );
}
