//! The scenes of SimBenchmark with its error measures, beside the results published with it.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: the command line, `doc`.
//! Source: \[SimBenchmark]: scenes, measures, and the published figures at 1 ms without error reduction (`data/*/sample.csv` there).
//! Every error is a mean of squares over all steps. The positions of the 666 scenes have their own noise of up to 1 mm; the generator
//! of the original is not ours, so the noise differs.

use std::fmt::Write as _;

use tippe::{BodyId, Vec3};

use crate::analytic::G;
use crate::case::{DT_FINE, Form, Setup, Stopped};
use crate::cases::chain;
use crate::measure::energy;
use crate::sim::{GRAVITY, Sim, list};

/// Engines of the published figures, in the order of [`Scene::published`].
pub const ENGINES: [&str; 6] = [
    "RaiSim",
    "Bullet",
    "ODE",
    "DART",
    "MuJoCo Euler",
    "MuJoCo RK4",
];

/// Settings and date of the published figures.
pub const PUBLISHED: &str =
    "published in 2018, 1 ms, no error reduction, no damping, Intel i7-7700HQ";

/// One scene.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// Name as in the original.
    pub name: &'static str,
    /// What is there, in a line.
    pub what: &'static str,
    /// What the error is, with its unit.
    pub measure: &'static str,
    /// Figures of [`ENGINES`]; NaN where an engine cannot, or none is published.
    pub published: [f64; 6],
    /// Runs it and measures.
    pub run: fn(&Setup) -> Result<f64, Stopped>,
}

const NONE: f64 = f64::NAN;

/// The scenes.
pub const SCENES: [Scene; 6] = [
    Scene {
        name: "rolling, along y",
        what: "25 balls of 1 kg on a box of 10 kg that 150 N pull for 4 s",
        measure: "mean of |Δv|² of ball and box against the exact solution [m²/s²]",
        published: [4e-7, 7e-28, 7.6e-9, 0.426, 9.2e-3, 3.2e-3],
        run: |s| rolling(s, Vec3::Y),
    },
    Scene {
        name: "rolling, oblique",
        what: "the same, pulled at 60° to x",
        measure: "the same [m²/s²]",
        published: [4.1e-7, 4e-27, 3.145, 3.145, 7e-3, 2e-3],
        run: |s| rolling(s, Vec3::new(0.5, 3f64.sqrt() / 2.0, 0.0)),
    },
    Scene {
        name: "bouncing",
        what: "49 balls of 10 kg dropped from 5 m, e = 1, 20 s",
        measure: "mean (E − E₀)² [J²]",
        published: [0.0186, 75245.0, 185.0, 72274.0, NONE, NONE],
        run: bouncing,
    },
    Scene {
        name: "666",
        what: "216 balls of 10 kg, 10 mm apart, fall into a heap, no friction, e = 0, 10 s",
        measure: "mean of the summed squares of penetration [m²]",
        published: [1.35e-4, 0.382, 1.55e-4, 2.8e-4, 0.0950, 0.0951],
        run: |s| heap(s, 0.101, 0.0, Measure::Penetration),
    },
    Scene {
        name: "666 elastic",
        what: "the same dropped from 1 m higher, e = 1",
        measure: "mean (E − E₀)² [J²]",
        published: [8.37, 41498.0, 112.0, 3.5e5, NONE, NONE],
        run: |s| heap(s, 1.101, 1.0, Measure::Energy),
    },
    Scene {
        name: "chain",
        what: "the ten links of F17 for 10 s; the original publishes no chain",
        measure: "mean (E − E₀)² [J²]",
        published: [NONE; 6],
        run: whip,
    },
];

/// Runs every scene at 1 ms; `progress` hears of each.
pub fn measure(methods: &[&str], progress: &mut dyn FnMut(&Benched)) -> Vec<Benched> {
    let mut all = Vec::new();
    for scene in SCENES {
        for &method in methods {
            let found = Benched {
                scene: scene.name,
                method: method.to_owned(),
                error: (scene.run)(&Setup::new(method, Form::Maximal, DT_FINE))
                    .map_err(|s| s.reason),
            };
            progress(&found);
            all.push(found);
        }
    }
    all
}

/// One measured scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Benched {
    /// Name of the scene.
    pub scene: &'static str,
    /// Name of the method.
    pub method: String,
    /// In the measure of the scene; the reason if the run stopped.
    pub error: Result<f64, String>,
}

/// Pull on the box [N], masses of box and ball [kg], number of balls, friction of box on ground.
const PULL: f64 = 150.0;
const BOX: f64 = 10.0;
const BALL: f64 = 1.0;
const BALLS: f64 = 25.0;
const MU_GROUND: f64 = 0.4;

/// Accelerations of box and ball from rest [m/s²]: the box slides, the balls roll on it.
///
/// Friction from the ground f₁ = μ (M + n m) g, from each ball f₂ = ((F − f₁)/M) / (3.5/m + n/M).
#[must_use]
pub fn rolling_accelerations() -> (f64, f64) {
    let f1 = MU_GROUND * (BOX + BALLS * BALL) * G;
    let f2 = ((PULL - f1) / BOX) / (3.5 / BALL + BALLS / BOX);
    ((PULL - f1 - BALLS * f2) / BOX, f2 / BALL)
}

fn rolling(setup: &Setup, along: Vec3) -> Result<f64, Stopped> {
    let mut text = "\
        [[material]]\nname = \"ground\"\nfriction = 0.5\n[[material]]\nname = \"box\"\nfriction = 0.8\n[[material]]\nname = \"ball\"\nfriction = 1.0\n\
        [[pair]]\nmaterials = [\"ground\", \"box\"]\nfriction = 0.4\n[[pair]]\nmaterials = [\"ball\", \"box\"]\nfriction = 0.8\n\
        [[pair]]\nmaterials = [\"ground\", \"ball\"]\nfriction = 0.5\n\
        [[body]]\nname = \"ground\"\nkind = \"fixed\"\nshape.half_space = { normal = [0, 0, 1] }\nmaterial = \"ground\"\n\
        [[body]]\nname = \"box\"\nposition = [0, 0, 0.5]\nmass = 10.0\nshape.box = { size = [20, 20, 1] }\nmaterial = \"box\"\n"
        .to_owned();
    for i in 0..25 {
        let at = Vec3::new(
            f64::from(i / 5) * 2.0 - 4.0,
            f64::from(i % 5) * 2.0 - 4.0,
            1.5,
        );
        let _ = write!(
            text,
            "[[body]]\nname = \"ball{i}\"\nposition = {}\nmass = 1.0\nshape.sphere = {{ radius = 0.5 }}\nmaterial = \"ball\"\n",
            list(at)
        );
    }
    let mut sim = Sim::load(setup, GRAVITY, &text)?;
    let (pulled, ball) = (sim.body("box")?, sim.body("ball0")?);
    let (a_box, a_ball) = rolling_accelerations();
    let mut mean = Mean::default();
    while sim.time() + 0.5 * setup.dt < 4.0 {
        let miss = |id: BodyId, a: f64| {
            (sim.state(id).velocity - along * (a * sim.time())).length_squared()
        };
        mean.add(miss(pulled, a_box) + miss(ball, a_ball));
        let centre = sim.state(pulled).position;
        sim.world
            .apply_force(pulled, along * PULL, centre)
            .map_err(|e| Stopped::new(e.to_string()))?;
        sim.step()?;
    }
    Ok(mean.value())
}

fn bouncing(setup: &Setup) -> Result<f64, Stopped> {
    let mut places = Vec::new();
    for i in 0..49 {
        places.push(Vec3::new(
            f64::from(i / 7) * 2.0,
            f64::from(i % 7) * 2.0,
            5.0,
        ));
    }
    let (mut sim, ids) = balls(setup, &places, 1.0)?;
    energy_error(&mut sim, &ids, 20.0, setup.dt)
}

/// What a heap is measured by.
#[derive(Clone, Copy)]
enum Measure {
    Penetration,
    Energy,
}

fn heap(setup: &Setup, height: f64, e: f64, measure: Measure) -> Result<f64, Stopped> {
    let (gap, mut noise) = (0.21, Noise(42));
    let mut places = Vec::new();
    for i in 0..216 {
        let place = Vec3::new(
            f64::from(i / 36) * gap,
            f64::from(i / 6 % 6) * gap,
            f64::from(i % 6) * gap + height,
        );
        places.push(place + Vec3::new(noise.next(), noise.next(), noise.next()) * 1e-3);
    }
    let (mut sim, ids) = balls(setup, &places, e)?;
    match measure {
        Measure::Energy => energy_error(&mut sim, &ids, 10.0, setup.dt),
        Measure::Penetration => {
            let mut mean = Mean::default();
            while sim.time() + 0.5 * setup.dt < 10.0 {
                mean.add(penetration(&sim, &ids));
                sim.step()?;
            }
            Ok(mean.value())
        }
    }
}

const RADIUS: f64 = 0.1;

/// Summed squares of how deep balls are in each other and in the ground [m²].
fn penetration(sim: &Sim, ids: &[BodyId]) -> f64 {
    let at: Vec<Vec3> = ids.iter().map(|id| sim.state(*id).position).collect();
    let mut sum = 0.0;
    for (i, a) in at.iter().enumerate() {
        for b in &at[i + 1..] {
            let square = (*a - *b).length_squared();
            if square < 4.0 * RADIUS * RADIUS {
                let depth = 2.0 * RADIUS - square.sqrt();
                sum += depth * depth;
            }
        }
        let depth = (RADIUS - a.z).max(0.0);
        sum += depth * depth;
    }
    sum
}

/// Balls of 10 kg and radius 0.1 m at these places above the ground, without friction.
fn balls(setup: &Setup, places: &[Vec3], e: f64) -> Result<(Sim, Vec<BodyId>), Stopped> {
    let mut text = crate::sim::material(0.0, e) + &crate::sim::ground(Vec3::Z);
    for (i, place) in places.iter().enumerate() {
        let _ = write!(
            text,
            "[[body]]\nname = \"ball{i}\"\nposition = {}\nmass = 10.0\nshape.sphere = {{ radius = {RADIUS:?} }}\nmaterial = \"m\"\n",
            list(*place)
        );
    }
    let sim = Sim::load(setup, GRAVITY, &text)?;
    let ids = (0..places.len()).map(|i| sim.body(&format!("ball{i}")));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    Ok((sim, ids))
}

fn whip(setup: &Setup) -> Result<f64, Stopped> {
    let mut sim = Sim::load(setup, GRAVITY, &chain::text())?;
    let ids = (0..10).map(|i| sim.body(&format!("link{i}")));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    energy_error(&mut sim, &ids, 10.0, setup.dt)
}

fn energy_error(sim: &mut Sim, ids: &[BodyId], seconds: f64, dt: f64) -> Result<f64, Stopped> {
    let e0 = energy(sim, ids, G);
    let mut mean = Mean::default();
    while sim.time() + 0.5 * dt < seconds {
        let error = energy(sim, ids, G) - e0;
        mean.add(error * error);
        sim.step()?;
    }
    Ok(mean.value())
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, x: f64) {
        self.sum += x;
        self.count += 1.0;
    }

    fn value(&self) -> f64 {
        self.sum / self.count
    }
}

/// Even numbers from 0 to 1, the same on every machine: a multiplicative congruential generator modulo 2³¹ − 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_slides_and_the_balls_roll() {
        let (a_box, a_ball) = rolling_accelerations();
        // Newton for the box: pull, ground, 25 balls; for a ball rolling on it: 2/7 of its acceleration.
        let f1 = 0.4 * 35.0 * G;
        assert!((BOX * a_box + BALLS * a_ball - (PULL - f1)).abs() < 1e-12);
        assert!((a_ball - 2.0 / 7.0 * a_box).abs() < 1e-12);
    }

    #[test]
    fn bouncing_balls_keep_their_energy_at_a_coarse_step() {
        let setup = Setup::new("sequential", Form::Maximal, 1.0 / 60.0);
        let error = bouncing(&setup).unwrap();
        // E₀ is 23544 J; the best published figure at 1 ms is 0.0186 J².
        assert!(error < 0.0186, "{error:e}");
    }
}
