//! Solving one island: contacts and joints at one instant. Nothing here knows about time, methods or reports.
//!
//! Reads: ends (velocities, masses), rows with targets and bounds.  Writes: impulses, velocities of the ends, counted work.
//! Called by: `two_stage`, the methods.
//! Source: docs/solver.md.

pub(crate) mod batch_colouring;
pub mod choose;
pub(crate) mod contact;
pub mod core;
mod dense;
pub(crate) mod effort;
pub(crate) mod ends;
pub(crate) mod exchange;
pub(crate) mod joint;
pub mod law;
pub mod matrix;
pub(crate) mod packed;
pub mod problem;
pub mod recorded;
pub mod recorder;
pub(crate) mod soft;
pub(crate) mod sweep;
