//! The scenes of the repository, run.

mod adaptive_scenes;
mod as_worded;
mod events_scenes;
mod every_method;
mod funnel;
mod scenes;
mod threads;
