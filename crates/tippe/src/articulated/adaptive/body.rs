//! An adaptive body: selection, locking and motion of one tree, for a caller who holds its state.
//!
//! Reads: `Model`, `AdaptiveState`, positions, velocities, torques, loads.  Writes: `AdaptiveState`, positions,
//! velocities; `AdaptiveBody`.
//! Called by: users.
//! Source: [Redon05]; [Articulated] slides 44–46. Order of a selection: refresh the assembly, choose, keep what is
//! too fast or was chosen a moment ago, lock the rest.

use super::assembly::Assembly;
use super::desc::{AdaptiveDesc, AdaptiveState, Choice, Score};
use super::hybrid::Hybrid;
use super::lock::lock;
use super::metric::Judge;
use super::select::{Chosen, Field, Region, choose};
use crate::articulated::error::TreeError;
use crate::articulated::integrate::{Integrator, step};
use crate::articulated::joint::Plain;
use crate::articulated::load::Load;
use crate::articulated::model::{Model, WORLD};
use crate::articulated::six::{Six, motion};
use crate::articulated::spatial::{Force, Frame, Motion};
use crate::error::BuildError;
use crate::math::Vec3;

/// A coordinate this near to its limit, as a fraction of its range, is at it [1].
const AT_LIMIT: f64 = 1e-6;

/// What acts on a tree.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveInput<'a> {
    /// Torques and forces of the joints, by freedom.
    pub tau: &'a [f64],
    /// Forces on links.
    pub loads: &'a [Load],
    /// Plain joints that must move: motors, whatever the caller holds rows for.
    pub pins: &'a [usize],
}

/// What a selection did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Selection {
    /// Error estimate R: the score of all joints that stay locked.
    pub residual: f64,
    /// The score of all joints.
    pub total: f64,
    /// Joints that move.
    pub active: usize,
    /// Joints above the budget that had to go on moving.
    pub over_budget: usize,
    /// Joints that were locked.
    pub locked: usize,
    /// Joints that were released.
    pub released: usize,
    /// Kinetic energy that locking took [J]: numerical damping.
    pub energy_taken: f64,
    /// Pieces of the assembly that were computed anew.
    pub refreshed: usize,
    /// Pieces the choice looked at.
    pub visited: usize,
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AdaptiveStep {
    /// Error estimate R of the last selection.
    pub residual: f64,
    /// Loss to viscous joint friction [J].
    pub dissipated: f64,
    /// The selection, if this step made one.
    pub selection: Option<Selection>,
}

/// Scratch and caches of an adaptive body. Can be made anew from model and description at any moment, without changing
/// a result.
#[derive(Clone, Debug)]
pub struct AdaptiveBody {
    pub(super) desc: AdaptiveDesc,
    pub(super) assembly: Assembly,
    pub(super) hybrid: Hybrid,
    /// The joints the hybrid body was made for; empty if it has to be made.
    pub(super) made_for: Vec<bool>,
    /// Model nodes with limits.
    limited: Vec<u32>,
    /// Model nodes that nothing can lock: free joints.
    free: Vec<u32>,
    pub(super) tau: Vec<f64>,
    pub(super) loads: Vec<Load>,
}

impl AdaptiveBody {
    /// For a tree without closed loops; `loop_joints` is how many joints close loops of it.
    ///
    /// # Errors
    /// What `AdaptiveDesc::check` refuses.
    pub fn new(model: &Model, desc: AdaptiveDesc, loop_joints: usize) -> Result<Self, BuildError> {
        desc.check(model, loop_joints)?;
        let assembly = Assembly::new(model, desc.weights_of(model));
        let which = |f: &dyn Fn(usize) -> bool| -> Vec<u32> {
            (1..model.nodes.len())
                .filter(|k| f(*k))
                .map(|k| k as u32)
                .collect()
        };
        let hybrid = Hybrid::new(model, &assembly, &Region::closed(&assembly.plan));
        Ok(Self {
            limited: which(&|k| model.descs[model.nodes[k].link as usize].limits.is_some()),
            free: which(&|k| model.nodes[k].joint == Plain::Free),
            desc,
            assembly,
            hybrid,
            made_for: Vec::new(),
            tau: Vec::new(),
            loads: Vec::new(),
        })
    }

    /// How it adapts.
    #[must_use]
    pub const fn desc(&self) -> &AdaptiveDesc {
        &self.desc
    }

    /// Joins on the longest way from a link to the whole assembly.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.assembly.plan.depth
    }

    /// The next call makes the hybrid body anew: positions or gravity were changed from outside. What else is cached
    /// finds out by itself.
    pub(crate) fn remake(&mut self) {
        self.made_for.clear();
    }

    /// Forgets what is cached. To be called when positions of locked joints were changed from outside.
    pub fn forget(&mut self) {
        self.assembly.forget();
        self.made_for.clear();
    }

    /// Advances positions and velocities by `h` [s]; selects first if it is time to. After an error nothing has changed
    /// but what the selection did.
    pub fn step(
        &mut self,
        model: &Model,
        state: &mut AdaptiveState,
        integrator: Integrator,
        h: f64,
        input: &AdaptiveInput,
        q: &mut [f64],
        v: &mut [f64],
    ) -> Result<AdaptiveStep, TreeError> {
        self.check_sizes(model, state, q, v, input.tau)?;
        let mut out = AdaptiveStep::default();
        if state.clock == 0 {
            out.selection = Some(self.select(model, state, h, input, q, v)?);
        } else {
            self.make(model, state, q)?;
        }
        self.hybrid.gather(q, v);
        self.gather_input(model, input)?;
        let hybrid = &mut self.hybrid;
        step(
            &hybrid.model,
            integrator,
            h,
            &self.tau,
            &self.loads,
            &mut hybrid.q,
            &mut hybrid.v,
            &mut hybrid.work,
        )
        .map_err(|e| self.named(model, e))?;
        self.hybrid.scatter(q, v);
        state.clock = (state.clock + 1) % self.desc.interval;
        out.residual = state.residual;
        out.dissipated = self.hybrid.work.dissipated();
        Ok(out)
    }

    /// Chooses the joints that move and locks the others; `h` is the step [s] whose multiple the score looks ahead.
    pub fn select(
        &mut self,
        model: &Model,
        state: &mut AdaptiveState,
        h: f64,
        input: &AdaptiveInput,
        q: &[f64],
        v: &mut [f64],
    ) -> Result<Selection, TreeError> {
        let (now, refreshed) = self.refresh(model, state, h, input, q, v)?;
        let field = Field {
            judge: self.assembly.judge,
            world: world(model),
            impulses: None,
        };
        let mut must = self.region_of(self.held(model, &now, q, v, input)?);
        let choice = self.desc.choice;
        let mut chosen = choose(model, &self.assembly, &field, choice, &must, &now);
        let mut visited = chosen.visited;
        if self.keep(model, state, &now, &chosen, &mut must) {
            chosen = choose(model, &self.assembly, &field, choice, &must, &now);
            visited += chosen.visited;
        }
        let mut out = self.change(model, state, &now, &chosen, q, v)?;
        out.refreshed = refreshed;
        out.visited = visited;
        state.residual = chosen.residual;
        Ok(out)
    }

    /// Brings the assembly up to date. Returns what moves now, and how many pieces were computed.
    pub(super) fn refresh(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        h: f64,
        input: &AdaptiveInput,
        q: &[f64],
        v: &[f64],
    ) -> Result<(Region, usize), TreeError> {
        model.check_positions(q)?;
        model.check_freedoms("v", v)?;
        model.check_freedoms("tau", input.tau)?;
        if !h.is_finite() {
            return Err(TreeError::NonFinite { argument: "h" });
        }
        self.check_sizes(model, state, q, v, input.tau)?;
        self.assembly.sync(model, q)?;
        // Whatever has a rate moves, and so does whatever is free.
        let moves = (1..model.nodes.len()).filter(|k| {
            let node = &model.nodes[*k];
            let at = node.v as usize..node.v as usize + node.joint.freedom_count();
            state.active[k - 1] || node.joint == Plain::Free || v[at].iter().any(|x| *x != 0.0)
        });
        let now = self.region_of(moves.map(|k| k as u32).collect());
        self.hybrid = Hybrid::new(model, &self.assembly, &now);
        self.made_for.clear();
        self.hybrid.gather(q, v);
        self.hybrid.place()?;
        let loads = self.node_loads(model, input.loads)?;
        self.assembly.judge = match self.desc.score {
            Score::Acceleration => Judge::CHANGE,
            Score::Velocity => Judge {
                rate: 1.0,
                step: h.abs() * f64::from(self.desc.interval),
            },
        };
        let slow = self.desc.slow_turn;
        let count = self
            .assembly
            .refresh(model, &self.hybrid, slow, v, input.tau, &loads)?;
        Ok((now, count))
    }

    /// Loads as forces on model nodes, in their frames.
    fn node_loads(&self, model: &Model, loads: &[Load]) -> Result<Vec<(u32, Force)>, TreeError> {
        let mut out = Vec::with_capacity(loads.len());
        for load in loads {
            let node = model.link("load.link", load.link)?.node;
            let on = self.hybrid.load(model, &self.assembly, load)?;
            let (_, f) = on.on_node(&self.hybrid.model, &self.hybrid.work)?;
            let (_, frame) = self.hybrid.place_of(&self.assembly, node as usize);
            // Links that are fixed to the world for ever feel nothing; those that are locked to it now may be released.
            if node as usize != WORLD {
                out.push((node, frame.force_to_child(f)));
            }
        }
        Ok(out)
    }

    /// Model nodes that have to move: free joints, joints at a limit, pins.
    fn must_move(
        &self,
        model: &Model,
        q: &[f64],
        input: &AdaptiveInput,
    ) -> Result<Vec<u32>, TreeError> {
        let mut out = self.free.clone();
        for &k in &self.limited {
            let node = &model.nodes[k as usize];
            if let Some(l) = model.descs[node.link as usize].limits {
                let near = AT_LIMIT * (l.max - l.min);
                let x = q[node.q as usize];
                if x <= l.min + near || x >= l.max - near {
                    out.push(k);
                }
            }
        }
        for &joint in input.pins {
            if joint + 1 >= model.nodes.len() {
                return Err(TreeError::OutOfRange {
                    argument: "pins",
                    found: joint,
                    count: model.nodes.len() - 1,
                });
            }
            out.push(joint as u32 + 1);
        }
        Ok(out)
    }

    /// The region in which the joints of these model nodes move.
    pub(super) fn region_of(&self, moving: Vec<u32>) -> Region {
        let mut out = Region::closed(&self.assembly.plan);
        for k in moving {
            out.release(&self.assembly.plan, k);
        }
        out
    }

    /// Model nodes that no choice may lock: those that have to move, and those that move too fast to be stopped.
    pub(super) fn held(
        &self,
        model: &Model,
        now: &Region,
        q: &[f64],
        v: &[f64],
        input: &AdaptiveInput,
    ) -> Result<Vec<u32>, TreeError> {
        let mut out = self.must_move(model, q, input)?;
        let moves = |k: usize| now.moves[self.assembly.plan.closed_by[k] as usize];
        let fast = (1..model.nodes.len()).filter(|k| moves(*k) && self.is_fast(model, *k, v));
        out.extend(fast.map(|k| k as u32));
        Ok(out)
    }

    /// Adds joints to `must` that were not chosen but were a moment ago. Counts idle selections.
    fn keep(
        &self,
        model: &Model,
        state: &mut AdaptiveState,
        now: &Region,
        chosen: &Chosen,
        must: &mut Region,
    ) -> bool {
        let mut kept = false;
        for k in 1..model.nodes.len() {
            let piece = self.assembly.plan.closed_by[k] as usize;
            if chosen.region.moves[piece] || !now.moves[piece] {
                state.idle[k - 1] = 0;
                continue;
            }
            let idle = &mut state.idle[k - 1];
            *idle = idle.saturating_add(1);
            if *idle < self.desc.patience {
                must.release(&self.assembly.plan, k as u32);
                kept = true;
            }
        }
        kept
    }

    /// Whether a joint moves too fast to be locked.
    fn is_fast(&self, model: &Model, k: usize, v: &[f64]) -> bool {
        let node = &model.nodes[k];
        let at = node.v as usize;
        let square = (at..at + node.joint.freedom_count())
            .fold(0.0, |s, i| s + self.assembly.weights[i] * v[i] * v[i]);
        square > self.desc.lock_speed * self.desc.lock_speed
    }

    /// Makes the chosen joints move and the others stop.
    pub(super) fn change(
        &mut self,
        model: &Model,
        state: &mut AdaptiveState,
        now: &Region,
        chosen: &Chosen,
        q: &[f64],
        v: &mut [f64],
    ) -> Result<Selection, TreeError> {
        let mut out = Selection {
            residual: chosen.residual,
            total: chosen.total,
            active: chosen.joints,
            ..Selection::default()
        };
        if let Choice::Joints(m) = self.desc.choice {
            out.over_budget = chosen.joints.saturating_sub(m);
        }
        let closed_by = &self.assembly.plan.closed_by[1..];
        for piece in closed_by {
            let piece = *piece as usize;
            let (before, after) = (now.moves[piece], chosen.region.moves[piece]);
            out.locked += usize::from(before && !after);
            out.released += usize::from(after && !before);
        }
        let mut after = Hybrid::new(model, &self.assembly, &chosen.region);
        after.gather(q, v);
        if out.locked > 0 {
            if out.released > 0 {
                // Locking starts from everything that moves before or after.
                let both = now.union(&chosen.region);
                self.hybrid = Hybrid::new(model, &self.assembly, &both);
                self.hybrid.gather(q, v);
            }
            self.hybrid.place()?;
            out.energy_taken = lock(&self.hybrid, &mut after)?;
            for i in &self.hybrid.v_at {
                v[*i as usize] = 0.0;
            }
            for (x, i) in after.v.iter().zip(&after.v_at) {
                v[*i as usize] = *x;
            }
        }
        for (moves, piece) in state.active.iter_mut().zip(closed_by) {
            *moves = chosen.region.moves[*piece as usize];
        }
        self.hybrid = after;
        self.made_for.clone_from(&state.active);
        Ok(out)
    }

    /// The hybrid body of the present state, made anew if it belongs to another.
    pub(super) fn make(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        q: &[f64],
    ) -> Result<(), TreeError> {
        if self.made_for == state.active {
            return Ok(());
        }
        model.check_positions(q)?;
        self.assembly.sync(model, q)?;
        let moving = (1..model.nodes.len()).filter(|k| state.active[k - 1]);
        let region = self.region_of(moving.map(|k| k as u32).collect());
        self.hybrid = Hybrid::new(model, &self.assembly, &region);
        self.made_for.clone_from(&state.active);
        Ok(())
    }

    /// Torques and loads of the hybrid body.
    pub(super) fn gather_input(
        &mut self,
        model: &Model,
        input: &AdaptiveInput,
    ) -> Result<(), TreeError> {
        self.tau.clear();
        let at = self.hybrid.v_at.iter();
        self.tau.extend(at.map(|i| input.tau[*i as usize]));
        self.loads.clear();
        for load in input.loads {
            let on = self.hybrid.load(model, &self.assembly, load)?;
            self.loads.push(on);
        }
        Ok(())
    }

    pub(super) fn check_sizes(
        &self,
        model: &Model,
        state: &AdaptiveState,
        q: &[f64],
        v: &[f64],
        tau: &[f64],
    ) -> Result<(), TreeError> {
        let joints = model.nodes.len() - 1;
        for (argument, found, expected) in [
            ("q", q.len(), model.position_count()),
            ("v", v.len(), model.freedom_count()),
            ("tau", tau.len(), model.freedom_count()),
            ("state.active", state.active.len(), joints),
            ("state.idle", state.idle.len(), joints),
        ] {
            model.check_output(argument, found, expected)?;
        }
        if self.assembly.frames.len() == model.nodes.len() {
            Ok(())
        } else {
            Err(TreeError::NotPrepared {
                call: "AdaptiveBody::new",
            })
        }
    }

    /// An error of the hybrid body, with the link the user knows.
    pub(super) fn named(&self, model: &Model, e: TreeError) -> TreeError {
        match e {
            TreeError::Singular { link } => TreeError::Singular {
                link: self.link_behind(model, link),
            },
            TreeError::BadQuaternion { link } => TreeError::BadQuaternion {
                link: self.link_behind(model, link),
            },
            other => other,
        }
    }

    fn link_behind(&self, model: &Model, link: usize) -> usize {
        let node = self.hybrid.nodes.get(link).copied().unwrap_or(0);
        model.nodes[node as usize].link as usize
    }

    /// The frame of a link in the world for the positions `q`, in time that grows with the depth of the assembly. Needs
    /// a selection or a step before; `place` must have been called since.
    pub fn link_pose(&self, model: &Model, link: usize) -> Result<Frame, TreeError> {
        let (body, frame) = self.hybrid.link(model, &self.assembly, link)?;
        crate::articulated::work::needs(self.hybrid.work.ready.poses, "AdaptiveBody::place")?;
        Ok(self.hybrid.work.poses[body].compose(&frame))
    }

    /// Poses and velocities of the rigid pieces at `q` and `v`.
    pub fn place(
        &mut self,
        model: &Model,
        state: &AdaptiveState,
        q: &[f64],
        v: &[f64],
    ) -> Result<(), TreeError> {
        self.check_sizes(model, state, q, v, v)?;
        self.make(model, state, q)?;
        self.hybrid.gather(q, v);
        self.hybrid.place()
    }
}

/// The acceleration of the world that stands for gravity.
pub(super) fn world(model: &Model) -> Six {
    motion(Motion::new(Vec3::ZERO, -model.gravity))
}
