//! F04 slide-to-roll and F05 bowling-hook: a ball takes up rolling and then rolls for ever.
//!
//! Reads: `analytic::rolling`.  Writes: nothing.
//! Called by: `run`.
//! Source: \[Coriolis1835]; v_f = v₀ − 2/7 u₀, slip keeps its direction.

use crate::analytic::G;
use crate::analytic::rolling::{Rolling, SOLID_SPHERE, slide_to_roll};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, ground, list, material};
use tippe::{BodyState, Vec3};

/// A ball pushed without spin.
pub const F04: Case = Case {
    id: "F04",
    name: "slide-to-roll",
    source: "[Coriolis1835]",
    trials: &[Trial {
        parts: &[
            Part {
                name: "v",
                measure: "relative error of the velocity at 3 s [1]",
                tolerance: Tolerance::Scaled(1e-4),
                reason: "5/7 v₀ follows from angular momentum about the ground line alone, whatever the friction law",
            },
            Part {
                name: "x",
                measure: "error of the position at 3 s [m]",
                tolerance: Tolerance::Scaled(1e-3),
                reason: "1e-4 of the way; finding the end of slip one step late costs less than 1e-5 m",
            },
        ],
        needs: &[],
        run: slide_rolls,
    }],
};

/// A bowling ball thrown with side spin.
pub const F05: Case = Case {
    id: "F05",
    name: "bowling-hook",
    source: "[Coriolis1835]",
    trials: &[Trial {
        parts: &[
            Part {
                name: "v",
                measure: "relative error of the velocity vector at 3 s [1]",
                tolerance: Tolerance::Scaled(1e-4),
                reason: "v₀ − 2/7 u₀ follows from angular momentum alone if friction opposes slip exactly",
            },
            Part {
                name: "position",
                measure: "distance from the right place at 3 s [m]",
                tolerance: Tolerance::Scaled(2e-3),
                reason: "1e-4 of 20 m; a friction direction off by 1e-3 rad shows",
            },
        ],
        needs: &[],
        run: hooks,
    }],
};

/// A ball as thrown.
struct Throw {
    radius: f64,
    mass: f64,
    friction: f64,
    velocity: Vec3,
    spin: Vec3,
}

/// The ball's state at 3 s and what it should be.
fn throw(setup: &Setup, ball: &Throw) -> Result<(BodyState, Rolling), Stopped> {
    let text = format!(
        "{}{}[[body]]\nname = \"ball\"\nposition = [0, 0, {r:?}]\nvelocity = {}\nangular_velocity = {}\nmass = {:?}\n\
         shape.sphere = {{ radius = {r:?} }}\nmaterial = \"m\"\n",
        material(ball.friction, 0.0),
        ground(Vec3::Z),
        list(ball.velocity),
        list(ball.spin),
        ball.mass,
        r = ball.radius
    );
    let mut sim = Sim::load(setup, GRAVITY, &text)?;
    let id = sim.body("ball")?;
    let slip = ball.velocity + ball.spin.cross(Vec3::Z * -ball.radius);
    let exact = |t: f64| slide_to_roll(ball.velocity, slip, SOLID_SPHERE, ball.friction, G, t);
    sim.run_until(3.0, |sim| {
        sim.note("velocity along x [m/s]", || {
            (sim.state(id).velocity.x, exact(sim.time()).velocity.x)
        });
        if slip.y != 0.0 {
            sim.note("position along y [m]", || {
                (sim.state(id).position.y, exact(sim.time()).position.y)
            });
        }
    })?;
    Ok((sim.state(id), exact(sim.time())))
}

fn slide_rolls(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let ball = Throw {
        radius: 0.1,
        mass: 1.0,
        friction: 0.2,
        velocity: Vec3::X * 5.0,
        spin: Vec3::ZERO,
    };
    let (end, exact) = throw(setup, &ball)?;
    let v = (end.velocity.x / exact.velocity.x - 1.0).abs();
    let x = (end.position.x - exact.position.x).abs();
    Ok(vec![v.into(), x.into()])
}

fn hooks(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let ball = Throw {
        radius: 0.1085,
        mass: 6.8,
        friction: 0.1,
        velocity: Vec3::X * 8.0,
        spin: Vec3::X * -30.0,
    };
    let (end, exact) = throw(setup, &ball)?;
    let miss_v = end.velocity - exact.velocity;
    let miss_x = end.position.with_z(0.0) - exact.position;
    Ok(vec![
        // The other engines' figures are of v_y and y alone.
        Value::with_peer(
            miss_v.length() / exact.velocity.length(),
            (miss_v.y / exact.velocity.y).abs(),
        ),
        Value::with_peer(miss_x.length(), miss_x.y.abs()),
    ])
}
