//! The command as a user meets it: exit codes, and what goes to which stream.
//!
//! Reads: the built binary.  Writes: scenes in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: the help text of `tippe`.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::process::{Command, Stdio};

use common::{DROP, code, folder, scene, stderr, stdout, tippe};
use serde_json::Value;

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
        &["compare"],
        &["compare", "a.toml", "--methods", "magic"],
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
    for absent in ["solve", "simulate"] {
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
        "certified_steps",
        "verdict",
        "residuals",
        "energy",
        "ms_per_step",
        "p99_ms",
        "cpu_ms_per_step",
        "squeezed",
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
    for method in ["magic", "Sequential"] {
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
    // Measured data that is not there is said to be missing; broken data stops the case.
    let dir = folder("data");
    let data = dir.to_str().unwrap();
    let measured = [
        "validate",
        "--case",
        "F27",
        "--method",
        "sequential",
        "--form",
        "maximal",
        "--dt",
        "1/60",
        "--json",
        "--data",
        data,
    ];
    let row = || serde_json::from_str::<Value>(&stdout(&tippe(&measured))).unwrap();
    assert!(row()["refused"].as_str().unwrap().contains("--data"));
    fs::create_dir(dir.join("ellipse-impacts")).unwrap();
    fs::write(
        dir.join("ellipse-impacts/impacts.csv"),
        "impact,flagged\n1,0\n",
    )
    .unwrap();
    assert!(row()["stopped"].as_str().unwrap().contains("vx_pre"));
}

/// Two boxes in one place at the start, over a floor.
const INSIDE: &str = r#"
version = 1
[method]
dt = 0.005
seconds = 0.2
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "left"
position = [0, 0, 0.5]
shape.box = { size = [1, 1, 1] }
[[body]]
name = "right"
position = [0.6, 0, 0.5]
shape.box = { size = [1, 1, 1] }
"#;

#[test]
fn a_healthy_run_is_good_and_warns_of_nothing() {
    let dir = folder("verdict-good");
    let path = scene(&dir, DROP);
    let json = tippe(&["run", &path, "--json"]);
    let summary: Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!(summary["verdict"]["class"], "good");
    assert_eq!(summary["verdict"]["findings"].as_array().unwrap().len(), 0);
    assert_eq!(summary["warnings"].as_array().unwrap().len(), 0);
    let text = stdout(&tippe(&["run", &path]));
    assert!(text.starts_with("verdict"), "{text}");
    let checked = tippe(&["check", &path]);
    assert!(stderr(&checked).is_empty(), "{}", stderr(&checked));
}

#[test]
fn overlap_at_the_start_is_named_by_check_and_judged_by_the_verdict() {
    let dir = folder("verdict-overlap");
    let path = scene(&dir, INSIDE);
    let checked = tippe(&["check", &path]);
    assert_eq!(code(&checked), 0);
    let told = stderr(&checked);
    assert!(
        told.contains("\"left\" and \"right\" overlap by 0.4 m"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
    let json = tippe(&["run", &path, "--json"]);
    let summary: Value = serde_json::from_str(&stdout(&json)).unwrap();
    let verdict = &summary["verdict"];
    assert_eq!(verdict["class"], "do not trust");
    let worst = &verdict["findings"][0];
    assert_eq!(worst["what"], "deepest overlap");
    assert!(
        (worst["share"].as_f64().unwrap() - 0.4).abs() < 0.05,
        "{verdict}"
    );
    assert!(worst["advice"].as_str().unwrap().contains("step"));
}

/// A heavy box on two light ones: sweeps stall, so the core solves it.
const HEAVY: &str = r#"
version = 1
[method]
dt = 0.005
seconds = 0.1
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "low"
position = [0, 0, 0.5]
mass = 1
shape.box = { size = [1, 1, 1] }
[[body]]
name = "middle"
position = [0.1, 0, 1.5]
mass = 1
shape.box = { size = [1, 1, 1] }
[[body]]
name = "heavy"
position = [0, 0.1, 2.5]
mass = 1000
shape.box = { size = [1, 1, 1] }
"#;

#[test]
fn expensive_islands_of_a_run_are_recorded_and_read_back() {
    let dir = folder("islands");
    let path = scene(&dir, HEAVY);
    let recorded = |name: &str, slower_than: &str| {
        let into = dir.join(name);
        let args = ["run", &path, "--json", "--record-islands"];
        let more = [into.to_str().unwrap(), "--slower-than", slower_than];
        let output = tippe(&[&args[..], &more[..]].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(stderr(&output).contains("islands written to"));
        let files = fs::read_dir(&into).unwrap().map(|e| e.unwrap().path());
        let hash = serde_json::from_str::<Value>(&stdout(&output)).unwrap()["hash"].clone();
        (files.collect::<Vec<_>>(), hash)
    };
    let (files, hash) = recorded("all", "0");
    assert!(!files.is_empty());
    for file in &files {
        let problem = tippe::solver::recorded::read(&fs::read_to_string(file).unwrap()).unwrap();
        assert!(problem.groups() > 0 && problem.blocks() > 0);
    }
    let (none, same) = recorded("none", "999999999999");
    assert!(none.is_empty());
    // Recording changes nothing.
    assert_eq!(hash, same);
}
