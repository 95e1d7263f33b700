//! `sequential`: accumulated impulses with warm start, on predicted motion, then a velocity projection.
//!
//! Reads: Model, State.  Writes: State, Work, StepReport.
//! Called by: `step`.
//! Source: [Lecture] "Sequential Impulses", [Catto05]; the two halves of a step as in docs/methods.md, "Time and velocity".

mod bounce;
mod depenetrate;
mod direct;
mod finish;
mod joints;
mod link;
mod row;
mod solve;
mod sweep;
mod touch;

use crate::collide::{Course, detect_on_course};
use crate::dynamics::{drag, energy, integrate};
use crate::error::StepError;
use crate::model::Model;
use crate::report::{EnergyLedger, SolverWork, StepReport};
use crate::state::State;
use crate::step::check_finite;
use crate::work::Work;
use link::Link;
use row::{Row, SolverBody};
use std::ops::Range;
use touch::Touch;

/// Parameters of `sequential`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequentialParams {
    /// Most sweeps (forward and backward) of an island before it is solved directly or left as it is [1]. More: stiffer piles, slower.
    pub sweeps: u32,
    /// Most rounds of a direct solve [1].
    pub direct_rounds: u32,
    /// Block products that the direct solve of an island may cost for each of its contacts [1].
    pub direct_cost: f64,
    /// Block products that the direct solve of an island may cost when all its contacts are new [1].
    pub direct_cost_cold: f64,
    /// Change of velocity in a sweep below which an island counts as solved [m/s].
    pub velocity_tolerance: f64,
    /// Part of the remaining depth that the pose-only pass removes in one step [1].
    pub depenetration: f64,
    /// Depth the pose-only pass leaves alone [m].
    pub slop: f64,
    /// Start each solve from the impulses of the last step.
    pub warm_start: bool,
    /// Visit the contacts of every sweep in an order drawn with this seed; `None` goes forward and backward in turn.
    pub shuffle_seed: Option<u64>,
    /// Distance [m] or angle [rad] to which joints are brought at the end of the step.
    pub joint_tolerance: f64,
}

impl Default for SequentialParams {
    fn default() -> Self {
        Self {
            sweeps: 10,
            direct_rounds: 30,
            direct_cost: 8.0,
            direct_cost_cold: 2e5,
            velocity_tolerance: 1e-8,
            depenetration: 0.2,
            slop: 0.0,
            warm_start: true,
            shuffle_seed: None,
            joint_tolerance: 1e-10,
        }
    }
}

impl SequentialParams {
    /// Checks every number for sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), crate::BuildError> {
        use crate::BuildError;
        if self.sweeps == 0 {
            return Err(BuildError::new("sweeps", "must be at least 1"));
        }
        if !(self.velocity_tolerance.is_finite() && self.velocity_tolerance >= 0.0) {
            return Err(BuildError::new(
                "velocity_tolerance",
                "must be finite and not negative",
            ));
        }
        if !(0.0..=1.0).contains(&self.depenetration) {
            return Err(BuildError::new("depenetration", "must be between 0 and 1"));
        }
        let not_negative = [
            ("joint_tolerance", self.joint_tolerance),
            ("direct_cost", self.direct_cost),
            ("direct_cost_cold", self.direct_cost_cold),
        ];
        for (field, value) in not_negative {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BuildError::new(field, "must be finite and not negative"));
            }
        }
        if !(self.slop.is_finite() && self.slop >= 0.0) {
            return Err(BuildError::new("slop", "must be finite and not negative"));
        }
        Ok(())
    }
}

/// Where an island's rows and links are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    rows: Range<usize>,
    links: Range<usize>,
    /// Whether an island with joints can be solved directly.
    direct: bool,
}

/// Scratch of the method.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// By slot: velocities and response. Written before each solve, changed by it.
    bodies: Vec<SolverBody>,
    /// One for each contact, grouped by island. Written by `touch::gather`, completed phase by phase.
    touches: Vec<Touch>,
    /// One for each touch, rebuilt for each solve.
    rows: Vec<Row>,
    /// Links of the pose-only pass.
    pulls: Vec<Link>,
    /// Rows of the pose-only pass.
    pushes: Vec<depenetrate::Push>,
    /// Position in `touches` of each contact.
    places: Vec<u32>,
    /// By slot: whether a body carries a contact that was loaded in the last step.
    supported: Vec<bool>,
    /// Scratch of the sweeps.
    sweeps: sweep::Sweeps,
    /// One for each joint, grouped by island, rebuilt for each solve.
    links: Vec<Link>,
    /// Rows and links of each island.
    parts: Vec<Part>,
    /// Joint slots, in the order of the links.
    joints: Vec<u32>,
    /// Bodies already looked ahead for, marked by the number of the look.
    looked: Vec<u32>,
    /// Whether all joints that could be solved directly met.
    met: bool,
    /// Number of the last look ahead.
    look: u32,
    /// By slot: the states before the first kick, which is given again if the part becomes shorter.
    unkicked: Vec<crate::BodyState>,
}

/// Most parts that a step is divided into.
const SUBSTEPS_MAX: u32 = 32;

/// Most parts of a step that end where a fast body has bounced.
const BOUNCES_MAX: u32 = 64;

/// Advances the state by `h`, in parts where the joints need it: as many as their stiffness asks for, twice as many where they did not
/// meet. A part ends early where a body has bounced and goes on fast; the rest of it follows. What the step started from is in
/// `work.backup`.
pub(crate) fn step(
    model: &Model,
    params: &SequentialParams,
    h: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let mut parts = joints::substeps(model, state, h).min(SUBSTEPS_MAX);
    // Work of attempts that were given up counts too.
    let mut spent = SolverWork::default();
    loop {
        let mut report = StepReport::default();
        let mut read_out = finish::ReadOut::default();
        let mut met = true;
        let mut bounces = 0;
        'parts: for _ in 0..parts {
            let mut left = h / f64::from(parts);
            while left > 0.0 {
                let last = bounces >= BOUNCES_MAX;
                let part = substep(model, params, left, !last, state, work)?;
                left = if part.dt < left { left - part.dt } else { 0.0 };
                bounces += u32::from(left > 0.0);
                // A fast body that had no more parts to go on in may have gone through something.
                spent.caps_hit += u32::from(last && work.detection.stop < part.dt);
                report.append(&part);
                read_out.append(work, part.dt / h);
                // Did they meet, and was the guess of their stiffness right?
                met &=
                    work.sequential.met && joints::turns(model, state, h) <= 2.0 * f64::from(parts);
                if !met && parts < SUBSTEPS_MAX {
                    break 'parts;
                }
            }
        }
        if met || parts >= SUBSTEPS_MAX {
            report.dt = h;
            state.time = work.backup.time + h;
            report.time = state.time;
            state.step_count = work.backup.step_count + 1;
            state.substeps = parts;
            spent.caps_hit += u32::from(!met);
            report.work.add(&spent);
            read_out.finish(h, work);
            return Ok(report);
        }
        spent.add(&SolverWork {
            substeps: 0,
            ..report.work
        });
        let loads = std::mem::take(&mut state.loads);
        state.clone_from(&work.backup);
        state.loads = loads;
        parts *= 2;
    }
}

/// Advances the state in one go, by `h` or, if it `may_stop`, by less where a fast body has bounced; the report says by how much.
fn substep(
    model: &Model,
    params: &SequentialParams,
    mut h: f64,
    may_stop: bool,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    let mut report = StepReport::default();
    report.work.substeps = 1;
    work.sequential.met = true;
    let before = energy::total(model, state);
    let t = state.time;

    // Detect, on the way from here to where the bodies would go untouched; again on a shorter way if a fast body has bounced by then.
    // Half a kick at t: torques and drag.
    work.sequential.unkicked.clone_from(&state.bodies);
    kick(model, state, 0.5 * h, &mut report.energy);
    detect_ahead(model, state, t, h, work);
    report.work.caps_hit += work.detection.unresolved;
    if may_stop && work.detection.stop < h {
        h = work.detection.stop;
        report.energy = EnergyLedger::default();
        state.bodies.clone_from(&work.sequential.unkicked);
        kick(model, state, 0.5 * h, &mut report.energy);
        detect_ahead(model, state, t, h, work);
    }
    report.dt = h;

    // Collide and rest: impulses at t that make positions right at t + h.
    touch::gather(model, state, work, h);
    touch::first_rows(model, params, state, work, h);
    solve::first(model, params, state, work, &mut report);

    // Move along the free motion that starts with the new velocities.
    advance(model, state, h, work, &mut report.energy);
    check_finite(model, state, "move")?;
    depenetrate::run(model, params, state, work, &mut report);

    // Half a kick at t + h, then project: velocities right at t + h.
    kick(model, state, 0.5 * h, &mut report.energy);
    touch::second_rows(model, params, state, work, h);
    solve::second(params, work, &mut report);

    state.time = t + h;
    state.part = h;
    finish::run(model, before, state, work, &mut report);
    Ok(report)
}

/// Torques of the user and drag, for half a step, on every dynamic body.
fn kick(model: &Model, state: &mut State, half: f64, ledger: &mut EnergyLedger) {
    for (i, body) in model.present() {
        let torque = state.loads[i].torque;
        let s = &mut state.bodies[i];
        let idle = torque == crate::Vec3::ZERO && body.drag.is_none();
        if idle || !body.is_dynamic() {
            continue;
        }
        let start = energy::kinetic(body, s);
        s.angular_velocity += integrate::torque_kick(body, s, torque, half);
        let driven = energy::kinetic(body, s);
        (s.velocity, s.angular_velocity) = drag::kick(body, s, half);
        let slowed = energy::kinetic(body, s);
        ledger.external += driven - start;
        ledger.drag += driven - slowed;
    }
    joints::kick_springs(model, state, half, ledger);
}

/// Finds the contacts of the step from `t` to `t + h`.
fn detect_ahead(model: &Model, state: &State, t: f64, h: f64, work: &mut Work) {
    predict(model, state, t, h, work);
    let course = Course {
        time: t,
        h,
        loads: &state.loads,
    };
    detect_on_course(
        &course,
        model,
        &state.bodies,
        &work.predicted,
        &mut work.detection,
    );
}

/// Fills `predicted`: every body at t + h if nothing touched it.
fn predict(model: &Model, state: &State, t: f64, h: f64, work: &mut Work) {
    work.predicted.clone_from(&state.bodies);
    for (i, body) in model.present() {
        let a = integrate::acceleration(model, body, &state.loads[i]);
        work.predicted[i] = integrate::advance(body, &state.bodies[i], a, t, h);
    }
}

/// Moves every body for `h` from the velocities that the first solve left; books the work of the user's forces.
fn advance(model: &Model, state: &mut State, h: f64, work: &Work, ledger: &mut EnergyLedger) {
    for (i, body) in model.present() {
        let a = integrate::acceleration(model, body, &state.loads[i]);
        let start = state.bodies[i];
        if body.is_dynamic() {
            let solved = &work.sequential.bodies[i];
            let kicked = crate::BodyState {
                velocity: solved.v,
                angular_velocity: solved.w,
                ..start
            };
            state.bodies[i] = integrate::fly(body, &kicked, a, h);
            ledger.external += state.loads[i]
                .force
                .dot(state.bodies[i].position - start.position);
        } else {
            state.bodies[i] = work.predicted[i];
        }
    }
}
