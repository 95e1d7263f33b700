//! The step in two halves: impulses at t make positions right at t + h, impulses at t + h make velocities right there.
//!
//! Reads: Model, State.  Writes: State, Work, StepReport, each phase as its file says.
//! Called by: the methods that step in two halves; each has its own recipe and its own solves.
//! Source: docs/methods.md, "Time and velocity".

pub(crate) mod begin;
pub(crate) mod book;
pub(crate) mod bounce;
mod cone;
pub(crate) mod dense;
pub(crate) mod depenetrate;
pub(crate) mod direct;
pub(crate) mod finish;
pub(crate) mod forest;
pub(crate) mod hold;
pub(crate) mod joints;
mod knot;
pub(crate) mod lane;
pub(crate) mod link;
pub(crate) mod net;
mod packed;
pub(crate) mod read_out;
pub(crate) mod row;
mod seats;
mod stiff;
pub(crate) mod sweep;
pub(crate) mod touch;
pub(crate) mod trees;

use crate::dynamics::{drag, energy, integrate};
use crate::model::Model;
use crate::report::EnergyLedger;
use crate::state::State;
use crate::work::Work;
use link::Link;
use row::Row;
use std::ops::Range;
use touch::Touch;
use trees::Bodies;

/// What the shared phases need of a method's parameters; documented there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Most sweeps (forward and backward) of an island before it is solved directly or left as it is [1].
    pub sweeps: u32,
    /// Most sweeps after that, where an island could not be solved directly [1].
    pub sweeps_last: u32,
    /// Most rounds of a direct solve [1].
    pub direct_rounds: u32,
    /// Newton steps of a direct solve of a large island [1].
    pub newton_steps: u32,
    /// Direct solves that may end without an answer before a solve goes on without them [1].
    pub direct_tries: u32,
    /// Most rounds of a direct solve over whole friction cones, for large islands [1].
    pub cone_rounds: u32,
    /// Change of velocity in a sweep below which an island counts as solved [m/s].
    pub velocity_tolerance: f64,
    /// Gap up to which a contact counts as touching [m].
    pub touching: f64,
    /// Part of the remaining depth that the pose-only pass removes in one step [1].
    pub depenetration: f64,
    /// Depth the pose-only pass leaves alone [m].
    pub slop: f64,
    /// Start each solve from the impulses of the last step.
    pub warm_start: bool,
    /// Visit the contacts of every sweep in an order drawn with this seed; `None` goes forward and backward in turn.
    pub shuffle_seed: Option<u64>,
}

/// Where an island's rows and links are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub rows: Range<usize>,
    pub links: Range<usize>,
    /// Whether an island with joints can be solved directly.
    pub direct: bool,
    /// Part of the joints' remembered impulses that a solve starts from.
    pub kept: f64,
    /// Whether nothing new touches, so that remembered impulses tell where it goes. Written by `joints::first_links`.
    pub old: bool,
    /// Whether the first solve ended at a limit. Written by `method::sequential`.
    pub stuck: bool,
    /// Whether an articulation takes part.
    pub trees: bool,
    /// An island that may be solved as a net of joints, and whether it is: then its joints are there, and it has no links.
    pub net: Option<Box<net::Net>>,
    pub netted: bool,
}

impl Part {
    /// The net of joints that it is.
    pub(crate) fn as_net(&self) -> Option<&net::Net> {
        self.net.as_deref().filter(|_| self.netted)
    }

    /// A copy without the scratch of a net.
    pub(crate) fn plain(&self) -> Self {
        Self {
            rows: self.rows.clone(),
            links: self.links.clone(),
            net: None,
            ..*self
        }
    }
}

/// Scratch of the method.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// By slot: velocities and response. Written before each solve, changed by it.
    pub bodies: Bodies,
    /// One for each contact, grouped by island. Written by `touch::gather`, completed phase by phase.
    pub touches: Vec<Touch>,
    /// By contact: its place in the memory of the last step.
    pub remembered: Vec<u32>,
    /// Joint slots before they were grouped by island.
    pub ungrouped: Vec<u32>,
    /// Pairs that touch at the end of the part.
    pub touching: Vec<crate::state::PairKey>,
    /// Positions of the links, by joint slot.
    pub by_joint: Vec<u32>,
    /// Events and forces of the whole step.
    pub read_out: read_out::ReadOut,
    /// One for each touch, rebuilt for each solve.
    pub rows: Vec<Row>,
    /// Links of the pose-only pass.
    pub pulls: Vec<Link>,
    /// Where the contacts of an island are in the pose-only pass.
    pub placed: Vec<crate::collide::Placement>,
    /// Rows of the pose-only pass.
    pub pushes: Vec<depenetrate::Push>,
    /// Rows of the pose-only pass that are not too far apart to close.
    pub nearest: Vec<u32>,
    /// Position in `touches` of each contact.
    pub places: Vec<u32>,
    /// By slot: whether a body carries a contact that was loaded in the last step.
    pub supported: Vec<bool>,
    /// By row of an island: whether the solve under way visits it.
    pub visited: Vec<bool>,
    /// Rows of an island that its solve takes in now.
    pub grown: Vec<u32>,
    /// By row of an island: what it aimed at before the last look ahead, along the normal and the tangents [m/s].
    pub aims: Vec<(f64, [f64; 2])>,
    /// Scratch of sweeps outside lanes.
    pub sweeps: sweep::Sweeps,
    /// What each thread works with; the first works on the arrays above.
    pub lanes: Vec<lane::Lane>,
    /// One for each joint, grouped by island, rebuilt for each solve.
    pub links: Vec<Link>,
    /// Rows and links of each island.
    pub parts: Vec<Part>,
    /// Scratch of nets, while islands are grouped.
    #[allow(clippy::vec_box, reason = "they go to islands and back as they are")]
    pub nets: Vec<Box<net::Net>>,
    /// Block products that a direct solve may cost for each joint; islands that cost more may be nets. Nothing: the method knows no nets.
    pub net_cost: Option<f64>,
    /// Joint slots, in the order of the links.
    pub joints: Vec<u32>,
    /// Bodies already counted on joints, marked by the number of the count.
    pub looked: Vec<u32>,
    /// Whether all joints that could be solved directly met.
    pub met: bool,
    /// Worst distance of the joints of nets from where they should be, after the last part [m] or [rad].
    pub stretch: f64,
    /// Whether closing the joints that start apart has been tried in this step, in vain.
    pub tried: bool,
    /// Number of the last count.
    pub look: u32,
    /// By slot: the states before the first kick, which is given again if the part becomes shorter.
    pub unkicked: Vec<crate::BodyState>,
}

/// Torques of the user and drag, for half a step, on every dynamic body.
pub(crate) fn kick(model: &Model, state: &mut State, half: f64, ledger: &mut EnergyLedger) {
    for (i, body) in model.present() {
        let torque = state.loads[i].torque;
        let s = &mut state.bodies[i];
        let idle = torque == crate::Vec3::ZERO && body.drag.is_none();
        if idle || !body.is_free() {
            continue;
        }
        let start = energy::kinetic(body, s);
        s.angular_velocity += integrate::torque_kick(body, s, torque, half);
        let driven = energy::kinetic(body, s);
        (s.velocity, s.angular_velocity) = drag::kick(body, s, half);
        let slowed = energy::kinetic(body, s);
        ledger.external += driven - start;
        ledger.drag += driven - slowed;
    }
    joints::kick_springs(model, state, half, ledger);
}

/// Fills `predicted`: every body at t + h if nothing touched it.
pub(crate) fn predict(model: &Model, state: &State, t: f64, h: f64, work: &mut Work) {
    work.predicted.clone_from(&state.bodies);
    for (i, body) in model.present() {
        let a = integrate::acceleration(model, body, &state.loads[i]);
        work.predicted[i] = integrate::advance(body, &state.bodies[i], a, t, h);
    }
    work.halves
        .bodies
        .predict(model, state, h, &mut work.predicted);
}

/// Moves every body for `h` from the velocities that the first solve left; books the work of the user's forces.
pub(crate) fn advance(
    model: &Model,
    state: &mut State,
    h: f64,
    work: &mut Work,
    ledger: &mut EnergyLedger,
) {
    for (i, body) in model.present() {
        let a = integrate::acceleration(model, body, &state.loads[i]);
        let start = state.bodies[i];
        if body.is_free() && work.hold.holds(i as u32) {
            // It stays where it is.
        } else if body.is_free() {
            let solved = &work.halves.bodies[i];
            let kicked = crate::BodyState {
                velocity: solved.v,
                angular_velocity: solved.w,
                ..start
            };
            state.bodies[i] = integrate::fly(body, &kicked, a, h);
            ledger.external += state.loads[i]
                .force
                .dot(state.bodies[i].position - start.position);
        } else if !body.is_awake() {
            state.bodies[i] = work.predicted[i];
        }
    }
    work.halves.bodies.advance(model, state, h, ledger);
}
