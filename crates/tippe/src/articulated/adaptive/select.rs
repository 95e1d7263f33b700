//! Which joints move: pieces are opened from the whole inwards, those with the greatest measure first, and the joints
//! that turn out to have the greatest scores are let go, until the budget is spent or the rest is small enough.
//!
//! Reads: `Assembly`.  Writes: `Chosen`.
//! Called by: `body`, `impact`.
//! Source: [Redon05]. The sum over what stays closed, and over open pieces whose joint stays locked, is exactly the sum
//! over the joints left locked, because the measure of a piece is that of its joint and of its two parts. There the
//! joints of all open pieces move; here only those that are worth it, so that the way to a joint deep in the assembly
//! costs nothing of the budget. Visits O(m log n) pieces for m of n joints.

use std::collections::BinaryHeap;

use super::assembly::{Assembly, freedoms};
use super::desc::Choice;
use super::join::{Bias, Inside, inside};
use super::metric::{Affine, Judge, own};
use super::plan::{NONE, Plan};
use crate::articulated::model::Model;
use crate::articulated::six::{Six, apply_transposed, plus};

/// A joint that moves counts this many times as much as one that is locked: both must not take turns [1].
const HYSTERESIS: f64 = 2.0;

/// Places of pieces in a list, and the list: the bias and the measure of the pieces that contain a struck link.
pub(super) type Struck<'a> = (&'a [u32], &'a [(Bias, Affine)]);

/// What acts on the tree: the forces of the state, or test impulses.
pub(super) struct Field<'a> {
    pub judge: Judge,
    /// Acceleration of the world.
    pub world: Six,
    /// Biases and measures of pieces under impulses, by place in `slots`; `None` for the state.
    pub impulses: Option<Struck<'a>>,
}

impl Field<'_> {
    fn bias(&self, assembly: &Assembly, i: usize) -> (Bias, Affine) {
        match self.impulses {
            None => (assembly.biases[i], assembly.affines[i]),
            Some((slots, list)) => list.get(slots[i] as usize).copied().unwrap_or_default(),
        }
    }
}

/// Which pieces of the assembly are open, and which of their joints move. Whatever contains a joint that moves is open;
/// the joint of an open piece may be locked all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Region {
    /// By node of the plan.
    pub open: Vec<bool>,
    pub moves: Vec<bool>,
}

impl Region {
    /// Everything closed.
    pub fn closed(plan: &Plan) -> Self {
        Self {
            open: vec![false; plan.nodes.len()],
            moves: vec![false; plan.nodes.len()],
        }
    }

    /// Lets the joint of a model node move.
    pub fn release(&mut self, plan: &Plan, node: u32) {
        let mut at = plan.closed_by[node as usize];
        self.moves[at as usize] = true;
        while at != NONE && !self.open[at as usize] {
            self.open[at as usize] = true;
            at = plan.nodes[at as usize].parent;
        }
    }

    /// What is open or moves in either.
    pub fn union(&self, other: &Self) -> Self {
        let either = |a: &[bool], b: &[bool]| a.iter().zip(b).map(|(a, b)| *a || *b).collect();
        Self {
            open: either(&self.open, &other.open),
            moves: either(&self.moves, &other.moves),
        }
    }
}

/// A closed piece and what happens at its handles, or the joint of an open one.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: f64,
    measure: f64,
    node: u32,
    joint: bool,
    a: Six,
    f: Six,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = self.key.total_cmp(&other.key);
        key.then(self.joint.cmp(&other.joint))
            .then(other.node.cmp(&self.node))
    }
}

/// The outcome of a choice.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub region: Region,
    /// Joints that move.
    pub joints: usize,
    /// Sum of `w r²` over the joints left locked, and over all.
    pub residual: f64,
    pub total: f64,
    /// Pieces whose measure was computed.
    pub visited: usize,
}

/// Lets joints move. `must` move first, whatever they measure; `now` are those that move now.
///
/// A piece measures at least what any joint inside it does, so joints come up in the order of their own scores: the ones
/// that move are those with the greatest, wherever in the tree they are.
pub(super) fn choose(
    model: &Model,
    assembly: &Assembly,
    field: &Field,
    choice: Choice,
    must: &Region,
    now: &Region,
) -> Chosen {
    let root = assembly.plan.root();
    let mut out = Chosen {
        region: Region::closed(&assembly.plan),
        joints: 0,
        residual: 0.0,
        total: 0.0,
        visited: 0,
    };
    let mut heap = BinaryHeap::new();
    let mut first = Vec::new();
    let whole = closed(assembly, field, now, root, field.world, [0.0; 6], &mut out);
    (out.total, out.residual) = (whole.measure, whole.measure);
    first.push(whole);
    while let Some(e) = first.pop() {
        let i = e.node as usize;
        if e.joint && must.moves[i] {
            out.release(&assembly.plan, &e);
        } else if !e.joint && must.open[i] {
            first.extend(open(model, assembly, field, now, &e, &mut out));
        } else {
            heap.push(e);
        }
    }
    while let Some(top) = heap.peek() {
        let enough = match choice {
            Choice::Joints(m) => out.joints >= m,
            Choice::Error(e) => {
                let i = top.node as usize;
                let moves = if top.joint { now.moves[i] } else { now.open[i] };
                out.residual <= e && !(moves && out.residual > e / HYSTERESIS)
            }
        };
        if enough {
            break;
        }
        match heap.pop() {
            Some(e) if e.joint => out.release(&assembly.plan, &e),
            Some(e) => heap.extend(open(model, assembly, field, now, &e, &mut out)),
            None => break,
        }
    }
    // The sum of what is left has more digits than the total less what was taken.
    let mut left: Vec<(u32, bool, f64)> =
        heap.iter().map(|e| (e.node, e.joint, e.measure)).collect();
    left.sort_unstable_by_key(|x| (x.0, x.1));
    out.residual = left.iter().fold(0.0, |s, x| s + x.2);
    out
}

impl Chosen {
    fn release(&mut self, plan: &Plan, e: &Entry) {
        self.region.release(plan, plan.nodes[e.node as usize].joint);
        self.joints += 1;
        self.residual -= e.measure;
    }
}

/// A piece with given handles, measured.
fn closed(
    assembly: &Assembly,
    field: &Field,
    now: &Region,
    i: usize,
    a: Six,
    f: Six,
    out: &mut Chosen,
) -> Entry {
    let (_, l) = field.bias(assembly, i);
    let measure = field.judge.measure(&assembly.quadratics[i], &l, &a, &f);
    out.visited += 1;
    let stays = if now.open[i] { HYSTERESIS } else { 1.0 };
    Entry {
        key: measure * stays,
        measure,
        node: i as u32,
        joint: false,
        a,
        f,
    }
}

/// Opens a piece: its joint can be let go, and its parts that are not links are closed pieces of their own.
fn open(
    model: &Model,
    assembly: &Assembly,
    field: &Field,
    now: &Region,
    e: &Entry,
    out: &mut Chosen,
) -> impl Iterator<Item = Entry> + use<> {
    let i = e.node as usize;
    let (p, l, r) = assembly.parts(i);
    let mut parts = [None, None, None];
    if !p.is_leaf() {
        let (bias, _) = field.bias(assembly, i);
        let x = enter(assembly, i, &bias, &e.a, &e.f);
        if p.joint != 0 {
            let at = freedoms(model, &p);
            let (w, v) = (&assembly.weights[at.clone()], &assembly.rates[at]);
            let measure = own(field.judge, &x.0, w, v);
            let stays = if now.moves[i] { HYSTERESIS } else { 1.0 };
            parts[0] = Some(Entry {
                key: measure * stays,
                measure,
                joint: true,
                ..*e
            });
        }
        for (k, (j, a, f)) in [(l, e.a, x.1), (r, x.0.base, x.2)].into_iter().enumerate() {
            if !assembly.plan.nodes[j].is_leaf() {
                parts[k + 1] = Some(closed(assembly, field, now, j, a, f, out));
            }
        }
    }
    parts.into_iter().flatten()
}

/// What moves inside a piece, and the forces on the tips of its parts.
pub(super) fn enter(
    assembly: &Assembly,
    i: usize,
    bias: &Bias,
    a: &Six,
    f: &Six,
) -> (Inside, Six, Six) {
    let (p, l, r) = assembly.parts(i);
    let join = &assembly.joins[i];
    let (left, right) = (&assembly.handles[l], &assembly.handles[r]);
    let x = inside(join, left, right, bias, p.side, a, f);
    let back = apply_transposed(&join.X, &x.force);
    if p.side {
        (x, plus(f, &back, -1.0), [0.0; 6])
    } else {
        (x, plus(&[0.0; 6], &back, -1.0), *f)
    }
}
