//! Complementarity problems of moderate size, by four kernels with one problem type and one result type.
//!
//! Reads: a problem.  Writes: a solution with its residual and why the search ended.
//! Called by: users, `tippe lcp`.
//! Source: \[Cottle92] for the theory; each kernel names its own. docs/lcp.md says which kernel suits what.
//! Letters: w = A f + b with 0 ≤ f ⊥ w ≥ 0 and the other kinds of rows in `problem`.
//!
//! ```
//! use tippe::math::lcp::{End, Kernel, Params, Problem, solve};
//!
//! let problem = Problem::one_sided(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, 6.0])?;
//! let found = solve(Kernel::Dantzig, &problem, &Params::default(), None);
//! assert_eq!(found.end, End::Solved);
//! assert_eq!((found.f, found.w), (vec![2.5, 0.0], vec![0.0, 8.5]));
//! # Ok::<(), tippe::BuildError>(())
//! ```

mod acceleration;
mod bounds;
mod dantzig;
mod factor;
mod gauss_seidel;
mod lemke;
mod principal;
mod problem;
mod scale;
mod states;

pub use problem::{Problem, Row};

/// Ways of solving a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kernel {
    /// Complementary pivoting with an artificial variable and a lexicographic ratio test.
    Lemke,
    /// Rows one after the other, each driven to its condition while the rows before keep theirs.
    Dantzig,
    /// Blocks of rows exchanged at once, single rows where that does not converge.
    Principal,
    /// Projected sweeps with acceleration; the only one for round cones, and it may be interrupted.
    GaussSeidel,
}

impl Kernel {
    /// All of them, in the order in which tables list them.
    pub const ALL: [Self; 4] = [
        Self::Lemke,
        Self::Dantzig,
        Self::Principal,
        Self::GaussSeidel,
    ];

    /// Name in commands and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lemke => "lemke",
            Self::Dantzig => "dantzig",
            Self::Principal => "principal",
            Self::GaussSeidel => "gauss-seidel",
        }
    }

    /// Why this kernel cannot take the problem; `None` if it can.
    #[must_use]
    pub fn refuses(self, problem: &Problem) -> Option<&'static str> {
        let round = problem
            .rows()
            .iter()
            .any(|r| matches!(r, Row::Cone { coefficient, .. } if *coefficient > 0.0));
        (round && self != Self::GaussSeidel).then_some(
            "a round friction cone is not polyhedral; pivoting needs planar rows or a pyramid",
        )
    }
}

/// When a search ends. Budgets are counts, so that the same input always gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Residual at which a problem counts as solved, as [`Problem::residual`] measures it [1].
    pub tolerance: f64,
    /// Most pivots of a pivoting kernel; `None` is 50 for each row and 100 more.
    pub pivots: Option<u32>,
    /// Most sweeps of Gauss–Seidel, steps of its acceleration included.
    pub sweeps: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            tolerance: 1e-11,
            pivots: None,
            sweeps: 20_000,
        }
    }
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The residual is within the tolerance.
    Solved,
    /// There is no solution, proved by this direction: see [`Problem::certifies`].
    Infeasible(Vec<f64>),
    /// The search ran off along a ray that proves nothing: the matrix is outside the class for which the kernel decides.
    Ray,
    /// States of the rows came back without progress.
    Cycling,
    /// The budget of pivots or sweeps is used up; f is inside its bounds all the same.
    Limit,
    /// The search ended, but rounding of a nearly singular system keeps the residual above the tolerance.
    Singular,
    /// This kernel does not take such rows.
    NotApplicable(&'static str),
}

impl End {
    /// One word for tables.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Infeasible(_) => "infeasible",
            Self::Ray => "ray",
            Self::Cycling => "cycling",
            Self::Limit => "limit",
            Self::Singular => "singular",
            Self::NotApplicable(_) => "not applicable",
        }
    }
}

/// What a kernel found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Forces or impulses, always finite and inside their bounds; the best the kernel saw.
    pub f: Vec<f64>,
    /// w = A f + b.
    pub w: Vec<f64>,
    /// [`Problem::residual`] of f [1].
    pub residual: f64,
    /// Exchanges of rows between their states; a block counts its rows.
    pub pivots: u32,
    /// Sweeps over all rows, steps of the acceleration included.
    pub sweeps: u32,
    /// Why the search ended.
    pub end: End,
}

/// What a kernel hands back, in scaled units; f may lie outside its bounds by rounding.
struct Found {
    f: Vec<f64>,
    /// What the kernel believes; `solve` judges.
    end: End,
    pivots: u32,
    sweeps: u32,
}

/// Solves `problem` by `kernel`, from `start` where the kernel can use it (Gauss–Seidel).
///
/// # Panics
/// `start` has not one number for each row.
#[must_use]
pub fn solve(
    kernel: Kernel,
    problem: &Problem,
    params: &Params,
    start: Option<&[f64]>,
) -> Solution {
    assert!(
        start.is_none_or(|s| s.len() == problem.len()),
        "one number for each row"
    );
    if let Some(reason) = kernel.refuses(problem) {
        return rest(problem, End::NotApplicable(reason));
    }
    let scale = scale::Scale::of(problem);
    let Some(scaled) = scale.apply(problem) else {
        return rest(problem, End::Singular);
    };
    let start = start.map(|f| scale.down(f));
    let found = match kernel {
        Kernel::Lemke => lemke::solve(&scaled, params),
        Kernel::Dantzig => dantzig::solve(&scaled, params),
        Kernel::Principal => principal::solve(&scaled, params),
        Kernel::GaussSeidel => gauss_seidel::solve(&scaled, params, start),
    };
    judge(problem, &scale, &scaled, params, found)
}

/// Brings f into its bounds, measures it, and corrects what the kernel believed.
fn judge(
    problem: &Problem,
    scale: &scale::Scale,
    scaled: &Problem,
    params: &Params,
    found: Found,
) -> Solution {
    let Found {
        mut f,
        mut end,
        pivots,
        sweeps,
    } = found;
    scaled.clamp(&mut f);
    let residual = scaled.natural(&f);
    let solved = residual <= params.tolerance.max(scaled.rounding(&f));
    end = match end {
        End::Infeasible(ray) => End::Infeasible(scale.direction_up(&ray)),
        _ if solved => End::Solved,
        End::Solved => End::Singular,
        other => other,
    };
    let f = scale.up(&f);
    let w = problem.w(&f);
    if !f.iter().chain(&w).all(|x| x.is_finite()) {
        return Solution {
            pivots,
            sweeps,
            ..rest(problem, End::Singular)
        };
    }
    Solution {
        f,
        w,
        residual,
        pivots,
        sweeps,
        end,
    }
}

/// The answer without forces, for problems that no search was begun for.
fn rest(problem: &Problem, end: End) -> Solution {
    let mut f = vec![0.0; problem.len()];
    problem.clamp(&mut f);
    let w = problem.w(&f);
    Solution {
        residual: problem.residual(&f),
        f,
        w,
        pivots: 0,
        sweeps: 0,
        end,
    }
}
