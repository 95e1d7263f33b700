//! F24 roll-down: round bodies on a slope roll with enough friction and slip with too little.
//!
//! Reads: `analytic::rolling`, `analytic::sliding`.  Writes: nothing.
//! Called by: `run`.
//! Source: Galilei (1638), \[Coriolis1835]; a = g sin α/(1 + k), rolls iff μ ≥ tan α k/(1 + k).

use crate::analytic::rolling::{SHELL, SOLID_SPHERE, roll_acceleration, roll_friction};
use crate::analytic::sliding::slope_acceleration;
use crate::analytic::{G, radians};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::cases::waiting::not_built;
use crate::sim::{GRAVITY, Sim, Slope, ground, list, material};
use crate::support::Feature;

/// Four bodies, rolling and slipping, from rest for 1 s on 25°.
pub const F24: Case = Case {
    id: "F24",
    name: "roll-down",
    source: "Galilei (1638), [Coriolis1835]",
    trials: &[
        Trial {
            parts: &[part("sphere-roll")],
            needs: &[],
            run: |s| ball(s, SOLID_SPHERE, true),
        },
        Trial {
            parts: &[part("sphere-slip")],
            needs: &[],
            run: |s| ball(s, SOLID_SPHERE, false),
        },
        Trial {
            parts: &[part("shell-roll")],
            needs: &[],
            run: |s| ball(s, SHELL, true),
        },
        Trial {
            parts: &[part("shell-slip")],
            needs: &[],
            run: |s| ball(s, SHELL, false),
        },
        Trial {
            parts: &[part("cylinder-roll")],
            needs: &[Feature::Cylinder],
            run: not_built,
        },
        Trial {
            parts: &[part("cylinder-slip")],
            needs: &[Feature::Cylinder],
            run: not_built,
        },
        Trial {
            parts: &[part("hoop-roll")],
            needs: &[Feature::Hoop],
            run: not_built,
        },
        Trial {
            parts: &[part("hoop-slip")],
            needs: &[Feature::Hoop],
            run: not_built,
        },
    ],
};

const fn part(name: &'static str) -> Part {
    Part {
        name,
        measure: "relative error of the distance at 1 s [1]",
        tolerance: Tolerance::Scaled(1e-3),
        reason: "constant acceleration: a second-order step is exact, semi-implicit Euler is dt/t = 1e-3 off",
    }
}

/// Friction of the rolling runs: above every limit of the case.
const FRICTION_ROLL: f64 = 0.5;
const RADIUS: f64 = 0.1;

/// A ball of 1 kg with moment k m r²; the shell is a sphere with given inertia.
fn ball(setup: &Setup, k: f64, rolls: bool) -> Result<Vec<Value>, Stopped> {
    let alpha = radians(25.0);
    let slope = Slope::new(alpha);
    let mu = if rolls {
        FRICTION_ROLL
    } else {
        0.9 * roll_friction(alpha, k)
    };
    let text = format!(
        "{}{}[[body]]\nname = \"ball\"\nposition = {}\nmass = 1.0\ninertia = [{i:?}, {i:?}, {i:?}]\n\
         shape.sphere = {{ radius = {RADIUS:?} }}\nmaterial = \"m\"\n",
        material(mu, 0.0),
        ground(slope.normal),
        list(slope.normal * RADIUS),
        i = k * RADIUS * RADIUS
    );
    let mut sim = Sim::load(setup, GRAVITY, &text)?;
    let id = sim.body("ball")?;
    let start = sim.state(id).position;
    sim.run_until(1.0, |_| {})?;
    let a = if rolls {
        roll_acceleration(alpha, k, G)
    } else {
        slope_acceleration(mu, alpha, G)
    };
    let exact = 0.5 * a * sim.time() * sim.time();
    let way = (sim.state(id).position - start).dot(slope.down);
    Ok(vec![(way / exact - 1.0).abs().into()])
}
