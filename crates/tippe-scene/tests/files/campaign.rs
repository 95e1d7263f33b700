//! A short run of every campaign; the long ones are an example with the same cases.

#![allow(clippy::unwrap_used)]

use crate::kinds;

use std::collections::BTreeMap;

fn run(kind: &str, count: u64) -> BTreeMap<&'static str, u64> {
    let case = kinds::Case::default();
    let mut tally = BTreeMap::new();
    for i in 0..count {
        let outcome =
            kinds::execute(kind, 1, i, &case).unwrap_or_else(|e| panic!("{kind} {i}: {e}"));
        *tally.entry(outcome).or_default() += 1;
    }
    println!("{kind}: {tally:?}");
    tally
}

/// How many were stepped, whatever was refused before.
fn stepped(tally: &BTreeMap<&'static str, u64>) -> u64 {
    let good = tally.iter().filter(|(what, _)| what.ends_with("stepped"));
    good.map(|(_, count)| count).sum()
}

/// Few of them: some scenes of the grammar are slow, see docs/reliability.md.
#[test]
fn texts_of_the_grammar_mostly_load_and_step() {
    let tally = run("scenes", 6);
    assert!(tally["stepped"] >= 3, "{tally:?}");
}

#[test]
fn mutated_snapshots_are_refused_or_step() {
    let tally = run("snapshots", 1500);
    assert!(
        tally["refused"] > 500 && tally["forged, stepped"] > 20,
        "{tally:?}"
    );
}

#[test]
fn mutated_recordings_never_claim_to_be_whole() {
    let tally = run("recordings", 600);
    assert!(tally["opened, damaged"] > 100, "{tally:?}");
}

#[test]
fn meshes_are_refused_or_carry_a_ball() {
    let tally = run("meshes", 60);
    assert!(tally["stepped"] > 15, "{tally:?}");
}

#[test]
fn joints_by_calls_are_refused_or_hold() {
    assert!(stepped(&run("joints", 40)) > 30);
}

#[test]
fn articulations_by_calls_are_refused_or_move() {
    assert!(stepped(&run("articulations", 40)) > 30);
}
