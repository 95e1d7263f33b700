//! Divide and conquer: accelerations of a tree by joining halves of it, in a number of rounds that grows with the logarithm of the links.
//!
//! Reads: `Model`, positions, velocities, torques, loads.  Writes: accelerations; `Work` (frames, flows, poses).
//! Called by: users; a twin of `aba` that many threads can share.
//! Source: [Featherstone99]. A part of a chain is known by how its two ends answer forces on them, a = Φ f + b; joining two parts by a
//! joint gives the part they make. Each end keeps the frame of its own link, so that no lever grows with the chain.
//! Trees are cut into chains along their longest branches; a finished side branch is one more inertia on the link that carries it, as in
//! `aba`. Links without mass between two joints make one joint with both freedoms.
//! Letters: Φ, b, V, W, γ, β, L as there; D = (Sᵀ V S)⁻¹; c = v × S q̇; f force of A on B.

use super::crba::axis;
use super::error::TreeError;
use super::kinematics::kinematics;
use super::load::Load;
use super::model::{Model, WORLD};
use super::six::{
    Matrix, Six, ZERO, apply, dot, force, inverse, motion, plus, rigid, sum, times, transform,
    transposed,
};
use super::spatial::{Frame, Motion};
use super::work::Work;
use crate::math::mixed_lcp::Gauss;

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
/// Links below which a chain is not worth another thread.
const THREAD_LINKS_MIN: usize = 32;

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
    let mut links = heavy_links(model, tau, work)?;
    for load in loads {
        let (node, f) = load.on_node(model, work)?;
        if node != WORLD {
            let i = links.of_node[node].ok_or(TreeError::Singular { link: load.link })?;
            let bias = &mut links.list[i].bias;
            *bias = plus(bias, &force(f), -1.0);
        }
    }
    let chains = chains(&links.list);
    let mut shape = Assembly {
        depth: 0,
        chains: chains.len(),
    };
    // Side branches come before what carries them.
    let mut done = Vec::with_capacity(chains.len());
    for chain in chains.iter().rev() {
        let part = assemble(&links.list, chain, threads)?;
        shape.depth = shape.depth.max(part.depth());
        let top = Top::new(&links.list[chain[0]], part.ends())?;
        if let Some(parent) = links.list[chain[0]].parent {
            let (carriers, carried) = links.list.split_at_mut(chain[0]);
            top.hang(&carried[0].joint, &mut carriers[parent]);
        }
        done.push((part, top));
    }
    let base = motion(Motion::new(crate::math::Vec3::ZERO, -model.gravity));
    let mut moved = vec![[0.0; 6]; links.list.len()];
    for (chain, (part, top)) in chains.iter().zip(done.iter().rev()) {
        let first = &links.list[chain[0]];
        let carrier = first.parent.map_or(base, |p| moved[p]);
        let f = top.settle(&first.joint, &carrier, acceleration);
        part.settle(&links.list, chain, &f, &[0.0; 6], acceleration, &mut moved)?;
    }
    Ok(shape)
}

/// The joint of a link: from the frame of what carries it to its own, with its freedoms.
struct Joint {
    /// Motion transform X from the carrier.
    X: Matrix,
    /// Columns of S, in the frame of the link.
    axes: Vec<Six>,
    /// Place of each freedom, and its torque.
    freedoms: Vec<usize>,
    torques: Vec<f64>,
    /// Velocity-product acceleration.
    drift: Six,
}

/// A link with mass: its joint, its inertia and bias force, grown by finished side branches.
struct Heavy {
    parent: Option<usize>,
    joint: Joint,
    inertia: Matrix,
    bias: Six,
    link: usize,
}

struct Links {
    list: Vec<Heavy>,
    of_node: Vec<Option<usize>>,
}

/// The nodes that have mass, parents first; nodes without become part of the joint of the one they carry.
fn heavy_links(model: &Model, tau: &[f64], work: &Work) -> Result<Links, TreeError> {
    let mut links = Links {
        list: Vec::new(),
        of_node: vec![None; model.nodes.len()],
    };
    for i in 1..model.nodes.len() {
        let node = &model.nodes[i];
        if node.inertia.mass == 0.0 {
            continue;
        }
        // Down to the next node with mass, collecting freedoms on the way.
        let mut run = vec![i];
        let mut at = node.parent as usize;
        while at != WORLD && model.nodes[at].inertia.mass == 0.0 {
            run.push(at);
            at = model.nodes[at].parent as usize;
        }
        let mut joint = Joint {
            X: ZERO,
            axes: Vec::new(),
            freedoms: Vec::new(),
            torques: Vec::new(),
            drift: [0.0; 6],
        };
        let mut frame = Frame::IDENTITY;
        for &k in &run {
            let part = &model.nodes[k];
            let here = |m: Motion| motion(frame.motion_to_child(m));
            joint.drift = plus(&joint.drift, &here(work.flows[k].drift), 1.0);
            for d in 0..part.joint.freedom_count() {
                joint.axes.push(here(axis(part.joint, d)));
                joint.freedoms.push(part.v as usize + d);
                joint.torques.push(tau[part.v as usize + d]);
            }
            frame = work.frames[k].compose(&frame);
        }
        if joint.axes.len() > FREEDOMS_MAX {
            return Err(TreeError::Singular {
                link: node.link as usize,
            });
        }
        joint.X = transform(&frame);
        let v = work.flows[i].velocity;
        links.of_node[i] = Some(links.list.len());
        links.list.push(Heavy {
            parent: links.of_node[at],
            joint,
            inertia: rigid(&node.inertia),
            bias: force(v.cross_force(node.inertia.times(v))),
            link: node.link as usize,
        });
    }
    // A freedom that two links share hangs on a branching link without mass.
    let mut owner = vec![false; model.freedom_count()];
    for link in &links.list {
        for &f in &link.joint.freedoms {
            if std::mem::replace(&mut owner[f], true) {
                return Err(TreeError::Singular { link: link.link });
            }
        }
    }
    Ok(links)
}

/// Cuts a tree into chains: each link goes on with the child that carries most.
fn chains(links: &[Heavy]) -> Vec<Vec<usize>> {
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
    let mut out = Vec::new();
    for i in 0..n {
        let continues = links[i].parent.is_some_and(|p| next[p] == Some(i));
        if !continues {
            let mut chain = vec![i];
            let mut at = i;
            while let Some(j) = next[at] {
                chain.push(j);
                at = j;
            }
            out.push(chain);
        }
    }
    out
}

/// How the two ends of a part answer forces on them; Φ₂₁ is the transpose of Φ₁₂.
#[derive(Clone, Copy)]
struct Ends {
    p1: Matrix,
    p2: Matrix,
    p12: Matrix,
    b1: Six,
    b2: Six,
}

/// A part of a chain: one link, or two parts and the joint between them.
enum Part {
    One { ends: Box<Ends> },
    Two(Box<Join>),
}

struct Join {
    ends: Ends,
    left: Part,
    right: Part,
    left_count: usize,
    /// W, γ, and the two blocks of L in the frame of the joint's link.
    W: Matrix,
    gamma: Six,
    l1: Matrix,
    l2: Matrix,
    /// Sᵀ V by rows, D, and V β.
    SV: Vec<Six>,
    D: Vec<f64>,
    beta: Six,
}

impl Part {
    const fn ends(&self) -> &Ends {
        match self {
            Self::One { ends } => ends,
            Self::Two(join) => &join.ends,
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Self::One { .. } => 0,
            Self::Two(join) => 1 + join.left.depth().max(join.right.depth()),
        }
    }

    /// Outward: forces at the two ends are known; so are those inside, and the accelerations of the joints.
    fn settle(
        &self,
        links: &[Heavy],
        chain: &[usize],
        f1: &Six,
        f2: &Six,
        acceleration: &mut [f64],
        moved: &mut [Six],
    ) -> Result<(), TreeError> {
        match self {
            Self::One { ends } => {
                let total = plus(f1, f2, 1.0);
                moved[chain[0]] = plus(&apply(&ends.p1, &total), &ends.b1, 1.0);
                Ok(())
            }
            Self::Two(join) => {
                let joint = &links[chain[join.left_count]].joint;
                let lf = plus(&apply(&join.l1, f1), &apply(&join.l2, f2), -1.0);
                let f = plus(&join.gamma, &apply(&join.W, &lf), 1.0);
                // q̈ = D (Q − Sᵀ V (β + L F))
                let pull = plus(&join.beta, &lf, 1.0);
                let u: Vec<f64> = (0..joint.axes.len())
                    .map(|k| joint.torques[k] - dot(&join.SV[k], &pull))
                    .collect();
                let d = joint.axes.len();
                for k in 0..d {
                    acceleration[joint.freedoms[k]] =
                        (0..d).fold(0.0, |s, l| s + join.D[k * d + l] * u[l]);
                }
                let (left, right) = chain.split_at(join.left_count);
                let back = plus(&[0.0; 6], &apply(&transposed(&joint.X), &f), -1.0);
                join.left
                    .settle(links, left, f1, &back, acceleration, moved)?;
                join.right.settle(links, right, &f, f2, acceleration, moved)
            }
        }
    }
}

/// Joins a chain from its links, half by half.
fn assemble(links: &[Heavy], chain: &[usize], threads: usize) -> Result<Part, TreeError> {
    if let [one] = *chain {
        let link = &links[one];
        let p = inverse(&link.inertia).ok_or(TreeError::Singular { link: link.link })?;
        let b = plus(&[0.0; 6], &apply(&p, &link.bias), -1.0);
        let ends = Ends {
            p1: p,
            p2: p,
            p12: p,
            b1: b,
            b2: b,
        };
        return Ok(Part::One {
            ends: Box::new(ends),
        });
    }
    let (left, right) = chain.split_at(chain.len() / 2);
    let (a, b) = if threads > 1 && chain.len() >= THREAD_LINKS_MIN {
        let half = threads / 2;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| assemble(links, left, half));
            let mine = assemble(links, right, threads - half);
            let other = other
                .join()
                .unwrap_or_else(|p| std::panic::resume_unwind(p));
            (other, mine)
        })
    } else {
        (assemble(links, left, 1), assemble(links, right, 1))
    };
    join(&links[right[0]], a?, b?, left.len())
}

fn join(link: &Heavy, left: Part, right: Part, left_count: usize) -> Result<Part, TreeError> {
    let singular = TreeError::Singular { link: link.link };
    let (a, b, joint) = (left.ends(), right.ends(), &link.joint);
    let (X, Xt) = (&joint.X, transposed(&joint.X));
    // The second end of A, in the frame of B's first link.
    let p2a = times(&times(X, &a.p2), &Xt);
    let l1 = times(X, &transposed(&a.p12));
    let p12a = transposed(&l1);
    let V = inverse(&sum(&b.p1, &p2a, 1.0)).ok_or(singular.clone())?;
    let beta = plus(&plus(&joint.drift, &b.b1, -1.0), &apply(X, &a.b2), 1.0);
    let d = joint.axes.len();
    let SV: Vec<Six> = joint.axes.iter().map(|s| apply(&V, s)).collect();
    let mut SVS = vec![0.0; d * d];
    for k in 0..d {
        for l in 0..d {
            SVS[k * d + l] = dot(&SV[k], &joint.axes[l]);
        }
    }
    let D = invert(&SVS, d);
    // W = V − V S D Sᵀ V; a free joint passes nothing on.
    let mut W = if d == FREEDOMS_MAX { ZERO } else { V };
    let mut gamma = [0.0; 6];
    for k in 0..d {
        for l in 0..d {
            let x = D[k * d + l];
            if d < FREEDOMS_MAX {
                for i in 0..6 {
                    for j in 0..6 {
                        W[i][j] -= x * SV[k][i] * SV[l][j];
                    }
                }
            }
            gamma = plus(&gamma, &SV[k], x * joint.torques[l]);
        }
    }
    gamma = plus(&gamma, &apply(&W, &beta), 1.0);
    let WL = times(&W, &b.p12);
    let ends = Ends {
        p1: sum(&a.p1, &times(&times(&p12a, &W), &l1), -1.0),
        p12: times(&p12a, &WL),
        p2: sum(&b.p2, &times(&transposed(&b.p12), &WL), -1.0),
        b1: plus(&a.b1, &apply(&p12a, &gamma), -1.0),
        b2: plus(&b.b2, &apply(&transposed(&b.p12), &gamma), 1.0),
    };
    Ok(Part::Two(Box::new(Join {
        ends,
        l2: b.p12,
        left,
        right,
        left_count,
        W,
        gamma,
        l1,
        SV,
        D,
        beta,
    })))
}

/// Inverse of a small matrix.
fn invert(a: &[f64], d: usize) -> Vec<f64> {
    let mut out = vec![0.0; d * d];
    for j in 0..d {
        let mut x = vec![0.0; d];
        x[j] = 1.0;
        Gauss::default().solve(&mut a.to_vec(), &mut x, d);
        for i in 0..d {
            out[i * d + j] = x[i];
        }
    }
    out
}

/// A finished chain at its first link: articulated inertia and bias force, and what its joint makes of them.
struct Top {
    inertia: Matrix,
    bias: Six,
    U: Vec<Six>,
    D: Vec<f64>,
    u: Vec<f64>,
}

impl Top {
    fn new(first: &Heavy, ends: &Ends) -> Result<Self, TreeError> {
        let inertia = inverse(&ends.p1).ok_or(TreeError::Singular { link: first.link })?;
        let bias = plus(&[0.0; 6], &apply(&inertia, &ends.b1), -1.0);
        let axes = &first.joint.axes;
        let d = axes.len();
        let U: Vec<Six> = axes.iter().map(|s| apply(&inertia, s)).collect();
        let mut SU = vec![0.0; d * d];
        for k in 0..d {
            for l in 0..d {
                SU[k * d + l] = dot(&axes[k], &U[l]);
            }
        }
        let u = (0..d)
            .map(|k| first.joint.torques[k] - dot(&axes[k], &bias))
            .collect();
        Ok(Self {
            inertia,
            bias,
            U,
            D: invert(&SU, d),
            u,
        })
    }

    /// Adds the branch to the link that carries it.
    fn hang(&self, joint: &Joint, parent: &mut Heavy) {
        let d = joint.axes.len();
        if d == FREEDOMS_MAX {
            // Only the torques of a free joint reach its carrier.
            let mut f = [0.0; 6];
            for k in 0..d {
                f = plus(&f, &joint.axes[k], joint.torques[k]);
            }
            parent.bias = plus(&parent.bias, &apply(&transposed(&joint.X), &f), 1.0);
            return;
        }
        let mut rest = self.inertia;
        let mut bias = self.bias;
        for k in 0..d {
            for l in 0..d {
                let x = self.D[k * d + l];
                for i in 0..6 {
                    for j in 0..6 {
                        rest[i][j] -= x * self.U[k][i] * self.U[l][j];
                    }
                }
                bias = plus(&bias, &self.U[k], x * self.u[l]);
            }
        }
        bias = plus(&bias, &apply(&rest, &joint.drift), 1.0);
        let Xt = transposed(&joint.X);
        let carried = times(&times(&Xt, &rest), &joint.X);
        parent.inertia = sum(&parent.inertia, &carried, 1.0);
        parent.bias = plus(&parent.bias, &apply(&Xt, &bias), 1.0);
    }

    /// Accelerations of the joint from that of the carrier; returns the force on the first link.
    fn settle(&self, joint: &Joint, carrier: &Six, acceleration: &mut [f64]) -> Six {
        let d = joint.axes.len();
        let mut a = plus(&apply(&joint.X, carrier), &joint.drift, 1.0);
        let u: Vec<f64> = (0..d).map(|k| self.u[k] - dot(&self.U[k], &a)).collect();
        for k in 0..d {
            let rate = (0..d).fold(0.0, |s, l| s + self.D[k * d + l] * u[l]);
            acceleration[joint.freedoms[k]] = rate;
            a = plus(&a, &joint.axes[k], rate);
        }
        plus(&apply(&self.inertia, &a), &self.bias, 1.0)
    }
}
