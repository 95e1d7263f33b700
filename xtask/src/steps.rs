//! `cargo xtask test`: everything that must hold before a change lands, one step after the other.
//!
//! Reads: the work tree.  Writes: nothing but cargo's target folder.
//! Called by: `main`.
//! Source: none.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// One step: what it shows and the arguments of cargo that show it.
struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    /// Environment for this step alone.
    environment: &'static [(&'static str, &'static str)],
    /// Whether `--quick` leaves it out.
    slow: bool,
}

const STEPS: [Step; 6] = [
    Step {
        name: "formatting",
        arguments: &["fmt", "--all", "--check"],
        environment: &[],
        slow: false,
    },
    Step {
        name: "tidy",
        arguments: &["xtask", "tidy"],
        environment: &[],
        slow: false,
    },
    Step {
        name: "lints",
        arguments: &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        environment: &[],
        slow: false,
    },
    Step {
        name: "documentation",
        arguments: &["doc", "--workspace", "--no-deps"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
        slow: false,
    },
    Step {
        name: "tests and doc tests",
        arguments: &["test", "--workspace"],
        environment: &[],
        slow: false,
    },
    // The same tests with full optimisation: golden hashes must not move, and the long runs get their full length.
    Step {
        name: "tests in release",
        arguments: &[
            "test",
            "--workspace",
            "--release",
            "--lib",
            "--bins",
            "--tests",
        ],
        environment: &[],
        slow: true,
    },
];

/// Runs all steps and stops at the first that fails.
pub fn run(root: &Path, quick: bool) -> ExitCode {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut times = Vec::new();
    for step in STEPS.iter().filter(|s| !(quick && s.slow)) {
        let command = step.command();
        println!("\n== {}: {command}", step.name);
        let start = Instant::now();
        let status = Command::new(&cargo)
            .args(step.arguments)
            .envs(step.environment.iter().copied())
            .current_dir(root)
            .status();
        match status {
            Ok(status) if status.success() => times.push((step.name, start.elapsed())),
            Ok(_) => {
                eprintln!("\nstopped at {}; run it alone with: {command}", step.name);
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("\ncannot start {cargo}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("\nall steps passed:");
    for (name, time) in times {
        println!("  {name:<22}{:>7.1} s", time.as_secs_f64());
    }
    ExitCode::SUCCESS
}

impl Step {
    /// The step as one would type it.
    fn command(&self) -> String {
        let environment: String = self
            .environment
            .iter()
            .map(|(name, value)| format!("{name}=\"{value}\" "))
            .collect();
        format!("{environment}cargo {}", self.arguments.join(" "))
    }
}
