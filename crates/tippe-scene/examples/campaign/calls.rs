//! Joints and articulations by calls of the library, with numbers and ids that may make no sense, edited and removed between steps.
//!
//! Reads: random numbers.  Writes: nothing.
//! Called by: the campaigns `joints` and `articulations`.
//! Source: docs/reliability.md.

use super::kinds::{Case, finite, keep};
use super::random::{ODD, Random};
use tippe::articulated::{AdaptiveDesc, Joint, Limits, LinkDesc};
use tippe::shape::mass::MassProperties;
use tippe::{
    ArticulationDesc, BodyDesc, BodyId, ConeLimits, Coupling, Freedom, IterativeParams, JointDesc,
    JointId, JointKind, LinkBodyDesc, MassSpec, Mat3, Method, Motor, Pose, Quat, Shape, Spring,
    Vec3, World,
};

/// Calls between two steps, at most.
const CALLS: usize = 5;

/// Numbers and what is made of them, and a diary of the calls for whoever looks at a failure.
struct Caller<'a> {
    random: &'a mut Random,
    odd: bool,
    world: World,
    bodies: Vec<BodyId>,
    joints: Vec<JointId>,
    diary: String,
    refused: u32,
    made: u32,
}

/// Carries out one execution.
///
/// # Errors
/// A number that is none after a step that went well; a snapshot that is refused.
pub fn execute(random: &mut Random, trees: bool, case: &Case) -> Result<&'static str, String> {
    let method = match random.below(2) {
        0 => Method::default(),
        _ => Method::Iterative(IterativeParams::default()),
    };
    let odd = random.one_in(3);
    let world = World::new(method).map_err(|e| e.to_string())?;
    let mut caller = Caller {
        random,
        odd,
        world,
        bodies: Vec::new(),
        joints: Vec::new(),
        diary: String::new(),
        refused: 0,
        made: 0,
    };
    let outcome = caller.play(trees, case);
    keep(case, caller.diary.as_bytes(), "txt");
    outcome
}

impl Caller<'_> {
    fn play(&mut self, trees: bool, case: &Case) -> Result<&'static str, String> {
        let floor = BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO);
        self.bodies
            .push(self.world.add_body(&floor).map_err(|e| e.to_string())?);
        for _ in 0..1 + self.random.below(4) {
            self.body();
        }
        let dt = *self.random.pick(&[0.001, 0.01, 1.0 / 60.0]);
        for _ in 0..2 {
            for _ in 0..1 + self.random.below(CALLS) {
                match self.random.below(4) {
                    0 | 1 if trees => self.tree(),
                    0 | 1 => self.joint(),
                    _ => self.edit(),
                }
            }
            keep(case, self.diary.as_bytes(), "txt");
            if self.world.step(dt).is_err() {
                return Ok("stopped with a reason");
            }
            finite(&self.world)?;
        }
        let twin =
            World::restore(&self.world.snapshot()).map_err(|e| format!("its own snapshot: {e}"))?;
        if twin.hash() != self.world.hash() {
            return Err("its own snapshot gives another world".into());
        }
        Ok(match (self.made, self.refused) {
            (0, _) => "all refused, stepped",
            (_, 0) => "stepped",
            _ => "some refused, stepped",
        })
    }

    /// Notes a call and what came of it.
    fn note<T, E>(&mut self, call: &str, result: Result<T, E>) -> Option<T> {
        let went = if result.is_ok() { "done" } else { "refused" };
        self.diary.push_str(&format!("{went}: {call}\n"));
        *(if result.is_ok() {
            &mut self.made
        } else {
            &mut self.refused
        }) += 1;
        result.ok()
    }

    fn number(&mut self, low: f64, high: f64) -> f64 {
        if self.odd && self.random.one_in(25) {
            *self.random.pick(&ODD)
        } else {
            self.random.range(low, high)
        }
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        let [x, y, z] = [0; 3].map(|_| self.number(-size, size));
        Vec3::new(x, y, z)
    }

    fn pose(&mut self, size: f64) -> Pose {
        let at = self.vector(size);
        let turn = match self.random.below(3) {
            0 => Quat::IDENTITY,
            1 => Quat::from_rotation_y(self.random.range(-3.0, 3.0)),
            _ => Quat::from_rotation_x(self.number(-3.0, 3.0)),
        };
        Pose::new(at, turn)
    }

    fn shape(&mut self) -> Shape {
        let (a, b) = (self.random.range(0.05, 0.3), self.random.range(0.05, 0.3));
        match self.random.below(3) {
            0 => Shape::Sphere { radius: a },
            1 => Shape::Capsule {
                half_length: b,
                radius: a,
            },
            _ => Shape::Cuboid {
                half: Vec3::new(a, b, a),
            },
        }
    }

    fn body(&mut self) {
        let (shape, at) = (self.shape(), self.vector(0.8) + Vec3::Z);
        let mut desc = BodyDesc::dynamic(shape, at);
        desc.velocity = self.vector(2.0);
        desc.angular_velocity = self.vector(5.0);
        desc.mass = MassSpec::Mass(self.number(0.01, 20.0));
        let made = self.world.add_body(&desc);
        let made = self.note(&format!("{desc:?}"), made);
        self.bodies.extend(made);
    }

    /// A body, sometimes one that was removed.
    fn some_body(&mut self) -> BodyId {
        *self.random.pick(&self.bodies)
    }

    fn motor(&mut self) -> Motor {
        let (target, max_force) = (self.number(-3.0, 3.0), self.number(0.0, 100.0));
        match self.random.below(3) {
            0 => Motor::Velocity { target, max_force },
            1 => Motor::Position {
                target,
                time: self.number(0.01, 1.0),
                max_force,
            },
            _ => Motor::Servo {
                position: target,
                velocity: self.number(-1.0, 1.0),
                kp: self.number(0.0, 1e4),
                kd: self.number(0.0, 100.0),
                max_force,
            },
        }
    }

    fn spring(&mut self) -> Spring {
        Spring {
            rest: self.number(-1.0, 1.0),
            stiffness: self.number(0.0, 1e4),
            damping: self.number(0.0, 10.0),
        }
    }

    fn freedom(&mut self) -> Freedom {
        let limits = (self.number(-2.0, 0.5), self.number(-0.5, 2.0));
        Freedom {
            limits: self.random.one_in(3).then_some(limits),
            motor: self.random.one_in(3).then(|| self.motor()),
            spring: self.random.one_in(4).then(|| self.spring()),
        }
    }

    fn kind(&mut self) -> JointKind {
        let value = self.number(-0.5, 1.5);
        match self.random.below(22) {
            0 => JointKind::Ball,
            1 => JointKind::Hinge,
            2 => JointKind::Slider,
            3 => JointKind::Fixed,
            4 => JointKind::Cylindrical,
            5 => JointKind::Universal,
            6 => JointKind::Distance {
                min: value,
                max: self.number(0.0, 2.0),
            },
            7 => JointKind::Turn,
            8 => JointKind::Slide,
            9 => JointKind::Swing,
            10 => JointKind::Twist,
            11 => JointKind::PointOnLine,
            12 => JointKind::PointOnPlane,
            13 => JointKind::Parallel,
            14 => JointKind::Perpendicular,
            15 => JointKind::Angle { angle: value },
            16 => JointKind::LineOnLine,
            17 => JointKind::Planar,
            18 => JointKind::SphereOnPlane { radius: value },
            19 => JointKind::CylinderOnPlane { radius: value },
            20 => JointKind::Orientation,
            _ => JointKind::Screw { pitch: value },
        }
    }

    fn joint(&mut self) {
        let (a, b) = (self.some_body(), self.some_body());
        let a = (!self.random.one_in(4)).then_some(a);
        let (kind, frames) = (self.kind(), [self.pose(0.5), self.pose(0.5)]);
        let mut desc = JointDesc::new(kind, a, frames[0], b, frames[1]);
        if self.random.one_in(2) {
            // One that fits: both frames at the same place of the world.
            let pose = |id| self.world.pose(id).unwrap_or(Pose::IDENTITY);
            let at = pose(b).compose(&frames[1]);
            desc.frame_a = a.map_or(at, |a| pose(a).inverse().compose(&at));
        }
        if self.random.one_in(2) || self.odd {
            (desc.rotation, desc.translation) = (self.freedom(), self.freedom());
            if !self.odd && !kind.turns() {
                desc.rotation = Freedom::default();
            }
            if !self.odd && !kind.slides() {
                desc.translation = Freedom::default();
            }
        }
        if self.random.one_in(6) {
            (desc.break_force, desc.break_torque) = (self.number(1.0, 1e3), self.number(1.0, 1e3));
        }
        desc.collide = self.random.one_in(2);
        let made = self.world.add_joint(&desc);
        let made = self.note(&format!("{desc:?}"), made);
        self.joints.extend(made);
    }

    fn link_joint(&mut self) -> Joint {
        let (axis, other) = (self.vector(1.0), self.vector(1.0));
        match self.random.below(9) {
            0 | 1 => Joint::Revolute { axis },
            2 => Joint::Prismatic { axis },
            3 => Joint::Spherical,
            4 => Joint::Fixed,
            5 => Joint::Free,
            6 => Joint::Universal {
                first: axis,
                second: other,
            },
            7 => Joint::Cylindrical { axis },
            _ => Joint::Planar { normal: axis },
        }
    }

    fn link(&mut self, i: usize) -> LinkBodyDesc {
        let parent = match i {
            0 => None,
            _ if self.odd && self.random.one_in(20) => Some(i + self.random.below(3)),
            _ => Some(self.random.below(i)),
        };
        let (joint, placement, shape) = (self.link_joint(), self.pose(0.4), self.shape());
        let mass = self.number(0.05, 5.0);
        let mass = match self.random.below(8) {
            0 => MassProperties::NONE,
            _ => MassProperties {
                mass,
                center: self.vector(0.2),
                inertia: Mat3::from_diagonal(Vec3::splat(mass * self.random.range(0.01, 0.1))),
            },
        };
        let mut link = LinkBodyDesc::new(LinkDesc::new(parent, joint, placement, mass));
        let one = matches!(joint, Joint::Revolute { .. } | Joint::Prismatic { .. });
        if one || self.odd {
            let (min, max) = (self.number(-2.0, 0.3), self.number(-0.3, 2.0));
            link.link.limits = self.random.one_in(4).then_some(Limits {
                min,
                max,
                restitution: 0.0,
            });
            link.link.spring = self.random.one_in(5).then(|| self.spring());
            link.motor = self.random.one_in(4).then(|| self.motor());
            link.link.friction.coulomb = self.number(0.0, 1.0) * f64::from(self.random.one_in(3));
        }
        if joint == Joint::Spherical && self.random.one_in(2) {
            link.cone = Some(ConeLimits {
                center: self.vector(1.0),
                limb: self.vector(1.0),
                swing: self.number(0.1, 3.0),
                twist: None,
            });
        }
        link.shapes = vec![shape.into()];
        link.collide = self.random.one_in(4);
        link
    }

    fn tree(&mut self) {
        let count = 1 + self.random.below(6);
        let mut desc = ArticulationDesc {
            links: (0..count).map(|i| self.link(i)).collect(),
            ..ArticulationDesc::default()
        };
        desc.links[0].link.placement.position += 2.0 * Vec3::Z;
        desc.adaptive = match self.random.below(8) {
            0 => Some(AdaptiveDesc::joints(self.random.below(4))),
            1 => Some(AdaptiveDesc::error(self.number(0.0, 1.0))),
            _ => None,
        };
        let made = self.world.add_articulation(&desc);
        if let Some(id) = self.note(&format!("{desc:?}"), made) {
            self.bodies
                .extend(self.world.link_bodies(id).unwrap_or_default());
        }
    }

    /// One of the other calls, of whatever body, joint or tree.
    fn edit(&mut self) {
        let (body, force, point) = (self.some_body(), self.vector(50.0), self.vector(1.0));
        let joint = (!self.joints.is_empty()).then(|| *self.random.pick(&self.joints));
        let tree = self.world.articulation_ids().last();
        let (motor, freedom) = (self.motor(), self.freedom());
        let which = self.random.below(11);
        let world = &mut self.world;
        let went = match (which, joint, tree) {
            (0, Some(id), _) => world.remove_joint(id).is_ok(),
            (1, Some(id), _) => world.set_joint_freedom(id, freedom, freedom).is_ok(),
            (2, Some(id), _) => world.set_motor(id, Some(motor)).is_ok(),
            (3, Some(id), _) => {
                let other = *self.random.pick(&self.joints);
                let coupling = Coupling::Gear {
                    first: id,
                    second: other,
                    ratio: point.x,
                    phase: None,
                };
                world
                    .add_coupling("", coupling)
                    .map(|id| self.joints.push(id))
                    .is_ok()
            }
            (4, _, Some(id)) => {
                let state = world.articulation_state(id).cloned();
                state.is_ok_and(|mut state| {
                    state.velocities.iter_mut().for_each(|v| *v += point.y);
                    world.set_articulation_state(id, &state).is_ok()
                })
            }
            (5, _, Some(id)) => world.remove_articulation(id).is_ok(),
            (6, _, Some(id)) => world.mass_matrix(id).is_ok() && world.momentum_of(id).is_ok(),
            (7, ..) => world.set_motor(body, Some(motor)).is_ok(),
            (8, ..) => world.remove_body(body).is_ok(),
            (9, ..) => world.apply_impulse(body, force * 0.1, point).is_ok(),
            _ => world.apply_force(body, force, point).is_ok(),
        };
        let call = format!(
            "edit {which} of {body:?}, {joint:?}, {tree:?}: {motor:?} {freedom:?} {force} {point}"
        );
        let _ = self.note(&call, went.then_some(()).ok_or(()));
    }
}
