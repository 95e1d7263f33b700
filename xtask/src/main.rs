//! Chores of the repository, in plain Rust so that they run wherever the engine builds.
//!
//! Reads: the work tree.  Writes: `docs/requirements.md` and `docs/pictures`, only when asked to.
//! Called by: `cargo xtask …` (alias in `.cargo/config.toml`) and the script in `.ci`.
//! Source: the rules of `docs/conventions.md`, "Documents".

mod browser;
mod length;
mod markdown;
mod pictures;
mod python;
mod requirements;
mod rooms;
mod steps;
mod tidy;
mod tree;

use std::path::PathBuf;
use std::process::ExitCode;

use tree::Tree;

const USAGE: &str = "\
cargo xtask test [--quick] [--no-browser]
                                     formatting, lints, documentation, tidy, licences, all tests; --quick leaves out the release
                                     build, --no-browser the page in a browser (else Chromium is installed if it is missing)
cargo xtask python                   builds the Python package in the target folder and tests it
cargo xtask tidy                     paths, links, citations and requirement ids in documents and sources
cargo xtask requirements [--update]  how many requirements are met; --update fills in the tests, never the states
cargo xtask pictures [NAME]          makes the pictures of the documents anew, all or one
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test", flags @ ..]
            if flags
                .iter()
                .all(|f| ["--quick", "--no-browser"].contains(f)) =>
        {
            let given = |flag| flags.contains(&flag);
            steps::run(&root(), given("--quick"), !given("--no-browser"))
        }
        ["python"] => match python::test(&root()) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => failed("tests of the Python package failed"),
            Err(reason) => failed(&reason),
        },
        ["tidy"] => run_tidy(),
        ["requirements"] => run_requirements(false),
        ["requirements", "--update"] => run_requirements(true),
        ["pictures"] => pictures::make(&root(), None),
        ["pictures", name] => pictures::make(&root(), Some(name)),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask
        .parent()
        .expect("xtask is a folder of the workspace")
        .to_path_buf()
}

fn run_tidy() -> ExitCode {
    let tree = match Tree::read(&root()) {
        Ok(tree) => tree,
        Err(error) => return failed(&format!("cannot read the work tree: {error}")),
    };
    let problems = tidy::check(&tree);
    for problem in &problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => {
            println!("tidy: {} files, nothing to mend", tree.file_count());
            ExitCode::SUCCESS
        }
        n => failed(&format!("tidy: {n} to mend")),
    }
}

fn run_requirements(update: bool) -> ExitCode {
    let root = root();
    let tree = match Tree::read(&root) {
        Ok(tree) => tree,
        Err(error) => return failed(&format!("cannot read the work tree: {error}")),
    };
    let Some(before) = tree.text(requirements::TABLE) else {
        return failed(&format!("{} is missing", requirements::TABLE));
    };
    let mut text = before.to_owned();
    if update {
        text = requirements::updated(before, &requirements::tests_in(&tree));
        if let Err(error) = std::fs::write(root.join(requirements::TABLE), &text) {
            return failed(&format!("cannot write {}: {error}", requirements::TABLE));
        }
    }
    print!("{}", requirements::summary(&text));
    ExitCode::SUCCESS
}

fn failed(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}
