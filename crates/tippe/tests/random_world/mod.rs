//! Random worlds that no one would build on purpose: any shapes, mass ratios up to a million, joints that fit or not, huge motors, crushers,
//! articulations, bodies inside each other. The same seed is the same world.

#![allow(dead_code)]

use crate::geometry_support::Random;
use tippe::articulated::{Joint, LinkDesc};
use tippe::shape::mass::MassProperties;
use tippe::{
    ArticulationDesc, BodyDesc, BodyId, BodyKind, JointDesc, JointKind, LinkBodyDesc, MassSpec,
    Mat3, Method, Motion, Motor, Pose, Quat, Shape, ShapeDesc, Surface, Vec3, World,
};

/// What a run of one world came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub dt: f64,
    pub steps: u32,
    pub bodies: usize,
    pub joints: usize,
    /// Why it stopped, if it did.
    pub stopped: Option<String>,
    /// What is wrong, if anything is.
    pub fault: Option<String>,
    /// Energy made, relative to the scale of the run [1].
    pub gained: f64,
    /// Energy beyond what was put in, the worst of the run, relative to the scale of the run and to a second [1/s].
    pub excess: f64,
    /// Fastest body seen [m/s].
    pub fastest: f64,
}

/// Draws a world; also its step [s].
pub fn draw(seed: u64, method: Method) -> (World, f64) {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9).wrapping_add(17));
    let dt = 1e-4 * libm_pow(1.0 / 30.0 / 1e-4, r.unit());
    let mut world = World::new(method).expect("default parameters");
    let gravity = if r.unit() < 0.8 { 9.81 } else { 0.0 };
    world.set_gravity(Vec3::Z * -gravity).expect("finite");
    let e = [0.0, 1.0, r.unit(), r.unit()][(r.next() % 4) as usize];
    let mu = [0.0, r.unit(), r.unit(), 1.0][(r.next() % 4) as usize];
    world
        .set_default_surface(Surface::new(mu, e))
        .expect("good surface");
    let count = 1 + (r.next() % 10) as usize;
    let room = 0.25 + 0.22 * libm::cbrt(count as f64);
    if r.unit() < 0.8 {
        add(
            &mut world,
            &BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO),
        );
    }
    if r.unit() < 0.3 {
        for side in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y] {
            let half = Vec3::new(0.1, 0.1, 0.5) + (Vec3::ONE - side.abs()) * room;
            let wall = Shape::Cuboid { half };
            add(&mut world, &BodyDesc::fixed(wall, side * (room + 0.35)));
        }
    }
    let masses = r.unit() < 0.5;
    let mut ids = Vec::new();
    for _ in 0..count {
        let size = 0.05 * libm_pow(6.0, r.unit());
        let mut body = BodyDesc::dynamic(shape(&mut r, size), Vec3::ZERO);
        let low = if r.unit() < 0.2 { 0.0 } else { size * 2.0 };
        let at = Vec3::new(
            r.range(-room, room),
            r.range(-room, room),
            r.range(low, low + 2.0 * room),
        );
        body.pose = Pose::new(at, r.rotation());
        body.velocity = r.vector(2.0);
        body.angular_velocity = r.vector(6.0);
        if masses {
            body.mass = MassSpec::Mass(1e-3 * libm_pow(1e6, r.unit()));
        }
        ids.push((add(&mut world, &body), body.pose, size));
    }
    if r.unit() < 0.25 {
        crusher(&mut r, room, &mut world);
    }
    if r.unit() < 0.5 {
        joints(&mut r, &ids, &mut world);
    }
    if r.unit() < 0.2 {
        articulation(&mut r, room, &mut world);
    }
    (world, dt)
}

fn libm_pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

fn add(world: &mut World, desc: &BodyDesc) -> BodyId {
    world.add_body(desc).expect("a good body")
}

fn shape(r: &mut Random, size: f64) -> Shape {
    let mut part = || size * r.range(0.4, 1.0);
    let (x, y, z) = (part(), part(), part());
    match r.next() % 6 {
        0 => Shape::Sphere { radius: x },
        1 => Shape::Cuboid {
            half: Vec3::new(x, y, z),
        },
        2 => Shape::Capsule {
            half_length: x,
            radius: 0.6 * y,
        },
        3 => Shape::Cylinder {
            half_length: x,
            radius: y,
        },
        4 => Shape::Cone {
            half_length: x,
            radius: y,
        },
        _ => {
            let count = 6 + (r.next() % 8) as usize;
            r.hull(count, Vec3::new(x, y, z))
        }
    }
}

/// A kinematic plate that goes through everything, to a wall or back and forth.
fn crusher(r: &mut Random, room: f64, world: &mut World) {
    let half = Vec3::new(0.05, room, room);
    let mut plate = BodyDesc::fixed(Shape::Cuboid { half }, Vec3::new(-2.0 * room, 0.0, room));
    plate.kind = BodyKind::Kinematic(if r.unit() < 0.5 {
        Motion::Constant {
            velocity: Vec3::X * r.range(0.5, 4.0),
            angular_velocity: Vec3::Z * r.range(-1.0, 1.0),
        }
    } else {
        Motion::Sine {
            amplitude: Vec3::X * r.range(0.2, 2.0),
            rotation_amplitude: Vec3::Z * r.range(0.0, 0.3),
            frequency: r.range(0.3, 3.0),
            phase: 0.0,
        }
    });
    add(world, &plate);
}

/// Joints between neighbours: most fit, some are off by up to a body's size, some contradict each other.
fn joints(r: &mut Random, ids: &[(BodyId, Pose, f64)], world: &mut World) {
    for i in 0..ids.len() {
        if r.unit() < 0.4 {
            continue;
        }
        let (b, pose_b, size) = ids[i];
        let other = (i > 0 && r.unit() < 0.8).then(|| ids[i - 1]);
        let at = pose_b.position + r.vector(size);
        let turn = r.rotation();
        let inside = |pose: Pose, x: Vec3, q: Quat| {
            let back = pose.rotation.conjugate();
            Pose::new(back * (x - pose.position), (back * q).normalize())
        };
        let (mut off, mut turned) = (Vec3::ZERO, turn);
        if r.unit() < 0.2 {
            off = r.vector(0.5 * size);
            turned = r.rotation();
        }
        let frame_b = inside(pose_b, at, turn);
        let (a, frame_a) = match other {
            Some((a, pose_a, _)) => (Some(a), inside(pose_a, at + off, turned)),
            None => (None, Pose::new(at + off, turned)),
        };
        let kinds = [
            JointKind::Ball,
            JointKind::Hinge,
            JointKind::Slider,
            JointKind::Fixed,
            JointKind::Distance {
                min: 0.0,
                max: size,
            },
            JointKind::Universal,
        ];
        let kind = kinds[(r.next() % 6) as usize];
        let mut joint = JointDesc::new(kind, a, frame_a, b, frame_b);
        joint.name = format!("joint {i}");
        joint.collide = r.unit() < 0.3;
        if r.unit() < 0.3 {
            let motor = Motor::Velocity {
                target: r.range(-5.0, 5.0),
                max_force: libm_pow(10.0, r.range(0.0, 6.0)),
            };
            match kind {
                JointKind::Hinge => joint.rotation.motor = Some(motor),
                JointKind::Slider => joint.translation.motor = Some(motor),
                _ => {}
            }
        }
        // Some do not fit so badly that they are refused: then they are not there.
        let _ = world.add_joint(&joint);
        if r.unit() < 0.1 {
            joint.frame_a.position += r.vector(0.3 * size);
            let _ = world.add_joint(&joint);
        }
    }
}

/// A chain of links among the bodies, perhaps inside one.
fn articulation(r: &mut Random, room: f64, world: &mut World) {
    let count = 1 + (r.next() % 4) as usize;
    let mut links = Vec::new();
    for i in 0..count {
        let mass = MassProperties {
            mass: 1e-1 * libm_pow(100.0, r.unit()),
            center: Vec3::X * 0.15,
            inertia: Mat3::from_diagonal(Vec3::new(1e-3, 1e-2, 1e-2)),
        };
        let axis = r.vector(1.0).normalize_or(Vec3::Y);
        let at = if i == 0 {
            Vec3::new(
                r.range(-room, room),
                r.range(-room, room),
                r.range(0.2, 1.5),
            )
        } else {
            Vec3::X * 0.3
        };
        let joint = Joint::Revolute { axis };
        let parent = (i > 0).then(|| i - 1);
        let link = LinkDesc::new(parent, joint, Pose::from_position(at), mass);
        let mut link = LinkBodyDesc::new(link);
        let rod = Shape::Capsule {
            half_length: 0.1,
            radius: 0.04,
        };
        let along = Quat::from_rotation_arc(Vec3::Z, Vec3::X);
        link.shapes = vec![ShapeDesc {
            pose: Pose::new(Vec3::X * 0.15, along),
            ..ShapeDesc::from(rod)
        }];
        if r.unit() < 0.3 {
            link.motor = Some(Motor::Velocity {
                target: r.range(-5.0, 5.0),
                max_force: libm_pow(10.0, r.range(0.0, 4.0)),
            });
        }
        links.push(link);
    }
    let _ = world.add_articulation(&ArticulationDesc {
        links,
        ..ArticulationDesc::default()
    });
}

/// Prints what a world is made of.
fn tell(world: &World) {
    for id in world.body_ids() {
        let body = world.body(id).expect("a body");
        let shapes: Vec<_> = body
            .shapes
            .iter()
            .map(|s| format!("{:.60?}", s.shape))
            .collect();
        println!(
            "  {id:?}: mass {:.2e} {:?} {shapes:.60?}",
            body.mass, body.kind
        );
    }
    for id in world.joint_ids() {
        let joint = world.joint(id).expect("a joint");
        let (a, b) = (joint.a, joint.b);
        let motors = (joint.desc.rotation.motor, joint.desc.translation.motor);
        println!("  {:?} of {a:?} and {b}: {motors:?}", joint.desc.kind);
    }
}

/// Runs a world for `seconds`, but not for more than `steps_max` steps.
/// `watched`: prints the steps that make energy.
pub fn run(
    seed: u64,
    method: Method,
    seconds: f64,
    steps_max: u32,
    refine: f64,
    watched: bool,
) -> Outcome {
    let (mut world, dt) = draw(seed, method);
    if watched {
        tell(&world);
    }
    let dt = dt * refine;
    let mut out = Outcome {
        dt,
        bodies: world.body_count(),
        joints: world.joint_ids().count(),
        ..Outcome::default()
    };
    let start = world.energy();
    let start = start.0 + start.1;
    let mut scale = world.energy_scale().max(world.energy().0);
    let steps = ((seconds / dt) as u32).clamp(1, steps_max);
    for step in 0..steps {
        out.steps = step + 1;
        let report = match world.step(dt) {
            Ok(report) => report,
            Err(e) => {
                out.stopped = Some(format!("step {step}: {e}"));
                out.fault.clone_from(&out.stopped);
                return out;
            }
        };
        scale = scale.max(report.energy_scale);
        if watched && report.energy.gained > 1e-8 * scale {
            let r = &report.residuals;
            println!(
                "  step {step} t {:.4}: gained {:.2e} J of {scale:.2e}, contacts {}, hits {}, depth {:.1e}, complementarity {:.1e}, stick {:.1e}, joints {:.1e} {:.1e}, substeps {}, caps {}",
                report.time,
                report.energy.gained,
                report.contacts,
                report.collisions,
                report.penetration,
                r.complementarity,
                r.stick_slip,
                r.joint_position,
                r.joint_velocity,
                report.work.substeps,
                report.work.caps_hit,
            );
        }
        let l = world.ledger();
        let put_in = l.external + l.motors + l.prescribed + l.position_correction;
        let (k, p) = world.energy();
        let excess = (k + p - start - put_in) / scale;
        // Errors of a first step are small, and so is its time.
        out.excess = out.excess.max((excess - 1e-4) / report.time.max(dt));
        out.gained = l.gained / scale;
        for id in world.body_ids() {
            if world.body(id).is_ok_and(|b| b.mass > 0.0)
                && let Ok(s) = world.body_state(id)
            {
                out.fastest = out.fastest.max(s.velocity.length());
            }
        }
    }
    if out.gained.is_nan() || out.gained > 1e-6 {
        out.fault = Some(format!("gained {:.2e}", out.gained));
    } else if (out.excess.is_nan() || out.excess > 0.01) && dt <= 1.0 / 60.0 {
        out.fault = Some(format!("excess {:.2e} a second", out.excess));
    }
    out
}
