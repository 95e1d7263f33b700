//! Flags: what the user typed, checked as far as words can be checked.
//!
//! Reads: the command line.  Writes: nothing.
//! Called by: `main`.
//! Source: docs of each flag below are the help texts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::bench::BenchArgs;
use crate::compare::CompareArgs;
use crate::export::ExportArgs;
use crate::format::parse_seconds;
use crate::impact::ImpactArgs;
use crate::lab::LabArgs;
use crate::lcp::LcpArgs;
use crate::query::QueryArgs;
use crate::render::RenderArgs;
use crate::view::ViewArgs;

/// Rigid-body dynamics whose contact physics is right, fast, and shows its own error.
#[derive(Debug, Parser)]
#[command(
    name = "tippe",
    version,
    about,
    after_help = "Exit code: 0 success, 1 a check failed or the simulation stopped, 2 bad usage or bad input."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and sum up what happened, with the energy ledger and every residual.
    Run(RunArgs),
    /// Read and validate a scene without simulating it; every error with file, line, column, field and reason.
    Check(CheckArgs),
    /// Put the parts of a scene together; say what stays free, which mates are surplus and which contradict each other.
    Assemble(AssembleArgs),
    /// Simulate a scene by several methods, side by side: difference of motion, certificates, ledgers, time.
    Compare(CompareArgs),
    /// Run the fidelity cases: every method against answers that are known.
    Validate(ValidateArgs),
    /// Time the standard speed scenes, with their certificates.
    Bench(BenchArgs),
    /// Compute one frictional impact from numbers, with the path of its contact velocity.
    Impact(Box<ImpactArgs>),
    /// Solve a complementarity problem from a file by every kernel that takes it, side by side.
    Lcp(LcpArgs),
    /// Print the tables of the laboratory: elastic balls, gliders on springs, leaning bricks.
    Lab(LabArgs),
    /// Ask a scene what a ray or a moving shape meets, what overlaps a shape, what is nearest.
    Query(Box<QueryArgs>),
    /// Watch, inspect and question a simulation in the browser.
    View(ViewArgs),
    /// Draw pictures or a short film of a scene, without a display.
    Render(RenderArgs),
    /// Write the numbers of a recording as CSV files.
    Export(ExportArgs),
}

/// Flags of `tippe run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scene file, TOML or JSON.
    pub scene: PathBuf,
    /// Method that answers contacts, instead of the scene's.
    #[arg(long, value_name = "M")]
    pub method: Option<String>,
    /// Time to simulate [s], instead of the scene's.
    #[arg(long, value_name = "T", value_parser = parse_time, allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// Step length [s], such as 0.001 or 1/60, instead of the scene's.
    #[arg(long, value_name = "H", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub dt: Option<f64>,
    /// Threads to use, 1 if not given; results never depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Folder for recording.tippe, summary.json and report.html; made if missing, refused if it has them already.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Folder for CSV files of all states, readings and contacts at the record rate; made if missing.
    #[arg(long, value_name = "DIR")]
    pub csv: Option<PathBuf>,
    /// Take older results out of that folder first.
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print the summary as one JSON object and nothing else on standard output.
    #[arg(long)]
    pub json: bool,
    /// Write the scene with all defaults to standard output and stop.
    #[arg(long, conflicts_with_all = ["json", "out", "picture", "csv"])]
    pub explain: bool,
    /// Put a value into the scene by path, in place of the file's: body.block.mass=2, parameters.radius=0.1, method.name=iterative.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Let the scene include files outside its own folder.
    #[arg(long)]
    pub allow_outside: bool,
    /// Draw the bodies into an SVG file.
    #[arg(long, value_name = "FILE.svg")]
    pub picture: Option<PathBuf>,
    /// Time of that picture [s]; the end of the run if not given.
    #[arg(long, value_name = "T", requires = "picture", value_parser = parse_time)]
    pub picture_time: Option<f64>,
    /// Folder for the islands that the solver's core was given, one text file each; made if missing.
    #[arg(long, value_name = "DIR")]
    pub record_islands: Option<PathBuf>,
    /// Only islands whose solve took more multiply-adds than this.
    #[arg(
        long,
        value_name = "N",
        requires = "record_islands",
        default_value_t = 0
    )]
    pub slower_than: u64,
}

/// Flags of `tippe check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Scene file, TOML or JSON.
    pub scene: PathBuf,
    /// Put a value into the scene by path, in place of the file's: body.block.mass=2, parameters.radius=0.1, method.name=iterative.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Let the scene include files outside its own folder.
    #[arg(long)]
    pub allow_outside: bool,
}

/// Flags of `tippe assemble`.
#[derive(Debug, Args)]
pub struct AssembleArgs {
    /// Scene file, TOML or JSON.
    pub scene: PathBuf,
    /// File for the assembled scene, with all defaults; nothing is written if the mates contradict each other.
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
    /// Print the report as one JSON object, with a sample of every free motion.
    #[arg(long)]
    pub json: bool,
    /// Put a value into the scene by path, in place of the file's: body.block.mass=2, parameters.radius=0.1, method.name=iterative.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Let the scene include files outside its own folder.
    #[arg(long)]
    pub allow_outside: bool,
}

/// Flags of `tippe validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Cases to run, such as F01,F13; all if not given, `none` for the studies alone.
    #[arg(long = "case", value_name = "ID,…", value_delimiter = ',')]
    pub cases: Vec<String>,
    /// Methods to run; all of this version if not given.
    #[arg(long = "method", value_name = "M,…", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// How joints are held.
    #[arg(long, value_enum, default_value = "all")]
    pub form: FormArg,
    /// Step lengths [s].
    #[arg(long, value_name = "H,…", value_delimiter = ',', value_parser = parse_seconds, default_value = "0.001,1/60")]
    pub dt: Vec<f64>,
    /// Every case, method and form at 1/60 s alone: a few minutes at most.
    #[arg(long, conflicts_with = "dt")]
    pub quick: bool,
    /// Misses that are known, with their reason, do not count for the exit code; new ones do.
    #[arg(long)]
    pub allow_known: bool,
    /// Studies after the cases, none as a rule; all with `--doc`.
    #[arg(long, value_enum, value_name = "S,…", value_delimiter = ',')]
    pub study: Vec<StudyArg>,
    /// Folder for report.html, one page with tables, plots and pictures; made if missing.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the page of all results as Markdown; this is how docs/fidelity.md is made.
    #[arg(long, value_name = "FILE.md")]
    pub doc: Option<PathBuf>,
    /// Folder of data measured by others, which is not part of Tippe; looked for beside the repository if not given. Cases that need it are reported as not run without it.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Print one JSON object per row and nothing else on standard output.
    #[arg(long)]
    pub json: bool,
}

/// How jointed bodies are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormArg {
    /// Both, one after the other.
    All,
    /// Every body with its six coordinates, joints by impulses.
    Maximal,
    /// Trees of bodies in joint coordinates.
    Articulated,
    /// The same trees, adaptive with a budget of all their joints.
    Adaptive,
}

/// Studies of `tippe validate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum StudyArg {
    /// Error against step for parts with a clear order.
    Convergence,
    /// The scenes of SimBenchmark with its error measures.
    Simbenchmark,
    /// Error against CPU time for five scenes.
    Cost,
    /// The best fits found for the measured cube tosses.
    Tosses,
    /// No study, with `--doc` too.
    None,
}

/// A time that may be zero.
pub fn parse_time(text: &str) -> Result<f64, String> {
    if text.trim().parse() == Ok(0.0) {
        Ok(0.0)
    } else {
        parse_seconds(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn flags_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn step_lengths_may_be_fractions_and_lists() {
        let Command::Validate(v) = Cli::try_parse_from(["tippe", "validate", "--case", "F01,F02"])
            .unwrap()
            .command
        else {
            panic!()
        };
        assert_eq!(
            (v.dt, v.cases),
            (
                vec![0.001, 1.0 / 60.0],
                vec!["F01".to_string(), "F02".to_string()]
            )
        );
        let Command::Run(r) = Cli::try_parse_from(["tippe", "run", "a.toml", "--dt", "1/240"])
            .unwrap()
            .command
        else {
            panic!()
        };
        assert_eq!(r.dt, Some(1.0 / 240.0));
        for bad in [
            ["--dt", "0"],
            ["--dt", "-1"],
            ["--seconds", "nan"],
            ["--threads", "0"],
            ["--picture-time", "1"],
        ] {
            assert!(
                Cli::try_parse_from(["tippe", "run", "a.toml"].into_iter().chain(bad)).is_err(),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn commands_that_do_not_exist_are_refused() {
        assert_eq!(
            Cli::try_parse_from(["tippe", "solve"])
                .unwrap_err()
                .exit_code(),
            2
        );
    }
}
