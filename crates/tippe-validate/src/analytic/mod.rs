//! Closed forms and high-precision references: the answers that every method is measured against.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `cases`, `tests`, anyone who wants to know what mechanics says.
//! Source: each function names its own. Nothing here knows the engine.

pub mod elliptic;
pub mod impact;
pub mod ode;
pub mod rolling;
pub mod sliding;
pub mod spinning;
pub mod statics;

/// The gravity of every case [m/s²].
pub const G: f64 = 9.81;

/// Degrees to radians.
#[must_use]
pub fn radians(degrees: f64) -> f64 {
    degrees * std::f64::consts::PI / 180.0
}
