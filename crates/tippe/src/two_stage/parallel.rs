//! Islands on threads: each island is solved by one lane, which has its own copy of what islands share.
//!
//! Reads: rows, links, touches, islands.  Writes: the same, solver bodies, work counts.
//! Called by: the solves of the methods that step in two stages.
//! Source: docs/conventions.md, "Same bits": islands share no body of finite mass, so it does not matter who solves which and when.

use crate::interrupt;
use crate::report::SolverWork;
use crate::solver::contact::ContactRow;
use crate::solver::ends::Bodies;
use crate::solver::ends::SolverBody;
use crate::solver::joint::JointBlock;
use crate::solver::sweep::Sweeps;
use crate::state::BodyState;
use crate::two_stage::gather::StepContact;
use crate::two_stage::{Island, Scratch};
use rayon::ThreadPool;

/// Rows and links below which a solve is not worth a second thread.
const WORTH: usize = 64;
/// Contacts that one joint counts for when islands are dealt out.
const JOINT_LOAD: usize = 8;

/// What one thread works with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worker {
    /// By slot: velocities and response.
    pub bodies: Bodies,
    /// By slot: where bodies would go.
    pub predicted: Vec<BodyState>,
    pub sweeps: Sweeps,
    /// Bodies already looked ahead for, marked by the number of the look.
    pub looked: Vec<u32>,
    pub look: u32,
    /// Whether all joints that could be solved directly met.
    pub met: bool,
    pub work: SolverWork,
}

/// One island to solve.
pub(crate) struct IslandView<'a> {
    pub island: &'a mut Island,
    pub step_contacts: &'a mut [StepContact],
    pub rows: &'a mut [ContactRow],
    pub joint_blocks: &'a mut [JointBlock],
}

/// Solves every island by `solve`, on the threads of the pool if there is one. Counts and verdicts are gathered into the scratch and `work`.
pub(crate) fn run(
    pool: Option<&ThreadPool>,
    scratch: &mut Scratch,
    predicted: &mut Vec<BodyState>,
    work: &mut SolverWork,
    solve: impl Fn(&mut Worker, &mut IslandView<'_>) + Sync,
) {
    let Scratch {
        bodies,
        step_contacts,
        rows,
        joint_blocks,
        islands,
        workers,
        met,
        ..
    } = scratch;
    let count = pool
        .filter(|_| rows.len() + joint_blocks.len() + knots(islands) >= WORTH && islands.len() > 1)
        .map_or(1, ThreadPool::current_num_threads);
    workers.resize(count.max(workers.len()), Worker::default());
    for worker in workers.iter_mut() {
        worker.met = true;
        worker.work = SolverWork::default();
    }
    for island in islands.iter_mut() {
        island.trees = rows[island.rows.clone()].iter().any(|r| r.linked)
            || joint_blocks[island.joint_blocks.clone()]
                .iter()
                .any(|l| l.linked);
    }
    let islands = Islands {
        islands,
        step_contacts,
        rows,
        joint_blocks,
    };
    for worker in &mut workers[1..count] {
        worker.bodies.flat.clone_from(&bodies.flat);
        worker.predicted.clone_from(predicted);
    }
    let solve = |worker: &mut Worker, view: &mut IslandView<'_>| {
        if !interrupt::asked() {
            solve(worker, view);
        }
    };
    // The first lane has the arrays themselves.
    std::mem::swap(bodies, &mut workers[0].bodies);
    std::mem::swap(predicted, &mut workers[0].predicted);
    match pool {
        Some(pool) if count > 1 => {
            let hands = deal(islands, count);
            let mut dealt: Vec<_> = workers[..count].iter_mut().zip(hands).collect();
            pool.scope(|scope| {
                for (worker, hand) in &mut dealt {
                    let (solve, watched) = (&solve, interrupt::current());
                    scope.spawn(move |_| {
                        let _watched = interrupt::watch(watched);
                        hand.iter_mut().for_each(|i| solve(worker, i));
                    });
                }
            });
            if let Some(((first, _), others)) = dealt.split_first_mut() {
                for (worker, hand) in others {
                    hand.iter()
                        .for_each(|i| give_back(worker, i, &mut first.bodies));
                }
            }
        }
        _ => islands.for_each(|mut island| solve(&mut workers[0], &mut island)),
    }
    std::mem::swap(bodies, &mut workers[0].bodies);
    std::mem::swap(predicted, &mut workers[0].predicted);
    for worker in &workers[..count] {
        *met &= worker.met;
        work.add(&worker.work);
    }
}

/// Joints of nets.
fn knots(islands: &[Island]) -> usize {
    islands
        .iter()
        .filter_map(Island::as_net)
        .map(crate::two_stage::joint_network::Net::len)
        .sum()
}

/// Does something with one island on the caller's thread.
pub(crate) fn with_island<R>(
    scratch: &mut Scratch,
    predicted: &mut Vec<BodyState>,
    island: usize,
    act: impl FnOnce(&mut Worker, &mut IslandView<'_>) -> R,
) -> R {
    if scratch.workers.is_empty() {
        scratch.workers.push(Worker::default());
    }
    let worker = &mut scratch.workers[0];
    std::mem::swap(&mut scratch.bodies, &mut worker.bodies);
    std::mem::swap(predicted, &mut worker.predicted);
    let island = &mut scratch.islands[island];
    let (rows, joint_blocks) = (island.rows.clone(), island.joint_blocks.clone());
    let mut island = IslandView {
        island,
        step_contacts: &mut scratch.step_contacts[rows.clone()],
        rows: &mut scratch.rows[rows],
        joint_blocks: &mut scratch.joint_blocks[joint_blocks],
    };
    let result = act(worker, &mut island);
    std::mem::swap(&mut scratch.bodies, &mut worker.bodies);
    std::mem::swap(predicted, &mut worker.predicted);
    result
}

/// All islands, taken one after the other.
struct Islands<'a> {
    islands: &'a mut [Island],
    step_contacts: &'a mut [StepContact],
    rows: &'a mut [ContactRow],
    joint_blocks: &'a mut [JointBlock],
}

impl<'a> Islands<'a> {
    /// Hands out island after island; their ranges follow each other.
    fn for_each(self, mut take: impl FnMut(IslandView<'a>)) {
        let (mut step_contacts, mut rows, mut joint_blocks) =
            (self.step_contacts, self.rows, self.joint_blocks);
        for island in self.islands {
            let (mine, rest) = std::mem::take(&mut step_contacts).split_at_mut(island.rows.len());
            step_contacts = rest;
            let (my_rows, rest) = std::mem::take(&mut rows).split_at_mut(island.rows.len());
            rows = rest;
            let (my_links, rest) =
                std::mem::take(&mut joint_blocks).split_at_mut(island.joint_blocks.len());
            joint_blocks = rest;
            take(IslandView {
                island,
                step_contacts: mine,
                rows: my_rows,
                joint_blocks: my_links,
            });
        }
    }
}

/// Deals islands out: each goes to the hand with the least load so far, those with articulations to the first, which has their trees.
fn deal(islands: Islands<'_>, count: usize) -> Vec<Vec<IslandView<'_>>> {
    let mut hands: Vec<Vec<IslandView<'_>>> = (0..count).map(|_| Vec::new()).collect();
    let mut loads = vec![0; count];
    islands.for_each(|view| {
        let mut least = 0;
        for (k, load) in loads.iter().enumerate() {
            if *load < loads[least] && !view.island.trees {
                least = k;
            }
        }
        let knots = view
            .island
            .as_net()
            .map_or(0, crate::two_stage::joint_network::Net::len);
        loads[least] += view.rows.len() + JOINT_LOAD * (view.joint_blocks.len() + knots);
        hands[least].push(view);
    });
    hands
}

/// Takes the velocities of an island's bodies back from the lane that solved it.
fn give_back(worker: &Worker, view: &IslandView<'_>, bodies: &mut [SolverBody]) {
    let ends = view.rows.iter().map(|r| [r.a, r.b]);
    let netted = view.island.as_net().map_or(&[][..], |n| n.bodies());
    for slot in ends
        .chain(view.joint_blocks.iter().map(|l| [l.a, l.b]))
        .flatten()
        .chain(netted.iter().copied())
    {
        let slot = slot as usize;
        if bodies[slot].inverse_mass > 0.0 {
            bodies[slot] = worker.bodies[slot];
        }
    }
}
