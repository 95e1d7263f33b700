//! `tippe lcp` as a user meets it.
//!
//! Reads: the built binary.  Writes: problems in a temporary folder of the build.
//! Called by: `cargo test`.
//! Source: docs/lcp.md, whose examples are solved here.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{code, folder, stderr, stdout, tippe};
use serde_json::Value;

const CONTACT: &str = "contacts 1\nmu 0.5\nq -1 2 0\nW 0 0 1\nW 1 1 1\nW 2 2 1\n";
const PLAIN: &str = "rows 2\nA 2 1\nA 1 2\nb -5 6\n";

fn file(name: &str, text: &str) -> PathBuf {
    // A folder of its own: tests run side by side, and a folder is emptied when it is asked for.
    let path = folder(name).join(name);
    fs::write(&path, text).unwrap();
    path
}

fn run(path: &Path, more: &[&str]) -> (i32, String, String) {
    let args = [&["lcp", path.to_str().unwrap()], more].concat();
    let output = tippe(&args);
    (code(&output), stdout(&output), stderr(&output))
}

fn json(path: &Path, more: &[&str]) -> (i32, Value) {
    let (code, out, err) = run(path, &[more, &["--json"]].concat());
    assert_eq!(out.lines().count(), 1, "{err}");
    (code, serde_json::from_str(&out).unwrap())
}

#[test]
fn plain_problem_is_solved_by_all_kernels() {
    let path = file("plain.txt", PLAIN);
    let (code, out, err) = run(&path, &[]);
    assert_eq!(code, 0, "{err}");
    for words in [
        "lemke",
        "dantzig",
        "principal",
        "gauss-seidel",
        "solved",
        "largest difference",
    ] {
        assert!(out.contains(words), "`{words}` in\n{out}");
    }
    assert!(!out.contains("one-step"), "{out}");
    let (code, found) = json(&path, &[]);
    assert_eq!(
        (code, found["format"].as_str(), found["rows"].as_u64()),
        (0, Some("plain"), Some(2))
    );
    let kernels = found["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 4);
    for k in kernels {
        assert_eq!(k["outcome"], "solved", "{k}");
        assert!(
            (k["f"][0].as_f64().unwrap() - 2.5).abs() < 1e-13 && k["f"][1] == 0.0,
            "{k}"
        );
        assert!((k["w"][1].as_f64().unwrap() - 8.5).abs() < 1e-13, "{k}");
    }
    assert!(found["apart"].as_f64().unwrap() < 1e-13);
    let (_, found) = json(&path, &["--kernel", "dantzig,lemke"]);
    assert_eq!(found["kernels"].as_array().unwrap().len(), 2);
}

#[test]
fn contact_problem_is_solved_with_its_round_cone_or_a_pyramid() {
    let path = file("contact.txt", CONTACT);
    let (code, out, err) = run(&path, &[]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("not applicable") && out.contains("natural map") && out.contains("one-step"),
        "{out}"
    );
    let (code, found) = json(&path, &[]);
    assert_eq!((code, found["format"].as_str()), (0, Some("contacts")));
    for k in found["kernels"].as_array().unwrap() {
        if k["outcome"] == "solved" {
            assert!((k["f"][1].as_f64().unwrap() + 0.5).abs() < 1e-9, "{k}");
            assert!(k["natural"].as_f64().unwrap() < 1e-9, "{k}");
        } else {
            assert!(k["reason"].as_str().unwrap().contains("cone"), "{k}");
        }
    }
    let (code, found) = json(
        &path,
        &[
            "--pyramid",
            "--kernel",
            "lemke,dantzig,principal,gauss-seidel",
        ],
    );
    assert_eq!(code, 0);
    assert!(
        found["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .all(|k| k["outcome"] == "solved"),
        "{found}"
    );
    let (code, _, err) = run(&path, &["--kernel", "lemke"]);
    assert!(code == 2 && err.contains("cone"), "{err}");
}

#[test]
fn rows_of_all_kinds_are_read() {
    let text = "rows 6 # six\nA 2 0 0 0 0 0\nA 0 2 0 0 0 0\nA 0 0 2 0 0 0\nA 0 0 0 2 0 0\nA 0 0 0 0 2 0\nA 0 0 0 0 0 2\n\
                b -2 4 -8 1 6 8\nfree 1\nbox 2 -1 1\nsliding 0 3 -0.25\n";
    let path = file("kinds.txt", text);
    let (code, found) = json(&path, &[]);
    assert_eq!(code, 0);
    for k in found["kernels"].as_array().unwrap() {
        let f: Vec<f64> = k["f"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect();
        assert_eq!(f, [1.0, -2.0, 1.0, -0.25, 0.0, 0.0], "{k}");
    }
    let cone = file("cone.txt", &text.replace("free 1", "free 1\ncone 0 4 0.5"));
    let (code, found) = json(&cone, &["--kernel", "gauss-seidel"]);
    assert_eq!(code, 0, "{found}");
    let f = &found["kernels"][0]["f"];
    assert!(
        (f[4].as_f64().unwrap() + 0.3).abs() < 1e-9 && (f[5].as_f64().unwrap() + 0.4).abs() < 1e-9,
        "{f}"
    );
    let planar = file(
        "planar.txt",
        &text.replace("free 1", "free 1\nplanar 0 4 0.5"),
    );
    let (code, found) = json(&planar, &[]);
    assert_eq!(code, 0, "{found}");
    assert_eq!(found["kernels"][0]["f"][4], -0.5);
    let (code, found) = json(&file("none.txt", "rows 0\n"), &[]);
    assert_eq!((code, found["rows"].as_u64()), (0, Some(0)));
}

#[test]
fn problems_without_a_solution_and_searches_cut_short_are_told() {
    let path = file("infeasible.txt", "rows 2\nA 1 -1\nA -1 1\nb -1 0.5\n");
    let (code, out, _) = run(&path, &[]);
    assert!(
        code == 0 && out.contains("infeasible") && out.contains("no solution"),
        "{out}"
    );
    let (_, found) = json(&path, &[]);
    for k in found["kernels"].as_array().unwrap() {
        let ray = &k["ray"];
        assert!(
            (ray[0].as_f64().unwrap() - 1.0).abs() < 1e-6
                && (ray[1].as_f64().unwrap() - 1.0).abs() < 1e-6,
            "{k}"
        );
    }
    let path = file("cut.txt", "rows 3\nA 3 1 1\nA 1 3 1\nA 1 1 3\nb -1 -2 -3\n");
    let (code, out, _) = run(&path, &["--pivots", "1", "--sweeps", "1"]);
    assert!(code == 1 && out.contains("limit"), "{out}");
}

#[test]
fn broken_files_are_refused_with_file_line_and_reason() {
    let cases = [
        ("", ":1: is empty"),
        ("hello 3\n", ":1: begins with `hello`"),
        ("rows x\n", ":1: `x` is no number of rows"),
        ("rows 99999\n", ":1: 99999 rows; at most"),
        (
            "rows 2\nA 1 0\nA 0\nb 1 1\n",
            ":3: `A` needs 2 numbers, got 1",
        ),
        ("rows 2\nA 1 0\nb 1 1\n", "1 lines `A`; 2 rows need 2"),
        ("rows 1\nA 1\nA 1\nb 1\n", ":3: `A` has more than 1 rows"),
        ("rows 1\nA 1\n", "no line `b`"),
        ("rows 1\nA 1\nb nan\n", ":3: `nan` is no finite number"),
        ("rows 1\nA 1\nb 1\nb 1\n", ":4: `b` is given twice"),
        ("rows 1\nA 1\nb 1\nfree 1\n", ":4: there is no row 1"),
        (
            "rows 1\nA 1\nb 1\nfree 0\nbox 0 1 2\n",
            ":5: row 0 already has a kind, from line 4",
        ),
        (
            "rows 1\nA 1\nb 1\nbox 0 2 1\n",
            ":4: rows[0]: bounds must be",
        ),
        ("rows 1\nA 1\nb 1\nspring 0\n", ":4: unknown word `spring`"),
        (
            "rows 2\nA 1 0\nA 0 1\nb 1 1\ncone 0 1 0.5\n",
            ":5: there is no row 2",
        ),
        (
            "rows 2\nA 1 0\nA 0 1\nb 1 1\nplanar 1 1 0.5\n",
            ":5: rows[1]: its normal row 1",
        ),
        (
            "contacts 1\nmu 0.5 0.5\nq 1 1 1\n",
            ":2: 1 contacts need 1 numbers in `mu`, got 2",
        ),
        (
            "contacts 1\nmu 0.5\nq 1 1 1\nW 0 7 1\n",
            ":4: W[0, 7] is outside",
        ),
        (
            "contacts 1\nmu 0.5\nq 1 1 1\nW 0 0 x\n",
            ":4: `x` is no finite number",
        ),
        ("contacts 1\nmu -1\nq 1 1 1\nW 0 0 1\n", "friction must be"),
    ];
    for (i, (text, reason)) in cases.iter().enumerate() {
        let name = format!("broken-{i}.txt");
        let (code, out, err) = run(&file(&name, text), &[]);
        assert_eq!((code, out.as_str()), (2, ""), "{text:?}: {err}");
        assert!(
            err.contains(&name) && err.contains(reason),
            "{text:?}: {err}"
        );
    }
    let (code, _, err) = run(&PathBuf::from("no/such/file.txt"), &[]);
    assert!(code == 2 && err.contains("no/such/file.txt"), "{err}");
}
