//! A scene of the repository run by a method of choice.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::{Path, PathBuf};
use tippe::StepError;
use tippe_scene::{LoadOptions, load_file};

/// All of them.
pub const METHODS: [&str; 5] = [
    "sequential",
    "iterative",
    "simultaneous",
    "forces",
    "events",
];

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// All steps were made, and every number of every report is finite.
    Ran,
    /// The method said at its first step what it does not have.
    Refused(String),
    /// It stopped, or reported what is no number.
    Stopped(String),
}

/// Scenes of the folder, by name.
pub fn scene_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_file())
        .collect();
    files.sort();
    files
}

/// Name of a scene's file.
pub fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Makes so many steps of a scene with one word changed.
pub fn run(path: &Path, method: &str, steps: usize) -> End {
    let options = LoadOptions {
        method: Some(method.into()),
        ..LoadOptions::default()
    };
    let mut scene = load_file(path, &options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.world.method().name(), method);
    for step in 0..steps {
        match scene.world.step(scene.dt) {
            Ok(report) if report.is_finite() => {}
            Ok(_) => return End::Stopped(format!("step {step}: a report that is not finite")),
            Err(StepError::Refused { reason }) if step == 0 => return End::Refused(reason),
            Err(e) => return End::Stopped(format!("step {step}: {e}")),
        }
    }
    End::Ran
}
