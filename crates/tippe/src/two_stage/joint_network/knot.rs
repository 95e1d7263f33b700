//! Knots: the joints of a net, with as little as its solve needs of each. Ball joints are their levers, all others have rows.
//!
//! Reads: Model (joints), body states.  Writes: nothing but knots.
//! Called by: `net`.
//! Source: docs/methods/two-stage.md, "Joints"; docs/solver.md, "Joint networks". Letters: r levers from the centres of
//! mass, λ impulses of the rows, A = J M⁻¹ Jᵀ.

#![allow(non_snake_case)]

use crate::dynamics::joint::{JointPlace, JointRow};
use crate::joint::JointKind;
use crate::math::{Mat3, Vec3};
use crate::model::{Joint, Model};
use crate::solver::ends::SolverBody;
use crate::state::BodyState;

/// A joint of a net.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knot {
    /// Slot of the joint.
    pub joint: u32,
    /// Slots of A and B; the world is the slot after the last body.
    pub ends: [u32; 2],
    /// Whether they can move.
    pub moves: [bool; 2],
    /// First of its rows among those of the net, and how many it has.
    pub start: u32,
    pub count: u32,
    pub ball: bool,
    /// Origins of the joint in the axes of A and B, from their centres of mass [m].
    local: [Vec3; 2],
    /// The same in world axes. Written by `turn`.
    pub levers: [Vec3; 2],
}

/// Rows of a knot in numbers: velocities, impulses, residuals. Ball joints have three, along the world axes.
pub(crate) type Rows = [f64; 6];

impl Knot {
    /// The joint in a slot, if it holds something, without motors, limits, counted turns or trees.
    pub(crate) fn new(model: &Model, slot: u32, start: u32) -> Option<Self> {
        let joint = model.joints[slot as usize].as_ref()?;
        let free = [&joint.desc.rotation, &joint.desc.translation];
        let count = match joint.desc.kind {
            JointKind::Distance { min, max } if min < max => 0,
            kind => kind.rank() as u32,
        };
        let plain = free.iter().all(|f| f.is_free());
        if count == 0 || !plain || joint.desc.kind.winds() || model.is_linked(joint) {
            return None;
        }
        let ends = [joint.a.unwrap_or(model.bodies.len() as u32), joint.b];
        let moves = |slot: u32| {
            let body = model.bodies.get(slot as usize).and_then(Option::as_ref);
            body.is_some_and(|b| b.inverse_mass > 0.0)
        };
        Some(Self {
            joint: slot,
            ends,
            moves: ends.map(moves),
            start,
            count,
            ball: joint.desc.kind == JointKind::Ball,
            local: [joint.local_a.position, joint.local_b.position],
            levers: [Vec3::ZERO; 2],
        })
    }

    /// Whether it ties the same bodies in the same way, wherever they are.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.joint, self.ends, self.moves) == (other.joint, other.ends, other.moves)
            && (self.count, self.ball) == (other.count, other.ball)
    }

    /// Its rows among those of the net.
    pub(crate) const fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.count) as usize
    }

    /// The joint itself.
    pub(crate) fn joint<'m>(&self, model: &'m Model) -> Option<&'m Joint> {
        model.joints[self.joint as usize].as_ref()
    }

    /// Levers in the given states, and the way from the point of A to the point of B.
    fn look(&self, states: &[BodyState]) -> ([Vec3; 2], Vec3) {
        let side = |k: usize| match states.get(self.ends[k] as usize) {
            Some(s) => (s.position, s.rotation * self.local[k]),
            None => (Vec3::ZERO, self.local[k]),
        };
        let ((x_a, r_a), (x_b, r_b)) = (side(0), side(1));
        ([r_a, r_b], (x_b - x_a) + (r_b - r_a))
    }

    /// Brings levers and rows to the given states; returns the residuals.
    pub(crate) fn turn(
        &mut self,
        model: &Model,
        states: &[BodyState],
        rows: &mut [JointRow],
    ) -> Rows {
        if self.ball {
            let delta;
            (self.levers, delta) = self.look(states);
            return along_axes(delta);
        }
        let Some(joint) = self.joint(model) else {
            return Rows::default();
        };
        let place = joint.place(states, &[]);
        let held = place.held(joint.desc.kind);
        rows[self.range()].copy_from_slice(&held.rows[..self.count as usize]);
        self.levers = levers(&place);
        held.residuals
    }

    /// Residuals in the given states.
    pub(crate) fn residuals(&self, model: &Model, states: &[BodyState]) -> Rows {
        if self.ball {
            return along_axes(self.look(states).1);
        }
        let held = |joint: &Joint| joint.place(states, &[]).held(joint.desc.kind).residuals;
        self.joint(model).map_or(Rows::default(), held)
    }

    /// Velocities along its rows.
    pub(crate) fn velocity(&self, rows: &[JointRow], bodies: &[SolverBody]) -> Rows {
        let [a, b] = self.ends.map(|slot| &bodies[slot as usize]);
        if self.ball {
            let [r_a, r_b] = self.levers;
            return along_axes((b.v - a.v) + (b.w.cross(r_b) - a.w.cross(r_a)));
        }
        let mut out = Rows::default();
        for (u, row) in out.iter_mut().zip(&rows[self.range()]) {
            *u = row.velocity(a, b);
        }
        out
    }

    /// Impulse on B, and angular impulses on A and B about their centres of mass.
    pub(crate) fn wrench(&self, rows: &[JointRow], lambda: &[f64]) -> JointRow {
        if let (true, &[x, y, z, ..]) = (self.ball, lambda) {
            let P = Vec3::new(x, y, z);
            let [r_a, r_b] = self.levers;
            return JointRow {
                e: P,
                ang_a: -r_a.cross(P),
                ang_b: r_b.cross(P),
            };
        }
        let mut sum = JointRow::default();
        for (row, &l) in rows[self.range()].iter().zip(lambda) {
            sum.e += row.e * l;
            sum.ang_a += row.ang_a * l;
            sum.ang_b += row.ang_b * l;
        }
        sum
    }

    /// Impulse on B alone.
    pub(crate) fn force(&self, rows: &[JointRow], lambda: &[f64]) -> Vec3 {
        if let (true, &[x, y, z, ..]) = (self.ball, lambda) {
            return Vec3::new(x, y, z);
        }
        let rows = rows[self.range()].iter().zip(lambda);
        rows.fold(Vec3::ZERO, |sum, (row, &l)| sum + row.e * l)
    }

    /// Inverse of the block of A by which a ball joint answers itself; the diagonal of that block, inverted, for all others.
    pub(crate) fn alone(&self, rows: &[JointRow], bodies: &[SolverBody]) -> Mat3 {
        let n = self.count as usize;
        let mut A = [0.0; 36];
        for slot in self.ends {
            let mut one = [0.0; 36];
            let body = &bodies[slot as usize];
            block(self, self, slot, rows, body, &mut one[..n * n]);
            A.iter_mut().zip(one).for_each(|(sum, x)| *sum += x);
        }
        let of = |i: usize| if i < n { A[i * (n + 1)] } else { 0.0 };
        if self.ball {
            let [a, b, c, d, e, f, g, h, i, ..] = A;
            return Mat3::from_cols_array(&[a, b, c, d, e, f, g, h, i]).inverse();
        }
        let inverse = |i: usize| if of(i) > 0.0 { 1.0 / of(i) } else { 0.0 };
        let first = Vec3::new(inverse(0), inverse(1), inverse(2));
        let second = Vec3::new(inverse(3), inverse(4), inverse(5));
        Mat3::from_cols(first, second, Vec3::ZERO)
    }

    /// Impulses that bring the velocities of its rows to `goal`, given what `alone` told; one row after the other where it is no ball joint.
    pub(crate) fn answer(
        &self,
        rows: &[JointRow],
        bodies: &[SolverBody],
        goal: &[f64],
        alone: &Mat3,
        out: &mut Rows,
    ) {
        let u = self.velocity(rows, bodies);
        if self.ball {
            let miss = Vec3::new(goal[0] - u[0], goal[1] - u[1], goal[2] - u[2]);
            *out = along_axes(*alone * miss);
            return;
        }
        let masses = alone.to_cols_array();
        let [mut a, mut b] = self.ends.map(|slot| bodies[slot as usize]);
        for (i, row) in rows[self.range()].iter().enumerate() {
            let x = (goal[i] - row.velocity(&a, &b)) * masses[i];
            out[i] = x;
            a.v -= row.e * (x * a.inverse_mass);
            a.w += a.inverse_inertia * (row.ang_a * x);
            b.v += row.e * (x * b.inverse_mass);
            b.w += b.inverse_inertia * (row.ang_b * x);
        }
    }

    /// Rows of either kind, one by one.
    fn row(&self, rows: &[JointRow], i: usize) -> JointRow {
        if self.ball {
            let e = Vec3::AXES[i];
            let [r_a, r_b] = self.levers;
            JointRow {
                e,
                ang_a: -r_a.cross(e),
                ang_b: r_b.cross(e),
            }
        } else {
            rows[self.start as usize + i]
        }
    }
}

fn along_axes(v: Vec3) -> Rows {
    [v.x, v.y, v.z, 0.0, 0.0, 0.0]
}

/// Levers from the centres of mass to the origins of a joint.
fn levers(place: &JointPlace) -> [Vec3; 2] {
    [
        place.a.position - place.center_a,
        place.b.position - place.center_b,
    ]
}

/// The block of A by which the rows of `p` answer those of `q` through the body in `slot`; row by row into `out`.
#[inline]
pub(crate) fn block(
    p: &Knot,
    q: &Knot,
    slot: u32,
    rows: &[JointRow],
    body: &SolverBody,
    out: &mut [f64],
) {
    let side = |k: &Knot| usize::from(k.ends[0] != slot);
    let (s, t) = (side(p), side(q));
    if let (true, Ok(out)) = (p.ball && q.ball, <&mut [f64; 9]>::try_from(&mut *out)) {
        let sign = if s == t { 1.0 } else { -1.0 };
        let (r_p, r_q) = (p.levers[s], q.levers[t]);
        // Column j: ± (e_j/m − r_p × I⁻¹ (r_q × e_j)).
        let I = &body.inverse_inertia;
        let turned = [
            I.y_axis * r_q.z - I.z_axis * r_q.y,
            I.z_axis * r_q.x - I.x_axis * r_q.z,
            I.x_axis * r_q.y - I.y_axis * r_q.x,
        ];
        for (j, w) in turned.into_iter().enumerate() {
            let u = w.cross(r_p) * sign;
            (out[j], out[3 + j], out[6 + j]) = (u.x, u.y, u.z);
            out[4 * j] += sign * body.inverse_mass;
        }
        return;
    }
    let act = |k: &Knot, row: JointRow| {
        if k.ends[0] == slot {
            (-row.e, row.ang_a)
        } else {
            (row.e, row.ang_b)
        }
    };
    let n = q.count as usize;
    for i in 0..p.count as usize {
        let (e, turn) = act(p, p.row(rows, i));
        let (e, turn) = (e * body.inverse_mass, body.inverse_inertia * turn);
        for (j, x) in out[i * n..][..n].iter_mut().enumerate() {
            let (e_q, turn_q) = act(q, q.row(rows, j));
            *x = e.dot(e_q) + turn.dot(turn_q);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knot(joint: u32, ends: [u32; 2], x: f64) -> Knot {
        Knot {
            joint,
            ends,
            moves: [true; 2],
            start: 3 * joint,
            count: 3,
            ball: true,
            local: [Vec3::ZERO; 2],
            levers: [Vec3::new(x, 0.3, -0.2), Vec3::new(0.1, -x, 0.7)],
        }
    }

    fn body() -> SolverBody {
        SolverBody {
            v: Vec3::new(0.3, -0.1, 0.2),
            w: Vec3::new(-1.0, 0.5, 0.4),
            inverse_mass: 0.25,
            inverse_inertia: Mat3::from_cols(
                Vec3::new(3.0, 0.2, 0.1),
                Vec3::new(0.2, 2.0, -0.3),
                Vec3::new(0.1, -0.3, 4.0),
            ),
        }
    }

    /// A joint by itself gets the velocity it is given; of rows that are answered one after the other, the last one does.
    #[test]
    fn an_answer_reaches_its_goal() {
        let ball = knot(0, [0, 1], 0.5);
        let rows: Vec<JointRow> = (0..3).map(|i| ball.row(&[], i)).collect();
        let goal = [0.4, -0.6, 0.8];
        for (knot, exact) in [
            (ball, 0),
            (
                Knot {
                    ball: false,
                    ..ball
                },
                2,
            ),
        ] {
            let other = SolverBody {
                v: Vec3::X,
                ..body()
            };
            let mut bodies = [body(), other];
            let mut step = Rows::default();
            let alone = knot.alone(&rows, &bodies);
            knot.answer(&rows, &bodies, &goal, &alone, &mut step);
            let w = knot.wrench(&rows, &step[..3]);
            for (b, P, L) in [(0, -w.e, w.ang_a), (1, w.e, w.ang_b)] {
                let change = bodies[b].inverse_inertia * L;
                bodies[b].w += change;
                bodies[b].v += P * 0.25;
            }
            let u = knot.velocity(&rows, &bodies);
            for i in exact..3 {
                assert!((u[i] - goal[i]).abs() < 1e-14, "{u:?}");
            }
        }
    }

    /// The short way for two ball joints gives what their rows give.
    #[test]
    fn blocks_of_ball_joints_are_those_of_their_rows() {
        let knots = [knot(0, [4, 7], 0.5), knot(1, [7, 2], -0.4)];
        let body = body();
        let mut rows = Vec::new();
        for k in &knots {
            rows.extend((0..3).map(|i| k.row(&[], i)));
        }
        let by_rows = knots.map(|k| Knot { ball: false, ..k });
        for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (mut x, mut y) = ([0.0; 9], [0.0; 9]);
            block(&knots[p], &knots[q], 7, &rows, &body, &mut x);
            block(&by_rows[p], &by_rows[q], 7, &rows, &body, &mut y);
            for (x, y) in x.iter().zip(y) {
                assert!((x - y).abs() < 1e-15, "{x} {y}");
            }
        }
    }
}
