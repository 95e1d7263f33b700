//! A steady step allocates nothing: the scratch of one step serves the next.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

mod support;

use support::{cuboid, floor, solid, sphere};
use tippe::{
    IterativeParams, JointDesc, JointKind, Method, Pose, SequentialParams, Sleeping, Vec3, World,
};

const DT: f64 = 1.0 / 60.0;

/// Towers of cubes, a ball that rolls, a chain that swings: resting, sliding and jointed islands.
fn scene(method: Method) -> World {
    let mut world = World::new(method);
    world.add_body(&floor()).unwrap();
    for tower in 0..3 {
        for i in 0..5 {
            let at = Vec3::new(3.0 * f64::from(tower), 0.0, 0.5 + f64::from(i));
            world
                .add_body(&solid(cuboid(0.5, 0.5, 0.5), 1.0, at))
                .unwrap();
        }
    }
    let mut ball = solid(sphere(0.2), 1.0, Vec3::new(0.0, 5.0, 0.2));
    ball.velocity = Vec3::new(0.1, 0.0, 0.0);
    ball.angular_velocity = Vec3::new(0.0, 0.5, 0.0);
    world.add_body(&ball).unwrap();
    let mut last = None;
    for i in 0..5 {
        let at = Vec3::new(-3.0, 0.0, 3.9 - 0.2 * f64::from(i));
        let bob = world.add_body(&solid(sphere(0.05), 1.0, at)).unwrap();
        let place = Pose::from_position(if last.is_none() {
            Vec3::new(-3.0, 0.0, 4.0)
        } else {
            Vec3::new(0.0, 0.0, -0.1)
        });
        let end = Pose::from_position(Vec3::new(0.0, 0.0, 0.1));
        let joint = JointDesc::new(JointKind::Ball, last, place, bob, end);
        world.add_joint(&joint).unwrap();
        last = Some(bob);
    }
    if let Some(end) = last {
        world
            .set_velocity(end, Vec3::new(0.0, 0.3, 0.0), Vec3::ZERO)
            .unwrap();
    }
    world
}

fn allocations(world: &mut World, settle: usize, steps: usize) -> u64 {
    for _ in 0..settle {
        world.step(DT).unwrap();
    }
    let info = allocation_counter::measure(|| {
        for _ in 0..steps {
            world.step(DT).unwrap();
        }
    });
    info.count_total
}

#[test]
fn a_steady_step_allocates_nothing() {
    let methods = [
        Method::Sequential(SequentialParams::default()),
        Method::Iterative(IterativeParams::default()),
    ];
    for method in methods {
        let name = method.name();
        let mut world = scene(method);
        assert_eq!(allocations(&mut world, 300, 30), 0, "{name}");
        world.set_sleeping(Some(Sleeping::default())).unwrap();
        assert_eq!(allocations(&mut world, 60, 30), 0, "{name}, towers asleep");
    }
}
