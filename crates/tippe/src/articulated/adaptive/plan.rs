//! The shape of an assembly: which pieces of a tree are joined in which order, so that every joint is few joins away
//! from the whole.
//!
//! Reads: `Model`.  Writes: `Plan`.
//! Called by: `assembly`.
//! Source: [Featherstone99]; heavy paths as in `dca`. Nodes stand in post-order: a piece is a contiguous range of them,
//! base first.
//!
//! A piece has a base (the link nearest to the world) and at most one tip (a link where the rest of its chain goes on).
//! Side branches are finished before their carrier joins its chain, so no piece ever has more than these two handles. A
//! link with many children gets massless copies, welded to it, so that its branches too are joined in halves. The world
//! is joined last.

use crate::articulated::joint::Plain;
use crate::articulated::model::{Model, WORLD};
use crate::articulated::spatial::Sym3;

/// Stands for "no node".
pub(super) const NONE: u32 = u32::MAX;
/// A link whose own inertia along its joint is below this fraction of its trace is joined to what it carries first [1].
const WEAK: f64 = 1e-8;

/// One piece: a link, or two pieces and the joint between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanNode {
    /// Piece with the base, and piece carried by it; `NONE` for links.
    pub left: u32,
    pub right: u32,
    pub parent: u32,
    /// First node of the range that ends here.
    pub first: u32,
    /// Model node whose joint is closed here; 0 for links and welds.
    pub joint: u32,
    /// Model nodes in whose frames base and tip are.
    pub base: u32,
    pub tip: u32,
    /// The base is a massless copy of the link it is welded to.
    pub copied: bool,
    /// The right piece is a side branch: the tip is that of the left piece, a single link.
    pub side: bool,
    /// Something is carried beyond the tip.
    pub open: bool,
}

impl PlanNode {
    pub const fn is_leaf(&self) -> bool {
        self.left == NONE
    }
}

/// The assembly of one tree.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub nodes: Vec<PlanNode>,
    /// By model node: the piece that is this link alone.
    pub leaf_of: Vec<u32>,
    /// By model node: the piece that closes its joint.
    pub closed_by: Vec<u32>,
    /// Massless copies: the link each is welded to, and its piece; by link.
    pub copies: Vec<(u32, u32)>,
    /// Joins on the longest way from a link to the whole.
    pub depth: u32,
}

impl Plan {
    pub fn new(model: &Model) -> Self {
        let mut b = Builder::new(model);
        let root = b.chain(WORLD as u32);
        debug_assert_eq!(root as usize + 1, b.plan.nodes.len());
        let mut depth = vec![0_u32; b.plan.nodes.len()];
        for i in (0..b.plan.nodes.len()).rev() {
            let parent = b.plan.nodes[i].parent;
            if parent != NONE {
                depth[i] = depth[parent as usize] + 1;
            }
        }
        b.plan.depth = depth.into_iter().max().unwrap_or(0);
        b.plan.copies.sort_unstable();
        b.plan
    }

    pub const fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The copies of a link, as places in `copies`.
    pub fn copies_of(&self, link: usize) -> std::ops::Range<usize> {
        let from = self.copies.partition_point(|c| (c.0 as usize) < link);
        let to = self.copies.partition_point(|c| c.0 as usize <= link);
        from..to
    }
}

/// Links and their massless copies as a tree in which nobody carries more than two.
struct Builder<'a> {
    model: &'a Model,
    /// By link or copy: what it carries.
    children: Vec<Vec<u32>>,
    /// By link or copy: the link whose frame it has.
    host: Vec<u32>,
    /// By link or copy: links it carries, itself included.
    weight: Vec<u64>,
    plan: Plan,
}

impl<'a> Builder<'a> {
    fn new(model: &'a Model) -> Self {
        let n = model.nodes.len();
        let mut carried = vec![Vec::new(); n];
        let mut weight = vec![1_u64; n];
        for i in (1..n).rev() {
            weight[model.nodes[i].parent as usize] += weight[i];
        }
        for i in 1..n {
            carried[model.nodes[i].parent as usize].push(i as u32);
        }
        let mut b = Self {
            model,
            children: vec![Vec::new(); n],
            host: (0..n as u32).collect(),
            weight,
            plan: Plan {
                nodes: Vec::with_capacity(2 * n),
                leaf_of: vec![NONE; n],
                closed_by: vec![NONE; n],
                copies: Vec::new(),
                depth: 0,
            },
        };
        for i in 0..n {
            b.share(i, std::mem::take(&mut carried[i]));
        }
        b
    }

    /// Gives a link its children, through copies where there are more than two.
    fn share(&mut self, link: usize, mut carried: Vec<u32>) {
        let own = usize::from(link != WORLD);
        if carried.len() <= 1 + own {
            self.children[link] = carried;
            return;
        }
        let mut kept = Vec::new();
        if own == 1 {
            let heaviest = (0..carried.len())
                .reduce(|a, b| {
                    let (x, y) = (carried[a] as usize, carried[b] as usize);
                    if self.weight[y] > self.weight[x] {
                        b
                    } else {
                        a
                    }
                })
                .unwrap_or(0);
            kept.push(carried.remove(heaviest));
        }
        kept.push(self.group(link as u32, &carried));
        self.children[link] = kept;
    }

    /// One branch, or a copy that carries several in halves of like weight.
    fn group(&mut self, host: u32, carried: &[u32]) -> u32 {
        if let [one] = *carried {
            return one;
        }
        let total: u64 = carried.iter().map(|c| self.weight[*c as usize]).sum();
        let copy = self.host.len() as u32;
        self.host.push(host);
        self.children.push(Vec::new());
        self.weight.push(total);
        let at = split(carried.iter().map(|c| self.weight[*c as usize]), total);
        let (l, r) = carried.split_at(at.clamp(1, carried.len() - 1));
        let children = vec![self.group(host, l), self.group(host, r)];
        self.children[copy as usize] = children;
        copy
    }

    const fn is_copy(&self, x: u32) -> bool {
        x as usize >= self.model.nodes.len()
    }

    /// Emits the chain that begins at `head` and everything it carries; returns its piece.
    fn chain(&mut self, head: u32) -> u32 {
        let mut links = vec![head];
        let mut lights = Vec::new();
        let mut at = head;
        loop {
            let c = &self.children[at as usize];
            let heavier = |a: u32, b: u32| self.weight[a as usize] >= self.weight[b as usize];
            let (next, light) = match c[..] {
                [] => (None, None),
                [one] if at as usize == WORLD => (None, Some(one)),
                [one] => (Some(one), None),
                [a, b, ..] if heavier(a, b) => (Some(a), Some(b)),
                [a, b, ..] => (Some(b), Some(a)),
            };
            lights.push(light);
            let Some(next) = next else { break };
            links.push(next);
            at = next;
        }
        // Runs that are joined first: a link that is weak goes with the next.
        let mut runs = Vec::new();
        let mut start = 0;
        for i in 0..links.len() {
            let goes_on = i + 1 < links.len() && i > 0 && self.is_weak(links[i]);
            if !goes_on {
                runs.push((start, i + 1));
                start = i + 1;
            }
        }
        let weight = |i: usize| {
            let inside = |l: &Option<u32>| l.map_or(0, |x| self.weight[x as usize]);
            let (a, b) = runs[i];
            lights[a..b].iter().map(|l| 1 + inside(l)).sum::<u64>()
        };
        let mut before = vec![0_u64];
        for i in 0..runs.len() {
            before.push(before[i] + weight(i));
        }
        let chain = Chain {
            links: &links,
            lights: &lights,
            runs: &runs,
            before: &before,
        };
        self.balanced(&chain, 0, runs.len())
    }

    fn balanced(&mut self, c: &Chain, from: usize, to: usize) -> u32 {
        if to - from == 1 {
            return self.run(c, from);
        }
        let total = c.before[to] - c.before[from];
        let weights = (from..to).map(|i| c.before[i + 1] - c.before[i]);
        let at = from + split(weights, total).clamp(1, to - from - 1);
        let left = self.balanced(c, from, at);
        let right = self.balanced(c, at, to);
        self.join(left, right, c.links[c.runs[at].0], false, to < c.runs.len())
    }

    /// One run of links: each with its side branch, then joined from the last to the first.
    fn run(&mut self, c: &Chain, run: usize) -> u32 {
        let (from, to) = c.runs[run];
        let ends = run + 1 == c.runs.len();
        let mut pieces = Vec::with_capacity(to - from);
        for i in from..to {
            let open = !ends || i + 1 < to;
            let mut piece = self.leaf(c.links[i], open || c.lights[i].is_some());
            if let Some(light) = c.lights[i] {
                let branch = self.chain(light);
                piece = self.join(piece, branch, light, true, open);
            }
            pieces.push(piece);
        }
        let mut last = pieces[pieces.len() - 1];
        for i in (0..pieces.len() - 1).rev() {
            last = self.join(pieces[i], last, c.links[from + i + 1], false, !ends);
        }
        last
    }

    fn leaf(&mut self, x: u32, open: bool) -> u32 {
        let id = self.plan.nodes.len() as u32;
        let (host, copied) = (self.host[x as usize], self.is_copy(x));
        if copied {
            self.plan.copies.push((host, id));
        } else {
            self.plan.leaf_of[x as usize] = id;
        }
        self.plan.nodes.push(PlanNode {
            left: NONE,
            right: NONE,
            parent: NONE,
            first: id,
            joint: 0,
            base: host,
            tip: host,
            copied,
            side: false,
            open,
        });
        id
    }

    fn join(&mut self, left: u32, right: u32, carried: u32, side: bool, open: bool) -> u32 {
        let id = self.plan.nodes.len() as u32;
        let joint = if self.is_copy(carried) { 0 } else { carried };
        if joint != 0 {
            self.plan.closed_by[joint as usize] = id;
        }
        let (l, r) = (
            self.plan.nodes[left as usize],
            self.plan.nodes[right as usize],
        );
        self.plan.nodes[left as usize].parent = id;
        self.plan.nodes[right as usize].parent = id;
        self.plan.nodes.push(PlanNode {
            left,
            right,
            parent: NONE,
            first: l.first,
            joint,
            base: l.base,
            tip: if side { l.tip } else { r.tip },
            copied: l.copied,
            side,
            open,
        });
        id
    }

    /// Whether a link alone could be pushed along its joint without resistance.
    fn is_weak(&self, x: u32) -> bool {
        if self.is_copy(x) {
            return false;
        }
        let node = &self.model.nodes[x as usize];
        let (i, m) = (&node.inertia.inertia, node.inertia.mass);
        match node.joint {
            Plain::Hinge => i.zz <= WEAK * i.trace(),
            Plain::Slider => m <= 0.0,
            Plain::Ball => is_flat(i),
            Plain::Free => m <= 0.0 || is_flat(i),
        }
    }
}

/// Whether an inertia has a direction without resistance.
fn is_flat(i: &Sym3) -> bool {
    crate::articulated::factor::invert(i, WEAK).is_none()
}

struct Chain<'a> {
    links: &'a [u32],
    lights: &'a [Option<u32>],
    runs: &'a [(usize, usize)],
    before: &'a [u64],
}

/// How many of the weights make half of the total, as nearly as can be.
fn split(weights: impl Iterator<Item = u64>, total: u64) -> usize {
    let (mut sum, mut best, mut at) = (0, u64::MAX, 1);
    for (i, w) in weights.enumerate() {
        sum += w;
        let uneven = (2 * sum).abs_diff(total);
        if uneven < best {
            (best, at) = (uneven, i + 1);
        }
    }
    at
}
