//! F01 slope-stop and F02 slope-hold: a block on a slope slides, stops and stays as Coulomb says.
//!
//! Reads: `analytic::sliding`.  Writes: nothing.
//! Called by: `run`.
//! Source: Coulomb (1785); d = v₀² / 2g(μ cos α − sin α); holds iff μ ≥ tan α.

use crate::analytic::sliding::{slope_acceleration, slope_stop};
use crate::analytic::{G, radians};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, Slope, ground, list, material, quat};

/// A block launched down a slope stops where friction says, and then rests.
pub const F01: Case = Case {
    id: "F01",
    name: "slope-stop",
    source: "Coulomb (1785)",
    trials: &[Trial {
        parts: &[
            Part {
                name: "distance",
                measure: "relative error of the stopping distance, worst of μ = 0.35, 0.5, 0.8 [1]",
                tolerance: Tolerance::Scaled(1e-3),
                reason: "a first-order step is wrong by v₀ dt/2 of up to 0.4 m: 2.5e-3; twice as good is asked",
            },
            Part {
                name: "creep",
                measure: "largest displacement in the 2 s after stopping [m]",
                tolerance: Tolerance::Scaled(1e-6),
                reason: "exact 0; regularised friction creeps visibly, a stick condition only by its solver's residual",
            },
        ],
        needs: &[],
        run: slope_stops,
    }],
};

/// A block at rest on a slope stays, or slides with the right acceleration.
pub const F02: Case = Case {
    id: "F02",
    name: "slope-hold",
    source: "Coulomb (1785)",
    trials: &[
        Trial {
            parts: &[hold_part("a", "displacement after 60 s at μ = 0.5 [m]")],
            needs: &[],
            run: |s| holds(s, 0.5),
        },
        Trial {
            parts: &[hold_part(
                "b",
                "displacement after 60 s at μ = 1.05 tan α [m]",
            )],
            needs: &[],
            run: |s| holds(s, 1.05 * libm::tan(radians(20.0))),
        },
        Trial {
            parts: &[Part {
                name: "c",
                measure: "relative error of the way slid in 2 s at μ = 0.95 tan α [1]",
                tolerance: Tolerance::Scaled(1e-3),
                reason: "the acceleration is 5 % of g sin α: an error of 5e-5 in the friction force shows",
            }],
            needs: &[],
            run: slides,
        },
    ],
};

const fn hold_part(name: &'static str, measure: &'static str) -> Part {
    Part {
        name,
        measure,
        tolerance: Tolerance::Scaled(1e-6),
        reason: "exact 0; a tenth of a micrometre of creep per 6 s would be seen in no experiment",
    }
}

/// The block 0.2 × 0.2 × 0.1 m, 1 kg, lying on the slope, moving down it at `speed`.
pub fn block_on_slope(slope: &Slope, mu: f64, speed: f64) -> String {
    format!(
        "{}{}[[body]]\nname = \"block\"\nposition = {}\nrotation = {}\nvelocity = {}\nmass = 1.0\n\
         shape.box = {{ size = [0.2, 0.2, 0.1] }}\nmaterial = \"m\"\n",
        material(mu, 0.0),
        ground(slope.normal),
        list(slope.normal * 0.05),
        quat(slope.rotation),
        list(slope.down * speed)
    )
}

/// Speed below which the block has stopped [m/s]: from here it would slide less than 1e-8 m.
const STOPPED: f64 = 1e-4;

/// What one launched block did.
#[derive(Clone, Copy, Debug)]
pub struct Launched {
    /// How far it came [m].
    pub distance: f64,
    /// Largest displacement in the 2 s after [m].
    pub creep: f64,
}

/// Launches the block at 2 m/s down 15° and follows it until 2 s after it stopped (or should long have).
///
/// # Errors
/// The run stopped.
pub fn launch(setup: &Setup, mu: f64) -> Result<(Launched, Sim), Stopped> {
    let slope = Slope::new(radians(15.0));
    let exact = slope_stop(2.0, mu, radians(15.0), G);
    let mut sim = Sim::load(setup, GRAVITY, &block_on_slope(&slope, mu, 2.0))?;
    let block = sim.body("block")?;
    let start = sim.state(block).position;
    let late = 1.5 * exact.time;
    while sim.state(block).velocity.length() > STOPPED && sim.time() < late {
        sim.step()?;
        sim.note("way down the slope [m]", || {
            let way = (sim.state(block).position - start).dot(slope.down);
            (way, exact.way(sim.time()))
        });
    }
    let rest = sim.state(block).position;
    let mut creep = 0f64;
    sim.run_until(sim.time() + 2.0, |sim| {
        creep = creep.max((sim.state(block).position - rest).length())
    })?;
    Ok((
        Launched {
            distance: (rest - start).dot(slope.down),
            creep,
        },
        sim,
    ))
}

fn slope_stops(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let (mut distance, mut creep) = (0f64, 0f64);
    for mu in [0.35, 0.5, 0.8] {
        let exact = slope_stop(2.0, mu, radians(15.0), G).distance;
        let (launched, _) = launch(setup, mu)?;
        distance = distance.max((launched.distance / exact - 1.0).abs());
        creep = creep.max(launched.creep);
    }
    Ok(vec![distance.into(), creep.into()])
}

fn holds(setup: &Setup, mu: f64) -> Result<Vec<Value>, Stopped> {
    let slope = Slope::new(radians(20.0));
    let mut sim = Sim::load(setup, GRAVITY, &block_on_slope(&slope, mu, 0.0))?;
    let block = sim.body("block")?;
    let start = sim.state(block).position;
    sim.run_until(60.0, |sim| {
        sim.note("displacement [m]", || {
            ((sim.state(block).position - start).length(), 0.0)
        });
    })?;
    Ok(vec![(sim.state(block).position - start).length().into()])
}

fn slides(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let alpha = radians(20.0);
    let (slope, mu) = (Slope::new(alpha), 0.95 * libm::tan(alpha));
    let mut sim = Sim::load(setup, GRAVITY, &block_on_slope(&slope, mu, 0.0))?;
    let block = sim.body("block")?;
    let start = sim.state(block).position;
    let exact = |t: f64| 0.5 * slope_acceleration(mu, alpha, G) * t * t;
    let way = |sim: &Sim| (sim.state(block).position - start).dot(slope.down);
    sim.run_until(2.0, |sim| {
        sim.note("way down the slope [m]", || (way(sim), exact(sim.time())));
    })?;
    Ok(vec![(way(&sim) / exact(sim.time()) - 1.0).abs().into()])
}
