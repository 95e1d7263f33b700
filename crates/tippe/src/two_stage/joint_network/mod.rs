//! Islands of joints too meshed for the direct solve by bodies: all joints at once, row by row of the joints instead.
//!
//! Reads: Model and State, solver bodies.  Writes: impulses of its knots, solver bodies, predicted states.
//! Called by: `gather` (what is a network), the solves of `sequential`, `finish`, `rest`.
//! Source: docs/solver.md, "Joint networks"; the stiffness of stressed joints is in `geometric_stiffness`.
//!
//! Impulses λ of the rows change their velocities by A λ, A = J M⁻¹ Jᵀ, which is factored with nested dissection (`front_cholesky.rs`). A net that is
//! stretched flat has more rows than freedoms: A is singular there, so A + ε diag(A) is factored, and λ goes on from the impulses it has.

#![allow(non_snake_case)]

pub(crate) mod geometric_stiffness;
pub(crate) mod knot;

use crate::dynamics::integrate;
use crate::dynamics::joint::{JointRow, unwrapped};
use crate::joint::JointKind;
use crate::math::block_pattern::Pattern;
use crate::math::dissection::NONE;
use crate::math::front_cholesky::{Entry, FrontCholesky};
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::output::record::JointRecord;
use crate::report::{EnergyLedger, Residuals, SolverWork};
use crate::solver::ends::Bodies;
use crate::state::{BodyState, JointMemory, State};
use crate::two_stage::book::Books;
use crate::two_stage::joint_network::geometric_stiffness::{Stiff, renew, stiffness};
use crate::two_stage::joint_network::knot::{Knot, Rows, block};
use crate::two_stage::joint_targets::{CORRECTION_MAX, free_value};
use crate::two_stage::parallel::{IslandView, Worker};
use crate::two_stage::relinearise::Lookahead;

/// Joints from which an island counts as a net.
pub(crate) const JOINTS_MIN: usize = 32;
/// Multiplications that a factorisation may take for each row [1].
const COST_ROW: u64 = 10_000;
/// Softness of the rows, relative to their own response [1].
const SOFT: f64 = 1e-5;
/// Part of what the joints are open at the start that a part of a step closes [1].
const CLOSED: f64 = 0.2;
/// Distance [m] or angle [rad] that the joints of a net are open at the start beyond which it is looked at where they will be at the end: a net
/// that opens too far is given up there. That costs as much as it saves where few are.
const DOUBTFUL: f64 = 1e-3;
/// Distance [m] or angle [rad] up to which the joints of a net may open before its step is divided.
pub(crate) const OPEN_MAX: f64 = 5e-3;
/// Times that a net that would open farther is relaxed, and double sweeps each time; multiple of the limit beyond which that is hopeless, and part
/// of the distance before that it must get below to go on [1].
const RELAXED: u32 = 6;
const SWEEPS: usize = 2;
const HOPELESS: f64 = 8.0;
const STALLED: f64 = 0.9;

/// Impulse and angular impulse on a body, or its velocities.
type Pair = (Vec3, Vec3);

/// One net, from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Net {
    /// Its joints. Written by `takes`.
    knots: Vec<Knot>,
    /// What the direct solve might cost when it was last looked at, and whether it is a net.
    last: Option<(f64, bool)>,
    factor: FrontCholesky,
    /// By number of a body in the net: its slot.
    slots: Vec<u32>,
    /// By slot: the number.
    numbers: Vec<u32>,
    /// By knot: the numbers of its ends; none if they cannot move.
    ends: Vec<[u32; 2]>,
    /// By row: those of joints that are no ball joints, if there are any; what is open at the start of the half; the impulse of this half and of the first.
    rows: Vec<JointRow>,
    open: Vec<f64>,
    lambda: Vec<f64>,
    first: Vec<f64>,
    /// By knot: force and torque about its origin on B, of the first half.
    wrenches: Vec<Pair>,
    /// By number: how a body answers under its stiffness; scratch for those that answer anew.
    stiff: Vec<Stiff>,
    todo: Vec<u32>,
    /// By number: angular velocity before the half, and impulses of the half.
    before: Vec<Vec3>,
    pushes: Vec<Pair>,
    /// By knot: its answer by itself, while a net is relaxed.
    alone: Vec<Mat3>,
    /// By number: impulses of one solve, stiffness of the half.
    changes: Vec<Pair>,
    sums: Vec<Mat3>,
    /// What the factor was made of: levers, rows, and answers of the bodies.
    made_of_levers: Vec<[Vec3; 2]>,
    made_of_rows: Vec<JointRow>,
    made_of_answers: Vec<(f64, Mat3)>,
    is_factored: bool,
    /// By row in the order of elimination: what is missing, then the impulse.
    x: Vec<f64>,
    /// What the last half left: distances, velocities, energy that stiffness took and that moved bodies brought.
    pub left: Left,
}

/// What a half of a step left.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left {
    /// Worst residual of a joint [m] or [rad]; of the second half, the one at the end of the step.
    pub position: f64,
    /// The one at the end of the step, as it is seen from the first half; zero if nobody looked.
    pub foreseen: f64,
    /// Worst velocity in a row that should have none; of the second half.
    pub velocity: f64,
    /// Energy that the implicit stiffness took [J].
    taken: f64,
    /// Work of bodies with prescribed motion [J].
    prescribed: f64,
}

impl Net {
    /// Enters the energy of the half.
    pub(crate) fn book(&self, books: &mut Books<'_>) {
        self.left.book(&mut books.report.energy);
        for knot in &self.knots {
            books
                .balance
                .exchange_by_joint(books.model, knot.ends, 0.0, 0.0);
        }
        if let Some(&slot) = self.slots.first() {
            books.balance.put_in(slot, self.left.prescribed);
        }
    }
}

impl Left {
    /// Enters the energy of the half.
    fn book(&self, ledger: &mut EnergyLedger) {
        ledger.numerical_damping += self.taken;
        ledger.prescribed += self.prescribed;
    }
}

/// Solves the first half of a net: impulses at t that bring its joints together at t + h.
pub(crate) fn first(ahead: &Lookahead<'_>, worker: &mut Worker, view: &mut IslandView<'_>) {
    let Some(mut net) = view.island.net.take() else {
        return;
    };
    let Lookahead {
        model, state, h, ..
    } = *ahead;
    net.turn(model, &state.bodies);
    // What is open already closes little by little: at once it would be velocity.
    net.aim(model, &worker.predicted, h);
    net.add_velocities(1.0, &worker.bodies);
    let per_impulse = if state.substep > 0.0 {
        2.0 / state.substep
    } else {
        0.0
    };
    net.begin(&mut worker.bodies, 0.25 * h * h, |net, knot| {
        let lambda = &state.joints[knot.joint as usize].first;
        knot.force(&net.rows, lambda) * per_impulse
    });
    net.add_velocities(-1.0, &worker.bodies);
    if net.solve(&mut worker.bodies, &mut worker.work) && net.left.position > DOUBTFUL {
        net.look_ahead(ahead, worker);
        net.left.foreseen = net.aim(model, &worker.predicted, h);
        for _ in 0..RELAXED {
            let before = net.left.foreseen;
            if !(OPEN_MAX..=HOPELESS * OPEN_MAX).contains(&before) {
                break;
            }
            net.relax(&mut worker.bodies);
            net.look_ahead(ahead, worker);
            net.left.foreseen = net.aim(model, &worker.predicted, h);
            if net.left.foreseen > STALLED * before {
                break;
            }
        }
    }
    net.end(&worker.bodies);
    net.first.clone_from(&net.lambda);
    net.keep_wrenches();
    view.island.net = Some(net);
}

/// Solves the second half: impulses at t + h that leave no velocity along the rows.
pub(crate) fn second(
    model: &Model,
    state: &State,
    h: f64,
    worker: &mut Worker,
    view: &mut IslandView<'_>,
) {
    let Some(mut net) = view.island.net.take() else {
        return;
    };
    net.turn(model, &state.bodies);
    net.begin(&mut worker.bodies, 0.25 * h * h, |net, knot| {
        knot.force(&net.rows, &net.first[knot.range()]) * (2.0 / h)
    });
    net.x.fill(0.0);
    net.add_velocities(-1.0, &worker.bodies);
    net.solve(&mut worker.bodies, &mut worker.work);
    net.end(&worker.bodies);
    view.island.net = Some(net);
}

impl Net {
    /// Takes the joints of an island in; false if they are no net. `direct_cost` is what the direct solve by bodies may cost for them [block products].
    pub(crate) fn takes(&mut self, model: &Model, joints: &[u32], direct_cost: f64) -> bool {
        let mut same = self.knots.len() == joints.len();
        let mut rows = 0;
        for (k, &slot) in joints.iter().enumerate() {
            let Some(knot) = Knot::new(model, slot, rows) else {
                self.last = None;
                return false;
            };
            rows += knot.count;
            match self.knots.get_mut(k) {
                Some(old) => {
                    same &= old.is_like(&knot);
                    *old = knot;
                }
                None => self.knots.push(knot),
            }
        }
        self.knots.truncate(joints.len());
        if let Some((cost, is_net)) = self.last
            && same
            && cost == direct_cost
        {
            return is_net;
        }
        let is_net = self.analyse(model, rows as usize, direct_cost);
        self.last = Some((direct_cost, is_net));
        is_net
    }

    /// Numbers the bodies and orders the joints; false if the bodies can be solved directly, or the joints do not fit.
    fn analyse(&mut self, model: &Model, rows: usize, direct_cost: f64) -> bool {
        self.numbers.clear();
        self.numbers.resize(model.bodies.len() + 1, NONE);
        self.slots.clear();
        self.ends.clear();
        for knot in &self.knots {
            let mut ends = [NONE; 2];
            for side in 0..2 {
                if knot.moves[side] {
                    let number = &mut self.numbers[knot.ends[side] as usize];
                    if *number == NONE {
                        *number = self.slots.len() as u32;
                        self.slots.push(knot.ends[side]);
                    }
                    ends[side] = *number;
                }
            }
            self.ends.push(ends);
        }
        let (bodies, cost) = (self.slots.len(), direct_cost as u64);
        let between = self.ends.iter().filter(|[a, b]| *a != NONE && *b != NONE);
        let edges = between.map(|&[a, b]| (a, b)).filter(|(a, b)| a != b);
        if cost > 0 && Pattern::default().analyse(bodies, edges, cost) {
            return false;
        }
        // A net of ball joints alone needs no rows.
        let kept = if self.knots.iter().all(|k| k.ball) {
            0
        } else {
            rows
        };
        self.rows.clear();
        self.rows.resize(kept, JointRow::default());
        for list in [&mut self.open, &mut self.lambda, &mut self.x] {
            list.clear();
            list.resize(rows, 0.0);
        }
        self.stiff.clear();
        self.stiff.resize(bodies, Stiff::default());
        self.before.clear();
        self.before.resize(bodies, Vec3::ZERO);
        self.made_of_levers.clear();
        let joints = self.ends.iter().zip(&self.knots);
        let joints = joints.map(|(&ends, knot)| (ends, knot.count));
        self.factor.analyse(bodies, joints, COST_ROW * rows as u64)
    }

    /// How many joints it has.
    pub(crate) const fn len(&self) -> usize {
        self.knots.len()
    }

    /// Its joints.
    pub(crate) fn knots(&self) -> &[Knot] {
        &self.knots
    }

    /// Slots of its bodies that can move.
    pub(crate) fn bodies(&self) -> &[u32] {
        &self.slots
    }

    /// Brings the knots to where they are, without impulses.
    fn turn(&mut self, model: &Model, states: &[BodyState]) {
        let mut worst: f64 = 0.0;
        for knot in &mut self.knots {
            let residuals = knot.turn(model, states, &mut self.rows);
            for (open, r) in self.open[knot.range()].iter_mut().zip(residuals) {
                *open = r;
                worst = worst.max(r.abs());
            }
        }
        self.left = Left {
            position: worst,
            ..Left::default()
        };
        // Remembered impulses would add up to a stress that no motion needs.
        self.lambda.fill(0.0);
        self.pushes.clear();
        self.pushes.resize(self.slots.len(), Pair::default());
    }

    /// Aims from where the bodies would go: fills in what velocities miss to close a part of what is open. Returns the worst
    /// residual there.
    fn aim(&mut self, model: &Model, predicted: &[BodyState], h: f64) -> f64 {
        let per_h = 1.0 / h;
        let mut worst: f64 = 0.0;
        for (knot, &at) in self.knots.iter().zip(&self.factor.place) {
            let then = knot.residuals(model, predicted);
            let n = knot.count as usize;
            let open = &self.open[knot.range()];
            for ((x, then), open) in self.x[at as usize..][..n].iter_mut().zip(then).zip(open) {
                let goal = (1.0 - CLOSED) * open;
                worst = worst.max(then.abs());
                *x = ((goal - then) * per_h).clamp(-CORRECTION_MAX, CORRECTION_MAX);
            }
        }
        worst
    }

    /// Adds the velocities of the rows to what they miss, times a sign. Keeps the worst of them.
    fn add_velocities(&mut self, sign: f64, bodies: &Bodies) {
        for (knot, &at) in self.knots.iter().zip(&self.factor.place) {
            let u = knot.velocity(&self.rows, bodies);
            let n = knot.count as usize;
            for (x, u) in self.x[at as usize..][..n].iter_mut().zip(u) {
                *x += sign * u;
            }
        }
    }

    /// Gives the bodies the inertia that keeps them from swinging faster than the step follows, and takes the velocity that it costs.
    /// `force` is that of a joint on its second body; `square` is (h/2)².
    fn begin(&mut self, bodies: &mut Bodies, square: f64, force: impl Fn(&Self, &Knot) -> Vec3) {
        let mut sums = std::mem::take(&mut self.sums);
        sums.clear();
        sums.resize(self.slots.len(), Mat3::ZERO);
        for (knot, ends) in self.knots.iter().zip(&self.ends) {
            let f = force(self, knot);
            for (number, r, f) in [(ends[0], knot.levers[0], -f), (ends[1], knot.levers[1], f)] {
                if number != NONE {
                    sums[number as usize] += stiffness(r, f);
                }
            }
        }
        let now = self.slots.iter().zip(&sums);
        let now = now.map(|(&slot, &K)| (bodies[slot as usize].inverse_inertia, K * square));
        renew(&mut self.stiff, now, &mut self.todo);
        self.sums = sums;
        let all = self.slots.iter().zip(&self.stiff);
        for ((&slot, stiff), before) in all.zip(&mut self.before) {
            let body = &mut bodies[slot as usize];
            *before = body.w;
            if let Some(s) = &stiff.answer {
                body.inverse_inertia = s.inverse;
                body.w = s.inverse * (s.inertia * body.w);
            }
        }
    }

    /// Whether the matrix is another than the one that was factored last; notes what it is made of.
    fn is_other(&mut self, bodies: &Bodies) -> bool {
        let (levers, rows) = (&mut self.made_of_levers, &mut self.made_of_rows);
        let answers = &mut self.made_of_answers;
        let answer = |&slot: &u32| {
            let b = &bodies[slot as usize];
            (b.inverse_mass, b.inverse_inertia)
        };
        let same = self
            .knots
            .iter()
            .map(|k| k.levers)
            .eq(levers.iter().copied())
            && self.slots.iter().map(answer).eq(answers.iter().copied())
            && self.rows == *rows;
        if !same {
            levers.clear();
            levers.extend(self.knots.iter().map(|k| k.levers));
            answers.clear();
            answers.extend(self.slots.iter().map(answer));
            rows.clone_from(&self.rows);
        }
        !same
    }

    /// Factors the matrix and solves for what is missing; false if it is not positive definite.
    fn factor_and_solve(&mut self, bodies: &Bodies) -> bool {
        let (knots, rows, slots) = (&self.knots, &self.rows, &self.slots);
        let fill = |entry: &Entry, out: &mut [f64]| {
            let slot = slots[entry.body as usize];
            let (p, q) = (&knots[entry.row as usize], &knots[entry.column as usize]);
            block(p, q, slot, rows, &bodies[slot as usize], out);
            if entry.row == entry.column {
                let n = q.count as usize;
                for i in 0..n {
                    out[i * (n + 1)] *= 1.0 + SOFT;
                }
            }
        };
        self.factor.factor_and_solve(fill, &mut self.x)
    }

    /// Changes impulses and velocities so that the rows get what they miss: (A + ε diag A) λ = x. False if the matrix is not positive definite.
    fn solve(&mut self, bodies: &mut Bodies, work: &mut SolverWork) -> bool {
        if self.is_other(bodies) {
            self.is_factored = self.factor_and_solve(bodies);
        } else if self.is_factored {
            self.factor.solve(&mut self.x);
        }
        if !self.is_factored {
            work.cap_measured();
            return false;
        }
        work.newton_steps += 1;
        self.changes.clear();
        self.changes.resize(self.slots.len(), Pair::default());
        let places = self.factor.place.iter();
        for ((knot, ends), &at) in self.knots.iter().zip(&self.ends).zip(places) {
            let step = &self.x[at as usize..][..knot.count as usize];
            let w = knot.wrench(&self.rows, step);
            for (lambda, x) in self.lambda[knot.range()].iter_mut().zip(step) {
                *lambda += x;
            }
            for (number, P, L) in [(ends[0], -w.e, w.ang_a), (ends[1], w.e, w.ang_b)] {
                if number != NONE {
                    let change = &mut self.changes[number as usize];
                    change.0 += P;
                    change.1 += L;
                }
            }
        }
        let changes = self.changes.iter().zip(&mut self.pushes);
        for (&slot, (change, push)) in self.slots.iter().zip(changes) {
            let body = &mut bodies[slot as usize];
            body.v += change.0 * body.inverse_mass;
            body.w += body.inverse_inertia * change.1;
            push.0 += change.0;
            push.1 += change.1;
        }
        true
    }

    /// Sweeps over the joints, one after the other, for what they still miss. What the motion of a step leaves in a few joints is met by their neighbours;
    /// another solve of all would answer with motions of the whole net that A hardly resists, and grow (tried).
    fn relax(&mut self, bodies: &mut Bodies) {
        // From here on: the velocities to reach.
        self.add_velocities(1.0, bodies);
        let rows = &self.rows;
        self.alone.clear();
        self.alone
            .extend(self.knots.iter().map(|knot| knot.alone(rows, bodies)));
        let count = self.knots.len();
        for k in (0..count)
            .chain((0..count).rev())
            .cycle()
            .take(2 * SWEEPS * count)
        {
            let (knot, ends) = (&self.knots[k], self.ends[k]);
            let goal = &self.x[self.factor.place[k] as usize..];
            let mut step = Rows::default();
            knot.answer(&self.rows, bodies, goal, &self.alone[k], &mut step);
            let w = knot.wrench(&self.rows, &step[..knot.count as usize]);
            for (lambda, x) in self.lambda[knot.range()].iter_mut().zip(step) {
                *lambda += x;
            }
            let sides = [(0, -w.e, w.ang_a), (1, w.e, w.ang_b)];
            for (side, P, L) in sides {
                if ends[side] != NONE {
                    let body = &mut bodies[knot.ends[side] as usize];
                    body.v += P * body.inverse_mass;
                    body.w += body.inverse_inertia * L;
                    let push = &mut self.pushes[ends[side] as usize];
                    (push.0, push.1) = (push.0 + P, push.1 + L);
                }
            }
        }
    }

    /// Where the bodies go with the velocities just found.
    fn look_ahead(&self, ahead: &Lookahead<'_>, worker: &mut Worker) {
        for &slot in &self.slots {
            let i = slot as usize;
            let Some(body) = &ahead.model.bodies[i] else {
                continue;
            };
            let start = BodyState {
                velocity: worker.bodies[i].v,
                angular_velocity: worker.bodies[i].w,
                ..ahead.state.bodies[i]
            };
            let a = integrate::acceleration(ahead.model, body, &ahead.state.loads[i]);
            worker.predicted[i] = integrate::fly(body, &start, a, ahead.h);
        }
    }

    /// Accounts for the half: velocities along the rows, energy of stiffness and of moved bodies.
    fn end(&mut self, bodies: &Bodies) {
        let each = self.slots.iter().zip(&self.stiff);
        for ((&slot, stiff), (push, &before)) in each.zip(self.pushes.iter().zip(&self.before)) {
            if let Some(s) = &stiff.answer {
                self.left.taken += s.taken(push.1, before, bodies[slot as usize].w);
            }
        }
        for knot in &self.knots {
            let u: Rows = knot.velocity(&self.rows, bodies);
            for u in &u[..knot.count as usize] {
                self.left.velocity = self.left.velocity.max(u.abs());
            }
            if knot.moves == [true; 2] {
                continue;
            }
            let w = knot.wrench(&self.rows, &self.lambda[knot.range()]);
            let [a, b] = knot.ends.map(|slot| &bodies[slot as usize]);
            if !knot.moves[0] {
                self.left.prescribed += w.e.dot(a.v) - w.ang_a.dot(a.w);
            }
            if !knot.moves[1] {
                self.left.prescribed -= w.e.dot(b.v) + w.ang_b.dot(b.w);
            }
        }
    }

    /// Force and torque of the half about the origin of each joint on B.
    fn wrench(&self, knot: &Knot) -> Pair {
        let w = knot.wrench(&self.rows, &self.lambda[knot.range()]);
        if knot.ball {
            return (w.e, Vec3::ZERO);
        }
        (w.e, w.ang_b - knot.levers[1].cross(w.e))
    }

    fn keep_wrenches(&mut self) {
        let mut wrenches = std::mem::take(&mut self.wrenches);
        wrenches.clear();
        wrenches.extend(self.knots.iter().map(|knot| self.wrench(knot)));
        self.wrenches = wrenches;
    }

    /// After the second half of a step of length `h`: memory for the next one, and forces for users.
    pub(crate) fn react(
        &self,
        model: &Model,
        state: &mut State,
        h: f64,
        records: &mut Vec<JointRecord>,
    ) {
        for (knot, before) in self.knots.iter().zip(&self.wrenches) {
            let slot = knot.joint as usize;
            let Some(joint) = knot.joint(model) else {
                continue;
            };
            let kind = joint.desc.kind;
            let (mut angle, mut displacement) = (0.0, 0.0);
            let slides = kind.slides() || matches!(kind, JointKind::Distance { .. });
            if kind.turns() || slides {
                let place = joint.place(&state.bodies, &state.joints);
                if kind.turns() {
                    angle = unwrapped(place.turn(kind).1, state.joints[slot].angle);
                }
                if slides {
                    displacement = free_value(kind, &place);
                }
            }
            let mut memory = JointMemory {
                angle,
                ..JointMemory::default()
            };
            // Nets are not divided in time for their stiffness: they tell of no force.
            let n = knot.count as usize;
            memory.first[..n].copy_from_slice(&self.first[knot.range()]);
            memory.second[..n].copy_from_slice(&self.lambda[knot.range()]);
            state.joints[slot] = memory;
            let now = self.wrench(knot);
            records.push(JointRecord {
                joint: knot.joint,
                time: state.time,
                impulse: before.0 + now.0,
                angular_impulse: before.1 + now.1,
                duration: h,
                angle,
                displacement,
            });
        }
    }

    /// What a joint left at the end of the step: the worst of its rows.
    pub(crate) fn residuals(&self) -> Residuals {
        Residuals {
            joint_position: self.left.position,
            joint_velocity: self.left.velocity,
            ..Residuals::default()
        }
    }
}
