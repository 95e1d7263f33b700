//! The paper's own step, for comparison: move with a first-order scheme, detect, resolve.
//!
//! Reads: Model, State.  Writes: State, Work, StepReport.
//! Called by: `method::simultaneous::step` where the parameter `literal` asks for it.
//! Source: [Ermolin] §2 (explicit scheme, order of the step), §4 eq. 9–10 (connections at position level act on the next move). Bodies at rest sink by
//! g h² in each move and overlap is never removed: that is the paper's scheme, and what the ledger calls unexplained is its error.

use super::{SimultaneousParams, collision};
use crate::collide::detect;
use crate::dynamics::{energy, integrate};
use crate::error::StepError;
use crate::math::{Vec3, rotation};
use crate::model::Model;
use crate::report::{EnergyLedger, Phase, StepReport};
use crate::state::State;
use crate::step::check_finite;
use crate::two_stage::gather::gather;
use crate::two_stage::targets::{new_row, placement};
use crate::two_stage::{Scratch, finish};
use crate::work::Work;

/// Advances the state by `h`: moves, detects, resolves.
pub(super) fn step(
    model: &Model,
    params: &SimultaneousParams,
    h: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    if let Some(i) = model.articulations.iter().position(Option::is_some) {
        return Err(StepError::Articulation {
            name: model.articulation_name(i),
            reason: "the paper's own step (`literal`) knows no articulations".into(),
        });
    }
    let mut report = StepReport {
        dt: h,
        ..StepReport::default()
    };
    report.work.substeps = 1;
    let before = energy::total(model, state);
    work.balance.begin(model, state);

    work.begins(Phase::Move);
    advance(model, h, state, work, &mut report.energy);
    check_finite(model, state, "move")?;

    work.begins(Phase::Detect);
    work.predicted.clone_from(&state.bodies);
    detect(model, &state.bodies, &work.predicted, &mut work.detection);
    gather(model, state, work, h);

    work.begins(Phase::Collide);
    collision::run(model, params, state, work, &mut report);

    work.begins(Phase::Finish);
    state.time += h;
    state.set_substep(model, h);
    lay_out(state, work);
    finish::run(model, before, false, state, work, &mut report);
    Ok(report)
}

/// SR-1: velocity first, then position with the new velocity. Prescribed bodies follow their motion.
fn advance(model: &Model, h: f64, state: &mut State, work: &mut Work, ledger: &mut EnergyLedger) {
    for (i, body) in model.present() {
        let load = state.loads[i];
        let a = integrate::acceleration(model, body, &load);
        let s = &mut state.bodies[i];
        if !body.is_free() {
            *s = integrate::advance(body, s, a, state.time, h);
            continue;
        }
        let start = s.position;
        s.velocity += a * h;
        // ω⁺ = ω + h J⁻¹(M − ω × J ω): the gyroscopic term, which the paper leaves out.
        let axes = s.rotation * body.axes;
        let w = axes.conjugate() * s.angular_velocity;
        let gyroscopic = axes * w.cross(body.moments * w);
        s.angular_velocity += integrate::torque_kick(body, s, load.torque - gyroscopic, h);
        s.position += s.velocity * h;
        s.rotation = rotation::normalized(rotation::exp(s.angular_velocity * h) * s.rotation);
        let work_in = load.force.dot(s.position - start) + load.torque.dot(s.angular_velocity) * h;
        ledger.external += work_in;
        work.balance.put_in(i as u32, work_in);
    }
}

/// Rows without impulses, as the end of a substep expects them: what the points did is on the step contacts.
fn lay_out(state: &State, work: &mut Work) {
    let Scratch {
        bodies,
        step_contacts,
        rows,
        joint_blocks,
        ..
    } = &mut work.stage;
    rows.clear();
    joint_blocks.clear();
    for step_contact in step_contacts.iter_mut() {
        let c = &work.detection.contacts[step_contact.contact as usize];
        let row = new_row(c, &placement(c), &state.bodies, bodies);
        step_contact.gap_end = c.point.gap;
        step_contact.point_end = 0.5 * (c.point.point_a + c.point.point_b);
        step_contact.first = Vec3::ZERO;
        rows.push(row);
    }
}
