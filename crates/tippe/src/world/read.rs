//! Reading a world: model and state as they are, bodies and joints by name, contacts of a body or a pair.
//!
//! Reads: everything.  Writes: nothing.
//! Called by: users.
//! Source: own.

use super::World;
use crate::articulated::{Work, ends, frame_of};
use crate::articulation::ArticulationId;
use crate::error::UnknownBody;
use crate::joint::JointId;
use crate::math::Vec3;
use crate::model::{Body, BodyId, BodyKind, Model};
use crate::report::ContactForce;
use crate::state::{BodyState, State};

/// What all contact points of two bodies carried together in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairContact {
    /// How many points carried something.
    pub points: usize,
    /// Impulse on the second body [N·s].
    pub impulse: Vec3,
    /// Mean force on the second body over the step [N].
    pub force: Vec3,
    /// Smallest gap at the end of the step [m]; negative where they overlap.
    pub gap: f64,
}

impl World {
    /// Everything that is constant within a step, for reading.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// Everything the future depends on besides the model, for reading. `state().bodies` has all bodies in one piece, by
    /// [`BodyId::index`]: thirteen numbers each, in the layout that [`BodyState`] documents; free slots hold [`BodyState::REST`].
    #[must_use]
    pub fn state(&self) -> &State {
        if !self.state.behind {
            return &self.state;
        }
        self.placed.get_or_init(|| {
            let mut state = Box::new(self.state.clone());
            place_links(&self.model, &mut state);
            state
        })
    }

    /// Puts links that a step left behind into their places.
    pub(crate) fn catch_up(&mut self) {
        self.placed.take();
        if self.state.behind {
            place_links(&self.model, &mut self.state);
        }
    }

    /// Centre of mass of a body [m]. A link of an adaptive tree is found without placing the others.
    pub(crate) fn position_of(&self, slot: usize) -> Vec3 {
        let known = self.state.bodies[slot].position;
        let Some(BodyKind::Link { articulation, link }) =
            self.model.bodies[slot].as_ref().map(|b| &b.kind)
        else {
            return known;
        };
        let (i, link) = (*articulation as usize, *link as usize);
        // The same bits whether its links have been placed or not.
        match &self.model.articulations[i] {
            Some(a) if a.desc.adaptive.is_some() => {
                let center = a.desc.links[link].link.mass.center;
                let frame = frame_of(&a.tree, &self.state.articulations[i].positions, link);
                frame.map_or(known, |f| f.point(center))
            }
            _ => known,
        }
    }

    /// All bodies with their states, in slot order.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyId, &Body, &BodyState)> {
        let state = self.state();
        let with_state = |(i, body)| (self.model.id(i), body, &state.bodies[i]);
        self.model.present().map(with_state)
    }

    /// Whether two bodies may touch at all: they are two, one of them is dynamic, and no joint keeps them from it. Filters of their shapes
    /// are not asked.
    ///
    /// # Errors
    /// A body does not exist.
    pub fn may_touch(&self, a: BodyId, b: BodyId) -> Result<bool, UnknownBody> {
        let dynamic = self.body(a)?.is_dynamic() || self.body(b)?.is_dynamic();
        let (i, k) = (a.index, b.index);
        let jointed = self.model.jointed.binary_search(&(i.min(k), i.max(k)));
        Ok(dynamic && i != k && jointed.is_err())
    }

    /// The first body of a name, in slot order.
    #[must_use]
    pub fn body_named(&self, name: &str) -> Option<BodyId> {
        let mut named = self.model.present().filter(|(_, body)| body.name == name);
        named.next().map(|(i, _)| self.model.id(i))
    }

    /// The first joint of a name, in slot order.
    #[must_use]
    pub fn joint_named(&self, name: &str) -> Option<JointId> {
        let mut named = self.model.present_joints();
        let found = named.find(|(_, joint)| joint.desc.name == name);
        found.map(|(i, _)| self.model.joint_id(i))
    }

    /// The first articulation of a name, in slot order.
    #[must_use]
    pub fn articulation_named(&self, name: &str) -> Option<ArticulationId> {
        let named = |id: &ArticulationId| self.articulation(*id).is_ok_and(|a| a.desc.name == name);
        self.articulation_ids().find(named)
    }

    /// Contact points of a body that carried an impulse in the last step.
    ///
    /// # Errors
    /// The body does not exist.
    pub fn contacts_of(
        &self,
        id: BodyId,
    ) -> Result<impl Iterator<Item = &ContactForce>, UnknownBody> {
        self.index(id)?;
        let touches = move |c: &&ContactForce| c.body_a == id || c.body_b == id;
        Ok(self.contacts().iter().filter(touches))
    }

    /// What two bodies did to each other in the last step, in the order given; `None` if no point carried anything.
    ///
    /// # Errors
    /// One of the bodies does not exist.
    pub fn contact_between(
        &self,
        first: BodyId,
        second: BodyId,
    ) -> Result<Option<PairContact>, UnknownBody> {
        self.index(first)?;
        self.index(second)?;
        let mut sum: Option<PairContact> = None;
        for c in self.contacts() {
            let sign = match (c.body_a, c.body_b) {
                (a, b) if (a, b) == (first, second) => 1.0,
                (a, b) if (b, a) == (first, second) => -1.0,
                _ => continue,
            };
            let impulse = (c.normal * c.normal_impulse + c.tangential_impulse) * sign;
            let pair = sum.get_or_insert(PairContact {
                points: 0,
                impulse: Vec3::ZERO,
                force: Vec3::ZERO,
                gap: f64::INFINITY,
            });
            pair.points += 1;
            pair.impulse += impulse;
            pair.force += impulse / c.dt;
            pair.gap = pair.gap.min(c.gap);
        }
        Ok(sum)
    }
}

/// Poses and velocities of the links of adaptive trees, from positions and velocities of the trees.
fn place_links(model: &Model, state: &mut State) {
    let mut poses = Vec::new();
    for (i, a) in model.present_articulations() {
        let own = &state.articulations[i];
        let adaptive = a.desc.adaptive.is_some();
        if adaptive && ends::place(a, own, &mut Work::new(&a.tree), &mut poses).is_ok() {
            for (&slot, pose) in a.slots().iter().zip(&poses) {
                state.bodies[slot as usize] = *pose;
            }
        }
    }
    state.behind = false;
}

/// Worlds, and what users keep of them, may go to other threads.
const _: () = {
    const fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<World>();
    send_and_sync::<crate::StepReport>();
    send_and_sync::<crate::BodyDesc>();
    send_and_sync::<crate::JointDesc>();
    send_and_sync::<crate::ArticulationDesc>();
    send_and_sync::<crate::StepError>();
    send_and_sync::<crate::BuildError>();
    // The documented layout.
    assert!(size_of::<BodyState>() == 13 * size_of::<f64>());
    assert!(std::mem::offset_of!(BodyState, rotation) == 24);
    assert!(std::mem::offset_of!(BodyState, velocity) == 56);
    assert!(std::mem::offset_of!(BodyState, angular_velocity) == 80);
};
