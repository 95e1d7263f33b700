//! Articulations in the smooth motion: their freedoms as nodes of the system, their links as its ends, their stages at order four.
//!
//! Reads: Model (articulations), loads, positions and velocities of the trees.  Writes: nodes and links of the system; states of trees and links.
//! Called by: `smooth`, `piece`, `impacts`, `project`, `method::forces`.
//! Source: [Articulated] slides 32–41: forces at links answer through K = J M⁻¹ Jᵀ, their accelerations without forces are those of the tree
//! alone; rotations as in [MuntheKaas99]. Letters: κ rate of the coordinates pulled back to the start of the piece.

#![allow(non_snake_case)]

use super::smooth::{Scene, Smooth};
use super::system::{LINKS, NO_NODE, System};
use crate::articulated::ends::place;
use crate::articulated::stages::{
    damped, drifts, link_drift, longest_turn, passive, sprung, stage_place, stage_rate,
};
use crate::articulated::{
    Load as TreeLoad, TreeError, Work as TreeWork, aba, advance, crba, jacobian, spring_energy,
};
use crate::articulation::{Articulation, ArticulationState};
use crate::math::Vec3;
use crate::math::block_cholesky::Block6;
use crate::model::{BodyKind, Model};
use crate::state::BodyState;

/// Product of piece and rate of decay, or square of piece and frequency, that four evaluations follow [1]; they are stable up to 2.7.
const STIFF: f64 = 0.5;
/// Rounds in which the fastest rate of a tree is found well enough for that.
const POWER_ROUNDS: u32 = 12;

/// A tree that takes part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// Slot of the articulation.
    pub articulation: u32,
    /// Its first node, and its freedoms.
    first: usize,
    freedoms: usize,
    /// Links that rows end on: number, body slot.
    links: Vec<(u32, u32)>,
    /// Where it is at the moment that is posed, and where the piece began.
    pub now: ArticulationState,
    start: ArticulationState,
    /// By stage: κ and accelerations.
    rates: [Vec<f64>; 4],
    gains: [Vec<f64>; 4],
    /// Loss to viscous friction of its joints, work of the user's loads over the piece [J].
    pub dissipated: f64,
    pub external: f64,
    /// Power of that friction at the moment that is posed [W].
    friction: f64,
    work: Option<Box<TreeWork>>,
    loads: Vec<TreeLoad>,
    tau: Vec<f64>,
    still: Vec<f64>,
    free: Vec<f64>,
    mass: Vec<f64>,
    J: Vec<f64>,
    poses: Vec<BodyState>,
}

impl Tree {
    /// Accelerations without forces, mass matrix and links go to the system; how links accelerate without joints goes to `drifting`.
    fn pose(
        &mut self,
        scene: &Scene<'_>,
        articulation: &Articulation,
        bodies: &[BodyState],
        system: &mut System,
        drifting: &mut Vec<(Vec3, Vec3)>,
    ) -> Result<(), TreeError> {
        let tree = &articulation.tree;
        let n = self.freedoms;
        let mut kept = self.work.take().filter(|w| w.fits(tree));
        let work = kept.get_or_insert_with(|| Box::new(TreeWork::new(tree)));
        let (q, v) = (&self.now.positions, &self.now.velocities);
        let links = drifting.len();
        self.loads.clear();
        for (link, &slot) in articulation.slots.iter().enumerate() {
            let load = &scene.loads[slot as usize];
            if load.force != Vec3::ZERO || load.torque != Vec3::ZERO {
                self.loads.push(TreeLoad {
                    torque: load.torque,
                    ..TreeLoad::new(link, bodies[slot as usize].position, load.force)
                });
            }
        }
        self.still.clear();
        self.still.resize(n, 0.0);
        for list in [&mut self.tau, &mut self.free] {
            list.clear();
            list.resize(n, 0.0);
        }
        self.mass.clear();
        self.mass.resize(n * n, 0.0);
        self.J.clear();
        let done = drifts(tree, q, v, &self.still, work, &mut self.tau).and_then(|()| {
            for &(link, slot) in &self.links {
                let at = bodies[slot as usize].position;
                drifting.push(link_drift(tree, work, link as usize, at)?);
                let from = self.J.len();
                self.J.resize(from + 6 * n, 0.0);
                jacobian(tree, link as usize, at, work, &mut self.J[from..])?;
                // The velocity comes first here.
                self.J[from..].rotate_left(3 * n);
            }
            crba(tree, q, work, &mut self.mass)?;
            self.friction = passive(tree, q, v, &mut self.tau);
            aba(tree, q, v, &self.tau, &self.loads, work, &mut self.free)
        });
        drifting.resize(links + self.links.len(), (Vec3::ZERO, Vec3::ZERO));
        self.J.resize(6 * n * self.links.len(), 0.0);
        let whole = system.add_tree(n, &self.mass, &self.free);
        for k in 0..self.links.len() {
            system.add_link(n, &self.J[6 * n * k..6 * n * (k + 1)]);
        }
        self.work = kept;
        done.and(if whole {
            Ok(())
        } else {
            Err(TreeError::Singular { link: 0 })
        })
    }

    /// Its freedoms out of the system's nodes.
    fn read(&self, V: &[Block6], out: &mut Vec<f64>) {
        out.clear();
        out.extend(V[self.first..].iter().flatten().take(self.freedoms));
    }

    /// Writes the links as they are now to their slots.
    fn show(
        &mut self,
        articulation: &Articulation,
        bodies: &mut [BodyState],
    ) -> Result<(), TreeError> {
        let tree = &articulation.tree;
        let mut work = self.work.take().filter(|w| w.fits(tree));
        let own = work.get_or_insert_with(|| Box::new(TreeWork::new(tree)));
        let done = place(articulation, &self.now, own, &mut self.poses);
        self.work = work;
        if done.is_ok() {
            for (&slot, pose) in articulation.slots.iter().zip(&self.poses) {
                bodies[slot as usize] = *pose;
            }
        }
        done
    }
}

impl Smooth {
    /// Takes the trees as the state has them. To be called before `number`.
    pub(crate) fn load_trees(&mut self, model: &Model, states: &[ArticulationState]) {
        let mut count = 0;
        for (i, articulation) in model.present_articulations() {
            if !articulation.root().is_some_and(|slot| model.is_awake(slot)) {
                continue;
            }
            if self.trees.len() == count {
                self.trees.push(Tree::default());
            }
            let tree = &mut self.trees[count];
            tree.articulation = i as u32;
            tree.freedoms = articulation.tree.freedom_count();
            tree.now.clone_from(&states[i]);
            tree.start.clone_from(&states[i]);
            tree.links.clear();
            count += 1;
        }
        self.trees.truncate(count);
    }

    /// Gives them back to the state.
    pub(crate) fn store_trees(&self, states: &mut [ArticulationState]) {
        for tree in &self.trees {
            states[tree.articulation as usize].clone_from(&tree.now);
        }
    }

    /// Makes a link an end of rows, if it is one that moves; says so.
    pub(super) fn bind_link(&mut self, model: &Model, slot: u32) {
        let Some(body) = &model.bodies[slot as usize] else {
            return;
        };
        let BodyKind::Link { articulation, link } = body.kind else {
            return;
        };
        if self.node_of[slot as usize] != NO_NODE {
            return;
        }
        let mut trees = self.trees.iter_mut();
        if let Some(tree) = trees.find(|t| t.articulation == articulation) {
            self.node_of[slot as usize] = LINKS;
            tree.links.push((link, slot));
        }
    }

    /// Numbers trees and links once all rows are known: trees come after the bodies.
    pub(super) fn number_trees(&mut self) {
        let (mut node, mut end) = (self.slots.len(), LINKS);
        for tree in &mut self.trees {
            tree.first = node;
            node += tree.freedoms.div_ceil(6);
            for &(_, slot) in &tree.links {
                self.node_of[slot as usize] = end;
                end += 1;
            }
        }
    }

    /// Forgets which links rows end on.
    pub(super) fn clear_links(&mut self) {
        for tree in &mut self.trees {
            tree.links.clear();
        }
    }

    /// Nodes and links of all trees; after the bodies.
    pub(super) fn pose_trees(
        &mut self,
        scene: &Scene<'_>,
        bodies: &[BodyState],
        system: &mut System,
    ) {
        self.drifts.clear();
        let mut trees = std::mem::take(&mut self.trees);
        for tree in &mut trees {
            let Some(articulation) = &scene.model.articulations[tree.articulation as usize] else {
                continue;
            };
            let done = tree.pose(scene, articulation, bodies, system, &mut self.drifts);
            if let Err(e) = done {
                self.tree_error.get_or_insert((tree.articulation, e));
            }
        }
        self.trees = trees;
    }

    /// Velocities of the trees as the motion of their nodes.
    pub(super) fn tree_velocities(&mut self) {
        for tree in &self.trees {
            let nodes = self.system.nodes[tree.first..].iter_mut();
            let free = nodes.flat_map(|n| n.free.iter_mut());
            for (x, v) in free.zip(&tree.now.velocities) {
                *x = *v;
            }
        }
    }

    /// Keeps where trees are as the start of the piece, and comes back to it.
    pub(super) fn keep_trees(&mut self) {
        for tree in &mut self.trees {
            tree.start.clone_from(&tree.now);
        }
    }

    pub(super) fn trees_come_back(&mut self) {
        for tree in &mut self.trees {
            tree.now.clone_from(&tree.start);
        }
    }

    /// Sums over a piece that begins.
    pub(super) fn begin_trees(&mut self) {
        for tree in &mut self.trees {
            (tree.dissipated, tree.external) = (0.0, 0.0);
        }
    }

    /// Whether no tree moves more than `still` in `h`, after the first stage.
    pub(super) fn trees_are_still(&self, h: f64, still: f64) -> bool {
        let slow = |x: &[f64], t: f64| x.iter().all(|x| x.abs() * t <= still);
        let one = |t: &Tree| slow(&t.now.velocities, h) && slow(&t.gains[0], h * h);
        self.trees.iter().all(one)
    }

    /// Trees at stage `s`, `dt` after the start; their links among the bodies of the stage.
    pub(super) fn place_trees(&mut self, model: &Model, dt: f64, s: usize) {
        for tree in &mut self.trees {
            let Some(articulation) = &model.articulations[tree.articulation as usize] else {
                continue;
            };
            let (q, v) = (&tree.start.positions, &tree.start.velocities);
            let (now, rate, gain) = (&mut tree.now, &tree.rates[s - 1], &tree.gains[s - 1]);
            stage_place(&articulation.tree, q, rate, dt, &mut now.positions);
            for (x, (v, a)) in now.velocities.iter_mut().zip(v.iter().zip(gain)) {
                *x = v + dt * a;
            }
            if let Err(e) = tree.show(articulation, &mut self.stage.bodies) {
                self.tree_error.get_or_insert((tree.articulation, e));
            }
        }
    }

    /// κ and accelerations of stage `s`, `dt` after the start.
    pub(super) fn rate_trees(&mut self, model: &Model, dt: f64, s: usize) {
        for tree in &mut self.trees {
            let Some(articulation) = &model.articulations[tree.articulation as usize] else {
                continue;
            };
            let mut gain = std::mem::take(&mut tree.gains[s]);
            tree.read(&self.system.result, &mut gain);
            tree.gains[s] = gain;
            let mut rate = std::mem::take(&mut tree.rates[s]);
            rate.clear();
            if s == 0 {
                rate.resize(tree.freedoms, 0.0);
            } else {
                rate.extend_from_slice(&tree.rates[s - 1]);
            }
            let (q, v) = (&tree.now.positions, &tree.now.velocities);
            stage_rate(&articulation.tree, dt, q, v, &mut rate);
            tree.rates[s] = rate;
        }
    }

    /// Works of a stage with its weight [s].
    pub(super) fn sum_trees(&mut self, scene: &Scene<'_>, weight: f64) {
        let bodies = &self.stage.bodies;
        for tree in &mut self.trees {
            let Some(articulation) = &scene.model.articulations[tree.articulation as usize] else {
                continue;
            };
            tree.dissipated += tree.friction * weight;
            for &slot in &articulation.slots {
                let (load, s) = (&scene.loads[slot as usize], &bodies[slot as usize]);
                tree.external +=
                    (load.force.dot(s.velocity) + load.torque.dot(s.angular_velocity)) * weight;
            }
        }
    }

    /// Trees at the end of the piece, and their links among the bodies there.
    pub(super) fn trees_arrive(
        &mut self,
        model: &Model,
        h: f64,
        weights: [f64; 4],
        end: &mut [BodyState],
    ) {
        for tree in &mut self.trees {
            let Some(articulation) = &model.articulations[tree.articulation as usize] else {
                continue;
            };
            let mean = |lists: &[Vec<f64>; 4], i: usize| -> f64 {
                lists.iter().zip(weights).map(|(x, w)| x[i] * w).sum()
            };
            for i in 0..tree.freedoms {
                tree.now.velocities[i] = tree.start.velocities[i] + h * mean(&tree.gains, i);
                tree.tau[i] = mean(&tree.rates, i);
            }
            let q = &tree.start.positions;
            stage_place(&articulation.tree, q, &tree.tau, h, &mut tree.now.positions);
            if let Err(e) = tree.show(articulation, end) {
                self.tree_error.get_or_insert((tree.articulation, e));
            }
        }
    }

    /// Takes the solved motions as velocities of the trees.
    pub(super) fn trees_take_velocities(
        &mut self,
        model: &Model,
        V: &[Block6],
        bodies: &mut [BodyState],
    ) {
        for tree in &mut self.trees {
            let Some(articulation) = &model.articulations[tree.articulation as usize] else {
                continue;
            };
            let mut v = std::mem::take(&mut tree.now.velocities);
            tree.read(V, &mut v);
            tree.now.velocities = v;
            if let Err(e) = tree.show(articulation, bodies) {
                self.tree_error.get_or_insert((tree.articulation, e));
            }
        }
    }

    /// Takes the solved motions as displacements of the trees.
    pub(super) fn displace_trees(&mut self, model: &Model, bodies: &mut [BodyState]) {
        for tree in &mut self.trees {
            let Some(articulation) = &model.articulations[tree.articulation as usize] else {
                continue;
            };
            let mut way = std::mem::take(&mut tree.tau);
            tree.read(&self.system.result, &mut way);
            let done = advance(&articulation.tree, &way, 1.0, &mut tree.now.positions)
                .and_then(|()| tree.show(articulation, bodies));
            tree.tau = way;
            if let Err(e) = done {
                self.tree_error.get_or_insert((tree.articulation, e));
            }
        }
    }

    /// Moves the trees by constant velocities for `h`, from the start of the piece; their velocities become those of the solved system.
    pub(super) fn trees_step(
        &mut self,
        model: &Model,
        before: &[Block6],
        h: f64,
        end: &mut [BodyState],
    ) {
        for tree in &mut self.trees {
            let Some(articulation) = &model.articulations[tree.articulation as usize] else {
                continue;
            };
            let mut v = std::mem::take(&mut tree.tau);
            tree.read(before, &mut v);
            tree.now.positions.clone_from(&tree.start.positions);
            let mut after = std::mem::take(&mut tree.now.velocities);
            tree.read(&self.system.result, &mut after);
            for (x, y) in v.iter_mut().zip(&after) {
                *x = 0.5 * (*x + y);
            }
            tree.now.velocities = after;
            let done = advance(&articulation.tree, &v, h, &mut tree.now.positions)
                .and_then(|()| tree.show(articulation, end));
            tree.tau = v;
            if let Err(e) = done {
                self.tree_error.get_or_insert((tree.articulation, e));
            }
        }
    }

    /// Longest piece in which no joint of a tree turns too far [s].
    pub(super) fn longest_of_trees(&self, model: &Model) -> f64 {
        let turn = |tree: &Tree| {
            let articulation = model.articulations[tree.articulation as usize].as_ref();
            articulation.map_or(f64::INFINITY, |a| {
                longest_turn(&a.tree, &tree.now.velocities)
            })
        };
        self.trees.iter().map(turn).fold(f64::INFINITY, f64::min)
    }

    /// Longest piece that four evaluations follow for friction and springs in the joints of all trees [s]. The system must be posed.
    pub(super) fn longest_of_passive(&self, model: &Model) -> f64 {
        let mut longest = f64::INFINITY;
        for tree in &self.trees {
            let Some(a) = &model.articulations[tree.articulation as usize] else {
                continue;
            };
            let decay = self.fastest(tree, |x, out| damped(&a.tree, x, out));
            if decay > 0.0 {
                longest = longest.min(STIFF / decay);
            }
            let square = self.fastest(tree, |x, out| sprung(&a.tree, x, out));
            if square > 0.0 {
                longest = longest.min((STIFF / square).sqrt());
            }
        }
        longest
    }

    /// Largest eigenvalue of M⁻¹ B for the forces `B x` of a tree, from below, by Rayleigh's quotient after a few rounds of the power method.
    fn fastest(&self, tree: &Tree, force: impl Fn(&[f64], &mut [f64])) -> f64 {
        let n = tree.freedoms;
        // In the stiffest mode neighbours move against each other.
        let mut x: Vec<f64> = (0..n)
            .map(|i| {
                if i % 2 == 0 {
                    1.0
                } else {
                    -0.9 - 0.1 / (1.0 + i as f64)
                }
            })
            .collect();
        let mut f = vec![0.0; n];
        let mut answer = vec![[0.0; 6]; self.system.nodes.len()];
        let mut found = 0.0;
        for _ in 0..POWER_ROUNDS {
            force(&x, &mut f);
            answer.fill([0.0; 6]);
            let nodes = answer[tree.first..].iter_mut().flatten();
            nodes.zip(&f).for_each(|(to, f)| *to = *f);
            self.system.respond(&mut answer);
            let dot =
                |y: &mut dyn Iterator<Item = f64>| -> f64 { y.zip(&f).map(|(y, f)| y * f).sum() };
            let own = dot(&mut x.iter().copied());
            let next = dot(&mut answer[tree.first..].iter().flatten().copied());
            if own <= 0.0 || next <= 0.0 {
                return found;
            }
            found = next / own;
            let answers = answer[tree.first..].iter().flatten();
            x.iter_mut().zip(answers).for_each(|(x, y)| *x = y / found);
        }
        found
    }

    /// What the springs of a tree gave back over the piece [J].
    pub(super) fn springs_of_tree(&self, tree: &Tree, articulation: &Articulation) -> f64 {
        let sprung = |s: &ArticulationState| spring_energy(&articulation.tree, &s.positions);
        sprung(&tree.start) - sprung(&tree.now)
    }
}
