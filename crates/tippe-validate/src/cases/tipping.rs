//! F25 tip-or-slide: a tall block on a rough slope stands below tan α = w/h and tips above.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: elementary statics (`analytic::statics::tipping_angle`: 26.565°).

use crate::analytic::radians;
use crate::analytic::spinning::angle_between;
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, Slope, ground, list, material, quat};

/// A block 0.1 wide and 0.2 high at 26° and 27°, μ = 1.
pub const F25: Case = Case {
    id: "F25",
    name: "tip-or-slide",
    source: "statics",
    trials: &[
        Trial {
            parts: &[Part {
                name: "stand",
                measure: "largest displacement in 10 s at 26° [m]",
                tolerance: Tolerance::Scaled(1e-6),
                reason: "exact 0; nearly all load sits on the lower edge, where soft contacts sink and tip",
            }],
            needs: &[],
            run: stands,
        },
        Trial {
            parts: &[Part {
                name: "tip",
                measure: "at 27° it turns by more than 45° within 10 s (verdict)",
                tolerance: Tolerance::Verdict,
                reason: "the weight passes the lower edge by 0.4°: it must fall",
            }],
            needs: &[],
            run: tips,
        },
    ],
};

fn block(setup: &Setup, degrees: f64) -> Result<Sim, Stopped> {
    let slope = Slope::new(radians(degrees));
    let text = format!(
        "{}{}[[body]]\nname = \"block\"\nposition = {}\nrotation = {}\nmass = 1.0\n\
         shape.box = {{ size = [0.1, 0.1, 0.2] }}\nmaterial = \"m\"\n",
        material(1.0, 0.0),
        ground(slope.normal),
        list(slope.normal * 0.1),
        quat(slope.rotation)
    );
    Sim::load(setup, GRAVITY, &text)
}

fn stands(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let mut sim = block(setup, 26.0)?;
    let id = sim.body("block")?;
    let start = sim.state(id).position;
    let mut creep = 0f64;
    sim.run_until(10.0, |sim| {
        creep = creep.max((sim.state(id).position - start).length());
        sim.note("largest displacement so far [m]", || (creep, 0.0));
    })?;
    Ok(vec![creep.into()])
}

fn tips(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let mut sim = block(setup, 27.0)?;
    let id = sim.body("block")?;
    let start = sim.state(id).rotation;
    let mut turned = 0f64;
    sim.run_until(10.0, |sim| {
        turned = turned.max(angle_between(start, sim.state(id).rotation))
    })?;
    Ok(vec![Value::verdict(turned > radians(45.0))])
}
