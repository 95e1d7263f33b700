//! F13 dzhanibekov: a free body with three different moments tumbles as Euler's equations say.
//!
//! Reads: `analytic::spinning`.  Writes: nothing.
//! Called by: `run`.
//! Source: \[Euler1758], \[Jacobi1849].

use crate::analytic::spinning::{angle_between, free_top, free_top_spin};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{Sim, list};
use tippe::Vec3;

/// Two tumbling bodies for 20 s. (A third start of the table, nearer the unstable axis, is too sensitive to score.)
pub const F13: Case = Case {
    id: "F13",
    name: "dzhanibekov",
    source: "[Euler1758], [Jacobi1849]",
    trials: &[
        Trial {
            parts: &parts(["a-L", "a-T", "a-angle"]),
            needs: &[],
            run: |s| tumble(s, Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.3, 5.0, 0.2)),
        },
        Trial {
            parts: &parts(["c-L", "c-T", "c-angle"]),
            needs: &[],
            run: |s| tumble(s, Vec3::new(0.4, 1.0, 1.2), Vec3::new(1.0, 2.0, 3.0)),
        },
    ],
};

const fn parts(names: [&'static str; 3]) -> [Part; 3] {
    [
        Part {
            name: names[0],
            measure: "|L − L₀|/|L₀|, largest over time [1]",
            tolerance: Tolerance::Scaled(1e-4),
            reason: "constant in truth; an explicit gyroscopic term is 2 % off",
        },
        Part {
            name: names[1],
            measure: "|T/T₀ − 1|, largest over time [1]",
            tolerance: Tolerance::Scaled(1e-4),
            reason: "constant in truth; an explicit gyroscopic term is 4 % off",
        },
        Part {
            name: names[2],
            measure: "angle to the exact orientation at 20 s [rad]",
            tolerance: Tolerance::Scaled(1e-3),
            reason: "some 16 turns, the flips of the axis in between: 1e-5 of the angle turned",
        },
    ]
}

/// A body of 1 kg without shapes, spinning freely.
pub fn body_text(moments: Vec3, w0: Vec3) -> String {
    format!(
        "[[body]]\nname = \"body\"\nmass = 1.0\ninertia = {}\nangular_velocity = {}\n",
        list(moments),
        list(w0)
    )
}

fn tumble(setup: &Setup, moments: Vec3, w0: Vec3) -> Result<Vec<Value>, Stopped> {
    let mut sim = Sim::load(setup, Vec3::ZERO, &body_text(moments, w0))?;
    let body = sim.body("body")?;
    let (l0, t0) = (moments * w0, 0.5 * (moments * w0).dot(w0));
    let (mut worst_l, mut worst_t) = (0f64, 0f64);
    sim.run_until(20.0, |sim| {
        // From rotation and angular velocity alone, not from what the engine says of itself.
        let s = sim.state(body);
        let w = s.rotation.conjugate() * s.angular_velocity;
        let l = s.rotation * (moments * w);
        worst_l = worst_l.max((l - l0).length() / l0.length());
        worst_t = worst_t.max((0.5 * (moments * w).dot(w) / t0 - 1.0).abs());
        sim.note("spin about the first axis of the body [rad/s]", || {
            (w.x, free_top_spin(moments, w0, sim.time()).x)
        });
    })?;
    let (_, exact) = free_top(moments, w0, sim.time());
    let angle = angle_between(sim.state(body).rotation, exact);
    // The other engines' figures are in degrees; ours stay in radians.
    Ok(vec![worst_l.into(), worst_t.into(), angle.into()])
}
