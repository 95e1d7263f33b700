//! The scenes of the repository, run.

mod adaptive_scenes;
mod as_worded;
mod every_method;
mod funnel;
mod scenes;
mod threads;
