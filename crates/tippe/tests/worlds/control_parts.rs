//! Armature, sensors, time programs, link torques, keyframes: each against a closed form, and what is refused.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use tippe::articulated::{self, Joint, JointFriction, Limits, LinkDesc, Model, Work};
use tippe::shape::MassProperties;
use tippe::{
    ArticulationDesc, BodyDesc, BodyKind, Driven, Freedom, JointDesc, JointKind, LinkBodyDesc,
    Mat3, Motion, Motor, Pose, Program, Quat, SensorDesc, SensorKind, Shape, Signal, Surface, Vec3,
    World,
};

const G: f64 = 9.81;

/// Two rods in a plane, hinged about y, with drives of inertia `armature`.
struct Pendulum {
    lengths: [f64; 2],
    masses: [f64; 2],
    armature: [f64; 2],
}

const PENDULUM: Pendulum = Pendulum {
    lengths: [0.7, 0.5],
    masses: [1.3, 0.8],
    armature: [0.21, 0.035],
};

impl Pendulum {
    /// Rods hang along −z; the inertia of a rod about its middle.
    fn links(&self) -> Vec<LinkDesc> {
        let rod = |m: f64, l: f64| MassProperties {
            mass: m,
            center: Vec3::Z * (-0.5 * l),
            inertia: Mat3::from_diagonal(Vec3::new(m * l * l / 12.0, m * l * l / 12.0, 1e-4)),
        };
        let hinge = Joint::Revolute { axis: Vec3::Y };
        let place = Pose::from_position(Vec3::Z * -self.lengths[0]);
        let mut links = vec![
            LinkDesc::new(
                None,
                hinge,
                Pose::IDENTITY,
                rod(self.masses[0], self.lengths[0]),
            ),
            LinkDesc::new(Some(0), hinge, place, rod(self.masses[1], self.lengths[1])),
        ];
        links[0].armature = self.armature[0];
        links[1].armature = self.armature[1];
        links
    }

    /// Lagrange's equations in the joint angles a, b: M (a'', b'') = torques − C − gravity, with the rotors on the diagonal of M.
    fn matrix(&self, q: [f64; 2]) -> [[f64; 2]; 2] {
        let ([l, k], [m, n]) = (self.lengths, self.masses);
        let cross = 0.5 * n * l * k * libm::cos(q[1]);
        let inner = n * k * k / 3.0;
        let own = m * l * l / 3.0 + n * l * l + 2.0 * cross + inner;
        [
            [own + self.armature[0], inner + cross],
            [inner + cross, inner + self.armature[1]],
        ]
    }

    fn accelerations(&self, q: [f64; 2], v: [f64; 2], tau: [f64; 2]) -> [f64; 2] {
        let ([l, k], [m, n]) = (self.lengths, self.masses);
        let s = 0.5 * n * l * k * libm::sin(q[1]);
        // A hinge about +y turns −z towards −x: heights are −l cos q all the same.
        let bias = [
            -s * (2.0 * v[0] * v[1] + v[1] * v[1])
                + G * ((0.5 * m + n) * l * libm::sin(q[0]) + 0.5 * n * k * libm::sin(q[0] + q[1])),
            s * v[0] * v[0] + G * 0.5 * n * k * libm::sin(q[0] + q[1]),
        ];
        let [[a, b], [_, d]] = self.matrix(q);
        let [x, y] = [tau[0] - bias[0], tau[1] - bias[1]];
        let det = a * d - b * b;
        [(d * x - b * y) / det, (a * y - b * x) / det]
    }

    /// One step of the classical method of order four.
    fn step(&self, q: &mut [f64; 2], v: &mut [f64; 2], h: f64) {
        let add = |x: &[f64; 2], d: &[f64; 2], s: f64| [x[0] + d[0] * s, x[1] + d[1] * s];
        let f = |q: [f64; 2], v: [f64; 2]| (v, self.accelerations(q, v, [0.0; 2]));
        let k1 = f(*q, *v);
        let k2 = f(add(q, &k1.0, 0.5 * h), add(v, &k1.1, 0.5 * h));
        let k3 = f(add(q, &k2.0, 0.5 * h), add(v, &k2.1, 0.5 * h));
        let k4 = f(add(q, &k3.0, h), add(v, &k3.1, h));
        for i in 0..2 {
            q[i] += h / 6.0 * (k1.0[i] + 2.0 * k2.0[i] + 2.0 * k3.0[i] + k4.0[i]);
            v[i] += h / 6.0 * (k1.1[i] + 2.0 * k2.1[i] + 2.0 * k3.1[i] + k4.1[i]);
        }
    }
}

#[test]
fn armature_is_that_of_a_geared_two_link_pendulum() {
    let p = &PENDULUM;
    let model = Model::new(&p.links(), Vec3::Z * -G).unwrap();
    let mut work = Work::new(&model);
    for (q, v, tau) in [
        ([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]),
        ([0.4, -1.1], [2.0, -3.0], [0.3, -0.7]),
        ([-2.5, 2.2], [-4.0, 1.5], [0.0, 5.0]),
    ] {
        let expected = p.accelerations(q, v, tau);
        let mut found = [0.0; 2];
        articulated::aba(&model, &q, &v, &tau, &[], &mut work, &mut found).unwrap();
        let mut matrix = [0.0; 4];
        articulated::crba(&model, &q, &mut work, &mut matrix).unwrap();
        let [[a, b], [_, d]] = p.matrix(q);
        let mut back = [0.0; 2];
        articulated::rnea(&model, &q, &v, &expected, &[], &mut work, &mut back).unwrap();
        for i in 0..2 {
            assert!(
                (found[i] - expected[i]).abs() < 1e-9,
                "{found:?} {expected:?}"
            );
            assert!((back[i] - tau[i]).abs() < 1e-9, "{back:?} {tau:?}");
        }
        let error = (matrix[0] - a).abs()
            + (matrix[1] - b).abs()
            + (matrix[2] - b).abs()
            + (matrix[3] - d).abs();
        assert!(error < 1e-12, "{matrix:?}");
    }
}

fn pendulum_world(armature: bool) -> (World, tippe::ArticulationId) {
    let mut world = World::default();
    let mut links = PENDULUM.links();
    if !armature {
        links.iter_mut().for_each(|l| l.armature = 0.0);
    }
    let desc = ArticulationDesc {
        name: "pendulum".into(),
        links: links.into_iter().map(LinkBodyDesc::new).collect(),
        positions: vec![1.0, -0.4],
        velocities: vec![0.5, 1.0],
        ..ArticulationDesc::default()
    };
    let id = world.add_articulation(&desc).unwrap();
    (world, id)
}

#[test]
fn a_world_steps_a_geared_pendulum_and_its_ledger_counts_the_rotors() {
    let (mut world, id) = pendulum_world(true);
    let (mut q, mut v) = ([1.0, -0.4], [0.5, 1.0]);
    let start = world.energy();
    let matrix = PENDULUM.matrix(q);
    let kinetic = 0.5
        * (v[0] * (matrix[0][0] * v[0] + matrix[0][1] * v[1])
            + v[1] * (matrix[1][0] * v[0] + matrix[1][1] * v[1]));
    assert!(
        (start.0 - kinetic).abs() < 1e-12 * kinetic,
        "{} {kinetic}",
        start.0
    );
    for _ in 0..1000 {
        let report = world.step(1e-3).unwrap();
        assert!(
            report.energy.unexplained.abs() < 1e-9 && report.energy.gained < 1e-9,
            "{:?}",
            report.energy
        );
        PENDULUM.step(&mut q, &mut v, 0.5e-3);
        PENDULUM.step(&mut q, &mut v, 0.5e-3);
    }
    let state = world.articulation_state(id).unwrap();
    for i in 0..2 {
        assert!(
            (state.positions[i] - q[i]).abs() < 1e-9,
            "{:?} {q:?}",
            state.positions
        );
        assert!(
            (state.velocities[i] - v[i]).abs() < 1e-8,
            "{:?} {v:?}",
            state.velocities
        );
    }
    let end = world.energy();
    assert!(
        (end.0 + end.1 - start.0 - start.1).abs() < 1e-9,
        "{start:?} {end:?}"
    );
    // Snapshots keep it, and a world without it moves otherwise.
    let mut twin = World::restore(&world.snapshot()).unwrap();
    twin.step(1e-3).unwrap();
    world.step(1e-3).unwrap();
    assert_eq!(twin.hash(), world.hash());
    let (mut light, id) = pendulum_world(false);
    light.step_many(1e-3, 1000).unwrap();
    assert!((light.articulation_state(id).unwrap().positions[0] - q[0]).abs() > 0.1);
    let mut links = PENDULUM.links();
    links[1].armature = -1.0;
    let error = Model::new(&links, Vec3::ZERO).unwrap_err();
    assert_eq!(error.field, "links[1].armature");
}

#[test]
fn control_reads_mass_matrix_jacobian_and_torques_of_a_worlds_tree() {
    let (world, id) = pendulum_world(true);
    let state = world.articulation_state(id).unwrap().clone();
    let q = [state.positions[0], state.positions[1]];
    let expected = PENDULUM.matrix(q);
    let found = world.mass_matrix(id).unwrap();
    assert!((found[0] - expected[0][0]).abs() < 1e-12 && (found[1] - expected[0][1]).abs() < 1e-12);
    // Torques that hold it still against gravity and velocities give back the accelerations.
    let accelerations = [0.3, -0.8];
    let tau = world.inverse_dynamics(id, &accelerations).unwrap();
    let back = PENDULUM.accelerations(
        q,
        [state.velocities[0], state.velocities[1]],
        [tau[0], tau[1]],
    );
    assert!(
        (back[0] - 0.3).abs() < 1e-9 && (back[1] + 0.8).abs() < 1e-9,
        "{back:?}"
    );
    let links = world.link_bodies(id).unwrap();
    let tip = world.pose(links[1]).unwrap().point(Vec3::Z * -0.5);
    let jacobian = world.link_jacobian(links[1], tip).unwrap();
    let rate: Vec<f64> = (0..6)
        .map(|r| jacobian[2 * r] * state.velocities[0] + jacobian[2 * r + 1] * state.velocities[1])
        .collect();
    let speed = world.body_state(links[1]).unwrap().point_velocity(tip);
    assert!((Vec3::new(rate[3], rate[4], rate[5]) - speed).length() < 1e-12);
    let (mass, center) = world.center_of_mass(id).unwrap();
    assert!((mass - 2.1).abs() < 1e-12 && center.z < 0.0);
    let (momentum, _) = world.momentum_of(id).unwrap();
    let sum: Vec3 = links
        .iter()
        .map(|b| world.body_state(*b).unwrap().velocity * world.body(*b).unwrap().mass)
        .sum();
    assert!((momentum - sum).length() < 1e-12);
    assert!(world.inverse_dynamics(id, &[f64::NAN, 0.0]).is_err());
    assert!(world.inverse_dynamics(id, &[0.0]).is_err());
}

fn ball(world: &mut World, position: Vec3) -> tippe::BodyId {
    world
        .add_body(&BodyDesc::dynamic(Shape::Sphere { radius: 0.1 }, position))
        .unwrap()
}

fn sensor(world: &mut World, name: &str, kind: SensorKind) -> tippe::SensorId {
    world
        .add_sensor(SensorDesc {
            name: name.into(),
            kind,
        })
        .unwrap()
}

#[test]
fn an_imu_on_a_turntable_reads_the_centripetal_acceleration_and_gravity() {
    let mut world = World::default();
    let spin = 3.0;
    let table = world
        .add_body(&BodyDesc {
            kind: BodyKind::Kinematic(Motion::Constant {
                velocity: Vec3::ZERO,
                angular_velocity: Vec3::Z * spin,
            }),
            ..BodyDesc::fixed(
                Shape::Cuboid {
                    half: Vec3::new(1.0, 1.0, 0.1),
                },
                Vec3::new(0.3, 0.2, 0.0),
            )
        })
        .unwrap();
    let r = 0.8;
    let turn = Quat::from_xyzw(
        0.0,
        0.0,
        libm::sin(0.25 * std::f64::consts::PI),
        libm::cos(0.25 * std::f64::consts::PI),
    );
    let plain = sensor(
        &mut world,
        "imu",
        SensorKind::Imu {
            body: table,
            place: Pose::from_position(Vec3::X * r),
        },
    );
    let turned = sensor(
        &mut world,
        "turned",
        SensorKind::Imu {
            body: table,
            place: Pose::new(Vec3::X * r, turn),
        },
    );
    for _ in 0..500 {
        world.step(1e-3).unwrap();
        let a = world.reading(plain).unwrap();
        let expected = [-spin * spin * r, 0.0, G, 0.0, 0.0, spin];
        assert!(
            a.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-9),
            "{a:?}"
        );
        // Turned by a quarter about z, x of the table is −y of the sensor.
        let a = world.reading(turned).unwrap();
        assert!(
            (a[0]).abs() < 1e-9 && (a[1] - spin * spin * r).abs() < 1e-9,
            "{a:?}"
        );
    }
    assert_eq!(world.readings().len(), 12);
    assert_eq!(world.reading_names()[6], "turned.acceleration.x");
}

#[test]
fn sensors_read_poses_contacts_joints_links_and_distances() {
    let mut world = World::default();
    world.set_default_surface(Surface::new(0.5, 0.0)).unwrap();
    let floor = world
        .add_body(&BodyDesc::fixed(
            Shape::HalfSpace { normal: Vec3::Z },
            Vec3::ZERO,
        ))
        .unwrap();
    let resting = ball(&mut world, Vec3::Z * 0.1);
    let falling = ball(&mut world, Vec3::new(3.0, 0.0, 5.0));
    let hung = ball(&mut world, Vec3::new(-3.0, 0.5, 2.0));
    let pivot = Pose::new(Vec3::new(-3.0, 0.0, 2.0), Quat::IDENTITY);
    let hinge = JointDesc::new(
        JointKind::Hinge,
        None,
        pivot,
        hung,
        Pose::from_position(Vec3::Y * -0.5),
    );
    let hinge = world.add_joint(&hinge).unwrap();
    world
        .set_velocity(hung, Vec3::X * -1.0, Vec3::Z * 2.0)
        .unwrap();
    let weight = world.body(resting).unwrap().mass * G;
    let contact = sensor(
        &mut world,
        "foot",
        SensorKind::ContactForce {
            body: resting,
            other: Some(floor),
        },
    );
    let nobody = sensor(
        &mut world,
        "none",
        SensorKind::ContactForce {
            body: resting,
            other: Some(falling),
        },
    );
    let pose = sensor(
        &mut world,
        "pose",
        SensorKind::Pose {
            body: resting,
            place: Pose::IDENTITY,
        },
    );
    let imu = sensor(
        &mut world,
        "fall",
        SensorKind::Imu {
            body: falling,
            place: Pose::from_position(Vec3::X),
        },
    );
    let rest = sensor(
        &mut world,
        "rest",
        SensorKind::Imu {
            body: resting,
            place: Pose::IDENTITY,
        },
    );
    let down = SensorKind::Distance {
        body: falling,
        origin: Vec3::ZERO,
        direction: -Vec3::Z,
        range: 10.0,
    };
    let down = sensor(&mut world, "down", down);
    let up = SensorKind::Distance {
        body: falling,
        origin: Vec3::ZERO,
        direction: Vec3::Z,
        range: 10.0,
    };
    let up = sensor(&mut world, "up", up);
    let angle = sensor(
        &mut world,
        "angle",
        SensorKind::JointPosition { joint: hinge },
    );
    let rate = sensor(&mut world, "rate", SensorKind::JointRate { joint: hinge });
    let force = sensor(&mut world, "force", SensorKind::JointForce { joint: hinge });
    world.step_many(1e-3, 100).unwrap();
    let read = |world: &World, id| world.reading(id).unwrap().to_vec();
    let found = read(&world, contact);
    assert!(
        (found[2] - weight).abs() < 1e-6 * weight && (found[3] - weight).abs() < 1e-6 * weight,
        "{found:?}"
    );
    assert_eq!(read(&world, nobody), vec![0.0; 5]);
    assert_eq!(read(&world, pose)[3], 1.0);
    assert!(
        read(&world, imu).iter().all(|x| x.abs() < 1e-9),
        "free fall feels nothing: {:?}",
        read(&world, imu)
    );
    assert!(
        (read(&world, rest)[2] - G).abs() < 1e-6,
        "{:?}",
        read(&world, rest)
    );
    let height = world.pose(falling).unwrap().position.z;
    assert!((read(&world, down)[0] - height).abs() < 1e-9 && read(&world, up)[0] == 10.0);
    assert!(
        (read(&world, rate)[0] - 2.0).abs() < 1e-4,
        "{:?}",
        read(&world, rate)
    );
    assert!(
        (read(&world, angle)[0] - 0.2).abs() < 1e-4,
        "{:?}",
        read(&world, angle)
    );
    // The pivot holds the weight and turns the ball round.
    let carried = world.body(hung).unwrap().mass;
    let found = read(&world, force);
    assert!(
        (found[2] - carried * G).abs() < 1e-3 * carried * G,
        "{found:?}"
    );
    assert!(
        (libm::hypot(found[0], found[1]) - carried * 4.0 * 0.5).abs() < 1e-2 * carried * 2.0,
        "{found:?}"
    );
    // Readings go with the snapshot's model; what is gone reads zero; names are unique.
    let twin = World::restore(&world.snapshot()).unwrap();
    assert_eq!(twin.reading_names(), world.reading_names());
    world.remove_joint(hinge).unwrap();
    world.step(1e-3).unwrap();
    assert_eq!(read(&world, rate), vec![0.0]);
    let taken = world.add_sensor(SensorDesc {
        name: "pose".into(),
        kind: SensorKind::Pose {
            body: floor,
            place: Pose::IDENTITY,
        },
    });
    assert_eq!(taken.unwrap_err().field, "name");
    let gone = world.add_sensor(SensorDesc {
        name: "gone".into(),
        kind: SensorKind::JointRate { joint: hinge },
    });
    assert_eq!(gone.unwrap_err().field, "joint");
    world.remove_sensor(contact).unwrap();
    assert!(world.reading(contact).is_err());
    // Sensors change nothing that the hash covers.
    let plain = {
        let mut w = World::default();
        ball(&mut w, Vec3::Z);
        w.step(1e-3).unwrap();
        w.hash()
    };
    let mut w = World::default();
    let b = ball(&mut w, Vec3::Z);
    sensor(
        &mut w,
        "p",
        SensorKind::Pose {
            body: b,
            place: Pose::IDENTITY,
        },
    );
    w.set_user_data(b, 77).unwrap();
    w.step(1e-3).unwrap();
    assert_eq!(w.hash(), plain);
    assert_eq!(
        World::restore(&w.snapshot())
            .unwrap()
            .body(b)
            .unwrap()
            .user_data,
        77
    );
}

#[test]
fn programs_of_forces_and_gravity_act_with_their_exact_impulse() {
    let mut world = World::default();
    world.set_gravity(Vec3::ZERO).unwrap();
    let body = ball(&mut world, Vec3::ZERO);
    let mass = world.body(body).unwrap().mass;
    let force = Driven::Force {
        body,
        point: Vec3::ZERO,
        local: false,
    };
    let sine = Signal::Sine {
        offset: Vec3::Y * 0.5,
        amplitude: Vec3::X * 3.0,
        frequency: 7.0,
        phase: 0.4,
    };
    world
        .add_program(Program {
            driven: force,
            signal: sine,
        })
        .unwrap();
    // A ramp from 0 at 0.1 s to 2 N at 0.3137 s, which is no multiple of the step.
    let ramp = Signal::Table {
        times: vec![0.1, 0.3137],
        values: vec![Vec3::ZERO, Vec3::Z * 2.0],
    };
    world
        .add_program(Program {
            driven: force,
            signal: ramp,
        })
        .unwrap();
    let mut twin = world.clone();
    world.step_many(0.01, 50).unwrap();
    let w = std::f64::consts::TAU * 7.0;
    let expected = Vec3::new(
        3.0 / w * (libm::cos(0.4) - libm::cos(w * 0.5 + 0.4)),
        0.25,
        0.2137 + 2.0 * (0.5 - 0.3137),
    ) / mass;
    let found = world.body_state(body).unwrap().velocity;
    assert!(
        (found - expected).length() < 1e-11 * expected.length(),
        "{found} {expected}"
    );
    // A snapshot in the middle goes on with the same bits; a step that fails leaves no force behind.
    twin.step_many(0.01, 25).unwrap();
    let mut twin = World::restore(&twin.snapshot()).unwrap();
    assert!(twin.step(-1.0).is_err());
    twin.step_many(0.01, 25).unwrap();
    assert_eq!(twin.hash(), world.hash());

    let mut world = World::default();
    let body = ball(&mut world, Vec3::Z * 100.0);
    let values = vec![Vec3::Z * -9.81, Vec3::ZERO, Vec3::Z * 1.5];
    let steps = Signal::Steps {
        times: vec![0.0, 0.25, 0.5],
        values,
    };
    world
        .add_program(Program {
            driven: Driven::Gravity,
            signal: steps,
        })
        .unwrap();
    let start = world.energy();
    world.step_many(0.01, 100).unwrap();
    let found = world.body_state(body).unwrap().velocity.z;
    assert!(
        (found - (-9.81 * 0.25 + 1.5 * 0.5)).abs() < 1e-12,
        "{found}"
    );
    let (ledger, end) = (*world.ledger(), world.energy());
    let change = end.0 + end.1 - start.0 - start.1;
    assert!(
        (change - ledger.external).abs() < 1e-9 * change.abs(),
        "{change} {}",
        ledger.external
    );
}

#[test]
fn programs_drive_motors_of_joints_and_links() {
    let mut world = World::default();
    let body = ball(&mut world, Vec3::ZERO);
    let mut hinge = JointDesc::new(JointKind::Hinge, None, Pose::IDENTITY, body, Pose::IDENTITY);
    hinge.rotation = Freedom {
        motor: Some(Motor::Velocity {
            target: 0.0,
            max_force: 1e3,
        }),
        ..Freedom::default()
    };
    let hinge = world.add_joint(&hinge).unwrap();
    let steps = |a: f64, b: f64| Signal::Steps {
        times: vec![0.0, 0.5],
        values: vec![Vec3::X * a, Vec3::X * b],
    };
    world
        .add_program(Program {
            driven: Driven::Motor { joint: hinge },
            signal: steps(2.0, -1.0),
        })
        .unwrap();
    let mut links: Vec<LinkBodyDesc> = PENDULUM
        .links()
        .into_iter()
        .map(LinkBodyDesc::new)
        .collect();
    links[0].motor = Some(Motor::Velocity {
        target: 0.0,
        max_force: 1e4,
    });
    links.truncate(1);
    let tree = world
        .add_articulation(&ArticulationDesc {
            links,
            ..ArticulationDesc::default()
        })
        .unwrap();
    let link = world.link_bodies(tree).unwrap()[0];
    world
        .add_program(Program {
            driven: Driven::LinkMotor { link },
            signal: steps(1.0, 0.5),
        })
        .unwrap();
    let rates = |w: &World| {
        (
            w.body_state(body).unwrap().angular_velocity.z,
            w.articulation_state(tree).unwrap().velocities[0],
        )
    };
    world.step_many(0.01, 49).unwrap();
    let (a, b) = rates(&world);
    assert!((a - 2.0).abs() < 1e-6 && (b - 1.0).abs() < 1e-6, "{a} {b}");
    world.step_many(0.01, 11).unwrap();
    let (a, b) = rates(&world);
    assert!((a + 1.0).abs() < 1e-6 && (b - 0.5).abs() < 1e-6, "{a} {b}");
    let none = Program {
        driven: Driven::Force {
            body: world.body_ids().last().unwrap(),
            point: Vec3::ZERO * f64::NAN,
            local: true,
        },
        signal: steps(0.0, 1.0),
    };
    assert!(world.add_program(none).is_err());
    let backwards = Signal::Table {
        times: vec![1.0, 0.0],
        values: vec![Vec3::ZERO; 2],
    };
    assert_eq!(
        world
            .add_program(Program {
                driven: Driven::Gravity,
                signal: backwards
            })
            .unwrap_err()
            .field,
        "times"
    );
}

#[test]
fn torques_on_links_and_changes_of_their_drives() {
    let (mut world, id) = pendulum_world(true);
    world.set_gravity(Vec3::ZERO).unwrap();
    let mut state = world.articulation_state(id).unwrap().clone();
    state.velocities.fill(0.0);
    world.set_articulation_state(id, &state).unwrap();
    let links = world.link_bodies(id).unwrap();
    let tau = [0.8, -0.5];
    let matrix = PENDULUM.matrix([state.positions[0], state.positions[1]]);
    world.apply_link_force(links[0], &tau[..1]).unwrap();
    world.apply_link_force(links[1], &tau[1..]).unwrap();
    let h = 1e-5;
    world.step(h).unwrap();
    let v = &world.articulation_state(id).unwrap().velocities;
    let back = [
        matrix[0][0] * v[0] + matrix[0][1] * v[1],
        matrix[1][0] * v[0] + matrix[1][1] * v[1],
    ];
    assert!(
        (back[0] / h - tau[0]).abs() < 1e-7 && (back[1] / h - tau[1]).abs() < 1e-7,
        "{back:?}"
    );
    // Friction, limits and motors at run time.
    world
        .edit_link(links[0], |l| {
            l.motor = Some(Motor::Velocity {
                target: 1.0,
                max_force: 1e4,
            })
        })
        .unwrap();
    world
        .edit_link(links[1], |l| {
            l.link.friction = JointFriction {
                viscous: 0.1,
                coulomb: 0.2,
            }
        })
        .unwrap();
    world.step_many(1e-3, 20).unwrap();
    assert!((world.articulation_state(id).unwrap().velocities[0] - 1.0).abs() < 1e-6);
    let here = world.articulation_state(id).unwrap().positions[1];
    let limits = Some(Limits {
        min: here - 0.1,
        max: here + 0.1,
        restitution: 0.0,
    });
    world
        .edit_link(links[1], |l| l.link.limits = limits)
        .unwrap();
    world.edit_link(links[0], |l| l.motor = None).unwrap();
    for _ in 0..300 {
        world.apply_link_force(links[1], &[3.0]).unwrap();
        world.step(1e-3).unwrap();
        assert!(world.articulation_state(id).unwrap().positions[1] < here + 0.1 + 1e-6);
    }
    assert!(World::restore(&world.snapshot()).unwrap().hash() == world.hash());
    let error = |r: Result<(), tippe::BuildError>| r.unwrap_err().field;
    assert_eq!(
        error(world.apply_link_force(links[0], &[f64::NAN])),
        "values"
    );
    assert_eq!(
        error(world.apply_link_force(links[0], &[1.0, 2.0])),
        "values"
    );
    assert_eq!(
        error(world.edit_link(links[0], |l| l.link.mass.mass = 2.0)),
        "mass"
    );
    assert_eq!(
        error(world.edit_link(links[0], |l| l.link.armature = f64::NAN)),
        "links[0].armature"
    );
}

#[test]
fn keyframes_go_back_and_step_on_with_the_same_bits() {
    let mut world = World::default();
    world
        .add_body(&BodyDesc::fixed(
            Shape::HalfSpace { normal: Vec3::Z },
            Vec3::ZERO,
        ))
        .unwrap();
    let body = ball(&mut world, Vec3::Z * 0.2);
    assert!(world.reset().is_err());
    world.keep(tippe::world::START);
    world.step_many(1e-3, 300).unwrap();
    world.keep("down");
    let first = world.hash();
    world.step_many(1e-3, 100).unwrap();
    let second = world.hash();
    world.go_back_to("down").unwrap();
    assert_eq!(world.hash(), first);
    world.step_many(1e-3, 100).unwrap();
    assert_eq!(world.hash(), second);
    world.reset().unwrap();
    assert_eq!((world.time(), world.step_count()), (0.0, 0));
    world.step_many(1e-3, 400).unwrap();
    assert_eq!(world.hash(), second);
    world.remove_body(body).unwrap();
    assert_eq!(world.reset().unwrap_err().field, "keyframe");
    assert_eq!(world.kept().collect::<Vec<_>>(), ["start", "down"]);
}

#[test]
fn a_steady_load_acts_in_every_step_until_it_is_taken_away() {
    for name in tippe::METHOD_NAMES {
        let method = tippe::Method::from_name(name).unwrap();
        let mut world = World::new(method).unwrap();
        world.set_gravity(Vec3::ZERO).unwrap();
        let id = ball(&mut world, Vec3::ZERO);
        let mass = world.body(id).unwrap().mass;
        let moment = world.body(id).unwrap().moments.x;
        let (force, torque) = (Vec3::new(3.0, 0.0, 1.0), Vec3::new(0.0, 0.02, 0.0));
        world.set_steady_load(id, force, torque).unwrap();
        world.step_many(0.01, 50).unwrap();
        // It goes with snapshots, and beside what a single step is given.
        world = World::restore(&world.snapshot()).unwrap();
        assert_eq!(world.steady_load(id).unwrap(), (force, torque));
        world
            .apply_force(id, Vec3::Y * 2.0, world.pose(id).unwrap().position)
            .unwrap();
        world.step_many(0.01, 50).unwrap();
        let state = *world.body_state(id).unwrap();
        let wanted = force / mass + Vec3::Y * (0.02 / mass);
        assert!(
            (state.velocity - wanted).length() < 1e-12 * wanted.length(),
            "{name}"
        );
        assert!(
            (state.angular_velocity - torque / moment).length() < 1e-9,
            "{name}"
        );
        let ledger = *world.ledger();
        assert!(
            (ledger.external - world.energy().0).abs() < 1e-9 * ledger.external,
            "{name}"
        );
        world.set_steady_load(id, Vec3::ZERO, Vec3::ZERO).unwrap();
        world.step_many(0.01, 10).unwrap();
        assert_eq!(
            world.body_state(id).unwrap().velocity,
            state.velocity,
            "{name}"
        );
        let refused = world.set_steady_load(id, Vec3::X * f64::NAN, Vec3::ZERO);
        assert_eq!(refused.unwrap_err().field, "force");
        world.set_steady_load(id, Vec3::X, Vec3::ZERO).unwrap();
        world.remove_body(id).unwrap();
        assert_eq!(world.steady_load(id).unwrap_err().field, "body");
        let other = ball(&mut world, Vec3::ZERO);
        assert_eq!(world.steady_load(other).unwrap().0, Vec3::ZERO);
        world.step(0.01).unwrap();
        assert_eq!(world.body_state(other).unwrap().velocity, Vec3::ZERO);
    }
    let mut world = World::default();
    let floor = Shape::HalfSpace { normal: Vec3::Z };
    let floor = world.add_body(&BodyDesc::fixed(floor, Vec3::ZERO)).unwrap();
    let refused = world.set_steady_load(floor, Vec3::X, Vec3::ZERO);
    assert_eq!(refused.unwrap_err().field, "body");
}

#[test]
fn a_closure_is_told_of_every_phase_and_changes_nothing() {
    use std::sync::{Arc, Mutex};
    let make = || {
        let mut world = World::default();
        let floor = Shape::HalfSpace { normal: Vec3::Z };
        world.add_body(&BodyDesc::fixed(floor, Vec3::ZERO)).unwrap();
        ball(&mut world, Vec3::Z * 0.1);
        world
    };
    let (mut watched, mut plain) = (make(), make());
    // What a caller does with it: time each phase by the clock of its own.
    let told = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&told);
    let start = std::time::Instant::now();
    watched.watch_phases(Some(move |phase| {
        list.lock().unwrap().push((phase, start.elapsed()));
    }));
    for _ in 0..3 {
        watched.step(0.01).unwrap();
        plain.step(0.01).unwrap();
    }
    assert_eq!(watched.hash(), plain.hash());
    let count = told.lock().unwrap().len();
    assert!(count >= 6, "{count}");
    assert!(told.lock().unwrap().is_sorted_by_key(|t| t.1));
    watched.watch_phases(None::<fn(tippe::Phase)>);
    watched.step(0.01).unwrap();
    assert_eq!(told.lock().unwrap().len(), count);
}
