//! Convex hulls: whatever the points, the surface is closed, convex and holds them all; what is flat is refused.

use crate::geometry_support;

use geometry_support::Random;
use std::sync::Arc;
use tippe::math::{Mat3, Vec3};
use tippe::shape::{Aabb, ConvexHull, Shape, mesh_mass_properties};

/// Closed and convex, every point inside, faces and neighbours consistent.
fn check(points: &[Vec3]) -> ConvexHull {
    let hull = ConvexHull::new(points).expect("points with a volume");
    let size = points
        .iter()
        .fold(0.0_f64, |s, p| s.max((*p - points[0]).length()));
    for (i, f) in hull.faces().iter().enumerate() {
        assert!((f.normal.length() - 1.0).abs() < 1e-12);
        let v = hull.face_vertices(i);
        assert!(v.len() >= 3);
        for p in points {
            // Two resolutions: of points that count as one, and of faces that count as flat.
            let h = f.normal.dot(*p) - f.offset;
            assert!(h <= 4e-9 * size, "face {i} {f:?}: {h:e} of {size}");
        }
    }
    // Euler: vertices − edges + faces = 2, edges = half the sum of the corners.
    let corners: usize = (0..hull.faces().len())
        .map(|i| hull.face_vertices(i).len())
        .sum();
    let used = (0..hull.vertices().len())
        .filter(|v| hull.faces_of_vertex(*v).next().is_some())
        .count();
    assert_eq!(used + hull.faces().len(), corners / 2 + 2, "{hull:?}");
    assert!(mesh_mass_properties(hull.vertices(), hull.triangles(), 1.0).is_ok());
    hull
}

fn sphere_points(random: &mut Random, count: usize) -> Vec<Vec3> {
    (0..count).map(|_| random.vector(1.0).normalize()).collect()
}

#[test]
fn a_cube_has_six_faces_however_its_points_come() {
    let mut points = Vec::new();
    for i in 0..5 {
        for j in 0..5 {
            for k in 0..5 {
                points.push(Vec3::new(f64::from(i), f64::from(j), f64::from(k)) * 0.25);
            }
        }
    }
    // A full grid, each point several times.
    points.extend(points.clone());
    let hull = check(&points);
    assert_eq!((hull.vertices().len(), hull.faces().len()), (8, 6));
    let shape = Shape::Hull(Arc::new(hull));
    assert!((shape.volume() - 1.0).abs() < 1e-15);
    let mass = shape.mass_properties(2.0);
    assert!((mass.center - Vec3::splat(0.5)).length() < 1e-15);
    assert!(
        (mass.inertia - Mat3::from_diagonal(Vec3::splat(2.0 / 6.0)))
            .to_cols_array()
            .iter()
            .all(|x| x.abs() < 1e-15)
    );
    // Turned anywhere, coordinates are rounded and faces no longer exactly flat: they are still six.
    let mut random = Random(5);
    for _ in 0..50 {
        let pose = random.pose(100.0);
        let turned: Vec<Vec3> = points.iter().map(|p| pose.point(*p)).collect();
        let hull = check(&turned);
        assert_eq!(hull.faces().len(), 6, "{pose:?}");
        // Exactly on the corner or off by a rounding: corners may repeat within the resolution only.
        assert!((Shape::Hull(Arc::new(hull)).volume() - 1.0).abs() < 1e-11);
    }
}

#[test]
fn hulls_of_random_points_hold_them() {
    let mut random = Random(9);
    let rounds = if cfg!(debug_assertions) { 300 } else { 3000 };
    for round in 0..rounds {
        let count = 4 + (random.next() % 60) as usize;
        let points: Vec<Vec3> = match round % 6 {
            0 => sphere_points(&mut random, count),
            // On few planes, on a line and one aside, on a coarse lattice: coplanar and collinear throughout.
            1 => (0..count)
                .map(|_| (random.vector(2.0)).round())
                .chain([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z])
                .collect(),
            2 => (0..count)
                .map(|_| Vec3::new(random.unit(), 0.0, 0.0))
                .chain([Vec3::Y, Vec3::Z])
                .chain([Vec3::ZERO, Vec3::X])
                .collect(),
            // Nearly flat: noise of every size on a square.
            3 => {
                let noise = [1e-17, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7][(random.next() % 6) as usize];
                (0..count)
                    .map(|_| Vec3::new(random.unit(), random.unit(), noise * random.unit()))
                    .chain([Vec3::Z * -0.5])
                    .chain([Vec3::ZERO, Vec3::X, Vec3::Y])
                    .collect()
            }
            // Twins: every point again with noise.
            4 => {
                let base = sphere_points(&mut random, 4 + count / 2);
                let noise = [0.0, 1e-16, 1e-12, 1e-9, 1e-6][(random.next() % 5) as usize];
                let twins: Vec<Vec3> = base.iter().map(|p| *p + random.vector(noise)).collect();
                base.into_iter().chain(twins).collect()
            }
            // Thin and far out.
            _ => {
                let scale = Vec3::new(1.0, 1e-3, 1e3);
                let shift = random.vector(1e4);
                (0..count)
                    .map(|_| random.vector(1.0) * scale + shift)
                    .collect()
            }
        };
        check(&points);
    }
}

#[test]
fn climbing_finds_what_looking_finds() {
    let mut random = Random(13);
    for count in [8, 30, 500, 2000] {
        let points = sphere_points(&mut random, count);
        let hull = check(&points);
        assert_eq!(hull.vertices().len(), count);
        let mut hint = u32::MAX;
        for _ in 0..2000 {
            let d = random.vector(1.0);
            let far = points
                .iter()
                .fold(f64::NEG_INFINITY, |s, p| s.max(d.dot(*p)));
            for start in [u32::MAX, hint, 0] {
                hint = hull.support(d, start);
                assert_eq!(d.dot(hull.vertices()[hint as usize]), far);
            }
        }
        let pose = random.pose(3.0);
        let bounds = Shape::Hull(Arc::new(hull)).bounds(&pose);
        let tight = points.iter().fold(Aabb::EMPTY, |b, p| {
            let x = pose.point(*p);
            b.merged(&Aabb { min: x, max: x })
        });
        assert!(bounds.grown(1e-14).contains(&tight) && tight.grown(1e-14).contains(&bounds));
    }
}

#[test]
fn degenerate_points_are_refused_with_the_reason() {
    let refusal = |points: &[Vec3]| ConvexHull::new(points).unwrap_err();
    assert!(
        refusal(&[Vec3::ZERO, Vec3::X, Vec3::Y])
            .reason
            .contains("at least 4")
    );
    assert!(refusal(&[Vec3::ONE; 9]).reason.contains("the same"));
    let line: Vec<Vec3> = (0..9)
        .map(|i| Vec3::new(1.0, 2.0, 3.0) * f64::from(i))
        .collect();
    assert!(refusal(&line).reason.contains("line"));
    let mut random = Random(1);
    let pose = random.pose(5.0);
    let flat: Vec<Vec3> = (0..50)
        .map(|_| pose.point(Vec3::new(random.unit(), random.unit(), 0.0)))
        .collect();
    assert!(refusal(&flat).reason.contains("plane"));
    let mut bad = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    bad[2].y = f64::NAN;
    assert_eq!(refusal(&bad).field, "points[2]");
    bad[2].y = f64::INFINITY;
    assert_eq!(refusal(&bad).field, "points[2]");
    bad[2].y = 1e300;
    assert_eq!(refusal(&bad).field, "points[2]");
    // Coordinates of 1e12 are accepted: the shape is judged by its own size.
    let far: Vec<Vec3> = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]
        .map(|p| p * 1e12)
        .to_vec();
    assert!(ConvexHull::new(&far).is_ok());
    let small: Vec<Vec3> = far.iter().map(|p| *p * 1e-24).collect();
    assert!(ConvexHull::new(&small).is_ok());
}

#[test]
fn a_body_is_centred_where_its_hull_is() {
    // A corner tetrahedron: the centre of mass is a quarter along each axis, and the snapshot keeps the hull.
    let points = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let shape = Shape::Hull(Arc::new(ConvexHull::new(&points).unwrap()));
    let mut world = tippe::World::default();
    let body = world
        .add_body(&tippe::BodyDesc::dynamic(shape, Vec3::ZERO))
        .unwrap();
    assert!((world.body(body).unwrap().center - Vec3::splat(0.25)).length() < 1e-15);
    assert!((world.body(body).unwrap().mass - 1000.0 / 6.0).abs() < 1e-10);
    world.step(0.01).unwrap();
    let bytes = world.snapshot();
    let mut again = tippe::World::restore(&bytes).unwrap();
    assert_eq!(again.snapshot(), bytes);
    again.step(0.01).unwrap();
    world.step(0.01).unwrap();
    assert_eq!(world.hash(), again.hash());
}
