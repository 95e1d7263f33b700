//! What must hold whatever the method: energy, momenta, rest, sliding, closed forms.

#[path = "../geometry_support/mod.rs"]
mod geometry_support;
#[path = "../joint_support/mod.rs"]
mod joint_support;
#[path = "../random_world/mod.rs"]
mod random_world;
#[path = "../support/mod.rs"]
mod support;

mod as_worded;
mod energy;
mod fast_bodies;
mod hold;
mod ledger_scenes;
mod ledger_truth;
mod momenta;
mod motion;
mod probes;
mod prop_conservation;
mod seams;
mod shapes_pile;
mod shapes_rest;
