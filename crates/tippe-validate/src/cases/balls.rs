//! F08 cradle and F09 break-3: several balls in one impact.
//!
//! Reads: `analytic::impact`.  Writes: nothing.
//! Called by: `run`.
//! Source: Huygens (1703) (k in, k out); \[Routh1905] (simultaneous impulses).

use crate::analytic::impact::break_three;
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{Sim, list, material};
use std::fmt::Write as _;
use tippe::{BodyId, Vec3};

/// Newton's cradle without strings.
pub const F08: Case = Case {
    id: "F08",
    name: "cradle",
    source: "Huygens (1703)",
    trials: &[
        Trial {
            parts: &cradle_parts(["a-velocity", "a-momentum", "a-energy"]),
            needs: &[],
            run: |s| cradle(s, 0.0),
        },
        Trial {
            parts: &cradle_parts(["b-velocity", "b-momentum", "b-energy"]),
            needs: &[],
            run: |s| cradle(s, 2e-3),
        },
    ],
};

const fn cradle_parts(names: [&'static str; 3]) -> [Part; 3] {
    [
        Part {
            name: names[0],
            measure: "largest velocity error of a ball, worst of k = 1 … 4 in, of v [1]",
            tolerance: Tolerance::Scaled(1e-3),
            reason: "k in, k out exactly; balls that end in one common motion are off by half of v",
        },
        Part {
            name: names[1],
            measure: "relative change of momentum, worst k [1]",
            tolerance: Tolerance::Scaled(1e-12),
            reason: "impulses come in pairs: only rounding",
        },
        Part {
            name: names[2],
            measure: "relative change of energy, worst k [1]",
            tolerance: Tolerance::Scaled(1e-3),
            reason: "e = 1 loses nothing",
        },
    ]
}

/// A ball breaks two that touch.
pub const F09: Case = Case {
    id: "F09",
    name: "break-3",
    source: "[Routh1905]",
    trials: &[Trial {
        parts: &[
            Part {
                name: "velocity",
                measure: "largest velocity error, worse of e = 1 and 0.8, of v [1]",
                tolerance: Tolerance::Scaled(1e-3),
                reason: "one linear system; treating the two contacts one after the other is off by 6 to 10 %",
            },
            Part {
                name: "symmetry",
                measure: "|v₂y + v₃y|, worse of e = 1 and 0.8 [m/s]",
                tolerance: Tolerance::Scaled(1e-9),
                reason: "nothing in the scene tells left from right: only the solver's residual",
            },
            Part {
                name: "energy",
                measure: "relative change of energy at e = 1 [1]",
                tolerance: Tolerance::Scaled(1e-3),
                reason: "e = 1 loses nothing",
            },
        ],
        needs: &[],
        run: breaks,
    }],
};

const RADIUS: f64 = 0.1;

/// Balls of 1 kg without friction and gravity, named `b0`, `b1`, …
fn balls(setup: &Setup, e: f64, starts: &[(Vec3, Vec3)]) -> Result<(Sim, Vec<BodyId>), Stopped> {
    let mut text = material(0.0, e);
    for (i, (position, velocity)) in starts.iter().enumerate() {
        let _ = write!(
            text,
            "[[body]]\nname = \"b{i}\"\nposition = {}\nvelocity = {}\nmass = 1.0\n\
             shape.sphere = {{ radius = {RADIUS:?} }}\nmaterial = \"m\"\n",
            list(*position),
            list(*velocity)
        );
    }
    let sim = Sim::load(setup, Vec3::ZERO, &text)?;
    let ids = (0..starts.len())
        .map(|i| sim.body(&format!("b{i}")))
        .collect::<Result<_, _>>()?;
    Ok((sim, ids))
}

/// Velocities, momentum change and relative energy change half a second later (the balls meet at 0.05 s).
fn after(sim: &mut Sim, ids: &[BodyId]) -> Result<(Vec<Vec3>, f64, f64), Stopped> {
    let velocities = |sim: &Sim| {
        ids.iter()
            .map(|id| sim.state(*id).velocity)
            .collect::<Vec<_>>()
    };
    let before: Vec3 = velocities(sim).iter().sum();
    let energy = sim.energy();
    sim.run_until(0.5, |_| {})?;
    let v = velocities(sim);
    let momentum = (v.iter().sum::<Vec3>() - before).length() / before.length();
    Ok((v, momentum, (sim.energy() / energy - 1.0).abs()))
}

fn cradle(setup: &Setup, gap: f64) -> Result<Vec<Value>, Stopped> {
    let mut worst = [0f64; 3];
    for k in 1..=4 {
        let start = |i: usize| {
            let x = i as f64 * (2.0 * RADIUS + gap) + if i < k { 0.0 } else { 0.05 - gap };
            (Vec3::X * x, if i < k { Vec3::X } else { Vec3::ZERO })
        };
        let starts: Vec<_> = (0..5).map(start).collect();
        let (mut sim, ids) = balls(setup, 1.0, &starts)?;
        let (v, momentum, energy) = after(&mut sim, &ids)?;
        for (i, v) in v.iter().enumerate() {
            let exact = if i >= 5 - k { Vec3::X } else { Vec3::ZERO };
            worst[0] = worst[0].max((*v - exact).length());
        }
        worst[1] = worst[1].max(momentum);
        worst[2] = worst[2].max(energy);
    }
    Ok(worst.map(Value::from).to_vec())
}

fn breaks(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let (mut velocity, mut symmetry, mut kept, mut velocity_elastic) = (0f64, 0f64, 0.0, 0.0);
    for e in [1.0, 0.8] {
        let x = 2.0 * RADIUS * (3f64.sqrt() / 2.0);
        let starts = [
            (Vec3::X * -0.05, Vec3::X),
            (Vec3::new(x, RADIUS, 0.0), Vec3::ZERO),
            (Vec3::new(x, -RADIUS, 0.0), Vec3::ZERO),
        ];
        let (mut sim, ids) = balls(setup, e, &starts)?;
        let (v, _, energy) = after(&mut sim, &ids)?;
        let (v1, [v2, v3]) = break_three(e);
        let exact = [
            Vec3::X * v1,
            Vec3::new(v2, v3, 0.0),
            Vec3::new(v2, -v3, 0.0),
        ];
        let error = v
            .iter()
            .zip(exact)
            .map(|(v, x)| (*v - x).length())
            .fold(0.0, f64::max);
        velocity = velocity.max(error);
        symmetry = symmetry.max((v[1].y + v[2].y).abs());
        if e == 1.0 {
            (kept, velocity_elastic) = (energy, error);
        }
    }
    // The other engines' figures are of e = 1 alone.
    Ok(vec![
        Value::with_peer(velocity, velocity_elastic),
        symmetry.into(),
        kept.into(),
    ])
}
