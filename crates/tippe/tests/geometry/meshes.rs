//! Meshes against meshes: trees, crossing loops, distances and contacts, against slow answers.

use crate::geometry_support;
use crate::solids;

use geometry_support::Random;
use solids::{ball, bolt, brick, cup, joined, mesh, moved, nut, torus};
use std::f64::consts::PI;
use std::sync::Arc;
use tippe::collide::descend::{Descent, descend, triangle_pairs};
use tippe::collide::loops::crossing_loops;
use tippe::collide::narrow::{collide_shapes, flipped};
use tippe::collide::pair_mesh_mesh::MESH_PAIR_POINTS_MAX;
use tippe::geometry::closest_points;
use tippe::math::{Pose, Vec3};
use tippe::shape::{Aabb, Shape, TriangleMesh};

fn rounds() -> u32 {
    if cfg!(debug_assertions) { 30 } else { 300 }
}

fn shape(mesh: TriangleMesh) -> Shape {
    Shape::Mesh(Arc::new(mesh))
}

/// A torus, cup, ball, brick, bolt or nut of about 0.1 m.
fn any(random: &mut Random) -> TriangleMesh {
    let parts = match random.next() % 6 {
        0 => torus(0.07, 0.03, 16, 8),
        1 => cup(0.06, 0.1, 0.01, 16),
        2 => ball(0.08, 14, 8),
        3 => brick(Vec3::new(0.08, 0.05, 0.03), 3),
        4 => bolt(0.04, 0.006, 0.02, 0.08, 16, 4),
        _ => nut(0.07, 0.04, 0.006, 0.001, 0.02, 0.04, 16, 4),
    };
    mesh(&parts)
}

#[test]
fn solids_are_closed_and_weigh_what_they_should() {
    for (parts, volume, tolerance) in [
        (
            torus(0.07, 0.03, 200, 100),
            2.0 * PI * PI * 0.07 * 0.0009,
            2e-3,
        ),
        (
            ball(0.08, 200, 100),
            4.0 / 3.0 * PI * 0.08_f64.powi(3),
            2e-3,
        ),
        (
            brick(Vec3::new(0.08, 0.05, 0.03), 3),
            8.0 * 0.08 * 0.05 * 0.03,
            1e-12,
        ),
        (
            cup(0.06, 0.1, 0.01, 400),
            PI * (0.0036 * 0.1 - 0.0025 * 0.09),
            2e-3,
        ),
    ] {
        let mesh = mesh(&parts);
        assert_eq!(mesh.defect(), None);
        let m = shape(mesh).mass_properties(1000.0);
        assert!(
            (m.mass / (1000.0 * volume) - 1.0).abs() < tolerance,
            "{} {volume}",
            m.mass
        );
    }
    let screw = mesh(&bolt(0.04, 0.006, 0.02, 0.08, 32, 8));
    assert_eq!(screw.defect(), None);
    assert_eq!(
        mesh(&nut(0.07, 0.04, 0.006, 0.001, 0.02, 0.04, 32, 8)).defect(),
        None
    );
    // Open: named, and weighed as its hull.
    let (v, mut t) = brick(Vec3::splat(0.5), 1);
    t.pop();
    let open = TriangleMesh::new(&v, &t).unwrap();
    assert!(
        open.defect().unwrap().reason.contains("open"),
        "{:?}",
        open.defect()
    );
    assert!((open.mass_properties(1000.0).unwrap().mass - 1000.0).abs() < 1e-9);
    let turned: Vec<[u32; 3]> = brick(Vec3::splat(0.5), 1)
        .1
        .iter()
        .map(|t| [t[0], t[2], t[1]])
        .collect();
    assert!(TriangleMesh::new(&v, &turned).unwrap().is_inside_out());
}

/// Box of a triangle in the frame that `pose` leads to.
fn box_of(mesh: &TriangleMesh, t: u32, pose: &Pose) -> Aabb {
    let [a, b, c] = mesh.corners(t).map(|x| pose.point(x));
    Aabb {
        min: a.min(b).min(c),
        max: a.max(b).max(c),
    }
}

#[test]
fn cl_15_descent_of_two_trees_finds_what_all_pairs_find() {
    let mut random = Random(15);
    for _ in 0..rounds() {
        let (a, b) = (any(&mut random), any(&mut random));
        let (p, q) = (random.pose(0.1), random.pose(0.1));
        let margin = 0.004 * random.unit();
        let b_in_a = p.inverse().compose(&q);
        let mut all = Vec::new();
        for t in 0..a.triangles().len() as u32 {
            let here = box_of(&a, t, &Pose::IDENTITY);
            for s in 0..b.triangles().len() as u32 {
                let there = box_of(&b, s, &b_in_a);
                let gap = (here.min - there.max)
                    .max(there.min - here.max)
                    .max(Vec3::ZERO);
                if gap.length() <= margin {
                    all.push((t, s));
                }
            }
        }
        assert_eq!(triangle_pairs((&a, &p), (&b, &q), margin), all);
        // Stopping early: one pair if there is any, none otherwise.
        let mut first = None;
        let early = descend(&a, &b, &b_in_a, margin, |t, s| {
            first = Some((t, s));
            Descent::Stop
        });
        assert_eq!(first.is_some(), !all.is_empty());
        assert!(first.is_none_or(|f| all.contains(&f)));
        assert_eq!(early.triangles, usize::from(!all.is_empty()));
    }
}

#[test]
fn cl_16_two_balls_cross_in_one_circle() {
    for (n, m) in [(24, 12), (60, 30), (150, 80)] {
        let a = mesh(&ball(1.0, n, m));
        let way = Vec3::new(0.3, 0.5, 0.7).normalize() * 1.6;
        let loops = crossing_loops(&a, &a, &Pose::from_position(way));
        assert_eq!(loops.len(), 1);
        let l = &loops[0];
        assert!(l.closed);
        let size = 2.0 * PI / f64::from(n);
        let mean = l
            .points
            .iter()
            .map(|x| (*x - 0.5 * way).length())
            .sum::<f64>()
            / l.points.len() as f64;
        assert!((mean - 0.6).abs() < size, "{mean}");
        assert!(l.normal.dot(way.normalize()) > 1.0 - size, "{:?}", l.normal);
        assert!((l.depth - 0.4).abs() < size, "{}", l.depth);
    }
}

#[test]
fn cl_16_a_comb_has_a_loop_for_each_tooth() {
    let teeth = (0..7).map(|k| {
        moved(
            brick(Vec3::new(0.02, 0.05, 0.1), 1),
            Vec3::X * 0.1 * f64::from(k),
        )
    });
    let comb = mesh(&joined(teeth));
    let plane = mesh(&brick(Vec3::new(2.0, 2.0, 0.5), 9));
    let b_in_a = Pose::from_position(Vec3::new(0.013, 0.007, -0.58));
    let loops = crossing_loops(&comb, &plane, &b_in_a);
    assert_eq!(loops.len(), 7);
    for l in &loops {
        assert!(l.closed);
        assert!((l.normal + Vec3::Z).length() < 1e-9, "{:?}", l.normal);
        assert!((l.depth - 0.02).abs() < 1e-9, "{}", l.depth);
    }
}

#[test]
fn cl_16_loops_close_where_faces_and_edges_coincide() {
    // Copies of one grid shifted by whole cells: every face, edge and corner of the overlap is shared.
    let a = mesh(&brick(Vec3::splat(0.5), 4));
    for shift in [
        Vec3::ZERO,
        Vec3::X * 0.25,
        Vec3::X,
        Vec3::new(0.25, 0.5, 0.0),
        Vec3::new(0.25, 0.25, 0.25),
        Vec3::new(1.0, 0.25, 0.0),
        Vec3::new(-0.5, 0.75, -0.25),
    ] {
        for l in crossing_loops(&a, &a, &Pose::from_position(shift)) {
            assert!(
                l.closed && l.depth.is_finite() && l.normal.is_finite(),
                "{shift} {l:?}"
            );
        }
    }
    // Random poses of closed meshes: closed loops alone.
    let mut random = Random(16);
    for _ in 0..rounds() {
        let (a, b) = (any(&mut random), any(&mut random));
        for l in crossing_loops(&a, &b, &random.pose(0.06)) {
            assert!(l.closed, "{l:?}");
        }
    }
}

/// Distance of two triangles by their corners and edges, if they do not cross.
fn slow(a: &TriangleMesh, b: &TriangleMesh, b_in_a: &Pose) -> f64 {
    let segments = |p: Vec3, u: Vec3, q: Vec3, v: Vec3| {
        // Alternating projections from all four ends and the lines' closest points.
        let on =
            |x: Vec3, p: Vec3, u: Vec3| p + u * (u.dot(x - p) / u.length_squared()).clamp(0.0, 1.0);
        let mut best = f64::INFINITY;
        for x in [p, p + u] {
            best = best.min((x - on(x, q, v)).length());
        }
        for y in [q, q + v] {
            best = best.min((y - on(y, p, u)).length());
        }
        let n = u.cross(v);
        if n.length_squared() > 0.0 {
            let s = ((q - p).cross(v).dot(n) / n.length_squared()).clamp(0.0, 1.0);
            let x = p + u * s;
            let y = on(x, q, v);
            best = best.min((on(y, p, u) - y).length());
        }
        best
    };
    let mut best = f64::INFINITY;
    for t in 0..a.triangles().len() as u32 {
        let x = a.corners(t);
        for s in 0..b.triangles().len() as u32 {
            let y = b.corners(s).map(|v| b_in_a.point(v));
            for k in 0..3 {
                for l in 0..3 {
                    let d = segments(x[k], x[(k + 1) % 3] - x[k], y[l], y[(l + 1) % 3] - y[l]);
                    best = best.min(d);
                }
            }
        }
    }
    for v in b.vertices() {
        let d = a
            .closest(b_in_a.point(*v), best)
            .map_or(best, |p| p.distance.abs());
        best = best.min(d);
    }
    for v in a.vertices() {
        let d = b
            .closest(b_in_a.point_to_local(*v), best)
            .map_or(best, |p| p.distance.abs());
        best = best.min(d);
    }
    best
}

#[test]
fn distances_of_meshes_are_those_of_all_features() {
    let mut random = Random(17);
    let mut apart = 0;
    for _ in 0..(rounds() / 6).max(30) {
        let (a, b) = (any(&mut random), any(&mut random));
        let (p, q) = (random.pose(0.1), random.pose(0.1));
        let b_in_a = p.inverse().compose(&q);
        let (x, y) = (shape(a.clone()), shape(b.clone()));
        let found = closest_points(&x, &p, &y, &q).unwrap();
        let back = closest_points(&y, &q, &x, &p).unwrap();
        let crosses = !crossing_loops(&a, &b, &b_in_a).is_empty();
        assert_eq!(crosses, found.distance <= 0.0, "{found:?}");
        if crosses {
            continue;
        }
        apart += 1;
        let truth = slow(&a, &b, &b_in_a);
        assert!((found.distance - truth).abs() < 1e-9, "{found:?} {truth}");
        assert!((back.distance - truth).abs() < 1e-9);
        assert!(((found.point_b - found.point_a).length() - truth).abs() < 1e-9);
    }
    assert!(apart > 2);
}

#[test]
fn contacts_of_meshes_hold_their_nearest_points() {
    // Near each other, the least gap is the distance; points lie on the surfaces, and there are few of them.
    let mut random = Random(18);
    let mut near = 0;
    for _ in 0..rounds() {
        let (a, b) = (shape(any(&mut random)), shape(any(&mut random)));
        let (p, mut q) = (random.pose(0.05), random.pose(0.05));
        // Moved along the line of their nearest points until they nearly touch.
        q.position += Vec3::new(0.3, 0.1, -0.2);
        let Ok(s) = closest_points(&a, &p, &b, &q) else {
            continue;
        };
        q.position -= s.normal * (s.distance - 2e-4 * random.unit());
        let s = closest_points(&a, &p, &b, &q).unwrap();
        if s.distance <= 0.0 || s.distance > 5e-4 {
            continue;
        }
        near += 1;
        let mut out = Vec::new();
        collide_shapes(&a, &p, &b, &q, 1e-3, &mut out);
        assert!(out.len() <= MESH_PAIR_POINTS_MAX);
        let least = out.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        assert!((least - s.distance).abs() < 1e-9, "{least} {s:?}");
        let deepest = out.iter().min_by(|c, d| c.gap.total_cmp(&d.gap)).unwrap();
        assert!(
            deepest.normal.dot(s.normal) > 1.0 - 1e-6,
            "{deepest:?} {s:?}"
        );
        // Exchanged, the same nearest contact mirrored.
        let mut back = Vec::new();
        collide_shapes(&b, &q, &a, &p, 1e-3, &mut back);
        let back: Vec<_> = back.iter().map(flipped).collect();
        let least_back = back.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        assert!((least_back - least).abs() < 1e-12);
    }
    assert!(near > rounds() as usize / 2, "{near}");
}

#[test]
fn a_brick_on_a_brick_stands_on_what_they_share() {
    // 1e-7 m deep, off centre: four corners of the common rectangle, straight up, in any tessellation.
    for n in [1, 2, 5] {
        let a = shape(mesh(&brick(Vec3::new(0.5, 0.4, 0.1), n)));
        let b = shape(mesh(&brick(Vec3::new(0.3, 0.2, 0.1), n + 1)));
        for (x, y) in [(0.0, 0.0), (0.3, 0.0), (0.31, 0.27), (0.0, 0.5)] {
            for depth in [-1e-7, 0.0, 1e-10, 1e-7, 1e-4] {
                let q = Pose::from_position(Vec3::new(x, y, 0.2 - depth));
                let mut out = Vec::new();
                collide_shapes(&a, &Pose::IDENTITY, &b, &q, 1e-3, &mut out);
                assert!(
                    out.len() >= 4 && out.len() <= MESH_PAIR_POINTS_MAX,
                    "{n} {x} {y} {depth}: {}",
                    out.len()
                );
                for c in &out {
                    assert!(
                        (c.normal - Vec3::Z).length() < 1e-9,
                        "{n} {x} {y} {depth} {c:?}"
                    );
                    assert!((c.gap + depth).abs() < 1e-12, "{c:?}");
                }
                let edge = (x + 0.3_f64).min(0.5);
                let reaches = out.iter().any(|c| (c.point_a.x - edge).abs() < 1e-9);
                assert!(reaches, "{n} {x} {y} {depth}: {out:?}");
            }
        }
    }
}

#[test]
fn deep_overlaps_are_pushed_out_along_their_loops() {
    let a = shape(mesh(&ball(0.1, 24, 12)));
    let b = shape(mesh(&ball(0.1, 20, 14)));
    let q = Pose::from_position(Vec3::new(0.02, 0.01, 0.14));
    let mut out = Vec::new();
    collide_shapes(&a, &Pose::IDENTITY, &b, &q, 1e-3, &mut out);
    let deepest = out.iter().min_by(|c, d| c.gap.total_cmp(&d.gap)).unwrap();
    let depth = 0.2 - q.position.length();
    assert!(
        (deepest.gap + depth).abs() < 0.02,
        "{} {depth}",
        deepest.gap
    );
    assert!(
        deepest.normal.dot(q.position.normalize()) > 0.95,
        "{deepest:?}"
    );
}

#[test]
fn the_deepest_vertex_of_a_large_patch_counts_wherever_it_is_in_the_list() {
    // A fine ball a quarter in a block: the same depth with its first pole below and with its last.
    let block = shape(mesh(&brick(Vec3::new(0.5, 0.4, 0.3), 1)));
    let fine = shape(mesh(&ball(0.1, 200, 100)));
    for turn in [0.0, PI] {
        let turn = tippe::math::rotation::exp(Vec3::X * turn);
        let q = Pose::new(Vec3::new(0.02, 0.01, 0.35), turn);
        let mut out = Vec::new();
        collide_shapes(&block, &Pose::IDENTITY, &fine, &q, 1e-3, &mut out);
        let least = out.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        assert!((least + 0.05).abs() < 1e-3, "{turn} {least}");
    }
}
