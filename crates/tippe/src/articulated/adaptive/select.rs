//! Which joints move: the pieces with the greatest measure are opened first, from the whole inwards, until the budget
//! is spent or the rest is small enough.
//!
//! Reads: `Assembly`.  Writes: `Chosen`.
//! Called by: `body`, `impact`.
//! Source: [Redon05]. The sum over what stays closed is exactly the sum over the joints left locked, because the
//! measure of a piece is that of its joint and of its two parts. Visits O(m log m) pieces for m joints.

use std::collections::BinaryHeap;

use super::assembly::{Assembly, freedoms};
use super::desc::Choice;
use super::join::{Bias, Inside, inside};
use super::metric::{Affine, Judge, own};
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

/// A closed piece and what happens at its handles.
#[derive(Clone, Copy, Debug)]
struct Closed {
    key: f64,
    measure: f64,
    node: u32,
    a: Six,
    f: Six,
}

impl PartialEq for Closed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Closed {}
impl PartialOrd for Closed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Closed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = self.key.total_cmp(&other.key);
        key.then(other.node.cmp(&self.node))
    }
}

/// The outcome of a choice.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// By node of the plan: whether it is open.
    pub split: Vec<bool>,
    /// Joints among them.
    pub joints: usize,
    /// Sum of `w r²` over the joints left locked, and over all.
    pub residual: f64,
    pub total: f64,
    /// Pieces whose measure was computed.
    pub visited: usize,
}

/// Opens pieces. `must` are opened first, whatever they measure; `now` are those that are open now.
pub(super) fn choose(
    model: &Model,
    assembly: &Assembly,
    field: &Field,
    choice: Choice,
    must: &[bool],
    now: &[bool],
) -> Chosen {
    let root = assembly.plan.root();
    let mut out = Chosen {
        split: vec![false; root + 1],
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
    while let Some(c) = first.pop() {
        if must[c.node as usize] {
            first.extend(open(model, assembly, field, now, &c, &mut out));
        } else {
            heap.push(c);
        }
    }
    while let Some(top) = heap.peek() {
        let enough = match choice {
            Choice::Joints(m) => out.joints >= m,
            Choice::Error(e) => {
                let kept = now[top.node as usize] && out.residual > e / HYSTERESIS;
                out.residual <= e && !kept
            }
        };
        if enough {
            break;
        }
        if let Some(c) = heap.pop() {
            for part in open(model, assembly, field, now, &c, &mut out) {
                heap.push(part);
            }
        }
    }
    // The sum of what is left has more digits than the total less what was taken.
    let mut left: Vec<(u32, f64)> = heap.iter().map(|c| (c.node, c.measure)).collect();
    left.sort_unstable_by_key(|x| x.0);
    out.residual = left.iter().fold(0.0, |s, x| s + x.1);
    out
}

/// A piece with given handles, measured.
fn closed(
    assembly: &Assembly,
    field: &Field,
    now: &[bool],
    i: usize,
    a: Six,
    f: Six,
    out: &mut Chosen,
) -> Closed {
    let (_, l) = field.bias(assembly, i);
    let measure = field.judge.measure(&assembly.quadratics[i], &l, &a, &f);
    out.visited += 1;
    let stays = if now[i] { HYSTERESIS } else { 1.0 };
    Closed {
        key: measure * stays,
        measure,
        node: i as u32,
        a,
        f,
    }
}

/// Opens a piece: its joint moves, its parts that are not links are closed pieces of their own.
fn open(
    model: &Model,
    assembly: &Assembly,
    field: &Field,
    now: &[bool],
    c: &Closed,
    out: &mut Chosen,
) -> impl Iterator<Item = Closed> + use<> {
    let i = c.node as usize;
    let (p, l, r) = assembly.parts(i);
    let mut parts = [None, None];
    if !p.is_leaf() {
        let (bias, _) = field.bias(assembly, i);
        let x = enter(assembly, i, &bias, &c.a, &c.f);
        let at = freedoms(model, &p);
        out.split[i] = true;
        out.joints += usize::from(p.joint != 0);
        let (w, v) = (&assembly.weights[at.clone()], &assembly.rates[at]);
        out.residual -= own(field.judge, &x.0, w, v);
        for (part, (j, a, f)) in parts.iter_mut().zip([(l, c.a, x.1), (r, x.0.base, x.2)]) {
            if !assembly.plan.nodes[j].is_leaf() {
                *part = Some(closed(assembly, field, now, j, a, f, out));
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
