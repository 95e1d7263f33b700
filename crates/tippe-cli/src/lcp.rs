//! `tippe lcp`: one complementarity problem from a file, by every kernel that takes it.
//!
//! Reads: a file.  Writes: a table or one JSON object.
//! Called by: `main`.
//! Source: the kernels are `tippe::math::lcp`; docs/lcp.md has the two formats.

mod read;
mod table;

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use cpu_time::ThreadTime;
use tippe::Vec3;
use tippe::dynamics::one_step::{Residuals, SolveParams};
use tippe::math::lcp::{End, Kernel, Params, Problem, Solution, solve};

use crate::Outcome;
use crate::output::{note, out};
use read::File;

/// Flags of `tippe lcp`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1 if a kernel that takes the problem neither solves it nor proves that it has no solution.

Examples:
  tippe lcp problem.txt
  tippe lcp contacts.txt --pyramid --kernel lemke,dantzig --json"
)]
pub struct LcpArgs {
    /// File with a contact problem (`contacts`, `mu`, `q`, `W`) or a plain one (`rows`, `A`, `b`); docs/lcp.md has both.
    file: PathBuf,
    /// Kernels; all if not given.
    #[arg(long, value_enum, value_name = "K,…", value_delimiter = ',')]
    kernel: Vec<KernelArg>,
    /// Replace round friction cones by pyramids of four sides, which pivoting kernels can take.
    #[arg(long)]
    pyramid: bool,
    /// Most sweeps of Gauss–Seidel.
    #[arg(long, value_name = "N", default_value_t = Params::default().sweeps)]
    sweeps: u32,
    /// Most pivots of the other kernels; 50 for each row and 100 more if not given.
    #[arg(long, value_name = "N")]
    pivots: Option<u32>,
    /// Print one JSON object with all forces, and nothing else on standard output.
    #[arg(long)]
    json: bool,
}

/// Kernels by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KernelArg {
    /// Complementary pivoting, lexicographic.
    Lemke,
    /// Dantzig's method as Baraff uses it.
    Dantzig,
    /// Block principal pivoting.
    Principal,
    /// Projected sweeps with acceleration.
    GaussSeidel,
    /// The solver of one-step contact problems; for files with `contacts` alone.
    OneStep,
}

impl KernelArg {
    const ALL: [Self; 5] = [
        Self::Lemke,
        Self::Dantzig,
        Self::Principal,
        Self::GaussSeidel,
        Self::OneStep,
    ];

    fn kernel(self) -> Option<Kernel> {
        match self {
            Self::Lemke => Some(Kernel::Lemke),
            Self::Dantzig => Some(Kernel::Dantzig),
            Self::Principal => Some(Kernel::Principal),
            Self::GaussSeidel => Some(Kernel::GaussSeidel),
            Self::OneStep => None,
        }
    }
}

/// What one kernel found.
struct Line {
    kernel: &'static str,
    solution: Solution,
    /// Residuals of the literature, where the file is a contact problem with round cones.
    contact: Option<Residuals>,
    /// Processor time [s].
    seconds: f64,
}

/// Reads, solves, prints.
///
/// # Errors
/// The reader of our output went away.
pub fn lcp(args: &LcpArgs) -> Result<Outcome> {
    let name = args.file.display();
    let text = match fs::read_to_string(&args.file) {
        Ok(text) => text,
        Err(e) => {
            note(&format!("error: {name}: {e}"));
            return Ok(Outcome::BadInput);
        }
    };
    let file = match read::read(&text) {
        Ok(file) => file,
        Err((line, reason)) => {
            note(&format!("error: {name}:{line}: {reason}"));
            return Ok(Outcome::BadInput);
        }
    };
    let problem = if args.pyramid {
        file.problem.pyramid()
    } else {
        file.problem.clone()
    };
    let lines = lines(args, &file, &problem);
    if lines
        .iter()
        .all(|l| matches!(l.solution.end, End::NotApplicable(_)))
    {
        let reasons = lines.iter().filter_map(|l| match l.solution.end {
            End::NotApplicable(reason) => Some(format!("{}: {reason}", l.kernel)),
            _ => None,
        });
        note(&format!(
            "error: {name}: {}",
            reasons.collect::<Vec<_>>().join("; ")
        ));
        return Ok(Outcome::BadInput);
    }
    out(&if args.json {
        table::json(&args.file, &file, &problem, &lines)
    } else {
        table::text(&args.file, &problem, &lines)
    })?;
    let decided = |l: &Line| {
        matches!(
            l.solution.end,
            End::Solved | End::Infeasible(_) | End::NotApplicable(_)
        )
    };
    Ok(if lines.iter().all(decided) {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

fn lines(args: &LcpArgs, file: &File, problem: &Problem) -> Vec<Line> {
    let params = Params {
        sweeps: args.sweeps,
        pivots: args.pivots,
        ..Params::default()
    };
    let wanted = if args.kernel.is_empty() {
        &KernelArg::ALL[..]
    } else {
        &args.kernel
    };
    let mut lines = Vec::new();
    for kernel in wanted {
        let start = ThreadTime::now();
        let (name, solution) = match kernel.kernel() {
            Some(kernel) => (kernel.name(), solve(kernel, problem, &params, None)),
            // Not listed for files it has nothing to do with, unless asked for.
            None if file.contacts.is_none() && args.kernel.is_empty() => continue,
            None => ("one-step", one_step(file, problem, args.pyramid)),
        };
        let seconds = start.elapsed().as_secs_f64();
        let contact = file.contacts.as_ref().filter(|_| !args.pyramid);
        let contact = contact.map(|c| c.residuals(&vectors(&solution.f)));
        lines.push(Line {
            kernel: name,
            contact,
            solution,
            seconds,
        });
    }
    lines
}

fn vectors(f: &[f64]) -> Vec<Vec3> {
    f.chunks_exact(3).map(Vec3::from_slice).collect()
}

/// The solver of one-step problems, in the words of the kernels.
fn one_step(file: &File, problem: &Problem, pyramid: bool) -> Solution {
    let n = problem.len();
    let refuse = |reason| Solution {
        f: vec![0.0; n],
        w: problem.b().to_vec(),
        residual: problem.residual(&vec![0.0; n]),
        pivots: 0,
        sweeps: 0,
        end: End::NotApplicable(reason),
    };
    match &file.contacts {
        None => refuse("solves contact problems alone, files with `contacts`"),
        Some(_) if pyramid => refuse("solves round cones alone"),
        Some(contacts) => {
            let found = contacts.solve(&SolveParams::default());
            let f: Vec<f64> = found.impulses.iter().flat_map(|r| r.to_array()).collect();
            Solution {
                w: problem.w(&f),
                residual: problem.residual(&f),
                f,
                pivots: found.newton_steps,
                sweeps: found.sweeps,
                end: if found.capped {
                    End::Limit
                } else {
                    End::Solved
                },
            }
        }
    }
}
