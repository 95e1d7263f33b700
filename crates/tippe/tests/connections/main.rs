//! Joints, couplings, springs, motors, limits, and assembling.

#[path = "../joint_support/mod.rs"]
mod joint_support;
#[path = "../support/mod.rs"]
mod support;

mod assembly;
mod couplings;
mod joint_drives;
mod joint_rows;
mod joints;
mod locked_axes;
mod nets;
mod servos;
mod springs;
