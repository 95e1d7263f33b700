//! The laboratory: chains of elastic balls, gliders on springs, stacks of bricks, each in one or two dimensions and without a world.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: users, `tippe lab`.
//! Source: [Lecture] "Analyzing Newton's Cradle" (balls and gliders), "Constructing the LCP" (bricks).

pub mod balls;
pub mod bricks;
pub mod gliders;
