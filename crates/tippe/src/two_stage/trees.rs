//! Articulations in a substep: their free motion, and their links as ends of the two solves.
//!
//! Reads: Model (articulations), State.  Writes: states of articulations and of the bodies of their links; solver bodies.
//! Called by: the phases of a substep, which know a link only by its body slot.
//! Source: docs/methods/two-stage.md, "Articulated bodies".

use crate::articulated::ends::TreeEnd;
use crate::articulated::{TreeError, advance as drift, spring_energy};
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
    /// Its `poses` are where its links come to. What is crushed may be pushed so that no finite motion follows: then it goes unpushed, and
    /// the substep is none to trust.
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
        let mut done = tree.follow(model, articulation, state, h, kicked);
        if done.is_err() && kicked {
            tree.impulse.fill(0.0);
            tree.given_up = true;
            tree.next.clone_from(&state.articulations[i]);
            done = tree.follow(model, articulation, state, h, false);
        }
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
            self.trees[i].given_up = false;
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

    /// Tries the impulses found so far on the tree of a link, for `h`: the fastest that one of its links becomes [m/s], infinite if no finite
    /// motion follows from them (the impulses are gone then).
    pub(crate) fn try_out(&mut self, model: &Model, slot: u32, state: &State, h: f64) -> f64 {
        let i = self.ports[slot as usize].tree as usize;
        let Some(Some(articulation)) = model.articulations.get(i) else {
            return 0.0;
        };
        self.fly(model, i, articulation, state, h, true);
        let tree = &mut self.trees[i];
        tree.untouched = None;
        if std::mem::take(&mut tree.given_up) {
            return f64::INFINITY;
        }
        let mut fastest: f64 = 0.0;
        for (&slot, s) in articulation.slots.iter().zip(&tree.poses) {
            let body = model.bodies[slot as usize].as_ref();
            let reach = body.map_or(0.0, |b| if b.reach.is_finite() { b.reach } else { 0.0 });
            fastest = fastest.max(s.velocity.length() + reach * s.angular_velocity.length());
        }
        fastest
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
            tree.take_over(done, i, articulation, state);
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
            tree.take_over(done, i, articulation, state);
        }
    }
}

impl TreeEnd {
    /// Impulses, if it is `kicked`, and free motion for `h` of what is in `next`.
    fn follow(
        &mut self,
        model: &Model,
        articulation: &Articulation,
        state: &State,
        h: f64,
        kicked: bool,
    ) -> Result<(), TreeError> {
        self.kick(articulation, kicked, &state.bodies)?;
        self.move_on(model, articulation, state, h)?;
        self.place(articulation)
    }

    /// `next` becomes the state of articulation `i`; if it could not be found, the state stays as it is.
    fn take_over(
        &mut self,
        found: Result<(), TreeError>,
        i: usize,
        articulation: &Articulation,
        state: &mut State,
    ) {
        if found.is_err() {
            self.impulse.fill(0.0);
            self.given_up = true;
            return;
        }
        self.write(articulation, &mut state.bodies);
        std::mem::swap(&mut state.articulations[i], &mut self.next);
    }
}
