//! Dantzig's method as Baraff uses it: rows one after the other, each driven to its condition while all rows before keep theirs.
//!
//! Reads: a scaled problem.  Writes: f, or the direction that proves there is none.
//! Called by: `lcp::solve`.
//! Source: [Baraff94] §4–6, [Cottle92] §4.3. Friction that slides is tied to its normal force, so that bounds move with the step; where
//! that does not end (friction makes the matrix unsymmetric, and there is no theorem), `bounds` takes over.
//! Letters: a step of length t changes f by t df and w by t dw.

#![allow(non_snake_case)]

use super::bounds::{self, Boxed};
use super::factor::Factor;
use super::problem::{Problem, Row, axpy, dot};
use super::states::{self, State};
use super::{End, Found, Params};
use crate::math::lu::Lu;

/// |w| below which a row counts as met [1].
const MET: f64 = 1e-13;
/// Rates below this part of the largest |df| are rounding [1].
const RATE: f64 = 1e-11;
/// Size of the disturbance of b that leads out of a cycle [1].
const DISTURBANCE: f64 = 1e-9;

/// Solves.
pub(super) fn solve(problem: &Problem, params: &Params) -> Found {
    let n = problem.len();
    let pivots_max = params.pivots.unwrap_or(50 * n as u32 + 100);
    let mut drive = Drive::new(problem, pivots_max);
    let mut end = drive.run();
    if end == End::Cycling {
        let spent = drive.pivots;
        drive = Drive::new(problem, pivots_max);
        drive.pivots = spent;
        drive.disturb();
        end = drive.run();
    }
    let states = drive.states();
    let Drive {
        mut f, mut pivots, ..
    } = drive;
    states::polish(problem, &states, &mut f);
    let friction = problem.rows().iter().any(|r| r.normal().is_some());
    let proved = matches!(end, End::Infeasible(_));
    if friction && !proved && problem.natural(&f) > params.tolerance {
        let before = problem.natural(&f);
        let (found, spent) = bounds::rounds(problem, params.tolerance, |boxed| {
            let mut drive = Drive::new(boxed, pivots_max);
            let states = match drive.run() {
                End::Solved => drive.states(),
                _ => return None,
            };
            Some(Boxed {
                states,
                f: drive.f,
                pivots: drive.pivots,
            })
        });
        pivots += spent;
        if problem.natural(&found) < before {
            f = found;
        }
    }
    Found {
        f,
        end,
        pivots,
        sweeps: 0,
    }
}

/// Where a row stands while others are driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Not yet looked at.
    Waiting,
    /// Being driven.
    Driven,
    On,
    Low,
    High,
    /// w = 0 and f inside, implied by the rows that are on.
    Implied,
}

/// What ends a step.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The driven row is met.
    Met,
    /// A row comes to a bound.
    Bound(usize, Place),
    /// A row at a bound would come to the wrong side of its condition.
    Enter(usize),
}

/// All that moves.
struct Drive<'a> {
    problem: &'a Problem,
    /// Columns of A where it is not symmetric.
    columns: Option<Vec<f64>>,
    b: Vec<f64>,
    f: Vec<f64>,
    w: Vec<f64>,
    place: Vec<Place>,
    /// Rows that are on, in the order of the factor.
    on: Vec<usize>,
    /// The factor of A_CC; `None` where friction or A itself is not symmetric.
    factor: Option<Factor>,
    /// Friction rows by normal row.
    friction: Vec<Vec<usize>>,
    df: Vec<f64>,
    dw: Vec<f64>,
    y: Vec<f64>,
    /// Rows looked at so far lie before this one.
    seen: usize,
    pivots: u32,
    pivots_max: u32,
    zero_steps: u32,
}

impl<'a> Drive<'a> {
    fn new(problem: &'a Problem, pivots_max: u32) -> Self {
        let n = problem.len();
        let mut friction = vec![Vec::new(); n];
        for (i, row) in problem.rows().iter().enumerate() {
            if let Some(normal) = row.normal() {
                friction[normal].push(i);
            }
        }
        let plain = problem.symmetric() && friction.iter().all(Vec::is_empty);
        let columns =
            (!problem.symmetric()).then(|| (0..n * n).map(|k| problem.at(k % n, k / n)).collect());
        let mut f = vec![0.0; n];
        problem.clamp(&mut f);
        Self {
            problem,
            columns,
            b: problem.b().to_vec(),
            f,
            w: vec![0.0; n],
            place: vec![Place::Waiting; n],
            on: Vec::with_capacity(n),
            factor: plain.then(|| Factor::new(n)),
            friction,
            df: vec![0.0; n],
            dw: vec![0.0; n],
            y: Vec::with_capacity(n),
            seen: 0,
            pivots: 0,
            pivots_max,
            zero_steps: 0,
        }
    }

    /// Shifts b by small amounts without pattern, so that no two events coincide.
    fn disturb(&mut self) {
        let mut x: u64 = 1;
        for b in &mut self.b {
            x = x
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *b += DISTURBANCE * (0.5 + (x >> 12) as f64 / (1u64 << 53) as f64);
        }
    }

    /// Drives all rows: joints, contacts, boxes, friction.
    fn run(&mut self) -> End {
        let rank = |row: &Row| match row {
            Row::Free => 0,
            Row::OneSided => 1,
            Row::Box { .. } => 2,
            Row::Planar { .. } => 3,
            _ => 4,
        };
        let rows = self.problem.rows();
        let mut order: Vec<usize> = (0..rows.len()).filter(|&i| rank(&rows[i]) < 4).collect();
        // Within a kind those that b breaks most: the rows they hold up are then met without a step.
        order.sort_by(|&i, &j| {
            rank(&rows[i])
                .cmp(&rank(&rows[j]))
                .then(self.b[i].total_cmp(&self.b[j]))
        });
        for i in order {
            if let Err(end) = self.drive(i) {
                return end;
            }
        }
        End::Solved
    }

    /// Moves row i until its condition holds.
    fn drive(&mut self, i: usize) -> Result<(), End> {
        self.seen = self.seen.max(i + 1);
        self.w[i] = dot(self.problem.row(i), &self.f) + self.b[i];
        self.place[i] = Place::Driven;
        loop {
            if self.rests(i) {
                return Ok(());
            }
            if self.pivots >= self.pivots_max {
                return Err(End::Limit);
            }
            self.pivots += 1;
            let sign = if self.w[i] < 0.0 { 1.0 } else { -1.0 };
            self.wake(i);
            if !self.direction(i, sign) {
                return Err(End::Singular);
            }
            let Some((t, event)) = self.first_event(i) else {
                return Err(self.ray(sign * self.dw[i]));
            };
            self.zero_steps = if t > 0.0 { 0 } else { self.zero_steps + 1 };
            if self.zero_steps > 4 * self.problem.len() as u32 + 20 {
                return Err(End::Cycling);
            }
            self.advance(t, i);
            match event {
                Event::Met => {
                    self.w[i] = 0.0;
                    self.place[i] = if self.append(i) {
                        Place::On
                    } else {
                        Place::Implied
                    };
                    return Ok(());
                }
                Event::Bound(j, side) => self.put_at_bound(j, side),
                Event::Enter(j) if self.append(j) => {
                    self.place[j] = Place::On;
                    self.w[j] = 0.0;
                    self.wake(j);
                }
                Event::Enter(_) => return Err(End::Singular),
            }
            if self.place[i] != Place::Driven {
                return Ok(());
            }
        }
    }

    /// Whether row i meets its condition where it is; then it is given its place.
    fn rests(&mut self, i: usize) -> bool {
        let (low, high) = self.bounds(i);
        let (f, w) = (self.f[i], self.w[i]);
        self.place[i] = if w >= -MET && f <= low {
            Place::Low
        } else if w <= MET && f >= high {
            Place::High
        } else if w.abs() <= MET {
            if self.append(i) {
                Place::On
            } else {
                Place::Implied
            }
        } else {
            return false;
        };
        true
    }

    /// Bounds of f_i as the normal forces stand.
    fn bounds(&self, i: usize) -> (f64, f64) {
        bounds_of(self.problem.rows()[i], &self.f)
    }

    /// A normal force that begins to act gives friction without a state its direction: against the slip.
    fn wake(&mut self, normal: usize) {
        for k in 0..self.friction[normal].len() {
            let j = self.friction[normal][k];
            let at_bound = matches!(self.place[j], Place::Low | Place::High);
            if at_bound
                && self.f[normal] == 0.0
                && matches!(self.problem.rows()[j], Row::Planar { .. })
            {
                self.place[j] = if self.w[j] > 0.0 {
                    Place::Low
                } else {
                    Place::High
                };
            }
        }
    }

    /// Puts row j at a bound; friction goes with a normal force that vanishes.
    fn put_at_bound(&mut self, j: usize, side: Place) {
        self.drop_row(j);
        let (low, high) = self.bounds(j);
        self.f[j] = if side == Place::Low { low } else { high };
        self.place[j] = side;
        for k in 0..self.friction[j].len() {
            let t = self.friction[j][k];
            self.f[t] = 0.0;
            if matches!(self.place[t], Place::On | Place::Implied) {
                self.drop_row(t);
                self.place[t] = Place::High;
            }
        }
    }

    fn append(&mut self, i: usize) -> bool {
        let Some(factor) = &mut self.factor else {
            self.on.push(i);
            return true;
        };
        let row = self.problem.row(i);
        self.y.clear();
        self.y.extend(factor.set.iter().map(|&j| row[j]));
        factor.forward(&mut self.y);
        let added = factor.append(i, &self.y, row[i]);
        if added {
            self.on.push(i);
        }
        added
    }

    fn drop_row(&mut self, i: usize) {
        if let Some(k) = self.on.iter().position(|&j| j == i) {
            self.on.remove(k);
            if let Some(factor) = &mut self.factor {
                factor.remove(k);
            }
        }
    }

    /// Fills df and dw for f_i changing by `sign`; false if the system of the rows that are on is singular.
    fn direction(&mut self, i: usize, sign: f64) -> bool {
        self.df.fill(0.0);
        self.df[i] = sign;
        self.y.clear();
        if let Some(factor) = &self.factor {
            let row = self.problem.row(i);
            self.y.extend(self.on.iter().map(|&j| -sign * row[j]));
            factor.forward(&mut self.y);
            factor.backward(&mut self.y);
        } else if !self.general_direction(i, sign) {
            return false;
        }
        for (k, &j) in self.on.iter().enumerate() {
            self.df[j] = self.y[k];
        }
        let seen = self.seen;
        self.dw[..seen].fill(0.0);
        for j in 0..self.problem.len() {
            if let Some((normal, ratio)) = self.tie(j) {
                self.df[j] = ratio * self.df[normal];
            }
            if self.df[j] != 0.0 {
                let n = self.problem.len();
                let column = match &self.columns {
                    Some(columns) => &columns[j * n..j * n + seen],
                    None => &self.problem.row(j)[..seen],
                };
                axpy(&mut self.dw[..seen], self.df[j], column);
            }
        }
        self.dw[..seen].iter().all(|x| x.is_finite())
    }

    /// Solves for the rows that are on where ties or A make the system unsymmetric; the answer is left in y.
    fn general_direction(&mut self, i: usize, sign: f64) -> bool {
        let m = self.on.len();
        let mut G = vec![0.0; m * m];
        self.y.resize(m, 0.0);
        for (r, &row) in self.on.iter().enumerate() {
            for (c, &j) in self.on.iter().enumerate() {
                G[r * m + c] = self.with_ties(row, j);
            }
            self.y[r] = -sign * self.with_ties(row, i);
        }
        match Lu::factor(m, G) {
            Some(lu) => lu.solve(&mut self.y),
            None => return false,
        }
        self.y.iter().all(|x| x.is_finite())
    }

    /// A_ij and what is tied to f_j.
    fn with_ties(&self, i: usize, j: usize) -> f64 {
        self.friction[j]
            .iter()
            .fold(self.problem.at(i, j), |s, &t| match self.tie(t) {
                Some((_, ratio)) => s + ratio * self.problem.at(i, t),
                None => s,
            })
    }

    /// The normal row that f_j follows at present, and the ratio.
    fn tie(&self, j: usize) -> Option<(usize, f64)> {
        let row = self.problem.rows()[j];
        match (row, self.place[j]) {
            (Row::Sliding { .. }, _) | (Row::Planar { .. }, Place::High) => {
                states::tie(row, State::High)
            }
            (Row::Planar { .. }, Place::Low) => states::tie(row, State::Low),
            _ => None,
        }
    }

    /// Whether a normal row moves in this step.
    fn acts(&self, normal: usize) -> bool {
        matches!(self.place[normal], Place::On | Place::Driven)
    }

    /// The shortest step at whose end something changes; the driven row before others, then the lowest index.
    fn first_event(&self, i: usize) -> Option<(f64, Event)> {
        let largest = self.df.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
        let rate = RATE * largest;
        let mut best: Option<(f64, Event)> = None;
        let mut offer = |t: f64, event: Event| {
            let t = t.max(0.0);
            if t.is_finite() && best.is_none_or(|b| t < b.0) {
                best = Some((t, event));
            }
        };
        if self.w[i] * self.dw[i] < 0.0 && self.dw[i].abs() > rate {
            offer(-self.w[i] / self.dw[i], Event::Met);
        }
        for j in 0..self.seen {
            let row = self.problem.rows()[j];
            match self.place[j] {
                Place::On | Place::Driven | Place::Implied => {
                    let (low, high) = self.bounds(j);
                    let (dlow, dhigh) = match row {
                        Row::Planar { .. } => bounds_of(row, &self.df),
                        _ => (0.0, 0.0),
                    };
                    if self.df[j] - dhigh > rate && high.is_finite() {
                        offer(
                            (high - self.f[j]) / (self.df[j] - dhigh),
                            Event::Bound(j, Place::High),
                        );
                    }
                    if dlow - self.df[j] > rate && low.is_finite() {
                        offer(
                            (self.f[j] - low) / (dlow - self.df[j]),
                            Event::Bound(j, Place::Low),
                        );
                    }
                    if self.place[j] == Place::Implied && self.dw[j].abs() > rate {
                        offer(0.0, Event::Enter(j));
                    }
                }
                Place::Low | Place::High => {
                    let bound = row.normal().is_none_or(|n| self.acts(n));
                    let towards = if self.place[j] == Place::Low {
                        -self.dw[j]
                    } else {
                        self.dw[j]
                    };
                    if bound && towards > rate {
                        offer(self.w[j].abs() / towards, Event::Enter(j));
                    }
                }
                Place::Waiting => {}
            }
        }
        best
    }

    fn advance(&mut self, t: f64, i: usize) {
        axpy(&mut self.f, t, &self.df);
        let seen = self.seen;
        axpy(&mut self.w[..seen], t, &self.dw[..seen]);
        for &j in self.on.iter().filter(|&&j| j != i) {
            self.w[j] = 0.0;
        }
    }

    /// No event: a proof that there is no solution, or a search that leads nowhere.
    fn ray(&self, rate: f64) -> End {
        let mut ray = self.df.clone();
        for (v, row) in ray.iter_mut().zip(self.problem.rows()) {
            match row {
                Row::OneSided => *v = v.max(0.0),
                Row::Free => {}
                _ => *v = 0.0,
            }
        }
        if self.problem.proves(&ray) {
            End::Infeasible(ray)
        } else if rate < 0.0 {
            End::Ray
        } else {
            End::Singular
        }
    }

    fn states(&self) -> Vec<State> {
        let state = |(place, row): (&Place, &Row)| match place {
            _ if matches!(row, Row::Sliding { .. }) => State::High,
            Place::On | Place::Implied => State::On,
            Place::High => State::High,
            _ => State::Low,
        };
        self.place
            .iter()
            .zip(self.problem.rows())
            .map(state)
            .collect()
    }
}

/// Bounds of a row for given normal forces, or for given changes of them.
fn bounds_of(row: Row, f: &[f64]) -> (f64, f64) {
    match row {
        Row::OneSided => (0.0, f64::INFINITY),
        Row::Box { low, high } => (low, high),
        Row::Planar {
            normal,
            coefficient,
        } => (-coefficient * f[normal], coefficient * f[normal]),
        Row::Free => (f64::NEG_INFINITY, f64::INFINITY),
        Row::Sliding { .. } | Row::Cone { .. } | Row::ConeSecond => (0.0, 0.0),
    }
}
