//! The part of `World` about sleep: whether bodies may, which do, and what wakes them between steps.
//!
//! Reads: World.  Writes: which bodies are asleep.
//! Called by: users; `World`, at every edit.
//! Source: docs/methods/two-stage.md, "Sleep".

use crate::dynamics::energy;
use crate::dynamics::sleep::{self, Sleeping};
use crate::error::{BuildError, UnknownBody};
use crate::model::{Body, BodyId, Joint};
use crate::report::StepReport;
use crate::world::World;

impl World {
    /// Puts islands to sleep that have been still long enough; what they had left of motion is booked as numerical damping.
    pub(crate) fn settle(&mut self, mut report: StepReport) -> StepReport {
        let lost = sleep::settle(
            &mut self.model,
            &mut self.state,
            report.dt,
            &mut self.work.sleep,
        );
        if let Some(lost) = lost {
            self.work.resting.release_all();
            report.energy.kinetic -= lost;
            report.energy.numerical_damping += lost;
            (report.momentum, report.angular_momentum) = energy::momenta(&self.model, &self.state);
        }
        report
    }

    /// Lets islands fall asleep that have been still for a while, or, with `None`, never (as at first) and wakes all.
    ///
    /// A sleeper costs next to nothing and its contacts and joints are not listed in [`World::contacts`] and [`World::joint_forces`]. What touches it, moves it, joins it or changes the
    /// world wakes its whole island in time, so that nothing passes through or hangs in the air. Islands with articulations stay awake.
    ///
    /// # Errors
    /// The field that makes no sense.
    pub fn set_sleeping(&mut self, sleeping: Option<Sleeping>) -> Result<(), BuildError> {
        sleeping.map_or(Ok(()), |s| s.check())?;
        if sleeping.is_none() {
            self.wake_all();
        }
        self.catch_up();
        self.state.quiet.fill(0.0);
        self.model.sleeping = sleeping;
        Ok(())
    }

    /// When islands fall asleep; `None` is never.
    #[must_use]
    pub const fn sleeping(&self) -> Option<Sleeping> {
        self.model.sleeping
    }

    /// Whether a body is asleep.
    ///
    /// # Errors
    /// The body does not exist.
    pub fn is_asleep(&self, id: BodyId) -> Result<bool, UnknownBody> {
        Ok(self.body(id)?.asleep)
    }

    /// Wakes a body and the island it fell asleep with.
    ///
    /// # Errors
    /// The body does not exist.
    pub fn wake(&mut self, id: BodyId) -> Result<(), UnknownBody> {
        let index = self.index(id)?;
        self.catch_up();
        sleep::wake(&mut self.model, &mut self.state, index);
        Ok(())
    }

    pub(crate) fn wake_all(&mut self) {
        self.catch_up();
        self.work.resting.release_all();
        sleep::wake_all(&mut self.model, &mut self.state);
    }

    /// Wakes what an edit of a body concerns: its island, or everything if others may lean on it unseen.
    pub(crate) fn wake_around(&mut self, index: usize) {
        self.catch_up();
        if self.model.bodies[index]
            .as_ref()
            .is_some_and(Body::is_dynamic)
        {
            sleep::wake(&mut self.model, &mut self.state, index);
        } else {
            self.wake_all();
        }
    }

    /// Wakes what a joint holds.
    pub(crate) fn wake_ends(&mut self, joint: &Joint) {
        self.catch_up();
        self.work.resting.release_all();
        for slot in [joint.a, Some(joint.b)].into_iter().flatten() {
            sleep::wake(&mut self.model, &mut self.state, slot as usize);
        }
    }
}
