//! Sixteen worlds that differ in one number, on all cores: worlds are plain values, and each gives the same bits anywhere.

use tippe::{BodyDesc, Error, Shape, Surface, Vec3, World};

fn throw(speed: f64) -> Result<(f64, u64), Error> {
    let mut world = World::default();
    world.set_default_surface(Surface::new(0.4, 0.3))?;
    world.add_body(&BodyDesc::fixed(
        Shape::HalfSpace { normal: Vec3::Z },
        Vec3::ZERO,
    ))?;
    let cube = Shape::Cuboid {
        half: Vec3::splat(0.05),
    };
    let cube = BodyDesc::dynamic(cube, Vec3::Z * 0.5).moving(Vec3::X * speed, Vec3::Y * 3.0);
    let cube = world.add_body(&cube)?;
    world.step_many(0.005, 400)?;
    Ok((world.pose(cube)?.position.x, world.hash()))
}

fn main() -> Result<(), Error> {
    let speeds: Vec<f64> = (0..16).map(|i| 0.5 * f64::from(i)).collect();
    let threads: Vec<_> = speeds
        .iter()
        .map(|&speed| std::thread::spawn(move || throw(speed)))
        .collect();
    for (speed, thread) in speeds.iter().zip(threads) {
        let (x, hash) = match thread.join() {
            Ok(result) => result?,
            Err(_) => continue,
        };
        println!("thrown at {speed} m/s it lies at {x:.3} m, hash {hash:016x}");
        assert_eq!(throw(*speed)?.1, hash, "the same bits on any thread");
    }
    Ok(())
}
