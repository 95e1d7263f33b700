//! `tippe query` as a user meets it.
//!
//! Reads: the built binary, a scene of its own.  Writes: that scene, in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: the help text of `tippe query`; distances in closed form.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;

use common::{code, folder, stderr, stdout, tippe};
use serde_json::Value;

const SCENE: &str = r#"
version = 1
[method]
dt = 0.01
seconds = 1
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "ball"
position = [0, 0, 5]
shape.sphere = { radius = 0.5 }
[[body]]
name = "crate"
position = [3, 0, 0.5]
shape.box = { size = [1, 1, 1] }
"#;

fn scene(test: &str) -> String {
    let path = folder(test).join("query.toml");
    fs::write(&path, SCENE).unwrap();
    path.to_str().unwrap().to_owned()
}

fn ask(scene: &str, words: &[&str]) -> (i32, String, String) {
    let output = tippe(&[&["query", scene], words].concat());
    (code(&output), stdout(&output), stderr(&output))
}

fn json(scene: &str, words: &[&str]) -> Vec<Value> {
    let (code, out, err) = ask(scene, &[words, &["--json"]].concat());
    assert_eq!(code, 0, "{err}");
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn ray_cast_overlap_and_distance() {
    let scene = scene("query_all");
    let down = ["--from", "0,0,10", "--direction", "0,0,-1"];
    let hits = json(&scene, &[&["ray", "--all"], &down[..]].concat());
    assert_eq!(hits.len(), 2);
    assert_eq!(
        (&hits[0]["body"], &hits[1]["body"]),
        (&"ball".into(), &"floor".into())
    );
    assert!((hits[0]["distance"].as_f64().unwrap() - 4.5).abs() < 1e-9);
    assert_eq!(hits[1]["point"], serde_json::json!([0.0, 0.0, 0.0]));
    let hit = &json(&scene, &[&["cast", "--sphere", "0.25"], &down[..]].concat())[0];
    assert!((hit["distance"].as_f64().unwrap() - 4.25).abs() < 1e-8);
    let hits = json(
        &scene,
        &["overlap", "--box", "2,2,2", "--at", "2.6,0,1.5", "--all"],
    );
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0]["body"], "crate");
    let hit = &json(&scene, &["distance", "--point", "3,0,2"])[0];
    assert_eq!(hit["body"], "crate");
    assert!((hit["distance"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    let without = ["distance", "--point", "3,0,2", "--without", "crate"];
    assert_eq!(json(&scene, &without)[0]["body"], "floor");
}

#[test]
fn after_some_time_the_answer_is_another() {
    let scene = scene("query_time");
    let down = ["ray", "--from", "0,0,10", "--direction", "0,0,-1"];
    let hit = &json(&scene, &[&["--seconds", "0.5"], &down[..]].concat())[0];
    // ½ g t² lower.
    let fallen = 4.5 + 0.5 * 9.81 * 0.25;
    assert!(
        (hit["distance"].as_f64().unwrap() - fallen).abs() < 1e-9,
        "{hit}"
    );
}

#[test]
fn words_for_people_and_exit_codes() {
    let scene = scene("query_words");
    let (status, out, _) = ask(&scene, &["distance", "--point", "0,0,2"]);
    assert_eq!(status, 0);
    assert!(
        out.starts_with("floor (slot 0, shape 0): distance 2 m, point (0, 0, 0)"),
        "{out}"
    );
    let (status, out, err) = ask(&scene, &["ray", "--from", "0,9,1", "--direction", "1,0,0"]);
    assert_eq!((status, out.as_str(), err.trim()), (1, "", "nothing found"));
    for (words, reason) in [
        (
            &["ray", "--from", "0,0,1", "--direction", "0,0,0"][..],
            "direction",
        ),
        (
            &["ray", "--from", "0,0", "--direction", "0,0,1"],
            "3 numbers",
        ),
        (
            &[
                "ray",
                "--from",
                "0,0,1",
                "--direction",
                "0,0,1",
                "--length",
                "-1",
            ],
            "length",
        ),
        (&["overlap", "--at", "0,0,1"], "needs a shape"),
        (&["overlap", "--sphere", "-1", "--at", "0,0,1"], "radius"),
        (&["overlap", "--capsule", "1", "--at", "0,0,1"], "2 numbers"),
        (&["distance", "--point", "0,0,nan"], "finite"),
        (
            &["distance", "--point", "0,0,1", "--without", "nobody"],
            "nobody",
        ),
        (&["touch"], "touch"),
    ] {
        let (status, out, err) = ask(&scene, words);
        assert_eq!((status, out.as_str()), (2, ""), "{words:?}");
        assert!(err.contains(reason), "{words:?}: {err}");
    }
    let (status, ..) = ask(
        "no-such-scene.toml",
        &["ray", "--from", "0,0,1", "--direction", "0,0,1"],
    );
    assert_eq!(status, 2);
}
