//! The same bits for any number of threads, on the speed scenes and on a cart.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::Path;
use tippe_scene::{LoadOptions, load_file};

/// Steps that a test takes: fewer where nothing is optimised; `TIPPE_STEPS` sets another number.
fn steps(release: u32, debug: u32) -> u32 {
    let asked = std::env::var("TIPPE_STEPS").ok();
    if let Some(asked) = asked.and_then(|s| s.parse().ok()) {
        asked
    } else if cfg!(debug_assertions) {
        debug
    } else {
        release
    }
}

fn same_bits(name: &str, count: u32) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenes")
        .join(name);
    let hash = |threads: usize| {
        let mut scene = load_file(&path, &LoadOptions::default()).unwrap();
        scene.world.set_threads(threads).unwrap();
        assert_eq!(scene.world.threads(), threads);
        for _ in 0..count {
            scene.world.step(scene.dt).unwrap();
        }
        scene.world.hash()
    };
    let one = hash(1);
    for threads in [2, 5] {
        assert_eq!(one, hash(threads), "{name}, {threads} threads");
    }
}

#[test]
fn the_funnel_has_the_same_bits_for_any_number_of_threads() {
    same_bits("funnel.toml", steps(120, 40));
}

#[test]
fn the_cart_has_the_same_bits_for_any_number_of_threads() {
    same_bits("cart.toml", steps(300, 60));
}

#[test]
fn towers_have_the_same_bits_for_any_number_of_threads() {
    same_bits("towers.toml", steps(30, 3));
}

#[test]
fn the_pile_has_the_same_bits_for_any_number_of_threads() {
    same_bits("pile.toml", steps(60, 8));
}

#[test]
fn the_joint_grid_has_the_same_bits_for_any_number_of_threads() {
    same_bits("joint-grid.toml", steps(15, 1));
}

#[test]
fn senseless_numbers_of_threads_are_refused() {
    let mut world = tippe::World::default();
    for count in [0, 1025, usize::MAX] {
        let error = world.set_threads(count).unwrap_err();
        assert!(error.to_string().contains("threads"), "{error}");
    }
    assert_eq!(world.threads(), 1);
}
