//! What the joint tests share: bodies without shapes, joints given in world coordinates, and how far a joint is from holding.

#![allow(dead_code)]

use crate::support::{add, state};
use tippe::dynamics::joint::JointPlace;
use tippe::math::rotation;
use tippe::{
    BodyDesc, BodyId, BodyState, Freedom, JointDesc, JointForce, JointId, JointKind, MassSpec,
    Mat3, Method, Pose, Quat, SequentialParams, Vec3, World,
};

/// A frame rate at which games step [s].
pub const FRAME: f64 = 1.0 / 60.0;

/// An empty world with gravity along −z [m/s²].
pub fn space(gravity: f64) -> World {
    space_with(gravity, SequentialParams::default())
}

pub fn space_with(gravity: f64, params: SequentialParams) -> World {
    let mut world = World::new(Method::Sequential(params)).expect("good parameters");
    world
        .set_gravity(Vec3::Z * -gravity)
        .expect("finite gravity");
    world
}

/// A body without shapes: mass [kg] and principal moments [kg·m²].
pub fn lump(mass: f64, moments: Vec3, position: Vec3) -> BodyDesc {
    BodyDesc {
        pose: Pose::from_position(position),
        mass: MassSpec::Explicit {
            mass,
            center: Vec3::ZERO,
            inertia: Mat3::from_diagonal(moments),
        },
        ..BodyDesc::default()
    }
}

/// A slender rod of 1 kg and 1 m along x, its centre at `position`; it touches nothing.
pub fn rod(position: Vec3) -> BodyDesc {
    let across = 1.0 / 12.0;
    lump(1.0, Vec3::new(1e-3, across, across), position)
}

/// Turns z to y and leaves x: a hinge in this frame with x along a rod swings it in the plane of x and z, positive downwards.
pub fn z_along_y() -> Quat {
    rotation::exp(Vec3::X * -std::f64::consts::FRAC_PI_2)
}

/// Turns z to x.
pub fn z_along_x() -> Quat {
    rotation::exp(Vec3::Y * std::f64::consts::FRAC_PI_2)
}

/// The description of a joint whose two frames are now at the same world pose.
pub fn at(world: &World, kind: JointKind, a: Option<BodyId>, b: BodyId, frame: Pose) -> JointDesc {
    let local = |id: BodyId| {
        let pose = world.pose(id).expect("a living body");
        pose.inverse().compose(&frame)
    };
    JointDesc::new(kind, a, a.map_or(frame, local), b, local(b))
}

pub fn join(world: &mut World, desc: &JointDesc) -> JointId {
    world.add_joint(desc).expect("a good joint")
}

/// Adds a joint whose two frames are now at the same world pose.
pub fn join_at(
    world: &mut World,
    kind: JointKind,
    a: Option<BodyId>,
    b: BodyId,
    frame: Pose,
) -> JointId {
    let desc = at(world, kind, a, b, frame);
    join(world, &desc)
}

/// A ball joint at a world point.
pub fn ball(world: &mut World, a: Option<BodyId>, b: BodyId, point: Vec3) -> JointId {
    join_at(world, JointKind::Ball, a, b, Pose::from_position(point))
}

/// A distance joint between the world point `anchor` and the centre of mass of a body.
pub fn tie(world: &mut World, body: BodyId, anchor: Vec3, min: f64, max: f64) -> JointId {
    let kind = JointKind::Distance { min, max };
    let anchor = Pose::from_position(anchor);
    join(
        world,
        &JointDesc::new(kind, None, anchor, body, Pose::IDENTITY),
    )
}

/// Where the joint is now. Needs a world in which no body was removed.
pub fn place(world: &World, id: JointId) -> JointPlace {
    let states: Vec<BodyState> = world.body_ids().map(|b| state(world, b)).collect();
    world.joint(id).expect("a living joint").place(&states, &[])
}

/// Largest residual of the rows that hold a joint [m] or [rad].
pub fn misfit(world: &World, id: JointId) -> f64 {
    let kind = world.joint(id).expect("a living joint").desc.kind;
    let held = place(world, id).held(kind);
    held.residuals[..held.count]
        .iter()
        .fold(0.0, |w: f64, r| w.max(r.abs()))
}

/// Largest misfit of all joints.
pub fn worst_misfit(world: &World) -> f64 {
    world
        .joint_ids()
        .fold(0.0, |w, id| w.max(misfit(world, id)))
}

/// Velocity of B against A at the origins of the joint's frames [m/s].
pub fn relative_velocity(world: &World, id: JointId) -> Vec3 {
    let p = place(world, id);
    let desc = &world.joint(id).expect("a living joint").desc;
    let b = state(world, desc.body_b).point_velocity(p.b.position);
    let a = desc
        .body_a
        .map_or(Vec3::ZERO, |a| state(world, a).point_velocity(p.a.position));
    b - a
}

/// What a joint carried in the last step.
pub fn carried(world: &World, id: JointId) -> JointForce {
    *world
        .joint_forces()
        .iter()
        .find(|f| f.joint == id)
        .expect("a joint that was solved")
}

/// Steps the world, calls `look` after each step, and returns the largest misfit of its joints.
pub fn watch(world: &mut World, dt: f64, steps: usize, mut look: impl FnMut(&World)) -> f64 {
    let mut worst: f64 = 0.0;
    for _ in 0..steps {
        world.step(dt).expect("a good step");
        worst = worst.max(worst_misfit(world));
        look(world);
    }
    worst
}

/// A rod held at its left end, at the origin, by a horizontal hinge with something along its rotation. It starts level.
pub fn hinged_rod(gravity: f64, rotation: Freedom) -> (World, BodyId, JointId) {
    let mut world = space(gravity);
    let body = add(&mut world, &rod(Vec3::X * 0.5));
    let frame = Pose::new(Vec3::ZERO, z_along_y());
    let joint = JointDesc {
        rotation,
        ..at(&world, JointKind::Hinge, None, body, frame)
    };
    let joint = join(&mut world, &joint);
    (world, body, joint)
}

/// A body of 2 kg that slides along the world's x axis, with something along its translation. It starts at the origin.
pub fn sliding_mass(gravity: f64, translation: Freedom) -> (World, BodyId, JointId) {
    let mut world = space(gravity);
    let body = add(&mut world, &lump(2.0, Vec3::splat(0.1), Vec3::ZERO));
    let frame = Pose::new(Vec3::ZERO, z_along_x());
    let joint = JointDesc {
        translation,
        ..at(&world, JointKind::Slider, None, body, frame)
    };
    let joint = join(&mut world, &joint);
    (world, body, joint)
}

/// Links of 1 kg and 1 m hanging from the origin by ball joints, and a body of `end_mass` at the end; `count` joints.
pub fn chain(world: &mut World, count: usize, end_mass: f64) -> (Vec<BodyId>, Vec<JointId>) {
    let (mut bodies, mut joints) = (Vec::new(), Vec::new());
    for i in 0..count {
        let top = Vec3::Z * -(i as f64);
        let desc = if i + 1 < count {
            let across = 1.0 / 12.0;
            lump(1.0, Vec3::new(across, across, 1e-3), top - Vec3::Z * 0.5)
        } else {
            // A cube of 1 m.
            lump(end_mass, Vec3::splat(end_mass / 6.0), top - Vec3::Z * 0.5)
        };
        let body = add(world, &desc);
        joints.push(ball(world, bodies.last().copied(), body, top));
        bodies.push(body);
    }
    (bodies, joints)
}
