//! F20 wedge: a block slides down a wedge that slides away under it, all without friction.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: `run`.
//! Source: Lagrange (1788): the wedge backs away at m g sin α cos α/(M + m sin² α), the block slides on it at g sin α (M + m)/(M + m sin² α).

use crate::analytic::{G, radians};
use crate::case::{Case, Part, Setup, Stopped, Tolerance, Trial, Value};
use crate::sim::{GRAVITY, Sim, Slope, ground, list, material, quat};
use tippe::Vec3;

/// A block on a wedge that slides.
pub const F20: Case = Case {
    id: "F20",
    name: "wedge",
    source: "Lagrange (1788)",
    trials: &[Trial {
        parts: &[
            Part {
                name: "displacement",
                measure: "relative error of wedge and block at 0.5 s, worse [1]",
                tolerance: Tolerance::Scaled(1e-3),
                reason: "constant accelerations",
            },
            Part {
                name: "momentum",
                measure: "horizontal momentum over m g t [1]",
                tolerance: Tolerance::Scaled(1e-9),
                reason: "no horizontal force: only rounding",
            },
        ],
        needs: &[],
        run: slide,
    }],
};

const ANGLE: f64 = 30.0;
/// Mass of the wedge and of the block [kg].
const WEDGE: f64 = 2.0;
const BLOCK: f64 = 1.0;
/// Length and half the width of the wedge, half the edge of the block [m].
const LENGTH: f64 = 2.0;
const WIDTH: f64 = 0.2;
const HALF: f64 = 0.05;
/// Where the block starts, along the slope from its top [m].
const START: f64 = 0.4;
const SECONDS: f64 = 0.5;

fn slide(setup: &Setup) -> Result<Vec<Value>, Stopped> {
    let alpha = radians(ANGLE);
    let slope = Slope::new(alpha);
    let height = LENGTH * libm::tan(alpha);
    let points = [(0.0, 0.0), (LENGTH, 0.0), (0.0, height)]
        .iter()
        .flat_map(|(x, z)| [-WIDTH, WIDTH].map(|y| list(Vec3::new(*x, y, *z))))
        .collect::<Vec<_>>()
        .join(", ");
    let start = Vec3::Z * height + slope.down * START + slope.normal * HALF;
    let text = format!(
        "{}{}[[body]]\nname = \"wedge\"\nmass = {WEDGE:?}\nshape.hull = {{ points = [{points}] }}\nmaterial = \"m\"\n\
         [[body]]\nname = \"block\"\nmass = {BLOCK:?}\nposition = {}\nrotation = {}\nshape.box = {{ size = {} }}\nmaterial = \"m\"\n",
        material(0.0, 0.0),
        ground(Vec3::Z),
        list(start),
        quat(slope.rotation),
        list(Vec3::splat(2.0 * HALF)),
    );
    let mut sim = Sim::load(setup, GRAVITY, &text)?;
    let (wedge, block) = (sim.body("wedge")?, sim.body("block")?);
    let (wedge_start, block_start) = (sim.state(wedge).position, sim.state(block).position);
    let (s, c) = (libm::sin(alpha), libm::cos(alpha));
    let back = BLOCK * G * s * c / (WEDGE + BLOCK * s * s);
    sim.run_until(SECONDS, |sim| {
        sim.note("displacement of the wedge [m]", || {
            let moved = sim.state(wedge).position.x - wedge_start.x;
            (moved, -0.5 * back * sim.time() * sim.time())
        });
    })?;
    let half_t2 = 0.5 * sim.time() * sim.time();
    let along = G * s * (WEDGE + BLOCK) / (WEDGE + BLOCK * s * s);
    let wedge_exact = Vec3::X * (-back * half_t2);
    let block_exact = slope.down * (along * half_t2) + wedge_exact;
    let error = |moved: Vec3, exact: Vec3| (moved - exact).length() / exact.length();
    let worse = error(sim.state(wedge).position - wedge_start, wedge_exact)
        .max(error(sim.state(block).position - block_start, block_exact));
    let momentum = sim.state(wedge).velocity * WEDGE + sim.state(block).velocity * BLOCK;
    let horizontal = libm::hypot(momentum.x, momentum.y);
    Ok(vec![
        worse.into(),
        (horizontal / (BLOCK * G * sim.time())).into(),
    ])
}
