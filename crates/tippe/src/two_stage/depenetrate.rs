//! The pose-only pass: moves overlapping bodies apart without giving them velocity.
//!
//! Reads: contacts at their new poses.  Writes: poses; the ledger's position correction.
//! Called by: the methods that step in two stages, between move and project.
//! Source: [Lecture] "Impulse Computation" (bias β, slop), as pseudo-velocities so that no energy of motion is added.

use super::{Scratch, Settings, misfit};
use crate::collide::Placement;
use crate::dynamics::energy;
use crate::math::{Vec3, rotation};
use crate::model::{Joint, Model};
use crate::output::balance::Balance;
use crate::report::StepReport;
use crate::solver::ends::{Bodies, acting_point};
use crate::solver::joint::JointBlock;
use crate::solver::packed::{Batch, Pack, Packed, put};
use crate::state::State;
use crate::two_stage::gather::load_bodies;
use crate::work::Work;

/// Depth that is not worth a pass [m]: rounding of positions a kilometre from the origin.
const DEPTH_MIN: f64 = 1e-12;

/// Most sweeps over an island of few contacts, or with joints.
const SWEEPS: u32 = 10;
/// Most double sweeps over an island of many.
const SWEEPS_MANY: u32 = 6;

/// Part of the largest shift at which the pass is exact enough: it leaves more than that of every depth anyway [1].
const DEPENETRATE_EXACT: f64 = 1e-3;

/// Multiple of the greatest depth beyond which contacts apart are left out at first [1].
const REACH: f64 = 4.0;

/// Rounds of the pass, between which contacts join in that others pushed together; in the last one all take part.
const ROUNDS: u32 = 3;

/// Most passes after the first that close joints which do not fit.
const CLOSING_ROUNDS: u32 = 4;

/// A contact in the pass: one normal row over pseudo-displacements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    a: u32,
    b: u32,
    n: Vec3,
    r_a: Vec3,
    r_b: Vec3,
    /// Response along the normal [1/kg]; 0 until it takes part.
    k: f64,
    /// Displacement along the normal to reach or exceed [m].
    target: f64,
    p: f64,
}

impl Push {
    fn new(
        (a, b): (u32, u32),
        place: &Placement,
        (x_a, x_b): (Vec3, Vec3),
        target: f64,
        bodies: &Bodies,
    ) -> Self {
        let point = acting_point(bodies, (a as usize, b as usize), place);
        Self {
            a,
            b,
            n: place.normal,
            r_a: point - x_a,
            r_b: point - x_b,
            k: 0.0,
            target,
            p: 0.0,
        }
    }

    /// Finds the response along the normal, which a row needs before it takes part.
    fn respond(&mut self, bodies: &Bodies) {
        let (a, b, n) = (self.a, self.b, self.n);
        let (c_a, c_b) = (self.r_a.cross(n), self.r_b.cross(n));
        self.k = if bodies.linked(a, b) {
            let (d_a, d_b) = bodies.answer(a, b, (-n, -c_a), (n, c_b));
            n.dot(d_b.0 - d_a.0) + c_b.dot(d_b.1) - c_a.dot(d_a.1)
        } else {
            let (body_a, body_b) = (&bodies[a as usize], &bodies[b as usize]);
            body_a.inverse_mass
                + body_b.inverse_mass
                + c_a.dot(body_a.inverse_inertia * c_a)
                + c_b.dot(body_b.inverse_inertia * c_b)
        };
    }

    /// Displacement along the normal so far [m].
    fn moved(&self, bodies: &Bodies) -> f64 {
        self.n
            .dot(bodies[self.b as usize].at(self.r_b) - bodies[self.a as usize].at(self.r_a))
    }

    fn visit(&mut self, bodies: &mut Bodies) -> f64 {
        let moved = self.moved(bodies);
        let p = (self.p + (self.target - moved) / self.k).max(0.0);
        let d = p - self.p;
        self.p = p;
        if bodies.linked(self.a, self.b) {
            bodies.push(self.a, -self.n * d, -self.r_a.cross(self.n) * d);
            bodies.push(self.b, self.n * d, self.r_b.cross(self.n) * d);
        } else {
            bodies[self.a as usize].push(-self.n * d, self.r_a);
            bodies[self.b as usize].push(self.n * d, self.r_b);
        }
        (d * self.k).abs()
    }
}

impl Pack for Push {
    fn ends(&self) -> (u32, u32) {
        (self.a, self.b)
    }

    fn pack(&self, batch: &mut Batch, lane: usize) {
        put(&mut batch.n, lane, self.n);
        put(&mut batch.r_a, lane, self.r_a);
        put(&mut batch.r_b, lane, self.r_b);
        put(&mut batch.k_n, lane, Vec3::new(self.k, 0.0, 0.0));
        batch.k_n_inverse.0[lane] = 1.0 / self.k;
        self.aim(batch, lane);
    }

    fn aim(&self, batch: &mut Batch, lane: usize) {
        batch.target_n.0[lane] = self.target;
    }

    fn impulse(&self) -> Vec3 {
        Vec3::new(self.p, 0.0, 0.0)
    }

    fn set_impulse(&mut self, p: Vec3) {
        self.p = p.x;
    }
}

/// Removes the given part of every depth beyond the slop, island by island; islands without depth are left alone. Joints that are near
/// enough to be closed at once are, again from where they are then, until nothing is left for the next substep.
pub(crate) fn run(
    model: &Model,
    settings: &Settings,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) {
    let mut again = pass(model, settings, false, state, work, report);
    for _ in 0..CLOSING_ROUNDS {
        if !again {
            break;
        }
        again = pass(model, settings, true, state, work, report);
    }
}

/// One pass over the islands, or over those with joints that do not fit `alone`. Says whether joints were closed at once and do not fit yet.
fn pass(
    model: &Model,
    settings: &Settings,
    alone: bool,
    state: &mut State,
    work: &mut Work,
    report: &mut StepReport,
) -> bool {
    let Scratch {
        bodies,
        step_contacts,
        pushes,
        placed,
        sweeps,
        nearest,
        pulls,
        joints,
        islands,
        joint_blocks,
        rows,
        ends,
        ..
    } = &mut work.stage;
    let (mut loaded, mut again) = (false, false);
    for island in islands.iter() {
        let step_contacts = &step_contacts[island.rows.clone()];
        let blocks = &joint_blocks[island.joint_blocks.clone()];
        let apart = blocks.iter().any(|block| is_apart(model, block));
        let pulled = apart || (!blocks.is_empty() && !island.direct);
        if alone && !apart {
            continue;
        }
        placed.clear();
        placed.extend(step_contacts.iter().map(|t| {
            let c = &work.detection.contacts[t.contact as usize];
            let (a, b) = c.bodies();
            c.at(&state.bodies[a], &state.bodies[b])
        }));
        let here = placed.iter().zip(step_contacts).filter(|(_, t)| !t.gone);
        let deepest = here.map(|(p, _)| -p.gap).fold(0.0, f64::max);
        if deepest <= settings.slop + DEPTH_MIN && !pulled {
            continue;
        }
        if !loaded {
            load_bodies(model, state, &work.detection.contacts, bodies);
            for b in bodies.iter_mut() {
                (b.v, b.w) = (Vec3::ZERO, Vec3::ZERO);
            }
            loaded = true;
        }
        pushes.clear();
        for (step_contact, place) in step_contacts.iter().zip(placed.iter()) {
            let c = &work.detection.contacts[step_contact.contact as usize];
            let depth = if step_contact.gone {
                f64::NEG_INFINITY
            } else {
                -place.gap - settings.slop
            };
            // Apart: may close, not more. Overlapping: opens by the given part.
            let target = if depth > 0.0 {
                settings.depenetration * depth
            } else {
                depth
            };
            let (a, b) = c.bodies();
            let centers = (state.bodies[a].position, state.bodies[b].position);
            pushes.push(Push::new(
                (a as u32, b as u32),
                place,
                centers,
                target,
                bodies,
            ));
        }
        pulls.clear();
        for &slot in &joints[island.joint_blocks.clone()] {
            let Some(joint) = &model.joints[slot as usize] else {
                continue;
            };
            let part = if island.direct {
                1.0
            } else {
                settings.depenetration
            };
            let mut pull = pull(model, slot as usize, joint, state, bodies, report.dt);
            let place = joint.place(&state.bodies, &state.joints);
            pull.aim_at_fitting(joint, &place, part);
            pulls.push(pull);
        }
        let linked = pushes.iter().any(|p| bodies.linked(p.a, p.b));
        let packs = pulls.is_empty() && Packed::is_many(pushes.len());
        if !packs || linked {
            pushes.iter_mut().for_each(|p| p.respond(bodies));
            sweep(settings, pushes, pulls, bodies, report);
            if !pulls.is_empty() || linked {
                let rows = &rows[island.rows.clone()];
                let whole = misfit::bound_closing(model, report.dt, pulls, rows, ends, bodies);
                again |=
                    apart && island.direct && whole && pulls.iter().any(JointBlock::has_to_close);
            }
            continue;
        }
        let tolerance = f64::max(
            settings.solve.velocity_tolerance * report.dt,
            DEPENETRATE_EXACT * settings.depenetration * deepest,
        );
        // Most contacts are too far apart to close; those that the others push together take part from then on.
        let near = |p: &Push| p.target >= -REACH * deepest;
        nearest.clear();
        nearest.extend((0..pushes.len() as u32).filter(|&i| near(&pushes[i as usize])));
        for round in 1..=ROUNDS {
            let which = nearest.iter();
            which.for_each(|&i| pushes[i as usize].respond(bodies));
            sweeps.packed.pack(pushes, nearest.iter().copied(), bodies);
            let (_, done) = sweeps.packed.sweep::<false>(SWEEPS_MANY, tolerance);
            sweeps.packed.unpack(pushes, bodies);
            report.work.sweeps += 2 * done;
            report.work.rows_swept += u64::from(2 * done) * nearest.len() as u64;
            let closed = |p: &Push| p.k == 0.0 && p.moved(bodies) < p.target - tolerance;
            let known = nearest.len();
            nearest.extend((0..pushes.len() as u32).filter(|&i| closed(&pushes[i as usize])));
            if nearest.len() == known {
                break;
            }
            if round + 1 == ROUNDS {
                nearest.clear();
                nearest.extend(0..pushes.len() as u32);
            }
        }
    }
    if loaded {
        displace(model, bodies, state, &mut work.balance, report);
    }
    again
}

/// Whether a joint does not fit, or is beyond its limits, at the start of the substep.
fn is_apart(model: &Model, block: &JointBlock) -> bool {
    let joint = model.joints[block.joint as usize].as_ref();
    joint.is_some_and(|joint| block.is_apart(joint))
}

/// A joint in the pass, with its limits.
fn pull(
    model: &Model,
    slot: usize,
    joint: &Joint,
    state: &State,
    bodies: &Bodies,
    h: f64,
) -> JointBlock {
    let world = model.bodies.len() as u32;
    let place = joint.place(&state.bodies, &state.joints);
    let mut pull = JointBlock::new(slot, joint, world, &place, bodies);
    pull.add_bounded(joint, &place, bodies, state.joints[slot].angle, h);
    pull
}

fn sweep(
    settings: &Settings,
    pushes: &mut [Push],
    pulls: &mut [JointBlock],
    bodies: &mut Bodies,
    report: &mut StepReport,
) {
    let tolerance = settings.solve.velocity_tolerance * report.dt;
    for k in 0..SWEEPS {
        let mut change: f64 = 0.0;
        let count = pushes.len();
        for pull in pulls.iter_mut() {
            change = change.max(pull.visit(bodies));
        }
        for i in 0..count {
            let i = if k % 2 == 0 { i } else { count - 1 - i };
            change = change.max(pushes[i].visit(bodies));
        }
        report.work.sweeps += 1;
        report.work.rows_swept += count as u64;
        if change <= tolerance {
            return;
        }
    }
}

/// Moves the bodies; what that does to their energy is work of the correction, not of any impulse.
fn displace(
    model: &Model,
    bodies: &mut Bodies,
    state: &mut State,
    balance: &mut Balance,
    report: &mut StepReport,
) {
    let value = |(k, v): (f64, f64)| k + v;
    let before = value(energy::total(model, state));
    let turning = energy::momenta(model, state).1;
    balance.correct(model, state, -1.0);
    for (i, body) in model.present() {
        let b = &bodies[i];
        if body.is_free() && (b.v != Vec3::ZERO || b.w != Vec3::ZERO) {
            let s = &mut state.bodies[i];
            s.position += b.v;
            s.rotation = rotation::normalized(rotation::exp(b.w) * s.rotation);
        }
    }
    bodies.displace(model, state);
    balance.correct(model, state, 1.0);
    report.energy.position_correction += value(energy::total(model, state)) - before;
    report.position_correction_moment += energy::momenta(model, state).1 - turning;
}
