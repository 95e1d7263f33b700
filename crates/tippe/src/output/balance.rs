//! The balance of energy of bodies that exchange impulses: what a substep added to them beyond the work put in is `gained`.
//!
//! Reads: Model, State at both ends of a substep, works as they are booked.  Writes: `gained` of the ledger.
//! Called by: the methods and phases that book work; closed once a substep.
//! Source: docs/methods/contract.md, "The certificate". `P · ½(u⁻ + u⁺)` is exact for any impulse P and so explains wrong ones too; a
//! resting contact lends energy to the first half of a substep and takes it back in the second. Hence whole groups, whole substeps.

use crate::dynamics::energy;
use crate::model::{BodyKind, Model};
use crate::report::EnergyLedger;
use crate::state::State;

/// Energy that a smooth motion on joints or contacts gains or loses for a while, relative to turnover and to the square of the turn of its stiffest
/// mode in a substep [1/rad²]: the leading error of a leapfrog is (ωh)²/12 of what it exchanges.
const SMOOTH: f64 = 1.0 / 12.0;
/// Turn beyond which no such loan is given [rad]: twice what a substep may take.
const SMOOTH_TURN: f64 = 1.4;
/// The same for bodies that turn on contacts, whose points of touch must be followed round edges [rad].
const ROLLING_TURN: f64 = 0.1;
/// Rounding of energies, relative to what was summed up [1].
const ENERGY_ROUNDING: f64 = 1e-13;

/// Energies and works of one substep, by body slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Balance {
    /// Kinetic and potential energy at the start [J].
    start: Vec<(f64, f64)>,
    /// Works put in so far, position correction included [J].
    work: Vec<f64>,
    /// The same before the kicks of an attempt that may be taken back [J].
    work_kept: Vec<f64>,
    /// What contacts took so far [J].
    taken: Vec<f64>,
    /// Union–find over bodies that exchanged impulses; the lowest slot is the root.
    parent: Vec<u32>,
    /// By slot: whether a body exchanged an impulse at all, and whether a joint did that.
    touched: Vec<bool>,
    jointed: Vec<bool>,
    /// What joints and limits took so far, by slot [J].
    taken_by_joints: Vec<f64>,
    /// By slot, then by root: what it pushed against.
    support: Vec<Support>,
    /// What dampers, drag and implicit stiffness took so far, by slot [J].
    lost: Vec<f64>,
    /// The part of it that media took [J].
    drag: Vec<f64>,
    /// Works of prescribed bodies at contacts that could not be met, by slot [J]: not put in, whatever they made.
    forced: Vec<f64>,
    /// What springs of joints have put in so far [J].
    pub sprung: f64,
    /// By root.
    sums: Vec<Sum>,
}

/// The balance of one group [J].
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    /// Change of energy less works put in.
    balance: f64,
    /// What contacts took, and what joints and limits did.
    taken: f64,
    taken_by_joints: f64,
    /// What dampers, drag and implicit stiffness took.
    lost: f64,
    /// The part of it that media took.
    drag: f64,
    /// Works of prescribed bodies at contacts that could not be met.
    forced: f64,
    /// Changes of kinetic and potential energy, by size.
    turnover: f64,
    /// What was summed up, by size.
    size: f64,
    /// What its bodies may have lent themselves while they turned on contacts.
    loan: f64,
    /// What was made from nothing.
    gain: f64,
    /// What a smooth motion on joints lent itself.
    lent: f64,
}

/// What a group of bodies pushed against, besides each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Support {
    /// Nothing: its momenta are its own.
    #[default]
    Nothing,
    /// One prescribed body, by its slot.
    One(u32),
    /// The world, or several.
    World,
}

impl Support {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, x) | (x, Self::Nothing) => x,
            (Self::One(a), Self::One(b)) if a == b => self,
            _ => Self::World,
        }
    }
}

impl Balance {
    /// A substep begins.
    pub(crate) fn begin(&mut self, model: &Model, state: &State) {
        let slots = model.bodies.len();
        self.start.clear();
        self.start.resize(slots, (0.0, 0.0));
        for (i, body) in model.present() {
            let s = &state.bodies[i];
            self.start[i] = (
                energy::kinetic_of(model, state, i, body),
                energy::potential(body, s, model.gravity),
            );
        }
        self.work.clear();
        self.work.resize(slots, 0.0);
        self.taken.clear();
        self.taken.resize(slots, 0.0);
        for marks in [&mut self.touched, &mut self.jointed] {
            marks.clear();
            marks.resize(slots, false);
        }
        for sums in [
            &mut self.taken_by_joints,
            &mut self.lost,
            &mut self.drag,
            &mut self.forced,
        ] {
            sums.clear();
            sums.resize(slots, 0.0);
        }
        self.sprung = 0.0;
        self.support.clear();
        self.support.resize(slots, Support::Nothing);
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

    /// A damper, drag or implicit stiffness took energy of one of two bodies, whichever moves [J].
    pub(crate) fn lose(&mut self, model: &Model, [a, b]: [u32; 2], loss: f64) {
        let moves = |slot: u32| {
            model.bodies.get(slot as usize).is_some_and(|x| x.is_some()) && model.is_awake(slot)
        };
        let slot = if moves(b) { b } else { a };
        if let Some(sum) = self.lost.get_mut(slot as usize) {
            *sum += loss;
        }
    }

    /// A medium took energy of a body [J].
    pub(crate) fn drag(&mut self, model: &Model, slot: u32, loss: f64) {
        self.lose(model, [slot; 2], loss);
        if let Some(sum) = self.drag.get_mut(slot as usize) {
            *sum += loss;
        }
    }

    /// A prescribed body did work at a contact of two bodies that could not be met [J]: where it goes on, they are crushed, and what that does
    /// to their motion is no work that counts.
    pub(crate) fn force(&mut self, model: &Model, [a, b]: [u32; 2], work: f64) {
        let slot = if model.is_awake(b) { b } else { a };
        if let Some(sum) = self.forced.get_mut(slot as usize) {
            *sum += work;
        }
    }

    /// Adds the energies of now, with a sign, to the works: around a change of poses, what that change put in.
    pub(crate) fn correct(&mut self, model: &Model, state: &State, sign: f64) {
        for (i, body) in model.present().filter(|(_, b)| b.is_awake()) {
            let s = &state.bodies[i];
            self.work[i] += sign
                * (energy::kinetic_of(model, state, i, body)
                    + energy::potential(body, s, model.gravity));
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
            self.touched[slot as usize] = true;
        }
        for (slot, other) in [(a, b), (b, a)] {
            if moves(slot) && !moves(other) {
                let body = model.bodies.get(other as usize).and_then(Option::as_ref);
                let on = match body {
                    Some(body) if matches!(body.kind, BodyKind::Kinematic(_)) => {
                        Support::One(other)
                    }
                    _ => Support::World,
                };
                self.support[slot as usize] = self.support[slot as usize].and(on);
            }
        }
        if moves(a) && moves(b) {
            let (a, b) = (self.root(a), self.root(b));
            self.parent[a.max(b) as usize] = a.min(b);
        }
    }

    pub(crate) fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let up = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = up;
            i = up;
        }
        i
    }

    /// Two bodies exchanged an impulse through a joint: works that it put in, and what its shocks took [J].
    pub(crate) fn exchange_by_joint(
        &mut self,
        model: &Model,
        ends: [u32; 2],
        put_in: f64,
        taken: f64,
    ) {
        self.exchange(model, ends, put_in, 0.0);
        let mut taken = Some(taken);
        for slot in ends.into_iter().rev().map(|slot| slot as usize) {
            if let Some(jointed) = self.jointed.get_mut(slot) {
                *jointed = true;
                let moves = model.is_awake(slot as u32);
                self.taken_by_joints[slot] += taken.take_if(|_| moves).unwrap_or(0.0);
            }
        }
    }

    /// Sums up the groups as they are now: true if one has gained. `turn` is how far the stiffest mode of a joint turned in the substep [rad];
    /// what a smooth motion on joints lends itself is no gain.
    /// `h` is the length of the substep [s].
    pub(crate) fn sum_up(&mut self, model: &Model, state: &State, turn: f64, h: f64) -> bool {
        self.sums.clear();
        self.sums.resize(self.start.len(), Sum::default());
        for (i, body) in model.present().filter(|(_, b)| b.is_awake()) {
            let s = &state.bodies[i];
            let kinetic = energy::kinetic_of(model, state, i, body);
            let potential = energy::potential(body, s, model.gravity);
            let (kinetic_start, potential_start) = self.start[i];
            let root = self.root(i as u32) as usize;
            self.jointed[root] |= self.jointed[i];
            self.touched[root] |= self.touched[i];
            self.support[root] = self.support[root].and(self.support[i]);
            let sum = &mut self.sums[root];
            sum.balance += kinetic + potential - (kinetic_start + potential_start) - self.work[i];
            sum.taken += self.taken[i];
            sum.taken_by_joints += self.taken_by_joints[i];
            sum.lost += self.lost[i];
            sum.drag += self.drag[i];
            sum.forced += self.forced[i];
            sum.turnover += (kinetic - kinetic_start).abs() + (potential - potential_start).abs();
            let turned = s.angular_velocity.length() * h;
            if turned <= ROLLING_TURN {
                let exchanged =
                    (kinetic - kinetic_start).abs() + (potential - potential_start).abs();
                sum.loan += SMOOTH * turned * turned * exchanged;
            }
            let start = kinetic_start + potential_start.abs();
            sum.size += kinetic + potential.abs() + start + self.work[i].abs();
        }
        // What turns farther than a substep may is not smooth, and has nothing to borrow.
        let smooth = if turn <= SMOOTH_TURN {
            SMOOTH * turn * turn
        } else {
            0.0
        };
        let mut any = false;
        for (root, sum) in self.sums.iter_mut().enumerate() {
            // Errors of free flight alone are no gain of impulses: they stay unexplained.
            let by_joints = if self.jointed[root] {
                smooth * sum.turnover
            } else {
                0.0
            };
            let borrowed = by_joints.max(sum.loan);
            if self.touched[root] && sum.balance > ENERGY_ROUNDING * sum.size + borrowed {
                sum.gain = sum.balance;
                any = true;
            } else {
                let left = sum.balance + sum.taken + sum.taken_by_joints + sum.lost;
                if self.jointed[root] && left.abs() <= borrowed {
                    sum.lent = left;
                }
            }
        }
        any
    }

    /// What the group of a root has gained, and what it pushed against; as summed up last.
    pub(crate) fn gain(&self, root: usize) -> (f64, Support) {
        (self.sums[root].gain, self.support[root])
    }

    /// Whether prescribed bodies worked on the group of a root at contacts that could not be met; as summed up last.
    pub(crate) fn is_forced(&self, root: usize) -> bool {
        self.sums[root].forced > 0.0
    }

    /// A group that prescribed bodies worked on has been slowed down to the motion of what carries it: what is left of their work it has by
    /// going along, and that was put in.
    pub(crate) fn admit(&mut self, root: usize) {
        let sum = &mut self.sums[root];
        sum.gain = (sum.gain - sum.forced.max(0.0)).max(0.0);
    }

    /// How many slots there are to ask about.
    pub(crate) fn slots(&self) -> usize {
        self.sums.len()
    }

    /// Energy was taken from a group that had gained: what contacts and joints made goes out of their accounts [J].
    pub(crate) fn relieve(&mut self, root: usize, energy: f64, ledger: &mut EnergyLedger) {
        let sum = &mut self.sums[root];
        sum.gain = (sum.gain - energy).max(0.0);
        take_out(sum, energy, ledger);
    }

    /// The substep is over: books what every group has gained, as summed up last. What contacts made is taken out of their account; what a
    /// smooth motion on joints lends itself, up to the known error of a leapfrog, is the method's own doing.
    pub(crate) fn close(&mut self, ledger: &mut EnergyLedger) {
        for sum in &mut self.sums {
            ledger.numerical_damping -= sum.lent;
            if sum.gain > 0.0 {
                ledger.gained += sum.gain;
                take_out(sum, sum.gain, ledger);
            }
            // What a contact lends the first stage it gets back in the second; in a stiff medium that takes it instead.
            let lent = sum.drag.min(-sum.taken).max(0.0);
            ledger.restitution += lent;
            ledger.drag -= lent;
        }
    }
}

/// Takes energy that was made out of the accounts of prescribed bodies that crush others, where it stands as work, and of contacts and
/// joints, where it stands as a negative loss.
fn take_out(sum: &mut Sum, energy: f64, ledger: &mut EnergyLedger) {
    let forced = energy.min(sum.forced).max(0.0);
    ledger.prescribed -= forced;
    sum.forced -= forced;
    let energy = energy - forced;
    let contacts = energy.min(-sum.taken).max(0.0);
    let joints = (energy - contacts).min(-sum.taken_by_joints).max(0.0);
    ledger.restitution += contacts;
    ledger.shock += joints;
    sum.taken += contacts;
    sum.taken_by_joints += joints;
}
