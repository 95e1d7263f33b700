//! Error against cost: what a smaller step or a tighter solve buys, for five scenes.
//!
//! Reads: cases, the funnel scene.  Writes: nothing.
//! Called by: the command line, `doc`.
//! Source: errors are those of the cases; the funnel has no known answer, and its error is how deep bodies sink into each other.

use cpu_time::ThreadTime;

use crate::case::{Form, Setup, Stopped};
use crate::cases::all_cases;
use crate::sim::Sim;

/// Steps measured [s].
pub const STEPS: [f64; 5] = [
    1.0 / 60.0,
    1.0 / 120.0,
    1.0 / 250.0,
    1.0 / 500.0,
    1.0 / 1000.0,
];
/// Factors on the solver tolerances of a method.
pub const LOOSEN: [f64; 3] = [1.0, 1e2, 1e4];

/// A scene of the study.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// Name.
    pub name: &'static str,
    /// What the error is, with its unit.
    pub measure: &'static str,
    /// Steps measured: those of [`STEPS`] that are at most this long [s].
    step_max: f64,
    run: fn(&Setup) -> Result<f64, Stopped>,
}

/// The scenes.
pub const SCENES: [Scene; 5] = [
    Scene {
        name: "stack",
        measure: "F19: rms speed of 20 cubes at rest, 10 s [m/s]",
        step_max: 1.0,
        run: |s| part(s, "F19", "jitter-20"),
    },
    Scene {
        name: "funnel",
        measure: "deepest penetration of 1000 cubes in the first 1.2 s [m]",
        // At 1/60 s `iterative` breaks down on it: one step takes minutes.
        step_max: 1.0 / 400.0,
        run: funnel,
    },
    Scene {
        name: "pendulum",
        measure: "F15: largest drift of energy in 60 s, of m g L/2 [1]",
        step_max: 1.0,
        run: |s| part(s, "F15", "energy"),
    },
    Scene {
        name: "bounce",
        measure: "F06: worst of five peaks at e = 0.9, of h₀ [1]",
        step_max: 1.0,
        run: |s| part(s, "F06", "a"),
    },
    Scene {
        name: "chain",
        measure: "F17: largest drift of energy in 10 s, of 10 m g · 1 m [1]",
        step_max: 1.0,
        run: |s| part(s, "F17", "energy"),
    },
];

/// One measured point.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Name of the scene.
    pub scene: &'static str,
    /// Name of the method.
    pub method: String,
    /// Step [s].
    pub dt: f64,
    /// Factor on the tolerances.
    pub loosen: f64,
    /// In the measure of the scene; `None` if the run stopped.
    pub error: Option<f64>,
    /// Time of the processor [s].
    pub cpu: f64,
}

/// Measures every scene with these methods; `progress` hears of each point.
pub fn measure(methods: &[&str], progress: &mut dyn FnMut(&Point)) -> Vec<Point> {
    let mut points = Vec::new();
    for scene in SCENES {
        for &method in methods {
            for loosen in LOOSEN {
                for dt in STEPS.into_iter().filter(|dt| *dt <= scene.step_max) {
                    let mut setup = Setup::new(method, Form::Maximal, dt);
                    setup.loosen = loosen;
                    let start = ThreadTime::now();
                    let error = (scene.run)(&setup).ok().filter(|e| e.is_finite());
                    let point = Point {
                        scene: scene.name,
                        method: method.to_owned(),
                        dt,
                        loosen,
                        error,
                        cpu: start.elapsed().as_secs_f64(),
                    };
                    progress(&point);
                    points.push(point);
                }
            }
        }
    }
    points
}

/// The error of one part of a case.
fn part(setup: &Setup, case: &str, part: &str) -> Result<f64, Stopped> {
    let missing = || Stopped::new(format!("no part {case} {part}"));
    let case = all_cases().iter().find(|c| c.id == case);
    let trials = case.ok_or_else(missing)?.trials;
    for trial in trials {
        if let Some(i) = trial.parts.iter().position(|p| p.name == part) {
            return (trial.run)(setup)?
                .get(i)
                .map(|v| v.error)
                .ok_or_else(missing);
        }
    }
    Err(missing())
}

/// Until here the cubes have met the plates and each other [s].
const FUNNEL_SECONDS: f64 = 1.2;

fn funnel(setup: &Setup) -> Result<f64, Stopped> {
    let mut sim = Sim::open(setup, include_str!("../../../scenes/funnel.toml"))?;
    let mut deepest = 0f64;
    while sim.time() < FUNNEL_SECONDS {
        let report = sim.step()?;
        deepest = deepest
            .max(report.penetration)
            .max(report.penetration_found);
    }
    Ok(deepest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenes_measure_what_they_name() {
        let setup = Setup::new("sequential", Form::Maximal, 1.0 / 60.0);
        let bounce = SCENES.iter().find(|s| s.name == "bounce").unwrap();
        assert!((bounce.run)(&setup).unwrap() < 1e-2);
        assert!(part(&setup, "F06", "no such").is_err());
    }
}
