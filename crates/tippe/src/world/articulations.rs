//! Articulations of a world: added, removed and changed between steps.
//!
//! Reads: descriptions.  Writes: Model and State of the world.
//! Called by: users, through `World`.
//! Source: docs/conventions.md, "Bodies".

use crate::articulated::ends;
use crate::articulated::{Load, Work, articulate, impulse_response};
use crate::articulation::{Articulation, ArticulationDesc, ArticulationId, ArticulationState};
use crate::dynamics::energy;
use crate::error::{BuildError, UnknownArticulation, UnknownBody};
use crate::math::Vec3;
use crate::model::{Body, BodyId, BodyKind};
use crate::state::BodyState;
use crate::world::{World, booked};

impl World {
    /// Adds an articulation: a tree, and a body for each of its links. Takes the lowest free slots.
    ///
    /// # Errors
    /// The field of the description that makes no sense, and why. Nothing is added then.
    pub fn add_articulation(
        &mut self,
        desc: &ArticulationDesc,
    ) -> Result<ArticulationId, BuildError> {
        let tree = desc.build(self.model.gravity)?;
        let start = desc.start(&tree);
        let index = match self.model.articulation_free.first() {
            Some(&free) => free as usize,
            None => self.model.articulations.len(),
        };
        let bodies = self.checked_links(desc, index)?;
        let mut articulation = Articulation {
            desc: desc.clone(),
            tree,
            slots: Vec::new(),
            drives: Vec::new(),
        };
        let mut poses = Vec::new();
        ends::place(
            &articulation,
            &start,
            &mut Work::new(&articulation.tree),
            &mut poses,
        )
        .map_err(|e| BuildError::new("positions", e.to_string()))?;
        if poses.iter().any(|p: &BodyState| !p.is_finite()) {
            return Err(BuildError::new(
                "positions",
                "the links must be at finite places",
            ));
        }
        // Nothing can fail from here on, but for the number of bodies.
        let mut slots = Vec::new();
        for (body, pose) in bodies.into_iter().zip(&poses) {
            let slot = match self.free_slot() {
                Ok(slot) => slot,
                Err(e) => {
                    slots
                        .iter()
                        .for_each(|&s: &u32| self.clear_slot(s as usize));
                    return Err(e);
                }
            };
            self.state.bodies[slot] = *pose;
            self.state.loads[slot] = crate::state::Load::default();
            self.model.bodies[slot] = Some(body);
            self.wake_around(slot);
            slots.push(slot as u32);
        }
        articulation.slots = slots;
        self.model.articulation_free.remove(&(index as u32));
        if index == self.model.articulations.len() {
            self.model.articulations.push(None);
            self.model.articulation_generations.push(0);
            self.state.articulations.push(ArticulationState::default());
        }
        self.state.articulations[index] = start;
        let id = |slot: u32| self.model.id(slot as usize);
        let mut drives = Vec::new();
        for (i, link) in desc.links.iter().enumerate() {
            let parent = link.link.parent.map(|p| id(articulation.slots[p]));
            drives.extend(link.drives(parent, id(articulation.slots[i])));
        }
        for (i, link) in desc.links.iter().enumerate() {
            if let (Some(parent), false) = (link.link.parent, link.collide) {
                let slots = &articulation.slots;
                self.model.note_pair(slots[parent], slots[i]);
            }
        }
        self.model.articulations[index] = Some(articulation);
        for drive in drives {
            let joint = self.add_open_joint(&drive)?;
            if let Some(articulation) = &mut self.model.articulations[index] {
                articulation.drives.push(joint.index);
            }
        }
        Ok(self.model.articulation_id(index))
    }

    /// The bodies of the links of an articulation that will be number `index`, each checked with what drives its joint.
    fn checked_links(
        &self,
        desc: &ArticulationDesc,
        index: usize,
    ) -> Result<Vec<Body>, BuildError> {
        let materials = self.model.materials.names.len();
        let mut bodies = Vec::new();
        for (i, link) in desc.links.iter().enumerate() {
            let inside = |e: BuildError| e.inside(&format!("links[{i}]"));
            if let Some(k) = link
                .shapes
                .iter()
                .position(|s| s.material.index() >= materials)
            {
                let field = format!("shapes[{k}].material");
                return Err(inside(BuildError::new(
                    field,
                    "no such material in this world",
                )));
            }
            let kind = if desc.moves(i) {
                BodyKind::Link {
                    articulation: index as u32,
                    link: i as u32,
                }
            } else {
                BodyKind::Fixed
            };
            bodies.push(link.body(kind).map_err(inside)?);
            // Any id will do for a look at the numbers.
            for drive in link.drives(None, BodyId::default()) {
                drive.check().map_err(inside)?;
            }
        }
        Ok(bodies)
    }

    /// Removes an articulation with all its links; its id never names another one.
    ///
    /// # Errors
    /// The articulation does not exist.
    pub fn remove_articulation(&mut self, id: ArticulationId) -> Result<(), UnknownArticulation> {
        self.articulation(id)?;
        let Some(articulation) = self.model.articulations[id.index()].take() else {
            return Err(UnknownArticulation);
        };
        for &slot in &articulation.slots {
            self.clear_slot(slot as usize);
        }
        let generation = &mut self.model.articulation_generations[id.index()];
        *generation = generation.wrapping_add(1);
        self.model.articulation_free.insert(id.index);
        self.state.articulations[id.index()] = ArticulationState::default();
        if let Some(memory) = self.state.adaptive.get_mut(id.index()) {
            *memory = None;
        }
        self.model.edits += 1;
        self.model.update_jointed();
        Ok(())
    }

    /// Ids of all articulations, in slot order.
    pub fn articulation_ids(&self) -> impl Iterator<Item = ArticulationId> {
        self.model
            .present_articulations()
            .map(|(i, _)| self.model.articulation_id(i))
    }

    /// An articulation: its description and its tree.
    ///
    /// # Errors
    /// The articulation does not exist.
    pub fn articulation(&self, id: ArticulationId) -> Result<&Articulation, UnknownArticulation> {
        self.model.get_articulation(id).ok_or(UnknownArticulation)
    }

    /// The body of each link, in the order of the links.
    ///
    /// # Errors
    /// The articulation does not exist.
    pub fn link_bodies(&self, id: ArticulationId) -> Result<Vec<BodyId>, UnknownArticulation> {
        let slots = &self.articulation(id)?.slots;
        Ok(slots.iter().map(|&s| self.model.id(s as usize)).collect())
    }

    /// Positions and velocities of an articulation.
    ///
    /// # Errors
    /// The articulation does not exist.
    pub fn articulation_state(
        &self,
        id: ArticulationId,
    ) -> Result<&ArticulationState, UnknownArticulation> {
        self.articulation(id)?;
        Ok(&self.state.articulations[id.index()])
    }

    /// Whether a body is a link of an adaptive articulation whose joint is locked; before the first step none is.
    ///
    /// # Errors
    /// The body does not exist.
    pub fn is_locked(&self, id: BodyId) -> Result<bool, UnknownBody> {
        let BodyKind::Link { articulation, link } = self.body(id)?.kind else {
            return Ok(false);
        };
        let i = articulation as usize;
        let memory = self.state.adaptive.get(i).and_then(Option::as_ref);
        let (Some(memory), Some(a)) = (memory, &self.model.articulations[i]) else {
            return Ok(false);
        };
        let joints = a.tree.joints_of_link(link as usize);
        Ok(joints.is_some_and(|mut j| j.all(|k| !memory.joints.active[k])))
    }

    /// Puts an articulation into another state.
    ///
    /// # Errors
    /// The articulation does not exist (field `articulation`), or the numbers do not fit it.
    pub fn set_articulation_state(
        &mut self,
        id: ArticulationId,
        state: &ArticulationState,
    ) -> Result<(), BuildError> {
        self.catch_up();
        let unknown = |e: UnknownArticulation| BuildError::new("articulation", e.to_string());
        let articulation = self.articulation(id).map_err(unknown)?;
        let mut poses = Vec::new();
        ends::place(
            articulation,
            state,
            &mut Work::new(&articulation.tree),
            &mut poses,
        )
        .map_err(|e| BuildError::new("state", e.to_string()))?;
        let slots = articulation.slots.clone();
        for (slot, pose) in slots.into_iter().zip(&poses) {
            self.state.bodies[slot as usize] = *pose;
        }
        self.state.articulations[id.index()] = state.clone();
        // What moves now is for the next step to choose.
        if let Some(memory) = self.state.adaptive.get_mut(id.index()) {
            *memory = None;
        }
        self.model.edits += 1;
        Ok(())
    }

    /// An impulse on a link, at once.
    ///
    /// # Errors
    /// What it moves cannot be moved so (field `impulse`).
    pub(crate) fn strike_link(
        &mut self,
        slot: usize,
        impulse: Vec3,
        point: Vec3,
    ) -> Result<(), BuildError> {
        let Some(BodyKind::Link { articulation, link }) =
            self.model.bodies[slot].as_ref().map(|b| b.kind.clone())
        else {
            return Ok(());
        };
        self.catch_up();
        let i = articulation as usize;
        let Some(articulation) = &self.model.articulations[i] else {
            return Ok(());
        };
        let tree = &articulation.tree;
        let mut work = Work::new(tree);
        let mut change = vec![0.0; tree.freedom_count()];
        let load = Load::new(link as usize, point, impulse);
        let state = &self.state.articulations[i];
        articulate(tree, &state.positions, &mut work)
            .and_then(|()| impulse_response(tree, &[load], &mut work, &mut change))
            .map_err(|e| BuildError::new("impulse", e.to_string()))?;
        let before = energy::total(&self.model, &self.state).0;
        let (old, mut state) = (state.clone(), state.clone());
        let memory = self.state.adaptive.get(i).cloned().flatten();
        for (v, d) in state.velocities.iter_mut().zip(&change) {
            *v += d;
        }
        let id = self.model.articulation_id(i);
        self.set_articulation_state(id, &state)
            .map_err(|e| BuildError::new("impulse", e.to_string()))?;
        let work = energy::total(&self.model, &self.state).0 - before;
        match booked(self.ledger.external, work) {
            Ok(external) => self.ledger.external = external,
            Err(e) => {
                self.set_articulation_state(id, &old)?;
                if let Some(place) = self.state.adaptive.get_mut(i) {
                    *place = memory;
                }
                return Err(e);
            }
        }
        Ok(())
    }
}
