//! Contact points of hulls, cylinders and cones with everything: what no answer may break, and constructed poses whose answer is known.
//!
//! `TIPPE_SEED` (a number) chooses other random pairs, `TIPPE_PAIRS` how many for each two kinds of shapes.

use crate::geometry_support;
use crate::oracle;
use crate::places;

use geometry_support::Random;
use oracle::height_over;
use places::{KINDS, Place, place};
use std::sync::Arc;
use tippe::collide::contact::{ContactPoint, Features};
use tippe::collide::narrow::{collide_shapes, flipped};
use tippe::geometry::closest_points;
use tippe::math::{Pose, Vec3, rotation};
use tippe::shape::{ConvexHull, Shape};

fn collide(a: &Shape, p: &Pose, b: &Shape, q: &Pose, margin: f64) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    collide_shapes(a, p, b, q, margin, &mut out);
    out
}

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn least(points: &[ContactPoint]) -> f64 {
    points.iter().fold(f64::INFINITY, |g, c| g.min(c.gap))
}

/// A hull of the corners of a box.
fn hull_box(half: Vec3) -> Shape {
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let side = |bit: u32| if i & bit == 0 { -1.0 } else { 1.0 };
            half * Vec3::new(side(1), side(2), side(4))
        })
        .collect();
    Shape::Hull(Arc::new(ConvexHull::new(&corners).expect("a box")))
}

fn is_round(s: &Shape) -> bool {
    matches!(s, Shape::Cylinder { .. } | Shape::Cone { .. })
        || matches!(s, Shape::Rounded(r) if is_round(r.core()))
}

/// What holds for every manifold.
fn check(place: &Place, margin: f64, points: &[ContactPoint], say: &dyn Fn(&str) -> String) {
    let Place { a, p, b, q, .. } = place;
    let size = place.size();
    let small = {
        let (x, y) = (a.reach(), b.reach());
        x.min(y)
    };
    let far = (p.position - q.position).length();
    let tiny = 1e-8 * size + 1e-13 * far;
    let s = closest_points(a, p, b, q).expect("an answer");
    // The preference for faces may cost this much depth, and nothing else may.
    let allowed = 0.06 * (-s.distance).max(0.0) + 3e-4 * small + 1e-8 * size + tiny;
    if s.distance > margin + tiny {
        assert!(points.is_empty(), "{}", say("beyond the margin"));
        return;
    }
    if s.distance < margin - allowed {
        assert!(!points.is_empty(), "{}", say("nothing found"));
        let found = least(points);
        assert!(
            found <= s.distance + allowed,
            "{}: {found:e}",
            say("too high")
        );
        assert!(
            found >= s.distance - allowed,
            "{}: {found:e}",
            say("too deep")
        );
    }
    assert!(points.len() <= 12, "{}", say("too many"));
    for (k, c) in points.iter().enumerate() {
        assert!(
            (c.normal.length() - 1.0).abs() < 1e-9,
            "{}",
            say("unit normal")
        );
        let gap = c.normal.dot(c.point_b - c.point_a);
        assert!((gap - c.gap).abs() < tiny, "{}: {gap:e}", say("gap"));
        assert!(c.gap <= margin + tiny, "{}", say("margin"));
        assert!(
            points[..k].iter().all(|o| o.feature_id != c.feature_id),
            "{}",
            say("names")
        );
        // On the surfaces. A round face is clipped to a polygon of 16 sides around it, 2 % larger at the corners.
        for (shape, pose, x) in [(a, p, c.point_a), (b, q, c.point_b)] {
            let h = height_over(shape, pose, x);
            // Deep inside each other (nearly parallel sides, same pose) the points are not quite opposite.
            let round = if is_round(shape) {
                0.021 * shape.reach()
            } else {
                0.0
            };
            let depth = (-s.distance).max(0.0);
            let slack = 1e-6 * size + round + depth * if depth > 0.3 * small { 0.05 } else { 1e-3 };
            // One may be deep inside the other shape's face, but never outside its own.
            assert!(
                h < slack + 10.0 * tiny,
                "{}: {h:e} point {k}",
                say("outside")
            );
            // The upper end of a tilted capsule touches with its own ball, inside the lower one's.
            // So do the upper corners of what is rounded.
            let balls = match shape {
                Shape::Capsule { half_length, .. } => -h < 2.0 * half_length,
                Shape::Rounded(r) => -h < r.radius(),
                _ => false,
            };
            let inside = -h > allowed + 10.0 * tiny && -h > 1e-6 * size && !balls;
            assert!(!inside, "{}: {h:e} point {k}", say("inside"));
        }
        // The features say the same.
        let at = c.features.at(p, q, c.radius_a, c.radius_b, c.normal);
        assert!(
            (at.gap - c.gap).abs() < tiny,
            "{}: {:e}",
            say("features"),
            at.gap
        );
        assert!(
            (at.point_a - c.point_a).length() < 1e-6 * size + tiny,
            "{} {at:?}",
            say("feature points")
        );
    }
}

#[test]
fn mc_05_manifolds_of_every_two_shapes() {
    let seed = from_env("TIPPE_SEED").unwrap_or(2026);
    let pairs = from_env("TIPPE_PAIRS").unwrap_or(if cfg!(debug_assertions) { 300 } else { 3_000 });
    for i in 0..KINDS {
        for j in 0..=i {
            if i < 4 {
                continue;
            }
            let mut random = Random(seed ^ ((i * KINDS + j) as u64) << 32);
            for k in 0..pairs {
                let place = place(&mut random, i, j);
                let Place { a, p, b, q, .. } = &place;
                let margin = if k % 3 == 0 { 0.0 } else { 0.01 * place.size() };
                let points = collide(a, p, b, q, margin);
                let say = |what: &str| {
                    format!("{what}: pair {k} of {i}, {j}: margin {margin:e} {place:?} {points:#?}")
                };
                check(&place, margin, &points, &say);
                // Exchanged: the mirror image for different kinds, as deep for the same.
                let back = collide(b, q, a, p, margin);
                if i == j {
                    let (x, y) = (least(&points), least(&back));
                    let depth = x.min(y).min(0.0).abs();
                    let close = (x - y).abs() <= 0.06 * depth + 5e-4 * a.reach().min(b.reach());
                    assert!(
                        close || x == y || margin == 0.0 || points.is_empty() != back.is_empty(),
                        "{} {back:?}",
                        say("exchanged")
                    );
                } else {
                    let mirrored: Vec<ContactPoint> = back.iter().map(flipped).collect();
                    assert_eq!(points, mirrored, "{}", say("exchanged"));
                }
            }
        }
    }
}

#[test]
fn cl_12_hulls_name_vertex_and_face_and_crossing_edges() {
    let (a, b) = (hull_box(Vec3::ONE), hull_box(Vec3::splat(0.5)));
    // A cube on its corner over a face.
    let on_corner =
        rotation::exp(Vec3::new(1.0, -1.0, 0.0).normalize() * libm::atan(2.0_f64.sqrt()));
    let q = Pose::new(
        Vec3::new(0.2, 0.1, 1.0 + 0.5 * 3.0_f64.sqrt() - 0.01),
        on_corner,
    );
    let c = collide(&a, &Pose::IDENTITY, &b, &q, 0.001);
    assert_eq!(c.len(), 1, "{c:?}");
    assert!((c[0].normal - Vec3::Z).length() < 1e-12 && (c[0].gap + 0.01).abs() < 1e-12);
    assert!(matches!(
        c[0].features,
        Features::PointFace {
            face_on_b: false,
            ..
        }
    ));
    // The same vertex keeps its name while the cube slides and turns a little.
    let moved = Pose::new(
        q.position + Vec3::new(0.05, -0.02, 0.001),
        rotation::exp(Vec3::new(0.01, 0.02, 0.05)) * q.rotation,
    );
    let d = collide(&a, &Pose::IDENTITY, &b, &moved, 0.001);
    assert_eq!(d.len(), 1);
    assert_eq!(c[0].feature_id, d[0].feature_id);
    // Edges across: A's along y on top, turned by 45°, B's along x below.
    let p = Pose::new(
        Vec3::ZERO,
        rotation::exp(Vec3::Y * std::f64::consts::FRAC_PI_4),
    );
    let q = Pose::new(
        Vec3::new(0.0, 0.1, 1.5 * 2.0_f64.sqrt() - 0.01),
        rotation::exp(Vec3::X * std::f64::consts::FRAC_PI_4),
    );
    let c = collide(&a, &p, &b, &q, 0.001);
    assert_eq!(c.len(), 1, "{c:?}");
    assert!((c[0].normal - Vec3::Z).length() < 1e-9 && (c[0].gap + 0.01).abs() < 1e-9);
    assert!(matches!(c[0].features, Features::EdgeEdge { .. }));
}

#[test]
fn cl_13_an_edge_across_a_narrow_face_touches_at_two_ends() {
    let hull = |points: &[Vec3]| Shape::Hull(Arc::new(ConvexHull::new(points).expect("a solid")));
    // A roof cut off 2 cm wide, along y; and a blade along x that stands on it with its edge.
    let (mut roof, mut blade) = (Vec::new(), Vec::new());
    for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        roof.push(Vec3::new(0.01 * s, 0.1 * t, 0.0));
        roof.push(Vec3::new(0.1 * s, 0.1 * t, -0.1));
        blade.push(Vec3::new(0.2 * s, 0.1 * t, 0.1));
        blade.push(Vec3::new(0.2 * s, 0.0, 0.0));
    }
    let (a, b) = (hull(&roof), hull(&blade));
    for angle in [1e-3, 0.01, 0.03, 0.1] {
        // It touches the edge at x = 1 cm; the one at -1 cm is as much below it as the blade leans.
        let lean = rotation::exp(Vec3::Y * angle);
        let corner = Vec3::new(0.01, 0.0, 0.0);
        let q = Pose::new(corner - lean * corner, lean);
        for mirrored in [false, true] {
            let c = if mirrored {
                collide(&b, &q, &a, &Pose::IDENTITY, 0.005)
            } else {
                collide(&a, &Pose::IDENTITY, &b, &q, 0.005)
            };
            let at = |x: f64| {
                let points = c.iter().filter(move |c| (c.point_a.x - x).abs() < 1e-3);
                points.map(|c| c.gap).fold(f64::INFINITY, f64::min)
            };
            let apart = 0.02 * libm::sin(angle);
            assert!(at(0.01).abs() < 1e-9, "{angle}: {c:?}");
            assert!((at(-0.01) - apart).abs() < 0.01 * apart, "{angle}: {c:?}");
            assert_eq!(c.len(), 2, "{angle}: {c:?}");
        }
        // A rod of round section lies across it like the blade, with one point at each edge however thick it is.
        for radius in [1e-3, 0.02, 0.1] {
            let rod = Shape::Capsule {
                half_length: 0.2,
                radius,
            };
            let along = lean * rotation::exp(Vec3::Y * std::f64::consts::FRAC_PI_2);
            let q = Pose::new(corner + lean * Vec3::Z * radius, along);
            let c = collide(&a, &Pose::IDENTITY, &rod, &q, 0.005);
            let near = |x: f64| c.iter().filter(move |c| (c.point_a.x - x).abs() < 5e-3);
            assert_eq!(near(0.01).count(), 1, "{angle} {radius}: {c:?}");
            assert!(near(-0.01).count() <= 1, "{angle} {radius}: {c:?}");
            assert!(c.len() <= 2, "{angle} {radius}: {c:?}");
        }
    }
}

#[test]
fn cl_13_degenerate_contacts_of_hulls() {
    let a = hull_box(Vec3::ONE);
    for (what, q) in [
        ("corner on corner", Vec3::splat(2.0)),
        ("edge on edge", Vec3::new(2.0, 2.0, 0.3)),
        ("same place", Vec3::ZERO),
    ] {
        let c = collide(&a, &Pose::IDENTITY, &a, &Pose::from_position(q), 1e-6);
        assert!(!c.is_empty(), "{what}");
        for c in &c {
            assert!((c.normal.length() - 1.0).abs() < 1e-12, "{what}: {c:?}");
            assert!(c.point_a.is_finite() && c.point_b.is_finite(), "{what}");
        }
    }
    // Face on face: all four corners of the small one, at their heights.
    let b = hull_box(Vec3::splat(0.5));
    let c = collide(
        &a,
        &Pose::IDENTITY,
        &b,
        &Pose::from_position(Vec3::Z * 1.49),
        1e-3,
    );
    assert_eq!(c.len(), 4, "{c:?}");
    assert!(
        c.iter()
            .all(|c| (c.gap + 0.01).abs() < 1e-12 && c.normal == Vec3::Z)
    );
    // Edge on face: its two ends.
    let turned = rotation::exp(Vec3::X * std::f64::consts::FRAC_PI_4);
    let q = Pose::new(Vec3::Z * (1.0 + 0.5 * 2.0_f64.sqrt() - 0.01), turned);
    let c = collide(&a, &Pose::IDENTITY, &b, &q, 1e-3);
    assert_eq!(c.len(), 2, "{c:?}");
    assert!(c.iter().all(|c| (c.gap + 0.01).abs() < 1e-9));
}

#[test]
fn cl_19_a_hull_of_a_box_touches_like_the_box() {
    // Vertices in the slab: one, two, four; depths as of the box.
    let mut random = Random(3);
    let ground = Shape::Cuboid {
        half: Vec3::new(3.0, 3.0, 0.5),
    };
    let half = Vec3::new(0.5, 0.4, 0.3);
    let (plain, hull) = (Shape::Cuboid { half }, hull_box(half));
    for k in 0..2000 {
        let q = Pose::new(
            Vec3::new(
                random.range(-2.0, 2.0),
                random.range(-2.0, 2.0),
                random.range(0.75, 1.2),
            ),
            if k % 4 == 0 {
                rotation::exp(Vec3::Z * random.range(0.0, 3.0))
            } else {
                random.rotation()
            },
        );
        let (c, d) = (
            collide(&ground, &Pose::IDENTITY, &plain, &q, 0.01),
            collide(&ground, &Pose::IDENTITY, &hull, &q, 0.01),
        );
        if least(&c) > 0.005 {
            continue;
        }
        assert!((least(&c) - least(&d)).abs() < 1e-9, "{q:?} {c:?} {d:?}");
        assert_eq!(c.len(), d.len(), "{q:?} {c:?} {d:?}");
    }
}

#[test]
fn mc_12_the_normal_follows_from_the_features() {
    let cylinder = Shape::Cylinder {
        half_length: 1.0,
        radius: 0.5,
    };
    let lying = rotation::exp(Vec3::Y * std::f64::consts::FRAC_PI_2);
    let hull = hull_box(Vec3::ONE);
    let ball = Shape::Sphere { radius: 0.5 };
    let at = |x: f64, y: f64, z: f64| Pose::from_position(Vec3::new(x, y, z));
    let diagonal = 0.5_f64.sqrt();
    let turned = rotation::exp(Vec3::Y * std::f64::consts::FRAC_PI_4);
    let cases: [(&str, &Shape, Pose, &Shape, Pose, Vec3, f64); 9] = [
        // Ball against face, edge and corner of a hull.
        (
            "ball on face",
            &hull,
            at(0.0, 0.0, 0.0),
            &ball,
            at(0.2, 0.3, 1.6),
            Vec3::Z,
            0.1,
        ),
        (
            "ball on edge",
            &hull,
            at(0.0, 0.0, 0.0),
            &ball,
            at(1.5, 0.3, 1.5),
            Vec3::new(diagonal, 0.0, diagonal),
            diagonal - 0.5,
        ),
        (
            "ball on corner",
            &hull,
            at(0.0, 0.0, 0.0),
            &ball,
            at(1.4, 1.4, 1.4),
            Vec3::ONE.normalize(),
            0.4 * 3.0_f64.sqrt() - 0.5,
        ),
        // Ball against side, end and rim of a cylinder.
        (
            "ball beside",
            &cylinder,
            at(0.0, 0.0, 0.0),
            &ball,
            at(0.9, 0.0, 0.4),
            Vec3::X,
            -0.1,
        ),
        (
            "ball on top",
            &cylinder,
            at(0.0, 0.0, 0.0),
            &ball,
            at(0.1, 0.2, 1.45),
            Vec3::Z,
            -0.05,
        ),
        (
            "ball at rim",
            &cylinder,
            at(0.0, 0.0, 0.0),
            &ball,
            at(0.9, 0.0, 1.3),
            Vec3::new(0.8, 0.0, 0.6),
            0.0,
        ),
        // Cylinders crossed and on an edge.
        (
            "crossed",
            &cylinder,
            Pose::new(Vec3::ZERO, lying),
            &cylinder,
            Pose::new(
                Vec3::Z * 0.95,
                rotation::exp(Vec3::X * std::f64::consts::FRAC_PI_2),
            ),
            Vec3::Z,
            -0.05,
        ),
        (
            "on an edge",
            &hull,
            Pose::new(Vec3::ZERO, turned),
            &cylinder,
            Pose::new(Vec3::new(0.0, 0.1, 2.0_f64.sqrt() + 0.45), lying),
            Vec3::Z,
            -0.05,
        ),
        (
            "standing",
            &hull,
            at(0.0, 0.0, 0.0),
            &cylinder,
            at(0.0, 0.0, 1.98),
            Vec3::Z,
            -0.02,
        ),
    ];
    for (what, a, p, b, q, normal, gap) in cases {
        for flip in [false, true] {
            let c = if flip {
                collide(b, &q, a, &p, 0.4)
            } else {
                collide(a, &p, b, &q, 0.4)
            };
            let deepest = c.iter().min_by(|x, y| x.gap.total_cmp(&y.gap));
            let deepest = deepest.unwrap_or_else(|| panic!("{what}: nothing"));
            let n = if flip { -normal } else { normal };
            assert!((deepest.normal - n).length() < 1e-9, "{what}: {deepest:?}");
            assert!((deepest.gap - gap).abs() < 1e-9, "{what}: {deepest:?}");
        }
    }
}

#[test]
fn round_faces_lie_on_their_rims() {
    let floor = Shape::HalfSpace { normal: Vec3::Z };
    let coin = Shape::Cylinder {
        half_length: 0.1,
        radius: 1.0,
    };
    // Standing: eight points of the rim.
    let c = collide(
        &floor,
        &Pose::IDENTITY,
        &coin,
        &Pose::from_position(Vec3::Z * 0.1),
        0.01,
    );
    assert_eq!(c.len(), 8);
    assert!(
        c.iter()
            .all(|c| c.gap.abs() < 1e-15 && (c.point_b.truncate().length() - 1.0).abs() < 1e-12)
    );
    // Tilted in any direction: the lowest point of the rim is one of them, and it follows.
    for k in 0..20 {
        let (s, co) = libm::sincos(f64::from(k) * 0.3);
        let turn = rotation::exp(Vec3::new(s, co, 0.0) * 1e-3);
        let q = Pose::new(Vec3::Z * 0.1, turn);
        let c = collide(&floor, &Pose::IDENTITY, &coin, &q, 0.01);
        let axis = turn * Vec3::Z;
        let lowest = 0.1 - 0.1 * axis.z - axis.truncate().length();
        assert!((least(&c) - lowest).abs() < 1e-15, "{} {lowest}", least(&c));
        let moving = c
            .iter()
            .find(|c| matches!(c.features, Features::RimFace { .. }))
            .unwrap();
        assert_eq!(moving.gap, least(&c));
        // Look ahead: turned further, it is still the lowest point.
        let then = Pose::new(Vec3::Z * 0.1, rotation::exp(Vec3::new(co, s, 0.0) * 2e-3));
        let at = moving
            .features
            .at(&Pose::IDENTITY, &then, 0.0, 0.0, moving.normal);
        let axis = then.rotation * Vec3::Z;
        assert!((at.gap - (0.1 - 0.1 * axis.z - axis.truncate().length())).abs() < 1e-14);
    }
    // Lying: a line.
    let lying = Pose::new(
        Vec3::Z,
        rotation::exp(Vec3::X * std::f64::consts::FRAC_PI_2),
    );
    let c = collide(&floor, &Pose::IDENTITY, &coin, &lying, 0.01);
    assert_eq!(c.len(), 2);
    assert!(((c[0].point_b - c[1].point_b).length() - 0.2).abs() < 1e-12);
    assert!(
        c.iter()
            .all(|c| c.gap.abs() < 1e-12 && c.rolling_radius == 1.0)
    );
}
