//! `cargo xtask pictures`: makes every picture of the documents anew.
//!
//! Reads: the table of `docs/pictures/README.md`, which has the command of each picture.  Writes: the pictures.
//! Called by: `main`.
//! Source: none. The table is the only list: what it says is what is run.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::markdown;

/// The table of pictures and their commands.
const TABLE: &str = "docs/pictures/README.md";
/// How every command begins.
const BEGIN: &str = "cargo run --release -- ";

/// Runs the commands of the table, one after the other; with a name, those of this picture alone.
pub fn make(root: &Path, only: Option<&str>) -> ExitCode {
    let text = match std::fs::read_to_string(root.join(TABLE)) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read {TABLE}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let all = commands(&text);
    let chosen: Vec<&Vec<String>> = all
        .iter()
        .filter(|c| only.is_none_or(|name| c.last().is_some_and(|l| l.contains(name))))
        .collect();
    if chosen.is_empty() {
        eprintln!("{TABLE} has no such picture");
        return ExitCode::FAILURE;
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    for arguments in &chosen {
        println!("cargo {}", arguments.join(" "));
        let status = Command::new(&cargo)
            .args(arguments.iter())
            .current_dir(root)
            .status();
        if !status.is_ok_and(|s| s.success()) {
            eprintln!("this command failed: cargo {}", arguments.join(" "));
            return ExitCode::FAILURE;
        }
    }
    println!("{} pictures", chosen.len());
    ExitCode::SUCCESS
}

/// The arguments of cargo in each row of the table.
fn commands(text: &str) -> Vec<Vec<String>> {
    markdown::lines(text)
        .filter(|l| !l.fenced && l.text.starts_with('|'))
        .flat_map(|l| markdown::code_spans(l.text))
        .filter(|span| span.starts_with(BEGIN))
        .map(|span| {
            let words = span.split_whitespace().skip(1);
            words.map(str::to_owned).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_commands() {
        let text = "| a | b |\n|---|---|\n| [x](x.png) | `cargo run --release -- render s.toml --picture x.png` |\n`cargo run --release -- no row`\n";
        let got = commands(text);
        assert_eq!(got.len(), 1);
        assert_eq!(
            got[0].join(" "),
            "run --release -- render s.toml --picture x.png"
        );
    }

    /// Every row names a scene and a picture that are there, and every picture has its row.
    #[test]
    fn the_table_and_the_pictures_agree() {
        let root = crate::root();
        let text = std::fs::read_to_string(root.join(TABLE)).expect("there is a table");
        let mut made: Vec<String> = Vec::new();
        for command in commands(&text) {
            let scene = command
                .iter()
                .find(|w| w.ends_with(".toml"))
                .expect("a scene");
            let picture = command.last().expect("words").clone();
            assert!(root.join(scene).is_file(), "{scene}");
            assert!(root.join(&picture).is_file(), "{picture}");
            made.push(picture);
        }
        let there = std::fs::read_dir(root.join("docs/pictures")).expect("a folder");
        for entry in there {
            let name = entry.expect("a file").file_name();
            let name = format!("docs/pictures/{}", name.to_string_lossy());
            // Plots of the fidelity page are written with it.
            let plotted = name.contains("/cost-") && text.contains("cost-*.svg");
            assert!(
                name.ends_with(".md") || plotted || made.contains(&name),
                "{name} has no row"
            );
        }
        assert!(made.len() >= 8);
    }
}
