//! F18 overhang: harmonic bricks stand just below the limit and fall just above it.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: elementary statics.

use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, list, material};
use std::fmt::Write as _;
use tippe::{BodyId, Vec3};

/// Four bricks over the edge of a table.
pub const F18: Case = Case {
    id: "F18",
    name: "overhang",
    source: "statics",
    trials: &[
        Trial {
            parts: &[Part {
                name: "stand",
                measure: "largest displacement of a brick in 10 s at 0.98 of the limit [m]",
                tolerance: Tolerance::Scaled(1e-4),
                reason: "exact 0; soft contacts lean by 14 mm because the load sits on edges",
            }],
            needs: &[],
            run: stands,
        },
        Trial {
            parts: &[Part {
                name: "fall",
                measure: "at 1.02 of the limit the top brick is more than 25 mm lower within 10 s (verdict)",
                tolerance: Tolerance::Verdict,
                reason: "the whole stack tips about the table's edge",
            }],
            needs: &[],
            run: falls,
        },
    ],
};

const BRICK: Vec3 = Vec3::new(0.2, 0.1, 0.05);
const BRICKS: usize = 4;

/// The bricks over a table whose edge is at x = 0; brick 1 is the top one and reaches s L/2k past the one below.
fn bricks(setup: &Setup, s: f64) -> Result<(Sim, Vec<BodyId>), Stopped> {
    let mut text = material(0.7, 0.0);
    text.push_str(
        "[[body]]\nname = \"table\"\nkind = \"fixed\"\nposition = [-0.5, 0, -0.25]\nshape.box = { size = [1, 1, 0.5] }\nmaterial = \"m\"\n",
    );
    let mut edge = 0.0;
    for k in (1..=BRICKS).rev() {
        edge += s * BRICK.x / (2.0 * k as f64);
        let height = (BRICKS - k) as f64 * BRICK.z + 0.5 * BRICK.z;
        let _ = write!(
            text,
            "[[body]]\nname = \"brick{k}\"\nposition = {}\nmass = 1.0\nshape.box = {{ size = {} }}\nmaterial = \"m\"\n",
            list(Vec3::new(edge - 0.5 * BRICK.x, 0.0, height)),
            list(BRICK)
        );
    }
    let sim = Sim::load(setup, GRAVITY, &text)?;
    let ids = (1..=BRICKS)
        .map(|k| sim.body(&format!("brick{k}")))
        .collect::<Result<_, _>>()?;
    Ok((sim, ids))
}

fn stands(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let (mut sim, ids) = bricks(setup, 0.98)?;
    let starts: Vec<Vec3> = ids.iter().map(|id| sim.state(*id).position).collect();
    let mut creep = 0f64;
    sim.run_until(10.0, |sim| {
        for (id, start) in ids.iter().zip(&starts) {
            creep = creep.max((sim.state(*id).position - *start).length());
        }
        sim.note("largest displacement of a brick so far [m]", || {
            (creep, 0.0)
        });
    })?;
    Ok(vec![creep.into()])
}

fn falls(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let (mut sim, ids) = bricks(setup, 1.02)?;
    let start = sim.state(ids[0]).position.z;
    let mut lowest = start;
    sim.run_until(10.0, |sim| {
        lowest = lowest.min(sim.state(ids[0]).position.z)
    })?;
    Ok(vec![Value::verdict(start - lowest > 0.025)])
}
