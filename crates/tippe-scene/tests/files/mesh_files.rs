//! Meshes of files as moving bodies: formats, units, merging, and what is said about meshes that are not closed.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use tippe_scene::{Format, LoadOptions, Scene, load_str};

fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("mesh_files")
        .join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// A block of 2 × 3 × 4 as OBJ, its corners off by `noise` from face to face.
fn block(faces: usize, noise: f64, turned: bool) -> String {
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let mut out = String::new();
    for (i, quad) in quads.iter().take(faces).enumerate() {
        for (k, c) in quad.iter().enumerate() {
            let at = |bit: usize, size: f64| if c >> bit & 1 == 1 { size } else { 0.0 };
            let off = noise * ((i + k) % 3) as f64;
            out += &format!(
                "v {} {} {}\n",
                at(0, 2.0) + off,
                at(1, 3.0) - off,
                at(2, 4.0)
            );
        }
        let n = 4 * i;
        let corners = if turned {
            [n + 4, n + 3, n + 2, n + 1]
        } else {
            [n + 1, n + 2, n + 3, n + 4]
        };
        out += &format!(
            "f {} {} {} {}\n",
            corners[0], corners[1], corners[2], corners[3]
        );
    }
    out
}

fn load(dir: &Path, text: &str, fields: &str) -> Result<Scene, String> {
    std::fs::write(dir.join("block.obj"), text).unwrap();
    let scene = format!(
        "version = 1\n[[body]]\nname = \"block\"\ndensity = 1000\nshape.mesh = {{ file = \"block.obj\"{fields} }}\n"
    );
    let options = LoadOptions {
        folder: Some(dir.to_path_buf()),
        ..LoadOptions::default()
    };
    load_str(&scene, "scene.toml", Format::Toml, &options).map_err(|e| e.to_string())
}

fn mass(scene: &Scene) -> f64 {
    scene.world.bodies().next().unwrap().1.mass
}

fn warnings(scene: &Scene) -> String {
    scene.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn units_and_scale_multiply() {
    let dir = folder("units");
    let text = block(6, 0.0, false);
    for (fields, volume) in [
        ("", 24.0),
        (", unit = \"cm\"", 24e-6),
        (", unit = \"mm\", scale = 10", 24e-6),
        (", unit = \"in\"", 24.0 * 0.0254_f64.powi(3)),
    ] {
        let scene = load(&dir, &text, fields).unwrap();
        assert!(
            (mass(&scene) / (1000.0 * volume) - 1.0).abs() < 1e-12,
            "{fields}"
        );
        assert_eq!(warnings(&scene), "");
    }
    let error = load(&dir, &text, ", unit = \"furlong\"").unwrap_err();
    assert!(
        error.contains("shape.mesh.unit") && error.contains("furlong"),
        "{error}"
    );
}

#[test]
fn meshes_that_are_not_closed_are_named() {
    let dir = folder("open");
    // A face is missing: a warning with the edge, and the mass of the hull, which is the same here.
    let scene = load(&dir, &block(5, 0.0, false), "").unwrap();
    let said = warnings(&scene);
    assert!(
        said.contains("is not closed") && said.contains("edge ("),
        "{said}"
    );
    assert!((mass(&scene) / 24_000.0 - 1.0).abs() < 1e-9);
    // Corners off by a micrometre: open until they are merged.
    let noisy = block(6, 1e-6, false);
    assert!(warnings(&load(&dir, &noisy, "").unwrap()).contains("is not closed"));
    let merged = load(&dir, &noisy, ", merge = 1e-5").unwrap();
    assert_eq!(warnings(&merged), "");
    assert!((mass(&merged) / 24_000.0 - 1.0).abs() < 1e-5);
    // Finer than the coordinates are written.
    let error = load(&dir, &noisy, ", merge = 1e-20").unwrap_err();
    assert!(
        error.contains("shape.mesh.merge") && error.contains("too small"),
        "{error}"
    );
    // Inside out: refused.
    let error = load(&dir, &block(6, 0.0, true), "").unwrap_err();
    assert!(error.contains("inside out"), "{error}");
    // Flat: refused for want of mass.
    let error = load(&dir, &block(1, 0.0, false), "").unwrap_err();
    assert!(error.contains("flat"), "{error}");
}
