//! A small run of the fuzzer; the long one is an example with the same cases.

#![allow(clippy::unwrap_used)]

use crate::cases;

#[test]
fn scene_text_shapes_and_queries_survive_nonsense() {
    let mut tally = cases::Tally::default();
    for i in 0..2000 {
        let kind = cases::execute(1, i).unwrap_or_else(|e| panic!("execution {i}: {e}"));
        tally.add(kind);
    }
    // Not all of it may be refused at the door.
    assert!(tally.texts[2] > 10, "{tally:?}");
    assert!(tally.pairs[1] > 200, "{tally:?}");
    assert!(tally.questions[1] > 25, "{tally:?}");
}
