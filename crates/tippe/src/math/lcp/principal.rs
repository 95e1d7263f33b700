//! Principal pivoting: all rows with a wrong sign change their state at once; single rows where that makes no progress.
//!
//! Reads: a scaled problem.  Writes: f, or the direction that proves there is none.
//! Called by: `lcp::solve`.
//! Source: [Judice94] for blocks (and boxes), [Murty74] for the single exchanges that end with any P-matrix; the factor is kept and updated.
//! A singular matrix is none: there the method solves A + ε, with b pulled towards the last answer, which has the same fixed point
//! ([Rockafellar76]) and walks along the proof where there is no solution.
//!
//! Yamane and Nakamura [Yamane08] let a pivot violate conditions slightly when rounding leaves no clean one. Here that has no place: every
//! set of states on the way violates signs, none is required to be feasible, and the last one is solved afresh and judged as a whole.

#![allow(non_snake_case)]

use std::collections::BTreeSet;

use super::bounds::{self, Boxed};
use super::factor::Factor;
use super::problem::{Problem, Row, dot};
use super::states::{self, State};
use super::{End, Found, Params};
use crate::math::lu::Lu;

/// Block exchanges without progress before single ones.
const PATIENCE: u32 = 3;
/// f outside its bounds by less than this part of the largest f is rounding [1].
const F_ROUNDING: f64 = 1e-12;
/// w on the wrong side by less than this part of the largest f is rounding [1].
const W_ROUNDING: f64 = 1e-13;
/// ε: the first, the least, and its factors after an exchange that ended and one that did not [1].
const REGULAR: f64 = 1e-4;
const REGULAR_MIN: f64 = 1e-8;
const EASED: f64 = 0.1;
const STIFFENED: f64 = 20.0;
/// Residual at which the rounds with ε end [1], and rounds without gain after which a solved problem is left.
const EXACT: f64 = 1e-14;
const STALLED: u32 = 3;
/// Steps in which friction grows where its exchange does not end at once.
const FRICTION_STEPS: [u32; 2] = [8, 50];
/// Most rounds with ε.
const PRINCIPAL_ROUNDS_MAX: u32 = 60;

/// Solves.
pub(super) fn solve(problem: &Problem, params: &Params) -> Found {
    let n = problem.len();
    let pivots_max = params.pivots.unwrap_or(50 * n as u32 + 100);
    let friction = problem.rows().iter().any(|r| r.normal().is_some());
    let mut found = if friction {
        tied(problem, params.tolerance, pivots_max)
    } else {
        plain(problem, params.tolerance, pivots_max)
    };
    problem.clamp(&mut found.f);
    let before = problem.natural(&found.f);
    if friction && before > params.tolerance {
        let mut proof = None;
        let (f, spent) = bounds::rounds(problem, params.tolerance, |boxed| {
            let (found, states) = plain_states(boxed, params.tolerance, pivots_max);
            match found.end {
                End::Solved => Some(Boxed {
                    states,
                    f: found.f,
                    pivots: found.pivots,
                }),
                End::Infeasible(ray) => {
                    proof = Some(ray);
                    None
                }
                _ => None,
            }
        });
        found.pivots += spent;
        if problem.natural(&f) < before {
            found.f = f;
        }
        if let Some(ray) = proof.filter(|ray| problem.proves(ray)) {
            found.end = End::Infeasible(ray);
        }
    }
    found
}

/// Friction tied to its normal force where it slides. No theorem says that the exchange ends; where it does not, friction grows in steps,
/// each from the states of the one before.
fn tied(problem: &Problem, tolerance: f64, pivots_max: u32) -> Found {
    let mut search = Search::new(problem, pivots_max);
    let mut f = vec![0.0; problem.len()];
    let mut end = search.tied(&mut f);
    for steps in FRICTION_STEPS {
        if end == End::Solved && problem.natural(&f) <= tolerance {
            break;
        }
        search.states = Search::new(problem, pivots_max).states;
        for step in 1..=steps {
            let weaker = weaker(problem, f64::from(step) / f64::from(steps));
            let mut next = Search::new(&weaker, pivots_max.min(4 * problem.len() as u32 + 50));
            next.states.clone_from(&search.states);
            end = next.tied(&mut f);
            search.pivots += next.pivots;
            search.states = next.states;
        }
    }
    found(f, end, &search)
}

/// The problem with a part of its friction.
fn weaker(problem: &Problem, part: f64) -> Problem {
    let rows = problem.rows().iter().map(|row| match *row {
        Row::Planar {
            normal,
            coefficient,
        } => Row::Planar {
            normal,
            coefficient: part * coefficient,
        },
        other => other,
    });
    problem.with_rows(rows.collect())
}

fn plain(problem: &Problem, tolerance: f64, pivots_max: u32) -> Found {
    plain_states(problem, tolerance, pivots_max).0
}

/// Rows without friction: first A as it is, then with ε, which grows where the exchange does not end.
fn plain_states(problem: &Problem, tolerance: f64, pivots_max: u32) -> (Found, Vec<State>) {
    let n = problem.len();
    let mut search = Search::new(problem, pivots_max.min(3 * n as u32 + 50));
    let mut f = vec![0.0; n];
    let mut system = System::new(problem, 0.0);
    let zero = vec![0.0; n];
    let mut end = search.run(|states, f| system.forces(states, &zero, f), &mut f);
    if end == End::Solved {
        states::polish(problem, &search.states, &mut f);
        if problem.natural(&f) <= tolerance {
            return (found(f, end, &search), search.states);
        }
    }
    let mut best = (f64::INFINITY, f.clone());
    let mut epsilon = REGULAR;
    let mut last = zero;
    let mut stalled = 0;
    for _ in 0..PRINCIPAL_ROUNDS_MAX {
        if search.pivots >= pivots_max {
            end = End::Limit;
            break;
        }
        let mut system = System::new(problem, epsilon);
        let pull: Vec<f64> = last.iter().map(|f| -epsilon * f).collect();
        search.pull = Some((epsilon, pull.clone()));
        end = search.run(|states, f| system.forces(states, &pull, f), &mut f);
        if end != End::Solved {
            epsilon *= STIFFENED;
            continue;
        }
        let ray = direction(problem, &f, &last);
        if problem.proves(&ray) {
            end = End::Infeasible(ray);
            break;
        }
        last.copy_from_slice(&f);
        epsilon = (epsilon * EASED).max(REGULAR_MIN);
        states::polish(problem, &search.states, &mut f);
        let residual = problem.natural(&f);
        stalled += 1;
        if residual < best.0 {
            if residual < 0.5 * best.0 {
                stalled = 0;
            }
            best = (residual, f.clone());
        }
        // w follows f only as well as A lets it, so the rounds aim beyond the tolerance.
        if best.0 <= EXACT || (stalled >= STALLED && best.0 <= tolerance.max(problem.rounding(&f)))
        {
            break;
        }
    }
    if best.0.is_finite() && !matches!(end, End::Infeasible(_)) {
        f = best.1;
        end = if best.0 <= tolerance {
            End::Solved
        } else {
            end
        };
    }
    (found(f, end, &search), search.states)
}

fn found(f: Vec<f64>, end: End, search: &Search<'_>) -> Found {
    Found {
        f,
        end,
        pivots: search.pivots,
        sweeps: 0,
    }
}

/// Where the forces of successive rounds run off to, as far as it can be part of a proof.
fn direction(problem: &Problem, next: &[f64], last: &[f64]) -> Vec<f64> {
    let step = next.iter().zip(last).map(|(a, b)| a - b);
    step.zip(problem.rows())
        .map(|(v, row)| match row {
            Row::OneSided => v.max(0.0),
            Row::Free => v,
            _ => 0.0,
        })
        .collect()
}

/// The exchange of states.
struct Search<'a> {
    problem: &'a Problem,
    states: Vec<State>,
    /// ε and the constant part that goes with it.
    pull: Option<(f64, Vec<f64>)>,
    pivots: u32,
    pivots_max: u32,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, pivots_max: u32) -> Self {
        Self {
            problem,
            states: problem.rows().iter().map(|r| states::initial(*r)).collect(),
            pull: None,
            pivots: 0,
            pivots_max,
        }
    }

    /// The exchange with friction tied to its normal force.
    fn tied(&mut self, f: &mut Vec<f64>) -> End {
        let problem = self.problem;
        self.run(
            |states, f| {
                *f = states::forces(problem, states);
                true
            },
            f,
        )
    }

    /// Exchanges states until none is wrong; `forces` finds f for given states, or says that it cannot.
    fn run(
        &mut self,
        mut forces: impl FnMut(&[State], &mut Vec<f64>) -> bool,
        f: &mut Vec<f64>,
    ) -> End {
        let mut best = usize::MAX;
        let mut patience = PATIENCE;
        let mut single: BTreeSet<Vec<State>> = BTreeSet::new();
        let limit = self.pivots.saturating_add(self.pivots_max);
        loop {
            if !forces(&self.states, f) {
                return End::Singular;
            }
            let wrong = self.wrong(f);
            if wrong.is_empty() {
                return End::Solved;
            }
            if self.pivots >= limit {
                return End::Limit;
            }
            let from = if wrong.len() < best {
                best = wrong.len();
                patience = PATIENCE;
                single.clear();
                0
            } else if patience > 0 {
                patience -= 1;
                0
            } else if single.insert(self.states.clone()) {
                wrong.len() - 1
            } else {
                return End::Cycling;
            };
            for &(i, state) in &wrong[from..] {
                self.states[i] = state;
                self.pivots += 1;
            }
        }
    }

    /// Rows in a wrong state, with the state they should try.
    fn wrong(&self, f: &[f64]) -> Vec<(usize, State)> {
        let rows = self.problem.rows();
        let largest = f.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
        let (f_least, w_least) = (F_ROUNDING * largest, W_ROUNDING * largest);
        let mut wrong = Vec::new();
        for i in 0..rows.len() {
            let (low, high) = match rows[i] {
                Row::OneSided => (0.0, f64::INFINITY),
                Row::Box { low, high } => (low, high),
                Row::Planar {
                    normal,
                    coefficient,
                } => {
                    if self.states[normal] != State::On {
                        if self.states[i] == State::On {
                            wrong.push((i, State::Low));
                        }
                        continue;
                    }
                    let bound = coefficient * f[normal].max(0.0);
                    (-bound, bound)
                }
                _ => continue,
            };
            match self.states[i] {
                State::On if f[i] < low - f_least => wrong.push((i, State::Low)),
                State::On if f[i] > high + f_least => wrong.push((i, State::High)),
                State::Low if self.w(i, f) < -w_least => wrong.push((i, State::On)),
                State::High if self.w(i, f) > w_least => wrong.push((i, State::On)),
                _ => {}
            }
        }
        wrong
    }

    fn w(&self, i: usize, f: &[f64]) -> f64 {
        let w = self.problem.w_at(i, f);
        match &self.pull {
            Some((epsilon, pull)) => w + epsilon * f[i] + pull[i],
            None => w,
        }
    }
}

/// The linear system of the rows that are on.
struct System<'a> {
    problem: &'a Problem,
    epsilon: f64,
    /// Kept from one set of states to the next; `None` where A is not symmetric.
    factor: Option<Factor>,
    x: Vec<f64>,
}

impl<'a> System<'a> {
    fn new(problem: &'a Problem, epsilon: f64) -> Self {
        Self {
            problem,
            epsilon,
            factor: problem.symmetric().then(|| Factor::new(problem.len())),
            x: Vec::new(),
        }
    }

    /// f for given states; false if the system is singular.
    fn forces(&mut self, states: &[State], pull: &[f64], f: &mut Vec<f64>) -> bool {
        let rows = self.problem.rows();
        f.clear();
        f.extend((0..rows.len()).map(|i| states::fixed(rows[i], states[i])));
        let boxes = f.iter().any(|x| *x != 0.0);
        let set: Vec<usize> = match &mut self.factor {
            Some(factor) => {
                if !update(factor, self.problem, self.epsilon, states, &mut self.x) {
                    return false;
                }
                factor.set.clone()
            }
            None => (0..rows.len())
                .filter(|&i| states[i] == State::On)
                .collect(),
        };
        let b = self.problem.b();
        let known = |&i: &usize| {
            let fixed = if boxes {
                dot(self.problem.row(i), f)
            } else {
                0.0
            };
            -(b[i] + pull[i] + fixed)
        };
        self.x.clear();
        self.x.extend(set.iter().map(known));
        if let Some(factor) = &self.factor {
            factor.forward(&mut self.x);
            factor.backward(&mut self.x);
        } else if !self.general(&set) {
            return false;
        }
        for (&i, x) in set.iter().zip(&self.x) {
            f[i] = *x;
        }
        f.iter().all(|x| x.is_finite())
    }

    /// Solves for a set by elimination, where A is not symmetric.
    fn general(&mut self, set: &[usize]) -> bool {
        let m = set.len();
        let mut G = Vec::with_capacity(m * m);
        for &i in set {
            let row = self.problem.row(i);
            let own = |j: usize| if i == j { self.epsilon } else { 0.0 };
            G.extend(set.iter().map(|&j| row[j] + own(j)));
        }
        let Some(lu) = Lu::factor(m, G) else {
            return false;
        };
        lu.solve(&mut self.x);
        true
    }
}

/// Brings the factor to the rows that are on; false if they are not independent.
fn update(
    factor: &mut Factor,
    problem: &Problem,
    epsilon: f64,
    states: &[State],
    y: &mut Vec<f64>,
) -> bool {
    for k in (0..factor.set.len()).rev() {
        if states[factor.set[k]] != State::On {
            factor.remove(k);
        }
    }
    let mut in_set = vec![false; states.len()];
    for &i in &factor.set {
        in_set[i] = true;
    }
    for i in 0..states.len() {
        if states[i] == State::On && !in_set[i] {
            let row = problem.row(i);
            y.clear();
            y.extend(factor.set.iter().map(|&j| row[j]));
            factor.forward(y);
            if !factor.append(i, y, row[i] + epsilon) {
                return false;
            }
        }
    }
    true
}
