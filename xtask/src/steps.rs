//! `cargo xtask test`: everything that must hold before a change lands, one step after the other.
//!
//! Reads: the work tree.  Writes: nothing but cargo's target folder.
//! Called by: `main`.
//! Source: none.

use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::tree::Tree;

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

const STEPS: [Step; 7] = [
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
    Step {
        name: "the README's example",
        arguments: &["run", "--release", "--", "run", "scenes/funnel.toml"],
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
        let mut process = Command::new(&cargo);
        process
            .args(step.arguments)
            .envs(step.environment.iter().copied())
            .current_dir(root);
        let passed = if step.name == DOCUMENTATION {
            document(root, &mut process)
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
    ExitCode::SUCCESS
}

/// Runs rustdoc and prints what it says, except where it takes a unit or a citation in plain brackets for a link.
fn document(root: &Path, process: &mut Command) -> io::Result<bool> {
    let output = process.output()?;
    let tree = Tree::read(root)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let (kept, broken) = without_plain_brackets(&text, &tree);
    eprintln!("{kept}");
    Ok(output.status.success() && broken == 0)
}

/// The paragraphs of rustdoc's output that matter, and how many of them are links that lead nowhere.
fn without_plain_brackets(text: &str, tree: &Tree) -> (String, usize) {
    let is_link = |paragraph: &str| paragraph.contains("unresolved link to `");
    let matters = |paragraph: &&str| !(is_link(paragraph) && in_plain_brackets(paragraph, tree));
    let kept: Vec<&str> = text.split("\n\n").filter(matters).collect();
    let broken = kept.iter().filter(|p| is_link(p)).count();
    (kept.join("\n\n"), broken)
}

/// Whether the place a warning points at is `[word]`; our links to items are written with backticks or a target.
fn in_plain_brackets(paragraph: &str, tree: &Tree) -> bool {
    let place = paragraph
        .lines()
        .find_map(|l| l.trim_start().strip_prefix("--> "));
    let mut parts = place.unwrap_or("").rsplitn(3, ':');
    let column = parts.next().and_then(|c| c.parse::<usize>().ok());
    let line = parts.next().and_then(|l| l.parse::<usize>().ok());
    let (Some(column @ 2..), Some(line @ 1..), Some(file)) = (column, line, parts.next()) else {
        return false;
    };
    let source = tree
        .text(file)
        .and_then(|t| t.lines().nth(line - 1))
        .unwrap_or("");
    let mut around = source.chars().skip(column - 2);
    around.next() == Some('[') && around.next() != Some('`')
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
        let source = "/// Length [m], see [`Wolrd`] and [it](Wrold).\n";
        let tree = Tree::of(&[("x.rs", source)]);
        let warning = |word: &str| {
            let column = source.find(word).expect("the word is in the source") + 1;
            format!("warning: unresolved link to `{word}`\n --> x.rs:1:{column}\n  |")
        };
        let text = [
            warning("m]"),
            warning("Wolrd"),
            warning("Wrold"),
            "error: else".into(),
        ]
        .join("\n\n");
        let (kept, broken) = without_plain_brackets(&text, &tree);
        assert_eq!(
            kept,
            [warning("Wolrd"), warning("Wrold"), "error: else".into()].join("\n\n")
        );
        assert_eq!(broken, 2);
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
