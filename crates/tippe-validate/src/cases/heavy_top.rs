//! F14 heavy-top: a spinning top on a fixed point precesses steadily, or nods between two tilts.
//!
//! Reads: `analytic::spinning`.  Writes: nothing.
//! Called by: `run`.
//! Source: Lagrange (1788).

use crate::analytic::spinning::HeavyTop;
use crate::analytic::{G, radians};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::measure::{Peaks, Winding};
use crate::sim::{GRAVITY, Sim, list, quat, turn_y};
use tippe::{BodyId, Vec3};

/// The top of the case.
pub const TOP: HeavyTop = HeavyTop {
    mass: 1.0,
    distance: 0.1,
    axial: 0.005,
    transverse: 0.01275,
};
/// Tilt at the start [°].
const TILT: f64 = 60.0;
/// Length of a run [s].
const SECONDS: f64 = 10.0;

/// A top on a ball joint.
pub const F14: Case = Case {
    id: "F14",
    name: "heavy-top",
    source: "Lagrange (1788)",
    trials: &[
        Trial {
            parts: &[
                Part {
                    name: "a-precession",
                    measure: "relative error of the precession angle at 10 s [1]",
                    tolerance: Tolerance::Scaled(1e-3),
                    reason: "0.1 %",
                },
                Part {
                    name: "a-tilt",
                    measure: "largest |θ − 60°| in 10 s [°]",
                    tolerance: Tolerance::Scaled(0.06),
                    reason: "steady precession is exact: 0.1 % of 60°",
                },
            ],
            needs: &[],
            run: steady,
        },
        Trial {
            parts: &[Part {
                name: "b",
                measure: "error of the lower bound of nutation, worst nod in 10 s [°]",
                tolerance: Tolerance::Scaled(0.08),
                reason: "0.1 % of 76°",
            }],
            needs: &[],
            run: cusps,
        },
    ],
};

/// The top at 60° with angular velocity `spin` [rad/s] about its fixed point, the origin.
pub fn text(axis: Vec3, spin: Vec3) -> String {
    let across = TOP.transverse - TOP.mass * TOP.distance * TOP.distance;
    format!(
        "[[body]]\nname = \"top\"\nmass = {:?}\ncenter = {}\ninertia = {}\nrotation = {}\nvelocity = {}\nangular_velocity = {}\n\
         [[joint]]\nkind = \"ball\"\nbodies = [\"world\", \"top\"]\nat = [0, 0, 0]\n",
        TOP.mass,
        list(Vec3::Z * TOP.distance),
        list(Vec3::new(across, across, TOP.axial)),
        quat(turn_y(radians(TILT))),
        list(spin.cross(axis * TOP.distance)),
        list(spin)
    )
}

/// Direction of the axis at the start.
#[must_use]
pub fn start_axis() -> Vec3 {
    turn_y(radians(TILT)) * Vec3::Z
}

/// Direction of the axis.
fn axis(sim: &Sim, top: BodyId) -> Vec3 {
    sim.state(top).rotation * Vec3::Z
}

/// Angle of the axis from the vertical [°].
fn tilt(axis: Vec3) -> f64 {
    libm::atan2(libm::hypot(axis.x, axis.y), axis.z).to_degrees()
}

fn steady(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let w3 = 150.0;
    let rate = TOP.steady_precession(radians(TILT), w3, G);
    let e = start_axis();
    let spin = Vec3::Z * rate + e * (w3 - rate * libm::cos(radians(TILT)));
    let mut sim = Sim::load(setup, GRAVITY, &text(e, spin))?;
    let top = sim.body("top")?;
    let mut angle = Winding::new(0.0);
    let mut worst = 0f64;
    sim.run_until(SECONDS, |sim| {
        let e = axis(sim, top);
        angle.add(libm::atan2(e.y, e.x));
        worst = worst.max((tilt(e) - TILT).abs());
        sim.note("angle of precession [rad]", || {
            (angle.total(), rate * sim.time())
        });
    })?;
    let exact = rate * sim.time();
    Ok(vec![
        (angle.total() / exact - 1.0).abs().into(),
        worst.into(),
    ])
}

fn cusps(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let w3 = 60.0;
    let e = start_axis();
    let mut sim = Sim::load(setup, GRAVITY, &text(e, e * w3))?;
    let top = sim.body("top")?;
    let lowest = TOP.cusp_lower_bound(radians(TILT), w3, G).to_degrees();
    // A nod takes 0.27 s, 16 steps of 1/60 s: the peak lies between samples.
    let mut peaks = Peaks::default();
    sim.run_until(SECONDS, |sim| {
        peaks.add(tilt(axis(sim, top)));
        sim.note("tilt, beside its lower bound [°]", || {
            (tilt(axis(sim, top)), lowest)
        });
    })?;
    let worst = peaks.found().iter().map(|p| (p - lowest).abs());
    // A top that no longer nods has no lower bound at all.
    Ok(vec![worst.reduce(f64::max).unwrap_or(f64::INFINITY).into()])
}
