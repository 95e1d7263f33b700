//! Which joints of a world's adaptive trees move: chosen at their own rate, when a force appears, and before impacts.
//!
//! Reads: Model, State, what the last step found.  Writes: State (who moves, velocities of what is locked), `Lean`.
//! Called by: `adaptive`.
//! Source: docs/methods/adaptive.md; [Articulated] slides 45–46: locked joints make a body too stiff, so joints are
//! chosen anew by what a contact does to them before it is answered.

use super::Undo;
use super::lean::Lean;
use crate::articulated::{AdaptiveInput, Load as LinkLoad, Selection, Touch};
use crate::error::StepError;
use crate::math::Vec3;
use crate::model::Model;
use crate::report::{AdaptiveReport, ContactForce};
use crate::state::{AdaptiveMemory, Impulse, Load, PairKey, State};
use crate::work::Work;

impl Lean {
    /// Before a step: chooses where it is time to, or where a force appeared. Returns the energy that locking took [J].
    pub(super) fn begin(
        &mut self,
        model: &Model,
        dt: f64,
        state: &mut State,
        undo: &mut Vec<Undo>,
        done: &mut AdaptiveReport,
    ) -> Result<f64, StepError> {
        let mut taken = 0.0;
        state.adaptive.resize(state.articulations.len(), None);
        for t in 0..self.trees.len() {
            let index = self.trees[t].index;
            let Some(a) = &model.articulations[index] else {
                continue;
            };
            if state.adaptive[index].is_none() {
                state.adaptive[index] = Some(AdaptiveMemory::new(&a.tree));
            }
            let Some(known) = &state.adaptive[index] else {
                continue;
            };
            let loads = self.loads(model, state, t, known)?;
            let mut links: Vec<u32> = loads.iter().map(|l| l.link as u32).collect();
            links.sort_unstable();
            links.dedup();
            let appeared = links.iter().any(|l| known.loaded.binary_search(l).is_err());
            if known.joints.clock != 0 && !appeared {
                continue;
            }
            let mut now = known.clone();
            undo.push(Undo {
                index,
                memory: state.adaptive[index].take(),
                velocities: state.articulations[index].velocities.clone(),
            });
            now.loaded = links;
            now.joints.clock = 0;
            let found = self.choose(model, dt, state, t, &mut now, &loads, &[])?;
            taken += found.energy_taken;
            done.selections += 1;
            state.adaptive[index] = Some(now);
        }
        Ok(taken)
    }

    /// Forces on the links of a tree: the user's now, and those of contacts and joints in the last step.
    fn loads(
        &mut self,
        model: &Model,
        state: &State,
        t: usize,
        memory: &AdaptiveMemory,
    ) -> Result<Vec<LinkLoad>, StepError> {
        let mut out = memory.loads.clone();
        let index = self.trees[t].index;
        let Some(a) = &model.articulations[index] else {
            return Ok(out);
        };
        let pushed = |slot: u32| state.loads[slot as usize] != Load::default();
        if !self.pushed || !a.slots.iter().any(|&s| pushed(s)) {
            return Ok(out);
        }
        let own = &state.articulations[index];
        let tree = &mut self.trees[t];
        let placed = tree
            .body
            .place(&a.tree, &memory.joints, &own.positions, &own.velocities);
        let fails = |e| StepError::Articulation {
            name: model.articulation_name(index),
            reason: format!("{e}"),
        };
        placed.map_err(fails)?;
        for (link, &slot) in a.slots.iter().enumerate().filter(|(_, s)| pushed(**s)) {
            let load = &state.loads[slot as usize];
            let frame = tree.body.link_pose(&a.tree, link).map_err(fails)?;
            out.push(LinkLoad {
                torque: load.torque,
                ..LinkLoad::new(
                    link,
                    frame.point(a.desc.links[link].link.mass.center),
                    load.force,
                )
            });
        }
        Ok(out)
    }

    /// Chooses the joints of one tree: for the impacts given, or by the score.
    fn choose(
        &mut self,
        model: &Model,
        dt: f64,
        state: &mut State,
        t: usize,
        memory: &mut AdaptiveMemory,
        loads: &[LinkLoad],
        impacts: &[(Touch, Vec3)],
    ) -> Result<Selection, StepError> {
        let tree = &mut self.trees[t];
        let index = tree.index;
        let Some(a) = &model.articulations[index] else {
            return Ok(Selection::default());
        };
        let tau = vec![0.0; a.tree.freedom_count()];
        let input = AdaptiveInput {
            tau: &tau,
            loads,
            pins: &tree.pins,
        };
        let own = &mut state.articulations[index];
        let (q, v) = (&own.positions, &mut own.velocities);
        let joints = &mut memory.joints;
        let found = if impacts.is_empty() {
            tree.body.select(&a.tree, joints, dt, &input, q, v)
        } else {
            tree.body
                .select_for_impact(&a.tree, joints, dt, &input, impacts, q, v)
        };
        found.map_err(|e| StepError::Articulation {
            name: model.articulation_name(index),
            reason: e.to_string(),
        })
    }

    /// Whether a shape that did not touch an adaptive tree before, nor when its joints were chosen last, does so now.
    pub(super) fn meets(&self, model: &Model, state: &State, work: &Work) -> bool {
        (0..self.trees.len()).any(|t| {
            !self
                .new_contacts(model, state, t, &work.contact_forces)
                .is_empty()
        })
    }

    /// Contacts of a tree of which at least one is new; empty if none is.
    fn new_contacts(
        &self,
        model: &Model,
        state: &State,
        t: usize,
        forces: &[ContactForce],
    ) -> Vec<(Touch, Vec3)> {
        let index = self.trees[t].index;
        let Some(memory) = &state.adaptive[index] else {
            return Vec::new();
        };
        let all_move = memory.joints.active.iter().all(|a| *a);
        if all_move || model.articulations[index].is_none() {
            return Vec::new();
        }
        let link = |slot: u32| {
            let (tree, link) = self.link_of[slot as usize];
            (tree as usize == t).then_some(link as usize)
        };
        let mut out = Vec::new();
        let mut news = false;
        for c in forces {
            let (p, turned) = self.pair_out(&PairKey {
                body_a: c.body_a.index,
                body_b: c.body_b.index,
                shape_a: c.shape_a,
                shape_b: c.shape_b,
            });
            let touch = match (link(p.body_a), link(p.body_b)) {
                (Some(a), Some(b)) => Touch::two(a, b, c.point),
                (Some(l), None) | (None, Some(l)) => Touch::one(l, c.point),
                (None, None) => continue,
            };
            // A contact that never carried anything is as good as none.
            let from = state.contacts.partition_point(|k| k.key.pair < p);
            let of_pair = state.contacts[from..]
                .iter()
                .take_while(|k| k.key.pair == p);
            let mut carried = of_pair.map(|k| (k.first, k.second));
            let known = carried.any(|i| i != (Impulse::default(), Impulse::default()));
            news |= !known && !memory.chosen_for(link(p.body_a), link(p.body_b));
            out.push((touch, if turned { -c.normal } else { c.normal }));
        }
        if news { out } else { Vec::new() }
    }

    /// Chooses joints for what the attempt that was just made has met, and for what is `struck`. Returns the energy that
    /// locking took [J].
    pub(super) fn choose_for_impact(
        &mut self,
        model: &Model,
        dt: f64,
        state: &mut State,
        work: &Work,
        struck: &[Vec<(Touch, Vec3)>],
        undo: &mut Vec<Undo>,
        done: &mut AdaptiveReport,
    ) -> Result<f64, StepError> {
        let mut taken = 0.0;
        for t in 0..self.trees.len() {
            let mut contacts = self.new_contacts(model, state, t, &work.contact_forces);
            if !contacts.is_empty() {
                contacts.extend(struck.get(t).into_iter().flatten());
                taken += self.choose_for(model, dt, state, t, &contacts, undo, done)?;
            }
        }
        Ok(taken)
    }

    /// Before the first attempt: chooses joints where a prescribed body meets what is locked to the world, unless that was
    /// done since the last choice by the score. Says whether it did.
    pub(super) fn choose_for_struck(
        &mut self,
        model: &Model,
        dt: f64,
        state: &mut State,
        struck: &[Vec<(Touch, Vec3)>],
        undo: &mut Vec<Undo>,
        done: &mut AdaptiveReport,
    ) -> Result<Option<f64>, StepError> {
        let mut taken = None;
        for (t, contacts) in struck.iter().enumerate() {
            let Some(memory) = &state.adaptive[self.trees[t].index] else {
                continue;
            };
            let mut links = contacts.iter().filter_map(|(touch, _)| touch.b);
            if links.all(|end| memory.chosen_for(Some(end.link), None)) {
                continue;
            }
            // What pressed in the last step goes on pressing.
            let mut contacts = contacts.clone();
            for load in memory.loads.iter().filter(|l| l.force != Vec3::ZERO) {
                let n = load.force.normalize();
                contacts.push((Touch::one(load.link, load.point), n));
            }
            let lost = self.choose_for(model, dt, state, t, &contacts, undo, done)?;
            taken = Some(taken.unwrap_or(0.0) + lost);
        }
        Ok(taken)
    }

    /// Chooses the joints of one tree for these contacts. Returns the energy that locking took [J].
    fn choose_for(
        &mut self,
        model: &Model,
        dt: f64,
        state: &mut State,
        t: usize,
        contacts: &[(Touch, Vec3)],
        undo: &mut Vec<Undo>,
        done: &mut AdaptiveReport,
    ) -> Result<f64, StepError> {
        let index = self.trees[t].index;
        let Some(known) = &state.adaptive[index] else {
            return Ok(0.0);
        };
        let loads = self.loads(model, state, t, known)?;
        let mut memory = known.clone();
        undo.push(Undo {
            index,
            memory: state.adaptive[index].take(),
            velocities: state.articulations[index].velocities.clone(),
        });
        let found = self.choose(model, dt, state, t, &mut memory, &loads, contacts)?;
        for (touch, _) in contacts {
            for end in [touch.a, touch.b].into_iter().flatten() {
                let link = end.link as u32;
                if let Err(at) = memory.loaded.binary_search(&link) {
                    memory.loaded.insert(at, link);
                }
            }
        }
        // The step that follows is the one that the choice is for; the one after chooses again.
        let interval = self.trees[t].body.desc().interval;
        memory.joints.clock = interval - 1;
        done.selections += 1;
        state.adaptive[index] = Some(memory);
        Ok(found.energy_taken)
    }
}

impl AdaptiveMemory {
    /// Whether joints were chosen with forces on these links in mind.
    fn chosen_for(&self, a: Option<usize>, b: Option<usize>) -> bool {
        let known = |link: Option<usize>| {
            link.is_none_or(|l| self.loaded.binary_search(&(l as u32)).is_ok())
        };
        known(a) && known(b)
    }
}
