//! An engine under measurement, and Tippe as one of them.
//!
//! Reads: `Input`, a scene.  Writes: its own world.
//! Called by: `measure`.
//! Source: none.

use anyhow::Result;
use tippe::{Pose, World};

/// What the measurement needs of an engine.
pub trait Engine {
    /// Name and version.
    fn name(&self) -> &'static str;

    /// Advances by one step.
    ///
    /// # Errors
    /// The engine refuses to go on.
    fn step(&mut self) -> Result<()>;

    /// Frames of all bodies now, in the order of the input.
    ///
    /// # Errors
    /// The engine lost a body.
    fn poses(&self) -> Result<Vec<Pose>>;
}

/// Tippe, double precision, as the scene sets it.
pub struct Tippe {
    world: World,
    dt: f64,
}

impl Tippe {
    /// Takes the world of a scene.
    pub fn new(world: World, dt: f64) -> Self {
        Self { world, dt }
    }
}

impl Engine for Tippe {
    fn name(&self) -> &'static str {
        "Tippe f64"
    }

    fn step(&mut self) -> Result<()> {
        self.world.step(self.dt)?;
        Ok(())
    }

    fn poses(&self) -> Result<Vec<Pose>> {
        self.world
            .body_ids()
            .map(|id| Ok(self.world.pose(id)?))
            .collect()
    }
}
