//! SR-22: every scene of the repository runs with every method of this version, by changing one word.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::{Path, PathBuf};
use tippe::{METHOD_NAMES, Method};
use tippe_scene::{LoadOptions, load_file};

/// Steps of each run, and of scenes with more bodies than this.
const STEPS: usize = 20;
const STEPS_OF_MANY: usize = 2;
const MANY: usize = 150;

fn scene_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_file())
        .collect();
    files.sort();
    files
}

#[test]
fn sr_22_every_scene_runs_with_every_method() {
    let methods: Vec<&str> = METHOD_NAMES
        .into_iter()
        .filter(|n| Method::from_name(n).is_some())
        .collect();
    assert!(methods.len() >= 3, "{methods:?}");
    for path in scene_files() {
        for method in &methods {
            let options = LoadOptions {
                method: Some((*method).into()),
                ..LoadOptions::default()
            };
            let mut scene = load_file(&path, &options).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(scene.world.method().name(), *method);
            let many = scene.world.body_count() > MANY;
            for step in 0..if many { STEPS_OF_MANY } else { STEPS } {
                let report = scene.world.step(scene.dt);
                let report = report
                    .unwrap_or_else(|e| panic!("{}: {method}: step {step}: {e}", path.display()));
                assert!(report.is_finite(), "{}: {method}", path.display());
            }
            assert!((scene.world.time() - scene.dt * if many { 2.0 } else { 20.0 }).abs() < 1e-9);
        }
    }
}
