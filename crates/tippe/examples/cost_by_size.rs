//! What a step costs by the number of bodies, in counted operations: `cargo run --release -p tippe --example cost_by_size -- [KIND] [--steps N] [--most N]`.
//!
//! Reads: nothing.  Writes: a table on standard output, and whether cost falls anywhere when bodies are added.
//! Called by: people; docs/speed.md quotes it.
//! Source: none. The counts are the same on every machine.

use tippe::joint::JointDesc;
use tippe::math::Vec3;
use tippe::{BodyDesc, BodyId, BuildError, Shape, Surface, World};

/// Numbers of bodies.
const SIZES: [usize; 6] = [10, 30, 100, 300, 1000, 3000];
/// Bodies of one figure.
const FIGURE: usize = 5;
/// Step [s].
const STEP: f64 = 1.0 / 60.0;

/// A kind of scene, by the number of bodies.
type Build = fn(usize) -> Result<World, BuildError>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut wanted, mut steps, mut most) = (None, 120_u32, usize::MAX);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--steps" => steps = arguments.next().unwrap_or_default().parse()?,
            "--most" => most = arguments.next().unwrap_or_default().parse()?,
            _ => wanted = Some(argument),
        }
    }
    let kinds: [(&str, Build); 4] = [
        ("pile", pile),
        ("wall", wall),
        ("chain", chain),
        ("figures", figures),
    ];
    println!("kind      bodies   operations a step   per body   largest step   substeps");
    for (name, build) in kinds {
        if wanted.as_deref().is_some_and(|w| w != name) {
            continue;
        }
        let mut costs = Vec::new();
        for size in SIZES.into_iter().filter(|s| *s <= most) {
            let mut world = build(size)?;
            let (mut sum, mut largest, mut substeps) = (0.0_f64, 0.0_f64, 0);
            for _ in 0..steps {
                let report = world.step(STEP)?;
                sum += report.work.counted();
                largest = largest.max(report.work.counted());
                substeps += report.work.substeps;
            }
            let mean = sum / f64::from(steps);
            println!(
                "{name:8} {size:7} {mean:19.4e} {:10.3e} {largest:14.3e} {:10.2}",
                mean / size as f64,
                f64::from(substeps) / f64::from(steps)
            );
            costs.push((size, mean));
        }
        let falls = costs.windows(2).filter(|w| w[1].1 < w[0].1).count();
        let per_body = costs.iter().map(|(size, cost)| cost / *size as f64);
        let (least, greatest) =
            per_body.fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
        println!(
            "{name}: falls {falls} times; per body it varies by a factor of {:.1}",
            greatest / least
        );
    }
    Ok(())
}

fn floor() -> Result<World, BuildError> {
    let mut world = World::default();
    world.set_default_surface(Surface::new(0.5, 0.0))?;
    let ground = Shape::HalfSpace { normal: Vec3::Z };
    world.add_body(&BodyDesc::fixed(ground, Vec3::ZERO))?;
    Ok(world)
}

/// Numbers between 0 and 1 that are the same in every run.
fn draw(seed: &mut u64) -> f64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 53) as f64
}

/// Boxes and balls in a column of square layers, jittered, that falls between four walls and piles up.
fn pile(count: usize) -> Result<World, BuildError> {
    let mut world = floor()?;
    // As high as wide, so that all sizes are piles of one form.
    let side = (libm::cbrt(count as f64).ceil() as usize).max(2);
    let reach = 0.6 * side as f64 + 0.5;
    for normal in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y] {
        let wall = Shape::HalfSpace { normal };
        world.add_body(&BodyDesc::fixed(wall, -reach * normal))?;
    }
    let mut seed = 1;
    for i in 0..count {
        let cell = Vec3::new(
            (i % side) as f64 - 0.5 * (side - 1) as f64,
            (i / side % side) as f64 - 0.5 * (side - 1) as f64,
            (i / side / side) as f64 + 0.6,
        );
        let jitter = Vec3::new(draw(&mut seed), draw(&mut seed), draw(&mut seed)) * 0.1;
        let shape = if i % 2 == 0 {
            Shape::Cuboid {
                half: Vec3::splat(0.4),
            }
        } else {
            Shape::Sphere { radius: 0.45 }
        };
        world.add_body(&BodyDesc::dynamic(shape, cell * 1.15 + jitter))?;
    }
    Ok(world)
}

/// A wall of bricks, ten high, into which a ball rolls.
fn wall(count: usize) -> Result<World, BuildError> {
    let mut world = floor()?;
    let brick = Shape::Cuboid {
        half: Vec3::new(0.25, 0.125, 0.125),
    };
    let high = 10.min(count);
    for i in 0..count - 1 {
        let (column, row) = ((i / high) as f64, (i % high) as f64);
        let shifted = 0.5 * column + if i % 2 == 0 { 0.0 } else { 0.125 };
        let at = Vec3::new(shifted, 0.0, 0.125 + 0.25 * row);
        world.add_body(&BodyDesc::dynamic(brick.clone(), at))?;
    }
    let ball = Shape::Sphere { radius: 0.2 };
    let mut ball = BodyDesc::dynamic(ball, Vec3::new(0.0, -1.0, 0.6));
    ball.velocity = Vec3::new(0.0, 5.0, 0.0);
    world.add_body(&ball)?;
    Ok(world)
}

/// Chains of ten links on ball joints that swing from the world.
fn chain(count: usize) -> Result<World, BuildError> {
    let mut world = World::default();
    let link = Shape::Capsule {
        half_length: 0.2,
        radius: 0.05,
    };
    let mut last: Option<BodyId> = None;
    for i in 0..count {
        let (k, chain) = ((i % 10) as f64, (i / 10) as f64);
        let root = Vec3::new(0.0, 2.0 * chain, 10.0);
        let at = root + Vec3::new(0.5 * k + 0.25, 0.0, 0.0);
        let mut desc = BodyDesc::dynamic(link.clone(), at);
        desc.pose.rotation = tippe::Quat::from_rotation_y(std::f64::consts::FRAC_PI_2);
        let body = world.add_body(&desc)?;
        let before = if i % 10 == 0 { None } else { last };
        let anchor = at - Vec3::X * 0.25;
        let joint = JointDesc::ball(&world, before, body, anchor)?;
        world.add_joint(&joint)?;
        last = Some(body);
    }
    Ok(world)
}

/// Figures of a trunk and four limbs on hinges, in layers, that fall on each other.
fn figures(count: usize) -> Result<World, BuildError> {
    let mut world = floor()?;
    let number = count.div_ceil(FIGURE);
    let side = (libm::cbrt(number as f64).ceil() as usize).max(1);
    let mut seed = 3;
    for i in 0..number {
        let cell = Vec3::new(
            (i % side) as f64,
            (i / side % side) as f64,
            (i / side / side) as f64,
        );
        let jitter = Vec3::new(draw(&mut seed), draw(&mut seed), draw(&mut seed)) * 0.2;
        figure(&mut world, cell * 1.1 + jitter + Vec3::Z * 0.6)?;
    }
    Ok(world)
}

fn figure(world: &mut World, at: Vec3) -> Result<(), BuildError> {
    let trunk = Shape::Cuboid {
        half: Vec3::new(0.15, 0.1, 0.25),
    };
    let limb = Shape::Capsule {
        half_length: 0.12,
        radius: 0.05,
    };
    let trunk = world.add_body(&BodyDesc::dynamic(trunk, at))?;
    for (x, z) in [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
        let hip = at + Vec3::new(0.2 * x, 0.0, 0.2 * z);
        let out = hip + Vec3::new(0.17 * x, 0.0, 0.0);
        let mut desc = BodyDesc::dynamic(limb.clone(), out);
        desc.pose.rotation = tippe::Quat::from_rotation_y(std::f64::consts::FRAC_PI_2);
        let limb = world.add_body(&desc)?;
        let mut joint = JointDesc::hinge(world, Some(trunk), limb, hip, Vec3::Y)?;
        joint.rotation.limits = Some((-1.2, 1.2));
        world.add_joint(&joint)?;
    }
    Ok(())
}
