//! The fidelity cases that `forces` must pass at 1 ms.

use crate::common;

use common::{FINE, holds_of, setup_of};

fn holds(case: &str) {
    holds_of(&setup_of("forces", FINE), case, &[]);
}

#[test]
fn free_motion_and_sliding() {
    for case in ["F00", "F01", "F03", "F04", "F05"] {
        holds(case);
    }
}

#[test]
fn impacts_are_exact_at_any_step() {
    for case in ["F06", "F08", "F09", "F10", "F11", "F21"] {
        holds(case);
    }
}

#[test]
fn tops_wedges_and_slopes() {
    for case in ["F13", "F14", "F20", "F24", "F25"] {
        holds(case);
    }
}
