//! Length: functions of the physics crate fit on a screen and a half, and a constant's name has one value.
//!
//! Reads: `Tree`.  Writes: nothing.
//! Called by: `tidy`.
//! Source: ARCHITECTURE.md, "Invariants". What was too long when the check came is listed by name; the lists may only shrink.

use crate::tree::{Problem, Tree};
use std::collections::BTreeMap;

/// Most lines of a function, from `fn` to its closing brace.
const LINES_MAX: usize = 70;

/// The folder that is looked at.
const FOLDER: &str = "crates/tippe/src/";

/// Functions that were longer when the check came, with the lines they may have.
const LONG: &[(&str, &str, usize)] = &[
    ("crates/tippe/src/collide/contact.rs", "at", 98),
    ("crates/tippe/src/collide/contact.rs", "moved", 82),
    ("crates/tippe/src/collide/mod.rs", "narrow_pair", 128),
    ("crates/tippe/src/collide/moving.rs", "look", 85),
    (
        "crates/tippe/src/collide/narrow.rs",
        "collide_shapes_from",
        159,
    ),
    ("crates/tippe/src/collide/nearest.rs", "feature", 77),
    ("crates/tippe/src/collide/pair_mesh.rs", "triangle", 77),
    ("crates/tippe/src/collide/pass.rs", "passed", 79),
    ("crates/tippe/src/dynamics/one_step/mod.rs", "new", 74),
    ("crates/tippe/src/math/front_cholesky.rs", "lay_out", 96),
    ("crates/tippe/src/shape/hull.rs", "flat_faces", 74),
    (
        "crates/tippe/src/world/articulations.rs",
        "add_articulation",
        78,
    ),
    ("crates/tippe/src/world/couplings.rs", "add_coupling", 82),
];

/// Names of constants that have several values still.
const AMBIGUOUS: &[&str] = &["ROWS_MAX"];

/// Folders and files that are being rewritten or are to go: looked at when they are whole.
const IN_WORK: &[&str] = &[
    "crates/tippe/src/assembly/",
    "crates/tippe/src/dynamics/contact_rates.rs",
    "crates/tippe/src/dynamics/coupling.rs",
    "crates/tippe/src/math/mixed_newton.rs",
    "crates/tippe/src/method/events/",
    "crates/tippe/src/method/forces/",
    "crates/tippe/src/method/iterative/",
    "crates/tippe/src/method/simultaneous/",
    "crates/tippe/src/solver/",
    "crates/tippe/src/two_stage/",
];

/// Names that mean the same of every type that has them.
const OF_TYPES: [&str; 7] = [
    "ZERO", "NONE", "REST", "IDENTITY", "EMPTY", "KIND", "OPTIONAL",
];

/// Functions that are too long, names with several values, and entries of the lists that nothing needs any more.
pub fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    check_lists(tree, LONG, AMBIGUOUS, problems);
}

fn check_lists(
    tree: &Tree,
    long: &[(&str, &str, usize)],
    ambiguous: &[&str],
    problems: &mut Vec<Problem>,
) {
    let mut used = vec![false; long.len()];
    let mut values: BTreeMap<String, BTreeMap<String, (String, usize)>> = BTreeMap::new();
    let looked_at =
        |file: &str| file.starts_with(FOLDER) && !IN_WORK.iter().any(|part| file.starts_with(part));
    for (file, text) in tree.ending_in(".rs").filter(|(f, _)| looked_at(f)) {
        let lines: Vec<&str> = text.lines().take_while(|l| *l != "#[cfg(test)]").collect();
        for function in functions(&lines).filter(|f| f.lines > LINES_MAX) {
            let listed = long
                .iter()
                .position(|l| l.0 == file && l.1 == function.name);
            match listed {
                Some(i) if function.lines <= long[i].2 => used[i] = true,
                _ => {
                    let text = format!(
                        "`{}` has {} lines, at most {LINES_MAX} are allowed: divide it",
                        function.name, function.lines
                    );
                    problems.push(Problem::new(file, function.line, text));
                    listed.into_iter().for_each(|i| used[i] = true);
                }
            }
        }
        for (name, value, line) in constants(&lines) {
            let of = values.entry(name).or_default();
            of.entry(value).or_insert_with(|| (file.to_owned(), line));
        }
    }
    for (i, (file, name, _)) in long.iter().enumerate().filter(|(i, _)| !used[*i]) {
        let text = format!("`{name}` of {file} is short now: take it off the list ({i})");
        problems.push(Problem::new("xtask/src/length.rs", 1, text));
    }
    values.retain(|name, of| of.len() > 1 && !OF_TYPES.contains(&name.as_str()));
    for (name, of) in values
        .iter()
        .filter(|(n, _)| !ambiguous.contains(&n.as_str()))
    {
        let text = format!(
            "`{name}` has several values ({}): name them apart",
            of.keys().cloned().collect::<Vec<_>>().join(", ")
        );
        for (file, line) in of.values() {
            problems.push(Problem::new(file, *line, text.clone()));
        }
    }
    for name in ambiguous.iter().filter(|n| !values.contains_key(**n)) {
        let text = format!("`{name}` has one value now: take it off the list");
        problems.push(Problem::new("xtask/src/length.rs", 1, text));
    }
}

struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// The functions with a body; rustfmt puts the closing brace under the `fn`.
fn functions<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = Function<'a>> {
    lines.iter().enumerate().filter_map(move |(i, line)| {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let mut words = code.split_whitespace();
        let word = words.find(|w| !matches!(*w, "pub" | "pub(crate)" | "pub(super)" | "const"))?;
        if word != "fn" {
            return None;
        }
        let name = words.next()?.split(['(', '<']).next()?;
        // A declaration without a body ends with a semicolon before anything is closed.
        let end = lines[i..].iter().position(|l| {
            l.strip_prefix(indent).is_some_and(|rest| {
                rest == "}" || (!rest.starts_with(' ') && rest.ends_with([';', '}']))
            })
        })?;
        Some(Function {
            name,
            line: i + 1,
            lines: end + 1,
        })
    })
}

/// Name, value and line of the constants with a value on one line.
fn constants(lines: &[&str]) -> Vec<(String, String, usize)> {
    let constant = |(i, line): (usize, &&str)| {
        let code = line.trim_start();
        let code = ["pub(crate) ", "pub(super) ", "pub "]
            .iter()
            .find_map(|p| code.strip_prefix(p))
            .unwrap_or(code);
        let (name, rest) = code.strip_prefix("const ")?.split_once(':')?;
        let value = rest.split_once(" = ")?.1.strip_suffix(';')?;
        Some((name.to_owned(), value.to_owned(), i + 1))
    };
    lines.iter().enumerate().filter_map(constant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(
        files: &[(&str, &str)],
        long: &[(&str, &str, usize)],
        ambiguous: &[&str],
    ) -> Vec<String> {
        let mut problems = Vec::new();
        check_lists(&Tree::of(files), long, ambiguous, &mut problems);
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn long_functions_are_found_unless_they_are_listed_and_lists_only_shrink() {
        let body = "        x();\n".repeat(80);
        let text = format!(
            "impl A {{\n    pub(crate) fn far(\n        a: u32,\n    ) {{\n{body}    }}\n\n    fn near() {{}}\n}}\n"
        );
        let file = "crates/tippe/src/a.rs";
        assert_eq!(told(&[(file, &text)], &[], &[]).len(), 1);
        assert!(told(&[(file, &text)], &[(file, "far", 84)], &[]).is_empty());
        assert_eq!(told(&[(file, &text)], &[(file, "far", 83)], &[]).len(), 1);
        let stale = told(&[(file, "fn near() {}\n")], &[(file, "near", 84)], &[]);
        assert!(
            stale.len() == 1 && stale[0].contains("take it off"),
            "{stale:?}"
        );
        // Tests may be long, and so may other crates.
        let test = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert!(told(&[(file, &test)], &[], &[]).is_empty());
        assert!(told(&[("xtask/src/a.rs", &text)], &[], &[]).is_empty());
    }

    #[test]
    fn a_name_with_two_values_is_found() {
        let files = [
            (
                "crates/tippe/src/a.rs",
                "pub(crate) const MET: f64 = 1e-9;\nconst SAME: u32 = 3;\n",
            ),
            (
                "crates/tippe/src/b.rs",
                "const MET: f64 = 1e-8;\npub const SAME: u32 = 3;\n",
            ),
        ];
        assert_eq!(told(&files, &[], &[]).len(), 2);
        assert!(told(&files, &[], &["MET"]).is_empty());
        let stale = told(&files, &[], &["MET", "SAME"]);
        assert!(
            stale.len() == 1 && stale[0].contains("one value"),
            "{stale:?}"
        );
    }
}
