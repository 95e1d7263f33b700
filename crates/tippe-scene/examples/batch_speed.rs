//! What `python/benches/speed.py` sets beside the package: the same loops in Rust.
//!
//! `batch_speed empty COUNT` prints the median time of a step of an empty world [s], `batch_speed SCENE WORLDS STEPS THREADS cpu|wall` the time of a
//! batch, of the processor or of the clock [s].
//!
//! Reads: a scene.  Writes: a number on standard output.
//! Called by: people, `python/benches/speed.py`.
//! Source: none.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use cpu_time::ProcessTime;
use tippe::World;
use tippe::batch::Batch;
use tippe_scene::{LoadOptions, load_file};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let seconds = match words[..] {
        ["empty", count] => empty(count.parse()?)?,
        [scene, worlds, steps, threads, clock] => {
            let loaded = load_file(scene.as_ref(), &LoadOptions::default())?;
            let mut batch = Batch::new(vec![loaded.world; worlds.parse()?], threads.parse()?)?;
            let (cpu, wall) = (ProcessTime::now(), Instant::now());
            batch.step(loaded.dt, steps.parse()?);
            if clock == "cpu" {
                cpu.elapsed().as_secs_f64()
            } else {
                wall.elapsed().as_secs_f64()
            }
        }
        _ => {
            return Err(
                "usage: batch_speed empty COUNT | SCENE WORLDS STEPS THREADS cpu|wall".into(),
            );
        }
    };
    println!("{seconds:e}");
    Ok(())
}

/// Median time of a step [s], less that of looking at the clock.
fn empty(count: usize) -> Result<f64, Box<dyn Error>> {
    let mut world = World::default();
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        black_box(world.step(0.001)?);
        times.push(start.elapsed());
    }
    let mut idle: Vec<_> = (0..10_000).map(|_| Instant::now().elapsed()).collect();
    times.sort_unstable();
    idle.sort_unstable();
    let middle = |t: &[std::time::Duration]| t[t.len() / 2].as_secs_f64();
    Ok(middle(&times) - middle(&idle))
}
