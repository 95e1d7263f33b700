//! SR-22: every scene of the repository runs with the methods that support it all, by changing one word.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::{Path, PathBuf};
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

/// Methods that support every scene of the folder; `forces` refuses what it lacks.
const METHODS: [&str; 3] = ["sequential", "iterative", "simultaneous"];
/// Large scenes run with the two of them that take seconds for it.
const METHODS_OF_MANY: [&str; 2] = ["sequential", "simultaneous"];
/// Compliant contact is known to one alone; the others refuse it.
const METHODS_OF_COMPLIANT: [&str; 1] = ["forces"];
/// A net of 1600 bodies is a joint network, which `sequential` alone knows: the others take minutes for a step.
const NETWORK: &str = "joint-grid.toml";

#[test]
fn sr_22_every_scene_runs_with_every_method() {
    for path in scene_files().iter().filter(|p| !p.ends_with(NETWORK)) {
        let plain = load_file(path, &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let many = plain.world.body_count() > MANY;
        let gives_way = plain.world.materials().compliant().is_some();
        let (steps, methods) = if gives_way {
            (STEPS, &METHODS_OF_COMPLIANT[..])
        } else if many {
            (STEPS_OF_MANY, &METHODS_OF_MANY[..])
        } else {
            (STEPS, &METHODS[..])
        };
        for method in methods {
            let options = LoadOptions {
                method: Some((*method).into()),
                ..LoadOptions::default()
            };
            let mut scene = load_file(path, &options).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(scene.world.method().name(), *method);
            for step in 0..steps {
                let report = scene.world.step(scene.dt);
                let report = report
                    .unwrap_or_else(|e| panic!("{}: {method}: step {step}: {e}", path.display()));
                assert!(report.is_finite(), "{}: {method}", path.display());
            }
        }
    }
}
