//! F28: recorded one-step contact problems, solved by the public solver and judged by the natural map.
//!
//! Reads: `fclib/*.txt` in the folder of measured data.  Writes: nothing.
//! Called by: `run`.
//! Source: \[FCLIB], \[Acary08].

use std::path::{Path, PathBuf};

use tippe::Vec3;
use tippe::dynamics::one_step::{ContactProblem, Solution, SolveParams};

use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::support::Feature;

/// One-step contact problems.
pub const F28: Case = Case {
    id: "F28",
    name: "one-step solve",
    source: "[FCLIB]",
    trials: &[Trial {
        parts: &[Part {
            name: "residual",
            measure: "natural-map residual, worst file [1]",
            tolerance: Tolerance::Constant(1e-8),
            reason: "a solver's answer, not a step's",
        }],
        needs: &[Feature::ContactProblems],
        run: residual,
    }],
};

/// The problems inside a folder of measured data, by name.
#[must_use]
pub fn files(data: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(data.join("fclib")).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "txt"))
        .collect();
    files.sort();
    files
}

/// The numbers of a contact problem as its file has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// μ of each contact [1].
    pub friction: Vec<f64>,
    /// Free velocities, three for each contact: normal, tangent 1, tangent 2 [m/s].
    pub q: Vec<f64>,
    /// Entries of W: row, column, value, and the line they stand on.
    pub entries: Vec<(usize, usize, f64, usize)>,
}

/// Reads `contacts n`, `mu …`, `q …` and lines `W row column value`; anything after `#` is a remark.
///
/// # Errors
/// The line, from 1, and what is wrong with it; a word that is missing is told of the last line.
pub fn numbers(text: &str) -> Result<Numbers, (usize, String)> {
    let (mut contacts, mut mu, mut q) = (None, None, None);
    let mut entries = Vec::new();
    let mut line = 0;
    for words in text.lines() {
        line += 1;
        let fault = |reason: String| (line, reason);
        let mut words = words
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let Some(key) = words.next() else { continue };
        let number = |w: &str| match w.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(fault(format!("`{w}` is no finite number"))),
        };
        let index = |w: Option<&str>| {
            w.and_then(|w| w.parse::<usize>().ok())
                .ok_or_else(|| fault(format!("`{key}` needs whole numbers")))
        };
        match key {
            "contacts" => contacts = Some(index(words.next())?),
            "mu" => mu = Some((line, words.map(number).collect::<Result<Vec<f64>, _>>()?)),
            "q" => q = Some((line, words.map(number).collect::<Result<Vec<f64>, _>>()?)),
            "W" => {
                let (row, column) = (index(words.next())?, index(words.next())?);
                entries.push((row, column, number(words.next().unwrap_or_default())?, line));
            }
            // A stored answer is not needed: ours is judged by the problem itself.
            "r" => {}
            _ => return Err(fault(format!("unknown word `{key}`"))),
        }
    }
    let n = contacts.ok_or((line, "no line `contacts`".to_owned()))?;
    let check = |found: Option<(usize, Vec<f64>)>, key: &str, count: Option<usize>| {
        let (at, found) = found.unwrap_or((line, Vec::new()));
        if Some(found.len()) == count {
            Ok(found)
        } else {
            Err((
                at,
                format!(
                    "{n} contacts need {} numbers in `{key}`, got {}",
                    count.unwrap_or(usize::MAX),
                    found.len()
                ),
            ))
        }
    };
    let friction = check(mu, "mu", Some(n))?;
    let q = check(q, "q", n.checked_mul(3))?;
    if let Some((row, column, _, at)) = entries.iter().find(|e| e.0.max(e.1) >= 3 * n) {
        return Err((
            *at,
            format!("W[{row}, {column}] is outside a matrix of {} rows", 3 * n),
        ));
    }
    Ok(Numbers {
        friction,
        q,
        entries,
    })
}

/// The problem of a text.
///
/// # Errors
/// The line and what is wrong with it.
pub fn read(text: &str) -> Result<ContactProblem, String> {
    let Numbers {
        friction,
        q,
        entries,
    } = numbers(text).map_err(|(line, reason)| format!("line {line}: {reason}"))?;
    let q = q.chunks_exact(3).map(Vec3::from_slice).collect();
    let entries = entries
        .into_iter()
        .map(|(row, column, value, _)| (row, column, value));
    ContactProblem::new(friction, q, entries).map_err(|e| e.to_string())
}

/// Solves the problem of a file.
///
/// # Errors
/// The file cannot be read, or is no problem.
pub fn solve(path: &Path) -> Result<Solution, Stopped> {
    let stop = |e: String| Stopped::new(format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| stop(e.to_string()))?;
    Ok(read(&text).map_err(stop)?.solve(&SolveParams::default()))
}

fn residual(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let data = setup
        .data
        .as_deref()
        .ok_or_else(|| Stopped::new("no folder of data"))?;
    let mut worst = 0.0f64;
    for path in files(data) {
        worst = worst.max(solve(&path)?.residuals.natural);
    }
    Ok(vec![Value::from(worst)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# a remark\ncontacts 1\nmu 0.5\nq -1 2 0\nW 0 0 1\nW 1 1 1\nW 2 2 1\n";

    #[test]
    fn files_are_read() {
        let found = read(GOOD).unwrap().solve(&SolveParams::default());
        // The normal impulse 1 stops the approach; friction takes 0.5 of the slip.
        assert!((found.impulses[0] - Vec3::new(1.0, -0.5, 0.0)).length() < 1e-10);
    }

    #[test]
    fn broken_files_are_told() {
        let told = |from: &str, to: &str| read(&GOOD.replacen(from, to, 1)).unwrap_err();
        assert!(told("contacts 1", "").contains("contacts"));
        assert!(told("mu 0.5", "mu x").contains("line 3"));
        assert!(told("q -1 2 0", "q -1 2").contains("3 numbers in `q`"));
        assert!(told("W 0 0 1", "W 0 x 1").contains("line 5"));
        assert!(told("W 0 0 1", "W 0 9 1").contains("W[0, 9]"));
        assert!(told("W 0 0", "V 0 0").contains("unknown word"));
    }
}
