//! Contacts of hulls do not depend on where the last search ended, whatever that was.

use crate::geometry_support;

use geometry_support::Random;
use std::sync::Arc;
use tippe::collide::narrow::{Start, collide_shapes, collide_shapes_from};
use tippe::geometry::closest_points;
use tippe::math::{Pose, Vec3, rotation};
use tippe::shape::{ConvexHull, Shape};

/// Round, boxy, and on a lattice: few equal faces, many of them, and parallel ones.
fn hull(random: &mut Random, kind: u64) -> Shape {
    let half = Vec3::splat(0.3) + (random.vector(1.0) + 1.0) * 0.15;
    let count = 4 + (random.next() % 8) as usize;
    let points: Vec<Vec3> = match kind {
        0 => (0..4 * count)
            .map(|_| random.vector(1.0).normalize_or(Vec3::X) * half)
            .collect(),
        1 => (0..30 * count)
            .map(|_| random.vector(1.0).normalize_or(Vec3::X) * half)
            .collect(),
        2 => (0..8)
            .map(|k| Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) - 0.5)
            .collect(),
        _ => (0..2 * count)
            .map(|_| (random.vector(2.0)).round() * 0.25)
            .chain([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|x| x * 0.5))
            .collect(),
    };
    Shape::Hull(Arc::new(
        ConvexHull::new(&points).expect("points with a volume"),
    ))
}

#[test]
fn contacts_of_hulls_do_not_depend_on_the_start() {
    let mut random = Random(77);
    let rounds = if cfg!(debug_assertions) { 200 } else { 3000 };
    let (mut points, mut cold) = (Vec::new(), Vec::new());
    // Of another pair altogether, too.
    let mut stale = Start::default();
    let (mut touching, mut apart) = (0, 0);
    for round in 0..rounds {
        let kinds = (random.next() % 4, random.next() % 4);
        let (a, b) = (hull(&mut random, kinds.0), hull(&mut random, kinds.1));
        let turned = round % 3 != 0;
        let turn = |random: &mut Random| {
            if turned {
                rotation::exp(random.vector(3.0))
            } else {
                // Parallel faces and edges.
                rotation::exp(Vec3::Z * (random.next() % 8) as f64 * 0.25 * std::f64::consts::PI)
            }
        };
        let p = Pose::new(random.vector(1.0), turn(&mut random));
        let away = random.vector(1.0).normalize_or(Vec3::X);
        let mut q = Pose::new(p.position + away, turn(&mut random));
        let gap = random.range(-0.05, 0.02);
        for _ in 0..2 {
            let s = closest_points(&a, &p, &b, &q).unwrap();
            q.position += s.normal * (gap - s.distance);
        }
        let step = Pose::new(
            random.vector(1e-3),
            rotation::exp(random.vector(if turned { 3e-3 } else { 0.0 })),
        );
        let mut start = if round % 2 == 0 {
            stale
        } else {
            Start::default()
        };
        let mut seen = p.inverse().compose(&q);
        for _ in 0..20 {
            seen = step.compose(&seen);
            let q = p.compose(&seen);
            points.clear();
            collide_shapes_from(&a, &p, &b, &q, 0.01, &mut start, &mut points);
            cold.clear();
            collide_shapes(&a, &p, &b, &q, 0.01, &mut cold);
            assert_eq!(points, cold, "round {round}: {kinds:?} {p:?} {q:?}");
            touching += usize::from(points.iter().any(|c| c.gap < 0.0));
            apart += usize::from(!points.is_empty() && points.iter().all(|c| c.gap > 0.0));
        }
        stale = start;
    }
    assert!(
        touching > 5 * rounds && apart > rounds,
        "{touching} {apart}"
    );
}
