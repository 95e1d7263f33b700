//! A motor that follows a table, a force that follows a sine, gravity that is switched off.

use tippe::{BodyDesc, Driven, Error, JointDesc, Motor, Program, Shape, Signal, Vec3, World};

fn main() -> Result<(), Error> {
    let mut world = World::default();
    let wheel = Shape::Cylinder {
        radius: 0.2,
        half_length: 0.05,
    };
    let wheel = world.add_body(&BodyDesc::dynamic(wheel, Vec3::ZERO))?;
    let motor = Motor::Velocity {
        target: 0.0,
        max_force: 1e3,
    };
    let axle = JointDesc::hinge(&world, None, wheel, Vec3::ZERO, Vec3::Z)?.driven(motor);
    let axle = world.add_joint(&axle)?;
    let ramp = Signal::Table {
        times: vec![0.0, 1.0],
        values: vec![Vec3::ZERO, Vec3::X * 10.0],
    };
    world.add_program(Program {
        driven: Driven::Motor { joint: axle },
        signal: ramp,
    })?;
    let ball = Shape::Sphere { radius: 0.1 };
    let ball = world.add_body(&BodyDesc::dynamic(ball, Vec3::Y * 5.0).with_mass(2.0))?;
    let shake = Signal::Sine {
        offset: Vec3::ZERO,
        amplitude: Vec3::X * 4.0,
        frequency: 0.5,
        phase: 0.0,
    };
    let force = Driven::Force {
        body: ball,
        point: Vec3::ZERO,
        local: false,
    };
    world.add_program(Program {
        driven: force,
        signal: shake,
    })?;
    let off = Signal::Steps {
        times: vec![0.0, 0.25],
        values: vec![Vec3::Z * -9.81, Vec3::ZERO],
    };
    world.add_program(Program {
        driven: Driven::Gravity,
        signal: off,
    })?;
    world.step_many(0.01, 100)?;
    let spin = world.body_state(wheel)?.angular_velocity.z;
    let speed = world.body_state(ball)?.velocity;
    println!("the wheel turns at {spin:.4} rad/s, the ball goes at {speed:.4}");
    // ∫ 2 sin(π t) dt over half a period is 4/π; 0.25 s of gravity.
    assert!((spin - 10.0).abs() < 1e-6);
    assert!((speed - Vec3::new(4.0 / std::f64::consts::PI, 0.0, -9.81 * 0.25)).length() < 1e-10);
    Ok(())
}
