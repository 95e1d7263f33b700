//! F17 chain-10: ten links on ball joints, let go straight and horizontal; the whip at its end asks most of the joints.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: the energy is constant, the joints stay closed.

use crate::analytic::G;
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::measure::{energy, joint_gap};
use crate::sim::{GRAVITY, Sim, list};
use tippe::{BodyId, Vec3};

/// Number of links.
const LINKS: usize = 10;
/// Mass [kg] and length [m] of a link.
const MASS: f64 = 0.1;
const LINK: f64 = 0.2;

/// Ten links.
pub const F17: Case = Case {
    id: "F17",
    name: "chain-10",
    source: "energy",
    trials: &[Trial {
        parts: &[
            Part {
                name: "energy",
                measure: "largest |E − E₀| in 10 s, of 10 m g · 1 m [1]",
                tolerance: Tolerance::Between(1e-2, 5e-2),
                reason: "the whip end turns too fast for 1/60 s: there only no blow-up is asked",
            },
            Part {
                name: "gap",
                measure: "largest anchor gap [m]",
                tolerance: Tolerance::Between(1e-5, 1e-3),
                reason: "same",
            },
        ],
        needs: &[],
        run: whip,
    }],
};

/// The chain along x from the origin; links are thin rods along their z, without shapes: they touch nothing.
pub fn text() -> String {
    let across = MASS * LINK * LINK / 12.0;
    format!(
        "[[chain]]\ncount = {LINKS}\npitch = {LINK:?}\norigin = [0, 0, 0]\nalong = [1, 0, 0]\nfrom = \"world\"\njoint = {{ kind = \"ball\" }}\n\
         [chain.body]\nname = \"link\"\nmass = {MASS:?}\ninertia = {}\nrotation_deg = {{ axis = [0, 1, 0], angle = 90 }}\n",
        list(Vec3::new(across, across, 2e-6))
    )
}

fn whip(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let mut sim = Sim::load(setup, GRAVITY, &text())?;
    let links = (0..LINKS).map(|i| sim.body(&format!("link{i}")));
    let links: Vec<BodyId> = links.collect::<Result<_, _>>()?;
    let scale = LINKS as f64 * MASS * G;
    let e0 = energy(&sim, &links, G);
    let (mut worst, mut last, mut gap) = (0f64, 0f64, 0f64);
    sim.run_until(10.0, |sim| {
        last = (energy(sim, &links, G) - e0).abs() / scale;
        worst = worst.max(last);
        sim.note("energy, of 10 m g · 1 m, less its start [1]", || {
            ((energy(sim, &links, G) - e0) / scale, 0.0)
        });
        gap = gap.max(joint_gap(sim));
    })?;
    Ok(vec![Value::with_peer(worst, last), gap.into()])
}
