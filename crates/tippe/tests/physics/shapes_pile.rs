//! Hundreds of random hulls dropped in a bin come to rest by themselves.
//!
//! `TIPPE_HULLS` sets how many, `TIPPE_SEED` (a number) which.

use crate::geometry_support;
use crate::support;

use geometry_support::Random;
use support::{G, add, rough, solid, world};
use tippe::geometry::penetration;
use tippe::{BodyDesc, BodyId, BodyKind, Pose, Shape, Vec3, World};

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Floor and four walls, as half-spaces about a square of half width `w` [m].
fn bin(w: f64) -> Vec<BodyDesc> {
    [
        (Vec3::Z, Vec3::ZERO),
        (Vec3::X, Vec3::X * -w),
        (-Vec3::X, Vec3::X * w),
        (Vec3::Y, Vec3::Y * -w),
        (-Vec3::Y, Vec3::Y * w),
    ]
    .map(|(normal, at)| BodyDesc::fixed(Shape::HalfSpace { normal }, at))
    .to_vec()
}

/// The deepest overlap of any two shapes [m], asked of the shapes themselves.
fn deepest(world: &World, ids: &[BodyId]) -> f64 {
    let placed: Vec<(Shape, Pose, f64)> = ids
        .iter()
        .map(|&id| {
            let body = world.body(id).expect("a living body");
            (
                body.shapes[0].shape.clone(),
                world.pose(id).expect("a living body"),
                if body.kind == BodyKind::Dynamic {
                    body.reach
                } else {
                    f64::INFINITY
                },
            )
        })
        .collect();
    let mut worst = 0.0_f64;
    for (i, (a, p, r)) in placed.iter().enumerate() {
        for (b, q, s) in &placed[..i] {
            let near = (p.position - q.position).length() < 2.0 * (r + s);
            if near && let Ok(Some(x)) = penetration(a, p, b, q) {
                worst = worst.max(-x.distance);
            }
        }
    }
    worst
}

#[test]
fn hulls_in_a_bin_come_to_rest() {
    let count = from_env("TIPPE_HULLS").unwrap_or(if cfg!(debug_assertions) { 30 } else { 500 });
    let mut random = Random(from_env("TIPPE_SEED").unwrap_or(2026));
    let mut w = world(G, rough(0.5, 0.5));
    let across = if count > 100 { 8 } else { 3 };
    let cell = 0.25;
    let mut ids: Vec<BodyId> = bin(0.5 * cell * f64::from(across))
        .iter()
        .map(|d| add(&mut w, d))
        .collect();
    for k in 0..count as u32 {
        let points = 4 + (random.next() % 61) as usize;
        let half = Vec3::new(
            random.range(0.05, 0.1),
            random.range(0.05, 0.1),
            random.range(0.05, 0.1),
        );
        let (i, j, layer) = (k % across, k / across % across, k / (across * across));
        let middle = |i: u32| (f64::from(i) + 0.5 - 0.5 * f64::from(across)) * cell;
        let place =
            Vec3::new(middle(i), middle(j), 0.15 + 0.25 * f64::from(layer)) + random.vector(0.01);
        let shape = random.hull(points, half);
        let mass = 1000.0 * shape.volume();
        let desc = BodyDesc {
            pose: Pose::new(place, random.rotation()),
            ..solid(shape, mass, Vec3::ZERO)
        };
        ids.push(add(&mut w, &desc));
    }
    let h = 1.0 / 120.0;
    let (mut peak, mut deep, mut quiet, mut steps) = (0.0_f64, 0.0_f64, 0, 0);
    // At rest: below a millionth of the peak for a quarter of a second; at most 20 s.
    while quiet < 30 && steps < 2400 {
        let report = w.step(h).expect("a good step");
        steps += 1;
        let kinetic = w.energy().0;
        peak = peak.max(kinetic);
        deep = deep.max(report.penetration);
        quiet = if kinetic < 1e-6 * peak { quiet + 1 } else { 0 };
        if std::env::var("TIPPE_SHOW").is_ok() && steps % 30 == 0 {
            println!(
                "{steps}: kinetic {:e} of the peak, total {:.9} J, gained {:.1e} J, {} contacts, depth {:e}",
                kinetic / peak,
                kinetic + w.energy().1,
                w.ledger().gained,
                report.contacts,
                report.penetration
            );
        }
    }
    let overlap = deepest(&w, &ids);
    println!(
        "{count} hulls: peak {peak:e} J, at rest after {steps} steps, overlap then {overlap:e} m, in the fall {deep:e} m"
    );
    assert!(
        quiet >= 30,
        "still moving: {:e} of {peak:e} J",
        w.energy().0
    );
    assert!(overlap < 1e-3, "{overlap} m deep");
}
