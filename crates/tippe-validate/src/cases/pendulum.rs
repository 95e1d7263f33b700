//! F15 pendulum and F16 double-pendulum: rods on hinges, let go from horizontal.
//!
//! Reads: `analytic::spinning`.  Writes: nothing.
//! Called by: `run`.
//! Source: Abramowitz and Stegun §17 (period by K); the double pendulum is chaotic, its energy is constant.

use crate::analytic::G;
use crate::analytic::spinning::rod_pendulum_period;
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::measure::{energy, zero_crossing};
use crate::sim::{GRAVITY, Sim, list};
use std::f64::consts::FRAC_PI_2;
use tippe::{BodyId, Vec3};

/// Length [m] of the rods; their mass is 1 kg.
pub const LENGTH: f64 = 1.0;
/// Length of a run [s].
const SECONDS: f64 = 60.0;

/// A rod on a hinge.
pub const F15: Case = Case {
    id: "F15",
    name: "pendulum",
    source: "Abramowitz and Stegun §17",
    trials: &[Trial {
        parts: &[
            Part {
                name: "time",
                measure: "relative error of the 20th crossing of the vertical [1]",
                tolerance: Tolerance::Scaled(1e-4),
                reason: "period by K(k)",
            },
            Part {
                name: "energy",
                measure: "largest energy drift in 60 s, of m g L/2 [1]",
                tolerance: Tolerance::Scaled(1e-4),
                reason: "constant in truth",
            },
        ],
        needs: &[],
        run: swing,
    }],
};

/// Two rods.
pub const F16: Case = Case {
    id: "F16",
    name: "double-pendulum",
    source: "energy",
    trials: &[Trial {
        parts: &[Part {
            name: "energy",
            measure: "largest |E − E₀| in 60 s, of m g L [1]",
            tolerance: Tolerance::Scaled(1e-3),
            reason: "chaotic: only the energy counts",
        }],
        needs: &[],
        run: double,
    }],
};

/// A uniform rod of 1 kg and 1 m along `along` (x or y), its middle at `position`, that turns about the origin.
#[must_use]
pub fn rod(name: &str, along: Vec3, position: Vec3, spin: Vec3) -> String {
    let across = LENGTH * LENGTH / 12.0;
    let inertia = Vec3::splat(across) + along.abs() * (AXIAL - across);
    format!(
        "[[body]]\nname = \"{name}\"\nposition = {}\nmass = 1.0\ninertia = {}\nvelocity = {}\nangular_velocity = {}\n",
        list(position),
        list(inertia),
        list(spin.cross(position)),
        list(spin)
    )
}

/// Moment of a rod about itself [kg·m²].
const AXIAL: f64 = 1e-3;

/// A hinge about `axis`, or a ball joint without one.
#[must_use]
pub fn joint(a: &str, b: &str, at: Vec3, axis: Option<Vec3>) -> String {
    let (kind, axis) = match axis {
        Some(axis) => ("hinge", format!("axis = {}\n", list(axis))),
        None => ("ball", String::new()),
    };
    format!(
        "[[joint]]\nkind = \"{kind}\"\nbodies = [\"{a}\", \"{b}\"]\nat = {}\n{axis}",
        list(at)
    )
}

/// `count` rods in a row along x, on hinges about y.
pub fn text(count: u32) -> String {
    let mut out = String::new();
    let mut before = "world".to_owned();
    for i in 0..count {
        let name = format!("rod{i}");
        let start = Vec3::X * (LENGTH * f64::from(i));
        out += &rod(&name, Vec3::X, start + Vec3::X * (0.5 * LENGTH), Vec3::ZERO);
        out += &joint(&before, &name, start, Some(Vec3::Y));
        before = name;
    }
    out
}

/// Angle of a rod from hanging, and its rate [rad], [rad/s].
fn angle(sim: &Sim, rod: BodyId) -> (f64, f64) {
    let s = sim.state(rod);
    let d = s.rotation * Vec3::X;
    // d = (sin α, 0, −cos α), so that α̇ = −ω_y.
    (libm::atan2(d.x, -d.z), -s.angular_velocity.y)
}

fn swing(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let mut sim = Sim::load(setup, GRAVITY, &text(1))?;
    let rod = sim.body("rod0")?;
    let e0 = energy(&sim, &[rod], G);
    let scale = G * LENGTH / 2.0;
    let (mut before, mut crossings, mut at_20) = (angle(&sim, rod), 0, f64::NAN);
    let (mut worst, mut last) = (0f64, 0f64);
    let dt = setup.dt;
    sim.run_until(SECONDS, |sim| {
        let now = angle(sim, rod);
        if let Some(s) = zero_crossing(before.0, before.1 * dt, now.0, now.1 * dt) {
            crossings += 1;
            if crossings == 20 {
                at_20 = sim.time() - (1.0 - s) * dt;
            }
        }
        before = now;
        last = (energy(sim, &[rod], G) - e0).abs() / scale;
        worst = worst.max(last);
        sim.note("energy, of m g L/2, less its start [1]", || {
            ((energy(sim, &[rod], G) - e0) / scale, 0.0)
        });
    })?;
    let exact = 9.75 * rod_pendulum_period(LENGTH, FRAC_PI_2, G);
    Ok(vec![
        (at_20 / exact - 1.0).abs().into(),
        Value::with_peer(worst, last),
    ])
}

fn double(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let mut sim = Sim::load(setup, GRAVITY, &text(2))?;
    let rods = sim.bodies(["rod0", "rod1"])?;
    let e0 = energy(&sim, &rods, G);
    let mut worst = 0f64;
    sim.run_until(SECONDS, |sim| {
        let change = (energy(sim, &rods, G) - e0) / (G * LENGTH);
        worst = worst.max(change.abs());
        sim.note("energy, of m g L, less its start [1]", || (change, 0.0));
    })?;
    Ok(vec![worst.into()])
}
