//! Stacks: F19 where it is quick, and how far a stack ever gets from its place.

use crate::common;

use common::{COARSE, FINE, beats_peers, holds, setup};
use tippe_validate::cases::stack::{EDGE, stacked};

#[test]
fn f19_ten_cubes_stand_still_even_under_a_heavy_top() {
    let parts = [
        "sag-10",
        "jitter-10",
        "lean-10",
        "sag-10x10",
        "jitter-10x10",
        "lean-10x10",
        "sag-10x100",
        "jitter-10x100",
        "lean-10x100",
    ];
    holds("F19", &parts, COARSE);
    beats_peers("F19", &["sag-10", "sag-10x100"], COARSE);
}

#[test]
fn f19_twenty_cubes_stand_still() {
    let parts = ["sag-20", "jitter-20", "lean-20"];
    holds("F19", &parts, COARSE);
    beats_peers("F19", &parts, COARSE);
}

#[test]
fn f19_stacks_never_leave_their_place_on_the_way() {
    // Cubes, mass of the top one, sag and lean allowed after 10 s [m]; on the way three times as much.
    for (count, top_mass, sag_allowed, lean_allowed) in
        [(20, 1.0, 1e-3, 5e-3), (10, 100.0, 2e-3, 5e-3)]
    {
        let (mut sim, ids) = stacked(&setup(COARSE), count, top_mass).unwrap();
        let top = ids[count - 1];
        let place = (count as f64 - 0.5) * EDGE;
        let (mut sag, mut lean) = (0f64, 0f64);
        sim.run_until(10.0, |sim| {
            let p = sim.state(top).position;
            sag = sag.max((place - p.z).abs());
            lean = lean.max(p.with_z(0.0).length());
        })
        .unwrap();
        assert!(
            sag < 3.0 * sag_allowed && lean < 3.0 * lean_allowed,
            "{count} cubes: peak sag {sag}, lean {lean}"
        );
        let p = sim.state(top).position;
        assert!(
            place - p.z < sag_allowed && p.with_z(0.0).length() < lean_allowed,
            "{count} cubes: {p}"
        );
    }
}

#[test]
fn f19_short_stack_at_1_ms() {
    holds("F19", &["sag-10", "jitter-10", "lean-10"], FINE);
}
