//! Asking a world: what a ray meets, what overlaps a shape.

use tippe::query::QueryFilter;
use tippe::{BodyDesc, Error, Pose, Shape, Vec3, World};

fn main() -> Result<(), Error> {
    let mut world = World::default();
    let mut balls = Vec::new();
    for i in 0..5 {
        let ball = Shape::Sphere { radius: 0.5 };
        balls.push(world.add_body(&BodyDesc::dynamic(ball, Vec3::X * (2.0 * f64::from(i))))?);
    }
    let filter = QueryFilter::default();
    let mut ask = world.queries();
    let hits = ask.ray(Vec3::X * -3.0, Vec3::X, 100.0, &filter)?;
    for hit in &hits {
        println!("after {:.2} m: body {}", hit.distance, hit.body.index());
    }
    assert_eq!(hits.len(), 5);
    assert!((hits[0].distance - 2.5).abs() < 1e-12 && hits[0].body == balls[0]);
    let probe = Shape::Cuboid {
        half: Vec3::new(1.6, 0.1, 0.1),
    };
    let inside = ask.overlaps(&probe, &Pose::from_position(Vec3::X), &filter)?;
    println!("a box of 3.2 m at x = 1 overlaps {} balls", inside.len());
    assert_eq!(inside.len(), 2);
    Ok(())
}
