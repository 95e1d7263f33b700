//! The step in two halves: impulses at t make positions right at t + h, impulses at t + h make velocities right there.
//!
//! Reads: Model, State.  Writes: State, Work, StepReport, each phase as its file says.
//! Called by: the methods that step in two stages; each has its own recipe and its own solves.
//! Source: docs/methods/contract.md, "Time and velocity"; docs/methods/two-stage.md.

pub(crate) mod arrival;
pub(crate) mod book;
pub(crate) mod bounce;
pub(crate) mod depenetrate;
pub(crate) mod finish;
pub(crate) mod flights;
pub(crate) mod gather;
pub(crate) mod guard;
pub(crate) mod impacts;
pub(crate) mod joint_network;
pub(crate) mod joint_targets;
pub(crate) mod joints;
pub(crate) mod misfit;
pub(crate) mod parallel;
pub(crate) mod predict;
pub(crate) mod relinearise;
pub(crate) mod rest;
pub(crate) mod servos;
pub(crate) mod springs;
pub(crate) mod substeps;
pub(crate) mod targets;
pub(crate) mod trees;

use crate::solver::choose;
use crate::solver::contact::ContactRow;
use crate::solver::effort::Effort;
use crate::solver::ends::Bodies;
use crate::solver::joint::JointBlock;
use crate::solver::sweep;
use gather::StepContact;
use std::ops::Range;

/// What the phases of a substep need of a method's parameters; documented there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Cost and exactness of the solves.
    pub solve: choose::Settings,
    /// Part of the remaining depth that the pose-only pass removes in one step [1].
    pub depenetration: f64,
    /// Depth the pose-only pass leaves alone [m].
    pub slop: f64,
    /// Start each solve from the impulses of the last step.
    pub warm_start: bool,
}

/// Where an island's rows and links are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Island {
    pub rows: Range<usize>,
    pub joint_blocks: Range<usize>,
    /// Whether an island with joints can be solved directly.
    pub direct: bool,
    /// Part of the joints' remembered impulses that a solve starts from.
    pub kept: f64,
    /// Whether nothing new touches, so that remembered impulses tell where it goes. Written by `joints::first_links`.
    pub old: bool,
    /// What the core has cost it, and what it may cost in the substep. Written by `method::sequential`.
    pub effort: Effort,
    pub allowed: choose::Allowance,
    /// Whether an articulation takes part.
    pub trees: bool,
    /// An island that may be solved as a net of joints, and whether it is: then its joints are there, and it has no links.
    pub net: Option<Box<joint_network::Net>>,
    pub netted: bool,
}

impl Island {
    /// The net of joints that it is.
    pub(crate) fn as_net(&self) -> Option<&joint_network::Net> {
        self.net.as_deref().filter(|_| self.netted)
    }

    /// A copy without the scratch of a net.
    pub(crate) fn plain(&self) -> Self {
        Self {
            rows: self.rows.clone(),
            joint_blocks: self.joint_blocks.clone(),
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
    /// One for each contact, grouped by island. Written by `targets::gather`, completed phase by phase.
    pub step_contacts: Vec<StepContact>,
    /// By contact: its place in the memory of the last step.
    pub remembered: Vec<u32>,
    /// Joint slots before they were grouped by island.
    pub ungrouped: Vec<u32>,
    /// Pairs that touch at the end of the part.
    pub touching: Vec<crate::state::PairKey>,
    /// Positions of the links, by joint slot.
    pub by_joint: Vec<u32>,
    /// One for each touch, rebuilt for each solve.
    pub rows: Vec<ContactRow>,
    /// Links of the pose-only pass.
    pub pulls: Vec<JointBlock>,
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
    /// What they aimed at before that.
    pub aims_before: Vec<(f64, [f64; 2])>,
    /// Scratch of sweeps outside lanes.
    pub sweeps: sweep::Sweeps,
    /// What each thread works with; the first works on the arrays above.
    pub workers: Vec<parallel::Worker>,
    /// One for each joint, grouped by island, rebuilt for each solve.
    pub joint_blocks: Vec<JointBlock>,
    /// Rows and links of each island.
    pub islands: Vec<Island>,
    /// Scratch of nets, while islands are grouped.
    #[allow(clippy::vec_box, reason = "they go to islands and back as they are")]
    pub nets: Vec<Box<joint_network::Net>>,
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
    /// By slot: how fast a body would be at the end of the substep if nothing touched it, surface and all [m/s]. Written by `joints`.
    pub free_speeds: Vec<f64>,
    /// By place among the joints: how far each may be apart and still fit [m] or [rad].
    pub allowances: Vec<f64>,
    /// Slots of the bodies of an island, while the guard looks at it.
    pub ends: Vec<u32>,
    /// Whether the method is carried out as it is written down, whatever it makes.
    pub unguarded: bool,
    /// Whether the guard takes back what smooth motion on contacts gains as well, substep by substep.
    pub strict: bool,
    /// Number of the last count.
    pub look: u32,
    /// By slot: the states before the first kick, which is given again if the part becomes shorter.
    pub unkicked: Vec<crate::BodyState>,
    /// By slot: mean velocity of a prescribed body over the substep, less the mean of its velocities at both ends. Empty if none strays.
    pub stray: Vec<crate::solver::ends::SolverBody>,
    /// By slot: velocities before the kicks of springs, for the ledger.
    pub unsprung: Vec<crate::solver::ends::SolverBody>,
}
