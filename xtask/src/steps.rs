//! `cargo xtask test`: everything that must hold before a change lands, one step after the other.
//!
//! Reads: the work tree.  Writes: nothing but cargo's target folder.
//! Called by: `main`.
//! Source: none.

use std::io;
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

/// The step whose output is read, see `document`.
const DOCUMENTATION: &str = "documentation";

/// The step that needs cargo-deny.
const SUPPLY: &str = "licences and sources";

const STEPS: [Step; 11] = [
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
    // Advisories need a database that is not everywhere to be had: `cargo deny check advisories` asks for them.
    Step {
        name: SUPPLY,
        arguments: &["deny", "check", "licenses", "sources", "bans"],
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
        name: DOCUMENTATION,
        arguments: &["doc", "--workspace", "--no-deps"],
        environment: &[(
            "RUSTDOCFLAGS",
            "-D warnings --force-warn rustdoc::broken_intra_doc_links",
        )],
        slow: false,
    },
    Step {
        name: "tests and doc tests",
        arguments: &["test", "--workspace"],
        environment: &[],
        slow: false,
    },
    Step {
        name: "the feature serde",
        arguments: &[
            "test",
            "-p",
            "tippe",
            "--features",
            "serde",
            "--test",
            "serde",
        ],
        environment: &[],
        slow: false,
    },
    Step {
        name: "the Python package",
        arguments: &["xtask", "python"],
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
    // An engine that is wrong on purpose: the fidelity cases must notice. One test alone, so that only the crates below it are built once more.
    Step {
        name: "faults are noticed",
        arguments: &[
            "test",
            "--release",
            "-p",
            "tippe-validate",
            "--features",
            "fault-injection",
            "--test",
            "faults",
        ],
        environment: &[],
        slow: true,
    },
    Step {
        name: "the README's example",
        arguments: &["run", "--release", "--", "run", "scenes/funnel.toml"],
        environment: &[],
        slow: true,
    },
];

/// Runs all steps and stops at the first that fails.
pub fn run(root: &Path, quick: bool, with_browser: bool) -> ExitCode {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let browser = if with_browser {
        crate::browser::ensure()
    } else {
        Err("left out by --no-browser".into())
    };
    let denies = crate::browser::has("cargo-deny");
    let mut times = Vec::new();
    let wanted = |s: &&Step| !(quick && s.slow) && (denies || s.name != SUPPLY);
    for step in STEPS.iter().filter(wanted) {
        let command = step.command();
        println!("\n== {}: {command}", step.name);
        let start = Instant::now();
        let mut process = Command::new(&cargo);
        process
            .args(step.arguments)
            .envs(step.environment.iter().copied())
            .envs((!with_browser).then_some(("TIPPE_NO_BROWSER", "1")))
            .current_dir(root);
        let passed = if step.name == DOCUMENTATION {
            document(&mut process)
        } else {
            process.status().map(|s| s.success())
        };
        match passed {
            Ok(true) => times.push((step.name, start.elapsed())),
            Ok(false) => {
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
    if !denies {
        println!("\n*** licences and sources were NOT checked: cargo-deny is not installed ***");
    }
    if let Err(reason) = browser {
        println!("\n*** the page was NOT tested in a browser: {reason} ***");
    }
    ExitCode::SUCCESS
}

/// Runs rustdoc and prints what it says, except where it takes a unit or a citation in plain brackets for a link.
fn document(process: &mut Command) -> io::Result<bool> {
    let output = process.output()?;
    let (kept, broken) = without_plain_brackets(&String::from_utf8_lossy(&output.stderr));
    eprintln!("{kept}");
    Ok(output.status.success() && broken == 0)
}

/// The paragraphs of rustdoc's output that matter, and how many of them are links that lead nowhere.
fn without_plain_brackets(text: &str) -> (String, usize) {
    let target = |paragraph: &str| {
        let (_, rest) = paragraph.split_once("unresolved link to `")?;
        rest.split_once('`').map(|(name, _)| name.to_owned())
    };
    // A warning quotes the line it is about. Our links to items have backticks inside the brackets or a target behind them.
    let is_plain = |p: &str| target(p).is_some_and(|name| p.contains(&format!("[{name}]")));
    let kept = text
        .split("\n\n")
        .filter(|p| !is_plain(p))
        .collect::<Vec<_>>();
    let broken = kept.iter().filter(|p| target(p).is_some()).count();
    (kept.join("\n\n"), broken)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_brackets_are_no_links() {
        let warning = |name: &str, line: &str| {
            format!("warning: unresolved link to `{name}`\n --> x.rs:1:9\n  | /// {line}")
        };
        // From a macro the line is quoted in a note.
        let noted = "warning: unresolved link to `s`\n = note: the link appears in this line:\n           \n   Time [s].".to_owned();
        let real = [
            warning("Wolrd", "See [`Wolrd`]."),
            warning("Wrold", "See [it](Wrold)."),
            "error: else".to_owned(),
        ];
        let mut all = vec![warning("m", "Length [m]."), noted];
        all.extend(real.clone());
        assert_eq!(
            without_plain_brackets(&all.join("\n\n")),
            (real.join("\n\n"), 2)
        );
    }

    #[test]
    fn readme_shows_the_command_that_is_run_here() {
        let readme =
            std::fs::read_to_string(crate::root().join("README.md")).expect("there is a README");
        let command = STEPS.last().expect("there are steps").command();
        assert!(
            readme.lines().any(|l| l == command),
            "README.md should have the line: {command}"
        );
    }
}
