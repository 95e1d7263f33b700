//! What every engine is given: bodies, shapes and joints of a scene file, in double precision, in the order of the file.
//!
//! Reads: the scenes of the repository.  Writes: `Input`.
//! Called by: `main`, then the engines and the referee.
//! Source: docs/speed.md, "Scenes".

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};
use tippe::joint::{Freedom, JointDesc, JointKind};
use tippe::{Body, BodyKind, Filter, Motion, Pose, Quat, Shape, Vec3, World};
use tippe_scene::{LoadOptions, Scene, load_file};

/// Half the width and the thickness of the box that stands for a half-space [m].
const GROUND: (f64, f64) = (200.0, 10.0);

/// A speed scene.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name on the command line.
    pub name: String,
    file: PathBuf,
    dt: Option<f64>,
    steps: Option<u64>,
}

/// Those of `tippe bench`: name, file from the top of the repository.
const SPEED: [(&str, &str); 6] = [
    ("funnel", "scenes/funnel.toml"),
    ("funnel-1ms", "scenes/funnel.toml"),
    ("pyramid", "scenes/pyramid.toml"),
    ("pile", "scenes/pile.toml"),
    ("joint-grid", "scenes/joint-grid.toml"),
    ("towers", "scenes/towers.toml"),
];

/// Everyday scenes: contacts first, then mechanisms.
const EVERYDAY: [(&str, &str); 14] = [
    ("domino", "scenes/domino.toml"),
    ("cart", "scenes/cart.toml"),
    ("ragdoll", "scenes/ragdoll.toml"),
    ("wall", "crates/tippe-scene/tests/motion/wall.toml"),
    ("crash", "crates/tippe-scene/tests/motion/crash.toml"),
    ("drum", "crates/tippe-scene/tests/motion/drum.toml"),
    ("card-house", "scenes/card-house.toml"),
    ("arch", "scenes/arch.toml"),
    ("logs", "scenes/logs.toml"),
    ("pile-250", "compare/scenes/pile-250.toml"),
    ("rope-bridge", "scenes/rope-bridge.toml"),
    ("hanging-chain", "scenes/hanging-chain.toml"),
    ("slider-crank", "scenes/slider-crank.toml"),
    ("car", "compare/scenes/car.toml"),
];

/// The cases of a name: `speed`, `everyday`, one of their scenes, or a scene file.
pub fn cases(name: &str) -> Result<Vec<Case>> {
    let named = |(name, file): &(&str, &str)| Case {
        name: (*name).to_string(),
        file: repository().join(file),
        dt: (*name == "funnel-1ms").then_some(0.001),
        steps: (*name == "funnel-1ms").then_some(2000),
    };
    match name {
        "speed" => return Ok(SPEED.iter().map(named).collect()),
        "everyday" => return Ok(EVERYDAY.iter().map(named).collect()),
        _ => {}
    }
    if let Some(case) = SPEED.iter().chain(&EVERYDAY).find(|c| c.0 == name) {
        return Ok(vec![named(case)]);
    }
    let file = PathBuf::from(name);
    ensure!(
        file.extension().is_some_and(|e| e == "toml"),
        "no scene {name}; they are speed, everyday, {} and files *.toml",
        SPEED
            .iter()
            .chain(&EVERYDAY)
            .map(|c| c.0)
            .collect::<Vec<_>>()
            .join(", ")
    );
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(vec![Case {
        name: name.into_owned(),
        dt: None,
        steps: None,
        file,
    }])
}

impl Case {
    /// The scene and its steps, given what the user asked for.
    pub fn load(&self, steps: Option<u64>, method: &str) -> Result<(Scene, Input)> {
        let options = LoadOptions {
            dt: self.dt,
            method: Some(method.to_string()),
            ..LoadOptions::default()
        };
        let scene = load_file(&self.file, &options).map_err(|errors| anyhow!("{errors}"))?;
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
    /// Joints.
    pub joints: Vec<InputJoint>,
}

/// A body.
#[derive(Clone, Debug)]
pub struct InputBody {
    /// Name in the scene.
    pub name: String,
    /// Whether it moves as forces say.
    pub dynamic: bool,
    /// Whether it moves as prescribed, at constant velocity.
    pub kinematic: bool,
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

/// A joint; its axis is z of both frames.
#[derive(Clone, Copy, Debug)]
pub struct InputJoint {
    /// Ball, hinge, slider or fixed.
    pub kind: JointKind,
    /// Index of the first body, `None` for the world, and the joint's frame in its frame.
    pub a: (Option<usize>, Pose),
    /// Index of the second body and the joint's frame in its frame.
    pub b: (usize, Pose),
    /// What acts along the free motion of a hinge or slider.
    pub freedom: Freedom,
    /// Whether the two bodies may touch.
    pub collide: bool,
}

impl InputJoint {
    fn of(desc: &JointDesc) -> Result<Self> {
        let freedom = match desc.kind {
            JointKind::Ball | JointKind::Fixed => Freedom::default(),
            JointKind::Hinge => desc.rotation,
            JointKind::Slider => desc.translation,
            _ => bail!("only ball joints, hinges, sliders and fixed joints are compared"),
        };
        Ok(Self {
            kind: desc.kind,
            a: (desc.body_a.map(|a| a.index()), desc.frame_a),
            b: (desc.body_b.index(), desc.frame_b),
            freedom,
            collide: desc.collide,
        })
    }
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
                kinematic: kinematic(body)?,
                pose: world.pose(id)?,
                velocity: state.velocity,
                angular_velocity: state.angular_velocity,
                density: density(body),
                shapes: shapes(body, world)?,
            });
        }
        ensure!(
            world.articulation_ids().next().is_none(),
            "articulations are not compared"
        );
        let joints = world
            .joint_ids()
            .map(|id| InputJoint::of(&world.joint(id)?.desc))
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

/// Whether a body is driven; only constant velocities are compared.
fn kinematic(body: &Body) -> Result<bool> {
    match &body.kind {
        BodyKind::Kinematic(Motion::Constant { .. }) => Ok(true),
        BodyKind::Kinematic(_) => bail!("{}: only constant motions are compared", body.name),
        _ => Ok(false),
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
            ensure!(!s.sensor, "{}: sensors are not compared", body.name);
            let (surface, _) = world.materials().lookup(s.material, s.material);
            let (shape, pose) = bounded(&s.shape, s.pose);
            Ok(InputShape {
                shape,
                pose,
                friction: surface.friction_kinetic,
                restitution: surface.restitution,
                filter: s.filter,
            })
        })
        .collect()
}

/// A shape as the other engines take it: a large box in place of a half-space.
fn bounded(shape: &Shape, pose: Pose) -> (Shape, Pose) {
    let Shape::HalfSpace { normal } = *shape else {
        return (shape.clone(), pose);
    };
    let (half, thick) = GROUND;
    let turn = Quat::from_rotation_arc(Vec3::Z, normal);
    let shape = Shape::Cuboid {
        half: Vec3::new(half, half, 0.5 * thick),
    };
    (shape, pose.compose(&Pose::new(-0.5 * thick * normal, turn)))
}
