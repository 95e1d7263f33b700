//! The same bits, always: golden hashes by scene, insertion and removal, restored runs, reading without changing.
//!
//! `data/hashes.txt` holds one line for each scene: name, steps, hash of the motion alone, hash of the world. Debug and release builds
//! check the same file. It changes only in a commit that says why: if the last column alone changes, so did what the state remembers.

use crate::geometry_support;
use crate::support;

use geometry_support::Random;
use std::fmt::Write;
use support::{
    G, add, block_on_slope, cuboid, floor, rough, run, slope, solid, sphere, stack, state, tilt,
    world,
};
use tippe::joint::{JointDesc, JointKind, Motor, Spring};
use tippe::math::rotation;
use tippe::{
    BodyDesc, BodyId, BodyKind, BodyState, Drag, Motion, Pose, Shape, ShapeDesc, Surface, Vec3,
    World,
};

/// A ball with spin that bounces, beside one that is thrown aslant.
fn bounce() -> World {
    let mut world = world(G, Surface::new(0.3, 0.7));
    add(&mut world, &floor());
    for (x, v) in [(0.0, Vec3::ZERO), (2.0, Vec3::new(1.0, 0.5, -1.0))] {
        add(
            &mut world,
            &BodyDesc {
                velocity: v,
                angular_velocity: Vec3::new(3.0, -20.0, 5.0),
                ..solid(sphere(0.1), 1.0, Vec3::new(x, 0.0, 1.0))
            },
        );
    }
    world
}

fn ten_boxes() -> World {
    let mut world = world(G, Surface::new(0.5, 0.0));
    stack(&mut world, 10);
    world
}

/// Blocks side by side on a slope: at rest, sliding down, thrown up, one on its edge.
fn incline() -> World {
    let angle = 0.4;
    let mut world = world(G, rough(0.5, 0.35));
    add(&mut world, &slope(angle));
    for i in 0..4 {
        let mut desc = block_on_slope(angle);
        desc.pose.position += Vec3::Y * f64::from(i);
        desc.velocity = tilt(angle) * Vec3::X * [0.0, 1.0, -2.0, 0.0][i as usize];
        if i == 3 {
            desc.pose.position += Vec3::Z * 0.3;
            desc.pose.rotation = tilt(0.9);
        }
        add(&mut world, &desc);
    }
    world
}

/// Four walls that lean outwards around a hole, over a floor.
fn funnel(world: &mut World) {
    add(world, &floor());
    for k in 0..4 {
        let turn = rotation::exp(Vec3::Z * (f64::from(k) * std::f64::consts::FRAC_PI_2));
        add(
            world,
            &BodyDesc {
                pose: Pose::new(turn * Vec3::new(0.95, 0.0, 1.2), turn * tilt(-0.8)),
                ..BodyDesc::fixed(cuboid(1.0, 2.0, 0.05), Vec3::ZERO)
            },
        );
    }
}

/// Boxes with random orientations that fall into the funnel.
fn boxes_in_funnel(count: u32) -> World {
    let mut world = world(G, Surface::new(0.3, 0.2));
    funnel(&mut world);
    let mut random = Random(60);
    for i in 0..count {
        let cell = Vec3::new(f64::from(i % 4), f64::from(i / 4 % 4), f64::from(i / 16));
        let place = (cell - Vec3::new(1.5, 1.5, 0.0)) * 0.36 + Vec3::Z * 1.8;
        add(
            &mut world,
            &BodyDesc {
                pose: Pose::new(place, random.rotation()),
                ..BodyDesc::dynamic(cuboid(0.1, 0.08, 0.12), Vec3::ZERO)
            },
        );
    }
    world
}

/// All shapes, a compound, drag, rolling friction, slip speed, a shaking table and a turning bar.
fn mixture() -> World {
    let surface = Surface {
        friction_rolling: 0.01,
        friction_spinning: 0.01,
        ..rough(0.6, 0.4)
    };
    let mut world = world(
        G,
        Surface {
            restitution: 0.3,
            ..surface
        },
    );
    let kinematic = |motion: Motion, shape: Shape, at: Vec3| BodyDesc {
        kind: BodyKind::Kinematic(motion),
        ..BodyDesc::dynamic(shape, at)
    };
    let shake = Motion::Sine {
        amplitude: Vec3::new(0.02, 0.0, 0.01),
        rotation_amplitude: Vec3::Y * 0.05,
        frequency: 3.0,
        phase: 0.3,
    };
    let turn = Motion::Constant {
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::Z,
    };
    add(
        &mut world,
        &kinematic(shake, cuboid(2.0, 2.0, 0.1), Vec3::ZERO),
    );
    add(
        &mut world,
        &kinematic(turn, cuboid(0.8, 0.1, 0.1), Vec3::Z * 0.25),
    );
    let mut random = Random(9);
    for i in 0..30_usize {
        let z = 0.6 + 0.25 * (i / 3) as f64;
        let mut desc = BodyDesc::dynamic(random.shape(i % 3), Vec3::ZERO);
        desc.shapes[0].shape = match &desc.shapes[0].shape {
            Shape::Sphere { radius } => sphere(0.2 * radius),
            Shape::Cuboid { half } => cuboid(0.2 * half.x, 0.2 * half.y, 0.2 * half.z),
            Shape::Capsule {
                half_length,
                radius,
            } => Shape::Capsule {
                half_length: 0.2 * half_length,
                radius: 0.2 * radius,
            },
            _ => unreachable!("not drawn"),
        };
        if i % 5 == 0 {
            desc.shapes.push(ShapeDesc {
                pose: Pose::from_position(Vec3::X * 0.15),
                ..ShapeDesc::from(sphere(0.05))
            });
        }
        if i % 7 == 0 {
            desc.drag = Some(Drag::Automatic {
                radius: 0.1,
                coefficient: 0.5,
                viscosity: 1e-3,
                density: 1.2,
            });
        }
        desc.pose = Pose::new(
            Vec3::new((i % 3) as f64 * 0.5 - 0.5, 0.0, z),
            random.rotation(),
        );
        add(&mut world, &desc);
    }
    world
}

/// A hanging chain with one joint of each kind, a motor, a spring and limits, over a floor.
fn chain() -> World {
    let mut world = world(G, Surface::new(0.5, 0.2));
    add(&mut world, &floor());
    let kinds = [
        JointKind::Hinge,
        JointKind::Ball,
        JointKind::Slider,
        JointKind::Universal,
        JointKind::Fixed,
        JointKind::Cylindrical,
        JointKind::Distance { min: 0.0, max: 0.1 },
    ];
    let mut above = None;
    for (i, kind) in kinds.into_iter().enumerate() {
        let link = cuboid(0.15, 0.05, 0.05);
        let place = Vec3::new(0.15 + 0.3 * i as f64, 0.0, 1.5);
        let id = add(&mut world, &solid(link, 1.0, place));
        let end = |x: f64| Pose::from_position(Vec3::X * x);
        let mut joint = match above {
            None => JointDesc::new(
                kind,
                None,
                Pose::from_position(Vec3::Z * 1.5),
                id,
                end(-0.15),
            ),
            Some(a) => JointDesc::new(kind, Some(a), end(0.15), id, end(-0.15)),
        };
        if kind == JointKind::Universal {
            // Its two axes cross at a right angle.
            joint.frame_a.rotation = rotation::exp(Vec3::X * std::f64::consts::FRAC_PI_2);
        }
        if kind == JointKind::Hinge {
            joint.rotation.motor = Some(Motor::Velocity {
                target: 1.0,
                max_force: 5.0,
            });
        }
        if kind.slides() {
            joint.translation.limits = Some((-0.05, 0.05));
            joint.translation.spring = Some(Spring {
                rest: 0.0,
                stiffness: 200.0,
                damping: 2.0,
            });
        }
        world.add_joint(&joint).expect("a good joint");
        above = Some(id);
    }
    world
}

fn scenes() -> [(&'static str, usize, World); 6] {
    [
        ("bounce", 300, bounce()),
        ("stack", 120, ten_boxes()),
        ("incline", 200, incline()),
        ("funnel", 300, boxes_in_funnel(60)),
        ("mixture", 200, mixture()),
        ("chain", 200, chain()),
    ]
}

/// FNV-1a over the bits of all poses and velocities.
fn motion_hash(world: &World) -> u64 {
    let numbers = |s: BodyState| {
        let vectors = [s.position, s.velocity, s.angular_velocity].map(|v| v.to_array());
        vectors.into_iter().flatten().chain(s.rotation.to_array())
    };
    let all = world.body_ids().flat_map(|id| numbers(state(world, id)));
    all.flat_map(f64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |h: u64, byte| {
            (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
}

#[test]
fn golden_hashes() {
    let mut found = String::new();
    for (name, steps, mut world) in scenes() {
        run(&mut world, 0.01, steps);
        let (motion, whole) = (motion_hash(&world), world.hash());
        writeln!(found, "{name} {steps} {motion:016x} {whole:016x}").unwrap();
    }
    assert_eq!(
        found,
        include_str!("../data/hashes.txt"),
        "results changed; if that is meant, data/hashes.txt becomes\n{found}"
    );
}

#[test]
fn same_bits_after_restore_and_whatever_is_read() {
    let mut straight = boxes_in_funnel(24);
    let mut restored = straight.clone();
    let mut watched = straight.clone();
    for k in 0..120 {
        run(&mut straight, 0.01, 1);
        if k % 10 == 0 {
            restored = World::restore(&restored.snapshot()).unwrap();
        }
        run(&mut restored, 0.01, 1);
        run(&mut watched, 0.01, 1);
        let _ = (
            watched.energy(),
            watched.snapshot(),
            watched.contacts().len(),
        );
        let _ = watched.clone().step(0.02);
        assert_eq!(straight.hash(), restored.hash(), "step {k}");
        assert_eq!(straight.hash(), watched.hash(), "step {k}");
    }
}

fn states(world: &World) -> Vec<BodyState> {
    world.body_ids().map(|id| state(world, id)).collect()
}

#[test]
fn bodies_that_came_and_went_leave_no_trace_in_the_motion() {
    let descs: Vec<BodyDesc> = {
        let mut random = Random(2);
        (0..12)
            .map(|i| BodyDesc {
                pose: Pose::new(Vec3::Z * (0.3 + 0.3 * f64::from(i)), random.rotation()),
                ..BodyDesc::dynamic(cuboid(0.1, 0.08, 0.12), Vec3::ZERO)
            })
            .collect()
    };
    let mut plain = world(G, Surface::new(0.4, 0.2));
    add(&mut plain, &floor());
    for d in &descs {
        add(&mut plain, d);
    }
    // The same bodies in the same slots, but the slots had other tenants before.
    let mut used = world(G, Surface::new(0.4, 0.2));
    let gone: Vec<BodyId> = (0..6).map(|_| add(&mut used, &descs[0])).collect();
    for id in [3, 0, 5, 1, 4, 2] {
        used.remove_body(gone[id]).unwrap();
    }
    add(&mut used, &floor());
    for d in &descs {
        add(&mut used, d);
    }
    // And one far away that leaves in the middle of the run.
    let far = add(
        &mut used,
        &BodyDesc::dynamic(sphere(0.1), Vec3::new(50.0, 0.0, 0.1)),
    );
    run(&mut plain, 0.01, 60);
    run(&mut used, 0.01, 60);
    used.remove_body(far).unwrap();
    assert_eq!(states(&plain), states(&used));
    run(&mut plain, 0.01, 60);
    run(&mut used, 0.01, 60);
    assert_eq!(states(&plain), states(&used));
    // The hash knows the difference: ids of the two worlds are not the same.
    assert_ne!(plain.hash(), used.hash());
}

#[test]
fn hash_sees_every_number_that_matters() {
    let world = bounce();
    let id = world.body_ids().nth(1).unwrap();
    let hash = world.hash();
    assert_eq!(world.clone().hash(), hash);
    let differs = |change: &dyn Fn(&mut World)| {
        let mut other = world.clone();
        change(&mut other);
        assert_ne!(other.hash(), hash);
    };
    let s = state(&world, id);
    let next = f64::from_bits(s.position.z.to_bits() + 1);
    differs(&|w| {
        w.set_pose(id, Pose::new(Vec3::new(0.0, 0.0, next), s.rotation))
            .unwrap()
    });
    differs(&|w| {
        w.set_velocity(id, s.velocity + Vec3::X * 1e-300, s.angular_velocity)
            .unwrap()
    });
    differs(&|w| w.apply_torque(id, Vec3::X).unwrap());
    differs(&|w| w.remove_body(id).unwrap());
    differs(&|w| {
        run(w, 1e-9, 1);
    });
}
