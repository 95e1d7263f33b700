//! Articulations in a substep: their free motion, and their links as ends of the two solves.
//!
//! Reads: Model (articulations), State.  Writes: states of articulations and of the bodies of their links; solver bodies.
//! Called by: the phases of a substep, which know a link only by its body slot.
//! Source: docs/methods/two-stage.md, "Articulated bodies".

use crate::articulated::ends::TreeEnd;
use crate::articulated::{advance as drift, spring_energy};
use crate::articulation::{Articulation, ArticulationState};
use crate::model::{BodyKind, Model};
use crate::output::balance::Balance;
use crate::report::EnergyLedger;
use crate::solver::ends::SolverBody;
use crate::solver::ends::{Bodies, LINK, NONE, Port};
use crate::state::{BodyState, State};

impl Bodies {
    /// Velocities and responses at the present state, for a solve. `touched` are slots that contacts and joints act on.
    pub(crate) fn load_trees(
        &mut self,
        model: &Model,
        state: &State,
        touched: impl Iterator<Item = u32>,
    ) {
        self.ports.clear();
        if model.articulations.is_empty() {
            return;
        }
        self.ports
            .resize(model.bodies.len() + 1, Port { tree: NONE, row: 0 });
        self.trees
            .resize_with(model.articulations.len(), TreeEnd::default);
        for tree in &mut self.trees {
            tree.links.clear();
            tree.impulse.clear();
        }
        for slot in touched {
            let Some(Some(body)) = model.bodies.get(slot as usize) else {
                continue;
            };
            if let BodyKind::Link { articulation, link } = body.kind
                && self.ports[slot as usize].tree == NONE
            {
                let tree = &mut self.trees[articulation as usize];
                self.ports[slot as usize] = Port {
                    tree: articulation,
                    row: 6 * tree.links.len() as u32,
                };
                tree.links.push((link, slot));
            }
        }
        for (slot, body) in model.present() {
            if matches!(body.kind, BodyKind::Link { .. }) {
                let s = &state.bodies[slot];
                self.flat[slot] = SolverBody {
                    v: s.velocity,
                    w: s.angular_velocity,
                    ..LINK
                };
            }
        }
        for (i, articulation) in model.present_articulations() {
            let tree = &mut self.trees[i];
            if tree.links.is_empty() {
                continue;
            }
            let done = tree
                .respond(articulation, &state.articulations[i], &state.bodies)
                .and_then(|()| tree.outline(articulation, &state.articulations[i], &state.bodies));
            if let Err(e) = done {
                tree.error = Some(e);
            }
        }
    }

    /// Free motion of one articulation for `h`, with the impulses of the solve if `kicked`.
    /// Its `poses` are where its links come to.
    fn fly(
        &mut self,
        model: &Model,
        i: usize,
        articulation: &Articulation,
        state: &State,
        h: f64,
        kicked: bool,
    ) {
        let tree = &mut self.trees[i];
        tree.untouched = None;
        tree.next.clone_from(&state.articulations[i]);
        let done = tree
            .kick(articulation, kicked, &state.bodies)
            .and_then(|()| tree.move_on(model, articulation, state, h))
            .and_then(|()| tree.place(articulation));
        match done {
            Ok(()) if !kicked || tree.is_unpushed() => tree.untouched = Some(h),
            Ok(()) => {}
            Err(e) => tree.error = Some(e),
        }
    }

    /// Where all links would be at t + h if nothing touched them.
    pub(crate) fn predict(
        &mut self,
        model: &Model,
        state: &State,
        h: f64,
        predicted: &mut [BodyState],
    ) {
        self.trees
            .resize_with(model.articulations.len(), TreeEnd::default);
        for (i, articulation) in model.present_articulations() {
            self.trees[i].error = None;
            self.fly(model, i, articulation, state, h, false);
            self.trees[i].write(articulation, predicted);
        }
    }

    /// Where the tree of a link goes with the impulses found so far.
    pub(crate) fn look_ahead(
        &mut self,
        model: &Model,
        articulation: u32,
        state: &State,
        h: f64,
        predicted: &mut [BodyState],
    ) {
        let i = articulation as usize;
        if let Some(Some(a)) = model.articulations.get(i) {
            self.fly(model, i, a, state, h, true);
            self.trees[i].write(a, predicted);
        }
    }

    /// Moves all articulations for `h` with the impulses of the first solve; books joint friction, springs and the work of the user's forces.
    pub(crate) fn advance(
        &mut self,
        model: &Model,
        state: &mut State,
        h: f64,
        balance: &mut Balance,
        ledger: &mut EnergyLedger,
    ) {
        for (i, articulation) in model.present_articulations() {
            // Where nothing pushed it, it goes where it was predicted to go.
            let known = &self.trees[i];
            if known.untouched != Some(h) || !known.is_unpushed() {
                self.fly(model, i, articulation, state, h, true);
            }
            let tree = &mut self.trees[i];
            tree.untouched = None;
            ledger.joint_friction += tree.dissipated;
            let sprung = |s: &ArticulationState| spring_energy(&articulation.tree, &s.positions);
            let springs = sprung(&state.articulations[i]) - sprung(&tree.next);
            ledger.elastic_work += springs;
            // A link that is fixed to the world has no part in the balance.
            let mut slots = articulation.slots.iter();
            if let Some(&slot) = slots.find(|slot| model.is_awake(**slot)) {
                balance.put_in(slot, springs);
                balance.lose(model, [slot; 2], tree.dissipated);
            }
            std::mem::swap(&mut state.articulations[i], &mut tree.next);
            for (&slot, after) in articulation.slots.iter().zip(&tree.poses) {
                let (load, before) = (&state.loads[slot as usize], &state.bodies[slot as usize]);
                let work = load.force.dot(after.position - before.position)
                    + load
                        .torque
                        .dot(before.angular_velocity + after.angular_velocity)
                        * (0.5 * h);
                ledger.external += work;
                balance.put_in(slot, work);
            }
            tree.write(articulation, &mut state.bodies);
        }
    }

    /// Takes the impulses of a finished solve into the velocities of the state.
    pub(crate) fn finish(&mut self, model: &Model, state: &mut State) {
        for (i, articulation) in model.present_articulations() {
            let tree = &mut self.trees[i];
            if tree.is_unpushed() {
                continue;
            }
            tree.untouched = None;
            tree.next.clone_from(&state.articulations[i]);
            let done = tree
                .kick(articulation, true, &state.bodies)
                .and_then(|()| tree.place(articulation));
            if let Err(e) = done {
                tree.error = Some(e);
            }
            tree.write(articulation, &mut state.bodies);
            std::mem::swap(&mut state.articulations[i], &mut tree.next);
        }
    }

    /// Takes the impulses of the pose-only pass as displacements.
    pub(crate) fn displace(&mut self, model: &Model, state: &mut State) {
        for (i, articulation) in model.present_articulations() {
            let tree = &mut self.trees[i];
            if tree.is_unpushed() {
                continue;
            }
            tree.untouched = None;
            tree.next.clone_from(&state.articulations[i]);
            tree.next.velocities.fill(0.0);
            let done = tree.kick(articulation, true, &state.bodies).and_then(|()| {
                drift(
                    &articulation.tree,
                    &tree.next.velocities,
                    1.0,
                    &mut tree.next.positions,
                )
            });
            let kept = &state.articulations[i].velocities;
            tree.next.velocities.copy_from_slice(kept);
            let done = done.and_then(|()| tree.place(articulation));
            if let Err(e) = done {
                tree.error = Some(e);
            }
            tree.write(articulation, &mut state.bodies);
            std::mem::swap(&mut state.articulations[i], &mut tree.next);
        }
    }
}
