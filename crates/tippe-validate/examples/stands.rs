//! How far the highest body of a scene moves: `cargo run --release -p tippe-validate --example stands -- scenes/pyramid.toml 1/60 10`.
//!
//! Prints its displacement at the end and the largest on the way, with time per step and the worst residual.

use std::path::Path;
use tippe_scene::{LoadOptions, load_file, parse_ratio};

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, dt, seconds] = arguments.as_slice() else {
        return Err("usage: stands SCENE DT SECONDS".to_owned());
    };
    let number = |text: &str| parse_ratio(text).map_err(|_| format!("`{text}` is no number"));
    let options = LoadOptions {
        dt: Some(number(dt)?),
        ..LoadOptions::default()
    };
    let mut scene = load_file(Path::new(file), &options).map_err(|e| e.to_string())?;
    let position =
        |world: &tippe::World, id| world.body_state(id).map(|s| s.position).unwrap_or_default();
    let top = scene.names.iter().max_by(|a, b| {
        position(&scene.world, a.1)
            .z
            .total_cmp(&position(&scene.world, b.1).z)
    });
    let (name, top) = top.cloned().ok_or("the scene has no body")?;
    let start = position(&scene.world, top);
    let steps = (number(seconds)? / scene.dt).round() as u64;
    let (mut peak, mut stick, mut caps) = (0f64, 0f64, 0u64);
    let clock = std::time::Instant::now();
    for _ in 0..steps {
        let report = scene.world.step(scene.dt).map_err(|e| e.to_string())?;
        peak = peak.max((position(&scene.world, top) - start).length());
        stick = stick.max(
            report
                .residuals
                .stick_slip
                .max(report.residuals.complementarity),
        );
        caps += u64::from(report.work.caps_hit);
    }
    let ms = 1e3 * clock.elapsed().as_secs_f64() / steps as f64;
    let moved = position(&scene.world, top) - start;
    println!(
        "{name}: moved {moved} m (|{:.3e}|), peak {peak:.3e} m; {ms:.2} ms/step, worst residual {stick:.1e}, caps {caps}",
        moved.length()
    );
    Ok(())
}
