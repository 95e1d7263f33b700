//! F21 painleve: a rod sliding on its end where no finite contact force is consistent.
//!
//! Reads: `analytic` (statics, impact).  Writes: nothing.
//! Called by: `run`.
//! Source: \[Painleve1895]; resolved by a tangential impact, Génot and Brogliato (1999).

use crate::analytic::radians;
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::cases::rod::{HALF_LENGTH, RADIUS, rod_text};
use crate::sim::{GRAVITY, Sim, ground, material};
use tippe::{BodyState, Vec3};

/// The rod of F11 at 60°, μ = 1.5 above the critical 1.35, its end sliding at 3 m/s into its own friction.
pub const F21: Case = Case {
    id: "F21",
    name: "painleve",
    source: "[Painleve1895], Génot and Brogliato (1999)",
    trials: &[Trial {
        parts: &[
            Part {
                name: "verdict",
                measure: "finite, and no end ever deeper than the rod's radius (verdict)",
                tolerance: Tolerance::Verdict,
                reason: "no force solves it, an impulse does: a method must come through",
            },
            Part {
                name: "energy",
                measure: "largest rise of energy above the start, of E₀ [1]",
                tolerance: Tolerance::Scaled(1e-6),
                reason: "friction and e = 0 only take",
            },
            Part {
                name: "slip",
                measure: "slip of the end after the tangential impact, of 3 m/s [1]",
                tolerance: Tolerance::Scaled(1e-3),
                reason: "it sticks: |k_xz / k_xx| = 0.4 is less than μ",
            },
        ],
        needs: &[],
        run: rod_jams,
    }],
};

/// Centre of the rod's lower or upper end sphere.
fn end_of(s: &BodyState, side: f64) -> Vec3 {
    s.position + s.rotation * (Vec3::Z * (side * HALF_LENGTH))
}

fn rod_jams(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let text = format!(
        "{}{}{}",
        material(1.5, 0.0),
        ground(Vec3::Z),
        rod_text(radians(60.0), Vec3::X * -3.0, 0.0)
    );
    let mut sim = Sim::load(setup, GRAVITY, &text)?;
    let rod = sim.body("rod")?;
    let e0 = sim.energy();
    let (mut rise, mut depth) = (0f64, 0f64);
    let mut look = |sim: &Sim| {
        let s = sim.state(rod);
        rise = rise.max(sim.energy() / e0 - 1.0);
        depth = depth
            .max(RADIUS - end_of(&s, -1.0).z)
            .max(RADIUS - end_of(&s, 1.0).z);
    };
    // The impact is over at once; the rod then turns over its end, which sticks for more than 0.1 s.
    sim.run_until((5.0 * setup.dt).max(0.02), &mut look)?;
    let s = sim.state(rod);
    let slip = s
        .point_velocity(end_of(&s, -1.0) - Vec3::Z * RADIUS)
        .with_z(0.0)
        .length();
    sim.run_until(1.0, &mut look)?;
    Ok(vec![
        Value::verdict(depth < RADIUS),
        Value::from(rise),
        Value::from(slip / 3.0),
    ])
}
