//! The balance of energy of bodies that exchange impulses: what a substep added to them beyond the work put in is `gained`.
//!
//! Reads: Model, State at both ends of a substep, works as they are booked.  Writes: `gained` of the ledger.
//! Called by: the methods and phases that book work; closed once a substep.
//! Source: docs/methods/contract.md, "The certificate". `P · ½(u⁻ + u⁺)` is exact for any impulse P and so explains wrong ones too; a
//! resting contact lends energy to the first half of a substep and takes it back in the second. Hence whole groups, whole substeps.

use crate::dynamics::energy;
use crate::math::Vec3;
use crate::model::{Body, Model};
use crate::report::EnergyLedger;
use crate::state::{BodyState, State};

/// Energy that a smooth motion on joints gains or loses for a while, relative to turnover and to the square of the turn of its stiffest
/// mode in a substep [1/rad²]: the leading error of a leapfrog is (ωh)²/12 of what it exchanges.
const SMOOTH: f64 = 1.0 / 12.0;
/// Turn beyond which no such loan is given [rad]: twice what a substep may take.
const SMOOTH_TURN: f64 = 1.4;
/// Rounding of energies, relative to what was summed up [1].
const ENERGY_ROUNDING: f64 = 1e-13;

/// Energy gained in a substep that the guard leaves alone, relative to the energies of a group [1]: contacts that roll and turn err by the square
/// of the step, and what they lend in one step they take back in another. The ledger shows it as gained all the same.
const LEFT_ALONE: f64 = 1e-4;

/// Mean motion of a prescribed body over a substep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MeanMotion {
    /// Velocity of its centre and angular velocity [m/s], [rad/s].
    pub v: Vec3,
    pub w: Vec3,
    /// Mean of the velocities at both ends less that of the way [m/s]: what a leapfrog on it lends and takes back.
    pub bend: f64,
    /// Part of the speed of turning that the same makes of an arc [1].
    pub arc: f64,
}

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
    /// By slot: whether a body exchanged an impulse at all, whether a joint did that, and whether the other side was no body that moves.
    touched: Vec<bool>,
    jointed: Vec<bool>,
    anchored: Vec<bool>,
    /// By slot: whether one of its joints is apart or was not met, so that nothing about it is smooth.
    rough: Vec<bool>,
    /// By slot: what may be lent for a while beyond that of joints [J].
    lent: Vec<f64>,
    /// By slot: how prescribed bodies move.
    means: Vec<MeanMotion>,
    /// What joints and limits took so far, by slot [J].
    taken_by_joints: Vec<f64>,
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
    /// Changes of kinetic and potential energy, by size.
    turnover: f64,
    /// What was summed up, by size.
    size: f64,
    /// Kinetic energies at both ends, and weight times size: what gains are measured by.
    scale: f64,
    /// What may be lent.
    lent: f64,
    /// Whether a tree takes part.
    linked: bool,
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
        for marks in [
            &mut self.touched,
            &mut self.jointed,
            &mut self.anchored,
            &mut self.rough,
        ] {
            marks.clear();
            marks.resize(slots, false);
        }
        for sums in [&mut self.taken_by_joints, &mut self.lent] {
            sums.clear();
            sums.resize(slots, 0.0);
        }
        self.parent.clear();
        self.parent
            .extend((0..slots as u32).map(|i| model.node_of(i)));
    }

    /// How prescribed bodies move from where they are to where they will be after `h`.
    pub(crate) fn prescribe(
        &mut self,
        model: &Model,
        now: &[BodyState],
        then: &[BodyState],
        h: f64,
    ) {
        self.means.clear();
        self.means.resize(now.len(), MeanMotion::default());
        for (i, body) in model.present().filter(|(_, b)| !b.is_awake()) {
            let (s, e) = (&now[i], &then[i]);
            if body.mass > 0.0
                || (s.velocity == Vec3::ZERO
                    && s.angular_velocity == Vec3::ZERO
                    && e.velocity == Vec3::ZERO)
            {
                continue;
            }
            let v = (e.position - s.position) / h;
            let w = 0.5 * (s.angular_velocity + e.angular_velocity);
            self.means[i] = MeanMotion {
                v,
                w,
                bend: (0.5 * (s.velocity + e.velocity) - v).length(),
                arc: SMOOTH * w.length_squared() * h * h,
            };
        }
    }

    /// How a prescribed body moves over the substep.
    pub(crate) fn mean_motion(&self, slot: u32) -> MeanMotion {
        self.means.get(slot as usize).copied().unwrap_or_default()
    }

    /// One of the joints of a body is apart or was not met.
    pub(crate) fn roughen(&mut self, ends: [u32; 2]) {
        for slot in ends {
            if let Some(rough) = self.rough.get_mut(slot as usize) {
                *rough = true;
            }
        }
    }

    /// Energy that a group may borrow for a while [J].
    pub(crate) fn lend(&mut self, model: &Model, ends: [u32; 2], amount: f64) {
        for slot in ends {
            if model.is_awake(slot)
                && let Some(lent) = self.lent.get_mut(slot as usize)
            {
                *lent += amount;
            }
        }
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
        if moves(a) && moves(b) {
            let (a, b) = (self.root(a), self.root(b));
            self.parent[a.max(b) as usize] = a.min(b);
        } else if let Some(anchored) = self.anchored.get_mut(slot as usize) {
            *anchored = true;
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

    /// Sums up every group, with the energies of bodies after the substep.
    fn tally(&mut self, model: &Model, after: impl Fn(usize, &Body) -> (f64, f64)) {
        self.sums.clear();
        self.sums.resize(self.start.len(), Sum::default());
        let g = model.gravity.length();
        for (i, body) in model.present().filter(|(_, b)| b.is_awake()) {
            let (kinetic, potential) = after(i, body);
            let (kinetic_start, potential_start) = self.start[i];
            let root = self.root(i as u32) as usize;
            self.jointed[root] |= self.jointed[i];
            self.touched[root] |= self.touched[i];
            self.anchored[root] |= self.anchored[i];
            self.rough[root] |= self.rough[i];
            let reach = if body.reach.is_finite() {
                body.reach
            } else {
                0.0
            };
            let sum = &mut self.sums[root];
            sum.balance += kinetic + potential - (kinetic_start + potential_start) - self.work[i];
            sum.taken += self.taken[i];
            sum.taken_by_joints += self.taken_by_joints[i];
            sum.turnover += (kinetic - kinetic_start).abs() + (potential - potential_start).abs();
            let start = kinetic_start + potential_start.abs();
            sum.size += kinetic + potential.abs() + start + self.work[i].abs();
            sum.scale += kinetic_start + body.mass * body.gravity_scale.abs() * g * reach;
            sum.lent += self.lent[i];
            sum.linked |= model.is_link(i as u32);
        }
    }

    /// What a group gained beyond rounding and what smooth motion on joints and prescribed bodies lends itself; 0 if nothing. `turn` is
    /// how far the stiffest mode of a joint turned in the substep [rad].
    fn gain(&self, root: usize, turn: f64) -> f64 {
        let sum = &self.sums[root];
        // What turns farther than a substep may is not smooth, and has nothing to borrow.
        let smooth = if self.jointed[root] && !self.rough[root] && turn <= SMOOTH_TURN {
            SMOOTH * turn * turn
        } else {
            0.0
        };
        let allowed = ENERGY_ROUNDING * sum.size + smooth * sum.turnover + sum.lent;
        // Errors of free flight alone are no gain of impulses: they stay unexplained.
        if !self.touched[root] || sum.balance <= allowed {
            return 0.0;
        }
        sum.balance
    }

    /// The gain of every group worth acting on, by the slot of its root [J]; groups with trees are left alone.
    pub(crate) fn gains(
        &mut self,
        model: &Model,
        turn: f64,
        after: impl Fn(usize, &Body) -> (f64, f64),
        out: &mut Vec<f64>,
    ) -> bool {
        self.tally(model, after);
        out.clear();
        out.resize(self.sums.len(), 0.0);
        let mut any = false;
        for root in 0..self.sums.len() {
            let gain = self.gain(root, turn);
            let sum = &self.sums[root];
            let put_in = sum.turnover.min((sum.balance - sum.turnover).abs());
            // What is not a number is no small gain.
            if gain != 0.0 && !sum.linked && !(gain <= LEFT_ALONE * (sum.scale + put_in)) {
                out[root] = gain;
                any = true;
            }
        }
        any
    }

    /// Whether a group leans on something that does not give way.
    pub(crate) fn is_anchored(&self, root: usize) -> bool {
        self.anchored[root]
    }

    /// Energy that a group had made was taken from it again: contacts and joints are relieved of what they never did, the rest is damping.
    pub(crate) fn relieve(&mut self, root: usize, amount: f64, ledger: &mut EnergyLedger) {
        let sum = &mut self.sums[root];
        let contacts = amount.min(-sum.taken).max(0.0);
        let joints = (amount - contacts).min(-sum.taken_by_joints).max(0.0);
        ledger.restitution += contacts;
        ledger.shock += joints;
        ledger.numerical_damping += amount - contacts - joints;
        self.taken[root] += contacts;
        self.taken_by_joints[root] += joints;
    }

    /// The substep is over: books the positive part of every group's balance. What contacts made is taken out of their account; what a
    /// smooth motion on joints lends itself stays unexplained. `turn` is how far the stiffest mode of a joint turned in the substep [rad].
    pub(crate) fn close(
        &mut self,
        model: &Model,
        state: &State,
        turn: f64,
        ledger: &mut EnergyLedger,
    ) {
        self.tally(model, |i, body| energies(model, state, i, body));
        for root in 0..self.sums.len() {
            let gain = self.gain(root, turn);
            if gain == 0.0 {
                continue;
            }
            let sum = &self.sums[root];
            ledger.gained += gain;
            let contacts = gain.min(-sum.taken).max(0.0);
            ledger.restitution += contacts;
            ledger.shock += (gain - contacts).min(-sum.taken_by_joints).max(0.0);
        }
    }
}

/// Kinetic and potential energy of a body, with the drives of a link's joint [J].
pub(crate) fn energies(model: &Model, state: &State, slot: usize, body: &Body) -> (f64, f64) {
    (
        energy::kinetic_of(model, state, slot, body),
        energy::potential(body, &state.bodies[slot], model.gravity),
    )
}
