//! Rapier with its defaults: single precision, 4 substeps, one thread; sleeping off, no limit on rotation speed.
//!
//! Reads: `Input`.  Writes: its own world.
//! Called by: `measure`.
//! Source: documentation of the crate rapier3d 0.36.

use anyhow::{Result, ensure};
use rapier3d::prelude::{
    ColliderBuilder, Group, InteractionGroups, InteractionTestMode, PhysicsWorld, Pose as Pose32,
    RigidBodyBuilder, RigidBodyHandle, Rotation, SphericalJointBuilder, Vector,
};
use tippe::{Pose, Quat, Shape, Vec3};

use crate::engine::Engine;
use crate::input::{Input, InputBody, InputShape};

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
        for joint in &input.joints {
            let ball = SphericalJointBuilder::new()
                .local_anchor1(vector(joint.a.1))
                .local_anchor2(vector(joint.b.1))
                .contacts_enabled(false);
            world.insert_impulse_joint(handles[joint.a.0], handles[joint.b.0], ball);
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
    let builder = match shape.shape {
        Shape::Sphere { radius } => ColliderBuilder::ball(radius as f32),
        Shape::Cuboid { half } => {
            ColliderBuilder::cuboid(half.x as f32, half.y as f32, half.z as f32)
        }
        Shape::Capsule {
            half_length,
            radius,
        } => ColliderBuilder::capsule_z(half_length as f32, radius as f32),
        _ => anyhow::bail!("only balls, boxes and capsules are compared"),
    };
    let groups = InteractionGroups::new(
        Group::from_bits_truncate(shape.filter.groups),
        Group::from_bits_truncate(shape.filter.mask),
        InteractionTestMode::And,
    );
    Ok(builder
        .position(pose32(&shape.pose))
        .density(density as f32)
        .friction(shape.friction as f32)
        .restitution(shape.restitution as f32)
        .collision_groups(groups))
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
