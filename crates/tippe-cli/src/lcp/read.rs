//! The two text formats of `tippe lcp`.
//!
//! Reads: text.  Writes: a problem, or the line that is wrong and why.
//! Called by: `lcp`.
//! Source: docs/lcp.md; contact problems are read by `tippe_validate::cases::one_step`, as F28 reads them.

#![allow(non_snake_case)]

use tippe::Vec3;
use tippe::dynamics::one_step::ContactProblem;
use tippe::math::lcp::{Problem, Row};
use tippe_validate::cases::one_step::{Numbers, numbers};

/// What is wrong, and on which line, from 1.
pub type Fault = (usize, String);

/// Most rows of a dense matrix that a file may ask for.
const ROWS_MAX: usize = 6000;

/// What a file holds.
pub struct File {
    /// The problem, with round cones if it is one of contacts.
    pub problem: Problem,
    /// The same as the literature states it, if it is one of contacts.
    pub contacts: Option<ContactProblem>,
}

/// Reads either format; the first word decides.
///
/// # Errors
/// The line and what is wrong with it.
pub fn read(text: &str) -> Result<File, Fault> {
    match words(text).next() {
        Some((_, found)) if found[0] == "rows" => plain(text),
        Some((line, found)) if !["contacts", "mu", "q", "W", "r"].contains(&found[0]) => {
            let reason = format!(
                "begins with `{}`; a file begins with `rows` or `contacts`",
                found[0]
            );
            Err((line, reason))
        }
        Some(_) => contacts(text),
        None => Err((
            1,
            "is empty; a file begins with `rows` or `contacts`".into(),
        )),
    }
}

/// Lines that say something, with their numbers.
fn words(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    text.lines().enumerate().filter_map(|(i, line)| {
        let found: Vec<&str> = line
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        (!found.is_empty()).then_some((i + 1, found))
    })
}

fn contacts(text: &str) -> Result<File, Fault> {
    let Numbers {
        friction,
        q,
        entries,
    } = numbers(text)?;
    let n = q.len();
    let last = text.lines().count().max(1);
    if n > ROWS_MAX {
        return Err((last, format!("{n} rows; at most {ROWS_MAX} are solved")));
    }
    let mut A = vec![0.0; n * n];
    for &(row, column, value, _) in &entries {
        A[row * n + column] += value;
    }
    let rows = (0..n).map(|i| match i % 3 {
        0 => Row::OneSided,
        1 => Row::Cone {
            normal: i - 1,
            coefficient: friction[i / 3],
        },
        _ => Row::ConeSecond,
    });
    let whole = |e: tippe::BuildError| (last, e.to_string());
    let problem = Problem::new(A, q.clone(), rows.collect()).map_err(whole)?;
    let q = q.chunks_exact(3).map(Vec3::from_slice).collect();
    let entries = entries.iter().map(|e| (e.0, e.1, e.2));
    let contacts = ContactProblem::new(friction, q, entries).map_err(whole)?;
    Ok(File {
        problem,
        contacts: Some(contacts),
    })
}

fn number(line: usize, word: &str) -> Result<f64, Fault> {
    match word.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err((line, format!("`{word}` is no finite number"))),
    }
}

fn index(line: usize, word: &str, n: usize) -> Result<usize, Fault> {
    match word.parse::<usize>() {
        Ok(i) if i < n => Ok(i),
        Ok(i) => Err((
            line,
            format!("there is no row {i}; rows are 0 to {}", n.saturating_sub(1)),
        )),
        Err(_) => Err((line, format!("`{word}` is no row"))),
    }
}

fn plain(text: &str) -> Result<File, Fault> {
    let mut lines = words(text);
    let last = text.lines().count().max(1);
    let Some((at, first)) = lines.next() else {
        return Err((1, "is empty".into()));
    };
    let n = match first[1..] {
        [n] => n
            .parse::<usize>()
            .map_err(|_| (at, format!("`{n}` is no number of rows")))?,
        _ => return Err((at, "`rows` needs one number".into())),
    };
    if n > ROWS_MAX {
        return Err((at, format!("{n} rows; at most {ROWS_MAX} are solved")));
    }
    let (mut A, mut b) = (Vec::with_capacity(n * n), None);
    let mut kinds: Vec<(Row, usize)> = vec![(Row::OneSided, 0); n];
    for (line, found) in lines {
        let numbers = || {
            found[1..]
                .iter()
                .map(|w| number(line, w))
                .collect::<Result<Vec<f64>, _>>()
        };
        let exactly = |count: usize| match found.len() - 1 {
            k if k == count => Ok(()),
            k => Err((
                line,
                format!("`{}` needs {count} numbers, got {k}", found[0]),
            )),
        };
        match found[0] {
            "A" if A.len() >= n * n && n > 0 => {
                return Err((line, format!("`A` has more than {n} rows")));
            }
            "A" => {
                exactly(n)?;
                A.extend(numbers()?);
            }
            "b" if b.is_some() => return Err((line, "`b` is given twice".into())),
            "b" => {
                exactly(n)?;
                b = Some(numbers()?);
            }
            _ => kind(line, &found, n, &mut kinds)?,
        }
    }
    if A.len() != n * n {
        let have = A.len() / n.max(1);
        return Err((last, format!("{have} lines `A`; {n} rows need {n}")));
    }
    let b = match b {
        Some(b) => b,
        None if n == 0 => Vec::new(),
        None => return Err((last, "no line `b`".into())),
    };
    let rows = kinds.iter().map(|k| k.0).collect();
    let problem = Problem::new(A, b, rows).map_err(|e| {
        // A kind that does not fit is told where it was given.
        let row = e
            .field
            .strip_prefix("rows[")
            .and_then(|s| s.strip_suffix(']'));
        let line = row
            .and_then(|s| s.parse::<usize>().ok())
            .map_or(last, |i| kinds[i].1);
        (line.max(1), e.to_string())
    })?;
    Ok(File {
        problem,
        contacts: None,
    })
}

/// A line that gives a row its kind.
fn kind(line: usize, found: &[&str], n: usize, kinds: &mut [(Row, usize)]) -> Result<(), Fault> {
    let mut set = |row: usize, kind: Row| {
        let place = kinds
            .get_mut(row)
            .ok_or((line, format!("there is no row {row}")))?;
        if place.1 > 0 {
            return Err((
                line,
                format!("row {row} already has a kind, from line {}", place.1),
            ));
        }
        *place = (kind, line);
        Ok(())
    };
    let friction = || -> Result<(usize, usize, f64), Fault> {
        match found[1..] {
            [normal, row, value] => Ok((
                index(line, normal, n)?,
                index(line, row, n)?,
                number(line, value)?,
            )),
            _ => Err((
                line,
                format!("`{}` needs a normal row, a row and a number", found[0]),
            )),
        }
    };
    match found[0] {
        "free" => {
            for word in &found[1..] {
                set(index(line, word, n)?, Row::Free)?;
            }
        }
        "box" => match found[1..] {
            [row, low, high] => {
                let (low, high) = (number(line, low)?, number(line, high)?);
                set(index(line, row, n)?, Row::Box { low, high })?;
            }
            _ => {
                return Err((
                    line,
                    "`box` needs a row, its least and its greatest f".into(),
                ));
            }
        },
        "planar" => {
            let (normal, row, coefficient) = friction()?;
            set(
                row,
                Row::Planar {
                    normal,
                    coefficient,
                },
            )?;
        }
        "sliding" => {
            let (normal, row, ratio) = friction()?;
            set(row, Row::Sliding { normal, ratio })?;
        }
        "cone" => {
            let (normal, row, coefficient) = friction()?;
            set(
                row,
                Row::Cone {
                    normal,
                    coefficient,
                },
            )?;
            set(row + 1, Row::ConeSecond)?;
        }
        other => return Err((line, format!("unknown word `{other}`"))),
    }
    Ok(())
}
