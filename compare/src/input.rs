//! What every engine is given: bodies, shapes and joints of a scene file, in double precision, in the order of the file.
//!
//! Reads: the scenes of the repository.  Writes: `Input`.
//! Called by: `main`, then the engines and the referee.
//! Source: docs/speed.md, "Scenes".

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use tippe::joint::JointKind;
use tippe::{Body, Filter, Pose, Shape, Vec3, World};
use tippe_scene::{LoadOptions, Scene, load_file};

/// A speed scene.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Name on the command line.
    pub name: &'static str,
    file: &'static str,
    dt: Option<f64>,
    steps: Option<u64>,
}

/// All of them, as in `tippe bench`.
pub const CASES: [Case; 6] = [
    Case::whole("funnel", "funnel.toml"),
    Case {
        name: "funnel-1ms",
        file: "funnel.toml",
        dt: Some(0.001),
        steps: Some(2000),
    },
    Case::whole("pyramid", "pyramid.toml"),
    Case::whole("pile", "pile.toml"),
    Case::whole("joint-grid", "joint-grid.toml"),
    Case::whole("towers", "towers.toml"),
];

impl Case {
    const fn whole(name: &'static str, file: &'static str) -> Self {
        Self {
            name,
            file,
            dt: None,
            steps: None,
        }
    }

    /// The scene and its steps, given what the user asked for.
    pub fn load(&self, steps: Option<u64>) -> Result<(Scene, Input)> {
        let options = LoadOptions {
            dt: self.dt,
            ..LoadOptions::default()
        };
        let scene = load_file(&repository().join("scenes").join(self.file), &options)
            .map_err(|errors| anyhow!("{errors}"))?;
        let steps = steps.or(self.steps).unwrap_or_else(|| scene.step_count());
        let input = Input::of(&scene.world, scene.dt, steps)?;
        Ok((scene, input))
    }
}

/// The folder that holds `scenes` and `bench-results`.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A scene as every engine sees it.
#[derive(Clone, Debug)]
pub struct Input {
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Step length [s].
    pub dt: f64,
    /// Steps to take.
    pub steps: u64,
    /// Bodies.
    pub bodies: Vec<InputBody>,
    /// Ball joints.
    pub joints: Vec<InputJoint>,
}

/// A body.
#[derive(Clone, Debug)]
pub struct InputBody {
    /// Name in the scene.
    pub name: String,
    /// Whether it moves.
    pub dynamic: bool,
    /// Frame at the start.
    pub pose: Pose,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity [rad/s].
    pub angular_velocity: Vec3,
    /// Density [kg/m³].
    pub density: f64,
    /// Solids.
    pub shapes: Vec<InputShape>,
}

/// A solid of a body.
#[derive(Clone, Debug)]
pub struct InputShape {
    /// The solid; never a half-space.
    pub shape: Shape,
    /// Pose in the body frame.
    pub pose: Pose,
    /// Coefficient of friction.
    pub friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// What it may touch.
    pub filter: Filter,
}

/// A ball joint.
#[derive(Clone, Copy, Debug)]
pub struct InputJoint {
    /// Index of the first body and the anchor in its frame [m].
    pub a: (usize, Vec3),
    /// Index of the second body and the anchor in its frame [m].
    pub b: (usize, Vec3),
}

impl Input {
    fn of(world: &World, dt: f64, steps: u64) -> Result<Self> {
        let mut bodies = Vec::new();
        for id in world.body_ids() {
            // Nothing was removed, so that slots and positions in this list agree.
            ensure!(id.index() == bodies.len(), "slots are not in order");
            let (body, state) = (world.body(id)?, world.body_state(id)?);
            bodies.push(InputBody {
                name: body.name.clone(),
                dynamic: body.is_dynamic(),
                pose: world.pose(id)?,
                velocity: state.velocity,
                angular_velocity: state.angular_velocity,
                density: density(body),
                shapes: shapes(body, world)?,
            });
        }
        let joints = world
            .joint_ids()
            .map(|id| {
                let desc = &world.joint(id)?.desc;
                ensure!(
                    desc.kind == JointKind::Ball,
                    "only ball joints are compared"
                );
                let a = desc
                    .body_a
                    .context("joints to the world are not compared")?;
                Ok(InputJoint {
                    a: (a.index(), desc.frame_a.position),
                    b: (desc.body_b.index(), desc.frame_b.position),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            gravity: world.gravity(),
            dt,
            steps,
            bodies,
            joints,
        })
    }
}

fn density(body: &Body) -> f64 {
    let volume: f64 = body.shapes.iter().map(|s| s.shape.volume()).sum();
    if body.is_dynamic() && volume > 0.0 {
        body.mass / volume
    } else {
        1000.0
    }
}

fn shapes(body: &Body, world: &World) -> Result<Vec<InputShape>> {
    body.shapes
        .iter()
        .map(|s| {
            if s.sensor || matches!(s.shape, Shape::HalfSpace { .. }) {
                bail!("{}: sensors and half-spaces are not compared", body.name);
            }
            let (surface, _) = world.materials().lookup(s.material, s.material);
            Ok(InputShape {
                shape: s.shape.clone(),
                pose: s.pose,
                friction: surface.friction_kinetic,
                restitution: surface.restitution,
                filter: s.filter,
            })
        })
        .collect()
}
