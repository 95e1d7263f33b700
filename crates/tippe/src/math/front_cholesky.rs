//! Sparse Cholesky factorisation of `J M⁻¹ Jᵀ`, one block row for each joint, by dense fronts.
//!
//! Reads: which joint holds which bodies, blocks, a right-hand side.  Writes: the solution.
//! Called by: `two_stage::joint_network`.
//! Source: multifrontal method, [GeorgeLiu81] ch. 8 for the order, [Duff83] for the fronts. Fixed order of all sums: same bits everywhere.
//!
//! A front holds the rows that are eliminated in it (its pivots) and those later ones that they touch. Rows of a front are padded to
//! eights and lie in panels of eight rows; a panel is eight numbers at once for each column.

use super::dissection::{Dissection, NONE};
use super::front_dense::{add_run, clear_lower, eliminate, reduce};
use super::lanes::{F8, LANES, Lanes, OnLanes, on_best};

/// Most rows of a joint.
pub const ROWS_MAX: usize = 6;

/// One block of the matrix: the joints of its rows and columns, and where it goes.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Joint of the rows.
    pub row: u32,
    /// Joint of the columns.
    pub column: u32,
    /// Body through which they answer each other.
    pub body: u32,
    /// Front, and first row and column in it.
    front: u32,
    at: [u32; 2],
    /// How many rows and columns it has.
    size: [u32; 2],
}

impl Entry {
    /// Adds the block, given row by row, to its front, in which `p` columns lie in a panel.
    #[inline(always)]
    fn add(&self, block: &[f64], p: usize, factor: &mut [F8]) {
        let [row, column] = self.at.map(|x| x as usize);
        let (start, lane) = (row / LANES * p + column, row % LANES);
        // Three rows of one panel, as those of ball joints: their number is known when this is compiled.
        if let ([3, 3], &[a, b, c, d, e, f, g, h, i]) = (self.size, block)
            && lane + 3 <= LANES
        {
            let columns = [[a, d, g], [b, e, h], [c, f, i]];
            for (line, column) in factor[start..start + 3].iter_mut().zip(columns) {
                let line = &mut line.0[lane..lane + 3];
                for (to, x) in line.iter_mut().zip(column) {
                    *to += x;
                }
            }
            return;
        }
        let [m, n] = self.size.map(|x| x as usize);
        // Rows up to the end of a panel, then those in the next.
        let first = m.min(LANES - lane);
        for j in 0..n {
            let line = &mut factor[start + j].0[lane..];
            for (i, x) in line.iter_mut().take(first).enumerate() {
                *x += block[i * n + j];
            }
            if first < m {
                let line = &mut factor[start + p + j].0;
                for (i, x) in (first..m).zip(line) {
                    *x += block[i * n + j];
                }
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    /// First row of the pivots in the order of elimination, and how many there are.
    pub first: usize,
    pub pivots: usize,
    /// Pivots and later rows, padded to eights.
    pub p: usize,
    pub u: usize,
    /// Later rows, in the order of elimination.
    pub later: Vec<u32>,
    /// Later rows that lie side by side here and in the parent, as rows and as columns.
    runs: Vec<Run>,
    columns: Vec<Run>,
    /// Where its factor begins.
    pub start: usize,
    children: Option<[u32; 2]>,
    /// Where its remainder is kept until the parent takes it.
    buffer: usize,
    /// Its blocks among the entries.
    entries: std::ops::Range<usize>,
}

/// Rows or columns that lie side by side in a front and in its parent. Rows are within one panel of both; columns are all pivots of the parent, or none.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// First one here and there.
    from: u32,
    to: u32,
    count: u32,
}

/// The runs of what goes to these places; a new one begins where `starts` says so, given the places here and there.
fn runs(up: &[u32], starts: impl Fn(usize, usize) -> bool) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (i, &to) in up.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.to + run.count == to && !starts(i, to as usize) => run.count += 1,
            _ => runs.push(Run {
                from: i as u32,
                to,
                count: 1,
            }),
        }
    }
    runs
}

/// Factorisation of one mechanism; buffers are kept between uses.
#[derive(Clone, Debug, Default)]
pub struct FrontCholesky {
    /// The mechanism that was analysed last: ends and rows of each joint; the limit, and whether it kept to it.
    graph: Vec<([u32; 2], u32)>,
    last: Option<(u64, bool)>,
    dissection: Dissection,
    pub(super) fronts: Vec<Front>,
    /// By joint: its first row in the order of elimination.
    pub place: Vec<u32>,
    /// Blocks, front by front.
    pub entries: Vec<Entry>,
    pub(super) factor: Vec<F8>,
    /// Remainders by depth and side.
    buffers: Vec<Vec<F8>>,
    /// Multiplications that a factorisation takes.
    cost: u64,
    /// Scratch of the substitutions.
    pub(super) local: Vec<F8>,
    pub(super) sums: Vec<F8>,
    rows: usize,
}

const fn padded(n: usize) -> usize {
    n.div_ceil(LANES) * LANES
}

impl FrontCholesky {
    /// Orders the joints, given by their bodies and numbers of rows, and lays out the fronts. Gives up (false) where it needs more than
    /// `cost_max` multiplications, or finds no good cuts.
    pub fn analyse(
        &mut self,
        bodies: usize,
        joints: impl Iterator<Item = ([u32; 2], u32)>,
        cost_max: u64,
    ) -> bool {
        let mut same = true;
        let mut count = 0;
        for joint in joints {
            if self.graph.get(count) != Some(&joint) {
                same = false;
                self.graph.truncate(count);
                self.graph.push(joint);
            }
            count += 1;
        }
        same &= self.graph.len() == count;
        self.graph.truncate(count);
        if let Some((limit, kept)) = self.last
            && same
            && limit == cost_max
        {
            return kept;
        }
        let ends: Vec<[u32; 2]> = self.graph.iter().map(|g| g.0).collect();
        let kept = self.dissection.cut(bodies, &ends) && { self.lay_out(cost_max) };
        self.last = Some((cost_max, kept));
        kept
    }

    /// Rows of the matrix.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Fronts, where they lie and what they hand on; false, before memory is taken for them, if they cost more than they may.
    fn lay_out(&mut self, cost_max: u64) -> bool {
        let joints = self.graph.len();
        // Numbers of joints and first rows in the order of elimination.
        let mut order = Vec::with_capacity(joints);
        let mut number = vec![0_u32; joints];
        self.place.clear();
        self.place.resize(joints, 0);
        self.rows = 0;
        for piece in &self.dissection.pieces {
            for &joint in &piece.own {
                number[joint as usize] = order.len() as u32;
                self.place[joint as usize] = self.rows as u32;
                self.rows += self.graph[joint as usize].1 as usize;
                order.push(joint);
            }
        }
        let size = |n: u32| self.graph[order[n as usize] as usize].1 as usize;
        // By piece: the numbers of the later joints it touches.
        let mut later: Vec<Vec<u32>> = Vec::new();
        let mut front_of = vec![0_u32; joints];
        self.fronts.clear();
        self.cost = 0;
        let (mut first_joint, mut start) = (0, 0);
        let mut buffers = 0;
        for (k, piece) in self.dissection.pieces.iter().enumerate() {
            let end = first_joint + piece.own.len() as u32;
            let mut touched: Vec<u32> = Vec::new();
            for &joint in &piece.own {
                front_of[joint as usize] = k as u32;
                for &body in self.graph[joint as usize].0.iter().filter(|&&b| b != NONE) {
                    let others = &self.dissection.at[body as usize];
                    touched.extend(others.iter().map(|&j| number[j as usize]));
                }
            }
            for child in piece.children.into_iter().flatten() {
                touched.extend(&later[child as usize]);
            }
            touched.retain(|&n| n >= end);
            touched.sort_unstable();
            touched.dedup();
            let pivots: usize = (first_joint..end).map(size).sum();
            let rest: usize = touched.iter().map(|&n| size(n)).sum();
            let (p, u) = (padded(pivots), padded(rest));
            let front = Front {
                first: piece
                    .own
                    .first()
                    .map_or(0, |&j| self.place[j as usize] as usize),
                pivots,
                p,
                u,
                later: touched
                    .iter()
                    .flat_map(|&n| {
                        let place = self.place[order[n as usize] as usize];
                        place..place + size(n) as u32
                    })
                    .collect(),
                runs: Vec::new(),
                columns: Vec::new(),
                start,
                children: piece.children,
                buffer: 2 * piece.depth,
                entries: 0..0,
            };
            buffers = buffers.max(2 * piece.depth + 2);
            start += (p + u) / LANES * p;
            let (p, u) = (p as u64, u as u64);
            self.cost += p * p * p / 6 + p * p * u / 2 + p * u * u / 2;
            if let Some([_, right]) = piece.children {
                self.fronts[right as usize].buffer += 1;
            }
            self.fronts.push(front);
            later.push(touched);
            first_joint = end;
        }
        if self.cost > cost_max {
            return false;
        }
        for k in 0..self.fronts.len() {
            for child in self.fronts[k].children.into_iter().flatten() {
                let up = self.fronts[child as usize].later.iter();
                let up: Vec<u32> = up.map(|&row| self.fronts[k].place(row)).collect();
                let p = self.fronts[k].p;
                let panel = |i: usize| i.is_multiple_of(LANES);
                let child = &mut self.fronts[child as usize];
                child.runs = runs(&up, |i, to| panel(i) || panel(to));
                child.columns = runs(&up, |_, to| to == p);
            }
        }
        self.factor.clear();
        self.factor.resize(start, F8::ZERO);
        self.buffers.resize(buffers, Vec::new());
        self.lay_entries(&number, &front_of);
        true
    }

    /// Every two joints at a body answer each other: their block goes to the front in which the earlier one is eliminated.
    fn lay_entries(&mut self, number: &[u32], front_of: &[u32]) {
        self.entries.clear();
        for (body, at) in self.dissection.at.iter().enumerate() {
            for (i, &a) in at.iter().enumerate() {
                for &b in &at[..=i] {
                    let (row, column) = if number[a as usize] < number[b as usize] {
                        (b, a)
                    } else {
                        (a, b)
                    };
                    let front = front_of[column as usize];
                    let place = |j: u32| self.fronts[front as usize].place(self.place[j as usize]);
                    let size = |j: u32| self.graph[j as usize].1;
                    self.entries.push(Entry {
                        row,
                        column,
                        body: body as u32,
                        front,
                        at: [place(row), place(column)],
                        size: [size(row), size(column)],
                    });
                }
            }
        }
        self.entries
            .sort_by_key(|e| (e.front, e.column, e.row, e.body));
        let mut at = 0;
        for (k, front) in self.fronts.iter_mut().enumerate() {
            let begin = at;
            while self.entries.get(at).is_some_and(|e| e.front == k as u32) {
                at += 1;
            }
            front.entries = begin..at;
        }
    }

    /// Factors the matrix of the given blocks, which are asked for one by one, in the order of the entries, and written row by row; false if it is
    /// not positive definite.
    pub fn factor(&mut self, block: impl FnMut(&Entry, &mut [f64])) -> bool {
        on_best(Factor(self, block, None))
    }

    /// The same, and solves for one right-hand side, given and returned in the order of elimination; each front is used once while it is at
    /// hand. False, and no solution, if the matrix is not positive definite.
    pub fn factor_and_solve(
        &mut self,
        block: impl FnMut(&Entry, &mut [f64]),
        x: &mut [f64],
    ) -> bool {
        on_best(Factor(self, block, Some(x)))
    }

    /// Solves for one right-hand side, given and returned in the order of elimination.
    pub fn solve(&mut self, x: &mut [f64]) {
        on_best(Solve(self, x));
    }

    /// Brings blocks and the remainders of children into a front. Numbers above the diagonal are of no use.
    #[inline(always)]
    fn fill(&mut self, k: usize, block: &mut impl FnMut(&Entry, &mut [f64]), remainder: &mut [F8]) {
        let front = &self.fronts[k];
        let (p, u) = (front.p, front.u);
        let factor = &mut self.factor[front.start..][..(p + u) / LANES * p];
        clear_lower(factor, p);
        for i in front.pivots..p {
            factor[i / LANES * p + i].0[i % LANES] = 1.0;
        }
        let mut numbers = [0.0; ROWS_MAX * ROWS_MAX];
        for e in &self.entries[front.entries.clone()] {
            let numbers = &mut numbers[..(e.size[0] * e.size[1]) as usize];
            block(e, numbers);
            e.add(numbers, p, factor);
        }
        for child in front.children.into_iter().flatten() {
            let child = &self.fronts[child as usize];
            let from = &self.buffers[child.buffer];
            for run in &child.runs {
                let (i, row, count) = (run.from as usize, run.to as usize, run.count as usize);
                let panel = row / LANES;
                let lanes = (i % LANES, row % LANES, count);
                let line = &from[i / LANES * child.u..][..child.u];
                // Up to the diagonal; beyond it for all but the last row, within the same tile here and there.
                let end = i + count;
                for columns in &child.columns {
                    let (first, to) = (columns.from as usize, columns.to as usize);
                    if first >= end {
                        break;
                    }
                    let count = (columns.count as usize).min(end - first);
                    let to = if to < p {
                        &mut factor[panel * p + to..][..count]
                    } else {
                        &mut remainder[(panel - p / LANES) * u + to - p..][..count]
                    };
                    add_run(&line[first..][..count], lanes, to);
                }
            }
        }
    }
}

impl Front {
    /// Place in the front of a row given in the order of elimination.
    fn place(&self, row: u32) -> u32 {
        let own = (row as usize).wrapping_sub(self.first);
        if own < self.pivots {
            own as u32
        } else {
            (self.p + self.later.partition_point(|&r| r < row)) as u32
        }
    }
}

struct Factor<'a, B>(&'a mut FrontCholesky, B, Option<&'a mut [f64]>);

impl<B: FnMut(&Entry, &mut [f64])> OnLanes for Factor<'_, B> {
    type Output = bool;
    #[inline(always)]
    fn run<S: Lanes>(self, s: S) -> bool {
        let Self(me, mut block, mut x) = self;
        for k in 0..me.fronts.len() {
            let Front {
                pivots,
                p,
                u,
                start,
                buffer,
                ..
            } = me.fronts[k];
            let mut remainder = std::mem::take(&mut me.buffers[buffer]);
            remainder.resize(u / LANES * u, F8::ZERO);
            // Only children bring anything there.
            let fresh = me.fronts[k].children.is_none();
            if !fresh {
                clear_lower(&mut remainder, u);
            }
            me.fill(k, &mut block, &mut remainder);
            let factor = &mut me.factor[start..][..(p + u) / LANES * p];
            let positive = eliminate(s, factor, p, u) && {
                reduce(s, factor, &mut remainder, (pivots, p), u, fresh);
                true
            };
            me.buffers[buffer] = remainder;
            if !positive {
                return false;
            }
            if let Some(x) = &mut x {
                me.forward(s, k, x);
            }
        }
        if let Some(x) = x {
            me.backward(s, x);
        }
        true
    }
}

struct Solve<'a>(&'a mut FrontCholesky, &'a mut [f64]);

impl OnLanes for Solve<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Lanes>(self, s: S) {
        let (me, x) = (self.0, self.1);
        for k in 0..me.fronts.len() {
            me.forward(s, k, x);
        }
        me.backward(s, x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A net with random blocks and a dominant diagonal, solved and multiplied back.
    #[test]
    fn solves_a_net_to_rounding() {
        let (w, h) = (9_u32, 7_u32);
        let mut joints = vec![([NONE, 0], 2), ([w - 1, NONE], 3)];
        for i in 0..w * h {
            if i % w + 1 < w {
                joints.push(([i, i + 1], 3));
            }
            if i + w < w * h {
                joints.push(([i + w, i], 1 + i % 5));
            }
        }
        // Two joints between the same bodies.
        joints.push(([4, 5], 4));
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut f = FrontCholesky::default();
        assert!(f.analyse((w * h) as usize, joints.iter().copied(), u64::MAX));
        let n = f.rows();
        let mut dense = vec![vec![0.0; n]; n];
        let mut blocks = Vec::new();
        for e in &f.entries {
            let size = |j: u32| joints[j as usize].1 as usize;
            let (r, c) = (
                f.place[e.row as usize] as usize,
                f.place[e.column as usize] as usize,
            );
            let mut block = Vec::new();
            for i in 0..size(e.row) {
                for j in 0..size(e.column) {
                    let value = match (e.row == e.column, i == j) {
                        (true, true) => 30.0,
                        (true, false) => 0.5,
                        _ => random(),
                    };
                    block.push(value);
                    dense[r + i][c + j] += value;
                    if e.row != e.column {
                        dense[c + j][r + i] += value;
                    }
                }
            }
            blocks.push(block);
        }
        let mut each = blocks.iter();
        assert!(f.factor(|_, to| to.copy_from_slice(each.next().expect("a block"))));
        let x: Vec<f64> = (0..n).map(|_| random()).collect();
        let mut b: Vec<f64> = dense
            .iter()
            .map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum())
            .collect();
        f.solve(&mut b);
        let error = x.iter().zip(&b).map(|(p, q)| (p - q).abs());
        let error = error.fold(0.0, f64::max);
        assert!(error < 1e-13, "{error}");
    }

    #[test]
    fn refuses_a_matrix_that_is_not_positive_and_a_cost_beyond_the_limit() {
        let mut f = FrontCholesky::default();
        let joints = [([0, 1], 3), ([1, 2], 3)];
        assert!(f.analyse(3, joints.into_iter(), 1000));
        assert!(!f.factor(|_, to| to.fill(0.0)));
        assert!(!f.analyse(3, joints.into_iter(), 10));
    }
}
