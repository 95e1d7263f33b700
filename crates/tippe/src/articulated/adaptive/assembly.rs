//! The assembly of a tree, kept from one selection to the next: a refresh recomputes only what changed and the way from
//! there to the whole.
//!
//! Reads: `Model`, positions, velocities, torques, loads, `Hybrid` (turns of the rigid pieces).  Writes: `Assembly`.
//! Called by: `body`; `select` and `impact` read it.
//! Source: [Redon05]; [Articulated] slide 44. What is cached depends on the present state alone, so it can be
//! thrown away at any moment without changing a bit of what follows.

use super::hybrid::Hybrid;
use super::join::{Bias, Handles, Join, bias, join};
use super::metric::{Affine, Judge, Quadratic, affine, quadratic};
use super::plan::{NONE, Plan, PlanNode};
use crate::articulated::error::TreeError;
use crate::articulated::inertia::RigidInertia;
use crate::articulated::kinematics::{flow, place};
use crate::articulated::model::{Model, WORLD};
use crate::articulated::six::{ONE, Six, ZERO, force, motion, rigid, transform};
use crate::articulated::spatial::{Force, Frame, Motion};
use crate::math::Vec3;

/// A piece with all its joints locked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rigid {
    /// In the frame of its base.
    pub inertia: RigidInertia,
    /// Its tip in the frame of its base.
    pub tip: Frame,
}

/// What must be computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stale {
    No,
    /// Rates, torques, loads or turns changed.
    Bias,
    /// Positions changed.
    All,
}

/// The state that the cache belongs to.
#[derive(Clone, Debug)]
struct Seen {
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    /// Loads by model node, in its frame.
    loads: Vec<(u32, Force)>,
    judge: Judge,
    /// Nothing is cached yet.
    fresh: bool,
}

/// Everything that is known of the pieces of one tree.
#[derive(Clone, Debug)]
pub(super) struct Assembly {
    pub plan: Plan,
    /// By piece.
    pub rigid: Vec<Rigid>,
    pub handles: Vec<Handles>,
    pub joins: Vec<Join>,
    pub biases: Vec<Bias>,
    pub quadratics: Vec<Quadratic>,
    pub affines: Vec<Affine>,
    /// By model node: its frame in its parent.
    pub frames: Vec<Frame>,
    /// By freedom: weight in the score; torque with springs and friction; rate.
    pub weights: Vec<f64>,
    torques: Vec<f64>,
    pub rates: Vec<f64>,
    /// By model node: its turn [rad/s] in its own axes, zero in pieces that turn slowly.
    turns: Vec<Vec3>,
    /// By piece: whether one of its links has a turn.
    turning: Vec<bool>,
    stale: Vec<Stale>,
    list: Vec<u32>,
    seen: Seen,
    pub judge: Judge,
}

impl Assembly {
    pub fn new(model: &Model, weights: Vec<f64>) -> Self {
        let plan = Plan::new(model);
        let n = plan.nodes.len();
        let handles = plan.nodes.iter().map(|p| {
            let link = &model.nodes[p.base as usize];
            let carries = p.is_leaf() && !p.copied && p.base as usize != WORLD;
            Handles::of_link(if carries { rigid(&link.inertia) } else { ZERO })
        });
        let judge = Judge::CHANGE;
        Self {
            handles: handles.collect(),
            rigid: vec![
                Rigid {
                    inertia: RigidInertia::default(),
                    tip: Frame::IDENTITY,
                };
                n
            ],
            joins: vec![Join::EMPTY; n],
            biases: vec![Bias::default(); n],
            quadratics: vec![Quadratic::ZERO; n],
            affines: vec![Affine::default(); n],
            frames: vec![Frame::IDENTITY; model.nodes.len()],
            torques: vec![0.0; weights.len()],
            rates: vec![0.0; weights.len()],
            weights,
            turns: vec![Vec3::ZERO; model.nodes.len()],
            turning: vec![false; n],
            stale: vec![Stale::No; n],
            list: Vec::new(),
            seen: Seen {
                q: vec![0.0; model.position_count()],
                v: vec![0.0; model.freedom_count()],
                tau: vec![0.0; model.freedom_count()],
                loads: Vec::new(),
                judge,
                fresh: true,
            },
            plan,
            judge,
        }
    }

    /// Forgets everything: the next refresh computes all pieces.
    pub fn forget(&mut self) {
        self.seen.fresh = true;
    }

    /// Torque of a freedom, with springs and friction, at the last refresh.
    pub fn torque(&self, freedom: usize) -> f64 {
        self.torques[freedom]
    }

    /// Parts of a piece that is no link.
    pub fn parts(&self, i: usize) -> (PlanNode, usize, usize) {
        let p = self.plan.nodes[i];
        (p, p.left as usize, p.right as usize)
    }

    /// First part of a refresh: rigid pieces for the positions `q`. Returns the joins that will be computed again.
    pub fn sync(&mut self, model: &Model, q: &[f64]) -> Result<usize, TreeError> {
        let fresh = self.seen.fresh;
        for k in 1..model.nodes.len() {
            let node = &model.nodes[k];
            let at = node.q as usize..node.q as usize + node.joint.position_count();
            let same = same_bits(&q[at.clone()], &self.seen.q[at.clone()]);
            if fresh || !same {
                self.frames[k] = place(node, q)?;
                self.seen.q[at.clone()].copy_from_slice(&q[at]);
                self.mark(self.plan.closed_by[k] as usize, Stale::All);
            }
        }
        if fresh {
            for i in 0..self.plan.nodes.len() {
                self.mark(i, Stale::All);
            }
        }
        self.list.sort_unstable();
        for k in 0..self.list.len() {
            let i = self.list[k] as usize;
            self.rigid[i] = self.rigid_of(model, i);
        }
        Ok(self.list.len())
    }

    fn rigid_of(&self, model: &Model, i: usize) -> Rigid {
        let p = self.plan.nodes[i];
        if p.is_leaf() {
            let inertia = if p.copied || p.base as usize == WORLD {
                RigidInertia::default()
            } else {
                model.nodes[p.base as usize].inertia
            };
            return Rigid {
                inertia,
                tip: Frame::IDENTITY,
            };
        }
        let (a, b) = (&self.rigid[p.left as usize], &self.rigid[p.right as usize]);
        let at = a.tip.compose(&self.joint_frame(&p));
        Rigid {
            inertia: a.inertia.plus(&b.inertia.carried(&at)),
            tip: if p.side { a.tip } else { at.compose(&b.tip) },
        }
    }

    /// Frame of the right piece's base in the left piece's tip.
    pub fn joint_frame(&self, p: &PlanNode) -> Frame {
        if p.joint == 0 {
            Frame::IDENTITY
        } else {
            self.frames[p.joint as usize]
        }
    }

    /// Marks a piece and everything it is part of.
    fn mark(&mut self, piece: usize, stale: Stale) {
        let mut at = piece;
        loop {
            if self.stale[at] >= stale {
                return;
            }
            if self.stale[at] == Stale::No {
                self.list.push(at as u32);
            }
            self.stale[at] = stale;
            match self.plan.nodes[at].parent {
                NONE => return,
                up => at = up as usize,
            }
        }
    }

    /// Second part of a refresh, after `sync`: everything else. Needs `Hybrid::place`. Returns the pieces computed.
    pub fn refresh(
        &mut self,
        model: &Model,
        hybrid: &Hybrid,
        slow_turn: f64,
        v: &[f64],
        tau: &[f64],
        loads: &[(u32, Force)],
    ) -> Result<usize, TreeError> {
        if self.judge != self.seen.judge {
            for i in 0..self.plan.nodes.len() {
                self.mark(i, Stale::Bias);
            }
            self.seen.judge = self.judge;
        }
        self.see_rates(model, v, tau);
        self.see_turns(model, hybrid, slow_turn);
        self.see_loads(loads);
        self.list.sort_unstable();
        for k in 0..self.list.len() {
            let i = self.list[k] as usize;
            self.compute(model, i)?;
        }
        let count = self.list.len();
        for i in self.list.drain(..) {
            self.stale[i as usize] = Stale::No;
        }
        self.seen.fresh = false;
        Ok(count)
    }

    /// Torques and rates that changed.
    fn see_rates(&mut self, model: &Model, v: &[f64], tau: &[f64]) {
        let mut changed = vec![false; v.len()];
        for i in 0..v.len() {
            let same = v[i].to_bits() == self.seen.v[i].to_bits()
                && tau[i].to_bits() == self.seen.tau[i].to_bits();
            if self.seen.fresh || !same {
                changed[i] = true;
                self.torques[i] = tau[i] - model.viscous[i] * v[i];
            }
        }
        for spring in &model.springs {
            let i = spring.v as usize;
            let piece = self.plan.closed_by[model.freedom_nodes[i] as usize] as usize;
            // A spring on a joint that moved pulls anew.
            if changed[i] || self.stale[piece] == Stale::All {
                changed[i] = true;
                self.torques[i] = tau[i] - model.viscous[i] * v[i] + spring.torque(&self.seen.q);
            }
        }
        for i in 0..v.len() {
            if changed[i] {
                (self.seen.v[i], self.seen.tau[i], self.rates[i]) = (v[i], tau[i], v[i]);
                let piece = self.plan.closed_by[model.freedom_nodes[i] as usize];
                self.mark(piece as usize, Stale::Bias);
            }
        }
    }

    /// Turns of pieces that do not turn slowly, or did not.
    fn see_turns(&mut self, model: &Model, hybrid: &Hybrid, slow_turn: f64) {
        for piece in &hybrid.pieces {
            let i = piece.node as usize;
            let w = hybrid.turn_of(piece);
            let slow = w.length_squared() < slow_turn * slow_turn;
            if slow && !self.turning[i] {
                continue;
            }
            for leaf in self.plan.nodes[i].first as usize..=i {
                let p = self.plan.nodes[leaf];
                if !p.is_leaf() || p.copied {
                    continue;
                }
                let link = p.base as usize;
                // Base first: what carries the link has its turn already.
                let turn = if slow {
                    Vec3::ZERO
                } else if p.base == self.plan.nodes[i].base {
                    w
                } else {
                    let up = self.turns[model.nodes[link].parent as usize];
                    self.frames[link]
                        .motion_to_child(Motion::new(up, Vec3::ZERO))
                        .angular
                };
                if turn != self.turns[link] {
                    self.turns[link] = turn;
                    self.mark(leaf, Stale::Bias);
                    for k in self.plan.copies_of(link) {
                        self.mark(self.plan.copies[k].1 as usize, Stale::Bias);
                    }
                }
            }
        }
    }

    fn see_loads(&mut self, loads: &[(u32, Force)]) {
        if self.seen.loads == loads {
            return;
        }
        let old = std::mem::take(&mut self.seen.loads);
        for (link, _) in old.iter().chain(loads) {
            self.mark(self.plan.leaf_of[*link as usize] as usize, Stale::Bias);
        }
        self.seen.loads = loads.to_vec();
    }

    fn compute(&mut self, model: &Model, i: usize) -> Result<(), TreeError> {
        let p = self.plan.nodes[i];
        if p.is_leaf() {
            self.compute_link(model, i, &p);
            return Ok(());
        }
        let (l, r) = (p.left as usize, p.right as usize);
        let node = &model.nodes[p.joint as usize];
        let real = p.joint != 0;
        if self.stale[i] == Stale::All {
            let X = if real {
                transform(&self.frames[p.joint as usize])
            } else {
                ONE
            };
            let kind = real.then_some(node.joint);
            let (a, b) = (&self.handles[l], &self.handles[r]);
            let found = join(a, b, X, kind, p.side, p.open).ok_or(TreeError::Singular {
                link: node.link as usize,
            })?;
            let measured = |j: usize| {
                (
                    &self.handles[j],
                    (!self.plan.nodes[j].is_leaf()).then_some(&self.quadratics[j]),
                )
            };
            let through = !p.side && p.open;
            let weights = &self.weights[freedoms(model, &p)];
            let quadratic = quadratic(&found.0, measured(l), measured(r), through, weights);
            self.quadratics[i] = quadratic;
            (self.joins[i], self.handles[i]) = found;
        }
        let c = if real {
            self.drift(model, p.joint as usize)
        } else {
            [0.0; 6]
        };
        let at = freedoms(model, &p);
        let (a, b) = (
            (&self.handles[l], &self.biases[l]),
            (&self.handles[r], &self.biases[r]),
        );
        let found = bias(&self.joins[i], a, b, &self.torques[at], &c, p.side, p.open);
        self.biases[i] = found;
        let (left, right) = (&self.affines[l], &self.affines[r]);
        self.affines[i] = self.affine_of(model, i, self.judge, &found, left, right);
        self.turning[i] = self.turning[l] || self.turning[r];
        Ok(())
    }

    /// ψ and η of a piece, from its bias and those of its parts.
    pub fn affine_of(
        &self,
        model: &Model,
        i: usize,
        judge: Judge,
        own: &Bias,
        left: &Affine,
        right: &Affine,
    ) -> Affine {
        let p = self.plan.nodes[i];
        let at = freedoms(model, &p);
        let measured = |j: u32, l| {
            let (j, leaf) = (j as usize, self.plan.nodes[j as usize].is_leaf());
            (
                &self.handles[j],
                (!leaf).then_some((&self.quadratics[j], l)),
            )
        };
        affine(
            &self.joins[i],
            own,
            measured(p.left, left),
            measured(p.right, right),
            !p.side && p.open,
            judge,
            &self.weights[at.clone()],
            &self.rates[at],
        )
    }

    fn compute_link(&mut self, model: &Model, i: usize, p: &PlanNode) {
        if p.copied {
            return;
        }
        let link = p.base as usize;
        let w = Motion::new(self.turns[link], Vec3::ZERO);
        let mut f = w.cross_force(model.nodes[link].inertia.times(w));
        for (on, load) in &self.seen.loads {
            if *on as usize == link {
                f = f - *load;
            }
        }
        self.biases[i].p = force(f);
        self.turning[i] = self.turns[link] != Vec3::ZERO;
    }

    /// Acceleration that rates and turns give a link, seen from an origin of its carrier that moves straight on.
    fn drift(&self, model: &Model, k: usize) -> Six {
        let node = &model.nodes[k];
        let up = Motion::new(self.turns[node.parent as usize], Vec3::ZERO);
        let f = flow(node, &self.frames[k], up, &self.rates);
        let turned = f.velocity.angular.cross(f.velocity.linear);
        motion(Motion::new(f.drift.angular, f.drift.linear + turned))
    }
}

/// Freedoms of the joint that a piece closes; none for welds.
pub(super) fn freedoms(model: &Model, p: &PlanNode) -> std::ops::Range<usize> {
    if p.joint == 0 {
        return 0..0;
    }
    let node = &model.nodes[p.joint as usize];
    node.v as usize..node.v as usize + node.joint.freedom_count()
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}
