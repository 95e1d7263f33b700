//! Cases beyond what `sequential` must pass: what holds is kept, what fails is asserted as failing, with the reason.

use crate::common;

use common::{COARSE, FINE, expect_fail, holds, measure};
use tippe_validate::Outcome;

#[test]
fn f07_ball_circles_on_the_turntable() {
    holds("F07", &[], COARSE);
}

#[test]
fn f08_cradle_keeps_momentum_and_separate_balls_exchange() {
    holds(
        "F08",
        &["a-momentum", "b-velocity", "b-momentum", "b-energy"],
        FINE,
    );
}

#[test]
fn f08_cradle_of_touching_balls() {
    holds("F08", &[], FINE);
    holds("F08", &[], COARSE);
}

#[test]
fn f09_break_is_right_and_symmetric() {
    holds("F09", &[], FINE);
    holds("F09", &[], COARSE);
}

#[test]
fn f10_oblique_ball_slides_or_sticks() {
    holds("F10", &[], FINE);
    holds("F10", &[], COARSE);
}

#[test]
fn f11_rod_ends() {
    holds("F11", &[], FINE);
    holds("F11", &[], COARSE);
}

#[test]
fn f12_tippe_top_keeps_jelletts_integral() {
    holds("F12", &[], FINE);
}

#[test]
fn f21_painleve_rod_comes_through() {
    holds("F21", &[], FINE);
    holds("F21", &[], COARSE);
}

#[test]
fn f23_coin_rolls_round_on_its_rim() {
    holds("F23", &[], FINE);
    let reason = "the contact runs round by 44° to 74° in a step of 1/60 s";
    expect_fail("F23", &["angle", "energy"], COARSE, reason);
}

#[test]
fn cases_without_their_feature_are_refused_by_name() {
    for (case, word) in [("F26", "data"), ("F28", "data")] {
        for row in measure(case, &[], FINE) {
            match &row.outcome {
                Outcome::Refused { reason } => assert!(reason.contains(word), "{case}: {reason}"),
                other => panic!("{case} should be refused: {other:?}"),
            }
        }
    }
}

#[test]
fn joints_at_a_sixtieth_miss_energy_by_the_square_of_the_step() {
    let reason = "the error grows with the square of the step: 278 times that at 1 ms";
    expect_fail("F15", &["energy"], COARSE, reason);
    expect_fail("F16", &["energy"], COARSE, reason);
    expect_fail("F22", &["a-energy", "b-energy"], COARSE, reason);
}
