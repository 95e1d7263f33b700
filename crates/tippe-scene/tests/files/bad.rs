//! Bad scenes: each fixture in `tests/bad` is refused with the message beside it.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p tippe-scene` rewrites the messages; read them before you commit them.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::{Path, PathBuf};
use tippe_scene::{Format, LoadOptions, load_file, load_str};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

fn fixtures() -> Vec<PathBuf> {
    let is_scene = |p: &PathBuf| p.extension().is_some_and(|e| e == "toml" || e == "json");
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|e| e.unwrap().path())
        .filter(is_scene)
        .collect();
    files.sort();
    files
}

#[test]
fn bad_scenes_are_refused_with_their_messages() {
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let prefix = format!("{}/", folder().display());
    let files = fixtures();
    assert!(files.len() >= 58, "{} fixtures", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let errors = match load_file(&path, &LoadOptions::default()) {
            Ok(_) => panic!("{} should be refused", path.display()),
            Err(errors) => errors,
        };
        for e in &errors.errors {
            assert!(!e.reason.is_empty() && !e.help.is_empty(), "{e}");
            assert!(e.line > 0 && e.column > 0, "{e}");
        }
        let message = errors.to_string().replace(&prefix, "") + "\n";
        let mut expected = path.clone().into_os_string();
        expected.push(".expected");
        if update {
            std::fs::write(&expected, &message).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != message {
            wrong.push(format!("--- {}\n{message}", path.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "messages changed; UPDATE_SNAPSHOTS=1 rewrites them\n{}",
        wrong.join("\n")
    );
}

#[test]
fn what_is_no_file_is_refused() {
    let load = |path: &Path| {
        load_file(path, &LoadOptions::default())
            .unwrap_err()
            .to_string()
    };
    assert!(load(Path::new("no/such/scene.toml")).contains("cannot be read"));
    assert!(load(&folder()).contains("is a folder"));
}

#[test]
fn bad_options_are_refused_before_the_scene_is_read() {
    let options = LoadOptions {
        method: Some("magic".into()),
        dt: Some(f64::NAN),
        seconds: Some(-1.0),
        ..LoadOptions::default()
    };
    let errors = load_str("version = 1", "x.toml", Format::Toml, &options).unwrap_err();
    let fields: Vec<&str> = errors.errors.iter().map(|e| e.field.as_str()).collect();
    assert_eq!(fields, ["dt", "seconds", "method"]);
}

#[test]
fn includes_may_leave_the_folder_only_if_allowed() {
    let text = "version = 1\ninclude = [\"../../../../scenes/bounce.toml\"]\n";
    let mut options = LoadOptions {
        folder: Some(folder()),
        ..LoadOptions::default()
    };
    let errors = load_str(text, "x.toml", Format::Toml, &options).unwrap_err();
    assert!(errors.errors[0].reason.contains("leaves the folder"));
    options.allow_outside = true;
    // It is found now, and refused for another reason: it is a whole scene.
    let errors = load_str(text, "x.toml", Format::Toml, &options).unwrap_err();
    assert!(
        errors
            .errors
            .iter()
            .all(|e| e.reason.contains("no settings")),
        "{errors}"
    );
}

#[test]
fn damaged_scenes_never_panic() {
    let mut state = 7_u64;
    let mut draw = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let seeds = [
        "incline.toml",
        "stack.toml",
        "tippe-top.toml",
        "domino.toml",
        "rope-bridge.toml",
        "ragdoll.toml",
        "cart.toml",
    ];
    let words = [
        "-",
        "0",
        "1e308",
        "nan",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "\n",
        ".",
        "=",
        "body",
        "shape",
        "é",
        "99999999999999999999",
    ];
    let mut refused = 0;
    for round in 0..3500 {
        let text = std::fs::read_to_string(scenes.join(seeds[round % seeds.len()])).unwrap();
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..1 + draw(3) {
            let at = draw(chars.len());
            match draw(3) {
                0 => drop(chars.drain(at..(at + draw(8)).min(chars.len()))),
                1 => drop(chars.splice(at..at, words[draw(words.len())].chars())),
                _ => chars[at] = words[draw(words.len())].chars().next().unwrap(),
            }
        }
        let damaged: String = chars.into_iter().collect();
        refused += usize::from(
            load_str(&damaged, "x.toml", Format::Toml, &LoadOptions::default()).is_err(),
        );
        // The same text as JSON is never valid.
        assert!(load_str(&damaged, "x.json", Format::Json, &LoadOptions::default()).is_err());
    }
    assert!(refused > 900, "{refused} of 3500");
}
