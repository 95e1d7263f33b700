//! Articulations in a step of two halves: their free motion, and how their links answer the impulses of a solve.
//!
//! Reads: Model (articulations), State.  Writes: states of articulations and of the bodies of their links; solver bodies.
//! Called by: the phases of `halves`, which know a link only by its body slot.
//! Source: [Articulated] slides 20–31; docs/methods.md, "Articulated bodies". Letters: Ω = J M⁻¹ Jᵀ over the touched links of a tree, six
//! rows each (velocity of the centre of mass, angular velocity), so that a push on one link changes the velocities of all of them at once.

#![allow(non_snake_case)]

use super::row::SolverBody;
use crate::articulated::{
    Integrator, Load, Work as TreeWork, advance as drift, articulate, crba, impulse_response,
    jacobian as jacobian_of, kinematics, link_pose, link_velocity, spring_energy, step,
};
use crate::articulated::{Motion, TreeError};
use crate::articulation::{Articulation, ArticulationState};
use crate::dynamics::joint::JointRow;
use crate::math::{Mat3, Quat, Vec3, rotation};
use crate::model::{BodyKind, Model};
use crate::report::EnergyLedger;
use crate::state::{BodyState, State};
use std::ops::{Deref, DerefMut};

const NONE: u32 = u32::MAX;
/// Turn of a joint that one part of a step may take [rad].
const TURN: f64 = 0.1;
/// Most parts of a step.
const PARTS_MAX: u32 = 64;

/// Most freedoms of a tree that takes part in a direct solve.
const FREEDOMS_MAX: usize = 384;

/// A force or impulse with its moment about the centre of mass, or a velocity with its spin.
pub(crate) type Pair = (Vec3, Vec3);

/// Solver bodies by slot, and the trees that some of them are links of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bodies {
    pub flat: Vec<SolverBody>,
    /// By slot: tree and first row in its Ω, for links that something touches or is joined to. Empty without articulations.
    ports: Vec<Port>,
    /// By articulation slot.
    trees: Vec<Tree>,
}

/// What `Bodies::keep` kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    flat: Vec<SolverBody>,
    impulses: Vec<f64>,
}

/// A link and its tree for a direct solve: H, and the Jacobian of the link's velocity and angular velocity at its centre of mass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub tree: u32,
    pub freedoms: usize,
    pub inertia: &'a [f64],
    pub jacobian: &'a [f64],
}

#[derive(Clone, Copy, Debug)]
struct Port {
    tree: u32,
    row: u32,
}

/// What the solves need of one articulation.
#[derive(Clone, Debug, Default)]
struct Tree {
    /// Touched links: number and body slot.
    links: Vec<(u32, u32)>,
    /// Ω by rows, six for each touched link.
    response: Vec<f64>,
    /// The joint-space inertia matrix, and six rows of the Jacobian for each touched link; empty if it is too large for a direct solve.
    inertia: Vec<f64>,
    jacobian: Vec<f64>,
    freedoms: usize,
    /// Impulses on the touched links since the load, six numbers each.
    impulse: Vec<f64>,
    scratch: Option<Box<Scratch>>,
    /// Where it would be at the end of the step, and its links; written by `fly`.
    next: ArticulationState,
    poses: Vec<BodyState>,
    /// Loss to joint friction on that flight [J].
    dissipated: f64,
    /// How long that flight was, if nothing touched the tree [s]: it need not be followed twice.
    untouched: Option<f64>,
    /// What went wrong.
    error: Option<TreeError>,
}

#[derive(Clone, Debug)]
struct Scratch {
    work: TreeWork,
    loads: Vec<Load>,
    change: Vec<f64>,
    tau: Vec<f64>,
    /// Where a flight starts, in case it has to start again.
    start: ArticulationState,
}

impl Deref for Bodies {
    type Target = [SolverBody];
    fn deref(&self) -> &[SolverBody] {
        &self.flat
    }
}

impl DerefMut for Bodies {
    fn deref_mut(&mut self) -> &mut [SolverBody] {
        &mut self.flat
    }
}

/// A link in a solve: its velocities are kept, its response is its tree's. The mass only says that it is no prescribed side.
const LINK: SolverBody = SolverBody {
    inverse_mass: 1.0,
    ..SolverBody::FIXED
};

impl Bodies {
    /// Whether a slot is a link that moves with its tree.
    pub(crate) fn is_link(&self, slot: u32) -> bool {
        self.ports
            .get(slot as usize)
            .is_some_and(|p| p.tree != NONE)
    }

    /// Whether the tree of a link can be a part of a direct solve.
    pub(crate) fn has_view(&self, slot: u32) -> bool {
        self.view(slot).is_some()
    }

    /// What a direct solve needs of a link and its tree.
    pub(crate) fn view(&self, slot: u32) -> Option<View<'_>> {
        let port = self.ports.get(slot as usize).filter(|p| p.tree != NONE)?;
        let tree = &self.trees[port.tree as usize];
        let (n, start) = (tree.freedoms, port.row as usize);
        Some(View {
            tree: port.tree,
            freedoms: n,
            inertia: tree.inertia.get(..n * n)?,
            jacobian: tree.jacobian.get(start * n..(start + 6) * n)?,
        })
    }

    /// Whether either of two slots is one.
    pub(crate) fn linked(&self, a: u32, b: u32) -> bool {
        !self.ports.is_empty() && (self.is_link(a) || self.is_link(b))
    }

    /// Changes of velocity of two slots by impulses on both, together.
    pub(crate) fn answer(&self, a: u32, b: u32, on_a: Pair, on_b: Pair) -> (Pair, Pair) {
        let one = |to: u32, impulses: [(u32, Pair); 2]| {
            if !self.is_link(to) {
                let (body, own) = (&self.flat[to as usize], impulses[0].1);
                return (own.0 * body.inverse_mass, body.inverse_inertia * own.1);
            }
            let port = self.ports[to as usize];
            let tree = &self.trees[port.tree as usize];
            let mut d = (Vec3::ZERO, Vec3::ZERO);
            for (from, impulse) in impulses {
                if self.is_link(from) && self.ports[from as usize].tree == port.tree {
                    let part = tree.times(port.row, self.ports[from as usize].row, impulse);
                    d = (d.0 + part.0, d.1 + part.1);
                }
            }
            d
        };
        (
            one(a, [(a, on_a), (b, on_b)]),
            one(b, [(b, on_b), (a, on_a)]),
        )
    }

    /// How the velocity along one joint row answers an impulse along another: `J_to M⁻¹ J_fromᵀ`.
    pub(crate) fn row_answer(&self, a: u32, b: u32, to: &JointRow, from: &JointRow) -> f64 {
        let (d_a, d_b) = self.answer(a, b, (-from.e, from.ang_a), (from.e, from.ang_b));
        to.e.dot(d_b.0 - d_a.0) + to.ang_a.dot(d_a.1) + to.ang_b.dot(d_b.1)
    }

    /// An impulse with its moment about the centre of mass, on a link or a body.
    pub(crate) fn push(&mut self, slot: u32, P: Vec3, moment: Vec3) {
        if !self.is_link(slot) {
            let body = &mut self.flat[slot as usize];
            body.v += P * body.inverse_mass;
            body.w += body.inverse_inertia * moment;
            return;
        }
        let port = self.ports[slot as usize];
        let tree = &mut self.trees[port.tree as usize];
        let own = &mut tree.impulse[port.row as usize..port.row as usize + 6];
        for (x, y) in own.iter_mut().zip(flat((P, moment))) {
            *x += y;
        }
        for (k, &(_, slot)) in tree.links.iter().enumerate() {
            let d = tree.times(6 * k as u32, port.row, (P, moment));
            let body = &mut self.flat[slot as usize];
            body.v += d.0;
            body.w += d.1;
        }
    }

    /// Velocities and responses at the present state, for a solve. `touched` are slots that contacts and joints act on.
    pub(crate) fn load_trees(
        &mut self,
        model: &Model,
        state: &State,
        touched: impl Iterator<Item = u32>,
    ) {
        self.ports.clear();
        if model.articulations.is_empty() {
            return;
        }
        self.ports
            .resize(model.bodies.len() + 1, Port { tree: NONE, row: 0 });
        self.trees
            .resize_with(model.articulations.len(), Tree::default);
        for tree in &mut self.trees {
            tree.links.clear();
            tree.impulse.clear();
        }
        for slot in touched {
            let Some(Some(body)) = model.bodies.get(slot as usize) else {
                continue;
            };
            if let BodyKind::Link { articulation, link } = body.kind
                && self.ports[slot as usize].tree == NONE
            {
                let tree = &mut self.trees[articulation as usize];
                self.ports[slot as usize] = Port {
                    tree: articulation,
                    row: 6 * tree.links.len() as u32,
                };
                tree.links.push((link, slot));
            }
        }
        for (slot, body) in model.present() {
            if matches!(body.kind, BodyKind::Link { .. }) {
                let s = &state.bodies[slot];
                self.flat[slot] = SolverBody {
                    v: s.velocity,
                    w: s.angular_velocity,
                    ..LINK
                };
            }
        }
        for (i, articulation) in model.present_articulations() {
            let tree = &mut self.trees[i];
            if tree.links.is_empty() {
                continue;
            }
            let done = tree
                .respond(articulation, &state.articulations[i], &state.bodies)
                .and_then(|()| tree.outline(articulation, &state.articulations[i], &state.bodies));
            if let Err(e) = done {
                tree.error = Some(e);
            }
        }
    }

    /// Free motion of one articulation for `h`, with the impulses of the solve if `kicked`.
    /// Its `poses` are where its links come to.
    fn fly(
        &mut self,
        model: &Model,
        i: usize,
        articulation: &Articulation,
        state: &State,
        h: f64,
        kicked: bool,
    ) {
        let tree = &mut self.trees[i];
        tree.untouched = None;
        tree.next.clone_from(&state.articulations[i]);
        let done = tree
            .kick(articulation, kicked, &state.bodies)
            .and_then(|()| tree.move_on(model, articulation, state, h))
            .and_then(|()| tree.place(articulation));
        match done {
            Ok(()) if !kicked || tree.is_unpushed() => tree.untouched = Some(h),
            Ok(()) => {}
            Err(e) => tree.error = Some(e),
        }
    }

    /// Where all links would be at t + h if nothing touched them.
    pub(crate) fn predict(
        &mut self,
        model: &Model,
        state: &State,
        h: f64,
        predicted: &mut [BodyState],
    ) {
        self.trees
            .resize_with(model.articulations.len(), Tree::default);
        for (i, articulation) in model.present_articulations() {
            self.trees[i].error = None;
            self.fly(model, i, articulation, state, h, false);
            self.trees[i].write(articulation, predicted);
        }
    }

    /// Where the tree of a link goes with the impulses found so far.
    pub(crate) fn look_ahead(
        &mut self,
        model: &Model,
        articulation: u32,
        state: &State,
        h: f64,
        predicted: &mut [BodyState],
    ) {
        let i = articulation as usize;
        if let Some(Some(a)) = model.articulations.get(i) {
            self.fly(model, i, a, state, h, true);
            self.trees[i].write(a, predicted);
        }
    }

    /// Moves all articulations for `h` with the impulses of the first solve; books joint friction, springs and the work of the user's forces.
    pub(crate) fn advance(
        &mut self,
        model: &Model,
        state: &mut State,
        h: f64,
        ledger: &mut EnergyLedger,
    ) {
        for (i, articulation) in model.present_articulations() {
            // Where nothing pushed it, it goes where it was predicted to go.
            let known = &self.trees[i];
            if known.untouched != Some(h) || !known.is_unpushed() {
                self.fly(model, i, articulation, state, h, true);
            }
            let tree = &mut self.trees[i];
            tree.untouched = None;
            ledger.joint_friction += tree.dissipated;
            let sprung = |s: &ArticulationState| spring_energy(&articulation.tree, &s.positions);
            ledger.motors += sprung(&state.articulations[i]) - sprung(&tree.next);
            std::mem::swap(&mut state.articulations[i], &mut tree.next);
            for (&slot, after) in articulation.slots.iter().zip(&tree.poses) {
                let (load, before) = (&state.loads[slot as usize], &state.bodies[slot as usize]);
                ledger.external += load.force.dot(after.position - before.position)
                    + load
                        .torque
                        .dot(before.angular_velocity + after.angular_velocity)
                        * (0.5 * h);
            }
            tree.write(articulation, &mut state.bodies);
        }
    }

    /// Takes the impulses of a finished solve into the velocities of the state.
    pub(crate) fn finish(&mut self, model: &Model, state: &mut State) {
        for (i, articulation) in model.present_articulations() {
            let tree = &mut self.trees[i];
            if tree.is_unpushed() {
                continue;
            }
            tree.untouched = None;
            tree.next.clone_from(&state.articulations[i]);
            let done = tree
                .kick(articulation, true, &state.bodies)
                .and_then(|()| tree.place(articulation));
            if let Err(e) = done {
                tree.error = Some(e);
            }
            tree.write(articulation, &mut state.bodies);
            std::mem::swap(&mut state.articulations[i], &mut tree.next);
        }
    }

    /// Takes the impulses of the pose-only pass as displacements.
    pub(crate) fn displace(&mut self, model: &Model, state: &mut State) {
        for (i, articulation) in model.present_articulations() {
            let tree = &mut self.trees[i];
            if tree.is_unpushed() {
                continue;
            }
            tree.untouched = None;
            tree.next.clone_from(&state.articulations[i]);
            tree.next.velocities.fill(0.0);
            let done = tree.kick(articulation, true, &state.bodies).and_then(|()| {
                drift(
                    &articulation.tree,
                    &tree.next.velocities,
                    1.0,
                    &mut tree.next.positions,
                )
            });
            let kept = &state.articulations[i].velocities;
            tree.next.velocities.copy_from_slice(kept);
            let done = done.and_then(|()| tree.place(articulation));
            if let Err(e) = done {
                tree.error = Some(e);
            }
            tree.write(articulation, &mut state.bodies);
            std::mem::swap(&mut state.articulations[i], &mut tree.next);
        }
    }

    /// Keeps velocities and impulses, to come back to them.
    pub(crate) fn keep(&self, out: &mut Kept) {
        out.flat.clone_from(&self.flat);
        out.impulses.clear();
        for tree in &self.trees {
            out.impulses.extend_from_slice(&tree.impulse);
        }
    }

    /// Comes back to what was kept since the last load.
    pub(crate) fn give_back(&mut self, kept: &Kept) {
        self.flat.copy_from_slice(&kept.flat);
        let mut from = 0;
        for tree in &mut self.trees {
            let end = from + tree.impulse.len();
            tree.impulse.copy_from_slice(&kept.impulses[from..end]);
            from = end;
        }
    }

    /// The first articulation that a step could not answer for, and why.
    pub(crate) fn error(&self) -> Option<(usize, &TreeError)> {
        let found = |(i, t): (usize, &'_ Tree)| t.error.is_some().then_some(i);
        let i = self.trees.iter().enumerate().find_map(found)?;
        self.trees[i].error.as_ref().map(|e| (i, e))
    }
}

impl Tree {
    fn scratch(&mut self, articulation: &Articulation) -> &mut Scratch {
        let tree = &articulation.tree;
        let fits = self.scratch.as_ref().is_some_and(|s| s.work.fits(tree));
        if !fits {
            self.scratch = None;
        }
        self.scratch.get_or_insert_with(|| {
            Box::new(Scratch {
                work: TreeWork::new(tree),
                loads: Vec::new(),
                change: vec![0.0; tree.freedom_count()],
                tau: vec![0.0; tree.freedom_count()],
                start: ArticulationState::default(),
            })
        })
    }

    /// Whether the solve under way has pushed no link.
    fn is_unpushed(&self) -> bool {
        self.impulse.iter().all(|x| *x == 0.0)
    }

    /// A 6×6 block of Ω times an impulse.
    fn times(&self, to: u32, from: u32, impulse: Pair) -> Pair {
        let n = 6 * self.links.len();
        let x = flat(impulse);
        let row = |i: usize| {
            let start = (to as usize + i) * n + from as usize;
            let r = &self.response[start..start + 6];
            r[0] * x[0] + r[1] * x[1] + r[2] * x[2] + r[3] * x[3] + r[4] * x[4] + r[5] * x[5]
        };
        (
            Vec3::new(row(0), row(1), row(2)),
            Vec3::new(row(3), row(4), row(5)),
        )
    }

    /// Ω of the touched links.
    fn respond(
        &mut self,
        articulation: &Articulation,
        state: &ArticulationState,
        bodies: &[BodyState],
    ) -> Result<(), TreeError> {
        let links = std::mem::take(&mut self.links);
        let mut response = std::mem::take(&mut self.response);
        let n = 6 * links.len();
        response.clear();
        response.resize(n * n, 0.0);
        let tree = &articulation.tree;
        let s = self.scratch(articulation);
        let done = articulate(tree, &state.positions, &mut s.work).and_then(|()| {
            for (k, &(link, slot)) in links.iter().enumerate() {
                let center = bodies[slot as usize].position;
                for axis in 0..6 {
                    let unit = Vec3::AXES[axis % 3];
                    let mut load = Load::new(link as usize, center, Vec3::ZERO);
                    if axis < 3 {
                        load.force = unit;
                    } else {
                        load.torque = unit;
                    }
                    impulse_response(tree, &[load], &mut s.work, &mut s.change)?;
                    for (j, &(to, slot)) in links.iter().enumerate() {
                        let at = bodies[slot as usize].position;
                        let d = s.work.change_at(tree, to as usize, at)?;
                        for (i, x) in flat(d).into_iter().enumerate() {
                            response[(6 * j + i) * n + 6 * k + axis] = x;
                        }
                    }
                }
            }
            Ok(())
        });
        self.impulse.clear();
        self.impulse.resize(n, 0.0);
        self.links = links;
        self.response = response;
        done
    }

    /// Inertia matrix and Jacobians of the touched links, for trees that are not too large.
    fn outline(
        &mut self,
        articulation: &Articulation,
        state: &ArticulationState,
        bodies: &[BodyState],
    ) -> Result<(), TreeError> {
        let tree = &articulation.tree;
        let n = tree.freedom_count();
        self.freedoms = n;
        self.inertia.clear();
        self.jacobian.clear();
        if n > FREEDOMS_MAX {
            return Ok(());
        }
        let links = std::mem::take(&mut self.links);
        let (mut inertia, mut jacobian) = (
            std::mem::take(&mut self.inertia),
            std::mem::take(&mut self.jacobian),
        );
        inertia.resize(n * n, 0.0);
        jacobian.resize(6 * links.len() * n, 0.0);
        let work = &mut self.scratch(articulation).work;
        let done = kinematics(tree, &state.positions, &state.velocities, work).and_then(|()| {
            for (k, &(link, slot)) in links.iter().enumerate() {
                let at = bodies[slot as usize].position;
                let J = &mut jacobian[6 * k * n..6 * (k + 1) * n];
                jacobian_of(tree, link as usize, at, work, J)?;
                // The velocity comes first here.
                J.rotate_left(3 * n);
            }
            crba(tree, &state.positions, work, &mut inertia)
        });
        self.links = links;
        (self.inertia, self.jacobian) = (inertia, jacobian);
        done
    }

    /// Adds `M⁻¹ Jᵀ` of the impulses to the velocities of `next`, whose positions must be those of the last load.
    fn kick(
        &mut self,
        articulation: &Articulation,
        kicked: bool,
        bodies: &[BodyState],
    ) -> Result<(), TreeError> {
        if !kicked || self.is_unpushed() {
            return Ok(());
        }
        let tree = &articulation.tree;
        let mut loads = std::mem::take(&mut self.scratch(articulation).loads);
        loads.clear();
        for (k, &(link, slot)) in self.links.iter().enumerate() {
            let p = &self.impulse[6 * k..6 * k + 6];
            loads.push(Load {
                torque: Vec3::new(p[3], p[4], p[5]),
                ..Load::new(
                    link as usize,
                    bodies[slot as usize].position,
                    Vec3::new(p[0], p[1], p[2]),
                )
            });
        }
        let mut next = std::mem::take(&mut self.next);
        let s = self.scratch(articulation);
        let done = articulate(tree, &next.positions, &mut s.work)
            .and_then(|()| impulse_response(tree, &loads, &mut s.work, &mut s.change).map(|_| ()));
        if done.is_ok() {
            for (v, d) in next.velocities.iter_mut().zip(&s.change) {
                *v += d;
            }
        }
        s.loads = loads;
        self.next = next;
        done
    }

    /// Free motion of `next` under gravity, joint friction and the user's forces.
    fn move_on(
        &mut self,
        model: &Model,
        articulation: &Articulation,
        state: &State,
        h: f64,
    ) -> Result<(), TreeError> {
        debug_assert_eq!(model.gravity, articulation.tree.gravity());
        let mut next = std::mem::take(&mut self.next);
        let s = self.scratch(articulation);
        s.loads.clear();
        for (link, &slot) in articulation.slots.iter().enumerate() {
            let load = &state.loads[slot as usize];
            if load.force != Vec3::ZERO || load.torque != Vec3::ZERO {
                s.loads.push(Load {
                    torque: load.torque,
                    ..Load::new(link, state.bodies[slot as usize].position, load.force)
                });
            }
        }
        let tree = &articulation.tree;
        let integrator = articulation.desc.integrator;
        // Runge and Kutta follow a turn of a tenth of a radian well: fast joints get their step in parts.
        let parts = |v: &[f64]| match integrator {
            Integrator::HighOrder => ((h * tree.fastest_turn(v) / TURN) as u32 + 1).min(PARTS_MAX),
            Integrator::OneEvaluation => 1,
        };
        let mut count = parts(&next.velocities);
        s.start.clone_from(&next);
        let mut lost;
        let done = loop {
            let mut done = Ok(());
            lost = 0.0;
            for _ in 0..count {
                done = done.and_then(|()| {
                    step(
                        tree,
                        integrator,
                        h / f64::from(count),
                        &s.tau,
                        &s.loads,
                        &mut next.positions,
                        &mut next.velocities,
                        &mut s.work,
                    )
                });
                lost += s.work.dissipated();
            }
            // A joint that became much faster on the way was not followed well: again from the start.
            let needed = match done {
                Ok(()) => parts(&next.velocities),
                Err(_) => PARTS_MAX,
            };
            if needed <= 2 * count || count >= PARTS_MAX {
                break done;
            }
            count = needed;
            next.clone_from(&s.start);
        };
        self.dissipated = lost;
        self.next = next;
        done
    }

    /// Poses and velocities of the links of `next`.
    fn place(&mut self, articulation: &Articulation) -> Result<(), TreeError> {
        let next = std::mem::take(&mut self.next);
        let mut poses = std::mem::take(&mut self.poses);
        let s = self.scratch(articulation);
        let done = place(articulation, &next, &mut s.work, &mut poses);
        self.next = next;
        self.poses = poses;
        done
    }

    /// Writes the links to their slots.
    fn write(&self, articulation: &Articulation, out: &mut [BodyState]) {
        for (&slot, pose) in articulation.slots.iter().zip(&self.poses) {
            out[slot as usize] = *pose;
        }
    }
}

/// Poses and velocities of all links of an articulation.
pub(crate) fn place(
    articulation: &Articulation,
    state: &ArticulationState,
    work: &mut TreeWork,
    out: &mut Vec<BodyState>,
) -> Result<(), TreeError> {
    let tree = &articulation.tree;
    kinematics(tree, &state.positions, &state.velocities, work)?;
    out.clear();
    for (i, desc) in articulation.desc.links.iter().enumerate() {
        let frame = link_pose(tree, work, i)?;
        let Motion { angular, linear } = link_velocity(tree, work, i)?;
        let center = desc.link.mass.center;
        out.push(BodyState {
            position: frame.point(center),
            rotation: rotation::normalized(Quat::from_mat3(&frame.rotation)),
            velocity: frame.rotation * (linear + angular.cross(center)),
            angular_velocity: frame.rotation * angular,
        });
    }
    Ok(())
}

const fn flat((a, b): Pair) -> [f64; 6] {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

/// The matrix of a linear map given by what it makes of the three axes.
pub(crate) fn matrix(f: impl Fn(Vec3) -> Vec3) -> Mat3 {
    Mat3::from_cols(f(Vec3::X), f(Vec3::Y), f(Vec3::Z))
}
