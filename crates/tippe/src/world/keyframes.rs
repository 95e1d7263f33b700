//! Keyframes: the world as it was, to go back to.
//!
//! Reads: Model, State, ledger.  Writes: the same, between steps.
//! Called by: users.
//! Source: own. Keyframes are the caller's notes: they are cloned with the world, and not in its snapshot.

use super::World;
use crate::error::BuildError;
use crate::model::Model;
use crate::report::EnergyLedger;
use crate::state::State;

/// Name of the keyframe that `reset` goes back to.
pub const START: &str = "start";

/// A world as it was.
#[derive(Clone, Debug)]
pub(crate) struct Keyframe {
    name: String,
    model: Model,
    state: State,
    ledger: EnergyLedger,
}

impl World {
    /// Keeps the world as it is now under a name, in place of what had that name.
    pub fn keep(&mut self, name: &str) {
        self.keyframes.retain(|k| k.name != name);
        self.keyframes.push(Keyframe {
            name: name.to_owned(),
            model: self.model.clone(),
            state: self.state.clone(),
            ledger: self.ledger,
        });
    }

    /// Names of what is kept, in the order it was kept.
    pub fn kept(&self) -> impl Iterator<Item = &str> {
        self.keyframes.iter().map(|k| k.name.as_str())
    }

    /// Goes back to what was kept under a name: bodies, joints, states, time, ledger. Stepping on gives the same bits as it did then. Method,
    /// threads and ids stay.
    ///
    /// # Errors
    /// Nothing has that name, or bodies, joints or articulations were added or removed since (field `keyframe`); the world stays as it is.
    pub fn go_back_to(&mut self, name: &str) -> Result<(), BuildError> {
        let found = self.keyframes.iter().find(|k| k.name == name);
        let Some(kept) = found else {
            let reason = format!("nothing was kept under the name {name:?}");
            return Err(BuildError::new("keyframe", reason));
        };
        let slots = |m: &Model| {
            (
                m.generations.clone(),
                m.joint_generations.clone(),
                m.articulation_generations.clone(),
                (
                    m.free.clone(),
                    m.joint_free.clone(),
                    m.articulation_free.clone(),
                ),
            )
        };
        if slots(&kept.model) != slots(&self.model) {
            let reason = "bodies, joints or articulations were added or removed since";
            return Err(BuildError::new("keyframe", reason));
        }
        let edits = self.model.edits + 1;
        self.model.clone_from(&kept.model);
        self.model.edits = edits;
        self.state.copy_from(&kept.state);
        self.ledger = kept.ledger;
        self.work.resting.release_all();
        self.work.contact_forces.clear();
        self.work.joint_forces.clear();
        self.work.events.clear();
        self.sense(0.0);
        Ok(())
    }

    /// Goes back to what was kept under the name [`START`].
    ///
    /// # Errors
    /// As [`World::go_back_to`].
    pub fn reset(&mut self) -> Result<(), BuildError> {
        self.go_back_to(START)
    }
}
