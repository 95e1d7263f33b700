//! Scene files: every field, every message, every limit.

#[path = "../../examples/campaign/calls.rs"]
mod calls;
#[path = "../../examples/fuzz/cases.rs"]
mod cases;
#[path = "../../examples/campaign/grammar.rs"]
mod grammar;
#[path = "../../examples/campaign/kinds.rs"]
mod kinds;
#[path = "../../examples/campaign/random.rs"]
mod random;

mod bad;
mod campaign;
mod control;
mod format;
mod fuzz;
mod limits;
mod mesh_files;
mod parameters;
mod recording;
