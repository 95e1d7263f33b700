//! State across the seam: into the lean model before a step, back into the world after it, in the names of each.
//!
//! Reads: State of the world, `Lean`.  Writes: the other one; forces and events that users read.
//! Called by: `adaptive`.
//! Source: docs/methods/adaptive.md, "In a world". The lower slot is A: where the order of two bodies is not the same on
//! both sides, a contact is turned round.

use super::lean::{Lean, NONE, pose};
use crate::articulated::TreeError;
use crate::articulated::ends;
use crate::articulation::ArticulationState;
use crate::math::Vec3;
use crate::method::events::Schedule;
use crate::method::events::schedule::RestingPair;
use crate::model::{BodyId, Model};
use crate::report::{ContactForce, Event};
use crate::state::{
    BodyState, CompliantContact, CompliantMemory, ContactMemory, Impulse, JointMemory, Load,
    PairKey, State,
};
use crate::work::Work;

impl Lean {
    /// Fills the lean state from that of the world.
    pub(super) fn carry_in(&mut self, model: &Model, state: &State) -> Result<(), TreeError> {
        let slots = self.model.bodies.len();
        let s = &mut self.state;
        (s.time, s.step_count) = (state.time, state.step_count);
        (s.substeps, s.substep) = (state.substeps, state.substep);
        // Islands of pieces come and go with the choice: what the solver tried for them is not remembered.
        s.efforts.clear();
        s.bodies.clear();
        s.loads.clear();
        s.quiet.clear();
        s.asleep.clear();
        for &full in &self.full_of {
            s.bodies.push(state.bodies[full as usize]);
            s.loads.push(state.loads[full as usize]);
            s.quiet.push(state.quiet[full as usize]);
            s.asleep.push(state.asleep[full as usize]);
        }
        s.bodies.resize(slots, BodyState::REST);
        s.loads.resize(slots, Load::default());
        s.quiet.resize(slots, 0.0);
        s.asleep.resize(slots, None);
        s.joints.clone_from(&state.joints);
        for (memory, joint) in s.joints.iter_mut().zip(&self.model.joints) {
            if joint.is_none() {
                *memory = locked(memory);
            }
        }
        s.articulations
            .resize_with(state.articulations.len(), ArticulationState::default);
        for (i, own) in state.articulations.iter().enumerate() {
            if !self.trees.iter().any(|t| t.index == i) {
                s.articulations[i].clone_from(own);
            }
        }
        self.carry_trees(model, state)?;
        self.carry_contacts(state);
        self.state.compliant = renamed(&state.compliant, |p| self.pair_in(p).map(|(p, _)| p));
        self.carry_loads(model, state)
    }

    /// Positions, velocities and poses of the pieces.
    fn carry_trees(&mut self, model: &Model, state: &State) -> Result<(), TreeError> {
        let mut poses = Vec::new();
        for tree in &mut self.trees {
            let (Some(a), Some(Some(memory))) = (
                &model.articulations[tree.index],
                state.adaptive.get(tree.index),
            ) else {
                continue;
            };
            let own = &state.articulations[tree.index];
            let view =
                tree.body
                    .hybrid(&a.tree, &memory.joints, &own.positions, &own.velocities)?;
            let to = &mut self.state.articulations[tree.index];
            to.positions.clear();
            to.positions.extend_from_slice(view.q);
            to.velocities.clear();
            to.velocities.extend_from_slice(view.v);
            if let Some(reduced) = &self.model.articulations[tree.index] {
                ends::place(reduced, to, &mut tree.work, &mut poses)?;
                for (k, pose) in poses.iter().enumerate() {
                    self.state.bodies[tree.first as usize + k] = *pose;
                }
            }
        }
        Ok(())
    }

    fn carry_contacts(&mut self, state: &State) {
        let mut contacts = std::mem::take(&mut self.state.contacts);
        contacts.clear();
        for c in &state.contacts {
            if let Some((pair, turned)) = self.pair_in(&c.key.pair) {
                contacts.push(memory(c, pair, turned));
            }
        }
        contacts.sort_unstable_by_key(|c| c.key);
        self.state.contacts = contacts;
        let pairs = |list: &[PairKey]| {
            let inside = list.iter().filter_map(|p| self.pair_in(p));
            let mut out: Vec<PairKey> = inside.map(|(p, _)| p).collect();
            out.sort_unstable();
            out
        };
        let (touching, sensed) = (pairs(&state.touching), pairs(&state.sensed));
        let rests = state.events.resting.iter();
        let rests = rests.filter_map(|r| {
            self.pair_in(&r.key)
                .map(|(key, _)| RestingPair { key, ..*r })
        });
        let mut resting: Vec<RestingPair> = rests.collect();
        resting.sort_unstable_by_key(|r| r.key);
        (self.state.touching, self.state.sensed) = (touching, sensed);
        // A schedule is made anew in every step: pieces come and go.
        self.state.events = Schedule {
            resting,
            carry: state.events.carry,
            ..Schedule::default()
        };
    }

    /// Loads on links act on their pieces.
    fn carry_loads(&mut self, model: &Model, state: &State) -> Result<(), TreeError> {
        for t in 0..if self.pushed { self.trees.len() } else { 0 } {
            let Some(a) = &model.articulations[self.trees[t].index] else {
                continue;
            };
            for &slot in &a.slots {
                let load = &state.loads[slot as usize];
                if *load == Load::default() {
                    continue;
                }
                let Some(seat) = self.seat(model, slot)? else {
                    continue;
                };
                let (at, center) = (seat.slot as usize, center(model, slot));
                let Some(piece) = &self.model.bodies[at] else {
                    continue;
                };
                let frame = self.state.bodies[at]
                    .frame(piece)
                    .compose(&pose(&seat.frame));
                let arm = frame.point(center) - self.state.bodies[at].position;
                let sum = &mut self.state.loads[at];
                sum.force += load.force;
                sum.torque += load.torque + arm.cross(load.force);
            }
        }
        Ok(())
    }

    /// A pair of the world in lean names, and whether its order is turned round; `None` inside one piece.
    fn pair_in(&self, p: &PairKey) -> Option<(PairKey, bool)> {
        let end = |body: u32, shape: u32| {
            let slot = self.lean_of[body as usize];
            let first = if self.link_of[body as usize].0 == NONE {
                0
            } else {
                self.first_shape[body as usize]
            };
            (slot, first + shape)
        };
        let (a, b) = (end(p.body_a, p.shape_a), end(p.body_b, p.shape_b));
        if a.0 == b.0 || a.0 == NONE || b.0 == NONE {
            return None;
        }
        Some(ordered(a, b))
    }

    /// A pair of the lean model in the names of the world.
    pub(super) fn pair_out(&self, p: &PairKey) -> (PairKey, bool) {
        ordered(
            self.owner(p.body_a, p.shape_a),
            self.owner(p.body_b, p.shape_b),
        )
    }

    /// Body slot and shape in the world.
    fn owner(&self, slot: u32, shape: u32) -> (u32, u32) {
        let owner = &self.model.owners[slot as usize];
        let own = owner.shapes.get(shape as usize).copied();
        own.unwrap_or((owner.slot, shape))
    }

    /// Writes what a step did back into the world.
    pub(super) fn carry_out(&mut self, model: &Model, state: &mut State) -> Result<(), TreeError> {
        let s = &self.state;
        (state.time, state.step_count) = (s.time, s.step_count);
        (state.substeps, state.substep) = (s.substeps, s.substep);
        for (lean, &full) in self.full_of.iter().enumerate() {
            state.bodies[full as usize] = s.bodies[lean];
            state.quiet[full as usize] = s.quiet[lean];
            state.loads[full as usize] = Load::default();
        }
        for ((to, from), joint) in state
            .joints
            .iter_mut()
            .zip(&s.joints)
            .zip(&self.model.joints)
        {
            *to = if joint.is_some() { *from } else { locked(to) };
        }
        for (i, own) in state.articulations.iter_mut().enumerate() {
            if !self.trees.iter().any(|t| t.index == i) {
                own.clone_from(&s.articulations[i]);
            }
        }
        for tree in &mut self.trees {
            let (Some(a), Some(Some(memory))) = (
                &model.articulations[tree.index],
                state.adaptive.get(tree.index),
            ) else {
                continue;
            };
            let own = &mut state.articulations[tree.index];
            let view =
                tree.body
                    .hybrid(&a.tree, &memory.joints, &own.positions, &own.velocities)?;
            view.q
                .copy_from_slice(&s.articulations[tree.index].positions);
            view.v
                .copy_from_slice(&s.articulations[tree.index].velocities);
            tree.body
                .store(&a.tree, &mut own.positions, &mut own.velocities)?;
            for &slot in a.slots.iter().filter(|_| self.pushed) {
                state.loads[slot as usize] = Load::default();
            }
        }
        self.contacts_out(state);
        Ok(())
    }

    fn contacts_out(&self, state: &mut State) {
        let s = &self.state;
        let contacts = s.contacts.iter().map(|c| {
            let (pair, turned) = self.pair_out(&c.key.pair);
            memory(c, pair, turned)
        });
        let mut contacts: Vec<ContactMemory> = contacts.collect();
        contacts.sort_unstable_by_key(|c| c.key);
        state.contacts = contacts;
        state.compliant = renamed(&s.compliant, |p| Some(self.pair_out(p).0));
        // What touches inside a piece goes on doing so.
        let pairs = |old: &[PairKey], new: &[PairKey]| {
            let inside = old.iter().filter(|p| self.pair_in(p).is_none()).copied();
            let mut out: Vec<PairKey> = inside
                .chain(new.iter().map(|p| self.pair_out(p).0))
                .collect();
            out.sort_unstable();
            out
        };
        (state.touching, state.sensed) = (
            pairs(&state.touching, &s.touching),
            pairs(&state.sensed, &s.sensed),
        );
        let rests = s.events.resting.iter();
        let rests = rests.map(|r| RestingPair {
            key: self.pair_out(&r.key).0,
            ..*r
        });
        let mut resting: Vec<RestingPair> = rests.collect();
        resting.sort_unstable_by_key(|r| r.key);
        state.events = Schedule {
            resting,
            carry: s.events.carry,
            ..Schedule::default()
        };
    }

    /// Forces and events in the names of the world.
    pub(super) fn tell(&self, model: &Model, work: &mut Work) {
        let ends = |a: BodyId, b: BodyId, shape_a: u32, shape_b: u32| {
            let (p, turned) = self.pair_out(&PairKey {
                body_a: a.index,
                body_b: b.index,
                shape_a,
                shape_b,
            });
            let ids = (model.id(p.body_a as usize), model.id(p.body_b as usize));
            (ids, (p.shape_a, p.shape_b), turned)
        };
        for c in &mut work.contact_forces {
            let (ids, shapes, turned) = ends(c.body_a, c.body_b, c.shape_a, c.shape_b);
            (c.body_a, c.body_b) = ids;
            (c.shape_a, c.shape_b) = shapes;
            if turned {
                c.normal = -c.normal;
                c.tangential_impulse = -c.tangential_impulse;
            }
        }
        work.contact_forces.sort_unstable_by_key(ContactForce::key);
        for e in &mut work.events {
            let (ids, shapes, _) = ends(e.body_a, e.body_b, e.shape_a, e.shape_b);
            (e.body_a, e.body_b) = ids;
            (e.shape_a, e.shape_b) = shapes;
        }
        crate::output::events::sort(&mut work.events as &mut [Event]);
    }
}

/// Centre of mass of a body in its frame.
fn center(model: &Model, slot: u32) -> Vec3 {
    let body = model.bodies[slot as usize].as_ref();
    body.map_or(Vec3::ZERO, |b| b.center)
}

/// Two shapes as a pair, the lower slot first, and whether they had to change places.
fn ordered(a: (u32, u32), b: (u32, u32)) -> (PairKey, bool) {
    let turned = b.0 < a.0;
    let (a, b) = if turned { (b, a) } else { (a, b) };
    let pair = PairKey {
        body_a: a.0,
        body_b: b.0,
        shape_a: a.1,
        shape_b: b.1,
    };
    (pair, turned)
}

/// A memory under another name; impulses are those on B.
fn memory(c: &ContactMemory, pair: PairKey, turned: bool) -> ContactMemory {
    let mut out = *c;
    out.key.pair = pair;
    if turned {
        let other = |p: &Impulse| Impulse {
            normal: p.normal,
            tangential: -p.tangential,
            angular: -p.angular,
        };
        (out.first, out.second) = (other(&c.first), other(&c.second));
    }
    out
}

/// What compliant contacts remember, under other names.
fn renamed(
    memory: &CompliantMemory,
    name: impl Fn(&PairKey) -> Option<PairKey>,
) -> CompliantMemory {
    let contacts = memory.contacts.iter().filter_map(|c| {
        let mut out = *c;
        out.key.pair = name(&c.key.pair)?;
        Some(out)
    });
    let mut contacts: Vec<CompliantContact> = contacts.collect();
    contacts.sort_unstable_by_key(|c| c.key);
    CompliantMemory {
        step: memory.step,
        contacts,
    }
}

/// What a joint that cannot move remembers: how far it has turned.
fn locked(memory: &JointMemory) -> JointMemory {
    JointMemory {
        angle: memory.angle,
        ..JointMemory::default()
    }
}
