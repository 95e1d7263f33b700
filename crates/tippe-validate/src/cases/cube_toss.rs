//! F26: measured tosses of an acrylic cube, simulated from their first contact on.
//!
//! Reads: `cube-tosses/tosses.csv` and `starts.csv` in the folder of measured data.  Writes: nothing.
//! Called by: `run`, the example `fit_tosses`.
//! Source: \[Acosta22], with its scores; one friction coefficient and one restitution for all tosses.

use std::path::{Path, PathBuf};

use tippe::math::quat_wxyz;
use tippe::{Quat, Vec3};

use crate::analytic::impact::Law;
use crate::case::{Case, Form, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::columns::columns;
use crate::sim::{GRAVITY, Sim, ground, list, quat};
use crate::support::Feature;

/// Width of the cube [m], its mass [kg] and its inertia about every axis [kg·m²], as the owners of the data give them.
const WIDTH: f64 = 0.1048;
const MASS: f64 = 0.37;
const INERTIA: f64 = 0.00081;
/// Time between frames [s].
const FRAME: f64 = 1.0 / 148.0;

/// What cube and board do to each other: fitted once to the 275 tosses by the example `fit_tosses`.
pub const FITTED: Touch = Touch::new(0.175, 0.175, Law::Stronge);

/// A set of parameters found for one method and law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Name of the method it was found with.
    pub method: &'static str,
    /// What the search sought.
    pub sought: &'static str,
    /// The set.
    pub touch: Touch,
}

const fn fit(
    method: &'static str,
    sought: &'static str,
    friction: f64,
    restitution: f64,
    law: Law,
) -> Fit {
    Fit {
        method,
        sought,
        touch: Touch::new(friction, restitution, law),
    }
}

/// The best set found with static friction and slip speed free too. Friction: kinetic, static, slip speed.
const fn wide(method: &'static str, friction: [f64; 3], restitution: f64, law: Law) -> Fit {
    Fit {
        method,
        sought: WIDE,
        touch: Touch {
            sticking: friction[1],
            slip_speed: friction[2],
            ..Touch::new(friction[0], restitution, law)
        },
    }
}

/// The best sets found by the example `fit_tosses` for each method and law.
pub const FITS: [Fit; 16] = [
    fit("sequential", BOTH, 0.175, 0.075, Law::Stronge),
    fit("sequential", WITHIN, 0.18, 0.075, Law::Stronge),
    fit("sequential", ROTATION, 0.22, 0.3, Law::Stronge),
    wide("sequential", [0.175, 0.175, 0.05], 0.0625, Law::Stronge),
    fit("iterative", BOTH, 0.175, 0.175, Law::Stronge),
    fit("iterative", WITHIN, 0.18, 0.175, Law::Stronge),
    fit("iterative", ROTATION, 0.19, 0.1, Law::Stronge),
    wide("iterative", [0.17375, 0.191125, 0.0], 0.175, Law::Stronge),
    fit("iterative", BOTH, 0.175, 0.1875, Law::Poisson),
    fit("iterative", WITHIN, 0.18, 0.15, Law::Poisson),
    fit("iterative", ROTATION, 0.19, 0.1, Law::Poisson),
    wide("iterative", [0.17375, 0.2345625, 0.0], 0.1875, Law::Poisson),
    fit("iterative", BOTH, 0.175, 0.1875, Law::Newton),
    fit("iterative", WITHIN, 0.18, 0.175, Law::Newton),
    fit("iterative", ROTATION, 0.22, 0.2, Law::Newton),
    wide("iterative", [0.175, 0.30625, 0.0], 0.1625, Law::Newton),
];

/// What the searches sought.
const BOTH: &str = "least sum of both errors over their tolerances";
const WITHIN: &str = "least rotation with position near 0.140";
const ROTATION: &str = "least rotation";
const WIDE: &str = "least sum, static friction and slip speed free";

/// What the search says about rigid contact.
pub const EVIDENCE: &str = "\
No set found reaches both figures. Position is best near μ = 0.175 and rotation at μ = 0.19 and above, where position is far off; restitution and the impact law\n\
change little. Static friction above kinetic or a slip speed gain at most a fiftieth of the sum of both errors over their tolerances, and no degree of rotation.\n\
With position held at 0.140 the rotation stays near 18°, and its least value anywhere, 16.9°, is above the 16.0° asked for. The data themselves are 2 % short in length and put resting corners 1 mm below the ground, and the outcome of\n\
a corner impact is chaotic: this is evidence against one friction and one restitution, not against every rigid contact law.";

/// Measures all of [`FITS`] at 1 ms.
///
/// # Errors
/// The data cannot be read.
pub fn measure_fits(data: &Path) -> Result<Vec<(Fit, Option<Score>)>, Stopped> {
    let tosses = read(data)?;
    let one = |fit: Fit| {
        let setup = Setup::new(fit.method, Form::Maximal, 1e-3);
        (fit, mean_score(&tosses, &setup, fit.touch).ok())
    };
    Ok(FITS.into_iter().map(one).collect())
}

/// Measured tosses of a cube.
pub const F26: Case = Case {
    id: "F26",
    name: "cube-toss",
    source: "[Acosta22]",
    trials: &[Trial {
        parts: &[
            Part {
                name: "position",
                measure: "mean position error [widths of the cube]",
                tolerance: Tolerance::Constant(0.140),
                reason: "below the best engine measured, 0.142",
            },
            Part {
                name: "rotation",
                measure: "mean rotation error [°]",
                tolerance: Tolerance::Constant(16.0),
                reason: "below the best engine measured, 16.6",
            },
        ],
        needs: &[Feature::CubeTosses],
        run: tosses,
    }],
};

/// Friction and restitution of cube and board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Coefficient of friction while sliding [1].
    pub kinetic: f64,
    /// Coefficient of friction while sticking [1].
    pub sticking: f64,
    /// Coefficient of restitution [1].
    pub restitution: f64,
    /// Slip at which friction has 1/√2 of its value [m/s].
    pub slip_speed: f64,
    /// What restitution is a ratio of.
    pub law: Law,
}

impl Touch {
    /// Ideal Coulomb friction with one coefficient.
    #[must_use]
    pub const fn new(friction: f64, restitution: f64, law: Law) -> Self {
        Self {
            kinetic: friction,
            sticking: friction,
            restitution,
            slip_speed: 0.0,
            law,
        }
    }
}

/// One toss: the state it starts from, and what the camera saw from then on.
#[derive(Clone, Debug, PartialEq)]
pub struct Toss {
    position: Vec3,
    rotation: Quat,
    velocity: Vec3,
    spin: Vec3,
    seen: Vec<(Vec3, Quat)>,
}

/// Mean errors of one toss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// In widths of the cube.
    pub position: f64,
    /// In degrees.
    pub rotation: f64,
}

/// The two files inside a folder of measured data: tosses, starts.
#[must_use]
pub fn files(data: &Path) -> [PathBuf; 2] {
    ["tosses.csv", "starts.csv"].map(|name| data.join("cube-tosses").join(name))
}

/// Whether a folder of measured data has them.
#[must_use]
pub fn present(data: &Path) -> bool {
    files(data).iter().all(|f| f.is_file())
}

/// Reads the tosses.
///
/// # Errors
/// The file, line and column that make no sense.
pub fn read(data: &Path) -> Result<Vec<Toss>, Stopped> {
    let [tosses, starts] = files(data);
    let text = |path: &Path| {
        std::fs::read_to_string(path).map_err(|e| Stopped::new(format!("{}: {e}", path.display())))
    };
    let named = |path: &Path, e: String| Stopped::new(format!("{}: {e}", path.display()));
    let names = ["toss", "px", "py", "pz", "qw", "qx", "qy", "qz"];
    let frames = columns(&text(&tosses)?, names).map_err(|e| named(&tosses, e))?;
    let names = [
        "toss",
        "start_frame",
        "n_frames",
        "px",
        "py",
        "pz",
        "qw",
        "qx",
        "qy",
        "qz",
        "vx",
        "vy",
        "vz",
        "wx_world",
        "wy_world",
        "wz_world",
    ];
    let rows = columns(&text(&starts)?, names).map_err(|e| named(&starts, e))?;
    let mut found = Vec::with_capacity(rows.len());
    for s in rows {
        let all: Vec<(Vec3, Quat)> = frames
            .iter()
            .filter(|f| f[0] == s[0])
            .map(|f| (Vec3::new(f[1], f[2], f[3]), unit(f[4], f[5], f[6], f[7])))
            .collect();
        let (first, count) = (s[1] as usize, s[2] as usize);
        if first >= count || count > all.len() {
            return Err(named(
                &starts,
                format!(
                    "toss {}: {} frames, not {first} to {count}",
                    s[0],
                    all.len()
                ),
            ));
        }
        found.push(Toss {
            position: Vec3::new(s[3], s[4], s[5]),
            rotation: unit(s[6], s[7], s[8], s[9]),
            velocity: Vec3::new(s[10], s[11], s[12]),
            spin: Vec3::new(s[13], s[14], s[15]),
            seen: all[first..count].to_vec(),
        });
    }
    if found.is_empty() {
        return Err(named(&starts, "no tosses".to_owned()));
    }
    Ok(found)
}

fn unit(w: f64, x: f64, y: f64, z: f64) -> Quat {
    quat_wxyz(w, x, y, z).normalize()
}

impl Toss {
    /// Simulates the toss in steps that divide the time between frames and are nearest to the setup's.
    ///
    /// # Errors
    /// The engine stopped.
    pub fn score(&self, setup: &Setup, touch: Touch) -> Result<Score, Stopped> {
        let substeps = (FRAME / setup.dt).round().max(1.0);
        let setup = Setup {
            dt: FRAME / substeps,
            ..setup.clone()
        };
        let text = format!(
            "[[material]]\nname = \"m\"\nfriction_kinetic = {:?}\nfriction_static = {:?}\nrestitution = {:?}\n\
             slip_speed = {:?}\nimpact_law = \"{}\"\n{}\
             [[body]]\nname = \"cube\"\nshape.box = {{ size = [{WIDTH:?}, {WIDTH:?}, {WIDTH:?}] }}\nmass = {MASS:?}\n\
             inertia = [{INERTIA:?}, {INERTIA:?}, {INERTIA:?}]\nmaterial = \"m\"\n\
             position = {}\nrotation = {}\nvelocity = {}\nangular_velocity = {}\n",
            touch.kinetic,
            touch.sticking.max(touch.kinetic),
            touch.restitution,
            touch.slip_speed,
            touch.law.name(),
            ground(Vec3::Z),
            list(self.position),
            quat(self.rotation),
            list(self.velocity),
            list(self.spin),
        );
        let mut sim = Sim::load(&setup, GRAVITY, &text)?;
        let cube = sim.body("cube")?;
        let mut score = Score::default();
        for (k, (position, rotation)) in self.seen.iter().enumerate() {
            if k > 0 {
                for _ in 0..substeps as u32 {
                    sim.step()?;
                }
            }
            let now = sim.state(cube);
            score.position += (now.position - *position).length() / WIDTH;
            let cosine = now.rotation.dot(*rotation).abs().min(1.0);
            score.rotation += 2.0 * libm::acos(cosine).to_degrees();
        }
        let frames = self.seen.len() as f64;
        Ok(Score {
            position: score.position / frames,
            rotation: score.rotation / frames,
        })
    }
}

/// Mean scores over all tosses.
///
/// # Errors
/// The engine stopped in one of them.
pub fn mean_score(tosses: &[Toss], setup: &Setup, touch: Touch) -> Result<Score, Stopped> {
    let mut mean = Score::default();
    for toss in tosses {
        let one = toss.score(setup, touch)?;
        mean.position += one.position / tosses.len() as f64;
        mean.rotation += one.rotation / tosses.len() as f64;
    }
    Ok(mean)
}

fn tosses(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let data = setup
        .data
        .as_deref()
        .ok_or_else(|| Stopped::new("no folder of data"))?;
    let mean = mean_score(&read(data)?, setup, FITTED)?;
    Ok(vec![Value::from(mean.position), Value::from(mean.rotation)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup() -> Setup {
        Setup::new("sequential", Form::Maximal, 1e-3)
    }

    /// A cube dropped flat without spin from 20 mm: it falls freely, then lies.
    fn dropped() -> Toss {
        let height = |k: f64| {
            let t = k * FRAME;
            (0.5 * WIDTH + 0.02 - 0.5 * 9.81 * t * t).max(0.5 * WIDTH)
        };
        Toss {
            position: Vec3::Z * height(0.0),
            rotation: Quat::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            seen: (0..40)
                .map(|k| (Vec3::Z * height(f64::from(k)), Quat::IDENTITY))
                .collect(),
        }
    }

    #[test]
    fn a_toss_with_a_known_answer_has_no_error() {
        let touch = Touch {
            restitution: 0.0,
            ..FITTED
        };
        let score = dropped().score(&setup(), touch).unwrap();
        assert!(score.position < 1e-9 && score.rotation < 1e-6, "{score:?}");
    }

    #[test]
    fn errors_are_counted_in_widths_and_degrees() {
        let touch = Touch {
            restitution: 0.0,
            ..FITTED
        };
        let mut toss = dropped();
        for (position, rotation) in &mut toss.seen {
            position.x += 0.5 * WIDTH;
            *rotation = crate::sim::turn_y(10f64.to_radians());
        }
        let score = toss.score(&setup(), touch).unwrap();
        assert!((score.position - 0.5).abs() < 1e-6, "{score:?}");
        assert!((score.rotation - 10.0).abs() < 1e-6, "{score:?}");
    }
}
