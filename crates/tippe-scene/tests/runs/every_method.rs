//! SR-22: every scene of the repository runs with every method that supports it, by changing one word.
//!
//! The example `every_method` does the same for whole scenes at length; here the largest take fewer steps.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use crate::every_method_support::{End, METHODS, name, run, scene_files};
use tippe_scene::{LoadOptions, load_file};

/// Steps of each run; scenes with more bodies than this take two with two methods.
const STEPS: usize = 20;
const STEPS_OF_MANY: usize = 2;
const METHODS_OF_MANY: [&str; 2] = ["sequential", "simultaneous"];
const MANY: usize = 150;
/// What takes seconds for its steps, and is left to the example: scenes and methods.
const SLOW: [(&str, &str); 5] = [
    ("dropped-stack", "simultaneous"),
    ("gear-train", "events"),
    ("joint-grid", "simultaneous"),
    ("pin-in-sheath", "forces"),
    ("towers", "events"),
];

#[test]
fn sr_22_every_scene_runs_with_every_method() {
    let mut ran = [0; METHODS.len()];
    for path in scene_files() {
        let plain = load_file(&path, &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let many = plain.world.body_count() > MANY;
        let steps = if many { STEPS_OF_MANY } else { STEPS };
        let mut supported = 0;
        for (k, method) in METHODS.into_iter().enumerate() {
            let this = (name(&path), method);
            let slow = SLOW.iter().any(|(n, m)| (n.to_string(), *m) == this);
            if slow || (many && !METHODS_OF_MANY.contains(&method)) {
                supported += usize::from(slow);
                continue;
            }
            match run(&path, method, steps) {
                End::Ran => {
                    supported += 1;
                    ran[k] += 1;
                }
                End::Refused(reason) => assert!(!reason.is_empty(), "{this:?}"),
                End::Stopped(reason) => panic!("{this:?}: {reason}"),
            }
        }
        assert!(supported > 0, "{}: no method runs it", path.display());
    }
    println!("{METHODS:?} run {ran:?} scenes");
    // Contacts that give way are known to `forces` alone; screws, gears, racks and rolling friction are not.
    let count = scene_files().len();
    assert!(ran.iter().all(|r| *r + 20 >= count), "{ran:?} of {count}");
}
