//! `tippe impact` as a user meets it.
//!
//! Reads: the built binary.  Writes: pictures in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: the closed forms of a ball and a rod; docs/methods/impact-law.md.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;

use common::{code, folder, stderr, stdout, tippe};
use serde_json::Value;

const BALL: [&str; 9] = [
    "impact",
    "--mass",
    "1",
    "--inertia",
    "0.4",
    "--arm",
    "0,0,-1",
    "--friction",
    "0.3",
];

fn with(first: &[&str], more: &[&str]) -> (i32, String, String) {
    let output = tippe(&[first, more].concat());
    (code(&output), stdout(&output), stderr(&output))
}

fn json(args: &[&str]) -> Value {
    let (code, out, err) = with(args, &["--json"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out.lines().count(), 1);
    serde_json::from_str(&out).unwrap()
}

fn near(value: &Value, wanted: &[f64]) {
    for (i, w) in wanted.iter().enumerate() {
        let found = value[i].as_f64().unwrap();
        assert!((found - w).abs() < 1e-10, "{value} is not {wanted:?}");
    }
}

#[test]
fn ball_by_mass_and_by_matrix() {
    let more = ["--velocity", "1,0.5,-1", "--restitution", "0.8"];
    let ball = json(&[&BALL[..], &more].concat());
    let matrix = ["impact", "--k", "3.5,3.5,1", "--friction", "0.3"];
    let by_matrix = json(&[&matrix[..], &more].concat());
    for found in [&ball, &by_matrix] {
        near(&found["impulse"], &[-2.0 / 7.0, -1.0 / 7.0, 1.8]);
        near(&found["velocity_after"], &[0.0, 0.0, 0.8]);
        assert_eq!(found["end"], "stick");
        assert_eq!(found["law"], "stronge");
    }
    // Δv = P/m, Δω = I⁻¹ (r × P).
    near(
        &ball["bodies"][0]["velocity_change"],
        &[-2.0 / 7.0, -1.0 / 7.0, 1.8],
    );
    near(
        &ball["bodies"][0]["spin_change"],
        &[-1.0 / 7.0 / 0.4, 2.0 / 7.0 / 0.4, 0.0],
    );
    assert_eq!(by_matrix["bodies"].as_array().unwrap().len(), 0);
}

#[test]
fn account_tells_pieces_and_notes() {
    // The rod whose friction jams: k_xx, k_yy, k_zz, k_xy, k_xz, k_yz.
    let rod = [
        "impact",
        "--k",
        "3.4,4,1.6,0,-1.2,0",
        "--velocity",
        "-1,0,-0.1",
        "--friction",
        "1.6",
    ];
    let (code, out, _) = with(&rod, &["--restitution", "0.5"]);
    assert_eq!(code, 0);
    for words in [
        "compression slides",
        "compression sticks",
        "restitution sticks",
        "(jam)",
        "energy",
    ] {
        assert!(out.contains(words), "`{words}` in\n{out}");
    }
    let found = json(&[&rod[..], &["--restitution", "0.5", "--law", "poisson"]].concat());
    near(&found["impulse"], &[0.497_941_176_471, 0.0, 0.5775]);
    assert_eq!(found["pieces"].as_array().unwrap().len(), 3);
    assert_eq!(found["jammed"], true);
    // Nothing happens where bodies separate.
    let (code, out, _) = with(&["impact", "--k", "1,1,1", "--velocity", "0,0,1"], &[]);
    assert!(code == 0 && out.contains("no impulse"), "{out}");
}

#[test]
fn mc_27_picture_of_the_path_is_written() {
    let dir = folder("hodograph");
    let file = dir.join("path.svg");
    let path = file.to_str().unwrap();
    // A body met off its centre: slip stops and sets in again.
    let body = [
        "impact",
        "--mass",
        "1",
        "--inertia",
        "0.02,0.05,0.04",
        "--arm",
        "0.25,-0.03,-0.2",
        "--friction",
        "0.55",
    ];
    let cases = [
        ("4,2,-1", "p slides", false),
        ("-0.47,0.17,-1", "p resumes", true),
    ];
    for (velocity, class, stops) in cases {
        let more = [
            "--velocity",
            velocity,
            "--restitution",
            "0.5",
            "--svg",
            path,
        ];
        let (code, _, err) = with(&body, &more);
        assert_eq!(code, 0, "{err}");
        let svg = fs::read_to_string(&file).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for part in ["arrival", "compression ends", "u_x", "u_n", class] {
            assert!(svg.contains(part), "{part}");
        }
        assert_eq!(svg.matches("slip stops").count() > 0, stops, "{velocity}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
    let more = ["--velocity", "1,0,-1", "--svg", "no/such/folder/x.svg"];
    let (code, _, err) = with(&body, &more);
    assert!(code == 1 && err.contains("cannot write"), "{err}");
}

#[test]
fn bad_numbers_are_refused_with_the_flag() {
    let k = ["impact", "--k", "1,1,1", "--velocity", "0,0,-1"];
    let cases: [(&[&str], &str); 9] = [
        (&["impact", "--velocity", "0,0,-1"], "--k"),
        (
            &["impact", "--k", "1,1", "--velocity", "0,0,-1"],
            "3 numbers",
        ),
        (
            &["impact", "--k", "1,1,-1", "--velocity", "0,0,-1"],
            "--k: must be positive",
        ),
        (&[&k[..], &["--friction", "-1"]].concat(), "--friction"),
        (&[&k[..], &["--friction", "inf"]].concat(), "--friction"),
        (
            &[&k[..], &["--restitution", "1.5"]].concat(),
            "--restitution",
        ),
        (&[&k[..], &["--normal", "0,0,0"]].concat(), "--normal"),
        (
            &[&BALL[..], &["--velocity", "0,0,x"]].concat(),
            "no finite number",
        ),
        (
            &[&k[..], &["--friction", "0.5", "--friction-static", "0.4"]].concat(),
            "--friction",
        ),
    ];
    for (args, words) in cases {
        let (code, out, err) = with(args, &[]);
        assert!(
            code == 2 && out.is_empty() && err.contains(words),
            "{args:?}: {err}"
        );
    }
    let bad_mass = [
        "impact",
        "--mass",
        "0",
        "--inertia",
        "1",
        "--arm",
        "0,0,0",
        "--velocity",
        "0,0,-1",
    ];
    assert!(with(&bad_mass, &[]).2.contains("--mass"));
    let bad_inertia = [
        "impact",
        "--mass",
        "1",
        "--inertia",
        "1,0,1",
        "--arm",
        "0,0,0",
        "--velocity",
        "0,0,-1",
    ];
    assert!(with(&bad_inertia, &[]).2.contains("--inertia"));
}
