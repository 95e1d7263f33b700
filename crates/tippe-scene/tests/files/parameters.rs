//! Parameters, values by path and sub-assemblies: what they come to, and what is refused.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::Path;
use tippe::Vec3;
use tippe_scene::{Diagnostics, Format, LoadOptions, Scene, explain, load_file, load_str};

const SCENE: &str = r#"
version = 1
[parameters]
radius = 0.1
height = "=10 * radius"
start = [0, 0, "=height"]
[method]
dt = 0.01
seconds = 1
[[body]]
name = "ball"
shape.sphere = { radius = "=radius" }
position = "=start"
mass = 2
[[body]]
name = "block"
shape.box = { size = [1, 1, "=2 * radius"] }
position = [2, 0, "=height + radius"]
"#;

fn with(set: &[&str]) -> Result<Scene, Diagnostics> {
    let options = LoadOptions {
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..LoadOptions::default()
    };
    load_str(SCENE, "s.toml", Format::Toml, &options)
}

fn message(set: &[&str]) -> String {
    with(set).unwrap_err().to_string()
}

fn position(scene: &Scene, name: &str) -> Vec3 {
    scene
        .world
        .pose(scene.body(name).unwrap())
        .unwrap()
        .position
}

#[test]
fn parameters_stand_for_values_and_expressions() {
    let scene = with(&[]).unwrap();
    assert_eq!(position(&scene, "ball"), Vec3::Z);
    assert_eq!(position(&scene, "block"), Vec3::new(2.0, 0.0, 1.1));
    // Written out, the scene has numbers and loads to the same world.
    let text = explain(&scene);
    let again = load_str(&text, "s.toml", Format::Toml, &LoadOptions::default()).unwrap();
    assert_eq!(again.world.hash(), scene.world.hash());
}

#[test]
fn values_are_set_by_path() {
    let scene = with(&[
        "parameters.radius=0.2",
        "body.block.mass=7",
        "world.gravity=[0, 0, -1]",
    ])
    .unwrap();
    assert_eq!(position(&scene, "ball"), Vec3::Z * 2.0);
    let mass = |name| scene.world.body(scene.body(name).unwrap()).unwrap().mass;
    assert_eq!((mass("block"), mass("ball")), (7.0, 2.0));
    assert_eq!(scene.world.gravity(), -Vec3::Z);
    let scene = with(&[
        "method.name=iterative",
        "method.dt=1/60",
        "body[1].position[0]=5",
    ])
    .unwrap();
    assert_eq!(
        (scene.world.method().name(), scene.dt),
        ("iterative", 1.0 / 60.0)
    );
    assert_eq!(position(&scene, "block").x, 5.0);
    // The same scene, whether written in the file or set.
    let written = SCENE.replace("mass = 2", "mass = 3");
    let written = load_str(&written, "s.toml", Format::Toml, &LoadOptions::default()).unwrap();
    assert_eq!(
        with(&["body.ball.mass=3"]).unwrap().world.bare_snapshot(),
        written.world.bare_snapshot()
    );
}

#[test]
fn wrong_paths_and_values_are_told_by_what_was_set_and_not_blamed_on_the_file() {
    for (set, expected) in [
        (
            "body.block.mass=-1",
            "--set body.block.mass=-1: body[1].mass: must be positive, got -1",
        ),
        ("body.blck.mass=1", "no body of this scene fits `blck.mass`"),
        ("body.blck.mass=1", "did you mean body.block?"),
        ("parameters.radus=1", "did you mean parameters.radius?"),
        (
            "body.block.mas=1",
            "--set body.block.mas=1: body[1].mas: unknown field",
        ),
        ("body.block.mas=1", "did you mean `mass`?"),
        ("bodi.block.mass=1", "did you mean `body`?"),
        ("body.block.mass", "has no `=`"),
        ("=1", "is no path"),
        ("body[9].mass=1", "no body of this scene fits"),
        (
            "body.block.position[1]=x",
            "must be a number, got text \"x\"",
        ),
        ("method.name=sequental", "did you mean \"sequential\"?"),
        ("parameters.radius=-1", "must be positive, got -1"),
    ] {
        let told = message(&[set]);
        assert!(told.contains(expected), "{set}: {told}");
    }
    // An expression at fault is the file's.
    let text = SCENE.replace("\"=radius\"", "\"=radus\"");
    let told = load_str(&text, "s.toml", Format::Toml, &LoadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("s.toml:12:")
            && told.contains("no parameter `radus`")
            && told.contains("`radius`?"),
        "{told}"
    );
    let text = SCENE.replace("radius = 0.1", "radius = \"=height\"");
    let told = load_str(&text, "s.toml", Format::Toml, &LoadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("parameters.height") && told.contains("without a circle"),
        "{told}"
    );
    // An option at fault is the option's.
    let options = LoadOptions {
        dt: Some(1e-12),
        seconds: Some(1e3),
        ..LoadOptions::default()
    };
    let told = load_str(SCENE, "s.toml", Format::Toml, &options)
        .unwrap_err()
        .to_string();
    assert!(told.starts_with("option dt: method.dt:"), "{told}");
}

#[test]
fn sub_assemblies_are_placed_and_named_and_have_their_own_parameters() {
    let folder = std::env::temp_dir().join(format!("tippe-assembly-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("leg.toml"),
        r#"
version = 1
[parameters]
length = 0.5
[[material]]
name = "rubber"
friction = 0.9
[[body]]
name = "thigh"
material = "rubber"
shape.box = { size = [0.1, 0.1, "=length"] }
position = [1, 0, 0]
velocity = [1, 0, 0]
[[body]]
name = "anchor"
kind = "kinematic"
shape.sphere = { radius = 0.1 }
motion = { kind = "constant", velocity = [0, 1, 0] }
[[joint]]
kind = "hinge"
name = "hip"
bodies = ["world", "thigh"]
at = [1, 0, 0.25]
axis = [1, 0, 0]
[[articulation]]
name = "arm"
position = [2, 0, 0]
[[articulation.link]]
name = "upper"
shape.sphere = { radius = 0.1 }
"#,
    )
    .unwrap();
    let main = r#"
version = 1
[[assembly]]
name = "left"
file = "leg.toml"
position = [0, 0, 1]
[[assembly]]
name = "right"
file = "leg.toml"
rotation_deg = { axis = [0, 0, 1], angle = 90 }
parameters = { length = 1.5 }
[[joint]]
kind = "distance"
bodies = ["left.thigh", "right.thigh"]
"#;
    let path = folder.join("main.toml");
    std::fs::write(&path, main).unwrap();
    let load = |set: &[&str]| {
        let set = set.iter().map(|s| (*s).to_owned()).collect();
        load_file(
            &path,
            &LoadOptions {
                set,
                ..LoadOptions::default()
            },
        )
    };
    let scene = load(&[]).unwrap();
    assert_eq!(position(&scene, "left.thigh"), Vec3::new(1.0, 0.0, 1.0));
    assert!((position(&scene, "right.thigh") - Vec3::Y).length() < 1e-15);
    assert!((position(&scene, "right.arm.upper") - Vec3::Y * 2.0).length() < 1e-15);
    let state = |name| *scene.world.body_state(scene.body(name).unwrap()).unwrap();
    assert!((state("right.thigh").velocity - Vec3::Y).length() < 1e-15);
    assert!((state("right.anchor").velocity + Vec3::X).length() < 1e-15);
    let mass = |name| scene.world.body(scene.body(name).unwrap()).unwrap().mass;
    assert!((mass("right.thigh") / mass("left.thigh") - 3.0).abs() < 1e-12);
    let hip = scene
        .world
        .joint(scene.joint("right.hip").unwrap())
        .unwrap();
    assert!((hip.desc.frame_a.position - Vec3::new(0.0, 1.0, 0.25)).length() < 1e-15);
    assert!((hip.desc.frame_a.rotation * Vec3::Z - Vec3::Y).length() < 1e-15);
    // The explained scene is the same, flat.
    let again = load_str(
        &explain(&scene),
        "s.toml",
        Format::Toml,
        &LoadOptions::default(),
    )
    .unwrap();
    assert_eq!(again.world.hash(), scene.world.hash());
    // Values by path reach into one of them.
    let heavy = load(&["body.left.thigh.mass=9"]).unwrap();
    let mass = |name| heavy.world.body(heavy.body(name).unwrap()).unwrap().mass;
    assert_eq!(mass("left.thigh"), 9.0);
    assert!(mass("right.thigh") != 9.0);
    std::fs::write(&path, main.replace("length = 1.5", "lenght = 1.5")).unwrap();
    let told = load(&[]).unwrap_err().to_string();
    assert!(
        told.contains("no such parameter in that file") && told.contains("`length`?"),
        "{told}"
    );
    std::fs::write(
        &path,
        main.replace(
            "file = \"leg.toml\"\nposition",
            "file = \"main.toml\"\nposition",
        ),
    )
    .unwrap();
    let told = load(&[]).unwrap_err().to_string();
    assert!(
        told.contains("a circle of includes: main.toml → main.toml"),
        "{told}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(load_file(Path::new("Cargo.lock"), &LoadOptions::default()).is_err());
}
