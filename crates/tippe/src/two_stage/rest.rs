//! Islands at rest are not solved again and again: where a step left everything as it was, to the tolerance of the solve, the next
//! one would too.
//!
//! Reads: Model, State before and after a step, rows and links.  Writes: State (given back what it was), its own memory of the step.
//! Called by: `method::sequential`, `method::iterative`; the phases leave out what it holds.
//! Source: docs/methods/sequential.md, "Islands at rest".
//!
//! Two things, of which only the first is physics. *The rule*: if no point of an island's bodies was faster than the tolerance before or
//! after a step, nor went farther in it than that, the island stays where it was, with the impulses it had, and has no velocity. Where it touches elsewhere than a step
//! before, by rounding of faces that meet exactly, or remembers impulses for another length of step, it keeps the impulses it has found: the next step starts from them,
//! at the same touches.
//! *The short cut*: a step that starts from the same bits ends with the same bits, so what the rule left as it was is not computed
//! again until something about it changes. Throwing this memory away at any time changes no result.

use crate::collide::{Contact, swing};
use crate::joint::Freedom;
use crate::math::{Vec3, tangents};
use crate::model::{Body, BodyKind, Model};
use crate::report::{ContactForce, JointForce, Residuals, StepReport};
use crate::solver::contact::ContactRow;
use crate::state::{BodyState, ContactMemory, Load, State};
use crate::two_stage::finish::TOUCHING;
use crate::two_stage::joint_network::Net;
use crate::two_stage::misfit::JOINT_APART;
use crate::two_stage::{Island, Scratch};
use crate::work::Work;

/// Acceleration that counts as none, in units of gravity [1]. In short steps it bounds the velocity that counts as none.
const ACCELERATION: f64 = 1e-7;
/// The same for a body that is balanced, as a part of that [1]: from a point or an edge it falls however little it is off, and what is
/// 1e-8 rad off starts with a hundred-millionth of gravity.
const BALANCED: f64 = 1e-3;
/// How far inside its support the centre of mass of a body must be that stands and is not balanced, relative to its reach [1]. Small
/// beside anything built, large beside rounding.
const SUPPORT_MARGIN: f64 = 1e-6;
/// Steps of one length differ by no more than this, relatively [1]: their ends are counted from the start.
const SAME_LENGTH: f64 = 1e-9;
/// No island.
const NONE: u32 = u32::MAX;

/// What is held, and what a step would say of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resting {
    /// By slot: whether a body is held.
    held: Vec<bool>,
    /// By slot: the island that a body is held with, named by its lowest slot.
    island: Vec<u32>,
    /// By slot: the state that it is held in.
    states: Vec<BodyState>,
    accounts: Vec<Account>,
    /// What the contacts of each island carry, in the order of `World::contacts`.
    contacts: Vec<(u32, ContactForce)>,
    /// What its joints carry, in the order of `World::joint_forces`.
    joints: Vec<(u32, JointForce)>,
    /// Length of the steps [s].
    h: f64,
    /// Scratch: bodies of the island looked at, and by slot the island that a body may be held with.
    members: Vec<u32>,
    candidates: Vec<u32>,
    /// Scratch: where bodies are supported, seen along gravity from their centres of mass [m]; by slot.
    support: Vec<(u32, [f64; 2])>,
    /// Scratch: islands to let go.
    leaving: Vec<u32>,
    /// Scratch: by name, whether the step left an island exactly as it was.
    same: Vec<bool>,
    /// Scratch: by name, whether an island touches elsewhere than before.
    shifted: Vec<bool>,
}

/// What a step reports of an island.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    island: u32,
    candidates: usize,
    penetration: f64,
    penetration_found: f64,
    residuals: Residuals,
    material_fallbacks: usize,
}

impl Resting {
    /// Whether a body is held, so that the phases leave it out.
    #[inline]
    pub(crate) fn holds(&self, slot: u32) -> bool {
        self.held.get(slot as usize).copied().unwrap_or(false)
    }

    /// By slot: whether a body is held.
    pub(crate) fn held(&self) -> &[bool] {
        &self.held
    }

    /// Lets everything go. Says whether there was any.
    pub(crate) fn release_all(&mut self) -> bool {
        let any = !self.accounts.is_empty();
        if any {
            self.held.fill(false);
            self.island.fill(NONE);
            self.accounts.clear();
            self.contacts.clear();
            self.joints.clear();
        }
        any
    }

    /// Lets the islands go that are noted in `leaving`. Says whether there was any.
    fn release(&mut self) -> bool {
        let Self {
            island: of,
            held,
            accounts,
            contacts,
            joints,
            leaving,
            ..
        } = self;
        if leaving.is_empty() {
            return false;
        }
        leaving.sort_unstable();
        leaving.dedup();
        let stays = |i: u32| leaving.binary_search(&i).is_err();
        accounts.retain(|a| stays(a.island));
        contacts.retain(|(i, _)| stays(*i));
        joints.retain(|(i, _)| stays(*i));
        for (i, held) in of.iter_mut().zip(held) {
            if *held && !stays(*i) {
                (*i, *held) = (NONE, false);
            }
        }
        leaving.clear();
        true
    }

    /// Before a step of length `h`: lets go what was changed since the last one.
    pub(crate) fn begin(&mut self, model: &Model, state: &State, h: f64) {
        self.held.resize(model.bodies.len(), false);
        self.island.resize(model.bodies.len(), NONE);
        if self.h != h {
            self.release_all();
            self.h = h;
        }
        if self.accounts.is_empty() {
            return;
        }
        for slot in 0..self.island.len() {
            let island = self.island[slot];
            let changed = || {
                bits(&state.bodies[slot]) != bits(&self.states[slot])
                    || state.loads[slot] != Load::default()
            };
            if island != NONE && changed() {
                self.leaving.push(island);
            }
        }
        self.release();
    }

    /// Lets go what something came near to. Says whether there was any: then the look has to be taken again.
    pub(crate) fn release_near(&mut self, contacts: &[Contact]) -> bool {
        if self.accounts.is_empty() {
            return false;
        }
        for c in contacts {
            for slot in [c.key.pair.body_a, c.key.pair.body_b] {
                if self.holds(slot) {
                    self.leaving.push(self.island[slot as usize]);
                }
            }
        }
        self.release()
    }

    /// Adds what the held islands did in this step: the same as in the last one.
    pub(crate) fn report(work: &mut Work, report: &mut StepReport) {
        let resting = &work.resting;
        for a in &resting.accounts {
            report.candidates += a.candidates;
            report.penetration = report.penetration.max(a.penetration);
            report.penetration_found = report.penetration_found.max(a.penetration_found);
            report.residuals = report.residuals.max(a.residuals);
            report.material_fallbacks += a.material_fallbacks;
        }
        report.contacts += resting.contacts.len();
        let mixed = !work.contact_forces.is_empty();
        let forces = resting.contacts.iter().map(|(_, c)| *c);
        work.contact_forces.extend(forces);
        if mixed && !resting.contacts.is_empty() {
            work.contact_forces.sort_unstable_by_key(ContactForce::key);
        }
        work.joint_forces
            .extend(resting.joints.iter().map(|(_, j)| *j));
        work.joint_forces.sort_unstable_by_key(|j| j.joint);
    }

    /// After a step in one part: applies the rule to every island that was solved.
    pub(crate) fn keep(
        model: &Model,
        velocity_tolerance: f64,
        rest_tolerance: Option<f64>,
        state: &mut State,
        work: &mut Work,
    ) {
        let driven = |(_, b): (usize, &Body)| matches!(b.kind, BodyKind::Kinematic(_));
        if model.present().any(driven) {
            return;
        }
        let g_h = model.gravity.length() * work.resting.h;
        let tolerance = rest_tolerance.unwrap_or(velocity_tolerance.min(ACCELERATION * g_h));
        if rest_tolerance == Some(0.0) {
            return;
        }
        let Work {
            resting,
            stage,
            backup,
            ..
        } = work;
        resting.candidates.clear();
        resting.candidates.resize(model.bodies.len(), NONE);
        let mut any = false;
        for solved in &stage.islands {
            any |= resting.look_at(model, tolerance, state, backup, stage, solved);
        }
        if !any {
            return;
        }
        resting.same_touches(model, tolerance, state, backup);
        resting.states.clone_from(&backup.bodies);
        resting.same.clear();
        resting.same.resize(model.bodies.len(), false);
        for solved in 0..work.stage.islands.len() {
            take(model, state, work, solved);
        }
        let Work {
            resting,
            contact_forces,
            ..
        } = work;
        for c in contact_forces.iter() {
            let of = |slot: u32| resting.candidates[slot as usize];
            let island = of(c.body_a.index).min(of(c.body_b.index));
            if island != NONE && resting.same[island as usize] {
                resting.contacts.push((island, *c));
            }
        }
        resting.contacts.sort_unstable_by_key(|(_, c)| c.key());
        resting.joints.sort_unstable_by_key(|(_, j)| j.joint);
        give_back(model, state, work);
    }

    /// Makes the bodies of an island candidates if they rest; says whether they do.
    fn look_at(
        &mut self,
        model: &Model,
        tolerance: f64,
        state: &State,
        before: &State,
        stage: &Scratch,
        solved: &Island,
    ) -> bool {
        self.members.clear();
        for slot in ends(stage, solved) {
            match model.bodies.get(slot as usize).and_then(Option::as_ref) {
                // The world, and what never moves.
                None => {}
                Some(body) if body.kind == BodyKind::Fixed => {}
                Some(body) if body.is_free() && body.drag.is_none() => self.members.push(slot),
                Some(_) => return false,
            }
        }
        // What a spring or a motor drives may be slow to start; what cannot meet is solved anew in every step.
        let driven = |slot: u32| {
            let joint = model.joints[slot as usize].as_ref();
            let free = |f: &Freedom| f.spring.is_none() && f.motor.is_none();
            !joint.is_some_and(|j| free(&j.desc.rotation) && free(&j.desc.translation))
        };
        let joint_blocks = &stage.joint_blocks[solved.joint_blocks.clone()];
        let knots = solved.as_net().map_or(&[][..], Net::knots);
        if joint_blocks
            .iter()
            .any(|l| driven(l.joint) || l.misfit.is_some())
            || knots.iter().any(|k| driven(k.joint))
            || solved
                .as_net()
                .is_some_and(|n| n.left.position > JOINT_APART)
        {
            return false;
        }
        // What floats keeps its momentum, however little.
        let fixed = |slot: u32| !model.is_awake(slot);
        let rows = &stage.rows[solved.rows.clone()];
        let pressed = rows.iter().filter(|r| r.p_n > 0.0);
        let holding = joint_blocks.iter().filter(|l| l.held.count > 0);
        let mut carriers = pressed
            .map(|r| (r.a, r.b))
            .chain(holding.map(|l| (l.a, l.b)))
            .chain(knots.iter().map(|k| k.ends.into()));
        if !carriers.any(|(a, b)| fixed(a) || fixed(b)) {
            return false;
        }
        let held = |slot: u32| {
            let joints = joint_blocks.iter().any(|l| l.a == slot || l.b == slot);
            joints || knots.iter().any(|k| k.ends.contains(&slot))
        };
        self.members.sort_unstable();
        self.members.dedup();
        let gaps = stage.step_contacts[solved.rows.clone()]
            .iter()
            .map(|t| t.gap_end);
        find_support(rows.iter().zip(gaps), model.gravity, &mut self.support);
        let rests = |slot: u32| {
            let i = slot as usize;
            let reach = model.bodies[i].as_ref().map_or(0.0, radius);
            let (s, t) = (&before.bodies[i], &state.bodies[i]);
            let fastest = |s: &BodyState| s.velocity.length() + s.angular_velocity.length() * reach;
            let way = (t.position - s.position).length() + swing(reach, s, t);
            let within = |tolerance: f64| {
                fastest(s) <= tolerance && fastest(t) <= tolerance && way <= tolerance * self.h
            };
            before.loads[i] == Load::default()
                && within(tolerance)
                && (within(BALANCED * tolerance)
                    || held(slot)
                    || model.gravity == Vec3::ZERO
                    || holds_origin(points_of(slot, &self.support), SUPPORT_MARGIN * reach))
        };
        if !self.members.iter().all(|&slot| rests(slot)) {
            return false;
        }
        let name = self.members.iter().min().copied().unwrap_or(NONE);
        for &slot in &self.members {
            self.candidates[slot as usize] = name;
        }
        true
    }

    /// Marks the candidates that bear elsewhere than before, or whose impulses belonged to another length of step: their impulses are
    /// new. What could not be felt, an impulse that moves neither body beyond the tolerance, is nothing that bears.
    fn same_touches(&mut self, model: &Model, tolerance: f64, state: &State, before: &State) {
        let weight = |slot: u32| match model.bodies.get(slot as usize).and_then(Option::as_ref) {
            Some(body) if body.inverse_mass > 0.0 => body.inverse_mass.recip(),
            _ => f64::INFINITY,
        };
        let bears = |c: &ContactMemory| {
            let impulse = c.first.normal.max(c.second.normal);
            let pair = c.key.pair;
            impulse > tolerance * weight(pair.body_a).min(weight(pair.body_b))
        };
        let lists = [
            (&state.contacts, &before.contacts),
            (&before.contacts, &state.contacts),
        ];
        for (list, other) in lists {
            for c in list {
                let of = |slot: u32| self.candidates[slot as usize];
                let island = of(c.key.pair.body_a).min(of(c.key.pair.body_b));
                let other = || other.binary_search_by_key(&c.key, |o| o.key);
                if island != NONE && bears(c) && other().is_err() {
                    self.leaving.push(island);
                }
            }
        }
        self.shifted.clear();
        self.shifted.resize(self.candidates.len(), false);
        if (before.stretch(self.h) - 1.0).abs() > SAME_LENGTH {
            self.shifted.fill(true);
        }
        for island in self.leaving.drain(..) {
            self.shifted[island as usize] = true;
        }
    }
}

/// Where the contacts of an island bear its bodies, or would if they leaned their way, seen along gravity from each body's centre of
/// mass; by slot. Of contacts that hold each other redundantly some bear nothing: they count where they touch from below. Without
/// gravity nothing falls.
fn find_support<'a>(
    bearers: impl Iterator<Item = (&'a ContactRow, f64)>,
    gravity: Vec3,
    support: &mut Vec<(u32, [f64; 2])>,
) {
    support.clear();
    let Some(down) = gravity.try_normalize() else {
        return;
    };
    let (x, y) = tangents(down);
    for (row, gap) in bearers {
        for (slot, lever, outward) in [(row.a, row.r_a, row.n), (row.b, row.r_b, -row.n)] {
            let would_bear = gap <= TOUCHING && outward.dot(down) > 0.5;
            if row.p_n > 0.0 || would_bear {
                support.push((slot, [lever.dot(x), lever.dot(y)]));
            }
        }
    }
    support.sort_unstable_by(|(a, p), (b, q)| {
        let places = || p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1]));
        a.cmp(b).then_with(places)
    });
}

/// The points of one body.
fn points_of(slot: u32, support: &[(u32, [f64; 2])]) -> &[(u32, [f64; 2])] {
    let first = support.partition_point(|(of, _)| *of < slot);
    let end = support.partition_point(|(of, _)| *of <= slot);
    &support[first..end]
}

/// Whether the convex hull of points in the plane holds every point that is no farther than `margin` from the origin. Walks around the
/// hull, with the origin to the left of every side (Jarvis 1973).
fn holds_origin(points: &[(u32, [f64; 2])], margin: f64) -> bool {
    let turn = |p: &[f64; 2], q: &[f64; 2], r: &[f64; 2]| {
        (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    };
    let length = |p: &[f64; 2], q: &[f64; 2]| libm::hypot(q[0] - p[0], q[1] - p[1]);
    // They are sorted: the first is a corner.
    let Some((_, first)) = points.first() else {
        return false;
    };
    let mut corner = first;
    for _ in points {
        let mut next = corner;
        for (_, r) in points {
            let right = turn(corner, next, r);
            if right < 0.0 || (right == 0.0 && length(corner, r) > length(corner, next)) {
                next = r;
            }
        }
        let side = length(corner, next);
        if side == 0.0 || turn(corner, next, &[0.0, 0.0]) <= margin * side {
            return false;
        }
        if next == first {
            return true;
        }
        corner = next;
    }
    false
}

/// The bits of a state: zero and minus zero are not the same.
fn bits(s: &BodyState) -> [u64; 13] {
    let (x, q, v, w) = (s.position, s.rotation, s.velocity, s.angular_velocity);
    [
        x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z,
    ]
    .map(f64::to_bits)
}

/// How far from the centre of mass motion counts [m]: as far as the body reaches, or its mass where it has no shape.
fn radius(body: &Body) -> f64 {
    let gyration = body.moments.max_element() * body.inverse_mass;
    body.reach.max(gyration.sqrt())
}

/// Slots of both ends of all contacts and joints of an island.
fn ends<'a>(stage: &'a Scratch, solved: &'a Island) -> impl Iterator<Item = u32> + 'a {
    let rows = stage.rows[solved.rows.clone()]
        .iter()
        .flat_map(|r| [r.a, r.b]);
    let joint_blocks = stage.joint_blocks[solved.joint_blocks.clone()].iter();
    let knots = solved.as_net().map_or(&[][..], Net::knots).iter();
    rows.chain(joint_blocks.flat_map(|l| [l.a, l.b]))
        .chain(knots.flat_map(|k| k.ends))
}

/// Holds an island whose bodies are candidates, if they had no velocity before the step either: then it starts and ends the same.
fn take(model: &Model, state: &State, work: &mut Work, solved: usize) {
    let Work {
        resting,
        stage,
        detection,
        joint_forces,
        backup,
        ..
    } = work;
    let solved = &stage.islands[solved];
    let candidate = |slot: u32| resting.candidates.get(slot as usize).copied();
    let of = |slot: u32| candidate(slot).unwrap_or(NONE);
    let island = ends(stage, solved).map(of).min().unwrap_or(NONE);
    let stands = |slot: u32| {
        let s = &backup.bodies[slot as usize];
        s.velocity == Vec3::ZERO && s.angular_velocity == Vec3::ZERO
    };
    if island == NONE
        || resting.shifted[island as usize]
        || !ends(stage, solved).all(|slot| of(slot) == NONE || stands(slot))
    {
        return;
    }
    resting.same[island as usize] = true;
    let mut account = Account {
        island,
        ..Account::default()
    };
    let (rows, step_contacts) = (
        &stage.rows[solved.rows.clone()],
        &stage.step_contacts[solved.rows.clone()],
    );
    let mut last = None;
    for (row, step_contact) in rows.iter().zip(step_contacts) {
        let c = &detection.contacts[step_contact.contact as usize];
        account.candidates += 1;
        account.penetration = account.penetration.max(-step_contact.gap_end);
        account.penetration_found = account.penetration_found.max(-c.point.gap);
        if step_contact.projected {
            let [normal, cone, tangential] = row.residuals(&stage.bodies);
            account.residuals = account.residuals.max(Residuals {
                complementarity: normal,
                friction_cone: cone,
                stick_slip: tangential,
                ..Residuals::default()
            });
        }
        if last.replace(c.key.pair) != Some(c.key.pair) {
            account.material_fallbacks += usize::from(model.falls_back(&c.key.pair));
        }
    }
    let carried = |slot: usize, resting: &mut Resting| {
        let force = joint_forces.binary_search_by_key(&slot, |f| f.joint.index());
        resting
            .joints
            .extend(force.ok().map(|i| (island, joint_forces[i])));
    };
    for block in &stage.joint_blocks[solved.joint_blocks.clone()] {
        let slot = block.joint as usize;
        let Some(joint) = &model.joints[slot] else {
            continue;
        };
        account.residuals = account.residuals.max(Residuals {
            joint_position: block
                .position_residual(joint, &joint.place(&state.bodies, &state.joints)),
            joint_velocity: block.velocity_residual(&stage.bodies),
            ..Residuals::default()
        });
        carried(slot, resting);
    }
    if let Some(net) = solved.as_net() {
        account.residuals = account.residuals.max(net.residuals());
        net.knots()
            .iter()
            .for_each(|k| carried(k.joint as usize, resting));
    }
    resting.accounts.push(account);
}

/// Gives bodies, contacts and joints at rest what they had before the step, without velocity.
fn give_back(model: &Model, state: &mut State, work: &mut Work) {
    let Work {
        resting, backup, ..
    } = work;
    let Resting {
        held,
        island,
        candidates,
        same,
        shifted,
        ..
    } = resting;
    for (slot, &name) in candidates.iter().enumerate() {
        if name == NONE {
            continue;
        }
        if same[name as usize] {
            (island[slot], held[slot]) = (name, true);
        }
        state.bodies[slot] = BodyState {
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            ..backup.bodies[slot]
        };
    }
    for (i, joint) in model.present_joints() {
        let of = |slot: u32| candidates[slot as usize];
        let island = of(joint.b).min(joint.a.map_or(NONE, of));
        if island != NONE && !shifted[island as usize] {
            state.joints[i] = backup.joints[i];
        }
    }
    let rests = |slot: u32| candidates[slot as usize] != NONE;
    state.efforts.retain(|e| !rests(e.slot));
    let efforts = backup.efforts.iter().filter(|e| rests(e.slot));
    state.efforts.extend(efforts);
    state.efforts.sort_unstable_by_key(|e| e.slot);
    let old = |c: &ContactMemory| {
        let of = |slot: u32| candidates[slot as usize];
        let island = of(c.key.pair.body_a).min(of(c.key.pair.body_b));
        island != NONE && !shifted[island as usize]
    };
    state.contacts.retain(|c| !old(c));
    let given = backup.contacts.iter().filter(|c| old(c));
    state.contacts.extend(given);
    state.contacts.sort_unstable_by_key(|c| c.key);
}
