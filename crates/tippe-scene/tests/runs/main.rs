//! The scenes of the repository, run.

#[path = "../every_method_support/mod.rs"]
mod every_method_support;

mod adaptive_scenes;
mod as_worded;
mod events_scenes;
mod every_method;
mod funnel;
mod scenes;
mod threads;
