//! F19 stack: cubes on cubes neither sink nor tremble nor lean.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: statics of rigid bodies; all exact answers are 0.

use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, ground, list, material};
use std::fmt::Write as _;
use tippe::{BodyId, Vec3};

/// Stacks of 10, 20 and 100 cubes, and of 10 with a heavy top.
pub const F19: Case = Case {
    id: "F19",
    name: "stack",
    source: "statics",
    trials: &[
        Trial {
            parts: &parts(["sag-10", "jitter-10", "lean-10"]),
            needs: &[],
            run: |s| stack(s, 10, 1.0),
        },
        Trial {
            parts: &parts(["sag-20", "jitter-20", "lean-20"]),
            needs: &[],
            run: |s| stack(s, 20, 1.0),
        },
        Trial {
            parts: &parts(["sag-100", "jitter-100", "lean-100"]),
            needs: &[],
            run: |s| stack(s, 100, 1.0),
        },
        Trial {
            parts: &parts(["sag-10x10", "jitter-10x10", "lean-10x10"]),
            needs: &[],
            run: |s| stack(s, 10, 10.0),
        },
        Trial {
            parts: &parts(["sag-10x100", "jitter-10x100", "lean-10x100"]),
            needs: &[],
            run: |s| stack(s, 10, 100.0),
        },
    ],
};

const fn parts(names: [&'static str; 3]) -> [Part; 3] {
    [
        Part {
            name: names[0],
            measure: "sag of the top face at 10 s per contact [m]",
            tolerance: Tolerance::Scaled(1e-5),
            reason: "hard contacts: penetration must not grow with load; one ten-thousandth of the gap one sees",
        },
        Part {
            name: names[1],
            measure: "rms speed of the cubes over the last second [m/s]",
            tolerance: Tolerance::Scaled(1e-6),
            reason: "at rest means at rest: a micrometre in a second",
        },
        Part {
            name: names[2],
            measure: "sideways shift of the top cube at 10 s [m]",
            tolerance: Tolerance::Scaled(1e-4),
            reason: "nothing in the scene points sideways",
        },
    ]
}

/// Edge of a cube [m].
pub const EDGE: f64 = 0.2;

/// `count` cubes of 1 kg on the ground, the top one `top_mass`, started exactly touching. Cube 0 is the lowest.
///
/// # Errors
/// The scene was refused.
pub fn stacked(setup: &Setup, count: usize, top_mass: f64) -> Result<(Sim, Vec<BodyId>), Stopped> {
    let mut text = format!("{}{}", material(0.5, 0.0), ground(Vec3::Z));
    for i in 0..count {
        let mass = if i + 1 == count { top_mass } else { 1.0 };
        let _ = write!(
            text,
            "[[body]]\nname = \"cube{i}\"\nposition = {}\nmass = {mass:?}\nshape.box = {{ size = {} }}\nmaterial = \"m\"\n",
            list(Vec3::Z * (EDGE * (i as f64 + 0.5))),
            list(Vec3::splat(EDGE))
        );
    }
    let sim = Sim::load(setup, GRAVITY, &text)?;
    let ids = (0..count)
        .map(|i| sim.body(&format!("cube{i}")))
        .collect::<Result<_, _>>()?;
    Ok((sim, ids))
}

/// Height of the highest point of a cube [m].
fn top_face(sim: &Sim, cube: BodyId) -> f64 {
    let s = sim.state(cube);
    let up = s.rotation.conjugate() * Vec3::Z;
    s.position.z + 0.5 * EDGE * (up.x.abs() + up.y.abs() + up.z.abs())
}

fn stack(setup: &Setup, count: usize, top_mass: f64) -> Result<Vec<Value>, Stopped> {
    let (mut sim, ids) = stacked(setup, count, top_mass)?;
    let top = ids[count - 1];
    let height = |sim: &Sim| (top_face(sim, top), count as f64 * EDGE);
    sim.run_until(9.0, |sim| {
        sim.note("height of the stack [m]", || height(sim));
    })?;
    let (mut square, mut samples) = (0.0, 0.0);
    sim.run_until(10.0, |sim| {
        square += ids
            .iter()
            .map(|id| sim.state(*id).velocity.length_squared())
            .sum::<f64>();
        samples += count as f64;
    })?;
    // A stack that fell is at rest too: its speed says nothing.
    let fell = top_face(&sim, top) < (count as f64 - 0.5) * EDGE;
    let jitter = if fell {
        f64::NAN
    } else {
        (square / samples).sqrt()
    };
    let sag = (count as f64 * EDGE - top_face(&sim, top)).abs();
    let lean = sim.state(top).position.with_z(0.0).length();
    Ok(vec![
        // The other engines' figure is the whole sag.
        Value::with_peer(sag / count as f64, sag),
        jitter.into(),
        lean.into(),
    ])
}
