//! Helpers of the fidelity tests: run the trial that measures a part and judge its row.
#![allow(dead_code)]

use tippe_validate::run::run_trial;
use tippe_validate::{Form, Row, Setup, all_cases, peers};

/// One millisecond.
pub const FINE: f64 = tippe_validate::DT_FINE;
/// A sixtieth of a second.
pub const COARSE: f64 = tippe_validate::DT_COARSE;

/// The setup every test of `sequential` uses.
pub fn setup(dt: f64) -> Setup {
    setup_of("sequential", dt)
}

pub fn setup_of(method: &str, dt: f64) -> Setup {
    Setup::new(method, Form::Maximal, dt)
}

/// Rows of the trials of a case that measure one of these parts (all trials if none is named).
pub fn measure(case: &str, parts: &[&str], dt: f64) -> Vec<Row> {
    measure_of(&setup(dt), case, parts)
}

pub fn measure_of(setup: &Setup, case: &str, parts: &[&str]) -> Vec<Row> {
    let case = all_cases()
        .iter()
        .find(|c| c.id == case)
        .expect("a case of that id");
    for part in parts {
        assert!(
            case.parts().any(|p| p.name == *part),
            "{} has no part `{part}`",
            case.id
        );
    }
    let mut rows = Vec::new();
    for trial in case.trials {
        if parts.is_empty() || trial.parts.iter().any(|p| parts.contains(&p.name)) {
            run_trial(case, trial, setup, &mut rows);
        }
    }
    rows.retain(|r| parts.is_empty() || parts.contains(&r.part));
    rows
}

/// The parts pass. A part that is named must be measured; of a whole case, some part must be.
pub fn holds(case: &str, parts: &[&str], dt: f64) {
    holds_of(&setup(dt), case, parts);
}

pub fn holds_of(setup: &Setup, case: &str, parts: &[&str]) {
    let rows = measure_of(setup, case, parts);
    assert!(
        rows.iter().any(|row| row.pass().is_some()),
        "{case}: nothing was measured"
    );
    for row in rows {
        let line = tippe_validate::json_line(&row);
        assert_ne!(row.pass(), Some(false), "{line}");
        assert!(parts.is_empty() || row.pass().is_some(), "{line}");
    }
}

/// Each of these parts fails today, for this reason. When one passes, the test fails: flip it to `holds`.
pub fn expect_fail(case: &str, parts: &[&str], dt: f64, reason: &str) {
    for row in measure(case, parts, dt) {
        assert_eq!(
            row.pass(),
            Some(false),
            "{} holds now ({reason}): {}",
            row.part,
            tippe_validate::json_line(&row)
        );
    }
}

/// Where other engines have figures, ours is below the better of them.
pub fn beats_peers(case: &str, parts: &[&str], dt: f64) {
    beats_peers_of(&setup(dt), case, parts);
}

pub fn beats_peers_of(setup: &Setup, case: &str, parts: &[&str]) {
    let (mut compared, dt) = (0, setup.dt);
    for row in measure_of(setup, case, parts) {
        if let Some(c) = peers::compare(&row) {
            compared += 1;
            assert!(
                c.wins(),
                "{} {} at {dt}: ours {:e}, best of theirs {:e}",
                row.case,
                row.part,
                c.ours,
                c.best
            );
        }
    }
    assert!(compared > 0, "{case} has nothing to compare");
}
