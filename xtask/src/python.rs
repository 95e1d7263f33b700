//! The Python package: built into a virtual environment of its own and tested there.
//!
//! Reads: the PATH, `python/`.  Writes: a folder of cargo's target folder.
//! Called by: `steps`.
//! Source: none.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tests of the package need besides it.
const NEEDED: [&str; 5] = [
    "maturin>=1.9,<2",
    "numpy>=1.26",
    "pytest>=8",
    "mypy>=1.10",
    "gymnasium>=1.0",
];
/// The oldest Python that the package supports.
const OLDEST: (u32, u32) = (3, 11);

/// Builds the package and runs its tests; `Ok(false)` if one of them fails.
pub fn test(root: &Path) -> Result<bool, String> {
    let python = interpreter()?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let target = if target.is_absolute() {
        target
    } else {
        root.join(target)
    };
    let environment = target.join("python");
    let bin = environment.join("bin");
    let inside = |name: &str| bin.join(name);
    if !inside("python").exists() {
        run(Command::new(&python).args(["-m", "venv"]).arg(&environment))?;
    }
    run(Command::new(inside("python"))
        .args(["-m", "pip", "install", "-q", "--disable-pip-version-check"])
        .args(NEEDED))?;
    // The development build: it shares what `cargo test` has compiled.
    run(Command::new(inside("maturin"))
        .args(["develop", "--quiet"])
        .current_dir(root.join("python"))
        .env("VIRTUAL_ENV", &environment))?;
    let mut pytest = Command::new(inside("python"));
    pytest
        .args(["-m", "pytest", "-p", "no:cacheprovider"])
        .current_dir(root.join("python"));
    let command = target.join("debug").join("tippe");
    if command.exists() {
        pytest.env("TIPPE_COMMAND", command);
    }
    let stubs = [
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        "/dev/null",
        "tests/typed.py",
        "examples",
    ];
    let mut mypy = Command::new(inside("python"));
    mypy.args(stubs).current_dir(root.join("python"));
    Ok(passes(&mut pytest)? && passes(&mut mypy)?)
}

/// A Python that is new enough.
fn interpreter() -> Result<String, String> {
    let (major, minor) = OLDEST;
    let ask = format!("import sys; sys.exit(sys.version_info < ({major}, {minor}))");
    let names = [
        "python3",
        "python",
        "python3.13",
        "python3.12",
        "python3.11",
    ];
    let fits = |name: &&&str| {
        Command::new(name)
            .args(["-c", &ask])
            .status()
            .is_ok_and(|s| s.success())
    };
    let found = names.iter().find(fits).map(ToString::to_string);
    found.ok_or_else(|| {
        format!("Python {major}.{minor} or later is not on the PATH; the package needs it")
    })
}

fn passes(command: &mut Command) -> Result<bool, String> {
    let status = command.status().map_err(|e| format!("{command:?}: {e}"))?;
    Ok(status.success())
}

fn run(command: &mut Command) -> Result<(), String> {
    if passes(command)? {
        Ok(())
    } else {
        Err(format!("{command:?} failed"))
    }
}
