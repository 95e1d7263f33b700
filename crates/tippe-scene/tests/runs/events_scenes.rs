//! The scenes of `events`: the same bits in any build, for any number of threads and however their time is cut into steps.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::Path;
use tippe::World;
use tippe_scene::{LoadOptions, Scene, load_file};

fn load(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenes")
        .join(name);
    load_file(&path, &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Hash of the motion after `seconds` in so many steps with so many threads.
fn motion(name: &str, seconds: f64, steps: u32, threads: usize) -> u64 {
    let mut scene = load(name);
    scene.world.set_threads(threads).unwrap();
    for _ in 0..steps {
        scene.world.step(seconds / f64::from(steps)).unwrap();
    }
    motion_hash(&scene.world)
}

/// FNV-1a over the bits of all poses and velocities.
fn motion_hash(world: &World) -> u64 {
    let numbers = world.body_ids().flat_map(|id| {
        let s = world.body_state(id).unwrap();
        let vectors = [s.position, s.velocity, s.angular_velocity].map(|v| v.to_array());
        vectors.into_iter().flatten().chain(s.rotation.to_array())
    });
    numbers
        .flat_map(f64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |h: u64, byte| {
            (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
}

/// Scene, seconds, and the hash of its motion then. It changes only in a commit that says why.
const GOLDEN: [(&str, f64, u64); 4] = [
    ("coins.toml", 0.5, 0xb44d_407e_3173_734c),
    ("gas.toml", 0.125, 0xdee4_07e4_b816_9ffd),
    ("hammer-and-nail.toml", 0.5, 0x5aa2_f1c6_e113_3d35),
    ("ramp-frictions.toml", 0.25, 0x1a42_6849_6c8e_5288),
];

#[test]
fn four_scenes_have_their_golden_hashes_however_they_are_run() {
    let mut moved = String::new();
    for (name, seconds, golden) in GOLDEN {
        let found = motion(name, seconds, 50, 1);
        if found != golden {
            moved += &format!("(\"{name}\", {seconds}, 0x{found:016x}),\n");
        }
        for (steps, threads) in [(50, 2), (50, 8), (1, 1), (333, 1)] {
            let other = motion(name, seconds, steps, threads);
            assert_eq!(found, other, "{name}: {steps} steps, {threads} threads");
        }
    }
    assert!(
        moved.is_empty(),
        "if that is meant, GOLDEN becomes\n{moved}"
    );
}
