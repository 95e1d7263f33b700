//! The rigid pieces of a hybrid body, for worlds that make bodies of them.
//!
//! Reads: `AdaptiveBody`.  Writes: nothing.
//! Called by: `crate::adaptive`.
//! Source: [Redon05].

use super::body::AdaptiveBody;
use crate::articulated::inertia::RigidInertia;
use crate::articulated::model::{Model, WORLD};
use crate::math::skew;
use crate::shape::MassProperties;

impl AdaptiveBody {
    /// Mass, centre and inertia of link `k` of the hybrid body in its frame; link 0 is what is locked to the world.
    pub(crate) fn piece_mass(&self, k: usize) -> MassProperties {
        let RigidInertia {
            mass,
            moment,
            inertia,
        } = self.hybrid.model.nodes[k].inertia;
        if mass <= 0.0 {
            return MassProperties::NONE;
        }
        let center = moment / mass;
        let c = skew(center);
        let about = inertia.to_mat3() + c * c * mass;
        MassProperties {
            mass,
            center,
            inertia: (about + about.transpose()) * 0.5,
        }
    }

    /// The link of the whole tree that a link of the hybrid body begins with; 0 for the world.
    pub(crate) fn first_link(&self, model: &Model, k: usize) -> usize {
        match self.hybrid.nodes[k] as usize {
            WORLD => 0,
            node => model.nodes[node].link as usize,
        }
    }
}
