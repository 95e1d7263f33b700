//! `tippe bench` as a user meets it: rows, objects, names that mean nothing.
//!
//! Reads: the built binary.  Writes: nothing.
//! Called by: `cargo test`.
//! Source: the help text of `tippe bench`. Times are never checked here, only that they are there.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs the command from a folder that has no scenes.
fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tippe"))
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .arg("bench")
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn json_has_one_object_per_scene_with_times_and_certificate() {
    let output = bench(&["towers", "funnel-1ms", "--steps", "2", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let rows: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = rows.iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["towers", "funnel-1ms"]);
    assert_eq!(
        (&rows[0]["bodies"], &rows[0]["steps"]),
        (&2001.into(), &2.into())
    );
    assert_eq!(rows[1]["dt"], 0.001);
    for key in [
        "cpu_ms_mean",
        "cpu_ms_p99",
        "cpu_ms_first_tenth",
        "cpu_ms_last_tenth",
        "wall_ms_mean",
    ] {
        assert!(rows.iter().all(|r| r[key].as_f64().unwrap() > 0.0), "{key}");
    }
    assert!(rows[0]["contacts_mean"].as_f64().unwrap() > 0.0);
    assert!(rows[0]["depth_last_second"].as_f64().unwrap() < 1e-6);
    assert_eq!(rows[0]["hash"].as_str().unwrap().len(), 18);
}

#[test]
fn table_has_a_row_under_its_head() {
    let output = bench(&["towers", "--steps", "1"]);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(table.lines().count(), 3);
    assert!(table.starts_with("scene") && table.lines().nth(2).unwrap().starts_with("towers"));
}

#[test]
fn unknown_names_and_zero_steps_are_refused() {
    let output = bench(&["towers", "tower"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(text(&output.stderr).contains("no speed scene tower; they are funnel"));
    assert_eq!(bench(&["--steps", "0"]).status.code(), Some(2));
}
