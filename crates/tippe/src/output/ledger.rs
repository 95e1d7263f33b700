//! The energy account of a substep: what its transfers do not explain is booked as such.
//!
//! Reads: Model, State, the transfers booked so far.  Writes: ledger and momenta of the report.
//! Called by: the methods, at the end of a substep.
//! Source: docs/methods/contract.md, "The certificate".

use crate::dynamics::energy;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;

/// Closes the account of a substep that started with these kinetic and potential energies.
pub(crate) fn close(
    model: &Model,
    (kinetic, potential): (f64, f64),
    state: &State,
    report: &mut StepReport,
) {
    (report.momentum, report.angular_momentum) = energy::momenta(model, state);
    let e = &mut report.energy;
    (e.kinetic, e.potential) = energy::total(model, state);
    e.elastic += energy::sprung(model, state);
    e.gravity = potential - e.potential;
    let losses = e.friction
        + e.restitution
        + e.drag
        + e.joint_friction
        + e.contact_damping
        + e.shock
        + e.numerical_damping;
    let works = e.gravity + e.external + e.motors + e.prescribed + e.elastic_work;
    e.unexplained =
        e.kinetic - kinetic - (works - losses + e.position_correction + e.gained + e.hops);
    let put_in = e.gravity.max(0.0)
        + e.external.max(0.0)
        + e.motors.max(0.0)
        + e.prescribed.max(0.0)
        + e.elastic_work.max(0.0);
    report.energy_scale = (kinetic + put_in).max(energy::weight_times_size(model));
}

/// Closes the account again after what rests was given back its state.
pub(crate) fn close_again(model: &Model, state: &State, report: &mut StepReport) {
    (report.momentum, report.angular_momentum) = energy::momenta(model, state);
    let e = &mut report.energy;
    let (kinetic, potential) = energy::total(model, state);
    let (gained, fell) = (kinetic - e.kinetic, e.potential - potential);
    e.gravity += fell;
    // What rest takes is the method's doing.
    let taken = (fell - gained).max(0.0);
    e.numerical_damping += taken;
    e.unexplained += gained - fell + taken;
    (e.kinetic, e.potential) = (kinetic, potential);
}
