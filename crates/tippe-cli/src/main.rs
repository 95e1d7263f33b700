//! The command `tippe`.

fn main() {}
