//! A steady step allocates nothing: the scratch of one step serves the next.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

mod support;

use support::{cuboid, floor, solid, sphere};
use tippe::articulated::{Joint, LinkDesc};
use tippe::{
    ArticulationDesc, IterativeParams, JointDesc, JointKind, LinkBodyDesc, Method, Pose,
    SequentialParams, Sleeping, Vec3, World,
};

const DT: f64 = 1.0 / 60.0;

/// Towers of cubes, a ball that rolls, a chain that swings: resting, sliding and jointed islands.
fn scene(method: Method) -> World {
    let mut world = World::new(method).unwrap();
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

/// A tree of `count` boxes hinged in a row, the first free or hinged to the world.
fn tree(world: &mut World, count: usize, place: Vec3, first: Joint) {
    let shape = cuboid(0.1, 0.1, 0.05);
    let mass = shape.mass_properties(1000.0);
    let links = (0..count).map(|i| {
        let (place, joint) = if i == 0 {
            (place, first)
        } else {
            (Vec3::X * 0.21, Joint::Revolute { axis: Vec3::Y })
        };
        let pose = Pose::from_position(place);
        let mut link = LinkBodyDesc::new(LinkDesc::new(i.checked_sub(1), joint, pose, mass));
        link.shapes.push(shape.clone().into());
        link
    });
    let desc = ArticulationDesc {
        links: links.collect(),
        ..ArticulationDesc::default()
    };
    world.add_articulation(&desc).unwrap();
}

#[test]
fn ab_09_a_steady_step_with_trees_allocates_nothing() {
    let methods = [
        Method::Sequential(SequentialParams::default()),
        Method::Iterative(IterativeParams::default()),
    ];
    for method in methods {
        let name = method.name();
        let mut world = World::new(method).unwrap();
        world.add_body(&floor()).unwrap();
        // One that swings, one that rests with few contacts, and a tower with many.
        let hinge = Joint::Revolute { axis: Vec3::Y };
        tree(&mut world, 3, Vec3::new(0.0, 0.0, 3.0), hinge);
        tree(&mut world, 2, Vec3::new(0.0, 3.0, 0.05), Joint::Free);
        for k in 0..8 {
            let place = Vec3::new(0.0, 6.0, 0.05 + 0.1 * f64::from(k));
            tree(&mut world, 1, place, Joint::Free);
        }
        let settle = if cfg!(debug_assertions) { 60 } else { 200 };
        assert_eq!(allocations(&mut world, settle, 20), 0, "{name}");
    }
}
