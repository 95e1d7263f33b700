//! Rank of sparse rows: elimination body by body, with the rows that hold nothing more and the columns that nothing holds.
//!
//! Reads: rows over bodies of six columns.  Writes: nothing but itself.
//! Called by: `diagnosis`, `weaker`.
//! Source: multifrontal elimination, [GeorgeLiu81] ch. 5, with the pivots of one body chosen among all rows that reach it. Rows have
//! length one at the start, so that a pivot measures how far a row is from the ones before it.

use super::rows::Row;
use crate::math::block_pattern::Pattern;
use std::collections::BTreeMap;

/// Part of its length below which a row counts as dependent on others [1].
pub(crate) const DEPENDENT: f64 = 1e-8;
/// Part of the largest pivot that a row of an earlier mate may have and still be preferred [1].
const PREFERRED: f64 = 0.3;

/// A row in elimination: entries by position of the body, six each.
#[derive(Clone, Debug)]
struct Line {
    /// Which row it was.
    row: usize,
    entries: BTreeMap<u32, [f64; 6]>,
}

/// A row that holds a coordinate.
#[derive(Clone, Debug)]
struct Pivot {
    position: u32,
    column: usize,
    entries: BTreeMap<u32, [f64; 6]>,
}

/// Rows brought to echelon form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Echelon {
    pivots: Vec<Pivot>,
    /// Positions of bodies and their order.
    node: Vec<u32>,
    /// Coordinates that nothing holds: position and column.
    pub free: Vec<(u32, usize)>,
    /// Rows that hold nothing more, by their place among the rows.
    pub surplus: Vec<usize>,
}

impl Echelon {
    /// Eliminates the rows over `bodies` bodies; `fixed` is a body whose motion does not count.
    pub(crate) fn new(bodies: usize, rows: &[Row], fixed: Option<u32>) -> Self {
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for row in rows {
            for (i, (a, _)) in row.parts.iter().enumerate() {
                edges.extend(row.parts[..i].iter().map(|(b, _)| (*b.min(a), *b.max(a))));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut pattern = Pattern::default();
        let kept = pattern.analyse(bodies, edges.iter().copied(), u64::MAX);
        debug_assert!(kept, "without a limit");
        let mut waiting: Vec<Vec<Line>> = vec![Vec::new(); bodies];
        let mut out = Self {
            node: pattern.node.clone(),
            ..Self::default()
        };
        for (i, row) in rows.iter().enumerate() {
            let moving = row.parts.iter().filter(|(n, _)| Some(*n) != fixed);
            let mut line = Line {
                row: i,
                entries: moving
                    .map(|(n, part)| (pattern.position[*n as usize], *part))
                    .collect(),
            };
            let length = line
                .entries
                .values()
                .flatten()
                .map(|x| x * x)
                .sum::<f64>()
                .sqrt();
            line.entries
                .values_mut()
                .flatten()
                .for_each(|x| *x /= length);
            out.wait(line, length > 0.0, &mut waiting);
        }
        for position in 0..bodies as u32 {
            let lines = std::mem::take(&mut waiting[position as usize]);
            let counts = fixed.is_none_or(|f| pattern.position[f as usize] != position);
            out.eliminate(position, counts, lines, &mut waiting);
        }
        out.surplus.sort_unstable();
        out
    }

    pub(crate) const fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Puts a line where its first body is eliminated; one without entries holds nothing.
    fn wait(&mut self, mut line: Line, exists: bool, waiting: &mut [Vec<Line>]) {
        line.entries
            .retain(|_, x| exists && x.iter().any(|x| x.abs() > DEPENDENT * 1e-4));
        let size = line
            .entries
            .values()
            .flatten()
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        match line.entries.keys().next() {
            Some(&first) if size > DEPENDENT => waiting[first as usize].push(line),
            _ => self.surplus.push(line.row),
        }
    }

    /// Eliminates the six columns of a body.
    fn eliminate(
        &mut self,
        position: u32,
        counts: bool,
        mut lines: Vec<Line>,
        waiting: &mut [Vec<Line>],
    ) {
        let mut open = [true; 6];
        loop {
            let mut largest: f64 = 0.0;
            for line in &lines {
                let Some(x) = line.entries.get(&position) else {
                    continue;
                };
                largest = (0..6)
                    .filter(|&k| open[k])
                    .fold(largest, |m, k| m.max(x[k].abs()));
            }
            if largest <= DEPENDENT {
                break;
            }
            let Some((at, column)) = choose(&lines, position, &open, largest) else {
                break;
            };
            let pivot = lines.swap_remove(at);
            open[column] = false;
            let top = pivot.entries[&position][column];
            for line in &mut lines {
                let factor = line.entries.get(&position).map_or(0.0, |x| x[column]) / top;
                if factor == 0.0 {
                    continue;
                }
                for (&place, part) in &pivot.entries {
                    let there = line.entries.entry(place).or_insert([0.0; 6]);
                    there
                        .iter_mut()
                        .zip(part)
                        .for_each(|(x, y)| *x -= factor * y);
                }
                if let Some(x) = line.entries.get_mut(&position) {
                    x[column] = 0.0;
                }
            }
            self.pivots.push(Pivot {
                position,
                column,
                entries: pivot.entries,
            });
        }
        if counts {
            self.free
                .extend((0..6).filter(|&k| open[k]).map(|k| (position, k)));
        }
        for mut line in lines {
            line.entries.remove(&position);
            self.wait(line, true, waiting);
        }
    }

    /// The motion that moves the free coordinate `k` by one and no other free one: ξ by body number.
    pub(crate) fn motion(&self, k: usize) -> Vec<[f64; 6]> {
        let mut x = vec![[0.0; 6]; self.node.len()];
        let (position, column) = self.free[k];
        x[position as usize][column] = 1.0;
        for pivot in self.pivots.iter().rev() {
            let mut sum = 0.0;
            for (&place, part) in &pivot.entries {
                for c in 0..6 {
                    if (place, c) != (pivot.position, pivot.column) {
                        sum += part[c] * x[place as usize][c];
                    }
                }
            }
            x[pivot.position as usize][pivot.column] =
                -sum / pivot.entries[&pivot.position][pivot.column];
        }
        let mut out = vec![[0.0; 6]; x.len()];
        for (position, part) in x.into_iter().enumerate() {
            out[self.node[position] as usize] = part;
        }
        out
    }
}

/// The pivot: the earliest row that is large enough, so that later mates are the surplus ones.
fn choose(lines: &[Line], position: u32, open: &[bool; 6], largest: f64) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        let Some(x) = line.entries.get(&position) else {
            continue;
        };
        let mut column = None;
        for k in (0..6).filter(|&k| open[k]) {
            if x[k].abs() >= PREFERRED * largest
                && column.is_none_or(|c: usize| x[k].abs() > x[c].abs())
            {
                column = Some(k);
            }
        }
        if let Some(column) = column
            && best.is_none_or(|(row, ..)| line.row < row)
        {
            best = Some((line.row, at, column));
        }
    }
    best.map(|(_, at, column)| (at, column))
}
