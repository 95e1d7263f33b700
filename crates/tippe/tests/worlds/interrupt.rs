//! Interrupted steps: whatever look ends them, the world is as it was, and the step can be taken again with the same bits.

use crate::support;

use std::time::{Duration, Instant};
use support::{G, add, cuboid, floor, solid, sphere, world};
use tippe::articulated::{Joint, LinkDesc};
use tippe::articulation::{ArticulationDesc, LinkBodyDesc};
use tippe::joint::{JointDesc, JointKind};
use tippe::{
    BodyDesc, BodyKind, Interrupt, IterativeParams, Method, Motion, Pose, Sleeping, StepError,
    Surface, Vec3, World,
};

/// A stack with a ball thrown at it, a chain of three links with a heavy end that drags over the floor, and a tree.
fn hard(method: Method) -> World {
    let mut world = world(G, Surface::new(0.6, 0.3));
    world.set_method(method).expect("a value");
    add(&mut world, &floor());
    for i in 0..3 {
        let at = Vec3::new(0.01 * f64::from(i), 0.0, 0.1 + 0.2 * f64::from(i));
        add(
            &mut world,
            &solid(cuboid(0.1, 0.1, 0.1), 1.0 + f64::from(i), at),
        );
    }
    add(
        &mut world,
        &BodyDesc {
            velocity: Vec3::new(8.0, 0.0, 0.0),
            ..solid(sphere(0.1), 5.0, Vec3::new(-0.6, 0.02, 0.3))
        },
    );
    let mut before = None;
    for i in 0..3 {
        let x = 2.0 + 0.25 * f64::from(i);
        let mass = if i == 2 { 50.0 } else { 0.5 };
        let link = add(
            &mut world,
            &solid(cuboid(0.1, 0.05, 0.05), mass, Vec3::new(x, 0.0, 0.06)),
        );
        let at = |x: f64| Pose::from_position(Vec3::X * x);
        let (a, frame) = match before {
            None => (None, Pose::from_position(Vec3::new(1.875, 0.0, 0.06))),
            Some(a) => (Some(a), at(0.125)),
        };
        let joint = JointDesc::new(JointKind::Ball, a, frame, link, at(-0.125));
        world.add_joint(&joint).expect("a value");
        before = Some(link);
    }
    let mass = sphere(0.1).mass_properties(1000.0);
    let place = Pose::from_position(Vec3::new(0.0, 2.0, 0.1));
    let mut link = LinkBodyDesc::new(LinkDesc::new(None, Joint::Free, place, mass));
    link.shapes = vec![sphere(0.1).into()];
    let tree = ArticulationDesc {
        links: vec![link],
        ..ArticulationDesc::default()
    };
    world.add_articulation(&tree).expect("a value");
    world
}

/// Interrupts the next step at its first look, at one so many later, and so on until none is left; returns how many there were.
fn at_looks(every: usize, world: &World, dt: f64, what: &str) -> u64 {
    let before = world.hash();
    let mut straight = world.clone();
    straight.step(dt).expect("a value");
    for looks in (0..).step_by(every) {
        assert!(looks < 20_000, "{what}: a step looks too often");
        let mut tried = world.clone();
        tried.set_interrupt(Some(Interrupt::after_looks(looks)));
        match tried.step(dt) {
            Ok(_) => {
                assert_eq!(tried.hash(), straight.hash(), "{what}");
                return looks;
            }
            Err(error) => {
                assert_eq!(error, StepError::Interrupted, "{what}");
                assert_eq!(tried.hash(), before, "{what}: look {looks}");
                // Now and then: the step can be taken again, with the same bits.
                if looks % (16 * every as u64) == 0 {
                    tried.set_interrupt(None);
                    tried.step(dt).expect("a value");
                    assert_eq!(tried.hash(), straight.hash(), "{what}: after look {looks}");
                }
            }
        }
    }
    unreachable!()
}

#[test]
fn a_step_can_be_interrupted_at_every_look_and_leaves_the_world_as_it_was() {
    // In release every look, else one of several: a step has hundreds of them.
    let iterative = Method::Iterative(IterativeParams::default());
    for (name, method, few) in [
        ("sequential", Method::default(), 3),
        ("iterative", iterative, 17),
    ] {
        let every = if cfg!(debug_assertions) { few } else { 1 };
        let mut world = hard(method);
        let mut looks = 0;
        for k in 0..6 {
            if k % 5 == 0 {
                looks += at_looks(every, &world, 0.01, &format!("{name}, step {k}"));
            }
            world.step(0.01).expect("a value");
        }
        println!("{name}: {looks} looks");
        assert!(looks > 40, "{name}: {looks} looks");
    }
}

#[test]
fn threads_look_too() {
    let mut world = world(G, Surface::new(0.6, 0.3));
    add(&mut world, &floor());
    for i in 0..24 {
        let at = Vec3::new(f64::from(i / 4), 0.0, 0.1 + 0.2 * f64::from(i % 4));
        add(&mut world, &solid(cuboid(0.1, 0.1, 0.1), 1.0, at));
    }
    world.set_threads(3).expect("a value");
    for _ in 0..3 {
        world.step(0.01).expect("a value");
    }
    // Threads race for looks: how many there are is not the same each time.
    let before = world.hash();
    for looks in 0..60 {
        let mut tried = world.clone();
        tried.set_interrupt(Some(Interrupt::after_looks(looks)));
        if tried.step(0.01).is_err() {
            assert_eq!(tried.hash(), before, "look {looks}");
        }
    }
}

#[test]
fn an_interrupted_step_wakes_nobody() {
    let mut world = world(G, Surface::new(0.6, 0.0));
    world
        .set_sleeping(Some(Sleeping {
            speed: 1e-2,
            time: 0.1,
        }))
        .expect("a value");
    add(&mut world, &floor());
    add(
        &mut world,
        &solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::Z * 0.1),
    );
    let pusher = BodyDesc {
        kind: BodyKind::Kinematic(Motion::Constant {
            velocity: Vec3::X,
            angular_velocity: Vec3::ZERO,
        }),
        ..BodyDesc::fixed(cuboid(0.1, 0.1, 0.1), Vec3::new(-1.5, 0.0, 0.1))
    };
    add(&mut world, &pusher);
    let asleep = |w: &World| {
        w.body_ids()
            .filter(|id| w.is_asleep(*id).expect("a value"))
            .count()
    };
    let mut woke = 0;
    for _ in 0..150 {
        let mut straight = world.clone();
        straight.step(0.01).expect("a value");
        if asleep(&straight) < asleep(&world) {
            woke += 1;
            at_looks(1, &world, 0.01, "the step that wakes");
        }
        world = straight;
    }
    assert!(woke > 0);
}

/// What people wait for: a step that takes long ends soon after it was asked to.
#[test]
fn an_interrupt_from_another_thread_ends_the_step() {
    let mut world = world(G, Surface::new(0.6, 0.3));
    add(&mut world, &floor());
    for i in 0..400 {
        let at = Vec3::new(
            0.201 * f64::from(i % 20),
            0.0,
            0.1 + 0.2 * f64::from(i / 20),
        );
        add(&mut world, &solid(cuboid(0.1, 0.1, 0.1), 1.0, at));
    }
    let before = world.hash();
    let interrupt = Interrupt::new();
    world.set_interrupt(Some(interrupt.clone()));
    let asked = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1));
        interrupt.ask();
        Instant::now()
    });
    let result = world.step(1.0 / 30.0);
    let asked = asked.join().expect("a value");
    assert_eq!(result.err(), Some(StepError::Interrupted));
    assert_eq!(world.hash(), before);
    assert!(
        asked.elapsed() < Duration::from_secs(5),
        "{:?}",
        asked.elapsed()
    );
    // And no later one begins.
    assert_eq!(world.step(0.01).err(), Some(StepError::Interrupted));
    world.set_interrupt(None);
    assert!(world.step(0.01).is_ok());
}
