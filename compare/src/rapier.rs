//! Rapier with its defaults: single precision, 4 substeps, one thread; sleeping off, no limit on rotation speed.
//!
//! Reads: `Input`.  Writes: its own world.
//! Called by: `measure`.
//! Source: documentation of the crate rapier3d 0.36.

use anyhow::{Context, Result, bail, ensure};
use rapier3d::prelude::{
    ColliderBuilder, GenericJoint, Group, InteractionGroups, InteractionTestMode, JointAxesMask,
    JointAxis, MotorModel, PhysicsWorld, Pose as Pose32, RigidBodyBuilder, RigidBodyHandle,
    Rotation, Vector,
};
use tippe::joint::{Freedom, JointKind, Motor};
use tippe::{Pose, Quat, Shape, Vec3};

use crate::engine::Engine;
use crate::input::{Input, InputBody, InputJoint, InputShape};

/// How fast a motor takes away what is missing in velocity, as Rapier's examples have it [1/s].
const MOTOR_FACTOR: f32 = 1e4;

/// Rapier's world and our order of its bodies.
pub struct Rapier {
    world: PhysicsWorld,
    handles: Vec<RigidBodyHandle>,
}

impl Rapier {
    /// Builds the scene.
    pub fn new(input: &Input) -> Result<Self> {
        let mut world = PhysicsWorld {
            gravity: vector(input.gravity),
            ..PhysicsWorld::default()
        };
        world.integration_parameters.dt = input.dt as f32;
        let mut handles = Vec::with_capacity(input.bodies.len());
        for body in &input.bodies {
            let handle = world.insert_body(rigid_body(body));
            for shape in &body.shapes {
                world.insert_collider(collider(shape, body.density)?, Some(handle));
            }
            handles.push(handle);
        }
        if !input.joints.is_empty() {
            let ground = world.insert_body(RigidBodyBuilder::fixed());
            for joint in &input.joints {
                let first = joint.a.0.map_or(ground, |a| handles[a]);
                world.insert_impulse_joint(first, handles[joint.b.0], generic(joint)?);
            }
        }
        Ok(Self { world, handles })
    }
}

impl Engine for Rapier {
    fn name(&self) -> &'static str {
        "Rapier 0.36 f32"
    }

    fn step(&mut self) -> Result<()> {
        self.world.step();
        Ok(())
    }

    fn poses(&self) -> Result<Vec<Pose>> {
        self.handles
            .iter()
            .map(|handle| {
                let body = self.world.bodies.get(*handle);
                ensure!(body.is_some(), "Rapier lost a body");
                Ok(body.map_or(Pose::IDENTITY, |b| pose64(b.position())))
            })
            .collect()
    }
}

fn rigid_body(body: &InputBody) -> RigidBodyBuilder {
    let builder = if body.dynamic {
        RigidBodyBuilder::dynamic()
    } else if body.kinematic {
        RigidBodyBuilder::kinematic_velocity_based()
    } else {
        RigidBodyBuilder::fixed()
    };
    builder
        .pose(pose32(&body.pose))
        .linvel(vector(body.velocity))
        .angvel(vector(body.angular_velocity))
        .can_sleep(false)
        .allow_fast_rotation(true)
}

fn collider(shape: &InputShape, density: f64) -> Result<ColliderBuilder> {
    let mut pose = shape.pose;
    // Cylinders and cones stand along y here, along z with us.
    let upright = Pose::new(Vec3::ZERO, Quat::from_rotation_arc(Vec3::Y, Vec3::Z));
    let builder = match &shape.shape {
        Shape::Sphere { radius } => ColliderBuilder::ball(*radius as f32),
        Shape::Cuboid { half } => {
            ColliderBuilder::cuboid(half.x as f32, half.y as f32, half.z as f32)
        }
        Shape::Capsule {
            half_length,
            radius,
        } => ColliderBuilder::capsule_z(*half_length as f32, *radius as f32),
        Shape::Cylinder {
            half_length,
            radius,
        } => {
            pose = pose.compose(&upright);
            ColliderBuilder::cylinder(*half_length as f32, *radius as f32)
        }
        Shape::Cone {
            half_length,
            radius,
        } => {
            pose = pose.compose(&upright);
            ColliderBuilder::cone(*half_length as f32, *radius as f32)
        }
        Shape::Hull(hull) => {
            let points: Vec<Vector> = hull.vertices().iter().map(|v| vector(*v)).collect();
            ColliderBuilder::convex_hull(&points).context("a hull that Rapier does not take")?
        }
        _ => bail!("only balls, boxes, capsules, cylinders, cones and hulls are compared"),
    };
    let groups = InteractionGroups::new(
        Group::from_bits_truncate(shape.filter.groups),
        Group::from_bits_truncate(shape.filter.mask),
        InteractionTestMode::And,
    );
    Ok(builder
        .position(pose32(&pose))
        .density(density as f32)
        .friction(shape.friction as f32)
        .restitution(shape.restitution as f32)
        .collision_groups(groups))
}

/// A joint about the x axis of its frames, which is z with us.
fn generic(joint: &InputJoint) -> Result<GenericJoint> {
    let turn = Pose::new(Vec3::ZERO, Quat::from_rotation_arc(Vec3::X, Vec3::Z));
    let (locked, axis) = match joint.kind {
        JointKind::Ball => (JointAxesMask::LOCKED_SPHERICAL_AXES, None),
        JointKind::Fixed => (JointAxesMask::LOCKED_FIXED_AXES, None),
        JointKind::Hinge => (JointAxesMask::LOCKED_REVOLUTE_AXES, Some(JointAxis::AngX)),
        JointKind::Slider => (JointAxesMask::LOCKED_PRISMATIC_AXES, Some(JointAxis::LinX)),
        _ => bail!("no such joint"),
    };
    let mut out = GenericJoint::new(locked);
    out.set_local_frame1(pose32(&joint.a.1.compose(&turn)));
    out.set_local_frame2(pose32(&joint.b.1.compose(&turn)));
    out.set_contacts_enabled(joint.collide);
    if let Some(axis) = axis {
        drive(&mut out, axis, &joint.freedom)?;
    }
    Ok(out)
}

/// Limits, motor and spring along the free motion. Rapier has one drive there: a motor or a spring.
fn drive(out: &mut GenericJoint, axis: JointAxis, freedom: &Freedom) -> Result<()> {
    if let Some((least, most)) = freedom.limits {
        out.set_limits(axis, [least as f32, most as f32]);
    }
    match (freedom.motor, freedom.spring) {
        (None, None) => {}
        (Some(Motor::Velocity { target, max_force }), None) => {
            out.set_motor_velocity(axis, target as f32, MOTOR_FACTOR);
            out.set_motor_max_force(axis, max_force as f32);
        }
        (None, Some(spring)) => {
            out.set_motor_model(axis, MotorModel::ForceBased);
            let (rest, stiffness) = (spring.rest as f32, spring.stiffness as f32);
            out.set_motor_position(axis, rest, stiffness, spring.damping as f32);
        }
        _ => bail!("of drives only motors that hold a speed, and springs, are compared"),
    }
    Ok(())
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

fn pose32(pose: &Pose) -> Pose32 {
    let q = pose.rotation;
    Pose32::from_parts(
        vector(pose.position),
        Rotation::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32).normalize(),
    )
}

fn pose64(pose: &Pose32) -> Pose {
    let (t, q) = (pose.translation, pose.rotation);
    let number = f64::from;
    Pose::new(
        Vec3::new(number(t.x), number(t.y), number(t.z)),
        Quat::from_xyzw(number(q.x), number(q.y), number(q.z), number(q.w)).normalize(),
    )
}
