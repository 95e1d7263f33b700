//! Processor time of `forces` where nothing moves: `cargo run --release -p tippe --example forces_speed [MINUTES]`.
//!
//! Reads: nothing.  Writes: a table on standard output.
//! Called by: people; docs/speed.md quotes it.
//! Source: none. The best of several rounds is printed, because a busy machine only ever adds time. With MINUTES the three scenes of rest
//! are stepped at 1 ms for so long, and how far their bodies went is printed.

use cpu_time::ThreadTime;
use tippe::{BodyDesc, ForcesParams, Method, Quat, Shape, Surface, Vec3, World};

const DT: f64 = 1e-3;
const ROUNDS: usize = 15;

fn main() {
    println!("scene                     bodies  contacts   µs/step  factorisations/step");
    measure("ten boxes, one on another", &mut stack(10), 200);
    for rows in [4, 8, 16] {
        measure(&format!("pyramid of {rows} rows"), &mut pyramid(rows), 4);
    }
    let minutes = std::env::args().nth(1).and_then(|a| a.parse::<f64>().ok());
    for (name, mut world) in [
        ("ten boxes", stack(10)),
        ("block on a slope", slope()),
        ("table", table()),
    ] {
        if let Some(minutes) = minutes {
            rest(name, &mut world, minutes);
        }
    }
}

/// The best mean time of a step once the world has been stepped a little.
fn measure(name: &str, world: &mut World, steps: usize) {
    let mut run = |steps: usize| {
        let start = ThreadTime::now();
        let mut solves = 0;
        for _ in 0..steps {
            let report = world.step(DT).expect("a sound world");
            solves += report.work.newton_steps;
        }
        let us = start.elapsed().as_secs_f64() * 1e6 / steps as f64;
        (us, f64::from(solves) / steps as f64)
    };
    run(20);
    let rounds = (0..ROUNDS).map(|_| run(steps));
    let (us, solves) = rounds.fold((f64::INFINITY, 0.0), |a, b| if b.0 < a.0 { b } else { a });
    let moving = world.body_ids().count() - 1;
    println!(
        "{name:<25} {moving:>6} {:>9} {us:>9.1} {solves:>20.2}",
        world.contacts().len()
    );
}

/// Steps a world that should not move, and prints how far its bodies went.
fn rest(name: &str, world: &mut World, minutes: f64) {
    let places = |w: &World| -> Vec<Vec3> {
        let all = w.body_ids().map(|id| w.pose(id).expect("a body").position);
        all.collect()
    };
    let start = places(world);
    let clock = ThreadTime::now();
    for _ in 0..(minutes * 60.0 / DT).round() as u64 {
        world.step(DT).expect("a sound world");
    }
    let went = places(world)
        .iter()
        .zip(&start)
        .fold(0.0_f64, |m, (a, b)| m.max((*a - *b).length()));
    println!(
        "{name}: {went:.1e} m in {minutes} minutes, {:.0} s of processor time",
        clock.elapsed().as_secs_f64()
    );
}

fn world(friction: f64) -> World {
    let mut world = World::new(Method::Forces(ForcesParams::default())).expect("good parameters");
    world
        .set_default_surface(Surface::new(friction, 0.0))
        .expect("a good surface");
    world
}

fn add(world: &mut World, body: &BodyDesc) {
    world.add_body(body).expect("a good body");
}

fn floor(normal: Vec3) -> BodyDesc {
    BodyDesc::fixed(Shape::HalfSpace { normal }, Vec3::ZERO)
}

fn cube(at: Vec3) -> BodyDesc {
    let half = Vec3::splat(0.5);
    BodyDesc::dynamic(Shape::Cuboid { half }, at)
}

fn stack(count: usize) -> World {
    let mut world = world(0.5);
    add(&mut world, &floor(Vec3::Z));
    for i in 0..count {
        add(&mut world, &cube(Vec3::Z * (i as f64 + 0.5)));
    }
    world
}

/// Boxes that lie each on two others.
fn pyramid(rows: usize) -> World {
    let mut world = world(0.5);
    add(&mut world, &floor(Vec3::Z));
    for row in 0..rows {
        for i in 0..rows - row {
            let x = 1.1 * (i as f64 + 0.5 * row as f64);
            add(&mut world, &cube(Vec3::new(x, 0.0, row as f64 + 0.5)));
        }
    }
    world
}

fn slope() -> World {
    let mut world = world(0.5);
    let turn = Quat::from_rotation_y(20.0_f64.to_radians());
    add(&mut world, &floor(turn * Vec3::Z));
    let mut block = cube(turn * (Vec3::Z * 0.5));
    block.pose.rotation = turn;
    add(&mut world, &block);
    world
}

/// A plate on four legs, one body.
fn table() -> World {
    let mut world = world(0.5);
    add(&mut world, &floor(Vec3::Z));
    let half = Vec3::new(0.6, 0.4, 0.02);
    let mut table = BodyDesc::dynamic(Shape::Cuboid { half }, Vec3::Z * 0.72);
    for (x, y) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        let half = Vec3::new(0.03, 0.03, 0.35);
        let mut leg = tippe::ShapeDesc::from(Shape::Cuboid { half });
        leg.pose.position = Vec3::new(0.5 * x, 0.3 * y, -0.37);
        table.shapes.push(leg);
    }
    add(&mut world, &table);
    world
}
