//! An engine under measurement, and Tippe as one of them.
//!
//! Reads: `Input`, a scene.  Writes: its own world.
//! Called by: `measure`.
//! Source: none.

use crate::phases;
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

    /// Whether something moves; engines that do not know say yes.
    fn moves(&self) -> bool {
        true
    }

    /// Times of its phases so far, where it tells them [ms].
    fn phases(&self) -> Option<phases::Times> {
        None
    }

    /// Frames of all bodies now, in the order of the input.
    ///
    /// # Errors
    /// The engine lost a body.
    fn poses(&self) -> Result<Vec<Pose>>;
}

/// Speed above which something moves [m/s] or [rad/s].
const MOVES: f64 = 1e-6;

/// Tippe, double precision, as the scene sets it.
pub struct Tippe {
    world: World,
    dt: f64,
    timed: bool,
}

impl Tippe {
    /// Takes the world of a scene.
    pub fn new(mut world: World, dt: f64, timed: bool) -> Self {
        if timed {
            phases::watch(&mut world);
        }
        Self { world, dt, timed }
    }
}

impl Engine for Tippe {
    fn name(&self) -> &'static str {
        "Tippe f64"
    }

    fn step(&mut self) -> Result<()> {
        if self.timed {
            phases::begin();
        }
        let report = self.world.step(self.dt)?;
        if self.timed {
            phases::end(&report);
        }
        Ok(())
    }

    fn moves(&self) -> bool {
        self.world.body_ids().any(|id| {
            self.world.body_state(id).is_ok_and(|s| {
                let speed = s.velocity.length().max(s.angular_velocity.length());
                speed > MOVES && self.world.body(id).is_ok_and(|b| b.is_dynamic())
            })
        })
    }

    fn phases(&self) -> Option<phases::Times> {
        self.timed.then(phases::times)
    }

    fn poses(&self) -> Result<Vec<Pose>> {
        self.world
            .body_ids()
            .map(|id| Ok(self.world.pose(id)?))
            .collect()
    }
}
