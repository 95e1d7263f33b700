//! F23 euler-disk: a coin rolls round on its lower rim, its centre nearly at rest, and loses nothing.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: Moffatt (2000): a thin disc at inclination α rolls steadily if its contact runs round at Ω² = 4 g/(R sin α). A disc 1 mm thick,
//! started the same way, swings within the bands below (rolling without slip, integrated by a high-order method).

use crate::analytic::{G, radians};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, ground, list, material, quat, turn_y};
use tippe::Vec3;

/// A disc rolling on its rim.
pub const F23: Case = Case {
    id: "F23",
    name: "euler-disk",
    source: "Moffatt (2000)",
    trials: &[Trial {
        parts: &[
            Part {
                name: "angle",
                measure: "relative distance outside the band of a 1 mm disc over 2 s, from 30° and from 10°, worse [1]",
                tolerance: Tolerance::Scaled(1e-2),
                reason: "lossless motion is steady",
            },
            Part {
                name: "energy",
                measure: "relative drift of energy over 2 s, worse [1]",
                tolerance: Tolerance::Scaled(1e-2),
                reason: "lossless motion is steady",
            },
        ],
        needs: &[],
        run: roll,
    }],
};

const RADIUS: f64 = 0.0375;
const THICKNESS: f64 = 1e-3;
const MASS: f64 = 0.1;
const SECONDS: f64 = 2.0;
/// Start and highest inclination [°].
const BANDS: [(f64, f64); 2] = [(30.0, 30.602), (10.0, 10.081)];

fn roll(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let mut worst = [0.0_f64; 2];
    for band in BANDS {
        for (w, e) in worst.iter_mut().zip(disc(setup, band)?) {
            *w = w.max(e);
        }
    }
    Ok(worst.map(Value::from).to_vec())
}

/// Largest relative distance outside the band, and of the energy from its start.
fn disc(setup: &Setup, (low, high): (f64, f64)) -> Result<[f64; 2], Stopped> {
    let alpha = radians(low);
    let (s, c) = (libm::sin(alpha), libm::cos(alpha));
    let rate = (4.0 * G / (RADIUS * s)).sqrt();
    // Axis of the disc, and the direction up its face from the contact through the centre.
    let (axis, up) = (Vec3::new(s, 0.0, c), Vec3::new(-c, 0.0, s));
    let to_contact = -up * RADIUS - axis * (0.5 * THICKNESS);
    let spin = up * (rate * s);
    let moment = MASS * RADIUS * RADIUS;
    let text = format!(
        "{}{}[[body]]\nname = \"disc\"\nmass = {MASS:?}\ninertia = {}\nposition = {}\nrotation = {}\nvelocity = {}\n\
         angular_velocity = {}\nshape.cylinder = {{ radius = {RADIUS:?}, length = {THICKNESS:?} }}\nmaterial = \"m\"\n",
        material(1.0, 0.0),
        ground(Vec3::Z),
        list(Vec3::new(0.25, 0.25, 0.5) * moment),
        list(Vec3::Z * -to_contact.z),
        quat(turn_y(alpha)),
        list(-spin.cross(to_contact)),
        list(spin),
    );
    let mut sim = Sim::load(setup, GRAVITY, &text)?;
    let id = sim.body("disc")?;
    let energy = sim.energy();
    let (mut angle_error, mut drift) = (0.0_f64, 0.0_f64);
    sim.run_until(SECONDS, |sim| {
        let n = sim.state(id).rotation * Vec3::Z;
        let angle = libm::atan2(libm::hypot(n.x, n.y), n.z.abs()).to_degrees();
        let outside = (low - angle).max(angle - high).max(0.0);
        angle_error = angle_error.max(outside / low);
        sim.note("inclination, beside where it starts [°]", || (angle, low));
        drift = drift.max((sim.energy() / energy - 1.0).abs());
    })?;
    Ok([angle_error, drift])
}
