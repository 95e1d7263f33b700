//! The quick subset: every case with every method in both forms at 1/60 s. What fails is a known miss with a reason.

use tippe_validate::{DT_COARSE, Form, all_cases, misses, run, summary};

/// Cases that take a second or more each in debug; there they are left to the tests in release.
const SLOW: [&str; 5] = ["F15", "F16", "F17", "F19", "F22"];

#[test]
fn every_case_holds_or_is_a_known_miss() {
    let cases: Vec<_> = all_cases()
        .iter()
        .filter(|c| !(cfg!(debug_assertions) && SLOW.contains(&c.id)))
        .copied()
        .collect();
    let methods = ["sequential", "iterative", "simultaneous"];
    // Stacks of free links take longer than all else: `tippe validate --quick` has them.
    let mut rows = Vec::new();
    for case in cases {
        let forms: &[Form] = if case.id == "F19" {
            &[Form::Maximal]
        } else {
            &Form::ALL
        };
        rows.extend(run(
            &[case],
            &methods,
            forms,
            &[DT_COARSE],
            None,
            &mut |_| {},
        ));
    }
    let unknown: Vec<String> = summary::failures(&rows)
        .filter(|r| misses::reason(r).is_none())
        .map(summary::failure_line)
        .collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    // Refused is what lacks data.
    for row in rows.iter().filter(|r| r.pass().is_none()) {
        let line = tippe_validate::json_line(row);
        assert!(line.contains("--data"), "{line}");
    }
}
