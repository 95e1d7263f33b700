//! A world from outside: edits, control, sleep, interruption, limits, the same bits.

#[path = "../geometry_support/mod.rs"]
mod geometry_support;
#[path = "../support/mod.rs"]
mod support;

mod control;
mod control_parts;
mod determinism;
mod interrupt;
mod limits;
mod sleep;
mod world;
