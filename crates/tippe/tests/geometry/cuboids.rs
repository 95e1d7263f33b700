//! Two boxes: separating axes, contact classes, patches, names.

use crate::geometry_support;

use geometry_support::Random;
use parry3d_f64::math::{Pose3, Rot3, Vector};
use parry3d_f64::query;
use parry3d_f64::shape::Cuboid;
use std::f64::consts::FRAC_PI_4;
use tippe::collide::contact::{ContactPoint, Features};
use tippe::collide::narrow::{ContactKind, Manifold, cuboid_manifold, cuboid_separation};
use tippe::math::{Pose, Quat, Vec3, rotation};

const CUBE: Vec3 = Vec3::splat(0.5);
const DEPTH: f64 = 0.01;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_position(Vec3::new(x, y, z))
}

fn turned(z: f64, turn: Vec3) -> Pose {
    Pose::new(Vec3::Z * z, rotation::exp(turn))
}

/// The cube standing on one corner: its diagonal (1, 1, 1) is vertical.
fn on_corner(z: f64) -> Pose {
    let q = Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::Z);
    Pose::new(Vec3::Z * z, q)
}

/// A cube over the fixed cube at the origin.
fn over_cube(pose: &Pose) -> Manifold {
    cuboid_manifold(CUBE, &Pose::IDENTITY, CUBE, pose, 0.0)
}

fn near(a: Vec3, b: Vec3, tolerance: f64) -> bool {
    (a - b).length() <= tolerance
}

fn check_all(m: &Manifold, kind: ContactKind, count: usize, normal: Vec3, gap: f64) {
    assert_eq!(m.kind, Some(kind), "{m:#?}");
    assert_eq!(m.points.len(), count, "{m:#?}");
    for c in &m.points {
        assert!(near(c.normal, normal, 1e-14), "{c:?}");
        assert!((c.gap - gap).abs() < 1e-14, "{c:?}");
    }
}

fn xy(c: &ContactPoint) -> (f64, f64) {
    (c.point_b.x, c.point_b.y)
}

// ---- CL-19: the cases at the end of §5.4 -----------------------------------------------------------------------------------------

#[test]
fn cl_19_cube_on_face_gives_four_corners() {
    let m = over_cube(&at(0.0, 0.0, 1.0 - DEPTH));
    check_all(&m, ContactKind::FaceFace, 4, Vec3::Z, -DEPTH);
    for (x, y) in [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)] {
        assert!(m.points.iter().any(|c| xy(c) == (x, y)), "{m:#?}");
    }
    // Touching exactly, and a little apart.
    check_all(
        &over_cube(&at(0.0, 0.0, 1.0)),
        ContactKind::FaceFace,
        4,
        Vec3::Z,
        0.0,
    );
    let m = cuboid_manifold(CUBE, &Pose::IDENTITY, CUBE, &at(0.0, 0.0, 1.25), 0.5);
    check_all(&m, ContactKind::FaceFace, 4, Vec3::Z, 0.25);
}

#[test]
fn cl_19_cube_turned_45_degrees_gives_four_of_eight() {
    let m = over_cube(&turned(1.0 - DEPTH, Vec3::Z * FRAC_PI_4));
    check_all(&m, ContactKind::FaceFace, 4, Vec3::Z, -DEPTH);
    // The octagon has corners at (±½, ±(√½ − ½)) and (±(√½ − ½), ±½); the four chosen ones form a square about the centre.
    let b = 0.5_f64.sqrt() - 0.5;
    let mut sum = (0.0, 0.0);
    for c in &m.points {
        let (x, y) = xy(c);
        let (low, high) = (x.abs().min(y.abs()), x.abs().max(y.abs()));
        assert!((low - b).abs() < 1e-14 && high == 0.5, "{c:?}");
        sum = (sum.0 + x, sum.1 + y);
    }
    assert!(sum.0.abs() < 1e-14 && sum.1.abs() < 1e-14, "{m:#?}");
}

#[test]
fn cl_19_cube_on_edge_gives_two() {
    let m = over_cube(&turned(0.5 + 0.5_f64.sqrt() - DEPTH, Vec3::X * FRAC_PI_4));
    check_all(&m, ContactKind::EdgeFace, 2, Vec3::Z, -DEPTH);
    assert!(
        m.points
            .iter()
            .all(|c| (xy(c).0.abs() - 0.5).abs() < 1e-15 && xy(c).1.abs() < 1e-15)
    );
}

#[test]
fn cl_19_cube_on_corner_gives_one() {
    let m = over_cube(&on_corner(0.5 + 0.75_f64.sqrt() - DEPTH));
    check_all(&m, ContactKind::VertexFace, 1, Vec3::Z, -DEPTH);
    assert!(near(m.points[0].point_b, Vec3::Z * (0.5 - DEPTH), 1e-15));
    // Below: the same from B's face, with the normal from A to B.
    let m = cuboid_manifold(
        CUBE,
        &on_corner(-(0.5 + 0.75_f64.sqrt()) + DEPTH),
        CUBE,
        &Pose::IDENTITY,
        0.0,
    );
    check_all(&m, ContactKind::VertexFace, 1, Vec3::Z, -DEPTH);
    assert!(near(m.points[0].point_a, Vec3::Z * (-0.5 + DEPTH), 1e-15));
}

#[test]
fn cl_19_crossed_edges_give_one_with_the_cross_product() {
    let lower = turned(0.0, Vec3::X * FRAC_PI_4);
    let upper = turned(2.0 * 0.5_f64.sqrt() - DEPTH, Vec3::Y * FRAC_PI_4);
    let m = cuboid_manifold(CUBE, &lower, CUBE, &upper, 0.0);
    check_all(&m, ContactKind::EdgeEdge, 1, Vec3::Z, -DEPTH);
    let Features::EdgeEdge {
        direction_a,
        direction_b,
        ..
    } = m.points[0].features
    else {
        panic!("{m:?}")
    };
    let cross = lower
        .vector(direction_a)
        .cross(upper.vector(direction_b))
        .normalize();
    assert!(near(cross.abs(), m.points[0].normal.abs(), 1e-15));
    assert!(near(m.points[0].point_a, Vec3::Z * 0.5_f64.sqrt(), 1e-15));
}

#[test]
fn cl_19_containment_and_equal_centres() {
    let small = Vec3::splat(0.1);
    let m = cuboid_manifold(CUBE, &Pose::IDENTITY, small, &at(0.05, 0.02, 0.3), 0.0);
    // The way out is up: 0.3 + 0.1 − 0.5 below the top, through the whole small cube.
    check_all(&m, ContactKind::FaceFace, 4, Vec3::Z, -0.3);
    let m = cuboid_manifold(
        CUBE,
        &Pose::IDENTITY,
        small,
        &turned(0.3, Vec3::new(0.3, 0.1, 0.0)),
        0.0,
    );
    assert!(
        !m.points.is_empty()
            && m.points
                .iter()
                .all(|c| near(c.normal, Vec3::Z, 1e-14) && c.gap < 0.0)
    );
    // Equal centres, equal boxes: one fixed unit normal, depth of a whole edge.
    let m = over_cube(&Pose::IDENTITY);
    check_all(&m, ContactKind::FaceFace, 4, Vec3::X, -1.0);
    let m = over_cube(&turned(0.0, Vec3::new(0.3, 0.2, 0.1)));
    assert!(!m.points.is_empty());
    assert!(
        m.points
            .iter()
            .all(|c| (c.normal.length() - 1.0).abs() < 1e-14 && c.gap < 0.0)
    );
}

// ---- CL-12: type, feature ids, normal ----------------------------------------------------------------------------------------------

#[test]
fn cl_12_vertex_face_names_vertex_and_face() {
    // The vertex 0 = (−, −, −) of B on the top face (5 = +z) of A; seen from the other side, of A on the bottom face (4 = −z) of B.
    let c = over_cube(&on_corner(0.5 + 0.75_f64.sqrt() - DEPTH)).points[0];
    assert_eq!(c.feature_id, 5 << 12);
    assert_eq!(
        c.features,
        Features::PointFace {
            point: c_point(&c),
            anchor: Vec3::Z * 0.5,
            normal: Vec3::Z,
            face_on_b: false
        }
    );
    assert!(near(c_point(&c), Vec3::splat(-0.5), 1e-14));
    let flip = Pose::new(Vec3::ZERO, Quat::from_xyzw(1.0, 0.0, 0.0, 0.0));
    let upside_down = flip.compose(&on_corner(0.5 + 0.75_f64.sqrt() - DEPTH));
    let c = cuboid_manifold(CUBE, &upside_down, CUBE, &Pose::IDENTITY, 0.0).points[0];
    assert_eq!(c.feature_id, (4 << 12) | (1 << 15));
    assert!(near(c.normal, Vec3::Z, 1e-14));
    // Turned about the vertical: still the same vertex.
    let spun = Pose::new(Vec3::ZERO, rotation::exp(Vec3::Z))
        .compose(&on_corner(0.5 + 0.75_f64.sqrt() - DEPTH));
    assert_eq!(over_cube(&spun).points[0].feature_id, 5 << 12);
}

fn c_point(c: &ContactPoint) -> Vec3 {
    match c.features {
        Features::PointFace { point, .. } => point,
        _ => Vec3::NAN,
    }
}

#[test]
fn cl_12_edge_edge_names_both_edges() {
    let lower = turned(0.0, Vec3::X * FRAC_PI_4);
    let upper = |z: f64| turned(z, Vec3::Y * FRAC_PI_4);
    let c = cuboid_manifold(
        CUBE,
        &lower,
        CUBE,
        &upper(2.0 * 0.5_f64.sqrt() - DEPTH),
        0.0,
    )
    .points[0];
    // Both kinds of overlap and a gap name the same edges.
    let d = cuboid_manifold(
        CUBE,
        &lower,
        CUBE,
        &upper(2.0 * 0.5_f64.sqrt() + DEPTH),
        0.1,
    )
    .points[0];
    assert_eq!(c.feature_id, d.feature_id);
    assert!((d.gap - DEPTH).abs() < 1e-14);
    // Another edge of B: turn it by a quarter about its own y axis.
    let quarter = Pose::new(Vec3::ZERO, rotation::exp(Vec3::Y * (2.0 * FRAC_PI_4)));
    let other = upper(2.0 * 0.5_f64.sqrt() - DEPTH).compose(&quarter);
    let e = cuboid_manifold(CUBE, &lower, CUBE, &other, 0.0).points[0];
    assert!(near(e.normal, c.normal, 1e-14) && e.feature_id != c.feature_id);
}

// ---- CL-13: degenerate contacts ----------------------------------------------------------------------------------------------------

#[test]
fn cl_13_corner_exactly_on_corner() {
    for x in [-1.0, 1.0] {
        for y in [-1.0, 1.0] {
            for z in [-1.0, 1.0] {
                let m = over_cube(&at(x, y, z));
                assert_eq!(m.points.len(), 1, "{m:#?}");
                assert!((m.points[0].normal.length() - 1.0).abs() < 1e-15);
                assert!(m.points[0].normal.dot(Vec3::new(x, y, z)) > 0.0);
                assert_eq!(m.points[0].gap, 0.0);
            }
        }
    }
    // Corner on corner, both standing on a corner, with rounding in every number.
    let reach = 0.75_f64.sqrt();
    for k in -3..=3 {
        let upper = on_corner(2.0 * reach + 1e-16 * f64::from(k));
        let m = cuboid_manifold(CUBE, &on_corner(0.0), CUBE, &upper, 1e-9);
        assert_eq!(m.points.len(), 1, "{m:#?}");
        assert!((m.points[0].normal.length() - 1.0).abs() < 1e-14 && m.points[0].normal.z > 0.5);
        assert!(m.points[0].gap.abs() < 1e-9 && m.points[0].point_a.is_finite());
    }
}

#[test]
fn cl_13_corner_on_edge_and_parallel_edges() {
    // A vertex exactly on an edge.
    let ridge = turned(0.0, Vec3::X * FRAC_PI_4);
    let m = cuboid_manifold(
        CUBE,
        &ridge,
        CUBE,
        &on_corner(0.5_f64.sqrt() + 0.75_f64.sqrt()),
        1e-9,
    );
    assert_eq!(m.points.len(), 1, "{m:#?}");
    assert!((m.points[0].normal.length() - 1.0).abs() < 1e-14 && m.points[0].gap.abs() < 1e-9);
    // Two parallel edges, touching, and a little apart: ridge on ridge.
    for gap in [0.0, 1e-3] {
        let upper = turned(2.0 * 0.5_f64.sqrt() + gap, Vec3::X * FRAC_PI_4);
        let m = cuboid_manifold(CUBE, &ridge, CUBE, &upper, 0.01);
        assert!(!m.points.is_empty() && m.points.len() <= 2, "{m:#?}");
        for c in &m.points {
            assert!((c.normal.length() - 1.0).abs() < 1e-14);
            assert!((c.gap - gap).abs() < 1e-9, "{c:?}");
        }
        if gap > 0.0 {
            // Apart, the direction is determined: straight up, at both ends; rounding of the points counts over the gap.
            assert_eq!((m.kind, m.points.len()), (Some(ContactKind::EdgeEdge), 2));
            assert!(
                m.points
                    .iter()
                    .all(|c| near(c.normal, Vec3::Z, 1e-15 / gap))
            );
        }
    }
    // Parallel edges of boxes side by side, diagonal to each other.
    let m = cuboid_manifold(CUBE, &Pose::IDENTITY, CUBE, &at(1.3, 0.0, 1.4), 1.0);
    check_all(&m, ContactKind::EdgeEdge, 2, Vec3::new(0.6, 0.0, 0.8), 0.5);
}

#[test]
fn cl_13_extended_contacts_have_several_points() {
    let wide = Vec3::new(2.0, 2.0, 0.5);
    assert_eq!(
        cuboid_manifold(wide, &Pose::IDENTITY, CUBE, &at(0.3, 0.2, 1.0), 0.0)
            .points
            .len(),
        4
    );
    assert_eq!(
        cuboid_manifold(CUBE, &Pose::IDENTITY, wide, &at(0.3, 0.2, 1.0), 0.0)
            .points
            .len(),
        4
    );
    let edge = turned(0.5 + 0.5_f64.sqrt(), Vec3::X * FRAC_PI_4);
    assert_eq!(
        cuboid_manifold(wide, &Pose::IDENTITY, CUBE, &edge, 0.0)
            .points
            .len(),
        2
    );
}

// ---- CL-18: separating axes against two references -------------------------------------------------------------------------------------

/// Separation along all 15 axes by projecting all 16 vertices: slow and simple.
fn brute_force(half_a: Vec3, p: &Pose, half_b: Vec3, q: &Pose) -> f64 {
    let vertices = |half: Vec3, pose: &Pose| -> Vec<Vec3> {
        let signs = [-1.0, 1.0];
        let mut out = Vec::new();
        for x in signs {
            for y in signs {
                for z in signs {
                    out.push(pose.point(half * Vec3::new(x, y, z)));
                }
            }
        }
        out
    };
    let (va, vb) = (vertices(half_a, p), vertices(half_b, q));
    let ea = Vec3::AXES.map(|e| p.vector(e));
    let eb = Vec3::AXES.map(|e| q.vector(e));
    let mut axes: Vec<Vec3> = ea.iter().chain(&eb).copied().collect();
    for a in ea {
        for b in eb {
            let c = a.cross(b);
            if c.length() > 1e-7 {
                axes.push(c.normalize());
            }
        }
    }
    let span = |v: &[Vec3], l: Vec3| {
        v.iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
                (a.min(x.dot(l)), b.max(x.dot(l)))
            })
    };
    axes.iter().fold(f64::NEG_INFINITY, |s, l| {
        let ((a0, a1), (b0, b1)) = (span(&va, *l), span(&vb, *l));
        s.max((b0 - a1).max(a0 - b1))
    })
}

fn parry_pose(p: &Pose) -> Pose3 {
    let (x, q) = (p.position, p.rotation);
    Pose3::from_parts(
        Vector::new(x.x, x.y, x.z),
        Rot3::from_xyzw(q.x, q.y, q.z, q.w),
    )
}

fn random_half(random: &mut Random) -> Vec3 {
    Vec3::new(
        random.range(0.05, 1.0),
        random.range(0.05, 1.0),
        random.range(0.05, 1.0),
    )
}

#[test]
fn cl_18_intersection_and_depth_against_references() {
    let count = if cfg!(debug_assertions) {
        10_000
    } else {
        100_000
    };
    let mut random = Random(2);
    let (mut touching, mut worst_depth, mut worst_gap) = (0, 0.0_f64, 0.0_f64);
    for _ in 0..count {
        let (half_a, half_b) = (random_half(&mut random), random_half(&mut random));
        let (p, q) = (random.pose(0.8), random.pose(0.8));
        let s = cuboid_separation(half_a, &p, half_b, &q);
        let truth = brute_force(half_a, &p, half_b, &q);
        let size = half_a.length().min(half_b.length());
        worst_depth = worst_depth.max((s - truth).abs() / size);
        let shape = |h: Vec3| Cuboid::new(Vector::new(h.x, h.y, h.z));
        let (pp, pq) = (parry_pose(&p), parry_pose(&q));
        let (sa, sb) = (shape(half_a), shape(half_b));
        if s.abs() > 1e-9 {
            let theirs = query::intersection_test(&pp, &sa, &pq, &sb).expect("boxes are supported");
            assert_eq!(
                s < 0.0,
                theirs.intersecting,
                "separation {s} {half_a} {p:?} {half_b} {q:?}"
            );
        }
        touching += usize::from(s < 0.0);
        // Apart: the nearest contact point has the true distance, up to the preference for faces.
        let m = cuboid_manifold(half_a, &p, half_b, &q, 10.0);
        let lowest = m.points.iter().fold(f64::INFINITY, |g, c| g.min(c.gap));
        if s > 1e-6 {
            let distance = query::distance(&pp, &sa, &pq, &sb).expect("boxes are supported");
            worst_gap = worst_gap.max((lowest - distance.distance).abs() / size);
        } else {
            // Overlapping: the preferred axis is at most 5 % and 1e-4 of the size deeper than the best.
            assert!(
                lowest <= 1e-9 && lowest >= truth / 0.95 - 2e-4,
                "{lowest} {truth} {m:#?}"
            );
        }
    }
    println!(
        "{touching} of {count} touch; depth error {worst_depth:e}, distance error {worst_gap:e}"
    );
    assert!(touching > count / 4 && touching < 3 * count / 4);
    assert!(worst_depth < 1e-9);
    assert!(worst_gap < 2e-4);
}

#[test]
fn cl_18_nearly_parallel_boxes_against_the_reference() {
    // Random boxes turned against each other by tiny angles: where short formulas lose their digits.
    let mut random = Random(5);
    let mut worst = 0.0_f64;
    for k in 0..20_000 {
        let (half_a, half_b) = (random_half(&mut random), random_half(&mut random));
        let p = random.pose(0.8);
        let angle = libm::pow(10.0, -f64::from(k % 14));
        let q = Pose::new(
            random.vector(0.8),
            (rotation::exp(random.vector(angle)) * p.rotation).normalize(),
        );
        let s = cuboid_separation(half_a, &p, half_b, &q);
        worst = worst.max((s - brute_force(half_a, &p, half_b, &q)).abs());
    }
    println!("worst {worst:e}");
    assert!(worst < 1e-8);
}

// ---- patches ------------------------------------------------------------------------------------------------------------------------

#[test]
fn patch_is_the_exact_overlap_of_shifted_bricks() {
    let half = Vec3::new(1.0, 0.5, 0.25);
    let mut random = Random(9);
    for _ in 0..2000 {
        let (dx, dy) = (random.range(-1.9, 1.9), random.range(-0.9, 0.9));
        let m = cuboid_manifold(half, &Pose::IDENTITY, half, &at(dx, dy, 0.5), 1e-3);
        assert_eq!(m.points.len(), 4, "{dx} {dy} {m:#?}");
        let ends = |d: f64, h: f64| if d > 0.0 { (d - h, h) } else { (-h, d + h) };
        let ((x0, x1), (y0, y1)) = (ends(dx, 1.0), ends(dy, 0.5));
        for (x, y) in [(x0, y0), (x0, y1), (x1, y0), (x1, y1)] {
            let there =
                |c: &&ContactPoint| (xy(c).0 - x).abs() < 1e-15 && (xy(c).1 - y).abs() < 1e-15;
            assert_eq!(m.points.iter().filter(there).count(), 1, "{dx} {dy} {m:#?}");
        }
    }
}

#[test]
fn patch_lies_within_both_faces() {
    let mut random = Random(10);
    for _ in 0..20_000 {
        let (half_a, half_b) = (random_half(&mut random), random_half(&mut random));
        let z = half_a.z + half_b.z + random.range(-0.01, 0.01);
        let turn = rotation::exp(Vec3::Z * random.range(-3.0, 3.0));
        let x = Vec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), z);
        let q = Pose::new(x, turn);
        let m = cuboid_manifold(half_a, &Pose::IDENTITY, half_b, &q, 0.01);
        for c in m
            .points
            .iter()
            .filter(|c| matches!(c.features, Features::PointFace { .. }))
        {
            let (a, b) = (c.point_a, q.point_to_local(c.point_b));
            assert!(
                a.x.abs() <= half_a.x + 1e-12 && a.y.abs() <= half_a.y + 1e-12,
                "{c:?}"
            );
            assert!(
                b.x.abs() <= half_b.x + 1e-12 && b.y.abs() <= half_b.y + 1e-12,
                "{c:?}"
            );
        }
    }
}

#[test]
fn names_survive_tiny_motions_of_a_stack() {
    let ids = |m: &Manifold| {
        let mut v: Vec<u32> = m.points.iter().map(|c| c.feature_id).collect();
        v.sort_unstable();
        v
    };
    let wide = Vec3::new(2.0, 2.0, 0.5);
    // Equal cubes; a small one on a large one; a large one on a small one.
    for (half_a, half_b) in [(CUBE, CUBE), (wide, CUBE), (CUBE, wide)] {
        let mut random = Random(1);
        let base = ids(&cuboid_manifold(
            half_a,
            &Pose::IDENTITY,
            half_b,
            &at(0.0, 0.0, 1.0),
            0.02,
        ));
        assert_eq!(base.len(), 4);
        for size in [1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3] {
            for _ in 0..500 {
                let p = Pose::new(random.vector(size), rotation::exp(random.vector(size)));
                let q = Pose::new(
                    Vec3::Z + random.vector(size),
                    rotation::exp(random.vector(size)),
                );
                let m = cuboid_manifold(half_a, &p, half_b, &q, 0.02);
                assert_eq!(ids(&m), base, "motion of {size}: {m:#?}");
            }
        }
    }
}

#[test]
fn thinned_patch_keeps_its_points_under_noise() {
    // Eight points of equal depth: rounding must not choose among them.
    let mut random = Random(4);
    let base = over_cube(&turned(1.0 - 1e-4, Vec3::Z * 0.6)).points;
    for _ in 0..1000 {
        let turn = Vec3::Z * 0.6 + random.vector(1e-9);
        let pose = Pose::new(
            Vec3::Z * (1.0 - 1e-4) + random.vector(1e-9),
            rotation::exp(turn),
        );
        let m = over_cube(&pose);
        let same = m
            .points
            .iter()
            .zip(&base)
            .all(|(c, d)| c.feature_id == d.feature_id);
        assert!(same && m.points.len() == base.len());
    }
}
