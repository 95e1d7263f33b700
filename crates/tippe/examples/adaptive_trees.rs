//! Random trees with random budgets, impacts and limits:
//! `cargo run --release -p tippe --example adaptive_trees [COUNT]`.
//!
//! Reads: nothing.  Writes: what was seen, on standard output; stops at the first number that is not finite.
//! Called by: people; the test `ab_33_random_trees_with_random_budgets_stay_sound` runs 100 trees.
//! Source: none.

#[path = "../tests/articulated_support/mod.rs"]
mod articulated_support;

fn main() {
    let count = std::env::args().nth(1).and_then(|x| x.parse().ok());
    let seen = articulated_support::adaptive::random_trees(count.unwrap_or(1000), 7);
    println!("{seen:?}");
    assert!(
        seen.residual < 1e-8,
        "R is not the sum over the locked joints"
    );
    let seen = articulated_support::adaptive::random_worlds(count.unwrap_or(1000), 11);
    println!("{seen:?}");
    assert!(
        seen.residual < 1e-8,
        "R of a world is not the sum over the locked joints"
    );
}
