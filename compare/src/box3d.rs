//! Box3D with its defaults: single precision, 4 substeps, one thread; sleeping off, no limit on rotation speed.
//!
//! Reads: `Input`.  Writes: its own world.
//! Called by: `measure`.
//! Source: documentation of the crate boxddd 0.4.

use anyhow::{Result, bail};
use boxddd::{
    BodyDef, BodyId, BodyType, BoxHull, Capsule, Filter, Foundation, Quat as Quat32, ShapeDef,
    Sphere, SphericalJointDef, Transform, Vec3 as Vector, World,
};
use tippe::joint::JointKind;
use tippe::{Pose, Quat, Shape, Vec3};

use crate::engine::Engine;
use crate::input::{Input, InputBody, InputShape};

/// Substeps of Box3D's own samples.
const SUBSTEPS: i32 = 4;

/// Box3D's world and our order of its bodies.
pub struct Box3d {
    world: World,
    bodies: Vec<BodyId>,
    dt: f32,
}

impl Box3d {
    /// Builds the scene.
    pub fn new(input: &Input) -> Result<Self> {
        let foundation = Foundation::initialize_default()?;
        let definition = foundation
            .world_def_builder()
            .gravity(vector(input.gravity))
            .enable_sleep(false)
            .worker_count(1);
        let mut world = foundation.create_world(definition.build()?)?;
        let mut bodies = Vec::with_capacity(input.bodies.len());
        for body in &input.bodies {
            let id = world.create_body(body_definition(foundation, body)?)?;
            for shape in &body.shapes {
                add_shape(
                    &mut world,
                    id,
                    &shape_definition(foundation, shape, body)?,
                    shape,
                )?;
            }
            bodies.push(id);
        }
        for joint in &input.joints {
            let frame = |pose: Pose| Transform {
                p: vector(pose.position),
                q: Quat32::IDENTITY,
            };
            let (JointKind::Ball, Some(a)) = (joint.kind, joint.a.0) else {
                bail!("of joints only those of two bodies at a point are given to Box3D");
            };
            let ball = SphericalJointDef::new(bodies[a], bodies[joint.b.0])
                .local_frame_a(frame(joint.a.1))
                .local_frame_b(frame(joint.b.1))
                .collide_connected(false);
            world.create_spherical_joint(ball)?;
        }
        let dt = input.dt as f32;
        Ok(Self { world, bodies, dt })
    }
}

impl Engine for Box3d {
    fn name(&self) -> &'static str {
        "Box3D f32"
    }

    fn step(&mut self) -> Result<()> {
        Ok(self.world.step(self.dt, SUBSTEPS)?)
    }

    fn poses(&self) -> Result<Vec<Pose>> {
        self.bodies
            .iter()
            .map(|id| {
                let t = self.world.body_transform(*id)?;
                let number = f64::from;
                Ok(Pose::new(
                    Vec3::new(number(t.p.x), number(t.p.y), number(t.p.z)),
                    Quat::from_xyzw(
                        number(t.q.v.x),
                        number(t.q.v.y),
                        number(t.q.v.z),
                        number(t.q.s),
                    )
                    .normalize(),
                ))
            })
            .collect()
    }
}

fn body_definition(foundation: &Foundation, body: &InputBody) -> Result<BodyDef> {
    let kind = if body.dynamic {
        BodyType::Dynamic
    } else if body.kinematic {
        BodyType::Kinematic
    } else {
        BodyType::Static
    };
    let p = vector(body.pose.position);
    Ok(foundation
        .body_def_builder()
        .body_type(kind)
        .position([p.x, p.y, p.z])
        .rotation(rotation(body.pose.rotation))
        .linear_velocity(vector(body.velocity))
        .angular_velocity(vector(body.angular_velocity))
        .enable_sleep(false)
        .allow_fast_rotation(true)
        .build()?)
}

fn shape_definition(
    foundation: &Foundation,
    shape: &InputShape,
    body: &InputBody,
) -> Result<ShapeDef> {
    Ok(foundation
        .shape_def_builder()
        .density(body.density as f32)
        .friction(shape.friction as f32)
        .restitution(shape.restitution as f32)
        .filter(Filter {
            category_bits: shape.filter.groups.into(),
            mask_bits: shape.filter.mask.into(),
            group_index: 0,
        })
        .build()?)
}

fn add_shape(
    world: &mut World,
    body: BodyId,
    definition: &ShapeDef,
    shape: &InputShape,
) -> Result<()> {
    let at = &shape.pose;
    match shape.shape {
        Shape::Sphere { radius } => {
            let sphere = Sphere::new(vector(at.position), radius as f32);
            world.create_sphere_shape(body, definition, &sphere)?;
        }
        Shape::Cuboid { half } => {
            let frame = Transform {
                p: vector(at.position),
                q: rotation(at.rotation),
            };
            let hull = BoxHull::transformed(half.x as f32, half.y as f32, half.z as f32, frame)?;
            world.create_hull_shape(body, definition, &hull)?;
        }
        Shape::Capsule {
            half_length,
            radius,
        } => {
            let end = |z: f64| vector(at.point(Vec3::new(0.0, 0.0, z)));
            let capsule = Capsule::new(end(-half_length), end(half_length), radius as f32);
            world.create_capsule_shape(body, definition, &capsule)?;
        }
        _ => bail!("only balls, boxes and capsules are given to Box3D"),
    }
    Ok(())
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

fn rotation(q: Quat) -> Quat32 {
    Quat32 {
        v: Vector::new(q.x as f32, q.y as f32, q.z as f32),
        s: q.w as f32,
    }
}
