//! F07 turntable: a ball rolling on a turning disc runs in circles at 2/7 of its rate.
//!
//! Reads: `analytic::rolling`.  Writes: nothing.
//! Called by: `run`.
//! Source: \[Weltner79], \[Ehrlich95].

use crate::analytic::rolling::{SOLID_SPHERE, turntable, turntable_circle};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, list, material};
use std::f64::consts::PI;
use tippe::Vec3;

/// Three turns of 7 s on a table that turns at π rad/s.
pub const F07: Case = Case {
    id: "F07",
    name: "turntable",
    source: "[Weltner79], [Ehrlich95]",
    trials: &[Trial {
        parts: &[
            Part {
                name: "return",
                measure: "distance from the start after 21 s, of the radius of the circle [1]",
                tolerance: Tolerance::Scaled(1e-2),
                reason: "stick at the level of velocities lets the ball spiral by 7e-2; the mean over a step keeps 1e-6",
            },
            Part {
                name: "radius",
                measure: "largest deviation from the circle in 21 s, of its radius [1]",
                tolerance: Tolerance::Scaled(1e-2),
                reason: "the same spiral, seen along the way",
            },
        ],
        needs: &[],
        run: circles,
    }],
};

fn circles(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let (r, omega) = (0.05, PI);
    let (start, v0) = (Vec3::new(0.5, 0.0, r), Vec3::new(0.0, 0.2, 0.0));
    // No slip: v + ω × (−r ẑ) = Ω ẑ × R, so ω = ẑ × (v − Ω ẑ × R) / r.
    let spin = Vec3::Z.cross(v0 - omega * Vec3::Z.cross(start)) / r;
    let text = format!(
        "{}[[body]]\nname = \"table\"\nkind = \"kinematic\"\n\
         motion = {{ kind = \"constant\", angular_velocity = [0, 0, {omega:?}] }}\n\
         shape.half_space = {{ normal = [0, 0, 1] }}\nmaterial = \"m\"\n\
         [[body]]\nname = \"ball\"\nposition = {}\nvelocity = {}\nangular_velocity = {}\nmass = 0.1\n\
         shape.sphere = {{ radius = {r:?} }}\nmaterial = \"m\"\n",
        material(1.0, 0.0),
        list(start),
        list(v0),
        list(spin)
    );
    let mut sim = Sim::load(setup, GRAVITY, &text)?;
    let ball = sim.body("ball")?;
    let circle = turntable_circle(start, v0, omega, SOLID_SPHERE);
    let mut deviation = 0f64;
    sim.run_until(21.0, |sim| {
        let from_center = (sim.state(ball).position - circle.center)
            .with_z(0.0)
            .length();
        deviation = deviation.max((from_center / circle.radius - 1.0).abs());
        sim.note("position along x [m]", || {
            let exact = turntable(start, v0, omega, SOLID_SPHERE, sim.time());
            (sim.state(ball).position.x, exact.x)
        });
    })?;
    let exact = turntable(start, v0, omega, SOLID_SPHERE, sim.time());
    let miss = (sim.state(ball).position - exact).with_z(0.0).length() / circle.radius;
    Ok(vec![miss.into(), deviation.into()])
}
