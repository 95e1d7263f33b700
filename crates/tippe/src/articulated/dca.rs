//! Divide and conquer: accelerations of a tree by joining halves of it, in a number of rounds that grows with the logarithm of the links.
//!
//! Reads: `Model`, positions, velocities, torques, loads.  Writes: accelerations; `Work` (frames, flows, poses).
//! Called by: users; a twin of `aba` that many threads can share.
//! Source: [Featherstone99]. A part of a chain is known by how its two ends answer forces on them, a = Φ f + b; joining two parts by a
//! joint gives the part they make. Each end keeps the frame of its own link, so that no lever grows with the chain.
//! Trees are cut into chains along their longest branches; a finished side branch is one more inertia on the link that carries it, as in
//! `aba`. Links without mass between two joints make one joint with both freedoms.
//! Everything is kept in arrays that stay from call to call: by link, and by place in its chain for the join in front of it.
//! Letters: Φ, b, V, W, γ, β, L as there; D = (Sᵀ V S)⁻¹; c = v × S q̇; f force of A on B.

use super::crba::axis;
use super::error::TreeError;
use super::kinematics::kinematics;
use super::load::Load;
use super::model::{Model, WORLD};
use super::six::{
    Matrix, Six, ZERO, apply, apply_transposed, dot, force, inverse, motion, plus, rigid, sum,
    times, times_transposed, transform, transposed_times,
};
use super::spatial::{Frame, Motion};
use super::work::Work;
use crate::math::mixed_lcp::Gauss;
use std::ops::Range;

/// How a divide-and-conquer evaluation was shaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// Joins on the longest way from a link to the whole chain, the worst chain of the tree.
    pub depth: u32,
    /// Chains the tree was cut into.
    pub chains: usize,
}

/// Most freedoms of one joint, links without mass included.
const FREEDOMS_MAX: usize = 6;
/// Links below which a chain is not worth another thread: it takes as long as starting one.
const THREAD_LINKS_MIN: usize = 128;

/// A small matrix by rows, as many columns as a joint has freedoms.
type Small = [f64; FREEDOMS_MAX * FREEDOMS_MAX];

/// Accelerations `q̈` as by `aba`, joined in halves. `threads` work on one chain at a time; the result does not depend on their number.
///
/// Every link needs mass and inertia in all directions, but for links without any that carry exactly one other.
pub fn dca(
    model: &Model,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    loads: &[Load],
    threads: usize,
    work: &mut Work,
    acceleration: &mut [f64],
) -> Result<Assembly, TreeError> {
    model.check_freedoms("tau", tau)?;
    model.check_output("acceleration", acceleration.len(), model.freedom_count())?;
    if model.has_armature() {
        return Err(TreeError::Armature);
    }
    kinematics(model, q, v, work)?;
    let mut halves = std::mem::take(&mut work.halves);
    let done = halves.solve(model, tau, loads, threads, work, acceleration);
    work.halves = halves;
    done
}

/// Scratch of `dca`; whatever it holds, results are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Halves {
    links: Links,
    /// Links by chain, and where each chain is among them, carriers first.
    order: Vec<usize>,
    chains: Vec<Range<usize>>,
    /// By place in `order`: the join in front of the link; unused for the first link of a chain.
    joins: Vec<Join>,
    /// By chain.
    tops: Vec<Top>,
    /// By link: its acceleration, if it carries a side branch.
    moved: Vec<Six>,
}

/// The joint of a link: from the frame of what carries it to its own, with its freedoms.
#[derive(Clone, Debug)]
struct Joint {
    /// Motion transform X from the carrier.
    X: Matrix,
    /// Its freedoms among those of `Links`.
    at: Range<usize>,
    /// Velocity-product acceleration.
    drift: Six,
}

/// A link with mass: its joint, its inertia and bias force, grown by finished side branches.
#[derive(Clone, Debug)]
struct Heavy {
    parent: Option<usize>,
    joint: Joint,
    inertia: Matrix,
    bias: Six,
    link: usize,
    /// Whether a chain of its own hangs on it.
    carries: bool,
}

impl Heavy {
    /// Φ and b of the link alone.
    fn response(&self) -> Result<(Matrix, Six), TreeError> {
        let p = inverse(&self.inertia).ok_or(TreeError::Singular { link: self.link })?;
        let b = plus(&[0.0; 6], &apply(&p, &self.bias), -1.0);
        Ok((p, b))
    }
}

#[derive(Clone, Debug, Default)]
struct Links {
    list: Vec<Heavy>,
    of_node: Vec<Option<usize>>,
    /// By freedom, in the order of `list`: column of S in the frame of the link, place in `q̈`, torque.
    axes: Vec<Six>,
    freedoms: Vec<usize>,
    torques: Vec<f64>,
}

impl Halves {
    fn solve(
        &mut self,
        model: &Model,
        tau: &[f64],
        loads: &[Load],
        threads: usize,
        work: &Work,
        acceleration: &mut [f64],
    ) -> Result<Assembly, TreeError> {
        self.links.fill(model, tau, work)?;
        for load in loads {
            let (node, f) = load.on_node(model, work)?;
            if node != WORLD {
                let i = self.links.of_node[node].ok_or(TreeError::Singular { link: load.link })?;
                let bias = &mut self.links.list[i].bias;
                *bias = plus(bias, &force(f), -1.0);
            }
        }
        self.cut();
        let mut shape = Assembly {
            depth: 0,
            chains: self.chains.len(),
        };
        self.joins.resize(self.order.len(), Join::EMPTY);
        self.tops.resize(self.chains.len(), Top::EMPTY);
        // Side branches come before what carries them.
        for (k, chain) in self.chains.iter().enumerate().rev() {
            let (order, joins) = (&self.order[chain.clone()], &mut self.joins[chain.clone()]);
            let (ends, depth) = assemble(&self.links, order, joins, threads)?;
            shape.depth = shape.depth.max(depth);
            self.tops[k].make(&self.links, order[0], &ends)?;
            self.tops[k].hang(&mut self.links, order[0]);
        }
        let base = motion(Motion::new(crate::math::Vec3::ZERO, -model.gravity));
        self.moved.resize(self.links.list.len(), [0.0; 6]);
        for (chain, top) in self.chains.iter().zip(&self.tops) {
            let (order, joins) = (&self.order[chain.clone()], &self.joins[chain.clone()]);
            let parent = self.links.list[order[0]].parent;
            let carrier = parent.map_or(base, |p| self.moved[p]);
            let f = top.settle(&self.links, order[0], &carrier, acceleration);
            let (free, moved) = ([0.0; 6], &mut self.moved);
            settle(&self.links, order, joins, &f, &free, acceleration, moved)?;
        }
        Ok(shape)
    }

    /// Cuts the tree into chains: each link goes on with the child that carries most.
    fn cut(&mut self) {
        let links = &mut self.links.list;
        let n = links.len();
        let mut weight = vec![1_usize; n];
        let mut next = vec![None; n];
        for i in (0..n).rev() {
            if let Some(p) = links[i].parent {
                weight[p] += weight[i];
            }
        }
        for i in 0..n {
            if let Some(p) = links[i].parent {
                let heavier = next[p].is_none_or(|j: usize| weight[i] > weight[j]);
                if heavier {
                    next[p] = Some(i);
                }
            }
        }
        self.order.clear();
        self.chains.clear();
        for i in 0..n {
            let parent = links[i].parent;
            if parent.is_some_and(|p| next[p] == Some(i)) {
                continue;
            }
            if let Some(p) = parent {
                links[p].carries = true;
            }
            let first = self.order.len();
            let mut at = Some(i);
            while let Some(j) = at {
                self.order.push(j);
                at = next[j];
            }
            self.chains.push(first..self.order.len());
        }
    }
}

impl Links {
    /// The nodes that have mass, parents first; nodes without become part of the joint of the one they carry.
    fn fill(&mut self, model: &Model, tau: &[f64], work: &Work) -> Result<(), TreeError> {
        self.list.clear();
        self.axes.clear();
        self.freedoms.clear();
        self.torques.clear();
        self.of_node.clear();
        self.of_node.resize(model.nodes.len(), None);
        for i in 1..model.nodes.len() {
            if model.nodes[i].inertia.mass != 0.0 {
                self.add(model, tau, work, i)?;
            }
        }
        // A freedom that two links share hangs on a branching link without mass.
        let mut owned = vec![false; model.freedom_count()];
        for link in &self.list {
            for f in &self.freedoms[link.joint.at.clone()] {
                if std::mem::replace(&mut owned[*f], true) {
                    return Err(TreeError::Singular { link: link.link });
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, model: &Model, tau: &[f64], work: &Work, i: usize) -> Result<(), TreeError> {
        let node = &model.nodes[i];
        let (first, mut drift) = (self.axes.len(), [0.0; 6]);
        let (mut frame, mut at) = (Frame::IDENTITY, i);
        // Down to the next node with mass, collecting freedoms on the way.
        loop {
            let part = &model.nodes[at];
            let here = |m: Motion| motion(frame.motion_to_child(m));
            drift = plus(&drift, &here(work.flows[at].drift), 1.0);
            for d in 0..part.joint.freedom_count() {
                self.axes.push(here(axis(part.joint, d)));
                self.freedoms.push(part.v as usize + d);
                self.torques.push(tau[part.v as usize + d]);
            }
            frame = work.frames[at].compose(&frame);
            at = part.parent as usize;
            if at == WORLD || model.nodes[at].inertia.mass != 0.0 {
                break;
            }
        }
        let link = node.link as usize;
        if self.axes.len() - first > FREEDOMS_MAX {
            return Err(TreeError::Singular { link });
        }
        let v = work.flows[i].velocity;
        self.of_node[i] = Some(self.list.len());
        self.list.push(Heavy {
            parent: self.of_node[at],
            joint: Joint {
                X: transform(&frame),
                at: first..self.axes.len(),
                drift,
            },
            inertia: rigid(&node.inertia),
            bias: force(v.cross_force(node.inertia.times(v))),
            link,
            carries: false,
        });
        Ok(())
    }

    /// Axes and torques of a joint.
    fn freedoms(&self, joint: &Joint) -> (&[Six], &[f64]) {
        (
            &self.axes[joint.at.clone()],
            &self.torques[joint.at.clone()],
        )
    }
}

/// How the two ends of a part answer forces on them; Φ₂₁ is the transpose of Φ₁₂.
struct Ends {
    p1: Matrix,
    p2: Matrix,
    p12: Matrix,
    b1: Six,
    b2: Six,
}

/// Two parts and the joint between them, for the way outwards.
#[derive(Clone, Debug)]
struct Join {
    /// W, γ, and the two blocks of L in the frame of the joint's link.
    W: Matrix,
    gamma: Six,
    l1: Matrix,
    l2: Matrix,
    /// Sᵀ V by rows, D, and β.
    SV: [Six; FREEDOMS_MAX],
    D: Small,
    beta: Six,
}

impl Join {
    /// Nothing yet.
    const EMPTY: Self = Self {
        W: ZERO,
        gamma: [0.0; 6],
        l1: ZERO,
        l2: ZERO,
        SV: ZERO,
        D: [0.0; FREEDOMS_MAX * FREEDOMS_MAX],
        beta: [0.0; 6],
    };
}

/// Joins a chain from its links, half by half. Returns how its ends answer, and on how many levels it was joined.
fn assemble(
    links: &Links,
    chain: &[usize],
    joins: &mut [Join],
    threads: usize,
) -> Result<(Ends, u32), TreeError> {
    if let [one] = *chain {
        let (p, b) = links.list[one].response()?;
        let ends = Ends {
            p1: p,
            p2: p,
            p12: p,
            b1: b,
            b2: b,
        };
        return Ok((ends, 0));
    }
    let (left, right) = chain.split_at(chain.len() / 2);
    let (before, after) = joins.split_at_mut(left.len());
    let (a, b) = if threads > 1 && chain.len() >= THREAD_LINKS_MIN {
        let half = threads / 2;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| assemble(links, left, before, half));
            let mine = assemble(links, right, after, threads - half);
            let other = other
                .join()
                .unwrap_or_else(|p| std::panic::resume_unwind(p));
            (other, mine)
        })
    } else {
        let a = assemble(links, left, before, 1);
        (a, assemble(links, right, after, 1))
    };
    let ((a, deep_a), (b, deep_b)) = (a?, b?);
    let ends = after[0].make(links, right[0], &a, &b)?;
    Ok((ends, 1 + deep_a.max(deep_b)))
}

impl Join {
    /// Joins A and B by the joint of B's first link.
    fn make(&mut self, links: &Links, link: usize, a: &Ends, b: &Ends) -> Result<Ends, TreeError> {
        let link = &links.list[link];
        let (joint, X) = (&link.joint, &link.joint.X);
        let (axes, torques) = links.freedoms(joint);
        // The second end of A, in the frame of B's first link.
        let p2a = times_transposed(&times(X, &a.p2), X);
        let l1 = times_transposed(X, &a.p12);
        let V = inverse(&sum(&b.p1, &p2a, 1.0)).ok_or(TreeError::Singular { link: link.link })?;
        let beta = plus(&plus(&joint.drift, &b.b1, -1.0), &apply(X, &a.b2), 1.0);
        let d = axes.len();
        for (row, s) in self.SV.iter_mut().zip(axes) {
            *row = apply(&V, s);
        }
        let SV = &self.SV;
        self.D = inverse_of(d, |k, l| dot(&SV[k], &axes[l]));
        // W = V − V S D Sᵀ V; a free joint passes nothing on.
        let mut W = if d == FREEDOMS_MAX { ZERO } else { V };
        let mut gamma = [0.0; 6];
        for k in 0..d {
            for l in 0..d {
                let x = self.D[k * d + l];
                if d < FREEDOMS_MAX {
                    take(&mut W, x, &SV[k], &SV[l]);
                }
                gamma = plus(&gamma, &SV[k], x * torques[l]);
            }
        }
        gamma = plus(&gamma, &apply(&W, &beta), 1.0);
        let WL = times(&W, &b.p12);
        let ends = Ends {
            p1: sum(&a.p1, &transposed_times(&l1, &times(&W, &l1)), -1.0),
            p12: transposed_times(&l1, &WL),
            p2: sum(&b.p2, &transposed_times(&b.p12, &WL), -1.0),
            b1: plus(&a.b1, &apply_transposed(&l1, &gamma), -1.0),
            b2: plus(&b.b2, &apply_transposed(&b.p12, &gamma), 1.0),
        };
        (self.W, self.gamma, self.beta) = (W, gamma, beta);
        (self.l1, self.l2) = (l1, b.p12);
        Ok(ends)
    }
}

/// Outward: forces at the two ends are known; so are those inside, and the accelerations of the joints.
fn settle(
    links: &Links,
    chain: &[usize],
    joins: &[Join],
    f1: &Six,
    f2: &Six,
    acceleration: &mut [f64],
    moved: &mut [Six],
) -> Result<(), TreeError> {
    if let [one] = *chain {
        let link = &links.list[one];
        if link.carries {
            let (p, b) = link.response()?;
            moved[one] = plus(&apply(&p, &plus(f1, f2, 1.0)), &b, 1.0);
        }
        return Ok(());
    }
    let (left, right) = chain.split_at(chain.len() / 2);
    let (before, after) = joins.split_at(left.len());
    let (join, joint) = (&after[0], &links.list[right[0]].joint);
    let lf = plus(&apply(&join.l1, f1), &apply(&join.l2, f2), -1.0);
    let f = plus(&join.gamma, &apply(&join.W, &lf), 1.0);
    // q̈ = D (Q − Sᵀ V (β + L F))
    let pull = plus(&join.beta, &lf, 1.0);
    let (_, torques) = links.freedoms(joint);
    let d = torques.len();
    let u: Six = std::array::from_fn(|k| match torques.get(k) {
        Some(torque) => torque - dot(&join.SV[k], &pull),
        None => 0.0,
    });
    for (k, freedom) in links.freedoms[joint.at.clone()].iter().enumerate() {
        acceleration[*freedom] = (0..d).fold(0.0, |s, l| s + join.D[k * d + l] * u[l]);
    }
    let back = plus(&[0.0; 6], &apply_transposed(&joint.X, &f), -1.0);
    settle(links, left, before, f1, &back, acceleration, moved)?;
    settle(links, right, after, &f, f2, acceleration, moved)
}

/// `A ← A − x y zᵀ`
fn take(a: &mut Matrix, x: f64, y: &Six, z: &Six) {
    for i in 0..6 {
        for j in 0..6 {
            a[i][j] -= x * y[i] * z[j];
        }
    }
}

/// Inverse of a small matrix.
fn inverse_of(d: usize, entry: impl Fn(usize, usize) -> f64) -> Small {
    let mut out = [0.0; FREEDOMS_MAX * FREEDOMS_MAX];
    if d == 1 {
        let x = entry(0, 0);
        out[0] = if x == 0.0 { 0.0 } else { 1.0 / x };
        return out;
    }
    let mut gauss = Gauss::default();
    for j in 0..d {
        let mut a: Small = std::array::from_fn(|i| {
            let inside = i < d * d;
            if inside { entry(i / d, i % d) } else { 0.0 }
        });
        let mut x = [0.0; FREEDOMS_MAX];
        x[j] = 1.0;
        gauss.solve(&mut a[..d * d], &mut x[..d], d);
        for i in 0..d {
            out[i * d + j] = x[i];
        }
    }
    out
}

/// A finished chain at its first link: articulated inertia and bias force, and what its joint makes of them.
#[derive(Clone, Debug)]
struct Top {
    inertia: Matrix,
    bias: Six,
    U: [Six; FREEDOMS_MAX],
    D: Small,
    u: Six,
}

impl Top {
    /// Nothing yet.
    const EMPTY: Self = Self {
        inertia: ZERO,
        bias: [0.0; 6],
        U: ZERO,
        D: [0.0; FREEDOMS_MAX * FREEDOMS_MAX],
        u: [0.0; 6],
    };

    fn make(&mut self, links: &Links, first: usize, ends: &Ends) -> Result<(), TreeError> {
        let first = &links.list[first];
        let (axes, torques) = links.freedoms(&first.joint);
        self.inertia = inverse(&ends.p1).ok_or(TreeError::Singular { link: first.link })?;
        self.bias = plus(&[0.0; 6], &apply(&self.inertia, &ends.b1), -1.0);
        for (k, s) in axes.iter().enumerate() {
            self.U[k] = apply(&self.inertia, s);
            self.u[k] = torques[k] - dot(s, &self.bias);
        }
        let U = &self.U;
        self.D = inverse_of(axes.len(), |k, l| dot(&axes[k], &U[l]));
        Ok(())
    }

    /// Adds the branch to the link that carries it, if there is one.
    fn hang(&self, links: &mut Links, first: usize) {
        let joint = links.list[first].joint.clone();
        let Some(parent) = links.list[first].parent else {
            return;
        };
        let (axes, torques) = links.freedoms(&joint);
        let d = axes.len();
        if d == FREEDOMS_MAX {
            // Only the torques of a free joint reach its carrier.
            let mut f = [0.0; 6];
            for k in 0..d {
                f = plus(&f, &axes[k], torques[k]);
            }
            let parent = &mut links.list[parent];
            parent.bias = plus(&parent.bias, &apply_transposed(&joint.X, &f), 1.0);
            return;
        }
        let mut rest = self.inertia;
        let mut bias = self.bias;
        for k in 0..d {
            for l in 0..d {
                let x = self.D[k * d + l];
                take(&mut rest, x, &self.U[k], &self.U[l]);
                bias = plus(&bias, &self.U[k], x * self.u[l]);
            }
        }
        bias = plus(&bias, &apply(&rest, &joint.drift), 1.0);
        let carried = transposed_times(&joint.X, &times(&rest, &joint.X));
        let parent = &mut links.list[parent];
        parent.inertia = sum(&parent.inertia, &carried, 1.0);
        parent.bias = plus(&parent.bias, &apply_transposed(&joint.X, &bias), 1.0);
    }

    /// Accelerations of the joint from that of the carrier; returns the force on the first link.
    fn settle(&self, links: &Links, first: usize, carrier: &Six, acceleration: &mut [f64]) -> Six {
        let joint = &links.list[first].joint;
        let (axes, _) = links.freedoms(joint);
        let d = axes.len();
        let mut a = plus(&apply(&joint.X, carrier), &joint.drift, 1.0);
        let u: Six = std::array::from_fn(|k| self.u[k] - dot(&self.U[k], &a));
        for (k, freedom) in links.freedoms[joint.at.clone()].iter().enumerate() {
            let rate = (0..d).fold(0.0, |s, l| s + self.D[k * d + l] * u[l]);
            acceleration[*freedom] = rate;
            a = plus(&a, &axes[k], rate);
        }
        plus(&apply(&self.inertia, &a), &self.bias, 1.0)
    }
}
