//! Articulated and adaptive bodies, as functions and in worlds.

#[path = "../articulated_support/mod.rs"]
mod articulated_support;

mod adaptive;
mod adaptive_experiments;
mod adaptive_motion;
mod adaptive_worlds;
mod articulations;
mod as_worded_trees;
mod constraints;
mod islands;
mod motion;
mod reference;
mod twins;
