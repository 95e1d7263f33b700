//! Twelve small programs that use Tippe as a library; each is a file of `src/bin`, and docs/guide.md tells of them.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: readers; `tests/run.rs` runs them all.
//! Source: docs/guide.md.
