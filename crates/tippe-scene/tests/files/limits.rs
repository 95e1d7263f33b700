//! Limits of what a scene may ask for: files that are none, masses out of range, many joints.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tippe_scene::{Format, LoadOptions, load_str};

fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("limits")
        .join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn refusal(text: &str, folder: Option<&Path>) -> String {
    let options = LoadOptions {
        folder: folder.map(Path::to_path_buf),
        allow_outside: true,
        ..LoadOptions::default()
    };
    let result = load_str(text, "scene.toml", Format::Toml, &options);
    result.err().map(|e| e.to_string()).unwrap_or_default()
}

/// A pipe that nobody writes to would keep the loader waiting for ever, a device would feed it for ever.
#[cfg(unix)]
#[test]
fn meshes_and_included_scenes_are_plain_files() {
    let dir = folder("pipe");
    for name in ["pipe.stl", "pipe.toml"] {
        let made = std::process::Command::new("mkfifo")
            .arg(dir.join(name))
            .status();
        assert!(made.unwrap().success());
    }
    std::fs::create_dir_all(dir.join("folder.obj")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.join("device.stl")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.join("device.toml")).unwrap();
    for file in ["pipe.stl", "folder.obj", "device.stl"] {
        let text = format!(
            "version = 1\n[[body]]\nname = \"a\"\nkind = \"fixed\"\nshape.mesh = {{ file = {file:?} }}\n"
        );
        let said = refusal(&text, Some(&dir));
        assert!(said.contains("is no plain file"), "{file}: {said}");
    }
    for file in ["pipe.toml", "device.toml"] {
        let said = refusal(&format!("version = 1\ninclude = [{file:?}]\n"), Some(&dir));
        assert!(said.contains("is no plain file"), "{file}: {said}");
    }
}

#[test]
fn masses_and_densities_are_refused_by_range() {
    for (key, value) in [
        ("mass", "1e-308"),
        ("mass", "1e-19"),
        ("density", "1e-300"),
        ("mass", "1e19"),
        ("density", "4e-324"),
    ] {
        let text = format!(
            "version = 1\n[[body]]\nname = \"a\"\n{key} = {value}\nshape.sphere = {{ radius = 1 }}\n"
        );
        let said = refusal(&text, None);
        assert!(
            said.contains(&format!("body[0].{key}: too ")),
            "{key} {value}: {said}"
        );
    }
    // Light enough by its size alone.
    let text =
        "version = 1\n[[body]]\nname = \"a\"\ndensity = 1e-17\nshape.sphere = { radius = 2e-9 }\n";
    let said = refusal(text, None);
    assert!(said.contains("must be between 1e-30 and 1e30 kg"), "{said}");
}

fn chain(joints: usize) -> String {
    let mut text = String::from("version = 1\n");
    for i in 0..=joints {
        write!(
            text,
            "[[body]]\nname = \"b{i}\"\nposition = [{i}, 0, 0]\nshape.sphere = {{ radius = 0.1 }}\n"
        )
        .unwrap();
    }
    for i in 0..joints {
        let j = i + 1;
        write!(
            text,
            "[[joint]]\nkind = \"ball\"\nbodies = [\"b{i}\", \"b{j}\"]\nat = [{i}.5, 0, 0]\n"
        )
        .unwrap();
    }
    text
}

/// Eight times as many joints take about eight times as long, not sixty-four times.
#[test]
fn scenes_with_many_joints_load_in_linear_time() {
    let time = |joints: usize| {
        let text = chain(joints);
        let start = Instant::now();
        let scene = load_str(&text, "chain.toml", Format::Toml, &LoadOptions::default());
        let scene = scene.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scene.joints.len(), joints);
        start.elapsed().as_secs_f64()
    };
    time(100);
    let (small, large) = (time(1000), time(8000));
    println!("1000 joints: {small} s, 8000 joints: {large} s");
    assert!(large < 32.0 * small, "{small} s, then {large} s");
}
