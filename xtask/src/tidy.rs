//! Tidy: documents and sources agree with the tree and with each other.
//!
//! Reads: `Tree`.  Writes: nothing.
//! Called by: `main`, `steps`, and a unit test, so that `cargo test` runs it too.
//! Source: none.

use crate::length;
use crate::markdown::{self, Line};
use crate::requirements;
use crate::rooms;
use crate::tree::{Problem, Tree};

/// Everything there is to mend, by file and line.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = requirements::check(tree);
    for (file, text) in tree.ending_in(".md") {
        check_links(tree, file, text, &mut problems);
        if is_document(file) {
            check_paths(tree, file, text, &mut problems);
        }
    }
    check_examples(tree, &mut problems);
    rooms::check(tree, &mut problems);
    length::check(tree, &mut problems);
    check_references(tree, &mut problems);
    let keys = reference_keys(tree);
    for (file, text) in tree.ending_in(".rs") {
        // The checks' own examples cite works that do not exist.
        if !file.starts_with("xtask/") {
            check_citations(&keys, file, text, &mut problems);
            check_cited_documents(tree, file, text, &mut problems);
        }
        check_skipped_tests(file, text, &mut problems);
    }
    for ending in [".rs", ".md", ".toml"] {
        for (file, text) in tree.ending_in(ending) {
            check_words(file, text, &mut problems);
        }
    }
    problems.sort();
    problems
}

/// Documents whose named paths must exist.
fn is_document(file: &str) -> bool {
    !file.contains('/') || file.starts_with("docs/")
}

// ---- paths
// -----------------------------------------------------------------------------------------------------------------------

/// Folders at the top whose paths are checked whether or not the folder is there yet.
const TOP_FOLDERS: [&str; 8] = [
    ".cargo",
    ".ci",
    "bench-results",
    "crates",
    "docs",
    "scenes",
    "viewer",
    "xtask",
];

/// Paths in code spans and code blocks exist.
fn check_paths(tree: &Tree, file: &str, text: &str, problems: &mut Vec<Problem>) {
    for line in markdown::lines(text) {
        for path in named_paths(tree, line) {
            if !exists(tree, path) {
                problems.push(Problem::new(
                    file,
                    line.number,
                    format!("`{path}` does not exist; mend the name or the sentence"),
                ));
            }
        }
    }
}

/// The words of a line that name a file or folder of the repository.
fn named_paths<'a>(tree: &Tree, line: Line<'a>) -> Vec<&'a str> {
    if line.fenced {
        return line
            .text
            .split_whitespace()
            .map(trimmed)
            .filter(|w| from_the_top(tree, w))
            .collect();
    }
    let mut paths = Vec::new();
    for span in markdown::code_spans(line.text) {
        let alone = !span.contains(char::is_whitespace);
        let is_path = |w: &&str| from_the_top(tree, w) || alone && is_file_name(w);
        paths.extend(span.split_whitespace().map(trimmed).filter(is_path));
    }
    paths
}

/// A word without the punctuation around it and without a line number.
fn trimmed(word: &str) -> &str {
    let word = word
        .trim_matches(|c: char| "\"'(),;:!?".contains(c))
        .trim_end_matches('.');
    match word.rsplit_once(':') {
        Some((path, number))
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            path
        }
        _ => word,
    }
}

/// Characters of placeholders and code that no path of ours has.
fn is_plain(word: &str) -> bool {
    !word.contains(|c: char| "<>{}[]$|=…\\".contains(c))
        && !word.contains("::")
        && !word.contains("://")
}

/// Whether a word is a path that begins at the top of the repository.
fn from_the_top(tree: &Tree, word: &str) -> bool {
    let first = word.split('/').next().unwrap_or("");
    let in_folder = word.contains('/') && TOP_FOLDERS.contains(&first);
    is_plain(word) && (in_folder || !word.contains('/') && tree.text(word).is_some())
}

/// Whether a word is a Rust or Markdown file named from somewhere below the top.
fn is_file_name(word: &str) -> bool {
    is_plain(word) && (word.ends_with(".rs") || word.ends_with(".md")) && word.len() > 3
}

/// Whether the tree has the path, or for a file named from below the top, a path that ends so. `*` stands for any part
/// of a name.
fn exists(tree: &Tree, path: &str) -> bool {
    if tree.has(path) {
        return true;
    }
    let path = path.trim_end_matches('/');
    let below = |whole: &str| {
        let count = path.split('/').count();
        let parts: Vec<&str> = whole.split('/').collect();
        parts.len() >= count && matches(path, &parts[parts.len() - count..].join("/"))
    };
    let at_top = TOP_FOLDERS
        .iter()
        .any(|top| path.starts_with(&format!("{top}/")));
    tree.paths().any(|whole| {
        if at_top {
            matches(path, whole)
        } else {
            below(whole)
        }
    })
}

/// Whether a name fits a pattern in which `*` stands for any characters but `/`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            let end = rest.find('/').unwrap_or(rest.len());
            (0..=end)
                .filter(|&i| rest.is_char_boundary(i))
                .any(|i| matches(after, &rest[i..]))
        }),
    }
}

// ---- links
// -----------------------------------------------------------------------------------------------------------------------

/// Relative links lead somewhere, down to the heading.
fn check_links(tree: &Tree, file: &str, text: &str, problems: &mut Vec<Problem>) {
    for line in markdown::lines(text).filter(|l| !l.fenced) {
        for target in markdown::link_targets(line.text) {
            let outside = ["https:", "http:", "mailto:"]
                .iter()
                .any(|scheme| target.starts_with(scheme));
            if outside || target.is_empty() {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target.as_str(), ""));
            let path = if path.is_empty() {
                Some(file.to_owned())
            } else {
                resolved(file, path)
            };
            let Some(path) = path.filter(|p| tree.has(p)) else {
                problems.push(Problem::new(
                    file,
                    line.number,
                    format!("link to `{target}` leads nowhere; mend or remove it"),
                ));
                continue;
            };
            let anchors = tree.text(&path).map(markdown::anchors).unwrap_or_default();
            if !anchor.is_empty() && path.ends_with(".md") && !anchors.iter().any(|a| a == anchor) {
                problems.push(Problem::new(
                    file,
                    line.number,
                    format!("`{path}` has no heading `#{anchor}`"),
                ));
            }
        }
    }
}

/// A link's path from the top of the repository; None if it leaves it.
fn resolved(file: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

// ---- examples
// --------------------------------------------------------------------------------------------------------------------

/// Where the README's Rust examples are tested: the documentation of the library.
const TESTED: &str = "crates/tippe/src/lib.rs";

/// Every block of Rust in the README stands in the library's documentation too, so that it is compiled and run.
fn check_examples(tree: &Tree, problems: &mut Vec<Problem>) {
    let (Some(readme), Some(library)) = (tree.text("README.md"), tree.text(TESTED)) else {
        return;
    };
    let shown = |line: &str| {
        let text = line.strip_prefix("//!")?;
        let text = text.strip_prefix(' ').unwrap_or(text);
        // Lines that begin with `# ` are compiled but not shown.
        (text != "#" && !text.starts_with("# ")).then(|| text.to_owned())
    };
    let documentation = library
        .lines()
        .filter_map(shown)
        .collect::<Vec<_>>()
        .join("\n");
    let mut lines = readme.lines().enumerate();
    while let Some((i, line)) = lines.next() {
        if line != "```rust" {
            continue;
        }
        let block: Vec<&str> = lines
            .by_ref()
            .map(|(_, l)| l)
            .take_while(|l| *l != "```")
            .collect();
        if !documentation.contains(&block.join("\n")) {
            let what = format!(
                "this example does not stand in {TESTED} and is not tested; copy the one there"
            );
            problems.push(Problem::new("README.md", i + 1, what));
        }
    }
}

// ---- citations
// -------------------------------------------------------------------------------------------------------------------

/// The only bibliography.
const REFERENCES: &str = "docs/references.md";

/// The key that a line of the bibliography defines: lines that begin `- **[Key]**`.
fn reference_key(line: &str) -> Option<&str> {
    line.strip_prefix("- **[")?
        .split_once(']')
        .map(|(key, _)| key)
}

/// All keys of the bibliography.
fn reference_keys(tree: &Tree) -> Vec<&str> {
    tree.text(REFERENCES)
        .unwrap_or("")
        .lines()
        .filter_map(reference_key)
        .collect()
}

/// A key has one entry.
fn check_references(tree: &Tree, problems: &mut Vec<Problem>) {
    let mut seen = Vec::new();
    for (i, line) in tree.text(REFERENCES).unwrap_or("").lines().enumerate() {
        let Some(key) = reference_key(line) else {
            continue;
        };
        if seen.contains(&key) {
            problems.push(Problem::new(
                REFERENCES,
                i + 1,
                format!("[{key}] has two entries; join them"),
            ));
        }
        seen.push(key);
    }
}

/// Works cited in the head of a module (`//! Source: [Key] …`) or beside an equation (`// [Key] eq. 4`) are in the
/// bibliography.
fn check_citations(keys: &[&str], file: &str, text: &str, problems: &mut Vec<Problem>) {
    let mut in_source = false;
    for (i, line) in text.lines().enumerate() {
        let Some((_, comment)) = line.split_once("//") else {
            in_source = false;
            continue;
        };
        let head = line.trim_start().starts_with("//!");
        in_source = head && comment.trim() != "!" && (in_source || comment.contains("Source:"));
        for (key, rest) in bracketed(comment) {
            let beside_equation = [" eq", " §", " ch.", " fig", " slide"]
                .iter()
                .any(|s| rest.starts_with(s));
            if (in_source || beside_equation) && !keys.contains(&key) {
                let what = format!(
                    "[{key}] is not in {REFERENCES}; add `- **[{key}]** …` there or mend the key"
                );
                problems.push(Problem::new(file, i + 1, what));
            }
        }
    }
}

/// Documents named in a source exist, and so does the heading that is quoted behind the name:
/// `docs/solver.md, "Sweeps"`.
fn check_cited_documents(tree: &Tree, file: &str, text: &str, problems: &mut Vec<Problem>) {
    for (i, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices("docs/") {
            let Some((path, rest)) = document_at(&line[at..]) else {
                continue;
            };
            let Some(document) = tree.text(path) else {
                let what = format!("cites `{path}`, which does not exist");
                problems.push(Problem::new(file, i + 1, what));
                continue;
            };
            let quoted = rest.strip_prefix(", \"").and_then(|r| r.split_once('"'));
            let Some((title, _)) = quoted else {
                continue;
            };
            if !markdown::anchors(document).contains(&markdown::slug(title)) {
                let what = format!("cites \"{title}\", but `{path}` has no such heading");
                problems.push(Problem::new(file, i + 1, what));
            }
        }
    }
}

/// The path of a document that a text begins with, and what follows it.
fn document_at(text: &str) -> Option<(&str, &str)> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
    let end = text.find(|c| !is_path(c)).unwrap_or(text.len());
    let path = text[..end].trim_end_matches('.');
    path.ends_with(".md").then_some((path, &text[path.len()..]))
}

/// Words in square brackets that have the form of a key, and what follows each: `[Bender06]`, or `\[Bender06]` as
/// rustdoc wants it.
fn bracketed(comment: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (at, _) in comment.match_indices('[') {
        let Some((inside, rest)) = comment[at + 1..].split_once(']') else {
            continue;
        };
        let key = inside.trim_end_matches('\\');
        let is_key = key.starts_with(|c: char| c.is_ascii_uppercase())
            && key.len() > 2
            && key.bytes().all(|b| b.is_ascii_alphanumeric());
        if is_key && !rest.starts_with(['(', '[', ':']) {
            found.push((key, rest));
        }
    }
    found
}

// ---- words
// -----------------------------------------------------------------------------------------------------------------------

/// Pieces of text that mean a path of somebody's machine. Split here so that this file does not hold them.
const FORBIDDEN: [&str; 3] = [
    concat!("/wo", "rk/"),
    concat!("sha", "red/"),
    concat!("/ho", "me/"),
];

/// The repository stands by itself: no path of a machine.
fn check_words(file: &str, text: &str, problems: &mut Vec<Problem>) {
    for (i, line) in text.lines().enumerate() {
        for word in FORBIDDEN.iter().filter(|w| line.contains(**w)) {
            problems.push(Problem::new(
                file,
                i + 1,
                format!("`{word}` names a place outside the repository; say it without"),
            ));
        }
    }
}

/// A case that fails today is asserted as failing, with the reason; it is not skipped.
fn check_skipped_tests(file: &str, text: &str, problems: &mut Vec<Problem>) {
    let skip = concat!("#[ign", "ore");
    for (i, _) in text
        .lines()
        .enumerate()
        .filter(|(_, l)| l.trim_start().starts_with(skip))
    {
        problems.push(Problem::new(
            file,
            i + 1,
            "a skipped test shows nothing; assert what happens today and say why",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The repository itself is tidy.
    #[test]
    fn repository_is_tidy() {
        let tree = Tree::read(&crate::root()).expect("the work tree can be read");
        let problems: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    fn found(check: impl Fn(&mut Vec<Problem>)) -> Vec<String> {
        let mut problems = Vec::new();
        check(&mut problems);
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn named_paths_must_exist() {
        let tree = Tree::of(&[
            ("crates/tippe/src/world.rs", ""),
            ("scenes/a.toml", ""),
            ("README.md", ""),
        ]);
        let text = "`crates/tippe/src/world.rs:7`, `tippe/src/world.rs`, `world.rs`, `crates/tippe/`, `README.md`, `crates/*/src/w*.rs`,\n\
                    `tippe run scenes/a.toml`, `out/x.rec`, `crates/{a,b}.rs`, `a/b`, `World::step`\n\
                    ```\ncargo run -- run scenes/b.toml\n```\n\
                    `crates/tippe/src/gone.rs` `gone.rs` `docs/` `src/gone.md`\n";
        let got = found(|problems| check_paths(&tree, "README.md", text, problems));
        let lines: Vec<&str> = got
            .iter()
            .map(|p| p.split(" does").next().expect("split has a first part"))
            .collect();
        let expected = [
            "README.md:4: `scenes/b.toml`",
            "README.md:6: `crates/tippe/src/gone.rs`",
            "README.md:6: `gone.rs`",
            "README.md:6: `docs/`",
            "README.md:6: `src/gone.md`",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn links_must_lead_somewhere() {
        let tree = Tree::of(&[("docs/a.md", "# Same bits\n"), ("README.md", "")]);
        let text = "[a](docs/a.md#same-bits) [b](https://example.org) [c](docs/b.md) [d](docs/a.md#other) [e](../x.md) [f](#top)";
        let got = found(|problems| check_links(&tree, "README.md", text, problems));
        assert_eq!(got.len(), 4, "{got:#?}");
        assert_eq!(
            resolved("docs/a.md", "../README.md").as_deref(),
            Some("README.md")
        );
        assert_eq!(resolved("README.md", "../x"), None);
    }

    #[test]
    fn readme_examples_must_be_tested_ones() {
        let library = "//! What.\n//!\n//! ```\n//! # fn main() {\n//! let a = 1;\n//!\n//! let b = a;\n//! # }\n//! ```\n";
        let readme =
            "```rust\nlet a = 1;\n\nlet b = a;\n```\n```sh\nls\n```\n```rust\nlet c = 1;\n```\n";
        let tree = Tree::of(&[("README.md", readme), (TESTED, library)]);
        let got = found(|problems| check_examples(&tree, problems));
        assert_eq!(got.len(), 1, "{got:#?}");
        assert!(got[0].starts_with("README.md:9:"));
    }

    #[test]
    fn cited_works_must_be_listed() {
        let text = "//! What.\n//!\n//! Source: [Known06] §3,\n//! \\[Unknown07] eq. 2; and [`Type`].\n//!\n//! A [Link] elsewhere.\n\
                    // [Known06] eq. 1: p = 1\n// [Absent] eq. 1\nlet x = a[Index];\n";
        let got = found(|problems| check_citations(&["Known06"], "x.rs", text, problems));
        assert_eq!(got.len(), 2, "{got:#?}");
        assert!(
            got[0].starts_with("x.rs:4: [Unknown07]") && got[1].starts_with("x.rs:8: [Absent]")
        );
    }

    #[test]
    fn cited_documents_must_have_the_heading() {
        let tree = Tree::of(&[("docs/a.md", "# Same bits\n")]);
        let text = "//! Source: docs/a.md, \"Same bits\".\n// docs/b.md\n// docs/a.md, \"Other\"; docs/a.md.\n// docs/a\n";
        let got = found(|problems| check_cited_documents(&tree, "x.rs", text, problems));
        assert_eq!(got.len(), 2, "{got:#?}");
        assert!(got[0].starts_with("x.rs:2: cites `docs/b.md`"));
        assert!(got[1].starts_with("x.rs:3: cites \"Other\""));
    }

    #[test]
    fn a_key_has_one_entry() {
        let tree = Tree::of(&[(
            REFERENCES,
            "- **[A01]** a\n- **[B02]** b\n- **[A01]** again\n",
        )]);
        let got = found(|problems| check_references(&tree, problems));
        assert_eq!(got.len(), 1, "{got:#?}");
        assert!(got[0].contains(":3: [A01] has two entries"));
    }

    #[test]
    fn machine_paths_and_skipped_tests_are_named() {
        let text = format!(
            "let p = \"{}x\";\n{}]\n",
            FORBIDDEN[0],
            concat!("#[ign", "ore")
        );
        assert_eq!(
            found(|problems| check_words("x.rs", &text, problems)).len(),
            1
        );
        assert_eq!(
            found(|problems| check_skipped_tests("x.rs", &text, problems)).len(),
            1
        );
    }

    #[test]
    fn stars_match_within_a_name() {
        assert!(matches("a/*.rs", "a/b.rs"));
        assert!(matches("a/p_*_*.rs", "a/p_x_y.rs"));
        assert!(!matches("a/*.rs", "a/b/c.rs"));
    }
}
