//! Islands on threads: each island is solved by one lane, which has its own copy of what islands share.
//!
//! Reads: rows, links, touches, islands.  Writes: the same, solver bodies, work counts.
//! Called by: the solves of the methods that step in two halves.
//! Source: docs/conventions.md, "Same bits": islands share no body of finite mass, so it does not matter who solves which and when.

use super::link::Link;
use super::row::{Row, SolverBody};
use super::sweep::Sweeps;
use super::touch::Touch;
use super::trees::Bodies;
use super::{Part, Scratch};
use crate::report::SolverWork;
use crate::state::BodyState;
use rayon::ThreadPool;

/// Rows and links below which a solve is not worth a second thread.
const WORTH: usize = 64;
/// Contacts that one joint counts for when islands are dealt out.
const LINK_LOAD: usize = 8;

/// What one thread works with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
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
pub(crate) struct Island<'a> {
    pub part: &'a mut Part,
    pub touches: &'a mut [Touch],
    pub rows: &'a mut [Row],
    pub links: &'a mut [Link],
}

/// Solves every island by `solve`, on the threads of the pool if there is one. Counts and verdicts are gathered into the scratch and `work`.
pub(crate) fn run(
    pool: Option<&ThreadPool>,
    scratch: &mut Scratch,
    predicted: &mut Vec<BodyState>,
    work: &mut SolverWork,
    solve: impl Fn(&mut Lane, &mut Island<'_>) + Sync,
) {
    let Scratch {
        bodies,
        touches,
        rows,
        links,
        parts,
        lanes,
        met,
        ..
    } = scratch;
    let count = pool
        .filter(|_| rows.len() + links.len() + knots(parts) >= WORTH && parts.len() > 1)
        .map_or(1, ThreadPool::current_num_threads);
    lanes.resize(count.max(lanes.len()), Lane::default());
    for lane in lanes.iter_mut() {
        lane.met = true;
        lane.work = SolverWork::default();
    }
    for part in parts.iter_mut() {
        part.trees = rows[part.rows.clone()].iter().any(|r| r.linked)
            || links[part.links.clone()].iter().any(|l| l.linked);
    }
    let islands = Islands {
        parts,
        touches,
        rows,
        links,
    };
    for lane in &mut lanes[1..count] {
        lane.bodies.flat.clone_from(&bodies.flat);
        lane.predicted.clone_from(predicted);
    }
    // The first lane has the arrays themselves.
    std::mem::swap(bodies, &mut lanes[0].bodies);
    std::mem::swap(predicted, &mut lanes[0].predicted);
    match pool {
        Some(pool) if count > 1 => {
            let hands = deal(islands, count);
            let mut dealt: Vec<_> = lanes[..count].iter_mut().zip(hands).collect();
            pool.scope(|scope| {
                for (lane, hand) in &mut dealt {
                    let solve = &solve;
                    scope.spawn(move |_| hand.iter_mut().for_each(|i| solve(lane, i)));
                }
            });
            if let Some(((first, _), others)) = dealt.split_first_mut() {
                for (lane, hand) in others {
                    hand.iter()
                        .for_each(|i| give_back(lane, i, &mut first.bodies));
                }
            }
        }
        _ => islands.for_each(|mut island| solve(&mut lanes[0], &mut island)),
    }
    std::mem::swap(bodies, &mut lanes[0].bodies);
    std::mem::swap(predicted, &mut lanes[0].predicted);
    for lane in &lanes[..count] {
        *met &= lane.met;
        work.add(&lane.work);
    }
}

/// Joints of nets.
fn knots(parts: &[Part]) -> usize {
    parts
        .iter()
        .filter_map(Part::as_net)
        .map(super::net::Net::len)
        .sum()
}

/// Does something with one island on the caller's thread.
pub(crate) fn with_island<R>(
    scratch: &mut Scratch,
    predicted: &mut Vec<BodyState>,
    island: usize,
    act: impl FnOnce(&mut Lane, &mut Island<'_>) -> R,
) -> R {
    if scratch.lanes.is_empty() {
        scratch.lanes.push(Lane::default());
    }
    let lane = &mut scratch.lanes[0];
    std::mem::swap(&mut scratch.bodies, &mut lane.bodies);
    std::mem::swap(predicted, &mut lane.predicted);
    let part = &mut scratch.parts[island];
    let (rows, links) = (part.rows.clone(), part.links.clone());
    let mut island = Island {
        part,
        touches: &mut scratch.touches[rows.clone()],
        rows: &mut scratch.rows[rows],
        links: &mut scratch.links[links],
    };
    let result = act(lane, &mut island);
    std::mem::swap(&mut scratch.bodies, &mut lane.bodies);
    std::mem::swap(predicted, &mut lane.predicted);
    result
}

/// All islands, taken one after the other.
struct Islands<'a> {
    parts: &'a mut [Part],
    touches: &'a mut [Touch],
    rows: &'a mut [Row],
    links: &'a mut [Link],
}

impl<'a> Islands<'a> {
    /// Hands out island after island; their ranges follow each other.
    fn for_each(self, mut take: impl FnMut(Island<'a>)) {
        let (mut touches, mut rows, mut links) = (self.touches, self.rows, self.links);
        for part in self.parts {
            let (mine, rest) = std::mem::take(&mut touches).split_at_mut(part.rows.len());
            touches = rest;
            let (my_rows, rest) = std::mem::take(&mut rows).split_at_mut(part.rows.len());
            rows = rest;
            let (my_links, rest) = std::mem::take(&mut links).split_at_mut(part.links.len());
            links = rest;
            take(Island {
                part,
                touches: mine,
                rows: my_rows,
                links: my_links,
            });
        }
    }
}

/// Deals islands out: each goes to the hand with the least load so far, those with articulations to the first, which has their trees.
fn deal(islands: Islands<'_>, count: usize) -> Vec<Vec<Island<'_>>> {
    let mut hands: Vec<Vec<Island<'_>>> = (0..count).map(|_| Vec::new()).collect();
    let mut loads = vec![0; count];
    islands.for_each(|island| {
        let mut least = 0;
        for (k, load) in loads.iter().enumerate() {
            if *load < loads[least] && !island.part.trees {
                least = k;
            }
        }
        let knots = island.part.as_net().map_or(0, super::net::Net::len);
        loads[least] += island.rows.len() + LINK_LOAD * (island.links.len() + knots);
        hands[least].push(island);
    });
    hands
}

/// Takes the velocities of an island's bodies back from the lane that solved it.
fn give_back(lane: &Lane, island: &Island<'_>, bodies: &mut [SolverBody]) {
    let ends = island.rows.iter().map(|r| [r.a, r.b]);
    let netted = island.part.as_net().map_or(&[][..], |n| n.bodies());
    for slot in ends
        .chain(island.links.iter().map(|l| [l.a, l.b]))
        .flatten()
        .chain(netted.iter().copied())
    {
        let slot = slot as usize;
        if bodies[slot].inverse_mass > 0.0 {
            bodies[slot] = lane.bodies[slot];
        }
    }
}
