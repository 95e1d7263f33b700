//! A run recorded exactly and written as CSV, with a sensor: what other programs read.

use tippe_scene::recording::Tables;
use tippe_scene::{Format, LoadOptions, Recording, RecordingWriter, load_str};

const SCENE: &str = r#"
version = 1
[method]
dt = 0.001
seconds = 1
[record]
rate = 10
exact = true
[[body]]
name = "pendulum"
mass = 1
position = [0.5, 0, 0]
shape.sphere = { radius = 0.1 }
[[joint]]
name = "pivot"
kind = "hinge"
bodies = ["world", "pendulum"]
at = [0, 0, 0]
axis = [0, 1, 0]
[[sensor]]
name = "pivot"
kind = "joint_force"
joint = "pivot"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut scene = load_str(
        SCENE,
        "pendulum.toml",
        Format::Toml,
        &LoadOptions::default(),
    )?;
    let mut writer = RecordingWriter::new(Vec::new(), &scene)?;
    for _ in 0..scene.step_count() {
        let report = scene.world.step(scene.dt)?;
        writer.step(&scene.world, &report)?;
    }
    let bytes = writer.finish(&scene.world, "")?;
    let tables = Tables::of(&Recording::read(&bytes)?);
    for (name, text) in tables.files() {
        println!(
            "{name}: {} rows, columns {}",
            text.lines().count() - 1,
            text.lines().next().unwrap_or_default()
        );
    }
    // Every number reads back as it was.
    let last = tables.joints.lines().last().unwrap_or_default();
    let angle: f64 = last.split(',').nth(2).unwrap_or_default().parse()?;
    let joint = scene
        .world
        .joint_named("pivot")
        .ok_or(tippe::UnknownJoint)?;
    assert_eq!(angle, scene.world.joint_positions(joint)?[0]);
    Ok(())
}
