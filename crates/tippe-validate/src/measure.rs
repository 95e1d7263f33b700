//! Instruments that cases share: turns counted, peaks between samples, zero crossings, gaps of joints, energy from the states alone.
//!
//! Reads: states of a run.  Writes: nothing.
//! Called by: `cases`.
//! Source: none of them asks the engine what it thinks of itself.

use crate::sim::Sim;
use std::f64::consts::{PI, TAU};
use tippe::{BodyId, Pose, Vec3};

/// An angle followed through full turns.
#[derive(Clone, Copy, Debug)]
pub struct Winding {
    start: f64,
    last: f64,
}

impl Winding {
    /// Starts at this angle [rad].
    #[must_use]
    pub const fn new(start: f64) -> Self {
        Self { start, last: start }
    }

    /// The next sample [rad], less than half a turn from the last.
    pub fn add(&mut self, angle: f64) {
        let mut step = (angle - self.last) % TAU;
        if step > PI {
            step -= TAU;
        } else if step < -PI {
            step += TAU;
        }
        self.last += step;
    }

    /// Turned since the start [rad].
    #[must_use]
    pub fn total(&self) -> f64 {
        self.last - self.start
    }
}

/// Local maxima of a sampled quantity, each at the top of the parabola through its three samples.
#[derive(Clone, Debug, Default)]
pub struct Peaks {
    last: Vec<f64>,
    found: Vec<f64>,
}

impl Peaks {
    /// The next sample.
    pub fn add(&mut self, x: f64) {
        self.last.push(x);
        if let [a, b, c] = self.last[..] {
            if b > a && b >= c {
                // Vertex of the parabola through (−1, a), (0, b), (1, c).
                let (slope, bend) = (0.5 * (c - a), a - 2.0 * b + c);
                self.found.push(b - 0.5 * slope * slope / bend);
            }
            self.last.remove(0);
        }
    }

    /// The maxima so far.
    #[must_use]
    pub fn found(&self) -> &[f64] {
        &self.found
    }
}

/// Where in a step a quantity passes zero, from 0 to 1, by the cubic through values and slopes (per step) at both ends; `None` without a change of sign.
#[must_use]
pub fn zero_crossing(x0: f64, slope0: f64, x1: f64, slope1: f64) -> Option<f64> {
    if x0 == 0.0 || x0.signum() == x1.signum() {
        return None;
    }
    let cubic = |s: f64| {
        let (a, b) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s));
        x0 * (1.0 - a) + x1 * a + b * ((1.0 - s) * slope0 - s * slope1)
    };
    let (mut low, mut high) = (0.0, 1.0);
    // Each halving is a bit of the answer.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if cubic(middle).signum() == x0.signum() {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

/// Kinetic energy of these bodies, and potential in gravity along −z of size `g` [J].
///
/// # Panics
/// An id is not of this scene.
#[must_use]
pub fn energy(sim: &Sim, bodies: &[BodyId], g: f64) -> f64 {
    let of = |&id: &BodyId| {
        let s = sim.state(id);
        let mass = sim
            .world
            .body(id)
            .expect("a case keeps the bodies of its scene")
            .mass;
        let kinetic =
            mass * s.velocity.length_squared() + sim.spin_momentum(id).dot(s.angular_velocity);
        0.5 * kinetic + mass * g * s.position.z
    };
    bodies.iter().map(of).sum()
}

/// The two joint frames of every joint, in the world.
fn frames(sim: &Sim) -> impl Iterator<Item = (Pose, Pose)> {
    sim.anchors().iter().filter_map(|anchor| {
        let a = match anchor.a.0 {
            Some(a) => sim.world.pose(a).ok()?,
            None => Pose::IDENTITY,
        };
        let b = sim.world.pose(anchor.b.0).ok()?;
        Some((a.compose(&anchor.a.1), b.compose(&anchor.b.1)))
    })
}

/// Largest distance between the two anchors of a joint [m].
#[must_use]
pub fn joint_gap(sim: &Sim) -> f64 {
    let gaps = frames(sim).map(|(a, b)| (a.position - b.position).length());
    gaps.fold(0.0, f64::max)
}

/// Largest angle between the two axes of a joint [rad].
#[must_use]
pub fn joint_tilt(sim: &Sim) -> f64 {
    let tilts = frames(sim).map(|(a, b)| {
        let (a, b) = (a.vector(Vec3::Z), b.vector(Vec3::Z));
        libm::atan2(a.cross(b).length(), a.dot(b))
    });
    tilts.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_counted_both_ways() {
        let mut w = Winding::new(0.0);
        for i in 1..=100 {
            w.add(libm::remainder(0.2 * f64::from(i), TAU));
        }
        assert!((w.total() - 20.0).abs() < 1e-12);
        for i in (0..100).rev() {
            w.add(libm::remainder(0.2 * f64::from(i), TAU));
        }
        assert!(w.total().abs() < 1e-12);
    }

    #[test]
    fn peaks_and_crossings_lie_between_samples() {
        let mut peaks = Peaks::default();
        for i in 0..100 {
            peaks.add(libm::sin(0.1 * f64::from(i)));
        }
        assert_eq!(peaks.found().len(), 2);
        assert!(peaks.found().iter().all(|p| (p - 1.0).abs() < 5e-6));
        // cos near π/2, a step of 0.1.
        let (a, b) = (1.53, 1.63);
        let s = zero_crossing(
            libm::cos(a),
            -0.1 * libm::sin(a),
            libm::cos(b),
            -0.1 * libm::sin(b),
        )
        .unwrap();
        assert!((a + 0.1 * s - 0.5 * PI).abs() < 1e-7);
        assert!(zero_crossing(1.0, 0.0, 2.0, 0.0).is_none());
    }
}
