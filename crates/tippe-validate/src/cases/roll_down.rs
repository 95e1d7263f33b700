//! F24 roll-down: round bodies on a slope roll with enough friction and slip with too little.
//!
//! Reads: `analytic::rolling`, `analytic::sliding`.  Writes: nothing.
//! Called by: `run`.
//! Source: Galilei (1638), \[Coriolis1835]; a = g sin α/(1 + k), rolls iff μ ≥ tan α k/(1 + k).

use crate::analytic::rolling::{
    HOOP, SHELL, SOLID_CYLINDER, SOLID_SPHERE, roll_acceleration, roll_friction,
};
use crate::analytic::sliding::slope_acceleration;
use crate::analytic::{G, radians};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, Slope, ground, list, material};
use tippe::Vec3;

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
            needs: &[],
            run: |s| barrel(s, SOLID_CYLINDER, true),
        },
        Trial {
            parts: &[part("cylinder-slip")],
            needs: &[],
            run: |s| barrel(s, SOLID_CYLINDER, false),
        },
        Trial {
            parts: &[part("hoop-roll")],
            needs: &[],
            run: |s| barrel(s, HOOP, true),
        },
        Trial {
            parts: &[part("hoop-slip")],
            needs: &[],
            run: |s| barrel(s, HOOP, false),
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
/// Length of the cylinder and the hoop [m].
const LENGTH: f64 = 0.2;

/// A ball of 1 kg with moment k m r²; the shell is a sphere with given inertia.
fn ball(setup: &Setup, k: f64, rolls: bool) -> Result<Vec<Value>, Stopped> {
    let i = k * RADIUS * RADIUS;
    let shape = format!(
        "inertia = {}\nshape.sphere = {{ radius = {RADIUS:?} }}\n",
        list(Vec3::splat(i))
    );
    roll(setup, k, rolls, &shape)
}

/// A cylinder of 1 kg across the slope with moment k m r² about its axis; the hoop is a cylinder with given inertia.
fn barrel(setup: &Setup, k: f64, rolls: bool) -> Result<Vec<Value>, Stopped> {
    let along = k * RADIUS * RADIUS;
    let across = 0.5 * along + LENGTH * LENGTH / 12.0;
    let shape = format!(
        "inertia = {}\nrotation_deg = {{ axis = [1, 0, 0], angle = -90 }}\nshape.cylinder = {{ radius = {RADIUS:?}, length = {LENGTH:?} }}\n",
        list(Vec3::new(across, across, along))
    );
    roll(setup, k, rolls, &shape)
}

fn roll(setup: &Setup, k: f64, rolls: bool, shape: &str) -> Result<Vec<Value>, Stopped> {
    let alpha = radians(25.0);
    let slope = Slope::new(alpha);
    let mu = if rolls {
        FRICTION_ROLL
    } else {
        0.9 * roll_friction(alpha, k)
    };
    let text = format!(
        "{}{}[[body]]\nname = \"body\"\nposition = {}\nmass = 1.0\nmaterial = \"m\"\n{shape}",
        material(mu, 0.0),
        ground(slope.normal),
        list(slope.normal * RADIUS),
    );
    let mut sim = Sim::load(setup, GRAVITY, &text)?;
    let id = sim.body("body")?;
    let start = sim.state(id).position;
    let a = if rolls {
        roll_acceleration(alpha, k, G)
    } else {
        slope_acceleration(mu, alpha, G)
    };
    let exact = |t: f64| 0.5 * a * t * t;
    let way = |sim: &Sim| (sim.state(id).position - start).dot(slope.down);
    sim.run_until(1.0, |sim| {
        sim.note("way down the slope [m]", || (way(sim), exact(sim.time())));
    })?;
    Ok(vec![(way(&sim) / exact(sim.time()) - 1.0).abs().into()])
}
