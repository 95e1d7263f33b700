//! An IMU on a turntable, a force plate and a range finder: sensors by name, read as one array.

use tippe::{BodyDesc, BodyKind, Error, Motion, Pose, SensorDesc, SensorKind, Shape, Vec3, World};

fn main() -> Result<(), Error> {
    let mut world = World::default();
    let plate = world.add_body(&BodyDesc::fixed(
        Shape::HalfSpace { normal: Vec3::Z },
        Vec3::ZERO,
    ))?;
    let disc = Shape::Cuboid {
        half: Vec3::new(0.5, 0.5, 0.05),
    };
    let table = BodyDesc {
        kind: BodyKind::Kinematic(Motion::Constant {
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::Z * 2.0,
        }),
        ..BodyDesc::fixed(disc, Vec3::new(3.0, 0.0, 1.0))
    };
    let table = world.add_body(&table)?;
    let cube = Shape::Cuboid {
        half: Vec3::splat(0.1),
    };
    let cube = world.add_body(&BodyDesc::dynamic(cube, Vec3::Z * 0.1).with_mass(3.0))?;
    let mut add = |name: &str, kind| {
        world.add_sensor(SensorDesc {
            name: name.into(),
            kind,
        })
    };
    add(
        "imu",
        SensorKind::Imu {
            body: table,
            place: Pose::from_position(Vec3::X * 0.4),
        },
    )?;
    add(
        "plate",
        SensorKind::ContactForce {
            body: cube,
            other: Some(plate),
        },
    )?;
    let down = SensorKind::Distance {
        body: table,
        origin: Vec3::ZERO,
        direction: -Vec3::Z,
        range: 10.0,
    };
    add("height", down)?;
    world.step_many(0.001, 200)?;
    for (name, value) in world.reading_names().iter().zip(world.readings()) {
        println!("{name:24} {value:10.5}");
    }
    let read = |name: &str| {
        let names = world.reading_names();
        let place = names.iter().position(|n| n == name);
        place.map_or(f64::NAN, |i| world.readings()[i])
    };
    assert!((read("imu.acceleration.x") + 2.0 * 2.0 * 0.4).abs() < 1e-9);
    assert!((read("imu.acceleration.z") - 9.81).abs() < 1e-9);
    assert!((read("plate.normal") - 3.0 * 9.81).abs() < 1e-3);
    assert!((read("height.distance") - 1.0).abs() < 1e-9);
    Ok(())
}
