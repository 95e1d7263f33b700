//! The solver of one island: contacts and joints as rows on nodes, without any notion of time.
//!
//! Reads: a `Problem`, a `Budget`.  Writes: an `Outcome`.
//! Called by: the methods, `crates/tippe/examples/islands.rs`.
//! Source: see `core`.

pub mod core;
pub mod law;
pub mod matrix;
pub mod problem;
pub mod recorded;
