//! The world as users hold it: bodies come and go, filters, sensors, events, prescribed motion, loads, forces, failure, snapshots.

use crate::geometry_support;
use crate::support;

use geometry_support::Random;
use support::{
    G, add, below, cuboid, floor, near, near_vec, run, solid, sphere, stack, state, world,
};
use tippe::dynamics::energy;
use tippe::joint::{Freedom, JointDesc, JointKind, Motor, Spring};
use tippe::{
    BodyDesc, BodyId, BodyKind, BodyState, Drag, Event, EventKind, Filter, METHOD_NAMES, MassSpec,
    Mat3, Method, Motion, Pose, SensorDesc, SensorKind, Shape, ShapeDesc, SnapshotError, StepError,
    Surface, UnknownBody, Vec3, World,
};

fn ball(x: f64, z: f64) -> BodyDesc {
    solid(sphere(0.1), 1.0, Vec3::new(x, 0.0, z))
}

#[test]
fn slots_are_reused_lowest_first_and_old_ids_name_nothing() {
    let mut world = World::default();
    let ids: Vec<BodyId> = (0..5)
        .map(|i| add(&mut world, &ball(f64::from(i), 1.0)))
        .collect();
    assert_eq!(
        ids.iter().map(|id| id.index()).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4]
    );
    for k in [3, 1] {
        world.remove_body(ids[k]).unwrap();
    }
    assert_eq!(world.body_count(), 3);
    assert_eq!(
        world.body_ids().collect::<Vec<_>>(),
        [ids[0], ids[2], ids[4]]
    );

    // Removed ids are refused everywhere, also after another body moved in.
    let refused = |world: &mut World, old: BodyId| {
        assert_eq!(world.body(old).err(), Some(UnknownBody));
        assert_eq!(world.body_state(old).err(), Some(UnknownBody));
        assert_eq!(world.pose(old), Err(UnknownBody));
        assert_eq!(world.remove_body(old), Err(UnknownBody));
        assert_eq!(
            world.set_pose(old, Pose::IDENTITY).unwrap_err().field,
            "body"
        );
        assert_eq!(
            world.set_velocity(old, Vec3::X, Vec3::X).unwrap_err().field,
            "body"
        );
        assert_eq!(
            world.apply_force(old, Vec3::X, Vec3::X).unwrap_err().field,
            "body"
        );
        assert_eq!(world.apply_torque(old, Vec3::X).unwrap_err().field, "body");
        assert_eq!(
            world
                .apply_impulse(old, Vec3::X, Vec3::X)
                .unwrap_err()
                .field,
            "body"
        );
    };
    refused(&mut world, ids[1]);
    let new: Vec<BodyId> = (0..3).map(|_| add(&mut world, &ball(9.0, 9.0))).collect();
    assert_eq!(
        new.iter().map(|id| id.index()).collect::<Vec<_>>(),
        [1, 3, 5]
    );
    assert!(!new.contains(&ids[1]) && !new.contains(&ids[3]));
    refused(&mut world, ids[1]);
    refused(&mut world, ids[3]);
    // An id of a larger world is refused too.
    refused(&mut World::default(), ids[0]);
}

#[test]
fn bodies_change_between_steps() {
    let mut world = world(G, Surface::new(0.5, 0.0));
    let ground = add(&mut world, &floor());
    let lower = add(
        &mut world,
        &solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::Z * 0.1),
    );
    let upper = add(
        &mut world,
        &solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::Z * 0.3),
    );
    run(&mut world, 0.01, 10);
    near("upper stands", state(&world, upper).position.z, 0.3, 1e-9);
    // The lower one vanishes: the upper one falls from where it was, free at once.
    world.remove_body(lower).unwrap();
    run(&mut world, 0.01, 10);
    near(
        "upper falls",
        state(&world, upper).position.z,
        0.3 - 0.5 * G * 0.01,
        1e-9,
    );
    // The floor moves away, gravity turns round, velocities are set.
    world
        .set_pose(ground, Pose::from_position(Vec3::Z * -5.0))
        .unwrap();
    world.set_gravity(Vec3::Z).unwrap();
    world.set_velocity(upper, Vec3::X, Vec3::ZERO).unwrap();
    world.set_pose(upper, Pose::from_position(Vec3::Z)).unwrap();
    run(&mut world, 0.1, 10);
    near_vec(
        "upper rises",
        state(&world, upper).position,
        Vec3::new(1.0, 0.0, 1.5),
        1e-12,
    );
    assert!(world.set_gravity(Vec3::NAN).is_err());
}

#[test]
fn order_of_adding_bodies_does_not_change_their_motion() {
    // Two towers far apart; built in either order each one moves the same way.
    let tower = |x: f64| -> Vec<BodyDesc> {
        (0..3)
            .map(|i| {
                let place = Vec3::new(x + 0.03 * f64::from(i), 0.0, 0.11 + 0.22 * f64::from(i));
                solid(cuboid(0.1, 0.1, 0.1), 1.0, place)
            })
            .collect()
    };
    let (left, right) = (tower(-4.0), tower(4.0));
    let finish = |first: &[BodyDesc], second: &[BodyDesc]| {
        let mut world = world(G, Surface::new(0.5, 0.1));
        add(&mut world, &floor());
        for desc in first.iter().chain(second) {
            add(&mut world, desc);
        }
        run(&mut world, 0.01, 100);
        let states = world.body_ids().skip(1).map(|id| state(&world, id));
        let (a, b): (Vec<_>, Vec<_>) = states.partition(|s| s.position.x < 0.0);
        (a, b)
    };
    assert_eq!(finish(&left, &right), finish(&right, &left));
}

#[test]
fn filters_decide_who_touches_whom() {
    let filtered = |mut desc: BodyDesc, groups: u32, mask: u32| {
        desc.shapes[0].filter = Filter { groups, mask };
        desc
    };
    let mut world = world(G, Surface::new(0.5, 0.0));
    add(&mut world, &filtered(floor(), 0b001, u32::MAX));
    let meets = add(&mut world, &filtered(ball(0.0, 0.2), 0b010, 0b001));
    // Its mask does not name the floor.
    let passes = add(&mut world, &filtered(ball(1.0, 0.2), 0b010, 0b100));
    // The floor is willing, and so is the ball, but its mate's mask does not name it: they pass through each other.
    let mate = add(&mut world, &filtered(ball(0.0, 0.5), 0b100, 0b001));
    // One of its two shapes touches nothing; it stands on the other.
    let mut two = filtered(ball(2.0, 0.2), 0b010, 0);
    two.shapes.push(ball(2.0, 0.2).shapes[0].clone());
    let stands = add(&mut world, &two);
    // Named by nobody and naming nobody.
    let alone = add(&mut world, &filtered(ball(3.0, 0.2), 0b010, 0));
    run(&mut world, 0.01, 100);
    near(
        "stands on its second shape",
        state(&world, stands).position.z,
        0.1,
        1e-6,
    );
    near(
        "meets the floor",
        state(&world, meets).position.z,
        0.1,
        1e-6,
    );
    near(
        "through the other ball",
        state(&world, mate).position.z,
        0.1,
        1e-6,
    );
    let fallen = 0.2 - 0.5 * G;
    for id in [passes, alone] {
        near(
            "through the floor",
            state(&world, id).position.z,
            fallen,
            1e-9,
        );
    }
    assert!(Filter::default().allows(Filter::default()));
}

fn kinds(world: &World) -> Vec<(EventKind, usize, usize)> {
    let entry = |e: &Event| (e.kind, e.body_a.index(), e.body_b.index());
    world.events().iter().map(entry).collect()
}

#[test]
fn what_passes_a_sensor_within_a_step_is_noticed_at_its_time() {
    let methods = METHOD_NAMES.iter().filter_map(|n| Method::from_name(n));
    for method in methods {
        let mut world = World::new(method.clone()).unwrap();
        let mut gate = BodyDesc::fixed(cuboid(0.01, 1.0, 1.0), Vec3::ZERO);
        gate.shapes[0].sensor = true;
        let gate = add(&mut world, &gate);
        let mut bullet = solid(sphere(0.01), 1.0, Vec3::new(-0.5, 0.0, 0.0));
        bullet.velocity = Vec3::new(300.0, 0.0, 0.0);
        let bullet = add(&mut world, &bullet);
        let report = world.step(0.01).unwrap();
        let name = method.name();
        assert!(report.certified(), "{name}");
        let events = world.events().to_vec();
        let kinds: Vec<_> = events
            .iter()
            .map(|e| (e.kind, e.body_a, e.body_b))
            .collect();
        let wanted = [EventKind::SensorBegin, EventKind::SensorEnd].map(|k| (k, gate, bullet));
        assert_eq!(kinds, wanted, "{name}");
        near(name, events[0].time, (0.5 - 0.02) / 300.0, 1e-12);
        near(name, events[1].time, (0.5 + 0.02) / 300.0, 1e-12);
        near(name, events[0].point.x, -0.01, 1e-9);
        // A sensor that is carried past tells the same.
        let swift = Motion::Constant {
            velocity: Vec3::new(-100.0, 0.0, 0.0),
            angular_velocity: Vec3::ZERO,
        };
        // Its motion began with the world: by now it is a metre farther.
        let mut carried = BodyDesc::fixed(sphere(0.1), Vec3::new(2.0, 5.0, 0.0));
        carried.kind = BodyKind::Kinematic(swift);
        carried.shapes[0].sensor = true;
        let carried = add(&mut world, &carried);
        let post = add(&mut world, &BodyDesc::fixed(sphere(0.1), Vec3::Y * 5.0));
        let start = world.time();
        world.step(0.02).unwrap();
        let found: Vec<_> = world
            .events()
            .iter()
            .filter(|e| e.body_a == carried)
            .collect();
        assert_eq!(found.len(), 2, "{name}");
        assert_eq!(found[0].body_b, post);
        near(name, found[0].time - start, 0.008, 1e-10);
        near(name, found[1].time - start, 0.012, 1e-10);
    }
}

#[test]
fn a_sensor_notices_who_is_put_into_it_and_taken_out() {
    let mut world = world(0.0, Surface::new(0.5, 0.0));
    let mut zone = BodyDesc::fixed(sphere(1.0), Vec3::ZERO);
    zone.shapes[0].sensor = true;
    add(&mut world, &zone);
    let id = add(&mut world, &ball(0.0, 3.0));
    let mut told = Vec::new();
    for place in [3.0, 0.5, 0.5, 3.0] {
        world
            .set_pose(id, Pose::from_position(Vec3::Z * place))
            .unwrap();
        let start = world.time();
        run(&mut world, 0.01, 1);
        assert!(world.events().iter().all(|e| e.time == start));
        told.push(world.events().iter().map(|e| e.kind).collect::<Vec<_>>());
    }
    let (begin, end) = (vec![EventKind::SensorBegin], vec![EventKind::SensorEnd]);
    assert_eq!(told, [vec![], begin, vec![], end]);
}

#[test]
fn ids_of_another_family_are_refused() {
    let make = || {
        let mut world = world(G, Surface::new(0.5, 0.0));
        let body = add(&mut world, &ball(0.0, 1.0));
        let other = add(&mut world, &ball(0.0, 2.0));
        let joint = JointDesc::hinge(&world, Some(body), other, Vec3::Z * 1.5, Vec3::X).unwrap();
        let joint = world.add_joint(&joint).unwrap();
        let sensor = world
            .add_sensor(SensorDesc {
                name: "pose".into(),
                kind: SensorKind::Pose {
                    body,
                    place: Pose::IDENTITY,
                },
            })
            .unwrap();
        (world, body, joint, sensor)
    };
    let ((mut world, body, joint, sensor), (other, stranger, _, _)) = (make(), make());
    // The same name in both: a family is a guard and no part of it, so that what two runs tell can be compared.
    assert_eq!(body, stranger);
    assert_eq!(other.pose(body), Err(UnknownBody));
    assert!(other.joint(joint).is_err());
    assert!(other.reading(sensor).is_err());
    let refused = world
        .apply_force(stranger, Vec3::X, Vec3::ZERO)
        .unwrap_err();
    assert_eq!(refused.field, "body");
    let refused = world.add_joint(&JointDesc {
        body_b: stranger,
        ..world.joint(joint).unwrap().desc.clone()
    });
    assert_eq!(refused.unwrap_err().field, "body_b");
    // The family goes with clones and snapshots, in joints and sensors too, and tells nothing about the motion.
    let family = [world.clone(), World::restore(&world.snapshot()).unwrap()];
    for mut kin in family {
        assert_eq!(kin.pose(body), world.pose(body));
        assert!(kin.joint(joint).is_ok());
        assert_eq!(kin.reading(sensor), world.reading(sensor));
        assert_eq!(
            kin.joint(joint).unwrap().desc,
            world.joint(joint).unwrap().desc
        );
        kin.step(0.01).unwrap();
        assert!(kin.pose(body).is_ok());
    }
    assert_eq!(world.hash(), other.hash());
    // For files: the same bytes, and a new family.
    assert_eq!(world.bare_snapshot(), other.bare_snapshot());
    let stored = World::restore(&world.bare_snapshot()).unwrap();
    assert_eq!(stored.pose(body), Err(UnknownBody));
    assert_eq!(stored.hash(), world.hash());
    // A changed family is damage.
    let mut bytes = world.snapshot();
    assert_ne!(bytes, other.snapshot());
    bytes[24] ^= 1;
    assert!(World::restore(&bytes).is_err());
}

#[test]
fn bodies_of_several_shapes_enter_several_sensors_once() {
    let mut world = world(0.0, Surface::new(0.5, 0.0));
    let mut pair = solid(sphere(0.1), 1.0, Vec3::ZERO);
    pair.shapes.push(ShapeDesc {
        pose: Pose::from_position(Vec3::X),
        ..ShapeDesc::from(sphere(0.1))
    });
    add(&mut world, &pair);
    for _ in 0..2 {
        let mut zone = BodyDesc::fixed(cuboid(3.0, 3.0, 3.0), Vec3::ZERO);
        zone.shapes[0].sensor = true;
        add(&mut world, &zone);
    }
    let mut log = Vec::new();
    for _ in 0..5 {
        run(&mut world, 0.01, 1);
        log.extend(kinds(&world));
    }
    let mut seen: Vec<_> = log.iter().map(|l| (l.0, l.2)).collect();
    seen.sort_by_key(|s| s.1);
    let begin = |zone: usize| (EventKind::SensorBegin, zone);
    assert_eq!(seen, [begin(1), begin(1), begin(2), begin(2)]);
}

#[test]
fn sensors_report_and_do_not_touch() {
    let mut world = world(G, Surface::new(0.5, 0.0));
    let mut gate = BodyDesc::fixed(cuboid(1.0, 1.0, 0.1), Vec3::Z * 1.0);
    gate.shapes[0].sensor = true;
    let gate = add(&mut world, &gate);
    let id = add(&mut world, &ball(0.0, 1.5));
    let mut log = Vec::new();
    for _ in 0..100 {
        run(&mut world, 0.01, 1);
        log.extend(world.events().to_vec());
        assert!(world.contacts().is_empty());
    }
    let found: Vec<_> = log.iter().map(|e| (e.kind, e.body_a, e.body_b)).collect();
    let pair = |kind| (kind, gate, id);
    assert_eq!(
        found,
        [pair(EventKind::SensorBegin), pair(EventKind::SensorEnd)]
    );
    // In after 0.3 m of fall, out after 0.7 m.
    let times = [0.3_f64, 0.7].map(|d| (2.0 * d / G).sqrt());
    for (found, wanted) in log.iter().map(|e| e.time).zip(times) {
        near("time of crossing", found, wanted, 1e-10);
    }
    // Nothing slowed it.
    near(
        "free fall",
        state(&world, id).position.z,
        1.5 - 0.5 * G,
        1e-12,
    );

    // A sensor weighs nothing.
    let mut desc = solid(sphere(0.1), 2.0, Vec3::ZERO);
    desc.shapes.push(ShapeDesc {
        sensor: true,
        pose: Pose::from_position(Vec3::X),
        ..ShapeDesc::from(sphere(0.5))
    });
    let id = add(&mut world, &desc);
    let body = world.body(id).unwrap();
    assert_eq!((body.mass, body.center), (2.0, Vec3::ZERO));
}

#[test]
fn begin_impact_and_end_events_of_a_bouncing_ball() {
    for h in [0.37, 1.0, 2.2] {
        let mut world = world(G, Surface::new(0.3, 0.6));
        let ground = add(&mut world, &floor());
        let id = add(&mut world, &ball(0.0, 0.1 + h));
        let mut log: Vec<Event> = Vec::new();
        while world.time() < 1.0 {
            run(&mut world, 0.01, 1);
            log.extend(world.events());
        }
        let first: Vec<EventKind> = log.iter().map(|e| e.kind).take(3).collect();
        assert_eq!(first, [EventKind::Begin, EventKind::Impact, EventKind::End]);
        for e in &log {
            assert_eq!((e.body_a, e.body_b), (ground, id));
        }
        // Dropped from h: t = √(2h/g), v = √(2gh).
        let impact = log[1];
        near("time of impact", impact.time, (2.0 * h / G).sqrt(), 1e-12);
        near("speed of impact", impact.speed, (2.0 * G * h).sqrt(), 1e-11);
        // Later impacts follow the parabolas: each flight lasts 2 e v / g.
        let impacts: Vec<&Event> = log.iter().filter(|e| e.kind == EventKind::Impact).collect();
        for w in impacts.windows(2) {
            near("flight", w[1].time - w[0].time, 1.2 * w[0].speed / G, 1e-9);
            near("next speed", w[1].speed, 0.6 * w[0].speed, 1e-9);
        }
    }
}

#[test]
fn events_come_sorted_by_kind_bodies_and_shapes() {
    let mut world = world(G, Surface::new(0.5, 0.5));
    let mut sensing = floor();
    // High enough for bounces to leave it again.
    sensing.shapes.push(ShapeDesc {
        sensor: true,
        pose: Pose::from_position(Vec3::Z * 0.2),
        ..ShapeDesc::from(Shape::HalfSpace { normal: Vec3::Z })
    });
    add(&mut world, &sensing);
    let mut random = Random(4);
    for i in 0..20 {
        let x = f64::from(i % 5) * 0.25;
        add(
            &mut world,
            &ball(x, 0.2 + 0.3 * random.unit() + f64::from(i / 5)),
        );
    }
    let mut seen = [0; 5];
    for _ in 0..200 {
        run(&mut world, 0.01, 1);
        let key = |e: &Event| (e.kind, e.body_a, e.body_b, e.shape_a, e.shape_b);
        let keys: Vec<_> = world.events().iter().map(key).collect();
        assert!(keys.is_sorted(), "{keys:?}");
        for e in world.events() {
            seen[e.kind as usize] += 1;
            assert!(e.time <= world.time() && e.time >= world.time() - 0.01 - 1e-12);
            assert!(e.body_a < e.body_b);
        }
        let contacts: Vec<_> = world
            .contacts()
            .iter()
            .map(|c| (c.body_a, c.body_b, c.feature_id))
            .collect();
        assert!(contacts.is_sorted());
    }
    assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
}

fn moving(motion: Motion) -> BodyDesc {
    BodyDesc {
        kind: BodyKind::Kinematic(motion),
        ..BodyDesc::dynamic(cuboid(1.0, 1.0, 0.1), Vec3::Z * -0.1)
    }
}

/// A block on a kinematic table; steps it and calls `check` with time, table and block.
fn carried(
    motion: Motion,
    seconds: f64,
    mut check: impl FnMut(f64, &BodyState, &BodyState),
) -> World {
    let mut world = world(G, Surface::new(0.8, 0.0));
    let table = add(&mut world, &moving(motion));
    let block = add(
        &mut world,
        &solid(cuboid(0.1, 0.1, 0.1), 2.0, Vec3::Z * 0.1),
    );
    let velocity = state(&world, table).velocity;
    world
        .set_velocity(block, velocity, Vec3::ZERO)
        .expect("a living body");
    while world.time() < seconds - 1e-9 {
        run(&mut world, 0.005, 1);
        check(world.time(), &state(&world, table), &state(&world, block));
    }
    world
}

#[test]
fn kinematic_table_at_constant_velocity_carries_a_block() {
    let velocity = Vec3::new(0.7, -0.2, 0.0);
    let motion = Motion::Constant {
        velocity,
        angular_velocity: Vec3::ZERO,
    };
    let world = carried(motion, 2.0, |t, table, block| {
        near_vec("table", table.position, velocity * t - Vec3::Z * 0.1, 1e-12);
        near_vec("block", block.position, velocity * t + Vec3::Z * 0.1, 1e-9);
        near_vec("speed", block.velocity, velocity, 1e-9);
    });
    near("no work", world.ledger().friction, 0.0, 1e-9);
}

#[test]
fn kinematic_turntable_carries_a_block_round() {
    let spin = Motion::Constant {
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::Z * 0.9,
    };
    let mut world = world(G, Surface::new(0.8, 0.0));
    add(&mut world, &moving(spin));
    let start = Vec3::new(0.6, 0.0, 0.1);
    let block = add(&mut world, &solid(cuboid(0.1, 0.1, 0.1), 2.0, start));
    world
        .set_velocity(block, Vec3::Y * 0.54, Vec3::Z * 0.9)
        .unwrap();
    for _ in 0..400 {
        run(&mut world, 0.005, 1);
        let turn = tippe::math::rotation::exp(Vec3::Z * (0.9 * world.time()));
        // Second order: ahead by (ω h)²/6 of the way along the circle.
        let way = 0.54 * world.time();
        near_vec(
            "on its circle",
            state(&world, block).position,
            turn * start,
            way * 0.0045 * 0.0045 / 6.0 * 1.01 + 1e-7,
        );
    }
}

#[test]
fn kinematic_shaker_carries_a_block_and_does_the_work() {
    // Largest acceleration 0.05·(2π·1.5)² = 4.4 m/s² is below μ g = 7.8: the block sticks.
    let shake = Motion::Sine {
        amplitude: Vec3::X * 0.05,
        rotation_amplitude: Vec3::ZERO,
        frequency: 1.5,
        phase: 0.0,
    };
    let world = carried(shake, 2.0, |t, table, block| {
        let x = 0.05 * libm::sin(std::f64::consts::TAU * 1.5 * t);
        near("table", table.position.x, x, 1e-15);
        // No mean slip in any step: the trapezium rule over the table's velocity, off by h²/12 of the acceleration.
        near("block", block.position.x, x, 0.005 * 0.005 / 12.0 * 4.5);
        near("together", block.velocity.x, table.velocity.x, 1e-6);
    });
    let e = world.ledger();
    // All its energy came from the shaker.
    let start = 0.5 * 2.0 * libm::pow(0.05 * std::f64::consts::TAU * 1.5, 2.0);
    near("account", e.prescribed, e.kinetic - start, 1e-6);
}

#[test]
fn kinematic_table_by_keys_carries_a_block() {
    let at = |x: f64, y: f64| Pose::from_position(Vec3::new(x, y, -0.1));
    let motion = Motion::Table {
        times: vec![0.0, 1.0, 2.0, 3.0],
        poses: vec![at(0.0, 0.0), at(0.05, 0.0), at(0.05, 0.1), at(0.05, 0.1)],
    };
    let mut last = None;
    carried(motion, 3.0, |t, table, block| {
        let (x, y) = ((0.05 * t).min(0.05), (0.1 * (t - 1.0)).clamp(0.0, 0.1));
        near_vec("table", table.position, Vec3::new(x, y, -0.1), 1e-12);
        // The block slips for a moment where the table's velocity jumps, then goes along.
        let lag = (block.position - table.position - Vec3::Z * 0.2).length();
        below("lag", lag, 0.11_f64.powi(2) / (2.0 * 0.8 * G) * 3.0);
        last = Some(*block);
    });
    below("at rest", last.expect("stepped").velocity.length(), 1e-9);
}

#[test]
fn bad_prescribed_motions_are_refused() {
    let refused = |motion: Motion| {
        let error = World::default().add_body(&moving(motion)).unwrap_err();
        assert!(error.field.starts_with("motion."), "{error}");
    };
    refused(Motion::Constant {
        velocity: Vec3::NAN,
        angular_velocity: Vec3::ZERO,
    });
    refused(Motion::Table {
        times: vec![0.0, 0.0],
        poses: vec![Pose::IDENTITY; 2],
    });
    refused(Motion::Table {
        times: vec![0.0, 1.0],
        poses: vec![Pose::IDENTITY],
    });
    refused(Motion::Sine {
        amplitude: Vec3::X,
        rotation_amplitude: Vec3::ZERO,
        frequency: f64::INFINITY,
        phase: 0.0,
    });
}

#[test]
fn forces_torques_and_impulses_move_bodies_and_are_booked() {
    let mut world = world(0.0, Surface::default());
    let id = add(
        &mut world,
        &solid(cuboid(0.1, 0.2, 0.3), 2.0, Vec3::new(1.0, 2.0, 3.0)),
    );
    let body = world.body(id).unwrap().clone();
    let booked = |w: &World| {
        let (kinetic, _) = w.energy();
        near(
            "external work",
            w.ledger().external,
            kinetic,
            1e-9 * (1.0 + kinetic),
        );
        near(
            "unexplained",
            w.ledger().unexplained,
            0.0,
            1e-9 * (1.0 + kinetic),
        );
    };
    // A force through the centre for 1 s: v = F t / m, x = ½ F t² / m; it acts in one step only.
    for _ in 0..100 {
        let x = state(&world, id).position;
        world.apply_force(id, Vec3::X * 3.0, x).unwrap();
        run(&mut world, 0.01, 1);
    }
    run(&mut world, 0.01, 100);
    let s = state(&world, id);
    near_vec("velocity", s.velocity, Vec3::X * 1.5, 1e-12);
    near("path", s.position.x, 1.0 + 0.75 + 1.5, 1e-12);
    booked(&world);
    // A torque about a principal axis for 1 s: ω = T t / I.
    for _ in 0..100 {
        world.apply_torque(id, Vec3::Y * 0.4).unwrap();
        run(&mut world, 0.01, 1);
    }
    let s = state(&world, id);
    near_vec(
        "spin",
        s.angular_velocity,
        Vec3::Y * (0.4 / body.moments.y),
        1e-9,
    );
    booked(&world);
    // An impulse at a corner, at once: Δp = P, ΔL = r × P.
    let (p, l) = (s.velocity * body.mass, energy::spin_momentum(&body, &s));
    let (kick, r) = (Vec3::new(0.1, -0.4, 0.3), Vec3::new(0.1, 0.2, -0.3));
    world.apply_impulse(id, kick, s.position + r).unwrap();
    let s = state(&world, id);
    near_vec("Δp", s.velocity * body.mass - p, kick, 1e-12);
    near_vec(
        "ΔL",
        energy::spin_momentum(&body, &s) - l,
        r.cross(kick),
        1e-12,
    );
    run(&mut world, 0.01, 1);
    booked(&world);
    // A force off the centre is a force and a torque.
    let mut twin = world.clone();
    let s = state(&world, id);
    world.apply_force(id, Vec3::Z, s.position + r).unwrap();
    twin.apply_force(id, Vec3::Z, s.position).unwrap();
    twin.apply_torque(id, r.cross(Vec3::Z)).unwrap();
    run(&mut world, 0.01, 1);
    run(&mut twin, 0.01, 1);
    near_vec(
        "same",
        state(&world, id).velocity,
        state(&twin, id).velocity,
        1e-15,
    );
    near_vec(
        "same",
        state(&world, id).angular_velocity,
        state(&twin, id).angular_velocity,
        1e-12,
    );
    // Fixed bodies would ignore all of it: they are refused.
    let ground = add(&mut world, &floor());
    for refused in [
        world.apply_force(ground, Vec3::X, Vec3::ONE),
        world.apply_impulse(ground, Vec3::X, Vec3::ONE),
        world.set_velocity(ground, Vec3::X, Vec3::X),
    ] {
        assert_eq!(refused.unwrap_err().field, "body");
    }
    run(&mut world, 0.01, 1);
    assert_eq!(state(&world, ground), BodyState::REST);
}

#[test]
fn bad_step_lengths_are_refused() {
    let mut world = world(G, Surface::default());
    let id = add(&mut world, &ball(0.0, 1.0));
    let (before, hash) = (state(&world, id), world.hash());
    for dt in [0.0, -0.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        match world.step(dt) {
            Err(StepError::BadStep { dt: named }) => assert_eq!(named.to_bits(), dt.to_bits()),
            other => panic!("dt = {dt}: {other:?}"),
        }
        assert_eq!((state(&world, id), world.hash()), (before, hash));
    }
    assert_eq!((world.time(), world.step_count()), (0.0, 0));
}

#[test]
fn a_number_that_is_not_finite_stops_the_step_and_names_body_and_phase() {
    let named = |name: &str, desc: BodyDesc| BodyDesc {
        name: name.into(),
        ..desc
    };
    let mut start = world(G, Surface::new(0.5, 0.2));
    add(&mut start, &floor());
    add(&mut start, &named("good", ball(0.0, 0.3)));
    let bad = add(&mut start, &named("bad", ball(1.0, 0.3)));
    run(&mut start, 0.01, 20);

    // What is not finite does not come in.
    let mut world = start.clone();
    for (refused, field) in [
        (
            world.set_velocity(bad, Vec3::X * f64::NAN, Vec3::ZERO),
            "velocity",
        ),
        (
            world.set_velocity(bad, Vec3::ZERO, Vec3::NAN),
            "angular_velocity",
        ),
        (
            world.set_pose(bad, Pose::from_position(Vec3::Z * f64::INFINITY)),
            "pose",
        ),
        (world.apply_force(bad, Vec3::NAN, Vec3::ZERO), "force"),
        (world.apply_torque(bad, Vec3::X * f64::INFINITY), "torque"),
        (world.apply_impulse(bad, Vec3::X, Vec3::NAN), "point"),
    ] {
        assert_eq!(refused.unwrap_err().field, field);
    }
    assert_eq!(world.hash(), start.hash());
    assert!(world.step(0.01).is_ok());
    // Finite going in, infinite on the way: 1e308 m/s for 10 s.
    let mut world = start.clone();
    world
        .set_velocity(bad, Vec3::X * 1e308, Vec3::ZERO)
        .unwrap();
    let before = state(&world, bad);
    match world.step(10.0) {
        Err(StepError::NonFinite { body, phase }) => {
            assert_eq!((body.as_str(), phase), ("bad", "move"))
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(state(&world, bad), before);
}

#[test]
fn universal_joint_with_parallel_axes_is_refused() {
    let mut world = world(G, Surface::default());
    let id = add(&mut world, &ball(0.0, 1.0));
    let at = Pose::from_position(Vec3::Z);
    let joint = JointDesc::new(JointKind::Universal, None, at, id, Pose::IDENTITY);
    assert_eq!(world.add_joint(&joint).unwrap_err().field, "frame_b");
}

#[test]
fn offset_centre_of_mass_and_explicit_inertia() {
    // Two shapes on one body: the centre of mass between them, by mass.
    let mut desc = solid(sphere(0.1), 3.0, Vec3::ZERO);
    desc.pose = Pose::new(
        Vec3::new(1.0, 2.0, 3.0),
        tippe::math::rotation::exp(Vec3::Z),
    );
    desc.shapes = vec![
        ShapeDesc {
            pose: Pose::from_position(Vec3::X * 0.5),
            ..ShapeDesc::from(cuboid(0.1, 0.1, 0.1))
        },
        ShapeDesc {
            pose: Pose::from_position(Vec3::X * -0.5),
            ..ShapeDesc::from(cuboid(0.2, 0.1, 0.1))
        },
    ];
    desc.angular_velocity = Vec3::Z * 2.0;
    let mut world = world(0.0, Surface::default());
    let id = add(&mut world, &desc);
    let body = world.body(id).unwrap();
    near("mass", body.mass, 3.0, 1e-14);
    near_vec("centre", body.center, Vec3::X * (-0.5 / 3.0), 1e-15);
    // It turns about its centre of mass: that stays, the frame goes round it.
    let before = state(&world, id).position;
    near_vec(
        "state is the centre",
        before,
        desc.pose.point(body.center),
        1e-15,
    );
    run(&mut world, 0.01, 100);
    near_vec("centre stays", state(&world, id).position, before, 1e-12);
    let turned = tippe::math::rotation::exp(Vec3::Z * 3.0);
    near_vec(
        "frame turns",
        world.pose(id).unwrap().position,
        before - turned * world.body(id).unwrap().center,
        1e-12,
    );
    // Moving the frame moves the centre with it.
    world.set_pose(id, desc.pose).unwrap();
    near_vec("back", state(&world, id).position, before, 1e-15);

    // A roly-poly: the centre of mass below the middle of the ball rights it; without the offset it would stay tilted.
    let mut world = support::world(G, Surface::new(0.5, 0.0));
    add(&mut world, &floor());
    let toy = BodyDesc {
        pose: Pose::new(Vec3::Z * 0.1, tippe::math::rotation::exp(Vec3::Y * 0.4)),
        mass: MassSpec::Explicit {
            mass: 1.0,
            center: Vec3::Z * -0.04,
            inertia: Mat3::from_diagonal(Vec3::splat(0.003)),
        },
        drag: Some(Drag::Stokes {
            radius: 0.1,
            viscosity: 2.0,
        }),
        ..solid(sphere(0.1), 1.0, Vec3::ZERO)
    };
    let id = add(&mut world, &toy);
    run(&mut world, 0.01, 2000);
    let up = state(&world, id).rotation * Vec3::Z;
    near("upright", up.z, 1.0, 1e-6);
}

#[test]
fn impossible_masses_are_refused_with_the_field() {
    let refused = |mass: MassSpec, field: &str| {
        let desc = BodyDesc {
            mass,
            ..BodyDesc::dynamic(sphere(0.1), Vec3::ZERO)
        };
        let mut world = World::default();
        let error = world.add_body(&desc).unwrap_err();
        assert!(
            error.field.contains(field) && !error.reason.is_empty(),
            "{error}"
        );
        assert_eq!(world.body_count(), 0);
    };
    let explicit = |mass: f64, inertia: Mat3| MassSpec::Explicit {
        mass,
        center: Vec3::ZERO,
        inertia,
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(MassSpec::Density(bad), "density");
        refused(MassSpec::Mass(bad), "mass");
        refused(explicit(bad, Mat3::IDENTITY), "mass");
    }
    let diagonal = |x, y, z| Mat3::from_diagonal(Vec3::new(x, y, z));
    refused(explicit(1.0, diagonal(1.0, 1.0, 3.0)), "inertia");
    refused(explicit(1.0, diagonal(1.0, 1.0, -1.0)), "inertia");
    refused(explicit(1.0, diagonal(1.0, f64::NAN, 1.0)), "inertia");
    let skewed = Mat3::from_cols(Vec3::X, Vec3::new(0.1, 1.0, 0.0), Vec3::Z);
    refused(explicit(1.0, skewed), "inertia");
    // No solid shape and no explicit mass.
    let empty = BodyDesc::default();
    assert_eq!(World::default().add_body(&empty).unwrap_err().field, "mass");
    // A half-space cannot move by forces.
    let plane = BodyDesc::dynamic(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO);
    assert_eq!(
        World::default().add_body(&plane).unwrap_err().field,
        "shapes[0]"
    );
}

#[test]
fn mean_contact_force_under_a_stack_is_its_weight() {
    for dt in [1e-3, 1.0 / 60.0] {
        let mut world = world(G, Surface::new(0.5, 0.0));
        let cubes = stack(&mut world, 5);
        run(&mut world, dt, (1.0 / dt).round() as usize);
        let steps = (1.0 / dt).round() as usize;
        // By interface, from the floor up: the mean over 1 s bears all cubes above.
        let mut force = [Vec3::ZERO; 5];
        for _ in 0..steps {
            run(&mut world, dt, 1);
            for c in world.contacts() {
                force[c.body_a.index()] += c.force() / steps as f64;
                assert!(!c.sliding && c.normal_impulse >= 0.0);
            }
        }
        for (k, f) in force.iter().enumerate() {
            let weight = 8.0 * G * (5 - k) as f64;
            let what = format!("dt {dt}, interface {k}");
            near_vec(&what, *f / weight, Vec3::Z, 1e-6);
        }
        assert_eq!(cubes.len(), 5);
    }
}

/// A hinge to the world above the middle of a ball, with a motor, limits and a spring.
fn hanging(id: BodyId, at: Vec3) -> JointDesc {
    let frame = Pose::from_position(Vec3::Z * 0.5);
    let mut joint = JointDesc::new(JointKind::Hinge, None, Pose::from_position(at), id, frame);
    joint.name = "nail".into();
    joint.rotation = Freedom {
        limits: Some((-1.0, 1.0)),
        motor: Some(Motor::Velocity {
            target: 0.5,
            max_force: 1.0,
        }),
        spring: Some(Spring {
            rest: 0.1,
            stiffness: 2.0,
            damping: 0.1,
        }),
    };
    joint
}

/// A small world with one of everything a snapshot holds.
fn zoo() -> World {
    let mut world = world(G, Surface::new(0.5, 0.3));
    let steel = world
        .materials_mut()
        .add_lecture_table()
        .expect("a new world")[0];
    add(&mut world, &floor());
    let mut ids = Vec::new();
    for (i, shape) in [
        sphere(0.1),
        cuboid(0.1, 0.12, 0.14),
        Shape::Capsule {
            half_length: 0.1,
            radius: 0.1,
        },
    ]
    .into_iter()
    .enumerate()
    {
        let mut desc = BodyDesc::dynamic(
            shape,
            Vec3::new(0.0, 0.02 * i as f64, 0.15 + 0.3 * i as f64),
        );
        desc.name = format!("thing {i}");
        desc.shapes[0].material = steel;
        desc.drag = Some(Drag::Stokes {
            radius: 0.1,
            viscosity: 1e-3,
        });
        ids.push(add(&mut world, &desc));
    }
    let shake = Motion::Sine {
        amplitude: Vec3::X * 0.01,
        rotation_amplitude: Vec3::ZERO,
        frequency: 2.0,
        phase: 0.1,
    };
    add(&mut world, &moving(shake));
    let keys = Motion::Table {
        times: vec![0.0, 1.0],
        poses: vec![
            Pose::from_position(Vec3::Y * 3.0),
            Pose::from_position(Vec3::Y * 4.0),
        ],
    };
    let mut gate = moving(keys);
    gate.shapes[0].sensor = true;
    add(&mut world, &gate);
    let hung = add(&mut world, &ball(6.0, 1.0));
    world
        .add_joint(&hanging(hung, Vec3::new(6.0, 0.0, 1.5)))
        .expect("a good joint");
    let gone = add(&mut world, &ball(5.0, 5.0));
    run(&mut world, 0.01, 40);
    world.remove_body(gone).expect("a living body");
    world
        .apply_force(ids[1], Vec3::X, Vec3::ZERO)
        .expect("a living body");
    world
}

#[test]
fn restored_world_goes_on_with_the_same_bits() {
    let mut world = zoo();
    let bytes = world.snapshot();
    let mut twin = World::restore(&bytes).unwrap();
    assert_eq!(twin.snapshot(), bytes);
    assert_eq!(twin.hash(), world.hash());
    assert_eq!(twin.ledger(), world.ledger());
    assert_eq!(
        (twin.time(), twin.step_count()),
        (world.time(), world.step_count())
    );
    for _ in 0..100 {
        let (a, b) = (run(&mut world, 0.01, 1), run(&mut twin, 0.01, 1));
        assert_eq!(a, b);
        assert_eq!(world.hash(), twin.hash());
        assert_eq!(world.events(), twin.events());
        assert_eq!(world.contacts(), twin.contacts());
    }
    // Slots and generations too: the next body gets the same id.
    assert_eq!(
        add(&mut world, &ball(0.0, 9.0)),
        add(&mut twin, &ball(0.0, 9.0))
    );
}

#[test]
fn damaged_snapshots_never_panic() {
    let bytes = zoo().snapshot();
    assert_eq!(World::restore(&[]).err(), Some(SnapshotError::NotASnapshot));
    assert_eq!(
        World::restore(b"something else entirely").err(),
        Some(SnapshotError::NotASnapshot)
    );
    // Cut off anywhere, or with something behind.
    for end in 0..bytes.len() {
        assert!(World::restore(&bytes[..end]).is_err(), "cut at {end}");
    }
    let mut long = bytes.clone();
    long.push(0);
    assert!(World::restore(&long).is_err());
    // Another version says so.
    let mut newer = bytes.clone();
    newer[8] = newer[8].wrapping_add(1);
    assert!(matches!(
        World::restore(&newer),
        Err(SnapshotError::Version { .. })
    ));
}

#[test]
fn flipped_bytes_in_a_snapshot_are_refused_and_forged_ones_never_give_nonsense() {
    let mut small = world(G, Surface::new(0.5, 0.3));
    add(&mut small, &floor());
    add(
        &mut small,
        &solid(cuboid(0.1, 0.1, 0.1), 1.0, Vec3::Z * 0.1),
    );
    add(&mut small, &ball(0.05, 0.3));
    let hung = add(&mut small, &ball(2.0, 1.0));
    small
        .add_joint(&hanging(hung, Vec3::new(2.0, 0.0, 1.5)))
        .unwrap();
    run(&mut small, 0.01, 5);
    let bytes = small.snapshot();
    // Every byte, three ways.
    let flips = (0..bytes.len()).flat_map(|i| [(i, 0xff), (i, 0x80), (i, 0x01)]);
    let mut restored = 0;
    for (i, flip) in flips {
        let mut damaged = bytes.clone();
        damaged[i] ^= flip;
        assert!(World::restore(&damaged).is_err(), "byte {i} with {flip:#x}");
        // Forged, so that the checksum fits: refused, or a world that steps, or says why it does not.
        seal(&mut damaged);
        if let Ok(mut world) = World::restore(&damaged) {
            restored += 1;
            for _ in 0..2 {
                if world.step(0.01).is_ok() {
                    assert_finite(&world, &format!("byte {i} with {flip:#x}"));
                }
            }
            let _ = (world.hash(), world.energy());
            assert!(
                World::restore(&world.snapshot()).is_ok(),
                "byte {i} with {flip:#x}"
            );
        }
    }
    assert!(restored > 0);
}

/// Writes the checksum that fits the fields: FNV-1a of all that follows it.
fn seal(snapshot: &mut [u8]) {
    let Some((head, fields)) = snapshot.split_at_mut_checked(20) else {
        return;
    };
    let sum = fields.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    head[12..].copy_from_slice(&sum.to_le_bytes());
}

fn assert_finite(world: &World, what: &str) {
    assert!(world.time().is_finite(), "{what}");
    let (kinetic, potential) = world.energy();
    assert!(
        kinetic.is_finite() && potential.is_finite(),
        "{what}: {kinetic} {potential}"
    );
    for id in world.body_ids() {
        assert!(state(world, id).is_finite(), "{what}");
    }
    assert!(
        world.ledger().gained.is_finite() && world.ledger().external.is_finite(),
        "{what}"
    );
}
