//! How fast `events` is: scenes against real time, time per event against the number of bodies, the cost of what is far away.
//!
//! `cargo run --release -p tippe-scene --example events_speed -- [SCENE…]`; without scenes all lines are printed. Times are of one core
//! (processor time), rates are of this machine.

use cpu_time::ProcessTime;
use std::path::{Path, PathBuf};
use tippe::{BodyDesc, EventsParams, Method, Shape, Surface, Vec3, World};
use tippe_scene::{LoadOptions, load_file};

fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    impacts: usize,
    looks: u64,
    heap: u64,
    promotions: u64,
    caps: u64,
    depth: f64,
    cpu: f64,
}

fn run(world: &mut World, dt: f64, steps: u32) -> Result<Tally, tippe::StepError> {
    let start = ProcessTime::now();
    let mut tally = Tally::default();
    for _ in 0..steps {
        let r = world.step(dt)?;
        tally.impacts += r.collisions;
        tally.looks += r.work.looks;
        tally.heap += r.work.heap_operations;
        tally.promotions += u64::from(r.work.promotions);
        tally.caps += u64::from(r.work.caps_open());
        tally.depth = tally.depth.max(r.penetration_found);
    }
    tally.cpu = start.elapsed().as_secs_f64();
    Ok(tally)
}

fn scene(name: &str) {
    let loaded = load_file(&scenes().join(name), &LoadOptions::default());
    let mut scene = match loaded {
        Ok(scene) => scene,
        Err(e) => return println!("{name}: {e}"),
    };
    let steps = (scene.seconds / scene.dt).round() as u32;
    let tally = match run(&mut scene.world, scene.dt, steps) {
        Ok(tally) => tally,
        Err(e) => return println!("{name}: stopped: {e}"),
    };
    let (e, scale) = (scene.world.ledger(), scene.world.energy_scale());
    println!(
        "{name}: {:.1} s in {:.3} s, {:.0} times real time; {} impacts, {} looks, {} heap operations, {} promotions, {} caps; \
         gained {:.1e}, hops {:.1e}, unexplained {:.1e} of {scale:.2e} J; deepest {:.1e} m",
        scene.seconds,
        tally.cpu,
        scene.seconds / tally.cpu,
        tally.impacts,
        tally.looks,
        tally.heap,
        tally.promotions,
        tally.caps,
        e.gained,
        e.hops,
        e.unexplained,
        tally.depth,
    );
}

/// Elastic balls at equal density in a room, as many as asked for.
fn balls(count: i32) -> World {
    let mut world = World::new(Method::Events(EventsParams::default())).expect("good parameters");
    world.set_gravity(Vec3::ZERO).expect("finite");
    world
        .set_default_surface(Surface::new(0.0, 1.0))
        .expect("a good surface");
    let side = libm::cbrt(f64::from(count)).ceil() as i32;
    for (at, sign) in [(-0.25, 1.0), (0.5 * f64::from(side) - 0.25, -1.0)] {
        for axis in Vec3::AXES {
            let normal = axis * sign;
            let wall = BodyDesc::fixed(Shape::HalfSpace { normal }, axis * at);
            world.add_body(&wall).expect("a wall");
        }
    }
    let mut seed = 5_u64;
    let mut draw = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    for i in 0..count {
        let cell = Vec3::new(
            f64::from(i % side),
            f64::from(i / side % side),
            f64::from(i / side / side),
        );
        let mut ball = BodyDesc::dynamic(Shape::Sphere { radius: 0.1 }, cell * 0.5);
        ball.velocity = Vec3::new(draw(), draw(), draw()) * 4.0;
        world.add_body(&ball).expect("a ball");
    }
    world
}

fn growth() {
    let mut first = 0.0;
    for count in [100, 1000, 10_000] {
        let mut world = balls(count);
        run(&mut world, 0.1, 2).expect("a step");
        let seconds = 2000.0 / f64::from(count);
        let steps = (seconds / 0.1).round().max(2.0) as u32;
        let tally = run(&mut world, 0.1, steps).expect("a step");
        let each = tally.cpu / tally.impacts as f64;
        if first == 0.0 {
            first = each;
        }
        println!(
            "{count} balls: {} impacts, {:.2} µs an impact, {:.2} times that of 100",
            tally.impacts,
            1e6 * each,
            each / first
        );
    }
}

/// A ball that rolls and bounces near the origin, with so many fixed pieces far away.
fn far(pieces: i32) -> Tally {
    let mut world = World::new(Method::Events(EventsParams::default())).expect("good parameters");
    world
        .set_default_surface(Surface::new(0.3, 0.8))
        .expect("a good surface");
    let floor = BodyDesc::fixed(Shape::HalfSpace { normal: Vec3::Z }, Vec3::ZERO);
    world.add_body(&floor).expect("a floor");
    for i in 0..20 {
        let at = Vec3::new(0.3 * f64::from(i), 0.0, 1.0 + 0.1 * f64::from(i));
        let ball = BodyDesc::dynamic(Shape::Sphere { radius: 0.1 }, at);
        world.add_body(&ball).expect("a ball");
    }
    for i in 0..pieces {
        let at = Vec3::new(100.0 + f64::from(i % 100), f64::from(i / 100), 0.0);
        let half = Vec3::splat(0.4);
        let piece = BodyDesc::fixed(Shape::Cuboid { half }, at);
        world.add_body(&piece).expect("a piece");
    }
    run(&mut world, 0.1, 1).expect("a step");
    run(&mut world, 0.1, 100).expect("a step")
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if !names.is_empty() {
        return names.iter().for_each(|name| scene(name));
    }
    for name in [
        "coins.toml",
        "bowling.toml",
        "dropped-stack.toml",
        "gas.toml",
        "events-marbles.toml",
        "meshes/marbles.toml",
        "platter.toml",
        "ramp-frictions.toml",
        "bounce-and-roll.toml",
        "hammer-and-nail.toml",
        "pin-in-sheath.toml",
    ] {
        scene(name);
    }
    growth();
    let (near, with) = (far(0), far(10_000));
    println!(
        "10,000 fixed pieces far away: {} looks instead of {}, {:.3} s instead of {:.3} s",
        with.looks, near.looks, with.cpu, near.cpu
    );
}
