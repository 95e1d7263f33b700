//! Values by path, tables of numbers, and the words around them.
//!
//! Reads: the built binary.  Writes: scenes and results in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: the help text of `tippe run` and `tippe export`.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;

use common::{code, folder, scene, stderr, stdout, tippe};
use serde_json::Value;

const SCENE: &str = r#"
version = 1
[parameters]
height = 1
[method]
dt = 0.01
seconds = 0.2
[[body]]
name = "ball"
shape.sphere = { radius = 0.1 }
position = [0, 0, "=height"]
[[sensor]]
name = "pose"
kind = "pose"
body = "ball"
"#;

#[test]
fn tables_come_from_a_run_and_from_its_recording() {
    let dir = folder("csv");
    let path = scene(&dir, SCENE);
    let (direct, later, out) = (dir.join("direct"), dir.join("later"), dir.join("out"));
    let text = |p: &std::path::Path| p.to_str().unwrap().to_owned();
    let run = tippe(&[
        "run",
        &path,
        "--csv",
        &text(&direct),
        "--out",
        &text(&out),
        "--set",
        "parameters.height=3",
    ]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let recording = text(&out.join("recording.tippe"));
    let export = tippe(&["export", &recording, "--csv", &text(&later)]);
    assert_eq!(code(&export), 0, "{}", stderr(&export));
    assert!(
        stdout(&export).contains("bodies.csv, sensors.csv"),
        "{}",
        stdout(&export)
    );
    for name in ["bodies.csv", "sensors.csv"] {
        let read = |d: &std::path::Path| fs::read_to_string(d.join(name)).unwrap();
        assert_eq!(read(&direct), read(&later));
    }
    let bodies = fs::read_to_string(direct.join("bodies.csv")).unwrap();
    let mut lines = bodies.lines();
    assert!(
        lines.next().unwrap().starts_with(
            "time,step,body.ball.position.x,body.ball.position.y,body.ball.position.z,"
        )
    );
    assert!(lines.next().unwrap().starts_with("0.0,0,0.0,0.0,3.0,1.0,"));
    // 0.2 s of free fall from 3 m.
    let z: f64 = bodies
        .lines()
        .last()
        .unwrap()
        .split(',')
        .nth(4)
        .unwrap()
        .parse()
        .unwrap();
    assert!((z - (3.0 - 0.5 * 9.81 * 0.04)).abs() < 1e-12, "{z}");
    let bad = tippe(&["export", &path, "--csv", &text(&later)]);
    assert_eq!(code(&bad), 2);
    assert!(
        stderr(&bad).contains("not a tippe recording"),
        "{}",
        stderr(&bad)
    );
    let wrong = tippe(&["run", &recording]);
    assert_eq!(code(&wrong), 2);
    assert!(
        stderr(&wrong).contains("tippe export"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn values_by_path_are_checked_like_the_file() {
    let dir = folder("set");
    let path = scene(&dir, SCENE);
    let run = tippe(&[
        "run",
        &path,
        "--json",
        "--set",
        "method.seconds=0.05",
        "--set",
        "method.name=iterative",
    ]);
    let summary: Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert_eq!(
        (summary["steps"].as_u64(), summary["method"].as_str()),
        (Some(5), Some("iterative"))
    );
    // Beside the time on the wall that of the processor, which a busy machine does not stretch.
    assert!(summary["cpu_ms_per_step"].as_f64().unwrap() > 0.0);
    let told = stdout(&tippe(&["run", &path]));
    assert!(told.contains("\nprocessor time "), "{told}");
    let bad = tippe(&["check", &path, "--set", "body.bal.mass=1"]);
    assert_eq!(code(&bad), 2);
    assert!(
        stderr(&bad).contains("did you mean body.ball?"),
        "{}",
        stderr(&bad)
    );
    let one = tippe(&["check", &path]);
    assert!(stdout(&one).contains("1 shape,"), "{}", stdout(&one));
    let typo = tippe(&["rnu", &path]);
    assert_eq!(code(&typo), 2);
    assert!(stderr(&typo).contains("`tippe run`"), "{}", stderr(&typo));
}
