//! What the physics tests share: small scenes and comparisons that print what they found.

#![allow(dead_code)]

use tippe::math::rotation;
use tippe::{
    Body, BodyDesc, BodyId, BodyState, MassSpec, Method, Pose, Quat, SequentialParams, Shape,
    Surface, Vec3, World,
};

/// Standard gravity [m/s²].
pub const G: f64 = 9.81;

/// Asserts |found − wanted| ≤ tolerance and prints all three if not.
#[track_caller]
pub fn near(what: &str, found: f64, wanted: f64, tolerance: f64) {
    assert!(
        (found - wanted).abs() <= tolerance,
        "{what}: found {found:e}, wanted {wanted:e}, off by {:e}, allowed {tolerance:e}",
        found - wanted
    );
}

/// Asserts that two vectors are no farther apart than the tolerance.
#[track_caller]
pub fn near_vec(what: &str, found: Vec3, wanted: Vec3, tolerance: f64) {
    assert!(
        (found - wanted).length() <= tolerance,
        "{what}: found {found}, wanted {wanted}, off by {:e}, allowed {tolerance:e}",
        (found - wanted).length()
    );
}

/// Asserts value < bound.
#[track_caller]
pub fn below(what: &str, value: f64, bound: f64) {
    assert!(value < bound, "{what}: {value:e} is not below {bound:e}");
}

pub fn sphere(radius: f64) -> Shape {
    Shape::Sphere { radius }
}

pub fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::Cuboid {
        half: Vec3::new(x, y, z),
    }
}

/// The ground: everything below z = 0.
pub fn floor() -> BodyDesc {
    BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO)
}

/// A dynamic body of one shape and the given mass [kg].
pub fn solid(shape: Shape, mass: f64, position: Vec3) -> BodyDesc {
    BodyDesc {
        mass: MassSpec::Mass(mass),
        ..BodyDesc::dynamic(shape, position)
    }
}

/// A world with this surface everywhere and gravity along −z [m/s²].
pub fn world(gravity: f64, surface: Surface) -> World {
    world_with(gravity, surface, SequentialParams::default())
}

pub fn world_with(gravity: f64, surface: Surface, params: SequentialParams) -> World {
    let mut world = World::new(Method::Sequential(params)).expect("good parameters");
    world
        .set_gravity(Vec3::Z * -gravity)
        .expect("finite gravity");
    world.set_default_surface(surface).expect("good surface");
    world
}

/// Static and kinetic friction, no bounce.
pub fn rough(friction_static: f64, friction_kinetic: f64) -> Surface {
    Surface {
        friction_kinetic,
        ..Surface::new(friction_static, 0.0)
    }
}

pub fn add(world: &mut World, desc: &BodyDesc) -> BodyId {
    world.add_body(desc).expect("a good body")
}

pub fn state(world: &World, id: BodyId) -> BodyState {
    *world.body_state(id).expect("a living body")
}

/// A body and its state as phases see them.
pub fn alone(desc: &BodyDesc) -> (Body, BodyState) {
    let mut world = World::default();
    let id = add(&mut world, desc);
    (
        world.body(id).expect("just added").clone(),
        state(&world, id),
    )
}

/// Steps the world and returns the last report.
#[track_caller]
pub fn run(world: &mut World, dt: f64, steps: usize) -> tippe::StepReport {
    let mut report = tippe::StepReport::default();
    for _ in 0..steps {
        report = world.step(dt).expect("a good step");
    }
    report
}

/// Turns the x axis downhill by `angle` [rad].
pub fn tilt(angle: f64) -> Quat {
    rotation::exp(Vec3::Y * angle)
}

/// A slope through the origin that falls towards +x.
pub fn slope(angle: f64) -> BodyDesc {
    BodyDesc::fixed(
        Shape::HalfSpace {
            normal: Vec3::new(libm::sin(angle), 0.0, libm::cos(angle)),
        },
        Vec3::ZERO,
    )
}

/// A block of 1 kg lying on that slope.
pub fn block_on_slope(angle: f64) -> BodyDesc {
    let rotation = tilt(angle);
    BodyDesc {
        pose: Pose::new(rotation * Vec3::new(0.0, 0.0, 0.1), rotation),
        ..solid(cuboid(0.2, 0.2, 0.1), 1.0, Vec3::ZERO)
    }
}

/// Adds a floor and `count` cubes of 0.2 m and 8 kg standing on each other; returns the cubes from below.
pub fn stack(world: &mut World, count: usize) -> Vec<BodyId> {
    add(world, &floor());
    (0..count)
        .map(|i| {
            let z = 0.1 + 0.2 * i as f64;
            add(world, &solid(cuboid(0.1, 0.1, 0.1), 8.0, Vec3::Z * z))
        })
        .collect()
}
