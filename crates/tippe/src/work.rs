//! Work: scratch reused between steps. Can be thrown away at any time without changing a result.
//!
//! Reads: nothing.  Writes: each field by the phase named beside it.
//! Called by: `step`, the methods.
//! Source: —

use crate::collide::Detection;
use crate::dynamics::island::Islands;
use crate::dynamics::sleep;
use crate::interrupt::Interrupt;
use crate::method::iterative::Levels;
use crate::method::simultaneous;
use crate::model::Model;
use crate::output::balance::Balance;
use crate::output::crossings::Crossings;
use crate::output::record::Records;
use crate::output::{events, forces};
use crate::report::{ContactForce, Event, JointForce, Phase};
use crate::state::{BodyState, State};
use crate::threads::Threads;
use crate::two_stage::Scratch;
use crate::two_stage::flights::Flights;
use crate::two_stage::guard::Groups;
use crate::two_stage::impacts::Collisions;
use std::sync::Arc;

/// Scratch arrays by phase.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Who works. Written by `World`, read by the phases that work on islands.
    pub(crate) threads: Threads,
    /// Who is told that a phase begins. Written by `World`, read by the methods.
    pub(crate) watch: Option<Watch>,
    /// Who may end a step early. Written by `World`, read by `step`.
    pub(crate) interrupt: Option<Interrupt>,
    /// The state before the step, given back if the step fails. Written and read by `step`.
    pub(crate) backup: State,
    /// By slot: where bodies would be at t + dt untouched. Written by predict, read by detect and by the rows.
    pub(crate) predicted: Vec<BodyState>,
    /// Contacts of the step. Written by detect, read by all later phases.
    pub(crate) detection: Detection,
    /// Contacts grouped by connected bodies. Written after detect, read by the solves.
    pub(crate) islands: Islands,
    /// Touches, rows and links of the methods that step in two stages.
    pub(crate) stage: Scratch,
    /// Scratch of the collision phase.
    pub(crate) collisions: Collisions,
    /// Bodies that impacts turned within the substep. Written by `sequential`, read by the phases up to the motion.
    pub(crate) flights: Flights,
    /// Scratch of the collision phase of `simultaneous`.
    pub(crate) simultaneous: simultaneous::Collisions,
    /// Scratch of the shock propagation of `iterative`.
    pub(crate) levels: Levels,
    /// Scratch of `forces`.
    pub(crate) forces: crate::method::forces::Scratch,
    /// Islands at rest. Written by `sequential`, read by the phases that leave them out.
    pub(crate) resting: crate::two_stage::rest::Resting,
    /// The world as the methods see it where trees are adaptive. Written and read by `adaptive`.
    pub(crate) lean: Option<Box<crate::adaptive::Lean>>,
    /// Scratch of `events`.
    pub(crate) schedule: crate::method::events::Scratch,
    /// Energy of bodies that exchange impulses, over the substep under way. Written as works are booked, read at its end.
    pub(crate) balance: Balance,
    /// Bodies that exchanged impulses and gained. Written and read by `two_stage::guard`.
    pub(crate) groups: Groups,
    /// Scratch of falling asleep and waking.
    pub(crate) sleep: sleep::Scratch,
    /// What contacts and joints did in the step. Written at the end of every substep, read by `output`.
    pub(crate) records: Records,
    /// What each contact carried. Written at the end of a step, read by users.
    pub(crate) contact_forces: Vec<ContactForce>,
    /// What each joint carried. Written at the end of a step, read by users.
    pub(crate) joint_forces: Vec<JointForce>,
    /// What began, ended and hit. Written at the end of a step, read by users.
    pub(crate) events: Vec<Event>,
    /// Scratch of what crossed into and out of sensors.
    pub(crate) crossings: Crossings,
    /// What the sensors read. Written at the end of a step, read by users.
    pub(crate) readings: Vec<f64>,
    /// Length of the step that the readings belong to [s]; 0 where none was taken. Written and read by `World`.
    pub(crate) sensed_step: f64,
}

/// What is called when a phase begins.
#[derive(Clone)]
pub(crate) struct Watch(pub Arc<dyn Fn(Phase) + Send + Sync>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl Work {
    /// A phase begins.
    pub(crate) fn begins(&self, phase: Phase) {
        if let Some(Watch(tell)) = &self.watch {
            tell(phase);
        }
    }

    /// A step of length `dt` is over: forces and events as users read them.
    pub(crate) fn tell(&mut self, model: &Model, dt: f64) {
        let Self {
            records,
            contact_forces,
            joint_forces,
            ..
        } = self;
        forces::sum(model, dt, records, contact_forces, joint_forces);
        events::sort(&mut self.events);
    }
}
