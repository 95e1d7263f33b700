//! Distance and depth of every two shapes, against slow answers and an independent library.
//!
//! `TIPPE_SEED` (a number) chooses other random pairs, `TIPPE_PAIRS` how many for each two kinds of shapes.

mod geometry_support;
#[path = "geometry_support/oracle.rs"]
mod oracle;
#[path = "geometry_support/places.rs"]
mod places;

use geometry_support::Random;
use oracle::{height_over, least_overlap, overlap_along};
use places::{KINDS, Place, place};
use tippe::geometry::{GeometryError, Separation, closest_points, penetration};
use tippe::math::{Pose, Vec3};
use tippe::shape::Shape;

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Pairs for each two kinds of shapes.
fn pairs() -> u64 {
    from_env("TIPPE_PAIRS").unwrap_or(if cfg!(debug_assertions) {
        1_000
    } else {
        10_000
    })
}

/// What no answer may break, whatever the truth is.
fn check(place: &Place, s: &Separation, say: &dyn Fn(&str) -> String) {
    let Place { a, p, b, q, .. } = place;
    let size = place.size();
    let far = (p.position - q.position).length();
    let tiny = 1e-9 * size + 1e-14 * far;
    assert!(
        (s.normal.length() - 1.0).abs() < 1e-12,
        "{}",
        say("unit normal")
    );
    // The points realise the distance along the normal.
    let gap = s.normal.dot(s.point_b - s.point_a);
    assert!(
        (gap - s.distance).abs() < 10.0 * tiny,
        "{}",
        say("gap of points")
    );
    for (shape, pose, x) in [(a, p, s.point_a), (b, q, s.point_b)] {
        let h = height_over(shape, pose, x);
        assert!(h.abs() < 10.0 * tiny, "{}: {h:e}", say("on surface"));
    }
    // No plane proves more distance, or less depth, than is there: the one across the normal says exactly this much.
    let along = overlap_along(a, p, b, q, s.normal);
    assert!(
        (along + s.distance).abs() < 10.0 * tiny,
        "{}: {along:e}",
        say("plane")
    );
    if s.distance > 0.0 {
        let apart = (s.point_b - s.point_a).length();
        assert!(
            (apart - s.distance).abs() < tiny,
            "{}: {apart:e}",
            say("apart")
        );
    }
}

#[test]
fn mc_05_every_two_shapes_against_slow_answers() {
    let seed = from_env("TIPPE_SEED").unwrap_or(2026);
    let mut worst_depth = 0.0_f64;
    for i in 0..KINDS {
        for j in 0..=i {
            let mut random = Random(seed ^ ((i * KINDS + j) as u64) << 32);
            for k in 0..pairs() {
                let place = place(&mut random, i, j);
                let Place { a, p, b, q, .. } = &place;
                let found = closest_points(a, p, b, q);
                if matches!((a, b), (Shape::HalfSpace { .. }, Shape::HalfSpace { .. })) {
                    assert_eq!(found, Err(GeometryError::Unbounded));
                    continue;
                }
                let s = found.unwrap();
                let say = |what: &str| format!("{what}: pair {k} of {i}, {j}: {place:?} {s:?}");
                check(&place, &s, &say);
                // Exchanged and moved, the answer is the same.
                let back = closest_points(b, q, a, p).unwrap();
                let tolerance = if s.distance > 0.0 { 2e-9 } else { 1e-6 } * place.size();
                assert!(
                    (back.distance - s.distance).abs() <= tolerance,
                    "{} {back:?}",
                    say("exchanged")
                );
                let motion = random.pose(10.0);
                let there = closest_points(a, &motion.compose(p), b, &motion.compose(q)).unwrap();
                assert!(
                    (there.distance - s.distance).abs() <= tolerance + 1e-13,
                    "{} {there:?}",
                    say("moved")
                );
                // The slow answer takes most of the time: one in ten, of round shapes one in a hundred.
                let round = |s: &Shape| matches!(s, Shape::Cylinder { .. } | Shape::Cone { .. });
                let every = if round(a) || round(b) { 100 } else { 10 };
                if s.distance < 0.0 && k % every == 0 {
                    let truth = least_overlap(a, p, b, q);
                    let excess = (-s.distance - truth) / place.size();
                    worst_depth = worst_depth.max(excess);
                    assert!(excess < 1e-6, "{} truth {truth:e}", say("depth"));
                }
            }
        }
    }
    println!("worst excess of a depth: {worst_depth:e} of the size");
}

#[test]
fn bad_input_is_an_error() {
    let ball = Shape::Sphere { radius: 1.0 };
    let nowhere = Pose::from_position(Vec3::NAN);
    assert_eq!(
        closest_points(&ball, &nowhere, &ball, &Pose::IDENTITY),
        Err(GeometryError::NotFinite)
    );
    let bad = Shape::Cylinder {
        half_length: -1.0,
        radius: 1.0,
    };
    assert_eq!(
        closest_points(&bad, &Pose::IDENTITY, &ball, &Pose::IDENTITY),
        Err(GeometryError::NotFinite)
    );
    // Far out, distances are as good as coordinates.
    let far = Pose::from_position(Vec3::X * 1e12);
    let s = closest_points(&ball, &Pose::IDENTITY, &ball, &far).unwrap();
    assert!((s.distance - (1e12 - 2.0)).abs() < 1e-3);
    let near = Pose::from_position(Vec3::X * (1e12 + 4.0));
    let s = closest_points(&ball, &far, &ball, &near).unwrap();
    assert!((s.distance - 2.0).abs() < 1e-12);
    assert!(penetration(&ball, &far, &ball, &near).unwrap().is_none());
}
