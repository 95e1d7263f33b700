//! `tippe compare` and the pages of `tippe validate`, as a user meets them.
//!
//! Reads: the built binary.  Writes: pages in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: the help texts.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;

use common::{DROP, code, folder, scene, stderr, stdout, tippe};
use serde_json::Value;

/// Two balls that touch, and a third that hits them: the methods answer that differently.
const CRADLE: &str = r#"version = 1
name = "Cradle"
[world]
gravity = [0, 0, 0]
[method]
dt = 0.001
seconds = 0.2
[[material]]
name = "default"
friction = 0.0
restitution = 1.0
[[body]]
name = "first"
position = [-0.25, 0, 0]
velocity = [1, 0, 0]
mass = 1.0
shape.sphere = { radius = 0.1 }
[[body]]
name = "second"
position = [0, 0, 0]
mass = 1.0
shape.sphere = { radius = 0.1 }
[[body]]
name = "third"
position = [0.2, 0, 0]
mass = 1.0
shape.sphere = { radius = 0.1 }
"#;

/// A page that stands by itself: no address to load from, every figure drawn.
fn stands_alone(page: &str) {
    for word in ["http://", "https://", "src=", "@import", "NaN"] {
        let found = page.matches(word).count();
        assert_eq!(found, 0, "{word}");
    }
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
    assert!(page.contains("<svg") && page.trim_end().ends_with("</html>"));
}

#[test]
fn compare_sets_methods_side_by_side() {
    let dir = folder("compare");
    let file = scene(&dir, CRADLE);
    let out = dir.join("pages");
    let output = tippe(&["compare", &file, "--out", out.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    for word in [
        "sequential",
        "iterative",
        "farthest from sequential",
        "rms distance at the end",
        "compare.html",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    stands_alone(&fs::read_to_string(out.join("compare.html")).unwrap());
    // For machines, with the order that was asked for.
    let output = tippe(&[
        "compare",
        &file,
        "--json",
        "--methods",
        "iterative,sequential",
    ]);
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let names: Vec<&str> = lines
        .iter()
        .map(|l| l["method"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["iterative", "sequential"]);
    for key in ["max_depth", "residuals", "energy", "ms_per_step", "hash"] {
        assert!(lines.iter().all(|l| l.get(key).is_some()), "{key}");
    }
    assert_eq!(lines[0]["difference"]["largest"], 0.0);
    // The impact travels through the row by both methods, at times of impact that differ a little.
    let far = lines[1]["difference"]["largest"].as_f64().unwrap();
    assert!(far > 0.0 && far < 1e-6, "{far}");
}

#[test]
fn compare_agrees_where_there_is_one_answer() {
    let dir = folder("compare-same");
    let output = tippe(&["compare", &scene(&dir, DROP), "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let last: Value = serde_json::from_str(stdout(&output).lines().last().unwrap()).unwrap();
    let far = last["difference"]["largest"].as_f64().unwrap();
    assert!(far < 1e-6, "{far}");
}

#[test]
fn compare_says_what_is_wrong() {
    let dir = folder("compare-wrong");
    let file = scene(&dir, DROP);
    let output = tippe(&["compare", &file, "--methods", "sequential,magic"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("magic"), "{}", stderr(&output));
    assert_eq!(code(&tippe(&["compare", "/no/such/scene.toml"])), 2);
}

#[test]
fn validate_writes_its_pages() {
    let dir = folder("validate-pages");
    let (out, doc) = (dir.join("pages"), dir.join("page.md"));
    let data = folder("validate-no-data");
    let output = tippe(&[
        "validate",
        "--case",
        "F06,F20,F28",
        "--quick",
        "--study",
        "none",
        "--data",
        data.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--doc",
        doc.to_str().unwrap(),
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    stands_alone(&page);
    for word in [
        "F06 bounce",
        "Height of the lowest point",
        "Energy ledger",
        "Rapier f64",
        "2026-11-15",
        "not run",
    ] {
        assert!(page.contains(word), "{word}");
    }
    let doc = fs::read_to_string(doc).unwrap();
    assert!(doc.contains("## F20 wedge") && doc.contains("MuJoCo RK4"));
}

#[test]
fn a_miss_fails_unless_it_is_known_and_allowed() {
    let miss = [
        "validate",
        "--case",
        "F23",
        "--quick",
        "--method",
        "sequential",
    ];
    let output = tippe(&miss);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    assert!(
        text.contains("times the tolerance") && text.contains("in a step of 1/60 s"),
        "{text}"
    );
    let allowed = [&miss[..], &["--allow-known"]].concat();
    assert_eq!(code(&tippe(&allowed)), 0);
}
