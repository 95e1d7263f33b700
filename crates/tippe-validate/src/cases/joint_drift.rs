//! F22 joint-drift: joints under steady load do not open.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: \[Bender06]; anchors and axes coincide in truth.

use crate::analytic::G;
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::cases::pendulum::{LENGTH, joint, rod};
use crate::measure::{energy, joint_gap, joint_tilt};
use crate::sim::{GRAVITY, Sim};
use tippe::Vec3;

const REASON: &str = "stated for 10 ms, kept at every step";

const fn part(name: &'static str, measure: &'static str, tolerance: f64) -> Part {
    Part {
        name,
        measure,
        tolerance: Tolerance::Constant(tolerance),
        reason: REASON,
    }
}

/// Joints held for 20 s.
pub const F22: Case = Case {
    id: "F22",
    name: "joint-drift",
    source: "[Bender06]",
    trials: &[
        Trial {
            parts: &[
                part("a-gap", "largest anchor gap in 20 s [m]", 1e-6),
                part(
                    "a-energy",
                    "largest energy drift in 20 s, of m g L [1]",
                    2e-3,
                ),
            ],
            needs: &[],
            run: |s| Ok(held(s, &line(), &["rod0", "rod1"])?.without_axis()),
        },
        Trial {
            parts: &[
                part("b-gap", "largest anchor gap in 20 s [m]", 1e-6),
                part("b-axis", "largest angle between the axes [rad]", 1e-6),
                part(
                    "b-energy",
                    "largest energy drift in 20 s, of m g L [1]",
                    2e-3,
                ),
            ],
            needs: &[],
            run: |s| Ok(held(s, &crossbar(), &["rod"])?.all()),
        },
    ],
};

/// Two rods in one line along x on ball joints, the line turning about the origin.
fn line() -> String {
    let spin = Vec3::new(1.0, 2.0, 3.0);
    rod("rod0", Vec3::X, Vec3::X * (0.5 * LENGTH), spin)
        + &rod("rod1", Vec3::X, Vec3::X * (1.5 * LENGTH), spin)
        + &joint("world", "rod0", Vec3::ZERO, None)
        + &joint("rod0", "rod1", Vec3::X * LENGTH, None)
}

/// A rod along y on a hinge about x at its end.
fn crossbar() -> String {
    rod("rod", Vec3::Y, Vec3::Y * (0.5 * LENGTH), Vec3::X * 10.0)
        + &joint("world", "rod", Vec3::ZERO, Some(Vec3::X))
}

/// Largest gap [m], angle between axes [rad] and energy drift [m g L].
#[derive(Default)]
struct Drift {
    gap: f64,
    axis: f64,
    energy: f64,
}

impl Drift {
    fn all(&self) -> Vec<Value> {
        vec![self.gap.into(), self.axis.into(), self.energy.into()]
    }

    fn without_axis(&self) -> Vec<Value> {
        vec![self.gap.into(), self.energy.into()]
    }
}

fn held(setup: &Setup, text: &str, names: &[&str]) -> Result<Drift, Stopped> {
    let mut sim = Sim::load(setup, GRAVITY, text)?;
    let rods = sim.bodies(names.iter().copied())?;
    let e0 = energy(&sim, &rods, G);
    let mut worst = Drift::default();
    sim.run_until(20.0, |sim| {
        worst.gap = worst.gap.max(joint_gap(sim));
        worst.axis = worst.axis.max(joint_tilt(sim));
        let drift = (energy(sim, &rods, G) - e0).abs() / (G * LENGTH);
        worst.energy = worst.energy.max(drift);
        sim.note("largest gap of a joint so far [m]", || (worst.gap, 0.0));
    })?;
    Ok(worst)
}
