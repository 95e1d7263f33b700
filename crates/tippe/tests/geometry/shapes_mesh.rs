//! The ground as a triangle mesh: no seams, no falling through, and bodies of several shapes on it.

use crate::geometry_support;
use crate::support;

use geometry_support::Random;
use std::sync::Arc;
use support::{
    G, add, below, cuboid, floor, near, near_vec, rough, run, solid, sphere, state, world,
};
use tippe::collide::narrow::{Start, collide_shapes, collide_shapes_from, flipped};
use tippe::geometry::{GeometryError, closest_points};
use tippe::math::rotation;
use tippe::{BodyDesc, MassSpec, Pose, Shape, ShapeDesc, TriangleMesh, Vec3};

/// A square of `n` × `n` cells of `cell` metres about the origin, its heights given.
fn terrain(n: u32, cell: f64, height: impl Fn(f64, f64) -> f64) -> Shape {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            let at = |k: u32| (f64::from(k) - 0.5 * f64::from(n)) * cell;
            vertices.push(Vec3::new(at(i), at(j), height(at(i), at(j))));
            if i > 0 && j > 0 {
                let name = |i: u32, j: u32| (n + 1) * i + j;
                let (a, b) = (name(i - 1, j - 1), name(i, j - 1));
                let (c, d) = (name(i, j), name(i - 1, j));
                // Diagonals this way and that.
                if (i + j) % 2 == 0 {
                    triangles.extend([[a, b, c], [a, c, d]]);
                } else {
                    triangles.extend([[a, b, d], [b, c, d]]);
                }
            }
        }
    }
    Shape::Mesh(Arc::new(
        TriangleMesh::new(&vertices, &triangles).expect("a good mesh"),
    ))
}

#[test]
fn a_flat_mesh_is_a_floor() {
    // Boxes, balls, cylinders sliding, rolling and spinning over many seams move as on a half-space.
    let flat = BodyDesc::fixed(terrain(40, 0.07, |_, _| 0.0), Vec3::ZERO);
    let shapes = [
        ("box", cuboid(0.1, 0.06, 0.05), 0.05),
        ("ball", sphere(0.08), 0.08),
        (
            "cylinder",
            Shape::Cylinder {
                half_length: 0.05,
                radius: 0.08,
            },
            0.05,
        ),
        (
            "hull",
            Shape::Hull(Arc::new(
                tippe::ConvexHull::new(&[
                    Vec3::new(-0.1, -0.1, -0.05),
                    Vec3::new(0.1, -0.1, -0.05),
                    Vec3::new(0.0, 0.1, -0.05),
                    Vec3::new(0.0, 0.0, 0.1),
                ])
                .unwrap(),
            )),
            0.05,
        ),
    ];
    for (name, shape, height) in shapes {
        let start = BodyDesc {
            velocity: Vec3::new(1.0, 0.3, 0.0),
            angular_velocity: Vec3::Z * 3.0,
            ..solid(shape, 1.0, Vec3::new(-0.5, -0.2, height))
        };
        let mut ends = Vec::new();
        for ground in [&floor(), &flat] {
            let mut w = world(G, rough(0.2, 0.2));
            add(&mut w, ground);
            let id = add(&mut w, &start);
            let mut highest = 0.0_f64;
            for _ in 0..300 {
                w.step(1.0 / 240.0).unwrap();
                highest = highest
                    .max((state(&w, id).position.z - state(&w, id).position.z.min(height)).abs());
            }
            below(&format!("{name}: hops"), highest, 1e-8);
            ends.push(state(&w, id));
        }
        // The points differ (clipped at seams or not), so friction may be shared out differently, but not by much.
        near_vec(name, ends[1].position, ends[0].position, 2e-3);
        near_vec(name, ends[1].velocity, ends[0].velocity, 2e-2);
    }
}

#[test]
fn bodies_rest_on_hills_and_do_not_fall_through() {
    let hills = terrain(20, 0.2, |x, y| {
        0.1 * libm::sin(3.0 * x) * libm::cos(2.0 * y) + 0.1 * (x * x + y * y)
    });
    let mut random = Random(9);
    let mut w = world(G, rough(0.8, 0.8));
    add(&mut w, &BodyDesc::fixed(hills.clone(), Vec3::ZERO));
    let mut ids = Vec::new();
    for k in 0..12_u32 {
        let shape = match k % 6 {
            0 => cuboid(0.1, 0.07, 0.05),
            1 => sphere(0.08),
            2 => Shape::Cylinder {
                half_length: 0.06,
                radius: 0.05,
            },
            3 => Shape::Cone {
                half_length: 0.08,
                radius: 0.07,
            },
            4 => Shape::Capsule {
                half_length: 0.06,
                radius: 0.04,
            },
            _ => random.hull(20, Vec3::splat(0.09)),
        };
        let place = Vec3::new(
            0.4 * f64::from(k % 4) - 0.6,
            0.4 * f64::from(k / 4) - 0.4,
            0.6,
        );
        let desc = BodyDesc {
            pose: Pose::new(place, random.rotation()),
            ..solid(shape, 1.0, Vec3::ZERO)
        };
        ids.push(add(&mut w, &desc));
    }
    run(
        &mut w,
        1.0 / 120.0,
        if cfg!(debug_assertions) { 360 } else { 1200 },
    );
    for &id in &ids {
        let s = state(&w, id);
        assert!(s.position.z > -0.15 && s.position.z < 1.0, "{s:?}");
        let body = w.body(id).unwrap();
        let found = closest_points(
            &hills,
            &Pose::IDENTITY,
            &body.shapes[0].shape,
            &w.pose(id).unwrap(),
        )
        .unwrap();
        println!(
            "{:?}: height {:.3}, distance {:e}, speed {:e}",
            body.shapes[0].shape,
            s.position.z,
            found.distance,
            s.velocity.length()
        );
        assert!(found.distance > -2e-3, "{found:?}");
    }
}

#[test]
fn normals_stay_between_neighbours() {
    // A roof: a ball over the ridge is pushed up, one over a slope across the slope, one in a valley by both sides.
    let roof = terrain(2, 1.0, |x, _| -x.abs());
    let collide = |mesh: &Shape, ball: &Pose| {
        let mut out = Vec::new();
        collide_shapes(mesh, &Pose::IDENTITY, &sphere(0.2), ball, 0.01, &mut out);
        out
    };
    let c = collide(&roof, &Pose::from_position(Vec3::new(0.0, 0.3, 0.19)));
    let lowest = c.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
    near_vec("ridge", lowest.normal, Vec3::Z, 1e-9);
    near("ridge", lowest.gap, -0.01, 1e-9);
    let valley = terrain(2, 1.0, |x, _| x.abs());
    let c = collide(
        &valley,
        &Pose::from_position(Vec3::new(0.0, 0.3, 0.2 * 2.0_f64.sqrt() - 0.01)),
    );
    assert!(
        c.iter()
            .all(|c| (c.normal.x.abs() - 0.5_f64.sqrt()).abs() < 1e-9),
        "{c:?}"
    );
    assert!(c.iter().any(|c| c.normal.x > 0.0) && c.iter().any(|c| c.normal.x < 0.0));
    // From below nothing is felt.
    assert!(collide(&roof, &Pose::from_position(Vec3::new(-0.5, 0.3, -0.65))).is_empty());
    // Exchanged, the same mirrored.
    let q = Pose::from_position(Vec3::new(0.1, 0.2, 0.15));
    let mut back = Vec::new();
    collide_shapes(&sphere(0.2), &q, &roof, &Pose::IDENTITY, 0.01, &mut back);
    let back: Vec<_> = back.iter().map(flipped).collect();
    assert_eq!(collide(&roof, &q), back);
    // Two meshes have a distance, two half-spaces none.
    let above = Pose::from_position(Vec3::Z * 0.25);
    let apart = closest_points(&roof, &Pose::IDENTITY, &roof, &above).unwrap();
    near("roofs", apart.distance, 0.25 * 0.5_f64.sqrt(), 1e-12);
    let ground = Shape::HalfSpace { normal: Vec3::Z };
    assert_eq!(
        closest_points(&ground, &Pose::IDENTITY, &ground, &above),
        Err(GeometryError::Unbounded)
    );
}

#[test]
fn a_compound_of_anything_weighs_and_stands_like_its_parts() {
    // A hammer: a cylinder as handle, a box as head, a ball and a cone. Masses, centre and inertia add up.
    let part = |shape: Shape, at: Vec3, turn: Vec3| ShapeDesc {
        pose: Pose::new(at, rotation::exp(turn)),
        ..ShapeDesc::from(shape)
    };
    let shapes = vec![
        part(
            Shape::Cylinder {
                half_length: 0.2,
                radius: 0.02,
            },
            Vec3::ZERO,
            Vec3::Y * 0.3,
        ),
        part(cuboid(0.03, 0.08, 0.03), Vec3::X * 0.2, Vec3::Z * 0.4),
        part(sphere(0.05), Vec3::Y * 0.1, Vec3::ZERO),
        part(
            Shape::Cone {
                half_length: 0.05,
                radius: 0.04,
            },
            Vec3::new(0.0, -0.1, 0.1),
            Vec3::X,
        ),
    ];
    let (mut mass, mut moment) = (0.0, Vec3::ZERO);
    let mut pieces = Vec::new();
    for s in &shapes {
        let m = s.shape.mass_properties(500.0);
        let c = s.pose.point(m.center);
        mass += m.mass;
        moment += c * m.mass;
        pieces.push((m, c, s.pose.rotation));
    }
    let center = moment / mass;
    let mut trace = 0.0;
    for (m, c, _) in &pieces {
        let own = m.inertia;
        trace += own.x_axis.x
            + own.y_axis.y
            + own.z_axis.z
            + 2.0 * m.mass * (*c - center).length_squared();
    }
    let mut w = world(G, rough(0.5, 0.5));
    add(
        &mut w,
        &BodyDesc::fixed(terrain(6, 0.5, |_, _| 0.0), Vec3::ZERO),
    );
    let desc = BodyDesc {
        mass: MassSpec::Density(500.0),
        shapes,
        ..BodyDesc::dynamic(sphere(1.0), Vec3::Z * 0.4)
    };
    let id = add(&mut w, &desc);
    let body = w.body(id).unwrap();
    near("mass", 1.0 / body.inverse_mass, mass, 1e-12);
    near_vec("centre", body.center, center, 1e-14);
    near(
        "trace",
        body.moments.x + body.moments.y + body.moments.z,
        trace,
        1e-12,
    );
    run(&mut w, 1.0 / 120.0, 600);
    let s = state(&w, id);
    below(
        "speed",
        s.velocity.length() + s.angular_velocity.length(),
        1e-6,
    );
}

#[test]
fn mc_04_a_peg_in_the_notch_of_a_u_touches_nothing() {
    // Two posts on a beam, 0.2 m apart; the peg is 0.18 m wide.
    let part = |half: Vec3, at: Vec3| ShapeDesc {
        pose: Pose::from_position(at),
        ..ShapeDesc::from(cuboid(half.x, half.y, half.z))
    };
    let pieces = vec![
        part(Vec3::new(0.2, 0.1, 0.05), Vec3::Z * 0.05),
        part(Vec3::new(0.05, 0.1, 0.15), Vec3::new(-0.15, 0.0, 0.25)),
        part(Vec3::new(0.05, 0.1, 0.15), Vec3::new(0.15, 0.0, 0.25)),
    ];
    let mut u = BodyDesc::dynamic(pieces[0].shape.clone(), Vec3::ZERO);
    u.shapes = pieces.clone();
    u.mass = MassSpec::Density(1000.0);
    let mut w = world(0.0, rough(0.5, 0.5));
    let u = add(&mut w, &u);
    // Mass and inertia by hand: boxes of 8 kg and twice 6 kg.
    let body = w.body(u).unwrap();
    near("mass", body.mass, 20.0, 1e-12);
    near(
        "centre",
        body.center.z,
        (8.0 * 0.05 + 12.0 * 0.25) / 20.0,
        1e-12,
    );
    let box_of = |m: f64, p: f64, q: f64| m * (p * p + q * q) / 12.0;
    let (low, high) = (0.17 - 0.05, 0.25 - 0.17);
    let wanted = [
        box_of(8.0, 0.2, 0.1) + 8.0 * low * low + 2.0 * (box_of(6.0, 0.2, 0.3) + 6.0 * high * high),
        box_of(8.0, 0.4, 0.1)
            + 8.0 * low * low
            + 2.0 * (box_of(6.0, 0.1, 0.3) + 6.0 * (high * high + 0.0225)),
        box_of(8.0, 0.4, 0.2) + 2.0 * (box_of(6.0, 0.1, 0.2) + 6.0 * 0.0225),
    ];
    let mut found = body.moments.to_array();
    let mut wanted = wanted;
    found.sort_by(f64::total_cmp);
    wanted.sort_by(f64::total_cmp);
    for k in 0..3 {
        near("moment", found[k], wanted[k], 1e-12);
    }
    // Distance: the least over the pieces, and so says the world.
    let peg = cuboid(0.09, 0.05, 0.1);
    let mut random = Random(4);
    let mut queries = w.queries();
    for _ in 0..500 {
        let q = Pose::new(random.vector(0.6), random.rotation());
        let least = pieces
            .iter()
            .map(|s| {
                closest_points(&s.shape, &s.pose, &peg, &q)
                    .unwrap()
                    .distance
            })
            .fold(f64::INFINITY, f64::min);
        let hits = queries.within(&peg, &q, 10.0, &Default::default()).unwrap();
        near("distance", hits[0].distance, least, 1e-9);
    }
    drop(queries);
    // Let down slowly, the peg goes in: no contact until it reaches the beam.
    let mut desc = solid(peg, 1.0, Vec3::Z * 0.6);
    desc.velocity = -Vec3::Z * 0.5;
    let peg = add(&mut w, &desc);
    for _ in 0..78 {
        run(&mut w, 0.01, 1);
        assert!(w.contacts().is_empty());
    }
    near("in the notch", state(&w, peg).position.z, 0.21, 1e-9);
    run(&mut w, 0.01, 4);
    near(
        "beam",
        state(&w, peg).velocity.z - state(&w, u).velocity.z,
        0.0,
        1e-9,
    );
}

/// Contact points of a square with itself turned over, 1e-4 m above it, and whether some may be missing.
fn on_itself(ground: &Shape) -> (Vec<tippe::collide::contact::ContactPoint>, bool) {
    let above = Pose::new(
        Vec3::Z * 1e-4,
        rotation::exp(Vec3::X * std::f64::consts::PI),
    );
    let (mut start, mut out) = (Start::default(), Vec::new());
    let limited = collide_shapes_from(
        ground,
        &Pose::IDENTITY,
        ground,
        &above,
        1e-3,
        &mut start,
        &mut out,
    );
    (out, limited)
}

#[test]
fn fine_squares_stand_on_all_their_corners() {
    // 80,000 vertices face each other, but only those of the border say anything.
    let (out, limited) = on_itself(&terrain(200, 0.01, |_, _| 0.0));
    assert!(!limited);
    for (x, y) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        let corner = Vec3::new(x, y, 0.0);
        let found = out.iter().any(|c| (c.point_a - corner).length() < 1e-6);
        assert!(found, "{corner}: {out:?}");
    }
    for c in &out {
        assert!((c.normal - Vec3::Z).length() < 1e-9 && (c.gap - 1e-4).abs() < 1e-9);
    }
}

#[test]
fn too_many_features_that_face_each_other_are_reported() {
    // A chessboard of bumps: every vertex is one.
    let bump = |x: f64, y: f64| 1e-5 * ((x + y) / 0.01).round().rem_euclid(2.0);
    let ground = terrain(200, 0.01, bump);
    let (out, limited) = on_itself(&ground);
    assert!(limited && !out.is_empty());
    let mut world = world(G, rough(0.5, 0.5));
    add(&mut world, &BodyDesc::fixed(ground.clone(), Vec3::ZERO));
    let lid = BodyDesc {
        pose: Pose::new(
            Vec3::Z * 1e-4,
            rotation::exp(Vec3::X * std::f64::consts::PI),
        ),
        ..solid(ground, 1.0, Vec3::ZERO)
    };
    add(&mut world, &lid);
    assert!(world.step(1e-3).unwrap().work.caps_hit > 0);
}
