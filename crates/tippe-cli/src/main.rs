//! The command `tippe`: parse, dispatch, exit code.
//!
//! Reads: the command line.  Writes: stdout, stderr, the files asked for.
//! Called by: the user.
//! Source: exit codes as in the help: 0 success, 1 a check failed or the simulation stopped, 2 bad usage or bad input.

mod args;
mod assemble;
mod bench;
mod check;
mod compare;
mod export;
mod film;
mod format;
mod impact;
mod islands;
mod lab;
mod lcp;
mod load;
mod numbers;
mod output;
mod progress;
mod query;
mod render;
mod replay;
mod report;
mod results;
mod run;
mod series;
mod statistics;
mod summary;
mod svg;
mod validate;
mod verdict;
#[cfg(all(test, feature = "fault-injection"))]
mod verdict_campaign;
mod view;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};

use crate::args::{Cli, Command};

/// How a command ended when nothing unforeseen happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All well.
    Done,
    /// A check failed, or the simulation stopped.
    Failed,
    /// Bad usage or bad input; the user has been told.
    BadInput,
}

/// The command that was probably meant by one that does not exist; clap itself knows no swapped letters.
fn meant(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let command = Cli::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    tippe_scene::nearest(word, names).map(str::to_owned)
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version come here too, with exit code 0. Nobody may be listening.
            let _ = e.print();
            if let Some(meant) = meant(&e) {
                output::note(&format!("did you mean `tippe {meant}`?"));
            }
            return ExitCode::from(e.exit_code() as u8);
        }
    };
    let result = match &cli.command {
        Command::Run(args) => run::run(args),
        Command::Check(args) => check::check(args),
        Command::Assemble(args) => assemble::assemble(args),
        Command::Compare(args) => compare::compare(args),
        Command::Validate(args) => validate::validate(args),
        Command::Bench(args) => bench::bench(args),
        Command::Impact(args) => impact::impact(args),
        Command::Lcp(args) => lcp::lcp(args),
        Command::Lab(args) => lab::lab(args),
        Command::Query(args) => query::query(args),
        Command::View(args) => view::view(args),
        Command::Render(args) => render::render(args),
        Command::Export(args) => export::export(args),
    };
    ExitCode::from(match result {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Failed) => 1,
        Ok(Outcome::BadInput) => 2,
        Err(e) if output::reader_left(&e) => 0,
        Err(e) => {
            output::note(&format!("error: {e:#}"));
            1
        }
    })
}
