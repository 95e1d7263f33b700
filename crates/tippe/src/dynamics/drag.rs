//! Drag of a medium, integrated so that no step length reverses a velocity. Stokes drag is exact together with the constant acceleration
//! of its body, however stiff; quadratic drag is exact alone.
//!
//! Reads: the drag of a body.  Writes: nothing (pure functions).
//! Called by: the half kicks of every method, the responses of bodies in the first stage.
//! Source: [Lecture] "Viscous Friction"; spin resistance of a sphere in creeping flow as in [Lamb32] §334; docs/methods/two-stage.md,
//! "Forces, drag and prescribed bodies".

use crate::math::Vec3;
use crate::model::{Body, Drag};
use crate::state::BodyState;
use std::f64::consts::PI;

/// Reynolds number below which flow is laminar [1].
const LAMINAR: f64 = 1.0;
/// Reynolds number above which it is turbulent [1].
const TURBULENT: f64 = 1000.0;
/// Step length in time constants beyond which nothing changes any more [1].
const STIFFEST: f64 = 1e100;
/// Step length in time constants below which `Relaxation::new` uses a series [1]; its error is z⁵/5040 there.
const SERIES: f64 = 1e-2;

/// How a velocity follows `v̇ = a − k v` over a step of `z = k h`: `v(h) = decay v + mean a h`, `x(h) = h (mean v + lag a h)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Relaxation {
    /// e^−z.
    decay: f64,
    /// (1 − e^−z)/z: what an impulse at t moves the body in the step, as a part of what it would without drag.
    pub mean: f64,
    /// (1 − mean)/z.
    lag: f64,
}

impl Relaxation {
    pub(crate) const NONE: Self = Self {
        decay: 1.0,
        mean: 1.0,
        lag: 0.5,
    };

    /// `z` is the length of the step in time constants.
    fn new(z: f64) -> Self {
        let z = z.clamp(0.0, STIFFEST);
        if z == 0.0 {
            return Self::NONE;
        }
        let mean = -libm::expm1(-z) / z;
        let lag = if z < SERIES {
            0.5 - z / 6.0 * (1.0 - z / 4.0 * (1.0 - z / 5.0 * (1.0 - z / 6.0)))
        } else {
            (1.0 - mean) / z
        };
        Self {
            decay: libm::exp(-z),
            mean,
            lag,
        }
    }

    /// The velocity from which a motion with the constant acceleration `a_flight` ends where the body with drag does, if its own is `v` and
    /// `a` acts on it.
    fn before(&self, v: Vec3, a: Vec3, a_flight: Vec3, h: f64) -> Vec3 {
        v * self.mean + (a * self.lag - a_flight * 0.5) * h
    }

    /// The velocity of the body with drag at the end of a motion that began with what `before` says, and impulses since.
    fn after(&self, v: Vec3, a: Vec3, a_flight: Vec3, h: f64) -> Vec3 {
        let start = v - (a * self.lag + a_flight * 0.5) * h;
        start * (self.decay / self.mean) + a * (self.mean * h)
    }
}

/// Constant accelerations of a body in a step: of gravity and forces, which its flight has in it, and of torques, which it has not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accelerations {
    pub linear: Vec3,
    pub angular: Vec3,
}

/// How velocity and spin relax in a step of length `h` that begins with velocity `v`.
pub(crate) fn relaxations(body: &Body, v: Vec3, h: f64) -> (Relaxation, Relaxation) {
    let laminar = match body.drag {
        Some(Drag::Stokes { radius, viscosity }) => Some((radius, viscosity)),
        Some(Drag::Automatic {
            radius,
            viscosity,
            density,
            ..
        }) => (reynolds(v, radius, viscosity, density) <= TURBULENT).then_some((radius, viscosity)),
        _ => None,
    };
    let Some((r, eta)) = laminar else {
        return (Relaxation::NONE, Relaxation::NONE);
    };
    let (linear, angular) = rates(body, r, eta);
    (Relaxation::new(linear * h), Relaxation::new(angular * h))
}

/// Velocities with which a body with drag goes into a step of length `h`, so that it ends where drag, `a` and torques bring it.
pub(crate) fn first_kick(body: &Body, s: &BodyState, a: &Accelerations, h: f64) -> (Vec3, Vec3) {
    let (linear, angular) = relaxations(body, s.velocity, h);
    let v = turbulent(body, s.velocity, 0.5 * h);
    (
        linear.before(v, a.linear, a.linear, h),
        angular.before(s.angular_velocity, a.angular, Vec3::ZERO, h),
    )
}

/// Velocities of that body at the end of the step.
pub(crate) fn second_kick(body: &Body, s: &BodyState, a: &Accelerations, h: f64) -> (Vec3, Vec3) {
    // Whether flow is laminar shows in what the laminar part leaves.
    let slow = relaxations(body, Vec3::ZERO, h).0;
    let settled = slow.after(s.velocity, a.linear, a.linear, h);
    let (linear, angular) = relaxations(body, settled, h);
    let v = linear.after(s.velocity, a.linear, a.linear, h);
    (
        turbulent(body, v, 0.5 * h),
        angular.after(s.angular_velocity, a.angular, Vec3::ZERO, h),
    )
}

/// Velocities of a body after its drag acted alone for `time` [s].
#[must_use]
pub fn kick(body: &Body, s: &BodyState, time: f64) -> (Vec3, Vec3) {
    let (linear, angular) = relaxations(body, s.velocity, time);
    let v = turbulent(body, s.velocity, time);
    (v * linear.decay, s.angular_velocity * angular.decay)
}

fn reynolds(v: Vec3, radius: f64, viscosity: f64, density: f64) -> f64 {
    2.0 * density * radius * v.length() / viscosity
}

/// Rates of decay `k` of velocity and spin [1/s]: `m v̇ = −6πηr v`, `I ω̇ = −8πηr³ ω`; the spin uses the mean moment.
fn rates(body: &Body, r: f64, eta: f64) -> (f64, f64) {
    let moment = (body.moments.x + body.moments.y + body.moments.z) / 3.0;
    (
        6.0 * PI * eta * r * body.inverse_mass,
        8.0 * PI * eta * r * r * r / moment,
    )
}

/// Velocity after the turbulent part of drag acted for `time` [s]: `m v̇ = −½ c A ρ |v| v`, exact.
fn turbulent(body: &Body, v: Vec3, time: f64) -> Vec3 {
    let factor = match body.drag {
        Some(Drag::Quadratic {
            coefficient,
            area,
            density,
        }) => coefficient * area * density,
        Some(Drag::Automatic {
            radius,
            coefficient,
            viscosity,
            density,
        }) if reynolds(v, radius, viscosity, density) >= LAMINAR => {
            coefficient * PI * radius * radius * density
        }
        _ => return v,
    };
    // v(t) = v / (1 + k |v| t) with k = c A ρ / 2m
    v / (1.0 + 0.5 * factor * body.inverse_mass * v.length() * time)
}
