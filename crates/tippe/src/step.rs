//! The door of a step: check the input, let the method advance the state, check the output.
//!
//! Reads: Model, Method.  Writes: State, Work, StepReport.
//! Called by: `World::step`.
//! Source: docs/conventions.md, "Failure".

use crate::adaptive;
use crate::error::StepError;
use crate::fault::{self, Fault};
use crate::interrupt;
use crate::method::Method;
use crate::model::Model;
use crate::report::StepReport;
use crate::solver::ends::Bodies;
use crate::state::State;
use crate::work::Work;

/// Advances `state` by exactly `dt`, or leaves it as it was and says why.
pub(crate) fn step(
    model: &Model,
    method: &Method,
    dt: f64,
    state: &mut State,
    work: &mut Work,
) -> Result<StepReport, StepError> {
    if !dt.is_finite() || dt <= 0.0 {
        return Err(StepError::BadStep { dt });
    }
    if adaptive::any(model) {
        return adaptive::step(model, method, dt, state, work);
    }
    let _watched = interrupt::watch(work.interrupt.clone());
    if let Err(error) = check_finite(model, state, "input") {
        drop_senseless_loads(state);
        return Err(error);
    }
    if let Some(reason) = rigid_only(model, method) {
        return Err(StepError::Refused { reason });
    }
    work.backup.copy_from(state);
    let result = method.step(model, dt, state, work);
    let result = result.and_then(|mut report| {
        check_finite(model, state, "project")?;
        if fault::active(Fault::NotANumber) {
            report.energy.friction = f64::NAN;
        }
        check_report(model, &report).map(|()| report)
    });
    match result {
        Ok(mut report) => {
            let Work {
                crossings,
                backup,
                events,
                ..
            } = work;
            crossings.of_step(model, backup, state, events, &mut report);
            for load in &mut state.loads {
                *load = crate::state::Load::default();
            }
            Ok(report)
        }
        Err(error) => {
            state.copy_from(&work.backup);
            drop_senseless_loads(state);
            Err(error)
        }
    }
}

/// Why a method that knows no compliant contact cannot step this model.
fn rigid_only(model: &Model, method: &Method) -> Option<String> {
    if matches!(method, Method::Forces(_)) {
        return None;
    }
    let name = model.materials.compliant()?;
    Some(format!(
        "material `{name}`: compliant contact (stiffness, shear_modulus, contact_modulus) is known to `forces` alone, not to `{}`",
        method.name()
    ))
}

/// Takes back loads that no step could ever take: the world goes on without them after the error has been told.
pub(crate) fn drop_senseless_loads(state: &mut State) {
    for load in &mut state.loads {
        if !load.force.is_finite() || !load.torque.is_finite() {
            *load = crate::state::Load::default();
        }
    }
}

/// Names the first articulation that has no answer, such as one folded into a pose in which a joint moves no mass.
pub(crate) fn check_trees(model: &Model, bodies: &Bodies) -> Result<(), StepError> {
    match bodies.error() {
        None => Ok(()),
        Some((i, error)) => Err(StepError::Articulation {
            name: model.articulation_name(i),
            reason: error.to_string(),
        }),
    }
}

/// A certificate with a number that is not finite certifies nothing: the step fails.
fn check_report(model: &Model, report: &StepReport) -> Result<(), StepError> {
    if report.is_finite() {
        return Ok(());
    }
    // The fastest body is the likeliest cause where the report alone has failed; the first one stands for all.
    let first = model.present().find(|(_, b)| b.is_awake()).map(|(i, _)| i);
    Err(StepError::NonFinite {
        body: first.map_or_else(|| "(none)".into(), |i| model.name(i)),
        phase: "certificate",
    })
}

/// Names the first body whose state is not finite; also the place where every method ends if it was interrupted.
pub(crate) fn check_finite(
    model: &Model,
    state: &State,
    phase: &'static str,
) -> Result<(), StepError> {
    interrupt::check()?;
    for (i, _) in model.present() {
        let load = &state.loads[i];
        if !state.bodies[i].is_finite() || !load.force.is_finite() || !load.torque.is_finite() {
            return Err(StepError::NonFinite {
                body: model.name(i),
                phase,
            });
        }
    }
    Ok(())
}
