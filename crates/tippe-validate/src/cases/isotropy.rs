//! F03 slide-isotropy: friction is a cone, not a pyramid.
//!
//! Reads: `analytic::sliding`.  Writes: nothing.
//! Called by: `run`.
//! Source: Coulomb (1785); d = v₀² / 2μg in every heading.

use crate::analytic::sliding::level_stop;
use crate::analytic::{G, radians};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, ground, list, material};
use tippe::Vec3;

/// A block slides equally far in every heading.
pub const F03: Case = Case {
    id: "F03",
    name: "slide-isotropy",
    source: "Coulomb (1785)",
    trials: &[Trial {
        parts: &[
            Part {
                name: "distance",
                measure: "relative error of the stopping distance, worst of headings 0, 15, 30, 45° [1]",
                tolerance: Tolerance::Scaled(1e-3),
                reason: "a four-sided pyramid is up to 41 % off; a first-order step v₀ dt/2d = 1.6e-3",
            },
            Part {
                name: "lateral",
                measure: "largest sideways displacement [m]",
                tolerance: Tolerance::Scaled(1e-4),
                reason: "exact 0; a pyramid drifts by 0.2 m",
            },
        ],
        needs: &[],
        run: slides_equally,
    }],
};

fn slides_equally(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let exact = level_stop(3.0, 0.5, G);
    let (mut distance, mut lateral) = (0f64, 0f64);
    for heading in [0.0, 15.0, 30.0, 45.0] {
        let angle = radians(heading);
        let along = Vec3::new(libm::cos(angle), libm::sin(angle), 0.0);
        let across = Vec3::Z.cross(along);
        let text = format!(
            "{}{}[[body]]\nname = \"block\"\nposition = [0, 0, 0.05]\nvelocity = {}\nmass = 1.0\n\
             shape.box = {{ size = [0.2, 0.2, 0.1] }}\nmaterial = \"m\"\n",
            material(0.5, 0.0),
            ground(Vec3::Z),
            list(along * 3.0)
        );
        let mut sim = Sim::load(setup, GRAVITY, &text)?;
        let block = sim.body("block")?;
        sim.run_until(2.0 * exact.time, |sim| {
            lateral = lateral.max(sim.state(block).position.dot(across).abs());
            sim.note("way along the heading [m]", || {
                (sim.state(block).position.dot(along), exact.way(sim.time()))
            });
        })?;
        let way = sim.state(block).position.dot(along);
        distance = distance.max((way / exact.distance - 1.0).abs());
    }
    Ok(vec![distance.into(), lateral.into()])
}
