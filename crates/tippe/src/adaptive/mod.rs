//! Worlds with adaptive trees: before a step the joints that matter are chosen, and the method steps a lean world in
//! which whatever is locked together is one link.
//!
//! Reads: Model, State.  Writes: State (adaptive trees included), Work, StepReport.
//! Called by: `step`.
//! Source: docs/methods/adaptive.md, "In a world"; [Redon05]; [Articulated] slides 44–46. No method knows of it: what
//! they see is an articulation with fewer freedoms.

mod carry;
mod lean;
pub(crate) mod loops;
mod near;
mod select;

pub(crate) use lean::Lean;

use crate::articulated::{AdaptiveState, Load as LinkLoad, TreeError};
use crate::error::StepError;
use crate::method::Method;
use crate::model::Model;
use crate::report::{AdaptiveReport, StepReport};
use crate::state::{AdaptiveMemory, State};
use crate::work::Work;

/// Most times that a step is made again because something new touches an adaptive tree.
const AGAIN_MAX: u32 = 3;

/// Whether a world has adaptive trees.
pub(crate) fn any(model: &Model) -> bool {
    let mut trees = model.present_articulations();
    trees.any(|(_, a)| a.desc.adaptive.is_some())
}

/// What a step takes back if it fails: memory and velocities of a tree before its joints were chosen.
struct Undo {
    index: usize,
    memory: Option<AdaptiveMemory>,
    velocities: Vec<f64>,
}

/// Advances `state` by `dt`, which `step::step` has checked, or leaves it as it was and says why.
pub(crate) fn step(
    model: &Model,
    method: &Method,
    dt: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let mut lean = work.lean.take().unwrap_or_default();
    let mut undo = Vec::new();
    let done = lean.step(model, method, dt, state, work, &mut undo);
    if done.is_err() {
        for u in undo.into_iter().rev() {
            state.adaptive[u.index] = u.memory;
            state.articulations[u.index].velocities = u.velocities;
        }
        crate::step::drop_senseless_loads(state);
        lean = Box::default();
    } else if model.sleeping.is_some() {
        work.backup.copy_from(&lean.before);
    }
    work.lean = Some(lean);
    done
}

impl Lean {
    fn step(
        &mut self,
        model: &Model,
        method: &Method,
        dt: f64,
        state: &mut State,
        work: &mut Work,
        undo: &mut Vec<Undo>,
    ) -> Result<StepReport, StepError> {
        let sleeping = model.sleeping.is_some();
        if sleeping {
            self.before.copy_from(state);
        }
        // Sleepers come and go without an edit.
        let edits = model.edits - model.pushes;
        if self.edits != Some(edits) || sleeping || self.model.gravity != model.gravity {
            (self.edits, self.pushes) = (None, None);
            self.make_others(model)?;
            work.resting.release_all();
            self.edits = Some(edits);
        }
        self.pushed = self.pushes != Some(model.pushes);
        self.pushes = Some(model.pushes);
        let mut done = AdaptiveReport::default();
        let mut taken = self.begin(model, dt, state, undo, &mut done)?;
        self.place(model, state, work)?;
        let struck = self.struck(dt);
        if let Some(lost) = self.choose_for_struck(model, dt, state, &struck, undo, &mut done)? {
            taken += lost;
            self.place(model, state, work)?;
        }
        let mut report = loop {
            let report = crate::step::step(&self.model, method, dt, &mut self.state, work)?;
            let again = done.again < AGAIN_MAX && self.meets(model, state, work);
            if !again {
                break report;
            }
            done.again += 1;
            taken += self.choose_for_impact(model, dt, state, work, &struck, undo, &mut done)?;
            self.place(model, state, work)?;
        };
        self.carry_out(model, state)
            .map_err(|e| self.fails(model, &e))?;
        self.tell(model, work);
        self.remember(model, state, work, dt);
        state.behind = true;
        report.energy.numerical_damping += taken;
        report.energy.potential += self.trees.iter().map(|t| t.potential).sum::<f64>();
        self.account(model, state, &mut done);
        report.adaptive = done;
        Ok(report)
    }

    /// Fills the lean model and its state for the joints that move now.
    fn place(&mut self, model: &Model, state: &State, work: &mut Work) -> Result<(), StepError> {
        self.renew(model, state, work)?;
        self.carry_in(model, state)
            .map_err(|e| self.fails(model, &e))
    }

    /// Makes the pieces anew where other joints move than those they were made for.
    fn renew(&mut self, model: &Model, state: &State, work: &mut Work) -> Result<(), StepError> {
        let same = self.trees.iter().all(|t| {
            let memory = state.adaptive[t.index].as_ref();
            memory.is_some_and(|m| m.joints.active == t.made_for)
        });
        if !same || self.model.bodies.len() < self.full_of.len() + self.trees.len() {
            self.make_pieces(model, state)?;
            work.resting.release_all();
        }
        Ok(())
    }

    fn fails(&self, model: &Model, e: &TreeError) -> StepError {
        let index = self.trees.first().map_or(0, |t| t.index);
        StepError::Articulation {
            name: model.articulation_name(index),
            reason: e.to_string(),
        }
    }

    /// Counts of all trees, and their residuals.
    fn account(&self, model: &Model, state: &State, done: &mut AdaptiveReport) {
        for tree in &self.trees {
            let (Some(a), Some(memory)) = (
                &model.articulations[tree.index],
                &state.adaptive[tree.index],
            ) else {
                continue;
            };
            let moving = memory.joints.active_count();
            done.moving += moving;
            done.locked += memory.joints.active.len() - moving;
            done.residual += memory.joints.residual;
            if let Some(desc) = &a.desc.adaptive {
                match desc.choice {
                    crate::articulated::Choice::Joints(m) => {
                        done.over_budget += moving.saturating_sub(m);
                    }
                    crate::articulated::Choice::Error(e) => {
                        done.excess = done.excess.max(memory.joints.residual - e);
                    }
                }
            }
        }
    }

    /// What the next step needs to know: when to choose again, and the forces on links.
    fn remember(&self, model: &Model, state: &mut State, work: &Work, dt: f64) {
        for (t, tree) in self.trees.iter().enumerate() {
            let loads = self.link_loads(model, t, work, dt);
            let interval = tree.body.desc().interval;
            if let Some(memory) = &mut state.adaptive[tree.index] {
                memory.joints.clock = (memory.joints.clock + 1) % interval;
                memory.loads = loads;
            }
        }
    }

    /// Forces that contacts and joints put on the links of a tree in the step.
    fn link_loads(&self, model: &Model, t: usize, work: &Work, dt: f64) -> Vec<LinkLoad> {
        let mut out = Vec::new();
        let link = |slot: u32| {
            let (tree, link) = self.link_of[slot as usize];
            (tree as usize == t).then_some(link as usize)
        };
        for c in &work.contact_forces {
            let force = c.impulse() / dt;
            for (slot, sign) in [(c.body_a.index, -1.0), (c.body_b.index, 1.0)] {
                if let Some(link) = link(slot) {
                    out.push(LinkLoad::new(link, c.point, force * sign));
                }
            }
        }
        for f in &work.joint_forces {
            let i = f.joint.index();
            let (Some(joint), Some(lean)) = (&model.joints[i], &self.model.joints[i]) else {
                continue;
            };
            let at = lean
                .place(&self.state.bodies, &self.state.joints)
                .b
                .position;
            for (slot, sign) in [(joint.a, -1.0), (Some(joint.b), 1.0)] {
                if let Some(link) = slot.and_then(link) {
                    out.push(LinkLoad {
                        torque: f.torque * sign,
                        ..LinkLoad::new(link, at, f.force * sign)
                    });
                }
            }
        }
        out
    }
}

impl AdaptiveMemory {
    /// Everything moves, and the next step chooses.
    pub(crate) fn new(tree: &crate::articulated::Model) -> Self {
        Self {
            joints: AdaptiveState::new(tree),
            loads: Vec::new(),
            loaded: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::articulated::{AdaptiveDesc, Joint, LinkDesc};
    use crate::articulation::{ArticulationDesc, LinkBodyDesc};
    use crate::math::{Mat3, Pose, Vec3};
    use crate::shape::MassProperties;
    use crate::{Shape, World};

    const LINKS: usize = 400;

    /// A horizontal chain on a fixed hinge, without gravity: nothing moves but what is pushed.
    fn chain() -> (World, Vec<crate::BodyId>) {
        let mass = MassProperties {
            mass: 1.0,
            center: Vec3::X * 0.5,
            inertia: Mat3::from_diagonal(Vec3::new(0.01, 0.08, 0.08)),
        };
        let link = |i: usize| {
            let place = Pose::from_position(if i == 0 { Vec3::ZERO } else { Vec3::X });
            let hinge = Joint::Revolute { axis: Vec3::Y };
            let mut link = LinkBodyDesc::new(LinkDesc::new(i.checked_sub(1), hinge, place, mass));
            link.shapes.push(Shape::Sphere { radius: 0.2 }.into());
            link
        };
        let mut world = World::default();
        world.set_gravity(Vec3::ZERO).expect("finite");
        let id = world
            .add_articulation(&ArticulationDesc {
                links: (0..LINKS).map(link).collect(),
                adaptive: Some(AdaptiveDesc::joints(4)),
                ..ArticulationDesc::default()
            })
            .expect("a good chain");
        let links = world.link_bodies(id).expect("it exists");
        (world, links)
    }

    #[test]
    fn ab_37_poses_of_locked_links_are_computed_when_somebody_looks() {
        let (mut world, links) = chain();
        let mut looked = world.clone();
        for k in 0..24 {
            for w in [&mut world, &mut looked] {
                let push = Vec3::Z * f64::from(k);
                let at = w.position_of(links[LINKS - 1].index());
                w.apply_force(links[LINKS - 1], push, at)
                    .expect("it exists");
                w.step(1e-3).expect("the chain is sound");
            }
            // The step left the links where they were, and asking where one of them is does not place the others.
            assert!(world.state.behind && world.placed.get().is_none());
            let last = looked.pose(links[LINKS - 1]).expect("it exists");
            assert!(looked.placed.get().is_some());
            let center = last.point(Vec3::X * 0.5);
            let alone = world.position_of(links[LINKS - 1].index());
            assert!((center - alone).length() < 1e-12, "{center} {alone}");
        }
        assert!(world.placed.get().is_none());
        assert_eq!(world.hash(), looked.hash());
    }

    #[test]
    fn ab_37_detection_refits_only_the_shapes_of_pieces_that_move() {
        let (mut world, links) = chain();
        let mut refitted = Vec::new();
        for _ in 0..24 {
            let at = world.position_of(links[LINKS - 1].index());
            let last = links[LINKS - 1];
            world.apply_force(last, Vec3::Z, at).expect("it exists");
            let report = world.step(1e-3).expect("the chain is sound");
            // Links that what moves carries; the others are locked to the world.
            let carried = links
                .iter()
                .position(|l| !world.is_locked(*l).expect("it exists"));
            let carried = LINKS - carried.expect("some joint moves");
            let made = world.work.detection.refitted;
            assert!(made == carried || made == LINKS, "{made} of {carried}");
            refitted.push((made, report.adaptive.selections));
        }
        // All of them only where joints were chosen, and not even then where the choice is the same.
        let whole = refitted.iter().filter(|(made, _)| *made == LINKS);
        assert!(whole.clone().all(|(_, chosen)| *chosen > 0), "{refitted:?}");
        assert!(whole.count() <= 2, "{refitted:?}");
        let least = refitted.iter().map(|(made, _)| *made).min();
        assert!(least.is_some_and(|m| m <= 40), "{refitted:?}");
    }
}
