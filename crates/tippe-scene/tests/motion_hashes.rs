//! The motion of scenes as stored hashes: whatever moves a bit in one of them shows, by name and method.
//!
//! The stored table holds every scene; those that are slow are checked by the example `motion_hashes --check` alone.

mod motion_support;

use motion_support::{files, name, run, stored};

/// Scenes that take a second or two together.
const QUICK: [&str; 24] = [
    "arch",
    "bounce",
    "bouncing-box",
    "break-3",
    "card-house",
    "cart",
    "coin",
    "domino",
    "double-pendulum",
    "drives",
    "heavy-on-light",
    "jerk",
    "joint-twist",
    "ragdoll",
    "seam",
    "sleepers",
    "spring-rest",
    "stack",
    "stirrer",
    "tippe-top",
    "tree-arm",
    "tree-four-bar",
    "tree-ragdoll",
    "turntable",
];

#[test]
fn quick_scenes_move_as_stored() {
    let known = stored();
    let mut moved = String::new();
    let mut checked = 0;
    for path in files().iter().filter(|p| QUICK.contains(&name(p).as_str())) {
        for row in known.iter().filter(|r| r.name == name(path)) {
            let now = run(path, &row.method, row.asked);
            checked += 1;
            if now != *row {
                moved += &format!("{now}\n  was {row}\n");
            }
        }
    }
    assert_eq!(
        checked,
        2 * QUICK.len(),
        "every quick scene by both methods"
    );
    assert!(
        moved.is_empty(),
        "if that is meant, tests/data/motion.txt becomes\n{moved}"
    );
}
