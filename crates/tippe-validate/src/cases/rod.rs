//! F11 rod-oblique: the end of a rod hits the ground, where friction and normal impulse act on each other.
//!
//! Reads: `analytic::impact`.  Writes: nothing.
//! Called by: `run`.
//! Source: \[Routh1905], \[Keller86], \[Stronge90], \[Mirtich94]; reference law \[Stronge90].

use crate::analytic::impact::{Law, PlanarImpact};
use crate::analytic::radians;
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{Sim, ground, list, material, quat, turn_y};
use std::f64::consts::FRAC_PI_2;
use tippe::Vec3;

/// Five impacts of a rod, from stick to slip reversal, and the energy they must not make.
pub const F11: Case = Case {
    id: "F11",
    name: "rod-oblique",
    source: "[Routh1905], [Keller86], [Stronge90], [Mirtich94]",
    trials: &[Trial {
        parts: &[
            part("A", "sticks throughout"),
            part(
                "B",
                "slides from rest: one cannot guess the slip direction from the velocity before",
            ),
            part("C", "the slip reverses: the laws of restitution differ"),
            part("D", "slides throughout"),
            part(
                "E",
                "slides, then sticks: the trap in which Newton's law makes energy",
            ),
            Part {
                name: "energy",
                measure: "largest gain of energy, of the energy before, worst of A to E and of the phases [1]",
                tolerance: Tolerance::Scaled(1e-9),
                reason: "Stronge's law cannot gain energy: only rounding",
            },
        ],
        needs: &[],
        run: rods,
    }],
};

const fn part(name: &'static str, reason: &'static str) -> Part {
    Part {
        name,
        measure: "worst of |Δv_x|, |Δv_z|, 0.5 |Δw| over |v|, against Stronge's law, worst of five phases of the step [1]",
        tolerance: Tolerance::Scaled(1e-3),
        reason,
    }
}

/// Tilt of the rod above the ground [°], velocity (x, z) [m/s], friction, restitution.
const RODS: [(f64, [f64; 2], f64, f64); 5] = [
    (60.0, [0.0, -2.0], 0.6, 0.5),
    (60.0, [0.0, -2.0], 0.2, 0.5),
    (45.0, [1.0, -2.0], 0.3, 0.5),
    (30.0, [-0.5, -2.0], 0.9, 0.5),
    (45.0, [0.6, -1.0], 0.8, 0.8),
];

/// Half the length between the centres of the rod's end spheres [m].
pub const HALF_LENGTH: f64 = 0.5;
/// Radius of the rod [m].
pub const RADIUS: f64 = 0.02;

/// A rod of 1 kg, tilted by `theta` above the ground, its lower end towards −x and `clearance` above the ground.
pub fn rod_text(theta: f64, velocity: Vec3, clearance: f64) -> String {
    let height = HALF_LENGTH * libm::sin(theta) + RADIUS + clearance;
    format!(
        "[[body]]\nname = \"rod\"\nposition = [0, 0, {height:?}]\nrotation = {}\nvelocity = {}\nmass = 1.0\n\
         inertia = [{t:?}, {t:?}, {:?}]\nshape.capsule = {{ radius = {RADIUS:?}, length = {:?} }}\nmaterial = \"m\"\n",
        quat(turn_y(FRAC_PI_2 - theta)),
        list(velocity),
        0.5 * RADIUS * RADIUS,
        2.0 * HALF_LENGTH,
        t = 1.0 / 12.0
    )
}

/// The planar impact of that rod.
pub fn rod_impact(theta: f64, velocity: [f64; 2], friction: f64, restitution: f64) -> PlanarImpact {
    PlanarImpact {
        mass: 1.0,
        inertia: 1.0 / 12.0,
        arm: [
            -HALF_LENGTH * libm::cos(theta),
            -HALF_LENGTH * libm::sin(theta) - RADIUS,
        ],
        velocity,
        spin: 0.0,
        friction,
        restitution,
    }
}

fn rods(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let mut values = Vec::new();
    let mut gain = 0f64;
    for (theta, v, mu, e) in RODS {
        let theta = radians(theta);
        let exact = rod_impact(theta, v, mu, e).solve(Law::Stronge);
        let mut errors = [0f64; 5];
        for (k, error) in errors.iter_mut().enumerate() {
            let clearance = 0.05 + k as f64 * 0.37 * v[1].abs() * setup.dt;
            let rod = rod_text(theta, Vec3::new(v[0], 0.0, v[1]), clearance);
            let text = format!("{}{}{rod}", material(mu, e), ground(Vec3::Z));
            let mut sim = Sim::load(setup, Vec3::ZERO, &text)?;
            let id = sim.body("rod")?;
            let before = sim.energy();
            // Soon after the impact: the other end is still far from the ground.
            sim.run_until(clearance / v[1].abs() + 2.0 * setup.dt, |_| {})?;
            let s = sim.state(id);
            let miss = (s.velocity - Vec3::new(exact.velocity[0], 0.0, exact.velocity[1])).abs();
            let miss_spin = 0.5 * (s.angular_velocity - Vec3::Y * exact.spin).length();
            *error = miss.max_element().max(miss_spin) / libm::hypot(v[0], v[1]);
            gain = gain.max(sim.energy() / before - 1.0);
        }
        let worst = errors.into_iter().fold(0.0, f64::max);
        values.push(Value::with_peer(worst, errors.iter().sum::<f64>() / 5.0));
    }
    values.push(gain.into());
    Ok(values)
}
