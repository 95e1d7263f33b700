//! Questions to a world: rays, casts, overlaps, distances; filters, order, nonsense.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::geometry_support;

use geometry_support::Random;
use std::sync::Arc;
use tippe::query::{Hit, QueryFilter};
use tippe::{BodyDesc, BodyId, Filter, Pose, Shape, TriangleMesh, Vec3, World};

fn everything() -> QueryFilter {
    QueryFilter::default()
}

/// A floor, a box, a ball and a capsule in a row along x, a sensor above them.
fn row() -> (World, [BodyId; 5]) {
    let mut world = World::default();
    let mut add = |desc: BodyDesc| world.add_body(&desc).unwrap();
    let floor = add(BodyDesc::fixed(
        Shape::HalfSpace { normal: Vec3::Z },
        Vec3::ZERO,
    ));
    let cuboid = add(BodyDesc::fixed(
        Shape::Cuboid {
            half: Vec3::splat(0.5),
        },
        Vec3::new(2.0, 0.0, 1.0),
    ));
    let ball = add(BodyDesc::dynamic(
        Shape::Sphere { radius: 0.5 },
        Vec3::new(4.0, 0.0, 1.0),
    ));
    let capsule = add(BodyDesc::dynamic(
        Shape::Capsule {
            half_length: 0.5,
            radius: 0.25,
        },
        Vec3::new(6.0, 0.0, 1.0),
    ));
    let mut gate = BodyDesc::fixed(
        Shape::Cuboid {
            half: Vec3::new(0.1, 1.0, 1.0),
        },
        Vec3::new(1.0, 0.0, 1.0),
    );
    gate.shapes[0].sensor = true;
    let gate = add(gate);
    (world, [floor, cuboid, ball, capsule, gate])
}

fn names(hits: &[Hit]) -> Vec<BodyId> {
    hits.iter().map(|h| h.body).collect()
}

#[test]
fn a_ray_meets_what_lies_on_it_nearest_first() {
    let (world, [floor, cuboid, ball, capsule, gate]) = row();
    let mut queries = world.queries();
    let from = Vec3::new(0.0, 0.0, 1.0);
    let hits = queries
        .ray(from, Vec3::X * 7.0, 100.0, &everything())
        .unwrap();
    assert_eq!(names(&hits), [cuboid, ball, capsule]);
    for (hit, wanted) in hits.iter().zip([1.5, 3.5, 5.75]) {
        assert!((hit.distance - wanted).abs() < 1e-12, "{hit:?}");
        assert!((hit.normal + Vec3::X).length() < 1e-9);
        assert!((hit.point - (from + Vec3::X * wanted)).length() < 1e-12);
    }
    // Only as far as it reaches; sensors only if asked for; not what is left out.
    let short = queries.ray(from, Vec3::X, 3.0, &everything()).unwrap();
    assert_eq!(names(&short), [cuboid]);
    let all = QueryFilter {
        sensors: true,
        without: vec![ball],
        ..everything()
    };
    let hits = queries.ray(from, Vec3::X, 100.0, &all).unwrap();
    assert_eq!(names(&hits), [gate, cuboid, capsule]);
    // From inside, and down to the floor.
    let inside = queries
        .ray(Vec3::new(2.1, 0.0, 1.2), Vec3::NEG_Z, 10.0, &everything())
        .unwrap();
    assert_eq!(names(&inside), [cuboid, floor]);
    assert_eq!((inside[0].distance, inside[0].normal), (0.0, Vec3::Z));
    assert!((inside[1].distance - 1.2).abs() < 1e-12);
    // Past everything.
    assert!(
        queries
            .ray(Vec3::new(0.0, 3.0, 1.0), Vec3::X, 100.0, &everything())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_cast_stops_where_shapes_touch() {
    let (world, [floor, cuboid, ball, ..]) = row();
    let mut queries = world.queries();
    let probe = Shape::Sphere { radius: 0.25 };
    let start = Pose::from_position(Vec3::new(0.0, 0.0, 1.0));
    let hits = queries
        .cast(&probe, &start, Vec3::X, 100.0, &everything())
        .unwrap();
    assert_eq!(names(&hits)[..2], [cuboid, ball]);
    assert!((hits[0].distance - 1.25).abs() < 1e-9, "{hits:?}");
    assert!((hits[1].distance - 3.25).abs() < 1e-9, "{hits:?}");
    assert!((hits[0].normal + Vec3::X).length() < 1e-9);
    let down = queries
        .cast(&probe, &start, Vec3::NEG_Z, 100.0, &everything())
        .unwrap();
    assert_eq!(names(&down), [floor]);
    assert!((down[0].distance - 0.75).abs() < 1e-9 && down[0].point.z.abs() < 1e-9);
    // What it overlaps at the start is at distance 0.
    let there = Pose::from_position(Vec3::new(1.4, 0.0, 1.0));
    let hits = queries
        .cast(&probe, &there, Vec3::X, 1.0, &everything())
        .unwrap();
    assert_eq!((hits[0].body, hits[0].distance), (cuboid, 0.0));
}

/// A mesh as ground is met by casts as by rays: straight, aslant, from its edge, and not at all.
#[test]
fn a_cast_meets_a_mesh() {
    let corners = [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]];
    let corners = corners.map(|[x, y]| Vec3::new(x, y, 0.0));
    let mesh = TriangleMesh::new(&corners, &[[0, 1, 2], [0, 2, 3]]).unwrap();
    let mut world = World::default();
    let fixed = BodyDesc::fixed(Shape::Mesh(Arc::new(mesh)), Vec3::ZERO);
    let ground = world.add_body(&fixed).unwrap();
    let mut queries = world.queries();
    let ball = Shape::Sphere { radius: 0.25 };
    let mut cast = |x: f64, direction: Vec3| {
        let from = Pose::from_position(Vec3::new(x, 0.3, 3.0));
        let hits = queries.cast(&ball, &from, direction, 10.0, &everything());
        hits.unwrap()
    };
    let hits = cast(0.0, -Vec3::Z);
    assert_eq!(names(&hits), [ground]);
    assert!((hits[0].distance - 2.75).abs() < 1e-6, "{hits:?}");
    assert!((hits[0].normal - Vec3::Z).length() < 1e-6, "{hits:?}");
    assert!((hits[0].point - Vec3::new(0.0, 0.3, 0.0)).length() < 1e-6);
    let hits = cast(-1.5, Vec3::new(1.0, 0.0, -1.0));
    assert!((hits[0].distance - 2.75 * 2.0_f64.sqrt()).abs() < 1e-6);
    // 0.15 m beyond the edge the ball still meets it: √(0.25² − 0.15²) = 0.2 m above.
    let hits = cast(2.15, -Vec3::Z);
    assert!((hits[0].distance - 2.8).abs() < 1e-5, "{hits:?}");
    assert!(cast(2.26, -Vec3::Z).is_empty());
    assert!(cast(0.0, Vec3::Z).is_empty());
    assert!(cast(0.0, Vec3::X).is_empty());
}

#[test]
fn overlaps_and_nearest() {
    let (world, [floor, cuboid, ball, capsule, _]) = row();
    let mut queries = world.queries();
    let plank = Shape::Cuboid {
        half: Vec3::new(1.2, 0.1, 0.1),
    };
    let pose = Pose::from_position(Vec3::new(3.0, 0.0, 1.0));
    let hits = queries.overlaps(&plank, &pose, &everything()).unwrap();
    assert_eq!(names(&hits), [cuboid, ball]);
    // The plank sticks out of the box by 0.6 m of its 0.7 m; across, 0.6 m part them.
    assert!((hits[0].distance + 0.6).abs() < 1e-9, "{hits:?}");
    let near = queries
        .within_of_point(Vec3::new(5.0, 0.0, 1.0), 10.0, &everything())
        .unwrap();
    assert_eq!(names(&near), [ball, capsule, floor, cuboid]);
    for (hit, wanted) in near.iter().zip([0.5, 0.75, 1.0, 2.5]) {
        assert!((hit.distance - wanted).abs() < 1e-12, "{hit:?}");
    }
    let deep = queries
        .within_of_point(Vec3::new(4.0, 0.0, 1.2), 0.0, &everything())
        .unwrap();
    assert_eq!(names(&deep), [ball]);
    assert!((deep[0].distance + 0.3).abs() < 1e-12);
}

#[test]
fn groups_hide_shapes() {
    let mut world = World::default();
    let mut desc = BodyDesc::fixed(Shape::Sphere { radius: 1.0 }, Vec3::ZERO);
    desc.shapes[0].filter = Filter {
        groups: 0b100,
        mask: 0b001,
    };
    world.add_body(&desc).unwrap();
    let asked = |groups: u32, mask: u32| {
        let filter = QueryFilter {
            filter: Filter { groups, mask },
            ..everything()
        };
        let hits = world.queries().ray(Vec3::X * 5.0, -Vec3::X, 9.0, &filter);
        hits.unwrap().len()
    };
    assert_eq!(
        (asked(1, 0b100), asked(2, 0b100), asked(1, 0b011)),
        (1, 0, 0)
    );
}

/// Random worlds: the broad phase loses nothing, the order is that of the distance, a ray and a thin cast agree.
#[test]
fn the_same_as_asking_every_shape() {
    let mut random = Random(5);
    let cases = if cfg!(debug_assertions) { 60 } else { 1000 };
    for case in 0..cases {
        let mut world = World::default();
        let mut ids = Vec::new();
        for k in 0..12 {
            let mut desc = BodyDesc::fixed(random.shape([0, 1, 2, 4, 5, 6][k % 6]), Vec3::ZERO);
            desc.pose = random.pose(5.0);
            ids.push(world.add_body(&desc).unwrap());
        }
        let (from, d) = (random.vector(6.0), random.rotation() * Vec3::X);
        let mut queries = world.queries();
        let hits = queries.ray(from, d, 20.0, &everything()).unwrap();
        let thin = queries
            .cast(
                &Shape::Sphere { radius: 1e-7 },
                &Pose::from_position(from),
                d,
                20.0,
                &everything(),
            )
            .unwrap();
        for (i, hit) in hits.iter().enumerate() {
            assert!(i == 0 || hits[i - 1].distance <= hit.distance);
            // On the surface, and nothing of the shape before.
            let body = world.body(hit.body).unwrap();
            let pose = world.pose(hit.body).unwrap();
            let gap = |t: f64| {
                let probe = Pose::from_position(from + d * t);
                let ball = Shape::Sphere { radius: 1e-9 };
                tippe::geometry::distance(&body.shapes[0].shape, &pose, &ball, &probe).unwrap()
            };
            assert!(gap(hit.distance) < 1e-8, "case {case}");
            assert!(
                (0..20).all(|k| hit.distance == 0.0
                    || gap(hit.distance * f64::from(k) / 20.0 * 0.999_99) > 0.0)
            );
            // A cast of next to nothing touches a little before, by more where the surface is aslant.
            let cast = thin.iter().find(|t| t.body == hit.body).unwrap();
            let slack = 1e-6 / d.dot(hit.normal).abs().max(1e-3);
            assert!(
                (cast.distance - hit.distance).abs() < slack,
                "case {case}: {cast:?} {hit:?}"
            );
        }
        // By itself each shape gives the same answer.
        for (k, id) in ids.iter().enumerate() {
            let without: Vec<_> = ids.iter().copied().filter(|other| other != id).collect();
            let alone = QueryFilter {
                without,
                ..everything()
            };
            let one = queries.ray(from, d, 20.0, &alone).unwrap();
            let among: Vec<_> = hits.iter().filter(|h| h.body == *id).copied().collect();
            assert_eq!(one, among, "case {case} body {k}");
        }
    }
}

#[test]
fn nonsense_is_refused_by_name() {
    let (world, _) = row();
    let mut q = world.queries();
    let all = everything();
    let field = |r: Result<Vec<Hit>, tippe::BuildError>| r.unwrap_err().field;
    let ball = Shape::Sphere { radius: 0.1 };
    let here = Pose::IDENTITY;
    assert_eq!(field(q.ray(Vec3::NAN, Vec3::X, 1.0, &all)), "origin");
    assert_eq!(field(q.ray(Vec3::ZERO, Vec3::ZERO, 1.0, &all)), "direction");
    assert_eq!(field(q.ray(Vec3::ZERO, Vec3::X, -1.0, &all)), "length");
    assert_eq!(field(q.ray(Vec3::ZERO, Vec3::X, f64::NAN, &all)), "length");
    let none = Shape::Sphere { radius: 0.0 };
    assert_eq!(field(q.overlaps(&none, &here, &all)), "shape.radius");
    let ground = Shape::HalfSpace { normal: Vec3::Z };
    assert_eq!(field(q.cast(&ground, &here, Vec3::X, 1.0, &all)), "shape");
    let lost = Pose::from_position(Vec3::splat(f64::INFINITY));
    assert_eq!(field(q.within(&ball, &lost, 1.0, &all)), "pose");
    assert_eq!(field(q.within(&ball, &here, 1e300, &all)), "limit");
    assert_eq!(field(q.within_of_point(Vec3::NAN, 1.0, &all)), "point");
    // Far away there is nothing to find, and that is an answer.
    let far = q.ray(Vec3::splat(1e12), Vec3::X, 1.0, &all).unwrap();
    assert!(far.is_empty());
    // An empty world has nothing either.
    let empty = World::default();
    assert!(
        empty
            .queries()
            .ray(Vec3::ZERO, Vec3::X, 1.0, &all)
            .unwrap()
            .is_empty()
    );
}
