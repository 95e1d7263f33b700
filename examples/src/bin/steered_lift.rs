//! A lift that code steers carries a box up: kinematic bodies by velocity and by pose.

use tippe::{BodyDesc, Error, Pose, Shape, Surface, Vec3, World};

fn main() -> Result<(), Error> {
    let mut world = World::default();
    world.set_default_surface(Surface::new(0.5, 0.0))?;
    let floor = Shape::Cuboid {
        half: Vec3::new(0.5, 0.5, 0.05),
    };
    let lift = world.add_body(&BodyDesc::kinematic(floor, Vec3::ZERO).named("lift"))?;
    let cargo = Shape::Cuboid {
        half: Vec3::splat(0.1),
    };
    let cargo = world.add_body(&BodyDesc::dynamic(cargo, Vec3::Z * 0.15).with_mass(20.0))?;
    let dt = 0.002;
    for step in 1..=500 {
        // Two metres in a second, smoothly: s = 3 t² − 2 t³.
        let t = f64::from(step) * dt;
        let goal = Pose::from_position(Vec3::Z * (2.0 * (3.0 - 2.0 * t) * t * t));
        world.steer_to(lift, goal, dt)?;
        world.step(dt)?;
    }
    world.steer(lift, Vec3::ZERO, Vec3::ZERO)?;
    world.step_many(dt, 100)?;
    let height = world.pose(cargo)?.position.z;
    println!("the cargo stands at {height:.5} m (2.15 expected)");
    assert!((height - 2.15).abs() < 1e-4);
    Ok(())
}
