//! Ties: bodies that joints or a tree hold together, and how all of them answer an impulse on one.
//!
//! Reads: Model (joints, articulations), states of the groups.  Writes: changes of velocity; rates of trees.
//! Called by: `method::events::begin` (which bodies are tied), `method::events::cluster` (impacts).
//! Source: [Mirtich94] §5.2 with the collision matrix of linked bodies: `K = C (M⁻¹ − M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ J M⁻¹) Cᵀ` for
//! joints, the articulated-body response for trees. Limits (but for equal ones, which lock), motors, springs and friction give no impulse in the
//! instant of an impact; the substep after it stops what has run into a limit.

#![allow(non_snake_case)]

use super::Run;
use crate::articulated::ends::Pair;
use crate::articulated::{Load, TreeError, Work as TreeWork, articulate, impulse_response};
use crate::articulation::LinkBodyDesc;
use crate::dynamics::joint::JointRow;
use crate::error::StepError;
use crate::joint::Freedom;
use crate::math::{Mat3, Vec3};
use crate::model::{BodyKind, Model};
use crate::state::{BodyState, State};

/// No tie, or the world as the side of a joint.
pub(super) const NONE: u32 = u32::MAX;
/// Rows of joints up to which a tie answers impacts by itself; larger ones are left to the solver of groups.
const ROWS_MAX: usize = 240;
/// Part of its diagonal entry below which a pivot marks a row that others hold already [1].
const REDUNDANT: f64 = 1e-11;

/// Bodies that joints or a tree hold together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tie {
    pub slots: Vec<u32>,
    joints: Vec<u32>,
    trees: Vec<u32>,
    rows: usize,
    /// Its one tree answers as its description says: nothing else hangs on it, no joint is locked.
    plain: bool,
}

impl Tie {
    /// Whether impacts on it go by its collision matrix: joints of bodies alone, or one tree alone.
    pub(super) const fn answers(&self) -> bool {
        match self.trees.len() {
            0 => self.rows <= ROWS_MAX,
            1 => self.rows == 0 && self.plain,
            _ => false,
        }
    }
}

/// Finds the ties of a model; the tie of each slot goes to `of`.
pub(super) fn find(model: &Model, of: &mut Vec<u32>) -> Vec<Tie> {
    let slots = model.bodies.len();
    let mut root: Vec<u32> = (0..slots as u32).collect();
    let mut tied = vec![false; slots];
    fn top(root: &mut [u32], mut i: u32) -> u32 {
        while root[i as usize] != i {
            let up = root[root[i as usize] as usize];
            root[i as usize] = up;
            i = up;
        }
        i
    }
    let mut join = |a: u32, b: u32| {
        let (a, b) = (top(&mut root, a), top(&mut root, b));
        root[a.max(b) as usize] = a.min(b);
    };
    for (slot, body) in model.present() {
        if let BodyKind::Link { articulation, .. } = body.kind {
            tied[slot] = true;
            let links = model.articulations[articulation as usize].as_ref();
            join(slot as u32, links.map_or(slot as u32, |a| a.slots[0]));
        }
    }
    for (_, joint) in model.present_joints() {
        for slot in [joint.a, Some(joint.b)].into_iter().flatten() {
            tied[slot as usize] |= model.is_awake(slot);
        }
        if let Some(a) = joint.a
            && model.is_awake(a)
            && model.is_awake(joint.b)
        {
            join(a, joint.b);
        }
    }
    of.clear();
    of.resize(slots, NONE);
    let mut ties: Vec<Tie> = Vec::new();
    for slot in (0..slots as u32).filter(|&s| tied[s as usize]) {
        let first = top(&mut root, slot) as usize;
        if of[first] == NONE {
            of[first] = ties.len() as u32;
            ties.push(Tie::default());
        }
        of[slot as usize] = of[first];
        ties[of[first] as usize].slots.push(slot);
    }
    fill(model, of, &mut ties);
    ties
}

/// Joints and trees of the ties.
fn fill(model: &Model, of: &[u32], ties: &mut [Tie]) {
    for (slot, joint) in model.present_joints() {
        let side = |s: Option<u32>| s.map_or(NONE, |s| of[s as usize]);
        let tie = side(Some(joint.b)).min(side(joint.a));
        if tie != NONE {
            ties[tie as usize].rows += joint.desc.kind.rank();
            ties[tie as usize].joints.push(slot as u32);
        }
    }
    for (number, articulation) in model.articulations.iter().enumerate() {
        let first = articulation.as_ref().and_then(|a| a.slots.first());
        if let (Some(&tie), Some(a)) = (first.map(|&s| &of[s as usize]), articulation)
            && tie != NONE
        {
            let tie = &mut ties[tie as usize];
            tie.trees.push(number as u32);
            let locked = |l: &LinkBodyDesc| l.link.limits.is_some_and(|x| x.min == x.max);
            tie.plain = tie.slots.len() == a.slots.len()
                && a.desc.adaptive.is_none()
                && !a.desc.links.iter().any(locked);
            if tie.plain {
                // By number of the link.
                tie.slots.clone_from(&a.slots);
            }
        }
    }
}

/// A tie in a cluster, ready to answer impulses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub tie: u32,
    /// Of its bodies: places in the cluster, centres and inverse masses.
    pub places: Vec<u32>,
    centers: Vec<Vec3>,
    inverse: Vec<(f64, Mat3)>,
    /// Rows of its joints by the bodies' numbers here, and the lower Cholesky factor of J M⁻¹ Jᵀ.
    rows: Vec<(u32, u32, JointRow)>,
    factor: Vec<f64>,
    tree: Option<(u32, TreeWork)>,
    /// Impulses with their moments on the bodies so far.
    pub pushed: Vec<Pair>,
    /// What the last question came to.
    pub change: Vec<Pair>,
}

impl Answer {
    /// Whether it is that of a tree.
    pub(super) const fn is_tree(&self) -> bool {
        self.tree.is_some()
    }

    /// Changes of velocity of all bodies by impulses with moments on some of them, left in `change`.
    pub(super) fn respond(
        &mut self,
        model: &Model,
        pushes: &[(u32, Pair)],
    ) -> Result<(), TreeError> {
        self.change.clear();
        self.change
            .resize(self.places.len(), (Vec3::ZERO, Vec3::ZERO));
        if let Some((slot, work)) = &mut self.tree {
            let Some(articulation) = &model.articulations[*slot as usize] else {
                return Ok(());
            };
            let load = |&(body, (P, L)): &(u32, Pair)| Load {
                torque: L,
                ..Load::new(body as usize, self.centers[body as usize], P)
            };
            let loads: Vec<Load> = pushes.iter().map(load).collect();
            let mut rates = vec![0.0; articulation.tree.freedom_count()];
            impulse_response(&articulation.tree, &loads, work, &mut rates)?;
            for (link, change) in self.change.iter_mut().enumerate() {
                *change = work.change_at(&articulation.tree, link, self.centers[link])?;
            }
            return Ok(());
        }
        for &(body, (P, L)) in pushes {
            let (mass, inertia) = self.inverse[body as usize];
            let change = &mut self.change[body as usize];
            change.0 += P * mass;
            change.1 += inertia * L;
        }
        let along = |&(a, b, row): &(u32, u32, JointRow), change: &[Pair]| {
            let of = |i: u32| change.get(i as usize).copied().unwrap_or_default();
            let (a, b) = (of(a), of(b));
            row.e.dot(b.0 - a.0) + row.ang_a.dot(a.1) + row.ang_b.dot(b.1)
        };
        let mut lambda: Vec<f64> = self.rows.iter().map(|r| along(r, &self.change)).collect();
        solve(&self.factor, &mut lambda);
        for (&(a, b, row), x) in self.rows.iter().zip(lambda) {
            for (body, P, L) in [(a, row.e, -row.ang_a), (b, -row.e, -row.ang_b)] {
                if body != NONE {
                    let (mass, inertia) = self.inverse[body as usize];
                    let change = &mut self.change[body as usize];
                    change.0 += P * (mass * x);
                    change.1 += inertia * L * x;
                }
            }
        }
        Ok(())
    }

    /// J M⁻¹ Jᵀ and its factor; rows that others hold already get no pivot.
    fn factorise(&mut self) {
        let n = self.rows.len();
        self.factor.clear();
        self.factor.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..=i {
                self.factor[i * n + j] = self.product(i, j);
            }
        }
        for i in 0..n {
            let diagonal = self.factor[i * n + i];
            for j in 0..=i {
                let mut sum = self.factor[i * n + j];
                for k in 0..j {
                    sum -= self.factor[i * n + k] * self.factor[j * n + k];
                }
                let pivot = self.factor[j * n + j];
                self.factor[i * n + j] = if i == j {
                    if sum > REDUNDANT * diagonal {
                        sum.sqrt()
                    } else {
                        0.0
                    }
                } else if pivot > 0.0 {
                    sum / pivot
                } else {
                    0.0
                };
            }
        }
    }

    /// An entry of J M⁻¹ Jᵀ.
    fn product(&self, i: usize, j: usize) -> f64 {
        let sides =
            |(a, b, row): &(u32, u32, JointRow)| [(*a, -row.e, row.ang_a), (*b, row.e, row.ang_b)];
        let mut sum = 0.0;
        for (body, P, L) in sides(&self.rows[i]) {
            for (other, Q, M) in sides(&self.rows[j]) {
                if body != NONE && body == other {
                    let (mass, inertia) = self.inverse[body as usize];
                    sum += mass * P.dot(Q) + L.dot(inertia * M);
                }
            }
        }
        sum
    }
}

/// Solves L Lᵀ x = b in place; rows without a pivot get zero.
fn solve(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let mut sum = x[i];
        for k in 0..i {
            sum -= factor[i * n + k] * x[k];
        }
        let pivot = factor[i * n + i];
        x[i] = if pivot > 0.0 { sum / pivot } else { 0.0 };
    }
    for i in (0..n).rev() {
        let mut sum = x[i];
        for k in i + 1..n {
            sum -= factor[k * n + i] * x[k];
        }
        let pivot = factor[i * n + i];
        x[i] = if pivot > 0.0 { sum / pivot } else { 0.0 };
    }
}

impl Run<'_> {
    /// A tie with its bodies as the groups have them now, at the given places of the cluster.
    pub(super) fn answer(&self, tie: u32, places: Vec<u32>) -> Result<Answer, StepError> {
        let found = &self.ties[tie as usize];
        let mut answer = Answer {
            tie,
            places,
            pushed: vec![(Vec3::ZERO, Vec3::ZERO); found.slots.len()],
            ..Answer::default()
        };
        let Some(group) = &self.s.group else {
            return Ok(answer);
        };
        for &slot in &found.slots {
            let (body, s) = (self.body(slot), &group.bodies[slot as usize]);
            answer.centers.push(s.position);
            let inertia = crate::dynamics::impulse::inverse_inertia(body, s);
            answer.inverse.push((body.inverse_mass, inertia));
        }
        if let Some(&tree) = found.trees.first() {
            answer.tree = self.tree_work(tree, group)?.map(|work| (tree, work));
            return Ok(answer);
        }
        let number = |slot: Option<u32>| {
            let place = slot.and_then(|s| found.slots.binary_search(&s).ok());
            place.map_or(NONE, |p| p as u32)
        };
        for &slot in &found.joints {
            let Some(joint) = &self.model.joints[slot as usize] else {
                continue;
            };
            let (place, desc) = (joint.place(&group.bodies, &group.joints), &joint.desc);
            let held = place.held(desc.kind);
            let (a, b) = (number(joint.a), number(Some(joint.b)));
            let rows = held.rows[..held.count].iter();
            answer.rows.extend(rows.map(|row| (a, b, *row)));
            // A freedom that limits lock holds as well.
            let locked = |f: &Freedom| f.limits.is_some_and(|(min, max)| min == max);
            if locked(&desc.rotation) {
                answer.rows.push((a, b, place.turn(desc.kind).0));
            }
            if locked(&desc.translation) {
                answer.rows.push((a, b, place.translation(desc.kind).0));
            }
        }
        answer.factorise();
        Ok(answer)
    }

    fn tree_work(&self, tree: u32, group: &State) -> Result<Option<TreeWork>, StepError> {
        let Some(articulation) = &self.model.articulations[tree as usize] else {
            return Ok(None);
        };
        let mut work = TreeWork::new(&articulation.tree);
        let positions = &group.articulations[tree as usize].positions;
        articulate(&articulation.tree, positions, &mut work)
            .map_err(|e| self.tree_failed(tree, &e))?;
        Ok(Some(work))
    }

    fn tree_failed(&self, tree: u32, error: &TreeError) -> StepError {
        let articulation = self.model.articulations[tree as usize].as_ref();
        StepError::Articulation {
            name: articulation.map_or(String::new(), |a| a.desc.name.clone()),
            reason: error.to_string(),
        }
    }

    /// Gives a tree the rates that the impulses on its links came to.
    pub(super) fn kick_tree(&mut self, answer: &mut Answer) -> Result<(), StepError> {
        let Some((tree, work)) = &mut answer.tree else {
            return Ok(());
        };
        let tree = *tree;
        let Some(articulation) = &self.model.articulations[tree as usize] else {
            return Ok(());
        };
        let loads: Vec<Load> = (0..answer.pushed.len())
            .filter(|&i| answer.pushed[i] != (Vec3::ZERO, Vec3::ZERO))
            .map(|i| Load {
                torque: answer.pushed[i].1,
                ..Load::new(i, answer.centers[i], answer.pushed[i].0)
            })
            .collect();
        let mut rates = vec![0.0; articulation.tree.freedom_count()];
        let done = impulse_response(&articulation.tree, &loads, work, &mut rates);
        done.map_err(|e| self.tree_failed(tree, &e))?;
        if let Some(group) = &mut self.s.group {
            let velocities = &mut group.articulations[tree as usize].velocities;
            for (v, d) in velocities.iter_mut().zip(&rates) {
                *v += d;
            }
        }
        Ok(())
    }

    /// Bodies of a tie that are not yet in the cluster.
    pub(super) fn state_in_group(&self, slot: u32) -> BodyState {
        let group = self.s.group.as_ref();
        group.map_or(BodyState::REST, |g| g.bodies[slot as usize])
    }
}
