//! A car with four driven wheels on springs crosses bumps: joints from anchor and axis, motors, springs.

use tippe::{
    BodyDesc, Error, JointDesc, JointKind, Motor, Pose, Quat, Shape, Spring, Surface, Vec3, World,
};

fn main() -> Result<(), Error> {
    let mut world = World::default();
    world.set_default_surface(Surface::new(0.9, 0.0))?;
    world.add_body(&BodyDesc::fixed(
        Shape::HalfSpace { normal: Vec3::Z },
        Vec3::ZERO,
    ))?;
    for i in 0..4 {
        let bump = Shape::Cuboid {
            half: Vec3::new(0.1, 1.0, 0.02),
        };
        world.add_body(&BodyDesc::fixed(bump, Vec3::X * (2.0 + f64::from(i))))?;
    }
    let hull = Shape::Cuboid {
        half: Vec3::new(0.8, 0.35, 0.15),
    };
    let car = world.add_body(&BodyDesc::dynamic(hull, Vec3::Z * 0.6).with_mass(200.0))?;
    for (x, y) in [(-0.6, -0.5), (-0.6, 0.5), (0.6, -0.5), (0.6, 0.5)] {
        let centre = Vec3::new(x, y, 0.25);
        let hub = Shape::Sphere { radius: 0.05 };
        let hub = world.add_body(&BodyDesc::dynamic(hub, centre).with_mass(10.0))?;
        let spring = Spring {
            rest: 0.0,
            stiffness: 20_000.0,
            damping: 1_500.0,
        };
        let strut = JointDesc::slider(&world, Some(car), hub, centre, Vec3::Z)?.sprung(spring);
        world.add_joint(&strut.limited(-0.15, 0.15))?;
        let wheel = Shape::Sphere { radius: 0.25 };
        let wheel = world.add_body(&BodyDesc::dynamic(wheel, centre).with_mass(15.0))?;
        let motor = Motor::Velocity {
            target: 8.0,
            max_force: 60.0,
        };
        let axle = JointDesc::at(&world, JointKind::Hinge, Some(hub), wheel, centre, Vec3::Y)?;
        world.add_joint(&axle.driven(motor))?;
    }
    let mut lowest = f64::INFINITY;
    for _ in 0..2000 {
        let report = world.step(0.002)?;
        assert!(report.residuals.joint_position < 0.01);
        lowest = lowest.min(world.pose(car)?.position.z);
    }
    let Pose { position, rotation } = world.pose(car)?;
    let lean = rotation.angle_between(Quat::IDENTITY);
    println!(
        "after 4 s the car is at {:.2} m, leans by {lean:.3} rad, was never below {lowest:.2} m",
        position.x
    );
    assert!(position.x > 3.0 && lean < 0.3 && lowest > 0.3);
    Ok(())
}
