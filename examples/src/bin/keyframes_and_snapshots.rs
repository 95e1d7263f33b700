//! Going back: keyframes within a world, snapshots as bytes, and the hash that shows that nothing was lost.

use tippe::{BodyDesc, Error, Shape, Vec3, World};

fn main() -> Result<(), Error> {
    let mut world = World::default();
    world.add_body(&BodyDesc::fixed(
        Shape::HalfSpace { normal: Vec3::Z },
        Vec3::ZERO,
    ))?;
    for i in 0..10 {
        let cube = Shape::Cuboid {
            half: Vec3::splat(0.1),
        };
        let at = Vec3::new(0.03 * f64::from(i), 0.0, 0.15 + 0.3 * f64::from(i));
        world.add_body(&BodyDesc::dynamic(cube, at))?;
    }
    world.keep(tippe::world::START);
    world.step_many(0.005, 100)?;
    let bytes = world.snapshot();
    world.step_many(0.005, 100)?;
    let end = world.hash();
    let mut restored = World::restore(&bytes)?;
    restored.step_many(0.005, 100)?;
    world.reset()?;
    println!(
        "back at {} s; {} bytes hold the world at 0.5 s",
        world.time(),
        bytes.len()
    );
    world.step_many(0.005, 200)?;
    assert_eq!((restored.hash(), world.hash()), (end, end));
    println!("three ways to 1 s, one hash: {end:016x}");
    Ok(())
}
