//! What the mates of a component leave free, and which of their rows hold nothing more.
//!
//! Reads: Model (joints), body states.  Writes: the report.
//! Called by: `assembly`.
//! Source: docs/assembly.md, "Rows": the motions that no row sees, combined so that each starts at one mate and moves as few others
//! as possible.

use super::echelon::Echelon;
use super::rows::Row;
use super::{Assembly, FreeMotion, Parts, SurplusRow, Twist, frame, solve, weaker, words};
use crate::math::Vec3;
use crate::model::{Joint, Model};
use crate::state::{BodyState, JointMemory};

/// Part of the largest entry that a motion of an earlier mate must have to be the one that a freedom is named by [1].
const NAMED: f64 = 0.1;
/// Entries below this part of the first are rounding [1].
const NOTHING: f64 = 1e-9;
/// Motions that are put into words for one component.
const MOTIONS_MAX: usize = 100;

/// Examines one component where it is.
pub(crate) fn examine(
    model: &Model,
    parts: &Parts,
    states: &[BodyState],
    memory: &[JointMemory],
    report: &mut Assembly,
) {
    let rows = solve::gather(model, parts, &parts.mates, states, memory);
    // A component that floats is seen from its heaviest body.
    let root = if parts.grounded {
        None
    } else {
        heaviest(model, parts)
    };
    let echelon = Echelon::new(parts.slots.len(), &rows, root);
    report.rows += rows.len();
    report.rank += echelon.rank();
    report.freedoms += echelon.free.len() + if root.is_some() { 6 } else { 0 };
    if let Some(n) = root {
        report
            .floating
            .push(model.id(parts.slots[n as usize] as usize));
    }
    for &i in &echelon.surplus {
        surplus(model, &rows[i], states, report);
    }
    if !echelon.surplus.is_empty() {
        weaker::propose(model, parts, states, memory, report);
    }
    if echelon.free.len() > MOTIONS_MAX {
        let note = format!(
            "{} free motions of one component are not put into words",
            echelon.free.len()
        );
        report.notes.push(note);
        return;
    }
    let mut basis: Vec<Motion> = (0..echelon.free.len())
        .map(|k| Motion::new(model, parts, states, echelon.motion(k)))
        .collect();
    sort_out(&mut basis);
    for motion in &basis {
        report.motions.push(motion.tell(model, parts));
    }
}

fn heaviest(model: &Model, parts: &Parts) -> Option<u32> {
    let mass = |n: &u32| {
        let slot = parts.slots[*n as usize] as usize;
        model.bodies[slot].as_ref().map_or(0.0, |b| b.mass)
    };
    let all = 0..parts.slots.len() as u32;
    all.reduce(|best, n| if mass(&n) > mass(&best) { n } else { best })
}

fn surplus(model: &Model, row: &Row, states: &[BodyState], report: &mut Assembly) {
    let Some(joint) = &model.joints[row.mate as usize] else {
        return;
    };
    report.surplus.push(SurplusRow {
        mate: model.joint_id(row.mate as usize),
        direction: row.direction,
        text: words::surplus(joint, row.direction, &frame(joint, states)),
    });
}

/// A motion that no row sees.
pub(crate) struct Motion {
    /// By body number: ξ.
    xi: Vec<[f64; 6]>,
    /// By mate of the component: rates of B relative to A, about and along the axes of the mate.
    pub rates: Vec<[f64; 6]>,
    /// The mate and the rate that it is named by.
    pub named: (usize, usize),
}

impl Motion {
    fn new(model: &Model, parts: &Parts, states: &[BodyState], xi: Vec<[f64; 6]>) -> Self {
        let twist = |slot: Option<u32>| {
            let number = slot.and_then(|s| parts.number(s));
            let (Some(n), Some(slot)) = (number, slot) else {
                return (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
            };
            let (x, k) = (&xi[n as usize], parts.gyration[n as usize]);
            let turn = Vec3::new(x[3], x[4], x[5]) / k;
            (
                Vec3::new(x[0], x[1], x[2]),
                turn,
                states[slot as usize].position,
            )
        };
        let rates = |joint: &Joint| {
            let at = frame(joint, states);
            let velocity = |slot: Option<u32>| {
                let (v, w, center) = twist(slot);
                (v + w.cross(at.position - center), w)
            };
            let ((v_a, w_a), (v_b, w_b)) = (velocity(joint.a), velocity(Some(joint.b)));
            let turn = at.vector_to_local(w_b - w_a);
            let shift = at.vector_to_local(v_b - v_a);
            [turn.x, turn.y, turn.z, shift.x, shift.y, shift.z]
        };
        let rates = parts
            .mates
            .iter()
            .map(|&m| match &model.joints[m as usize] {
                Some(joint) if joint.mesh.is_none() => rates(joint),
                _ => [0.0; 6],
            })
            .collect();
        Self {
            xi,
            rates,
            named: (0, 0),
        }
    }

    fn add(&mut self, other: &Self, factor: f64) {
        let pairs = self.xi.iter_mut().zip(&other.xi);
        for (x, y) in pairs.chain(self.rates.iter_mut().zip(&other.rates)) {
            x.iter_mut().zip(y).for_each(|(x, y)| *x += factor * y);
        }
    }

    fn scale(&mut self, factor: f64) {
        let all = self.xi.iter_mut().chain(self.rates.iter_mut());
        all.flatten().for_each(|x| *x *= factor);
    }

    fn tell(&self, model: &Model, parts: &Parts) -> FreeMotion {
        let twists = self.xi.iter().enumerate().filter_map(|(n, x)| {
            let k = parts.gyration[n];
            let size = x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            (size > NOTHING).then(|| Twist {
                body: model.id(parts.slots[n] as usize),
                velocity: Vec3::new(x[0], x[1], x[2]),
                angular_velocity: Vec3::new(x[3], x[4], x[5]) / k,
            })
        });
        FreeMotion {
            text: words::motion(model, parts, self),
            twists: twists.collect(),
        }
    }
}

/// Combines the motions so that each moves one rate of a mate by one that the others leave alone.
fn sort_out(basis: &mut [Motion]) {
    for k in 0..basis.len() {
        let size = |m: &Motion| {
            m.rates
                .iter()
                .flatten()
                .fold(0.0, |s: f64, x| s.max(x.abs()))
        };
        let largest = basis[k..].iter().map(size).fold(0.0, f64::max);
        if largest <= 0.0 {
            return;
        }
        let Some((row, mate, rate)) = first_large(&basis[k..], NAMED * largest) else {
            return;
        };
        basis.swap(k, k + row);
        let pivot = basis[k].rates[mate][rate];
        basis[k].scale(1.0 / pivot);
        basis[k].named = (mate, rate);
        for i in 0..basis.len() {
            if i == k {
                continue;
            }
            let factor = -basis[i].rates[mate][rate];
            if factor != 0.0 {
                let (low, high) = basis.split_at_mut(i.max(k));
                let (one, own) = if i < k {
                    (&mut low[i], &high[0])
                } else {
                    (&mut high[0], &low[k])
                };
                one.add(own, factor);
            }
        }
    }
}

/// The first mate with a rate of at least `least`, its largest rate, and the motion that has it.
fn first_large(basis: &[Motion], least: f64) -> Option<(usize, usize, usize)> {
    let mates = basis.first()?.rates.len();
    for mate in 0..mates {
        let mut best = (0, 0, 0.0);
        for (row, motion) in basis.iter().enumerate() {
            for (rate, x) in motion.rates[mate].iter().enumerate() {
                if x.abs() > best.2 {
                    best = (row, rate, x.abs());
                }
            }
        }
        if best.2 >= least {
            return Some((best.0, mate, best.1));
        }
    }
    None
}
