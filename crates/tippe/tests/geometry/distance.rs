//! Distance and depth of every two shapes, against slow answers and an independent library.
//!
//! `TIPPE_SEED` (a number) chooses other random pairs, `TIPPE_PAIRS` how many for each two kinds of shapes.

use crate::geometry_support;
use crate::oracle;
use crate::places;

use geometry_support::Random;
use oracle::{height_over, least_overlap, overlap_along};
use places::{KINDS, Place, place};
use tippe::geometry::{GeometryError, Separation, closest_points, penetration};
use tippe::math::{Pose, Quat, Vec3};
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
                let round = |s: &Shape| {
                    matches!(
                        s,
                        Shape::Cylinder { .. } | Shape::Cone { .. } | Shape::Rounded(_)
                    )
                };
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

/// Pairs out of millions for which the search alone came close, but not close enough.
#[test]
fn depths_that_searches_missed() {
    let at = |x: [f64; 3], r: [f64; 4]| Pose::new(Vec3::from(x), Quat::from_array(r).normalize());
    let both_ways = |a: &Shape, p: &Pose, b: &Shape, q: &Pose| {
        [
            closest_points(a, p, b, q).unwrap(),
            closest_points(b, q, a, p).unwrap(),
        ]
    };
    // Cones one in the other: nearly as deep all around, but the way out is along the axis.
    let (h, k) = (0.499_953_410_652_327_9, 0.278_543_527_952_904_44);
    let outer = Shape::Cone {
        half_length: h,
        radius: 0.605_176_068_578_476_4,
    };
    let inner = Shape::Cone {
        half_length: k,
        radius: 0.439_091_074_287_545_6,
    };
    let p = at(
        [
            -0.448_150_438_071_223_34,
            0.098_366_755_947_840_72,
            0.570_957_185_294_631_5,
        ],
        [
            -0.723_185_407_989_167_2,
            0.406_553_256_412_001_96,
            -0.383_662_986_914_588_94,
            -0.405_610_685_071_430_3,
        ],
    );
    for s in both_ways(&outer, &p, &inner, &p) {
        assert!((s.distance + h + k).abs() < 1e-9, "{s:?}");
    }
    // A capsule deep in a cylinder, its axis turned by a thousandth: the way out is across both axes, and sinks to there evenly from afar.
    let (r, s) = (0.950_036_239_405_197_1, 0.278_481_662_845_131_87);
    let cylinder = Shape::Cylinder {
        half_length: 0.490_714_242_158_859_56,
        radius: r,
    };
    let capsule = Shape::Capsule {
        half_length: 0.664_671_761_185_986_6,
        radius: s,
    };
    let p = at(
        [
            0.707_376_771_321_163,
            -0.390_630_318_766_024_5,
            0.916_312_568_511_503_2,
        ],
        [
            -0.388_406_388_549_669_63,
            0.470_621_622_935_526_23,
            0.209_255_371_833_529_85,
            0.764_112_527_523_365_4,
        ],
    );
    let q = at(
        [
            0.610_872_817_203_652_6,
            -0.527_678_137_734_051_3,
            0.872_051_409_223_396_3,
        ],
        [
            -0.388_197_624_881_107_9,
            0.470_751_827_169_200_83,
            0.209_774_327_510_018_4,
            0.763_996_107_824_670_1,
        ],
    );
    for found in both_ways(&cylinder, &p, &capsule, &q) {
        assert!((found.distance + r + s).abs() < 1e-7, "{found:?}");
    }
    // A cone that touches the edge of a box.
    let cone = Shape::Cone {
        half_length: 0.919_341_093_279_728_1,
        radius: 0.576_301_589_857_205_7,
    };
    let cuboid = Shape::Cuboid {
        half: Vec3::new(
            0.794_447_353_369_445_2,
            0.698_764_054_738_277_9,
            0.242_561_910_849_038_66,
        ),
    };
    let p = at(
        [
            -0.483_953_582_258_894_07,
            -0.988_834_910_607_977_7,
            0.625_406_620_197_261,
        ],
        [
            0.724_609_714_094_666,
            -0.231_268_855_254_687_7,
            -0.152_546_985_565_578_4,
            -0.631_018_934_758_449_2,
        ],
    );
    let q = at(
        [
            -0.304_377_192_088_071_24,
            0.442_673_866_757_824_83,
            -0.179_198_454_547_515_65,
        ],
        [
            -0.521_635_922_591_549_7,
            -0.681_760_441_381_673_7,
            -0.146_689_851_896_668_33,
            -0.491_508_649_140_238_3,
        ],
    );
    for s in both_ways(&cone, &p, &cuboid, &q) {
        assert!(s.distance.abs() < 1e-9, "{s:?}");
    }
}
