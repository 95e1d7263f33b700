//! Couplings and mates in motion: rows against differences, gears that keep their phase, carriers that move, what is refused.

use crate::support;

use support::{below, near, state};
use tippe::math::rotation;
use tippe::{
    BodyDesc, BodyId, BodyKind, BodyState, Coupling, Freedom, JointDesc, JointId, JointKind,
    MassSpec, Mat3, Method, Motor, Pose, Vec3, World,
};

/// A body without shape.
fn body(world: &mut World, at: Vec3, mass: f64, kind: BodyKind) -> BodyId {
    let desc = BodyDesc {
        pose: Pose::from_position(at),
        kind,
        mass: MassSpec::Explicit {
            mass,
            center: Vec3::ZERO,
            inertia: Mat3::from_diagonal(Vec3::splat(0.025) * mass),
        },
        ..BodyDesc::default()
    };
    world.add_body(&desc).expect("a body")
}

/// A joint at a world pose, where both frames are.
fn join(world: &mut World, kind: JointKind, a: Option<BodyId>, b: BodyId, at: Pose) -> JointId {
    let local = |id: Option<BodyId>| {
        id.map_or(at, |id| {
            world.pose(id).expect("there").inverse().compose(&at)
        })
    };
    let desc = JointDesc::new(kind, a, local(a), b, local(Some(b)));
    world.add_joint(&desc).expect("a joint")
}

fn gear(first: JointId, second: JointId, ratio: f64) -> Coupling {
    Coupling::Gear {
        first,
        second,
        ratio,
        phase: None,
    }
}

fn states(world: &World) -> Vec<BodyState> {
    world.body_ids().map(|id| state(world, id)).collect()
}

/// Two wheels on a carrier, fixed or not, with axes at an angle; and a slider for a rack.
struct Train {
    world: World,
    carrier: BodyId,
    wheels: [BodyId; 2],
    hinges: [JointId; 2],
    rack: JointId,
}

fn train(kind: BodyKind, tilt: f64) -> Train {
    let mut world = World::new(Method::default()).expect("a world");
    let carrier = body(&mut world, Vec3::new(0.1, -0.2, 0.3), 2.0, kind);
    let one = body(&mut world, Vec3::new(0.0, 0.0, 0.5), 1.0, BodyKind::Dynamic);
    let two = body(&mut world, Vec3::new(0.6, 0.1, 0.5), 0.7, BodyKind::Dynamic);
    let bar = body(&mut world, Vec3::new(0.0, 0.4, 0.5), 0.9, BodyKind::Dynamic);
    let straight = Pose::new(Vec3::new(0.0, 0.0, 0.5), rotation::exp(Vec3::X * 0.4));
    let leaning = Pose::new(
        Vec3::new(0.6, 0.1, 0.5),
        rotation::exp(Vec3::X * (0.4 + tilt)),
    );
    let along = Pose::new(Vec3::new(0.0, 0.4, 0.5), rotation::exp(Vec3::Y * 1.3));
    // The first joint has the carrier as its side B.
    let first = join(&mut world, JointKind::Hinge, Some(one), carrier, straight);
    let second = join(&mut world, JointKind::Hinge, Some(carrier), two, leaning);
    let rack = join(&mut world, JointKind::Slider, Some(carrier), bar, along);
    Train {
        world,
        carrier,
        wheels: [one, two],
        hinges: [first, second],
        rack,
    }
}

/// With the joints that they name, coupling rows are the slopes of their residuals: a motion that the joints allow moves the residual as
/// the row says, whatever the carrier does.
#[test]
fn sr_18_coupling_rows_are_the_slopes_of_their_residuals() {
    const EPS: f64 = 1e-5;
    for (tilt, kind) in [
        (0.0, BodyKind::Dynamic),
        (0.7, BodyKind::Dynamic),
        (0.0, BodyKind::Fixed),
    ] {
        let Train {
            mut world,
            wheels,
            hinges,
            rack,
            ..
        } = train(kind.clone(), tilt);
        let coupled = [
            world
                .add_coupling("gear", gear(hinges[0], hinges[1], -1.7))
                .expect("a gear"),
            world
                .add_coupling(
                    "rack",
                    Coupling::Rack {
                        first: hinges[0],
                        second: rack,
                        radius: 0.2,
                        phase: None,
                    },
                )
                .expect("a rack"),
        ];
        let start = states(&world);
        // Rates of the three free motions, and a twist of the carrier.
        for rates in [[1.0, 0.0, 0.0], [0.3, -0.8, 0.5], [-0.6, 0.2, 0.9]] {
            let carrier = if kind == BodyKind::Fixed {
                Vec3::ZERO
            } else {
                Vec3::new(0.4, -0.7, 0.5)
            };
            let shift = carrier * 0.3;
            let twists = twists(
                &world, &hinges, rack, &wheels, &start, carrier, shift, rates,
            );
            for id in coupled {
                let joint = world.joint(id).expect("there");
                let residual = |t: f64| {
                    let moved = start.iter().zip(&twists).map(|(s, &(v, w))| BodyState {
                        position: s.position + v * t,
                        rotation: rotation::exp(w * t) * s.rotation,
                        ..*s
                    });
                    let moved: Vec<BodyState> = moved.collect();
                    joint.place(&moved, &[]).held(joint.desc.kind)
                };
                let held = residual(0.0);
                let row = held.rows[0];
                let slot =
                    |id: Option<u32>| id.map_or((Vec3::ZERO, Vec3::ZERO), |i| twists[i as usize]);
                let ((v_a, w_a), (v_b, w_b)) = (slot(joint.a), slot(Some(joint.b)));
                let along_row = row.e.dot(v_b - v_a) + row.ang_a.dot(w_a) + row.ang_b.dot(w_b);
                let slope =
                    (residual(EPS).residuals[0] - residual(-EPS).residuals[0]) / (2.0 * EPS);
                near(
                    &format!("{:?} at tilt {tilt}", joint.desc.name),
                    along_row,
                    slope,
                    1e-7,
                );
            }
        }
    }
}

/// Velocities of all bodies when the carrier turns by `w` about the origin and shifts, and the joints move at given rates.
#[expect(clippy::too_many_arguments, reason = "a motion has many parts")]
fn twists(
    world: &World,
    hinges: &[JointId; 2],
    rack: JointId,
    wheels: &[BodyId; 2],
    start: &[BodyState],
    w: Vec3,
    shift: Vec3,
    rates: [f64; 3],
) -> Vec<(Vec3, Vec3)> {
    let at = |p: Vec3| shift + w.cross(p);
    let mut out: Vec<(Vec3, Vec3)> = start.iter().map(|s| (at(s.position), w)).collect();
    for k in 0..2 {
        let place = world.joint(hinges[k]).expect("there").place(start, &[]);
        let sign = if k == 0 { -1.0 } else { 1.0 };
        let turn = place.b.vector(Vec3::Z) * (sign * rates[k]);
        let i = wheels[k].index();
        out[i].0 += turn.cross(start[i].position - place.b.position);
        out[i].1 += turn;
    }
    let bar = world.joint(rack).expect("there");
    let along = bar.place(start, &[]).b.vector(Vec3::Z);
    out[bar.b as usize].0 += along * rates[2];
    out
}

/// Gears on a free carrier, driven by a motor between the two: no momentum is made, and the ratio holds.
#[test]
fn gears_on_a_free_carrier_keep_momentum_and_ratio() {
    let Train {
        mut world,
        carrier,
        wheels,
        hinges,
        ..
    } = train(BodyKind::Dynamic, 0.0);
    world.set_gravity(Vec3::ZERO).expect("none");
    let id = world
        .add_coupling("gear", gear(hinges[0], hinges[1], -1.5))
        .expect("a gear");
    // A motor between carrier and wheel: what it gives the one it takes from the other.
    let motor = Some(Motor::Velocity {
        target: 3.0,
        max_force: 0.2,
    });
    world
        .set_joint_freedom(
            hinges[0],
            Freedom {
                motor,
                ..Freedom::default()
            },
            Freedom::default(),
        )
        .expect("a motor");
    let spin = |world: &World| -> Vec3 {
        world
            .body_ids()
            .map(|id| {
                let (s, b) = (state(world, id), world.body(id).expect("there"));
                let inertia = 1.0 / b.inverse_mass;
                let moments = Mat3::from_diagonal(Vec3::splat(0.025) * inertia);
                let turned =
                    Mat3::from_quat(s.rotation) * moments * Mat3::from_quat(s.rotation).transpose();
                s.position.cross(s.velocity * inertia) + turned * s.angular_velocity
            })
            .sum()
    };
    let before = spin(&world);
    for _ in 0..500 {
        world.step(0.002).expect("a step");
    }
    below("angular momentum", (spin(&world) - before).length(), 1e-9);
    near(
        "speed",
        state(&world, wheels[1]).angular_velocity.length().min(0.1),
        0.1,
        0.0,
    );
    let joint = world.joint(id).expect("there");
    let held = world.joint_place(id).expect("there").held(joint.desc.kind);
    below("phase", held.residuals[0].abs(), 1e-9);
    assert!(
        state(&world, carrier).angular_velocity.length() > 1e-3,
        "the carrier moves"
    );
}

/// `TIPPE_TURNS=10000` takes a minute.
#[test]
fn gear_phase_stays_through_many_turns() {
    let turns = std::env::var("TIPPE_TURNS").map_or(30.0, |n| n.parse().expect("a number"));
    for method in ["sequential", "simultaneous"] {
        phase_stays(method, (turns * 13.4) as usize, turns);
    }
}

/// A motor drives a gear train on a fixed frame through many turns; the phase stays.
fn phase_stays(method: &str, steps: usize, turns: f64) {
    let Train {
        mut world,
        hinges,
        rack,
        ..
    } = train(BodyKind::Fixed, 0.0);
    let method = Method::from_name(method).expect("a method");
    world.set_method(method).expect("its parameters are good");
    let driven = Freedom {
        motor: Some(Motor::Velocity {
            target: 50.0,
            max_force: 1e4,
        }),
        ..Freedom::default()
    };
    world
        .set_joint_freedom(hinges[0], driven, Freedom::default())
        .expect("a motor");
    let id = world
        .add_coupling("gear", gear(hinges[0], hinges[1], -1.5))
        .expect("a gear");
    let turn = Coupling::Rack {
        first: hinges[0],
        second: rack,
        radius: 1e-4,
        phase: None,
    };
    let bar = world.add_coupling("rack", turn).expect("a rack");
    let mut worst: f64 = 0.0;
    for _ in 0..steps {
        world.step(0.01).expect("a step");
        for id in [id, bar] {
            let joint = world.joint(id).expect("there");
            let held = world.joint_place(id).expect("there").held(joint.desc.kind);
            worst = worst.max(held.residuals[0].abs());
        }
    }
    let turned = world.joint_angle(hinges[0]).expect("there") / std::f64::consts::TAU;
    assert!(turned > turns, "{turned} turns");
    below("phase error after many turns", worst, 1e-9);
    let name = world.method().name();
    println!("{name}: {turned:.1} turns, phase error {worst:.2e}");
}

/// A nut on a vertical screw falls with m g = (m + I (2π/p)²) a, and a snapshot of it goes on bit for bit.
#[test]
fn a_screw_falls_as_its_pitch_says() {
    let mut world = World::new(Method::default()).expect("a world");
    let nut = body(&mut world, Vec3::ZERO, 1.0, BodyKind::Dynamic);
    let pitch = 0.05;
    let screw = join(
        &mut world,
        JointKind::Screw { pitch },
        None,
        nut,
        Pose::IDENTITY,
    );
    for _ in 0..300 {
        world.step(0.005).expect("a step");
    }
    let mut twin = World::restore(&world.snapshot()).expect("a snapshot");
    for _ in 0..300 {
        world.step(0.005).expect("a step");
        twin.step(0.005).expect("a step");
    }
    assert_eq!(world.hash(), twin.hash());
    let rise = pitch / std::f64::consts::TAU;
    let a = 9.81 / (1.0 + 0.025 / (rise * rise));
    let z = state(&world, nut).position.z;
    near("height", z, -0.5 * a * 9.0, 1e-9);
    let angle = world.joint_angle(screw).expect("there");
    near("turned", angle, z / rise, 1e-6);
    assert!(angle.abs() > 2.0 * std::f64::consts::TAU, "{angle}");
}

/// Every kind holds under gravity and a random kick, with either method, and a twin from a snapshot goes the same way.
#[test]
fn sr_18_every_mate_holds_in_motion() {
    let kinds = [
        JointKind::PointOnLine,
        JointKind::PointOnPlane,
        JointKind::Parallel,
        JointKind::Perpendicular,
        JointKind::Angle { angle: 0.8 },
        JointKind::LineOnLine,
        JointKind::Planar,
        JointKind::SphereOnPlane { radius: 0.1 },
        JointKind::CylinderOnPlane { radius: -0.1 },
        JointKind::Orientation,
        JointKind::Screw { pitch: 0.3 },
    ];
    for kind in kinds {
        for method in ["sequential", "iterative"] {
            let mut world = World::new(Method::from_name(method).expect("known")).expect("a world");
            let one = body(&mut world, Vec3::new(0.2, 0.1, 0.0), 1.0, BodyKind::Dynamic);
            let two = body(
                &mut world,
                Vec3::new(-0.1, 0.2, 0.4),
                2.0,
                BodyKind::Dynamic,
            );
            let at = Pose::new(
                Vec3::new(0.1, 0.0, 0.2),
                rotation::exp(Vec3::new(0.4, -0.3, 0.9)),
            );
            let offset = match kind {
                JointKind::Perpendicular => Pose::new(
                    Vec3::ZERO,
                    rotation::exp(Vec3::X * std::f64::consts::FRAC_PI_2),
                ),
                JointKind::Angle { angle } => Pose::new(Vec3::ZERO, rotation::exp(Vec3::X * angle)),
                JointKind::SphereOnPlane { radius } => Pose::from_position(Vec3::Z * radius),
                JointKind::CylinderOnPlane { radius } => Pose::new(
                    Vec3::Z * radius,
                    rotation::exp(Vec3::X * std::f64::consts::FRAC_PI_2),
                ),
                _ => Pose::IDENTITY,
            };
            let local =
                |id: BodyId, pose: Pose| world.pose(id).expect("there").inverse().compose(&pose);
            let desc = JointDesc::new(
                kind,
                Some(one),
                local(one, at),
                two,
                local(two, at.compose(&offset)),
            );
            let id = world.add_joint(&desc).expect("a joint");
            join(
                &mut world,
                JointKind::Ball,
                None,
                one,
                Pose::from_position(Vec3::new(0.3, 0.3, 0.3)),
            );
            world
                .set_velocity(two, Vec3::new(0.3, -0.2, 0.1), Vec3::new(0.7, 1.1, -0.6))
                .expect("set");
            for _ in 0..300 {
                world.step(0.005).expect("a step");
            }
            let held = world.joint_place(id).expect("there").held(kind);
            for r in &held.residuals[..held.count] {
                below(&format!("{kind:?} with {method}"), r.abs(), 1e-8);
            }
        }
    }
}

#[test]
fn couplings_go_with_their_joints_and_refuse_what_makes_no_sense() {
    let Train {
        mut world,
        hinges,
        rack,
        ..
    } = train(BodyKind::Fixed, 0.0);
    let refused = |world: &mut World, coupling: Coupling, field: &str| {
        let e = world.add_coupling("no", coupling).expect_err("refused");
        assert_eq!(e.field, field, "{}", e.reason);
    };
    for ratio in [0.0, f64::INFINITY, f64::NAN, 1e-300] {
        refused(&mut world, gear(hinges[0], hinges[1], ratio), "ratio");
    }
    refused(&mut world, gear(hinges[0], hinges[0], 2.0), "second");
    refused(&mut world, gear(hinges[0], rack, 2.0), "second");
    let bar = |radius: f64| Coupling::Rack {
        first: hinges[0],
        second: rack,
        radius,
        phase: None,
    };
    refused(&mut world, bar(0.0), "radius");
    refused(
        &mut world,
        Coupling::Rack {
            first: rack,
            second: rack,
            radius: 1.0,
            phase: None,
        },
        "second",
    );
    refused(
        &mut world,
        Coupling::Rack {
            first: rack,
            second: hinges[0],
            radius: 1.0,
            phase: None,
        },
        "first",
    );
    let id = world
        .add_coupling("gear", gear(hinges[0], hinges[1], -2.0))
        .expect("a gear");
    let other = world.add_coupling("rack", bar(0.1)).expect("a rack");
    refused(&mut world, gear(id, hinges[1], 2.0), "first");
    let restored = World::restore(&world.snapshot()).expect("a snapshot");
    assert_eq!(restored.hash(), world.hash());
    world.remove_joint(hinges[1]).expect("there");
    assert!(world.joint(id).is_err(), "the gear goes with its joint");
    assert!(world.joint(other).is_ok());
    for _ in 0..5 {
        world.step(0.01).expect("a step");
    }
    // Two wheels on one axis of a carrier that moves leave it with a torque.
    let mut world = World::new(Method::default()).expect("a world");
    let carrier = body(&mut world, Vec3::ZERO, 1.0, BodyKind::Dynamic);
    let wheels = [0.1, 0.2].map(|z| body(&mut world, Vec3::Z * z, 1.0, BodyKind::Dynamic));
    let hinges = wheels.map(|w| {
        join(
            &mut world,
            JointKind::Hinge,
            Some(carrier),
            w,
            Pose::IDENTITY,
        )
    });
    refused(&mut world, gear(hinges[0], hinges[1], 2.0), "second");
    // No ratio of 1: they turn as one, and nothing is left. Numbers of the mates are checked too.
    for kind in [
        JointKind::Angle { angle: 0.0 },
        JointKind::Angle { angle: f64::NAN },
        JointKind::Screw { pitch: 0.0 },
        JointKind::SphereOnPlane {
            radius: f64::INFINITY,
        },
    ] {
        let desc = JointDesc::new(kind, None, Pose::IDENTITY, carrier, Pose::IDENTITY);
        world.add_joint(&desc).expect_err("refused");
    }
}
