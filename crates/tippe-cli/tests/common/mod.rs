//! What the tests of the command share: running it, and a small scene.
//!
//! Reads: the built binary.  Writes: scenes in a temporary folder of the build.
//! Called by: the tests of this crate.
//! Source: docs/scene-format.md.

// Helpers of tests may fail as loudly as tests; not every test uses all of them.
#![allow(clippy::unwrap_used, dead_code)]

pub mod browser;
pub mod page;
pub mod serve;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a test waits for anything: machines may be slow and busy.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A ball dropped on the floor: 0.2 s, 12 steps.
pub const DROP: &str = r#"
version = 1
name = "drop"
description = "A ball & a floor"

[method]
name = "sequential"
dt = "1/60"
seconds = 0.2

[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }

[[body]]
name = "ball"
position = [0, 0, 0.51]
shape.sphere = { radius = 0.5 }
"#;

/// Runs the command.
pub fn tippe(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tippe"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Its exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// What it said.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it said aside.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Waits until something holds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A fresh folder of one test; no other suite and no other build has it.
pub fn folder(name: &str) -> PathBuf {
    let build = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(build)
        .join(env!("CARGO_CRATE_NAME"))
        .join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Writes a scene file and gives its path.
pub fn scene(dir: &Path, text: &str) -> String {
    let path = dir.join("scene.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}
