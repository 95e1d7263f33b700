//! Sparse Cholesky factorisation of `J M⁻¹ Jᵀ`, one block row for each joint, by dense fronts.
//!
//! Reads: which joint holds which bodies, blocks, a right-hand side.  Writes: the solution.
//! Called by: `dynamics::halves::net`.
//! Source: multifrontal method, [GeorgeLiu81] ch. 8 for the order, [Duff83] for the fronts. Fixed order of all sums: same bits everywhere.
//!
//! A front holds the rows that are eliminated in it (its pivots) and those later ones that they touch. Rows of a front are padded to
//! eights and lie in panels of eight rows; a panel is eight numbers at once for each column.

use super::dissection::{Dissection, NONE};
use super::front_dense::{add_run, clear_lower, eliminate, reduce};
use super::lanes::{Eight, F8, LANES, Lanes, OnLanes, on_best};

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
    /// First number among the values.
    pub start: u32,
}

#[derive(Clone, Debug, Default)]
struct Front {
    /// First row of the pivots in the order of elimination, and how many there are.
    first: usize,
    pivots: usize,
    /// Pivots and later rows, padded to eights.
    p: usize,
    u: usize,
    /// Later rows, in the order of elimination.
    later: Vec<u32>,
    /// By later row: its place in the parent. The same in runs of rows that lie side by side here and there.
    up: Vec<u32>,
    runs: Vec<Run>,
    /// Where its factor begins.
    start: usize,
    children: Option<[u32; 2]>,
    /// Where its remainder is kept until the parent takes it.
    buffer: usize,
    /// Its blocks among the entries.
    entries: std::ops::Range<usize>,
}

/// Rows that lie side by side within one panel of a front and within one of its parent.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// First row here and there.
    from: u32,
    to: u32,
    count: u32,
}

/// The runs of rows that go to these places.
fn runs(up: &[u32]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (i, &to) in up.iter().enumerate() {
        let starts = i.is_multiple_of(LANES) || (to as usize).is_multiple_of(LANES);
        match runs.last_mut() {
            Some(run) if !starts && run.to + run.count == to => run.count += 1,
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
    fronts: Vec<Front>,
    /// By joint: its first row in the order of elimination.
    pub place: Vec<u32>,
    /// Blocks, front by front.
    pub entries: Vec<Entry>,
    /// Numbers of all blocks, row by row.
    pub values: Vec<f64>,
    factor: Vec<F8>,
    /// Remainders by depth and side.
    buffers: Vec<Vec<F8>>,
    /// Multiplications that a factorisation takes.
    cost: u64,
    local: Vec<F8>,
    sums: Vec<F8>,
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
                up: Vec::new(),
                runs: Vec::new(),
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
                self.fronts[child as usize].runs = runs(&up);
                self.fronts[child as usize].up = up;
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
                    self.entries.push(Entry {
                        row,
                        column,
                        body: body as u32,
                        front,
                        at: [place(row), place(column)],
                        start: 0,
                    });
                }
            }
        }
        self.entries
            .sort_by_key(|e| (e.front, e.column, e.row, e.body));
        let mut start = 0;
        let mut at = 0;
        for (k, front) in self.fronts.iter_mut().enumerate() {
            let begin = at;
            while self.entries.get(at).is_some_and(|e| e.front == k as u32) {
                let e = &mut self.entries[at];
                e.start = start;
                start += self.graph[e.row as usize].1 * self.graph[e.column as usize].1;
                at += 1;
            }
            front.entries = begin..at;
        }
        self.values.clear();
        self.values.resize(start as usize, 0.0);
    }

    /// The blocks of the matrix, and their numbers to be filled in.
    pub fn blocks(&mut self) -> (&[Entry], &mut [f64]) {
        (&self.entries, &mut self.values)
    }

    /// Factors the matrix of the present values; false if it is not positive definite.
    pub fn factor(&mut self) -> bool {
        on_best(Factor(self, None))
    }

    /// Factors the matrix of the present values and solves for one right-hand side, given and returned in the order of elimination; each
    /// front is used once while it is at hand. False, and no solution, if the matrix is not positive definite.
    pub fn factor_and_solve(&mut self, x: &mut [f64]) -> bool {
        on_best(Factor(self, Some(x)))
    }

    /// Solves for one right-hand side, given and returned in the order of elimination.
    pub fn solve(&mut self, x: &mut [f64]) {
        on_best(Solve(self, x));
    }

    /// Brings blocks and the remainders of children into a front.
    fn fill(&mut self, k: usize, remainder: &mut [F8]) {
        let front = &self.fronts[k];
        let (p, u) = (front.p, front.u);
        let factor = &mut self.factor[front.start..][..(p + u) / LANES * p];
        clear_lower(factor, p);
        for i in front.pivots..p {
            factor[i / LANES * p + i].0[i % LANES] = 1.0;
        }
        for e in &self.entries[front.entries.clone()] {
            let (m, n) = (
                self.graph[e.row as usize].1 as usize,
                self.graph[e.column as usize].1 as usize,
            );
            let block = &self.values[e.start as usize..][..m * n];
            let [row, column] = e.at.map(|x| x as usize);
            // Rows up to the end of a panel, then those in the next.
            let (start, lane) = (row / LANES * p + column, row % LANES);
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
        for child in front.children.into_iter().flatten() {
            let child = &self.fronts[child as usize];
            let from = &self.buffers[child.buffer];
            // Columns that are pivots here come first.
            let pivots = child.up.partition_point(|&c| (c as usize) < p);
            for run in &child.runs {
                let (i, row) = (run.from as usize, run.to as usize);
                let (panel, lane) = (row / LANES, row % LANES);
                let line = &from[i / LANES * child.u..][..child.u];
                let lanes = (i % LANES, lane, run.count as usize);
                // The tiles left of the diagonal, then the rows of the tile on it.
                let whole = i / LANES * LANES;
                let split = pivots.min(whole);
                let to = &mut factor[panel * p..][..p];
                add_run(&line[..split], lanes, to, &child.up[..split], 0);
                for k in 0..lanes.2 {
                    let last = (i + k + 1).min(pivots).max(split);
                    let one = (lanes.0 + k, lane + k, 1);
                    let columns = &child.up[split.max(whole.min(pivots))..last];
                    let line = &line[split.max(whole.min(pivots))..last];
                    add_run(line, one, to, columns, 0);
                }
                if row < p {
                    continue;
                }
                let to = &mut remainder[(panel - p / LANES) * u..][..u];
                if split < whole {
                    add_run(&line[split..whole], lanes, to, &child.up[split..whole], p);
                }
                for k in 0..lanes.2 {
                    let columns = whole.max(pivots)..i + k + 1;
                    if columns.start < columns.end {
                        let one = (lanes.0 + k, lane + k, 1);
                        let (line, up) = (&line[columns.clone()], &child.up[columns]);
                        add_run(line, one, to, up, p);
                    }
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

struct Factor<'a>(&'a mut FrontCholesky, Option<&'a mut [f64]>);

impl OnLanes for Factor<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<S: Lanes>(self, s: S) -> bool {
        let (me, mut x) = (self.0, self.1);
        for k in 0..me.fronts.len() {
            let Front {
                p,
                u,
                start,
                buffer,
                ..
            } = me.fronts[k];
            let mut remainder = std::mem::take(&mut me.buffers[buffer]);
            remainder.resize(u / LANES * u, F8::ZERO);
            clear_lower(&mut remainder, u);
            me.fill(k, &mut remainder);
            let factor = &mut me.factor[start..][..(p + u) / LANES * p];
            let positive = eliminate(s, factor, p, u) && {
                reduce(s, factor, &mut remainder, p, u);
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

impl FrontCholesky {
    /// `L y = x` in one front, and what that leaves for later rows.
    #[inline(always)]
    fn forward<S: Lanes>(&mut self, s: S, k: usize, x: &mut [f64]) {
        let zero = Eight::splat(s, 0.0);
        let front = &self.fronts[k];
        let p = front.p;
        let factor = &self.factor[front.start..][..(p + front.u) / LANES * p];
        self.local.clear();
        self.local.resize(p / LANES, F8::ZERO);
        for k in 0..front.pivots {
            self.local[k / LANES].0[k % LANES] = x[front.first + k];
        }
        for (i, panel) in factor.chunks_exact(p.max(1)).enumerate() {
            let count = p.min(LANES * i);
            let mut sums = [zero; LANES];
            for (tile, y) in panel[..count].chunks_exact(LANES).zip(&self.local) {
                for c in 0..LANES {
                    sums[c] = sums[c] + Eight::new(s, tile[c]) * Eight::splat(s, y.0[c]);
                }
            }
            let [a, b, c, d, e, f, g, h] = sums;
            let sum = (((a + b) + (c + d)) + ((e + f) + (g + h))).get().0;
            if i < p / LANES {
                let tile = &panel[LANES * i..][..LANES];
                let y = &mut self.local[i].0;
                for r in 0..LANES {
                    let mut t = y[r] - sum[r];
                    for c in 0..r {
                        t -= tile[c].0[r] * y[c];
                    }
                    y[r] = t * tile[r].0[r];
                }
            } else {
                let rows = &front.later[LANES * i - p..];
                for (&row, sum) in rows.iter().zip(sum) {
                    x[row as usize] -= sum;
                }
            }
        }
        for k in 0..front.pivots {
            x[front.first + k] = self.local[k / LANES].0[k % LANES];
        }
    }

    /// `Lᵀ x = y`, last front first.
    #[inline(always)]
    fn backward<S: Lanes>(&mut self, s: S, x: &mut [f64]) {
        for front in self.fronts.iter().rev() {
            let p = front.p;
            let factor = &self.factor[front.start..][..(p + front.u) / LANES * p];
            self.sums.clear();
            self.sums.resize(p, F8::ZERO);
            for (i, panel) in factor.chunks_exact(p.max(1)).enumerate().rev() {
                let mut y = [0.0; LANES];
                if i < p / LANES {
                    let tile = &panel[LANES * i..][..LANES];
                    for r in (0..LANES).rev() {
                        let k = LANES * i + r;
                        let [a, b, c, d, e, f, g, h] = self.sums[k].0;
                        let own = if k < front.pivots {
                            x[front.first + k]
                        } else {
                            0.0
                        };
                        let mut t = own - (((a + b) + (c + d)) + ((e + f) + (g + h)));
                        for q in r + 1..LANES {
                            t -= tile[r].0[q] * y[q];
                        }
                        y[r] = t * tile[r].0[r];
                        if k < front.pivots {
                            x[front.first + k] = y[r];
                        }
                    }
                } else {
                    let rows = &front.later[LANES * i - p..];
                    for (y, &row) in y.iter_mut().zip(rows) {
                        *y = x[row as usize];
                    }
                }
                let y = Eight::new(s, F8(y));
                let count = p.min(LANES * i);
                for (sum, &l) in self.sums[..count].iter_mut().zip(&panel[..count]) {
                    *sum = (Eight::new(s, *sum) + Eight::new(s, l) * y).get();
                }
            }
        }
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
        for e in f.entries.clone() {
            let size = |j: u32| joints[j as usize].1 as usize;
            let (r, c) = (
                f.place[e.row as usize] as usize,
                f.place[e.column as usize] as usize,
            );
            for i in 0..size(e.row) {
                for j in 0..size(e.column) {
                    let at = e.start as usize + i * size(e.column) + j;
                    if e.row == e.column {
                        f.values[at] = if i == j { 30.0 } else { 0.5 };
                        dense[r + i][c + j] += f.values[at];
                    } else {
                        f.values[at] = random();
                        dense[r + i][c + j] += f.values[at];
                        dense[c + j][r + i] += f.values[at];
                    }
                }
            }
        }
        assert!(f.factor());
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
        f.values.fill(0.0);
        assert!(!f.factor());
        assert!(!f.analyse(3, joints.into_iter(), 10));
    }
}
