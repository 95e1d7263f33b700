//! What a solve left: residuals for the certificate, energy for the ledger.
//!
//! Reads: solved rows, links, touches.  Writes: residuals and ledger of the report.
//! Called by: the solves of the methods that step in two halves.
//! Source: docs/methods.md, "The certificate".

use crate::report::StepReport;
use crate::solver::contact::ContactRow;
use crate::solver::ends::SolverBody;
use crate::solver::joint::JointBlock;
use crate::two_stage::Scratch;
use crate::two_stage::gather::StepContact;

/// Residuals and energy of a finished solve. `ΔE = Σ P · ½(u⁻ + u⁺)`, split into normal and tangential parts.
pub(crate) fn book(
    scratch: &Scratch,
    report: &mut StepReport,
    active: impl Fn(&StepContact) -> bool,
) {
    let Scratch {
        bodies,
        step_contacts,
        rows,
        links,
        ..
    } = scratch;
    for (row, step_contact) in rows.iter().zip(step_contacts).filter(|(_, t)| active(t)) {
        book_contact(row, step_contact, bodies, report);
    }
    for link in links {
        book_link(link, bodies, report);
    }
}

/// Residuals and energy of one contact.
pub(crate) fn book_contact(
    row: &ContactRow,
    step_contact: &StepContact,
    bodies: &[SolverBody],
    report: &mut StepReport,
) {
    let [normal, cone, tangential] = row.residuals(bodies);
    let r = &mut report.residuals;
    r.complementarity = r.complementarity.max(normal);
    r.friction_cone = r.friction_cone.max(cone);
    r.stick_slip = r.stick_slip.max(tangential);
    if row.p_n == 0.0 {
        return;
    }
    let mean = 0.5 * (step_contact.velocity_before + row.velocity(bodies));
    let spin = 0.5 * (step_contact.spin_before + row.spin(bodies));
    let e = &mut report.energy;
    e.restitution -= row.p_n * mean.dot(row.n);
    e.friction -= row.tangential_impulse().dot(mean) + row.angular_impulse().dot(spin);
    // The side with prescribed motion does the rest of the work: P · u of its surface.
    e.prescribed += row.prescribed_work(bodies);
}

/// Energy of one joint. Motors do work, limits take it like an inelastic contact. Rows that hold a joint do none: what they leave is error, not account.
pub(crate) fn book_link(link: &JointBlock, bodies: &[SolverBody], report: &mut StepReport) {
    let (motors, limits) = link.bounded_work(bodies);
    report.energy.motors += motors;
    report.energy.restitution -= limits;
    report.energy.prescribed += link.prescribed_work(bodies);
}
