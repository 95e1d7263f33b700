//! Time of impact of two shapes in flight: closed forms, never late, within the tolerance.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::geometry_support;

use geometry_support::Random;
use std::sync::Arc;
use tippe::geometry::{
    Flight, GeometryError, TimeOfImpact, closest_points, distance, penetration, time_of_impact,
    time_of_impact_bound,
};
use tippe::math::{Pose, Quat, Vec3};
use tippe::{Motion, Shape, TriangleMesh};

const G: Vec3 = Vec3::new(0.0, 0.0, -9.81);
/// Cases of a random test; `TIPPE_CASES` (a number) asks for more.
fn cases() -> usize {
    let wanted = std::env::var("TIPPE_CASES").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

fn cube(half: f64) -> Shape {
    Shape::Cuboid {
        half: Vec3::splat(half),
    }
}

/// The time at which two shapes meet, if they do.
fn meeting(
    a: (&Shape, &Flight),
    b: (&Shape, &Flight),
    horizon: f64,
    tolerance: f64,
) -> Option<f64> {
    match time_of_impact(a, b, horizon, tolerance).unwrap() {
        TimeOfImpact::At { time, .. } => Some(time),
        TimeOfImpact::Apart => None,
        TimeOfImpact::Unresolved { time } => panic!("unresolved at {time}"),
    }
}

/// Two boxes in closed form: distance, nearest points, depth, time of impact by translation, by fall and by spin.
#[test]
fn cl_01_distance_depth_and_first_collision_time_of_two_boxes() {
    let (a, b) = (cube(0.5), cube(0.25));
    let at = |x: f64, y: f64| Pose::from_position(Vec3::new(x, y, 0.1));
    let s = closest_points(&a, &at(0.0, 0.0), &b, &at(1.25, 0.0)).unwrap();
    assert!((s.distance - 0.5).abs() < 1e-9);
    assert!((s.normal - Vec3::X).length() < 1e-9);
    assert!((s.point_a.x - 0.5).abs() < 1e-9 && (s.point_b.x - 1.0).abs() < 1e-9);
    // Corner to corner: (0.5, 0.5) to (0.8, 0.9).
    let apart = distance(&a, &at(0.0, 0.0), &b, &at(1.05, 1.15)).unwrap();
    assert!((apart - 0.5).abs() < 1e-9);
    let depth = penetration(&a, &at(0.0, 0.0), &b, &at(0.7, 0.1)).unwrap();
    assert!((depth.unwrap().distance + 0.05).abs() < 1e-9);

    // Straight on, 0.5 m at 4 m/s; then falling from rest: ½ g t² = 0.5 m.
    let still = Flight::rest(at(0.0, 0.0));
    let fast = Flight::uniform(at(1.25, 0.0), Vec3::new(-4.0, 0.0, 0.0), Vec3::ZERO);
    let t = meeting((&a, &still), (&b, &fast), 1.0, 1e-10).unwrap();
    assert!((t - 0.125).abs() < 1e-9, "{t}");
    let dropped = Flight {
        acceleration: G,
        ..Flight::rest(Pose::from_position(Vec3::new(0.1, 0.2, 1.35)))
    };
    let t = meeting((&a, &still), (&b, &dropped), 1.0, 1e-10).unwrap();
    assert!((t - (2.0 * 0.5 / 9.81_f64).sqrt()).abs() < 1e-9, "{t}");

    // A box turning about z at 2 rad/s beside a wall at 0.6 m: its corner √½ m from the axis, 45° ahead, arrives at
    // acos(0.6 / √½) before the direction of the wall.
    let wall = Shape::HalfSpace { normal: -Vec3::X };
    let beside = Flight::rest(Pose::from_position(Vec3::new(0.6, 0.0, 0.0)));
    let turning = Flight::uniform(Pose::IDENTITY, Vec3::ZERO, Vec3::Z * 2.0);
    let t = meeting((&a, &turning), (&wall, &beside), 1.0, 1e-10).unwrap();
    let angle = std::f64::consts::FRAC_PI_4 - libm::acos(0.6 / 0.5_f64.sqrt());
    assert!((t - angle / 2.0).abs() < 1e-9, "{t} {}", angle / 2.0);
    // And a thin plate in place of the wall, found by closest points.
    let plate = Shape::Cuboid {
        half: Vec3::new(5e-4, 2.0, 2.0),
    };
    let beside = Flight::rest(Pose::from_position(Vec3::new(0.6 + 5e-4, 0.0, 0.0)));
    let t = meeting((&a, &turning), (&plate, &beside), 1.0, 1e-10).unwrap();
    assert!((t - angle / 2.0).abs() < 1e-9, "{t} {}", angle / 2.0);
}

/// A sphere of 0.5 m dropped with its centre at 1.5 m arrives at √(2/g), at any length of the look ahead.
#[test]
fn bs_02_the_time_of_impact_of_a_dropped_sphere() {
    let (ball, floor) = (
        Shape::Sphere { radius: 0.5 },
        Shape::HalfSpace { normal: Vec3::Z },
    );
    let down = Flight {
        acceleration: G,
        ..Flight::rest(Pose::from_position(Vec3::Z * 1.5))
    };
    let ground = Flight::rest(Pose::IDENTITY);
    let exact = (2.0 / 9.81_f64).sqrt();
    let (tolerance, speed) = (1e-4, 9.81 * exact);
    let t = meeting((&floor, &ground), (&ball, &down), 10.0, tolerance).unwrap();
    assert!(t <= exact && exact - t <= tolerance / speed, "{t} {exact}");
    assert_eq!(
        meeting((&floor, &ground), (&ball, &down), 0.4515 - 1e-3, tolerance),
        None
    );
}

fn random_flight(random: &mut Random, toward: Vec3) -> Flight<'static> {
    Flight {
        center: random.vector(0.2),
        velocity: toward * random.range(1.0, 6.0) + random.vector(1.0),
        acceleration: if random.unit() < 0.8 { G } else { Vec3::ZERO },
        angular_velocity: random.vector(1.0) * random.range(0.0, 10.0),
        moments: Vec3::new(
            random.range(0.5, 1.0),
            random.range(0.6, 1.0),
            random.range(0.7, 1.0),
        ),
        axes: random.rotation(),
        ..Flight::rest(Pose::IDENTITY)
    }
}

/// Random convex pairs with spin and gravity: the bound is never late, the search ends within the tolerance, and before it the
/// shapes have not touched, as dense sampling shows.
#[test]
fn mc_07_the_bound_is_never_late() {
    let mut random = Random(7);
    let (mut hits, mut unresolved) = (0, 0);
    let cases = cases();
    for case in 0..cases {
        let kinds = [0, 1, 2, 4, 5, 6];
        let a = random.shape(kinds[case % 6]);
        let b = random.shape(kinds[(case / 6) % 6]);
        let toward = random.rotation() * Vec3::X;
        let mut flight_a = random_flight(&mut random, toward);
        let mut flight_b = random_flight(&mut random, -toward);
        flight_a.pose = Pose::new(toward * -3.0, random.rotation());
        flight_b.pose = Pose::new(toward * 3.0, random.rotation());
        let (side_a, side_b) = ((&a, &flight_a), (&b, &flight_b));
        let gap = |t: f64| {
            closest_points(&a, &flight_a.at(t), &b, &flight_b.at(t))
                .unwrap()
                .distance
        };
        let horizon = 2.0;
        let bound = time_of_impact_bound(side_a, side_b).unwrap();
        let found = time_of_impact(side_a, side_b, horizon, 1e-6).unwrap();
        let clear_until = match found {
            TimeOfImpact::At { time, separation } => {
                hits += 1;
                assert!(separation.distance >= 0.0 && separation.distance <= 1e-6);
                assert!(bound <= time + 1e-12, "case {case}: {bound} > {time}");
                time
            }
            TimeOfImpact::Apart => horizon,
            TimeOfImpact::Unresolved { time } => {
                unresolved += 1;
                println!("case {case} unresolved at {time}, apart {:e}", gap(time));
                time
            }
        };
        for k in 0..40 {
            let t = clear_until * f64::from(k) / 40.0;
            assert!(
                gap(t) > 0.0,
                "case {case}: touching at {t}, before {clear_until}"
            );
        }
        // The bound alone: nothing touches before it.
        for k in 0..5 {
            let t = bound.min(horizon) * f64::from(k) / 5.0;
            assert!(gap(t) > 0.0, "case {case}");
        }
    }
    assert!(hits > cases / 4, "{hits} of {cases}");
    assert_eq!(unresolved, 0, "of {cases}");
}

/// Two spheres: the bound is exact head on, the search also where they meet aslant, with any spin.
#[test]
fn mc_07_spheres_are_exact() {
    let mut random = Random(11);
    for _ in 0..cases() {
        let (r, s) = (random.range(0.1, 1.0), random.range(0.1, 1.0));
        let (a, b) = (Shape::Sphere { radius: r }, Shape::Sphere { radius: s });
        let n = random.rotation() * Vec3::X;
        let (d, u) = (random.range(0.1, 3.0), random.range(0.1, 100.0));
        let flight_a = Flight {
            acceleration: G,
            ..Flight::uniform(Pose::IDENTITY, n * u, random.vector(50.0))
        };
        let flight_b = Flight {
            acceleration: G,
            ..Flight::rest(Pose::from_position(n * (r + s + d)))
        };
        let bound = time_of_impact_bound((&a, &flight_a), (&b, &flight_b)).unwrap();
        assert!((bound - d / u).abs() < 1e-9 * (1.0 + d / u));

        // Aslant: |x + v t| = r + s.
        let across = n.any_orthonormal_vector() * random.range(0.0, 0.9) * (r + s);
        let flight_b = Flight {
            acceleration: G,
            ..Flight::rest(Pose::from_position(n * (r + s + d) + across))
        };
        let x = n * (r + s + d) + across;
        let half_chord = ((r + s) * (r + s) - across.length_squared()).sqrt();
        let exact = (x.dot(n) - half_chord) / u;
        let t = meeting((&a, &flight_a), (&b, &flight_b), 2.0 * exact, 1e-12).unwrap();
        assert!((t - exact).abs() < 1e-9 * (1.0 + exact), "{t} {exact}");
    }
}

/// The lever of a mixer and a piston that shakes: prescribed motion is followed, never late.
#[test]
fn prescribed_motion_is_followed() {
    let ball = Shape::Sphere { radius: 0.1 };
    let falling = Flight {
        acceleration: G,
        ..Flight::rest(Pose::from_position(Vec3::Z * 1.0))
    };
    let motions = [
        Motion::Constant {
            velocity: Vec3::Z * 0.5,
            angular_velocity: Vec3::Z * 3.0,
        },
        Motion::Sine {
            amplitude: Vec3::Z * 0.3,
            rotation_amplitude: Vec3::X * 0.2,
            frequency: 2.0,
            phase: 0.4,
        },
        Motion::Table {
            times: vec![0.0, 0.2, 0.3],
            poses: vec![
                Pose::IDENTITY,
                Pose::from_position(Vec3::Z * 0.1),
                Pose::from_position(Vec3::Z * 0.4),
            ],
        },
    ];
    let lever = Shape::Cuboid {
        half: Vec3::new(1.0, 0.3, 0.05),
    };
    for motion in &motions {
        let flight = Flight {
            prescribed: Some(tippe::collide::flight::Prescribed {
                motion,
                start: Pose::IDENTITY,
                time: 0.0,
                shape: Pose::IDENTITY,
            }),
            ..Flight::rest(motion.at(&Pose::IDENTITY, 0.0).pose)
        };
        let t = meeting((&lever, &flight), (&ball, &falling), 1.0, 1e-9).unwrap();
        let gap = |t: f64| closest_points(&lever, &flight.at(t), &ball, &falling.at(t)).unwrap();
        assert!(gap(t).distance.abs() <= 1e-9);
        assert!((0..200).all(|k| gap(t * f64::from(k) / 200.0).distance > 0.0));
    }
}

/// Spin beside a wall that is nearly touched: the looks do not pile up.
#[test]
fn a_box_that_spins_just_above_a_table_ends_soon() {
    let (a, table) = (cube(0.5), Shape::HalfSpace { normal: Vec3::Z });
    let spinning = Flight::uniform(
        Pose::from_position(Vec3::Z * (0.5 + 1e-6)),
        Vec3::ZERO,
        Vec3::Z * 20.0,
    );
    let ground = Flight::rest(Pose::IDENTITY);
    assert_eq!(
        meeting((&table, &ground), (&a, &spinning), 1.0 / 60.0, 1e-9),
        None
    );
}

/// A square of 10 × 10 cells of half a metre, its heights given.
fn ground(height: impl Fn(f64, f64) -> f64) -> Shape {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for k in 0..121_u32 {
        let (x, y) = (f64::from(k % 11) * 0.5 - 2.5, f64::from(k / 11) * 0.5 - 2.5);
        vertices.push(Vec3::new(x, y, height(x, y)));
        if k % 11 > 0 && k > 10 {
            triangles.extend([[k - 12, k - 11, k], [k - 12, k, k - 1]]);
        }
    }
    Shape::Mesh(Arc::new(TriangleMesh::new(&vertices, &triangles).unwrap()))
}

/// On a flat mesh shapes arrive when they arrive on a plane; on a rough one never late, and within the tolerance.
#[test]
fn mc_07_meshes_are_met_in_time() {
    let (flat, plane) = (ground(|_, _| 0.0), Shape::HalfSpace { normal: Vec3::Z });
    let rough = ground(|x, y| 0.3 * libm::sin(3.0 * x) * libm::cos(2.0 * y));
    let rest = Flight::rest(Pose::IDENTITY);
    let mut random = Random(5);
    let (mut hits, mut unresolved) = (0, 0);
    let tolerance = 1e-6;
    for case in 0..100 {
        let shape = random.shape([0, 1, 2, 4, 5, 6][case % 6]);
        let mut flight = random_flight(&mut random, -Vec3::Z);
        flight.velocity *= Vec3::new(0.3, 0.3, 1.0);
        flight.pose = Pose::new(Vec3::Z * random.range(2.5, 4.0), random.rotation());
        let side = (&shape, &flight);
        let horizon = 0.6;
        let slow = meeting((&plane, &rest), side, horizon, tolerance);
        let found = time_of_impact((&flat, &rest), side, horizon, tolerance).unwrap();
        match (slow, found) {
            (None, TimeOfImpact::Apart) => {}
            (Some(t), TimeOfImpact::At { time, .. }) => {
                // Both are within the tolerance of the touch, which is approached at 1 m/s or more, or grazed.
                let gap = closest_points(&plane, &rest.pose, &shape, &flight.at(time)).unwrap();
                assert!(
                    gap.distance.abs() <= 2.0 * tolerance,
                    "case {case}: {t} {time}"
                );
            }
            (Some(_), TimeOfImpact::Unresolved { .. }) => unresolved += 1,
            other => panic!("case {case}: {other:?}"),
        }
        let bound = time_of_impact_bound((&rough, &rest), side).unwrap();
        let clear_until = match time_of_impact(side, (&rough, &rest), horizon, tolerance).unwrap() {
            TimeOfImpact::At { time, separation } => {
                hits += 1;
                assert!(separation.distance >= 0.0 && separation.distance <= tolerance);
                assert!(bound <= time + 1e-12, "case {case}: {bound} > {time}");
                time
            }
            TimeOfImpact::Apart => horizon,
            TimeOfImpact::Unresolved { time } => {
                unresolved += 1;
                time
            }
        };
        for k in 0..40 {
            let t = clear_until * f64::from(k) / 40.0;
            let there = flight.at(t);
            let gap = closest_points(&rough, &rest.pose, &shape, &there).unwrap();
            assert!(
                gap.distance > 0.0,
                "case {case}: touching at {t}, before {clear_until}"
            );
        }
    }
    println!("{hits} hits, {unresolved} unresolved");
    assert!(
        hits > 20 && unresolved == 0,
        "{hits} hits, {unresolved} unresolved"
    );
    // Two meshes: one falls on the other, turned over so that the fronts meet.
    let turned = Pose::new(Vec3::Z * 1.5, Quat::from_xyzw(1.0, 0.0, 0.0, 0.0));
    let falling = Flight::uniform(turned, -Vec3::Z, Vec3::ZERO);
    let found = time_of_impact((&flat, &rest), (&rough, &falling), 3.0, tolerance).unwrap();
    let TimeOfImpact::At { time, separation } = found else {
        panic!("{found:?}");
    };
    assert!(separation.distance <= tolerance && time > 0.5, "{found:?}");
    for part in [0.5, 0.9, 0.999] {
        let there = falling.at(part * time);
        let gap = closest_points(&flat, &rest.pose, &rough, &there).unwrap();
        assert!(gap.distance > 0.0, "{gap:?}");
    }
}

/// A ball that glides a millimetre above a mesh meets the step ahead; for ever is a horizon too.
#[test]
fn mc_07_gliding_over_a_mesh_does_not_hide_what_lies_ahead() {
    let steps = ground(|x, _| if x > 1.2 { 1.0 } else { 0.0 });
    let ball = Shape::Sphere { radius: 0.2 };
    let rest = Flight::rest(Pose::IDENTITY);
    let glide = Flight::uniform(
        Pose::from_position(Vec3::new(-2.0, 0.1, 0.201)),
        Vec3::X,
        Vec3::ZERO,
    );
    for horizon in [4.0, f64::INFINITY] {
        let found = time_of_impact((&steps, &rest), (&ball, &glide), horizon, 1e-6).unwrap();
        let TimeOfImpact::At { time, .. } = found else {
            panic!("{horizon}: {found:?}");
        };
        // The step rises from x = 1 to 1.5 by 1 m: its plane is z = 2 (x − 1), and the centre meets it at a distance of 0.2 m.
        let expected = 3.0 + 0.5 * (0.201 - 0.2 * 5.0_f64.sqrt());
        assert!((time - expected).abs() < 1e-5, "{time} {expected}");
    }
    let inside = Flight::rest(Pose::from_position(Vec3::new(-2.0, 0.1, 0.1)));
    let found = time_of_impact((&steps, &rest), (&ball, &inside), f64::INFINITY, 1e-6).unwrap();
    assert!(
        matches!(found, TimeOfImpact::At { time: 0.0, .. }),
        "{found:?}"
    );
}

#[test]
fn senseless_flights_are_refused() {
    let (a, plane) = (cube(0.5), Shape::HalfSpace { normal: Vec3::Z });
    let rest = Flight::rest(Pose::IDENTITY);
    let refused = |f: Flight, horizon: f64, tolerance: f64| {
        time_of_impact((&a, &rest), (&a, &f), horizon, tolerance).unwrap_err()
    };
    let lost = Flight {
        velocity: Vec3::NAN,
        ..rest
    };
    assert_eq!(refused(lost, 1.0, 1e-6), GeometryError::NotFinite);
    assert_eq!(refused(rest, f64::NAN, 1e-6), GeometryError::NotFinite);
    assert_eq!(refused(rest, 1.0, f64::NAN), GeometryError::NotFinite);
    let weightless = Flight {
        moments: Vec3::ZERO,
        ..rest
    };
    assert_eq!(refused(weightless, 1.0, 1e-6), GeometryError::NotFinite);
    let turning = Flight::uniform(Pose::from_position(Vec3::Z * 9.0), Vec3::ZERO, Vec3::X);
    let found = time_of_impact((&a, &rest), (&plane, &turning), 1.0, 1e-6);
    assert_eq!(found.unwrap_err(), GeometryError::Unbounded);
    // Far away and fast: an answer, whatever it is.
    let wild = Flight {
        velocity: Vec3::splat(1e12),
        angular_velocity: Vec3::splat(1e9),
        ..Flight::rest(Pose::new(Vec3::splat(-1e12), Quat::IDENTITY))
    };
    assert!(time_of_impact((&a, &rest), (&a, &wild), 10.0, 1e-9).is_ok());
}
