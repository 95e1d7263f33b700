//! A ball falls on the floor and bounces: bodies, materials, steps, and what a step says about itself.

use tippe::{BodyDesc, Error, Shape, Surface, Vec3, World};

fn main() -> Result<(), Error> {
    let mut world = World::default();
    world.set_default_surface(Surface::new(0.5, 0.8))?; // friction, restitution
    world.add_body(&BodyDesc::fixed(
        Shape::HalfSpace { normal: Vec3::Z },
        Vec3::ZERO,
    ))?;
    let ball = Shape::Sphere { radius: 0.1 };
    let ball = world.add_body(&BodyDesc::dynamic(ball, Vec3::Z * 1.1).named("ball"))?;
    let mut highest: f64 = 0.0;
    for step in 0..1000 {
        let report = world.step(0.001)?;
        assert!(
            report.energy.gained < 1e-9,
            "a step that makes energy says so"
        );
        if step > 500 {
            highest = highest.max(world.pose(ball)?.position.z - 0.1);
        }
    }
    println!("dropped 1 m with e = 0.8, the ball comes back to {highest:.4} m (0.64 expected)");
    assert!((highest - 0.64).abs() < 1e-3);
    Ok(())
}
