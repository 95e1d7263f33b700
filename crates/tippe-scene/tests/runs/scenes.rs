//! The scenes of the repository load, hold what they promise, and explain themselves.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::{Path, PathBuf};
use tippe_scene::{Format, LoadOptions, Scene, explain, explain_json, load_file, load_str};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

fn load(name: &str) -> Scene {
    load_file(&folder().join(name), &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn scene_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_file())
        .collect();
    files.sort();
    files
}

#[test]
fn every_scene_loads_without_warnings_and_says_what_to_look_at() {
    let files = scene_files();
    assert!(files.len() >= 10);
    for path in files {
        let scene = load_file(&path, &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        assert!(
            scene.warnings.is_empty(),
            "{}: {:?}",
            path.display(),
            scene.warnings
        );
        assert!(
            scene.source.starts_with("# ")
                && scene
                    .source
                    .lines()
                    .take(4)
                    .any(|l| l.to_lowercase().contains("look")),
            "{}",
            path.display()
        );
        assert!(!scene.description.is_empty());
        assert_eq!(scene.names.len(), scene.world.body_count());
    }
}

#[test]
fn explained_scenes_load_to_the_same_world() {
    for path in scene_files() {
        let scene = load_file(&path, &LoadOptions::default()).unwrap();
        let again = |text: &str, format| {
            load_str(text, "explained", format, &LoadOptions::default())
                .unwrap_or_else(|e| panic!("{e}"))
        };
        for twin in [
            again(&explain(&scene), Format::Toml),
            again(&explain_json(&scene), Format::Json),
        ] {
            assert_eq!(twin.world.hash(), scene.world.hash(), "{}", path.display());
            assert!(
                twin.world.bare_snapshot() == scene.world.bare_snapshot(),
                "{}: model or state differs",
                path.display()
            );
            assert_eq!(twin.resolved, scene.resolved, "{}", path.display());
            assert_eq!(
                (twin.dt, twin.seconds, twin.record),
                (scene.dt, scene.seconds, scene.record.clone())
            );
        }
    }
}

#[test]
fn standard_scenes_have_their_bodies() {
    for (file, bodies) in [
        ("funnel.toml", 1009),
        ("pyramid.toml", 821),
        ("towers.toml", 2001),
        ("pile.toml", 5005),
    ] {
        let scene = load(file);
        assert_eq!(scene.world.body_count(), bodies, "{file}");
        assert_eq!((scene.dt, scene.step_count()), (1.0 / 60.0, 600));
    }
}

#[test]
fn funnel_orientations_are_those_of_the_standard_scene() {
    // Shoemake's formula on the recurrence with seed 1, in y-up form (x, y, z, w), turned to z-up: (x, −z, y).
    let scene = load("funnel.toml");
    let mut state = 1_u64;
    let mut draw = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for n in 0..1000 {
        let (u1, u2, u3) = (draw(), draw(), draw());
        let tau = std::f64::consts::TAU;
        let (a, b) = (f64::sqrt(1.0 - u1), f64::sqrt(u1));
        let y_up = [
            a * libm::sin(tau * u2),
            a * libm::cos(tau * u2),
            b * libm::sin(tau * u3),
            b * libm::cos(tau * u3),
        ];
        let pose = scene
            .world
            .pose(scene.body(&format!("cube{n}")).unwrap())
            .unwrap();
        let q = pose.rotation;
        for (got, want) in [
            (q.x, y_up[0]),
            (q.y, -y_up[2]),
            (q.z, y_up[1]),
            (q.w, y_up[3]),
        ] {
            assert!((got - want).abs() < 1e-15);
        }
        let (i, j, k) = (n % 10, n / 10 % 10, n / 100);
        let want = [
            -8.1 + 1.8 * f64::from(i),
            8.1 - 1.8 * f64::from(j),
            17.0 + 1.8 * f64::from(k),
        ];
        for axis in 0..3 {
            assert!((pose.position[axis] - want[axis]).abs() < 1e-13);
        }
    }
}

#[test]
fn pile_cycles_through_its_templates() {
    let scene = load("pile.toml");
    for (n, kind) in ["ball", "cube", "capsule", "ball"].iter().enumerate() {
        let id = scene.body(&format!("{kind}{n}")).unwrap();
        assert_eq!(scene.world.body(id).unwrap().name, format!("{kind}{n}"));
    }
    let last = scene
        .world
        .pose(scene.body("cube4999").unwrap())
        .unwrap()
        .position;
    let n = 4999;
    assert!((last.x - (f64::from(n % 14) - 6.5) * 1.4).abs() < 1e-12);
    assert!((last.y + (f64::from(n / 14 % 14) - 6.5) * 1.4).abs() < 1e-12);
    assert!((last.z - (1.0 + 1.4 * f64::from(n / 196))).abs() < 1e-12);
}

#[test]
fn stacks_touch_exactly() {
    let scene = load("stack.toml");
    for n in 0..20 {
        let z = scene
            .world
            .pose(scene.body(&format!("even{n}")).unwrap())
            .unwrap()
            .position
            .z;
        assert!((z - (0.1 + 0.2 * f64::from(n))).abs() < 1e-15 * 4.0);
    }
}
