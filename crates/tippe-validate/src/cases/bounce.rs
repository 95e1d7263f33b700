//! F06 bounce: a dropped ball comes back to e²ⁿ of its height.
//!
//! Reads: `analytic::impact`.  Writes: nothing.
//! Called by: `run`.
//! Source: Newton (1687).

use crate::analytic::G;
use crate::analytic::impact::{bounce_height, bounce_peak};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, ground, material};
use tippe::Vec3;

/// A ball dropped from 1 m.
pub const F06: Case = Case {
    id: "F06",
    name: "bounce",
    source: "Newton (1687)",
    trials: &[
        Trial {
            parts: &[part(
                "a",
                "worst of the first five peaks at e = 0.9, of h₀ [1]",
            )],
            needs: &[],
            run: |s| peaks(s, 0.9, 5, 5),
        },
        Trial {
            parts: &[part(
                "b",
                "worst of the first four peaks at e = 0.5, of h₀ [1]",
            )],
            needs: &[],
            // The other engines' figure is of three peaks.
            run: |s| peaks(s, 0.5, 4, 3),
        },
        Trial {
            parts: &[part(
                "c",
                "change of the peak height in 10 s (22 bounces) at e = 1, of h₀ [1]",
            )],
            needs: &[],
            run: keeps_height,
        },
    ],
};

const fn part(name: &'static str, measure: &'static str) -> Part {
    Part {
        name,
        measure,
        tolerance: Tolerance::Scaled(1e-3),
        reason: "impact a fraction of a step early or late gives or takes up to g dt v per bounce, 4e-3 of h₀ at 1 ms",
    }
}

/// The ball with its lowest point at 1 m, about to drop.
///
/// # Errors
/// The scene was refused.
pub fn dropped(setup: &Setup, e: f64) -> Result<Sim, Stopped> {
    let text = format!(
        "{}{}[[body]]\nname = \"ball\"\nposition = [0, 0, 1.1]\nmass = 1.0\nshape.sphere = {{ radius = 0.1 }}\nmaterial = \"m\"\n",
        material(0.0, e),
        ground(Vec3::Z)
    );
    Sim::load(setup, GRAVITY, &text)
}

/// Height of the ball's lowest point and velocity, as the peak it will reach (or has reached) in this flight: h + v²/2g.
fn peak_of(z: f64, v: f64) -> f64 {
    z - 0.1 + v * v / (2.0 * G)
}

/// Error of the worst of `count` peaks, and of the worst of the first `count_peer`.
fn peaks(setup: &Setup, e: f64, count: u32, count_peer: u32) -> Result<Vec<Value>, Stopped> {
    let mut sim = dropped(setup, e)?;
    let ball = sim.body("ball")?;
    let mut found = Vec::new();
    let mut before = 0.0;
    // Long enough for the last peak: 3.5 s for e = 0.9, 1.3 s for e = 0.5.
    sim.run_until(4.5, |sim| {
        let s = sim.state(ball);
        // Turned from rising to falling: this flight had its peak.
        if before > 0.0 && s.velocity.z <= 0.0 && found.len() < count as usize {
            found.push(peak_of(s.position.z, s.velocity.z));
        }
        before = s.velocity.z;
        sim.note("height of the lowest point [m]", || {
            (s.position.z - 0.1, bounce_height(e, 1.0, G, sim.time()))
        });
    })?;
    let error = |count: u32| {
        (1..=count)
            .map(|n| {
                // A peak that never came is a peak of height zero.
                let peak = found.get(n as usize - 1).copied().unwrap_or(0.0);
                (peak - bounce_peak(e, 1.0, n)).abs()
            })
            .fold(0.0, f64::max)
    };
    Ok(vec![Value::with_peer(error(count), error(count_peer))])
}

fn keeps_height(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let mut sim = dropped(setup, 1.0)?;
    let ball = sim.body("ball")?;
    sim.run_until(10.0, |_| {})?;
    let s = sim.state(ball);
    Ok(vec![
        (peak_of(s.position.z, s.velocity.z) - 1.0).abs().into(),
    ])
}
