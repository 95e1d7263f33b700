//! One scene, loaded with several values of a parameter: scene files, `--set` from code, names.

use tippe::Error;
use tippe_scene::{Format, LoadOptions, load_str};

const SCENE: &str = r#"
version = 1
[parameters]
slope = 20        # degrees
friction = 0.3
[method]
dt = 0.002
seconds = 1
[[material]]
name = "default"
friction = "=friction"
[[body]]
name = "slope"
kind = "fixed"
rotation_deg = { axis = [0, 1, 0], angle = "=slope" }
shape.half_space = { normal = [0, 0, 1] }
[[body]]
name = "block"
mass = 1
rotation_deg = { axis = [0, 1, 0], angle = "=slope" }
position = ["=0.05 * sin(slope * pi / 180)", 0, "=0.05 * cos(slope * pi / 180)"]
shape.box = { size = [0.2, 0.2, 0.1] }
"#;

fn main() -> Result<(), Error> {
    for slope in [10.0_f64, 16.0, 18.0, 25.0] {
        let options = LoadOptions {
            set: vec![format!("parameters.slope={slope}")],
            ..LoadOptions::default()
        };
        let mut scene = load_str(SCENE, "slope.toml", Format::Toml, &options)?;
        for _ in 0..scene.step_count() {
            scene.world.step(scene.dt)?;
        }
        let block = scene.world.body_named("block").ok_or(tippe::UnknownBody)?;
        let speed = scene.world.body_state(block)?.velocity.length();
        let angle = slope.to_radians();
        let expected = (9.81 * (angle.sin() - 0.3 * angle.cos())).max(0.0);
        println!("on {slope}° the block goes at {speed:.4} m/s after 1 s ({expected:.4} expected)");
        assert!((speed - expected).abs() < 1e-3);
    }
    Ok(())
}
