//! The fidelity cases that `events` must pass at 1 ms, and those at 1/60 s: on its own clock the step only says when to look.

mod common;

use common::{COARSE, FINE, measure_of};
use tippe_validate::{Form, Setup, json_line};

/// Every row of the cases is printed, and none of them misses.
fn hold(cases: &[&str], dts: &[f64], form: Form) {
    let mut missed = String::new();
    for &dt in dts {
        for case in cases {
            for row in measure_of(&Setup::new("events", form, dt), case, &[]) {
                let line = json_line(&row);
                println!("{line}");
                if row.pass() == Some(false) {
                    missed += &line;
                    missed.push('\n');
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed}");
}

const BOTH: [f64; 2] = [FINE, COARSE];

#[test]
fn free_motion_and_sliding_at_both_steps() {
    let cases = ["F00", "F01", "F02", "F03", "F04", "F05"];
    hold(&cases, &BOTH, Form::Maximal);
}

#[test]
fn impacts_at_both_steps() {
    let cases = ["F06", "F08", "F09", "F10", "F11", "F21"];
    hold(&cases, &BOTH, Form::Maximal);
}

#[test]
fn turntable_and_slopes_at_both_steps() {
    hold(&["F07", "F24"], &BOTH, Form::Maximal);
}

#[test]
fn the_tippe_top_at_both_steps() {
    hold(&["F13"], &BOTH, Form::Maximal);
}

#[test]
fn joints_and_the_rest_at_a_millisecond() {
    let cases = ["F14", "F15", "F16", "F17", "F20", "F22", "F25"];
    hold(&cases, &[FINE], Form::Maximal);
}

#[test]
fn joints_at_a_millisecond_as_trees() {
    hold(
        &["F14", "F15", "F16", "F17", "F22"],
        &[FINE],
        Form::Articulated,
    );
}
