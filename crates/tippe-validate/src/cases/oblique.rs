//! F10 sphere-oblique: a ball hits the ground at an angle and slides or sticks during the impact.
//!
//! Reads: `analytic::impact`.  Writes: nothing.
//! Called by: `run`.
//! Source: \[Routh1905]; sticks iff μ ≥ 2 |u| / 7 (1 + e) |v_z|.

use crate::analytic::impact::{Law, PlanarImpact};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{Sim, ground, list, material};
use tippe::Vec3;

/// Three oblique impacts at e = 0.6.
pub const F10: Case = Case {
    id: "F10",
    name: "sphere-oblique",
    source: "[Routh1905]",
    trials: &[
        Trial {
            parts: &[part(
                "a",
                "slides; one impact without gravity has no error of the step at all, 1e-4 is the solver's",
            )],
            needs: &[],
            run: |s| oblique(s, [3.0, -2.0], 0.0, 0.1),
        },
        Trial {
            parts: &[part("b", "sticks; same")],
            needs: &[],
            run: |s| oblique(s, [3.0, -2.0], 0.0, 0.5),
        },
        Trial {
            parts: &[part("c", "back spin, slides; same")],
            needs: &[],
            run: |s| oblique(s, [1.0, -2.0], -60.0, 0.3),
        },
    ],
};

const fn part(name: &'static str, reason: &'static str) -> Part {
    Part {
        name,
        measure: "worst of |Δv_x|, |Δv_z|, r |Δw| over |v|, worst of five phases of the step [1]",
        tolerance: Tolerance::Scaled(1e-4),
        reason,
    }
}

fn oblique(setup: &Setup, v: [f64; 2], spin: f64, mu: f64) -> Result<Vec<Value>, Stopped> {
    let impact = PlanarImpact {
        mass: 1.0,
        inertia: 0.004,
        arm: [0.0, -0.1],
        velocity: v,
        spin,
        friction: mu,
        restitution: 0.6,
    };
    let exact = impact.solve(Law::Stronge);
    let mut errors = [0f64; 5];
    for (k, error) in errors.iter_mut().enumerate() {
        let height = 0.3 + k as f64 * 0.74 * setup.dt;
        let text = format!(
            "{}{}[[body]]\nname = \"ball\"\nposition = [0, 0, {height:?}]\nvelocity = {}\nangular_velocity = [0, {spin:?}, 0]\n\
             mass = 1.0\nshape.sphere = {{ radius = 0.1 }}\nmaterial = \"m\"\n",
            material(mu, 0.6),
            ground(Vec3::Z),
            list(Vec3::new(v[0], 0.0, v[1]))
        );
        let mut sim = Sim::load(setup, Vec3::ZERO, &text)?;
        let ball = sim.body("ball")?;
        // Meets the ground at 0.1 s, up to two steps later; nothing else happens.
        sim.run_until(0.1 + 6.0 * setup.dt, |_| {})?;
        let s = sim.state(ball);
        let miss = (s.velocity - Vec3::new(exact.velocity[0], 0.0, exact.velocity[1])).abs();
        let miss_spin = 0.1 * (s.angular_velocity - Vec3::Y * exact.spin).length();
        *error = miss.max_element().max(miss_spin) / libm::hypot(v[0], v[1]);
    }
    let worst = errors.into_iter().fold(0.0, f64::max);
    // The other engines' figure is the mean.
    Ok(vec![Value::with_peer(
        worst,
        errors.iter().sum::<f64>() / 5.0,
    )])
}
