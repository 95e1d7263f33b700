//! F00 free flight: a ball in vacuum follows the parabola, spinning or not.
//!
//! Reads: `analytic`.  Writes: nothing.
//! Called by: `run`.
//! Source: Galilei (1638); z(t) = z₀ + v₀ t − g t²/2.

use crate::analytic::G;
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, list};
use tippe::Vec3;

/// Free flight.
pub const F00: Case = Case {
    id: "F00",
    name: "free-flight",
    source: "Galilei (1638)",
    trials: &[Trial {
        parts: &[Part {
            name: "position",
            measure: "distance from the parabola at 2 s over the way flown, worse of with and without spin [1]",
            tolerance: Tolerance::Scaled(1e-6),
            reason: "a second-order or exact update scores rounding only; semi-implicit Euler misses by g dt t/2, 7e-4",
        }],
        needs: &[],
        run: free_flight,
    }],
};

fn free_flight(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let (mut worst, mut worst_z) = (0f64, 0f64);
    for spin in [0.0, 10.0] {
        let (start, v0) = (Vec3::new(0.0, 0.0, 20.0), Vec3::new(3.0, 0.0, 4.0));
        let text = format!(
            "[[body]]\nname = \"ball\"\nposition = {}\nvelocity = {}\nangular_velocity = [0, 0, {spin:?}]\nmass = 1.0\n\
             shape.sphere = {{ radius = 0.1 }}\n",
            list(start),
            list(v0)
        );
        let mut sim = Sim::load(setup, GRAVITY, &text)?;
        let ball = sim.body("ball")?;
        let flown = |t: f64| v0 * t - Vec3::Z * (0.5 * G * t * t);
        sim.run_until(2.0, |sim| {
            let height = || (sim.state(ball).position.z, (start + flown(sim.time())).z);
            sim.note("height [m]", height);
        })?;
        let way = flown(sim.time());
        let miss = sim.state(ball).position - start - way;
        worst = worst.max(miss.length() / way.length());
        worst_z = worst_z.max(miss.z.abs());
    }
    Ok(vec![Value::with_peer(worst, worst_z)])
}
