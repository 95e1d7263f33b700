//! Drag of a medium: Stokes and quadratic, integrated so that no step length reverses a velocity.
//!
//! Reads: the drag of a body.  Writes: nothing (pure functions).
//! Called by: the half kicks of every method.
//! Source: [Lecture] "Viscous Friction"; spin resistance of a sphere in creeping flow as in [Lamb32] §334.

use crate::math::Vec3;
use crate::model::{Body, Drag};
use crate::state::BodyState;
use std::f64::consts::PI;

/// Reynolds number below which flow is laminar [1].
const LAMINAR: f64 = 1.0;
/// Reynolds number above which it is turbulent [1].
const TURBULENT: f64 = 1000.0;

/// Velocities of a body after its drag acted alone for `time` [s].
#[must_use]
pub fn kick(body: &Body, s: &BodyState, time: f64) -> (Vec3, Vec3) {
    let (v, w) = (s.velocity, s.angular_velocity);
    match body.drag {
        None => (v, w),
        Some(Drag::Stokes { radius, viscosity }) => stokes(body, v, w, radius, viscosity, time),
        Some(Drag::Quadratic {
            coefficient,
            area,
            density,
        }) => (quadratic(body, v, coefficient * area * density, time), w),
        Some(Drag::Automatic {
            radius,
            coefficient,
            viscosity,
            density,
        }) => {
            let reynolds = 2.0 * density * radius * v.length() / viscosity;
            let factor = coefficient * PI * radius * radius * density;
            let (mut v, mut w) = (v, w);
            if reynolds <= TURBULENT {
                (v, w) = stokes(body, v, w, radius, viscosity, time);
            }
            if reynolds >= LAMINAR {
                v = quadratic(body, v, factor, time);
            }
            (v, w)
        }
    }
}

/// `m v̇ = −6πηr v`, `I ω̇ = −8πηr³ ω`: exact exponentials; the spin uses the mean moment.
fn stokes(body: &Body, v: Vec3, w: Vec3, r: f64, eta: f64, time: f64) -> (Vec3, Vec3) {
    let moment = (body.moments.x + body.moments.y + body.moments.z) / 3.0;
    let linear = libm::exp(-6.0 * PI * eta * r * body.inverse_mass * time);
    let angular = libm::exp(-8.0 * PI * eta * r * r * r / moment * time);
    (v * linear, w * angular)
}

/// `m v̇ = −½ c A ρ |v| v`: exact, `v(t) = v / (1 + k |v| t)` with `k = c A ρ / 2m`.
fn quadratic(body: &Body, v: Vec3, factor: f64, time: f64) -> Vec3 {
    v / (1.0 + 0.5 * factor * body.inverse_mass * v.length() * time)
}
