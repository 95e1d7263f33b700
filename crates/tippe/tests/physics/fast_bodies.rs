//! Fast bodies in the stepping methods: stopped where they hit, given the rest of their step.

// Helpers of tests may fail as loudly as tests.
#![allow(clippy::unwrap_used)]

use crate::geometry_support;

use geometry_support::Random;
use std::sync::Arc;
use tippe::{
    BodyDesc, BodyId, EventKind, IterativeParams, Method, Pose, Shape, Surface, TriangleMesh, Vec3,
    World,
};

const H: f64 = 1.0 / 60.0;

fn world(gravity: f64, restitution: f64) -> World {
    let mut world = World::default();
    world.set_gravity(Vec3::Z * -gravity).unwrap();
    world
        .set_default_surface(Surface::new(0.0, restitution))
        .unwrap();
    world
}

/// Two walls with their inner faces `gap` apart, and an elastic ball of 0.1 m in the middle, flying at 300 m/s.
fn between_walls(gap: f64) -> (World, BodyId) {
    let mut world = world(0.0, 1.0);
    for side in [-1.0, 1.0] {
        let wall = Shape::Cuboid {
            half: Vec3::new(0.05, 1.0, 1.0),
        };
        let place = Vec3::X * (side * (0.5 * gap + 0.05));
        world.add_body(&BodyDesc::fixed(wall, place)).unwrap();
    }
    let mut ball = BodyDesc::dynamic(Shape::Sphere { radius: 0.1 }, Vec3::ZERO);
    ball.velocity = Vec3::X * 300.0;
    let ball = world.add_body(&ball).unwrap();
    (world, ball)
}

/// Bounces in 10 s, and where the ball should be then: the way of a point in a box of the free length, unfolded.
fn bounces(gap: f64) -> (usize, World, BodyId) {
    let (mut world, ball) = between_walls(gap);
    let mut count = 0;
    for _ in 0..600 {
        let report = world.step(H).unwrap();
        assert!(report.energy.unexplained.abs() < 1e-9 * report.energy.kinetic);
        assert_eq!(report.work.caps_open(), 0);
        let impacts = world
            .events()
            .iter()
            .filter(|e| e.kind == EventKind::Impact);
        count += impacts.count();
    }
    (count, world, ball)
}

fn unfolded(free: f64, way: f64) -> f64 {
    // From the middle to the right: a triangle wave of period 2·free.
    let phase = (way + 0.5 * free).rem_euclid(2.0 * free);
    if phase <= free {
        phase - 0.5 * free
    } else {
        1.5 * free - phase
    }
}

/// 3000 m between walls 9.8 m apart for its centre: the first after 4.9 m, 306 in all.
#[test]
fn an_elastic_ball_between_walls_loses_no_bounce() {
    let (count, world, ball) = bounces(10.0);
    assert_eq!(count, 306);
    let state = world.body_state(ball).unwrap();
    assert!((state.velocity.length() - 300.0).abs() < 1e-9);
    assert!((state.position.x - unfolded(9.8, 3000.0)).abs() < 1e-6);
}

/// In a gap of 1.2 m the centre has 1.1 − 0.1 m: 5 m a step are five bounces a step, 3000 in 10 s.
#[test]
fn several_impacts_within_one_step() {
    let (count, world, ball) = bounces(1.2);
    assert_eq!(count, 3000);
    let state = world.body_state(ball).unwrap();
    assert!((state.velocity.length() - 300.0).abs() < 1e-9);
    assert!(state.position.x.abs() < 0.5 + 1e-6);
}

/// A gap so narrow that a step would hold hundreds of bounces: the step ends at its limit, says so, and nothing escapes.
#[test]
fn too_many_impacts_are_capped_and_reported() {
    let (mut world, ball) = between_walls(0.22);
    let mut caps = 0;
    for _ in 0..20 {
        caps += world.step(H).unwrap().work.caps_open();
    }
    assert!(caps > 0);
    let state = world.body_state(ball).unwrap();
    assert!(state.is_finite());
    assert!(state.velocity.length() <= 300.0 * (1.0 + 1e-9));
}

/// Residuals do not tell that a ball that may not stop again has left through a wall: the limit that its step ended at must.
#[test]
fn a_ball_that_leaves_through_a_wall_is_not_certified() {
    let params = IterativeParams {
        impact_substeps: 0,
        ..IterativeParams::default()
    };
    let (mut world, ball) = between_walls(1.2);
    world.set_method(Method::Iterative(params)).unwrap();
    let report = world.step(H).unwrap();
    // It bounced on the right, and nobody looked where it went then.
    assert!(world.pose(ball).unwrap().position.x < -1.0);
    assert_eq!(report.missed(), ["caps_hit"]);
}

/// A ball of 5 mm at 1000 m/s against a plate of 1 mm, from any side, aslant, at any length of the step.
#[test]
fn mc_09_a_fast_ball_never_misses_a_thin_plate() {
    never_misses(&Shape::Cuboid {
        half: Vec3::new(0.5, 0.5, 5e-4),
    });
}

/// The same plate as a mesh: two grids of triangles, back to back.
#[test]
fn a_fast_ball_never_misses_a_plate_of_triangles() {
    const CELLS: u32 = 6;
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for z in [-5e-4, 5e-4] {
        let first = vertices.len() as u32;
        for i in 0..=CELLS {
            for j in 0..=CELLS {
                let at = |k: u32| f64::from(k) / f64::from(CELLS) - 0.5;
                vertices.push(Vec3::new(at(i), at(j), z));
            }
        }
        for i in 0..CELLS {
            for j in 0..CELLS {
                let k = first + i * (CELLS + 1) + j;
                for t in [[k, k + CELLS + 1, k + CELLS + 2], [k, k + CELLS + 2, k + 1]] {
                    // Counter-clockwise from above looks up.
                    triangles.push(if z > 0.0 { t } else { [t[0], t[2], t[1]] });
                }
            }
        }
    }
    let mesh = TriangleMesh::new(&vertices, &triangles).unwrap();
    never_misses(&Shape::Mesh(Arc::new(mesh)));
}

/// A ball that lands on the floor of a mesh, or rolls on it, and meets the wall of the same mesh within one step.
#[test]
fn a_fast_ball_that_has_met_a_mesh_meets_its_wall_too() {
    let corner = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
    let vertices = [
        corner(-5.0, -1.0, 0.0),
        corner(1.0, -1.0, 0.0),
        corner(1.0, 1.0, 0.0),
        corner(-5.0, 1.0, 0.0),
        corner(1.0, -1.0, 2.0),
        corner(1.0, 1.0, 2.0),
    ];
    // Floor that looks up, thin wall at x = 1 that looks back along x.
    let triangles = [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]];
    let mesh = TriangleMesh::new(&vertices, &triangles).unwrap();
    // It lies there, or lands early, in the middle or late in the step.
    let starts = [
        (0.1, 0.0),
        (0.1 + 1e-3, 1.0),
        (0.1 + 5e-3, 1.0),
        (0.1 + 0.0106, 1.0),
    ];
    for (height, sinking) in starts {
        for from in 0..20 {
            let mut world = world(9.81, 0.0);
            let floor = BodyDesc::fixed(Shape::Mesh(Arc::new(mesh.clone())), Vec3::ZERO);
            world.add_body(&floor).unwrap();
            let start = Vec3::new(0.8 - 0.05 * f64::from(from), 0.1, height);
            let mut ball = BodyDesc::dynamic(Shape::Sphere { radius: 0.1 }, start);
            ball.velocity = Vec3::new(30.0, 0.0, -sinking);
            let id = world.add_body(&ball).unwrap();
            for _ in 0..10 {
                world.step(1.0 / 60.0).unwrap();
                let x = world.pose(id).unwrap().position.x;
                assert!(x < 1.0, "from {start}: at {x}");
            }
        }
    }
}

fn never_misses(plate: &Shape) {
    let mut random = Random(3);
    let aims = if cfg!(debug_assertions) { 200 } else { 1000 };
    let mut hits = 0;
    for aim in 0..aims {
        let mut world = world(9.81, 0.5);
        let tilt = random.rotation();
        let mut desc = BodyDesc::fixed(plate.clone(), Vec3::ZERO);
        desc.pose = Pose::new(Vec3::ZERO, tilt);
        world.add_body(&desc).unwrap();
        // A point of the plate well inside its rim, and a start anywhere on one side.
        let target = tilt * Vec3::new(random.range(-0.45, 0.45), random.range(-0.45, 0.45), 0.0);
        let from = loop {
            let d = random.rotation() * Vec3::X;
            if (tilt.conjugate() * d).z.abs() > 0.3 {
                break d;
            }
        };
        let mut ball = BodyDesc::dynamic(
            Shape::Sphere { radius: 0.005 },
            target + from * random.range(0.5, 5.0),
        );
        ball.velocity = from * -1000.0;
        ball.angular_velocity = random.vector(1000.0);
        let ball = world.add_body(&ball).unwrap();
        let side = (tilt.conjugate() * from).z.signum();
        let h = if aim % 2 == 0 { H } else { 1e-3 };
        let mut hit = false;
        for _ in 0..(0.02 / h) as usize + 1 {
            world.step(h).unwrap();
            hit |= world.events().iter().any(|e| e.kind == EventKind::Impact);
        }
        let local = tilt.conjugate() * world.body_state(ball).unwrap().position;
        hits += usize::from(hit && local.z * side > 0.0);
    }
    assert_eq!(hits, aims);
}

/// The same ball past the rim of the plate: no touch, no ghost.
#[test]
fn a_fast_ball_that_passes_is_not_touched() {
    for offset in [0.006, 0.02, 0.3] {
        let mut world = world(0.0, 0.5);
        let plate = Shape::Cuboid {
            half: Vec3::new(0.5, 0.5, 5e-4),
        };
        world.add_body(&BodyDesc::fixed(plate, Vec3::ZERO)).unwrap();
        let mut ball = BodyDesc::dynamic(
            Shape::Sphere { radius: 0.005 },
            Vec3::new(0.5 + offset, 0.1, 3.0),
        );
        ball.velocity = Vec3::new(0.0, 0.0, -1000.0);
        let ball = world.add_body(&ball).unwrap();
        world.step(H).unwrap();
        let state = world.body_state(ball).unwrap();
        assert_eq!(state.velocity, Vec3::new(0.0, 0.0, -1000.0), "{offset}");
    }
}

/// Two balls that meet aslant at high speed: the elastic impact in closed form, at a step that carries them past each other.
#[test]
fn a_fast_impact_of_two_balls_is_exact() {
    let mut world = world(0.0, 1.0);
    let r = 0.05;
    let shape = || Shape::Sphere { radius: r };
    let still = world
        .add_body(&BodyDesc::dynamic(shape(), Vec3::ZERO))
        .unwrap();
    let across = 0.06;
    let mut fast = BodyDesc::dynamic(shape(), Vec3::new(-1.0, across, 0.0));
    fast.velocity = Vec3::X * 200.0;
    fast.angular_velocity = Vec3::Z * 40.0;
    let fast = world.add_body(&fast).unwrap();
    world.step(H).unwrap();
    // Centre line at the impact: from the still ball to the fast one.
    let n = Vec3::new(-(4.0 * r * r - across * across).sqrt(), across, 0.0) / (2.0 * r);
    let u = n * (Vec3::X * 200.0).dot(n);
    let near = |x: Vec3, y: Vec3| (x - y).length() < 1e-3;
    let (a, b) = (
        world.body_state(still).unwrap(),
        world.body_state(fast).unwrap(),
    );
    assert!(near(a.velocity, u), "{} {u}", a.velocity);
    assert!(near(b.velocity, Vec3::X * 200.0 - u), "{}", b.velocity);
    let time = (1.0 + n.x * 2.0 * r) / 200.0;
    assert!(
        near(a.position, u * (H - time)),
        "{} {}",
        a.position,
        u * (H - time)
    );
}

/// A sphere of 0.5 m dropped from 1.5 m, h = 0.01: the impact is reported at √(2/g), and it never sinks in.
#[test]
fn bs_02_the_step_knows_the_time_of_impact() {
    let mut world = world(9.81, 0.3);
    world
        .add_body(&BodyDesc::fixed(
            Shape::HalfSpace { normal: Vec3::Z },
            Vec3::ZERO,
        ))
        .unwrap();
    let ball = world
        .add_body(&BodyDesc::dynamic(
            Shape::Sphere { radius: 0.5 },
            Vec3::Z * 1.5,
        ))
        .unwrap();
    let mut first = None;
    for _ in 0..100 {
        let report = world.step(0.01).unwrap();
        assert!(report.penetration <= 1e-9);
        let z = world.body_state(ball).unwrap().position.z;
        assert!(z >= 0.5 - 1e-9);
        let impact = world.events().iter().find(|e| e.kind == EventKind::Impact);
        first = first.or(impact.map(|e| e.time));
    }
    let exact = (2.0 / 9.81_f64).sqrt();
    assert!((first.unwrap() - exact).abs() < 1e-9, "{first:?} {exact}");
}
