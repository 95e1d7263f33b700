//! The balance of energy of bodies that exchange impulses: what a substep added to them beyond the work put in is `gained`.
//!
//! Reads: Model, State at both ends of a substep, works as they are booked.  Writes: `gained` of the ledger.
//! Called by: the methods and phases that book work; closed once a substep.
//! Source: docs/methods/contract.md, "The certificate". `P · ½(u⁻ + u⁺)` is exact for any impulse P and so explains wrong ones too; a
//! resting contact lends energy to the first half of a substep and takes it back in the second. Hence whole groups, whole substeps.

use crate::dynamics::energy;
use crate::model::Model;
use crate::report::EnergyLedger;
use crate::state::State;

/// Rounding of energies, relative to what was summed up [1].
const ROUNDING: f64 = 1e-13;

/// Energies and works of one substep, by body slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Balance {
    /// Kinetic plus potential energy at the start [J].
    start: Vec<f64>,
    /// Works put in so far, position correction included [J].
    work: Vec<f64>,
    /// The same before the kicks of an attempt that may be taken back [J].
    work_kept: Vec<f64>,
    /// What contacts took so far [J].
    taken: Vec<f64>,
    /// Union–find over bodies that exchanged impulses; the lowest slot is the root.
    parent: Vec<u32>,
    /// By root: change of energy less works, what contacts took, and the size of what was summed up.
    sums: Vec<[f64; 3]>,
}

impl Balance {
    /// A substep begins.
    pub(crate) fn begin(&mut self, model: &Model, state: &State) {
        let slots = model.bodies.len();
        self.start.clear();
        self.start.resize(slots, 0.0);
        for (i, body) in model.present() {
            let s = &state.bodies[i];
            self.start[i] = energy::kinetic(body, s) + energy::potential(body, s, model.gravity);
        }
        self.work.clear();
        self.work.resize(slots, 0.0);
        self.taken.clear();
        self.taken.resize(slots, 0.0);
        self.parent.clear();
        self.parent
            .extend((0..slots as u32).map(|i| model.node_of(i)));
    }

    /// Remembers the works so far, in case what follows is taken back.
    pub(crate) fn keep(&mut self) {
        self.work_kept.clone_from(&self.work);
    }

    /// Takes works back to what they were at `keep`.
    pub(crate) fn take_back(&mut self) {
        self.work.clone_from(&self.work_kept);
    }

    /// Work was put into a body [J].
    pub(crate) fn put_in(&mut self, slot: u32, work: f64) {
        if let Some(sum) = self.work.get_mut(slot as usize) {
            *sum += work;
        }
    }

    /// Adds the energies of now, with a sign, to the works: around a change of poses, what that change put in.
    pub(crate) fn correct(&mut self, model: &Model, state: &State, sign: f64) {
        for (i, body) in model.present().filter(|(_, b)| b.is_awake()) {
            let s = &state.bodies[i];
            self.work[i] +=
                sign * (energy::kinetic(body, s) + energy::potential(body, s, model.gravity));
        }
    }

    /// Works put into two bodies that exchanged an impulse, and what their contact took [J].
    pub(crate) fn exchange(&mut self, model: &Model, [a, b]: [u32; 2], put_in: f64, taken: f64) {
        let moves = |slot: u32| {
            model.bodies.get(slot as usize).is_some_and(|x| x.is_some()) && model.is_awake(slot)
        };
        let slot = if moves(b) { b } else { a };
        self.put_in(slot, put_in);
        if let Some(sum) = self.taken.get_mut(slot as usize) {
            *sum += taken;
        }
        if moves(a) && moves(b) {
            let (a, b) = (self.root(a), self.root(b));
            self.parent[a.max(b) as usize] = a.min(b);
        }
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let up = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = up;
            i = up;
        }
        i
    }

    /// The substep is over: books the positive part of every group's balance. What contacts made is taken out of their account.
    pub(crate) fn close(&mut self, model: &Model, state: &State, ledger: &mut EnergyLedger) {
        self.sums.clear();
        self.sums.resize(self.start.len(), [0.0; 3]);
        for (i, body) in model.present() {
            if !body.is_awake() {
                continue;
            }
            let s = &state.bodies[i];
            let (kinetic, potential) = (
                energy::kinetic(body, s),
                energy::potential(body, s, model.gravity),
            );
            let root = self.root(i as u32) as usize;
            let sum = &mut self.sums[root];
            sum[0] += kinetic + potential - self.start[i] - self.work[i];
            sum[1] += self.taken[i];
            sum[2] += kinetic + potential.abs() + self.start[i].abs() + self.work[i].abs();
        }
        for &[balance, taken, size] in &self.sums {
            if balance > ROUNDING * size {
                ledger.gained += balance;
                ledger.restitution += balance.min(-taken).max(0.0);
            }
        }
    }
}
