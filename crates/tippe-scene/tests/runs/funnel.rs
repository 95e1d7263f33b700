//! The funnel with `iterative`: at the settings of [Bender06], and in steps of 1/60 s.

use std::path::{Path, PathBuf};
use tippe_scene::{LoadOptions, Scene, load_file};

fn load(name: &str, options: &LoadOptions) -> Scene {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenes")
        .join(name);
    load_file(&path, options).unwrap_or_else(|e| panic!("{e}"))
}

/// Steps to run: few where tests are not optimised, all with `TIPPE_FUNNEL_STEPS`.
fn steps(quick: u32, full: u32) -> u32 {
    match std::env::var("TIPPE_FUNNEL_STEPS") {
        Ok(count) => count.parse().expect("a number of steps"),
        Err(_) if cfg!(debug_assertions) => quick,
        Err(_) => full,
    }
}

#[test]
fn bs_20_funnel_at_the_settings_of_the_paper_is_certified() {
    let mut scene = load("funnel-paper.toml", &LoadOptions::default());
    assert!((scene.dt - 1e-3).abs() < 1e-15 && scene.step_count() == 6000);
    let steps = steps(1000, 2000);
    let (mut certified, mut met, mut collisions) = (0, false, 0);
    for _ in 0..steps {
        let report = scene.world.step(scene.dt).expect("a good step");
        certified += u32::from(met && report.penetration_found <= 1e-3);
        met = report.penetration <= 1e-4 && report.residuals.complementarity <= 1e-3;
        collisions += report.collisions;
        assert!(report.penetration_found < 0.02, "{report:?}");
    }
    // The last step has no detection after it.
    certified += u32::from(met);
    // Nothing leaks: the first cubes have met the walls and each other, and all are above the floor.
    assert!(collisions > 100, "{collisions} collisions");
    for id in scene.world.body_ids() {
        let z = scene
            .world
            .body_state(id)
            .expect("a living body")
            .position
            .z;
        assert!(z > -1.0, "height {z}");
    }
    let share = f64::from(certified) / f64::from(steps);
    println!("certified: {:.2} % of {steps} steps", 100.0 * share);
    assert!(share >= 0.99, "{share}");
}

#[test]
fn coarse_steps_of_the_funnel_do_not_burst() {
    // At 0.88 s a corner that had yet to come around an edge was pushed out within a step cut short, and everything flew apart.
    let options = LoadOptions {
        method: Some("iterative".into()),
        dt: Some(1.0 / 60.0),
        ..LoadOptions::default()
    };
    let mut scene = load("funnel.toml", &options);
    let total = |scene: &Scene| {
        let (kinetic, potential) = scene.world.energy();
        kinetic + potential
    };
    let start = total(&scene);
    for k in 0..58 {
        let report = scene.world.step(scene.dt).expect("a good step");
        assert!(report.penetration_found < 1e-3, "step {k}: {report:?}");
        assert!(
            total(&scene) <= start * (1.0 + 1e-9),
            "step {k} gains energy"
        );
    }
}
