//! Random worlds for `events`: up to 40 bodies of every shape, restitution and friction at random, joints in a third of them. The same seed is
//! the same world.

#![allow(dead_code)]

use crate::geometry_support::Random;
use tippe::{
    BodyDesc, BodyId, EventsParams, JointDesc, JointKind, Method, Pose, Shape, Surface, Vec3, World,
};

/// What a run of one world came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub bodies: usize,
    pub joints: usize,
    pub impacts: usize,
    pub promotions: u64,
    pub steps: u32,
    /// Steps in which a loop ended at its limit.
    pub capped: u32,
    /// Energy made, relative to the turnover [1].
    pub gained: f64,
    /// Why it stopped, if it did.
    pub stopped: Option<String>,
}

impl Outcome {
    /// Whether nothing was jointed and nothing rested: every impact by the impact law.
    pub const fn is_pure(&self) -> bool {
        self.joints == 0 && self.promotions == 0
    }

    /// What is wrong, if anything is.
    pub fn fault(&self) -> Option<String> {
        let most = if self.is_pure() { 1e-9 } else { 1e-6 };
        if let Some(reason) = &self.stopped {
            return Some(reason.clone());
        }
        (self.gained > most).then(|| format!("gained {:.1e} of the turnover", self.gained))
    }
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

/// Draws a world.
pub fn draw(seed: u64) -> (World, usize, usize) {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9).wrapping_add(91));
    let mut world = World::new(Method::Events(EventsParams::default())).expect("good parameters");
    let gravity = if r.unit() < 0.75 { 9.81 } else { 0.0 };
    world.set_gravity(Vec3::Z * -gravity).expect("finite");
    let e = [0.0, 1.0, r.unit(), r.unit()][(r.next() % 4) as usize];
    let mu = [0.0, r.unit(), r.unit(), 1.0][(r.next() % 4) as usize];
    let surface = Surface::new(mu, e);
    world.set_default_surface(surface).expect("a good surface");
    let count = 1 + (r.next() % 40) as usize;
    let side = libm::cbrt(count as f64).ceil() as usize;
    let pitch = 0.4;
    let room = pitch * side as f64;
    let mut walls = vec![(Vec3::Z, 0.0)];
    for axis in [Vec3::X, Vec3::Y] {
        walls.extend([(axis, -0.1), (-axis, room + 0.1)]);
    }
    if gravity == 0.0 {
        walls.push((-Vec3::Z, room + 0.3));
    }
    for (normal, at) in walls {
        let wall = BodyDesc::fixed(Shape::HalfSpace { normal }, normal.abs() * at);
        world.add_body(&wall).expect("a wall");
    }
    let mut ids: Vec<(BodyId, Vec3)> = Vec::new();
    for i in 0..count {
        let cell = Vec3::new(
            (i % side) as f64,
            (i / side % side) as f64,
            (i / side / side) as f64,
        );
        let at = (cell + Vec3::splat(0.5)) * pitch;
        let mut body = BodyDesc::dynamic(shape(&mut r, 0.11), Vec3::ZERO);
        body.pose = Pose::new(at, r.rotation());
        body.velocity = r.vector(2.0);
        body.angular_velocity = r.vector(5.0);
        ids.push((world.add_body(&body).expect("a body"), at));
    }
    let mut joints = 0;
    if seed.is_multiple_of(3) {
        for pair in ids.windows(2).step_by(2) {
            let kinds = [
                JointKind::Ball,
                JointKind::Hinge,
                JointKind::Fixed,
                JointKind::Universal,
            ];
            let kind = kinds[(r.next() % 4) as usize];
            let middle = Pose::new(0.5 * (pair[0].1 + pair[1].1), r.rotation());
            let local = |id: BodyId| {
                let pose = world.pose(id).expect("a body");
                pose.inverse().compose(&middle)
            };
            let (a, b) = (local(pair[0].0), local(pair[1].0));
            // A universal joint has its axes square to each other.
            let desc = JointDesc::new(kind, Some(pair[0].0), a, pair[1].0, b);
            joints += usize::from(world.add_joint(&desc).is_ok());
        }
    }
    (world, count, joints)
}

/// Runs a world for so long.
pub fn run(seed: u64, seconds: f64) -> Outcome {
    let (mut world, bodies, joints) = draw(seed);
    let mut out = Outcome {
        bodies,
        joints,
        ..Outcome::default()
    };
    let start = world.energy().0;
    let dt = 1.0 / 60.0;
    let mut turnover = start;
    for _ in 0..(seconds / dt).round() as u32 {
        match world.step(dt) {
            Ok(report) => {
                out.steps += 1;
                out.impacts += report.collisions;
                out.promotions += u64::from(report.work.promotions);
                out.capped += u32::from(report.work.caps_open() > 0);
                turnover += report.energy.gravity.max(0.0) + report.energy.prescribed.abs();
                if !report.is_finite() {
                    out.stopped = Some("not finite".into());
                    break;
                }
            }
            Err(e) => {
                out.stopped = Some(e.to_string());
                break;
            }
        }
    }
    out.gained = world.ledger().gained / turnover.max(f64::MIN_POSITIVE);
    out
}
