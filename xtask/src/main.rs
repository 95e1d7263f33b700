//! Checks and chores of the repository.

fn main() {}
