//! The table of requirements: which of the 160 ids is shown by which test.
//!
//! Reads: `docs/requirements.md`, test functions in the sources.  Writes: the table's text.
//! Called by: `main` (summary, update), `tidy` (check).
//! Source: none. A row is `| id | what | state | tests | remark |`; `--update` fills in the tests and nothing else. The state is
//! judged by hand against the requirement's acceptance sentence: a test's name alone promotes nothing.

use std::collections::BTreeMap;
use std::fmt;

use crate::markdown;
use crate::tree::{Problem, Tree};

/// Where the table lives.
pub const TABLE: &str = "docs/requirements.md";

/// Families of ids and how many each has.
pub const FAMILIES: [(&str, u32); 5] = [("BS", 23), ("CL", 37), ("SR", 26), ("MC", 35), ("AB", 39)];

/// Stands where a cell is empty.
const NOTHING: &str = "—";

/// A requirement id such as CL-18.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    /// Index into `FAMILIES`.
    family: usize,
    number: u32,
}

impl Id {
    /// Every id there is, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        FAMILIES
            .iter()
            .enumerate()
            .flat_map(|(family, &(_, count))| {
                (1..=count).map(move |number| Self { family, number })
            })
    }

    /// Reads `CL-18`.
    fn parse(text: &str) -> Option<Self> {
        let (name, number) = text.split_once('-')?;
        let family = FAMILIES.iter().position(|(n, _)| *n == name)?;
        let number = number.parse().ok()?;
        (1..=FAMILIES[family].1)
            .contains(&number)
            .then_some(Self { family, number })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", FAMILIES[self.family].0, self.number)
    }
}

/// What the name of a function says about requirements.
#[derive(Debug, PartialEq, Eq)]
enum TestName {
    /// `cl_18_…`: shows this requirement.
    Shows(Id),
    /// `cl_99_…`: has the form, but there is no such id.
    NoSuchId,
    /// Anything else.
    Other,
}

fn read_name(name: &str) -> TestName {
    let mut parts = name.splitn(3, '_');
    let (Some(family), Some(number), Some(_)) = (parts.next(), parts.next(), parts.next()) else {
        return TestName::Other;
    };
    let is_family = FAMILIES.iter().any(|(n, _)| n.to_lowercase() == family);
    if !is_family || number.len() != 2 || !number.bytes().all(|b| b.is_ascii_digit()) {
        return TestName::Other;
    }
    let number = number.trim_start_matches('0');
    Id::parse(&format!("{}-{number}", family.to_uppercase()))
        .map_or(TestName::NoSuchId, TestName::Shows)
}

/// A function in the sources whose name begins like a requirement's test.
#[derive(Debug)]
pub struct NamedTest {
    /// None where there is no such requirement.
    id: Option<Id>,
    name: String,
    file: String,
    line: usize,
    /// Whether `#[test]` stands above it.
    is_test: bool,
}

/// All functions of the crates that are named after a requirement, by file and line.
pub fn tests_in(tree: &Tree) -> Vec<NamedTest> {
    let mut found = Vec::new();
    for (file, text) in tree
        .ending_in(".rs")
        .filter(|(file, _)| !file.starts_with("xtask/"))
    {
        let mut is_test = false;
        for (i, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if let Some(name) = function_name(line) {
                let id = match read_name(name) {
                    TestName::Shows(id) => Some(Some(id)),
                    TestName::NoSuchId => Some(None),
                    TestName::Other => None,
                };
                if let Some(id) = id {
                    found.push(NamedTest {
                        id,
                        name: name.to_owned(),
                        file: file.to_owned(),
                        line: i + 1,
                        is_test,
                    });
                }
            }
            // Attributes and comments keep a `#[test]` above them alive.
            is_test =
                line == "#[test]" || is_test && (line.starts_with("#[") || line.starts_with("//"));
        }
    }
    found
}

/// The name in a line that begins a function.
fn function_name(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("pub ")
        .unwrap_or(line)
        .strip_prefix("fn ")?;
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

/// How far a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Met,
    Part,
    Open,
}

impl State {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "met" => Some(Self::Met),
            "part" => Some(Self::Part),
            "open" => Some(Self::Open),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Part => "part",
            Self::Open => "open",
        }
    }
}

/// One row of the table.
#[derive(Debug)]
struct Row {
    line: usize,
    id: Id,
    what: String,
    state: Option<State>,
    tests: Vec<String>,
    remark: String,
}

impl Row {
    /// Reads a line of the table; None if it is no row of a requirement, an error if it is a broken one.
    fn parse(number: usize, line: &str) -> Option<Result<Self, Problem>> {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        let id = Id::parse(cells[0])?;
        let [_, what, state, tests, remark] = cells[..] else {
            let what = format!(
                "{id} has {} cells, not 5: id, what, state, tests, remark (and no `|` inside a cell)",
                cells.len()
            );
            return Some(Err(Problem::new(TABLE, number, what)));
        };
        Some(Ok(Self {
            line: number,
            id,
            what: what.to_owned(),
            state: State::parse(state),
            tests: markdown::code_spans(tests).map(str::to_owned).collect(),
            remark: remark.to_owned(),
        }))
    }

    fn to_line(&self, state: State) -> String {
        let state = state.name();
        let tests: Vec<String> = self.tests.iter().map(|t| format!("`{t}`")).collect();
        let tests = if tests.is_empty() {
            NOTHING.to_owned()
        } else {
            tests.join(", ")
        };
        let remark = if self.remark.is_empty() {
            String::new()
        } else {
            format!("{} ", self.remark)
        };
        format!(
            "| {} | {} | {state} | {tests} | {remark}|",
            self.id, self.what
        )
    }
}

fn rows(text: &str) -> (Vec<Row>, Vec<Problem>) {
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for line in markdown::lines(text).filter(|l| !l.fenced) {
        match Row::parse(line.number, line.text) {
            Some(Ok(row)) => rows.push(row),
            Some(Err(problem)) => problems.push(problem),
            None => {}
        }
    }
    (rows, problems)
}

/// The table's text with the tests of each row filled in from the sources. States and remarks stay as they are.
pub fn updated(text: &str, tests: &[NamedTest]) -> String {
    let mut by_id: BTreeMap<Id, Vec<String>> = BTreeMap::new();
    for test in tests.iter().filter(|t| t.is_test) {
        if let Some(id) = test.id {
            by_id.entry(id).or_default().push(test.name.clone());
        }
    }
    let update = |(i, line): (usize, &str)| match Row::parse(i + 1, line) {
        Some(Ok(mut row)) => {
            row.tests = by_id.get(&row.id).cloned().unwrap_or_default();
            row.tests.sort();
            row.tests.dedup();
            // A state that cannot be read is left for `check` to name.
            row.state
                .map_or_else(|| line.to_owned(), |state| row.to_line(state))
        }
        _ => line.to_owned(),
    };
    let mut out = text
        .lines()
        .enumerate()
        .map(update)
        .collect::<Vec<_>>()
        .join("\n");
    out.push('\n');
    out
}

/// Counts by family and state, as a table to print.
pub fn summary(text: &str) -> String {
    let (rows, _) = rows(text);
    let count = |family: Option<usize>, state: State| {
        rows.iter()
            .filter(|r| family.is_none_or(|f| r.id.family == f) && r.state == Some(state))
            .count()
    };
    let line = |name: &str, family: Option<usize>, all: u32| {
        let [met, part, open] = [State::Met, State::Part, State::Open].map(|s| count(family, s));
        format!("{name:<6}{met:>6}{part:>6}{open:>6}{all:>6}\n")
    };
    let mut out = format!(
        "{:<6}{:>6}{:>6}{:>6}{:>6}\n",
        "", "met", "part", "open", "all"
    );
    for (i, (name, all)) in FAMILIES.iter().enumerate() {
        out += &line(name, Some(i), *all);
    }
    out + &line("all", None, FAMILIES.iter().map(|(_, n)| n).sum())
}

/// Table and sources agree: every id once; every test named exists and every test of an id is named in its row; `met` has a test,
/// `part` says what is missing, `open` names no test.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let Some(text) = tree.text(TABLE) else {
        return vec![Problem::new(
            TABLE,
            1,
            "missing; it lists every requirement",
        )];
    };
    let (rows, mut problems) = rows(text);
    for id in Id::all() {
        let lines: Vec<usize> = rows.iter().filter(|r| r.id == id).map(|r| r.line).collect();
        match lines.as_slice() {
            [_] => {}
            [] => problems.push(Problem::new(
                TABLE,
                1,
                format!("{id} is missing; give it a row"),
            )),
            [_, second, ..] => problems.push(Problem::new(
                TABLE,
                *second,
                format!("{id} has two rows; join them"),
            )),
        }
    }
    let tests = tests_in(tree);
    for row in &rows {
        check_row(row, &tests, tree, &mut problems);
    }
    for test in &tests {
        check_test(test, &rows, &mut problems);
    }
    problems
}

fn check_row(row: &Row, tests: &[NamedTest], tree: &Tree, problems: &mut Vec<Problem>) {
    let mut report =
        |what: String| problems.push(Problem::new(TABLE, row.line, format!("{}: {what}", row.id)));
    let Some(state) = row.state else {
        report("the state must be met, part or open".into());
        return;
    };
    if state == State::Met && row.tests.is_empty() {
        report("met, but no test shows it; write one or say part".into());
    }
    if state == State::Part && row.remark.is_empty() {
        report("part, but the remark does not say what is missing".into());
    }
    if state == State::Open && !row.tests.is_empty() {
        report("open, but tests are named after it; read them against the requirement and say part or met".into());
    }
    for name in &row.tests {
        if !tests.iter().any(|t| t.is_test && t.name == *name) {
            report(format!(
                "there is no test `{name}`; run `cargo xtask requirements --update`"
            ));
        }
    }
    for name in markdown::code_spans(&row.remark).filter(|s| names_a_test(s)) {
        let begins = |(_, text): (&str, &str)| {
            text.lines()
                .any(|l| function_name(l.trim_start()) == Some(name))
        };
        if !tree.ending_in(".rs").any(begins) {
            report(format!(
                "the remark names `{name}`, but there is no such function"
            ));
        }
    }
}

/// Whether a code span in a remark is meant as a test: `cl_18_…` or, for a validation case, `f01_…`.
fn names_a_test(span: &str) -> bool {
    let case = span
        .strip_prefix('f')
        .and_then(|rest| rest.split_once('_'))
        .map(|(n, _)| n);
    let is_case = case.is_some_and(|n| n.len() == 2 && n.bytes().all(|b| b.is_ascii_digit()));
    is_case || read_name(span) != TestName::Other
}

fn check_test(test: &NamedTest, rows: &[Row], problems: &mut Vec<Problem>) {
    let mut report = |what: String| {
        problems.push(Problem::new(
            &test.file,
            test.line,
            format!("`{}` {what}", test.name),
        ))
    };
    let Some(id) = test.id else {
        report("is named after a requirement that does not exist; rename it".into());
        return;
    };
    if !test.is_test {
        report(
            "is named like a test but has no #[test] above it; add it or rename the function"
                .into(),
        );
        return;
    }
    let Some(row) = rows.iter().find(|r| r.id == id) else {
        return; // reported as a missing row
    };
    if !row.tests.contains(&test.name) {
        report(format!(
            "is not listed at {id} in {TABLE}; run `cargo xtask requirements --update`"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A complete table with the given lines in place of their ids' rows.
    fn table(special: &[&str]) -> String {
        let row = |id: Id| {
            let start = format!("| {id} |");
            let line = special.iter().find(|l| l.starts_with(&start));
            line.map_or_else(
                || format!("| {id} | what | open | — | |"),
                ToString::to_string,
            )
        };
        Id::all().map(row).collect::<Vec<_>>().join("\n") + "\n"
    }

    fn whats(tree: &Tree) -> Vec<String> {
        check(tree)
            .into_iter()
            .map(|p| format!("{}:{}: {}", p.file, p.line, p.what))
            .collect()
    }

    #[test]
    fn there_are_160_ids() {
        assert_eq!(Id::all().count(), 160);
    }

    #[test]
    fn names_carry_ids_of_two_digits() {
        let cl_7 = Id {
            family: 1,
            number: 7,
        };
        assert_eq!(read_name("cl_07_restitution"), TestName::Shows(cl_7));
        assert_eq!(read_name("cl_38_beyond"), TestName::NoSuchId);
        assert_eq!(read_name("cl_00_before"), TestName::NoSuchId);
        assert_eq!(read_name("cl_7_short"), TestName::Other);
        assert_eq!(read_name("clip_07_polygon"), TestName::Other);
    }

    #[test]
    fn update_fills_tests_and_keeps_states_and_remarks() {
        let text = table(&[
            "| CL-18 | axes | open | — | |",
            "| CL-19 | clip | part | — | edges open |",
            "| BS-1 | state | met | `bs_01_gone` | |",
            "| BS-2 | stop | done | — | |",
        ]);
        let source = "#[test]\n/// why\nfn cl_18_b() {}\n#[test]\nfn cl_18_a() {}\n#[test]\nfn cl_19_c() {}\nfn cl_20_helper() {}\n";
        let tree = Tree::of(&[("crates/x.rs", source)]);
        let new = updated(&text, &tests_in(&tree));
        // Two tests promote nothing, and a lost test demotes nothing: `check` names both rows.
        assert!(new.contains("| CL-18 | axes | open | `cl_18_a`, `cl_18_b` | |\n"));
        assert!(new.contains("| CL-19 | clip | part | `cl_19_c` | edges open |\n"));
        assert!(new.contains("| BS-1 | state | met | — | |\n"));
        assert!(new.contains("| BS-2 | stop | done | — | |\n"));
        assert!(new.contains("| CL-20 | what | open | — | |\n"));
        assert_eq!(
            updated(&new, &tests_in(&tree)),
            new,
            "a second update changes nothing"
        );
    }

    #[test]
    fn a_consistent_table_passes() {
        let text = table(&[
            "| CL-18 | axes | met | `cl_18_a` | |",
            "| MC-2 | flight | part | — | case F00, `f00_free_flight`; spin is missing |",
        ]);
        let source = "#[test]\nfn cl_18_a() {}\nfn f00_free_flight() {}\n";
        assert_eq!(
            whats(&Tree::of(&[(TABLE, &text), ("crates/x.rs", source)])),
            [""; 0]
        );
    }

    #[test]
    fn disagreements_are_named() {
        let text = table(&[
            "| CL-1 | q | met | — | |",
            "| CL-2 | l | part | `cl_02_gone` | |",
            "| CL-3 | c | done | — | |",
            "| CL-4 | h | open | `cl_04_a` | |",
        ]);
        let source = "#[test]\nfn cl_18_new() {}\nfn cl_19_helper() {}\n#[test]\nfn cl_99_none() {}\n#[test]\nfn cl_04_a() {}\n";
        let got = whats(&Tree::of(&[(TABLE, &text), ("crates/x.rs", source)]));
        let expected = [
            "CL-1: met, but no test shows it",
            "CL-2: part, but the remark does not say what is missing",
            "CL-2: there is no test `cl_02_gone`",
            "CL-3: the state must be",
            "CL-4: open, but tests are named after it",
            "crates/x.rs:2: `cl_18_new` is not listed at CL-18",
            "crates/x.rs:3: `cl_19_helper` is named like a test",
            "crates/x.rs:5: `cl_99_none` is named after a requirement that does not exist",
        ];
        assert_eq!(got.len(), expected.len(), "{got:#?}");
        for (got, expected) in got.iter().zip(expected) {
            assert!(got.contains(expected), "{got} should say: {expected}");
        }
    }

    #[test]
    fn a_missing_or_doubled_id_is_named() {
        let text = table(&[]).replace("| SR-4 |", "| SR-5 |");
        let got = whats(&Tree::of(&[(TABLE, &text)]));
        assert_eq!(got.len(), 2, "{got:#?}");
        assert!(got[0].contains("SR-4 is missing"));
        assert!(got[1].contains("SR-5 has two rows"));
    }
}
