//! Requirements on scenes, each shown by the experiment that its acceptance sentence names.

use std::path::Path;

use tippe_scene::{Format, LoadOptions, load_file, load_str};

const BLOCK: &str = r#"
version = 1
[method]
dt = 0.002
seconds = 0.4
[[material]]
name = "default"
friction = 0.3
restitution = 0.5
[[body]]
name = "floor"
kind = "fixed"
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "block"
position = [0, 0, 0.3]
velocity = [1, 0, 0]
shape.box = { size = [0.2, 0.2, 0.1] }
"#;

/// Hashes of all steps of a run.
fn log(text: &str) -> Vec<u64> {
    let mut scene = load_text(text);
    (0..scene.step_count())
        .map(|_| {
            scene.world.step(scene.dt).expect("a good step");
            scene.world.hash()
        })
        .collect()
}

fn load_text(text: &str) -> tippe_scene::Scene {
    load_str(text, "block.toml", Format::Toml, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Same input, bit-identical log; μ, e and the shape are edited in the text and the scene runs again, without a
/// rebuild.
#[test]
fn mc_32_friction_restitution_and_shape_change_without_a_rebuild() {
    let first = log(BLOCK);
    assert_eq!(first.len(), 200);
    assert_eq!(first, log(BLOCK));
    for (old, new) in [
        ("friction = 0.3", "friction = 0.4"),
        ("restitution = 0.5", "restitution = 0.4"),
        ("size = [0.2, 0.2, 0.1]", "size = [0.2, 0.2, 0.12]"),
    ] {
        assert!(BLOCK.contains(old));
        let edited = BLOCK.replace(old, new);
        let again = log(&edited);
        assert_ne!(first.last(), again.last(), "{new}");
        assert_eq!(again, log(&edited), "{new}");
    }
}

/// C6: a figure of fifteen links falls down stairs, μ = 0.6, e = 0.1, no motors: its energy never rises, and no joint
/// goes half a degree beyond its limits.
#[test]
fn ab_38_energy_of_a_falling_figure_never_rises() {
    for method in ["sequential", "iterative"] {
        let options = LoadOptions {
            method: Some(method.to_owned()),
            ..LoadOptions::default()
        };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/tree-ragdoll.toml");
        let mut scene = load_file(&path, &options).unwrap_or_else(|e| panic!("{e}"));
        let total = |w: &tippe::World| w.energy().0 + w.energy().1;
        let start = total(&scene.world);
        let (mut before, mut rise, mut sum, mut beyond) = (start, 0.0_f64, 0.0, 0.0_f64);
        let seconds = if cfg!(debug_assertions) { 0.3 } else { 6.0 };
        for _ in 0..(seconds / scene.dt) as u32 {
            let report = scene.world.step(scene.dt).expect("a good step");
            let now = total(&scene.world);
            rise = rise.max(now - before);
            sum += (now - before).max(0.0);
            before = now;
            beyond = beyond.max(report.residuals.joint_position);
        }
        println!(
            "{method}: of {:.1} J lost, {rise:e} J gained in the worst step and {sum:e} J in all; beyond limits {:.4}°",
            start - before,
            beyond.to_degrees()
        );
        // Monotone up to rounding and the integrator.
        assert!(rise < 1e-9 * start, "{method}: {rise:e} of {start} J");
        assert!(beyond.to_degrees() < 0.5, "{method}: {beyond}");
    }
}
