//! A net under refactoring: the motion of every scene by every method, as hashes.
//!
//! `cargo run --release -p tippe-scene --example motion_hashes [--steps N] [NAME…]` prints one line for each scene and method: name,
//! method, steps taken, hash of poses and velocities, hash of the whole world. `--check` compares with the stored table instead
//! (`crates/tippe-scene/tests/data/motion.txt`) and names every line that differs. A change that must not move anything keeps the
//! fourth column; a change of what the state remembers changes the fifth alone.

#[path = "../tests/motion_support/mod.rs"]
mod motion_support;

use motion_support::{METHODS, Row, STEPS, files, run, stored};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut names = Vec::new();
    let mut steps = STEPS;
    let mut check = false;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--check" => check = true,
            "--steps" => steps = words.next().and_then(|n| n.parse().ok()).unwrap_or(STEPS),
            _ => names.push(word),
        }
    }
    let known = stored();
    let mut moved = 0_u32;
    let mut checked = 0_u32;
    for path in files() {
        let name = motion_support::name(&path);
        if !names.is_empty() && !names.contains(&name) {
            continue;
        }
        for method in METHODS {
            let row = run(&path, method, steps);
            if !check {
                println!("{row}");
                continue;
            }
            checked += 1;
            let same =
                |r: &&Row| r.name == row.name && r.method == row.method && r.asked == row.asked;
            match known.iter().find(same) {
                Some(old) if old.motion == row.motion && old.taken == row.taken => {
                    if old.world != row.world {
                        println!("{row}   same motion, other state");
                    }
                }
                Some(old) => {
                    moved += 1;
                    println!("{row}   MOVED, was {old}");
                }
                None => println!("{row}   not stored"),
            }
        }
    }
    if check {
        println!("{checked} checked, {moved} moved");
    }
    ExitCode::from(u8::from(moved > 0))
}
