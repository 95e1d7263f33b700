//! Rooms: what the folders of the physics crate may know of each other, and a code map that is whole.
//!
//! Reads: `Tree`.  Writes: nothing.
//! Called by: `tidy`.
//! Source: ARCHITECTURE.md, "Invariants".

use crate::tree::{Problem, Tree};

/// A folder, the paths it may not use, the identifiers it may not have, and why.
struct Room {
    folder: &'static str,
    paths: &'static [&'static str],
    identifiers: &'static [&'static str],
    reason: &'static str,
}

const ROOMS: [Room; 3] = [
    Room {
        folder: "crates/tippe/src/solver/",
        paths: &[
            "crate::method",
            "crate::world",
            "crate::two_stage",
            "crate::output",
        ],
        identifiers: &["h", "dt", "step", "seconds"],
        reason: "the solver knows one island and no time",
    },
    Room {
        folder: "crates/tippe/src/output/",
        paths: &["crate::method", "crate::two_stage", "crate::solver"],
        identifiers: &[],
        reason: "what tells users about a step knows no method",
    },
    Room {
        folder: "crates/tippe/src/two_stage/",
        paths: &["crate::method", "crate::world"],
        identifiers: &[],
        reason: "what methods share does not know them",
    },
];

/// Everything that a room knows and should not, and every source file that the code map leaves out.
pub fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    for (file, text) in tree.ending_in(".rs") {
        for room in ROOMS.iter().filter(|r| file.starts_with(r.folder)) {
            check_room(room, file, text, problems);
        }
    }
    check_map(tree, problems);
    check_test_modules(tree, problems);
}

fn check_room(room: &Room, file: &str, text: &str, problems: &mut Vec<Problem>) {
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let path = room.paths.iter().find(|p| code.contains(**p));
        let word = code
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .find(|w| room.identifiers.contains(w));
        for what in path.into_iter().copied().chain(word) {
            let text = format!("`{what}` in {}: {}", room.folder, room.reason);
            problems.push(Problem::new(file, number + 1, text));
        }
    }
}

/// Folders whose source files the code map names, one by one or with a star.
const MAPPED: [&str; 7] = [
    "crates/tippe/src/",
    "crates/tippe-scene/src/",
    "crates/tippe-validate/src/",
    "crates/tippe-cli/src/",
    "crates/tippe-render/src/",
    "python/src/",
    "xtask/src/",
];

fn check_map(tree: &Tree, problems: &mut Vec<Problem>) {
    let Some((map, text)) = tree.ending_in("ARCHITECTURE.md").next() else {
        return;
    };
    let named: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|w| w.ends_with(".rs"))
        .collect();
    for (file, _) in tree.ending_in(".rs") {
        let mapped = MAPPED.iter().any(|folder| file.starts_with(folder));
        if mapped && !named.iter().any(|pattern| matches(pattern, file)) {
            let text = format!("the code map does not name `{file}`");
            problems.push(Problem::new(map, 1, text));
        }
    }
}

/// Every file beside the `main.rs` of a test program is one of its modules: no compiler says that a test file is never built.
fn check_test_modules(tree: &Tree, problems: &mut Vec<Problem>) {
    for (main, text) in tree.ending_in("/main.rs") {
        let folder = main.trim_end_matches("main.rs");
        if !folder.contains("/tests/") {
            continue;
        }
        for (file, _) in tree.ending_in(".rs") {
            let Some(name) = file
                .strip_prefix(folder)
                .and_then(|f| f.strip_suffix(".rs"))
            else {
                continue;
            };
            let named = text.lines().any(|line| line == format!("mod {name};"));
            if name != "main" && !name.contains('/') && !named {
                problems.push(Problem::new(
                    file,
                    1,
                    format!("{main} does not name it, so its tests never run"),
                ));
            }
        }
    }
}

/// Whether a path is the pattern, whose star stands for any part of a file's name.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((start, end)) => path
            .strip_prefix(start)
            .and_then(|rest| rest.strip_suffix(end))
            .is_some_and(|middle| !middle.contains('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_must_not_know_what_they_should_not() {
        let mut problems = Vec::new();
        let text =
            "use crate::world::World; // crate::method\nlet h = 1.0;\nlet height = step_t;\n";
        check_room(
            &ROOMS[0],
            "crates/tippe/src/solver/x.rs",
            text,
            &mut problems,
        );
        assert_eq!(
            problems.len(),
            2,
            "a path and an identifier, no comment and no longer word"
        );
    }

    #[test]
    fn test_files_that_nothing_builds_are_named() {
        let tree = Tree::of(&[
            ("crates/a/tests/b/main.rs", "mod built;\n"),
            ("crates/a/tests/b/built.rs", ""),
            ("crates/a/tests/b/forgotten.rs", ""),
            ("crates/a/tests/alone.rs", ""),
        ]);
        let mut problems = Vec::new();
        check_test_modules(&tree, &mut problems);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("forgotten.rs"), "{told:?}");
    }

    #[test]
    fn stars_stand_for_a_part_of_a_name() {
        assert!(matches("a/pair_*.rs", "a/pair_x.rs") && matches("a/b.rs", "a/b.rs"));
        assert!(!matches("a/*.rs", "a/b/c.rs") && !matches("a/b.rs", "a/c.rs"));
    }
}
