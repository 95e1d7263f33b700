//! Rows of mates for assembling: residual and exact Jacobian at any placement, in the axes of the mate, over every body that moves.
//!
//! Reads: Model (joints), body states.  Writes: nothing (pure functions).
//! Called by: `solve`, `diagnosis`, `weaker`.
//! Source: docs/assembly.md, "Rows". Where a joint holds they span what `dynamics::joint` gives to the methods; far from there those are
//! to first order only, and some of them take opposite axes for aligned ones.

#![allow(non_snake_case)]

use super::Parts;
use crate::dynamics::joint::{JointPlace, JointRow, JointRows, rotation_vector};
use crate::joint::JointKind;
use crate::math::Vec3;
use crate::model::Joint;
use crate::state::{BodyState, JointMemory};

/// 1 − cos² of an angle between axes below which it counts as none [1].
const ALIGNED: f64 = 1e-20;

/// What a row keeps from moving, in the axes of the mate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Translation along x, y or z of the mate (0, 1, 2).
    Along(u8),
    /// Rotation about x, y or z of the mate (0, 1, 2).
    About(u8),
    /// The distance of two points.
    Distance,
    /// The angle between two axes.
    Angle,
    /// The ratio of two motions.
    Ratio,
}

/// One row over the bodies that move, in metres: ξ = (translation of the centre of mass, radius of gyration × rotation).
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Slot of the joint.
    pub mate: u32,
    pub direction: Direction,
    /// Residual as it is [m] or [rad].
    pub residual: f64,
    /// The same in metres.
    pub scaled: f64,
    /// Numbers of the bodies, and the row's part for each.
    pub parts: Vec<(u32, [f64; 6])>,
}

/// Appends the rows of a mate as a kind that may be weaker than its own.
pub(crate) fn push(
    parts: &Parts,
    joint: &Joint,
    kind: JointKind,
    states: &[BodyState],
    memory: &[JointMemory],
    out: &mut Vec<Row>,
) {
    let place = joint.place(states, memory);
    let length = parts.length(joint);
    if kind.coupled().is_some() {
        couple(parts, joint, kind, &place, states, length, out);
        return;
    }
    let mut held = Held::default();
    place.exact(kind, &mut held);
    for i in 0..held.rows.count {
        let row = &held.rows.rows[i];
        let direction = held.directions[i].unwrap_or(Direction::Distance);
        let factor = match direction {
            Direction::About(_) | Direction::Angle => length,
            _ => 1.0,
        };
        let residual = held.rows.residuals[i];
        let ends = [
            (joint.a, -row.e, row.ang_a),
            (Some(joint.b), row.e, row.ang_b),
        ];
        out.push(over(parts, joint.slot, direction, residual, factor, &ends));
    }
}

/// A row over the bodies that move.
fn over(
    parts: &Parts,
    mate: u32,
    direction: Direction,
    residual: f64,
    factor: f64,
    ends: &[(Option<u32>, Vec3, Vec3)],
) -> Row {
    let mut row = Row {
        mate,
        direction,
        residual,
        scaled: residual * factor,
        parts: Vec::with_capacity(ends.len()),
    };
    for &(slot, e, turn) in ends {
        let Some(number) = slot.and_then(|s| parts.number(s)) else {
            continue;
        };
        let turn = turn / parts.gyration[number as usize];
        let part = [e.x, e.y, e.z, turn.x, turn.y, turn.z].map(|x| x * factor);
        match row.parts.iter_mut().find(|(n, _)| *n == number) {
            Some((_, there)) => there.iter_mut().zip(part).for_each(|(x, y)| *x += y),
            None => row.parts.push((number, part)),
        }
    }
    row
}

/// The row of a coupling over wheels and carriers.
fn couple(
    parts: &Parts,
    joint: &Joint,
    kind: JointKind,
    place: &JointPlace,
    states: &[BodyState],
    length: f64,
    out: &mut Vec<Row>,
) {
    let (Some([first, second]), Some(mesh)) = (place.members(), &joint.mesh) else {
        return;
    };
    let center = |slot: Option<u32>| slot.map_or(Vec3::ZERO, |s| states[s as usize].position);
    let z1 = first.b.vector(Vec3::Z);
    let held = place.held(kind);
    let (ratio, factor, second_ends) = match kind {
        JointKind::Rack { radius, .. } => {
            let second = JointPlace {
                center_a: center(mesh.carriers[1]),
                ..second
            };
            let (row, _) = second.slide();
            let ends = [
                (mesh.carriers[1], -row.e, row.ang_a),
                (Some(joint.b), row.e, row.ang_b),
            ];
            (radius, 1.0, ends)
        }
        JointKind::Gear { ratio, .. } => {
            let z2 = second.b.vector(Vec3::Z);
            let ends = [
                (mesh.carriers[1], Vec3::ZERO, -z2),
                (Some(joint.b), Vec3::ZERO, z2),
            ];
            (ratio, length, ends)
        }
        _ => return,
    };
    let ends = [
        (mesh.carriers[0], Vec3::ZERO, z1 * ratio),
        (joint.a, Vec3::ZERO, z1 * -ratio),
        second_ends[0],
        second_ends[1],
    ];
    out.push(over(
        parts,
        joint.slot,
        Direction::Ratio,
        held.residuals[0],
        factor,
        &ends,
    ));
}

/// Rows of one mate, and what each keeps from moving.
#[derive(Default)]
struct Held {
    rows: JointRows,
    directions: [Option<Direction>; 6],
}

impl Held {
    fn push(&mut self, direction: Direction, row: JointRow, residual: f64) {
        self.directions[self.rows.count] = Some(direction);
        self.rows.push(row, residual);
    }

    /// Takes rows over, with what they keep from moving.
    fn extend(&mut self, rows: &JointRows, directions: &[Direction]) {
        for (i, direction) in directions.iter().enumerate() {
            self.push(*direction, rows.rows[i], rows.residuals[i]);
        }
    }
}

impl JointPlace {
    /// Everything that must hold for a kind, exact anywhere, in the axes of the mate.
    fn exact(&self, kind: JointKind, held: &mut Held) {
        use Direction::{About, Along, Angle};
        let own: &[Direction] = match kind {
            JointKind::Ball | JointKind::Universal | JointKind::Hinge | JointKind::Fixed => {
                for (k, axis) in Vec3::AXES.into_iter().enumerate() {
                    let e = self.b.vector(axis);
                    held.push(Along(k as u8), self.point_in_b(e), self.delta().dot(e));
                }
                match kind {
                    JointKind::Universal => {
                        let rows = self.held(JointKind::Perpendicular);
                        held.push(Angle, rows.rows[0], rows.residuals[0]);
                    }
                    JointKind::Hinge => self.aligned(held),
                    JointKind::Fixed => self.turned(held),
                    _ => {}
                }
                return;
            }
            JointKind::Slider | JointKind::Cylindrical | JointKind::Screw { .. } => {
                let rows = self.held(JointKind::Cylindrical);
                held.extend(&rows, &[Along(0), Along(1)]);
                match kind {
                    JointKind::Slider => self.turned(held),
                    JointKind::Screw { .. } => {
                        self.aligned(held);
                        let rows = self.held(kind);
                        held.push(Direction::Ratio, rows.rows[4], rows.residuals[4]);
                    }
                    _ => self.aligned(held),
                }
                return;
            }
            JointKind::Orientation => return self.turned(held),
            JointKind::Distance { min, max } => {
                let (row, distance) = self.distance();
                let residual = distance - distance.clamp(min, max);
                if min == max || residual != 0.0 {
                    held.push(Direction::Distance, row, residual);
                }
                return;
            }
            JointKind::PointOnLine => &[Along(0), Along(1)],
            JointKind::PointOnPlane | JointKind::SphereOnPlane { .. } => &[Along(2)],
            JointKind::Parallel => &[About(0), About(1)],
            JointKind::Perpendicular | JointKind::Angle { .. } => &[Angle],
            JointKind::LineOnLine => &[Along(0), Along(1), About(0), About(1)],
            JointKind::Planar => &[Along(2), About(0), About(1)],
            JointKind::CylinderOnPlane { .. } => &[Along(2), Angle],
            _ => &[],
        };
        held.extend(&self.held(kind), own);
    }

    /// The turn that brings z_A to z_B along x and y of B: θ/sin θ (z_A · y_B, −z_A · x_B), zero only where the axes have the same sense.
    fn aligned(&self, held: &mut Held) {
        let (z_a, z_b) = (self.axis_a(), self.axis_b());
        let mut rows = JointRows::default();
        self.axes_parallel(&mut rows);
        let cosine = z_a.dot(z_b).clamp(-1.0, 1.0);
        let square = rows.residuals[0] * rows.residuals[0] + rows.residuals[1] * rows.residuals[1];
        let about = [Direction::About(0), Direction::About(1)];
        if square < ALIGNED && cosine < 0.0 {
            // Opposite: half a turn about x.
            let x = self.b.vector(Vec3::X);
            held.push(about[0], JointRow::angular(x), std::f64::consts::PI);
            held.push(about[1], JointRow::angular(self.b.vector(Vec3::Y)), 0.0);
            return;
        }
        let theta = libm::atan2(square.sqrt(), cosine);
        let same = cosine > 0.0;
        let f = if same && square < 1e-12 {
            1.0 + square / 6.0
        } else {
            theta / square.sqrt()
        };
        // df/d(cos θ), and d(cos θ) = (ω_B − ω_A) · (z_B × z_A).
        let slope = if same && square < 1e-6 {
            -1.0 / 3.0
        } else {
            (cosine * f - 1.0) / square
        };
        let closing = z_b.cross(z_a);
        for i in 0..2 {
            let s = rows.residuals[i];
            let turn = rows.rows[i].ang_b * f + closing * (s * slope);
            held.push(about[i], JointRow::angular(turn), s * f);
        }
    }

    /// Rotation vector φ of R_B R_Aᵀ in the axes of B, with its exact slope: φ' = J⁻¹(φ) (ω_B − R ω_A).
    fn turned(&self, held: &mut Held) {
        let R = self.b.rotation * self.a.rotation.conjugate();
        let phi = rotation_vector(R);
        let angle = phi.length();
        // J⁻¹ = 1 − ½[φ]ₓ + c [φ]ₓ²; its transpose has the other sign in the middle.
        let c = if angle < 1e-4 {
            1.0 / 12.0
        } else {
            let half = 0.5 * angle;
            (1.0 - half * libm::cos(half) / libm::sin(half)) / (angle * angle)
        };
        for (k, axis) in Vec3::AXES.into_iter().enumerate() {
            // φ · e with e fixed in B turns with it: the part of that, φ · (ω_B × e), vanishes where φ does.
            let e = self.b.vector(axis);
            let once = phi.cross(e);
            let b = e + once * 0.5 + phi.cross(once) * c;
            let row = JointRow {
                e: Vec3::ZERO,
                ang_a: -(R.conjugate() * b),
                ang_b: b + e.cross(phi),
            };
            held.push(Direction::About(k as u8), row, phi.dot(e));
        }
    }
}
