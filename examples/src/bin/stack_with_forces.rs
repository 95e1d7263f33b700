//! A stack of boxes, pushed at the top: forces of one step, contacts between two bodies.

use tippe::{BodyDesc, Error, Shape, Surface, Vec3, World};

fn main() -> Result<(), Error> {
    let mut world = World::default();
    world.set_default_surface(Surface::new(0.6, 0.0))?;
    let floor = world.add_body(&BodyDesc::fixed(
        Shape::HalfSpace { normal: Vec3::Z },
        Vec3::ZERO,
    ))?;
    let cube = || Shape::Cuboid {
        half: Vec3::splat(0.1),
    };
    let mut boxes = Vec::new();
    for i in 0..5 {
        let at = Vec3::Z * (0.1 + 0.2 * f64::from(i));
        boxes.push(world.add_body(&BodyDesc::dynamic(cube(), at).with_mass(1.0))?);
    }
    world.step_many(0.002, 250)?;
    let carried = world.contact_between(floor, boxes[0])?;
    let carried = carried.map_or(0.0, |c| c.force.z);
    println!("the floor carries {carried:.3} N of 49.05 N");
    assert!((carried - 49.05).abs() < 0.1);
    // A push of 2 N at the top box is held by friction (at most 5.9 N) and does not tip it (4.9 N would).
    for _ in 0..250 {
        let centre = world.pose(boxes[4])?.position;
        world.apply_force(boxes[4], Vec3::X * 2.0, centre)?;
        world.step(0.002)?;
    }
    let moved = world.pose(boxes[4])?.position.x;
    println!("pushed by 2 N, the top box moved {moved:.1e} m");
    assert!(moved.abs() < 1e-3);
    // 8 N is more than friction can hold: it slides off.
    for _ in 0..250 {
        let centre = world.pose(boxes[4])?.position;
        world.apply_force(boxes[4], Vec3::X * 8.0, centre)?;
        world.step(0.002)?;
    }
    println!(
        "pushed by 8 N, it is at {:.2} m",
        world.pose(boxes[4])?.position.x
    );
    assert!(world.pose(boxes[4])?.position.x > 0.1);
    Ok(())
}
