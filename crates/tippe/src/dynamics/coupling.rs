//! Rows that couple free motions: screws within one joint, gears and racks between two.
//!
//! Reads: the place of a joint.  Writes: nothing (pure functions).
//! Called by: `joint` (`held`), `world` (whether a coupling can be balanced).
//! Source: docs/assembly.md, "Couplings"; the table of constraints there, after [Ermolin] §4.
//!
//! The rate θ₂' − i θ₁' of a gear also turns the carrier F that both joints sit on: the row has three bodies. The joints hold wheel and
//! carrier together except along their free motion, so multiples of their rows may be added without changing what the rows together
//! allow. `balance` adds what leaves no load on the carrier: then the row has the two wheels alone, as in a mesh of teeth, where the
//! force acts from wheel to wheel.

#![allow(non_snake_case)]

use super::joint::{JointPlace, JointRow, JointRows, unwrapped};
use crate::math::{Mat3, Pose, Vec3};
use std::f64::consts::TAU;

/// Sine of the angle between axes up to which they count as parallel [1].
const PARALLEL: f64 = 1e-6;
/// Determinant below which the load on a carrier cannot be balanced [1].
const SINGULAR: f64 = 1e-9;

/// What a coupling needs to know of the two joints it names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupled {
    /// World poses of the joint frames on the carriers; those on the wheels are the frames of the coupling itself.
    pub carriers: [Pose; 2],
    /// Angles from which full turns are counted [rad].
    pub windings: [f64; 2],
    /// Whether the carriers cannot move, so that they may bear any load.
    pub grounded: bool,
}

/// The load of a coupling before it is balanced: a force e on wheel 2 at q and −e on wheel 1 at its axis, and torques on both.
struct Loads {
    e: Vec3,
    q: Vec3,
    T: [Vec3; 2],
    /// Whether the second joint bears every torque.
    slider: bool,
}

impl JointPlace {
    /// `s − pitch θ/2π = 0`: the slide row less the turn row.
    pub(super) fn screw(&self, pitch: f64, held: &mut JointRows) {
        let ((turn, raw), (slide, s)) = (self.angle(), self.slide());
        let rise = pitch / TAU;
        let row = JointRow {
            e: slide.e,
            ang_a: slide.ang_a - turn.ang_a * rise,
            ang_b: slide.ang_b - turn.ang_b * rise,
        };
        held.push(row, s - rise * unwrapped(raw, self.winding));
    }

    /// `θ₂ − ratio θ₁ − phase = 0`.
    pub(super) fn gear(&self, ratio: f64, phase: f64, held: &mut JointRows) {
        let Some([first, second]) = self.members() else {
            return;
        };
        let loads = Loads {
            e: Vec3::ZERO,
            q: second.b.position,
            T: [first.axis_b() * -ratio, second.axis_b()],
            slider: false,
        };
        let residual = second.wound() - ratio * first.wound() - phase;
        held.push(self.coupling_row(&first, &second, &loads), residual);
    }

    /// `s₂ − radius θ₁ − phase = 0`.
    pub(super) fn rack(&self, radius: f64, phase: f64, held: &mut JointRows) {
        let Some([first, second]) = self.members() else {
            return;
        };
        let loads = Loads {
            e: second.axis_b(),
            q: second.a.position,
            T: [first.axis_b() * -radius, Vec3::ZERO],
            slider: true,
        };
        let residual = second.slide().1 - radius * first.wound() - phase;
        held.push(self.coupling_row(&first, &second, &loads), residual);
    }

    /// Whether the load of a coupling can be kept off its carrier.
    pub(crate) fn can_couple(&self, slider: bool) -> bool {
        let grounded = self.coupled.is_some_and(|c| c.grounded);
        let [Some(first), Some(second)] = [0, 1].map(|k| self.members().map(|m| m[k])) else {
            return false;
        };
        grounded || balancing(&first, &second, slider).2.determinant() > SINGULAR
    }

    /// The two joints of a coupling: carrier as A, wheel as B.
    pub fn members(&self) -> Option<[Self; 2]> {
        let coupled = self.coupled.as_ref()?;
        let wheels = [(self.a, self.center_a), (self.b, self.center_b)];
        Some([0, 1].map(|k| Self {
            a: coupled.carriers[k],
            b: wheels[k].0,
            center_a: Vec3::ZERO,
            center_b: wheels[k].1,
            winding: coupled.windings[k],
            coupled: None,
        }))
    }

    /// Angle about z, counted through full turns [rad].
    #[must_use]
    pub fn wound(&self) -> f64 {
        unwrapped(self.angle().1, self.winding)
    }

    fn coupling_row(&self, first: &Self, second: &Self, loads: &Loads) -> JointRow {
        let (p1, p2) = (first.b.position, second.b.position);
        let mut row = JointRow {
            e: loads.e,
            ang_a: loads.T[0] - (p1 - self.center_a).cross(loads.e),
            ang_b: loads.T[1] + (loads.q - self.center_b).cross(loads.e),
        };
        if self.coupled.is_some_and(|c| c.grounded) {
            return row;
        }
        // Torque on the carrier about p1, and the force and torques through the joints that take it away.
        let m = -((loads.q - p1).cross(loads.e) + loads.T[0] + loads.T[1]);
        let (n, arm, K) = balancing(first, second, loads.slider);
        if K.determinant() <= SINGULAR {
            return row;
        }
        let y = K.inverse() * m;
        let f = n * arm.dot(y);
        row.e += f;
        row.ang_a += across(first.axis_b(), y) - (p1 - self.center_a).cross(f);
        row.ang_b += (p2 - self.center_b).cross(f)
            + if loads.slider {
                y
            } else {
                across(second.axis_b(), y)
            };
        row
    }
}

/// The ways by which joints take torque off a carrier: a pair of forces along n at the two axes, whose torque is `arm` a distance, and
/// torques across the axes; K sums their projections. A slider takes every torque.
fn balancing(first: &JointPlace, second: &JointPlace, slider: bool) -> (Vec3, Vec3, Mat3) {
    let (z1, z2) = (first.axis_b(), second.axis_b());
    let d = second.b.position - first.b.position;
    let side = z1.cross(d);
    let paired = !slider && z1.cross(z2).length() < PARALLEL && side.length() > 0.0;
    let (n, arm) = if paired {
        let n = side / side.length();
        (n / d.length(), d.cross(n) / d.length())
    } else {
        (Vec3::ZERO, Vec3::ZERO)
    };
    let outer = |v: Vec3| Mat3::from_cols(v * v.x, v * v.y, v * v.z);
    let second = if slider {
        Mat3::IDENTITY
    } else {
        Mat3::IDENTITY - outer(z2)
    };
    (n, arm, outer(arm) + (Mat3::IDENTITY - outer(z1)) + second)
}

/// The part of a vector across a unit axis.
fn across(z: Vec3, v: Vec3) -> Vec3 {
    v - z * z.dot(v)
}
