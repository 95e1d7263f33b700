//! The fidelity cases that `sequential` must pass, at 1 ms and where it is quick at 1/60 s.

use crate::common;

use common::{COARSE, FINE, beats_peers, holds};

#[test]
fn f00_free_flight_is_the_parabola() {
    holds("F00", &[], FINE);
    holds("F00", &[], COARSE);
}

#[test]
fn f01_block_stops_where_coulomb_says_and_stays() {
    holds("F01", &[], FINE);
    holds("F01", &[], COARSE);
}

#[test]
fn f02_block_holds_below_the_friction_angle_and_slides_above() {
    holds("F02", &["c"], FINE);
    holds("F02", &[], COARSE);
}

#[test]
fn f03_friction_is_a_cone() {
    holds("F03", &[], FINE);
    holds("F03", &[], COARSE);
}

#[test]
fn f04_sliding_ball_comes_to_roll() {
    for dt in [FINE, COARSE] {
        holds("F04", &[], dt);
        beats_peers("F04", &[], dt);
    }
}

#[test]
fn f05_bowling_ball_hooks() {
    for dt in [FINE, COARSE] {
        holds("F05", &[], dt);
        beats_peers("F05", &[], dt);
    }
}

#[test]
fn f06_ball_bounces_to_the_right_height() {
    for dt in [FINE, COARSE] {
        holds("F06", &[], dt);
        beats_peers("F06", &[], dt);
    }
}

#[test]
fn f13_free_body_tumbles_as_euler_says() {
    holds("F13", &[], FINE);
    holds("F13", &[], COARSE);
}

#[test]
fn f14_top_precesses_and_nods_as_lagrange_says() {
    for dt in [FINE, COARSE] {
        holds("F14", &[], dt);
        beats_peers("F14", &[], dt);
    }
}

#[test]
fn f15_pendulum_keeps_time_and_energy() {
    holds("F15", &[], FINE);
    holds("F15", &["time"], COARSE);
    beats_peers("F15", &[], COARSE);
}

#[test]
fn f16_double_pendulum_keeps_its_energy() {
    holds("F16", &[], FINE);
    beats_peers("F16", &[], COARSE);
}

#[test]
fn f17_chain_keeps_its_energy_and_stays_closed() {
    for dt in [FINE, COARSE] {
        holds("F17", &[], dt);
        beats_peers("F17", &[], dt);
    }
}

#[test]
fn f20_block_and_wedge_slide_as_lagrange_says() {
    for dt in [FINE, COARSE] {
        holds("F20", &[], dt);
        beats_peers("F20", &[], dt);
    }
}

#[test]
fn f22_joints_do_not_drift() {
    holds("F22", &[], 0.01);
    holds("F22", &["a-gap", "b-gap", "b-axis"], COARSE);
}

#[test]
fn f18_bricks_stand_below_the_limit_and_fall_above() {
    holds("F18", &[], COARSE);
    holds("F18", &["stand"], FINE);
}

#[test]
fn f24_round_bodies_roll_and_slip_down() {
    holds("F24", &[], FINE);
    holds("F24", &[], COARSE);
}

#[test]
fn f25_block_stands_or_tips() {
    holds("F25", &[], FINE);
    holds("F25", &[], COARSE);
}
